/* bias_states.c: states of errors that last, added to a sequence.
 *
 * The sensor's measurements are sorted by body, target and time. A state begins at a measurement that is `every` or
 * more after the state before, and serves the measurements until the next. A new graph is built: variables keep their
 * order, with each state behind the newest variable of the measurement it begins at, because a replay adds variables in
 * order. Factors keep their order; steps between states follow them. A state of an oscillation is two variables: the
 * bias, and its quadrature, what it is a quarter of a period later. */
#include "data/bias_states.h"

#include "data/store.h"
#include "graph/biased.h"
#include "graph/bodies.h"

#include <math.h>
#include <stdio.h>

/* A measurement of the sensor. */
typedef struct {
    int32_t factor, body, state;
    double point[3]; /* target: a known point, or the number of its variable */
    double t;
    int32_t newest; /* its newest variable */
} item;

typedef struct {
    int32_t chain, before; /* number of its chain; the state before, -1: it is the first */
    int32_t behind;        /* variable of the old graph that it is put behind            */
    int32_t var, quad;     /* in the new graph; quad: of an oscillation                  */
    double t;
} state;

typedef struct {
    const ct_sequence *seq;
    ct_noise *noise;
    const ct_bias *bias;
    int32_t model; /* its strength */
    int seconds;
    ct__bodies bodies;
    item *item;
    state *state;
    int32_t *order;   /* states by the variable they are behind */
    int32_t *map;     /* of old variables to new ones           */
    int32_t *item_of; /* per factor, -1: none                 */
    int32_t items, states, chains;
    ct_graph *graph; /* the new one */
    ct_err *err;
} plan;

static void release(plan *p)
{
    ct__bodies_free(&p->bodies);
    ct_graph_free(p->graph);
    void *const owned[] = {p->item, p->state, p->order, p->map, p->item_of};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}

/* ---- Measurements of the sensor --------------------------------------------------------------- */

int ct__of_sensor(const ct_noise *noise, int32_t model, const char *sensor)
{
    char name[256];
    const ct_noise_model *m = ct_noise_get(noise, model);
    if (!m) return 0;
    snprintf(name, sizeof name, "%s", m->name);
    do {
        if (!strcmp(name, sensor)) return 1;
    } while (ct__noise_whole(name));
    return 0;
}

static int is_of(const plan *p, const ct_factor *f)
{
    return !ct__is_process(f->ops) && f->noise != p->model && ct__of_sensor(p->noise, f->noise, p->bias->sensor);
}

static int is_pose(ct_kind kind) { return kind == CT_SE2 || kind == CT_SE3; }

/* Has variable i of a factor a time: is it a pose, or whatever the graph has in place of poses? */
static int is_timed(const ct_factor *f, int i) { return is_pose(f->ops->kind[i]) || !is_pose(f->ops->kind[0]); }

/* The stamp of the factor's newest stamped pose; NaN: none has one. */
static double stamp_of(const ct_sequence *seq, const ct_factor *f)
{
    double t = NAN;
    for (int i = 0; seq->stamp && i < f->ops->arity; i++)
        if (is_timed(f, i)) t = fmax(t, seq->stamp[f->var[i]]);
    return t;
}

static ct_status find_times(plan *p)
{
    p->seconds = -1;
    for (int32_t k = 0; k < ct_graph_factors(p->seq->graph); k++) {
        const ct_factor f = ct__without_bias(ct_graph_factor(p->seq->graph, k));
        if (!is_of(p, &f)) continue;
        if (!isfinite(stamp_of(p->seq, &f))) {
            p->seconds = 0;
            return CT_OK;
        }
        p->seconds = 1;
    }
    return CT_OK;
}

ct_status ct_sequence_bias_times(const ct_sequence *seq, const ct_noise *noise, const ct_bias *bias, int *seconds,
                                 ct_err *err)
{
    plan p = {.seq = seq, .noise = (ct_noise *)noise, .bias = bias, .model = -1, .err = err};
    const ct_status status = find_times(&p);
    *seconds = p.seconds;
    return status;
}

