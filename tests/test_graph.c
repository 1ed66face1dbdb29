/* test_graph.c: the container: what goes in comes out, what does not belong is refused and changes nothing. */
#include "ct_test.h"

#include <covtune/graph.h>

static const double here[4] = {1, 2, 0.6, 0.8}, there[4] = {3, 1, 0.8, -0.6}, up[7] = {1, 2, 3, 0, 0, 0.6, 0.8};

static ct_graph *new_graph(void)
{
    ct_graph *graph = NULL;
    ct_err    err = {0};
    CHECK_OK(ct_graph_new(&graph, &err), err);
    return graph;
}

static int32_t variable(ct_graph *graph, const char *name, ct_kind kind, const double *value)
{
    int32_t index = -1;
    ct_err  err = {0};
    CHECK_OK(ct_graph_add_variable(graph, name, kind, value, &index, &err), err);
    return index;
}

/* Two poses in the plane, one in space, a point; a prior, odometry and a range. Noise models 0 and 2 have three
 * rows, 1 has one. */
static ct_graph *small_graph(void)
{
    ct_graph *graph = new_graph();
    ct_err    err = {0};
    variable(graph, "start", CT_SE2, here);
    variable(graph, NULL, CT_SE2, there);
    variable(graph, "tower", CT_R2, (const double[]){5, 6});
    variable(graph, "drone", CT_SE3, up);
    CHECK_OK(ct_graph_add_prior(graph, 0, here, 0, &err), err);
    CHECK_OK(ct_graph_add_between(graph, 0, 1, there, 2, &err), err);
    CHECK_OK(ct_graph_add_factor(graph, &ct_range_se2_r2, (const int32_t[]){1, 2}, (const double[]){4, 0.5, 0, 0}, NULL,
                                 1, &err),
             err);
    return graph;
}

/* Models 0: diagonal, 1: isotropic with a kernel, 2: full. */
static ct_noise *small_noise(void)
{
    ct_noise *noise = NULL;
    ct_err    err = {0};
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_noise_add_diagonal(noise, "prior", 3, (const double[]){0.01, 0.04, 0.25}, NULL, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "range", 1, 0.04, NULL, &err), err);
    CHECK_OK(ct_noise_set_robust(noise, 1, (ct_robust){CT_ROBUST_HUBER, 1.5, 0}, &err), err);
    CHECK_OK(
        ct_noise_add_full(noise, "odom", 3, (const double[]){0.5, 0.1, 0, 0.1, 0.4, 0.05, 0, 0.05, 0.3}, NULL, &err),
        err);
    return noise;
}

static int same_graph(const ct_graph *a, const ct_graph *b)
{
    if (ct_graph_variables(a) != ct_graph_variables(b) || ct_graph_factors(a) != ct_graph_factors(b) ||
        ct_graph_size(a) != ct_graph_size(b))
        return 0;
    int same = !memcmp(ct_graph_initial_const(a), ct_graph_initial_const(b), (size_t)ct_graph_size(a) * sizeof(double));
    for (int32_t v = 0; v < ct_graph_variables(a); v++) {
        char name[64], other[64];
        same = same && ct_graph_kind(a, v) == ct_graph_kind(b, v) && ct_graph_fixed(a, v) == ct_graph_fixed(b, v) &&
               ct_graph_offset(a, v) == ct_graph_offset(b, v);
        same = same && !strcmp(ct_graph_name(a, v, name, sizeof name), ct_graph_name(b, v, other, sizeof other)) &&
               ct_graph_find(b, name) == v;
    }
    for (int32_t f = 0; f < ct_graph_factors(a) && same; f++) {
        const ct_factor p = ct_graph_factor(a, f), q = ct_graph_factor(b, f);
        same = p.ops == q.ops && p.noise == q.noise && p.context == q.context &&
               !memcmp(p.var, q.var, (size_t)p.ops->arity * sizeof *p.var);
        same = same && !memcmp(p.z, q.z, (size_t)ct_factor_z_size(p.ops) * sizeof *p.z);
    }
    return same;
}

