/* plot_marks.c: series as paths. A series is a group (class "s", k and the number of its role) of paths whose stroke
 * has the same width at any scale:
 *
 *   l lines   a bands   b bars   e bars of points' spread   o dots, strokes of no length with round or square ends
 *   g0 to g7 lines and cells by value                       i their insides, where they are hollow
 *
 * Bands are lowest, then bars, then the rest in the order given. Lines of more than MANY points are decimated. */
#include "page/plot.h"
#include "page/decimate.h"
#include "base/base.h"

#define MANY  2000 /* points of a line that is not decimated; of paths 2     */
#define LONG  250  /* points of a line that has a thinner stroke             */
#define CAP   5    /* units: half the width of an error bar's ends, wider than a dot   */
#define CLOUD 400  /* dots that are smaller and transparent                  */

/* A polyline in units: a part of a series without a gap. */
typedef struct {
    int64_t count;
    double *x, *y;
    int8_t *keep;
} polyline;

static int polyline_new(polyline *r, int64_t most)
{
    *r = (polyline){.x = ct__zalloc(most, sizeof *r->x),
               .y = ct__zalloc(most, sizeof *r->y),
               .keep = ct__zalloc(most, sizeof *r->keep)};
    return r->x && r->y && r->keep;
}

static void polyline_free(polyline *r)
{
    free(r->x);
    free(r->y);
    free(r->keep);
}

static void polyline_add(polyline *r, double x, double y)
{
    r->x[r->count] = x;
    r->y[r->count++] = y;
}

static void put_point(ct__text *out, const char *verb, double x, double y)
{
    ct__text_put(out, verb);
    ct__plot_number(out, x);
    ct__text_put(out, " ");
    ct__plot_number(out, y);
}

/* The polyline as a path, from the first point or (backwards) from the last. A single point is a dot: a stroke of no
 * length. */
static void put_polyline(ct__plot *p, polyline *r, const char *first, int backwards)
{
    if (r->count > (p->scene ? 2 : MANY)) ct__thin(r->count, r->x, r->y, p->tolerance, r->keep);
    else memset(r->keep, 1, (size_t)r->count);
    int64_t put = 0;
    for (int64_t k = 0; k < r->count; k++) {
        const int64_t i = backwards ? r->count - 1 - k : k;
        if (!r->keep[i]) continue;
        put_point(p->out, put++ ? " " : first, r->x[i], r->y[i]);
    }
    if (r->count == 1) ct__text_put(p->out, "h0");
}

static void open_path(ct__plot *p, const char *class, const char *attributes)
{
    ct__text_printf(p->out, "<path class=\"%s\"%s d=\"", class, attributes);
}
static void close_path(ct__plot *p) { ct__text_put(p->out, "\"/>\n"); }

/* ---- marks ---- */

/* Each part without a gap. */
static void put_stretches(ct__plot *p, const ct_series *s, polyline *r)
{
    r->count = 0;
    for (int64_t i = 0; i <= s->count; i++) {
        const double x = i < s->count ? ct__axis_place(&p->x, s->x[i]) : NAN,
                     y = i < s->count ? ct__axis_place(&p->y, s->y[i]) : NAN;
        if (isnan(x) || isnan(y)) {
            put_polyline(p, r, "M", 0);
            r->count = 0;
            continue;
        }
        if (s->mark == CT_MARK_STEPS && r->count) polyline_add(r, x, r->y[r->count - 1]);
        polyline_add(r, x, y);
    }
}

static void put_line(ct__plot *p, const ct_series *s, polyline *r)
{
    char        attributes[80] = "";
    const char *dash = ct__role_dash(s->role);
    if (dash) snprintf(attributes, sizeof attributes, " stroke-dasharray=\"%s\"", dash);
    open_path(p, s->count > LONG ? "l long" : "l", attributes);
    put_stretches(p, s, r);
    close_path(p);
}

void ct__plot_way(ct__plot *p, const ct_series *s)
{
    polyline  r;
    const int ready = polyline_new(&r, s->count);
    open_path(p, "way", " stroke-width=\"1\" stroke-opacity=\".35\"");
    if (ready) put_stretches(p, s, &r);
    else p->out->failed = 1;
    close_path(p);
    polyline_free(&r);
}

void ct__plot_open_dots(ct__text *out, int marker, ct__dots kind)
{
    static const char *const CLASS[] = {"o", "o many", "i"}, *const WIDTH[] = {"6", "3.5", "2.75"};
    const int                square = marker & 1;
    ct__text_printf(out, "<path class=\"%s%s\"%s stroke-width=\"%s\" stroke-linecap=\"%s\" d=\"", CLASS[kind],
                    square ? " square" : "", kind == CT__DOTS_INSIDE ? " stroke=\"#fff\"" : "",
                    square && kind == CT__DOTS ? "5.25" : WIDTH[kind], square ? "square" : "round");
}

