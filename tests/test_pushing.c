/* test_pushing.c: what the models of planar pushing alone must satisfy, at the sizes of things on a table: tactile,
 * push, contact. Laws of all models are in test_factors.c and test_curvature.c. */
#include <covtune/push.h>
#include <covtune/smooth.h>
#include <covtune/solve.h>

#include "ct_test.h"

#define PI 3.14159265358979323846

static ct_shape *ellipse, *rectangle;

/* x, y, theta of o, e, p, f, and the same as stored. */
typedef struct {
    double        at[4][3], value[4][4];
    const double *x[4];
} scene;

static void store(scene *s)
{
    for (int i = 0; i < 4; i++) {
        CHECK(ct_kind_from_fields(CT_SE2, s->at[i], s->value[i]));
        s->x[i] = s->value[i];
    }
}

static void draw(scene *s, ct_rng *rng)
{
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) s->at[i][k] = (k == 2 ? 2 : 0.3) * ct_rng_normal(rng);
    store(s);
}

static double wrap(double angle) { return angle - 2 * PI * floor((angle + PI) / (2 * PI)); }

/* (x, y) seen from an axis at theta. */
static void seen(double theta, double x, double y, double out[2])
{
    out[0] = cos(theta) * x + sin(theta) * y;
    out[1] = -sin(theta) * x + cos(theta) * y;
}

/* ---- Residuals in plain coordinates: angles subtracted and wrapped ---------------------------------- */

static void test_residuals_are_what_plain_coordinates_say(void)
{
    ct_rng rng = ct_rng_seed(1);
    for (int i = 0; i < 1000; i++) {
        scene        s;
        double       v[2], V[2], P[2], q[2], r[3];
        const double c2 = 0.01 + ct_rng_uniform(&rng), turn = 3 * ct_rng_normal(&rng), radius = 0.01;
        draw(&s, &rng);
        const double *o = s.at[0], *e = s.at[1], *p = s.at[2], *f = s.at[3], w = wrap(p[2] - o[2]),
                     z[2] = {cos(turn), sin(turn)};
        seen(p[2], p[0] - o[0], p[1] - o[1], v);
        seen(p[2], f[0] - e[0], f[1] - e[1], V);
        seen(p[2], f[0] - p[0], f[1] - p[1], P);
        ct_push_se2.eval(&c2, NULL, s.x, r, NULL);
        CHECK_NEAR(r[0], v[0] - V[0] - w * P[1], 1e-13);
        CHECK_NEAR(r[1], v[1] - V[1] + w * P[0], 1e-13);
        CHECK_NEAR(r[2], P[0] * v[1] - P[1] * v[0] - c2 * w, 1e-13);
        ct_tactile_yaw.eval(z, NULL, s.x, r, NULL);
        CHECK_NEAR(wrap(r[0] - ((f[2] - p[2]) - (e[2] - o[2]) - turn)), 0, 1e-13);
        seen(o[2], e[0] - o[0], e[1] - o[1], q);
        ct_contact_se2.eval(&radius, i % 2 ? ellipse : rectangle, s.x, r, NULL);
        CHECK_NEAR(r[0], ct_shape_distance(i % 2 ? ellipse : rectangle, q, NULL, NULL) - radius, 1e-13);
    }
}

/* Its rotation is that of the pose, wherever the finger slid. */
static void test_tactile_yaw_is_the_last_row_of_tactile_se2(void)
{
    ct_rng rng = ct_rng_seed(2);
    for (int i = 0; i < 1000; i++) {
        scene   s;
        double  z[4], yaw, pose[3], J[4][3], K[4][9];
        double *pj[4] = {J[0], J[1], J[2], J[3]}, *pk[4] = {K[0], K[1], K[2], K[3]};
        draw(&s, &rng);
        CHECK(ct_kind_from_fields(CT_SE2, (const double[]){0.1, -0.2, 3 * ct_rng_normal(&rng)}, z));
        ct_tactile_yaw.eval(z + 2, NULL, s.x, &yaw, pj);
        ct_tactile_se2.eval(z, NULL, s.x, pose, pk);
        CHECK_NEAR(yaw, pose[2], 2e-15);
        for (int v = 0; v < 4; v++)
            for (int k = 0; k < 3; k++) CHECK_NEAR(J[v][k], K[v][6 + k], 2e-15);
    }
}

