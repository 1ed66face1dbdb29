/* start_test.h: runs with known landmarks, odometry with a bias, and outliers; initial values say nothing. */
#ifndef START_TEST_H
#define START_TEST_H

#include "ct_test.h"

#include <covtune/evaluate.h>

#define LANDMARKS 12

typedef enum { SEES_RANGE_BEARING, SEES_BEARING, SEES_RANGE, SEES_POINT, SEES_POSITION } sensor;

typedef struct {
    int    space;    /* SE3, else SE2                             */
    sensor sees;
    int    unknown;  /* landmarks are variables without a value   */
    int    fixed;    /* landmarks are fixed variables             */
    int    poses;
    double outliers; /* share of the sightings                    */
    double drift;    /* rad of yaw a step; odometry's length error is ten times that */
    double sigma;    /* of ranges and points, m; of bearings a tenth, rad */
    int    first;    /* 1: the first pose has a prior             */
    int    seed;
} world_options;

typedef struct {
    ct_graph    *graph;
    ct_sequence *seq;
    ct_noise    *noise;
    double      *x;
    double       landmark[LANDMARKS][3];
    int32_t      point[LANDMARKS];
    int          poses;
    ct_err       err;
} world;

/* Pose k of a path with loops, by its position and rotation matrix. */
static inline void world_pose(int space, int k, double t[3], double R[9])
{
    const double s = 0.02 * k, x = 10 * cos(s), dx = -10 * sin(s), y = 8 * sin(1.7 * s), dy = 13.6 * cos(1.7 * s);
    const double yaw = atan2(dy, dx), c = cos(yaw), n = sin(yaw), roll = space ? 0.2 * sin(2 * s) : 0;
    const double r[9] = {c, -n * cos(roll), n * sin(roll), n, c * cos(roll), -c * sin(roll), 0, sin(roll), cos(roll)};
    t[0] = x, t[1] = y, t[2] = space ? sin(2.3 * s) : 0;
    memcpy(R, r, sizeof r);
}

static inline void world_stored(int space, int k, double out[7])
{
    double t[3], R[9];
    world_pose(space, k, t, R);
    const ct_so3 q = ct_so3_from_matrix(R);
    const double plane[4] = {t[0], t[1], R[0], R[3]}, full[7] = {t[0], t[1], t[2], q.x, q.y, q.z, q.w};
    memcpy(out, space ? full : plane, (space ? 7 : 4) * sizeof *out);
}

static inline void world_odometry(world *w, const world_options *o, ct_rng *rng, int k)
{
    const ct_kind kind = o->space ? CT_SE3 : CT_SE2;
    const int     dim = ct_kind_dim(kind), yaw = 2, along = o->space ? 3 : 0;
    double        a[7], b[7], one[7], z[7], d[6];
    world_stored(o->space, k - 1, a);
    world_stored(o->space, k, b);
    ct_kind_local(kind, a, b, d);
    for (int i = 0; i < dim; i++) d[i] += 0.002 * ct_rng_normal(rng);
    d[yaw] += o->drift;
    d[along] *= 1 + 10 * o->drift;
    ct_kind_identity(kind, one);
    ct_kind_retract(kind, one, d, z);
    CHECK_OK(ct_graph_add_between(w->graph, k - 1, k, z, 0, &w->err), w->err);
}

/* The point p as the sensor sees it, 0.3 m ahead of the body and turned by 0.5 rad; gross errors where asked for. */
static inline void world_sight(world *w, const world_options *o, ct_rng *rng, int k, int landmark)
{
    static const ct_factor_ops *const KNOWN[2][4] = {
        {&ct_range_bearing_se2_point, &ct_bearing_se2_point, &ct_range_se2_point, &ct_point_se2_point},
        {&ct_range_bearing_se3_point, &ct_bearing_se3_point, &ct_range_se3_point, &ct_point_se3_point}};
    static const ct_factor_ops *const FREE[2][4] = {
        {&ct_range_bearing_se2_r2, &ct_bearing_se2_r2, &ct_range_se2_r2, &ct_point_se2_r2},
        {&ct_range_bearing_se3_r3, &ct_bearing_se3_r3, &ct_range_se3_r3, &ct_point_se3_r3}};
    const int     n = o->space ? 3 : 2, bad = ct_rng_uniform(rng) < o->outliers, variable = o->unknown || o->fixed;
    const double *p = w->landmark[landmark], turn = 0.5, arm[3] = {0.3, 0, 0};
    double        t[3], R[9], q[3] = {0}, z[24];
    int           used = 0;
    world_pose(o->space, k, t, R);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) q[i] += R[3 * j + i] * (p[j] - t[j]);
    for (int i = 0; i < 3; i++) q[i] -= arm[i];
    const double sensed[3] = {cos(turn) * q[0] + sin(turn) * q[1], cos(turn) * q[1] - sin(turn) * q[0], q[2]};
    double       range = sqrt(sensed[0] * sensed[0] + sensed[1] * sensed[1] + sensed[2] * sensed[2]);
    double       angle = atan2(sensed[1], sensed[0]) + 0.1 * o->sigma * ct_rng_normal(rng);
    double       up = asin(sensed[2] / range) + (o->space ? 0.1 * o->sigma * ct_rng_normal(rng) : 0);
    range = fabs(range + o->sigma * ct_rng_normal(rng));
    if (bad) range = 20 * ct_rng_uniform(rng), angle = 6.28 * ct_rng_uniform(rng), up = 0;
    const double direction[3] = {cos(angle) * (o->space ? cos(up) : 1), sin(angle) * (o->space ? cos(up) : 1), sin(up)};
    if (o->sees == SEES_RANGE_BEARING || o->sees == SEES_RANGE) z[used++] = range;
    if (o->sees != SEES_RANGE)
        for (int i = 0; i < n; i++) z[used++] = direction[i] * (o->sees == SEES_POINT ? range : 1);
    for (int i = 0; !variable && i < n; i++) z[used++] = p[i];
    for (int i = 0; i < n; i++) z[used++] = arm[i];
    const double plane[2] = {cos(turn), sin(turn)}, full[4] = {0, 0, sin(turn / 2), cos(turn / 2)};
    if (o->sees != SEES_RANGE) memcpy(z + used, o->space ? full : plane, (o->space ? 4 : 2) * sizeof *z);
    const ct_factor_ops *ops = variable ? FREE[o->space][o->sees] : KNOWN[o->space][o->sees];
    CHECK_OK(ct_graph_add_factor(w->graph, ops, (const int32_t[]){k, variable ? w->point[landmark] : -1}, z, NULL, 1,
                                 &w->err), w->err);
}

