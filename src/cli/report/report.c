/* report.c: covtune report. One HTML file about a run of covtune learn: whether the learned noise models are better on
 * unseen sequences, what was learned, and how certain it is. */
#define _POSIX_C_SOURCE 200809L
#include "cli/report/report.h"
#include "cli/report/tune_report.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

void report_warn(report_job *job, const char *fmt, ...)
{
    char    text[2048];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    cli_append(job->warnings, cli_text(text));
}

const char *report_row_name(const report_job *job, const report_row *row, char *buf, size_t size)
{
    const ct_noise_model *m = ct_noise_get(job->file[AFTER], row->model);
    if (m->kind == CT_NOISE_ISOTROPIC) snprintf(buf, size, "%s", m->name);
    else snprintf(buf, size, "%s.%s", m->name, row->name);
    return buf;
}

const char *report_number(double value, char buf[32])
{
    const double size = fabs(value);
    if (isnan(value)) return "-";
    if (size < 1e-4 || size >= 1e6) snprintf(buf, 32, "%.3g", value);
    else
        snprintf(buf, 32, "%.*f",
                 size < 0.001  ? 6
                 : size < 0.01 ? 5
                 : size < 0.1  ? 4
                 : size < 1    ? 3
                 : size < 10   ? 2
                 : size < 100  ? 1
                               : 0,
                 value);
    return buf;
}

const char *report_written_unit(const char *unit, char buf[24])
{
    const char *power = strstr(unit, "^2");
    if (power) snprintf(buf, 24, "%.*s\u00b2%s", (int)(power - unit), unit, power + 2);
    else snprintf(buf, 24, "%s", unit);
    return buf;
}

const char *report_part(const report_job *job) { return job->part == CT_DATASET_TEST ? "test" : "training"; }

const char *report_method(const report_job *job) { return ct_learn_method_name((ct_learn_method)job->learn.method); }

ct_table *report_table(const char *title)
{
    ct_table *table;
    ct_err    err;
    if (ct_table_new(title, &table, &err) != CT_OK) cli_check_alloc(NULL);
    return table;
}

void report_put_table(report_job *job, ct_table *table)
{
    ct_page_table(job->page, table);
    ct_table_free(table);
}

int report_wants_log(int64_t n, const double *a, int64_t m, const double *b)
{
    double least = INFINITY, most = 0;
    for (int64_t i = 0; i < n + m; i++) {
        const double v = i < n ? a[i] : b[i - n];
        if (!isfinite(v) || v <= 0) continue;
        least = fmin(least, v);
        most = fmax(most, v);
    }
    return most > 20 * least; /* below, a linear axis shows the smallest as a twentieth of the largest */
}

/* ---- the result ---- */

static json_t *sides(const report_job *job, int k)
{
    json_t *o = cli_object();
    cli_put(o, "before", cli_number(job->mean[BEFORE][k]));
    cli_put(o, "after", cli_number(job->mean[AFTER][k]));
    return o;
}

/* By body, as for eval, before and after. */
static json_t *by_name(const report_job *job)
{
    json_t *o = cli_object();
    cli_put(o, "before", eval_bodies_json(job->bodies, job->body[BEFORE]));
    cli_put(o, "after", eval_bodies_json(job->bodies, job->body[AFTER]));
    return o;
}

static json_t *failures(const report_job *job)
{
    json_t *o = cli_object();
    cli_put(o, "before", cli_integer(job->failed[BEFORE]));
    cli_put(o, "after", cli_integer(job->failed[AFTER]));
    return o;
}

static void print_json(const report_request *request, const report_job *job)
{
    json_t *o = cli_object(), *rmse = cli_object();
    cli_put(o, "report", cli_text(job->out));
    cli_put(o, "run", cli_text(request->run));
    cli_put(o, "finished", cli_check_alloc(json_boolean(job->finished)));
    cli_put(o, "method", cli_text(report_method(job)));
    cli_put(o, "dataset", cli_text(job->dataset ? job->path : NULL));
    if (job->dataset) {
        cli_put(rmse, "translation", sides(job, EVAL_TRANSLATION));
        cli_put(rmse, "rotation", sides(job, EVAL_ROTATION));
        cli_put(o, "part", cli_text(job->part == CT_DATASET_TEST ? "test" : "train"));
        cli_put(o, "solver", cli_text(cli_solvers[job->inference.incremental]));
        cli_put(o, "sequences", cli_integer(job->count));
        cli_put(o, "averaged", cli_integer(job->averaged));
        cli_put(o, "failed", failures(job));
        cli_put(o, "shown", cli_integer(job->shown));
        cli_put(o, "rmse", rmse);
        cli_put(o, "by_name", by_name(job));
        cli_put(o, "loss", sides(job, EVAL_LOSS));
        cli_put(o, "chi_squared_per_degree", sides(job, EVAL_CHI_SQUARED));
        cli_put(o, "nees", sides(job, EVAL_NEES));
        cli_put(o, "with_truth", cli_integer(job->with_truth));
        cli_put(o, "innovation", sides(job, EVAL_INNOVATION));
        cli_put(o, "log_density", sides(job, EVAL_LOG_DENSITY));
    } else json_decref(rmse);
    cli_put(o, "verdict", report_verdict_json(job));
    cli_put(o, "warnings", json_incref(job->warnings));
    cli_print_json(o);
}

