/* transport.h: ranks over MPI.
 *
 *   transport.c   a ct_comm over MPI
 *   share.c       files that one rank sees and another does not
 *   program.c     covtune-mpi: the program on every rank
 */
#ifndef COVTUNE_MPI_TRANSPORT_H
#define COVTUNE_MPI_TRANSPORT_H

#include <covtune/comm.h>
#include <mpi.h>

/* A rank that does not answer for so long is taken for dead: COVTUNE_RANK_TIMEOUT in s, else this. */
#define MPI_PATIENCE_S 3600.0

typedef struct {
    int    rank, size;
    double patience_s;
    char   host[MPI_MAX_PROCESSOR_NAME];
    char  *hosts; /* size x MPI_MAX_PROCESSOR_NAME; of all ranks */
} transport;

int         transport_open(transport *t); /* after MPI_Init; 0: no memory */
void        transport_close(transport *t);
const char *transport_host(const transport *t, int rank);
/* ct_comm.exchange */
ct_status transport_exchange(void *user, const void *mine, const int64_t bytes[], void *all, ct_err *err);
/* bytes of rank 0 to all. */
void transport_broadcast(const transport *t, void *bytes, int64_t size);
/* 1 when all ranks have come here; 0 after `seconds` without one of them. INFINITY: however long it takes. */
int transport_meet(double seconds);

/* share.c: paths among the arguments (from `first` on) that exist on rank 0 and not, or otherwise, on this rank are
 * received from it into `folder`, and the argument is replaced. The argument number `out` (0: none) is an output
 * folder: other ranks than 0 write into one of their own, which begins as a copy if `resume`. Returns 0 on failure,
 * with a sentence in err. */
int share_arguments(const transport *t, int argc, char **argv, int first, int out, int resume, const char *folder,
                    ct_err *err);
/* Removes a folder and all in it. */
void share_remove(const char *folder);

#endif
