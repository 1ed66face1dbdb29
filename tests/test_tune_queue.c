/* test_tune_queue.c: runs of estimators as processes: what they are given, what comes back, and every way to fail. */
#define _GNU_SOURCE
#include "run_test.h"

#include <spawn.h>
#include <sys/mount.h>
#include <sys/wait.h>

/* Values a, b of the estimator as residuals: x - t = a cos t + b, y = a sin t. */
static void check_residuals(const ct_tune_outcome *outcome, double a, double b)
{
    CHECK(outcome->end == CT_TUNE_DONE && outcome->rows == 600 && outcome->poses == 100 && outcome->lost == 0);
    CHECK(!outcome->message && !outcome->cached && outcome->code == 0 && outcome->seconds > 0);
    for (int i = 0; outcome->residual && outcome->rows == 600 && i < 100; i++) {
        const double t = 0.1 * i;
        double       sum = 0;
        for (int k = 0; k < 6; k++) sum += outcome->residual[6 * i + k] * outcome->residual[6 * i + k];
        const double dx = a * cos(t) + b, dy = a * sin(t);
        CHECK_NEAR(sum, dx * dx + dy * dy, 1e-6);
    }
}

static void test_a_run_gives_residuals(void)
{
    test_tuning t;
    make_tuning(&t, "good");
    t.tuning.command = WORDS(t.word, CT_ESTIMATOR, "poses", "{estimate}", "100", "{a}", "{b}");
    ct_tune_queue *queue = open_queue(&t, 2, 0);
    for (int i = 0; i < 5; i++) {
        const double    a = 0.1 * i + 1e-7, b = -2.5e-3 * i;
        ct_tune_outcome outcome = run_once(queue, i % TEST_LOGS, i, a, b);
        check_residuals(&outcome, a, b);
        ct_tune_outcome_free(&outcome);
    }
    ct_tune_queue_free(queue);
    char run[2200];
    snprintf(run, sizeof run, "%s/run-000001", t.runs);
    CHECK(!exists(run)); /* folders of good runs do not stay */
}

/* Everything that a template can have, seen by a shell that prints it. */
static void test_templates_environment_and_files(void)
{
    test_tuning t;
    make_tuning(&t, "template");
    add_config(&t);
    char *const environment[] = {(char *)(uintptr_t) "SEED={seed} {{x}}", (char *)(uintptr_t) "HOME=there"};
    t.tuning.environment = (ct__tune_words){2, (char **)(uintptr_t)environment};
    t.place[t.tuning.places++] =
        (ct__tune_place){.kind = CT__PLACE_ENVIRONMENT, .parameter = 1, .name = (char *)(uintptr_t) "NOISE_B"};
    t.tuning.shell = 1;
    t.tuning.command = WORDS(t.word, "{{ pwd; cat {params}; echo {log} {truth} {estimate} {folder} {here} {a}; echo "
                                     "$SEED $HOME $NOISE_B; }} > ../seen; exit 3");
    ct_tune_queue  *queue = open_queue(&t, 1, 0);
    ct_tune_outcome outcome = run_once(queue, 0, 4, 0.1, 1e-5);
    CHECK(outcome.end == CT_TUNE_CRASHED && outcome.code == 3);
    ct_tune_outcome_free(&outcome);
    ct_tune_queue_free(queue);
    char seen[4096], wanted[16384], path[2200];
    snprintf(path, sizeof path, "%s/seen", t.runs);
    FILE *file = fopen(path, "r");
    seen[file ? fread(seen, 1, sizeof seen - 1, file) : 0] = 0;
    if (file) fclose(file);
    const char *r = t.runs;
    snprintf(wanted, sizeof wanted,
             "%s/run-000001\n# numbers\na 0.1\nb 1.0e-05 and 1.0e-05\n%s %s %s/run-000001/estimate.txt %s/run-000001 "
             "%s 0.1\n5 {x} there 1e-05\n",
             r, t.truth, t.truth, r, r, t.root);
    CHECK(!strcmp(seen, wanted));
    if (strcmp(seen, wanted)) printf("seen\n%swanted\n%s", seen, wanted);
    ct_config_free(t.file[0].config);
}

