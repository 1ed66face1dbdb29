/* read_binary.c: reads a binary sequence file (binary.h).
 *
 * The file is mapped, every checksum verified, every length compared with the counts, and every number checked as that
 * of a text file is. Then arrays are added to the graph. */
#define _POSIX_C_SOURCE 200809L
#include "data/binary.h"
#include "data/data.h"
#include "graph/graph.h"

#include <math.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* The sections of version 1, in the order of binary.h. */
enum {
    COUNTS, RECORDING, TRUTH_SIGMA, NOISE_WORD, NOISE_DIM, NOISE_NUMBER, KIND_NAME, VAR_KIND, VAR_FIXED, VAR_NAME,
    VAR_VALUE, VAR_TIME, TRUTH, KNOWN, SHAPE_WORD, SHAPE_COUNT, SHAPE_NUMBER, MODEL_NAME, FACTOR_MODEL, FACTOR_NOISE,
    FACTOR_VAR, FACTOR_Z, FACTOR_TIMES, FACTOR_SHAPE, FEATURE_NAME, FEATURE_VALUE, SECTIONS
};
static const struct {
    const char *name;
    uint32_t    size;
} KNOWN_SECTION[SECTIONS] = {
    [COUNTS] = {"counts", 8},         [RECORDING] = {"recording", 1},   [TRUTH_SIGMA] = {"truth_sigma", 8},
    [NOISE_WORD] = {"noise.word", 1}, [NOISE_DIM] = {"noise.dim", 4},   [NOISE_NUMBER] = {"noise.number", 8},
    [KIND_NAME] = {"kind.name", 1},   [VAR_KIND] = {"var.kind", 1},     [VAR_FIXED] = {"var.fixed", 1},
    [VAR_NAME] = {"var.name", 1},     [VAR_VALUE] = {"var.value", 8},   [VAR_TIME] = {"var.time", 8},
    [TRUTH] = {"truth", 8},           [KNOWN] = {"known", 1},           [SHAPE_WORD] = {"shape.word", 1},
    [SHAPE_COUNT] = {"shape.count", 8}, [SHAPE_NUMBER] = {"shape.number", 8},
    [MODEL_NAME] = {"model.name", 1}, [FACTOR_MODEL] = {"factor.model", 4}, [FACTOR_NOISE] = {"factor.noise", 4},
    [FACTOR_VAR] = {"factor.var", 4}, [FACTOR_Z] = {"factor.z", 8},     [FACTOR_TIMES] = {"factor.times", 8},
    [FACTOR_SHAPE] = {"factor.shape", 4}, [FEATURE_NAME] = {"feature.name", 1},
    [FEATURE_VALUE] = {"feature.value", 8}};

/* A section's elements; count 0 if the file has none. */
typedef struct {
    const void *at;
    int64_t     count;
} array;

typedef struct {
    ct__build  *b;
    const char *image;
    size_t      size;
    int         mapped;
    array       section[SECTIONS];
    int64_t     variables, values, factors, models;
    int32_t    *noise;                   /* per noise model of the file: its place in the table */
    const ct_factor_ops **ops;           /* per measurement model                               */
    int64_t     ops_count, ops_capacity;
    int         kind[CT_KIND_COUNT], kinds;
} reader;

#define BAD(r, ...) ct__lines_bad(&(r)->b->in, __VA_ARGS__)

/* ---- bytes ---- */

/* A stream without a file behind it, as of a test or a pipe. */
static ct_status read_whole(reader *r)
{
    FILE   *file = r->b->in.file;
    int64_t capacity = 0, used = 0;
    char   *bytes = NULL;
    for (size_t got = 1; got;) {
        const ct_status status = ct__grow(&bytes, &capacity, used + 65536, 1, "bytes", r->b->in.err);
        r->image = bytes;
        if (status != CT_OK) return status;
        got = fread(bytes + used, 1, 65536, file);
        used += (int64_t)got;
    }
    r->size = (size_t)used;
    return ferror(file) ? BAD(r, "it cannot be read: %s", strerror(errno)) : CT_OK;
}

static ct_status map_file(reader *r)
{
    struct stat info;
    const int   fd = fileno(r->b->in.file);
    if (fd < 0 || fstat(fd, &info) || !S_ISREG(info.st_mode) || info.st_size < (off_t)sizeof(ct__binary_head))
        return read_whole(r);
    void *at = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at == MAP_FAILED) return read_whole(r);
    r->image = at;
    r->size = (size_t)info.st_size;
    r->mapped = 1;
    return CT_OK;
}

