/* dataset_yaml.c: interpretation of dataset.yaml.
 *
 *   format: covtune-dataset
 *   version: 2
 *   groups:                              what is learned, and start values; all of it is optional
 *     - name: odom@0                     a noise model, or a group: odom applies to odom@0 and odom#7 as well
 *       variance: [0.01, 0.01, 0.04]     start; one number: isotropic. Or covariance: [row by row]
 *       kind: diagonal                   as which it is learned
 *       bounds: [1e-3, 1e3]              of all variances. Or lower: [..] and upper: [..], one number, or one per
 *                                        coordinate
 *       unit: [0.01, 0.01, 0.1]          sigmas that count as one, one for all or one per coordinate: bounds are of
 *                                        variances over their squares
 *       learn: true
 *   recordings:                          dataset_recordings.c
 *     - {name: walk1, files: [train/a*]}
 *   truth_sigma: {translation: 0.01}
 *   train: [train/0000.ctseq, ...]       relative to the folder of this file; patterns (train/a*) stand for the files
 *   test: [...]                          that match. Without both lists: as without this file
 *
 * The most specific name applies: for odom@1#7 the group odom@1#7, else odom@1, else odom. */
#include "data/data.h"

#include <math.h>

#define FORMAT  "covtune-dataset"
#define VERSION 2 /* 1 has no recordings, truth_sigma and patterns */

static const char *const KIND[] = {"isotropic", "diagonal", "full"};

/* ---- names ---- */

/* Groups by name: by an index, or by linear search. */
typedef struct {
    const ct__names *index; /* or NULL */
    const void      *list;
    int64_t          count;
    const char *(*name)(const void *list, int64_t i);
    int (*counts)(const void *list, int64_t i);
} groups;

static int64_t place_of(const groups *g, const char *name)
{
    if (g->index) return ct__names_find(g->index, name);
    for (int64_t i = 0; i < g->count; i++)
        if (!strcmp(g->name(g->list, i), name)) return i;
    return -1;
}

/* The group with the most specific name that includes the model, or -1. */
static int64_t nearest(const groups *g, const char *model)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s", model);
    do {
        const int64_t i = place_of(g, whole);
        if (i >= 0 && g->counts(g->list, i)) return i;
    } while (ct__noise_whole(whole));
    return -1;
}

static const char *group_name(const void *list, int64_t i) { return ((const ct_dataset_group *)list)[i].name; }
static int has_numbers(const void *list, int64_t i)
{
    return ((const ct__yaml_group *)list)[i].variances || ((const ct__yaml_group *)list)[i].covariances;
}
static int         any(const void *list, int64_t i) { return list != NULL && i >= 0; }

const ct__yaml_group *ct__yaml_numbers_of(const ct__yaml *yaml, const char *model)
{
    const int64_t i = nearest(&(groups){.index = &yaml->index, .list = yaml->group, .counts = has_numbers}, model);
    return i < 0 ? NULL : &yaml->group[i];
}

int64_t ct__yaml_group_of(const ct__yaml *yaml, const char *model)
{
    return nearest(&(groups){.index = &yaml->index, .list = yaml->group, .counts = any}, model);
}

/* Datasets built by hand have groups without an index. A few names are compared as fast as one is hashed. */
const ct_dataset_group *ct__dataset_find_group(const ct_dataset *dataset, const char *model)
{
    const ct__names *index = dataset->index;
    const int        indexed = index && dataset->groups > 32 && index->count == dataset->groups;
    const int64_t i =
        nearest(&(groups){indexed ? index : NULL, dataset->group, dataset->groups, group_name, any}, model);
    return i < 0 ? NULL : &dataset->group[i];
}

/* ---- checks ---- */

static ct_status bad(const char *path, const ct__yaml_group *g, ct_err *err, const char *what)
{
    return ct_fail(err, CT_E_PARSE, "%s: group %.200s: %s", path, g->name, what);
}

/* The n of n x n numbers, or 0. */
static int side_of(unsigned numbers)
{
    int n = 1;
    while ((unsigned)(n * n) < numbers) n++;
    return (unsigned)(n * n) == numbers ? n : 0;
}

