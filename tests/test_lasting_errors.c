/* test_lasting_errors.c: autocorrelation of residuals against direct sums; learning without truth where errors of
 * measurements last. */
#include "learn_test.h"

#include <covtune/likelihood.h>
#include <covtune/push.h>

static ct_likelihood *open_evidence(lesson *l)
{
    ct_likelihood        *out = NULL;
    ct_likelihood_options options = ct_likelihood_defaults();
    options.truth = 0;
    CHECK_OK(ct_likelihood_new(l->runs, (const ct_sequence *const *)l->seq, l->noise, l->theta, &options, &out,
                               &l->err),
             l->err);
    return out;
}

static void evaluate(lesson *l, ct_likelihood *likelihood)
{
    double              p[16];
    ct_likelihood_value value = {0};
    ct_theta_get(l->theta, l->noise, p);
    CHECK_OK(ct_likelihood_evaluate(likelihood, p, NULL, &value, &l->err), l->err);
    CHECK(value.failed == 0);
}

/* Errors of the absolute measurements are replaced by e_k = phi e_(k-1) + sqrt(1 - phi^2) sigma w_k with
 * phi = exp(-1 / tau): white with tau 0. */
static void make_errors_last(lesson *l, double tau, uint64_t seed)
{
    const double phi = tau > 0 ? exp(-1 / tau) : 0;
    ct_rng       rng = ct_rng_seed(seed);
    for (int i = 0; i < l->runs; i++) {
        ct_sequence *seq = l->seq[i];
        ct_graph    *graph = NULL;
        double       e[3] = {0};
        int          begun = 0;
        CHECK_OK(ct_graph_new(&graph, &l->err), l->err);
        for (int32_t v = 0; v < ct_graph_variables(seq->graph); v++)
            CHECK_OK(ct_graph_add_variable(graph, NULL, CT_SE2,
                                           ct_graph_initial_const(seq->graph) + ct_graph_offset(seq->graph, v), NULL,
                                           &l->err),
                     l->err);
        for (int32_t f = 0; f < ct_graph_factors(seq->graph); f++) {
            const ct_factor       k = ct_graph_factor(seq->graph, f);
            const ct_noise_model *model = ct_noise_get(l->noise, k.noise);
            double                z[4];
            memcpy(z, k.z, sizeof z);
            if (model->name[0] == 'g') {
                for (int r = 0; r < 3; r++)
                    e[r] = (begun ? phi : 0) * e[r] +
                           (begun ? sqrt(1 - phi * phi) : 1) * sqrt(ct_noise_covariance(model, r, r)) *
                               ct_rng_normal(&rng);
                begun = 1;
                ct_kind_retract(CT_SE2, seq->truth + ct_graph_offset(seq->graph, k.var[0]), e, z);
            }
            CHECK_OK(ct_graph_add_factor(graph, k.ops, k.var, z, NULL, k.noise, &l->err), l->err);
        }
        ct_graph_free(seq->graph);
        seq->graph = graph;
    }
}

static int32_t model_of(const lesson *l, char initial)
{
    for (int32_t g = 0; g < ct_noise_count(l->noise); g++)
        if (ct_noise_get(l->noise, g)->name[0] == initial) return g;
    return -1;
}

/* ---- Autocorrelation -------------------------------------------------------------------------- */

