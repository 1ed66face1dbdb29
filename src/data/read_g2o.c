/* read_g2o.c: g2o's text format.
 *
 *   VERTEX_SE2 id x y theta          VERTEX_SE3:QUAT id x y z qx qy qz qw
 *   VERTEX_XY id x y                 VERTEX_TRACKXYZ id x y z
 *   PARAMS_SE2OFFSET id x y theta    PARAMS_SE3OFFSET id x y z qx qy qz qw     a sensor's pose on the body
 *   FIX id ..                        these vertices are fixed
 *   EDGE_*  id ..  [id of PARAMS]  measurement  information                    rows of the table below
 *
 * Information is the upper triangle, row by row. That of an SE3 edge has translation before rotation. Its rotation
 * part is read as that of the rotation vector in radians, as in GTSAM; g2o means the vector part of the quaternion,
 * half of that. Vertices may follow the edges that use them, or be missing (initialise.c). Vertex 17 is variable
 * x17. */
#include "data/data.h"
#include "graph/graph.h"

/* How an edge uses its PARAMS. */
typedef enum {
    NO_PARAM,
    SENSOR_PARAM,  /* the last part of the measurement: the sensor's pose               */
    IDENTITY_PARAM /* g2o needs one, covtune's factor has none: only the identity        */
} param_use;

static const struct {
    const char *tag;
    ct_kind     kind;
} VERTEX[] = {
    {"VERTEX_SE2", CT_SE2},
    {"VERTEX_SE3:QUAT", CT_SE3},
    {"VERTEX_XY", CT_R2},
    {"VERTEX_TRACKXYZ", CT_R3},
}, PARAMS[] = {
    {"PARAMS_SE2OFFSET", CT_SE2},
    {"PARAMS_SE3OFFSET", CT_SE3},
};

/* The writer takes the first row that can represent the factor. */
static const struct edge_type {
    const char          *tag;
    const ct_factor_ops *ops;
    param_use            param;
} EDGE[] = {
    {"EDGE_SE2", &ct_between_se2, NO_PARAM},
    {"EDGE_SE3:QUAT", &ct_between_se3, NO_PARAM},
    {"EDGE_POINTXY", &ct_between_r2, NO_PARAM},
    {"EDGE_POINTXYZ", &ct_between_r3, NO_PARAM},
    {"EDGE_SE2_XY", &ct_point_se2_r2, NO_PARAM},
    {"EDGE_SE2_POINTXY_OFFSET", &ct_point_se2_r2, SENSOR_PARAM},
    {"EDGE_SE3_TRACKXYZ", &ct_point_se3_r3, SENSOR_PARAM},
    {"EDGE_BEARING_SE2_XY", &ct_bearing_se2_r2, NO_PARAM},
    {"EDGE_PRIOR_SE2", &ct_prior_se2, NO_PARAM},
    {"EDGE_PRIOR_SE2_XY", &ct_position_se2, NO_PARAM},
    {"EDGE_PRIOR_XY", &ct_prior_r2, NO_PARAM},
    {"EDGE_POINTXYZ_PRIOR", &ct_prior_r3, NO_PARAM},
    {"EDGE_SE3_PRIOR", &ct_prior_se3, IDENTITY_PARAM},
    {"EDGE_SE3_XYZ_PRIOR", &ct_position_se3, IDENTITY_PARAM},
};

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))
/* PARAMS by id; `names` holds the ids as text. */
typedef struct {
    ct_kind kind;
    double  x[CT_SIZE_MAX];
} param;

typedef struct {
    ct__build *b;
    ct__names  names;
    param     *params;
    int64_t    capacity;
} reader;

static ct_status read_vertex(reader *r, ct_kind kind)
{
    char    name[CT__ID_NAME_MAX];
    double  x[CT_SIZE_MAX];
    int32_t var;
    CT_TRY(ct__word_id(&r->b->in, 1, 'x', name));
    CT_TRY(ct__word_element(&r->b->in, 2, kind, x));
    CT_TRY(ct__word_end(&r->b->in, 2 + ct_kind_fields(kind)));
    return ct__build_variable(r->b, name, kind, x, &var);
}

static ct_status read_params(reader *r, ct_kind kind)
{
    char  name[CT__ID_NAME_MAX];
    param p = {.kind = kind};
    CT_TRY(ct__word_id(&r->b->in, 1, 'x', name));
    CT_TRY(ct__word_element(&r->b->in, 2, kind, p.x));
    CT_TRY(ct__word_end(&r->b->in, 2 + ct_kind_fields(kind)));
    if (ct__names_find(&r->names, name) >= 0)
        return ct__lines_bad(&r->b->in, "parameter %s is there already", name + 1);
    CT_TRY(ct__grow(&r->params, &r->capacity, r->names.count + 1, sizeof *r->params, "parameters", r->b->in.err));
    r->params[r->names.count] = p;
    return ct__names_add(&r->names, name, r->b->in.err);
}

