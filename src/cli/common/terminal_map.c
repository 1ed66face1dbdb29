/* terminal_map.c: positions of the variables, drawn in characters: braille with 2 x 4 dots, or ' . : in ASCII with 1 x
 * 2 dots. A dot is about square in both. Consecutive poses with a common factor are joined. */
#include "cli/common/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX     24 /* lines of text: fits a screen                */
#define SIDE_BY_SIDE 24 /* columns a map needs to stand beside another */
#define BETWEEN      3  /* blanks between them                         */
#define FAR          1e100 /* m: variables beyond have diverged and are left out */

typedef struct {
    int    axis[2];   /* which coordinates go right and up  */
    double low[3], high[3];
    int    found;     /* there is something to draw         */
} frame;

typedef struct {
    int            columns, rows;        /* of text                  */
    int            dots_x, dots_y;       /* in a character           */
    double         scale;                /* dots per metre           */
    unsigned char *cell;                 /* bit y * dots_x + x: a dot */
} canvas;

/* Position of variable v; 0 if it has none. */
static int place(const ct_graph *g, const double *x, int32_t v, double p[3])
{
    const double *value = x + ct_graph_offset(g, v);
    int           n = 0;
    switch (ct_graph_kind(g, v)) {
    case CT_SE2:
    case CT_R2: n = 2; break;
    case CT_SE3:
    case CT_R3: n = 3; break;
    default: return 0;
    }
    p[2] = 0;
    memcpy(p, value, (size_t)n * sizeof *p);
    return fabs(p[0]) < FAR && fabs(p[1]) < FAR && fabs(p[2]) < FAR;
}

