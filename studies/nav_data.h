/* nav_data.h: simulated navigation datasets of the studies. */
#ifndef CT_STUDIES_NAV_DATA_H
#define CT_STUDIES_NAV_DATA_H

#include "studies/study_grid.h"

#include <covtune/simulate.h>

#define NAV_DATA_MAX 64 /* sequences of a part, at most */

typedef struct {
    int32_t      trains, tests;
    ct_sequence *train[NAV_DATA_MAX], *test[NAV_DATA_MAX];
    ct_noise    *latent; /* the noise that was drawn: the oracle              */
    ct_noise    *start;  /* the paper's far start, as covtune simulate has it */
} nav_data;

typedef struct {
    int trains, tests, least, most; /* sequences; poses of a sequence */
} nav_size;

/* As covtune simulate nav2d makes them: the same seed, the same sequences. */
ct_status nav_data_make(const char *preset, uint64_t seed, const nav_size *size, nav_data *out, ct_err *err);
/* The same with options of the caller; training sequences are numbered from first_train on. */
ct_status nav_data_simulate(const ct_nav_options *nav, uint64_t first_train, int trains, int tests, nav_data *out,
                            ct_err *err);
void      nav_data_free(nav_data *data);
grid_data nav_data_grid(const nav_data *data);
/* Every model but the prior of the first pose, as that kind, within bounds. The caller frees *out. */
ct_status nav_data_theta(const nav_data *data, ct_noise_kind kind, double lower, double upper, ct_theta **out,
                         ct_err *err);

#endif
