/* truth_tests.c: a truth that was made of a sensor, with others.
 *
 * A sensor's error against the truth, e = z - h(truth), is compared with the error of the truth that odometry sees:
 * jitter of the truth is in the differences of its positions at the sensor's stamps, with opposite signs in
 * neighbouring ones,
 *
 *     d_m = (p_(m+1) - p_m)_truth - (p_(m+1) - p_m)_odometry,     jitter^2 = -cov(d_m, d_(m+1)).
 *
 * If jitter is larger than the sensor's own error, that error is in the truth. */
#include "doctor/doctor.h"
#include "graph/biased.h"

#include <math.h>

#define COPIES 2.0 /* jitter of the truth over errors of the sensor */

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
        if (ct_factor_unbiased(g->factor[f].ops) != odom->ops || n->place[var[1]] != n->place[var[0]] + 1) continue;
        list[n->place[var[0]]] = f;
    }
    return list;
}

/* jitter2 += -d_m d_(m+1) per coordinate, over the sensor's measurements in one sequence. */
static ct_status add_jitter(const ct__exam *e, const ct__sensor *s, const ct__sensor *odom, int32_t which, double *sum,
                            int64_t *count, ct__picture *picture, ct_err *err)
{
    const ct__exam_sequence *n = &e->sequence[which];
    const ct_graph          *g = n->seq->graph;
    const int                axes = s->pose == CT_SE2 ? 2 : 3;
    int32_t                 *odometry = list_odometry(n, odom), last = -1;
    double                   before[3] = {0};
    int                      have = 0;
    ct_status                status = odometry ? CT_OK : ct__no_memory(err, "variables", g->variables);
    for (int32_t k = 0; status == CT_OK && k < s->samples; k++) {
        if (s->sample[k].sequence != which) continue;
        const int32_t now = n->place[ct_graph_factor(g, s->sample[k].factor).var[0]];
        double        x[CT_SIZE_MAX], d[3];
        if (last >= 0 && now > last) {
            const int going = now - last < 200 && travel(n, odometry, last, now, x);
            for (int c = 0; c < axes && going; c++) d[c] = n->x[g->offset[n->order[now]] + c] - x[c];
            for (int c = 0; c < axes && going && have; c++) *sum -= d[c] * before[c], ++*count;
            if (going && have) status = ct__picture_add(picture, before[0], d[0], err);
            for (int c = 0; c < axes && going; c++) before[c] = d[c];
            have = going;
        }
        last = now;
    }
    free(odometry);
    return status;
}

static int is_position(const ct__sensor *s)
{
    return s->tied && s->ops->arity == 1 && (!strncmp(s->ops->name, "position_", 9) || ct__is_pose(s->ops->field[0]));
}

static ct_status find_copy(ct__exam *e, const ct__sensor *s, const ct__sensor *odom, ct_err *err)
{
    const int    row = ct__row_turns(s, 0) ? s->rows - 1 : 0;
    const double own = s->fit->sigma[0][row];
    double       jitter = 0, sum = 0;
    int64_t      count = 0;
    ct__picture  picture = {0};
    ct_status    status = CT_OK;
    for (int32_t i = 0; status == CT_OK && i < e->sequences; i++)
        status = add_jitter(e, s, odom, i, &sum, &count, &picture, err);
    if (count > CT__SAMPLES_LEAST && sum > 0) jitter = sqrt(sum / (double)count);
    if (status == CT_OK && jitter > COPIES * own) {
        const double value[] = {own, jitter};
        status = ct__report(e, s, -1, CT_FINDING_TRUTH_COPIES_SENSOR, 2, value, err);
        ct__picture_slope(&picture, -0.5);
        if (status == CT_OK)
            status = ct__picture_report(e, &picture, "truth less odometry, over a step (m)", "over the next step (m)",
                                        err);
    }
    ct__picture_free(&picture);
    return status;
}

ct_status ct__find_truth_made_of(ct__exam *e, ct_err *err)
{
    const ct__sensor *odom = NULL;
    for (int32_t i = 0; i < e->sensors; i++)
        if (e->sensor[i].odometry && e->sensor[i].fit && !e->sensor[i].estimated) odom = &e->sensor[i];
    for (int32_t i = 0; odom && i < e->sensors; i++) {
        const ct__sensor *s = &e->sensor[i];
        if (s->fit && !s->estimated && s->measured && is_position(s)) CT_TRY(find_copy(e, s, odom, err));
    }
    return CT_OK;
}
