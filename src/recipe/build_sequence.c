/* build_sequence.c: a sequence that is being built, and its completion: unknown points that too few measurements
 * determine are left out, the first pose is anchored, initial values follow from the measurements. */
#include "recipe/build.h"

#include <ctype.h>
#include <math.h>

/* ---- open sequences ---- */

ct_status ct__open_new(ct__import *imp, ct_ns t, ct__open **out)
{
    ct__open *open = ct__zalloc(1, sizeof *open);
    *out = open;
    if (!open) return ct__no_memory(imp->err, "sequences", 1);
    open->segment = imp->segments++;
    open->number = imp->made++;
    open->begin = t;
    imp->open[imp->opens++] = open;
    return CT_OK;
}

void ct__open_free(ct__open *open)
{
    if (!open) return;
    free(open->state);
    free(open->factor);
    free(open->z);
    ct__names_free(&open->point);
    free(open->seen);
    free(open->needed);
    free(open);
}

ct__open *ct__open_find(const ct__import *imp, int32_t number)
{
    for (int32_t i = 0; i < imp->opens; i++)
        if (imp->open[i]->number == number) return imp->open[i];
    return NULL;
}

ct_status ct__open_add_state(ct__import *imp, ct__open *open, const ct__state_row *row, int32_t *state)
{
    if (open->states == INT32_MAX - 1) return ct_fail(imp->err, CT_E_LIMIT, "a sequence has at most 2^31 - 2 states");
    CT_TRY(ct__grow(&open->state, &open->state_capacity, open->states + 1, sizeof *open->state, "states", imp->err));
    *state = open->states;
    open->state[open->states++] = *row;
    return open->states % CT__LONG_LOOK ? CT_OK : ct__result_long(imp, open);
}

ct_status ct__open_add_factor(ct__import *imp, ct__open *open, const ct_factor_ops *ops, const int32_t var[],
                              const double z[], int32_t sensor, int32_t noise, double multiplier)
{
    const int n = ct_factor_z_size(ops);
    if (open->factors == INT32_MAX) return ct_fail(imp->err, CT_E_LIMIT, "a sequence has at most 2^31 - 1 factors");
    CT_TRY(
        ct__grow(&open->factor, &open->factor_capacity, open->factors + 1, sizeof *open->factor, "factors", imp->err));
    CT_TRY(ct__grow(&open->z, &open->z_capacity, open->numbers + n, sizeof *open->z, "measurements", imp->err));
    memcpy(open->z + open->numbers, z, (size_t)n * sizeof *z);
    open->factor[open->factors++] = (ct__factor_row){.ops = ops,
                                                     .var = {var[0], ops->arity > 1 ? var[1] : 0},
                                                     .noise = noise,
                                                     .sensor = sensor,
                                                     .multiplier = multiplier,
                                                     .z = open->numbers,
                                                     .feature = -1};
    open->numbers += n;
    if (ops->arity > 1 && var[1] < 0) open->seen[-1 - var[1]]++;
    return CT_OK;
}

ct_status ct__open_add_features(ct__import *imp, ct__open *open, const double value[])
{
    ct__factor_row *f = &open->factor[open->factors - 1];
    const int       n = ct__sensor_features(&imp->recipe->sensor[f->sensor]);
    if (n == 0) return CT_OK;
    CT_TRY(ct__grow(&open->z, &open->z_capacity, open->numbers + n, sizeof *open->z, "features", imp->err));
    memcpy(open->z + open->numbers, value, (size_t)n * sizeof *value);
    f->feature = open->numbers;
    open->numbers += n;
    return CT_OK;
}

