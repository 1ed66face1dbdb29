/* graph.c: the container. Variables are a structure of arrays, factors one record each; measurements and variable lists
 * lie in two pools. A million factors are four allocations, and visiting them is sequential access. Additions are
 * atomic: everything that can fail comes first. */
#include "graph/graph.h"
#include "graph/whiten.h"
#include "noise/noise.h"

#include <math.h>
#include <stdio.h>

ct_status ct_graph_new(ct_graph **out, ct_err *err)
{
    *out = ct__zalloc(1, sizeof **out);
    return *out ? CT_OK : ct__no_memory(err, "graph", 1);
}

void ct_graph_free(ct_graph *g)
{
    if (!g) return;
    ct__names_free(&g->names);
    free(g->kind);
    free(g->fixed);
    free(g->offset);
    free(g->initial);
    free(g->factor);
    free(g->var_pool);
    free(g->z_pool);
    free(g->noise_use);
    ct__graph_free_features(g);
    free(g);
}

/* ---- variables ---- */

#define UNIT_TOLERANCE 1e-6 /* of a rotation's squared length: accepts rounded input, refuses an angle in its place */

static int is_unit(ct_kind kind, const double *x)
{
    double length2 = 1;
    if (kind == CT_SO2) length2 = x[0] * x[0] + x[1] * x[1];
    if (kind == CT_SE2) length2 = x[2] * x[2] + x[3] * x[3];
    if (kind == CT_SO3) length2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3];
    if (kind == CT_SE3) length2 = x[3] * x[3] + x[4] * x[4] + x[5] * x[5] + x[6] * x[6];
    return fabs(length2 - 1) <= UNIT_TOLERANCE;
}

static int all_finite(const double *x, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return 0;
    return 1;
}

static int has_variable(const ct_graph *g, int32_t var) { return var >= 0 && var < g->variables; }

ct_status ct__check_kind(const char *name, ct_kind kind, ct_err *err)
{
    if ((int)kind >= 0 && kind < CT_KIND_COUNT) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT, "variable %s: kind %d is not one; there are %d, numbered from 0", name,
                   (int)kind, CT_KIND_COUNT);
}

ct_status ct__check_value(const char *name, ct_kind kind, const double *value, ct_err *err)
{
    if (!all_finite(value, ct_kind_size(kind)))
        return ct_fail(err, CT_E_ARGUMENT, "variable %s: its initial value is not finite", name);
    if (!is_unit(kind, value))
        return ct_fail(err, CT_E_ARGUMENT, "variable %s: its rotation is not a unit %s", name,
                       kind == CT_SO2 || kind == CT_SE2 ? "(cos, sin)" : "quaternion");
    return CT_OK;
}

/* "x17", at the end of buf. A reader of many sequences makes millions of them. */
static const char *name_by_index(int32_t v, char buf[16])
{
    char *at = buf + 15;
    *at = 0;
    do *--at = (char)('0' + v % 10);
    while ((v /= 10) > 0);
    *--at = 'x';
    return at;
}

ct_status ct_graph_add_variable(ct_graph *g, const char *name, ct_kind kind, const double *value, int32_t *index,
                                ct_err *err)
{
    const int32_t v = g->variables;
    const int     size = ct_kind_size(kind);
    char          made[16];
    if (!name) name = name_by_index(v, made);
    if (!*name) return ct_fail(err, CT_E_ARGUMENT, "variable %d: its name is empty", v);
    CT_TRY(ct__check_kind(name, kind, err));
    if (ct__names_find(&g->names, name) >= 0) return ct_fail(err, CT_E_ARGUMENT, "variable %s is there already", name);
    if (value) CT_TRY(ct__check_value(name, kind, value, err));
    CT_TRY(ct__grow(&g->kind, &g->kind_capacity, v + 1, sizeof *g->kind, "variables", err));
    CT_TRY(ct__grow(&g->fixed, &g->fixed_capacity, v + 1, sizeof *g->fixed, "variables", err));
    CT_TRY(ct__grow(&g->offset, &g->offset_capacity, v + 1, sizeof *g->offset, "variables", err));
    CT_TRY(ct__grow(&g->initial, &g->initial_capacity, g->size + size, sizeof *g->initial, "values", err));
    CT_TRY(ct__names_add(&g->names, name, err));
    g->kind[v] = (uint8_t)kind;
    g->fixed[v] = 0;
    g->offset[v] = g->size;
    if (value) memcpy(g->initial + g->size, value, (size_t)size * sizeof *value);
    else ct_kind_identity(kind, g->initial + g->size);
    g->size += size;
    g->variables++;
    if (index) *index = v;
    return CT_OK;
}

