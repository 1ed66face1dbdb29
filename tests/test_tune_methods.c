/* test_tune_methods.c: methods of tuning on functions whose minima are known. */
#include "tune_test.h"
#include "tune/search.h"

/* ---- Estimators ------------------------------------------------------------------------------- */

/* Rosenbrock's function of a = log v0, b = log v1: (10 (b - a^2), 1 - a). Minimum at a = b = 1, loss 0. */
static void rosenbrock(const toy *t, const double *value, int32_t log_, double *r)
{
    const double a = log(value[0]), b = log(value[1]);
    (void)t;
    (void)log_;
    r[0] = 10 * (b - a * a);
    r[1] = 1 - a;
}

/* An error budget, as that of a filter: row k has gain_k(v) noise_k, with gains that depend on ratios of variances. The
 * loss has a minimum where the ratios are those of TRUE; a common factor changes nothing. */
#define SENSORS 4
static const double TRUE_VARIANCE[SENSORS] = {0.01, 1, 4, 0.25};

static void weighted_mean(const toy *t, const double *value, int32_t log_, double *r)
{
    double weight[SENSORS], sum = 0;
    for (int k = 0; k < t->m; k++) sum += weight[k] = 1 / value[k];
    for (int64_t i = 0; i < t->rows; i++) {
        r[i] = 0;
        for (int k = 0; k < t->m; k++) r[i] += weight[k] / sum * sqrt(TRUE_VARIANCE[k]) * toy_noise(log_, i, k);
    }
}

/* Two axes that have two sensors each, of standard deviations 1 and 0.2, fused by their variances. Where a ratio is
 * decades off, one sensor alone decides, and residuals do not change. */
static void two_axes(const toy *t, const double *value, int32_t log_, double *r)
{
    for (int64_t i = 0; i < t->rows; i++) {
        const int    axis = (int)(i % 2);
        const double a = value[2 * axis], b = value[2 * axis + 1];
        r[i] = (b * toy_noise(log_, i, 0) + a * 0.2 * toy_noise(log_, i, 1)) / (a + b);
    }
}

/* Linear in the values: r = (v0 - 2, 3 (v1 + 1)). */
static void linear(const toy *t, const double *value, int32_t log_, double *r)
{
    (void)t;
    (void)log_;
    r[0] = value[0] - 2;
    r[1] = 3 * (value[1] + 1);
}

static const ct_tune_log LOGS[] = {{"a", "a", 0}, {"b", "b", 0}, {"c", "c", 0},
                                   {"d", "d", 0}, {"e", "e", 0}, {"f", "f", 1}};

/* ---- Laws ------------------------------------------------------------------------------------- */

static void test_rosenbrocks_minimum_is_found(void)
{
    ct_tune_parameter p[2] = {toy_parameter("a", 0.3), toy_parameter("b", 2.7)};
    ct_tune_problem problem = {2, 1, 0, p, LOGS, NULL};
    toy t = {.rows = 2, .residual = rosenbrock};
    ct_tune_result r = toy_tune(&t, &problem, NULL);
    CHECK_NEAR(log(r.best[0]), 1, 1e-2);
    CHECK_NEAR(log(r.best[1]), 1, 2e-2);
    CHECK(r.points < 40);
    ct_tune_result_free(&r);
}

/* The loss as documented, computed again. */
static double mean_loss(const toy *t, const double *value, int logs)
{
    double sum = 0, *r = malloc((size_t)t->rows * sizeof *r);
    for (int l = 0; l < logs; l++) {
        t->residual(t, value, l, r);
        for (int64_t i = 0; i < t->rows; i++) sum += 0.5 * r[i] * r[i] / (double)t->rows / logs;
    }
    free(r);
    return sum;
}

