/* test_bias_states.c: bias states of sequences: where they begin, what they measure, and the estimates of a linear
 * case, against a Kalman filter and smoother of this file that knows nothing of graphs. */
#define _POSIX_C_SOURCE 200809L
#include <covtune/likelihood.h>
#include <covtune/simulate.h>

#include "bias_test.h"

/* ---- Kalman ------------------------------------------------------------------------------------ */

typedef struct {
    double m[2], P[2][2]; /* position and bias */
} belief;

typedef struct {
    belief filtered[LINE_MAX_POSES], predicted[LINE_MAX_POSES], smoothed[LINE_MAX_POSES];
    double F[LINE_MAX_POSES]; /* of the bias */
    double log_likelihood;
} kalman;

static void predict(const line *a, int k, const belief *from, double f, belief *to)
{
    to->m[0] = from->m[0] + a->odom[k];
    to->P[0][0] = from->P[0][0] + a->sigma_odom * a->sigma_odom;
    if (k == 1) { /* the bias begins */
        to->m[1] = to->P[0][1] = to->P[1][0] = 0;
        to->P[1][1] = a->sigma * a->sigma;
        return;
    }
    to->m[1] = f * from->m[1];
    to->P[0][1] = to->P[1][0] = f * from->P[0][1];
    to->P[1][1] = f * f * from->P[1][1] + a->sigma * a->sigma * (1 - f * f);
}

static void correct(const line *a, int k, const belief *at, belief *to, double *log_likelihood)
{
    const double S = at->P[0][0] + 2 * at->P[0][1] + at->P[1][1] + a->sigma_gps * a->sigma_gps;
    const double e = a->gps[k] - at->m[0] - at->m[1], PH[2] = {at->P[0][0] + at->P[0][1], at->P[0][1] + at->P[1][1]};
    *log_likelihood -= 0.5 * (e * e / S + log(S));
    for (int i = 0; i < 2; i++) {
        to->m[i] = at->m[i] + PH[i] * e / S;
        for (int j = 0; j < 2; j++) to->P[i][j] = at->P[i][j] - PH[i] * PH[j] / S;
    }
}

/* Rauch, Tung, Striebel: G = P F' Pp^-1. */
static void smooth_back(const belief *at, const belief *next_predicted, const belief *next, double f, belief *out)
{
    const double(*Q)[2] = next_predicted->P, det = Q[0][0] * Q[1][1] - Q[0][1] * Q[1][0];
    const double inverse[2][2] = {{Q[1][1] / det, -Q[0][1] / det}, {-Q[1][0] / det, Q[0][0] / det}};
    const double F[2] = {1, f};
    double G[2][2], D[2][2];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            G[i][j] = 0;
            for (int k = 0; k < 2; k++) G[i][j] += at->P[i][k] * F[k] * inverse[k][j];
            D[i][j] = next->P[i][j] - Q[i][j];
        }
    for (int i = 0; i < 2; i++) {
        out->m[i] = at->m[i];
        for (int j = 0; j < 2; j++) out->m[i] += G[i][j] * (next->m[j] - next_predicted->m[j]);
        for (int j = 0; j < 2; j++) {
            out->P[i][j] = at->P[i][j];
            for (int k = 0; k < 2; k++)
                for (int l = 0; l < 2; l++) out->P[i][j] += G[i][k] * D[k][l] * G[j][l];
        }
    }
}

static kalman run_kalman(const line *a)
{
    kalman q = {0};
    q.filtered[0] = (belief){{a->truth[0], 0}, {{a->sigma_first * a->sigma_first, 0}, {0, 0}}};
    for (int k = 1; k < a->n; k++) {
        q.F[k] = exp(-(a->t[k] - a->t[k - 1]) / a->tau);
        predict(a, k, &q.filtered[k - 1], q.F[k], &q.predicted[k]);
        correct(a, k, &q.predicted[k], &q.filtered[k], &q.log_likelihood);
    }
    q.smoothed[a->n - 1] = q.filtered[a->n - 1];
    for (int k = a->n - 2; k >= 1; k--)
        smooth_back(&q.filtered[k], &q.predicted[k + 1], &q.smoothed[k + 1], q.F[k + 1], &q.smoothed[k]);
    return q;
}

