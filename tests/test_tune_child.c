/* test_tune_child.c: programs below supervisors: what they are given, how they end, and that nothing of them stays. */
#define _GNU_SOURCE
#include "ct_test.h"
#include "tune/run.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char *const NO_ENVIRONMENT[] = {"PATH=/usr/bin:/bin", NULL};

static ct__program program_of(const char *const words[])
{
    return (ct__program){.program = CT_ESTIMATOR,
                         .argument = words,
                         .environment = NO_ENVIRONMENT,
                         .folder = ct_test_folder(),
                         .keep_out = CT__KEEP_BYTES,
                         .keep_err = CT__KEEP_BYTES};
}

static ct__report run_program(ct__child *child, const ct__program *program)
{
    ct_err     err = {0};
    ct__report report = {0};
    CHECK_OK(ct__child_start(child, program, &err), err);
    CHECK_OK(ct__child_report(child, &report, &err), err);
    return report;
}

/* One run in a supervisor of its own. */
static ct__report run_words(const char *const words[], double time_limit_s, int64_t memory_limit)
{
    ct_err      err = {0};
    ct__child   child;
    ct__program program = program_of(words);
    program.time_limit_s = time_limit_s;
    program.memory_limit = memory_limit;
    CHECK_OK(ct__child_open(&child, 0, &err), err);
    const ct__report report = run_program(&child, &program);
    ct__child_close(&child);
    return report;
}
#define RUN_WORDS(time, memory, ...) run_words((const char *const[]){"estimator", __VA_ARGS__, NULL}, time, memory)

