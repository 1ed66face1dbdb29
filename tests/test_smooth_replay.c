/* Recorded pose graphs, replayed a pose at a time with the settings that GTSAM's users have: where they end, and how
 * long it takes. */
#include "smooth_test.h"

#include <covtune/data.h>

typedef struct {
    ct_graph *graph;
    ct_noise *noise;
    int32_t  *head, *next; /* factors by their newest variable */
} record;

static int read_record(const char *path, record *r)
{
    ct_err       err = {0};
    ct_sequence *sequence = NULL;
    int32_t      tight;
    *r = (record){0};
    CHECK_OK(ct_noise_new(&r->noise, &err), err);
    CHECK_OK(ct_sequence_read(path, CT_FORMAT_AUTO, r->noise, &sequence, &err), err);
    if (!sequence) return 0;
    CHECK_OK(ct_graph_copy(sequence->graph, &r->graph, &err), err);
    CHECK_OK(ct_noise_add_isotropic(r->noise, "tight", 3, 1e-6, &tight, &err), err);
    CHECK_OK(ct_graph_add_prior(r->graph, 0, ct_graph_initial(r->graph), tight, &err), err);
    ct_graph_fix(r->graph, 0, 0);
    CHECK_OK(ct_graph_like_gtsam(r->graph, &err), err);
    const int32_t n = ct_graph_variables(r->graph), m = ct_graph_factors(r->graph);
    r->head = malloc((size_t)n * sizeof *r->head);
    r->next = malloc((size_t)m * sizeof *r->next);
    for (int32_t v = 0; v < n; v++) r->head[v] = -1;
    for (int32_t f = m - 1; f >= 0; f--) {
        const ct_factor k = ct_graph_factor(r->graph, f);
        r->next[f] = r->head[newest_of(&k)];
        r->head[newest_of(&k)] = f;
    }
    ct_sequence_free(sequence);
    return 1;
}

static void free_record(record *r)
{
    ct_graph_free(r->graph);
    ct_noise_free(r->noise);
    free(r->head);
    free(r->next);
}

/* Adds pose v, begun where odometry leads from the estimate of the one before. */
static void replay_step(const record *r, ct_smoother *smoother, int32_t v, ct_smoother_stats *stats)
{
    ct_err          err = {0};
    double          x[4], y[4];
    ct_new_factor   factor[64];
    ct_new_variable variable = {.kind = CT_SE2, .value = x};
    ct_increment    inc = {.variables = 1, .variable = &variable, .factor = factor};
    memcpy(x, ct_graph_initial(r->graph) + ct_graph_offset(r->graph, v), sizeof x);
    for (int32_t f = r->head[v]; f >= 0; f = r->next[f]) {
        const ct_factor k = ct_graph_factor(r->graph, f);
        factor[inc.factors++] = factor_at(r->graph, f);
        if (k.ops->arity != 2 || k.var[0] != v - 1) continue;
        ct_smoother_estimate(smoother, v - 1, y);
        const ct_se2 next = ct_se2_normalize(
            ct_se2_compose((ct_se2){y[0], y[1], y[2], y[3]}, (ct_se2){k.z[0], k.z[1], k.z[2], k.z[3]}, NULL, NULL));
        x[0] = next.x, x[1] = next.y, x[2] = next.c, x[3] = next.s;
    }
    CHECK_OK(ct_smoother_update(smoother, &inc, stats, &err), err);
    for (int32_t k = 0; k <= v; k++) ct_smoother_estimate(smoother, k, y);
}

