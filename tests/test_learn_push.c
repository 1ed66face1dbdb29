/* test_learn_push.c: learning from pushes: what there is to learn, derivatives through contacts of every outline,
 * every method. */
#include <covtune/push.h>
#include "evaluate_test.h"
#include "push_test.h"

enum { PARAMETERS = 8 };

/* A residual's row that cannot be anything but zero is no parameter: touch tells a turn, and no more. */
static void test_only_rows_that_measure_are_parameters(void)
{
    static const struct {
        const char *model;
        int         rows;
    } WANT[] = {{"tac", 1}, {"dyn", 3}, {"geo", 1}, {"prior", 3}};
    lesson l = push_lesson(PUSH_ELLIPSE, 0, 0, 1, 1, 30, 1);
    push_learn(&l, 1e-3, 1e3);
    CHECK(ct_theta_count(l.theta) == PARAMETERS);
    for (size_t k = 0; k < sizeof WANT / sizeof *WANT; k++) {
        const int32_t g = ct_noise_find(l.noise, WANT[k].model);
        double        sum[3] = {0};
        CHECK(g >= 0 && ct_noise_get(l.noise, g)->dim == WANT[k].rows && ct_theta_learns(l.theta, g));
        for (int32_t f = 0; f < ct_graph_factors(l.seq[0]->graph); f++) {
            const ct_factor factor = ct_graph_factor(l.seq[0]->graph, f);
            const double   *x[4];
            double          r[3];
            if (factor.noise != g) continue;
            for (int i = 0; i < factor.ops->arity; i++)
                x[i] = l.seq[0]->truth + ct_graph_offset(l.seq[0]->graph, factor.var[i]);
            ct_factor_eval(factor.ops, factor.z, factor.context, x, r, NULL);
            for (int c = 0; c < factor.ops->rows; c++) sum[c] += fabs(r[c]);
        }
        for (int c = 0; c < WANT[k].rows; c++) CHECK(sum[c] > 0);
    }
    for (int32_t g = 0; g < ct_noise_count(l.noise); g++)
        if (!strcmp(ct_noise_get(l.noise, g)->name, "bind") || !strcmp(ct_noise_get(l.noise, g)->name, "first_pose"))
            CHECK(!ct_theta_learns(l.theta, g));
    lesson_free(&l);
}

/* ---- derivatives ---- */

/* Returns how wrong the gradient is with J'J in place of the Hessian. */
static double check_at(lesson *l, const double *p, const char *outline, const char *what)
{
    ct_gradient_check c;
    CHECK_OK(ct_outer_check(l->outer, p, &c, &l->err), l->err);
    printf("  %-10s %-12s adjoint %.1e  sensitivity %.1e  numeric %.1e; with J'J %.1e\n", outline, what,
           c.error[CT_GRADIENT_ADJOINT][CT_HESSIAN_EXACT], c.error[CT_GRADIENT_SENSITIVITY][CT_HESSIAN_EXACT],
           c.error[CT_GRADIENT_NUMERIC][0], c.error[CT_GRADIENT_ADJOINT][CT_HESSIAN_GAUSS_NEWTON]);
    CHECK(c.error[CT_GRADIENT_ADJOINT][CT_HESSIAN_EXACT] < 1e-5);
    CHECK(c.error[CT_GRADIENT_SENSITIVITY][CT_HESSIAN_EXACT] < 1e-5);
    CHECK(c.error[CT_GRADIENT_NUMERIC][0] < 0.02);
    CHECK(c.difference_norm > 0);
    return c.error[CT_GRADIENT_ADJOINT][CT_HESSIAN_GAUSS_NEWTON];
}

