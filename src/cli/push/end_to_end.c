/* end_to_end.c: a tactile network trained through the estimator.
 *
 * Sequences are composed of the pushes that the network was trained on by itself, each as it is or in a mirror: those
 * to train on of the first four fifths of them, those to stop by of the rest. The dataset's training sequences are held
 * out: on them noise models are learned for the network at the start, and they say whether training gained anything.
 * Test sequences have no part. */
#define _POSIX_C_SOURCE 200809L
#include "cli/push/dataset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PRIOR 1e-2 /* of the noise models for the start: what cross-validation mostly chooses */

push_end_to_end push_end_to_end_defaults(push_training what)
{
    return (push_end_to_end){
        .what = what, .pushes = PUSH_TRAINING_EPISODES, .sequences = 12, .stops = 4, .heldout = 5, .jobs = 1,
        .how = ct_observation_defaults()};
}

/* Sequences whose measurements a network makes. */
typedef struct {
    int             count;
    ct_sequence   **seq;
    ct_observation *of;
} observed;

typedef struct {
    const cli_io          *io;
    const ct_push_options *options;
    const push_end_to_end *how;
    ct_dataset            *data;      /* noise models, held-out sequences as training sequences */
    ct_push_episode       *own, *pool; /* pushes of the network, then their mirror images; of the training pool */
    observed               train, stop, held;
    ct_err                *err;
} job;

/* ---- sequences ---- */

static ct_status add(job *j, observed *to, int pool, int number, int pushes, const ct_push_episode *const push[],
                     ct_net *net)
{
    int32_t *factor, count;
    double  *x;
    ct_status status = ct_simulate_push_sequence(j->options, pool, (uint64_t)number, pushes, push, ct_push_predict_yaw,
                                                 net, j->data->noise, &to->seq[to->count], j->err);
    if (status != CT_OK) return status;
    to->count++;
    status = ct_push_inputs(to->seq[number], pushes, push, &count, &factor, &x, j->err);
    if (status == CT_OK)
        to->of[number] = (ct_observation){.seq = to->seq[number], .count = count, .factor = factor, .input = x};
    return status;
}

static void make_room(observed *to, int count)
{
    to->seq = cli_alloc(count, sizeof *to->seq);
    to->of = cli_alloc(count, sizeof *to->of);
}

static void free_observed(observed *o)
{
    for (int i = 0; i < o->count; i++) {
        free((void *)(uintptr_t)o->of[i].factor);
        free((void *)(uintptr_t)o->of[i].input);
        ct_sequence_free(o->seq[i]);
    }
    free(o->of);
    free(o->seq);
}

/* Sequences of `n` pushes from `first` on, in random order, each as it is or in a mirror. */
static ct_status compose(job *j, int first, int n, int sequences, ct_net *net, observed *to)
{
    const int               each = j->options->episodes < n ? j->options->episodes : n;
    const ct_push_episode **push = cli_alloc(each, sizeof *push);
    int                    *order = cli_alloc(n, sizeof *order);
    ct_rng                  rng = ct_rng_seed(j->options->seed + (uint64_t)first);
    ct_status               status = CT_OK;
    make_room(to, sequences);
    for (int i = 0; i < n; i++) order[i] = first + i;
    for (int i = 0; status == CT_OK && i < sequences; i++) {
        for (int k = 0; k < each; k++) {
            const int at = k + (int)(ct_rng_uniform(&rng) * (n - k)), kept = order[k];
            order[k] = order[at];
            order[at] = kept;
            push[k] = &j->own[order[k] + (ct_rng_uniform(&rng) < 0.5 ? j->how->pushes : 0)];
        }
        status = add(j, to, 2, i, each, push, net);
    }
    free(push);
    free(order);
    return status;
}

/* The training sequences of the dataset, with their images. */
static ct_status hold_out(job *j, ct_net *net)
{
    const int               each = j->options->episodes;
    const ct_push_episode **push = cli_alloc(each, sizeof *push);
    int32_t                *number = cli_alloc(each, sizeof *number);
    ct_status               status = CT_OK;
    make_room(&j->held, j->how->heldout);
    for (int i = 0; status == CT_OK && i < j->how->heldout; i++) {
        status = ct_push_choose(j->options, 0, (uint64_t)i, number, j->err);
        for (int k = 0; status == CT_OK && k < each; k++) {
            ct_push_episode *e = &j->pool[number[k]];
            if (!e->steps) status = ct_simulate_push_episode(j->options, 0, (uint64_t)number[k], e, j->err);
            push[k] = e;
        }
        if (status == CT_OK) status = add(j, &j->held, 0, i, each, push, net);
    }
    free(push);
    free(number);
    return status;
}

