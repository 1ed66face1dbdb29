/* graph.h: private structures of a graph, for modules that visit all factors. */
#ifndef CT_GRAPH_PRIVATE_H
#define CT_GRAPH_PRIVATE_H

#include "base/base.h"
#include "base/name_table.h"
#include "function/function.h"

#include <covtune/graph.h>

typedef struct {
    const ct_factor_ops *ops;
    const void          *context;
    int64_t              var, z; /* first variable and first number in the pools           */
    double               multiplier;
    int32_t              noise;
} ct__factor;

typedef struct {
    int32_t factors, rows; /* number of factors; rows of each */
} ct__noise_use;

typedef struct {
    double *value; /* by factor; NaN: none */
    int64_t count, capacity;
} ct__feature_column;

struct ct_graph {
    ct__names names;
    /* variables */
    int32_t  variables;
    int64_t  kind_capacity, fixed_capacity, offset_capacity;
    uint8_t *kind, *fixed;
    int64_t *offset;
    double  *initial;
    int64_t  size, initial_capacity;
    /* factors */
    int32_t     factors;
    int64_t     factor_capacity;
    ct__factor *factor;
    int32_t    *var_pool;
    int64_t     var_used, var_capacity;
    double     *z_pool;
    int64_t     z_used, z_capacity;
    /* per noise model: its factors */
    ct__noise_use *noise_use;
    int64_t        noise_count, noise_capacity;
    /* features: columns, each as long as the last factor that has a value in it requires */
    ct__names            feature_names;
    ct__feature_column  *feature;
    int64_t              feature_capacity;
    int64_t              feature_changes; /* how often a value was set: for caches of what depends on them */
};

/* Length of a variable's name without the number at its end: 1 for "x17". Variables with the same
 * name up to that number are one body at different times. */
static inline size_t ct__body_name_length(const char *name)
{
    size_t n = strlen(name);
    while (n > 0 && name[n - 1] >= '0' && name[n - 1] <= '9') n--;
    return n;
}

/* Room for that many more variables, doubles of values, factors, their variables and their measurements, so that adding
 * them one by one does not allocate. */
ct_status ct__graph_reserve(ct_graph *graph, int64_t variables, int64_t values, int64_t factors,
                            int64_t factor_variables, int64_t numbers, ct_err *err);

/* graph_image.c: the arrays of a graph as bytes, valid in this process. Memory that the arrays take; bytes of the
 * image; to it; from it, into the graph that was packed, unchanged since; the arrays leave, counts and uses of models
 * stay. */
int64_t   ct__graph_bytes(const ct_graph *graph);
int64_t   ct__graph_image_bytes(const ct_graph *graph);
void      ct__graph_pack(const ct_graph *graph, void *image);
ct_status ct__graph_unpack(ct_graph *graph, const void *image, ct_err *err);
void      ct__graph_drop(ct_graph *graph);

/* ct_graph_copy without the factors f with left_out[f]; NULL: with all. */
ct_status ct__graph_copy_without(const ct_graph *graph, const uint8_t *left_out, ct_graph **out, ct_err *err);

/* Why a text is no name of a feature, or NULL. */
const char *ct__feature_name_invalid(const char *name);
void        ct__graph_free_features(ct_graph *graph);
/* Factor `to` of g takes the features of factor `from` of another graph. */
ct_status   ct__graph_copy_features(ct_graph *g, int32_t to, const ct_graph *other, int32_t from, ct_err *err);

/* factor_scale.c: columns of the features of a function (-1: none), and their values for a factor. */
void ct__feature_columns(const ct_graph *graph, const ct_function *function, int column[CT_FUNCTION_FEATURES_MAX]);
void ct__factor_features(const ct_graph *graph, int32_t f, const ct_function *function,
                         const int column[CT_FUNCTION_FEATURES_MAX], double x[CT_FUNCTION_FEATURES_MAX]);
/* T of a factor with its multiplier, so that T Sigma_f T' is its model's covariance; 0: it is I. */
int  ct__factor_scale(const ct_graph *graph, const ct_noise *noise, int32_t f, ct__scaling *T);
/* log det T, and T^-1. T is similar to a positive definite matrix by a diagonal one: no pivots are needed. */
double ct__scale_log_det(const ct__scaling *T, int rows);
void   ct__scale_invert(const ct__scaling *T, int rows, ct__scaling *inverse);
/* r and J of a factor times T: as those of a factor with its model's own covariance. */
void ct__divide_by_factor_scale(const ct_graph *graph, const ct_noise *noise, int32_t f, double *r, int blocks,
                                double *const J[], const int cols[]);
/* The same for a residual that was divided by the root of the multiplier already. */
void ct__divide_by_function(const ct_graph *graph, const ct_noise *noise, int32_t f, double *r);
/* *out <- features of the factors from .. to - 1, CT_FUNCTION_FEATURES_MAX each, in the order of their models'
 * functions; NULL: no model has one. For the caller to free. */
ct_status ct__graph_gather_features(const ct_graph *graph, const ct_noise *noise, int32_t from, int32_t to,
                                    double **out, ct_err *err);
ct_status ct__graph_check_features(const ct_graph *graph, const ct_noise *noise, ct_err *err);

/* The reason why the description of a model is invalid, or NULL. Its name is not checked. */
const char *ct__factor_inconsistent(const ct_factor_ops *ops);

/* The last models of a registry leave, until `count` are left. */
void ct__factor_registry_cut(ct_factor_registry *registry, int count);

/* Checks of an initial value, and of the measurement of factor f with first variable `on`: finite, unit rotations, of
 * the size that the model takes, with a shape if it needs one. */
ct_status ct__check_kind(const char *name, ct_kind kind, ct_err *err);
ct_status ct__check_ops(int32_t f, const ct_factor_ops *ops, ct_err *err); /* sizes within limits */
ct_status ct__check_multiplier(int32_t f, const ct_factor_ops *ops, double m, ct_err *err);
ct_status ct__check_value(const char *name, ct_kind kind, const double *value, ct_err *err);
ct_status ct__check_measurement(int32_t f, const ct_factor_ops *ops, const char *on, const double z[],
                                const void *context, ct_err *err);

#endif
