/* decimate.c: polylines with fewer points.
 *
 * Signals over time may have thousands of samples a pixel. Where x never falls, it is cut into columns of half the
 * tolerance; of the points of a column the first, the lowest, the highest and the last stay. The rest crosses
 * every height that the line crossed in that column: the error is at most the width of the column.
 *
 * Then the other half: from a vertex a, the directions from which a point p is passed within d of it are a cone of
 * half-angle asin(d / |p - a|). As long as the next point lies in the cones of all before it, and no nearer to a
 * than any of them, the segment from a to it passes all of them within d (their feet lie on it). When one does not,
 * the point before it is the next vertex.
 *
 * Vertices are points of the line, so each piece of the line between two of them stays as near as its ends do: the
 * bound holds for all of it. */
#include "page/decimate.h"
#include "base/base.h"

#include <math.h>

#define PI 3.14159265358979323846

static int never_falls(int64_t n, const double x[])
{
    for (int64_t i = 1; i < n; i++)
        if (x[i] < x[i - 1]) return 0;
    return 1;
}

static void keep_of_columns(int64_t n, const double x[], const double y[], double width, int8_t keep[])
{
    for (int64_t i = 0, end; i < n; i = end) {
        int64_t low = i, high = i;
        for (end = i + 1; end < n && x[end] - x[i] <= width; end++) {
            if (y[end] < y[low]) low = end;
            if (y[end] > y[high]) high = end;
        }
        keep[i] = keep[low] = keep[high] = keep[end - 1] = 1;
    }
}

/* What a segment from the vertex at (x, y) has passed so far: directions are angles from that of the first point
 * farther off than the tolerance. */
typedef struct {
    double x, y, base, low, high, farthest;
    int    open; /* there is no such point yet */
} cone;

/* Can the segment end at (x, y)? If so the cone is narrowed by it. */
static int passes(cone *c, double x, double y, double tolerance)
{
    const double dx = x - c->x, dy = y - c->y, d = hypot(dx, dy);
    if (d <= tolerance) return c->open;
    if (c->open) *c = (cone){c->x, c->y, atan2(dy, dx), -PI, PI, 0, 0};
    const double turn = remainder(atan2(dy, dx) - c->base, 2 * PI), half = asin(tolerance / d);
    if (turn < c->low || turn > c->high || d < c->farthest) return 0;
    c->low = fmax(c->low, turn - half);
    c->high = fmin(c->high, turn + half);
    c->farthest = d;
    return 1;
}

static void drop_passed(int64_t n, const double x[], const double y[], double tolerance, int8_t keep[])
{
    int64_t vertex = 0, end = 0; /* the segment that is being drawn */
    cone    c = {.x = x[0], .y = y[0], .open = 1};
    for (int64_t i = 1; i < n; i++) {
        if (!keep[i]) continue;
        if (passes(&c, x[i], y[i], tolerance)) {
            if (end != vertex) keep[end] = 0;
        } else {
            vertex = end;
            c = (cone){.x = x[vertex], .y = y[vertex], .open = 1};
            passes(&c, x[i], y[i], tolerance);
        }
        end = i;
    }
}

int64_t ct__thin(int64_t n, const double x[], const double y[], double tolerance, int8_t keep[])
{
    int64_t kept = 0;
    if (n <= 0) return 0;
    const int columns = never_falls(n, x);
    memset(keep, columns ? 0 : 1, (size_t)n);
    if (columns) keep_of_columns(n, x, y, tolerance / 2, keep);
    drop_passed(n, x, y, columns ? tolerance / 2 : tolerance, keep);
    keep[0] = keep[n - 1] = 1;
    for (int64_t i = 0; i < n; i++) kept += keep[i];
    return kept;
}
