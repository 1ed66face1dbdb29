/* initialise.c: initial values from measurements.
 *
 * Variables are placed by composing relative measurements. If one end of an edge has a value, the other is
 *     b = a o z   or   a = b o z^-1,         a point is   p = (a o s) z,       a prior gives   x = z.
 * A velocity is an edge with z = Exp(v dt). A first pass takes the factors in their order, as other programs do, so
 * that an odometry chain comes out as recorded. A breadth-first search places the rest. Each connected component
 * starts at a variable of its own. Linear in the size of the graph. There are two uses:
 *
 * A file with edges only (ct__build_initialise): every prior places its variable. A component without a prior starts
 * at the identity.
 *
 * Start values for a recorded sequence (ct_sequence_initialise): either the same; or one prior per component is used
 * and odometry gives the rest, as on a robot without absolute fixes. With a heading error of a radian per step, that
 * leads to other minima. Where absolute measurements are used, composed poses without a prior are turned to headings
 * (turn_to_headings.c); and where known points or positions are measured, poses are moved to fit them (align_chains.c).
 * So are, always, bodies that nothing but other bodies measures. Points that ranges, bearings or cameras measure are
 * placed last, from the poses (place_points.c). */
#include "data/data.h"
#include "graph/biased.h"
#include "data/start.h"

#include <math.h>

/* What placed a variable. */
typedef enum { UNPLACED, GIVEN, BY_PRIOR, COMPOSED, BEGUN } placing;

typedef struct {
    const ct_graph *graph;
    double         *x;        /* values: filled in; given ones may start a component */
    uint8_t        *given;
    uint8_t        *how;      /* per variable: a placing                                */
    int32_t        *parent;   /* per variable: the one it was composed from, -1: none   */
    int             relative; /* 1: priors place only the first variable of a component */
    int             points;   /* 1: and every point that has one                        */
    int32_t        *queue;    /* placed variables, in that order */
    int32_t         queued;
    int32_t         placed, begun; /* placed by a factor; started without one */
    int32_t         begun_poses;   /* poses among the latter                    */
    int32_t        *prior;    /* per variable: the first prior on it, + 1; 0: none */
    int64_t        *first;    /* factors of variable v: touching[first[v]] to touching[first[v + 1] - 1] */
    int32_t        *touching;
} walk;

static double *value_of(const walk *w, int32_t var) { return w->x + ct_graph_offset(w->graph, var); }

static void mark(walk *w, int32_t var, placing how, int32_t parent)
{
    w->given[var] = 1;
    w->how[var] = (uint8_t)how;
    w->parent[var] = parent;
    w->queue[w->queued++] = var;
}

static int is_point(const ct_graph *g, int32_t v) { return g->kind[v] == CT_R2 || g->kind[v] == CT_R3; }

static int is_pose(const ct_graph *g, int32_t v) { return g->kind[v] == CT_SE2 || g->kind[v] == CT_SE3; }

/* p = (x o s) z, with z the point in the sensor's frame and s the sensor's pose. */
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

/* 1 if the factor measures the relative pose d = Log(a^-1 b). */
static int is_edge(const ct_factor *f, double d[CT_DIM_MAX])
{
    const ct_kind kind = f->ops->kind[0];
    const int     dim = ct_kind_dim(kind);
    if (f->ops == &ct_velocity_se2 || f->ops == &ct_velocity_se3) {
        for (int i = 0; i < dim; i++) d[i] = f->z[i] * f->z[dim]; /* velocity, then the time step */
        return 1;
    }
    double identity[CT_SIZE_MAX];
    if (f->ops != ct_factor_between(kind) && f->ops != &ct_gtsam_between_se2 && f->ops != &ct_gtsam_between_se3)
        return 0;
    ct_kind_identity(kind, identity);
    ct_kind_local(kind, identity, f->z, d);
    return 1;
}

static int is_prior(const ct_factor *f)
{
    return f->ops == ct_factor_prior(f->ops->kind[0]) || f->ops == &ct_gtsam_prior_se2 || f->ops == &ct_gtsam_prior_se3;
}

static void place_by_prior(walk *w, const ct_factor *f)
{
    if (w->given[f->var[0]]) return;
    memcpy(value_of(w, f->var[0]), f->z, (size_t)ct_kind_size(f->ops->kind[0]) * sizeof *f->z);
    mark(w, f->var[0], BY_PRIOR, -1);
    w->placed++;
}

