/* corrections.c: faults as corrections of a recipe.
 *
 *     measured row i  =  unit scale_i true_axis(i) + bias_i
 *
 * is mended by axes, then a scale of 1 / (unit scale_i), then a bias of bias_i / scale_i that is subtracted. Frames are
 * in frames.c. */
#include "doctor/doctor.h"

#include <math.h>
#include <stdio.h>

int ct__uses(const ct__sensor *s, ct__fault_kind kind)
{
    for (int j = 0; s->fit && j < s->params; j++)
        if (s->fit->use[j] && s->param[j].kind == kind) return 1;
    return 0;
}

double ct__error_of(const ct__sensor *s, ct__fault_kind kind)
{
    double error = 0;
    for (int j = 0; s->fit && j < s->params; j++)
        if (s->fit->use[j] && s->param[j].kind == kind) error = fmax(error, s->fit->error[j]);
    return error;
}

static ct_status correct_mount(ct__exam *e, const ct__sensor *s, const ct__fault *f, int32_t recording, ct_err *err)
{
    const ct_kind kind = s->offset >= 0 ? s->mount : s->pose;
    const double  error = ct__error_of(s, CT__FAULT_MOUNT);
    double        value[CT_CORRECTION_VALUES] = {0}, identity[CT_SIZE_MAX], x[CT_SIZE_MAX];
    if (!ct__is_pose(kind))
        return ct__report_correction(e, s, recording, CT_CORRECT_MOUNT, ct_kind_dim(kind), f->mount, error, err);
    ct_kind_identity(kind, identity);
    ct_kind_retract(kind, identity, f->mount, x);
    ct_kind_to_fields(kind, x, value);
    return ct__report_correction(e, s, recording, CT_CORRECT_MOUNT, ct_kind_fields(kind), value, error, err);
}

static ct_status correct_rows(ct__exam *e, const ct__sensor *s, const ct__fault *f, int32_t recording, ct_err *err)
{
    double scale[CT_ROWS_MAX], bias[CT_ROWS_MAX], axes[CT_ROWS_MAX];
    int    scaled = ct__uses(s, CT__FAULT_SCALE), permuted = 0;
    for (int i = 0; i < s->rows; i++) {
        scale[i] = 1 / (f->unit[i] * f->scale[i]);
        bias[i] = f->bias[i] / f->scale[i];
        axes[i] = f->axis[i];
        scaled |= f->unit[i] < 1 || f->unit[i] > 1;
        permuted |= f->axis[i] != i + 1;
    }
    if (permuted) CT_TRY(ct__report_correction(e, s, recording, CT_CORRECT_AXES, s->rows, axes, 0, err));
    if (scaled)
        CT_TRY(ct__report_correction(e, s, recording, CT_CORRECT_SCALE, s->rows, scale,
                                     ct__error_of(s, CT__FAULT_SCALE), err));
    if (!ct__uses(s, CT__FAULT_BIAS)) return CT_OK;
    return ct__report_correction(e, s, recording, CT_CORRECT_BIAS, s->rows, bias, ct__error_of(s, CT__FAULT_BIAS), err);
}

ct_status ct__correct_sensor(ct__exam *e, const ct__sensor *s, const ct__fault *f, int32_t recording, ct_err *err)
{
    const double delay = ct__error_of(s, CT__FAULT_DELAY), drift = ct__error_of(s, CT__FAULT_DRIFT);
    if (ct__uses(s, CT__FAULT_DELAY))
        CT_TRY(ct__report_correction(e, s, recording, CT_CORRECT_DELAY, 1, &f->delay, delay, err));
    if (ct__uses(s, CT__FAULT_DRIFT))
        CT_TRY(ct__report_correction(e, s, recording, CT_CORRECT_DRIFT, 1, &f->drift, drift, err));
    if (ct__uses(s, CT__FAULT_WHEEL)) {
        const double wheels[2] = {1 / f->wheel[0], 1 / f->wheel[1]}, error = ct__error_of(s, CT__FAULT_WHEEL);
        CT_TRY(ct__report_correction(e, s, recording, CT_CORRECT_WHEELS, 2, wheels, error, err));
    }
    CT_TRY(correct_rows(e, s, f, recording, err));
    return ct__uses(s, CT__FAULT_MOUNT) ? correct_mount(e, s, f, recording, err) : CT_OK;
}

/* ---- Common delay ------------------------------------------------------------------------------ */

static int has_delay(const ct__sensor *s, int *param)
{
    for (*param = 0; s->fit && *param < s->params; ++*param)
        if (s->param[*param].kind == CT__FAULT_DELAY) return 1;
    return 0;
}

