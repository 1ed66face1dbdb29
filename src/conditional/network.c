/* network.c: the likelihood of regression.c for networks, by L-BFGS over all squares. It is stopped where the deviance
 * of held-out recordings was least; then all recordings are used for as many evaluations. The network's last biases
 * take the place of intercepts. */
#include "conditional/conditional.h"

#include <math.h>
#include <nlopt.h>

#define EVALUATIONS 400
#define PATIENCE    60   /* evaluations without a better held-out deviance */
#define DECAY       1e-4 /* of 1/2 |w|^2, per square */
#define HELD        5    /* one recording of so many is held out */

typedef struct {
    const ct__squares *s;
    ct_function        f; /* with w, the optimiser's point, as weights */
    const double      *log_v;
    const uint8_t     *train, *held; /* held NULL: none */
    const int32_t     *same;         /* per weight: ct__weight_ties; NULL: no rows are tied */
    double            *best;
    double             least;
    int                evaluations, best_at, most;
    nlopt_opt          opt;
} training;

static double mean_loss(const training *t, const uint8_t *part, double *gradient)
{
    const ct__squares *s = t->s;
    double             sum = 0;
    int64_t            count = 0;
    for (int64_t k = 0; k < s->count; k++) count += !part || part[s->sequence[k]];
    count *= s->dim;
    for (int64_t k = 0; k < s->count; k++) {
        double u[CT_FUNCTION_OUTPUTS_MAX], d[CT_FUNCTION_OUTPUTS_MAX] = {0};
        if (part && !part[s->sequence[k]]) continue;
        ct_function_evaluate(&t->f, s->x + k * s->features, u);
        if (t->f.matrix) {
            sum += ct__matrix_loss(s->dim, u, s->moment + k * t->f.outputs, d, NULL);
            for (int o = 0; o < t->f.outputs; o++) d[o] /= (double)count;
        }
        for (int i = 0; !t->f.matrix && i < s->dim; i++) {
            const int    o = t->f.outputs == 1 ? 0 : i;
            const double eta = t->log_v[i] + u[o], z = s->square[k * s->dim + i] * exp(-eta);
            sum += 0.5 * (eta + (z <= CT__CLIP ? z : CT__CLIP * (1 + log(z / CT__CLIP))));
            d[o] += 0.5 * (1 - fmin(z, CT__CLIP)) / (double)count;
        }
        if (gradient) ct_function_gradient(&t->f, s->x + k * s->features, d, gradient);
    }
    return count ? sum / (double)count : NAN;
}

static double evaluate(unsigned n, const double *w, double *gradient, void *user)
{
    training *t = user;
    t->f.weight = (double *)w;
    for (unsigned i = 0; gradient && i < n; i++) gradient[i] = 0;
    double F = mean_loss(t, t->train, gradient);
    for (unsigned i = 0; i < n; i++) {
        F += 0.5 * DECAY * w[i] * w[i];
        if (gradient) gradient[i] += DECAY * w[i];
    }
    if (gradient) ct__average_ties((int32_t)n, t->same, gradient);
    const double held = t->held ? mean_loss(t, t->held, NULL) : F;
    t->evaluations++;
    if (held < t->least) {
        t->least = held;
        t->best_at = t->evaluations;
        memcpy(t->best, w, n * sizeof *w);
    } else if (t->held && t->evaluations - t->best_at > PATIENCE)
        nlopt_force_stop(t->opt);
    return F;
}

/* Glorot's weights; the last layer small, so that the first function is nearly constant. */
static void initialise(const ct_function *f, uint64_t seed, double *w)
{
    ct_rng rng = ct_rng_seed(seed);
    for (int k = 0; k <= f->layers; k++) {
        const int    in = k ? f->width[k - 1] : f->features, out = k == f->layers ? f->outputs : f->width[k];
        const double scale = sqrt(6.0 / (in + out)) * (k == f->layers ? 0.1 : 1);
        for (int i = 0; i < in * out; i++) *w++ = scale * (2 * ct_rng_uniform(&rng) - 1);
        for (int i = 0; i < out; i++) *w++ = 0;
    }
}

/* First weights; the constant part of a matrix function is the log of the mean moment. */
static void begin(const ct_function *f, const ct__squares *s, const uint8_t *part, uint64_t seed, double *w)
{
    double L[CT__SYM_PACKED_MAX];
    initialise(f, seed, w);
    if (!f->matrix || !ct__mean_moment(s, part, L)) return;
    ct__sym_log(s->dim, L);
    ct__matrix_constant(f, L, w);
}

