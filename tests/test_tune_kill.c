/* test_tune_kill.c: kill -9 of a tuning process at random moments, and resume: the same answer to the bit, no completed
 * run repeated, no process left.
 *
 * Runs append "start KEY" to a file of notes, and the tuning process "done KEY" when it has the outcome. So after a
 * "done" no "start" of the same key may follow. The test is a subreaper: whatever a killed process leaves becomes its
 * child, and has to end by itself. COVTUNE_TUNE_KILLS: how often; 10. */
#define _GNU_SOURCE
#include "base/file.h"
#include "run_test.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

static char notes[2200], answer[2200], journal[2200], log_file[TEST_LOGS][2200];

static void note_done(const ct_tune_request *request)
{
    char      line[4096], a[32], b[32];
    const int file = open(notes, O_WRONLY | O_CREAT | O_APPEND, 0666);
    ct__format_double(request->value[0], a);
    ct__format_double(request->value[1], b);
    const int n = snprintf(line, sizeof line, "done %s %s %s %d\n", log_file[request->log], a, b, 1 + request->repeat);
    if (write(file, line, (size_t)n) != n) _exit(9);
    close(file);
}

/* A queue that notes what was served, in front of the journal. */
typedef struct {
    ct_tune_queue  *inner;
    ct_tune_request request[256];
    double          value[256][2];
    int             count;
} observer;

static ct_status observe_submit(void *user, const ct_tune_request *request, ct_err *err)
{
    observer *o = user;
    memcpy(o->value[o->count], request->value, sizeof o->value[0]);
    o->request[o->count++] = *request;
    return o->inner->submit(o->inner->user, request, err);
}

static ct_status observe_collect(void *user, double wait_s, int64_t *ticket, ct_tune_outcome *outcome, ct_err *err)
{
    observer       *o = user;
    const ct_status status = o->inner->collect(o->inner->user, wait_s, ticket, outcome, err);
    for (int i = 0; status == CT_OK && i < o->count; i++) {
        if (o->request[i].ticket != *ticket) continue;
        o->request[i].value = o->value[i];
        if (!outcome->cached) note_done(&o->request[i]);
        o->count--;
        o->request[i] = o->request[o->count];
        memcpy(o->value[i], o->value[o->count], sizeof o->value[0]);
        break;
    }
    return status;
}

static void observe_abandon(void *user) { ((observer *)user)->inner->abandon(((observer *)user)->inner->user); }

