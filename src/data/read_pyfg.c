/* read_pyfg.c: PyFactorGraph's text format.
 *
 *   VERTEX_SE2 time name x y theta            VERTEX_SE3:QUAT time name x y z qx qy qz qw
 *   VERTEX_XY name x y                        VERTEX_XYZ name x y z                      points have no time
 *   VERTEX_*:PRIOR time name  measurement covariance
 *   EDGE_*  time name name  measurement covariance
 *
 * Covariances (not information) are the upper triangle, row by row, translation before rotation. Values of vertices
 * are the truth: the format has no estimates. They become the truth and the initial values, which the note mentions.
 * Times of edges are not kept; an edge is written with the time of its last pose. */
#include "data/data.h"
#include "graph/graph.h"

#include <math.h>

static const struct vertex_type {
    const char *tag;
    ct_kind     kind;
    int         timed; /* a time before the name */
} VERTEX[] = {
    {"VERTEX_SE2", CT_SE2, 1},
    {"VERTEX_SE3:QUAT", CT_SE3, 1},
    {"VERTEX_XY", CT_R2, 0},
    {"VERTEX_XYZ", CT_R3, 0},
};

/* A tag may have several rows, which differ in the kinds of their variables: a range is to a point, or to the pose of
 * another robot. */
static const struct edge_type {
    const char          *tag;
    const ct_factor_ops *ops;
} EDGE[] = {
    {"VERTEX_SE2:PRIOR", &ct_prior_se2},
    {"VERTEX_SE3:QUAT:PRIOR", &ct_prior_se3},
    {"VERTEX_XY:PRIOR", &ct_prior_r2},
    {"VERTEX_XYZ:PRIOR", &ct_prior_r3},
    {"EDGE_SE2", &ct_between_se2},
    {"EDGE_SE3:QUAT", &ct_between_se3},
    {"EDGE_SE2_XY", &ct_point_se2_r2},
    {"EDGE_SE3_XYZ", &ct_point_se3_r3},
    {"EDGE_RANGE", &ct_range_se2_r2},
    {"EDGE_RANGE", &ct_range_se3_r3},
    {"EDGE_RANGE", &ct_range_se2_se2},
    {"EDGE_RANGE", &ct_range_se3_se3},
};

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/* ---- reading ---- */

static ct_status read_vertex(ct__build *b, const struct vertex_type *type)
{
    double    x[CT_SIZE_MAX], stamp_s = 0;
    int32_t   var;
    const int w = 1 + type->timed; /* word of the name */
    CT_TRY(ct__word_need(&b->in, 1, w, type->timed ? "words: time and name" : "word: its name"));
    if (type->timed) CT_TRY(ct__word_number(&b->in, 1, "the time", &stamp_s));
    CT_TRY(ct__word_element(&b->in, w + 1, type->kind, x));
    CT_TRY(ct__word_end(&b->in, w + 1 + ct_kind_fields(type->kind)));
    CT_TRY(ct__build_variable(b, b->in.word[w], type->kind, x, &var));
    CT_TRY(ct__build_truth(b, var, x, ~0u));
    return type->timed ? ct__build_stamp(b, var, stamp_s) : CT_OK;
}

/* The row of this tag for these kinds of variables, else for this kind of the first, else the first row of the tag.
 * Rows of one tag have equally many variables. */
static const struct edge_type *row_of(const char *tag, ct_kind first, ct_kind last)
{
    const struct edge_type *found = NULL;
    int                     fit = -1;
    for (int i = 0; i < COUNT(EDGE); i++) {
        const ct_factor_ops *ops = EDGE[i].ops;
        const int            fits = ops->kind[0] != first ? 0 : ops->kind[ops->arity - 1] != last ? 1 : 2;
        if (strcmp(tag, EDGE[i].tag) || fits <= fit) continue;
        found = &EDGE[i];
        fit = fits;
    }
    return found;
}

static ct_status read_edge(ct__build *b, const struct edge_type *type)
{
    double    z[CT_FIELDS_MAX * CT_SIZE_MAX], covariance[36], time;
    int32_t   var[CT_ARITY_MAX], noise;
    const int arity = type->ops->arity, w = 2 + arity; /* first word of the measurement */
    CT_TRY(ct__word_need(&b->in, 1, 1 + arity, "words: time and names"));
    CT_TRY(ct__word_number(&b->in, 1, "the time", &time));
    for (int i = 0; i < arity; i++) {
        char quote[CT__QUOTE_MAX];
        var[i] = ct_graph_find(b->seq->graph, b->in.word[2 + i]);
        if (var[i] < 0)
            return ct__lines_bad(&b->in, "there is no vertex %s above", ct__quote(b->in.word[2 + i], quote));
    }
    const ct_factor_ops *ops = row_of(type->tag, ct_graph_kind(b->seq->graph, var[0]),
                                      ct_graph_kind(b->seq->graph, var[arity - 1]))->ops;
    for (int i = 0, at = 0; i < ops->fields; i++) { /* sensor poses are the identity */
        ct_kind_identity(ops->field[i], z + at);
        at += ct_kind_size(ops->field[i]);
    }
    const int after = w + ct_kind_fields(ops->field[0]);
    CT_TRY(ct__word_element(&b->in, w, ops->field[0], z));
    CT_TRY(ct__word_triangle(&b->in, after, ops->rows, "covariance", covariance));
    CT_TRY(ct__word_end(&b->in, after + CT__TRIANGLE(ops->rows)));
    CT_TRY(ct__build_covariance(b, ops->name, ops->rows, covariance, &noise));
    return ct__build_factor(b, ops, var, z, noise);
}

