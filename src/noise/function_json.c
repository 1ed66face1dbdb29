/* function_json.c: the function of a noise model in the noise file (version 2; with a matrix function 3).
 *
 *     "function": {"kind": "linear", "rows": "each",
 *                  "features": [{"name": "hdop", "mean": 1.6, "deviation": 0.5, "low": 0.8, "high": 4.1}],
 *                  "terms": ["hdop", "hdop*speed"],
 *                  "weights": [[0.81, 0.02], [0.79, -0.01]],           a list a row, or one list for all rows
 *                  "bounds": {"lower": [0.01, 0.01], "upper": [100, 100]}}
 *
 * "rows": "matrix" (version 3) has a list of weights for every coordinate of a symmetric matrix, its upper triangle
 * row by row, and "units": [1.2, 0.9]. Its terms may have "1".
 *
 * A term of kind piecewise is {"feature": "range", "knots": [left, at, right]}, null where there is no knot. A network
 * has "hidden": [16, 16] instead of terms, and "layers": [{"weights": [[...], ...], "biases": [...]}, ...]. Bounds of
 * variances are optional. */
#include "noise/function_json.h"
#include "base/base.h"
#include "base/symmetric.h"

#include <math.h>

/* ---- Writing: 0 on success, as in jansson ---- */

static json_t *list_of(int n, const double *v)
{
    json_t *list = json_array();
    for (int i = 0; list && i < n; i++)
        if (json_array_append_new(list, isfinite(v[i]) ? json_real(v[i]) : json_null())) json_decref(list), list = NULL;
    return list;
}

static json_t *rows_of(int rows, int cols, const double *v)
{
    json_t *list = json_array();
    for (int i = 0; list && i < rows; i++)
        if (json_array_append_new(list, list_of(cols, v + (int64_t)i * cols))) json_decref(list), list = NULL;
    return list;
}

static json_t *feature_of(const ct_function_feature *f)
{
    return json_pack("{s:s, s:f, s:f, s:f, s:f}", "name", f->name, "mean", f->mean, "deviation", f->deviation, "low",
                     f->low, "high", f->high);
}

static json_t *term_of(const ct_function *f, const ct_function_term *t)
{
    char         text[2 * CT_FEATURE_NAME_MAX + 2];
    const double knot[] = {t->left, t->at, t->right};
    if (t->a < 0) return json_string("1");
    if (t->hat) return json_pack("{s:s, s:o}", "feature", f->feature[t->a].name, "knots", list_of(3, knot));
    snprintf(text, sizeof text, "%s%s%s", f->feature[t->a].name, t->b < 0 ? "" : "*",
             t->b < 0 ? "" : f->feature[t->b].name);
    return json_string(text);
}

static int put_network(json_t *out, const ct_function *f)
{
    json_t       *hidden = json_array(), *layers = json_array();
    const double *w = f->weight;
    int           failed = json_object_set_new(out, "hidden", hidden) | json_object_set_new(out, "layers", layers);
    for (int k = 0; !failed && k < f->layers; k++) failed = json_array_append_new(hidden, json_integer(f->width[k]));
    for (int k = 0; !failed && k <= f->layers; k++) {
        const int in = k ? f->width[k - 1] : f->features, n = k == f->layers ? f->outputs : f->width[k];
        json_t   *layer = json_object();
        failed = json_array_append_new(layers, layer) || json_object_set_new(layer, "weights", rows_of(n, in, w)) ||
                 json_object_set_new(layer, "biases", list_of(n, w + n * in));
        w += n * (in + 1);
    }
    return failed;
}

static int put_terms(json_t *out, const ct_function *f)
{
    json_t *terms = json_array();
    int     failed = json_object_set_new(out, "terms", terms);
    for (int j = 0; !failed && j < f->terms; j++) failed = json_array_append_new(terms, term_of(f, &f->term[j]));
    return failed || json_object_set_new(out, "weights", rows_of(f->outputs, f->terms, f->weight));
}

int ct__function_put_json(json_t *group, int dim, const ct_function *f)
{
    json_t *out = json_object(), *features = json_array(), *bounds = json_object();
    int     failed = json_object_set_new(group, "function", out) | json_object_set_new(out, "features", features) |
                 json_object_set_new(out, "bounds", bounds);
    failed = failed || json_object_set_new(out, "kind", json_string(ct_function_kind_name(f->kind))) ||
             json_object_set_new(out, "rows", json_string(f->matrix                    ? "matrix"
                                                         : f->outputs == 1 && dim > 1 ? "shared"
                                                                                      : "each"));
    if (f->matrix) failed = failed || json_object_set_new(out, "units", list_of(dim, f->unit));
    for (int i = 0; !failed && i < f->features; i++)
        failed = json_array_append_new(features, feature_of(&f->feature[i]));
    return failed || json_object_set_new(bounds, "lower", list_of(dim, f->lower)) ||
           json_object_set_new(bounds, "upper", list_of(dim, f->upper)) ||
           (f->kind == CT_FUNCTION_NETWORK ? put_network(out, f) : put_terms(out, f));
}

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct {
    const char *where; /* path: groups.NAME.function */
    ct_err     *err;
} place;