static void put_dots(ct__plot *p, const ct_series *s, ct__dots kind)
{
    ct__plot_open_dots(p->out, ct__role_marker(s->role), kind);
    for (int64_t i = 0; i < s->count; i++) {
        const double x = ct__axis_place(&p->x, s->x[i]), y = ct__axis_place(&p->y, s->y[i]);
        if (isnan(x) || isnan(y)) continue;
        put_point(p->out, "M", x, y);
        ct__text_put(p->out, "h0");
    }
    close_path(p);
}

static void put_markers(ct__plot *p, const ct_series *s)
{
    put_dots(p, s, s->count > CLOUD ? CT__DOTS_MANY : CT__DOTS);
    if (ct__role_marker(s->role) & 2 && s->count <= CLOUD) put_dots(p, s, CT__DOTS_INSIDE);
}

/* The place of a value minus or plus its spread; the end of a logarithmic axis if that is not positive. */
static double spread_place(const ct__plot *p, double value)
{
    const double at = ct__axis_place(&p->y, value);
    return isnan(at) && isfinite(value) ? p->top + p->height : at;
}

/* Error bars: upright strokes, and in a path of their own the caps at both ends. */
static void put_spreads(ct__plot *p, const ct_series *s, int caps)
{
    open_path(p, caps ? "e cap" : "e", "");
    for (int64_t i = 0; i < s->count; i++) {
        const double x = ct__axis_place(&p->x, s->x[i]), y = ct__axis_place(&p->y, s->y[i]);
        if (isnan(x) || isnan(y) || !isfinite(s->spread[i])) continue;
        const double end[2] = {spread_place(p, s->y[i] - s->spread[i]), spread_place(p, s->y[i] + s->spread[i])};
        for (int k = 0; caps && s->spread[i] != 0 && k < 2; k++) {
            put_point(p->out, "M", x - CAP, end[k]);
            ct__text_printf(p->out, "h%d", 2 * CAP);
        }
        if (caps) continue;
        put_point(p->out, "M", x, end[0]);
        ct__text_put(p->out, "V");
        ct__plot_number(p->out, end[1]);
    }
    close_path(p);
}

static void put_bars(ct__plot *p, const ct_series *s)
{
    const double zero = p->y.log ? p->top + p->height : ct__axis_place(&p->y, 0);
    open_path(p, "b", " fill-opacity=\".3\"");
    for (int64_t i = 0; i < s->count; i++) {
        const double x = ct__axis_place(&p->x, s->x[i]), end = ct__axis_place(&p->x, s->x[i + 1]),
                     y = ct__axis_place(&p->y, s->y[i]);
        if (isnan(x) || isnan(end) || isnan(y)) continue;
        put_point(p->out, "M", x, zero);
        ct__text_put(p->out, "V");
        ct__plot_number(p->out, y);
        ct__text_put(p->out, "H");
        ct__plot_number(p->out, end);
        ct__text_put(p->out, "V");
        ct__plot_number(p->out, zero);
        ct__text_put(p->out, "z");
    }
    close_path(p);
}

/* Forward along one edge, back along the other. */
static void put_band(ct__plot *p, const ct_series *s, polyline *upper, polyline *lower)
{
    open_path(p, "a", " fill-opacity=\".22\" stroke=\"none\"");
    upper->count = lower->count = 0;
    for (int64_t i = 0; i <= s->count; i++) {
        const double spread = i < s->count ? (s->spread ? s->spread[i] : 0) : NAN,
                     x = i < s->count ? ct__axis_place(&p->x, s->x[i]) : NAN;
        const double high = i < s->count ? spread_place(p, s->y[i] + spread) : NAN,
                     low = i < s->count ? spread_place(p, s->y[i] - spread) : NAN;
        if (!isnan(x) && !isnan(high) && !isnan(low)) {
            polyline_add(upper, x, high);
            polyline_add(lower, x, low);
            continue;
        }
        if (!upper->count) continue;
        put_polyline(p, upper, "M", 0);
        put_polyline(p, lower, "L", 1);
        ct__text_put(p->out, "z");
        upper->count = lower->count = 0;
    }
    close_path(p);
}

/* ---- lines by value ---- */

static int grade(const ct__plot *p, double value)
{
    const double low = p->plot->value_low, high = p->plot->value_high;
    if (!isfinite(value) || !(high > low)) return -1;
    const double at = (value - low) / (high - low) * CT__GRADES;
    return at <= 0 ? 0 : at >= CT__GRADES ? CT__GRADES - 1 : (int)at;
}

/* The colour of the segment from point i to the next, by the mean of its ends; -1: none. */
static int grade_of(const ct__plot *p, const ct_series *s, int64_t i)
{
    return i + 1 >= s->count || !s->spread ? -1 : grade(p, 0.5 * (s->spread[i] + s->spread[i + 1]));
}

