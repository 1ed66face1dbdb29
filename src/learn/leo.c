/* leo.c: LEO (Sodhi, Dexheimer, Mukadam, Anderson, Kaess: LEO: Learning energy-based models in factor graph
 * optimization, CoRL 2021), the paper's main baseline.
 *
 * What is learned of each variance is q, and an iteration is a step of Adam along the gradient g of energy + l2 sum
 * q^2 (leo_energy.c),
 *
 *     a <- 0.9 a + 0.1 g,   b <- 0.999 b + 0.001 g^2,   q <- q - rate decay^t (a / (1 - 0.9^t+1)) / (sqrt(b / (1 -
 *                                                       0.999^t+1)) + 1e-8),   q >= clip
 *
 * As in the newest public code (github.com/rpl-cmu/leo): q is the precision, 1 / variance, though it is called
 * sigma_inv there; the cost of a run is halved squared errors over the number of factors, the loss a mean over runs;
 * 10 samples of the joint Gaussian at the estimate, drawn anew in each of 100 iterations; PyTorch's Adam with a rate
 * of 0.1, which falls by 0.95 after each iteration; 1e-3 times the sum of squares of precisions; precisions not
 * below 1e-4; it starts from precisions of 0.01 to 1. (An older revision has q = 1 / sigma, costs over 1000, a rate
 * of 1, no squares, and q not below 0.1.) Steps of Adam are about as long as the rate, whatever the gradient: all of
 * them together move a precision by at most rate / (1 - decay) = 2. That is how far a start may be off. Precisions
 * are those of theta: where rows have units (ct_theta_set_unit), q = 1 is a sigma of one unit, and rate, l2 and clip
 * are meant in them.
 *
 * Different here: samples are drawn with the sparse factor, there from a dense covariance; after each step p is
 * brought back into theta's set, which LEO does not have; estimates are minima found from the truth or, with
 * incremental inner estimates as there, step by step from what was measured; the rule that ends a run early when
 * tracking errors are below 0.05 m and rad is left out. The last iterate is the answer, as there. */
#include "learn/learn.h"

#include <math.h>

#define KEEP_FIRST  0.9 /* PyTorch's, as LEO has them */
#define KEEP_SECOND 0.999
#define LEAST_ROOT  1e-8

/* Adam's memory, and what it works on. */
typedef struct {
    double *q, *first, *second, *gradient; /* m each, one block */
    double  rate, keep_first, keep_second; /* of this iteration; powers of the two above */
} adam;

/* Precisions alone: of a full covariance there are none. And E must be known at the truth. */
ct_status ct__leo_check(const ct_outer *o, ct_err *err)
{
    char name[256];
    for (int32_t i = 0; i < o->m; i++)
        for (int32_t t = 0; t < o->slopes->terms; t++)
            if (o->slopes->parameter[t] == i && o->slopes->coordinate[t] == -1)
                return ct_fail(err, CT_E_ARGUMENT,
                               "method leo learns diagonal and isotropic models, and %s is part of a full covariance; "
                               "lm, fw, fw-log and pg learn those",
                               ct_theta_name(o->theta, i, name, sizeof name));
    for (int32_t i = 0; i < o->count; i++) {
        const ct_graph *graph = o->inner[i].seq->graph;
        int64_t         all = 0, told = 0;
        for (int32_t f = 0; f < ct_graph_factors(graph); f++) all += o->slot[ct_graph_factor(graph, f).noise] >= 0;
        for (int32_t s = 0; s < o->slots; s++) told += o->samples[s].first[i + 1] - o->samples[s].first[i];
        if (told == all) continue;
        snprintf(name, sizeof name, "number %d", i);
        return ct_fail(err, CT_E_ARGUMENT,
                       "method leo needs the whole truth, and that of sequence %s does not tell the residuals of %lld "
                       "of its %lld factors to learn from; other methods do without",
                       o->inner[i].seq->name ? o->inner[i].seq->name : name, (long long)(all - told), (long long)all);
    }
    return CT_OK;
}

/* q <- one step on, p <- the point of the set nearest to that. gradient: of the energy, by p. */
static void step(const ct_theta *theta, const ct_leo *o, adam *a, double *p)
{
    a->keep_first *= KEEP_FIRST;
    a->keep_second *= KEEP_SECOND;
    for (int32_t i = 0; i < ct_theta_count(theta); i++) {
        const double g = -a->gradient[i] / a->q[i] + 2 * o->l2 * a->q[i]; /* p = -log q */
        a->first[i] = KEEP_FIRST * a->first[i] + (1 - KEEP_FIRST) * g;
        a->second[i] = KEEP_SECOND * a->second[i] + (1 - KEEP_SECOND) * g * g;
        const double move =
            a->first[i] / (1 - a->keep_first) / (sqrt(a->second[i] / (1 - a->keep_second)) + LEAST_ROOT);
        a->q[i] = CT_MAX(o->clip, a->q[i] - a->rate * move);
        p[i] = -log(a->q[i]);
    }
    a->rate *= o->decay;
    if (!ct_theta_project(theta, CT_SPACE_LOG, p)) return;
    for (int32_t i = 0; i < ct_theta_count(theta); i++) a->q[i] = exp(-p[i]);
}

static ct_status iterate(ct__objective *e, int max_iterations, adam *a, double *p, ct_learn_stop *stop)
{
    const ct_leo *o = &e->options->leo;
    CT_TRY(ct__outer_start_over(e->outer, e->err));
    e->begun = 1; /* every evaluation is followed by a step */
    for (int itr = 0; itr < max_iterations; itr++) {
        const ct__draws draws = {.samples = o->samples, .iteration = itr, .seed = e->options->seed};
        ct__energy      value = {.gradient = a->gradient};
        CT_TRY(ct__outer_energy(e->outer, p, e->part, &draws, &value, e->err));
        e->result->evaluations++;
        ct__objective_report(e, p, value.loss);
        if (itr == 0 || value.loss < e->best) {
            e->best = value.loss;
            e->best_iteration = itr;
        }
        *stop = ct__objective_cancelled(e) ? CT_LEARN_STOP_CANCELLED
                : value.estimated          ? CT_LEARN_STOP_ITERATIONS
                                           : CT_LEARN_STOP_STUCK;
        if (*stop != CT_LEARN_STOP_ITERATIONS) return CT_OK;
        step(e->outer->theta, o, a, p);
        ct__objective_step(e);
        CT_TRY(ct__outer_checkpoint(e->outer, e->err));
    }
    return CT_OK;
}

ct_status ct__learn_leo(ct__objective *e, int max_iterations, double *p, ct_learn_stop *stop)
{
    const int32_t m = e->outer->m;
    CT_TRY(ct__leo_check(e->outer, e->err));
    adam a = {
        .q = ct__zalloc(4 * (int64_t)m, sizeof *a.q), .rate = e->options->leo.rate, .keep_first = 1, .keep_second = 1};
    if (!a.q) return ct__no_memory(e->err, "parameters", m);
    a.first = a.q + m;
    a.second = a.first + m;
    a.gradient = a.second + m;
    for (int32_t i = 0; i < m; i++) a.q[i] = exp(-p[i]);
    const ct_status status = iterate(e, max_iterations, &a, p, stop);
    free(a.q);
    return status;
}
