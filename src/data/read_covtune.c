/* read_covtune.c: covtune's own sequence format.
 *
 *   covtune-sequence 2                                 format and version, always the first line
 *   recording walk1                                    optional: what it is a part of (version 2)
 *   truth_sigma 0.01 0.002                             optional: sigma of the truth itself, m and rad (version 2)
 *   # a comment, to the end of the line
 *   noise  odom@0 diagonal 0.01 0.01 0.0004            isotropic DIM V | diagonal V.. | full ROW..
 *   noise  gps isotropic 2 0.25 huber 1.345            optional: robust kernel and its width
 *   shape  box rectangle 0.118 0.079                   outlines that factors refer to: read_covtune_shape.c
 *   var    x0 SE2 0 0 0 t=12.5 fixed                   optional: time in seconds; fixed at its value
 *   truth  x0 0 0 0.01 known=x,y                       optional: the known coordinates
 *   factor between_se2 odom@0 x0 x1 1 0 0.1            type, noise model, variables, measurement
 *   factor between_se2 odom@0 x1 x2 multiplier=2.5 3 0 0   its covariance: 2.5 times the model's (version 2)
 *   factor position_se2 gps x2 hdop=1.4 sats=7 3 4     its features (version 3)
 *
 * Names are single words, defined before use. A planar rotation is an angle, or, if no angle reads back to the same
 * bits, the pair cos,sin as one word. Optional parts of a measurement (ct_factor_ops) are omitted if they are the
 * identity. Written files read back to the bit. A file has the lowest
 * version that has all that is in it, so that older programs read what they can. */
#include "data/data.h"
#include "graph/graph.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>

#define MAGIC      "covtune-sequence"
#define VERSION    3
#define MULTIPLIER "multiplier="

/* ---- elements, with pairs for angles ---- */

/* A word "c,s": a unit pair, normalised like quaternions unless it is unit up to rounding. */
static int read_pair(const char *word, double pair[2])
{
    char        first[40];
    const char *comma = strchr(word, ',');
    if (!comma || (size_t)(comma - word) >= sizeof first) return 0;
    memcpy(first, word, (size_t)(comma - word));
    first[comma - word] = 0;
    if (!ct__is_number(first, &pair[0]) || !ct__is_number(comma + 1, &pair[1])) return 0;
    const double n2 = pair[0] * pair[0] + pair[1] * pair[1];
    if (!(n2 > 0)) return 0;
    if (fabs(n2 - 1) > 8 * DBL_EPSILON) {
        const ct_so2 unit = ct_so2_normalize((ct_so2){pair[0], pair[1]});
        pair[0] = unit.c;
        pair[1] = unit.s;
    }
    return 1;
}

static int is_planar(ct_kind kind) { return kind == CT_SO2 || kind == CT_SE2; }

static ct_status read_element(ct__build *b, int w, ct_kind kind, double *x)
{
    const int at = w + ct_kind_fields(kind) - 1; /* word of the angle */
    char      quote[CT__QUOTE_MAX];
    if (!is_planar(kind) || at >= b->in.words || !strchr(b->in.word[at], ','))
        return ct__word_element(&b->in, w, kind, x);
    CT_TRY(ct__word_numbers(&b->in, w, at - w, ct_kind_name(kind), x));
    if (!read_pair(b->in.word[at], x + (at - w)))
        return ct__lines_bad(&b->in, "expected an angle or cos,sin, found %s", ct__quote(b->in.word[at], quote));
    return CT_OK;
}

/* Texts up to a NULL, without the cost of reading a format for every line. */
static void put_words(FILE *file, const char *word, ...)
{
    va_list args;
    va_start(args, word);
    for (; word; word = va_arg(args, const char *)) fputs(word, file);
    va_end(args);
}

static void write_element(const ct__out *out, ct_kind kind, const double *x)
{
    const int at = ct_kind_fields(kind) - 1;
    double    theta;
    char      c[32], s[32];
    if (!is_planar(kind) || ct__angle(x[at], x[at + 1], &theta)) {
        ct__out_element(out, kind, x);
        return;
    }
    ct__out_numbers(out, at, x);
    fprintf(out->file, " %s,%s", ct__format_double(x[at], c), ct__format_double(x[at + 1], s));
}

