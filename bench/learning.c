/* learning.c: what learning costs: the gradient of all parameters against one inner solve, whatever their number;
 * and a whole run.
 *
 * Problems are five navigation runs of 500 poses. More parameters are had by cutting the runs into stretches with
 * noise models of their own: 6 parameters are one stretch, 12 are two (the study's D3 has as many), 48 are eight. */
#include <covtune/covtune.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS 5

typedef struct {
    ct_noise    *noise;
    ct_theta    *theta;
    ct_sequence *seq[RUNS];
} problem;

static void must(ct_status status, const ct_err *err)
{
    if (status == CT_OK) return;
    fprintf(stderr, "covtune-bench-learn: %s\n", err->text);
    exit(1);
}

static void make(problem *p, const char *preset, int poses, uint64_t seed)
{
    ct_err         err = {0};
    ct_nav_options nav;
    ct_nav_preset(preset, CT_SE2, &nav);
    nav.least = nav.most = poses;
    nav.seed = seed;
    *p = (problem){0};
    must(ct_noise_new(&p->noise, &err), &err);
    for (int i = 0; i < RUNS; i++) must(ct_simulate_nav(&nav, (uint64_t)i, p->noise, &p->seq[i], &err), &err);
}

/* Every factor gets the model of its stretch. */
static void cut(problem *p, int stretches)
{
    ct_err        err = {0};
    const int32_t odom = ct_noise_find(p->noise, "odom"), gps = ct_noise_find(p->noise, "gps");
    int32_t       model[2][16];
    for (int s = 0; s < stretches; s++)
        for (int k = 0; k < 2; k++) {
            char name[32];
            snprintf(name, sizeof name, "%s@%d", k ? "gps" : "odom", s);
            must(ct_noise_add_diagonal(p->noise, name, 3, ct_noise_get(p->noise, k ? gps : odom)->covariance,
                                       &model[k][s], &err),
                 &err);
        }
    for (int i = 0; i < RUNS; i++)
        for (int32_t f = 0; f < ct_graph_factors(p->seq[i]->graph); f++) {
            const ct_factor k = ct_graph_factor(p->seq[i]->graph, f);
            const int       s = (int)((int64_t)k.var[0] * stretches / ct_graph_variables(p->seq[i]->graph));
            if (k.noise == odom || k.noise == gps)
                must(ct_graph_set_noise(p->seq[i]->graph, f, model[k.noise == gps][s], &err), &err);
        }
}

static void learn_used(problem *p)
{
    ct_err err = {0};
    must(ct_theta_new(p->noise, &p->theta, &err), &err);
    for (int32_t g = 0; g < ct_noise_count(p->noise); g++) {
        int used = 0;
        for (int32_t f = 0; f < ct_graph_factors(p->seq[0]->graph); f++)
            used = used || ct_graph_factor(p->seq[0]->graph, f).noise == g;
        if (used && strcmp(ct_noise_get(p->noise, g)->name, "first_pose"))
            must(ct_theta_learn(p->theta, g, CT_NOISE_DIAGONAL, 1e-3, 1e3, &err), &err);
    }
}

static void release(problem *p)
{
    for (int i = 0; i < RUNS; i++) ct_sequence_free(p->seq[i]);
    ct_theta_free(p->theta);
    ct_noise_free(p->noise);
}

/* ---- Gradients ------------------------------------------------------------------------------- */

/* Best seconds of an evaluation, per sequence. */
static double time_evaluation(ct_outer *outer, const double *p, int gradient, int matrix, int repeats)
{
    const int32_t m = ct_theta_count(ct_outer_theta(outer));
    double       *g = calloc((size_t)m, sizeof *g), *A = calloc((size_t)m * (size_t)m, sizeof *A), best = INFINITY;
    ct_err        err = {0};
    for (int k = 0; k < repeats; k++) {
        ct_outer_value value = {.gradient = gradient ? g : NULL, .matrix = matrix ? A : NULL};
        const double   start = ct_now_s();
        must(ct_outer_evaluate(outer, p, NULL, &value, &err), &err);
        const double seconds = ct_now_s() - start;
        if (value.failed) must(ct_fail(&err, CT_E_SINGULAR, "an inner solve failed"), &err);
        if (seconds < best) best = seconds;
    }
    free(g);
    free(A);
    return best / RUNS;
}

