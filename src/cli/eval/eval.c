/* eval.c: covtune eval. Estimates the sequences of a dataset and compares with their truth. */
#include "cli/eval/eval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

void eval_metrics(const ct_summary *s, double value[EVAL_COUNT])
{
    value[EVAL_TRANSLATION] = s->accuracy.translation;
    value[EVAL_ROTATION] = s->accuracy.rotation;
    value[EVAL_APE] = s->accuracy.ape_translation;
    value[EVAL_LOSS] = s->loss;
    value[EVAL_CHI_SQUARED] = s->chi_squared;
    value[EVAL_NEES] = s->nees;
    const ct_innovation *n = &s->innovation;
    value[EVAL_INNOVATION] = n->rows ? n->normalised / (double)n->rows : NAN;
    value[EVAL_BEYOND] = n->rows ? (double)n->beyond / (double)n->rows : NAN;
    value[EVAL_LOG_DENSITY] = n->rows ? n->log_density / (double)n->measurements : NAN;
    value[EVAL_ROUGH_TRANSLATION] = s->smoothness.translation;
    value[EVAL_ROUGH_ROTATION] = s->smoothness.rotation;
}

int eval_shows(const eval_request *request, const eval_job *job, int k)
{
    if (k == EVAL_CHI_SQUARED) return 1;
    if (k == EVAL_NEES) return request->nees;
    return k < EVAL_NEES ? job->with_truth > 0 : job->innovations;
}

void eval_sequence_metrics(const ct_evaluation *evaluation, double value[EVAL_COUNT])
{
    ct_summary    one;
    ct_evaluation shown = *evaluation;
    shown.diverged = CT_DIVERGED_NO; /* its numbers are shown, though they are in no mean */
    if (ct_summarise(1, &shown, NULL, &one, NULL) != CT_OK) cli_check_alloc(NULL);
    eval_metrics(&one, value);
}

/* Two columns are comparable: both are means over the sequences that have an estimate in each. After Ctrl-C, or where
 * no sequence has both, each is over the estimates it has, and they are not comparable. */
static void summarise(eval_job *job)
{
    uint8_t *use = job->use = cli_alloc(job->count, 1);
    int      both = 0;
    for (int32_t i = 0; i < job->count; i++) {
        use[i] = 1;
        for (int k = 0; k < job->columns; k++) {
            const ct_evaluation *e = &job->column[k].of[i];
            use[i] = use[i] && ct_evaluation_counts(e);
            job->interrupted = job->interrupted || e->solve.stop == CT_STOP_NONE || e->solve.stop == CT_STOP_CANCELLED;
        }
        both |= use[i];
    }
    job->apart = job->columns > 1 && (job->interrupted || !both);
    for (int k = 0; k < job->columns; k++)
        if (ct_summarise(job->count, job->column[k].of, job->interrupted || job->apart ? NULL : use,
                         &job->column[k].summary, NULL))
            cli_check_alloc(NULL);
}

/* ---- estimates ---- */

static const char START_UNUSED[] = "--start is for batch, and for isam2 with --entry motion or given; with --entry "
                                   "previous isam2 starts a new pose at the one before";

static ct_status list_sequences(const eval_request *request, eval_job *job, ct_err *err)
{
    const ct_dataset *d = job->dataset;
    const ct_loss     all = ct_loss_defaults();
    job->seq = cli_alloc((int64_t)d->trains + d->tests, sizeof *job->seq);
    job->count = ct_dataset_sequences(d, (ct_dataset_part)request->part, job->seq);
    for (int32_t i = 0; i < job->count; i++) {
        const ct_status status = ct_sequence_acquire(job->seq[i], err);
        if (status != CT_OK) return status;
        job->with_truth += ct_loss_terms(&all, job->seq[i]) > 0;
        ct_sequence_release(job->seq[i]);
    }
    job->innovations = request->innovations || job->with_truth < job->count;
    if (request->nees && !job->with_truth)
        return ct_fail(err, CT_E_ARGUMENT,
                       "%s: --nees and --truth-sigma compare with the truth, and no sequence has any" CLI_ADVICE_TRUTH
                       "; without them, eval predicts held-out measurements",
                       request->path);
    return CT_OK;
}