/* ---- of the whole sequence ---- */

/* A word or line that versions before have not. */
static ct_status need_version(const ct__build *b, int version, const char *what)
{
    if (b->version >= version) return CT_OK;
    return ct__lines_bad(&b->in, "%s is of version %d; the first line must then be \"" MAGIC " %d\"", what, version,
                         version);
}

static ct_status read_recording(ct__build *b)
{
    CT_TRY(need_version(b, 2, "recording"));
    CT_TRY(ct__word_need(&b->in, 1, 1, "name"));
    CT_TRY(ct__word_end(&b->in, 2));
    if (b->seq->recording) return ct__lines_bad(&b->in, "a second recording; the first is %s", b->seq->recording);
    b->seq->recording = ct__strdup(b->in.word[1]);
    return b->seq->recording ? CT_OK : ct__no_memory(b->in.err, "names", 1);
}

/* Sigmas in m and rad; the second may be missing. */
static ct_status read_truth_sigma(ct__build *b)
{
    double *sigma = b->seq->truth_sigma;
    CT_TRY(need_version(b, 2, "truth_sigma"));
    CT_TRY(ct__word_need(&b->in, 1, 1, "sigma"));
    if (sigma[0] != 0 || sigma[1] != 0) return ct__lines_bad(&b->in, "a second truth_sigma");
    const int words = b->in.words > 2 ? 2 : 1;
    CT_TRY(ct__word_numbers(&b->in, 1, words, "a sigma", sigma));
    for (int i = 0; i < words; i++)
        if (sigma[i] < 0) return ct__lines_bad(&b->in, "a sigma is not negative, found %s", b->in.word[1 + i]);
    return ct__word_end(&b->in, 1 + words);
}

static void write_header(const ct__out *out)
{
    const ct_sequence *seq = out->seq;
    if (seq->recording) fprintf(out->file, "recording %s\n", seq->recording);
    if (seq->truth_sigma[0] == 0 && seq->truth_sigma[1] == 0) return;
    fputs("truth_sigma", out->file);
    ct__out_numbers(out, seq->truth_sigma[1] == 0 ? 1 : 2, seq->truth_sigma);
    putc('\n', out->file);
}

/* ---- noise ---- */

static const char *const NOISE_KIND[] = {
    [CT_NOISE_ISOTROPIC] = "isotropic", [CT_NOISE_DIAGONAL] = "diagonal", [CT_NOISE_FULL] = "full"};

/* "huber 1.345" or "max_mixture 3 10" at the end of the line; *words <- the number of words before it. */
static ct_status read_robust(ct__build *b, int *words, ct_robust *robust)
{
    *robust = (ct_robust){.kind = CT_ROBUST_NONE};
    *words = b->in.words;
    int       kind = b->in.words > 4 ? ct_robust_find(b->in.word[b->in.words - 2]) : -1;
    const int two = kind < 0 && b->in.words > 5 &&
                    ct_robust_find(b->in.word[b->in.words - 3]) == CT_ROBUST_MAX_MIXTURE;
    if (two) kind = CT_ROBUST_MAX_MIXTURE;
    if (kind <= CT_ROBUST_NONE) return CT_OK;
    *words -= two ? 3 : 2;
    robust->kind = (ct_robust_kind)kind;
    CT_TRY(ct__word_number(&b->in, *words + 1, "the kernel's width", &robust->width));
    robust->ratio = ct_robust_default_ratio(robust->kind);
    return two ? ct__word_number(&b->in, *words + 2, "the kernel's ratio", &robust->ratio) : CT_OK;
}

