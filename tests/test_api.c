/* test_api.c: the front door gives what its parts give, and refuses what does not fit. */
#include "ct_test.h"

#include <covtune/api.h>
#include <covtune/simulate.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- A dataset on disk ----------------------------------------------------------------------- */

/* Three training and two test sequences of D1; the table says 1 to everything. */
static void write_dataset(const char *folder)
{
    ct_err         err = {0};
    ct_dataset    *d;
    ct_nav_options nav;
    CHECK_OK(ct_dataset_new(&d, &err), err);
    CHECK(ct_nav_preset("D1", CT_SE2, &nav));
    nav.least = nav.most = 40;
    d->train = calloc(3, sizeof *d->train);
    d->test = calloc(2, sizeof *d->test);
    for (; d->trains < 3; d->trains++)
        CHECK_OK(ct_simulate_nav(&nav, (uint64_t)d->trains, d->noise, &d->train[d->trains], &err), err);
    for (; d->tests < 2; d->tests++)
        CHECK_OK(ct_simulate_nav(&nav, 100 + (uint64_t)d->tests, d->noise, &d->test[d->tests], &err), err);
    for (int32_t g = 0; g < ct_noise_count(d->noise); g++)
        if (strcmp(ct_noise_get(d->noise, g)->name, "first_pose"))
            CHECK_OK(ct_noise_set_variance(d->noise, g, (const double[]){1, 1, 1}, &err), err);
    CHECK_OK(ct_dataset_write(d, folder, &err), err);
    ct_dataset_free(d);
}

static ct_dataset *read_dataset(void)
{
    static int  written;
    char        folder[600];
    ct_err      err = {0};
    ct_dataset *d = NULL;
    snprintf(folder, sizeof folder, "%s/data", ct_test_folder());
    if (!written++) write_dataset(folder);
    CHECK_OK(ct_dataset_read(folder, CT_DATASET_ALL, &d, &err), err);
    return d;
}

/* ---- Learning -------------------------------------------------------------------------------- */

/* The same numbers as ct_learn on the same problem; rows in the table's units. */
static void test_a_run_is_what_learning_by_hand_gives(void)
{
    ct_err          err = {0};
    ct_dataset     *d = read_dataset();
    ct_run         *run = NULL;
    ct_run_info     info;
    ct_theta       *theta = NULL;
    ct_outer       *outer = NULL;
    ct_noise       *noise = NULL;
    ct_learn_result r;
    CHECK_OK(ct_run_learn(d, NULL, &run, &err), err);
    CHECK_OK(ct_dataset_theta(d, NULL, &theta, &err), err);
    CHECK_OK(ct_noise_copy(d->noise, &noise, &err), err);
    CHECK_OK(ct_outer_new(d->trains, (const ct_sequence *const *)d->train, noise, theta, NULL, &outer, &err), err);
    CHECK_OK(ct_learn(outer, NULL, noise, &r, &err), err);
    CHECK_OK(ct_run_get_info(run, &info, &err), err);
    CHECK(!strcmp(info.stop, ct_learn_stop_name(r.stop)) && info.loss == r.loss_train &&
          info.loss_start == r.loss_start && info.loss_heldout == r.loss_heldout && info.nees == r.nees_after &&
          info.evaluations == r.evaluations && info.inner_solves == r.inner_solves && info.spread == r.spread);
    CHECK(info.rows == r.parameters && info.rows == 6 && info.findings == r.findings.count);
    for (int32_t i = 0; i < info.rows; i++) {
        ct_row row;
        CHECK_OK(ct_run_row(run, i, &row, &err), err);
        const ct_noise_model *m = ct_noise_get(noise, row.index);
        CHECK(!strcmp(row.model, m->name) && !strcmp(row.name, m->row[row.row].name) && row.sigma_start == 1);
        CHECK(row.sigma == sqrt(m->covariance[row.row]) && !strcmp(row.unit, row.row == 2 ? "rad" : "m"));
        CHECK_NEAR(row.sigma_error, 0.5 * r.standard_error[i] * row.sigma, 1e-15);
        CHECK(row.lower < row.sigma && row.sigma < row.upper && row.at_bound == 0);
    }
    for (int32_t i = 0; i < info.findings; i++) CHECK(ct_run_finding(run, i)->code == r.findings.item[i].code);
    CHECK(!ct_run_finding(run, info.findings) && !ct_run_finding(run, -1));
    ct_learn_result_free(&r);
    ct_outer_free(outer);
    ct_theta_free(theta);
    ct_noise_free(noise);
    ct_run_free(run);
    ct_dataset_free(d);
}