/* Time of a measurement: that of its newest pose, or that pose's number among those of its body. */
static double time_of(const plan *p, const ct_factor *f)
{
    double t = 0;
    if (p->seconds) return stamp_of(p->seq, f);
    for (int i = 0; i < f->ops->arity; i++)
        if (is_timed(f, i)) t = fmax(t, p->bodies.rank[f->var[i]]);
    return t;
}

/* A landmark or another body, if each has a bias of its own. */
static void find_target(const plan *p, const ct_factor *f, double point[3])
{
    const int n = f->ops->kind[0] == CT_SE2 ? 2 : 3;
    point[0] = point[1] = point[2] = 0;
    if (!p->bias->per_target) return;
    if (f->ops->arity > 1) {
        const int other = is_pose(f->ops->kind[1]);
        point[0] = other ? -1 - p->bodies.body[f->var[1]] : f->var[1];
        return;
    }
    const double *const z = ct__known_point(f);
    for (int i = 0; z && i < n; i++) point[i] = z[i];
}

const double *ct__known_point(const ct_factor *f)
{
    static const char SUFFIX[] = "_point";
    const size_t n = strlen(f->ops->name), length = sizeof SUFFIX - 1;
    const double *z = f->z;
    if (n < length || strcmp(f->ops->name + n - length, SUFFIX)) return NULL;
    for (int i = 0; i < f->ops->required - 1; i++) z += ct_kind_size(f->ops->field[i]); /* the last that is required */
    return z;
}

static int compare_items(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (x->body != y->body) return x->body < y->body ? -1 : 1;
    for (int i = 0; i < 3; i++)
        if (x->point[i] != y->point[i]) return x->point[i] < y->point[i] ? -1 : 1;
    if (x->t != y->t) return x->t < y->t ? -1 : 1;
    return x->factor < y->factor ? -1 : x->factor > y->factor;
}

static ct_status list_items(plan *p)
{
    const ct_graph *g = p->seq->graph;
    const int32_t n = ct_graph_factors(g);
    p->item = ct__zalloc(n, sizeof *p->item);
    p->item_of = ct__zalloc(n, sizeof *p->item_of);
    if (!p->item || !p->item_of) return ct__no_memory(p->err, "factors", n);
    for (int32_t k = 0; k < n; k++) {
        const ct_factor f = ct_graph_factor(g, k);
        p->item_of[k] = -1;
        if (!is_of(p, &f)) continue;
        const ct_factor plain = ct__without_bias(f);
        if (ct_factor_unbiased(f.ops) != f.ops && p->model >= 0)
            return ct_fail(p->err, CT_E_ARGUMENT, "measurements of %s have a bias already, and a sensor has one",
                           p->bias->sensor);
        item *to = &p->item[p->items++];
        *to = (item){.factor = k, .body = p->bodies.body[f.var[0]], .t = time_of(p, &plain)};
        for (int i = 0; i < f.ops->arity; i++) to->newest = CT_MAX(to->newest, f.var[i]);
        find_target(p, &plain, to->point);
    }
    qsort(p->item, (size_t)p->items, sizeof *p->item, compare_items);
    for (int32_t i = 0; i < p->items; i++) p->item_of[p->item[i].factor] = i;
    return CT_OK;
}

static int same_chain(const item *a, const item *b)
{
    return a->body == b->body && !memcmp(a->point, b->point, sizeof a->point);
}

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* s->step <- the median time between neighbours of a chain. */
static ct_status find_step(const plan *p, ct__bias_survey *s)
{
    double *gap = ct__zalloc(p->items, sizeof *gap);
    int32_t gaps = 0;
    if (!gap) return ct__no_memory(p->err, "measurements", p->items);
    for (int32_t i = 1; i < p->items; i++) {
        gap[gaps] = same_chain(&p->item[i - 1], &p->item[i]) ? p->item[i].t - p->item[i - 1].t : 0;
        gaps += gap[gaps] > 0;
    }
    qsort(gap, (size_t)gaps, sizeof *gap, compare_numbers);
    if (gaps) s->step = gap[gaps / 2];
    free(gap);
    return CT_OK;
}

