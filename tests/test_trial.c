/* test_trial.c: summaries and trials agree with what their parts compute. */
#include <covtune/push.h>
#include <covtune/simulate.h>
#include "evaluate_test.h"
#include "trial_test.h"

static int same_accuracy(ct_accuracy a, ct_accuracy b)
{
    return a.poses == b.poses && same_double(a.translation, b.translation) && same_double(a.rotation, b.rotation) &&
           same_double(a.ape_translation, b.ape_translation);
}

static int same_bodies(const ct_summary *a, const ct_summary *b)
{
    if (a->bodies != b->bodies) return 0;
    for (int i = 0; i < a->bodies; i++)
        if (strcmp(a->body[i].name, b->body[i].name) || !same_accuracy(a->body[i].accuracy, b->body[i].accuracy))
            return 0;
    return 1;
}

/* All but the seconds. */
static int same_summary(const ct_summary *a, const ct_summary *b)
{
    return a->sequences == b->sequences && a->averaged == b->averaged && a->failed == b->failed &&
           a->accuracy.poses == b->accuracy.poses &&
           same_double(a->accuracy.translation, b->accuracy.translation) &&
           same_double(a->accuracy.rotation, b->accuracy.rotation) &&
           same_double(a->accuracy.ape_translation, b->accuracy.ape_translation) && same_double(a->loss, b->loss) &&
           same_double(a->chi_squared, b->chi_squared) && same_double(a->nees, b->nees) &&
           same_double(a->condition, b->condition) && same_double(a->condition_scaled, b->condition_scaled) &&
           same_bodies(a, b);
}

/* ---- Summaries -------------------------------------------------------------------------------- */

static double middle_of_three(double a, double b, double c) { return fmax(fmin(a, b), fmin(fmax(a, b), c)); }

