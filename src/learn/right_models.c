/* right_models.c: are residuals at the truth what the reference says?
 *
 * Where noise is independent and Gaussian, of the size that the closed form has, nothing tracks better in the mean than
 * the closed form. What a minimum of the loss gains on a few held-out recordings is then chance, and a standard error
 * over three of them does not tell so: they may agree by chance. Thousands of residuals tell it. Of every row of N
 * residuals with variance v these are normal with mean 0 and variance 1, about:
 *
 *   mean              sum r / sqrt(N v)
 *   size              (sum r^2 / N v - 1) sqrt(N / 2), of all sequences and of each
 *   tails             (N sum r^4 / (sum r^2)^2 - 3) sqrt(N / 24)
 *   autocorrelation   sum r_k r_{k-l} / v over the root of the number of pairs, l = 1 .. 6; and their sum over sqrt(6)
 *   correlation       (sum r_a r_b / N - S_ab) / sqrt((S_aa S_bb + S_ab^2) / N), as far as it is beyond 0.3: odometry
 *                     has a correlation of y and yaw that diagonal models leave out, and tracking does not mend it
 *
 * Models are right if none of the numbers is beyond what the largest of so many exceeds in one case of twenty. Models
 * that are not learned have no residuals here. They may be wrong, and learned ones make up for it: then nothing is
 * said, but for a prior of the first pose, a factor a sequence.
 *
 * Start values are refuted if a row's size is beyond the same limit, as log(sum r^2 / N v) sqrt(N / 2). Where models
 * are right this tells more than losses: a sigma that is wrong by a factor of two changes errors by a percent or ten,
 * which three recordings do not show.
 *
 * Where some models are right and others are not, losses decide on the others. The right ones are held where the closed
 * form has them: their sizes are known to a percent, and a loss of a few recordings, which trades them against each
 * other by chance, says less. Only ratios of variances matter to estimates, so that wrong models still get any weight
 * beside them. A model is held only if it has residuals enough that an autocorrelation of 0.2 would have shown. */
#include "graph/graph.h"
#include "learn/learn.h"

#include <math.h>

#define CHANCE 0.05 /* that right models have a number beyond the limit */
#define CORRELATION 0.3 /* of rows, that costs a few percent of the loss */
#define LEAST  30   /* residuals below which nothing is said            */
#define SEEN   0.2  /* autocorrelation that the residuals of a model that is held would show */
#define HELD   1e4  /* factor on the prior: with the weakest it is that of others with the strongest */

typedef struct {
    double  largest;
    int64_t count;
} normals;

static void add(normals *n, double z)
{
    n->largest = isnan(z) ? INFINITY : CT_MAX(n->largest, fabs(z));
    n->count++;
}

/* z with P(|Z| > z) = p, by bisection. */
static double limit_of(double p)
{
    double low = 0, high = 40;
    for (int i = 0; i < 60; i++) {
        const double z = 0.5 * (low + high);
        if (erfc(z / sqrt(2)) > p) low = z;
        else high = z;
    }
    return high;
}

/* Models that are not learned have one factor a sequence at most. */
static int frozen_are_priors(const ct_outer *o)
{
    for (int32_t i = 0; i < o->count; i++) {
        const ct_graph *graph = o->inner[i].seq->graph;
        for (int32_t g = 0; g < o->models && g < graph->noise_count; g++)
            if (o->slot[g] < 0 && graph->noise_use[g].factors > 1) return 0;
    }
    return 1;
}

/* Row a of a model, of variance v. */
static void test_row(const ct_outer *o, const ct__samples *s, int a, double v, normals *out)
{
    double       mean = 0, square = 0, fourth = 0, product[CT__LAGS] = {0}, pairs[CT__LAGS] = {0}, sum = 0;
    const double n = (double)s->count;
    for (int64_t i = 0; i < o->count; i++) {
        const double  own = s->sum[(i * s->dim + a) * s->dim + a], *shape = s->shape + (i * s->dim + a) * CT__SHAPE;
        const int64_t count = s->first[i + 1] - s->first[i];
        if (count >= LEAST) add(out, (own / ((double)count * v) - 1) * sqrt((double)count / 2));
        mean += shape[0];
        square += own;
        fourth += shape[1];
        for (int lag = 1; lag <= CT__LAGS; lag++) {
            product[lag - 1] += shape[1 + lag];
            pairs[lag - 1] += (double)CT_MAX(0, count - lag);
        }
    }
    add(out, mean / sqrt(n * v));
    add(out, (square / (n * v) - 1) * sqrt(n / 2));
    add(out, (n * fourth / (square * square) - 3) * sqrt(n / 24));
    for (int lag = 0; lag < CT__LAGS; lag++) {
        const double z = pairs[lag] > 0 ? product[lag] / (v * sqrt(pairs[lag])) : 0;
        add(out, z);
        sum += z / sqrt(CT__LAGS);
    }
    add(out, sum);
}

