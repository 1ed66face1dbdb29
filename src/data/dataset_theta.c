/* dataset_theta.c: the parameters that are learned from a dataset.
 *
 * A plan per noise model starts from the dataset (ct_dataset_group_of). The options change it. ct_theta is then
 * defined from the plans, in the order of the noise table. */
#include "base/base.h"
#include "data/data.h"
#include "data/theta_options.h"
#include "graph/graph.h"

#include <math.h>

#define FIRST_POSE "first_pose" /* the prior that simulators and LEO's reader add: not a sensor's noise */

ct_dataset_group ct_dataset_group_of(const ct_dataset *dataset, int32_t model)
{
    const ct_noise_model   *m = ct_noise_get(dataset->noise, model);
    if (!m) return (ct_dataset_group){.kind = -1};
    const ct_dataset_group *group = ct__dataset_find_group(dataset, m->name);
    ct_dataset_group        out = {.learn = strcmp(m->name, FIRST_POSE) != 0, .kind = (int)m->kind};
    if (group) out.name = group->name, out.learn = group->learn, out.arbitrary = group->arbitrary;
    if (group && group->kind >= 0) out.kind = group->kind;
    for (int i = 0; i < CT_NOISE_DIM_MAX; i++) {
        out.lower[i] = group && !isnan(group->lower[i]) ? group->lower[i] : CT_BOUND_WIDE_LOWER;
        out.upper[i] = group && !isnan(group->upper[i]) ? group->upper[i] : CT_BOUND_WIDE_UPPER;
        out.unit[i] = group && !isnan(group->unit[i]) && group->unit[i] != 0 ? group->unit[i] : 1;
    }
    return out;
}

int ct_dataset_start_given(const ct_dataset *dataset)
{
    for (int32_t i = 0; i < ct_noise_count(dataset->noise); i++) {
        const ct_dataset_group g = ct_dataset_group_of(dataset, i);
        if (g.learn && g.arbitrary) return 0;
    }
    return 1;
}

/* How one model is learned. */
typedef struct {
    int     learn;
    int     kind;                                             /* ct_noise_kind */
    double  lower[CT_NOISE_DIM_MAX], upper[CT_NOISE_DIM_MAX]; /* in units      */
    double  unit[CT_NOISE_DIM_MAX];
    uint8_t frozen[CT_NOISE_DIM_MAX];
    uint8_t bounded[CT_NOISE_DIM_MAX]; /* bounds were given */
} model_plan;

typedef struct {
    const ct_dataset       *dataset;
    const ct_theta_options *options;
    ct__model_names         names;
    uint8_t                *used;    /* per model */
    model_plan             *plan;    /* per model */
    int32_t                *first;   /* scratch: models that a name selects            */
    int32_t                *second;  /* scratch: models of the other side of a tie     */
    ct_err                 *err;
} planner;

/* ---- Which models ---------------------------------------------------------------------------- */

void ct__mark_used_models(const ct_dataset *d, int32_t models, uint8_t *used)
{
    memset(used, 0, (size_t)models);
    for (int32_t i = 0; i < d->trains; i++) {
        const ct_graph *g = d->train[i]->graph;
        for (int32_t k = 0; k < models && k < g->noise_count; k++)
            if (g->noise_use[k].factors) used[k] = 1;
    }
}

int ct__model_is_learned(const ct_dataset *dataset, const ct_theta_options *options, int32_t model)
{
    const char *name = ct_noise_get(dataset->noise, model)->name;
    if (ct__list_has_model(options->freeze, name)) return 0;
    if (options->learn) return ct__list_has_model(options->learn, name);
    return ct_dataset_group_of(dataset, model).learn;
}

/* ---- Plans ----------------------------------------------------------------------------------- */

static void plan_models(planner *p)
{
    double    lower = 0, upper = 0;
    const int same = p->options->bounds && ct_bounds_parse(p->options->bounds, &lower, &upper);
    for (int32_t i = 0; i < p->names.models; i++) {
        const ct_dataset_group  group = ct_dataset_group_of(p->dataset, i);
        const ct_dataset_group *said = ct__dataset_find_group(p->dataset, ct_noise_get(p->dataset->noise, i)->name);
        model_plan             *to = &p->plan[i];
        to->learn = p->used[i] && ct__model_is_learned(p->dataset, p->options, i);
        to->kind = group.kind;
        memcpy(to->unit, group.unit, sizeof to->unit);
        for (int k = 0; k < CT_NOISE_DIM_MAX; k++) {
            to->lower[k] = same ? lower : group.lower[k];
            to->upper[k] = same ? upper : group.upper[k];
            to->bounded[k] = same || (said && !(isnan(said->lower[k]) && isnan(said->upper[k])));
        }
    }
}

