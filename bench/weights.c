/* weights.c: what functions of features cost. Loss and gradient by all weights of a network against inner solves and
 * forward passes over the factors; tracking by Gauss-Newton against L-BFGS: evaluations, time, held-out loss.
 *
 * Times are of the processor, one thread, least of several repetitions in turn. */
#define _POSIX_C_SOURCE 200809L
#include "conditional/conditional.h"

#include <covtune/covtune.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RUNS 12

typedef struct {
    ct_noise    *noise;
    ct_theta    *theta;
    ct_sequence *seq[RUNS];
    int          count;
} problem;

static void must(ct_status status, const ct_err *err)
{
    if (status == CT_OK) return;
    fprintf(stderr, "covtune-bench-weights: %s\n", err->text);
    exit(1);
}

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const ct_sequence *const *list(const problem *p) { return (const ct_sequence *const *)p->seq; }

/* gps, odom: forms, NULL: constant. */
static problem make(ct_situation situation, int runs, int poses, const char *gps, const char *odom)
{
    problem        p = {.count = runs};
    ct_err         err = {0};
    ct_nav_options nav;
    ct_nav_preset("D1", CT_SE2, &nav);
    nav.least = nav.most = poses;
    nav.situation = situation;
    must(ct_noise_new(&p.noise, &err), &err);
    for (int i = 0; i < runs; i++) must(ct_simulate_nav(&nav, (uint64_t)i, p.noise, &p.seq[i], &err), &err);
    const char *const form[] = {gps, odom}, *const name[] = {"gps", "odom"};
    for (int k = 0; k < 2; k++) {
        const int32_t g = ct_noise_find(p.noise, name[k]);
        if (form[k]) must(ct_conditional_form(runs, list(&p), p.noise, g, form[k], NULL, NULL, &err), &err);
        else must(ct_noise_set_function(p.noise, g, NULL, &err), &err);
    }
    must(ct_theta_new(p.noise, &p.theta, &err), &err);
    for (int k = 0; k < 2; k++)
        must(ct_theta_learn(p.theta, ct_noise_find(p.noise, name[k]), CT_NOISE_DIAGONAL, 1e-8, 1e6, &err), &err);
    return p;
}

static void release(problem *p)
{
    for (int i = 0; i < p->count; i++) ct_sequence_free(p->seq[i]);
    ct_theta_free(p->theta);
    ct_noise_free(p->noise);
}

/* ---- Cost of loss and gradient ------------------------------------------------------------------ */

static int column_of(const ct_graph *g, const char *name)
{
    for (int c = 0; c < ct_graph_features(g); c++)
        if (!strcmp(ct_graph_feature_name(g, c), name)) return c;
    return -1;
}

/* Seconds of one pass of the functions over all factors. */
static double forward(const problem *p)
{
    const double begin = cpu_s();
    double       sum = 0;
    for (int i = 0; i < p->count; i++)
        for (int32_t f = 0; f < ct_graph_factors(p->seq[i]->graph); f++) {
            const ct_factor    k = ct_graph_factor(p->seq[i]->graph, f);
            const ct_function *function = ct_noise_get(p->noise, k.noise)->function;
            double             x[CT_FUNCTION_FEATURES_MAX], u[CT_FUNCTION_ROWS_MAX];
            for (int j = 0; function && j < function->features; j++)
                x[j] = ct_graph_feature(p->seq[i]->graph, f, column_of(p->seq[i]->graph, function->feature[j].name));
            if (function) ct_function_evaluate(function, x, u), sum += u[0];
        }
    return isfinite(sum) ? cpu_s() - begin : NAN;
}

/* Seconds of the loss under one set of weights after another, with the gradient or alone. */
static double evaluate(ct_outer *o, const problem *p, int gradient, int round)
{
    ct_err         err = {0};
    double        *y = calloc((size_t)(2 * (o->m + o->weights) + 1), sizeof *y), F;
    ct__tracking   t = {.outer = o, .weights = o->weights, .err = &err};
    ct_outer_value value = {0};
    ct_theta_get(p->theta, p->noise, y);
    if (o->weights) ct__outer_get_weights(o, y + o->m);
    for (int32_t j = 0; j < o->weights; j++) y[o->m + j] *= 1 + 1e-9 * (round + 1); /* other weights: nothing is kept */
    const double begin = cpu_s();
    if (gradient)
        must(ct__tracking_value(&t, y, y + o->m, &F, y + o->m + o->weights, y + 2 * o->m + o->weights), &err);
    else must(ct_outer_evaluate(o, y, NULL, &value, &err), &err);
    const double seconds = cpu_s() - begin;
    free(y);
    return seconds;
}

