/* dataset.c: simulated pushing datasets, with their tactile network. */
#define _POSIX_C_SOURCE 200809L
#include <covtune/push.h>
#include "cli/push/dataset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int32_t WIDTH[] = {2 * CT_PUSH_PIXELS, 8, 1}; /* small, because there are few training episodes */
#define WEIGHT_DECAY 1e-2

ct_status push_train(const ct_push_options *options, int episodes, ct_net **net, ct_net_result *result, ct_err *err)
{
    ct_push_episode *episode = cli_alloc(episodes, sizeof *episode);
    ct_net_options   how = ct_net_defaults();
    ct_net_result    unseen;
    int64_t          count = 0;
    double          *x = NULL, *t = NULL;
    ct_status        status = CT_OK;
    int              made = 0;
    *net = NULL;
    how.decay = WEIGHT_DECAY;
    how.seed = options->seed;
    for (; status == CT_OK && made < episodes; made += status == CT_OK)
        status = ct_simulate_push_episode(options, 2, (uint64_t)made, &episode[made], err);
    if (status == CT_OK) status = ct_push_image_pairs(options, episodes, episode, &count, &x, &t, err);
    if (status == CT_OK) status = ct_net_new((int)(sizeof WIDTH / sizeof *WIDTH) - 1, WIDTH, options->seed, net, err);
    if (status == CT_OK) status = ct_net_train(*net, count, x, t, &how, result ? result : &unseen, err);
    for (int i = 0; i < made; i++) ct_push_episode_free(&episode[i]);
    free(episode);
    free(x);
    free(t);
    if (status == CT_OK) return CT_OK;
    ct_net_free(*net);
    *net = NULL;
    return status;
}

ct_status push_check_net(const ct_net *net, const char *path, ct_err *err)
{
    const int32_t in = ct_net_inputs(net), out = ct_net_outputs(net);
    if (in == 2 * CT_PUSH_PIXELS && (out == 1 || out == 2)) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT,
                   "%s: a tactile network takes two images of %d x %d pixels, %d inputs, and answers with 1 turn (or a "
                   "turn and the multiplier of its covariance); this one has %d inputs and %d outputs",
                   path, CT_PUSH_IMAGE_ROWS, CT_PUSH_IMAGE_COLUMNS, 2 * CT_PUSH_PIXELS, in, out);
}

static ct_status simulate_sequences(const cli_io *io, const ct_push_options *options, const ct_net *net, int train,
                                    int test, ct_dataset *d, ct_err *err)
{
    d->train = cli_alloc(train, sizeof *d->train);
    d->test = cli_alloc(test, sizeof *d->test);
    for (int i = 0; i < train + test; i++) {
        const int    testing = i >= train;
        ct_sequence *seq;
        cli_status_show(io, "simulating sequence %d of %d", i + 1, train + test);
        const ct_status status =
            ct_simulate_push(options, testing, (uint64_t)(testing ? i - train : i), net ? ct_push_predict_yaw : NULL,
                             (void *)(uintptr_t)net, d->noise, &seq, err);
        if (status != CT_OK) return status;
        if (testing) d->test[d->tests++] = seq;
        else d->train[d->trains++] = seq;
    }
    return CT_OK;
}

void push_define_groups(ct_dataset *d)
{
    d->group = cli_alloc(ct_noise_count(d->noise), sizeof *d->group);
    for (int32_t i = 0; i < ct_noise_count(d->noise); i++) {
        const char       *name = ct_noise_get(d->noise, i)->name;
        ct_dataset_group *g = &d->group[d->groups++];
        *g = (ct_dataset_group){.name = cli_check_alloc(strdup(name)), .kind = -1};
        for (int k = 0; k < CT_NOISE_DIM_MAX; k++) g->lower[k] = g->upper[k] = g->unit[k] = NAN;
        g->learn = ct_push_units(name, g->unit);
    }
}

ct_status push_dataset(const cli_io *io, const ct_push_options *options, const ct_net *net, int train, int test,
                       ct_dataset **out, ct_err *err)
{
    ct_dataset *d = NULL;
    *out = NULL;
    ct_status status = ct_dataset_new(&d, err);
    if (status == CT_OK) status = simulate_sequences(io, options, net, train, test, d, err);
    if (status == CT_OK) {
        push_define_groups(d);
        for (int32_t i = 0; i < d->trains + d->tests; i++)
            ct_graph_name_rows((i < d->trains ? d->train[i] : d->test[i - d->trains])->graph, d->noise);
        *out = d;
    } else ct_dataset_free(d);
    return status;
}
