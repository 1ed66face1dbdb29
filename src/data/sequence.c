/* sequence.c: reading and writing by format. The table of formats is format_table.c. Common tasks (opening, locale,
 * names, atomic replacement) are done here. */
#define _POSIX_C_SOURCE 200809L
#include "data/data.h"
#include "data/locale.h"
#include "data/store.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

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
    ct__store_forget(seq);
    ct_graph_free(seq->graph);
    free(seq->name);
    free(seq->truth);
    free(seq->known);
    free(seq->stamp);
    free(seq->note);
    free(seq->recording);
    for (int32_t i = 0; i < seq->shapes; i++) {
        ct_shape_free(seq->shape[i]); /* after the graph, which borrows it */
        free(seq->shape_name[i]);
    }
    free(seq->shape);
    free(seq->shape_name);
    free(seq);
}

const char *ct_sequence_label(const ct_sequence *seq) { return seq->name ? seq->name : "without a name"; }

/* Length of `name` without a part number at its end: a separator, a word for part, digits with or without a separator
 * before them. */
static size_t length_without_part(const char *name)
{
    static const char *const word[] = {"part", "segment", "seg", "piece", "cut"};
    const size_t             whole = strlen(name);
    size_t                   end = whole;
    while (end > 0 && isdigit((unsigned char)name[end - 1])) end--;
    if (end == whole) return whole;
    if (end > 0 && strchr("-_.", name[end - 1])) end--;
    for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
        const size_t n = strlen(word[i]);
        if (end > n + 1 && !strncmp(name + end - n, word[i], n) && strchr("-_.", name[end - n - 1])) return end - n - 1;
    }
    return whole;
}

const char *ct_sequence_recording(const ct_sequence *seq, char *buf, size_t size)
{
    const char *name = seq->recording ? seq->recording : seq->name ? seq->name : "";
    if (size) snprintf(buf, size, "%.*s", (int)(seq->recording ? strlen(name) : length_without_part(name)), name);
    return buf;
}

/* ---- shapes ---- */

#define SHAPES_MAX 1000 /* they are searched linearly */

int32_t ct__sequence_shape(const ct_sequence *seq, const char *name)
{
    for (int32_t i = 0; i < seq->shapes; i++)
        if (!strcmp(seq->shape_name[i], name)) return i;
    return -1;
}

static ct_status add_shape(ct_sequence *seq, const char *name, ct_shape *shape, ct_err *err)
{
    const int32_t n = seq->shapes;
    if (!*name || *name == '#' || name[strcspn(name, " \t\r\n")])
        return ct_fail(err, CT_E_ARGUMENT, "shape \"%s\": its name must be one word that does not begin with #", name);
    if (ct__sequence_shape(seq, name) >= 0) return ct_fail(err, CT_E_ARGUMENT, "shape %s is there already", name);
    if (n == SHAPES_MAX)
        return ct_fail(err, CT_E_LIMIT, "shape %s: a sequence has at most %d shapes", name, SHAPES_MAX);
    ct_shape **shapes = realloc(seq->shape, (size_t)(n + 1) * sizeof *shapes);
    if (shapes) seq->shape = shapes;
    char **names = realloc(seq->shape_name, (size_t)(n + 1) * sizeof *names);
    if (names) seq->shape_name = names;
    char *copy = shapes && names ? ct__strdup(name) : NULL;
    if (!copy) return ct__no_memory(err, "shapes", n + 1);
    seq->shape[n] = shape;
    seq->shape_name[n] = copy;
    seq->shapes++;
    return CT_OK;
}

ct_status ct_sequence_add_shape(ct_sequence *seq, const char *name, ct_shape *shape, ct_err *err)
{
    const ct_status status = add_shape(seq, name, shape, err);
    if (status != CT_OK) ct_shape_free(shape);
    return status;
}

/* "run7" of "log/run7.g2o"; NULL without memory. */
static char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char       *name = ct__strdup(slash ? slash + 1 : path);
    char       *dot = name ? strrchr(name, '.') : NULL;
    if (dot && dot != name) *dot = 0;
    return name;
}

/* ---- locale ---- */

locale_t ct__locale_begin(ct_err *err)
{
    const locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c) return uselocale(c);
    ct__no_memory(err, "locales", 1);
    return (locale_t)0;
}

void ct__locale_end(locale_t before)
{
    freelocale(uselocale(before));
}

/* ---- reading ---- */

/* ahead: a second thread may read lines of text ahead. */
static ct_status read_stream(FILE *file, const char *path, ct_format format, ct_noise *noise,
                             const ct__conflict_policy *policy, const ct_read_options *options, int ahead,
                             ct_sequence **out, ct_err *err)
{
    *out = NULL;
    if ((unsigned)format >= CT_FORMAT_COUNT)
        return ct_fail(err, CT_E_ARGUMENT, "%s: format %d is not one; there are %d, numbered from 0", path,
                       (int)format, CT_FORMAT_COUNT);
    if (!ct__format_table[format].read)
        return ct_fail(err, CT_E_UNSUPPORTED, "%s: covtune does not read the format %s", path, ct_format_name(format));
    ct__build b = {.in = {.file = file, .path = path, .err = err, .wants_ahead = ahead},
                   .noise = noise,
                   .noise_before = ct_noise_count(noise),
                   .policy = policy};
    if (options) b.push = options->push, b.repair = options->repair;
    const ct_factor_registry *models = options ? options->models : NULL;
    const locale_t before = ct__locale_begin(err);
    if (!before) return CT_E_MEMORY;
    ct_status status = ct_sequence_new(NULL, &b.seq, err);
    if (status == CT_OK) {
        b.seq->models = models;
        status = ct__format_table[format].read(&b);
    }
    if (status == CT_OK) status = ct__build_end(&b);
    if (status == CT_OK) {
        b.seq->name = name_of(path);
        if (!b.seq->name) status = ct__no_memory(err, "names", 1);
    }
    ct__locale_end(before);
    ct__build_free(&b);
    if (status == CT_OK) *out = b.seq;
    else ct_sequence_free(b.seq);
    return status;
}

