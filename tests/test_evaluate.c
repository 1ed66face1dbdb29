/* test_evaluate.c: accuracy, starts, and what an assessment says: that an estimator with the right noise models is
 * called consistent, and one that doubts too much is not. */
#include "ct_test.h"
#include "evaluate_test.h"

#include <covtune/covtune.h>

/* ---- chains whose noise models are right ---------------------------------------------------------- */

typedef struct {
    ct_noise    *noise;
    ct_sequence *seq;
    ct_err       err;
} chain;

static void random_in(ct_rng *rng, int dim, const double *variance, double *e)
{
    for (int i = 0; i < dim; i++) e[i] = sqrt(variance[i]) * ct_rng_normal(rng);
}

/* `poses` of a kind: odometry between neighbours, an absolute measurement on each; the initial values are the
 * absolute measurements. */
static void make_chain(chain *c, ct_kind kind, int32_t poses, uint64_t seed)
{
    static const double V[2][6] = {{0.01, 0.02, 0.001, 0.03, 0.01, 0.02}, {0.04, 0.09, 0.01, 0.05, 0.06, 0.02}};
    const int           dim = ct_kind_dim(kind), size = ct_kind_size(kind);
    ct_rng              rng = ct_rng_seed(seed);
    ct_graph           *graph = NULL;
    int32_t             model[2];
    double              last[CT_SIZE_MAX], e[CT_DIM_MAX], z[CT_SIZE_MAX];
    *c = (chain){0};
    CHECK_OK(ct_noise_new(&c->noise, &c->err), c->err);
    CHECK_OK(ct_noise_add_diagonal(c->noise, "odom", dim, V[0], &model[0], &c->err), c->err);
    CHECK_OK(ct_noise_add_diagonal(c->noise, "gps", dim, V[1], &model[1], &c->err), c->err);
    CHECK_OK(ct_graph_new(&graph, &c->err), c->err);
    CHECK_OK(ct_sequence_new(graph, &c->seq, &c->err), c->err);
    c->seq->truth = calloc((size_t)(poses * size), sizeof(double));
    c->seq->known = malloc((size_t)poses);
    memset(c->seq->known, (1 << dim) - 1, (size_t)poses);
    ct_kind_identity(kind, last);
    for (int32_t v = 0; v < poses; v++) {
        double *truth = c->seq->truth + v * size, step[CT_DIM_MAX] = {1, 0.2, 0.1, 0.5, 0.3, 0.1};
        ct_kind_retract(kind, last, step, truth);
        random_in(&rng, dim, V[1], e);
        ct_kind_retract(kind, truth, e, z);
        CHECK_OK(ct_graph_add_variable(graph, NULL, kind, z, NULL, &c->err), c->err);
        CHECK_OK(ct_graph_add_prior(graph, v, z, model[1], &c->err), c->err);
        random_in(&rng, dim, V[0], e);
        ct_kind_identity(kind, z);
        ct_kind_retract(kind, z, step, z);
        ct_kind_retract(kind, z, e, z);
        if (v) CHECK_OK(ct_graph_add_between(graph, v - 1, v, z, model[0], &c->err), c->err);
        memcpy(last, truth, (size_t)size * sizeof *last);
    }
}

static void free_chain(chain *c)
{
    ct_sequence_free(c->seq);
    ct_noise_free(c->noise);
}

static ct_inference from_file(void)
{
    ct_inference inference = ct_inference_defaults();
    CHECK(inference.start == CT_START_MEASURED && inference.solve.method == CT_LEVENBERG_MARQUARDT);
    inference.start = CT_START_INITIAL;
    return inference;
}

/* The estimate in *x if x is not NULL: the caller frees it. */
static ct_evaluation assess(chain *c, const ct_inference *inference, int nees, double **x)
{
    const ct_loss loss = ct_loss_defaults();
    ct_solver    *solver = NULL;
    ct_evaluation found = {0};
    double       *values = malloc((size_t)ct_graph_size(c->seq->graph) * sizeof *values + 1);
    CHECK_OK(ct_solver_new(c->seq->graph, NULL, &solver, &c->err), c->err);
    CHECK_OK(evaluate_one(c->seq, c->noise, solver, inference, &loss, nees, values, &found, &c->err), c->err);
    ct_solver_free(solver);
    if (x) *x = values;
    else free(values);
    return found;
}

