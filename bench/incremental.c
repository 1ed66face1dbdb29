/* incremental.c: what a step costs when estimates are made on the way: graphs replayed a variable at a time, an
 * estimate after each (ct_replay), with the thresholds that GTSAM's users have: 0.1, every 10 steps, wildfire 0.001.
 * Beside it the batch optimum of the whole graph, and GTSAM 4.3's figures on a busy two-core machine, as they were
 * reported: to compare orders of magnitude with, not percents. */
#include "peer_gtsam_isam2.h"

#include <covtune/covtune.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static void must(ct_status status, const ct_err *err)
{
    if (status == CT_OK) return;
    fprintf(stderr, "covtune-bench-incremental: %s\n", err->text);
    exit(1);
}

/* The estimate of everything, as somebody on the way would take it; user has room for all. */
static int take(void *user, const ct_smoother *smoother, int32_t step, int32_t steps, const ct_smoother_stats *stats)
{
    (void)step, (void)steps, (void)stats;
    ct_smoother_estimates(smoother, user);
    return 0;
}

static void row(const char *name, const ct_graph *graph, const ct_noise *noise, const double *start, ct_entry entry,
                int repeats, const char *theirs)
{
    ct_err            err = {0};
    ct_replay_options options = ct_replay_defaults();
    ct_replay_result  best = {.seconds = 1e300};
    const size_t      bytes = (size_t)ct_graph_size(graph) * sizeof *start;
    double           *x = malloc(bytes), *taken = malloc(bytes);
    options.entry = entry;
    options.progress = take;
    options.user = taken;
    for (int k = 0; k < repeats; k++) {
        ct_replay_result result;
        memcpy(x, start, bytes);
        must(ct_replay(graph, noise, &options, x, &result, &err), &err);
        if (result.seconds < best.seconds) best = result;
    }
    ct_solver      *solver = NULL;
    ct_solve_result batch;
    must(ct_solver_new(graph, NULL, &solver, &err), &err);
    must(ct_solver_run(solver, noise, x, NULL, &batch, &err), &err);
    printf("| %-12s | %d | %.1f | %.2f (%d) | %.1f | %.6g | %.6g | %s |\n", name, best.updates, 1e3 * best.seconds,
           1e3 * best.worst_s, best.worst_step, (double)best.eliminated / best.updates, best.error, batch.final_error,
           theirs);
#ifdef BENCH_GTSAM
    bench_isam2 gtsam;
    if (bench_gtsam_isam2(graph, noise, start, entry == CT_ENTRY_MOTION, &gtsam))
        printf("| %-12s | %d | %.1f | %.2f | | %.6g | | in this run; %.1f times covtune's time |\n", "  GTSAM",
               ct_graph_variables(graph), 1e3 * gtsam.seconds, 1e3 * gtsam.worst_s, gtsam.error,
               gtsam.seconds / best.seconds);
#endif
    fflush(stdout);
    ct_solver_free(solver);
    free(taken);
    free(x);
}

static void navigation(const char *name, int poses, int repeats, const char *theirs)
{
    ct_err         err = {0};
    ct_noise      *noise = NULL;
    ct_sequence   *seq = NULL;
    ct_nav_options nav;
    ct_nav_preset("D1", CT_SE2, &nav);
    nav.least = nav.most = poses;
    must(ct_noise_new(&noise, &err), &err);
    must(ct_simulate_nav(&nav, 0, noise, &seq, &err), &err);
    row(name, seq->graph, noise, ct_graph_initial_const(seq->graph), CT_ENTRY_PREVIOUS, repeats, theirs);
    ct_sequence_free(seq);
    ct_noise_free(noise);
}

/* folder/posegraph/name.g2o, measured as GTSAM does, a prior of sigma 1e-3 on its first pose. */
static void pose_graph(const char *folder, const char *name, const char *theirs)
{
    char         path[600];
    ct_err       err = {0};
    ct_noise    *noise = NULL;
    ct_sequence *seq = NULL;
    int32_t      prior;
    snprintf(path, sizeof path, "%s/posegraph/%s.g2o", folder, name);
    must(ct_noise_new(&noise, &err), &err);
    if (ct_sequence_read(path, CT_FORMAT_G2O, noise, &seq, &err) != CT_OK) {
        printf("| %-12s | not there | | | | | | |\n", name);
        ct_noise_free(noise);
        return;
    }
    must(ct_noise_add_isotropic(noise, "first", 3, 1e-6, &prior, &err), &err);
    must(ct_graph_add_prior(seq->graph, 0, ct_graph_initial_const(seq->graph), prior, &err), &err);
    must(ct_graph_like_gtsam(seq->graph, &err), &err);
    double *given = malloc((size_t)ct_graph_size(seq->graph) * sizeof *given);
    must(ct_sequence_initialise(seq, 0, given, &err), &err); /* odometry, for each pose to start by */
    row(name, seq->graph, noise, given, CT_ENTRY_MOTION, 1, theirs);
    free(given);
    ct_sequence_free(seq);
    ct_noise_free(noise);
}