static void unmap(reader *r)
{
    if (r->mapped) munmap((void *)(uintptr_t)r->image, r->size);
    else free((void *)(uintptr_t)r->image);
    free(r->noise);
    free((void *)r->ops);
}

/* ---- head and table ---- */

static ct_status check_head(reader *r, ct__binary_head *head)
{
    if (r->size < sizeof *head) return BAD(r, "it ends after %lld bytes, within its head", (long long)r->size);
    memcpy(head, r->image, sizeof *head);
    if (memcmp(head->magic, CT__BINARY_MAGIC, sizeof head->magic))
        return BAD(r, "it is no binary sequence: the first bytes are others");
    if (head->order != CT__BINARY_ORDER)
        return BAD(r, "it was written on a machine of other byte order; write a text sequence there: covtune convert");
    if (head->version != CT__BINARY_VERSION)
        return BAD(r, "the file is of version %u; this covtune reads version %d", head->version, CT__BINARY_VERSION);
    if (head->bytes != r->size)
        return BAD(r, "it has %lld bytes and should have %lld: it was cut off or changed", (long long)r->size,
                   (long long)head->bytes);
    const size_t table = head->sections * sizeof(ct__binary_section);
    if (head->sections > CT__BINARY_SECTIONS || sizeof *head + table > r->size)
        return BAD(r, "it has a table of %u sections, more than fit", head->sections);
    ct__binary_head blank = *head;
    blank.checksum = 0;
    if (head->checksum != ct__checksum(&blank, sizeof blank, ct__checksum(r->image + sizeof *head, table, 0)))
        return BAD(r, "its head is damaged: the checksum is another");
    return CT_OK;
}

static ct_status take_section(reader *r, const ct__binary_section *s)
{
    char quote[CT__QUOTE_MAX], name[17] = {0};
    int  i = 0;
    memcpy(name, s->name, sizeof s->name);
    while (i < SECTIONS && strcmp(KNOWN_SECTION[i].name, name)) i++;
    if (!ct__binary_is_inside(s, r->size))
        return BAD(r, "its section %s is not inside the file", ct__quote(name, quote));
    if (ct__checksum(r->image + s->at, s->count * s->size, 0) != s->checksum)
        return BAD(r, "its section %s is damaged: the checksum is another", ct__quote(name, quote));
    if (i == SECTIONS)
        return s->flags & CT__SECTION_OPTIONAL
                   ? CT_OK
                   : BAD(r, "it has a section %s, which this covtune does not know; a newer one wrote it",
                         ct__quote(name, quote));
    if (s->size != KNOWN_SECTION[i].size)
        return BAD(r, "the elements of its section %s have %u bytes and should have %u", name, s->size,
                   KNOWN_SECTION[i].size);
    if (r->section[i].at) return BAD(r, "it has a second section %s", name);
    r->section[i] = (array){r->image + s->at, (int64_t)s->count};
    return CT_OK;
}

static ct_status need(const reader *r, int section, int64_t count)
{
    if (r->section[section].count == count) return CT_OK;
    return BAD(r, "its section %s has %lld elements and should have %lld", KNOWN_SECTION[section].name,
               (long long)r->section[section].count, (long long)count);
}

/* Left out, or whole. */
static ct_status may_have(const reader *r, int section, int64_t count)
{
    return r->section[section].at ? need(r, section, count) : CT_OK;
}

