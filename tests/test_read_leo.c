/* test_read_leo.c: LEO's JSON logs. */
#define _XOPEN_SOURCE 700
#include "data_test.h"

#include <unistd.h>

/* A log of two poses, one odometry and one position. */
#define POSES "\"poses_gt\": [[0, 0, 0], [1, 0, 0.5]]"
#define NAMES "\"factor_names\": [\"odom\", \"gps\"]"
#define SYMS  "\"factor_keysyms\": [[\"x\", \"x\"], [\"x\"]]"
#define IDS   "\"factor_keyids\": [[0, 1], [1]]"
#define COVS  "\"factor_covs\": [[0.1, 0.2, 0.3], [1, 2, 0.5]]"
#define MEAS  "\"factor_meas\": [[1, 0, 0.5], [1.5, 0, 0.5]]"
#define LOG(poses, names, syms, ids, covs, meas) "{" poses ", " names ", " syms ", " ids ", " covs ", " meas "}"

static int has_note(const run *r, const char *part) { return r->seq->note && strstr(r->seq->note, part); }

static run get(const char *text)
{
    run r;
    CHECK_OK(read_text(&r, CT_FORMAT_LEO, text), r.err);
    return r;
}

static const double *variance_of(const run *r, const char *model)
{
    return ct_noise_get(r->noise, ct_noise_find(r->noise, model))->covariance;
}

static const char *shared(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "../shared/golden/%s", name);
    if (access(path, R_OK)) snprintf(path, sizeof path, "../../shared/golden/%s", name);
    return access(path, R_OK) ? NULL : path;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static void test_a_log_is_poses_odometry_and_positions(void)
{
    run             r = get(LOG(POSES, NAMES, SYMS, IDS, COVS, MEAS));
    const ct_graph *g = r.seq->graph;
    const double   *truth = r.seq->truth;
    CHECK(ct_graph_variables(g) == 2 && ct_graph_factors(g) == 3);
    CHECK(ct_graph_find(g, "x0") == 0 && ct_graph_find(g, "x1") == 1 && ct_graph_kind(g, 1) == CT_SE2);
    const ct_se2 second = ct_se2_make(1, 0, 0.5);
    CHECK(!memcmp(truth + 4, &second, sizeof second) && r.seq->known[0] == 7 && r.seq->known[1] == 7);
    CHECK(same_bits(ct_graph_initial_const(g), truth, 8));

    const ct_factor first = ct_graph_factor(g, 0), odom = ct_graph_factor(g, 1), gps = ct_graph_factor(g, 2);
    CHECK(first.ops == &ct_prior_se2 && first.var[0] == 0 && same_bits(first.z, truth, 4));
    CHECK(odom.ops == &ct_between_se2 && odom.var[0] == 0 && odom.var[1] == 1 && odom.z[0] == 1);
    CHECK(gps.ops == &ct_prior_se2 && gps.var[0] == 1 && gps.z[0] == 1.5);
    const ct_noise_model *f = ct_noise_get(r.noise, first.noise), *o = ct_noise_get(r.noise, odom.noise),
                         *p = ct_noise_get(r.noise, gps.noise);
    CHECK(!strcmp(f->name, "first_pose") && f->covariance[0] == 1e-6 && f->covariance[2] == 1e-6);
    CHECK(!strcmp(o->name, "odom") && o->kind == CT_NOISE_DIAGONAL && o->covariance[1] == 0.2 * 0.2);
    CHECK(!strcmp(p->name, "gps") && p->covariance[1] == 4);
    CHECK(has_note(&r, "initial values are the truth") &&
          has_note(&r, "x0 is held at its truth by a prior of sigma 1e-3"));
    CHECK(has_note(&r, "factor_covs are sigmas"));
    run_free(&r);
}

