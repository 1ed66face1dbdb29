/* test_learn_leo.c: LEO: its loss by samples, and its steps. */
#define _POSIX_C_SOURCE 200809L
#include "learn/learn.h"
#include "learn_test.h"

/* ---- A linear problem, for which everything is known ----------------------------------------------
 *
 * Points in the plane, odometry between them, GPS on each; x and y are two chains that do not know of each other.
 * With precisions a and b, H = a D'D + b I, and -log p(truth | z) = E(truth) - E(x) - 1/2 log det H + constant. */

#define POSES_MAX 40

typedef struct {
    lesson lesson;
    int    poses;
    double step[RUNS_MAX][POSES_MAX][2], gps[RUNS_MAX][POSES_MAX][2]; /* measured */
} chains;

static const double LATENT[4] = {0.5, 1.2, 1.5, 0.6}; /* sigmas: odometry x, y, GPS x, y */

static void chains_make(chains *c, int runs, int poses, uint64_t seed)
{
    ct_rng  rng = ct_rng_seed(seed);
    lesson *l = &c->lesson;
    *l = (lesson){.runs = runs};
    c->poses = poses;
    CHECK_OK(ct_noise_new(&l->noise, &l->err), l->err);
    int32_t odom, gps;
    CHECK_OK(ct_noise_add_diagonal(l->noise, "odom", 2, (double[]){LATENT[0] * LATENT[0], LATENT[1] * LATENT[1]}, &odom,
                                   &l->err),
             l->err);
    CHECK_OK(ct_noise_add_diagonal(l->noise, "gps", 2, (double[]){LATENT[2] * LATENT[2], LATENT[3] * LATENT[3]}, &gps,
                                   &l->err),
             l->err);
    for (int i = 0; i < runs; i++) {
        ct_graph *graph = NULL;
        double    truth[2 * POSES_MAX];
        CHECK_OK(ct_graph_new(&graph, &l->err), l->err);
        for (int k = 0; k < poses; k++)
            for (int d = 0; d < 2; d++) {
                const double moved = k ? ct_rng_normal(&rng) : 0;
                truth[2 * k + d] = moved + (k ? truth[2 * (k - 1) + d] : 0);
                c->gps[i][k][d] = truth[2 * k + d] + LATENT[2 + d] * ct_rng_normal(&rng);
                if (k) c->step[i][k][d] = moved + LATENT[d] * ct_rng_normal(&rng);
            }
        for (int32_t k = 0; k < poses; k++) {
            CHECK_OK(ct_graph_add_variable(graph, NULL, CT_R2, c->gps[i][k], NULL, &l->err), l->err);
            CHECK_OK(ct_graph_add_prior(graph, k, c->gps[i][k], gps, &l->err), l->err);
            if (k) CHECK_OK(ct_graph_add_between(graph, k - 1, k, c->step[i][k], odom, &l->err), l->err);
        }
        CHECK_OK(ct_sequence_new(graph, &l->seq[i], &l->err), l->err);
        l->seq[i]->truth = malloc(sizeof truth);
        memcpy(l->seq[i]->truth, truth, sizeof truth);
        l->seq[i]->known = malloc((size_t)poses);
        memset(l->seq[i]->known, 3, (size_t)poses);
    }
    learn_all(l, CT_NOISE_DIAGONAL, 1e-4, 1e4);
    open_outer(l, NULL);
}

/* One chain: of coordinate d of run i, E at x; x NULL: at its minimum, by elimination, with 1/2 log det H in
 * *half_log_det. */
static double chain_energy(const chains *c, int i, int d, double a, double b, const double *truth, double *half_log_det)
{
    const int n = c->poses;
    double    diagonal[POSES_MAX], right[POSES_MAX], x[POSES_MAX], E = 0;
    *half_log_det = 0;
    for (int k = 0; k < n; k++) {
        diagonal[k] = b + (k > 0 ? a : 0) + (k + 1 < n ? a : 0);
        right[k] =
            b * c->gps[i][k][d] + (k > 0 ? a * c->step[i][k][d] : 0) - (k + 1 < n ? a * c->step[i][k + 1][d] : 0);
        if (k) { /* off the diagonal -a */
            diagonal[k] -= a * a / diagonal[k - 1];
            right[k] += a / diagonal[k - 1] * right[k - 1];
        }
        *half_log_det += 0.5 * log(diagonal[k]);
    }
    for (int k = n - 1; k >= 0; k--) x[k] = (right[k] + (k + 1 < n ? a * x[k + 1] : 0)) / diagonal[k];
    for (int k = 0; truth && k < n; k++) x[k] = truth[2 * k + d];
    for (int k = 0; k < n; k++) {
        const double g = x[k] - c->gps[i][k][d], s = k ? x[k] - x[k - 1] - c->step[i][k][d] : 0;
        E += 0.5 * b * g * g + 0.5 * a * s * s;
    }
    return E;
}

