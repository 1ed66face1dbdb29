/* error_bars.c: standard errors of the answer, and directions that the data do not determine.
 *
 * At the answer  g(p) + nu W (p - closed) = 0,  with g the mean gradient over n sequences. The derivative is
 * K = B + nu W, with B the mean of A'A. Two terms are random: g, whose covariance follows from that of the estimates,
 * P = c H^-1 (c is the normalised chi-square), and the closed form, whose log variances have variance 2/N. So
 *
 *     Cov(p) = K^-1 (c/n M + nu^2 W C W) K^-1,      M = mean of A'D P D'A,   C = diag(2/N)
 *
 * Errors of neighbouring poses are correlated: (B n)^-1 mean(e^2) would be several times too small. This formula
 * assumes that the models are right. Sequences may differ by more than the models allow (another floor, another day).
 * So the middle factor is computed a second time from the sequences: the covariance of their gradients, and the
 * jackknife of the closed form. The larger standard error is reported.
 *
 * A direction v with v'Bv ~ 0 is not determined by the tracking loss. If every model is learned, the common scale of
 * all variances is such a direction; consistency determines it, with variance 2 / degrees.
 * Parameters on a bound are fixed there and have no standard error. */
#include "base/eigen.h"
#include "learn/learn.h"

#include <math.h>

#define UNSEEN   2e-3 /* relative change of the loss for a factor of 10 in variances: below it, not determined */
#define DISTINCT 0.25 /* component of a direction above which its parameter is a subject of the finding         */
#define IS_SCALE 0.98 /* cosine to the common scale above which a direction is the scale                        */

static const double LOG_10 = 2.302585092994046;

typedef struct {
    ct__learning *l;
    int32_t       m;                      /* all parameters                              */
    int32_t       n;                      /* those not held by a bound                   */
    int32_t      *free;                   /* n of them                                   */
    double       *B, *M;                  /* m x m                                       */
    double       *K, *V, *lambda, *T, *C; /* n x n, n x n, n, n x n, n x n               */
    double       *between;                /* n x n: covariance of the mean gradient, by sequences */
    double       *jackknife;              /* m: variance of the closed form, by sequences */
    double       *row;                    /* n: scratch                                  */
    double       *gradients;              /* sequences x m                               */
    double loss;
} bars;

static ct_status allocate(bars *b, ct_err *err)
{
    const int64_t m = b->m;
    b->free = ct__zalloc(m, sizeof *b->free);
    b->B = ct__zalloc(7 * m * m + 3 * m, sizeof *b->B);
    b->gradients = ct__zalloc(b->l->objective.outer->count * m, sizeof *b->gradients);
    if (!b->free || !b->B || !b->gradients) return ct__no_memory(err, "parameters", m);
    b->M = b->B + m * m;
    b->K = b->M + m * m;
    b->V = b->K + m * m;
    b->T = b->V + m * m;
    b->C = b->T + m * m;
    b->between = b->C + m * m;
    b->lambda = b->between + m * m;
    b->jackknife = b->lambda + m;
    b->row = b->jackknife + m;
    return CT_OK;
}

static ct_status evaluate(bars *b)
{
    ct__learning  *l = b->l;
    ct__objective    *e = &l->objective;
    double        *g = b->C; /* not needed yet */
    ct_outer_value value = {
        .gradient = g, .matrix = b->B, .gradient_covariance = b->M, .gradients = b->gradients, .fit = e->result->fit};
    double         sum = 0, size = 0;
    CT_TRY(ct_outer_evaluate(e->outer, l->p, NULL, &value, e->err));
    b->loss = value.loss;
    e->result->stationarity = value.stationarity;
    for (int32_t i = 0; i < b->m; i++) {
        if (!ct_theta_is_scale(e->outer->theta, i)) continue;
        sum += g[i];
        size += fabs(g[i]);
    }
    e->result->invariance = size > 0 ? fabs(sum) / size : 0;
    return value.inexact ? ct__find(l, CT_FINDING_HESSIAN_INDEFINITE, CT__VALUES(value.inexact)) : CT_OK;
}

