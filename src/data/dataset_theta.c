/* dataset_theta.c: what is learned, by what a dataset says of its noise models. */
#include "data/data.h"
#include "graph/graph.h"

#include <math.h>

#define FIRST_POSE "first_pose" /* the prior that simulators and LEO's reader add: no sensor's noise */

ct_dataset_group ct_dataset_of_model(const ct_dataset *dataset, int32_t model)
{
    const ct_noise_model   *m = ct_noise_get(dataset->noise, model);
    if (!m) return (ct_dataset_group){.kind = -1};
    const ct_dataset_group *said = ct__dataset_group_of(dataset, m->name);
    ct_dataset_group        out = {.learn = strcmp(m->name, FIRST_POSE) != 0, .kind = (int)m->kind};
    if (said) out.name = said->name, out.learn = said->learn;
    if (said && said->kind >= 0) out.kind = said->kind;
    for (int i = 0; i < CT_NOISE_DIM_MAX; i++) {
        out.lower[i] = said && !isnan(said->lower[i]) ? said->lower[i] : CT_BOUND_WIDE_LOWER;
        out.upper[i] = said && !isnan(said->upper[i]) ? said->upper[i] : CT_BOUND_WIDE_UPPER;
        out.unit[i] = said && !isnan(said->unit[i]) && said->unit[i] != 0 ? said->unit[i] : 1;
    }
    return out;
}

static ct_status learn_model(const ct_dataset *d, int32_t model, ct_theta *theta, ct_err *err)
{
    const ct_dataset_group said = ct_dataset_of_model(d, model);
    const int              dim = ct_noise_get(d->noise, model)->dim;
    double                 lower = said.lower[0], upper = said.upper[0];
    if (!said.learn) return CT_OK;
    for (int i = 0; i < dim; i++) CT_TRY(ct_theta_set_unit(theta, model, i, said.unit[i], err));
    for (int i = 1; i < dim; i++) lower = fmin(lower, said.lower[i]), upper = fmax(upper, said.upper[i]);
    CT_TRY(ct_theta_learn(theta, model, (ct_noise_kind)said.kind, lower, upper, err));
    for (int i = 0; said.kind == CT_NOISE_DIAGONAL && i < dim; i++)
        CT_TRY(ct_theta_bound(theta, model, i, said.lower[i], said.upper[i], err));
    return CT_OK;
}

/* Does a factor of a training run have that model? */
static int is_used(const ct_dataset *d, int32_t model)
{
    for (int32_t i = 0; i < d->trains; i++) {
        const ct_graph *g = d->train[i]->graph;
        if (model < g->noise_count && g->noise_use[model].factors) return 1;
    }
    return 0;
}

ct_status ct_dataset_theta(const ct_dataset *dataset, ct_theta **out, ct_err *err)
{
    CT_TRY(ct_theta_new(dataset->noise, out, err));
    ct_status status = CT_OK;
    for (int32_t i = 0; status == CT_OK && i < ct_noise_count(dataset->noise); i++)
        if (is_used(dataset, i)) status = learn_model(dataset, i, *out, err);
    if (status == CT_OK) return CT_OK;
    ct_theta_free(*out);
    *out = NULL;
    return status;
}