static void test_no_neighbour_of_the_answer_is_better(void)
{
    ct_tune_parameter p[SENSORS];
    ct_tune_problem problem = {SENSORS, 6, 0, p, LOGS, NULL};
    toy t = {.rows = 200, .residual = weighted_mean};
    for (int k = 0; k < SENSORS; k++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", k);
        p[k] = toy_parameter(name, TRUE_VARIANCE[k] * (k % 2 ? 10 : 0.1));
    }
    ct_tune_result r = toy_tune(&t, &problem, NULL);
    CHECK_NEAR(r.loss_start, mean_loss(&t, (double[]){p[0].start, p[1].start, p[2].start, p[3].start}, 5), 1e-15);
    const double at = mean_loss(&t, r.best, 5);
    for (int k = 0; k < SENSORS; k++)
        for (int side = -1; side < 2; side += 2) {
            double v[SENSORS];
            memcpy(v, r.best, sizeof v);
            v[k] *= exp(0.3 * side);
            CHECK(mean_loss(&t, v, 5) > at * (1 - 1e-3));
        }
    CHECK(at < r.loss_start);
    ct_tune_result_free(&r);
}

static void test_the_order_in_which_runs_end_changes_no_bit(void)
{
    ct_tune_parameter p[SENSORS];
    ct_tune_problem problem = {SENSORS, 6, 0, p, LOGS, NULL};
    for (int k = 0; k < SENSORS; k++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", k);
        p[k] = toy_parameter(name, TRUE_VARIANCE[k] * (k % 2 ? 10 : 0.1));
    }
    toy a = {.rows = 100, .residual = weighted_mean, .crashes = 0.1};
    ct_tune_result first = toy_tune(&a, &problem, NULL);
    for (int order = 1; order < 4; order++) {
        toy b = {.rows = 100, .residual = weighted_mean, .crashes = 0.1, .order = order};
        ct_tune_result r = toy_tune(&b, &problem, NULL);
        CHECK(!memcmp(r.best, first.best, sizeof(double) * SENSORS));
        CHECK(!memcmp(r.value, first.value, sizeof(double) * SENSORS));
        CHECK(r.runs == first.runs && r.points == first.points && r.stop == first.stop);
        ct_tune_result_free(&r);
    }
    ct_tune_result_free(&first);
}

static void test_linear_parameters_and_active_bounds(void)
{
    ct_tune_parameter p[2] = {toy_parameter("a", 1), toy_parameter("b", 1)};
    ct_tune_problem problem = {2, 1, 0, p, LOGS, NULL};
    toy t = {.rows = 2, .residual = linear};
    p[0].quantity = p[1].quantity = CT_QUANTITY_NUMBER;
    p[0].log = p[1].log = 0;
    p[0].lower = -4;
    p[0].upper = 4;
    p[1].lower = 0.5; /* the minimum, -1, is outside */
    p[1].upper = 4;
    ct_tune_result r = toy_tune(&t, &problem, NULL);
    CHECK_NEAR(r.best[0], 2, 1e-2);
    CHECK(r.best[1] == 0.5);
    ct_tune_result_free(&r);
}

static void sensor_problem(ct_tune_parameter p[SENSORS])
{
    for (int k = 0; k < SENSORS; k++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", k);
        p[k] = toy_parameter(name, TRUE_VARIANCE[k] * (k % 2 ? 10 : 0.1));
    }
}

/* The least loss of the toy, by dfgn with a tight tolerance. */
static void test_every_method_comes_near_the_minimum(void)
{
    ct_tune_parameter p[SENSORS];
    ct_tune_problem problem = {SENSORS, 6, 0, p, LOGS, NULL};
    ct_tune_options o = ct_tune_defaults();
    sensor_problem(p);
    toy best = {.rows = 100, .residual = weighted_mean};
    o.folds = 0;
    o.relative = 1e-6;
    o.step = 1e-3;
    ct_tune_result least = toy_tune(&best, &problem, &o);
    for (int method = 0; method < CT_TUNE_METHOD_COUNT; method++) {
        toy t = {.rows = 100, .residual = weighted_mean};
        o = ct_tune_defaults();
        o.method = (ct_tune_method)method;
        o.folds = 0;
        o.points = method == CT_TUNE_GLOBAL || method == CT_TUNE_RANDOM ? 1500 : 400;
        ct_tune_result r = toy_tune(&t, &problem, &o);
        const double above = r.loss / least.loss - 1;
        printf("  %-12s %4lld points, %.4f above the least loss, stop %s\n", ct_tune_method_name(o.method),
               (long long)r.points, above, ct_tune_stop_name(r.stop));
        CHECK(above > -1e-6);
        const int coarse = method == CT_TUNE_FW || method == CT_TUNE_BOBYQA;
        CHECK(above < (method == CT_TUNE_RANDOM ? 0.15 : coarse ? 0.05 : 0.01));
        CHECK(r.points <= o.points);
        ct_tune_result_free(&r);
    }
    ct_tune_result_free(&least);
}

