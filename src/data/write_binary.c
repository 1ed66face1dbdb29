/* write_binary.c: writes a sequence as a binary file (binary.h). The image is built in memory and written in one go. */
#include "data/binary.h"
#include "data/data.h"
#include "graph/graph.h"

typedef struct {
    ct__out *out;
    char    *image;
    int64_t  used, capacity;
    int32_t *kept;  /* per factor: 1 if it is written */
    int32_t *model; /* per noise model of the table: its place in the file, -1: not used */
    int32_t  models;
    const ct_factor_ops *ops[256];
    int      kinds_of[CT_KIND_COUNT], kinds, measurement_models;
} writer;

/* Appends bytes at the next aligned place, or (at a section's end) without gap. */
static ct_status append(writer *w, const void *bytes, int64_t size, int align)
{
    int64_t at = w->used;
    if (align) at = (at + CT__BINARY_ALIGN - 1) / CT__BINARY_ALIGN * CT__BINARY_ALIGN;
    CT_TRY(ct__grow(&w->image, &w->capacity, at + size, 1, "bytes", w->out->err));
    memset(w->image + w->used, 0, (size_t)(at - w->used));
    if (size) memcpy(w->image + at, bytes, (size_t)size);
    w->used = at + size;
    return CT_OK;
}

/* Opens a section of elements of that size; appended bytes belong to it until the next. */
static ct_status begin(writer *w, const char *name, uint32_t size)
{
    ct__binary_head *head = (ct__binary_head *)w->image;
    CT_TRY(append(w, NULL, 0, 1));
    head = (ct__binary_head *)w->image;
    ct__binary_section s = {.size = size, .at = (uint64_t)w->used};
    memcpy(s.name, name, strlen(name));
    memcpy(w->image + sizeof *head + head->sections++ * sizeof s, &s, sizeof s);
    return CT_OK;
}

static void end(writer *w)
{
    ct__binary_head   *head = (ct__binary_head *)w->image;
    ct__binary_section s;
    char *const        row = w->image + sizeof *head + (head->sections - 1) * sizeof s;
    memcpy(&s, row, sizeof s);
    s.count = ((uint64_t)w->used - s.at) / s.size;
    if (s.count) memcpy(row, &s, sizeof s);
    else memset(row, 0, sizeof s), head->sections--;
}

static ct_status section(writer *w, const char *name, uint32_t size, const void *bytes, int64_t count)
{
    CT_TRY(begin(w, name, size));
    CT_TRY(append(w, bytes, count * size, 0));
    end(w);
    return CT_OK;
}

static ct_status word(writer *w, const char *text) { return append(w, text, (int64_t)strlen(text) + 1, 0); }

/* ---- noise ---- */

static const char *const NOISE_KIND[] = {
    [CT_NOISE_ISOTROPIC] = "isotropic", [CT_NOISE_DIAGONAL] = "diagonal", [CT_NOISE_FULL] = "full"};

static ct_status list_models(writer *w)
{
    const ct_graph *g = w->out->seq->graph;
    w->model = ct__zalloc(g->noise_count, sizeof *w->model);
    if (!w->model) return ct__no_memory(w->out->err, "noise models", g->noise_count);
    for (int32_t i = 0; i < g->noise_count; i++) w->model[i] = g->noise_use[i].factors ? w->models++ : -1;
    return CT_OK;
}

