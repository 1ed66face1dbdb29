/* run_template.c: commands with placeholders, and the programs that they name. */
#define _GNU_SOURCE
#include "base/file.h"
#include "tune/run.h"

#include <ctype.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

void ct__put_path(const char *here, const char *path, ct__text *out)
{
    if (path[0] != '/') {
        while (path[0] == '.' && path[1] == '/') path += 2;
        if (!strcmp(path, ".")) path = "";
        ct__text_put(out, here);
        ct__text_put(out, path[0] ? "/" : "");
    }
    ct__text_put(out, path);
}

static int is_name(const char *name, size_t size, const char *wanted)
{
    return strlen(wanted) == size && !memcmp(name, wanted, size);
}

/* Placeholders that every run has. */
static int put_fixed(const ct__scope *scope, const char *name, size_t size, ct__text *out)
{
    const ct_tuning *t = scope->tuning;
    const char      *truth = t->log[scope->log].truth;
    if (is_name(name, size, "truth") && truth) ct__put_path(scope->here, truth, out);
    else if (is_name(name, size, "estimate")) ct__text_put(out, scope->estimate);
    else if (is_name(name, size, "folder")) ct__text_put(out, scope->folder);
    else if (is_name(name, size, "seed")) ct__text_printf(out, "%ld", 1L + scope->repeat % CT_TUNE_SAME_SEED);
    else if (is_name(name, size, "here")) ct__put_path(scope->here, t->folder, out);
    else return 0;
    return 1;
}

/* 1: known, and appended. */
static int put(const ct__scope *scope, const char *name, size_t size, ct__text *out)
{
    const ct_tuning    *t = scope->tuning;
    const ct__tune_log *log = &t->log[scope->log];
    for (int32_t i = 0; i < t->files; i++)
        if (is_name(name, size, t->file[i].name)) return ct__text_put(out, scope->file[i]), 1;
    for (int32_t i = 0; i < log->files; i++)
        if (is_name(name, size, log->file_name[i])) return ct__put_path(scope->here, log->file_path[i], out), 1;
    for (int32_t i = 0; i < t->problem.parameters; i++) {
        char number[32];
        if (!is_name(name, size, t->parameter[i].name)) continue;
        ct__text_put(out, ct__format_double(scope->value[i], number));
        return 1;
    }
    return put_fixed(scope, name, size, out);
}

/* The value of a placeholder, quoted where the text is for a shell. */
static int put_value(const ct__scope *scope, const char *name, size_t size, ct__shell *shell, ct__text *out)
{
    ct__text value = {0};
    if (!scope->shell) return put(scope, name, size, out);
    const int known = put(scope, name, size, &value);
    if (known && !value.failed) ct__shell_put(shell, value.bytes ? value.bytes : "", out);
    out->failed |= value.failed;
    ct__text_free(&value);
    return known;
}

ct_status ct__expand(const ct__scope *scope, const char *words, ct__text *out, ct_err *err)
{
    ct__shell shell = {0};
    for (const char *at = words; *at;) {
        const size_t plain = strcspn(at, "{}");
        ct__text_bytes(out, at, plain);
        ct__shell_read(&shell, at, plain);
        at += plain;
        if (!*at) break;
        if (at[1] == at[0]) {
            ct__text_bytes(out, at, 1);
            ct__shell_read(&shell, at, 1);
            at += 2;
            continue;
        }
        const char *end = strchr(at, '}');
        if (*at == '}' || !end)
            return ct_fail(err, CT_E_ARGUMENT, "%s: \"%s\" has a brace without its partner; a brace itself is %s",
                           scope->tuning->path, words, *at == '}' ? "}}" : "{{");
        if (!put_value(scope, at + 1, (size_t)(end - at - 1), &shell, out))
            return ct_fail(err, CT_E_ARGUMENT,
                           "%s: \"%s\" has the placeholder %.*s, which is no file, no file of the log, no parameter, "
                           "and none of {truth}, {estimate}, {folder}, {seed}, {here}; a brace itself is {{",
                           scope->tuning->path, words, (int)CT_MIN(end + 1 - at, 100), at);
        at = end + 1;
    }
    return out->failed ? ct__no_memory(err, "arguments", out->used) : CT_OK;
}