static void test_a_fourth_number_is_the_regime(void)
{
    run r = get("{" POSES "," NAMES "," SYMS "," IDS ", \"factor_meas\": [[1, 0, 0.5, 0.0], [1, 0, 0.5, 1]]}");
    CHECK(!strcmp(ct_noise_get(r.noise, ct_graph_factor(r.seq->graph, 1).noise)->name, "odom@0"));
    CHECK(!strcmp(ct_noise_get(r.noise, ct_graph_factor(r.seq->graph, 2).noise)->name, "gps@1"));
    CHECK(ct_noise_count(r.noise) == 3 && variance_of(&r, "gps@1")[2] == 1);
    CHECK(has_note(&r, "no factor_covs: variances are 1"));
    run_free(&r);
}

static void test_nine_numbers_are_a_diagonal_of_sigmas(void)
{
    run r = get(LOG(POSES, NAMES, SYMS, IDS, "\"factor_covs\": [[0.5, 0, 0, 0, 2, 0, 0, 0, 3], [1, 1, 1]]", MEAS));
    const double *v = variance_of(&r, "odom");
    CHECK(v[0] == 0.25 && v[1] == 4 && v[2] == 9);
    run_free(&r);
}

static void test_poses_without_factors_are_left_out_and_said(void)
{
    run r = get(LOG("\"poses_gt\": [[9, 9, 9], [0, 0, 0], [1, 0, 0], [8, 8, 8]]", NAMES, SYMS,
                    "\"factor_keyids\": [[1, 2], [2]]", COVS, MEAS));
    CHECK(ct_graph_variables(r.seq->graph) == 2 && ct_graph_find(r.seq->graph, "x1") == 0 &&
          ct_graph_find(r.seq->graph, "x2") == 1);
    CHECK(has_note(&r, "2 poses that no factor touches are left out") && has_note(&r, "x1 is held"));
    run_free(&r);
}

static void test_sigmas_that_differ_within_a_model_are_said(void)
{
    run r = get(LOG("\"poses_gt\": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]", "\"factor_names\": [\"odom\", \"odom\"]",
                    "\"factor_keysyms\": [[\"x\", \"x\"], [\"x\", \"x\"]]", "\"factor_keyids\": [[0, 1], [1, 2]]",
                    "\"factor_covs\": [[1, 1, 1], [2, 2, 2]]", "\"factor_meas\": [[1, 0, 0], [1, 0, 0]]"));
    CHECK(has_note(&r, "1 factor_covs differ from the first of their noise model"));
    CHECK(variance_of(&r, "odom")[0] == 1);
    run_free(&r);
}

static void test_logs_share_their_models(void)
{
    static char  text[] = LOG(POSES, NAMES, SYMS, IDS, COVS, MEAS);
    run          r = get(text);
    ct_sequence *other = NULL;
    FILE        *file = fmemopen(text, sizeof text - 1, "rb");
    CHECK_OK(ct__sequence_read_stream(file, "t.txt", CT_FORMAT_LEO, NULL, r.noise, &other, &r.err), r.err);
    fclose(file);
    CHECK(ct_noise_count(r.noise) == 3 &&
          ct_graph_factor(r.seq->graph, 1).noise == ct_graph_factor(other->graph, 1).noise);
    ct_sequence_free(other);
    run_free(&r);
}

