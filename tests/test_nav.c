/* test_nav.c: navigation runs. */
#include "ct_test.h"

#include <covtune/data.h>
#include <covtune/simulate.h>

static const ct_kind     KIND[2] = {CT_SE2, CT_SE3};
static const char *const DATASET[4] = {"D1", "D2", "D3", "D4"};

static ct_nav_options preset(const char *name, ct_kind kind)
{
    ct_nav_options o = {0};
    CHECK(ct_nav_preset(name, kind, &o));
    return o;
}

static ct_sequence *make_with(const ct_nav_options *o, uint64_t run, ct_noise *noise)
{
    ct_sequence *seq = NULL;
    ct_err       err = {0};
    CHECK_OK(ct_simulate_nav(o, run, noise, &seq, &err), err);
    return seq;
}

static ct_noise *table(void)
{
    ct_noise *noise = NULL;
    CHECK(ct_noise_new(&noise, NULL) == CT_OK);
    return noise;
}

static ct_sequence *make(const ct_nav_options *o, uint64_t run)
{
    ct_noise    *noise = table();
    ct_sequence *seq = make_with(o, run, noise);
    ct_noise_free(noise);
    return seq;
}

static const double *pose(const ct_sequence *seq, const double *x, int32_t v)
{
    return x + ct_graph_offset(seq->graph, v);
}

/* Noise of a factor: -Log(z^-1 g(truth)) is e of z = g o Exp(e). */
static void residual(const ct_sequence *seq, int32_t f, double r[CT_DIM_MAX])
{
    const ct_factor k = ct_graph_factor(seq->graph, f);
    const double   *x[2] = {pose(seq, seq->truth, k.var[0]), k.ops->arity > 1 ? pose(seq, seq->truth, k.var[1]) : NULL};
    ct_factor_eval(k.ops, k.z, NULL, x, r, NULL);
    for (int i = 0; i < k.ops->rows; i++) r[i] = -r[i];
}

/* ---- noise ---- */

typedef struct {
    double  S[36]; /* sum of e e' */
    int64_t n;
} moments;

/* S / n of n draws from N(0, Sigma) is off by sqrt((Sigma_ii Sigma_jj + Sigma_ij^2) / n); five of those. */
static void check_moments(const moments *m, const double *sigma, int dim)
{
    CHECK(m->n > 100);
    for (int i = 0; i < dim; i++) {
        for (int j = 0; j < dim; j++) {
            const double sij = sigma[i * dim + j],
                         spread = sqrt((sigma[i * dim + i] * sigma[j * dim + j] + sij * sij) / (double)m->n);
            CHECK_NEAR(m->S[i * dim + j] / (double)m->n, sij, 5 * spread);
        }
    }
}

/* Is it one of that model? "odom" in regime 1 is "odom@1". */
static int is_model(const ct_noise *noise, int32_t index, const char *group, int regime)
{
    char label[16];
    snprintf(label, sizeof label, "%d", regime);
    return index == ct_noise_select(noise, group, label);
}

/* Of every factor e / sqrt(m), m its multiplier. */
static void check_covariances(const ct_nav_options *o, int runs)
{
    const int dim = ct_kind_dim(o->kind);
    moments   odom[CT_NAV_REGIMES] = {0}, gps[CT_NAV_REGIMES] = {0};
    double    most = 1;
    ct_noise *noise = table();
    for (int run = 0; run < runs; run++) {
        ct_sequence *seq = make_with(o, (uint64_t)run, noise);
        for (int32_t f = 0; f < ct_graph_factors(seq->graph); f++) {
            double          e[CT_DIM_MAX];
            const ct_factor k = ct_graph_factor(seq->graph, f);
            residual(seq, f, e);
            for (int r = 0; r < o->regimes; r++) {
                moments *m = is_model(noise, k.noise, "odom", r)  ? &odom[r]
                             : is_model(noise, k.noise, "gps", r) ? &gps[r]
                                                                  : NULL;
                if (!m) continue;
                m->n++;
                for (int i = 0; i < dim * dim; i++) m->S[i] += e[i / dim] * e[i % dim] / k.multiplier;
                most = fmax(most, k.multiplier);
                CHECK(k.multiplier == 1 || (k.multiplier >= 1 / o->uneven && m == &odom[r]));
            }
        }
        ct_sequence_free(seq);
    }
    for (int r = 0; r < o->regimes; r++) {
        check_moments(&odom[r], o->odom[r], dim);
        check_moments(&gps[r], o->gps[r], dim);
    }
    CHECK(o->uneven > 1 ? most > 0.9 * o->uneven && most <= o->uneven : most == 1);
    ct_noise_free(noise);
}

