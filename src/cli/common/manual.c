/* manual.c: man pages, from the option tables. One page for the program and one for each subcommand, in the macros of
 * man(7), without a date: the same program writes the same bytes. */
#include "cli/common/manual.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- roff ---- */

/* Text that roff does not interpret: backslashes, hyphens, quotes, and dots at the beginning of a line. */
static void put_text(cli_buffer *out, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *as = text[i] == '\\' ? "\\e" : text[i] == '-' ? "\\-" : text[i] == '\'' ? "\\(aq" : NULL;
        const int   begins = out->used == 0 || out->text[out->used - 1] == '\n';
        if (begins && text[i] == '.') cli_buffer_printf(out, "\\&");
        if (as) cli_buffer_printf(out, "%s", as);
        else cli_buffer_put(out, &text[i], 1);
    }
}

/* Lines of a text: `between` is the request between two of them, and .PP where an empty line is. */
static void put_lines(cli_buffer *out, const char *text, const char *between)
{
    while (*text) {
        text += strspn(text, " ");
        const size_t n = strcspn(text, "\n");
        if (n) {
            put_text(out, text, n);
            cli_buffer_printf(out, "\n");
        }
        text += n + (text[n] == '\n');
        if (*text == '\n') {
            cli_buffer_printf(out, ".PP\n");
            text++;
        } else if (n && *text) {
            cli_buffer_printf(out, "%s\n", between);
        }
    }
}

/* Lines as they are. */
static void put_example(cli_buffer *out, const char *text)
{
    cli_buffer_printf(out, ".EX\n");
    put_text(out, text, strlen(text));
    cli_buffer_printf(out, ".EE\n");
}

static void put_title(cli_buffer *out, const char *page)
{
    cli_buffer_printf(out, ".TH ");
    for (const char *c = page; *c; c++) cli_buffer_printf(out, *c == '-' ? "\\-" : "%c", toupper((unsigned char)*c));
    cli_buffer_printf(out, " 1 \"\" \"covtune %s\" \"covtune manual\"\n", ct_version());
}

/* ---- a subcommand ---- */

static void put_synopsis(cli_buffer *out, const cli_command *command)
{
    cli_buffer_printf(out, "\\fBcovtune %s\\fR ", command->name);
    put_text(out, command->operands, strlen(command->operands));
    if (command->needs) {
        cli_buffer_printf(out, " ");
        put_text(out, command->needs, strlen(command->needs));
    }
    cli_buffer_printf(out, " [options]\n");
}

static void put_option(cli_buffer *out, const cli_option *o)
{
    if (o->type == CLI_ALIAS) return;
    if (o->type == CLI_HEADING) {
        cli_buffer_printf(out, ".SS \"%s\"\n", o->name);
        return;
    }
    cli_buffer_printf(out, ".TP\n");
    if (cli_option_letter(o)) cli_buffer_printf(out, "\\fB\\-%c\\fR, ", cli_option_letter(o));
    cli_buffer_printf(out, "\\fB\\-\\-");
    put_text(out, o->name, strlen(o->name));
    cli_buffer_printf(out, "\\fR");
    if (o->value) {
        cli_buffer_printf(out, " \\fI");
        put_text(out, o->value, strlen(o->value));
        cli_buffer_printf(out, "\\fR");
    }
    cli_buffer_printf(out, "\n");
    put_lines(out, o->help, ".br");
}

/* A table that ends in a heading has the common options under it. */
static void put_options(cli_buffer *out, const cli_command *command)
{
    for (const cli_option *o = command->options; o->name; o++) put_option(out, o);
    for (const cli_option *o = cli_common_options; o->name; o++) put_option(out, o);
}

static void put_variant(cli_buffer *out, const cli_command *command)
{
    cli_buffer_printf(out, ".SH \"%s %s\"\n", command->name, command->operands);
    put_synopsis(out, command);
    cli_buffer_printf(out, ".PP\n");
    put_lines(out, command->text, ".br");
    put_options(out, command);
    cli_buffer_printf(out, ".SS \"Example\"\n");
    put_example(out, command->example);
}

