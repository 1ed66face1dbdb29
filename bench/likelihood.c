/* likelihood.c: what an evaluation of the likelihood costs, in factorisations, and how it grows with the sequence.
 *
 * Navigation sequences without truth: a chain with absolute measurements, 3 scalars a pose. A factorisation is
 * linearising and factoring the graph once. An evaluation starts at the minimum, as in a search near its end. */
#include <covtune/covtune.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(ct_status status, const ct_err *err)
{
    if (status == CT_OK) return;
    fprintf(stderr, "covtune-bench-likelihood: %s\n", err->text);
    exit(1);
}

typedef struct {
    double factor, value, gradient, information; /* seconds */
} costs;

static double seconds_of_factor(const ct_sequence *seq, const ct_noise *noise, const double *x, int repeats)
{
    ct_solver *solver;
    ct_err     err = {0};
    double     best = INFINITY;
    must(ct_solver_new(seq->graph, NULL, &solver, &err), &err);
    for (int k = 0; k < repeats; k++) {
        const double start = ct_now_s();
        must(ct_solver_linearise(solver, noise, x, &err), &err);
        best = fmin(best, ct_now_s() - start);
    }
    ct_solver_free(solver);
    return best;
}

static double seconds_of(ct_likelihood *likelihood, const double *p, double *gradient, double *information, int repeats)
{
    ct_err err = {0};
    double best = INFINITY;
    for (int k = 0; k < repeats; k++) {
        ct_likelihood_value value = {.gradient = gradient, .information = information};
        const double        start = ct_now_s();
        must(ct_likelihood_evaluate(likelihood, p, NULL, &value, &err), &err);
        best = fmin(best, ct_now_s() - start);
        if (k == 0) ct_likelihood_accept(likelihood);
    }
    return best;
}

static costs measure(int poses, int repeats)
{
    ct_err                err = {0};
    ct_nav_options        nav;
    ct_noise             *noise;
    ct_sequence          *seq;
    ct_theta             *theta;
    ct_likelihood        *likelihood;
    ct_likelihood_options options = ct_likelihood_defaults();
    costs                 c;
    ct_nav_preset("D1", CT_SE2, &nav);
    nav.least = nav.most = poses;
    must(ct_noise_new(&noise, &err), &err);
    must(ct_simulate_nav(&nav, 0, noise, &seq, &err), &err);
    must(ct_theta_new(noise, &theta, &err), &err);
    for (int32_t g = 0; g < ct_noise_count(noise); g++)
        if (strcmp(ct_noise_get(noise, g)->name, "first_pose"))
            must(ct_theta_learn(theta, g, CT_NOISE_DIAGONAL, 1e-6, 1e6, &err), &err);
    options.truth = 0;
    must(ct_likelihood_new(1, (const ct_sequence *const[]){seq}, noise, theta, &options, &likelihood, &err), &err);
    double p[6], gradient[6], information[36];
    ct_theta_get(theta, noise, p);
    c.value = seconds_of(likelihood, p, NULL, NULL, repeats + 1);
    c.gradient = seconds_of(likelihood, p, gradient, NULL, repeats);
    c.information = seconds_of(likelihood, p, gradient, information, repeats);
    c.factor = seconds_of_factor(seq, noise, seq->truth, repeats);
    ct_likelihood_free(likelihood);
    ct_theta_free(theta);
    ct_sequence_free(seq);
    ct_noise_free(noise);
    return c;
}

int main(int argc, char **argv)
{
    const int quick = argc > 1 && !strcmp(argv[1], "--quick");
    if (argc > 2 || (argc == 2 && !quick)) {
        fprintf(stderr, "Usage: covtune-bench-likelihood [--quick]\n");
        return 2;
    }
    printf("The likelihood of one sequence, 6 parameters: us a pose, and times a factorisation.\n\n");
    printf("| poses | factorisation | value, with its solve | and gradient | and information |\n");
    printf("|---:|---:|---:|---:|---:|\n");
    for (int poses = 500; poses <= (quick ? 500 : 50000); poses *= 10) {
        const costs  c = measure(poses, quick ? 2 : poses > 5000 ? 3 : 10);
        const double us = 1e6 / poses;
        printf("| %d | %.2f | %.2f (%.1f) | %.2f (%.1f) | %.2f (%.1f) |\n", poses, us * c.factor, us * c.value,
               c.value / c.factor, us * c.gradient, c.gradient / c.factor, us * c.information,
               c.information / c.factor);
    }
    return 0;
}
