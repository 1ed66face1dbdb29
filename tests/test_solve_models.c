/* test_solve_models.c: random graphs with ranges and bearings between poses, cameras and headings: every method ends at
 * one minimum, where the dense gradient is zero, with the dense covariances; incremental estimates end there too. */
#include "graph_test.h"

#include <covtune/evaluate.h>

static const double AHEAD[7] = {0.1, 0, 0.2, -0.5, 0.5, -0.5, 0.5}; /* a camera that looks along the body's x */

/* z of a model at the truth, with noise: from its residual at a measurement of zero, of angle zero, or along x. */
static void measure_model(world *w, const ct_factor_ops *ops, const double *const x[], double *z)
{
    const int range = begins(ops->name, "range"), heading = begins(ops->name, "heading"),
              angle = begins(ops->name, "bearing") || begins(ops->name, "range_b"), space = ops->kind[0] == CT_SE3;
    double    r[CT_ROWS_MAX], *to = z + (range ? 1 : 0);
    if (angle || heading) to[0] = 1;
    ct_factor_eval(ops, z, NULL, x, r, NULL);
    for (int i = 0; i < ops->rows; i++) r[i] += 0.02 * ct_rng_normal(&w->rng);
    if (range) z[0] = fabs(r[0]);
    const double *turn = r + (range ? 1 : 0);
    if (heading || (angle && !space)) to[0] = cos(turn[0]), to[1] = sin(turn[0]);
    if (angle && space) {
        const double a = hypot(turn[0], turn[1]);
        to[0] = cos(a), to[1] = sin(a) * turn[0] / a, to[2] = sin(a) * turn[1] / a;
    }
    if (!range && !angle && !heading) memcpy(z, r, (size_t)ops->rows * sizeof *z);
}

static void tie_model(world *w, const ct_factor_ops *ops, int32_t a, int32_t b)
{
    const int32_t var[2] = {a, b};
    const double *x[2] = {w->truth + ct_graph_offset(w->graph, a),
                          b < 0 ? NULL : w->truth + ct_graph_offset(w->graph, b)};
    double        z[64] = {0}, *at = z;
    for (int f = 0; f < ops->fields; at += ct_kind_size(ops->field[f++])) {
        if (f < ops->required) continue;
        ct_kind_identity(ops->field[f], at);
        if (begins(ops->name, "pixel") || begins(ops->name, "stereo")) memcpy(at, AHEAD, sizeof AHEAD);
        else jitter(w, ops->field[f], 0.3, at);
    }
    if (begins(ops->name, "pixel")) z[2] = z[3] = 3; /* the lens: errors of 0.02 are those of other models */
    if (begins(ops->name, "stereo")) z[4] = z[5] = 3, z[8] = 0.5;
    measure_model(w, ops, x, z);
    CHECK_OK(ct_graph_add_factor(w->graph, ops, var, z, NULL, pick_noise(w, ops->rows), &w->err), w->err);
}

static void add_models(world *w, int space)
{
    static const ct_factor_ops *const MEET[2][3] = {
        {&ct_range_se2_se2, &ct_bearing_se2_se2, &ct_range_bearing_se2_se2},
        {&ct_range_se3_se3, &ct_bearing_se3_se3, &ct_range_bearing_se3_se3}};
    const int32_t *pose = w->pose[space];
    for (int k = 0; k < 3; k++) {
        tie_model(w, MEET[space][k], pose[k], pose[k + 3]);
        tie_model(w, MEET[space][k], pose[k + 4], pose[k]);
        tie_model(w, space ? &ct_heading_se3 : &ct_heading_se2, pose[k + 2], -1);
        if (space) tie_model(w, &ct_height_se3, pose[k + 1], -1);
    }
    for (int k = 0; space && k < 4; k++) { /* points ahead of two poses in a row */
        double       p[3];
        const double at[3] = {6, 0.5 * k - 1, 0.4 * k};
        ct_se3_act(*(const ct_se3 *)(w->truth + ct_graph_offset(w->graph, pose[k + 1])), at, p, NULL, NULL);
        const int32_t point = add_variable(w, CT_R3, p);
        tie_model(w, &ct_stereo_se3_r3, pose[k + 1], point);
        tie_model(w, &ct_pixel_se3_r3, pose[k], point);
        tie_model(w, &ct_pixel_se3_r3, pose[k + 1], point);
    }
}

