/* read_run.c: the folder of a run, read: options, noise files, history, summary; and what they say of every learned
 * row. */
#define _POSIX_C_SOURCE 200809L
#include "cli/report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- which folder ---- */

static char *join(const char *folder, const char *name)
{
    const size_t n = strlen(folder), size = n + strlen(name) + 2;
    char        *path = cli_alloc((int64_t)size, 1);
    snprintf(path, size, "%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name);
    return path;
}

static int has(const char *folder, const char *name)
{
    char     *path = join(folder, name);
    const int there = access(path, F_OK) == 0;
    free(path);
    return there;
}

/* A folder that learn wrote, or a sentence. */
static cli_exit check_folder(const cli_io *io, const char *run, ct_run_folder_info *found)
{
    ct_err            err = {0};
    static const char WANTED[] = "wanted is the folder that covtune learn wrote";
    struct stat       entry;
    if (stat(run, &entry)) return cli_fail(io, "%s: %s; %s", run, strerror(errno), WANTED);
    if (!S_ISDIR(entry.st_mode)) return cli_fail(io, "%s: this is a file; %s", run, WANTED);
    if (access(run, R_OK | X_OK)) return cli_fail(io, "%s: %s", run, strerror(errno));
    if (cli_check_run(run, found, &err) != CT_OK) return cli_fail(io, "%s", err.text);
    if (has(run, "dataset.yaml") || (!has(run, "config.yaml") && (has(run, "train") || has(run, "test"))))
        return cli_fail(io, "%s: this is a dataset; %s", run, WANTED);
    for (int i = 0; i < 3; i++) {
        static const char *const NEEDED[] = {"config.yaml", "start.json", "noise.json"};
        if (!has(run, NEEDED[i])) return cli_fail(io, "%s: there is no %s in it; %s", run, NEEDED[i], WANTED);
    }
    return CLI_GO;
}

/* ---- files ---- */

/* Lines of the history. A run that was killed may have left half of one at the end. */
static cli_exit read_history(const cli_io *io, report_job *job)
{
    FILE   *file = cli_open(job->history, "r");
    char   *line = NULL;
    size_t  size = 0;
    ssize_t n;
    job->evaluations = cli_array();
    if (!file && errno == ENOENT) return CLI_GO;
    if (!file) return cli_fail(io, "%s: %s", job->history, strerror(errno));
    while (!job->cut && (n = cli_getline(&line, &size, file)) > 0) {
        json_t *o = json_loadb(line, (size_t)n, 0, NULL);
        if (json_is_object(o)) cli_append(job->evaluations, o);
        else json_decref(o), job->cut = 1;
    }
    const int why = job->cut || feof(file) ? 0 : errno;
    free(line);
    fclose(file);
    return why ? cli_fail(io, "%s: cannot be read: %s", job->history, strerror(why)) : CLI_GO;
}

static cli_exit read_noise(const cli_io *io, report_job *job)
{
    for (int side = BEFORE; side <= AFTER; side++) {
        ct_err    err = {0};
        ct_status status = ct_noise_new(&job->file[side], &err);
        if (status == CT_OK) status = ct_noise_read(job->file[side], side == BEFORE ? job->start : job->noise, &err);
        if (status != CT_OK) return cli_fail(io, "%s", err.text);
    }
    job->noise_json = cli_load_json(job->noise, NULL);
    if (!json_is_object(json_object_get(job->noise_json, "provenance")))
        return cli_fail(io, "%s: it does not say where it comes from; covtune learn writes that", job->noise);
    job->finished = json_is_true(json_object_get(json_object_get(job->noise_json, "provenance"), "finished"));
    return CLI_GO;
}

/* ---- rows ---- */

/* Entry i of a list, or, where there is one for all, that. */
static const json_t *entry(const json_t *value, int i)
{
    return json_is_array(value) ? json_array_get(value, (size_t)i) : value;
}

static double number(const json_t *value) { return json_is_number(value) ? json_number_value(value) : NAN; }

/* Bounds are a pair a row, or one pair. */
static const json_t *bounds_of(const json_t *group, int i)
{
    const json_t *bounds = json_object_get(group, "bounds");
    return json_is_number(json_array_get(bounds, 0)) ? bounds : entry(bounds, i);
}

static int is_learned(const json_t *group) { return json_is_true(json_object_get(group, "learned")); }

/* Does a finding name the row as one that the data do not determine? */
static int is_named(const report_job *job, const report_row *row)
{
    char name[300];
    report_row_name(job, row, name, sizeof name);
    for (int32_t i = 0; i < job->findings.count; i++) {
        const ct_finding *f = &job->findings.item[i];
        if (ct_finding_get_info(f->code)->topic != CT_TOPIC_IDENTIFIABILITY) continue;
        for (int32_t k = 0; k < f->subjects; k++)
            if (!strcmp(f->subject[k].name, name)) return 1;
    }
    return 0;
}

static void read_row(const report_job *job, int32_t g, int i, const json_t *group, report_row *to)
{
    const ct_noise_model *m = ct_noise_get(job->file[AFTER], g);
    const int32_t         was = ct_noise_find(job->file[BEFORE], m->name);
    const int one = m->kind == CT_NOISE_ISOTROPIC, mixed = m->row && strcmp(m->row[0].unit, m->row[m->dim - 1].unit);
    const json_t         *bounds = bounds_of(group, i);
    const char           *at = json_string_value(entry(json_object_get(group, "at_bound"), i));
    *to = (report_row){.model = g,
                       .row = i,
                       .at_bound = !at                    ? 0
                                   : !strcmp(at, "lower") ? -1
                                                          : 1,
                       .frozen = json_is_null(bounds)};
    if (one) snprintf(to->name, sizeof to->name, "all");
    else if (m->row && m->row[i].name[0]) snprintf(to->name, sizeof to->name, "%s", m->row[i].name);
    else snprintf(to->name, sizeof to->name, "%d", i);
    if (m->row && !(one && mixed)) report_written_unit(m->row[i].unit, to->unit);
    const ct_noise_model *start = was >= 0 ? ct_noise_get(job->file[BEFORE], was) : NULL;
    to->sigma[BEFORE] = start && start->dim > i ? ct_noise_sigma(start, i) : NAN;
    to->sigma[AFTER] = ct_noise_sigma(m, i);
    to->percent = number(entry(json_object_get(group, "sigma_error_percent"), i));
    to->lower = sqrt(number(json_array_get(bounds, 0)));
    to->upper = sqrt(number(json_array_get(bounds, 1)));
    to->one = number(entry(json_object_get(group, "unit_sigma"), i));
    if (!(to->one > 0)) to->one = 1;
    to->bare = json_object_get(group, "standard_error") && isnan(to->percent) && !to->frozen &&
               (!to->at_bound || m->kind == CT_NOISE_FULL);
    to->undetermined = to->bare && is_named(job, to);
}

static void read_rows(report_job *job)
{
    const int32_t models = ct_noise_count(job->file[AFTER]);
    job->row = cli_alloc((int64_t)models * CT_NOISE_DIM_MAX, sizeof *job->row);
    for (int32_t g = 0; g < models; g++) {
        const ct_noise_model *m = ct_noise_get(job->file[AFTER], g);
        const json_t         *group = json_object_get(json_object_get(job->noise_json, "groups"), m->name);
        for (int i = 0; is_learned(group) && i < (m->kind == CT_NOISE_ISOTROPIC ? 1 : m->dim); i++, job->rows++) {
            read_row(job, g, i, group, &job->row[job->rows]);
            job->in_units = job->in_units || job->row[job->rows].one != 1;
        }
    }
}

/* learn writes the same models before and after: a learned one without its start, or of another size there, is of a
 * folder that was edited. */
static cli_exit check_sides(const cli_io *io, const report_job *job)
{
    for (int32_t i = 0; i < job->rows; i++) {
        const ct_noise_model *m = ct_noise_get(job->file[AFTER], job->row[i].model);
        const int32_t         was = ct_noise_find(job->file[BEFORE], m->name);
        const char           *repeat = "one of the two was edited; to repeat the run:";
        if (was < 0)
            return cli_fail(
                io, "%s: noise model \"%s\" was learned, and %s has none of that name; %s covtune learn %s --out NEW",
                job->noise, m->name, job->start, repeat, job->config);
        const int dim = ct_noise_get(job->file[BEFORE], was)->dim;
        if (dim != m->dim)
            return cli_fail(io, "%s: noise model \"%s\" has %d row%s, and %d in %s; %s covtune learn %s --out NEW",
                            job->noise, m->name, m->dim, CLI_S(m->dim), dim, job->start, repeat, job->config);
    }
    return CLI_GO;
}

/* ---- all of it ---- */

cli_exit report_same_run(const cli_io *io, const char *run, const report_job *job)
{
    ct_run_folder_info now;
    ct_err      err = {0};
    if (cli_check_run(run, &now, &err) != CT_OK) return cli_fail(io, "%s", err.text);
    if (now.state == job->found.state && !strcmp(now.id, job->found.id)) return CLI_GO;
    return cli_fail(io, "%s: another run was begun in it meanwhile; covtune report %s makes the report of that", run,
                    run);
}

cli_exit report_read_run(cli_io *io, const report_request *request, report_job *job)
{
    cli_exit code = check_folder(io, request->run, &job->found);
    if (code != CLI_GO) return code;
    job->warnings = cli_array();
    job->config = join(request->run, "config.yaml");
    job->noise = join(request->run, "noise.json");
    job->start = join(request->run, "start.json");
    job->history = join(request->run, "history.jsonl");
    job->summary = join(request->run, "summary.json");
    job->out = request->out ? cli_check_alloc(strdup(request->out)) : join(request->run, "report.html");
    code = learn_read_config(io, job->config, &job->learn, &job->held);
    io->repair = io->repair || job->learn.repair;
    if (code == CLI_GO) code = read_noise(io, job);
    if (code == CLI_GO) code = read_history(io, job);
    if (code == CLI_GO) code = learn_read_summary(io, job->summary, &job->summary_json);
    if (code == CLI_GO) code = report_same_run(io, request->run, job);
    if (code != CLI_GO) return code;
    cli_findings_read(json_object_get(job->summary_json, "findings"), &job->findings);
    read_rows(job);
    if (!job->rows) return cli_fail(io, "%s: no noise model in it was learned", job->noise);
    return check_sides(io, job);
}

static void free_track(report_track *t)
{
    for (int side = BEFORE; side <= AFTER; side++) {
        free(t->x[side]);
        free(t->nees[side]);
        free(t->degrees[side]);
    }
}

void report_free(report_job *job)
{
    char *const paths[] = {job->config, job->noise, job->start, job->history, job->summary, job->out};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) free(paths[i]);
    for (int side = BEFORE; side <= AFTER; side++) {
        ct_noise_free(job->file[side]);
        ct_noise_free(job->table[side]);
        free(job->of[side]);
    }
    for (int32_t i = 0; i < job->count; i++) free_track(&job->track[i]);
    json_decref(job->noise_json);
    json_decref(job->summary_json);
    ct_findings_free(&job->findings);
    json_decref(job->evaluations);
    json_decref(job->warnings);
    free(job->row);
    free(job->track);
    free(job->use);
    free(job->show);
    ct_page_free(job->page);
    ct_dataset_free(job->dataset);
    cli_config_free(job->held);
}
