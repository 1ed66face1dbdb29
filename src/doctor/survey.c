/* survey.c: sequences with their bodies in the order of time; sensors with their samples. */
#include "doctor/doctor.h"
#include "graph/biased.h"

#include <math.h>
#include <stdio.h>

#define BLOCK       200   /* samples that stay together when a sensor has too many: neighbours are needed */
#define MOST        30000 /* samples of a sensor                                                          */
#define MOST_BRIEF  2000
#define GROUP_ENDS  "@#"

/* ---- Sequences ------------------------------------------------------------------------------- */

static ct_status find_recording(ct__exam *e, const ct_sequence *seq, int32_t index, int32_t *out, ct_err *err)
{
    char name[256];
    ct_sequence_recording(seq, name, sizeof name);
    if (!name[0]) snprintf(name, sizeof name, "number %d", index);
    for (*out = 0; *out < e->recordings; ++*out)
        if (!strcmp(e->recording[*out], name)) return CT_OK;
    e->recording[e->recordings] = ct__strdup(name);
    if (!e->recording[e->recordings]) return ct__no_memory(err, "recordings", e->recordings);
    e->recordings++;
    return CT_OK;
}

typedef struct {
    double  t;
    int32_t body, v;
} stamp;

static int compare_stamps(const void *a, const void *b)
{
    const stamp *x = a, *y = b;
    if (x->body != y->body) return x->body < y->body ? -1 : 1;
    if (x->t < y->t || x->t > y->t) return x->t < y->t ? -1 : 1;
    return x->v < y->v ? -1 : x->v > y->v;
}

static ct_status allocate(ct__exam_sequence *s, ct_err *err)
{
    const int32_t n = s->seq->graph->variables;
    s->order = ct__zalloc(n, sizeof *s->order);
    s->place = ct__zalloc(n, sizeof *s->place);
    s->first = ct__zalloc((int64_t)s->bodies.count + 1, sizeof *s->first);
    s->moving = ct__zalloc(n, 1);
    s->whole = ct__zalloc(n, 1);
    s->t = ct__zalloc(n, sizeof *s->t);
    s->x = ct__zalloc(ct_graph_size(s->seq->graph), sizeof *s->x);
    if (!s->order || !s->place || !s->first || !s->moving || !s->whole || !s->t || !s->x)
        return ct__no_memory(err, "variables", n);
    return CT_OK;
}

/* Stamps of all poses, strictly ascending in every body, or ranks. */
static void choose_times(ct__exam_sequence *s, const stamp *by, int32_t n)
{
    const ct_graph *g = s->seq->graph;
    s->timed = 1;
    s->t0 = INFINITY;
    for (int32_t i = 0; i < n && s->timed; i++) {
        if (!ct__is_pose((ct_kind)g->kind[by[i].v])) continue;
        if (!isfinite(by[i].t) || (i && by[i].body == by[i - 1].body && !(by[i].t > by[i - 1].t))) s->timed = 0;
        s->t0 = fmin(s->t0, by[i].t);
    }
    if (!s->timed || !isfinite(s->t0)) s->timed = 0, s->t0 = 0;
    for (int32_t i = 0; i < n; i++) s->t[by[i].v] = s->timed ? by[i].t : s->bodies.rank[by[i].v];
}

static ct_status order_bodies(ct__exam_sequence *s, ct_err *err)
{
    const ct_graph *g = s->seq->graph;
    const int32_t   n = g->variables;
    stamp          *by = ct__zalloc(n, sizeof *by);
    if (!by) return ct__no_memory(err, "variables", n);
    for (int32_t v = 0; v < n; v++)
        by[v] = (stamp){s->seq->stamp && isfinite(s->seq->stamp[v]) ? s->seq->stamp[v] : NAN, s->bodies.body[v], v};
    int missing = 0;
    for (int32_t v = 0; v < n; v++) missing |= ct__is_pose((ct_kind)g->kind[v]) && isnan(by[v].t);
    for (int32_t v = 0; v < n; v++)
        if (missing || isnan(by[v].t)) by[v].t = s->bodies.rank[v];
    qsort(by, (size_t)n, sizeof *by, compare_stamps);
    choose_times(s, by, n);
    if (missing) s->timed = 0, s->t0 = 0;
    for (int32_t i = 0; i < n; i++) {
        s->order[i] = by[i].v;
        s->place[by[i].v] = i;
        s->first[by[i].body + 1] = i + 1;
    }
    for (int32_t v = 0; v < n; v++) {
        const int32_t body = s->bodies.body[v];
        s->moving[v] = ct__is_pose((ct_kind)g->kind[v]) && s->first[body + 1] - s->first[body] > 1;
    }
    free(by);
    return CT_OK;
}