/* The noise of odometry grows with the step's multiplier; nothing else changes. */
static void test_uneven_steps_have_the_noise_that_their_multipliers_say(void)
{
    ct_nav_options even, o;
    ct_err         err = {0};
    ct_sequence   *none = NULL;
    CHECK(ct_nav_preset("D1", CT_SE2, &o));
    even = o;
    o.uneven = 30;
    check_covariances(&o, 20);
    ct_sequence *a = make(&even, 3), *b = make(&o, 3);
    CHECK(!memcmp(a->truth, b->truth, (size_t)ct_graph_size(a->graph) * sizeof *a->truth));
    for (int32_t f = 0; f < ct_graph_factors(a->graph); f++) {
        double          e[CT_DIM_MAX], d[CT_DIM_MAX];
        const ct_factor k = ct_graph_factor(b->graph, f);
        residual(a, f, e);
        residual(b, f, d);
        for (int i = 0; i < 3; i++) CHECK_NEAR(d[i], sqrt(k.multiplier) * e[i], 1e-9);
    }
    ct_sequence_free(a);
    ct_sequence_free(b);
    ct_noise *noise = table();
    o.uneven = 0.5;
    CHECK_REFUSED(ct_simulate_nav(&o, 0, noise, &none, &err), err, "largest multiplier of odometry is from 1 to 1e6");
    ct_noise_free(noise);
}

/* A rotation's noise of sigma 1 wraps at pi, and one in space is folded back there: D3 and D4 are looked at with a
 * third of it. */
static void test_residuals_at_the_truth_have_the_covariance_asked_for(void)
{
    for (int k = 0; k < 2; k++) {
        for (int d = 0; d < 4; d++) {
            ct_nav_options o = preset(DATASET[d], KIND[k]);
            for (int r = 0; r < CT_NAV_REGIMES && d >= 2; r++)
                for (int i = 0; i < 36; i++) o.odom[r][i] *= 0.1;
            check_covariances(&o, 10);
        }
    }
}

static void test_noise_may_be_correlated(void)
{
    for (int k = 0; k < 2; k++) {
        ct_nav_options o = preset("D1", KIND[k]);
        const int      n = ct_kind_dim(KIND[k]), x = KIND[k] == CT_SE2 ? 0 : 3, y = x + 1;
        o.odom[0][x * n + y] = o.odom[0][y * n + x] = 0.9 * 0.1 * 0.1;
        o.gps[0][x * n + y] = o.gps[0][y * n + x] = -0.9;
        check_covariances(&o, 10);
        ct_noise    *noise = table();
        ct_sequence *seq = make_with(&o, 0, noise);
        CHECK(ct_noise_get(noise, ct_noise_find(noise, "odom"))->kind == CT_NOISE_FULL);
        ct_sequence_free(seq);
        ct_noise_free(noise);
    }
}

