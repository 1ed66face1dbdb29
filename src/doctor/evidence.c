/* evidence.c: pictures of faults.
 *
 * Partial residuals: the error of a measured row without what the other faults do to it, over what the fault
 * multiplies. The points lie about a line through the origin whose slope is the fault:
 *
 *     y_k = -(e_k - d_k phi),   x_k = d_k,   line phi x
 *
 * with e the residual of the fit and d its derivative by the fault: of a delay the rate of the value, of a scale the
 * value. Where d does not vary (biases, shifts of a frame), x is time and the line is level. Of the rows that a fault
 * changes the one is shown where it changes most, in sigmas. */
#include "doctor/doctor.h"

#include <math.h>
#include <stdio.h>

#define VARIES 0.1 /* of the root mean square of d: where it varies by less, x is time */

static const char *row_name(const ct__sensor *s, int row)
{
    return s->ops->coordinate[row] ? s->ops->coordinate[row] : "value";
}

/* "m", or "1". */
static const char *row_unit(const ct__sensor *s, int row)
{
    return s->ops->unit[row] && *s->ops->unit[row] ? s->ops->unit[row] : "1";
}

/* The row that fault j changes most. */
static int find_row(const ct__regression *g, const ct__fit *fit, int j)
{
    double most[CT_ROWS_MAX] = {0};
    int    row = 0;
    for (int32_t k = 0; k < g->samples; k++)
        for (int i = 0; i < g->rows; i++) {
            const double d = g->D[((int64_t)k * g->rows + i) * g->params + j] / fit->scale[g->group[k]][i];
            most[i] += d * d;
        }
    for (int i = 1; i < g->rows; i++)
        if (most[i] > most[row]) row = i;
    return row;
}

static void label_x(const ct__sensor *s, int j, int row, int by_time, char out[64])
{
    const char *unit = row_unit(s, row);
    if (by_time) {
        snprintf(out, 64, "%s", s->timed ? "time (s)" : "number of the pose");
        return;
    }
    switch (s->param[j].kind) {
    case CT__FAULT_DELAY: snprintf(out, 64, "true rate of %.15s (%.8s/s)", row_name(s, row), unit); break;
    case CT__FAULT_DRIFT: snprintf(out, 64, "true rate of %.15s, times time (%.8s)", row_name(s, row), unit); break;
    case CT__FAULT_SCALE: snprintf(out, 64, "true value of %.15s (%.8s)", row_name(s, row), unit); break;
    case CT__FAULT_WHEEL: snprintf(out, 64, "change by twice the way of the wheel (%.8s)", unit); break;
    case CT__FAULT_MOUNT: snprintf(out, 64, "change by 1 m or 1 rad of the mount (%.8s)", unit); break;
    case CT__FAULT_FRAME: snprintf(out, 64, "change by 1 m or 1 rad of the frame (%.8s)", unit); break;
    case CT__FAULT_BIAS: snprintf(out, 64, "change by a bias of 1 (%.8s)", unit); break;
    }
}

/* x <- d of a row; 1: it varies. *mean <- its mean. */
static int find_derivative(const ct__regression *g, int j, int row, double *x, double *mean)
{
    double sum = 0, square = 0;
    for (int32_t k = 0; k < g->samples; k++) {
        x[k] = g->D[((int64_t)k * g->rows + row) * g->params + j];
        sum += x[k];
        square += x[k] * x[k];
    }
    *mean = sum / g->samples;
    return square / g->samples - *mean * *mean > VARIES * VARIES * square / g->samples;
}

ct_status ct__show_fault(ct__exam *e, const ct__sensor *s, const ct__regression *g, const int32_t *from,
                         const ct__fit *fit, double phi, int j, ct_err *err)
{
    const int row = find_row(g, fit, j);
    double    mean, line_x[2] = {INFINITY, -INFINITY}, line_y[2];
    char      x_label[64], y_label[64];
    double   *x = ct__zalloc(g->samples, sizeof *x), *y = ct__zalloc(g->samples, sizeof *y);
    ct_status status = x && y ? CT_OK : ct__no_memory(err, "samples", g->samples);
    if (status == CT_OK) {
        const int by_time = !find_derivative(g, j, row, x, &mean) || s->param[j].kind == CT__FAULT_BIAS;
        for (int32_t k = 0; k < g->samples; k++) {
            const ct__sample *q = &s->sample[from[k]];
            y[k] = x[k] * phi - fit->e[(int64_t)k * g->rows + row];
            if (by_time) x[k] = q->t - e->sequence[q->sequence].t0;
            line_x[0] = fmin(line_x[0], x[k]);
            line_x[1] = fmax(line_x[1], x[k]);
        }
        for (int i = 0; i < 2; i++) line_y[i] = phi * (by_time ? mean : line_x[i]);
        label_x(s, j, row, by_time, x_label);
        snprintf(y_label, sizeof y_label, "error of %.24s.%.15s (%.8s)", s->name, row_name(s, row), row_unit(s, row));
        status = ct__report_evidence(e, x_label, y_label, g->samples, x, y, 2, line_x, line_y, err);
    }
    free(x);
    free(y);
    return status;
}

ct_status ct__show_values(ct__exam *e, const ct__sensor *s, const ct__values *v, double slope, ct_err *err)
{
    double    line_x[2] = {INFINITY, -INFINITY}, line_y[2];
    char      x_label[64], y_label[64];
    double   *x = ct__zalloc(v->n, sizeof *x), *y = ct__zalloc(v->n, sizeof *y);
    ct_status status = x && y ? CT_OK : ct__no_memory(err, "samples", v->n);
    for (int32_t k = 0; status == CT_OK && k < v->n; k++) {
        y[k] = v->measured[(int64_t)k * v->stride + v->a];
        x[k] = v->predicted[(int64_t)k * v->stride + v->b];
        line_x[0] = fmin(line_x[0], x[k]);
        line_x[1] = fmax(line_x[1], x[k]);
    }
    for (int i = 0; i < 2; i++) line_y[i] = slope * line_x[i];
    snprintf(x_label, sizeof x_label, "true value of %.15s (%.8s)", row_name(s, v->column), row_unit(s, v->column));
    snprintf(y_label, sizeof y_label, "measured %.24s.%.15s", s->name, row_name(s, v->row));
    if (status == CT_OK) status = ct__report_evidence(e, x_label, y_label, v->n, x, y, 2, line_x, line_y, err);
    free(x);
    free(y);
    return status;
}
