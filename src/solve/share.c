/* share.c: one graph linearised by several threads, with the bits of one.
 *
 * A factor adds to blocks of H of one front only: that which eliminates its first variable. So items are grouped by
 * fronts, and groups do not meet in H; within a group items come in their order, so every block is the same sum in the
 * same order as by one thread. g and the diagonal of H do meet: every item's terms are kept, and each variable's are
 * added up in the order of items. Errors are kept and added up in the order of items, too. */
#include "graph/graph.h"
#include "solve/solve.h"
#include "sparse/add_inline.h"

#include <unistd.h>

#define ITEMS  1024 /* of a group, at least                                */
#define ERRORS 2048 /* items whose errors a thread evaluates at a time     */
#define BLOCKS 2048 /* variables whose terms a thread adds up at a time    */

void ct__share_free(ct__share *s)
{
    if (!s) return;
    void *const owned[] = {s->first_front, s->first_item, s->list,        s->curved,    s->error,
                           s->terms,       s->terms_start, s->term, s->term_start};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    free(s);
}

/* ---- Preparation ----------------------------------------------------------------------------- */

static int32_t front_of_item(const ct_solver *solver, int32_t k)
{
    const ct_sparse *sp = solver->system;
    const int64_t    e = solver->item[k].edge;
    if (e < 0 || sp->edge_start[e + 1] == sp->edge_start[e]) return 0;
    return (int32_t)(ct__edge_front(sp, e, (int)(sp->edge_start[e + 1] - sp->edge_start[e])) - sp->front);
}

/* Cuts the fronts into groups of at least ITEMS items, and lists the items of each in their order. */
static int group_items(ct__share *s, const ct_solver *solver)
{
    const ct_sparse *sp = solver->system;
    const int32_t    most = solver->items / ITEMS + 1;
    int32_t         *count = ct__zalloc(sp->fronts, sizeof *count), *group = ct__zalloc(sp->fronts, sizeof *group);
    s->first_front = ct__zalloc((int64_t)most + 2, sizeof *s->first_front);
    s->first_item = ct__zalloc((int64_t)most + 2, sizeof *s->first_item);
    s->list = ct__zalloc(solver->items, sizeof *s->list);
    s->curved = ct__zalloc((int64_t)most + 1, sizeof *s->curved);
    s->error = ct__zalloc(solver->items, sizeof *s->error);
    const int ok = count && group && s->first_front && s->first_item && s->list && s->curved && s->error;
    for (int32_t k = 0; ok && k < solver->items; k++) count[front_of_item(solver, k)]++;
    for (int32_t f = 0, items = 0; ok && f < sp->fronts; f++) {
        group[f] = s->groups;
        items += count[f];
        if (items < ITEMS && f + 1 < sp->fronts) continue;
        s->first_front[++s->groups] = f + 1;
        s->first_item[s->groups + 1] = s->first_item[s->groups] + items; /* where the next group's are filled from */
        items = 0;
    }
    for (int32_t k = 0; ok && k < solver->items; k++)
        s->list[s->first_item[group[front_of_item(solver, k)] + 1]++] = k;
    free(count);
    free(group);
    return ok;
}

/* Places for the terms of each edge, and for each block of the system the list of its terms, in the order of edges. */
static int place_terms(ct__share *s, const ct_sparse *sp)
{
    s->terms_start = ct__zalloc(sp->edges + 1, sizeof *s->terms_start);
    s->term_start = ct__zalloc((int64_t)sp->blocks + 2, sizeof *s->term_start);
    s->term = ct__zalloc(sp->edge_start[sp->edges], sizeof *s->term);
    if (!s->terms_start || !s->term_start || !s->term) return 0;
    for (int64_t i = 0; i < sp->edge_start[sp->edges]; i++) s->term_start[sp->member[i] + 2]++;
    for (int32_t b = 0; b < sp->blocks; b++) s->term_start[b + 2] += s->term_start[b + 1];
    for (int64_t e = 0, at = 0; e < sp->edges; e++) {
        for (int64_t i = sp->edge_start[e]; i < sp->edge_start[e + 1]; i++) {
            s->term[s->term_start[sp->member[i] + 1]++] = at;
            at += CT_TERMS * sp->dim[sp->member[i]];
        }
        s->terms_start[e + 1] = at;
    }
    return (s->terms = ct__zalloc(s->terms_start[sp->edges], sizeof *s->terms)) != NULL;
}

void ct__share_work(ct_solver *solver, int threads)
{
    ct_sparse *sp = solver->system;
    const long processors = threads == 0 ? sysconf(_SC_NPROCESSORS_ONLN) : threads;
    sp->threads = (int)CT_MIN(CT_MAX(processors, 1), CT__TEAM_MAX);
    if (sp->threads < 2 || !sp->parts) return;
    ct_err ignored = {0};
    (void)ct__sparse_workers(sp, sp->threads, &ignored); /* as many as there is memory for */
}

typedef struct {
    const ct_solver *solver;
    ct__share       *share;
    int              ok[2];
} preparation;

