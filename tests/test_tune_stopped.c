/* test_tune_stopped.c: SIGSTOP to any process of a tuning: nothing waits for ever, and what was suspended with all the
 * others has not used up its time limit. */
#define _GNU_SOURCE
#include "run_test.h"

#include <sys/wait.h>

enum { TREE = 64 };

/* Children of a process, as /proc shows them. */
static int children_of(pid_t parent, pid_t list[], int room)
{
    char path[96];
    long pid;
    int  count = 0;
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)parent, (long)parent);
    FILE *file = fopen(path, "r");
    while (file && count < room && fscanf(file, "%ld", &pid) == 1) list[count++] = (pid_t)pid;
    if (file) fclose(file);
    return count;
}

/* A process with all below it, those above first. */
static int tree_of(pid_t root, pid_t list[TREE])
{
    int count = 1;
    list[0] = root;
    for (int i = 0; i < count; i++) count += children_of(list[i], list + count, TREE - count);
    return count;
}

/* Waits until there are so many; 0: there never are. */
static int await_tree(pid_t root, int wanted, pid_t list[TREE])
{
    for (int i = 0; i < 2000; i++) {
        if (tree_of(root, list) >= wanted) return 1;
        usleep(5000);
    }
    return 0;
}

/* The end of one run, in a process of its own: all processes of it are stopped for a while. */
static ct_tune_end end_of_suspended(test_tuning *t, double stopped_s)
{
    pid_t list[TREE];
    int   status = 0;
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
        ct_tune_queue  *queue = open_queue(t, 1, 0);
        ct_tune_outcome outcome = run_once(queue, 0, 0, 120, 0);
        ct_tune_queue_free(queue);
        _exit((int)outcome.end);
    }
    CHECK(await_tree(pid, 4, list));
    usleep(300000);
    const int count = tree_of(pid, list);
    for (int i = 0; i < count; i++) kill(list[i], SIGSTOP);
    usleep((useconds_t)(1e6 * stopped_s));
    for (int i = 0; i < count; i++) kill(list[i], SIGCONT);
    waitpid(pid, &status, 0);
    CHECK(WIFEXITED(status));
    return (ct_tune_end)WEXITSTATUS(status);
}

/* As batch systems suspend a job: it was called a time-out, which is not tried again. */
static void test_a_suspended_run_has_its_whole_time(void)
{
    test_tuning t;
    make_tuning(&t, "suspended");
    t.tuning.command = WORDS(t.word, CT_ESTIMATOR, "sleep", "1");
    t.tuning.time_limit_s = 2;
    CHECK(end_of_suspended(&t, 2.5) == CT_TUNE_NO_ESTIMATE);
    t.tuning.command = WORDS(t.word, CT_ESTIMATOR, "sleep", "60");
    CHECK(end_of_suspended(&t, 2.5) == CT_TUNE_TIME);
}

static void test_a_suspended_server_has_its_whole_time(void)
{
    static char script[] = CT_SERVER, *setting[1], starts[2300];
    test_tuning t;
    make_tuning(&t, "suspended-server");
    if (system("python3 -c pass >/dev/null 2>&1")) SKIP("no python3");
    add_config(&t);
    snprintf(starts, sizeof starts, "STARTS=%s/starts", t.root);
    setting[0] = starts;
    t.tuning.environment = (ct__tune_words){1, setting};
    t.tuning.server = WORDS(t.word, "python3", script);
    t.tuning.time_limit_s = 3;
    CHECK(end_of_suspended(&t, 3.5) == CT_TUNE_DONE);
    ct_config_free(t.file[0].config);
}

/* A program of an endless run, below its supervisor. */
static ct__child start_endless(const char *what, double time_limit_s, pid_t list[TREE])
{
    const char *const words[] = {"estimator", what, NULL}, *const none[] = {NULL};
    const ct__program program = {.program = CT_ESTIMATOR,
                                 .argument = words,
                                 .environment = none,
                                 .folder = ct_test_folder(),
                                 .time_limit_s = time_limit_s,
                                 .keep_out = CT__KEEP_BYTES,
                                 .keep_err = CT__KEEP_BYTES};
    ct_err            err = {0};
    ct__child         child;
    CHECK_OK(ct__child_open(&child, 0, &err), err);
    CHECK_OK(ct__child_start(&child, &program, &err), err);
    CHECK(await_tree(child.reaper, 3, list));
    return child;
}

/* The supervisor has the limit; a program that stopped it ran for ever. */
static void test_a_stopped_supervisor_goes_on(void)
{
    pid_t      list[TREE];
    ct_err     err = {0};
    ct__report report;
    ct__child  child = start_endless("stop-parent", 1, list);
    CHECK_OK(ct__child_report(&child, &report, &err), err);
    CHECK(report.end == CT__CHILD_TIME && report.seconds < 10);
    ct__report_free(&report);
    ct__child_close(&child);
}

/* Closing waited for the reaper, and so did Ctrl-C. */
static void test_a_stopped_reaper_ends(void)
{
    pid_t     list[TREE];
    ct__child child = start_endless("forever", 0, list);
    kill(child.reaper, SIGSTOP);
    usleep(50000);
    ct__child_close(&child);
    for (int i = 0; i < 3; i++) CHECK(kill(list[i], 0) != 0 && errno == ESRCH);
}

/* Processes that are stopped when the tuning process is killed end all the same. */
static void test_stopped_processes_end_with_a_killed_parent(void)
{
    for (int which = 1; which < 4; which++) { /* 1: the reaper, 2: the supervisor, 3: both */
        pid_t list[TREE], scratch[TREE];
        int   alive = 3;
        fflush(stdout);
        const pid_t pid = fork();
        if (pid == 0) {
            (void)start_endless("forever", 0, scratch);
            for (;;) pause();
        }
        CHECK(await_tree(pid, 4, list));
        if (which & 1) kill(list[1], SIGSTOP);
        if (which & 2) kill(list[2], SIGSTOP);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        for (int i = 0; i < 1000 && alive; i++) {
            alive = 0;
            for (int k = 1; k < 4; k++) alive += kill(list[k], 0) == 0;
            usleep(5000);
        }
        CHECK(alive == 0);
        for (int k = 1; k < 4 && alive; k++) kill(list[k], SIGKILL);
    }
}

int main(void)
{
    RUN(test_a_suspended_run_has_its_whole_time);
    RUN(test_a_suspended_server_has_its_whole_time);
    RUN(test_a_stopped_supervisor_goes_on);
    RUN(test_a_stopped_reaper_ends);
    RUN(test_stopped_processes_end_with_a_killed_parent);
    return ct_test_end();
}
