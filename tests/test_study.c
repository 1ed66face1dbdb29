/* test_study.c: verdicts and trials say what is found by hand with the parts they are made of. */
#include "learn_test.h"

#include <covtune/study.h>

#define TESTS 3
#define TOLD  2000

/* Training runs from a bad start, and test runs of the same kind. */
typedef struct {
    lesson       l;
    ct_sequence *test[TESTS];
} course;

static course course_of(const char *preset, int runs, int poses, double lower, double upper)
{
    course         c = {.l = lesson_of(preset, CT_SE2, runs, poses, 21)};
    ct_nav_options nav;
    CHECK(ct_nav_preset(preset, CT_SE2, &nav));
    nav.least = nav.most = poses;
    nav.seed = 77;
    for (int i = 0; i < TESTS; i++) CHECK_OK(ct_nav_make(&nav, (uint64_t)i, c.l.noise, &c.test[i], &c.l.err), c.l.err);
    start_far(&c.l);
    learn_all(&c.l, CT_NOISE_DIAGONAL, lower, upper);
    return c;
}

static void course_free(course *c)
{
    for (int i = 0; i < TESTS; i++) ct_sequence_free(c->test[i]);
    lesson_free(&c->l);
}

static ct_trial trial_of(course *c, const ct_trial_options *options)
{
    ct_trial trial;
    CHECK_OK(ct_trial_run(c->l.runs, c->l.seq, TESTS, c->test, c->l.noise, c->l.theta, options, &trial, &c->l.err), c->l.err);
    return trial;
}

static int same_table(const ct_noise *a, const ct_noise *b)
{
    for (int32_t g = 0; g < ct_noise_count(a); g++) {
        const ct_noise_model *x = ct_noise_get(a, g), *y = ct_noise_get(b, g);
        if (x->kind != y->kind || memcmp(x->covariance, y->covariance, (size_t)(x->kind == CT_NOISE_FULL ? x->dim * x->dim : x->kind == CT_NOISE_DIAGONAL ? x->dim : 1) * sizeof(double))) return 0;
    }
    return 1;
}

static int same_double(double a, double b) { return !memcmp(&a, &b, sizeof a) || (isnan(a) && isnan(b)); }

/* All but the seconds. */
static int same_verdict(const ct_verdict *a, const ct_verdict *b)
{
    return a->runs == b->runs && a->failed == b->failed && a->accuracy.poses == b->accuracy.poses && same_double(a->accuracy.translation, b->accuracy.translation) &&
           same_double(a->accuracy.rotation, b->accuracy.rotation) && same_double(a->accuracy.ape_translation, b->accuracy.ape_translation) && same_double(a->loss, b->loss) &&
           same_double(a->chi_squared, b->chi_squared) && same_double(a->nees, b->nees) && same_double(a->condition, b->condition) && same_double(a->condition_scaled, b->condition_scaled);
}

/* ---- Verdicts --------------------------------------------------------------------------------- */

static double middle_of_three(double a, double b, double c) { return fmax(fmin(a, b), fmin(fmax(a, b), c)); }

