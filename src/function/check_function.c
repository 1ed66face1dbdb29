/* check_function.c: is it a function, does it fit a noise model, and where its outputs are cut. */
#include "base/base.h"
#include "function/function.h"

#include <math.h>

#define CUT_MAX 23.0 /* of |u|: a factor of 1e10 in variance, more than any sensor's */

#define UNIT_MIN 1e-75 /* a sigma: variances are 1e-150 to 1e150 */

#define REFUSE(...) ct_fail(err, CT_E_NOISE, __VA_ARGS__)

static ct_status check_features(const char *name, const ct_function *f, ct_err *err)
{
    if (f->features < 1 || f->features > CT_FUNCTION_FEATURES_MAX)
        return REFUSE("noise model \"%s\": its function has %d features; it must have 1 to %d", name, f->features,
                      CT_FUNCTION_FEATURES_MAX);
    for (int i = 0; i < f->features; i++) {
        const ct_function_feature *k = &f->feature[i];
        for (int j = 0; j < i; j++)
            if (!strcmp(k->name, f->feature[j].name))
                return REFUSE("noise model \"%s\": its function has the feature %s twice", name, k->name);
        if (!*k->name) return REFUSE("noise model \"%s\": a feature of its function has no name", name);
        if (!isfinite(k->mean) || !(k->deviation > 0) || isinf(k->deviation))
            return REFUSE("noise model \"%s\": feature %s has mean %g and deviation %g; they must be finite, the "
                          "deviation positive",
                          name, k->name, k->mean, k->deviation);
        if (!(k->low <= k->high) || isinf(k->low) || isinf(k->high))
            return REFUSE("noise model \"%s\": feature %s has the range %g to %g", name, k->name, k->low, k->high);
    }
    return CT_OK;
}

static ct_status check_terms(const char *name, const ct_function *f, ct_err *err)
{
    if (f->terms < 1 || f->terms > CT_FUNCTION_TERMS_MAX)
        return REFUSE("noise model \"%s\": its function has %d terms; it must have 1 to %d", name, f->terms,
                      CT_FUNCTION_TERMS_MAX);
    for (int j = 0; j < f->terms; j++) {
        const ct_function_term *t = &f->term[j];
        if (t->a < (f->matrix ? -1 : 0) || t->a >= f->features || t->b >= f->features ||
            (t->a < 0 && (t->b >= 0 || t->hat)))
            return REFUSE("noise model \"%s\": term %d of its function is of a feature that it has not", name, j);
        if (t->hat && (t->b >= 0 || !isfinite(t->at) || !(t->left < t->at) || !(t->at < t->right)))
            return REFUSE("noise model \"%s\": term %d of its function has the knots %g, %g, %g; they must increase",
                          name, j, t->left, t->at, t->right);
    }
    return CT_OK;
}

static ct_status check_layers(const char *name, const ct_function *f, ct_err *err)
{
    if (f->layers < 1 || f->layers > CT_FUNCTION_LAYERS_MAX)
        return REFUSE("noise model \"%s\": its network has %d hidden layers; it must have 1 to %d", name, f->layers,
                      CT_FUNCTION_LAYERS_MAX);
    for (int k = 0; k < f->layers; k++)
        if (f->width[k] < 1 || f->width[k] > CT_FUNCTION_WIDTH_MAX)
            return REFUSE("noise model \"%s\": a hidden layer of its network has %d units; it must have 1 to %d", name,
                          f->width[k], CT_FUNCTION_WIDTH_MAX);
    return CT_OK;
}

static ct_status check_bounds(const char *name, int dim, const ct_function *f, ct_err *err)
{
    for (int i = 0; i < dim; i++)
        if (!(f->lower[i] >= 0) || !(f->upper[i] > 0) || f->lower[i] > f->upper[i])
            return REFUSE("noise model \"%s\": the variances of its function are bounded from %g to %g", name,
                          f->lower[i], f->upper[i]);
    return CT_OK;
}