static void prepare(void *user, int64_t k, int worker)
{
    preparation *p = user;
    (void)worker;
    p->ok[k] = k ? place_terms(p->share, p->solver->system) : group_items(p->share, p->solver);
}

void ct__share_prepare(ct_solver *solver)
{
    if (solver->share || ct__team_size(solver->system->team) < 2) return;
    for (int32_t b = 0; b < solver->batches; b++)
        if (solver->batch[b].many) return;
    preparation p = {.solver = solver, .share = ct__zalloc(1, sizeof *p.share)};
    if (!p.share) return;
    ct__team_run(solver->system->team, 2, prepare, &p);
    if (p.ok[0] && p.ok[1]) solver->share = p.share;
    else ct__share_free(p.share);
}

int ct__is_shared(const ct_solver *solver) { return solver->share && ct__team_size(solver->system->team) > 1; }

/* ---- Linearise ------------------------------------------------------------------------------- */

typedef struct {
    ct_solver      *solver;
    const ct_noise *noise;
    const double   *x;
    int             exact;
} job;

/* The first place in H of fronts from f on. */
static int64_t first_of_h(const ct_sparse *sp, int32_t f)
{
    return f < sp->fronts ? sp->block[sp->front[f].block].at : sp->h_size;
}

static void linearise_task(void *user, int64_t g, int worker)
{
    const job       *j = user;
    const ct_solver *solver = j->solver;
    ct__share       *s = solver->share;
    ct_sparse       *sp = solver->system;
    const int64_t    from = first_of_h(sp, s->first_front[g]), to = first_of_h(sp, s->first_front[g + 1]);
    (void)worker;
    memset(sp->h + from, 0, (size_t)(to - from) * sizeof *sp->h);
    for (int32_t f = s->first_front[g]; sp->curved && f < s->first_front[g + 1]; f++) sp->front[f].curved = 0;
    s->curved[g] = 0;
    const int32_t end = s->first_item[g + 1];
    for (int32_t b = 0, at = s->first_item[g]; b < solver->batches; b++) {
        ct__group part = {.list = s->list, .first = at, .curved = &s->curved[g]};
        while (at < end && s->list[at] < solver->batch[b].end) at++;
        part.end = at;
        if (part.end > part.first)
            ct__linearise_items(j->solver, &solver->batch[b], j->noise, j->x, j->exact, &part);
    }
}

/* g and the diagonal of H of blocks first .. end - 1. */
static void add_terms(void *user, int64_t first, int64_t end)
{
    const job       *j = user;
    const ct__share *s = j->solver->share;
    ct_sparse       *sp = j->solver->system;
    for (int64_t b = first; b < end; b++) {
        const int m = sp->dim[b];
        double   *g = sp->g + sp->column[b], *diagonal = sp->diagonal + sp->column[b];
        memset(g, 0, (size_t)m * sizeof *g);
        memset(diagonal, 0, (size_t)m * sizeof *diagonal);
        for (int64_t t = s->term_start[b]; t < s->term_start[b + 1]; t++) {
            const double *term = s->terms + s->term[t];
            for (int i = 0; i < m; i++) g[i] += term[i];
            for (int i = 0; j->exact && i < m; i++) diagonal[i] += term[2 * m + i];
            for (int i = 0; i < m; i++) diagonal[i] += term[m + i];
        }
    }
}

/* In the order of items, batch by batch. */
static double sum_errors(const ct_solver *solver)
{
    double error = 0;
    for (int32_t b = 0; b < solver->batches; b++) {
        double sum = 0;
        for (int32_t k = solver->batch[b].first; k < solver->batch[b].end; k++) sum += solver->share->error[k];
        error += sum;
    }
    return error;
}

double ct__linearise_shared(ct_solver *solver, const ct_noise *noise, const double *x, int exact)
{
    job        j = {.solver = solver, .noise = noise, .x = x, .exact = exact};
    ct_sparse *sp = solver->system;
    ct__team_run(sp->team, solver->share->groups, linearise_task, &j);
    ct__team_ranges(sp->team, sp->blocks, BLOCKS, add_terms, &j);
    sp->curved = 0;
    for (int32_t g = 0; g < solver->share->groups; g++) sp->curved |= solver->share->curved[g];
    return sum_errors(solver);
}

/* ---- Error ----------------------------------------------------------------------------------- */

typedef struct {
    const ct_solver *solver;
    const ct_noise  *noise;
    const double    *x;
} errors;

static void error_range(void *user, int64_t first, int64_t end)
{
    const errors *e = user;
    for (int32_t b = 0; b < e->solver->batches; b++) {
        const ct__batch *batch = &e->solver->batch[b];
        const int32_t    from = CT_MAX((int32_t)first, batch->first), to = CT_MIN((int32_t)end, batch->end);
        if (from < to) ct__error_range(e->solver, batch, e->noise, e->x, from, to, e->solver->share->error);
    }
}

double ct__error_shared(const ct_solver *solver, const ct_noise *noise, const double *x)
{
    errors e = {.solver = solver, .noise = noise, .x = x};
    ct__team_ranges(solver->system->team, solver->items, ERRORS, error_range, &e);
    return sum_errors(solver);
}
