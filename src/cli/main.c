/* main.c: finds the subcommand and runs it. program.c calls it, and covtune-mpi on every rank. */
#define _POSIX_C_SOURCE 200809L
#include "cli/common/manual.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const cli_command *const cli_commands[] = {
#define X(name) &cli_##name,
    CLI_COMMANDS(X)
#undef X
    NULL,
};
#define COMMANDS ((int)(sizeof cli_commands / sizeof *cli_commands) - 1)

const char cli_brief[] = "learn the noise covariances of a state estimator";
const char cli_about[] =
    "covtune learns the noise covariances of a state estimator from recorded sequences with ground truth. It evaluates "
    "them on sequences that were not learned from, and writes them for other programs. Estimates are those of factor "
    "graphs, which covtune also solves, converts and simulates.";

static void list(FILE *out)
{
    const int width = cli_width(), column = width >= 60 ? 13 : 4;
    cli_wrap(out, 0, 7, width, "Usage: covtune COMMAND ...\n");
    fprintf(out, "\n");
    cli_wrap(out, 0, 0, width, cli_about);
    fprintf(out, "\nCommands:\n");
    for (int i = 0; i < COMMANDS; i++) {
        int at = fprintf(out, "  %s", cli_commands[i]->name);
        if (at + 2 > column) at = (putc('\n', out), 0);
        fprintf(out, "%*s", column - at, "");
        cli_wrap(out, column, column, width, cli_commands[i]->brief);
    }
    fprintf(out, "\n");
    cli_wrap(out, 0, 0, width,
             "covtune help COMMAND explains a command, with an example, as covtune COMMAND --help does. "
             "covtune --version prints the version.\n"
             "Results go to stdout, remarks to stderr. Exit code: 0 done, 1 failed, 2 misused, 130 interrupted.");
}

static const cli_command *find(const char *name)
{
    for (int i = 0; i < COMMANDS; i++)
        if (!strcmp(cli_commands[i]->name, name)) return cli_commands[i];
    return NULL;
}

static cli_exit unknown(const cli_io *io, const char *word)
{
    const char *names[COMMANDS + 4];
    int         n = 0;
    for (; n < COMMANDS; n++) names[n] = cli_commands[n]->name;
    names[n++] = "help";
    names[n++] = "--help";
    names[n++] = "--version";
    names[n] = NULL;
    const char *near = cli_nearest(word, names), *what = word[0] == '-' ? "option" : "command";
    if (near) return cli_misuse(io, "there is no %s \"%s\"; did you mean %s?", what, word, near);
    return cli_misuse(io, "there is no %s \"%s\"", what, word);
}

/* covtune help simulate nav2d is covtune simulate nav2d --help. */
static cli_exit help(const cli_io *io, int argc, char **argv)
{
    char              ask[] = "--help";
    char             *words[4] = {argc > 0 ? argv[0] : ask, argc > 1 ? argv[1] : ask, ask, NULL};
    const cli_command *command = argc ? find(argv[0]) : NULL;
    if (!argc || !strcmp(argv[0], "--help") || !strcmp(argv[0], "-h")) {
        list(stdout);
        return cli_finish(io, CLI_DONE);
    }
    if (!command) return unknown(io, argv[0]);
    if (argc > 2) return cli_misuse(io, "unexpected \"%s\": covtune help takes one command", argv[2]);
    return command->run(command, argc + 1, words);
}

/* covtune --generate man FOLDER writes the man pages; bash, zsh or fish prints the completion script of that shell. For
 * builds and packages: it is not in the help. */
static cli_exit generate(const cli_io *io, int argc, char **argv)
{
    ct_err err = {0};
    if (argc == 2 && !strcmp(argv[0], "man"))
        return cli_write_manual(argv[1], &err) == CT_OK ? CLI_DONE : cli_fail(io, "%s", err.text);
    char *script = argc == 1 ? cli_completion(argv[0]) : NULL;
    if (!script) return cli_misuse(io, "--generate takes bash, zsh, fish, or man and a folder");
    fputs(script, stdout);
    free(script);
    return cli_finish(io, CLI_DONE);
}

/* If stdin, stdout or stderr is closed, the next opened file would get its number, and output would go into that file.
 * So /dev/null takes the number. It is read-only for stdout, so that writing fails. */
static void hold_standard_files(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) (void)!open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY);
}

int cli_main(int argc, char **argv)
{
    const cli_io io = {0};
    hold_standard_files();
    cli_json_init();
    cli_signals_init();
    setlocale(LC_CTYPE, ""); /* for UTF-8; numbers keep the C format */
    if (argc < 2) {
        list(stderr);
        return CLI_MISUSED;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) return help(&io, 0, NULL);
    if (!strcmp(argv[1], "help")) return help(&io, argc - 2, argv + 2);
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) return cli_print_version(&io);
    if (!strcmp(argv[1], "--generate")) return generate(&io, argc - 2, argv + 2);
    const cli_command *command = find(argv[1]);
    if (!command) return unknown(&io, argv[1]);
    const cli_exit code = command->run(command, argc - 1, argv + 1);
    return code == CLI_INTERRUPTED ? cli_interrupt_code() : (int)code;
}
