/* truth_tests.c: the truth itself: gaps, jumps, and a truth that copies a sensor.
 *
 * Jumps: the change of the true velocity from step to step, v_(k+1) - v_k in the body's frame, is an outlier, and
 * odometry does not see the step that makes it. An outlier of odometry leaves the truth smooth.
 *
 * Copies: a sensor's error against the truth, e = z - h(truth), is compared with the error of the truth that odometry
 * sees: jitter of the truth is in the differences of its positions at the sensor's stamps, with opposite signs in
 * neighbouring ones,
 *
 *     d_m = (p_(m+1) - p_m)_truth - (p_(m+1) - p_m)_odometry,     jitter^2 = -cov(d_m, d_(m+1)).
 *
 * If jitter is larger than the sensor's own error, that error is in the truth. */
#include "doctor/doctor.h"

#include <math.h>

#define JUMP       10.0 /* robust sigmas of the odometry's residual                               */
#define JERK       4.0  /* and of the true acceleration                                           */
#define COPIES     2.0  /* jitter of the truth over errors of the sensor                          */
#define ZERO       2e-3 /* of the sigma of the table, and of how the value varies: errors that are none */
#define GAP_SHARE  0.02 /* of the poses: fewer without truth are not told                         */

/* ---- Gaps ------------------------------------------------------------------------------------- */

static ct_status find_gaps(ct__exam *e, ct_err *err)
{
    int64_t poses = 0, missing = 0, longest = 0;
    double  seconds = 0;
    for (int32_t i = 0; i < e->sequences; i++) {
        const ct__exam_sequence *s = &e->sequence[i];
        if (!s->seq->truth) return CT_OK;
        for (int32_t b = 0; b < s->bodies.count; b++) {
            int32_t from = -1;
            for (int32_t k = s->first[b]; k < s->first[b + 1]; k++) {
                const int32_t v = s->order[k];
                if (!s->moving[v]) continue;
                poses++;
                const int gone = !s->seq->known[v];
                missing += gone;
                if (gone && from < 0) from = k;
                if (gone || from < 0) continue;
                if (k - from > longest) longest = k - from, seconds = s->t[v] - s->t[s->order[CT_MAX(from - 1, 0)]];
                from = -1;
            }
        }
    }
    if (!longest || (double)missing < GAP_SHARE * (double)poses) return CT_OK;
    const double value[] = {100.0 * (double)missing / (double)poses, (double)longest, seconds};
    return ct__report(e, NULL, -1, CT_FINDING_TRUTH_GAPS, 3, value, err);
}

/* ---- Jumps ------------------------------------------------------------------------------------ */

/* A step of odometry: its residual, and the change of the true velocity at its start. */
typedef struct {
    int32_t sample;
    double  residual, acceleration;
} step;

static double translation(ct_kind kind, const double *d)
{
    const int at = kind == CT_SE2 ? 0 : 3;
    return sqrt(d[at] * d[at] + d[at + 1] * d[at + 1] + (kind == CT_SE3 ? d[at + 2] * d[at + 2] : 0));
}

/* True steps before, at and after this one, as velocities; the smaller change is that of a step that does not fit. */
static int measure_step(const ct__exam *e, const ct__sensor *s, const ct__sample *q, step *out)
{
    const ct__exam_sequence *n = &e->sequence[q->sequence];
    const ct_graph          *g = n->seq->graph;
    const ct_factor          f = ct_graph_factor(g, q->factor);
    const int32_t            at = CT_MIN(n->place[f.var[0]], n->place[f.var[1]]), body = n->bodies.body[f.var[0]];
    double                   v[3][CT_DIM_MAX], r[CT_ROWS_MAX], d[2][CT_DIM_MAX];
    if (at - 1 < n->first[body] || at + 2 >= n->first[body + 1]) return 0;
    for (int k = -1; k <= 2; k++)
        if (n->whole[n->order[at + k]] != 1) return 0;
    for (int k = 0; k < 3; k++) {
        const int32_t a = n->order[at + k - 1], b = n->order[at + k];
        ct_kind_local(s->pose, n->x + g->offset[a], n->x + g->offset[b], v[k]);
        for (int c = 0; c < ct_kind_dim(s->pose); c++) v[k][c] /= n->t[b] - n->t[a];
    }
    for (int c = 0; c < CT_DIM_MAX; c++) d[0][c] = v[1][c] - v[0][c], d[1][c] = v[1][c] - v[2][c];
    if (!ct__sample_row(e, s, q, &s->fault, r, NULL, NULL)) return 0;
    out->acceleration = fmin(translation(s->pose, d[0]), translation(s->pose, d[1]));
    out->residual = translation(s->pose, r);
    return 1;
}

