/* learn.c: covtune learn: options, the outer loop with progress, and the steps in order. */
#define _POSIX_C_SOURCE 200809L
#include "cli/learn/learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

#define X(constant, name) "|" name
static const char DIFFERENCES[] = CT_DIFFERENCE_LIST(X), GRADIENTS[] = CT_GRADIENT_LIST(X),
                  HESSIANS[] = CT_HESSIAN_LIST(X);
#undef X
#define X(constant, name, ...) "|" name
static const char METHODS[] = CT_LEARN_LIST(X);
#undef X
#define X(constant, name, what) "|" name
static const char STARTS[] = CT_START_LIST(X), SCALES[] = CT_SCALE_LIST(X), SCALES_FROM[] = CT_SCALE_FROM_LIST(X),
                  ENTRIES[] = "auto" CT_ENTRY_LIST(X);
#undef X

static int find_from(const char *name) { return !strcmp(name, "closed-form") ? 0 : !strcmp(name, "table") ? 1 : -1; }

static int find_truth(const char *name) { return !strcmp(name, "use") ? 0 : !strcmp(name, "none") ? 1 : -1; }

static int find_space(const char *name)
{
    return !strcmp(name, "variance") ? CT_SPACE_VARIANCE : !strcmp(name, "log") ? CT_SPACE_LOG : -1;
}

static learn_request defaults(void)
{
    const ct_outer_options outer = ct_outer_defaults();
    const ct_learn_options learn = ct_learn_defaults();
    ct_theta_options       theta = ct_theta_defaults();
    theta.option_prefix = "--";
    return (learn_request){.theta = theta,
                           .method = (int)learn.method,
                           .difference = (int)outer.loss.difference,
                           .gradient = (int)outer.gradient,
                           .hessian = (int)outer.hessian,
                           .deployment = learn.deployment.incremental,
                           .deployment_start = (int)learn.deployment.start,
                           .entry = (int)outer.replay.entry,
                           .scale = (int)learn.scale,
                           .scale_from = (int)learn.scale_from,
                           .from = -1,
                           .no_truth = -1,
                           .space = -1,
                           .folds = -1,
                           .seed = -1,
                           .samples = -1,
                           .jobs = cli_processors(),
                           .M = NAN,
                           .rate = NAN,
                           .decay = NAN,
                           .checkpoint_s = 5};
}

#define FROM_CLOSED_FORM    "closed-form"
#define FROM_TABLE          "table"
#define LIMIT_TOTAL         ""
#define LIMIT_PER_PARAMETER " per parameter"
#define X(constant, name, start, iterations, limit, space, traits, text) \
    "\n" name ": " text " (from " FROM_##start ", " #iterations LIMIT_##limit ")"
static const char METHOD_HELP[] = "learning method, with its start and its limit of iterations (lm)" CT_LEARN_LIST(X);
#undef X

