/* write_noise.c: the result by model and row, as numbers and as a noise file.
 *
 * A row of a full covariance has no parameter of its own: its variance is Sigma_ii of Sigma = exp(X), and the
 * standard error of its logarithm
 *
 *     s_i^2 = sum_j (dSigma_ii/dx_j / Sigma_ii)^2 s_j^2
 *
 * assumes that the parameters x_j of the block are uncorrelated. If Sigma is diagonal, it is that of x_ii. */
#include "learn/learn.h"
#include "theta/check_noise.h"
#include "noise/noise_json.h"
#include "theta/theta.h"

#include <inttypes.h>
#include <math.h>

/* ---- Rows ------------------------------------------------------------------------------------ */

static void full_rows(const ct__theta_block *block, const ct_learn_result *r, double *standard_error)
{
    const int n = block->dim, packed = ct__packed(n);
    double    lambda[CT_NOISE_DIM_MAX], V[CT__BLOCK_MAX], S[CT__BLOCK_MAX], D[CT__BLOCK_MAX], x[CT__PACKED_MAX];
    memcpy(x, r->p + block->first, (size_t)packed * sizeof *x);
    ct__sym_spectrum(n, x, lambda, V);
    ct__sym_exp(n, x);
    ct__sym_unpack(n, x, S);
    for (int i = 0; i < n; i++) standard_error[i] = 0;
    for (int j = 0; j < packed; j++) {
        memset(x, 0, sizeof x);
        x[j] = 1;
        ct__sym_dexp(n, lambda, V, 0, x);
        ct__sym_unpack(n, x, D);
        for (int i = 0; i < n; i++) {
            const double d = D[i * n + i] / S[i * n + i];
            if (fabs(d) > 1e-12)
                standard_error[i] += d * d * r->standard_error[block->first + j] * r->standard_error[block->first + j];
        }
    }
    for (int i = 0; i < n; i++) standard_error[i] = sqrt(standard_error[i]);
}

/* The parameter of eigenvalue i: entry (i, i) in the packed triangle. */
static int diagonal_place(int dim, int i) { return i * dim - i * (i - 1) / 2; }

void ct_learn_rows(const ct_theta *theta, const ct_learn_result *r, int32_t model,
                   double standard_error[CT_NOISE_DIM_MAX], int8_t at_bound[CT_NOISE_DIM_MAX])
{
    for (int i = 0; i < CT_NOISE_DIM_MAX; i++) {
        standard_error[i] = NAN;
        at_bound[i] = 0;
    }
    if (!ct_theta_learns(theta, model)) return;
    const ct__theta_model *m = &theta->model[model];
    if (m->kind == CT_NOISE_FULL) {
        const ct__theta_block *block = &theta->block[m->block[0]];
        full_rows(block, r, standard_error);
        for (int i = 0; i < m->dim; i++) at_bound[i] = r->at_bound[block->first + diagonal_place(m->dim, i)];
        return;
    }
    for (int i = 0; i < m->dim; i++) {
        const int32_t j = ct_theta_find(theta, model, i);
        if (j < 0) continue;
        standard_error[i] = r->standard_error[j];
        at_bound[i] = r->at_bound[j];
    }
}

/* ---- The noise file -------------------------------------------------------------------------- */

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *side(int8_t at_bound) { return at_bound ? json_string(at_bound < 0 ? "lower" : "upper") : json_null(); }

/* A list of entry(row) for every row; for an isotropic model only the first. */
static json_t *rows_of(int n, int isotropic, json_t *(*entry)(const void *of, int row), const void *of)
{
    if (isotropic) return entry(of, 0);
    json_t *list = json_array();
    for (int i = 0; list && i < n; i++)
        if (json_array_append_new(list, entry(of, i))) json_decref(list), list = NULL;
    return list;
}

static json_t *plain_entry(const void *of, int row) { return number(((const double *)of)[row]); }
/* sigma is the root of the variance */
static json_t *percent_entry(const void *of, int row) { return number(50 * ((const double *)of)[row]); }
static json_t *side_entry(const void *of, int row) { return side(((const int8_t *)of)[row]); }

typedef struct {
    const ct_theta *theta;
    int32_t         model;
} bounded;

static json_t *pair(double first, double second)
{
    json_t *list = json_array();
    if (list && (json_array_append_new(list, json_real(first)) || json_array_append_new(list, json_real(second))))
        json_decref(list), list = NULL;
    return list;
}

/* Bounds in units of the table. Rows of a full or isotropic model may have different units, so each has its bounds. In
 * a full model the bounds on eigenvalues bound the diagonal entries. */
static json_t *bounds_entry(const void *of, int row)
{
    const bounded         *b = of;
    const ct__theta_model *m = &b->theta->model[b->model];
    const int32_t          block = m->block[m->kind == CT_NOISE_DIAGONAL ? row : 0];
    const double           square = ct__unit2(m, row, row);
    return block < 0 ? json_null() : pair(b->theta->block[block].lower * square, b->theta->block[block].upper * square);
}

