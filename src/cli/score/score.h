/* score.h: covtune score: files, and what is printed of them. */
#ifndef CT_CLI_SCORE_H
#define CT_CLI_SCORE_H

#include "cli/common/cli.h"

#define SCORE_DELTAS 8 /* of RPE */

typedef struct {
    double delta;
    ct_delta_unit unit;
    ct_score score; /* its RPE is over this delta */
} score_delta;

typedef struct {
    const char *path[2]; /* estimate, truth */
    const ct_trajectory *track[2];
    const ct_score_options *options;
    int deltas;
    const score_delta *delta; /* the first has everything but the other RPE */
} score_result;

void score_print_json(const score_result *result);
ct_status score_print_rows(const score_result *result, ct_err *err);

#endif
