/* simulate.h: what the worlds of `covtune simulate` share.
 *
 *   simulate.c          grid and sphere, and dispatch to the other worlds
 *   nav.c               nav2d and nav3d
 *   ../push/simulate.c  push2d; ../push/picture.c draws it
 *   output_folder.c     the folder of a dataset */
#ifndef CT_CLI_SIMULATE_H
#define CT_CLI_SIMULATE_H

#include "cli/common/cli.h"

extern const cli_command cli_simulate_nav, cli_simulate_push; /* worlds with their own options */

/* The folder must be empty, missing, or hold a dataset that covtune wrote; else a sentence. */
ct_status simulate_check_place(const char *path, ct_err *err);
/* Remove sequences of a larger dataset that was there before: train/0005.ctseq and on. */
void simulate_remove_stale(const char *folder, const char *part, int from);

#endif
