/* leo.c: LEO (Sodhi, Dexheimer, Mukadam, Anderson, Kaess: LEO: Learning energy-based models in factor graph
 * optimization, CoRL 2021), the main baseline of the paper.
 *
 * The parameters are precisions q = 1 / variance. Each iteration is an Adam step on the gradient g of
 * energy + l2 sum q^2 (leo_energy.c):
 *
 *     a <- 0.9 a + 0.1 g,   b <- 0.999 b + 0.001 g^2,   q >= clip,
 *     q <- q - rate decay^t (a / (1 - 0.9^(t+1))) / (sqrt(b / (1 - 0.999^(t+1))) + 1e-8)
 *
 * The newest public code (github.com/rpl-cmu/leo) sets the defaults:
 *   - q is the precision, although its name there is sigma_inv. The start has precisions of 0.01 to 1.
 *   - The cost of a sequence is half its squared errors over its number of factors. The loss is their mean.
 *   - There are 100 iterations, with 10 new samples each of the joint Gaussian at the estimate.
 *   - Adam is PyTorch's, with rate 0.1 and decay 0.95. l2 is 1e-3 and clip 1e-4.
 * An older revision has q = 1 / sigma, costs over 1000, rate 1, no l2 and clip 0.1.
 *
 * An Adam step is about as long as the rate, for any gradient. All steps together change a precision by at most
 * rate / (1 - decay) = 2, which limits how far off a start can be. Precisions are in theta's units: with
 * ct_theta_set_unit, q = 1 is a sigma of one unit, and rate, l2 and clip have the same unit.
 *
 * Differences from that code:
 *   - Samples use the sparse factor, not a dense covariance.
 *   - Each step is projected into theta's set. LEO has no set.
 *   - Estimates are minima from the truth. With incremental inner estimates they start from measurements, as in LEO.
 *   - The early stop at tracking errors below 0.05 m and rad is left out.
 * The answer is the last iterate, as in LEO. */
#include "graph/graph.h"
#include "learn/learn.h"

#include <math.h>

#define KEEP_FIRST  0.9 /* defaults of PyTorch, which LEO uses */
#define KEEP_SECOND 0.999
#define LEAST_ROOT  1e-8

/* The state of Adam. */
typedef struct {
    double *q, *first, *second, *gradient; /* m each, one block */
    double  rate, keep_first, keep_second; /* of this iteration; powers of the two above */
} adam;

/* LEO needs precisions, which full covariances do not have, and E at the truth. */
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
        int64_t         all = 0, known = 0;
        for (int32_t g = 0; g < CT_MIN(o->models, graph->noise_count); g++)
            all += o->slot[g] >= 0 ? graph->noise_use[g].factors : 0;
        for (int32_t s = 0; s < o->slots; s++) known += o->samples[s].first[i + 1] - o->samples[s].first[i];
        if (known == all) continue;
        snprintf(name, sizeof name, "number %d", i);
        return ct_fail(err, CT_E_ARGUMENT,
                       "method leo needs complete truth; in sequence %s the truth does not determine the residuals of "
                       "%lld of the %lld factors of learned models; other methods do not need it",
                       o->inner[i].seq->name ? o->inner[i].seq->name : name, (long long)(all - known), (long long)all);
    }
    return CT_OK;
}

/* One Adam step of q; p <- its projection into the set. a->gradient is d energy / dp. */
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
