/* plot_legend.c: the legend below a plot. In a page it is HTML, which wraps by itself; its entries switch series on and
 * off. In a file it is drawn. */
#include "page/plot.h"
#include "base/base.h"

#define SAMPLE 24 /* units of a sample  */
#define ROW    20 /* from line to line  */

static void put_dot(ct__plot *p, int marker, ct__dots kind, int x, int y)
{
    ct__plot_open_dots(p->out, marker, kind);
    ct__text_printf(p->out, "M%d %dh0\"/>", x, y);
}

/* A sample of a series, SAMPLE wide, about height y. */
static void put_sample(ct__plot *p, const ct_series *s, int x, int y)
{
    const char *colour = ct__role_colour(s->role), *dash = ct__role_dash(s->role);
    const int marker = ct__role_marker(s->role), filled = s->mark == CT_MARK_BAND || s->mark == CT_MARK_BARS,
              dots = s->mark == CT_MARK_POINTS || ct__plot_dotted(s);
    ct__text_printf(p->out, "<g class=\"k%d\" fill=\"none\" stroke=\"%s\">", (int)s->role, colour);
    if (s->mark == CT_MARK_GRADED || s->mark == CT_MARK_CELLS)
        for (int grade = 0; grade < CT__GRADES; grade++)
            ct__text_printf(p->out, "<path class=\"l graded g%d\" stroke=\"%s\" d=\"M%d %dh%d\"/>", grade,
                            ct__grade_colour(grade), x + grade * SAMPLE / CT__GRADES, y, SAMPLE / CT__GRADES);
    else if (filled) {
        ct__text_printf(p->out, "<rect class=\"%c\" fill=\"%s\" fill-opacity=\".25\"",
                        s->mark == CT_MARK_BAND ? 'a' : 'b', colour);
        ct__text_printf(p->out, " x=\"%d\" y=\"%d\" width=\"%d\" height=\"10\"/>", x + 2, y - 5, SAMPLE - 4);
    } else if (s->mark != CT_MARK_POINTS) {
        ct__text_put(p->out, "<path class=\"l\" stroke-width=\"1.75\"");
        if (dash) ct__text_printf(p->out, " stroke-dasharray=\"%s\"", dash);
        ct__text_printf(p->out, " d=\"M%d %dh%d\"/>", x + 1, y, SAMPLE - 2);
    }
    if (dots) put_dot(p, marker, CT__DOTS, x + SAMPLE / 2, y);
    if (dots && marker & 2) put_dot(p, marker, CT__DOTS_INSIDE, x + SAMPLE / 2, y);
    ct__text_put(p->out, "</g>");
}

double ct__plot_legend(ct__plot *p, double y, int draw)
{
    double x = 8, bottom = y;
    for (int32_t i = 0; i < p->plot->count; i++) {
        const ct_series *s = &p->plot->series[i];
        if (!s->label) continue;
        const double width = SAMPLE + 6 + ct__plot_letters(s->label);
        if (x > 8 && x + width > p->units - 8) x = 8, y += ROW;
        if (draw) {
            put_sample(p, s, (int)x, (int)y + 12);
            ct__text_printf(p->out, "<text class=\"word\" x=\"%d\" y=\"%d\">", (int)x + SAMPLE + 6, (int)y + 16);
            ct__text_html(p->out, s->label);
            ct__text_put(p->out, "</text>\n");
        }
        x += ceil(width) + 16;
        bottom = y + ROW + 4;
    }
    return bottom;
}

void ct__plot_legend_html(ct__plot *p)
{
    int any = 0;
    for (int32_t i = 0; i < p->plot->count; i++) {
        const ct_series *s = &p->plot->series[i];
        if (!s->label) continue;
        if (!any++) ct__text_put(p->out, "<ul class=\"legend\">\n");
        ct__text_printf(p->out, "<li><button type=\"button\" class=\"key\" data-s=\"%d\">", i);
        ct__text_printf(p->out,
                        "<svg class=\"ct\" viewBox=\"0 0 %d 14\" width=\"%d\" height=\"14\" aria-hidden=\"true\">",
                        SAMPLE, SAMPLE);
        put_sample(p, s, 0, 7);
        ct__text_put(p->out, "</svg><span>");
        ct__text_html(p->out, s->label);
        ct__text_put(p->out, "</span></button></li>\n");
    }
    if (any) ct__text_put(p->out, "</ul>\n");
}
