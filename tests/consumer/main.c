/* A user's program, small, yet calling all that the library is linked with: 2 x = 4 is solved by
 * elimination (orderings, BLAS), a noise model is written and read (JSON). Prints the version. */
#include <covtune/covtune.h>
#include <stdio.h>

int main(void)
{
    ct_sparse *system;
    ct_noise *noise;
    ct_err err = {0};
    const double J[] = {2}, r[] = {-4}, *const blocks[] = {J};
    double x = 0;
    const int32_t dim[] = {1}, member[] = {0};
    const int64_t start[] = {0, 1};
    if (ct_sparse_new(1, dim, 1, start, member, NULL, &system, &err) || ct_noise_new(&noise, &err)) return puts(err.text), 1;
    ct_sparse_clear(system);
    ct_sparse_add(system, 0, 1, blocks, r);
    if (ct_sparse_factor(system, 0, NULL) == 0) ct_sparse_step(system, &x);
    ct_sparse_free(system);

    ct_noise_add_isotropic(noise, "odom", 3, 0.01, NULL, &err);
    if (ct_noise_write(noise, "noise.json", &err) || ct_noise_read(noise, "noise.json", &err)) puts(err.text);
    ct_noise_free(noise);
    if (x == 2 && err.status == CT_OK) printf("covtune %s\n", ct_version());
    return 0;
}