static void test_model(const ct_outer *o, const ct__samples *s, const ct_noise_model *model, normals *out)
{
    const int n = s->dim;
    for (int a = 0; a < n; a++) {
        const double va = ct_noise_covariance(model, a, a);
        test_row(o, s, a, va, out);
        for (int b = 0; b < a; b++) {
            const double vb = ct_noise_covariance(model, b, b), v = ct_noise_covariance(model, a, b);
            double       sum = 0;
            for (int64_t i = 0; i < o->count; i++) sum += s->sum[(i * n + a) * n + b];
            const double much = fabs(sum / (double)s->count - v) - CORRELATION * sqrt(va * vb);
            add(out, CT_MAX(0, much) / sqrt((va * vb + v * v) / (double)s->count));
        }
    }
}

/* Is a row of another size than under p? */
static ct_status is_refuted(const ct__learning *l, const double *p, double limit, int *out)
{
    const ct_outer *o = l->objective.outer;
    ct_noise       *noise = NULL;
    CT_TRY(ct_noise_copy(o->base, &noise, l->objective.err));
    const ct_status status = ct_theta_apply(o->theta, p, noise, l->objective.err);
    for (int32_t g = 0; status == CT_OK && g < o->models; g++) {
        const ct__samples *s = o->slot[g] >= 0 ? &o->samples[o->slot[g]] : NULL;
        for (int a = 0; s && a < s->dim; a++) {
            const double v = ct_noise_covariance(ct_noise_get(noise, g), a, a), n = (double)s->count;
            double       sum = 0;
            for (int64_t i = 0; i < o->count; i++) sum += s->sum[(i * s->dim + a) * s->dim + a];
            if (!(fabs(log(sum / (n * v))) * sqrt(n / 2) < limit)) *out = 1;
        }
    }
    ct_noise_free(noise);
    return status;
}

/* The numbers of every slot under the closed form; *limit <- what the largest of all exceeds by chance. *known <- 0:
 * they say nothing. */
static ct_status test_models(const ct__learning *l, normals *each, double *limit, int *known)
{
    const ct_outer *o = l->objective.outer;
    int64_t         count = 0;
    ct_noise       *noise = NULL;
    *known = 0;
    if (o->reference != CT_REFERENCE_CLOSED_FORM || !ct__closed_form_is_complete(l)) return CT_OK;
    if (!frozen_are_priors(o)) return CT_OK;
    CT_TRY(ct_noise_copy(o->base, &noise, l->objective.err));
    const ct_status status = ct_theta_apply(o->theta, l->closed, noise, l->objective.err);
    for (int32_t g = 0; status == CT_OK && g < o->models; g++) {
        const int32_t slot = o->slot[g];
        if (slot < 0 || o->samples[slot].count < LEAST) continue;
        test_model(o, &o->samples[slot], ct_noise_get(noise, g), &each[slot]);
        count += each[slot].count;
    }
    ct_noise_free(noise);
    *limit = limit_of(CHANCE / (double)CT_MAX(1, count));
    *known = status == CT_OK && count > 0;
    return status;
}

ct_status ct__models_are_right(const ct__learning *l, int *right, int *refuted)
{
    const ct_outer *o = l->objective.outer;
    double          limit = 0;
    *right = *refuted = 0;
    normals *each = ct__zalloc(o->slots, sizeof *each);
    if (!each) return ct__no_memory(l->objective.err, "noise models", o->slots);
    const ct_status status = test_models(l, each, &limit, right);
    for (int32_t slot = 0; slot < o->slots; slot++)
        if (!each[slot].count || !(each[slot].largest < limit)) *right = 0;
    free(each);
    return *right ? is_refuted(l, l->start, limit, refuted) : status;
}

/* Marks parameters of models that are not right, or of too few residuals to tell. */
static void mark_open(const ct_outer *o, const normals *each, double limit, uint8_t *open)
{
    const ct_theta_jacobian *s = o->slopes;
    const double             enough = limit * limit / (SEEN * SEEN);
    for (int32_t g = 0; g < o->models; g++) {
        const int32_t slot = o->slot[g];
        const int     right = slot >= 0 && (double)o->samples[slot].count > enough && each[slot].largest < limit;
        for (int32_t t = s->first[g]; slot >= 0 && !right && t < s->first[g + 1]; t++) open[s->parameter[t]] = 1;
    }
}

ct_status ct__hold_right_models(ct__learning *l)
{
    const ct_outer *o = l->objective.outer;
    double          limit = 0;
    int             known = 0;
    normals        *each = ct__zalloc(o->slots, sizeof *each);
    uint8_t        *open = ct__zalloc(o->m, sizeof *open);
    ct_status       status = each && open ? CT_OK : ct__no_memory(l->objective.err, "parameters", o->m);
    if (status == CT_OK) status = test_models(l, each, &limit, &known);
    if (status == CT_OK && known) mark_open(o, each, limit, open);
    for (int32_t i = 0; status == CT_OK && known && i < o->m; i++) l->weight[i] *= open[i] ? 1 : HELD;
    free(each);
    free(open);
    return status;
}
