/* covtune/page.h: tables, plots and HTML pages.
 *
 *   ct_table    rows of cells: text for a terminal, CSV, JSON, Markdown, HTML
 *   ct_plot     plots: SVG for light and dark screens and for print
 *   ct_scene    bodies that move: an animation in a page, a still picture in a file
 *   ct_page     all of these and text in one self-contained HTML file
 */
#ifndef COVTUNE_PAGE_H
#define COVTUNE_PAGE_H

#include <covtune/base.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Built cell by cell, left to right. Texts are copied. A failed allocation or a misused call is recorded; the function
 * that prints the table returns it. Names may be any bytes. Output escapes them; bytes that are not UTF-8 and control
 * characters become question marks (CSV keeps them). */
typedef struct ct_table ct_table;

/* X(constant, name, what it is) */
#define CT_TABLE_LIST(X)                                                                                   \
    X(CT_TABLE_TEXT, "text", "columns of text, for a terminal or a file")                                  \
    X(CT_TABLE_CSV, "csv", "comma-separated, a line of keys first; numbers to 17 digits")                  \
    X(CT_TABLE_JSON, "json", "an array of objects, by the columns' keys; numbers to 17 digits")            \
    X(CT_TABLE_MARKDOWN, "markdown", "a Markdown table")

typedef enum {
#define X(constant, name, what) constant,
    CT_TABLE_LIST(X)
#undef X
    CT_TABLE_COUNT
} ct_table_format;

const char *ct_table_format_name(ct_table_format format);
int         ct_table_format_find(const char *name); /* a ct_table_format, or -1 */

ct_status ct_table_new(const char *title, ct_table **out, ct_err *err); /* title may be NULL */
void      ct_table_free(ct_table *table);
/* Add a column, before the first row. key: its name in CSV and JSON, unique. heading and unit (may be NULL): for
 * people. digits: significant digits of numbers; a column of integers is shown whole. 0: text, aligned left. */
void ct_table_column(ct_table *table, const char *key, const char *heading, const char *unit, int digits);
/* A new row; cells that are not set stay empty. rule: a line above it, where the format has lines. */
void ct_table_row(ct_table *table, int rule);
void ct_table_text(ct_table *table, const char *fmt, ...) CT_PRINTF(2, 3);
void ct_table_number(ct_table *table, double value); /* NaN: empty; in JSON what is not finite is null */
/* "1.23 +- 0.04". CSV and JSON have the deviation in a column of its own, key_sd. */
void ct_table_deviation(ct_table *table, double value, double deviation);
/* Mark the last cell: 1 best, 2 warning, 0 neither. Text appends "*" and "!" and explains them below. CSV and JSON do
 * not have marks. */
void ct_table_mark(ct_table *table, int mark);
/* A line below the table. CSV and JSON do not have it. */
void ct_table_note(ct_table *table, const char *fmt, ...) CT_PRINTF(2, 3);

int32_t ct_table_rows(const ct_table *table);
/* width: columns of the terminal, for text. Long cells are wrapped; columns without room go into a second block below.
 * 0: no limit. out stays open; the caller checks it for write errors. */
ct_status ct_table_print(const ct_table *table, ct_table_format format, int width, FILE *out, ct_err *err);
/* The same as a string, which the caller frees; NULL on failure. */
ct_status ct_table_string(const ct_table *table, ct_table_format format, int width, char **out, ct_err *err);
/* The same into a file, replaced atomically. */
ct_status ct_table_write(const ct_table *table, ct_table_format format, const char *path, ct_err *err);

/* ---- Plots ----------------------------------------------------------------------------------- */

/* The role of a series fixes its colour, dash and marker in every plot. Roles from CT_ROLE_FIRST on are for things that
 * are compared. All differ in grey and for colour-blind readers as well. */
typedef enum {
    CT_ROLE_TRUTH,
    CT_ROLE_BEFORE,
    CT_ROLE_AFTER,
    CT_ROLE_QUIET,
    CT_ROLE_FIRST,
    CT_ROLE_COUNT = CT_ROLE_FIRST + 12
} ct_role;

typedef enum {
    CT_MARK_LINE,   /* y over x; a NaN breaks it; with spread, dots and bars too  */
    CT_MARK_STEPS,  /* the same, held until the next x                            */
    CT_MARK_POINTS, /* dots, with a bar from y - spread to y + spread if given    */
    CT_MARK_BARS,   /* from 0 (log: the axis) to y, x[i] to x[i + 1]: count + 1 x */
    CT_MARK_BAND,   /* between y - spread and y + spread                          */
    CT_MARK_GRADED, /* a line whose colour shows `spread`, from value_low to value_high of the plot */
    CT_MARK_CELLS   /* unit squares about x, y whose colour shows `spread` likewise: a heat map     */
} ct_mark;

typedef struct {
    const char   *label; /* in the legend; NULL: not there                */
    ct_role       role;
    ct_mark       mark;
    int64_t       count;
    const double *x, *y, *spread; /* borrowed; spread may be NULL          */
} ct_series;

