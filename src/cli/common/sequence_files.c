/* sequence_files.c: reads and writes sequences, datasets and noise files for the subcommands. */
#define _POSIX_C_SOURCE 200809L
#include "cli/common/cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define X(constant, name, ending, what) "|" name
const char cli_format_words[] = CT_FORMAT_LIST(X);
#undef X

static ct_status refuse_dash(const char *path, ct_err *err)
{
    if (strcmp(path, "-")) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT,
                   "\"-\" is not a file name; for a pipe use /dev/stdin or /dev/stdout, and give the format by an "
                   "option");
}

static int exists(const char *path)
{
    struct stat entry;
    return stat(path, &entry) == 0;
}

static int is_folder(const char *path)
{
    struct stat entry;
    return stat(path, &entry) == 0 && S_ISDIR(entry.st_mode);
}

static int has(const char *folder, const char *name)
{
    char     *path = cli_path_join(folder, name);
    const int there = exists(path);
    free(path);
    return there;
}

static int is_yaml(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml"));
}

/* A noise file has its format key near the beginning. A pipe is not inspected, because that would consume it. */
static int is_noise(const char *path)
{
    struct stat entry;
    char        head[1024];
    FILE       *file = stat(path, &entry) == 0 && S_ISREG(entry.st_mode) ? cli_open(path, "r") : NULL;
    if (!file) return 0;
    head[fread(head, 1, sizeof head - 1, file)] = 0;
    fclose(file);
    return head[strspn(head, " \t\r\n")] == '{' && strstr(head, "\"covtune-noise\"");
}

/* Refuses noise files and run folders where sequences are expected. */
static ct_status refuse_noise(const cli_io *io, const char *path, ct_err *err)
{
    const int   takes = !strcmp(io->command, "solve") || !strcmp(io->command, "eval") || !strcmp(io->command, "learn");
    const char *option = takes                            ? "; did you mean --noise?"
                         : !strcmp(io->command, "report") ? "; --dataset PATH names the dataset"
                                                          : "";
    if (is_noise(path)) return ct_fail(err, CT_E_ARGUMENT, "%s: this is a noise file, not a sequence%s", path, option);
    if (is_folder(path) && has(path, "noise.json") && has(path, "config.yaml") && !has(path, "dataset.yaml"))
        return ct_fail(err, CT_E_ARGUMENT, "%s: this is a run folder of covtune learn, not a dataset%s", path, option);
    return CT_OK;
}

/* Adds a hint to the error of an unknown format. */
static ct_status hint_option(ct_status status, ct_err *err)
{
    char text[sizeof err->text];
    if (status == CT_OK || status == CT_E_MEMORY || status == CT_E_IO || !err) return status;
    memcpy(text, err->text, sizeof text);
    return ct_fail(err, status, "%s; give the format by an option, see --help", text);
}

/* A pipe can be read only once, so its format cannot be detected. */
static ct_status guess(const char *path, ct_format *format, ct_err *err)
{
    struct stat file;
    if (ct_format_guess(path, 0, format, NULL) == CT_OK) return CT_OK;
    if (stat(path, &file) == 0 && !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode))
        return hint_option(ct_fail(err, CT_E_ARGUMENT, "%s: the format of a pipe or device is not detected", path),
                           err);
    return hint_option(ct_format_guess(path, 1, format, err), err);
}

/* Refuses folders where one file is expected. */
static ct_status refuse_folder(const char *path, ct_err *err)
{
    struct stat found;
    if (stat(path, &found) || !S_ISDIR(found.st_mode)) return CT_OK;
    return ct_fail(err, CT_E_IO,
                   "%s: is a folder; expected one file (info, eval and learn take a dataset folder)",
                   path);
}

ct_status cli_read_sequence(const cli_io *io, const char *path, ct_format *format, ct_noise *noise, ct_sequence **out,
                   ct_err *err)
{
    return cli_read_push(io, path, format, NULL, noise, out, err);
}

