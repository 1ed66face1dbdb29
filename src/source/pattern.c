/* pattern.c: one level of a path against a name.
 *
 * Wildcards are tried from short to long, with a stack of the ones that can still be longer. A table of which rest of
 * the pattern can match which rest of the name, parts taken as "*", excludes all ways that fail for another reason than
 * a part that must be repeated. */
#include "source/pattern.h"

#define NAME_MAX_HERE 512 /* characters of a name; file systems have at most 255 */
#define STEPS_MAX     1000000

/* ---- parsing ---- */

static int is_name_char(char c, int first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (!first && c >= '0' && c <= '9');
}

static ct_status bad(const char *text, const char *at, const char *what, ct_err *err)
{
    return ct_fail(err, CT_E_ARGUMENT, "pattern \"%.200s\", character %d: %s", text, (int)(at - text) + 1, what);
}

/* "{name}" at *at: *token <- its number, *at <- its "}". */
static ct_status parse_part(const char *text, const char **at, ct__pattern *p, int16_t *token, ct_err *err)
{
    const char *begin = *at + 1, *end = begin;
    while (is_name_char(*end, end == begin)) end++;
    if (*end != '}' || end == begin)
        return bad(text, *at, "a part is a name in brackets, {robot}; a bracket itself is written \\{", err);
    const size_t length = (size_t)(end - begin);
    int k = 0;
    while (k < p->parts && (strlen(p->part[k]) != length || memcmp(p->part[k], begin, length) != 0)) k++;
    if (k == CT__PARTS_MAX) return bad(text, *at, "there are more than 16 named parts", err);
    if (k == p->parts) {
        p->part[k] = ct__zalloc((int64_t)length + 1, 1);
        if (!p->part[k]) return ct__no_memory(err, "named parts", k + 1);
        memcpy(p->part[k], begin, length);
        p->parts++;
    }
    *token = (int16_t)(CT__PART + k);
    *at = end;
    return CT_OK;
}

ct_status ct__pattern_parse(const char *text, ct__pattern *p, ct_err *err)
{
    *p = (ct__pattern){.absolute = text[0] == '/'};
    p->level = ct__zalloc(CT__LEVELS_MAX, sizeof *p->level);
    if (!p->level) return ct__no_memory(err, "folders of a pattern", CT__LEVELS_MAX);
    for (const char *c = text; *c; c++) {
        if (*c == '/') continue;
        if (p->levels == CT__LEVELS_MAX) return bad(text, c, "there are more than 32 folders", err);
        ct__level *level = &p->level[p->levels++];
        for (; *c && *c != '/'; c++) {
            int16_t token = (unsigned char)*c;
            if (*c == '*')
                token = CT__ANY_MANY;
            else if (*c == '?')
                token = CT__ANY_ONE;
            else if (*c == '{')
                CT_TRY(parse_part(text, &c, p, &token, err));
            else if (*c == '}')
                return bad(text, c, "\"}\" has no \"{\"; the character itself is written \\}", err);
            else if (*c == '\\' && c[1])
                token = (unsigned char)*++c;
            if (level->tokens == CT__TOKENS_MAX) return bad(text, c, "a name is longer than 512 characters", err);
            level->token[level->tokens++] = token;
            level->wild |= token > 255;
        }
        if (!*c) break;
    }
    if (p->levels == 0) return bad(text, text, "it is empty", err);
    return CT_OK;
}

void ct__pattern_free(ct__pattern *p)
{
    for (int i = 0; i < p->parts; i++) free(p->part[i]);
    free(p->level);
    *p = (ct__pattern){0};
}

/* ---- matching ---- */

static int is_many(int16_t token) { return token == CT__ANY_MANY || token >= CT__PART; }

/* can[i][j]: tokens from i on match the name from j on, if parts are "*" of at least one character. Bits of j. */
typedef struct {
    uint8_t can[CT__TOKENS_MAX + 1][NAME_MAX_HERE / 8 + 1];
} table;

