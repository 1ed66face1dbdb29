/* frames.c: the frame of the truth, jointly from all sensors that place the body in the world.
 *
 * Each sensor i that is tied to the world is fitted with all coordinates of its frame beside its other faults. That
 * gives its frame E_i and an information Lambda_i, in which other faults are marginalised: the Schur complement of
 * theirs. Frames are compared about one centre; with M = Ad(C^-1 C_i), C_i the sensor's own centre,
 *
 *     d_i = Log(R^-1 E_i),   Lambda_i <- M^-T Lambda_i M^-1,   d = (sum Lambda_i)^-1 sum Lambda_i d_i,   R <- R Exp(d)
 *
 * has the covariance (sum Lambda_i)^-1. A direction that a sensor does not determine, as the turn about its only
 * beacon, has no information in it. If sensors agree, which the sum of (d_i - d)' Lambda_i (d_i - d) tests, the frame
 * is that of the truth. A sensor that does not show a frame by itself, and fits without one clearly better than with
 * the common one, is against it: frames are then those of the sensors, in later imports as well. There all sensors
 * agree, because one was corrected, and what is left of its frame is not the truth's.
 *
 * A coordinate that is near zero stays in the estimate: leaving it out moves the others, and costs more than its error
 * wherever it is not zero. */
#include "doctor/doctor.h"

#include <math.h>

#define STEPS    4    /* of Gauss-Newton on the group                                               */
#define AGREE    1e-6 /* chance of a disagreement, as of five standard errors                       */
#define AGAINST  6.0  /* by which twice the loss of a sensor rises: three nats                      */
#define RIDGE    1e-9 /* of the information: a direction that no sensor determines keeps its value  */
#define HEADINGS 5.0  /* standard errors by which the bias of a heading and an angle differ at most */

/* The frame about the origin: F = C E C^-1. */
static ct_se3 about_origin(ct_kind kind, const double *centre, const double *frame)
{
    const ct_se3 C = {centre[0], centre[1], centre[2], 0, 0, 0, 1};
    ct_se3       E;
    if (kind == CT_SE2) {
        const double half = 0.5 * atan2(frame[3], frame[2]);
        E = (ct_se3){frame[0], frame[1], 0, 0, 0, sin(half), cos(half)};
    } else memcpy(&E, frame, sizeof E);
    return ct_se3_compose(ct_se3_compose(C, E, NULL, NULL), ct_se3_inverse(C, NULL), NULL, NULL);
}

/* E = C^-1 F C. */
static void about_centre(ct_kind kind, const double *centre, ct_se3 F, double *frame)
{
    const ct_se3 C = {centre[0], centre[1], centre[2], 0, 0, 0, 1};
    const ct_se3 E = ct_se3_compose(ct_se3_compose(ct_se3_inverse(C, NULL), F, NULL, NULL), C, NULL, NULL);
    if (kind == CT_SE2) {
        const double half = atan2(E.qz, E.qw);
        const double planar[4] = {E.x, E.y, cos(2 * half), sin(2 * half)};
        memcpy(frame, planar, sizeof planar);
    } else memcpy(frame, &E, sizeof E);
}

/* As a recipe writes a pose: x y yaw, or x y z and a quaternion. Returns how many numbers. */
static int pose_fields(ct_kind kind, ct_se3 T, double *value)
{
    if (kind == CT_SE2) {
        value[0] = T.x, value[1] = T.y, value[2] = 2 * atan2(T.qz, T.qw);
        value[2] = remainder(value[2], 6.283185307179586) + 0.0; /* no -0 */
        return 3;
    }
    memcpy(value, &T, sizeof T);
    return 7;
}

/* ---- One sensor -------------------------------------------------------------------------------- */

#define SQUARE (CT_DIM_MAX * CT_DIM_MAX)

/* A frame about a centre, and its information. */
typedef struct {
    ct_kind kind;
    int     dim;
    double  centre[3], frame[CT_SIZE_MAX], information[SQUARE];
} frame_estimate;

static int can_show_frame(const ct__sensor *s)
{
    for (int j = 0; s->fit && s->fit->e && j < s->params; j++)
        if (s->param[j].kind == CT__FAULT_FRAME) return 1;
    return 0;
}

