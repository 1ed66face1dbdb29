/* plot.c: a plot as an SVG file or as a figure of a page. A file has its own style. Colours are also in attributes, for
 * viewers without custom properties. */
#include "page/plot.h"
#include "base/file.h"

#include <string.h>

static void put_attribute(ct__text *out, const char *name, double a, double b)
{
    char low[32], high[32];
    ct__text_printf(out, " data-%s=\"%s %s\"", name, ct__format_double(a, low), ct__format_double(b, high));
}

/* Title and description for screen readers; attributes that zooming reads. */
static void open_svg(ct__plot *p, double above, double height)
{
    const ct_plot *plot = p->plot;
    ct__text      *out = p->out;
    ct__text_printf(out,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ct\" viewBox=\"0 %d %d %d\" role=\"img\" "
                    "aria-labelledby=\"%s-t %s-d\"",
                    -(int)above, (int)p->units, (int)(height + above), p->id, p->id);
    if (!p->page)
        ct__text_printf(out, " width=\"%d\" height=\"%d\"", (int)p->units * 3 / 2, (int)(height + above) * 3 / 2);
    if (p->page && plot->zoom && !p->empty && !plot->x_names) {
        put_attribute(out, "x", p->x.low, p->x.high);
        put_attribute(out, "y", p->y.low, p->y.high);
        ct__text_printf(out, " data-log=\"%d %d\" data-frame=\"", p->x.log, p->y.log);
        const double frame[] = {p->left, p->top, p->width, p->height};
        for (int i = 0; i < 4; i++) ct__text_put(out, i ? " " : ""), ct__plot_number(out, frame[i]);
        ct__text_put(out, "\" data-zoom=\"1\"");
    }
    if (p->page && p->scene && !p->empty) ct__scene_attributes(p);
    ct__text_printf(out, ">\n<title id=\"%s-t\">", p->id);
    ct__text_html(out, plot->title ? plot->title : "Plot");
    ct__text_printf(out, "</title>\n<desc id=\"%s-d\">", p->id);
    ct__text_html(out, plot->text ? plot->text : "");
    ct__text_put(out, "</desc>\n");
}

static void put_body(ct__plot *p)
{
    ct__plot_axes(p);
    if (p->empty) {
        ct__text_put(p->out, "<text class=\"none\" text-anchor=\"middle\" x=\"");
        ct__plot_number(p->out, p->left + p->width / 2);
        ct__text_put(p->out, "\" y=\"");
        ct__plot_number(p->out, p->top + p->height / 2 + 4);
        ct__text_put(p->out, "\">no data</text>\n");
        return;
    }
    ct__plot_series(p);
}

void ct__plot_html(ct__plot *p)
{
    const ct_plot *plot = p->plot;
    ct__text      *out = p->out;
    p->page = 1;
    ct__plot_layout(p);
    ct__text_printf(out, "<figure class=\"plot%s\" id=\"%s\">\n", p->scene ? " scene" : "", p->id);
    if (plot->title) {
        ct__text_put(out, "<h4>");
        ct__text_html(out, plot->title);
        ct__text_put(out, "</h4>\n");
    }
    open_svg(p, 0, p->total);
    put_body(p);
    ct__text_put(out, "</svg>\n");
    ct__plot_legend_html(p);
    if (plot->text) {
        ct__text_put(out, "<figcaption>");
        ct__text_html(out, plot->text);
        ct__text_put(out, "</figcaption>\n");
    }
    ct__text_put(out, "</figure>\n");
}

/* Bytes of a title on one line: up to the last blank that fits, or all. */
static size_t title_line(const char *title)
{
    size_t fits = strlen(title);
    for (size_t n = strcspn(title, " "); n < strlen(title); n += 1 + strcspn(title + n + 1, " ")) {
        char line[256];
        snprintf(line, sizeof line, "%.*s", (int)n, title);
        /* bold, and of 14 units */
        if (fits < strlen(title) && 1.12 * ct__plot_letters(line) > CT__PLOT_WIDTH - 8) break;
        fits = n;
    }
    return 1.12 * ct__plot_letters(title) > CT__PLOT_WIDTH - 8 ? fits : strlen(title);
}

/* A title above height 0, in as many lines as needed. Returns its height. */
static double put_title(const char *title, int draw, ct__text *out)
{
    int lines = 0;
    for (const char *p = title; *p; lines++) p += title_line(p), p += strspn(p, " ");
    for (int i = 0; draw && i < lines; i++) {
        const size_t n = title_line(title);
        ct__text     line = {0};
        ct__text_bytes(&line, title, n);
        if (line.failed) out->failed = 1;
        ct__text_printf(out, "<text class=\"head\" x=\"2\" y=\"%d\">", -10 - 18 * (lines - 1 - i));
        if (!line.failed) ct__text_html(out, line.bytes);
        ct__text_put(out, "</text>\n");
        ct__text_free(&line);
        title += n, title += strspn(title, " ");
    }
    return 12 + 18 * lines;
}

void ct__plot_svg(ct__plot *p)
{
    const ct_plot *plot = p->plot;
    ct__text      *out = p->out;
    ct__plot_layout(p);
    const double above = plot->title ? put_title(plot->title, 0, out) : 6, height = ct__plot_legend(p, p->total, 0) + 6;
    open_svg(p, above, height);
    ct__text_printf(
        out, "<style>\n%s</style>\n<rect class=\"bg\" fill=\"#ffffff\" x=\"0\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n",
        ct__plot_style, -(int)above, (int)p->units, (int)(height + above));
    /* for viewers without CSS */
    ct__text_printf(out, "<g font-family=\"sans-serif\" font-size=\"%d\" fill=\"#5a626c\">\n", CT__PLOT_FONT);
    if (plot->title) put_title(plot->title, 1, out);
    put_body(p);
    ct__plot_legend(p, p->total, 1);
    ct__text_put(out, "</g>\n</svg>\n");
}

ct_status ct_plot_print(const ct_plot *plot, FILE *out, ct_err *err)
{
    ct__text text = {0};
    ct__plot p = {.plot = plot, .id = "plot", .out = &text};
    ct__plot_svg(&p);
    const ct_status status = ct__text_write(&text, out, err);
    ct__text_free(&text);
    return status;
}

ct_status ct_plot_write(const ct_plot *plot, const char *path, ct_err *err)
{
    ct__text text = {0};
    ct__plot p = {.plot = plot, .id = "plot", .out = &text};
    ct__plot_svg(&p);
    const ct_status status = ct__text_save(&text, path, err);
    ct__text_free(&text);
    return status;
}
