/* test_divergence.c: diverged estimates are named and counted, with and without truth, and are in no mean. */
#define _XOPEN_SOURCE 700
#include "start_test.h"

#include "evaluate/evaluate.h"

/* The evaluation of the world's values x, as if a solve had ended there. */
static ct_diverged divergence_at(world *w, int nees)
{
    ct_solver    *solver = NULL;
    ct_evaluation e = {.solve = {.stop = CT_STOP_ERROR}};
    e.solve.final_error = ct_graph_error(w->graph, w->noise, w->x);
    e.accuracy = ct_accuracy_of(w->seq, w->x);
    e.consistency = (ct_consistency){.chi_squared = 2 * e.solve.final_error, .degrees = w->poses, .nees = NAN};
    CHECK_OK(ct_solver_new(w->graph, NULL, &solver, &w->err), w->err);
    if (nees) {
        const int32_t n = ct_graph_variables(w->graph);
        double       *each = calloc((size_t)n, sizeof *each);
        int          *degrees = calloc((size_t)n, sizeof *degrees);
        CHECK_OK(ct_nees_each(w->seq, w->noise, solver, w->x, each, degrees, &w->err), w->err);
        e.consistency.nees = 0;
        for (int32_t v = 0; v < n; v++)
            if (degrees[v]) e.consistency.nees += each[v], e.consistency.nees_degrees += degrees[v];
        free(each);
        free(degrees);
    }
    CHECK_OK(ct__find_divergence(w->seq, w->noise, solver, w->x, &e, &w->err), w->err);
    ct_solver_free(solver);
    return e.diverged;
}

static world true_world(int poses)
{
    world_options o = {.poses = poses, .sigma = 0.05};
    world         w = world_new(&o);
    for (int k = 0; k < w.poses; k++) world_stored(0, k, w.x + ct_graph_offset(w.graph, k));
    return w;
}

/* The truth of every pose, moved by d metres along x. */
static void set_truth(world *w, double d)
{
    w->seq->truth = calloc((size_t)ct_graph_size(w->graph), sizeof *w->seq->truth);
    w->seq->known = calloc((size_t)ct_graph_variables(w->graph), 1);
    for (int k = 0; k < w->poses; k++) {
        double *truth = w->seq->truth + ct_graph_offset(w->graph, k);
        world_stored(0, k, truth);
        truth[0] += d;
        w->seq->known[k] = 7;
    }
}

static void test_a_far_minimum_shows_without_truth(void)
{
    world w = true_world(300);
    CHECK(divergence_at(&w, 0) == CT_DIVERGED_NO);
    for (int k = 100; k < 110; k++) w.x[ct_graph_offset(w.graph, k)] += 5;
    CHECK(divergence_at(&w, 0) == CT_DIVERGED_TENSION);
    for (int32_t m = 0; m < 2; m++) /* whatever the scale of the noise */
        CHECK_OK(ct_noise_set_variance(w.noise, m, (const double[]){1e6}, &w.err), w.err);
    CHECK(divergence_at(&w, 0) == CT_DIVERGED_TENSION);
    world_free(&w);
}

static void test_an_estimate_on_top_of_a_landmark_has_diverged(void)
{
    world w = true_world(300);
    for (int32_t f = 0; f < ct_graph_factors(w.graph); f++) {
        const ct_factor k = ct_graph_factor(w.graph, f);
        if (k.ops != &ct_range_bearing_se2_point || k.var[0] < 200) continue;
        double *x = w.x + ct_graph_offset(w.graph, k.var[0]); /* z: range, direction, point, sensor */
        x[0] = k.z[3] - (x[2] * k.z[5] - x[3] * k.z[6]);
        x[1] = k.z[4] - (x[3] * k.z[5] + x[2] * k.z[6]);
        break;
    }
    CHECK(divergence_at(&w, 0) == CT_DIVERGED_ON_POINT);
    world_free(&w);
}