/* -log p(truth | z) of run i over its factors; in *energy [E(truth) - E[E(x)]] over them: E[E] = E(minimum) + half
 * the unknowns. */
static double unlikelihood(const chains *c, int i, const double p[4], double *energy)
{
    const int    factors = 2 * c->poses - 1;
    const double *truth = c->lesson.seq[i]->truth;
    double       sum = 0, half;
    if (energy) *energy = 0;
    for (int d = 0; d < 2; d++) {
        const double a = exp(-p[d]), b = exp(-p[2 + d]), at_truth = chain_energy(c, i, d, a, b, truth, &half),
                     least = chain_energy(c, i, d, a, b, NULL, &half);
        sum += (at_truth - least - half) / factors;
        if (energy) *energy += (at_truth - least - 0.5 * c->poses) / factors;
    }
    return sum;
}

static double mean_unlikelihood(const chains *c, const double p[4], double *energy)
{
    double sum = 0, one;
    if (energy) *energy = 0;
    for (int i = 0; i < c->lesson.runs; i++) {
        sum += unlikelihood(c, i, p, &one) / c->lesson.runs;
        if (energy) *energy += one / c->lesson.runs;
    }
    return sum;
}

/* Mean and standard error of gradient and energy (the fifth) over repetitions with other seeds. */
static void repeat(chains *c, const double *p, int times, int samples, double mean[5], double error[5])
{
    double sum[5] = {0}, square[5] = {0};
    for (int t = 0; t < times; t++) {
        double          g[5];
        const ct__draws draws = {.samples = samples, .iteration = t % 3, .seed = (uint64_t)t};
        ct__energy      value = {.gradient = g};
        CHECK_OK(ct__outer_energy(c->lesson.outer, p, NULL, &draws, &value, &c->lesson.err), c->lesson.err);
        CHECK(value.failed == 0 && value.estimated == c->lesson.runs && value.solves >= c->lesson.runs);
        g[4] = value.energy;
        for (int k = 0; k < 5; k++) {
            sum[k] += g[k];
            square[k] += g[k] * g[k];
        }
    }
    for (int k = 0; k < 5; k++) {
        mean[k] = sum[k] / times;
        error[k] = sqrt((square[k] / times - mean[k] * mean[k]) / (times - 1));
    }
}

/* Samples are of the posterior, and right on average: against differences of the exact likelihood. The error falls
 * as samples grow. */
static void test_the_gradient_is_that_of_the_truths_likelihood(void)
{
    chains c;
    chains_make(&c, 3, 12, 5);
    for (int where = 0; where < 3; where++) {
        double p[4], mean[5], error[5], few[5], few_error[5], exact[5], energy;
        ct_theta_get(c.lesson.theta, c.lesson.noise, p);
        for (int k = 0; k < 4; k++) p[k] += where * (k % 2 ? -0.8 : 0.5); /* the latent values, and some that are not */
        for (int k = 0; k < 4; k++) {
            const double h = 1e-5, at = p[k];
            p[k] = at + h;
            const double up = mean_unlikelihood(&c, p, NULL);
            p[k] = at - h;
            exact[k] = (up - mean_unlikelihood(&c, p, NULL)) / (2 * h);
            p[k] = at;
        }
        mean_unlikelihood(&c, p, &energy);
        exact[4] = energy;
        repeat(&c, p, 50, 400, mean, error);
        repeat(&c, p, 50, 25, few, few_error);
        for (int k = 0; k < 5; k++) {
            CHECK_NEAR(mean[k], exact[k], 4 * error[k]);
            /* sixteen times the samples, a quarter of the error */
            CHECK(error[k] < 2e-3 && few_error[k] > 2 * error[k] && few_error[k] < 8 * error[k]);
        }
    }
    lesson_free(&c.lesson);
}