static void check_verdict(course *c, const ct_noise *noise, const ct_verdict_options *options, const ct_verdict *v)
{
    double t = 0, r = 0, d = 0, loss = 0, chi = 0, degrees = 0, nees = 0, nees_degrees = 0, condition[TESTS][2];
    for (int i = 0; i < TESTS; i++) {
        ct_solver      *solver = NULL;
        ct_assessment   a;
        ct_conditioning k;
        double         *x = malloc((size_t)ct_graph_size(c->test[i]->graph) * sizeof *x);
        CHECK_OK(ct_solver_new(c->test[i]->graph, NULL, &solver, &c->l.err), c->l.err);
        CHECK_OK(ct_assess(c->test[i], noise, solver, &options->inference, &options->loss, 1, x, &a, &c->l.err), c->l.err);
        CHECK_OK(ct_conditioning_at(c->test[i]->graph, noise, solver, x, &k, &c->l.err), c->l.err);
        t += a.accuracy.translation / TESTS;
        r += a.accuracy.rotation / TESTS;
        d += a.accuracy.ape_translation / TESTS;
        loss += a.loss / TESTS;
        chi += a.consistency.chi_squared;
        degrees += (double)a.consistency.degrees;
        nees += a.consistency.nees;
        nees_degrees += (double)a.consistency.nees_degrees;
        condition[i][0] = k.plain.condition;
        condition[i][1] = k.scaled.condition;
        ct_solver_free(solver);
        free(x);
    }
    CHECK(v->runs == TESTS && v->failed == 0);
    CHECK_NEAR(v->accuracy.translation / t, 1, 1e-14);
    CHECK_NEAR(v->accuracy.rotation / r, 1, 1e-14);
    CHECK_NEAR(v->accuracy.ape_translation / d, 1, 1e-14);
    CHECK_NEAR(v->loss / loss, 1, 1e-14);
    CHECK_NEAR(v->chi_squared / (chi / degrees), 1, 1e-14);
    if (options->nees) CHECK_NEAR(v->nees / (nees / nees_degrees), 1, 1e-14);
    else CHECK(isnan(v->nees));
    if (options->conditioning) CHECK(v->condition == middle_of_three(condition[0][0], condition[1][0], condition[2][0]) && v->condition_scaled == middle_of_three(condition[0][1], condition[1][1], condition[2][1]));
    else CHECK(isnan(v->condition) && isnan(v->condition_scaled));
}

static void test_a_verdict_is_what_assessments_add_up_to(void)
{
    course             c = course_of("D1", 2, 40, 1e-3, 1e3);
    ct_verdict_options options = ct_verdict_defaults();
    ct_assessment      each[TESTS], all[TESTS];
    ct_verdict         v;
    CHECK(options.inference.incremental && options.conditioning && !options.nees && options.jobs == 1);
    for (int nees = 0; nees < 2; nees++) {
        options.nees = nees;
        options.conditioning = !nees;
        CHECK_OK(ct_verdict_of(TESTS, c.test, c.l.noise, &options, each, &v, &c.l.err), c.l.err);
        check_verdict(&c, c.l.noise, &options, &v);
        CHECK_OK(ct_assess_all(TESTS, c.test, c.l.noise, &options.inference, &options.loss, nees, 1, NULL, NULL, all, &c.l.err), c.l.err);
        for (int i = 0; i < TESTS; i++) CHECK(same_double(each[i].loss, all[i].loss) && same_double(each[i].consistency.nees, all[i].consistency.nees) && each[i].solve.iterations == all[i].solve.iterations);
        CHECK(v.seconds > 0 && v.accuracy.poses == TESTS * 40);
    }
    CHECK_OK(ct_verdict_of(0, NULL, c.l.noise, &options, NULL, &v, &c.l.err), c.l.err);
    CHECK(v.runs == 0 && isnan(v.accuracy.translation) && isnan(v.loss) && isnan(v.chi_squared) && isnan(v.condition) && isnan(v.seconds));
    course_free(&c);
}

/* One of the runs has a pose that nothing is known of: it has no estimate, and no say. */
static void test_a_run_without_an_estimate_is_counted_and_does_not_count(void)
{
    course             c = course_of("D1", 2, 30, 1e-3, 1e3);
    ct_verdict_options options = ct_verdict_defaults();
    ct_verdict         all, some;
    options.inference.incremental = 0;
    options.nees = 1;
    CHECK_OK(ct_graph_add_variable(c.test[1]->graph, "lost", CT_SE2, NULL, NULL, &c.l.err), c.l.err);
    c.test[1]->truth = realloc(c.test[1]->truth, (size_t)ct_graph_size(c.test[1]->graph) * sizeof(double));
    c.test[1]->known = realloc(c.test[1]->known, (size_t)ct_graph_variables(c.test[1]->graph));
    c.test[1]->known[30] = 0;
    CHECK_OK(ct_verdict_of(TESTS, c.test, c.l.noise, &options, NULL, &all, &c.l.err), c.l.err);
    CHECK_OK(ct_verdict_of(2, (ct_sequence *const[]){c.test[0], c.test[2]}, c.l.noise, &options, NULL, &some, &c.l.err), c.l.err);
    CHECK(all.runs == TESTS && all.failed == 1 && some.runs == 2 && some.failed == 0);
    all.runs = some.runs;
    all.failed = some.failed;
    CHECK(same_verdict(&all, &some) && isfinite(all.condition) && isfinite(all.nees));
    course_free(&c);
}