static ct_status read_fix(reader *r)
{
    char name[CT__ID_NAME_MAX];
    CT_TRY(ct__word_need(&r->b->in, 1, 1, "vertex"));
    for (int w = 1; w < r->b->in.words; w++) {
        CT_TRY(ct__word_id(&r->b->in, w, 'x', name));
        const int32_t var = ct_graph_find(r->b->seq->graph, name);
        if (var < 0) return ct__lines_bad(&r->b->in, "there is no vertex %s above", name + 1);
        ct_graph_fix(r->b->seq->graph, var, 1);
    }
    return CT_OK;
}

/* The PARAMS of word w become the measurement's last part, or must be the identity. */
static ct_status use_param(reader *r, int w, const struct edge_type *type, double *sensor)
{
    char          name[CT__ID_NAME_MAX];
    const ct_kind kind = type->ops->kind[0];
    CT_TRY(ct__word_id(&r->b->in, w, 'x', name));
    const int32_t i = ct__names_find(&r->names, name);
    if (i < 0) return ct__lines_bad(&r->b->in, "there is no parameter %s above", name + 1);
    if (r->params[i].kind != kind)
        return ct__lines_bad(&r->b->in, "parameter %s is %s, %s needs %s", name + 1, ct_kind_name(r->params[i].kind),
                             type->tag, ct_kind_name(kind));
    if (type->param == SENSOR_PARAM) memcpy(sensor, r->params[i].x, (size_t)ct_kind_size(kind) * sizeof *sensor);
    else if (!ct__is_identity(kind, r->params[i].x))
        return ct__lines_bad(&r->b->in, "%s with an offset (parameter %s) has no counterpart here", type->tag,
                             name + 1);
    return CT_OK;
}

static ct_status read_edge(reader *r, const struct edge_type *type)
{
    const ct_factor_ops *ops = type->ops;
    const ct__lines     *in = &r->b->in;
    double               z[CT_FIELDS_MAX * CT_SIZE_MAX], information[36];
    int32_t              var[CT_ARITY_MAX], noise;
    int                  w = 1, last = 0;
    CT_TRY(ct__word_need(in, w, ops->arity, "vertices"));
    for (int i = 0; i < ops->arity; i++) {
        char name[CT__ID_NAME_MAX];
        CT_TRY(ct__word_id(in, w++, 'x', name));
        CT_TRY(ct__build_mention(r->b, name, ops->kind[i], &var[i]));
    }
    for (int i = 0, at = 0; i < ops->fields; i++) { /* parts that are not in the line are the identity */
        ct_kind_identity(ops->field[i], z + at);
        last = at;
        at += ct_kind_size(ops->field[i]);
    }
    if (type->param != NO_PARAM) CT_TRY(use_param(r, w++, type, z + last));
    CT_TRY(ct__word_element(in, w, ops->field[0], z));
    w += ct_kind_fields(ops->field[0]);
    CT_TRY(ct__word_triangle(in, w, ops->rows, "information", information));
    CT_TRY(ct__word_end(in, w + CT__TRIANGLE(ops->rows)));
    CT_TRY(ct__build_information(r->b, ops->name, ops->rows, information, &noise));
    return ct__build_factor(r->b, ops, var, z, noise);
}

static ct_status read_line(reader *r)
{
    const char *tag = r->b->in.word[0];
    char        quote[CT__QUOTE_MAX];
    for (int i = 0; i < COUNT(EDGE); i++)
        if (!strcmp(tag, EDGE[i].tag)) return read_edge(r, &EDGE[i]);
    for (int i = 0; i < COUNT(VERTEX); i++)
        if (!strcmp(tag, VERTEX[i].tag)) return read_vertex(r, VERTEX[i].kind);
    for (int i = 0; i < COUNT(PARAMS); i++)
        if (!strcmp(tag, PARAMS[i].tag)) return read_params(r, PARAMS[i].kind);
    if (!strcmp(tag, "FIX")) return read_fix(r);
    return ct__lines_bad(&r->b->in, "covtune does not know the g2o type %s", ct__quote(tag, quote));
}

ct_status ct__g2o_read(ct__build *b)
{
    reader    r = {.b = b};
    int       more;
    ct_status status;
    while ((status = ct__lines_next(&b->in, &more)) == CT_OK && more && (status = read_line(&r)) == CT_OK) {}
    ct__names_free(&r.names);
    free(r.params);
    return status == CT_OK ? ct__build_initialise(b) : status;
}

/* ---- writing: PARAMS, vertices, FIX, edges, in the graph's order ---- */

typedef struct {
    ct__out  *out;
    int64_t  *id;     /* of each variable */
    ct__names params; /* number i is PARAMS i: the text of its line after the tag */
} writer;

/* The row that represents the factor; NULL if none does. *sensor <- the pose for PARAMS. */
static const struct edge_type *row_of(const ct_factor *f, const double **sensor)
{
    int last = 0, plain = 1; /* plain: every part after the first is the identity */
    for (int i = 1; i < f->ops->fields; i++) {
        last += ct_kind_size(f->ops->field[i - 1]);
        plain = plain && ct__is_identity(f->ops->field[i], f->z + last);
    }
    for (int i = 0; i < COUNT(EDGE); i++) {
        if (EDGE[i].ops != f->ops || (EDGE[i].param != SENSOR_PARAM && !plain)) continue;
        *sensor = EDGE[i].param == SENSOR_PARAM ? f->z + last : NULL;
        return &EDGE[i];
    }
    return NULL;
}