static void test_presets_are_the_papers(void)
{
    static const double odom[4][2][3] = {
        {{.1, .1, .1}}, {{1, 2, .1}}, {{.1, .1, .1}, {1, 1, 1}}, {{1, 1, 1}, {.1, .1, .1}}};
    static const double gps[4][2][3] = {
        {{1, 1, .1}}, {{2, 1, .1}}, {{1, 1, .1}, {.1, .1, .1}}, {{.1, .1, .1}, {1, 1, .1}}};
    for (int d = 0; d < 4; d++) {
        const ct_nav_options o = preset(DATASET[d], CT_SE2), s = preset(DATASET[d], CT_SE3);
        CHECK(o.regimes == (d < 2 ? 1 : 2) && o.least == 300 && o.most == 500);
        for (int r = 0; r < o.regimes; r++) {
            for (int i = 0; i < 9; i++) {
                CHECK(o.odom[r][i] == (i % 4 ? 0 : odom[d][r][i / 4] * odom[d][r][i / 4]));
                CHECK(o.gps[r][i] == (i % 4 ? 0 : gps[d][r][i / 4] * gps[d][r][i / 4]));
            }
            for (int i = 0; i < 6; i++)
                CHECK(s.odom[r][7 * i] == odom[d][r][i < 3 ? 2 : 0] * odom[d][r][i < 3 ? 2 : 0]);
        }
    }
    ct_nav_options o;
    CHECK(ct_nav_preset("d3", CT_SE2, &o) && o.regimes == 2);
    CHECK(!ct_nav_preset("D5", CT_SE2, &o) && !ct_nav_preset("D", CT_SE2, &o) && !ct_nav_preset("D11", CT_SE2, &o) &&
          !ct_nav_preset("", CT_SE2, &o));
}

/* ---- paths ---- */

/* Inside, a pose from 0.3 m to 1 m after the one before (in the plane), the nose along the path, no turn tighter
 * than 5 m. */
static void check_path(const ct_sequence *seq, ct_kind kind)
{
    const int32_t n = ct_graph_variables(seq->graph);
    for (int32_t v = 0; v < n; v++) {
        const double *p = pose(seq, seq->truth, v);
        CHECK(p[0] > 0 && p[0] < 100 && p[1] > 0 && p[1] < 50 && (kind == CT_SE2 || (p[2] > 0 && p[2] < 10)));
        if (v == 0) continue;
        const double *q = pose(seq, seq->truth, v - 1);
        double        d[CT_DIM_MAX];
        ct_kind_local(kind, q, p, d); /* the step, in the frame of the pose before */
        if (kind == CT_SE2) {
            CHECK(d[0] >= 0.3 && d[0] <= 1 && fabs(d[1]) < 1e-12 && fabs(d[2]) <= d[0] / 5 * (1 + 1e-12));
        } else {
            const double length = hypot(hypot(d[3], d[4]), d[5]), turn = hypot(hypot(d[0], d[1]), d[2]);
            CHECK(length >= 0.29 && length < 1.5 && d[3] > 0.98 * length && turn < 0.4);
        }
    }
}

static void test_paths_are_smooth_and_stay_inside(void)
{
    for (int k = 0; k < 2; k++) {
        ct_nav_options o = preset("D1", KIND[k]);
        for (uint64_t run = 0; run < 200; run++) {
            if (run == 199) o.least = o.most = 20000; /* what could go wrong in the long run */
            ct_sequence  *seq = make(&o, run);
            const int32_t n = ct_graph_variables(seq->graph);
            CHECK(n >= o.least && n <= o.most);
            check_path(seq, KIND[k]);
            ct_sequence_free(seq);
        }
    }
}

/* How much the turn rate changes from step to step: a path of small jerk. */
static void test_turns_change_slowly(void)
{
    const ct_nav_options o = preset("D1", CT_SE2);
    double               sum = 0, turns = 0;
    int64_t              n = 0;
    for (uint64_t run = 0; run < 20; run++) {
        ct_sequence *seq = make(&o, run);
        double       d[CT_DIM_MAX], before = 0;
        for (int32_t v = 1; v < ct_graph_variables(seq->graph); v++, n++) {
            ct_kind_local(CT_SE2, pose(seq, seq->truth, v - 1), pose(seq, seq->truth, v), d);
            sum += (d[2] - before) * (d[2] - before);
            turns += d[2] * d[2];
            before = d[2];
        }
        ct_sequence_free(seq);
    }
    CHECK(sqrt(sum / (double)n) < 0.02);
    CHECK(sqrt(turns / (double)n) > 0.03); /* and it does turn */
}

