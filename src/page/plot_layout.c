/* plot_layout.c: ranges of the axes and the frame inside its margins. Ranges that are not given are those of the data
 * with a margin. A linear y axis begins at zero if the data come near to it, so that heights can be compared. */
#include "page/plot.h"
#include "base/base.h"

#define MARGIN    0.04    /* of a range, beyond the data                                                */
#define NEAR_ZERO 0.35    /* low < that of high, both positive: the axis begins at 0                    */
#define LEAST     1e-304  /* end of a logarithmic axis; its inverse is a number as well                  */
#define FAR       1e5     /* units: places farther out are clamped; lines to them look the same        */
#define SLANT_SIN 0.57358 /* names on a slant of 35 degrees                                             */
#define SLANT_COS 0.81915
#define NAME_MOST 110     /* units that a name is given                                                 */
#define NAME_SHORT 40     /* units: "0024"                                                              */
#define NAME_LINE (1.1 * CT__PLOT_FONT) /* from line to line of names on a slant                        */

/* ---- places ---- */

double ct__axis_place(const ct__axis *a, double value)
{
    if (!isfinite(value) || (a->log && value <= 0)) return NAN;
    const double decades = a->log ? log10(a->high / a->low) : 0;
    const double f = !a->log             ? (value - a->low) / (a->high - a->low)
                     : isfinite(decades) ? log10(value / a->low) / decades
                                         : (log10(value) - log10(a->low)) / (log10(a->high) - log10(a->low));
    return fmin(fmax(a->at + a->length * f, -FAR), FAR);
}

double ct__plot_letters(const char *text)
{
    double width = 0;
    while (*text) {
        const unsigned long c = ct__text_next(&text);
        if (c < 0x80 && strchr("ijl.,:;|'! ()[]ftI", (int)c)) width += 0.32;
        else if (c < 0x80 && strchr("mwMW@%", (int)c)) width += 1.0;
        else
            width += c >= 'A' && c <= 'Z'   ? 0.68
                     : c >= 0x2e80          ? 1.0
                     : c == 0x2212          ? 0.75
                     : c >= '0' && c <= '9' ? 0.64
                                            : 0.62;
    }
    return width * CT__PLOT_FONT;
}

void ct__plot_number(ct__text *out, double value)
{
    char buf[CT__NUMBER];
    ct__number_fixed(value, 2, buf);
    ct__text_put(out, buf[0] == '0' && buf[1] == '.' ? buf + 1 : buf);
}

/* ---- ranges ---- */

typedef struct {
    double low, high;
} range;

static void widen(range *r, double value, int log)
{
    if (!(fabs(value) <= CT__PLOT_LARGEST) || (log && value < 1 / CT__PLOT_LARGEST)) return;
    r->low = fmin(r->low, value);
    r->high = fmax(r->high, value);
}

static range x_range(const ct_plot *plot)
{
    range r = {INFINITY, -INFINITY};
    for (int32_t s = 0; s < plot->count; s++) {
        const ct_series *t = &plot->series[s];
        const int64_t    n = t->count + (t->mark == CT_MARK_BARS && t->count > 0);
        for (int64_t i = 0; i < n; i++)
            if (t->mark == CT_MARK_BARS || (isfinite(t->y[i]) && (!plot->y_log || t->y[i] > 0)))
                widen(&r, t->x[i], plot->x_log);
    }
    return r;
}

static range y_range(const ct_plot *plot)
{
    range r = {INFINITY, -INFINITY};
    int   zero = 0;
    for (int32_t s = 0; s < plot->count; s++) {
        const ct_series *t = &plot->series[s];
        zero = zero || (t->mark == CT_MARK_BARS && t->count > 0);
        for (int64_t i = 0; i < t->count; i++) {
            const int    graded = t->mark == CT_MARK_GRADED || t->mark == CT_MARK_CELLS;
            const int    bar = t->spread && !graded && isfinite(t->spread[i]);
            const double spread = bar ? fabs(t->spread[i]) : 0;
            if (!isfinite(t->x[i]) || (plot->x_log && t->x[i] <= 0)) continue;
            widen(&r, t->y[i], plot->y_log);
            widen(&r, t->y[i] + spread, plot->y_log);
            widen(&r, t->y[i] - spread, plot->y_log);
        }
    }
    if (zero && r.low <= r.high) widen(&r, 0, plot->y_log);
    return r;
}

