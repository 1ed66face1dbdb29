/* test_rank_deficiency.c: what the measurements leave loose is named, all of it and nothing else, by every method;
 * what is only poorly known is not. */
#include "graph_test.h"

static void begin(world *w, uint64_t seed)
{
    *w = (world){.rng = ct_rng_seed(seed)};
    CHECK_OK(ct_graph_new(&w->graph, &w->err), w->err);
    CHECK_OK(ct_noise_new(&w->noise, &w->err), w->err);
}

/* `count` poses a metre apart, odometry between them; returns the first. */
static int32_t add_chain(world *w, ct_kind kind, int count)
{
    const int32_t first = ct_graph_variables(w->graph);
    for (int i = 0; i < count; i++) {
        double x[CT_SIZE_MAX];
        ct_kind_identity(kind, x);
        if (kind == CT_SE2 || kind == CT_SE3 || kind == CT_R2 || kind == CT_R3) x[0] = i, x[1] = first;
        add_variable(w, kind, x);
        if (i) tie(w, ct_factor_between(kind), first + i - 1, first + i);
    }
    return first;
}

static int32_t add_point(world *w, ct_kind kind, double x, double y)
{
    return add_variable(w, kind, (const double[]){x, y, 0.5});
}

static void check_one(world *w, const ct_solve_options *options, const ct_sparse_options *how, const char *text,
                      int32_t first, int32_t end)
{
    char            buf[256], tiny[8];
    ct_solve_result result;
    ct_solver      *solver = new_solver(w, how);
    double         *x = copy_values(w->graph, ct_graph_initial(w->graph));
    CHECK_OK(ct_solver_run(solver, w->noise, x, options, &result, &w->err), w->err);
    CHECK(result.stop == CT_STOP_RANK && result.undetermined == end - first);
    if (strcmp(ct_solver_undetermined_text(solver, buf, sizeof buf), text)) {
        ct_test_failed_checks++;
        fprintf(stderr, "%s, %s: wanted \"%s\", got \"%s\" (stop %s)\n", ct_method_name(options->method),
                ct_order_name(how->order), text, buf, ct_stop_name(result.stop));
    }
    CHECK(strlen(ct_solver_undetermined_text(solver, tiny, sizeof tiny)) == sizeof tiny - 1);
    for (int32_t v = 0; v < ct_graph_variables(w->graph); v++)
        CHECK(ct_solver_undetermined(solver, v) == (v >= first && v < end));
    for (int64_t i = 0; i < ct_graph_size(w->graph); i++) CHECK(isfinite(x[i]));
    CHECK_REFUSED(ct_solver_linearise(solver, w->noise, ct_graph_initial(w->graph), &w->err), w->err, text);
    CHECK(w->err.status == CT_E_SINGULAR);
    ct_solver_free(solver);
    free(x);
}

/* Variables [first, end) and no others are loose, and `text` says so: by every method, in every order. */
static void check_loose(world *w, const char *text, int32_t first, int32_t end)
{
    for (int method = 0; method < CT_METHOD_COUNT; method++)
        for (int order = 0; order < CT_ORDER_COUNT; order++) {
            ct_solve_options options = ct_solve_defaults();
            options.method = (ct_method)method;
            check_one(w, &options, &(ct_sparse_options){.order = (ct_order)order}, text, first, end);
        }
}

/* Nothing is loose; the run converges, by every method, in every order. */
static void check_firm(world *w)
{
    for (int method = 0; method < CT_METHOD_COUNT; method++)
        for (int order = 0; order < CT_ORDER_COUNT; order++) {
            char             text[128];
            ct_solve_options options = ct_solve_defaults();
            ct_solve_result  result;
            options.method = (ct_method)method;
            ct_solver *solver = new_solver(w, &(ct_sparse_options){.order = (ct_order)order});
            double    *x = copy_values(w->graph, ct_graph_initial(w->graph));
            CHECK_OK(ct_solver_run(solver, w->noise, x, &options, &result, &w->err), w->err);
            CHECK_OK(ct_solver_linearise(solver, w->noise, x, &w->err), w->err);
            CHECK(result.undetermined == 0 &&
                  !strcmp(ct_solver_undetermined_text(solver, text, sizeof text), "every variable is determined"));
            if (!ct_stop_converged(result.stop)) {
                ct_test_failed_checks++;
                fprintf(stderr, "%s, %s: stop %s\n", ct_method_name(options.method), ct_order_name((ct_order)order),
                        ct_stop_name(result.stop));
            }
            ct_solver_free(solver);
            free(x);
        }
}