static ct_status check_outputs(const char *name, int dim, const ct_function *f, ct_err *err)
{
    if (!f->matrix && f->outputs != 1 && f->outputs != dim)
        return REFUSE("noise model \"%s\": its function has %d outputs; it must have 1, or one for each of %d rows",
                      name, f->outputs, dim);
    if (!f->matrix) return CT_OK;
    if (dim < 2)
        return REFUSE("noise model \"%s\": a matrix function is for models of several rows, and it has %d", name, dim);
    if (f->outputs != ct__packed(dim))
        return REFUSE("noise model \"%s\": its matrix function has %d outputs; for %d rows it must have %d", name,
                      f->outputs, dim, ct__packed(dim));
    for (int i = 0; i < dim; i++)
        if (!(f->unit[i] >= UNIT_MIN && f->unit[i] <= 1 / UNIT_MIN))
            return REFUSE("noise model \"%s\": row %d of its matrix function has the unit %g; it must be %g to %g",
                          name, i, f->unit[i], UNIT_MIN, 1 / UNIT_MIN);
    return CT_OK;
}

ct_status ct__function_check(const char *name, int dim, const ct_function *f, ct_err *err)
{
    if ((int)f->kind < 0 || f->kind >= CT_FUNCTION_COUNT)
        return REFUSE("noise model \"%s\": there is no function of kind %d", name, (int)f->kind);
    CT_TRY(check_outputs(name, dim, f, err));
    CT_TRY(check_features(name, f, err));
    CT_TRY(f->kind == CT_FUNCTION_NETWORK ? check_layers(name, f, err) : check_terms(name, f, err));
    CT_TRY(check_bounds(name, dim, f, err));
    if (f->weights != ct_function_weights(f))
        return REFUSE("noise model \"%s\": its function has %d weights; its form has %d", name, f->weights,
                      ct_function_weights(f));
    for (int i = 0; i < f->weights; i++)
        if (!isfinite(f->weight[i]))
            return REFUSE("noise model \"%s\": weight %d of its function is %g", name, i, f->weight[i]);
    return CT_OK;
}

/* The tightest bounds of a matrix function's rows, over unit^2. */
static void matrix_bounds(const ct_function *f, int dim, double *lower, double *upper)
{
    *lower = 0;
    *upper = INFINITY;
    for (int i = 0; i < dim; i++) {
        *lower = fmax(*lower, f->lower[i] / (f->unit[i] * f->unit[i]));
        *upper = fmin(*upper, f->upper[i] / (f->unit[i] * f->unit[i]));
    }
}

/* Of the eigenvalues of a matrix function: all of D^-1 Sigma(x) D^-1 are within low e^least and high e^most. */
static void set_matrix_cuts(ct_function *f, int dim, double low, double high)
{
    double lower, upper;
    matrix_bounds(f, dim, &lower, &upper);
    f->u_low[0] = fmax(-CUT_MAX, lower > 0 ? log(lower / low) : -CUT_MAX);
    f->u_high[0] = fmin(CUT_MAX, isfinite(upper) ? log(upper / high) : CUT_MAX);
    if (f->u_low[0] > f->u_high[0]) f->u_low[0] = f->u_high[0] = 0; /* the model itself is outside */
}

void ct__function_set_cuts(ct_function *f, int dim, const double low[], const double high[])
{
    double least = CUT_MAX, most = -CUT_MAX; /* of one output: what all rows allow */
    if (f->matrix) {
        set_matrix_cuts(f, dim, low[0], high[0]);
        return;
    }
    for (int i = 0; i < dim; i++) {
        f->u_low[i] = fmax(-CUT_MAX, f->lower[i] > 0 ? log(f->lower[i] / low[i]) : -CUT_MAX);
        f->u_high[i] = fmin(CUT_MAX, isfinite(f->upper[i]) ? log(f->upper[i] / high[i]) : CUT_MAX);
        if (f->u_low[i] > f->u_high[i]) f->u_low[i] = f->u_high[i] = 0; /* the model itself is outside */
        most = fmax(most, f->u_low[i]);
        least = fmin(least, f->u_high[i]);
    }
    for (int i = 0; f->outputs == 1 && i < dim; i++) {
        f->u_low[i] = most <= least ? most : 0;
        f->u_high[i] = most <= least ? least : 0;
    }
}

int ct__function_cut_row(const ct_function *f, int dim, int i, int upper, const double variance[])
{
    const double cut = upper ? f->u_high[i] : f->u_low[i]; /* as computed above: equal to the bit */
    if (f->matrix) {
        double lower, most;
        matrix_bounds(f, dim, &lower, &most);
        return cut == log((upper ? most : lower) / variance[0]) ? 0 : -1;
    }
    for (int r = f->outputs == 1 ? 0 : i; r < (f->outputs == 1 ? dim : i + 1); r++)
        if (cut == log((upper ? f->upper[r] : f->lower[r]) / variance[r])) return r;
    return -1;
}
