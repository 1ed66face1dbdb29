/* queue_start.c: a run is prepared and started: its folder, the user's files with values, arguments, environment. */
#define _GNU_SOURCE
#include "base/file.h"
#include "tune/queue.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

extern char **environ;

ct__scope ct__run_scope(const ct__local *q, const ct__run *run)
{
    return (ct__scope){.tuning = q->tuning,
                       .here = q->here,
                       .log = run->log,
                       .repeat = run->repeat,
                       .value = run->value,
                       .folder = run->folder,
                       .estimate = run->estimate,
                       .file = (const char *const *)run->file};
}

static ct_status make_folder(ct__local *q, ct__run *run, ct_err *err)
{
    char name[32];
    if (!q->serving) run->number = q->next_number++; /* else that of rank 0 */
    snprintf(name, sizeof name, "run-%06lld", (long long)run->number);
    run->folder = ct__join_path(q->folder, name);
    if (!run->folder) return ct__no_memory(err, "file names", 1);
    if (mkdir(run->folder, 0777) == 0) return CT_OK;
    return ct_fail(err, CT_E_IO, "%s: the folder cannot be made: %s", run->folder, strerror(errno));
}

/* An estimate outside the folder of the run: one that is there is of another run. */
static ct_status check_estimate(const ct__local *q, const ct__run *run, ct_err *err)
{
    const size_t size = strlen(run->folder);
    if (!strncmp(run->estimate, run->folder, size) && run->estimate[size] == '/') return CT_OK;
    if (q->slots > 1 || q->comm)
        return ct_fail(err, CT_E_ARGUMENT,
                       "%s: the estimate %s is one file for all runs, and %d run at once; put {folder} into its path, "
                       "or run with --jobs 1%s", q->tuning->path, run->estimate, q->slots,
                       q->comm ? " and without mpirun" : "");
    if (remove(run->estimate) == 0 || errno == ENOENT || errno == ENOTDIR) return CT_OK;
    return ct_fail(err, CT_E_IO, "%s: the estimate of an earlier run cannot be removed: %s", run->estimate,
                   strerror(errno));
}

/* Where the program writes its estimate. */
static ct_status place_estimate(ct__local *q, ct__run *run, ct_err *err)
{
    run->estimate = ct__join_path(run->folder, "estimate.txt");
    if (!run->estimate) return ct__no_memory(err, "file names", 1);
    const char *words = q->tuning->estimate;
    if (!words || !strcmp(words, "{estimate}")) return CT_OK;
    const ct__scope scope = ct__run_scope(q, run);
    ct__text        text = {0};
    char           *path = NULL;
    ct_status       status = ct__expand(&scope, words, &text, err);
    if (status == CT_OK && text.used && text.bytes[0] != '/') { /* relative to where the program runs */
        ct__text absolute = {0};
        ct__put_path(q->tuning->working_folder ? q->tuning->working_folder : run->folder, text.bytes, &absolute);
        status = ct__text_take(&absolute, &path, err);
    } else if (status == CT_OK) status = ct__text_take(&text, &path, err);
    ct__text_free(&text);
    if (status != CT_OK) return status;
    free(run->estimate);
    run->estimate = path;
    return check_estimate(q, run, err);
}

ct_status ct__run_prepare(ct__local *q, ct__run *run, ct_err *err)
{
    const ct_tuning *t = q->tuning;
    CT_TRY(make_folder(q, run, err));
    run->file = ct__zalloc((int64_t)t->files + 1, sizeof *run->file);
    if (!run->file) return ct__no_memory(err, "file names", t->files);
    for (int32_t i = 0; i < t->files; i++) {
        if (!t->file[i].config) { /* no parameter is in it: the user's own */
            ct__text text = {0};
            ct__put_path(q->here, t->file[i].path, &text);
            CT_TRY(ct__text_take(&text, &run->file[i], err));
            continue;
        }
        char *name = ct__copy_name(t, i);
        run->file[i] = name ? ct__join_path(run->folder, name) : NULL;
        free(name);
        if (!run->file[i]) return ct__no_memory(err, "file names", t->files);
    }
    CT_TRY(place_estimate(q, run, err));
    return ct__write_files(t, run->value, run->folder, 0, err);
}

