/* grid.c: a signed distance sampled on a grid.
 *
 * Between samples it is bilinear: with (u, v) in [0, 1]^2 the place in a cell and A .. D the samples at its corners,
 *
 *     d = A + u (B - A) + v (C - A) + u v E,  E = A - B - C + D;   g = (B - A + v E, C - A + u E) / step;   H_xy = E
 *                                                                  / step^2
 *
 * Outside the grid, with c the nearest point of its edge, d(p) = d(c) + |p - c|: continuous, and positive because every
 * sample of the edge is. The gradient points away from the grid, so an estimate out there is moved back. (LEO's
 * estimator has no residual there, and no derivative.) */
#include "shape/shape.h"

#include <math.h>

#define SAMPLES_MAX 100000000 /* 800 MB */

static ct_status check_place(int32_t rows, int32_t columns, double x0, double y0, double step, ct_err *err)
{
    if (rows < 3 || columns < 3)
        return ct_fail(err, CT_E_ARGUMENT, "grid: it must have at least 3 x 3 samples, it has %d x %d", rows, columns);
    if ((int64_t)rows * columns > SAMPLES_MAX)
        return ct_fail(err, CT_E_LIMIT, "grid: it has %d x %d samples, more than %d", rows, columns, SAMPLES_MAX);
    if (!(step >= CT__LENGTH_LEAST && step <= CT__LENGTH_MOST))
        return ct_fail(err, CT_E_ARGUMENT, "grid: its step must be from %g to %g, it is %g", CT__LENGTH_LEAST,
                       CT__LENGTH_MOST, step);
    if (!(fabs(x0) <= CT__LENGTH_MOST && fabs(y0) <= CT__LENGTH_MOST))
        return ct_fail(err, CT_E_ARGUMENT,
                       "grid: its first sample is at (%g, %g), coordinates must be finite and at most %g", x0, y0,
                       CT__LENGTH_MOST);
    return CT_OK;
}

static ct_status check_samples(int32_t rows, int32_t columns, const double *value, ct_err *err)
{
    int inside = 0;
    for (int32_t r = 0; r < rows; r++)
        for (int32_t c = 0; c < columns; c++) {
            const double d = value[(int64_t)r * columns + c];
            const int    edge = r == 0 || c == 0 || r == rows - 1 || c == columns - 1;
            if (!(fabs(d) <= CT__LENGTH_MOST))
                return ct_fail(err, CT_E_ARGUMENT,
                               "grid: the sample in row %d, column %d is %g, it must be finite and at most %g", r, c, d,
                               CT__LENGTH_MOST);
            if (edge && !(d > 0))
                return ct_fail(err, CT_E_ARGUMENT,
                               "grid: the sample in row %d, column %d of its edge is %g: the outline must lie within "
                               "the grid, where distances outside are positive",
                               r, c, d);
            inside |= d <= -CT__LENGTH_LEAST;
        }
    return inside ? CT_OK
                  : ct_fail(err, CT_E_ARGUMENT, "grid: no sample is %g or less: nothing is inside", -CT__LENGTH_LEAST);
}

ct_status ct_shape_grid(int32_t rows, int32_t columns, double x0, double y0, double step, const double *value,
                        ct_shape **out, ct_err *err)
{
    *out = NULL;
    CT_TRY(check_place(rows, columns, x0, y0, step, err));
    CT_TRY(check_samples(rows, columns, value, err));
    const int64_t samples = (int64_t)rows * columns;
    CT_TRY(ct__shape_new(CT_SHAPE_GRID, CT__GRID_HEAD + samples, out, err));
    ct_shape *s = *out;
    s->rows = rows;
    s->columns = columns;
    s->number[0] = x0;
    s->number[1] = y0;
    s->number[2] = step;
    s->number[3] = rows;
    s->number[4] = columns;
    memcpy(s->number + CT__GRID_HEAD, value, (size_t)samples * sizeof *value);
    return CT_OK;
}

/* From the cell's own derivatives to those beyond the edge: g and H of d(c) + |o|, o = p - c. */
static double beyond(double d, const double o[2], double step, double g[2], double H[4])
{
    const double length = hypot(o[0], o[1]), n[2] = {o[0] / length, o[1] / length};
    if (g) g[0] = o[0] == 0 ? g[0] : n[0], g[1] = o[1] == 0 ? g[1] : n[1]; /* c does not depend on these */
    if (H && o[0] != 0 && o[1] != 0) ct__bend_round(1 / (length * step), n, H);
    else if (H) ct__bend_none(H);
    return d + length * step;
}

double ct__grid_distance(const ct_shape *shape, const double p[2], double g[2], double H[4])
{
    const double *n = shape->number, step = n[2], fx = (p[0] - n[0]) / step, fy = (p[1] - n[1]) / step;
    const double  x = fmin(fmax(fx, 0), shape->columns - 1), y = fmin(fmax(fy, 0), shape->rows - 1); /* 0 for a NaN */
    const int32_t c = (int32_t)fmin(x, shape->columns - 2), r = (int32_t)fmin(y, shape->rows - 2);
    const double *row = n + CT__GRID_HEAD + (int64_t)r * shape->columns + c, *next = row + shape->columns;
    const double  u = x - c, v = y - r, du = row[1] - row[0], dv = next[0] - row[0], E = next[1] - next[0] - du;
    const double  d = row[0] + u * du + v * (dv + u * E), o[2] = {fx - x, fy - y};
    if (g) g[0] = (du + v * E) / step, g[1] = (dv + u * E) / step;
    if (H) H[0] = H[3] = 0, H[1] = H[2] = E / (step * step);
    return o[0] == 0 && o[1] == 0 ? d : beyond(d, o, step, g, H);
}