/* Values in a text for a shell are what they are, whatever is in them and however they are quoted there. */
static void test_values_are_quoted_for_a_shell(void)
{
    static const char *const NAMES[] = {"plain.log", "two words", "a;touch x", "it's", "a\"b", "$HOME", "`id`",
                                        "back\\slash", "*"};
    test_tuning t;
    char        seen[2200], log[64], wanted[1000], text[1000];
    make_tuning(&t, "quotes");
    snprintf(seen, sizeof seen, "%s/seen", t.root);
    t.tuning.shell = 1;
    t.tuning.command =
        WORDS(t.word, "for x in {log} \"{log}\" '{log}' \"a'{log}'\" b{log}\\\"; do printf '%s\\n' \"$x\"; done "
                      "> ../../seen; exit 3");
    ct_tune_queue *queue = open_queue(&t, 1, 0);
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        snprintf(log, sizeof log, "/%s", NAMES[i]);
        t.log_path[0] = log;
        ct_tune_outcome outcome = run_once(queue, 0, 0, 1, 2);
        ct_tune_outcome_free(&outcome);
        FILE *file = fopen(seen, "r");
        text[file ? fread(text, 1, sizeof text - 1, file) : 0] = 0;
        if (file) fclose(file);
        snprintf(wanted, sizeof wanted, "%s\n%s\n%s\na'%s'\nb%s\"\n", log, log, log, log, log);
        CHECK(!strcmp(text, wanted));
        if (strcmp(text, wanted)) printf("%s: %s\n", NAMES[i], text);
    }
    ct_tune_queue_free(queue);
}

/* A script of the tuning's folder is found though the program starts elsewhere. */
static void test_scripts_and_programs_of_the_folder_are_found(void)
{
    test_tuning t;
    char        path[2200];
    make_tuning(&t, "script");
    snprintf(path, sizeof path, "%s/est.sh", t.root);
    write_file(path, "#!/bin/sh\n" CT_ESTIMATOR " poses \"$1\" 100 \"$2\" \"$3\"\n");
    t.tuning.command = WORDS(t.word, "sh", "est.sh", "{estimate}", "{a}", "{b}");
    ct_tune_queue  *queue = open_queue(&t, 1, 0);
    ct_tune_outcome outcome = run_once(queue, 0, 0, 0.3, 0.2);
    check_residuals(&outcome, 0.3, 0.2);
    ct_tune_outcome_free(&outcome);
    ct_tune_queue_free(queue);
    ct_err                err = {0};
    const ct_tuning_local local = {.jobs = 1, .folder = t.runs};
    t.tuning.command = WORDS(t.word, "./est.sh", "{estimate}", "{a}", "{b}");
    CHECK_REFUSED(ct_tuning_queue(&t.tuning, &local, &queue, &err), err, "est.sh: is not executable; `chmod +x` it");
    CHECK(queue == NULL);
    chmod(path, 0755);
    queue = open_queue(&t, 1, 0);
    outcome = run_once(queue, 0, 0, 0.3, 0.2);
    check_residuals(&outcome, 0.3, 0.2);
    ct_tune_outcome_free(&outcome);
    ct_tune_queue_free(queue);
    t.tuning.command = WORDS(t.word, "no-such-program-at-all");
    CHECK_REFUSED(ct_tuning_queue(&t.tuning, &local, &queue, &err), err, "no-such-program-at-all is not there");
    write_file(path, "no interpreter\n");
    t.tuning.command = WORDS(t.word, "./est.sh");
    queue = open_queue(&t, 1, 0);
    const double value[2] = {0};
    int64_t      ticket;
    CHECK_OK(queue->submit(queue->user, &(ct_tune_request){1, 0, 0, value}, &err), err);
    CHECK_REFUSED(queue->collect(queue->user, 5, &ticket, &outcome, &err), err, "be executed: Exec format error");
    ct_tune_queue_free(queue);
    t.tuning.command = WORDS(t.word, CT_ESTIMATOR, "{nonsense}");
    queue = open_queue(&t, 1, 0);
    CHECK_REFUSED(queue->submit(queue->user, &(ct_tune_request){1, 0, 0, value}, &err), err, "placeholder {nonsense}");
    CHECK_REFUSED(queue->submit(queue->user, &(ct_tune_request){1, 9, 0, value}, &err), err, "there are 3 logs");
    ct_tune_queue_free(queue);
}