ct_status ct__open_point(ct__import *imp, ct__open *open, int32_t section, int32_t point, int needed, int32_t *number)
{
    ct__text text = {0};
    const char *id = ct__names_get(&imp->points[section].name, point);
    ct__text_printf(&text, "%s_%s", imp->recipe->landmark[section].name, id);
    if (text.failed) return ct__no_memory(imp->err, "names of points", 1);
    for (char *c = text.bytes; *c; c++) /* a name is one word of a file */
        if ((unsigned char)*c <= ' ' || *c == '#') *c = '_';
    *number = ct__names_find(&open->point, text.bytes);
    ct_status status = CT_OK;
    if (*number < 0) {
        const int64_t n = open->point.count;
        status = ct__grow(&open->seen, &open->seen_capacity, n + 1, sizeof *open->seen, "points", imp->err);
        if (status == CT_OK)
            status = ct__grow(&open->needed, &open->needed_capacity, n + 1, sizeof *open->needed, "points", imp->err);
        if (status == CT_OK) status = ct__names_add(&open->point, text.bytes, imp->err);
        if (status == CT_OK) {
            open->seen[n] = 0;
            open->needed[n] = needed;
            *number = (int32_t)n;
        }
    }
    ct__text_free(&text);
    if (status == CT_OK) open->needed[*number] = CT_MIN(open->needed[*number], needed);
    return status;
}

/* ---- completion ---- */

typedef struct {
    ct__import *imp;
    ct__open *open;
    ct_sequence *seq;
    int32_t *point; /* variable of each point, -1: left out */
    int absolute;   /* 1: a factor ties the poses to the world */
} completion;

static void state_name(const ct__import *imp, int32_t b, int32_t k, char buf[128])
{
    const char *body = imp->body[b].name;
    if (imp->bodies == 1)
        snprintf(buf, 128, "x%d", k);
    else
        snprintf(buf, 128, "%s%.100s_%d", isdigit((unsigned char)*body) || !*body ? "x" : "", body, k);
    for (char *c = buf; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == '#') *c = '_';
}

static ct_status add_variables(completion *c)
{
    ct__import *imp = c->imp;
    char name[128];
    int32_t *count = ct__zalloc(imp->bodies, sizeof *count);
    ct_status status = count ? CT_OK : ct__no_memory(imp->err, "bodies", imp->bodies);
    for (int32_t i = 0; status == CT_OK && i < c->open->states; i++) {
        const int32_t b = c->open->state[i].body;
        state_name(imp, b, count[b]++, name);
        status = ct_graph_add_variable(c->seq->graph, name, imp->kind, NULL, NULL, imp->err);
    }
    free(count);
    for (int32_t p = 0; status == CT_OK && p < c->open->point.count; p++) {
        c->point[p] = -1;
        if (c->open->seen[p] >= c->open->needed[p])
            status = ct_graph_add_variable(c->seq->graph, ct__names_get(&c->open->point, p),
                                           imp->kind == CT_SE2 ? CT_R2 : CT_R3, NULL, &c->point[p], imp->err);
        else
            imp->few_points++;
    }
    return status;
}

static ct_status add_factors(completion *c)
{
    ct__import *imp = c->imp;
    for (int32_t i = 0; i < c->open->factors; i++) {
        const ct__factor_row *f = &c->open->factor[i];
        int32_t var[2] = {f->var[0], f->var[1]};
        if (f->ops->arity > 1 && var[1] < 0) var[1] = c->point[-1 - var[1]];
        imp->result.count[f->sensor].factors += var[1] >= 0;
        imp->result.count[f->sensor].dropped[CT_DROP_LANDMARK] += var[1] < 0;
        if (var[1] < 0) continue;
        CT_TRY(ct_graph_add_factor(c->seq->graph, f->ops, var, c->open->z + f->z, NULL, f->noise, imp->err));
        if (f->multiplier != 1)
            CT_TRY(
                ct_graph_set_multiplier(c->seq->graph, ct_graph_factors(c->seq->graph) - 1, f->multiplier, imp->err));
        if (f->feature >= 0)
            CT_TRY(ct__features_put(c->seq->graph, ct_graph_factors(c->seq->graph) - 1, &imp->recipe->sensor[f->sensor],
                                    c->open->z + f->feature, imp->err));
        c->absolute |= f->ops->absolute;
    }
    return CT_OK;
}

/* ---- anchor ---- */

#define FIRST_POSE       "first_pose" /* frozen by default, as the simulators' */
#define FIRST_POSE_SIGMA 0.01         /* m, rad */

