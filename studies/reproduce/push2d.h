/* push2d.h: the parts of `covtune reproduce push2d`.
 *
 *   push2d.c         rows, seeds, all trials       push2d_print.c  Tables II and III, pictures, data
 *   push2d_data.c    runs and their theta          push2d_diagnose_print.c   tables of diagnoses and failures
 *   push2d_diagnose.c  diagnoses of the default        push2d_claims.c  claims */
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

typedef struct {
    grid_cell  cell;
    ct_summary test_truth; /* test sequences in batch from the truth, the inference of the outer problem */
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
} push2d_diagnosis;

typedef struct {
    reproduce_job *job;
    push2d_size    size;
    ct_dataset    *data;  /* of the seed under way   */
    ct_theta      *theta; /* of the bounds under way */
    int            seeds;
    push2d_column  column[PUSH2D_COLUMNS];
    int            row[PAPER_PUSHES][PAPER_BOUNDS]; /* is it wanted? */
    push2d_cell    cell[PAPER_PUSHES][PAPER_BOUNDS][PUSH2D_COLUMNS][PUSH2D_SEEDS];
    push2d_diagnosis  diagnosis[PAPER_PUSHES][PAPER_BOUNDS][PUSH2D_SEEDS];
    /* the first test run of the first seed, start values and default; NULL: not done */
    push_scene    *scene[PAPER_PUSHES];
    const char    *scene_bounds[PAPER_PUSHES];
} push2d;

extern const char *const push2d_object[PAPER_PUSHES], *const push2d_tactile[PAPER_PUSHES], *const push2d_body[2];

/* ---- Data ---- */

/* As covtune simulate push2d makes them: the same seed, the same runs. The caller frees *out. */
ct_status push2d_data(push2d *n, int push, uint64_t seed, ct_dataset **out, ct_err *err);
/* A copy of the table with variances of one unit in what is learned. The caller frees *out. */
ct_status push2d_ones(const ct_dataset *data, ct_noise **out, ct_err *err);

/* ---- Trials ---- */

/* Does the method take part under these bounds? */
int push2d_takes_part(const push2d *n, int column, int tight);
/* Learns and evaluates; *noise (may be NULL) is what was learned, which the caller frees. */
ct_status push2d_learn(push2d *n, const method_preset *who, const grid_data *data, push2d_cell *cell, ct_noise **noise,
                       ct_err *err);
/* Diagnoses of a noise table that the default learned. */
ct_status push2d_diagnose(push2d *n, grid_index at, const ct_noise *noise, ct_err *err);
grid_data push2d_grid_data(const push2d *n);
/* Why learning ended: "evaluations" if at the study's limit of them, "" if nothing was learned. */
const char *push2d_stop(const push2d_cell *cell);

/* ---- Numbers ---- */

/* Of a summary, m and rad. */
double push2d_accuracy(const ct_summary *summary, int which);
/* grid_mean with the standard error of the mean instead of the deviation. */
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

/* ---- Document ---- */

void push2d_state(push2d *n);
void push2d_print(push2d *n);
void push2d_put_diagnoses(push2d *n);

#endif