static ct_status read_table(reader *r)
{
    ct__binary_head head;
    CT_TRY(check_head(r, &head));
    for (uint32_t i = 0; i < head.sections; i++) {
        ct__binary_section s;
        memcpy(&s, r->image + sizeof head + i * sizeof s, sizeof s);
        CT_TRY(take_section(r, &s));
    }
    CT_TRY(need(r, COUNTS, 4));
    const int64_t *count = r->section[COUNTS].at;
    for (int i = 0; i < 4; i++)
        if (count[i] < 0 || count[i] > (i == 1 ? INT64_MAX / 8 : INT32_MAX))
            return BAD(r, "its counts hold %lld", (long long)count[i]);
    r->variables = count[0], r->values = count[1], r->factors = count[2], r->models = count[3];
    const struct {
        int     section, optional;
        int64_t count;
    } length[] = {{VAR_KIND, 0, r->variables},    {VAR_VALUE, 0, r->values},      {FACTOR_MODEL, 0, r->factors},
                  {FACTOR_NOISE, 0, r->factors},  {NOISE_DIM, 0, r->models},      {VAR_FIXED, 1, r->variables},
                  {VAR_TIME, 1, r->variables},    {TRUTH, 1, r->values},          {TRUTH_SIGMA, 1, 2},
                  {FACTOR_TIMES, 1, r->factors},  {FACTOR_SHAPE, 1, r->factors},
                  {KNOWN, 0, r->section[TRUTH].at ? r->variables : 0}};
    for (size_t i = 0; i < sizeof length / sizeof *length; i++)
        CT_TRY((length[i].optional ? may_have : need)(r, length[i].section, length[i].count));
    return CT_OK;
}

/* ---- words ---- */

/* The next word of a section, which ends with a zero byte; `what` names it. */
static ct_status next_word(const reader *r, int section, int64_t *at, const char *what, const char **out)
{
    const array *s = &r->section[section];
    const char  *word = s->count ? (const char *)s->at + *at : "";
    const char  *end = *at < s->count ? memchr(word, 0, (size_t)(s->count - *at)) : NULL;
    char         quote[CT__QUOTE_MAX];
    if (!end) return BAD(r, "its section %s ends before the next %s", KNOWN_SECTION[section].name, what);
    *at += end - word + 1;
    *out = word;
    return ct__is_name(word) ? CT_OK : BAD(r, "%s is no name of a %s", ct__quote(word, quote), what);
}

static ct_status check_end(const reader *r, int section, int64_t at)
{
    if (at == r->section[section].count) return CT_OK;
    return BAD(r, "its section %s has %lld elements more than are used", KNOWN_SECTION[section].name,
               (long long)(r->section[section].count - at));
}

/* ---- of the whole sequence ---- */

static ct_status read_recording(reader *r)
{
    ct_sequence *seq = r->b->seq;
    const array *s = &r->section[RECORDING];
    if (r->section[TRUTH_SIGMA].at) {
        memcpy(seq->truth_sigma, r->section[TRUTH_SIGMA].at, sizeof seq->truth_sigma);
        for (int i = 0; i < 2; i++)
            if (!(seq->truth_sigma[i] >= 0) || isinf(seq->truth_sigma[i]))
                return BAD(r, "truth_sigma holds %g; a sigma is finite and not negative", seq->truth_sigma[i]);
    }
    if (!s->count) return CT_OK;
    seq->recording = ct__zalloc(s->count + 1, 1);
    if (!seq->recording) return ct__no_memory(r->b->in.err, "names", 1);
    memcpy(seq->recording, s->at, (size_t)s->count);
    if (!ct__is_name(seq->recording) || strlen(seq->recording) != (size_t)s->count)
        return BAD(r, "its section recording is no name of a recording");
    return CT_OK;
}

static const char *const NOISE_KIND[] = {
    [CT_NOISE_ISOTROPIC] = "isotropic", [CT_NOISE_DIAGONAL] = "diagonal", [CT_NOISE_FULL] = "full"};

static ct_status read_noise(reader *r)
{
    const int32_t *dim = r->section[NOISE_DIM].at;
    const double  *number = r->section[NOISE_NUMBER].at;
    int64_t        word = 0, at = 0;
    r->noise = ct__zalloc(r->models, sizeof *r->noise);
    if (!r->noise) return ct__no_memory(r->b->in.err, "noise models", r->models);
    for (int64_t i = 0; i < r->models; i++) {
        const char *name = NULL, *kind_name = NULL, *kernel = NULL;
        CT_TRY(next_word(r, NOISE_WORD, &word, "noise model", &name));
        CT_TRY(next_word(r, NOISE_WORD, &word, "kind of noise model", &kind_name));
        CT_TRY(next_word(r, NOISE_WORD, &word, "kernel", &kernel));
        const int kind = ct__find_name(kind_name, NOISE_KIND, 3), robust = ct_robust_find(kernel);
        if (kind < 0 || robust < 0)
            return BAD(r, "noise model %.40s is \"%.40s\" with kernel \"%.40s\"; there is no such one", name, kind_name,
                       kernel);
        if (dim[i] < 1 || dim[i] > CT_NOISE_DIM_MAX)
            return BAD(r, "noise model %.40s has %d rows; 1 to %d can be", name, dim[i], CT_NOISE_DIM_MAX);
        const int numbers = kind == CT_NOISE_ISOTROPIC ? 1 : ct__noise_length((ct_noise_kind)kind, dim[i]);
        const int first = robust == CT_ROBUST_MAX_MIXTURE ? 2 : 1; /* width, ratio */
        if (r->section[NOISE_NUMBER].count - at < first + numbers)
            return BAD(r, "its section noise.number ends within noise model %.40s", name);
        CT_TRY(ct__build_model(r->b, name, (ct_noise_kind)kind, dim[i], number + at + first,
                               (ct_robust){(ct_robust_kind)robust, robust == CT_ROBUST_NONE ? 0 : number[at],
                                           first > 1 ? number[at + 1] : 0},
                               &r->noise[i]));
        at += first + numbers;
    }
    CT_TRY(check_end(r, NOISE_WORD, word));
    return check_end(r, NOISE_NUMBER, at);
}

