/* parallel.h: independent tasks on a few threads.
 *
 * Tasks write to places of their own, and whoever adds results up does so afterwards, in the order of the tasks: so the
 * number of threads changes no bit. Threads are made for each call: 20 us each, against tasks of a millisecond, and
 * nothing is left running or locked between calls (a program may fork, or be cancelled). */
#ifndef CT_PARALLEL_H
#define CT_PARALLEL_H

#include <stdint.h>

/* worker is in [0, jobs): whose scratch memory to use. */
typedef void (*ct__task_fn)(void *user, int64_t task, int worker);

/* task(user, t, worker) for t in [0, count), each once, on at most `jobs` threads, the caller's included; tasks are
 * begun in order. If a thread cannot be made, those there are do its work. */
void ct__parallel(int jobs, int64_t count, ct__task_fn task, void *user);

#endif