static ct_status report_jumps(ct__exam *e, const ct__sensor *s, int32_t count, const step *list, double limit_a,
                              double limit_r, ct_err *err)
{
    int64_t jumps = 0;
    double  largest = 0;
    int32_t first = -1;
    for (int32_t k = 0; k < count; k++) {
        if (!(list[k].acceleration > limit_a && list[k].residual > limit_r)) continue;
        if (first < 0) first = list[k].sample;
        largest = fmax(largest, list[k].residual);
        jumps++;
    }
    if (!jumps) return CT_OK;
    const ct__sample        *q = &s->sample[first];
    const ct__exam_sequence *n = &e->sequence[q->sequence];
    const double             value[] = {(double)jumps, largest, q->t - n->t0};
    CT_TRY(ct__report(e, NULL, -1, CT_FINDING_TRUTH_JUMPS, 3, value, err));
    return ct_findings_add_subject(&e->out->findings, CT_SUBJECT_SEQUENCE, n->index, 0, ct_sequence_label(n->seq), err);
}

static ct_status find_jumps(ct__exam *e, const ct__sensor *s, ct_err *err)
{
    step     *list = ct__zalloc(s->samples, sizeof *list);
    double   *room = ct__zalloc(s->samples, sizeof *room);
    int32_t   n = 0;
    ct_status status = list && room ? CT_OK : ct__no_memory(err, "samples", s->samples);
    for (int32_t k = 0; status == CT_OK && k < s->samples; k++) {
        list[n].sample = k;
        n += measure_step(e, s, &s->sample[k], &list[n]);
    }
    if (status == CT_OK && n >= CT__SAMPLES_LEAST) {
        for (int32_t k = 0; k < n; k++) room[k] = list[k].acceleration;
        const double a = JERK * ct__robust_sigma(n, room);
        for (int32_t k = 0; k < n; k++) room[k] = list[k].residual;
        status = report_jumps(e, s, n, list, a, JUMP * ct__robust_sigma(n, room), err);
    }
    free(list);
    free(room);
    return status;
}

/* ---- Copies ----------------------------------------------------------------------------------- */

/* Positions in the world of poses k .. m by odometry from the true pose k. 0: there is a gap. */
static int travel(const ct__exam_sequence *n, const int32_t *odometry, int32_t from, int32_t to, double *x)
{
    const ct_graph *g = n->seq->graph;
    const ct_kind   kind = (ct_kind)g->kind[n->order[from]];
    memcpy(x, n->x + g->offset[n->order[from]], (size_t)ct_kind_size(kind) * sizeof *x);
    for (int32_t k = from; k < to; k++) {
        const int32_t f = odometry[k];
        double        d[CT_DIM_MAX], identity[CT_SIZE_MAX];
        if (f < 0) return 0;
        ct_kind_identity(kind, identity);
        ct_kind_local(kind, identity, g->z_pool + g->factor[f].z, d);
        ct_kind_retract(kind, x, d, x);
    }
    return 1;
}