/* ---- Laws -------------------------------------------------------------------------------------- */

static void test_estimates_are_those_of_a_kalman_smoother(void)
{
    const line a = make_line(1, 40, 1.5, 6);
    const kalman k = run_kalman(&a);
    ct_noise *noise;
    ct_solver *solver;
    ct_err err = {0};
    ct_bias bias = markov(6);
    CHECK_OK(ct_noise_new(&noise, &err), err);
    ct_sequence *seq = sequence_of(&a, noise);
    add_strength(noise, 1.5, &bias);
    CHECK_OK(ct_sequence_apply_biases(seq, noise, &err), err);
    CHECK(ct_graph_variables(seq->graph) == 40 + 39);
    CHECK_OK(ct_solver_new(seq->graph, NULL, &solver, &err), err);
    ct_solve_options options = ct_solve_defaults();
    ct_solve_result result;
    double *x = calloc((size_t)ct_graph_size(seq->graph), sizeof *x), P, *out = &P;
    CHECK_OK(ct_solver_run(solver, noise, x, &options, &result, &err), err);
    CHECK_OK(ct_solver_linearise(solver, noise, x, &err), err);
    for (int i = 1; i < a.n; i++) {
        char name[2][32];
        snprintf(name[0], sizeof name[0], "x%d", i);
        snprintf(name[1], sizeof name[1], "gps_bias%d", i - 1);
        for (int side = 0; side < 2; side++) {
            const int32_t v = ct_graph_find(seq->graph, name[side]);
            CHECK(v >= 0);
            if (v < 0) continue;
            CHECK_NEAR(x[ct_graph_offset(seq->graph, v)], k.smoothed[i].m[side], 1e-9);
            CHECK_OK(ct_solver_marginals(solver, 1, &v, &out, &err), err);
            CHECK_NEAR(P, k.smoothed[i].P[side][side], 1e-9);
            CHECK_NEAR(seq->stamp[v], a.t[i], 0);
            CHECK(seq->known[v] == (side == 0));
        }
    }
    free(x);
    ct_solver_free(solver);
    ct_sequence_free(seq);
    ct_noise_free(noise);
}

/* -log p(z) up to a constant, for any tau and sigma: the normaliser of the steps counts. */
static void test_likelihood_is_that_of_a_kalman_filter(void)
{
    static const double TAU[] = {6, 0.5, 40, 1e5}, SIGMA[] = {1.5, 0.4, 3, 1};
    line a = make_line(2, 50, 1.5, 6);
    ct_noise *noise;
    ct_theta *theta;
    ct_likelihood *l;
    ct_err err = {0};
    ct_bias bias = markov(6);
    double zero = 0;
    CHECK_OK(ct_noise_new(&noise, &err), err);
    ct_sequence *seq = sequence_of(&a, noise);
    const int32_t model = add_strength(noise, 1.5, &bias);
    CHECK_OK(ct_sequence_apply_biases(seq, noise, &err), err);
    CHECK_OK(ct_theta_new(noise, &theta, &err), err);
    CHECK_OK(ct_theta_learn(theta, model, CT_NOISE_ISOTROPIC, 1e-6, 1e6, &err), err);
    ct_likelihood_options options = ct_likelihood_defaults();
    options.truth = 0;
    CHECK_OK(ct_likelihood_new(1, (const ct_sequence *const *)&seq, noise, theta, &options, &l, &err), err);
    for (int i = 0; i < 4; i++) {
        ct_likelihood_value value = {0};
        const double p = log(SIGMA[i] * SIGMA[i]);
        double log_error;
        a.tau = TAU[i], a.sigma = SIGMA[i];
        CHECK_OK(ct_likelihood_set_time_constant(l, model, TAU[i], 0.25, &err), err);
        CHECK(ct_likelihood_time_constant(l, model, &log_error) == TAU[i] && log_error == 0.25);
        CHECK_OK(ct_likelihood_evaluate(l, &p, NULL, &value, &err), err);
        const double L = value.value + run_kalman(&a).log_likelihood;
        if (i == 0) zero = L;
        CHECK_NEAR(L, zero, 1e-6);
    }
    CHECK(isnan(ct_likelihood_time_constant(l, 0, NULL)));
    CHECK_REFUSED(ct_likelihood_set_time_constant(l, 0, 1, 0, &err), err, "Gauss-Markov");
    ct_likelihood_free(l);
    ct_theta_free(theta);
    ct_sequence_free(seq);
    ct_noise_free(noise);
}

