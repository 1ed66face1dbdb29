/* covtune/api.h: the functions that most programs need. The other headers have the parts they are made of.
 *
 *     ct_dataset *data;  ct_run *run;  ct_summary before, after;
 *     ct_dataset_read("logs", CT_DATASET_ALL, &data, &err);
 *     ct_run_learn(data, NULL, &run, &err);                                             learn from train
 *     ct_dataset_evaluate(data, CT_DATASET_TEST, NULL, NULL, &before, &err);            accuracy on test
 *     ct_dataset_evaluate(data, CT_DATASET_TEST, ct_run_noise(run), NULL, &after, &err);
 *     ct_run_write(run, "noise.json", &err);
 *
 * Handles are opaque. A NULL handle, an index out of range and an unknown name are CT_E_ARGUMENT with a sentence.
 * Choices are texts, the same as on the command line. Options come from *_defaults; NULL stands for the defaults.
 * Variances and sigmas are in the units of the noise table (m, rad), whatever units theta has.
 */
#ifndef COVTUNE_API_H
#define COVTUNE_API_H

#include <covtune/learn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Learning -------------------------------------------------------------------------------- */

/* The result of learning: noise models, error bars, findings. It does not refer to the dataset. */
typedef struct ct_run ct_run;

typedef struct {
    ct_theta_options theta;      /* which noise models are learned, as what, within which bounds            */
    const char      *method;     /* "lm", "closed-form", "fw", ...: ct_learn_method_find; NULL: lm          */
    const char      *deployment; /* inference on held-out sequences: "auto", "batch", "isam2"; NULL: auto   */
    const char      *loss;       /* difference from the truth: "local", "left"; NULL: local                 */
    int              max_iterations; /* 0: the method's own                                                 */
    int              folds;          /* of cross-validation, at most; < 2: none                             */
    uint64_t         seed;           /* of methods that draw random numbers                                 */
    int              jobs;           /* threads; their number changes no bit                                */
    ct_learn_progress_fn progress;   /* may be NULL                                                         */
    void                *user;
} ct_run_options;

ct_run_options ct_run_defaults(void); /* every model that the dataset does not freeze, lm, 5 folds, one job */

/* Learn from the training sequences, which need truth. Noise models that a file numbers (group#1, ...) are pooled in
 * the dataset first. *out is owned by the caller, NULL on failure. A run that progress stopped is CT_OK: info.stop is
 * "cancelled", and the best values so far are its noise models. */
ct_status ct_run_learn(ct_dataset *dataset, const ct_run_options *options, ct_run **out, ct_err *err);
void      ct_run_free(ct_run *run);

typedef struct {
    const char *stop, *meaning;           /* why learning ended: "step", and a sentence; static              */
    int         incremental;              /* 1: held-out sequences were estimated incrementally              */
    int         evaluations;              /* of the loss                                                     */
    int64_t     inner_solves;
    double      loss_start, loss;         /* of the training sequences, from the truth                       */
    double      loss_closed_form;         /* NaN: not known, here and below                                  */
    double      loss_heldout, loss_heldout_start, loss_heldout_closed_form;
    double      chi_squared, nees;        /* per degree, after learning, on held-out sequences if there were */
    double      spread;                   /* largest over smallest learned variance, in units                */
    int32_t     rows, findings;           /* for ct_run_row and ct_run_finding                               */
} ct_run_info;

/* A learned row of a noise model; an isotropic model has one row. */
typedef struct {
    const char *model;         /* "odom"; borrowed from the run                                          */
    int32_t     index;         /* of the model in the noise table                                        */
    int         row;           /* of the model                                                           */
    const char *name, *unit;   /* "x", "m"; "" if not known; borrowed from the run                       */
    double      sigma_start, sigma;
    double      sigma_error;   /* standard error of sigma; INFINITY: undetermined; NaN: none             */
    double      lower, upper;  /* bounds of sigma; NaN: a full model, whose eigenvalues are bounded      */
    int         at_bound;      /* -1: sigma is at lower, +1: at upper, 0: neither                        */
} ct_row;