/* One way to fail: how it ends, and a part of the message. */
static void fail_once(const char *what, const char *argument, ct_tune_end end, int code, const char *part)
{
    test_tuning t;
    char        path[2300];
    make_tuning(&t, "fail");
    t.tuning.time_limit_s = end == CT_TUNE_TIME ? 1 : 60;
    t.tuning.memory_limit = (int64_t)200 << 20;
    t.tuning.estimate_options.source.format = CT_SOURCE_TUM;
    t.tuning.command = WORDS(t.word, CT_ESTIMATOR, what, argument);
    ct_tune_queue  *queue = open_queue(&t, 1, 0);
    ct_tune_outcome outcome = run_once(queue, 0, 0, 1, 2);
    if (outcome.end != end || outcome.code != code || !outcome.message || !strstr(outcome.message, part))
        CT_TEST_SAY("%s: %s, %d, %s\n", what, ct_tune_end_name(outcome.end), outcome.code,
                    outcome.message ? outcome.message : "no message");
    CHECK(!outcome.residual && isnan(outcome.translation));
    ct_tune_outcome_free(&outcome);
    snprintf(path, sizeof path, "%s/run-000001/outcome.txt", t.runs);
    CHECK(exists(path)); /* it stays, with what the program wrote */
    snprintf(path, sizeof path, "%s/run-000001/command.txt", t.runs);
    CHECK(exists(path));
    t.tuning.command = WORDS(t.word, CT_ESTIMATOR, "poses", "{estimate}", "100", "{a}", "{b}");
    t.tuning.time_limit_s = 60;
    outcome = run_once(queue, 0, 0, 1, 2); /* and the next run is good */
    check_residuals(&outcome, 1, 2);
    ct_tune_outcome_free(&outcome);
    ct_tune_queue_free(queue);
}

static void test_failures_are_outcomes(void)
{
    for (int end = 0; end < CT_TUNE_END_COUNT; end++)
        CHECK(ct_tune_end_find(ct_tune_end_name((ct_tune_end)end)) == end);
    CHECK(ct_tune_end_find("nonsense") == -1);
    fail_once("exit", "3", CT_TUNE_CRASHED, 3,
              "the program ended with exit code 3. The last lines of its stderr:\nfirst line\nlast words");
    fail_once("segfault", "", CT_TUNE_CRASHED, -SIGSEGV, "signal 11 (SIGSEGV");
    fail_once("forever", "", CT_TUNE_TIME, -SIGTERM, "stopped at its time limit of 1 s");
    fail_once("ignore", "/dev/null", CT_TUNE_TIME, -SIGKILL, "time limit");
    fail_once("allocate", "", CT_TUNE_MEMORY, -SIGKILL, "memory limit of 200 MB; it had ");
    fail_once("close", "", CT_TUNE_NO_ESTIMATE, 0, "wrote no estimate");
    fail_once("breed", "/dev/null", CT_TUNE_NO_ESTIMATE, 0, "wrote no estimate");
    fail_once("binary", "", CT_TUNE_CRASHED, 1, "exit code 1");
    fail_once("flood", "3e6", CT_TUNE_NO_ESTIMATE, 0, "stdout:\n");
    fail_once("kill-parent", "", CT_TUNE_CRASHED, 0, "the process that watches the program was killed");
    fail_once("empty", "{estimate}", CT_TUNE_NO_ESTIMATE, 0, "an empty estimate");
    fail_once("half", "{estimate}", CT_TUNE_BAD_ESTIMATE, 0, "estimate.txt: the last line, of 11 bytes, is cut short");
    fail_once("words", "{estimate}", CT_TUNE_BAD_ESTIMATE, 0, "estimate.txt");
    fail_once("nan", "{estimate}", CT_TUNE_NO_ESTIMATE, 0, "estimate.txt");
    fail_once("huge", "{estimate}", CT_TUNE_NOT_FINITE, 0, "not finite");
    fail_once("directory", "{estimate}", CT_TUNE_BAD_ESTIMATE, 0, "estimate.txt");
    fail_once("loop", "{estimate}", CT_TUNE_BAD_ESTIMATE, 0, "estimate.txt cannot be reached: Too many levels");
    fail_once("remove-folder", "{folder}", CT_TUNE_CRASHED, 1, "exit code 1");
}