static void measure_cost(const char *form, int runs, int poses, int rounds)
{
    problem          p = make(CT_SITUATION_CURVED, runs, poses, form, "linear:turn");
    problem          constant = make(CT_SITUATION_CURVED, runs, poses, NULL, NULL);
    ct_outer_options how = ct_outer_defaults();
    ct_outer        *o, *plain;
    ct_err           err = {0};
    ct_rng           rng = ct_rng_seed(1);
    double           best[3] = {INFINITY, INFINITY, INFINITY};
    how.jobs = 1;
    const ct_function *f = ct_noise_get(p.noise, ct_noise_find(p.noise, "gps"))->function;
    for (int i = 0; i < f->weights; i++) f->weight[i] = 0.1 * ct_rng_normal(&rng);
    must(ct_outer_new(runs, list(&p), p.noise, p.theta, &how, &o, &err), &err);
    must(ct__outer_watch_weights(o, &err), &err);
    must(ct_outer_new(runs, list(&constant), constant.noise, constant.theta, &how, &plain, &err), &err);
    for (int r = 0; r < rounds; r++) {
        const double seconds[3] = {evaluate(plain, &constant, 0, r), forward(&p), evaluate(o, &p, 1, r)};
        for (int k = 0; k < 3; k++) best[k] = fmin(best[k], seconds[k]);
    }
    const double bound = 1.5 * best[0] + 3 * best[1];
    printf("| %s | %d | %.2f | %.2f | %.2f | %.2f | %.2f |\n", form, f->weights, 1e3 * best[0], 1e3 * best[1],
           1e3 * best[2], 1e3 * bound, best[2] / bound);
    ct_outer_free(o);
    ct_outer_free(plain);
    release(&p);
    release(&constant);
}

/* ---- Gauss-Newton and L-BFGS --------------------------------------------------------------------- */

static void compare_methods(ct_situation situation, const char *gps, const char *odom, int runs, int poses)
{
    for (int few = 0; few < 2; few++) {
        problem                p = make(situation, runs, poses, gps, odom);
        ct_outer_options       outer = ct_outer_defaults();
        ct_conditional_options how = ct_conditional_defaults();
        ct_conditional_result  result;
        ct_err                 err = {0};
        const int32_t          weights = ct_conditional_weights(p.theta, p.noise);
        outer.jobs = 1;
        if (!few) how.gauss_newton = 0;
        const double begin = cpu_s();
        must(ct_conditional_learn(p.count, list(&p), p.theta, &outer, &how, p.noise, &result, &err), &err);
        printf("| %s | `%s`, `%s` | %d | %s | %d | %.2f | %.4f |\n",
               situation == CT_SITUATION_LINEAR ? "linear" : "curved", gps, odom, weights,
               few ? "Gauss-Newton" : "L-BFGS", result.evaluations, cpu_s() - begin,
               exp(result.log_ratio[CT_CONDITIONAL_TRACKING]));
        ct_conditional_result_free(&result);
        release(&p);
    }
}

int main(int argc, char **argv)
{
    const int quick = argc > 1 && !strcmp(argv[1], "--quick");
    if (argc > 1 && !quick) {
        fprintf(stderr, "Usage: covtune-bench-weights [--quick]\n");
        return 2;
    }
    printf("Loss and gradient by all weights: ms of processor for %d sequences of %d poses\n\n", quick ? 2 : 5,
           quick ? 100 : 400);
    printf("| function | weights | inner solves | forward pass | loss and gradient | 1.5 solves + 3 passes | share |\n"
           "|---|---:|---:|---:|---:|---:|---:|\n");
    measure_cost("linear:sky,traffic", quick ? 2 : 5, quick ? 100 : 400, quick ? 2 : 15);
    measure_cost("network:sky,traffic/16x16", quick ? 2 : 5, quick ? 100 : 400, quick ? 2 : 15);
    measure_cost("network:sky,traffic/68x68", quick ? 2 : 5, quick ? 100 : 400, quick ? 2 : 15);
    printf("\nTracking, five folds and the answer: %d sequences of %d poses\n\n", quick ? 4 : RUNS, quick ? 60 : 200);
    printf("| world | functions | weights | method | evaluations | s | held-out loss / constant |\n"
           "|---|---|---:|---|---:|---:|---:|\n");
    compare_methods(CT_SITUATION_LINEAR, "linear:sky,traffic", "linear:turn", quick ? 4 : RUNS, quick ? 60 : 200);
    if (!quick) compare_methods(CT_SITUATION_CURVED, "piecewise:sky,traffic", "piecewise:turn", RUNS, 200);
    if (!quick)
        compare_methods(CT_SITUATION_CURVED, "network:sky,traffic/10/shared", "piecewise:turn/shared", RUNS, 200);
    return 0;
}
