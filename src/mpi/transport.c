/* transport.c: a ct_comm over MPI.
 *
 * Results go to rank 0 and from there to all. Rank 0 sees who is late, and names it. Waiting polls with pauses: ranks
 * beyond the number of processors must not take the processor from those that work. */
#define _POSIX_C_SOURCE 200809L
#include "mpi/transport.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHUNK (INT64_C(1) << 30) /* MPI counts are int */
#define TAG   17

int transport_open(transport *t)
{
    int         length;
    const char *given = getenv("COVTUNE_RANK_TIMEOUT");
    MPI_Comm_rank(MPI_COMM_WORLD, &t->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &t->size);
    memset(t->host, 0, sizeof t->host);
    MPI_Get_processor_name(t->host, &length);
    t->patience_s = given && atof(given) > 0 ? atof(given) : MPI_PATIENCE_S;
    t->hosts = calloc((size_t)t->size, sizeof t->host);
    t->heard = calloc((size_t)t->size, sizeof *t->heard);
    MPI_Comm_dup(MPI_COMM_WORLD, &t->messages);
    if (t->hosts)
        MPI_Allgather(t->host, sizeof t->host, MPI_CHAR, t->hosts, sizeof t->host, MPI_CHAR, MPI_COMM_WORLD);
    return t->hosts && t->heard;
}

void transport_close(transport *t)
{
    transport_drain(t);
    MPI_Comm_free(&t->messages);
    free(t->hosts);
    free(t->heard);
}

const char *transport_host(const transport *t, int rank) { return t->hosts + (size_t)rank * sizeof t->host; }

void transport_pause(int *times)
{
    const long pause = 20000L << (*times < 6 ? *times : 6);
    nanosleep(&(struct timespec){0, pause < 1000000 ? pause : 1000000}, NULL);
    if (*times < 6) ++*times;
}

/* 1 when the request is done, 0 after so many seconds. */
static int wait_for(MPI_Request *request, double seconds)
{
    const double begin = ct_now_s();
    int          done = 0, times = 0;
    for (int quick = 0; quick < 100 && !done; quick++) MPI_Test(request, &done, MPI_STATUS_IGNORE);
    while (!done && !(ct_now_s() - begin > seconds)) {
        transport_pause(&times);
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
    }
    return done;
}

static int broadcast(const transport *t, char *bytes, int64_t size, double seconds)
{
    for (int64_t at = 0; at < size; at += CHUNK) {
        MPI_Request request;
        MPI_Ibcast(bytes + at, (int)(size - at < CHUNK ? size - at : CHUNK), MPI_BYTE, 0, MPI_COMM_WORLD, &request);
        if (!wait_for(&request, seconds)) return 0;
    }
    (void)t;
    return 1;
}

void transport_broadcast(const transport *t, void *bytes, int64_t size) { broadcast(t, bytes, size, INFINITY); }

int transport_meet(double seconds)
{
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    return wait_for(&request, seconds);
}

ct_status transport_late(const transport *t, int rank, ct_err *err)
{
    return ct_fail(err, CT_E_IO,
                   "rank %d on %s has not answered for %g s; --resume goes on, with any number of ranks "
                   "(COVTUNE_RANK_TIMEOUT sets the seconds)",
                   rank, transport_host(t, rank), t->patience_s);
}

static ct_status gather(const transport *t, const char *mine, const int64_t bytes[], char *all, ct_err *err)
{
    int64_t at = 0;
    if (t->rank > 0) {
        for (int64_t k = 0; k < bytes[t->rank]; k += CHUNK) {
            const int64_t left = bytes[t->rank] - k;
            MPI_Request   request;
            MPI_Isend(mine + k, (int)(left < CHUNK ? left : CHUNK), MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &request);
            if (!wait_for(&request, t->patience_s)) return transport_late(t, 0, err);
        }
        return CT_OK;
    }
    if (bytes[0]) memcpy(all, mine, (size_t)bytes[0]);
    for (int r = 0; r < t->size; at += bytes[r++])
        for (int64_t k = 0; r > 0 && k < bytes[r]; k += CHUNK) {
            const int64_t left = bytes[r] - k;
            MPI_Request   request;
            MPI_Irecv(all + at + k, (int)(left < CHUNK ? left : CHUNK), MPI_BYTE, r, TAG, MPI_COMM_WORLD, &request);
            if (!wait_for(&request, t->patience_s)) return transport_late(t, r, err);
        }
    return CT_OK;
}

ct_status transport_exchange(void *user, const void *mine, const int64_t bytes[], void *all, ct_err *err)
{
    const transport *t = user;
    int64_t          total = 0;
    for (int r = 0; r < t->size; r++) total += bytes[r];
    const ct_status status = gather(t, mine, bytes, all, err);
    if (status != CT_OK) return status;
    return broadcast(t, all, total, t->patience_s) ? CT_OK : transport_late(t, 0, err);
}
