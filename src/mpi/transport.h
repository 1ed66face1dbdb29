/* transport.h: ranks over MPI.
 *
 *   transport.c   a ct_comm over MPI: results that all ranks exchange
 *   messages.c    messages of single ranks
 *   share.c       files that one rank sees and another does not
 *   folder.c      the temporary folder of a rank
 *   program.c     covtune-mpi: the program on every rank
 */
#ifndef COVTUNE_MPI_TRANSPORT_H
#define COVTUNE_MPI_TRANSPORT_H

#include <covtune/comm.h>
#include <mpi.h>

/* A rank that does not answer for so long is taken for dead: COVTUNE_RANK_TIMEOUT in s, else this. */
#define MPI_PATIENCE_S 3600.0

/* A message that has come and was not asked for yet. */
typedef struct transport_message {
    struct transport_message *next;
    int                       from;
    int64_t                   size;
    void                     *bytes;
} transport_message;

typedef struct {
    int      rank, size;
    double   patience_s;
    char     host[MPI_MAX_PROCESSOR_NAME];
    char    *hosts;    /* size x MPI_MAX_PROCESSOR_NAME; of all ranks                              */
    MPI_Comm messages; /* of send and receive                                                      */
    double  *heard;    /* when each rank was heard last; 0: messages have not begun                */
    double   said;     /* when this rank last said that it is alive                                */
    transport_message *first; /* in the order they came in                                         */
} transport;

int         transport_open(transport *t); /* after MPI_Init; 0: no memory */
void        transport_close(transport *t);
const char *transport_host(const transport *t, int rank);
/* ct_comm.exchange */
ct_status transport_exchange(void *user, const void *mine, const int64_t bytes[], void *all, ct_err *err);
/* ct_comm.send, receive and host; messages.c. While one waits for a rank to take a message, others are taken in: two
 * ranks that send to each other do not wait forever. Ranks say that they are alive four times in patience_s. */
ct_status   transport_send(void *user, int to, const void *bytes, int64_t size, ct_err *err);
ct_status   transport_receive(void *user, double wait_s, int *from, void **bytes, int64_t *size, ct_err *err);
const char *transport_host_of(void *user, int rank);
/* What has come and nobody asks for. */
void transport_drain(transport *t);
/* bytes of rank 0 to all. */
void transport_broadcast(const transport *t, void *bytes, int64_t size);
/* From 20 us to 1 ms: short beside an evaluation, long beside a poll. */
void transport_pause(int *times);
/* The error of a rank that did not answer in time. */
ct_status transport_late(const transport *t, int rank, ct_err *err);
/* 1 when all ranks have come here; 0 after `seconds` without one of them. INFINITY: however long it takes. */
int transport_meet(double seconds);

/* share.c: paths among the arguments (from `first` on) that exist on rank 0 and not, or otherwise, on this rank are
 * received from it into `folder`, and the argument is replaced. The argument number `out` (0: none) is an output
 * folder: other ranks than 0 write into one of their own, which begins as a copy if `resume`. Returns 0 on failure,
 * with a sentence in err. */
int share_arguments(const transport *t, int argc, char **argv, int first, int out, int resume, const char *folder,
                    ct_err *err);
/* folder.c: a new folder in TMPDIR for this rank; those that killed ranks left are removed. 0: errno says why, path
 * where. */
#define FOLDER_PATH 4096
typedef struct {
    char path[FOLDER_PATH];
    int  lock; /* -1: there is none */
} rank_folder;
int  folder_make(rank_folder *folder);
void folder_remove(rank_folder *folder); /* with all that is in it */

#endif