static ct_status survey_sequence(ct__exam *e, const ct_sequence *seq, int32_t index, ct_err *err)
{
    ct__exam_sequence *s = &e->sequence[e->sequences++];
    *s = (ct__exam_sequence){.seq = seq, .index = index, .train = index < e->dataset->trains || !e->dataset->trains};
    CT_TRY(find_recording(e, seq, index, &s->recording, err));
    e->trained[s->recording] |= s->train != 0;
    CT_TRY(ct__bodies_find(seq->graph, &s->bodies, err));
    CT_TRY(allocate(s, err));
    return order_bodies(s, err);
}

/* ---- Sensors --------------------------------------------------------------------------------- */

static int is_relative(const ct_factor_ops *ops)
{
    return ops->arity == 2 && ct__is_pose(ops->kind[0]) && ops->kind[1] == ops->kind[0] && ops->fields == 1 &&
           ops->field[0] == ops->kind[0];
}

static void add_param(ct__sensor *s, ct__fault_kind kind, int row) { s->param[s->params++] = (ct__param){kind, row}; }

static int is_position_row(const ct__sensor *s, int i) { return !ct__row_turns(s, i); }

/* Faults that residuals of this sensor can show. Two that do the same are one: a constant error of a position is that
 * of its frame, of a point in the sensor's frame that of its mount, of a direction that of the mount's turn. */
static void choose_params(ct__sensor *s)
{
    const ct_factor_ops *ops = s->ops;
    const int            poses = ct__is_pose(s->pose), absolute = s->tied && ops->arity == 1;
    const int            prior = absolute && ops->fields >= 1 && ct__is_pose(ops->field[0]);
    const int            position = absolute && !strncmp(ops->name, "position_", 9);
    const int            point = !strncmp(ops->name, "point_", 6), relative = is_relative(ops);
    const int            heading = absolute && s->measured == 1 && ops->field[0] == CT_SO2 && s->offset < 0;
    if (s->timed && poses) add_param(s, CT__FAULT_DELAY, 0), add_param(s, CT__FAULT_DRIFT, 0);
    for (int i = 0; s->measured && !prior && !position && !point && i < s->rows; i++) add_param(s, CT__FAULT_BIAS, i);
    for (int i = 0; s->measured && !heading && i < s->rows; i++)
        if (!(prior && ct__row_turns(s, i)) && (!(prior || position) || is_position_row(s, i)))
            add_param(s, CT__FAULT_SCALE, i);
    if (relative || prior)
        for (int i = 0; i < ct_kind_dim(s->pose); i++) add_param(s, CT__FAULT_MOUNT, i);
    else if (s->offset >= 0) {
        const int dim = ct_kind_dim(s->mount);
        for (int i = 0; i < dim; i++) {
            const int turn = ct__turns[s->mount] >> i & 1;
            if (!turn || point) add_param(s, CT__FAULT_MOUNT, i);
        }
    }
    if (absolute && poses && !heading)
        for (int i = 0; i < ct_kind_dim(s->pose); i++) add_param(s, CT__FAULT_FRAME, i);
}

static void describe(ct__sensor *s)
{
    const ct_factor_ops *ops = s->ops;
    int                  at = 0;
    s->rows = ops->rows;
    s->tied = ops->absolute;
    s->measured = ct__measured_fields(ops);
    s->offset = -1;
    s->pose = CT_KIND_COUNT;
    for (int i = 0; i < ops->arity; i++)
        if (ct__is_pose(ops->kind[i])) s->pose = ops->kind[i];
    for (int i = 0; i < ops->fields; i++) {
        const ct_kind kind = ops->field[i];
        if (i >= ops->required && (ct__is_pose(kind) || kind == CT_R2 || kind == CT_R3))
            s->offset = at, s->mount = kind;
        at += ct_kind_size(kind);
    }
}