static ct_status read_noise(ct__build *b)
{
    char      quote[CT__QUOTE_MAX];
    double    value[36];
    int       words, kind = CT_NOISE_FULL;
    int32_t   index;
    int64_t   dim = 1;
    ct_robust robust;
    CT_TRY(ct__word_need(&b->in, 1, 3, "words: name, kind and variances"));
    CT_TRY(read_robust(b, &words, &robust));
    while (kind >= 0 && strcmp(NOISE_KIND[kind], b->in.word[2])) kind--;
    const int numbers = words - 3;
    if (kind < 0)
        return ct__lines_bad(&b->in, "expected isotropic, diagonal or full, found %s", ct__quote(b->in.word[2], quote));
    if (kind == CT_NOISE_ISOTROPIC) {
        if (numbers != 2)
            return ct__lines_bad(&b->in, "isotropic needs a dimension and a variance, found %d words", numbers);
        CT_TRY(ct__word_integer(&b->in, 3, "the dimension", 1, CT_NOISE_DIM_MAX, &dim));
        CT_TRY(ct__word_number(&b->in, 4, "the variance", value));
        return ct__build_model(b, b->in.word[1], CT_NOISE_ISOTROPIC, (int)dim, value, robust, &index);
    }
    while (dim < CT_NOISE_DIM_MAX && (kind == CT_NOISE_FULL ? dim * dim : dim) < numbers) dim++;
    if ((kind == CT_NOISE_FULL ? dim * dim : dim) != numbers)
        return ct__lines_bad(&b->in,
                             kind == CT_NOISE_FULL ? "full needs n x n numbers with n from 1 to %d, found %d"
                                                   : "diagonal needs 1 to %d variances, found %d",
                             CT_NOISE_DIM_MAX, numbers);
    CT_TRY(ct__word_numbers(&b->in, 3, numbers, "a variance", value));
    return ct__build_model(b, b->in.word[1], (ct_noise_kind)kind, (int)dim, value, robust, &index);
}

static void write_noise(const ct__out *out, int32_t index)
{
    const ct_noise_model *m = ct_noise_get(out->noise, index);
    fprintf(out->file, "noise %s %s", m->name, NOISE_KIND[m->kind]);
    if (m->kind == CT_NOISE_ISOTROPIC) fprintf(out->file, " %d", m->dim);
    ct__out_numbers(out,
                    m->kind == CT_NOISE_ISOTROPIC  ? 1
                    : m->kind == CT_NOISE_DIAGONAL ? m->dim
                                                   : m->dim * m->dim,
                    m->covariance);
    if (m->robust.kind != CT_ROBUST_NONE) {
        fprintf(out->file, " %s", ct_robust_name(m->robust.kind));
        ct__out_numbers(out, 1, &m->robust.width);
        if (m->robust.ratio > 0) ct__out_numbers(out, 1, &m->robust.ratio);
    }
    putc('\n', out->file);
}

/* ---- variables and truth ---- */

/* Most lines name the variable of the line before, or the next one: its name is compared before it is looked up. */
static int32_t guess_variable(const ct__build *b, const char *name)
{
    const ct_graph *g = b->seq->graph;
    for (int32_t v = b->found; v < g->variables && v <= b->found + 1; v++)
        if (!strcmp(ct__names_get(&g->names, v), name)) return v;
    return -1;
}

static ct_status find_variable(ct__build *b, int w, int32_t *var)
{
    char quote[CT__QUOTE_MAX];
    *var = guess_variable(b, b->in.word[w]);
    if (*var < 0) *var = ct_graph_find(b->seq->graph, b->in.word[w]);
    b->found = CT_MAX(*var, 0);
    return *var >= 0 ? CT_OK : ct__lines_bad(&b->in, "there is no variable %s above", ct__quote(b->in.word[w], quote));
}

