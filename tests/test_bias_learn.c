/* test_bias_learn.c: strength and time constant of a bias, learned: values within their standard errors. */
#include <covtune/api.h>
#include <covtune/likelihood.h>
#include <covtune/simulate.h>

#include "bias_test.h"

enum { REPEATS = 10, SEQUENCES = 4, POSES = 150 };

static ct_dataset *make_lines(uint64_t seed, double sigma, double tau)
{
    ct_dataset *d;
    ct_err err = {0};
    CHECK_OK(ct_dataset_new(&d, &err), err);
    for (int i = 0; i < SEQUENCES; i++) {
        const line a = make_line(100 * seed + (uint64_t)i, POSES, sigma, tau);
        ct_sequence *seq = sequence_of(&a, d->noise);
        CHECK_OK(ct_dataset_add(d, seq, CT_DATASET_TRAIN, &err), err);
    }
    return d;
}

/* Squares of (log tau - truth) / standard error have mean 1, and the mean of log tau is the truth's, as is that of the
 * strength; also without truth, where the errors are larger. */
static void check_coverage(int no_truth)
{
    const double sigma = 1.5, tau = 6;
    double square = 0, mean = 0, strength = 0, error = 0;
    ct_err err = {0};
    for (uint64_t r = 0; r < REPEATS; r++) {
        ct_dataset *d = make_lines(7 + r, sigma, tau);
        ct_theta *theta = NULL;
        ct_outer_options options = ct_outer_defaults();
        int32_t learned = 0;
        options.no_truth = no_truth;
        CHECK_OK(ct_bias_list_apply("gps=gauss-markov:tau=40:sigma=0.5", "", d, &err), err);
        CHECK_OK(ct_dataset_theta(d, NULL, &theta, &err), err);
        CHECK_OK(ct_learn_time_constants(d->trains, d->train, d->noise, theta, &options, &learned, &err), err);
        const ct_bias *b = ct_noise_get(d->noise, ct_noise_find(d->noise, "gps_bias"))->bias;
        const double z = log(b->tau / tau) / b->tau_error;
        CHECK(learned == 1 && b->tau_error > 0.02 && b->tau_error < 1);
        square += z * z / REPEATS, mean += log(b->tau / tau) / REPEATS, error += b->tau_error / REPEATS;
        ct_likelihood *l = NULL;
        ct_likelihood_options how = ct_likelihood_defaults();
        ct_maximise_result result = {0};
        double p[8];
        how.truth = !no_truth;
        ct_theta_get(theta, d->noise, p);
        const ct_sequence *const *train = (const ct_sequence *const *)d->train;
        CHECK_OK(ct_likelihood_new(d->trains, train, d->noise, theta, &how, &l, &err), err);
        CHECK_OK(ct_likelihood_maximise(l, NULL, NULL, p, &result, &err), err);
        CHECK_OK(ct_theta_apply(theta, p, d->noise, &err), err);
        const ct_noise_model *learned_model = ct_noise_get(d->noise, ct_noise_find(d->noise, "gps_bias"));
        strength += log(ct_noise_sigma(learned_model, 0) / sigma) / REPEATS;
        ct_maximise_result_free(&result);
        ct_likelihood_free(l);
        ct_theta_free(theta);
        ct_dataset_free(d);
    }
    CHECK(square > 0.2 && square < 2.5); /* chi-square of 10 degrees over 10: 0.22 to 2.5 with 99 % */
    CHECK_NEAR(mean, 0, 3 * error / sqrt(REPEATS));
    CHECK_NEAR(strength, 0, 0.08);
}

static void test_time_constants_are_within_their_errors(void) { check_coverage(0); }
static void test_time_constants_without_truth(void) { check_coverage(1); }

/* A constant error looks like an endless time constant, and white noise like none: the data do not tell it. */
static void test_a_constant_has_no_time_constant(void)
{
    ct_dataset *d = make_lines(3, 1.5, 1e9);
    ct_theta *theta = NULL;
    ct_outer_options options = ct_outer_defaults();
    ct_err err = {0};
    CHECK_OK(ct_bias_list_apply("gps=gauss-markov", "", d, &err), err);
    CHECK_OK(ct_dataset_theta(d, NULL, &theta, &err), err);
    CHECK_OK(ct_learn_time_constants(d->trains, d->train, d->noise, theta, &options, NULL, &err), err);
    const ct_bias *b = ct_noise_get(d->noise, ct_noise_find(d->noise, "gps_bias"))->bias;
    CHECK(b->tau > 1000); /* a sequence has 150 */
    CHECK(isinf(b->tau_error) || b->tau_error > 0.5);
    ct_theta_free(theta);
    ct_dataset_free(d);
}

/* The whole of learning, in the plane: a bias closes the gap from white noise of the same size to the process that the
 * data were drawn with, and tracks as well as white noise learned by tracking does. */
