/* reproduce.h: the parts of `covtune reproduce`, which repeats the paper's studies.
 *
 *   reproduce.c        options, the table of studies         document.c  what a study writes: CSV, Markdown,
 *                                                                        pictures, a page
 *   nav2d_data.c   navigation runs and their theta       paper_values.c the paper's numbers
 *   claims.c  what is demanded, row by row          reproduce_NAME.c  a study each */
#ifndef CT_CLI_REPRODUCE_H
#define CT_CLI_REPRODUCE_H

#include "studies/method_presets.h"

/* What was asked for. */
typedef struct {
    const char *study, *out, *rows, *methods;
    int         quick, seeds, force, jobs; /* seeds: 0 the study's own */
} reproduce_request;

/* ---- Data -------------------------------------------------------------------------------------- */

#define REPRODUCE_RUNS 32 /* of a part, at most */

/* Runs to learn from and to be judged on, and the table that learning starts from; all borrowed. */
typedef struct {
    int32_t             trains, tests;
    ct_sequence *const *train, *const *test;
    const ct_noise     *start;
} reproduce_runs;

/* As covtune simulate nav2d makes them: the same seed, the same runs. */
typedef struct {
    int32_t      trains, tests;
    ct_sequence *train[REPRODUCE_RUNS], *test[REPRODUCE_RUNS];
    ct_noise    *latent; /* what was drawn: the oracle              */
    ct_noise    *start;  /* the paper's far start, as simulate has it */
} nav_data;

typedef struct {
    int trains, tests, least, most; /* runs; poses of a run */
} nav_size;

ct_status nav_data_make(const char *preset, uint64_t seed, const nav_size *size, nav_data *out, ct_err *err);
void      nav_data_free(nav_data *data);
reproduce_runs nav_data_runs(const nav_data *data);
/* Everything but the first pose's prior, as diagonal models, between lower and upper. */
ct_status nav_data_theta(const nav_data *data, double lower, double upper, ct_theta **out, ct_err *err);

/* ---- Book -------------------------------------------------------------------------------------- */

#define BOOK_STATEMENTS 16

/* Something that was demanded of the numbers. */
typedef struct {
    char what[320], where[1600];
    int  holds;
} document_statement;

/* What a study writes, told once: the page and the Markdown file are filled side by side, from top to bottom. The
 * first thing that goes wrong is kept, and what is said after it does nothing. */
typedef struct {
    const char     *out, *study;
    ct_page        *page;
    cli_buffer        markdown;
    int             statements;
    document_statement  statement[BOOK_STATEMENTS];
    json_t         *files;
    ct_status       status;
    ct_err          err;
} document;

void document_open(document *b, const reproduce_request *request, const char *title, const char *subtitle);
void document_section(document *b, const char *id, const char *heading);
void document_text(document *b, const char *fmt, ...) CT_PRINTF(2, 3);
void document_warn(document *b, const char *fmt, ...) CT_PRINTF(2, 3);
ct_table *document_new_table(const char *title); /* or the end of the program */
void      document_table(document *b, ct_table *table);                   /* frees it */
void      document_csv(document *b, ct_table *table, const char *suffix); /* OUT/STUDY<suffix>.csv; frees it */
void      document_plot(document *b, const ct_plot *plot);                /* also OUT/<id>.svg */
void      document_scene(document *b, const ct_scene *scene);             /* also OUT/<id>.svg, the still picture */
/* where: the rows it rests on, or those where it is not so. */
void document_state(document *b, int holds, const char *where, const char *fmt, ...) CT_PRINTF(4, 5);
/* The statements so far, as a section. */
void document_demands(document *b);
/* Writes page and Markdown. */
void document_close(document *b, const reproduce_request *request);
void document_free(document *b);

/* ---- Tally ------------------------------------------------------------------------------------- */

/* Rows where something that was demanded is not so, or the one that comes nearest to that. */
typedef struct {
    char   bad[1400], worst[160];
    int    rows, misses;
    double most;
} tally;

