/* learn.c: noise models from a dataset. Without an argument it makes one: five runs of a robot with odometry and something like GPS. */
#include <covtune/covtune.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Five runs whose noise is forgotten: the table says 1 to everything. */
static int make(ct_dataset *data, ct_sequence *run[5], ct_err *err)
{
    ct_nav_options nav;
    ct_nav_preset("D1", CT_SE2, &nav);
    for (int i = 0; i < 5; i++)
        if (ct_nav_make(&nav, (uint64_t)i, data->noise, &run[i], err)) return 1;
    for (int32_t g = 0; g < ct_noise_count(data->noise); g++)
        if (strcmp(ct_noise_get(data->noise, g)->name, "first_pose") && ct_noise_set_variance(data->noise, g, (const double[]){1, 1, 1}, err)) return 1;
    return 0;
}

int main(int argc, char **argv)
{
    ct_err          err = {0};
    ct_dataset     *data = NULL;
    ct_theta       *theta = NULL;
    ct_outer       *outer = NULL;
    ct_learn_result result = {0};
    ct_sequence    *made[5] = {0}, **run = made;
    int             bad = (argc > 1 ? ct_dataset_read(argv[1], CT_DATASET_TRAIN, &data, &err) : ct_dataset_new(&data, &err)) != CT_OK;
    if (!bad && argc == 1) bad = make(data, made, &err);
    if (!bad && argc > 1) run = data->train;
    const int32_t runs = argc > 1 && data ? data->trains : 5;
    for (int32_t i = 0; i < runs && !bad; i++) ct_graph_name_rows(run[i]->graph, data->noise); /* "x" in "m", for what is printed */

    /* What is learned: every model but the prior on the first pose, as variances between 1e-3 and 1e3. */
    bad = bad || ct_theta_new(data->noise, &theta, &err);
    for (int32_t g = 0; !bad && g < ct_noise_count(data->noise); g++)
        if (strcmp(ct_noise_get(data->noise, g)->name, "first_pose")) bad = ct_theta_learn(theta, g, CT_NOISE_DIAGONAL, CT_BOUND_LOOSE_LOWER, CT_BOUND_LOOSE_UPPER, &err) != CT_OK;

    bad = bad || ct_outer_new(runs, (const ct_sequence *const *)run, data->noise, theta, NULL, &outer, &err) || ct_learn(outer, NULL, data->noise, &result, &err);
    for (int32_t i = 0; !bad && i < result.parameters; i++) {
        char name[64];
        printf("%-12s sigma %.4f +- %.1f %%\n", ct_theta_name(theta, i, name, sizeof name), exp(0.5 * result.p[i]), 50 * result.standard_error[i]);
    }
    if (bad) fprintf(stderr, "learn: %s\n", err.text);
    else printf("loss %.4g -> %.4g; %s\n", result.loss_start, result.loss_train, ct_learn_stop_meaning(result.stop));
    ct_learn_result_free(&result);
    ct_outer_free(outer);
    ct_theta_free(theta);
    for (int i = 0; i < 5; i++) ct_sequence_free(made[i]);
    ct_dataset_free(data);
    return bad;
}