/* The number of the PARAMS with this pose (NULL: the identity), which are written if new. */
static ct_status number_param(writer *w, ct_kind kind, const double *sensor, int32_t *number)
{
    double      x[CT_SIZE_MAX], field[CT_SIZE_MAX];
    char        key[32 * CT_SIZE_MAX], text[32];
    const char *tag = PARAMS[kind == CT_SE2 ? 0 : 1].tag;
    if (sensor) memcpy(x, sensor, (size_t)ct_kind_size(kind) * sizeof *x);
    else ct_kind_identity(kind, x);
    ct_kind_to_fields(kind, x, field);
    if (kind == CT_SE2) ct__angle(x[2], x[3], &field[2]);
    size_t used = (size_t)snprintf(key, sizeof key, "%s", tag);
    for (int i = 0; i < ct_kind_fields(kind); i++)
        used += (size_t)snprintf(key + used, sizeof key - used, " %s", ct__format_double(field[i], text));
    *number = ct__names_find(&w->params, key);
    if (*number >= 0) return CT_OK;
    *number = (int32_t)w->params.count;
    fprintf(w->out->file, "%s %d%s\n", tag, *number, key + strlen(tag));
    return ct__names_add(&w->params, key, w->out->err);
}

static ct_status write_params(writer *w)
{
    const ct_graph *g = w->out->seq->graph;
    for (int32_t i = 0; i < g->factors; i++) {
        const ct_factor         f = ct_graph_factor(g, i);
        const double           *sensor;
        const struct edge_type *type = row_of(&f, &sensor);
        int32_t                 number;
        if (type && type->param != NO_PARAM) CT_TRY(number_param(w, f.ops->kind[0], sensor, &number));
    }
    return CT_OK;
}

static ct_status write_vertex(writer *w, int32_t var)
{
    const ct_graph *g = w->out->seq->graph;
    const ct_kind   kind = g->kind[var];
    for (int i = 0; i < COUNT(VERTEX); i++) {
        if (VERTEX[i].kind != kind) continue;
        fprintf(w->out->file, "%s %lld", VERTEX[i].tag, (long long)w->id[var]);
        ct__out_element(w->out, kind, w->out->x + g->offset[var]);
        putc('\n', w->out->file);
        return CT_OK;
    }
    w->id[var] = -1;
    return ct__out_drop(w->out, "variable %s: g2o has no vertex for %s", ct__names_get(&g->names, var),
                        ct_kind_name(kind));
}

static ct_status write_edge(writer *w, int32_t index)
{
    const ct_graph         *g = w->out->seq->graph;
    const ct_factor         f = ct_graph_factor(g, index);
    const double           *sensor = NULL;
    const struct edge_type *type = row_of(&f, &sensor);
    const ct_noise_model   *m = ct_noise_get(w->out->noise, f.noise);
    if (!type)
        return ct__out_drop(w->out, "factor %d (%s on %s): g2o has no edge for it", index, f.ops->name,
                            ct__names_get(&g->names, f.var[0]));
    if (m->robust.kind != CT_ROBUST_NONE)
        CT_TRY(ct__out_drop(w->out, "factor %d (%s): g2o has no place for the kernel of noise model %s", index,
                            f.ops->name, m->name));
    fputs(type->tag, w->out->file);
    for (int i = 0; i < f.ops->arity; i++) fprintf(w->out->file, " %lld", (long long)w->id[f.var[i]]);
    if (type->param != NO_PARAM) {
        int32_t number;
        CT_TRY(number_param(w, f.ops->kind[0], sensor, &number));
        fprintf(w->out->file, " %d", number);
    }
    ct__out_element(w->out, f.ops->field[0], f.z);
    int           known;
    ct__own_model own;
    double       *information = ct__out_memo(w->out, &f, &known);
    if (!known) ct__out_information(ct__out_model(w->out, &f, &own), information);
    ct__out_triangle(w->out, f.ops->rows, information);
    putc('\n', w->out->file);
    return CT_OK;
}

static ct_status write_all(writer *w)
{
    const ct_graph *g = w->out->seq->graph;
    CT_TRY(ct__out_drop_extras(w->out, "g2o"));
    CT_TRY(ct__out_ids(w->out, 0, &w->id));
    CT_TRY(write_params(w));
    for (int32_t v = 0; v < g->variables; v++) CT_TRY(write_vertex(w, v));
    for (int32_t v = 0; v < g->variables; v++)
        if (g->fixed[v] && w->id[v] >= 0) fprintf(w->out->file, "FIX %lld\n", (long long)w->id[v]);
    for (int32_t f = 0; f < g->factors; f++) CT_TRY(write_edge(w, f));
    return CT_OK;
}

ct_status ct__g2o_write(ct__out *out)
{
    writer          w = {.out = out};
    const ct_status status = write_all(&w);
    ct__names_free(&w.params);
    free(w.id);
    return status;
}
