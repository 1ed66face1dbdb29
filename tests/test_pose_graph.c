/* test_pose_graph.c: graphs made to order. */
#include "ct_test.h"

#include <covtune/data.h>
#include <covtune/simulate.h>

static ct_sequence *make(ct_pose_graph_options options)
{
    ct_noise    *noise = NULL;
    ct_sequence *seq = NULL;
    ct_err       err = {0};
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_simulate_pose_graph(&options, noise, &seq, &err), err);
    ct_noise_free(noise);
    return seq;
}

static ct_pose_graph_options small(ct_kind kind)
{
    ct_pose_graph_options options = ct_pose_graph_defaults(kind);
    options.poses = 700;
    return options;
}

static const ct_kind KIND[2] = {CT_SE2, CT_SE3};

static double distance(const ct_sequence *seq, const double *x, int32_t a, int32_t b)
{
    const double *p = x + ct_graph_offset(seq->graph, a), *q = x + ct_graph_offset(seq->graph, b);
    const int     n = ct_graph_kind(seq->graph, a) == CT_SE2 ? 2 : 3;
    double        s = 0;
    for (int i = 0; i < n; i++) s += (p[i] - q[i]) * (p[i] - q[i]);
    return sqrt(s);
}

/* y = x o z */
static void compose(ct_kind kind, const double *x, const double *z, double *y)
{
    double identity[CT_SIZE_MAX], d[CT_DIM_MAX];
    ct_kind_identity(kind, identity);
    ct_kind_local(kind, identity, z, d);
    ct_kind_retract(kind, x, d, y);
}

static int same_bits(const ct_sequence *a, const ct_sequence *b)
{
    const int64_t size = ct_graph_size(a->graph);
    if (size != ct_graph_size(b->graph) || ct_graph_factors(a->graph) != ct_graph_factors(b->graph)) return 0;
    for (int32_t f = 0; f < ct_graph_factors(a->graph); f++) {
        const ct_factor p = ct_graph_factor(a->graph, f), q = ct_graph_factor(b->graph, f);
        if (p.var[0] != q.var[0] || p.var[1] != q.var[1]) return 0;
        if (memcmp(p.z, q.z, (size_t)ct_factor_z_size(p.ops) * sizeof *p.z)) return 0;
    }
    return !memcmp(a->truth, b->truth, (size_t)size * sizeof(double)) &&
           !memcmp(ct_graph_initial(a->graph), ct_graph_initial(b->graph), (size_t)size * sizeof(double));
}

static void test_the_seed_decides_everything(void)
{
    for (int k = 0; k < 2; k++) {
        ct_pose_graph_options options = small(KIND[k]);
        ct_sequence     *a = make(options), *b = make(options);
        options.seed++;
        ct_sequence *c = make(options);
        CHECK(same_bits(a, b));
        CHECK(!same_bits(a, c));
        ct_sequence_free(a);
        ct_sequence_free(b);
        ct_sequence_free(c);
    }
}

static void test_the_path_does_not_depend_on_noise_and_loops(void)
{
    ct_pose_graph_options options = small(CT_SE2);
    ct_sequence     *a = make(options);
    options.sigma_t = 3;
    options.loop_chance = 0;
    ct_sequence *b = make(options);
    CHECK(!memcmp(a->truth, b->truth, (size_t)ct_graph_size(a->graph) * sizeof(double)));
    CHECK(ct_graph_factors(b->graph) == options.poses - 1);
    ct_sequence_free(a);
    ct_sequence_free(b);
}

static void test_odometry_is_a_metre_and_loops_are_near_and_old(void)
{
    for (int k = 0; k < 2; k++) {
        ct_pose_graph_options options = small(KIND[k]);
        ct_sequence     *seq = make(options);
        int              loops = 0;
        CHECK(ct_graph_variables(seq->graph) == options.poses);
        for (int32_t f = 0; f < ct_graph_factors(seq->graph); f++) {
            const ct_factor factor = ct_graph_factor(seq->graph, f);
            const double    d = distance(seq, seq->truth, factor.var[0], factor.var[1]);
            CHECK(factor.ops == ct_factor_between(KIND[k]));
            if (factor.noise == 0) {
                CHECK(factor.var[1] == factor.var[0] + 1);
                if (KIND[k] == CT_SE2) CHECK(d == 1);
                else CHECK(d < 1.2);
            } else {
                loops++;
                CHECK(factor.var[1] - factor.var[0] >= 10 && d <= 1);
            }
        }
        CHECK(loops > options.poses / 8);
        ct_sequence_free(seq);
    }
}

/* Log(z^-1 a^-1 b) at the truth, over sigma, has mean square one; four standard errors. */
static void test_residuals_at_the_truth_have_the_sigmas_asked_for(void)
{
    for (int k = 0; k < 2; k++) {
        ct_pose_graph_options options = ct_pose_graph_defaults(KIND[k]);
        options.sigma_t = 0.2;
        options.sigma_r = 0.05;
        ct_sequence *seq = make(options);
        const int    dim = ct_kind_dim(KIND[k]), n = ct_graph_factors(seq->graph);
        double       sum[CT_DIM_MAX] = {0};
        for (int32_t f = 0; f < n; f++) {
            const ct_factor factor = ct_graph_factor(seq->graph, f);
            double          predicted[CT_SIZE_MAX], r[CT_DIM_MAX];
            compose(KIND[k], seq->truth + ct_graph_offset(seq->graph, factor.var[0]), factor.z, predicted);
            ct_kind_local(KIND[k], predicted, seq->truth + ct_graph_offset(seq->graph, factor.var[1]), r);
            for (int i = 0; i < dim; i++) sum[i] += r[i] * r[i] / n;
        }
        for (int i = 0; i < dim; i++) {
            const double sigma = (KIND[k] == CT_SE3 ? i < 3 : i == 2) ? options.sigma_r : options.sigma_t;
            CHECK_NEAR(sum[i] / (sigma * sigma), 1, 4 * sqrt(2.0 / n));
        }
        ct_sequence_free(seq);
    }
}

