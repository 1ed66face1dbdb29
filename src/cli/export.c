/* export.c: covtune export. Noise models in the words of another program. */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <stdlib.h>

#define X(constant, name, what) "|" name
static const char *const FORMATS = &(CT_EXPORT_LIST(X))[1];
#undef X

typedef struct {
    const char *path, *group, *out;
    int         format;
} export_request;

/* The export as a string, which the caller frees; NULL on failure. */
static char *to_text(const export_request *request, const ct_noise *noise, ct_err *err)
{
    char           *text = NULL;
    size_t          size;
    FILE           *stream = cli_need(open_memstream(&text, &size));
    const ct_status status = ct_export(noise, request->group, (ct_export_format)request->format, stream, err);
    if (fclose(stream)) cli_need(NULL);
    if (status == CT_OK) return text;
    free(text);
    return NULL;
}

/* The models that were written: the names in the export of that group as a noise file. */
static json_t *names(const export_request *request, const ct_noise *noise)
{
    export_request as_json = *request;
    ct_err         err;
    as_json.format = CT_EXPORT_JSON;
    char       *text = cli_need(to_text(&as_json, noise, &err));
    json_t     *root = cli_need(json_loads(text, 0, NULL)), *list = cli_array(), *group;
    const char *name;
    json_object_foreach(json_object_get(root, "groups"), name, group) cli_append(list, cli_text(name));
    json_decref(root);
    free(text);
    return list;
}

static void print(const cli_io *io, const export_request *request, const ct_noise *noise, const char *text)
{
    json_t    *list = names(request, noise);
    const char *format = ct_export_name((ct_export_format)request->format);
    if (io->json) {
        json_t *o = cli_object();
        cli_put(o, "format", cli_text(format));
        cli_put(o, "groups", list);
        cli_put(o, "text", cli_text(text));
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

static cli_exit carry_out(const cli_io *io, const export_request *request)
{
    ct_err    err = {0};
    ct_noise *noise = NULL;
    char     *text = NULL;
    int       in_file = 0; /* the sentence names a model, and should name the file */
    ct_status status = ct_noise_new(&noise, &err);
    if (status == CT_OK) status = ct_noise_read(noise, request->path, &err);
    if (status == CT_OK) {
        text = to_text(request, noise, &err);
        in_file = !text;
        status = text ? CT_OK : err.status;
    }
    if (status == CT_OK && request->out)
        status = ct_export_write(noise, request->group, (ct_export_format)request->format, request->out, &err);
    if (status == CT_OK) print(io, request, noise, text);
    free(text);
    ct_noise_free(noise);
    if (in_file) return cli_fail(io, "%s: %s", request->path, err.text);
    return status == CT_OK ? CLI_DONE : cli_fail(io, "%s", err.text);
}

static cli_exit run(const cli_command *command, int argc, char **argv)
{
    export_request   request = {.format = -1};
    const cli_option options[] = {
        CLI_ROW_CHOICE("to", FORMATS, ct_export_find, &request.format, "format"),
        CLI_ROW_TEXT("group", "NAME", &request.group, "the models of that group alone: NAME, NAME@..., NAME#... (all)"),
        CLI_ROW_TEXT("out", "FILE", &request.out, "write to that file, replaced whole (stdout)"),
        CLI_ROW_END,
    };
    cli_io         io;
    const cli_exit code = cli_parse(command, options, argc, argv, &io, &request.path);
    if (code != CLI_GO) return code;
    if (request.format < 0) return cli_misuse(&io, "--to is missing: %s", FORMATS);
    return cli_finish(&io, carry_out(&io, &request));
}

#define X(constant, name, what) "\n  " name ": " what "."
const cli_command cli_export = {
    .name = "export",
    .brief = "write noise models for another program",
    .operands = "NOISE",
    .least = 1,
    .most = 1,
    .text = "Reads a noise file and writes its models as another program wants them: its order of coordinates, its units, sigma, variance or "
            "information. Comments in what is written say which. Formats:" CT_EXPORT_LIST(X) "\n",
    .example = "  echo '{\"format\": \"covtune-noise\", \"version\": 1, \"groups\":\n"
               "    {\"gps\": {\"variance\": [4, 4], \"coordinates\": [\"x\", \"y\"]}}}' >noise.json\n"
               "  covtune export noise.json --to gtsam-python\n"
               "  covtune export noise.json --to ros --out gps.yaml\n",
    .run = run,
};
#undef X