/* Per place in the order of poses: the factor of odometry from it to the next. The caller frees it. */
static int32_t *list_odometry(const ct__exam_sequence *n, const ct__sensor *odom)
{
    const ct_graph *g = n->seq->graph;
    int32_t        *list = ct__zalloc(g->variables, sizeof *list);
    for (int32_t k = 0; list && k < g->variables; k++) list[k] = -1;
    for (int32_t f = 0; list && f < g->factors; f++) {
        const int32_t *var = g->var_pool + g->factor[f].var;
        if (g->factor[f].ops != odom->ops || n->place[var[1]] != n->place[var[0]] + 1) continue;
        list[n->place[var[0]]] = f;
    }
    return list;
}

/* jitter2 += -d_m d_(m+1) per coordinate, over the sensor's measurements in one sequence. */
static ct_status add_jitter(const ct__exam *e, const ct__sensor *s, const ct__sensor *odom, int32_t which, double *sum,
                            int64_t *count, ct_err *err)
{
    const ct__exam_sequence *n = &e->sequence[which];
    const ct_graph          *g = n->seq->graph;
    const int                axes = s->pose == CT_SE2 ? 2 : 3;
    int32_t                 *odometry = list_odometry(n, odom), last = -1;
    double                   before[3] = {0};
    int                      have = 0;
    if (!odometry) return ct__no_memory(err, "variables", g->variables);
    for (int32_t k = 0; k < s->samples; k++) {
        if (s->sample[k].sequence != which) continue;
        const int32_t now = n->place[ct_graph_factor(g, s->sample[k].factor).var[0]];
        double        x[CT_SIZE_MAX], d[3];
        if (last >= 0 && now > last) {
            const int going = now - last < 200 && travel(n, odometry, last, now, x);
            for (int c = 0; c < axes && going; c++) d[c] = n->x[g->offset[n->order[now]] + c] - x[c];
            for (int c = 0; c < axes && going && have; c++) *sum -= d[c] * before[c], ++*count;
            for (int c = 0; c < axes && going; c++) before[c] = d[c];
            have = going;
        }
        last = now;
    }
    free(odometry);
    return CT_OK;
}

static int is_position(const ct__sensor *s)
{
    return s->tied && s->ops->arity == 1 && (!strncmp(s->ops->name, "position_", 9) || ct__is_pose(s->ops->field[0]));
}

static ct_status find_copy(ct__exam *e, const ct__sensor *s, const ct__sensor *odom, ct_err *err)
{
    const ct_noise_model *model = ct_noise_get(e->dataset->noise, s->model[0]);
    int                   row = ct__row_turns(s, 0) ? s->rows - 1 : 0, zero = 0;
    double                jitter = 0, sum = 0;
    int64_t               count = 0;
    for (int32_t i = 0; odom && is_position(s) && i < e->sequences; i++)
        CT_TRY(add_jitter(e, s, odom, i, &sum, &count, err));
    if (count > CT__SAMPLES_LEAST && sum > 0) jitter = sqrt(sum / (double)count);
    for (int i = 0; i < s->rows && !zero; i++) {
        zero = !s->still[i] && s->fit->sigma[0][i] < ZERO * fmin(ct_noise_sigma(model, i), s->varies[i]);
        if (zero) row = i;
    }
    const double own = s->fit->sigma[0][row];
    if (!zero && !(jitter > COPIES * own)) return CT_OK;
    const double value[] = {own, jitter};
    return ct__report(e, s, zero ? row : -1, CT_FINDING_TRUTH_COPIES_SENSOR, 2, value, err);
}

ct_status ct__test_truth(ct__exam *e, ct_err *err)
{
    const ct__sensor *odom = NULL;
    CT_TRY(find_gaps(e, err));
    for (int32_t i = 0; i < e->sensors; i++)
        if (e->sensor[i].odometry && e->sensor[i].fit && !e->sensor[i].estimated) odom = &e->sensor[i];
    if (odom) CT_TRY(find_jumps(e, odom, err));
    for (int32_t i = 0; i < e->sensors; i++)
        if (e->sensor[i].fit && !e->sensor[i].estimated && e->sensor[i].measured)
            CT_TRY(find_copy(e, &e->sensor[i], odom, err));
    return CT_OK;
}
