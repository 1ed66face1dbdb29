/* test_tune_ranks.c: runs of estimators over ranks, which are threads here that send through memory; check_tune_mpi
 * tests covtune-mpi. */
#define _GNU_SOURCE
#include "run_test.h"

#include <covtune/comm.h>
#include <pthread.h>

enum { RANKS = 3 };

/* ---- ranks that are threads ---- */

typedef struct letter {
    struct letter *next;
    int            from;
    int64_t        size;
    void          *bytes;
} letter;

typedef struct {
    pthread_barrier_t together;
    const void       *given[RANKS];
    pthread_mutex_t   lock;
    letter           *box[RANKS];
} board;

typedef struct {
    board *board;
    int    rank;
} member;

static ct_status exchange(void *user, const void *mine, const int64_t bytes[], void *all, ct_err *err)
{
    const member *s = user;
    char         *to = all;
    (void)err;
    s->board->given[s->rank] = mine;
    pthread_barrier_wait(&s->board->together);
    for (int r = 0; r < RANKS; to += bytes[r++])
        if (bytes[r]) memcpy(to, s->board->given[r], (size_t)bytes[r]);
    pthread_barrier_wait(&s->board->together);
    return CT_OK;
}

static ct_status send(void *user, int to, const void *bytes, int64_t size, ct_err *err)
{
    const member *s = user;
    letter       *l = calloc(1, sizeof *l);
    (void)err;
    *l = (letter){.from = s->rank, .size = size, .bytes = malloc((size_t)size + 1)};
    memcpy(l->bytes, bytes, (size_t)size);
    pthread_mutex_lock(&s->board->lock);
    letter **last = &s->board->box[to];
    while (*last) last = &(*last)->next;
    *last = l;
    pthread_mutex_unlock(&s->board->lock);
    return CT_OK;
}