static ct_status read_line(ct__build *b)
{
    char quote[CT__QUOTE_MAX];
    for (int i = 0; i < COUNT(VERTEX); i++)
        if (!strcmp(b->in.word[0], VERTEX[i].tag)) return read_vertex(b, &VERTEX[i]);
    const struct edge_type *type = row_of(b->in.word[0], CT_SE2, CT_SE2);
    if (type) return read_edge(b, type);
    return ct__lines_bad(&b->in, "covtune does not know the PyFactorGraph type %s", ct__quote(b->in.word[0], quote));
}

ct_status ct__pyfg_read(ct__build *b)
{
    for (;;) {
        int more;
        CT_TRY(ct__lines_next(&b->in, &more));
        if (!more) break;
        CT_TRY(read_line(b));
    }
    if (!ct_graph_variables(b->seq->graph)) return CT_OK;
    return ct__build_note(b, "the file holds true values alone: the initial values are the true ones");
}

/* ---- writing ---- */

static double time_of(const ct_sequence *seq, int32_t var)
{
    return seq->stamp && !isnan(seq->stamp[var]) ? seq->stamp[var] : 0;
}

/* The truth if all coordinates are known, else the value. */
static const double *value_of(const ct__out *out, int32_t var)
{
    const ct_graph *g = out->seq->graph;
    const unsigned  all = (1u << ct_kind_dim(g->kind[var])) - 1;
    return (out->seq->truth && out->seq->known[var] == all ? out->seq->truth : out->x) + g->offset[var];
}

/* What a vertex line cannot hold. */
static ct_status drop_from_vertex(ct__out *out, int32_t var, int timed)
{
    const ct_sequence *seq = out->seq;
    const ct_graph    *g = seq->graph;
    const char        *name = ct__names_get(&g->names, var);
    const double      *x = out->x + g->offset[var];
    if (g->fixed[var])
        CT_TRY(ct__out_drop(out, "variable %s: PyFactorGraph cannot hold a variable at its value", name));
    if (out->x_given && value_of(out, var) != x)
        CT_TRY(ct__out_drop(out, "variable %s: PyFactorGraph holds its true value alone, no estimate", name));
    if (seq->truth && seq->known[var] && value_of(out, var) == x)
        CT_TRY(ct__out_drop(out, "variable %s: PyFactorGraph has no place for a truth known in part", name));
    if (!timed && seq->stamp && !isnan(seq->stamp[var]))
        CT_TRY(ct__out_drop(out, "variable %s: PyFactorGraph has no place for a point's time", name));
    return CT_OK;
}

static ct_status write_vertex(ct__out *out, int32_t var)
{
    const ct_graph *g = out->seq->graph;
    const char     *name = ct__names_get(&g->names, var);
    int             row = 0;
    CT_TRY(ct__out_check_name(out, "variable", name));
    while (row < COUNT(VERTEX) && VERTEX[row].kind != g->kind[var]) row++;
    if (row == COUNT(VERTEX))
        return ct__out_drop(out, "variable %s: PyFactorGraph has no vertex for %s", name, ct_kind_name(g->kind[var]));
    CT_TRY(drop_from_vertex(out, var, VERTEX[row].timed));
    fputs(VERTEX[row].tag, out->file);
    if (VERTEX[row].timed) ct__out_numbers(out, 1, (const double[]){time_of(out->seq, var)});
    fprintf(out->file, " %s", name);
    ct__out_element(out, g->kind[var], value_of(out, var));
    putc('\n', out->file);
    return CT_OK;
}

static ct_status write_edge(ct__out *out, int32_t index)
{
    const ct_graph       *g = out->seq->graph;
    const ct_factor       f = ct_graph_factor(g, index);
    const ct_noise_model *m = ct_noise_get(out->noise, f.noise);
    double                covariance[36], time = 0;
    ct__own_model         own;
    int                   row = 0, plain = 1;
    while (row < COUNT(EDGE) && EDGE[row].ops != f.ops) row++;
    for (int i = 1, at = ct_kind_size(f.ops->field[0]); i < f.ops->fields; at += ct_kind_size(f.ops->field[i++]))
        plain = plain && ct__is_identity(f.ops->field[i], f.z + at);
    if (row == COUNT(EDGE) || !plain)
        return ct__out_drop(out, "factor %d (%s on %s): PyFactorGraph has no edge for it", index, f.ops->name,
                            ct__names_get(&g->names, f.var[0]));
    if (m->robust.kind != CT_ROBUST_NONE)
        CT_TRY(ct__out_drop(out, "factor %d (%s): PyFactorGraph has no place for the kernel of noise model %s", index,
                            f.ops->name, m->name));
    for (int i = 0; i < f.ops->arity; i++)
        if (f.ops->kind[i] > CT_R3) time = time_of(out->seq, f.var[i]);
    fputs(EDGE[row].tag, out->file);
    ct__out_numbers(out, 1, &time);
    for (int i = 0; i < f.ops->arity; i++) fprintf(out->file, " %s", ct__names_get(&g->names, f.var[i]));
    ct__out_element(out, f.ops->field[0], f.z);
    ct__out_covariance(ct__out_model(out, &f, &own), covariance);
    ct__out_triangle(out, f.ops->rows, covariance);
    putc('\n', out->file);
    return CT_OK;
}

ct_status ct__pyfg_write(ct__out *out)
{
    const ct_graph *g = out->seq->graph;
    for (int32_t v = 0; v < g->variables; v++) CT_TRY(write_vertex(out, v));
    for (int32_t f = 0; f < g->factors; f++) CT_TRY(write_edge(out, f));
    return CT_OK;
}
