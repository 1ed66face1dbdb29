/* parallel.h: independent tasks on a few threads.
 *
 * Each task writes to its own memory. Callers sum results afterwards, in the order of tasks, so the number of threads
 * changes no bit. Threads are created for each call: 20 us each, against tasks of a millisecond. No thread or lock
 * remains between calls, so a program may fork or be cancelled. */
#ifndef CT_PARALLEL_H
#define CT_PARALLEL_H

#include <stdint.h>

/* worker is in [0, jobs): whose scratch memory to use. */
typedef void (*ct__task_fn)(void *user, int64_t task, int worker);

/* task(user, t, worker) for t in [0, count), each once, on at most `jobs` threads, the caller's included; tasks are
 * begun in order. If a thread cannot be made, those there are do its work. */
void ct__parallel(int jobs, int64_t count, ct__task_fn task, void *user);

#endif
