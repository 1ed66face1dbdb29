/* graph_test.h: graphs made at random for the tests of the solvers, with their truth; and slow dense
 * linear algebra on them that shares nothing with the library but the models' eval. */
#ifndef GRAPH_TEST_H
#define GRAPH_TEST_H

#include <covtune/push.h>
#include "ct_test.h"

#include <covtune/solve.h>

/* What a random graph has. Every graph is tied to the world and regular. */
enum {
    PLANE = 1,
    SPACE = 2,
    VECTORS = 4,
    LOOPS = 8,
    LANDMARKS = 16,
    ROBUST = 32,
    FIXED = 64,
    EVERYTHING = 127,
    PARTIAL = 128
};

typedef struct {
    ct_graph *graph;
    ct_noise *noise;
    double   *truth;
    int       parts;
    int32_t   pose[2][12], point[2][4]; /* plane, space */
    ct_rng    rng;
    ct_err    err;
} world;

static inline double *copy_values(const ct_graph *graph, const double *x)
{
    const size_t bytes = (size_t)ct_graph_size(graph) * sizeof *x;
    double      *y = malloc(bytes + 1);
    return memcpy(y, x, bytes);
}

/* x <- x o Exp(sigma normal). */
static inline void jitter(world *w, ct_kind kind, double sigma, double *x)
{
    double d[CT_DIM_MAX];
    for (int i = 0; i < ct_kind_dim(kind); i++) d[i] = sigma * ct_rng_normal(&w->rng);
    ct_kind_retract(kind, x, d, x);
}

/* A variable whose truth is `value` and whose initial value lies near it. */
static inline int32_t add_variable(world *w, ct_kind kind, const double *value)
{
    double  start[CT_SIZE_MAX];
    int32_t index = -1;
    memcpy(start, value, (size_t)ct_kind_size(kind) * sizeof *start);
    jitter(w, kind, 0.05, start);
    CHECK_OK(ct_graph_add_variable(w->graph, NULL, kind, start, &index, &w->err), w->err);
    w->truth = realloc(w->truth, (size_t)ct_graph_size(w->graph) * sizeof *w->truth);
    memcpy(w->truth + ct_graph_offset(w->graph, index), value, (size_t)ct_kind_size(kind) * sizeof *value);
    return index;
}

static inline int begins(const char *name, const char *with) { return !strncmp(name, with, strlen(with)); }

/* Where x sees a point in the frame of a sensor on it, or of its body (sensor NULL). */
static inline void sensor_point(ct_kind pose, const double *x, const double *point, const double *sensor, double *p)
{
    double z[10] = {0};
    if (sensor) memcpy(z + (pose == CT_SE3 ? 3 : 2), sensor, (size_t)ct_kind_size(pose) * sizeof *z);
    else ct_kind_identity(pose, z + (pose == CT_SE3 ? 3 : 2));
    ct_factor_eval(pose == CT_SE3 ? &ct_point_se3_r3 : &ct_point_se2_r2, z, NULL, (const double *[]){x, point}, p,
                   NULL);
}

/* Range, bearing, both, or the point itself: [measured][known point][sensor] in z, sensor already filled. */
static inline void measure_sight(world *w, const ct_factor_ops *ops, const double *const x[], double *z)
{
    const int n = ops->kind[0] == CT_SE3 ? 3 : 2, both = begins(ops->name, "range_b"),
              range = both || begins(ops->name, "range");
    const int direction = both || begins(ops->name, "bearing"), measured = range + (direction || !range ? n : 0);
    double   *known = z + measured, *sensor = known + (ops->arity == 1 ? n : 0), pose[7], p[3], length = 0;
    ct_kind_identity(ops->kind[0], pose);
    memcpy(pose, sensor, (size_t)(range && !both ? n : ct_kind_size(ops->kind[0])) * sizeof *pose);
    if (ops->arity == 1)
        for (int i = 0; i < n; i++) known[i] = x[0][i] + 4 * ct_rng_normal(&w->rng);
    sensor_point(ops->kind[0], x[0], ops->arity == 1 ? known : x[1], pose, p);
    for (int i = 0; i < n; i++) length += p[i] * p[i];
    length = sqrt(length);
    if (range) z[0] = fabs(length + 0.03 * ct_rng_normal(&w->rng));
    for (int i = 0; (direction || !range) && i < n; i++) z[range + i] = direction && n == 2 ? p[i] / length : p[i];
    if (direction && n == 2) jitter(w, CT_SO2, 0.02, z + range);
    else if (direction || !range)
        for (int i = 0; i < n; i++) z[range + i] += 0.02 * length * ct_rng_normal(&w->rng);
}