/* ---- Vectors of texts ------------------------------------------------------------------------- */

typedef struct {
    char  **word; /* ended by NULL */
    int64_t count, capacity;
} vector;

static void free_vector(vector *v)
{
    for (int64_t i = 0; i < v->count; i++) free(v->word[i]);
    free(v->word);
    *v = (vector){0};
}

static ct_status take(vector *v, ct__text *text, ct_err *err)
{
    char *word;
    CT_TRY(ct__text_take(text, &word, err));
    const ct_status status = ct__grow(&v->word, &v->capacity, v->count + 2, sizeof *v->word, "arguments", err);
    if (status != CT_OK) {
        free(word);
        return status;
    }
    v->word[v->count++] = word;
    v->word[v->count] = NULL;
    return CT_OK;
}

static ct_status add_word(vector *v, const char *word, ct_err *err)
{
    ct__text text = {0};
    ct__text_put(&text, word);
    return take(v, &text, err);
}

/* A word of a command: a file of the tuning's folder by its path, anything else with placeholders replaced. */
static ct_status add_argument(const ct__scope *scope, vector *v, const char *word, ct_err *err)
{
    ct__text text = {0};
    char    *script = NULL;
    if (!scope->tuning->working_folder) CT_TRY(ct__tuning_script(scope->tuning, word, &script, err));
    if (script) {
        ct__text_put(&text, script);
        free(script);
        return take(v, &text, err);
    }
    const ct_status status = ct__expand(scope, word, &text, err);
    if (status == CT_OK) return take(v, &text, err);
    ct__text_free(&text);
    return status;
}

static ct_status make_arguments(ct__scope scope_of, const ct__tune_words *command, vector *v, ct_err *err)
{
    const ct__scope *scope = &scope_of;
    const int        shell = scope->tuning->shell && command == &scope->tuning->command;
    scope_of.shell = shell;
    if (shell) {
        CT_TRY(add_word(v, "sh", err));
        CT_TRY(add_word(v, "-c", err));
    }
    for (int32_t i = 0; i < command->count; i++) {
        ct__text        text = {0};
        const ct_status status = shell || i == 0 ? ct__expand(scope, command->word[i], &text, err) : CT_OK;
        if (status != CT_OK) {
            ct__text_free(&text);
            return status;
        }
        if (shell || i == 0) CT_TRY(take(v, &text, err));
        else CT_TRY(add_argument(scope, v, command->word[i], err));
    }
    return CT_OK;
}

/* Bytes of NAME in NAME=VALUE. */
static size_t name_size(const char *setting) { return strcspn(setting, "="); }

/* Add a setting in the place of one of that name. */
static ct_status set(vector *v, ct__text *text, ct_err *err)
{
    CT_TRY(take(v, text, err));
    const char  *last = v->word[v->count - 1];
    const size_t size = name_size(last);
    for (int64_t i = 0; i + 1 < v->count; i++) {
        if (name_size(v->word[i]) != size || memcmp(v->word[i], last, size)) continue;
        free(v->word[i]);
        v->word[i] = v->word[--v->count];
        v->word[v->count] = NULL;
        return CT_OK;
    }
    return CT_OK;
}

/* What mpirun tells its ranks. An estimator that uses MPI itself would take it for its own. */
static int is_of_ranks(const char *setting)
{
    static const char *const BEGINNINGS[] = {"OMPI_", "PMIX_", "PMI_", "PRTE_", "HYDRA_", "MPIR_"};
    for (size_t i = 0; i < sizeof BEGINNINGS / sizeof *BEGINNINGS; i++)
        if (!strncmp(setting, BEGINNINGS[i], strlen(BEGINNINGS[i]))) return 1;
    return 0;
}