typedef struct {
    /* of the figure in a page: letters, digits and dashes; other characters become dashes. A number is appended if it
     * is taken. May be NULL */
    const char      *id;
    const char      *title, *x_label, *y_label;
    const char      *text;  /* caption; also the description for screen readers; may be NULL */
    int              x_log, y_log; /* values that are not positive are omitted     */
    int              equal; /* equal scale of x and y, for maps                    */
    int              zoom;  /* in a page: zoom by wheel, pinch and drag; double click resets; not with names */
    int              small; /* in a page: three in a row instead of two */
    double           height; /* height / width; 0: 0.6, for maps from the series */
    double           x_low, x_high, y_low, y_high; /* of the axes; NaN, or low == high: from the series */
    double           value_low, value_high; /* CT_MARK_GRADED: values of the first and last colour */
    int32_t          count;
    const ct_series *series;
    const char *const *x_names; /* NULL, or labels of x = 0, 1, ..., in place of ticks */
    int32_t          names;
} ct_plot;

/* An SVG file, 480 units wide, with colours for light and dark. Lines of more than 2000 points are decimated with an
 * error of at most a tenth of a unit (a fiftieth for plots that zoom). A plot without data shows "no data". */
ct_status ct_plot_print(const ct_plot *plot, FILE *out, ct_err *err);
ct_status ct_plot_write(const ct_plot *plot, const char *path, ct_err *err);

/* ---- Scenes ---------------------------------------------------------------------------------- */

/* Bodies that move along their poses, seen from above. Everything is borrowed until the call returns. */
typedef struct {
    const char   *label;   /* in the legend; the first label of a role counts; NULL: none                     */
    ct_role       role;
    int32_t       corners; /* of a closed outline, in the body's own frame; 0: a disc                         */
    const double *outline; /* x, y of each corner                                                             */
    double        radius;  /* of a disc; 0: a dot of constant size on the screen                              */
    const double *pose;    /* x, y, yaw (rad) of every frame; not finite: the body is absent in that frame    */
} ct_scene_body;

typedef struct {
    const char     *id, *title, *text, *x_label, *y_label; /* as of plots                                      */
    int32_t         frames;
    int32_t         stride; /* steps from a frame to the next, for the number that is shown; 0 means 1         */
    const double   *time_s; /* of every frame; NULL: not known                                                 */
    const uint8_t  *cut;    /* of every frame: 1 breaks the paths before it, where bodies jump; NULL: none */
    int32_t         ghosts; /* frames in the still picture, evenly from first to last; 0 means 4               */
    int32_t         count;
    const ct_scene_body  *body;   /* later ones are drawn above                                                      */
} ct_scene;

/* The still picture as an SVG file: equal scale of x and y, the ghosts, later ones stronger, and the path of each
 * body's origin. A scene without data shows "no data". */
ct_status ct_scene_print(const ct_scene *scene, FILE *out, ct_err *err);
ct_status ct_scene_write(const ct_scene *scene, const char *path, ct_err *err);

/* ---- Pages ----------------------------------------------------------------------------------- */

/* One HTML file with style and script inside. It fetches nothing; its content security policy forbids it. Built from
 * top to bottom. Texts are plain, escaped and copied. A failed allocation or a misused call is recorded and returned by
 * ct_page_write. */
typedef struct ct_page ct_page;

ct_status ct_page_new(const char *title, const char *subtitle, ct_page **out, ct_err *err); /* subtitle may be NULL */
void      ct_page_free(ct_page *page);
/* A section, listed in the contents; id as for plots. */
void ct_page_section(ct_page *page, const char *id, const char *heading);
void ct_page_heading(ct_page *page, const char *heading); /* inside a section */
void ct_page_text(ct_page *page, const char *fmt, ...) CT_PRINTF(2, 3); /* an empty line ends a paragraph */
void ct_page_warn(ct_page *page, const char *fmt, ...) CT_PRINTF(2, 3); /* a warning */
void ct_page_code(ct_page *page, const char *text); /* a command, with a copy button */
/* A box with a headline and paragraphs; its colour shows the verdict. */
typedef enum { CT_VERDICT_BETTER, CT_VERDICT_WORSE, CT_VERDICT_OPEN } ct_verdict;
void ct_page_verdict(ct_page *page, ct_verdict verdict, const char *headline, const char *fmt, ...) CT_PRINTF(4, 5);
/* A key number: "test translation", "0.176 m", "0.71 m before". Consecutive tiles stand side by side. remark may be
 * NULL. */
void ct_page_tile(ct_page *page, const char *label, const char *value, const char *remark);
void ct_page_table(ct_page *page, const ct_table *table);
/* Consecutive plots stand side by side where there is room. */
void ct_page_plot(ct_page *page, const ct_plot *plot);
/* As a plot that zooms, with a slider and a play button; it does not start by itself. Poses are rounded to a fiftieth
 * of a unit and take about 6 bytes a body and frame. Without script, and in print, it is the still picture. */
void ct_page_scene(ct_page *page, const ct_scene *scene);
/* Alternatives of which one is shown at a time. Content after ct_page_choice(page, i), i ascending, belongs to choice
 * i. The first is shown at the start; without script, and in print, all are. Sections and other choices must not begin
 * inside. */
void ct_page_choices(ct_page *page, const char *id, const char *label, int32_t count, const char *const name[]);
void ct_page_choice(ct_page *page, int32_t i);
void ct_page_choices_end(ct_page *page);
/* Write the file, replaced atomically. */
ct_status ct_page_write(const ct_page *page, const char *path, ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
