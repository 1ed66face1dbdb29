/* tuning_templates.c: commands with placeholders: those that are not known, missing or unused are mistakes. */
#define _POSIX_C_SOURCE 200809L
#include "tune/tuning.h"

#include <ctype.h>

static const char *const FIXED[] = {"truth", "estimate", "folder", "seed", "here"};
#define FIXED_COUNT ((int)(sizeof FIXED / sizeof *FIXED))

/* All placeholders that are known, for suggestions. */
static const char *known_at(const void *reader, int i)
{
    const ct__tuning_reader *r = reader;
    if (i < r->t->files) return r->t->file[i].name;
    i -= r->t->files;
    if (i < r->log_names) return r->log_name[i];
    i -= r->log_names;
    if (i < r->parameters) return r->parameter[i].name;
    i -= r->parameters;
    return i < FIXED_COUNT ? FIXED[i] : NULL;
}

static void mark(ct__tuning_reader *r, int i)
{
    if (i < r->t->files) r->file_used[i] = 1;
    i -= r->t->files;
    if (i >= 0 && i < r->log_names) r->log_name_used[i] = 1;
    i -= r->log_names;
    if (i >= 0 && i < r->parameters) r->parameter[i].argument = 1;
    i -= r->parameters;
    if (i >= 0 && !strcmp(FIXED[i], "estimate")) r->estimate_used = 1;
}

static void check_name(ct__tuning_reader *r, ct__node *n, const char *name)
{
    for (int i = 0; known_at(r, i); i++)
        if (!strcmp(known_at(r, i), name)) {
            mark(r, i);
            return;
        }
    const char *near = ct_nearest(name, known_at, r);
    ct__mistake(&r->base, n,
                "{%s} is no file, no file of a log and no parameter%s%s%s; braces themselves are {{ and }}", name,
                near ? "; did you mean {" : "", near ? near : "", near ? "}?" : "");
}

/* The placeholders of one text. */
static void check_template(ct__tuning_reader *r, ct__node *n)
{
    for (const char *at = n->text; *(at += strcspn(at, "{}"));) {
        char name[64];
        const char *end = strchr(at, '}');
        if (at[1] == at[0]) {
            at += 2;
            continue;
        }
        if (*at == '}' || !end) {
            ct__mistake(&r->base, n, "a brace has no partner; a brace itself is written twice, {{ or }}");
            return;
        }
        snprintf(name, sizeof name, "%.*s", (int)CT_MIN(end - at - 1, 63), at + 1);
        check_name(r, n, name);
        at = end + 1;
    }
}

/* A word of a command: that of a file which rank 0 has sent is the copy. */
static char *copy_word(ct__tuning_reader *r, const char *word)
{
    return word[0] == '/' && !strpbrk(word, "{}") ? ct__tuning_path(r, word) : ct__tuning_text(r, "%s", word);
}

/* The words of a command: a list, or one text. */
static void read_words(ct__tuning_reader *r, ct__node *n, ct__tune_words *out)
{
    const int32_t count = n->type == CT__NODE_LIST ? n->count : 1;
    if (!(out->word = ct__schema_alloc(&r->base, count, sizeof *out->word))) return;
    if (n->type == CT__NODE_SCALAR) {
        out->word[out->count++] = ct__tuning_text(r, "%s", n->text);
        check_template(r, n);
    }
    for (ct__node *i = n->first; i; i = i->next) {
        out->word[out->count++] = copy_word(r, i->text);
        check_template(r, i);
    }
}

static void read_command(ct__tuning_reader *r, ct__node *n, ct__tune_words *out, int shell)
{
    if (!n) return;
    if (n->type == CT__NODE_SCALAR && !shell && strpbrk(n->text, " \t\n"))
        ct__mistake(&r->base, n,
                    "one text is for a shell, with shell: true; without, write a list: [program, argument]");
    else if (n->type == CT__NODE_LIST && shell)
        ct__mistake(&r->base, n, "with shell: true the command is one text");
    else
        read_words(r, n, out);
}

static int is_variable(const char *name)
{
    if (!isalpha((unsigned char)name[0]) && name[0] != '_') return 0;
    while (isalnum((unsigned char)*name) || *name == '_') name++;
    return !*name;
}

