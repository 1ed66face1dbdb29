/* pose_graph.c: simulated pose graphs.
 *
 * SE2: a street grid with square blocks of STREET metres. The robot drives one metre per pose; at a crossing it goes
 * straight on (1/2), left or right (1/4 each). The grid grows with the number of poses such that a place is visited
 * about twice. A loop closure is a pose within a metre, at least GAP poses ago. After the Manhattan world of Olson
 * (2006).
 *
 * SE3: a robot moves around a sphere in rings, about as many rings as poses per ring, its x axis along the ring and
 * its z axis outwards. A loop closure is the pose below, in the previous ring. After the sphere world of Kaess
 * (2008).
 *
 * A measurement from a to b is z = (a^-1 b) o Exp(e), e normal: noise in the tangent space of the measurement, on
 * the right, as in the residual Log(z^-1 a^-1 b). Path, loop closures and noise are drawn from three streams, so the
 * path does not change with the other options. */
#include <covtune/simulate.h>
#include "data/data.h"

#include <math.h>

#define STREET 4  /* poses from crossing to crossing                            */
#define GAP    10 /* poses: nearer ones are odometry, not loop closures         */
#define TWICE  16 /* poses per block, for about two visits of a street          */

static const double PI = 3.14159265358979323846;

ct_pose_graph_options ct_pose_graph_defaults(ct_kind kind)
{
    if (kind == CT_SE3) return (ct_pose_graph_options){CT_SE3, 2500, 0.05, 0.01, 1.0, 1};
    return (ct_pose_graph_options){kind, 3500, 0.05, 0.01, 0.5, 1};
}

/* ---- The city -------------------------------------------------------------------------------- */

typedef struct {
    int32_t  side;   /* lattice points along an edge of the grid                */
    int32_t *latest; /* per lattice point: last pose there, or -1               */
    int32_t *before; /* per pose: the pose before it at the same point, or -1   */
} city;

static int inside(const city *c, int32_t x, int32_t y) { return x >= 0 && y >= 0 && x < c->side && y < c->side; }

static const int8_t STEP[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}}; /* east, north, west, south */

/* The most recent pose at the point or next to it that is at least GAP poses old; -1: none. */
static int32_t near_pose(const city *c, int32_t pose, int32_t x, int32_t y)
{
    for (int k = -1; k < 4; k++) {
        const int32_t u = k < 0 ? x : x + STEP[k][0], v = k < 0 ? y : y + STEP[k][1];
        if (!inside(c, u, v)) continue;
        int32_t j = c->latest[(int64_t)v * c->side + u];
        while (j >= 0 && j > pose - GAP) j = c->before[j];
        if (j >= 0) return j;
    }
    return -1;
}

/* The next direction at a lattice point: turns at crossings and at the edge of the grid only. */
static int next_direction(const city *c, int32_t x, int32_t y, int direction, ct_rng *rng)
{
    if (x % STREET || y % STREET) return direction;
    const double u = ct_rng_uniform(rng);
    if (u >= 0.5) direction += u < 0.75 ? 1 : 3;
    static const int TRY[4] = {0, 1, 3, 2};
    for (int k = 0; k < 4; k++) {
        const int8_t *s = STEP[(direction + TRY[k]) % 4];
        if (inside(c, x + s[0], y + s[1])) return (direction + TRY[k]) % 4;
    }
    return direction;
}

/* truth: x, y, cos, sin per pose; loop: the pose of a possible loop closure, or -1. */
static void drive(city *c, int32_t poses, ct_rng *rng, double *truth, int32_t *loop)
{
    int32_t x = c->side / 2 / STREET * STREET, y = x;
    int     direction = 0;
    for (int32_t i = 0; i < poses; i++) {
        const ct_se2 pose = {x, y, STEP[direction][0], STEP[direction][1]};
        memcpy(truth + 4 * (int64_t)i, &pose, sizeof pose);
        loop[i] = near_pose(c, i, x, y);
        c->before[i] = c->latest[(int64_t)y * c->side + x];
        c->latest[(int64_t)y * c->side + x] = i;
        direction = next_direction(c, x, y, direction, rng);
        x += STEP[direction][0];
        y += STEP[direction][1];
    }
}

