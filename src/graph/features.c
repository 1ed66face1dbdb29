/* features.c: numbers that describe the situation of a measurement, in named columns over the factors.
 *
 * A column is an array by factor with NaN where a factor has no value. Graphs without features have no columns and cost
 * nothing. A column is as long as its last value requires, so sensors that come late do not fill the rest. */
#include "graph/graph.h"

#include <ctype.h>
#include <math.h>

#define FEATURE_LIMIT 1e100 /* products of two features are numbers */

void ct__graph_free_features(ct_graph *g)
{
    for (int64_t c = 0; c < g->feature_names.count; c++) free(g->feature[c].value);
    free(g->feature);
    ct__names_free(&g->feature_names);
}

const char *ct__feature_name_invalid(const char *name)
{
    if (!name || !*name) return "is empty";
    if (strlen(name) > CT_FEATURE_NAME_MAX) return "has more than 31 characters";
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_.-", *c)) return "may have letters, digits and _ . - only";
    if (!strcmp(name, "multiplier") || !strcmp(name, "shape")) return "has another meaning in files of sequences";
    return NULL;
}

/* Makes the column of that name with room for `count` factors. */
static ct_status open_column(ct_graph *g, const char *name, int64_t count, int *column, ct_err *err)
{
    *column = ct__names_find(&g->feature_names, name);
    if (*column < 0) {
        const int64_t columns = g->feature_names.count;
        if (columns == CT_FEATURES_MAX)
            return ct_fail(err, CT_E_LIMIT, "feature %s: a graph has at most %d features", name, CT_FEATURES_MAX);
        CT_TRY(ct__grow(&g->feature, &g->feature_capacity, columns + 1, sizeof *g->feature, "features", err));
        g->feature[columns] = (ct__feature_column){0};
        CT_TRY(ct__names_add(&g->feature_names, name, err));
        *column = (int)columns;
    }
    ct__feature_column *c = &g->feature[*column];
    CT_TRY(ct__grow(&c->value, &c->capacity, count, sizeof *c->value, "values of features", err));
    while (c->count < count) c->value[c->count++] = NAN;
    return CT_OK;
}

ct_status ct_graph_set_feature(ct_graph *g, const char *name, int64_t count, const int32_t factor[],
                               const double value[], ct_err *err)
{
    const char *why = ct__feature_name_invalid(name);
    int64_t     length = 0;
    int         column;
    if (why) return ct_fail(err, CT_E_ARGUMENT, "feature \"%.40s\": its name %s", name ? name : "", why);
    if (count < 0) return ct_fail(err, CT_E_ARGUMENT, "feature %s: %lld values", name, (long long)count);
    for (int64_t k = 0; k < count; k++) {
        const int64_t f = factor ? factor[k] : k;
        if (f < 0 || f >= g->factors)
            return ct_fail(err, CT_E_ARGUMENT, "feature %s: there is no factor %lld, the graph has %d", name,
                           (long long)f, g->factors);
        if (!(fabs(value[k]) <= FEATURE_LIMIT))
            return ct_fail(err, CT_E_ARGUMENT,
                           "feature %s of factor %lld is %g; a feature is a number from %g to %g, left out where it "
                           "is unknown",
                           name, (long long)f, value[k], -FEATURE_LIMIT, FEATURE_LIMIT);
        length = CT_MAX(length, f + 1);
    }
    CT_TRY(open_column(g, name, length, &column, err));
    for (int64_t k = 0; k < count; k++) g->feature[column].value[factor ? factor[k] : k] = value[k];
    g->feature_changes++;
    return CT_OK;
}

ct_status ct__graph_copy_features(ct_graph *g, int32_t to, const ct_graph *other, int32_t from, ct_err *err)
{
    for (int c = 0; c < ct_graph_features(other); c++) {
        const double value = ct_graph_feature(other, from, c);
        if (!isnan(value)) CT_TRY(ct_graph_set_feature(g, ct_graph_feature_name(other, c), 1, &to, &value, err));
    }
    return CT_OK;
}

/* ---- Reading --------------------------------------------------------------------------------- */

int ct_graph_features(const ct_graph *g) { return (int)g->feature_names.count; }

const char *ct_graph_feature_name(const ct_graph *g, int column)
{
    return column >= 0 && column < ct_graph_features(g) ? ct__names_get(&g->feature_names, column) : NULL;
}

int ct_graph_find_feature(const ct_graph *g, const char *name)
{
    return name ? ct__names_find(&g->feature_names, name) : -1;
}

double ct_graph_feature(const ct_graph *g, int32_t f, int column)
{
    if (f < 0 || column < 0 || column >= ct_graph_features(g)) return NAN;
    return f < g->feature[column].count && f < g->factors ? g->feature[column].value[f] : NAN;
}

void ct_graph_describe_feature(const ct_graph *g, int column, double value[])
{
    for (int32_t f = 0; f < g->factors; f++) value[f] = ct_graph_feature(g, f, column);
}
