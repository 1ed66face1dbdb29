/* test_observation.c: networks that make measurements, trained through the estimator: derivatives by measurements and
 * by all weights are those of differences; training mends a bad network and leaves a good one alone; what does not fit
 * is refused with a sentence. */
#define _XOPEN_SOURCE 700
#include "ct_test.h"

#include <covtune/covtune.h>
#include <math.h>

/* ---- Models: derivatives by the measurement -------------------------------------------------- */

/* A plausible point of a kind. */
static void draw(ct_kind kind, ct_rng *rng, double *x)
{
    double d[CT_DIM_MAX];
    ct_kind_identity(kind, x);
    for (int i = 0; i < ct_kind_dim(kind); i++) d[i] = 0.7 * ct_rng_normal(rng);
    ct_kind_retract(kind, x, d, x);
}

/* r and J l with coordinate c of the first part moved by h, by plain means. */
static void moved(const ct_factor_ops *ops, const double *z, const double *const x[], const double *const l[], int c,
                  double h, double *r, double *Jl)
{
    double d[CT_DIM_MAX] = {0}, y[CT_FIELDS_MAX * CT_SIZE_MAX], space[CT_ARITY_MAX][36], *J[CT_ARITY_MAX];
    memcpy(y, z, (size_t)ct_factor_z_size(ops) * sizeof *y);
    d[c] = h;
    ct_kind_retract(ops->field[0], z, d, y);
    for (int i = 0; i < ops->arity; i++) J[i] = space[i];
    ct_factor_eval(ops, y, NULL, x, r, J);
    for (int row = 0; row < ops->rows; row++) {
        Jl[row] = 0;
        for (int i = 0; i < ops->arity; i++)
            for (int k = 0; k < ct_kind_dim(ops->kind[i]); k++)
                Jl[row] += J[i][row * ct_kind_dim(ops->kind[i]) + k] * l[i][k];
    }
}

static void test_derivatives_by_the_measurement_are_those_of_differences(void)
{
    static const char *const NAME[] = {"tactile_yaw",     "tactile_se2",  "prior_se2",   "prior_se3",    "between_se2",
                                       "between_se3",     "prior_r3",     "between_so2", "position_se3", "heading_se2",
                                       "range_se2_point", "velocity_se2", "point_se3_r3"};
    ct_rng rng = ct_rng_seed(3);
    for (size_t k = 0; k < sizeof NAME / sizeof *NAME; k++) {
        const ct_factor_ops *ops = ct_factor_find(NAME[k]);
        double z[CT_FIELDS_MAX * CT_SIZE_MAX], x[CT_ARITY_MAX][CT_SIZE_MAX], l[CT_ARITY_MAX][CT_DIM_MAX], M[36], N[36];
        const double *at[CT_ARITY_MAX], *along[CT_ARITY_MAX];
        for (int i = 0, place = 0; i < ops->fields; place += ct_kind_size(ops->field[i++]))
            draw(ops->field[i], &rng, z + place);
        if (!strcmp(NAME[k], "velocity_se2")) z[3] = 0.4; /* dt */
        for (int i = 0; i < ops->arity; i++) {
            draw(ops->kind[i], &rng, x[i]);
            for (int c = 0; c < CT_DIM_MAX; c++) l[i][c] = ct_rng_normal(&rng);
            at[i] = x[i], along[i] = l[i];
        }
        const int n = ct_factor_z_dim(ops, 1);
        CHECK(n == ct_kind_dim(ops->field[0]) && ct_factor_z_dim(ops, CT_FIELDS_MAX) >= n);
        ct_factor_by_measurement(ops, z, NULL, at, along, 1, M, N);
        for (int c = 0; c < n; c++) {
            double a[6], b[6], Ja[6], Jb[6];
            moved(ops, z, at, along, c, 1e-6, a, Ja);
            moved(ops, z, at, along, c, -1e-6, b, Jb);
            for (int row = 0; row < ops->rows; row++) {
                CHECK_NEAR(M[row * n + c], (a[row] - b[row]) / 2e-6, 1e-7 * (1 + fabs(M[row * n + c])));
                CHECK_NEAR(N[row * n + c], (Ja[row] - Jb[row]) / 2e-6, 1e-6 * (1 + fabs(N[row * n + c])));
            }
        }
    }
}

/* ---- Networks --------------------------------------------------------------------------------- */

