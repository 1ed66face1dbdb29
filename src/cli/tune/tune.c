/* tune.c: covtune tune: reads TUNE.yaml, runs the estimator, writes what was learned. */
#define _POSIX_C_SOURCE 200809L
#include "cli/tune/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the file ---- */

/* Other ranks than 0 of covtune-mpi run the estimator for rank 0. */
static int is_other_rank(void) { return cli_comm() && cli_comm()->rank > 0; }

/* All mistakes, a line each; the error of ct_tuning_read otherwise. */
static cli_exit fail_file(const cli_io *io, const char *path, const ct_err *first)
{
    ct_recipe_mistakes list;
    ct_err err = {0};
    if (first->status != CT_E_PARSE || ct_tuning_check(path, &list, &err) != CT_OK)
        return cli_fail(io, "%s", first->text);
    for (int32_t i = 0; i < list.count; i++)
        cli_fail(io, "%s:%d: %s", path, list.mistake[i].line, list.mistake[i].text);
    if (list.more) cli_fail(io, "%s: and %lld more mistakes", path, (long long)list.more);
    if (!list.count) cli_fail(io, "%s", first->text);
    ct_recipe_mistakes_free(&list);
    return CLI_FAILED;
}

static cli_exit read_file(const cli_io *io, const tune_request *request, tune_job *job)
{
    ct_err err = {0};
    cli_status_show(io, "reading %s", request->path);
    char *copies = cli_path_join(request->out ? request->out : ".", "files"); /* of other ranks than 0 */
    const ct_status status = ct_tuning_read_shared(request->path, cli_comm(), copies, &job->tuning, &err);
    free(copies);
    cli_status_clear();
    if (status != CT_OK && is_other_rank()) return cli_fail(io, "%s", err.text);
    if (status != CT_OK) return fail_file(io, request->path, &err);
    job->problem = ct_tuning_problem(job->tuning);
    job->options = ct_tuning_options(job->tuning);
    if (request->method >= 0) job->options.method = (ct_tune_method)request->method;
    if (request->points >= 0) job->options.points = request->points;
    if (request->folds >= 0) job->options.folds = request->folds;
    if (request->seed >= 0) job->options.seed = (uint64_t)request->seed;
    return CLI_GO;
}

static void count_logs(const ct_tune_problem *problem, int32_t count[2])
{
    count[0] = count[1] = 0;
    for (int32_t i = 0; i < problem->logs; i++) count[problem->log[i].test != 0]++;
}

static cli_exit print_check(const cli_io *io, const tune_request *request, const tune_job *job)
{
    const ct_tune_problem *p = job->problem;
    int32_t logs[2];
    count_logs(p, logs);
    if (io->json) {
        json_t *o = cli_object(), *names = cli_array();
        for (int32_t i = 0; i < p->parameters; i++) cli_append(names, cli_text(p->parameter[i].name));
        cli_put(o, "file", cli_text(request->path));
        cli_put(o, "parameters", names);
        cli_put(o, "train", cli_integer(logs[0]));
        cli_put(o, "test", cli_integer(logs[1]));
        cli_print_json(o);
    } else if (!io->quiet)
        cli_row("file", "%s: no mistakes; %d parameter%s, %d training log%s, %d test log%s", request->path,
                p->parameters, CLI_S(p->parameters), logs[0], CLI_S(logs[0]), logs[1], CLI_S(logs[1]));
    return CLI_DONE;
}

static cli_exit print_schema(const cli_io *io)
{
    ct_err err = {0};
    char *text = NULL;
    if (ct_tuning_schema(&text, &err) != CT_OK) return cli_fail(io, "%s", err.text);
    fputs(text, stdout);
    free(text);
    return CLI_DONE;
}

/* ---- tuning ---- */

#define BEST_S 5.0 /* between writings of the best so far */

/* best/ has the best so far also if this process is killed. */
static void keep_best(tune_job *job, const ct_tune_progress *p)
{
    const double now = ct_now_s();
    if (!p->value || !isfinite(p->loss) || job->status != CT_OK) return;
    if (job->best_s > 0 && (!(p->loss < job->best_loss) || now < job->best_s + BEST_S)) return;
    job->best_loss = p->loss;
    job->best_s = now;
    job->status = ct_tuning_write(job->tuning, p->value, job->best, &job->err);
}

#define FIRST_LINE_S 30.0  /* without a terminal: the first line; the next after as long again, ... */
#define LINES_S      600.0 /* ... at most                                                         */

static const char *rough_time(double seconds, char buf[24])
{
    if (seconds < 100) snprintf(buf, 24, "%.0f s", seconds);
    else if (seconds < 6000) snprintf(buf, 24, "%.0f min", seconds / 60);
    else snprintf(buf, 24, "%.1f h", seconds / 3600);
    return buf;
}