/* Both axes trust the wrong sensor: six decades off, with no slope to follow. The second is a little off. */
static void test_a_search_does_not_end_on_a_plateau(void)
{
    for (int far = 0; far < 2; far++) {
        const double start[] = {far ? 0.001 : 3, far ? 1000 : 1, 0.001, 1000};
        ct_tune_parameter p[4];
        for (int i = 0; i < 4; i++) {
            p[i] = toy_parameter((const char *[]){"a", "b", "c", "d"}[i], start[i]);
            p[i].lower = 1e-3;
            p[i].upper = 1e3;
        }
        const ct_tune_problem problem = {4, 6, 0, p, LOGS, NULL};
        toy t = {.rows = 400, .residual = two_axes};
        ct_tune_result r = toy_tune(&t, &problem, NULL);
        for (int axis = 0; axis < 2; axis++) CHECK_NEAR(log(r.best[2 * axis] / r.best[2 * axis + 1]), log(25), 0.5);
        CHECK(r.loss < 1.02 * toy_loss(&t, (double[]){25, 1, 25, 1}, 0, 5)); /* a prior may cost a little */
        CHECK(r.points <= 20 * 5);
        ct_tune_result_free(&r);
    }
}

/* Residuals of few points fit into memory: the answer is as good. */
static void test_points_whose_residuals_were_dropped_are_not_missed(void)
{
    ct_tune_parameter p[SENSORS];
    ct_tune_problem problem = {SENSORS, 5, 0, p, LOGS, NULL};
    ct_tune_options o = ct_tune_defaults();
    double least = 0;
    sensor_problem(p);
    for (int few = 0; few < 2; few++) {
        ct_tune_result  r = {0};
        ct_tune_stop    stop = CT_TUNE_STOP_NONE;
        ct__tune_point *answer = NULL;
        ct__tuner t;
        ct_err    err = {0};
        double    zero[SENSORS] = {0};
        int64_t   held = 0, numbers = 0;
        toy queue = {.rows = 100, .residual = weighted_mean};
        toy_begin(&queue, &problem);
        CHECK_OK(ct__tuner_new(&problem, &o, &queue.queue, &r, &t, &err), err);
        t.limit = 200;
        if (few) t.most_numbers = 8 * 500;
        CHECK_OK(ct__point_at(&t, zero, &t.start), err);
        CHECK_OK(ct__evaluate(&t, 1, &t.start, CT__TRAIN, 1), err);
        CHECK_OK(ct__tune_dfgn(&t, t.start, &answer, &stop), err);
        for (int64_t i = 0; i < t.points; i++) {
            int any = 0;
            for (int l = 0; l < 5; l++) any += t.point[i]->residual[l] != NULL;
            numbers += 100 * any;
            held += any > 0;
        }
        CHECK(few ? numbers <= t.most_numbers : held == t.points);
        if (few) CHECK(answer->loss < 1.01 * least);
        else least = answer->loss;
        ct__tuner_free(&t);
        ct_tune_result_free(&r);
    }
}