static ct_status read_var(ct__build *b)
{
    char    quote[CT__QUOTE_MAX];
    double  x[CT_SIZE_MAX], stamp = NAN;
    int     fixed = 0;
    int32_t var;
    CT_TRY(ct__word_need(&b->in, 1, 2, "words: name and kind"));
    const int kind = ct_kind_find(b->in.word[2]);
    if (kind < 0)
        return ct__lines_bad(&b->in, "expected R1, R2, R3, SO2, SO3, SE2 or SE3, found %s",
                             ct__quote(b->in.word[2], quote));
    CT_TRY(read_element(b, 3, (ct_kind)kind, x));
    int w = 3 + ct_kind_fields((ct_kind)kind);
    if (w < b->in.words && !strncmp(b->in.word[w], "t=", 2)) {
        if (!ct__is_number(b->in.word[w] + 2, &stamp))
            return ct__lines_bad(&b->in, "expected t= and a finite number, found %s", ct__quote(b->in.word[w], quote));
        w++;
    }
    if (w < b->in.words && !strcmp(b->in.word[w], "fixed")) w++, fixed = 1;
    CT_TRY(ct__word_end(&b->in, w));
    CT_TRY(ct__build_variable(b, b->in.word[1], (ct_kind)kind, x, &var));
    ct_graph_fix(b->seq->graph, var, fixed);
    return isnan(stamp) ? CT_OK : ct__build_stamp(b, var, stamp);
}

/* known=x,y: names of coordinates (ct_kind_find_coordinate); known=none is no coordinate. */
static ct_status read_known(ct__build *b, int w, ct_kind kind, unsigned *known)
{
    char  quote[CT__QUOTE_MAX];
    char *at = b->in.word[w] + strlen("known=");
    *known = 0;
    if (!strcmp(at, "none")) return CT_OK;
    while (at) {
        char *comma = strchr(at, ','), *name = at;
        if (comma) *comma = 0;
        at = comma ? comma + 1 : NULL;
        const int i = ct_kind_find_coordinate(kind, name);
        if (i < 0)
            return ct__lines_bad(&b->in, "known= names %s, which is no coordinate of %s", ct__quote(name, quote),
                                 ct_kind_name(kind));
        *known |= 1u << i;
    }
    return CT_OK;
}

static ct_status read_truth(ct__build *b)
{
    int32_t  var;
    double   x[CT_SIZE_MAX];
    unsigned known = ~0u;
    CT_TRY(ct__word_need(&b->in, 1, 1, "variable"));
    CT_TRY(find_variable(b, 1, &var));
    const ct_kind kind = ct_graph_kind(b->seq->graph, var);
    CT_TRY(read_element(b, 2, kind, x));
    int w = 2 + ct_kind_fields(kind);
    if (w < b->in.words && !strncmp(b->in.word[w], "known=", 6)) CT_TRY(read_known(b, w++, kind, &known));
    CT_TRY(ct__word_end(&b->in, w));
    if (var < b->truth_vars && b->seq->known[var]) return ct__lines_bad(&b->in, "a second truth for %s", b->in.word[1]);
    return ct__build_truth(b, var, x, known);
}

static void write_truth(const ct__out *out, const char *name, int32_t var)
{
    const ct_graph *g = out->seq->graph;
    const ct_kind   kind = ct_graph_kind(g, var);
    const double   *x = out->seq->truth + ct_graph_offset(g, var);
    const unsigned  known = out->seq->known[var], all = (1u << ct_kind_dim(kind)) - 1;
    if (!known && ct__is_identity(kind, x)) return; /* the reader's default for a variable without truth */
    put_words(out->file, "truth ", name, NULL);
    write_element(out, kind, x);
    if (known != all) {
        const char *before = known ? " known=" : " known=none";
        for (int i = 0; i < ct_kind_dim(kind); i++)
            if (known >> i & 1) fprintf(out->file, "%s%s", before, ct_kind_coordinate(kind, i)), before = ",";
        if (!known) fputs(before, out->file);
    }
    putc('\n', out->file);
}

static void write_variable(const ct__out *out, int32_t var)
{
    const ct_sequence *seq = out->seq;
    const ct_kind      kind = ct_graph_kind(seq->graph, var);
    const char        *name = ct__names_get(&seq->graph->names, var);
    put_words(out->file, "var ", name, " ", ct_kind_name(kind), NULL);
    write_element(out, kind, out->x + ct_graph_offset(seq->graph, var));
    if (seq->stamp && !isnan(seq->stamp[var])) {
        char t[32];
        put_words(out->file, " t=", ct__format_double(seq->stamp[var], t), NULL);
    }
    fputs(ct_graph_fixed(seq->graph, var) ? " fixed\n" : "\n", out->file);
    if (seq->truth) write_truth(out, name, var);
}