/* A run with half of the poses has residuals, with the penalty of lost ones; one elsewhere in time has none. */
static void test_short_and_misplaced_estimates(void)
{
    test_tuning t;
    make_tuning(&t, "short");
    t.tuning.command = WORDS(t.word, CT_ESTIMATOR, "poses", "{estimate}", "{a}", "0", "{b}", "0");
    ct_tune_queue  *queue = open_queue(&t, 1, 0);
    ct_tune_outcome outcome = run_once(queue, 0, 0, 100, 0.5);
    CHECK(outcome.end == CT_TUNE_DONE && outcome.rows == 600);
    ct_tune_outcome_free(&outcome);
    outcome = run_once(queue, 0, 0, 70, 0.5);
    CHECK(outcome.end == CT_TUNE_DONE && outcome.rows == 600 && outcome.lost == 30 && outcome.residual);
    ct_tune_outcome_free(&outcome);
    outcome = run_once(queue, 0, 0, 20, 0.5);
    CHECK(outcome.end == CT_TUNE_SHORT && outcome.rows == 600 && outcome.lost == 80 && outcome.residual);
    CHECK(outcome.message && strstr(outcome.message, "lacks 80 of 100 poses"));
    ct_tune_outcome_free(&outcome);
    t.tuning.command = WORDS(t.word, CT_ESTIMATOR, "poses", "{estimate}", "100", "0", "0", "5000");
    for (int32_t log = 0; log < 2; log++) { /* with sites and without */
        outcome = run_once(queue, log, 0, 0, 0);
        CHECK(outcome.end == CT_TUNE_BAD_ESTIMATE && outcome.message && strstr(outcome.message, "cannot be compared"));
        ct_tune_outcome_free(&outcome);
    }
    ct_tune_queue_free(queue);
}

/* An estimate at a path of its own: relative to the run's folder, or one for all runs, which only one job can have. */
static void test_estimates_at_other_paths(void)
{
    test_tuning t;
    char        path[2200];
    make_tuning(&t, "paths");
    t.tuning.estimate = (char *)(uintptr_t) "out-{seed}.csv";
    t.tuning.command = WORDS(t.word, CT_ESTIMATOR, "poses", "{folder}/out-5.csv", "100", "{a}", "{b}");
    ct_tune_queue  *queue = open_queue(&t, 2, 0);
    ct_tune_outcome outcome = run_once(queue, 0, 4, 0.5, 1);
    check_residuals(&outcome, 0.5, 1);
    ct_tune_outcome_free(&outcome);
    snprintf(path, sizeof path, "%s/out.csv", t.root);
    t.tuning.estimate = path;
    ct_err       err = {0};
    const double value[2] = {0.5, 1};
    CHECK_REFUSED(queue->submit(queue->user, &(ct_tune_request){1, 0, 0, value}, &err), err, "one file for all runs");
    ct_tune_queue_free(queue);
    queue = open_queue(&t, 1, 0);
    t.tuning.command = WORDS(t.word, CT_ESTIMATOR, "poses", "{estimate}", "100", "{a}", "{b}");
    outcome = run_once(queue, 0, 0, 0.5, 1);
    check_residuals(&outcome, 0.5, 1);
    ct_tune_outcome_free(&outcome);
    CHECK(line_count(path) == 100);
    t.tuning.command = WORDS(t.word, CT_ESTIMATOR, "sleep", "0"); /* what the run before wrote is not its estimate */
    outcome = run_once(queue, 0, 0, 0.5, 1);
    CHECK(outcome.end == CT_TUNE_NO_ESTIMATE);
    ct_tune_outcome_free(&outcome);
    ct_tune_queue_free(queue);
}

/* Sites are those of the first request, whichever run ends first: here the second has fewer poses and is faster. */
static void test_sites_do_not_depend_on_the_order_of_ends(void)
{
    test_tuning t;
    make_tuning(&t, "sites");
    t.tuning.shell = 1;
    t.tuning.command =
        WORDS(t.word, "sleep {b}; [ {a} != 1 ] || exit 1; " CT_ESTIMATOR " poses {estimate} {a} 0 0.5 0");
    ct_tune_queue *queue = open_queue(&t, 3, 0);
    const double   value[3][2] = {{1, 0.4}, {100, 0.2}, {60, 0}}; /* the first fails, late */
    ct_err         err = {0};
    for (int i = 0; i < 3; i++)
        CHECK_OK(queue->submit(queue->user, &(ct_tune_request){i, 1, 0, value[i]}, &err), err);
    for (int i = 0; i < 3; i++) {
        ct_tune_outcome outcome;
        int64_t         ticket;
        CHECK_OK(queue->collect(queue->user, 5, &ticket, &outcome, &err), err);
        CHECK(ticket >= 0 && (ticket == 0) == (outcome.end == CT_TUNE_CRASHED));
        if (ticket > 0) CHECK(outcome.end == CT_TUNE_DONE && outcome.rows == 600);
        CHECK(outcome.lost == (ticket == 2 ? 40 : 0));
        ct_tune_outcome_free(&outcome);
    }
    ct_tune_queue_free(queue);
    queue = open_queue(&t, 1, 0); /* another process later: the same sites, though a shorter estimate comes first */
    ct_tune_outcome outcome = run_once(queue, 1, 0, 60, 0);
    CHECK(outcome.end == CT_TUNE_DONE && outcome.rows == 600 && outcome.lost == 40);
    ct_tune_outcome_free(&outcome);
    outcome = run_once(queue, 0, 0, 60, 0); /* of another log they are its own */
    CHECK(outcome.end == CT_TUNE_DONE && outcome.lost == 0 && outcome.rows == 360);
    ct_tune_outcome_free(&outcome);
    ct_tune_queue_free(queue);
}

