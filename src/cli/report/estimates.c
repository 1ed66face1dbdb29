/* estimates.c: the runs of the dataset, estimated under the noise models before and after, as in deployment; and
 * which of them are shown.
 *
 * An estimate with its covariances and its condition number is a task of its own; tasks write to places of their
 * own, on a few threads. */
#define _POSIX_C_SOURCE 200809L
#include "cli/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SHOW_EVERY 0.1 /* s: faster than that nobody reads */

/* ---- the dataset ---- */

/* The test runs, or, where there are none, those that were learned from. */
static ct_status read_part(const cli_io *io, report_job *job, ct_err *err)
{
    job->part = CT_DATASET_TEST;
    const ct_status status = cli_read_dataset(io, job->path, CT_DATASET_TEST, &job->dataset, err);
    if (status != CT_E_PARSE || !strstr(err->text, "no test runs")) return status;
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
    for (int side = BEFORE; side <= AFTER; side++) {
        ct_status status = ct_noise_copy(job->dataset->noise, &job->table[side], err);
        if (status == CT_OK) status = ct_noise_read(job->table[side], side == BEFORE ? job->start : job->noise, err);
        for (int32_t i = 0; status == CT_OK && i < job->count; i++)
            status = ct_graph_check_noise(job->track[i].seq->graph, job->table[side], err);
        if (status != CT_OK) return status;
    }
    return CT_OK;
}

static ct_status take_runs(report_job *job, ct_err *err)
{
    const ct_dataset *d = job->dataset;
    const ct_loss     all = ct_loss_defaults();
    job->count = job->part == CT_DATASET_TEST ? d->tests : d->trains;
    job->track = cli_alloc(job->count, sizeof *job->track);
    for (int32_t i = 0; i < job->count; i++) {
        job->track[i].seq = job->part == CT_DATASET_TEST ? d->test[i] : d->train[i];
        if (!ct_loss_terms(&all, job->track[i].seq))
            return ct_fail(err, CT_E_ARGUMENT,
                           "%s: sequence %s has no truth to compare with" CLI_GIVE_TRUTH
                           ", --dataset none does without",
                           job->path, report_name(job->track[i].seq));
    }
    return CT_OK;
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
                "The training runs of %s are not, or no longer, those that were learned from: their digest is %s, that "
                "of the run %s. What is compared here are the data as they are now.",
                job->path, now, was ? was : "not known");
    cli_remark(io, "%s: these are not, or no longer, the training runs that were learned from; the report says so",
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
    if (status == CT_OK) status = take_runs(job, &err);
    if (status == CT_OK) status = make_tables(job, &err);
    if (status != CT_OK) return cli_fail(io, "%s", err.text);
    compare_digest(io, job);
    return CLI_GO;
}

/* ---- estimates ---- */

typedef struct {
    const cli_io   *io;
    report_job     *job;
    ct_loss         loss;
    pthread_mutex_t lock; /* guards all below */
    int64_t         next, done, tasks;
    double          begin_s, shown_s;
    int64_t         failed; /* the first task, in their order, that failed; or tasks */
    ct_err          why;
} pool;

static int stop_iteration(void *user, const ct_progress *progress)
{
    (void)user, (void)progress;
    return cli_caught();
}

static int stop_step(void *user, const ct_smoother *smoother, int32_t step, int32_t steps,
                     const ct_smoother_stats *stats)
{
    (void)user, (void)smoother, (void)step, (void)steps, (void)stats;
    return cli_caught();
}

/* Of an estimate that is one: covariances against errors, and how well its system is conditioned. What is singular
 * has neither. */
static ct_status look_closer(const report_job *job, report_track *t, int side, ct_solver *solver, ct_evaluation *of,
                             ct_err *err)
{
    const int32_t n = ct_graph_variables(t->seq->graph);
    t->nees[side] = cli_alloc(n, sizeof *t->nees[side]);
    t->degrees[side] = cli_alloc(n, sizeof *t->degrees[side]);
    ct_status status = ct_nees_each(t->seq, job->table[side], solver, t->x[side], t->nees[side], t->degrees[side], err);
    if (status == CT_OK) {
        ct_consistency *c = &of->consistency;
        c->nees = 0;
        c->nees_degrees = 0;
        for (int32_t v = 0; v < n; v++)
            if (t->degrees[side][v]) c->nees += t->nees[side][v], c->nees_degrees += t->degrees[side][v];
    } else if (status != CT_E_SINGULAR) return status;
    else for (int32_t v = 0; v < n; v++) t->nees[side][v] = NAN, t->degrees[side][v] = 0;
    status = ct_conditioning_at(t->seq->graph, job->table[side], solver, t->x[side], &t->condition[side], err);
    t->conditioned[side] = status == CT_OK;
    return status;
}