/* A whole tuning with room for so many residuals (a Jacobian has some always); the loss of its answer. */
static double tune_in_room(int64_t room, int32_t logs, double noise, int64_t *runs)
{
    ct_tune_parameter p[SENSORS];
    ct_tune_problem problem = {SENSORS, logs, 0, p, LOGS, NULL};
    ct_tune_options o = ct_tune_defaults();
    ct_tune_result  r = {.standard_error = calloc(SENSORS, sizeof *r.standard_error)};
    ct_tune_stop    stop = CT_TUNE_STOP_NONE;
    ct__tune_point *answer = NULL;
    ct__tuner t;
    ct_err    err = {0};
    double    zero[SENSORS] = {0};
    toy queue = {.rows = 100, .residual = weighted_mean, .noise = noise};
    sensor_problem(p);
    toy_begin(&queue, &problem);
    CHECK_OK(ct__tuner_new(&problem, &o, &queue.queue, &r, &t, &err), err);
    t.limit = 200;
    t.most_numbers = room;
    CHECK_OK(ct__point_at(&t, zero, &t.start), err);
    CHECK_OK(ct__evaluate(&t, 1, &t.start, CT__TRAIN, 1), err);
    CHECK_OK(ct__order_logs(&t, t.start), err);
    CHECK_OK(ct__find_noise(&t, t.start), err);
    CHECK_OK(ct__search(&t, t.start, &answer, &stop), err);
    t.searched = 1;
    CHECK_OK(ct__choose_held_out(&t, answer, &answer), err);
    CHECK_OK(ct__tune_error_bars(&t, &answer), err);
    CHECK(r.runs == queue.runs);
    queue.noise = 0;
    const double loss = toy_loss(&queue, answer->value, 0, logs);
    *runs = r.runs;
    ct__tuner_free(&t);
    ct_tune_result_free(&r);
    return loss;
}

/* Long logs: residuals that a model, a repetition or a fold needs were dropped. Their runs are made again. */
static void test_residuals_that_were_dropped_are_run_again(void)
{
    for (int32_t logs = 1; logs < 6; logs += 4)
        for (int noisy = 0; noisy < 2; noisy++) {
            int64_t      runs, usual;
            const toy    t = {.rows = 100, .residual = weighted_mean, .m = SENSORS};
            const double loss = tune_in_room(1, logs, noisy ? 0.01 : 0, &runs);
            CHECK(loss < 1.1 * toy_loss(&t, TRUE_VARIANCE, 0, logs));
            (void)tune_in_room(1000000, logs, noisy ? 0.01 : 0, &usual);
            CHECK(runs < 2 * usual + logs); /* a parameter that fewer points leave undetermined returns to the start */
        }
}

/* Straight lines: half of the rows have their zero at x0 = 1, the others at x1 = -1, and each log a little beside. */
static void two_lines(const toy *t, const double *value, int32_t log_, double *r)
{
    for (int64_t i = 0; i < t->rows; i++)
        r[i] = log(value[i % 2]) + (i % 2 ? 1 : -1) + 0.1 * toy_noise(log_, 0, (int)(i % 2)) +
               0.01 * toy_noise(log_, i, 2);
}

/* A search that ended early knows a better point than its answer. The prior's answer is a step from that one: with
 * H = 1/2 for each, as half of the rows have it, x = -(mean of r(0)) / (H + w L). */
static void test_a_prior_is_of_the_best_point(void)
{
    ct_tune_parameter p[2] = {toy_parameter("a", 1), toy_parameter("b", 1)};
    ct_tune_problem problem = {2, 5, 0, p, LOGS, NULL};
    ct_tune_options o = ct_tune_defaults();
    ct_tune_result  r = {0};
    ct__tune_point *point[4], *answer = NULL;
    ct__tuner t;
    ct_err    err = {0};
    toy queue = {.rows = 40, .residual = two_lines};
    o.prior = 5;
    toy_begin(&queue, &problem);
    CHECK_OK(ct__tuner_new(&problem, &o, &queue.queue, &r, &t, &err), err);
    t.limit = 10;
    for (int k = 0; k < 4; k++) {
        static const double X[4][2] = {{0, 0}, {0.3, 0}, {0, -0.3}, {0.8, -0.7}};
        CHECK_OK(ct__point_at(&t, X[k], &point[k]), err);
        CHECK_OK(ct__evaluate(&t, 1, &point[k], CT__TRAIN, 1), err);
        if (!k) t.start = point[k];
    }
    CHECK_OK(ct__choose_held_out(&t, point[1], &answer), err);
    double mean[2] = {0}, values[2], *rows = malloc(40 * sizeof *rows);
    for (int k = 0; k < 2; k++) values[k] = 1;
    for (int32_t l = 0; l < 5; l++) {
        two_lines(&queue, values, l, rows);
        for (int i = 0; i < 40; i++) mean[i % 2] += rows[i] / 200; /* of all rows */
    }
    free(rows);
    CHECK(r.candidates == 2 && r.candidate[1].chosen);
    for (int k = 0; k < 2; k++) CHECK_NEAR(answer->x[k], -mean[k] / (0.5 + o.prior * t.best->loss), 2e-3);
    CHECK(t.best == point[3] || t.best == answer);
    ct__tuner_free(&t);
    ct_tune_result_free(&r);
}