/* What a noisy sensor says of the truth. */
static inline void measure(world *w, const ct_factor_ops *ops, const int32_t *var, double *z)
{
    const double *x[CT_ARITY_MAX];
    const ct_kind kind = ops->kind[0];
    double        d[CT_DIM_MAX], r[CT_ROWS_MAX];
    for (int i = 0; i < ops->arity; i++) x[i] = w->truth + ct_graph_offset(w->graph, var[i]);
    double *at = z;
    for (int f = 0; f < ops->fields; at += ct_kind_size(ops->field[f++])) {
        for (int i = 0; i < ct_kind_size(ops->field[f]); i++) at[i] = 0;
        if (f < ops->required || ops->field[f] == CT_R1) continue; /* and points are not above it */
        ct_kind_identity(ops->field[f], at); /* a sensor a little off the body's origin */
        jitter(w, ops->field[f], 0.3, at);
    }
    if (begins(ops->name, "prior") || begins(ops->name, "gtsam_prior")) {
        memcpy(z, x[0], (size_t)ct_kind_size(kind) * sizeof *z);
        jitter(w, kind, 0.03, z);
    } else if (begins(ops->name, "between") || begins(ops->name, "gtsam_between")) {
        ct_kind_identity(kind, z);
        ct_kind_local(kind, x[0], x[1], d);
        ct_kind_retract(kind, z, d, z);
        jitter(w, kind, 0.02, z);
    } else if (begins(ops->name, "position")) { /* r = t + R l - z */
        ct_factor_eval(ops, z, NULL, x, r, NULL);
        for (int i = 0; i < ops->rows; i++) z[i] = r[i] + 0.05 * ct_rng_normal(&w->rng);
    } else if (begins(ops->name, "velocity")) {
        z[ops->rows] = 0.5;
        ct_kind_local(kind, x[0], x[1], d);
        for (int i = 0; i < ops->rows; i++) z[i] = d[i] / 0.5 + 0.05 * ct_rng_normal(&w->rng);
    } else measure_sight(w, ops, x, z);
}

/* One of three models for that many rows, "group@regime" each: isotropic, diagonal, full. Made on demand. */
static inline int32_t pick_noise(world *w, int rows)
{
    const int regime = (int)(ct_rng_bits(&w->rng) % 3);
    char      name[32];
    snprintf(name, sizeof name, "rows%d@%d", rows, regime);
    int32_t index = ct_noise_find(w->noise, name);
    if (index >= 0) return index;
    double v[6], S[36] = {0};
    for (int i = 0; i < rows; i++) v[i] = 0.0004 * (1 + 3 * ct_rng_uniform(&w->rng));
    for (int i = 0; i < rows * rows; i++) S[i] = i % (rows + 1) == 0 ? v[i / rows] : 1e-4 * cos(i / rows + i % rows);
    if (regime == 0) CHECK_OK(ct_noise_add_isotropic(w->noise, name, rows, v[0], &index, &w->err), w->err);
    else if (regime == 1) CHECK_OK(ct_noise_add_diagonal(w->noise, name, rows, v, &index, &w->err), w->err);
    else CHECK_OK(ct_noise_add_full(w->noise, name, rows, S, &index, &w->err), w->err);
    static const ct_robust kernel[3] = {{CT_ROBUST_HUBER, 1.3, 0}, {CT_ROBUST_CAUCHY, 2.4, 0}, {CT_ROBUST_NONE, 0, 0}};
    if (w->parts & ROBUST && regime < 2)
        CHECK_OK(ct_noise_set_robust(w->noise, index, kernel[regime], &w->err), w->err);
    return index;
}

static inline void tie(world *w, const ct_factor_ops *ops, int32_t a, int32_t b)
{
    const int32_t var[2] = {a, b};
    double        z[32] = {0};
    measure(w, ops, var, z);
    CHECK_OK(ct_graph_add_factor(w->graph, ops, var, z, NULL, pick_noise(w, ops->rows), &w->err), w->err);
}