ct_status cli_read_push(const cli_io *io, const char *path, ct_format *format, const ct_push_csv_options *push,
                        ct_noise *noise, ct_sequence **out, ct_err *err)
{
    *out = NULL;
    ct_status status = refuse_dash(path, err);
    if (status == CT_OK) status = refuse_folder(path, err);
    if (status == CT_OK) status = refuse_noise(io, path, err);
    if (status == CT_OK && *format == CT_FORMAT_AUTO) status = guess(path, format, err);
    const ct_read_options how = {.repair = io->repair, .push = push, .models = io->models, .jobs = io->jobs};
    if (status == CT_OK) status = ct_sequence_read_with(path, *format, &how, noise, out, err);
    if (status != CT_OK) return status;
    if (ct_graph_variables((*out)->graph) == 0) {
        ct_sequence_free(*out);
        *out = NULL;
        return ct_fail(err, CT_E_PARSE, "%s: the file has no variables", path);
    }
    if ((*out)->note) cli_remark(io, "%s: %s", path, (*out)->note);
    cli_check_plugin_models(io, path, *out);
    return CT_OK;
}

ct_status cli_read_dataset(const cli_io *io, const char *path, ct_dataset_part part, ct_dataset **out, ct_err *err)
{
    *out = NULL;
    ct_status status = refuse_noise(io, path, err);
    if (status != CT_OK) return status;
    cli_status_show(io, "reading %s", path);
    status = ct_dataset_read_with(path, part, &(const ct_read_options){.repair = io->repair,
                                                           .models = io->models,
                                                           .memory = io->memory,
                                                           .jobs = io->jobs,
                                                           .comm = cli_comm()},
                                  out, err);
    cli_status_clear();
    if (status == CT_OK && (*out)->note) cli_remark(io, "%s: %s", path, (*out)->note);
    if (status == CT_OK && (*out)->trains) cli_check_plugin_models(io, path, (*out)->train[0]);
    else if (status == CT_OK && (*out)->tests) cli_check_plugin_models(io, path, (*out)->test[0]);
    return status;
}

static const char TRUTH_SIGMA[] = "--truth-sigma";

cli_exit cli_check_truth_sigma(const cli_io *io, const char *text)
{
    double sigma[2];
    ct_err err = {0};
    if (!text || ct_truth_sigma_parse(text, TRUTH_SIGMA, sigma, &err) == CT_OK) return CLI_GO;
    return cli_misuse(io, "%s", err.text);
}

cli_exit cli_check_memory(const cli_io *io, const char *text, int64_t *bytes)
{
    static const char units[] = "KMGT";
    char             *end = NULL;
    *bytes = 0;
    if (!text) return CLI_GO;
    const double number = strtod(text, &end);
    const char  *unit = *end ? strchr(units, *end >= 'a' ? *end - 'a' + 'A' : *end) : NULL;
    const double size = unit ? ldexp(number, 10 * (int)(unit - units + 1)) : number;
    if (end == text || !(number > 0) || !(size >= 1) || !(size < 1e18) || (*end && (!unit || end[1])))
        return cli_misuse(io, "--memory is a size such as 500M or 2G (K, M, G, T), found \"%s\"", text);
    *bytes = (int64_t)size;
    return CLI_GO;
}

cli_exit cli_check_robust(const cli_io *io, const char *list)
{
    ct_err err = {0};
    return ct_robust_list_check(list, "--", &err) == CT_OK ? CLI_GO : cli_misuse(io, "%s", err.text);
}

ct_status cli_set_truth_sigma(const char *text, ct_dataset *dataset, ct_err *err)
{
    double sigma[2];
    if (!text) return CT_OK;
    const ct_status status = ct_truth_sigma_parse(text, TRUTH_SIGMA, sigma, err);
    return status == CT_OK ? ct_dataset_set_truth_sigma(dataset, sigma, err) : status;
}

