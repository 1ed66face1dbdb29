/* faults.c: which faults of a sensor the data show, and their size.
 *
 * Forward selection: the fault with the largest ratio phi / error joins those in use, all are fitted together, and the
 * next is chosen among what remains; a fault that another explains is not chosen. Faults are not small: after each
 * choice residuals and derivatives are computed again under the faults so far (Gauss-Newton). A fault must pass the
 * level of one test, and make errors that are not small against the noise.
 *
 * With several recordings the chosen faults are fitted in each. If they differ by more than their errors, each
 * recording has its own correction; the size of the finding is their mean, its error that of the mean. */
#include "doctor/fault_table.h"

#include <math.h>

#define SCALE_MOST   4.0  /* a factor beyond is no scale of this row                                     */
#define FAULT        4.0  /* of the loss: what one more fault must explain at least                       */
#define BESIDE       2.5  /* standard errors: the other coordinates of a displacement that was found     */

/* ---- Selection -------------------------------------------------------------------------------- */

/* Parameter j joins those in use, unless it does not hold when it is applied: then it is closed. */
static ct_status try_fault(ct__table *t, int j, ct__fit *fit, ct__fault *f, ct_err *err)
{
    const ct__fault before = *f;
    fit->use[j] = 1;
    CT_TRY(ct__table_settle(t, 1, fit, f, err));
    const ct__trial trial = ct__table_trial(t, fit);
    if (ct__gain(&trial, &before, f) > 0 && ct__delay_holds(&trial, f)) return CT_OK;
    fit->use[j] = 0;
    t->s->closed[j] = 1;
    *f = before;
    return ct__table_settle(t, 1, fit, f, err);
}

static int choose(const ct__table *t, const ct__fit *fit)
{
    const ct__sensor *s = t->s;
    int               best = -1;
    for (int j = 0; j < s->params; j++) {
        if (fit->use[j] || !ct__table_open(s, j) || fit->effect[j] < ct__least_effect(s)) continue;
        if (ct__student_tail(fit->wald[j], fit->degrees) > t->e->alpha) continue;
        if (best < 0 || fabs(fit->wald[j]) > fabs(fit->wald[best])) best = j;
    }
    return best;
}

static int is_turn(const ct__sensor *s, int j)
{
    const ct_kind kind = s->param[j].kind == CT__FAULT_MOUNT && s->offset >= 0 ? s->mount : s->pose;
    return ct__turns[kind] >> s->param[j].row & 1;
}

/* 1: two coordinates of one displacement or turn. */
static int belong_together(const ct__sensor *s, int j, int k)
{
    const ct__fault_kind kind = s->param[j].kind;
    return kind == s->param[k].kind && (kind == CT__FAULT_MOUNT || kind == CT__FAULT_FRAME) &&
           is_turn(s, j) == is_turn(s, k);
}

static int add_beside(const ct__sensor *s, ct__fit *fit)
{
    int added = 0;
    for (int j = 0; j < s->params; j++)
        for (int k = 0; k < s->params; k++)
            if (fit->use[j] == 1 && !fit->use[k] && ct__table_open(s, k) && belong_together(s, j, k) &&
                fabs(fit->wald[k]) > BESIDE)
                fit->use[k] = 2, added = 1;
    return added;
}

/* Drops what is not significant beside the others any more. 1: something was. */
static int drop(const ct__table *t, const ct__fault *f, ct__fit *fit)
{
    const ct__sensor *s = t->s;
    int               worst = -1;
    double            ratio = INFINITY;
    for (int j = 0; j < s->params; j++) {
        if (fit->use[j] != 1) continue;
        const int    scale = s->param[j].kind == CT__FAULT_SCALE;
        const int    wild = scale && fabs(log(f->scale[s->param[j].row])) > log(SCALE_MOST);
        const double now = wild ? 0 : fabs(ct__fault_value(s, f, j)) / fit->error[j];
        if (ct__student_tail(now, fit->degrees) < t->e->alpha || now >= ratio) continue;
        if (wild) t->s->still[s->param[j].row] = 1;
        ratio = now;
        worst = j;
    }
    if (worst >= 0) fit->use[worst] = 0;
    return worst >= 0;
}