/* A walk of poses in the plane or in space, as many as `pose` holds, with all that can be measured there. */
static inline void add_walk(world *w, int space)
{
    const ct_kind kind = space ? CT_SE3 : CT_SE2;
    int32_t      *pose = w->pose[space], *point = w->point[space];
    const int     poses = space ? 8 : 12, points = w->parts & LANDMARKS ? 4 : 0;
    double        x[CT_SIZE_MAX], step[6] = {0};
    ct_kind_identity(kind, x);
    for (int i = 0; i < poses; i++) {
        pose[i] = add_variable(w, kind, x);
        step[space ? 3 : 0] = 1;
        ct_kind_retract(kind, x, step, x);
        jitter(w, kind, 0.3, x);
    }
    tie(w, ct_factor_prior(kind), pose[0], -1);
    for (int i = 1; i < poses; i++) {
        if (i == 3) tie(w, space ? &ct_velocity_se3 : &ct_velocity_se2, pose[i - 1], pose[i]);
        else tie(w, ct_factor_between(kind), pose[i - 1], pose[i]);
    }
    for (int i = 0; w->parts & LOOPS && i + 5 < poses; i += 2) tie(w, ct_factor_between(kind), pose[i + 5], pose[i]);
    for (int k = 0; k < points; k++) {
        double p[3];
        for (int i = 0; i < 3; i++) p[i] = x[i] / 2 + 3 * ct_rng_normal(&w->rng);
        point[k] = add_variable(w, space ? CT_R3 : CT_R2, p);
        tie(w, space ? &ct_range_bearing_se3_r3 : &ct_range_bearing_se2_r2, pose[k], point[k]);
        tie(w, space ? &ct_point_se3_r3 : &ct_point_se2_r2, pose[k + 1], point[k]);
        tie(w, space ? &ct_bearing_se3_r3 : &ct_bearing_se2_r2, pose[k + 2], point[k]);
        tie(w, space ? &ct_range_se3_r3 : &ct_range_se2_r2, pose[k + 3], point[k]);
    }
    if (!points) return;
    tie(w, space ? &ct_position_se3 : &ct_position_se2, pose[4], -1);
    tie(w, space ? &ct_range_se3_point : &ct_range_se2_point, pose[5], -1);
    tie(w, space ? &ct_bearing_se3_point : &ct_bearing_se2_point, pose[6], -1);
    tie(w, space ? &ct_range_bearing_se3_point : &ct_range_bearing_se2_point, pose[7], -1);
    tie(w, space ? &ct_point_se3_point : &ct_point_se2_point, pose[2], -1);
}

/* Three of each other kind, in a triangle hung on a prior. */
static inline void add_vectors(world *w)
{
    for (int k = 0; k <= CT_SO3; k++) {
        const ct_kind kind = (ct_kind)k;
        int32_t       v[3];
        double        x[CT_SIZE_MAX];
        ct_kind_identity(kind, x);
        for (int i = 0; i < 3; i++) {
            jitter(w, kind, 0.7, x);
            v[i] = add_variable(w, kind, x);
        }
        tie(w, ct_factor_prior(kind), v[0], -1);
        for (int i = 0; i < 3; i++) tie(w, ct_factor_between(kind), v[i], v[(i + 1) % 3]);
    }
}

/* ---- models that depend on part of their variables ---- */

/* The middle one of three coordinates. */
static inline void eval_middle(const double *z, const void *context, const double *const x[], double *r,
                               double *const J[])
{
    (void)context;
    r[0] = x[0][1] - z[0];
    if (J && J[0]) J[0][0] = J[0][2] = 0, J[0][1] = 1;
}
static const ct_factor_ops middle_r3 = {.name = "middle_r3",
                                        .rows = 1,
                                        .arity = 1,
                                        .kind = {CT_R3},
                                        .fields = 1,
                                        .required = 1,
                                        .field = {CT_R1},
                                        .absolute = 1,
                                        .eval = eval_middle,
                                        .flat = 1,
                                        .depends = {2},
                                        .coordinate = {"y"},
                                        .unit = {"m"}};

/* Of the turn between two poses the part about x and y; positions have no say. By differences. */
static inline void eval_tilt(const double *z, const void *context, const double *const x[], double *r,
                             double *const J[])
{
    (void)context, (void)J;
    double motion[CT_DIM_MAX];
    ct_kind_local(CT_SE3, x[0], x[1], motion); /* the turn comes first */
    r[0] = motion[0] - z[0], r[1] = motion[1] - z[1];
}
static const ct_factor_ops tilt_se3 = {.name = "tilt_se3",
                                       .rows = 2,
                                       .arity = 2,
                                       .kind = {CT_SE3, CT_SE3},
                                       .fields = 1,
                                       .required = 1,
                                       .field = {CT_R2},
                                       .jacobian = CT_JACOBIAN_NUMERIC,
                                       .eval = eval_tilt,
                                       .depends = {7, 7},
                                       .coordinate = {"rx", "ry"},
                                       .unit = {"rad", "rad"}};

