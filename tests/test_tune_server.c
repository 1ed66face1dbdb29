/* test_tune_server.c: estimators that stay and answer line by line; and every way to break the protocol. */
#define _GNU_SOURCE
#include "run_test.h"

#include <sys/wait.h>

static char starts[2200], starts_setting[2300];

/* The Python server; 0: there is no Python. */
static int make_server(test_tuning *t, const char *name)
{
    static char script[] = CT_SERVER, *setting[1];
    make_tuning(t, name);
    add_config(t);
    snprintf(starts, sizeof starts, "%s/starts", t->root);
    snprintf(starts_setting, sizeof starts_setting, "STARTS=%s", starts);
    setting[0] = starts_setting;
    t->tuning.environment = (ct__tune_words){1, setting};
    t->tuning.server = WORDS(t->word, "python3", script);
    return system("python3 -c pass >/dev/null 2>&1") == 0;
}

static void check_done(ct_tune_outcome *outcome, double a, double b)
{
    CHECK(outcome->end == CT_TUNE_DONE && outcome->rows == 600 && outcome->seconds > 0);
    if (outcome->end != CT_TUNE_DONE) printf("  %s\n", outcome->message ? outcome->message : "");
    for (int i = 0; outcome->residual && outcome->rows == 600 && i < 100; i++) {
        double sum = 0;
        for (int k = 0; k < 6; k++) sum += outcome->residual[6 * i + k] * outcome->residual[6 * i + k];
        CHECK_NEAR(sum, a * a + b * b + 2 * a * b * cos(0.1 * i), 1e-6);
    }
    ct_tune_outcome_free(outcome);
}

static void test_a_server_is_started_once_per_job(void)
{
    test_tuning t;
    if (!make_server(&t, "server")) SKIP("no python3");
    ct_tune_queue *queue = open_queue(&t, 2, 0);
    CHECK(line_count(starts) == 0); /* not before the first run */
    ct_err err = {0};
    for (int batch = 0; batch < 3; batch++) {
        double value[2] = {0, 0.5};
        for (int i = 0; i < 4; i++) {
            value[0] = 0.1 * i;
            CHECK_OK(queue->submit(queue->user, &(ct_tune_request){i, i % TEST_LOGS, 0, value}, &err), err);
        }
        for (int i = 0; i < 4; i++) {
            ct_tune_outcome outcome;
            int64_t         ticket;
            CHECK_OK(queue->collect(queue->user, 20, &ticket, &outcome, &err), err);
            CHECK(ticket >= 0);
            check_done(&outcome, 0.1 * (double)ticket, 0.5);
        }
    }
    CHECK(line_count(starts) == 2);
    ct_tune_queue_free(queue);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    FILE *file = fopen(starts, "r");
    long  pid;
    while (file && fscanf(file, "%ld", &pid) == 1) CHECK(kill((pid_t)pid, 0) != 0);
    if (file) fclose(file);
    ct_config_free(t.file[0].config);
}

static void test_broken_protocols_are_outcomes(void)
{
    static const struct {
        int         what, restarts;
        ct_tune_end end;
        const char *part;
    } CASES[] = {
        {100, 0, CT_TUNE_CRASHED, "could not make the estimate: it diverged"},
        {114, 0, CT_TUNE_CRASHED, "could not make the estimate: ?[2Jno?\xc3\xa9 mmm"},
        {101, 1, CT_TUNE_CRASHED, "ended with exit code 5. The last lines of its stderr:\nlast words"},
        {102, 1, CT_TUNE_CRASHED, "is no JSON: \"hello there\""},
        {103, 1, CT_TUNE_CRASHED, "has another \"id\""},
        {104, 1, CT_TUNE_TIME, "time limit of 1 s"},
        {105, 1, CT_TUNE_CRASHED, "closed its stdout"},
        {106, 0, CT_TUNE_NO_ESTIMATE, "wrote no estimate"},
        {107, 1, CT_TUNE_CRASHED, "has more than one line"},
        {108, 1, CT_TUNE_CRASHED, "has no \"ok\""},
        {109, 1, CT_TUNE_CRASHED, "has no end"},
        {110, 1, CT_TUNE_MEMORY, "memory limit of 200 MB"},
        {112, 1, CT_TUNE_CRASHED, "is no object: \"[1, 2]\""},
        {113, 1, CT_TUNE_CRASHED, "signal 6 (SIGABRT"},
        {111, 0, CT_TUNE_CRASHED, "done for today"},
    };
    test_tuning t;
    if (!make_server(&t, "broken")) SKIP("no python3");
    t.tuning.memory_limit = (int64_t)200 << 20;
    ct_tune_queue *queue = open_queue(&t, 1, 0);
    int64_t        started = 1;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ct_tune_outcome outcome = run_once(queue, 0, 0, 0.5, 0.25);
        check_done(&outcome, 0.5, 0.25);
        CHECK(line_count(starts) == started);
        t.tuning.time_limit_s = CASES[i].end == CT_TUNE_TIME ? 1 : 60;
        outcome = run_once(queue, 0, 0, CASES[i].what, 0);
        t.tuning.time_limit_s = 60;
        if (outcome.end != CASES[i].end || !outcome.message || !strstr(outcome.message, CASES[i].part))
            CT_TEST_SAY("%d: %s, %s\n", CASES[i].what, ct_tune_end_name(outcome.end),
                        outcome.message ? outcome.message : "no message");
        CHECK(outcome.message && strlen(outcome.message) < 10000);
        ct_tune_outcome_free(&outcome);
        started += CASES[i].restarts;
    }
    ct_tune_outcome outcome = run_once(queue, 0, 0, 0.5, 0.25); /* its stdin is closed now */
    check_done(&outcome, 0.5, 0.25);
    CHECK(line_count(starts) == started + 1);
    ct_tune_queue_free(queue);
    ct_config_free(t.file[0].config);
}

