/* test_theta_memory.c: no memory at any moment. Every allocation is failed once, each in a run of its own: the call
 * that made it says so and leaves nothing half-built; what takes no status allocates nothing. Programs called
 * *_memory are linked so that the library's allocations pass through here. */
#include "theta_test.h"
#include "memory_test.h"

/* All that allocates, with allocation number k failing. Returns 1 when there is no such allocation any more. */
static int make_once(const ct_noise *noise, int64_t k)
{
    ct_theta        *theta = NULL, *copy = NULL;
    ct_theta_jacobian *slopes = NULL;
    ct_err           err = {0};
    left = k;
    ct_status status = ct_theta_new(noise, &theta, &err);
    if (status == CT_OK) status = ct_theta_learn(theta, IMU, CT_NOISE_FULL, 0.1, 10, &err);
    if (status == CT_OK) status = ct_theta_copy(theta, &copy, &err);
    if (status == CT_OK) status = ct_theta_jacobian_new(copy, &slopes, &err);
    const int through = left >= 0;
    left = -1;
    if (through) CHECK(status == CT_OK && theta && copy && slopes && ct_theta_count(copy) == 21);
    else CHECK(status == CT_E_MEMORY && err.status == status && strstr(err.text, "out of memory") && !slopes);
    if (!through) CHECK(!copy || ct_theta_count(copy) == 21);
    free(slopes);
    ct_theta_free(copy);
    ct_theta_free(theta);
    return through;
}

static void test_making_survives_the_failure_of_every_allocation(void)
{
    ct_noise *noise = new_table();
    int64_t   k = 0;
    while (!make_once(noise, k) && k < 100) k++;
    CHECK(k == 6 + 6 + 1);
    ct_noise_free(noise);
}

static void test_sayings_and_steps_allocate_nothing(void)
{
    ct_err           err = {0};
    ct_noise        *noise = new_table();
    ct_theta        *theta = new_theta(noise), *all = new_theta(noise);
    ct_theta_jacobian *slopes = NULL;
    double           p[MANY], q[MANY], low, high;
    int8_t           active[MANY];
    for (int i = 0; i < MODELS; i++) CHECK_OK(ct_theta_learn(all, i, CT_NOISE_FULL, 0.1, 10, &err), err);
    CHECK_OK(ct_theta_set_spread(all, 3, &err), err);
    CHECK_OK(ct_theta_jacobian_new(all, &slopes, &err), err);

    left = 0; /* the first to ask gets nothing */
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < MODELS; i++) CHECK_OK(ct_theta_learn(theta, i, CT_NOISE_DIAGONAL, 0.1, 10, &err), err);
    CHECK_OK(ct_theta_bound(theta, ODOM, 0, 1, 2, &err), err);
    CHECK_OK(ct_theta_set_unit(theta, GPS, -1, 0.1, &err), err);
    CHECK_OK(ct_theta_tie(theta, ODOM, -1, ODO2, -1, &err), err);
    CHECK_OK(ct_theta_freeze(theta, IMU, 3, &err), err);
    CHECK_OK(ct_theta_set_spread(theta, 100, &err), err);
    ct_theta_get(all, noise, p);
    ct_theta_minimise_linear(all, CT_SPACE_LOG, p, q);
    ct_theta_project(all, CT_SPACE_LOG, p);
    ct_theta_jacobian_at(all, p, slopes);
    ct_theta_convert_gradient(all, p, CT_SPACE_VARIANCE, q, q);
    ct_theta_to_eigenbasis(all, p, q);
    ct_theta_active(all, p, active);
    ct_theta_scale_range(all, p, &low, &high);
    CHECK_OK(ct_theta_apply(all, p, noise, &err), err);
    CHECK(ct_theta_is_feasible(all, noise));
    CHECK(left == 0);
    left = -1;
    free(slopes);
    ct_theta_free(all);
    ct_theta_free(theta);
    ct_noise_free(noise);
}

int main(void)
{
    RUN(test_making_survives_the_failure_of_every_allocation);
    RUN(test_sayings_and_steps_allocate_nothing);
    return ct_test_end();
}