typedef struct {
    int asked, most;
} patience;

static int out_of_patience(void *user)
{
    patience *p = user;
    return ++p->asked > p->most;
}

static void test_told_to_stop_a_verdict_is_of_what_was_looked_at(void)
{
    course             c = course_of("D1", 2, 40, 1e-3, 1e3);
    ct_verdict_options options = ct_verdict_defaults();
    patience           p = {.most = 60}; /* a call a step, 40 a run, and one when it is done */
    ct_verdict         v, first;
    ct_assessment      each[TESTS];
    CHECK_OK(ct_verdict_of(1, c.test, c.l.noise, &options, NULL, &first, &c.l.err), c.l.err);
    options.cancel = out_of_patience;
    options.user = &p;
    CHECK_OK(ct_verdict_of(TESTS, c.test, c.l.noise, &options, each, &v, &c.l.err), c.l.err);
    CHECK(p.asked == 61 && same_verdict(&v, &first));
    CHECK(each[1].solve.stop == CT_STOP_CANCELLED && each[2].solve.stop == CT_STOP_NONE);
    course_free(&c);
}

static void test_a_table_that_does_not_fit_has_no_verdict(void)
{
    course             c = course_of("D1", 2, 20, 1e-3, 1e3);
    ct_verdict_options options = ct_verdict_defaults();
    ct_noise          *empty = NULL;
    ct_verdict         v;
    CHECK_OK(ct_noise_new(&empty, &c.l.err), c.l.err);
    CHECK_REFUSED(ct_verdict_of(TESTS, c.test, empty, &options, NULL, &v, &c.l.err), c.l.err, "noise model");
    CHECK(v.runs == 0 && isnan(v.loss));
    ct_noise_free(empty);
    course_free(&c);
}

/* ---- Trials ----------------------------------------------------------------------------------- */

static const ct_learn_method METHODS[] = {CT_LEARN_LM, CT_LEARN_CLOSED_FORM, CT_LEARN_FRANK_WOLFE, CT_LEARN_FRANK_WOLFE_LOG, CT_LEARN_PROJECTED_GRADIENT, CT_LEARN_LBFGS};
#define METHOD_COUNT (sizeof METHODS / sizeof *METHODS)

static ct_trial_options options_of(ct_learn_method method)
{
    ct_trial_options options = ct_trial_defaults();
    CHECK(options.trace && !options.errors);
    options.learn.method = method;
    options.learn.max_iterations = 12;
    options.test.nees = 1;
    options.errors = 1;
    return options;
}

static void test_a_trial_learns_what_learning_by_hand_does(void)
{
    for (size_t k = 0; k < METHOD_COUNT; k++) {
        course                 c = course_of("D2", 4, 40, 1e-3, 1e3);
        const ct_trial_options options = options_of(METHODS[k]);
        ct_trial               trial = trial_of(&c, &options);
        ct_verdict_options     minimised = options.test;
        ct_verdict             train;
        ct_learn_result        r;
        open_outer(&c.l, &options.outer);
        CHECK(!same_table(trial.noise, c.l.noise));
        CHECK_OK(ct_learn(c.l.outer, &options.learn, c.l.noise, &r, &c.l.err), c.l.err);
        CHECK(same_table(trial.noise, c.l.noise) && !memcmp(trial.result.p, r.p, (size_t)r.parameters * sizeof *r.p));
        CHECK(trial.result.stop == r.stop && trial.result.evaluations == r.evaluations && trial.result.inner_solves == r.inner_solves && same_double(trial.result.loss_train, r.loss_train));
        check_verdict(&c, c.l.noise, &options.test, &trial.test);
        minimised.inference = ct_inference_defaults();
        minimised.inference.start = CT_START_TRUTH;
        minimised.inference.solve = options.outer.inner;
        CHECK_OK(ct_verdict_of(c.l.runs, c.l.seq, c.l.noise, &minimised, NULL, &train, &c.l.err), c.l.err);
        CHECK(same_verdict(&trial.train, &train));
        CHECK_NEAR(trial.train.loss / r.loss_train, 1, 1e-6); /* the same minimum, from elsewhere */
        CHECK(trial.seconds > 0 && trial.points > 0 && trial.trace[trial.points - 1].seconds < trial.seconds);
        ct_learn_result_free(&r);
        ct_trial_free(&trial);
        CHECK(!trial.noise && !trial.trace && trial.points == 0);
        course_free(&c);
    }
}

