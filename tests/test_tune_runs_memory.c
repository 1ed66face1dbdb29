/* test_tune_runs_memory.c: no memory at any moment of a run. Every allocation of a queue with a journal is failed once,
 * each in a run of its own: the call says so, nothing is left, and the next run is good. */
#define _GNU_SOURCE
#include "memory_test.h"
#include "run_test.h"

#include <sys/wait.h>

static char journal[2200];

/* A run with allocation k failing. Returns 1 when there is no such allocation any more. */
static int run_with(test_tuning *t, int64_t k, int64_t *refused)
{
    const ct_tuning_local local = {.jobs = 1, .folder = t->runs};
    ct_tune_queue        *processes = NULL, *queue = NULL;
    ct_tune_outcome       outcome = {0};
    ct_err                err = {0};
    int64_t               ticket = -1;
    const double          value[2] = {0.001 * (double)k, 1};
    left = k;
    ct_status status = ct_tuning_queue(&t->tuning, &local, &processes, &err);
    if (status == CT_OK) status = ct_tune_journal(journal, 1, 2, 1, processes, &queue, &err);
    if (status == CT_OK) status = queue->submit(queue->user, &(ct_tune_request){1, 0, 0, value}, &err);
    if (status == CT_OK) status = queue->collect(queue->user, 20, &ticket, &outcome, &err);
    const int through = left >= 0;
    left = -1;
    if (through) CHECK_OK(status, err);
    else if (status != CT_OK) {
        CHECK((status == CT_E_MEMORY || status == CT_E_IO) && err.text[0] && err.status == status);
        if (status != CT_E_MEMORY) printf("  %s\n", err.text);
        ++*refused;
    }
    if (status == CT_OK) CHECK(ticket == 1 && (outcome.end == CT_TUNE_DONE || !through));
    ct_tune_outcome_free(&outcome);
    if (queue) ct_tune_queue_free(queue);
    else ct_tune_queue_free(processes);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    return through;
}

static void test_every_allocation_of_a_run_may_fail(void)
{
    test_tuning t;
    int64_t     k = 0, refused = 0;
    make_tuning(&t, "memory");
    add_config(&t);
    snprintf(journal, sizeof journal, "%s/runs.journal", t.root);
    t.tuning.estimate_options.source.format = CT_SOURCE_TUM;
    t.tuning.truth_options.source.format = CT_SOURCE_TUM;
    t.tuning.command = WORDS(t.word, CT_ESTIMATOR, "poses", "{estimate}", "100", "{a}", "{b}", "0", "{params}");
    while (!run_with(&t, k, &refused) && k < 5000) k++;
    printf("  %lld allocations, %lld refused\n", (long long)k, (long long)refused);
    CHECK(k > 50 && refused > k / 2);
    ct_config_free(t.file[0].config);
}

/* Of the failure of a run: its message, its folder. */
static void test_every_allocation_of_a_failure_may_fail(void)
{
    test_tuning t;
    int64_t     k = 0, refused = 0;
    make_tuning(&t, "memory");
    snprintf(journal, sizeof journal, "%s/runs.journal", t.root);
    t.tuning.command = WORDS(t.word, CT_ESTIMATOR, "exit", "3");
    for (int through = 0; !through && k < 5000; k++) {
        const ct_tuning_local local = {.jobs = 1, .folder = t.runs};
        ct_tune_queue        *queue = NULL;
        ct_tune_outcome       outcome = {0};
        ct_err                err = {0};
        int64_t               ticket = -1;
        const double          value[2] = {0, 1};
        left = k;
        ct_status status = ct_tuning_queue(&t.tuning, &local, &queue, &err);
        if (status == CT_OK) status = queue->submit(queue->user, &(ct_tune_request){1, 0, 0, value}, &err);
        if (status == CT_OK) status = queue->collect(queue->user, 20, &ticket, &outcome, &err);
        through = left >= 0;
        left = -1;
        refused += status != CT_OK;
        if (status == CT_OK) CHECK(outcome.end == CT_TUNE_CRASHED && outcome.code == 3 && outcome.message);
        else CHECK(!through && err.text[0] && (status == CT_E_MEMORY || status == CT_E_IO));
        ct_tune_outcome_free(&outcome);
        ct_tune_queue_free(queue);
        CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    }
    CHECK(k > 20 && refused > k / 2);
}

int main(void)
{
    RUN(test_every_allocation_of_a_run_may_fail);
    RUN(test_every_allocation_of_a_failure_may_fail);
    return ct_test_end();
}
