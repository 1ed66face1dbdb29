/* export.c: covtune export: noise models in the conventions of another program, with comments from the noise file that
 * a table of noise models does not hold: provenance and error bars. */
#define _POSIX_C_SOURCE 200809L
#include "cli/common/findings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define X(constant, name, what) "|" name
static const char FORMATS[] = CT_EXPORT_LIST(X); /* "|gtsam-cpp|..." */
#undef X

#define DIGITS 6 /* default: error bars are some percent; the noise file has all digits */

typedef struct {
    const char       *given, *out, *to; /* as on the command line          */
    char             *path;             /* the noise file                  */
    ct_export_format  format;
    int               digits; /* 0: not given */
    ct_export_options options;
    ct_noise         *noise;
    char             *origin, **remark; /* what options have, to be freed  */
} export_request;

/* ---- Comments from the noise file ------------------------------------------------------------ */

/* "comment": lines of an earlier export to JSON. */
static void put_comment(cli_buffer *to, const json_t *object)
{
    const json_t *list = json_object_get(object, "comment");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *line = json_string_value(json_array_get(list, i));
        if (line) cli_buffer_printf(to, "%s\n", line);
    }
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static char *origin_of(const cli_io *io, const export_request *request, const json_t *root)
{
    const json_t *from = json_object_get(root, "provenance");
    cli_buffer      m = {0};
    put_comment(&m, root);
    if (json_is_object(from)) {
        cli_buffer_printf(&m, "Learned by covtune %s", text_of(from, "version"));
        if (*text_of(from, "dataset")) cli_buffer_printf(&m, " from %s", text_of(from, "dataset"));
        cli_buffer_printf(&m, "\n");
        if (*text_of(from, "command")) cli_buffer_printf(&m, "Command: %s\n", text_of(from, "command"));
        if (*text_of(from, "digest"))
            cli_buffer_printf(&m, "Digest of data and options: %s\n", text_of(from, "digest"));
    }
    if (json_is_false(json_object_get(from, "finished"))) {
        cli_buffer_printf(&m, "The run is not finished: these are the best so far.\n");
        cli_remark(io, "%s: the run is not finished; these models are the best so far", request->path);
    }
    return m.text;
}

/* Entry i of a list, or the single value of an isotropic model. */
static const json_t *entry(const json_t *value, size_t i)
{
    return json_is_array(value) ? json_array_get(value, i) : value;
}

/* "Error bars: x +- 2.4 %, y +- 3.1 %, yaw at its lower bound". At a bound of a full model is an eigenvalue, not a
 * row. */
static void put_bars(cli_buffer *to, const ct_noise_model *m, const json_t *group)
{
    const json_t *percent = json_object_get(group, "sigma_error_percent"), *bound = json_object_get(group, "at_bound");
    const int     full = m->kind == CT_NOISE_FULL, n = m->kind == CT_NOISE_ISOTROPIC ? 1 : m->dim;
    const char   *held = NULL;
    if (!percent) return;
    cli_buffer_printf(to, "Error bars:");
    for (int i = 0; i < n; i++) {
        const json_t *value = entry(percent, (size_t)i);
        const char   *at = json_string_value(entry(bound, (size_t)i));
        if (at && full) held = at;
        cli_buffer_printf(to, "%s", i ? ", " : " ");
        if (n > 1 && m->row) cli_buffer_printf(to, "%s ", m->row[i].name);
        else if (n > 1) cli_buffer_printf(to, "%d ", i);
        if (json_is_number(value)) cli_buffer_printf(to, "+- %.2g %%", json_number_value(value));
        if (at && !full) cli_buffer_printf(to, "%sat its %s bound", json_is_number(value) ? ", " : "", at);
        else if (!json_is_number(value)) cli_buffer_printf(to, "not known");
    }
    if (held) cli_buffer_printf(to, "; an eigenvalue at its %s bound", held);
    cli_buffer_printf(to, " (one standard error, of sigma)\n");
}

static void read_remarks(const cli_io *io, export_request *request)
{
    const int32_t n = ct_noise_count(request->noise);
    json_t       *root = cli_load_json(request->path, NULL); /* NULL: a pipe, which can be read only once */
    request->remark = cli_alloc(n, sizeof *request->remark);
    for (int32_t i = 0; i < n; i++) {
        const ct_noise_model *m = ct_noise_get(request->noise, i);
        const json_t         *group = json_object_get(json_object_get(root, "groups"), m->name);
        cli_buffer              text = {0};
        put_comment(&text, group);
        put_bars(&text, m, group);
        request->remark[i] = text.text;
    }
    request->origin = origin_of(io, request, root);
    request->options.origin = request->origin;
    request->options.remark = (const char *const *)request->remark;
    json_decref(root);
}

/* ---- Which file ------------------------------------------------------------------------------ */

