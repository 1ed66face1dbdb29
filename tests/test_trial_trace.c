/* test_trial_trace.c: the way that a method took is told as it was. */
#include "trial/trial.h"
#include "trial_test.h"

static int is_last_iterate(ct_learn_method method)
{
    return method == CT_LEARN_FRANK_WOLFE || method == CT_LEARN_FRANK_WOLFE_LOG;
}

/* Incumbents again, from what a caller is told: the learn phase's best, or all of it; the first is where it begins. */
static void check_points(const ct_trial *trial, ct_learn_method method, const listener *heard)
{
    double best = INFINITY;
    int    point = 0;
    for (int i = 0; i < heard->count && i < TOLD; i++) {
        if (heard->phase[i] != CT_LEARN_PHASE_LEARN || !(is_last_iterate(method) || heard->loss[i] < best)) continue;
        best = heard->loss[i];
        CHECK(point < trial->points);
        /* the answer may be another: of lm, one that a prior has a say in */
        if (point < trial->points && heard->loss[i] != trial->trace[point].loss)
            CHECK(point == trial->points - 1 || point == 0);
        if (point == 0) CHECK_NEAR(trial->trace[0].loss / heard->loss[i], 1, 1e-9);
        point++;
    }
    CHECK(point == 0 || point == trial->points || point + 1 == trial->points);
}

static void test_the_trace_ends_with_the_answer_and_does_not_go_back(void)
{
    for (size_t k = 0; k < METHOD_COUNT; k++)
        for (int table = 0; table < 2; table++) {
            course           c = course_of("D1", 4, 40, 1e-3, 1e3);
            ct_trial_options options = options_of(METHODS[k]);
            listener        *heard = calloc(1, sizeof *heard);
            options.learn.from_table = table;
            options.learn.scale = CT_SCALE_NONE;
            options.learn.progress = listen;
            options.learn.user = heard;
            ct_trial              trial = trial_of(&c, &options);
            const ct_trace_point *last = &trial.trace[trial.points - 1];
            CHECK_NEAR(last->loss / trial.result.loss_train, 1, 1e-9);
            CHECK_NEAR(trial.trace[0].loss / (table && METHODS[k] != CT_LEARN_CLOSED_FORM
                                                  ? trial.result.loss_start
                                                  : trial.result.loss_closed_form),
                       1, 1e-9);
            CHECK_NEAR(last->translation / trial.train.accuracy.translation, 1, 1e-9);
            CHECK_NEAR(last->rotation / trial.train.accuracy.rotation, 1, 1e-9);
            CHECK(last->solves <= trial.result.inner_solves && last->evaluations <= trial.result.evaluations &&
                  trial.trace[0].seconds > 0);
            for (int i = 1; i < trial.points; i++) {
                const ct_trace_point *a = &trial.trace[i - 1], *b = &trial.trace[i];
                CHECK(a->seconds < b->seconds && a->solves < b->solves && a->evaluations < b->evaluations);
                CHECK(is_last_iterate(METHODS[k]) || b->loss < a->loss || b == last);
            }
            if (METHODS[k] == CT_LEARN_CLOSED_FORM) CHECK(trial.points == 1);
            /* and one more where another candidate is the answer: the start values or the closed form, if they do
             * better in deployment */
            if (is_last_iterate(METHODS[k]))
                CHECK(trial.points == 13 || (trial.points == 14 && last->loss < trial.trace[12].loss));
            check_points(&trial, METHODS[k], heard);
            free(heard);
            ct_trial_free(&trial);
            course_free(&c);
        }
}

