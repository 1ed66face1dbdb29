/* config_file.c: options from a YAML file. The schema for libcyaml is the subcommand's option table with texts as
 * values. The texts are parsed by the code for command lines, so errors are the same.
 *
 * libcyaml returns a code and writes a log: the cause, then the position from the innermost level outwards. Keys and
 * line numbers are in the log only. Comparisons with its words are marked "foreign text". */
#define _POSIX_C_SOURCE 200809L
#include "cli/common/cli.h"

#include <cyaml/cyaml.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 65535

struct cli_config {
    char *value[CLI_ROWS_MAX + 1]; /* one per row; the operand is the last */
};

/* ---- errors of libcyaml ---- */

typedef struct {
    char cause[256]; /* the first line of the log */
    int  line;
} complaint;

static const char LINE[] = "(line: ";

static void take_log(cyaml_log_t level, void *context, const char *fmt, va_list args)
{
    complaint *c = context;
    char       text[256];
    (void)level;
    vsnprintf(text, sizeof text, fmt, args);
    text[strcspn(text, "\n")] = 0;
    const char *line = strstr(text, LINE); /* foreign text */
    if (!strncmp(text, "  in ", 5)) c->line = line && !c->line ? atoi(line + strlen(LINE)) : c->line; /* foreign text */
    else if (!c->cause[0]) snprintf(c->cause, sizeof c->cause, "%s", text + (strncmp(text, "Load: ", 6) ? 0 : 6));
}

static cli_exit complain(const cli_io *io, const char *path, const complaint *c, cyaml_err_t code,
                         const cli_option options[], const char *operand)
{
    static const char TWICE[] = "Mapping field already seen: ";
    const char       *names[CLI_ROWS_MAX + 2], *cause = c->cause[0] ? c->cause : cyaml_strerror(code);
    char              where[24] = "";
    int               n = 0;
    if (c->line) snprintf(where, sizeof where, ":%d", c->line);
    for (const cli_option *o = options; o->name; o++)
        if (cli_is_option(o)) names[n++] = o->name;
    names[n++] = operand;
    names[n] = NULL;
    if (code == CYAML_ERR_INVALID_KEY) { /* the line in the log is that of the previous key */
        const char *colon = strchr(cause, ':'), *key = colon && colon[1] ? colon + 2 : cause;
        const char *near = cli_nearest(key, names);
        for (const cli_option *o = options; o->name; o++)
            if (o->type == CLI_IO_TEXT && !strcmp(o->name, key))
                return cli_misuse(io, "%s: %s is never read from a file; give --%s on the command line", path, key,
                                  key);
        return cli_misuse(io, "%s: there is no option %s%s%s%s", path, key, near ? "; did you mean " : "",
                          near ? near : "", near ? "?" : "");
    }
    if (code == CYAML_ERR_UNEXPECTED_EVENT && !strncmp(cause, TWICE, strlen(TWICE))) /* foreign text */
        return cli_misuse(io, "%s%s: the option %s is given twice", path, where, cause + strlen(TWICE));
    if (code == CYAML_ERR_STRING_LENGTH_MIN)
        return cli_misuse(io, "%s%s: an option has no value", path, where);
    return cli_misuse(io, "%s%s: expected lines \"option: value\": %s", path, where, cause);
}

static void *memory(void *context, void *old, size_t size)
{
    (void)context;
    if (size) return cli_check_alloc(realloc(old, size));
    free(old);
    return NULL;
}

/* ---- reading ---- */

static cyaml_schema_field_t field(const char *key, int place)
{
    return (cyaml_schema_field_t){
        .key = key,
        .data_offset = (uint32_t)((size_t)place * sizeof(char *)),
        .value = {CYAML_VALUE_STRING(CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, char *, 1, TEXT_MAX)},
    };
}

int cli_is_config(const char *path, const char *key)
{
    const size_t n = strlen(path);
    char         line[512];
    int          found = 0, begins = 1;
    if (n < 5 || (strcmp(path + n - 5, ".yaml") && strcmp(path + n - 4, ".yml"))) return 0;
    FILE *file = cli_open(path, "r");
    while (file && !found && fgets(line, sizeof line, file)) {
        found = begins && !strncmp(line, key, strlen(key)) && line[strlen(key)] == ':';
        begins = strchr(line, '\n') != NULL;
    }
    if (file) fclose(file);
    return found;
}

