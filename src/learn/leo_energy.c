/* leo_energy.c: LEO's loss (Sodhi et al., CoRL 2021) over the sequences, and its gradient by p.
 *
 *     L = mean over sequences of 1/N [ E(truth) - mean over samples of E(x_s) ],
 *     x_s = x o Exp(delta),   delta ~ N(0, H^-1)
 *
 * E is the error of the N factors of learned models. x is the estimate under p, and H = J'J there. Samples are drawn
 * with the sparse factor: R delta = white noise. The derivative by p treats them as constants. If the posterior is that
 * Gaussian, it converges with the number of samples to the gradient of the negative log likelihood of the truth. p are
 * log variances of diagonal models. With w the robust weight and u = r / sigma,
 *
 *     dE/dp_j = -1/2 sum over factors and coordinates of parameter j of w u^2
 *
 * Each seed, iteration and sequence has its own random stream, so draws do not depend on threads. */
#include "base/parallel.h"
#include "graph/whiten.h"
#include "learn/digest.h"
#include "evaluate/evaluate.h"
#include "graph/graph.h"
#include "learn/learn.h"
#include "solve/many.h"
#include "solve/solve.h"

#include <assert.h>
#include <math.h>

#define ENERGY_TAG 32 /* in the checkpoint: distinguishes this kind of evaluation */
#define HEAD       5  /* numbers there before the gradient                   */

typedef struct {
    ct_outer        *outer;
    const ct__draws *draws;
    double          *energy; /* per sequence */
} evaluation;

/* Whitens r in place, adds weight w u^2 to the squares of its model, returns weight times the error. */
static double add_residual(const ct_outer *o, int32_t model, double *r, double weight, double *squares)
{
    const ct_noise_model *m = ct_noise_get(o->noise, model);
    double               *to = squares + (int64_t)o->slot[model] * CT_NOISE_DIM_MAX;
    const double          error = ct__whiten(m, m->dim, r, 0, NULL, NULL);
    for (int c = 0; c < m->dim; c++) to[c] += weight * r[c] * r[c];
    return weight * error;
}

/* Adds the residuals at the truth. Returns E; *factors: their number. */
static double add_truth(const ct_outer *o, int32_t sequence, double *squares, int64_t *factors)
{
    double E = 0;
    *factors = 0;
    for (int32_t g = 0; g < o->models; g++) {
        if (o->slot[g] < 0) continue;
        const ct__samples *s = &o->samples[o->slot[g]];
        const ct_sequence *seq = o->inner[sequence].seq;
        double             r[CT_ROWS_MAX];
        for (int64_t k = s->first[sequence]; s->r && k < s->first[sequence + 1]; k++) {
            memcpy(r, s->r + k * s->dim, (size_t)s->dim * sizeof *r);
            E += add_residual(o, g, r, 1, squares);
        }
        for (int32_t k = 0; !s->r && k < seq->graph->factors; k++) { /* they are not kept */
            if (seq->graph->factor[k].noise != g || !ct__truth_residual(seq, k, r)) continue;
            ct__divide_by_function(seq->graph, o->base, k, r);
            E += add_residual(o, g, r, 1, squares);
        }
        *factors += s->first[sequence + 1] - s->first[sequence];
    }
    return E;
}

static double add_values(const ct_outer *o, const ct_solver *solver, const double *x, double weight, double *squares)
{
    double E = 0;
    for (const ct__batch *batch = solver->batch; batch < solver->batch + solver->batches; batch++)
        for (int32_t k = batch->first; k < batch->end; k++) {
            const ct__item *item = &solver->item[k];
            double          r[CT_ROWS_MAX];
            if (o->slot[item->noise] < 0) continue;
            ct__item_eval(solver, batch, k, x, r, NULL);
            ct__scaling T;
            if (ct__item_scale(solver, item, &T)) ct__apply_scale(&T, batch->ops->rows, r, 0, NULL, NULL);
            E += add_residual(o, item->noise, r, weight, squares);
        }
    return E;
}

/* Draws samples in batches of m, the columns of S. *mean: the mean of E. Subtracts their w u^2 from the squares. */
static ct_status add_samples(const evaluation *e, int32_t sequence, ct__scratch *scratch, double *squares, double *mean)
{
    const ct_outer *o = e->outer;
    ct_solver      *solver = o->inner[sequence].solver;
    const uint64_t  stream[3] = {e->draws->seed, (uint64_t)e->draws->iteration, (uint64_t)sequence};
    ct_rng          rng = ct_rng_seed(ct__digest(CT__DIGEST_SEED, stream, sizeof stream));
    /* fixed variables keep their values */
    memcpy(scratch->x, o->inner[sequence].x, (size_t)ct_graph_size(solver->graph) * sizeof *scratch->x);
    *mean = 0;
    for (int done = 0, columns; done < e->draws->samples; done += columns) {
        columns = CT_MIN(e->draws->samples - done, o->m);
        for (int c = 0; c < columns; c++)
            for (int32_t i = 0; i < solver->scalars; i++) scratch->S[(int64_t)i * columns + c] = ct_rng_normal(&rng);
        CT_TRY(ct_sparse_draw(solver->system, scratch->S, columns, NULL));
        for (int c = 0; c < columns; c++) {
            for (int32_t i = 0; i < solver->scalars; i++) scratch->e[i] = scratch->S[(int64_t)i * columns + c];
            ct__retract(solver, o->inner[sequence].x, 1, scratch->e, scratch->x);
            *mean -= add_values(o, solver, scratch->x, -1.0 / e->draws->samples, squares);
        }
    }
    return CT_OK;
}

