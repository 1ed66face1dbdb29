/* shape.h: private structure of a shape, and the operations of each kind. */
#ifndef CT_SHAPE_PRIVATE_H
#define CT_SHAPE_PRIVATE_H

#include "base/base.h"

#include <covtune/shape.h>

struct ct_shape {
    ct_shape_kind kind;
    int           sense;         /* polygon: 1 if its corners are counter-clockwise, else -1      */
    int32_t       rows, columns; /* grid                                                          */
    int64_t       count;
    double        number[];      /* its parameters, as in ct_shape_numbers                        */
};

/* Lengths of shapes are from 1 um to 1000 km, and coordinates at most that: their squares and cubes then neither
 * vanish nor overflow. */
#define CT__LENGTH_LEAST 1e-6
#define CT__LENGTH_MOST  1e6

#define CT__CORNERS_MAX 1000
#define CT__GRID_HEAD   5 /* x0, y0, step, rows, columns, then the samples */

/* Allocates a shape with room for that many numbers. */
ct_status ct__shape_new(ct_shape_kind kind, int64_t count, ct_shape **out, ct_err *err);

/* A shape of two lengths, with their names for messages. */
ct_status ct__shape_pair(ct_shape_kind kind, double a, double b, const char *first, const char *second, ct_shape **out,
                         ct_err *err);

/* As ct_shape_distance, of each kind. */
double ct__ellipse_distance(const double half[2], const double p[2], double g[2], double H[4]);
double ct__rectangle_distance(const double half[2], const double p[2], double g[2], double H[4]);
double ct__polygon_distance(const ct_shape *shape, const double p[2], double g[2], double H[4]);
double ct__grid_distance(const ct_shape *shape, const double p[2], double g[2], double H[4]);

/* Second derivatives of a distance from a point or an arc of a circle: H = curvature (I - g g'), g of length one. */
static inline void ct__bend_round(double curvature, const double g[2], double H[4])
{
    H[0] = curvature * g[1] * g[1];
    H[1] = H[2] = -curvature * g[0] * g[1];
    H[3] = curvature * g[0] * g[0];
}

static inline void ct__bend_none(double H[4]) { H[0] = H[1] = H[2] = H[3] = 0; }

/* The corners of a rectangle or polygon, in the order of its numbers. */
int32_t ct__corners(const ct_shape *shape);
void    ct__corner(const ct_shape *shape, int32_t i, double xy[2]);

/* Corner i (0 to 3, counter-clockwise from the lowest row and column) of the cell whose lowest one is sample (row,
 * column). */
static inline double ct__cell_corner(const ct_shape *shape, int32_t row, int32_t column, int i, double xy[2])
{
    const int32_t r = row + (i >= 2), c = column + (i == 1 || i == 2);
    xy[0] = shape->number[0] + c * shape->number[2];
    xy[1] = shape->number[1] + r * shape->number[2];
    return shape->number[CT__GRID_HEAD + (int64_t)r * shape->columns + c];
}

#endif