static void print_row(const char *label, const char *unit, const report_job *job, int k)
{
    char a[32], b[32];
    if (isnan(job->mean[AFTER][k])) return;
    cli_row(label, "%s -> %s %s", report_number(job->mean[BEFORE][k], a), report_number(job->mean[AFTER][k], b), unit);
}

static void print(const report_request *request, const report_job *job)
{
    char verdict[512];
    cli_row("run", "%s: %s, %d row%s of noise models learned", request->run, report_method(job), job->rows,
            CLI_S(job->rows));
    if (job->dataset) {
        cli_row("dataset", "%s: %d %s sequence%s", job->path, job->count, report_part(job), CLI_S(job->count));
        print_row("translation", "m per coordinate, rmse before and after", job, EVAL_TRANSLATION);
        print_row("rotation", "rad, rmse before and after", job, EVAL_ROTATION);
        print_row("nees", "per coordinate (1: consistent)", job, EVAL_NEES);
        if (!job->with_truth) print_row("chi-square", "per degree (1: consistent)", job, EVAL_CHI_SQUARED);
        print_row("innovation", "per row of held-out measurements (1: consistent)", job, EVAL_INNOVATION);
        print_row("log density", "of held-out measurements (higher is better)", job, EVAL_LOG_DENSITY);
    }
    report_verdict_headline(job, verdict, sizeof verdict);
    cli_row("verdict", "%s", verdict);
    for (size_t i = 0; i < json_array_size(job->warnings); i++)
        cli_row(i ? "" : "warning", "%s", json_string_value(json_array_get(job->warnings, i)));
    cli_row("written", "%s", job->out);
}

/* ---- doing it ---- */

static ct_status write_page(report_job *job, ct_err *err)
{
    char            title[600], subtitle[600];
    const json_t   *from = json_object_get(job->noise_json, "provenance");
    const char *dataset = json_string_value(json_object_get(from, "dataset")),
               *version = json_string_value(json_object_get(from, "version"));
    const char     *slash = dataset ? strrchr(dataset, '/') : NULL;
    const int32_t count = (int32_t)json_integer_value(json_object_get(job->summary_json, "sequences"));
    snprintf(title, sizeof title, "Noise models of %.200s, learned by %s",
             slash && slash[1] ? slash + 1
             : dataset         ? dataset
                               : "a dataset",
             report_method(job));
    snprintf(subtitle, sizeof subtitle, "covtune %s", version ? version : ct_version());
    if (count)
        snprintf(subtitle + strlen(subtitle), sizeof subtitle - strlen(subtitle), ", from %d training sequence%s",
                 count, CLI_S(count));
    const ct_status status = ct_page_new(title, subtitle, &job->page, err);
    if (status != CT_OK) return status;
    report_read_baselines(job);
    if (job->dataset) report_align(job);
    report_warnings(job);
    report_verdict(job);
    report_top(job);
    report_learned(job);
    report_functions(job);
    report_biases(job);
    if (job->dataset) {
        if (job->with_truth) report_accuracy(job);
        report_without_truth(job);
        report_paths(job);
    }
    report_history(job);
    if (job->dataset) {
        report_trust(job);
        if (job->with_truth) report_residuals(job);
        report_doctor(job);
        report_condition(job);
    }
    report_repeat(job);
    return ct_page_write(job->page, job->out, err);
}

static cli_exit carry_out(cli_io *io, const report_request *request, report_job *job)
{
    ct_err   err = {0};
    cli_exit code = report_read_run(io, request, job);
    if (code == CLI_GO && cli_check_output(job->out, &err) != CT_OK) code = cli_fail(io, "%s", err.text);
    if (code == CLI_GO && !cli_is_stdout(job->out) && !cli_replaceable_page(job->out))
        code = cli_fail(
            io,
            "%s: is there already, and is no page that covtune wrote and could replace; choose another name for --out",
            job->out);
    if (code == CLI_GO) code = report_read_dataset(io, request, job);
    if (code != CLI_GO) return code;
    cli_interrupt_begin(io, "stopping; no report is written");
    job->align = request->align;
    if (job->dataset) code = report_estimate(io, request, job);
    if (code == CLI_GO && job->dataset) code = report_estimate_closed_form(io, request, job);
    if (code == CLI_GO) code = report_examine(io, request, job);
    if (code == CLI_GO) code = report_same_run(io, request->run, job); /* it took a while */
    if (code == CLI_GO && write_page(job, &err) != CT_OK) code = cli_fail(io, "%s", err.text);
    cli_interrupt_end();
    if (code != CLI_GO) return code;
    if (io->json) print_json(request, job);
    else if (!io->quiet && !cli_is_stdout(job->out)) print(request, job);
    return CLI_DONE;
}


