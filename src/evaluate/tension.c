/* tension.c: signs that an estimate is in a far minimum, from residuals alone.
 *
 * In a far minimum most measurements agree, and a stretch of the path, where it changes from one wrong place to
 * another, does not. With q_k = 2 rho(|R r_k|) / rows of the factors of one noise model
 *
 *     tension = mean of all q / mean of the smallest four fifths
 *
 * It does not depend on the scale of the model, which may be wrong where it is still to be learned. Of normal residuals
 * it is 1.3 (six rows) to 2.3 (one row). Gross outliers raise that of absolute measurements. Relative ones (odometry)
 * have few. */
#include "data/start.h"
#include "graph/biased.h"
#include "evaluate/evaluate.h"
#include "graph/whiten.h"

#include <math.h>

#define MOST  0.8  /* of the residuals are typical                                                         */
#define LEAST 20   /* factors of a model, at least                                                         */
#define ON    1e-3 /* of the measured distance: the sensor is on top of the point, where weights are singular */
#define NEAR  1e-4 /* of the extent, where no distance is measured                                         */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int is_relative(const ct_factor_ops *ops)
{
    return ops == ct_factor_between(ops->kind[0]) || ops == &ct_velocity_se2 || ops == &ct_velocity_se3 ||
           ops == &ct_gtsam_between_se2 || ops == &ct_gtsam_between_se3;
}

static double share_of(const ct_graph *g, const ct_noise *noise, const ct__factor *f, const double *x)
{
    const double *at[CT_ARITY_MAX];
    double        r[CT_ROWS_MAX];
    for (int i = 0; i < f->ops->arity; i++) at[i] = x + g->offset[g->var_pool[f->var + i]];
    ct_factor_eval(f->ops, g->z_pool + f->z, f->context, at, r, NULL);
    ct__divide_by_factor_scale(g, noise, (int32_t)(f - g->factor), r, 0, NULL, NULL);
    return 2 * ct__whiten(ct_noise_get(noise, f->noise), f->ops->rows, r, 0, NULL, NULL) / f->ops->rows;
}

static double ratio(int64_t n, double *q)
{
    double all = 0, most = 0;
    qsort(q, (size_t)n, sizeof *q, compare);
    const int64_t typical = (int64_t)(MOST * (double)n);
    for (int64_t i = 0; i < n; i++) {
        all += q[i] / (double)n;
        if (i < typical) most += q[i] / (double)typical;
    }
    return most > 0 ? all / most : NAN;
}

/* Diagonal of the box around all poses. */
static double extent(const ct_graph *g, const double *x)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, sum = 0;
    for (int32_t v = 0; v < g->variables; v++)
        for (int i = 0; ct__is_pose((ct_kind)g->kind[v]) && i < (g->kind[v] == CT_SE2 ? 2 : 3); i++) {
            low[i] = fmin(low[i], x[g->offset[v] + i]);
            high[i] = fmax(high[i], x[g->offset[v] + i]);
        }
    for (int i = 0; i < 3; i++)
        if (high[i] > low[i]) sum += (high[i] - low[i]) * (high[i] - low[i]);
    return sqrt(sum);
}

/* 1 if the sensor of this factor is on top of the point that it sees from a distance. */
static int is_on_point(const ct_graph *g, int32_t index, const double *x, double size)
{
    const ct_factor f = ct_graph_factor(g, index);
    ct__sighting    s[CT__SIGHTINGS_MAX];
    double          at[3], p[3], sum = 0;
    if (ct__sightings_of(&f, s, NULL) != 1 || (s[0].sees == CT__SEES_POINT && !(s[0].range > 0))) return 0;
    const ct__rigid pose = ct__rigid_of(f.ops->kind[0], x + g->offset[s[0].pose]);
    ct__rigid_act(&pose, s[0].sensor, at);
    ct__sighted_point(g, &s[0], x, p);
    for (int i = 0; i < 3; i++) sum += (at[i] - p[i]) * (at[i] - p[i]);
    return sqrt(sum) < (s[0].sees == CT__SEES_BEARING ? NEAR * size : ON * s[0].range);
}

ct_status ct_tension_at(const ct_graph *graph, const ct_noise *noise, const double *x, ct_tension *out, ct_err *err)
{
    const int32_t models = ct_noise_count(noise);
    int64_t      *first = ct__zalloc((int64_t)models + 2, sizeof *first);
    double       *q = ct__zalloc(graph->factors, sizeof *q);
    uint8_t      *relative = ct__zalloc(models, 1);
    ct_status     status = first && q && relative ? CT_OK : ct__no_memory(err, "residuals", graph->factors);
    *out = (ct_tension){NAN, NAN, 0};
    if (status == CT_OK) status = ct_graph_check_noise(graph, noise, err);
    if (status == CT_OK) { /* q by model, by counting sort */
        const double size = extent(graph, x);
        for (int32_t f = 0; f < graph->factors; f++) first[graph->factor[f].noise + 2]++;
        for (int32_t m = 0; m < models; m++) first[m + 2] += first[m + 1];
        for (int32_t f = 0; f < graph->factors; f++) {
            const ct__factor *k = &graph->factor[f];
            relative[k->noise] = (uint8_t)is_relative(ct_factor_unbiased(k->ops));
            q[first[k->noise + 1]++] = share_of(graph, noise, k, x);
            out->on_points += is_on_point(graph, f, x, size);
        }
        for (int32_t m = 0; m < models; m++) {
            if (first[m + 1] - first[m] < LEAST) continue;
            double *const to = relative[m] ? &out->relative : &out->absolute;
            *to = fmax(*to, ratio(first[m + 1] - first[m], q + first[m]));
        }
    }
    free(first);
    free(q);
    free(relative);
    return status;
}