/* The fault without what is not in use. */
static void reset_unused(const ct__sensor *s, const ct__fit *fit, ct__fault *f)
{
    ct__fault none;
    ct__fault_none(s, &none);
    memcpy(none.axis, f->axis, sizeof none.axis);
    memcpy(none.unit, f->unit, sizeof none.unit);
    double step[CT__PARAMS_MAX] = {0};
    for (int j = 0; j < s->params; j++)
        if (fit->use[j]) step[j] = ct__fault_value(s, f, j);
    ct__fault_step(s, step, &none);
    *f = none;
}

int ct__forces(const ct__forced *forced, const ct__sensor *s, int j)
{
    return forced->loops == s->loops && !strcmp(forced->name, s->name) && forced->param.kind == s->param[j].kind &&
           forced->param.row == s->param[j].row;
}

/* Faults that are not looked for: what others explained before; delays that are given, and the drift, which would take
 * the place of one. */
static void close_given(ct__table *t)
{
    const ct__exam *e = t->e;
    const int       settled = e->settled && ct__exact_has(e->settled, t->s->name);
    for (int j = 0; j < t->s->params; j++) {
        const ct__fault_kind kind = t->s->param[j].kind;
        if (settled && (kind == CT__FAULT_DELAY || kind == CT__FAULT_DRIFT)) t->s->closed[j] = 1;
        for (int32_t i = 0; i < e->excludeds; i++)
            if (ct__forces(&e->excluded[i], t->s, j)) t->s->closed[j] = 1;
    }
}

static void start_at(const ct__sensor *s, double delay, ct__fit *fit, ct__fault *f)
{
    for (int j = 0; j < s->params; j++)
        if (s->param[j].kind == CT__FAULT_DELAY && ct__table_open(s, j)) fit->use[j] = 1, f->delay = delay;
}

/* delay: with which it begins; NAN: none. */
static ct_status select_from(ct__table *t, double delay, ct__fit *fit, ct__fault *f, ct_err *err)
{
    close_given(t);
    if (!isnan(delay)) start_at(t->s, delay, fit, f);
    for (int j = 0; j < t->s->params; j++)
        for (int32_t i = 0; i < t->e->forceds; i++)
            if (!t->s->closed[j] && ct__forces(&t->e->forced[i], t->s, j))
                fit->use[j] = t->e->forced[i].by_recording ? 3 : 2;
    for (int j = 0; j < t->s->params; j++) /* a frame that large faults began with */
        if (t->s->param[j].kind == CT__FAULT_FRAME && fabs(ct__fault_value(t->s, f, j)) > 0) fit->use[j] = 1;
    CT_TRY(ct__table_settle(t, 1, fit, f, err));
    if (t->s->odometry && ct__is_exact(t->e, t->s, t->count, t->from, fit->e)) {
        t->s->exact = 1;
        CT_TRY(ct__table_settle(t, 1, fit, f, err));
    }
    for (int i = 0; i < t->s->params; i++) {
        const int j = choose(t, fit);
        if (j < 0) break;
        CT_TRY(try_fault(t, j, fit, f, err));
    }
    if (add_beside(t->s, fit)) CT_TRY(ct__table_settle(t, 1, fit, f, err));
    for (int i = 0; i < t->s->params && drop(t, f, fit); i++) {
        reset_unused(t->s, fit, f);
        CT_TRY(ct__table_settle(t, 1, fit, f, err));
    }
    for (int found = 1, i = 0; found && i < t->s->params; i++) {
        CT_TRY(ct__choose_by_recording(t, fit, f, &found, err));
        if (found) CT_TRY(ct__table_settle(t, 1, fit, f, err));
    }
    return ct__table_settle(t, 0, fit, f, err);
}

/* ---- Delays that are given to begin with ------------------------------------------------------- */