int cli_is_unsplit(const char *path)
{
    if (!is_folder(path)) return !is_yaml(path);
    return !has(path, "dataset.yaml") && !has(path, "train") && !has(path, "test");
}

int32_t cli_count_sequences(const cli_io *io, const char *path, ct_dataset_part part)
{
    ct_dataset   *d;
    ct_err        err;
    const ct_read_options how = {.repair = io->repair, .models = io->models};
    const int             failed = ct_dataset_read_with(path, part, &how, &d, &err) != CT_OK;
    if (failed && err.status == CT_E_MEMORY) cli_check_alloc(NULL);
    const int32_t count = failed                     ? 0
                          : part == CT_DATASET_TRAIN ? d->trains
                          : part == CT_DATASET_TEST  ? d->tests
                                                     : d->trains + d->tests;
    if (!failed) ct_dataset_free(d);
    return count;
}

/* ---- noise ---- */

ct_status cli_noise_path(const char *path, char **file, ct_err *err)
{
    *file = NULL;
    if (is_yaml(path) && cli_is_config(path, "dataset"))
        return ct_fail(err, CT_E_ARGUMENT, "%s: this is a config file of covtune learn, not a noise file", path);
    if ((is_yaml(path) && exists(path) && !is_noise(path)) || (is_folder(path) && has(path, "dataset.yaml")))
        return ct_fail(err, CT_E_ARGUMENT, "%s: this is a dataset, not a noise file", path);
    if (is_folder(path)) {
        ct_run_folder_info     info;
        const ct_status status = cli_check_run(path, &info, err);
        if (status != CT_OK) return status;
    }
    if (is_folder(path) && !has(path, "noise.json"))
        return ct_fail(
            err, CT_E_ARGUMENT,
            "%s: this is a folder without noise.json; expected a noise file or a run folder of covtune learn",
            path);
    *file = is_folder(path) ? cli_path_join(path, "noise.json") : cli_check_alloc(strdup(path));
    return CT_OK;
}

/* Is the new name the group of a model that the table had: "odom" of "odom@0" or "odom#7"? */
static int is_whole(const ct_noise *noise, int32_t before, const char *name)
{
    const size_t n = strlen(name);
    for (int32_t i = 0; i < before; i++) {
        const char *model = ct_noise_get(noise, i)->name;
        if (!strncmp(model, name, n) && (model[n] == '@' || model[n] == '#')) return 1;
    }
    return 0;
}

/* The strength of a bias, whose states are added, or the start of one? */
static int is_of_bias(const ct_noise *noise, int32_t model)
{
    const ct_noise_model *m = ct_noise_get(noise, model);
    const size_t          n = strlen(m->name), end = strlen("_start");
    char                  name[256];
    if (m->bias) return 1;
    if (n <= end || strcmp(m->name + n - end, "_start")) return 0;
    snprintf(name, sizeof name, "%.*s", (int)(n - end), m->name);
    const int32_t of = ct_noise_find(noise, name);
    return of >= 0 && ct_noise_get(noise, of)->bias;
}

ct_status cli_read_noise(const cli_io *io, const char *path, const char *of, ct_noise *noise, ct_err *err)
{
    const int32_t before = ct_noise_count(noise);
    char         *file;
    ct_status     status = cli_noise_path(path, &file, err);
    if (status == CT_OK) status = ct_noise_read(noise, file, err);
    free(file);
    int32_t       extra = 0, first = -1;
    for (int32_t i = before; status == CT_OK && i < ct_noise_count(noise); i++) {
        if (is_whole(noise, before, ct_noise_get(noise, i)->name) || is_of_bias(noise, i)) continue;
        first = extra++ ? first : i;
    }
    if (extra)
        cli_remark(
            io,
            "%s: %d of its models (%s the first) %s not in %s and %s no effect; covtune info lists the models there",
            path, extra, ct_noise_get(noise, first)->name, extra == 1 ? "is" : "are", of,
            extra == 1 ? "has" : "have");
    return status;
}