static void test_what_goes_in_comes_out(void)
{
    ct_graph *graph = small_graph();
    CHECK(ct_graph_variables(graph) == 4 && ct_graph_factors(graph) == 3 && ct_graph_size(graph) == 4 + 4 + 2 + 7);
    const int64_t offset[4] = {0, 4, 8, 10};
    const ct_kind kind[4] = {CT_SE2, CT_SE2, CT_R2, CT_SE3};
    for (int32_t v = 0; v < 4; v++)
        CHECK(ct_graph_offset(graph, v) == offset[v] && ct_graph_kind(graph, v) == kind[v] &&
              !ct_graph_fixed(graph, v));
    CHECK(ct_graph_initial(graph) == ct_graph_initial_const(graph));
    CHECK(!memcmp(ct_graph_initial_const(graph) + 4, there, sizeof there) &&
          !memcmp(ct_graph_initial_const(graph) + 10, up, sizeof up));
    const ct_factor prior = ct_graph_factor(graph, 0), odom = ct_graph_factor(graph, 1),
                    range = ct_graph_factor(graph, 2);
    CHECK(prior.ops == &ct_prior_se2 && prior.var[0] == 0 && prior.noise == 0 && !memcmp(prior.z, here, sizeof here));
    CHECK(odom.ops == &ct_between_se2 && odom.var[0] == 0 && odom.var[1] == 1 && odom.noise == 2 &&
          !memcmp(odom.z, there, sizeof there));
    CHECK(range.ops == &ct_range_se2_r2 && range.var[0] == 1 && range.var[1] == 2 && range.noise == 1 &&
          range.z[0] == 4 && range.z[1] == 0.5);
    CHECK(range.context == NULL);
    ct_graph_free(graph);
    ct_graph_free(NULL);
}

static void test_every_kind_starts_at_its_identity_and_has_a_prior_and_a_between(void)
{
    ct_graph *graph = new_graph();
    ct_err    err = {0};
    for (int k = 0; k < CT_KIND_COUNT; k++) {
        double        identity[CT_SIZE_MAX];
        const ct_kind kind = (ct_kind)k;
        const int32_t a = variable(graph, NULL, kind, NULL), b = variable(graph, NULL, kind, NULL);
        ct_kind_identity(kind, identity);
        CHECK(!memcmp(ct_graph_initial(graph) + ct_graph_offset(graph, a), identity,
                      (size_t)ct_kind_size(kind) * sizeof *identity));
        const int32_t noise = ct_kind_dim(kind); /* one model for each number of rows */
        CHECK_OK(ct_graph_add_prior(graph, a, identity, noise, &err), err);
        CHECK_OK(ct_graph_add_between(graph, b, a, identity, noise, &err), err);
        CHECK(ct_graph_factor(graph, 2 * k).ops == ct_factor_prior(kind) &&
              ct_graph_factor(graph, 2 * k + 1).ops == ct_factor_between(kind));
        CHECK(ct_graph_factor(graph, 2 * k + 1).var[0] == b && ct_graph_factor(graph, 2 * k + 1).var[1] == a);
    }
    ct_graph_free(graph);
}

static void test_names_are_found_and_cut_to_fit(void)
{
    ct_graph *graph = small_graph();
    char      buf[16], tiny[4], one[1] = {'?'};
    ct_err    err = {0};
    CHECK(ct_graph_find(graph, "start") == 0 && ct_graph_find(graph, "x1") == 1 && ct_graph_find(graph, "drone") == 3);
    CHECK(ct_graph_find(graph, "x0") == -1 && ct_graph_find(graph, "") == -1 && ct_graph_find(graph, "star") == -1);
    CHECK(ct_graph_name(graph, 2, buf, sizeof buf) == buf && !strcmp(buf, "tower"));
    CHECK(!strcmp(ct_graph_name(graph, 2, tiny, sizeof tiny), "tow"));
    CHECK(!strcmp(ct_graph_name(graph, 2, one, sizeof one), ""));
    CHECK_REFUSED(ct_graph_add_variable(graph, "tower", CT_R1, NULL, NULL, &err), err,
                  "variable tower is there already");
    variable(graph, "x5", CT_R1, NULL); /* which is number 4 */
    CHECK_REFUSED(ct_graph_add_variable(graph, NULL, CT_R1, NULL, NULL, &err), err, "variable x5 is there already");
    CHECK_REFUSED(ct_graph_add_variable(graph, "", CT_R1, NULL, NULL, &err), err, "variable 5: its name is empty");
    CHECK(ct_graph_variables(graph) == 5);

    ct_graph *empty = new_graph();
    CHECK(ct_graph_find(empty, "x0") == -1 && ct_graph_variables(empty) == 0 && ct_graph_size(empty) == 0);
    ct_graph_free(empty);
    ct_graph_free(graph);
}

