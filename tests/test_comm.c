/* test_comm.c: work over ranks, which are threads here that exchange through memory; check_mpi tests covtune-mpi. */
#define _XOPEN_SOURCE 700
#include "ct_test.h"
#include "learn_test.h"

#include <covtune/comm.h>
#include <pthread.h>

/* ---- owners ---- */

static void test_every_task_has_an_owner_and_loads_are_even(void)
{
    enum { TASKS = 1000 };
    double  cost[TASKS];
    int32_t owner[TASKS];
    ct_err  err = {0};
    ct_rng  rng = ct_rng_seed(1);
    for (int i = 0; i < TASKS; i++) cost[i] = ct_rng_uniform(&rng);
    for (int size = 1; size <= 9; size++) {
        double load[9] = {0}, sum = 0;
        CHECK_OK(ct_comm_assign(size, TASKS, cost, owner, &err), err);
        for (int i = 0; i < TASKS; i++) {
            CHECK(owner[i] >= 0 && owner[i] < size);
            load[owner[i]] += cost[i];
            sum += cost[i];
        }
        for (int r = 0; r < size; r++) CHECK(fabs(load[r] - sum / size) <= 1); /* the most expensive task */
    }
}

static void test_costs_that_are_none_are_refused(void)
{
    int32_t owner[2];
    ct_err  err = {0};
    CHECK(ct_comm_assign(2, 2, (const double[]){1, NAN}, owner, &err) == CT_E_ARGUMENT && err.text[0]);
    CHECK(ct_comm_assign(2, 2, (const double[]){1, -1}, owner, &err) == CT_E_ARGUMENT);
    CHECK(ct_comm_assign(0, 2, (const double[]){1, 1}, owner, &err) == CT_E_ARGUMENT);
}

/* ---- ranks that are threads ---- */

enum { RANKS = 3 };

typedef struct {
    pthread_barrier_t together;
    const void       *given[RANKS];
} board;

typedef struct {
    board *board;
    int    rank;
} thread_rank;

static ct_status exchange(void *user, const void *mine, const int64_t bytes[], void *all, ct_err *err)
{
    const thread_rank *s = user;
    char               *to = all;
    (void)err;
    s->board->given[s->rank] = mine;
    pthread_barrier_wait(&s->board->together);
    for (int r = 0; r < RANKS; to += bytes[r++])
        if (bytes[r]) memcpy(to, s->board->given[r], (size_t)bytes[r]);
    pthread_barrier_wait(&s->board->together);
    return CT_OK;
}

typedef struct {
    board          *board;
    int             rank, any[2];
    const ct_dataset *data;
    ct_outer_value  value[3];
    double          number[3][64];
    uint64_t        digest;
    ct_status       status;
    ct_err          err;
} rank_job;

static void evaluate(rank_job *j, const ct_comm *comm)
{
    ct_outer_options options = ct_outer_defaults();
    ct_theta        *theta = NULL;
    ct_outer        *outer = NULL;
    ct_err           err = {0};
    double           p[16];
    options.comm = comm;
    j->status = ct_dataset_theta(j->data, NULL, &theta, &err);
    if (j->status == CT_OK)
        j->status = ct_outer_new(j->data->trains, (const ct_sequence *const *)j->data->train, j->data->noise, theta,
                                 &options, &outer, &j->err);
    if (j->status == CT_OK) j->digest = ct_outer_digest(outer, "");
    for (int k = 0; j->status == CT_OK && k < 3; k++) {
        if (k == 0) ct_theta_get(theta, j->data->noise, p);
        else p[0] += 0.1;
        j->value[k] = (ct_outer_value){.gradient = j->number[k], .matrix = j->number[k] + 8};
        j->status = ct_outer_evaluate(outer, p, NULL, &j->value[k], &err);
        if (j->status == CT_OK) j->status = ct_outer_accept(outer, &err);
    }
    ct_outer_free(outer);
    ct_theta_free(theta);
}

