/* report.c: findings with their evidence and corrections. */
#include "doctor/doctor.h"

#include <math.h>
#include <stdio.h>

#define POINTS_MOST 1000 /* of a picture */

static ct_status extend(ct__exam *e, ct_err *err)
{
    ct_diagnosis *d = e->out;
    CT_TRY(ct__grow(&d->correction_of, &e->finding_capacity, d->findings.count, sizeof *d->correction_of, "findings",
                    err));
    d->correction_of[d->findings.count - 1] = -1;
    return CT_OK;
}

void ct__subject_name(const ct__sensor *s, int row, char name[128])
{
    if (row < 0) snprintf(name, 128, "%s", s->name);
    else if (row >= CT__ROW_WHEELS) snprintf(name, 128, "%s.%s", s->name, row > CT__ROW_WHEELS ? "right" : "left");
    else snprintf(name, 128, "%s.%s", s->name, s->ops->coordinate[row] ? s->ops->coordinate[row] : "value");
}

ct_status ct__report(ct__exam *e, const ct__sensor *s, int row, ct_finding_code code, int values, const double *value,
                     ct_err *err)
{
    char name[128];
    CT_TRY(ct_findings_add(&e->out->findings, code, values, value, err));
    CT_TRY(extend(e, err));
    if (!s) return CT_OK;
    ct__subject_name(s, row, name);
    return ct_findings_add_subject(&e->out->findings, CT_SUBJECT_MODEL, s->model[0], 0, name, err);
}

int ct__can_correct(ct_correction_kind kind, int count, const double *value)
{
    for (int i = 0; i < count; i++) {
        if (!(fabs(value[i]) < 1e9)) return 0;
        const int positive = kind == CT_CORRECT_LASTING || kind == CT_CORRECT_LASTING_EACH ||
                             kind == CT_CORRECT_WHEELS || kind == CT_CORRECT_STEPS || kind == CT_CORRECT_WRAP;
        if (positive && !(value[i] > 0)) return 0;
        if (kind == CT_CORRECT_SIGMA && value[i] < 0) return 0;
    }
    return kind != CT_CORRECT_KERNEL || value[1] > 0;
}

ct_status ct__report_correction(ct__exam *e, const ct__sensor *s, int32_t recording, ct_correction_kind kind, int count,
                                const double *value, double error, ct_err *err)
{
    ct_diagnosis *d = e->out;
    ct_correction c = {.kind = kind, .count = count};
    if (!ct__can_correct(kind, count, value)) return CT_OK;
    const int64_t need = (int64_t)d->corrections + 1;
    CT_TRY(ct__grow(&d->correction, &e->correction_capacity, need, sizeof *d->correction, "corrections", err));
    CT_TRY(ct__grow(&d->correction_error, &e->error_capacity, need, sizeof *d->correction_error, "corrections", err));
    snprintf(c.sensor, sizeof c.sensor, "%s", s ? s->name : "truth");
    if (recording >= 0) snprintf(c.recording, sizeof c.recording, "%s", e->recording[recording]);
    memcpy(c.value, value, (size_t)count * sizeof *value);
    d->correction_error[d->corrections] = error;
    d->correction[d->corrections++] = c;
    return CT_OK;
}

static double *copy(int64_t n, int64_t every, const double *from)
{
    double *to = ct__zalloc((n + every - 1) / every, sizeof *to);
    for (int64_t i = 0; to && i < n; i += every) to[i / every] = from[i];
    return to;
}

ct_status ct__report_evidence(ct__exam *e, const char *x_label, const char *y_label, int64_t points, const double *x,
                              const double *y, int lines, const double *line_x, const double *line_y, ct_err *err)
{
    ct_diagnosis *d = e->out;
    const int64_t every = CT_MAX(1, (points + POINTS_MOST - 1) / POINTS_MOST);
    ct_evidence   v = {.finding = d->findings.count - 1,
                       .points = (int32_t)((points + every - 1) / every),
                       .x = copy(points, every, x),
                       .y = copy(points, every, y),
                       .lines = lines,
                       .line_x = copy(lines, 1, line_x),
                       .line_y = copy(lines, 1, line_y)};
    snprintf(v.x_label, sizeof v.x_label, "%s", x_label);
    snprintf(v.y_label, sizeof v.y_label, "%s", y_label);
    ct_status status = v.x && v.y && v.line_x && v.line_y ? CT_OK : ct__no_memory(err, "points", points);
    if (status == CT_OK)
        status = ct__grow(&d->evidence, &e->evidence_capacity, (int64_t)d->evidences + 1, sizeof *d->evidence,
                          "pictures", err);
    if (status == CT_OK) {
        d->evidence[d->evidences++] = v;
        return CT_OK;
    }
    free(v.x);
    free(v.y);
    free(v.line_x);
    free(v.line_y);
    return status;
}

static void free_evidence(ct_evidence *v)
{
    free(v->x);
    free(v->y);
    free(v->line_x);
    free(v->line_y);
}

void ct__remove_finding(ct_diagnosis *d, int32_t i)
{
    ct_finding *f = &d->findings.item[i];
    for (int32_t k = 0; k < f->subjects; k++) free(f->subject[k].name);
    free(f->subject);
    d->findings.count--;
    memmove(f, f + 1, (size_t)(d->findings.count - i) * sizeof *f);
    memmove(d->correction_of + i, d->correction_of + i + 1,
            (size_t)(d->findings.count - i) * sizeof *d->correction_of);
    int32_t n = 0;
    for (int32_t k = 0; k < d->evidences; k++) {
        ct_evidence v = d->evidence[k];
        if (v.finding == i) {
            free_evidence(&v);
            continue;
        }
        v.finding -= v.finding > i;
        d->evidence[n++] = v;
    }
    d->evidences = n;
}

/* ---- Pictures ---------------------------------------------------------------------------------- */

ct_status ct__picture_add(ct__picture *p, double x, double y, ct_err *err)
{
    if (!isfinite(x) || !isfinite(y)) return CT_OK;
    CT_TRY(ct__grow(&p->x, &p->x_capacity, p->count + 1, sizeof *p->x, "points", err));
    CT_TRY(ct__grow(&p->y, &p->y_capacity, p->count + 1, sizeof *p->y, "points", err));
    p->x[p->count] = x;
    p->y[p->count++] = y;
    return CT_OK;
}

static void span(ct__picture *p)
{
    p->line_x[0] = INFINITY, p->line_x[1] = -INFINITY;
    for (int64_t k = 0; k < p->count; k++) {
        p->line_x[0] = fmin(p->line_x[0], p->x[k]);
        p->line_x[1] = fmax(p->line_x[1], p->x[k]);
    }
}

void ct__picture_level(ct__picture *p, double y)
{
    span(p);
    p->line_y[0] = p->line_y[1] = y;
}

void ct__picture_slope(ct__picture *p, double slope)
{
    span(p);
    for (int i = 0; i < 2; i++) p->line_y[i] = slope * p->line_x[i];
}

ct_status ct__picture_report(ct__exam *e, const ct__picture *p, const char *x_label, const char *y_label, ct_err *err)
{
    if (!p->count) return CT_OK;
    return ct__report_evidence(e, x_label, y_label, p->count, p->x, p->y, 2, p->line_x, p->line_y, err);
}

void ct__picture_free(ct__picture *p)
{
    free(p->x);
    free(p->y);
    *p = (ct__picture){0};
}

const char *ct__time_label(const ct__exam_sequence *s) { return s->timed ? "time (s)" : "number of the pose"; }

double ct__time_of(const ct__exam_sequence *s, int32_t variable) { return s->t[variable] - s->t0; }