static void check_summary(course *c, const ct_noise *noise, const ct_evaluate_options *options, const ct_summary *v)
{
    double t = 0, r = 0, d = 0, loss = 0, chi = 0, degrees = 0, nees = 0, nees_degrees = 0, condition[TESTS][2];
    for (int i = 0; i < TESTS; i++) {
        ct_solver      *solver = NULL;
        ct_evaluation   a;
        ct_conditioning k;
        double         *x = malloc((size_t)ct_graph_size(c->test[i]->graph) * sizeof *x);
        CHECK_OK(ct_solver_new(c->test[i]->graph, NULL, &solver, &c->l.err), c->l.err);
        CHECK_OK(evaluate_one(c->test[i], noise, solver, &options->inference, &options->loss, 1, x, &a, &c->l.err),
                 c->l.err);
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
    CHECK(v->sequences == TESTS && v->failed == 0);
    CHECK_NEAR(v->accuracy.translation / t, 1, 1e-14);
    CHECK_NEAR(v->accuracy.rotation / r, 1, 1e-14);
    CHECK_NEAR(v->accuracy.ape_translation / d, 1, 1e-14);
    CHECK_NEAR(v->loss / loss, 1, 1e-14);
    CHECK_NEAR(v->chi_squared / (chi / degrees), 1, 1e-14);
    if (options->nees) CHECK_NEAR(v->nees / (nees / nees_degrees), 1, 1e-14);
    else CHECK(isnan(v->nees));
    if (options->conditioning)
        CHECK(v->condition == middle_of_three(condition[0][0], condition[1][0], condition[2][0]) &&
              v->condition_scaled == middle_of_three(condition[0][1], condition[1][1], condition[2][1]));
    else CHECK(isnan(v->condition) && isnan(v->condition_scaled));
}

static void test_a_summary_is_the_mean_of_evaluations(void)
{
    course             c = course_of("D1", 2, 40, 1e-3, 1e3);
    ct_evaluate_options options = ct_evaluate_defaults();
    ct_evaluation      each[TESTS], all[TESTS];
    ct_summary         v;
    CHECK(!options.conditioning && !options.nees && options.jobs == 1);
    options.inference.incremental = 1;
    for (int nees = 0; nees < 2; nees++) {
        options.nees = nees;
        options.conditioning = !nees;
        CHECK_OK(ct_evaluate(TESTS, c.test, c.l.noise, &options, each, &v, &c.l.err), c.l.err);
        check_summary(&c, c.l.noise, &options, &v);
        CHECK_OK(evaluate_all(TESTS, c.test, c.l.noise, &options.inference, &options.loss, nees, 1, NULL, NULL, all,
                              &c.l.err),
                 c.l.err);
        for (int i = 0; i < TESTS; i++)
            CHECK(same_double(each[i].loss, all[i].loss) &&
                  same_double(each[i].consistency.nees, all[i].consistency.nees) &&
                  each[i].solve.iterations == all[i].solve.iterations);
        CHECK(v.seconds > 0 && v.accuracy.poses == TESTS * 40);
    }
    CHECK_OK(ct_evaluate(0, NULL, c.l.noise, &options, NULL, &v, &c.l.err), c.l.err);
    CHECK(v.sequences == 0 && isnan(v.accuracy.translation) && isnan(v.loss) && isnan(v.chi_squared) &&
          isnan(v.condition) && isnan(v.seconds));
    course_free(&c);
}

/* One of the runs has a pose that nothing is known of: it has no estimate, and no say. */
static void test_a_run_without_an_estimate_is_counted_and_does_not_count(void)
{
    course             c = course_of("D1", 2, 30, 1e-3, 1e3);
    ct_evaluate_options options = ct_evaluate_defaults();
    ct_summary         all, some, one[2];
    options.inference.incremental = 0;
    options.nees = options.conditioning = 1;
    CHECK_OK(ct_graph_add_variable(c.test[1]->graph, "lost", CT_SE2, NULL, NULL, &c.l.err), c.l.err);
    c.test[1]->truth = realloc(c.test[1]->truth, (size_t)ct_graph_size(c.test[1]->graph) * sizeof(double));
    c.test[1]->known = realloc(c.test[1]->known, (size_t)ct_graph_variables(c.test[1]->graph));
    c.test[1]->known[30] = 0;
    CHECK_OK(ct_evaluate(TESTS, c.test, c.l.noise, &options, NULL, &all, &c.l.err), c.l.err);
    CHECK_OK(ct_evaluate(2, (ct_sequence *const[]){c.test[0], c.test[2]}, c.l.noise, &options, NULL, &some, &c.l.err),
             c.l.err);
    CHECK(all.sequences == TESTS && all.failed == 1 && some.sequences == 2 && some.failed == 0);
    for (int i = 0; i < 2; i++)
        CHECK_OK(ct_evaluate(1, &c.test[2 * i], c.l.noise, &options, NULL, &one[i], &c.l.err), c.l.err);
    /* two have their middle between them */
    CHECK_NEAR(some.condition, (one[0].condition + one[1].condition) / 2, 1e-9 * some.condition);
    CHECK(one[0].condition_scaled != one[1].condition_scaled);
    CHECK_NEAR(some.condition_scaled, (one[0].condition_scaled + one[1].condition_scaled) / 2, 1e-9);
    all.sequences = some.sequences;
    all.failed = some.failed;
    CHECK(same_summary(&all, &some) && isfinite(all.condition) && isfinite(all.nees));
    course_free(&c);
}

/* Two pushes, whose things are o and e, and between them a drive, whose thing is x: a thing's accuracy is the mean
 * over the runs that have it, and its poses are those of all of them. */
static void test_a_verdict_tells_things_apart(void)
{
    enum { RUNS = 3, THINGS = 3 };
    static const char *const NAME[THINGS] = {"o", "e", "x"};
    ct_err                   err;
    ct_noise                *noise;
    ct_push_options          push = ct_push_defaults(CT_SHAPE_ELLIPSE);
    ct_pose_graph_options         world = ct_pose_graph_defaults(CT_SE2);
    ct_evaluate_options       options = ct_evaluate_defaults();
    ct_sequence             *seq[RUNS];
    ct_summary               v, drive;
    push.episodes = 1;
    push.steps = 22;
    world.poses = 40;
    CHECK_OK(ct_noise_new(&noise, &err), err);
    for (int i = 0; i < RUNS; i++)
        CHECK_OK(i == 1 ? ct_simulate_pose_graph(&world, noise, &seq[i], &err)
                        : ct_simulate_push(&push, 1, (uint64_t)i, NULL, NULL, noise, &seq[i], &err),
                 err);
    CHECK_OK(ct_evaluate(RUNS, seq, noise, &options, NULL, &v, &err), err);
    CHECK(v.sequences == RUNS && v.failed == 0 && v.bodies == THINGS);
    for (int k = 0; k < THINGS; k++) {
        double  t = 0, r = 0, d = 0, count = 0;
        int64_t poses = 0;
        for (int i = 0; i < RUNS; i++) {
            double *x = malloc((size_t)ct_graph_size(seq[i]->graph) * sizeof *x);
            CHECK_OK(ct_start_values(seq[i], options.inference.start, x, &err), err);
            ct_replay_result replayed;
            CHECK_OK(ct_replay(seq[i]->graph, noise, &options.inference.replay, x, &replayed, &err), err);
            const ct_accuracy a = ct_accuracy_of_body(seq[i], x, NAME[k]);
            free(x);
            if (!a.poses) continue;
            t += a.translation, r += a.rotation, d += a.ape_translation, count++, poses += a.poses;
        }
        const ct_accuracy found = ct_summary_body(&v, NAME[k]);
        CHECK(!strcmp(v.body[k].name, NAME[k]) && same_accuracy(found, v.body[k].accuracy) && found.poses == poses &&
              poses == (k < 2 ? 44 : 40) && count == (k < 2 ? 2 : 1));
        CHECK_NEAR(found.translation / (t / count), 1, 1e-14);
        CHECK_NEAR(found.rotation / (r / count), 1, 1e-14);
        CHECK_NEAR(found.ape_translation / (d / count), 1, 1e-14);
    }
    CHECK_OK(ct_evaluate(1, &seq[1], noise, &options, NULL, &drive, &err), err);
    CHECK(drive.bodies == 1 && same_accuracy(ct_summary_body(&drive, "x"), drive.accuracy));
    CHECK(ct_summary_body(&drive, "o").poses == 0 && isnan(ct_summary_body(&drive, "o").translation));
    for (int i = 0; i < RUNS; i++) ct_sequence_free(seq[i]);
    ct_noise_free(noise);
}

static void test_after_a_cancel_the_summary_is_of_what_was_evaluated(void)
{
    course             c = course_of("D1", 2, 40, 1e-3, 1e3);
    ct_evaluate_options options = ct_evaluate_defaults();
    patience           p = {.most = 60}; /* a call a step, 40 a run, and one when it is done */
    ct_summary         v, first;
    ct_evaluation      each[TESTS];
    options.inference.incremental = 1;
    CHECK_OK(ct_evaluate(1, c.test, c.l.noise, &options, NULL, &first, &c.l.err), c.l.err);
    options.progress = progress_until_out_of_patience;
    options.user = &p;
    CHECK_OK(ct_evaluate(TESTS, c.test, c.l.noise, &options, each, &v, &c.l.err), c.l.err);
    CHECK(p.asked == 61 && same_summary(&v, &first));
    CHECK(each[1].solve.stop == CT_STOP_CANCELLED && each[2].solve.stop == CT_STOP_NONE);
    course_free(&c);
}

static void test_a_table_that_does_not_fit_has_no_summary(void)
{
    course             c = course_of("D1", 2, 20, 1e-3, 1e3);
    ct_evaluate_options options = ct_evaluate_defaults();
    ct_noise          *empty = NULL;
    ct_summary         v;
    CHECK_OK(ct_noise_new(&empty, &c.l.err), c.l.err);
    CHECK_REFUSED(ct_evaluate(TESTS, c.test, empty, &options, NULL, &v, &c.l.err), c.l.err, "noise model");
    CHECK(v.sequences == 0 && isnan(v.loss));
    ct_noise_free(empty);
    course_free(&c);
}

/* ---- Trials ----------------------------------------------------------------------------------- */

static void test_a_trial_learns_what_learning_by_hand_does(void)
{
    for (size_t k = 0; k < METHOD_COUNT; k++) {
        course           c = course_of("D2", 4, 40, 1e-3, 1e3);
        ct_trial_options options = options_of(METHODS[k]);
        options.outer.loss.rotation = 7; /* and not so of the test */
        ct_trial               trial = trial_of(&c, &options);
        ct_evaluate_options     minimised = options.test;
        ct_summary             train;
        ct_learn_result        r;
        open_outer(&c.l, &options.outer);
        CHECK(!same_table(trial.noise, c.l.noise));
        CHECK_OK(ct_learn(c.l.outer, &options.learn, c.l.noise, &r, &c.l.err), c.l.err);
        CHECK(same_table(trial.noise, c.l.noise) && !memcmp(trial.result.p, r.p, (size_t)r.parameters * sizeof *r.p));
        CHECK(trial.result.stop == r.stop && trial.result.evaluations == r.evaluations &&
              trial.result.inner_solves == r.inner_solves && same_double(trial.result.loss_train, r.loss_train));
        check_summary(&c, c.l.noise, &options.test, &trial.test);
        minimised.loss = options.outer.loss;
        minimised.inference = ct_inference_defaults();
        minimised.inference.start = CT_START_TRUTH;
        minimised.inference.solve = options.outer.inner;
        minimised.inference.incremental = 0;
        CHECK_OK(ct_evaluate(c.l.runs, c.l.seq, c.l.noise, &minimised, NULL, &train, &c.l.err), c.l.err);
        CHECK(same_summary(&trial.train, &train));
        const ct_inference inner = ct_outer_inference(&options.outer);
        CHECK(inner.start == CT_START_TRUTH && !inner.incremental &&
              inner.solve.max_iterations == options.outer.inner.max_iterations);
        CHECK_NEAR(trial.train.loss / r.loss_train, 1, 1e-6); /* the same minimum, from elsewhere */
        CHECK(trial.seconds > 0 && trial.points > 0 && trial.trace[trial.points - 1].seconds < trial.seconds);
        /* with the scale, in which the first pose's prior has a say */
        CHECK_NEAR(trial.trace[trial.points - 1].translation / train.accuracy.translation, 1, 1e-9);
        ct_learn_result_free(&r);
        ct_trial_free(&trial);
        CHECK(!trial.noise && !trial.trace && trial.points == 0);
        course_free(&c);
    }
}

/* With incremental inner estimates, training sequences are evaluated incrementally too. */
static void test_training_runs_are_judged_as_they_were_learned_from(void)
{
    course           c = course_of("D1", 3, 30, 1e-3, 1e3);
    ct_trial_options options = options_of(CT_LEARN_PROJECTED_GRADIENT);
    ct_summary       train;
    options.outer.incremental = 1;
    options.outer.gradient = CT_GRADIENT_NUMERIC;
    options.learn.max_iterations = 3;
    ct_trial           trial = trial_of(&c, &options);
    ct_evaluate_options by_steps = ct_evaluate_defaults();
    by_steps.inference.incremental = 1;
    by_steps.nees = by_steps.conditioning = 1;
    CHECK_OK(ct_evaluate(c.l.runs, c.l.seq, trial.noise, &by_steps, NULL, &train, &c.l.err), c.l.err);
    CHECK(same_summary(&trial.train, &train));
    CHECK_NEAR(trial.trace[trial.points - 1].translation / train.accuracy.translation, 1, 1e-9);
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
    CHECK(trial.test.sequences == 0 && isnan(trial.test.accuracy.translation) && isnan(trial.test.condition) &&
          trial.train.sequences == 2);
    ct_trial_free(&trial);
    options.trace = 0;
    options.errors = 1;
    trial = trial_of(&c, &options);
    CHECK(!trial.trace && trial.points == 0 && trial.test.sequences == TESTS && trial.seconds > 0);
    ct_trial_free(&trial);
    course_free(&c);
}

static void test_cancelled_at_any_time_a_trial_is_whole(void)
{
    int stopped = 0, finished = 0;
    for (int most = 0; most < 400 && !finished; most = most * 5 / 4 + 1) {
        course           c = course_of("D1", 3, 12, 1e-3, 1e3);
        ct_trial_options options = options_of(CT_LEARN_LM);
        patience         p = {.most = most};
        options.learn.max_iterations = 3;
        options.cancel = out_of_patience;
        options.user = &p;
        ct_trial trial = trial_of(&c, &options);
        stopped += trial.result.stop == CT_LEARN_STOP_CANCELLED;
        finished = trial.test.sequences == TESTS;
        CHECK(trial.noise && ct_theta_is_feasible(c.l.theta, trial.noise) && trial.points > 0 &&
              trial.trace[trial.points - 1].loss > 0);
        CHECK(trial.result.stop != CT_LEARN_STOP_CANCELLED ||
              (trial.train.sequences == 0 && trial.test.sequences == 0));
        CHECK(finished == (p.asked <= most));
        ct_trial_free(&trial);
        course_free(&c);
    }
    CHECK(stopped > 5 && finished);
}

static void test_the_callers_own_progress_stops_learning_and_not_the_evaluation(void)
{
    course c = course_of("D1", 3, 20, 1e-3, 1e3);
    int    others = 0;
    for (int most = 5; most < 14; most++) {
        ct_trial_options options = options_of(CT_LEARN_FRANK_WOLFE);
        listener        *heard = calloc(1, sizeof *heard);
        double           best = INFINITY;
        heard->stop_at = most;
        options.learn.progress = listen;
        options.learn.user = heard;
        options.learn.scale = CT_SCALE_NONE;
        ct_trial              trial = trial_of(&c, &options);
        const ct_trace_point *last = &trial.trace[trial.points - 1];
        CHECK(heard->count == most && trial.result.stop == CT_LEARN_STOP_CANCELLED && trial.test.sequences == TESTS &&
              trial.train.sequences == 3);
        CHECK_NEAR(last->translation / trial.train.accuracy.translation, 1, 1e-9);
        for (int i = 0; i < most; i++)
            if (heard->phase[i] == CT_LEARN_PHASE_LEARN) best = fmin(best, heard->loss[i]);
        CHECK_NEAR(last->loss / best, 1, 1e-9); /* broken off, it answers with its best */
        others += best < 0.999 * heard->loss[most - 1];
        for (int i = 1; i < trial.points; i++) CHECK(trial.trace[i - 1].seconds < trial.trace[i].seconds);
        free(heard);
        ct_trial_free(&trial);
    }
    CHECK(others > 0);
    course_free(&c);
}

static void test_what_a_method_refuses_a_trial_refuses(void)
{
    course                 c = course_of("D1", 2, 20, 1e-3, 1e3);
    const ct_trial_options options = options_of(CT_LEARN_LBFGS);
    ct_trial               trial;
    CHECK_OK(ct_theta_set_spread(c.l.theta, 20, &c.l.err), c.l.err);
    CHECK_REFUSED(ct_trial_run(c.l.runs, c.l.seq, TESTS, c.test, c.l.noise, c.l.theta, &options, &trial, &c.l.err),
                  c.l.err, "needs box bounds");
    CHECK(!trial.noise && !trial.trace && trial.points == 0 && isnan(trial.test.loss));
    ct_trial_free(&trial);
    CHECK_REFUSED(ct_trial_run(0, NULL, TESTS, c.test, c.l.noise, c.l.theta, &options, &trial, &c.l.err), c.l.err,
                  "no sequence");
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
        CHECK(same_table(one.noise, trial.noise) && same_summary(&one.train, &trial.train) &&
              same_summary(&one.test, &trial.test) && one.points == trial.points);
        for (int i = 0; i < trial.points; i++) {
            const ct_trace_point *a = &one.trace[i], *b = &trial.trace[i];
            CHECK(a->solves == b->solves && a->evaluations == b->evaluations && same_double(a->loss, b->loss) &&
                  same_double(a->translation, b->translation) && same_double(a->rotation, b->rotation));
        }
        ct_trial_free(&trial);
    }
    ct_trial_free(&one);
    course_free(&c);
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
    RUN(test_a_summary_is_the_mean_of_evaluations);
    RUN(test_a_run_without_an_estimate_is_counted_and_does_not_count);
    RUN(test_a_verdict_tells_things_apart);
    RUN(test_after_a_cancel_the_summary_is_of_what_was_evaluated);
    RUN(test_a_table_that_does_not_fit_has_no_summary);
    RUN(test_a_trial_learns_what_learning_by_hand_does);
    RUN(test_training_runs_are_judged_as_they_were_learned_from);
    RUN(test_what_was_not_asked_for_is_not_there);
    RUN(test_cancelled_at_any_time_a_trial_is_whole);
    RUN(test_the_callers_own_progress_stops_learning_and_not_the_evaluation);
    RUN(test_what_a_method_refuses_a_trial_refuses);
    RUN(test_the_number_of_jobs_changes_no_bit);
    RUN(test_a_table_fits_where_a_common_factor_brings_it_in);
    return ct_test_end();
}
