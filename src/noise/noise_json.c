/* noise_json.c: a table of noise models as JSON; noise_file.c documents the keys.
 *
 * jansson returns NULL for a value that could not be allocated, and inserting NULL fails. So memory is checked where
 * values are inserted, not where they are created. */
#include "noise/noise_json.h"
#include "noise/function_json.h"
#include "noise/noise.h"
#include "base/base.h"

#include <math.h>

const char *ct__noise_kind_name(ct_noise_kind kind)
{
    static const char *const NAME[] = {"isotropic", "diagonal", "full"};
    return NAME[kind];
}

static json_t *numbers(int n, const double *v)
{
    json_t *list = json_array();
    for (int i = 0; list && i < n; i++)
        if (json_array_append_new(list, json_real(v[i]))) json_decref(list), list = NULL;
    return list;
}

static json_t *matrix(int n, const double *A)
{
    json_t *rows = json_array();
    for (int i = 0; rows && i < n; i++)
        if (json_array_append_new(rows, numbers(n, A + i * n))) json_decref(rows), rows = NULL;
    return rows;
}

static json_t *words(int n, const ct_noise_row *row, int unit)
{
    json_t *list = json_array();
    for (int i = 0; list && i < n; i++)
        if (json_array_append_new(list, json_string(unit ? row[i].unit : row[i].name))) json_decref(list), list = NULL;
    return list;
}

/* 0 on success, as in jansson. */
static int put_numbers(json_t *group, const ct_noise_model *m)
{
    const int n = m->dim;
    double    sigma[CT_NOISE_DIM_MAX], correlation[CT__NOISE_NUMBERS_MAX];
    for (int i = 0; i < n; i++) sigma[i] = ct_noise_sigma(m, i);
    if (m->kind == CT_NOISE_ISOTROPIC)
        return json_object_set_new(group, "dim", json_integer(n)) ||
               json_object_set_new(group, "variance", json_real(m->covariance[0])) ||
               json_object_set_new(group, "sigma", json_real(sigma[0]));
    if (m->kind == CT_NOISE_DIAGONAL)
        return json_object_set_new(group, "variance", numbers(n, m->covariance)) ||
               json_object_set_new(group, "sigma", numbers(n, sigma));
    for (int i = 0; i < n * n; i++)
        correlation[i] = i / n == i % n ? 1 : m->covariance[i] / (sigma[i / n] * sigma[i % n]);
    return json_object_set_new(group, "covariance", matrix(n, m->covariance)) ||
           json_object_set_new(group, "sigma", numbers(n, sigma)) ||
           json_object_set_new(group, "correlation", matrix(n, correlation));
}

static int put_rows(json_t *group, const ct_noise_model *m)
{
    int said = 0;
    for (int i = 0; m->row && i < m->dim; i++) said = said || m->row[i].unit[0];
    if (!m->row) return 0;
    return json_object_set_new(group, "coordinates", words(m->dim, m->row, 0)) ||
           (said && json_object_set_new(group, "units", words(m->dim, m->row, 1)));
}

static int put_labels(json_t *group, const ct_noise_model *m)
{
    return (m->measurement && json_object_set_new(group, "measurement", json_string(m->measurement))) ||
           (m->learned >= 0 && json_object_set_new(group, "learned", json_boolean(m->learned)));
}

/* A time constant or period, if there is one, and its standard error: null is not told, absent not learned. */
static int put_time(json_t *o, const char *key, double value, const char *error_key, double error)
{
    if (!(value > 0)) return 0;
    return json_object_set_new(o, key, json_real(value)) ||
           (!isnan(error) && json_object_set_new(o, error_key, isinf(error) ? json_null() : json_real(error)));
}