/* ---- factors ---- */

/* The measurement from word w on: all required parts, then the optional ones that the line has. */
static ct_status read_measurement(ct__build *b, int w, const ct_factor_ops *ops, double *z)
{
    for (int i = 0; i < ops->fields; i++) {
        if (i >= ops->required && w >= b->in.words) {
            ct_kind_identity(ops->field[i], z);
        } else {
            CT_TRY(read_element(b, w, ops->field[i], z));
            w += ct_kind_fields(ops->field[i]);
        }
        z += ct_kind_size(ops->field[i]);
    }
    return ct__word_end(&b->in, w);
}

/* Name of model i of all: the built-in ones, then those of the registry. */
static const char *model_at(const void *registry, int i)
{
    int built_in = 0;
    while (built_in < i && ct_factor_at(built_in)) built_in++;
    const ct_factor_ops *ops = ct_factor_at(i) ? ct_factor_at(i) : ct_factor_registry_at(registry, i - built_in);
    return ops ? ops->name : NULL;
}

ct_status ct__build_no_measurement_model(const ct__build *b, const char *name)
{
    char        quote[CT__QUOTE_MAX];
    const char *near = ct_nearest(name, model_at, b->seq->models);
    if (near)
        return ct__lines_bad(&b->in, "there is no measurement model %s; did you mean %s?", ct__quote(name, quote),
                             near);
    return ct__lines_bad(&b->in, "there is no measurement model %s, built in or of a plugin", ct__quote(name, quote));
}

/* multiplier=2.5 at word *w, if it is there. */
static ct_status read_multiplier(ct__build *b, int *w, double *m)
{
    char quote[CT__QUOTE_MAX];
    *m = 1;
    if (*w >= b->in.words || strncmp(b->in.word[*w], MULTIPLIER, strlen(MULTIPLIER))) return CT_OK;
    CT_TRY(need_version(b, 2, MULTIPLIER));
    if (!ct__is_number(b->in.word[*w] + strlen(MULTIPLIER), m))
        return ct__lines_bad(&b->in, "expected " MULTIPLIER " and a finite number, found %s",
                             ct__quote(b->in.word[*w], quote));
    ++*w;
    return CT_OK;
}

typedef struct {
    int    count;
    char   name[CT_FEATURES_MAX][CT_FEATURE_NAME_MAX + 1];
    double value[CT_FEATURES_MAX];
} features;

/* hdop=1.4 sats=7 from word *w on, as far as there are such words. */
static ct_status read_features(ct__build *b, int *w, features *to)
{
    char        quote[CT__QUOTE_MAX];
    const char *sign;
    for (to->count = 0; *w < b->in.words && (sign = strchr(b->in.word[*w], '=')) != NULL; ++*w, to->count++) {
        const char  *word = b->in.word[*w];
        const size_t n = (size_t)(sign - word);
        CT_TRY(need_version(b, 3, "a feature, NAME=NUMBER,"));
        if (to->count == CT_FEATURES_MAX)
            return ct__lines_bad(&b->in, "more than %d features of one factor", CT_FEATURES_MAX);
        char *name = to->name[to->count];
        snprintf(name, sizeof to->name[0], "%.*s", (int)CT_MIN(n, sizeof to->name[0] - 1), word);
        const char *why = n >= sizeof to->name[0] ? "has more than 31 characters" : ct__feature_name_invalid(name);
        if (why) return ct__lines_bad(&b->in, "feature %s: its name %s", ct__quote(word, quote), why);
        for (int i = 0; i < to->count; i++)
            if (!strcmp(to->name[i], name)) return ct__lines_bad(&b->in, "feature %s is given twice", name);
        if (!ct__is_number(sign + 1, &to->value[to->count]))
            return ct__lines_bad(&b->in, "expected feature %s= and a finite number, found %s", name,
                                 ct__quote(word, quote));
    }
    return CT_OK;
}