/* *file <- the noise file of a run folder, or the path itself. */
static ct_status find_noise_file(const char *path, char **file, ct_err *err)
{
    struct stat entry;
    if (stat(path, &entry) == 0 && S_ISDIR(entry.st_mode)) return cli_noise_path(path, file, err);
    *file = cli_check_alloc(strdup(path));
    return CT_OK;
}

/* Reads the table. If another file of a run folder is given, the error names its noise file. */
static ct_status read_table(export_request *request, ct_err *err)
{
    ct_status status = ct_noise_new(&request->noise, err);
    if (status == CT_OK) status = ct_noise_read(request->noise, request->path, err);
    if (status != CT_E_PARSE) return status;
    const char *slash = strrchr(request->path, '/');
    cli_buffer    place = {0};
    cli_buffer_printf(&place, "%.*snoise.json", slash ? (int)(slash + 1 - request->path) : 0, request->path);
    char       *beside = place.text;
    ct_err      inner = *err;
    if (strcmp(beside, request->path) && access(beside, R_OK) == 0)
        ct_fail(err, status, "%s; the noise file of that run is %s", inner.text, beside);
    free(beside);
    return status;
}

/* ---- Exporting ------------------------------------------------------------------------------- */

/* Names of the written models: those in an export of the same models to JSON. */
static json_t *names(const export_request *request)
{
    char       *text;
    if (ct_export_string(request->noise, CT_EXPORT_JSON, &request->options, &text, NULL) != CT_OK)
        cli_check_alloc(NULL);
    json_t     *root = cli_check_alloc(json_loads(text, 0, NULL)), *list = cli_array(), *group;
    const char *name;
    json_object_foreach(json_object_get(root, "groups"), name, group) cli_append(list, cli_text(name));
    json_decref(root);
    free(text);
    return list;
}

/* Remarks with the main facts of the comments. */
static void remark_on(const cli_io *io, const export_request *request, const json_t *written,
                      const ct_findings *findings)
{
    const int more = ct_noise_count(request->noise) - (int)json_array_size(written) - 1;
    int32_t   held = 0;
    if (!request->options.group && more >= 0) {
        while (ct_noise_get(request->noise, held)->learned != 0) held++;
        if (more)
            cli_remark(io, "%s and %d more were not learned and are left out; --all includes them",
                       ct_noise_get(request->noise, held)->name, more);
        else
            cli_remark(io, "%s was not learned and is left out; --all includes it",
                       ct_noise_get(request->noise, held)->name);
    }
    for (int32_t i = 0; i < findings->count; i++) {
        char text[CLI_FINDING_TEXT];
        ct_finding_text(&findings->item[i], text, sizeof text);
        cli_remark(io, "%s: %s", request->path, text);
    }
}

static void print(const cli_io *io, const export_request *request, const ct_findings *findings, const char *text)
{
    json_t     *list = names(request);
    const char *format = ct_export_name(request->format);
    remark_on(io, request, list, findings);
    if (io->json) {
        json_t *o = cli_object();
        cli_put(o, "format", cli_text(format));
        cli_put(o, "groups", list);
        cli_put(o, "text", cli_text(text));
        cli_put(o, "findings", cli_findings_json(findings));
        cli_put(o, "out", cli_text(request->out));
        cli_print_json(o);
        return;
    }
    if (!request->out) {
        fputs(text, stdout);
    } else if (!io->quiet && !cli_is_stdout(request->out)) {
        cli_row("from", "%s", request->path);
        cli_row("to", "%s (%s)", request->out, format);
        cli_row("noise models", "%d", (int)json_array_size(list));
    }
    json_decref(list);
}

static cli_exit carry_out(const cli_io *io, export_request *request)
{
    ct_err      err = {0};
    ct_run_folder_info info;
    if (strcmp(request->path, request->given) && cli_check_run(request->given, &info, &err) != CT_OK)
        return cli_fail(io, "%s", err.text);
    if (read_table(request, &err) != CT_OK) return cli_fail(io, "%s", err.text);
    read_remarks(io, request);
    char             *text;
    ct_findings       findings = {0};
    ct_export_options options = request->options;
    options.findings = &findings;
    ct_status status = ct_export_string(request->noise, request->format, &options, &text, &err);
    const int refused = status != CT_OK; /* the message names a model, but not the file */
    if (!refused && request->out)
        status = ct_export_write(request->noise, request->format, &request->options, request->out, &err);
    if (status == CT_OK) print(io, request, &findings, text);
    ct_findings_free(&findings);
    free(text);
    if (refused) return cli_fail(io, "%s: %s", request->path, err.text);
    return status == CT_OK ? CLI_DONE : cli_fail(io, "%s", err.text);
}

static void request_free(export_request *request)
{
    for (int32_t i = 0; request->remark && i < ct_noise_count(request->noise); i++) free(request->remark[i]);
    free(request->remark);
    free(request->origin);
    free(request->path);
    ct_noise_free(request->noise);
}