/* Units change theta's numbers; sigmas are those of the table whatever they are. */
static void test_sigmas_do_not_depend_on_units(void)
{
    ct_err err = {0};
    double sigma[2][6];
    for (int k = 0; k < 2; k++) {
        ct_dataset    *d = read_dataset();
        ct_run        *run = NULL;
        ct_run_options options = ct_run_defaults();
        ct_run_info    info;
        options.method = "closed-form";
        options.theta.bounds = "wide";
        if (k) {
            CHECK(d->groups == 0); /* the file has none, and an array of none */
            free(d->group);
            d->group = calloc(1, sizeof *d->group);
            d->groups = 1;
            d->group[0] = (ct_dataset_group){.name = strcpy(calloc(8, 1), "odom"), .learn = 1, .kind = -1};
            for (int c = 0; c < CT_NOISE_DIM_MAX; c++) {
                d->group[0].lower[c] = d->group[0].upper[c] = NAN;
                d->group[0].unit[c] = 0.01;
            }
        }
        CHECK_OK(ct_run_learn(d, &options, &run, &err), err);
        CHECK_OK(ct_run_get_info(run, &info, &err), err);
        CHECK(info.rows == 6);
        for (int32_t i = 0; i < 6; i++) {
            ct_row row;
            CHECK_OK(ct_run_row(run, i, &row, &err), err);
            sigma[k][i] = row.sigma;
            CHECK(row.lower < row.sigma && row.sigma < row.upper);
        }
        ct_run_free(run);
        ct_dataset_free(d);
    }
    for (int i = 0; i < 6; i++) CHECK_NEAR(sigma[1][i] / sigma[0][i], 1, 1e-9);
}

static void test_rows_of_full_and_isotropic_models(void)
{
    ct_err         err = {0};
    ct_dataset    *d = read_dataset();
    ct_run        *run = NULL;
    ct_run_options options = ct_run_defaults();
    ct_run_info    info;
    int            full = 0, isotropic = 0;
    options.method = "closed-form";
    options.theta.full = "odom";
    options.theta.isotropic = "gps";
    CHECK_OK(ct_run_learn(d, &options, &run, &err), err);
    CHECK_OK(ct_run_get_info(run, &info, &err), err);
    for (int32_t i = 0; i < info.rows; i++) {
        ct_row row;
        CHECK_OK(ct_run_row(run, i, &row, &err), err);
        const ct_noise_model *m = ct_noise_get(ct_run_noise(run), row.index);
        full += m->kind == CT_NOISE_FULL && isnan(row.lower) && row.sigma == sqrt(m->covariance[4 * row.row]);
        isotropic += m->kind == CT_NOISE_ISOTROPIC && !*row.name && row.upper > row.sigma;
    }
    CHECK(full == 3 && isotropic == 1 && info.rows == 4);
    ct_run_free(run);
    ct_dataset_free(d);
}

static int stop_at_once(void *user, const ct_learn_progress *progress)
{
    (void)progress;
    ++*(int *)user;
    return 1;
}

static void test_options_reach_learning(void)
{
    ct_err         err = {0};
    ct_dataset    *d = read_dataset();
    ct_run        *run = NULL;
    ct_run_options options = ct_run_defaults();
    ct_run_info    info;
    int            calls = 0;
    options.deployment = "isam2";
    options.loss = "left";
    options.max_iterations = 2;
    options.theta.bounds = "tight";
    options.jobs = 2;
    CHECK_OK(ct_run_learn(d, &options, &run, &err), err);
    CHECK_OK(ct_run_get_info(run, &info, &err), err);
    CHECK(info.incremental && info.spread <= 100 * (1 + 1e-12));
    ct_run_free(run);
    options.progress = stop_at_once;
    options.user = &calls;
    CHECK_OK(ct_run_learn(d, &options, &run, &err), err);
    CHECK_OK(ct_run_get_info(run, &info, &err), err);
    CHECK(calls > 0 && !strcmp(info.stop, "cancelled"));
    ct_run_free(run);
    ct_dataset_free(d);
}

