/* covtune/noise.h: noise models, whose covariances covtune learns.
 *
 * A ct_noise is a table of models. A factor stores the index of its model, not a covariance. Many factors share one
 * model, and learning does not change factors. The table is an argument of every solve: another table, another theta.
 *
 * A model is a covariance Sigma and a robust kernel. Parameters are variances, not sigmas or information. The solver
 * reads the square-root information R, upper triangular, R'R = Sigma^-1.
 *
 * Regimes: the model "group@label" is the group in that regime (odom@indoor, odom@1); see ct_noise_select.
 */
#ifndef COVTUNE_NOISE_H
#define COVTUNE_NOISE_H

#include <covtune/base.h>
#include <covtune/function.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ct_noise ct_noise;

typedef enum { CT_NOISE_ISOTROPIC, CT_NOISE_DIAGONAL, CT_NOISE_FULL } ct_noise_kind;

#define CT_NOISE_DIM_MAX 6

/* Robust kernels around the whitened norm d = |R r|: the error of a factor is rho(d), its weight
 * rho'(d) / d, and k the width in sigmas.
 *   none           d^2 / 2                              1
 *   huber          d^2 / 2 if d <= k, k (d - k/2)       min(1, k / d)
 *   cauchy         k^2/2 log(1 + d^2/k^2)               1 / (1 + d^2/k^2)
 *   geman_mcclure  k^2 d^2 / (2 (k^2 + d^2))            k^4 / (k^2 + d^2)^2
 *   tukey          k^2/6 (1 - (1 - d^2/k^2)^3), k^2/6   (1 - d^2/k^2)^2, 0 beyond k
 *   max_mixture    d^2 / 2 if d <= k, d^2/(2 q^2) + c   1, 1 / q^2 beyond k
 * max_mixture (Olson, Agarwal 2013) is the larger of two Gaussians: one of sigma, and one q (ratio) times as wide, with
 * the share s of all measurements. They are equal at d = k: c = k^2/2 (1 - 1/q^2) = log((1 - s) / s) + rows log q.
 * Its weight jumps at k. No minimum of a sum of such errors lies there, as rho has a concave kink. */
#define CT_ROBUST_LIST(X)                                                                          \
    X(CT_ROBUST_NONE, "none", 0.0)                                                                 \
    X(CT_ROBUST_HUBER, "huber", 1.345)                                                             \
    X(CT_ROBUST_CAUCHY, "cauchy", 2.3849)                                                          \
    X(CT_ROBUST_GEMAN_MCCLURE, "geman_mcclure", 1.0)                                               \
    X(CT_ROBUST_TUKEY, "tukey", 4.6851)                                                            \
    X(CT_ROBUST_MAX_MIXTURE, "max_mixture", 3.0)

typedef enum {
#define X(constant, name, width) constant,
    CT_ROBUST_LIST(X)
#undef X
    CT_ROBUST_COUNT
} ct_robust_kind;

typedef struct {
    ct_robust_kind kind;
    double         width; /* k, in sigmas; > 0 unless kind is none */
    double         ratio; /* q > 1 of max_mixture, 0: the default; 0 for others */
} ct_robust;

/* How an error that lasts (a bias) changes with time, and how it enters a measurement. */
#define CT_BIAS_PROCESS_LIST(X)                                                                    \
    X(CT_BIAS_CONSTANT, "constant")         /* one value a sequence                             */ \
    X(CT_BIAS_RANDOM_WALK, "random-walk")   /* variance per unit of time                        */ \
    X(CT_BIAS_GAUSS_MARKOV, "gauss-markov") /* stationary variance, time constant tau           */ \
    X(CT_BIAS_OSCILLATION, "oscillation")   /* the same with a period: covariance over a time t  \
                                             * variance exp(-t / tau) cos(2 pi t / period)      */
#define CT_BIAS_EFFECT_LIST(X)                                                                     \
    X(CT_BIAS_OFFSET, "offset") /* measured = true + b                                          */ \
    X(CT_BIAS_RATE, "rate")     /* true + b dt, dt the time between the poses: a gyroscope      */ \
    X(CT_BIAS_SCALE, "scale")   /* true + b measured: the scale factor of an odometer           */

typedef enum {
#define X(constant, name) constant,
    CT_BIAS_PROCESS_LIST(X)
#undef X
    CT_BIAS_PROCESS_COUNT
} ct_bias_process;

typedef enum {
#define X(constant, name) constant,
    CT_BIAS_EFFECT_LIST(X)
#undef X
    CT_BIAS_EFFECT_COUNT
} ct_bias_effect;

#define CT_BIAS_ROWS_MAX 3
#define CT_BIAS_TAU_MIN  1e-9
#define CT_BIAS_TAU_MAX  1e12

