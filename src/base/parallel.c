/* parallel.c: threads that take the next task until none is left. */
#define _POSIX_C_SOURCE 200809L
#include "base/parallel.h"
#include "base/base.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define JOBS_MAX 256

typedef struct {
    atomic_int_fast64_t next;
    int64_t             count;
    ct__task_fn         task;
    void               *user;
} queue;

typedef struct {
    queue    *queue;
    int       worker;
    pthread_t thread;
} hand;

/* Processor time of this thread inside of sections, and how many it is inside of. A diagnosis, which no result uses. */
static _Thread_local double inside_s;
static _Thread_local int    depth;

static double thread_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

ct_work_times ct_work_times_so_far(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (ct_work_times){.all_s = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec, .serial_s = thread_s() - inside_s};
}

static void *work(void *argument)
{
    const hand *h = argument;
    for (int64_t t; (t = atomic_fetch_add(&h->queue->next, 1)) < h->queue->count;)
        h->queue->task(h->queue->user, t, h->worker);
    return NULL;
}

void ct__parallel(int jobs, int64_t count, ct__task_fn task, void *user)
{
    queue     q = {.count = count, .task = task, .user = user};
    hand      hands[JOBS_MAX];
    int       made = 1;
    const int wanted = (int)CT_MIN(CT_MIN((int64_t)jobs, count), JOBS_MAX);
    const double begin = depth++ ? 0 : thread_s();
    hands[0] = (hand){.queue = &q};
    for (; made < wanted; made++) {
        hands[made] = (hand){.queue = &q, .worker = made};
        if (pthread_create(&hands[made].thread, NULL, work, &hands[made])) break;
    }
    work(&hands[0]);
    for (int i = 1; i < made; i++) pthread_join(hands[i].thread, NULL);
    if (--depth == 0) inside_s += thread_s() - begin;
}
