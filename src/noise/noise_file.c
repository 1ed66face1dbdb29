/* noise_file.c: the noise file.
 *
 *     {"format": "covtune-noise", "version": 1,
 *      "groups": {"odom@0": {"variance": [0.01, 0.01, 0.04]},           diagonal
 *                 "odom@1": {"variance": 0.5, "dim": 3},                isotropic
 *                 "gps":    {"covariance": [[1, 0.2], [0.2, 1]],        full
 *                            "robust": {"kind": "huber", "width": 1.345}}}}
 *
 * "robust" may be left out: then a model that is in the table keeps its kernel. "width" may be left out: then it is
 * the kernel's default. "coordinates" and "units" name the rows. They are optional, as are "measurement"
 * (the measurement model that uses it) and "learned". Written files (noise_json.c) also have kind, sigma and
 * correlation for readers; of these only "kind" is read, and must agree. "function" makes the covariance depend on
 * features (function_json.c); a file that has one is of version 2. Other keys are ignored.
 *
 * A file is read into a copy of the table, which replaces the table at the end: all models or none.
 */
#include "noise/noise_json.h"
#include "noise/function_json.h"
#include "noise/noise.h"
#include "base/base.h"
#include "base/coordinate.h"

#include <errno.h>
#include <math.h>

/* Place of a value in the file, for messages: path: groups.NAME.key */
typedef struct {
    const char *path, *name;
    ct_err     *err;
} place;

static ct_status expected(const place *at, const char *key, const char *what, const json_t *found)
{
    char buf[CT__JSON_WORDS];
    return ct_fail(at->err, CT_E_PARSE, "%s: groups.%s%s: expected %s, found %s", at->path, at->name, key, what,
                   ct__json_describe(found, buf));
}

/* Prepend the path to a message that names the model. */
static ct_status in_file(const place *at, ct_status status, const ct_err *inner)
{
    return status == CT_OK ? CT_OK : ct_fail(at->err, status, "%s: %s", at->path, inner->text);
}

/* ---- Reading --------------------------------------------------------------------------------- */

static ct_status parse_isotropic(const place *at, const json_t *group, const json_t *variance, ct__noise_numbers *out)
{
    const json_t *dim = json_object_get(group, "dim");
    const double  d = json_number_value(dim), v = json_number_value(variance);
    if (!(d >= 1 && d <= CT_NOISE_DIM_MAX && d == floor(d)))
        return expected(at, ".dim", "1 to 6 beside a variance that is one number", dim);
    if (!(v > 0)) return expected(at, ".variance", "a positive number", variance);
    ct_err inner;
    return in_file(at, ct__noise_isotropic(at->name, (int)d, v, out, &inner), &inner);
}

static ct_status parse_diagonal(const place *at, const json_t *variance, ct__noise_numbers *out)
{
    const size_t n = json_array_size(variance);
    if (n < 1 || n > CT_NOISE_DIM_MAX)
        return expected(at, ".variance", "a list of 1 to 6 numbers, or a number beside \"dim\"", variance);
    double v[CT_NOISE_DIM_MAX];
    for (size_t i = 0; i < n; i++) {
        char          key[32];
        const json_t *entry = json_array_get(variance, i);
        v[i] = json_number_value(entry);
        snprintf(key, sizeof key, ".variance[%zu]", i);
        if (!json_is_number(entry) || !(v[i] > 0)) return expected(at, key, "a positive number", entry);
    }
    ct_err inner;
    return in_file(at, ct__noise_diagonal(at->name, (int)n, v, out, &inner), &inner);
}