/* u <- whitened, clipped residuals of the absolute measurements, in their order. */
static int residuals(lesson *l, int i, double (*u)[3])
{
    const ct_graph  *graph = l->seq[i]->graph;
    ct_solve_options options = ct_likelihood_defaults().inner;
    ct_solve_result  result;
    ct_solver       *solver = NULL;
    int              n = 0;
    double          *x = malloc((size_t)ct_graph_size(graph) * sizeof *x);
    CHECK_OK(ct_start_values(l->seq[i], CT_START_MEASURED, x, &l->err), l->err);
    CHECK_OK(ct_solver_new(graph, NULL, &solver, &l->err), l->err);
    CHECK_OK(ct_solver_run(solver, l->noise, x, &options, &result, &l->err), l->err);
    for (int32_t f = 0; f < ct_graph_factors(graph); f++) {
        const ct_factor       k = ct_graph_factor(graph, f);
        const ct_noise_model *model = ct_noise_get(l->noise, k.noise);
        const double         *arg = x + ct_graph_offset(graph, k.var[0]);
        if (model->name[0] != 'g') continue;
        ct_factor_eval(k.ops, k.z, NULL, &arg, u[n], NULL);
        for (int r = 0; r < 3; r++)
            u[n][r] = fmax(-3, fmin(3, u[n][r] / sqrt(k.multiplier * ct_noise_covariance(model, r, r))));
        n++;
    }
    ct_solver_free(solver);
    free(x);
    return n;
}

/* Two runs of 60 poses, a measurement at each. Times are 0.5 s apart. Bin k has one pair for each measurement: the
 * first at 2^(k - 1/2) poses or more. */
static void test_the_autocorrelation_is_that_of_direct_sums(void)
{
    lesson l = lesson_of("D1", CT_SE2, 2, 60, 3);
    double u[2][80][3], worst = 0;
    make_errors_last(&l, 5, 1);
    for (int i = 0; i < 2; i++) {
        const int32_t n = ct_graph_variables(l.seq[i]->graph);
        for (int32_t f = 0, at = 0; f < ct_graph_factors(l.seq[i]->graph); f++) /* multipliers count */
            if (ct_graph_factor(l.seq[i]->graph, f).ops->arity == 1 && ++at % 3 == 0)
                CHECK_OK(ct_graph_set_multiplier(l.seq[i]->graph, f, 2, &l.err), l.err);
        l.seq[i]->stamp = malloc((size_t)n * sizeof(double));
        for (int32_t v = 0; v < n; v++) l.seq[i]->stamp[v] = 1e9 + 0.5 * v;
    }
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-6, 1e6);
    ct_likelihood    *likelihood = open_evidence(&l);
    ct_lasting_errors found;
    evaluate(&l, likelihood);
    CHECK_OK(ct_likelihood_lasting_errors(likelihood, model_of(&l, 'g'), &found, &l.err), l.err);
    const int n[2] = {residuals(&l, 0, u[0]), residuals(&l, 1, u[1])};
    CHECK(found.seconds == 1 && n[0] > 50 && n[1] > 50);
    for (int b = 0; b < 6; b++) {
        const int steps = b == 0 ? 1 : (int)ceil(pow(2, b - 0.5));
        int64_t   pairs = 0;
        for (int r = 0; r < 3; r++) {
            double ab = 0, aa = 0, bb = 0;
            pairs = 0;
            for (int i = 0; i < 2; i++)
                for (int k = 0; k + steps < n[i]; k++, pairs++) {
                    ab += u[i][k][r] * u[i][k + steps][r];
                    aa += u[i][k][r] * u[i][k][r];
                    bb += u[i][k + steps][r] * u[i][k + steps][r];
                }
            worst = fmax(worst, fabs(found.rho_of[b][r] - ab / sqrt(aa * bb)));
        }
        CHECK(found.pairs[b] == pairs);
        CHECK_NEAR(found.lag_of[b], 0.5 * steps, 1e-6);
    }
    printf("  rho of neighbours %.3f, lag %.2f s; largest difference from direct sums %.1e\n", found.rho, found.lag,
           worst);
    CHECK(worst < 1e-6); /* both are minima, to the tolerance of a solve */
    CHECK(found.rho == found.rho_of[0][found.row] || found.rho == found.rho_of[1][found.row]);
    CHECK(ct_likelihood_lasting_errors(likelihood, model_of(&l, 'f'), &found, &l.err) == CT_E_ARGUMENT); /* frozen */
    CHECK(ct_likelihood_lasting_errors(likelihood, model_of(&l, 'o'), &found, &l.err) == CT_OK);
    CHECK(found.row == -1 && isnan(found.rho) && found.lag == 0); /* odometry has no target */
    ct_likelihood_free(likelihood);
    lesson_free(&l);
}

