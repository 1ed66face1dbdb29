/* solve.c: covtune solve: reads a graph, anchors it, solves it, prints the result and writes the estimate. */
#include "cli/solve/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

/* Checks combinations of options. */
static cli_exit check(const cli_io *io, solve_request *request)
{
    if (request->out_format != CT_FORMAT_AUTO && !request->out) return cli_misuse(io, "--out-format needs --out");
    if (request->lossy && !request->out) return cli_misuse(io, "--lossy needs --out");
    if (request->map && (io->json || io->quiet))
        return cli_misuse(io, "--map is not for --%s", io->json ? "json" : "quiet");
    if (request->anchor_sigma_given > 0 && !strcmp(request->anchor, "none"))
        return cli_misuse(io, "--anchor-sigma needs an anchor, but --anchor none adds none");
    if (request->anchor_sigma_given > 0) request->anchor_sigma = request->anchor_sigma_given;
    if (request->method != SOLVE_ISAM2 &&
        (request->relinearise >= 0 || request->wildfire >= 0 || request->skip || request->window ||
         request->entry != CT_ENTRY_AUTO))
        return cli_misuse(io, "--%s is for --method isam2",
                          request->entry != CT_ENTRY_AUTO ? "entry"
                          : request->relinearise >= 0 ? "relinearise"
                          : request->wildfire >= 0  ? "wildfire"
                          : request->skip           ? "skip"
                                                    : "window");
    return cli_check_robust(io, request->robust);
}

/* isam2 makes one update per variable: it has no limit of iterations, and its own elimination order. */
static cli_exit refuse_unused(const cli_io *io, const solve_request *request, int argc, char **argv)
{
    static const char *const BATCH_ONLY[] = {"order", "max-iterations", "tolerance", "threads"};
    for (size_t i = 0; i < sizeof BATCH_ONLY / sizeof *BATCH_ONLY; i++)
        if (request->method == SOLVE_ISAM2 && cli_option_given(argc, argv, BATCH_ONLY[i]))
            return cli_misuse(io, "--%s is for batch methods; isam2 is incremental", BATCH_ONLY[i]);
    return CLI_GO;
}

/* ---- solving ---- */

/* The values in the file are a start like measurements: the one with the lower error is taken. Incremental estimates
 * use the file only if asked to. */
ct_status solve_choose_start(const solve_request *request, solve_job *job, ct_err *err)
{
    const size_t bytes = (size_t)ct_graph_size(job->graph) * sizeof *job->x;
    ct_sequence  anchored = *job->seq;
    anchored.graph = job->graph;
    job->start = request->start == SOLVE_START_AUTO ? CT_START_MEASURED : (ct_start)request->start;
    const ct_status status = ct_start_values(&anchored, job->start, job->x, err);
    if (status != CT_OK || request->start != SOLVE_START_AUTO || request->method == SOLVE_ISAM2) return status;
    const double measured = ct_graph_error(job->graph, job->table, job->x),
                 file = ct_graph_error(job->graph, job->table, ct_graph_initial_const(job->graph));
    if (!(file < measured || isnan(measured))) return CT_OK;
    job->start = CT_START_INITIAL;
    memcpy(job->x, ct_graph_initial_const(job->graph), bytes);
    return CT_OK;
}

static ct_status prepare(const cli_io *io, const solve_request *request, solve_job *job, ct_err *err)
{
    const double begin = ct_now_s();
    cli_status_show(io, "reading %s", request->path);
    job->format = (ct_format)request->format;
    ct_status status = ct_noise_new(&job->noise, err);
    if (status == CT_OK) status = cli_read_sequence(io, request->path, &job->format, job->noise, &job->seq, err);
    if (status == CT_OK && request->noise) status = cli_read_noise(io, request->noise, request->path, job->noise, err);
    if (status == CT_OK) status = ct_sequence_apply_biases(job->seq, job->noise, err);
    if (status == CT_OK && request->noise)
        cli_remark_outside(io, request->path, 1, (const ct_sequence *const *)&job->seq, job->noise);
    if (status == CT_OK) status = ct_robust_list_apply(request->robust, "--", job->noise, err);
    if (status == CT_OK) status = solve_ask(request, job, err);
    const ct_format from = request->robust || request->noise ? CT_FORMAT_AUTO : job->format;
    if (status == CT_OK && request->out)
        status = cli_check_write(job->seq, job->noise, from, request->out_format, request->lossy, request->out, err);
    if (status == CT_OK) status = solve_anchor(request, job, err);
    if (status == CT_OK && request->like) status = ct_graph_like_gtsam(job->graph, err);
    job->read_s = ct_now_s() - begin;
    if (status != CT_OK) return status;

    char name[256];
    if (job->anchor >= 0 && !strcmp(request->anchor, "auto"))
        cli_remark(io, "%s: %s is held at its initial value by a prior of sigma %g (--anchor none adds no prior)",
                   cli_has_heading(job->graph) ? "headings alone are absolute" : "all measurements are relative",
                   ct_graph_name(job->graph, job->anchor, name, sizeof name), request->anchor_sigma);
    job->x = cli_alloc(ct_graph_size(job->graph), sizeof *job->x);
    return CT_OK;
}