/* Frame coordinates of the information without the other parameters: L_ff - L_fo L_oo^-1 L_of. */
static void marginalise(const ct__sensor *s, const ct__fit *fit, frame_estimate *out)
{
    int    f[CT__PARAMS_MAX], o[CT__PARAMS_MAX], others = 0;
    double C[CT__PARAMS_MAX * CT__PARAMS_MAX];
    for (int i = 0; i < CT_DIM_MAX; i++) f[i] = -1;
    for (int j = 0; j < s->params; j++) {
        if (s->param[j].kind == CT__FAULT_FRAME && fit->use[j]) f[s->param[j].row] = j;
        else if (fit->use[j]) o[others++] = j;
    }
    const double *L = fit->information;
    for (int a = 0; a < others; a++)
        for (int b = 0; b < others; b++) C[a * others + b] = L[o[a] * s->params + o[b]];
    const int regular = others && ct__invert(others, C);
    for (int i = 0; i < out->dim; i++)
        for (int k = 0; k < out->dim; k++) {
            double sum = 0;
            if (f[i] >= 0 && f[k] >= 0) sum = L[f[i] * s->params + f[k]];
            for (int a = 0; regular && f[i] >= 0 && f[k] >= 0 && a < others; a++)
                for (int b = 0; b < others; b++)
                    sum -= L[f[i] * s->params + o[a]] * C[a * others + b] * L[o[b] * s->params + f[k]];
            out->information[i * out->dim + k] = sum;
        }
}

static ct_status estimate_one(ct__exam *e, ct__sensor *s, frame_estimate *out, ct_err *err)
{
    ct__fault       f;
    ct__fit         fit;
    const ct_status status = ct__fit_frame(e, s, &f, &fit, err);
    *out = (frame_estimate){.kind = s->pose, .dim = ct_kind_dim(s->pose)};
    memcpy(out->centre, s->centre, sizeof out->centre);
    memcpy(out->frame, f.frame, sizeof out->frame);
    if (status == CT_OK) marginalise(s, &fit, out);
    ct__fit_free(&fit);
    return status;
}

/* A <- T' A T. */
static void congruence(int n, const double *T, double *A)
{
    double B[SQUARE];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            B[i * n + j] = 0;
            for (int k = 0; k < n; k++) B[i * n + j] += A[i * n + k] * T[k * n + j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            A[i * n + j] = 0;
            for (int k = 0; k < n; k++) A[i * n + j] += T[k * n + i] * B[k * n + j];
        }
}

/* The adjoint of the shift from one centre to another, M = Ad(to^-1 from). */
static void shift_adjoint(ct_kind kind, const double *to, const double *from, double *M)
{
    const double d[3] = {from[0] - to[0], from[1] - to[1], from[2] - to[2]};
    if (kind == CT_SE2) ct_se2_adjoint((ct_se2){d[0], d[1], 1, 0}, M);
    else ct_se3_adjoint((ct_se3){d[0], d[1], d[2], 0, 0, 0, 1}, M);
}

/* The same frame about another centre: coordinates of the new one are M times those of the old one. */
static void move_centre(frame_estimate *f, const double *centre)
{
    double back[SQUARE];
    about_centre(f->kind, centre, about_origin(f->kind, f->centre, f->frame), f->frame);
    shift_adjoint(f->kind, f->centre, centre, back);
    congruence(f->dim, back, f->information);
    memcpy(f->centre, centre, sizeof f->centre);
}

/* ---- All sensors ------------------------------------------------------------------------------- */

typedef struct {
    int32_t         count;
    frame_estimate *item; /* about one centre      */
    ct__sensor    **sensor;
    frame_estimate  all;
    double          error[CT_DIM_MAX]; /* of all */
} frames;

static double quadratic(const frame_estimate *f, const double *d)
{
    double sum = 0;
    for (int i = 0; i < f->dim; i++)
        for (int k = 0; k < f->dim; k++) sum += d[i] * f->information[i * f->dim + k] * d[k];
    return sum;
}

/* C <- (Lambda + ridge)^-1, the ridge in units of the diagonal. 0: there is no information. */
static int invert_information(const frame_estimate *f, double *C)
{
    double d[CT_DIM_MAX];
    for (int i = 0; i < f->dim; i++) {
        const double own = f->information[i * f->dim + i];
        d[i] = own > 0 ? sqrt(own) : 1;
    }
    for (int i = 0; i < f->dim; i++)
        for (int k = 0; k < f->dim; k++)
            C[i * f->dim + k] = f->information[i * f->dim + k] / (d[i] * d[k]) + (i == k ? RIDGE : 0);
    if (!ct__invert(f->dim, C)) return 0;
    for (int i = 0; i < f->dim; i++)
        for (int k = 0; k < f->dim; k++) C[i * f->dim + k] /= d[i] * d[k];
    return 1;
}