/* Places the one variable without a value of a factor that is not a prior, if the factor determines it. */
static void place(walk *w, int32_t index)
{
    const ct_factor f = ct__without_bias(ct_graph_factor(w->graph, index));
    double          d[CT_DIM_MAX];
    if (f.ops->arity != 2 || w->given[f.var[0]] == w->given[f.var[1]]) return;
    const int unknown = w->given[f.var[0]] ? 1 : 0;
    if (w->points && is_point(w->graph, f.var[unknown]) && w->prior[f.var[unknown]]) return;
    if (unknown == 1 && (f.ops == &ct_point_se2_r2 || f.ops == &ct_point_se3_r3)) {
        place_point(w, &f);
    } else if (is_edge(&f, d)) {
        const ct_kind kind = f.ops->kind[0];
        if (unknown == 0) /* a = b o Exp(-d) */
            for (int i = 0; i < ct_kind_dim(kind); i++) d[i] = -d[i];
        ct_kind_retract(kind, value_of(w, f.var[1 - unknown]), d, value_of(w, f.var[unknown]));
    } else {
        return;
    }
    mark(w, f.var[unknown], COMPOSED, f.var[1 - unknown]);
    w->placed++;
}

/* The factors of each variable, by counting sort. */
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

/* Breadth-first search from number `at` of the queue on. */
static void spread(walk *w, int32_t at)
{
    for (; at < w->queued; at++)
        for (int64_t k = w->first[w->queue[at]]; k < w->first[w->queue[at] + 1]; k++) place(w, w->touching[k]);
}

/* The next variable without a value from *at on, poses before points, because a point does not determine the poses
 * that observe it. -1 if there is none. `at` counts through the variables twice. */
static int32_t next_unplaced(const walk *w, int64_t *at)
{
    const int32_t variables = ct_graph_variables(w->graph);
    for (; *at < 2 * (int64_t)variables; ++*at) {
        const int32_t v = (int32_t)(*at % variables);
        if (!w->given[v] && (*at >= variables || ct_graph_kind(w->graph, v) > CT_R3)) return v;
    }
    return -1;
}

/* Places the next variable (with `poses`: the next pose) from *at on that has a prior, by its first prior; 0 if there
 * is none. */
static int begin_at_prior(walk *w, int poses, int32_t *at)
{
    while (*at < ct_graph_variables(w->graph) &&
           (w->given[*at] || !w->prior[*at] || (poses && !is_pose(w->graph, *at))))
        ++*at;
    if (*at == ct_graph_variables(w->graph)) return 0;
    const ct_factor f = ct__without_bias(ct_graph_factor(w->graph, w->prior[*at] - 1));
    place_by_prior(w, &f);
    return 1;
}

/* The first prior of each variable. */
static ct_status find_priors(walk *w, ct_err *err)
{
    const int32_t variables = ct_graph_variables(w->graph);
    w->prior = ct__zalloc(variables, sizeof *w->prior);
    if (!w->prior) return ct__no_memory(err, "variables", variables);
    for (int32_t i = ct_graph_factors(w->graph) - 1; i >= 0; i--) {
        const ct_factor f = ct__without_bias(ct_graph_factor(w->graph, i));
        if (is_prior(&f)) w->prior[f.var[0]] = i + 1;
    }
    return CT_OK;
}

static void begin_anywhere(walk *w, int32_t var)
{
    mark(w, var, BEGUN, -1);
    w->begun++;
    w->begun_poses += is_pose(w->graph, var);
}

static ct_status place_all(walk *w, ct_err *err)
{
    const int32_t variables = ct_graph_variables(w->graph);
    int64_t       at = 0;
    int32_t       tied = 0, root = 0;
    for (int32_t v = 0; v < variables; v++)
        if (w->given[v]) mark(w, v, GIVEN, -1);
    CT_TRY(find_priors(w, err));
    while (!(w->relative && w->queued) && begin_at_prior(w, w->points, w->points ? &root : &tied)) {}
    if (!w->queued) begin_anywhere(w, next_unplaced(w, &at));
    for (int32_t f = 0; f < ct_graph_factors(w->graph); f++) place(w, f);
    if (w->queued == variables) return CT_OK;
    CT_TRY(index_factors(w, err));
    spread(w, 0);
    for (int32_t from = w->queued; begin_at_prior(w, 0, &tied); from = w->queued) spread(w, from);
    for (int32_t v = next_unplaced(w, &at); v >= 0; v = next_unplaced(w, &at)) {
        const int32_t from = w->queued;
        begin_anywhere(w, v);
        spread(w, from);
    }
    return CT_OK;
}

/* The first value that is not finite, as sums of very large numbers can overflow; -1: none. */
static int32_t not_finite(const walk *w)
{
    for (int32_t v = 0; v < ct_graph_variables(w->graph); v++)
        for (int i = 0; i < ct_kind_size(ct_graph_kind(w->graph, v)); i++)
            if (!isfinite(value_of(w, v)[i])) return v;
    return -1;
}