/* Rows before "out" define the computation and are written to config.yaml. The others do not change the result. */
#define AT(member) offsetof(learn_request, member)
static const cli_option OPTIONS[] = {
    CLI_ROW_HEADING("What is learned"),
    CLI_ROW_TEXT("learn", "NAME,..", AT(theta.learn),
                 "learn only these noise models or groups (default: all that training sequences use, except first_pose "
                 "and those that dataset.yaml freezes)"),
    CLI_ROW_TEXT("freeze", "NAME,..", AT(theta.freeze),
                 "do not learn these models, groups, or rows such as odom.yaw or odom@1.2"),
    CLI_ROW_TEXT("tie", "NAME=NAME,..", AT(theta.tie), "learn one value for both: odom.x=odom.y, odom@0=odom@1"),
    CLI_ROW_TEXT("full", "NAME,..|all", AT(theta.full),
                 "learn full covariances for these (default: the kind in the dataset)"),
    CLI_ROW_TEXT("diagonal", "NAME,..|all", AT(theta.diagonal), "learn one variance per row for these"),
    CLI_ROW_TEXT("isotropic", "NAME,..|all", AT(theta.isotropic), "learn one variance for all rows of each of these"),
    CLI_ROW_TEXT(
        "model", "'NAME=FORM ..'", AT(model),
        "noise that depends on features of the factors: gps=linear:hdop,speed, range=piecewise:range/6, "
        "gps=network:hdop,speed/16x16; with /shared one function for all rows, with /matrix the logarithm of the "
        "covariance, correlations included. The constant model stays where "
        "held-out recordings show no gain"),
    CLI_ROW_HEADING("Bounds"),
    CLI_ROW_TEXT("bounds", "dataset|wide|loose|tight|LO:HI", AT(theta.bounds),
                 "bounds of all variances. dataset (the default): those of dataset.yaml, and wide for other models. "
                 "wide: 1e-10 to 1e6. The paper's: loose, 0.001 to 1000, and tight, 0.1 to 10. If dataset.yaml gives "
                 "rows a unit, bounds are in squared units"),
    CLI_ROW_TEXT("bound", "NAME=LO:HI,..", AT(theta.bound),
                 "bounds of these models or rows, in units as above: odom.x=1e-4:1,gps=1:100"),
    CLI_ROW_NUMBER("spread", "K", 1, INFINITY, AT(theta.spread),
                   "the largest variance is at most K times the smallest, in units as above (no limit)"),
    CLI_ROW_HEADING("Method"),
    CLI_ROW_CHOICE("method", METHODS + 1, ct_learn_method_find, AT(method), METHOD_HELP),
    CLI_ROW_TEXT("noise", "FILE|RUN", AT(noise),
                 "start values from a noise file or a run folder, in place of the dataset's"),
    CLI_ROW_TEXT("robust", CLI_ROBUST_VALUE, AT(robust), CLI_ROBUST_HELP "; noise.json has them"),
    CLI_ROW_TEXT("bias", "NAME[.ROW..]=PROCESS,..", AT(bias),
                 "errors that last, as states: gps=gauss-markov, odom.yaw=random-walk, range=constant, "
                 "gps=oscillation. PROCESS may have :tau=T (start of the time constant, s or poses), :period=T (of an "
                 "oscillation; without it, it is searched for), :sigma=S (start), :every=T (time between states), "
                 ":as=offset|rate|scale (rate for odometry, else offset), :per=target (one for each landmark). "
                 "Strength, time constant and period are learned; noise.json has them"),
    CLI_ROW_FLAG("learn-kernels", AT(learn_kernels),
                 "learn the widths of kernels first (of max_mixture share and ratio), by likelihood; noise.json has "
                 "them"),
    CLI_ROW_FLAG("repair", AT(repair), CLI_REPAIR_HELP),
    CLI_ROW_CHOICE("from", "closed-form|table", find_from, AT(from),
                   "where the search starts: at the second moments of the residuals at the truth (closed-form), or at "
                   "the start values (table); default: see --method"),
    CLI_ROW_INTEGER("iterations", "N", 1, 1000000, AT(iterations),
                    "limit of iterations of each search: of each candidate and fold, and of the likelihood again after "
                    "thinning; default: see --method. A default per parameter limits evaluations as well"),
    CLI_ROW_CHOICE("space", "variance|log", find_space, AT(space),
                   "nelder-mead, powell: search in variances or in their logarithms (variance)"),
    CLI_ROW_INTEGER("samples", "N", 1, 1000000, AT(samples),
                    "leo: samples around the estimate of each sequence in each iteration (10)"),
    CLI_ROW_NUMBER("rate", "X", 1e-12, 1e12, AT(rate),
                   "leo: learning rate of Adam on precisions, in 1/m^2 or 1/rad^2 (0.1)"),
    CLI_ROW_NUMBER("decay", "X", 1e-3, 1, AT(decay), "leo: factor on the rate after each iteration (0.95)"),
    CLI_ROW_INTEGER("seed", "K", 0, 2147483647, AT(seed), "leo, crs: seed of the random numbers (1)"),
    CLI_ROW_NUMBER("M", "X", 1, 1e9, AT(M), "fw, fw-log: the step is 2 / (X + iteration) (2)"),
    CLI_ROW_CHOICE("gradient", GRADIENTS + 1, ct_gradient_find, AT(gradient),
                   "how derivatives of the loss are computed (adjoint)"),
    CLI_ROW_CHOICE("hessian", HESSIANS + 1, ct_hessian_find, AT(hessian),
                   "Hessian of the inner problem in these derivatives: exact or Gauss-Newton (exact)"),
    CLI_ROW_CHOICE(
        "inner", "batch|isam2", cli_find_solver, AT(inner),
        "how training sequences are estimated: as a batch from the truth, or incrementally from measurements (batch)"),
    CLI_ROW_CHOICE("entry", ENTRIES, cli_find_entry_or_auto, AT(entry),
                   "isam2: where a new pose starts: at the previous pose, at the previous pose moved by the measured "
                   "motion, or at the measured start value; auto, the default, is motion, and previous if measurements "
                   "do not determine initial values of nine in ten poses"),
    CLI_ROW_HEADING("Loss and model selection"),
    CLI_ROW_CHOICE(
        "loss", DIFFERENCES + 1, ct_difference_find, AT(difference),
        "error in the loss: Log(truth^-1 x), in the local frame (local), or Log(x truth^-1), as in the paper (left)"),
    CLI_ROW_TEXT("weights", "T:R", AT(weights), "weights of translations and rotations in the loss (1:1)"),
    CLI_ROW_TEXT("truth-sigma", "M[,RAD]", AT(truth_sigma), CLI_TRUTH_SIGMA_HELP),
    CLI_ROW_CHOICE("truth", "use|none", find_truth, AT(no_truth),
                   "use the truth of the sequences, or learn from the measurements alone, by method likelihood (use)"),
    CLI_ROW_TEXT("prior", "auto|none|W", AT(prior),
                 "lm: weight of the prior towards the closed form; auto: chosen by cross-validation; without folds the "
                 "closed form or the start values are the answer (auto)"),
    CLI_ROW_INTEGER("folds", "K", 0, 1000, AT(folds),
                    "lm: folds of the cross-validation that chooses the prior; 0: none (5)"),
    CLI_ROW_CHOICE("deployment", "auto|batch|isam2", cli_find_solver_or_auto, AT(deployment),
                   "how the estimator runs in deployment, and so how held-out sequences are estimated: batch, or "
                   "incremental (auto: isam2 if measurements determine fewer than nine of ten poses)"),
    CLI_ROW_ALIAS("field", "deployment"),
    CLI_ROW_CHOICE("deployment-start", STARTS + 1, ct_start_find, AT(deployment_start),
                   "where estimates of held-out sequences start (measurements)"),
    CLI_ROW_ALIAS("field-start", "deployment-start"),
    CLI_ROW_CHOICE("scale", SCALES + 1, ct_scale_find, AT(scale),
                   "common factor of all variances, from consistency: fit within the bounds, free of the bounds, or "
                   "none (fit)"),
    CLI_ROW_CHOICE("scale-from", SCALES_FROM + 1, ct_scale_from_find, AT(scale_from),
                   "the consistency that determines this factor: NEES 1 on held-out sequences, or chi-square 1 of the "
                   "residuals. Without truth it is chi2; where NEES agrees with chi2, by its standard error, chi2's "
                   "factor is used, which scatters less (nees)"),
    CLI_ROW_HEADING("Run folder"),
    CLI_ROW_TEXT("out", "RUN", AT(out), "run folder, which is created"),
    CLI_ROW_FLAG("resume", AT(resume),
                 "continue the run in that folder, to the same bits; start a new one if there is none"),
    CLI_ROW_FLAG("force", AT(force), "replace the run in that folder"),
    CLI_ROW_NUMBER("checkpoint-every", "S", 0, 1e6, AT(checkpoint_s), "seconds between checkpoints (5)"),
    CLI_ROW_HEADING("Output"),
    CLI_ROW_PLUGIN,
    CLI_ROW_FLAG("no-doctor", AT(no_doctor),
                 "do not look for mistakes in the data first; covtune doctor looks more closely"),
    CLI_ROW_INTEGER("jobs", "N", 1, CLI_JOBS_MAX, AT(jobs),
                    "sequences estimated in parallel (number of processors); results do not depend on it"),
    CLI_ROW_MEMORY(AT(memory)),
    CLI_ROW_FLAG("check-gradient", AT(check_gradient),
                 "compare all derivatives with central differences of the loss, at the start values and at the closed "
                 "form; learn nothing"),
    CLI_ROW_END,
};
#undef AT

