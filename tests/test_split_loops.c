/* test_split_loops.c: odometry and loops of a pose graph, told apart by the numbers of its poses. */
#include "ct_test.h"

#include <covtune/data.h>

typedef struct {
    ct_noise    *noise;
    ct_sequence *seq;
    ct_err       err;
} graph;

static graph begin(void)
{
    graph g = {0};
    CHECK_OK(ct_noise_new(&g.noise, &g.err), g.err);
    CHECK_OK(ct_sequence_new(NULL, &g.seq, &g.err), g.err);
    CHECK_OK(ct_noise_add_diagonal(g.noise, "edge", 3, (const double[]){1, 2, 3}, NULL, &g.err), g.err);
    CHECK_OK(ct_noise_add_isotropic(g.noise, "edge#1", 3, 4, NULL, &g.err), g.err);
    return g;
}

static void end(graph *g)
{
    ct_sequence_free(g->seq);
    ct_noise_free(g->noise);
}

static int32_t pose(graph *g, const char *name)
{
    int32_t v = ct_graph_find(g->seq->graph, name);
    if (v < 0) CHECK_OK(ct_graph_add_variable(g->seq->graph, name, CT_SE2, NULL, &v, &g->err), g->err);
    return v;
}

static void edge(graph *g, const char *a, const char *b, int32_t noise)
{
    const int32_t i = pose(g, a), j = pose(g, b);
    CHECK_OK(ct_graph_add_between(g->seq->graph, i, j, (const double[]){1, 0, 1, 0}, noise, &g->err), g->err);
}

static void edges(graph *g, const char *prefix, int64_t a, int64_t b, int32_t noise)
{
    char x[64], y[64];
    snprintf(x, sizeof x, "%s%lld", prefix, (long long)a);
    snprintf(y, sizeof y, "%s%lld", prefix, (long long)b);
    edge(g, x, y, noise);
}

static const char *model_of(const graph *g, int32_t f)
{
    return ct_noise_get(g->noise, ct_graph_factor(g->seq->graph, f).noise)->name;
}

/* Splits, and expects so many of each. */
static ct_split_result split(graph *g, int32_t odometry, int32_t loops)
{
    ct_split_result r = {0};
    CHECK_OK(ct_sequence_split_loops(g->seq, g->noise, &r, &g->err), g->err);
    if (r.odometry != odometry || r.loops != loops)
        CT_TEST_SAY("%d odometry, %d loops; wanted %d and %d\n", r.odometry, r.loops, odometry, loops);
    return r;
}

/* Vertices in any order, edges in both directions; models keep their numbers and kernels. */
static void test_loops_get_models_of_their_own(void)
{
    graph g = begin();
    CHECK_OK(ct_noise_set_robust(g.noise, 1, (ct_robust){CT_ROBUST_HUBER, 2, 0}, &g.err), g.err);
    edges(&g, "x", 3, 2, 0);
    edges(&g, "x", 0, 1, 0);
    edges(&g, "x", 1, 2, 1);
    edges(&g, "x", 0, 3, 1);
    edges(&g, "x", 2, 0, 0);
    edges(&g, "x", 1, 2, 0); /* measured twice: both are odometry */
    edges(&g, "x", 0, 3, 1);
    const ct_split_result r = split(&g, 4, 3);
    CHECK(r.models == 2 && r.between == 0 && r.step == 1);
    static const char *const want[] = {"edge", "edge", "edge#1", "loop", "loop#1", "edge", "loop"};
    for (int32_t f = 0; f < 7; f++) CHECK(!strcmp(model_of(&g, f), want[f]));
    const ct_noise_model *a = ct_noise_get(g.noise, 2), *b = ct_noise_get(g.noise, 3);
    CHECK(a->kind == CT_NOISE_ISOTROPIC && a->covariance[0] == 4 && a->robust.kind == CT_ROBUST_HUBER);
    CHECK(b->kind == CT_NOISE_DIAGONAL && b->covariance[1] == 2 && b->robust.kind == CT_ROBUST_NONE);
    end(&g);
}

static void test_numbers_may_have_gaps_and_robots_may_alternate(void)
{
    graph g = begin();
    for (int k = 0; k < 200; k += 10) edges(&g, "x", k, k + 10, 0);
    edges(&g, "x", 0, 100, 0);
    CHECK(split(&g, 20, 1).step == 10);
    end(&g);
    g = begin();
    for (int k = 0; k < 40; k++) edges(&g, "x", k, k + 2, 0); /* even numbers are one robot, odd ones another */
    edges(&g, "x", 4, 21, 0);
    edges(&g, "x", 3, 30, 0);
    CHECK(split(&g, 40, 2).step == 2);
    end(&g);
    g = begin(); /* keyframes at uneven steps */
    const int key[] = {0, 3, 4, 9, 11, 18, 20};
    for (int k = 0; k < 6; k++) edges(&g, "x", key[k], key[k + 1], 0);
    edges(&g, "x", 3, 18, 0);
    split(&g, 6, 1);
    end(&g);
}

