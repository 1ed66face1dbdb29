/* learn.c: noise models from a dataset. Without an argument it makes one: five runs of a robot with odometry and
 * something like GPS. */
#include <covtune/covtune.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Five runs whose noise is forgotten: the table says 1 to everything. */
static int make(ct_dataset *data, ct_err *err)
{
    ct_nav_options nav;
    ct_nav_preset("D1", CT_SE2, &nav);
    data->train = calloc(5, sizeof *data->train); /* which the dataset then owns */
    for (; data->train && data->trains < 5; data->trains++)
        if (ct_nav_make(&nav, (uint64_t)data->trains, data->noise, &data->train[data->trains], err)) return 1;
    for (int32_t g = 0; g < ct_noise_count(data->noise); g++)
        if (strcmp(ct_noise_get(data->noise, g)->name, "first_pose") &&
            ct_noise_set_variance(data->noise, g, (const double[]){1, 1, 1}, err))
            return 1;
    /* "x" in "m", for what is printed */
    for (int32_t i = 0; i < data->trains; i++) ct_graph_name_rows(data->train[i]->graph, data->noise);
    return 0;
}

int main(int argc, char **argv)
{
    ct_err          err = {0};
    ct_dataset     *data = NULL;
    ct_theta       *theta = NULL;
    ct_outer       *outer = NULL;
    ct_learn_result result = {0};
    int bad =
        (argc > 1 ? ct_dataset_read(argv[1], CT_DATASET_TRAIN, &data, &err) : ct_dataset_new(&data, &err)) != CT_OK;
    if (!bad && argc == 1) bad = make(data, &err);

    /* what the dataset wants to be learned; else every model but the prior on the first pose */
    bad = bad || ct_dataset_theta(data, NULL, &theta, &err);
    bad = bad ||
          ct_outer_new(data->trains, (const ct_sequence *const *)data->train, data->noise, theta, NULL, &outer, &err) ||
          ct_learn(outer, NULL, data->noise, &result, &err);
    for (int32_t i = 0; !bad && i < result.parameters; i++) {
        char name[64];
        printf("%-12s sigma %.4f +- %.1f %%\n", ct_theta_name(theta, i, name, sizeof name), exp(0.5 * result.p[i]),
               50 * result.standard_error[i]);
    }
    if (bad) fprintf(stderr, "learn: %s\n", err.text);
    else printf("loss %.4g -> %.4g; %s\n", result.loss_start, result.loss_train, ct_learn_stop_meaning(result.stop));
    ct_learn_result_free(&result);
    ct_outer_free(outer);
    ct_theta_free(theta);
    ct_dataset_free(data);
    return bad;
}
