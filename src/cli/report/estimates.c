/* estimates.c: the sequences of the dataset, evaluated (ct_evaluate) under the noise models before and after learning,
 * by the run's deployment inference; and which of them are shown. */
#define _POSIX_C_SOURCE 200809L
#include "cli/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- the dataset ---- */

/* The test sequences, or without any the training sequences. */
static ct_status read_part(const cli_io *io, report_job *job, ct_err *err)
{
    job->part = CT_DATASET_TEST;
    const ct_status status = cli_read_dataset(io, job->path, CT_DATASET_TEST, &job->dataset, err);
    if (status != CT_E_EMPTY) return status;
    job->part = CT_DATASET_TRAIN;
    return cli_read_dataset(io, job->path, CT_DATASET_TRAIN, &job->dataset, err);
}

/* One model for "odom#1", "odom#2", ... where "odom" was learned; then both tables. */
static ct_status make_tables(report_job *job, ct_err *err)
{
    int32_t there = 0;
    for (int32_t i = 0; i < job->rows; i++) {
        const char *name = ct_noise_get(job->file[AFTER], job->row[i].model)->name;
        if (i && job->row[i].model == job->row[i - 1].model) continue;
        const ct_status status = ct_dataset_pool(job->dataset, name, err);
        if (status != CT_OK) return status;
        there += ct_noise_find(job->dataset->noise, name) >= 0;
    }
    if (!there)
        return ct_fail(err, CT_E_ARGUMENT,
                       "%s: none of the noise models that were learned is in it (%s the first); --dataset says where "
                       "the run's dataset is",
                       job->path, ct_noise_get(job->file[AFTER], job->row[0].model)->name);
    for (int32_t g = 0, read = 0; g < ct_noise_count(job->file[AFTER]) && !read; g++) { /* with states of biases */
        read = ct_noise_get(job->file[AFTER], g)->bias != NULL;
        ct_status status = read ? ct_noise_read(job->dataset->noise, job->noise, err) : CT_OK;
        if (status == CT_OK && read) status = ct_dataset_apply_biases(job->dataset, err);
        if (status != CT_OK) return status;
    }
    for (int side = BEFORE; side <= AFTER; side++) {
        ct_status status = ct_noise_copy(job->dataset->noise, &job->table[side], err);
        if (status == CT_OK) status = ct_noise_read(job->table[side], side == BEFORE ? job->start : job->noise, err);
        for (int32_t i = 0; status == CT_OK && i < job->count; i++)
            status = ct_graph_check_noise(job->track[i].seq->graph, job->table[side], err);
        if (status != CT_OK) return status;
    }
    return CT_OK;
}

static void take_runs(report_job *job)
{
    const ct_dataset *d = job->dataset;
    const ct_loss     all = ct_loss_defaults();
    job->count = job->part == CT_DATASET_TEST ? d->tests : d->trains;
    job->track = cli_alloc(job->count, sizeof *job->track);
    for (int32_t i = 0; i < job->count; i++) {
        job->track[i].seq = job->part == CT_DATASET_TEST ? d->test[i] : d->train[i];
        job->with_truth += ct_loss_terms(&all, job->track[i].seq) > 0;
    }
}

/* Is it the data that was learned from? */
static void compare_digest(const cli_io *io, report_job *job)
{
    const char *was = json_string_value(json_object_get(json_object_get(job->noise_json, "provenance"), "digest"));
    char        now[24] = "";
    uint64_t    digest;
    ct_err      err = {0};
    const int   failed = learn_digest(io, &job->learn, job->path, job->start, &digest, &err) != CT_OK;
    if (failed && err.status == CT_E_MEMORY) cli_check_alloc(NULL);
    if (failed) report_warn(job, "Whether %s is what was learned from could not be seen: %s.", job->path, err.text);
    snprintf(now, sizeof now, "%016" PRIx64, digest);
    if (failed || (was && !strcmp(was, now))) return;
    report_warn(job,
                "The training sequences of %s are not those of the run, or have changed: their digest is %s, that of "
                "the run %s. The report is about the data as they are now.",
                job->path, now, was ? was : "not known");
    cli_remark(io, "%s: these are not the training sequences of the run, or they have changed; the report warns of it",
               job->path);
}