static void test_states_are_added_once_and_take_new_time_constants(void)
{
    const line a = make_line(3, 20, 1, 6);
    ct_noise *noise;
    ct_err err = {0};
    ct_bias bias = markov(6);
    CHECK_OK(ct_noise_new(&noise, &err), err);
    ct_sequence *seq = sequence_of(&a, noise);
    const int32_t model = add_strength(noise, 1, &bias);
    int seconds;
    CHECK_OK(ct_sequence_bias_times(seq, noise, &bias, &seconds, &err), err);
    CHECK(seconds == 1);
    for (int round = 0; round < 2; round++) {
        CHECK_OK(ct_sequence_apply_biases(seq, noise, &err), err);
        CHECK(ct_graph_variables(seq->graph) == 20 + 19 && ct_graph_factors(seq->graph) == 1 + 2 * 19 + 19);
    }
    bias.tau = 11;
    CHECK_OK(ct_noise_set_bias(noise, model, &bias, &err), err);
    CHECK_OK(ct_sequence_apply_biases(seq, noise, &err), err);
    int steps = 0;
    for (int32_t f = 0; f < ct_graph_factors(seq->graph); f++)
        if (ct_graph_factor(seq->graph, f).ops == &ct_gauss_markov_r1) {
            const ct_factor k = ct_graph_factor(seq->graph, f);
            CHECK(k.z[1] == 11);
            CHECK_NEAR(k.z[0], a.t[steps + 2] - a.t[steps + 1], 1e-12);
            steps++;
        }
    CHECK(steps == 18);
    bias.process = CT_BIAS_RANDOM_WALK, bias.tau = 0;
    CHECK_OK(ct_noise_set_bias(noise, model, &bias, &err), err);
    CHECK_REFUSED(ct_sequence_apply_biases(seq, noise, &err), err, "has a gauss-markov bias");
    ct_sequence_free(seq);
    ct_noise_free(noise);
}

static int32_t count_states(const ct_sequence *seq)
{
    int32_t n = 0;
    char name[LINE_MAX_POSES];
    for (int32_t v = 0; v < ct_graph_variables(seq->graph); v++)
        n += !strncmp(ct_graph_name(seq->graph, v, name, sizeof name), "gps_bias", 8);
    return n;
}

/* One state for a constant; one every so often; one for each measurement of a walk, whose start has its own model. */
static void test_states_begin_as_often_as_asked(void)
{
    const line a = make_line(4, 60, 1, 6);
    ct_err err = {0};
    int32_t expected = 0;
    for (double last = -1e9, k = 1; k < 60; k++)
        if (a.t[(int)k] - last >= 5) last = a.t[(int)k], expected++;
    for (int c = 0; c < 3; c++) {
        ct_bias bias = {.sensor = "gps", .rows = 1, .row = {"x"}, .tau_error = NAN};
        ct_noise *noise;
        ct_sequence *copy;
        bias.process = c == 0 ? CT_BIAS_CONSTANT : CT_BIAS_RANDOM_WALK;
        bias.every = c == 1 ? 5 : 0;
        CHECK_OK(ct_noise_new(&noise, &err), err);
        ct_sequence *seq = sequence_of(&a, noise);
        add_strength(noise, 1, &bias);
        CHECK_OK(ct_sequence_copy_biased(seq, noise, &copy, &err), err);
        CHECK(ct_graph_variables(seq->graph) == 60 && count_states(seq) == 0);
        CHECK(count_states(copy) == (c == 0 ? 1 : c == 1 ? expected : 59));
        CHECK((ct_noise_find(noise, "gps_bias_start") >= 0) == (c > 0));
        ct_sequence_free(copy);
        ct_sequence_free(seq);
        ct_noise_free(noise);
    }
}

/* ---- Bad input --------------------------------------------------------------------------------- */