static int count_faults(const ct__sensor *s, const ct__fit *fit)
{
    int n = 0;
    for (int j = 0; j < s->params; j++) n += fit->use[j] != 0;
    return n;
}

/* Do the faults b explain more than a, for their number? Under the sigmas of either. */
static int explains_more(const ct__table *t, const ct__fit *fit_a, const ct__fault *a, const ct__fit *fit_b,
                         const ct__fault *b)
{
    const ct__trial with_a = ct__table_trial(t, fit_a), with_b = ct__table_trial(t, fit_b);
    const double    gain = (ct__gain(&with_a, a, b) + ct__gain(&with_b, a, b)) / 2;
    return gain > 1 + FAULT * (count_faults(t->s, fit_b) - count_faults(t->s, fit_a)) && ct__delay_holds(&with_b, b);
}

/* Faults that are selected after this delay take the place of the others, if they explain more. */
static ct_status try_delay(ct__table *t, double delay, const ct__fault *start, ct__fit *fit, ct__fault *f, ct_err *err)
{
    const ct__sensor was = *t->s;
    ct__fit          other = {0};
    ct__fault        fault = *start;
    memcpy(t->s->closed, t->closed, sizeof t->closed);
    memcpy(t->s->still, t->still, sizeof t->still);
    t->s->exact = 0;
    ct_status status = select_from(t, delay, &other, &fault, err);
    if (status == CT_OK && other.e && explains_more(t, fit, f, &other, &fault)) {
        ct__fit_free(fit);
        *fit = other;
        *f = fault;
        return CT_OK;
    }
    ct__fit_free(&other);
    *t->s = was;
    ct__table_fill(t, f);
    return status;
}

static int looks_for_delay(const ct__table *t)
{
    for (int j = 0; j < t->s->params && !t->e->forceds; j++)
        if (t->s->param[j].kind == CT__FAULT_DELAY && ct__table_open(t->s, j)) return 1;
    return 0;
}

/* A delay of more than a step is not found from derivatives, and one that odometry has may be the truth's: what it does
 * to positions looks like a mount. */
static ct_status select_faults(ct__table *t, ct__fit *fit, ct__fault *f, ct_err *err)
{
    const ct__fault start = *f;
    double          delay[2] = {NAN, t->s->odometry ? NAN : t->e->delay};
    close_given(t);
    memcpy(t->closed, t->s->closed, sizeof t->closed);
    memcpy(t->still, t->s->still, sizeof t->still);
    if (looks_for_delay(t)) CT_TRY(ct__scan_delay(t->e, t->s, &delay[0], err));
    else delay[1] = NAN;
    CT_TRY(select_from(t, NAN, fit, f, err));
    for (int i = 0; i < 2; i++)
        if (!isnan(delay[i])) CT_TRY(try_delay(t, delay[i], &start, fit, f, err));
    return CT_OK;
}

/* Robust sigmas of each noise model. */
static void find_sigmas(ct__table *t, ct__fit *fit)
{
    const ct__sensor *s = t->s;
    for (int32_t m = 0; m < s->models; m++)
        for (int i = 0; i < s->rows; i++) {
            int64_t n = 0;
            double  square = 0;
            for (int32_t k = 0; k < t->count; k++) {
                if (s->sample[t->from[k]].model != m) continue;
                t->room[n++] = fit->e[(int64_t)k * s->rows + i];
                square += t->room[n - 1] * t->room[n - 1];
            }
            fit->sigma[m][i] = n ? ct__robust_sigma(n, t->room) : 1;
            if (!(fit->sigma[m][i] > 1e-6 * sqrt(square / (double)CT_MAX(1, n))))
                fit->sigma[m][i] = square > 0 ? sqrt(square / (double)n) : 1;
        }
}

/* ---- Findings --------------------------------------------------------------------------------- */

static ct_status show(const ct__table *t, const ct__fit *fit, const ct__fault *f, int j, ct_err *err)
{
    const ct__regression g = ct__table_regression(t);
    return ct__show_fault(t->e, t->s, &g, t->from, fit, ct__fault_value(t->s, f, j), j, err);
}