/* ---- Thinning --------------------------------------------------------------------------------- */

static void test_thinned_measurements_are_apart_and_come_back(void)
{
    lesson  l = lesson_of("D1", CT_SE2, 2, 100, 5);
    int64_t all;
    double  lag[8] = {0};
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-6, 1e6);
    ct_likelihood *likelihood = open_evidence(&l);
    const int32_t  gps = model_of(&l, 'g'), odom = model_of(&l, 'o');
    evaluate(&l, likelihood);
    const int64_t steps = ct_likelihood_factors(likelihood, odom, NULL);
    CHECK(ct_likelihood_factors(likelihood, gps, &all) == all && all > 190);
    lag[gps] = 10;
    lag[odom] = 10; /* has no target: stays */
    CHECK_OK(ct_likelihood_thin(likelihood, lag, &l.err), l.err);
    evaluate(&l, likelihood);
    printf("  %d of %d measurements take part\n", (int)ct_likelihood_factors(likelihood, gps, NULL), (int)all);
    CHECK(llabs(ct_likelihood_factors(likelihood, gps, NULL) - all / 10) <= 2);
    CHECK(ct_likelihood_factors(likelihood, odom, NULL) == steps);
    lag[gps] = 0;
    CHECK_OK(ct_likelihood_thin(likelihood, lag, &l.err), l.err);
    CHECK(ct_likelihood_factors(likelihood, gps, NULL) == all);
    ct_likelihood_free(likelihood);
    lesson_free(&l);
}

/* A landmark seen by ranges alone needs two of them. */
static void test_measurements_that_a_variable_needs_stay(void)
{
    lesson    l = {.runs = 1};
    ct_graph *graph;
    ct_rng    rng = ct_rng_seed(1);
    int32_t   x[40], mark, odom, range, first;
    double    lag[3] = {0};
    CHECK_OK(ct_noise_new(&l.noise, &l.err), l.err);
    CHECK_OK(ct_noise_add_isotropic(l.noise, "odom", 3, 1e-4, &odom, &l.err), l.err);
    CHECK_OK(ct_noise_add_isotropic(l.noise, "range", 1, 1e-2, &range, &l.err), l.err);
    CHECK_OK(ct_noise_add_isotropic(l.noise, "first_pose", 3, 1e-4, &first, &l.err), l.err);
    CHECK_OK(ct_graph_new(&graph, &l.err), l.err);
    for (int k = 0; k < 40; k++) {
        const double a = 0.1 * k;
        CHECK_OK(ct_graph_add_se2(graph, NULL, ct_se2_make(5 * sin(a), 5 - 5 * cos(a), a), &x[k], &l.err), l.err);
    }
    CHECK_OK(ct_graph_add_point2(graph, "mark", (const double[2]){3, 2}, &mark, &l.err), l.err);
    CHECK_OK(ct_graph_add_prior_se2(graph, x[0], ct_se2_identity(), first, &l.err), l.err);
    for (int k = 0; k < 40; k++) {
        const ct_se2 at = ct_graph_se2(graph, ct_graph_initial_const(graph), x[k]);
        if (k) CHECK_OK(ct_graph_add_between_se2(graph, x[k - 1], x[k],
                                                 ct_se2_make(0.5 + 0.01 * ct_rng_normal(&rng), 0.025, 0.1), odom,
                                                 &l.err),
                        l.err);
        CHECK_OK(ct_graph_add_range(graph, x[k], mark, hypot(3 - at.x, 2 - at.y) + 0.1 * ct_rng_normal(&rng), range,
                                    &l.err),
                 l.err);
    }
    CHECK_OK(ct_sequence_new(graph, &l.seq[0], &l.err), l.err);
    learn_all(&l, CT_NOISE_ISOTROPIC, 1e-8, 1e8);
    ct_likelihood *likelihood = open_evidence(&l);
    evaluate(&l, likelihood);
    lag[range] = 1000; /* one range would be left */
    CHECK_OK(ct_likelihood_thin(likelihood, lag, &l.err), l.err);
    evaluate(&l, likelihood);
    printf("  %d ranges of 40 stay\n", (int)ct_likelihood_factors(likelihood, range, NULL));
    CHECK(ct_likelihood_factors(likelihood, range, NULL) >= 2);
    lag[range] = 15; /* three are left: enough */
    CHECK_OK(ct_likelihood_thin(likelihood, lag, &l.err), l.err);
    evaluate(&l, likelihood);
    CHECK(ct_likelihood_factors(likelihood, range, NULL) == 3);
    ct_likelihood_free(likelihood);
    lesson_free(&l);
}