/* Tune to the end, in a process of its own. */
static void tune(test_tuning *t, int jobs)
{
    const ct_tuning_local local = {.jobs = jobs, .folder = t->runs};
    ct_tune_options       options = ct_tune_defaults();
    ct_tune_queue        *processes, *queue;
    ct_tune_result        result;
    ct_err                err = {0};
    observer              o = {0};
    char                  text[4096];
    int                   n = 0;
    if (ct_tuning_queue(&t->tuning, &local, &processes, &err) != CT_OK ||
        ct_tune_journal(journal, 1, 2, 1, processes, &queue, &err) != CT_OK) {
        fprintf(stderr, "%s\n", err.text);
        _exit(1);
    }
    o.inner = queue;
    ct_tune_queue watched = {.user = &o, .slots = queue->slots, .submit = observe_submit, .collect = observe_collect,
                             .abandon = observe_abandon};
    const ct_status status = ct_tune(&t->tuning.problem, &options, &watched, &result, &err);
    if (status != CT_OK) {
        fprintf(stderr, "%s\n", err.text);
        _exit(1);
    }
    for (int i = 0; i < 2; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%a %a\n", result.value[i], result.standard_error[i]);
    n += snprintf(text + n, sizeof text - (size_t)n, "%a %a %lld %lld\n", result.loss_start, result.loss,
                  (long long)result.points, (long long)result.runs);
    ct_tune_result_free(&result);
    ct_tune_queue_free(queue);
    _exit(ct_file_replace(answer, text, (size_t)n, &err) != CT_OK);
}

static void prepare(test_tuning *t, const char *name)
{
    static char *names[1] = {NULL}, *paths[TEST_LOGS][1];
    static char  name_of[TEST_LOGS][8];
    make_tuning(t, name);
    snprintf(notes, sizeof notes, "%s/notes", t->root);
    snprintf(answer, sizeof answer, "%s/answer", t->root);
    snprintf(journal, sizeof journal, "%s/runs.journal", t->root);
    names[0] = (char *)(uintptr_t) "log";
    for (int i = 0; i < TEST_LOGS; i++) {
        snprintf(log_file[i], sizeof log_file[i], "%s/log-%c", t->root, 'a' + i);
        snprintf(name_of[i], sizeof name_of[i], "log-%c", 'a' + i);
        write_truth(log_file[i]);
        paths[i][0] = log_file[i];
        t->log[i].file_name = names;
        t->log[i].file_path = paths[i];
        t->public_log[i] = (ct_tune_log){.name = name_of[i], .recording = name_of[i]};
    }
    for (int i = 0; i < 2; i++) {
        t->parameter[i].lower = 1e-3;
        t->parameter[i].upper = 1e3;
        t->parameter[i].log = 1;
    }
    t->tuning.command = WORDS(t->word, CT_ESTIMATOR, "noted", "{estimate}", notes, "{log}", "{a}", "{b}", "{seed}");
}

/* Waits until all descendants have ended; 0: one has not in 10 s. */
static int all_end(void)
{
    for (int i = 0; i < 2000; i++) {
        while (waitpid(-1, NULL, WNOHANG) > 0) {}
        if (waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD) return 1;
        usleep(5000);
    }
    return 0;
}

/* Keys that were started after they were done. */
static int count_repeated(int64_t *starts, int64_t *done)
{
    FILE *file = fopen(notes, "r");
    char  line[4096], (*seen)[1024] = calloc(10000, sizeof *seen);
    int   repeated = 0;
    *starts = *done = 0;
    while (file && fgets(line, sizeof line, file)) {
        char *key = strchr(line, ' ');
        if (key && !strncmp(line, "done", 4) && *done < 10000) snprintf(seen[(*done)++], 1024, "%.1000s", key);
        if (!key || strncmp(line, "start", 5)) continue;
        ++*starts;
        for (int64_t i = 0; i < *done; i++) repeated += !strcmp(seen[i], key);
    }
    if (file) fclose(file);
    free(seen);
    return repeated;
}

static char *content(const char *path)
{
    static char text[2][4096];
    static int  which;
    FILE       *file = fopen(path, "r");
    which = !which;
    text[which][file ? fread(text[which], 1, 4095, file) : 0] = 0;
    if (file) fclose(file);
    return text[which];
}

/* 0: it was killed. */
static int tune_for(test_tuning *t, int jobs, double seconds)
{
    int         status = 0;
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) tune(t, jobs);
    const double until = ct_now_s() + seconds;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (ct_now_s() > until) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            break;
        }
        usleep(200);
    }
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0) || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
    return WIFEXITED(status);
}

static void test_killed_and_resumed_is_the_same(void)
{
    const char *text = getenv("COVTUNE_TUNE_KILLS");
    const int   kills = text ? atoi(text) : 10;
    test_tuning t;
    ct_rng      rng = ct_rng_seed(text ? (uint64_t)kills : 7);
    int64_t     starts, done, starts_whole;
    char        wanted[4096];
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prepare(&t, "whole");
    const double began = ct_now_s();
    CHECK(tune_for(&t, 2, 300) == 1);
    const double seconds = ct_now_s() - began;
    CHECK(all_end());
    snprintf(wanted, sizeof wanted, "%s", content(answer));
    CHECK(count_repeated(&starts_whole, &done) == 0 && starts_whole == done && wanted[0]);
    int killed = 0, finished = 0, left = 0;
    for (int round = 0; killed < kills && round < 10 * kills; round++) {
        char name[32];
        snprintf(name, sizeof name, "killed-%d", round);
        prepare(&t, name);
        const int before = killed;
        for (int ended = 0; !ended && killed < kills + 10;) {
            const double share = killed < kills ? ct_rng_uniform(&rng) : 1000;
            ended = tune_for(&t, 1 + killed % 3, share * seconds * 0.4);
            killed += !ended;
            left += !all_end();
            finished += ended;
        }
        CHECK(!strcmp(content(answer), wanted));
        CHECK(count_repeated(&starts, &done) == 0);
        CHECK(starts >= starts_whole && starts <= starts_whole + 3 * (killed - before)); /* those under way */
        (void)ct_folder_remove(t.root, NULL);
    }
    printf("  a tuning of %lld runs, %.2f s; killed %d times, finished %d times; processes left: %d\n",
           (long long)starts_whole, seconds, killed, finished, left);
    CHECK(killed >= kills && finished > 0 && left == 0);
}

