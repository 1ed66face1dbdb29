/* team.c: one atomic word orders the sections of a team.
 *
 *     state = section number | OPEN | threads that are in it
 *
 * A member enters an open section that it has not been in by adding one; only then are the section's fields read. The
 * caller takes tasks itself, closes the section when none is left, and waits until the count is zero. Who comes later
 * finds it closed. */
#include "base/team.h"
#include "base/base.h"

#include <sched.h>

#define IN_IT   UINT64_C(0xffff)
#define OPEN    UINT64_C(0x10000)
#define SECTION UINT64_C(0x20000)
#define ENDED   0      /* section number after the last one         */
#define AWAKE   4000   /* looks before a member sleeps: some 50 us  */
#define PATIENT 200    /* looks before the caller yields            */

static inline void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void take_tasks(ct__team *team, int worker)
{
    const int64_t     count = team->count;
    const ct__task_fn task = team->task;
    void             *user = team->user;
    for (int64_t t; (t = atomic_fetch_add_explicit(&team->next, 1, memory_order_relaxed)) < count;)
        task(user, t, worker);
}

/* Waits for a state of another section than `seen`. */
static uint64_t wait_for_section(ct__team *team, uint64_t seen)
{
    for (int k = 0; k < AWAKE; k++) {
        const uint64_t state = atomic_load(&team->state);
        if (state / SECTION != seen) return state;
        pause_briefly();
    }
    pthread_mutex_lock(&team->lock);
    atomic_fetch_add(&team->asleep, 1);
    while (atomic_load(&team->state) / SECTION == seen) pthread_cond_wait(&team->wake, &team->lock);
    atomic_fetch_sub(&team->asleep, 1);
    pthread_mutex_unlock(&team->lock);
    return atomic_load(&team->state);
}

static void *serve(void *argument)
{
    const ct__team_member *me = argument;
    ct__team              *team = me->team;
    uint64_t               seen = 1; /* the number that begin gives */
    for (;;) {
        uint64_t state = wait_for_section(team, seen);
        while (state / SECTION != ENDED && state & OPEN)
            if (atomic_compare_exchange_weak(&team->state, &state, state + 1)) break;
        seen = state / SECTION;
        if (seen == ENDED) return NULL;
        if (!(state & OPEN)) continue;
        take_tasks(team, me->worker);
        atomic_fetch_sub(&team->state, 1);
    }
}

static void announce(ct__team *team, uint64_t state)
{
    atomic_store(&team->state, state);
    if (!atomic_load(&team->asleep)) return;
    pthread_mutex_lock(&team->lock);
    pthread_cond_broadcast(&team->wake);
    pthread_mutex_unlock(&team->lock);
}

void ct__team_begin(ct__team *team, int threads)
{
    *team = (ct__team){.size = 1};
    atomic_init(&team->state, SECTION);
    atomic_init(&team->next, 0);
    atomic_init(&team->asleep, 0);
    if (threads < 2 || pthread_mutex_init(&team->lock, NULL)) return;
    if (pthread_cond_init(&team->wake, NULL)) {
        pthread_mutex_destroy(&team->lock);
        return;
    }
    for (; team->size < CT_MIN(threads, CT__TEAM_MAX); team->size++) {
        ct__team_member *m = &team->member[team->size];
        *m = (ct__team_member){.team = team, .worker = team->size};
        if (pthread_create(&m->thread, NULL, serve, m)) break;
    }
    if (team->size > 1) return;
    pthread_cond_destroy(&team->wake);
    pthread_mutex_destroy(&team->lock);
}

void ct__team_end(ct__team *team)
{
    if (team->size < 2) return;
    announce(team, ENDED * SECTION);
    for (int i = 1; i < team->size; i++) pthread_join(team->member[i].thread, NULL);
    pthread_cond_destroy(&team->wake);
    pthread_mutex_destroy(&team->lock);
}

int ct__team_size(const ct__team *team) { return team ? team->size : 1; }

void ct__team_run(ct__team *team, int64_t count, ct__task_fn task, void *user)
{
    if (!team || team->size < 2 || count < 2) {
        for (int64_t t = 0; t < count; t++) task(user, t, 0);
        return;
    }
    team->count = count;
    team->task = task;
    team->user = user;
    atomic_store_explicit(&team->next, 0, memory_order_relaxed);
    const uint64_t section = (atomic_load(&team->state) / SECTION + 1) * SECTION;
    announce(team, section | OPEN);
    take_tasks(team, 0);
    atomic_fetch_and(&team->state, ~OPEN);
    for (int k = 0; atomic_load(&team->state) & IN_IT; k++) {
        if (k < PATIENT) pause_briefly();
        else sched_yield();
    }
}

typedef struct {
    int64_t      count, chunk;
    ct__range_fn fn;
    void        *user;
} ranges;

static void range_task(void *user, int64_t t, int worker)
{
    const ranges *r = user;
    (void)worker;
    r->fn(r->user, t * r->chunk, CT_MIN((t + 1) * r->chunk, r->count));
}

void ct__team_ranges(ct__team *team, int64_t count, int64_t chunk, ct__range_fn fn, void *user)
{
    ranges r = {.count = count, .chunk = chunk, .fn = fn, .user = user};
    if (ct__team_size(team) < 2) {
        if (count > 0) fn(user, 0, count);
    } else ct__team_run(team, (count + chunk - 1) / chunk, range_task, &r);
}
