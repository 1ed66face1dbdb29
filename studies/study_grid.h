/* study_grid.h: what all studies share: a grid of data x bounds x column x seed, and how a cell is computed.
 *
 * A column is a method (method_presets.h), or a noise table that nothing is learned for. A cell learns from the
 * training sequences of one dataset under one pair of bounds, and is evaluated on the test sequences. The grid has no
 * output of its own: progress and cancelling are functions of the caller. */
#ifndef CT_STUDIES_GRID_H
#define CT_STUDIES_GRID_H

#include "studies/method_presets.h"

/* Sequences, and the noise table that learning starts from; all borrowed. */
typedef struct {
    int32_t             trains, tests;
    ct_sequence *const *train, *const *test;
    const ct_noise     *start;
} grid_data;

typedef struct {
    int           done;
    ct_summary    test;    /* by the inference of deployment                             */
    ct_summary    train;   /* by the inference of the outer problem: batch, from the truth */
    double        spread;
    double        seconds; /* of learning; NaN: nothing was learned                      */
    int64_t       solves;  /* -1: nothing was learned                                    */
    int           evaluations;
    ct_learn_stop stop;
} grid_cell;

/* ---- Cells ----------------------------------------------------------------------------------- */

/* How cells are computed, and how far that is. Zero it, set the first group. */
typedef struct {
    ct_trial_options options;         /* of every cell; a method's preset is applied to a copy          */
    int              quick;           /* methods stop at the limit of iterations of their preset        */
    int              max_evaluations; /* of methods that use values of the loss alone; 0: no limit      */
    int            (*cancelled)(void *user);                                /* may be NULL              */
    void           (*show)(void *user, double done, const char *label);     /* may be NULL              */
    void            *user;
    /* under way */
    char   label[128];  /* of the cell, for show                                                        */
    double cost;        /* of the cell                                                                  */
    double done;        /* sum of costs of the cells before it                                          */
    int    evaluations; /* so far, of a method with a limit                                             */
} grid_runner;

int grid_cancelled(const grid_runner *runner);
/* options.test with progress and cancelling: for ct_evaluate. */
ct_evaluate_options grid_evaluation(grid_runner *runner);

/* Learn as `who`. with_trace: the trial has a trace, with training errors. The caller frees *out. */
ct_status grid_learn(grid_runner *runner, const method_preset *who, const grid_data *data, const ct_theta *theta,
                     int with_trace, ct_trial *out, ct_err *err);
/* The cell of a trial; done unless cancelled. */
grid_cell grid_cell_of(const grid_runner *runner, const ct_trial *trial);
/* Evaluate a table on the training sequences (without nees and conditioning), or on the test sequences. */
ct_status grid_evaluate(grid_runner *runner, int training, const grid_data *data, const ct_noise *noise,
                        ct_summary *out, ct_err *err);
/* The cell of a table that is not learned. */
ct_status grid_table(grid_runner *runner, const grid_data *data, const ct_noise *noise, const ct_theta *theta,
                     grid_cell *out, ct_err *err);

/* ---- Iteration ------------------------------------------------------------------------------- */

typedef struct {
    int data, bounds, column, seed;
} grid_index;

typedef struct {
    int data, bounds, columns, seeds; /* how many of each                                                      */
    int seed_first;                   /* 1: all data of a seed, then the next seed; 0: all seeds of a dataset  */
    int       (*wanted)(const void *user, grid_index at);          /* NULL: all. The seed is 0                 */
    double    (*cost)(const void *user, grid_index at);            /* for progress                             */
    ct_status (*open)(void *user, grid_index at, ct_err *err);     /* makes the data of a seed                 */
    void      (*close)(void *user);                                /* frees it, whatever open returned         */
    ct_status (*bound)(void *user, grid_index at, ct_err *err);    /* before the cells under a pair of bounds  */
    ct_status (*cell)(void *user, grid_index at, ct_err *err);
    void       *user;
} grid;

double grid_cost(const grid *g); /* of all wanted cells */
/* Computes the wanted cells. CT_OK also if cancelled. open and close may be NULL, bound too. */
ct_status grid_run(const grid *g, grid_runner *runner, ct_err *err);

/* ---- Numbers --------------------------------------------------------------------------------- */

/* Mean over the values that are not NaN; NaN if there is none. *deviation (may be NULL): their standard deviation, NaN
 * for one; *count (may be NULL): how many. */
double grid_mean(int n, const double value[], double *deviation, int *count);

#endif
