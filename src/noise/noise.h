/* noise.h: the numbers of a model, checked and factorised before they are stored in a table. */
#ifndef CT_NOISE_PRIVATE_H
#define CT_NOISE_PRIVATE_H

#include "function/function.h"

#include <covtune/noise.h>

#define CT__NOISE_NUMBERS_MAX (CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX)

/* Sigma and R as ct_noise_model lays them out. Computed separately, so that a model whose new numbers
 * are refused keeps its old ones. */
typedef struct {
    ct_noise_kind kind;
    int           dim;
    double        covariance[CT__NOISE_NUMBERS_MAX];
    double        sqrt_info[CT__NOISE_NUMBERS_MAX];
} ct__noise_numbers;

/* `name` is for the message. */
ct_status ct__noise_isotropic(const char *name, int dim, double variance, ct__noise_numbers *out, ct_err *err);
ct_status ct__noise_diagonal(const char *name, int dim, const double variance[], ct__noise_numbers *out, ct_err *err);
ct_status ct__noise_full(const char *name, int dim, const double covariance[], ct__noise_numbers *out, ct_err *err);
ct_status ct__noise_information(const char *name, int dim, const double information[], ct__noise_numbers *out,
                                ct_err *err);

ct_status ct__noise_add(ct_noise *noise, const char *name, const ct__noise_numbers *numbers, int32_t *index,
                        ct_err *err);
void      ct__noise_put(ct_noise *noise, int32_t index, const ct__noise_numbers *numbers); /* same dim */
void      ct__noise_swap(ct_noise *a, ct_noise *b);

/* bias.c: the checks of ct_noise_set_bias for a model of that name and dimension. */
ct_status ct__bias_check(const char *model, int dim, const ct_bias *bias, ct_err *err);
/* The function of a model becomes this one, which the table then owns; NULL: none. */
void ct__noise_put_function(ct_noise *noise, int32_t index, ct_function *function);
int  ct__noise_functions(const ct_noise *noise); /* models that have one */
/* After the numbers of a model, or the bounds of its function, changed. */
void ct__noise_update_cuts(const ct_noise_model *model);
/* B, dim x dim: the lower (upper 0) or upper cut of a row's function changes by -tr(B dSigma) where the covariance
 * changes by dSigma. 0: that cut is a constant. */
int ct__noise_cut_slope(const ct_noise_model *model, int row, int upper, double B[]);
/* out <- F Sigma F', dim x dim, symmetric to the bit. */
void ct__noise_congruence(const ct_noise_model *model, const double *F, double *out);

/* robust.c: a kernel with its default numbers. */
ct_robust ct__robust_default(ct_robust_kind kind);

/* Cuts a name to the nearest one it is part of, "odom@1#7" to "odom@1" and that to "odom"; 0, and nothing cut, if it
 * is whole. */
int ct__noise_whole(char *name);

/* How many numbers covariance and sqrt_info hold: dim, or dim^2 for a full model. */
static inline int ct__noise_length(ct_noise_kind kind, int dim)
{
    return kind == CT_NOISE_FULL ? dim * dim : dim;
}

#endif
