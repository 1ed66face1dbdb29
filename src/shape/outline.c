/* outline.c: outlines as points, for plots.
 *
 * The outline of a grid is traced cell by cell, interior to the left, straight from side to side (marching squares):
 * once to measure it and once to place points, so nothing is allocated. */
#include "shape/shape.h"

#include <math.h>

#define TWO_PI 6.283185307179586476925

static void ellipse(const ct_shape *shape, int32_t n, double *xy)
{
    for (int32_t i = 0; i < n; i++) {
        xy[2 * i] = shape->number[0] * cos(TWO_PI * i / n);
        xy[2 * i + 1] = shape->number[1] * sin(TWO_PI * i / n);
    }
}

/* ---- corners ---- */

static double side(const ct_shape *shape, int32_t i, double a[2], double b[2])
{
    ct__corner(shape, i, a);
    ct__corner(shape, i + 1, b);
    return hypot(b[0] - a[0], b[1] - a[1]);
}

/* Every corner, and the remaining points by length, evenly on each side; n corners if there are more. */
static void corners(const ct_shape *shape, int32_t n, double *xy)
{
    const int32_t count = ct__corners(shape), more = CT_MAX(n - count, 0);
    double        a[2], b[2], around = 0, past = 0;
    int32_t       placed = 0, shared = 0;
    for (int32_t i = 0; i < count; i++) around += side(shape, i, a, b);
    for (int32_t i = 0; n >= count && i < count; i++) {
        past += side(shape, i, a, b);
        const int32_t share = i + 1 < count ? (int32_t)(more * CT_MIN(past / around, 1)) - shared : more - shared;
        shared += share;
        for (int32_t k = 0; k <= share; k++, placed++)
            for (int c = 0; c < 2; c++) xy[2 * placed + c] = a[c] + (b[c] - a[c]) * k / (share + 1);
    }
    for (int32_t i = 0; n < count && i < n; i++) ct__corner(shape, (int32_t)((int64_t)i * count / n), xy + 2 * i);
}

/* ---- grids ---- */

/* Going into a cell by its side i, which lies between its corners i, inside, and i + 1, outside. */
typedef struct {
    int32_t row, column;
    int     side;
} entry;

static void crossing(const ct_shape *shape, entry at, int i, double xy[2])
{
    double       a[2], b[2];
    const double va = ct__cell_corner(shape, at.row, at.column, i, a),
                 vb = ct__cell_corner(shape, at.row, at.column, (i + 1) % 4, b), f = va / (va - vb);
    for (int c = 0; c < 2; c++) xy[c] = a[c] + f * (b[c] - a[c]);
}

/* Out by the next side, counter-clockwise, that leads from outside to inside; if insides and outsides alternate,
 * around the corner that the value in the middle decides. */
static entry onward(const ct_shape *shape, entry at)
{
    double value[4], xy[2], sum = 0;
    int    negative = 0, i = at.side;
    for (int k = 0; k < 4; k++)
        value[k] = ct__cell_corner(shape, at.row, at.column, k, xy), sum += value[k], negative += value[k] < 0;
    if (negative == 2 && value[(i + 2) % 4] < 0 && sum >= 0) i = (i + 3) % 4;
    else
        do i = (i + 1) % 4;
        while (!(value[i] >= 0 && value[(i + 1) % 4] < 0));
    return (entry){at.row + (i == 2) - (i == 0), at.column + (i == 1) - (i == 3), (i + 2) % 4};
}

/* Entry into the row of the most negative sample: on the outer boundary, whatever holes there are. */
static entry begin(const ct_shape *shape)
{
    const double *value = shape->number + CT__GRID_HEAD;
    int64_t       deepest = 0;
    for (int64_t i = 0; i < (int64_t)shape->rows * shape->columns; i++)
        if (value[i] < value[deepest]) deepest = i;
    const int32_t row = (int32_t)(deepest / shape->columns);
    int32_t       column = 0;
    while (!(value[(int64_t)row * shape->columns + column + 1] < 0)) column++;
    return (entry){row - 1, column, 2};
}

static int same(entry a, entry b) { return a.row == b.row && a.column == b.column && a.side == b.side; }

static void grid(const ct_shape *shape, int32_t n, double *xy)
{
    const entry first = begin(shape);
    double      around = 0;
    for (int pass = 0; pass < 2; pass++) {
        entry   at = first;
        double  a[2], b[2], past = 0;
        int32_t placed = 0;
        crossing(shape, at, at.side, a);
        do {
            at = onward(shape, at);
            crossing(shape, at, at.side, b);
            const double length = hypot(b[0] - a[0], b[1] - a[1]);
            for (; pass && placed < n && around * placed / n <= past + length; placed++) {
                const double f = length > 0 ? (around * placed / n - past) / length : 0;
                for (int c = 0; c < 2; c++) xy[2 * placed + c] = a[c] + f * (b[c] - a[c]);
            }
            past += length;
            a[0] = b[0], a[1] = b[1];
        } while (!same(at, first));
        around = past;
    }
}

void ct_shape_outline(const ct_shape *shape, int32_t n, double *xy)
{
    if (n < 3) return;
    if (shape->kind == CT_SHAPE_ELLIPSE) ellipse(shape, n, xy);
    else if (shape->kind == CT_SHAPE_GRID) grid(shape, n, xy);
    else corners(shape, n, xy);
}
