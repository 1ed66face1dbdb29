/* store.h: sequences of a dataset that is larger than memory.
 *
 * A sequence of a store is a handle that stays; its arrays (graph, truth, times) may be absent. Who uses them acquires
 * the sequence and releases it (covtune/data.h): that is the only door. While it is acquired its arrays stay, and they
 * may be changed. Else they leave when room is needed: they are compared with their image in a file without a name
 * (base/spill.h), which is written if it is another one.
 *
 * What leaves first is what was used last. A pass over all sequences repeats from the first on, so those of its
 * beginning are needed soonest; the others have left before, whatever the order. */
#ifndef CT_STORE_H
#define CT_STORE_H

#include "base/spill.h"

#include <covtune/data.h>

typedef struct ct__store ct__store;

/* Bytes that are counted for so many of the process: allocators take a sixth more than they give (measured: 16 %). */
#define CT__STORE_COUNTED(limit) (CT__STORE_PROGRAM + ((limit) - CT__STORE_PROGRAM) / 6 * 5)
#define CT__STORE_PROCESS(bytes) (CT__STORE_PROGRAM + ((bytes) - CT__STORE_PROGRAM) / 5 * 6)
#define CT__STORE_PROGRAM ((int64_t)20 << 20) /* bytes that the program takes without data */

/* A store for so many bytes of the process: CT_E_ARGUMENT if the program alone takes more. */
ct_status ct__store_new(int64_t limit, ct__store **out, ct_err *err);
/* After its sequences were freed. */
void ct__store_free(ct__store *store);

/* The sequence belongs to the store from now on, not acquired; others may leave. `path` is for messages. CT_E_LIMIT
 * with a sentence if it is larger than the limit. */
ct_status ct__store_add(ct__store *store, ct_sequence *seq, const char *path, ct_err *err);
/* ct_sequence_free: frees what is present. */
void ct__store_forget(ct_sequence *seq);

/* The store of a sequence; NULL: all of it is in memory, always. */
ct__store *ct__store_of(const ct_sequence *seq);
/* Bytes that the caller needs for as long as it does not give them back (negative). CT_E_LIMIT, with a sentence, if
 * what is left does not hold `jobs` of the largest sequences; then nothing is taken. `what` names it: "solvers". */
ct_status ct__store_reserve(ct__store *store, int64_t bytes, int jobs, const char *what, ct_err *err);
int64_t   ct__store_room(ct__store *store); /* bytes that are neither reserved nor needed for the largest sequence */
int64_t   ct__store_largest(ct__store *store); /* bytes of the largest sequence */
/* The file for what exceeds the limit, also of others. */
ct_status ct__store_spill(ct__store *store, ct__spill **out, ct_err *err);

/* A thread that brings sequences before they are acquired, in the order of the list, which is borrowed until the end.
 * Sequences of no store are left out. *out is NULL if there is nothing to do. */
typedef struct ct__prefetch ct__prefetch;
void ct__prefetch_begin(int64_t count, const ct_sequence *const seq[], int jobs, ct__prefetch **out);
void ct__prefetch_end(ct__prefetch *prefetch);

#endif