/* ---- Long runs --------------------------------------------------------------------------------- */

/* A robot on a circle with a position fix at each pose, for ever: nothing but the smoother is kept. Prints what a
 * step costs at powers of ten. */
static void endless(int32_t steps, int32_t window)
{
    ct_err              err = {0};
    ct_noise           *noise = NULL;
    ct_smoother        *smoother = NULL;
    ct_smoother_options options = ct_smoother_defaults();
    int32_t             odom, gps;
    ct_rng              rng = ct_rng_seed(1);
    double              truth[4] = {0, 0, 1, 0}, start = ct_now_s(), last = start, worst = 0;
    int64_t             eliminated = 0, from = 0;
    options.window = window;
    must(ct_noise_new(&noise, &err), &err);
    must(ct_noise_add_isotropic(noise, "odom", 3, 0.01, &odom, &err), &err);
    must(ct_noise_add_isotropic(noise, "gps", 3, 0.25, &gps, &err), &err);
    must(ct_smoother_new(noise, &options, &smoother, &err), &err);
    for (int32_t k = 0; k < steps; k++) {
        const double step[3] = {1, 0, 0.05},
                     e[3] = {0.1 * ct_rng_normal(&rng), 0.1 * ct_rng_normal(&rng), 0.1 * ct_rng_normal(&rng)};
        const double f[3] = {0.5 * ct_rng_normal(&rng), 0.5 * ct_rng_normal(&rng), 0.5 * ct_rng_normal(&rng)};
        const int32_t     pair[2] = {k - 1, k};
        double            z[4] = {0, 0, 1, 0}, fix[4], x[4];
        ct_smoother_stats stats;
        ct_kind_retract(CT_SE2, z, step, z);
        ct_kind_retract(CT_SE2, z, e, z);
        if (k) ct_kind_retract(CT_SE2, truth, step, truth);
        ct_kind_retract(CT_SE2, truth, f, fix);
        if (k) ct_smoother_estimate(smoother, k - 1, x);
        const ct_new_variable variable = {.kind = CT_SE2, .value = k ? x : fix};
        const ct_new_factor factor[2] = {{.ops = &ct_prior_se2, .var = pair + 1, .z = fix, .noise = gps},
                                         {.ops = &ct_between_se2, .var = pair, .z = z, .noise = odom}};
        const ct_increment increment = {.variables = 1, .variable = &variable, .factors = k ? 2 : 1, .factor = factor};
        must(ct_smoother_update(smoother, &increment, &stats, &err), &err);
        eliminated += stats.eliminated;
        if (stats.seconds > worst) worst = stats.seconds;
        if (k + 1 != 1000 && k + 1 != 10000 && k + 1 != 100000 && k + 1 != 1000000) continue;
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        printf("| %s | %d | %.2f | %.2f | %.3f | %.1f |\n", window ? "window of 50" : "all kept", k + 1,
               (double)eliminated / (double)(k + 1 - from), 1e6 * (ct_now_s() - last) / (double)(k + 1 - from),
               1e3 * worst, (double)usage.ru_maxrss / 1024);
        fflush(stdout);
        last = ct_now_s();
        from = k + 1;
        eliminated = 0;
        worst = 0;
    }
    ct_smoother_free(smoother);
    ct_noise_free(noise);
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "--long")) {
        printf("A million steps of a chain with a position fix at each pose; means since the row before.\n\n| | steps "
               "| eliminated a step | us a step | worst, ms | MB of the process |\n|---|---:|---:|---:|---:|---:|\n");
        endless(1000000, 50); /* before the other one, whose memory stays with the process */
        endless(1000000, 0);
        return 0;
    }
    const int   quick = argc == 2 && !strcmp(argv[1], "--quick");
    const char *folder = argc == 3 && !strcmp(argv[1], "--data") ? argv[2] : NULL;
    if (argc > 1 && !quick && !folder) {
        fprintf(stderr, "Usage: covtune-bench-incremental [--quick | --long | --data FOLDER]\n");
        return 2;
    }
    printf("Step by step, an estimate of everything after each.\n\n");
    printf("| graph | steps | ms, all | worst step, ms (which) | eliminated a step | error at the end | batch optimum "
           "| GTSAM 4.3: s, error |\n|---|---:|---:|---:|---:|---:|---:|---|\n");
    navigation("nav2d 500", 500, quick ? 1 : 20, "0.107");
    if (quick) return 0;
    navigation("nav2d 5000", 5000, 3, "");
    if (folder) {
        pose_graph(folder, "intel", "4.2, 22.522");
        pose_graph(folder, "manhattan", "19, 2074.4");
    }
    return 0;
}