ct_status ct__bias_inspect(const ct_sequence *seq, const ct_noise *noise, const ct_bias *bias, ct__bias_survey *out,
                           ct_err *err)
{
    plan p = {.seq = seq, .noise = (ct_noise *)noise, .bias = bias, .model = -1, .err = err};
    ct_status status = ct__bodies_find(seq->graph, &p.bodies, err);
    *out = (ct__bias_survey){.step = 1, .model = -1};
    if (status == CT_OK) status = find_times(&p);
    if (status == CT_OK) status = list_items(&p);
    if (status == CT_OK && p.items) {
        const ct_factor f = ct_graph_factor(seq->graph, p.item[0].factor);
        out->measurements = p.items;
        out->ops = ct_factor_unbiased(f.ops);
        out->model = f.noise;
        out->seconds = p.seconds;
        status = find_step(&p, out);
    }
    release(&p);
    return status;
}

/* ---- States ---------------------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* order <- states by the variable they are behind, then by number. */
static ct_status sort_states(plan *p)
{
    int64_t *key = ct__zalloc(p->states, sizeof *key);
    p->order = ct__zalloc(p->states, sizeof *p->order);
    if (!key || !p->order) {
        free(key);
        return ct__no_memory(p->err, "states", p->states);
    }
    for (int32_t s = 0; s < p->states; s++) key[s] = (int64_t)p->state[s].behind << 32 | s;
    qsort(key, (size_t)p->states, sizeof *key, compare_places);
    for (int32_t s = 0; s < p->states; s++) p->order[s] = (int32_t)(key[s] & 0xffffffff);
    free(key);
    return CT_OK;
}

static ct_status make_states(plan *p)
{
    p->state = ct__zalloc(p->items, sizeof *p->state);
    if (!p->state) return ct__no_memory(p->err, "states", p->items);
    for (int32_t i = 0; i < p->items; i++) {
        item *m = &p->item[i];
        const int first = i == 0 || !same_chain(&p->item[i - 1], m);
        const state *last = p->states ? &p->state[p->states - 1] : NULL;
        const int later = !first && m->t > last->t && m->t - last->t >= p->bias->every;
        const state new = {
            .chain = p->chains - !first, .before = first ? -1 : p->states - 1, .behind = m->newest, .t = m->t};
        p->chains += first;
        if (first || (later && p->bias->process != CT_BIAS_CONSTANT)) p->state[p->states++] = new;
        m->state = p->states - 1;
    }
    return sort_states(p);
}

/* ---- The new graph --------------------------------------------------------------------------- */

static ct_status add_vector(plan *p, const char *suffix, int32_t chain, int32_t number, int32_t *var)
{
    static const ct_kind R[] = {CT_R1, CT_R1, CT_R2, CT_R3};
    char name[340];
    const char *model = ct_noise_get(p->noise, p->model)->name;
    if (p->chains == 1)
        snprintf(name, sizeof name, "%s%s%d", model, suffix, number);
    else
        snprintf(name, sizeof name, "%s%s:%d:%d", model, suffix, chain, number);
    return ct_graph_add_variable(p->graph, name, R[p->bias->rows], NULL, var, p->err);
}

static ct_status add_state(plan *p, state *s, int32_t number)
{
    CT_TRY(add_vector(p, "", s->chain, number, &s->var));
    if (p->bias->process != CT_BIAS_OSCILLATION) return CT_OK;
    return add_vector(p, "_quadrature", s->chain, number, &s->quad);
}

static ct_status add_variables(plan *p)
{
    const ct_graph *g = p->seq->graph;
    const int32_t n = ct_graph_variables(g);
    int32_t next = 0;
    p->map = ct__zalloc(n, sizeof *p->map);
    if (!p->map) return ct__no_memory(p->err, "variables", n);
    for (int32_t v = 0; v < n; v++) {
        char name[256];
        ct_graph_name(g, v, name, sizeof name);
        CT_TRY(ct_graph_add_variable(p->graph, name, ct_graph_kind(g, v),
                                     ct_graph_initial_const(g) + ct_graph_offset(g, v), &p->map[v], p->err));
        if (ct_graph_fixed(g, v)) ct_graph_fix(p->graph, p->map[v], 1);
        for (; next < p->states && p->state[p->order[next]].behind == v; next++)
            CT_TRY(add_state(p, &p->state[p->order[next]], p->order[next]));
    }
    return CT_OK;
}

