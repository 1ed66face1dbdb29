/* export_text.c: shared by the formats: refusals, rows by name, numbers and names as text. */
#include "export/export.h"
#include "base/base.h"
#include "base/coordinate.h"
#include "base/file.h"

/* ---- refusals ---- */

ct_status ct__export_unnamed(const ct_noise_model *m, const char *format, ct_err *err)
{
    static const char *const EXAMPLE[CT_NOISE_DIM_MAX + 1] = {[1] = "[\"range\"]",
                                                              [2] = "[\"x\", \"y\"]",
                                                              [3] = "[\"x\", \"y\", \"yaw\"]",
                                                              [6] = "[\"rx\", \"ry\", \"rz\", \"x\", \"y\", \"z\"]"};
    const char *example = EXAMPLE[m->dim];
    return ct_fail(err, CT_E_UNSUPPORTED,
                   "noise model \"%s\": %s needs to know what its %d row%s; say it in the noise file, for instance "
                   "\"coordinates\": %s",
                   m->name, format, m->dim, m->dim == 1 ? " is" : "s are", example ? example : "[...]");
}

ct_status ct__export_no_kernel(const ct_noise_model *m, const char *format, ct_err *err)
{
    if (m->robust.kind == CT_ROBUST_NONE) return CT_OK;
    return ct_fail(err, CT_E_UNSUPPORTED,
                   "noise model \"%s\": %s has no place for its %s kernel; \"robust\": {\"kind\": \"none\"} in the "
                   "noise file leaves it out",
                   m->name, format, ct_robust_name(m->robust.kind));
}

/* ---- models ---- */

int ct__export_rows_are(const ct_noise_model *m, const char *names)
{
    for (int i = 0; m->row && i < m->dim; i++) {
        char         name[16];
        const size_t n = strcspn(names, " ");
        snprintf(name, sizeof name, "%.*s", (int)n, names);
        if (!n || !ct__same_coordinate(m->row[i].name, name)) return 0;
        names += n + (names[n] == ' ');
    }
    return m->row && !*names;
}

/* ---- text ---- */

/* The code point at p, which is valid UTF-8 (or what is no more than a byte is taken as one); *p moves behind it. */
static unsigned long code_point(const unsigned char **p)
{
    const int     more = **p < 0xc0 ? 0 : **p < 0xe0 ? 1 : **p < 0xf0 ? 2 : 3;
    unsigned long c = more ? **p & (0x3fu >> more) : **p;
    (*p)++;
    for (int i = 0; i < more && (**p & 0xc0) == 0x80; i++) c = c << 6 | (*(*p)++ & 0x3f);
    return c;
}

/* No control character, no right-to-left mark and no letter that an encoding could change gets through, nor a
 * backslash, which at a line's end would make the next one part of a C comment, as a trigraph
 * does. `end` is where to stop, or NULL. */
static void put_escaped(ct__text *out, const char *text, const char *end)
{
    unsigned long last = 0;
    for (const unsigned char *p = (const unsigned char *)text; *p && p != (const unsigned char *)end;) {
        const unsigned long c = code_point(&p);
        const int again = c == '?' && last == '?'; /* two of them and a slash are a backslash to C's first reading */
        last = c;
        if (c == '"') ct__text_put(out, "\\\"");
        else if (c >= ' ' && c < 0x7f && c != '\\' && !again) ct__text_bytes(out, &(char){(char)c}, 1);
        else ct__text_printf(out, c > 0xffff ? "\\U%08lx" : "\\u%04lx", c);
    }
}

void ct__export_quote(ct__text *out, const char *text)
{
    ct__text_put(out, "\"");
    put_escaped(out, text, NULL);
    ct__text_put(out, "\"");
}

/* Each line of the text as a comment line. */
static void put_lines(ct__text *out, const char *mark, const char *text)
{
    while (text && *text) {
        const size_t n = strcspn(text, "\n");
        ct__text_printf(out, "%s ", mark);
        put_escaped(out, text, text + n);
        ct__text_put(out, "\n");
        text += n + (text[n] == '\n');
    }
}

void ct__export_origin(const ct__export *e, const char *mark)
{
    put_lines(e->out, mark, e->options.origin);
    put_lines(e->out, mark, e->held);
    put_lines(e->out, mark, e->unfit.bytes);
}

int ct__export_is_cut(const ct__export *e, int32_t k)
{
    return ct_noise_get(e->given, e->index[k])->kind == CT_NOISE_FULL &&
           ct_noise_get(e->noise, e->index[k])->kind != CT_NOISE_FULL;
}

/* The process whose strength a model is: it is of use only to an estimator that has the state. */
static void put_bias(ct__text *out, const ct_bias *b)
{
    char number[32];
    ct__text_printf(out, "; strength of a %s bias of ", ct_bias_process_name(b->process));
    put_escaped(out, b->sensor, NULL);
    ct__text_printf(out, ", as %s", ct_bias_effect_name(b->effect));
    if (b->tau > 0) ct__text_printf(out, ", time constant %s", ct__format_double(b->tau, number));
    if (b->period > 0) ct__text_printf(out, ", period %s", ct__format_double(b->period, number));
}

void ct__export_heading(const ct__export *e, int32_t k, const char *mark, const int order[])
{
    const ct_noise_model *m = ct_noise_get(e->noise, e->index[k]);
    ct__text             *out = e->out;
    ct__text_printf(out, "\n%s ", mark);
    ct__export_quote(out, m->name);
    for (int i = 0; m->row && i < m->dim; i++) {
        const ct_noise_row *row = &m->row[order ? order[i] : i];
        ct__text_put(out, i ? ", " : ": ");
        put_escaped(out, row->name, NULL);
        if (!row->unit[0]) continue;
        ct__text_put(out, " (");
        put_escaped(out, row->unit, NULL);
        ct__text_put(out, ")");
    }
    if (m->bias) put_bias(out, m->bias);
    if (m->measurement) {
        ct__text_put(out, "; ");
        put_escaped(out, m->measurement, NULL);
    }
    ct__text_put(out, "\n");
}

void ct__export_title(const ct__export *e, int32_t k, const char *mark, const int order[])
{
    ct__export_heading(e, k, mark, order);
    put_lines(e->out, mark, e->options.remark ? e->options.remark[e->index[k]] : NULL);
    if (ct__export_is_cut(e, k)) ct__text_printf(e->out, "%s %s\n", mark, CT__EXPORT_CUT);
}

void ct__export_numbers(ct__text *out, const char *between, int n, const double value[])
{
    char buf[32];
    for (int i = 0; i < n; i++) ct__text_printf(out, "%s%s", i ? between : "", ct__format_double(value[i], buf));
}