static ct_status estimate_one(const pool *p, int64_t task, ct_err *err)
{
    report_job   *job = p->job;
    const int     side = (int)(task % SIDES);
    report_track *t = &job->track[task / SIDES];
    ct_evaluation *of = &job->of[side][task / SIDES];
    ct_solver     *solver = NULL;
    t->x[side] = cli_alloc(ct_graph_size(t->seq->graph), sizeof(double));
    ct_status status = ct_solver_new(t->seq->graph, NULL, &solver, err);
    if (status == CT_OK)
        status = ct_evaluate(t->seq, job->table[side], solver, &job->inference, &p->loss, 0, t->x[side], of, err);
    if (status == CT_OK && eval_usable(of)) status = look_closer(job, t, side, solver, of, err);
    ct_solver_free(solver);
    return status;
}

static void show(pool *p)
{
    const double now = ct_now_s(), spent = now - p->begin_s;
    char         left[48] = "", time[24];
    if (now < p->shown_s + SHOW_EVERY) return;
    p->shown_s = now;
    if (p->done && spent > 1)
        snprintf(left, sizeof left, "; about %s left",
                 cli_time(spent * (double)(p->tasks - p->done) / (double)p->done, time));
    cli_show(p->io, "%lld of %lld sequences%s", (long long)(p->done / SIDES), (long long)(p->tasks / SIDES), left);
}

static void *work(void *user)
{
    pool *p = user;
    pthread_mutex_lock(&p->lock);
    while (p->next < p->tasks && p->failed == p->tasks && !cli_caught()) {
        const int64_t task = p->next++;
        ct_err        err = {0};
        show(p);
        pthread_mutex_unlock(&p->lock);
        const ct_status status = estimate_one(p, task, &err);
        pthread_mutex_lock(&p->lock);
        p->done++;
        if (status == CT_OK || task > p->failed) continue;
        p->failed = task;
        p->why = err;
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* On as many threads as can be had, this one among them. */
static void run_pool(pool *p, int jobs)
{
    pthread_t thread[CLI_JOBS_MAX];
    int       made = 0;
    while (made + 1 < jobs && made + 1 < p->tasks && !pthread_create(&thread[made], NULL, work, p)) made++;
    work(p);
    while (made) pthread_join(thread[--made], NULL);
}

/* ---- which are shown ---- */

/* What learning has changed in a run: the error in position, or, where no position is known, in rotation. */
static double gain(const report_job *job, int32_t i)
{
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

static void summarise(report_job *job)
{
    job->use = cli_alloc(job->count, 1);
    for (int32_t i = 0; i < job->count; i++) {
        job->use[i] = eval_usable(&job->of[BEFORE][i]) && eval_usable(&job->of[AFTER][i]);
        job->averaged += job->use[i];
        for (int side = BEFORE; side <= AFTER; side++) job->failed[side] += eval_failed(&job->of[side][i]);
    }
    for (int side = BEFORE; side <= AFTER; side++) eval_sum(job->of[side], job->count, job->use, job->mean[side]);
    report_find_bodies(job);
}

cli_exit report_estimate(const cli_io *io, const report_request *request, report_job *job)
{
    pool p = {.io = io,
              .job = job,
              .loss = learn_loss(&job->learn),
              .tasks = (int64_t)SIDES * job->count,
              .failed = (int64_t)SIDES * job->count,
              .begin_s = ct_now_s()};
    job->inference = learn_deployment(&job->learn);
    if (request->solver >= 0) job->inference.incremental = request->solver;
    ct_err err = {0};
    if (ct_inference_choose(job->count, job->part == CT_DATASET_TEST ? job->dataset->test : job->dataset->train,
                            &job->inference, &err) != CT_OK)
        return cli_fail(io, "%s", err.text);
    job->inference.solve.progress = stop_iteration;
    job->inference.replay.progress = stop_step;
    for (int side = BEFORE; side <= AFTER; side++) job->of[side] = cli_alloc(job->count, sizeof *job->of[side]);
    if (pthread_mutex_init(&p.lock, NULL)) cli_check_alloc(NULL);
    run_pool(&p, request->jobs);
    cli_hide();
    pthread_mutex_destroy(&p.lock);
    if (cli_caught()) {
        cli_fail(io, "interrupted after %lld of %lld estimates; no report is written", (long long)p.done,
                 (long long)p.tasks);
        return CLI_INTERRUPTED;
    }
    if (p.failed < p.tasks)
        return cli_fail(io, "%s: %s: %s", job->path, report_name(job->track[p.failed / SIDES].seq), p.why.text);
    summarise(job);
    choose(job, request->runs);
    return CLI_GO;
}