/* The mean delay by information; 0: sensors differ, or one has none, or there is one sensor only. */
static int common_delay(const ct__exam *e, double *delay, double *error)
{
    double sum = 0, weight = 0;
    int    sensors = 0, j;
    for (int32_t i = 0; i < e->sensors; i++) {
        const ct__sensor *s = &e->sensor[i];
        if (!has_delay(s, &j) || s->fit->samples < CT__SAMPLES_LEAST) continue;
        if (!s->fit->use[j] || s->fit->use[j] == 3) return 0;
        const double w = 1 / (s->fit->error[j] * s->fit->error[j]);
        sum += w * s->fault.delay;
        weight += w;
        sensors++;
    }
    if (sensors < 2) return 0;
    *delay = sum / weight;
    *error = 1 / sqrt(weight);
    for (int32_t i = 0; i < e->sensors; i++) {
        const ct__sensor *s = &e->sensor[i];
        if (!has_delay(s, &j) || s->fit->samples < CT__SAMPLES_LEAST) continue;
        if (fabs(s->fault.delay - *delay) > 4 * s->fit->error[j]) return 0;
    }
    return e->truth_late || fabs(*delay) > 4 * *error;
}

/* The picture of the delay that shows most, apart from its finding: index -1. */
static void set_apart(ct_diagnosis *d)
{
    ct_evidence *best = NULL;
    double       most = 0;
    for (int32_t k = 0; k < d->evidences; k++) {
        const ct_finding *f = &d->findings.item[d->evidence[k].finding];
        if (f->code == CT_FINDING_SENSOR_DELAY && f->value[2] > most) best = &d->evidence[k], most = f->value[2];
    }
    if (best) best->finding = -1;
}

/* The picture is that of the last finding. */
static void give_back(ct_diagnosis *d)
{
    for (int32_t k = 0; k < d->evidences; k++)
        if (d->evidence[k].finding < 0) d->evidence[k].finding = d->findings.count - 1;
}

ct_status ct__find_common_delay(ct__exam *e, ct_err *err)
{
    ct_diagnosis *d = e->out;
    double        delay, error, sigmas = 0;
    int32_t       n = 0;
    if (!common_delay(e, &delay, &error)) return CT_OK;
    e->truth_late = 1;
    set_apart(d);
    for (int32_t i = d->findings.count - 1; i >= 0; i--) {
        if (d->findings.item[i].code != CT_FINDING_SENSOR_DELAY) continue;
        sigmas = fmax(sigmas, d->findings.item[i].value[2]);
        ct__remove_finding(d, i);
    }
    for (int32_t k = 0; k < d->corrections; k++) {
        if (d->correction[k].kind == CT_CORRECT_DELAY) continue;
        d->correction_error[n] = d->correction_error[k];
        d->correction[n++] = d->correction[k];
    }
    d->corrections = n;
    delay = -delay;
    const double value[] = {delay, error, sigmas, NAN, NAN};
    CT_TRY(ct__report(e, NULL, -1, CT_FINDING_SENSOR_DELAY, 5, value, err));
    give_back(d);
    CT_TRY(ct_findings_add_subject(&d->findings, CT_SUBJECT_MODEL, -1, 0, "truth", err));
    return ct__report_correction(e, NULL, -1, CT_CORRECT_DELAY, 1, &delay, error, err);
}

/* ---- Of which finding ------------------------------------------------------------------------- */

static int kind_of(ct_finding_code code)
{
    switch (code) {
    case CT_FINDING_SENSOR_DELAY: return CT_CORRECT_DELAY;
    case CT_FINDING_CLOCK_DRIFT: return CT_CORRECT_DRIFT;
    case CT_FINDING_SENSOR_UNITS:
    case CT_FINDING_SENSOR_SCALE: return CT_CORRECT_SCALE;
    case CT_FINDING_SENSOR_BIAS:
    case CT_FINDING_RATE_BIAS: return CT_CORRECT_BIAS;
    case CT_FINDING_SENSOR_AXES: return CT_CORRECT_AXES;
    case CT_FINDING_TRUTH_TURNED:
    case CT_FINDING_SENSOR_MOUNT:
    case CT_FINDING_SENSOR_TURNED: return CT_CORRECT_MOUNT;
    case CT_FINDING_SENSOR_IN_OTHER_FRAME: return CT_CORRECT_FRAME;
    case CT_FINDING_OUTLIERS:
    case CT_FINDING_HEAVY_TAILS: return CT_CORRECT_KERNEL;
    case CT_FINDING_ROWS_CORRELATED: return CT_CORRECT_FULL;
    case CT_FINDING_ERRORS_AUTOCORRELATED: return CT_CORRECT_LASTING;
    case CT_FINDING_TRUTH_NOISE: return CT_CORRECT_SIGMA;
    case CT_FINDING_QUATERNION_ORDER: return CT_CORRECT_QUATERNION;
    case CT_FINDING_CAMERA_AXES: return CT_CORRECT_CAMERA;
    case CT_FINDING_NED_AXES: return CT_CORRECT_NED;
    case CT_FINDING_COMPASS_HEADING: return CT_CORRECT_COMPASS;
    case CT_FINDING_INVERSE_POSES: return CT_CORRECT_INVERSE;
    case CT_FINDING_CLOCK_JUMPS: return CT_CORRECT_STEPS;
    case CT_FINDING_COUNTERS_WRAP: return CT_CORRECT_WRAP;
    default: return -1;
    }
}