static void test_other_noise_leaves_the_path(void)
{
    ct_nav_options o = preset("D1", CT_SE2), other = preset("D4", CT_SE2);
    ct_sequence   *a = make(&o, 3), *b = make(&other, 3);
    CHECK(ct_graph_size(a->graph) == ct_graph_size(b->graph));
    CHECK(!memcmp(a->truth, b->truth, (size_t)ct_graph_size(a->graph) * sizeof *a->truth));
    ct_sequence_free(a);
    ct_sequence_free(b);
}

/* ---- structure ---- */

static void test_regime_one_is_the_middle_half(void)
{
    const ct_nav_options o = preset("D3", CT_SE2);
    ct_noise            *noise = table();
    ct_sequence         *seq = make_with(&o, 0, noise);
    const int32_t        n = ct_graph_variables(seq->graph);
    CHECK(ct_noise_count(noise) == 5 && ct_graph_factors(seq->graph) == 2 * n - 1);
    for (int32_t f = 0; f < ct_graph_factors(seq->graph); f++) {
        const ct_factor       k = ct_graph_factor(seq->graph, f);
        const int32_t         v = k.var[k.ops->arity - 1];
        const char           *name = ct_noise_get(noise, k.noise)->name;
        const int             regime = v >= n / 4 && v < n - n / 4;
        if (v == 0)
            CHECK(!strcmp(name, "first_pose") && k.ops == &ct_prior_se2 && !memcmp(k.z, seq->truth, 4 * sizeof *k.z));
        else if (k.ops == &ct_prior_se2) CHECK(!strcmp(name, regime ? "gps@1" : "gps@0"));
        else CHECK(k.ops == &ct_between_se2 && k.var[0] == v - 1 && !strcmp(name, regime ? "odom@1" : "odom@0"));
    }
    const ct_noise_model *first = ct_noise_get(noise, ct_noise_find(noise, "first_pose"));
    CHECK(first->kind == CT_NOISE_ISOTROPIC && first->covariance[0] == 1e-6);
    for (int32_t v = 0; v < n; v++) CHECK(seq->known[v] == 7 && !ct_graph_fixed(seq->graph, v));
    ct_sequence_free(seq);
    ct_noise_free(noise);
}

static void test_initial_values_are_the_poses_measured(void)
{
    for (int k = 0; k < 2; k++) {
        const ct_nav_options o = preset("D1", KIND[k]);
        ct_sequence         *seq = make(&o, 0);
        const double        *x = ct_graph_initial_const(seq->graph);
        CHECK(!memcmp(x, seq->truth, (size_t)ct_kind_size(KIND[k]) * sizeof *x));
        for (int32_t f = 0; f < ct_graph_factors(seq->graph); f++) {
            const ct_factor factor = ct_graph_factor(seq->graph, f);
            double          r[CT_DIM_MAX];
            if (factor.ops->arity != 1) continue;
            const double *at[1] = {pose(seq, x, factor.var[0])};
            ct_factor_eval(factor.ops, factor.z, NULL, at, r, NULL);
            for (int i = 0; i < factor.ops->rows; i++) CHECK_NEAR(r[i], 0, 1e-9);
        }
        ct_sequence_free(seq);
    }
}

static int same_bits(const ct_sequence *a, const ct_sequence *b)
{
    const int64_t size = ct_graph_size(a->graph);
    if (size != ct_graph_size(b->graph)) return 0;
    return !memcmp(a->truth, b->truth, (size_t)size * sizeof(double)) &&
           !memcmp(ct_graph_initial(a->graph), ct_graph_initial(b->graph), (size_t)size * sizeof(double));
}

