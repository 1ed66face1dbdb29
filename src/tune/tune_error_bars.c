/* tune_error_bars.c: standard errors of the answer, and which parameter matters for which part of which log.
 *
 * The answer minimises a mean over independent clusters c (recordings; parts of logs), with gradients g_c and curvature
 * H = J'J. Its covariance is the sandwich
 *
 *     H^-1 (sum of g_c g_c') H^-1 C / (C - 1),
 *
 * which holds whether or not residuals are white. With few recordings it is too small by chance, so the larger of two
 * is taken: that of recordings, and that of eight parts of each log. Directions u that the data do not determine, such
 * as a common factor on all variances, are left out: those with a standard error above ten times in variance. A
 * parameter that lies mostly in such directions has none: it is not determined. Others have that of what is left, as of
 * ratios. The answer is moved along such a direction of several parameters; if the loss stays, a finding names them.
 *
 * At a minimum residuals may have no slope along a parameter, and the loss curvature all the same: errors whose size
 * depends on it are smallest there. Such a parameter is halved and doubled. If the loss moves it is determined, but has
 * no standard error: the linear model does not tell one.
 *
 * What the data do not tell stays as the user had it: parameters that are not determined return to their start values
 * together, where the loss allows it. */
#include "tune/search.h"
#include "base/eigen.h"

#include <math.h>

#define PARTS     8
#define UNKNOWN   2.3  /* standard error of a log variance: a factor of ten                     */
#define FLATTEST  1e-10
#define MOSTLY    0.6  /* of a parameter: above a half, or rounding decides which of two that share it   */
#define SHARE     0.05 /* of a direction: less does not name a parameter                        */
#define FARTHER   1.4  /* of a log variance: half and twice a sigma                             */
#define MAY_STAY  0.1  /* of the loss, by the model: above, a direction is not run              */
#define FACTOR    10   /* of a number, along a direction: as the finding says                   */
#define MOVES     0.01 /* of the loss: a change that is seen                                    */
#define UNTOLD    0.002 /* of the loss: what undetermined parameters may gain where they are    */

typedef struct {
    ct__tuner       *t;
    ct__linear_model model;
    int32_t          n, clusters;
    double          *G;      /* n x n: sum of g_c g_c' of the clusters under way */
    double          *g, *H;  /* n; n x n: of one cluster                         */
    double          *V, *lambda, *A;
    double          *covariance[2]; /* n x n: of u_k' x, u_k the eigenvectors of H; by recordings, by parts      */
    double          *variance;      /* n: the larger of both diagonals; INFINITY: not determined                */
} bars;

static ct_status begin(bars *b)
{
    const int64_t n = b->n;
    CT_TRY(ct__model_new(b->n, 3 * b->n + 6, &b->model, b->t->err));
    b->G = ct__zalloc(6 * n * n + 3 * n, sizeof *b->G);
    if (!b->G) return ct__no_memory(b->t->err, "parameters", n);
    b->H = b->G + n * n;
    b->V = b->H + n * n;
    b->A = b->V + n * n;
    b->covariance[0] = b->A + n * n;
    b->covariance[1] = b->covariance[0] + n * n;
    b->g = b->covariance[1] + n * n;
    b->lambda = b->g + n;
    b->variance = b->lambda + n;
    return CT_OK;
}

static void end(bars *b)
{
    ct__model_free(&b->model);
    free(b->G);
}

static void add_cluster(bars *b)
{
    for (int32_t i = 0; i < b->n; i++)
        for (int32_t j = 0; j < b->n; j++) b->G[i * b->n + j] += b->g[i] * b->g[j];
    memset(b->g, 0, (size_t)b->n * sizeof *b->g);
    b->clusters++;
}

static void add_rows(bars *b, int32_t log, int64_t from, int64_t to)
{
    const ct__tuner *t = b->t;
    ct__model_add(&b->model, log, from, to, 1 / ((double)t->rows[log] * t->trains), b->H, b->g, NULL);
}