void ct_graph_fix(ct_graph *g, int32_t var, int fixed)
{
    if (has_variable(g, var)) g->fixed[var] = fixed != 0;
}

/* ---- factors ---- */

ct_status ct__check_ops(int32_t f, const ct_factor_ops *ops, ct_err *err)
{
    if (!ops) return ct_fail(err, CT_E_ARGUMENT, "factor %d: it has no measurement model", f);
    if (ops->arity >= 1 && ops->arity <= CT_ARITY_MAX && ops->rows >= 1 && ops->rows <= CT_ROWS_MAX &&
        ops->fields >= 0 && ops->fields <= CT_FIELDS_MAX)
        return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT,
                   "factor %d (%s): its model has %d variables, %d rows and %d parts; at most %d, %d and %d can be", f,
                   ops->name ? ops->name : "?", ops->arity, ops->rows, ops->fields, CT_ARITY_MAX, CT_ROWS_MAX,
                   CT_FIELDS_MAX);
}

ct_status ct__check_measurement(int32_t f, const ct_factor_ops *ops, const char *on, const double z[],
                                const void *context, ct_err *err)
{
    if (ops->shaped && !context)
        return ct_fail(err, CT_E_ARGUMENT, "factor %d (%s on %s): it must be added with a shape", f, ops->name, on);
    if (!all_finite(z, ct_factor_z_size(ops)))
        return ct_fail(err, CT_E_ARGUMENT, "factor %d (%s on %s): its measurement is not finite", f, ops->name, on);
    for (int i = 0, at = 0; i < ops->fields; at += ct_kind_size(ops->field[i++]))
        if (!is_unit(ops->field[i], z + at))
            return ct_fail(err, CT_E_ARGUMENT,
                           "factor %d (%s on %s): part %d of its measurement is not a unit rotation", f, ops->name, on,
                           i);
    const char *why = ops->refuse ? ops->refuse(z) : NULL;
    if (why) return ct_fail(err, CT_E_ARGUMENT, "factor %d (%s on %s): %s", f, ops->name, on, why);
    return CT_OK;
}

static ct_status check_factor(const ct_graph *g, const ct_factor_ops *ops, const int32_t var[], const double z[],
                              const void *context, ct_err *err)
{
    for (int i = 0; i < ops->arity; i++) {
        if (var[i] < 0 || var[i] >= g->variables)
            return ct_fail(err, CT_E_ARGUMENT, "factor %d (%s): variable %d of %d does not exist", g->factors,
                           ops->name, var[i], g->variables);
        if (g->kind[var[i]] != ops->kind[i])
            return ct_fail(err, CT_E_ARGUMENT, "factor %d (%s): %s is %s, it must be %s", g->factors, ops->name,
                           ct__names_get(&g->names, var[i]), ct_kind_name(g->kind[var[i]]), ct_kind_name(ops->kind[i]));
        for (int j = 0; j < i; j++)
            if (var[i] == var[j])
                return ct_fail(err, CT_E_ARGUMENT, "factor %d (%s): %s is named twice", g->factors, ops->name,
                               ct__names_get(&g->names, var[i]));
    }
    return ct__check_measurement(g->factors, ops, ct__names_get(&g->names, var[0]), z, context, err);
}