/* Across the back of the circle nothing jumps: a scene turned as a whole has the residual that it had. */
static void test_nothing_jumps_where_angles_wrap(void)
{
    const scene start = {.at = {{0.1, 0, 0.02}, {0, 0.1, 0.5}, {0.11, 0.01, 0.05}, {0.01, 0.11, 0.51}}};
    double      want[7];
    for (int k = 0; k <= 40; k++) {
        const double turn = PI - 1 + 0.05 * k, c2 = 0.04, z[4] = {0.001, 0.002, 1, 0};
        scene        s = start;
        double       r[7];
        for (int i = 0; i < 4; i++) {
            s.at[i][0] = cos(turn) * start.at[i][0] - sin(turn) * start.at[i][1];
            s.at[i][1] = sin(turn) * start.at[i][0] + cos(turn) * start.at[i][1];
            s.at[i][2] = wrap(start.at[i][2] + turn);
        }
        store(&s);
        ct_push_se2.eval(&c2, NULL, s.x, r, NULL);
        ct_tactile_se2.eval(z, NULL, s.x, r + 3, NULL);
        ct_tactile_yaw.eval(z + 2, NULL, s.x, r + 6, NULL);
        if (k == 0) memcpy(want, r, sizeof r);
        for (int i = 0; i < 7; i++) CHECK_NEAR(r[i], want[i], 1e-15);
    }
    CHECK_NEAR(want[6], -0.02, 1e-15);
}

/* ---- Contact where it happens ------------------------------------------------------------------------ */

/* The finger at q as the object sees it, wherever the object is: J, and K against differences of J, good to (h /
 * bend)^2. */
static void check_contact(const ct_shape *shape, const double q[2], ct_rng *rng)
{
    ct_factor_ops plain = ct_contact_se2;
    scene         s;
    ct_err        err = {0};
    double        K[36], L[36], g[2], H[4], x, y;
    const double  u = 1, radius = 0.0075;
    draw(&s, rng);
    seen(-s.at[0][2], q[0], q[1], g);
    x = s.at[0][0] + g[0], y = s.at[0][1] + g[1];
    s.at[1][0] = x, s.at[1][1] = y;
    store(&s);
    ct_shape_distance(shape, q, g, H);
    const double bend = 1 + fabs(H[0]) + fabs(H[3]), off = 1e-8 * bend + 1e-10 * bend * bend * bend;
    CHECK_OK(ct_factor_check(&ct_contact_se2, &radius, shape, s.x, 1e-7, &err), err);
    plain.curvature = NULL;
    ct_factor_curvature(&ct_contact_se2, &radius, shape, s.x, &u, K);
    ct_factor_curvature(&plain, &radius, shape, s.x, &u, L);
    for (int k = 0; k < 36; k++) CHECK_NEAR(K[k], L[k], off);
}

static void test_contact_has_derivatives_at_the_outline(void)
{
    ct_rng rng = ct_rng_seed(3);
    double xy[2 * 60];
    for (int i = 0; i < 2; i++) {
        ct_shape_outline(i ? rectangle : ellipse, 60, xy);
        for (int k = 0; k < 60; k++)
            for (double d = -0.005; d < 0.0055; d += 0.001) {
                double q[2], g[2];
                ct_shape_distance(i ? rectangle : ellipse,
                                  (const double[]){1.000001 * xy[2 * k], 1.0000013 * xy[2 * k + 1]}, g, NULL);
                for (int c = 0; c < 2; c++) q[c] = xy[2 * k + c] + d * g[c];
                if (i && (fabs(g[0]) > 1e-9 && fabs(g[1]) > 1e-9)) continue; /* a corner: below */
                if (i && fabs(fabs(q[0]) - 0.11815) < 1e-3 && fabs(fabs(q[1]) - 0.07895) < 1e-3) continue;
                check_contact(i ? rectangle : ellipse, q, &rng);
            }
    }
}

