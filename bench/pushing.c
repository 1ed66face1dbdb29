/* pushing.c: what planar pushing costs: an iteration of the inner solve of a run, phase by phase, and learning from
 * five runs.
 *
 * A run is three pushes of 100 steps: 1800 unknowns, some 2,500 tactile factors that tie four poses 10 to 19 steps
 * apart, so that fronts are large where a chain's are small. It is solved from the truth under the closed form, by
 * the method that learning uses inside, and by Levenberg-Marquardt, whose system is J'J alone. Targets are printed
 * beside what was measured. */
#include <covtune/covtune.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS        5
#define TARGET_MS   2.0  /* an iteration */
#define TARGET_S    60.0 /* learning     */
#define JOBS        2

typedef struct {
    ct_noise    *noise;
    ct_theta    *theta;
    ct_sequence *seq[RUNS];
} problem;

static void must(ct_status status, const ct_err *err)
{
    if (status == CT_OK) return;
    fprintf(stderr, "covtune-bench-push: %s\n", err->text);
    exit(1);
}

/* Runs with the noisy oracle; what is learned, and in which units, as `covtune simulate push2d` says it. */
static void make(problem *p, ct_shape_kind object, int episodes, int steps)
{
    ct_err          err = {0};
    ct_push_options push = ct_push_defaults(object);
    push.episodes = episodes;
    push.steps = steps;
    *p = (problem){0};
    must(ct_noise_new(&p->noise, &err), &err);
    for (int i = 0; i < RUNS; i++)
        must(ct_simulate_push(&push, 0, (uint64_t)i, NULL, NULL, p->noise, &p->seq[i], &err), &err);
    must(ct_theta_new(p->noise, &p->theta, &err), &err);
    for (int32_t g = 0; g < ct_noise_count(p->noise); g++) {
        const ct_noise_model *model = ct_noise_get(p->noise, g);
        double                unit[3];
        if (!ct_push_units(model->name, unit)) continue;
        must(ct_theta_learn(p->theta, g, model->kind, CT_BOUND_WIDE_LOWER, CT_BOUND_WIDE_UPPER, &err), &err);
        for (int k = 0; k < model->dim; k++) must(ct_theta_set_unit(p->theta, g, k, unit[k], &err), &err);
    }
}

static void release(problem *p)
{
    for (int i = 0; i < RUNS; i++) ct_sequence_free(p->seq[i]);
    ct_theta_free(p->theta);
    ct_noise_free(p->noise);
}

/* ---- An iteration ----------------------------------------------------------------------------- */

static void take_closed_form(problem *p)
{
    const ct_outer_options options = ct_outer_defaults();
    ct_outer              *outer = NULL;
    ct_err                 err = {0};
    double                *q = calloc((size_t)ct_theta_count(p->theta), sizeof *q);
    must(ct_outer_new(RUNS, (const ct_sequence *const *)p->seq, p->noise, p->theta, &options, &outer, &err), &err);
    must(ct_outer_closed_form(outer, NULL, q, NULL, &err), &err);
    must(ct_theta_apply(p->theta, q, p->noise, &err), &err);
    ct_outer_free(outer);
    free(q);
}

