/* import.c: covtune import: a dataset from recorded files, by a recipe; first recipes; the schema of recipes. */
#define _POSIX_C_SOURCE 200809L
#include "cli/import/import.h"
#include "cli/common/findings.h"

#include <stdlib.h>
#include <string.h>

#define FILES_MAX 4096 /* of --init */

/* ---- recipes ---- */

/* All mistakes, a line each; the error of ct_recipe_read otherwise. */
static cli_exit fail_recipe(const cli_io *io, const char *path, const ct_err *first)
{
    ct_recipe_mistakes list;
    ct_err err = {0};
    if (first->status != CT_E_PARSE || ct_recipe_check(path, &list, &err) != CT_OK)
        return cli_fail(io, "%s", first->text);
    for (int32_t i = 0; i < list.count; i++)
        cli_fail(io, "%s:%d: %s", path, list.mistake[i].line, list.mistake[i].text);
    if (list.more) cli_fail(io, "%s: and %lld more mistakes", path, (long long)list.more);
    if (!list.count) cli_fail(io, "%s", first->text);
    ct_recipe_mistakes_free(&list);
    return CLI_FAILED;
}

/* ---- progress ---- */

typedef struct {
    const cli_io *io;
    cli_progress bar;
    int begun;
    const char *what;
} meter;

static int show_bytes(void *user, int64_t done, int64_t all)
{
    meter *m = user;
    if (!m->begun || (double)all != m->bar.all) {
        m->bar = cli_progress_new(m->io, (double)all);
        m->begun = 1;
    }
    cli_progress_show(&m->bar, (double)done, "%s: %.0f of %.0f MB", m->what, 1e-6 * (double)done, 1e-6 * (double)all);
    return cli_interrupted();
}

/* Before most of the work is done: there is still time to stop it. */
static void show_notice(void *user, const ct_finding *finding)
{
    const meter *m = user;
    char         text[CLI_FINDING_TEXT];
    ct_finding_text(finding, text, sizeof text);
    cli_status_clear();
    cli_remark(m->io, "%s", text);
}

static int show_share(void *user, double share, const char *what)
{
    meter *m = user;
    if (!m->begun) m->bar = cli_progress_new(m->io, 1), m->begun = 1;
    cli_progress_show(&m->bar, share, "%s", what);
    return cli_interrupted();
}

/* ---- the doctor's corrections ---- */

/* What the doctor finds in the dataset of the recipe; it imports again with each correction until nothing changes. */
static ct_status examine(const cli_io *io, const import_request *r, const ct_recipe *recipe, ct_diagnosis **out,
                         ct_err *err)
{
    meter             reading = {.io = io, .what = "reading"}, looking = {.io = io};
    ct_import_options options = ct_import_defaults();
    ct_doctor_options how = ct_doctor_defaults();
    ct_dataset       *dataset = NULL;
    options.folder = r->data;
    options.only = r->only;
    options.progress = show_bytes;
    options.user = &reading;
    how.recipe = recipe;
    how.folder = r->data;
    how.progress = show_share;
    how.user = &looking;
    ct_status status = ct_recipe_dataset(recipe, &options, &dataset, NULL, err);
    if (status == CT_OK) status = ct_doctor_examine(dataset, &how, out, err);
    ct_dataset_free(dataset);
    return status;
}

/* to += what the doctor says of its corrections. */
static ct_status take_remarks(const ct_findings *from, ct_findings *to, ct_err *err)
{
    ct_status status = CT_OK;
    for (int32_t i = 0; status == CT_OK && i < from->count; i++) {
        const ct_finding *f = &from->item[i];
        int               values = 0;
        if (f->code != CT_FINDING_CORRECTION_REFUSED && f->code != CT_FINDING_TEST_CORRECTED) continue;
        while (ct_finding_get_info(f->code)->value[values]) values++;
        status = ct_findings_add(to, f->code, values, f->value, err);
        for (int32_t k = 0; status == CT_OK && k < f->subjects; k++)
            status = ct_findings_add_subject(to, f->subject[k].kind, f->subject[k].index, f->subject[k].sign,
                                             f->subject[k].name, err);
    }
    return status;
}

/* *recipe <- the recipe with the doctor's corrections in place of "corrections: doctor". */
static ct_status correct(const cli_io *io, const import_request *r, ct_recipe **recipe, const char *path,
                         ct_findings *remarks, ct_err *err)
{
    ct_err        why = {0};
    ct_diagnosis *diagnosis = NULL;
    ct_recipe    *next = NULL;
    char         *text = NULL;
    ct_status     status = examine(io, r, *recipe, &diagnosis, err);
    const char   *slash = strrchr(path, '/');
    char         *folder = slash ? cli_check_alloc(strndup(path, (size_t)(slash - path) + 1)) : NULL;
    if (status == CT_OK) {
        status = ct_recipe_correct(*recipe, diagnosis->correction, diagnosis->mending, &text, &why);
        if (status == CT_OK) status = ct_recipe_parse(text, path, folder, &next, &why);
        if (status != CT_OK)
            ct_fail(err, status, "%s: corrections: doctor: what it found cannot be applied: %.300s", path, why.text);
    }
    if (status == CT_OK) status = take_remarks(&diagnosis->findings, remarks, err);
    if (next) {
        ct_recipe_free(*recipe);
        *recipe = next;
    }
    free(folder);
    free(text);
    ct_diagnosis_free(diagnosis);
    return status;
}

