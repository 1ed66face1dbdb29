/* test_tune_jacobian.c: numerical Jacobians of covtune's own batch estimates, run as a black box, against the exact
 * sensitivities of ct_outer: they agree to the error that the step of differences promises. */
#include "learn_test.h"
#include "tune_test.h"
#include "tune/search.h"

#define POSES 60
#define LOGS  3
#define M     6

static lesson    box;
static ct_solver *solver[LOGS];
static int       digits; /* of the output; 0: all */

static double written(double x)
{
    char text[64];
    if (!digits) return x;
    snprintf(text, sizeof text, "%.*g", digits, x);
    return strtod(text, NULL);
}

/* Residuals of a batch estimate from measurements. value: variances of odometry, then of GPS. */
static void estimate(const toy *t, const double *value, int32_t log_, double *r)
{
    const ct_sequence *seq = box.seq[log_];
    const ct_loss      loss = ct_loss_defaults();
    ct_inference       how = ct_inference_defaults();
    ct_inference_result result;
    double *x = malloc((size_t)ct_graph_size(seq->graph) * sizeof *x);
    int k = 0;
    for (int32_t g = 0; g < ct_noise_count(box.noise); g++) {
        if (!strcmp(ct_noise_get(box.noise, g)->name, "first_pose")) continue;
        CHECK_OK(ct_noise_set_variance(box.noise, g, value + 3 * k++, &box.err), box.err);
    }
    how.incremental = 0;
    how.solve = ct_outer_defaults().inner;
    CHECK_OK(ct_infer(seq, box.noise, solver[log_], &how, x, &result, &box.err), box.err);
    for (int32_t v = 0; v < ct_graph_variables(seq->graph); v++) {
        double e[CT_DIM_MAX] = {0}, *at = x + ct_graph_offset(seq->graph, v);
        const double angle = written(atan2(at[3], at[2]));
        if (digits) at[0] = written(at[0]), at[1] = written(at[1]), at[2] = cos(angle), at[3] = sin(angle);
        ct_loss_variable(&loss, seq, v, at, e, NULL);
        memcpy(r + 3 * v, e, 3 * sizeof *e);
    }
    (void)t;
    free(x);
}

/* Gradient and Gauss-Newton matrix by differences, with the error that they promise; and exact. */
static void compare(double tightest)
{
    ct_tune_parameter p[M];
    ct_tune_log       log[LOGS] = {{"a", "a", 0}, {"b", "b", 0}, {"c", "c", 0}};
    ct_tune_problem   problem = {M, LOGS, 0, p, log, NULL};
    ct_tune_options   o = ct_tune_defaults();
    ct_tune_result    result = {0};
    ct__tuner         t;
    ct__linear_model  model;
    ct__tune_point   *at, *first[2 * M];
    ct_err            err = {0};
    double            step, error, zero[M] = {0}, q[M], gradient[M], matrix[M * M];
    ct_theta_get(box.theta, box.noise, q);
    for (int i = 0; i < M; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        p[i] = toy_parameter(name, exp(q[i]));
    }
    ct_outer_value exact = {.gradient = gradient, .matrix = matrix};
    CHECK_OK(ct_outer_evaluate(box.outer, q, NULL, &exact, &err), err);
    toy queue = {.rows = 3 * POSES, .residual = estimate};
    toy_begin(&queue, &problem);
    CHECK_OK(ct__tuner_new(&problem, &o, &queue.queue, &result, &t, &err), err);
    t.limit = 1000;
    CHECK_OK(ct__point_at(&t, zero, &at), err);
    t.start = at;
    CHECK_OK(ct__evaluate(&t, 1, &at, CT__TRAIN, 1), err);
    CHECK_NEAR(at->loss, exact.loss / (3 * POSES), digits ? 1e-3 * at->loss : 1e-6 * at->loss);
    CHECK_OK(ct__difference_step(&t, at, &step, &error), err);
    CHECK_OK(ct__first_points(&t, at, step, first), err);
    CHECK_OK(ct__model_new(M, 3 * M + 6, &model, &err), err);
    model.near = CT__NEAR_STEP * step; /* the points that measured the errors are there, too */
    CHECK_OK(ct__model_fit(&model, &t, at), err);
    printf("  %d digits: step %.2g, error promised %.2g of slopes up to %.2g\n", digits, step, error,
           sqrt(model.H[0]));
    CHECK(error < tightest * sqrt(2 * at->loss));
    const double size = sqrt(2 * at->loss), each = 3 * error; /* the promise is a mean over directions */
    for (int i = 0; i < M; i++) {
        CHECK_NEAR(model.g[i], gradient[i] / (3 * POSES), each * size);
        for (int j = 0; j < M; j++)
            CHECK_NEAR(model.H[i * M + j], matrix[i * M + j] / (3 * POSES),
                       each * (sqrt(matrix[i * M + i] / (3 * POSES)) + sqrt(matrix[j * M + j] / (3 * POSES)) + each));
    }
    ct__model_free(&model);
    ct__tuner_free(&t);
    ct_tune_result_free(&result);
}

static void test_numerical_jacobians_are_as_exact_as_promised(void)
{
    box = lesson_of("D1", CT_SE2, LOGS, POSES, 3);
    learn_all(&box, CT_NOISE_DIAGONAL, 1e-6, 1e6);
    open_outer(&box, NULL);
    for (int i = 0; i < LOGS; i++) CHECK_OK(ct_solver_new(box.seq[i]->graph, NULL, &solver[i], &box.err), box.err);
    digits = 0;
    compare(1e-2);
    for (digits = 6; digits >= 4; digits--) compare(1);
    digits = 0;
    for (int i = 0; i < LOGS; i++) ct_solver_free(solver[i]);
    lesson_free(&box);
}

int main(void)
{
    RUN(test_numerical_jacobians_are_as_exact_as_promised);
    return ct_test_end();
}