ct_status ct_run_get_info(const ct_run *run, ct_run_info *out, ct_err *err);
ct_status ct_run_row(const ct_run *run, int32_t i, ct_row *out, ct_err *err);
/* A fact about the result, as data (finding.h); borrowed from the run. NULL: there is no finding i. */
const ct_finding *ct_run_finding(const ct_run *run, int32_t i);
/* The learned noise table, borrowed from the run; NULL without a run. */
const ct_noise *ct_run_noise(const ct_run *run);
/* Write the noise file (replaced atomically), as covtune learn does: docs/formats.md. */
ct_status ct_run_write(const ct_run *run, const char *path, ct_err *err);

/* The sequences of a part, each once (an undivided dataset has all of them in both). out: room for trains + tests,
 * or NULL. Returns how many. */
int32_t ct_dataset_sequences(const ct_dataset *dataset, ct_dataset_part part, ct_sequence *out[]);
/* Evaluate a noise table (NULL: the dataset's own) on a part of the dataset, each sequence once: ct_evaluate. The
 * numbers are those of covtune eval. Refuses a part without sequences, and, unless options->innovations is set, a
 * sequence without truth. */
ct_status ct_dataset_evaluate(const ct_dataset *dataset, ct_dataset_part part, const ct_noise *noise,
                              const ct_evaluate_options *options, ct_summary *out, ct_err *err);

/* ---- Estimation ------------------------------------------------------------------------------ */

/* A factor graph with its noise models and values. Values of poses are fields, as in files: (x, y, yaw) in the plane,
 * (x, y, z, qx, qy, qz, qw) in space; ct_kind_fields doubles (lie.h). */
typedef struct ct_problem ct_problem;

ct_status ct_problem_new(ct_problem **out, ct_err *err);
/* From a graph or sequence file of any format (data.h). *out is owned by the caller, NULL on failure. */
ct_status ct_problem_read(const char *path, ct_problem **out, ct_err *err);
void      ct_problem_free(ct_problem *problem);

/* A noise model with one sigma a row. *index (may be NULL) is its index. */
ct_status ct_problem_add_noise(ct_problem *problem, const char *name, int dim, const double sigma[], int32_t *index,
                               ct_err *err);
/* A variable of a kind ("SE2", "R3", ...) with its initial value (fields; copied; NULL: the identity). name is copied;
 * NULL: its index, "x17". fixed: it is not estimated. */
ct_status ct_problem_add_variable(ct_problem *problem, const char *name, const char *kind, const double fields[],
                                  int fixed, int32_t *index, ct_err *err);
/* A factor of a built-in model ("between_se2", ...: graph.h). `count` variables, and a measurement of `numbers` fields
 * of its parts one after the other; parts that files may leave out may be left out here. Both are copied. */
ct_status ct_problem_add_factor(ct_problem *problem, const char *model, int count, const int32_t variable[],
                                int numbers, const double measurement[], int32_t noise, ct_err *err);
/* Give a factor, numbered from 0 as they were added, m times the covariance of its model (ct_graph_set_multiplier).
 * CT_E_ARGUMENT if an update has brought it in already. */
ct_status ct_problem_set_multiplier(ct_problem *problem, int32_t factor, double m, ct_err *err);

/* Batch: minimise over all variables, from the present values. How it went is in *result (may be NULL). */
ct_status ct_problem_solve(ct_problem *problem, const ct_solve_options *options, ct_solve_result *result, ct_err *err);
/* Incremental (iSAM2): bring in what was added since the last update. On failure nothing is brought in, and a later
 * update tries again; CT_E_SINGULAR if a new variable is not determined. */
ct_status ct_problem_update(ct_problem *problem, ct_smoother_stats *stats, ct_err *err);

/* fields <- the value of a variable after the last solve or update. */
ct_status ct_problem_value(const ct_problem *problem, int32_t variable, double fields[], ct_err *err);
/* covariance <- marginal covariance (dim x dim, tangent space, local frame) at the values of the last solve or update;
 * zero of a fixed variable. CT_E_SINGULAR if the graph does not determine it. */
ct_status ct_problem_marginal(ct_problem *problem, int32_t variable, double covariance[], ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
