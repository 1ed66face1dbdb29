/* rows.c: residuals under faults, and their derivatives by the faults.
 *
 *     r(phi) = h(F^-1 x(t + d), mount o Exp(m)) - (w - b u) / s
 *
 * Derivatives are taken at the predicted value, which has no noise: at the measured one, noise would make scales too
 * small.
 *
 *     delay    J xi, xi the body velocity          drift    (t - t0) J xi
 *     bias     -u/s dr/dw_i                         scale    -value_i/s dr/dw_i
 *     wheel    -(way of the wheel) (dr/dw_x / 2 -+ dr/dw_yaw / track)
 *     mount    dr/dm by differences; of relative poses J_b (I - Ad(z^-1)), of absolute ones J
 *     frame    -J Ad(y^-1), y the pose about the centre of the frame
 */
#include "doctor/doctor.h"
#include "graph/biased.h"

#include <math.h>
#include <stdio.h>

#define STEP 1e-6 /* of differences, in m and rad */

void ct__fault_none(const ct__sensor *s, ct__fault *f)
{
    *f = (ct__fault){0};
    for (int i = 0; i < CT_ROWS_MAX; i++) f->scale[i] = f->unit[i] = 1, f->axis[i] = i + 1;
    f->wheel[0] = f->wheel[1] = 1;
    if (ct__is_pose(s->pose)) ct_kind_identity(s->pose, f->frame);
}

/* ---- The view of a sample -------------------------------------------------------------------- */

typedef struct {
    const ct_factor_ops *ops;
    ct_factor            f;
    double               z[CT_FIELDS_MAX * CT_SIZE_MAX];      /* corrected */
    double               x[CT_ARITY_MAX][CT_SIZE_MAX], twist[CT_ARITY_MAX][CT_DIM_MAX];
    uint8_t              moves[CT_ARITY_MAX];
    const double        *arg[CT_ARITY_MAX];
    double               J[CT_ARITY_MAX][CT_ROWS_MAX * CT_DIM_MAX];
    double               w[CT_ROWS_MAX];                      /* predicted value */
    double               u, t;
} view;

double ct__sample_duration(const ct__exam *e, const ct__sensor *s, const ct__sample *q)
{
    const ct__exam_sequence *n = &e->sequence[q->sequence];
    if (!s->odometry || !s->timed) return 1;
    const ct_factor f = ct_graph_factor(n->seq->graph, q->factor);
    return fabs(n->t[f.var[1]] - n->t[f.var[0]]);
}

/* F^-1 x about the centre: C E^-1 C^-1 x. */
static void unframe(const ct__sensor *s, const ct__fault *f, double *x)
{
    double    y[CT_SIZE_MAX], inverse[CT_SIZE_MAX];
    const int n = s->pose == CT_SE2 ? 2 : 3;
    memcpy(y, x, sizeof y);
    for (int i = 0; i < n; i++) y[i] -= s->centre[i];
    if (s->pose == CT_SE2) {
        ct_se2 e, p, o;
        memcpy(&e, f->frame, sizeof e);
        memcpy(&p, y, sizeof p);
        o = ct_se2_compose(ct_se2_inverse(e, NULL), p, NULL, NULL);
        memcpy(inverse, &o, sizeof o);
    } else {
        ct_se3 e, p, o;
        memcpy(&e, f->frame, sizeof e);
        memcpy(&p, y, sizeof p);
        o = ct_se3_compose(ct_se3_inverse(e, NULL), p, NULL, NULL);
        memcpy(inverse, &o, sizeof o);
    }
    memcpy(x, inverse, (size_t)ct_kind_size(s->pose) * sizeof *x);
    for (int i = 0; i < n; i++) x[i] += s->centre[i];
}

