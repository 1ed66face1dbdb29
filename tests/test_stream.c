/* test_stream.c: datasets that are larger than their limit of memory: sequences leave and come back to the bit, whoever
 * uses them, and what is learned is the same. */
#define _XOPEN_SOURCE 700
#include "ct_test.h"
#include "dataset_test.h"

#include <covtune/api.h>
#include <covtune/learn.h>
#include <covtune/simulate.h>
#include <pthread.h>

enum { COUNT = 24, POSES = 80 };
#define SMALL (((int64_t)20 << 20) + (128 << 10)) /* room for a few sequences beside the program */

/* Writes the dataset into the folder at(name). */
static void make(const char *name, ct_format format)
{
    ct_nav_options o;
    ct_dataset    *d;
    ct_err         err = {0};
    CHECK(ct_nav_preset("D3", CT_SE2, &o));
    o.least = o.most = POSES;
    CHECK_OK(ct_dataset_new(&d, &err), err);
    for (int i = 0; i < COUNT; i++) {
        ct_sequence *seq = NULL;
        CHECK_OK(ct_simulate_nav(&o, (uint64_t)i, d->noise, &seq, &err), err);
        CHECK_OK(ct_dataset_add(d, seq, CT_DATASET_TRAIN, &err), err);
    }
    CHECK_OK(ct_dataset_write_as(d, at(name), format, &err), err);
    CHECK_REFUSED(ct_dataset_write_as(d, at(name), CT_FORMAT_TUM, &err), err, "tum");
    ct_dataset_free(d);
}

static ct_dataset *read_within(const char *name, int64_t memory, int jobs)
{
    const ct_read_options how = {.memory = memory, .jobs = jobs};
    ct_dataset           *d = NULL;
    ct_err                err = {0};
    CHECK_OK(ct_dataset_read_with(at(name), CT_DATASET_TRAIN, &how, &d, &err), err);
    if (!d) exit(ct_test_end() | 1);
    return d;
}

static int same_graphs(const ct_graph *a, const ct_graph *b)
{
    char name[2][64];
    if (ct_graph_variables(a) != ct_graph_variables(b) || ct_graph_factors(a) != ct_graph_factors(b)) return 0;
    if (memcmp(ct_graph_initial_const(a), ct_graph_initial_const(b), (size_t)ct_graph_size(a) * sizeof(double)))
        return 0;
    for (int32_t v = 0; v < ct_graph_variables(a); v++)
        if (ct_graph_kind(a, v) != ct_graph_kind(b, v) || ct_graph_fixed(a, v) != ct_graph_fixed(b, v) ||
            strcmp(ct_graph_name(a, v, name[0], 64), ct_graph_name(b, v, name[1], 64)) ||
            ct_graph_find(b, name[0]) != v)
            return 0;
    for (int32_t f = 0; f < ct_graph_factors(a); f++) {
        const ct_factor x = ct_graph_factor(a, f), y = ct_graph_factor(b, f);
        if (x.ops != y.ops || x.noise != y.noise || memcmp(x.var, y.var, (size_t)x.ops->arity * sizeof *x.var) ||
            memcmp(x.z, y.z, (size_t)ct_factor_z_size(x.ops) * sizeof *x.z))
            return 0;
    }
    return 1;
}

static int same_sequences(const ct_sequence *a, const ct_sequence *b)
{
    return same_graphs(a->graph, b->graph) &&
           !memcmp(a->truth, b->truth, (size_t)ct_graph_size(a->graph) * sizeof *a->truth) &&
           !memcmp(a->known, b->known, (size_t)ct_graph_variables(a->graph)) && !a->stamp == !b->stamp;
}