/* z so that the residual at the truth is noise: it is z that is subtracted, or turned back by. */
static inline void tie_partial(world *w, const ct_factor_ops *ops, const int32_t *var)
{
    const double *x[CT_ARITY_MAX];
    double        z[2] = {ops->field[0] == CT_SO2, 0}, r[2];
    for (int i = 0; i < ops->arity; i++) x[i] = w->truth + ct_graph_offset(w->graph, var[i]);
    ops->eval(z, NULL, x, r, NULL);
    for (int i = 0; i < ops->rows; i++) z[i] = r[i] + 0.02 * ct_rng_normal(&w->rng);
    if (ops->field[0] == CT_SO2) z[1] = sin(z[0]), z[0] = cos(z[0]);
    CHECK_OK(ct_graph_add_factor(w->graph, ops, var, z, NULL, pick_noise(w, ops->rows), &w->err), w->err);
}

static inline void add_partial(world *w)
{
    for (int i = 0; w->parts & PLANE && i < 8; i++)
        tie_partial(w, &ct_tactile_yaw,
                    (const int32_t[]){w->pose[0][i], w->pose[0][i + 1], w->pose[0][i + 3], w->pose[0][i + 4]});
    for (int i = 0; w->parts & SPACE && i < 4; i++)
        tie_partial(w, &tilt_se3, (const int32_t[]){w->pose[1][i + 4], w->pose[1][i]});
    for (int32_t v = 0; v < ct_graph_variables(w->graph); v++)
        if (ct_graph_kind(w->graph, v) == CT_R3 && v % 2) tie_partial(w, &middle_r3, &v);
}

static inline void world_make(world *w, uint64_t seed, int parts)
{
    *w = (world){.parts = parts, .rng = ct_rng_seed(seed)};
    CHECK_OK(ct_graph_new(&w->graph, &w->err), w->err);
    CHECK_OK(ct_noise_new(&w->noise, &w->err), w->err);
    if (parts & PLANE) add_walk(w, 0);
    if (parts & SPACE) add_walk(w, 1);
    if (parts & VECTORS) add_vectors(w);
    if (parts & PARTIAL) add_partial(w);
    if (parts & FIXED)
        for (int32_t v = 1; v < ct_graph_variables(w->graph); v += 4) ct_graph_fix(w->graph, v, 1);
}

static inline void world_free(world *w)
{
    ct_graph_free(w->graph);
    ct_noise_free(w->noise);
    free(w->truth);
}

/* The law on `rounds` random graphs of each of these kinds. */
static inline void for_worlds(int kinds, const int parts[], int rounds, void (*law)(world *w))
{
    for (int i = 0; i < kinds; i++)
        for (int round = 0; round < rounds; round++) {
            world     w;
            const int failed = ct_test_failed_checks;
            world_make(&w, (uint64_t)(100 * i + round), parts[i]);
            law(&w);
            world_free(&w);
            if (ct_test_failed_checks > failed) fprintf(stderr, "  in case %d, round %d\n", i, round);
        }
}

static inline ct_solver *new_solver(world *w, const ct_sparse_options *options)
{
    ct_solver *solver = NULL;
    CHECK_OK(ct_solver_new(w->graph, options, &solver, &w->err), w->err);
    return solver;
}

/* To the last digit that the error can tell. */
static inline ct_solve_options precise(ct_method method)
{
    ct_solve_options options = ct_solve_defaults();
    options.method = method;
    options.max_iterations = 500;
    options.relative = options.absolute = 0;
    options.step = 1e-12;
    return options;
}

/* The estimate from the graph's initial values; the caller frees it. */
static inline double *estimate(world *w, ct_method method, ct_solve_result *result)
{
    const ct_solve_options options = precise(method);
    ct_solver             *solver = new_solver(w, NULL);
    double                *x = copy_values(w->graph, ct_graph_initial(w->graph));
    CHECK_OK(ct_solver_run(solver, w->noise, x, &options, result, &w->err), w->err);
    CHECK(ct_solve_usable(result)); /* at coordinates of 5e6 m double precision resolves no more than 1e-5 sigma */
    ct_solver_free(solver);
    return x;
}