/* The ends of an axis: given, or those of the data with a margin (0: none). Never of zero length. */
static range ends(range data, double low, double high, int log, double margin, int from_zero)
{
    const int given = fabs(low) <= CT__PLOT_LARGEST && fabs(high) <= CT__PLOT_LARGEST &&
                      high - low > fmax(1 / CT__PLOT_LARGEST, 1e-12 * fmax(fabs(low), fabs(high))) &&
                      (!log || low >= 1 / CT__PLOT_LARGEST);
    if (given) return (range){low, high};
    if (!(data.low <= data.high)) return log ? (range){1, 10} : (range){0, 1};
    if (log) {
        const double ratio = fmin(data.high / data.low, CT__PLOT_LARGEST); /* of 600 decades there can be */
        const double f = fmax(pow(ratio, margin), ratio < 1.01 ? 2 : 1);
        return (range){fmax(data.low / f, LEAST), fmin(data.high * f, 1 / LEAST)};
    }
    if (from_zero && data.low > 0 && data.low < NEAR_ZERO * data.high) data.low = 0;
    if (from_zero && data.high < 0 && data.high > NEAR_ZERO * data.low) data.high = 0;
    const double size = fmax(fabs(data.low), fabs(data.high)), length = data.high - data.low;
    if (length <= fmax(1e-12 * size, 1 / CT__PLOT_LARGEST)) { /* too short for distinct ticks */
        const double half = size > 1 / CT__PLOT_LARGEST ? 0.1 * size : 0.5;
        return (range){data.low - half, data.high + half};
    }
    return (range){data.low == 0 && from_zero ? 0 : data.low - margin * length,
                   data.high == 0 && from_zero ? 0 : data.high + margin * length};
}

static int has_points(const ct_plot *plot)
{
    int any = 0;
    for (int32_t s = 0; s < plot->count; s++) {
        const ct_series *t = &plot->series[s];
        any = any || t->mark == CT_MARK_POINTS || (t->mark == CT_MARK_LINE && t->spread);
    }
    return any;
}

static void set_ranges(ct__plot *p)
{
    const ct_plot *plot = p->plot;
    range          x = x_range(plot), y = y_range(plot);
    p->empty = !(x.low <= x.high && y.low <= y.high);
    if (plot->x_names && plot->names > 0) x = (range){-0.5, plot->names - 0.5};
    x = ends(x, plot->x_low, plot->x_high, plot->x_log,
             plot->x_names                     ? 0
             : plot->equal || has_points(plot) ? MARGIN
                                               : 0,
             0);
    y = ends(y, plot->y_low, plot->y_high, plot->y_log, MARGIN, !plot->equal);
    p->x = (ct__axis){.low = x.low, .high = x.high, .log = plot->x_log};
    p->y = (ct__axis){.low = y.low, .high = y.high, .log = plot->y_log};
}

/* ---- frame ---- */

static double widest_label(const ct__ticks *ticks)
{
    char   buf[CT__NUMBER];
    double widest = 0;
    for (int i = 0; i < ticks->count; i++) {
        if (ticks->minor[i]) continue;
        ct__ticks_label(ticks, i, buf);
        widest = fmax(widest,
                      ticks->log == 2 ? ct__plot_letters("10") + 0.75 * ct__plot_letters(buf) : ct__plot_letters(buf));
    }
    return widest;
}

static ct__ticks ticks_of(const ct__axis *a, int most)
{
    return a->log ? ct__ticks_log(a->low, a->high, most) : ct__ticks_linear(a->low, a->high, most);
}

