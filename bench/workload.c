/* workload.c: the graphs that solvers are measured on. */
#include <covtune/simulate.h>
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void bench_must(ct_status status, const ct_err *err)
{
    if (status == CT_OK) return;
    fprintf(stderr, "bench: %s\n", err->text);
    exit(EXIT_FAILURE);
}

/* Exp(e), e normal with these sigmas. */
static ct_se2 random_motion(ct_rng *rng, const double sigma[3])
{
    double v[3];
    for (int i = 0; i < 3; i++) v[i] = sigma[i] * ct_rng_normal(rng);
    return ct_se2_exp(v);
}

static int32_t add_diagonal(ct_noise *noise, const char *name, const double sigma[3])
{
    ct_err  err;
    int32_t index;
    bench_must(ct_noise_add_diagonal(noise, name, 3,
                                     (double[]){sigma[0] * sigma[0], sigma[1] * sigma[1], sigma[2] * sigma[2]}, &index,
                                     &err),
               &err);
    return index;
}

static void new_workload(bench_workload *out, ct_method method)
{
    ct_err err;
    *out = (bench_workload){.method = method};
    bench_must(ct_graph_new(&out->graph, &err), &err);
    bench_must(ct_noise_new(&out->noise, &err), &err);
}

void bench_chain(int32_t poses, uint64_t seed, bench_workload *out)
{
    static const double FIRST[] = {1e-3, 1e-3, 1e-3}, ODOM[] = {0.1, 0.1, 0.1}, GPS[] = {1, 1, 0.1};
    ct_err err;
    new_workload(out, CT_GAUSS_NEWTON);
    snprintf(out->name, sizeof out->name, "chain %d", poses);
    snprintf(out->source, sizeof out->source, "made, seed %d", (int)seed);
    const int32_t first = add_diagonal(out->noise, "first", FIRST), odom = add_diagonal(out->noise, "odom", ODOM),
                  gps = add_diagonal(out->noise, "gps", GPS);
    ct_rng        rng = ct_rng_seed(seed);
    ct_se2        at = ct_se2_identity(), motion = at;
    double        turn = 0;
    for (int32_t k = 0; k < poses; k++) {
        int32_t x;
        if (k) {
            turn = 0.95 * turn + 0.02 * ct_rng_normal(&rng); /* rad a step: bends, no corners */
            motion = ct_se2_make(1, 0, turn);
            at = ct_se2_normalize(ct_se2_compose(at, motion, NULL, NULL));
        }
        const ct_se2 fix = ct_se2_compose(at, random_motion(&rng, k ? GPS : FIRST), NULL, NULL);
        const ct_se2 step = ct_se2_compose(motion, random_motion(&rng, ODOM), NULL, NULL);
        bench_must(ct_graph_add_se2(out->graph, NULL, at, &x, &err), &err);
        bench_must(ct_graph_add_prior_se2(out->graph, x, fix, k ? gps : first, &err), &err);
        if (k) bench_must(ct_graph_add_between_se2(out->graph, x - 1, x, step, odom, &err), &err);
    }
}

/* The graph of folder/file, or NULL where there is no such file. */
static ct_sequence *read_graph(const char *folder, const char *file, ct_noise *noise)
{
    char         path[1024];
    ct_err       err;
    ct_sequence *sequence;
    if (!folder || !file || (size_t)snprintf(path, sizeof path, "%s/%s", folder, file) >= sizeof path) return NULL;
    FILE *there = fopen(path, "r");
    if (!there) return NULL;
    fclose(there);
    bench_must(ct_sequence_read(path, CT_FORMAT_AUTO, noise, &sequence, &err), &err);
    return sequence;
}

void bench_pose_graph(const char *name, const char *folder, const char *file, ct_kind kind, int32_t poses,
                      ct_method method, bench_workload *out)
{
    ct_err err;
    *out = (bench_workload){.method = method};
    bench_must(ct_noise_new(&out->noise, &err), &err);
    ct_sequence *sequence = read_graph(folder, file, out->noise);
    if (sequence) {
        snprintf(out->name, sizeof out->name, "%s", name);
        snprintf(out->source, sizeof out->source, "%s", file);
    } else {
        ct_pose_graph_options options = ct_pose_graph_defaults(kind);
        options.poses = poses;
        bench_must(ct_simulate_pose_graph(&options, out->noise, &sequence, &err), &err);
        snprintf(out->name, sizeof out->name, "%s %d%s", kind == CT_SE2 ? "city" : "sphere", poses,
                 method == CT_DOGLEG ? " dogleg" : "");
        snprintf(out->source, sizeof out->source, "made, seed %d", (int)options.seed);
    }
    out->graph = sequence->graph;
    sequence->graph = NULL;
    ct_sequence_free(sequence);
    ct_graph_fix(out->graph, 0, 0);
    int32_t index;
    bench_must(ct_noise_add_isotropic(out->noise, "bench_first", ct_kind_dim(ct_graph_kind(out->graph, 0)), 1e-6,
                                      &index, &err),
               &err);
    double z[CT_SIZE_MAX];
    memcpy(z, ct_graph_initial(out->graph) + ct_graph_offset(out->graph, 0),
           (size_t)ct_kind_size(ct_graph_kind(out->graph, 0)) * sizeof *z);
    bench_must(ct_graph_add_prior(out->graph, 0, z, index, &err), &err);
}

int bench_is_pose_graph(const ct_graph *graph, const ct_noise *noise)
{
    const ct_kind kind = ct_graph_kind(graph, 0);
    if (kind != CT_SE2 && kind != CT_SE3) return 0;
    for (int32_t v = 0; v < ct_graph_variables(graph); v++)
        if (ct_graph_kind(graph, v) != kind || ct_graph_fixed(graph, v)) return 0;
    for (int32_t f = 0; f < ct_graph_factors(graph); f++) {
        const ct_factor factor = ct_graph_factor(graph, f);
        if (factor.ops != ct_factor_prior(kind) && factor.ops != ct_factor_between(kind)) return 0;
        if (ct_noise_get(noise, factor.noise)->robust.kind != CT_ROBUST_NONE) return 0;
    }
    return 1;
}

void bench_workload_free(bench_workload *w)
{
    ct_graph_free(w->graph);
    ct_noise_free(w->noise);
    *w = (bench_workload){0};
}