/* In the log of a batch job: what the progress bar says on a terminal. */
static void write_line(tune_job *job, double left_s, const char *what)
{
    const double now = ct_now_s(), passed = now - job->begin_s;
    char passed_text[24], left_text[24];
    if (job->io->quiet || isatty(STDERR_FILENO) || now < job->line_s) return;
    job->line_s = now + fmin(LINES_S, passed);
    fprintf(stderr, "covtune tune: %s; %s passed, about %s left\n", what, rough_time(passed, passed_text),
            rough_time(left_s, left_text));
    fflush(stderr);
}

static int watch(void *user, const ct_tune_progress *p)
{
    tune_job *job = user;
    char loss[48] = "", failed[32] = "", what[160];
    if (p->request && p->outcome) tune_history_add(job, p);
    if (p->outcome && !p->outcome->cached) keep_best(job, p);
    if (p->failed) snprintf(failed, sizeof failed, ", %lld failed", (long long)p->failed);
    if (isfinite(p->loss) && p->loss_start > 0)
        snprintf(loss, sizeof loss, ", loss %.4g of the start's", p->loss / p->loss_start);
    const double all = (double)(p->expected > p->runs ? p->expected : p->runs + 1);
    snprintf(what, sizeof what, "%s: %lld runs, %lld running%s%s", p->phase, (long long)p->runs, (long long)p->running,
             failed, loss);
    job->bar.free = (double)p->cached / all;
    cli_progress_show(&job->bar, (double)p->runs / all, "%s", what);
    if (p->left_s >= 0) write_line(job, p->left_s, what);
    return job->status != CT_OK || cli_interrupted() || job->interrupted;
}

static ct_status open_queue(const tune_request *request, tune_job *job, ct_err *err)
{
    const ct_tuning_local local = {
        .jobs = request->jobs > 0 ? request->jobs : 0, .folder = job->failures, .estimates = job->estimates,
        .comm = cli_comm(), .interrupted = &job->interrupted};
    ct_tune_queue *processes = NULL;
    ct_status status = ct_tuning_queue(job->tuning, &local, &processes, err);
    if (status != CT_OK) return status;
    status = ct_tune_journal(job->journal, ct_tuning_digest(job->tuning), job->problem->parameters, 1, processes,
                             &job->queue, err);
    if (status != CT_OK) ct_tune_queue_free(processes);
    return status;
}

static ct_status tune(const cli_io *io, const tune_request *request, tune_job *job, ct_err *err)
{
    ct_status status = open_queue(request, job, err);
    if (status != CT_OK) return status;
    tune_history_open(job);
    job->bar = cli_progress_new(io, 1);
    job->begin_s = ct_now_s();
    job->line_s = job->begin_s + FIRST_LINE_S;
    job->io = io;
    job->options.progress = watch;
    job->options.user = job;
    cli_interrupt_begin(io, "stopping at the best so far");
    status = ct_tune(job->problem, &job->options, job->queue, &job->result, err);
    ct_tune_queue_free(job->queue); /* nothing is left running */
    job->queue = NULL;
    cli_interrupt_end();
    cli_status_clear();
    if (job->status != CT_OK) { /* a file could not be written, so tuning was stopped */
        *err = job->err;
        return job->status;
    }
    return status == CT_OK ? tune_history_close(job, err) : status;
}

static int no_estimate(const tune_job *job, const ct_tune_figures *of)
{
    int failed = 1;
    for (int32_t i = 0; i < job->problem->logs && of; i++)
        failed &= job->problem->log[i].test || of[i].end != CT_TUNE_DONE;
    return failed && of;
}

/* Did every training log fail at the start values and at the answer? Then nothing could be learned. Where the start
 * values fail, the search begins from others. */
static int all_failed(const tune_job *job)
{
    return no_estimate(job, job->result.before) && no_estimate(job, job->result.after);
}

static cli_exit remark_changes(const cli_io *io, const tune_job *job)
{
    ct_err err = {0};
    const ct_status status = ct_tuning_unchanged(job->tuning, &err);
    if (status == CT_E_MEMORY) return cli_fail(io, "%s", err.text);
    if (status == CT_E_ARGUMENT)
        cli_remark(io, "%s; runs are of both, and the result may be of neither: --force begins anew", err.text);
    else if (status != CT_OK)
        cli_remark(io, "%s; so whether it changed while runs were made is not known", err.text);
    return CLI_DONE;
}