#define MANY_SEQUENCES 500 /* whose evaluation takes long enough to tell how far it is */

/* ---- config.yaml and the command that repeats the run ---- */

static int is_set(const cli_option *o, const learn_request *r)
{
    const void *value = (const char *)r + o->place;
    if (o->type == CLI_NUMBER) return !isnan(*(const double *)value);
    if (o->type == CLI_FLAG) return *(const int *)value; /* a flag is given or not */
    if (o->type == CLI_INTEGER || o->type == CLI_CHOICE) return *(const int *)value >= 0;
    return 1;
}

static void put_word(cli_buffer *out, const char *word)
{
    char *quoted = cli_shell_quote(word);
    cli_buffer_printf(out, " %s", quoted);
    free(quoted);
}

/* job->config has all resolved options, job->command those that differ from the defaults. job->identity is what the
 * digest is made from: config.yaml with the oldest names of the options, so that runs from before a renaming can be
 * resumed. */
static void describe(const cli_io *io, const learn_request *request, learn_job *job)
{
    learn_request usual = defaults();
    cli_buffer    config = {0}, command = {0}, identity = {0};
    usual.method = request->method;
    learn_resolve(&usual);
    usual.method = (int)ct_learn_defaults().method;
    cli_buffer_printf(&config, "%s", LEARN_CONFIG_BEGINS);
    cli_config_line(&config, "dataset", request->path);
    cli_buffer_printf(&command, "covtune learn");
    put_word(&command, request->path);
    cli_buffer_printf(&identity, "\n");
    for (const cli_option *o = OPTIONS; strcmp(o->name, "out"); o++) {
        if (!cli_is_option(o)) continue;
        char        buf[2][64];
        const char *text = is_set(o, request) ? cli_option_text(o, request, buf[0], sizeof buf[0]) : NULL;
        const char *usually = is_set(o, &usual) ? cli_option_text(o, &usual, buf[1], sizeof buf[1]) : NULL;
        cli_config_line(&config, o->name, text);
        cli_config_line(&identity, cli_option_first_name(OPTIONS, o), text);
        if (!text || (usually && !strcmp(text, usually))) continue;
        cli_buffer_printf(&command, " --%s", o->name);
        if (o->type != CLI_FLAG) put_word(&command, text);
    }
    char *const plugin = cli_plugin_words(io);
    cli_buffer_printf(&command, "%s", plugin);
    free(plugin);
    for (int k = 0; k < 2 && request->iterations < 0; k++)
        cli_buffer_printf(k ? &identity : &config, "# iterations: %d a parameter\n",
                          learn_method_info(request)->iterations);
    job->identity = identity.text;
    job->config = config.text;
    job->command = command.text;
}