static int get(const table *t, int i, int j) { return t->can[i][(unsigned)j / 8] >> ((unsigned)j % 8) & 1; }
static void set(table *t, int i, int j)
{
    uint8_t *byte = &t->can[i][(unsigned)j / 8];
    *byte = (uint8_t)(*byte | 1 << ((unsigned)j % 8));
}

static void fill(table *t, const ct__level *l, const char *name, int length)
{
    const int tokens = CT_MIN(l->tokens, CT__TOKENS_MAX);
    memset(t, 0, sizeof *t);
    set(t, tokens, length);
    for (int i = tokens - 1; i >= 0; i--) {
        const int16_t token = l->token[i];
        int any = 0; /* can[i + 1][k] for a k after j */
        for (int j = length; j >= 0; j--) {
            const int here = get(t, i + 1, j);
            if (token == CT__ANY_MANY ? here || any : token >= CT__PART ? any : 0)
                set(t, i, j);
            else if (!is_many(token) && j < length && (token == CT__ANY_ONE || token == (unsigned char)name[j]) &&
                     get(t, i + 1, j + 1))
                set(t, i, j);
            any |= here;
        }
    }
}

/* A wildcard that was given the characters [begin, end) and may be given more. */
typedef struct {
    int16_t token_at, begin, end;
    int16_t part; /* -1: none, or it was known before */
} choice;

/* The shortest end from `from` on after which the rest can match; -1: none. */
static int next_end(const table *t, int i, int from, int length)
{
    for (int end = from; end <= length; end++)
        if (get(t, i + 1, end)) return end;
    return -1;
}

/* Undo choices until one can be made longer: *i and *j go on after it. 0: there is none. */
static int go_back(const table *t, choice *stack, int *top, int length, ct__part_value value[], const char *name,
                   int *i, int *j)
{
    for (; *top >= 0; --*top) {
        choice *c = &stack[*top];
        const int end = next_end(t, c->token_at, c->end + 1, length);
        if (c->part >= 0) value[c->part].text = NULL;
        if (end < 0) continue;
        c->end = (int16_t)end;
        if (c->part >= 0) value[c->part] = (ct__part_value){name + c->begin, end - c->begin};
        *i = c->token_at + 1;
        *j = end;
        return 1;
    }
    return 0;
}

static int search(const table *t, const ct__level *l, const char *name, int length, ct__part_value value[])
{
    choice stack[CT__TOKENS_MAX];
    int top = -1, i = 0, j = 0;
    if (!get(t, 0, 0)) return 0;
    for (int steps = 0; i < l->tokens; steps++) {
        if (steps > STEPS_MAX) return -1;
        const int16_t token = l->token[i];
        const int part = token >= CT__PART ? token - CT__PART : -1;
        int ok = get(t, i, j);
        if (ok && part >= 0 && value[part].text) { /* must be repeated */
            const ct__part_value v = value[part];
            ok = v.length <= length - j && !memcmp(v.text, name + j, (size_t)v.length);
            if (ok) j += v.length, i++;
        } else if (ok && is_many(token)) {
            const int end = next_end(t, i, j + (part >= 0), length);
            stack[++top] = (choice){(int16_t)i, (int16_t)j, (int16_t)end, (int16_t)part};
            if (part >= 0) value[part] = (ct__part_value){name + j, end - j};
            i++, j = end;
        } else if (ok)
            i++, j++;
        if (ok && i == l->tokens) ok = j == length;
        if (!ok && !go_back(t, stack, &top, length, value, name, &i, &j)) return 0;
    }
    return j == length;
}

int ct__level_match(const ct__level *l, const char *name, ct__part_value value[CT__PARTS_MAX])
{
    const size_t length = strlen(name);
    if (length > NAME_MAX_HERE - 1) return 0;
    if (name[0] == '.' && (l->tokens == 0 || l->token[0] != '.')) return 0;
    table t;
    fill(&t, l, name, (int)length);
    return search(&t, l, name, (int)length, value);
}