ct_status ct__anchor_model(ct__import *imp, int rows, int32_t *model)
{
    const double *own = imp->recipe->anchor_sigma;
    const int given = imp->recipe->anchor == CT__ANCHOR_SIGMA;
    const double m = given && own[0] > 0 ? own[0] : FIRST_POSE_SIGMA,
                 rad = given && own[1] > 0 ? own[1] : FIRST_POSE_SIGMA;
    double variance[6];
    const char *name = rows == ct_kind_dim(imp->kind) ? FIRST_POSE : FIRST_POSE "_position";
    *model = ct_noise_find(imp->noise, name);
    if (*model >= 0) return CT_OK;
    for (int i = 0; i < rows; i++) {
        const int turn = rows == 3 && imp->kind == CT_SE2 ? i == 2 : rows == 6 && i < 3;
        variance[i] = turn ? rad * rad : m * m;
    }
    return ct_noise_add_diagonal(imp->noise, name, rows, variance, model, imp->err);
}

static ct_status anchor_state(completion *c, int32_t state, const ct__state_row *row)
{
    ct__import *imp = c->imp;
    const int planar = imp->kind == CT_SE2, whole = row->rotates || !row->truth;
    const ct_se3 a = row->value;
    const ct_se2 p = ct__to_se2(a);
    int32_t model;
    if (whole) {
        const double z2[4] = {p.x, p.y, p.c, p.s}, z3[7] = {a.x, a.y, a.z, a.qx, a.qy, a.qz, a.qw};
        CT_TRY(ct__anchor_model(imp, ct_kind_dim(imp->kind), &model));
        return ct_graph_add_prior(c->seq->graph, state, planar ? z2 : z3, model, imp->err);
    }
    const double at[3] = {a.x, a.y, a.z};
    CT_TRY(ct__anchor_model(imp, planar ? 2 : 3, &model));
    return ct_graph_add_position(c->seq->graph, state, at, model, imp->err);
}

/* The first state of each body: at the truth; without one, the first of all at the identity if nothing is absolute. */
static ct_status add_anchors(completion *c)
{
    const ct__import *imp = c->imp;
    if (imp->recipe->anchor == CT__ANCHOR_NONE) return CT_OK;
    for (int32_t b = 0; b < imp->bodies; b++)
        for (int32_t i = 0; i < c->open->states; i++) {
            const ct__state_row *row = &c->open->state[i];
            if (row->body != b) continue;
            if (row->truth || (!c->absolute && b == c->open->state[0].body)) CT_TRY(anchor_state(c, i, row));
            break;
        }
    return CT_OK;
}

/* ---- values, truth, stamps ---- */

static ct_status set_values(completion *c)
{
    ct_sequence *seq = c->seq;
    const int64_t n = ct_graph_size(seq->graph);
    double *x = ct__zalloc(n, sizeof *x);
    if (!x) return ct__no_memory(c->imp->err, "values", n);
    memcpy(x, ct_graph_initial_const(seq->graph), (size_t)n * sizeof *x);
    const ct_status status = ct_sequence_initialise(seq, 1, x, c->imp->err);
    if (status == CT_OK) memcpy(ct_graph_initial(seq->graph), x, (size_t)n * sizeof *x);
    free(x);
    return status;
}

/* Unknown coordinates of the truth have their initial values. */
static void set_truth_of(const completion *c, int32_t i, double *x)
{
    const ct__state_row *row = &c->open->state[i];
    const ct_se3 a = row->value;
    if (!row->truth) return;
    if (c->imp->kind == CT_SE2) {
        const ct_se2 p = ct__to_se2(a);
        x[0] = p.x, x[1] = p.y;
        if (row->rotates) x[2] = p.c, x[3] = p.s;
    } else {
        x[0] = a.x, x[1] = a.y, x[2] = a.z;
        if (row->rotates) x[3] = a.qx, x[4] = a.qy, x[5] = a.qz, x[6] = a.qw;
    }
}