static void scale_noise(ct_noise *noise, double factor)
{
    ct_err err = {0};
    for (int32_t i = 0; i < ct_noise_count(noise); i++) {
        const ct_noise_model *model = ct_noise_get(noise, i);
        double                v[6];
        for (int k = 0; k < model->dim; k++) v[k] = factor * model->covariance[k];
        CHECK_OK(ct_noise_set_variance(noise, i, v, &err), err);
    }
}

/* Means over many runs of chi-square per degree and of NEES per coordinate. Chi-square of n degrees in all has a
 * relative deviation of sqrt(2/n). Poses of one run are correlated over a few neighbours, so NEES deviates by some
 * factor more than that: 4 sigmas of twice it is the bound. Curvature adds a little on poses: rotations of 0.1 rad.
 * `unknown` are coordinates taken out of every third truth. */
static void check_honest(ct_kind kind, unsigned unknown, double slack)
{
    double  sum[2][2] = {{0}};
    int64_t degrees[2] = {0};
    for (uint64_t seed = 1; seed <= (ct_test_slow() ? 40 : 200); seed++) {
        chain              c;
        const ct_inference inference = from_file();
        make_chain(&c, kind, 30, seed);
        for (int32_t v = 0; v < 30; v += 3) c.seq->known[v] = (uint8_t)(c.seq->known[v] & ~unknown);
        for (int wide = 0; wide < 2; wide++) {
            if (wide) scale_noise(c.noise, 4);
            const ct_evaluation found = assess(&c, &inference, 1, NULL);
            CHECK(ct_stop_converged(found.solve.stop));
            CHECK(found.consistency.degrees == 29 * ct_kind_dim(kind));
            sum[wide][0] += found.consistency.chi_squared;
            sum[wide][1] += found.consistency.nees;
            if (wide) continue;
            degrees[0] += found.consistency.degrees;
            degrees[1] += found.consistency.nees_degrees;
        }
        free_chain(&c);
    }
    for (int k = 0; k < 2; k++) {
        const double sigma = sqrt(2.0 / (double)degrees[k]), mean = sum[0][k] / (double)degrees[k];
        CHECK_NEAR(mean, 1, 4 * sigma * (k ? 2 : 1) + slack);
        CHECK_NEAR(sum[1][k] / sum[0][k], 0.25, 1e-6);
    }
    printf("  %s: chi-square %.3f, NEES %.3f of %lld coordinates\n", ct_kind_name(kind), sum[0][0] / (double)degrees[0],
           sum[0][1] / (double)degrees[1], (long long)degrees[1]);
}

static void test_the_right_noise_is_called_consistent(void)
{
    check_honest(CT_R2, 0, 0);
    check_honest(CT_SE2, 0, 0.02);
    check_honest(CT_SE3, 0, 0.04);
}

static void test_what_is_known_of_a_pose_is_judged_alone(void)
{
    check_honest(CT_R2, 1, 0);
    check_honest(CT_SE2, 4, 0.02);  /* position alone             */
    check_honest(CT_SE2, 3, 0.02);  /* heading alone              */
    check_honest(CT_SE2, 6, 0.02);  /* x in the world             */
    check_honest(CT_SE3, 7, 0.04);
    check_honest(CT_SE3, 0x38, 0.04);
    check_honest(CT_SE3, 0x21, 0.04); /* x, y; a rotation in part is none */
}

/* ---- a truth that has errors of its own ------------------------------------------------------ */

/* One pose with a prior: P is the prior's covariance, e its residual at the truth. In the plane (x, y, yaw), in space
 * rotation before translation. */
