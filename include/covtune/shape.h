/* covtune/shape.h: outlines of planar bodies, as signed distance.
 *
 *     d(p) = distance from p to the outline, positive outside, negative inside;  |grad d| = 1,  Hess d = k t t' with
 *                                                                                t along the outline
 *
 * Points are in the body frame. A shape is immutable and may be used by several threads.
 */
#ifndef COVTUNE_SHAPE_H
#define COVTUNE_SHAPE_H

#include <covtune/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ct_shape ct_shape;

/* X(constant, name, what it is) */
#define CT_SHAPE_LIST(X)                                                                                          \
    X(CT_SHAPE_ELLIPSE, "ellipse", "half axes a (along x) and b (along y)")                                        \
    X(CT_SHAPE_RECTANGLE, "rectangle", "half lengths hx and hy, sides along the axes")                             \
    X(CT_SHAPE_POLYGON, "polygon", "three to 1000 corners, in either orientation; sides do not cross")             \
    X(CT_SHAPE_GRID, "grid", "samples of a signed distance on a regular grid, bilinear between them")

typedef enum {
#define X(constant, name, what) constant,
    CT_SHAPE_LIST(X)
#undef X
    CT_SHAPE_COUNT
} ct_shape_kind;

const char *ct_shape_kind_name(ct_shape_kind kind);
int         ct_shape_kind_find(const char *name); /* a ct_shape_kind, or -1 */

/* CT_E_ARGUMENT with a sentence for lengths outside 1e-6 to 1e6 (m); fewer than three corners, zero area, sides that
 * cross or touch; a grid smaller than 3 x 3, without a negative sample, or with a sample on its edge that is not
 * positive. */
ct_status ct_shape_ellipse(double a, double b, ct_shape **out, ct_err *err);
ct_status ct_shape_rectangle(double hx, double hy, ct_shape **out, ct_err *err);
ct_status ct_shape_polygon(int32_t corners, const double xy[], ct_shape **out, ct_err *err);
/* value[row * columns + column] is d at (x0 + column * step, y0 + row * step). Copies. */
ct_status ct_shape_grid(int32_t rows, int32_t columns, double x0, double y0, double step, const double *value,
                        ct_shape **out, ct_err *err);
/* LEO's JSON of a sampled distance (docs/formats.md). */
ct_status ct_shape_read(const char *path, ct_shape **out, ct_err *err);
void      ct_shape_free(ct_shape *shape);

ct_shape_kind ct_shape_kind_of(const ct_shape *shape);
/* Its parameters: a, b; hx, hy; corners; x0, y0, step, rows, columns and the samples. Writes up to `most` of them and
 * returns their number. */
int64_t ct_shape_numbers(const ct_shape *shape, int64_t most, double *number);

/* d(p); g: its gradient, of length one except for grids; H: its second derivatives, 2 x 2. g and H may be NULL. If the
 * nearest point is not unique (on a corner's bisector inside, at the centre of an ellipse), one of them is used. Exact;
 * for grids, of the bilinear surface. Outside a grid d is the value at the nearest point of its edge plus the distance
 * to it: continuous and positive. Does not allocate. */
double ct_shape_distance(const ct_shape *shape, const double p[2], double g[2], double H[4]);
/* CT_E_ARGUMENT with a sentence if p is outside a grid. */
ct_status ct_shape_check(const ct_shape *shape, const double p[2], ct_err *err);

/* The outline as a closed polygon of n >= 3 points (x, y each), for plots: of an ellipse at equal parameters, of a
 * polygon including its corners. */
void ct_shape_outline(const ct_shape *shape, int32_t n, double *xy);
/* Integrals over the interior: area, mean of |p|, and centroid (may be NULL). For grids, summed over cells. */
void ct_shape_moments(const ct_shape *shape, double *area, double *mean_radius, double centroid[2]);

#ifdef __cplusplus
}
#endif
#endif
