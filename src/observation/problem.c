/* problem.c: the loss of many sequences as a function of a network's weights.
 *
 * With z_k o Exp(d) = Exp(y_k + dy): on R^n and SO(2), which commute, d = dy. On other groups d = Jr(y) dy, and
 *
 *     dL/dy = Jr(y)' dL/dd.
 *
 * A further output u is cut smoothly to log m (ct_net_multiplier): dL/du = dL/dlog m dlog m/du. */
#include "observation/observation.h"

#include "graph/graph.h"

#include <math.h>

ct_status ct__observed_new(int32_t count, const ct_observation of[], const ct_noise *noise, const ct_theta *theta,
                           const ct_outer_options *outer, const ct_net *net, ct__observed *s, ct_err *err)
{
    int64_t longest = 0, all = 0;
    *s = (ct__observed){.count = count, .of = of, .outputs = ct_net_outputs(net)};
    for (int32_t i = 0; i < count; i++) {
        CT_TRY(ct__observation_check(net, &of[i], &s->dim, err));
        if (!of[i].seq->truth)
            return ct_fail(err, CT_E_ARGUMENT, "sequence %s has no truth; a network is trained by that of every one",
                           ct_sequence_label(of[i].seq));
        longest = CT_MAX(longest, of[i].count);
        all += of[i].count;
    }
    const ct_sequence **seq = ct__zalloc(CT_MAX(1, count), sizeof *seq);
    s->by = ct__zalloc(CT_MAX(1, count), sizeof *s->by);
    s->y = ct__zalloc(2 * longest * s->outputs, sizeof *s->y);
    s->numbers = ct__zalloc(all * (s->dim + 1), sizeof *s->numbers);
    ct_status status = seq && s->by && s->y && s->numbers ? CT_OK : ct__no_memory(err, "measurements", all);
    s->dy = s->y + longest * s->outputs;
    for (int32_t i = 0; status == CT_OK && i < count; i++) seq[i] = of[i].seq;
    if (status == CT_OK) status = ct_outer_new(count, seq, noise, theta, outer, &s->outer, err);
    double *at = s->numbers;
    for (int32_t i = 0; status == CT_OK && i < count; i++) {
        const int64_t n = of[i].count;
        s->by[i] = (ct_measurement_gradient){.count = of[i].count, .factor = of[i].factor, .measurement = at};
        at += n * s->dim;
        if (s->outputs > s->dim) s->by[i].log_multiplier = at;
        at += n;
        status = ct_outer_watch_measurements(s->outer, i, &s->by[i], err);
    }
    free(seq);
    return status;
}

void ct__observed_free(ct__observed *s)
{
    ct_outer_free(s->outer);
    free(s->by);
    free(s->y);
    free(s->numbers);
}

ct_status ct__observed_apply(ct__observed *s, const ct_net *net, const uint8_t *part, ct_err *err)
{
    for (int32_t i = 0; i < s->count; i++) {
        if (part && !part[i]) continue;
        ct_net_predict_all(net, s->of[i].count, s->of[i].input, s->y);
        CT_TRY(ct__observation_set(&s->of[i], s->dim, s->outputs, s->y, err));
    }
    return CT_OK;
}

/* J <- the right Jacobian of the exponential at y: Exp(y + d) = Exp(y) Exp(J d). */
static void right_jacobian(ct_kind kind, const double *y, double *J)
{
    const int d = ct_kind_dim(kind);
    if (kind == CT_SE2) ct_se2_jr(y, J);
    else if (kind == CT_SO3) ct_so3_jr(y, J);
    else if (kind == CT_SE3) ct_se3_jr(y, J);
    else
        for (int i = 0; i < d * d; i++) J[i] = i % (d + 1) == 0;
}

/* dy <- derivatives by the outputs y of one measurement, from those by z. */
static void by_outputs(const ct__observed *s, ct_kind kind, const double *y, const double *dz, const double *by_log_m,
                       double *dy)
{
    double J[CT_DIM_MAX * CT_DIM_MAX];
    const int d = s->dim;
    right_jacobian(kind, y, J);
    for (int c = 0; c < d; c++) {
        dy[c] = 0;
        for (int i = 0; i < d; i++) dy[c] += J[i * d + c] * dz[i];
    }
    if (s->outputs == d) return;
    double slope;
    ct_net_multiplier(y[d], &slope);
    dy[d] = slope * *by_log_m;
}

ct_status ct__observed_value(ct__observed *s, const ct_net *net, const double *p, const uint8_t *part,
                             ct_outer_value *value, double *gradient, ct_err *err)
{
    int32_t parts = 0;
    CT_TRY(ct_outer_evaluate(s->outer, p, part, value, err));
    if (!gradient) return CT_OK;
    memset(gradient, 0, (size_t)ct_net_weights(net) * sizeof *gradient);
    for (int32_t i = 0; i < s->count; i++) parts += !part || part[i];
    for (int32_t i = 0; i < s->count && !value->failed; i++) {
        const ct_observation *o = &s->of[i];
        if (part && !part[i]) continue;
        const ct_kind kind = o->seq->graph->factor[o->factor[0]].ops->field[0];
        ct_net_predict_all(net, o->count, o->input, s->y);
        for (int64_t k = 0; k < o->count; k++)
            by_outputs(s, kind, s->y + k * s->outputs, s->by[i].measurement + k * s->dim,
                       s->by[i].log_multiplier ? s->by[i].log_multiplier + k : NULL, s->dy + k * s->outputs);
        for (int64_t k = 0; k < (int64_t)o->count * s->outputs; k++) s->dy[k] /= parts;
        ct_net_backward(net, o->count, o->input, s->dy, gradient);
    }
    return CT_OK;
}

ct_status ct_observation_gradient(int32_t count, const ct_observation of[], const ct_noise *noise,
                                  const ct_theta *theta, const ct_outer_options *outer, const ct_net *net, double *loss,
                                  double *gradient, ct_err *err)
{
    ct__observed   s;
    ct_outer_value value = {0};
    ct_status      status = ct__observed_new(count, of, noise, theta, outer, net, &s, err);
    double        *p = ct__zalloc(2 * (int64_t)CT_MAX(1, ct_theta_count(theta)), sizeof *p);
    if (status == CT_OK && !p) status = ct__no_memory(err, "parameters", ct_theta_count(theta));
    if (status == CT_OK) status = ct__observed_apply(&s, net, NULL, err);
    if (status == CT_OK) {
        ct_theta_get(theta, noise, p);
        value.gradient = p + ct_theta_count(theta);
        status = ct__observed_value(&s, net, p, NULL, &value, gradient, err);
        *loss = value.loss;
    }
    free(p);
    ct__observed_free(&s);
    return status;
}