/* ---- Programs --------------------------------------------------------------------------------- */

static int is_program(const char *path)
{
    struct stat entry;
    return stat(path, &entry) == 0 && S_ISREG(entry.st_mode) && access(path, X_OK) == 0;
}

/* The path of a name relative to the tuning's folder, absolute. */
static ct_status in_folder(const ct_tuning *tuning, const char *name, char **path, ct_err *err)
{
    ct__text text = {0};
    char    *here = getcwd(NULL, 0);
    *path = NULL;
    if (!here) return ct_fail(err, ct__io_status(), "the present folder cannot be read: %s", strerror(errno));
    ct__text folder = {0};
    ct__put_path(here, tuning->folder, &folder);
    if (!folder.failed) ct__put_path(folder.bytes, name, &text);
    text.failed |= folder.failed;
    ct__text_free(&folder);
    free(here);
    return ct__text_take(&text, path, err);
}

/* *path <- the first folder of PATH that has it, or NULL. */
static ct_status in_path(const char *name, char **path, ct_err *err)
{
    const char *at = getenv("PATH");
    *path = NULL;
    for (at = at ? at : "/usr/bin:/bin"; *at && !*path;) {
        const size_t size = strcspn(at, ":");
        ct__text     text = {0};
        if (size) ct__text_bytes(&text, at, size);
        else ct__text_put(&text, ".");
        ct__text_put(&text, "/");
        ct__text_put(&text, name);
        CT_TRY(ct__text_take(&text, path, err));
        if (!is_program(*path)) {
            free(*path);
            *path = NULL;
        }
        at += size + (at[size] == ':');
    }
    return CT_OK;
}

ct_status ct__tuning_program(const ct_tuning *tuning, const ct__tune_words *command, char **path, ct_err *err)
{
    const char *name = command->count ? command->word[0] : "";
    *path = NULL;
    if (!command->count || !name[0]) return ct_fail(err, CT_E_ARGUMENT, "the command is empty");
    if (tuning->shell && command == &tuning->command) {
        *path = ct__strdup("/bin/sh");
        return *path ? CT_OK : ct__no_memory(err, "file names", 1);
    }
    if (strpbrk(name, "{}")) return CT_OK;
    if (!strchr(name, '/')) CT_TRY(in_path(name, path, err));
    if (*path && (*path)[0] == '/') return CT_OK;
    free(*path);
    CT_TRY(in_folder(tuning, name, path, err));
    if (is_program(*path)) return CT_OK;
    struct stat entry;
    const int   there = stat(*path, &entry) == 0;
    if (there && S_ISREG(entry.st_mode))
        ct_fail(err, CT_E_ARGUMENT, "%s: is not executable; `chmod +x` it, or name the program that runs it first",
                *path);
    else if (there) ct_fail(err, CT_E_ARGUMENT, "%s: is no file that can be executed", *path);
    else
        ct_fail(err, CT_E_ARGUMENT, "the program %s is not there: neither in PATH nor as %s%s", name, *path,
                strchr(name, ' ') ? "; its arguments are items of their own: [program, argument]" : "");
    free(*path);
    *path = NULL;
    return CT_E_ARGUMENT;
}

ct_status ct__tuning_script(const ct_tuning *tuning, const char *word, char **path, ct_err *err)
{
    struct stat entry;
    *path = NULL;
    if (!word[0] || word[0] == '-' || strpbrk(word, "{}")) return CT_OK;
    CT_TRY(in_folder(tuning, word, path, err));
    if (stat(*path, &entry) == 0 && S_ISREG(entry.st_mode)) return CT_OK;
    free(*path);
    *path = NULL;
    return CT_OK;
}