/* The file is that of the parts, and a table that reads it has the learned numbers. */
static void test_a_written_noise_file_is_read_back(void)
{
    ct_err         err = {0};
    ct_dataset    *d = read_dataset();
    ct_run        *run = NULL;
    ct_noise      *noise = NULL;
    ct_run_options options = ct_run_defaults();
    char           path[600];
    snprintf(path, sizeof path, "%s/noise.json", ct_test_folder());
    options.method = "closed-form";
    CHECK_OK(ct_run_learn(d, &options, &run, &err), err);
    CHECK_OK(ct_run_write(run, path, &err), err);
    CHECK_OK(ct_noise_copy(d->noise, &noise, &err), err);
    CHECK_OK(ct_noise_read(noise, path, &err), err);
    for (int32_t g = 0; g < ct_noise_count(noise); g++)
        for (int c = 0; c < 3; c++)
            CHECK(ct_noise_get(noise, g)->covariance[c] == ct_noise_get(ct_run_noise(run), g)->covariance[c]);
    CHECK_REFUSED(ct_run_write(run, "no/such/folder/noise.json", &err), err, "no/such/folder");
    CHECK_REFUSED(ct_run_write(run, NULL, &err), err, "path");
    ct_noise_free(noise);
    ct_run_free(run);
    ct_dataset_free(d);
}

static void test_evaluation_is_that_of_the_sequences(void)
{
    ct_err              err = {0};
    ct_dataset         *d = read_dataset();
    ct_evaluate_options options = ct_evaluate_defaults();
    ct_summary          part, all, by_hand;
    options.nees = 1;
    CHECK_OK(ct_dataset_evaluate(d, CT_DATASET_TEST, NULL, &options, &part, &err), err);
    CHECK_OK(ct_evaluate(d->tests, d->test, d->noise, &options, NULL, &by_hand, &err), err);
    CHECK(part.sequences == 2 && part.loss == by_hand.loss && part.nees == by_hand.nees);
    CHECK_OK(ct_dataset_evaluate(d, CT_DATASET_ALL, d->noise, NULL, &all, &err), err);
    CHECK(all.sequences == 5 && isnan(all.nees));
    ct_sequence *seq[5];
    CHECK(ct_dataset_sequences(d, CT_DATASET_ALL, seq) == 5 && seq[0] == d->train[0] && seq[4] == d->test[1]);
    CHECK(ct_dataset_sequences(d, CT_DATASET_TEST, NULL) == 2 && !ct_dataset_sequences(NULL, CT_DATASET_ALL, NULL));
    d->tests = 0;
    CHECK_REFUSED(ct_dataset_evaluate(d, CT_DATASET_TEST, NULL, NULL, &all, &err), err, "no sequences");
    CHECK(all.sequences == 0 && isnan(all.loss));
    d->tests = 2;
    d->test[1]->known[0] = 0;
    memset(d->test[1]->known, 0, 40);
    CHECK_REFUSED(ct_dataset_evaluate(d, CT_DATASET_TEST, NULL, NULL, &all, &err), err, "no truth");
    options.innovations = 1;
    CHECK_OK(ct_dataset_evaluate(d, CT_DATASET_TEST, NULL, &options, &all, &err), err);
    CHECK(all.sequences == 2 && all.innovation.measurements == 6 && all.loss > 0); /* of the one that has truth */
    ct_dataset_free(d);
}

/* ---- Estimation ------------------------------------------------------------------------------ */

static const double TURN = 1.5707963267948966;

/* A square with a loop closure, incrementally if `update`. Returns the error, or NaN. */
static ct_problem *square(int update)
{
    ct_err       err = {0};
    ct_problem  *p = NULL;
    int32_t      odom, loop, v;
    const double side[3] = {1.05, 0, 1.6}, closure[3] = {1, 0, TURN};
    CHECK_OK(ct_problem_new(&p, &err), err);
    CHECK_OK(ct_problem_add_noise(p, "odom", 3, (const double[]){0.1, 0.1, 0.05}, &odom, &err), err);
    CHECK_OK(ct_problem_add_noise(p, "loop", 3, (const double[]){0.01, 0.01, 0.01}, &loop, &err), err);
    for (int i = 0; i < 4; i++) {
        const double guess[3] = {i == 1 || i == 2, i > 1, i * TURN};
        CHECK_OK(ct_problem_add_variable(p, NULL, "SE2", guess, i == 0, &v, &err), err);
        CHECK(v == i);
        if (i)
            CHECK_OK(ct_problem_add_factor(p, "between_se2", 2, (const int32_t[]){i - 1, i}, 3, side, odom, &err), err);
        if (update) CHECK_OK(ct_problem_update(p, NULL, &err), err);
    }
    CHECK_OK(ct_problem_add_factor(p, "between_se2", 2, (const int32_t[]){3, 0}, 3, closure, loop, &err), err);
    return p;
}