/* all <- the joint estimate, from its frame on. */
static int combine(frames *t)
{
    const int n = t->all.dim;
    double    C[SQUARE];
    memset(t->all.information, 0, sizeof t->all.information);
    for (int32_t i = 0; i < t->count; i++)
        for (int k = 0; k < n * n; k++) t->all.information[k] += t->item[i].information[k];
    if (!invert_information(&t->all, C)) return 0;
    for (int step = 0; step < STEPS; step++) {
        double b[CT_DIM_MAX] = {0}, d[CT_DIM_MAX], own[CT_DIM_MAX];
        for (int32_t i = 0; i < t->count; i++) {
            ct_kind_local(t->all.kind, t->all.frame, t->item[i].frame, own);
            for (int a = 0; a < n; a++)
                for (int c = 0; c < n; c++) b[a] += t->item[i].information[a * n + c] * own[c];
        }
        for (int a = 0; a < n; a++) {
            d[a] = 0;
            for (int c = 0; c < n; c++) d[a] += C[a * n + c] * b[c];
        }
        ct_kind_retract(t->all.kind, t->all.frame, d, t->all.frame);
    }
    for (int i = 0; i < n; i++) t->error[i] = sqrt(C[i * n + i]);
    return 1;
}

/* Distance of a sensor's frame from another one, squared, in standard errors. */
static double distance(const frame_estimate *f, const double *frame)
{
    double d[CT_DIM_MAX];
    ct_kind_local(f->kind, frame, f->frame, d);
    return quadratic(f, d);
}

/* Is the joint frame that of all sensors? */
static int is_common(const frames *t)
{
    double sum = 0, none[CT_SIZE_MAX];
    ct_kind_identity(t->all.kind, none);
    for (int32_t i = 0; i < t->count; i++) {
        const double with = distance(&t->item[i], t->all.frame), without = distance(&t->item[i], none);
        if (!ct__uses(t->sensor[i], CT__FAULT_FRAME) && with - without > AGAINST) return 0;
        sum += with;
    }
    return t->count == 1 || ct__chi_squared_tail(sum, (t->count - 1) * t->all.dim) > AGREE;
}

static ct_status gather(ct__exam *e, frames *t, ct_err *err)
{
    const ct__sensor *first = NULL;
    double            centre[3] = {0, 0, 0};
    t->item = ct__zalloc(CT_MAX(1, e->sensors), sizeof *t->item); /* headings join later */
    t->sensor = ct__zalloc(CT_MAX(1, e->sensors), sizeof *t->sensor);
    if (!t->item || !t->sensor) return ct__no_memory(err, "sensors", e->sensors);
    for (int32_t i = 0; i < e->sensors; i++)
        if (!first && can_show_frame(&e->sensor[i]) && ct__uses(&e->sensor[i], CT__FAULT_FRAME)) first = &e->sensor[i];
    for (int32_t i = 0; first && i < e->sensors; i++) {
        ct__sensor *s = &e->sensor[i];
        if (!can_show_frame(s) || s->pose != first->pose) continue;
        CT_TRY(estimate_one(e, s, &t->item[t->count], err));
        t->sensor[t->count++] = s;
    }
    for (int32_t i = 0; i < t->count; i++)
        for (int k = 0; k < 3; k++) centre[k] += t->item[i].centre[k] / t->count;
    for (int32_t i = 0; i < t->count; i++) {
        move_centre(&t->item[i], centre);
        if (t->sensor[i] == first) t->all = t->item[i];
    }
    return CT_OK;
}

/* ---- Findings and corrections ------------------------------------------------------------------ */

static int is_of(const ct_finding *f, const ct__sensor *s)
{
    const size_t n = strlen(s->name);
    return f->subjects && !strncmp(f->subject[0].name, s->name, n) &&
           (!f->subject[0].name[n] || f->subject[0].name[n] == '.');
}

static void drop_correction(ct_diagnosis *d, ct_correction_kind kind, const char *sensor)
{
    int32_t n = 0;
    for (int32_t k = 0; k < d->corrections; k++) {
        if (d->correction[k].kind == kind && !strcmp(d->correction[k].sensor, sensor)) continue;
        d->correction_error[n] = d->correction_error[k];
        d->correction[n++] = d->correction[k];
    }
    d->corrections = n;
}

/* A truth that is turned by an angle gives every heading a bias of that size: it is not one of the sensor. The bias
 * then counts for the angle. 1: there is such a sensor. */