/* Makes room for noise model `noise` in the table of uses, and checks that factor f may use it. */
static ct_status check_rows(ct_graph *g, int32_t f, const ct_factor_ops *ops, int32_t noise, ct_err *err)
{
    if (noise < 0)
        return ct_fail(err, CT_E_ARGUMENT, "factor %d (%s): noise model %d does not exist", f, ops->name, noise);
    CT_TRY(ct__grow(&g->noise_use, &g->noise_capacity, (int64_t)noise + 1, sizeof *g->noise_use, "noise models", err));
    while (g->noise_count <= noise) g->noise_use[g->noise_count++] = (ct__noise_use){0};
    const ct__noise_use *use = &g->noise_use[noise];
    if (use->factors && use->rows != ops->rows)
        return ct_fail(err, CT_E_ARGUMENT, "factor %d (%s) has %d rows, noise model %d serves factors of %d", f,
                       ops->name, ops->rows, noise, use->rows);
    return CT_OK;
}

static void use_noise(ct_graph *g, const ct_factor_ops *ops, int32_t noise)
{
    g->noise_use[noise].factors++;
    g->noise_use[noise].rows = ops->rows;
}

ct_status ct_graph_add_factor(ct_graph *g, const ct_factor_ops *ops, const int32_t var[], const double z[],
                              const void *context, int32_t noise, ct_err *err)
{
    CT_TRY(ct__check_ops(g->factors, ops, err));
    const int z_size = ct_factor_z_size(ops);
    if (g->factors == INT32_MAX) return ct_fail(err, CT_E_LIMIT, "a graph holds at most %d factors", INT32_MAX);
    CT_TRY(check_factor(g, ops, var, z, context, err));
    CT_TRY(check_rows(g, g->factors, ops, noise, err));
    CT_TRY(ct__grow(&g->factor, &g->factor_capacity, g->factors + 1, sizeof *g->factor, "factors", err));
    CT_TRY(ct__grow(&g->var_pool, &g->var_capacity, g->var_used + ops->arity, sizeof *g->var_pool, "factor variables",
                    err));
    CT_TRY(ct__grow(&g->z_pool, &g->z_capacity, g->z_used + z_size, sizeof *g->z_pool, "measurements", err));
    g->factor[g->factors++] = (ct__factor){.ops = ops,
                                           .context = context,
                                           .var = g->var_used,
                                           .z = g->z_used,
                                           .multiplier = 1,
                                           .noise = noise};
    memcpy(g->var_pool + g->var_used, var, (size_t)ops->arity * sizeof *var);
    memcpy(g->z_pool + g->z_used, z, (size_t)z_size * sizeof *z);
    g->var_used += ops->arity;
    g->z_used += z_size;
    use_noise(g, ops, noise);
    return CT_OK;
}

ct_status ct_graph_add_prior(ct_graph *g, int32_t x, const double z[], int32_t noise, ct_err *err)
{
    if (x < 0 || x >= g->variables)
        return ct_fail(err, CT_E_ARGUMENT, "factor %d (prior): variable %d of %d does not exist", g->factors, x,
                       g->variables);
    return ct_graph_add_factor(g, ct_factor_prior(g->kind[x]), &x, z, NULL, noise, err);
}

ct_status ct_graph_add_between(ct_graph *g, int32_t a, int32_t b, const double z[], int32_t noise, ct_err *err)
{
    if (a < 0 || a >= g->variables)
        return ct_fail(err, CT_E_ARGUMENT, "factor %d (between): variable %d of %d does not exist", g->factors, a,
                       g->variables);
    return ct_graph_add_factor(g, ct_factor_between(g->kind[a]), (const int32_t[]){a, b}, z, NULL, noise, err);
}

ct_status ct_graph_set_noise(ct_graph *g, int32_t f, int32_t noise, ct_err *err)
{
    if (f < 0 || f >= g->factors)
        return ct_fail(err, CT_E_ARGUMENT, "there is no factor %d: the graph has %d", f, g->factors);
    CT_TRY(check_rows(g, f, g->factor[f].ops, noise, err));
    g->noise_use[g->factor[f].noise].factors--;
    g->factor[f].noise = noise;
    use_noise(g, g->factor[f].ops, noise);
    return CT_OK;
}