static ct_status parse_full(const place *at, const json_t *rows, ct__noise_numbers *out)
{
    const size_t n = json_array_size(rows);
    if (n < 1 || n > CT_NOISE_DIM_MAX) return expected(at, ".covariance", "a list of 1 to 6 rows", rows);
    double S[CT__NOISE_NUMBERS_MAX];
    for (size_t i = 0; i < n; i++) {
        char          key[48], what[32];
        const json_t *row = json_array_get(rows, i);
        snprintf(key, sizeof key, ".covariance[%zu]", i);
        snprintf(what, sizeof what, "a row of %zu numbers", n);
        if (!json_is_array(row) || json_array_size(row) != n) return expected(at, key, what, row);
        for (size_t j = 0; j < n; j++) {
            const json_t *entry = json_array_get(row, j);
            snprintf(key, sizeof key, ".covariance[%zu][%zu]", i, j);
            if (!json_is_number(entry)) return expected(at, key, "a number", entry);
            S[i * n + j] = json_number_value(entry);
        }
    }
    ct_err inner;
    return in_file(at, ct__noise_full(at->name, (int)n, S, out, &inner), &inner);
}

static ct_status parse_numbers(const place *at, const json_t *group, ct__noise_numbers *out)
{
    if (!json_is_object(group)) return expected(at, "", "an object with \"variance\" or \"covariance\"", group);
    const json_t *variance = json_object_get(group, "variance"), *covariance = json_object_get(group, "covariance");
    if (!variance == !covariance)
        return ct_fail(at->err, CT_E_PARSE,
                       "%s: groups.%s: expected \"variance\" or \"covariance\" (not sigma), found %s", at->path,
                       at->name, variance ? "both" : "neither");
    if (covariance) CT_TRY(parse_full(at, covariance, out));
    else if (json_is_number(variance)) CT_TRY(parse_isotropic(at, group, variance, out));
    else CT_TRY(parse_diagonal(at, variance, out));

    const json_t *kind = json_object_get(group, "kind");
    if (kind && (!json_is_string(kind) || strcmp(json_string_value(kind), ct__noise_kind_name(out->kind)))) {
        char what[64];
        snprintf(what, sizeof what, "\"%s\", as its numbers are", ct__noise_kind_name(out->kind));
        return expected(at, ".kind", what, kind);
    }
    return CT_OK;
}

static ct_status parse_robust(const place *at, const json_t *value, ct_robust *out)
{
    const json_t *kind = json_object_get(value, "kind"), *width = json_object_get(value, "width");
    const json_t *ratio = json_object_get(value, "ratio");
    const int     k = json_is_string(kind) ? ct_robust_find(json_string_value(kind)) : -1;
    if (k < 0) return expected(at, ".robust.kind", "none, huber, cauchy, geman_mcclure, tukey or max_mixture", kind);
    if (width && !json_is_number(width)) return expected(at, ".robust.width", "a positive number", width);
    if (ratio && k != CT_ROBUST_MAX_MIXTURE)
        return expected(at, ".robust.ratio", "nothing, as max_mixture alone has one", ratio);
    if (ratio && !(json_number_value(ratio) > 1)) return expected(at, ".robust.ratio", "a number above 1", ratio);
    *out = (ct_robust){.kind = (ct_robust_kind)k,
                       .width = width ? json_number_value(width) : ct_robust_default_width((ct_robust_kind)k),
                       .ratio = ratio ? json_number_value(ratio) : ct_robust_default_ratio((ct_robust_kind)k)};
    return CT_OK;
}

/* A list of dim words that fit a ct_noise_row; units may be empty. */
static ct_status parse_words(const place *at, const json_t *list, const char *key, int dim,
                             const char *word[CT_NOISE_DIM_MAX])
{
    char what[64], name[32];
    snprintf(what, sizeof what, "a list of %d word%s, one a row", dim, dim == 1 ? "" : "s");
    snprintf(name, sizeof name, ".%s", key);
    if (!json_is_array(list) || json_array_size(list) != (size_t)dim) return expected(at, name, what, list);
    for (int i = 0; i < dim; i++) {
        const json_t *entry = json_array_get(list, (size_t)i);
        const size_t  least = !strcmp(key, "coordinates");
        int good = json_is_string(entry) && json_string_length(entry) >= least &&
                   json_string_length(entry) < sizeof(((ct_noise_row *)0)->name);
        for (size_t c = 0; good && c < json_string_length(entry); c++)
            good = (unsigned char)json_string_value(entry)[c] > ' ';
        snprintf(name, sizeof name, ".%s[%d]", key, i);
        if (!good) return expected(at, name, "a word of at most 15 bytes", entry);
        for (int k = 0; least && k < i; k++) /* names identify rows; units may be equal */
            if (!strcmp(word[k], json_string_value(entry)))
                return expected(at, name, "a word of its own: no other row's", entry);
        word[i] = json_string_value(entry);
    }
    return CT_OK;
}

