/* run.c: learn from a dataset, and what the result says row by row. */
#include "base/base.h"

#include <covtune/api.h>

#include <math.h>

struct ct_run {
    ct_theta       *theta;
    ct_noise       *start, *noise; /* before and after */
    ct_learn_result result;
    uint64_t        digest;
    char           *dataset;
    int32_t         rows;
    struct place {
        int32_t model;
        int     row;
    } *row;
};

ct_run_options ct_run_defaults(void)
{
    return (ct_run_options){.theta = ct_theta_defaults(),
                            .folds = ct_learn_defaults().folds,
                            .seed = ct_learn_defaults().seed,
                            .jobs = 1};
}

void ct_run_free(ct_run *run)
{
    if (!run) return;
    ct_theta_free(run->theta);
    ct_noise_free(run->start);
    ct_noise_free(run->noise);
    ct_learn_result_free(&run->result);
    free(run->dataset);
    free(run->row);
    free(run);
}

/* ---- Options --------------------------------------------------------------------------------- */

/* A choice by name: *out <- its number, which stays if the name is NULL. */
static ct_status choose(const char *what, const char *name, int found, int *out, ct_err *err)
{
    if (!name) return CT_OK;
    if (found < 0) return ct_fail(err, CT_E_ARGUMENT, "%s \"%s\" is not one", what, name);
    *out = found;
    return CT_OK;
}

static int find_inference(const char *name)
{
    return !name                   ? -1
           : !strcmp(name, "auto")  ? CT_INFERENCE_AUTO
           : !strcmp(name, "batch") ? 0
           : !strcmp(name, "isam2") ? 1
                                    : -1;
}

static ct_status translate(const ct_run_options *options, ct_outer_options *outer, ct_learn_options *learn, ct_err *err)
{
    int method, difference;
    *outer = ct_outer_defaults();
    *learn = ct_learn_defaults();
    method = (int)learn->method;
    difference = (int)outer->loss.difference;
    CT_TRY(choose("method", options->method, ct_learn_method_find(options->method), &method, err));
    CT_TRY(choose("loss", options->loss, ct_difference_find(options->loss), &difference, err));
    CT_TRY(choose("deployment", options->deployment, find_inference(options->deployment),
                  &learn->deployment.incremental, err));
    if (options->jobs < 1) return ct_fail(err, CT_E_ARGUMENT, "jobs are %d, and must be at least 1", options->jobs);
    if (options->max_iterations < 0)
        return ct_fail(err, CT_E_ARGUMENT, "max_iterations are %d, and must not be negative", options->max_iterations);
    learn->method = (ct_learn_method)method;
    learn->max_iterations = options->max_iterations;
    learn->folds = options->folds;
    learn->seed = options->seed;
    learn->progress = options->progress;
    learn->user = options->user;
    outer->loss.difference = (ct_difference)difference;
    outer->jobs = options->jobs;
    return CT_OK;
}

/* ---- Learning -------------------------------------------------------------------------------- */

/* A full model has all its rows, a diagonal one those that are learned, an isotropic one the first. */
static int has_row(const ct_run *run, int32_t model, int row)
{
    if (!ct_theta_learns(run->theta, model)) return 0;
    const ct_noise_kind kind = ct_noise_get(run->noise, model)->kind;
    if (kind == CT_NOISE_FULL) return 1;
    if (kind == CT_NOISE_ISOTROPIC) return row == 0;
    return ct_theta_find(run->theta, model, row) >= 0;
}

static ct_status list_rows(ct_run *run, ct_err *err)
{
    const int64_t most = (int64_t)ct_noise_count(run->noise) * CT_NOISE_DIM_MAX;
    run->row = ct__zalloc(most, sizeof *run->row);
    if (!run->row) return ct__no_memory(err, "rows", most);
    for (int32_t m = 0; m < ct_noise_count(run->noise); m++)
        for (int r = 0; r < ct_noise_get(run->noise, m)->dim; r++)
            if (has_row(run, m, r)) run->row[run->rows++] = (struct place){m, r};
    return CT_OK;
}

static ct_status learn(ct_run *run, ct_dataset *d, const ct_run_options *options, ct_err *err)
{
    ct_outer_options outer_options;
    ct_learn_options learn_options;
    ct_outer        *outer = NULL;
    int32_t         *pooled = NULL, count;
    CT_TRY(translate(options, &outer_options, &learn_options, err));
    if (!d->trains) return ct_fail(err, CT_E_ARGUMENT, "the dataset has no training sequences to learn from");
    CT_TRY(ct_dataset_pool_learned(d, &options->theta, &pooled, &count, err));
    free(pooled);
    CT_TRY(ct_dataset_theta(d, &options->theta, &run->theta, err));
    CT_TRY(ct_learn_time_constants(d->trains, d->train, d->noise, run->theta, &outer_options, NULL, err));
    learn_options.given = ct_dataset_start_given(d);
    CT_TRY(ct_noise_copy(d->noise, &run->start, err));
    CT_TRY(ct_noise_copy(d->noise, &run->noise, err));
    if (d->path && !(run->dataset = ct__strdup(d->path))) return ct__no_memory(err, "names", 1);
    CT_TRY(ct_outer_new(d->trains, (const ct_sequence *const *)d->train, d->noise, run->theta, &outer_options, &outer,
                        err));
    ct_status status = ct_learn_default_bounds(outer, learn_options.method, run->theta, err);
    run->digest = ct_outer_digest(outer, NULL);
    if (status == CT_OK) status = ct_learn(outer, &learn_options, run->noise, &run->result, err);
    ct_outer_free(outer);
    return status == CT_OK ? list_rows(run, err) : status;
}

