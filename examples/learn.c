/* learn.c: learn noise models from a dataset, print them, compare accuracy before and after, write the noise file. */
#include <covtune/api.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    ct_err      err = {0};
    ct_dataset *data = NULL;
    ct_run     *run = NULL;
    ct_run_info info = {0};
    ct_row      row;
    ct_summary  before, after;
    const char *path = argc > 1 ? argv[1] : "dataset";
    int         bad = ct_dataset_read(path, CT_DATASET_ALL, &data, &err) || ct_run_learn(data, NULL, &run, &err) ||
              ct_run_get_info(run, &info, &err) || ct_run_write(run, "noise.json", &err) ||
              ct_dataset_evaluate(data, CT_DATASET_TEST, NULL, NULL, &before, &err) ||
              ct_dataset_evaluate(data, CT_DATASET_TEST, ct_run_noise(run), NULL, &after, &err);
    for (int32_t i = 0; !bad && i < info.rows && !ct_run_row(run, i, &row, &err); i++)
        printf("%s.%s: sigma %.4g -> %.4g +- %.2g %s\n", row.model, row.name, row.sigma_start, row.sigma,
               row.sigma_error, row.unit);
    if (bad) fprintf(stderr, "learn: %s\n", err.text);
    else printf("test rmse %.4g -> %.4g m\n", before.accuracy.translation, after.accuracy.translation);
    ct_run_free(run);
    ct_dataset_free(data);
    return bad;
}
