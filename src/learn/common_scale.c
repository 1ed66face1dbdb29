/* common_scale.c: the common scale of all learned variances. Multiplying every variance by one factor changes no
 * estimate, so the tracking loss determines ratios alone. Consistency determines the factor: that of residuals
 * (scale_from_chi.c) or of errors (scale_from_nees.c). If the models are right both give the same. Chi-square, which
 * has far more independent terms, scatters less. So the factor of NEES is used unless NEES agrees with chi-square's:
 *   - to a quarter, and within the interval of 95 % of its mean over recordings; or
 *   - within what right models give, but for one case of 20 above and one of 200 below. Errors along a path are
 *     correlated: of one drive by odometry NEES has two or three independent terms, whatever the number of poses. If it
 *     has the relative deviation v, it is about a chi-square of 2 / v^2 degrees over their number, whose quantiles are
 *     (1 - a + z sqrt(a))^3, a = v^2 / 9 (Wilson and Hilferty).
 *
 * A factor is applied only if
 *   - NEES of held-out sequences is nearer to 1 with it than without; and
 *   - estimates do not get worse: with frozen models they depend on the factor. The mean log ratio of held-out losses
 *     may rise by one standard error, or by 2 %. If they do, a root of the factor is applied that does not. */
#include "learn/learn.h"

#include <math.h>

#define OFF_MOST   1.1  /* factor by which sigmas are off above which there is a finding                   */
#define RISE_MOST  0.02 /* of the mean log ratio of losses: 1 % of an error                                 */
#define FREE_MOST  1e-3 /* change of losses below which estimates do not depend on the scale               */
#define AGREE_MOST 1.25 /* NEES under chi-square's factor: within this it may agree with it                */
#define LARGER     1.64 /* standard deviations: right models give such a NEES in one of 20 cases           */
#define SMALLER    2.58 /* in one of 200: sigmas that are too small do more harm than such that are too large */
#define WORSE      0.02 /* of |log NEES|: rounding of solves                                               */
#define EXACT      0.01 /* of log NEES: where the iteration for NEES 1 stops                               */
#define STEPS      4    /* of it, at most. One is enough where nothing is frozen and the truth has no sigma */
#define ROOTS      4    /* of a factor that is applied in part                                             */
#define DIFFER     2.0  /* ratio of the two factors above which there is a finding                         */

double ct__scale_apply(const ct_theta *theta, ct_scale scale, double factor, double *p)
{
    const double wanted = log(factor);
    double       low, high, s = wanted;
    if (scale == CT_SCALE_NONE || !isfinite(s)) return 1;
    ct_theta_scale_range(theta, p, &low, &high);
    if (scale == CT_SCALE_FIT) s = low > high ? 0 : CT_MAX(low, CT_MIN(high, s));
    for (int32_t i = 0; i < ct_theta_count(theta); i++)
        if (ct_theta_is_scale(theta, i)) p[i] += s;
    return s == wanted ? factor : exp(s);
}

/* A finding if bounds do not allow the common scale that consistency requires. */
static ct_status diagnose_bounds(ct__learning *l)
{
    const ct_learn_result *r = l->objective.result;
    const double           off = sqrt(r->scale_applied / r->scale_wanted);
    if (l->objective.options->scale != CT_SCALE_FIT || !r->scale_free || !(off > OFF_MOST || off < 1 / OFF_MOST))
        return CT_OK;
    CT_TRY(ct__find(l, off > 1 ? CT_FINDING_SIGMAS_TOO_LARGE : CT_FINDING_SIGMAS_TOO_SMALL,
                    CT__VALUES(off > 1 ? off : 1 / off)));
    ct_theta_active(l->objective.outer->theta, l->p, r->at_bound);
    for (int32_t i = 0; i < l->objective.outer->m; i++)
        if (r->at_bound[i]) CT_TRY(ct__find_parameter(l, i, r->at_bound[i]));
    return CT_OK;
}

typedef struct {
    ct__learning *l;
    double *q;               /* m: the answer with the factor          */
    double *loss[2];         /* sequences: before and after            */
    double rise, rise_error; /* of the log losses                     */
    ct__nees_measure before, after;
} scaling;

/* Is NEES under chi-square's factor what right models may give? Odometry alone has no residuals, and no such factor:
 * then under the values as they are, which are those of residuals at the truth. */