ct_status ct__check_multiplier(int32_t f, const ct_factor_ops *ops, double m, ct_err *err)
{
    if (m >= CT_MULTIPLIER_MIN && m <= CT_MULTIPLIER_MAX) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT, "factor %d (%s): its covariance must be %g to %g times its model's, not %g", f,
                   ops->name, CT_MULTIPLIER_MIN, CT_MULTIPLIER_MAX, m);
}

ct_status ct_graph_set_multiplier(ct_graph *g, int32_t f, double m, ct_err *err)
{
    if (f < 0 || f >= g->factors)
        return ct_fail(err, CT_E_ARGUMENT, "there is no factor %d: the graph has %d", f, g->factors);
    CT_TRY(ct__check_multiplier(f, g->factor[f].ops, m, err));
    g->factor[f].multiplier = m;
    return CT_OK;
}

ct_status ct_graph_set_measurement(ct_graph *g, int32_t f, const double z[], ct_err *err)
{
    char name[64];
    if (f < 0 || f >= g->factors)
        return ct_fail(err, CT_E_ARGUMENT, "there is no factor %d: the graph has %d", f, g->factors);
    const ct__factor *k = &g->factor[f];
    ct_graph_name(g, g->var_pool[k->var], name, sizeof name);
    CT_TRY(ct__check_measurement(f, k->ops, name, z, k->context, err));
    memcpy(g->z_pool + k->z, z, (size_t)ct_factor_z_size(k->ops) * sizeof *z);
    return CT_OK;
}

/* ---- queries ---- */

int32_t ct_graph_variables(const ct_graph *g) { return g->variables; }
int32_t ct_graph_factors(const ct_graph *g) { return g->factors; }

ct_factor ct_graph_factor(const ct_graph *g, int32_t f)
{
    if (f < 0 || f >= g->factors) return (ct_factor){.noise = -1};
    const ct__factor *k = &g->factor[f];
    return (ct_factor){.ops = k->ops,
                       .var = g->var_pool + k->var,
                       .z = g->z_pool + k->z,
                       .context = k->context,
                       .noise = k->noise,
                       .multiplier = k->multiplier};
}

int32_t       ct_graph_find(const ct_graph *g, const char *name) { return name ? ct__names_find(&g->names, name) : -1; }
int64_t       ct_graph_size(const ct_graph *g) { return g->size; }
double       *ct_graph_initial(ct_graph *g) { return g->initial; }
const double *ct_graph_initial_const(const ct_graph *g) { return g->initial; }

ct_kind ct_graph_kind(const ct_graph *g, int32_t var)
{
    return has_variable(g, var) ? (ct_kind)g->kind[var] : CT_KIND_COUNT;
}

int ct_graph_fixed(const ct_graph *g, int32_t var)
{
    return has_variable(g, var) && g->fixed[var];
}

int64_t ct_graph_offset(const ct_graph *g, int32_t var)
{
    return has_variable(g, var) ? g->offset[var] : -1;
}

const char *ct_graph_name(const ct_graph *g, int32_t var, char *buf, size_t size)
{
    snprintf(buf, size, "%s", has_variable(g, var) ? ct__names_get(&g->names, var) : "?");
    return buf;
}

ct_status ct_graph_check_noise(const ct_graph *g, const ct_noise *noise, ct_err *err)
{
    for (int32_t i = 0; i < g->noise_count; i++) {
        const int32_t rows = g->noise_use[i].rows;
        if (!g->noise_use[i].factors) continue;
        if (i >= ct_noise_count(noise))
            return ct_fail(err, CT_E_NOISE, "factors of %d rows use noise model %d, the table has %d", rows, i,
                           ct_noise_count(noise));
        const ct_noise_model *m = ct_noise_get(noise, i);
        if (m->dim != rows)
            return ct_fail(err, CT_E_NOISE,
                           "noise model \"%s\" has %d coordinates, the factors that use it have %d rows", m->name,
                           m->dim, rows);
    }
    return ct__noise_functions(noise) ? ct__graph_check_features(g, noise, err) : CT_OK;
}