static void test_learned_biases_track_as_the_true_process_does(void)
{
    ct_nav_options o = {0};
    ct_err err = {0};
    ct_dataset *d;
    ct_noise *latent;
    ct_run *run = NULL, *white = NULL, *plain = NULL;
    double rmse[3], nees = 0, tracked = 0;
    CHECK(ct_nav_preset("D1", CT_SE2, &o));
    o.least = o.most = 250, o.drift = 2, o.drift_poses = 25;
    CHECK_OK(ct_dataset_new(&d, &err), err);
    for (int i = 0; i < 20; i++) {
        ct_sequence *seq = NULL;
        CHECK_OK(ct_simulate_nav(&o, (uint64_t)i, d->noise, &seq, &err), err);
        CHECK_OK(ct_dataset_add(d, seq, i < 10 ? CT_DATASET_TRAIN : CT_DATASET_TEST, &err), err);
        ct_graph_name_rows(seq->graph, d->noise);
    }
    ct_run_options options = ct_run_defaults();
    CHECK_OK(ct_run_learn(d, &options, &plain, &err), err);
    options.method = "closed-form";
    CHECK_OK(ct_run_learn(d, &options, &white, &err), err);
    options = ct_run_defaults();
    ct_summary s;
    ct_evaluate_options how = ct_evaluate_defaults();
    how.nees = 1;
    CHECK_OK(ct_dataset_evaluate(d, CT_DATASET_TEST, ct_run_noise(plain), &how, &s, &err), err);
    tracked = s.accuracy.translation;
    CHECK_OK(ct_dataset_evaluate(d, CT_DATASET_TEST, ct_run_noise(white), &how, &s, &err), err);
    rmse[0] = s.accuracy.translation;
    CHECK_OK(ct_bias_list_apply("gps=gauss-markov", "", d, &err), err);
    CHECK_OK(ct_run_learn(d, &options, &run, &err), err);
    CHECK_OK(ct_dataset_apply_biases(d, &err), err);
    CHECK_OK(ct_dataset_evaluate(d, CT_DATASET_TEST, ct_run_noise(run), &how, &s, &err), err);
    rmse[1] = s.accuracy.translation, nees = s.nees;
    CHECK_OK(ct_noise_copy(d->noise, &latent, &err), err);
    const int32_t g = ct_noise_find(latent, "gps_bias");
    ct_bias bias = *ct_noise_get(latent, g)->bias;
    bias.tau = 25;
    CHECK_OK(ct_noise_set_variance(latent, g, (const double[]){4, 4}, &err), err);
    CHECK_OK(ct_noise_set_bias(latent, g, &bias, &err), err);
    for (int i = 0; i < d->tests; i++) CHECK_OK(ct_sequence_apply_biases(d->test[i], latent, &err), err);
    CHECK_OK(ct_dataset_evaluate(d, CT_DATASET_TEST, latent, &how, &s, &err), err);
    rmse[2] = s.accuracy.translation;
    CHECK(rmse[2] < rmse[0]);
    CHECK(rmse[1] - rmse[2] < 0.25 * (rmse[0] - rmse[2]));
    CHECK(rmse[1] < 1.05 * rmse[2] && rmse[1] < 1.02 * tracked);
    CHECK(nees > 0.6 && nees < 1.6);
    ct_noise_free(latent);
    ct_run_free(run);
    ct_run_free(white);
    ct_run_free(plain);
    ct_dataset_free(d);
}

/* Called by itself, the object has the value; the graphs of the sequences stay. */
static void test_the_object_has_the_time_constant(void)
{
    ct_dataset           *d = make_lines(5, 1.5, 6);
    ct_theta             *theta = NULL;
    ct_likelihood        *l = NULL;
    ct_likelihood_options how = ct_likelihood_defaults();
    ct_err                err = {0};
    double                p[8], log_error;
    CHECK_OK(ct_bias_list_apply("gps=gauss-markov:tau=40", "", d, &err), err);
    CHECK_OK(ct_dataset_theta(d, NULL, &theta, &err), err);
    const int32_t g = ct_noise_find(d->noise, "gps_bias");
    CHECK_OK(ct_likelihood_new(d->trains, (const ct_sequence *const *)d->train, d->noise, theta, &how, &l, &err), err);
    ct_theta_get(theta, d->noise, p);
    CHECK_OK(ct_likelihood_learn_time_constants(l, NULL, NULL, p, &err), err);
    const double tau = ct_likelihood_time_constant(l, g, &log_error);
    CHECK_NEAR(log(tau / 6), 0, 3.5 * log_error);
    CHECK(ct_noise_get(d->noise, g)->bias->tau == 40);
    ct_likelihood_free(l);
    ct_theta_free(theta);
    ct_dataset_free(d);
}

int main(void)
{
    RUN(test_time_constants_are_within_their_errors);
    RUN(test_time_constants_without_truth);
    RUN(test_a_constant_has_no_time_constant);
    RUN(test_the_object_has_the_time_constant);
    RUN(test_learned_biases_track_as_the_true_process_does);
    return ct_test_end();
}
