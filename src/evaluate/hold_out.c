/* hold_out.c: which measurements are held out, and the graph without them.
 *
 * Everything but odometry (graph/bodies.h) can be held out: absolute measurements, landmarks, loop closures, contacts.
 *
 * A held-out factor keeps its place in the structure, with its covariance multiplied by 1e12: to the other factors'
 * twelfth digit it has no weight.
 *
 * Determined: with all sigmas 1, no variance of a variable grows by a factor of 1e6 when the measurements are held out.
 * Undetermined directions grow by 1e12. */
#include "evaluate/hold_out.h"
#include "graph/biased.h"
#include "base/name_table.h"
#include "graph/bodies.h"
#include "solve/solve.h"

#define WEIGHTLESS  1e12
#define GROWTH_MOST 1e6
#define TENTH       10
#define GROUP_LEAST 4 /* of four measurements one can be predicted from the rest; of fewer the rest says little */

/* ---- Candidates ------------------------------------------------------------------------------ */

static int estimates_something(const ct_graph *g, const ct__factor *f)
{
    for (int i = 0; i < f->ops->arity; i++)
        if (!g->fixed[g->var_pool[f->var + i]]) return 1;
    return 0;
}

/* candidate[f] <- 1 if the factor may be held out. */
static ct_status list_candidates(const ct_graph *g, uint8_t *candidate, ct_err *err)
{
    ct__bodies bodies;
    CT_TRY(ct__bodies_find(g, &bodies, err));
    for (int32_t f = 0; f < g->factors; f++)
        candidate[f] = estimates_something(g, &g->factor[f]) && !ct__is_odometry(g, &bodies, f) &&
                       !ct__is_process(g->factor[f].ops);
    ct__bodies_free(&bodies);
    return CT_OK;
}

/* ---- A tenth --------------------------------------------------------------------------------- */

/* group[g] <- the group of a model: its name up to '#'. */
static ct_status group_models(const ct_noise *noise, int32_t *group, ct_err *err)
{
    ct__names names = {0};
    ct_status status = CT_OK;
    for (int32_t g = 0; status == CT_OK && g < ct_noise_count(noise); g++) {
        char        name[256];
        const char *whole = ct_noise_get(noise, g)->name;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(whole, "#"), whole);
        group[g] = ct__names_find(&names, name);
        if (group[g] >= 0) continue;
        status = ct__names_add(&names, name, err);
        group[g] = (int32_t)names.count - 1;
    }
    ct__names_free(&names);
    return status;
}

/* Of n candidates of a group h are held out: number k if (k + offset) h / n passes an integer there. */
typedef struct {
    int64_t n, h, offset, k;
} share;

static void draw_shares(int32_t groups, share *of, uint64_t seed)
{
    ct_rng rng = ct_rng_seed(seed);
    for (int32_t i = 0; i < groups; i++) {
        const double u = ct_rng_uniform(&rng);
        of[i].h = of[i].n >= TENTH ? of[i].n / TENTH : of[i].n >= GROUP_LEAST;
        of[i].offset = (int64_t)(u * (double)of[i].n);
    }
}

static int is_drawn(share *s)
{
    const int64_t at = s->k++ + s->offset;
    return s->h && (at + 1) * s->h / s->n > at * s->h / s->n;
}

static ct_status draw(const ct_graph *g, const ct_noise *noise, uint64_t seed, uint8_t *held, ct_err *err)
{
    const int32_t models = ct_noise_count(noise);
    int32_t      *group = ct__zalloc(models, sizeof *group);
    share        *of = ct__zalloc(models, sizeof *of);
    ct_status     status = group && of ? group_models(noise, group, err) : ct__no_memory(err, "noise models", models);
    if (status == CT_OK) status = list_candidates(g, held, err);
    for (int32_t f = 0; status == CT_OK && f < g->factors; f++) of[group[g->factor[f].noise]].n += held[f];
    if (status == CT_OK) draw_shares(models, of, seed);
    for (int32_t f = 0; status == CT_OK && f < g->factors; f++)
        held[f] = held[f] && is_drawn(&of[group[g->factor[f].noise]]);
    free(group);
    free(of);
    return status;
}

/* ---- Determined without them ----------------------------------------------------------------- */