static void test_own_scoring(void)
{
    test_tuning t;
    make_tuning(&t, "score");
    t.tuning.command = WORDS(t.word, CT_ESTIMATOR, "poses", "{estimate}", "100", "{a}", "{b}");
    t.tuning.score = WORDS(t.score, "sh", "-c", "wc -l < {estimate}; echo {a}; printf ' -1.5e-3 \\n\\n{b}'");
    ct_tune_queue  *queue = open_queue(&t, 1, 0);
    ct_tune_outcome outcome = run_once(queue, 0, 0, 0.25, 3);
    CHECK(outcome.end == CT_TUNE_DONE && outcome.rows == 4 && outcome.residual && isnan(outcome.translation));
    const double wanted[4] = {100, 0.25, -1.5e-3, 3};
    for (int i = 0; outcome.residual && i < 4; i++) CHECK(outcome.residual[i] == wanted[i]);
    ct_tune_outcome_free(&outcome);
    static const struct {
        const char *command;
        ct_tune_end end;
        const char *part;
    } CASES[] = {{"echo 1; echo 2", CT_TUNE_BAD_ESTIMATE, "printed 2 numbers, and 4 for the first run"},
                 {"echo 1; echo two; echo 3; echo 4", CT_TUNE_BAD_ESTIMATE, "line 2 of what the scoring command"},
                 {"echo 1; echo nan; echo 3; echo 4", CT_TUNE_NOT_FINITE, "not finite"},
                 {"true", CT_TUNE_NO_ESTIMATE, "printed nothing"},
                 {"printf '1\\n2\\n\\0003\\n4\\n'", CT_TUNE_BAD_ESTIMATE, "bytes that are no text"},
                 {"echo 1e200; echo 1e200; echo 1; echo 2", CT_TUNE_NOT_FINITE, "sum of squares is not finite"},
                 {"kill -9 $$", CT_TUNE_CRASHED, "the scoring command ended by signal 9"},
                 {"echo oh; exit 4", CT_TUNE_CRASHED,
                  "the scoring command ended with exit code 4. The last lines of its stdout:\noh"},
                 {"echo -1", CT_TUNE_BAD_ESTIMATE, "it is negative"}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        t.tuning.score = WORDS(t.score, "sh", "-c", CASES[i].command);
        outcome = run_once(queue, 0, 0, 0, 0);
        CHECK(outcome.end == CASES[i].end && outcome.message && strstr(outcome.message, CASES[i].part));
        if (outcome.end != CASES[i].end) printf("  %s\n", outcome.message ? outcome.message : "");
        ct_tune_outcome_free(&outcome);
    }
    t.tuning.score = WORDS(t.score, "sh", "-c", "echo 8"); /* one number is a loss: half the square of the residual */
    outcome = run_once(queue, 1, 0, 0, 0);
    CHECK(outcome.end == CT_TUNE_DONE && outcome.rows == 1 && outcome.residual && outcome.residual[0] == 4);
    ct_tune_outcome_free(&outcome);
    ct_tune_queue_free(queue);
}