static const char *scratch(const char *name)
{
    static char path[4096];
    char        folder[2048];
    CHECK(realpath(ct_test_folder(), folder) != NULL);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

/* Processes of the list in a file, and how many of them live. */
static int count_alive(const char *path, int *listed)
{
    FILE *file = fopen(path, "r");
    long  pid;
    int   alive = 0;
    *listed = 0;
    while (file && fscanf(file, "%ld", &pid) == 1) {
        (*listed)++;
        alive += kill((pid_t)pid, 0) == 0;
    }
    if (file) fclose(file);
    return alive;
}

static void test_program_gets_folder_arguments_and_environment(void)
{
    const char *const words[] = {"estimator", "echo", "a b", "", "{x}", NULL};
    const char *const more[] = {"COVTUNE_TEST=yes", NULL};
    ct__program       program = program_of(words);
    ct__child         child;
    ct_err            err = {0};
    char              wanted[4096], folder[2048];
    CHECK(realpath(ct_test_folder(), folder) != NULL);
    snprintf(wanted, sizeof wanted, "%s\na b\n\n{x}\nyes\n", folder);
    program.environment = more;
    CHECK_OK(ct__child_open(&child, 0, &err), err);
    for (int i = 0; i < 3; i++) { /* one supervisor runs many */
        ct__report report = run_program(&child, &program);
        CHECK(report.end == CT__CHILD_ENDED && report.code == 0);
        CHECK(report.out.kept == (int64_t)strlen(wanted) && !strcmp(report.out.bytes, wanted));
        CHECK(report.err.total == 0 && report.seconds > 0 && report.seconds < 10);
        ct__report_free(&report);
    }
    ct__child_close(&child);
}

static void test_niceness_is_that_of_the_program(void)
{
    const char *const words[] = {"nice", NULL};
    ct__program       program = program_of(words);
    ct__child         child;
    ct_err            err = {0};
    char              wanted[16];
    const int         own = getpriority(PRIO_PROCESS, 0);
    program.program = "/usr/bin/nice";
    program.niceness = own < 15 ? own + 4 : 19;
    snprintf(wanted, sizeof wanted, "%d\n", program.niceness);
    CHECK_OK(ct__child_open(&child, 0, &err), err);
    ct__report report = run_program(&child, &program);
    CHECK(report.out.bytes && !strcmp(report.out.bytes, wanted));
    ct__report_free(&report);
    ct__child_close(&child);
}

static void test_ends_have_their_codes(void)
{
    ct__report report = RUN_WORDS(0, 0, "exit", "3");
    CHECK(report.end == CT__CHILD_ENDED && report.code == 3);
    CHECK(report.err.bytes && !strcmp(report.err.bytes, "first line\nlast words\n"));
    ct__report_free(&report);
    report = RUN_WORDS(0, 0, "segfault");
    CHECK(report.end == CT__CHILD_ENDED && report.code == -SIGSEGV);
    ct__report_free(&report);
    report = RUN_WORDS(0, 0, "close");
    CHECK(report.end == CT__CHILD_ENDED && report.code == 0);
    ct__report_free(&report);
    report = RUN_WORDS(0, 0, "binary");
    CHECK(report.end == CT__CHILD_ENDED && report.code == 1 && report.err.kept == 512);
    for (int i = 0; i < 512 && i < report.err.kept; i++) CHECK((unsigned char)report.err.bytes[i] == i % 256);
    ct__report_free(&report);
}

static void test_what_cannot_be_started_says_why(void)
{
    const char *const words[] = {"x", NULL};
    ct__program       program = program_of(words);
    ct__child         child;
    ct_err            err = {0};
    CHECK_OK(ct__child_open(&child, 0, &err), err);
    program.program = "/no/such/program";
    ct__report report = run_program(&child, &program);
    CHECK(report.end == CT__CHILD_NOT_STARTED && report.step == CT__STEP_EXECUTE && report.code == ENOENT);
    ct__report_free(&report);
    program = program_of(words);
    program.folder = "/no/such/folder";
    report = run_program(&child, &program);
    CHECK(report.end == CT__CHILD_NOT_STARTED && report.step == CT__STEP_FOLDER && report.code == ENOENT);
    ct__report_free(&report);
    const char *const good[] = {"estimator", "exit", "0", NULL};
    program = program_of(good);
    report = run_program(&child, &program); /* and the next one can */
    CHECK(report.end == CT__CHILD_ENDED && report.code == 0);
    ct__report_free(&report);
    ct__child_close(&child);
}

static void test_time_limit_ends_those_that_ignore_it(void)
{
    const char *path = scratch("ignored");
    int         listed;
    remove(path);
    double     began = ct_now_s();
    ct__report report = RUN_WORDS(0.2, 0, "forever");
    CHECK(report.end == CT__CHILD_TIME && report.code == -SIGTERM);
    CHECK(ct_now_s() - began > 0.2 && ct_now_s() - began < 5);
    ct__report_free(&report);
    began = ct_now_s();
    report = RUN_WORDS(0.2, 0, "ignore", path);
    CHECK(report.end == CT__CHILD_TIME && report.code == -SIGKILL);
    CHECK(ct_now_s() - began > 0.2 + 0.9 * CT__GRACE_S && ct_now_s() - began < 5);
    CHECK(count_alive(path, &listed) == 0 && listed == 1);
    ct__report_free(&report);
}

static void test_grandchildren_end_with_the_run(void)
{
    const char *path = scratch("bred");
    int         listed;
    remove(path);
    ct__report report = RUN_WORDS(0, 0, "breed", path); /* it ends, they would stay */
    CHECK(report.end == CT__CHILD_ENDED && report.code == 0);
    CHECK(count_alive(path, &listed) == 0);
    CHECK(listed == 3);
    ct__report_free(&report);
    remove(path);
    report = RUN_WORDS(0.3, 0, "breed-forever", path);
    CHECK(report.end == CT__CHILD_TIME);
    CHECK(count_alive(path, &listed) == 0);
    CHECK(listed == 3);
    ct__report_free(&report);
}

/* Processes that fork and end faster than a list of them can be read. */
static void test_processes_that_fork_all_the_time_end(void)
{
    const char *path = scratch("hops");
    struct stat before = {0}, after = {0};
    for (int away = 0; away < 2; away++) {
        remove(path);
        ct__report report = RUN_WORDS(5, 0, away ? "hop-away" : "hop", path);
        CHECK(report.end == CT__CHILD_ENDED && report.code == 0);
        ct__report_free(&report);
        CHECK(stat(path, &before) == 0 && before.st_size > 0);
        usleep(20000);
        CHECK(stat(path, &after) == 0 && after.st_size == before.st_size);
    }
    remove(path);
}

static void test_stop_and_close_kill_all(void)
{
    const char *const words[] = {"estimator", "breed-forever", scratch("stopped"), NULL};
    const ct__program program = program_of(words);
    ct__child         child;
    ct__report        report;
    ct_err            err = {0};
    int               listed = 0;
    for (int stop = 0; stop < 2; stop++) {
        listed = 0;
        remove(words[2]);
        CHECK_OK(ct__child_open(&child, 0, &err), err);
        CHECK_OK(ct__child_start(&child, &program, &err), err);
        for (int i = 0; i < 500 && listed != 3; i++) {
            usleep(10000);
            count_alive(words[2], &listed);
        }
        CHECK(count_alive(words[2], &listed) == 3);
        if (stop) {
            ct__child_stop(&child);
            CHECK_OK(ct__child_report(&child, &report, &err), err);
            CHECK(report.end == CT__CHILD_STOPPED);
            CHECK(count_alive(words[2], &listed) == 0);
            ct__report_free(&report);
            ct__child_stop(&child); /* nothing runs: nothing happens */
        }
        ct__child_close(&child);
        CHECK(count_alive(words[2], &listed) == 0);
    }
}

/* A process with a run under way is killed: its run dies, and its locks are free at once. */
static void test_runs_die_with_a_killed_process(void)
{
    const char *const words[] = {"estimator", "breed-forever", scratch("orphaned"), NULL};
    const ct__program program = program_of(words);
    int               listed = 0;
    remove(words[2]);
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
        ct__child child;
        if (ct__child_open(&child, 0, NULL) || ct__child_start(&child, &program, NULL)) _exit(1);
        for (;;) pause();
    }
    for (int i = 0; i < 500 && listed != 3; i++) {
        usleep(10000);
        count_alive(words[2], &listed);
    }
    CHECK(count_alive(words[2], &listed) == 3);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    int alive = 3;
    for (int i = 0; i < 500 && alive; i++) {
        alive = count_alive(words[2], &listed);
        usleep(2000);
    }
    CHECK(alive == 0);
}