static void test_malformed_logs_are_refused_by_place(void)
{
    static const struct {
        ct_status   status;
        const char *text, *part;
    } bad[] = {
        {CT_E_PARSE, "{\"poses_gt\": \n [[0, 0, 0],]}", "t.txt:2:"},
        {CT_E_PARSE, "[1]", "t.txt: JSON without poses_gt"},
        {CT_E_PARSE, "{\"poses_gt\": 3}", "t.txt: poses_gt: expected a list, found 3"},
        {CT_E_PARSE, "{" POSES "}", "t.txt: factor_names: expected a list, found nothing"},
        {CT_E_PARSE, "{\"poses_gt\": [], " NAMES "," SYMS "," IDS "," MEAS "}", "poses_gt: no poses"},
        {CT_E_PARSE,
         "{" POSES ", \"factor_names\": [], \"factor_keysyms\": [], \"factor_keyids\": [], \"factor_meas\": []}",
         "factor_names: no factors"},
        {CT_E_PARSE, LOG("\"poses_gt\": [[0, 0, 0], [1, 0]]", NAMES, SYMS, IDS, COVS, MEAS),
         "t.txt: poses_gt[1]: expected 3 numbers, found a list of 2"},
        {CT_E_PARSE, LOG("\"poses_gt\": [[0, 0, 0], [1, null, 0]]", NAMES, SYMS, IDS, COVS, MEAS),
         "poses_gt[1][1]: expected a number, found null"},
        {CT_E_PARSE, LOG(POSES, "\"factor_names\": [\"odom\", \"lidar\"]", SYMS, IDS, COVS, MEAS),
         "factor_names[1]: expected \"odom\" or \"gps\", found \"lidar\""},
        {CT_E_UNSUPPORTED, LOG(POSES, "\"factor_names\": [\"odom\", \"tactile_rel\"]", SYMS, IDS, COVS, MEAS),
         "factor_names[1]: \"tactile_rel\" belongs to a pushing log"},
        {CT_E_UNSUPPORTED, "{\"obj_poses_gt\": [], \"ee_poses_gt\": []}", "t.txt: a pushing log"},
        {CT_E_PARSE, LOG(POSES, NAMES, "\"factor_keysyms\": [[\"x\", \"x\"]]", IDS, COVS, MEAS),
         "factor_keysyms: expected 2 entries as in factor_names, found 1"},
        {CT_E_PARSE, LOG(POSES, NAMES, "\"factor_keysyms\": [[\"x\"], [\"x\"]]", IDS, COVS, MEAS),
         "factor_keysyms[0]: expected 2 letters, found a list of 1"},
        {CT_E_PARSE, LOG(POSES, NAMES, "\"factor_keysyms\": [[\"x\", \"y\"], [\"x\"]]", IDS, COVS, MEAS),
         "factor_keysyms[0]: expected \"x\", found \"y\""},
        {CT_E_PARSE, LOG(POSES, NAMES, SYMS, "\"factor_keyids\": [[0, 2], [1]]", COVS, MEAS),
         "factor_keyids[0][1]: expected a whole number from 0 to 1, found 2"},
        {CT_E_PARSE, LOG(POSES, NAMES, SYMS, "\"factor_keyids\": [[0, 0.5], [1]]", COVS, MEAS),
         "factor_keyids[0][1]: expected a whole number"},
        {CT_E_PARSE, LOG(POSES, NAMES, SYMS, "\"factor_keyids\": [[1, 1], [1]]", COVS, MEAS),
         "factor_keyids[0]: odom from pose 1 to itself"},
        {CT_E_PARSE, LOG(POSES, NAMES, SYMS, "\"factor_keyids\": [0, [1]]", COVS, MEAS),
         "factor_keyids[0]: expected 2 pose numbers, found 0"},
        {CT_E_PARSE, LOG(POSES, NAMES, SYMS, IDS, COVS, "\"factor_meas\": [[1, 0, 0], [1, 0]]"),
         "factor_meas[1]: expected 3 or 4 numbers, found a list of 2"},
        {CT_E_PARSE, LOG(POSES, NAMES, SYMS, IDS, COVS, "\"factor_meas\": [[1, 0, 0], [1, 0, 0, 0.5]]"),
         "factor_meas[1][3]: expected a whole number, the regime, found 0.5"},
        {CT_E_PARSE, LOG(POSES, NAMES, SYMS, IDS, "\"factor_covs\": [[1, 1, 1], [1, 1, 1, 1]]", MEAS),
         "factor_covs[1]: expected 3 sigmas, or 9 (a diagonal matrix), found 4"},
        {CT_E_PARSE, LOG(POSES, NAMES, SYMS, IDS, "\"factor_covs\": [[1, 1, 1], [1, 1, -1]]", MEAS),
         "factor_covs[1]: expected a positive sigma, found -1"},
        {CT_E_PARSE, LOG(POSES, NAMES, SYMS, IDS, "\"factor_covs\": [[1, 1, 1], [1, 0.5, 0, 0, 1, 0, 0, 0, 1]]", MEAS),
         "factor_covs[1][1]: expected 0 off the diagonal"},
        {CT_E_NOISE, LOG(POSES, NAMES, SYMS, IDS, "\"factor_covs\": [[1, 1, 1e-200], [1, 1, 1]]", MEAS),
         "t.txt: noise model \"odom\": variance of coordinate 2"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        run r;
        CHECK_REFUSED(read_text(&r, CT_FORMAT_LEO, bad[i].text), r.err, bad[i].part);
        CHECK(r.seq == NULL && r.err.status == bad[i].status);
        run_free(&r);
    }
}

/* ---- The shared logs ------------------------------------------------------------------------- */

/* Mean over the factors of one model of r^2 / variance, residuals r = Log(z^-1 g(x)) at the truth. */
static double normalised_square(const run *r, int32_t model, int *count)
{
    const ct_graph *g = r->seq->graph;
    double          sum = 0;
    *count = 0;
    for (int32_t f = 0; f < ct_graph_factors(g); f++) {
        const ct_factor factor = ct_graph_factor(g, f);
        if (factor.noise != model) continue;
        double e[3];
        ct_se2 a, b;
        memcpy(&a, r->seq->truth + ct_graph_offset(g, factor.var[0]), sizeof a);
        if (factor.ops->arity == 2) {
            memcpy(&b, r->seq->truth + ct_graph_offset(g, factor.var[1]), sizeof b);
            a = ct_se2_between(a, b, NULL, NULL);
        }
        ct_kind_local(CT_SE2, factor.z, &a.x, e);
        for (int i = 0; i < 3; i++, ++*count) sum += e[i] * e[i] / ct_noise_get(r->noise, model)->covariance[i];
    }
    return sum / *count;
}

static run get_file(const char *path)
{
    run r = {0};
    CHECK_OK(ct_noise_new(&r.noise, &r.err), r.err);
    CHECK_OK(ct_sequence_read(path, CT_FORMAT_AUTO, r.noise, &r.seq, &r.err), r.err);
    return r;
}

/* That factor_covs are sigmas: then residuals at the truth, so scaled, have mean square one. Taken
 * for variances they would be .01 to .1 where sigma is .1. */
static void check_sigmas(const char *name, int models)
{
    const char *path = shared(name);
    if (!path) SKIP("the shared logs are not here");
    run r = get_file(path);
    CHECK(ct_graph_variables(r.seq->graph) == 40 && ct_graph_factors(r.seq->graph) == 79 &&
          ct_noise_count(r.noise) == models);
    for (int32_t m = 0; m < models; m++) {
        int          n;
        const double square = normalised_square(&r, m, &n);
        if (!strcmp(ct_noise_get(r.noise, m)->name, "first_pose")) CHECK(square == 0);
        else CHECK_NEAR(square, 1, 4 * sqrt(2.0 / n));
    }
    CHECK_NEAR(ct_graph_error(r.seq->graph, r.noise, r.seq->truth), 78 * 1.5, 4 * sqrt(78 * 1.5));
    run_free(&r);
}

static void test_the_sigmas_of_a_log_with_one_regime_fit_its_residuals(void)
{
    check_sigmas("nav_one_regime/train/0000.json", 3);
}
static void test_the_sigmas_of_a_log_with_two_regimes_fit_its_residuals(void)
{
    check_sigmas("nav_two_regimes/train/0001.json", 5);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void test_a_written_log_is_read_back_the_same(void)
{
    const char *path = shared("nav_two_regimes/train/0000.json");
    if (!path) SKIP("the shared logs are not here");
    int64_t dropped = -1;
    run     r = get_file(path);
    char   *text = write_text(&r, CT_FORMAT_LEO, NULL, 0, &dropped);
    CHECK(text && dropped == 0);
    run again = get(text);
    for (int32_t m = 0; m < ct_noise_count(r.noise); m++) { /* sigma squared is the variance to rounding */
        const ct_noise_model *a = ct_noise_get(r.noise, m);
        const double         *v = variance_of(&again, a->name);
        for (int i = 0; i < 3; i++) CHECK_NEAR(v[i] / a->covariance[i], 1, 1e-15);
        CHECK_OK(ct_noise_set_variance(again.noise, ct_noise_find(again.noise, a->name), a->covariance, &again.err),
                 again.err);
    }
    check_same_run(&r, &again, 1);
    free(text);
    run_free(&again);
    run_free(&r);
}

static void check_losses(run *r, int64_t losses, const char *part)
{
    int64_t dropped = -1;
    CHECK(write_text(r, CT_FORMAT_LEO, NULL, 0, NULL) == NULL && r->err.status == CT_E_UNSUPPORTED);
    CHECK(strstr(r->err.text, part));
    char *text = write_text(r, CT_FORMAT_LEO, NULL, 1, &dropped);
    CHECK(text && dropped == losses);
    free(text);
}

static void test_what_a_log_cannot_hold_is_refused_or_counted(void)
{
    run          r = get(LOG(POSES, NAMES, SYMS, IDS, COVS, MEAS));
    ct_graph    *g = r.seq->graph;
    const double z[4] = {0, 0, 1, 0}, S[9] = {1, 0.5, 0, 0.5, 1, 0, 0, 0, 1};
    int32_t      loop, spring;
    CHECK_OK(ct_noise_add_isotropic(r.noise, "loop", 3, 1, &loop, &r.err), r.err);
    CHECK_OK(ct_noise_add_isotropic(r.noise, "odom@spring", 3, 1, &spring, &r.err), r.err);
    ct_graph_initial(g)[4] += 1;
    check_losses(&r, 1, "variable x1: a LEO log has no place for a value other than the truth");
    ct_graph_initial(g)[4] -= 1;
    CHECK_OK(ct_graph_add_between(g, 1, 0, z, loop, &r.err), r.err);
    check_losses(&r, 1,
                 "factor 3 (between_se2): its noise model is \"loop\"; a LEO log knows \"odom\" and \"odom@NUMBER\"");
    CHECK_OK(ct_graph_add_between(g, 1, 0, z, spring, &r.err), r.err);
    CHECK_OK(ct_noise_set_covariance(r.noise, ct_noise_find(r.noise, "gps"), S, &r.err), r.err);
    CHECK_OK(ct_noise_set_robust(r.noise, ct_noise_find(r.noise, "odom"), (ct_robust){CT_ROBUST_HUBER, 1, 0}, &r.err),
             r.err);
    check_losses(&r, 4, "factor 1: a LEO log has no place for the robust kernel of noise model \"odom\"");
    ct_graph_fix(g, 0, 1);
    check_losses(&r, 5, "variable x0: a LEO log cannot mark it as fixed");
    r.seq->known[1] = 3;
    CHECK(write_text(&r, CT_FORMAT_LEO, NULL, 1, NULL) == NULL);
    CHECK(strstr(r.err.text, "variable x1: a LEO log is made of true poses"));
    run_free(&r);
}

int main(void)
{
    RUN(test_a_log_is_poses_odometry_and_positions);
    RUN(test_a_fourth_number_is_the_regime);
    RUN(test_nine_numbers_are_a_diagonal_of_sigmas);
    RUN(test_poses_without_factors_are_left_out_and_said);
    RUN(test_sigmas_that_differ_within_a_model_are_said);
    RUN(test_logs_share_their_models);
    RUN(test_malformed_logs_are_refused_by_place);
    RUN(test_the_sigmas_of_a_log_with_one_regime_fit_its_residuals);
    RUN(test_the_sigmas_of_a_log_with_two_regimes_fit_its_residuals);
    RUN(test_a_written_log_is_read_back_the_same);
    RUN(test_what_a_log_cannot_hold_is_refused_or_counted);
    return ct_test_end();
}