static void test_a_backward_pass_is_the_gradient_and_many_are_as_one(void)
{
    enum { COUNT = 43, IN = 5, OUT = 2 };
    const int32_t width[] = {IN, 7, 4, OUT};
    ct_err        err;
    ct_net       *net, *more;
    ct_rng        rng = ct_rng_seed(1);
    double        x[COUNT * IN], t[COUNT * OUT], y[COUNT * OUT], dy[COUNT * OUT], one[OUT + 1];
    double        want[200], got[200] = {0};
    CHECK_OK(ct_net_new(3, width, 4, &net, &err), err);
    for (int i = 0; i < COUNT * IN; i++) x[i] = ct_rng_normal(&rng);
    for (int i = 0; i < COUNT * OUT; i++) t[i] = 2 + ct_rng_normal(&rng);
    ct_net_options how = ct_net_defaults();
    how.epochs = 2;
    CHECK_OK(ct_net_train(net, COUNT, x, t, &how, NULL, &err), err); /* scales that are not 1 */
    ct_net_predict_all(net, COUNT, x, y);
    for (int i = 0; i < COUNT; i++) {
        ct_net_predict(net, x + i * IN, one);
        CHECK(one[0] == y[i * OUT] && one[1] == y[i * OUT + 1]);
    }
    for (int i = 0; i < COUNT * OUT; i++) dy[i] = (y[i] - t[i]) / COUNT; /* of the mean of 1/2 |y - t|^2 */
    ct_net_loss(net, COUNT, x, t, want);
    ct_net_backward(net, COUNT, x, dy, got);
    CHECK(ct_net_weights(net) < 200);
    for (int64_t i = 0; i < ct_net_weights(net); i++) CHECK_NEAR(got[i], want[i], 1e-12 * (1 + fabs(want[i])));
    /* a further output starts at zero and changes no other */
    CHECK_OK(ct_net_extend(net, 1, &more, &err), err);
    CHECK(ct_net_outputs(more) == OUT + 1 && ct_net_weights(more) == ct_net_weights(net) + 5);
    for (int i = 0; i < COUNT; i++) {
        ct_net_predict(more, x + i * IN, one);
        CHECK(one[0] == y[i * OUT] && one[1] == y[i * OUT + 1] && one[2] == 0);
    }
    ct_net_free(more);
    CHECK_REFUSED(ct_net_extend(net, -1, &more, &err), err, "extended by -1 outputs");
    ct_net_free(net);
    double slope;
    CHECK(ct_net_multiplier(0, &slope) == 1 && slope == 1);
    CHECK_NEAR(ct_net_multiplier(1e9, NULL), CT_NET_MULTIPLIER_MAX, 1e-9);
    CHECK_NEAR(ct_net_multiplier(-1e9, NULL), 1 / CT_NET_MULTIPLIER_MAX, 1e-9);
    const double h = 1e-5, d = (log(ct_net_multiplier(2 + h, NULL)) - log(ct_net_multiplier(2 - h, NULL))) / (2 * h);
    ct_net_multiplier(2, &slope);
    CHECK_NEAR(slope, d, 1e-9);
}

/* ---- Pushes ----------------------------------------------------------------------------------- */

#define SEQUENCES 9

typedef struct {
    ct_push_options o;
    ct_noise       *noise;
    ct_theta       *theta;
    ct_sequence    *seq[SEQUENCES];
    ct_push_episode push[SEQUENCES];
    ct_observation  of[SEQUENCES];
    ct_net         *net;
    int             count;
    ct_err          err;
} touch;