static void free_walk(walk *w)
{
    void *const owned[] = {w->queue, w->prior, w->first, w->touching, w->how, w->parent};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}

/* Fills w->x and the counts in w, with arrays that the caller frees. `path` is for messages, or NULL. */
static ct_status run_walk(walk *w, const char *path, ct_err *err)
{
    const int32_t variables = ct_graph_variables(w->graph);
    w->queue = ct__zalloc(variables, sizeof *w->queue);
    w->how = ct__zalloc(variables, sizeof *w->how);
    w->parent = ct__zalloc(variables, sizeof *w->parent);
    if (!w->queue || !w->how || !w->parent) return ct__no_memory(err, "variables", variables);
    CT_TRY(place_all(w, err));
    char          name[128];
    const int32_t v = not_finite(w);
    if (v < 0) return CT_OK;
    return ct_fail(err, path ? CT_E_PARSE : CT_E_ARGUMENT,
                   "%s%scomposing the edges up to %s gives a number that is not finite", path ? path : "",
                   path ? ": " : "", ct_graph_name(w->graph, v, name, sizeof name));
}

ct_status ct__build_initialise(ct__build *b)
{
    ct_graph *g = b->seq->graph;
    int32_t   unknown = 0;
    for (int32_t v = 0; v < ct_graph_variables(g); v++) unknown += !b->given[v];
    if (!unknown) return CT_OK;
    walk            w = {.graph = g, .x = ct_graph_initial(g), .given = b->given};
    const ct_status status = run_walk(&w, b->in.path, b->in.err);
    free_walk(&w);
    CT_TRY(status);
    return ct__build_note(b,
                          "%d variables have no value in the file: %d were placed along the edges, %d at the identity",
                          unknown, w.placed, w.begun);
}

/* ---- Start values ------------------------------------------------------------------------------ */

#define PRIORS_ENOUGH 0.1 /* share of the poses with a prior of their own, which then places them */

/* 1 if known points or positions are measured, and few poses have priors. */
static int needs_alignment(const ct_graph *g, const walk *w)
{
    int64_t known = 0, poses = 0, priors = 0;
    for (int32_t v = 0; v < g->variables; v++) {
        poses += is_pose(g, v);
        priors += is_pose(g, v) && w->prior[v];
    }
    if ((double)priors >= PRIORS_ENOUGH * (double)poses && priors > 1) return 0;
    for (int32_t i = 0; i < g->factors && !known; i++) {
        const ct_factor f = ct__without_bias(ct_graph_factor(g, i));
        ct__sighting    s[CT__SIGHTINGS_MAX];
        int             whole;
        const int       n = ct__sightings_of(&f, s, &whole);
        known = n && !whole && !s[0].body && (s[0].point < 0 || g->fixed[s[0].point] || w->prior[s[0].point]);
    }
    return known > 0;
}

/* 1 if bodies measure each other, and some are placed by nothing else. */
static int needs_joining(const ct_graph *g, const walk *w)
{
    for (int32_t i = 0; w->begun_poses && i < g->factors; i++) {
        const ct_factor f = ct__without_bias(ct_graph_factor(g, i));
        ct__sighting    s[CT__SIGHTINGS_MAX];
        if (ct__sightings_of(&f, s, NULL) == 1 && s[0].body) return 1;
    }
    return 0;
}

/* Points that were composed or begun are placed from the poses. A point with one or two sightings stays where the first
 * says, unless the poses were moved since. */
static ct_status place_points(walk *w, int moved, ct_err *err)
{
    int32_t points = 0;
    for (int32_t v = 0; v < w->graph->variables; v++)
        points += is_point(w->graph, v) && (w->how[v] == BEGUN || w->how[v] == COMPOSED);
    if (!points) return CT_OK;
    if (!w->touching) CT_TRY(index_factors(w, err));
    for (int32_t v = 0; v < w->graph->variables; v++)
        if (is_point(w->graph, v) &&
            (w->how[v] == BEGUN || (w->how[v] == COMPOSED && (moved || w->first[v + 1] - w->first[v] > 2))))
            w->given[v] = 0;
    return ct__place_points(w->graph, w->first, w->touching, w->x, w->given, err);
}

ct_status ct__replace_points(const ct_graph *graph, const uint8_t *unknown, double *x, ct_err *err)
{
    walk      w = {.graph = graph};
    uint8_t  *given = ct__zalloc(graph->variables, 1);
    ct_status status = given ? index_factors(&w, err) : ct__no_memory(err, "variables", graph->variables);
    for (int32_t v = 0; given && v < graph->variables; v++) given[v] = !unknown[v];
    if (status == CT_OK) status = ct__place_points(graph, w.first, w.touching, x, given, err);
    free_walk(&w);
    free(given);
    return status;
}