ct_status ct__sequence_read_stream(FILE *file, const char *path, ct_format format, const ct_read_options *options,
                                   ct_noise *noise, ct_sequence **out, ct_err *err)
{
    return read_stream(file, path, format, noise, NULL, options, 0, out, err);
}

ct_status ct__sequence_read_from(FILE *file, const char *path, ct_format format, ct_noise *noise,
                                 const ct__conflict_policy *policy, const ct_read_options *options, ct_sequence **out,
                                 ct_err *err)
{
    return read_stream(file, path, format, noise, policy, options, 0, out, err);
}

static ct_status read_path(const char *path, ct_format format, ct_noise *noise, const ct__conflict_policy *policy,
                           const ct_read_options *options, int ahead, ct_sequence **out, ct_err *err)
{
    *out = NULL;
    if (format == CT_FORMAT_AUTO) CT_TRY(ct_format_guess(path, 1, &format, err));
    FILE *file = fopen(path, "rb");
    if (!file) return ct_fail(err, ct__io_status(), "%s: %s", path, strerror(errno));
    const ct_status status = read_stream(file, path, format, noise, policy, options, ahead, out, err);
    fclose(file);
    return status;
}

/* Files of a dataset are read by several threads at once, so none has two. */
ct_status ct__sequence_read_shared(const char *path, ct_format format, ct_noise *noise,
                                   const ct__conflict_policy *policy, const ct_read_options *options,
                                   ct_sequence **out, ct_err *err)
{
    return read_path(path, format, noise, policy, options, 0, out, err);
}

ct_status ct_sequence_read(const char *path, ct_format format, ct_noise *noise, ct_sequence **out, ct_err *err)
{
    return ct_sequence_read_with(path, format, NULL, noise, out, err);
}

ct_read_options ct_read_defaults(void) { return (ct_read_options){0}; }

ct_status ct_sequence_read_with(const char *path, ct_format format, const ct_read_options *options, ct_noise *noise,
                                ct_sequence **out, ct_err *err)
{
    return read_path(path, format, noise, NULL, options, options && options->jobs > 1, out, err);
}

/* ---- writing ---- */

/* No format can represent a value that is not finite. */
static ct_status check_finite(const ct_graph *g, const double *x, const char *what, ct_err *err)
{
    for (int32_t v = 0; v < ct_graph_variables(g); v++) {
        char name[128];
        for (int i = 0; i < ct_kind_size(ct_graph_kind(g, v)); i++)
            if (!isfinite(x[ct_graph_offset(g, v) + i]))
                return ct_fail(err, CT_E_ARGUMENT, "variable %s: its %s is not finite",
                               ct_graph_name(g, v, name, sizeof name), what);
    }
    return CT_OK;
}

static ct_status check_sequence(const ct_sequence *seq, const ct_noise *noise, const double *x, ct_err *err)
{
    char name[128];
    CT_TRY(ct_graph_check_noise(seq->graph, noise, err));
    if (x) CT_TRY(check_finite(seq->graph, x, "value", err));
    if (seq->truth) CT_TRY(check_finite(seq->graph, seq->truth, "true value", err));
    for (int32_t v = 0; seq->stamp && v < ct_graph_variables(seq->graph); v++)
        if (isinf(seq->stamp[v]))
            return ct_fail(err, CT_E_ARGUMENT, "variable %s: its time is not finite",
                           ct_graph_name(seq->graph, v, name, sizeof name));
    return CT_OK;
}

ct_status ct__sequence_write_stream(FILE *file, const ct_sequence *seq, const ct_noise *noise, const double *x,
                                    ct_format format, int lossy, int64_t *dropped, ct_err *err)
{
    if ((unsigned)format >= CT_FORMAT_COUNT)
        return ct_fail(err, CT_E_ARGUMENT, "format %d is not one; there are %d, numbered from 0", (int)format,
                       CT_FORMAT_COUNT);
    if (!ct__format_table[format].write)
        return ct_fail(err, CT_E_UNSUPPORTED, "covtune does not write the format %s", ct_format_name(format));
    CT_TRY(check_sequence(seq, noise, x, err));
    ct__out out = {.file = file,
                   .seq = seq,
                   .noise = noise,
                   .x = x ? x : ct_graph_initial_const(seq->graph),
                   .x_given = x != NULL,
                   .lossy = lossy,
                   .err = err};
    const locale_t before = ct__locale_begin(err);
    if (!before) return CT_E_MEMORY;
    const ct_status status = ct__format_table[format].write(&out);
    ct__locale_end(before);
    if (dropped) *dropped = out.dropped;
    return status;
}

ct_status ct_sequence_write(const ct_sequence *seq, const ct_noise *noise, const double *x, ct_format format, int lossy,
                            const char *path, int64_t *dropped, ct_err *err)
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