/* Sequences of one short push each, measured by a network that was trained for few epochs, with learned outputs. */
static touch feel(int count, int steps, int epochs, int outputs)
{
    const int32_t width[] = {2 * CT_PUSH_PIXELS, 4, 1};
    touch         t = {.o = ct_push_defaults(CT_SHAPE_ELLIPSE), .count = count};
    t.o.steps = steps;
    t.o.episodes = 1;
    CHECK_OK(ct_noise_new(&t.noise, &t.err), t.err);
    for (int i = 0; i < count; i++) {
        const ct_push_episode *const one[] = {&t.push[i]};
        int32_t                     *factor, n;
        double                      *x;
        CHECK_OK(ct_simulate_push_episode(&t.o, 2, (uint64_t)i, &t.push[i], &t.err), t.err);
        CHECK_OK(ct_simulate_push_sequence(&t.o, 2, (uint64_t)i, 1, one, NULL, NULL, t.noise, &t.seq[i], &t.err),
                 t.err);
        CHECK_OK(ct_push_inputs(t.seq[i], 1, one, &n, &factor, &x, &t.err), t.err);
        t.of[i] = (ct_observation){.seq = t.seq[i], .count = n, .factor = factor, .input = x};
    }
    int64_t        pairs;
    double        *x, *y;
    ct_net        *net;
    ct_net_options how = ct_net_defaults();
    how.epochs = epochs;
    how.decay = 1e-2;
    CHECK_OK(ct_push_image_pairs(&t.o, 2, t.push, &pairs, &x, &y, &t.err), t.err);
    CHECK_OK(ct_net_new(2, width, 1, &net, &t.err), t.err);
    CHECK_OK(ct_net_train(net, pairs, x, y, &how, NULL, &t.err), t.err);
    CHECK_OK(ct_net_extend(net, outputs - 1, &t.net, &t.err), t.err);
    ct_net_free(net);
    free(x);
    free(y);
    CHECK_OK(ct_theta_new(t.noise, &t.theta, &t.err), t.err);
    for (int32_t g = 0; g < ct_noise_count(t.noise); g++) {
        double variance[3];
        if (!ct_push_units(ct_noise_get(t.noise, g)->name, variance)) continue;
        for (int k = 0; k < 3; k++) variance[k] *= variance[k];
        CHECK_OK(ct_noise_set_variance(t.noise, g, variance, &t.err), t.err);
        CHECK_OK(ct_theta_learn(t.theta, g, CT_NOISE_DIAGONAL, 1e-14, 1e2, &t.err), t.err);
    }
    return t;
}

static void release(touch *t)
{
    for (int i = 0; i < t->count; i++) {
        ct_sequence_free(t->seq[i]);
        ct_push_episode_free(&t->push[i]);
        free((void *)t->of[i].factor);
        free((void *)t->of[i].input);
    }
    ct_net_free(t->net);
    ct_theta_free(t->theta);
    ct_noise_free(t->noise);
}

/* The loss through the solver at weights moved by h along u. */
static double loss_along(touch *t, const double *u, double h, double *gradient)
{
    double *w = ct_net_values(t->net), loss;
    for (int64_t i = 0; i < ct_net_weights(t->net); i++) w[i] += h * u[i];
    CHECK_OK(ct_observation_gradient(t->count, t->of, t->noise, t->theta, NULL, t->net, &loss, gradient, &t->err),
             t->err);
    for (int64_t i = 0; i < ct_net_weights(t->net); i++) w[i] -= h * u[i];
    return loss;
}

/* Richardson-extrapolated central differences along directions: all weights at random, and single ones. */
static void check_gradient(touch *t)
{
    const int64_t n = ct_net_weights(t->net);
    double       *g = malloc(2 * (size_t)n * sizeof *g), *u = malloc((size_t)n * sizeof *u), norm = 0;
    ct_rng        rng = ct_rng_seed(5);
    for (int64_t i = n - 20; i < n; i++) ct_net_values(t->net)[i] += 0.1 * ct_rng_normal(&rng); /* heads that matter */
    memset(u, 0, (size_t)n * sizeof *u);
    CHECK(loss_along(t, u, 0, g) > 0);
    for (int64_t i = 0; i < n; i++) norm += g[i] * g[i];
    for (int k = 0; k < 8; k++) {
        double want = 0;
        for (int64_t i = 0; i < n; i++) u[i] = k < 4 ? ct_rng_normal(&rng) / sqrt((double)n) : 0;
        if (k >= 4) u[k < 6 ? n - 1 - (k - 4) : (int64_t)(ct_rng_uniform(&rng) * (double)n)] = 1;
        const double h = 1e-3, a = (loss_along(t, u, h, g + n) - loss_along(t, u, -h, g + n)) / (2 * h),
                     b = (loss_along(t, u, 2 * h, g + n) - loss_along(t, u, -2 * h, g + n)) / (4 * h);
        for (int64_t i = 0; i < n; i++) want += g[i] * u[i];
        CHECK_NEAR(want, (4 * a - b) / 3, 1e-7 * sqrt(norm));
    }
    free(g);
    free(u);
}

static void test_the_gradient_by_all_weights_is_that_of_differences(void)
{
    touch t = feel(2, 26, 4, 1);
    check_gradient(&t);
    release(&t);
}

static void test_so_it_is_with_a_covariance_and_a_robust_kernel(void)
{
    touch t = feel(2, 26, 4, 2);
    const ct_robust cauchy = {.kind = CT_ROBUST_CAUCHY, .width = 1.5};
    check_gradient(&t);
    CHECK_OK(ct_noise_set_robust(t.noise, ct_noise_find(t.noise, "tac"), cauchy, &t.err), t.err);
    check_gradient(&t);
    release(&t);
}