/* Gradients of recordings, or of parts. */
static void gather(bars *b, int parts)
{
    const ct_tune_problem *problem = b->t->problem;
    memset(b->G, 0, (size_t)(b->n * b->n) * sizeof *b->G);
    memset(b->g, 0, (size_t)b->n * sizeof *b->g);
    b->clusters = 0;
    for (int32_t l = 0; l < problem->logs; l++) {
        int first = 1;
        const int64_t rows = b->t->rows[l];
        if (problem->log[l].test) continue;
        for (int k = 0; parts && k < PARTS; k++) {
            add_rows(b, l, rows * k / PARTS, rows * (k + 1) / PARTS);
            add_cluster(b);
        }
        const char *own = problem->log[l].recording ? problem->log[l].recording : problem->log[l].name;
        for (int32_t k = 0; k < problem->logs && !parts; k++) {
            const char *other = problem->log[k].recording ? problem->log[k].recording : problem->log[k].name;
            if (problem->log[k].test || strcmp(own, other)) continue;
            if (k < l) first = 0;
            if (first) add_rows(b, k, 0, b->t->rows[k]);
        }
        if (!parts && first) add_cluster(b);
    }
}

/* covariance <- of u' x from the clusters under way; a direction without curvature has an infinite variance alone. */
static void spread_of(bars *b, double *covariance)
{
    const int32_t n = b->n;
    const double  factor = b->clusters / (b->clusters - 1.0);
    if (b->clusters < 2) return;
    for (int32_t i = 0; i < n; i++) /* A <- G V */
        for (int32_t k = 0; k < n; k++) {
            b->A[i * n + k] = 0;
            for (int32_t j = 0; j < n; j++) b->A[i * n + k] += b->G[i * n + j] * b->V[j * n + k];
        }
    for (int32_t k = 0; k < n; k++)
        for (int32_t l = 0; l < n; l++) {
            const double ll = b->lambda[k] * b->lambda[l];
            double       sum = 0;
            for (int32_t i = 0; i < n; i++) sum += b->V[i * n + k] * b->A[i * n + l];
            covariance[k * n + l] = ll > 0 ? sum / ll * factor : k == l ? INFINITY : 0;
        }
    for (int32_t k = 0; k < n; k++) b->variance[k] = fmax(b->variance[k], covariance[k * n + k]);
}

static int is_determined(const bars *b, int32_t k) { return b->variance[k] < UNKNOWN * UNKNOWN; }

/* The variance of parameter i in the directions that are determined: the larger of both. */
static double variance_of(const bars *b, int32_t i)
{
    const double *v = b->V + i * b->n;
    double        most = 0;
    for (int c = 0; c < 2; c++) {
        double sum = 0;
        for (int32_t k = 0; k < b->n; k++)
            for (int32_t l = 0; l < b->n; l++)
                if (is_determined(b, k) && is_determined(b, l)) sum += v[k] * b->covariance[c][k * b->n + l] * v[l];
        most = fmax(most, sum);
    }
    return most;
}

static void set_errors(bars *b)
{
    const ct__tuner *t = b->t;
    const ct__coordinates *c = &t->c;
    const int32_t n = b->n;
    for (int32_t i = 0; i < n; i++) {
        double unknown = 0;
        for (int32_t k = 0; k < n; k++)
            if (!is_determined(b, k)) unknown += b->V[i * n + k] * b->V[i * n + k];
        const double own = unknown > MOSTLY || ct__coordinates_held(c, i) ? INFINITY : sqrt(variance_of(b, i));
        t->result->standard_error[c->parameter[i]] = c->power[i] != 0 ? own / fabs(c->power[i]) : own * c->scale[i];
    }
    for (int32_t i = 0; i < t->problem->parameters; i++) {
        const ct_tune_parameter *p = &t->problem->parameter[i];
        if (p->tie >= 0)
            t->result->standard_error[i] = t->result->standard_error[p->tie] * (p->log ? 1 : fabs(p->factor));
    }
}

/* Root mean squares of d r / d log value (d value of a linear parameter) over parts of training logs. */
static ct_status set_sensitivities(bars *b)
{
    const ct__tuner *t = b->t;
    const int32_t m = t->problem->parameters, n = b->n;
    t->result->parts = PARTS;
    t->result->sensitivity = ct__zalloc((int64_t)t->problem->logs * PARTS * m, sizeof(double));
    if (!t->result->sensitivity) return ct__no_memory(t->err, "sensitivities", m);
    for (int64_t i = 0; i < (int64_t)t->problem->logs * PARTS * m; i++) t->result->sensitivity[i] = NAN;
    for (int32_t l = 0; l < t->problem->logs; l++)
        for (int part = 0; part < PARTS && !t->problem->log[l].test; part++) {
            const int64_t from = t->rows[l] * part / PARTS, to = t->rows[l] * (part + 1) / PARTS;
            double *s = t->result->sensitivity + ((int64_t)l * PARTS + part) * m;
            memset(b->H, 0, (size_t)(n * n) * sizeof *b->H);
            ct__model_add(&b->model, l, from, to, 1 / (double)CT_MAX(1, to - from), b->H, b->g, NULL);
            for (int32_t k = 0; k < n; k++) {
                const double power = t->c.power[k];
                const double slope = sqrt(fmax(0, b->H[k * n + k]));
                s[t->c.parameter[k]] = power != 0 ? slope * fabs(power) : slope / t->c.scale[k];
            }
            for (int32_t i = 0; i < m; i++)
                if (t->problem->parameter[i].tie >= 0) s[i] = s[t->problem->parameter[i].tie];
        }
    return CT_OK;
}

