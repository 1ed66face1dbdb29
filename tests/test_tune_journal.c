/* test_tune_journal.c: the journal of runs against a plain array of them: any order of requests, cuts, damage, full
 * disks; and its speed. */
#define _GNU_SOURCE
#include "ct_test.h"

#include <covtune/covtune.h>
#include <covtune/tune.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <sys/wait.h>

#define N 3 /* parameters */

/* ---- A queue that computes ------------------------------------------------------------------- */

/* Outcomes are a function of the request. Runs end in random order. */
typedef struct {
    ct_rng   rng;
    int64_t  rows, served, open;
    int64_t  ticket[64];
    int32_t  log[64], repeat[64];
    double   value[64][N];
} sums;

static ct_tune_outcome outcome_of(int32_t log, int32_t repeat, const double value[N], int64_t rows)
{
    ct_tune_outcome o = {.poses = rows / 3, .lost = log, .translation = value[0], .rotation = NAN,
                         .rpe_translation = value[0] / 2, .rpe_rotation = NAN, .nees = 1, .seconds = 0.5 * repeat,
                         .conventions = {.translation = value[0], .turn = {0, value[1], 0}, .shifted = 1}};
    o.end = (ct_tune_end)((int64_t)fabs(17 * value[0] + repeat) % CT_TUNE_END_COUNT);
    if (o.end != CT_TUNE_DONE) {
        char text[100];
        snprintf(text, sizeof text, "failed at %g\n\xff with %d%*s", value[1], repeat, (int)fabs(value[2]) % 20, "");
        o.message = strdup(text);
        o.code = -repeat;
    }
    if (o.end != CT_TUNE_DONE && o.end != CT_TUNE_SHORT) return o;
    o.rows = rows + log;
    o.residual = malloc((size_t)o.rows * sizeof *o.residual);
    for (int64_t i = 0; i < o.rows; i++) o.residual[i] = sin((double)i + value[0]) * value[1] + value[2] / (1 + repeat);
    return o;
}

static int is_outcome(const ct_tune_outcome *a, const ct_tune_outcome *b)
{
    return a->end == b->end && a->rows == b->rows && a->poses == b->poses && a->lost == b->lost && a->code == b->code &&
           a->translation == b->translation && a->rpe_translation == b->rpe_translation && isnan(a->rotation) &&
           a->nees == b->nees && a->seconds == b->seconds &&
           !memcmp(&a->conventions, &b->conventions, sizeof a->conventions) &&
           !a->message == !b->message && (!a->message || !strcmp(a->message, b->message)) &&
           !a->residual == !b->residual &&
           (!a->residual || !memcmp(a->residual, b->residual, (size_t)a->rows * sizeof *a->residual));
}

static ct_status sums_submit(void *user, const ct_tune_request *request, ct_err *err)
{
    sums *s = user;
    (void)err;
    s->ticket[s->open] = request->ticket;
    s->log[s->open] = request->log;
    s->repeat[s->open] = request->repeat;
    memcpy(s->value[s->open++], request->value, sizeof s->value[0]);
    return CT_OK;
}

static ct_status sums_collect(void *user, double wait_s, int64_t *ticket, ct_tune_outcome *outcome, ct_err *err)
{
    sums *s = user;
    (void)wait_s;
    (void)err;
    *ticket = -1;
    if (!s->open) return CT_OK;
    const int64_t i = (int64_t)(ct_rng_bits(&s->rng) % (uint64_t)s->open), last = --s->open;
    *ticket = s->ticket[i];
    *outcome = outcome_of(s->log[i], s->repeat[i], s->value[i], s->rows);
    s->served++;
    s->ticket[i] = s->ticket[last];
    s->log[i] = s->log[last];
    s->repeat[i] = s->repeat[last];
    memcpy(s->value[i], s->value[last], sizeof s->value[0]);
    return CT_OK;
}

static void sums_abandon(void *user) { ((sums *)user)->open = 0; }
static void sums_free(void *user) { (void)user; }