/* ---- import ---- */

static void copy_corrections(const ct_recipe *recipe, import_summary *s)
{
    while (ct_recipe_correction(recipe, s->corrections)) s->corrections++;
    s->correction = cli_alloc(s->corrections, sizeof *s->correction);
    for (int32_t i = 0; i < s->corrections; i++) s->correction[i] = *ct_recipe_correction(recipe, i);
}

static ct_status import(const cli_io *io, const import_request *r, ct_recipe **recipe, import_summary *s, ct_err *err)
{
    meter m = {.io = io, .what = "reading"};
    ct_import_options options = ct_import_defaults();
    ct_status status = CT_OK;
    ct_findings remarks = {0};
    options.folder = r->data;
    options.only = r->only;
    options.progress = show_bytes;
    options.user = &m;
    options.notice = show_notice;
    if (ct_recipe_wants_doctor(*recipe)) {
        status = correct(io, r, recipe, s->recipe, &remarks, err);
        if (status == CT_OK) copy_corrections(*recipe, s);
    }
    if (status == CT_OK) status = ct_recipe_import(*recipe, &options, r->out, &s->result, err);
    if (status == CT_OK) status = take_remarks(&remarks, &s->result.findings, err);
    ct_findings_free(&remarks);
    return status;
}

static void remark_on_unused(const cli_io *io, const char *path, const ct_recipe *recipe)
{
    for (int32_t i = 0; ct_recipe_unused_source(recipe, i); i++)
        cli_remark(io, "%s: source %s is not read: no sensor, landmarks or truth has source: %s", path,
                   ct_recipe_unused_source(recipe, i), ct_recipe_unused_source(recipe, i));
}

static cli_exit carry_out(const cli_io *io, const import_request *r, const char *path)
{
    ct_err err = {0};
    ct_recipe *recipe;
    import_summary summary = {.recipe = path, .out = r->out};
    if (ct_recipe_read(path, &recipe, &err) != CT_OK) return fail_recipe(io, path, &err);
    remark_on_unused(io, path, recipe);
    cli_interrupt_begin(io, "stopping; the folder stays as it was");
    const ct_status status = import(io, r, &recipe, &summary, &err);
    const int stopped = status != CT_OK && cli_interrupted();
    cli_interrupt_end();
    cli_status_clear();
    ct_recipe_free(recipe);
    cli_exit code = CLI_DONE;
    if (stopped)
        code = CLI_INTERRUPTED;
    else if (status != CT_OK)
        code = cli_fail(io, "%s", err.text);
    else
        import_print(io, &summary);
    ct_import_result_free(&summary.result);
    free(summary.correction);
    return code;
}

/* ---- the other uses ---- */

/* The first call comes when the files of the first recording are open and their first records are read. */
static int stop_at_once(void *stopped, int64_t done, int64_t all)
{
    (void)done, (void)all;
    return *(int *)stopped = 1;
}

/* Mistakes of the recipe; then its files are opened, and expressions are checked against their fields. */
static cli_exit check_recipe(const cli_io *io, const import_request *r, const char *path)
{
    ct_err            err = {0};
    ct_recipe        *recipe;
    ct_dataset       *dataset = NULL;
    ct_import_options options = ct_import_defaults();
    int               stopped = 0, sensors = 0;
    if (ct_recipe_read(path, &recipe, &err) != CT_OK) return fail_recipe(io, path, &err);
    options.folder = r->data;
    options.only = r->only;
    remark_on_unused(io, path, recipe);
    options.progress = stop_at_once;
    options.user = &stopped;
    const ct_status status = ct_recipe_dataset(recipe, &options, &dataset, NULL, &err);
    ct_dataset_free(dataset);
    cli_exit code = status == CT_OK || stopped ? CLI_DONE : cli_fail(io, "%s", err.text);
    json_t  *names = cli_array();
    for (; ct_recipe_sensor(recipe, sensors); sensors++) cli_append(names, cli_text(ct_recipe_sensor(recipe, sensors)));
    if (code == CLI_DONE && io->json) {
        json_t *o = cli_object();
        cli_put(o, "recipe", cli_text(path));
        cli_put(o, "sensors", names);
        cli_print_json(o);
    } else json_decref(names);
    if (code == CLI_DONE && !io->json && !io->quiet)
        cli_row("recipe", "%s: no mistakes; %d sensor%s, files opened", path, sensors, CLI_S(sensors));
    ct_recipe_free(recipe);
    return code;
}