static ct_dataset *make_dataset(const ct_nav_options *options, int sequences)
{
    ct_dataset *d;
    ct_err err = {0};
    CHECK_OK(ct_dataset_new(&d, &err), err);
    for (int i = 0; i < sequences; i++) {
        ct_sequence *seq = NULL;
        CHECK_OK(ct_simulate_nav(options, (uint64_t)i, d->noise, &seq, &err), err);
        CHECK_OK(ct_dataset_add(d, seq, CT_DATASET_TRAIN, &err), err);
        ct_graph_name_rows(seq->graph, d->noise);
    }
    return d;
}

static ct_nav_options small_nav(void)
{
    ct_nav_options o = {0};
    CHECK(ct_nav_preset("D1", CT_SE2, &o));
    o.least = o.most = 30;
    return o;
}

static void test_lists_are_understood_or_refused(void)
{
    static const struct {
        const char *list, *sentence;
    } BAD[] = {{"gps", "NAME=PROCESS"},
               {"=constant", "NAME=PROCESS"},
               {"gps=brownian", "constant, random-walk, gauss-markov or oscillation"},
               {"gps=constant:tau=3", "time constant is that of gauss-markov"},
               {"gps=gauss-markov:tau=-3", "above 0"},
               {"gps=gauss-markov:tau", "tau=, period="},
               {"gps=gauss-markov:colour=3", "keys are"},
               {"gps=gauss-markov:as=bend", "offset, rate or scale"},
               {"gps=gauss-markov:per=day", "sensor or target"},
               {"gps.x+y+yaw+x=constant", "one to three names"}},
      NONE[] = {{"lidar=constant", "no sequence has measurements"},
                {"gps.z=constant", "has no row z"},
                {"gps.x+yaw=constant", "rows of one sort"},
                {"gps=constant:as=rate", "a rate acts between two poses"},
                {"gps=constant:as=scale", "no scale factor"}};
    const ct_nav_options o = small_nav();
    ct_err err = {0};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        CHECK_REFUSED(ct_bias_list_check(BAD[i].list, "--", &err), err, BAD[i].sentence);
    for (size_t i = 0; i < sizeof NONE / sizeof *NONE; i++) {
        ct_dataset *d = make_dataset(&o, 1);
        CHECK_OK(ct_bias_list_check(NONE[i].list, "--", &err), err);
        CHECK_REFUSED(ct_bias_list_apply(NONE[i].list, "--", d, &err), err, NONE[i].sentence);
        CHECK(ct_graph_variables(d->train[0]->graph) == 30); /* nothing changes */
        ct_dataset_free(d);
    }
    CHECK_OK(ct_bias_list_check(NULL, "--", &err), err);
}

static void test_defaults_come_from_the_sensor(void)
{
    const ct_nav_options o = small_nav();
    ct_dataset *d = make_dataset(&o, 2);
    ct_err err = {0};
    CHECK_OK(ct_bias_list_apply("gps=gauss-markov,odom=random-walk:sigma=0.01", "--", d, &err), err);
    const ct_noise_model *gps = ct_noise_get(d->noise, ct_noise_find(d->noise, "gps_bias"));
    const ct_noise_model *odom = ct_noise_get(d->noise, ct_noise_find(d->noise, "odom_bias"));
    CHECK(gps && odom && gps->bias && odom->bias);
    CHECK(gps->bias->rows == 2 && !strcmp(gps->bias->row[1], "y") && gps->bias->effect == CT_BIAS_OFFSET);
    CHECK(gps->bias->tau == 20 && !strcmp(gps->row[0].unit, "m"));
    CHECK(odom->bias->rows == 1 && !strcmp(odom->bias->row[0], "yaw") && odom->bias->effect == CT_BIAS_RATE);
    CHECK_NEAR(ct_noise_sigma(odom, 0), 0.01, 1e-15);
    CHECK(!strcmp(odom->row[0].unit, "rad/pose^1.5"));
    CHECK_REFUSED(ct_dataset_add_bias(d, gps->bias, NULL, &err), err, "has one already");
    CHECK_OK(ct_bias_list_apply("gps=constant", "--", d, &err), err); /* it has one */
    CHECK_OK(ct_dataset_apply_biases(d, &err), err);
    CHECK(ct_graph_variables(d->train[0]->graph) == 30 + 29 + 29);
    ct_dataset_free(d);
}