static ct_tune_queue *queue_of(sums *s)
{
    ct_tune_queue *queue = malloc(sizeof *queue);
    *queue = (ct_tune_queue){.user = s,
                             .slots = 4,
                             .submit = sums_submit,
                             .collect = sums_collect,
                             .abandon = sums_abandon,
                             .free = sums_free};
    return queue;
}

static const char *journal_path(void)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/runs.journal", ct_test_folder());
    return path;
}

static ct_status open_journal(sums *s, uint64_t digest, int resume, ct_tune_queue **out, ct_err *err)
{
    ct_tune_queue  *inner = queue_of(s);
    const ct_status status = ct_tune_journal(journal_path(), digest, N, resume, inner, out, err);
    if (status != CT_OK) ct_tune_queue_free(inner);
    return status;
}

/* The values of run number i. */
static void values_of(int64_t i, double value[N])
{
    value[0] = 0.1 * (double)i - 1;
    value[1] = 1e-3 * (double)(i * i);
    value[2] = i % 5 == 0 ? 0.0 : -7.25 * (double)i;
}

/* Ask for run i and wait for it; 1: it came from the file. */
static int ask(ct_tune_queue *queue, int64_t i, int32_t log, int64_t rows)
{
    double          value[N];
    ct_tune_outcome outcome, wanted;
    int64_t         ticket;
    ct_err          err = {0};
    values_of(i, value);
    CHECK_OK(queue->submit(queue->user, &(ct_tune_request){i, log, (int32_t)(i % 3), value}, &err), err);
    CHECK_OK(queue->collect(queue->user, 1, &ticket, &outcome, &err), err);
    CHECK(ticket == i);
    wanted = outcome_of(log, (int32_t)(i % 3), value, rows);
    CHECK(is_outcome(&outcome, &wanted));
    const int cached = outcome.cached;
    ct_tune_outcome_free(&outcome);
    ct_tune_outcome_free(&wanted);
    return cached;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void test_runs_are_served_once(void)
{
    sums           s = {.rng = ct_rng_seed(1), .rows = 30};
    ct_tune_queue *queue;
    ct_err         err = {0};
    remove(journal_path());
    for (int pass = 0; pass < 3; pass++) {
        CHECK_OK(open_journal(&s, 5, 1, &queue, &err), err);
        CHECK(ct_tune_journal_runs(queue) == (pass ? 20 : 0) && queue->slots == 4);
        for (int64_t i = 0; i < 20; i++) CHECK(ask(queue, i, 0, 30) == (pass > 0));
        CHECK(ct_tune_journal_runs(queue) == 20 && s.served == 20);
        ct_tune_queue_free(queue);
    }
    CHECK_OK(open_journal(&s, 6, 1, &queue, &err), err); /* another tuning */
    CHECK(ct_tune_journal_runs(queue) == 0);
    CHECK(ask(queue, 3, 1, 30) == 0 && s.served == 21);
    ct_tune_queue_free(queue);
    CHECK_OK(open_journal(&s, 5, 1, &queue, &err), err);
    CHECK(ct_tune_journal_runs(queue) == 20);
    ct_tune_queue_free(queue);
    ct_tune_queue *inner = queue_of(&s);
    CHECK(ct_tune_journal_runs(inner) == 0 && ct_tune_journal_runs(NULL) == 0);
    ct_tune_queue_free(inner);
    remove(journal_path());
}

/* Requests of a pool in any order, several at once and twice, with the file closed and cut in between: every answer is
 * the function's, and runs are served as often as an array of them says. */
static void test_random_orders_agree_with_an_array(void)
{
    for (uint64_t seed = 0; seed < 60; seed++) {
        enum { POOL = 40 };
        ct_rng         rng = ct_rng_seed(seed);
        sums           s = {.rng = ct_rng_seed(seed + 1000), .rows = 1 + (int64_t)(seed % 4) * 10};
        ct_tune_queue *queue = NULL;
        ct_err         err = {0};
        int            known[POOL] = {0};
        int64_t        expected = 0, ticket = 0, waiting = 0, of[4096];
        remove(journal_path());
        CHECK_OK(open_journal(&s, seed, 0, &queue, &err), err);
        for (int step = 0; step < 400; step++) {
            const uint64_t what = ct_rng_bits(&rng) % 16;
            if (what < 8 && waiting < 30) {
                double        value[N];
                const int64_t i = (int64_t)(ct_rng_bits(&rng) % POOL);
                values_of(i, value);
                if (i % 5 == 0 && what % 2) value[2] = -0.0; /* is 0 */
                of[ticket] = i;
                CHECK_OK(queue->submit(queue->user,
                                       &(ct_tune_request){ticket++, (int32_t)(i % 2), (int32_t)(i % 3), value}, &err),
                         err);
                waiting++;
            } else if (what < 15) {
                ct_tune_outcome outcome, wanted;
                int64_t         got;
                double          value[N];
                CHECK_OK(queue->collect(queue->user, 0, &got, &outcome, &err), err);
                if (!waiting) CHECK(got == -1);
                if (got < 0) continue;
                const int64_t i = of[got];
                values_of(i, value);
                wanted = outcome_of((int32_t)(i % 2), (int32_t)(i % 3), value, s.rows);
                CHECK(is_outcome(&outcome, &wanted));
                CHECK(!outcome.cached || known[i]);
                if (!outcome.cached) CHECK(!known[i]);
                expected += !known[i];
                known[i] = 1;
                waiting--;
                ct_tune_outcome_free(&outcome);
                ct_tune_outcome_free(&wanted);
            } else { /* killed in the middle of a record: what was under way is lost, what ended is not */
                ct_tune_queue_free(queue);
                waiting = 0;
                FILE *file = fopen(journal_path(), "ab");
                char  junk[128] = "record1\n";
                CHECK(file && fwrite(junk, 1, ct_rng_bits(&rng) % 100, file) < 100);
                fclose(file);
                CHECK_OK(open_journal(&s, seed, 1, &queue, &err), err);
            }
            CHECK(s.served == expected && ct_tune_journal_runs(queue) == expected);
        }
        ct_tune_queue_free(queue);
    }
    remove(journal_path());
}

static char *read_whole(long *size)
{
    FILE *file = fopen(journal_path(), "rb");
    fseek(file, 0, SEEK_END);
    *size = ftell(file);
    rewind(file);
    char *bytes = malloc((size_t)*size);
    CHECK(fread(bytes, 1, (size_t)*size, file) == (size_t)*size);
    fclose(file);
    return bytes;
}

static void write_whole(const char *bytes, long size)
{
    FILE *file = fopen(journal_path(), "wb");
    CHECK(fwrite(bytes, 1, (size_t)size, file) == (size_t)size);
    fclose(file);
}

/* A file of some runs; ends[i]: its size with i of them. */
static char *some_runs(sums *s, int64_t runs, long ends[])
{
    ct_tune_queue *queue;
    ct_err         err = {0};
    struct stat    entry;
    remove(journal_path());
    CHECK_OK(open_journal(s, 5, 0, &queue, &err), err);
    for (int64_t i = 0; i <= runs; i++) {
        CHECK(stat(journal_path(), &entry) == 0);
        ends[i] = (long)entry.st_size;
        if (i < runs) CHECK(ask(queue, i, 0, s->rows) == 0);
    }
    ct_tune_queue_free(queue);
    return read_whole(&(long){0});
}

/* Cut at every byte: the runs before are there, the next are served again, and the file is the same in the end. */
static void test_a_cut_at_any_byte_loses_one_run(void)
{
    enum { RUNS = 5 };
    sums           s = {.rng = ct_rng_seed(1), .rows = 7};
    long           ends[RUNS + 1], size;
    char          *bytes = some_runs(&s, RUNS, ends);
    ct_tune_queue *queue;
    ct_err         err = {0};
    for (long cut = 0; cut <= ends[RUNS]; cut++) {
        int64_t whole = 0;
        while (whole < RUNS && ends[whole + 1] <= cut) whole++;
        write_whole(bytes, cut);
        CHECK_OK(open_journal(&s, 5, 1, &queue, &err), err);
        CHECK(ct_tune_journal_runs(queue) == whole);
        for (int64_t i = 0; i < RUNS; i++) CHECK(ask(queue, i, 0, 7) == (i < whole));
        ct_tune_queue_free(queue);
        char *again = read_whole(&size);
        CHECK(size == ends[RUNS] && !memcmp(bytes, again, (size_t)size));
        free(again);
    }
    for (long zeros = 1; zeros < 300; zeros += 7) { /* after a power cut */
        char *more = calloc((size_t)(ends[RUNS] + zeros), 1);
        memcpy(more, bytes, (size_t)ends[RUNS]);
        write_whole(more, ends[RUNS] + zeros);
        CHECK_OK(open_journal(&s, 5, 1, &queue, &err), err);
        CHECK(ct_tune_journal_runs(queue) == RUNS);
        ct_tune_queue_free(queue);
        free(more);
    }
    free(bytes);
    remove(journal_path());
}

/* Any byte changed: the file is refused with the byte, or the damaged run is served again. No answer is wrong. */
static void test_damage_is_noticed(void)
{
    enum { RUNS = 4 };
    sums           s = {.rng = ct_rng_seed(1), .rows = 5};
    long           ends[RUNS + 1];
    char          *bytes = some_runs(&s, RUNS, ends);
    int            refused = 0, again = 0;
    ct_tune_queue *queue;
    for (long at = 0; at < ends[RUNS]; at++) {
        ct_err err = {0};
        bytes[at] ^= 0x10;
        write_whole(bytes, ends[RUNS]);
        const ct_status status = open_journal(&s, 5, 1, &queue, &err);
        if (status == CT_OK) {
            for (int64_t i = 0; i < RUNS; i++) again += !ask(queue, i, 0, 5);
            for (int64_t i = 0; i < RUNS; i++) CHECK(ask(queue, i, 0, 5) == 1);
            ct_tune_queue_free(queue);
        } else {
            CHECK(status == CT_E_PARSE && err.text[0]);
            refused++;
        }
        bytes[at] ^= 0x10;
    }
    CHECK(refused > 100 && again > 100);
    free(bytes);
    remove(journal_path());
}

/* A disk that is full after any number of bytes: a sentence, and a whole file with the runs before. */
static void test_a_full_disk_leaves_a_whole_file(void)
{
    enum { RUNS = 4 };
    sums           s = {.rng = ct_rng_seed(1), .rows = 9};
    long           ends[RUNS + 1];
    struct rlimit  before, limit;
    ct_tune_queue *queue;
    free(some_runs(&s, RUNS, ends));
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    for (long room = ends[0]; room < ends[RUNS]; room += 3) {
        ct_err    err = {0};
        ct_status status = CT_OK;
        int64_t   done = 0;
        remove(journal_path());
        CHECK_OK(open_journal(&s, 5, 0, &queue, &err), err);
        limit = before;
        limit.rlim_cur = (rlim_t)room;
        setrlimit(RLIMIT_FSIZE, &limit);
        for (int64_t i = 0; status == CT_OK && i < RUNS; i++) {
            double          value[N];
            int64_t         ticket;
            ct_tune_outcome outcome;
            values_of(i, value);
            status = queue->submit(queue->user, &(ct_tune_request){i, 0, (int32_t)(i % 3), value}, &err);
            if (status == CT_OK) status = queue->collect(queue->user, 1, &ticket, &outcome, &err);
            if (status == CT_OK) ct_tune_outcome_free(&outcome);
            done += status == CT_OK;
        }
        setrlimit(RLIMIT_FSIZE, &before);
        CHECK(status == CT_E_IO && strstr(err.text, "runs.journal: cannot be written") && done < RUNS);
        CHECK(ct_tune_journal_runs(queue) == done);
        struct stat entry;
        CHECK(stat(journal_path(), &entry) == 0 && entry.st_size == ends[done]);
        ct_tune_queue_free(queue);
        CHECK_OK(open_journal(&s, 5, 1, &queue, &err), err);
        for (int64_t i = 0; i < RUNS; i++) CHECK(ask(queue, i, 0, 9) == (i < done));
        ct_tune_queue_free(queue);
    }
    signal(SIGXFSZ, SIG_DFL);
    remove(journal_path());
}

/* Another program removes, cuts or writes the file while it is in use: what was appended then was lost in silence. */
static void test_a_file_that_others_change_is_noticed(void)
{
    for (int how = 0; how < 3; how++) {
        sums            s = {.rng = ct_rng_seed(1), .rows = 9};
        ct_err          err = {0};
        int64_t         ticket;
        double          value[N];
        ct_tune_outcome outcome;
        ct_tune_queue  *queue;
        remove(journal_path());
        CHECK_OK(open_journal(&s, 5, 0, &queue, &err), err);
        for (int64_t i = 0; i < 3; i++) CHECK(ask(queue, i, 0, 9) == 0);
        if (how == 0) CHECK(remove(journal_path()) == 0);
        if (how == 1) CHECK(truncate(journal_path(), 100) == 0);
        FILE *file = how == 2 ? fopen(journal_path(), "a") : NULL;
        CHECK((how == 2) == (file != NULL) && (!file || (fputs("a line\n", file) >= 0 && fclose(file) == 0)));
        values_of(3, value);
        CHECK_OK(queue->submit(queue->user, &(ct_tune_request){3, 0, 0, value}, &err), err);
        CHECK_REFUSED(queue->collect(queue->user, 1, &ticket, &outcome, &err), err,
                      how ? "was changed by another program while it was in use" : "was removed while it was in use");
        ct_tune_queue_free(queue);
    }
    remove(journal_path());
}

static void test_misuse_has_sentences(void)
{
    sums           s = {.rng = ct_rng_seed(1), .rows = 5}, other = s;
    ct_tune_queue *queue, *second;
    ct_err         err = {0};
    remove(journal_path());
    CHECK_OK(open_journal(&s, 5, 0, &queue, &err), err);
    CHECK(ask(queue, 9, 0, 5) == 0);
    CHECK(open_journal(&other, 5, 1, &second, &err) == CT_E_BUSY && strstr(err.text, "in use by covtune tune"));
    s.rows = 6; /* a log that has other residuals all of a sudden */
    double          value[N] = {0};
    int64_t         ticket = 0;
    ct_tune_outcome outcome;
    CHECK_OK(queue->submit(queue->user, &(ct_tune_request){1, 0, 0, value}, &err), err);
    CHECK_OK(queue->collect(queue->user, 1, &ticket, &outcome, &err), err);
    ct_tune_outcome_free(&outcome);
    s.rows = 5;
    for (int32_t repeat = 8; repeat <= 16; repeat += 8) {
        CHECK_OK(queue->submit(queue->user, &(ct_tune_request){1, 0, repeat, value}, &err), err);
        const ct_status status = queue->collect(queue->user, 1, &ticket, &outcome, &err);
        CHECK(status == CT_E_ARGUMENT && strstr(err.text, "has 5 residuals, earlier ones have 6"));
    }
    ct_tune_queue_free(queue);
    CHECK_REFUSED(open_journal(&s, 5, 0, &queue, &err), err, "is there already; resume it");
    write_whole("hello, world\n", 13);
    CHECK_REFUSED(open_journal(&s, 5, 1, &queue, &err), err, "is no journal of runs");
    char old[32] = "covtune journal 3\n";
    write_whole(old, sizeof old);
    CHECK_REFUSED(open_journal(&s, 5, 1, &queue, &err), err, "is of another version of covtune; begin anew");
    remove(journal_path());
    ct_tune_queue *inner = queue_of(&s);
    CHECK_REFUSED(ct_tune_journal("/no/such/folder/x", 1, N, 0, inner, &queue, &err), err, "/no/such/folder/x");
    CHECK_REFUSED(ct_tune_journal(journal_path(), 1, -1, 0, inner, &queue, &err), err, "-1 parameters");
    ct_tune_queue_free(inner);
}

/* A killed process leaves the lock file; the next one goes on. */
static void test_a_killed_process_leaves_no_lock(void)
{
    sums           s = {.rng = ct_rng_seed(1), .rows = 5};
    ct_tune_queue *queue;
    ct_err         err = {0};
    remove(journal_path());
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0) {
        if (open_journal(&s, 5, 0, &queue, &err) != CT_OK) _exit(1);
        for (int64_t i = 0;; i++) ask(queue, i, 0, 5);
    }
    usleep(30000);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    CHECK_OK(open_journal(&s, 5, 1, &queue, &err), err);
    const int64_t runs = ct_tune_journal_runs(queue);
    CHECK(runs > 10);
    for (int64_t i = 0; i < runs; i++) CHECK(ask(queue, i, 0, 5) == 1);
    CHECK(ask(queue, runs, 0, 5) == 0);
    ct_tune_queue_free(queue);
    remove(journal_path());
}