/* Prefixes the path to a sentence that names the model. */
static ct_status in_file(const char *path, ct_status status, const ct_err *inner, ct_err *err)
{
    return status == CT_OK ? CT_OK
                           : ct_fail(err, status == CT_E_MEMORY ? status : CT_E_PARSE, "%s: %s", path, inner->text);
}

/* The start values for that model; m NULL: as many as the file has. */
static ct_status start_of(const ct__yaml_group *g, const ct_noise_model *m, const char *path, ct__noise_numbers *out,
                          ct_err *err)
{
    ct_err    inner = {0};
    const int dim = m ? m->dim : 0, n = g->covariances ? side_of(g->covariances) : (int)g->variances;
    if (g->covariances) {
        if (!n)
            return ct_fail(err, CT_E_PARSE,
                           "%s: group %.200s: covariance is rows one after the other, n x n numbers, found %u", path,
                           g->name, g->covariances);
        if (dim && n != dim)
            return ct_fail(err, CT_E_PARSE, "%s: group %.200s: covariance needs %d x %d numbers, found %d x %d", path,
                           g->name, dim, dim, n, n);
        return in_file(path, ct__noise_full(g->name, n, g->covariance, out, &inner), &inner, err);
    }
    if (m && n == 1 && (dim > 1 || m->kind == CT_NOISE_ISOTROPIC))
        return in_file(path, ct__noise_isotropic(g->name, dim, g->variance[0], out, &inner), &inner, err);
    if (dim && n != dim)
        return ct_fail(err, CT_E_PARSE, "%s: group %.200s: variance needs %d numbers, or one, found %d", path, g->name,
                       dim, n);
    return in_file(path, ct__noise_diagonal(g->name, n, g->variance, out, &inner), &inner, err);
}

static ct_status check_bounds(const ct__yaml_group *g, const char *path, ct_err *err)
{
    if (g->bounds_count && (g->lowers || g->uppers))
        return bad(path, g, err, "bounds is [lower, upper]; beside it neither lower nor upper is read");
    const double  *lower = g->bounds_count ? g->bounds : g->lower, *upper = g->bounds_count ? g->bounds + 1 : g->upper;
    const unsigned lowers = g->bounds_count ? 1 : g->lowers, uppers = g->bounds_count ? 1 : g->uppers;
    for (unsigned i = 0; i < lowers + uppers; i++) {
        const double v = i < lowers ? lower[i] : upper[i - lowers];
        if (!(v > 0) || isinf(v))
            return ct_fail(err, CT_E_PARSE, "%s: group %.200s: a bound of a variance is positive and finite, found %g",
                           path, g->name, v);
    }
    if (lowers > 1 && uppers > 1 && lowers != uppers)
        return bad(path, g, err, "lower and upper have the same number of entries, or one");
    for (unsigned i = 0; lowers && uppers && i < CT_MAX(lowers, uppers); i++) {
        const double low = lower[lowers > 1 ? i : 0], high = upper[uppers > 1 ? i : 0];
        if (low > high)
            return ct_fail(err, CT_E_PARSE, "%s: group %.200s: the lower bound %g is above the upper bound %g", path,
                           g->name, low, high);
    }
    if (g->kind == CT_NOISE_FULL + 1 && (lowers > 1 || uppers > 1))
        return bad(path, g, err, "a full covariance has one bound below and one above, those of its eigenvalues");
    return CT_OK;
}

static ct_status check_unit(const ct__yaml_group *g, const char *path, ct_err *err)
{
    for (unsigned i = 0; i < g->units; i++)
        if (!(g->unit[i] > 0) || isinf(g->unit[i]))
            return ct_fail(err, CT_E_PARSE, "%s: group %.200s: a unit is positive and finite, found %g", path, g->name,
                           g->unit[i]);
    return CT_OK;
}