static int explain_headings(ct__exam *e, frames *t)
{
    const int yaw = 2; /* the turn about the vertical, of SE(2) and SE(3) */
    double    identity[CT_SIZE_MAX], d[CT_DIM_MAX];
    int       any = 0;
    ct_kind_identity(t->all.kind, identity);
    ct_kind_local(t->all.kind, identity, t->all.frame, d);
    for (int32_t i = 0; i < e->sensors; i++) {
        const ct__sensor *s = &e->sensor[i];
        const int         heading = s->ops->arity == 1 && s->tied && s->rows == 1 && ct__row_turns(s, 0);
        const double      error = ct__error_of(s, CT__FAULT_BIAS);
        const double      off = remainder(d[yaw] + s->fault.bias[0], 6.283185307179586);
        if (!heading || !ct__uses(s, CT__FAULT_BIAS) || fabs(off) > HEADINGS * hypot(t->error[yaw], error)) continue;
        for (int32_t k = e->out->findings.count - 1; k >= 0; k--)
            if (e->out->findings.item[k].code == CT_FINDING_SENSOR_BIAS && is_of(&e->out->findings.item[k], s))
                ct__remove_finding(e->out, k);
        drop_correction(e->out, CT_CORRECT_BIAS, s->name);
        frame_estimate own = t->all;
        double         step[CT_DIM_MAX] = {0};
        step[yaw] = -off;
        ct_kind_retract(own.kind, t->all.frame, step, own.frame);
        memset(own.information, 0, sizeof own.information);
        own.information[yaw * own.dim + yaw] = 1 / (error * error);
        t->item[t->count++] = own;
        any = 1;
    }
    return any;
}

/* Sizes of the findings on frames: the joint frame, about the centre of each sensor. */
static void set_findings(ct__exam *e, const frames *t)
{
    for (int32_t i = 0; i < t->count; i++) {
        const ct__sensor *s = t->sensor[i];
        frame_estimate    own = t->all;
        double            C[SQUARE], d[CT_DIM_MAX], identity[CT_SIZE_MAX], v[3] = {0}, turn = 0, error[2] = {0};
        if (!s) continue;
        move_centre(&own, s->centre);
        if (!invert_information(&own, C)) continue;
        ct_kind_identity(own.kind, identity);
        ct_kind_local(own.kind, identity, own.frame, d);
        for (int k = 0; k < own.dim; k++) {
            const int turns = ct__turns[own.kind] >> k & 1;
            error[turns] = fmax(error[turns], sqrt(C[k * own.dim + k]));
            if (turns) turn = own.dim == 3 ? d[k] : hypot(turn, d[k]);
            else v[own.dim == 3 ? k : k - 3] = d[k];
        }
        const double value[] = {v[0], v[1], v[2], turn, error[0], error[1]};
        for (int32_t k = 0; k < e->out->findings.count; k++) {
            ct_finding *f = &e->out->findings.item[k];
            if (f->code == CT_FINDING_SENSOR_IN_OTHER_FRAME && is_of(f, s)) memcpy(f->value, value, sizeof value);
        }
    }
}

static ct_status correct_truth(ct__exam *e, frames *t, ct_err *err)
{
    double value[CT_CORRECTION_VALUES], identity[CT_SIZE_MAX], d[CT_DIM_MAX], most = 0;
    if (explain_headings(e, t)) combine(t);
    set_findings(e, t);
    ct_kind_identity(t->all.kind, identity);
    ct_kind_local(t->all.kind, identity, t->all.frame, d);
    for (int i = 0; i < t->all.dim; i++) {
        e->frame_moved = fmax(e->frame_moved, fabs(d[i]) / t->error[i]);
        most = fmax(most, t->error[i]);
    }
    const ct_se3 F = about_origin(t->all.kind, t->all.centre, t->all.frame);
    const int    n = pose_fields(t->all.kind, ct_se3_inverse(F, NULL), value);
    return ct__report_correction(e, NULL, -1, CT_CORRECT_FRAME, n, value, most, err);
}

static ct_status correct_sensors(ct__exam *e, ct_err *err)
{
    double value[CT_CORRECTION_VALUES];
    for (int32_t i = 0; i < e->sensors; i++) {
        const ct__sensor *s = &e->sensor[i];
        if (!ct__uses(s, CT__FAULT_FRAME)) continue;
        const int n = pose_fields(s->pose, about_origin(s->pose, s->centre, s->fault.frame), value);
        CT_TRY(ct__report_correction(e, s, -1, CT_CORRECT_FRAME, n, value, ct__error_of(s, CT__FAULT_FRAME), err));
    }
    return CT_OK;
}

ct_status ct__correct_frames(ct__exam *e, ct_err *err)
{
    frames    t = {0};
    ct_status status = gather(e, &t, err);
    if (status == CT_OK && t.count) {
        /* once a sensor is corrected, all agree: that is no frame of the truth */
        e->frames_apart |= !combine(&t) || !is_common(&t);
        status = e->frames_apart ? correct_sensors(e, err) : correct_truth(e, &t, err);
    }
    free(t.item);
    free(t.sensor);
    return status;
}