/* What was measured is not kept by address. */
static void test_arguments_are_copied(void)
{
    ct_graph *graph = new_graph();
    ct_err    err = {0};
    char      name[] = "pose";
    double    value[4] = {1, 2, 1, 0}, z[4] = {3, 4, 1, 0};
    int32_t   var[1] = {0};
    variable(graph, name, CT_SE2, value);
    CHECK_OK(ct_graph_add_factor(graph, &ct_prior_se2, var, z, &err, 0, &err), err);
    name[0] = 'd';
    value[0] = z[0] = var[0] = 9;
    const ct_factor factor = ct_graph_factor(graph, 0);
    CHECK(ct_graph_find(graph, "pose") == 0 && ct_graph_initial(graph)[0] == 1 && factor.z[0] == 3 &&
          factor.var[0] == 0);
    CHECK(factor.context == &err); /* but what the caller's model needs is */
    ct_graph_free(graph);
}

static void test_a_copy_is_equal_and_apart(void)
{
    ct_graph *graph = small_graph(), *copy = NULL;
    ct_err    err = {0};
    ct_graph_fix(graph, 2, 1);
    CHECK_OK(ct_graph_copy(graph, &copy, &err), err);
    CHECK(same_graph(graph, copy) && ct_graph_fixed(copy, 2));
    ct_graph_initial(copy)[0] = 17;
    ct_graph_fix(copy, 2, 0);
    variable(copy, "more", CT_R3, NULL);
    CHECK_OK(ct_graph_add_prior(copy, 1, here, 5, &err), err);
    CHECK(ct_graph_initial(graph)[0] == 1 && ct_graph_fixed(graph, 2) && ct_graph_variables(graph) == 4 &&
          ct_graph_factors(graph) == 3);
    CHECK(ct_graph_find(graph, "more") == -1);
    ct_graph_free(graph);
    CHECK(ct_graph_find(copy, "start") == 0 && ct_graph_factor(copy, 3).noise == 5);
    ct_graph_free(copy);

    ct_graph *empty = new_graph();
    CHECK_OK(ct_graph_copy(empty, &copy, &err), err);
    CHECK(ct_graph_variables(copy) == 0 && ct_graph_factors(copy) == 0);
    ct_graph_free(copy);
    ct_graph_free(empty);
}

/* Each refusal with its sentence; none leaves a trace. */
static void test_what_does_not_belong_is_refused_and_leaves_no_trace(void)
{
    ct_graph    *graph = small_graph(), *before = NULL;
    ct_err       err = {0};
    const double bad[4] = {1, NAN, 1, 0}, z[4] = {0, 0, 1, 0};
    int32_t      index = 77;
    CHECK_OK(ct_graph_copy(graph, &before, &err), err);
#define REFUSED(call, part)                                                                        \
    CHECK_REFUSED(call, err, part);                                                                \
    CHECK(same_graph(graph, before) && err.status == CT_E_ARGUMENT)
    REFUSED(ct_graph_add_variable(graph, "start", CT_SE2, here, &index, &err), "variable start is there already");
    REFUSED(ct_graph_add_variable(graph, "", CT_SE2, here, &index, &err), "variable 4: its name is empty");
    REFUSED(ct_graph_add_variable(graph, "new", CT_SE2, bad, &index, &err),
            "variable new: its initial value is not finite");
    CHECK(index == 77 && ct_graph_find(graph, "new") == -1);
    REFUSED(ct_graph_add_prior(graph, 4, z, 0, &err), "factor 3 (prior): variable 4 of 4 does not exist");
    REFUSED(ct_graph_add_prior(graph, -1, z, 0, &err), "factor 3 (prior): variable -1 of 4 does not exist");
    REFUSED(ct_graph_add_between(graph, 4, 0, z, 2, &err), "factor 3 (between): variable 4 of 4 does not exist");
    REFUSED(ct_graph_add_between(graph, 0, 4, z, 2, &err), "factor 3 (between_se2): variable 4 of 4 does not exist");
    REFUSED(ct_graph_add_between(graph, 0, 0, z, 2, &err), "factor 3 (between_se2): start is named twice");
    REFUSED(ct_graph_add_between(graph, 0, 3, z, 2, &err), "factor 3 (between_se2): drone is SE3, it must be SE2");
    REFUSED(ct_graph_add_prior(graph, 1, bad, 0, &err), "factor 3 (prior_se2 on x1): its measurement is not finite");
    REFUSED(ct_graph_add_prior(graph, 1, (const double[]){INFINITY, 0, 1, 0}, 0, &err),
            "its measurement is not finite");
    REFUSED(ct_graph_add_factor(graph, &ct_range_se2_r2, (const int32_t[]){1, 2}, (const double[]){-1, 0, 0, 0}, NULL,
                                1, &err),
            "factor 3 (range_se2_r2 on x1): range must not be negative");
    REFUSED(
        ct_graph_add_factor(graph, &ct_range_se2_r2, (const int32_t[]){2, 1}, (const double[]){1, 0, 0, 0}, NULL, 1,
                            &err),
        "factor 3 (range_se2_r2): tower is R2, it must be SE2");
    REFUSED(ct_graph_add_prior(graph, 1, z, -1, &err), "factor 3 (prior_se2): noise model -1 does not exist");
    REFUSED(ct_graph_add_prior(graph, 1, z, 1, &err),
            "factor 3 (prior_se2) has 3 rows, noise model 1 serves factors of 1");
    REFUSED(ct_graph_set_noise(graph, 0, 1, &err),
            "factor 0 (prior_se2) has 3 rows, noise model 1 serves factors of 1");
    REFUSED(ct_graph_set_noise(graph, 2, -2, &err), "factor 2 (range_se2_r2): noise model -2 does not exist");
#undef REFUSED
    CHECK(ct_graph_add_prior(graph, 9, z, 0, NULL) == CT_E_ARGUMENT); /* nobody listens */
    ct_graph_free(before);
    ct_graph_free(graph);
}

