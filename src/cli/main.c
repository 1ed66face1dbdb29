/* main.c: the program. Finds the subcommand and hands over. */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

static const cli_command *const COMMAND[] = {
#define X(name) &cli_##name,
    CLI_COMMANDS(X)
#undef X
};
#define COMMANDS ((int)(sizeof COMMAND / sizeof *COMMAND))

static void list(FILE *out)
{
    const int width = cli_width(), column = width >= 60 ? 13 : 4;
    cli_wrap(out, 0, 7, width, "Usage: covtune COMMAND ...\n");
    fprintf(out, "\n");
    cli_wrap(out, 0, 0, width, "Estimates a robot's states from its measurements: reads, converts, makes and solves factor graphs.");
    fprintf(out, "\nCommands:\n");
    for (int i = 0; i < COMMANDS; i++) {
        int at = fprintf(out, "  %s", COMMAND[i]->name);
        if (at + 2 > column) at = (putc('\n', out), 0);
        fprintf(out, "%*s", column - at, "");
        cli_wrap(out, column, column, width, COMMAND[i]->brief);
    }
    fprintf(out, "\n");
    cli_wrap(out, 0, 0, width,
             "covtune COMMAND --help explains one, with an example. covtune --version prints the version.\n"
             "Results go to stdout, remarks to stderr. Exit code: 0 done, 1 failed, 2 misused, 130 interrupted.");
}

static const cli_command *find(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (!strcmp(COMMAND[i]->name, name)) return COMMAND[i];
    return NULL;
}

static cli_exit unknown(const cli_io *io, const char *word)
{
    const char *names[COMMANDS + 3];
    int         n = 0;
    for (; n < COMMANDS; n++) names[n] = COMMAND[n]->name;
    names[n++] = "--help";
    names[n++] = "--version";
    names[n] = NULL;
    const char *near = cli_nearest(word, names), *what = word[0] == '-' ? "option" : "command";
    if (near) return cli_misuse(io, "there is no %s \"%s\"; did you mean %s?", what, word, near);
    return cli_misuse(io, "there is no %s \"%s\"", what, word);
}

/* A closed stdin, stdout or stderr would be taken by the next file that is opened, and that file
 * written into. A stdout that was closed is left such that writing to it fails. */
static void hold_standard_files(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) (void)!open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
    const cli_io io = {0};
    hold_standard_files();
    setlocale(LC_CTYPE, ""); /* what the terminal can show; numbers stay as C has them */
    if (argc < 2) {
        list(stderr);
        return CLI_MISUSED;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        list(stdout);
        return cli_finish(&io, CLI_DONE);
    }
    if (!strcmp(argv[1], "--version")) {
        printf("covtune %s\n", ct_version());
        return cli_finish(&io, CLI_DONE);
    }
    const cli_command *command = find(argv[1]);
    if (!command) return unknown(&io, argv[1]);
    return command->run(command, argc - 1, argv + 1);
}