/* What a caller is told on the way. */
typedef struct {
    int    count, stop_at;
    char   phase[TOLD];
    double loss[TOLD], p[TOLD][6];
} listener;

static int listen(void *user, const ct_learn_progress *progress)
{
    listener *l = user;
    if (l->count < TOLD) {
        l->phase[l->count] = progress->phase[0];
        l->loss[l->count] = progress->train;
        memcpy(l->p[l->count], progress->p, sizeof l->p[0]);
    }
    return ++l->count == l->stop_at;
}

static int is_last_iterate(ct_learn_method method) { return method == CT_LEARN_FRANK_WOLFE || method == CT_LEARN_FRANK_WOLFE_LOG; }

/* Incumbents again, from what a caller is told: the learn phase's best, or all of it; the first is where it begins. */
static void check_points(const ct_trial *trial, ct_learn_method method, const listener *heard)
{
    double best = INFINITY;
    int    point = 0;
    for (int i = 0; i < heard->count && i < TOLD; i++) {
        if (heard->phase[i] != 'l' || !(is_last_iterate(method) || heard->loss[i] < best)) continue;
        best = heard->loss[i];
        CHECK(point < trial->points);
        if (point < trial->points && heard->loss[i] != trial->trace[point].loss) CHECK(point == trial->points - 1 || point == 0); /* the answer may be another: of lm, one that a prior has a say in */
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
            CHECK_NEAR(trial.trace[0].loss / (table && METHODS[k] != CT_LEARN_CLOSED_FORM ? trial.result.loss_start : trial.result.loss_closed_form), 1, 1e-9);
            CHECK_NEAR(last->translation / trial.train.accuracy.translation, 1, 1e-9);
            CHECK_NEAR(last->rotation / trial.train.accuracy.rotation, 1, 1e-9);
            CHECK(last->solves <= trial.result.inner_solves && last->evaluations <= trial.result.evaluations && trial.trace[0].seconds > 0);
            for (int i = 1; i < trial.points; i++) {
                const ct_trace_point *a = &trial.trace[i - 1], *b = &trial.trace[i];
                CHECK(a->seconds < b->seconds && a->solves < b->solves && a->evaluations < b->evaluations);
                CHECK(is_last_iterate(METHODS[k]) || b->loss < a->loss || b == last);
            }
            if (METHODS[k] == CT_LEARN_CLOSED_FORM) CHECK(trial.points == 1);
            if (is_last_iterate(METHODS[k])) CHECK(trial.points == 13);
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
            ct_assessment seen[3];
            double        translation = 0, rotation = 0;
            if (heard->loss[j] != trial.trace[i].loss) continue;
            CHECK_OK(ct_outer_judge(c.l.outer, heard->p[j], NULL, &batch, 0, seen, &c.l.err), c.l.err);
            for (int s = 0; s < 3; s++) translation += seen[s].accuracy.translation / 3, rotation += seen[s].accuracy.rotation / 3;
            CHECK_NEAR(trial.trace[i].translation / translation, 1, 1e-6);
            CHECK_NEAR(trial.trace[i].rotation / rotation, 1, 1e-6);
            found++;
            break;
        }
    CHECK(found > 3 && found == trial.points - 1);
    CHECK(trial.trace[0].translation > 1.05 * trial.trace[trial.points - 1].translation); /* there is something to see */
    free(heard);
    ct_trial_free(&trial);
    course_free(&c);
}