static void test_sequences_come_back_as_they_left(void)
{
    begin();
    make("text", CT_FORMAT_COVTUNE);
    make("binary", CT_FORMAT_BINARY);
    ct_dataset *whole = must_read(at("text"), CT_DATASET_TRAIN);
    for (int k = 0; k < 4; k++) {
        ct_dataset   *d = read_within(k % 2 ? "binary" : "text", SMALL, 1 + k / 2);
        ct_cache_info info;
        ct_err        err = {0};
        CHECK(d->trains == COUNT && ct_dataset_cache_info(d, &info) && info.left > 0);
        for (int pass = 0; pass < 2; pass++)
            for (int32_t i = 0; i < COUNT; i++) {
                CHECK(d->train[i]->truth && ct_graph_variables(d->train[i]->graph) == POSES); /* absent or not */
                CHECK_OK(ct_sequence_acquire(d->train[i], &err), err);
                CHECK_OK(ct_sequence_acquire(d->train[i], &err), err); /* they nest */
                CHECK(same_sequences(d->train[i], whole->train[i]));
                ct_sequence_release(d->train[i]);
                CHECK(same_sequences(d->train[i], whole->train[i]));
                ct_sequence_release(d->train[i]);
            }
        CHECK(ct_dataset_cache_info(d, &info) && info.came >= COUNT && info.used == 4 * COUNT);
        CHECK(info.limit == SMALL && info.most <= SMALL);
        ct_dataset_free(d);
    }
    ct_cache_info none;
    CHECK(!ct_dataset_cache_info(whole, &none) && none.limit == 0);
    CHECK(ct_sequence_acquire(whole->train[0], NULL) == CT_OK); /* nothing happens */
    ct_sequence_release(whole->train[0]);
    ct_dataset_free(whole);
}

static void test_files_may_vanish_after_they_were_read(void)
{
    begin();
    make("data", CT_FORMAT_BINARY);
    make("other", CT_FORMAT_BINARY);
    ct_dataset *whole = must_read(at("other"), CT_DATASET_TRAIN), *d = read_within("data", SMALL, 2);
    ct_err      err = {0};
    nftw(at("data"), drop, 16, FTW_DEPTH | FTW_PHYS);
    for (int32_t i = 0; i < COUNT; i++) {
        CHECK_OK(ct_sequence_acquire(d->train[i], &err), err);
        CHECK(same_sequences(d->train[i], whole->train[i]));
        ct_sequence_release(d->train[i]);
    }
    ct_dataset_free(d);
    ct_dataset_free(whole);
}

static void test_a_file_that_is_missing_is_named(void)
{
    const ct_read_options how = {.memory = SMALL, .jobs = 2};
    ct_dataset           *d;
    ct_err                err = {0};
    begin();
    make("data", CT_FORMAT_BINARY);
    CHECK(remove(at("data/train/0011.ctbin")) == 0);
    CHECK_REFUSED(ct_dataset_read_with(at("data"), CT_DATASET_TRAIN, &how, &d, &err), err, "train/0011.ctbin");
    CHECK(!d);
}

static void test_changes_stay(void)
{
    begin();
    make("data", CT_FORMAT_COVTUNE);
    ct_dataset *d = read_within("data", SMALL, 1);
    ct_err      err = {0};
    for (int32_t i = 0; i < COUNT; i++) {
        const double mine[] = {i, 2, 1, 0};
        CHECK_OK(ct_sequence_acquire(d->train[i], &err), err);
        memcpy(ct_graph_initial(d->train[i]->graph), mine, sizeof mine);
        CHECK_OK(ct_graph_add_variable(d->train[i]->graph, "further", CT_R2, NULL, NULL, &err), err);
        ct_sequence_release(d->train[i]);
    }
    for (int32_t i = 0; i < COUNT; i++) {
        CHECK_OK(ct_sequence_acquire(d->train[i], &err), err);
        CHECK(ct_graph_initial_const(d->train[i]->graph)[0] == i);
        CHECK(ct_graph_find(d->train[i]->graph, "further") == POSES);
        ct_sequence_release(d->train[i]);
    }
    ct_dataset_free(d);
}

typedef struct {
    ct_dataset *d, *whole;
    int         first, wrong;
} reader;

