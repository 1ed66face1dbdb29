/* completion.c: completion scripts for bash, zsh and fish, from the option tables.
 *
 * The value column of an option defines the completion: words in small letters ("lm|gn", "auto|none|W") are offered as
 * they are, FILE, RUN, DIR, PATH and the like complete names of files, and other capitals (N, S:T) nothing. Operands
 * follow the same rule. */
#include "cli/common/manual.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a value may be ---- */

static int is_word(const char *alternative, size_t n)
{
    int small = 0;
    if (n >= 4 && !strncmp(alternative, "FILE", 4)) return 0;
    for (size_t i = 0; i < n; i++) {
        small = small || islower((unsigned char)alternative[i]) || isdigit((unsigned char)alternative[i]);
        if (strchr(" .,:=[", alternative[i])) return 0;
    }
    return small;
}

static int is_file(const char *alternative, size_t n)
{
    static const char *const FILES[] = {"FILE",   "RUN",   "DIR",   "PATH", "DATASET",
                                        "CONFIG", "GRAPH", "NOISE", "IN",   "OUT"};
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++)
        if (!strncmp(alternative, FILES[i], strlen(FILES[i])) && (n == strlen(FILES[i]) || alternative[4] == '.'))
            return 1;
    return 0;
}

/* The words among the alternatives "a|b|C", with blanks between; *file: is a file among them? "IN OUT" are two. */
static char *words_of(const char *value, int *file)
{
    cli_buffer words = {0};
    *file = 0;
    while (value && *value) {
        const size_t n = strcspn(value, "| ");
        if (is_word(value, n)) cli_buffer_printf(&words, "%s%.*s", words.used ? " " : "", (int)n, value);
        *file = *file || is_file(value, n);
        value += n + (value[n] != 0);
    }
    return cli_buffer_text(&words);
}

/* The first clause of a help text: up to a sign that ends one, or a parenthesis. */
static char *first_clause(const char *help)
{
    size_t n = strcspn(help, ";:(\n");
    while (n && help[n - 1] == ' ') n--;
    char *text = cli_alloc((int64_t)n + 1, 1);
    memcpy(text, help, n);
    return text;
}

/* The options of a command and the common ones, without headings and aliases; ended by NULL. */
static void list_options(const cli_command *command, const cli_option *list[CLI_ROWS_MAX + 1])
{
    const cli_option *const tables[] = {command->options, cli_common_options};
    int                     n = 0;
    for (int k = 0; k < 2; k++)
        for (const cli_option *o = tables[k]; o->name; o++)
            if (cli_is_option(o)) list[n++] = o;
    list[n] = NULL;
}

/* ---- bash ---- */

static void bash_options(cli_buffer *out, const char *pattern, const cli_command *command)
{
    const cli_option *list[CLI_ROWS_MAX + 1];
    int               file;
    list_options(command, list);
    cli_buffer_printf(out, "    %s)\n        options='", pattern);
    for (int i = 0; list[i]; i++) cli_buffer_printf(out, "%s--%s", i ? " " : "", list[i]->name);
    cli_buffer_printf(out, "'\n        case $prev in\n");
    for (int i = 0; list[i]; i++) {
        const cli_option *o = list[i];
        char             *words = words_of(o->value, &file), letter[8] = "";
        if (cli_option_letter(o)) snprintf(letter, sizeof letter, "|-%c", cli_option_letter(o));
        if (o->value) cli_buffer_printf(out, "        --%s%s) value='%s' files=%d ;;\n", o->name, letter, words, file);
        free(words);
    }
    char *words = words_of(command->operands, &file);
    cli_buffer_printf(out, "        *) operands='%s' files=%d is_value=0 ;;\n        esac\n        ;;\n", words, file);
    free(words);
}

/* "simulate/nav2d | simulate/nav3d": where the first operand is one of a|b. Returns buf. */
static const char *bash_pattern(const char *command, const char *operands, char *buf, size_t size)
{
    size_t used = 0;
    for (const char *word = operands; *word && used < size;) {
        const size_t n = strcspn(word, "|");
        used += (size_t)snprintf(buf + used, size - used, "%s%s/%.*s", used ? " | " : "", command, (int)n, word);
        word += n + (word[n] == '|');
    }
    return buf;
}

static const char BASH_HEAD[] =
    "# Completion of covtune for bash. Generated from the program's option tables: covtune --generate bash\n"
    "_covtune()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
    "    local command=${COMP_WORDS[1]-} world=${COMP_WORDS[2]-} options= operands= value= files=0 is_value=1\n"
    "    # --name=value is three words here.\n"
    "    if [ \"$cur\" = = ]; then cur=\n"
    "    elif [ \"$prev\" = = ]; then prev=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
    "    COMPREPLY=()\n";

