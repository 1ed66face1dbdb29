/* simulate.h: what the worlds of `covtune simulate` share.
 *
 *   simulate.c          grid and sphere, and dispatch to the other worlds
 *   nav.c               nav2d and nav3d
 *   tables.c            nav2d and nav3d with --tables
 *   ../push/simulate.c  push2d; ../push/picture.c draws it
 *   output_folder.c     the folder of a dataset */
#ifndef CT_CLI_SIMULATE_H
#define CT_CLI_SIMULATE_H

#include "cli/common/cli.h"

extern const cli_command cli_simulate_nav, cli_simulate_push; /* worlds with their own options */

/* Options of --tables. Numbers of 0 (range: -1) and NULL: the default. */
typedef struct {
    ct_kind     kind;
    int         wanted, beacons, train, test;
    double      duration_s, every_s, range;
    const char *out, *odom, *gps, *rates;
    uint64_t    seed;
} simulate_tables_request;

cli_exit simulate_tables(const cli_io *io, const simulate_tables_request *request);

/* The folder must be empty, missing, or hold a dataset that covtune wrote; else a sentence. */
ct_status simulate_check_place(const char *path, ct_err *err);
/* Remove sequences of a larger dataset that was there before, train/0005.ctseq and on, and all of the other format. */
void simulate_remove_stale(const char *folder, const char *part, int from, int binary);

#endif
