/* study_table.c: the studies of `covtune reproduce`. To add one: its file in studies/reproduce, and its line here. */
#include "studies/reproduce/reproduce.h"

const reproduce_study *const study_table[STUDIES_MAX + 1] = {
    &reproduce_nav2d, &reproduce_runtime, &reproduce_init, &reproduce_samples, &reproduce_push2d, NULL,
};