static ct_status find_sensor(ct__exam *e, const char *model, const ct_factor_ops *ops, int odometry, int32_t *out,
                             ct_err *err)
{
    const int    loops = is_relative(ops) && !odometry;
    const size_t length = CT_MIN(strcspn(model, GROUP_ENDS), sizeof e->sensor->name - 1);
    for (int32_t i = 0; i < e->sensors; i++) {
        const ct__sensor *s = &e->sensor[i];
        if (s->ops == ops && s->loops == loops && strlen(s->name) == length && !strncmp(s->name, model, length)) {
            *out = i;
            return CT_OK;
        }
    }
    CT_TRY(ct__grow(&e->sensor, &e->sensor_capacity, (int64_t)e->sensors + 1, sizeof *e->sensor, "sensors", err));
    ct__sensor *s = &e->sensor[e->sensors];
    *s = (ct__sensor){.ops = ops, .loops = loops, .odometry = is_relative(ops) && odometry, .timed = 1};
    memcpy(s->name, model, length);
    describe(s);
    *out = e->sensors++;
    return CT_OK;
}

static int32_t model_place(ct__sensor *s, int32_t model)
{
    for (int32_t i = 0; i < s->models; i++)
        if (s->model[i] == model) return i;
    if (s->models == CT__MODELS_MAX) return CT__MODELS_MAX - 1;
    s->model[s->models] = model;
    return s->models++;
}

/* A number that is equal for measurements of one thing: the other variables, and the known point. */
static int32_t target_of(const ct__exam_sequence *q, const ct_factor *f)
{
    uint64_t h = 1469598103934665603u;
    int      at = 0;
    for (int i = 0; i < f->ops->arity; i++) h = (h ^ (uint64_t)(q->moving[f->var[i]] ? -1 - q->bodies.body[f->var[i]]
                                                                                     : f->var[i])) * 1099511628211u;
    for (int i = 0; i < f->ops->required; i++) {
        const int size = ct_kind_size(f->ops->field[i]);
        if (i >= ct__measured_fields(f->ops) && size > 1)
            for (int k = 0; k < size; k++) {
                uint64_t bits;
                memcpy(&bits, &f->z[at + k], sizeof bits);
                h = (h ^ bits) * 1099511628211u;
            }
        at += size;
    }
    return (int32_t)((h ^ h >> 32) & 0x7fffffff);
}

static ct_status add_factor(ct__exam *e, int32_t i, int32_t index, ct_err *err)
{
    const ct__exam_sequence *q = &e->sequence[i];
    const ct_factor          f = ct__without_bias(ct_graph_factor(q->seq->graph, index));
    const int                odometry = ct__is_odometry(q->seq->graph, &q->bodies, index);
    int32_t                  which, moving = 0;
    double                   t = -INFINITY;
    if (ct__is_process(f.ops)) return CT_OK;
    for (int k = 0; k < f.ops->arity; k++)
        if (q->moving[f.var[k]]) t = fmax(t, q->t[f.var[k]]), moving++;
    if (!moving) return CT_OK;
    CT_TRY(find_sensor(e, ct_noise_get(e->dataset->noise, f.noise)->name, f.ops, odometry, &which, err));
    ct__sensor *s = &e->sensor[which];
    CT_TRY(ct__grow(&s->sample, &s->capacity, (int64_t)s->samples + 1, sizeof *s->sample, "samples", err));
    s->sample[s->samples++] = (ct__sample){.sequence = i,
                                           .factor = index,
                                           .model = model_place(s, f.noise),
                                           .target = target_of(q, &f),
                                           .t = t};
    s->timed = s->timed && q->timed;
    s->frozen = !ct_dataset_group_of(e->dataset, f.noise).learn;
    return CT_OK;
}

static int compare_samples(const void *a, const void *b)
{
    const ct__sample *x = a, *y = b;
    if (x->sequence != y->sequence) return x->sequence < y->sequence ? -1 : 1;
    if (x->t < y->t || x->t > y->t) return x->t < y->t ? -1 : 1;
    return x->factor < y->factor ? -1 : x->factor > y->factor;
}

