/* run.c: covtune info of a run folder. */
#define _POSIX_C_SOURCE 200809L
#include "cli/info/info.h"
#include "cli/learn/learn.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BEFORE, AFTER };

typedef struct {
    const char   *path;
    learn_run     run;
    const json_t *summary;      /* NULL: none, or the run was resumed since              */
    json_t       *files;        /* names in the folder                                   */
    int           resumable;
    char          written[32];  /* time of noise.json                                    */
    int64_t       evaluations;  /* from the summary, otherwise lines of the history      */
    double        best;         /* best training loss, without folds; NaN: none          */
} run_summary;

/* ---- reading ---- */

static void list_files(run_summary *s)
{
    struct dirent **entry = NULL;
    const int       n = scandir(s->path, &entry, NULL, alphasort);
    if (n < 0 && errno == ENOMEM) cli_check_alloc(NULL);
    s->files = cli_array();
    for (int i = 0; i < n; i++) {
        if (entry[i]->d_name[0] != '.') cli_append(s->files, cli_text(entry[i]->d_name));
        free(entry[i]);
    }
    free(entry);
}

/* Evaluations, and the best training loss outside of cross-validation. */
static void read_history(run_summary *s)
{
    const json_t *total = json_object_get(s->summary, "evaluations"), *o;
    size_t        i;
    s->best = NAN;
    s->evaluations = json_is_integer(total) ? json_integer_value(total) : (int64_t)json_array_size(s->run.evaluations);
    json_array_foreach(s->run.evaluations, i, o)
    {
        const json_t *train = json_object_get(o, "train");
        const int     phase = ct_learn_phase_find(json_string_value(json_object_get(o, "phase")));
        if (phase < 0 || phase == CT_LEARN_PHASE_FOLDS || !json_is_number(train)) continue;
        if (!(json_number_value(train) >= s->best)) s->best = json_number_value(train);
    }
}

static cli_exit read_all(cli_io *io, run_summary *s)
{
    struct stat    entry;
    struct tm      local;
    const cli_exit code = learn_run_read(io, s->path, 0, &s->run);
    if (code != CLI_GO) return code;
    char *checkpoint = cli_path_join(s->path, "checkpoint");
    s->resumable = access(checkpoint, F_OK) == 0;
    free(checkpoint);
    if (stat(s->run.noise, &entry) == 0 && localtime_r(&entry.st_mtime, &local))
        strftime(s->written, sizeof s->written, "%Y-%m-%d %H:%M", &local);
    if (s->run.finished) s->summary = s->run.summary_json;
    read_history(s);
    list_files(s);
    return CLI_GO;
}

/* ---- parts of it ---- */

static const json_t *origin(const run_summary *s, const char *key)
{
    return json_object_get(json_object_get(s->run.noise_json, "provenance"), key);
}

static const char *origin_text(const run_summary *s, const char *key)
{
    const char *text = json_string_value(origin(s, key));
    return text ? text : "not known";
}

static const json_t *group_of(const run_summary *s, const ct_noise_model *m)
{
    return json_object_get(json_object_get(s->run.noise_json, "groups"), m->name);
}

static const ct_noise_model *before(const run_summary *s, const ct_noise_model *m)
{
    const int32_t i = s->run.table[BEFORE] ? ct_noise_find(s->run.table[BEFORE], m->name) : -1;
    return i < 0 ? NULL : ct_noise_get(s->run.table[BEFORE], i);
}