ct_status ct_run_learn(ct_dataset *dataset, const ct_run_options *options, ct_run **out, ct_err *err)
{
    const ct_run_options defaults = ct_run_defaults();
    *out = NULL;
    if (!dataset) return ct_fail(err, CT_E_ARGUMENT, "there is no dataset to learn from");
    ct_run *run = ct__zalloc(1, sizeof *run);
    if (!run) return ct__no_memory(err, "runs", 1);
    const ct_status status = learn(run, dataset, options ? options : &defaults, err);
    if (status == CT_OK) *out = run;
    else ct_run_free(run);
    return status;
}

/* ---- The result ------------------------------------------------------------------------------ */

static ct_status no_run(ct_err *err) { return ct_fail(err, CT_E_ARGUMENT, "there is no run"); }

ct_status ct_run_get_info(const ct_run *run, ct_run_info *out, ct_err *err)
{
    *out = (ct_run_info){.stop = "none", .meaning = "nothing was learned"};
    if (!run) return no_run(err);
    const ct_learn_result *r = &run->result;
    *out = (ct_run_info){.stop = ct_learn_stop_name(r->stop),
                         .meaning = ct_learn_stop_meaning(r->stop),
                         .incremental = r->incremental,
                         .evaluations = r->evaluations,
                         .inner_solves = r->inner_solves,
                         .loss_start = r->loss_start,
                         .loss = r->loss_train,
                         .loss_closed_form = r->loss_closed_form,
                         .loss_heldout = r->loss_heldout,
                         .loss_heldout_start = r->loss_heldout_start,
                         .loss_heldout_closed_form = r->loss_heldout_closed_form,
                         .chi_squared = r->chi_after,
                         .nees = r->nees_after,
                         .spread = r->spread,
                         .rows = run->rows,
                         .findings = r->findings.count};
    return CT_OK;
}

static double sigma_of(const ct_noise_model *m, int row)
{
    return sqrt(m->covariance[m->kind == CT_NOISE_FULL ? row * m->dim + row : row]);
}

ct_status ct_run_row(const ct_run *run, int32_t i, ct_row *out, ct_err *err)
{
    *out = (ct_row){.model = "", .index = -1, .row = -1, .name = "", .unit = ""};
    if (!run) return no_run(err);
    if (i < 0 || i >= run->rows)
        return ct_fail(err, CT_E_ARGUMENT, "row %d is not one of the %d rows of the run", i, run->rows);
    const struct place    at = run->row[i];
    const ct_noise_model *m = ct_noise_get(run->noise, at.model);
    const int32_t         parameter = ct_theta_find(run->theta, at.model, at.row);
    const double          unit = ct_theta_unit(run->theta, at.model, at.row);
    double                standard_error[CT_NOISE_DIM_MAX], lower = NAN, upper = NAN;
    int8_t                at_bound[CT_NOISE_DIM_MAX];
    ct_learn_rows(run->theta, &run->result, at.model, standard_error, at_bound);
    if (m->kind != CT_NOISE_FULL && parameter >= 0) ct_theta_bounds(run->theta, parameter, &lower, &upper);
    *out = (ct_row){.model = m->name,
                    .index = at.model,
                    .row = at.row,
                    .name = m->row && m->kind != CT_NOISE_ISOTROPIC ? m->row[at.row].name : "",
                    .unit = m->row ? m->row[at.row].unit : "",
                    .sigma_start = sigma_of(ct_noise_get(run->start, at.model), at.row),
                    .sigma = sigma_of(m, at.row),
                    .lower = sqrt(lower) * unit,
                    .upper = sqrt(upper) * unit,
                    .at_bound = at_bound[at.row]};
    out->sigma_error = 0.5 * standard_error[at.row] * out->sigma; /* d sigma = sigma / 2 d log variance */
    return CT_OK;
}

const ct_finding *ct_run_finding(const ct_run *run, int32_t i)
{
    return run && i >= 0 && i < run->result.findings.count ? &run->result.findings.item[i] : NULL;
}

const ct_noise *ct_run_noise(const ct_run *run) { return run ? run->noise : NULL; }

ct_status ct_run_write(const ct_run *run, const char *path, ct_err *err)
{
    if (!run) return no_run(err);
    if (!path) return ct_fail(err, CT_E_ARGUMENT, "there is no path to write to");
    const ct_learn_origin origin = {.dataset = run->dataset,
                                    .digest = run->digest,
                                    .finished = run->result.stop != CT_LEARN_STOP_CANCELLED};
    return ct_learn_write_noise(run->theta, run->noise, run->start, &run->result, &origin, path, err);
}