static void test_batch_and_incremental_agree(void)
{
    ct_err            err = {0};
    ct_problem       *batch = square(0), *steps = square(1);
    ct_solve_result   result;
    ct_smoother_stats stats;
    double            x[3], y[3], P[9], Q[9];
    CHECK_OK(ct_problem_solve(batch, NULL, &result, &err), err);
    CHECK(ct_stop_converged(result.stop) && result.final_error < result.initial_error);
    CHECK_OK(ct_problem_update(steps, &stats, &err), err);
    CHECK(stats.variables == 4 && stats.factors == 4);
    CHECK_OK(ct_problem_solve(steps, NULL, NULL, &err), err); /* to the minimum */
    for (int v = 0; v < 4; v++) {
        CHECK_OK(ct_problem_value(batch, v, x, &err), err);
        CHECK_OK(ct_problem_value(steps, v, y, &err), err);
        for (int i = 0; i < 3; i++) CHECK_NEAR(remainder(x[i] - y[i], i == 2 ? 4 * TURN : INFINITY), 0, 1e-6);
        CHECK_OK(ct_problem_marginal(batch, v, P, &err), err);
        CHECK_OK(ct_problem_marginal(steps, v, Q, &err), err);
        for (int i = 0; i < 9; i++) CHECK_NEAR(P[i], Q[i], 1e-6);
        CHECK(v ? P[0] > 0 && P[8] > 0 : P[0] == 0 && P[8] == 0);
    }
    CHECK_OK(ct_problem_update(steps, NULL, &err), err); /* nothing new: the smoother's own estimate and covariance */
    CHECK_OK(ct_problem_marginal(steps, 3, Q, &err), err);
    CHECK_OK(ct_problem_marginal(batch, 3, P, &err), err);
    CHECK_NEAR(Q[0] / P[0], 1, 0.05);
    ct_problem_free(batch);
    ct_problem_free(steps);
}

/* A variable that nothing determines is refused; once measured, the same update goes through. */
static void test_an_update_that_fails_is_tried_again(void)
{
    ct_err      err = {0};
    ct_problem *p = NULL;
    double      x[2], P[4];
    int32_t     gps;
    CHECK_OK(ct_problem_new(&p, &err), err);
    CHECK_OK(ct_problem_add_noise(p, "gps", 2, (const double[]){0.5, 0.5}, &gps, &err), err);
    CHECK_OK(ct_problem_add_variable(p, "here", "R2", NULL, 0, NULL, &err), err);
    CHECK(ct_problem_update(p, NULL, &err) == CT_E_SINGULAR && strstr(err.text, "here"));
    CHECK(ct_problem_marginal(p, 0, P, &err) == CT_E_SINGULAR);
    CHECK_OK(ct_problem_add_factor(p, "prior_r2", 1, (const int32_t[]){0}, 2, (const double[]){3, 4}, gps, &err), err);
    CHECK_OK(ct_problem_update(p, NULL, &err), err);
    CHECK_OK(ct_problem_value(p, 0, x, &err), err);
    CHECK_OK(ct_problem_marginal(p, 0, P, &err), err);
    CHECK_NEAR(x[0], 3, 1e-12);
    CHECK_NEAR(x[1], 4, 1e-12);
    CHECK_NEAR(P[0], 0.25, 1e-12);
    CHECK_NEAR(P[1], 0, 1e-12);
    ct_problem_free(p);
}