/* Does the subject, the model "gps" or its row "gps.x", belong to the sensor? */
static int is_of(const ct_recipe *recipe, const char *subject, const char *sensor)
{
    const size_t n = strlen(sensor);
    char         model[64], name[64];
    if (!strncmp(subject, sensor, n) && (!subject[n] || subject[n] == '.')) return 1;
    if (!recipe) return 0;
    snprintf(model, sizeof model, "%.*s", (int)CT_MIN(strcspn(subject, "."), sizeof model - 1), subject);
    return ct__recipe_sensor_of(recipe, model, name) && !strcmp(name, sensor);
}

/* The first correction of a kind for the finding; -1: none. */
static int32_t find_correction(const ct_diagnosis *d, const ct_recipe *recipe, const ct_finding *f, int kind)
{
    for (int32_t k = 0; k < d->corrections && kind >= 0 && f->subjects; k++) {
        const ct_correction *c = &d->correction[k];
        const int            world = kind == CT_CORRECT_FRAME || kind == CT_CORRECT_SIGMA;
        const int            truth = world && !strcmp(c->sensor, "truth");
        const int            each = kind == CT_CORRECT_LASTING && c->kind == CT_CORRECT_LASTING_EACH;
        const int            elsewhere = kind == CT_CORRECT_STEPS && strcmp(c->recording, f->subject[1].name) != 0;
        const int            same = !elsewhere && ((int)c->kind == kind || each);
        if (same && (truth || is_of(recipe, f->subject[0].name, c->sensor))) return k;
    }
    return -1;
}

static int is_of_wheel(const ct_finding *f)
{
    const char *row = f->subjects ? strchr(f->subject[0].name, '.') : NULL;
    return f->code == CT_FINDING_SENSOR_SCALE && row && (!strcmp(row, ".left") || !strcmp(row, ".right"));
}

/* A model of noise with more parameters, which the errors at the truth suggest. Estimates may get worse by it. */
static int is_model(ct_correction_kind kind)
{
    return kind == CT_CORRECT_FULL || kind == CT_CORRECT_LASTING || kind == CT_CORRECT_LASTING_EACH;
}

/* Mistakes first, models behind them; each in their order. */
static void sort_corrections(ct_diagnosis *d)
{
    d->mending = 0;
    for (int32_t i = 0; i < d->corrections; i++) {
        const ct_correction c = d->correction[i];
        const double        error = d->correction_error[i];
        if (is_model(c.kind)) continue;
        const size_t behind = (size_t)(i - d->mending);
        memmove(d->correction + d->mending + 1, d->correction + d->mending, behind * sizeof *d->correction);
        memmove(d->correction_error + d->mending + 1, d->correction_error + d->mending, behind * sizeof error);
        d->correction[d->mending] = c;
        d->correction_error[d->mending++] = error;
    }
}

void ct__assign_corrections(ct_diagnosis *d, const ct_recipe *recipe)
{
    sort_corrections(d);
    for (int32_t i = 0; i < d->findings.count; i++) {
        const ct_finding *f = &d->findings.item[i];
        const int         units = f->code == CT_FINDING_SENSOR_UNITS; /* a scale; or degrees, where poses are read */
        const int32_t     degrees = units ? find_correction(d, recipe, f, CT_CORRECT_DEGREES) : -1;
        const int         kind = is_of_wheel(f) ? (int)CT_CORRECT_WHEELS : kind_of(f->code);
        d->correction_of[i] = degrees >= 0 ? degrees : find_correction(d, recipe, f, kind);
    }
}