/* On average over runs, at the noise that was drawn; not elsewhere. */
static void test_the_gradient_vanishes_at_the_latent_noise(void)
{
    chains c;
    chains_make(&c, RUNS_MAX, POSES_MAX, 8);
    for (int off = 0; off < 5; off++) {
        double p[4], mean[4] = {0}, square[4] = {0};
        ct_theta_get(c.lesson.theta, c.lesson.noise, p);
        if (off) p[off - 1] += 1;
        for (int i = 0; i < RUNS_MAX; i++) {
            double          g[4];
            uint8_t         part[RUNS_MAX] = {0};
            const ct__draws draws = {.samples = 100, .seed = 3};
            ct__energy      value = {.gradient = g};
            part[i] = 1;
            CHECK_OK(ct__outer_energy(c.lesson.outer, p, part, &draws, &value, &c.lesson.err), c.lesson.err);
            CHECK(value.estimated == 1);
            for (int k = 0; k < 4; k++) {
                mean[k] += g[k] / RUNS_MAX;
                square[k] += g[k] * g[k] / RUNS_MAX;
            }
        }
        for (int k = 0; k < 4; k++) {
            const double z = mean[k] / sqrt((square[k] - mean[k] * mean[k]) / (RUNS_MAX - 1));
            if (!off) CHECK(fabs(z) < 3);
            else if (k == off - 1) CHECK(z > 6); /* too large a variance: down */
        }
    }
    lesson_free(&c.lesson);
}

/* Draws and estimates being the same, another truth changes the gradient by that of its own error: kernels, ties,
 * isotropic and frozen models included. */
static void test_the_truth_enters_by_its_error_alone(void)
{
    double g[2][4], slope[2][4], p[4];
    for (int other = 0; other < 2; other++) {
        lesson        l = lesson_of("D1", CT_SE2, 2, 30, 5);
        const int32_t odom = ct_noise_find(l.noise, "odom"), gps = ct_noise_find(l.noise, "gps");
        learn_all(&l, CT_NOISE_DIAGONAL, 1e-6, 1e6);
        CHECK_OK(ct_theta_learn(l.theta, gps, CT_NOISE_ISOTROPIC, 1e-6, 1e6, &l.err), l.err);
        CHECK_OK(ct_noise_set_robust(l.noise, gps, (ct_robust){CT_ROBUST_HUBER, 1.345, 0}, &l.err), l.err);
        CHECK_OK(ct_noise_set_robust(l.noise, odom, (ct_robust){CT_ROBUST_CAUCHY, 2, 0}, &l.err), l.err);
        for (int i = 0; other && i < 2; i++)
            for (int32_t v = 1; v < 30; v += 3) l.seq[i]->truth[ct_graph_offset(l.seq[i]->graph, v)] += 0.7;
        open_outer(&l, NULL);
        ct_theta_get(l.theta, l.noise, p);
        const ct__draws draws = {.samples = 5, .seed = 9};
        ct__energy      value = {.gradient = g[other]};
        CHECK(ct_theta_count(l.theta) == 4);
        CHECK_OK(ct__outer_energy(l.outer, p, NULL, &draws, &value, &l.err), l.err);
        for (int k = 0; k < 4; k++) {
            slope[other][k] = 0;
            for (int side = -1; side <= 1; side += 2) {
                double q[4];
                memcpy(q, p, sizeof q);
                q[k] += side * 1e-5;
                CHECK_OK(ct_theta_apply_unprojected(l.theta, q, l.noise, &l.err), l.err);
                /* 29 of GPS, 29 of odometry */
                for (int i = 0; i < 2; i++)
                    slope[other][k] +=
                        side * ct_graph_error(l.seq[i]->graph, l.noise, l.seq[i]->truth) / (2e-5 * 2 * 58);
            }
        }
        lesson_free(&l);
    }
    for (int k = 0; k < 4; k++) {
        CHECK_NEAR(g[1][k] - g[0][k], slope[1][k] - slope[0][k], 1e-6);
        CHECK(fabs(slope[1][k] - slope[0][k]) > 1e-3 || k == 2);
    }
}

static double first_of(lesson *l, int iteration, uint64_t seed, const uint8_t *part)
{
    double          p[6], g[6];
    const ct__draws draws = {.samples = 3, .iteration = iteration, .seed = seed};
    ct__energy      value = {.gradient = g};
    ct_theta_get(l->theta, l->noise, p);
    CHECK_OK(ct__outer_energy(l->outer, p, part, &draws, &value, &l->err), l->err);
    return g[0];
}

/* A stream of random numbers for each seed, iteration and run: no two share one, each has its own whatever else is
 * drawn. */
