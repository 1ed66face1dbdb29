/* read_ahead.h: the files of a dataset, read on several threads with the bits of reading them one after the other.
 *
 * A file adds its noise models to the table that all share, so its indices depend on the files before it, unless it
 * adds none: most files of a dataset have the models of the first. So files are read in batches, each with a copy of
 * the table as it is before the batch. What a file finds in that copy it would find in the later table, at the same
 * index. A file that adds a model, or that cannot be read, is read again in its turn, with the table itself. Over ranks
 * each text file of a batch is read by one of them. */
#ifndef CT_READ_AHEAD_H
#define CT_READ_AHEAD_H

#include "base/name_table.h"
#include "data/data.h"

/* All zero but for the borrowed fields at the start. */
typedef struct {
    const ct_noise            *noise;  /* the table that all share */
    const ct__conflict_policy *policy;
    const ct_read_options     *how;    /* may be NULL */
    const ct__names           *known;  /* files that are not read again */
    int64_t                    first, end; /* the batch */
    ct_sequence              **ready;
    int                        over;   /* too many are read again */
    ct_status                  status; /* of the exchange between ranks */
    ct_err                     err;
} ct__read_ahead;

/* Sequence i of the list, for the caller to own, or NULL: it has to be read. To be called for 0, 1, 2, ... */
ct_sequence *ct__read_ahead_take(ct__read_ahead *ahead, int64_t count, const char *const path[], int64_t i);
void         ct__read_ahead_free(ct__read_ahead *ahead);

/* share_reading.c: files are read by several ranks (how->comm); this rank reads file k of a batch; then all have what
 * the others read. */
int       ct__reading_is_shared(const ct__read_ahead *ahead);
int       ct__reading_is_mine(const ct__read_ahead *ahead, const char *path, int64_t k);
ct_status ct__reading_share(ct__read_ahead *ahead, int64_t count, const char *const path[], ct_err *err);

#endif
