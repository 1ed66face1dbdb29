/* nav_data.c: simulated navigation datasets. Training sequences are numbered from 0 and test sequences from 2^32, so
 * that their numbers are independent. */
#include "studies/nav_data.h"

#include <string.h>

#define FIRST_TEST ((uint64_t)1 << 32)

/* Variances six decades off, each sensor where the other is good. */
static const double FAR_ODOM[3] = {100, 100, 1e-3}, FAR_GPS[3] = {0.1, 0.1, 1e3};

static int is_learned(const ct_noise *noise, int32_t model)
{
    return strcmp(ct_noise_get(noise, model)->name, "first_pose") != 0;
}

static ct_status make(const ct_nav_options *nav, uint64_t first_train, int trains, int tests, nav_data *d, ct_err *err)
{
    if (trains > NAV_DATA_MAX || tests > NAV_DATA_MAX)
        return ct_fail(err, CT_E_LIMIT, "a part has at most %d sequences", NAV_DATA_MAX);
    ct_status status = ct_noise_new(&d->latent, err);
    for (; status == CT_OK && d->trains < trains; d->trains += status == CT_OK)
        status = ct_simulate_nav(nav, first_train + (uint64_t)d->trains, d->latent, &d->train[d->trains], err);
    for (; status == CT_OK && d->tests < tests; d->tests += status == CT_OK)
        status = ct_simulate_nav(nav, FIRST_TEST + (uint64_t)d->tests, d->latent, &d->test[d->tests], err);
    if (status == CT_OK) status = ct_noise_copy(d->latent, &d->start, err);
    for (int32_t i = 0; status == CT_OK && i < ct_noise_count(d->start); i++)
        if (is_learned(d->start, i))
            status =
                ct_noise_set_variance(d->start, i, ct_noise_get(d->start, i)->name[0] == 'o' ? FAR_ODOM : FAR_GPS, err);
    return status;
}

ct_status nav_data_simulate(const ct_nav_options *nav, uint64_t first_train, int trains, int tests, nav_data *out,
                            ct_err *err)
{
    *out = (nav_data){0};
    const ct_status status = make(nav, first_train, trains, tests, out, err);
    if (status != CT_OK) nav_data_free(out);
    return status;
}

ct_status nav_data_make(const char *preset, uint64_t seed, const nav_size *size, nav_data *out, ct_err *err)
{
    ct_nav_options nav;
    ct_nav_preset(preset, CT_SE2, &nav);
    nav.seed = seed;
    nav.least = size->least;
    nav.most = size->most;
    return nav_data_simulate(&nav, 0, size->trains, size->tests, out, err);
}

void nav_data_free(nav_data *d)
{
    for (int32_t i = 0; i < d->trains; i++) ct_sequence_free(d->train[i]);
    for (int32_t i = 0; i < d->tests; i++) ct_sequence_free(d->test[i]);
    ct_noise_free(d->latent);
    ct_noise_free(d->start);
    *d = (nav_data){0};
}

grid_data nav_data_grid(const nav_data *d)
{
    return (grid_data){.trains = d->trains, .tests = d->tests, .train = d->train, .test = d->test, .start = d->start};
}

ct_status nav_data_theta(const nav_data *data, ct_noise_kind kind, double lower, double upper, ct_theta **out,
                         ct_err *err)
{
    ct_status status = ct_theta_new(data->start, out, err);
    for (int32_t i = 0; status == CT_OK && i < ct_noise_count(data->start); i++)
        if (is_learned(data->start, i)) status = ct_theta_learn(*out, i, kind, lower, upper, err);
    if (status == CT_OK) return CT_OK;
    ct_theta_free(*out);
    *out = NULL;
    return status;
}