static void test_every_run_and_iteration_draws_for_itself(void)
{
    lesson  l = lesson_of("D1", CT_SE2, 2, 30, 5);
    lesson  same = lesson_of("D1", CT_SE2, 1, 30, 5);
    uint8_t first[2] = {1, 0}, second[2] = {0, 1};
    ct_sequence_free(l.seq[1]);
    l.seq[1] = same.seq[0]; /* the first run again */
    same.runs = 0;
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-6, 1e6);
    open_outer(&l, NULL);
    const double here = first_of(&l, 0, 1, first), there = first_of(&l, 0, 1, second);
    CHECK(here != there && here != first_of(&l, 1, 1, first) && here != first_of(&l, 0, 2, first) &&
          here == first_of(&l, 0, 1, first));
    CHECK_NEAR(first_of(&l, 0, 1, NULL), 0.5 * (here + there), 1e-15);
    lesson_free(&same);
    lesson_free(&l);
}

/* ---- Steps --------------------------------------------------------------------------------------- */

static ct_learn_options leo_options(int iterations)
{
    ct_learn_options o = ct_learn_defaults();
    o.method = CT_LEARN_LEO;
    o.max_iterations = iterations;
    o.scale = CT_SCALE_NONE;
    return o;
}

/* Adam on precisions, written out again; the bounds are met on the way. */
static void test_its_steps_are_adams_on_precisions(void)
{
    lesson           l = begin("D1", 2, 40, 6, 0.05, 20);
    ct_learn_options options = leo_options(20);
    double           q[6], p[6], g[6], m1[6] = {0}, m2[6] = {0};
    options.leo = (ct_leo){.samples = 4, .rate = 0.6, .decay = 0.9, .l2 = 1, .clip = 0.03};
    options.seed = 77;
    ct_theta_get(l.theta, l.noise, p);
    ct_theta_project(l.theta, CT_SPACE_LOG, p);
    int bounded = 0, clipped = 0;
    for (int t = 1; t <= 20; t++) {
        const ct__draws draws = {.samples = 4, .iteration = t - 1, .seed = 77};
        ct__energy      value = {.gradient = g};
        CHECK_OK(ct__outer_energy(l.outer, p, NULL, &draws, &value, &l.err), l.err);
        for (int i = 0; i < 6; i++) {
            q[i] = 1 / exp(p[i]);
            const double slope = -g[i] * exp(p[i]) + 2 * q[i];
            m1[i] = 0.9 * m1[i] + 0.1 * slope;
            m2[i] = 0.999 * m2[i] + 0.001 * slope * slope;
            q[i] -= 0.6 * pow(0.9, t - 1) * (m1[i] / (1 - pow(0.9, t))) / (sqrt(m2[i] / (1 - pow(0.999, t))) + 1e-8);
            clipped += q[i] < 0.03;
            q[i] = fmax(q[i], 0.03);
            bounded += 1 / q[i] > 20 || 1 / q[i] < 0.05;
            p[i] = log(fmin(fmax(1 / q[i], 0.05), 20));
        }
    }
    CHECK(bounded > 0 && clipped > 0);
    ct_learn_result r = learn(&l, &options);
    CHECK(r.stop == CT_LEARN_STOP_ITERATIONS && r.iterations == 20);
    for (int i = 0; i < 6; i++) CHECK_NEAR(r.p[i], p[i], 1e-9);
    ct_learn_result_free(&r);
    lesson_free(&l);
}

/* Where the start is right, many samples leave it there; from a factor of 2 beside it they lead back. */
static void test_it_finds_the_closed_form_where_steps_reach_it(void)
{
    chains  c;
    lesson *l = &c.lesson;
    chains_make(&c, 16, POSES_MAX, 4);
    ct_learn_options options = leo_options(150);
    double           closed[4], exact[4];
    options.leo = (ct_leo){.samples = 200, .rate = 0.15, .decay = 0.97, .l2 = 0, .clip = 1e-4};
    CHECK_OK(ct_outer_closed_form(l->outer, NULL, closed, NULL, &l->err), l->err);
    memcpy(exact, closed, sizeof exact);
    for (int pass = 0; pass < 60; pass++) /* coordinate by coordinate to the minimum of the exact likelihood */
        for (int k = 0; k < 4; k++)
            for (double h = 0.1; h > 1e-4; h /= 2) {
                const double at = exact[k], here = mean_unlikelihood(&c, exact, NULL);
                exact[k] = at + h;
                if (mean_unlikelihood(&c, exact, NULL) < here) continue;
                exact[k] = at - h;
                if (mean_unlikelihood(&c, exact, NULL) >= here) exact[k] = at;
            }
    for (int beside = 0; beside < 2; beside++) {
        double p[4];
        for (int k = 0; k < 4; k++) p[k] = closed[k] + beside * (k % 2 ? -1 : 1) * log(2);
        CHECK_OK(ct_theta_apply_unprojected(l->theta, p, l->noise, &l->err), l->err);
        ct_learn_result r = learn(l, &options);
        for (int k = 0; k < 4; k++) {
            CHECK_NEAR(r.p[k], exact[k], 0.06);
            CHECK_NEAR(r.p[k], closed[k], 0.25);
        }
        ct_learn_result_free(&r);
    }
    lesson_free(l);
}