/* At every point: the errors of the values that the caller was told with that loss. */
static void test_errors_along_the_way_are_those_of_its_points(void)
{
    course           c = course_of("D1", 3, 40, 1e-2, 1e2);
    ct_trial_options options = options_of(CT_LEARN_PROJECTED_GRADIENT);
    listener        *heard = calloc(1, sizeof *heard);
    ct_inference     batch = ct_inference_defaults();
    int              found = 0;
    options.learn.from_table = 1;
    options.learn.progress = listen;
    options.learn.user = heard;
    ct_trial trial = trial_of(&c, &options);
    batch.start = CT_START_TRUTH;
    open_outer(&c.l, NULL);
    for (int i = 0; i + 1 < trial.points; i++)
        for (int j = 0; j < heard->count; j++) {
            ct_evaluation seen[3];
            double        translation = 0, rotation = 0;
            if (heard->loss[j] != trial.trace[i].loss) continue;
            CHECK_OK(ct_outer_validate(c.l.outer, heard->p[j], NULL, &batch, 0, seen, &c.l.err), c.l.err);
            for (int s = 0; s < 3; s++)
                translation += seen[s].accuracy.translation / 3, rotation += seen[s].accuracy.rotation / 3;
            CHECK_NEAR(trial.trace[i].translation / translation, 1, 1e-6);
            CHECK_NEAR(trial.trace[i].rotation / rotation, 1, 1e-6);
            found++;
            break;
        }
    CHECK(found > 3 && found == trial.points - 1);
    /* there is something to see */
    CHECK(trial.trace[0].translation > 1.05 * trial.trace[trial.points - 1].translation);
    free(heard);
    ct_trial_free(&trial);
    course_free(&c);
}

static void test_a_long_way_is_thinned_from_end_to_end(void)
{
    course           c = course_of("D1", 2, 6, 1e-3, 1e3);
    ct_trial_options options = options_of(CT_LEARN_FRANK_WOLFE);
    options.learn.max_iterations = 1000;
    options.learn.scale = CT_SCALE_NONE;
    ct_trial              trial = trial_of(&c, &options);
    const ct_trace_point *last = &trial.trace[trial.points - 1];
    CHECK(trial.points > 2 && trial.points <= 400 && last->evaluations > 1000);
    CHECK_NEAR(trial.trace[0].loss / trial.result.loss_start, 1, 1e-9);
    CHECK_NEAR(last->loss / trial.result.loss_train, 1, 1e-9);
    CHECK_NEAR(last->translation / trial.train.accuracy.translation, 1, 1e-9);
    for (int i = 1; i < trial.points; i++) CHECK(trial.trace[i].seconds > trial.trace[i - 1].seconds);
    ct_trial_free(&trial);
    course_free(&c);
}

/* Times made up: even, and even in their logarithm; from a millisecond to 1000 seconds. */
static void test_thinning_leaves_no_gap_in_the_logarithm_of_time(void)
{
    enum { POINTS = 5000, MOST = 400 };
    lesson l = begin("D1", 1, 10, 3, 1e-3, 1e3);
    for (int even = 0; even < 2; even++) {
        double           p[6] = {0};
        ct_trial_options options = ct_trial_defaults();
        ct_learn_result  result = {.p = p, .scale_applied = 1};
        ct__tracer t = {.options = &options,
                        .outer = l.outer,
                        .result = &result,
                        .trace = 1,
                        .count = POINTS,
                        .point = calloc(POINTS, sizeof *t.point),
                        .p = calloc(POINTS * 6, sizeof *t.p)};
        ct_trial         trial = {0};
        for (int k = 0; k < POINTS; k++) {
            const double along = k / (POINTS - 1.0);
            t.point[k] =
                (ct_trace_point){.seconds = even ? 1e-3 + along * 1e3 : 1e-3 * pow(1e6, along), .evaluations = k};
            t.p[6 * k] = k;
        }
        p[0] = POINTS - 1;
        CHECK_OK(ct__tracer_finish(&t, &l.err), l.err);
        CHECK(t.p[0] == 0 && t.p[6 * (t.count - 1)] == POINTS - 1);
        for (int k = 0; k < t.count; k++) CHECK(t.p[6 * k] == t.point[k].evaluations);
        ct__tracer_end(&t, &trial);
        CHECK(trial.points <= MOST && trial.points > (even ? 100 : MOST - 2) && trial.trace[0].evaluations == 0 &&
              trial.trace[trial.points - 1].evaluations == POINTS - 1);
        for (int k = 1; k < trial.points; k++) {
            const ct_trace_point *a = &trial.trace[k - 1], *b = &trial.trace[k];
            CHECK(a->evaluations < b->evaluations);
            /* all of them, or one an interval */
            CHECK(b->evaluations == a->evaluations + 1 || log(b->seconds / a->seconds) < 2.2 * log(1e6) / MOST);
        }
        free(trial.trace);
    }
    lesson_free(&l);
}

/* Of learning that keeps the table's values in the end: until then it would have answered with the closed form,
 * though they had the smaller loss. */