/* The extent of the positions, and the view: along the axis of least extent. */
static frame frame_of(const ct_graph *g, int count, const double *const x[])
{
    frame f = {{0, 1}, {INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, 0};
    for (int k = 0; k < count; k++) {
        for (int32_t v = 0; v < ct_graph_variables(g); v++) {
            double p[3];
            if (!place(g, x[k], v, p)) continue;
            f.found = 1;
            for (int i = 0; i < 3; i++) f.low[i] = fmin(f.low[i], p[i]), f.high[i] = fmax(f.high[i], p[i]);
        }
    }
    int least = 2;
    for (int i = 1; i >= 0; i--)
        if (f.high[i] - f.low[i] < 0.9 * (f.high[least] - f.low[least]))
            least = i; /* z, unless another is clearly thinner */
    f.axis[0] = least == 0 ? 1 : 0;
    f.axis[1] = least == 2 ? 1 : 2;
    return f;
}

static double extent(const frame *f, int side) { return f->high[f->axis[side]] - f->low[f->axis[side]]; }

static void dot(canvas *c, int x, int y)
{
    const int column = x / c->dots_x, row = y / c->dots_y;
    if (column < 0 || row < 0 || column >= c->columns || row >= c->rows) return;
    c->cell[row * c->columns + column] |= (unsigned char)(1u << (y % c->dots_y * c->dots_x + x % c->dots_x));
}

/* From metres to dots, counted from the upper left. */
static void project(const canvas *c, const frame *f, const double p[3], int at[2])
{
    at[0] = (int)lround((p[f->axis[0]] - f->low[f->axis[0]]) * c->scale);
    at[1] = (int)lround((f->high[f->axis[1]] - p[f->axis[1]]) * c->scale);
}

static void line(canvas *c, const int a[2], const int b[2])
{
    const int dx = b[0] - a[0], dy = b[1] - a[1], steps = abs(dx) > abs(dy) ? abs(dx) : abs(dy);
    for (int i = 1; i < steps; i++)
        dot(c, a[0] + (int)lround((double)dx * i / steps), a[1] + (int)lround((double)dy * i / steps));
}

static void draw(canvas *c, const frame *f, const ct_graph *g, const double *x)
{
    double p[3];
    int    a[2], b[2];
    memset(c->cell, 0, (size_t)c->columns * (size_t)c->rows);
    for (int32_t v = 0; v < ct_graph_variables(g); v++) {
        if (!place(g, x, v, p)) continue;
        project(c, f, p, a);
        dot(c, a[0], a[1]);
    }
    for (int32_t i = 0; i < ct_graph_factors(g); i++) {
        const ct_factor factor = ct_graph_factor(g, i);
        if (factor.ops->arity != 2 || abs(factor.var[0] - factor.var[1]) != 1) continue;
        if (!cli_is_pose(factor.ops->kind[0]) || !cli_is_pose(factor.ops->kind[1])) continue;
        if (!place(g, x, factor.var[0], p)) continue;
        project(c, f, p, a);
        if (!place(g, x, factor.var[1], p)) continue;
        project(c, f, p, b);
        line(c, a, b);
    }
}

/* Trailing blanks of the last map are not printed. */
static void print_row(const canvas *c, int row, int last)
{
    static const unsigned char BRAILLE[8] = {0x01, 0x08, 0x02, 0x10, 0x04, 0x20, 0x40, 0x80};
    const unsigned char *cell = c->cell + (ptrdiff_t)row * c->columns;
    int                  columns = c->columns;
    while (last && columns > 0 && !cell[columns - 1]) columns--;
    for (int i = 0; i < columns; i++) {
        const unsigned dots = cell[i];
        unsigned       code = 0;
        if (c->dots_x == 1) {
            putchar(" '.:"[dots & 3]);
            continue;
        }
        for (int k = 0; k < 8; k++) code |= dots >> k & 1 ? BRAILLE[k] : 0;
        if (code) printf("\xe2%c%c", (int)(0xa0 | code >> 6), (int)(0x80 | (code & 0x3f))); /* U+2800 + code */
        else putchar(' ');
    }
}

/* As large as the terminal allows, up to ROWS_MAX lines. */
static canvas canvas_for(const frame *f, int columns)
{
    const int    fine = cli_utf8();
    canvas       c = {.dots_x = fine ? 2 : 1, .dots_y = fine ? 4 : 2};
    const double x = extent(f, 0), y = extent(f, 1);
    c.scale = fmin(x > 0 ? (columns * c.dots_x - 1) / x : INFINITY, y > 0 ? (ROWS_MAX * c.dots_y - 1) / y : INFINITY);
    if (isinf(c.scale)) c.scale = 1; /* all positions are (almost) equal */
    c.columns = (int)lround(x * c.scale) / c.dots_x + 1;
    c.rows = (int)lround(y * c.scale) / c.dots_y + 1;
    return c;
}

void cli_draw_map(const ct_graph *graph, int count, const double *const x[], const char *const title[])
{
    const frame f = frame_of(graph, count, x);
    if (!f.found) {
        printf("(no variable has a position)\n");
        return;
    }
    const int beside = (cli_width() - BETWEEN * (count - 1)) / count, together = beside >= SIDE_BY_SIDE ? count : 1;
    canvas    c[CLI_MAPS];
    for (int k = 0; k < count; k++) {
        c[k] = canvas_for(&f, together > 1 ? beside : cli_width());
        if (c[k].columns < (int)strlen(title[k])) c[k].columns = (int)strlen(title[k]);
        c[k].cell = cli_alloc((int64_t)c[k].columns * c[k].rows, 1);
        draw(&c[k], &f, graph, x[k]);
    }
    for (int first = 0; first < count; first += together) {
        for (int row = -1; row < c[0].rows; row++) {
            for (int k = first; k < first + together; k++) {
                if (k > first) printf("%*s", BETWEEN, "");
                const int last = k == first + together - 1;
                if (row < 0) printf("%-*s", last ? 0 : c[k].columns, title[k]);
                else print_row(&c[k], row, last);
            }
            putchar('\n');
        }
    }
    printf("%.3g m by %.3g m, %c to the right, %c up\n", extent(&f, 0), extent(&f, 1), "xyz"[f.axis[0]],
           "xyz"[f.axis[1]]);
    for (int k = 0; k < count; k++) free(c[k].cell);
}