/* At the far start, at the closed form, and where a few steps of learning lead. Returns the largest error of J'J. */
static double check_derivatives(lesson *l, const char *outline)
{
    double           p[PARAMETERS];
    ct_learn_options options = ct_learn_defaults();
    ct_theta_get(l->theta, l->noise, p);
    ct_theta_project(l->theta, CT_SPACE_LOG, p);
    double worst = check_at(l, p, outline, "start");
    CHECK_OK(ct_outer_closed_form(l->outer, NULL, p, NULL, &l->err), l->err);
    ct_theta_project(l->theta, CT_SPACE_LOG, p);
    worst = fmax(worst, check_at(l, p, outline, "closed form"));
    options.method = CT_LEARN_PROJECTED_GRADIENT;
    options.max_iterations = 4;
    ct_learn_result r = learn(l, &options);
    worst = fmax(worst, check_at(l, r.p, outline, "learned"));
    ct_learn_result_free(&r);
    return worst;
}

static void test_derivatives_are_exact_on_every_outline(void)
{
    double worst = 0;
    for (int k = 0; k < PUSH_OUTLINES; k++)
        for (int poor = k >= PUSH_POLYGON; poor < 2; poor++) { /* those two are the rectangle in other words */
            lesson l = push_lesson((push_outline)k, poor, 0, 2, 2, 30, 1);
            push_learn(&l, 1e-3, 1e3);
            worst = fmax(worst, check_derivatives(&l, PUSH_NAME[k]));
            lesson_free(&l);
        }
    CHECK(worst > 0.01);
}

/* The finger as the object sees it. */
static void seen(const double *o, double q[2])
{
    const double *e = o + 4, x = e[0] - o[0], y = e[1] - o[1];
    q[0] = o[2] * x + o[3] * y, q[1] = o[2] * y - o[3] * x;
}

/* The object cut off where the finger touches: a box with a corner at the mean place of the finger, by the truth. */
static void cut_to_a_corner(lesson *l, int run, double corner[2])
{
    ct_sequence  *seq = l->seq[run];
    ct_shape     *shape;
    const int32_t n = ct_graph_variables(seq->graph) / 2;
    corner[0] = corner[1] = 0;
    for (int32_t k = 0; k < n; k++) {
        double q[2];
        seen(seq->truth + 8 * k, q);
        for (int c = 0; c < 2; c++) corner[c] += q[c] / n;
    }
    const double x = -copysign(PUSH_HX, corner[0]), y = -copysign(PUSH_HY, corner[1]),
                 xy[8] = {corner[0], corner[1], x, corner[1], x, y, corner[0], y};
    CHECK_OK(ct_shape_polygon(4, xy, &shape, &l->err), l->err);
    push_reshape(seq, shape, &l->err);
}

/* Steps at which the estimate lies outside of both sides, and the others. */
static void count_steps(const lesson *l, int run, const double corner[2], int *at_corner, int *at_side)
{
    const ct_sequence *seq = l->seq[run];
    double            *x = calloc((size_t)ct_graph_size(seq->graph), sizeof *x);
    ct_solver         *solver;
    ct_inference       inference = ct_inference_defaults();
    const ct_loss      loss = ct_loss_defaults();
    ct_evaluation      a;
    ct_err             err = {0};
    inference.start = CT_START_TRUTH;
    inference.incremental = 0;
    inference.solve.method = CT_NEWTON;
    CHECK_OK(ct_solver_new(seq->graph, NULL, &solver, &err), err);
    CHECK_OK(evaluate_one(seq, l->noise, solver, &inference, &loss, 0, x, &a, &err), err);
    CHECK(ct_stop_converged(a.solve.stop));
    for (int32_t k = 0; k < ct_graph_variables(seq->graph) / 2; k++) {
        double q[2];
        seen(x + 8 * k, q);
        const int out = (q[0] - corner[0]) * corner[0] > 0 && (q[1] - corner[1]) * corner[1] > 0;
        *at_corner += out;
        *at_side += !out;
    }
    ct_solver_free(solver);
    free(x);
}