static void *use_all(void *user)
{
    reader *r = user;
    for (int k = 0; k < 20 * COUNT; k++) {
        const int32_t i = (r->first + k * 7) % COUNT;
        if (ct_sequence_acquire(r->d->train[i], NULL) != CT_OK) r->wrong++;
        else {
            r->wrong += !same_sequences(r->d->train[i], r->whole->train[i]);
            ct_sequence_release(r->d->train[i]);
        }
    }
    return NULL;
}

static void test_threads_share_the_cache(void)
{
    enum { THREADS = 4 };
    begin();
    make("data", CT_FORMAT_BINARY);
    ct_dataset *whole = must_read(at("data"), CT_DATASET_TRAIN), *d = read_within("data", SMALL, 1);
    reader      r[THREADS];
    pthread_t   thread[THREADS];
    for (int k = 0; k < THREADS; k++) {
        r[k] = (reader){.d = d, .whole = whole, .first = 5 * k};
        CHECK(pthread_create(&thread[k], NULL, use_all, &r[k]) == 0);
    }
    for (int k = 0; k < THREADS; k++) {
        pthread_join(thread[k], NULL);
        CHECK(r[k].wrong == 0);
    }
    ct_dataset_free(d);
    ct_dataset_free(whole);
}

static void test_a_limit_that_is_too_small_is_a_sentence(void)
{
    ct_dataset *d;
    ct_err      err = {0};
    begin();
    make("data", CT_FORMAT_BINARY);
    ct_read_options how = {.memory = 1 << 20};
    CHECK_REFUSED(ct_dataset_read_with(at("data"), CT_DATASET_TRAIN, &how, &d, &err), err, "the program alone");
    how.memory = ((int64_t)20 << 20) + 3000;
    CHECK_REFUSED(ct_dataset_read_with(at("data"), CT_DATASET_TRAIN, &how, &d, &err), err, "train/0000.ctbin");
}

/* What ct_run_learn finds, as text. */
static void learn_to(ct_dataset *d, int jobs, const char *path)
{
    ct_run_options o = ct_run_defaults();
    ct_run        *learned = NULL;
    ct_err         err = {0};
    o.jobs = jobs;
    o.max_iterations = 4;
    CHECK_OK(ct_run_learn(d, &o, &learned, &err), err);
    if (learned) CHECK_OK(ct_run_write(learned, path, &err), err);
    ct_run_free(learned);
}

static int same_files(const char *a, const char *b)
{
    FILE *x = fopen(a, "rb"), *y = fopen(b, "rb");
    int   c = 0, same = x && y;
    while (same && c != EOF) same = (c = getc(x)) == getc(y);
    if (x) fclose(x);
    if (y) fclose(y);
    return same;
}

static void test_what_is_learned_does_not_depend_on_the_limit(void)
{
    begin();
    make("data", CT_FORMAT_COVTUNE);
    ct_dataset *whole = must_read(at("data"), CT_DATASET_TRAIN);
    learn_to(whole, 2, at("whole.json"));
    for (int jobs = 1; jobs <= 2; jobs++) {
        ct_dataset *d = read_within("data", SMALL + (jobs + 1) * ((int64_t)1 << 19), jobs);
        learn_to(d, jobs, at("within.json"));
        CHECK(same_files(at("whole.json"), at("within.json")));
        ct_dataset_free(d);
    }
    ct_dataset_free(whole);
}

static void test_time_outside_of_parallel_sections_is_part_of_all(void)
{
    const ct_work_times t = ct_work_times_so_far();
    CHECK(t.serial_s > 0 && t.all_s >= t.serial_s);
}

int main(void)
{
    RUN(test_sequences_come_back_as_they_left);
    RUN(test_files_may_vanish_after_they_were_read);
    RUN(test_a_file_that_is_missing_is_named);
    RUN(test_changes_stay);
    RUN(test_threads_share_the_cache);
    RUN(test_a_limit_that_is_too_small_is_a_sentence);
    RUN(test_what_is_learned_does_not_depend_on_the_limit);
    RUN(test_time_outside_of_parallel_sections_is_part_of_all);
    return ct_test_end();
}