/* ---- loose ------------------------------------------------------------------------------------- */

static void test_a_chain_without_a_prior_is_loose_as_a_whole(void)
{
    world w;
    begin(&w, 1);
    add_chain(&w, CT_SE2, 5);
    check_loose(&w, "x0 and 4 others: no factor fixes their position and heading", 0, 5);
    world_free(&w);
    begin(&w, 2);
    add_chain(&w, CT_SE3, 4);
    check_loose(&w, "x0 and 3 others: no factor fixes their position and orientation", 0, 4);
    world_free(&w);
    begin(&w, 3);
    add_chain(&w, CT_R3, 2);
    check_loose(&w, "x0 and 1 other: no factor fixes their position", 0, 2);
    world_free(&w);
    begin(&w, 4);
    add_chain(&w, CT_SO2, 3);
    check_loose(&w, "x0 and 2 others: no factor fixes their heading", 0, 3);
    world_free(&w);
    begin(&w, 5);
    add_chain(&w, CT_SO3, 3);
    check_loose(&w, "x0 and 2 others: no factor fixes their orientation", 0, 3);
    world_free(&w);
}

static void test_a_loop_without_a_prior_is_loose_as_a_whole(void)
{
    world w;
    world_make(&w, 6, PLANE | LOOPS | LANDMARKS);
    world loose;
    begin(&loose, 6);
    for (int32_t v = 0; v < ct_graph_variables(w.graph); v++)
        add_variable(&loose, ct_graph_kind(w.graph, v), w.truth + ct_graph_offset(w.graph, v));
    for (int32_t f = 0; f < ct_graph_factors(w.graph); f++) {
        const ct_factor k = ct_graph_factor(w.graph, f);
        if (!k.ops->absolute) tie(&loose, k.ops, k.var[0], k.var[1]);
    }
    check_loose(&loose, "x0 and 15 others: no factor fixes their position and heading", 0, 16);
    world_free(&loose);
    world_free(&w);
}

static void test_landmarks_seen_once_are_loose(void)
{
    static const ct_factor_ops *const once[] = {&ct_bearing_se2_r2, &ct_range_se2_r2, &ct_bearing_se3_r3,
                                                &ct_range_se3_r3};
    for (int i = 0; i < 4; i++) {
        world     w;
        const int space = i / 2;
        begin(&w, 10 + (uint64_t)i);
        const int32_t first = add_chain(&w, space ? CT_SE3 : CT_SE2, 4);
        tie(&w, ct_factor_prior(space ? CT_SE3 : CT_SE2), first, -1);
        const int32_t point = add_point(&w, space ? CT_R3 : CT_R2, 2, 5);
        tie(&w, once[i], 1, point);
        check_loose(&w, "x4: no factor fixes its position", point, point + 1);
        tie(&w, once[i], 3, point); /* seen from elsewhere as well: firm, but a range in space */
        if (i < 3) check_firm(&w);
        else check_loose(&w, "x4: no factor fixes its position", point, point + 1);
        world_free(&w);
    }
}

static void test_only_the_component_without_an_anchor_is_loose(void)
{
    world w;
    begin(&w, 20);
    add_chain(&w, CT_SE2, 6);
    tie(&w, &ct_prior_se2, 3, -1);
    add_chain(&w, CT_SE2, 3);
    check_loose(&w, "x6 and 2 others: no factor fixes their position and heading", 6, 9);
    world_free(&w);
    begin(&w, 21);
    add_chain(&w, CT_SE3, 3);
    add_chain(&w, CT_SE3, 3);
    tie(&w, &ct_prior_se3, 5, -1);
    check_loose(&w, "x0 and 2 others: no factor fixes their position and orientation", 0, 3);
    ct_graph_fix(w.graph, 1, 1); /* an anchor of another sort */
    check_firm(&w);
    world_free(&w);
}

static void add_fix(world *w, int32_t pose, double arm)
{
    const double z[4] = {1, 2, arm, 0};
    int32_t      noise = ct_noise_find(w->noise, "fix");
    if (noise < 0) CHECK_OK(ct_noise_add_isotropic(w->noise, "fix", 2, 0.01, &noise, &w->err), w->err);
    CHECK_OK(ct_graph_add_factor(w->graph, &ct_position_se2, &pose, z, NULL, noise, &w->err), w->err);
}