/* Parts of a measurement that files may leave out may be left out: a lever arm. */
static void test_optional_parts_of_a_measurement(void)
{
    ct_err      err = {0};
    ct_problem *p = NULL;
    int32_t     gps, at[1] = {0};
    double      x[3];
    CHECK_OK(ct_problem_new(&p, &err), err);
    CHECK_OK(ct_problem_add_noise(p, "gps", 2, (const double[]){0.5, 0.5}, &gps, &err), err);
    CHECK_OK(ct_problem_add_variable(p, NULL, "SE2", NULL, 0, NULL, &err), err);
    CHECK_OK(ct_problem_add_factor(p, "position_se2", 1, at, 2, (const double[]){1, 2}, gps, &err), err);
    CHECK_OK(ct_problem_add_factor(p, "position_se2", 1, at, 4, (const double[]){2, 2, 1, 0}, gps, &err), err);
    CHECK_REFUSED(ct_problem_add_factor(p, "position_se2", 1, at, 3, (const double[]){2, 2, 1}, gps, &err), err,
                  "3 numbers");
    CHECK_REFUSED(ct_problem_add_factor(p, "position_se2", 1, at, 5, (const double[]){2, 2, 1, 0, 0}, gps, &err), err,
                  "5 numbers");
    CHECK_REFUSED(ct_problem_add_factor(p, "position_se2", 1, at, 0, NULL, gps, &err), err, "0 numbers");
    CHECK_OK(ct_problem_solve(p, NULL, NULL, &err), err);
    CHECK_OK(ct_problem_value(p, 0, x, &err), err);
    CHECK_NEAR(x[0], 1, 1e-6);
    CHECK_NEAR(x[1], 2, 1e-6);
    ct_problem_free(p);
}

static void test_a_file_is_read_and_solved(void)
{
    ct_err          err = {0};
    ct_problem     *p = NULL;
    ct_solve_result result;
    char            path[600];
    double          x[3], P[9];
    ct_dataset_free(read_dataset());
    snprintf(path, sizeof path, "%s/data/train/0000.ctseq", ct_test_folder());
    CHECK_OK(ct_problem_read(path, &p, &err), err);
    CHECK_OK(ct_problem_solve(p, NULL, &result, &err), err);
    CHECK(ct_solve_usable(&result));
    CHECK_OK(ct_problem_value(p, 39, x, &err), err);
    CHECK_OK(ct_problem_marginal(p, 39, P, &err), err);
    CHECK(isfinite(x[2]) && P[0] > 0);
    ct_problem_free(p);
    CHECK_REFUSED(ct_problem_read("no/such.g2o", &p, &err), err, "no/such.g2o");
    CHECK(!p);
}

/* ---- Misuse ---------------------------------------------------------------------------------- */

static void test_handles_that_are_not_there_are_refused(void)
{
    ct_err            err = {0};
    ct_run           *run;
    ct_problem       *p;
    ct_run_info       info;
    ct_row            row;
    ct_summary        s;
    ct_solve_result   result;
    ct_smoother_stats stats;
    double            x[9];
    const int32_t     at[2] = {0, 1};
    CHECK_REFUSED(ct_run_learn(NULL, NULL, &run, &err), err, "no dataset");
    CHECK(!run && !ct_run_noise(NULL) && !ct_run_finding(NULL, 0));
    CHECK_REFUSED(ct_run_get_info(NULL, &info, &err), err, "no run");
    CHECK_REFUSED(ct_run_row(NULL, 0, &row, &err), err, "no run");
    CHECK_REFUSED(ct_run_write(NULL, "noise.json", &err), err, "no run");
    CHECK_REFUSED(ct_dataset_evaluate(NULL, CT_DATASET_TEST, NULL, NULL, &s, &err), err, "no dataset");
    CHECK_REFUSED(ct_problem_read(NULL, &p, &err), err, "no path");
    CHECK_REFUSED(ct_problem_add_noise(NULL, "a", 1, x, NULL, &err), err, "no problem");
    CHECK_REFUSED(ct_problem_add_variable(NULL, "a", "R1", NULL, 0, NULL, &err), err, "no problem");
    CHECK_REFUSED(ct_problem_add_factor(NULL, "prior_r1", 1, at, 1, x, 0, &err), err, "no problem");
    CHECK_REFUSED(ct_problem_solve(NULL, NULL, &result, &err), err, "no problem");
    CHECK_REFUSED(ct_problem_update(NULL, &stats, &err), err, "no problem");
    CHECK_REFUSED(ct_problem_value(NULL, 0, x, &err), err, "no problem");
    CHECK_REFUSED(ct_problem_marginal(NULL, 0, x, &err), err, "no problem");
    ct_run_free(NULL);
    ct_problem_free(NULL);
}