static int is_chance(const ct_learn_result *r, const ct__nees_measure *nees)
{
    const double chi = isnan(nees->chi_squared) ? 1 : r->scale_chi;
    const double a = nees->deviation * nees->deviation / 9, ratio = cbrt(nees->nees / chi);
    const double off = (ratio - (1 - a)) / sqrt(a);
    return off > -SMALLER && off < LARGER; /* not if it is NaN */
}

/* Does NEES agree with chi-square's factor? */
static int agree(const ct_learn_result *r, const ct__nees_measure *nees)
{
    if (is_chance(r, nees)) return 1;
    const double off = fabs(log(nees->nees / r->scale_chi));
    return off < log(AGREE_MOST) && (isnan(nees->error) || off < ct__t_quantile(nees->groups) * nees->error);
}

/* scale_wanted and scale_from. */
static void choose_factor(scaling *s)
{
    ct_learn_result *r = s->l->objective.result;
    const int nees = isfinite(s->before.nees) && s->before.nees > 0;
    r->scale_nees = nees ? s->before.nees : NAN;
    r->scale_from = CT_SCALE_FROM_CHI2;
    r->scale_wanted = r->scale_chi;
    s->l->scale_variance = s->l->degrees > 0 ? 2 / s->l->degrees : INFINITY;
    if (!nees || s->l->objective.options->scale_from != CT_SCALE_FROM_NEES) return;
    if (agree(r, &s->before)) return;
    r->scale_from = CT_SCALE_FROM_NEES;
    r->scale_wanted = r->scale_nees;
    s->l->scale_variance = s->before.error * s->before.error; /* NaN: one sequence */
    if (isnan(s->l->scale_variance)) s->l->scale_variance = INFINITY;
}

/* Measures under the factor. If it is that of NEES, repeats with a better one until NEES is 1. */
static ct_status try_factor(scaling *s, double *applied)
{
    ct__learning *l = s->l;
    ct_learn_result *r = l->objective.result;
    for (int step = 0; step < STEPS; step++) {
        memcpy(s->q, l->p, (size_t)l->objective.outer->m * sizeof *s->q);
        *applied = ct__scale_apply(l->objective.outer->theta, l->objective.options->scale, r->scale_wanted, s->q);
        if (*applied == 1 || ct__objective_cancelled(&l->objective)) return CT_OK;
        CT_TRY(ct__measure_nees(l, *applied, 0, s->loss[1], &s->after));
        if (r->scale_from != CT_SCALE_FROM_NEES || *applied != r->scale_wanted) return CT_OK;
        if (!(s->after.nees > 0) || fabs(log(s->after.nees)) < EXACT) break;
        if (step + 1 < STEPS) r->scale_nees = r->scale_wanted *= s->after.nees;
    }
    s->after.nees = s->after.crossed; /* each group under the factor of the others */
    return CT_OK;
}

/* Mean of the log ratio of losses, and its standard error. A sequence without an estimate on one side counts as a
 * factor of e^5. */
static void compare_losses(scaling *s)
{
    const int32_t n = s->l->objective.outer->count;
    double square = 0;
    s->rise = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < n; i++) {
            double d = log(s->loss[1][i] / s->loss[0][i]);
            d = isnan(d) ? 0 : CT_MAX(-5, CT_MIN(5, d));
            if (!pass)
                s->rise += d / n;
            else
                square += (d - s->rise) * (d - s->rise);
        }
    s->rise_error = n > 1 ? sqrt(square / (n * (n - 1.0))) : 0;
}

/* How a factor does on held-out sequences. */
typedef enum { HELPS, RAISES_LOSSES, WORSENS_NEES } effect;

static effect judge(scaling *s)
{
    compare_losses(s);
    if (s->rise > CT_MAX(RISE_MOST, s->rise_error)) return RAISES_LOSSES;
    return fabs(log(s->after.nees)) - fabs(log(s->before.nees)) > WORSE ? WORSENS_NEES : HELPS;
}