/* Runs go on side by side: eight of 0.3 s in four slots take about two times that. */
static void test_jobs_run_side_by_side(void)
{
    test_tuning t;
    make_tuning(&t, "jobs");
    t.tuning.shell = 1;
    t.tuning.command = WORDS(t.word, "sleep 0.3; " CT_ESTIMATOR " poses {estimate} 100 {a} {b}");
    ct_tune_queue *queue = open_queue(&t, 4, 0);
    ct_err         err = {0};
    double         value[2] = {0};
    int            seen[8] = {0};
    const double   began = ct_now_s();
    CHECK(queue->slots == 4);
    for (int i = 0; i < 8; i++) {
        value[0] = 0.1 * i; /* borrowed by submit only */
        CHECK_OK(queue->submit(queue->user, &(ct_tune_request){i, i % TEST_LOGS, 0, value}, &err), err);
    }
    for (int i = 0; i < 8; i++) {
        ct_tune_outcome outcome;
        int64_t         ticket;
        CHECK_OK(queue->collect(queue->user, 10, &ticket, &outcome, &err), err);
        CHECK(ticket >= 0 && ticket < 8 && !seen[ticket]);
        if (ticket < 0) break;
        seen[ticket] = 1;
        check_residuals(&outcome, 0.1 * (double)ticket, 0);
        ct_tune_outcome_free(&outcome);
    }
    CHECK(ct_now_s() - began > 0.55 && (ct_test_slow() || ct_now_s() - began < 4));
    ct_tune_outcome outcome;
    int64_t         ticket = 5;
    CHECK_OK(queue->collect(queue->user, 10, &ticket, &outcome, &err), err); /* nothing to wait for */
    CHECK(ticket == -1);
    ct_tune_queue_free(queue);
}

static int is_alive(const char *path)
{
    FILE *file = fopen(path, "r");
    long  pid;
    int   alive = 0;
    while (file && fscanf(file, "%ld", &pid) == 1) alive += kill((pid_t)pid, 0) == 0;
    if (file) fclose(file);
    return alive;
}