static ct_status expected(const place *at, const char *key, const char *what, const json_t *found)
{
    char buf[CT__JSON_WORDS];
    return ct_fail(at->err, CT_E_PARSE, "%s%s: expected %s, found %s", at->where, key, what,
                   ct__json_describe(found, buf));
}

/* A list of exactly n numbers; null is `none`. */
static ct_status read_list(const place *at, const char *key, const json_t *list, int n, double none, double *v)
{
    char what[64];
    snprintf(what, sizeof what, "a list of %d number%s", n, n == 1 ? "" : "s");
    if (!json_is_array(list)) return expected(at, key, what, list);
    if (json_array_size(list) != (size_t)n)
        return ct_fail(at->err, CT_E_PARSE, "%s%s: expected %s, found a list of %zu", at->where, key, what,
                       json_array_size(list));
    for (int i = 0; i < n; i++) {
        const json_t *entry = json_array_get(list, (size_t)i);
        if (!json_is_number(entry) && !(json_is_null(entry) && !isnan(none))) return expected(at, key, what, entry);
        v[i] = json_is_null(entry) ? none : json_number_value(entry);
    }
    return CT_OK;
}

static ct_status read_rows(const place *at, const char *key, const json_t *rows, int n, int cols, double *v)
{
    if (!json_is_array(rows) || json_array_size(rows) != (size_t)n) {
        char what[80];
        snprintf(what, sizeof what, "%d list%s of %d number%s", n, n == 1 ? "" : "s", cols, cols == 1 ? "" : "s");
        if (!json_is_array(rows)) return expected(at, key, what, rows);
        return ct_fail(at->err, CT_E_PARSE, "%s%s: expected %s, found %zu lists", at->where, key, what,
                       json_array_size(rows));
    }
    for (int i = 0; i < n; i++)
        CT_TRY(read_list(at, key, json_array_get(rows, (size_t)i), cols, NAN, v + (int64_t)i * cols));
    return CT_OK;
}

static ct_status read_features(const place *at, const json_t *list, ct_function *f)
{
    if (!json_is_array(list) || json_array_size(list) < 1 || json_array_size(list) > CT_FUNCTION_FEATURES_MAX)
        return expected(at, ".features", "a list of 1 to 16 features", list);
    for (f->features = 0; f->features < (int)json_array_size(list); f->features++) {
        static const char *const KEY[] = {"mean", "deviation", "low", "high"};
        const json_t        *one = json_array_get(list, (size_t)f->features), *name = json_object_get(one, "name");
        ct_function_feature *k = &f->feature[f->features];
        double              *value[] = {&k->mean, &k->deviation, &k->low, &k->high};
        if (!json_is_string(name) || json_string_length(name) < 1 || json_string_length(name) > CT_FEATURE_NAME_MAX)
            return expected(at, ".features[].name", "the name of a feature", name);
        snprintf(k->name, sizeof k->name, "%s", json_string_value(name));
        for (int i = 0; i < 4; i++) {
            const json_t *number = json_object_get(one, KEY[i]);
            if (!json_is_number(number))
                return expected(at, ".features[]: mean, deviation, low, high", "a number", number);
            *value[i] = json_number_value(number);
        }
    }
    return CT_OK;
}

static int find_feature(const ct_function *f, const char *name, size_t n)
{
    for (int i = 0; i < f->features; i++)
        if (strlen(f->feature[i].name) == n && !strncmp(f->feature[i].name, name, n)) return i;
    return -1;
}

static ct_status read_term(const place *at, const json_t *one, const ct_function *f, ct_function_term *t)
{
    *t = (ct_function_term){.a = -1, .b = -1};
    if (json_is_object(one)) {
        const json_t *name = json_object_get(one, "feature"), *knots = json_object_get(one, "knots");
        double        knot[3];
        CT_TRY(read_list(at, ".terms[].knots", knots, 3, INFINITY, knot));
        *t = (ct_function_term){.b = -1, .hat = 1, .left = isinf(knot[0]) ? -INFINITY : knot[0], .at = knot[1],
                                .right = knot[2]};
        t->a = json_is_string(name) ? find_feature(f, json_string_value(name), json_string_length(name)) : -1;
        return t->a >= 0 ? CT_OK : expected(at, ".terms[].feature", "a feature of the function", name);
    }
    if (f->matrix && json_is_string(one) && !strcmp(json_string_value(one), "1")) return CT_OK;
    const char *text = json_string_value(one), *star = text ? strchr(text, '*') : NULL;
    t->a = text ? find_feature(f, text, star ? (size_t)(star - text) : strlen(text)) : -1;
    t->b = star ? find_feature(f, star + 1, strlen(star + 1)) : -1;
    return t->a >= 0 && (!star || t->b >= 0) ? CT_OK : expected(at, ".terms[]", "a feature, or a product of two", one);
}