int cli_is_stdout(const char *path)
{
    struct stat file, out;
    if (stat(path, &file) || fstat(STDOUT_FILENO, &out)) return 0;
    /* regular files are replaced, never written into */
    return file.st_dev == out.st_dev && file.st_ino == out.st_ino && !S_ISREG(file.st_mode);
}

int cli_is_trajectory(ct_format format) { return format == CT_FORMAT_TUM || format == CT_FORMAT_KITTI; }

/* TUM cannot hold poses without a time if others have one: a loss that needs --lossy. */
static ct_status check_times(const ct_sequence *seq, ct_format format, int lossy, ct_err *err)
{
    char name[128];
    for (int32_t v = 0; !lossy && format == CT_FORMAT_TUM && seq->stamp && v < ct_graph_variables(seq->graph); v++)
        if (cli_is_pose(ct_graph_kind(seq->graph, v)) && isnan(seq->stamp[v]))
            return ct_fail(err, CT_E_UNSUPPORTED, "variable %s has no time, other poses have one",
                           ct_graph_name(seq->graph, v, name, sizeof name));
    return CT_OK;
}

/* Adds the file name and the option that allows the loss. */
static ct_status explain(const char *path, ct_status status, ct_err *err)
{
    char text[sizeof err->text];
    if (status != CT_E_UNSUPPORTED || !err) return status;
    memcpy(text, err->text, sizeof text);
    return ct_fail(err, status, "%s: %s; --lossy leaves it out", path, text);
}

ct_status cli_write_sequence(const ct_sequence *seq, const ct_noise *noise, const double *x, int format, int lossy,
                    const char *path, cli_written *written, ct_err *err)
{
    *written = (cli_written){.format = (ct_format)format};
    ct_status status = refuse_dash(path, err);
    if (status == CT_OK && written->format == CT_FORMAT_AUTO)
        status = hint_option(ct_format_guess(path, 0, &written->format, err), err);
    if (status == CT_OK) status = check_times(seq, written->format, lossy, err);
    if (status != CT_OK) return explain(path, status, err);
    status = ct_sequence_write(seq, noise, x, written->format, 0, path, NULL, err);
    if (status != CT_E_UNSUPPORTED || !(lossy || cli_is_trajectory(written->format))) return explain(path, status, err);
    snprintf(written->what, sizeof written->what, "%s", err ? err->text : "");
    return ct_sequence_write(seq, noise, x, written->format, 1, path, &written->dropped, err);
}

void cli_remark_dropped(const cli_io *io, const char *path, const cli_written *written)
{
    if (written->dropped && cli_is_trajectory(written->format)) {
        cli_remark(io, "%s: only poses are written; a trajectory holds nothing else", path);
        return;
    }
    if (written->dropped == 1) cli_remark(io, "%s: one item was left out: %s", path, written->what);
    if (written->dropped > 1)
        cli_remark(io, "%s: %lld items were left out; the first: %s", path, (long long)written->dropped,
                   written->what);
}

ct_status cli_check_output(const char *path, ct_err *err)
{
    struct stat old;
    if (stat(path, &old) == 0) {
        if (S_ISDIR(old.st_mode)) return ct_fail(err, CT_E_IO, "%s: cannot be written: it is a folder", path);
        if (access(path, W_OK)) return ct_fail(err, CT_E_IO, "%s: cannot be written: %s", path, strerror(errno));
        if (!S_ISREG(old.st_mode)) return CT_OK;
    }
    const char *slash = strrchr(path, '/');
    char       *folder = cli_alloc((int64_t)strlen(path) + 2, 1);
    memcpy(folder, slash ? path : ".", slash ? (size_t)(slash - path + 1) : 1);
    const int failed = access(folder, W_OK | X_OK);
    free(folder);
    return failed ? ct_fail(err, CT_E_IO, "%s: cannot create a file in this folder: %s", path, strerror(errno)) : CT_OK;
}