/* The bias of a sensor, whose strength is the covariance of the noise model that has it. Times are in s, or in poses
 * where a sequence has no time stamps. */
typedef struct {
    char            sensor[256];               /* noise model or group of the measurements that have it               */
    ct_bias_process process;
    ct_bias_effect  effect;
    int             rows;                      /* 1 to 3, as the model's dimension                                    */
    char            row[CT_BIAS_ROWS_MAX][16]; /* rows of the sensor's residual that it acts on                       */
    int             per_target;                /* 1: each landmark has its own; 0: measurements of a body share it   */
    double          every;                     /* least time between two states; 0: one for each time of measurement  */
    double          tau;                       /* gauss-markov, oscillation: time constant; else 0                    */
    double          period;                    /* oscillation; else 0                                                */
    /* standard errors of log tau and log period; NaN: not learned; INFINITY: the data do not tell it                 */
    double          tau_error, period_error;
} ct_bias;

/* A model as the solver sees it. Borrowed from its table until that is changed or freed. */
typedef struct {
    const char   *name;
    ct_noise_kind kind;
    int           dim;
    ct_robust     robust;
    /* isotropic and diagonal: dim variances and dim inverse sigmas.
     * full: dim x dim row-major Sigma, and R (upper triangle, zeros below). */
    const double *covariance;
    const double *sqrt_info;
    const struct ct_noise_row *row; /* dim of them, or NULL: unknown                                    */
    const char   *measurement;      /* measurement model that uses it, "between_se2"; NULL: unknown     */
    int           learned;          /* 1: its numbers were learned, 0: held fixed, -1: unknown          */
    const ct_bias *bias;            /* the bias whose strength this is, or NULL: noise of measurements  */
    const ct_function *function;    /* of features, on which the covariance depends; NULL: constant     */
} ct_noise_model;

/* Name and unit of a residual's row, for files, exports and tables: "x" in "m". Longer words are cut. */
typedef struct ct_noise_row {
    char name[16], unit[16]; /* unit may be empty: unknown */
} ct_noise_row;

ct_status ct_noise_new(ct_noise **out, ct_err *err);
ct_status ct_noise_copy(const ct_noise *noise, ct_noise **out, ct_err *err);
void      ct_noise_free(ct_noise *noise);

/* Add a model under a new name (copied; at most 255 bytes, no spaces). Variances are checked: one that is zero,
 * negative, NaN, infinite or outside 1e-150 .. 1e150, or a matrix that is not symmetric positive definite, is
 * CT_E_NOISE with a sentence that names model and coordinate. index (may be NULL) receives its place. */
ct_status ct_noise_add_isotropic(ct_noise *noise, const char *name, int dim, double variance, int32_t *index,
                                 ct_err *err);
ct_status ct_noise_add_diagonal(ct_noise *noise, const char *name, int dim, const double variance[], int32_t *index,
                                ct_err *err);
ct_status ct_noise_add_full(ct_noise *noise, const char *name, int dim, const double covariance[], int32_t *index,
                            ct_err *err);

/* The same from information: Sigma^-1, dim x dim row-major, symmetric positive definite. A
 * diagonal matrix becomes a diagonal model. */
ct_status ct_noise_add_information(ct_noise *noise, const char *name, int dim, const double information[],
                                   int32_t *index, ct_err *err);

/* Change a model in place, with the same checks. Its dimension stays; its kind follows the call. On failure the model
 * does not change. Graphs that use it need no rebuilding. set_variance: 1 value if the model is isotropic, else dim. */
ct_status ct_noise_set_variance(ct_noise *noise, int32_t index, const double variance[], ct_err *err);
ct_status ct_noise_set_covariance(ct_noise *noise, int32_t index, const double covariance[], ct_err *err);
ct_status ct_noise_set_robust(ct_noise *noise, int32_t index, ct_robust robust, ct_err *err);

/* Set names and units of a model's rows (dim of each; copied). No estimate depends on them; noise files carry them and
 * exports need them. unit, and any unit[i], may be NULL. name NULL removes the names. Rows stay when numbers change. */
void ct_noise_set_rows(ct_noise *noise, int32_t index, const char *const name[], const char *const unit[]);

/* Set the measurement model (ct_factor_ops.name; copied, cut to CT_NOISE_MEASUREMENT_MAX bytes) that uses a noise
 * model; NULL: unknown, or several. No estimate depends on it. Exports need it to distinguish a pose from a relative
 * pose. */
#define CT_NOISE_MEASUREMENT_MAX 47
void ct_noise_set_measurement(ct_noise *noise, int32_t index, const char *name);