/* Refuses names in `learn` that select nothing. */
static ct_status plan_learn(planner *p)
{
    char        item[CT__ITEM_MAX];
    const char *list = p->options->learn;
    int32_t     n;
    int         row;
    while (ct__list_next(&list, item)) {
        CT_TRY(ct__select_models(&p->names, "learn", item, p->first, &n, &row));
        if (row >= 0)
            return ct_fail(p->err, CT_E_ARGUMENT,
                           "%slearn %s: this option takes whole noise models; %sfreeze leaves out rows",
                           p->names.prefix, item, p->names.prefix);
    }
    return CT_OK;
}

static ct_status plan_freeze(planner *p)
{
    char        item[CT__ITEM_MAX];
    const char *list = p->options->freeze;
    int32_t     n;
    int         row;
    while (ct__list_next(&list, item)) {
        CT_TRY(ct__select_models(&p->names, "freeze", item, p->first, &n, &row));
        for (int32_t i = 0; row >= 0 && i < n; i++) p->plan[p->first[i]].frozen[row] = 1;
    }
    return CT_OK;
}

static ct_status plan_kind(planner *p, const char *option, const char *list, ct_noise_kind kind)
{
    char item[CT__ITEM_MAX];
    while (ct__list_next(&list, item)) {
        int32_t   n = p->names.models;
        int       row = -1;
        const int all = !strcmp(item, "all");
        for (int32_t i = 0; all && i < n; i++) p->first[i] = i;
        if (!all) CT_TRY(ct__select_models(&p->names, option, item, p->first, &n, &row));
        if (row >= 0)
            return ct_fail(p->err, CT_E_ARGUMENT, "%s%s %s: this option takes whole noise models, not a row",
                           p->names.prefix, option, item);
        for (int32_t i = 0; i < n; i++) p->plan[p->first[i]].kind = (int)kind;
    }
    return CT_OK;
}

static ct_status set_bound(planner *p, const char *item, int32_t model, int row, double lower, double upper)
{
    model_plan *to = &p->plan[model];
    if (row >= 0 && to->kind != CT_NOISE_DIAGONAL)
        return ct_fail(p->err, CT_E_ARGUMENT,
                       "%sbound %s: the rows of %s have one bound for all, as it is learned as %s", p->names.prefix,
                       item, ct_noise_get(p->dataset->noise, model)->name,
                       to->kind == CT_NOISE_FULL ? "a full covariance" : "one variance");
    for (int k = 0; k < CT_NOISE_DIM_MAX; k++)
        if (row < 0 || k == row) to->lower[k] = lower, to->upper[k] = upper, to->bounded[k] = 1;
    return CT_OK;
}

static ct_status plan_bound(planner *p)
{
    char        item[CT__ITEM_MAX];
    const char *list = p->options->bound;
    while (ct__list_next(&list, item)) {
        int32_t n;
        int     row;
        double  lower = 0, upper = 0;
        char   *equals = strrchr(item, '=');
        ct__range_parse(equals + 1, &lower, &upper);
        *equals = 0;
        CT_TRY(ct__select_models(&p->names, "bound", item, p->first, &n, &row));
        for (int32_t i = 0; i < n; i++) CT_TRY(set_bound(p, item, p->first[i], row, lower, upper));
    }
    return CT_OK;
}

static ct_status plan_all(planner *p)
{
    const ct_theta_options *o = p->options;
    plan_models(p);
    CT_TRY(plan_learn(p));
    CT_TRY(plan_freeze(p));
    CT_TRY(plan_kind(p, "full", o->full, CT_NOISE_FULL));
    CT_TRY(plan_kind(p, "diagonal", o->diagonal, CT_NOISE_DIAGONAL));
    CT_TRY(plan_kind(p, "isotropic", o->isotropic, CT_NOISE_ISOTROPIC));
    return plan_bound(p);
}

/* ---- Theta from the plans -------------------------------------------------------------------- */