/* ---- Training --------------------------------------------------------------------------------- */

static ct_observation_options quickly(void)
{
    ct_observation_options o = ct_observation_defaults();
    o.epochs = 30;
    o.batch = 4;
    o.rate = 1e-2;
    return o;
}

/* The first sequences to train on, the next to stop by, then those that are held out. */
static ct_observation_data observed(const touch *t, int trains, int stops, int helds)
{
    return (ct_observation_data){.trains = trains,
                                 .stops = stops,
                                 .helds = helds,
                                 .train = t->of,
                                 .stop = t->of + trains,
                                 .held = t->of + trains + stops};
}

static double loss_of(touch *t)
{
    double  loss;
    double *g = malloc((size_t)ct_net_weights(t->net) * sizeof *g);
    CHECK_OK(ct_observation_gradient(t->count, t->of, t->noise, t->theta, NULL, t->net, &loss, g, &t->err), t->err);
    free(g);
    return loss;
}

/* A network that says half of the turn, and a constant more that is twice as large: the last layer spoilt. */
static void spoil(ct_net *net)
{
    double *w = ct_net_values(net) + ct_net_weights(net) - 5;
    for (int i = 0; i < 4; i++) w[i] *= 0.5;
    w[4] += 2;
}

static void test_training_mends_a_spoilt_network(void)
{
    touch                  t = feel(SEQUENCES, 40, 40, 1);
    ct_observation_options o = quickly();
    ct_observation_result  r;
    const double           good = loss_of(&t);
    o.rate = 4e-2; /* far to go */
    spoil(t.net);
    const double bad = loss_of(&t);
    CHECK(bad > 4 * good);
    const ct_observation_data data = observed(&t, 3, 1, 5);
    CHECK_OK(ct_observation_learn(&data, t.theta, NULL, &o, t.noise, t.net, &r, &t.err), t.err);
    CHECK(r.chosen && r.verdict == CT_CHOICE_CHOSEN && r.best > 0 && r.epochs >= r.best && r.failed == 0);
    CHECK(r.train_best < 0.5 * r.train_start && r.log_ratio < -0.5 && r.log_ratio + 2 * r.log_ratio_error < 0);
    const double mended = loss_of(&t);
    CHECK(mended < 0.5 * bad);
    /* measurements in the graphs are those of the answer */
    double y;
    ct_net_predict(t.net, t.of[5].input, &y);
    CHECK_NEAR(ct_graph_factor(t.seq[5]->graph, t.of[5].factor[0]).z[1], sin(y), 1e-15);
    release(&t);
}

static void test_threads_change_no_bit(void)
{
    double first[2000];
    for (int jobs = 1; jobs <= 3; jobs += 2) {
        touch                  t = feel(4, 30, 10, 2);
        ct_observation_options o = quickly();
        ct_outer_options       outer = ct_outer_defaults();
        ct_observation_result  r;
        outer.jobs = jobs;
        o.epochs = 3;
        o.keep = 0;
        o.hidden = 0.01;
        spoil(t.net);
        const ct_observation_data data = observed(&t, 2, 1, 1);
        CHECK_OK(ct_observation_learn(&data, t.theta, &outer, &o, t.noise, t.net, &r, &t.err), t.err);
        CHECK(r.steps == 3 && ct_net_weights(t.net) < 2000);
        const size_t bytes = (size_t)ct_net_weights(t.net) * sizeof(double);
        if (jobs == 1) memcpy(first, ct_net_values(t.net), bytes);
        else CHECK(!memcmp(first, ct_net_values(t.net), bytes));
        release(&t);
    }
}

static int stop_at_once(void *user, const ct_observation_progress *now)
{
    *(int *)user = now->epoch;
    return 1;
}