/* ---- progress ---- */

typedef struct {
    const learn_request *request;
    learn_job           *job;
    cli_progress         bar;
    ct_learn_phase       phase;
    double               done;
    /* the last finite loss of this phase; NaN: none yet */
    double               loss;
    char                 text[192];
} watcher;

/* Within an evaluation, which may take long. */
static void visited(void *user, int64_t done, int64_t count)
{
    const learn_job *job = user;
    watcher         *w = job->watcher;
    if (w && count >= MANY_SEQUENCES)
        cli_progress_show(&w->bar, w->done, "%s, sequence %lld of %lld", w->text, (long long)done, (long long)count);
}

/* ---- preparing ---- */

static ct_outer_options outer_options(const learn_request *r)
{
    ct_outer_options o = ct_outer_defaults();
    o.loss.difference = (ct_difference)r->difference;
    learn_parse_weights(r->weights, &o.loss.translation, &o.loss.rotation);
    o.gradient = (ct_gradient)r->gradient;
    o.hessian = (ct_hessian)r->hessian;
    o.jobs = r->jobs;
    o.comm = cli_comm();
    o.incremental = r->inner;
    o.replay.entry = (ct_entry)r->entry;
    o.no_truth = r->no_truth == 1;
    return o;
}

static ct_learn_options learn_options(const learn_request *r)
{
    ct_learn_options o = ct_learn_defaults();
    o.method = (ct_learn_method)r->method;
    o.max_iterations = r->iterations > 0 ? r->iterations : 0;
    o.deployment.start = (ct_start)r->deployment_start;
    o.deployment.incremental = r->deployment;
    o.deployment.replay.entry = (ct_entry)r->entry;
    o.scale = (ct_scale)r->scale;
    o.learn_kernels = r->learn_kernels;
    o.scale_from = (ct_scale_from)r->scale_from;
    if (!isnan(r->M)) o.M = r->M;
    if (r->from >= 0) o.from_table = r->from;
    if (r->space >= 0) o.space = (ct_space)r->space;
    if (r->samples > 0) o.leo.samples = r->samples;
    if (!isnan(r->rate)) o.leo.rate = r->rate;
    if (!isnan(r->decay)) o.leo.decay = r->decay;
    if (r->seed >= 0) o.seed = (uint64_t)r->seed;
    if (r->folds >= 0) o.folds = r->folds;
    if (r->prior && strcmp(r->prior, "auto")) o.prior = strcmp(r->prior, "none") ? strtod(r->prior, NULL) : 0;
    return o;
}