static void test_nees_adds_the_variance_of_the_truth_by_hand(void)
{
    const ct_kind KINDS[] = {CT_SE2, CT_SE3, CT_R2};
    for (int k = 0; k < 3; k++) {
        chain              c;
        const ct_kind      kind = KINDS[k];
        const ct_inference inference = from_file();
        const int          dim = ct_kind_dim(kind);
        double             wanted = 0, e[CT_DIM_MAX];
        make_chain(&c, kind, 1, 3);
        c.seq->truth_sigma[0] = 0.5;
        c.seq->truth_sigma[1] = 0.2;
        ct_kind_local(kind, c.seq->truth, ct_graph_initial(c.seq->graph), e);
        for (int i = 0; i < dim; i++) {
            const int    turn = kind == CT_SE2 ? i == 2 : kind == CT_SE3 ? i < 3 : 0;
            const double q = turn ? 0.04 : 0.25;
            wanted += e[i] * e[i] / (ct_noise_get(c.noise, 1)->covariance[i] + q);
        }
        const ct_evaluation found = assess(&c, &inference, 1, NULL);
        /* P is the covariance at the estimate; rotated by Jr^-1(e), which is the identity to first order in e */
        CHECK_NEAR(found.consistency.nees, wanted, kind == CT_R2 ? 1e-12 : 0.05 * wanted);
        free_chain(&c);
    }
}

/* The recorded truth is the real one with noise: NEES is 1 with its sigma, and far above without. */
static void test_a_noisy_truth_is_consistent_with_its_sigma(void)
{
    const ct_kind KINDS[] = {CT_SE2, CT_SE3};
    for (int k = 0; k < 2; k++) {
        double  sum[2] = {0};
        int64_t degrees = 0;
        for (uint64_t seed = 1; seed <= (ct_test_slow() ? 40 : 200); seed++) {
            chain              c;
            const ct_kind      kind = KINDS[k];
            const ct_inference inference = from_file();
            ct_rng             rng = ct_rng_seed(1000 + seed);
            make_chain(&c, kind, 30, seed);
            for (int32_t v = 0; v < 30; v++) {
                double *truth = c.seq->truth + v * ct_kind_size(kind), e[CT_DIM_MAX];
                for (int i = 0; i < ct_kind_dim(kind); i++)
                    e[i] = (kind == CT_SE2 ? i == 2 : i < 3) ? 0.05 * ct_rng_normal(&rng) : 0.3 * ct_rng_normal(&rng);
                ct_kind_retract(kind, truth, e, truth);
                if (v % 3 == 0) c.seq->known[v] = kind == CT_SE2 ? 3 : 0x38; /* position alone, compared in the world */
            }
            for (int stated = 0; stated < 2; stated++) {
                c.seq->truth_sigma[0] = stated ? 0.3 : 0;
                c.seq->truth_sigma[1] = stated ? 0.05 : 0;
                const ct_evaluation found = assess(&c, &inference, 1, NULL);
                sum[stated] += found.consistency.nees;
                if (stated) degrees += found.consistency.nees_degrees;
            }
            free_chain(&c);
        }
        const double sigma = sqrt(2.0 / (double)degrees);
        CHECK_NEAR(sum[1] / (double)degrees, 1, 8 * sigma + 0.04);
        CHECK(sum[0] > 2 * (double)degrees);
        printf("  %s: NEES %.3f, and %.3f where the truth is taken as exact\n", ct_kind_name(KINDS[k]),
               sum[1] / (double)degrees, sum[0] / (double)degrees);
    }
}

/* Kernels weigh less than squares do: chi-square is the sum of 2 rho. */
static void test_chi_square_under_robust_kernels_is_twice_the_error(void)
{
    chain              c;
    const ct_inference inference = from_file();
    double            *x, *y;
    make_chain(&c, CT_SE2, 30, 7);
    const ct_evaluation plain = assess(&c, &inference, 0, &y);
    CHECK_OK(ct_noise_set_robust(c.noise, 0, (ct_robust){CT_ROBUST_CAUCHY, 1, 0}, &c.err), c.err);
    const ct_evaluation robust = assess(&c, &inference, 0, &x);
    CHECK_NEAR(robust.consistency.chi_squared, 2 * ct_graph_error(c.seq->graph, c.noise, x), 1e-11);
    CHECK(robust.consistency.chi_squared < plain.consistency.chi_squared &&
          robust.consistency.degrees == plain.consistency.degrees);
    CHECK(isnan(robust.consistency.nees) && robust.consistency.nees_degrees == 0);
    free(x);
    free(y);
    free_chain(&c);
}

