/* test_api_memory.c: no memory at any moment of a call of the front door. The call fails with CT_E_MEMORY and a
 * sentence, leaves nothing behind, and works again. */
#include "ct_test.h"
#include "memory_test.h"

#include <covtune/api.h>
#include <covtune/simulate.h>

static ct_dataset *make_dataset(void)
{
    ct_err         err = {0};
    ct_dataset    *d;
    ct_nav_options nav;
    CHECK_OK(ct_dataset_new(&d, &err), err);
    CHECK(ct_nav_preset("D1", CT_SE2, &nav));
    nav.least = nav.most = 8;
    d->train = calloc(2, sizeof *d->train);
    for (; d->trains < 2; d->trains++)
        CHECK_OK(ct_simulate_nav(&nav, (uint64_t)d->trains, d->noise, &d->train[d->trains], &err), err);
    return d;
}

/* Allocation k fails. Returns 1 if there is no such allocation. *unnoticed counts calls that did without. */
static int learn_once(int64_t k, int *unnoticed)
{
    ct_err         err = {0};
    ct_dataset    *d = make_dataset();
    ct_run        *run = NULL;
    ct_run_options options = ct_run_defaults();
    ct_summary     s;
    options.method = "closed-form";
    left = k;
    ct_status status = ct_run_learn(d, &options, &run, &err);
    CHECK((status == CT_OK) == (run != NULL));
    if (status == CT_OK) status = ct_dataset_evaluate(d, CT_DATASET_TRAIN, ct_run_noise(run), NULL, &s, &err);
    const int through = left >= 0;
    left = -1;
    if (through) CHECK_OK(status, err);
    else if (status == CT_OK) ++*unnoticed;
    else CHECK(status == CT_E_MEMORY && err.status == status && err.text[0]);
    ct_run_free(run);
    ct_dataset_free(d);
    return through;
}

static void test_no_memory_for_learning(void)
{
    int64_t k = 0;
    int     unnoticed = 0;
    while (k < 100000 && !learn_once(k, &unnoticed)) k++;
    printf("  %lld allocations, %d of them not missed\n", (long long)k, unnoticed);
    CHECK(k > 50 && unnoticed < k / 10);
}

static ct_status build(ct_problem **p, double *x, ct_err *err)
{
    int32_t   noise, v[2];
    ct_status s = ct_problem_new(p, err);
    CHECK((s == CT_OK) == (*p != NULL));
    if (s == CT_OK) s = ct_problem_add_noise(*p, "a", 2, (const double[]){1, 1}, &noise, err);
    for (int i = 0; i < 2 && s == CT_OK; i++) {
        s = ct_problem_add_variable(*p, NULL, "R2", NULL, 0, &v[i], err);
        if (s == CT_OK)
            s = i ? ct_problem_add_factor(*p, "between_r2", 2, v, 2, (const double[]){1, 0}, noise, err)
                  : ct_problem_add_factor(*p, "prior_r2", 1, v, 2, (const double[]){1, 0}, noise, err);
        if (s == CT_OK) s = ct_problem_update(*p, NULL, err);
    }
    if (s == CT_OK) s = ct_problem_solve(*p, NULL, NULL, err);
    if (s == CT_OK) s = ct_problem_marginal(*p, 1, x, err);
    return s == CT_OK ? ct_problem_value(*p, 1, x, err) : s;
}

static void test_no_memory_for_estimation(void)
{
    int through = 0, unnoticed = 0;
    for (int64_t k = 0; k < 100000 && !through; k++) {
        ct_err      err = {0};
        ct_problem *p = NULL;
        double      x[4];
        left = k;
        const ct_status status = build(&p, x, &err);
        through = left >= 0;
        left = -1;
        if (status != CT_OK) CHECK(status == CT_E_MEMORY && err.text[0]);
        else CHECK_NEAR(x[0], 2, 1e-9);
        unnoticed += status == CT_OK && !through;
        ct_problem_free(p);
    }
    CHECK(through && unnoticed < 10);
}

int main(void)
{
    RUN(test_no_memory_for_learning);
    RUN(test_no_memory_for_estimation);
    return ct_test_end();
}
