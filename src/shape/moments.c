/* moments.c: integrals over the inside.
 *
 * By Green, side by side, as triangles from the origin, each with the sign of its turn. With h the distance of the
 * origin from the side's line (with that sign) and s the places of its ends along it, counted from the foot,
 *
 *     integral of |p| = 1/6 [ h s sqrt(s^2 + h^2) + h^3 asinh(s / |h|) ]   from s1 to s2
 *
 * An ellipse's is its perimeter times a b / 3, which is Gauss' arithmetic-geometric mean away:
 *
 *     perimeter = 2 pi (a^2 - sum 2^(n-1) c_n^2) / agm(a, b),   c_0^2 = a^2 - b^2,  c_n+1 = (a_n - b_n) / 2
 *
 * A grid's cells are cut into four triangles at their middle, and each is cut where the straight line through its
 * corners' samples changes sign. */
#include "shape/shape.h"

#include <math.h>

#define PI 3.14159265358979323846

typedef struct {
    double area, x, y, radius;
} sums;

static void add_side(sums *to, const double a[2], const double b[2])
{
    const double cross = a[0] * b[1] - a[1] * b[0], ex = b[0] - a[0], ey = b[1] - a[1], length = hypot(ex, ey);
    if (!(length > 0)) return;
    to->area += cross / 2;
    to->x += (a[0] + b[0]) * cross / 6;
    to->y += (a[1] + b[1]) * cross / 6;
    const double h = cross / length, s1 = (a[0] * ex + a[1] * ey) / length, s2 = (b[0] * ex + b[1] * ey) / length;
    to->radius += h * (s2 * hypot(b[0], b[1]) - s1 * hypot(a[0], a[1])) / 6;
    /* else less than rounding */
    if (fabs(h) > 1e-9 * length) to->radius += h * h * h * (asinh(s2 / fabs(h)) - asinh(s1 / fabs(h))) / 6;
}

static double perimeter(double a, double b)
{
    double an = fmax(a, b), bn = fmin(a, b), sum = an * an, weight = 0.5, c2 = (an - bn) * (an + bn);
    for (int i = 0; i < 60; i++) { /* quadratic, from 1 : 1e12 too */
        sum -= weight * c2;
        const double c = (an - bn) / 2, mean = (an + bn) / 2;
        if (!(c > 1e-17 * mean)) break;
        bn = sqrt(an * bn);
        an = mean;
        c2 = c * c;
        weight *= 2;
    }
    return 2 * PI * sum / an;
}

/* The part of a triangle where v < 0. */
static void add_triangle(sums *to, double p[3][2], const double v[3])
{
    double  cut[4][2];
    int     n = 0;
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3;
        if (v[i] < 0) cut[n][0] = p[i][0], cut[n++][1] = p[i][1];
        if ((v[i] < 0) == (v[j] < 0)) continue;
        const double f = v[i] / (v[i] - v[j]);
        cut[n][0] = p[i][0] + f * (p[j][0] - p[i][0]);
        cut[n++][1] = p[i][1] + f * (p[j][1] - p[i][1]);
    }
    for (int i = 0; i < n; i++) add_side(to, cut[i], cut[(i + 1) % n]);
}

static void add_cell(sums *to, const ct_shape *shape, int32_t row, int32_t column)
{
    double p[4][2], v[4];
    int    negative = 0;
    for (int i = 0; i < 4; i++) v[i] = ct__cell_corner(shape, row, column, i, p[i]), negative += v[i] < 0;
    if (negative == 4)
        for (int i = 0; i < 4; i++) add_side(to, p[i], p[(i + 1) % 4]);
    if (negative == 0 || negative == 4) return;
    const double middle = (v[0] + v[1] + v[2] + v[3]) / 4, x = (p[0][0] + p[1][0]) / 2, y = (p[0][1] + p[3][1]) / 2;
    for (int i = 0; i < 4; i++) {
        const int j = (i + 1) % 4;
        add_triangle(to, (double[3][2]){{p[i][0], p[i][1]}, {p[j][0], p[j][1]}, {x, y}},
                     (const double[]){v[i], v[j], middle});
    }
}

static sums sums_of(const ct_shape *shape)
{
    sums          to = {0};
    const double *n = shape->number;
    if (shape->kind == CT_SHAPE_ELLIPSE)
        return (sums){.area = PI * n[0] * n[1], .radius = n[0] * n[1] * perimeter(n[0], n[1]) / 3};
    for (int32_t r = 0; r + 1 < shape->rows; r++)
        for (int32_t c = 0; c + 1 < shape->columns; c++) add_cell(&to, shape, r, c);
    for (int32_t i = 0; shape->kind != CT_SHAPE_GRID && i < ct__corners(shape); i++) {
        double a[2], b[2];
        ct__corner(shape, i, a);
        ct__corner(shape, i + 1, b);
        add_side(&to, a, b);
    }
    return to;
}

void ct_shape_moments(const ct_shape *shape, double *area, double *mean_radius, double centroid[2])
{
    const sums s = sums_of(shape); /* all of one sign, that of the orientation */
    if (area) *area = fabs(s.area);
    if (mean_radius) *mean_radius = s.radius / s.area;
    if (centroid) centroid[0] = s.x / s.area, centroid[1] = s.y / s.area;
}
