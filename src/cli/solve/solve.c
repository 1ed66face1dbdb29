/* solve.c: covtune solve. Read a graph, hold it, solve it, say how it went, write the estimate. */
#include "cli/solve/solve.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is asked for ---- */

static int find_kernel(const char *word)
{
    for (int i = 0; i < CT_ROBUST_COUNT; i++) {
        const char *name = ct_robust_name((ct_robust_kind)i);
        if (cli_same_word(word, name, strlen(name))) return i;
    }
    return -1;
}

/* "huber", "huber:2". */
static cli_exit parse_robust(const cli_io *io, solve_request *request)
{
    char        kind[32];
    const char *colon = strchr(request->robust, ':');
    snprintf(kind, sizeof kind, "%.*s", colon ? (int)(colon - request->robust) : (int)strlen(request->robust),
             request->robust);
    const int found = find_kernel(kind);
    if (found < 0)
        return cli_misuse(io, "--robust is one of none, huber, cauchy, geman_mcclure, tukey, found \"%s\"", kind);
    request->kernel = (ct_robust){(ct_robust_kind)found, ct_robust_default_width((ct_robust_kind)found)};
    if (!colon) return CLI_GO;
    char *end;
    request->kernel.width = strtod(colon + 1, &end);
    if (found == CT_ROBUST_NONE || end == colon + 1 || *end ||
        !(request->kernel.width >= 1e-6 && request->kernel.width <= 1e6))
        return cli_misuse(io, "--robust %s takes %s, found \"%s\"", kind,
                          found == CT_ROBUST_NONE ? "no width" : "a width of 1e-06 to 1e+06 sigmas", colon + 1);
    return CLI_GO;
}

/* What the parser cannot see: options that belong together. */
static cli_exit check(const cli_io *io, solve_request *request)
{
    if (request->out_format != CT_FORMAT_AUTO && !request->out) return cli_misuse(io, "--out-format needs --out");
    if (request->lossy && !request->out) return cli_misuse(io, "--lossy needs --out");
    if (request->map && (io->json || io->quiet))
        return cli_misuse(io, "--map is not for --%s", io->json ? "json" : "quiet");
    if (request->anchor_sigma_given > 0 && !strcmp(request->anchor, "none"))
        return cli_misuse(io, "--anchor-sigma needs an anchor, and --anchor none asks for none");
    if (request->anchor_sigma_given > 0) request->anchor_sigma = request->anchor_sigma_given;
    if (request->method != SOLVE_ISAM2 &&
        (request->relinearise >= 0 || request->wildfire >= 0 || request->skip || request->window))
        return cli_misuse(io, "--%s is for --method isam2",
                          request->relinearise >= 0 ? "relinearise"
                          : request->wildfire >= 0  ? "wildfire"
                          : request->skip           ? "skip"
                                                    : "window");
    return request->robust ? parse_robust(io, request) : CLI_GO;
}

/* isam2 makes a step a variable, in their order: it has no iterations to limit, and eliminates in an order of its
 * own. */
static cli_exit refuse_unused(const cli_io *io, const solve_request *request, int argc, char **argv)
{
    static const char *const AT_ONCE[] = {"order", "max-iterations", "tolerance"};
    for (size_t i = 0; i < sizeof AT_ONCE / sizeof *AT_ONCE; i++)
        if (request->method == SOLVE_ISAM2 && cli_option_given(argc, argv, AT_ONCE[i]))
            return cli_misuse(io, "--%s is for the methods that solve at once; isam2 goes step by step", AT_ONCE[i]);
    return CLI_GO;
}

/* ---- doing it ---- */

static ct_status prepare(const cli_io *io, const solve_request *request, solve_job *job, ct_err *err)
{
    const double begin = ct_now_s();
    cli_status_show(io, "reading %s", request->path);
    job->format = (ct_format)request->format;
    ct_status status = ct_noise_new(&job->noise, err);
    if (status == CT_OK) status = cli_read_sequence(io, request->path, &job->format, job->noise, &job->seq, err);
    if (status == CT_OK && request->noise) status = cli_read_noise(io, request->noise, request->path, job->noise, err);
    const int32_t models = status == CT_OK && request->robust ? ct_noise_count(job->noise) : 0;
    for (int32_t i = 0; status == CT_OK && i < models; i++)
        status = ct_noise_set_robust(job->noise, i, request->kernel, err);
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
        cli_remark(io, "nothing ties the graph to the world: %s is held at its initial value by a prior of sigma %g "
                       "(--anchor none leaves it out)",
                   ct_graph_name(job->graph, job->anchor, name, sizeof name), request->anchor_sigma);
    const int64_t size = ct_graph_size(job->graph);
    job->x = cli_alloc(size, sizeof *job->x);
    memcpy(job->x, ct_graph_initial_const(job->graph), (size_t)size * sizeof *job->x);
    return CT_OK;
}