static int place_variables(const ct__exam *e, const ct__sensor *s, const ct__sample *q, const ct__fault *f, view *v)
{
    const ct__exam_sequence *n = &e->sequence[q->sequence];
    for (int i = 0; i < v->ops->arity; i++) {
        const int32_t var = v->f.var[i];
        v->moves[i] = n->moving[var];
        v->arg[i] = v->x[i];
        if (v->moves[i]) {
            const double t = n->t[var], at = s->timed ? t + f->delay + f->drift * (t - n->t0) : t;
            if (!ct__pose_at(n, var, at, v->x[i], v->twist[i])) return 0;
            if (s->tied && v->ops->kind[i] == s->pose) unframe(s, f, v->x[i]);
        } else {
            if (!n->whole[var]) return 0;
            memcpy(v->x[i], n->x + n->seq->graph->offset[var], (size_t)ct_kind_size(v->ops->kind[i]) * sizeof(double));
        }
    }
    return 1;
}

/* Rows of wheels: ahead, and turn. */
static int ahead_row(const ct__sensor *s) { return s->pose == CT_SE3 ? 3 : 0; }
#define TURN_ROW 2

/* The way of a wheel: 0 the left one, on the side of positive y. */
static double way_of(const ct__sensor *s, const double *w, int wheel)
{
    return w[ahead_row(s)] + (wheel ? 0.5 : -0.5) * s->track * w[TURN_ROW];
}

static void correct_wheels(const ct__sensor *s, const ct__fault *f, double *w)
{
    if (!(s->track > 0)) return;
    const double left = way_of(s, w, 0) / f->wheel[0], right = way_of(s, w, 1) / f->wheel[1];
    w[ahead_row(s)] = (left + right) / 2;
    w[TURN_ROW] = (right - left) / s->track;
}

/* v->z <- the measurement without its faults. */
static void correct(const ct__sensor *s, const ct__fault *f, view *v)
{
    double w[CT_ROWS_MAX];
    memcpy(v->z, v->f.z, (size_t)ct_factor_z_size(v->ops) * sizeof *v->z);
    if (s->measured) {
        ct__value_of(s, v->z, w);
        ct__value_true(f, s->rows, w, w);
        correct_wheels(s, f, w);
        for (int i = 0; i < s->rows; i++) w[i] = (w[i] - f->bias[i] * v->u) / f->scale[i];
        ct__value_set(s, w, v->z);
    }
    if (s->offset >= 0) ct_kind_retract(s->mount, v->z + s->offset, f->mount, v->z + s->offset);
}

/* z <- the measurement that the values predict: the residual there is zero. Residuals are differences from z, or
 * logarithms from z, so one step is exact for most models. */
static void predict(const ct__sensor *s, view *v, double *z)
{
    double r[CT_ROWS_MAX], w[CT_ROWS_MAX];
    memcpy(z, v->z, (size_t)ct_factor_z_size(v->ops) * sizeof *z);
    for (int k = 0; k < 2; k++) {
        ct_factor_eval(v->ops, z, v->f.context, v->arg, r, NULL);
        if (s->measured == 1 && ct__is_pose(v->ops->field[0])) ct_kind_retract(v->ops->field[0], z, r, z);
        else {
            ct__value_of(s, z, w);
            for (int i = 0; i < s->rows; i++) w[i] += r[i];
            ct__value_set(s, w, z);
        }
    }
    ct__value_of(s, z, v->w);
}

/* ---- Derivatives ------------------------------------------------------------------------------ */

/* dr/dw by differences at the predicted value. */
static void by_value(const ct__sensor *s, view *v, const double *z, double *G)
{
    const int n = s->rows;
    double    a[CT_ROWS_MAX], b[CT_ROWS_MAX], other[CT_FIELDS_MAX * CT_SIZE_MAX];
    for (int i = 0; i < n; i++) {
        const double h = STEP * fmax(1, fabs(v->w[i])), w = v->w[i];
        memcpy(other, z, sizeof other);
        v->w[i] = w + h;
        ct__value_set(s, v->w, other);
        ct_factor_eval(v->ops, other, v->f.context, v->arg, a, NULL);
        v->w[i] = w - h;
        ct__value_set(s, v->w, other);
        ct_factor_eval(v->ops, other, v->f.context, v->arg, b, NULL);
        v->w[i] = w;
        for (int k = 0; k < n; k++) G[k * n + i] = (a[k] - b[k]) / (2 * h);
    }
}

