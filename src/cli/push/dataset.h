/* dataset.h: simulated pushing datasets, for `simulate push2d` and studies. */
#ifndef CT_CLI_PUSH_DATA_H
#define CT_CLI_PUSH_DATA_H

#include <covtune/push.h>
#include "cli/common/cli.h"

/* episodes that a tactile network is trained on: few, so that it has realistic errors */
#define PUSH_TRAINING_EPISODES 4

/* Train a tactile network on episodes of its own pool. result may be NULL. The caller frees *net. */
ct_status push_train(const ct_push_options *options, int episodes, ct_net **net, ct_net_result *result, ct_err *err);
/* CT_E_ARGUMENT, with a sentence that names `path`, if the network does not map two tactile images to one yaw. */
ct_status push_check_net(const ct_net *net, const char *path, ct_err *err);
/* `train` and `test` sequences with start values; net NULL: the noisy oracle. The caller frees *out. */
ct_status push_dataset(const cli_io *io, const ct_push_options *options, const ct_net *net, int train, int test,
                       ct_dataset **out, ct_err *err);

#endif
