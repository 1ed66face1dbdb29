/* objective.c: the loss of the training sequences as a function of variances, through a pipe: for programs that
 * minimise it with methods of their own.
 *
 *     objective DATASET LOWER:UPPER
 *
 * writes how many variances there are and the start values, the dataset's moved into the bounds; then, for each line
 * of variances that it reads, a line with the loss there: the mean over runs, every inner solve from the truth, or
 * inf where one fails. Learned is what the dataset says, between the same two bounds. */
#include <covtune/covtune.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 64

static int fail(const char *what)
{
    fprintf(stderr, "objective: %s\n", what);
    return EXIT_FAILURE;
}

static ct_status bound(const ct_dataset *dataset, double lower, double upper, ct_theta *theta, ct_err *err)
{
    ct_status status = CT_OK;
    for (int32_t g = 0; status == CT_OK && g < ct_theta_models(theta); g++)
        if (ct_theta_learns(theta, g))
            status = ct_theta_learn(theta, g, ct_noise_get(dataset->noise, g)->kind, lower, upper, err);
    return status;
}

/* As covtune learn has them, to the bit: through logarithms, but bounds as they are. */
static void print_start(const ct_dataset *dataset, const ct_theta *theta, double lower, double upper)
{
    double p[MOST];
    ct_theta_get(theta, dataset->noise, p);
    printf("%d\n", ct_theta_count(theta));
    for (int32_t i = 0; i < ct_theta_count(theta); i++)
        printf("%s%.17g", i ? " " : "",
               p[i] <= log(lower)   ? lower
               : p[i] >= log(upper) ? upper
                                    : fmin(fmax(exp(p[i]), lower), upper));
    printf("\n");
    fflush(stdout);
}

static ct_status answer(ct_outer *outer, int32_t m, ct_err *err)
{
    for (;;) {
        double         p[MOST];
        ct_outer_value value = {0};
        for (int32_t i = 0; i < m; i++) {
            double variance;
            if (scanf("%lf", &variance) != 1) return CT_OK;
            p[i] = log(variance);
        }
        const ct_status status = ct_outer_evaluate(outer, p, NULL, &value, err);
        if (status != CT_OK) return status;
        printf("%.17g\n", value.failed ? INFINITY : value.loss);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    ct_dataset *dataset = NULL;
    ct_theta   *theta = NULL;
    ct_outer   *outer = NULL;
    ct_err      err = {0};
    double      lower, upper;
    if (argc != 3 || sscanf(argv[2], "%lf:%lf", &lower, &upper) != 2) return fail("wanted: DATASET LOWER:UPPER");
    ct_status status = ct_dataset_read(argv[1], CT_DATASET_TRAIN, &dataset, &err);
    if (status == CT_OK) status = ct_dataset_theta(dataset, NULL, &theta, &err);
    if (status == CT_OK) status = bound(dataset, lower, upper, theta, &err);
    if (status == CT_OK && ct_theta_count(theta) > MOST) return fail("too many variances");
    if (status == CT_OK)
        status = ct_outer_new(dataset->trains, (const ct_sequence *const *)dataset->train, dataset->noise, theta, NULL,
                              &outer, &err);
    if (status == CT_OK) {
        print_start(dataset, theta, lower, upper);
        status = answer(outer, ct_theta_count(theta), &err);
    }
    ct_outer_free(outer);
    ct_theta_free(theta);
    ct_dataset_free(dataset);
    return status == CT_OK ? EXIT_SUCCESS : fail(err.text);
}