/* ---- accuracy -------------------------------------------------------------------------------------- */

static void test_accuracy_by_hand(void)
{
    chain c;
    make_chain(&c, CT_SE2, 3, 1);
    ct_graph *graph = c.seq->graph;
    double    x[12];
    memcpy(x, c.seq->truth, sizeof x);
    const ct_accuracy zero = ct_accuracy_of(c.seq, x);
    CHECK(zero.poses == 3 && zero.translation == 0 && zero.ape_translation == 0 && zero.rotation < 1e-15);
    x[0] += 3, x[1] -= 4;                                             /* the first is 5 m off */
    ct_kind_retract(CT_SE2, x + 4, (const double[]){0, 0, 0.3}, x + 4); /* the second is turned */
    ct_kind_retract(CT_SE2, x + 8, (const double[]){0, 0, 6}, x + 8);   /* nearly once around   */
    const double turn = 2 * acos(-1) - 6;
    ct_accuracy  a = ct_accuracy_of(c.seq, x);
    CHECK_NEAR(a.translation, sqrt(25 / 6.), 1e-14);
    CHECK_NEAR(a.ape_translation, sqrt(25 / 3.), 1e-14);
    CHECK_NEAR(a.rotation, sqrt((0.09 + turn * turn) / 3), 1e-14);
    c.seq->known[0] = 2; /* y alone */
    c.seq->known[1] = 0;
    a = ct_accuracy_of(c.seq, x);
    CHECK(a.poses == 2);
    CHECK_NEAR(a.translation, sqrt(16 / 3.), 1e-14);
    CHECK(a.ape_translation == 0);
    CHECK_NEAR(a.rotation, turn, 1e-14);
    ct_graph_fix(graph, 0, 1); /* what is held is part of the trajectory */
    CHECK_NEAR(ct_accuracy_of(c.seq, x).translation, sqrt(16 / 3.), 1e-14);
    x[1] = NAN;
    a = ct_accuracy_of(c.seq, x);
    CHECK(isnan(a.translation) && a.ape_translation == 0);
    x[1] = INFINITY;
    CHECK(isnan(ct_accuracy_of(c.seq, x).translation));
    memset(c.seq->known, 0, 3);
    a = ct_accuracy_of(c.seq, x);
    CHECK(a.poses == 0 && isnan(a.translation) && isnan(a.rotation) && isnan(a.ape_translation));
    const ct_sequence without = {.graph = graph};
    CHECK(ct_accuracy_of(&without, x).poses == 0);
    free_chain(&c);
}

/* In space the rotation's error is one angle, not three; points do not count. */
static void test_accuracy_in_space(void)
{
    chain  c;
    double x[7 * 4], w[6] = {0.3, -0.2, 0.6, 0, 0, 0};
    make_chain(&c, CT_SE3, 4, 1);
    memcpy(x, c.seq->truth, sizeof x);
    for (int v = 0; v < 4; v++) {
        ct_kind_retract(CT_SE3, x + 7 * v, w, x + 7 * v);
        x[7 * v + 2] += 0.5;
    }
    const ct_accuracy a = ct_accuracy_of(c.seq, x);
    CHECK_NEAR(a.translation, 0.5 / sqrt(3), 1e-13);
    CHECK_NEAR(a.ape_translation, 0.5, 1e-13);
    CHECK_NEAR(a.rotation, 0.7, 1e-13);
    free_chain(&c);
    make_chain(&c, CT_R2, 4, 1);
    CHECK(ct_accuracy_of(c.seq, c.seq->truth).poses == 0);
    free_chain(&c);
}

/* ---- starts ---------------------------------------------------------------------------------------- */