static void test_a_run_far_from_its_truth_has_diverged_and_small_sigmas_alone_have_not(void)
{
    world w = true_world(300), small = true_world(300);
    set_truth(&w, 1000);
    CHECK(divergence_at(&w, 0) == CT_DIVERGED_TRUTH);
    CHECK(divergence_at(&w, 1) == CT_DIVERGED_NEES);
    set_truth(&small, 0.05);
    CHECK(divergence_at(&small, 1) == CT_DIVERGED_NO);
    for (int32_t m = 0; m < 2; m++) /* all sigmas too small by a thousand: residuals say so as well */
        CHECK_OK(ct_noise_set_variance(small.noise, m, (const double[]){1e-10}, &small.err), small.err);
    CHECK(divergence_at(&small, 1) == CT_DIVERGED_NO);
    world_free(&w);
    world_free(&small);
}

static void test_means_are_without_diverged_estimates_and_say_so(void)
{
    enum { N = 5 };
    ct_evaluation each[N];
    ct_sequence   seq[N] = {{0}}, *list[N];
    char          name[N][16];
    ct_err        err = {0};
    ct_findings   findings = {0};
    ct_summary    s;
    for (int i = 0; i < N; i++) {
        each[i] = (ct_evaluation){.solve = {.stop = CT_STOP_ERROR}, .loss = 1};
        each[i].accuracy = (ct_accuracy){10, 0.1, 0.01, 0.14};
        each[i].consistency = (ct_consistency){100, 100, 300, 300, NAN};
        snprintf(name[i], sizeof name[i], "run%d", i);
        seq[i].name = name[i];
        list[i] = &seq[i];
    }
    each[3].loss = 1e6;
    each[3].accuracy.translation = 50;
    each[3].consistency = (ct_consistency){2e4, 100, 3e13, 300, NAN};
    CHECK_OK(ct__compare_divergence(N, each, &err), err);
    CHECK(each[3].diverged == CT_DIVERGED_CHI_SQUARED && !strcmp(ct_diverged_name(each[3].diverged), "chi_squared"));
    CHECK(ct_evaluation_has_estimate(&each[3]) && !ct_evaluation_counts(&each[3]) && ct_evaluation_failed(&each[3]));
    CHECK(!strncmp(ct_evaluation_reason(&each[3]), "diverged: ", 10));
    CHECK(ct_evaluation_counts(&each[2]) && !strcmp(ct_evaluation_reason(&each[2]), ct_stop_meaning(CT_STOP_ERROR)));
    CHECK_OK(ct_summarise(N, each, NULL, &s, &err), err);
    CHECK(s.sequences == N && s.averaged == N - 1 && s.failed == 1 && s.diverged == 1);
    CHECK_NEAR(s.accuracy.translation, 0.1, 1e-12);
    CHECK_NEAR(s.nees, 1, 1e-12);
    CHECK_NEAR(s.with_diverged.translation, (4 * 0.1 + 50) / 5, 1e-12);
    CHECK_NEAR(s.with_diverged.nees, (4 * 300 + 3e13) / 1500, 1);
    CHECK_OK(ct_diverged_find(N, list, each, &findings, &err), err);
    CHECK(findings.count == 1 && findings.item[0].code == CT_FINDING_DIVERGED && findings.item[0].subjects == 1);
    CHECK(findings.item[0].value[0] == 1 && !strcmp(findings.item[0].subject[0].name, "run3"));
    ct_findings_free(&findings);
    each[3].diverged = CT_DIVERGED_NO;
    CHECK_OK(ct__compare_divergence(2, each + 3, &err), err); /* two are too few to compare */
    CHECK(!each[3].diverged);
    CHECK_OK(ct_diverged_find(N, list, each, &findings, &err), err);
    CHECK(findings.count == 0);
}

int main(void)
{
    RUN(test_a_far_minimum_shows_without_truth);
    RUN(test_an_estimate_on_top_of_a_landmark_has_diverged);
    RUN(test_a_run_far_from_its_truth_has_diverged_and_small_sigmas_alone_have_not);
    RUN(test_means_are_without_diverged_estimates_and_say_so);
    return ct_test_end();
}