static double loss_of(const run_summary *s, const char *key)
{
    const json_t *value = json_object_get(json_object_get(s->summary, "loss"), key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* ---- JSON ---- */

static json_t *copy_of(const json_t *value)
{
    return value ? cli_check_alloc(json_deep_copy(value)) : cli_check_alloc(json_null());
}

static json_t *model_json(const run_summary *s, const ct_noise_model *m)
{
    const ct_noise_model *was = before(s, m);
    json_t               *o = cli_object(), *start = cli_object();
    info_put_sigmas(o, m);
    if (was) info_put_sigmas(start, was);
    cli_put(o, "start_sigma", copy_of(json_object_get(start, "sigma")));
    cli_put(o, "sigma_error_percent", copy_of(json_object_get(group_of(s, m), "sigma_error_percent")));
    cli_put(o, "learned", copy_of(json_object_get(group_of(s, m), "learned")));
    json_decref(start);
    return o;
}

static void print_json(const run_summary *s)
{
    json_t *o = cli_object(), *noise = cli_object();
    for (int32_t i = 0; i < ct_noise_count(s->run.table[AFTER]); i++)
        cli_put(noise, ct_noise_get(s->run.table[AFTER], i)->name, model_json(s, ct_noise_get(s->run.table[AFTER], i)));
    cli_put(o, "run", cli_text(s->path));
    cli_put(o, "finished", cli_check_alloc(json_boolean(s->run.finished)));
    cli_put(o, "resumable", cli_check_alloc(json_boolean(s->resumable)));
    cli_put(o, "dataset", copy_of(origin(s, "dataset")));
    cli_put(o, "command", copy_of(origin(s, "command")));
    cli_put(o, "version", copy_of(origin(s, "version")));
    cli_put(o, "digest", copy_of(origin(s, "digest")));
    cli_put(o, "written", cli_text(*s->written ? s->written : NULL));
    cli_put(o, "method", cli_text(ct_learn_method_name((ct_learn_method)s->run.learn.method)));
    cli_put(o, "stop", copy_of(json_object_get(s->summary, "stop")));
    cli_put(o, "evaluations", cli_integer(s->evaluations));
    cli_put(o, "best", cli_number(s->best));
    cli_put(o, "loss", copy_of(json_object_get(s->summary, "loss")));
    cli_put(o, "noise", noise);
    cli_put(o, "files", copy_of(s->files));
    cli_print_json(o);
}

/* ---- for people ---- */

static const char *stop_text(const run_summary *s)
{
    const int stop = ct_learn_stop_find(json_string_value(json_object_get(s->summary, "stop")));
    return stop < 0 ? NULL : learn_stop_text((ct_learn_method)s->run.learn.method, (ct_learn_stop)stop);
}

static void print_state(const run_summary *s)
{
    const char *stop = stop_text(s);
    if (s->run.finished) {
        cli_row("state", "finished%s%s; %lld evaluation%s of the loss", stop ? ": " : "", stop ? stop : "",
                (long long)s->evaluations, CLI_S(s->evaluations));
        return;
    }
    char *config = cli_shell_quote(s->run.config), *run = cli_shell_quote(s->path);
    cli_row("state", "not finished: %lld evaluation%s of the loss so far, noise.json is the best of them%s",
            (long long)s->evaluations, CLI_S(s->evaluations),
            s->resumable ? ". To continue:" : "; there is no checkpoint. To start again:");
    cli_row_command("", "covtune learn %s --out %s --%s", config, run, s->resumable ? "resume" : "force");
    free(config);
    free(run);
}

static void print_loss(const run_summary *s)
{
    char heldout[96] = "; no sequences were held out";
    if (isfinite(loss_of(s, "heldout")))
        snprintf(heldout, sizeof heldout, "; held out %.6g, the start there %.6g", loss_of(s, "heldout"),
                 loss_of(s, "heldout_start"));
    if (s->summary)
        cli_row("loss", "start %.6g, %s %.6g, learned %.6g%s", loss_of(s, "start"),
                ct_reference_name(learn_reference(s->summary)), loss_of(s, "closed_form"), loss_of(s, "train"),
                heldout);
    else if (isfinite(s->best)) cli_row("loss", "%.6g, the best so far", s->best);
}

/* A model, with error bars and start values if it was learned. */
static void print_model(const run_summary *s, const ct_noise_model *m)
{
    const json_t         *group = group_of(s, m), *percent = json_object_get(group, "sigma_error_percent");
    const ct_noise_model *was = before(s, m);
    const int             learned = json_is_true(json_object_get(group, "learned"));
    char                  sigmas[INFO_SIGMAS], start[INFO_SIGMAS], bars[160] = "";
    size_t                used = 0;
    for (int i = 0; percent && i < m->dim && used < sizeof bars - 24; i++) {
        const json_t *one = json_is_array(percent) ? json_array_get(percent, (size_t)i) : i ? NULL : percent;
        if (!json_is_number(one)) continue;
        used += (size_t)snprintf(bars + used, sizeof bars - used, "%s%.2g %%", used ? ", " : "; +- ",
                                 json_number_value(one));
    }
    cli_row("", "%s: %s%s%s", m->name, info_sigmas(m, sigmas), bars, learned ? "" : "; held");
    if (learned && was) cli_row("", "  from %s", info_sigmas(was, start));
}

static void print_all(const run_summary *s)
{
    const int32_t models = ct_noise_count(s->run.table[AFTER]);
    const int64_t runs = json_integer_value(json_object_get(s->summary, "sequences"));
    char          text[1024] = "", count[48] = "";
    size_t        used = 0;
    if (runs) snprintf(count, sizeof count, ": %lld training sequence%s", (long long)runs, CLI_S(runs));
    cli_row("run", "%s, by covtune %s, written %s", s->path, origin_text(s, "version"),
            *s->written ? s->written : "at an unknown time");
    cli_row("dataset", "%s%s", origin_text(s, "dataset"), count);
    cli_row_command("command", "%s", origin_text(s, "command"));
    cli_row("method", "%s: %s", ct_learn_method_name((ct_learn_method)s->run.learn.method),
            ct_learn_method_get_info((ct_learn_method)s->run.learn.method)->text);
    print_state(s);
    print_loss(s);
    cli_row("noise", "%d model%s", models, CLI_S(models));
    for (int32_t i = 0; i < models && i < INFO_MODELS; i++) print_model(s, ct_noise_get(s->run.table[AFTER], i));
    if (models > INFO_MODELS) cli_row("", "and %d more, which --json lists", models - INFO_MODELS);
    for (size_t i = 0; i < json_array_size(s->files) && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "",
                                 json_string_value(json_array_get(s->files, i)));
    cli_row("files", "%s", text);
}

cli_exit info_run(cli_io *io, const char *path)
{
    run_summary s = {.path = path};
    cli_exit    code = read_all(io, &s);
    if (code == CLI_GO) {
        if (io->json) print_json(&s);
        else if (!io->quiet) print_all(&s);
        code = CLI_DONE;
    }
    learn_run_free(&s.run);
    json_decref(s.files);
    return code;
}