static ct_status write_noise(writer *w)
{
    const int64_t   count = w->out->seq->graph->noise_count;
    const ct_noise *noise = w->out->noise;
    CT_TRY(begin(w, "noise.word", 1));
    for (int32_t i = 0; i < count; i++) {
        const ct_noise_model *m = ct_noise_get(noise, i);
        if (w->model[i] < 0) continue;
        CT_TRY(word(w, m->name));
        CT_TRY(word(w, NOISE_KIND[m->kind]));
        CT_TRY(word(w, ct_robust_name(m->robust.kind)));
    }
    end(w);
    CT_TRY(begin(w, "noise.dim", sizeof(int32_t)));
    for (int32_t i = 0; i < count; i++)
        if (w->model[i] >= 0) CT_TRY(append(w, &(int32_t){ct_noise_get(noise, i)->dim}, sizeof(int32_t), 0));
    end(w);
    CT_TRY(begin(w, "noise.number", sizeof(double)));
    for (int32_t i = 0; i < count; i++) {
        const ct_noise_model *m = ct_noise_get(noise, i);
        const int             numbers = m->kind == CT_NOISE_ISOTROPIC ? 1 : ct__noise_length(m->kind, m->dim);
        const double          width = m->robust.kind == CT_ROBUST_NONE ? 0 : m->robust.width;
        if (w->model[i] < 0) continue;
        CT_TRY(append(w, &width, sizeof width, 0));
        if (m->robust.ratio > 0) CT_TRY(append(w, &m->robust.ratio, sizeof width, 0));
        CT_TRY(append(w, m->covariance, numbers * (int64_t)sizeof(double), 0));
    }
    end(w);
    return CT_OK;
}

/* ---- variables ---- */

static ct_status write_kinds(writer *w)
{
    const ct_graph *g = w->out->seq->graph;
    CT_TRY(begin(w, "kind.name", 1));
    for (int k = 0; k < CT_KIND_COUNT; k++) {
        int used = 0;
        for (int32_t v = 0; v < g->variables && !used; v++) used = g->kind[v] == k;
        if (!used) continue;
        w->kinds_of[k] = w->kinds++;
        CT_TRY(word(w, ct_kind_name((ct_kind)k)));
    }
    end(w);
    CT_TRY(begin(w, "var.kind", 1));
    for (int32_t v = 0; v < g->variables; v++) CT_TRY(append(w, &(uint8_t){(uint8_t)w->kinds_of[g->kind[v]]}, 1, 0));
    end(w);
    return CT_OK;
}

static int are_named_by_index(const ct_graph *g)
{
    char name[16];
    for (int32_t v = 0; v < g->variables; v++) {
        snprintf(name, sizeof name, "x%d", v);
        if (strcmp(name, ct__names_get(&g->names, v))) return 0;
    }
    return 1;
}

/* The true value of a variable of which nothing is known may be anything in memory; no file has what is no value. */
static ct_status write_truth(writer *w)
{
    const ct_sequence *seq = w->out->seq;
    const ct_graph    *g = seq->graph;
    CT_TRY(begin(w, "truth", sizeof(double)));
    for (int32_t v = 0; v < g->variables; v++) {
        const ct_kind kind = (ct_kind)g->kind[v];
        const double *x = seq->truth + g->offset[v];
        double        identity[CT_SIZE_MAX];
        ct_kind_identity(kind, identity);
        if (!seq->known[v] && ct__check_value("", kind, x, NULL) != CT_OK) x = identity;
        CT_TRY(append(w, x, ct_kind_size(kind) * (int64_t)sizeof *x, 0));
    }
    end(w);
    return CT_OK;
}

static ct_status write_variables(writer *w)
{
    const ct_sequence *seq = w->out->seq;
    const ct_graph    *g = seq->graph;
    int                fixed = 0;
    CT_TRY(write_kinds(w));
    for (int32_t v = 0; v < g->variables; v++) fixed |= g->fixed[v];
    if (fixed) CT_TRY(section(w, "var.fixed", 1, g->fixed, g->variables));
    if (!are_named_by_index(g)) {
        CT_TRY(begin(w, "var.name", 1));
        for (int32_t v = 0; v < g->variables; v++) CT_TRY(word(w, ct__names_get(&g->names, v)));
        end(w);
    }
    CT_TRY(section(w, "var.value", sizeof(double), w->out->x, g->size));
    if (seq->stamp) CT_TRY(section(w, "var.time", sizeof(double), seq->stamp, g->variables));
    if (!seq->truth) return CT_OK;
    CT_TRY(write_truth(w));
    return section(w, "known", 1, seq->known, g->variables);
}