static void replay(const char *name, double most)
{
    record            r;
    ct_smoother_stats stats;
    double            total = 0, worst = 0;
    int64_t           eliminated = 0;
    const char       *path = ct_test_shared(name);
    if (!path) SKIP("the recorded graphs are not here");
    if (!read_record(path, &r)) return;
    ct_smoother *smoother = new_smoother(r.noise, NULL);
    for (int32_t v = 0; v < ct_graph_variables(r.graph); v++) {
        const double start = ct_now_s();
        replay_step(&r, smoother, v, &stats);
        const double took = ct_now_s() - start;
        total += took;
        worst = fmax(worst, took);
        eliminated += stats.eliminated;
    }
    const double error = ct_smoother_error(smoother);
    printf("  %s: error %.4f, %.3f s, worst step %.2f ms, %.1f variables eliminated a step\n", name, error, total,
           1e3 * worst, (double)eliminated / ct_graph_variables(r.graph));
    CHECK(error <= most);
    ct_smoother_free(smoother);
    free_record(&r);
}

static void test_manhattan_ends_no_higher_than_gtsam_leaves_it(void) { replay("data/posegraph/manhattan.g2o", 2074.4); }
static void test_intel_ends_no_higher_than_gtsam_leaves_it(void) { replay("data/posegraph/intel.g2o", 22.522); }

static int count_steps(void *user, const ct_smoother *smoother, int32_t step, int32_t steps,
                       const ct_smoother_stats *stats)
{
    int *count = user;
    CHECK(step < steps && stats->eliminated > 0 && ct_smoother_variables(smoother) > 0);
    return ++*count == 20;
}

/* All kinds of graphs, from where each entry leads: near enough to iterate to the same minimum. */
static void test_a_graph_can_be_replayed_in_the_order_of_its_variables(void)
{
    static const int parts[] = {PLANE, SPACE | LANDMARKS, VECTORS, PLANE | LOOPS | LANDMARKS | FIXED};
    for (int k = 0; k < 4; k++)
        for (int entry = 0; entry < CT_ENTRY_COUNT; entry++) {
            world             w;
            ct_err            err = {0};
            ct_replay_options options = ct_replay_defaults();
            ct_replay_result  result;
            ct_solve_result   batch;
            world_make(&w, 11, parts[k]);
            options.smoother = exact_options();
            options.entry = (ct_entry)entry;
            CHECK(ct_entry_find(ct_entry_name(options.entry)) == entry);
            double *x = copy_values(w.graph, ct_graph_initial(w.graph)),
                   *y = estimate(&w, CT_LEVENBERG_MARQUARDT, &batch);
            CHECK_OK(ct_replay(w.graph, w.noise, &options, x, &result, &err), err);
            CHECK(result.stop == CT_STOP_STEP && result.updates <= ct_graph_variables(w.graph) &&
                  result.eliminated > 0);
            CHECK_NEAR(result.error, ct_graph_error(w.graph, w.noise, x), 0);
            /* one iteration a step */
            if (entry != CT_ENTRY_PREVIOUS) CHECK(distance(w.graph, x, y) < 0.01 && result.stationarity < 0.01);
            int count = 0;
            options.progress = count_steps;
            options.user = &count;
            CHECK_OK(ct_replay(w.graph, w.noise, &options, x, &result, &err), err);
            CHECK(result.stop == (count == 20 ? CT_STOP_CANCELLED : CT_STOP_STEP));
            free(x);
            free(y);
            world_free(&w);
        }
}

/* A world a fifth of the size that thresholds are meant for has a fifth of them, to the bit; one that is larger has
 * them as they are. */