/* The sequences of a column: with states of the biases that its table has. */
static ct_status take_sequences(const eval_job *job, eval_column *column, ct_err *err)
{
    ct_status status = CT_OK;
    column->seq = cli_alloc(job->count, sizeof *column->seq);
    for (int32_t g = 0; g < ct_noise_count(column->noise); g++)
        column->own = column->own || ct_noise_get(column->noise, g)->bias;
    for (int32_t i = 0; status == CT_OK && i < job->count; i++) {
        if (column->own) status = ct_sequence_copy_biased(job->seq[i], column->noise, &column->seq[i], err);
        else column->seq[i] = job->seq[i];
    }
    return status;
}

/* A column of the dataset's own table, or of one with the numbers of a file. */
static ct_status add_column(const cli_io *io, const eval_request *request, eval_job *job, const char *file, ct_err *err)
{
    eval_column *column = &job->column[job->columns++];
    column->file = file;
    column->of = cli_alloc(job->count, sizeof *column->of);
    ct_status status = ct_noise_copy(job->dataset->noise, &column->noise, err);
    if (status == CT_OK && file) status = cli_read_noise(io, file, request->path, column->noise, err);
    if (status == CT_OK) status = ct_robust_list_apply(request->robust, "--", column->noise, err);
    if (status == CT_OK) status = take_sequences(job, column, err);
    for (int32_t i = 0; status == CT_OK && i < job->count; i++) {
        status = ct_sequence_acquire(column->seq[i], err);
        if (status != CT_OK) break;
        status = ct_graph_check_noise(column->seq[i]->graph, column->noise, err);
        ct_sequence_release(column->seq[i]);
    }
    if (status == CT_OK) {
        cli_remark_outside(io, request->path, job->count, (const ct_sequence *const *)column->seq, column->noise);
        eval_group_models(column, job->count);
    }
    return status;
}

/* If the part is empty and the other one is not, the error names the option that evaluates that one. */
static ct_status read_part(const cli_io *io, const eval_request *request, eval_job *job, ct_err *err)
{
    const int       train = request->part == CT_DATASET_TRAIN;
    const ct_status status = cli_read_dataset(io, request->path, (ct_dataset_part)request->part, &job->dataset, err);
    if (status != CT_E_EMPTY || request->part == CT_DATASET_ALL) return status;
    const int32_t others = cli_count_sequences(io, request->path, train ? CT_DATASET_TEST : CT_DATASET_TRAIN);
    if (!others) return status;
    return ct_fail(err, CT_E_ARGUMENT, "%s: there %s %d %s sequence%s and no %s sequences; --part %s evaluates those",
                   request->path, others == 1 ? "is" : "are", others, train ? "test" : "training", CLI_S(others),
                   train ? "training" : "test", train ? "test" : "train");
}

static ct_status prepare(const cli_io *io, const eval_request *request, eval_job *job, ct_err *err)
{
    ct_status status = read_part(io, request, job, err);
    if (status == CT_OK) status = cli_set_truth_sigma(request->truth_sigma, job->dataset, err);
    if (status == CT_OK) status = list_sequences(request, job, err);
    if (status == CT_OK && request->part == CT_DATASET_TEST && cli_is_unsplit(request->path))
        cli_remark(io, "%s: these are also the training sequences; put others under test/ for an unbiased evaluation",
                   request->path);
    if (status == CT_OK) status = add_column(io, request, job, request->noise, err);
    if (status == CT_OK && request->against) status = add_column(io, request, job, request->against, err);
    if (status == CT_OK)
        status = ct_truth_frame_findings(job->count, (const ct_sequence *const *)job->column[0].seq,
                                         job->column[0].noise, &job->findings, err);
    return status;
}

typedef struct {
    cli_progress bar;
    eval_job    *job;
    int          column;
} watcher;

static int watch(void *user, int32_t done, int32_t count)
{
    watcher     *w = user;
    const double all = (double)w->column * count + done;
    cli_progress_show(&w->bar, all, "%.0f of %.0f estimates", all, w->bar.all);
    return cli_interrupted();
}