/* Files written before 0.2 call the heading of a rotation or pose in the plane "theta". */
static void use_current_names(int dim, const char *name[])
{
    const int is_pose = dim == 3 && !strcmp(name[0], "x") && !strcmp(name[1], "y");
    if ((dim == 1 || is_pose) && ct__same_coordinate(name[dim - 1], "yaw")) name[dim - 1] = "yaw";
}

static ct_status apply_rows(ct_noise *noise, int32_t index, const place *at, const json_t *group)
{
    const json_t *coordinates = json_object_get(group, "coordinates"), *units = json_object_get(group, "units");
    const char   *name[CT_NOISE_DIM_MAX], *unit[CT_NOISE_DIM_MAX];
    const int     dim = ct_noise_get(noise, index)->dim;
    if (!coordinates) return units ? expected(at, ".coordinates", "a list beside \"units\"", coordinates) : CT_OK;
    CT_TRY(parse_words(at, coordinates, "coordinates", dim, name));
    if (units) CT_TRY(parse_words(at, units, "units", dim, unit));
    use_current_names(dim, name);
    ct_noise_set_rows(noise, index, name, units ? unit : NULL);
    return CT_OK;
}

/* "measurement" stays if the file does not have it. "learned" describes the numbers, so it becomes unknown. */
static ct_status apply_labels(ct_noise *noise, int32_t index, const place *at, const json_t *group)
{
    const json_t *measurement = json_object_get(group, "measurement"), *learned = json_object_get(group, "learned");
    if (measurement) {
        const size_t n = json_string_length(measurement);
        int          good = json_is_string(measurement) && n >= 1 && n <= CT_NOISE_MEASUREMENT_MAX;
        for (size_t c = 0; good && c < n; c++) good = (unsigned char)json_string_value(measurement)[c] > ' ';
        if (!good)
            return expected(at, ".measurement", "the name of a measurement model, such as \"between_se2\"",
                            measurement);
        ct_noise_set_measurement(noise, index, json_string_value(measurement));
    }
    if (learned && !json_is_boolean(learned)) return expected(at, ".learned", "true or false", learned);
    ct_noise_set_learned(noise, index, learned ? json_is_true(learned) : -1);
    return CT_OK;
}

/* *out <- the choice of that key, by `find`. */
static ct_status parse_choice(const place *at, const json_t *bias, const char *key, int (*find)(const char *),
                              const char *what, int *out)
{
    char          name[48];
    const json_t *word = json_object_get(bias, key);
    snprintf(name, sizeof name, ".bias.%s", key);
    *out = json_is_string(word) ? find(json_string_value(word)) : -1;
    return *out >= 0 ? CT_OK : expected(at, name, what, word);
}

static int find_per(const char *word) { return !strcmp(word, "sensor") ? 0 : !strcmp(word, "target") ? 1 : -1; }

/* A number that the file may leave out. */
static ct_status parse_time(const place *at, const json_t *bias, const char *key, double *out)
{
    char          name[48];
    const json_t *number = json_object_get(bias, key);
    snprintf(name, sizeof name, ".bias.%s", key);
    *out = json_number_value(number); /* 0 if there is none */
    return !number || json_is_number(number) ? CT_OK : expected(at, name, "a number", number);
}

/* A standard error: null is not told, absent not learned. */
static double parse_error(const json_t *bias, const char *key)
{
    const json_t *error = json_object_get(bias, key);
    return json_is_null(error) ? INFINITY : error ? json_number_value(error) : NAN;
}