static void test_the_seed_alone_decides_what_is_drawn(void)
{
    ct_learn_result r[5];
    /* 1, 2, 3 threads; another seed; the first, after another method, which leaves other starts for inner solves
     * behind */
    for (int k = 0; k < 5; k++) {
        lesson           l = begin("D3", 5, 40, 6, 1e-3, 1e3);
        ct_learn_options options = leo_options(8);
        ct_outer_options outer = ct_outer_defaults();
        outer.jobs = k < 3 ? k + 1 : 1;
        options.seed = k == 3 ? 2 : 1;
        open_outer(&l, &outer);
        if (k == 4) {
            ct_learn_result other = learn(&l, NULL);
            ct_learn_result_free(&other);
            start_far(&l);
        }
        r[k] = learn(&l, &options);
        lesson_free(&l);
    }
    const size_t bytes = 12 * sizeof *r[0].p;
    for (int k = 1; k < 5; k++) CHECK((memcmp(r[0].p, r[k].p, bytes) == 0) == (k != 3));
    for (int k = 0; k < 5; k++) ct_learn_result_free(&r[k]);
}

typedef struct {
    int    left;
    double p[6];
} patience;

static int count_down(void *user, const ct_learn_progress *progress)
{
    patience *w = user;
    if (progress->phase != CT_LEARN_PHASE_LEARN) return 0;
    memcpy(w->p, progress->p, sizeof w->p);
    return w->left-- == 0;
}

static void test_a_caller_who_says_stop_gets_the_last_iterate(void)
{
    lesson           l = begin("D1", 2, 30, 6, 1e-3, 1e3);
    ct_learn_options options = leo_options(50);
    patience         w = {.left = 7};
    options.progress = count_down;
    options.user = &w;
    ct_learn_result r = learn(&l, &options);
    CHECK(r.stop == CT_LEARN_STOP_CANCELLED && r.iterations == 7 && w.left == -1);
    CHECK(!memcmp(r.p, w.p, sizeof w.p));
    ct_learn_result_free(&r);
    lesson_free(&l);
}

/* ---- Refusals ------------------------------------------------------------------------------------ */

static void test_what_it_cannot_learn_from_is_refused(void)
{
    lesson                 l = begin("D1", 3, 30, 6, 1e-3, 1e3);
    const ct_learn_options options = leo_options(3);
    ct_learn_result        r;
    CHECK_OK(ct_theta_learn(l.theta, ct_noise_find(l.noise, "gps"), CT_NOISE_FULL, 1e-3, 1e3, &l.err), l.err);
    open_outer(&l, NULL);
    CHECK_REFUSED(ct_learn(l.outer, &options, l.noise, &r, &l.err), l.err,
                  "method leo learns diagonal and isotropic models, and gps[0,0] is part of a full covariance");
    ct_learn_result_free(&r);
    CHECK_OK(ct_theta_learn(l.theta, ct_noise_find(l.noise, "gps"), CT_NOISE_ISOTROPIC, 1e-3, 1e3, &l.err), l.err);
    l.seq[1]->known[7] = 3; /* no heading: of two odometries and a GPS */
    free(l.seq[1]->name);
    l.seq[1]->name = strdup("monday");
    open_outer(&l, NULL);
    CHECK_REFUSED(ct_learn(l.outer, &options, l.noise, &r, &l.err), l.err,
                  "method leo needs complete truth; in sequence monday the truth does not determine the residuals of 3 "
                  "of the 58 factors of learned models");
    ct_learn_result_free(&r);
    l.seq[1]->known[7] = 7;
    open_outer(&l, NULL);
    r = learn(&l, &options);
    ct_learn_result_free(&r);
    lesson_free(&l);
}

int main(void)
{
    RUN(test_the_gradient_is_that_of_the_truths_likelihood);
    RUN(test_the_gradient_vanishes_at_the_latent_noise);
    RUN(test_the_truth_enters_by_its_error_alone);
    RUN(test_every_run_and_iteration_draws_for_itself);
    RUN(test_its_steps_are_adams_on_precisions);
    RUN(test_it_finds_the_closed_form_where_steps_reach_it);
    RUN(test_the_seed_alone_decides_what_is_drawn);
    RUN(test_a_caller_who_says_stop_gets_the_last_iterate);
    RUN(test_what_it_cannot_learn_from_is_refused);
    return ct_test_end();
}