/* ---- variables ---- */

static ct_status read_kinds(reader *r)
{
    char quote[CT__QUOTE_MAX];
    for (int64_t at = 0; at < r->section[KIND_NAME].count;) {
        const char *name = NULL;
        CT_TRY(next_word(r, KIND_NAME, &at, "kind", &name));
        const int kind = ct_kind_find(name);
        if (kind < 0) return BAD(r, "there is no kind %s of variables", ct__quote(name, quote));
        if (r->kinds == CT_KIND_COUNT) return BAD(r, "its section kind.name has more kinds than there are");
        r->kind[r->kinds++] = kind;
    }
    return CT_OK;
}

static ct_status add_variables(reader *r)
{
    ct_graph      *g = r->b->seq->graph;
    const uint8_t *kind = r->section[VAR_KIND].at, *fixed = r->section[VAR_FIXED].at;
    const double  *value = r->section[VAR_VALUE].at;
    int64_t        at = 0, word = 0;
    CT_TRY(ct__graph_reserve(g, r->variables, r->values, r->factors, r->section[FACTOR_VAR].count,
                             r->section[FACTOR_Z].count, r->b->in.err));
    for (int64_t v = 0; v < r->variables; v++) {
        const char *name = NULL;
        if (kind[v] >= r->kinds) return BAD(r, "variable %lld is of kind %d of %d", (long long)v, kind[v], r->kinds);
        const ct_kind is = (ct_kind)r->kind[kind[v]];
        if (at + ct_kind_size(is) > r->values) return BAD(r, "its values end at variable %lld", (long long)v);
        if (r->section[VAR_NAME].at) CT_TRY(next_word(r, VAR_NAME, &word, "variable", &name));
        CT_TRY(ct__lines_place(&r->b->in, ct_graph_add_variable(g, name, is, value + at, NULL, r->b->in.err)));
        if (fixed && fixed[v] > 1) return BAD(r, "variable %lld is fixed by %d; 0 or 1 can be", (long long)v, fixed[v]);
        if (fixed) ct_graph_fix(g, (int32_t)v, fixed[v]);
        at += ct_kind_size(is);
    }
    CT_TRY(check_end(r, VAR_VALUE, at));
    return check_end(r, VAR_NAME, word);
}

static ct_status read_truth(reader *r)
{
    ct_sequence    *seq = r->b->seq;
    const ct_graph *g = seq->graph;
    ct_err         *err = r->b->in.err;
    if (r->section[TRUTH].at) {
        const double *x = r->section[TRUTH].at;
        for (int32_t v = 0; v < g->variables; v++)
            if (ct__check_value("", (ct_kind)g->kind[v], x + g->offset[v], NULL) != CT_OK)
                return BAD(r, "variable %.60s: its true value is not finite or no unit rotation",
                           ct__names_get(&g->names, v));
        CT_TRY(ct__lines_place(&r->b->in, ct_sequence_set_truth(seq, x, r->section[KNOWN].at, err)));
        r->b->truth_vars = g->variables;
        r->b->truth_capacity = g->size;
        r->b->known_capacity = g->variables;
    }
    if (r->section[VAR_TIME].at) {
        CT_TRY(ct__lines_place(&r->b->in, ct_sequence_set_times(seq, r->section[VAR_TIME].at, err)));
        r->b->stamp_vars = g->variables;
        r->b->stamp_capacity = g->variables;
    }
    return CT_OK;
}

