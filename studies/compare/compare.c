/* compare.c: covtune compare. Learns with several methods from the training sequences of a dataset, and evaluates each
 * result on the test sequences. */
#define _POSIX_C_SOURCE 200809L
#include "studies/compare/compare.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define METHODS "nelder-mead,powell,leo,fw,lm" /* where they are not given */

/* ---- options ---- */

/* "loose,0.1:10" into the job, each a pair of bounds or "dataset". */
static cli_exit take_bounds(const cli_io *io, const compare_request *request, compare_job *job)
{
    for (const char *list = request->bounds; *list || !job->bounds; list += *list == ',') {
        const size_t n = strcspn(list, ",");
        double       lower, upper;
        char         word[64];
        snprintf(word, sizeof word, "%.*s", (int)n, list);
        if (job->bounds == COMPARE_BOUNDS) return cli_misuse(io, "--bounds has more than %d in it", COMPARE_BOUNDS);
        if (strcmp(word, "dataset") && !ct_bounds_parse(word, &lower, &upper))
            return cli_misuse(
                io, "--bounds is a list of dataset, wide, loose, tight or LO:HI with 0 < LO <= HI, found \"%s\"", word);
        memcpy(job->bound[job->bounds++], word, sizeof word);
        list += n;
    }
    return CLI_GO;
}

/* 1 if a method draws random numbers. */
static int is_random(const compare_job *job)
{
    for (int i = 0; i < job->methods; i++)
        if (ct_learn_method_has(job->method[i]->method, CT_LEARN_RANDOM)) return 1;
    return 0;
}

static cli_exit check(const cli_io *io, compare_request *request, compare_job *job, int seed_said)
{
    char bad[64];
    job->methods = preset_list(request->methods ? request->methods : METHODS, job->method, COMPARE_METHODS, bad);
    if (job->methods < 0)
        return cli_misuse(io, "--methods is a list of methods (covtune compare --help has them), found \"%s\"", bad);
    if (seed_said && !is_random(job))
        return cli_misuse(
            io, "--seed is for methods that draw random numbers, leo and crs, and --methods %s has none of them",
            request->methods ? request->methods : METHODS);
    if (io->json && request->format >= 0 && !request->out)
        return cli_misuse(io, "--json prints one object; --format is of the table, for stdout or --out");
    if (request->out && request->format < 0) {
        const char *ending = strrchr(request->out, '.');
        request->format = !ending                    ? CT_TABLE_TEXT
                          : !strcmp(ending, ".csv")  ? CT_TABLE_CSV
                          : !strcmp(ending, ".json") ? CT_TABLE_JSON
                          : !strcmp(ending, ".md")   ? CT_TABLE_MARKDOWN
                                                     : CT_TABLE_TEXT;
    }
    if (cli_check_truth_sigma(io, request->truth_sigma) != CLI_GO || cli_check_robust(io, request->robust) != CLI_GO)
        return CLI_MISUSED;
    return take_bounds(io, request, job);
}

/* ---- data ---- */

