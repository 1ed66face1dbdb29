/* dataset.h: simulated pushing datasets, for `simulate push2d` and studies. */
#ifndef CT_CLI_PUSH_DATA_H
#define CT_CLI_PUSH_DATA_H

#include <covtune/observation.h>
#include <covtune/push.h>
#include "cli/common/cli.h"

/* episodes that a tactile network is trained on: few, so that it has realistic errors */
#define PUSH_TRAINING_EPISODES 4

/* Train a tactile network on episodes of its own pool. result may be NULL. The caller frees *net. */
ct_status push_train(const ct_push_options *options, int episodes, ct_net **net, ct_net_result *result, ct_err *err);
/* What a network is trained for: by itself, or from there through the estimator; the latter also with an output for
 * the covariance. */
typedef enum { PUSH_SURROGATE, PUSH_WEIGHTS, PUSH_COVARIANCE } push_training;

typedef struct {
    push_training what;      /* PUSH_WEIGHTS or PUSH_COVARIANCE                                                 */
    int           pushes;    /* of the network's own pool, those that push_train used: 2 or more                */
    int           sequences; /* that are composed of them, and of their mirror images, to train on               */
    int           stops;     /* of the last fifth of them, to stop by                                           */
    int           heldout;   /* training sequences of the dataset, which are held out: they choose              */
    int           jobs;
    ct_observation_options how;
} push_end_to_end;

push_end_to_end push_end_to_end_defaults(push_training what);
/* Train a tactile network through the estimator, from *net, which is replaced. Noise models are first learned for *net,
 * with the dataset's training sequences. */
ct_status push_train_end_to_end(const cli_io *io, const ct_push_options *options, const push_end_to_end *how,
                                ct_net **net, ct_observation_result *result, ct_err *err);
/* CT_E_ARGUMENT, with a sentence that names `path`, if the network does not map two tactile images to one yaw, or to
 * a yaw and a multiplier of its covariance. */
ct_status push_check_net(const ct_net *net, const char *path, ct_err *err);
/* Groups of the dataset: which models are learned, and their units. */
void push_define_groups(ct_dataset *d);
/* `train` and `test` sequences with start values; net NULL: the noisy oracle. The caller frees *out. */
ct_status push_dataset(const cli_io *io, const ct_push_options *options, const ct_net *net, int train, int test,
                       ct_dataset **out, ct_err *err);

#endif