/* Values slightly different from the initial ones, like an estimate. */
static double *other_values(const ct_graph *g)
{
    const double d[CT_DIM_MAX] = {1e-3, 1e-3, 1e-3, 1e-3, 1e-3, 1e-3};
    double      *x = cli_alloc(ct_graph_size(g), sizeof *x);
    for (int32_t v = 0; v < ct_graph_variables(g); v++) {
        const int64_t at = ct_graph_offset(g, v);
        ct_kind_retract(ct_graph_kind(g, v), ct_graph_initial_const(g) + at, d, x + at);
    }
    return x;
}

ct_status cli_check_write(const ct_sequence *seq, const ct_noise *noise, ct_format from, int format, int lossy,
                        const char *path, ct_err *err)
{
    ct_format guessed = (ct_format)format;
    ct_status status = refuse_dash(path, err);
    if (status == CT_OK && guessed == CT_FORMAT_AUTO)
        status = hint_option(ct_format_guess(path, 0, &guessed, err), err);
    if (status == CT_OK) status = cli_check_output(path, err);
    if (status != CT_OK || guessed == CT_FORMAT_COVTUNE) return status; /* which holds everything */
    if (guessed == from && !seq->truth) return status;
    double *x = other_values(seq->graph);
    status = check_times(seq, guessed, lossy, err);
    if (status == CT_OK)
        status = ct_sequence_write(seq, noise, x, guessed, lossy || cli_is_trajectory(guessed), "/dev/null", NULL, err);
    free(x);
    return explain(path, status, err);
}

int cli_is_pose(ct_kind kind) { return kind == CT_SE2 || kind == CT_SE3; }

const char *cli_describe_kinds(const ct_graph *graph, char *buf, size_t size)
{
    int32_t count[CT_KIND_COUNT] = {0};
    size_t  used = 0;
    for (int32_t v = 0; v < ct_graph_variables(graph); v++) count[ct_graph_kind(graph, v)]++;
    buf[0] = 0;
    for (int k = CT_KIND_COUNT - 1; k >= 0 && used < size; k--) /* poses first */
        if (count[k])
            used += (size_t)snprintf(buf + used, size - used, "%s%d %s", used ? ", " : "", count[k],
                                     ct_kind_name((ct_kind)k));
    return buf;
}

int cli_replaceable(const char *path, const char *begins)
{
    char   head[64] = "";
    FILE  *file = cli_open(path, "rb");
    if (!file) return errno == ENOENT || errno == ENOTDIR; /* other errors are reported by the write */
    const size_t n = fread(head, 1, strlen(begins), file);
    fclose(file);
    return n == 0 || !strncmp(head, begins, strlen(begins));
}

int cli_is_page(const char *path)
{
    static const char MADE[] = "<footer>Made by covtune ";
    char             *line = NULL;
    size_t            size = 0;
    int               found = 0, first = 1;
    FILE             *file = cli_open(path, "rb");
    while (file && !found && cli_getline(&line, &size, file) > 0) {
        if (first && strncmp(line, "<!DOCTYPE html>", 15)) break; /* file signature */
        first = 0;
        found = strstr(line, MADE) != NULL; /* file signature */
    }
    free(line);
    if (file) fclose(file);
    return found;
}

int cli_replaceable_page(const char *path)
{
    struct stat entry;
    if (stat(path, &entry))
        return errno == ENOENT || errno == ENOTDIR; /* other errors are reported by the write */
    return !S_ISREG(entry.st_mode) || entry.st_size == 0 || cli_is_page(path);
}

ct_status cli_check_run(const char *folder, ct_run_folder_info *info, ct_err *err)
{
    const ct_status status = ct_run_folder_inspect(folder, info, err);
    if (status != CT_OK || info->state != CT_RUN_FOLDER_CUT) return status;
    return ct_fail(err, CT_E_IO,
                   "%s: covtune %s was stopped while it replaced a run there, and its files belong to two runs; repeat "
                   "the command with --resume",
                   folder, info->of);
}