/* Time between the two poses of a factor; NaN: it has no two, or they no times. */
static double duration(const plan *p, const ct_factor *f)
{
    const double *t = p->seq->stamp;
    if (f->ops->arity != 2) return NAN;
    return p->seconds ? fabs(t[f->var[1]] - t[f->var[0]])
                      : fabs((double)p->bodies.rank[f->var[1]] - p->bodies.rank[f->var[0]]);
}

static ct_status add_factors(plan *p)
{
    const ct_graph *g = p->seq->graph;
    for (int32_t k = 0; k < ct_graph_factors(g); k++) {
        const ct_factor f = ct_graph_factor(g, k);
        const int32_t i = p->item_of[k];
        int32_t var[CT_ARITY_MAX];
        for (int a = 0; a < f.ops->arity; a++) var[a] = p->map[f.var[a]];
        if (i >= 0)
            CT_TRY(ct__add_biased(p->graph, p->bias, &f, var, p->state[p->item[i].state].var, duration(p, &f), p->err));
        else
            CT_TRY(ct_graph_add_factor(p->graph, f.ops, var, f.z, f.context, f.noise, p->err));
        CT_TRY(ct_graph_set_multiplier(p->graph, k, f.multiplier, p->err));
        CT_TRY(ct__graph_copy_features(p->graph, k, g, k, p->err));
    }
    return CT_OK;
}

/* Variance of the first state of a walk, where the table has none: that of a walk over the longest chain. */
static ct_status find_start_model(plan *p, int32_t *index)
{
    const ct_noise_model *m = ct_noise_get(p->noise, p->model);
    char name[300];
    double variance[CT_BIAS_ROWS_MAX], longest = 1;
    *index = p->model;
    if (p->bias->process != CT_BIAS_RANDOM_WALK) return CT_OK;
    snprintf(name, sizeof name, "%s_start", m->name);
    *index = ct_noise_find(p->noise, name);
    if (*index >= 0 && ct_noise_get(p->noise, *index)->dim == m->dim) return CT_OK;
    if (*index >= 0)
        return ct_fail(p->err, CT_E_ARGUMENT, "noise model %s is the start of a bias of %d rows, and has %d", name,
                       m->dim, ct_noise_get(p->noise, *index)->dim);
    for (int32_t i = 1; i < p->items; i++)
        if (same_chain(&p->item[i - 1], &p->item[i])) longest = fmax(longest, p->item[i].t - p->item[0].t);
    for (int i = 0; i < m->dim; i++) variance[i] = ct_noise_covariance(m, i, i) * longest;
    CT_TRY(ct_noise_add_diagonal(p->noise, name, m->dim, variance, index, p->err));
    const char *rows[CT_BIAS_ROWS_MAX], *units[CT_BIAS_ROWS_MAX];
    m = ct_noise_get(p->noise, p->model);
    for (int i = 0; m->row && i < m->dim; i++) rows[i] = m->row[i].name, units[i] = "";
    if (m->row) ct_noise_set_rows(p->noise, *index, rows, units);
    return CT_OK;
}

static const ct_factor_ops *const START[] = {NULL, &ct_bias_start_r1, &ct_bias_start_r2, &ct_bias_start_r3},
                                  *const TURN[] = {NULL, &ct_oscillation_r1, &ct_oscillation_r2, &ct_oscillation_r3};

/* The start of an oscillation, or its step: of the bias, and of its quadrature. */
static ct_status add_turn(plan *p, const state *last, const state *now)
{
    const int k = p->bias->rows;
    const double zero[CT_BIAS_ROWS_MAX] = {0};
    for (int side = 0; side < 2; side++) {
        const int32_t to = side ? now->quad : now->var;
        if (!last) {
            CT_TRY(ct_graph_add_factor(p->graph, START[k], &to, zero, NULL, p->model, p->err));
            continue;
        }
        const int32_t var[3] = {side ? last->quad : last->var, side ? last->var : last->quad, to};
        const double z[3] = {now->t - last->t, p->bias->tau, side ? -p->bias->period : p->bias->period};
        CT_TRY(ct_graph_add_factor(p->graph, TURN[k], var, z, NULL, p->model, p->err));
    }
    return CT_OK;
}

