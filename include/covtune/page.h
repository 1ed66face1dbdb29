/* covtune/page.h: results for people: tables, plots, pages.
 *
 *   ct_table    numbers in rows: text for a terminal, CSV, JSON, Markdown, HTML
 *   ct_plot     pictures: SVG that reads well light, dark and printed
 *   ct_scene    bodies that move: a moving picture in a page, a still one in a file
 *   ct_page     all of these and words in one HTML file that needs nothing else
 */
#ifndef COVTUNE_PAGE_H
#define COVTUNE_PAGE_H

#include <covtune/base.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Tables ---------------------------------------------------------------------------------- */

/* Built cell by cell, left to right; texts are copied. No memory while building, or a call that does not fit, is
 * remembered, and said by whoever prints it. Names may be any bytes: in what is printed they are text and nothing
 * else, those that are no UTF-8, and control characters, a question mark (CSV has them as they are). */
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
/* A column: key as CSV and JSON have it, no other's; heading and unit (may be NULL) as people read it. digits:
 * numbers are shown to so many significant ones, or whole if all of the column are; 0: text, set to the left. Before
 * the first row. */
void ct_table_column(ct_table *table, const char *key, const char *heading, const char *unit, int digits);
/* A new row; cells that are not said stay empty. rule: a line above it, where the format has any. */
void ct_table_row(ct_table *table, int rule);
void ct_table_text(ct_table *table, const char *fmt, ...) CT_PRINTF(2, 3);
void ct_table_number(ct_table *table, double value); /* NaN: empty; in JSON what is not finite is null */
/* "1.23 +- 0.04": CSV and JSON have the deviation in a column of its own, key_sd, which every column has that such a
 * cell was put into. */
void ct_table_deviation(ct_table *table, double value, double deviation);
/* The cell said last stands out: 1 the best of its kind, 2 a warning, 0 neither. Text has "*" and "!" behind it, and
 * a line below that says so; CSV and JSON do not say it. */
void ct_table_mark(ct_table *table, int mark);
/* A line below the table, for people; CSV and JSON do not have it. */
void ct_table_note(ct_table *table, const char *fmt, ...) CT_PRINTF(2, 3);

int32_t ct_table_rows(const ct_table *table);
/* width: columns of the terminal, for text: long cells are wrapped, and columns that find no room go below; 0: as
 * wide as it is. out stays open, and its owner sees whether all was written. */
ct_status ct_table_print(const ct_table *table, ct_table_format format, int width, FILE *out, ct_err *err);
/* The same as a string, which the caller frees; NULL on failure. */
ct_status ct_table_string(const ct_table *table, ct_table_format format, int width, char **out, ct_err *err);
/* The same into a file, replaced whole or not at all. */
ct_status ct_table_write(const ct_table *table, ct_table_format format, const char *path, ct_err *err);

/* ---- Plots ----------------------------------------------------------------------------------- */

/* What a series stands for gives it its colour, line and marker, the same in every picture; those from CT_ROLE_FIRST
 * on are for whatever is compared, told apart also in grey and by people who see fewer colours. */
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
    CT_MARK_GRADED  /* a line whose colour shows `spread`, from value_low to value_high of the plot */
} ct_mark;

typedef struct {
    const char   *label; /* in the legend; NULL: not there                */
    ct_role       role;
    ct_mark       mark;
    int64_t       count;
    const double *x, *y, *spread; /* borrowed; spread may be NULL          */
} ct_series;

typedef struct {
    /* letters, digits and dashes (all else becomes one); of the figure in a page, numbered if it is taken; may be
     * NULL */
    const char      *id;
    const char      *title, *x_label, *y_label;
    const char      *text;  /* what it shows: for those who cannot see it, and in a page below it; may be NULL */
    int              x_log, y_log; /* values that are not positive are left out    */
    int              equal; /* a metre is as long along x as along y: maps         */
    int              zoom;  /* in a page: wheel, pinch and drag; double click back; not with names */
    int              small; /* in a page: three side by side where there is room, not two */
    double           height; /* over width, 0: 0.6, of maps what the series need    */
    double           x_low, x_high, y_low, y_high; /* of the axes; NaN, or low == high: from the series */
    double           value_low, value_high; /* of CT_MARK_GRADED: first and last colour; values beyond have these */
    int32_t          count;
    const ct_series *series;
    const char *const *x_names; /* NULL, or names of x = 0, 1, ...: then ticks are these */
    int32_t          names;
} ct_plot;

/* An SVG file of its own, 480 units wide, with its own colours for light and dark. Lines of more than 2000 points
 * are thinned so that nothing moves by more than a tenth of a unit (of plots that zoom a fiftieth). A plot of
 * nothing says "no data". */