/* Scalars on a bound are held. Of full blocks none is: their bounds are on eigenvalues. */
static void find_free(bars *b)
{
    const ct_outer        *o = b->l->objective.outer;
    const ct_theta_jacobian *s = o->slopes;
    int8_t                *at_bound = b->l->objective.result->at_bound;
    ct_theta_active(o->theta, b->l->start, at_bound); /* the answer before the scale */
    for (int32_t i = 0; i < b->m; i++) {
        int full = 0;
        for (int32_t t = 0; t < s->terms; t++) full = full || (s->parameter[t] == i && s->coordinate[t] == -1);
        if (full || !at_bound[i]) b->free[b->n++] = i;
    }
}

/* The free part of an m x m matrix. */
static void pick(const bars *b, const double *from, double *to)
{
    for (int32_t i = 0; i < b->n; i++)
        for (int32_t j = 0; j < b->n; j++) to[(int64_t)i * b->n + j] = from[(int64_t)b->free[i] * b->m + b->free[j]];
}

/* Cosine of column k of V to the common factor. */
static double scale_cosine(const bars *b, int32_t k)
{
    const ct_theta *theta = b->l->objective.outer->theta;
    double          sum = 0;
    int32_t         scales = 0;
    for (int32_t i = 0; i < b->n; i++) {
        if (!ct_theta_is_scale(theta, b->free[i])) continue;
        sum += b->V[(int64_t)i * b->n + k];
        scales++;
    }
    return scales ? fabs(sum) / sqrt(scales) : 0;
}

/* ---- Directions that the data do not determine ----------------------------------------------- */

/* The number of parameters with a component of that sign in column k of V. */
static int count_side(const bars *b, int32_t k, int sign)
{
    int count = 0;
    for (int32_t i = 0; i < b->n; i++) {
        const double v = b->V[(int64_t)i * b->n + k];
        count += fabs(v) >= DISTINCT && (v > 0) == (sign > 0);
    }
    return count;
}

/* The largest relative change of the loss along +-direction k, scaled so that its largest component is a factor of 10.
 * The loss is evaluated, not extrapolated. */
static ct_status try_direction(const bars *b, int32_t k, double *change)
{
    ct__objective *e = &b->l->objective;
    double     *q = b->C, largest = 0; /* C is not needed yet */
    *change = 0;
    for (int32_t i = 0; i < b->n; i++) largest = CT_MAX(largest, fabs(b->V[(int64_t)i * b->n + k]));
    for (int side = -1; side <= 1; side += 2) {
        ct_outer_value value = {0};
        memcpy(q, b->l->p, (size_t)b->m * sizeof *q);
        for (int32_t i = 0; i < b->n; i++) q[b->free[i]] += side * LOG_10 * b->V[(int64_t)i * b->n + k] / largest;
        CT_TRY(ct_outer_evaluate(e->outer, q, NULL, &value, e->err));
        *change = CT_MAX(*change, value.failed ? INFINITY : fabs(value.loss / b->loss - 1));
    }
    return CT_OK;
}

static ct_status diagnose_direction(bars *b, int32_t k)
{
    ct__learning *l = b->l;
    double        change;
    if (scale_cosine(b, k) > IS_SCALE) /* if the scale is not free, frozen models determine it */
        return l->objective.result->scale_free ? ct__find(l, CT_FINDING_SCALE_UNDETERMINED, CT__NO_VALUES) : CT_OK;
    CT_TRY(try_direction(b, k, &change));
    if (!(change < UNSEEN)) return CT_OK;
    const int up = count_side(b, k, 1), down = count_side(b, k, -1);
    if (!up && !down) return CT_OK;
    CT_TRY(ct__find(l,
                    up && down       ? CT_FINDING_RATIO_UNDETERMINED
                    : up + down == 1 ? CT_FINDING_PARAMETER_UNDETERMINED
                                     : CT_FINDING_PRODUCT_UNDETERMINED,
                    CT__VALUES(100 * change)));
    for (int32_t i = 0; i < b->n; i++) {
        const double v = b->V[(int64_t)i * b->n + k];
        if (fabs(v) >= DISTINCT) CT_TRY(ct__find_parameter(l, b->free[i], up && down ? (v > 0 ? 1 : -1) : 0));
    }
    return CT_OK;
}