/* Sum over moving variables of J xi. */
static void by_time(const ct__sensor *s, const view *v, double *out)
{
    for (int k = 0; k < s->rows; k++) out[k] = 0;
    for (int i = 0; i < v->ops->arity; i++) {
        const int dim = ct_kind_dim(v->ops->kind[i]);
        for (int k = 0; v->moves[i] && k < s->rows; k++)
            for (int c = 0; c < dim; c++) out[k] += v->J[i][k * dim + c] * v->twist[i][c];
    }
}

static void adjoint_of_inverse(ct_kind kind, const double *x, double *Ad)
{
    if (kind == CT_SE2) {
        ct_se2 a;
        memcpy(&a, x, sizeof a);
        ct_se2_adjoint(ct_se2_inverse(a, NULL), Ad);
    } else {
        ct_se3 a;
        memcpy(&a, x, sizeof a);
        ct_se3_adjoint(ct_se3_inverse(a, NULL), Ad);
    }
}

/* out[k] = sum_c J[k][c] A[c][col]. */
static void multiply_column(int rows, int dim, const double *J, const double *A, int col, double *out)
{
    for (int k = 0; k < rows; k++) {
        out[k] = 0;
        for (int c = 0; c < dim; c++) out[k] += J[k * dim + c] * A[c * dim + col];
    }
}

static void by_mount(const ct__sensor *s, view *v, const double *z, int i, double *out)
{
    const int dim = ct__is_pose(s->pose) ? ct_kind_dim(s->pose) : 0;
    if (s->offset >= 0) {
        double d[CT_DIM_MAX] = {0}, a[CT_ROWS_MAX], b[CT_ROWS_MAX], other[CT_FIELDS_MAX * CT_SIZE_MAX];
        memcpy(other, z, sizeof other);
        d[i] = STEP;
        ct_kind_retract(s->mount, z + s->offset, d, other + s->offset);
        ct_factor_eval(v->ops, other, v->f.context, v->arg, a, NULL);
        d[i] = -STEP;
        ct_kind_retract(s->mount, z + s->offset, d, other + s->offset);
        ct_factor_eval(v->ops, other, v->f.context, v->arg, b, NULL);
        for (int k = 0; k < s->rows; k++) out[k] = (a[k] - b[k]) / (2 * STEP);
        return;
    }
    double A[CT_DIM_MAX * CT_DIM_MAX] = {0};
    if (v->ops->arity == 2) adjoint_of_inverse(s->pose, z, A);
    for (int k = 0; k < dim * dim; k++) A[k] = (k % (dim + 1) == 0) - A[k];
    multiply_column(s->rows, dim, v->J[v->ops->arity - 1], A, i, out);
}

static void by_frame(const ct__sensor *s, const view *v, int i, double *out)
{
    const int dim = ct_kind_dim(s->pose);
    double    y[CT_SIZE_MAX], A[CT_DIM_MAX * CT_DIM_MAX];
    memcpy(y, v->x[0], sizeof y);
    for (int k = 0; k < (s->pose == CT_SE2 ? 2 : 3); k++) y[k] -= s->centre[k];
    adjoint_of_inverse(s->pose, y, A);
    multiply_column(s->rows, dim, v->J[0], A, i, out);
    for (int k = 0; k < s->rows; k++) out[k] = -out[k];
}

static void by_wheel(const ct__sensor *s, const ct__fault *f, const view *v, const double *G, int i, double *out)
{
    const double way = way_of(s, v->w, i) / f->wheel[i], turn = (i ? 1 : -1) / s->track;
    for (int k = 0; k < s->rows; k++)
        out[k] = -way * (0.5 * G[k * s->rows + ahead_row(s)] + turn * G[k * s->rows + TURN_ROW]);
}