static void test_contact_has_derivatives_at_corners(void)
{
    ct_rng rng = ct_rng_seed(4);
    for (int corner = 0; corner < 4; corner++)
        for (int k = 0; k < 36; k++) {
            const double sx = corner & 1 ? -1 : 1, sy = corner & 2 ? -1 : 1, turn = (k + 0.5) * PI / 18,
                         far = 0.002 + 0.001 * (k % 3);
            const double in[2] = {far * cos(turn), far * sin(turn)},
                         q[2] = {sx * (0.11815 + in[0]), sy * (0.07895 + in[1])};
            /* as near to one side as to the other */
            if (in[0] < 0 && in[1] < 0 && fabs(in[0] - in[1]) < 3e-4) continue;
            check_contact(rectangle, q, &rng);
        }
}

/* ---- In a graph -------------------------------------------------------------------------------------- */

typedef struct {
    ct_graph *graph;
    ct_noise *noise;
    int32_t   tac, dyn, geo, prior, first;
    ct_err    err;
} table;

enum { STEPS = 15 };

/* An object pushed a few steps, the finger sliding along its outline; what is measured is a little off, and the
 * model is too. */
static void make_table(table *t)
{
    ct_rng rng = ct_rng_seed(5);
    *t = (table){0};
    CHECK_OK(ct_graph_new(&t->graph, &t->err), t->err);
    CHECK_OK(ct_noise_new(&t->noise, &t->err), t->err);
    CHECK_OK(ct_noise_add_isotropic(t->noise, "tac", 1, 1e-4, &t->tac, &t->err), t->err);
    CHECK_OK(ct_noise_add_diagonal(t->noise, "dyn", 3, (const double[]){4e-6, 4e-6, 1e-7}, &t->dyn, &t->err), t->err);
    CHECK_OK(ct_noise_add_isotropic(t->noise, "geo", 1, 1e-6, &t->geo, &t->err), t->err);
    CHECK_OK(ct_noise_add_isotropic(t->noise, "prior", 3, 1e-6, &t->prior, &t->err), t->err);
    CHECK_OK(ct_noise_add_isotropic(t->noise, "first", 3, 1e-8, &t->first, &t->err), t->err);
    for (int i = 0; i < STEPS; i++) {
        const ct_se2 o = ct_se2_make(0.002 * i, 0.0005 * i, 0.02 * i),
                     on = ct_se2_make(-0.0819 * cos(0.03 * i), 0.1214 * sin(0.03 * i), 0.05 * i);
        ct_se2       e = ct_se2_compose(o, on, NULL, NULL);
        int32_t      v[2];
        CHECK_OK(ct_graph_add_variable(t->graph, NULL, CT_SE2, (const double *)&o, &v[0], &t->err), t->err);
        if (i == 0) CHECK_OK(ct_graph_add_prior(t->graph, v[0], (const double *)&o, t->first, &t->err), t->err);
        ct_kind_retract(
            CT_SE2, (double *)&e,
            (const double[]){0.001 * ct_rng_normal(&rng), 0.001 * ct_rng_normal(&rng), 0.001 * ct_rng_normal(&rng)},
            (double *)&e);
        CHECK_OK(ct_graph_add_variable(t->graph, NULL, CT_SE2, (const double *)&e, &v[1], &t->err), t->err);
        CHECK_OK(ct_graph_add_prior(t->graph, v[1], (const double *)&e, t->prior, &t->err), t->err);
        CHECK_OK(ct_graph_add_factor(t->graph, &ct_contact_se2, v, (const double[]){0.001}, ellipse, t->geo, &t->err),
                 t->err);
        const int32_t near[4] = {v[0] - 2, v[0] - 1, v[0], v[1]}, far[4] = {v[0] - 6, v[0] - 5, v[0], v[1]};
        const double  turn = 0.15 + 0.01 * ct_rng_normal(&rng);
        if (i >= 1)
            CHECK_OK(ct_graph_add_factor(t->graph, &ct_push_se2, near, (const double[]){0.005}, NULL, t->dyn, &t->err),
                     t->err);
        if (i >= 3)
            CHECK_OK(ct_graph_add_factor(t->graph, &ct_tactile_yaw, far, (const double[]){cos(turn), sin(turn)}, NULL,
                                         t->tac, &t->err),
                     t->err);
    }
}

static void free_table(table *t)
{
    ct_graph_free(t->graph);
    ct_noise_free(t->noise);
}