/* gradient_j = -1/(2 N) sum of the squares of the coordinates of j. */
static void gather(const ct_outer *o, const double *squares, int64_t factors, double *gradient)
{
    const ct_theta_jacobian *s = o->slopes;
    for (int32_t g = 0; g < o->models; g++)
        for (int32_t t = s->first[g]; t < s->first[g + 1]; t++)
            for (int c = 0; c < ct_noise_get(o->noise, g)->dim; c++)
                if (s->coordinate[t] == c || s->coordinate[t] == -2)
                    gradient[s->parameter[t]] -=
                        0.5 * squares[(int64_t)o->slot[g] * CT_NOISE_DIM_MAX + c] / (double)factors;
}

static void evaluate_open(const evaluation *e, int64_t i, int worker)
{
    ct_outer         *o = e->outer;
    ct__inner_problem *inner = &o->inner[i];
    ct__scratch      *scratch = &o->scratch[worker];
    double           *squares = scratch->dL_dSigma, sampled;
    int64_t           factors;
    ct__inner_evaluate(o, inner, scratch, 0);
    if (!isfinite(inner->loss)) return;
    memset(squares, 0, (size_t)o->slots * CT_NOISE_DIM_MAX * sizeof *squares);
    ct_status status = ct_solver_linearise(inner->solver, o->noise, inner->x, NULL);
    if (status == CT_OK) status = add_samples(e, (int32_t)i, scratch, squares, &sampled);
    if (status == CT_OK) {
        const double truth = add_truth(o, (int32_t)i, squares, &factors);
        e->energy[i] = factors ? (truth - sampled) / (double)factors : 0;
        if (factors) gather(o, squares, factors, inner->gradient);
    }
    if (status == CT_E_MEMORY) inner->status = status;
    if (status != CT_OK || !isfinite(e->energy[i])) {
        inner->stop = CT_STOP_RANK;
        inner->loss = INFINITY;
    }
}

static void evaluate_sequence(void *user, int64_t i, int worker)
{
    const evaluation *e = user;
    if (ct__inner_open(e->outer, (int32_t)i, worker) != CT_OK) return;
    evaluate_open(e, i, worker);
    ct__inner_close(e->outer, (int32_t)i, worker);
}

/* Means over the sequences that have an estimate. */
static void add_up(const ct_outer *o, const double *energy, ct__energy *value)
{
    int32_t estimated = 0;
    memset(value->gradient, 0, (size_t)o->m * sizeof *value->gradient);
    value->loss = value->energy = 0;
    value->failed = value->solves = 0;
    for (int32_t i = 0; i < o->count; i++) estimated += o->inner[i].took_part && isfinite(o->inner[i].loss);
    for (int32_t i = 0; i < o->count; i++) {
        const ct__inner_problem *inner = &o->inner[i];
        if (!inner->took_part) continue;
        value->solves += inner->solves;
        if (!isfinite(inner->loss)) {
            value->failed++;
            continue;
        }
        value->loss += inner->loss / estimated;
        value->energy += energy[i] / estimated;
        for (int32_t j = 0; j < o->m; j++) value->gradient[j] += inner->gradient[j] / estimated;
    }
    value->estimated = estimated;
    if (value->failed) value->loss = INFINITY;
}

static ct_status evaluate(ct_outer *o, const double *p, const ct__draws *draws, ct__energy *value, ct_err *err)
{
    evaluation e = {.outer = o, .draws = draws, .energy = ct__zalloc(o->count, sizeof *e.energy)};
    if (!e.energy) return ct__no_memory(err, "sequences", o->count);
    ct_status status = ct_theta_apply_unprojected(o->theta, p, o->noise, err);
    if (status == CT_OK) status = ct__outer_run(o, evaluate_sequence, &e, err);
    if (status == CT_OK) status = ct__outer_exchange(o, 0, e.energy, err);
    for (int32_t i = 0; status == CT_OK && i < o->count; i++)
        if (o->inner[i].took_part && o->inner[i].status != CT_OK)
            status = ct__no_memory(err, "samples", draws->samples);
    if (status == CT_OK) add_up(o, e.energy, value);
    free(e.energy);
    return status;
}

ct_status ct__outer_energy(ct_outer *o, const double *p, const uint8_t *part, const ct__draws *draws, ct__energy *value,
                           ct_err *err)
{
    const int64_t numbers = HEAD + (int64_t)o->m;
    double       *number = ct__zalloc(numbers, sizeof *number);
    int           taken = 0;
    assert(draws->samples > 0);
    if (!number) return ct__no_memory(err, "numbers", numbers);
    for (int32_t i = 0; i < o->count; i++) o->inner[i].took_part = !part || part[i];
    ct_status status = o->checkpoint
                           ? ct__checkpoint_take(o->checkpoint, o, ENERGY_TAG, p, part, numbers, number, &taken, err)
                           : CT_OK;
    if (status == CT_OK && !taken) {
        status = evaluate(o, p, draws, value, err);
        const double head[HEAD] = {value->loss, value->energy, value->failed, value->solves, value->estimated};
        memcpy(number, head, sizeof head);
        memcpy(number + HEAD, value->gradient, (size_t)o->m * sizeof *number);
        if (status == CT_OK && o->checkpoint)
            status = ct__checkpoint_put(o->checkpoint, o, ENERGY_TAG, p, part, numbers, number, err);
    }
    if (taken) {
        *value =
            (ct__energy){number[0], number[1], value->gradient, (int32_t)number[2], (int32_t)number[4], (int)number[3]};
        memcpy(value->gradient, number + HEAD, (size_t)o->m * sizeof *number);
    }
    if (status == CT_OK) o->solves += value->solves;
    o->fresh = !taken;
    free(number);
    return status;
}
