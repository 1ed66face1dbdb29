/* doctor.c: covtune doctor. Mistakes in a dataset that no covariance mends. */
#define _POSIX_C_SOURCE 200809L
#include "cli/doctor/doctor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const char *path, *fix, *page, *data;
    int         brief, jobs;
    double      level;
} doctor_request;

/* ---- corrections as lines of a recipe ---- */

static void put_numbers(cli_buffer *out, const ct_correction *c)
{
    if (c->count == 1) {
        cli_buffer_printf(out, "%.6g", c->value[0]);
        return;
    }
    for (int32_t i = 0; i < c->count; i++) cli_buffer_printf(out, "%s%.6g", i ? ", " : "[", c->value[i]);
    cli_buffer_printf(out, "]");
}

char *doctor_correction_line(const ct_correction *c)
{
    cli_buffer out = {0};
    cli_buffer_printf(&out, "- {sensor: %s, ", c->sensor);
    if (c->recording[0]) cli_buffer_printf(&out, "recording: \"%s\", ", c->recording);
    cli_buffer_printf(&out, "%s: ", ct_correction_key(c->kind));
    switch (c->kind) {
    case CT_CORRECT_QUATERNION: cli_buffer_printf(&out, "%s", c->value[0] > 0 ? "scalar_first" : "scalar_last"); break;
    case CT_CORRECT_CAMERA:
    case CT_CORRECT_NED:
    case CT_CORRECT_COMPASS:
    case CT_CORRECT_INVERSE:
    case CT_CORRECT_DEGREES:
    case CT_CORRECT_FULL: cli_buffer_printf(&out, "%s", c->value[0] > 0 ? "true" : "false"); break;
    case CT_CORRECT_KERNEL:
        cli_buffer_printf(&out, "%s:%.3g", ct_robust_name((ct_robust_kind)c->value[0]), c->value[1]);
        break;
    default: put_numbers(&out, c);
    }
    cli_buffer_printf(&out, "}");
    return out.text;
}

int doctor_belongs(const ct_diagnosis *d, int32_t finding, int32_t correction)
{
    const int32_t first = d->correction_of[finding];
    if (first < 0) return 0;
    const ct_correction *own = &d->correction[first]; /* of stamps every recording has its own finding */
    if (own->kind == CT_CORRECT_STEPS && strcmp(d->correction[correction].recording, own->recording)) return 0;
    return d->correction[correction].kind == d->correction[first].kind &&
           !strcmp(d->correction[correction].sensor, d->correction[first].sensor);
}

int doctor_mends(const ct_diagnosis *d, int32_t correction)
{
    return correction < d->mending;
}

/* ---- output ---- */

static json_t *correction_json(const ct_diagnosis *d, int32_t i)
{
    const ct_correction *c = &d->correction[i];
    json_t              *o = cli_object();
    char                *line = doctor_correction_line(c);
    cli_put(o, "sensor", cli_text(c->sensor));
    cli_put(o, "recording", c->recording[0] ? cli_text(c->recording) : cli_text(NULL));
    cli_put(o, "kind", cli_text(ct_correction_key(c->kind)));
    cli_put(o, "value", cli_numbers(c->count, c->value));
    cli_put(o, "error", cli_number(d->correction_error[i]));
    cli_put(o, "mends", json_boolean(doctor_mends(d, i)));
    cli_put(o, "line", cli_text(line));
    free(line);
    return o;
}

static void print_json(const doctor_request *request, const ct_diagnosis *d)
{
    json_t *o = cli_object(), *findings = cli_findings_json(&d->findings), *corrections = cli_array();
    for (int32_t i = 0; i < d->findings.count; i++) {
        json_t *mine = cli_array();
        for (int32_t k = 0; k < d->corrections; k++)
            if (doctor_belongs(d, i, k)) cli_append(mine, cli_integer(k));
        cli_put(json_array_get(findings, (size_t)i), "corrections", mine);
    }
    for (int32_t k = 0; k < d->corrections; k++) cli_append(corrections, correction_json(d, k));
    cli_put(o, "dataset", cli_text(request->path));
    cli_put(o, "level", cli_number(request->level));
    cli_put(o, "tests", cli_integer(d->tests));
    cli_put(o, "imports", cli_integer(d->imports));
    cli_put(o, "findings", findings);
    cli_put(o, "corrections", corrections);
    cli_put(o, "fix", cli_text(request->fix));
    cli_print_json(o);
}

