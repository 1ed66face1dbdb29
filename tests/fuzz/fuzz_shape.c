/* fuzz_shape.c: any bytes as LEO's file of a sampled distance; or, after a 'p', as corners, a byte a coordinate.
 * They are refused with a sentence, or make a shape that has an outline, an area and a distance: of a grid the
 * samples, of a polygon one that leads to its outline and has the side that a ray tells. */
#include "fuzz.h"

#include <covtune/shape.h>
#include <math.h>

enum { POINTS = 64 };

static void check_any(const ct_shape *shape)
{
    double xy[2 * POINTS], area, radius, centroid[2], reach = 0;
    ct_shape_outline(shape, POINTS, xy);
    for (int i = 0; i < 2 * POINTS; i++) FUZZ_LAW(isfinite(xy[i]));
    for (int i = 0; i < 2 * POINTS; i++) reach = fmax(reach, fabs(xy[i]));
    ct_shape_moments(shape, &area, &radius, centroid);
    FUZZ_LAW(area >= 0);
    if (area < 1e-9 * reach * reach) return; /* a speck far from the origin, of which nothing but rounding is left */
    FUZZ_LAW(radius > 0 && radius < 2 * reach && fabs(centroid[0]) < 2 * reach && fabs(centroid[1]) < 2 * reach);
}

static void check_grid(const ct_shape *shape)
{
    const int64_t count = ct_shape_numbers(shape, 0, NULL);
    double       *n = malloc((size_t)count * sizeof *n);
    FUZZ_LAW(n && ct_shape_numbers(shape, count, n) == count);
    const int64_t columns = (int64_t)n[4];
    for (int64_t i = 0; i < count - 5 && i < 1000; i++) {
        const double p[2] = {n[0] + n[2] * (double)(i % columns), n[1] + n[2] * (double)(i / columns)};
        double       g[2], H[4];
        const double d = ct_shape_distance(shape, p, g, H);
        /* rounding of p, in cells */
        FUZZ_LAW(isfinite(d) && fabs(d - n[5 + i]) <= 1e-6 * (1 + fabs(n[0]) / n[2] + fabs(n[1]) / n[2]) &&
                  isfinite(g[0]) && isfinite(g[1]) && isfinite(H[1]));
    }
    free(n);
}

static int ray_says_inside(int32_t corners, const double *xy, const double p[2])
{
    int inside = 0;
    for (int32_t i = 0; i < corners; i++) {
        const double *a = xy + 2 * i, *b = xy + 2 * ((i + 1) % corners);
        if ((a[1] > p[1]) != (b[1] > p[1]) && p[0] < a[0] + (p[1] - a[1]) / (b[1] - a[1]) * (b[0] - a[0]))
            inside = !inside;
    }
    return inside;
}

static void check_polygon(int32_t corners, const double *xy)
{
    ct_err    err = {0};
    ct_shape *shape = NULL;
    if (ct_shape_polygon(corners, xy, &shape, &err) != CT_OK) {
        FUZZ_LAW(!shape && err.text[0]);
        return;
    }
    check_any(shape);
    for (int k = 0; k < 400; k++) {
        const double p[2] = {-150 + 15.3 * (k % 20), -150 + 15.7 * (k / 20)};
        double       g[2], H[4];
        const double d = ct_shape_distance(shape, p, g, H), foot[2] = {p[0] - d * g[0], p[1] - d * g[1]};
        FUZZ_LAW(fabs(g[0] * g[0] + g[1] * g[1] - 1) < 1e-12 &&
                 fabs(ct_shape_distance(shape, foot, NULL, NULL)) < 1e-9);
        FUZZ_LAW(fabs(d) < 1e-9 || (d < 0) == ray_says_inside(corners, xy, p));
    }
    ct_shape_free(shape);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static double xy[2 * 1100];
    if (size > 0 && data[0] == 'p') {
        const size_t n = size - 1 < 2200 ? size - 1 : 2200;
        for (size_t i = 0; i < n; i++) xy[i] = (double)data[1 + i] - 128;
        check_polygon((int32_t)(n / 2), xy);
        return 0;
    }
    ct_err    err = {0};
    ct_shape *shape = NULL;
    fuzz_write("in.json", data, size);
    if (ct_shape_read("in.json", &shape, &err) == CT_OK) {
        check_any(shape);
        check_grid(shape);
    } else FUZZ_LAW(!shape && err.text[0]);
    ct_shape_free(shape);
    return 0;
}