/* A contact is a constraint of two bodies, not a measurement of a target: its residuals last, and it stays. */
static void test_contacts_have_no_target(void)
{
    lesson          l = {.runs = 1};
    ct_push_options options = ct_push_defaults(CT_SHAPE_ELLIPSE);
    double          lag[8] = {0};
    int64_t         all;
    CHECK_OK(ct_noise_new(&l.noise, &l.err), l.err);
    CHECK_OK(ct_simulate_push(&options, 0, 1, NULL, NULL, l.noise, &l.seq[0], &l.err), l.err);
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-14, 1e6);
    CHECK(ct_noise_count(l.noise) <= 8);
    ct_likelihood *likelihood = open_evidence(&l);
    const int32_t geo = ct_noise_find(l.noise, "geo");
    lag[geo] = 3;
    CHECK_OK(ct_likelihood_thin(likelihood, lag, &l.err), l.err);
    CHECK(ct_likelihood_factors(likelihood, geo, &all) == all && all > 100);
    ct_likelihood_free(likelihood);
    lesson_free(&l);
}

/* ---- Learning --------------------------------------------------------------------------------- */

static void test_white_errors_are_not_thinned(void)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        lesson           l = lesson_of("D1", CT_SE2, 4, 200, seed);
        ct_learn_options options = ct_learn_defaults();
        ct_outer_options outer = ct_outer_defaults();
        start_far(&l);
        learn_all(&l, CT_NOISE_DIAGONAL, 1e-6, 1e6);
        outer.no_truth = 1;
        options.method = CT_LEARN_LIKELIHOOD;
        open_outer(&l, &outer);
        ct_learn_result r = learn(&l, &options);
        CHECK(ct_findings_find(&r.findings, CT_FINDING_WITHOUT_TRUTH) >= 0);
        CHECK(ct_findings_find(&r.findings, CT_FINDING_ERRORS_LAST) < 0);
        CHECK(ct_findings_find(&r.findings, CT_FINDING_MEASUREMENTS_THINNED) < 0);
        CHECK(ct_findings_find(&r.findings, CT_FINDING_POSES_THINNED) < 0);
        ct_learn_result_free(&r);
        lesson_free(&l);
    }
}

/* The largest ratio of learned to latent sigmas of odometry, or its inverse. */
static double odometry_is_off(const ct_theta *theta, int32_t odom, const double *p, const double latent[3])
{
    double off = 1;
    for (int r = 0; r < 3; r++) off = fmax(off, exp(0.5 * fabs(p[ct_theta_find(theta, odom, r)] - log(latent[r]))));
    return off;
}

#define MARKS 6

