/* solver_pool.c: see solver_pool.h. Entries are in chains by the digest of their structure. */
#include "solve/solver_pool.h"
#include "base/base.h"
#include "graph/graph.h"

#include <pthread.h>

#define CHAINS 4096

typedef struct entry entry;
struct entry {
    uint64_t              digest;
    int32_t               variables, factors;
    int64_t               var_used;
    uint8_t              *kind, *fixed; /* of the structure; kind owns all three blocks */
    const ct_factor_ops **ops;
    int32_t              *var;
    ct_solver            *solver;
    int64_t               bytes, used_at;
    int                   in_use;
    entry                *next; /* of the chain */
};

struct ct__solver_pool {
    pthread_mutex_t lock;
    int64_t         limit, idle, largest, now;
    int             most, count; /* count: idle ones */
    int             own;
    entry          *chain[CHAINS];
};

/* ---- Structure ------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * 0x9e3779b97f4a7c15u;
    return h ^ (h >> 29);
}

static uint64_t digest_of(const ct__solver_pool *pool, const ct_graph *g)
{
    uint64_t h = mix((uint64_t)g->variables, (uint64_t)g->factors);
    if (pool->own) return mix(h, (uint64_t)(uintptr_t)g);
    for (int32_t v = 0; v < g->variables; v++) h = mix(h, (uint64_t)g->kind[v] << 1 | g->fixed[v]);
    for (int32_t f = 0; f < g->factors; f++) h = mix(h, (uint64_t)(uintptr_t)g->factor[f].ops);
    for (int64_t k = 0; k < g->var_used; k++) h = mix(h, (uint64_t)g->var_pool[k]);
    return h;
}

static int is_equal(const entry *e, const ct_graph *g)
{
    if (e->variables != g->variables || e->factors != g->factors || e->var_used != g->var_used) return 0;
    if (memcmp(e->kind, g->kind, (size_t)g->variables) || memcmp(e->fixed, g->fixed, (size_t)g->variables) ||
        memcmp(e->var, g->var_pool, (size_t)g->var_used * sizeof *e->var))
        return 0;
    for (int32_t f = 0; f < g->factors; f++)
        if (e->ops[f] != g->factor[f].ops) return 0;
    return 1;
}

static void free_entry(entry *e)
{
    ct_solver_free(e->solver);
    free(e->kind);
    free((void *)e->ops);
    free(e->var);
    free(e);
}

static ct_status new_entry(const ct_graph *g, uint64_t digest, entry **out, ct_err *err)
{
    entry    *e = ct__zalloc(1, sizeof *e);
    ct_status status = CT_E_MEMORY;
    if (e) {
        *e = (entry){.digest = digest, .variables = g->variables, .factors = g->factors, .var_used = g->var_used};
        e->kind = ct__zalloc(2 * (int64_t)g->variables, 1);
        e->ops = ct__zalloc(g->factors, sizeof *e->ops);
        e->var = ct__zalloc(g->var_used, sizeof *e->var);
        if (e->kind && e->ops && e->var) status = CT_OK;
    }
    if (status != CT_OK) ct__no_memory(err, "factors", g->factors);
    else {
        e->fixed = e->kind + g->variables;
        if (g->variables) memcpy(e->kind, g->kind, (size_t)g->variables);
        if (g->variables) memcpy(e->fixed, g->fixed, (size_t)g->variables);
        if (g->var_used) memcpy(e->var, g->var_pool, (size_t)g->var_used * sizeof *e->var);
        for (int32_t f = 0; f < g->factors; f++) e->ops[f] = g->factor[f].ops;
        status = ct_solver_new(g, NULL, &e->solver, err);
    }
    if (status == CT_OK) {
        e->bytes = ct__solver_bytes(e->solver) + 2 * g->variables + 8 * (int64_t)g->factors + 4 * g->var_used;
        *out = e;
    } else if (e) free_entry(e);
    return status;
}

/* ---- The pool -------------------------------------------------------------------------------- */

