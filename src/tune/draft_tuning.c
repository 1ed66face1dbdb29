/* draft_tuning.c: a first TUNE.yaml with comments. */
#define _POSIX_C_SOURCE 200809L
#include "base/file.h"
#include "data/locale.h"
#include "tune/draft.h"

#include <ctype.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#define HUNDRED    100 /* times a number up and down: bounds of a width or a gate that are a guess */
#define SHOWN_MOST 12 /* parameters that are learned at first; others are proposed in comments */

#define X(constant, name, description) name ", "
static const char *const formats = CT_SOURCE_FORMAT_LIST(X);
#undef X

typedef struct {
    const ct_tuning_draft_options *o;
    ct__draft_keys keys;
    ct__text out;
    char **word; /* of the command */
    int64_t words, capacity;
    int shell, params;
} draft;

/* ---- paths and words ---- */

/* A path that was given relative to the present folder, as the file has it. */
static void put_path(draft *d, const char *path)
{
    const char *folder = d->o->folder ? d->o->folder : ".";
    const size_t length = strlen(folder);
    const int here = !strcmp(folder, ".");
    if (!here && !strncmp(path, folder, length) && path[length] == '/')
        ct__text_put(&d->out, path + length + 1);
    else if (here || path[0] == '/')
        ct__text_put(&d->out, path);
    else {
        char now[4096];
        ct__text_put(&d->out, getcwd(now, sizeof now) ? now : ".");
        ct__text_put(&d->out, "/");
        ct__text_put(&d->out, path);
    }
}

/* Quoted where YAML would take it for something else. */
static void put_quoted(draft *d, const char *text)
{
    ct__text_put(&d->out, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') ct__text_put(&d->out, "\\");
        ct__text_bytes(&d->out, text, 1);
    }
    ct__text_put(&d->out, "\"");
}

/* Words of a command line, with quotes of a shell. */
static ct_status split(draft *d, const char *text, ct_err *err)
{
    while (*(text += strspn(text, " \t\n"))) {
        ct__text word = {0};
        char quote = 0;
        ct__text_put(&word, "");
        for (; *text && (quote || !strchr(" \t\n", *text)); text++)
            if (quote ? *text == quote : *text == '\'' || *text == '"')
                quote = quote ? 0 : *text;
            else
                ct__text_bytes(&word, text, 1);
        ct_status status = ct__grow(&d->word, &d->capacity, d->words + 1, sizeof *d->word, "words", err);
        if (status == CT_OK) status = ct__text_take(&word, &d->word[d->words], err);
        ct__text_free(&word);
        CT_TRY(status);
        d->words++;
    }
    return d->words ? CT_OK : ct_fail(err, CT_E_ARGUMENT, "the command is empty");
}

static int is_file(const char *path)
{
    struct stat entry;
    return stat(path, &entry) == 0 && S_ISREG(entry.st_mode);
}

static int has(const draft *d, const char *placeholder) { return strstr(d->o->command, placeholder) != NULL; }

/* ---- parts of the file ---- */

/* A shell is started in the run's folder: a word that is a file here gets {here}/. Not a program of PATH, and not what
 * the command writes to. */
static void put_here(draft *d, const char *word, const char *before)
{
    const int writes = before[0] == '>', first = before[0] == 0 || strchr(";|&(", before[0]) != NULL;
    if (word[0] && word[0] != '/' && !writes && is_file(word) && (!first || strchr(word, '/'))) {
        const int64_t from = d->out.used;
        while (!strncmp(word, "./", 2)) word += 2;
        put_path(d, word);
        if (!d->out.failed && d->out.bytes[from] == '/') return;
        d->out.used = from;
        ct__text_put(&d->out, "{here}/");
        put_path(d, word);
        return;
    }
    ct__text_put(&d->out, word);
}

/* The text of a shell. Words are what stands between its separators and quotes. */
static void put_shell(draft *d, const char *text)
{
    static const char SEPARATOR[] = " \t\n;|&<>()'\"`$=";
    char before[2] = "";
    while (*text) {
        const size_t length = strcspn(text, SEPARATOR);
        char word[1024];
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        if (length < sizeof word) put_here(d, word, before);
        else ct__text_bytes(&d->out, text, length);
        text += length;
        if (length) before[0] = 'w';
        if (!*text) return;
        if (!strchr(" \t'\"", *text)) before[0] = *text == '\n' ? ';' : *text;
        ct__text_bytes(&d->out, text++, 1);
    }
}