/* A mistake in a file is a failure, not misuse of the command line. */
static cli_exit of_file(cli_exit code) { return code == CLI_MISUSED ? CLI_FAILED : code; }

/* Moves values from alias rows to the rows of the new names. */
static cli_exit rename_keys(const cli_io *io, const char *path, const cli_option options[], cli_config *held)
{
    for (int i = 0; options[i].name; i++) {
        if (options[i].type != CLI_ALIAS || !held->value[i]) continue;
        const cli_option *now = cli_option_resolve(options, &options[i]);
        char            **value = &held->value[now - options];
        if (*value)
            return cli_misuse(io, "%s: %s and %s are both given; %s is the old name of %s: remove its line", path,
                              options[i].name, now->name, options[i].name, now->name);
        *value = held->value[i];
        held->value[i] = NULL;
        cli_remark(io, "%s: the option %s is now called %s", path, options[i].name, now->name);
    }
    return CLI_GO;
}

cli_exit cli_config_read(cli_io *io, const char *path, const char *key, const cli_option options[], void *request,
                         const char **operand, cli_config **held)
{
    cyaml_schema_field_t fields[CLI_ROWS_MAX + 2];
    complaint            c = {0};
    cyaml_data_t        *data = NULL;
    int                  n = 0;
    *held = NULL;
    *operand = NULL;
    int                  keys = 0;
    for (; options[n].name && n < CLI_ROWS_MAX; n++)
        if (options[n].type != CLI_HEADING && options[n].type != CLI_IO_FLAG && options[n].type != CLI_IO_TEXT)
            fields[keys++] = field(options[n].name, n);
    fields[keys++] = field(key, n);
    fields[keys] = (cyaml_schema_field_t){.key = NULL};
    const cyaml_schema_value_t root = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, cli_config, fields)};
    const cyaml_config_t how = {.log_fn = take_log,
                                .log_ctx = &c,
                                .mem_fn = memory,
                                .log_level = CYAML_LOG_WARNING,
                                .flags = CYAML_CFG_NO_ALIAS};
    errno = 0;
    const cyaml_err_t code = cyaml_load_file(path, &how, &root, &data, NULL);
    *held = data;
    /* libyaml allocates by itself, and has no code for the lack of memory */
    if (code == CYAML_ERR_LIBYAML_PARSER_INIT || (code != CYAML_OK && errno == ENOMEM)) cli_check_alloc(NULL);
    if (code == CYAML_ERR_FILE_OPEN) return cli_fail(io, "%s: cannot be read", path);
    if (code != CYAML_OK || !data) return of_file(complain(io, path, &c, code, options, key));
    cli_exit exit_code = rename_keys(io, path, options, *held);
    io->file = path;
    for (int i = 0; i < n && exit_code == CLI_GO; i++)
        if ((*held)->value[i]) exit_code = cli_put_option(io, &options[i], request, (*held)->value[i]);
    io->file = NULL;
    *operand = (*held)->value[n];
    return of_file(exit_code);
}

void cli_config_free(cli_config *held)
{
    for (int i = 0; held && i <= CLI_ROWS_MAX; i++) free(held->value[i]);
    free(held);
}

/* ---- writing ---- */

/* Does YAML need no quotes? */
static int is_plain(const char *value)
{
    if (!isalnum((unsigned char)*value) && *value != '/' && *value != '.') return 0;
    for (const char *c = value; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_./@:=,+-", *c)) return 0;
    return value[strlen(value) - 1] != ':';
}

void cli_config_line(cli_buffer *out, const char *name, const char *value)
{
    if (!value) return;
    if (is_plain(value)) {
        cli_buffer_printf(out, "%s: %s\n", name, value);
        return;
    }
    json_t *text = cli_text(value);
    char   *quoted = cli_check_alloc(json_dumps(text, JSON_ENCODE_ANY)); /* JSON strings are YAML strings */
    cli_buffer_printf(out, "%s: %s\n", name, quoted);
    free(quoted);
    json_decref(text);
}