/* INT64_MAX for "no limit". */
static void test_any_number_of_points_is_a_limit(void)
{
    ct_tune_parameter p[SENSORS];
    ct_tune_problem problem = {SENSORS, 4, 0, p, LOGS, NULL};
    ct_tune_options o = ct_tune_defaults();
    toy t = {.rows = 100, .residual = weighted_mean};
    sensor_problem(p);
    o.points = INT64_MAX;
    ct_tune_result r = toy_tune(&t, &problem, &o);
    CHECK(r.stop == CT_TUNE_STOP_LOSS && r.points > SENSORS);
    ct_tune_result_free(&r);
}

/* Three variances that are what they are, whatever the others are. */
static void three_sizes(const toy *t, const double *value, int32_t log_, double *r)
{
    for (int k = 0; k < 3; k++) r[k] = 1 + 0.1 * log_ + log(value[k]) - k;
    (void)t;
}

/* user: the runs before the first that ended when the best point was not the start any more. */
static int note_first_gain(void *user, const ct_tune_progress *p)
{
    int64_t *first = user;
    if (*first < 0 && p->loss < p->loss_start) *first = p->runs - 1;
    return 0;
}

/* Five logs are run at the start. One of them is run once more for each variance but one, and at the first step, which
 * is then run on the other four. */
static void test_a_common_factor_costs_no_run_before_the_first_step(void)
{
    ct_tune_parameter p[SENSORS];
    const ct_tune_problem problem = {SENSORS, 6, 0, p, LOGS, NULL};
    ct_tune_options o = ct_tune_defaults();
    int64_t first = -1;
    sensor_problem(p);
    for (int k = 0; k < SENSORS; k++) p[k].start = TRUE_VARIANCE[k] * (k % 2 ? 2 : 0.5);
    toy t = {.rows = 400, .residual = weighted_mean};
    o.progress = note_first_gain;
    o.user = &first;
    ct_tune_result r = toy_tune(&t, &problem, &o);
    printf("  %lld runs until the first point that is better on all logs\n", (long long)first);
    CHECK(first == 5 + (SENSORS - 1) + 1 + 4);
    ct_tune_result_free(&r);
}

typedef struct {
    int64_t least; /* that was expected */
    int     early; /* times that the end was announced before it came */
    int64_t runs, left; /* after the first fold: that had ended, and were expected */
} announced;

static int note_announced(void *user, const ct_tune_progress *p)
{
    announced *a = user;
    a->least = CT_MIN(a->least, p->expected);
    a->early += p->runs >= p->expected && strcmp(p->phase, "test") != 0;
    if (!a->runs && !strcmp(p->phase, "heldout") && p->running == 0) a->runs = p->runs, a->left = p->expected - p->runs;
    return 0;
}

static void test_progress_counts_what_comes_after_the_search(void)
{
    ct_tune_parameter p[SENSORS];
    const ct_tune_problem problem = {SENSORS, 6, 0, p, LOGS, NULL};
    ct_tune_options o = ct_tune_defaults();
    announced a = {.least = INT64_MAX};
    sensor_problem(p);
    for (int k = 0; k < SENSORS; k++) p[k].start = TRUE_VARIANCE[k] * (k % 2 ? 100 : 0.01);
    toy t = {.rows = 400, .residual = weighted_mean, .noise = 0.02};
    o.progress = note_announced;
    o.user = &a;
    ct_tune_result r = toy_tune(&t, &problem, &o);
    printf("  %lld runs; at least %lld were expected at any time\n", (long long)r.runs, (long long)a.least);
    printf("  %lld of them after the first fold, where %lld were expected\n", (long long)(r.runs - a.runs),
           (long long)a.left);
    CHECK(a.early == 0 && 3 * a.least > r.runs);
    CHECK(a.runs > 0 && 2 * a.left > r.runs - a.runs);
    ct_tune_result_free(&r);
}