static void test_times_in_some_sequences_are_refused(void)
{
    const ct_nav_options o = small_nav();
    ct_dataset *d = make_dataset(&o, 2);
    double t[30];
    ct_err err = {0};
    for (int i = 0; i < 30; i++) t[i] = 0.5 * i;
    CHECK_OK(ct_sequence_set_times(d->train[1], t, &err), err);
    CHECK_REFUSED(ct_bias_list_apply("gps=constant", "--", d, &err), err, "time stamps");
    ct_dataset_free(d);
}

static void test_tables_refuse_biases_that_are_none(void)
{
    ct_noise *noise;
    ct_err err = {0};
    ct_bias bias = markov(6);
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "b", 1, 1, NULL, &err), err);
    CHECK_REFUSED(ct_noise_set_bias(noise, 1, &bias, &err), err, "no noise model number 1");
    bias.tau = NAN;
    CHECK_REFUSED(ct_noise_set_bias(noise, 0, &bias, &err), err, "time constant");
    bias = markov(6), bias.rows = 2;
    CHECK_REFUSED(ct_noise_set_bias(noise, 0, &bias, &err), err, "rows");
    bias = markov(6), bias.sensor[0] = 0;
    CHECK_REFUSED(ct_noise_set_bias(noise, 0, &bias, &err), err, "no sensor");
    bias = markov(6), bias.process = CT_BIAS_CONSTANT;
    CHECK_REFUSED(ct_noise_set_bias(noise, 0, &bias, &err), err, "no time constant");
    bias = markov(6), bias.every = -1;
    CHECK_REFUSED(ct_noise_set_bias(noise, 0, &bias, &err), err, "between two states");
    CHECK(!ct_noise_get(noise, 0)->bias);
    CHECK_OK(ct_noise_set_bias(noise, 0, &(ct_bias){.sensor = "a", .rows = 1, .row = {"x"}}, &err), err);
    CHECK(ct_noise_get(noise, 0)->bias != NULL);
    CHECK_OK(ct_noise_set_bias(noise, 0, NULL, &err), err);
    CHECK(!ct_noise_get(noise, 0)->bias);
    CHECK(ct_bias_process_find("random-walk") == CT_BIAS_RANDOM_WALK && ct_bias_process_find("walk") == -1);
    CHECK(ct_bias_effect_find("scale") == CT_BIAS_SCALE && !strcmp(ct_bias_effect_name(CT_BIAS_RATE), "rate"));
    CHECK(!strcmp(ct_bias_process_name(CT_BIAS_CONSTANT), "constant"));
    ct_noise_free(noise);
}

/* ---- Files ------------------------------------------------------------------------------------- */

static void test_noise_files_carry_biases(void)
{
    char path[600];
    ct_noise *noise, *back;
    ct_err err = {0};
    ct_bias bias = {.sensor = "gps",
                    .process = CT_BIAS_GAUSS_MARKOV,
                    .effect = CT_BIAS_SCALE,
                    .rows = 2,
                    .row = {"x", "y"},
                    .per_target = 1,
                    .every = 2.5,
                    .tau = 12.25,
                    .tau_error = 0.125};
    snprintf(path, sizeof path, "%s/bias.json", ct_test_folder());
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_noise_new(&back, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "gps_bias", 2, 4, NULL, &err), err);
    CHECK_OK(ct_noise_set_bias(noise, 0, &bias, &err), err);
    CHECK_OK(ct_noise_write(noise, path, &err), err);
    CHECK_OK(ct_noise_read(back, path, &err), err);
    const ct_bias *b = ct_noise_get(back, 0)->bias;
    CHECK(b && !strcmp(b->sensor, "gps") && b->process == bias.process && b->effect == bias.effect && b->rows == 2);
    CHECK(b && !strcmp(b->row[1], "y") && b->per_target && b->every == 2.5 && b->tau == 12.25 && b->tau_error == 0.125);
    ct_noise_free(noise);
    ct_noise_free(back);
}

/* A dataset with states, written and read: the same variables, factors and process. And one that declares a bias of
 * sequences without states. */