/* Ranges of numbers, GTSAM's keys, and names: the last pose of one robot and the first of another are no neighbours. */
static void test_several_robots(void)
{
    const int64_t jump[] = {100000, (int64_t)1 << 56}, key = (int64_t)97 << 56;
    for (int i = 0; i < 2; i++) {
        graph         g = begin();
        const int64_t from = i ? key : 0;
        for (int k = 0; k < 20; k++) edges(&g, "x", from + k, from + k + 1, 0);
        for (int k = 0; k < 20; k++) edges(&g, "x", from + jump[i] + k, from + jump[i] + k + 1, 0);
        edges(&g, "x", from + 20, from + jump[i], 0);
        edges(&g, "x", from + 20, from + jump[i] + 5, 0);
        split(&g, 40, 2);
        end(&g);
    }
    graph g = begin();
    for (int k = 0; k < 5; k++) edges(&g, "a", k, k + 1, 0), edges(&g, "b", k, k + 1, 0);
    edge(&g, "a3", "b4", 0);
    edge(&g, "b0", "a1", 0);
    CHECK(split(&g, 10, 2).between == 2);
    end(&g);
}

/* Where odometry is missing, the edges across are loops. */
static void test_a_lost_track_is_no_odometry(void)
{
    graph g = begin();
    for (int k = 0; k < 30; k++)
        if (k != 10) edges(&g, "x", k, k + 1, 0);
    edges(&g, "x", 10, 25, 0);
    edges(&g, "x", 2, 11, 0);
    split(&g, 29, 2);
    end(&g);
}

static void test_other_measurements_stay(void)
{
    graph   g = begin();
    int32_t p;
    for (int k = 0; k < 5; k++) edges(&g, "x", k, k + 1, 0);
    edges(&g, "x", 0, 5, 0);
    CHECK_OK(ct_graph_add_variable(g.seq->graph, "l1", CT_R2, NULL, &p, &g.err), g.err);
    CHECK_OK(ct_noise_add_isotropic(g.noise, "range", 1, 1, NULL, &g.err), g.err);
    CHECK_OK(ct_graph_add_range(g.seq->graph, 0, p, 1, 2, &g.err), g.err);
    CHECK_OK(ct_graph_add_prior(g.seq->graph, 0, (const double[]){0, 0, 1, 0}, 0, &g.err), g.err);
    split(&g, 5, 1);
    CHECK(!strcmp(model_of(&g, 6), "range") && !strcmp(model_of(&g, 7), "edge"));
    end(&g);
}

/* A group of models has one dimension. */
static void test_loops_of_two_kinds_have_two_names(void)
{
    graph g = begin();
    for (int k = 0; k < 4; k++) edges(&g, "x", k, k + 1, 0);
    edges(&g, "x", 0, 3, 0);
    CHECK_OK(ct_noise_add_isotropic(g.noise, "space", 6, 1, NULL, &g.err), g.err);
    int32_t first = ct_graph_variables(g.seq->graph);
    for (int k = 0; k < 4; k++) {
        char name[16];
        snprintf(name, sizeof name, "y%d", k);
        CHECK_OK(ct_graph_add_variable(g.seq->graph, name, CT_SE3, NULL, NULL, &g.err), g.err);
    }
    const double one[7] = {0, 0, 0, 0, 0, 0, 1};
    for (int k = 0; k < 4; k++)
        CHECK_OK(ct_graph_add_between(g.seq->graph, first + (k < 3 ? k : 0), first + (k < 3 ? k + 1 : 2), one, 2,
                                      &g.err), g.err);
    split(&g, 7, 2);
    CHECK(!strcmp(model_of(&g, 4), "loop_se2") && !strcmp(model_of(&g, 8), "loop_se3#1"));
    end(&g);
}

static void test_what_cannot_be_split_is_refused_and_unchanged(void)
{
    graph           g = begin();
    ct_split_result r;
    CHECK_REFUSED(ct_sequence_split_loops(g.seq, g.noise, &r, &g.err), g.err, "there are no edges between poses");
    edge(&g, "a1", "b1", 0);
    CHECK_REFUSED(ct_sequence_split_loops(g.seq, g.noise, &r, &g.err), g.err, "no edge connects poses whose numbers");
    edges(&g, "x", 1, 2, 0);
    CHECK_OK(ct_noise_add_isotropic(g.noise, "loop", 3, 1, NULL, &g.err), g.err);
    CHECK_REFUSED(ct_sequence_split_loops(g.seq, g.noise, &r, &g.err), g.err, "there is a noise model loop already");
    CHECK(ct_noise_count(g.noise) == 3 && !strcmp(model_of(&g, 0), "edge") && r.loops == 0);
    end(&g);
}

int main(void)
{
    RUN(test_loops_get_models_of_their_own);
    RUN(test_numbers_may_have_gaps_and_robots_may_alternate);
    RUN(test_several_robots);
    RUN(test_a_lost_track_is_no_odometry);
    RUN(test_other_measurements_stay);
    RUN(test_loops_of_two_kinds_have_two_names);
    RUN(test_what_cannot_be_split_is_refused_and_unchanged);
    return ct_test_end();
}
