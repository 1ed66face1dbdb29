/* test_learn_memory.c: no memory at any moment of learning. Every allocation is failed once, each in a run of its
 * own: the call says so, and the table is as it was. Programs called *_memory are linked so that the library's
 * allocations pass through here. */
#include "learn_test.h"
#include "memory_test.h"

#include <jansson.h>

static int64_t unnoticed; /* ones that nobody missed: memory that was to be given back in part */
/* A whole run with allocation k failing. Returns 1 when there is no such allocation any more. */
static int learn_once(lesson *l, ct_learn_method method, ct_gradient gradient, int64_t k)
{
    ct_outer_options options = ct_outer_defaults();
    ct_learn_options how = ct_learn_defaults();
    ct_learn_result  result = {0};
    ct_checkpoint       *checkpoint = NULL;
    ct_outer        *outer = NULL;
    ct_noise        *noise = NULL;
    ct_err           err = {0};
    char             path[600];
    int              learned = 0;
    snprintf(path, sizeof path, "%s/checkpoint", ct_test_folder());
    options.gradient = gradient;
    how.method = method;
    how.max_iterations = method == CT_LEARN_POWELL ? 1 : 3;
    CHECK_OK(ct_noise_copy(l->noise, &noise, &err), err);
    left = k;
    ct_status status =
        ct_outer_new(l->runs, (const ct_sequence *const *)l->seq, noise, l->theta, &options, &outer, &err);
    if (status == CT_OK) status = ct_checkpoint_open(path, 0, 1, 1e9, &checkpoint, &err);
    if (status == CT_OK) {
        ct_outer_set_checkpoint(outer, checkpoint);
        status = ct_learn(outer, &how, noise, &result, &err);
        learned = status == CT_OK;
        if (learned) status = ct_checkpoint_write(checkpoint, &err);
    }
    const int through = left >= 0;
    left = -1;
    if (through) CHECK_OK(status, err);
    else if (status == CT_OK) unnoticed++;
    else {
        CHECK(status == CT_E_MEMORY || status == CT_E_IO); /* the checkpoint's file may be what cannot be had */
        CHECK(err.text[0] && err.status == status);
        for (int32_t g = 0; !learned && g < ct_noise_count(noise); g++)
            CHECK(!memcmp(ct_noise_get(noise, g)->covariance, ct_noise_get(l->noise, g)->covariance,
                          (size_t)ct_noise_get(noise, g)->dim * sizeof(double)));
    }
    ct_learn_result_free(&result);
    ct_outer_free(outer);
    ct_checkpoint_free(checkpoint);
    ct_noise_free(noise);
    remove(path);
    return through;
}

static void sweep(ct_learn_method method, ct_gradient gradient)
{
    lesson  l = lesson_of("D1", CT_SE2, 3, 12, 5);
    int64_t k = 0;
    start_far(&l);
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-3, 1e3);
    const int64_t stride = ct_test_slow() ? 23 : 1;
    while (!learn_once(&l, method, gradient, k) && k < 100000) k += stride;
    printf("  %s, %s: %lld allocations, %lld of them not missed\n", ct_learn_method_name(method),
           ct_gradient_name(gradient), (long long)k, (long long)unnoticed);
    CHECK(unnoticed * 50 < k);
    unnoticed = 0;
    CHECK(k > 50 && k < 100000);
    lesson_free(&l);
}

static void test_learning_survives_the_failure_of_every_allocation(void)
{
    sweep(CT_LEARN_LM, CT_GRADIENT_ADJOINT);
    sweep(CT_LEARN_FRANK_WOLFE, CT_GRADIENT_NUMERIC);
    sweep(CT_LEARN_PROJECTED_GRADIENT, CT_GRADIENT_SENSITIVITY);
    sweep(CT_LEARN_LBFGS, CT_GRADIENT_ADJOINT);
    sweep(CT_LEARN_NELDER_MEAD, CT_GRADIENT_ADJOINT);
    sweep(CT_LEARN_POWELL, CT_GRADIENT_ADJOINT);
    sweep(CT_LEARN_BOBYQA, CT_GRADIENT_ADJOINT);
    sweep(CT_LEARN_LEO, CT_GRADIENT_ADJOINT);
}

static void test_a_noise_file_is_written_whole_or_not_at_all(void)
{
    lesson                l = lesson_of("D1", CT_SE2, 3, 12, 6);
    ct_learn_result       r;
    const ct_learn_origin origin = {.command = "covtune learn x", .dataset = "x", .finished = 1};
    char                  path[600];
    int64_t               k = 0;
    int                   through = 0;
    snprintf(path, sizeof path, "%s/noise.json", ct_test_folder());
    learn_all(&l, CT_NOISE_FULL, 1e-3, 1e3);
    open_outer(&l, NULL);
    CHECK_OK(ct_learn(l.outer, NULL, l.noise, &r, &l.err), l.err);
    json_set_alloc_funcs(__wrap_malloc, free); /* jansson is a library of its own */
    for (; !through && k < 10000; k++) {
        ct_err err = {0};
        remove(path);
        left = k;
        const ct_status status = ct_learn_write_noise(l.theta, l.noise, l.noise, &r, &origin, path, &err);
        through = left >= 0;
        left = -1;
        FILE *file = fopen(path, "r");
        CHECK(!file == (status != CT_OK));
        if (through) CHECK_OK(status, err);
        else CHECK(status == CT_OK || err.text[0]);
        if (file) fclose(file);
    }
    CHECK(k > 100 && k < 10000);
    ct_learn_result_free(&r);
    lesson_free(&l);
}

static ct_status make_findings(ct_findings *list, ct_findings *joined, ct_err *err)
{
    ct_status status = CT_OK;
    for (int i = 0; status == CT_OK && i < 20; i++) {
        status = ct_findings_add(list, CT_FINDING_PARAMETER_UNDETERMINED, 1, (double[]){1.0 + i % 3}, err);
        if (status == CT_OK) status = ct_findings_add_subject(list, CT_SUBJECT_PARAMETER, i, 0, "odom.x", err);
    }
    return status == CT_OK ? ct_findings_join(list, joined, err) : status;
}

static void test_findings_survive_the_failure_of_every_allocation(void)
{
    int64_t k = 0;
    for (int through = 0; !through && k < 1000; k++) {
        ct_findings list = {0}, joined = {0};
        ct_err      err = {0};
        left = k;
        const ct_status status = make_findings(&list, &joined, &err);
        through = left >= 0;
        left = -1;
        CHECK(status == (through ? CT_OK : CT_E_MEMORY) && (through || err.text[0]));
        CHECK(joined.count == (through ? 3 : 0));
        ct_findings_free(&list);
        ct_findings_free(&joined);
    }
    CHECK(k > 50 && k < 1000);
}

int main(void)
{
    RUN(test_findings_survive_the_failure_of_every_allocation);
    RUN(test_a_noise_file_is_written_whole_or_not_at_all);
    RUN(test_learning_survives_the_failure_of_every_allocation);
    return ct_test_end();
}
