/* comm.h: tasks over ranks and threads. */
#ifndef CT_COMM_PRIVATE_H
#define CT_COMM_PRIVATE_H

#include "base/parallel.h"

#include <covtune/comm.h>

/* Tasks 0 .. count - 1 whose results are records. */
typedef struct {
    const ct_comm *comm;  /* NULL: one process                                                   */
    const int32_t *owner; /* per task; NULL: task i is that of rank i mod size                    */
    int            jobs;  /* threads                                                              */
    int64_t        count;
    ct__task_fn    task;
    void          *user;  /* of all functions */
    /* Is there anything to do? The same on all ranks. NULL: every task. */
    int (*wanted)(const void *user, int64_t i);
    /* Bytes of the record of task i, the same on all ranks; to a buffer; from one. */
    int64_t (*size)(const void *user, int64_t i);
    void (*pack)(const void *user, int64_t i, void *record);
    void (*unpack)(void *user, int64_t i, const void *record);
} ct__spread;

int ct__spread_owns(const ct__spread *spread, int64_t i);
/* The wanted tasks of this rank, on threads. */
ct_status ct__spread_run(const ct__spread *spread, ct_err *err);
/* Every rank then has the records of all wanted tasks. */
ct_status ct__spread_exchange(const ct__spread *spread, ct_err *err);

#endif