static void test_abandoned_runs_are_killed(void)
{
    test_tuning t;
    char        pids[2200], run[2200];
    make_tuning(&t, "abandon");
    snprintf(pids, sizeof pids, "%s/pids", t.root);
    t.tuning.command = WORDS(t.word, CT_ESTIMATOR, "breed-forever", pids);
    ct_tune_queue  *queue = open_queue(&t, 2, 0);
    const double    value[2] = {0};
    ct_err          err = {0};
    ct_tune_outcome outcome;
    int64_t         ticket;
    for (int i = 0; i < 4; i++) CHECK_OK(queue->submit(queue->user, &(ct_tune_request){i, 0, 0, value}, &err), err);
    for (int i = 0; i < 500 && line_count(pids) < 6; i++) usleep(10000);
    const double began = ct_now_s();
    CHECK_OK(queue->collect(queue->user, 0.2, &ticket, &outcome, &err), err);
    CHECK(ticket == -1 && ct_now_s() - began > 0.15 && ct_now_s() - began < 2);
    CHECK(is_alive(pids) == 6);
    queue->abandon(queue->user);
    CHECK(is_alive(pids) == 0);
    snprintf(run, sizeof run, "%s/run-000001", t.runs);
    CHECK(!exists(run));
    t.tuning.command = WORDS(t.word, CT_ESTIMATOR, "poses", "{estimate}", "100", "{a}", "{b}");
    outcome = run_once(queue, 0, 0, 1, 1); /* it can be used again */
    check_residuals(&outcome, 1, 1);
    ct_tune_outcome_free(&outcome);
    ct_tune_queue_free(queue);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static int count_folders(const char *path)
{
    DIR *entries = opendir(path);
    int  count = 0;
    for (const struct dirent *entry; entries && (entry = readdir(entries));)
        count += !strncmp(entry->d_name, "run-", 4);
    if (entries) closedir(entries);
    return count;
}

static void test_folders_of_failures_are_kept(void)
{
    test_tuning t;
    char        path[2300];
    make_tuning(&t, "keep");
    t.tuning.command = WORDS(t.word, CT_ESTIMATOR, "exit", "3");
    ct_tune_queue *queue = open_queue(&t, 1, 0);
    for (int i = 0; i < 25; i++) {
        ct_tune_outcome outcome = run_once(queue, 0, 0, 1, 2);
        ct_tune_outcome_free(&outcome);
    }
    CHECK(count_folders(t.runs) == 20);
    snprintf(path, sizeof path, "%s/run-000025/stderr.txt", t.runs);
    CHECK(line_count(path) == 2);
    ct_err                err = {0};
    ct_tune_queue        *second;
    const ct_tuning_local local = {.jobs = 1, .folder = t.runs};
    CHECK(ct_tuning_queue(&t.tuning, &local, &second, &err) == CT_E_BUSY);
    ct_tune_queue_free(queue);
    snprintf(path, sizeof path, "%s/run-000099", t.runs); /* of a killed process */
    mkdir(path, 0777);
    queue = open_queue(&t, 1, 1);
    CHECK(count_folders(t.runs) == 20);
    t.tuning.command = WORDS(t.word, CT_ESTIMATOR, "poses", "{estimate}", "100", "{a}", "{b}");
    ct_tune_outcome outcome = run_once(queue, 0, 0, 1, 2);
    ct_tune_outcome_free(&outcome);
    snprintf(path, sizeof path, "%s/run-000100/estimate.txt", t.runs);
    CHECK(line_count(path) == 100); /* keep 1: of good runs too */
    ct_tune_queue_free(queue);
}

static void test_written_files_and_digest(void)
{
    test_tuning  t;
    char         path[2300], text[256] = "";
    ct_err       err = {0};
    const double value[2] = {0.125, 3e7};
    make_tuning(&t, "write");
    add_config(&t);
    t.tuning.command = WORDS(t.word, CT_ESTIMATOR, "poses", "{estimate}", "100", "{a}", "{b}");
    snprintf(path, sizeof path, "%s/out/best", t.root);
    CHECK_OK(ct_tuning_write(&t.tuning, value, path, &err), err);
    snprintf(path, sizeof path, "%s/out/best/estimator.txt", t.root);
    FILE *file = fopen(path, "r");
    CHECK(file && fread(text, 1, sizeof text - 1, file) > 0);
    if (file) fclose(file);
    CHECK(!strcmp(text, "# numbers\na 0.125\nb 30000000.0 and 30000000.0\n"));
    if (strcmp(text, "# numbers\na 0.125\nb 30000000.0 and 30000000.0\n")) printf("%s", text);
    CHECK_OK(ct__tuning_take_digest(&t.tuning, &err), err);
    uint64_t before = ct_tuning_digest(&t.tuning);
    CHECK_OK(ct__tuning_take_digest(&t.tuning, &err), err);
    CHECK(before && ct_tuning_digest(&t.tuning) == before);
    for (int change = 0; change < 7; change++) { /* each makes other runs */
        if (change == 0) t.tuning.time_limit_s = 7;
        if (change == 1) t.tuning.command.word[3] = (char *)(uintptr_t) "101";
        if (change == 2) write_file(t.config, "# other numbers\na {{a}}\nb {{b}} and {{b}}\n");
        if (change == 3) write_file(t.truth, "0.0 0 0 0 0 0 0 1\n");
        if (change == 4) t.tuning.track.rotation = 3;
        if (change == 5) t.place[0].parameter = 1;
        if (change == 6) t.tuning.estimate_options.camera = 1;
        CHECK_OK(ct__tuning_take_digest(&t.tuning, &err), err);
        CHECK(ct_tuning_digest(&t.tuning) != before);
        before = ct_tuning_digest(&t.tuning);
    }
    t.tuning.niceness = 5; /* this does not */
    CHECK_OK(ct__tuning_take_digest(&t.tuning, &err), err);
    CHECK(ct_tuning_digest(&t.tuning) == before);
    remove(t.truth);
    CHECK_REFUSED(ct__tuning_take_digest(&t.tuning, &err), err, "truth.tum: cannot be read");
    ct_config_free(t.file[0].config);
}

/* Files that are words of the command: scripts count by their content wherever they are; another file only where it is
 * relative to the folder, because one elsewhere may be written by the program. */
static void test_files_of_the_command_are_in_the_digest(void)
{
    static const struct {
        const char *name;
        int         absolute, counts;
    } CASES[] = {{"ekf.py", 0, 1}, {"ekf.py", 1, 1}, {"table.dat", 0, 1}, {"out.log", 1, 0}};
    test_tuning t;
    ct_err      err = {0};
    char        path[2300];
    make_tuning(&t, "words");
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        snprintf(path, sizeof path, "%s/%s", t.root, CASES[i].name);
        write_file(path, "1\n");
        t.tuning.command = WORDS(t.word, CT_ESTIMATOR, CASES[i].absolute ? path : CASES[i].name, "{a}");
        CHECK_OK(ct__tuning_take_digest(&t.tuning, &err), err);
        const uint64_t before = ct_tuning_digest(&t.tuning);
        write_file(path, "2\n");
        CHECK_OK(ct__tuning_take_digest(&t.tuning, &err), err);
        CHECK((ct_tuning_digest(&t.tuning) != before) == CASES[i].counts);
    }
}