/* Small eigenvalues of B give the directions; the loss is evaluated along each. */
static ct_status find_directions(bars *b)
{
    pick(b, b->B, b->K);
    ct__eigen_symmetric(b->n, b->K, b->lambda, b->V);
    for (int32_t k = 0; k < b->n; k++)
        if (0.5 * b->lambda[k] * LOG_10 * LOG_10 < UNSEEN * b->loss) CT_TRY(diagnose_direction(b, k));
    return CT_OK;
}

/* ---- Error bars ------------------------------------------------------------------------------ */

#define JACKKNIFE 256 /* blocks at most: the variance is then known to 1 part in 11 */

/* jackknife_i <- (n - 1)/n sum over blocks of (closed form without the block - their mean)^2; 0 with fewer than three
 * blocks, or where one block alone has the samples. A block is a sequence, or neighbours if there are many. */
static ct_status jackknife_closed_form(bars *b)
{
    const ct_outer *o = b->l->objective.outer;
    const int64_t   m = b->m, n = CT_MIN(o->count, JACKKNIFE);
    if (n < 3 || o->reference != CT_REFERENCE_CLOSED_FORM) return CT_OK;
    int64_t  *samples = ct__zalloc(n * m, sizeof *samples);
    double   *p = ct__zalloc((n + 1) * m, sizeof *p), *mean = p ? p + n * m : NULL;
    ct_status status = samples && p ? CT_OK : ct__no_memory(b->l->objective.err, "sequences", n);
    if (status == CT_OK) status = ct__closed_forms_left_out(o, n, p, samples, b->l->objective.err);
    for (int64_t k = 0; status == CT_OK && k < n; k++)
        for (int64_t i = 0; i < m; i++) mean[i] += samples[k * m + i] ? p[k * m + i] / (double)n : NAN;
    for (int64_t k = 0; status == CT_OK && k < n; k++)
        for (int64_t i = 0; i < m; i++)
            b->jackknife[i] += (double)(n - 1) / (double)n * (p[k * m + i] - mean[i]) * (p[k * m + i] - mean[i]);
    for (int64_t i = 0; i < m; i++)
        if (!(b->jackknife[i] >= 0)) b->jackknife[i] = 0;
    free(samples);
    free(p);
    return status;
}

/* between <- covariance of the mean gradient, from those of the sequences. */
static void compare_sequences(bars *b)
{
    const int32_t sequences = b->l->objective.outer->count;
    for (int32_t i = 0; i < b->n; i++)
        for (int32_t j = 0; j < b->n; j++) {
            double mean_i = 0, mean_j = 0, sum = 0;
            for (int32_t k = 0; k < sequences; k++) {
                mean_i += b->gradients[(int64_t)k * b->m + b->free[i]] / sequences;
                mean_j += b->gradients[(int64_t)k * b->m + b->free[j]] / sequences;
            }
            for (int32_t k = 0; k < sequences; k++)
                sum += (b->gradients[(int64_t)k * b->m + b->free[i]] - mean_i) *
                       (b->gradients[(int64_t)k * b->m + b->free[j]] - mean_j);
            b->between[(int64_t)i * b->n + j] = sequences > 2 ? sum / ((double)sequences * (sequences - 1)) : 0;
        }
}

/* C <- the middle factor, c/n M + nu^2 W C W; or the same from the sequences. */
static void fill_middle(bars *b, double nu, int by_sequences)
{
    const ct__learning    *l = b->l;
    const ct_learn_result *r = l->objective.result;
    const double c = isfinite(r->scale_chi) ? r->scale_chi / r->scale_applied : 1;
    if (by_sequences) memcpy(b->C, b->between, (size_t)b->n * (size_t)b->n * sizeof *b->C);
    else pick(b, b->M, b->C);
    for (int64_t i = 0; !by_sequences && i < (int64_t)b->n * b->n; i++) b->C[i] *= c / l->objective.outer->count;
    for (int32_t i = 0; nu > 0 && i < b->n; i++) {
        const int32_t j = b->free[i];
        const double pull = nu * l->weight[j], variance = by_sequences         ? b->jackknife[j]
                                                          : l->samples[j] ? 2 / (double)l->samples[j]
                                                                          : 0;
        b->C[(int64_t)i * b->n + i] += pull * pull * variance;
    }
}