cli_exit report_read_dataset(const cli_io *io, const report_request *request, report_job *job)
{
    struct stat entry;
    ct_err      err = {0};
    job->path = request->dataset ? request->dataset : job->learn.path;
    if (!strcmp(job->path, "none")) return CLI_GO;
    if (stat(job->path, &entry) && !request->dataset)
        return cli_fail(io,
                        "%s: %s; it is the dataset that %s names, as seen from where covtune learn was started: "
                        "--dataset PATH says where it is, --dataset none does without",
                        job->path, strerror(errno), job->config);
    ct_status status = read_part(io, job, &err);
    job->truth_sigma = request->truth_sigma ? request->truth_sigma : job->learn.truth_sigma;
    if (status == CT_OK) status = cli_set_truth_sigma(job->truth_sigma, job->dataset, &err);
    if (status == CT_OK) take_runs(job);
    if (status == CT_OK) status = make_tables(job, &err);
    if (status != CT_OK) return cli_fail(io, "%s", err.text);
    compare_digest(io, job);
    return CLI_GO;
}

/* ---- estimates ---- */

typedef struct {
    report_job *job;
    int         side;
    cli_progress     bar;
} watcher;

static int watch(void *user, int32_t done, int32_t count)
{
    watcher     *w = user;
    const double all = (double)w->side * count + done;
    cli_progress_show(&w->bar, all, "%.0f of %.0f estimates", all, w->bar.all);
    return cli_interrupted();
}

/* Values, NEES of each variable and conditioning, for the pictures. A singular system has no NEES. */
static ct_status keep(void *user, int32_t i, const ct_evaluation *evaluation, const ct_estimate *estimate, ct_err *err)
{
    const watcher *w = user;
    const int      side = w->side;
    report_track  *t = &w->job->track[i];
    const int64_t  size = ct_graph_size(t->seq->graph), n = ct_graph_variables(t->seq->graph);
    (void)err;
    t->x[side] = cli_alloc(size, sizeof *t->x[side]);
    memcpy(t->x[side], estimate->x, (size_t)size * sizeof *estimate->x);
    if (!ct_evaluation_has_estimate(evaluation)) return CT_OK;
    t->nees[side] = cli_alloc(n, sizeof *t->nees[side]);
    t->degrees[side] = cli_alloc(n, sizeof *t->degrees[side]);
    for (int64_t v = 0; v < n; v++) {
        t->nees[side][v] = estimate->nees ? estimate->nees[v] : NAN;
        t->degrees[side][v] = estimate->nees ? estimate->nees_degrees[v] : 0;
    }
    t->condition[side] = *estimate->conditioning;
    t->conditioned[side] = 1;
    return CT_OK;
}

/* ---- which are shown ---- */

static double log_density(const ct_innovation *n) { return n->log_density / (double)n->measurements; }

/* The decrease of a sequence's error in position, or without known positions in rotation; without truth the increase of
 * the log density of held-out measurements. */
static double gain(const report_job *job, int32_t i)
{
    if (!job->with_truth)
        return log_density(&job->of[AFTER][i].innovation) - log_density(&job->of[BEFORE][i].innovation);
    const ct_accuracy before = job->of[BEFORE][i].accuracy, after = job->of[AFTER][i].accuracy;
    return isnan(before.translation) ? before.rotation - after.rotation : before.translation - after.translation;
}