static ct_status check_group(const ct__yaml_group *g, const char *path, ct_err *err)
{
    ct__noise_numbers numbers;
    if (g->variances && g->covariances) return bad(path, g, err, "variance or covariance, found both");
    if (g->variances || g->covariances) CT_TRY(start_of(g, NULL, path, &numbers, err));
    if (g->kind == CT_NOISE_ISOTROPIC + 1 && g->variances > 1) return bad(path, g, err, "isotropic has one variance");
    if (g->kind && g->kind != CT_NOISE_FULL + 1 && g->covariances)
        return bad(path, g, err, "a covariance is learned as kind full");
    CT_TRY(check_unit(g, path, err));
    return check_bounds(g, path, err);
}

ct_status ct__yaml_check(ct__yaml *yaml, const char *path, ct_err *err)
{
    if (strcmp(yaml->format, FORMAT))
        return ct_fail(err, CT_E_PARSE, "%s: format: expected " FORMAT ", found %.100s", path, yaml->format);
    if (yaml->version < 1 || yaml->version > VERSION)
        return ct_fail(err, CT_E_PARSE, "%s:%d: version: this covtune reads 1 to %d, found %d", path,
                       ct__yaml_line(yaml, "version", ""), VERSION, yaml->version);
    CT_TRY(ct__yaml_check_recordings(yaml, path, err));
    for (unsigned i = 0; i < yaml->groups; i++) {
        const ct__yaml_group *g = &yaml->group[i];
        if (ct__names_find(&yaml->index, g->name) >= 0) return bad(path, g, err, "there is one of this name above");
        CT_TRY(check_group(g, path, err));
        CT_TRY(ct__names_add(&yaml->index, g->name, err));
    }
    return CT_OK;
}

/* ---- into a dataset ---- */

/* Expand n numbers to CT_NOISE_DIM_MAX: one number goes to all places, missing ones are NaN. */
static void spread(unsigned n, const double *from, double to[CT_NOISE_DIM_MAX])
{
    for (unsigned i = 0; i < CT_NOISE_DIM_MAX; i++) to[i] = n == 1 ? from[0] : i < n ? from[i] : NAN;
}

ct_status ct__yaml_take_group(const ct__yaml_group *from, const char *path, ct_dataset_group *to, ct_err *err)
{
    const int bounds = from->bounds_count != 0;
    *to = (ct_dataset_group){.name = ct__strdup(from->name),
                             .learn = from->learn != 2,
                             .kind = from->kind - 1,
                             .arbitrary = from->arbitrary == 1};
    spread(bounds ? 1 : from->lowers, bounds ? from->bounds : from->lower, to->lower);
    spread(bounds ? 1 : from->uppers, bounds ? from->bounds + 1 : from->upper, to->upper);
    spread(from->units, from->unit, to->unit);
    if (from->model) to->model = ct__strdup(from->model);
    if (!to->name || (from->model && !to->model)) return ct__no_memory(err, "names", 1);
    if (from->model && strpbrk(from->model, " ;\t\r\n"))
        return ct_fail(err, CT_E_PARSE,
                       "%s: group %.200s: model: a form has no blanks, such as linear:hdop,speed, found \"%.200s\"",
                       path, from->name, from->model);
    return from->bias ? ct__yaml_take_bias(from, path, to, err) : CT_OK;
}

/* There are as many bounds and units as these. */
static ct_status check_dim(const ct__yaml_group *g, const ct_noise_model *m, const char *path, ct_err *err)
{
    const unsigned dim = (unsigned)m->dim;
    if ((g->lowers > 1 && g->lowers != dim) || (g->uppers > 1 && g->uppers != dim))
        return ct_fail(err, CT_E_PARSE,
                       "%s: group %.200s: noise model %.200s has %d coordinates, which lower and upper want a number "
                       "each of, or one",
                       path, g->name, m->name, m->dim);
    if (g->units > 1 && g->units != dim)
        return ct_fail(err, CT_E_PARSE,
                       "%s: group %.200s: noise model %.200s has %d coordinates, which unit wants a number each of, or "
                       "one; found %u",
                       path, g->name, m->name, m->dim, g->units);
    return CT_OK;
}