static void test_starts_are_what_they_say(void)
{
    chain  c;
    double x[28], *truth, *initial;
    make_chain(&c, CT_SE3, 4, 3);
    truth = c.seq->truth;
    initial = ct_graph_initial(c.seq->graph);
    CHECK_OK(ct_start_values(c.seq, CT_START_INITIAL, x, &c.err), c.err);
    CHECK(!memcmp(x, initial, sizeof x));
    c.seq->known[1] = 0x39; /* position, and a part of the rotation */
    c.seq->known[2] = 0x17; /* y and rotation                       */
    ct_graph_fix(c.seq->graph, 3, 1);
    CHECK_OK(ct_start_values(c.seq, CT_START_TRUTH, x, &c.err), c.err);
    CHECK(!memcmp(x, truth, 7 * sizeof *x));
    for (int i = 0; i < 7; i++) {
        CHECK(x[7 + i] == (i < 3 ? truth : initial)[7 + i]);
        CHECK(x[14 + i] == (i == 1 || i >= 3 ? truth : initial)[14 + i]);
        CHECK(x[21 + i] == initial[21 + i]);
    }
    double reached[28];
    CHECK_OK(ct_start_values(c.seq, CT_START_MEASURED, x, &c.err), c.err);
    CHECK_OK(ct_sequence_initialise(c.seq, 1, reached, &c.err), c.err);
    CHECK(!memcmp(x, reached, sizeof x));
    const ct_sequence without = {.graph = c.seq->graph};
    CHECK_OK(ct_start_values(&without, CT_START_TRUTH, x, &c.err), c.err);
    CHECK(!memcmp(x, initial, sizeof x));
    free_chain(&c);
    for (int k = 0; k < CT_KIND_COUNT; k++) {
        make_chain(&c, (ct_kind)k, 3, 4);
        CHECK_OK(ct_start_values(c.seq, CT_START_TRUTH, x, &c.err), c.err);
        CHECK(!memcmp(x, c.seq->truth, (size_t)ct_graph_size(c.seq->graph) * sizeof *x));
        free_chain(&c);
    }
}

/* ---- what goes wrong -------------------------------------------------------------------------------- */

/* A pose that nothing measures. */
static void test_an_undetermined_sequence_is_assessed_all_the_same(void)
{
    chain              c;
    const ct_inference inference = from_file();
    make_chain(&c, CT_SE2, 5, 1);
    CHECK_OK(ct_graph_add_variable(c.seq->graph, "lost", CT_SE2, NULL, NULL, &c.err), c.err);
    c.seq->truth = realloc(c.seq->truth, 24 * sizeof(double));
    ct_kind_identity(CT_SE2, c.seq->truth + 20);
    c.seq->known = realloc(c.seq->known, 6);
    c.seq->known[5] = 7;
    const ct_evaluation found = assess(&c, &inference, 1, NULL);
    CHECK(found.solve.stop == CT_STOP_RANK && found.accuracy.poses == 6 && isfinite(found.loss));
    CHECK(isnan(found.consistency.nees) && found.consistency.nees_degrees == 0);
    free_chain(&c);
}

static void test_what_is_no_number_is_said_to_be_none(void)
{
    chain              c;
    const ct_inference inference = from_file();
    make_chain(&c, CT_SE2, 5, 1);
    ct_graph_initial(c.seq->graph)[4] = NAN;
    ct_evaluation found = assess(&c, &inference, 1, NULL);
    CHECK(found.solve.stop == CT_STOP_NOT_FINITE && isnan(found.accuracy.translation) && isnan(found.loss));
    CHECK(isnan(found.consistency.chi_squared) && isnan(found.consistency.nees));
    ct_graph_initial(c.seq->graph)[4] = INFINITY;
    found = assess(&c, &inference, 1, NULL);
    CHECK(found.solve.stop == CT_STOP_NOT_FINITE && isnan(found.accuracy.translation) && isnan(found.loss));
    free_chain(&c);
}