static ct_status set_features(ct__build *b, int32_t f, const features *from)
{
    for (int i = 0; i < from->count; i++)
        CT_TRY(ct__lines_place(
            &b->in, ct_graph_set_feature(b->seq->graph, from->name[i], 1, &f, &from->value[i], b->in.err)));
    return CT_OK;
}

static ct_status read_factor(ct__build *b)
{
    features        given;
    char            quote[CT__QUOTE_MAX];
    int32_t         var[CT_ARITY_MAX];
    double          z[CT_FIELDS_MAX * CT_SIZE_MAX];
    double          multiplier;
    const ct_shape *shape = NULL;
    CT_TRY(ct__word_need(&b->in, 1, 2, "words: model and noise"));
    const ct_factor_ops *ops = ct_factor_registry_find(b->seq->models, b->in.word[1]);
    if (!ops) return ct__build_no_measurement_model(b, b->in.word[1]);
    const int32_t noise = ct__build_find_model(b, b->in.word[2]);
    if (noise < 0) return ct__lines_bad(&b->in, "there is no noise model %s above", ct__quote(b->in.word[2], quote));
    const ct_noise_model *m = ct_noise_get(b->noise, noise);
    if (m->dim != ops->rows)
        return ct__lines_bad(&b->in, "noise model %s has %d coordinates, %s needs %d", m->name, m->dim, ops->name,
                             ops->rows);
    CT_TRY(ct__word_need(&b->in, 3, ops->arity, "variables"));
    for (int i = 0; i < ops->arity; i++) CT_TRY(find_variable(b, 3 + i, &var[i]));
    int w = 3 + ops->arity;
    if (ops->shaped) CT_TRY(ct__shape_word(b, w++, ops, &shape));
    CT_TRY(read_multiplier(b, &w, &multiplier));
    CT_TRY(read_features(b, &w, &given));
    CT_TRY(read_measurement(b, w, ops, z));
    CT_TRY(ct__lines_place(&b->in, ct_graph_add_factor(b->seq->graph, ops, var, z, shape, noise, b->in.err)));
    const int32_t added = ct_graph_factors(b->seq->graph) - 1;
    CT_TRY(ct__lines_place(&b->in, ct_graph_set_multiplier(b->seq->graph, added, multiplier, b->in.err)));
    return set_features(b, added, &given);
}

/* The sequence's name of a factor's shape, or NULL. */
static const char *shape_name(const ct_sequence *seq, const void *shape)
{
    for (int32_t i = 0; i < seq->shapes; i++)
        if (seq->shape[i] == shape) return seq->shape_name[i];
    return NULL;
}

static ct_status write_factor(ct__out *out, int32_t index)
{
    const ct_graph *g = out->seq->graph;
    const ct_factor f = ct_graph_factor(g, index);
    const char     *shape = f.ops->shaped ? shape_name(out->seq, f.context) : NULL;
    char            m[32];
    if (ct_factor_registry_find(out->seq->models, f.ops->name) != f.ops || (f.context && !f.ops->shaped))
        return ct__out_drop(out, "factor %d (%s): covtune files hold built-in models and those of plugins alone", index,
                            f.ops->name);
    if (f.ops->shaped && !shape)
        return ct__out_drop(out, "factor %d (%s): its shape is none of the sequence's", index, f.ops->name);
    put_words(out->file, "factor ", f.ops->name, " ", ct_noise_get(out->noise, f.noise)->name, NULL);
    for (int i = 0; i < f.ops->arity; i++) put_words(out->file, " ", ct__names_get(&g->names, f.var[i]), NULL);
    if (shape) fprintf(out->file, " shape=%s", shape);
    if (f.multiplier != 1) fprintf(out->file, " " MULTIPLIER "%s", ct__format_double(f.multiplier, m));
    for (int c = 0; c < ct_graph_features(g); c++) {
        const double value = ct_graph_feature(g, index, c);
        if (!isnan(value)) fprintf(out->file, " %s=%s", ct_graph_feature_name(g, c), ct__format_double(value, m));
    }
    const double *part[CT_FIELDS_MAX] = {f.z};
    int           parts = f.ops->fields;
    for (int i = 1; i < parts; i++) part[i] = part[i - 1] + ct_kind_size(f.ops->field[i - 1]);
    while (parts > f.ops->required && ct__is_identity(f.ops->field[parts - 1], part[parts - 1])) parts--;
    for (int i = 0; i < parts; i++) write_element(out, f.ops->field[i], part[i]);
    putc('\n', out->file);
    return CT_OK;
}