static ct_status read_shapes(reader *r)
{
    ct__shape_lines *to = &r->b->shapes;
    const double    *number = r->section[SHAPE_NUMBER].at;
    const int64_t   *count = r->section[SHAPE_COUNT].at;
    int64_t          word = 0, at = 0;
    for (int64_t i = 0; i < r->section[SHAPE_COUNT].count; i++) {
        const char *name = NULL, *kind_name = NULL;
        CT_TRY(next_word(r, SHAPE_WORD, &word, "shape", &name));
        CT_TRY(next_word(r, SHAPE_WORD, &word, "kind of shape", &kind_name));
        const int kind = ct_shape_kind_find(kind_name);
        if (kind < 0) return BAD(r, "shape %.40s is of kind \"%.40s\"; there is no such one", name, kind_name);
        if (count[i] < 0 || count[i] > r->section[SHAPE_NUMBER].count - at)
            return BAD(r, "its section shape.number ends within shape %.40s", name);
        CT_TRY(ct__grow(&to->number, &to->capacity, count[i], sizeof *to->number, "numbers of a shape", r->b->in.err));
        if (count[i]) memcpy(to->number, number + at, (size_t)count[i] * sizeof *number);
        for (int64_t k = 0; k < count[i]; k++)
            if (!isfinite(to->number[k])) return BAD(r, "shape %.40s has a number that is not finite", name);
        to->count = count[i];
        to->kind = (ct_shape_kind)kind;
        to->name = ct__strdup(name);
        if (!to->name) return ct__no_memory(r->b->in.err, "names", 1);
        CT_TRY(ct__shape_end(r->b));
        at += count[i];
    }
    CT_TRY(check_end(r, SHAPE_WORD, word));
    return check_end(r, SHAPE_NUMBER, at);
}

/* ---- factors ---- */

static ct_status read_measurement_models(reader *r)
{
    for (int64_t at = 0; at < r->section[MODEL_NAME].count;) {
        const char *name = NULL;
        CT_TRY(next_word(r, MODEL_NAME, &at, "measurement model", &name));
        const ct_factor_ops *ops = ct_factor_registry_find(r->b->seq->models, name);
        if (!ops) return ct__build_no_measurement_model(r->b, name);
        CT_TRY(ct__grow(&r->ops, &r->ops_capacity, r->ops_count + 1, sizeof *r->ops, "measurement models",
                        r->b->in.err));
        r->ops[r->ops_count++] = ops;
    }
    return CT_OK;
}

static ct_status shape_of(reader *r, int64_t f, const ct_factor_ops *ops, const ct_shape **shape)
{
    const int32_t *index = r->section[FACTOR_SHAPE].at;
    *shape = NULL;
    if (!ops->shaped) return CT_OK;
    if (!index || index[f] < 0 || index[f] >= r->b->seq->shapes)
        return BAD(r, "factor %lld (%s) needs a shape; the file has no such one", (long long)f, ops->name);
    *shape = r->b->seq->shape[index[f]];
    return ct__shape_contact(r->b, index[f], 0);
}

/* Ranges in the plane had no height of the point before version 0.2.0. */
static int has_height(const ct_factor_ops *ops) { return ops == &ct_range_se2_r2 || ops == &ct_range_se2_point; }

/* Does the file have one number less for each of them? Then heights are 0. */
static int precedes_heights(const reader *r)
{
    const int32_t *model = r->section[FACTOR_MODEL].at;
    int64_t        numbers = 0, heights = 0;
    for (int64_t f = 0; f < r->factors; f++) {
        if (model[f] < 0 || model[f] >= r->ops_count) return 0;
        numbers += ct_factor_z_size(r->ops[model[f]]);
        heights += has_height(r->ops[model[f]]);
    }
    return heights > 0 && numbers - heights == r->section[FACTOR_Z].count;
}