static void test_start_values_that_stay_are_the_last_point_of_two(void)
{
    lesson           l = biased_lesson(6, 0, 0.02);
    ct_trial_options options = options_of(CT_LEARN_LM);
    ct_trial         trial;
    double           tuned[6];
    CHECK_OK(ct_outer_closed_form(l.outer, NULL, tuned, NULL, &l.err), l.err);
    tuned[ct_theta_find(l.theta, ct_noise_find(l.noise, "odom"), 2)] += 1;
    CHECK_OK(ct_theta_apply(l.theta, tuned, l.noise, &l.err), l.err);
    options.learn.max_iterations = 0;
    options.learn.scale = CT_SCALE_NONE;
    options.learn.deployment.one_start = 1; /* with several, the closed form no longer ends in other minima */
    CHECK_OK(ct_trial_run(l.runs, l.seq, 0, NULL, l.noise, l.theta, &options, &trial, &l.err), l.err);
    CHECK(trial.result.stop == CT_LEARN_STOP_START && trial.points == 2 &&
          trial.result.loss_start < trial.result.loss_closed_form);
    CHECK_NEAR(trial.trace[0].loss / trial.result.loss_closed_form, 1, 1e-9);
    CHECK_NEAR(trial.trace[1].loss / trial.result.loss_start, 1, 1e-9);
    CHECK(trial.trace[1].evaluations > trial.trace[0].evaluations + 10); /* those of the folds */
    ct_trial_free(&trial);
    lesson_free(&l);
}

static int dawdle(void *user, const ct_learn_progress *progress)
{
    const double from = ct_now_s();
    (void)progress;
    while (ct_now_s() - from < 0.02) {}
    *(double *)user += ct_now_s() - from;
    return 0;
}

static void test_the_clock_stands_still_while_others_are_told(void)
{
    course           c = course_of("D1", 2, 10, 1e-3, 1e3);
    ct_trial_options options = options_of(CT_LEARN_FRANK_WOLFE);
    double           away = 0;
    options.learn.progress = dawdle;
    options.learn.user = &away;
    const double   from = ct_now_s();
    ct_trial       trial = trial_of(&c, &options);
    const double   all = ct_now_s() - from;
    CHECK(away > 0.2 && trial.seconds <= all - away && trial.trace[trial.points - 1].seconds < trial.seconds);
    ct_trial_free(&trial);
    course_free(&c);
}

static void test_a_reference_is_reached_where_errors_stay_near_it(void)
{
    ct_trace_point point[6] = {0};
    const double   translation[6] = {3, 1.02, 1.2, 1.04, 0.9, 1.05}, rotation[6] = {0.1, 0.1, 0.1, 0.2, 0.1, 0.1};
    const ct_trial trial = {.trace = point, .points = 6};
    for (int i = 0; i < 6; i++) point[i].translation = translation[i], point[i].rotation = rotation[i];
    CHECK(ct_trace_reaches(&trial, 1, 1, 0.05) == 3 && ct_trace_reaches(&trial, 1, 0.1, 0.05) == 4 &&
          ct_trace_reaches(&trial, 1, NAN, 0.05) == 3);
    CHECK(ct_trace_reaches(&trial, 1, 1, 0.25) == 1 && ct_trace_reaches(&trial, 1, 1, 5) == 0);
    CHECK(ct_trace_reaches(&trial, 1, 1, 0.04) == -1 && ct_trace_reaches(&trial, 0.5, 1, 0.05) == -1);
    point[4].translation = NAN;
    CHECK(ct_trace_reaches(&trial, 1, 1, 0.05) == 5);
    CHECK(ct_trace_reaches(&(ct_trial){0}, 1, 1, 0.05) == -1);
}

int main(void)
{
    RUN(test_the_trace_ends_with_the_answer_and_does_not_go_back);
    RUN(test_errors_along_the_way_are_those_of_its_points);
    RUN(test_a_long_way_is_thinned_from_end_to_end);
    RUN(test_thinning_leaves_no_gap_in_the_logarithm_of_time);
    RUN(test_start_values_that_stay_are_the_last_point_of_two);
    RUN(test_the_clock_stands_still_while_others_are_told);
    RUN(test_a_reference_is_reached_where_errors_stay_near_it);
    return ct_test_end();
}
