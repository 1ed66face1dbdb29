/* read_covtune_shape.c: shapes in covtune's sequences.
 *
 *   shape box  rectangle 0.118 0.079                   half lengths
 *   shape egg  ellipse 0.0819 0.1214                   half axes
 *   shape part polygon 0 0 0.1 0 0.1 0.05              corners, x and y
 *   + 0.05 0.1 0 0.05                                  continues the numbers of the shape above
 *   shape can  grid -0.1 -0.1 0.01 20 20               x0 y0 step rows columns, then the samples row by row
 *   + 0.05 0.04 0.03 ...
 *   shape tin  file sdf/tin.json                       a grid in LEO's JSON, relative to the sequence's folder
 *   factor contact_se2 geo o0 e0 shape=box 0.0075      a factor that needs a shape names it after its variables
 *
 * A shape ends where another line starts, so errors in its numbers are reported for its first line. Numbers are
 * those of ct_shape_numbers. */
#include "data/data.h"

#include <math.h>

#define NUMBERS_A_LINE 100 /* as written; CT__WORDS_MAX leaves room for the words before */

/* ---- reading ---- */

static ct_status take_numbers(ct__build *b, int w)
{
    ct__shape_lines *s = &b->shapes;
    for (; w < b->in.words; w++) {
        double number;
        CT_TRY(ct__word_number(&b->in, w, ct_shape_kind_name(s->kind), &number));
        CT_TRY(ct__grow(&s->number, &s->capacity, s->count + 1, sizeof *s->number, "numbers of a shape", b->in.err));
        s->number[s->count++] = number;
    }
    return CT_OK;
}

/* A path of this file, relative to its folder; NULL without memory. */
static char *beside(const ct__build *b, const char *name)
{
    char *folder = ct__strdup(b->in.path);
    if (!folder) return NULL;
    char *slash = strrchr(folder, '/');
    *(slash ? slash + 1 : folder) = 0;
    char *path = ct__path_join(folder, name);
    free(folder);
    return path;
}

static ct_status read_file(ct__build *b)
{
    ct_shape *shape;
    CT_TRY(ct__word_need(&b->in, 3, 1, "file after the word file"));
    CT_TRY(ct__word_end(&b->in, 4));
    char *path = beside(b, b->in.word[3]);
    if (!path) return ct__no_memory(b->in.err, "file names", 1);
    const ct_status status = ct_shape_read(path, &shape, b->in.err);
    free(path);
    CT_TRY(ct__lines_place(&b->in, status));
    return ct__lines_place(&b->in, ct_sequence_add_shape(b->seq, b->in.word[1], shape, b->in.err));
}

ct_status ct__shape_begin(ct__build *b)
{
    ct__shape_lines *s = &b->shapes;
    char             quote[CT__QUOTE_MAX];
    CT_TRY(ct__word_need(&b->in, 1, 2, "words: name and kind"));
    if (ct__sequence_shape(b->seq, b->in.word[1]) >= 0)
        return ct__lines_bad(&b->in, "shape %s is there already", ct__quote(b->in.word[1], quote));
    if (!strcmp(b->in.word[2], "file")) return read_file(b);
    const int kind = ct_shape_kind_find(b->in.word[2]);
    if (kind < 0)
        return ct__lines_bad(&b->in, "expected ellipse, rectangle, polygon, grid or file, found %s",
                             ct__quote(b->in.word[2], quote));
    s->name = ct__strdup(b->in.word[1]);
    if (!s->name) return ct__no_memory(b->in.err, "names", 1);
    s->kind = (ct_shape_kind)kind;
    s->line = b->in.line;
    s->count = 0;
    return take_numbers(b, 3);
}

ct_status ct__shape_more(ct__build *b)
{
    if (!b->shapes.name) return ct__lines_bad(&b->in, "+ goes on with the numbers of a shape, the line above is none");
    return take_numbers(b, 1);
}

static ct_status make_grid(ct__build *b, const double *n, int64_t count, ct_shape **out)
{
    if (count < 5)
        return ct__lines_bad(&b->in, "grid needs 5 numbers before its samples, x0 y0 step rows columns, found %lld",
                             (long long)count);
    for (int i = 3; i < 5; i++)
        if (!(n[i] >= 1 && n[i] <= INT32_MAX && n[i] == floor(n[i])))
            return ct__lines_bad(&b->in, "grid: its %s must be a whole number, found %g", i == 3 ? "rows" : "columns",
                                 n[i]);
    if (n[3] * n[4] != (double)(count - 5))
        return ct__lines_bad(&b->in, "grid of %g rows and %g columns needs %.0f samples, found %lld", n[3], n[4],
                             n[3] * n[4], (long long)(count - 5));
    return ct__lines_place(&b->in,
                           ct_shape_grid((int32_t)n[3], (int32_t)n[4], n[0], n[1], n[2], n + 5, out, b->in.err));
}