static ct_status accept(scaling *s, double applied)
{
    ct__learning *l = s->l;
    ct_learn_result *r = l->objective.result;
    ct_outer_value value = {0};
    memcpy(l->p, s->q, (size_t)l->objective.outer->m * sizeof *l->p);
    r->scale_applied = applied;
    r->chi_after = s->after.chi_squared;
    r->nees_after = s->after.nees;
    ct__scale_kernels(l->objective.outer, applied);
    CT_TRY(ct_outer_evaluate(l->objective.outer, l->p, NULL, &value, l->objective.err));
    r->loss_train = value.loss;
    return CT_OK;
}

/* The root, the fourth root, .. of a factor that raises losses: the first that does not, if NEES is better with it. */
static ct_status apply_in_part(scaling *s, double whole, double rise, double error)
{
    ct__learning *l = s->l;
    double factor = whole;
    for (int k = 0; k < ROOTS && !ct__objective_cancelled(&l->objective); k++) {
        factor = sqrt(factor);
        memcpy(s->q, l->p, (size_t)l->objective.outer->m * sizeof *s->q);
        if (ct__scale_apply(l->objective.outer->theta, l->objective.options->scale, factor, s->q) != factor) break;
        CT_TRY(ct__measure_nees(l, factor, 0, s->loss[1], &s->after));
        if (!(fabs(log(s->after.nees)) < fabs(log(s->before.nees)) - WORSE)) break;
        if (judge(s) != HELPS) continue;
        CT_TRY(accept(s, factor));
        return ct__find(l, CT_FINDING_SCALE_IN_PART,
                        CT__VALUES(whole, 100 * rise, 100 * error, factor, s->before.nees, s->after.nees));
    }
    return ct__find(l, CT_FINDING_SCALE_NOT_APPLIED, CT__VALUES(whole, 100 * rise, 100 * error));
}

static ct_status decide(scaling *s, double applied)
{
    ct_learn_result *r = s->l->objective.result;
    const effect found = judge(s);
    r->scale_free = fabs(s->rise) < FREE_MOST;
    if (found == RAISES_LOSSES) return apply_in_part(s, applied, s->rise, s->rise_error);
    if (found == WORSENS_NEES)
        return ct__find(s->l, CT_FINDING_SCALE_WORSENS_NEES,
                        CT__VALUES(r->scale_wanted, s->before.nees, s->after.nees));
    return accept(s, applied);
}

static ct_status scale(scaling *s)
{
    ct__learning *l = s->l;
    ct__objective *e = &l->objective;
    ct_learn_result *r = e->result;
    ct__scale_estimate chi;
    double applied = 1;
    CT_TRY(ct__scale_from_fit(e->outer, l->p, NULL, &chi, e->err));
    r->scale_chi = chi.factor;
    r->loss_train = chi.loss;
    l->degrees = chi.degrees;
    s->before.nees = s->after.nees = NAN;
    if (!ct__objective_cancelled(e)) CT_TRY(ct__measure_nees(l, 1, 1, s->loss[0], &s->before));
    r->chi_before = r->chi_after = s->before.chi_squared;
    r->nees_before = r->nees_after = s->before.nees;
    if (!r->heldout && !ct__objective_cancelled(e)) r->loss_deployment = ct__mean_loss(e->outer->count, s->loss[0]);
    choose_factor(s);
    if (!isfinite(r->scale_wanted)) return CT_OK;
    CT_TRY(try_factor(s, &applied));
    if (applied != 1) CT_TRY(decide(s, applied));
    const double ratio = fabs(log(r->scale_nees / r->scale_chi));
    if (ratio > log(DIFFER))
        CT_TRY(ct__find(l, CT_FINDING_SCALES_DIFFER, CT__VALUES(r->scale_nees, r->scale_chi, r->scale_applied)));
    return fabs(applied / r->scale_wanted - 1) > 1e-9 ? diagnose_bounds(l) : CT_OK; /* else bounds are no reason */
}

ct_status ct__scale(ct__learning *l)
{
    const ct_outer *o = l->objective.outer;
    scaling s = {.l = l, .q = ct__zalloc(o->m + 2 * (int64_t)o->count, sizeof *s.q)};
    if (!s.q) return ct__no_memory(l->objective.err, "parameters", o->m);
    s.loss[0] = s.q + o->m;
    s.loss[1] = s.loss[0] + o->count;
    l->objective.result->scale_applied = 1;
    l->objective.result->scale_free = 1;
    const ct_status status = scale(&s);
    free(s.q);
    return status;
}