static void read_environment(ct__tuning_reader *r, ct__node *map)
{
    ct_tuning *t = r->t;
    const int32_t count = map ? map->count : 0;
    if (count && !(t->environment.word = ct__schema_alloc(&r->base, count, sizeof *t->environment.word))) return;
    for (ct__node *n = map ? map->first : NULL; n; n = n->next) {
        if (!is_variable(n->key))
            ct__mistake(&r->base, n, "an environment variable has letters, digits and _; found \"%.60s\"", n->key);
        check_template(r, n);
        t->environment.word[t->environment.count++] = ct__tuning_text(r, "%s=%s", n->key, copy_word(r, n->text));
    }
    for (int32_t i = 0; i < r->parameters; i++) {
        ct__node *n = ct__sound(r->parameter[i].node, "environment");
        if (n && !is_variable(n->text))
            ct__mistake(&r->base, n, "an environment variable has letters, digits and _; found \"%.60s\"", n->text);
        else if (n && ct__node_member(map, n->text))
            ct__mistake(&r->base, n, "%s has a value in environment already", n->text);
    }
}

/* Where the program writes: the template of a path. */
static void read_estimate_file(ct__tuning_reader *r, ct__node *n)
{
    if (!n) return;
    check_template(r, n);
    const int placed = strchr(n->text, '{') != NULL; /* other placeholders are said to be unknown */
    if (!placed && n->text[0] == '/')
        ct__mistake(&r->base, n, "has neither {folder} nor {estimate}: all runs would write one file. If the program "
                    "cannot be told another, let the command move it to {estimate}, and give --jobs 1");
    r->t->estimate = placed ? ct__tuning_text(r, "%s", n->text) : ct__tuning_text(r, "{folder}/%s", n->text);
}

/* What no template has. A server is told all of it. */
static void check_unused(ct__tuning_reader *r, ct__node *command, int written)
{
    const ct_tuning *t = r->t;
    for (int32_t i = 0; i < t->files; i++)
        if (!r->file_used[i] && !r->file[i]->bad)
            ct__mistake(&r->base, r->file[i],
                        "the command does not have {%s}; the program would not read this file. If it reads it from the "
                        "folder that it is started in, the copy is there: say environment: {CONFIG: \"{%s}\"}",
                        t->file[i].name, t->file[i].name);
    for (int32_t i = 0; i < r->log_names; i++)
        if (!r->log_name_used[i] && !(i && r->log_name_node[i]->bad))
            ct__mistake(&r->base, i ? r->log_name_node[i] : command,
                        i ? "the command does not have {%s}; the program would not read this file"
                          : "{%s} is missing: the path of the log that the program reads",
                        r->log_name[i]);
    if (!written)
        ct__mistake(&r->base, command,
                    "{estimate} is missing: the path that the program writes its trajectory to; if it has its own, "
                    "estimate: {file: \"{folder}/NAME\"}");
}

void ct__read_templates(ct__tuning_reader *r, ct__node *root)
{
    ct_tuning *t = r->t;
    ct__node *command = ct__sound(root, "command"), *server = ct__sound(root, "server");
    ct__node *estimate = ct__sound(root, "estimate"), *file = ct__sound(estimate, "file");
    ct__node *score = ct__sound(estimate, "score");
    if (command && server)
        ct__mistake(&r->base, server, "contradicts command in line %d: one of them is to be there", command->line);
    if (!ct__node_member(root, "command") && !ct__node_member(root, "server") &&
        ct__schema_missing(&ct__tuning_schema, root, CT__TUNING_TOP, "command") &&
        ct__schema_missing(&ct__tuning_schema, root, CT__TUNING_TOP, "server"))
        ct__mistake(&r->base, root, "command is missing: the program and its arguments, with placeholders");
    const int64_t before = r->base.mistakes;
    t->shell = r->top.shell;
    read_command(r, command, &t->command, t->shell);
    read_command(r, server, &t->server, 0);
    read_environment(r, ct__sound(root, "environment"));
    const int written = r->estimate_used || (file && !strstr(file->text, "{estimate}"));
    read_estimate_file(r, file);
    if (score && score->type == CT__NODE_SCALAR && strpbrk(score->text, " \t\n"))
        ct__mistake(&r->base, score,
                    "a scoring command is a list: [program, argument]; shell: true is of the command alone, a shell "
                    "here is [sh, -c, \"...\"]");
    else if (score)
        read_command(r, score, &t->score, 0);
    if (command && !server && r->base.mistakes == before) check_unused(r, command, written);
}
