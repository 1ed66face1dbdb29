/* sequence_builder.c: a sequence that is being read. Truth, masks and times grow with the graph. Variables without
 * truth get the identity with no known coordinate; those without time get NaN. */
#include "data/data.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>

#define NOTE_MAX 4096

static ct_status add_variable(ct__build *b, const char *name, ct_kind kind, const double *value, int32_t *index)
{
    const int32_t count = ct_graph_variables(b->seq->graph);
    CT_TRY(ct__grow(&b->given, &b->given_capacity, (int64_t)count + 1, sizeof *b->given, "variables", b->in.err));
    CT_TRY(ct__lines_place(&b->in, ct_graph_add_variable(b->seq->graph, name, kind, value, index, b->in.err)));
    b->given[count] = value != NULL;
    b->mentioned += !value;
    return CT_OK;
}

ct_status ct__build_variable(ct__build *b, const char *name, ct_kind kind, const double *value, int32_t *index)
{
    ct_graph     *g = b->seq->graph;
    const int32_t var = b->mentioned ? ct_graph_find(g, name) : -1;
    if (var < 0 || b->given[var]) return add_variable(b, name, kind, value, index); /* refuses a second definition */
    if (ct_graph_kind(g, var) != kind)
        return ct__lines_bad(&b->in, "%s is %s here, an edge above has it as %s", name, ct_kind_name(kind),
                             ct_kind_name(ct_graph_kind(g, var)));
    memcpy(ct_graph_initial(g) + ct_graph_offset(g, var), value, (size_t)ct_kind_size(kind) * sizeof *value);
    b->given[var] = 1;
    *index = var;
    return CT_OK;
}

ct_status ct__build_mention(ct__build *b, const char *name, ct_kind kind, int32_t *index)
{
    *index = ct_graph_find(b->seq->graph, name);
    return *index >= 0 ? CT_OK : add_variable(b, name, kind, NULL, index);
}

ct_status ct__build_factor(ct__build *b, const ct_factor_ops *ops, const int32_t var[], const double z[], int32_t noise)
{
    return ct__lines_place(&b->in, ct_graph_add_factor(b->seq->graph, ops, var, z, NULL, noise, b->in.err));
}

/* Extends truth and masks to every variable of the graph so far. */
static ct_status cover_truth(ct__build *b)
{
    ct_sequence    *seq = b->seq;
    const ct_graph *g = seq->graph;
    const int32_t   variables = ct_graph_variables(g);
    CT_TRY(ct__grow(&seq->truth, &b->truth_capacity, ct_graph_size(g), sizeof *seq->truth, "true values", b->in.err));
    CT_TRY(ct__grow(&seq->known, &b->known_capacity, variables, sizeof *seq->known, "true values", b->in.err));
    for (; b->truth_vars < variables; b->truth_vars++) {
        ct_kind_identity(ct_graph_kind(g, b->truth_vars), seq->truth + ct_graph_offset(g, b->truth_vars));
        seq->known[b->truth_vars] = 0;
    }
    return CT_OK;
}

static ct_status cover_stamp(ct__build *b)
{
    ct_sequence  *seq = b->seq;
    const int32_t variables = ct_graph_variables(seq->graph);
    CT_TRY(ct__grow(&seq->stamp, &b->stamp_capacity, variables, sizeof *seq->stamp, "times", b->in.err));
    for (; b->stamp_vars < variables; b->stamp_vars++) seq->stamp[b->stamp_vars] = NAN;
    return CT_OK;
}

ct_status ct__build_truth(ct__build *b, int32_t var, const double *value, unsigned known)
{
    const ct_graph *g = b->seq->graph;
    assert(var >= 0 && var < ct_graph_variables(g));
    const ct_kind kind = ct_graph_kind(g, var);
    CT_TRY(cover_truth(b));
    memcpy(b->seq->truth + ct_graph_offset(g, var), value, (size_t)ct_kind_size(kind) * sizeof *value);
    b->seq->known[var] = (uint8_t)(known & ((1u << ct_kind_dim(kind)) - 1));
    return CT_OK;
}