static void test_what_was_not_asked_for_is_not_there(void)
{
    course           c = course_of("D1", 2, 30, 1e-3, 1e3);
    ct_trial_options options = options_of(CT_LEARN_PROJECTED_GRADIENT);
    ct_trial         trial;
    options.errors = 0;
    CHECK_OK(ct_trial_run(c.l.runs, c.l.seq, 0, NULL, c.l.noise, c.l.theta, &options, &trial, &c.l.err), c.l.err);
    CHECK(trial.points > 1 && isnan(trial.trace[0].translation) && isnan(trial.trace[trial.points - 1].rotation));
    CHECK(trial.test.runs == 0 && isnan(trial.test.accuracy.translation) && isnan(trial.test.condition) && trial.train.runs == 2);
    ct_trial_free(&trial);
    options.trace = 0;
    options.errors = 1;
    trial = trial_of(&c, &options);
    CHECK(!trial.trace && trial.points == 0 && trial.test.runs == TESTS && trial.seconds > 0);
    ct_trial_free(&trial);
    course_free(&c);
}

static void test_a_long_way_is_thinned_from_end_to_end(void)
{
    course           c = course_of("D1", 2, 6, 1e-3, 1e3);
    ct_trial_options options = options_of(CT_LEARN_FRANK_WOLFE);
    options.learn.max_iterations = 1500;
    options.learn.scale = CT_SCALE_NONE;
    ct_trial              trial = trial_of(&c, &options);
    const ct_trace_point *last = &trial.trace[trial.points - 1];
    CHECK(trial.points > 100 && trial.points <= 400 && last->evaluations > 1500);
    CHECK_NEAR(trial.trace[0].loss / trial.result.loss_start, 1, 1e-9);
    CHECK_NEAR(last->loss / trial.result.loss_train, 1, 1e-9);
    CHECK_NEAR(last->translation / trial.train.accuracy.translation, 1, 1e-9);
    double widest = 0;
    for (int i = 1; i < trial.points; i++) {
        CHECK(trial.trace[i].seconds > trial.trace[i - 1].seconds);
        widest = fmax(widest, log(trial.trace[i].seconds / trial.trace[i - 1].seconds));
    }
    CHECK(widest < 0.7 * log(last->seconds / trial.trace[0].seconds)); /* no part of it is left out */
    ct_trial_free(&trial);
    course_free(&c);
}

/* Of learning that keeps the table's values in the end: until then it would have answered with the closed form. */
static void test_start_values_that_stay_are_the_last_point_of_two(void)
{
    lesson           l = biased_lesson(6, 0, 0.05);
    ct_trial_options options = options_of(CT_LEARN_LM);
    ct_trial         trial;
    double           tuned[6];
    CHECK_OK(ct_outer_closed_form(l.outer, NULL, tuned, NULL, &l.err), l.err);
    tuned[ct_theta_find(l.theta, ct_noise_find(l.noise, "odom"), 2)] += 3;
    CHECK_OK(ct_theta_put(l.theta, tuned, l.noise, &l.err), l.err);
    options.learn.max_iterations = 0;
    options.learn.scale = CT_SCALE_NONE;
    CHECK_OK(ct_trial_run(l.runs, l.seq, 0, NULL, l.noise, l.theta, &options, &trial, &l.err), l.err);
    CHECK(trial.result.stop == CT_LEARN_STOP_START && trial.points == 2);
    CHECK_NEAR(trial.trace[0].loss / trial.result.loss_closed_form, 1, 1e-9);
    CHECK_NEAR(trial.trace[1].loss / trial.result.loss_start, 1, 1e-9);
    CHECK(trial.trace[1].evaluations > trial.trace[0].evaluations + 10); /* those of the folds */
    ct_trial_free(&trial);
    lesson_free(&l);
}