static ct_status write_shapes(writer *w)
{
    const ct_sequence *seq = w->out->seq;
    CT_TRY(begin(w, "shape.word", 1));
    for (int32_t i = 0; i < seq->shapes; i++) {
        CT_TRY(word(w, seq->shape_name[i]));
        CT_TRY(word(w, ct_shape_kind_name(ct_shape_kind_of(seq->shape[i]))));
    }
    end(w);
    CT_TRY(begin(w, "shape.count", sizeof(int64_t)));
    for (int32_t i = 0; i < seq->shapes; i++)
        CT_TRY(append(w, &(int64_t){ct_shape_numbers(seq->shape[i], 0, NULL)}, sizeof(int64_t), 0));
    end(w);
    CT_TRY(begin(w, "shape.number", sizeof(double)));
    for (int32_t i = 0; i < seq->shapes; i++) {
        const int64_t count = ct_shape_numbers(seq->shape[i], 0, NULL);
        double       *number = ct__zalloc(count, sizeof *number);
        if (!number) return ct__no_memory(w->out->err, "numbers of a shape", count);
        ct_shape_numbers(seq->shape[i], count, number);
        const ct_status status = append(w, number, count * (int64_t)sizeof *number, 0);
        free(number);
        CT_TRY(status);
    }
    end(w);
    return CT_OK;
}

/* ---- factors ---- */

static int32_t shape_of(const ct_sequence *seq, const ct__factor *f)
{
    for (int32_t i = 0; f->ops->shaped && i < seq->shapes; i++)
        if (seq->shape[i] == f->context) return i;
    return -1;
}

/* Which factors the file can hold; the measurement models that it names. */
static ct_status list_factors(writer *w)
{
    const ct_sequence *seq = w->out->seq;
    const ct_graph    *g = seq->graph;
    w->kept = ct__zalloc(g->factors, sizeof *w->kept);
    if (!w->kept) return ct__no_memory(w->out->err, "factors", g->factors);
    for (int32_t f = 0; f < g->factors; f++) {
        const ct__factor *k = &g->factor[f];
        if (ct_factor_registry_find(seq->models, k->ops->name) != k->ops || (k->context && !k->ops->shaped)) {
            CT_TRY(ct__out_drop(w->out, "factor %d (%s): covtune files hold built-in models and those of plugins alone",
                                f, k->ops->name));
            continue;
        }
        if (k->ops->shaped && shape_of(seq, k) < 0) {
            CT_TRY(ct__out_drop(w->out, "factor %d (%s): its shape is none of the sequence's", f, k->ops->name));
            continue;
        }
        int m = 0;
        while (m < w->measurement_models && w->ops[m] != k->ops) m++;
        if (m == (int)(sizeof w->ops / sizeof *w->ops))
            return ct_fail(w->out->err, CT_E_UNSUPPORTED, "a binary sequence holds at most %d measurement models", m);
        if (m == w->measurement_models) w->ops[w->measurement_models++] = k->ops;
        w->kept[f] = m + 1;
    }
    return CT_OK;
}

/* A column of the factors that are written. */
static ct_status int_column(writer *w, const char *name, int32_t (*of)(const writer *w, int32_t f))
{
    CT_TRY(begin(w, name, sizeof(int32_t)));
    for (int32_t f = 0; f < w->out->seq->graph->factors; f++)
        if (w->kept[f]) CT_TRY(append(w, &(int32_t){of(w, f)}, sizeof(int32_t), 0));
    end(w);
    return CT_OK;
}

static int32_t model_at(const writer *w, int32_t f) { return w->kept[f] - 1; }
static int32_t noise_at(const writer *w, int32_t f) { return w->model[w->out->seq->graph->factor[f].noise]; }
static int32_t shape_at(const writer *w, int32_t f) { return shape_of(w->out->seq, &w->out->seq->graph->factor[f]); }