static ct_status define_model(const planner *p, int32_t model, ct_theta *theta)
{
    const model_plan *plan = &p->plan[model];
    const int         dim = ct_noise_get(p->dataset->noise, model)->dim;
    int               frozen = 0;
    double            lower = plan->lower[0], upper = plan->upper[0];
    for (int k = 0; k < dim; k++) frozen += plan->frozen[k];
    if (!plan->learn || frozen == dim) return CT_OK;
    /* full and isotropic models have one pair of bounds: the widest */
    for (int k = 1; k < dim; k++) lower = fmin(lower, plan->lower[k]), upper = fmax(upper, plan->upper[k]);
    for (int k = 0; k < dim; k++) CT_TRY(ct_theta_set_unit(theta, model, k, plan->unit[k], p->err));
    CT_TRY(ct_theta_learn(theta, model, (ct_noise_kind)plan->kind, lower, upper, p->err));
    for (int k = 0; plan->kind == CT_NOISE_DIAGONAL && k < dim; k++)
        CT_TRY(ct_theta_bound(theta, model, k, plan->lower[k], plan->upper[k], p->err));
    int bounded = 0;
    for (int k = 0; k < dim; k++) bounded |= plan->bounded[k];
    for (int k = 0; plan->kind == CT_NOISE_DIAGONAL && k < dim; k++)
        if (!plan->bounded[k]) CT_TRY(ct_theta_bound_is_default(theta, model, k, p->err));
    if (plan->kind != CT_NOISE_DIAGONAL && !bounded) CT_TRY(ct_theta_bound_is_default(theta, model, -1, p->err));
    for (int k = 0; k < dim; k++)
        if (plan->frozen[k]) CT_TRY(ct_theta_freeze(theta, model, k, p->err));
    return CT_OK;
}

/* a = b: model by model if both select as many, else all of one with the only one of the other. */
static ct_status tie_two(const planner *p, const char *a, const char *b, ct_theta *theta)
{
    int32_t n, k;
    int     row_a, row_b;
    CT_TRY(ct__select_models(&p->names, "tie", a, p->first, &n, &row_a));
    CT_TRY(ct__select_models(&p->names, "tie", b, p->second, &k, &row_b));
    if ((row_a < 0) != (row_b < 0))
        return ct_fail(p->err, CT_E_ARGUMENT,
                       "%stie %s=%s: two rows can be tied, or two noise models, not one to the other", p->names.prefix,
                       a, b);
    if (n != k && n != 1 && k != 1)
        return ct_fail(p->err, CT_E_ARGUMENT, "%stie %s=%s: %s is %d noise models, %s %d; name them one by one",
                       p->names.prefix, a, b, a, n, b, k);
    for (int32_t i = 0; i < CT_MAX(n, k); i++) {
        const int32_t one = p->first[n == 1 ? 0 : i], other = p->second[k == 1 ? 0 : i];
        if (one != other || row_a != row_b) CT_TRY(ct_theta_tie(theta, one, row_a, other, row_b, p->err));
    }
    return CT_OK;
}

/* "a=b=c" ties b to a, then c to b. */
static ct_status tie_item(const planner *p, char *item, ct_theta *theta)
{
    char *a = item;
    for (char *equals = strchr(a, '='); equals;) {
        char *b = equals + 1;
        char *next = strchr(b, '=');
        *equals = 0;
        if (next) *next = 0;
        CT_TRY(tie_two(p, a, b, theta));
        a = b;
        equals = next;
    }
    return CT_OK;
}

static ct_status define_theta(const planner *p, ct_theta *theta)
{
    char        item[CT__ITEM_MAX];
    const char *list = p->options->tie;
    for (int32_t i = 0; i < p->names.models; i++) CT_TRY(define_model(p, i, theta));
    while (ct__list_next(&list, item)) CT_TRY(tie_item(p, item, theta));
    return isfinite(p->options->spread) && p->options->spread > 0
               ? ct_theta_set_spread(theta, p->options->spread, p->err)
               : CT_OK;
}

static ct_status make_theta(planner *p, ct_theta **out)
{
    ct__mark_used_models(p->dataset, p->names.models, p->used);
    CT_TRY(plan_all(p));
    CT_TRY(ct_theta_new(p->dataset->noise, out, p->err));
    const ct_status status = define_theta(p, *out);
    if (status == CT_OK) return CT_OK;
    ct_theta_free(*out);
    *out = NULL;
    return status;
}

ct_status ct_dataset_theta(const ct_dataset *dataset, const ct_theta_options *options, ct_theta **out, ct_err *err)
{
    const ct_theta_options defaults = ct_theta_defaults();
    const int32_t          models = ct_noise_count(dataset->noise);
    *out = NULL;
    if (!options) options = &defaults;
    CT_TRY(ct_theta_options_check(options, err));
    planner p = {
        .dataset = dataset,
        .options = options,
        .used = ct__zalloc(models, sizeof *p.used),
        .plan = ct__zalloc(models, sizeof *p.plan),
        .first = ct__zalloc(2 * (int64_t)models, sizeof *p.first),
        .err = err,
    };
    p.second = p.first ? p.first + models : NULL;
    p.names = (ct__model_names){
        .noise = dataset->noise,
        .models = models,
        .used = p.used,
        .prefix = options->option_prefix ? options->option_prefix : "",
        .remark = options->remark,
        .user = options->user,
        .err = err,
    };
    const ct_status status =
        p.used && p.plan && p.first ? make_theta(&p, out) : ct__no_memory(err, "noise models", models);
    free(p.used);
    free(p.plan);
    free(p.first);
    return status;
}