static ct_status estimate(const cli_io *io, const solve_request *request, solve_job *job, ct_err *err)
{
    const ct_sparse_options sparse = {.order = (ct_order)request->order};
    const double            begin = ct_now_s();
    cli_status_show(io, "analysing %s", request->path);
    ct_status status = ct_solver_new(job->graph, &sparse, &job->solver, err);
    job->analyse_s = ct_now_s() - begin;
    job->before = ct_accuracy_of(job->seq, job->x);
    if (status == CT_OK)
        status = request->method == SOLVE_ISAM2 ? solve_replayed(io, request, job, err)
                                                : solve_watched(io, request, job, err);
    job->after = ct_accuracy_of(job->seq, job->x);
    return status;
}

/* Estimates that mean something are written: all but those of graphs that are not determined, and of
 * errors that are not numbers. */
static ct_status finish(const cli_io *io, const solve_request *request, solve_job *job, ct_err *err)
{
    const ct_stop stop = job->result.stop;
    if (stop == CT_STOP_RANK && request->method == SOLVE_ISAM2)
        snprintf(job->loose, sizeof job->loose, "%s", job->replay.why);
    else if (stop == CT_STOP_RANK) ct_solver_undetermined_text(job->solver, job->loose, sizeof job->loose);
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

#define FAR 1.0 /* sigma: what thresholds left is as much as what measurements leave */

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
                   "%s: step by step ended %.2g sigma from the minimum; lower --relinearise and --wildfire, or solve "
                   "at once (--method lm)",
                   request->path, job->result.distance);
    switch (job->result.stop) {
    case CT_STOP_ERROR:
    case CT_STOP_STEP:
    case CT_STOP_GRADIENT: return CLI_DONE;
    case CT_STOP_ROUNDING:
        if (!ct_solve_usable(&job->result))
            return cli_fail(io,
                            "%s: not converged: %s; beside the strongest measurements the weakest are lost to rounding",
                            request->path, ct_stop_meaning(CT_STOP_ROUNDING));
        cli_remark(io, "%s: double precision resolves the minimum to about %.1g sigma only", request->path,
                   job->result.distance);
        return CLI_DONE;
    case CT_STOP_CANCELLED:
        cli_fail(io, "%s: interrupted after %d iteration%s", request->path, done, CLI_S(done));
        return CLI_INTERRUPTED;
    case CT_STOP_RANK: return cli_fail(io, "%s: not determined: %s%s", request->path, job->loose, unwritten);
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
    ct_graph_free(job->graph);
    ct_sequence_free(job->seq);
    ct_noise_free(job->table);
    ct_noise_free(job->noise);
}

static int find_method(const char *name) { return strcmp(name, "isam2") ? ct_method_find(name) : SOLVE_ISAM2; }

const char *solve_method_name(const solve_request *request)
{
    return request->method == SOLVE_ISAM2 ? "isam2" : ct_method_name((ct_method)request->method);
}

static int find_like(const char *name) { return strcmp(name, "gtsam") ? -1 : 1; }

#define X(constant, name) "|" name
static const char METHODS[] = CT_METHOD_LIST(X) "|isam2", ORDERS[] = CT_ORDER_LIST(X);
#undef X