static int put_unit(json_t *group, const ct__theta_model *m)
{
    for (int i = 0; i < m->dim; i++)
        if (m->unit[i] != 1) return json_object_set_new(group, "unit_sigma", rows_of(m->dim, 0, plain_entry, m->unit));
    return 0;
}

static json_t *start_of(const ct_noise_model *m)
{
    if (m->kind != CT_NOISE_FULL) return rows_of(m->dim, m->kind == CT_NOISE_ISOTROPIC, plain_entry, m->covariance);
    json_t *list = json_array();
    for (int i = 0; list && i < m->dim; i++)
        if (json_array_append_new(list, rows_of(m->dim, 0, plain_entry, m->covariance + i * m->dim)))
            json_decref(list), list = NULL;
    return list;
}

/* 0: success, as in jansson. */
static int put_learned(json_t *group, const ct_theta *theta, int32_t model, const ct_noise *start,
                       const ct_learn_result *r)
{
    const ct__theta_model *m = &theta->model[model];
    const bounded          b = {theta, model};
    const int isotropic = m->kind == CT_NOISE_ISOTROPIC && ct__one_unit(m),
              one = m->kind != CT_NOISE_DIAGONAL && ct__one_unit(m);
    double                 standard_error[CT_NOISE_DIM_MAX];
    int8_t                 at_bound[CT_NOISE_DIM_MAX];
    if (json_object_set_new(group, "bounds", rows_of(m->dim, one, bounds_entry, &b)) ||
        json_object_set_new(group, "start", start_of(ct_noise_get(start, model))) || put_unit(group, m))
        return -1;
    if (!r) return 0;
    ct_learn_rows(theta, r, model, standard_error, at_bound);
    return json_object_set_new(group, "standard_error", rows_of(m->dim, isotropic, plain_entry, standard_error)) ||
           json_object_set_new(group, "sigma_error_percent",
                               rows_of(m->dim, isotropic, percent_entry, standard_error)) ||
           json_object_set_new(group, "at_bound", rows_of(m->dim, isotropic, side_entry, at_bound));
}

/* Is it "odom#7" of a learned "odom"? Nothing uses it any more, and in a file it would conflict with "odom". */
static int was_pooled(const ct_theta *theta, const ct_noise *noise, const char *name)
{
    char        group[256];
    const char *number_sign = strrchr(name, '#');
    if (!number_sign || (size_t)(number_sign - name) >= sizeof group) return 0;
    snprintf(group, sizeof group, "%.*s", (int)(number_sign - name), name);
    const int32_t g = ct_noise_find(noise, group);
    return g >= 0 && ct_theta_learns(theta, g);
}

static int put_provenance(json_t *root, const ct_learn_origin *origin)
{
    char    digest[24];
    json_t *o = json_object();
    snprintf(digest, sizeof digest, "%016" PRIx64, origin->digest);
    if (json_object_set_new(root, "provenance", o)) return -1;
    return json_object_set_new(o, "program", json_string("covtune")) ||
           json_object_set_new(o, "version", json_string(ct_version())) ||
           (origin->command && json_object_set_new(o, "command", json_string(origin->command))) ||
           (origin->dataset && json_object_set_new(o, "dataset", json_string(origin->dataset))) ||
           json_object_set_new(o, "digest", json_string(digest)) ||
           json_object_set_new(o, "finished", json_boolean(origin->finished));
}

ct_status ct_learn_write_noise(const ct_theta *theta, const ct_noise *noise, const ct_noise *start,
                               const ct_learn_result *result, const ct_learn_origin *origin, const char *path,
                               ct_err *err)
{
    json_t *root;
    ct_err  inner = {0};
    CT_TRY(ct__theta_check_noise(theta, noise, err));
    CT_TRY(ct__theta_check_noise(theta, start, err));
    if ((origin->command && !ct__json_is_utf8(origin->command)) ||
        (origin->dataset && !ct__json_is_utf8(origin->dataset)))
        return ct_fail(err, CT_E_UNSUPPORTED, "%s: its origin, %s, is not UTF-8", path,
                       origin->dataset ? origin->dataset : origin->command);
    const ct_status made = ct__noise_to_json(noise, &root, &inner);
    if (made != CT_OK) return ct_fail(err, made, "%s: %s", path, inner.text);
    json_t *groups = json_object_get(root, "groups");
    int     failed = 0;
    for (int32_t g = 0; !failed && g < ct_theta_models(theta); g++) {
        const char *name = ct_noise_get(noise, g)->name;
        const int   learns = ct_theta_learns(theta, g);
        if (!learns && was_pooled(theta, noise, name)) {
            json_object_del(groups, name);
            continue;
        }
        json_t *group = json_object_get(groups, name);
        failed = json_object_set_new(group, "learned", json_boolean(learns));
        if (learns) failed = failed || put_learned(group, theta, g, start, result);
    }
    failed = failed || put_provenance(root, origin);
    const ct_status status =
        failed ? ct__no_memory(err, "JSON values", ct_theta_models(theta)) : ct__noise_write_json(root, path, err);
    json_decref(root);
    return status;
}
