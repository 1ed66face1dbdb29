/* base.h: private helpers of all modules: checked allocation, growth, names in lists. */
#ifndef CT_BASE_PRIVATE_H
#define CT_BASE_PRIVATE_H

#include <covtune/base.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CT_TRY(call)                                                                               \
    do {                                                                                           \
        const ct_status try_status = (call);                                                       \
        if (try_status != CT_OK) return try_status;                                                \
    } while (0)

#define CT_MIN(a, b) ((a) < (b) ? (a) : (b))
#define CT_MAX(a, b) ((a) > (b) ? (a) : (b))

/* count * size bytes, zeroed, at least one; NULL if that overflows or there is no memory. */
void *ct__zalloc(int64_t count, size_t size);

/* CT_E_MEMORY, with a message that names what was to be allocated. */
ct_status ct__no_memory(ct_err *err, const char *what, int64_t count);

/* Status of a failed open: CT_E_MEMORY if errno is ENOMEM, else CT_E_IO. */
static inline ct_status ct__io_status(void) { return errno == ENOMEM ? CT_E_MEMORY : CT_E_IO; }

/* Make room for `need` elements in *array: doubles the capacity, keeps the contents. On failure
 * nothing has changed. */
ct_status ct__grow(void *array, int64_t *capacity, int64_t need, size_t size, const char *what, ct_err *err);

/* Independent random numbers for every seed, run and stream: each is mixed in by a bijection that decorrelates
 * neighbouring values. */
ct_rng ct__rng_stream(uint64_t seed, uint64_t run, uint64_t stream);

/* A copy of text, NULL if there is no memory. */
char *ct__strdup(const char *text);

/* The place of a name in a list, or -1; the name may be NULL. */
int ct__find_name(const char *name, const char *const list[], int count);
/* The name at a place of a list, "?" outside it. */
const char *ct__name_at(const char *const list[], int count, int i);

#endif