static ct_status simulate_own(job *j)
{
    const int n = j->how->pushes;
    ct_status status = CT_OK;
    for (int i = 0; status == CT_OK && i < n; i++) {
        status = ct_simulate_push_episode(j->options, 2, (uint64_t)i, &j->own[i], j->err);
        if (status == CT_OK) status = ct_push_mirror(&j->own[i], &j->own[n + i], j->err);
    }
    return status;
}

/* ---- learning ---- */

static int show(void *user, const ct_observation_progress *now)
{
    const job *j = user;
    cli_status_show(j->io, "training through the estimator: epoch %d of %d, loss x %.2f, of others x %.2f", now->epoch,
                    now->epochs, now->train, now->stop);
    return cli_interrupted();
}

/* Noise models for the network at the start, learned from the held-out sequences. */
static ct_status learn_noise(job *j, const ct_theta *theta, const ct_outer_options *outer)
{
    ct_learn_options how = ct_learn_defaults();
    ct_learn_result  result = {0};
    ct_outer        *o = NULL;
    how.prior = PRIOR;
    how.folds = 0;
    how.scale = CT_SCALE_NONE;
    cli_status_show(j->io, "learning noise models for the network at the start");
    ct_status status = ct_outer_new(j->held.count, (const ct_sequence *const *)j->held.seq, j->data->noise, theta,
                                    outer, &o, j->err);
    if (status == CT_OK) status = ct_learn(o, &how, j->data->noise, &result, j->err);
    ct_learn_result_free(&result);
    ct_outer_free(o);
    return status;
}

static ct_status learn(job *j, ct_net *net, ct_observation_result *result)
{
    ct_observation_options how = j->how->how;
    ct_outer_options       outer = ct_outer_defaults();
    ct_theta              *theta = NULL;
    outer.jobs = j->how->jobs;
    how.seed = j->options->seed;
    how.progress = show;
    how.user = j;
    push_define_groups(j->data);
    j->data->train = j->held.seq; /* lent to it: the models that they use are learned */
    j->data->trains = j->held.count;
    ct_status status = ct_dataset_theta(j->data, NULL, &theta, j->err);
    j->data->train = NULL;
    j->data->trains = 0;
    if (status == CT_OK) status = learn_noise(j, theta, &outer);
    const ct_observation_data data = {.trains = j->train.count,
                                      .stops = j->stop.count,
                                      .helds = j->held.count,
                                      .train = j->train.of,
                                      .stop = j->stop.of,
                                      .held = j->held.of};
    if (status == CT_OK)
        status = ct_observation_learn(&data, theta, &outer, &how, j->data->noise, net, result, j->err);
    ct_theta_free(theta);
    return status;
}

static void release(job *j)
{
    for (int i = 0; i < 2 * j->how->pushes; i++) ct_push_episode_free(&j->own[i]);
    for (int i = 0; i < j->options->pool; i++) ct_push_episode_free(&j->pool[i]);
    free(j->own);
    free(j->pool);
    free_observed(&j->train);
    free_observed(&j->stop);
    free_observed(&j->held);
    ct_dataset_free(j->data);
}

ct_status push_train_end_to_end(const cli_io *io, const ct_push_options *options, const push_end_to_end *how,
                                ct_net **net, ct_observation_result *result, ct_err *err)
{
    ct_net   *wide = NULL;
    job       j = {.io = io, .options = options, .how = how, .err = err};
    ct_status status = ct_dataset_new(&j.data, err);
    j.own = cli_alloc(2 * how->pushes, sizeof *j.own);
    j.pool = cli_alloc(options->pool, sizeof *j.pool);
    if (status == CT_OK && how->what == PUSH_COVARIANCE && ct_net_outputs(*net) == 1)
        status = ct_net_extend(*net, 1, &wide, err);
    ct_net *const at = wide ? wide : *net;
    if (status == CT_OK) status = simulate_own(&j);
    const int stops = (how->pushes + 4) / 5, trains = how->pushes - stops; /* the last ones, as ct_net_train's */
    if (status == CT_OK) status = compose(&j, 0, trains, how->sequences, at, &j.train);
    if (status == CT_OK) status = compose(&j, trains, stops, how->stops, at, &j.stop);
    if (status == CT_OK) status = hold_out(&j, at);
    if (status == CT_OK) status = learn(&j, at, result);
    if (status == CT_OK && wide && result->chosen) {
        ct_net_free(*net);
        *net = wide;
        wide = NULL;
    }
    ct_net_free(wide);
    release(&j);
    return status;
}
