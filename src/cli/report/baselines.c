/* baselines.c: what the learned noise models are compared with, besides the start: the reference (the closed form,
 * or the maximum of a likelihood), whose numbers summary.json has, estimated on the same sequences; and the latent
 * noise of simulated data, from latent.json beside the dataset. */
#define _POSIX_C_SOURCE 200809L
#include "cli/report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reference ---- */

/* n numbers of a list, or of a list of lists, row by row. Returns whether there are as many, all finite. */
static int numbers(const json_t *list, int n, double *out)
{
    int used = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        const size_t inner = json_is_array(entry) ? json_array_size(entry) : 1;
        for (size_t k = 0; k < inner && used <= n; k++) {
            const json_t *value = json_is_array(entry) ? json_array_get(entry, k) : entry;
            if (!json_is_number(value) || used == n) return 0;
            out[used++] = json_number_value(value);
        }
    }
    return used == n;
}

/* A copy of `noise` with the reference's numbers in place of the learned ones; NULL where the summary has none. */
static ct_noise *closed_form_of(const report_job *job, const ct_noise *noise)
{
    const json_t *all = json_object_get(job->summary_json, "closed_form"), *group;
    const char *name;
    ct_noise *out = NULL;
    int set = 0, wrong = 0;
    if (!job->finished || !json_object_size(all)) return NULL;
    if (ct_noise_copy(noise, &out, NULL) != CT_OK) cli_check_alloc(NULL);
    json_object_foreach((json_t *)all, name, group)
    {
        const int32_t g = ct_noise_find(out, name);
        double value[CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX];
        if (g < 0) continue;
        const ct_noise_model *m = ct_noise_get(out, g);
        const int full = m->kind == CT_NOISE_FULL;
        const int read =
            numbers(json_object_get(group, full ? "covariance" : "variance"), full ? m->dim * m->dim : m->dim, value);
        const ct_status status = !read  ? CT_E_PARSE
                                 : full ? ct_noise_set_covariance(out, g, value, NULL)
                                        : ct_noise_set_variance(out, g, value, NULL);
        if (status == CT_E_MEMORY) cli_check_alloc(NULL);
        wrong += status != CT_OK;
        set++;
    }
    if (set && !wrong) return out;
    ct_noise_free(out);
    return NULL;
}

typedef struct {
    cli_progress bar;
    const char  *name;
} watcher;

static int watch(void *user, int32_t done, int32_t count)
{
    watcher *w = user;
    cli_progress_show(&w->bar, done, "%s: %d of %d estimates", w->name, done, count);
    return cli_interrupted();
}

const char *report_reference(const report_job *job) { return ct_reference_name(learn_reference(job->summary_json)); }

cli_exit report_estimate_closed_form(const cli_io *io, const report_request *request, report_job *job)
{
    ct_sequence *const *seq = job->part == CT_DATASET_TEST ? job->dataset->test : job->dataset->train;
    ct_noise *noise = closed_form_of(job, job->table[AFTER]);
    watcher w = {.bar = cli_progress_new(io, job->count), .name = report_reference(job)};
    ct_evaluate_options options = ct_evaluate_defaults();
    ct_err err = {0};
    if (!noise) return CLI_GO;
    options.inference = job->inference;
    options.loss = learn_loss(&job->learn);
    options.innovations = job->with_truth < job->count;
    options.jobs = request->jobs;
    options.progress = watch;
    options.user = &w;
    job->closed = cli_alloc(job->count, sizeof *job->closed);
    const ct_status status = ct_evaluate(job->count, seq, noise, &options, job->closed, NULL, &err);
    cli_status_clear();
    ct_noise_free(noise);
    if (cli_interrupted()) {
        cli_fail(io, "interrupted after the estimates, at those of the %s; no report is written", w.name);
        return CLI_INTERRUPTED;
    }
    return status == CT_OK ? CLI_GO : cli_fail(io, "%s: %s", job->path, err.text);
}

/* ---- known sigmas ---- */

static ct_noise *read_latent(const report_job *job)
{
    struct stat entry;
    ct_noise *noise = NULL;
    char *path = cli_path_join(job->path, "latent.json");
    ct_err err = {0};
    if (!stat(path, &entry) && S_ISREG(entry.st_mode)) {
        if (ct_noise_new(&noise, &err) != CT_OK) cli_check_alloc(NULL);
        const ct_status status = ct_noise_read(noise, path, &err);
        if (status == CT_E_MEMORY) cli_check_alloc(NULL);
        if (status != CT_OK) ct_noise_free(noise), noise = NULL;
    }
    free(path);
    return noise;
}

/* Of the row's model in another table; NaN: it has none of that name and size. */
static double sigma_in(const report_job *job, const ct_noise *noise, const report_row *row)
{
    const ct_noise_model *m = ct_noise_get(job->file[AFTER], row->model);
    const int32_t g = noise ? ct_noise_find(noise, m->name) : -1;
    return g >= 0 && ct_noise_get(noise, g)->dim == m->dim ? ct_noise_sigma(ct_noise_get(noise, g), row->row) : NAN;
}

void report_read_baselines(report_job *job)
{
    ct_noise *closed = closed_form_of(job, job->file[AFTER]), *latent = job->dataset ? read_latent(job) : NULL;
    for (int32_t i = 0; i < job->rows; i++) {
        report_row *r = &job->row[i];
        r->closed_form = sigma_in(job, closed, r);
        r->latent = sigma_in(job, latent, r);
        job->closed_form_known = job->closed_form_known || isfinite(r->closed_form);
        job->latent_known = job->latent_known || isfinite(r->latent);
    }
    ct_noise_free(closed);
    ct_noise_free(latent);
}
