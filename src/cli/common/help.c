/* help.c: prints the help of a subcommand from its option table. */
#include "cli/common/cli.h"

#include <string.h>

#define COLUMN 26 /* where the explanation of an option begins, if there is room */

/* Prints "--method lm|gn|..." wrapped to width; returns the column after it. */
static int name(const cli_option *o, int width)
{
    const int indent = 6;
    char      letter[8] = "";
    if (cli_option_letter(o)) snprintf(letter, sizeof letter, "-%c, ", cli_option_letter(o));
    int at = printf("  %s--%s%s", letter, o->name, o->value ? " " : "");
    for (const char *word = o->value; word && *word;) {
        const int n = (int)strcspn(word, "|") + (word[strcspn(word, "|")] == '|');
        if (at + n > width && at > indent) at = printf("\n%*s", indent, "") - 1;
        at += printf("%.*s", n, word);
        word += n;
    }
    return at;
}

static void option(const cli_option *o, int width)
{
    if (o->type == CLI_HEADING) {
        printf("\n%s:\n", o->name);
        return;
    }
    if (o->type == CLI_ALIAS) return;
    const int column = width >= 60 ? COLUMN : 6;
    int       at = name(o, width);
    if (at + 2 > column) {
        putchar('\n');
        at = 0;
    }
    printf("%*s", column - at, "");
    cli_wrap(stdout, column, column, width, o->help);
}

void cli_help(const cli_command *command)
{
    const cli_option *options = command->options;
    const int         width = cli_width() < 100 ? cli_width() : 100; /* longer lines are hard to read */
    char              usage[256];
    snprintf(usage, sizeof usage, "covtune %s %s%s%s [options]", command->name, command->operands,
             command->needs ? " " : "", command->needs ? command->needs : "");
    printf("Usage: ");
    cli_wrap(stdout, 7, 7, width, usage);
    putchar('\n');
    cli_wrap(stdout, 0, 0, width, command->text);
    if (options[0].type != CLI_HEADING) printf("\nOptions:\n");
    for (int i = 0; options[i].name; i++) option(&options[i], width);
    for (int i = 0; cli_common_options[i].name; i++) option(&cli_common_options[i], width);
    printf("\nExample:\n%s", command->example); /* as it is, to be copied */
}