static ct_status make_city(int32_t poses, ct_rng *rng, double *truth, int32_t *loop, ct_err *err)
{
    const int32_t blocks = (int32_t)ceil(sqrt((double)poses / TWICE));
    city          c = {.side = STREET * CT_MAX(blocks, 2) + 1};
    const int64_t points = (int64_t)c.side * c.side;
    c.latest = ct__zalloc(points, sizeof *c.latest);
    c.before = ct__zalloc(poses, sizeof *c.before);
    ct_status status = CT_OK;
    if (c.latest && c.before) {
        for (int64_t i = 0; i < points; i++) c.latest[i] = -1;
        drive(&c, poses, rng, truth, loop);
    } else {
        status = ct__no_memory(err, "street corners", points);
    }
    free(c.latest);
    free(c.before);
    return status;
}

/* ---- The sphere ------------------------------------------------------------------------------ */

/* truth: x, y, z, qx, qy, qz, qw per pose. One metre per pose at the equator, half a metre between rings; without
 * the poles, where east is undefined. */
static void climb(int32_t poses, double *truth, int32_t *loop)
{
    const int32_t ring = (int32_t)CT_MAX(4, lround(sqrt((double)poses)));
    const double  radius = ring / (2 * PI);
    for (int32_t i = 0; i < poses; i++) {
        const double longitude = 2 * PI * (i % ring) / ring, latitude = PI * ((i + 0.5) / poses - 0.5);
        const double east[3] = {-sin(longitude), cos(longitude), 0};
        const double up[3] = {cos(latitude) * cos(longitude), cos(latitude) * sin(longitude), sin(latitude)};
        const double north[3] = {-sin(latitude) * cos(longitude), -sin(latitude) * sin(longitude), cos(latitude)};
        const double R[9] = {east[0], north[0], up[0], east[1], north[1], up[1], east[2], north[2], up[2]};
        const double t[3] = {radius * up[0], radius * up[1], radius * up[2]};
        const ct_se3 pose = ct_se3_make(t, ct_so3_from_matrix(R));
        memcpy(truth + 7 * (int64_t)i, &pose, sizeof pose);
        loop[i] = i - ring >= 0 ? i - ring : -1;
    }
}

/* ---- The graph ------------------------------------------------------------------------------- */

typedef struct {
    ct_kind       kind;
    double        sigma[CT_DIM_MAX]; /* tangent order */
    const double *truth;
    ct_rng        rng;
    int32_t       odom, loop;        /* noise models  */
    ct_graph     *graph;
    ct_err       *err;
} maker;

void ct__measure(ct_kind kind, const double *a, const double *b, const double *e, double z[CT_SIZE_MAX])
{
    double d[CT_DIM_MAX];
    ct_kind_local(kind, a, b, d);
    ct_kind_identity(kind, z);
    ct_kind_retract(kind, z, d, z);
    ct_kind_retract(kind, z, e, z);
}

/* The measurement between poses a and b. */
static void measure(maker *m, int32_t a, int32_t b, double z[CT_SIZE_MAX])
{
    const int64_t size = ct_kind_size(m->kind);
    double        e[CT_DIM_MAX];
    for (int i = 0; i < ct_kind_dim(m->kind); i++) e[i] = m->sigma[i] * ct_rng_normal(&m->rng);
    ct__measure(m->kind, m->truth + a * size, m->truth + b * size, e, z);
}

/* A pose, its odometry and its loop closure, if there is one. */
static ct_status add_pose(maker *m, int32_t i, int32_t loop)
{
    if (i == 0) {
        CT_TRY(ct_graph_add_variable(m->graph, NULL, m->kind, m->truth, NULL, m->err));
        ct_graph_fix(m->graph, 0, 1);
        return CT_OK;
    }
    double z[CT_SIZE_MAX];
    measure(m, i - 1, i, z);
    CT_TRY(ct_graph_add_variable(m->graph, NULL, m->kind, NULL, NULL, m->err));
    CT_TRY(ct_graph_add_between(m->graph, i - 1, i, z, m->odom, m->err));
    if (loop < 0) return CT_OK;
    measure(m, loop, i, z);
    return ct_graph_add_between(m->graph, loop, i, z, m->loop, m->err);
}