ct_status ct_plot_print(const ct_plot *plot, FILE *out, ct_err *err);
ct_status ct_plot_write(const ct_plot *plot, const char *path, ct_err *err);

/* ---- Scenes ---------------------------------------------------------------------------------- */

/* Bodies carried along by their poses, seen from above. Everything is borrowed until the call returns. */
typedef struct {
    const char   *label;   /* of its role, in the legend: the first that a role has; NULL: none               */
    ct_role       role;
    int32_t       corners; /* of a closed outline, in the body's own frame; 0: a disc                         */
    const double *outline; /* x, y of each corner                                                             */
    double        radius;  /* of a disc; 0: a dot that is as large at any scale                               */
    const double *pose;    /* x, y, yaw (rad) of every frame; one that is not finite: it is not there then  */
} ct_scene_body;

typedef struct {
    const char     *id, *title, *text, *x_label, *y_label; /* as of plots                                      */
    int32_t         frames;
    int32_t         stride; /* steps from a frame to the next, for the number that is shown; 0: 1              */
    const double   *time_s; /* of every frame; NULL: not said                                                  */
    const uint8_t  *cut;    /* of every frame: 1 if bodies may have jumped before it, and ways are broken; NULL: none */
    int32_t         ghosts; /* frames of the still picture, evenly from the first to the last; 0: 4            */
    int32_t         count;
    const ct_scene_body  *body;   /* those that come later lie above                                                 */
} ct_scene;

/* The still picture: an SVG file as a plot's, a metre as long along x as along y, with the ghosts, of which later
 * ones are stronger, and the way of each body's origin. A scene of nothing says "no data". */
ct_status ct_scene_print(const ct_scene *scene, FILE *out, ct_err *err);
ct_status ct_scene_write(const ct_scene *scene, const char *path, ct_err *err);

/* ---- Pages ----------------------------------------------------------------------------------- */

/* One HTML file: style and script inside, nothing is fetched, and a policy in it forbids to. Built from top to
 * bottom; texts are plain (escaped), copied. No memory while building, or a call that does not fit, is remembered,
 * and said by ct_page_write. */
typedef struct ct_page ct_page;

ct_status ct_page_new(const char *title, const char *subtitle, ct_page **out, ct_err *err); /* subtitle may be NULL */
void      ct_page_free(ct_page *page);
/* A section with its place in the contents; id as for plots. */
void ct_page_section(ct_page *page, const char *id, const char *heading);
void ct_page_heading(ct_page *page, const char *heading); /* inside a section */
void ct_page_text(ct_page *page, const char *fmt, ...) CT_PRINTF(2, 3); /* an empty line ends a paragraph */
void ct_page_warn(ct_page *page, const char *fmt, ...) CT_PRINTF(2, 3); /* a sentence that must not be overlooked */
void ct_page_code(ct_page *page, const char *text); /* a command, with a button that copies it */
/* The answer that the page is about, in a box whose colour shows it: a headline, then paragraphs of text. */
typedef enum { CT_VERDICT_BETTER, CT_VERDICT_WORSE, CT_VERDICT_OPEN } ct_verdict;
void ct_page_verdict(ct_page *page, ct_verdict verdict, const char *headline, const char *fmt, ...) CT_PRINTF(4, 5);
/* A number to be seen first: "test translation", "0.176 m", "0.71 m before". Those said one after the other stand
 * side by side. remark may be NULL. */
void ct_page_tile(ct_page *page, const char *label, const char *value, const char *remark);
void ct_page_table(ct_page *page, const ct_table *table);
/* several, side by side where there is room, until something else comes */
void ct_page_plot(ct_page *page, const ct_plot *plot);
/* Among plots, and as one that zooms: with a slider and a button that plays, which nothing but a click does. Poses
 * are kept to a fiftieth of a unit, 6 bytes or so a body and frame. Without script, and in print, it is the still
 * picture. */
void ct_page_scene(ct_page *page, const ct_scene *scene);
/* One of several things at a time, chosen by name: what follows ct_page_choice(page, i), i rising, up to the next is
 * shown with choice i. The first is shown at the start; without script, and in print, all are. Neither sections nor
 * other choices begin inside. */
void ct_page_choices(ct_page *page, const char *id, const char *label, int32_t count, const char *const name[]);
void ct_page_choice(ct_page *page, int32_t i);
void ct_page_choices_end(ct_page *page);
/* Writes it, replaced whole or not at all. */
ct_status ct_page_write(const ct_page *page, const char *path, ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