/* Time of this process: others use the machine, too. */
static double cpu_s(void) { return (double)clock() / CLOCKS_PER_SEC; }

static void test_ten_thousand_runs_open_in_under_a_second(void)
{
    const int64_t  runs = ct_test_slow() ? 500 : 10000, rows = 1500;
    sums           s = {.rng = ct_rng_seed(1), .rows = rows};
    ct_tune_queue *queue;
    ct_err         err = {0};
    struct stat    entry;
    remove(journal_path());
    CHECK_OK(open_journal(&s, 5, 0, &queue, &err), err);
    double began = cpu_s();
    for (int64_t i = 0; i < runs; i++) {
        double          value[N];
        int64_t         ticket;
        ct_tune_outcome outcome;
        values_of(i, value);
        value[0] = 0; /* done */
        CHECK_OK(queue->submit(queue->user, &(ct_tune_request){i, 0, 0, value}, &err), err);
        CHECK_OK(queue->collect(queue->user, 1, &ticket, &outcome, &err), err);
        ct_tune_outcome_free(&outcome);
    }
    const double write_s = cpu_s() - began;
    ct_tune_queue_free(queue);
    began = cpu_s();
    CHECK_OK(open_journal(&s, 5, 1, &queue, &err), err);
    const double open_s = cpu_s() - began;
    CHECK(ct_tune_journal_runs(queue) == runs);
    began = cpu_s();
    for (int64_t i = 0; i < runs; i++) {
        double          value[N];
        int64_t         ticket;
        ct_tune_outcome outcome;
        values_of(i, value);
        value[0] = 0;
        CHECK_OK(queue->submit(queue->user, &(ct_tune_request){i, 0, 0, value}, &err), err);
        CHECK_OK(queue->collect(queue->user, 1, &ticket, &outcome, &err), err);
        CHECK(outcome.cached && outcome.rows == rows);
        ct_tune_outcome_free(&outcome);
    }
    const double find_s = cpu_s() - began;
    CHECK(stat(journal_path(), &entry) == 0);
    printf("  %lld runs, %.0f MB: opened in %.3f s, all answered in %.3f s; computed and written in %.3f s\n",
           (long long)runs, 1e-6 * (double)entry.st_size, open_s, find_s, write_s);
    CHECK(s.served == runs && open_s + find_s < 1);
    ct_tune_queue_free(queue);
    remove(journal_path());
}

int main(void)
{
    RUN(test_runs_are_served_once);
    RUN(test_random_orders_agree_with_an_array);
    RUN(test_a_cut_at_any_byte_loses_one_run);
    RUN(test_damage_is_noticed);
    RUN(test_a_full_disk_leaves_a_whole_file);
    RUN(test_a_file_that_others_change_is_noticed);
    RUN(test_misuse_has_sentences);
    RUN(test_a_killed_process_leaves_no_lock);
    RUN(test_ten_thousand_runs_open_in_under_a_second);
    return ct_test_end();
}