static ct_status share_model(ct_noise *noise, const char *name, int dim, const double sigma[], int32_t *index,
                             ct_err *err)
{
    double            variance[CT_DIM_MAX];
    ct__noise_numbers numbers;
    for (int i = 0; i < dim; i++) variance[i] = sigma[i] * sigma[i];
    CT_TRY(ct__noise_diagonal(name, dim, variance, &numbers, err));
    return ct__share_model(noise, name, &numbers, index, err);
}

static ct_status check(const ct_pose_graph_options *o, ct_err *err)
{
    if (o->kind != CT_SE2 && o->kind != CT_SE3)
        return ct_fail(err, CT_E_ARGUMENT, "a world is made of SE2 or SE3 poses, not %s", ct_kind_name(o->kind));
    if (o->poses < 1) return ct_fail(err, CT_E_ARGUMENT, "a world needs at least 1 pose, %d were asked for", o->poses);
    if (!(o->sigma_t > 0) || isinf(o->sigma_t))
        return ct_fail(err, CT_E_ARGUMENT, "sigma_t is %g m; it must be positive and finite", o->sigma_t);
    if (!(o->sigma_r > 0) || isinf(o->sigma_r))
        return ct_fail(err, CT_E_ARGUMENT, "sigma_r is %g rad; it must be positive and finite", o->sigma_r);
    if (!(o->loop_chance >= 0 && o->loop_chance <= 1))
        return ct_fail(err, CT_E_ARGUMENT, "loop_chance is %g; it must lie in [0, 1]", o->loop_chance);
    return CT_OK;
}

/* Fills seq, whose truth is allocated; loop is scratch. */
static ct_status fill(const ct_pose_graph_options *o, ct_noise *noise, ct_sequence *seq, int32_t *loop, ct_err *err)
{
    const int dim = ct_kind_dim(o->kind), rotation_first = o->kind == CT_SE3;
    ct_rng    path = ct_rng_seed(o->seed), chance = ct_rng_seed(~o->seed);
    maker m = {.kind = o->kind,
               .truth = seq->truth,
               .rng = ct_rng_seed(o->seed + 0x9e3779b97f4a7c15u),
               .graph = seq->graph,
               .err = err};
    for (int i = 0; i < dim; i++) m.sigma[i] = (rotation_first ? i < 3 : i == 2) ? o->sigma_r : o->sigma_t;
    CT_TRY(share_model(noise, "odom", dim, m.sigma, &m.odom, err));
    CT_TRY(share_model(noise, "loop", dim, m.sigma, &m.loop, err));

    if (o->kind == CT_SE2) CT_TRY(make_city(o->poses, &path, seq->truth, loop, err));
    else climb(o->poses, seq->truth, loop);
    for (int32_t i = 0; i < o->poses; i++) {
        const int closed = loop[i] >= 0 && ct_rng_uniform(&chance) < o->loop_chance;
        CT_TRY(add_pose(&m, i, closed ? loop[i] : -1));
        seq->known[i] = (uint8_t)((1u << dim) - 1);
    }
    return ct_sequence_initialise(seq, 1, ct_graph_initial(seq->graph), err);
}

ct_status ct_simulate_pose_graph(const ct_pose_graph_options *options, ct_noise *noise, ct_sequence **out, ct_err *err)
{
    *out = NULL;
    CT_TRY(check(options, err));
    ct_sequence *seq;
    CT_TRY(ct_sequence_new(NULL, &seq, err));
    seq->name = ct__strdup(options->kind == CT_SE2 ? "city" : "sphere");
    seq->truth = ct__zalloc((int64_t)options->poses * ct_kind_size(options->kind), sizeof *seq->truth);
    seq->known = ct__zalloc(options->poses, sizeof *seq->known);
    int32_t  *loop = ct__zalloc(options->poses, sizeof *loop);
    ct_status status =
        seq->name && seq->truth && seq->known && loop ? CT_OK : ct__no_memory(err, "poses", options->poses);
    if (status == CT_OK) status = fill(options, noise, seq, loop, err);
    free(loop);
    if (status == CT_OK) *out = seq;
    else ct_sequence_free(seq);
    return status;
}