static ct_status compute(bars *b, ct__tune_point *answer)
{
    const int32_t n = b->n;
    CT_TRY(ct__model_fit(&b->model, b->t, answer));
    if (b->model.count < 1) return CT_OK;
    memcpy(b->A, b->model.H, (size_t)(n * n) * sizeof *b->A);
    ct__eigen_symmetric(n, b->A, b->lambda, b->V);
    for (int32_t k = 0; k < n; k++) {
        b->variance[k] = 0;
        if (!(b->lambda[k] > FLATTEST * b->lambda[n - 1])) b->variance[k] = INFINITY;
    }
    for (int parts = 0; parts < 2; parts++) {
        gather(b, parts);
        spread_of(b, b->covariance[parts]);
    }
    set_errors(b);
    return set_sensitivities(b);
}

/* Does the loss move where coordinate k does? pair: evaluated; NULL: beyond a bound. */
static int moves(const bars *b, const ct__tune_point *answer, ct__tune_point *const pair[2])
{
    const double least = MOVES * answer->loss + 3 * b->t->noise_loss;
    for (int side = 0; side < 2; side++)
        if (pair[side] != answer && !(fabs(pair[side]->loss - answer->loss) <= least)) return 1; /* or it fails */
    return 0;
}

/* Standard errors of parameters without slopes <- NaN, where runs show that the loss moves. */
static ct_status check_undetermined(bars *b, ct__tune_point *answer)
{
    ct__tuner *t = b->t;
    const ct__coordinates *c = &t->c;
    for (int32_t k = 0; k < b->n && !t->cancelled; k++) {
        double *error = &t->result->standard_error[c->parameter[k]];
        ct__tune_point *pair[2];
        if (ct__coordinates_held(c, k) || !isinf(*error)) continue;
        for (int side = 0; side < 2; side++) {
            memcpy(c->work, answer->x, (size_t)b->n * sizeof *c->work);
            c->work[k] += side ? FARTHER : -FARTHER;
            CT_TRY(ct__point_at(t, c->work, &pair[side]));
        }
        CT_TRY(ct__evaluate(t, 2, pair, CT__TRAIN, t->repeats));
        if (!t->cancelled && moves(b, answer, pair)) *error = NAN;
    }
    return CT_OK;
}

/* ---- directions that are not determined ---- */

static double load_of(const bars *b, int32_t i, int32_t k) { return b->V[i * b->n + k] * b->V[i * b->n + k]; }

/* Is direction k one of several logarithms, and of no single parameter? */
static int is_shared(const bars *b, int32_t k)
{
    int named = 0;
    for (int32_t i = 0; i < b->n; i++) {
        const double load = load_of(b, i, k);
        if (load > MOSTLY || (load > SHARE && (b->t->c.power[i] == 0 || ct__coordinates_held(&b->t->c, i)))) return 0;
        named += load > SHARE;
    }
    return named > 1;
}

/* work <- the answer with all numbers of direction k multiplied or divided by the same factor, up to FACTOR or a bound:
 * directions without effect are powers of numbers, mostly all of them the first, and an eigenvector is only near.
 * Returns the logarithm of the factor. */
static double move_along(const bars *b, const ct__tune_point *answer, int32_t k, int side)
{
    const ct__coordinates *c = &b->t->c;
    double step = log(FACTOR);
    for (int32_t i = 0; i < b->n; i++) {
        const int up = (b->V[i * b->n + k] > 0) == side;
        const double room = up ? c->upper[i] - answer->x[i] : answer->x[i] - c->lower[i];
        if (load_of(b, i, k) > SHARE) step = fmin(step, fmax(0, room) / fabs(c->power[i]));
    }
    memcpy(c->work, answer->x, (size_t)b->n * sizeof *c->work);
    for (int32_t i = 0; i < b->n; i++)
        if (load_of(b, i, k) > SHARE)
            c->work[i] += ((b->V[i * b->n + k] > 0) == side ? 1 : -1) * fabs(c->power[i]) * step;
    return step;
}