static void test_memory_limit_counts_resident_memory_of_all_processes(void)
{
    const int64_t limit = (int64_t)100 << 20;
    ct__report    report = RUN_WORDS(20, limit, "allocate");
    CHECK(report.end == CT__CHILD_MEMORY && report.peak > limit && report.peak < 4 * limit);
    ct__report_free(&report);
    report = RUN_WORDS(20, limit, "allocate-below");
    CHECK(report.end == CT__CHILD_MEMORY && report.peak > limit && report.peak < 4 * limit);
    ct__report_free(&report);
    report = RUN_WORDS(3, limit, "allocate-away");
    CHECK(report.end == CT__CHILD_MEMORY && report.peak > limit && report.peak < 4 * limit);
    ct__report_free(&report);
    report = RUN_WORDS(20, limit, "reserve"); /* 64 GB of address space */
    CHECK(report.end == CT__CHILD_ENDED && report.code == 0);
    ct__report_free(&report);
}

static void test_a_flood_of_output_is_cut(void)
{
    const double bytes = ct_test_slow() ? 1e7 : 1e9;
    char         text[32];
    snprintf(text, sizeof text, "%.0f", bytes);
    ct__report report = RUN_WORDS(100, 0, "flood", text);
    CHECK(report.end == CT__CHILD_ENDED && report.code == 0);
    CHECK(report.out.total >= (int64_t)bytes && report.out.kept == CT__KEEP_BYTES);
    CHECK(report.out.head == CT__KEEP_BYTES / 4);
    CHECK(report.out.bytes && !strcmp(report.out.bytes + report.out.kept - 9, "\nthe end\n"));
    ct__report_free(&report);
}

/* The ring against all that was written, for many sizes. */
static void test_kept_output_is_beginning_and_end(void)
{
    static const int sizes[] = {0, 1, 15, 16, 17, 63, 64, 65, 79, 80, 100, 1000, 5000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char              script[200], all[6100];
        const char *const words[] = {"sh", "-c", script, NULL};
        ct__program       program = program_of(words);
        ct__child         child;
        ct_err            err = {0};
        snprintf(script, sizeof script, "i=0; while [ $i -lt %d ]; do printf %%04d $i; i=$((i+1)); done | head -c %d",
                 sizes[i] / 4 + 1, sizes[i]);
        for (int k = 0; k < sizes[i] / 4 + 1; k++) snprintf(all + 4 * k, 8, "%04d", k % 10000);
        program.program = "/bin/sh";
        program.keep_out = 64;
        CHECK_OK(ct__child_open(&child, 0, &err), err);
        ct__report report = run_program(&child, &program);
        const int  kept = sizes[i] < 64 ? sizes[i] : 64, head = kept < 16 ? kept : 16;
        CHECK(report.out.total == sizes[i] && report.out.kept == kept && report.out.head == head);
        CHECK(report.out.bytes && !memcmp(report.out.bytes, all, (size_t)head));
        CHECK(report.out.bytes &&
              !memcmp(report.out.bytes + head, all + sizes[i] - (kept - head), (size_t)(kept - head)));
        ct__report_free(&report);
        ct__child_close(&child);
    }
}

/* The supervisor below a reaper, as /proc shows it; 0: none. */
static pid_t supervisor_of(const ct__child *child)
{
    char path[96];
    long pid = 0;
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)child->reaper, (long)child->reaper);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%ld", &pid) != 1) pid = 0;
    if (file) fclose(file);
    return (pid_t)pid;
}