/* Is the stored word the text, or the text cut to its size? */
static int same_word(const char word[16], const char *text)
{
    const size_t n = strlen(word);
    if (!text) text = "";
    /* cutting removes at most three more bytes, of a UTF-8 sequence */
    return !strncmp(word, text, n) && (!text[n] || n >= 12);
}

static int same_rows(const ct_noise_row *row, const ct_factor_ops *ops)
{
    for (int i = 0; i < ops->rows; i++)
        if (!ops->coordinate[i] || !same_word(row[i].name, ops->coordinate[i]) || !same_word(row[i].unit, ops->unit[i]))
            return 0;
    return 1;
}

/* Does the table have a model of the factor's size for it? */
static int has_model(const ct__factor *k, const ct_noise *noise)
{
    const ct_noise_model *m = ct_noise_get(noise, k->noise);
    return m && m->dim == k->ops->rows;
}

/* The strength of a bias has the names of the sensor's rows, which its steps do not know. */
static int names_model(const ct_noise *noise, int32_t i)
{
    return ct_noise_get(noise, i) && !ct_noise_get(noise, i)->bias;
}

/* A model measures the same with a bias. */
static const char *name_of(const ct__factor *k) { return ct_factor_unbiased(k->ops)->name; }

/* The first factor names the rows of its model; factors with other names then remove them. */
void ct_graph_name_rows(const ct_graph *g, ct_noise *noise)
{
    for (int32_t i = 0; i < g->noise_count; i++)
        if (g->noise_use[i].factors && names_model(noise, i)) {
            ct_noise_set_rows(noise, i, NULL, NULL);
            ct_noise_set_measurement(noise, i, NULL);
        }
    for (int32_t f = 0; f < g->factors; f++) {
        const ct__factor *k = &g->factor[f];
        if (!has_model(k, noise) || !names_model(noise, k->noise)) continue;
        if (!ct_noise_get(noise, k->noise)->row) ct_noise_set_rows(noise, k->noise, k->ops->coordinate, k->ops->unit);
        if (!ct_noise_get(noise, k->noise)->measurement) ct_noise_set_measurement(noise, k->noise, name_of(k));
    }
    for (int32_t f = 0; f < g->factors; f++) {
        const ct__factor     *k = &g->factor[f];
        const ct_noise_model *m = ct_noise_get(noise, k->noise);
        if (!has_model(k, noise) || !names_model(noise, k->noise)) continue;
        if (m->row && !same_rows(m->row, k->ops)) ct_noise_set_rows(noise, k->noise, NULL, NULL);
        if (m->measurement && strncmp(m->measurement, name_of(k), CT_NOISE_MEASUREMENT_MAX))
            ct_noise_set_measurement(noise, k->noise, NULL);
    }
}

double ct_graph_error(const ct_graph *g, const ct_noise *noise, const double *x)
{
    double error = 0;
    if (ct_graph_check_noise(g, noise, NULL) != CT_OK) return NAN;
    for (int32_t f = 0; f < g->factors; f++) {
        const ct__factor *k = &g->factor[f];
        const double     *arg[CT_ARITY_MAX];
        double            r[CT_ROWS_MAX];
        for (int i = 0; i < k->ops->arity; i++) arg[i] = x + g->offset[g->var_pool[k->var + i]];
        k->ops->eval(g->z_pool + k->z, k->context, arg, r, NULL);
        ct__divide_by_factor_scale(g, noise, f, r, 0, NULL, NULL);
        error += ct__whiten(ct_noise_get(noise, k->noise), k->ops->rows, r, 0, NULL, NULL);
    }
    return error;
}