static void test_a_table_that_does_not_fit_is_refused(void)
{
    chain              c;
    const ct_inference inference = from_file();
    const ct_loss      loss = ct_loss_defaults();
    ct_noise          *empty = NULL;
    ct_evaluation      out[1];
    make_chain(&c, CT_SE2, 5, 1);
    CHECK_OK(ct_noise_new(&empty, &c.err), c.err);
    c.seq->name = calloc(8, 1);
    strcpy(c.seq->name, "run7");
    CHECK_REFUSED(evaluate_all(1, &c.seq, empty, &inference, &loss, 0, 2, NULL, NULL, out, &c.err), c.err, "run7: ");
    ct_noise_free(empty);
    free_chain(&c);
}

/* ---- many at a time ---------------------------------------------------------------------------------- */

#define MANY 12

/* Chains of one table: their noise is the same. */
static void make_many(chain c[MANY], ct_sequence *seq[MANY])
{
    for (int i = 0; i < MANY; i++) {
        make_chain(&c[i], CT_SE2, 20 + 7 * i, 100 + (uint64_t)i);
        seq[i] = c[i].seq;
    }
}

static void free_many(chain c[MANY])
{
    for (int i = 0; i < MANY; i++) free_chain(&c[i]);
}

typedef struct {
    int32_t done, most; /* so far; say stop when so many are */
    int     iterations, backwards;
} witness;

static int watch(void *user, int32_t done, int32_t count)
{
    witness *w = user;
    CHECK(count == MANY);
    w->backwards += done < w->done;
    w->done = done;
    return done >= w->most;
}

static int count_iterations(void *user, const ct_progress *progress)
{
    (void)progress;
    ((witness *)user)->iterations++;
    return 0;
}

static void test_the_number_of_jobs_changes_no_bit(void)
{
    chain         c[MANY];
    ct_sequence  *seq[MANY];
    ct_evaluation out[MANY];
    ct_inference  inference = from_file();
    const ct_loss loss = {CT_DIFFERENCE_LEFT, 1, 2};
    make_many(c, seq);
    ct_evaluation alone[MANY];
    CHECK_OK(evaluate_all(MANY, seq, c[0].noise, &inference, &loss, 1, 1, NULL, NULL, alone, &c[0].err), c[0].err);
    for (int jobs = 1; jobs <= 4; jobs++) {
        witness w = {.most = MANY + 1}, mine = {0};
        inference.solve.progress = jobs == 3 ? count_iterations : NULL;
        inference.solve.user = &mine;
        CHECK_OK(evaluate_all(MANY, seq, c[0].noise, &inference, &loss, 1, jobs, watch, &w, out, &c[0].err),
                 c[0].err);
        CHECK(w.done == MANY && !w.backwards && (mine.iterations > MANY) == (jobs == 3));
        for (int i = 0; i < MANY; i++) {
            CHECK(out[i].loss == alone[i].loss && out[i].solve.iterations == alone[i].solve.iterations &&
                  out[i].solve.stop == alone[i].solve.stop);
            CHECK(!memcmp(&out[i].accuracy, &alone[i].accuracy, sizeof out[i].accuracy));
            CHECK(out[i].consistency.nees == alone[i].consistency.nees &&
                  out[i].consistency.chi_squared == alone[i].consistency.chi_squared);
        }
    }
    free_many(c);
}

static void test_told_to_stop_it_keeps_what_is_done(void)
{
    chain         c[MANY];
    ct_sequence  *seq[MANY];
    ct_evaluation out[MANY];
    ct_inference  inference = from_file();
    const ct_loss loss = ct_loss_defaults();
    make_many(c, seq);
    for (int jobs = 1; jobs <= 2; jobs++) {
        witness w = {.most = 3};
        int     done = 0, unbegun = 0;
        CHECK_OK(evaluate_all(MANY, seq, c[0].noise, &inference, &loss, 0, jobs, watch, &w, out, &c[0].err),
                 c[0].err);
        for (int i = 0; i < MANY; i++) {
            done += ct_stop_converged(out[i].solve.stop);
            unbegun += out[i].solve.stop == CT_STOP_NONE && isnan(out[i].loss);
        }
        CHECK(done >= 3 && done < 3 + jobs && unbegun >= MANY - 3 - jobs);
    }
    witness at_once = {.most = 0};
    CHECK_OK(evaluate_all(MANY, seq, c[0].noise, &inference, &loss, 1, 1, watch, &at_once, out, &c[0].err),
             c[0].err);
    CHECK(out[0].solve.stop == CT_STOP_CANCELLED && isnan(out[0].consistency.nees) &&
          out[1].solve.stop == CT_STOP_NONE);
    CHECK_OK(evaluate_all(0, seq, c[0].noise, &inference, &loss, 0, 4, watch, NULL, NULL, &c[0].err), c[0].err);
    free_many(c);
}