/* Runs on circles among landmarks at known points, seen from every second pose; errors of each last for tau poses. */
static lesson sightings_lesson(int runs, int poses, double tau, uint64_t seed)
{
    static const double SIGMA[3] = {0.005, 0.005, 0.002}, SIGHT[2] = {0.2, 0.05};
    lesson              l = {.runs = runs};
    ct_rng              rng = ct_rng_seed(seed);
    int32_t             odom, sight, first, a = 0, b;
    const double        phi = tau > 0 ? exp(-1 / tau) : 0;
    CHECK_OK(ct_noise_new(&l.noise, &l.err), l.err);
    CHECK_OK(ct_noise_add_diagonal(l.noise, "odom", 3, (const double[3]){2.5e-5, 2.5e-5, 4e-6}, &odom, &l.err), l.err);
    CHECK_OK(ct_noise_add_diagonal(l.noise, "gaze", 2, (const double[2]){0.04, 0.0025}, &sight, &l.err), l.err);
    CHECK_OK(ct_noise_add_isotropic(l.noise, "first_pose", 3, 1e-6, &first, &l.err), l.err);
    for (int i = 0; i < runs; i++) {
        const ct_se2 step = ct_se2_make(0.1, 0, 0.1 / (3 + i));
        ct_graph    *graph;
        ct_se2       at = ct_se2_make(0, -3 - i, 0);
        double       e[MARKS][2];
        CHECK_OK(ct_graph_new(&graph, &l.err), l.err);
        for (int k = 0; k < poses; k++, a = b) {
            double noise[3];
            if (k) at = ct_se2_compose(at, step, NULL, NULL);
            CHECK_OK(ct_graph_add_se2(graph, NULL, at, &b, &l.err), l.err);
            for (int r = 0; r < 3; r++) noise[r] = SIGMA[r] * ct_rng_normal(&rng);
            const ct_se2 z = ct_se2_compose(step, ct_se2_exp(noise), NULL, NULL);
            if (k) CHECK_OK(ct_graph_add_between_se2(graph, a, b, z, odom, &l.err), l.err);
            else CHECK_OK(ct_graph_add_prior_se2(graph, b, at, first, &l.err), l.err);
            for (int m = 0; m < MARKS; m++) {
                const double p[2] = {10 * cos(m), 10 * sin(m)}, dx = p[0] - at.x, dy = p[1] - at.y;
                for (int r = 0; r < 2; r++)
                    e[m][r] = (k ? phi * e[m][r] : 0) + (k ? sqrt(1 - phi * phi) : 1) * SIGHT[r] * ct_rng_normal(&rng);
                const double angle = atan2(dy, dx) - ct_se2_yaw(at) + e[m][1];
                const double seen[9] = {hypot(dx, dy) + e[m][0], cos(angle), sin(angle), p[0], p[1], 0, 0, 1, 0};
                if (k % 2 == 0)
                    CHECK_OK(ct_graph_add_factor(graph, &ct_range_bearing_se2_point, &b, seen, NULL, sight, &l.err),
                             l.err);
            }
        }
        CHECK_OK(ct_sequence_new(graph, &l.seq[i], &l.err), l.err);
    }
    return l;
}

