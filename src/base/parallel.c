/* parallel.c: threads that take the next task until none is left. */
#include "base/parallel.h"
#include "base/base.h"

#include <pthread.h>
#include <stdatomic.h>

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
    hands[0] = (hand){.queue = &q};
    for (; made < wanted; made++) {
        hands[made] = (hand){.queue = &q, .worker = made};
        if (pthread_create(&hands[made].thread, NULL, work, &hands[made])) break;
    }
    work(&hands[0]);
    for (int i = 1; i < made; i++) pthread_join(hands[i].thread, NULL);
}