ct_status ct__build_stamp(ct__build *b, int32_t var, double stamp_s)
{
    assert(var >= 0 && var < ct_graph_variables(b->seq->graph));
    CT_TRY(cover_stamp(b));
    b->seq->stamp[var] = stamp_s;
    return CT_OK;
}

/* 1 if this file has numbered models of the group. */
static int numbers_group(const ct__build *b, const char *group)
{
    const size_t n = strlen(group);
    for (int32_t i = 0; i < b->defined.count; i++) {
        const char *name = ct__names_get(&b->defined, i);
        if (!strncmp(name, group, n) && name[n] == '#') return 1;
    }
    return 0;
}

/* A model without a number that was renamed. This is right only in a file that numbers the models of the group,
 * which is known at its end. */
static ct_status check_moved(ct__build *b)
{
    for (int32_t i = 0; i < b->defined.count; i++) {
        const char *name = ct__names_get(&b->defined, i);
        if (strchr(name, '#') || !strcmp(name, ct_noise_get(b->noise, b->defined_model[i].index)->name) ||
            numbers_group(b, name))
            continue;
        b->in.line = b->defined_model[i].line;
        return ct__lines_bad(
            &b->in,
            "noise model %s has other numbers here than in a file before; a dataset.yaml can give the right ones",
            name);
    }
    return CT_OK;
}

ct_status ct__build_end(ct__build *b)
{
    if (b->seq->truth) CT_TRY(cover_truth(b));
    if (b->seq->stamp) CT_TRY(cover_stamp(b));
    CT_TRY(check_moved(b));
    CT_TRY(ct__build_repair_note(b));
    if (b->kept == 1)
        return ct__build_note(b, "noise model %s was there already with other numbers, which stay", b->kept_name);
    if (b->kept)
        return ct__build_note(b, "%d noise models (%s the first) were there already with other numbers, which stay",
                              b->kept, b->kept_name);
    return CT_OK;
}

void ct__build_free(ct__build *b)
{
    ct__lines_free(&b->in);
    ct__intern_free(&b->intern);
    ct__names_free(&b->defined);
    free(b->defined_model);
    free(b->given);
    ct__shape_lines_free(&b->shapes);
}

ct_status ct__build_note(ct__build *b, const char *fmt, ...)
{
    char    text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    const size_t old = b->seq->note ? strlen(b->seq->note) : 0;
    if (old + strlen(text) > NOTE_MAX) return CT_OK;
    char *note = realloc(b->seq->note, old + strlen(text) + 3);
    if (!note) return ct__no_memory(b->in.err, "bytes of notes", (int64_t)old);
    sprintf(note + old, "%s%s", old ? "; " : "", text);
    b->seq->note = note;
    return CT_OK;
}

/* ---- named models ---- */

static int same_model(const ct_noise_model *m, ct_noise_kind kind, int dim, const double value[], ct_robust robust)
{
    if (m->kind != kind || m->dim != dim || m->robust.kind != robust.kind) return 0;
    if (robust.kind != CT_ROBUST_NONE && m->robust.width != robust.width) return 0;
    if (m->robust.ratio != robust.ratio) return 0;
    for (int i = 0; i < (kind == CT_NOISE_FULL ? dim * dim : dim); i++)
        if (m->covariance[i] != value[kind == CT_NOISE_ISOTROPIC ? 0 : i]) return 0;
    return 1;
}