/* In any case, with _ or -: the package itself is called robot_localization. */
static int find_format(const char *word)
{
    for (int i = 0; i < CT_EXPORT_COUNT; i++) {
        const char *name = ct_export_name((ct_export_format)i);
        if (cli_same_word(word, name, strlen(name))) return i;
    }
    return -1;
}

/* Suggests formats that begin with the word, or the most similar one, or all. */
static cli_exit bad_format(const cli_io *io, const char *word)
{
    const char *list[CT_EXPORT_COUNT + 1] = {NULL};
    char        all[256] = "", like[256] = "";
    for (int i = 0; i < CT_EXPORT_COUNT; i++) {
        list[i] = ct_export_name((ct_export_format)i);
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", list[i]);
        if (*word && !strncmp(list[i], word, strlen(word)))
            snprintf(like + strlen(like), sizeof like - strlen(like), "%s%s", *like ? " or " : "", list[i]);
    }
    const char *near = cli_nearest(word, list);
    if (*like || near) return cli_misuse(io, "there is no format \"%s\"; did you mean %s?", word, *like ? like : near);
    return cli_misuse(io, "--to is one of %s, found \"%s\"", all, word);
}

/* Options that would change nothing. */
static cli_exit refuse_unused(const cli_io *io, const export_request *r)
{
    const char *name = ct_export_name(r->format);
    if (r->digits && r->format == CT_EXPORT_JSON)
        return cli_misuse(io, "--digits is not for json, which has all digits");
    if (r->options.dt_s > 0 && r->format != CT_EXPORT_ROS && r->format != CT_EXPORT_ROBOT_LOCALIZATION)
        return cli_misuse(io, "--dt is for ros and robot-localization; %s has no twists", name);
    if (r->options.all && r->options.group)
        return cli_misuse(io, "--all selects all models and --group %s one group; give one of them",
                          r->options.group);
    return CLI_GO;
}

#define AT(member) offsetof(export_request, member)
static const cli_option OPTIONS[] = {
    CLI_ROW_TEXT("to", FORMATS + 1, AT(to), "format"),
    CLI_ROW_TEXT("group", "NAME", AT(options.group),
                 "only the models of this group: NAME, NAME@..., NAME#... (all that were learned)"),
    CLI_ROW_FLAG("all", AT(options.all),
                 "include models that were not learned, such as first_pose"),
    CLI_ROW_FLAG("diagonal", AT(options.diagonal), "leave correlations out"),
    CLI_ROW_NUMBER("dt", "SECONDS", 1e-9, 1e9, AT(options.dt_s),
                   "time from pose to pose: ros and robot-localization then write between_* models as twists"),
    CLI_ROW_INTEGER("digits", "N", 3, 17, AT(digits),
                    "significant digits; a covariance has more if its correlations need them; 17: all (6; json: all)"),
    CLI_ROW_TEXT("out", "FILE", AT(out), "write to that file, replaced whole (stdout)"),
    CLI_ROW_END,
};
#undef AT

static cli_exit run(const cli_command *command, int argc, char **argv)
{
    export_request request = {.options = ct_export_defaults()};
    cli_io         io;
    const cli_exit code = cli_parse(command, &request, argc, argv, &io, &request.given);
    if (code != CLI_GO) return code;
    if (!request.to) return cli_misuse(&io, "--to is missing: %s", FORMATS + 1);
    const int format = find_format(request.to);
    if (format < 0) return bad_format(&io, request.to);
    request.format = (ct_export_format)format;
    const cli_exit idle = refuse_unused(&io, &request);
    if (idle != CLI_GO) return idle;
    request.options.digits = request.digits ? request.digits % 17 : DIGITS;
    ct_err    err = {0};
    const int found = find_noise_file(request.given, &request.path, &err) == CT_OK;
    const cli_exit done = found ? carry_out(&io, &request) : cli_fail(&io, "%s", err.text);
    request_free(&request);
    return cli_finish(&io, done);
}

#define X(constant, name, what) "\n  " name ": " what "."
const cli_command cli_export = {
    .name = "export",
    .brief = "write noise models for another program",
    .operands = "NOISE",
    .least = 1,
    .most = 1,
    .text = "Reads a noise file, or that of a run folder, and writes its models in the conventions of another program: "
            "order of coordinates, units, and sigma, variance or information. Comments in the output name the "
            "convention and the origin of the numbers. "
            "Formats:" CT_EXPORT_LIST(X) "\n",
    .example = "  echo '{\"format\": \"covtune-noise\", \"version\": 1, \"groups\":\n"
               "    {\"gps\": {\"variance\": [4, 4], \"coordinates\": [\"x\", \"y\"]}}}' >noise.json\n"
               "  covtune export noise.json --to gtsam-python\n"
               "  covtune export noise.json --to ros --out gps.yaml\n",
    .options = OPTIONS,
    .run = run,
};
#undef X