static int put_bias(json_t *group, const ct_bias *b)
{
    json_t *o = json_object(), *rows = json_array();
    if (json_object_set_new(group, "bias", o)) {
        json_decref(rows);
        return -1;
    }
    for (int i = 0; rows && i < b->rows; i++)
        if (json_array_append_new(rows, json_string(b->row[i]))) json_decref(rows), rows = NULL;
    return json_object_set_new(o, "sensor", json_string(b->sensor)) || json_object_set_new(o, "rows", rows) ||
           json_object_set_new(o, "process", json_string(ct_bias_process_name(b->process))) ||
           json_object_set_new(o, "as", json_string(ct_bias_effect_name(b->effect))) ||
           json_object_set_new(o, "per", json_string(b->per_target ? "target" : "sensor")) ||
           (b->every > 0 && json_object_set_new(o, "every", json_real(b->every))) ||
           put_time(o, "tau", b->tau, "log_tau_standard_error", b->tau_error) ||
           put_time(o, "period", b->period, "log_period_standard_error", b->period_error);
}

static int put_robust(json_t *group, ct_robust robust)
{
    json_t *kernel = json_object();
    if (json_object_set_new(group, "robust", kernel)) return -1; /* owns kernel in any case */
    return json_object_set_new(kernel, "kind", json_string(ct_robust_name(robust.kind))) ||
           (robust.kind != CT_ROBUST_NONE && json_object_set_new(kernel, "width", json_real(robust.width))) ||
           (robust.ratio > 0 && json_object_set_new(kernel, "ratio", json_real(robust.ratio)));
}

static ct_status check_text(const ct_noise_model *m, ct_err *err)
{
    int good = ct__json_is_utf8(m->name) && (!m->measurement || ct__json_is_utf8(m->measurement));
    for (int i = 0; good && m->row && i < m->dim; i++)
        good = ct__json_is_utf8(m->row[i].name) && ct__json_is_utf8(m->row[i].unit);
    for (int i = 0; good && m->bias && i < m->bias->rows; i++) good = ct__json_is_utf8(m->bias->row[i]);
    good = good && (!m->bias || ct__json_is_utf8(m->bias->sensor));
    return good ? CT_OK
                : ct_fail(err, CT_E_UNSUPPORTED,
                          "noise model \"%s\": names of models, measurements, coordinates and units must be UTF-8",
                          m->name);
}

/* 0 on success. */
static int put_model(json_t *groups, const ct_noise_model *m)
{
    json_t *group = json_object();
    if (json_object_set_new(groups, m->name, group)) return -1;
    return json_object_set_new(group, "kind", json_string(ct__noise_kind_name(m->kind))) || put_numbers(group, m) ||
           put_rows(group, m) || put_labels(group, m) || put_robust(group, m->robust) ||
           (m->bias && put_bias(group, m->bias)) ||
           (m->function && ct__function_put_json(group, m->dim, m->function));
}

ct_status ct__noise_to_json(const ct_noise *noise, json_t **out, ct_err *err)
{
    *out = NULL;
    for (int32_t i = 0; i < ct_noise_count(noise); i++) CT_TRY(check_text(ct_noise_get(noise, i), err));
    int version = 1; /* programs that read 1 alone would leave biases and functions out */
    for (int32_t i = 0; i < ct_noise_count(noise); i++) {
        const ct_noise_model *m = ct_noise_get(noise, i);
        if (m->bias || m->function) version = CT_MAX(version, m->function && m->function->matrix ? 3 : 2);
    }
    json_t *root = json_object(), *groups = json_object();
    int     failed = !root || json_object_set_new(root, "format", json_string("covtune-noise")) ||
                 json_object_set_new(root, "version", json_integer(version));
    if (failed) json_decref(groups);
    else failed = json_object_set_new(root, "groups", groups);
    for (int32_t i = 0; !failed && i < ct_noise_count(noise); i++) failed = put_model(groups, ct_noise_get(noise, i));
    if (failed) {
        json_decref(root);
        return ct__no_memory(err, "JSON values", ct_noise_count(noise));
    }
    *out = root;
    return CT_OK;
}

void ct__noise_print_json(ct__text *out, const json_t *root)
{
    ct__json_print(out, root, 2); /* keys of the file, and of its groups */
    ct__text_put(out, "\n");
}

ct_status ct__noise_write_json(const json_t *root, const char *path, ct_err *err)
{
    ct__text text = {0};
    ct__noise_print_json(&text, root);
    const ct_status status = ct__text_save(&text, path, err);
    ct__text_free(&text);
    return status;
}