/* The supervisor, or the reaper above it, is killed; the program has children in other sessions. */
static void test_children_end_with_a_killed_supervisor(void)
{
    const char *const words[] = {"estimator", "breed-forever", scratch("bereft"), NULL};
    const ct__program program = program_of(words);
    for (int above = 0; above < 2; above++) {
        int        listed = 0;
        ct_err     err = {0};
        ct__child  child;
        ct__report report;
        remove(words[2]);
        CHECK_OK(ct__child_open(&child, 0, &err), err);
        CHECK_OK(ct__child_start(&child, &program, &err), err);
        for (int i = 0; i < 500 && listed != 3; i++) {
            usleep(10000);
            count_alive(words[2], &listed);
        }
        const pid_t supervisor = supervisor_of(&child);
        CHECK(count_alive(words[2], &listed) == 3 && supervisor > 0);
        if (supervisor > 0) kill(above ? child.reaper : supervisor, SIGKILL);
        CHECK_OK(ct__child_report(&child, &report, &err), err);
        CHECK(report.end == CT__CHILD_LOST);
        ct__report_free(&report);
        ct__child_close(&child);
        for (int i = 0; above && i < 500 && count_alive(words[2], &listed); i++) usleep(2000);
        CHECK(count_alive(words[2], &listed) == 0);
    }
}

/* A stopped supervisor takes no message: what ends its runs must not wait for it. */
static void test_a_stopped_supervisor_keeps_nothing(void)
{
    const char *const words[] = {"estimator", "breed-forever", scratch("stopped"), NULL};
    const ct__program program = program_of(words);
    int               listed = 0;
    ct_err            err = {0};
    ct__child         child;
    remove(words[2]);
    CHECK_OK(ct__child_open(&child, 0, &err), err);
    CHECK_OK(ct__child_start(&child, &program, &err), err);
    for (int i = 0; i < 500 && listed != 3; i++) {
        usleep(10000);
        count_alive(words[2], &listed);
    }
    const pid_t supervisor = supervisor_of(&child);
    CHECK(listed == 3 && supervisor > 0);
    if (supervisor > 0) kill(supervisor, SIGSTOP);
    kill(child.reaper, supervisor > 0 ? SIGINT : 0); /* of others than its parent it takes no signal */
    ct__child_close(&child);
    CHECK(count_alive(words[2], &listed) == 0);
}

/* A list of children that is longer than the buffer ends within a number: 1 of 12345 is another process. */
static void test_a_cut_list_of_processes_has_no_cut_number(void)
{
    pid_t list[4] = {0};
    CHECK(ct__add_numbers("10 200 1", list, 0, 4) == 2 && list[0] == 10 && list[1] == 200 && list[2] == 0);
    CHECK(ct__add_numbers("10 200 1 ", list, 0, 4) == 3 && list[2] == 1);
    CHECK(ct__add_numbers("7 8 9 ", list, 3, 4) == 4 && list[3] == 7);
    CHECK(ct__add_numbers("", list, 0, 4) == 0 && ct__add_numbers("12", list, 0, 4) == 0);
}

static void test_a_killed_supervisor_is_noticed(void)
{
    ct__report report = RUN_WORDS(5, 0, "kill-parent");
    CHECK(report.end == CT__CHILD_LOST);
    ct__report_free(&report);
}

/* `pkill -9 covtune` must leave the supervisor, which ends the program; one by its name the reaper. */
static void test_supervisors_have_another_name(void)
{
    char      path[64], name[2][64] = {"", ""};
    ct_err    err = {0};
    ct__child child;
    CHECK_OK(ct__child_open(&child, 0, &err), err);
    const char *const words[] = {"estimator", "poses", "/dev/null", "1", NULL};
    const ct__program program = program_of(words);
    ct__report        report = run_program(&child, &program);
    ct__report_free(&report);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "/proc/%ld/comm", (long)(i ? supervisor_of(&child) : child.reaper));
        FILE *file = fopen(path, "r");
        if (file && fgets(name[i], sizeof name[i], file)) CHECK(!strstr(name[i], "covtune"));
        if (file) fclose(file);
    }
    CHECK(strcmp(name[0], name[1]) != 0);
    ct__child_close(&child);
}