/* Moves the poses of w to fit absolute measurements, or with `joins` those between bodies alone. *unplaced <- poses
 * that these do not determine either. */
static ct_status align(walk *w, int joins, int32_t *unplaced, ct_err *err)
{
    const ct_graph *g = w->graph;
    uint8_t        *placed = ct__zalloc(g->variables, 1), *anchored = ct__zalloc(g->variables, 1);
    ct_status       status = placed && anchored ? CT_OK : ct__no_memory(err, "variables", g->variables);
    for (int32_t v = 0; status == CT_OK && v < g->variables; v++)
        anchored[v] = w->how[v] == GIVEN || w->how[v] == BY_PRIOR;
    if (status == CT_OK && !w->touching) status = index_factors(w, err);
    if (status == CT_OK) {
        const ct__forest forest = {g, w->parent, w->queue, anchored, w->first, w->touching, joins};
        status = ct__align_chains(&forest, w->x, placed, err);
    }
    *unplaced = 0;
    for (int32_t v = 0; status == CT_OK && v < g->variables; v++)
        *unplaced += is_pose(g, v) && w->how[v] == BEGUN && !placed[v];
    free(placed);
    free(anchored);
    return status;
}

/* run_walk; headings, if those are used, then turn trees that begin anywhere, and such whose yaws are far from them. */
static ct_status compose(walk *w, int absolute, ct_err *err)
{
    ct_status status = run_walk(w, NULL, err);
    if (status != CT_OK || !absolute) return status;
    uint8_t *begun = ct__zalloc(w->graph->variables, 1);
    if (!begun) return ct__no_memory(err, "variables", w->graph->variables);
    for (int32_t v = 0; v < w->graph->variables; v++) begun[v] = w->how[v] == BEGUN;
    status = ct__turn_to_headings(w->graph, w->parent, w->queue, begun, w->x, err);
    free(begun);
    return status;
}

/* x <- start values. */
static ct_status place_sequence(const ct_graph *g, int absolute, double *x, uint8_t *given, int32_t *unplaced,
                                ct_err *err)
{
    walk      w = {.graph = g, .x = x, .given = given, .relative = !absolute};
    ct_status status = compose(&w, absolute, err);
    *unplaced = w.begun_poses;
    const int aligned = status == CT_OK && absolute && needs_alignment(g, &w);
    if (aligned) {
        free_walk(&w);
        w = (walk){.graph = g, .x = x, .given = given, .relative = 1, .points = 1};
        for (int32_t v = 0; v < g->variables; v++) given[v] = g->fixed[v] != 0;
        memcpy(x, g->initial, (size_t)g->size * sizeof *x);
        status = compose(&w, absolute, err);
        if (status == CT_OK) status = align(&w, 0, unplaced, err);
    }
    const int joined = status == CT_OK && !aligned && needs_joining(g, &w);
    if (joined) status = align(&w, 1, unplaced, err);
    if (status == CT_OK) status = place_points(&w, aligned || joined, err);
    free_walk(&w);
    return status;
}

static ct_status reach(const ct_sequence *seq, int absolute, double *x, int32_t *unplaced, ct_err *err)
{
    const ct_graph *g = seq->graph;
    *unplaced = 0;
    if (!g->variables) return CT_OK;
    uint8_t *given = ct__zalloc(g->variables, sizeof *given);
    double  *y = ct__zalloc(g->size, sizeof *y); /* x may be the initial values */
    ct_status status = given && y ? CT_OK : ct__no_memory(err, "variables", g->variables);
    for (int32_t v = 0; status == CT_OK && v < g->variables; v++) given[v] = g->fixed[v] != 0;
    if (status == CT_OK) {
        memcpy(y, g->initial, (size_t)g->size * sizeof *y);
        status = place_sequence(g, absolute, y, given, unplaced, err);
    }
    if (status == CT_OK) memcpy(x, y, (size_t)g->size * sizeof *x);
    free(given);
    free(y);
    return status;
}

ct_status ct_sequence_initialise(const ct_sequence *seq, int absolute, double *x, ct_err *err)
{
    int32_t unplaced;
    return reach(seq, absolute, x, &unplaced, err);
}

ct_status ct_sequence_uninitialised(const ct_sequence *seq, int32_t *poses, ct_err *err)
{
    const int64_t size = ct_graph_size(seq->graph);
    double       *x = ct__zalloc(size, sizeof *x);
    *poses = 0;
    if (!x && size) return ct__no_memory(err, "values", size);
    const ct_status status = reach(seq, 1, x, poses, err);
    free(x);
    return status;
}
