/* score_test.h: trajectories for tests. */
#ifndef SCORE_TEST_H
#define SCORE_TEST_H

#include "source_test.h"

#include <covtune/score.h>

#define SECOND INT64_C(1000000000)

static inline ct_se3 planar_pose(double x, double y, double yaw)
{
    return (ct_se3){x, y, 0, 0, 0, sin(yaw / 2), cos(yaw / 2)};
}

static inline ct_se3 random_pose(ct_rng *rng, double metres, double radians)
{
    double v[6];
    for (int i = 0; i < 6; i++) v[i] = ct_rng_normal(rng) * (i < 3 ? radians : metres);
    return ct_se3_exp(v);
}

/* A winding path, 10 Hz from t = 100 s. */
static inline ct_trajectory *winding_path(int64_t poses, int planar)
{
    ct_trajectory *t = NULL;
    ct_err err = {0};
    CHECK_OK(ct_trajectory_new(poses, 1, &t, &err), err);
    t->planar = planar;
    for (int64_t i = 0; i < poses; i++) {
        const double u = 0.1 * (double)i,
                     p[3] = {8 * sin(0.3 * u), 5 * sin(0.5 * u) + u, planar ? 0 : 2 * cos(0.4 * u)};
        const double w[3] = {planar ? 0 : 0.3 * sin(u), planar ? 0 : 0.2 * cos(0.7 * u), 0.4 * u};
        t->stamp[i] = 100 * SECOND + i * SECOND / 10;
        t->pose[i] = ct_se3_make(p, ct_so3_exp(w));
    }
    return t;
}

static inline ct_trajectory *copy_of(const ct_trajectory *t)
{
    ct_trajectory *c = NULL;
    ct_err err = {0};
    CHECK_OK(ct_trajectory_new(t->poses, t->rotations, &c, &err), err);
    memcpy(c->stamp, t->stamp, (size_t)t->poses * sizeof *t->stamp);
    memcpy(c->pose, t->pose, (size_t)t->poses * sizeof *t->pose);
    c->planar = t->planar;
    c->timed = t->timed;
    return c;
}

/* With errors of these sizes in the body's axes. */
static inline ct_trajectory *noisy(const ct_trajectory *t, double metres, double radians, uint64_t seed)
{
    ct_trajectory *c = copy_of(t);
    ct_rng rng = ct_rng_seed(seed);
    for (int64_t i = 0; i < c->poses; i++) {
        double v[6];
        for (int k = 0; k < 6; k++) v[k] = ct_rng_normal(&rng) * (k < 3 ? radians : metres);
        if (c->planar) v[0] = v[1] = v[5] = 0;
        c->pose[i] = ct_se3_compose(c->pose[i], ct_se3_exp(v), NULL, NULL);
    }
    return c;
}

/* p -> scale R p + t of all poses. */
static inline void move_all(ct_trajectory *t, ct_se3 motion, double scale)
{
    for (int64_t i = 0; i < t->poses; i++) {
        ct_se3 x = t->pose[i];
        x.x *= scale, x.y *= scale, x.z *= scale;
        t->pose[i] = ct_se3_compose(motion, x, NULL, NULL);
    }
}

/* Without pose i. */
static inline void drop_pose(ct_trajectory *t, int64_t i)
{
    const size_t rest = (size_t)(t->poses - i - 1);
    memmove(t->stamp + i, t->stamp + i + 1, rest * sizeof *t->stamp);
    memmove(t->pose + i, t->pose + i + 1, rest * sizeof *t->pose);
    t->poses--;
}

#endif