/* The function of a model whose variances are multiplied: its bounds are, too. */
static ct_status add_function(const ct_noise_model *m, double factor, ct_noise *to, int32_t index, ct_err *err)
{
    ct_function f = *m->function;
    for (int i = 0; i < m->dim; i++) {
        f.lower[i] *= factor;
        f.upper[i] *= factor;
    }
    return ct_noise_set_function(to, index, &f, err);
}

static ct_status add_models(const ct_noise *like, int unit, double factor, ct_noise *to, ct_err *err)
{
    for (int32_t g = 0; g < ct_noise_count(like); g++) {
        const ct_noise_model *m = ct_noise_get(like, g);
        const int             n = m->kind == CT_NOISE_FULL ? m->dim * m->dim : m->dim;
        double                value[CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX];
        char                  name[32];
        int32_t               index;
        snprintf(name, sizeof name, "%d/%g", g, factor);
        for (int i = 0; i < n; i++) value[i] = factor * m->covariance[i];
        if (unit || m->kind == CT_NOISE_ISOTROPIC)
            CT_TRY(ct_noise_add_isotropic(to, name, m->dim, unit ? factor : value[0], &index, err));
        else if (m->kind == CT_NOISE_DIAGONAL) CT_TRY(ct_noise_add_diagonal(to, name, m->dim, value, &index, err));
        else CT_TRY(ct_noise_add_full(to, name, m->dim, value, &index, err));
        if (!unit && factor == 1) CT_TRY(ct_noise_set_robust(to, index, m->robust, err));
        if (!unit && m->function) CT_TRY(add_function(m, factor, to, index, err));
    }
    return CT_OK;
}

static ct_status make_table(const ct_noise *noise, int unit, ct_noise **out, ct_err *err)
{
    ct_noise *table = NULL;
    CT_TRY(ct_noise_new(&table, err));
    ct_status status = add_models(noise, unit, 1, table, err);
    if (status == CT_OK) status = add_models(noise, unit, WEIGHTLESS, table, err);
    if (status != CT_OK) ct_noise_free(table);
    *out = status == CT_OK ? table : NULL;
    return status;
}

ct_status ct__hold_out_table(const ct_noise *noise, ct_noise **out, ct_err *err)
{
    return make_table(noise, 0, out, err);
}

static ct_status set_held(ct__hold_out *h, int32_t f, int held, ct_err *err)
{
    const int32_t noise = h->graph->factor[f].noise + (held ? h->models : -h->models);
    CT_TRY(ct_graph_set_noise(h->graph, f, noise, err));
    h->held[f] = (uint8_t)held;
    h->count += held ? 1 : -1;
    return CT_OK;
}

/* Variables of these factors, once each; how many. */
static int32_t list_touched(const ct_graph *g, const uint8_t *held, uint8_t *seen, int32_t *var)
{
    int32_t n = 0;
    memset(seen, 0, (size_t)g->variables);
    for (int32_t f = 0; f < g->factors; f++)
        for (int i = 0; held[f] && i < g->factor[f].ops->arity; i++) {
            const int32_t v = g->var_pool[g->factor[f].var + i];
            if (seen[v] || g->fixed[v]) continue;
            seen[v] = 1;
            var[n++] = v;
        }
    return n;
}

typedef struct {
    uint8_t *seen, *loose; /* per variable                                                        */
    int32_t *var, touched; /* variables of held-out factors                                       */
    double  *before;       /* per variable, CT_DIM_MAX: its variances if nothing is held out      */
    double  *block, **P;   /* per touched variable                                                */
} check;

/* The variances of touched variables, into `before`; or, if they are not the first, loose[v] <- 1 where one is more
 * than GROWTH_MOST times that. */

static ct_status read_variances(check *c, ct_solver *solver, const ct_noise *table, const double *x, int first,
                                ct_err *err)
{
    const ct_graph *g = solver->graph;
    CT_TRY(ct_solver_linearise(solver, table, x, err));
    for (int32_t k = 0; k < c->touched; k++) c->P[k] = c->block + (int64_t)k * CT_DIM_MAX * CT_DIM_MAX;
    CT_TRY(ct_solver_marginals(solver, c->touched, c->var, c->P, err));
    for (int32_t k = 0; k < c->touched; k++) {
        const int32_t v = c->var[k];
        const int     dim = ct_kind_dim((ct_kind)g->kind[v]);
        for (int i = 0; i < dim; i++) {
            double *before = &c->before[(int64_t)v * CT_DIM_MAX + i];
            if (first) *before = c->P[k][i * dim + i];
            else if (!(c->P[k][i * dim + i] <= GROWTH_MOST * *before)) c->loose[v] = 1;
        }
    }
    return CT_OK;
}