static void test_a_noise_table_must_fit(void)
{
    ct_graph *graph = small_graph();
    ct_noise *noise = small_noise();
    ct_err    err = {0};
    CHECK_OK(ct_graph_check_noise(graph, noise, &err), err);
    CHECK_OK(ct_graph_add_prior(graph, 3, up, 3, &err), err);
    CHECK_REFUSED(ct_graph_check_noise(graph, noise, &err), err,
                  "factors of 6 rows use noise model 3, the table has 3");
    CHECK(err.status == CT_E_NOISE);
    CHECK_OK(ct_noise_add_isotropic(noise, "slim", 5, 1, NULL, &err), err);
    CHECK_REFUSED(ct_graph_check_noise(graph, noise, &err), err,
                  "noise model \"slim\" has 5 coordinates, the factors that use it have 6 rows");
    CHECK(err.status == CT_E_NOISE);
    CHECK_OK(ct_noise_add_isotropic(noise, "wide", 6, 1, NULL, &err), err);
    CHECK_OK(ct_graph_set_noise(graph, 3, 4, &err), err); /* model 3 is used by nobody any more, and may be anything */
    CHECK(ct_graph_factor(graph, 3).noise == 4);
    CHECK_OK(ct_graph_check_noise(graph, noise, &err), err);
    const int32_t five = variable(graph, "five", CT_R1, NULL);
    CHECK_OK(ct_graph_add_prior(graph, five, (const double[]){0}, 3, &err), err);
    ct_noise_free(noise);
    ct_graph_free(graph);
}

/* The sum, by hand: whitened with the inverse covariance, not with its root; the kernel written out. */
static void test_the_error_is_the_sum_of_its_factors(void)
{
    ct_graph *graph = small_graph();
    ct_noise *noise = small_noise();
    double    x[17];
    memcpy(x, ct_graph_initial(graph), sizeof x);
    x[0] += 0.3, x[4] -= 0.2, x[8] += 4;
    double r[3], want = 0;
    ct_factor_eval(&ct_prior_se2, here, NULL, (const double *[]){x}, r, NULL);
    want += (r[0] * r[0] / 0.01 + r[1] * r[1] / 0.04 + r[2] * r[2] / 0.25) / 2;
    ct_factor_eval(&ct_between_se2, there, NULL, (const double *[]){x, x + 4}, r, NULL);
    /* S^-1 r by Cramer: det S = .5 (.4 .3 - .05^2) - .1 (.1 .3) */
    const double det = 0.5 * (0.12 - 0.0025) - 0.1 * 0.03;
    const double y[3] = {(r[0] * (0.12 - 0.0025) - 0.1 * (r[1] * 0.3 - r[2] * 0.05)) / det,
                         (0.5 * (r[1] * 0.3 - r[2] * 0.05) - r[0] * 0.03) / det,
                         (0.5 * (0.4 * r[2] - 0.05 * r[1]) - 0.1 * (0.1 * r[2]) + r[0] * 0.1 * 0.05) / det};
    want += (r[0] * y[0] + r[1] * y[1] + r[2] * y[2]) / 2;
    ct_factor_eval(&ct_range_se2_r2, (const double[]){4, 0.5, 0, 0}, NULL, (const double *[]){x + 4, x + 8}, r, NULL);
    CHECK(fabs(r[0]) / 0.2 > 1.5); /* so the kernel is at work */
    want += 1.5 * (fabs(r[0]) / 0.2 - 0.75);
    CHECK_NEAR(ct_graph_error(graph, noise, x) / want, 1, 1e-13);
    ct_graph_fix(graph, 0, 1); /* factors of fixed variables count as well */
    CHECK_NEAR(ct_graph_error(graph, noise, x) / want, 1, 1e-13);
    x[0] = NAN;
    CHECK(isnan(ct_graph_error(graph, noise, x)));
    ct_graph *empty = new_graph();
    CHECK(ct_graph_error(empty, noise, x) == 0);
    ct_graph_free(empty);
    ct_noise_free(noise);
    ct_graph_free(graph);
}

