/* plot_axes.c: grid, ticks, names and labels of the axes. Ticks are in groups of their own (xt, yt), which the script
 * of a page fills again when a plot is zoomed. */
#include "page/plot.h"
#include "base/base.h"

#define NAME_MOST 110 /* units for a name on a slant; longer ones are cut */

static void put_at(ct__text *out, double x, double y)
{
    ct__text_put(out, "<text x=\"");
    ct__plot_number(out, x);
    ct__text_put(out, "\" y=\"");
    ct__plot_number(out, y);
    ct__text_put(out, "\"");
}

/* Lines across the frame, at the major or the minor ticks. */
static void put_grid(ct__plot *p, const ct__ticks *ticks, int vertical, int minor)
{
    int any = 0;
    for (int i = 0; i < ticks->count; i++) {
        if (ticks->minor[i] != minor) continue;
        const double at = ct__axis_place(vertical ? &p->x : &p->y, ticks->value[i]);
        if (!any++) ct__text_printf(p->out, "<path class=\"%s\" stroke=\"#eceef1\" d=\"", minor ? "fine" : "grid");
        ct__text_put(p->out, "M");
        ct__plot_number(p->out, vertical ? at : p->left);
        ct__text_put(p->out, " ");
        ct__plot_number(p->out, vertical ? p->top : at);
        ct__text_put(p->out, vertical ? "v" : "h");
        ct__plot_number(p->out, vertical ? p->height : p->width);
    }
    if (any) ct__text_put(p->out, "\"/>\n");
}

static void put_tick_label(ct__plot *p, const ct__ticks *ticks, int i, double x, double y)
{
    char buf[CT__NUMBER];
    ct__ticks_label(ticks, i, buf);
    put_at(p->out, x, y);
    if (ticks->log == 2) ct__text_printf(p->out, ">10<tspan dy=\"-5\" font-size=\"75%%\">%s</tspan></text>\n", buf);
    else ct__text_printf(p->out, ">%s</text>\n", buf);
}

static void put_x_ticks(ct__plot *p)
{
    const double y = p->top + p->height + CT__PLOT_FONT + 5;
    ct__text_put(p->out, "<g class=\"xt\" text-anchor=\"middle\">\n");
    put_grid(p, &p->x_ticks, 1, 1);
    put_grid(p, &p->x_ticks, 1, 0);
    for (int i = 0; i < p->x_ticks.count; i++) {
        if (p->x_ticks.minor[i]) continue;
        const double at = ct__axis_place(&p->x, p->x_ticks.value[i]);
        put_tick_label(p, &p->x_ticks, i, at, y);
    }
    ct__text_put(p->out, "</g>\n");
}

/* A name, cut in the middle to NAME_MOST units: names of one file differ at their ends. */
static void put_name(ct__text *out, const char *name)
{
    ct__text    cut = {0};
    const char *end = name, *s = name;
    double      width = 0;
    if (ct__plot_letters(name) <= NAME_MOST) {
        ct__text_html(out, name);
        return;
    }
    while (ct__plot_letters(end) > NAME_MOST / 2.0) ct__text_next(&end);
    while (width <= NAME_MOST / 2.0) {
        const char *before = s;
        char        letter[8] = {0};
        ct__text_next(&s);
        memcpy(letter, before, (size_t)(s - before));
        width += ct__plot_letters(letter);
        ct__text_put(&cut, width <= NAME_MOST / 2.0 ? letter : "\342\200\246");
    }
    ct__text_put(&cut, end);
    if (cut.failed) out->failed = 1;
    else if (cut.bytes) ct__text_html(out, cut.bytes);
    ct__text_free(&cut);
}

static void put_names(ct__plot *p)
{
    const double y = p->top + p->height + CT__PLOT_FONT + (p->turned ? 1 : 5);
    ct__text_printf(p->out, "<g class=\"xt\" text-anchor=\"%s\">\n", p->turned ? "end" : "middle");
    for (int32_t i = 0; i < p->plot->names; i += p->every) {
        const double x = ct__axis_place(&p->x, i);
        if (!(x >= p->left && x <= p->left + p->width)) continue;
        put_at(p->out, x + (p->turned ? 4 : 0), y);
        if (p->turned) {
            ct__text_put(p->out, " transform=\"rotate(-35 ");
            ct__plot_number(p->out, x + 4);
            ct__text_put(p->out, " ");
            ct__plot_number(p->out, y);
            ct__text_put(p->out, ")\"");
        }
        ct__text_put(p->out, ">");
        put_name(p->out, p->plot->x_names[i]);
        ct__text_put(p->out, "</text>\n");
    }
    ct__text_put(p->out, "</g>\n");
}

static void put_y_ticks(ct__plot *p)
{
    ct__text_put(p->out, "<g class=\"yt\" text-anchor=\"end\">\n");
    put_grid(p, &p->y_ticks, 0, 1);
    put_grid(p, &p->y_ticks, 0, 0);
    for (int i = 0; i < p->y_ticks.count; i++)
        if (!p->y_ticks.minor[i])
            put_tick_label(p, &p->y_ticks, i, p->left - 7, ct__axis_place(&p->y, p->y_ticks.value[i]) + 4.5);
    ct__text_put(p->out, "</g>\n");
}

/* The label of y stands above its axis, horizontally. */
static void put_labels(ct__plot *p)
{
    const ct_plot *plot = p->plot;
    if (plot->y_label && *plot->y_label) {
        put_at(p->out, 2, CT__PLOT_FONT);
        ct__text_put(p->out, ">");
        ct__text_html(p->out, plot->y_label);
        ct__text_put(p->out, "</text>\n");
    }
    if (plot->x_label && *plot->x_label) {
        put_at(p->out, p->left + p->width / 2, p->total - 5);
        ct__text_put(p->out, " text-anchor=\"middle\">");
        ct__text_html(p->out, plot->x_label);
        ct__text_put(p->out, "</text>\n");
    }
}

void ct__plot_axes(ct__plot *p)
{
    if (!p->empty) put_y_ticks(p);
    if (p->plot->x_names && p->plot->names > 0) put_names(p);
    else if (!p->empty) put_x_ticks(p);
    put_labels(p);
    ct__text_put(p->out, "<path class=\"axis\" stroke=\"#9aa1aa\" d=\"M");
    ct__plot_number(p->out, p->left);
    ct__text_put(p->out, " ");
    ct__plot_number(p->out, p->top + p->height);
    ct__text_put(p->out, "h");
    ct__plot_number(p->out, p->width);
    ct__text_put(p->out, "\"/>\n");
}
