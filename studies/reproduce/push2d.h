/* push2d.h: the parts of `covtune reproduce push2d`.
 *
 *   push2d.c         rows, seeds, all trials       push2d_print.c  Tables II and III, pictures, data
 *   push2d_data.c    runs and their theta          push2d_diagnose_print.c   tables of the closer look, and of failures
 *   push2d_diagnose.c  a closer look at the default  push2d_claims.c  what is demanded */
#ifndef CT_CLI_REPRODUCE_PUSH2D_H
#define CT_CLI_REPRODUCE_PUSH2D_H

#include "studies/reproduce/reproduce.h"
#include "cli/push/scene.h"

#define PUSH2D_SEEDS 5  /* at most */
#define PUSH2D_TESTS 10 /* at most */

/* Columns of the table: the paper's, then ours. */
enum {
    PUSH2D_INITIAL,
    PUSH2D_LEO,
    PUSH2D_NELDER_MEAD,
    PUSH2D_POWELL,
    PUSH2D_FW,
    PUSH2D_LM,
    PUSH2D_CLOSED_FORM,
    PUSH2D_COLUMNS
};
/* What is measured, as the paper orders it: in m and rad here, in cm there. */
enum { PUSH2D_FINGER_T, PUSH2D_FINGER_R, PUSH2D_OBJECT_T, PUSH2D_OBJECT_R };

typedef struct {
    const char       *key, *name;
    const method_preset *who; /* NULL: nothing is learned */
} push2d_column;

typedef struct {
    int trains, tests, episodes, steps;
} push2d_size;

/* One method on one kind of runs under one pair of bounds. */
typedef struct {
    int           done;
    ct_summary    test;       /* step by step, as in deployment             */
    ct_summary    test_truth; /* at once from the truth, as runs are learned from */
    ct_summary    train;      /* the same of those it learned from         */
    double        spread, seconds;
    int64_t       solves;     /* -1: nothing was learned */
    int           evaluations;
    const char   *stop;
} push2d_cell;

/* A test run under what the default has learned. */
typedef struct {
    /* how estimates ended: at once from the truth; step by step; at once from where that ended */
    ct_stop truth, steps, settled;
    double  loss_truth, loss_steps;
    double  error_truth, error_settled; /* of the graph */
    double  left;                  /* step by step: largest coordinate of a full Gauss-Newton step from there */
} push2d_run;

/* What else is asked of the default. */
typedef struct {
    int        done;
    ct_summary entry[CT_ENTRY_COUNT]; /* test runs, new poses starting so                           */
    /* tight: learned again from ones in units, and not from afar; no runs: not done */
    ct_summary centre;
    int        tests;
    push2d_run run[PUSH2D_TESTS];
} push2d_closer;

typedef struct {
    reproduce_job *job;
    push2d_size    size;
    int            seeds;
    push2d_column  column[PUSH2D_COLUMNS];
    int            row[PAPER_PUSHES][PAPER_BOUNDS]; /* is it wanted? */
    push2d_cell    cell[PAPER_PUSHES][PAPER_BOUNDS][PUSH2D_COLUMNS][PUSH2D_SEEDS];
    push2d_closer  closer[PAPER_PUSHES][PAPER_BOUNDS][PUSH2D_SEEDS];
    /* the first test run of the first seed, start values and default; NULL: not done */
    push_scene    *scene[PAPER_PUSHES];
    const char    *scene_bounds[PAPER_PUSHES];
} push2d;

extern const char *const push2d_object[PAPER_PUSHES], *const push2d_tactile[PAPER_PUSHES], *const push2d_thing[2];

/* ---- Data ---- */

/* As covtune simulate push2d makes them: the same seed, the same runs. The caller frees *out. */
ct_status push2d_data(push2d *n, int push, uint64_t seed, ct_dataset **out, ct_err *err);
/* A copy of the table with variances of one unit in what is learned. The caller frees *out. */
ct_status push2d_ones(const ct_dataset *data, ct_noise **out, ct_err *err);

/* ---- Trials ---- */

/* Does the method take part under these bounds? */
int push2d_takes_part(const push2d *n, int column, int tight);
/* Learns, and judges; *noise (may be NULL) is what was learned, which the caller frees. */
ct_status push2d_try(push2d *n, const method_preset *who, const reproduce_runs *runs, const ct_theta *theta,
                     push2d_cell *cell, ct_noise **noise, ct_err *err);
/* All of a closer look at a noise table that the default learned from the runs. */
ct_status push2d_look(push2d *n, int push, int tight, int seed, const ct_dataset *data, const ct_theta *theta,
                      const ct_noise *noise, ct_err *err);

/* ---- Numbers ---- */

/* Of a verdict, m and rad. */
double push2d_accuracy(const ct_summary *verdict, int which);
/* Mean over `count` numbers that are no NaN, and its standard error (may be NULL), NaN for one. */
double push2d_average(int count, const double *value, double *error);
/* Of a cell; NaN if it was not done. */
double push2d_error(const push2d *n, int push, int tight, int column, int seed, int which);
/* Over seeds. error may be NULL. */
double push2d_mean(const push2d *n, int push, int tight, int column, int which, double *error);
double push2d_mean_of(const push2d *n, int push, int tight, int column, double (*of)(const push2d_cell *),
                      double *error);
int    push2d_row_done(const push2d *n, int push, int tight);
/* "ellipse network, tight". Returns buf. */
const char *push2d_row_name(int push, int tight, char buf[48]);

/* Did the run come to a minimum? */
int push2d_reached_truth(const push2d_run *run);
int push2d_reached_steps(const push2d_run *run);
/* Step by step, to another minimum than from the truth? */
int push2d_elsewhere(const push2d_run *run);

/* ---- Book ---- */

void push2d_state(push2d *n);
void push2d_print(push2d *n);
void push2d_put_closer(push2d *n);

#endif
