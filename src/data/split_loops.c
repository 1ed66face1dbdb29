/* split_loops.c: relative poses of other programs' pose graphs, told apart: odometry and loops.
 *
 * With n(v) the number of pose v, each edge of one body goes from a to b, n(a) < n(b). next(a) is the nearest later
 * pose that an edge of a leads to, last(b) the nearest earlier one. An edge is odometry if b = next(a) and a = last(b).
 * A loop between two poses with odometry of their own is neither. What is left are poses without odometry on the sides
 * that face each other: the last of one robot and the first of the next. There the numbers jump, by more than JUMP
 * times the median step. */
#include "data/data.h"
#include "graph/biased.h"
#include "graph/bodies.h"

#define LOOP "loop"
#define JUMP 10.0

typedef struct {
    ct_graph  *graph;
    ct__bodies bodies;
    uint64_t  *number;      /* per variable                                     */
    int32_t   *next, *last; /* per variable: a variable + 1; 0: none            */
    double    *step;        /* per factor: of candidates, for a median          */
    uint8_t   *loop;        /* per factor                                       */
    int32_t   *model;       /* per noise model: that of its loops + 1; 0: none  */
    int32_t    kinds;       /* of loops: bits                                   */
} work;

static ct_status begin(work *w, ct_graph *g, const ct_noise *noise, ct_err *err)
{
    *w = (work){.graph = g};
    w->number = ct__zalloc(g->variables, sizeof *w->number);
    w->next = ct__zalloc(g->variables, sizeof *w->next);
    w->last = ct__zalloc(g->variables, sizeof *w->last);
    w->step = ct__zalloc(g->factors, sizeof *w->step);
    w->loop = ct__zalloc(g->factors, sizeof *w->loop);
    w->model = ct__zalloc(ct_noise_count(noise), sizeof *w->model);
    if (!w->number || !w->next || !w->last || !w->step || !w->loop || !w->model)
        return ct__no_memory(err, "edges", g->factors);
    return ct__bodies_find(g, &w->bodies, err);
}

static void end(work *w)
{
    void *const owned[] = {w->number, w->next, w->last, w->step, w->loop, w->model};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    ct__bodies_free(&w->bodies);
}

static int is_edge(const ct_factor_ops *ops)
{
    return ops == &ct_between_se2 || ops == &ct_between_se3 || ops == &ct_gtsam_between_se2 ||
           ops == &ct_gtsam_between_se3;
}

/* The number at the end of a name; of a name without one, the place of the variable. */
static void read_numbers(work *w)
{
    for (int32_t v = 0; v < w->graph->variables; v++) {
        char name[256];
        ct_graph_name(w->graph, v, name, sizeof name);
        const size_t n = ct__body_name_length(name);
        w->number[v] = (uint64_t)v;
        if (name[n]) w->number[v] = (uint64_t)strtoull(name + n, NULL, 10);
    }
}

/* The poses of an edge of one body in their order; 0 for other factors. */
static int edge_of(const work *w, int32_t f, int32_t *a, int32_t *b)
{
    const ct_factor k = ct__without_bias(ct_graph_factor(w->graph, f));
    if (!is_edge(k.ops) || w->bodies.body[k.var[0]] != w->bodies.body[k.var[1]]) return 0;
    const int back = w->number[k.var[0]] > w->number[k.var[1]];
    *a = k.var[back], *b = k.var[1 - back];
    return w->number[*a] < w->number[*b];
}

/* Of two poses in their order. Numbers are those of GTSAM's keys, too, which doubles do not hold. */
static double step_of(const work *w, int32_t a, int32_t b) { return (double)(w->number[b] - w->number[a]); }

static void link_poses(work *w)
{
    int32_t a, b;
    for (int32_t f = 0; f < w->graph->factors; f++) {
        if (!edge_of(w, f, &a, &b)) continue;
        if (!w->next[a] || w->number[b] < w->number[w->next[a] - 1]) w->next[a] = b + 1;
        if (!w->last[b] || w->number[a] > w->number[w->last[b] - 1]) w->last[b] = a + 1;
    }
}