/* latent.json beside the dataset, the noise of simulated measurements; NULL: there is none. The caller frees it. */
static char *latent_path(const char *path)
{
    struct stat entry;
    const char *slash = strrchr(path, '/');
    char       *folder = cli_check_alloc(strdup(path)), *found;
    if (stat(path, &entry) == 0 && !S_ISDIR(entry.st_mode))
        snprintf(folder, strlen(path) + 1, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    found = cli_path_join(folder, "latent.json");
    free(folder);
    if (stat(found, &entry) == 0) return found;
    free(found);
    return NULL;
}

static ct_status read_oracle(const cli_io *io, const compare_request *request, compare_job *job, ct_err *err)
{
    job->oracle_path = request->oracle ? cli_check_alloc(strdup(request->oracle)) : latent_path(request->path);
    if (!job->oracle_path) return CT_OK;
    ct_status status = ct_noise_copy(job->dataset->noise, &job->oracle, err);
    if (status == CT_OK) status = cli_read_noise(io, job->oracle_path, request->path, job->oracle, err);
    if (status == CT_OK) status = ct_robust_list_apply(request->robust, "--", job->oracle, err);
    for (int32_t i = 0; status == CT_OK && i < job->tests; i++)
        status = ct_graph_check_noise(job->test[i]->graph, job->oracle, err);
    return status;
}

/* Evaluates on the test sequences, or on the training sequences if there are none. */
static ct_status read_sequences(const cli_io *io, const compare_request *request, compare_job *job, ct_err *err)
{
    const ct_loss   all = ct_loss_defaults();
    ct_status       status = cli_read_dataset(io, request->path, CT_DATASET_ALL, &job->dataset, err);
    if (status == CT_OK) status = cli_set_truth_sigma(request->truth_sigma, job->dataset, err);
    if (status != CT_OK) return status;
    const ct_dataset *d = job->dataset;
    if (!d->trains)
        return ct_fail(err, CT_E_ARGUMENT, "%s: there are no training sequences to learn from", request->path);
    const ct_status held = cli_check_anchored(request->path, d->trains, d->train, err);
    if (held != CT_OK) return held;
    job->seen = !d->tests || cli_is_unsplit(request->path);
    job->tests = d->tests ? d->tests : d->trains;
    job->test = d->tests ? d->test : d->train;
    job->blind = job->untold = 1;
    for (int32_t i = 0; i < job->tests; i++) job->blind = job->blind && !ct_loss_terms(&all, job->test[i]);
    for (int32_t i = 0; i < d->trains; i++) job->untold = job->untold && !d->train[i]->truth;
    if (!request->methods && job->untold) {
        job->methods = 1;
        job->method[0] = preset_find("likelihood");
    }
    return CT_OK;
}

/* theta under each of the bounds, as covtune learn has it. */
static ct_status plan(const cli_io *io, const compare_request *request, compare_job *job, ct_err *err)
{
    ct_status status = CT_OK;
    for (int b = 0; b < job->bounds && status == CT_OK; b++) {
        const learn_request of = {
            .path = request->path,
            .robust = request->robust,
            .theta = {
                .bounds = job->bound[b],
                .full = request->full,
                .spread = request->spread,
                .option_prefix = "--",
            },
        };
        learn_job           its = {.dataset = job->dataset};
        status = learn_theta(io, &of, &its, err);
        job->theta[b] = its.theta;
    }
    return status;
}

static ct_trial_options options(const compare_request *request, const compare_job *job)
{
    ct_trial_options o = ct_trial_defaults();
    o.outer.jobs = o.test.jobs = request->jobs;
    o.outer.comm = o.test.comm = cli_comm();
    o.outer.loss.difference = o.test.loss.difference = (ct_difference)request->difference;
    o.test.inference.incremental = o.learn.deployment.incremental = request->deployment;
    o.test.conditioning = 1;
    o.test.nees = !job->blind;
    o.test.innovations = job->blind;
    o.outer.no_truth = job->untold;
    o.learn.seed = request->seed;
    o.learn.max_iterations = request->iterations;
    return o;
}

/* ---- output ---- */

static ct_status write_file(const compare_request *request, const compare_job *job, ct_err *err)
{
    ct_table *table = NULL;
    if (request->format == CT_TABLE_JSON) return compare_write_json(request, job, err);
    ct_status status = compare_table(request, job, (ct_table_format)request->format, &table, err);
    if (status == CT_OK) status = ct_table_write(table, (ct_table_format)request->format, request->out, err);
    ct_table_free(table);
    return status;
}

static ct_status print_table(const compare_request *request, const compare_job *job, ct_err *err)
{
    const ct_table_format format =
        request->out || request->format < 0 ? CT_TABLE_TEXT : (ct_table_format)request->format;
    ct_table             *table = NULL;
    if (format == CT_TABLE_JSON) {
        compare_print_json(request, job);
        return CT_OK;
    }
    ct_status status = compare_table(request, job, format, &table, err);
    const int width = cli_result_width() == INT_MAX ? 0 : cli_result_width();
    if (status == CT_OK) status = ct_table_print(table, format, width, stdout, err);
    ct_table_free(table);
    return status;
}

/* 1 if --out is free, or holds a table of this program: each format begins in its own way. */
static int may_replace(const compare_request *request)
{
    static const char *const BEGINS[CT_TABLE_COUNT] = {[CT_TABLE_CSV] = "method,",
                                                       [CT_TABLE_JSON] = "{\n \"dataset\": ",
                                                       [CT_TABLE_MARKDOWN] = "**",
                                                       [CT_TABLE_TEXT] = ""};
    char                     title[64];
    snprintf(title, sizeof title, "%s: methods", request->path);
    return !request->out || cli_is_stdout(request->out) ||
           cli_replaceable(request->out, request->format == CT_TABLE_TEXT ? title : BEGINS[request->format]);
}

/* The bodies of the first row that has any: they are the same in all rows. */
static void name_bodies(compare_job *job)
{
    for (int i = 0; i < job->rows && !job->bodies; i++) {
        job->bodies = job->row[i].cell.test.bodies;
        memcpy(job->body, job->row[i].cell.test.body, sizeof job->body);
    }
}

static cli_exit carry_out(const cli_io *io, const compare_request *request, compare_job *job)
{
    ct_err err = {0};
    if (!may_replace(request))
        return cli_fail(io,
                        "%s: exists and is no table of this command; choose another name for --out",
                        request->out);
    ct_status status = read_sequences(io, request, job, &err);
    if (status == CT_OK) status = plan(io, request, job, &err); /* may change the noise table */
    if (status == CT_OK) status = read_oracle(io, request, job, &err);
    job->options = options(request, job);
    if (status == CT_OK) status = ct_inference_choose(job->tests, job->test, &job->options.test.inference, &err);
    if (status == CT_OK) status = compare_rows(io, job, &err);
    if (request->by_name) name_bodies(job);
    cli_status_clear();
    if (status == CT_OK && request->out) status = write_file(request, job, &err);
    if (status == CT_OK && io->json) compare_print_json(request, job);
    else if (status == CT_OK && !io->quiet) status = print_table(request, job, &err);
    if (status != CT_OK) return cli_fail(io, "%s", err.text);
    if (!job->interrupted) return CLI_DONE;
    cli_fail(io, "%s: interrupted; %d row%s done", request->path, job->rows, job->rows == 1 ? " is" : "s are");
    return CLI_INTERRUPTED;
}

static void release(compare_job *job)
{
    for (int b = 0; b < COMPARE_BOUNDS; b++) ct_theta_free(job->theta[b]);
    ct_noise_free(job->oracle);
    free(job->oracle_path);
    ct_dataset_free(job->dataset);
}

#define X(constant, name) "|" name
static const char DIFFERENCES[] = CT_DIFFERENCE_LIST(X);
#undef X
#define X(constant, name, what) "|" name
static const char FORMATS[] = CT_TABLE_LIST(X);
#undef X

#define AT(member) offsetof(compare_request, member)
static const cli_option OPTIONS[] = {
    CLI_ROW_TEXT(
        "methods", "NAME,..", AT(methods),
        "those of covtune learn (" METHODS "; likelihood where there is no truth); lm-alone: lm from the table's "
        "values without a prior; "
        "fw-left: fw with the paper's left loss; fw-numeric: fw with the paper's numerical differences"),
    CLI_ROW_TEXT("bounds", "NAME,..", AT(bounds),
                 "each of dataset, wide, loose, tight or LO:HI, as for covtune learn (loose,tight)"),
    CLI_ROW_TEXT("oracle", "FILE|RUN", AT(oracle),
                 "the true noise of the measurements (DATASET/latent.json if it exists)"),
    CLI_ROW_TEXT("robust", CLI_ROBUST_VALUE, AT(robust), CLI_ROBUST_HELP),
    CLI_ROW_REPAIR,
    CLI_ROW_PLUGIN,
    CLI_ROW_TEXT("full", "NAME,..|all", AT(full), "models to learn as full covariances"),
    CLI_ROW_NUMBER("spread", "K", 1, INFINITY, AT(spread), "no variance more than K times another (no limit)"),
    CLI_ROW_CHOICE(
        "loss", DIFFERENCES + 1, ct_difference_find, AT(difference),
        "difference from the truth in the loss: in the local frame (local), or in the world (left, the paper's)"),
    CLI_ROW_TEXT("truth-sigma", "M[,RAD]", AT(truth_sigma), CLI_TRUTH_SIGMA_HELP),
    CLI_ROW_CHOICE("deployment", "auto|batch|isam2", cli_find_solver_or_auto, AT(deployment),
                   "inference for held-out and test sequences: batch, incremental (isam2), or as covtune eval chooses "
                   "(auto)"),
    CLI_ROW_ALIAS("field", "deployment"),
    CLI_ROW_FLAG("by-name", AT(by_name),
                 "accuracy of each body as well, such as an object o0, o1, .. and the finger e0, e1, .. that pushes "
                 "it"),
    CLI_ROW_INTEGER("iterations", "N", 1, 1000000, AT(iterations),
                    "limit of iterations of each method (its own)"),
    CLI_ROW_SEED("seed", "K", AT(seed), "of methods that draw random numbers (1)"),
    CLI_ROW_CHOICE("format", FORMATS + 1, ct_table_format_find, AT(format), "of the table (text)"),
    CLI_ROW_TEXT("out", "FILE", AT(out),
                 "write the table there as well, in the format of --format or of its ending: .csv, .json (as --json), "
                 ".md, else text"),
    CLI_ROW_INTEGER("jobs", "N", 1, CLI_JOBS_MAX, AT(jobs),
                    "threads (one a processor); they do not change the results"),
    CLI_ROW_END,
};
#undef AT

static cli_exit run(const cli_command *command, int argc, char **argv)
{
    compare_request request = {.bounds = "loose,tight",
                               .deployment = CT_INFERENCE_AUTO,
                               .format = -1,
                               .jobs = cli_processors(),
                               .spread = INFINITY,
                               .seed = 1};
    cli_io       io;
    compare_job *job = cli_alloc(1, sizeof *job);
    cli_exit     code = cli_parse(command, &request, argc, argv, &io, &request.path);
    if (code == CLI_GO) code = check(&io, &request, job, cli_option_given(argc, argv, "seed"));
    if (code == CLI_GO) code = cli_finish(&io, carry_out(&io, &request, job));
    release(job);
    free(job);
    return code;
}

const cli_command cli_compare = {
    .name = "compare",
    .brief = "learn with several methods and compare the results",
    .operands = "DATASET",
    .least = 1,
    .most = 1,
    .text =
        "Learns noise models from the training sequences with each method under each pair of bounds. Evaluates each "
        "on the test sequences: accuracy, consistency, conditioning, cost. The first rows are the start values, the "
        "oracle if it is known, and the closed form. The best method of each bounds is marked. A method that does not "
        "support the request has the reason in its row. Test sequences without truth are compared by chi-square, by "
        "innovations and the log density of held-out measurements, and by second differences. The numbers are those of "
        "covtune learn and covtune eval. "
        "Nothing is written without --out; covtune learn writes noise files. Ctrl-C prints the finished rows, with "
        "exit code 130.\n",
    .example = "  covtune simulate nav2d --dataset D3 --train 5 --test 20 --out D3\n"
               "  covtune compare D3 --methods fw,lm\n"
               "  covtune compare D3 --bounds tight --format markdown --out D3.md\n",
    .options = OPTIONS,
    .run = run,
};