static ct_status make(ct__build *b, ct_shape **out)
{
    const ct__shape_lines *s = &b->shapes;
    const int              pair = s->kind == CT_SHAPE_ELLIPSE || s->kind == CT_SHAPE_RECTANGLE;
    if (pair && s->count != 2)
        return ct__lines_bad(&b->in, "%s needs 2 numbers, found %lld", ct_shape_kind_name(s->kind),
                             (long long)s->count);
    if (s->kind == CT_SHAPE_ELLIPSE)
        return ct__lines_place(&b->in, ct_shape_ellipse(s->number[0], s->number[1], out, b->in.err));
    if (s->kind == CT_SHAPE_RECTANGLE)
        return ct__lines_place(&b->in, ct_shape_rectangle(s->number[0], s->number[1], out, b->in.err));
    if (s->kind == CT_SHAPE_GRID) return make_grid(b, s->number, s->count, out);
    if (s->count % 2)
        return ct__lines_bad(&b->in, "polygon needs an x and a y for every corner, found %lld numbers",
                             (long long)s->count);
    return ct__lines_place(&b->in,
                           ct_shape_polygon((int32_t)CT_MIN(s->count / 2, INT32_MAX), s->number, out, b->in.err));
}

ct_status ct__shape_end(ct__build *b)
{
    ct__shape_lines *s = &b->shapes;
    const int64_t    here = b->in.line;
    ct_shape        *shape;
    if (!s->name) return CT_OK;
    b->in.line = s->line;
    CT_TRY(make(b, &shape));
    CT_TRY(ct__lines_place(&b->in, ct_sequence_add_shape(b->seq, s->name, shape, b->in.err)));
    b->in.line = here;
    free(s->name);
    s->name = NULL;
    return CT_OK;
}

ct_status ct__shape_contact(ct__build *b, int32_t index, int64_t line)
{
    ct__shape_lines *s = &b->shapes;
    if (!s->begun) s->begun = 1, s->first_line = line, s->first = ct_graph_factors(b->seq->graph);
    if (ct_shape_kind_of(b->seq->shape[index]) != CT_SHAPE_GRID) return CT_OK;
    CT_TRY(ct__grow(&s->contact, &s->contact_capacity, s->contacts + 1, sizeof *s->contact, "contacts", b->in.err));
    s->contact[s->contacts].factor = ct_graph_factors(b->seq->graph);
    s->contact[s->contacts++].line = line;
    return CT_OK;
}

ct_status ct__shape_word(ct__build *b, int w, const ct_factor_ops *ops, const ct_shape **shape)
{
    char quote[CT__QUOTE_MAX];
    if (w >= b->in.words)
        return ct__lines_bad(&b->in, "%s needs shape= and the name of a shape after its variables, the line ends",
                             ops->name);
    if (strncmp(b->in.word[w], "shape=", 6))
        return ct__lines_bad(&b->in, "%s needs shape= and the name of a shape after its variables, found %s", ops->name,
                             ct__quote(b->in.word[w], quote));
    const int32_t index = ct__sequence_shape(b->seq, b->in.word[w] + 6);
    if (index < 0) return ct__lines_bad(&b->in, "there is no shape %s above", ct__quote(b->in.word[w] + 6, quote));
    *shape = b->seq->shape[index];
    return ct__shape_contact(b, index, b->in.line);
}

/* ---- contacts that cannot be ---- */

/* of the radius of a disc of equal area: 1 cm for a box of 9 cm, 2 cm for the simulated objects, whose truth has
 * errors of half a centimetre */
#define DEEP   0.2
#define INSIDE 5e-3 /* m, at least: permitted at the start of a recorded push (read_push_csv.c) */

/* The finger in the object's frame at values x. */
static void seen(const ct_graph *g, ct_factor f, const double *x, double q[2])
{
    const double *o = x + ct_graph_offset(g, f.var[0]);
    ct_se2_act(ct_se2_inverse((ct_se2){o[0], o[1], o[2], o[3]}, NULL), x + ct_graph_offset(g, f.var[1]), q, NULL, NULL);
}

static int truth_is_known(const ct__build *b, ct_factor f)
{
    const ct_sequence *seq = b->seq;
    const int32_t      o = f.var[0], e = f.var[1];
    return seq->truth && o < b->truth_vars && e < b->truth_vars && (seq->known[o] & 7) == 7 && (seq->known[e] & 3) == 3;
}