static void test_variables_are_fixed_and_freed(void)
{
    ct_graph *graph = small_graph();
    ct_graph_fix(graph, 1, 1);
    ct_graph_fix(graph, 3, 42); /* any true value */
    CHECK(!ct_graph_fixed(graph, 0) && ct_graph_fixed(graph, 1) == 1 && ct_graph_fixed(graph, 3) == 1);
    ct_graph_fix(graph, 1, 0);
    CHECK(!ct_graph_fixed(graph, 1));
    ct_graph_free(graph);
}

static void test_a_graph_like_gtsam_has_its_pose_models_alone(void)
{
    ct_graph *graph = small_graph();
    ct_err    err = {0};
    CHECK_OK(ct_graph_add_prior(graph, 3, up, 3, &err), err);
    const int32_t other = variable(graph, "other", CT_SE3, NULL);
    CHECK_OK(ct_graph_add_between(graph, 3, other, up, 3, &err), err);
    CHECK_OK(ct_graph_like_gtsam(graph, &err), err);
    static const char *const want[] = {"gtsam_prior_se2", "gtsam_between_se2", "range_se2_r2", "gtsam_prior_se3",
                                       "gtsam_between_se3"};
    for (int32_t f = 0; f < 5; f++) CHECK(!strcmp(ct_graph_factor(graph, f).ops->name, want[f]));
    CHECK(!memcmp(ct_graph_factor(graph, 1).z, there, sizeof there) && ct_graph_factor(graph, 1).noise == 2);
    const int32_t turn = variable(graph, "turn", CT_SO3, NULL);
    CHECK_OK(ct_graph_add_prior(graph, turn, (const double[]){0, 0, 0, 1}, 2, &err), err);
    CHECK_OK(ct_graph_add_prior(graph, 1, here, 2, &err), err);
    CHECK_REFUSED(ct_graph_like_gtsam(graph, &err), err,
                  "factor 5 (prior_so3 on turn): there is no model of GTSAM's derivative for it");
    CHECK(err.status == CT_E_UNSUPPORTED && ct_graph_factor(graph, 6).ops == &ct_prior_se2);
    ct_graph_free(graph);
}

static void test_rotations_that_are_not_unit_are_refused(void)
{
    ct_graph *graph = small_graph();
    ct_err    err = {0};
    CHECK_REFUSED(ct_graph_add_variable(graph, "bent", CT_SE2, (const double[]){1, 2, 0.5, 0.5}, NULL, &err), err,
                  "variable bent: its rotation is not a unit (cos, sin)");
    CHECK_REFUSED(ct_graph_add_prior(graph, 3, (const double[]){0, 0, 0, 0, 0, 0, 0.1}, 3, &err), err,
                  "part 0 of its measurement is not a unit rotation");
    CHECK(ct_graph_find(graph, "bent") == -1 && ct_graph_factors(graph) == 3);
    ct_graph_free(graph);
}