static void test_datasets_with_biases_are_read_as_written(void)
{
    const ct_nav_options o = small_nav();
    ct_dataset *d = make_dataset(&o, 2), *back = NULL;
    char path[600];
    ct_err err = {0};
    snprintf(path, sizeof path, "%s/biased-dataset", ct_test_folder());
    d->group = calloc(1, sizeof *d->group);
    d->groups = 1;
    d->group[0] = (ct_dataset_group){.name = strdup("gps"), .learn = 1, .kind = -1};
    for (int k = 0; k < CT_NOISE_DIM_MAX; k++) d->group[0].lower[k] = d->group[0].upper[k] = NAN;
    d->group[0].bias = calloc(1, sizeof *d->group[0].bias);
    *d->group[0].bias = (ct_bias){
        .sensor = "gps", .process = CT_BIAS_GAUSS_MARKOV, .rows = 2, .row = {"x", "y"}, .tau = 12.5, .tau_error = NAN};
    d->group[0].bias_sigma[0] = d->group[0].bias_sigma[1] = 2;
    for (int states = 0; states < 2; states++) {
        if (states) CHECK_OK(ct_dataset_add_bias(d, d->group[0].bias, d->group[0].bias_sigma, &err), err);
        CHECK_OK(ct_dataset_write(d, path, &err), err);
        CHECK_OK(ct_dataset_read(path, CT_DATASET_TRAIN, &back, &err), err);
        if (!back) break;
        const int32_t g = ct_noise_find(back->noise, "gps_bias");
        CHECK(g >= 0 && ct_noise_get(back->noise, g)->bias && ct_noise_get(back->noise, g)->bias->tau == 12.5);
        CHECK_NEAR(ct_noise_sigma(ct_noise_get(back->noise, g), 1), 2, 1e-12);
        CHECK(ct_graph_variables(back->train[1]->graph) == 30 + 29);
        CHECK(ct_graph_factors(back->train[1]->graph) == 1 + 2 * 29 + 29);
        ct_dataset_free(back);
        back = NULL;
    }
    ct_dataset_free(d);
}

/* The simulator's latent table describes what the data were drawn with: a solve under it is consistent. */
static void test_latent_biases_explain_the_data(void)
{
    ct_nav_options o = small_nav();
    ct_err err = {0};
    ct_noise *latent;
    ct_sequence *seq[6];
    double chi = 0, degrees = 0;
    o.least = o.most = 200, o.drift = 2, o.drift_poses = 25, o.gyro = 0.005, o.gyro_start = 0.03;
    CHECK_OK(ct_noise_new(&latent, &err), err);
    for (int i = 0; i < 6; i++) CHECK_OK(ct_simulate_nav(&o, (uint64_t)i, latent, &seq[i], &err), err);
    CHECK_OK(ct_nav_add_biases(&o, latent, &err), err);
    for (int i = 0; i < 6; i++) {
        ct_evaluation of = {0};
        ct_evaluate_options options = ct_evaluate_defaults();
        options.nees = 1;
        CHECK_OK(ct_sequence_apply_biases(seq[i], latent, &err), err);
        CHECK_OK(ct_evaluate(1, &seq[i], latent, &options, &of, NULL, &err), err);
        ct_summary s;
        CHECK_OK(ct_summarise(1, &of, NULL, &s, &err), err);
        chi += s.chi_squared / 6, degrees += s.nees / 6;
        ct_sequence_free(seq[i]);
    }
    CHECK_NEAR(chi, 1, 0.06);
    CHECK_NEAR(degrees, 1, 0.35);
    ct_noise_free(latent);
}

int main(void)
{
    RUN(test_estimates_are_those_of_a_kalman_smoother);
    RUN(test_likelihood_is_that_of_a_kalman_filter);
    RUN(test_states_are_added_once_and_take_new_time_constants);
    RUN(test_states_begin_as_often_as_asked);
    RUN(test_lists_are_understood_or_refused);
    RUN(test_defaults_come_from_the_sensor);
    RUN(test_times_in_some_sequences_are_refused);
    RUN(test_tables_refuse_biases_that_are_none);
    RUN(test_noise_files_carry_biases);
    RUN(test_datasets_with_biases_are_read_as_written);
    RUN(test_latent_biases_explain_the_data);
    return ct_test_end();
}