static ct_status minimise(training *t, int most, double *w, ct_err *err)
{
    double F;
    t->opt = nlopt_create(NLOPT_LD_LBFGS, (unsigned)t->f.weights);
    if (!t->opt) return ct__no_memory(err, "weights", t->f.weights);
    t->least = INFINITY;
    t->evaluations = t->best_at = 0;
    nlopt_set_min_objective(t->opt, evaluate, t);
    nlopt_set_maxeval(t->opt, most);
    nlopt_set_ftol_rel(t->opt, 1e-9);
    nlopt_optimize(t->opt, w, &F); /* whatever it returns: the best point is kept */
    nlopt_destroy(t->opt);
    memcpy(w, t->best, (size_t)t->f.weights * sizeof *w);
    return CT_OK;
}

/* held <- one group in HELD of those that take part; train the rest. 0: there are too few. */
static int split(int32_t sequences, const uint8_t *part, const int32_t *group, uint8_t *train, uint8_t *held)
{
    int in = 0, out = 0;
    for (int32_t i = 0; i < sequences; i++) {
        const int takes = !part || part[i];
        held[i] = (uint8_t)(takes && group[i] % HELD == HELD - 1);
        train[i] = (uint8_t)(takes && !held[i]);
        in += train[i];
        out += held[i];
    }
    if (out == 0) /* fewer groups: the last one that takes part */
        for (int32_t i = sequences - 1, last = -1; i >= 0; i--) {
            if (!train[i] || (last >= 0 && group[i] != last)) continue;
            last = group[i];
            train[i] = 0, held[i] = 1, in--, out++;
        }
    return in > 0 && out > 0;
}

ct_status ct__fit_network(const ct_function *f, const ct__squares *s, const uint8_t *part, const int32_t *group,
                          int32_t groups, uint64_t seed, ct__fit *fit, ct_err *err)
{
    int32_t sequences = 0;
    (void)groups;
    for (int64_t k = 0; k < s->count; k++) sequences = CT_MAX(sequences, s->sequence[k] + 1);
    uint8_t  *train = ct__zalloc(2 * (int64_t)sequences, 1);
    double   *best = ct__zalloc(f->weights, sizeof *best);
    ct_status status = train && best ? CT_OK : ct__no_memory(err, "weights", f->weights);
    training  t = {.s = s, .f = *f, .log_v = fit->log_v, .best = best};
    int32_t  *same = ct__zalloc(f->weights, sizeof *same);
    if (!same) status = ct__no_memory(err, "weights", f->weights);
    else ct__weight_ties(f, s->same_row, 0, same);
    for (int i = 0; same && i < f->weights; i++)
        if (same[i] != i) t.same = same;
    int64_t   count = 0;
    for (int i = 0; i < s->dim; i++) fit->log_v[i] = 0;
    for (int64_t k = 0; k < s->count; k++) {
        if (part && !part[s->sequence[k]]) continue;
        for (int i = 0; i < s->dim; i++) fit->log_v[i] += s->square[k * s->dim + i];
        count++;
    }
    for (int i = 0; i < s->dim; i++) fit->log_v[i] = log(fmax(fit->log_v[i] / (double)CT_MAX(1, count), 1e-300));
    int most = EVALUATIONS;
    if (status == CT_OK && split(sequences, part, group, train, train + sequences)) {
        t.train = train;
        t.held = train + sequences;
        begin(f, s, t.train, seed, fit->weight);
        ct__copy_ties(f->weights, t.same, fit->weight);
        status = minimise(&t, EVALUATIONS, fit->weight, err);
        most = CT_MAX(1, t.best_at);
    }
    if (status == CT_OK) {
        t.train = part;
        t.held = NULL;
        begin(f, s, part, seed, fit->weight);
        ct__copy_ties(f->weights, t.same, fit->weight);
        status = minimise(&t, most, fit->weight, err);
        fit->deviance = ct__deviance(f, s, part, fit->log_v, fit->weight);
    }
    for (int i = 0; f->matrix && i < s->dim; i++) fit->log_v[i] = 0;
    for (int i = 0; status == CT_OK && fit->error && i < f->weights; i++) fit->error[i] = NAN;
    free(same);
    free(train);
    free(best);
    return status;
}