/* Growth moves everything many times. */
static void test_a_hundred_thousand_variables(void)
{
    const int32_t n = 100000;
    ct_graph     *graph = new_graph();
    ct_err        err = {0};
    char          name[32], wanted[32];
    int           bad = 0;
    for (int32_t v = 0; v < n; v++) {
        const ct_kind kind = (ct_kind)(v % CT_KIND_COUNT);
        snprintf(name, sizeof name, "pose_%d", v);
        bad += variable(graph, v % 2 ? name : NULL, kind, NULL) != v;
        if (kind != CT_SO2 && kind != CT_SO3) ct_graph_initial(graph)[ct_graph_offset(graph, v)] = v; /* a coordinate */
        bad += ct_graph_add_prior(graph, v, ct_graph_initial(graph) + ct_graph_offset(graph, v),
                                  ct_kind_dim(kind) + 10 * (v / 1000), &err) != CT_OK;
    }
    int64_t at = 0;
    for (int32_t v = 0; v < n; v++) {
        snprintf(wanted, sizeof wanted, v % 2 ? "pose_%d" : "x%d", v);
        const ct_factor f = ct_graph_factor(graph, v);
        const int       turn = f.ops == &ct_prior_so2 || f.ops == &ct_prior_so3;
        bad += ct_graph_find(graph, wanted) != v || strcmp(ct_graph_name(graph, v, name, sizeof name), wanted);
        bad += ct_graph_offset(graph, v) != at || (!turn && ct_graph_initial(graph)[at] != v) ||
               ct_graph_kind(graph, v) != (ct_kind)(v % CT_KIND_COUNT);
        bad += f.var[0] != v || (!turn && f.z[0] != v) || f.ops != ct_factor_prior(ct_graph_kind(graph, v));
        at += ct_kind_size(ct_graph_kind(graph, v));
    }
    CHECK(bad == 0 && ct_graph_size(graph) == at && ct_graph_variables(graph) == n && ct_graph_factors(graph) == n);
    ct_graph *copy = NULL;
    CHECK_OK(ct_graph_copy(graph, &copy, &err), err);
    CHECK(same_graph(graph, copy));
    ct_graph_free(copy);
    ct_graph_free(graph);
}

static void test_factors_name_the_rows_of_their_models(void)
{
    ct_graph *graph = small_graph();
    ct_noise *noise = small_noise();
    ct_err    err = {0};
    const char *const odd[] = {"odd"};
    CHECK_OK(ct_noise_add_isotropic(noise, "unused", 1, 1, NULL, &err), err);
    ct_noise_set_rows(noise, 1, odd, NULL);
    ct_noise_set_rows(noise, 3, odd, NULL);
    ct_graph_name_rows(graph, noise);
    for (int i = 0; i < 3; i++) {
        CHECK(!strcmp(ct_noise_get(noise, 0)->row[i].name, ct_prior_se2.coordinate[i]) &&
              !strcmp(ct_noise_get(noise, 0)->row[i].unit, ct_prior_se2.unit[i]));
        CHECK(!strcmp(ct_noise_get(noise, 2)->row[i].name, ct_between_se2.coordinate[i]));
    }
    CHECK(!strcmp(ct_noise_get(noise, 1)->row[0].name, "range") && !strcmp(ct_noise_get(noise, 1)->row[0].unit, "m"));
    CHECK(!strcmp(ct_noise_get(noise, 3)->row[0].name, "odd"));
    CHECK(!strcmp(ct_noise_get(noise, 0)->measurement, "prior_se2") &&
          !strcmp(ct_noise_get(noise, 2)->measurement, "between_se2"));
    CHECK(!strcmp(ct_noise_get(noise, 1)->measurement, "range_se2_r2") && !ct_noise_get(noise, 3)->measurement);

    /* A model for ranges and bearings alike has rows that are neither, also for the factors after them. */
    for (int i = 0; i < 2; i++) {
        const ct_factor_ops *ops = i ? &ct_range_se2_r2 : &ct_bearing_se2_r2;
        CHECK_OK(
            ct_graph_add_factor(graph, ops, (const int32_t[]){0, 2}, (const double[]){1, 0, 0, 0, 1, 0}, NULL, 1, &err),
            err);
    }
    ct_graph_name_rows(graph, noise);
    CHECK(!ct_noise_get(noise, 1)->row && ct_noise_get(noise, 0)->row && !ct_noise_get(noise, 1)->measurement);

    /* A prior and a between have the same rows, and measure different things. */
    CHECK_OK(ct_graph_add_prior(graph, 0, (const double[]){0, 0, 1, 0}, 2, &err), err);
    ct_graph_name_rows(graph, noise);
    CHECK(ct_noise_get(noise, 2)->row && !ct_noise_get(noise, 2)->measurement &&
          !strcmp(ct_noise_get(noise, 0)->measurement, "prior_se2"));
    ct_graph_free(graph);
    ct_noise_free(noise);
}

/* ---- building with values ---- */

static int same_factor(const ct_graph *g, int32_t f, const ct_factor_ops *ops, const int32_t var[], const double z[],
                       int32_t noise)
{
    const ct_factor k = ct_graph_factor(g, f);
    return k.ops == ops && k.noise == noise && !memcmp(k.var, var, (size_t)ops->arity * sizeof *var) &&
           !memcmp(k.z, z, (size_t)ct_factor_z_size(ops) * sizeof *z);
}

