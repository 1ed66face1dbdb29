/* plot.h: what the parts of a plot share. A plot is CT__PLOT_WIDTH units wide and scales with its place: at 360
 * pixels, a telephone's, letters of 13 units are still 9.75 high.
 *
 *   plot.c         ranges, margins, the whole
 *   plot_axes.c    ticks, names, grid, labels
 *   plot_marks.c   series
 *   plot_legend.c  legends, in a page and in a file of its own
 *   plot_style.c   roles: colours, dashes, markers
 *   scene.c        scenes: plots whose marks are bodies that move (scene_bodies.c)
 */
#ifndef CT_REPORT_PLOT_H
#define CT_REPORT_PLOT_H

#include "page/ticks.h"

#include <covtune/page.h>
#include <math.h>

#define CT__PLOT_WIDTH   480
#define CT__PLOT_SMALL   320   /* the width of small ones, which have letters as large */
#define CT__PLOT_FONT    13    /* units, of all letters */
/* what is beyond that, or below 1 / that, has no part in a range: lengths would overflow */
#define CT__PLOT_LARGEST 1e300

/* From values to units: at + length (f(v) - f(low)) / (f(high) - f(low)), f the identity or log10. */
typedef struct {
    double low, high, at, length;
    int    log;
} ct__axis;

typedef struct {
    const ct_plot  *plot;
    const ct_scene *scene; /* NULL: none; else drawn in place of the series, which are its legend and its corners */
    ct__axis       x, y;  /* y.length is negative: up */
    ct__ticks      x_ticks, y_ticks;
    double         left, top, width, height; /* of the frame                             */
    double         units;                    /* width of all                             */
    double         total;                    /* height of all, without title and legend  */
    double         tolerance;                /* of thinned lines                         */
    int            page;                     /* in a page, which has style, title and legend in HTML */
    int            turned, every;            /* names: on a slant; every how manyth      */
    int            empty;                    /* nothing to be shown                      */
    const char    *id;                       /* in the page, or "plot"                   */
    ct__text      *out;
} ct__plot;

/* A style for pages and files alike: colours by role in light and dark, lines, letters. */
extern const char *const ct__plot_style;

/* Role: the colour on white, for programs that know no custom properties; the dash, NULL: none. */
const char *ct__role_colour(ct_role role);
const char *ct__role_dash(ct_role role);
/* Colours of CT_MARK_GRADED, from low to high values: fainter to stronger against their background. */
#define CT__GRADES 8
const char *ct__grade_colour(int grade);
/* Marker of a role: bit 0 square, bit 1 hollow. */
int ct__role_marker(ct_role role);
/* Does a line have dots? Lines with error bars do, and those of compared things while their points are few. */
static inline int ct__plot_dotted(const ct_series *s)
{
    return s->mark == CT_MARK_LINE && (s->spread || (s->role >= CT_ROLE_FIRST && s->count <= 24));
}

/* NaN where there is no place: not finite, or not positive on a logarithmic axis. Places far outside are brought
 * nearer. */
double ct__axis_place(const ct__axis *axis, double value);

/* Units that a text is wide, about: for margins and wrapping. */
double ct__plot_letters(const char *text);

void ct__plot_number(ct__text *out, double value); /* a coordinate: two decimals at most */

/* Begins a path of dots, up to the quote of its d: large, small, or the insides of hollow ones. */
typedef enum { CT__DOTS, CT__DOTS_MANY, CT__DOTS_INSIDE } ct__dots;
void ct__plot_open_dots(ct__text *out, int marker, ct__dots kind);

void ct__plot_axes(ct__plot *p);
void ct__plot_series(ct__plot *p);
/* A line through x, y of a series, broken where one is NaN: where something went. */
void ct__plot_way(ct__plot *p, const ct_series *s);
/* The legend in SVG, from height y on; returns the height where it ends. draw 0: nothing is written. */
double ct__plot_legend(ct__plot *p, double y, int draw);
void   ct__plot_legend_html(ct__plot *p);

/* A <figure> of a page, and a file of its own; plot, scene, id and out are said. */
void ct__plot_html(ct__plot *p);
void ct__plot_svg(ct__plot *p);
void ct__scene_html(const ct_scene *scene, const char *id, ct__text *out);
/* What a scene's script has to know of all bodies; the bodies. */
void ct__scene_attributes(const ct__plot *p);
void ct__scene_bodies(ct__plot *p);

/* The frame, the axes and what is on them: everything but the writing. For tests as well. */
void ct__plot_layout(ct__plot *p);

#endif