/* Where a common factor does change the estimate, the first step is wrong in it, and the search corrects that. */
static void test_a_common_factor_that_matters_is_found(void)
{
    const ct_tune_parameter p[3] = {toy_parameter("a", 1), toy_parameter("b", 1), toy_parameter("c", 1)};
    const ct_tune_problem problem = {3, 6, 0, p, LOGS, NULL};
    ct_tune_options o = ct_tune_defaults();
    toy t = {.rows = 3, .residual = three_sizes};
    o.folds = 0;
    ct_tune_result r = toy_tune(&t, &problem, &o);
    for (int k = 0; k < 3; k++) CHECK_NEAR(log(r.value[k]), k - 1.2, 0.02);
    CHECK(r.runs <= 60);
    ct_tune_result_free(&r);
}

/* Residuals grow from those of the start in both directions, in steps of a half; in between estimates fall into another
 * minimum. Slopes upwards promise a decrease downwards that is not there. */
static void trap(const toy *t, const double *value, int32_t log_, double *r)
{
    int falls = 0;
    (void)log_;
    for (int32_t k = 0; k < t->m; k++) {
        const double x = log(value[k] / t->problem->parameter[k].start);
        falls |= fabs(2 * x - round(2 * x)) > 1e-6;
        r[k] = 1 + 0.4 * fabs(x);
    }
    for (int32_t k = 0; k < t->m && falls; k++) r[k] = 3;
}

/* The same, but where the first two values are large: a bowl without jumps there. */
static void trap_beside_a_bowl(const toy *t, const double *value, int32_t log_, double *r)
{
    const double x = log(value[0]), y = log(value[1]);
    if (x + y < 2) {
        trap(t, value, log_, r);
        return;
    }
    for (int32_t k = 0; k < t->m; k++) r[k] = 0.1 + 0.05 * (log(value[k]) - (k < 2 ? 3 : 0));
}

/* Another search on the first of five logs costs a fifth of one on all of them. */
static void test_a_search_among_jumps_begins_again_on_one_log(void)
{
    ct_tune_parameter p[4];
    const ct_tune_problem problem = {4, 6, 0, p, LOGS, NULL};
    ct_tune_options o = ct_tune_defaults();
    toy t = {.rows = 4, .residual = trap_beside_a_bowl};
    for (int k = 0; k < 4; k++) p[k] = toy_parameter((const char *[]){"a", "b", "c", "d"}[k], 1);
    o.folds = 0;
    ct_tune_result r = toy_tune(&t, &problem, &o);
    printf("  stop %s at a loss of %.3g after %lld runs\n", ct_tune_stop_name(r.stop), r.loss, (long long)r.runs);
    CHECK(r.loss < 0.005 && r.runs < 150);
    ct_tune_result_free(&r);
}

/* Linear residuals of three variances, drawn with this seed. */
static int32_t drawn;
static void drawn_lines(const toy *t, const double *value, int32_t log_, double *r)
{
    (void)log_;
    for (int64_t i = 0; i < t->rows; i++) {
        r[i] = 0.3 * toy_noise(0, i, 50);
        for (int k = 0; k < t->m; k++)
            r[i] += toy_noise(drawn, i % 8, k) * (log(value[k]) - 2 * toy_noise(drawn, 0, 60 + k));
    }
}

