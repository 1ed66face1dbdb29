/* team.h: threads that stay for the many short parallel sections of one call.
 *
 * A team lives on the stack of a call: it is begun, runs sections, and is ended before the call returns. So no thread
 * remains between calls, and a program may fork. Between sections its threads wait awake for some microseconds, then
 * asleep. A section costs about a microsecond while they are awake.
 *
 * Each task of a section writes to its own memory. Callers add results up afterwards, in the order of tasks, so the
 * number of threads changes no bit. A thread that the system does not schedule in time holds nobody up: who has begun
 * no task of a section is not waited for. */
#ifndef CT_TEAM_H
#define CT_TEAM_H

#include "base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>

#define CT__TEAM_MAX 64

typedef struct ct__team ct__team;

typedef struct {
    ct__team *team;
    int       worker;
    pthread_t thread;
} ct__team_member;

struct ct__team {
    int                   size;       /* threads, the caller's included                                     */
    atomic_uint_fast64_t  state;      /* number of the section, whether it is open, who is in it: team.c    */
    atomic_int_fast64_t   next;       /* task                                                               */
    int64_t               count;
    ct__task_fn           task;
    void                 *user;
    atomic_int            asleep;
    pthread_mutex_t       lock;
    pthread_cond_t        wake;
    ct__team_member       member[CT__TEAM_MAX];
};

/* Begins with at most `threads` threads, the caller's included, and at most CT__TEAM_MAX; with fewer, if the system
 * makes no more. Allocates nothing. */
void ct__team_begin(ct__team *team, int threads);
void ct__team_end(ct__team *team);

/* Threads of a team; 1 for NULL. */
int ct__team_size(const ct__team *team);

/* One section: task(user, t, worker) for t in [0, count), each once, begun in order; worker in [0, size), 0 is the
 * caller. Returns when all are done. NULL: the caller does them. Only the thread that began the team may call this, and
 * no task may. */
void ct__team_run(ct__team *team, int64_t count, ct__task_fn task, void *user);

/* The same for ranges [first, end) of [0, count), of `chunk` each. */
typedef void (*ct__range_fn)(void *user, int64_t first, int64_t end);
void ct__team_ranges(ct__team *team, int64_t count, int64_t chunk, ct__range_fn fn, void *user);

#endif