/* The evidence takes errors of sightings that last for motion; thinned, it does not. */
static void learn_lasting(double tau, int stamped, ct_robust robust)
{
    lesson             l = sightings_lesson(6, 600, tau, 11);
    ct_learn_options   options = ct_learn_defaults();
    ct_outer_options   outer = ct_outer_defaults();
    ct_maximise_result result;
    double             latent[3], p[16];
    const int32_t      odom = model_of(&l, 'o'), gps = model_of(&l, 'g');
    for (int r = 0; r < 3; r++) latent[r] = ct_noise_covariance(ct_noise_get(l.noise, odom), r, r);
    CHECK_OK(ct_noise_set_robust(l.noise, gps, robust, &l.err), l.err);
    for (int i = 0; stamped && i < l.runs; i++) {
        const int32_t n = ct_graph_variables(l.seq[i]->graph);
        l.seq[i]->stamp = malloc((size_t)n * sizeof(double));
        for (int32_t v = 0; v < n; v++) l.seq[i]->stamp[v] = 100 + 0.1 * v;
    }
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-10, 1e6);
    ct_likelihood *likelihood = open_evidence(&l);
    ct_theta_get(l.theta, l.noise, p);
    CHECK_OK(ct_likelihood_maximise(likelihood, NULL, NULL, p, &result, &l.err), l.err);
    const double before = odometry_is_off(l.theta, odom, p, latent);
    ct_maximise_result_free(&result);
    ct_likelihood_free(likelihood);

    outer.no_truth = 1;
    options.method = CT_LEARN_LIKELIHOOD;
    open_outer(&l, &outer);
    ct_learn_result r = learn(&l, &options);
    const double    after = odometry_is_off(l.theta, odom, r.p, latent);
    const int32_t   at =
        ct_findings_find(&r.findings, stamped ? CT_FINDING_MEASUREMENTS_THINNED : CT_FINDING_POSES_THINNED);
    CHECK(at >= 0);
    const ct_finding *finding = &r.findings.item[at];
    printf("  errors last %g poses: odometry off by %.2f, thinned %.2f; rho %.2f, lag %.3g %s, sigmas x %.3g\n",
           tau, before, after, finding->value[0], finding->value[1], stamped ? "s" : "poses", finding->value[2]);
    CHECK(before > 2);
    CHECK(after < 1.3);
    CHECK(finding->subjects == 1 && finding->subject[0].index == gps);
    const double lag = finding->value[1] * (stamped ? 10 : 1), factor = finding->value[2];
    CHECK(lag > 0.7 * tau && lag < 3 * tau); /* exp(-lag / tau) = 0.2 at 1.6 tau */
    CHECK_NEAR(factor * factor, ceil(lag / 2), 0.05 * lag); /* every second pose has one */
    CHECK_NEAR(ct_noise_get(l.noise, gps)->robust.width, robust.width / factor, 1e-9);

    const double first = r.p[0]; /* nothing stays thinned: the same again */
    ct_learn_result_free(&r);
    CHECK_OK(ct_noise_set_robust(l.noise, gps, robust, &l.err), l.err);
    r = learn(&l, &options);
    CHECK_NEAR(r.p[0], first, 0.02);
    ct_learn_result_free(&r);
    lesson_free(&l);
}

static void test_lasting_errors_are_not_taken_for_motion(void)
{
    learn_lasting(10, 0, (ct_robust){CT_ROBUST_NONE, 0, 0});
    learn_lasting(20, 1, (ct_robust){CT_ROBUST_HUBER, 2, 0});
}

/* With truth of positions, the likelihood is the reference; nothing is thinned. */
static void test_with_truth_lasting_errors_are_named(void)
{
    for (int tau = 0; tau <= 10; tau += 10) {
        lesson           l = lesson_of("D1", CT_SE2, 4, 200, 7);
        ct_learn_options options = ct_learn_defaults();
        make_errors_last(&l, tau, 2);
        for (int i = 0; i < l.runs; i++)
            for (int32_t v = 0; v < ct_graph_variables(l.seq[i]->graph); v++) l.seq[i]->known[v] = 3;
        learn_all(&l, CT_NOISE_DIAGONAL, 1e-6, 1e6);
        options.method = CT_LEARN_LIKELIHOOD;
        options.scale = CT_SCALE_NONE;
        open_outer(&l, NULL);
        ct_learn_result r = learn(&l, &options);
        const int32_t   at = ct_findings_find(&r.findings, CT_FINDING_ERRORS_LAST);
        CHECK((at >= 0) == (tau > 0));
        if (at >= 0) CHECK_NEAR(r.findings.item[at].value[0], exp(-0.1), 0.05);
        CHECK(ct_findings_find(&r.findings, CT_FINDING_POSES_THINNED) < 0);
        ct_learn_result_free(&r);
        lesson_free(&l);
    }
}

int main(void)
{
    RUN(test_the_autocorrelation_is_that_of_direct_sums);
    RUN(test_thinned_measurements_are_apart_and_come_back);
    RUN(test_measurements_that_a_variable_needs_stay);
    RUN(test_contacts_have_no_target);
    RUN(test_white_errors_are_not_thinned);
    RUN(test_lasting_errors_are_not_taken_for_motion);
    RUN(test_with_truth_lasting_errors_are_named);
    return ct_test_end();
}