static void test_a_network_stays_where_nothing_is_gained(void)
{
    touch                  t = feel(4, 30, 60, 1);
    ct_observation_options o = quickly();
    ct_observation_result  r;
    int                    seen = 0;
    double                 before[2000];
    o.rate = 0.3; /* far too large: the first step spoils it */
    o.progress = stop_at_once;
    o.user = &seen;
    memcpy(before, ct_net_values(t.net), (size_t)ct_net_weights(t.net) * sizeof(double));
    const double variance = ct_noise_covariance(ct_noise_get(t.noise, 1), 0, 0);
    const ct_observation_data data = observed(&t, 2, 1, 1);
    CHECK_OK(ct_observation_learn(&data, t.theta, NULL, &o, t.noise, t.net, &r, &t.err), t.err);
    CHECK(seen == 1 && r.epochs == 1 && !r.chosen && r.best == 0);
    CHECK(!memcmp(before, ct_net_values(t.net), (size_t)ct_net_weights(t.net) * sizeof(double)));
    CHECK(variance == ct_noise_covariance(ct_noise_get(t.noise, 1), 0, 0));
    double y;
    ct_net_predict(t.net, t.of[0].input, &y);
    CHECK_NEAR(ct_graph_factor(t.seq[0]->graph, t.of[0].factor[0]).z[1], sin(y), 1e-15);
    release(&t);
}

/* ---- What is refused --------------------------------------------------------------------------- */

static void test_what_does_not_fit_is_refused_with_a_sentence(void)
{
    touch                  t = feel(2, 26, 2, 1);
    ct_observation         of = t.of[0];
    ct_observation_options o = ct_observation_defaults();
    ct_observation_result  r;
    ct_net                *wide, *narrow;
    const int32_t          width[] = {2 * CT_PUSH_PIXELS, 3};
    CHECK_OK(ct_net_new(1, width, 1, &wide, &t.err), t.err);
    CHECK_REFUSED(ct_observe(wide, &of, &t.err), t.err,
                  "the network has 3 outputs; a measurement of tactile_yaw has 1 coordinate: 1 outputs, or 2 with");
    CHECK_OK(ct_observe(t.net, &of, &t.err), t.err);
    of.input = NULL;
    CHECK_REFUSED(ct_observe(t.net, &of, &t.err), t.err, "the inputs of the network are missing");
    double *spoilt = malloc((size_t)of.count * 2 * CT_PUSH_PIXELS * sizeof *spoilt);
    memcpy(spoilt, t.of[0].input, (size_t)of.count * 2 * CT_PUSH_PIXELS * sizeof *spoilt);
    spoilt[2 * CT_PUSH_PIXELS + 3] = NAN;
    of.input = spoilt;
    CHECK_REFUSED(ct_observe(t.net, &of, &t.err), t.err, "input 3 of measurement 1 is nan; it must be finite");
    const int32_t mixed[2] = {t.of[0].factor[0], 0}, none[1] = {1 << 20};
    of = (ct_observation){.seq = t.seq[0], .count = 2, .factor = mixed, .input = t.of[0].input};
    CHECK_REFUSED(ct_observe(t.net, &of, &t.err), t.err, "a network measures those of one model");
    of.count = 1;
    of.factor = none;
    CHECK_REFUSED(ct_observe(t.net, &of, &t.err), t.err, "there is no factor 1048576");
    const ct_observation_data data = observed(&t, 1, 1, 0);
    CHECK_REFUSED(ct_observation_learn(&data, t.theta, NULL, &o, t.noise, t.net, &r, &t.err), t.err,
                  "1, 1 and 0 were given");
    o.rate = 0;
    CHECK_REFUSED(ct_observation_learn(&data, t.theta, NULL, &o, t.noise, t.net, &r, &t.err), t.err, "rate is 0");
    /* pushes without images, or with too few steps */
    int32_t count, *factor;
    double *x;
    const ct_push_episode        bare = {.steps = 26}, early = {.steps = 12, .image = t.push[0].image};
    const ct_push_episode *const push[] = {&bare}, *const cut[] = {&early};
    CHECK_REFUSED(ct_push_inputs(t.seq[0], 1, push, &count, &factor, &x, &t.err), t.err,
                  "tactile image of step 0 is missing");
    CHECK_REFUSED(ct_push_inputs(t.seq[0], 1, cut, &count, &factor, &x, &t.err), t.err,
                  "is missing: the sequence has 26");
    CHECK(!factor && !x);
    ct_sequence *seq;
    CHECK_REFUSED(ct_simulate_push_sequence(&t.o, 2, 0, 1, cut, NULL, NULL, t.noise, &seq, &t.err), t.err,
                  "push 0 has 12 steps, the options say 26");
    ct_outer *outer;
    const ct_measurement_gradient watch = {.count = 1, .factor = none};
    const ct_sequence *const      one[] = {t.seq[0]};
    CHECK_OK(ct_outer_new(1, one, t.noise, t.theta, NULL, &outer, &t.err), t.err);
    CHECK_REFUSED(ct_outer_watch_measurements(outer, 1, &watch, &t.err), t.err, "there is no sequence 1");
    CHECK_REFUSED(ct_outer_watch_measurements(outer, 0, &watch, &t.err), t.err, "there is no factor 1048576");
    ct_outer_free(outer);
    /* a network of other images gives no number */
    double multiplier = 1;
    const int32_t few[] = {3, 1};
    CHECK_OK(ct_net_new(1, few, 1, &narrow, &t.err), t.err);
    CHECK(isnan(ct_push_predict_yaw(narrow, t.push[0].image, t.push[0].image, &multiplier)) && multiplier == 1);
    ct_net_free(narrow);
    ct_net_free(wide);
    free(spoilt);
    release(&t);
}