static void test_initial_values_are_composed_odometry(void)
{
    for (int k = 0; k < 2; k++) {
        ct_sequence  *seq = make(small(KIND[k]));
        const double *x = ct_graph_initial_const(seq->graph);
        CHECK(ct_graph_fixed(seq->graph, 0) && !ct_graph_fixed(seq->graph, 1));
        CHECK(!memcmp(x, seq->truth, (size_t)ct_kind_size(KIND[k]) * sizeof *x));
        for (int32_t f = 0; f < ct_graph_factors(seq->graph); f++) {
            const ct_factor factor = ct_graph_factor(seq->graph, f);
            if (factor.noise != 0) continue;
            double y[CT_SIZE_MAX], d[CT_DIM_MAX];
            compose(KIND[k], x + ct_graph_offset(seq->graph, factor.var[0]), factor.z, y);
            ct_kind_local(KIND[k], y, x + ct_graph_offset(seq->graph, factor.var[1]), d);
            for (int i = 0; i < ct_kind_dim(KIND[k]); i++) CHECK_NEAR(d[i], 0, 1e-12);
        }
        for (int32_t v = 0; v < ct_graph_variables(seq->graph); v++)
            CHECK(seq->known[v] == (1 << ct_kind_dim(KIND[k])) - 1);
        ct_sequence_free(seq);
    }
}

static void test_worlds_share_models_of_the_same_sigmas_only(void)
{
    ct_noise        *noise = NULL;
    ct_sequence     *a = NULL, *b = NULL, *c = NULL;
    ct_err           err = {0};
    ct_pose_graph_options options = small(CT_SE2);
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_simulate_pose_graph(&options, noise, &a, &err), err);
    options.seed = 9;
    CHECK_OK(ct_simulate_pose_graph(&options, noise, &b, &err), err);
    CHECK(ct_noise_count(noise) == 2 && ct_noise_find(noise, "odom") == 0 && ct_noise_find(noise, "loop") == 1);
    CHECK(ct_noise_get(noise, 0)->covariance[2] == options.sigma_r * options.sigma_r);
    CHECK_OK(ct_graph_check_noise(b->graph, noise, &err), err);
    options.sigma_t *= 2;
    CHECK_REFUSED(ct_simulate_pose_graph(&options, noise, &c, &err), err, "\"odom\": there is one of this name");
    CHECK(c == NULL);
    ct_sequence_free(a);
    ct_sequence_free(b);
    ct_noise_free(noise);
}

static void refuse(ct_pose_graph_options options, const char *part)
{
    ct_noise    *noise = NULL;
    ct_sequence *seq = NULL;
    ct_err       err = {0};
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_REFUSED(ct_simulate_pose_graph(&options, noise, &seq, &err), err, part);
    CHECK(seq == NULL && ct_noise_count(noise) == 0);
    ct_noise_free(noise);
}

static void test_options_outside_their_domain_are_refused(void)
{
    const ct_pose_graph_options good = small(CT_SE2);
    ct_pose_graph_options       o = good;
    o.kind = CT_R2, refuse(o, "SE2 or SE3 poses, not R2"), o = good;
    o.poses = 0, refuse(o, "at least 1 pose, 0 were"), o = good;
    o.sigma_t = 0, refuse(o, "sigma_t is 0 m"), o = good;
    o.sigma_r = NAN, refuse(o, "sigma_r is nan rad"), o = good;
    o.sigma_r = INFINITY, refuse(o, "sigma_r is inf"), o = good;
    o.loop_chance = 1.5, refuse(o, "loop_chance is 1.5");
}

static void test_worlds_of_any_size_can_be_made(void)
{
    for (int k = 0; k < 2; k++) {
        ct_pose_graph_options options = ct_pose_graph_defaults(KIND[k]);
        for (options.poses = 1; options.poses <= 100000;
             options.poses = options.poses < 40 ? options.poses + 1 : options.poses * 50) {
            ct_sequence *seq = make(options);
            CHECK(seq && ct_graph_variables(seq->graph) == options.poses);
            ct_sequence_free(seq);
        }
    }
}

int main(void)
{
    RUN(test_the_seed_decides_everything);
    RUN(test_the_path_does_not_depend_on_noise_and_loops);
    RUN(test_odometry_is_a_metre_and_loops_are_near_and_old);
    RUN(test_residuals_at_the_truth_have_the_sigmas_asked_for);
    RUN(test_initial_values_are_composed_odometry);
    RUN(test_worlds_share_models_of_the_same_sigmas_only);
    RUN(test_options_outside_their_domain_are_refused);
    RUN(test_worlds_of_any_size_can_be_made);
    return ct_test_end();
}