/* The most improved, the most worsened, and of the others some, evenly. */
static void choose(report_job *job, int most)
{
    uint8_t *taken = cli_alloc(job->count, 1);
    int32_t  left = 0, best = -1, worst = -1;
    for (int32_t i = 0; i < job->count; i++) {
        if (!job->use[i]) continue;
        left++;
        if (best < 0 || gain(job, i) > gain(job, best)) best = i;
        if (worst < 0 || gain(job, i) < gain(job, worst)) worst = i;
    }
    job->most_improved = best >= 0 && gain(job, best) > 0 ? best : -1;
    job->most_worsened = worst >= 0 && gain(job, worst) < 0 ? worst : -1;
    job->show = cli_alloc(job->count, sizeof *job->show);
    for (int k = 0; k < 2 && job->shown < most; k++) {
        const int32_t one = k ? worst : best;
        if (one < 0 || taken[one]) continue;
        job->show[job->shown++] = one;
        taken[one] = 1;
        left--;
    }
    const int32_t room = left < most - job->shown ? left : most - job->shown;
    for (int32_t i = 0, seen = 0, put = 0; i < job->count && put < room; i++) {
        if (!job->use[i] || taken[i]) continue;
        if ((int64_t)seen++ * room < (int64_t)put * left) continue;
        job->show[job->shown++] = i;
        put++;
    }
    free(taken);
}

/* Both sides are over the sequences that have an estimate on each. */
static void summarise(report_job *job)
{
    job->use = cli_alloc(job->count, 1);
    for (int32_t i = 0; i < job->count; i++)
        job->use[i] = ct_evaluation_counts(&job->of[BEFORE][i]) && ct_evaluation_counts(&job->of[AFTER][i]);
    for (int side = BEFORE; side <= AFTER; side++) {
        ct_summary *s = &job->overall[side];
        if (ct_summarise(job->count, job->of[side], job->use, s, NULL) != CT_OK) cli_check_alloc(NULL);
        job->averaged = s->averaged;
        job->failed[side] = s->failed;
        eval_metrics(s, job->mean[side]);
    }
    report_find_bodies(job);
}

static cli_exit interrupted(const cli_io *io, const report_job *job)
{
    int64_t done = 0;
    for (int side = BEFORE; side <= AFTER; side++)
        for (int32_t i = 0; i < job->count; i++) {
            const ct_stop stop = job->of[side][i].solve.stop;
            done += stop != CT_STOP_NONE && stop != CT_STOP_CANCELLED;
        }
    cli_fail(io, "interrupted after %lld of %lld estimates; no report is written", (long long)done,
             (long long)SIDES * job->count);
    return CLI_INTERRUPTED;
}

cli_exit report_estimate(const cli_io *io, const report_request *request, report_job *job)
{
    ct_sequence *const *seq = job->part == CT_DATASET_TEST ? job->dataset->test : job->dataset->train;
    watcher             w = {.job = job, .bar = cli_progress_new(io, (double)SIDES * job->count)};
    ct_evaluate_options options = ct_evaluate_defaults();
    ct_err              err = {0};
    job->inference = learn_deployment(&job->learn);
    if (request->solver >= 0) job->inference.incremental = request->solver;
    ct_status status = ct_inference_choose(job->count, seq, &job->inference, &err);
    options.inference = job->inference;
    options.loss = learn_loss(&job->learn);
    options.nees = options.conditioning = 1;
    options.innovations = job->with_truth < job->count;
    options.jobs = request->jobs;
    options.progress = watch;
    options.estimate = keep;
    options.user = &w;
    for (int side = BEFORE; side <= AFTER; side++) job->of[side] = cli_alloc(job->count, sizeof *job->of[side]);
    for (int side = BEFORE; side <= AFTER && status == CT_OK && !cli_interrupted(); side++) {
        w.side = side;
        status = ct_evaluate(job->count, seq, job->table[side], &options, job->of[side], NULL, &err);
    }
    cli_status_clear();
    if (cli_interrupted()) return interrupted(io, job);
    if (status != CT_OK) return cli_fail(io, "%s: %s", job->path, err.text);
    summarise(job);
    choose(job, request->drawn);
    return CLI_GO;
}