static void differentiate(const ct__sensor *s, const ct__fault *f, view *v, const double *z, double *D)
{
    const int n = s->rows, p = s->params;
    double    G[CT_ROWS_MAX * CT_ROWS_MAX] = {0}, motion[CT_ROWS_MAX], r[CT_ROWS_MAX], *J[CT_ARITY_MAX];
    for (int i = 0; i < CT_ARITY_MAX; i++) J[i] = v->J[i];
    ct_factor_eval(v->ops, z, v->f.context, v->arg, r, J);
    if (s->measured) by_value(s, v, z, G);
    by_time(s, v, motion);
    for (int j = 0; j < p; j++) {
        const int i = s->param[j].row;
        double    d[CT_ROWS_MAX] = {0};
        switch (s->param[j].kind) {
        case CT__FAULT_DELAY: memcpy(d, motion, sizeof d); break;
        case CT__FAULT_DRIFT:
            for (int k = 0; k < n; k++) d[k] = motion[k] * v->t;
            break;
        case CT__FAULT_BIAS:
            for (int k = 0; k < n; k++) d[k] = -v->u / f->scale[i] * G[k * n + i];
            break;
        case CT__FAULT_SCALE:
            for (int k = 0; k < n; k++) d[k] = -v->w[i] / f->scale[i] * G[k * n + i];
            break;
        case CT__FAULT_WHEEL: by_wheel(s, f, v, G, i, d); break;
        case CT__FAULT_MOUNT: by_mount(s, v, z, i, d); break;
        case CT__FAULT_FRAME: by_frame(s, v, i, d); break;
        }
        for (int k = 0; k < n; k++) D[k * p + j] = d[k];
    }
}

int ct__sample_row(const ct__exam *e, const ct__sensor *s, const ct__sample *q, const ct__fault *f, double *r,
                   double *D, double *w)
{
    const ct__exam_sequence *n = &e->sequence[q->sequence];
    view                     v = {.ops = s->ops, .f = ct__without_bias(ct_graph_factor(n->seq->graph, q->factor))};
    double                   z[CT_FIELDS_MAX * CT_SIZE_MAX] = {0};
    v.u = ct__sample_duration(e, s, q);
    v.t = q->t - n->t0;
    if (!place_variables(e, s, q, f, &v)) return 0;
    correct(s, f, &v);
    if (!s->tied && s->ops->arity == 2 && s->offset < 0 && s->measured == 1 && ct__is_pose(s->ops->field[0])) {
        /* the mount of a relative pose: z in the body's frame is M z M^-1 */
        double m[CT_SIZE_MAX], back[CT_SIZE_MAX], minus[CT_DIM_MAX], identity[CT_SIZE_MAX], d[CT_DIM_MAX];
        ct_kind_identity(s->pose, identity);
        for (int i = 0; i < ct_kind_dim(s->pose); i++) minus[i] = -f->mount[i];
        ct_kind_retract(s->pose, identity, f->mount, m);
        ct_kind_local(s->pose, identity, v.z, d);
        ct_kind_retract(s->pose, m, d, back);
        ct_kind_retract(s->pose, back, minus, v.z);
    } else if (s->tied && s->offset < 0 && s->measured == 1 && ct__is_pose(s->ops->field[0])) {
        double minus[CT_DIM_MAX]; /* z = x M: the body is at z M^-1 */
        for (int i = 0; i < ct_kind_dim(s->pose); i++) minus[i] = -f->mount[i];
        ct_kind_retract(s->pose, v.z, minus, v.z);
    }
    ct_factor_eval(v.ops, v.z, v.f.context, v.arg, r, NULL);
    if (s->measured) predict(s, &v, z);
    else memcpy(z, v.z, sizeof z);
    if (D) differentiate(s, f, &v, z, D);
    if (w) memcpy(w, v.w, sizeof v.w);
    const double root = sqrt(v.f.multiplier);
    for (int i = 0; i < s->rows; i++) {
        r[i] /= root;
        if (s->absent[i] || s->blind[i]) { /* not measured, or at an estimate that follows the sensor */
            r[i] = 0;
            for (int j = 0; D && j < s->params; j++) D[i * s->params + j] = 0;
        }
        if (!isfinite(r[i])) return 0;
        for (int j = 0; D && j < s->params; j++) {
            D[i * s->params + j] /= root;
            if (!isfinite(D[i * s->params + j])) return 0;
        }
    }
    return 1;
}

