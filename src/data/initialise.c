/* initialise.c: first values for variables that a file mentions but gives no value for.
 *
 * Many pose-graph files hold edges alone. Their variables are placed by composing measurements: if one
 * end of an edge has a value, the other is
 *     b = a o z   or   a = b o z^-1,         a point is   p = (a o s) z,       a prior gives   x = z.
 * The first walk takes the factors in the order of the file, because that is what other programs do
 * and an odometry chain comes out as recorded; without any value or prior the first pose is put at the
 * identity. What it left behind (edges before the chain that reaches them) a breadth-first walk places, and each part
 * that hangs together with nothing else gets an identity of its own. Linear in the size of the graph. */
#include "data/data.h"

#include <math.h>

typedef struct {
    ct_graph *graph;
    uint8_t  *given;
    int32_t  *queue; /* variables placed, in that order */
    int32_t   queued;
    int32_t   placed, identities;
    int64_t  *first; /* factors of variable v: touching[first[v]] to touching[first[v + 1] - 1] */
    int32_t  *touching;
} walk;

static double *value_of(const walk *w, int32_t var) { return ct_graph_initial(w->graph) + ct_graph_offset(w->graph, var); }

static void mark(walk *w, int32_t var)
{
    w->given[var] = 1;
    w->queue[w->queued++] = var;
}

/* p = (x o s) z, where z is the point in the sensor's frame, followed by the sensor's pose s. */
static void place_point(const walk *w, const ct_factor *f)
{
    const double *x = value_of(w, f->var[0]);
    double       *p = value_of(w, f->var[1]), q[3];
    if (f->ops == &ct_point_se2_r2) {
        ct_se2_act((ct_se2){f->z[2], f->z[3], f->z[4], f->z[5]}, f->z, q, NULL, NULL);
        ct_se2_act((ct_se2){x[0], x[1], x[2], x[3]}, q, p, NULL, NULL);
    } else {
        const double *s = f->z + 3;
        ct_se3_act((ct_se3){s[0], s[1], s[2], s[3], s[4], s[5], s[6]}, f->z, q, NULL, NULL);
        ct_se3_act((ct_se3){x[0], x[1], x[2], x[3], x[4], x[5], x[6]}, q, p, NULL, NULL);
    }
}

/* x o Exp(+-Log z), which is x o z or x o z^-1, for every kind alike. */
static void place_pose(const walk *w, const ct_factor *f, int unknown)
{
    const ct_kind kind = f->ops->kind[0];
    double        identity[CT_SIZE_MAX], d[CT_DIM_MAX];
    ct_kind_identity(kind, identity);
    ct_kind_local(kind, identity, f->z, d);
    if (unknown == 0)
        for (int i = 0; i < ct_kind_dim(kind); i++) d[i] = -d[i];
    ct_kind_retract(kind, value_of(w, f->var[1 - unknown]), d, value_of(w, f->var[unknown]));
}

/* If the factor says where its one variable without a value is, puts it there. */
static void place(walk *w, int32_t index)
{
    const ct_factor f = ct_graph_factor(w->graph, index);
    const ct_kind   kind = f.ops->kind[0];
    if (f.ops == ct_factor_prior(kind)) {
        if (w->given[f.var[0]]) return;
        memcpy(value_of(w, f.var[0]), f.z, (size_t)ct_kind_size(kind) * sizeof *f.z);
        mark(w, f.var[0]);
    } else if (f.ops == ct_factor_between(kind)) {
        if (w->given[f.var[0]] == w->given[f.var[1]]) return;
        const int unknown = w->given[f.var[0]] ? 1 : 0;
        place_pose(w, &f, unknown);
        mark(w, f.var[unknown]);
    } else if (f.ops == &ct_point_se2_r2 || f.ops == &ct_point_se3_r3) {
        if (!w->given[f.var[0]] || w->given[f.var[1]]) return;
        place_point(w, &f);
        mark(w, f.var[1]);
    } else {
        return;
    }
    w->placed++;
}