static ct_status keep(void *user, int32_t i, const ct_evaluation *evaluation, const ct_estimate *estimate, ct_err *err)
{
    watcher *w = user;
    (void)evaluation;
    (void)err;
    eval_keep_sums(&w->job->column[w->column], i, estimate);
    return CT_OK;
}

static ct_status estimate(const cli_io *io, const eval_request *request, eval_job *job, ct_err *err)
{
    const double begin = ct_now_s();
    watcher      w = {.bar = cli_progress_new(io, (double)job->columns * job->count), .job = job};

    ct_evaluate_options options = ct_evaluate_defaults();
    ct_inference       *inference = &options.inference;
    inference->start = (ct_start)request->start;
    inference->solve.method = (ct_method)request->method;
    inference->incremental = request->solver;
    options.loss.difference = (ct_difference)request->difference;
    options.nees = request->nees;
    options.jobs = request->jobs;
    if (!job->innovations) options.comm = cli_comm(); /* sums of innovations stay on the rank that made them */
    options.innovations = job->innovations;
    options.seed = request->seed;
    options.progress = watch;
    options.estimate = keep;
    options.user = &w;
    if (request->entry >= 0) inference->replay.entry = (ct_entry)request->entry;
    ct_status status = ct_inference_choose(job->count, job->seq, inference, err);
    job->incremental = inference->incremental;
    job->entry = inference->replay.entry;
    if (status == CT_OK && request->start_given && job->incremental && job->entry == CT_ENTRY_PREVIOUS)
        status = ct_fail(err, CT_E_ARGUMENT,
                         "%s, which is the default for these sequences, as measurements do not determine initial "
                         "poses",
                         START_UNUSED);
    cli_interrupt_begin(io, "stopping; what is done is printed");
    for (int k = 0; status == CT_OK && k < job->columns; k++) {
        w.column = k;
        const eval_column *c = &job->column[k];
        status = ct_evaluate(job->count, c->seq, c->noise, &options, c->of, NULL, err);
    }
    cli_interrupt_end();
    cli_status_clear();
    job->seconds = ct_now_s() - begin;
    return status;
}

/* ---- failures ---- */

#define NAMED_MAX 5 /* failed sequences in the message; all are in the result */

static void print_failed(const cli_io *io, const eval_request *request, const eval_job *job, const eval_column *column)
{
    char    text[1024];
    int     floats = 0;
    int32_t named = 0;
    size_t  used = 0;
    for (int32_t i = 0; i < job->count && named < NAMED_MAX && used < sizeof text; i++) {
        if (!ct_evaluation_failed(&column->of[i])) continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s (%s)", named++ ? ", " : "",
                                 ct_sequence_label(job->seq[i]),
                                 ct_evaluation_reason(&column->of[i]));
    }
    for (int32_t i = 0; i < job->count && !floats; i++) {
        if (!ct_evaluation_failed(&column->of[i]) || ct_sequence_acquire(job->seq[i], NULL) != CT_OK) continue;
        floats = !cli_is_anchored(job->seq[i]->graph);
        ct_sequence_release(job->seq[i]);
    }
    if (column->summary.failed > named && used < sizeof text)
        snprintf(text + used, sizeof text - used, " and %d more", column->summary.failed - named);
    cli_fail(io, "%s: no minimum%s in %d of %d sequence%s%s%s: %s%s", request->path,
             column->summary.diverged ? ", or a far one," : "", column->summary.failed, job->count,
             CLI_S(job->count), column->file ? " with " : "", column->file ? column->file : "", text,
             floats ? "; nothing fixes such a sequence in the world: " CLI_ADVICE_ANCHOR : "");
}

static cli_exit exit_code(const cli_io *io, const eval_request *request, const eval_job *job)
{
    int32_t done = 0, failed = 0;
    for (int k = 0; k < job->columns; k++) {
        done += job->column[k].summary.sequences;
        failed += job->column[k].summary.failed;
        if (job->column[k].summary.failed) print_failed(io, request, job, &job->column[k]);
    }
    if (!job->interrupted) return failed ? CLI_FAILED : CLI_DONE;
    cli_fail(io, "%s: interrupted after %d of %d estimates", request->path, done, job->columns * job->count);
    return CLI_INTERRUPTED;
}