static ct_status report_one(ct__table *t, const ct__fit *fit, const ct__fault *f, const ct__by_recording *b, int j,
                            ct_err *err)
{
    const ct__sensor *s = t->s;
    const int         many = b->recordings > 1;
    const double      size = many ? b->mean[j] : ct__fault_value(s, f, j);
    const double      error = many ? b->mean_error[j] : fit->error[j];
    const double      effect = fit->unit_effect[j] * fabs(size), spread = many ? b->spread[j] : NAN;
    double            value[5] = {size, error, effect, spread, NAN};
    ct_finding_code   code = CT_FINDING_SENSOR_DELAY;
    int               row = -1;
    switch (s->param[j].kind) {
    case CT__FAULT_DELAY: break;
    case CT__FAULT_DRIFT: code = CT_FINDING_CLOCK_DRIFT; break;
    case CT__FAULT_BIAS:
        code = s->odometry && s->timed ? CT_FINDING_RATE_BIAS : CT_FINDING_SENSOR_BIAS;
        row = s->param[j].row;
        break;
    case CT__FAULT_SCALE:
        code = CT_FINDING_SENSOR_SCALE;
        row = s->param[j].row;
        value[0] = 1 + size;
        break;
    case CT__FAULT_WHEEL:
        code = CT_FINDING_SENSOR_SCALE;
        row = CT__ROW_WHEELS + s->param[j].row;
        value[0] = 1 + size;
        break;
    case CT__FAULT_MOUNT:
    case CT__FAULT_FRAME: return CT_OK;
    }
    CT_TRY(ct__report(t->e, s, row, code, code == CT_FINDING_SENSOR_DELAY ? 5 : 4, value, err));
    return show(t, fit, f, j, err);
}

/* Coordinates of the mount or the frame that are in use: v translation, turn; the largest error of each; the index of
 * the largest ratio, -1: none. */
static int gather(const ct__table *t, const ct__fit *fit, const ct__fault *f, ct__fault_kind kind, int turn,
                  double v[3], double *error, double *effect)
{
    const ct__sensor *s = t->s;
    const ct_kind     group = kind == CT__FAULT_MOUNT && s->offset >= 0 ? s->mount : s->pose;
    int               best = -1;
    double            square = 0;
    v[0] = v[1] = v[2] = *error = 0;
    for (int j = 0; j < s->params; j++) {
        if (!fit->use[j] || s->param[j].kind != kind || is_turn(s, j) != turn) continue;
        const int i = s->param[j].row, at = !turn ? i - (group == CT_SE3 ? 3 : 0) : group == CT_SE2 ? 2 : i;
        v[at] = ct__fault_value(s, f, j);
        *error = fmax(*error, fit->error[j]);
        square += pow(v[at] * fit->unit_effect[j], 2);
        if (best < 0 || fabs(v[at]) / fit->error[j] > fabs(ct__fault_value(s, f, best)) / fit->error[best]) best = j;
    }
    *effect = sqrt(square);
    return best;
}

static ct_status report_displacements(ct__table *t, const ct__fit *fit, const ct__fault *f, ct_err *err)
{
    const ct__sensor *s = t->s;
    double            v[3], turn[3], error, angle_error, effect, other;
    for (int k = 0; k < 2; k++) {
        const int j = gather(t, fit, f, CT__FAULT_MOUNT, k, v, &error, &effect);
        if (j < 0) continue;
        const double value[] = {v[0], v[1], v[2], error, effect};
        CT_TRY(ct__report(t->e, s, -1, k ? CT_FINDING_SENSOR_TURNED : CT_FINDING_SENSOR_MOUNT, 5, value, err));
        CT_TRY(show(t, fit, f, j, err));
    }
    const int moved = gather(t, fit, f, CT__FAULT_FRAME, 0, v, &error, &effect);
    const int turned = gather(t, fit, f, CT__FAULT_FRAME, 1, turn, &angle_error, &other);
    if (moved < 0 && turned < 0) return CT_OK;
    const double angle = s->pose == CT_SE2 ? turn[2] : sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
    const double value[] = {v[0], v[1], v[2], angle, error, angle_error};
    CT_TRY(ct__report(t->e, s, -1, CT_FINDING_SENSOR_IN_OTHER_FRAME, 6, value, err));
    return show(t, fit, f, moved >= 0 ? moved : turned, err);
}