static cli_exit finish(const cli_io *io, const tune_request *request, tune_job *job)
{
    ct_err err = {0};
    json_t *summary = tune_json(request, job);
    const ct_status status = tune_close_folder(job, summary, &err);
    if (io->json)
        cli_print_json(summary);
    else {
        json_decref(summary);
        if (!io->quiet) tune_print(request, job);
    }
    if (status != CT_OK) return cli_fail(io, "%s", err.text);
    if (job->result.stop != CT_TUNE_STOP_CANCELLED) { /* else --resume tells, and nobody waits */
        const cli_exit code = remark_changes(io, job);
        if (all_failed(job))
            return cli_fail(io, "no training log has an estimate at the start values, so that nothing was learned; "
                                "--try shows what the program says");
        return code;
    }
    char *path = cli_shell_quote(request->path), *out = cli_shell_quote(request->out);
    cli_fail(io, "interrupted; the best so far is in %s. To continue:", job->best);
    cli_print_command("covtune tune %s --out %s --resume", path, out);
    free(path);
    free(out);
    return CLI_INTERRUPTED;
}

/* ---- other ranks ---- */

static int ask_interrupted(void *user)
{
    (void)user;
    return cli_interrupted();
}

/* Another rank than 0: request->out is a folder of its own. */
static cli_exit serve(const cli_io *io, const tune_request *request, const tune_job *job)
{
    char *runs = cli_path_join(request->out, "runs");
    const ct_tuning_local local = {
        .jobs = request->jobs > 0 ? request->jobs : 0, .folder = runs, .comm = cli_comm()};
    ct_err err = {0};
    cli_interrupt_begin(io, "stopping at the best so far");
    const ct_status status = ct_tuning_serve(job->tuning, &local, ask_interrupted, NULL, &err);
    cli_interrupt_end();
    free(runs);
    return status == CT_OK ? CLI_DONE : cli_fail(io, "%s", err.text);
}

static void release(tune_job *job)
{
    ct_tune_queue_free(job->queue);
    ct_tune_result_free(&job->result);
    for (int k = 0; k < CT_TUNE_END_COUNT; k++) {
        free(job->failure[k].value);
        free(job->failure[k].message);
    }
    ct_tuning_free(job->tuning);
    tune_folder_free(job);
}

static cli_exit carry_out(const cli_io *io, const tune_request *request, tune_job *job)
{
    ct_err err = {0};
    cli_exit code = read_file(io, request, job);
    if (code != CLI_GO) return code;
    if (request->check) return print_check(io, request, job);
    if (request->try_runs) return tune_try(io, request, job);
    if (is_other_rank()) return serve(io, request, job);
    code = tune_open_folder(io, request, job);
    if (code == CLI_GO && tune(io, request, job, &err) != CT_OK) code = cli_fail(io, "%s", err.text);
    if (ct_tuning_dismiss(cli_comm(), &err) != CT_OK && code == CLI_GO) code = cli_fail(io, "%s", err.text);
    return code == CLI_GO ? finish(io, request, job) : code;
}

/* ---- the command ---- */

#define X(constant, name, description) "|" name
static const char METHODS[] = CT_TUNE_METHOD_LIST(X);
#undef X

#define AT(member) offsetof(tune_request, member)
static const cli_option OPTIONS[] = {
    CLI_ROW_HEADING("Run folder"),
    CLI_ROW_TEXT("out", "RUN", AT(out), "run folder, which is created"),
    CLI_ROW_FLAG("resume", AT(resume),
                 "continue the run in that folder; no completed run of the estimator is repeated"),
    CLI_ROW_FLAG("force", AT(force), "replace the run in that folder"),
    CLI_ROW_HEADING("Tuning"),
    CLI_ROW_INTEGER("jobs", "N", 1, CLI_JOBS_MAX, AT(jobs),
                    "runs of the estimator at once, on every rank (number of processors); results do not depend on it"),
    CLI_ROW_CHOICE("method", METHODS + 1, ct_tune_method_find, AT(method), "method (the file's, dfgn)"),
    CLI_ROW_INTEGER("points", "N", 1, 1e9, AT(points),
                    "parameter values to try, at most; each is a run of every training log (the method's own)"),
    CLI_ROW_INTEGER("folds", "K", 0, 1000, AT(folds),
                    "folds of held-out recordings that decide between answer and start (5); 0: none"),
    CLI_ROW_INTEGER("seed", "N", 0, 2147483647, AT(seed), "of methods that draw random numbers (1)"),
    CLI_ROW_HEADING("Before tuning"),
    CLI_ROW_FLAG("try", AT(try_runs),
                 "run every log once at the start values and print how it went; nothing is written"),
    CLI_ROW_FLAG("check", AT(check), "look for mistakes in the file, and run nothing"),
    CLI_ROW_FLAG("schema", AT(schema), "write the JSON Schema of the file to stdout, for editors"),
    CLI_ROW_HEADING("A first file"),
    CLI_ROW_FLAG("init", AT(init),
                 "write a first file with comments to TUNE, or to stdout; what the options below do not say is asked "
                 "for on a terminal"),
    CLI_ROW_TEXT("command", "WORDS", AT(command), "the program and its arguments: \"ekf {params} {log} {estimate}\""),
    CLI_ROW_TEXT("params", "FILE", AT(params), "configuration file; numbers in it that look like noise are proposed"),
    CLI_ROW_TEXT("log", "PATTERN", AT(log), "logs to learn from: 'train/*.csv'"),
    CLI_ROW_TEXT("truth", "PATTERN", AT(truth), "their truths: 'train/*.tum'"),
    CLI_ROW_TEXT("test", "PATTERN", AT(test), "logs that are not learned from (none)"),
    CLI_ROW_TEXT("test-truth", "PATTERN", AT(test_truth), "their truths"),
    CLI_ROW_TEXT("format", "FORMAT", AT(format), "of the estimate: tum, euroc, kitti, table, .. (by content)"),
    CLI_ROW_END,
};
#undef AT