ct_status ct__build_add_model(ct__build *b, const char *name, ct_noise_kind kind, int dim, const double value[],
                              ct_robust robust, int32_t *index)
{
    ct_status status = CT_OK;
    switch (kind) {
    case CT_NOISE_ISOTROPIC: status = ct_noise_add_isotropic(b->noise, name, dim, value[0], index, b->in.err); break;
    case CT_NOISE_DIAGONAL: status = ct_noise_add_diagonal(b->noise, name, dim, value, index, b->in.err); break;
    case CT_NOISE_FULL: status = ct_noise_add_full(b->noise, name, dim, value, index, b->in.err); break;
    }
    if (status == CT_OK && robust.kind != CT_ROBUST_NONE)
        status = ct_noise_set_robust(b->noise, *index, robust, b->in.err);
    return ct__lines_place(&b->in, status);
}

/* The table has model *index under this name, with other numbers. */
static ct_status resolve_conflict(ct__build *b, const char *name, ct_noise_kind kind, int dim, const double value[],
                                  ct_robust robust, int32_t *index)
{
    if (!b->policy) {
        if (!b->kept++) snprintf(b->kept_name, sizeof b->kept_name, "%s", name);
        return CT_OK;
    }
    if (b->policy->is_given(b->policy->user, name)) return CT_OK;
    return ct__build_renumber(b, name, kind, dim, value, robust, index);
}

static ct_status find_or_add(ct__build *b, const char *name, ct_noise_kind kind, int dim, const double value[],
                             ct_robust robust, int32_t *index)
{
    *index = ct_noise_find(b->noise, name);
    if (*index < 0) return ct__build_add_model(b, name, kind, dim, value, robust, index);
    const ct_noise_model *m = ct_noise_get(b->noise, *index);
    if (m->dim != dim)
        return ct__lines_bad(&b->in,
                             "noise model %s has %d coordinates, the one of that name that is there already has %d",
                             name, dim, m->dim);
    if (same_model(m, kind, dim, value, robust)) return CT_OK;
    return resolve_conflict(b, name, kind, dim, value, robust, index);
}

int32_t ct__build_find_model(const ct__build *b, const char *name)
{
    const int32_t i = ct__names_find(&b->defined, name);
    return i >= 0 ? b->defined_model[i].index : ct_noise_find(b->noise, name);
}

/* Repairs variances or a covariance (ct__build_repair). A single variance cannot be repaired. */
static ct_status repair_model(ct__build *b, const char *name, ct_noise_kind kind, int dim, double value[])
{
    double A[CT__NOISE_NUMBERS_MAX] = {0};
    if (kind == CT_NOISE_ISOTROPIC) return CT_OK;
    const int full = kind == CT_NOISE_FULL;
    for (int i = 0; i < ct__noise_length(kind, dim); i++) A[full ? i : i * (dim + 1)] = value[i];
    CT_TRY(ct__build_repair(b, name, CT__COVARIANCE, dim, A));
    for (int i = 0; i < ct__noise_length(kind, dim); i++) value[i] = A[full ? i : i * (dim + 1)];
    return CT_OK;
}

ct_status ct__build_model(ct__build *b, const char *name, ct_noise_kind kind, int dim, const double given[],
                          ct_robust robust, int32_t *index)
{
    double    value[CT__NOISE_NUMBERS_MAX];
    memcpy(value, given, (size_t)(kind == CT_NOISE_ISOTROPIC ? 1 : ct__noise_length(kind, dim)) * sizeof *value);
    CT_TRY(repair_model(b, name, kind, dim, value));
    const int twice =
        b->policy ? ct__names_find(&b->defined, name) >= 0 : ct_noise_find(b->noise, name) >= b->noise_before;
    if (twice) return ct__lines_bad(&b->in, "noise model %s is there already", name);
    CT_TRY(find_or_add(b, name, kind, dim, value, robust, index));
    if (!b->policy) return CT_OK;
    const int64_t n = b->defined.count;
    CT_TRY(ct__grow(&b->defined_model, &b->defined_capacity, n + 1, sizeof *b->defined_model, "noise models",
                    b->in.err));
    CT_TRY(ct__names_add(&b->defined, name, b->in.err));
    b->defined_model[n].index = *index;
    b->defined_model[n].line = b->in.line;
    return CT_OK;
}