static cli_exit carry_out(const cli_io *io, const eval_request *request, eval_job *job)
{
    ct_err    err = {0};
    ct_status status = prepare(io, request, job, &err);
    if (status == CT_OK) status = estimate(io, request, job, &err);
    cli_status_clear();
    if (status != CT_OK) return cli_fail(io, "%s", err.text);
    summarise(job);
    if (io->json) eval_print_json(request, job);
    else if (!io->quiet) eval_print(request, job);
    return exit_code(io, request, job);
}

static void release(eval_job *job)
{
    for (int k = 0; k < job->columns; k++) {
        for (int32_t i = 0; job->column[k].own && i < job->count; i++) ct_sequence_free(job->column[k].seq[i]);
        free(job->column[k].seq);
        free(job->column[k].of);
        free(job->column[k].group_of);
        free(job->column[k].first);
        free(job->column[k].sum);
        ct_noise_free(job->column[k].noise);
    }
    free(job->seq);
    free(job->use);
    ct_findings_free(&job->findings);
    ct_dataset_free(job->dataset);
}

/* ---- options ---- */

static int find_part(const char *name)
{
    return !strcmp(name, "test")    ? CT_DATASET_TEST
           : !strcmp(name, "train") ? CT_DATASET_TRAIN
           : !strcmp(name, "all")   ? CT_DATASET_ALL
                                    : -1;
}

#define X(constant, name) "|" name
static const char METHODS[] = CT_METHOD_LIST(X), DIFFERENCES[] = CT_DIFFERENCE_LIST(X);
#undef X
#define X(constant, name, what) "|" name
static const char STARTS[] = CT_START_LIST(X), ENTRIES[] = CT_ENTRY_LIST(X);
#undef X

/* An option of one inference selects it. */
static cli_exit resolve_solver(const cli_io *io, eval_request *r)
{
    if (r->solver == CT_INFERENCE_AUTO && r->entry >= 0) r->solver = 1;
    if (r->solver == CT_INFERENCE_AUTO && r->method >= 0) r->solver = 0;
    if (r->entry >= 0 && r->solver == 0) return cli_misuse(io, "--entry is for --solver isam2");
    if (r->method >= 0 && r->solver == 1)
        return cli_misuse(io, r->entry >= 0 ? "--method is for --solver batch, --entry for isam2: one of them"
                                            : "--method is for --solver batch");
    if (r->start_given && r->solver == 1 && r->entry == CT_ENTRY_PREVIOUS) return cli_misuse(io, "%s", START_UNUSED);
    if (r->method < 0) r->method = CT_LEVENBERG_MARQUARDT;
    return CLI_GO;
}