/* To the last digit, as far as the method goes. */
static void solve(table *t, const ct_graph *graph, ct_method method, double *x, ct_solve_result *result)
{
    ct_solver       *solver;
    ct_solve_options options = ct_solve_defaults();
    options.method = method;
    options.relative = options.absolute = 0;
    options.step = 1e-10;
    options.max_iterations = 200;
    memcpy(x, ct_graph_initial_const(graph), (size_t)ct_graph_size(graph) * sizeof *x);
    CHECK_OK(ct_solver_new(graph, NULL, &solver, &t->err), t->err);
    CHECK_OK(ct_solver_run(solver, t->noise, x, &options, result, &t->err), t->err);
    CHECK(ct_stop_converged(result->stop));
    ct_solver_free(solver);
}

static void test_every_method_comes_to_one_estimate(void)
{
    table           t;
    ct_graph       *copy;
    ct_solve_result newton, other;
    double          x[8 * STEPS], y[8 * STEPS];
    make_table(&t);
    solve(&t, t.graph, CT_NEWTON, x, &newton);
    CHECK(newton.final_error > 1 && newton.iterations < 20); /* residuals are there, and the Hessian is theirs */
    for (int method = 0; method < CT_METHOD_COUNT; method++) {
        solve(&t, t.graph, (ct_method)method, y, &other);
        CHECK_NEAR(other.final_error, newton.final_error, 1e-10 * newton.final_error);
        for (int i = 0; i < 8 * STEPS; i++) CHECK_NEAR(y[i], x[i], 1e-7);
    }
    CHECK_OK(ct_graph_copy(t.graph, &copy, &t.err), t.err); /* the copy borrows the shape as well */
    solve(&t, copy, CT_NEWTON, y, &other);
    CHECK(!memcmp(x, y, sizeof x));
    ct_graph_free(copy);
    ct_replay_options options = ct_replay_defaults();
    ct_replay_result  result;
    CHECK_OK(ct_replay(t.graph, t.noise, &options, y, &result, &t.err), t.err);
    /* a step at a time */
    CHECK_NEAR(ct_graph_error(t.graph, t.noise, y), newton.final_error, 0.05 * newton.final_error);
    free_table(&t);
}

static void test_a_contact_without_a_shape_is_refused(void)
{
    const double radius = 0;
    const int32_t v[2] = {0, 1};
    table         t;
    scene         s = {0};
    ct_smoother  *smoother;
    make_table(&t);
    store(&s);
    const int32_t before = ct_graph_factors(t.graph);
    CHECK_REFUSED(ct_graph_add_factor(t.graph, &ct_contact_se2, v, &radius, NULL, t.geo, &t.err), t.err,
                  "(contact_se2 on x0): it must be added with a shape");
    CHECK(ct_graph_factors(t.graph) == before);
    CHECK_REFUSED(ct_factor_check(&ct_contact_se2, &radius, NULL, s.x, 1e-6, &t.err), t.err,
                  "contact_se2: it needs a shape");
    CHECK_OK(ct_smoother_new(t.noise, NULL, &smoother, &t.err), t.err);
    const ct_new_variable variable[2] = {{.kind = CT_SE2, .value = s.value[0]}, {.kind = CT_SE2, .value = s.value[1]}};
    const ct_new_factor   factor = {.ops = &ct_contact_se2, .var = v, .z = &radius, .noise = t.geo};
    const ct_increment    inc = {.variables = 2, .variable = variable, .factors = 1, .factor = &factor};
    CHECK_REFUSED(ct_smoother_update(smoother, &inc, NULL, &t.err), t.err,
                  "(contact_se2 on x0): it must be added with a shape");
    ct_smoother_free(smoother);
    free_table(&t);
}

int main(void)
{
    ct_err err = {0};
    if (ct_shape_ellipse(0.0819, 0.1214, &ellipse, &err) != CT_OK ||
        ct_shape_rectangle(0.11815, 0.07895, &rectangle, &err) != CT_OK)
        return EXIT_FAILURE;
    RUN(test_residuals_are_what_plain_coordinates_say);
    RUN(test_tactile_yaw_is_the_last_row_of_tactile_se2);
    RUN(test_nothing_jumps_where_angles_wrap);
    RUN(test_contact_has_derivatives_at_the_outline);
    RUN(test_contact_has_derivatives_at_corners);
    RUN(test_every_method_comes_to_one_estimate);
    RUN(test_a_contact_without_a_shape_is_refused);
    ct_shape_free(ellipse);
    ct_shape_free(rectangle);
    return ct_test_end();
}