static ct_status write_factors(writer *w)
{
    const ct_graph *g = w->out->seq->graph;
    int             multiplied = 0, shaped = 0;
    CT_TRY(begin(w, "model.name", 1));
    for (int m = 0; m < w->measurement_models; m++) CT_TRY(word(w, w->ops[m]->name));
    end(w);
    CT_TRY(int_column(w, "factor.model", model_at));
    CT_TRY(int_column(w, "factor.noise", noise_at));
    CT_TRY(begin(w, "factor.var", sizeof(int32_t)));
    for (int32_t f = 0; f < g->factors; f++)
        if (w->kept[f])
            CT_TRY(append(w, g->var_pool + g->factor[f].var, g->factor[f].ops->arity * (int64_t)sizeof(int32_t), 0));
    end(w);
    CT_TRY(begin(w, "factor.z", sizeof(double)));
    for (int32_t f = 0; f < g->factors; f++) {
        multiplied |= w->kept[f] && g->factor[f].multiplier != 1;
        shaped |= w->kept[f] && g->factor[f].ops->shaped;
        if (w->kept[f])
            CT_TRY(append(w, g->z_pool + g->factor[f].z,
                          ct_factor_z_size(g->factor[f].ops) * (int64_t)sizeof(double), 0));
    }
    end(w);
    if (multiplied) {
        CT_TRY(begin(w, "factor.times", sizeof(double)));
        for (int32_t f = 0; f < g->factors; f++)
            if (w->kept[f]) CT_TRY(append(w, &g->factor[f].multiplier, sizeof(double), 0));
        end(w);
    }
    return shaped ? int_column(w, "factor.shape", shape_at) : CT_OK;
}

static ct_status write_features(writer *w)
{
    const ct_graph *g = w->out->seq->graph;
    CT_TRY(begin(w, "feature.name", 1));
    for (int c = 0; c < ct_graph_features(g); c++) CT_TRY(word(w, ct_graph_feature_name(g, c)));
    end(w);
    CT_TRY(begin(w, "feature.value", sizeof(double)));
    for (int c = 0; c < ct_graph_features(g); c++)
        for (int32_t f = 0; f < g->factors; f++)
            if (w->kept[f]) CT_TRY(append(w, &(double){ct_graph_feature(g, f, c)}, sizeof(double), 0));
    end(w);
    return CT_OK;
}

/* ---- the file ---- */

static ct_status write_image(writer *w)
{
    const ct_sequence    *seq = w->out->seq;
    const ct_graph       *g = seq->graph;
    const ct__binary_head head = {.magic = CT__BINARY_MAGIC, .order = CT__BINARY_ORDER, .version = CT__BINARY_VERSION};
    ct__binary_section    room[28] = {{.flags = 0}}; /* more than there are */
    int64_t               kept = 0;
    CT_TRY(ct__out_check_names(w->out));
    CT_TRY(append(w, &head, sizeof head, 0));
    CT_TRY(append(w, room, sizeof room, 0));
    CT_TRY(list_models(w));
    CT_TRY(list_factors(w));
    for (int32_t f = 0; f < g->factors; f++) kept += w->kept[f] != 0;
    CT_TRY(section(w, "counts", sizeof(int64_t), (int64_t[]){g->variables, g->size, kept, w->models}, 4));
    if (seq->recording) CT_TRY(section(w, "recording", 1, seq->recording, (int64_t)strlen(seq->recording)));
    if (seq->truth_sigma[0] != 0 || seq->truth_sigma[1] != 0)
        CT_TRY(section(w, "truth_sigma", sizeof(double), seq->truth_sigma, 2));
    CT_TRY(write_noise(w));
    CT_TRY(write_variables(w));
    CT_TRY(write_shapes(w));
    CT_TRY(write_factors(w));
    CT_TRY(write_features(w));
    ((ct__binary_head *)w->image)->bytes = (uint64_t)w->used;
    ct__binary_seal(w->image, (size_t)w->used);
    fwrite(w->image, 1, (size_t)w->used, w->out->file); /* the caller checks the stream */
    return CT_OK;
}

ct_status ct__binary_write(ct__out *out)
{
    writer          w = {.out = out};
    const ct_status status = write_image(&w);
    free(w.image);
    free(w.kept);
    free(w.model);
    return status;
}