static int stop_soon(void *user, const ct_smoother *smoother, int32_t step, int32_t steps,
                     const ct_smoother_stats *stats)
{
    CHECK(step < steps && ct_smoother_has(smoother, step) && stats->eliminated > 0);
    return ++*(int *)user == 25;
}

static void test_step_by_step_ends_near_the_minimum(void)
{
    chain         c[MANY];
    ct_sequence  *seq[MANY];
    ct_evaluation batch[MANY], out[MANY], again[MANY];
    ct_inference  inference = from_file();
    const ct_loss loss = ct_loss_defaults();
    make_many(c, seq);
    CHECK_OK(evaluate_all(MANY, seq, c[0].noise, &inference, &loss, 1, 1, NULL, NULL, batch, &c[0].err), c[0].err);
    inference.incremental = 1;
    for (int entry = 0; entry < CT_ENTRY_COUNT; entry++) {
        witness w = {.most = MANY + 1};
        inference.replay.entry = (ct_entry)entry;
        CHECK_OK(evaluate_all(MANY, seq, c[0].noise, &inference, &loss, 1, 1, NULL, NULL, out, &c[0].err), c[0].err);
        CHECK_OK(evaluate_all(MANY, seq, c[0].noise, &inference, &loss, 1, 3, watch, &w, again, &c[0].err),
                 c[0].err);
        for (int i = 0; i < MANY; i++) {
            CHECK(out[i].solve.stop == CT_STOP_STEP && out[i].solve.iterations >= ct_graph_variables(seq[i]->graph));
            CHECK_NEAR(out[i].solve.final_error, batch[i].solve.final_error, 0.02 * batch[i].solve.final_error);
            CHECK(out[i].solve.final_error >= batch[i].solve.final_error * (1 - 1e-9));
            CHECK_NEAR(out[i].accuracy.translation, batch[i].accuracy.translation,
                       0.05 * batch[i].accuracy.translation);
            CHECK(out[i].loss == again[i].loss && out[i].consistency.nees == again[i].consistency.nees);
        }
    }
    int steps = 0;
    inference.replay.progress = stop_soon;
    inference.replay.user = &steps;
    CHECK_OK(evaluate_all(MANY, seq, c[0].noise, &inference, &loss, 0, 1, NULL, NULL, out, &c[0].err), c[0].err);
    CHECK(steps == 25 && out[MANY - 1].solve.stop == CT_STOP_NONE);
    free_many(c);
}

int main(void)
{
    RUN(test_the_right_noise_is_called_consistent);
    RUN(test_what_is_known_of_a_pose_is_judged_alone);
    RUN(test_nees_adds_the_variance_of_the_truth_by_hand);
    RUN(test_a_noisy_truth_is_consistent_with_its_sigma);
    RUN(test_chi_square_under_robust_kernels_is_twice_the_error);
    RUN(test_accuracy_by_hand);
    RUN(test_accuracy_in_space);
    RUN(test_starts_are_what_they_say);
    RUN(test_an_undetermined_sequence_is_assessed_all_the_same);
    RUN(test_what_is_no_number_is_said_to_be_none);
    RUN(test_a_table_that_does_not_fit_is_refused);
    RUN(test_the_number_of_jobs_changes_no_bit);
    RUN(test_told_to_stop_it_keeps_what_is_done);
    RUN(test_step_by_step_ends_near_the_minimum);
    return ct_test_end();
}