/* Descriptors of this process, but 0, 1, 2, are closed in the program and in the supervisor. */
static void test_descriptors_are_not_inherited(void)
{
    int pipes[2];
    CHECK(pipe(pipes) == 0); /* without CLOEXEC */
    const char *const words[] = {"sh", "-c", "ls /proc/self/fd | wc -l; readlink /proc/self/fd/0", NULL};
    ct__program       program = program_of(words);
    ct__child         child;
    ct_err            err = {0};
    program.program = "/bin/sh";
    CHECK_OK(ct__child_open(&child, 0, &err), err);
    close(pipes[1]);
    char c;
    CHECK(read(pipes[0], &c, 1) == 0); /* nobody else has the writing end: else this waits forever */
    close(pipes[0]);
    ct__report report = run_program(&child, &program);
    CHECK(report.out.bytes && !strcmp(report.out.bytes, "4\n/dev/null\n")); /* 0, 1, 2 and the folder being listed */
    ct__report_free(&report);
    ct__child_close(&child);
}

/* The host's own handling of children is not touched, and does not disturb. */
static volatile sig_atomic_t children_ended;
static void on_child(int number)
{
    (void)number;
    children_ended++;
    while (waitpid(-1, NULL, WNOHANG) > 0) {}
}

static void test_handlers_of_the_host_do_not_disturb(void)
{
    struct sigaction ours = {.sa_handler = on_child}, before;
    sigaction(SIGCHLD, &ours, &before);
    for (int i = 0; i < 5; i++) {
        ct__report report = RUN_WORDS(0, 0, "exit", "7");
        CHECK(report.end == CT__CHILD_ENDED && report.code == 7);
        ct__report_free(&report);
    }
    signal(SIGCHLD, SIG_IGN);
    ct__report report = RUN_WORDS(0, 0, "exit", "7");
    CHECK(report.end == CT__CHILD_ENDED && report.code == 7);
    ct__report_free(&report);
    sigaction(SIGCHLD, &before, NULL);
}

static void test_no_descriptor_or_zombie_is_left(void)
{
    int open_before = 0, open_after = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < 10; i++) {
            ct__report report = RUN_WORDS(0, 0, "exit", "0");
            ct__report_free(&report);
        }
        int *const count = pass ? &open_after : &open_before;
        for (int fd = 0; fd < 1024; fd++) *count += fcntl(fd, F_GETFD) >= 0;
    }
    CHECK(open_before == open_after);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

/* Time of a run beyond the program's own: of a supervisor, against posix_spawn. The smallest of many: other programs of
 * the machine only add to it. */
static void test_overhead_is_small(void)
{
    const char *const words[] = {"estimator", "sleep", "0", NULL};
    char *const       plain_words[] = {(char[]){"estimator"}, (char[]){"sleep"}, (char[]){"0"}, NULL};
    const ct__program program = program_of(words);
    ct__child         child;
    ct_err            err = {0};
    double            best = INFINITY, plain = INFINITY;
    CHECK_OK(ct__child_open(&child, 0, &err), err);
    for (int i = 0; i < 200; i++) {
        double     began = ct_now_s();
        ct__report report = run_program(&child, &program);
        best = fmin(best, ct_now_s() - began);
        ct__report_free(&report);
        began = ct_now_s();
        pid_t pid;
        CHECK(posix_spawn(&pid, CT_ESTIMATOR, NULL, NULL, plain_words, plain_words + 3) == 0);
        waitpid(pid, NULL, 0);
        plain = fmin(plain, ct_now_s() - began);
    }
    ct__child_close(&child);
    printf("  a run below a supervisor %.3f ms, by posix_spawn alone %.3f ms\n", 1e3 * best, 1e3 * plain);
    CHECK(ct_test_slow() || best - plain < 1e-3);
}

int main(void)
{
    RUN(test_program_gets_folder_arguments_and_environment);
    RUN(test_niceness_is_that_of_the_program);
    RUN(test_ends_have_their_codes);
    RUN(test_what_cannot_be_started_says_why);
    RUN(test_time_limit_ends_those_that_ignore_it);
    RUN(test_grandchildren_end_with_the_run);
    RUN(test_processes_that_fork_all_the_time_end);
    RUN(test_stop_and_close_kill_all);
    RUN(test_runs_die_with_a_killed_process);
    RUN(test_memory_limit_counts_resident_memory_of_all_processes);
    RUN(test_a_flood_of_output_is_cut);
    RUN(test_kept_output_is_beginning_and_end);
    RUN(test_children_end_with_a_killed_supervisor);
    RUN(test_a_stopped_supervisor_keeps_nothing);
    RUN(test_a_cut_list_of_processes_has_no_cut_number);
    RUN(test_a_killed_supervisor_is_noticed);
    RUN(test_supervisors_have_another_name);
    RUN(test_descriptors_are_not_inherited);
    RUN(test_handlers_of_the_host_do_not_disturb);
    RUN(test_no_descriptor_or_zombie_is_left);
    RUN(test_overhead_is_small);
    return ct_test_end();
}