/* Largest tangent distance between two sets of values. */
static inline double distance(const ct_graph *graph, const double *x, const double *y)
{
    double largest = 0;
    for (int32_t v = 0; v < ct_graph_variables(graph); v++) {
        double        d[CT_DIM_MAX];
        const ct_kind kind = ct_graph_kind(graph, v);
        ct_kind_local(kind, x + ct_graph_offset(graph, v), y + ct_graph_offset(graph, v), d);
        for (int i = 0; i < ct_kind_dim(kind); i++) largest = isnan(d[i]) ? INFINITY : fmax(largest, fabs(d[i]));
    }
    return largest;
}

/* ---- dense linear algebra ---------------------------------------------------------------------- */

/* X = A^-1 by Gauss-Jordan with pivoting. */
static inline void dense_inverse(int n, const double *A, double *X)
{
    const int w = 2 * n;
    double   *M = calloc((size_t)n * (size_t)w, sizeof *M);
    for (int i = 0; i < n; i++) {
        memcpy(M + i * w, A + i * n, (size_t)n * sizeof *A);
        M[i * w + n + i] = 1;
    }
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k; i < n; i++)
            if (fabs(M[i * w + k]) > fabs(M[best * w + k])) best = i;
        for (int j = 0; j < w; j++) {
            const double t = M[k * w + j];
            M[k * w + j] = M[best * w + j];
            M[best * w + j] = t;
        }
        const double inverse = 1 / M[k * w + k];
        for (int j = 0; j < w; j++) M[k * w + j] *= inverse;
        for (int i = 0; i < n; i++) {
            const double f = M[i * w + k];
            if (i == k || f == 0) continue;
            for (int j = 0; j < w; j++) M[i * w + j] -= f * M[k * w + j];
        }
    }
    for (int i = 0; i < n; i++) memcpy(X + i * n, M + i * w + n, (size_t)n * sizeof *X);
    free(M);
}

/* The inverse covariance of a model, dim x dim. */
static inline void dense_information(const ct_noise_model *m, double *W)
{
    double S[36] = {0};
    for (int i = 0; i < m->dim * m->dim; i++)
        S[i] = m->kind == CT_NOISE_FULL ? m->covariance[i] : i % (m->dim + 1) == 0 ? m->covariance[i / m->dim] : 0;
    dense_inverse(m->dim, S, W);
}

/* H = sum w J'WJ and g = sum w J'Wr at x; variables' columns are those of the solver. */
static inline void dense_system(const world *w, const ct_solver *solver, const double *x, int n, double *H, double *g)
{
    memset(H, 0, (size_t)n * (size_t)n * sizeof *H);
    memset(g, 0, (size_t)n * sizeof *g);
    for (int32_t f = 0; f < ct_graph_factors(w->graph); f++) {
        const ct_factor factor = ct_graph_factor(w->graph, f);
        const int       rows = factor.ops->rows;
        double          r[6], space[CT_ARITY_MAX][36], *J[CT_ARITY_MAX], W[36], row[6] = {0}, d2 = 0, weight;
        const double   *arg[CT_ARITY_MAX];
        for (int i = 0; i < factor.ops->arity; i++) {
            arg[i] = x + ct_graph_offset(w->graph, factor.var[i]);
            J[i] = space[i];
        }
        ct_factor_eval(factor.ops, factor.z, factor.context, arg, r, J);
        const ct_noise_model *model = ct_noise_get(w->noise, factor.noise);
        dense_information(model, W);
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < rows; j++) row[i] += W[i * rows + j] * r[j];
        for (int i = 0; i < rows; i++) d2 += r[i] * row[i];
        ct_robust_error(model->robust, d2, &weight);
        for (int a = 0; a < factor.ops->arity; a++) {
            const int ca = ct_solver_column(solver, factor.var[a]), da = ct_kind_dim(factor.ops->kind[a]);
            for (int i = 0; ca >= 0 && i < da; i++)
                for (int k = 0; k < rows; k++) g[ca + i] += weight * J[a][k * da + i] * row[k];
            for (int b = 0; ca >= 0 && b < factor.ops->arity; b++) {
                const int cb = ct_solver_column(solver, factor.var[b]), db = ct_kind_dim(factor.ops->kind[b]);
                for (int i = 0; cb >= 0 && i < da * db * rows * rows; i++) {
                    const int p = i % da, q = i / da % db, k = i / (da * db) % rows, l = i / (da * db * rows);
                    H[(ca + p) * n + cb + q] += weight * J[a][k * da + p] * W[k * rows + l] * J[b][l * db + q];
                }
            }
        }
    }
}

#endif