/* ---- Parameters ------------------------------------------------------------------------------ */

void ct__fault_step(const ct__sensor *s, const double *step, ct__fault *f)
{
    double frame[CT_DIM_MAX] = {0};
    for (int j = 0; j < s->params; j++) {
        const int i = s->param[j].row;
        switch (s->param[j].kind) {
        case CT__FAULT_DELAY: f->delay += step[j]; break;
        case CT__FAULT_DRIFT: f->drift = fmax(-CT__DRIFT_MOST, fmin(CT__DRIFT_MOST, f->drift + step[j])); break;
        case CT__FAULT_BIAS: f->bias[i] += step[j]; break;
        case CT__FAULT_SCALE: f->scale[i] = fmax(0.05 * f->scale[i], f->scale[i] + step[j]); break;
        case CT__FAULT_WHEEL: f->wheel[i] = fmax(0.05 * f->wheel[i], f->wheel[i] + step[j]); break;
        case CT__FAULT_MOUNT: f->mount[i] += step[j]; break;
        case CT__FAULT_FRAME: frame[i] = step[j]; break;
        }
    }
    if (ct__is_pose(s->pose)) ct_kind_retract(s->pose, f->frame, frame, f->frame);
}

double ct__fault_value(const ct__sensor *s, const ct__fault *f, int param)
{
    const int i = s->param[param].row;
    double    frame[CT_DIM_MAX], identity[CT_SIZE_MAX];
    switch (s->param[param].kind) {
    case CT__FAULT_DELAY: return f->delay;
    case CT__FAULT_DRIFT: return f->drift;
    case CT__FAULT_BIAS: return f->bias[i];
    case CT__FAULT_SCALE: return f->scale[i] - 1;
    case CT__FAULT_WHEEL: return f->wheel[i] - 1;
    case CT__FAULT_MOUNT: return f->mount[i];
    case CT__FAULT_FRAME: break;
    }
    ct_kind_identity(s->pose, identity);
    ct_kind_local(s->pose, identity, f->frame, frame);
    return frame[i];
}

const char *ct__param_name(const ct__sensor *s, int param, char *buf, size_t size)
{
    const int   i = s->param[param].row;
    const char *row = s->ops->coordinate[i] ? s->ops->coordinate[i] : "value";
    const ct_kind mount = s->offset >= 0 ? s->mount : s->pose;
    switch (s->param[param].kind) {
    case CT__FAULT_DELAY: snprintf(buf, size, "%s delay", s->name); break;
    case CT__FAULT_DRIFT: snprintf(buf, size, "%s clock drift", s->name); break;
    case CT__FAULT_BIAS: snprintf(buf, size, "%s.%s bias", s->name, row); break;
    case CT__FAULT_SCALE: snprintf(buf, size, "%s.%s scale", s->name, row); break;
    case CT__FAULT_WHEEL: snprintf(buf, size, "%s.%s scale", s->name, i ? "right" : "left"); break;
    case CT__FAULT_MOUNT: snprintf(buf, size, "%s mount %s", s->name, ct_kind_coordinate(mount, i)); break;
    case CT__FAULT_FRAME: snprintf(buf, size, "%s frame %s", s->name, ct_kind_coordinate(s->pose, i)); break;
    }
    return buf;
}