/* The first child of a process, as /proc shows it; 0: none. */
static pid_t child_of(pid_t parent)
{
    char path[96];
    long pid = 0;
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)parent, (long)parent);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%ld", &pid) != 1) pid = 0;
    if (file) fclose(file);
    return (pid_t)pid;
}

/* The process that watches runs is killed while it has none: tuning ended by that. */
static void test_what_is_killed_between_runs_is_replaced(void)
{
    test_tuning t;
    make_tuning(&t, "between");
    t.tuning.command = WORDS(t.word, CT_ESTIMATOR, "poses", "{estimate}", "100", "{a}", "{b}");
    ct_tune_queue *queue = open_queue(&t, 1, 0);
    for (int i = 0; i < 4; i++) {
        ct_tune_outcome outcome = run_once(queue, 0, i, 0.5, 0.25);
        CHECK(outcome.end == CT_TUNE_DONE);
        ct_tune_outcome_free(&outcome);
        const pid_t reaper = child_of(getpid()), killed = i % 2 ? reaper : child_of(reaper);
        CHECK(killed > 0);
        if (killed > 0) kill(killed, SIGKILL);
        usleep(100000);
    }
    ct_tune_queue_free(queue);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

/* Is there a process, and not only what is left of one until its parent asks? */
static int lives(long pid)
{
    char  path[64], state = 'Z';
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = 'Z';
    if (file) fclose(file);
    return state != 'Z';
}

/* How many of the processes whose numbers are in the file live; waits for three to be there. */
static int count_bred(const char *path, int await)
{
    int alive = 0;
    for (int i = 0; await && i < 1000 && line_count(path) < 3; i++) usleep(5000);
    FILE *file = fopen(path, "r");
    long  pid;
    while (file && fscanf(file, "%ld", &pid) == 1) alive += lives(pid);
    if (file) fclose(file);
    return alive;
}

/* Stops them before it kills them: none sees another end. */
static void kill_at_once(const pid_t list[], int count)
{
    for (int i = 0; i < count; i++) kill(list[i], SIGSTOP);
    for (int i = 0; i < count; i++) kill(list[i], SIGKILL);
}

/* The program's daemons, which ignore SIGTERM and left its session, have no covtune above them any more. */
static void test_daemons_end_when_all_who_watch_them_are_killed(void)
{
    char        pids[2300];
    test_tuning t;
    for (int with_me = 0; with_me < 2; with_me++) {
        make_tuning(&t, "daemons");
        snprintf(pids, sizeof pids, "%s/pids", t.root);
        t.tuning.command = WORDS(t.word, CT_ESTIMATOR, "breed-forever", pids);
        fflush(stdout);
        const pid_t me = fork();
        if (me == 0) {
            ct_tune_outcome outcome = run_once(open_queue(&t, 1, 0), 0, 0, 0.5, 0.25);
            _exit(outcome.end == CT_TUNE_CRASHED && count_bred(pids, 0) == 0 ? 0 : 1);
        }
        CHECK(count_bred(pids, 1) == 3);
        const pid_t reaper = child_of(me), supervisor = child_of(reaper);
        CHECK(reaper > 0 && supervisor > 0);
        int status = 0;
        if (supervisor > 0) kill_at_once((const pid_t[]){supervisor, reaper, me}, with_me ? 3 : 2);
        waitpid(me, &status, 0);
        if (with_me) ct_tune_queue_free(open_queue(&t, 1, 0)); /* as --resume does */
        else CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        for (int i = 0; i < 200 && count_bred(pids, 0); i++) usleep(5000);
        CHECK(count_bred(pids, 0) == 0);
        (void)all_end();
    }
}

int main(void)
{
    RUN(test_what_is_killed_between_runs_is_replaced);
    RUN(test_killed_and_resumed_is_the_same);
    RUN(test_daemons_end_when_all_who_watch_them_are_killed);
    return ct_test_end();
}