#define AT(member) offsetof(report_request, member)
static const cli_option OPTIONS[] = {
    CLI_ROW_TEXT("out", "FILE", AT(out), "the file that is written, replaced whole (RUN/report.html)"),
    CLI_ROW_TEXT("dataset", "PATH|none", AT(dataset),
                 "where the dataset is (the path that the run has, from where learn was started); none: a report of "
                 "the run folder alone"),
    CLI_ROW_REPAIR,
    CLI_ROW_PLUGIN,
    CLI_ROW_INTEGER("sequences", "N", 1, 200, AT(drawn),
                    "sequences whose trajectories are drawn: the most improved, the most worsened and others (12)"),
    CLI_ROW_CHOICE("solver", "batch|isam2", cli_find_solver, AT(solver),
                   "how sequences are estimated: in batch, or incrementally (the run's --deployment)"),
    CLI_ROW_CHOICE("align", "none|first|rigid", ct_align_find, AT(align),
                   "before errors are measured, estimates are moved as a whole onto the truth: not (none), first pose "
                   "onto first pose, or by least squares over positions, which is Horn's or Umeyama's; for maps, "
                   "errors along the way and a row beside the unaligned numbers (none)"),
    CLI_ROW_TEXT("truth-sigma", "M[,RAD]", AT(truth_sigma),
                 CLI_TRUTH_SIGMA_HELP "; without it, that of the run"),
    CLI_ROW_INTEGER("jobs", "N", 1, CLI_JOBS_MAX, AT(jobs),
                    "sequences at a time (as many as there are processors); the report is the same for any"),
    CLI_ROW_ALIAS("runs", "sequences"),
    CLI_ROW_END,
};
#undef AT

/* A folder that cannot be inspected for another reason than memory is examined again as one of learn. */
static cli_exit find_tune(const cli_io *io, const char *run, int *is_tune)
{
    ct_run_folder_info info;
    ct_err             err = {0};
    const ct_status status = ct_run_folder_inspect(run, &info, &err);
    *is_tune = status == CT_OK && info.state == CT_RUN_FOLDER_HERE && !strcmp(info.of, "tune");
    return status == CT_E_MEMORY ? cli_fail(io, "%s", err.text) : CLI_GO;
}

static cli_exit run(const cli_command *command, int argc, char **argv)
{
    report_request request = {.drawn = 12, .solver = -1, .jobs = cli_processors()};
    cli_io         io;
    report_job     job = {0};
    cli_exit       code = cli_parse(command, &request, argc, argv, &io, &request.run);
    int            of_tune = 0;
    if (code == CLI_GO) code = find_tune(&io, request.run, &of_tune);
    if (code == CLI_GO && of_tune) return cli_finish(&io, report_tune(&io, &request, argc, argv));
    for (int i = 0; code == CLI_GO && request.dataset && !strcmp(request.dataset, "none") && i < 6; i++) {
        static const char *const OF_ESTIMATES[] = {"sequences", "solver", "jobs", "repair", "align", "truth-sigma"};
        if (cli_option_given(argc, argv, OF_ESTIMATES[i]))
            code = cli_misuse(&io, "--%s is about estimates, and --dataset none makes none", OF_ESTIMATES[i]);
    }
    if (code == CLI_GO) code = cli_check_truth_sigma(&io, request.truth_sigma);
    if (code != CLI_GO) return code;
    code = carry_out(&io, &request, &job);
    report_free(&job);
    return cli_finish(&io, code);
}

const cli_command cli_report = {
    .name = "report",
    .brief = "write an HTML page about a run of learn or tune: verdict, plots",
    .operands = "RUN",
    .least = 1,
    .most = 1,
    .text = "Writes one HTML file about the run in a folder of covtune learn. A verdict comes first: are the learned "
            "noise models better than the start and the closed form (or the likelihood) on unseen sequences, and "
            "what is undetermined? Then the learned noise models with error bars and bounds, absolute and relative "
            "errors, trajectories, cross-validation and iterations, consistency, residuals at the truth, what the "
            "doctor finds, conditioning, and how to repeat the run. Sequences without truth are compared by what they "
            "measure, as covtune eval does. The page needs no network. A run that is not finished "
            "has a report as well. Ctrl-C writes nothing, with exit code 130.\n"
            "Of a run of covtune tune: parameters with error bars, errors of each log before and after, trajectories "
            "of test logs, which parameter matters where, held-out recordings, the loss over runs, failures. The "
            "estimator is not run.\n",
    .example = "  covtune simulate nav2d --dataset D3 --train 5 --test 20 --out D3\n"
               "  covtune learn D3 --out run\n"
               "  covtune report run\n",
    .options = OPTIONS,
    .run = run,
};