/* One that ends after its answer, as workers do that serve a number of requests: no run fails by it. */
static void test_a_server_that_leaves_between_runs_is_started_again(void)
{
    static const struct {
        double what, wait_s, pause_s; /* it ends after wait_s; the next run is asked for after pause_s */
    } CASES[] = {{115, 0, 0}, {115, 0, 0.3}, {115, 0.2, 0}, {116, 0, 0}, {116, 0, 0.1}};
    test_tuning t;
    if (!make_server(&t, "leaves")) SKIP("no python3");
    ct_tune_queue *queue = open_queue(&t, 1, 0);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ct_tune_outcome outcome = run_once(queue, 0, 0, CASES[i].what, CASES[i].wait_s);
        check_done(&outcome, CASES[i].what, CASES[i].wait_s);
        usleep((useconds_t)(1e6 * CASES[i].pause_s));
    }
    ct_tune_outcome outcome = run_once(queue, 0, 0, 0.5, 0.25);
    check_done(&outcome, 0.5, 0.25);
    CHECK(line_count(starts) == 6);
    outcome = run_once(queue, 0, 0, 117, 0); /* one that has not answered is to blame */
    CHECK(outcome.end == CT_TUNE_CRASHED && outcome.message && strstr(outcome.message, "with exit code 0"));
    CHECK(line_count(starts) == 7);
    ct_tune_outcome_free(&outcome);
    ct_tune_queue_free(queue);
    ct_config_free(t.file[0].config);
}

/* A server that prints its answer and does not flush it, or leaves out the end of the line, was a time-out alone. */
static void test_a_server_that_is_never_heard_is_told_why(void)
{
    static const struct {
        int         what;
        const char *part;
    } CASES[] = {{104, "the server was stopped at its time limit of 1 s; it never answered: does it flush its output"},
                 {118, "it wrote \"{\"id\": 2, \"ok\": true}\", and no end of line"}};
    test_tuning t;
    if (!make_server(&t, "unheard")) SKIP("no python3");
    t.tuning.time_limit_s = 1;
    ct_tune_queue *queue = open_queue(&t, 1, 0);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ct_tune_outcome outcome = run_once(queue, 0, 0, CASES[i].what, 0);
        CHECK(outcome.end == CT_TUNE_TIME && outcome.message && strstr(outcome.message, CASES[i].part));
        ct_tune_outcome_free(&outcome);
    }
    ct_tune_queue_free(queue);
    ct_config_free(t.file[0].config);
}

static void test_a_server_that_cannot_start_says_so(void)
{
    test_tuning t;
    if (!make_server(&t, "unable")) SKIP("no python3");
    t.tuning.server = WORDS(t.word, "python3", "/no/such/script.py");
    ct_tune_queue  *queue = open_queue(&t, 1, 0);
    ct_tune_outcome outcome = run_once(queue, 0, 0, 0, 0);
    CHECK(outcome.end == CT_TUNE_CRASHED && outcome.message && strstr(outcome.message, "No such file or directory"));
    ct_tune_outcome_free(&outcome);
    ct_tune_queue_free(queue);
    ct_config_free(t.file[0].config);
}

static void test_a_server_with_own_scoring(void)
{
    test_tuning t;
    if (!make_server(&t, "scored")) SKIP("no python3");
    t.tuning.score = WORDS(t.score, "sh", "-c", "wc -l < {estimate}; echo {a}");
    ct_tune_queue *queue = open_queue(&t, 1, 0);
    for (int i = 0; i < 2; i++) {
        ct_tune_outcome outcome = run_once(queue, 0, 0, 0.5, 0.25);
        CHECK(outcome.end == CT_TUNE_DONE && outcome.rows == 2 && outcome.residual && outcome.residual[0] == 100);
        ct_tune_outcome_free(&outcome);
    }
    CHECK(line_count(starts) == 1);
    ct_tune_queue_free(queue);
    ct_config_free(t.file[0].config);
}

int main(void)
{
    RUN(test_a_server_is_started_once_per_job);
    RUN(test_broken_protocols_are_outcomes);
    RUN(test_a_server_that_leaves_between_runs_is_started_again);
    RUN(test_a_server_that_is_never_heard_is_told_why);
    RUN(test_a_server_that_cannot_start_says_so);
    RUN(test_a_server_with_own_scoring);
    return ct_test_end();
}