static ct_status set_truth(completion *c)
{
    ct_sequence *seq = c->seq;
    ct__import *imp = c->imp;
    const int32_t n = ct_graph_variables(seq->graph);
    int any = 0;
    seq->stamp = ct__zalloc(n, sizeof *seq->stamp);
    if (!seq->stamp) return ct__no_memory(imp->err, "stamps", n);
    for (int32_t v = 0; v < n; v++) {
        seq->stamp[v] = v < c->open->states ? (double)c->open->state[v].stamp * 1e-9 : NAN;
        any |= v < c->open->states && c->open->state[v].truth;
    }
    if (!any) return CT_OK;
    seq->truth = ct__zalloc(ct_graph_size(seq->graph), sizeof *seq->truth);
    seq->known = ct__zalloc(n, 1);
    if (!seq->truth || !seq->known) return ct__no_memory(imp->err, "true values", n);
    memcpy(seq->truth, ct_graph_initial_const(seq->graph), (size_t)ct_graph_size(seq->graph) * sizeof *seq->truth);
    for (int32_t v = 0; v < c->open->states; v++) {
        set_truth_of(c, v, seq->truth + ct_graph_offset(seq->graph, v));
        seq->known[v] = (uint8_t)c->open->state[v].known;
    }
    memcpy(seq->truth_sigma, imp->recipe->truth.sigma, sizeof seq->truth_sigma);
    return CT_OK;
}

static ct_status set_name(completion *c)
{
    const ct__recipe_split *split = &c->imp->recipe->split;
    const char *recording = c->imp->plan.recording[c->imp->r].name;
    const int whole = split->segment_s <= 0 && split->segment_states <= 0 && c->open->segment == 0 && !c->open->broken;
    ct__text name = {0};
    ct__text_put(&name, recording);
    if (!whole) ct__text_printf(&name, "-seg%02d", c->open->segment);
    c->seq->recording = ct__strdup(recording);
    if (!c->seq->recording) {
        ct__text_free(&name);
        return ct__no_memory(c->imp->err, "names of sequences", 1);
    }
    return ct__text_take(&name, &c->seq->name, c->imp->err);
}

/* ---- all of it ---- */

static ct_status complete(completion *c)
{
    CT_TRY(add_variables(c));
    CT_TRY(add_factors(c));
    CT_TRY(add_anchors(c));
    CT_TRY(set_values(c));
    CT_TRY(set_truth(c));
    return set_name(c);
}

/* Steps are made of many records. */
static int is_step(const ct__factor_row *f) { return f->ops->arity == 2 && f->var[1] == f->var[0] + 1; }

/* A remainder shorter than half a segment is no sequence: in means over sequences it would weigh as much as the
 * others. */
static int is_short(const ct__import *imp, const ct__open *open)
{
    const ct__recipe_split *split = &imp->recipe->split;
    if (open->states < 2) return 1;
    const ct_ns last = open->state[open->states - 1].stamp;
    if (split->segment_s > 0 && open->segment > 0) return (double)(last - open->begin) * 1e-9 < split->segment_s / 2;
    if (split->segment_states > 0 && open->segment > 0) return open->states < split->segment_states / 2;
    return 0;
}

ct_status ct__open_finish(ct__import *imp, ct__open *open)
{
    completion c = {.imp = imp, .open = open};
    if (is_short(imp, open)) {
        imp->short_states += open->states;
        imp->short_segments++;
        for (int32_t i = 0; i < open->factors; i++)
            imp->result.count[open->factor[i].sensor].dropped[CT_DROP_OUTSIDE] += !is_step(&open->factor[i]);
        ct__open_free(open);
        return CT_OK;
    }
    c.point = ct__zalloc(open->point.count, sizeof *c.point);
    ct_status status = c.point ? ct_sequence_new(NULL, &c.seq, imp->err) : ct__no_memory(imp->err, "points", 1);
    if (status == CT_OK) status = complete(&c);
    if (status == CT_OK) {
        imp->result.states += open->states;
        for (int32_t p = 0; p < open->point.count; p++) imp->result.landmarks += c.point[p] >= 0;
        for (int32_t i = 0; i < open->states; i++)
            imp->result.count[imp->recipe->sensors].factors += open->state[i].truth;
    }
    free(c.point);
    ct__open_free(open);
    if (status == CT_OK) return ct__sink_put(imp, c.seq);
    ct_sequence_free(c.seq);
    return status;
}

ct_status ct__opens_finish_first(ct__import *imp)
{
    ct__open *first = imp->open[0];
    for (int32_t b = 0; b < imp->bodies; b++)
        if (imp->body[b].started && imp->body[b].open == first->number) CT_TRY(ct__pending_close(imp, b));
    imp->open[0] = imp->open[1];
    imp->open[1] = NULL;
    imp->opens--;
    return ct__open_finish(imp, first);
}
