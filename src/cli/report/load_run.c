/* load_run.c: what the folder of a run (cli/learn/read_run.c) has of every learned row. */
#define _POSIX_C_SOURCE 200809L
#include "cli/report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    return learn_run_unchanged(io, run, &job->found);
}

/* The job takes over what was read. */
static void take_run(report_job *job, const learn_run *run)
{
    job->found = run->found;
    job->config = run->config;
    job->noise = run->noise;
    job->start = run->start;
    job->history = run->history;
    job->summary = run->summary;
    job->learn = run->learn;
    job->held = run->held;
    job->file[BEFORE] = run->table[0];
    job->file[AFTER] = run->table[1];
    job->noise_json = run->noise_json;
    job->summary_json = run->summary_json;
    job->evaluations = run->evaluations;
    job->cut = run->cut;
    job->finished = run->finished;
}

cli_exit report_read_run(cli_io *io, const report_request *request, report_job *job)
{
    learn_run      run;
    const cli_exit code = learn_run_read(io, request->run, 1, &run);
    take_run(job, &run);
    if (code != CLI_GO) return code;
    job->warnings = cli_array();
    job->plugin = cli_plugin_words(io);
    job->out = request->out ? cli_check_alloc(strdup(request->out)) : cli_path_join(request->run, "report.html");
    io->repair = io->repair || job->learn.repair;
    if (!json_is_object(json_object_get(job->noise_json, "provenance")))
        return cli_fail(io, "%s: it does not say where it comes from; covtune learn writes that", job->noise);
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
    char *const paths[] = {job->config, job->noise, job->start, job->history, job->summary, job->out, job->plugin};
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
    ct_diagnosis_free(job->diagnosis);
    free(job->closed);
    free(job->row);
    free(job->track);
    free(job->use);
    free(job->show);
    ct_page_free(job->page);
    ct_dataset_free(job->dataset);
    cli_config_free(job->held);
}