/* The fastest of `repeats` solves of the first run, and a line about it. Returns milliseconds an iteration. */
static double iterate(const problem *p, const char *object, ct_method method, int repeats)
{
    const ct_sequence *seq = p->seq[0];
    ct_solve_options   options = ct_outer_defaults().inner;
    ct_solve_result    best = {.seconds = INFINITY};
    ct_solver         *solver = NULL;
    ct_err             err = {0};
    double            *x = calloc((size_t)ct_graph_size(seq->graph), sizeof *x);
    options.method = method;
    must(ct_solver_new(seq->graph, NULL, &solver, &err), &err);
    for (int k = 0; k < repeats; k++) {
        ct_solve_result result;
        must(ct_start_values(seq, CT_START_TRUTH, x, &err), &err);
        must(ct_solver_run(solver, p->noise, x, &options, &result, &err), &err);
        if (!ct_stop_converged(result.stop))
            must(ct_fail(&err, CT_E_SINGULAR, "a run of pushing was not solved: %s", ct_stop_meaning(result.stop)),
                 &err);
        if (result.seconds < best.seconds) best = result;
    }
    const ct_sparse_info info = ct_sparse_describe(ct_solver_system(solver));
    const double n = best.iterations, all = 1e3 * best.seconds / n, linearise = 1e3 * best.linearise_s / n,
                 factor = 1e3 * best.factor_s / n, step = 1e3 * best.solve_s / n;
    printf("| %-9s | %-6s | %d | %2d | %.3f | %.3f | %.3f | %.3f | **%.3f** | %.1f | %.1f | %.1f |\n", object,
           ct_method_name(method), info.scalars, best.iterations, linearise, factor, step,
           all - linearise - factor - step, all, TARGET_MS, info.flops / 1e6,
           info.flops * best.factorisations / best.factor_s / 1e9);
    fflush(stdout);
    ct_solver_free(solver);
    free(x);
    return all;
}

/* ---- Learning --------------------------------------------------------------------------------- */

/* As `covtune learn --deployment isam2` has it. Returns seconds. */
static double learn(problem *p, const char *object)
{
    ct_outer_options options = ct_outer_defaults();
    ct_learn_options how = ct_learn_defaults();
    ct_outer        *outer = NULL;
    ct_learn_result  result;
    ct_err           err = {0};
    options.jobs = JOBS;
    how.deployment.incremental = 1;
    const double start = ct_now_s();
    must(ct_outer_new(RUNS, (const ct_sequence *const *)p->seq, p->noise, p->theta, &options, &outer, &err), &err);
    must(ct_learn(outer, &how, p->noise, &result, &err), &err);
    const double seconds = ct_now_s() - start;
    printf("| %-9s | %d | %lld | %.3g | %.3g | **%.1f** | %.0f |\n", object, result.parameters,
           (long long)result.inner_solves, result.loss_closed_form, result.loss_train, seconds, TARGET_S);
    fflush(stdout);
    ct_learn_result_free(&result);
    ct_outer_free(outer);
    return seconds;
}

int main(int argc, char **argv)
{
    static const ct_shape_kind OBJECT[] = {CT_SHAPE_ELLIPSE, CT_SHAPE_RECTANGLE};
    const int quick = argc > 1 && !strcmp(argv[1], "--quick"), episodes = quick ? 2 : 3, steps = quick ? 20 : 100;
    double                     slowest = 0, longest = 0;
    problem                    p;
    if (argc > 2 || (argc == 2 && !quick)) {
        fprintf(stderr, "Usage: covtune-bench-push [--quick]\n");
        return 2;
    }
    printf(
        "push2d: iteration of a %d-step run, ms on one thread, best solve of many; GFLOP/s are those of factoring.\n\n",
        episodes * steps);
    printf("| object | method | unknowns | iterations | linearise | factor | substitute | other | **all** | target | "
           "MFLOP | GFLOP/s |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n");
    for (int k = 0; k < 2; k++) {
        make(&p, OBJECT[k], episodes, steps);
        take_closed_form(&p);
        slowest = fmax(slowest, iterate(&p, ct_shape_kind_name(OBJECT[k]), CT_LEVENBERG_MARQUARDT, quick ? 1 : 300));
        slowest = fmax(slowest, iterate(&p, ct_shape_kind_name(OBJECT[k]), CT_NEWTON, quick ? 1 : 300));
        release(&p);
    }
    printf("\npush2d: learning, %d runs of %d steps, from a start six decades off, judged by incremental inference; "
           "seconds on %d threads, reading files not included.\n\n",
           RUNS, episodes * steps, JOBS);
    printf("| object | parameters | inner solves | loss, closed form | learned | **s** | target "
           "|\n|---|---:|---:|---:|---:|---:|---:|\n");
    for (int k = 0; k < 2; k++) {
        make(&p, OBJECT[k], episodes, steps);
        longest = fmax(longest, learn(&p, ct_shape_kind_name(OBJECT[k])));
        release(&p);
    }
    return !quick && (slowest > TARGET_MS || longest > TARGET_S);
}