static void put_command(draft *d)
{
    const ct_tuning_draft_options *o = d->o;
    ct__text_put(&d->out,
                 "# The program. {params}: a copy of the file below with other numbers; {log}: a log; {estimate}: "
                 "the trajectory\n# that it writes; {folder}: the folder of the run; {seed}: 1, 2, ... of "
                 "repeated runs.\n");
    if (d->shell) {
        ct__text rest = d->out;
        d->out = (ct__text){0};
        put_shell(d, o->command);
        ct__text text = d->out;
        d->out = rest;
        ct__text_put(&d->out, "command: ");
        put_quoted(d, text.bytes ? text.bytes : "");
        ct__text_put(&d->out, "\nshell: true   # it is started in the run's folder; {here}: the folder of this file\n");
        d->out.failed |= text.failed;
        ct__text_free(&text);
    } else {
        ct__text_put(&d->out, "command: [");
        for (int64_t i = 0; i < d->words; i++) {
            if (i) ct__text_put(&d->out, ", ");
            const int own = o->params && !strcmp(d->word[i], o->params);
            ct__text rest = d->out; /* the path alone is not quoted yet: written aside */
            d->out = (ct__text){0};
            if (own)
                ct__text_put(&d->out, "{params}");
            else if (!strchr(d->word[i], '{') && is_file(d->word[i]) && (i || strchr(d->word[i], '/')))
                put_path(d, d->word[i]);
            else
                ct__text_put(&d->out, d->word[i]);
            ct__text word = d->out;
            d->out = rest;
            put_quoted(d, word.bytes ? word.bytes : "");
            d->out.failed |= word.failed;
            ct__text_free(&word);
        }
        ct__text_put(&d->out, "]\n");
    }
    ct__text_put(&d->out, "# time_limit: 600       # s, of a run\n# memory_limit: 2G\n");
    if (!o->params) return;
    ct__text_put(&d->out, "files:\n  params: ");
    put_path(d, o->params);
    ct__text_put(&d->out, "\n");
}

static void put_key(draft *d, const ct__draft_key *k, int comment)
{
    char number[32];
    ct__text_printf(&d->out, "  %s%s: {key: ", comment ? "# " : "", k->name);
    put_quoted(d, k->key);
    if (k->quantity != CT_QUANTITY_SIGMA) ct__text_printf(&d->out, ", is: %s", ct_quantity_name(k->quantity));
    if (k->separate) ct__text_put(&d->out, ", separate: true");
    if (k->quantity == CT_QUANTITY_NUMBER)
        ct__text_printf(&d->out, ", lower: %g, upper: %g", k->value / HUNDRED, k->value * HUNDRED);
    ct__text_printf(&d->out, "}   # %s, line %d\n", ct__format_double(k->value, number), k->line);
}

/* The next {NAME} of the command at or after `at` that is not covtune's own, once each; NULL: none. */
static const char *next_name(const draft *d, const char *at, char name[64])
{
    static const char *const KNOWN[] = {"params", "log", "truth", "estimate", "folder", "seed", "here"};
    for (; (at = strchr(at, '{')); at++) {
        char braces[68];
        const size_t length = strcspn(at + 1, "{} ");
        if (at[1] == '{') {
            at++;
            continue;
        }
        if (at[1 + length] != '}' || !length || length >= 64) continue;
        snprintf(name, 64, "%.*s", (int)length, at + 1);
        snprintf(braces, sizeof braces, "{%s}", name);
        if (ct__find_name(name, KNOWN, (int)(sizeof KNOWN / sizeof *KNOWN)) < 0 && strstr(d->o->command, braces) == at)
            return at + 1;
    }
    return NULL;
}