/* Which factors touch which variable, by counting. */
static ct_status index_factors(walk *w, ct_err *err)
{
    const int32_t variables = ct_graph_variables(w->graph), factors = ct_graph_factors(w->graph);
    w->first = ct__zalloc((int64_t)variables + 2, sizeof *w->first);
    if (!w->first) return ct__no_memory(err, "variables", variables);
    for (int32_t f = 0; f < factors; f++) {
        const ct_factor k = ct_graph_factor(w->graph, f);
        for (int i = 0; i < k.ops->arity; i++) w->first[k.var[i] + 2]++;
    }
    for (int32_t v = 0; v <= variables; v++) w->first[v + 1] += w->first[v];
    w->touching = ct__zalloc(w->first[variables + 1], sizeof *w->touching);
    if (!w->touching) return ct__no_memory(err, "factors", factors);
    for (int32_t f = 0; f < factors; f++) {
        const ct_factor k = ct_graph_factor(w->graph, f);
        for (int i = 0; i < k.ops->arity; i++) w->touching[w->first[k.var[i] + 1]++] = f;
    }
    return CT_OK;
}

/* Walks on from the variables in the queue, from number `at` on. */
static void spread(walk *w, int32_t at)
{
    for (; at < w->queued; at++)
        for (int64_t k = w->first[w->queue[at]]; k < w->first[w->queue[at] + 1]; k++) place(w, w->touching[k]);
}

/* The next variable without a value from *at on, poses before points: a point does not tell where the
 * poses are that see it. -1 if there is none. `at` counts through the variables twice. */
static int32_t next_unplaced(const walk *w, int64_t *at)
{
    const int32_t variables = ct_graph_variables(w->graph);
    for (; *at < 2 * (int64_t)variables; ++*at) {
        const int32_t v = (int32_t)(*at % variables);
        if (!w->given[v] && (*at >= variables || ct_graph_kind(w->graph, v) > CT_R3)) return v;
    }
    return -1;
}

static void place_priors(walk *w)
{
    for (int32_t f = 0; f < ct_graph_factors(w->graph); f++)
        if (ct_graph_factor(w->graph, f).ops->arity == 1) place(w, f);
}

static ct_status place_all(walk *w, ct_err *err)
{
    const int32_t variables = ct_graph_variables(w->graph);
    int64_t       at = 0;
    for (int32_t v = 0; v < variables; v++)
        if (w->given[v]) w->queue[w->queued++] = v;
    place_priors(w);
    if (!w->queued) {
        mark(w, next_unplaced(w, &at));
        w->identities++;
    }
    for (int32_t f = 0; f < ct_graph_factors(w->graph); f++) place(w, f);
    if (w->queued == variables) return CT_OK;
    CT_TRY(index_factors(w, err));
    spread(w, 0);
    for (int32_t v = next_unplaced(w, &at); v >= 0; v = next_unplaced(w, &at)) {
        const int32_t from = w->queued;
        mark(w, v);
        w->identities++;
        spread(w, from);
    }
    return CT_OK;
}

/* Sums of numbers as large as a double has may leave the doubles. */
static ct_status check_finite(const ct__build *b)
{
    const ct_graph *g = b->seq->graph;
    for (int32_t v = 0; v < ct_graph_variables(g); v++) {
        char name[CT__ID_NAME_MAX];
        for (int i = 0; i < ct_kind_size(ct_graph_kind(g, v)); i++)
            if (!isfinite(ct_graph_initial_const(g)[ct_graph_offset(g, v) + i]))
                return ct_fail(b->in.err, CT_E_PARSE, "%s: composing the edges up to %s gives a number that is not finite", b->in.path, ct_graph_name(g, v, name, sizeof name));
    }
    return CT_OK;
}

ct_status ct__build_initialise(ct__build *b)
{
    const int32_t variables = ct_graph_variables(b->seq->graph);
    int32_t       unknown = 0;
    for (int32_t v = 0; v < variables; v++) unknown += !b->given[v];
    if (!unknown) return CT_OK;
    walk w = {.graph = b->seq->graph, .given = b->given, .queue = ct__zalloc(variables, sizeof *w.queue)};
    ct_status status = w.queue ? place_all(&w, b->in.err) : ct__no_memory(b->in.err, "variables", variables);
    free(w.queue);
    free(w.first);
    free(w.touching);
    if (status == CT_OK) status = check_finite(b);
    if (status == CT_OK)
        status = ct__build_note(b, "%d variables have no value in the file: %d were placed along the edges, %d at the identity", unknown, w.placed, w.identities);
    return status;
}