/* The bias whose strength the model is. A model without that key keeps the one it has. */
static ct_status apply_bias(ct_noise *noise, int32_t index, const place *at, const json_t *value)
{
    const json_t *sensor = json_object_get(value, "sensor"), *rows = json_object_get(value, "rows");
    ct_bias       bias = {.tau_error = parse_error(value, "log_tau_standard_error"),
                          .period_error = parse_error(value, "log_period_standard_error")};
    ct_err        inner;
    int           process, effect;
    if (!value) return CT_OK;
    if (!json_is_object(value)) return expected(at, ".bias", "an object with \"sensor\" and \"process\"", value);
    if (!json_is_string(sensor) || json_string_length(sensor) >= sizeof bias.sensor)
        return expected(at, ".bias.sensor", "the name of a noise model or group", sensor);
    if (!json_is_array(rows) || json_array_size(rows) < 1 || json_array_size(rows) > CT_BIAS_ROWS_MAX)
        return expected(at, ".bias.rows", "a list of 1 to 3 rows of the sensor", rows);
    for (; bias.rows < (int)json_array_size(rows); bias.rows++) {
        const json_t *row = json_array_get(rows, (size_t)bias.rows);
        if (!json_is_string(row) || json_string_length(row) >= sizeof bias.row[0])
            return expected(at, ".bias.rows", "words of at most 15 bytes", row);
        memcpy(bias.row[bias.rows], json_string_value(row), json_string_length(row) + 1);
    }
    memcpy(bias.sensor, json_string_value(sensor), json_string_length(sensor) + 1);
    CT_TRY(parse_choice(at, value, "process", ct_bias_process_find,
                        "constant, random-walk, gauss-markov or oscillation", &process));
    CT_TRY(parse_choice(at, value, "as", ct_bias_effect_find, "offset, rate or scale", &effect));
    CT_TRY(parse_choice(at, value, "per", find_per, "sensor or target", &bias.per_target));
    CT_TRY(parse_time(at, value, "tau", &bias.tau));
    CT_TRY(parse_time(at, value, "period", &bias.period));
    CT_TRY(parse_time(at, value, "every", &bias.every));
    bias.process = (ct_bias_process)process;
    bias.effect = (ct_bias_effect)effect;
    return in_file(at, ct_noise_set_bias(noise, index, &bias, &inner), &inner);
}

/* A group without a function is constant. */
static ct_status apply_function(ct_noise *noise, int32_t index, const place *at, const json_t *group)
{
    const json_t *value = json_object_get(group, "function");
    ct_function  *function = NULL;
    ct_err        inner;
    char          where[512];
    if (value) {
        snprintf(where, sizeof where, "%s: groups.%.250s.function", at->path, at->name);
        CT_TRY(ct__function_from_json(where, value, ct_noise_get(noise, index)->dim, &function, at->err));
    }
    const ct_status status = in_file(at, ct_noise_set_function(noise, index, function, &inner), &inner);
    ct_function_free(function);
    return status;
}

/* Set model `index` of the table, or add one if index is -1, from a group of the file. */
static ct_status apply(ct_noise *noise, int32_t index, const place *at, const json_t *group)
{
    ct__noise_numbers numbers;
    ct_err            inner;
    CT_TRY(parse_numbers(at, group, &numbers));
    if (index < 0) {
        CT_TRY(in_file(at, ct__noise_add(noise, at->name, &numbers, &index, &inner), &inner));
    } else {
        const ct_noise_model *model = ct_noise_get(noise, index);
        if (model->dim != numbers.dim)
            return ct_fail(at->err, CT_E_NOISE, "%s: groups.%s: noise model \"%s\" has dimension %d, found %d",
                           at->path, at->name, model->name, model->dim, numbers.dim);
        ct__noise_put(noise, index, &numbers);
    }
    CT_TRY(apply_rows(noise, index, at, group));
    CT_TRY(apply_labels(noise, index, at, group));
    CT_TRY(apply_bias(noise, index, at, json_object_get(group, "bias")));
    CT_TRY(apply_function(noise, index, at, group));
    const json_t *robust = json_object_get(group, "robust");
    if (!robust) return CT_OK;
    ct_robust kernel;
    CT_TRY(parse_robust(at, robust, &kernel));
    return in_file(at, ct_noise_set_robust(noise, index, kernel, &inner), &inner);
}