static ct_status check_truth(const learn_request *request, const ct_dataset *dataset, ct_err *err)
{
    if (request->no_truth == 1 || !dataset->trains) return CT_OK;
    for (int32_t i = 0; i < dataset->trains; i++)
        if (dataset->train[i]->truth) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT,
                   "%s: no sequence has truth to learn from; --truth none learns from the measurements alone",
                   request->path);
}

/* Time constants of biases: learned, or, where only the digest of a run is wanted, those that it had. */
static ct_status find_time_constants(const cli_io *io, const ct_outer_options *options, const char *known,
                                     learn_job *job, ct_err *err)
{
    ct_dataset *d = job->dataset;
    ct_noise   *had = NULL;
    cli_status_show(io, "learning time constants of biases");
    if (!known) {
        const ct_status status = ct_learn_time_constants(d->trains, d->train, d->noise, job->theta, options, NULL, err);
        cli_status_clear();
        return status;
    }
    ct_status status = ct_noise_copy(d->noise, &had, err);
    if (status == CT_OK) status = ct_noise_read(had, known, err);
    for (int32_t g = 0; status == CT_OK && g < ct_noise_count(d->noise); g++)
        if (ct_noise_get(d->noise, g)->bias)
            status = ct_noise_set_bias(d->noise, g, ct_noise_get(had, g)->bias, err);
    ct_noise_free(had);
    return status == CT_OK ? ct_dataset_apply_biases(d, err) : status;
}

static int has_biases(const ct_noise *noise)
{
    for (int32_t g = 0; g < ct_noise_count(noise); g++)
        if (ct_noise_get(noise, g)->bias) return 1;
    return 0;
}

/* `known`: the start values of the run, or NULL. */
static ct_status prepare(const cli_io *io, const learn_request *request, const char *known, learn_job *job, ct_err *err)
{
    ct_outer_options options = outer_options(request);
    cli_io           reader = *io;
    options.visited = visited;
    options.user = job;
    reader.repair = request->repair;
    reader.jobs = request->jobs;
    (void)cli_check_memory(io, request->memory, &reader.memory); /* checked with the other options */
    ct_status status = cli_read_dataset(&reader, request->path, CT_DATASET_TRAIN, &job->dataset, err);
    if (status == CT_OK) status = cli_set_truth_sigma(request->truth_sigma, job->dataset, err);
    if (status == CT_OK) status = cli_check_anchored(request->path, job->dataset->trains, job->dataset->train, err);
    if (status == CT_OK) status = check_truth(request, job->dataset, err);
    if (status != CT_OK) return status;
    status = learn_theta(io, request, job, err);
    if (status == CT_OK && has_biases(job->dataset->noise))
        status = find_time_constants(io, &options, known, job, err);
    if (status == CT_OK) status = ct_noise_copy(job->dataset->noise, &job->start, err);
    if (status == CT_OK)
        status = ct_outer_new(job->dataset->trains, (const ct_sequence *const *)job->dataset->train,
                              job->dataset->noise, job->theta, &options, &job->outer, err);
    if (status == CT_OK)
        status = ct_learn_default_bounds(job->outer, (ct_learn_method)request->method, job->theta, err);
    if (status != CT_OK) return status;
    status = learn_check_functions(request, job, err);
    if (status != CT_OK) return status;
    job->options = learn_options(request);
    job->options.given = request->noise || ct_dataset_start_given(job->dataset);
    job->digest = ct_outer_digest(job->outer, job->identity);
    return CT_OK;
}

