/* run_test.h: a tuning without a file, for tests of runs: two parameters a and b, logs whose truth is x = t, y = 0, a
 * program that is told by words. */
#ifndef RUN_TEST_H
#define RUN_TEST_H

#include "ct_test.h"
#include "tune/run.h"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>

enum { TEST_LOGS = 3 };

typedef struct {
    ct_tuning         tuning;
    char              root[2048], runs[2100], truth[2100], config[2100];
    ct_tune_parameter parameter[2];
    ct_tune_log       public_log[TEST_LOGS];
    ct__tune_log      log[TEST_LOGS];
    char             *log_name[1], *log_path[1];
    ct__tune_file     file[1];
    ct__tune_place    place[4];
    char             *word[16], *environment[2], *score[16];
} test_tuning;

static inline void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0);
    if (file) fclose(file);
}

static inline int exists(const char *path) { return access(path, F_OK) == 0; }

/* Lines of a file; 0: it is not there. */
static inline int64_t line_count(const char *path)
{
    FILE   *file = fopen(path, "r");
    int64_t lines = 0;
    for (int c; file && (c = fgetc(file)) != EOF;) lines += c == '\n';
    if (file) fclose(file);
    return lines;
}

static inline void write_truth(const char *path)
{
    FILE *file = fopen(path, "w");
    for (int i = 0; i < 100; i++) fprintf(file, "%.1f %.9f 0 0 0 0 0 1\n", 0.1 * i, 0.1 * i);
    fclose(file);
}

/* The words of a command, ended by NULL; kept by the caller. */
static inline ct__tune_words words_of(char *into[16], const char *const words[])
{
    ct__tune_words out = {.word = into};
    for (; words[out.count]; out.count++) into[out.count] = (char *)(uintptr_t)words[out.count];
    return out;
}
#define WORDS(into, ...) words_of(into, (const char *const[]){__VA_ARGS__, NULL})

/* In a folder of its own, made anew. */
static inline void make_tuning(test_tuning *t, const char *name)
{
    ct_err err = {0};
    memset(t, 0, sizeof *t);
    char folder[1024];
    CHECK(realpath(ct_test_folder(), folder) != NULL);
    snprintf(t->root, sizeof t->root, "%s/%s", folder, name);
    CHECK(ct_folder_remove(t->root, NULL) == CT_OK);
    CHECK_OK(ct__make_folders(t->root, &err), err);
    snprintf(t->runs, sizeof t->runs, "%s/runs", t->root);
    snprintf(t->truth, sizeof t->truth, "%s/truth.tum", t->root);
    snprintf(t->config, sizeof t->config, "%s/estimator.txt", t->root);
    write_truth(t->truth);
    write_file(t->config, "# numbers\na {{a}}\nb {{b}} and {{b}}\n");
    t->parameter[0] = (ct_tune_parameter){.name = "a", .start = 1, .lower = -10, .upper = 10, .tie = -1, .group = -1};
    t->parameter[1] = (ct_tune_parameter){.name = "b", .start = 2, .lower = -10, .upper = 10, .tie = -1, .group = -1};
    t->log_name[0] = (char *)(uintptr_t) "log";
    t->log_path[0] = t->truth;
    for (int i = 0; i < TEST_LOGS; i++) {
        t->public_log[i] = (ct_tune_log){.name = "l", .recording = "l"};
        t->log[i] = (ct__tune_log){.truth = t->truth, .files = 1, .file_name = t->log_name, .file_path = t->log_path};
    }
    t->file[0] = (ct__tune_file){.name = (char *)(uintptr_t) "params", .path = t->config};
    t->tuning = (ct_tuning){.path = (char *)(uintptr_t) "tune.yaml",
                            .folder = t->root,
                            .time_limit_s = 20,
                            .parameter = t->parameter,
                            .public_log = t->public_log,
                            .log = t->log,
                            .problem = {.parameters = 2, .logs = TEST_LOGS},
                            .estimate_options = ct_trajectory_defaults(),
                            .truth_options = ct_trajectory_defaults(),
                            .track = ct_track_defaults()};
    t->tuning.problem.parameter = t->parameter;
    t->tuning.problem.log = t->public_log;
}

/* {params} is a copy of estimator.txt with the values. */
static inline void add_config(test_tuning *t)
{
    ct_err err = {0};
    CHECK_OK(ct_config_read(t->config, CT_CONFIG_AUTO, &t->file[0].config, &err), err);
    t->tuning.files = 1;
    t->tuning.file = t->file;
    t->tuning.place = t->place;
    for (int p = 0; p < 2; p++) {
        int32_t first, count;
        CHECK_OK(ct_config_find(t->file[0].config, p ? "{{b}}" : "{{a}}", &first, &count, &err), err);
        for (int32_t i = 0; i < count; i++)
            t->place[t->tuning.places++] = (ct__tune_place){.kind = CT__PLACE_FILE, .parameter = p, .place = first + i};
    }
}

static inline ct_tune_queue *open_queue(test_tuning *t, int jobs, int keep)
{
    const ct_tuning_local local = {.jobs = jobs, .folder = t->runs, .keep = keep};
    ct_tune_queue        *queue = NULL;
    ct_err                err = {0};
    CHECK_OK(ct_tuning_queue(&t->tuning, &local, &queue, &err), err);
    return queue;
}

/* One run, waited for. */
static inline ct_tune_outcome run_once(ct_tune_queue *queue, int32_t log, int32_t repeat, double a, double b)
{
    ct_tune_outcome outcome = {0};
    ct_err          err = {0};
    int64_t         ticket = -1;
    const double    value[2] = {a, b};
    CHECK_OK(queue->submit(queue->user, &(ct_tune_request){7, log, repeat, value}, &err), err);
    for (int i = 0; i < 600 && ticket < 0 && !err.text[0]; i++)
        CHECK_OK(queue->collect(queue->user, 0.1, &ticket, &outcome, &err), err);
    CHECK(ticket == 7);
    return outcome;
}

#endif