ct_status ct__yaml_apply(const ct__yaml *yaml, const char *path, ct_noise *noise, ct_err *err)
{
    for (int32_t i = 0; i < ct_noise_count(noise); i++) {
        const ct_noise_model *m = ct_noise_get(noise, i);
        const int64_t         any_group = ct__yaml_group_of(yaml, m->name);
        if (any_group >= 0) CT_TRY(check_dim(&yaml->group[any_group], m, path, err));
        const ct__yaml_group *g = ct__yaml_numbers_of(yaml, m->name);
        ct__noise_numbers     numbers;
        if (!g) continue;
        CT_TRY(start_of(g, m, path, &numbers, err));
        ct__noise_put(noise, i, &numbers);
    }
    return CT_OK;
}

/* ---- writing ---- */

/* Length and code point of the UTF-8 character at p; 0 if it is invalid. */
static int decode(const unsigned char *p, uint32_t *code)
{
    static const uint32_t LEAST[5] = {0, 0, 0x80, 0x800, 0x10000};
    const int             n = *p < 0x80 ? 1 : *p < 0xc0 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf8 ? 4 : 0;
    *code = n == 1 ? *p : *p & (0x7fu >> n);
    for (int i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0;
        *code = *code << 6 | (p[i] & 0x3fu);
    }
    return n && *code >= LEAST[n] && *code <= 0x10ffff && !(*code >= 0xd800 && *code < 0xe000) ? n : 0;
}

/* A word, quoted if YAML could read it as something else. */
static ct_status put_word(FILE *out, const char *word, ct_err *err)
{
    const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./@#-";
    if (!word[strspn(word, plain)] && !strchr("@#-", word[0])) {
        fputs(word, out);
        return CT_OK;
    }
    putc('"', out);
    for (const unsigned char *p = (const unsigned char *)word; *p;) {
        uint32_t  code;
        const int n = decode(p, &code);
        if (!n)
            return ct_fail(err, CT_E_UNSUPPORTED, "noise model \"%.200s\": a name in dataset.yaml must be UTF-8", word);
        const int prints =
            (code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code != 0xfeff && code != 0xfffe && code != 0xffff);
        if (!prints) fprintf(out, "\\U%08lX", (unsigned long)code);
        else fprintf(out, "%s%.*s", code == '"' || code == '\\' ? "\\" : "", n, (const char *)p);
        p += n;
    }
    putc('"', out);
    return CT_OK;
}

static void put_numbers(FILE *out, const char *key, int n, const double v[])
{
    char buf[32];
    fprintf(out, "    %s: [", key);
    for (int i = 0; i < n; i++) fprintf(out, "%s%s", i ? ", " : "", ct__format_double(v[i], buf));
    fputs("]\n", out);
}

/* How many numbers are given: none, one for all, or those before a NaN (units: or a zero). */
static int given_count(const double v[CT_NOISE_DIM_MAX])
{
    int n = 0, same = 1;
    while (n < CT_NOISE_DIM_MAX && !isnan(v[n]) && v[n] != 0) same = same && v[n] == v[0], n++;
    return n == CT_NOISE_DIM_MAX && same ? 1 : n;
}

#define NO_MODEL   (-1)
#define NOT_OF_ONE (-2)

/* Per group, the model of exactly its name, if it applies to that model only. Its start values are written there;
 * for other groups they would become those of all models. */
static int32_t *only_models(const ct_dataset *d)
{
    int32_t *only = ct__zalloc(d->groups, sizeof *only);
    for (int32_t i = 0; only && i < d->groups; i++) only[i] = NO_MODEL;
    for (int32_t i = 0; only && i < ct_noise_count(d->noise); i++) {
        const char             *name = ct_noise_get(d->noise, i)->name;
        const ct_dataset_group *g = ct__dataset_find_group(d, name);
        if (g)
            only[g - d->group] = strcmp(name, g->name) ? NOT_OF_ONE : only[g - d->group] == NO_MODEL ? i : NOT_OF_ONE;
    }
    return only;
}