/* The pattern of a log's further file: that of the log, with the first word of its file's name replaced. */
static void sibling(const char *log, const char *name, char out[1024])
{
    const char *slash = strrchr(log, '/'), *base = slash ? slash + 1 : log, *rest = base;
    while (isalnum((unsigned char)*rest)) rest++;
    snprintf(out, 1024, "%.*s%s%s", (int)(base - log), log, name, rest);
}

/* Is {NAME} a further file of the log? It is if there are such files next to the logs. A name that a number of the
 * file has cannot be an argument as well. */
static int is_log_file(const draft *d, const char *name)
{
    char pattern[1024];
    glob_t found;
    int    yes = 0;
    sibling(d->o->log, name, pattern);
    if (glob(pattern, 0, NULL, &found) == 0) {
        yes = found.gl_pathc > 0;
        globfree(&found);
    }
    for (int64_t i = 0; i < d->keys.count; i++) yes |= !strcmp(d->keys.key[i].name, name);
    return yes;
}

/* {NAME} of the command that is no file and no log: a parameter that is an argument. */
static void put_arguments(draft *d)
{
    char name[64];
    for (const char *at = d->o->command; (at = next_name(d, at, name));) {
        if (is_log_file(d, name)) continue;
        ct__text_printf(&d->out,
                        "  %s: {start: 1}   # an argument; set where it starts, or make it a file of the log: also\n",
                        name);
        d->params++;
    }
}

static void put_parameters(draft *d)
{
    int64_t sure = 0, shown = 0;
    for (int64_t i = 0; i < d->keys.count; i++) sure += d->keys.key[i].sure;
    ct__text_put(&d->out,
                 "# What is learned. is: sigma, variance, information, density or number; lower and upper: hard "
                 "bounds.\nparameters:\n");
    put_arguments(d);
    const int first = !sure && !d->params; /* there must be one */
    if (d->keys.any)
        ct__text_put(&d->out, "  # No name sounds like noise. These are numbers of the file: keep those that are.\n");
    for (int comment = 0; comment < 2; comment++)
        for (int64_t i = 0, taken = 0; i < d->keys.count; i++) {
            const ct__draft_key *k = &d->keys.key[i];
            const int learn = (k->sure || d->keys.any || (first && i == 0)) && taken < SHOWN_MOST;
            taken += learn;
            if (learn == comment) continue;
            if (comment && shown++ == 0) ct__text_put(&d->out, "  # Perhaps these too:\n");
            put_key(d, k, comment);
        }
}

/* A pattern in quotes; one * as the named part {run}. */
static void put_pattern(draft *d, const char *pattern, int name)
{
    ct__text rest = d->out, text;
    d->out = (ct__text){0};
    put_path(d, pattern);
    text = d->out;
    d->out = rest;
    ct__text_put(&d->out, "\"");
    for (const char *at = text.bytes ? text.bytes : ""; *at; at++)
        if (*at == '*' && name)
            ct__text_put(&d->out, "{run}");
        else
            ct__text_bytes(&d->out, at, 1);
    ct__text_put(&d->out, "\"");
    d->out.failed |= text.failed;
    ct__text_free(&text);
}

static int stars(const char *text)
{
    int n = 0;
    for (; *text; text++) n += *text == '*';
    return n;
}

static void put_logs(draft *d, const char *key, const char *log, const char *truth)
{
    const int name = stars(log) == 1 && (!truth || stars(truth) <= 1);
    ct__text_printf(&d->out, "  %s: {log: ", key);
    put_pattern(d, log, name);
    if (truth) {
        ct__text_put(&d->out, ", truth: ");
        put_pattern(d, truth, name);
    }
    int  files = 0;
    char file[64], pattern[1024];
    for (const char *at = d->o->command; (at = next_name(d, at, file));) {
        if (!is_log_file(d, file)) continue;
        ct__text_printf(&d->out, "%s%s: ", files++ ? ", " : ", also: {", file);
        sibling(log, file, pattern);
        put_pattern(d, pattern, name);
    }
    ct__text_put(&d->out, files ? "}}\n" : "}\n");
}