static ct_status receive(void *user, double wait_s, int *from, void **bytes, int64_t *size, ct_err *err)
{
    const member *s = user;
    const double  until = ct_now_s() + wait_s;
    (void)err;
    *from = -1;
    *bytes = NULL;
    for (;;) {
        pthread_mutex_lock(&s->board->lock);
        letter *l = s->board->box[s->rank];
        if (l) s->board->box[s->rank] = l->next;
        pthread_mutex_unlock(&s->board->lock);
        if (l) {
            *from = l->from;
            *bytes = l->bytes;
            *size = l->size;
            free(l);
            return CT_OK;
        }
        if (ct_now_s() >= until) return CT_OK;
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
}

static const char *host(void *user, int rank)
{
    static const char *const NAMES[RANKS] = {"alpha", "beta", "gamma"};
    (void)user;
    return NAMES[rank];
}

static void open_board(board *b)
{
    memset(b, 0, sizeof *b);
    pthread_barrier_init(&b->together, NULL, RANKS);
    pthread_mutex_init(&b->lock, NULL);
}

static void close_board(board *b)
{
    for (int r = 0; r < RANKS; r++)
        while (b->box[r]) {
            letter *l = b->box[r];
            b->box[r] = l->next;
            free(l->bytes);
            free(l);
        }
    pthread_barrier_destroy(&b->together);
    pthread_mutex_destroy(&b->lock);
}

static ct_comm comm_of(member *m)
{
    return (ct_comm){.rank = m->rank,
                     .size = RANKS,
                     .user = m,
                     .exchange = exchange,
                     .send = send,
                     .receive = receive,
                     .host = host};
}

/* ---- another rank ---- */

typedef struct {
    member       member;
    test_tuning *tuning;
    char         folder[2300];
    int          stop; /* 1: interrupted at once */
    ct_status    status;
    ct_err       err;
    pthread_t    thread;
} other;

static int is_interrupted(void *user) { return ((const other *)user)->stop; }

static void *serve(void *user)
{
    other                *o = user;
    const ct_comm         comm = comm_of(&o->member);
    const ct_tuning_local local = {.jobs = 1, .folder = o->folder, .comm = &comm};
    o->status = ct_tuning_serve(&o->tuning->tuning, &local, is_interrupted, o, &o->err);
    return NULL;
}

static void start_others(board *b, test_tuning *t, other o[RANKS])
{
    for (int r = 1; r < RANKS; r++) {
        o[r] = (other){.member = {b, r}, .tuning = t};
        snprintf(o[r].folder, sizeof o[r].folder, "%s/rank%d", t->root, r);
    }
}

static void run_others(other o[RANKS])
{
    for (int r = 1; r < RANKS; r++) CHECK(pthread_create(&o[r].thread, NULL, serve, &o[r]) == 0);
}

static void join_others(other o[RANKS])
{
    for (int r = 1; r < RANKS; r++) pthread_join(o[r].thread, NULL);
}

/* ---- laws ---- */

/* Six runs at once on three ranks of one job: residuals are those of one process, and every rank has run some. */
static void test_runs_of_other_ranks_have_the_residuals_of_one_process(void)
{
    test_tuning   t;
    board         b;
    other         o[RANKS];
    member        first = {&b, 0};
    const ct_comm comm = comm_of(&first);
    ct_err        err = {0};
    make_tuning(&t, "ranks");
    add_config(&t);
    t.tuning.shell = 1;
    t.tuning.command = WORDS(t.word, "echo {folder} >> {here}/where; " CT_ESTIMATOR " poses {estimate} 100 {a} {b}");
    open_board(&b);
    start_others(&b, &t, o);
    run_others(o);
    const ct_tuning_local local = {.jobs = 1, .folder = t.runs, .comm = &comm};
    ct_tune_queue        *queue = NULL;
    CHECK_OK(ct_tuning_queue(&t.tuning, &local, &queue, &err), err);
    CHECK(queue && queue->slots == RANKS);
    for (int i = 0; i < 6; i++) {
        const double value[2] = {0.1 * i, 0.5};
        CHECK_OK(queue->submit(queue->user, &(ct_tune_request){i, i % TEST_LOGS, 0, value}, &err), err);
    }
    for (int i = 0; i < 6; i++) {
        ct_tune_outcome outcome = {0};
        int64_t         ticket = -1;
        CHECK_OK(queue->collect(queue->user, 20, &ticket, &outcome, &err), err);
        CHECK(ticket >= 0 && outcome.end == CT_TUNE_DONE && outcome.rows == 600);
        const double a = 0.1 * (double)ticket;
        for (int k = 0; outcome.residual && k < 100; k++) {
            double sum = 0;
            for (int c = 0; c < 6; c++) sum += outcome.residual[6 * k + c] * outcome.residual[6 * k + c];
            CHECK_NEAR(sum, a * a + 0.25 + a * cos(0.1 * k), 1e-6);
        }
        ct_tune_outcome_free(&outcome);
    }
    ct_tune_queue_free(queue);
    CHECK_OK(ct_tuning_dismiss(&comm, &err), err);
    join_others(o);
    char command[5000];
    for (int r = 0; r < RANKS; r++) {
        snprintf(command, sizeof command, "grep -q '%s/run-' %s/where", r ? o[r].folder : t.runs, t.root);
        CHECK(system(command) == 0);
        if (r) CHECK_OK(o[r].status, o[r].err);
    }
    close_board(&b);
    ct_config_free(t.file[0].config);
}

/* What a rank cannot do ends tuning with its number and host; an interrupt is told to rank 0. */
static void test_errors_and_interrupts_of_other_ranks_are_told(void)
{
    test_tuning   t;
    board         b;
    other         o[RANKS];
    member        first = {&b, 0};
    const ct_comm comm = comm_of(&first);
    ct_err        err = {0};
    make_tuning(&t, "told");
    t.tuning.command = WORDS(t.word, CT_ESTIMATOR, "poses", "{estimate}", "100", "{a}", "{b}");
    open_board(&b);
    start_others(&b, &t, o);
    o[2].stop = 1;
    run_others(o);
    int                   interrupted = 0;
    const ct_tuning_local local = {.jobs = 1, .folder = t.runs, .comm = &comm, .interrupted = &interrupted};
    ct_tune_queue        *queue = NULL;
    CHECK_OK(ct_tuning_queue(&t.tuning, &local, &queue, &err), err);
    const double until = ct_now_s() + 20;
    while (!interrupted && ct_now_s() < until) {
        ct_tune_outcome outcome = run_once(queue, 0, 0, 1, 2);
        ct_tune_outcome_free(&outcome);
    }
    CHECK(interrupted);
    ct_tune_queue_free(queue);
    CHECK_OK(ct_tuning_dismiss(&comm, &err), err);
    join_others(o);
    close_board(&b);

    open_board(&b);
    start_others(&b, &t, o);
    snprintf(o[1].folder, sizeof o[1].folder, "%s/truth.tum/x", t.root); /* below a file */
    run_others(o);
    CHECK(ct_tuning_queue(&t.tuning, &local, &queue, &err) == CT_E_IO && !queue);
    CHECK(strstr(err.text, "rank 1 on beta: ") == err.text);
    CHECK_OK(ct_tuning_dismiss(&comm, &err), err);
    join_others(o);
    CHECK(o[1].status == CT_E_IO && o[2].status == CT_OK);
    close_board(&b);
    CHECK(ct_tuning_serve(&t.tuning, &local, NULL, NULL, &err) == CT_E_ARGUMENT);
}

/* abandon ends programs of all ranks, and the queue goes on. */
static void test_abandoned_runs_end_on_all_ranks(void)
{
    test_tuning   t;
    board         b;
    other         o[RANKS];
    member        first = {&b, 0};
    const ct_comm comm = comm_of(&first);
    ct_err        err = {0};
    make_tuning(&t, "abandon");
    t.tuning.shell = 1;
    t.tuning.command =
        WORDS(t.word, "if [ {a} = 5 ]; then sleep 600; fi; " CT_ESTIMATOR " poses {estimate} 100 {a} {b}");
    open_board(&b);
    start_others(&b, &t, o);
    run_others(o);
    const ct_tuning_local local = {.jobs = 1, .folder = t.runs, .comm = &comm};
    ct_tune_queue        *queue = NULL;
    const double          value[2] = {5, 0}, begin = ct_now_s();
    CHECK_OK(ct_tuning_queue(&t.tuning, &local, &queue, &err), err);
    for (int i = 0; i < 5; i++) /* two wait */
        CHECK_OK(queue->submit(queue->user, &(ct_tune_request){i, 0, 0, value}, &err), err);
    queue->abandon(queue->user);
    for (int i = 0; i < 4; i++) {
        ct_tune_outcome outcome = run_once(queue, 0, i, 1, 2);
        CHECK(outcome.end == CT_TUNE_DONE);
        ct_tune_outcome_free(&outcome);
    }
    ct_tune_queue_free(queue);
    CHECK_OK(ct_tuning_dismiss(&comm, &err), err);
    join_others(o);
    CHECK(ct_now_s() - begin < 60);
    close_board(&b);
}

/* ---- reading ---- */

typedef struct {
    member    member;
    char      path[2300], folder[2300];
    ct_status status;
    uint64_t  digest;
    ct_err    err;
} reader;

static void *read_shared(void *user)
{
    reader       *r = user;
    const ct_comm comm = comm_of(&r->member);
    ct_tuning    *tuning = NULL;
    r->status = ct_tuning_read_shared(r->path, &comm, r->folder, &tuning, &r->err);
    if (r->status == CT_OK) r->digest = ct_tuning_digest(tuning);
    CHECK((tuning != NULL) == (r->status == CT_OK));
    ct_tuning_free(tuning);
    return NULL;
}

/* Rank 1 sees the file, rank 2 looks for it elsewhere: both have rank 0's tuning. */
static void test_a_tuning_is_sent_to_ranks_that_do_not_see_it(void)
{
    test_tuning t;
    board       b;
    char        path[5000], log[2300];
    make_tuning(&t, "read");
    snprintf(path, sizeof path, "%s/estimate.sh", t.root);
    write_file(path, "#!/bin/sh\nexit 1\n");
    CHECK(chmod(path, 0755) == 0);
    snprintf(log, sizeof log, "%s/../read-log.txt", t.root);
    write_file(log, "1 2 3\n");
    write_file(t.config, "q = 1\n");
    snprintf(path, sizeof path, "%s/loop", t.root); /* a folder that leads to itself */
    CHECK(symlink("..", path) == 0);
    snprintf(path, sizeof path, "%s/tune.yaml", t.root);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    if (!file) return;
    fprintf(file, "format: covtune-tune\nversion: 1\n"
                  "command: [./estimate.sh, \"{params}\", \"{log}\", \"{estimate}\"]\n"
                  "files: {params: estimator.txt}\nparameters: {q: {key: q}}\n"
                  "logs: {train: {log: \"%s\", truth: truth.tum}}\nestimate: {format: tum}\n", log);
    fclose(file);
    for (int broken = 0; broken < 2; broken++) {
        pthread_t thread[RANKS];
        reader    r[RANKS] = {{.digest = 0}};
        open_board(&b);
        if (broken) write_file(t.config, "other = 1\n");
        for (int k = 0; k < RANKS; k++) {
            r[k].member = (member){&b, k};
            snprintf(r[k].path, sizeof r[k].path, "%s/%stune.yaml", t.root, k == 2 ? "nowhere/" : "");
            snprintf(r[k].folder, sizeof r[k].folder, "%s/copy%d", t.root, k);
            CHECK(pthread_create(&thread[k], NULL, read_shared, &r[k]) == 0);
        }
        for (int k = 0; k < RANKS; k++) pthread_join(thread[k], NULL);
        for (int k = 0; k < RANKS; k++) {
            CHECK((r[k].status == CT_OK) == !broken);
            if (r[k].status != CT_OK && !broken) printf("rank %d: %s\n", k, r[k].err.text);
            CHECK(r[k].digest == r[0].digest && (r[k].digest != 0) == !broken);
        }
        snprintf(path, sizeof path, "%s%s/tune.yaml", r[2].folder, t.root);
        CHECK(exists(path) && !exists(r[1].folder));
        snprintf(path, sizeof path, "%s%s/loop", r[2].folder, t.root);
        CHECK(!exists(path));
        snprintf(path, sizeof path, "%s/tune.yaml", t.root);
        close_board(&b);
    }
}

int main(void)
{
    RUN(test_runs_of_other_ranks_have_the_residuals_of_one_process);
    RUN(test_errors_and_interrupts_of_other_ranks_are_told);
    RUN(test_abandoned_runs_end_on_all_ranks);
    RUN(test_a_tuning_is_sent_to_ranks_that_do_not_see_it);
    return ct_test_end();
}