/* Where a file system can be mounted: the run that finds no room ends tuning, and is no outcome. */
static void test_a_full_disk_is_no_failure_of_the_estimator(void)
{
    test_tuning t;
    ct_err      err = {0};
    make_tuning(&t, "full");
    CHECK_OK(ct__make_folders(t.runs, &err), err);
    if (mount("tmpfs", t.runs, "tmpfs", 0, "size=256k")) SKIP("no file system can be mounted");
    t.tuning.shell = 1;
    t.tuning.command = WORDS(t.word, "head -c 1000000 /dev/zero > {folder}/much");
    ct_tune_queue  *queue = open_queue(&t, 1, 0);
    const double    value[2] = {0};
    int64_t         ticket;
    ct_tune_outcome outcome = {0};
    CHECK_OK(queue->submit(queue->user, &(ct_tune_request){1, 0, 0, value}, &err), err);
    CHECK_REFUSED(queue->collect(queue->user, 10, &ticket, &outcome, &err), err, "the disk may be full: 0 kB are left");
    ct_tune_outcome_free(&outcome);
    t.tuning.command = WORDS(t.word, "head -n 60 {log} > {estimate}; head -c 1000000 /dev/zero > {folder}/much; true");
    CHECK_OK(queue->submit(queue->user, &(ct_tune_request){2, 0, 0, value}, &err), err);
    CHECK_REFUSED(queue->collect(queue->user, 10, &ticket, &outcome, &err), err, "what a run wrote may lack its end");
    ct_tune_outcome_free(&outcome);
    ct_tune_queue_free(queue);
    CHECK(count_folders(t.runs) == 0);
    CHECK(umount(t.runs) == 0);
}

/* Time of a run from submit to collect, beyond the program's own: folder, file, start, reading 100 poses, comparing.
 * The smallest of many, and the median, which other programs of the machine add to. */
static void test_overhead_of_a_run_is_below_3_ms(void)
{
    enum { RUNS = 200 };
    test_tuning t;
    char        path[2200];
    make_tuning(&t, "overhead");
    add_config(&t);
    snprintf(path, sizeof path, "%s/plain", t.root);
    t.tuning.command = WORDS(t.word, CT_ESTIMATOR, "poses", "{estimate}", "100", "{a}", "{b}", "0", "{params}");
    char *const plain_words[] = {(char[]){"estimator"}, (char[]){"poses"}, path, (char[]){"100"}, (char[]){"0"}, NULL};
    ct_tune_queue *queue = open_queue(&t, 1, 0);
    double         run[RUNS], plain[RUNS], best = INFINITY, own = INFINITY;
    for (int i = 0; i < RUNS; i++) {
        double          began = ct_now_s();
        ct_tune_outcome outcome = run_once(queue, 0, i, 0.01 * i, 0.1);
        run[i] = ct_now_s() - began;
        CHECK(outcome.end == CT_TUNE_DONE);
        ct_tune_outcome_free(&outcome);
        pid_t pid;
        began = ct_now_s();
        CHECK(posix_spawn(&pid, CT_ESTIMATOR, NULL, NULL, plain_words, plain_words + 5) == 0);
        waitpid(pid, NULL, 0);
        plain[i] = ct_now_s() - began;
        best = fmin(best, run[i]);
        own = fmin(own, plain[i]);
    }
    ct_tune_queue_free(queue);
    printf("  a run %.3f ms, median %.3f; the program alone %.3f ms, median %.3f\n", 1e3 * best,
           1e3 * ct_median(RUNS, run), 1e3 * own, 1e3 * ct_median(RUNS, plain));
    CHECK(ct_test_slow() || best - own < 3e-3);
    ct_config_free(t.file[0].config);
}

int main(void)
{
    RUN(test_a_run_gives_residuals);
    RUN(test_templates_environment_and_files);
    RUN(test_values_are_quoted_for_a_shell);
    RUN(test_scripts_and_programs_of_the_folder_are_found);
    RUN(test_failures_are_outcomes);
    RUN(test_short_and_misplaced_estimates);
    RUN(test_estimates_at_other_paths);
    RUN(test_sites_do_not_depend_on_the_order_of_ends);
    RUN(test_own_scoring);
    RUN(test_jobs_run_side_by_side);
    RUN(test_abandoned_runs_are_killed);
    RUN(test_folders_of_failures_are_kept);
    RUN(test_written_files_and_digest);
    RUN(test_files_of_the_command_are_in_the_digest);
    RUN(test_a_full_disk_is_no_failure_of_the_estimator);
    RUN(test_overhead_of_a_run_is_below_3_ms);
    return ct_test_end();
}