static ct_status estimate(const cli_io *io, const solve_request *request, solve_job *job, ct_err *err)
{
    cli_status_show(io, "analysing %s", request->path);
    ct_status status = solve_analyse(request, job, err);
    if (status == CT_OK)
        status = request->method == SOLVE_ISAM2 ? solve_replayed(io, request, job, err)
                                                : solve_watched(io, request, job, err);
    job->after = ct_accuracy_of(job->seq, job->x);
    return status;
}

/* The estimate is written unless the graph is undetermined or its error is not finite. */
static ct_status finish(const cli_io *io, const solve_request *request, solve_job *job, ct_err *err)
{
    const ct_stop stop = job->result.stop;
    if (stop == CT_STOP_RANK && request->method == SOLVE_ISAM2)
        snprintf(job->undetermined, sizeof job->undetermined, "%s", job->replay.why);
    else if (stop == CT_STOP_RANK)
        ct_solver_undetermined_text(job->solver, job->undetermined, sizeof job->undetermined);
    if (stop == CT_STOP_RANK || stop == CT_STOP_NOT_FINITE) return CT_OK;
    if (request->out) {
        cli_status_show(io, "writing %s", request->out);
        const ct_status status = cli_write_sequence(job->seq, job->noise, job->x, request->out_format, request->lossy,
                                           request->out, &job->written, err);
        cli_status_clear();
        if (status != CT_OK) return status;
        job->is_written = 1;
        cli_remark_dropped(io, request->out, &job->written);
    }
    return job->asked ? solve_sigmas(job, err) : CT_OK;
}

#define FAR 1.0 /* sigma: the thresholds leave as much uncertainty as the measurements */

int solve_at_minimum(const solve_request *request, const solve_job *job)
{
    const ct_solve_result *r = &job->result;
    return ct_stop_converged(r->stop) &&
           (request->method != SOLVE_ISAM2 || r->distance <= ct_solve_defaults().distance);
}

static cli_exit verdict(const cli_io *io, const solve_request *request, const solve_job *job)
{
    const int   most = request->max_iterations, done = job->result.iterations;
    const char *unwritten = request->out && !job->is_written ? "; nothing is written" : "";
    if (request->method == SOLVE_ISAM2 && job->result.stop == CT_STOP_STEP && job->result.distance > FAR)
        cli_remark(io,
                   "%s: the incremental estimate is %.2g sigma from the minimum; lower --relinearise and --wildfire, "
                   "or use a batch method (--method lm)",
                   request->path, job->result.distance);
    switch (job->result.stop) {
    case CT_STOP_ERROR:
    case CT_STOP_STEP:
    case CT_STOP_GRADIENT: return CLI_DONE;
    case CT_STOP_ROUNDING:
        if (!ct_solve_usable(&job->result))
            return cli_fail(io,
                            "%s: not converged: %s; the weakest measurements are lost to rounding beside the strongest",
                            request->path, ct_stop_meaning(CT_STOP_ROUNDING));
        cli_remark(io, "%s: double precision resolves the minimum to about %.1g sigma only", request->path,
                   job->result.distance);
        return CLI_DONE;
    case CT_STOP_CANCELLED:
        cli_fail(io, "%s: interrupted after %d iteration%s", request->path, done, CLI_S(done));
        return CLI_INTERRUPTED;
    case CT_STOP_RANK: return cli_fail(io, "%s: not determined: %s%s", request->path, job->undetermined, unwritten);
    case CT_STOP_ITERATIONS:
        return cli_fail(io, "%s: not converged: the limit of %d iteration%s is reached", request->path, most,
                        CLI_S(most));
    default:
        return cli_fail(io, "%s: not converged: %s%s", request->path, ct_stop_meaning(job->result.stop), unwritten);
    }
}

