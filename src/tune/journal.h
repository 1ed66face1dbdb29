/* journal.h: the file of completed runs.
 *
 *     header    "covtune journal 5\n", byte order
 *     record    fixed part | values of the parameters | message | residuals        8-byte aligned; appended at once
 *
 * The fixed part has two checksums: of itself with the values, read when the file is opened; of message and residuals,
 * read when the run is asked for. Opening reads 300 bytes a record, whatever the residuals: 10,000 records of 1,500
 * residuals, 120 MB, in some 30 ms. A process that is killed leaves a beginning of a record at the end of the file: it
 * is cut off. Numbers are those of the machine; the header refuses another byte order.
 *
 * Records have the digest of the tuning: one file holds runs of several, and those of others are not seen. */
#ifndef CT_TUNE_JOURNAL_H
#define CT_TUNE_JOURNAL_H

#include "base/base.h"
#include "base/lock.h"

#include <covtune/tune.h>

/* What a run is found by. */
typedef struct {
    uint64_t      digest;
    int32_t       log, repeat, parameters;
    const double *value;
} ct__journal_key;

typedef struct {
    char     *path;
    int       file;
    ct__lock  lock;
    int64_t   size;       /* bytes that are whole records                                      */
    uint64_t  digest;
    int64_t   runs;       /* of this digest                                                    */
    int64_t   capacity;   /* of the tables, a power of two                                     */
    uint64_t *hash;       /* open addressing; 0: empty                                         */
    int64_t  *offset;     /* of the record                                                     */
    double    synced;     /* time of the last fdatasync                                        */
    /* rows of done runs of each log: all must agree */
    int64_t  *rows;
    int64_t   logs, logs_capacity;
} ct__journal_file;

ct_status ct__journal_open(const char *path, uint64_t digest, int resume, ct__journal_file *out, ct_err *err);
void      ct__journal_close(ct__journal_file *journal);
/* *found 1: the outcome of a run that is there, with cached 1. A record whose residuals are damaged is not there. */
ct_status ct__journal_find(ct__journal_file *journal, const ct__journal_key *key, int *found, ct_tune_outcome *outcome,
                           ct_err *err);
/* Append a run. On failure (a full disk) the file is as it was. */
ct_status ct__journal_append(ct__journal_file *journal, const ct__journal_key *key, const ct_tune_outcome *outcome,
                             ct_err *err);

#endif
