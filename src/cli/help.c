/* help.c: the help of a subcommand, from its table. */
#include "cli.h"

#include <string.h>

#define COLUMN 26 /* where the explanation of an option begins, if there is room */

static void option(const cli_option *o, int width)
{
    const int column = width >= 60 ? COLUMN : 6;
    int       at = printf("  --%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
    if (at + 2 > column) {
        putchar('\n');
        at = 0;
    }
    printf("%*s", column - at, "");
    cli_wrap(stdout, column, column, width, o->help);
}

void cli_help(const cli_command *command, const cli_option options[])
{
    const int  width = cli_width() < 100 ? cli_width() : 100; /* longer lines are hard to read */
    cli_option common[4];
    char       usage[256];
    snprintf(usage, sizeof usage, "covtune %s %s [options]", command->name, command->operands);
    printf("Usage: ");
    cli_wrap(stdout, 7, 7, width, usage);
    putchar('\n');
    cli_wrap(stdout, 0, 0, width, command->text);
    printf("\nOptions:\n");
    for (int i = 0; options[i].name; i++) option(&options[i], width);
    cli_common_options(NULL, NULL, common);
    for (int i = 0; common[i].name; i++) option(&common[i], width);
    printf("\nExample:\n%s", command->example); /* as it is, to be copied */
}