static void put_exit_status(cli_buffer *out)
{
    static const char *const CODES[][2] = {
        {"0", "The command did what was asked."},
        {"1", "The command failed. A sentence on stderr names the cause."},
        {"2", "The command line is wrong: an unknown option, a value outside its range, a missing operand."},
        {"130", "Ctrl-C interrupted the command. 143: SIGTERM did, 129: SIGHUP."},
    };
    cli_buffer_printf(out, ".SH \"EXIT STATUS\"\n");
    for (size_t i = 0; i < sizeof CODES / sizeof *CODES; i++)
        cli_buffer_printf(out, ".TP\n.B %s\n%s\n", CODES[i][0], CODES[i][1]);
}

static char *command_page(const cli_command *command)
{
    cli_buffer out = {0};
    char       name[64];
    snprintf(name, sizeof name, "covtune-%s", command->name);
    put_title(&out, name);
    cli_buffer_printf(&out, ".SH NAME\n");
    put_text(&out, name, strlen(name));
    cli_buffer_printf(&out, " \\- %s\n.SH SYNOPSIS\n", command->brief);
    put_synopsis(&out, command);
    cli_buffer_printf(&out, ".SH DESCRIPTION\n");
    put_lines(&out, command->text, ".br");
    cli_buffer_printf(&out, ".SH OPTIONS\n");
    put_options(&out, command);
    cli_buffer_printf(&out, ".SH EXAMPLES\n");
    put_example(&out, command->example);
    for (const cli_command *const *v = command->variants; v && *v; v++) put_variant(&out, *v);
    put_exit_status(&out);
    cli_buffer_printf(&out, ".SH \"SEE ALSO\"\n.BR covtune (1)\n");
    return cli_buffer_text(&out);
}

/* ---- the program ---- */

static char *program_page(void)
{
    cli_buffer out = {0};
    put_title(&out, "covtune");
    cli_buffer_printf(&out, ".SH NAME\ncovtune \\- %s\n.SH SYNOPSIS\n", cli_brief);
    cli_buffer_printf(&out, "\\fBcovtune\\fR COMMAND ...\n.br\n\\fBcovtune help\\fR COMMAND\n.br\n"
                            "\\fBcovtune \\-\\-version\\fR\n.SH DESCRIPTION\n");
    put_lines(&out, cli_about, ".br");
    cli_buffer_printf(&out, ".PP\nResults go to stdout, remarks and errors to stderr.\n.SH COMMANDS\n");
    for (const cli_command *const *c = cli_commands; *c; c++)
        cli_buffer_printf(&out, ".TP\n.BR covtune\\-%s (1)\n%s\n", (*c)->name, (*c)->brief);
    put_exit_status(&out);
    cli_buffer_printf(&out, ".SH ENVIRONMENT\n.TP\n.B COLUMNS\nThe width of help and results, in columns.\n"
                            ".TP\n.B TERM\nNo progress is shown where it is not set, or set to \"dumb\".\n");
    cli_buffer_printf(&out, ".SH \"SEE ALSO\"\n");
    for (const cli_command *const *c = cli_commands; *c; c++)
        cli_buffer_printf(&out, ".BR covtune\\-%s (1)%s\n", (*c)->name, c[1] ? "," : "");
    return cli_buffer_text(&out);
}

static ct_status write_page(const char *folder, const char *name, char *page, ct_err *err)
{
    char file[64];
    snprintf(file, sizeof file, "covtune%s%s.1", name ? "-" : "", name ? name : "");
    char           *path = cli_path_join(folder, file);
    const ct_status status = ct_file_replace(path, page, strlen(page), err);
    free(path);
    free(page);
    return status;
}

ct_status cli_write_manual(const char *folder, ct_err *err)
{
    ct_status status = write_page(folder, NULL, program_page(), err);
    for (const cli_command *const *c = cli_commands; *c && status == CT_OK; c++)
        status = write_page(folder, (*c)->name, command_page(*c), err);
    return status;
}