static inline void world_position(world *w, const world_options *o, ct_rng *rng, int k)
{
    const double arm[3] = {0.3, 0.1, 0};
    double       t[3], R[9], z[6] = {0};
    const int    n = o->space ? 3 : 2, bad = ct_rng_uniform(rng) < o->outliers;
    world_pose(o->space, k, t, R);
    for (int i = 0; i < n; i++) {
        z[i] = t[i] + o->sigma * ct_rng_normal(rng) + (bad ? 10 * ct_rng_normal(rng) : 0);
        for (int j = 0; j < 3; j++) z[i] += R[3 * i + j] * arm[j];
        z[n + i] = arm[i];
    }
    const ct_factor_ops *ops = o->space ? &ct_position_se3 : &ct_position_se2;
    CHECK_OK(ct_graph_add_factor(w->graph, ops, &(const int32_t){k}, z, NULL, 1, &w->err), w->err);
}

static inline world world_new(const world_options *o)
{
    static const int ROWS[2][5] = {{2, 1, 1, 2, 2}, {3, 2, 1, 3, 3}};
    world            w = {.poses = o->poses};
    ct_rng           rng = ct_rng_seed((uint64_t)o->seed + 1);
    const ct_kind    kind = o->space ? CT_SE3 : CT_SE2;
    CHECK_OK(ct_graph_new(&w.graph, &w.err), w.err);
    CHECK_OK(ct_noise_new(&w.noise, &w.err), w.err);
    CHECK_OK(ct_noise_add_isotropic(w.noise, "odom", ct_kind_dim(kind), 1e-4, NULL, &w.err), w.err);
    CHECK_OK(ct_noise_add_isotropic(w.noise, "sight", ROWS[o->space][o->sees], 0.01, NULL, &w.err), w.err);
    CHECK_OK(ct_noise_add_isotropic(w.noise, "first_pose", ct_kind_dim(kind), 1e-6, NULL, &w.err), w.err);
    for (int k = 0; k < o->poses; k++)
        CHECK_OK(ct_graph_add_variable(w.graph, NULL, kind, NULL, NULL, &w.err), w.err);
    for (int i = 0; i < LANDMARKS; i++) {
        for (int j = 0; j < 3; j++)
            w.landmark[i][j] = (j < 2 ? 28 : o->space ? 6 : 0) * (ct_rng_uniform(&rng) - 0.5);
        if (!o->unknown && !o->fixed) continue;
        CHECK_OK(ct_graph_add_variable(w.graph, NULL, o->space ? CT_R3 : CT_R2, o->fixed ? w.landmark[i] : NULL,
                                       &w.point[i], &w.err), w.err);
        ct_graph_fix(w.graph, w.point[i], o->fixed);
    }
    for (int k = 0; k < o->poses; k++) {
        double first[7];
        if (k) world_odometry(&w, o, &rng, k);
        world_stored(o->space, k, first);
        if (!k && o->first) CHECK_OK(ct_graph_add_prior(w.graph, 0, first, 2, &w.err), w.err);
        for (int i = 0; i < 2 && o->sees != SEES_POSITION; i++)
            if (ct_rng_uniform(&rng) < 0.4) world_sight(&w, o, &rng, k, (int)(ct_rng_uniform(&rng) * LANDMARKS));
        if (o->sees == SEES_POSITION && k % 3 == 0) world_position(&w, o, &rng, k);
    }
    w.x = calloc((size_t)ct_graph_size(w.graph), sizeof *w.x);
    CHECK_OK(ct_sequence_new(w.graph, &w.seq, &w.err), w.err);
    return w;
}

static inline void world_free(world *w)
{
    free(w->x);
    ct_sequence_free(w->seq);
    ct_noise_free(w->noise);
}

/* Largest distance of a pose from where it truly is, in m; turn <- the largest angle. */
static inline double world_error(const world *w, int space, const double *x, double *turn)
{
    double worst = 0;
    *turn = 0;
    for (int k = 0; k < w->poses; k++) {
        double        truth[7], d[6];
        const ct_kind kind = space ? CT_SE3 : CT_SE2;
        world_stored(space, k, truth);
        ct_kind_local(kind, truth, x + ct_graph_offset(w->graph, k), d);
        const double *t = d + (space ? 3 : 0);
        worst = fmax(worst, sqrt(t[0] * t[0] + t[1] * t[1] + (space ? t[2] * t[2] : 0)));
        *turn = fmax(*turn, space ? sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) : fabs(d[2]));
    }
    return worst;
}

#endif