static void test_seed_and_run_decide_everything(void)
{
    for (int k = 0; k < 2; k++) {
        ct_nav_options o = preset("D2", KIND[k]);
        o.least = o.most = 300;
        ct_sequence *a = make(&o, 7), *b = make(&o, 7), *other_run = make(&o, 8);
        o.seed = 2;
        ct_sequence *other_seed = make(&o, 7);
        CHECK(same_bits(a, b) && !same_bits(a, other_run) && !same_bits(a, other_seed));
        ct_sequence_free(a);
        ct_sequence_free(b);
        ct_sequence_free(other_run);
        ct_sequence_free(other_seed);
    }
}

/* Noise of the same factor in two runs, odometry and GPS of one step, neighbours: correlations vanish within five
 * standard errors. */
static void test_draws_have_nothing_in_common(void)
{
    ct_nav_options o = preset("D1", CT_SE2);
    double         runs = 0, sensors = 0, neighbours = 0;
    int            n = 0;
    o.least = o.most = 500;
    for (uint64_t run = 0; run < 8; run++) {
        ct_sequence *a = make(&o, run), *b = make(&o, run + 1);
        for (int32_t f = 1; f + 2 < ct_graph_factors(a->graph); f += 2, n++) {
            double odom[CT_DIM_MAX], gps[CT_DIM_MAX], next[CT_DIM_MAX], other[CT_DIM_MAX];
            residual(a, f, odom);
            residual(a, f + 1, gps);
            residual(a, f + 2, next);
            residual(b, f, other);
            sensors += odom[0] * gps[0] / 0.1;
            neighbours += odom[0] * next[0] / 0.01;
            runs += odom[0] * other[0] / 0.01;
        }
        ct_sequence_free(a);
        ct_sequence_free(b);
    }
    CHECK_NEAR(runs / n, 0, 5 / sqrt(n));
    CHECK_NEAR(sensors / n, 0, 5 / sqrt(n));
    CHECK_NEAR(neighbours / n, 0, 5 / sqrt(n));
}

static void test_lengths_fill_their_range(void)
{
    ct_nav_options o = preset("D1", CT_SE2);
    int            seen[5] = {0};
    o.least = 10;
    o.most = 14;
    for (uint64_t run = 0; run < 100; run++) {
        ct_sequence *seq = make(&o, run);
        seen[ct_graph_variables(seq->graph) - 10]++;
        ct_sequence_free(seq);
    }
    for (int i = 0; i < 5; i++) CHECK(seen[i] > 5);
}

/* ---- drift ---- */

/* The difference in position of a run with and without drift is the drift. Its variance is S^2, its correlation
 * exp(-k / T) at lag k. 40 runs of 1000 poses are 800 correlation times of 50 poses: the standard error is 0.05 S^2. */
static void test_a_drift_of_gps_has_the_sigma_and_correlation_time_asked_for(void)
{
    for (int k = 0; k < 2; k++) {
        ct_nav_options o = preset("D1", KIND[k]), plain = o;
        const int      dim = ct_kind_dim(KIND[k]), n = 1000, lag = 25, axes = k ? 3 : 2;
        double         zero_lag = 0, at_lag = 0;
        int64_t        samples = 0;
        for (int i = 0; i < dim; i++) o.gps[0][i * dim + i] = plain.gps[0][i * dim + i] = 1e-8;
        o.least = o.most = plain.least = plain.most = n;
        o.drift = 2, o.drift_poses = 50;
        for (uint64_t run = 0; run < 40; run++) {
            ct_sequence *a = make(&o, run), *b = make(&plain, run);
            double       d[3][1000] = {{0}};
            for (int32_t f = 0; f < ct_graph_factors(a->graph); f++) {
                const ct_factor with = ct_graph_factor(a->graph, f), without = ct_graph_factor(b->graph, f);
                const int       same = !memcmp(with.z, without.z, (size_t)ct_kind_size(KIND[k]) * sizeof *with.z);
                if (with.ops->arity == 2 || with.var[0] == 0) CHECK(same); /* odometry and the first pose have none */
                else
                    for (int i = 0; i < axes; i++) d[i][with.var[0]] = with.z[i] - without.z[i];
            }
            for (int i = 0; i < axes; i++)
                for (int j = 1; j + lag < n; j++)
                    zero_lag += d[i][j] * d[i][j], at_lag += d[i][j] * d[i][j + lag], samples++;
            ct_sequence_free(a);
            ct_sequence_free(b);
        }
        CHECK_NEAR(zero_lag / (double)samples, 4, 4 * 0.05 * 4);
        CHECK_NEAR(at_lag / zero_lag, exp(-0.5), 0.1);
    }
}