static ct_status make_environment(const ct__scope *scope, int ranks, vector *v, ct_err *err)
{
    const ct_tuning *t = scope->tuning;
    ct__text         mark = {0};
    CT_TRY(ct__grow(&v->word, &v->capacity, 1, sizeof *v->word, "environment", err));
    v->word[0] = NULL;
    for (char **at = environ; at && *at; at++)
        if (!ranks || !is_of_ranks(*at)) CT_TRY(add_word(v, *at, err));
    ct__text_printf(&mark, CT__MARK "=%s/", scope->folder);
    CT_TRY(set(v, &mark, err));
    for (int32_t i = 0; i < t->environment.count; i++) {
        ct__text        text = {0};
        const ct_status status = ct__expand(scope, t->environment.word[i], &text, err);
        if (status == CT_OK) CT_TRY(set(v, &text, err));
        else ct__text_free(&text);
        if (status != CT_OK) return status;
    }
    for (int32_t i = 0; i < t->places; i++) {
        char     number[32];
        ct__text text = {0};
        if (t->place[i].kind != CT__PLACE_ENVIRONMENT) continue;
        ct__format_double(scope->value[t->place[i].parameter], number);
        ct__text_printf(&text, "%s=%s", t->place[i].name, number);
        CT_TRY(set(v, &text, err));
    }
    return CT_OK;
}

/* The command as a line for a shell, to be repeated by hand. */
static ct_status quote_command(ct__run *run, const vector *arguments, ct_err *err)
{
    ct__text text = {0};
    for (int64_t i = 0; i < arguments->count; i++) {
        ct__text_put(&text, i ? " '" : "'");
        for (const char *at = arguments->word[i]; *at; at++) {
            if (*at == '\'') ct__text_put(&text, "'\\''");
            else ct__text_bytes(&text, at, 1);
        }
        ct__text_put(&text, "'");
    }
    ct__text_put(&text, "\n");
    free(run->command);
    run->command = NULL;
    return ct__text_take(&text, &run->command, err);
}

ct_status ct__run_start(const ct__local *q, ct__run *run, const ct__child *child, const ct__tune_words *command,
                        const char *program, ct_err *err)
{
    const ct_tuning *t = q->tuning;
    const ct__scope  scope = ct__run_scope(q, run);
    const int        is_score = command == &t->score, is_server = command == &t->server;
    vector           arguments = {0}, environment = {0};
    ct_status        status = make_arguments(scope, command, &arguments, err);
    if (status == CT_OK) status = make_environment(&scope, q->comm != NULL, &environment, err);
    if (status == CT_OK) {
        const ct__program what = {.program = program ? program : arguments.word[0],
                                   .argument = (const char *const *)arguments.word,
                                   .environment = (const char *const *)environment.word,
                                   .folder = t->working_folder ? t->working_folder
                                             : is_server       ? q->folder
                                                               : run->folder,
                                   .time_limit_s = is_server ? 0 : t->time_limit_s,
                                   .memory_limit = t->memory_limit,
                                   .niceness = t->niceness,
                                   .keep_out = is_score ? CT__KEEP_SCORE : CT__KEEP_BYTES,
                                   .keep_err = CT__KEEP_BYTES};
        if (!is_score && !is_server) status = quote_command(run, &arguments, err);
        if (status == CT_OK) status = ct__child_start(child, &what, err);
    }
    free_vector(&arguments);
    free_vector(&environment);
    return status;
}

ct_status ct__run_command(const ct__local *q, ct__run *run, ct_err *err)
{
    vector    arguments = {0};
    ct_status status = make_arguments(ct__run_scope(q, run), &q->tuning->command, &arguments, err);
    if (status == CT_OK) status = quote_command(run, &arguments, err);
    free_vector(&arguments);
    return status;
}
