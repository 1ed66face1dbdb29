/* messages.c: messages of single ranks over MPI; see transport.h.
 *
 * They have a communicator of their own, so that exchanges do not meet them. A message of MESSAGE is its bytes, in
 * pieces of at most PIECE; the first of them begins with the size of all. ALIVE has no bytes. */
#define _POSIX_C_SOURCE 200809L
#include "mpi/transport.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PIECE (INT64_C(1) << 28)
enum { MESSAGE = 1, MORE, ALIVE };

const char *transport_host_of(void *user, int rank) { return transport_host(user, rank); }

/* One piece that a rank has sent or is sending; the sender waits for nothing else meanwhile. */
static void take_piece(transport *t, int from, int tag, void *bytes, int size)
{
    MPI_Recv(bytes, size, MPI_BYTE, from, tag, t->messages, MPI_STATUS_IGNORE);
}

/* The message that the status announces goes to the end of the list. */
static ct_status take_message(transport *t, const MPI_Status *status, ct_err *err)
{
    int     count;
    int64_t size;
    MPI_Get_count(status, MPI_BYTE, &count);
    char *first = malloc((size_t)count);
    if (!first) return ct_fail(err, CT_E_MEMORY, "no memory for a message of rank %d", status->MPI_SOURCE);
    take_piece(t, status->MPI_SOURCE, MESSAGE, first, count);
    memcpy(&size, first, sizeof size);
    transport_message *m = calloc(1, sizeof *m);
    char              *bytes = malloc((size_t)size + 1);
    if (!m || !bytes) {
        free(first);
        free(m);
        free(bytes);
        return ct_fail(err, CT_E_MEMORY, "no memory for %lld bytes of rank %d", (long long)size, status->MPI_SOURCE);
    }
    int64_t at = count - (int64_t)sizeof size;
    memcpy(bytes, first + sizeof size, (size_t)at);
    free(first);
    for (int64_t n; at < size; at += n) {
        n = size - at < PIECE ? size - at : PIECE;
        take_piece(t, status->MPI_SOURCE, MORE, bytes + at, (int)n);
    }
    *m = (transport_message){.from = status->MPI_SOURCE, .size = size, .bytes = bytes};
    transport_message **last = &t->first;
    while (*last) last = &(*last)->next;
    *last = m;
    return CT_OK;
}

/* All that has come. */
static ct_status take_in(transport *t, ct_err *err)
{
    for (;;) {
        MPI_Status status;
        int        there = 0, alive = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, ALIVE, t->messages, &alive, &status);
        if (alive) take_piece(t, status.MPI_SOURCE, ALIVE, NULL, 0);
        if (alive) t->heard[status.MPI_SOURCE] = ct_now_s();
        MPI_Iprobe(MPI_ANY_SOURCE, MESSAGE, t->messages, &there, &status);
        if (there) t->heard[status.MPI_SOURCE] = ct_now_s();
        if (there) {
            const ct_status taken = take_message(t, &status, err);
            if (taken != CT_OK) return taken;
        }
        if (!alive && !there) return CT_OK;
    }
}

/* Rank 0 and each other rank hear from each other. */
static ct_status keep_alive(transport *t, ct_err *err)
{
    const double now = ct_now_s();
    for (int r = 0; r < t->size; r++)
        if (t->heard[r] == 0) t->heard[r] = now;
    if (now - t->said > t->patience_s / 4) {
        t->said = now;
        for (int r = t->rank ? 0 : 1; r < (t->rank ? 1 : t->size); r++)
            MPI_Send(NULL, 0, MPI_BYTE, r, ALIVE, t->messages); /* no bytes: it does not wait for the receiver */
    }
    for (int r = t->rank ? 0 : 1; r < (t->rank ? 1 : t->size); r++)
        if (now - t->heard[r] > t->patience_s) return transport_late(t, r, err);
    return CT_OK;
}

static ct_status send_piece(transport *t, int to, int tag, const void *bytes, int64_t size, ct_err *err)
{
    MPI_Request request;
    int         done = 0, times = 0;
    MPI_Isend(bytes, (int)size, MPI_BYTE, to, tag, t->messages, &request);
    for (;;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done) return CT_OK;
        ct_status status = take_in(t, err);
        if (status == CT_OK) status = keep_alive(t, err);
        if (status != CT_OK) return status;
        transport_pause(&times);
    }
}

ct_status transport_send(void *user, int to, const void *bytes, int64_t size, ct_err *err)
{
    transport    *t = user;
    const int64_t beginning = size < PIECE ? size : PIECE;
    char         *first = malloc((size_t)beginning + sizeof size);
    if (!first) return ct_fail(err, CT_E_MEMORY, "no memory for a message of %lld bytes", (long long)size);
    memcpy(first, &size, sizeof size);
    if (beginning) memcpy(first + sizeof size, bytes, (size_t)beginning);
    ct_status status = send_piece(t, to, MESSAGE, first, beginning + (int64_t)sizeof size, err);
    free(first);
    for (int64_t at = beginning, n; status == CT_OK && at < size; at += n) {
        n = size - at < PIECE ? size - at : PIECE;
        status = send_piece(t, to, MORE, (const char *)bytes + at, n, err);
    }
    return status;
}

ct_status transport_receive(void *user, double wait_s, int *from, void **bytes, int64_t *size, ct_err *err)
{
    transport   *t = user;
    const double begin = ct_now_s();
    *from = -1;
    *bytes = NULL;
    *size = 0;
    for (int times = 0;;) {
        ct_status status = take_in(t, err);
        if (status == CT_OK) status = keep_alive(t, err);
        if (status != CT_OK) return status;
        transport_message *m = t->first;
        if (m) {
            t->first = m->next;
            *from = m->from;
            *bytes = m->bytes;
            *size = m->size;
            free(m);
            return CT_OK;
        }
        if (!(ct_now_s() - begin < wait_s)) return CT_OK;
        transport_pause(&times);
    }
}

void transport_drain(transport *t)
{
    ct_err err;
    (void)take_in(t, &err);
    while (t->first) {
        transport_message *m = t->first;
        t->first = m->next;
        free(m->bytes);
        free(m);
    }
}