#define AT(member) offsetof(eval_request, member)
static const cli_option OPTIONS[] = {
    CLI_ROW_TEXT("noise", "FILE|RUN", AT(noise),
                 "use the noise models of a file or run in place of the dataset's own of the same names"),
    CLI_ROW_TEXT("against", "FILE|RUN", AT(against),
                 "evaluate the noise models of a second file or run as well, and print ratios"),
    CLI_ROW_TEXT("robust", CLI_ROBUST_VALUE, AT(robust), CLI_ROBUST_HELP "; for --noise and --against alike"),
    CLI_ROW_REPAIR,
    CLI_ROW_PLUGIN,
    CLI_ROW_CHOICE("part", "test|train|all", find_part, AT(part), "which sequences of the dataset (test)"),
    CLI_ROW_CHOICE("start", STARTS + 1, ct_start_find, AT(start),
                   "initial values: measurements (known landmarks, positions, priors and odometry; the default), "
                   "composed odometry, the values in the file, or the truth. Doubtful batch estimates from "
                   "measurements are made from odometry as well; the lowest error wins"),
    CLI_ROW_CHOICE("solver", "auto|batch|isam2", cli_find_solver_or_auto, AT(solver),
                   "inference: batch or incremental (isam2); auto, the default, is isam2 if measurements do not "
                   "determine initial values of nine in ten poses"),
    CLI_ROW_CHOICE(
        "entry", ENTRIES + 1, ct_entry_find, AT(entry),
        "isam2 (which it implies): initial value of a new pose: the estimate of the one before (previous), that moved "
        "as the start values move (motion), or the start values (given). The default is motion, and previous where "
        "measurements do not determine initial values of nine in ten poses"),
    CLI_ROW_CHOICE("method", METHODS + 1, ct_method_find, AT(method),
                   "batch (which it implies): the solver (lm)"),
    CLI_ROW_CHOICE("loss", DIFFERENCES + 1, ct_difference_find, AT(difference),
                   "difference from the truth in the loss: in the local frame (local), or in the world (left)"),
    CLI_ROW_FLAG("nees", AT(nees), "normalised estimation error squared: errors against marginal covariances"),
    CLI_ROW_TEXT("truth-sigma", "M[,RAD]", AT(truth_sigma), CLI_TRUTH_SIGMA_HELP "; it implies --nees"),
    CLI_ROW_FLAG("innovation", AT(innovations),
                 "predict a tenth of the measurements that are not odometry from the rest, and print how well (the "
                 "default if a sequence has no truth)"),
    CLI_ROW_SEED("seed", "K", AT(seed), "which measurements are held out (1)"),
    CLI_ROW_FLAG("each", AT(each), "one row a sequence as well"),
    CLI_ROW_FLAG("by-name", AT(by_name),
                 "accuracy of each body as well: poses of one name but for their number, such as an object o0, o1, .. "
                 "and the finger e0, e1, .. that pushes it"),
    CLI_ROW_INTEGER("jobs", "N", 1, CLI_JOBS_MAX, AT(jobs),
                    "threads (one a processor); they do not change the results"),
    CLI_ROW_MEMORY(AT(memory)),
    CLI_ROW_END,
};
#undef AT

static cli_exit run(const cli_command *command, int argc, char **argv)
{
    eval_request request = {.part = CT_DATASET_TEST,
                            .solver = CT_INFERENCE_AUTO,
                            .entry = -1,
                            .method = -1,
                            .seed = 1,
                            .jobs = cli_processors()};
    cli_io   io;
    eval_job job = {0};
    cli_exit code = cli_parse(command, &request, argc, argv, &io, &request.path);
    request.start_given = cli_option_given(argc, argv, "start");
    if (code == CLI_GO && request.each && io.json)
        code = cli_misuse(&io, "--each is for the table; --json has every sequence");
    if (code == CLI_GO) code = cli_check_truth_sigma(&io, request.truth_sigma);
    if (code == CLI_GO) code = cli_check_robust(&io, request.robust);
    if (code == CLI_GO) code = cli_check_memory(&io, request.memory, &io.memory);
    io.jobs = request.jobs;
    if (code == CLI_GO) code = resolve_solver(&io, &request);
    request.nees = request.nees || request.truth_sigma;
    if (code != CLI_GO) return code;
    code = carry_out(&io, &request, &job);
    cli_print_times(job.dataset);
    release(&job);
    return cli_finish(&io, code);
}

const cli_command cli_eval = {
    .name = "eval",
    .brief = "estimate the sequences of a dataset and compare with their truth",
    .operands = "DATASET",
    .least = 1,
    .most = 1,
    .text =
        "Estimates every sequence under the dataset's noise models, or those of a file, and compares with the truth, "
        "without alignment. Numbers are means over the sequences that have an estimate. rmse is per coordinate, as "
        "LEO has it; ape is that of distances, a root of 2 larger in the plane. Chi-square and NEES are 1 if the "
        "claimed uncertainty is right, and larger if it is too small.\n"
        "Sequences without truth are evaluated by what they measure: chi-square by noise model, innovations of "
        "held-out measurements, which are predicted from the rest, and second differences of the trajectory. The log "
        "density of held-out measurements is a score: with --against, two noise files are compared by it in pairs of "
        "sequences, with its standard error. A dataset is a folder with dataset.yaml, one "
        "with folders train and test, a folder of sequence files, or one such file. Exit code 0 means that every "
        "solve reached a minimum. Ctrl-C prints what is done, with exit code 130.\n",
    .example = "  covtune simulate grid --poses 500 --out city.ctseq\n"
               "  covtune eval city.ctseq --nees\n"
               "  covtune eval city.ctseq --start truth --loss left --json\n",
    .options = OPTIONS,
    .run = run,
};