static const char *first_of_init(const tune_request *r)
{
    return r->command      ? "command"
           : r->params     ? "params"
           : r->log        ? "log"
           : r->truth      ? "truth"
           : r->test       ? "test"
           : r->test_truth ? "test-truth"
           : r->format     ? "format"
                           : NULL;
}

static cli_exit check_request(const cli_io *io, const tune_request *r)
{
    const char *use = r->schema ? "schema" : r->init ? "init" : r->check ? "check" : r->try_runs ? "try" : NULL;
    if (r->schema + r->init + r->check + r->try_runs > 1)
        return cli_misuse(io, "--schema, --init, --check and --try: give one of them");
    if (use && r->out) return cli_misuse(io, "--out is not for --%s", use);
    if (use && (r->resume || r->force))
        return cli_misuse(io, "--%s is not for --%s", r->resume ? "resume" : "force", use);
    if (!r->init && first_of_init(r)) return cli_misuse(io, "--%s is for --init", first_of_init(r));
    if (io->json && (r->init || r->schema)) return cli_misuse(io, "--json is not for --%s", use);
    if (r->schema && r->path) return cli_misuse(io, "--schema takes no file");
    if (!r->schema && !r->init && !r->path)
        return cli_misuse(io, "TUNE is missing: the file that says what is tuned; --init writes a first one");
    if (!use && !r->out) return cli_misuse(io, "--out RUN is missing: the run folder");
    if (r->resume && r->force) return cli_misuse(io, "--resume and --force: give one of them");
    return CLI_GO;
}

static cli_exit run(const cli_command *command, int argc, char **argv)
{
    tune_request request = {.jobs = -1, .method = -1, .points = -1, .seed = -1, .folds = -1};
    cli_io io;
    cli_exit code = cli_parse(command, &request, argc, argv, &io, &request.path);
    if (code == CLI_GO) code = check_request(&io, &request);
    if (code != CLI_GO) return code;
    if (request.schema)
        code = print_schema(&io);
    else if (request.init)
        code = tune_init(&io, &request);
    else {
        tune_job job = {0};
        code = carry_out(&io, &request, &job);
        release(&job);
    }
    return cli_finish(&io, code);
}

const cli_command cli_tune = {
    .name = "tune",
    .brief = "learn noise parameters of another program's estimator from its runs",
    .operands = "[TUNE]",
    .needs = "--out RUN",
    .least = 0,
    .most = 1,
    .text = "Runs an estimator that is not covtune's on logs with truth, compares its trajectories, and changes "
            "numbers in its configuration until they are closest to the truth. TUNE (YAML, docs/tune.md) names the "
            "command, its parameters and where they are, the logs and the format of the estimate. A mistake in it is "
            "reported with "
            "its line.\n"
            "Held-out recordings decide between the answer and the start values. Test logs are run at the end, before "
            "and after. RUN has best/ (your files with the learned numbers), tune.json (what --json prints), "
            "history.csv (every run), runs.journal and failures/.\n"
            "--resume continues a killed run and repeats no run of the estimator. Ctrl-C stops the estimator and keeps "
            "the best so far, with exit code 130.\n",
    .example = "  covtune tune --init --command \"ekf {params} {log} {estimate}\" --params ekf.yaml \\\n"
               "      --log 'train/*.csv' --truth 'train/*.tum' tune.yaml\n"
               "  covtune tune tune.yaml --try\n"
               "  covtune tune tune.yaml --out run --jobs 4\n"
               "  covtune report run --out report.html\n",
    .options = OPTIONS,
    .run = run,
};