/* standard_error <- the larger of itself and sqrt diag(K^+ C K^+), by eigenvectors of K. Null directions of K add
 * infinity, or the variance of the common scale. */
static void enlarge_errors(bars *b)
{
    const int32_t    n = b->n;
    ct_learn_result *r = b->l->objective.result;
    const double scale_variance = r->scale_applied == r->scale_wanted ? b->l->scale_variance : INFINITY;
    for (int32_t k = 0; k < n; k++) /* T <- rows: K^+ in the eigenbasis, v_k' / lambda_k */
        for (int32_t i = 0; i < n; i++)
            b->T[(int64_t)k * n + i] =
                0.5 * b->lambda[k] > 1e-6 * b->loss ? b->V[(int64_t)i * n + k] / b->lambda[k] : 0;
    for (int32_t i = 0; i < n; i++) {
        double variance = 0, *K = b->row; /* row i of K^+ = sum_k V_ik T_k */
        memset(K, 0, (size_t)n * sizeof *K);
        for (int32_t k = 0; k < n; k++)
            for (int32_t a = 0; a < n; a++) K[a] += b->V[(int64_t)i * n + k] * b->T[(int64_t)k * n + a];
        for (int32_t a = 0; a < n; a++)
            for (int32_t c = 0; c < n; c++) variance += K[a] * b->C[(int64_t)a * n + c] * K[c];
        for (int32_t k = 0; k < n; k++) {
            const double v = b->V[(int64_t)i * n + k];
            if (0.5 * b->lambda[k] > 1e-6 * b->loss) continue;
            if (scale_cosine(b, k) > IS_SCALE) variance += scale_variance;
            else if (fabs(v) > 0.1) variance = INFINITY;
        }
        if (!(r->standard_error[b->free[i]] >= sqrt(variance))) r->standard_error[b->free[i]] = sqrt(variance);
    }
}

/* M <- the covariance K^+ C K^+ of the free parameters, with the common scale: it moves all of them alike. M itself is
 * not needed any more. T is that of enlarge_errors. */
static void fill_covariance(bars *b)
{
    const int32_t    n = b->n;
    ct_learn_result *r = b->l->objective.result;
    double          *W = b->K, scale = 0; /* K is used up: W <- K^+ */
    for (int32_t k = 0; k < n; k++)
        if (!(0.5 * b->lambda[k] > 1e-6 * b->loss) && scale_cosine(b, k) > IS_SCALE) scale = b->l->scale_variance;
    if (r->scale_applied != r->scale_wanted || !isfinite(scale)) scale = 0; /* standard errors are infinite */
    memset(W, 0, (size_t)n * (size_t)n * sizeof *W);
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < n; k++)
            for (int32_t a = 0; a < n; a++)
                W[(int64_t)i * n + a] += b->V[(int64_t)i * n + k] * b->T[(int64_t)k * n + a];
    for (int32_t i = 0; i < n; i++) {
        memset(b->row, 0, (size_t)n * sizeof *b->row); /* row i of K^+ C */
        for (int32_t a = 0; a < n; a++)
            for (int32_t c = 0; c < n; c++) b->row[c] += W[(int64_t)i * n + a] * b->C[(int64_t)a * n + c];
        for (int32_t j = 0; j < n; j++) {
            double sum = scale;
            for (int32_t c = 0; c < n; c++) sum += b->row[c] * W[(int64_t)j * n + c];
            b->M[(int64_t)b->free[i] * b->m + b->free[j]] = sum;
        }
    }
}

/* Error bars are valid at a minimum. Returns the largest component of a Gauss-Newton step, -K^+ g, in standard errors,
 * each at most 1 (a factor of e). Above 1 this is no minimum. *which: its parameter; *move: its change of the log
 * variance. V and lambda are those of B. */