tally tally_new(void);
/* A row, with how far it is from what is demanded: above `limit` it is a miss. NaN: there is no such row. */
void tally_count(tally *t, double value, double limit, const char *fmt, ...) CT_PRINTF(4, 5);
/* Its statement, unless it has no rows. */
void tally_state(const tally *t, document *b, const char *what);

/* ---- Studies ----------------------------------------------------------------------------------- */

typedef struct {
    const cli_io            *io;
    const reproduce_request *request;
    int                      methods; /* those asked for: 0, all of the study's */
    const method_preset        *method[24];
    document                     document;
    cli_progress                  bar;
    char                     what[128]; /* is being done, for the bar */
    double                   cost;      /* of that, in its units       */
    /* learners judge runs that they hold out step by step, as tests are */
    int                      stepwise;
    /* at most, of methods that see values alone; 0: as many as they want */
    int                      evaluations;
    /* of those under way */
    int                      told;
    /* verdicts without NEES and conditioning */
    int                      plain;
    int                      tables;
    ct_table                *shown[4];  /* what is printed on stdout, before the statements: owned */
} reproduce_job;

typedef struct {
    const char *name;
    const char *methods;        /* that take part, as --methods has them    */
    int         seeds;          /* does it take --seeds                     */
    cli_exit  (*rows)(const cli_io *io, const char *list); /* are these rows of it? NULL: it takes no --rows */
    ct_status (*run)(reproduce_job *job, ct_err *err); /* CT_OK also after Ctrl-C, with what is done */
} reproduce_study;

extern const reproduce_study reproduce_nav2d, reproduce_runtime, reproduce_init, reproduce_samples, reproduce_push2d;

/* Is printed on stdout at the end; owns the table. */
void reproduce_show(reproduce_job *job, ct_table *table);
/* Is that one asked for? */
int reproduce_wants(const reproduce_job *job, const char *key);
/* Learn as `who` does; tests are judged step by step. Learning starts from runs->start, or from the closed form
 * where that is the method's way. */
ct_status reproduce_try(reproduce_job *job, const method_preset *who, const reproduce_runs *runs, const ct_theta *theta,
                        int trace, ct_trial *out, ct_err *err);
/* How a table does on runs: those for tests as above, those for training as learning sees them. */
ct_status reproduce_judge(reproduce_job *job, int training, const reproduce_runs *runs, const ct_noise *noise,
                          ct_summary *out, ct_err *err);
/* The options of every evaluation of a study: incremental, with jobs and Ctrl-C. */
ct_evaluate_options reproduce_evaluation(reproduce_job *job);
/* The inference of the outer problem: batch, from the truth. */
ct_inference reproduce_from_truth(void);

/* ---- The paper --------------------------------------------------------------------------------- */

#define PAPER_DATASETS 4
#define PAPER_BOUNDS   2 /* loose, tight */

extern const char *const paper_bounds[PAPER_BOUNDS];
/* "D1/loose,D3/tight" into row[][], of `count` names each under both bounds; NULL: all. Returns where it is not
 * understood, or NULL. */
const char *reproduce_rows(const char *list, int count, const char *const name[], int row[][PAPER_BOUNDS]);

/* Table I: test rmse of a method by its key ("initial", "leo", "nelder-mead", "powell", "fw"), NaN where the paper
 * has none. which: 0 translation (m), 1 rotation (rad). */
double paper_nav2d(const char *key, int dataset, int tight, int which);

#define PAPER_PUSHES          4 /* ellipse by the noisy oracle and by the network, rectangle by both */
#define PAPER_PUSH_QUANTITIES 4 /* translation and rotation of the end-effector, then of the object  */

/* Table II: the same of pushing, in cm and rad. Table III: the spread of what its own method learned. */
double paper_push2d(const char *key, int push, int tight, int which);
double paper_push2d_spread(int push, int tight);

#endif
