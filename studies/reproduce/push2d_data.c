/* push2d_data.c: pushing runs, as covtune simulate push2d makes them, and what is learned of them. Pushes of
 * training and of test sequences come from pools of their own, and so do those that the tactile network is trained on,
 * once for each seed and object. */
#include <covtune/push.h>
#include "cli/push/dataset.h"
#include "studies/reproduce/push2d.h"

ct_status push2d_data(push2d *n, int push, uint64_t seed, ct_dataset **out, ct_err *err)
{
    ct_push_options options = ct_push_defaults((ct_shape_kind)ct_shape_kind_find(push2d_object[push]));
    ct_net         *net = NULL;
    ct_status       status = CT_OK;
    *out = NULL;
    options.seed = seed;
    options.episodes = n->size.episodes;
    options.steps = n->size.steps;
    if (push % 2) status = push_train(&options, PUSH_TRAINING_EPISODES, &net, NULL, err);
    if (status == CT_OK) status = push_dataset(n->job->io, &options, net, n->size.trains, n->size.tests, out, err);
    ct_net_free(net);
    return status;
}

ct_status push2d_ones(const ct_dataset *data, ct_noise **out, ct_err *err)
{
    ct_status status = ct_noise_copy(data->noise, out, err);
    for (int32_t i = 0; status == CT_OK && i < data->groups; i++) {
        const ct_dataset_group *g = &data->group[i];
        double                  variance[CT_NOISE_DIM_MAX];
        for (int k = 0; k < CT_NOISE_DIM_MAX; k++) variance[k] = g->unit[k] * g->unit[k];
        if (g->learn) status = ct_noise_set_variance(*out, i, variance, err);
    }
    if (status == CT_OK) return CT_OK;
    ct_noise_free(*out);
    *out = NULL;
    return status;
}