static void release(learn_job *job)
{
    ct_learn_result_free(&job->result);
    ct_conditional_result_free(&job->functions);
    free(job->forms);
    ct_outer_free(job->outer);
    ct_checkpoint_free(job->checkpoint);
    ct_theta_free(job->theta);
    ct_noise_free(job->start);
    ct_dataset_free(job->dataset);
    ct_diagnosis_free(job->diagnosis);
    learn_folder_free(&job->folder);
    free(job->command);
    free(job->config);
    free(job->identity);
}

/* ---- for readers of a run folder ---- */

cli_exit learn_read_config(cli_io *io, const char *path, learn_request *request, cli_config **held)
{
    *request = defaults();
    const cli_exit code = cli_config_read(io, path, "dataset", OPTIONS, request, &request->path, held);
    if (code != CLI_GO) return code;
    if (!request->path)
        return cli_fail(io, "%s: the dataset is missing; add a line \"dataset: PATH\"", path);
    io->file = path;
    const cli_exit checked = learn_check_values(io, request);
    io->file = NULL;
    if (checked != CLI_GO) return CLI_FAILED; /* a mistake in a file is not misuse of the command line */
    learn_resolve(request);
    return CLI_GO;
}

ct_inference learn_deployment(const learn_request *request) { return learn_options(request).deployment; }

ct_loss learn_loss(const learn_request *request) { return outer_options(request).loss; }

ct_status learn_digest(const cli_io *io, const learn_request *request, const char *dataset, const char *start,
                       uint64_t *digest, ct_err *err)
{
    learn_job     job = {0};
    learn_request now = *request;
    cli_io        silent = *io;
    silent.quiet = 1;
    describe(io, request, &job); /* with the paths of the original run */
    now.path = dataset;
    if (now.noise) now.noise = start;
    const ct_status status = prepare(&silent, &now, start, &job, err);
    *digest = job.digest;
    release(&job);
    return status;
}

/* ---- learning ---- */

static void show(watcher *w, const ct_learn_progress *p)
{
    char step[48] = "", loss[48] = "", heldout[48] = "";
    if (w->phase != p->phase) w->loss = NAN; /* losses of folds are over fewer sequences */
    w->phase = p->phase;
    if (isfinite(p->train)) w->loss = p->train;
    if (p->iterations > 0) snprintf(step, sizeof step, " %d of at most %d", p->iteration, p->iterations);
    if (isfinite(w->loss)) snprintf(loss, sizeof loss, ", loss %.5g", w->loss);
    if (isfinite(p->heldout)) snprintf(heldout, sizeof heldout, ", held out %.5g", p->heldout);
    w->done = p->done;
    snprintf(w->text, sizeof w->text, "%s%s%s%s", ct_learn_phase_name(p->phase), step, loss, heldout);
    cli_progress_show(&w->bar, p->done, "%s", w->text);
}

static int watch(void *user, const ct_learn_progress *p)
{
    watcher *w = user;
    show(w, p);
    return learn_record(w->request, w->job, p) || cli_interrupted();
}

static ct_status learn(const cli_io *io, const learn_request *request, learn_job *job, ct_err *err)
{
    watcher w = {.request = request, .job = job, .bar = cli_progress_new(io, 1), .loss = NAN};
    snprintf(w.text, sizeof w.text, "beginning");
    job->watcher = &w;
    job->options.progress = watch;
    job->options.user = &w;
    cli_interrupt_begin(io, "stopping at the best so far");
    cli_progress_show(&w.bar, 0, "beginning");
    ct_status status = learn_examine_begin(request, job, err);
    if (status == CT_OK && job->forms) {
        const ct_outer_options how = outer_options(request);
        cli_progress_show(&w.bar, 0, "functions of features");
        status = learn_functions(&how, job, err);
    }
    if (status == CT_OK) ct_outer_set_checkpoint(job->outer, job->checkpoint);
    if (status == CT_OK) status = ct_learn(job->outer, &job->options, job->dataset->noise, &job->result, err);
    job->watcher = NULL;
    const ct_status examined = learn_examine_end(job, status == CT_OK ? err : NULL);
    if (status == CT_OK) status = examined;
    if (status == CT_OK) status = learn_add_diagnosis(job, err);
    cli_interrupt_end();
    cli_status_clear();
    if (job->folder.status != CT_OK) { /* a file could not be written, so learning was stopped */
        *err = job->folder.err;
        status = job->folder.status;
    }
    return status;
}