ct_status ct__solver_pool_new(int64_t limit, int most, int own, ct__solver_pool **out, ct_err *err)
{
    ct__solver_pool *pool = *out = ct__zalloc(1, sizeof *pool);
    if (!pool) return ct__no_memory(err, "solvers", 1);
    pool->limit = limit;
    pool->most = most;
    pool->own = own;
    if (!pthread_mutex_init(&pool->lock, NULL)) return CT_OK;
    free(pool);
    *out = NULL;
    return ct__no_memory(err, "locks", 1);
}

void ct__solver_pool_free(ct__solver_pool *pool)
{
    if (!pool) return;
    for (int c = 0; c < CHAINS; c++)
        for (entry *e = pool->chain[c], *next; e; e = next) {
            next = e->next;
            free_entry(e);
        }
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

/* An idle solver of that structure, which is then in use, or NULL. */
static entry *find_idle(ct__solver_pool *pool, const ct_graph *g, uint64_t digest)
{
    pthread_mutex_lock(&pool->lock);
    entry *e = pool->chain[digest % CHAINS];
    while (e && (e->in_use || e->digest != digest || (pool->own && e->solver->graph != g) || !is_equal(e, g)))
        e = e->next;
    if (e) {
        e->in_use = 1;
        pool->idle -= e->bytes;
        pool->count--;
    }
    pthread_mutex_unlock(&pool->lock);
    return e;
}

ct_status ct__solver_pool_take(ct__solver_pool *pool, const ct_graph *g, ct_solver **out, ct_err *err)
{
    const uint64_t digest = digest_of(pool, g);
    entry         *e = find_idle(pool, g, digest);
    *out = NULL;
    if (e) {
        const ct_status status = pool->own ? CT_OK : ct__solver_bind(e->solver, g, err);
        if (status == CT_OK) *out = e->solver;
        else ct__solver_pool_give(pool, e->solver);
        return status;
    }
    CT_TRY(new_entry(g, digest, &e, err));
    e->in_use = 1;
    pthread_mutex_lock(&pool->lock);
    e->next = pool->chain[digest % CHAINS];
    pool->chain[digest % CHAINS] = e;
    pool->largest = CT_MAX(pool->largest, e->bytes);
    pthread_mutex_unlock(&pool->lock);
    e->solver->of_pool = e;
    *out = e->solver;
    return CT_OK;
}

/* With the lock: the idle entry that was unused the longest leaves its chain. */
static entry *remove_oldest(ct__solver_pool *pool)
{
    entry **oldest = NULL;
    for (int c = 0; c < CHAINS; c++)
        for (entry **e = &pool->chain[c]; *e; e = &(*e)->next)
            if (!(*e)->in_use && (!oldest || (*e)->used_at < (*oldest)->used_at)) oldest = e;
    entry *e = *oldest;
    *oldest = e->next;
    pool->idle -= e->bytes;
    pool->count--;
    return e;
}

void ct__solver_pool_give(ct__solver_pool *pool, ct_solver *solver)
{
    entry *e = solver->of_pool, *gone = NULL;
    pthread_mutex_lock(&pool->lock);
    e->in_use = 0;
    e->used_at = ++pool->now;
    pool->idle += e->bytes;
    pool->count++;
    while ((pool->limit && pool->idle > pool->limit && pool->count > 1) || (pool->most && pool->count > pool->most)) {
        entry *one = remove_oldest(pool);
        one->next = gone;
        gone = one;
    }
    pthread_mutex_unlock(&pool->lock);
    for (entry *next; gone; gone = next) {
        next = gone->next;
        free_entry(gone);
    }
}

int64_t ct__solver_pool_largest(ct__solver_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    const int64_t largest = pool->largest;
    pthread_mutex_unlock(&pool->lock);
    return largest;
}