/* Blocks spread over all samples. */
static void thin(ct__sensor *s, int64_t most)
{
    s->all = s->samples;
    if (s->samples <= most) return;
    const int64_t blocks = s->samples / BLOCK, keep = CT_MAX(1, most / BLOCK);
    int32_t       n = 0;
    for (int64_t k = 0; k < keep; k++) {
        const int64_t b = k * blocks / keep;
        memmove(s->sample + n, s->sample + b * BLOCK, BLOCK * sizeof *s->sample);
        n += BLOCK;
    }
    s->samples = n;
}

static ct_status find_sensors(ct__exam *e, ct_err *err)
{
    for (int32_t i = 0; i < e->sequences; i++)
        for (int32_t f = 0; f < e->sequence[i].seq->graph->factors; f++) CT_TRY(add_factor(e, i, f, err));
    for (int32_t i = 0; i < e->sensors; i++) {
        ct__sensor *s = &e->sensor[i];
        qsort(s->sample, (size_t)s->samples, sizeof *s->sample, compare_samples);
        thin(s, e->options.brief ? MOST_BRIEF : MOST);
        choose_params(s);
        ct__find_wheels(e, s);
        for (int w = 0; s->track > 0 && w < 2; w++) add_param(s, CT__FAULT_WHEEL, w);
        ct__fault_none(s, &s->fault);
        CT_TRY(ct__mark_rest(e, s, err));
    }
    return CT_OK;
}

/* Is sequence i of so many examined? In brief a few are, at equal distances: faults of sensors are in all of them. */
static int is_examined(const ct__exam *e, int32_t i, int32_t most)
{
    if (!e->options.brief || most <= CT_DOCTOR_BRIEF_SEQUENCES) return 1;
    const int64_t k = CT_DOCTOR_BRIEF_SEQUENCES;
    return i == 0 || i * k / most != (i - 1) * k / most;
}

ct_status ct__exam_survey(ct__exam *e, ct_err *err)
{
    const ct_dataset *d = e->dataset;
    const int32_t     most = d->trains + d->tests;
    e->sequence = ct__zalloc(most, sizeof *e->sequence);
    e->recording = ct__zalloc(most, sizeof *e->recording);
    e->trained = ct__zalloc(most, 1);
    if (!e->sequence || !e->recording || !e->trained) return ct__no_memory(err, "sequences", most);
    for (int32_t i = 0; i < most; i++) {
        const ct_sequence *seq = i < d->trains ? d->train[i] : d->test[i - d->trains];
        int                seen = 0;
        if (!is_examined(e, i, most)) continue;
        for (int32_t k = 0; k < e->sequences && i >= d->trains; k++) seen |= e->sequence[k].seq == seq;
        if (seen) continue;
        CT_TRY(ct_sequence_acquire(seq, err));
        const ct_status status = ct_graph_check_noise(seq->graph, d->noise, err);
        if (status != CT_OK) {
            ct_sequence_release(seq);
            return status;
        }
        CT_TRY(survey_sequence(e, seq, i, err)); /* ct__exam_free releases it, also after a failure */
    }
    for (int32_t i = 0; i < e->sequences; i++) /* clocks drift from the start of a recording */
        for (int32_t k = 0; k < e->sequences; k++)
            if (e->sequence[k].recording == e->sequence[i].recording && e->sequence[k].timed && e->sequence[i].timed)
                e->sequence[i].t0 = fmin(e->sequence[i].t0, e->sequence[k].t0);
    CT_TRY(ct__exam_complete(e, err));
    return find_sensors(e, err);
}

void ct__exam_free(ct__exam *e)
{
    for (int32_t i = 0; i < e->sequences; i++) {
        ct__exam_sequence *s = &e->sequence[i];
        ct_sequence_release(s->seq);
        ct__bodies_free(&s->bodies);
        free(s->order);
        free(s->place);
        free(s->first);
        free(s->moving);
        free(s->whole);
        free(s->t);
        free(s->x);
    }
    for (int32_t i = 0; e->recording && i < e->recordings; i++) free(e->recording[i]);
    for (int32_t i = 0; i < e->sensors; i++) {
        free(e->sensor[i].sample);
        if (e->sensor[i].fit) ct__fit_free(e->sensor[i].fit);
        free(e->sensor[i].fit);
    }
    free(e->sequence);
    free(e->recording);
    free(e->trained);
    free(e->sensor);
}