static void test_thresholds_shrink_with_the_world(void)
{
    static const int parts[] = {PLANE | LOOPS, SPACE | LANDMARKS};
    for (int k = 0; k < 2; k++) {
        world            w;
        ct_err           err = {0};
        ct_replay_result result[4];
        double          *x[4], low[3] = {0}, high[3] = {0}, square = 0;
        world_make(&w, 5, parts[k]);
        const double *at = ct_graph_initial(w.graph);
        for (int32_t v = 0; v < ct_graph_variables(w.graph); v++)
            for (int i = 0; i < (k ? 3 : 2); i++) {
                const double c = at[ct_graph_offset(w.graph, v) + i];
                low[i] = v ? fmin(low[i], c) : c;
                high[i] = v ? fmax(high[i], c) : c;
            }
        for (int i = 0; i < 3; i++) square += (high[i] - low[i]) * (high[i] - low[i]);
        for (int how = 0; how < 4; how++) { /* a world of a fifth; told so; a large one; told nothing */
            ct_replay_options options = ct_replay_defaults();
            options.extent = how == 0 ? 5 * sqrt(square) : how == 2 ? 0.9 * sqrt(square) : 0;
            for (int i = 0; how == 1 && i < CT_KIND_COUNT; i++)
                options.smoother.relinearise[i] *= sqrt(square) / (5 * sqrt(square));
            x[how] = copy_values(w.graph, at);
            CHECK_OK(ct_replay(w.graph, w.noise, &options, x[how], &result[how], &err), err);
        }
        const size_t bytes = (size_t)ct_graph_size(w.graph) * sizeof(double);
        CHECK(!memcmp(x[0], x[1], bytes) && !memcmp(x[2], x[3], bytes) && memcmp(x[0], x[2], bytes));
        CHECK(result[0].relinearised == result[1].relinearised && result[0].relinearised > result[2].relinearised);
        for (int how = 0; how < 4; how++) free(x[how]);
        world_free(&w);
    }
}

static void test_a_replay_waits_for_what_is_not_determined_yet(void)
{
    /* a point seen from two places, entered before either; the last pose is tied to nothing */
    ct_graph        *g = NULL;
    ct_noise        *noise = NULL;
    ct_err           err = {0};
    ct_replay_result result;
    int32_t          three = -1, one = -1;
    CHECK_OK(ct_graph_new(&g, &err), err);
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "pose", 3, 0.01, &three, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "bearing", 1, 0.01, &one, &err), err);
    CHECK_OK(ct_graph_add_variable(g, "tree", CT_R2, (double[]){2, 3.1}, NULL, &err), err);
    for (int i = 0; i < 3; i++)
        CHECK_OK(ct_graph_add_variable(g, NULL, CT_SE2, (double[]){i, 0, 1, 0}, NULL, &err), err);
    CHECK_OK(ct_graph_add_prior(g, 1, (double[]){0, 0, 1, 0}, three, &err), err);
    for (int32_t i = 2; i < 4; i++)
        CHECK_OK(ct_graph_add_between(g, i - 1, i, (double[]){1, 0, 1, 0}, three, &err), err);
    for (int32_t i = 1; i < 4; i += 2) {
        const double length = hypot(3 - i, 3);
        CHECK_OK(ct_graph_add_factor(g, &ct_bearing_se2_r2, (int32_t[]){i, 0},
                                     (double[]){(3 - i) / length, 3 / length, 0, 0, 1, 0}, NULL, one, &err),
                 err);
    }
    double x[32];
    memcpy(x, ct_graph_initial(g), (size_t)ct_graph_size(g) * sizeof *x);
    CHECK_OK(ct_replay(g, noise, NULL, x, &result, &err), err);
    CHECK(result.stop == CT_STOP_STEP && result.updates == 1);
    CHECK_NEAR(x[0], 2, 0.1);
    CHECK_OK(ct_graph_add_variable(g, "lost", CT_SE2, NULL, NULL, &err), err);
    CHECK_OK(ct_replay(g, noise, NULL, x, &result, &err), err);
    CHECK(result.stop == CT_STOP_RANK && strstr(result.why, "lost: no factor touches it"));
    ct_graph_free(g);
    ct_noise_free(noise);
}

int main(void)
{
    RUN(test_a_graph_can_be_replayed_in_the_order_of_its_variables);
    RUN(test_thresholds_shrink_with_the_world);
    RUN(test_a_replay_waits_for_what_is_not_determined_yet);
    RUN(test_manhattan_ends_no_higher_than_gtsam_leaves_it);
    RUN(test_intel_ends_no_higher_than_gtsam_leaves_it);
    return ct_test_end();
}