static void put_start(FILE *out, const ct_noise_model *only, const ct_dataset_group *g)
{
    if (only->kind == CT_NOISE_FULL && g->kind >= 0 && g->kind != CT_NOISE_FULL) return;
    if (only->kind == CT_NOISE_FULL) put_numbers(out, "covariance", only->dim * only->dim, only->covariance);
    else if (g->kind != CT_NOISE_ISOTROPIC || only->kind == CT_NOISE_ISOTROPIC)
        put_numbers(out, "variance", only->kind == CT_NOISE_ISOTROPIC ? 1 : only->dim, only->covariance);
}

static ct_status put_group(FILE *out, const ct_noise_model *only, const ct_dataset_group *g, ct_err *err)
{
    const int lowers = given_count(g->lower), uppers = given_count(g->upper), units = given_count(g->unit);
    for (int i = 0; i < CT_NOISE_DIM_MAX; i++)
        if (g->lower[i] <= 0 || g->upper[i] <= 0 || isinf(g->lower[i]) || isinf(g->upper[i]))
            return ct_fail(err, CT_E_ARGUMENT,
                           "group \"%.200s\": a bound of a variance is positive and finite, or NaN where there is none",
                           g->name);
    for (int i = 0; i < CT_NOISE_DIM_MAX; i++)
        if (g->unit[i] < 0 || isinf(g->unit[i]))
            return ct_fail(err, CT_E_ARGUMENT,
                           "group \"%.200s\": a unit is positive and finite, or NaN where there is none", g->name);
    fputs("  - name: ", out);
    CT_TRY(put_word(out, g->name, err));
    putc('\n', out);
    if (only) put_start(out, only, g);
    if (g->kind >= 0) fprintf(out, "    kind: %s\n", KIND[g->kind]);
    if (lowers == 1 && uppers == 1) {
        put_numbers(out, "bounds", 2, (const double[2]){g->lower[0], g->upper[0]});
    } else {
        if (lowers) put_numbers(out, "lower", lowers, g->lower);
        if (uppers) put_numbers(out, "upper", uppers, g->upper);
    }
    if (units) put_numbers(out, "unit", units, g->unit);
    if (g->bias) ct__yaml_put_bias(out, g);
    if (g->model) {
        fputs("    model: ", out);
        CT_TRY(put_word(out, g->model, err));
        putc('\n', out);
    }
    if (g->arbitrary) fputs("    arbitrary: true\n", out);
    fprintf(out, "    learn: %s\n", g->learn ? "true" : "false");
    return CT_OK;
}

static ct_status put_groups(FILE *out, const ct_dataset *d, ct_err *err)
{
    if (!d->groups) return CT_OK;
    int32_t  *only = only_models(d);
    ct_status status = only ? CT_OK : ct__no_memory(err, "groups", d->groups);
    fputs("groups:\n", out);
    for (int32_t i = 0; status == CT_OK && i < d->groups; i++)
        status = put_group(out, only[i] >= 0 ? ct_noise_get(d->noise, only[i]) : NULL, &d->group[i], err);
    free(only);
    return status;
}

static ct_status put_list(FILE *out, const char *key, int32_t n, char *const path[], ct_err *err)
{
    if (!n) return CT_OK;
    fprintf(out, "%s:\n", key);
    for (int32_t i = 0; i < n; i++) {
        fputs("  - ", out);
        CT_TRY(put_word(out, path[i], err));
        putc('\n', out);
    }
    return CT_OK;
}

ct_status ct__yaml_write(FILE *file, const ct_dataset *dataset, char *const train[], char *const test[], ct_err *err)
{
    fputs(CT_DATASET_BEGINS ", which may replace it and its sequences as long as this line is here\n", file);
    fputs("format: " FORMAT "\nversion: 1\n", file); /* sequences hold recordings; older programs read this */
    CT_TRY(put_groups(file, dataset, err));
    CT_TRY(put_list(file, "train", dataset->trains, train, err));
    return put_list(file, "test", dataset->tests, test, err);
}
