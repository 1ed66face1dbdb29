/* ties.c: functions of models and rows that share parameters.
 *
 * Tied rows have one variance, so they have one function: the same weights of the same terms. Models that are tied row
 * by row have the same form, the features' means, deviations and knots of the first of them, and ranges that hold all
 * their features. Weights stay equal because gradients are averaged over those that are one: minimisation is then
 * restricted to that subspace. */
#include "conditional/conditional.h"
#include "noise/noise.h"
#include "theta/theta.h"

#include <math.h>

/* The block of a row; -1: it is not learned. */
static int32_t block_of(const ct_theta *theta, int32_t g, int row)
{
    const ct__theta_model *m = &theta->model[g];
    return m->block[m->kind == CT_NOISE_DIAGONAL ? row : 0];
}

static int tied_somewhere(const ct_theta *theta, int32_t g, int32_t h)
{
    for (int i = 0; i < theta->model[g].dim; i++)
        for (int k = 0; k < theta->model[h].dim; k++)
            if (block_of(theta, g, i) >= 0 && block_of(theta, g, i) == block_of(theta, h, k)) return 1;
    return 0;
}

static int tied_row_by_row(const ct_theta *theta, int32_t g, int32_t h)
{
    const ct__theta_model *a = &theta->model[g], *b = &theta->model[h];
    int                    same = a->dim == b->dim && a->kind == b->kind;
    for (int i = 0; same && i < a->dim; i++)
        same = block_of(theta, g, i) >= 0 && block_of(theta, g, i) == block_of(theta, h, i);
    return same;
}

/* The same features, terms and layers; knots may differ. */
static int same_form(const ct_function *f, const ct_function *k)
{
    int same = f && k && f->kind == k->kind && f->outputs == k->outputs && f->matrix == k->matrix &&
               f->features == k->features && f->terms == k->terms && f->layers == k->layers;
    for (int i = 0; same && i < f->features; i++) same = !strcmp(f->feature[i].name, k->feature[i].name);
    for (int i = 0; same && i < f->terms; i++)
        same = f->term[i].a == k->term[i].a && f->term[i].b == k->term[i].b && f->term[i].hat == k->term[i].hat;
    for (int i = 0; same && i < f->layers; i++) same = f->width[i] == k->width[i];
    return same;
}

int32_t ct__tied_model(const ct_theta *theta, const ct_noise *noise, int32_t g)
{
    for (int32_t h = 0; h < g; h++)
        if (ct_noise_get(noise, h)->function && ct_theta_learns(theta, h) && tied_row_by_row(theta, g, h)) return h;
    return g;
}

void ct__tied_rows(const ct_theta *theta, int32_t g, int same[CT_FUNCTION_ROWS_MAX])
{
    for (int i = 0; i < theta->model[g].dim; i++) {
        same[i] = i;
        for (int k = i - 1; k >= 0; k--)
            if (block_of(theta, g, i) >= 0 && block_of(theta, g, i) == block_of(theta, g, k)) same[i] = k;
    }
}

/* A frozen row keeps its variance for every measurement, so it cannot have a function that is learned. */
static ct_status check_frozen_rows(const ct_theta *theta, const ct_noise_model *m, int32_t g, ct_err *err)
{
    for (int i = 0; i < m->dim; i++)
        if (block_of(theta, g, i) < 0)
            return ct_fail(err, CT_E_ARGUMENT,
                           "noise model %s: row %d is frozen and others are learned, and a function is of all rows; "
                           "freeze the whole model, or none of its rows",
                           m->name, i);
    return CT_OK;
}

static ct_status check_model(const ct_theta *theta, const ct_noise *noise, int32_t g, ct_err *err)
{
    const ct_noise_model *m = ct_noise_get(noise, g);
    CT_TRY(check_frozen_rows(theta, m, g, err));
    for (int i = 0; i < m->dim; i++)
        for (int j = 0; m->function->matrix && theta->model[g].kind != CT_NOISE_FULL && j < i; j++)
            if (block_of(theta, g, i) >= 0 && block_of(theta, g, i) == block_of(theta, g, j))
                return ct_fail(err, CT_E_ARGUMENT,
                               "noise model %s: rows %d and %d share one variance, and its function has a variance for "
                               "each; give them variances of their own, or leave /matrix out",
                               m->name, j, i);
    for (int32_t h = 0; h < ct_noise_count(noise); h++) {
        const ct_noise_model *other = ct_noise_get(noise, h);
        if (h == g || !tied_somewhere(theta, g, h)) continue;
        if (!tied_row_by_row(theta, g, h))
            return ct_fail(
                err, CT_E_ARGUMENT,
                "noise models %s and %s are tied in some rows, not row by row; a function of features needs all "
                "rows tied, or none",
                m->name, other->name);
        if (!same_form(m->function, other->function))
            return ct_fail(
                err, CT_E_ARGUMENT,
                "noise models %s and %s are tied, so that they have one function; give both the same form, or "
                "remove the tie",
                m->name, other->name);
    }
    return CT_OK;
}