/* A path for every colour: neighbouring segments of one colour are one line. */
static void put_graded(ct__plot *p, const ct_series *s, polyline *r)
{
    for (int g = 0; g < CT__GRADES; g++) {
        char class[32], attributes[48];
        snprintf(class, sizeof class, "l graded g%d", g);
        snprintf(attributes, sizeof attributes, " stroke=\"%s\"", ct__grade_colour(g));
        open_path(p, class, attributes);
        r->count = 0;
        for (int64_t i = 0; i + 1 < s->count; i++) {
            const double x[2] = {ct__axis_place(&p->x, s->x[i]), ct__axis_place(&p->x, s->x[i + 1])},
                         y[2] = {ct__axis_place(&p->y, s->y[i]), ct__axis_place(&p->y, s->y[i + 1])};
            const int    mine = grade_of(p, s, i) == g && !isnan(x[0] + x[1] + y[0] + y[1]);
            if (mine && !r->count) polyline_add(r, x[0], y[0]);
            if (mine) polyline_add(r, x[1], y[1]);
            if (mine && i + 2 < s->count) continue;
            if (r->count) put_polyline(p, r, "M", 0);
            r->count = 0;
        }
        close_path(p);
    }
}

static void put_cells(ct__plot *p, const ct_series *s)
{
    for (int g = 0; g < CT__GRADES && s->spread; g++) {
        char class[32], attributes[64];
        snprintf(class, sizeof class, "cell g%d", g);
        snprintf(attributes, sizeof attributes, " stroke=\"none\" fill=\"%s\"", ct__grade_colour(g));
        open_path(p, class, attributes);
        for (int64_t i = 0; i < s->count; i++) {
            const double x[2] = {ct__axis_place(&p->x, s->x[i] - 0.5), ct__axis_place(&p->x, s->x[i] + 0.5)},
                         y[2] = {ct__axis_place(&p->y, s->y[i] - 0.5), ct__axis_place(&p->y, s->y[i] + 0.5)};
            if (grade(p, s->spread[i]) != g || isnan(x[0] + x[1] + y[0] + y[1])) continue;
            put_point(p->out, "M", x[0], y[0]);
            put_point(p->out, "L", x[1], y[0]);
            put_point(p->out, "L", x[1], y[1]);
            put_point(p->out, "L", x[0], y[1]);
            ct__text_put(p->out, "z");
        }
        close_path(p);
    }
}

/* ---- all ---- */

static void put_series(ct__plot *p, int32_t i)
{
    const ct_series *s = &p->plot->series[i];
    const char      *colour = ct__role_colour(s->role);
    polyline         one, two;
    const int        ready = polyline_new(&one, 2 * s->count) & polyline_new(&two, s->count);
    const int        filled = s->mark == CT_MARK_BARS || s->mark == CT_MARK_BAND;
    ct__text_printf(p->out, "<g class=\"s k%d\" data-s=\"%d\" fill=\"%s\" stroke=\"%s\" stroke-width=\"%s\">\n",
                    (int)s->role, i, filled ? colour : "none", colour, filled ? "1" : "1.75");
    if (!ready) p->out->failed = 1;
    else if (s->mark == CT_MARK_BAND) put_band(p, s, &one, &two);
    else if (s->mark == CT_MARK_BARS) put_bars(p, s);
    else if (s->mark == CT_MARK_GRADED) put_graded(p, s, &one);
    else if (s->mark == CT_MARK_CELLS) put_cells(p, s);
    else if (s->mark == CT_MARK_POINTS) {
        for (int caps = 0; s->spread && caps < 2; caps++) put_spreads(p, s, caps);
        put_markers(p, s);
    } else {
        put_line(p, s, &one);
        for (int caps = 0; s->spread && caps < 2; caps++) put_spreads(p, s, caps);
        if (ct__plot_dotted(s)) put_markers(p, s);
    }
    ct__text_put(p->out, "</g>\n");
    polyline_free(&one);
    polyline_free(&two);
}

static int depth(ct_mark mark) { return mark == CT_MARK_BAND ? 0 : mark == CT_MARK_BARS ? 1 : 2; }

void ct__plot_series(ct__plot *p)
{
    ct__text *out = p->out;
    ct__text_printf(out, "<clipPath id=\"%s-c\"><rect x=\"", p->id);
    ct__plot_number(out, p->left - 1);
    ct__text_put(out, "\" y=\"");
    ct__plot_number(out, p->top - 1);
    ct__text_put(out, "\" width=\"");
    ct__plot_number(out, p->width + 2);
    ct__text_put(out, "\" height=\"");
    ct__plot_number(out, p->height + 2);
    ct__text_printf(out, "\"/></clipPath>\n<g clip-path=\"url(#%s-c)\"><g class=\"data\">\n", p->id);
    if (p->scene) ct__scene_bodies(p);
    for (int level = 0; !p->scene && level < 3; level++)
        for (int32_t i = 0; i < p->plot->count; i++)
            if (depth(p->plot->series[i].mark) == level) put_series(p, i);
    ct__text_put(out, "</g></g>\n");
}