/* PRAXIS asks NLopt for NaN in some of these. */
static void test_no_run_has_a_number_that_is_not_finite(void)
{
    for (drawn = 1; drawn <= 90; drawn++) {
        ct_tune_parameter p[3];
        const ct_tune_problem problem = {3, 1, 0, p, LOGS, NULL};
        ct_tune_options o = ct_tune_defaults();
        toy t = {.rows = 20, .residual = drawn_lines};
        for (int k = 0; k < 3; k++) p[k] = toy_parameter((const char *[]){"p0", "p1", "p2"}[k], 1);
        p[0].lower = 0.99; /* hardly any room below the start */
        p[1].upper = drawn % 2 ? 1 : 100;
        o.method = CT_TUNE_POWELL;
        o.points = 60;
        o.folds = 0;
        ct_tune_result r = toy_tune(&t, &problem, &o); /* checks the bounds of every run */
        ct_tune_result_free(&r);
    }
}

static void test_a_search_that_is_stuck_says_so_and_where(void)
{
    ct_tune_parameter p[SENSORS];
    const ct_tune_problem problem = {SENSORS, 6, 0, p, LOGS, NULL};
    ct_tune_options o = ct_tune_defaults();
    toy t = {.rows = SENSORS, .residual = trap};
    sensor_problem(p);
    o.folds = 0;
    ct_tune_result r = toy_tune(&t, &problem, &o);
    const int32_t i = ct_findings_find(&r.findings, CT_FINDING_SEARCH_STUCK);
    printf("  stop %s at a loss of %.3f\n", ct_tune_stop_name(r.stop), r.loss);
    CHECK(r.stop == CT_TUNE_STOP_STUCK && i >= 0);
    if (i >= 0) CHECK(r.findings.item[i].subjects > 0 && r.findings.item[i].value[0] == r.loss);
    ct_tune_result_free(&r);
}

/* A ripple over the whole range, far down flat: PRAXIS ends at a bound, and asks for one point for ever. */
static void ripple(const toy *t, const double *value, int32_t log_, double *r)
{
    const double e = 1e4 * exp(value[0]);
    for (int64_t i = 0; i < t->rows; i++) {
        const double d = e * sin(0.3 * (double)i + e + log_);
        r[i] = sqrt(log1p(d * d));
    }
}

static void test_a_search_at_a_bound_ends(void)
{
    static const ct_tune_method METHODS[] = {CT_TUNE_POWELL, CT_TUNE_NELDER_MEAD, CT_TUNE_BOBYQA, CT_TUNE_GLOBAL};
    static const double         LOWER[] = {1e-150, 1e-12, 0.01};
    for (size_t i = 0; i < sizeof METHODS / sizeof *METHODS; i++)
        for (size_t k = 0; k < sizeof LOWER / sizeof *LOWER; k++) {
            ct_tune_parameter p = toy_parameter("a", 3.7);
            p.lower = LOWER[k];
            p.upper = 3.7;
            ct_tune_problem problem = {1, 3, 0, &p, LOGS, NULL};
            ct_tune_options options = ct_tune_defaults();
            toy             t = {.rows = 5, .residual = ripple};
            options.method = METHODS[i];
            options.points = 30;
            options.folds = 2;
            ct_tune_result r = toy_tune(&t, &problem, &options);
            CHECK(t.wrong == 0 && r.points < 100);
            ct_tune_result_free(&r);
        }
}

int main(void)
{
    RUN(test_rosenbrocks_minimum_is_found);
    RUN(test_no_neighbour_of_the_answer_is_better);
    RUN(test_the_order_in_which_runs_end_changes_no_bit);
    RUN(test_linear_parameters_and_active_bounds);
    RUN(test_every_method_comes_near_the_minimum);
    RUN(test_a_search_does_not_end_on_a_plateau);
    RUN(test_a_search_at_a_bound_ends);
    RUN(test_points_whose_residuals_were_dropped_are_not_missed);
    RUN(test_residuals_that_were_dropped_are_run_again);
    RUN(test_a_prior_is_of_the_best_point);
    RUN(test_any_number_of_points_is_a_limit);
    RUN(test_a_common_factor_costs_no_run_before_the_first_step);
    RUN(test_a_common_factor_that_matters_is_found);
    RUN(test_progress_counts_what_comes_after_the_search);
    RUN(test_a_search_among_jumps_begins_again_on_one_log);
    RUN(test_a_search_that_is_stuck_says_so_and_where);
    RUN(test_no_run_has_a_number_that_is_not_finite);
    return ct_test_end();
}