ct_status ct_conditional_check(const ct_theta *theta, const ct_noise *noise, ct_err *err)
{
    for (int32_t g = 0; g < ct_noise_count(noise); g++)
        if (ct_noise_get(noise, g)->function && ct_theta_learns(theta, g)) CT_TRY(check_model(theta, noise, g, err));
    return CT_OK;
}

ct_status ct__check_spread_bounds(const ct_theta *theta, ct_err *err)
{
    const double limit = ct_theta_spread_limit(theta);
    double       least = INFINITY, most = 0;
    for (int32_t i = 0; i < ct_theta_count(theta); i++) {
        double lower, upper;
        ct_theta_bounds(theta, i, &lower, &upper);
        least = fmin(least, lower);
        most = fmax(most, upper);
    }
    if (!isfinite(limit) || most <= least * limit * (1 + 1e-9)) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT,
                   "a spread of variances (%g here) holds for every measurement if bounds do: they are %g to %g; call "
                   "ct_theta_bound_spread first",
                   limit, least, most);
}

void ct__share_forms(const ct_theta *theta, const ct_noise *noise)
{
    for (int32_t g = 0; g < ct_noise_count(noise); g++) {
        ct_function  *f = (ct_function *)ct_noise_get(noise, g)->function; /* const to readers only */
        const int32_t h = f && ct_theta_learns(theta, g) ? ct__tied_model(theta, noise, g) : g;
        if (h == g) continue;
        ct_function *first = (ct_function *)ct_noise_get(noise, h)->function;
        for (int i = 0; i < f->features; i++) {
            first->feature[i].low = fmin(first->feature[i].low, f->feature[i].low);
            first->feature[i].high = fmax(first->feature[i].high, f->feature[i].high);
        }
    }
    for (int32_t g = 0; g < ct_noise_count(noise); g++) {
        ct_function  *f = (ct_function *)ct_noise_get(noise, g)->function;
        const int32_t h = f && ct_theta_learns(theta, g) ? ct__tied_model(theta, noise, g) : g;
        if (h == g) continue;
        const ct_function *first = ct_noise_get(noise, h)->function;
        memcpy(f->feature, first->feature, sizeof f->feature);
        memcpy(f->unit, first->unit, sizeof f->unit);
        if (f->terms) memcpy(f->term, first->term, (size_t)f->terms * sizeof *f->term);
        memcpy(f->weight, first->weight, (size_t)f->weights * sizeof *f->weight);
        ct__noise_update_cuts(ct_noise_get(noise, g));
    }
}

void ct__weight_ties(const ct_function *f, const int row[], int32_t first, int32_t *same)
{
    const int network = f->kind == CT_FUNCTION_NETWORK, each = f->outputs > 1 && !f->matrix;
    const int in = network ? f->width[f->layers - 1] : f->terms,
              last = network ? f->weights - f->outputs * (in + 1) : 0;
    for (int32_t i = 0; i < f->weights; i++) same[i] = first + i;
    for (int o = 0; each && o < f->outputs; o++) {
        for (int j = 0; j < in; j++) same[last + o * in + j] = first + last + row[o] * in + j;
        if (network) same[last + f->outputs * in + o] = first + last + f->outputs * in + row[o];
    }
}

void ct__average_ties(int32_t n, const int32_t *same, double *v)
{
    for (int32_t i = 0; same && i < n; i++) {
        int members = 0;
        if (same[i] != i) continue;
        double sum = 0;
        for (int32_t j = i; j < n; j++)
            if (same[j] == i) sum += v[j], members++;
        for (int32_t j = i; members > 1 && j < n; j++)
            if (same[j] == i) v[j] = sum / members;
    }
}

void ct__copy_ties(int32_t n, const int32_t *same, double *v)
{
    for (int32_t i = 0; same && i < n; i++) v[i] = v[same[i]];
}