static void test_cancelled_at_any_time_a_trial_is_whole(void)
{
    int stopped = 0, finished = 0;
    for (int most = 0; most < 400 && !finished; most = most * 5 / 4 + 1) {
        course           c = course_of("D1", 3, 12, 1e-3, 1e3);
        ct_trial_options options = options_of(CT_LEARN_LM);
        patience         p = {.most = most};
        options.learn.max_iterations = 3;
        options.test.cancel = out_of_patience;
        options.test.user = &p;
        ct_trial trial = trial_of(&c, &options);
        stopped += trial.result.stop == CT_LEARN_STOP_CANCELLED;
        finished = trial.test.runs == TESTS;
        CHECK(trial.noise && ct_theta_inside(c.l.theta, trial.noise) && trial.points > 0 && trial.trace[trial.points - 1].loss > 0);
        CHECK(trial.result.stop != CT_LEARN_STOP_CANCELLED || (trial.train.runs == 0 && trial.test.runs == 0));
        CHECK(finished == (p.asked <= most));
        ct_trial_free(&trial);
        course_free(&c);
    }
    CHECK(stopped > 5 && finished);
}

static void test_the_callers_own_progress_stops_learning_and_not_the_verdict(void)
{
    course           c = course_of("D1", 3, 20, 1e-3, 1e3);
    ct_trial_options options = options_of(CT_LEARN_FRANK_WOLFE);
    listener        *heard = calloc(1, sizeof *heard);
    heard->stop_at = 6;
    options.learn.progress = listen;
    options.learn.user = heard;
    ct_trial trial = trial_of(&c, &options);
    CHECK(heard->count == 6 && trial.result.stop == CT_LEARN_STOP_CANCELLED && trial.test.runs == TESTS && trial.train.runs == 3);
    CHECK_NEAR(trial.trace[trial.points - 1].translation / trial.train.accuracy.translation, 1, 1e-9);
    free(heard);
    ct_trial_free(&trial);
    course_free(&c);
}

static void test_what_a_method_refuses_a_trial_refuses(void)
{
    course                 c = course_of("D1", 2, 20, 1e-3, 1e3);
    const ct_trial_options options = options_of(CT_LEARN_LBFGS);
    ct_trial               trial;
    CHECK_OK(ct_theta_set_spread(c.l.theta, 20, &c.l.err), c.l.err);
    CHECK_REFUSED(ct_trial_run(c.l.runs, c.l.seq, TESTS, c.test, c.l.noise, c.l.theta, &options, &trial, &c.l.err), c.l.err, "knows boxes alone");
    CHECK(!trial.noise && !trial.trace && trial.points == 0 && isnan(trial.test.loss));
    ct_trial_free(&trial);
    CHECK_REFUSED(ct_trial_run(0, NULL, TESTS, c.test, c.l.noise, c.l.theta, &options, &trial, &c.l.err), c.l.err, "no sequence");
    ct_trial_free(&trial);
    course_free(&c);
}

static void test_the_number_of_jobs_changes_no_bit(void)
{
    course   c = course_of("D3", 5, 30, 1e-3, 1e3);
    ct_trial one = {0};
    for (int jobs = 1; jobs <= 3; jobs++) {
        ct_trial_options options = options_of(CT_LEARN_LM);
        options.outer.jobs = options.test.jobs = jobs;
        ct_trial trial = trial_of(&c, &options);
        if (jobs == 1) {
            one = trial;
            continue;
        }
        CHECK(same_table(one.noise, trial.noise) && same_verdict(&one.train, &trial.train) && same_verdict(&one.test, &trial.test) && one.points == trial.points);
        for (int i = 0; i < trial.points; i++) {
            const ct_trace_point *a = &one.trace[i], *b = &trial.trace[i];
            CHECK(a->solves == b->solves && a->evaluations == b->evaluations && same_double(a->loss, b->loss) && same_double(a->translation, b->translation) && same_double(a->rotation, b->rotation));
        }
        ct_trial_free(&trial);
    }
    ct_trial_free(&one);
    course_free(&c);
}

/* ---- What is asked of them -------------------------------------------------------------------- */