static void *run_rank(void *user)
{
    rank_job     *j = user;
    thread_rank  s = {j->board, j->rank};
    const ct_comm comm = {.rank = j->rank, .size = RANKS, .user = &s, .exchange = exchange};
    ct_err        err = {0};
    CHECK_OK(ct_comm_any(&comm, 0, &j->any[0], &err), err);
    CHECK_OK(ct_comm_any(&comm, j->rank == 1, &j->any[1], &err), err);
    int64_t given[2] = {10 * (j->rank + 1), j->rank};
    CHECK_OK(ct_comm_give(&comm, given, sizeof given, &err), err);
    CHECK(given[0] == 10 && given[1] == 0);
    evaluate(j, &comm);
    return NULL;
}

static ct_dataset *make_dataset(int count, int poses)
{
    ct_err      err = {0};
    ct_dataset *data = NULL;
    CHECK_OK(ct_dataset_new(&data, &err), err);
    for (int i = 0; i < count; i++) {
        ct_nav_options nav;
        ct_sequence   *seq = NULL;
        CHECK(ct_nav_preset("D1", CT_SE2, &nav));
        nav.least = nav.most = poses + 10 * (i % 5);
        CHECK_OK(ct_simulate_nav(&nav, (uint64_t)i + 1, data->noise, &seq, &err), err);
        CHECK_OK(ct_dataset_add(data, seq, CT_DATASET_TRAIN, &err), err);
    }
    return data;
}

static void run_ranks(const ct_dataset *data, rank_job job[RANKS])
{
    board     b;
    pthread_t thread[RANKS];
    CHECK(pthread_barrier_init(&b.together, NULL, RANKS) == 0);
    for (int r = 0; r < RANKS; r++) {
        job[r] = (rank_job){.board = &b, .rank = r, .data = data};
        CHECK(pthread_create(&thread[r], NULL, run_rank, &job[r]) == 0);
    }
    for (int r = 0; r < RANKS; r++) pthread_join(thread[r], NULL);
    pthread_barrier_destroy(&b.together);
}

/* Many sequences have a digest of another kind than few. */
static void check_ranks(int count, int poses)
{
    ct_dataset *data = make_dataset(count, poses);
    rank_job    alone = {.data = data}, job[RANKS] = {{0}};
    evaluate(&alone, NULL);
    CHECK(alone.status == CT_OK);
    run_ranks(data, job);
    for (int r = 0; r < RANKS; r++) {
        CHECK(alone.digest == job[r].digest);
        CHECK(job[r].status == CT_OK && !job[r].any[0] && job[r].any[1]);
        for (int k = 0; k < 3; k++) {
            CHECK(!memcmp(&alone.value[k].loss, &job[r].value[k].loss, sizeof(double)));
            CHECK(!memcmp(alone.number[k], job[r].number[k], sizeof alone.number[k]));
            CHECK(alone.value[k].iterations == job[r].value[k].iterations);
        }
    }
    ct_dataset_free(data);
}

static void test_losses_and_derivatives_do_not_depend_on_ranks(void)
{
    check_ranks(5, 30);
    check_ranks(80, 4);
}

/* One rank alone looks at the sequence; all have its sentence. */
static void test_a_sequence_that_is_refused_is_named_on_all_ranks(void)
{
    ct_dataset *data = make_dataset(5, 30);
    rank_job    alone = {.data = data}, job[RANKS] = {{0}};
    for (int i = 0; i < 4; i++) data->train[i > 1 ? 3 : 4]->truth[20 + i] = NAN;
    evaluate(&alone, NULL);
    CHECK(alone.status == CT_E_ARGUMENT && strstr(alone.err.text, "must be finite"));
    run_ranks(data, job);
    for (int r = 0; r < RANKS; r++)
        CHECK(job[r].status == alone.status && !strcmp(job[r].err.text, alone.err.text));
    ct_dataset_free(data);
}

int main(void)
{
    RUN(test_every_task_has_an_owner_and_loads_are_even);
    RUN(test_costs_that_are_none_are_refused);
    RUN(test_losses_and_derivatives_do_not_depend_on_ranks);
    RUN(test_a_sequence_that_is_refused_is_named_on_all_ranks);
    return ct_test_end();
}