static cli_exit carry_out(const cli_io *io, const solve_request *request, solve_job *job)
{
    ct_err    err = {0};
    ct_status status = prepare(io, request, job, &err);
    if (status == CT_OK) status = estimate(io, request, job, &err);
    cli_status_clear();
    if (status != CT_OK) return cli_fail(io, "%s", err.text);
    status = finish(io, request, job, &err);
    if (io->json) solve_print_json(request, job);
    else if (!io->quiet && !(request->out && cli_is_stdout(request->out))) solve_print(request, job);
    const cli_exit code = verdict(io, request, job);
    return status == CT_OK ? code : cli_fail(io, "%s", err.text);
}

static void release(solve_job *job)
{
    free(job->sigma);
    free(job->asked_var);
    free(job->x);
    ct_solver_free(job->solver);
    if (job->seq && job->graph != job->seq->graph) ct_graph_free(job->graph);
    ct_sequence_free(job->seq);
    ct_noise_free(job->table);
    ct_noise_free(job->noise);
}

static int find_method(const char *name) { return strcmp(name, "isam2") ? ct_method_find(name) : SOLVE_ISAM2; }

const char *solve_method_name(const solve_request *request)
{
    return request->method == SOLVE_ISAM2 ? "isam2" : ct_method_name((ct_method)request->method);
}

static int find_start(const char *name) { return strcmp(name, "auto") ? ct_start_find(name) : (int)SOLVE_START_AUTO; }

static int find_like(const char *name) { return strcmp(name, "gtsam") ? -1 : 1; }

#define X(constant, name) "|" name
static const char METHODS[] = CT_METHOD_LIST(X) "|isam2", ORDERS[] = CT_ORDER_LIST(X);
#undef X
#define X(constant, name, what) "|" name
static const char STARTS[] = "auto" CT_START_LIST(X), ENTRIES[] = "auto" CT_ENTRY_LIST(X);
#undef X