static ct_status read_terms(const place *at, const json_t *root, ct_function *f)
{
    const json_t *list = json_object_get(root, "terms");
    if (!json_is_array(list) || json_array_size(list) < 1 || json_array_size(list) > CT_FUNCTION_TERMS_MAX)
        return expected(at, ".terms", "a list of 1 to 256 terms", list);
    f->terms = (int)json_array_size(list);
    f->weights = ct_function_weights(f);
    f->term = ct__zalloc(f->terms, sizeof *f->term);
    f->weight = ct__zalloc(f->weights, sizeof *f->weight);
    if (!f->term || !f->weight) return ct__no_memory(at->err, "weights", f->weights);
    for (int j = 0; j < f->terms; j++) CT_TRY(read_term(at, json_array_get(list, (size_t)j), f, &f->term[j]));
    return read_rows(at, ".weights", json_object_get(root, "weights"), f->outputs, f->terms, f->weight);
}

static ct_status read_network(const place *at, const json_t *root, ct_function *f)
{
    const json_t *hidden = json_object_get(root, "hidden"), *layers = json_object_get(root, "layers");
    if (!json_is_array(hidden) || json_array_size(hidden) < 1 || json_array_size(hidden) > CT_FUNCTION_LAYERS_MAX)
        return expected(at, ".hidden", "a list of 1 to 3 widths", hidden);
    for (f->layers = 0; f->layers < (int)json_array_size(hidden); f->layers++) {
        const json_t *one = json_array_get(hidden, (size_t)f->layers);
        const double  width = json_number_value(one);
        if (!(width >= 1 && width <= CT_FUNCTION_WIDTH_MAX)) return expected(at, ".hidden[]", "1 to 128", one);
        f->width[f->layers] = (int)width;
    }
    f->weights = ct_function_weights(f);
    f->weight = ct__zalloc(f->weights, sizeof *f->weight);
    if (!f->weight) return ct__no_memory(at->err, "weights", f->weights);
    if (!json_is_array(layers) || json_array_size(layers) != (size_t)f->layers + 1)
        return expected(at, ".layers", "a list of one more layer than there are hidden ones", layers);
    double *w = f->weight;
    for (int k = 0; k <= f->layers; k++) {
        const int     in = k ? f->width[k - 1] : f->features, n = k == f->layers ? f->outputs : f->width[k];
        const json_t *layer = json_array_get(layers, (size_t)k);
        char          key[48];
        snprintf(key, sizeof key, ".layers[%d].weights", k);
        CT_TRY(read_rows(at, key, json_object_get(layer, "weights"), n, in, w));
        snprintf(key, sizeof key, ".layers[%d].biases", k);
        CT_TRY(read_list(at, key, json_object_get(layer, "biases"), n, NAN, w + n * in));
        w += n * (in + 1);
    }
    return CT_OK;
}

static ct_status read_function(const place *at, const json_t *root, int dim, ct_function *f)
{
    const json_t *kind = json_object_get(root, "kind"), *rows = json_object_get(root, "rows");
    const json_t *bounds = json_object_get(root, "bounds");
    const int     k = ct_function_kind_find(json_string_value(kind));
    if (k < 0) return expected(at, ".kind", "linear, piecewise or network", kind);
    const char *word = json_string_value(rows);
    if (rows && (!word || (strcmp(word, "each") && strcmp(word, "shared") && strcmp(word, "matrix"))))
        return expected(at, ".rows", "each, shared or matrix", rows);
    f->kind = (ct_function_kind)k;
    f->matrix = word && !strcmp(word, "matrix");
    f->outputs = f->matrix ? ct__packed(dim) : word && !strcmp(word, "shared") ? 1 : dim;
    if (f->matrix) CT_TRY(read_list(at, ".units", json_object_get(root, "units"), dim, NAN, f->unit));
    for (int i = 0; i < dim; i++) f->upper[i] = INFINITY;
    if (bounds) {
        CT_TRY(read_list(at, ".bounds.lower", json_object_get(bounds, "lower"), dim, 0, f->lower));
        CT_TRY(read_list(at, ".bounds.upper", json_object_get(bounds, "upper"), dim, INFINITY, f->upper));
    }
    CT_TRY(read_features(at, json_object_get(root, "features"), f));
    return f->kind == CT_FUNCTION_NETWORK ? read_network(at, root, f) : read_terms(at, root, f);
}

ct_status ct__function_from_json(const char *where, const json_t *root, int dim, ct_function **out, ct_err *err)
{
    const place  at = {where, err};
    ct_function *f = ct__zalloc(1, sizeof *f);
    *out = NULL;
    if (!f) return ct__no_memory(err, "functions of noise models", 1);
    const ct_status status =
        json_is_object(root) ? read_function(&at, root, dim, f) : expected(&at, "", "an object with \"kind\"", root);
    if (status == CT_OK) *out = f;
    else ct_function_free(f);
    return status;
}
