/* covtune/comm.h: work over several processes.
 *
 * Every process (rank) runs the same program on the same data. Work over sequences is shared: each rank computes the
 * sequences that it owns, then all ranks exchange the results of single sequences. Sums over sequences are made by
 * every rank, in the order of the sequences. So the number of ranks changes no bit, as the number of threads does not,
 * and all ranks take the same decisions.
 *
 * A ct_comm is how ranks talk: over MPI in covtune-mpi (src/mpi), or any other way. NULL in its place is one process.
 */
#ifndef COVTUNE_COMM_H
#define COVTUNE_COMM_H

#include <covtune/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int   rank, size; /* this process, of how many */
    void *user;       /* of the functions          */
    /* all <- what every rank gives, in the order of ranks: bytes[r] bytes of rank r, `mine` of this one. Every rank
     * calls it, in the same order, with the same bytes[]. A rank that does not answer is an error that names it. */
    ct_status (*exchange)(void *user, const void *mine, const int64_t bytes[], void *all, ct_err *err);
    /* Messages of single ranks, for work that ends in no order: the runs of an estimator (tune.h). NULL: there are
     * none. send copies; messages from one rank to another keep their order. receive waits at most wait_s for the next
     * message of any rank: *bytes is the caller's to free, *from -1 if none came. A rank that is silent for too long
     * is an error that names it. */
    ct_status (*send)(void *user, int to, const void *bytes, int64_t size, ct_err *err);
    ct_status (*receive)(void *user, double wait_s, int *from, void **bytes, int64_t *size, ct_err *err);
    const char *(*host)(void *user, int rank); /* the name of a rank's machine; NULL: not known */
} ct_comm;

/* *any <- 1 on all ranks if `mine` is not 0 on one. Without a comm: mine. */
ct_status ct_comm_any(const ct_comm *comm, int mine, int *any, ct_err *err);

/* Bytes of rank 0 to all ranks: `size` of them, the same on every rank. Without a comm: nothing. */
ct_status ct_comm_give(const ct_comm *comm, void *bytes, int64_t size, ct_err *err);

/* owner[i] <- the rank that computes task i: the most expensive task first, each to the rank that has least so far. The
 * same on all ranks if cost is. CT_E_ARGUMENT: a cost that is negative or not finite. */
ct_status ct_comm_assign(int size, int64_t count, const double cost[], int32_t owner[], ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