/* ---- Mirrors ------------------------------------------------------------------------------------ */

/* A push in a mirror is a push: the same residuals at the truth, but for signs, and the opposite turns. */
static void test_a_push_in_a_mirror_is_a_push(void)
{
    ct_push_options o = ct_push_defaults(CT_SHAPE_RECTANGLE);
    ct_push_episode a, b;
    ct_noise       *noise;
    ct_sequence    *seq[2];
    ct_err          err;
    double          r[2][300];
    o.steps = 30;
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_simulate_push_episode(&o, 2, 1, &a, &err), err);
    CHECK_OK(ct_push_mirror(&a, &b, &err), err);
    CHECK_NEAR(ct_push_relative_yaw(&a, 2, 25), -ct_push_relative_yaw(&b, 2, 25), 1e-12);
    CHECK(a.image[0] == b.image[CT_PUSH_IMAGE_COLUMNS - 1]);
    const ct_push_episode *const push[2] = {&a, &b};
    for (int i = 0; i < 2; i++)
        CHECK_OK(ct_simulate_push_sequence(&o, 2, 0, 1, push + i, NULL, NULL, noise, &seq[i], &err), err);
    for (int m = 2; m < 4; m++) { /* dyn, geo */
        const int64_t n = ct_truth_residuals(seq[0], m, NULL, 0, NULL) * (m == 2 ? 3 : 1);
        for (int i = 0; i < 2; i++) ct_truth_residuals(seq[i], m, NULL, n, r[i]);
        for (int64_t k = 0; k < n && n <= 300; k++) CHECK_NEAR(fabs(r[0][k]), fabs(r[1][k]), 1e-12);
        CHECK(n > 0 && n <= 300);
    }
    /* a sequence of a pool is that of its chosen pushes */
    int32_t      chosen[3];
    ct_sequence *whole, *parts;
    ct_push_episode e[3];
    const ct_push_episode *const of[] = {&e[0], &e[1], &e[2]};
    CHECK_OK(ct_push_choose(&o, 1, 4, chosen, &err), err);
    for (int i = 0; i < 3; i++) CHECK_OK(ct_simulate_push_episode(&o, 1, (uint64_t)chosen[i], &e[i], &err), err);
    CHECK_OK(ct_simulate_push(&o, 1, 4, NULL, NULL, noise, &whole, &err), err);
    CHECK_OK(ct_simulate_push_sequence(&o, 1, 4, 3, of, NULL, NULL, noise, &parts, &err), err);
    for (int32_t f = 0; f < ct_graph_factors(whole->graph); f++) {
        const ct_factor p = ct_graph_factor(whole->graph, f), q = ct_graph_factor(parts->graph, f);
        CHECK(!memcmp(p.z, q.z, (size_t)ct_factor_z_size(p.ops) * sizeof(double)));
    }
    for (int i = 0; i < 3; i++) ct_push_episode_free(&e[i]);
    ct_sequence_free(whole);
    ct_sequence_free(parts);
    for (int i = 0; i < 2; i++) ct_sequence_free(seq[i]);
    ct_push_episode_free(&a);
    ct_push_episode_free(&b);
    ct_noise_free(noise);
}

int main(void)
{
    RUN(test_derivatives_by_the_measurement_are_those_of_differences);
    RUN(test_a_backward_pass_is_the_gradient_and_many_are_as_one);
    RUN(test_the_gradient_by_all_weights_is_that_of_differences);
    RUN(test_so_it_is_with_a_covariance_and_a_robust_kernel);
    RUN(test_training_mends_a_spoilt_network);
    RUN(test_threads_change_no_bit);
    RUN(test_a_network_stays_where_nothing_is_gained);
    RUN(test_what_does_not_fit_is_refused_with_a_sentence);
    RUN(test_a_push_in_a_mirror_is_a_push);
    return ct_test_end();
}