/* Models group@label and group#number that the file does not name take the file's entry of the nearest name they are
 * part of: odom@1#7 that of odom@1, else that of odom. `before` is the number of models the table had. */
static ct_status apply_to_parts(ct_noise *noise, int32_t before, const char *path, const json_t *groups, ct_err *err)
{
    for (int32_t i = 0; i < before; i++) {
        const char *name = ct_noise_get(noise, i)->name;
        if (!name[strcspn(name, "@#")] || json_object_get(groups, name)) continue;
        char *whole = ct__strdup(name);
        if (!whole) return ct__no_memory(err, "names", 1);
        const json_t *value = NULL;
        while (!value && ct__noise_whole(whole)) value = json_object_get(groups, whole);
        const place     at = {path, whole, err};
        const ct_status status = value ? apply(noise, i, &at, value) : CT_OK;
        free(whole);
        CT_TRY(status);
    }
    return CT_OK;
}

static ct_status apply_all(ct_noise *noise, const char *path, json_t *root, ct_err *err)
{
    char          buf[CT__JSON_WORDS];
    const json_t *format = json_object_get(root, "format"), *version = json_object_get(root, "version");
    json_t       *groups = json_object_get(root, "groups");
    if (!json_is_string(format) || strcmp(json_string_value(format), "covtune-noise"))
        return ct_fail(err, CT_E_PARSE, "%s: format: expected \"covtune-noise\", found %s", path,
                       ct__json_describe(format, buf));
    const double number = json_is_number(version) ? json_number_value(version) : 0;
    if (number != 1 && number != 2 && number != CT__NOISE_VERSION)
        return ct_fail(err, CT_E_PARSE, "%s: version: this covtune reads 1 to %d, found %s", path, CT__NOISE_VERSION,
                       ct__json_describe(version, buf));
    if (!json_is_object(groups))
        return ct_fail(err, CT_E_PARSE, "%s: groups: expected an object, found %s", path,
                       ct__json_describe(groups, buf));

    const int32_t before = ct_noise_count(noise);
    const char   *name;
    json_t       *group;
    json_object_foreach(groups, name, group)
    {
        const place at = {path, name, err};
        CT_TRY(apply(noise, ct_noise_find(noise, name), &at, group));
    }
    return apply_to_parts(noise, before, path, groups, err);
}

static ct_status load(const char *path, json_t **root, ct_err *err)
{
    FILE *file = fopen(path, "rb");
    if (!file) return ct_fail(err, ct__io_status(), "%s: cannot be read: %s", path, strerror(errno));
    ct_err          inner = {0};
    const ct_status status = ct__json_load(file, path, root, &inner);
    fclose(file);
    if (status == CT_E_PARSE)
        return ct_fail(err, status, "%s; a noise file is JSON, {\"format\": \"covtune-noise\", ...}", inner.text);
    return status == CT_OK ? CT_OK : ct_fail(err, status, "%s", inner.text);
}

ct_status ct_noise_read(ct_noise *noise, const char *path, ct_err *err)
{
    json_t   *root = NULL;
    ct_noise *copy = NULL;
    CT_TRY(load(path, &root, err));
    ct_status status = ct_noise_copy(noise, &copy, err);
    if (status == CT_OK) status = apply_all(copy, path, root, err);
    if (status == CT_OK) ct__noise_swap(noise, copy);
    ct_noise_free(copy);
    json_decref(root);
    return status;
}

/* ---- Writing --------------------------------------------------------------------------------- */

ct_status ct_noise_write(const ct_noise *noise, const char *path, ct_err *err)
{
    json_t *root;
    ct_err  inner = {0};
    const ct_status status = ct__noise_to_json(noise, &root, &inner);
    if (status != CT_OK) return ct_fail(err, status, "%s: %s", path, inner.text);
    const ct_status written = ct__noise_write_json(root, path, err);
    json_decref(root);
    return written;
}