static void test_derivatives_are_exact_where_fingers_pass_a_corner(void)
{
    for (int far = 0; far < 2; far++) {
        lesson l = push_lesson(PUSH_RECTANGLE, 0, 0, 4, 1, 60, 3);
        double corner[4][2], p[PARAMETERS];
        int    at_corner = 0, at_side = 0;
        for (int i = 0; i < l.runs; i++) cut_to_a_corner(&l, i, corner[i]);
        push_learn(&l, 1e-3, 1e3);
        ct_theta_get(l.theta, l.noise, p);
        if (!far) CHECK_OK(ct_outer_closed_form(l.outer, NULL, p, NULL, &l.err), l.err);
        ct_theta_project(l.theta, CT_SPACE_LOG, p);
        CHECK_OK(ct_theta_apply(l.theta, p, l.noise, &l.err), l.err);
        for (int i = 0; i < l.runs; i++) count_steps(&l, i, corner[i], &at_corner, &at_side);
        printf("  %d steps at a corner, %d at a side\n", at_corner, at_side);
        CHECK(at_corner > 5 && at_side > 100);
        check_at(&l, p, "corner", far ? "start" : "closed form");
        lesson_free(&l);
    }
}

/* ---- methods ---- */

/* Those that set out from the start values; others do from the closed form. */
static int from_table(ct_learn_method method)
{
    return method == CT_LEARN_FRANK_WOLFE || method == CT_LEARN_FRANK_WOLFE_LOG || method == CT_LEARN_NELDER_MEAD ||
           method == CT_LEARN_POWELL || method == CT_LEARN_LEO;
}

/* Bounds are kept, in units; nobody's answer is worse than where it set out on what it was trained on. LEO has
 * another goal. */
static void check_method(ct_learn_method method, double lower, double upper)
{
    lesson           l = push_lesson(PUSH_RECTANGLE, 1, 0, 2, 2, 30, 1);
    ct_learn_options options = ct_learn_defaults();
    push_learn(&l, lower, upper);
    options.method = method;
    options.max_iterations = method == CT_LEARN_POWELL ? 1 : method == CT_LEARN_CRS ? 30 : 6;
    ct_learn_result r = learn(&l, &options);
    const double    set_out = from_table(method) ? r.loss_start : r.loss_closed_form;
    printf("  %-12s from %.4g to %.4g: %s\n", ct_learn_method_name(method), set_out, r.loss_train,
           ct_learn_stop_name(r.stop));
    CHECK(r.method == method && r.parameters == PARAMETERS && r.evaluations > 0);
    CHECK(isfinite(r.loss_start) && isfinite(r.loss_closed_form) && isfinite(r.loss_train));
    /* the scale, which frozen models feel, comes after */
    if (method != CT_LEARN_LEO) CHECK(r.loss_train <= (1 + 1e-4) * set_out);
    for (int32_t g = 0; g < ct_noise_count(l.noise); g++) {
        const ct_noise_model *m = ct_noise_get(l.noise, g);
        double                unit[3];
        if (!ct_push_units(m->name, unit)) continue;
        for (int c = 0; c < m->dim; c++) {
            const double variance = m->covariance[m->kind == CT_NOISE_FULL ? c * m->dim + c : c] / (unit[c] * unit[c]);
            CHECK(variance >= lower * (1 - 1e-12) && variance <= upper * (1 + 1e-12));
        }
    }
    ct_learn_result_free(&r);
    lesson_free(&l);
}

static void test_every_method_learns_within_loose_bounds(void)
{
    for (int method = 0; method < CT_LEARN_COUNT; method++) check_method((ct_learn_method)method, 1e-3, 1e3);
}

static void test_every_method_learns_within_tight_bounds(void)
{
    for (int method = 0; method < CT_LEARN_COUNT; method++) check_method((ct_learn_method)method, 0.1, 10);
}

int main(void)
{
    RUN(test_only_rows_that_measure_are_parameters);
    RUN(test_derivatives_are_exact_on_every_outline);
    RUN(test_derivatives_are_exact_where_fingers_pass_a_corner);
    RUN(test_every_method_learns_within_loose_bounds);
    RUN(test_every_method_learns_within_tight_bounds);
    return ct_test_end();
}
