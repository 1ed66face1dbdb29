/* simulate.h: what the worlds of `covtune simulate` share.
 *
 *   simulate.c        grid and sphere, and which world is asked for     output_folder.c  the folder of a dataset
 *   nav.c    nav2d and nav3d                                   simulate.c   push2d
 *   picture.c  pictures of pushing */
#ifndef CT_CLI_SIMULATE_H
#define CT_CLI_SIMULATE_H

#include <covtune/push.h>
#include "cli/common/cli.h"

extern const cli_command cli_simulate_nav, cli_simulate_push; /* worlds with options of their own */

/* An empty folder, one to be made, or one with a dataset to be replaced; else a sentence. */
ct_status simulate_check_place(const char *path, ct_err *err);
/* Runs of a larger dataset that was there before, which dataset.yaml does not name any more: train/0005.ctseq and
 * on. */
void simulate_remove_stale(const char *folder, const char *part, int from);

/* SVG files: a run of pushing; tactile images of push 0 of a pool. */
ct_status simulate_draw_run(const ct_sequence *seq, const char *path, ct_err *err);
ct_status simulate_draw_images(const ct_push_options *options, int pool, const char *path, ct_err *err);

#endif