#define AT(member) offsetof(solve_request, member)
static const cli_option OPTIONS[] = {
    CLI_ROW_HEADING("Files"),
    CLI_ROW_CHOICE("format", CLI_FORMATS, ct_format_find, AT(format),
                   "format of GRAPH (from its ending, or its first line)"),
    CLI_ROW_REPAIR,
    CLI_ROW_PLUGIN,
    CLI_ROW_TEXT("out", "FILE", AT(out), "write the graph with the estimate as its initial values"),
    CLI_ROW_CHOICE("out-format", CLI_FORMATS, ct_format_find, AT(out_format),
                   "format of that file (from its ending)"),
    CLI_ROW_FLAG("lossy", AT(lossy), "leave out what that format cannot hold, with a remark"),
    CLI_ROW_HEADING("Method"),
    CLI_ROW_CHOICE("method", METHODS + 1, find_method, AT(method),
                   "Levenberg-Marquardt (lm, the default), Gauss-Newton (gn), Powell's dogleg, Newton with exact "
                   "Hessians, or isam2: incrementally, in the order of the variables"),
    CLI_ROW_CHOICE("order", ORDERS + 1, ct_order_find, AT(order), "elimination ordering (amd)"),
    CLI_ROW_INTEGER("max-iterations", "N", 1, INT32_MAX, AT(max_iterations), "limit of iterations (300)"),
    CLI_ROW_INTEGER("threads", "N", 1, CLI_JOBS_MAX, AT(threads),
                    "threads for a large graph (one a processor); they do not change the results"),
    CLI_ROW_NUMBER("tolerance", "R", 0, 1, AT(tolerance),
                   "converged if the relative decrease of the error, or the largest entry of a step, is below R "
                   "(1e-9), and the minimum is within 1e-6 sigma (times sqrt(R / 1e-9) for a larger R)"),
    CLI_ROW_HEADING("Model"),
    CLI_ROW_TEXT("noise", "FILE|RUN", AT(noise),
                 "noise models of a noise file or a run folder, in place of the graph's models of the same names"),
    CLI_ROW_TEXT("robust", CLI_ROBUST_VALUE, AT(robust), CLI_ROBUST_HELP),
    CLI_ROW_TEXT(
        "anchor", "auto|none|NAME", AT(anchor),
        "hold this variable at its initial value by a prior; auto (the default): the first pose, if all measurements "
        "are relative and no variable is fixed"),
    CLI_ROW_NUMBER("anchor-sigma", "S", 1e-6, 1e6, AT(anchor_sigma_given), "sigma of that prior, in m and rad (0.001)"),
    CLI_ROW_CHOICE("like", "gtsam", find_like, AT(like),
                   "use the residuals of GTSAM's default build, to compare numbers with it"),
    CLI_ROW_CHOICE("start", STARTS, find_start, AT(start),
                   "initial values, as for eval: measurements (known landmarks, positions, priors and odometry), "
                   "composed odometry, the values in the file, or the truth. auto, the default: measurements or file, "
                   "whichever has the lower error; isam2: measurements"),
    CLI_ROW_HEADING("Incremental (isam2)"),
    CLI_ROW_CHOICE("entry", ENTRIES, cli_find_entry_or_auto, AT(entry),
                   "isam2: initial value of a new pose, as for eval: the estimate of the one before (previous), that "
                   "moved as the start values move (motion), or the start values (given); auto, the default, is "
                   "motion, and previous if measurements do not determine initial values of nine in ten poses"),
    CLI_ROW_NUMBER("relinearise", "S", 0, 10, AT(relinearise),
                   "isam2: relinearise variables that have moved by more, in m or rad (0.1)"),
    CLI_ROW_INTEGER("skip", "N", 1, INT32_MAX, AT(skip),
                    "isam2: check for such variables every N updates (10)"),
    CLI_ROW_NUMBER("wildfire", "S", 0, 10, AT(wildfire),
                   "isam2: changes below this are not propagated to older variables (0.001)"),
    CLI_ROW_INTEGER("window", "N", 1, INT32_MAX, AT(window),
                    "isam2: keep N variables and marginalise older ones (all are kept)"),
    CLI_ROW_HEADING("Output"),
    CLI_ROW_TEXT("sigmas", "NAME,..|all", AT(sigmas),
                 "print values and standard deviations of these variables, in their own frames"),
    CLI_ROW_FLAG("map", AT(map), "draw the variables before and after"),
    CLI_ROW_FLAG("trace", AT(trace), "one line per iteration, on stderr"),
    CLI_ROW_END,
};
#undef AT

static cli_exit run(const cli_command *command, int argc, char **argv)
{
    const ct_solve_options usual = ct_solve_defaults();
    solve_request request = {.anchor = "auto",
                             .anchor_sigma = 1e-3,
                             .format = CT_FORMAT_AUTO,
                             .out_format = CT_FORMAT_AUTO,
                             .method = (int)usual.method,
                             .max_iterations = usual.max_iterations,
                             .threads = cli_processors(),
                             .tolerance = usual.relative,
                             .start = SOLVE_START_AUTO,
                             .entry = CT_ENTRY_AUTO,
                             .relinearise = -1,
                             .wildfire = -1};
    cli_io                 io;
    solve_job              job = {.anchor = -1};
    cli_exit               code = cli_parse(command, &request, argc, argv, &io, &request.path);
    if (code == CLI_GO) code = check(&io, &request);
    if (code == CLI_GO) code = refuse_unused(&io, &request, argc, argv);
    if (code != CLI_GO) return code;
    io.jobs = request.threads;
    code = carry_out(&io, &request, &job);
    release(&job);
    return cli_finish(&io, code);
}

const cli_command cli_solve = {
    .name = "solve",
    .brief = "estimate the variables of a graph from its measurements",
    .operands = "GRAPH",
    .least = 1,
    .most = 1,
    .text = "Finds the maximum a posteriori estimate: the values of the variables that minimise the weighted squared "
            "residuals. Prints error, fit, iterations and time. Exit code 0: a minimum was found or, with isam2, all "
            "updates were made. Ctrl-C stops after the current iteration; the estimate so far is printed and written, "
            "with exit code 130. A second Ctrl-C stops at once.\n",
    .example = "  covtune simulate grid --out city.ctseq\n"
               "  covtune solve city.ctseq --out solved.ctseq --map\n"
               "  covtune solve city.ctseq --sigmas x1,x3499 --json\n",
    .options = OPTIONS,
    .run = run,
};