static double newton_distance(const bars *b, int32_t *which, double *move)
{
    const int32_t          n = b->n, sequences = b->l->objective.outer->count;
    const ct_learn_result *r = b->l->objective.result;
    double                 most = 0, *along = b->row; /* v_k'g */
    memset(along, 0, (size_t)n * sizeof *along);
    for (int32_t k = 0; k < n; k++)
        for (int32_t j = 0; j < n; j++)
            for (int32_t q = 0; q < sequences; q++)
                along[k] += b->V[(int64_t)j * n + k] * b->gradients[(int64_t)q * b->m + b->free[j]] / sequences;
    for (int32_t i = 0; i < n; i++) {
        double step = 0;
        for (int32_t k = 0; k < n; k++)
            if (0.5 * b->lambda[k] > 1e-6 * b->loss) step += b->V[(int64_t)i * n + k] * along[k] / b->lambda[k];
        const double bar = r->standard_error[b->free[i]] < 1 ? r->standard_error[b->free[i]] : 1;
        if (!(fabs(step) > most * bar)) continue;
        most = fabs(step) / bar;
        *which = b->free[i];
        *move = step;
    }
    return most;
}

/* Methods with a limit of iterations or another loss may not end at a minimum. Then there are no error bars, and there
 * is a finding. */
static ct_status check_minimum(bars *b)
{
    ct_learn_result *r = b->l->objective.result;
    int32_t          which = 0;
    double           move = 0;
    if (!(newton_distance(b, &which, &move) > 1)) return CT_OK;
    for (int32_t i = 0; i < b->m; i++) r->standard_error[i] = NAN;
    CT_TRY(ct__find(b->l, CT_FINDING_NOT_A_MINIMUM, CT__VALUES(exp(CT_MIN(LOG_10, fabs(move))))));
    return ct__find_parameter(b->l, which, 0);
}

static ct_status estimate(bars *b)
{
    ct__learning *l = b->l;
    ct_learn_result    *r = l->objective.result;
    const ct_learn_method method = l->objective.options->method;
    /* start values are no estimate; the last iterate of methods that do not descend is no minimum */
    if (r->stop == CT_LEARN_STOP_START || !ct_learn_method_has(method, CT_LEARN_DESCENDS)) return CT_OK;
    if (r->stop == CT_LEARN_STOP_CLOSED_FORM) { /* second moments only */
        for (int32_t i = 0; i < b->n; i++) {
            const int64_t samples = l->samples[b->free[i]];
            r->standard_error[b->free[i]] =
                samples ? sqrt(CT_MAX(2 / (double)samples, b->jackknife[b->free[i]])) : INFINITY;
        }
        ct__set_covariance(r, NULL);
        return CT_OK;
    }
    if (r->stop == CT_LEARN_STOP_LIKELIHOOD || method == CT_LEARN_LIKELIHOOD) {
        for (int32_t i = 0; i < b->n; i++) r->standard_error[b->free[i]] = l->error[b->free[i]];
        return ct__likelihood_covariance(b->l);
    }
    const double nu = ct_learn_method_has(method, CT_LEARN_PRIOR) ? r->prior : 0;
    pick(b, b->B, b->K);
    for (int32_t i = 0; nu > 0 && i < b->n; i++) b->K[(int64_t)i * b->n + i] += nu * l->weight[b->free[i]];
    ct__eigen_symmetric(b->n, b->K, b->lambda, b->V);
    for (int by_sequences = 0; by_sequences < 2; by_sequences++) {
        fill_middle(b, nu, by_sequences);
        enlarge_errors(b);
        if (!by_sequences) fill_covariance(b);
    }
    if (!ct_learn_method_has(method, CT_LEARN_PRIOR)) CT_TRY(check_minimum(b));
    ct__set_covariance(r, b->M);
    return CT_OK;
}

ct_status ct__error_bars(ct__learning *l)
{
    bars      b = {.l = l, .m = l->objective.outer->m};
    ct_status status = allocate(&b, l->objective.err);
    if (status == CT_OK) status = evaluate(&b);
    if (status == CT_OK && isfinite(b.loss)) {
        find_free(&b);
        compare_sequences(&b);
        status = jackknife_closed_form(&b);
        if (status == CT_OK) status = find_directions(&b);
        if (status == CT_OK) status = estimate(&b);
    }
    free(b.free);
    free(b.B);
    free(b.gradients);
    return status;
}