static void print_finding(const ct_diagnosis *d, int32_t i)
{
    const ct_finding      *f = &d->findings.item[i];
    const ct_finding_info *info = ct_finding_get_info(f->code);
    char                   text[CLI_FINDING_TEXT];
    ct_finding_text(f, text, sizeof text);
    cli_row(ct_severity_name(info->severity), "%s: %s", info->name, text);
    for (int32_t k = 0; k < d->corrections; k++) {
        if (!doctor_belongs(d, i, k)) continue;
        char *line = doctor_correction_line(&d->correction[k]);
        cli_row("", "%s: %s", doctor_mends(d, k) ? "corrections" : "a model to try", line);
        free(line);
    }
}

static void print_all(const ct_diagnosis *d)
{
    for (int severity = CT_SEVERITY_COUNT - 1; severity >= 0; severity--)
        for (int32_t i = 0; i < d->findings.count; i++)
            if ((int)ct_finding_get_info(d->findings.item[i].code)->severity == severity) print_finding(d, i);
    if (!d->findings.count) cli_row("nothing", "found, with %lld tests", (long long)d->tests);
}

/* ---- the command ---- */

static int show(void *user, double share, const char *what)
{
    cli_progress_show(user, share, "%s", what);
    return cli_interrupted();
}

static ct_status write_fix(const doctor_request *request, const ct_recipe *recipe, const ct_diagnosis *d, ct_err *err)
{
    char     *text = NULL;
    ct_status status = ct_recipe_correct(recipe, d->correction, d->mending, &text, err);
    if (status == CT_OK) {
        FILE *file = cli_open(request->fix, "w");
        const int written = file && fputs(text, file) >= 0, closed = file && fclose(file) == 0;
        if (!written || !closed)
            status = ct_fail(err, CT_E_IO, "%s cannot be written: %s", request->fix, strerror(errno));
    }
    free(text);
    return status;
}

/* The page of one dataset: what was found, and pictures. */
static ct_status write_page(const doctor_request *request, const ct_diagnosis *d, ct_err *err)
{
    ct_page  *page = NULL;
    ct_status status = ct_page_new("covtune doctor", request->path, &page, err);
    if (status != CT_OK) return status;
    ct_page_section(page, "doctor", "Findings");
    if (!d->findings.count)
        ct_page_text(page, "Nothing found, with %lld tests: residuals at the truth are noise alone.",
                     (long long)d->tests);
    else
        ct_page_text(page,
                     "What is in residuals at the truth beside noise, by %lld tests and %d import%s. Lines of code are "
                     "corrections of the recipe; covtune doctor --fix writes it with them.",
                     (long long)d->tests, d->imports, d->imports == 1 ? "" : "s");
    doctor_put_findings(page, d);
    status = ct_page_write(page, request->page, err);
    ct_page_free(page);
    return status;
}

/* A file that is no page of covtune is not replaced. */
static ct_status check_page(const doctor_request *request, ct_err *err)
{
    const ct_status status = request->page ? cli_check_output(request->page, err) : CT_OK;
    if (status != CT_OK || !request->page) return status;
    if (cli_is_stdout(request->page) || cli_replaceable_page(request->page)) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT,
                   "%s: is there already, and is no page that covtune wrote and could replace; choose another name for "
                   "--page",
                   request->page);
}

/* What --fix cannot write, before the work. */
static ct_status check_fix(const doctor_request *request, const ct_recipe *recipe, ct_err *err)
{
    if (!request->fix) return CT_OK;
    char       *folder = cli_check_alloc(strdup(request->fix)), *slash = strrchr(folder, '/');
    if (slash) slash[slash == folder] = 0;
    const int   why = slash && access(folder, W_OK) != 0 ? errno : 0;
    free(folder);
    if (why) return ct_fail(err, CT_E_IO, "%s cannot be written: %s", request->fix, strerror(why));
    if (recipe) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT,
                   "%s has no recipe.yaml: --fix corrects the recipe that a dataset was imported by", request->path);
}