/* As many ticks as have room. */
static void set_x_ticks(ct__plot *p)
{
    for (int most = 8; most >= 1; most--) {
        p->x_ticks = ticks_of(&p->x, most);
        int major = 0;
        for (int i = 0; i < p->x_ticks.count; i++) major += !p->x_ticks.minor[i];
        if (p->x_ticks.log || major * (widest_label(&p->x_ticks) + CT__PLOT_FONT) <= p->width) break;
    }
}

/* Names that have no room side by side: of short ones, numbers mostly, every so manyth is shown; longer ones stand on
 * a slant, and of these every so manyth if neighbouring lines of text would touch. Returns the height they take. */
static double place_names(ct__plot *p)
{
    double widest = 0;
    for (int32_t i = 0; i < p->plot->names; i++)
        widest = fmax(widest, fmin(ct__plot_letters(p->plot->x_names[i]), NAME_MOST));
    const double each = p->width / p->plot->names;
    p->turned = widest + 8 > each && widest > NAME_SHORT;
    p->every = CT_MAX(1, (int)ceil((widest + 8) / each));
    if (!p->turned) return CT__PLOT_FONT + 7;
    const double out = SLANT_COS * widest - each / 2 - p->left + 6; /* beyond the left edge */
    if (out > 0) p->left += out, p->width -= out;
    p->every = CT_MAX(1, (int)ceil(NAME_LINE * p->plot->names / (SLANT_SIN * p->width)));
    return SLANT_SIN * widest + CT__PLOT_FONT + 6;
}

/* Both axes get one scale: the one with room left is extended about its middle. */
static void make_equal(ct__plot *p)
{
    const double sx = p->width / (p->x.high - p->x.low), sy = p->height / (p->y.high - p->y.low);
    ct__axis    *longer = sx > sy ? &p->x : &p->y;
    const double middle = (longer->low + longer->high) / 2,
                 half = (longer == &p->x ? p->width : p->height) / fmin(sx, sy) / 2;
    longer->low = middle - half;
    longer->high = middle + half;
}

void ct__plot_layout(ct__plot *p)
{
    const ct_plot *plot = p->plot;
    set_ranges(p);
    /* with rounding, below a tenth of a unit; when zoomed, below a tenth of a pixel */
    p->tolerance = plot->zoom ? 0.02 : 0.09;
    p->every = 1;
    p->units = p->page && plot->small ? CT__PLOT_SMALL : CT__PLOT_WIDTH;
    p->top = plot->y_label && *plot->y_label ? CT__PLOT_FONT + 12 : 10;
    const double label = plot->x_label && *plot->x_label ? CT__PLOT_FONT + 6 : 0;
    double total = p->units * (plot->height > 0 ? fmin(fmax(plot->height, 0.15), 4) : 0.6), below = CT__PLOT_FONT + 9;
    if (plot->equal && plot->height <= 0)
        total =
            fmin(fmax((p->y.high - p->y.low) / (p->x.high - p->x.low) * (p->units - 50), 0.4 * p->units), p->units) +
            p->top + below + label;
    p->total = floor(total);
    p->height = fmax(p->total - p->top - below - label, 40);
    /* labels of y set the margin, the margin the ranges of a map, and those the labels: two rounds */
    for (int round = 0; round < 2; round++) {
        p->y_ticks = ticks_of(&p->y, (int)fmax(p->height / 40, 2));
        /* when zoomed, labels have more digits */
        p->left = ceil(fmax(widest_label(&p->y_ticks) + 9, 22)) + (plot->zoom ? 6 : 0);
        p->width = p->units - p->left - 12;
        if (plot->equal) make_equal(p);
    }
    if (plot->x_names && plot->names > 0) {
        below = place_names(p);
        p->height = fmax(p->total - p->top - below - label, 60);
    }
    p->total = ceil(p->top + p->height + below + label);
    set_x_ticks(p);
    p->x.at = p->left, p->x.length = p->width;
    p->y.at = p->top + p->height, p->y.length = -p->height;
}