static void test_indices_and_names_that_are_none_are_refused(void)
{
    ct_err         err = {0};
    ct_problem    *p = square(0);
    ct_dataset    *d = read_dataset();
    ct_run        *run = NULL;
    ct_run_options options = ct_run_defaults();
    ct_row         row;
    ct_summary     s;
    double         x[9];
    const double   z[3] = {0, 0, 0};
    for (int k = 0; k < 2; k++) {
        const int32_t bad = k ? 4 : -1;
        CHECK_REFUSED(ct_problem_value(p, bad, x, &err), err, "is not one of the 4");
        CHECK_REFUSED(ct_problem_marginal(p, bad, x, &err), err, "is not one of the 4");
        CHECK(ct_problem_add_factor(p, "between_se2", 2, (const int32_t[]){0, bad}, 3, z, 0, &err) == CT_E_ARGUMENT);
    }
    CHECK_REFUSED(ct_problem_add_factor(p, "between", 2, (const int32_t[]){0, 1}, 3, z, 0, &err), err, "\"between\"");
    CHECK_REFUSED(ct_problem_add_factor(p, "between_se2", 1, (const int32_t[]){0}, 3, z, 0, &err), err, "2 variables");
    CHECK_REFUSED(ct_problem_add_variable(p, NULL, "se4", NULL, 0, NULL, &err), err, "\"se4\"");
    CHECK_REFUSED(ct_problem_add_variable(p, NULL, NULL, NULL, 0, NULL, &err), err, "not a kind");
    CHECK_REFUSED(ct_problem_add_variable(p, NULL, "SE2", (const double[]){NAN, 0, 0}, 0, NULL, &err), err, "SE2");
    CHECK_REFUSED(ct_problem_add_noise(p, "bad", 7, x, NULL, &err), err, "1 to 6");
    CHECK_REFUSED(ct_problem_add_noise(p, "bad", 1, (const double[]){0}, NULL, &err), err, "above zero");
    CHECK_REFUSED(ct_problem_add_noise(p, "bad", 1, NULL, NULL, &err), err, "no sigmas");
    CHECK_OK(ct_problem_add_factor(p, "between_se2", 2, (const int32_t[]){0, 1}, 3, z, 99, &err), err);
    CHECK(ct_problem_solve(p, NULL, NULL, &err) != CT_OK && ct_problem_update(p, NULL, &err) != CT_OK);
    options.method = "magic";
    CHECK_REFUSED(ct_run_learn(d, &options, &run, &err), err, "method \"magic\"");
    options = ct_run_defaults();
    options.deployment = "field";
    CHECK_REFUSED(ct_run_learn(d, &options, &run, &err), err, "deployment \"field\"");
    options = ct_run_defaults();
    options.loss = "right";
    CHECK_REFUSED(ct_run_learn(d, &options, &run, &err), err, "loss \"right\"");
    options = ct_run_defaults();
    options.jobs = 0;
    CHECK_REFUSED(ct_run_learn(d, &options, &run, &err), err, "jobs are 0");
    options = ct_run_defaults();
    options.max_iterations = -1;
    CHECK_REFUSED(ct_run_learn(d, &options, &run, &err), err, "-1");
    options = ct_run_defaults();
    options.method = "closed-form";
    CHECK_OK(ct_run_learn(d, &options, &run, &err), err);
    CHECK_REFUSED(ct_run_row(run, -1, &row, &err), err, "row -1");
    CHECK_REFUSED(ct_run_row(run, 6, &row, &err), err, "row 6");
    CHECK(row.index == -1);
    CHECK_REFUSED(ct_dataset_evaluate(d, (ct_dataset_part)4, NULL, NULL, &s, &err), err, "part 4");
    d->trains = 0;
    ct_run *none;
    CHECK_REFUSED(ct_run_learn(d, NULL, &none, &err), err, "no training sequences");
    d->trains = 3;
    ct_run_free(run);
    ct_problem_free(p);
    ct_dataset_free(d);
}

int main(void)
{
    RUN(test_a_run_is_what_learning_by_hand_gives);
    RUN(test_sigmas_do_not_depend_on_units);
    RUN(test_rows_of_full_and_isotropic_models);
    RUN(test_options_reach_learning);
    RUN(test_a_written_noise_file_is_read_back);
    RUN(test_evaluation_is_that_of_the_sequences);
    RUN(test_batch_and_incremental_agree);
    RUN(test_an_update_that_fails_is_tried_again);
    RUN(test_optional_parts_of_a_measurement);
    RUN(test_a_file_is_read_and_solved);
    RUN(test_handles_that_are_not_there_are_refused);
    RUN(test_indices_and_names_that_are_none_are_refused);
    return ct_test_end();
}