static ct_status add_steps(plan *p)
{
    static const ct_factor_ops *const WALK[] = {NULL, &ct_random_walk_r1, &ct_random_walk_r2,
                                                &ct_random_walk_r3},
                                      *const MARKOV[] = {NULL, &ct_gauss_markov_r1, &ct_gauss_markov_r2,
                                                         &ct_gauss_markov_r3};
    const int k = p->bias->rows, walks = p->bias->process == CT_BIAS_RANDOM_WALK;
    int32_t start;
    CT_TRY(find_start_model(p, &start));
    for (int32_t s = 0; s < p->states; s++) {
        const state *now = &p->state[s], *last = now->before < 0 ? NULL : &p->state[now->before];
        const int32_t var[2] = {last ? last->var : now->var, now->var};
        const double z[3] = {last ? now->t - last->t : 0, last ? p->bias->tau : 0, 0};
        if (p->bias->process == CT_BIAS_OSCILLATION)
            CT_TRY(add_turn(p, last, now));
        else if (!last)
            CT_TRY(ct_graph_add_factor(p->graph, START[k], var, z, NULL, start, p->err));
        else
            CT_TRY(ct_graph_add_factor(p->graph, walks ? WALK[k] : MARKOV[k], var, z, NULL, p->model, p->err));
    }
    return CT_OK;
}

/* ---- The new sequence ------------------------------------------------------------------------ */

/* Truth, known coordinates and stamps in the order of the new graph. */
static ct_status take_arrays(const plan *p, ct_sequence *to)
{
    const ct_sequence *from = p->seq;
    const ct_graph *old = from->graph;
    const int32_t n = ct_graph_variables(p->graph);
    double *truth = from->truth ? ct__zalloc(ct_graph_size(p->graph), sizeof *truth) : NULL;
    uint8_t *known = from->known ? ct__zalloc(n, sizeof *known) : NULL;
    double *stamp = from->stamp ? ct__zalloc(n, sizeof *stamp) : NULL;
    if ((from->truth && !truth) || (from->known && !known) || (from->stamp && !stamp)) {
        free(truth), free(known), free(stamp);
        return ct__no_memory(p->err, "variables", n);
    }
    for (int32_t v = 0; v < ct_graph_variables(old); v++) {
        const size_t bytes = (size_t)ct_kind_size(ct_graph_kind(old, v)) * sizeof *truth;
        if (truth) memcpy(truth + ct_graph_offset(p->graph, p->map[v]), from->truth + ct_graph_offset(old, v), bytes);
        if (known) known[p->map[v]] = from->known[v];
        if (stamp) stamp[p->map[v]] = from->stamp[v];
    }
    for (int32_t s = 0; stamp && s < p->states; s++) {
        stamp[p->state[s].var] = p->seconds ? p->state[s].t : NAN;
        if (p->bias->process == CT_BIAS_OSCILLATION) stamp[p->state[s].quad] = stamp[p->state[s].var];
    }
    free(to->truth), free(to->known), free(to->stamp);
    to->truth = truth;
    to->known = known;
    to->stamp = stamp;
    return CT_OK;
}

static ct_status rebuild(plan *p, ct_sequence *to)
{
    CT_TRY(ct__bodies_find(p->seq->graph, &p->bodies, p->err));
    CT_TRY(find_times(p));
    CT_TRY(list_items(p));
    CT_TRY(make_states(p));
    CT_TRY(ct_graph_new(&p->graph, p->err));
    CT_TRY(add_variables(p));
    CT_TRY(add_factors(p));
    CT_TRY(add_steps(p));
    CT_TRY(take_arrays(p, to));
    ct_graph *old = to->graph;
    to->graph = p->graph;
    p->graph = NULL;
    ct_graph_free(old);
    return CT_OK;
}

/* ---- States that are there already ------------------------------------------------------------- */

static ct_bias_process process_of(const ct_factor_ops *ops)
{
    return ops == &ct_gauss_markov_r1 || ops == &ct_gauss_markov_r2 || ops == &ct_gauss_markov_r3 ? CT_BIAS_GAUSS_MARKOV
           : ops->arity == 3                                                                      ? CT_BIAS_OSCILLATION
           : ops->arity == 2                                                                      ? CT_BIAS_RANDOM_WALK
                                                                                                  : CT_BIAS_CONSTANT;
}