/* Recordings to test with whose corrections are from their own truth. */
static ct_status report_tested(ct__table *t, const ct__by_recording *b, ct_err *err)
{
    const ct__exam *e = t->e;
    int             any = 0;
    for (int32_t i = 0; i < b->recordings; i++) {
        if (e->trained[b->recording[i]]) continue;
        if (!any++) {
            CT_TRY(ct__report(t->e, NULL, -1, CT_FINDING_TEST_CORRECTED, 0, NULL, err));
            CT_TRY(ct_findings_add_subject(&e->out->findings, CT_SUBJECT_MODEL, t->s->model[0], 1, t->s->name, err));
        }
        CT_TRY(ct_findings_add_subject(&e->out->findings, CT_SUBJECT_SEQUENCE, -1, -1, e->recording[b->recording[i]],
                                       err));
    }
    return CT_OK;
}

static ct_status report_all(ct__table *t, const ct__fit *fit, const ct__fault *f, const ct__by_recording *b,
                            ct_err *err)
{
    for (int j = 0; j < t->s->params; j++)
        if (fit->use[j]) CT_TRY(report_one(t, fit, f, b, j, err));
    CT_TRY(report_displacements(t, fit, f, err));
    if (b->recordings < 2) return ct__correct_sensor(t->e, t->s, f, -1, err);
    for (int32_t i = 0; i < b->recordings; i++)
        CT_TRY(ct__correct_sensor(t->e, t->s, &b->fault[i], b->recording[i], err));
    return report_tested(t, b, err);
}

ct_status ct__find_faults(ct__exam *e, ct__sensor *s, ct_err *err)
{
    ct__table        t = {.e = e, .s = s, .recording = -1};
    ct__by_recording by = {0};
    CT_TRY(ct__table_new(&t, err));
    s->fit = ct__zalloc(1, sizeof *s->fit);
    ct_status status = s->fit ? CT_OK : ct__no_memory(err, "fits", 1);
    ct__table_fill(&t, &s->fault);
    if (status == CT_OK && t.count >= CT__SAMPLES_LEAST) {
        status = select_faults(&t, s->fit, &s->fault, err);
        if (status == CT_OK) status = ct__split_recordings(&t, s->fit, &s->fault, &by, err);
        if (status == CT_OK) status = report_all(&t, s->fit, &s->fault, &by, err);
        if (status == CT_OK && s->odometry && !by.recordings && ct__uses(s, CT__FAULT_DELAY)) e->delay = s->fault.delay;
        if (status == CT_OK) ct__take_errors(&t, &by, s->fit);
        if (status == CT_OK) find_sigmas(&t, s->fit);
        for (int32_t k = 0; k < t.count; k++) s->sample[k] = s->sample[t.from[k]]; /* those that have residuals */
        s->samples = t.count;
    } else {
        free(s->fit);
        s->fit = NULL;
    }
    ct__by_recording_free(&by);
    ct__table_free(&t);
    return status;
}

ct_status ct__fit_frame(ct__exam *e, ct__sensor *s, ct__fault *f, ct__fit *fit, ct_err *err)
{
    ct__table t = {.e = e, .s = s, .recording = -1};
    *f = s->fault;
    *fit = (ct__fit){0};
    CT_TRY(ct__table_new(&t, err));
    memcpy(fit->use, s->fit->use, sizeof fit->use);
    for (int j = 0; j < s->params; j++)
        if (s->param[j].kind == CT__FAULT_FRAME && ct__table_open(s, j)) fit->use[j] = 1;
    const ct_status status = ct__table_settle(&t, 0, fit, f, err);
    ct__table_free(&t);
    return status;
}