static cli_exit finish(const cli_io *io, const learn_request *request, learn_job *job)
{
    ct_err          err = {0};
    json_t         *summary = learn_json(request, job);
    const ct_status status = learn_close(job, summary, &err);
    if (io->json) cli_print_json(summary);
    else {
        json_decref(summary);
        if (!io->quiet) learn_print(io, request, job);
    }
    if (status != CT_OK) return cli_fail(io, "%s", err.text);
    if (job->result.stop != CT_LEARN_STOP_CANCELLED) return CLI_DONE;
    char *config = cli_shell_quote(job->folder.config), *out = cli_shell_quote(request->out);
    char *plugin = cli_plugin_words(io);
    cli_fail(io, "interrupted; the best so far is in %s. To continue:", job->folder.noise);
    cli_print_command("covtune learn %s%s --out %s --resume", config, plugin, out);
    free(plugin);
    free(config);
    free(out);
    return CLI_INTERRUPTED;
}

static cli_exit carry_out(const cli_io *io, const learn_request *request, learn_job *job)
{
    ct_err err = {0};
    describe(io, request, job);
    ct_status status = prepare(io, request, NULL, job, &err);
    if (status != CT_OK) return cli_fail(io, "%s", err.text);
    if (request->check_gradient) return learn_check(io, job);
    status = learn_check_deployment(request, job, &err);
    /* before anything is written */
    if (status == CT_OK) status = ct_learn_check(job->outer, (ct_learn_method)request->method, &err);
    if (status != CT_OK) return cli_fail(io, "%s", err.text);
    const cli_exit code = learn_open_folder(io, request, job);
    if (code != CLI_GO) return code;
    status = learn_open(request, job, &err);
    if (status == CT_OK) status = learn(io, request, job, &err);
    if (status != CT_OK) return cli_fail(io, "%s", err.text);
    return finish(io, request, job);
}

static cli_exit run(const cli_command *command, int argc, char **argv)
{
    learn_request request = defaults();
    cli_io        io;
    cli_config   *config = NULL;
    const char   *operand;
    cli_exit      code = cli_parse(command, &request, argc, argv, &io, &operand);
    if (code != CLI_GO) return code;
    const learn_request given = request;
    request.path = operand;
    if (cli_is_config(operand, "dataset")) {
        request = defaults();
        code = cli_config_read(&io, operand, "dataset", OPTIONS, &request, &request.path, &config);
        /* the command line overrides the file */
        if (code == CLI_GO) code = cli_parse(command, &request, argc, argv, &io, &operand);
    }
    if (code == CLI_GO) code = learn_check_options(&io, &request, &given);
    if (code == CLI_GO) code = learn_refuse_unused(&io, &request, argc, argv);
    if (code == CLI_GO) {
        learn_job job = {0};
        learn_resolve(&request);
        io.repair = request.repair;
        code = carry_out(&io, &request, &job);
        cli_print_times(job.dataset);
        release(&job);
        code = cli_finish(&io, code);
    }
    cli_config_free(config);
    return code;
}

const cli_command cli_learn = {
    .name = "learn",
    .brief = "learn noise covariances from sequences with ground truth",
    .operands = "DATASET|CONFIG",
    .needs = "--out RUN",
    .least = 1,
    .most = 1,
    .text = "Finds the noise covariances for which estimates of the training sequences are closest to their ground "
            "truth, within hard bounds, and writes them to RUN/noise.json. The loss determines the ratios of "
            "variances. Estimates do not depend on the common factor of all variances; consistency determines it.\n"
            "A dataset is a folder with dataset.yaml, a folder with train and test, a folder of sequence files, or one "
            "sequence file. A config is a YAML file with `dataset:` and any of these options; RUN/config.yaml repeats "
            "a run.\n"
            "RUN also has start.json, history.jsonl (one line per evaluation), summary.json (what --json prints) and "
            "checkpoint. --resume continues a killed run. Ctrl-C stops at the best so far, with exit code 130.\n",
    .example = "  covtune simulate nav2d --dataset D3 --train 5 --test 20 --out D3\n"
               "  covtune learn D3 --out run\n"
               "  covtune eval D3 --noise run/noise.json --against run/start.json\n",
    .options = OPTIONS,
    .run = run,
};