static void test_a_reference_is_reached_where_errors_stay_near_it(void)
{
    ct_trace_point point[6] = {0};
    const double   translation[6] = {3, 1.02, 1.2, 1.04, 0.9, 1.05}, rotation[6] = {0.1, 0.1, 0.1, 0.2, 0.1, 0.1};
    const ct_trial trial = {.trace = point, .points = 6};
    for (int i = 0; i < 6; i++) point[i].translation = translation[i], point[i].rotation = rotation[i];
    CHECK(ct_trace_reaches(&trial, 1, 1, 0.05) == 3 && ct_trace_reaches(&trial, 1, 0.1, 0.05) == 4 && ct_trace_reaches(&trial, 1, NAN, 0.05) == 3);
    CHECK(ct_trace_reaches(&trial, 1, 1, 0.25) == 1 && ct_trace_reaches(&trial, 1, 1, 5) == 0);
    CHECK(ct_trace_reaches(&trial, 1, 1, 0.04) == -1 && ct_trace_reaches(&trial, 0.5, 1, 0.05) == -1);
    point[4].translation = NAN;
    CHECK(ct_trace_reaches(&trial, 1, 1, 0.05) == 5);
    CHECK(ct_trace_reaches(&(ct_trial){0}, 1, 1, 0.05) == -1);
}

static void test_a_table_fits_where_a_common_factor_brings_it_in(void)
{
    static const struct {
        double odom[3], gps[3], lower, upper, spread;
        int    fits;
    } CASE[] = {
        {{1, 1, 1}, {1, 1, 1}, 0.1, 10, INFINITY, 1},
        {{1e-5, 1e-4, 1e-3}, {1e-5, 1e-5, 1e-4}, 0.1, 10, INFINITY, 1},   /* times 1e4: from edge to edge */
        {{1e-5, 1e-4, 1.1e-3}, {1e-5, 1e-5, 1e-4}, 0.1, 10, INFINITY, 0}, /* a little wider than that     */
        {{1e3, 1, 1}, {1, 1, 1}, 0.1, 10, INFINITY, 0},
        {{30, 1, 1}, {1, 1, 1}, 0.1, 10, INFINITY, 1},
        {{30, 1, 1}, {1, 1, 1}, 0.1, 10, 20, 0}, /* the spread of a set is part of it */
        {{15, 1, 1}, {1, 1, 1}, 0.1, 10, 20, 1},
    };
    for (size_t k = 0; k < sizeof CASE / sizeof *CASE; k++) {
        lesson l = lesson_of("D1", CT_SE2, 1, 10, 3);
        CHECK_OK(ct_noise_set_variance(l.noise, ct_noise_find(l.noise, "odom"), CASE[k].odom, &l.err), l.err);
        CHECK_OK(ct_noise_set_variance(l.noise, ct_noise_find(l.noise, "gps"), CASE[k].gps, &l.err), l.err);
        learn_all(&l, CT_NOISE_DIAGONAL, CASE[k].lower, CASE[k].upper);
        CHECK_OK(ct_theta_set_spread(l.theta, CASE[k].spread, &l.err), l.err);
        CHECK(ct_fits(l.noise, l.theta) == CASE[k].fits);
        lesson_free(&l);
    }
}

int main(void)
{
    RUN(test_a_verdict_is_what_assessments_add_up_to);
    RUN(test_a_run_without_an_estimate_is_counted_and_does_not_count);
    RUN(test_told_to_stop_a_verdict_is_of_what_was_looked_at);
    RUN(test_a_table_that_does_not_fit_has_no_verdict);
    RUN(test_a_trial_learns_what_learning_by_hand_does);
    RUN(test_the_trace_ends_with_the_answer_and_does_not_go_back);
    RUN(test_errors_along_the_way_are_those_of_its_points);
    RUN(test_what_was_not_asked_for_is_not_there);
    RUN(test_a_long_way_is_thinned_from_end_to_end);
    RUN(test_start_values_that_stay_are_the_last_point_of_two);
    RUN(test_cancelled_at_any_time_a_trial_is_whole);
    RUN(test_the_callers_own_progress_stops_learning_and_not_the_verdict);
    RUN(test_what_a_method_refuses_a_trial_refuses);
    RUN(test_the_number_of_jobs_changes_no_bit);
    RUN(test_a_reference_is_reached_where_errors_stay_near_it);
    RUN(test_a_table_fits_where_a_common_factor_brings_it_in);
    return ct_test_end();
}