static double gradients(int stretches, int poses, int repeats)
{
    problem          p;
    ct_outer_options options = ct_outer_defaults();
    ct_outer        *outer = NULL;
    ct_err           err = {0};
    make(&p, "D1", poses, 1);
    cut(&p, stretches);
    learn_used(&p);
    const int32_t m = ct_theta_count(p.theta);
    double       *q = calloc((size_t)m, sizeof *q), adjoint, rows, numeric, solve;
    ct_theta_get(p.theta, p.noise, q);
    must(ct_outer_new(RUNS, (const ct_sequence *const *)p.seq, p.noise, p.theta, &options, &outer, &err), &err);
    solve = time_evaluation(outer, q, 0, 0, repeats);
    adjoint = time_evaluation(outer, q, 1, 0, repeats);
    rows = time_evaluation(outer, q, 1, 1, repeats);
    ct_outer_free(outer);
    options.gradient = CT_GRADIENT_NUMERIC;
    must(ct_outer_new(RUNS, (const ct_sequence *const *)p.seq, p.noise, p.theta, &options, &outer, &err), &err);
    numeric = time_evaluation(outer, q, 1, 0, repeats > 3 ? 3 : 1);
    printf("| %2d | %6.0f | %6.0f (%.2f) | %6.0f (%.2f) | %7.0f (%.2f) |\n", m, 1e6 * solve, 1e6 * adjoint,
           adjoint / solve, 1e6 * rows, rows / solve, 1e6 * numeric, numeric / solve);
    ct_outer_free(outer);
    free(q);
    release(&p);
    return adjoint / solve;
}

/* ---- A whole run ------------------------------------------------------------------------------ */

typedef struct {
    double          seconds;
    ct_learn_result result;
} timing;

static timing whole(int poses, int jobs, int repeats)
{
    timing best = {.seconds = INFINITY};
    for (int k = 0; k < repeats; k++) {
        problem          p;
        ct_outer_options options = ct_outer_defaults();
        ct_outer        *outer = NULL;
        ct_err           err = {0};
        ct_learn_result  result;
        make(&p, "D3", poses, 1);
        learn_used(&p);
        for (int32_t g = 0; g < ct_noise_count(p.noise); g++) { /* six decades off */
            const double odom[3] = {100, 100, 1e-3}, gps[3] = {0.1, 0.1, 1e3};
            if (ct_theta_learns(p.theta, g))
                must(ct_noise_set_variance(p.noise, g, ct_noise_get(p.noise, g)->name[0] == 'o' ? odom : gps, &err),
                     &err);
        }
        options.jobs = jobs;
        const double start = ct_now_s();
        must(ct_outer_new(RUNS, (const ct_sequence *const *)p.seq, p.noise, p.theta, &options, &outer, &err), &err);
        must(ct_learn(outer, NULL, p.noise, &result, &err), &err);
        const double seconds = ct_now_s() - start;
        ct_outer_free(outer);
        if (seconds < best.seconds) best = (timing){seconds, result};
        best.result.p = best.result.standard_error = NULL;
        ct_learn_result_free(&result);
        release(&p);
    }
    return best;
}

int main(int argc, char **argv)
{
    const int quick = argc > 1 && !strcmp(argv[1], "--quick"), poses = quick ? 100 : 500, repeats = quick ? 2 : 20;
    if (argc > 2 || (argc == 2 && !quick)) {
        fprintf(stderr, "Usage: covtune-bench-learn [--quick]\n");
        return 2;
    }
    printf("Gradients by all parameters: us a sequence of %d poses, the inner solve (from the truth, as learning has "
           "it) included, and times that solve alone.\n\n",
           poses);
    printf("|  m | solve  | adjoint       | with A'A      | numeric, forward |\n|---:|---:|---:|---:|---:|\n");
    double worst = 0;
    for (int stretches = 1; stretches <= 8; stretches *= stretches == 2 ? 4 : 2)
        worst = fmax(worst, gradients(stretches, poses, repeats));
    printf("\nLearning D3 from a start six decades off: %d runs of %d poses, 12 parameters; folds, scale and error "
           "bars included, reading files not.\n\n",
           RUNS, poses);
    printf("| jobs | seconds | inner solves | evaluations | speed-up |\n|---:|---:|---:|---:|---:|\n");
    double one = 0;
    for (int jobs = 1; jobs <= 2; jobs++) {
        const timing t = whole(poses, jobs, quick ? 1 : 5);
        if (jobs == 1) one = t.seconds;
        printf("| %d | %.3f | %lld | %d | %.2f |\n", jobs, t.seconds, (long long)t.result.inner_solves,
               t.result.evaluations, one / t.seconds);
    }
    return !quick && worst > 1.5;
}
