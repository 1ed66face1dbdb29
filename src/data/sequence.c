/* sequence.c: reading and writing by format. Formats are rows of a table; what is common to all of
 * them (opening, locale, names, replacing files whole) happens here, once. */
#define _POSIX_C_SOURCE 200809L
#include "data/data.h"

#include <assert.h>
#include <errno.h>
#include <locale.h>

/* One row a format. NULL: covtune cannot do that. */
static const struct {
    ct__read_fn  *read;
    ct__write_fn *write;
} FORMAT[CT_FORMAT_COUNT] = {
    [CT_FORMAT_COVTUNE] = {NULL, NULL},
};

/* ---- handles ---- */

ct_status ct_sequence_new(ct_graph *graph, ct_sequence **out, ct_err *err)
{
    *out = ct__zalloc(1, sizeof **out);
    if (!*out) return ct__no_memory(err, "sequences", 1);
    const ct_status status = graph ? CT_OK : ct_graph_new(&graph, err);
    if (status != CT_OK) {
        free(*out);
        *out = NULL;
        return status;
    }
    (*out)->graph = graph;
    return CT_OK;
}

void ct_sequence_free(ct_sequence *seq)
{
    if (!seq) return;
    ct_graph_free(seq->graph);
    free(seq->name);
    free(seq->truth);
    free(seq->known);
    free(seq->stamp);
    free(seq->note);
    free(seq);
}

/* "run7" of "log/run7.g2o"; NULL if there is no memory. */
static char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char       *name = ct__strdup(slash ? slash + 1 : path);
    char       *dot = name ? strrchr(name, '.') : NULL;
    if (dot && dot != name) *dot = 0;
    return name;
}

/* ---- locale: an application may have set one where 0.5 is written 0,5 ---- */

typedef struct {
    locale_t c, before;
} locale_state;

static ct_status locale_begin(locale_state *state, ct_err *err)
{
    state->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!state->c) return ct__no_memory(err, "locales", 1);
    state->before = uselocale(state->c); /* of this thread alone */
    return CT_OK;
}

static void locale_end(locale_state *state)
{
    uselocale(state->before);
    freelocale(state->c);
}

/* ---- reading ---- */

ct_status ct__sequence_read_stream(FILE *file, const char *path, ct_format format, ct_noise *noise, ct_sequence **out, ct_err *err)
{
    *out = NULL;
    assert(format < CT_FORMAT_COUNT);
    if (!FORMAT[format].read) return ct_fail(err, CT_E_UNSUPPORTED, "%s: covtune does not read the format %s", path, ct_format_name(format));
    ct__build    b = {.in = {.file = file, .path = path, .err = err}, .noise = noise};
    locale_state locale;
    CT_TRY(locale_begin(&locale, err));
    ct_status status = ct_sequence_new(NULL, &b.seq, err);
    if (status == CT_OK) status = FORMAT[format].read(&b);
    if (status == CT_OK) status = ct__build_end(&b);
    if (status == CT_OK) {
        b.seq->name = name_of(path);
        if (!b.seq->name) status = ct__no_memory(err, "names", 1);
    }
    locale_end(&locale);
    ct__lines_free(&b.in);
    ct__intern_free(&b.intern);
    if (status == CT_OK) *out = b.seq;
    else ct_sequence_free(b.seq);
    return status;
}

ct_status ct_sequence_read(const char *path, ct_format format, ct_noise *noise, ct_sequence **out, ct_err *err)
{
    *out = NULL;
    if (format == CT_FORMAT_AUTO) CT_TRY(ct_format_guess(path, 1, &format, err));
    FILE *file = fopen(path, "rb");
    if (!file) return ct_fail(err, CT_E_IO, "%s: %s", path, strerror(errno));
    const ct_status status = ct__sequence_read_stream(file, path, format, noise, out, err);
    fclose(file);
    return status;
}

/* ---- writing ---- */

ct_status ct__sequence_write_stream(FILE *file, const ct_sequence *seq, const ct_noise *noise, const double *x, ct_format format, int lossy, int64_t *dropped, ct_err *err)
{
    assert(format < CT_FORMAT_COUNT);
    if (!FORMAT[format].write) return ct_fail(err, CT_E_UNSUPPORTED, "covtune does not write the format %s", ct_format_name(format));
    CT_TRY(ct_graph_check_noise(seq->graph, noise, err));
    ct__out      out = {.file = file, .seq = seq, .noise = noise, .x = x ? x : ct_graph_initial_const(seq->graph), .lossy = lossy, .err = err};
    locale_state locale;
    CT_TRY(locale_begin(&locale, err));
    const ct_status status = FORMAT[format].write(&out);
    locale_end(&locale);
    if (dropped) *dropped = out.dropped;
    return status;
}

ct_status ct_sequence_write(const ct_sequence *seq, const ct_noise *noise, const double *x, ct_format format, int lossy, const char *path, int64_t *dropped, ct_err *err)
{
    ct__file file;
    if (dropped) *dropped = 0;
    if (format == CT_FORMAT_AUTO) CT_TRY(ct_format_guess(path, 0, &format, err));
    CT_TRY(ct__file_begin(&file, path, err));
    const ct_status status = ct__sequence_write_stream(file.stream, seq, noise, x, format, lossy, dropped, err);
    if (status == CT_OK) return ct__file_commit(&file, err);
    ct__file_abort(&file);
    return status;
}