static const char BASH_COMMANDS[] =
    "    if [ \"$COMP_CWORD\" = 1 ] || { [ \"$command\" = help ] && [ \"$COMP_CWORD\" = 2 ]; }; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$commands\" -- \"$cur\")\n"
    "        return\n"
    "    fi\n"
    "    case $command/$world in\n";

static const char BASH_END[] =
    "    *) return ;;\n"
    "    esac\n"
    "    if [ $is_value = 1 ]; then mapfile -t COMPREPLY < <(compgen -W \"$value\" -- \"$cur\")\n"
    "    elif [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\") && return\n"
    "    else mapfile -t COMPREPLY < <(compgen -W \"$operands\" -- \"$cur\"); fi\n"
    "    if [ $files = 1 ]; then\n"
    "        compopt -o filenames 2>/dev/null\n"
    "        mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- \"$cur\")\n"
    "    fi\n"
    "}\n"
    "complete -F _covtune covtune\n";

static void bash(cli_buffer *out)
{
    cli_buffer_printf(out, "%s    local commands='", BASH_HEAD);
    for (const cli_command *const *c = cli_commands; *c; c++) cli_buffer_printf(out, "%s ", (*c)->name);
    cli_buffer_printf(out, "help --help --version'\n%s", BASH_COMMANDS);
    for (const cli_command *const *c = cli_commands; *c; c++) {
        char pattern[256];
        for (const cli_command *const *v = (*c)->variants; v && *v; v++)
            bash_options(out, bash_pattern((*c)->name, (*v)->operands, pattern, sizeof pattern), *v);
        bash_options(out, bash_pattern((*c)->name, "*", pattern, sizeof pattern), *c);
    }
    cli_buffer_printf(out, "%s", BASH_END);
}

/* ---- zsh ---- */

/* Text inside of '...' in a specification of _arguments or _describe: brackets and colons are escaped, quotes doubled
 * as zsh wants them. */
static void zsh_text(cli_buffer *out, const char *text)
{
    for (; *text; text++) {
        if (strchr("[]:\\", *text)) cli_buffer_printf(out, "\\%c", *text);
        else cli_buffer_printf(out, *text == '\'' ? "'\\''" : "%c", *text);
    }
}

/* ":message:action" of a value or an operand. */
static void zsh_value(cli_buffer *out, const char *value)
{
    int   file;
    char *words = words_of(value, &file);
    cli_buffer_printf(out, ":");
    zsh_text(out, value);
    if (file && *words)
        cli_buffer_printf(out, ":_alternative \"words\\:word\\:(%s)\" \"files\\:file\\:_files\"", words);
    else cli_buffer_printf(out, file ? ":_files" : *words ? ":(%s)" : ": ", words);
    free(words);
}

static void zsh_arguments(cli_buffer *out, const cli_command *command)
{
    const cli_option *list[CLI_ROWS_MAX + 1];
    list_options(command, list);
    cli_buffer_printf(out, "_arguments");
    for (int i = 0; list[i]; i++) {
        const cli_option *o = list[i];
        char             *help = first_clause(o->help);
        for (int k = 0; k < (cli_option_letter(o) ? 2 : 1); k++) {
            cli_buffer_printf(out, " \\\n            '");
            if (k) cli_buffer_printf(out, "-%c[", cli_option_letter(o));
            else cli_buffer_printf(out, "--%s%s[", o->name, o->value ? "=" : "");
            zsh_text(out, help);
            cli_buffer_printf(out, "]");
            if (o->value) zsh_value(out, o->value);
            cli_buffer_printf(out, "'");
        }
        free(help);
    }
    const char *operand = command->operands;
    for (int i = 1; i <= command->most && *operand; i++) {
        const size_t n = strcspn(operand, " ");
        char        *one = cli_alloc((int64_t)n + 1, 1);
        memcpy(one, operand, n);
        cli_buffer_printf(out, " \\\n            '%d", i);
        zsh_value(out, one);
        cli_buffer_printf(out, "'");
        free(one);
        operand += n + (operand[n] == ' ');
    }
    cli_buffer_printf(out, "\n");
}