/* Set whether a model's numbers were learned: 1, 0 or -1, see ct_noise_model. Exports omit models that were held fixed
 * if others were learned. */
void ct_noise_set_learned(ct_noise *noise, int32_t index, int learned);

/* A model becomes the strength of a bias (copied), or that of noise again: NULL. Sequences get its states by
 * ct_sequence_apply_biases (data.h). CT_E_NOISE with a sentence: rows that are not as many as the model's, names that
 * are empty or there twice, a time constant or interval out of range. */
ct_status   ct_noise_set_bias(ct_noise *noise, int32_t index, const ct_bias *bias, ct_err *err);
const char *ct_bias_process_name(ct_bias_process process);
int         ct_bias_process_find(const char *name); /* a ct_bias_process, or -1 */
const char *ct_bias_effect_name(ct_bias_effect effect);
int         ct_bias_effect_find(const char *name);  /* a ct_bias_effect, or -1  */
/* Give a model a function of features (copied), or none (NULL): it is then constant. Its numbers stay. CT_E_NOISE with
 * a sentence: outputs that are neither 1 nor the rows, features or terms out of range, a deviation that is not
 * positive, bounds that contradict each other, weights of another number than the form has, or not finite. */
ct_status ct_noise_set_function(ct_noise *noise, int32_t index, const ct_function *function, ct_err *err);
/* Change the weights of a model's function in place. CT_E_NOISE: it has none, or a number is not finite. */
ct_status ct_noise_set_weights(ct_noise *noise, int32_t index, const double weight[], ct_err *err);
/* Sigma of a model (dim x dim) at features x, in the order of its function; constant models ignore x. NaN where a
 * feature is. */
void ct_noise_covariance_at(const ct_noise_model *model, const double x[], double covariance[]);

int32_t               ct_noise_count(const ct_noise *noise);
const ct_noise_model *ct_noise_get(const ct_noise *noise, int32_t index);      /* NULL: none */
int32_t               ct_noise_find(const ct_noise *noise, const char *name); /* -1: none */

/* Sigma_ij of a model of any kind, and sigma_i = sqrt(Sigma_ii). NaN if there is no such row. */
double ct_noise_covariance(const ct_noise_model *model, int i, int j);
double ct_noise_sigma(const ct_noise_model *model, int i);

/* The row of that name, or -1. "theta", the name of yaw before 0.2, is accepted. */
int ct_noise_find_row(const ct_noise_model *model, const char *name);

/* The model of a group in a regime: "group@label" if there is one, else "group", else -1. A NULL
 * or empty label asks for the group itself. */
int32_t ct_noise_select(const ct_noise *noise, const char *group, const char *label);

/* rho(d) and w = rho'(d)/d for squared whitened norm d2 >= 0; w may be NULL. */
double      ct_robust_error(ct_robust robust, double d2, double *w);
/* dw/d(d2) at d2 >= 0; at a kink of a kernel the derivative from above. 0 for none and max_mixture. */
double      ct_robust_slope(ct_robust robust, double d2);
/* log of the integral of exp(-rho(|u|)) over u in R^rows, over that of a Gaussian: 0 for none. INFINITY where there is
 * no finite integral: geman_mcclure, tukey, and cauchy with k^2 <= rows. */
double      ct_robust_log_normaliser(ct_robust robust, int rows);
const char *ct_robust_name(ct_robust_kind kind);
int         ct_robust_find(const char *name);                 /* a ct_robust_kind, or -1 */
double      ct_robust_default_width(ct_robust_kind kind);
double      ct_robust_default_ratio(ct_robust_kind kind);     /* 0: it has none */
/* s of max_mixture, the share of its wide component; 0 for others. And the kernel of a share and ratio, its width NaN
 * where the wide component is the larger one everywhere: s above q^rows / (1 + q^rows). */
double      ct_robust_share(ct_robust robust, int rows);
ct_robust   ct_robust_of_share(double share, double ratio, int rows);
/* "none", "huber:1.345", "max_mixture:3:10": as options and recipes have it, digits to the bit. Returns buf. */
#define CT_ROBUST_TEXT_MAX 96
const char *ct_robust_text(ct_robust robust, char buf[CT_ROBUST_TEXT_MAX]);

/* The noise file (JSON, see docs/formats.md). read adds the file's models to the table, or sets those that exist. A
 * model "group@label" or "group#number" that the file does not name takes the file's "group". Kernel, rows and
 * measurement stay unless the file has them; `learned` becomes the file's, else -1. On failure the table does not
 * change. write replaces the file atomically, with sigma beside variance. */
ct_status ct_noise_read(ct_noise *noise, const char *path, ct_err *err);
ct_status ct_noise_write(const ct_noise *noise, const char *path, ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