/* Sets loop, and counts. */
static void sort_edges(work *w, ct_split_result *result)
{
    int64_t n = 0;
    int32_t a, b;
    for (int32_t f = 0; f < w->graph->factors; f++)
        if (edge_of(w, f, &a, &b) && w->next[a] == b + 1 && w->last[b] == a + 1)
            w->step[n++] = step_of(w, a, b);
    result->step = n ? ct_median(n, w->step) : 0;
    for (int32_t f = 0; f < w->graph->factors; f++) {
        const ct_factor k = ct__without_bias(ct_graph_factor(w->graph, f));
        if (!is_edge(k.ops)) continue;
        const int odometry = edge_of(w, f, &a, &b) && w->next[a] == b + 1 && w->last[b] == a + 1 &&
                             step_of(w, a, b) <= JUMP * result->step;
        w->loop[f] = !odometry;
        if (!odometry) w->kinds |= 1 << k.ops->kind[0];
        result->odometry += odometry;
        result->loops += !odometry;
        result->between += w->bodies.body[k.var[0]] != w->bodies.body[k.var[1]];
    }
}

/* A model for the loops of model m, with its numbers. */
static ct_status add_model(work *w, ct_noise *noise, int32_t m, int32_t number, ct_err *err)
{
    const ct_noise_model *from = ct_noise_get(noise, m);
    const ct_robust       robust = from->robust;
    double                value[CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX];
    char                  name[32];
    int32_t               index = -1;
    const int             dim = from->dim;
    const ct_noise_kind   kind = from->kind;
    memcpy(value, from->covariance, (size_t)(kind == CT_NOISE_FULL ? dim * dim : dim) * sizeof *value);
    const int mixed = w->kinds & (w->kinds - 1); /* a group of models has one dimension */
    snprintf(name, sizeof name, number ? LOOP "%s#%d" : LOOP "%s", mixed ? dim == 3 ? "_se2" : "_se3" : "", number);
    if (kind == CT_NOISE_ISOTROPIC) CT_TRY(ct_noise_add_isotropic(noise, name, dim, value[0], &index, err));
    else if (kind == CT_NOISE_DIAGONAL) CT_TRY(ct_noise_add_diagonal(noise, name, dim, value, &index, err));
    else CT_TRY(ct_noise_add_full(noise, name, dim, value, &index, err));
    w->model[m] = index + 1;
    return ct_noise_set_robust(noise, index, robust, err);
}

/* Models first, then factors: nothing of the graph has changed if there is no memory. */
static ct_status give_models(work *w, ct_noise *noise, ct_split_result *result, ct_err *err)
{
    for (int32_t f = 0; f < w->graph->factors; f++) {
        const int32_t m = w->graph->factor[f].noise;
        if (w->loop[f] && !w->model[m]) CT_TRY(add_model(w, noise, m, result->models++, err));
    }
    for (int32_t f = 0; f < w->graph->factors; f++)
        if (w->loop[f]) CT_TRY(ct_graph_set_noise(w->graph, f, w->model[w->graph->factor[f].noise] - 1, err));
    return CT_OK;
}

static ct_status check_names(const ct_noise *noise, ct_err *err)
{
    for (int32_t m = 0; m < ct_noise_count(noise); m++) {
        const char *name = ct_noise_get(noise, m)->name;
        if (!strncmp(name, LOOP, strlen(LOOP)) && strchr("#@_", name[strlen(LOOP)])) /* "loop" ends there, too */
            return ct_fail(err, CT_E_ARGUMENT, "there is a noise model %s already: loops have one of their own", name);
    }
    return CT_OK;
}

ct_status ct_sequence_split_loops(ct_sequence *seq, ct_noise *noise, ct_split_result *result, ct_err *err)
{
    ct_split_result counts = {0};
    work            w;
    if (result) *result = counts;
    CT_TRY(ct_graph_check_noise(seq->graph, noise, err));
    CT_TRY(check_names(noise, err));
    ct_status status = begin(&w, seq->graph, noise, err);
    if (status == CT_OK) {
        read_numbers(&w);
        link_poses(&w);
        sort_edges(&w, &counts);
        if (!counts.odometry)
            status = ct_fail(err, CT_E_ARGUMENT,
                             counts.loops ? "no edge connects poses whose numbers follow each other"
                                          : "there are no edges between poses (between_se2, between_se3)");
    }
    if (status == CT_OK) status = give_models(&w, noise, &counts, err);
    end(&w);
    if (result && status == CT_OK) *result = counts;
    return status;
}