/* Puts back the held-out factors of loose variables. */
static ct_status put_back(ct__hold_out *h, const uint8_t *loose, ct_err *err)
{
    const ct_graph *g = h->graph;
    for (int32_t f = 0; f < g->factors; f++) {
        int touches = 0;
        for (int i = 0; h->held[f] && i < g->factor[f].ops->arity; i++)
            touches |= loose[g->var_pool[g->factor[f].var + i]];
        if (touches) CT_TRY(set_held(h, f, 0, err));
    }
    return CT_OK;
}

static ct_status check_rounds(ct__hold_out *h, check *c, ct_solver *solver, const ct_noise *table, const double *x,
                              const uint8_t *drawn, ct_err *err)
{
    const ct_graph *g = h->graph;
    ct_err          why = {0};
    ct_status       status = read_variances(c, solver, table, x, 1, &why);
    if (status != CT_OK) return status == CT_E_MEMORY ? ct_fail(err, status, "%s", why.text) : CT_OK;
    for (int32_t f = 0; f < g->factors; f++)
        if (drawn[f]) CT_TRY(set_held(h, f, 1, err));
    for (int32_t before = h->count + 1; h->count && h->count < before;) {
        before = h->count;
        memset(c->loose, 0, (size_t)g->variables);
        c->touched = list_touched(g, h->held, c->seen, c->var);
        status = read_variances(c, solver, table, x, 0, &why);
        if (status == CT_E_MEMORY) return ct_fail(err, status, "%s", why.text);
        for (int32_t v = 0; status != CT_OK && v < g->variables; v++)
            c->loose[v] = (uint8_t)ct_solver_undetermined(solver, v);
        CT_TRY(put_back(h, c->loose, err));
    }
    if (status == CT_OK) return CT_OK;
    memset(c->loose, 1, (size_t)g->variables); /* what is undetermined is not of held-out factors */
    return put_back(h, c->loose, err);
}

static ct_status keep_determined(ct__hold_out *h, const ct_noise *noise, const double *x, const uint8_t *drawn,
                                 ct_err *err)
{
    const int64_t n = h->graph->variables;
    ct_noise     *table = NULL;
    ct_solver    *solver = NULL;
    check         c = {.seen = ct__zalloc(n, 1), .loose = ct__zalloc(n, 1)};
    c.var = ct__zalloc(n, sizeof *c.var);
    c.before = ct__zalloc(n * CT_DIM_MAX, sizeof *c.before);
    if (c.seen && c.var) c.touched = list_touched(h->graph, drawn, c.seen, c.var);
    c.block = ct__zalloc((int64_t)c.touched * CT_DIM_MAX * CT_DIM_MAX, sizeof *c.block);
    c.P = ct__zalloc(c.touched, sizeof *c.P);
    ct_status status = c.seen && c.loose && c.var && c.before && c.block && c.P ? make_table(noise, 1, &table, err)
                                                                                : ct__no_memory(err, "variables", n);
    if (status == CT_OK) status = ct_solver_new(h->graph, NULL, &solver, err);
    if (status == CT_OK) status = check_rounds(h, &c, solver, table, x, drawn, err);
    ct_solver_free(solver);
    ct_noise_free(table);
    free(c.seen);
    free(c.loose);
    free(c.var);
    free(c.before);
    free(c.block);
    free(c.P);
    return status;
}

ct_status ct__hold_out_choose(const ct_graph *graph, const ct_noise *noise, const double *x, uint64_t seed,
                              ct__hold_out *out, ct_err *err)
{
    *out = (ct__hold_out){.models = ct_noise_count(noise)};
    CT_TRY(ct_graph_check_noise(graph, noise, err));
    uint8_t *drawn = ct__zalloc(graph->factors, 1);
    out->held = ct__zalloc(graph->factors, 1);
    ct_status status = drawn && out->held ? draw(graph, noise, seed, drawn, err)
                                          : ct__no_memory(err, "factors", graph->factors);
    if (status == CT_OK) status = ct_graph_copy(graph, &out->graph, err);
    if (status == CT_OK) status = keep_determined(out, noise, x, drawn, err);
    free(drawn);
    return status;
}

void ct__hold_out_free(ct__hold_out *h)
{
    ct_graph_free(h->graph);
    free(h->held);
    *h = (ct__hold_out){0};
}