/* ---- the file ---- */

static const struct {
    const char *word;
    ct_status (*read)(ct__build *b);
} LINE[] = {{"recording", read_recording},
            {"truth_sigma", read_truth_sigma},
            {"noise", read_noise},
            {"shape", ct__shape_begin},
            {"var", read_var},
            {"truth", read_truth},
            {"factor", read_factor}};

static ct_status read_line(ct__build *b)
{
    char quote[CT__QUOTE_MAX];
    if (!strcmp(b->in.word[0], "+")) return ct__shape_more(b);
    CT_TRY(ct__shape_end(b));
    for (size_t i = 0; i < sizeof LINE / sizeof *LINE; i++)
        if (!strcmp(b->in.word[0], LINE[i].word)) return LINE[i].read(b);
    return ct__lines_bad(&b->in, "expected recording, truth_sigma, noise, shape, var, truth or factor, found %s",
                         ct__quote(b->in.word[0], quote));
}

ct_status ct__seqfile_read(ct__build *b)
{
    int     more;
    char    quote[CT__QUOTE_MAX];
    b->repairs.of = "noise model";
    CT_TRY(ct__lines_next(&b->in, &more));
    if (!more || strcmp(b->in.word[0], MAGIC))
        return ct__lines_bad(&b->in, "the first line must be \"" MAGIC " %d\"", VERSION);
    CT_TRY(ct__word_integer(&b->in, 1, "the format's version", 1, INT32_MAX, &b->version));
    if (b->version > VERSION)
        return ct__lines_bad(&b->in, "the file is of version %s; this covtune reads versions 1 to %d",
                             ct__quote(b->in.word[1], quote), VERSION);
    for (;;) {
        CT_TRY(ct__lines_next(&b->in, &more));
        if (!more) break;
        CT_TRY(read_line(b));
    }
    CT_TRY(ct__shape_end(b));
    return ct__shape_check(b);
}

ct_status ct__out_check_names(const ct__out *out)
{
    const ct_graph *g = out->seq->graph;
    for (int32_t v = 0; v < g->variables; v++) CT_TRY(ct__out_check_name(out, "variable", ct__names_get(&g->names, v)));
    for (int32_t i = 0; i < g->noise_count; i++)
        if (g->noise_use[i].factors) CT_TRY(ct__out_check_name(out, "noise model", ct_noise_get(out->noise, i)->name));
    for (int32_t i = 0; i < out->seq->shapes; i++) CT_TRY(ct__out_check_name(out, "shape", out->seq->shape_name[i]));
    return out->seq->recording ? ct__out_check_name(out, "recording", out->seq->recording) : CT_OK;
}

/* The lowest version that holds the sequence. */
static int version_of(const ct_sequence *seq)
{
    if (ct_graph_features(seq->graph)) return 3;
    if (seq->recording || seq->truth_sigma[0] != 0 || seq->truth_sigma[1] != 0) return 2;
    for (int32_t f = 0; f < seq->graph->factors; f++)
        if (seq->graph->factor[f].multiplier != 1) return 2;
    return 1;
}

ct_status ct__seqfile_write(ct__out *out)
{
    const ct_graph *g = out->seq->graph;
    CT_TRY(ct__out_check_names(out));
    fprintf(out->file, MAGIC " %d\n", version_of(out->seq));
    write_header(out);
    for (int32_t i = 0; i < g->noise_count; i++)
        if (g->noise_use[i].factors) write_noise(out, i);
    CT_TRY(ct__shapes_write(out));
    for (int32_t v = 0; v < g->variables; v++) write_variable(out, v);
    for (int32_t f = 0; f < g->factors; f++) CT_TRY(write_factor(out, f));
    return CT_OK;
}