static cli_exit print_text(const cli_io *io, ct_status status, char *text, const ct_err *err)
{
    if (status != CT_OK) return cli_fail(io, "%s", err->text);
    fputs(text, stdout);
    free(text);
    return CLI_DONE;
}

static cli_exit write_draft(const cli_io *io, const char *const path[], int32_t count)
{
    ct_err err = {0};
    char *text = NULL;
    cli_status_show(io, "looking at %d file%s", count, CLI_S(count));
    const ct_status status = ct_recipe_draft(path, count, &text, &err);
    cli_status_clear();
    return print_text(io, status, text, &err);
}

static cli_exit print_schema(const cli_io *io)
{
    ct_err err = {0};
    char *text = NULL;
    const ct_status status = ct_recipe_schema(&text, &err);
    return print_text(io, status, text, &err);
}

/* ---- the command ---- */

#define AT(member) offsetof(import_request, member)
static const cli_option OPTIONS[] = {
    CLI_ROW_TEXT("out", "DATA", AT(out), "folder of the dataset; a dataset that covtune wrote there is replaced"),
    CLI_ROW_TEXT("data", "FOLDER", AT(data), "where the files are (the recipe's folder, or its key folder)"),
    CLI_ROW_TEXT("only", "NAME,..", AT(only), "recordings to import (all)"),
    CLI_ROW_FLAG("check", AT(check), "look for mistakes in the recipe and open its files, and import nothing"),
    CLI_ROW_FLAG("init", AT(init), "look at FILES (tables, bags, folders) and write a first recipe to stdout"),
    CLI_ROW_FLAG("schema", AT(schema), "write the JSON Schema of recipes to stdout, for editors"),
    CLI_ROW_END,
};
#undef AT

static cli_exit check_request(const cli_io *io, const import_request *r, int operands)
{
    const char *use = r->schema ? "schema" : r->init ? "init" : r->check ? "check" : NULL;
    if (r->schema + r->init + r->check > 1) return cli_misuse(io, "--schema, --init and --check: give one of them");
    if (use && (r->out || (!r->check && (r->only || r->data))))
        return cli_misuse(io, "--%s is not for --%s", r->out ? "out" : r->only ? "only" : "data", use);
    if (io->json && (r->init || r->schema)) return cli_misuse(io, "--json is not for --%s", use);
    if (r->schema && operands) return cli_misuse(io, "--schema takes no file");
    if (r->init && !operands) return cli_misuse(io, "--init needs FILES: tables, bags or folders");
    if (!r->schema && !operands) return cli_misuse(io, "RECIPE is missing");
    if (!r->init && operands > 1) return cli_misuse(io, "one RECIPE is imported, found %d operands", operands);
    if (!use && !r->out) return cli_misuse(io, "--out DATA is missing: the folder of the dataset");
    return CLI_GO;
}

static cli_exit run(const cli_command *command, int argc, char **argv)
{
    static const char *operand[FILES_MAX];
    import_request request = {0};
    cli_io io;
    int operands = 0;
    cli_exit code = cli_parse(command, &request, argc, argv, &io, operand);
    if (code != CLI_GO) return code;
    while (operands < FILES_MAX && operand[operands]) operands++;
    code = check_request(&io, &request, operands);
    if (code != CLI_GO) return code;
    if (request.schema)
        code = print_schema(&io);
    else if (request.init)
        code = write_draft(&io, operand, operands);
    else if (request.check)
        code = check_recipe(&io, &request, operand[0]);
    else
        code = carry_out(&io, &request, operand[0]);
    return cli_finish(&io, code);
}

const cli_command cli_import = {
    .name = "import",
    .brief = "make a dataset of recorded files: tables, trajectories, ROS bags",
    .operands = "RECIPE|FILES",
    .needs = "--out DATA",
    .least = 0,
    .most = FILES_MAX,
    .text = "Reads recorded files as a recipe says, and writes a dataset: dataset.yaml, train/, test/ and a copy of "
            "the recipe. A recipe (YAML, docs/import.md) names sources (delimited text, TUM, EuRoC, KITTI, g2o, ROS "
            "bags), the states to estimate, what each sensor measures, the truth and the split. A mistake in it is "
            "reported with its line. What was dropped, and why, is counted.\n\n"
            "--init looks at files and writes a first recipe with comments. Where the recipe says corrections: "
            "doctor, delays, scales and other faults are found as by covtune doctor, and corrected.\n",
    .example = "  covtune simulate nav2d --tables --out logs\n"
               "  covtune import logs/recipe.yaml --out data\n"
               "  covtune learn data --out learned\n",
    .options = OPTIONS,
    .run = run,
};