static void check_dense(world *w, const double *x)
{
    ct_solver   *solver = new_solver(w, NULL);
    int          n = 0;
    const int32_t v = w->pose[w->parts & PLANE ? 0 : 1][5];
    for (int32_t i = 0; i < ct_graph_variables(w->graph); i++)
        n += ct_solver_column(solver, i) >= 0 ? ct_kind_dim(ct_graph_kind(w->graph, i)) : 0;
    double *H = calloc((size_t)n * (size_t)n, sizeof *H), *P = calloc((size_t)n * (size_t)n, sizeof *P),
           *g = calloc((size_t)n, sizeof *g), S[36];
    dense_system(w, solver, x, n, H, g);
    dense_inverse(n, H, P);
    for (int i = 0; i < n; i++) CHECK_NEAR(g[i] * sqrt(P[i * n + i]), 0, 1e-6); /* in sigmas */
    CHECK_OK(ct_solver_linearise(solver, w->noise, x, &w->err), w->err);
    CHECK_OK(ct_solver_marginals(solver, 1, &v, (double *[]){S}, &w->err), w->err);
    const int dim = ct_kind_dim(ct_graph_kind(w->graph, v)), at = ct_solver_column(solver, v);
    for (int i = 0; at >= 0 && i < dim * dim; i++)
        CHECK_NEAR(S[i], P[(at + i / dim) * n + at + i % dim], 1e-8 * P[(at + i / dim) * (n + 1)] + 1e-12);
    free(H);
    free(P);
    free(g);
    ct_solver_free(solver);
}

static void check_incremental(world *w, const double *x)
{
    ct_sequence        *seq = NULL;
    ct_solver          *solver = new_solver(w, NULL);
    ct_inference_result found;
    ct_inference        how = ct_inference_defaults();
    double             *y = copy_values(w->graph, ct_graph_initial(w->graph));
    how.incremental = 1;
    how.start = CT_START_INITIAL;
    CHECK_OK(ct_sequence_new(w->graph, &seq, &w->err), w->err);
    CHECK_OK(ct_infer(seq, w->noise, solver, &how, y, &found, &w->err), w->err);
    CHECK(distance(w->graph, x, y) < 0.1); /* thresholds of relinearisation leave some */
    free(y);
    ct_solver_free(solver);
    ct_sequence_free(seq); /* and the graph */
    w->graph = NULL;
}

static void test_all_methods_end_at_one_minimum(void)
{
    for (int space = 0; space < 2; space++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            world w;
            world_make(&w, seed, (space ? SPACE : PLANE) | LOOPS | LANDMARKS);
            add_models(&w, space);
            ct_solve_result r[CT_METHOD_COUNT];
            double         *x[CT_METHOD_COUNT];
            for (int m = 0; m < CT_METHOD_COUNT; m++) {
                x[m] = estimate(&w, (ct_method)m, &r[m]);
                CHECK_NEAR(r[m].final_error, r[0].final_error, 1e-7 * (1 + r[0].final_error));
                CHECK(distance(w.graph, x[0], x[m]) < 1e-4);
            }
            check_dense(&w, x[0]);
            check_incremental(&w, x[0]);
            for (int m = 0; m < CT_METHOD_COUNT; m++) free(x[m]);
            world_free(&w);
        }
}

int main(void)
{
    RUN(test_all_methods_end_at_one_minimum);
    return ct_test_end();
}
