/* reproduce.h: the parts of `covtune reproduce`, which repeats the paper's studies.
 *
 *   reproduce.c   options, the table of studies      document.c      what a study writes: CSV, Markdown, SVG, HTML
 *   claims.c      claims, row by row                 paper_values.c  the paper's numbers
 *   NAME.c        a study each
 *
 * Cells are computed by studies/study_grid.c. */
#ifndef CT_CLI_REPRODUCE_H
#define CT_CLI_REPRODUCE_H

#include "studies/nav_data.h"
#include "cli/common/cli.h"

/* What was asked for. */
typedef struct {
    const char *study, *out, *rows, *methods;
    int         quick, seeds, force, jobs; /* seeds: 0 the study's own */
} reproduce_request;

/* ---- Document -------------------------------------------------------------------------------------- */

#define DOCUMENT_STATEMENTS 16

/* A claim about the numbers of a study, and whether it holds. */
typedef struct {
    char what[320], where[1600];
    int  holds;
} document_statement;

/* The page and the Markdown file are filled together, from top to bottom. The first error is kept; later calls do
 * nothing. */
typedef struct {
    const char     *out, *study;
    int             quick;
    ct_page        *page;
    cli_buffer        markdown;
    int             statements;
    document_statement  statement[DOCUMENT_STATEMENTS];
    json_t         *files;
    ct_status       status;
    ct_err          err;
} document;

void document_open(document *b, const reproduce_request *request, const char *title, const char *subtitle);
void document_section(document *b, const char *id, const char *heading);
void document_text(document *b, const char *fmt, ...) CT_PRINTF(2, 3);
void document_warn(document *b, const char *fmt, ...) CT_PRINTF(2, 3);
ct_table *document_new_table(const char *title); /* or the end of the program */
/* A table of data: a column for each word; "$word" has text, the others numbers to 17 digits. */
ct_table *document_new_data(const char *columns);
void      document_table(document *b, ct_table *table);                   /* frees it */
void      document_csv(document *b, ct_table *table, const char *suffix); /* OUT/STUDY<suffix>.csv; frees it */
void      document_plot(document *b, const ct_plot *plot);                /* also OUT/<id>.svg */
void      document_scene(document *b, const ct_scene *scene);             /* also OUT/<id>.svg, the still picture */
/* where: the rows it rests on, or those where it is not so. */
void document_state(document *b, int holds, const char *where, const char *fmt, ...) CT_PRINTF(4, 5);
/* A section of the statements so far. In a quick study it comes last, without red marks. */
void document_claims(document *b);
/* Writes page and Markdown. */
void document_close(document *b, const reproduce_request *request);
void document_free(document *b);

/* ---- Claims ------------------------------------------------------------------------------------- */

/* A claim about all rows: those where it does not hold, or the row nearest to the limit. */
typedef struct {
    char   bad[1400], worst[160];
    int    rows, misses;
    double most;
} claim;

claim claim_new(void);
/* Adds a row. Above `limit` the claim does not hold for it. NaN: there is no such row. */
void claim_row(claim *t, double value, double limit, const char *fmt, ...) CT_PRINTF(4, 5);
/* The statement of the claim, if it has rows. */
void claim_state(const claim *t, document *b, const char *what);

/* ---- Studies ----------------------------------------------------------------------------------- */

typedef struct {
    const cli_io            *io;
    const reproduce_request *request;
    int                      methods; /* those asked for: 0, all of the study's */
    const method_preset        *method[24];
    document                     document;
    cli_progress                  bar;
    grid_runner              runner;  /* of every cell of a study     */
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

/* All of them, ended by NULL: studies/study_table.c. */
#define STUDIES_MAX 16
extern const reproduce_study *const study_table[STUDIES_MAX + 1];

/* Is printed on stdout at the end; owns the table. */
void reproduce_show(reproduce_job *job, ct_table *table);
/* Is that one asked for? */
int reproduce_wants(const reproduce_job *job, const char *key);
/* Runs the grid with job's progress bar. */
ct_status reproduce_grid(reproduce_job *job, const grid *g, ct_err *err);

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