static void test_values_go_in_and_come_out(void)
{
    ct_graph    *g = new_graph();
    ct_err       err = {0};
    int32_t      a = -1, b = -1, p = -1, q = -1;
    const ct_se2 plane = ct_se2_make(1, 2, 0.5);
    const ct_se3 space = ct_se3_exp((const double[]){0.1, -0.2, 0.3, 4, 5, 6});
    CHECK_OK(ct_graph_add_se2(g, "a", plane, &a, &err), err);
    CHECK_OK(ct_graph_add_se3(g, NULL, space, &b, &err), err);
    CHECK_OK(ct_graph_add_point2(g, "p", (const double[]){7, 8}, &p, &err), err);
    CHECK_OK(ct_graph_add_point3(g, "q", (const double[]){9, 10, 11}, &q, &err), err);
    CHECK(ct_graph_kind(g, a) == CT_SE2 && ct_graph_kind(g, b) == CT_SE3 && ct_graph_kind(g, p) == CT_R2 &&
          ct_graph_kind(g, q) == CT_R3 && ct_graph_find(g, "q") == q);
    const double *x = ct_graph_initial_const(g);
    const ct_se2  out2 = ct_graph_se2(g, x, a);
    const ct_se3  out3 = ct_graph_se3(g, x, b);
    CHECK(!memcmp(&out2, &plane, sizeof plane) && !memcmp(&out3, &space, sizeof space));
    CHECK(x[ct_graph_offset(g, p) + 1] == 8 && x[ct_graph_offset(g, q) + 2] == 11);
    CHECK(isnan(ct_graph_se2(g, x, b).x) && isnan(ct_graph_se3(g, x, a).qw) && isnan(ct_graph_se2(g, x, 99).c));
    CHECK_REFUSED(ct_graph_add_se2(g, "a", plane, NULL, &err), err, "variable a is there already");
    CHECK_REFUSED(ct_graph_add_se2(g, "c", (ct_se2){0, 0, 2, 0}, NULL, &err), err, "c");
    CHECK(ct_graph_variables(g) == 4);
    ct_graph_free(g);
}

static void test_factors_from_values_are_those_from_stored_doubles(void)
{
    ct_graph    *g = new_graph();
    ct_err       err = {0};
    const ct_se2 z2 = ct_se2_make(1, 2, 0.5);
    const ct_se3 z3 = ct_se3_exp((const double[]){0.1, -0.2, 0.3, 4, 5, 6});
    const double c = cos(0.3), s = sin(0.3), *in2 = &z2.x, *in3 = &z3.x;
    enum { A, B, C, D, P, Q };
    for (int i = 0; i < 2; i++) CHECK_OK(ct_graph_add_se2(g, NULL, z2, NULL, &err), err);
    for (int i = 0; i < 2; i++) CHECK_OK(ct_graph_add_se3(g, NULL, z3, NULL, &err), err);
    CHECK_OK(ct_graph_add_point2(g, NULL, (const double[]){3, 4}, NULL, &err), err);
    CHECK_OK(ct_graph_add_point3(g, NULL, (const double[]){3, 4, 5}, NULL, &err), err);
    CHECK_OK(ct_graph_add_prior_se2(g, A, z2, 0, &err), err);
    CHECK_OK(ct_graph_add_prior_se3(g, C, z3, 1, &err), err);
    CHECK_OK(ct_graph_add_between_se2(g, A, B, z2, 0, &err), err);
    CHECK_OK(ct_graph_add_between_se3(g, C, D, z3, 1, &err), err);
    CHECK_OK(ct_graph_add_position(g, A, (const double[]){5, 6}, 2, &err), err);
    CHECK_OK(ct_graph_add_position(g, C, (const double[]){5, 6, 7}, 3, &err), err);
    CHECK_OK(ct_graph_add_range(g, A, P, 2.5, 4, &err), err);
    CHECK_OK(ct_graph_add_range(g, C, Q, 3.5, 4, &err), err);
    CHECK_OK(ct_graph_add_landmark(g, B, P, (const double[]){1, -1}, 2, &err), err);
    CHECK_OK(ct_graph_add_landmark(g, D, Q, (const double[]){1, -1, 2}, 3, &err), err);
    CHECK_OK(ct_graph_add_bearing_se2(g, A, P, 0.3, 4, &err), err);
    CHECK_OK(ct_graph_add_range_bearing_se2(g, A, P, 2.5, 0.3, 2, &err), err);
    CHECK(same_factor(g, 0, &ct_prior_se2, (const int32_t[]){A}, in2, 0));
    CHECK(same_factor(g, 1, &ct_prior_se3, (const int32_t[]){C}, in3, 1));
    CHECK(same_factor(g, 2, &ct_between_se2, (const int32_t[]){A, B}, in2, 0));
    CHECK(same_factor(g, 3, &ct_between_se3, (const int32_t[]){C, D}, in3, 1));
    CHECK(same_factor(g, 4, &ct_position_se2, (const int32_t[]){A}, (const double[]){5, 6, 0, 0}, 2));
    CHECK(same_factor(g, 5, &ct_position_se3, (const int32_t[]){C}, (const double[]){5, 6, 7, 0, 0, 0}, 3));
    CHECK(same_factor(g, 6, &ct_range_se2_r2, (const int32_t[]){A, P}, (const double[]){2.5, 0, 0, 0}, 4));
    CHECK(same_factor(g, 7, &ct_range_se3_r3, (const int32_t[]){C, Q}, (const double[]){3.5, 0, 0, 0}, 4));
    CHECK(same_factor(g, 8, &ct_point_se2_r2, (const int32_t[]){B, P}, (const double[]){1, -1, 0, 0, 1, 0}, 2));
    CHECK(same_factor(g, 9, &ct_point_se3_r3, (const int32_t[]){D, Q},
                      (const double[]){1, -1, 2, 0, 0, 0, 0, 0, 0, 1}, 3));
    CHECK(same_factor(g, 10, &ct_bearing_se2_r2, (const int32_t[]){A, P}, (const double[]){c, s, 0, 0, 1, 0}, 4));
    CHECK(same_factor(g, 11, &ct_range_bearing_se2_r2, (const int32_t[]){A, P},
                      (const double[]){2.5, c, s, 0, 0, 1, 0}, 2));
    ct_graph_free(g);
}