#define AT(member) offsetof(solve_request, member)
static const cli_option OPTIONS[] = {
    CLI_ROW_HEADING("Files"),
    CLI_ROW_CHOICE("format", CLI_FORMATS, ct_format_find, AT(format),
                   "format of GRAPH (told from its ending, or its first line)"),
    CLI_ROW_REPAIR,
    CLI_ROW_TEXT("out", "FILE", AT(out), "write the graph, with the estimate for its initial values"),
    CLI_ROW_CHOICE("out-format", CLI_FORMATS, ct_format_find, AT(out_format),
                   "format of that file (told from its ending)"),
    CLI_ROW_FLAG("lossy", AT(lossy), "leave out what that format cannot hold, and say what"),
    CLI_ROW_HEADING("Method"),
    CLI_ROW_CHOICE("method", METHODS + 1, find_method, AT(method),
                   "Levenberg-Marquardt (lm, the default), Gauss-Newton, Powell's dogleg, Newton's method with "
                   "exact Hessians; or isam2: step by step in the order of the variables, "
                   "as a robot would on the way"),
    CLI_ROW_CHOICE("order", ORDERS + 1, ct_order_find, AT(order), "order of elimination (amd)"),
    CLI_ROW_INTEGER("max-iterations", "N", 1, INT32_MAX, AT(max_iterations), "give up after so many (300)"),
    CLI_ROW_NUMBER("tolerance", "R", 0, 1, AT(tolerance),
                   "converged when the error falls by less than this part of itself, or no number in a step is "
                   "larger (1e-9), and the "
                   "minimum is near: 1e-6 sigma, more by sqrt(R / 1e-9) for a larger R"),
    CLI_ROW_HEADING("Model"),
    CLI_ROW_TEXT("noise", "FILE|RUN", AT(noise),
                 "noise models of that file (JSON), or of what was learned there, in place of the graph's own of "
                 "the same names"),
    CLI_ROW_TEXT(
        "robust", "KIND[:WIDTH]", AT(robust),
        "a robust kernel on every noise model: huber, cauchy, geman_mcclure, tukey or none; width in sigmas"),
    CLI_ROW_TEXT(
        "anchor", "auto|none|NAME", AT(anchor),
        "hold this variable at its initial value by a prior; auto (the default): the first pose, if nothing else "
        "ties the graph to the world"),
    CLI_ROW_NUMBER("anchor-sigma", "S", 1e-6, 1e6, AT(anchor_sigma_given), "sigma of that prior, in m and rad (0.001)"),
    CLI_ROW_CHOICE("like", "gtsam", find_like, AT(like),
                   "measure poses as GTSAM's default build does, to compare numbers with it"),
    CLI_ROW_HEADING("Step by step"),
    CLI_ROW_NUMBER("relinearise", "S", 0, 10, AT(relinearise),
                   "isam2: linearise a variable anew when it has moved by more, in m or rad (0.1)"),
    CLI_ROW_INTEGER("skip", "N", 1, INT32_MAX, AT(skip),
                    "isam2: look for such variables every so many steps (10)"),
    CLI_ROW_NUMBER("wildfire", "S", 0, 10, AT(wildfire),
                   "isam2: changes below this are not carried on to older variables (0.001)"),
    CLI_ROW_INTEGER("window", "N", 1, INT32_MAX, AT(window),
                    "isam2: keep so many variables and marginalise out older ones (all are kept)"),
    CLI_ROW_HEADING("Output"),
    CLI_ROW_TEXT("sigmas", "NAME,..|all", AT(sigmas),
                 "print values and standard deviations of these variables, in their own frames"),
    CLI_ROW_FLAG("map", AT(map), "draw the variables before and after"),
    CLI_ROW_FLAG("trace", AT(trace), "a line an iteration, on stderr"),
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
                             .tolerance = usual.relative,
                             .relinearise = -1,
                             .wildfire = -1};
    cli_io                 io;
    solve_job              job = {.anchor = -1};
    cli_exit               code = cli_parse(command, &request, argc, argv, &io, &request.path);
    if (code == CLI_GO) code = check(&io, &request);
    if (code == CLI_GO) code = refuse_unused(&io, &request, argc, argv);
    if (code != CLI_GO) return code;
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
    .text = "Finds the values of the graph's variables that fit its measurements best, each weighed by its noise "
            "model, and prints how it "
            "went. Exit code 0 means that a minimum was found or, with isam2, that all steps were taken. Ctrl-C stops "
            "after the current iteration: what there is by then is printed "
            "and written, with exit code 130; a second one stops at once.\n",
    .example = "  covtune simulate grid --out city.ctseq\n"
               "  covtune solve city.ctseq --out solved.ctseq --map\n"
               "  covtune solve city.ctseq --sigmas x1,x3499 --json\n",
    .options = OPTIONS,
    .run = run,
};
