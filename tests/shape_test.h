/* shape_test.h: shapes with outlines that the tests draw by themselves, and distances and insides by another route. */
#ifndef SHAPE_TEST_H
#define SHAPE_TEST_H

#include "ct_test.h"

#include <covtune/shape.h>

#define PI 3.14159265358979323846

static const double TRIANGLE[] = {0.02, -0.05, 0.11, 0.03, -0.04, 0.08};
/* one corner goes in */
static const double HOOK[] = {-0.06, -0.06, 0.06, -0.06, 0.06, 0.01, 0.01, 0.01, 0.01, 0.06, -0.06, 0.06};
/* every other one */
static const double STAR[] = {0.1,   0,    0.03,   0.02,  0.02,  0.09,  -0.02, 0.03,
                              -0.08, 0.05, -0.035, -0.01, -0.06, -0.09, 0.01,  -0.035};
/* in line with neighbours */
static const double EVEN[] = {-0.1, -0.05, 0,       -0.05, 0.1,  -0.05, 0.1,  0.0123,
                              0.1,  0.05,  -0.0377, 0.05,  -0.1, 0.05,  -0.1, 0.0077};

/* A shape, and its outline by another route: half axes, or corners. */
typedef struct {
    const char   *name;
    double        a, b;
    const double *xy;
    int32_t       corners;
} outline;

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))
#define CORNERS(array) (array), COUNT(array) / 2
static const double RECTANGLE[] = {0.11815, 0.07895, -0.11815, 0.07895, -0.11815, -0.07895, 0.11815, -0.07895};
static const outline LIST[] = {
    {"ellipse, tall", 0.0819, 0.1214, NULL, 0},
    {"ellipse, wide", 0.1214, 0.0819, NULL, 0},
    {"circle", 0.1, 0.1, NULL, 0},
    {"needle", 0.2, 0.002, NULL, 0},
    {"nearly round", 0.1, 0.1000001, NULL, 0},
    {"rectangle", 0, 0, CORNERS(RECTANGLE)},
    {"triangle", 0, 0, CORNERS(TRIANGLE)},
    {"hook", 0, 0, CORNERS(HOOK)},
    {"star", 0, 0, CORNERS(STAR)},
    {"even", 0, 0, CORNERS(EVEN)},
};

static inline ct_shape *make(const outline *o)
{
    ct_shape *shape = NULL;
    ct_err    err = {0};
    if (!o->xy) CHECK_OK(ct_shape_ellipse(o->a, o->b, &shape, &err), err);
    else if (o->xy == RECTANGLE) CHECK_OK(ct_shape_rectangle(o->xy[0], o->xy[1], &shape, &err), err);
    else CHECK_OK(ct_shape_polygon(o->corners, o->xy, &shape, &err), err);
    return shape;
}

/* Point t of the outline, t in [0, parts): an ellipse's parameter, or side and place on it. */
static inline int  parts(const outline *o) { return o->xy ? o->corners : 400; }
static inline void point_at(const outline *o, double t, double p[2])
{
    if (!o->xy) {
        p[0] = o->a * cos(2 * PI * t / 400), p[1] = o->b * sin(2 * PI * t / 400);
        return;
    }
    const int     i = (int)floor(t) % o->corners;
    const double *a = o->xy + 2 * i, *b = o->xy + 2 * ((i + 1) % o->corners), f = t - floor(t);
    p[0] = a[0] + f * (b[0] - a[0]), p[1] = a[1] + f * (b[1] - a[1]);
}

static inline double far_from(const outline *o, double t, const double p[2])
{
    double q[2];
    point_at(o, t, q);
    return hypot(p[0] - q[0], p[1] - q[1]);
}

/* Ternary search in every part, within which the distance has one minimum. */
static inline double brute_distance(const outline *o, const double p[2])
{
    double least = INFINITY;
    for (int i = 0; i < parts(o); i++) {
        double low = i, high = i + 1 - 1e-15 * (i + 1);
        if (far_from(o, low, p) > least + 0.05 && !o->xy) continue; /* a part is shorter than that */
        for (int step = 0; step < 80; step++) {
            const double u = low + (high - low) / 3, v = high - (high - low) / 3;
            if (far_from(o, u, p) < far_from(o, v, p)) high = v;
            else low = u;
        }
        least = fmin(least, far_from(o, (low + high) / 2, p));
    }
    return least;
}

/* By the equation, or by counting the sides that a ray crosses. */
static inline int brute_inside(const outline *o, const double p[2])
{
    int inside = 0;
    if (!o->xy) return p[0] * p[0] / (o->a * o->a) + p[1] * p[1] / (o->b * o->b) < 1;
    for (int i = 0; i < o->corners; i++) {
        const double *a = o->xy + 2 * i, *b = o->xy + 2 * ((i + 1) % o->corners);
        if ((a[1] > p[1]) != (b[1] > p[1]) && p[0] < a[0] + (p[1] - a[1]) / (b[1] - a[1]) * (b[0] - a[0]))
            inside = !inside;
    }
    return inside;
}

#endif