static cli_exit carry_out(const cli_io *io, const doctor_request *request)
{
    ct_err            err = {0};
    ct_dataset       *dataset = NULL;
    ct_recipe        *recipe = NULL;
    ct_diagnosis     *d = NULL;
    ct_doctor_options options = ct_doctor_defaults();
    cli_progress      bar = cli_progress_new(io, 1);
    options.level = request->level;
    options.brief = request->brief;
    options.threads = request->jobs;
    options.folder = request->data;
    options.progress = show;
    options.user = &bar;
    ct_status status = check_page(request, &err);
    if (status == CT_OK) status = ct_recipe_of_dataset(request->path, &recipe, &err);
    if (status == CT_OK) status = cli_read_dataset(io, request->path, CT_DATASET_ALL, &dataset, &err);
    if (status == CT_OK) status = check_fix(request, recipe, &err);
    options.recipe = recipe;
    cli_interrupt_begin(io, "stopping");
    if (status == CT_OK) status = ct_doctor_examine(dataset, &options, &d, &err);
    const int interrupted = cli_interrupted();
    cli_interrupt_end();
    cli_status_clear();
    if (status == CT_OK && request->fix) status = write_fix(request, recipe, d, &err);
    if (status == CT_OK && request->page) status = write_page(request, d, &err);
    if (status == CT_OK && io->json) print_json(request, d);
    else if (status == CT_OK && !io->quiet) print_all(d);
    ct_diagnosis_free(d);
    ct_recipe_free(recipe);
    ct_dataset_free(dataset);
    if (interrupted) return CLI_INTERRUPTED;
    return status == CT_OK ? CLI_DONE : cli_fail(io, "%s", err.text);
}

#define AT(member) offsetof(doctor_request, member)
static const cli_option OPTIONS[] = {
    CLI_ROW_TEXT("fix", "RECIPE.yaml", AT(fix),
                 "write the recipe that the dataset keeps with the corrections found; import it to apply them"),
    CLI_ROW_TEXT("page", "PAGE.html", AT(page), "write the findings with a picture of each"),
    CLI_ROW_TEXT("data", "FOLDER", AT(data), "folder of the recipe's files, if they have moved"),
    CLI_ROW_NUMBER("level", "P", 1e-9, 0.5, AT(level),
                   "chance of one false finding or more in a dataset without faults (0.01)"),
    CLI_ROW_FLAG("brief", AT(brief),
                 "one pass over a part of the measurements, without imports: what learn does first"),
    CLI_ROW_INTEGER("jobs", "N", 1, CLI_JOBS_MAX, AT(jobs), "threads (one a processor)"),
    CLI_ROW_PLUGIN,
    CLI_ROW_END,
};
#undef AT

static cli_exit run(const cli_command *command, int argc, char **argv)
{
    doctor_request request = {.level = ct_doctor_defaults().level, .jobs = cli_processors()};
    cli_io         io;
    const cli_exit code = cli_parse(command, &request, argc, argv, &io, &request.path);
    if (code != CLI_GO) return code;
    if (request.fix && request.brief)
        return cli_misuse(&io, "--fix needs the whole examination: it is not for --brief");
    return cli_finish(&io, carry_out(&io, &request));
}

const cli_command cli_doctor = {
    .name = "doctor",
    .brief = "find mistakes in a dataset that no covariance mends",
    .operands = "DATASET",
    .least = 1,
    .most = 1,
    .text =
        "Looks at residuals at the truth, and at the estimate where the truth does not determine them. Finds units, "
        "axes, frames, delays, drift of clocks, scales, biases and lever arms of sensors; outliers, heavy tails, "
        "correlation of rows and of neighbours, noise that depends on range, speed or time, two kinds of measurements "
        "in one model; a truth with gaps or jumps, or that copies a sensor; sensors that do not matter and states that "
        "nothing determines. Every finding has a size, its standard error, and the line of a recipe that mends it. "
        "docs/doctor.md has the tests.\n"
        "Models of noise that the errors suggest (full covariances, biases that last) are lines to try, which --fix "
        "does not write: estimates of unseen recordings may get worse by them. Learn with and without, and compare: "
        "covtune eval --against.\n"
        "Of a dataset that covtune import made, the recipe is read too: the dataset is imported again with the "
        "corrections until they stay. Exit code 0 means that the examination ended, with findings or without; --json "
        "lists them.\n",
    .example = "  covtune simulate nav2d --dataset D1 --train 4 --test 2 --out nav\n"
               "  covtune doctor nav\n",
    .options = OPTIONS,
    .run = run,
};