/* May the loss stay along direction k, to where work is? The model is of finite steps: a direction without any effect
 * has some curvature. */
static int may_stay(const bars *b, const ct__tune_point *answer, int32_t k)
{
    double square = 0;
    for (int32_t i = 0; i < b->n; i++) {
        const double d = b->t->c.work[i] - answer->x[i];
        square += d * d;
    }
    return !is_determined(b, k) || 0.5 * b->lambda[k] * square < MAY_STAY * answer->loss;
}

static ct_status note_direction(const bars *b, int32_t k, double change)
{
    const ct__tuner *t = b->t;
    ct_findings     *list = &t->result->findings;
    int              up = 0, down = 0;
    for (int32_t i = 0; i < b->n; i++) {
        up += load_of(b, i, k) > SHARE && b->V[i * b->n + k] / t->c.power[i] > 0;
        down += load_of(b, i, k) > SHARE && b->V[i * b->n + k] / t->c.power[i] < 0;
    }
    const ct_finding_code code = up && down ? CT_FINDING_RATIO_UNDETERMINED : CT_FINDING_PRODUCT_UNDETERMINED;
    CT_TRY(ct_findings_add(list, code, 1, &change, t->err));
    for (int32_t i = 0; i < b->n; i++) {
        const int32_t p = t->c.parameter[i];
        const int sign = b->V[i * b->n + k] / t->c.power[i] > 0 ? 1 : -1;
        if (load_of(b, i, k) > SHARE)
            CT_TRY(ct_findings_add_subject(list, CT_SUBJECT_PARAMETER, p, sign, t->problem->parameter[p].name, t->err));
    }
    return CT_OK;
}

static ct_status check_directions(bars *b, ct__tune_point *answer)
{
    ct__tuner *t = b->t;
    for (int32_t k = 0; k < b->n && !t->cancelled; k++) {
        ct__tune_point *pair[2];
        double          far = 0, change = 0;
        int             stays = is_shared(b, k);
        for (int side = 0; side < 2 && stays; side++) {
            far = fmax(far, move_along(b, answer, k, side));
            stays = may_stay(b, answer, k);
            CT_TRY(ct__point_at(t, t->c.work, &pair[side]));
        }
        if (!stays || far < log(FACTOR) * (1 - 1e-9)) continue; /* or bounds are too near to tell */
        CT_TRY(ct__evaluate(t, 2, pair, CT__TRAIN, t->repeats));
        if (t->cancelled || moves(b, answer, pair)) continue;
        for (int side = 0; side < 2; side++)
            change = fmax(change, 100 * fabs(pair[side]->loss - answer->loss) / answer->loss);
        CT_TRY(note_direction(b, k, change));
        b->variance[k] = INFINITY;
    }
    set_errors(b);
    return CT_OK;
}

static ct_status return_undetermined(ct__tuner *t, ct__tune_point **answer)
{
    const ct__coordinates *c = &t->c;
    const int32_t          repeats = ct__last_repeats(t);
    ct__tune_point        *p;
    int32_t                moved = 0;
    memcpy(c->work, (*answer)->x, (size_t)c->n * sizeof *c->work);
    for (int32_t k = 0; k < c->n; k++) {
        if (ct__coordinates_held(c, k) || !isinf(t->result->standard_error[c->parameter[k]])) continue;
        moved += c->work[k] != 0;
        c->work[k] = 0;
    }
    if (!moved || t->cancelled) return CT_OK;
    CT_TRY(ct__point_at(t, c->work, &p));
    CT_TRY(ct__evaluate(t, 1, &p, CT__TRAIN, repeats));
    const double most = (*answer)->loss * (1 + UNTOLD) + t->noise_loss / sqrt(repeats);
    if (!t->cancelled && ct__is_done(p) && p->loss <= most) *answer = p;
    return CT_OK;
}

ct_status ct__tune_error_bars(ct__tuner *t, ct__tune_point **answer)
{
    bars b = {.t = t, .n = t->c.n};
    if (!ct__is_done(*answer) || !t->c.n) return CT_OK;
    ct_status status = begin(&b);
    if (status == CT_OK) status = compute(&b, *answer);
    if (status == CT_OK && b.model.count > 0) status = check_directions(&b, *answer);
    if (status == CT_OK && b.model.count > 0) status = check_undetermined(&b, *answer);
    if (status == CT_OK && b.model.count > 0) status = return_undetermined(t, answer);
    end(&b);
    return status;
}