static const char *shape_name(const ct_sequence *seq, ct_factor f)
{
    int32_t shape = 0;
    while (seq->shape[shape] != f.context) shape++;
    return seq->shape_name[shape];
}

/* The finger must lie on the grid. */
static ct_status check_contact(ct__build *b, ct_factor f)
{
    const ct_graph *g = b->seq->graph;
    char            object[64], finger[64];
    ct_err          inner = {0};
    double          q[2];
    if (!truth_is_known(b, f)) return CT_OK;
    seen(g, f, b->seq->truth, q);
    if (ct_shape_check(f.context, q, &inner) == CT_OK) return CT_OK;
    return ct__lines_bad(&b->in, "%s on %s, shape %s: by their truth %s",
                         ct_graph_name(g, f.var[1], finger, sizeof finger),
                         ct_graph_name(g, f.var[0], object, sizeof object), shape_name(b->seq, f), inner.text);
}

/* A finger deep inside the object: if it is the truth, frame, unit or size are wrong; from an initial value, the
 * estimator may leave on the wrong side. */
static ct_status check_begin(ct__build *b, ct_factor f)
{
    const ct_graph *g = b->seq->graph;
    const int       truth = truth_is_known(b, f);
    char            object[64], finger[64];
    double          q[2], area, mean;
    seen(g, f, truth ? b->seq->truth : ct_graph_initial_const(g), q);
    ct_shape_moments(f.context, &area, &mean, NULL);
    const double depth = f.z[0] - ct_shape_distance(f.context, q, NULL, NULL),
                 most = fmax(INSIDE, DEEP * sqrt(area / acos(-1.0)));
    if (!(depth > most)) return CT_OK;
    ct_graph_name(g, f.var[0], object, sizeof object);
    ct_graph_name(g, f.var[1], finger, sizeof finger);
    if (truth)
        return ct__lines_bad(&b->in,
                             "finger inside the object: by their truth %s is %.3g mm inside %s, shape %s, at the "
                             "start, more than %.3g mm; is this the object's size, and are both in one frame?",
                             finger, 1e3 * depth, object, shape_name(b->seq, f), 1e3 * most);
    return ct__build_note(b,
                          "by its start values finger %s is %.3g mm inside %s, shape %s, at the start, and may "
                          "be led out on any side",
                          finger, 1e3 * depth, object, shape_name(b->seq, f));
}

ct_status ct__shape_check(ct__build *b)
{
    const int64_t here = b->in.line;
    for (int64_t i = 0; i < b->shapes.contacts; i++) {
        b->in.line = b->shapes.contact[i].line;
        CT_TRY(check_contact(b, ct_graph_factor(b->seq->graph, b->shapes.contact[i].factor)));
    }
    b->in.line = b->shapes.first_line;
    if (b->shapes.begun) CT_TRY(check_begin(b, ct_graph_factor(b->seq->graph, b->shapes.first)));
    b->in.line = here;
    return CT_OK;
}

void ct__shape_lines_free(ct__shape_lines *s)
{
    free(s->name);
    free(s->number);
    free(s->contact);
}

/* ---- writing ---- */

/* Grid rows are written on lines of their own. */
static int begins_line(ct_shape_kind kind, int64_t i, int64_t columns)
{
    if (kind != CT_SHAPE_GRID) return i > 0 && i % NUMBERS_A_LINE == 0;
    return i >= 5 && (i - 5) % columns % NUMBERS_A_LINE == 0;
}

ct_status ct__shapes_write(const ct__out *out)
{
    const ct_sequence *seq = out->seq;
    for (int32_t k = 0; k < seq->shapes; k++) {
        const int64_t count = ct_shape_numbers(seq->shape[k], 0, NULL);
        double       *number = ct__zalloc(count, sizeof *number);
        if (!number) return ct__no_memory(out->err, "numbers of a shape", count);
        ct_shape_numbers(seq->shape[k], count, number);
        const ct_shape_kind kind = ct_shape_kind_of(seq->shape[k]);
        const int64_t       columns = kind == CT_SHAPE_GRID ? (int64_t)number[4] : 0;
        fprintf(out->file, "shape %s %s", seq->shape_name[k], ct_shape_kind_name(kind));
        for (int64_t i = 0; i < count; i++) {
            if (begins_line(kind, i, columns)) fputs("\n+", out->file);
            ct__out_numbers(out, 1, &number[i]);
        }
        putc('\n', out->file);
        free(number);
    }
    return CT_OK;
}
