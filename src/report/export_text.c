/* export_text.c: what the formats share: sentences, rows by name, numbers and names as text. */
#include "report/export.h"
#include "base/base.h"
#include "base/file.h"

/* ---- sentences ---- */

ct_status ct__export_unnamed(const ct_noise_model *m, const char *format, ct_err *err)
{
    static const char *const EXAMPLE[CT_NOISE_DIM_MAX + 1] = {
        [1] = "[\"range\"]", [2] = "[\"x\", \"y\"]", [3] = "[\"x\", \"y\", \"theta\"]", [6] = "[\"rx\", \"ry\", \"rz\", \"x\", \"y\", \"z\"]"};
    const char *example = EXAMPLE[m->dim];
    return ct_fail(err, CT_E_UNSUPPORTED, "noise model \"%s\": %s needs to know what its %d row%s; say it in the noise file, for instance \"coordinates\": %s",
                   m->name, format, m->dim, m->dim == 1 ? " is" : "s are", example ? example : "[...]");
}

ct_status ct__export_no_kernel(const ct_noise_model *m, const char *format, ct_err *err)
{
    if (m->robust.kind == CT_ROBUST_NONE) return CT_OK;
    return ct_fail(err, CT_E_UNSUPPORTED, "noise model \"%s\": %s has no place for its %s kernel; \"robust\": {\"kind\": \"none\"} in the noise file leaves it out",
                   m->name, format, ct_robust_name(m->robust.kind));
}

/* ---- models ---- */

double ct__export_entry(const ct_noise_model *m, int i, int j)
{
    if (m->kind == CT_NOISE_FULL) return m->covariance[i * m->dim + j];
    return i == j ? m->covariance[i] : 0;
}

int ct__export_row(const ct_noise_model *m, const char *name)
{
    for (int i = 0; m->row && i < m->dim; i++)
        if (!strcmp(m->row[i].name, name)) return i;
    return -1;
}

int ct__export_rows_are(const ct_noise_model *m, const char *names)
{
    for (int i = 0; m->row && i < m->dim; i++) {
        const size_t n = strcspn(names, " ");
        if (!n || strlen(m->row[i].name) != n || strncmp(m->row[i].name, names, n)) return 0;
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

/* No control character, no right-to-left mark and no letter that an encoding could change gets through. */
static void put_escaped(FILE *out, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        const unsigned long c = code_point(&p);
        if (c == '"' || c == '\\') fprintf(out, "\\%c", (int)c);
        else if (c >= ' ' && c < 0x7f) putc((int)c, out);
        else fprintf(out, c > 0xffff ? "\\U%08lx" : "\\u%04lx", c);
    }
}

void ct__export_quote(FILE *out, const char *text)
{
    putc('"', out);
    put_escaped(out, text);
    putc('"', out);
}

void ct__export_title(FILE *out, const char *mark, const ct_noise_model *m, const int order[])
{
    fprintf(out, "\n%s ", mark);
    ct__export_quote(out, m->name);
    for (int i = 0; m->row && i < m->dim; i++) {
        const ct_noise_row *row = &m->row[order ? order[i] : i];
        fputs(i ? ", " : ": ", out);
        put_escaped(out, row->name);
        if (!row->unit[0]) continue;
        fputs(" (", out);
        put_escaped(out, row->unit);
        putc(')', out);
    }
    putc('\n', out);
}

void ct__export_numbers(FILE *out, const char *between, int n, const double value[])
{
    char buf[32];
    for (int i = 0; i < n; i++) fprintf(out, "%s%s", i ? between : "", ct__format_double(value[i], buf));
}
