/* plot.h: shared by the parts of a plot. A plot is CT__PLOT_WIDTH units wide and scales with its place. On a phone, at
 * 360 pixels, letters of 13 units are 9.75 pixels high.
 *
 *   plot.c         the figure and the file
 *   plot_layout.c  ranges, margins
 *   plot_axes.c    ticks, names, grid, labels
 *   plot_marks.c   series
 *   plot_legend.c  legends, in a page and in a file
 *   plot_style.c   roles: colours, dashes, markers
 *   scene.c        scenes: plots whose marks are bodies that move (scene_bodies.c)
 */
#ifndef CT_REPORT_PLOT_H
#define CT_REPORT_PLOT_H

#include "page/ticks.h"

#include <covtune/page.h>
#include <math.h>

#define CT__PLOT_WIDTH   480
#define CT__PLOT_SMALL   320   /* width of small plots, whose letters have the same size */
#define CT__PLOT_FONT    13    /* units, of all letters */
/* values beyond this, or below 1 / this, do not count in a range: lengths would overflow */
#define CT__PLOT_LARGEST 1e300

/* From values to units: at + length (f(v) - f(low)) / (f(high) - f(low)), f the identity or log10. */
typedef struct {
    double low, high, at, length;
    int    log;
} ct__axis;

typedef struct {
    const ct_plot  *plot;
    const ct_scene *scene; /* drawn in place of the series, which are its legend and corners; NULL: none */
    ct__axis       x, y;  /* y.length is negative: up */
    ct__ticks      x_ticks, y_ticks;
    double         left, top, width, height; /* of the frame                             */
    double         units;                    /* width of all                             */
    double         total;                    /* height of all, without title and legend  */
    double         tolerance;                /* of thinned lines                         */
    int            page;                     /* in a page: style, title and legend are HTML     */
    int            turned, every;            /* names: on a slant; only every so manyth  */
    int            empty;                    /* no data                                  */
    const char    *id;                       /* in the page, or "plot"                   */
    ct__text      *out;
} ct__plot;

/* CSS of plots in pages and files: colours by role in light and dark, lines, letters. */
extern const char *const ct__plot_style;

/* Colour of a role on white, for viewers without custom properties; dash, NULL: none. */
const char *ct__role_colour(ct_role role);
const char *ct__role_dash(ct_role role);
/* Colours by value (CT_MARK_GRADED, CT_MARK_CELLS), from low to high: fainter to stronger against their background. */
#define CT__GRADES 8
const char *ct__grade_colour(int grade);
/* Marker of a role: bit 0 square, bit 1 hollow. */
int ct__role_marker(ct_role role);
/* Does a line have dots? Lines with error bars do, and those of compared things while their points are few. */
static inline int ct__plot_dotted(const ct_series *s)
{
    return s->mark == CT_MARK_LINE && (s->spread || (s->role >= CT_ROLE_FIRST && s->count <= 24));
}

/* Value to units. NaN if not finite, or not positive on a logarithmic axis. Places far outside are clamped. */
double ct__axis_place(const ct__axis *axis, double value);

/* Approximate width of a text in units, for margins and wrapping. */
double ct__plot_letters(const char *text);

void ct__plot_number(ct__text *out, double value); /* a coordinate: two decimals at most */

/* Begin a path of dots, up to the quote of its d: large, small, or the insides of hollow ones. */
typedef enum { CT__DOTS, CT__DOTS_MANY, CT__DOTS_INSIDE } ct__dots;
void ct__plot_open_dots(ct__text *out, int marker, ct__dots kind);

void ct__plot_axes(ct__plot *p);
void ct__plot_series(ct__plot *p);
/* The path of a body: a line through x, y of a series, broken at NaN. */
void ct__plot_way(ct__plot *p, const ct_series *s);
/* The legend in SVG, from height y on. Returns the height where it ends. draw 0: only measured. */
double ct__plot_legend(ct__plot *p, double y, int draw);
void   ct__plot_legend_html(ct__plot *p);

/* A <figure> of a page, and an SVG file; plot, scene, id and out are set. */
void ct__plot_html(ct__plot *p);
void ct__plot_svg(ct__plot *p);
void ct__scene_html(const ct_scene *scene, const char *id, ct__text *out);
/* Attributes that a scene's script reads; the bodies. */
void ct__scene_attributes(const ct__plot *p);
void ct__scene_bodies(ct__plot *p);

/* Frame, axes and ticks, without writing. Tests call it too. */
void ct__plot_layout(ct__plot *p);

#endif