static ct_status add_factors(reader *r)
{
    ct_graph      *g = r->b->seq->graph;
    const int32_t *model = r->section[FACTOR_MODEL].at, *noise = r->section[FACTOR_NOISE].at;
    const int32_t *var = r->section[FACTOR_VAR].at;
    const double  *z = r->section[FACTOR_Z].at, *times = r->section[FACTOR_TIMES].at;
    int64_t        v = 0, n = 0;
    const int      before = precedes_heights(r);
    for (int64_t f = 0; f < r->factors; f++) {
        const ct_shape *shape;
        double          own[CT_FIELDS_MAX] = {0};
        if (model[f] < 0 || model[f] >= r->ops_count || noise[f] < 0 || noise[f] >= r->models)
            return BAD(r, "factor %lld is of model %d with noise %d; the file has %lld and %lld", (long long)f,
                       model[f], noise[f], (long long)r->ops_count, (long long)r->models);
        const ct_factor_ops  *ops = r->ops[model[f]];
        const ct_noise_model *m = ct_noise_get(r->b->noise, r->noise[noise[f]]);
        if (m->dim != ops->rows)
            return BAD(r, "noise model %s has %d coordinates, %s needs %d", m->name, m->dim, ops->name, ops->rows);
        const int flat = before && has_height(ops), numbers = ct_factor_z_size(ops) - flat;
        if (r->section[FACTOR_VAR].count - v < ops->arity || r->section[FACTOR_Z].count - n < numbers)
            return BAD(r, "its variables or measurements end at factor %lld of %lld", (long long)f,
                       (long long)r->factors);
        CT_TRY(shape_of(r, f, ops, &shape));
        if (flat) memcpy(own, z + n, (size_t)numbers * sizeof *own);
        CT_TRY(ct__lines_place(&r->b->in, ct_graph_add_factor(g, ops, var + v, z && !flat ? z + n : own, shape,
                                                              r->noise[noise[f]], r->b->in.err)));
        if (times) CT_TRY(ct__lines_place(&r->b->in, ct_graph_set_multiplier(g, (int32_t)f, times[f], r->b->in.err)));
        v += ops->arity;
        n += numbers;
    }
    CT_TRY(check_end(r, FACTOR_VAR, v));
    return check_end(r, FACTOR_Z, n);
}

/* A column has a number for every factor; NaN is none. */
static ct_status read_features(reader *r)
{
    const array  *value = &r->section[FEATURE_VALUE];
    const double *column = value->at;
    int32_t      *factor = r->section[FEATURE_NAME].count ? ct__zalloc(r->factors, sizeof *factor) : NULL;
    double       *given = r->section[FEATURE_NAME].count ? ct__zalloc(r->factors, sizeof *given) : NULL;
    ct_status     status = CT_OK;
    if (r->section[FEATURE_NAME].count && (!factor || !given))
        status = ct__no_memory(r->b->in.err, "factors", r->factors);
    int64_t at = 0, used = 0;
    while (status == CT_OK && at < r->section[FEATURE_NAME].count) {
        const char *name = NULL;
        int64_t     n = 0;
        status = next_word(r, FEATURE_NAME, &at, "feature", &name);
        if (status == CT_OK && value->count - used < r->factors)
            status = BAD(r, "its section feature.value ends within feature %.40s", name);
        for (int64_t f = 0; status == CT_OK && f < r->factors; f++)
            if (!isnan(column[used + f])) factor[n] = (int32_t)f, given[n++] = column[used + f];
        if (status == CT_OK && ct_graph_find_feature(r->b->seq->graph, name) >= 0)
            status = BAD(r, "feature %.40s is there already", name);
        if (status == CT_OK)
            status = ct__lines_place(
                &r->b->in, ct_graph_set_feature(r->b->seq->graph, name, n, factor, given, r->b->in.err));
        used += r->factors;
    }
    free(factor);
    free(given);
    CT_TRY(status);
    return check_end(r, FEATURE_VALUE, used);
}

static ct_status read_all(reader *r)
{
    r->b->repairs.of = "noise model";
    CT_TRY(map_file(r));
    CT_TRY(read_table(r));
    CT_TRY(read_recording(r));
    CT_TRY(read_noise(r));
    CT_TRY(read_kinds(r));
    CT_TRY(add_variables(r));
    CT_TRY(read_truth(r));
    CT_TRY(read_shapes(r));
    CT_TRY(read_measurement_models(r));
    CT_TRY(add_factors(r));
    CT_TRY(read_features(r));
    return ct__shape_check(r->b);
}

ct_status ct__binary_read(ct__build *b)
{
    reader          r = {.b = b};
    const ct_status status = read_all(&r);
    unmap(&r);
    return status;
}
