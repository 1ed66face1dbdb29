/* test_tune_memory.c: no memory at any moment of tuning: every allocation is failed once, each in a run of its own. The
 * call says so, nothing leaks, nothing stays under way. */
#include "memory_test.h"
#include "tune_test.h"

static const ct_tune_log LOGS[] = {{"a", "a", 0}, {"b", "b", 0}, {"c", "c", 0}, {"d", "d", 1}};

static void budget(const toy *t, const double *value, int32_t log_, double *r)
{
    for (int64_t i = 0; i < t->rows; i++)
        r[i] = 0.1 * sin((double)(i + log_)) + log(value[0]) * cos((double)i) + log(value[1]) * log(value[1]) - 0.3;
}

static int bad_corner(const toy *t, const double *value, int32_t log_)
{
    (void)t;
    (void)log_;
    return value[1] > 5;
}

/* Returns 1 when there is no such allocation any more. */
static int tune_once(ct_tune_method method, int64_t k, int64_t *unnoticed)
{
    const double spread[] = {100};
    ct_tune_parameter p[3] = {toy_parameter("a", 2), toy_parameter("b", 0.5), toy_parameter("idle", 1)};
    ct_tune_problem problem = {3, 4, 1, p, LOGS, spread};
    ct_tune_options o = ct_tune_defaults();
    ct_tune_result  r = {0};
    ct_err          err = {0};
    toy t = {.rows = 12, .residual = budget, .fails = bad_corner};
    p[0].group = p[1].group = 0;
    o.method = method;
    o.points = 30;
    toy_begin(&t, &problem);
    left = k;
    const ct_status status = ct_tune(&problem, &o, &t.queue, &r, &err);
    const int through = left >= 0;
    left = -1;
    if (through) CHECK_OK(status, err);
    else if (status == CT_OK) ++*unnoticed;
    else CHECK(status == CT_E_MEMORY && err.text[0] && err.status == status);
    CHECK(!t.running);
    ct_tune_result_free(&r);
    return through;
}

static void test_tuning_survives_the_failure_of_every_allocation(void)
{
    for (int method = 0; method < CT_TUNE_METHOD_COUNT; method++) {
        int64_t k = 0, unnoticed = 0;
        while (!tune_once((ct_tune_method)method, k, &unnoticed) && k < 100000) k += ct_test_slow() ? 7 : 1;
        printf("  %s: %lld allocations, %lld of them not missed\n", ct_tune_method_name((ct_tune_method)method),
               (long long)k, (long long)unnoticed);
        CHECK(k > 50 && k < 100000);
        CHECK(unnoticed * 20 < k);
    }
}

int main(void)
{
    RUN(test_tuning_survives_the_failure_of_every_allocation);
    return ct_test_end();
}