/* *there <- 1 if steps of the graph have the model; their time constants become the table's. */
static ct_status update_steps(ct_sequence *seq, const ct_noise *noise, int32_t model, int *there, ct_err *err)
{
    const ct_noise_model *m = ct_noise_get(noise, model);
    *there = 0;
    for (int32_t k = 0; k < ct_graph_factors(seq->graph); k++) {
        const ct_factor f = ct_graph_factor(seq->graph, k);
        if (f.noise != model || !ct__is_process(f.ops)) continue;
        *there = 1;
        if (f.ops->arity < 2) continue;
        if (process_of(f.ops) != m->bias->process)
            return ct_fail(err, CT_E_ARGUMENT,
                           "noise model %s: sequence %s has a %s bias, and the noise table a %s one", m->name,
                           ct_sequence_label(seq), ct_bias_process_name(process_of(f.ops)),
                           ct_bias_process_name(m->bias->process));
        const double period = f.ops->arity == 3 ? copysign(m->bias->period, f.z[2]) : 0;
        if ((m->bias->process == CT_BIAS_GAUSS_MARKOV && f.z[1] != m->bias->tau) ||
            (f.ops->arity == 3 && (f.z[1] != m->bias->tau || f.z[2] != period)))
            CT_TRY(ct_graph_set_measurement(seq->graph, k, (const double[3]){f.z[0], m->bias->tau, period}, err));
    }
    return CT_OK;
}

ct_status ct_sequence_apply_biases(ct_sequence *seq, ct_noise *noise, ct_err *err)
{
    for (int32_t g = 0; g < ct_noise_count(noise); g++) {
        int there = 0;
        if (!ct_noise_get(noise, g)->bias) continue;
        CT_TRY(update_steps(seq, noise, g, &there, err));
        if (there) continue;
        const ct_bias bias = *ct_noise_get(noise, g)->bias; /* the table may grow */
        plan p = {.seq = seq, .noise = noise, .bias = &bias, .model = g, .err = err};
        ct_status status = find_times(&p);
        if (status == CT_OK && p.seconds >= 0) status = rebuild(&p, seq);
        release(&p);
        CT_TRY(status);
    }
    return CT_OK;
}

static ct_status copy_arrays(const ct_sequence *seq, ct_sequence *to, ct_err *err)
{
    const int32_t n = ct_graph_variables(seq->graph);
    if (seq->truth) CT_TRY(ct_sequence_set_truth(to, seq->truth, seq->known, err));
    if (seq->stamp) {
        to->stamp = ct__zalloc(n, sizeof *to->stamp);
        if (!to->stamp) return ct__no_memory(err, "variables", n);
        memcpy(to->stamp, seq->stamp, (size_t)n * sizeof *to->stamp);
    }
    memcpy(to->truth_sigma, seq->truth_sigma, sizeof to->truth_sigma);
    to->models = seq->models;
    return ct_sequence_set_name(to, seq->name, seq->recording, err);
}

static ct_status copy_biased(const ct_sequence *seq, ct_noise *noise, ct_sequence **out, ct_err *err)
{
    ct_graph *graph;
    CT_TRY(ct_graph_copy(seq->graph, &graph, err));
    ct_sequence *copy;
    ct_status status = ct_sequence_new(graph, &copy, err);
    if (status != CT_OK) {
        ct_graph_free(graph);
        return status;
    }
    status = copy_arrays(seq, copy, err);
    if (status == CT_OK) status = ct_sequence_apply_biases(copy, noise, err);
    if (status == CT_OK)
        *out = copy;
    else
        ct_sequence_free(copy);
    return status;
}

ct_status ct_sequence_copy_biased(const ct_sequence *seq, ct_noise *noise, ct_sequence **out, ct_err *err)
{
    ct__store *store = ct__store_of(seq);
    *out = NULL;
    CT_TRY(ct_sequence_acquire(seq, err));
    ct_status status = copy_biased(seq, noise, out, err);
    ct_sequence_release(seq);
    if (status == CT_OK && store) status = ct__store_add(store, *out, ct_sequence_label(seq), err);
    if (status == CT_OK) return CT_OK;
    ct_sequence_free(*out);
    *out = NULL;
    return status;
}