/* ---- refusals ---- */

static void refuse(const ct_nav_options *o, const char *part)
{
    ct_noise    *noise = table();
    ct_sequence *seq = NULL;
    ct_err       err = {0};
    CHECK_REFUSED(ct_simulate_nav(o, 0, noise, &seq, &err), err, part);
    CHECK(!seq && ct_noise_count(noise) == 0);
    ct_noise_free(noise);
}

static void test_options_outside_their_domain_are_refused(void)
{
    const ct_nav_options good = preset("D3", CT_SE2);
    ct_nav_options       o = good;
    o.kind = CT_R2, refuse(&o, "SE2 or SE3 poses, not R2"), o = good;
    o.least = 1, refuse(&o, "at least 2 poses, 1 were"), o = good;
    o.most = 100, refuse(&o, "at least 300 and at most 100"), o = good;
    o.regimes = 3, refuse(&o, "1 or 2 regimes, 3 were"), o = good;
    o.odom[1][4] = -1, refuse(&o, "\"odom@1\""), o = good;
    o.gps[0][1] = o.gps[0][3] = 1, refuse(&o, "\"gps@0\""), o = good; /* correlation above 1 */
    o.gps[0][0] = NAN, refuse(&o, "\"gps@0\""), o = good;
    o.drift = -1, o.drift_poses = 1, refuse(&o, "found -1 and 1"), o = good;
    o.drift = 1, refuse(&o, "found 1 and 0"), o = good;
    o.drift = NAN, refuse(&o, "the drift of GPS");
}

static void test_runs_share_models_of_the_same_numbers_only(void)
{
    ct_nav_options o = preset("D1", CT_SE2);
    ct_noise      *noise = table();
    ct_sequence   *a = make_with(&o, 0, noise), *b = make_with(&o, 1, noise), *c = NULL;
    ct_err         err = {0};
    CHECK(ct_noise_count(noise) == 3);
    o.odom[0][0] = 7;
    CHECK_REFUSED(ct_simulate_nav(&o, 2, noise, &c, &err), err, "\"odom\": there is one of this name");
    CHECK(!c);
    ct_sequence_free(a);
    ct_sequence_free(b);
    ct_noise_free(noise);
}

int main(void)
{
    RUN(test_uneven_steps_have_the_noise_that_their_multipliers_say);
    RUN(test_a_drift_of_gps_has_the_sigma_and_correlation_time_asked_for);
    RUN(test_residuals_at_the_truth_have_the_covariance_asked_for);
    RUN(test_noise_may_be_correlated);
    RUN(test_presets_are_the_papers);
    RUN(test_paths_are_smooth_and_stay_inside);
    RUN(test_turns_change_slowly);
    RUN(test_other_noise_leaves_the_path);
    RUN(test_regime_one_is_the_middle_half);
    RUN(test_initial_values_are_the_poses_measured);
    RUN(test_seed_and_run_decide_everything);
    RUN(test_draws_have_nothing_in_common);
    RUN(test_lengths_fill_their_range);
    RUN(test_options_outside_their_domain_are_refused);
    RUN(test_runs_share_models_of_the_same_numbers_only);
    return ct_test_end();
}