static void test_a_pose_with_a_position_fix_has_no_heading(void)
{
    world w;
    begin(&w, 30);
    add_chain(&w, CT_SE2, 3);
    tie(&w, &ct_prior_se2, 0, -1);
    const int32_t alone = add_variable(&w, CT_SE2, (const double[]){7, 8, 1, 0});
    add_fix(&w, alone, 0);
    check_loose(&w, "x3: no factor fixes its heading", 3, 4);
    world_free(&w);
    begin(&w, 31);
    add_variable(&w, CT_SE2, (const double[]){7, 8, 1, 0});
    add_fix(&w, 0, 0.5); /* the antenna is known, the body may swing about it */
    check_loose(&w, "x0: no factor fixes its position and heading", 0, 1);
    add_fix(&w, 0, -0.5); /* a second antenna */
    check_firm(&w);
    world_free(&w);
}

static void test_a_variable_without_factors_is_loose(void)
{
    world w;
    begin(&w, 40);
    add_chain(&w, CT_SE2, 3);
    tie(&w, &ct_prior_se2, 0, -1);
    add_variable(&w, CT_SE2, (const double[]){1, 1, 1, 0});
    check_loose(&w, "x3: no factor fixes its position and heading", 3, 4);
    add_point(&w, CT_R2, 1, 1);
    check_loose(&w, "x3 and 1 other: no factor fixes their position and heading", 3, 5);
    ct_graph_fix(w.graph, 3, 1);
    check_loose(&w, "x4: no factor fixes its position", 4, 5);
    world_free(&w);
}

static void test_many_that_are_loose_are_all_named(void)
{
    world w;
    begin(&w, 50);
    add_chain(&w, CT_SE2, 4);
    tie(&w, &ct_prior_se2, 0, -1);
    for (int i = 0; i < 150; i++) {
        const int32_t a = add_point(&w, CT_R2, i, 5), b = add_point(&w, CT_R2, i, 6);
        tie(&w, &ct_between_r2, a, b);
    }
    check_loose(&w, "x4 and 299 others: no factor fixes their position", 4, 304);
    world_free(&w);
    begin(&w, 51);
    add_chain(&w, CT_SE2, 4);
    tie(&w, &ct_prior_se2, 0, -1);
    for (int i = 0; i < 300; i++) tie(&w, &ct_bearing_se2_r2, i % 4, add_point(&w, CT_R2, 3 + i % 17, 5 + i % 13));
    /* lm would send them along their rays, some into the sensor */
    for (int order = 0; order < CT_ORDER_COUNT; order++) {
        ct_solve_options options = ct_solve_defaults();
        options.method = CT_GAUSS_NEWTON;
        check_one(&w, &options, &(ct_sparse_options){.order = (ct_order)order},
                  "x4 and 299 others: no factor fixes their position", 4, 304);
    }
    world_free(&w);
}

/* A kernel that shuts a measurement out altogether leaves what hung on it loose. */
static void test_what_a_kernel_shuts_out_is_loose(void)
{
    world   w;
    int32_t noise;
    begin(&w, 60);
    add_chain(&w, CT_SE2, 2);
    tie(&w, &ct_prior_se2, 0, -1);
    const int32_t point = add_point(&w, CT_R2, 1, 4);
    CHECK_OK(ct_noise_add_isotropic(w.noise, "tukey", 2, 1e-4, &noise, &w.err), w.err);
    CHECK_OK(ct_graph_add_factor(w.graph, &ct_point_se2_r2, (const int32_t[]){1, point},
                                 (const double[]){9, 9, 0, 0, 1, 0}, NULL, noise, &w.err),
             w.err);
    check_firm(&w);
    CHECK_OK(ct_noise_set_robust(w.noise, noise, (ct_robust){CT_ROBUST_TUKEY, 4.7, 0}, &w.err), w.err);
    check_loose(&w, "x2: no factor fixes its position", point, point + 1);
    world_free(&w);
}

/* ---- firm, if barely ---------------------------------------------------------------------------- */