static void test_factors_from_values_refuse_what_does_not_fit(void)
{
    ct_graph *g = small_graph(); /* 0 and 1 SE2, 2 R2, 3 SE3 */
    ct_err    err = {0};
    const int32_t factors = ct_graph_factors(g);
    CHECK_REFUSED(ct_graph_add_prior_se2(g, 3, ct_se2_identity(), 0, &err), err, "drone is SE3, it must be SE2");
    CHECK_REFUSED(ct_graph_add_between_se3(g, 0, 3, ct_se3_identity(), 5, &err), err, "start is SE2, it must be SE3");
    CHECK_REFUSED(ct_graph_add_between_se2(g, 0, 0, ct_se2_identity(), 0, &err), err, "named twice");
    CHECK_REFUSED(ct_graph_add_position(g, 2, (const double[]){1, 2}, 5, &err), err, "tower is R2, it must be SE2");
    CHECK_REFUSED(ct_graph_add_range(g, 9, 2, 1, 1, &err), err, "variable 9 of 4 does not exist");
    CHECK_REFUSED(ct_graph_add_range(g, 0, 2, -1, 1, &err), err, "range");
    CHECK_REFUSED(ct_graph_add_bearing_se2(g, 0, 2, NAN, 1, &err), err, "not finite");
    CHECK_REFUSED(ct_graph_add_range_bearing_se2(g, 0, 2, 1, 0, 1, &err), err, "has 2 rows, noise model 1 serves");
    CHECK_REFUSED(ct_graph_add_landmark(g, 3, 2, (const double[]){1, 2, 3}, 5, &err), err,
                  "tower is R2, it must be R3");
    CHECK(ct_graph_factors(g) == factors);
    ct_graph_free(g);
}

int main(void)
{
    RUN(test_factors_name_the_rows_of_their_models);
    RUN(test_what_goes_in_comes_out);
    RUN(test_every_kind_starts_at_its_identity_and_has_a_prior_and_a_between);
    RUN(test_names_are_found_and_cut_to_fit);
    RUN(test_arguments_are_copied);
    RUN(test_a_copy_is_equal_and_apart);
    RUN(test_what_does_not_belong_is_refused_and_leaves_no_trace);
    RUN(test_a_noise_table_must_fit);
    RUN(test_the_error_is_the_sum_of_its_factors);
    RUN(test_variables_are_fixed_and_freed);
    RUN(test_a_graph_like_gtsam_has_its_pose_models_alone);
    RUN(test_rotations_that_are_not_unit_are_refused);
    RUN(test_a_hundred_thousand_variables);
    RUN(test_values_go_in_and_come_out);
    RUN(test_factors_from_values_are_those_from_stored_doubles);
    RUN(test_factors_from_values_refuse_what_does_not_fit);
    return ct_test_end();
}