static void put_rest(draft *d)
{
    const ct_tuning_draft_options *o = d->o;
    ct__text_put(&d->out,
                 "# Logs with truth. Logs of one recording are held out together: recording: \"{run}\".\nlogs:\n");
    put_logs(d, "train", o->log, o->truth);
    if (o->test)
        put_logs(d, "test", o->test, o->test_truth);
    else
        ct__text_put(&d->out,
                     "  # test: {log: \"test/{run}.csv\", truth: \"test/{run}.tum\"}   # never learned from\n");
    ct__text_put(&d->out, "# How the trajectory is read and compared. align: none, first, yaw, se2, se3, sim3.\n");
    if (o->format)
        ct__text_printf(&d->out, "estimate: {format: %s}\n", o->format);
    else
        ct__text_put(&d->out, "# estimate: {format: tum, align: none, gap: 0.5}\n");
    ct__text_put(&d->out,
                 "# loss: {type: local, translation: 1, rotation: 1}   # weights of squares, 1/m^2 and 1/rad^2\n"
                 "# method: {name: dfgn, folds: 5}\n");
}

/* ---- checks ---- */

static ct_status check(draft *d, ct_err *err)
{
    const ct_tuning_draft_options *o = d->o;
    if (!o->command) return ct_fail(err, CT_E_ARGUMENT, "the command is missing: the program and its arguments");
    if (!o->log || !o->truth) return ct_fail(err, CT_E_ARGUMENT, "%s are missing", o->log ? "truths" : "logs");
    if (o->test && !o->test_truth) return ct_fail(err, CT_E_ARGUMENT, "truths of the test logs are missing");
    if (o->format && ct_source_format_find(o->format) < 0)
        return ct_fail(err, CT_E_ARGUMENT, "there is no format \"%s\" of trajectories: %sor auto", o->format, formats);
    if (!has(d, "{log}"))
        return ct_fail(err, CT_E_ARGUMENT, "the command does not have {log}, where the path of a log goes: %s",
                       o->command);
    if (!has(d, "{estimate}"))
        return ct_fail(err, CT_E_ARGUMENT,
                       "the command does not have {estimate}, the path that the trajectory is written to: %s",
                       o->command);
    return CT_OK;
}

static ct_status find_keys(draft *d, ct_err *err)
{
    ct_config *config = NULL;
    if (!d->o->params) return CT_OK;
    ct_status status = ct_config_read(d->o->params, CT_CONFIG_AUTO, &config, err);
    if (status == CT_OK) status = ct__draft_find(config, &d->keys, err);
    ct_config_free(config);
    return status;
}

static ct_status write_draft(draft *d, ct_err *err)
{
    CT_TRY(check(d, err));
    d->shell = strpbrk(d->o->command, "|<>;&$`") != NULL;
    CT_TRY(split(d, d->o->command, err));
    int named = has(d, "{params}");
    for (int64_t i = 0; d->o->params && i < d->words; i++) named |= !d->shell && !strcmp(d->word[i], d->o->params);
    if (d->o->params && !named)
        return ct_fail(err, CT_E_ARGUMENT, "the command has neither {params} nor %s: where does the program read it?",
                       d->o->params);
    CT_TRY(find_keys(d, err));
    ct__text_put(&d->out,
                 "# covtune tune THIS --check looks for mistakes; --try runs every log once; --out RUN learns.\n"
                 "format: covtune-tune\nversion: 1\n");
    put_command(d);
    put_parameters(d);
    if (!d->keys.count && !d->params)
        return ct_fail(err, CT_E_EMPTY,
                       "%s%sthere is no positive number; write {{NAME}} in a configuration file or {NAME} "
                       "in the command where one goes",
                       d->o->params ? d->o->params : "", d->o->params ? ": " : "");
    put_rest(d);
    return CT_OK;
}

ct_status ct_tuning_draft(const ct_tuning_draft_options *options, char **text, ct_err *err)
{
    draft d = {.o = options};
    *text = NULL;
    const locale_t before = ct__locale_begin(err);
    if (!before) return CT_E_MEMORY;
    ct_status status = write_draft(&d, err);
    ct__locale_end(before);
    if (status == CT_OK) status = ct__text_take(&d.out, text, err);
    for (int64_t i = 0; i < d.words; i++) free(d.word[i]);
    free(d.word);
    free(d.keys.key);
    ct__text_free(&d.out);
    return status;
}