/* The far end is known to a hundred metres, each step to a centimetre: poor, not loose. */
static void check_long_chain(ct_kind kind, int poses, int anchor)
{
    world  w;
    double z[CT_SIZE_MAX];
    begin(&w, 70);
    const int dim = ct_kind_dim(kind);
    CHECK_OK(ct_noise_add_isotropic(w.noise, "odom", dim, 1e-4, NULL, &w.err), w.err);
    ct_kind_identity(kind, z);
    z[0] = 1;
    for (int i = 0; i < poses; i++) {
        double x[CT_SIZE_MAX];
        ct_kind_identity(kind, x);
        x[0] = i;
        ct_graph_add_variable(w.graph, NULL, kind, x, NULL, &w.err);
        if (i == anchor) ct_graph_add_prior(w.graph, i, x, 0, &w.err);
        if (i) ct_graph_add_between(w.graph, i - 1, i, z, 0, &w.err);
    }
    ct_graph_initial(w.graph)[ct_graph_offset(w.graph, poses / 2)] += 0.01;
    check_firm(&w);
    world_free(&w);
}

static void test_a_long_chain_is_poorly_known_and_not_loose(void)
{
    const int n = ct_test_slow() ? 1000 : 20000;
    check_long_chain(CT_SE2, 5 * n, 0);
    check_long_chain(CT_SE2, n, n - 1);
    check_long_chain(CT_SE3, n, 0);
    check_long_chain(CT_SE3, n / 4, n / 8);
}

/* A prior next to nothing against odometry next to certain: 4e-13 of its information. (Below 4e-16 it is lost in the
 * rounding of H, and called loose.) */
static void test_a_weak_prior_is_a_prior(void)
{
    for (double variance = 1; variance < 1e10; variance *= 1000)
        for (int k = 0; k < 2; k++) {
            world         w;
            int32_t       noise;
            const ct_kind kind = k ? CT_SE3 : CT_SE2;
            begin(&w, 80);
            add_chain(&w, kind, 6);
            tie(&w, ct_factor_between(kind), 5, 0);
            CHECK_OK(ct_noise_add_isotropic(w.noise, "weak", ct_kind_dim(kind), variance, &noise, &w.err), w.err);
            CHECK_OK(ct_graph_add_prior(w.graph, 0, w.truth, noise, &w.err), w.err);
            const int failed = ct_test_failed_checks;
            check_firm(&w);
            if (ct_test_failed_checks > failed) fprintf(stderr, "  prior of variance %g\n", variance);
            world_free(&w);
        }
}

/* Two bearings a millimetre apart fix a landmark five metres away, to a metre or so. */
static void test_a_short_baseline_is_a_baseline(void)
{
    for (double base = 1e-1; base > 1e-5; base /= 10) {
        world w;
        begin(&w, 90);
        CHECK_OK(ct_noise_add_isotropic(w.noise, "pose", 3, 1e-12, NULL, &w.err), w.err);
        CHECK_OK(ct_noise_add_isotropic(w.noise, "bearing", 1, 1e-10, NULL, &w.err), w.err);
        const double p[2] = {0.3, 5};
        const int32_t point = add_variable(&w, CT_R2, p);
        for (int i = 0; i < 2; i++) {
            const double  x[4] = {base * i, 0, 1, 0}, length = hypot(p[0] - x[0], p[1]);
            const double  z[6] = {(p[0] - x[0]) / length, p[1] / length, 0, 0, 1, 0};
            int32_t       pose;
            CHECK_OK(ct_graph_add_variable(w.graph, NULL, CT_SE2, x, &pose, &w.err), w.err);
            CHECK_OK(ct_graph_add_prior(w.graph, pose, x, 0, &w.err), w.err);
            CHECK_OK(
                ct_graph_add_factor(w.graph, &ct_bearing_se2_r2, (const int32_t[]){pose, point}, z, NULL, 1, &w.err),
                w.err);
        }
        const int failed = ct_test_failed_checks;
        check_firm(&w);
        if (ct_test_failed_checks > failed) fprintf(stderr, "  base line of %g\n", base);
        world_free(&w);
    }
}

int main(void)
{
    RUN(test_a_chain_without_a_prior_is_loose_as_a_whole);
    RUN(test_a_loop_without_a_prior_is_loose_as_a_whole);
    RUN(test_landmarks_seen_once_are_loose);
    RUN(test_only_the_component_without_an_anchor_is_loose);
    RUN(test_a_pose_with_a_position_fix_has_no_heading);
    RUN(test_a_variable_without_factors_is_loose);
    RUN(test_many_that_are_loose_are_all_named);
    RUN(test_what_a_kernel_shuts_out_is_loose);
    RUN(test_a_long_chain_is_poorly_known_and_not_loose);
    RUN(test_a_weak_prior_is_a_prior);
    RUN(test_a_short_baseline_is_a_baseline);
    return ct_test_end();
}
