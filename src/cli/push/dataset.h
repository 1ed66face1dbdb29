/* dataset.h: datasets of pushing, made in memory, for `simulate push2d` and for what studies them. */
#ifndef CT_CLI_PUSH_DATA_H
#define CT_CLI_PUSH_DATA_H

#include <covtune/push.h>
#include "cli/common/cli.h"

/* episodes that a tactile network is trained on: few, so that it is as imperfect as such networks are */
#define PUSH_LESSONS 4

/* A tactile network trained on episodes of its own pool. result may be NULL. The caller frees *net. */
ct_status push_train(const ct_push_options *options, int episodes, ct_net **net, ct_net_result *result, ct_err *err);
/* Does the network take pairs of such images, and answer with one turn? Else a sentence that names `path`. */
ct_status push_fits(const ct_net *net, const char *path, ct_err *err);
/* train and test runs with start values; net NULL: the noisy oracle. The caller frees *out. */
ct_status push_dataset(const cli_io *io, const ct_push_options *options, const ct_net *net, int train, int test,
                       ct_dataset **out, ct_err *err);

#endif