static void zsh(cli_buffer *out)
{
    cli_buffer_printf(out, "#compdef covtune\n# Completion of covtune for zsh. Generated from the program's option "
                           "tables: covtune --generate zsh\n_covtune() {\n    local state line\n    local -a commands\n"
                           "    commands=(\n");
    for (const cli_command *const *c = cli_commands; *c; c++) {
        cli_buffer_printf(out, "        '%s:", (*c)->name);
        zsh_text(out, (*c)->brief);
        cli_buffer_printf(out, "'\n");
    }
    cli_buffer_printf(out, "        'help:explain a command'\n    )\n"
                           "    _arguments -C '(-h --help)'{-h,--help}'[list the commands]' "
                           "'(-V --version)'{-V,--version}'[print the version]' "
                           "'1: :->command' '*:: :->rest'\n"
                           "    case $state in\n    command) _describe command commands ;;\n"
                           "    rest)\n        case $words[1] in\n        help) _describe command commands ;;\n");
    for (const cli_command *const *c = cli_commands; *c; c++) {
        cli_buffer_printf(out, "        %s)\n", (*c)->name);
        for (const cli_command *const *v = (*c)->variants; v && *v; v++) {
            cli_buffer_printf(out, "            if [[ $words[2] == (%s) ]]; then ", (*v)->operands);
            zsh_arguments(out, *v);
            cli_buffer_printf(out, "            return; fi\n");
        }
        cli_buffer_printf(out, "            ");
        zsh_arguments(out, *c);
        cli_buffer_printf(out, "            ;;\n");
    }
    cli_buffer_printf(out, "        esac\n    esac\n}\nif [ \"$funcstack[1]\" = _covtune ]; then _covtune \"$@\"; "
                           "else compdef _covtune covtune; fi\n");
}

/* ---- fish ---- */

static void fish_text(cli_buffer *out, const char *text)
{
    cli_buffer_printf(out, "'");
    for (; *text; text++) cli_buffer_printf(out, strchr("'\\", *text) ? "\\%c" : "%c", *text);
    cli_buffer_printf(out, "'");
}

static void fish_options(cli_buffer *out, const char *condition, const cli_command *command)
{
    const cli_option *list[CLI_ROWS_MAX + 1];
    list_options(command, list);
    for (int i = 0; list[i]; i++) {
        const cli_option *o = list[i];
        int               file;
        char             *words = words_of(o->value, &file), *help = first_clause(o->help);
        cli_buffer_printf(out, "complete -c covtune -n '%s' -l %s", condition, o->name);
        if (cli_option_letter(o)) cli_buffer_printf(out, " -s %c", cli_option_letter(o));
        if (o->value) cli_buffer_printf(out, file ? " -r -F" : " -x");
        if (*words) cli_buffer_printf(out, " -a '%s'", words);
        cli_buffer_printf(out, " -d ");
        fish_text(out, help);
        cli_buffer_printf(out, "\n");
        free(words);
        free(help);
    }
}

static void fish(cli_buffer *out)
{
    cli_buffer_printf(out, "# Completion of covtune for fish. Generated from the program's option tables: covtune "
                           "--generate fish\ncomplete -c covtune -n __fish_use_subcommand -f\n");
    for (const cli_command *const *c = cli_commands; *c; c++) {
        cli_buffer_printf(out, "complete -c covtune -n __fish_use_subcommand -a %s -d ", (*c)->name);
        fish_text(out, (*c)->brief);
        cli_buffer_printf(out, "\ncomplete -c covtune -n '__fish_seen_subcommand_from help' -f -a %s\n", (*c)->name);
    }
    cli_buffer_printf(out, "complete -c covtune -n __fish_use_subcommand -a help -d 'explain a command'\n"
                           "complete -c covtune -n __fish_use_subcommand -l version -s V -d 'print the version'\n");
    for (const cli_command *const *c = cli_commands; *c; c++) {
        cli_buffer seen = {0}, others = {0};
        int        file;
        char      *words = words_of((*c)->operands, &file);
        cli_buffer_printf(&seen, "__fish_seen_subcommand_from %s", (*c)->name);
        for (const cli_command *const *v = (*c)->variants; v && *v; v++) {
            cli_buffer its = {0};
            int        unused;
            char      *names = words_of((*v)->operands, &unused);
            cli_buffer_printf(&its, "%s; and __fish_seen_subcommand_from %s", seen.text, names);
            cli_buffer_printf(&others, "%s%s", others.used ? " " : "", names);
            fish_options(out, its.text, *v);
            free(its.text);
            free(names);
        }
        if (others.used) cli_buffer_printf(&seen, "; and not __fish_seen_subcommand_from %s", others.text);
        if (*words) cli_buffer_printf(out, "complete -c covtune -n '%s' -f -a '%s'\n", seen.text, words);
        fish_options(out, seen.text, *c);
        free(words);
        free(seen.text);
        free(others.text);
    }
}

char *cli_completion(const char *shell)
{
    cli_buffer out = {0};
    if (!strcmp(shell, "bash")) bash(&out);
    else if (!strcmp(shell, "zsh")) zsh(&out);
    else if (!strcmp(shell, "fish")) fish(&out);
    return out.text;
}
