/* recipe_edit.c: a recipe's text with other corrections, or another folder; every other byte stays.
 *
 * A member of the top level is replaced by the lines of its key and value, or appended to the text. Within braces
 * (JSON) the value alone is replaced, or a member added after the last. The result is read again: what it says is what
 * was meant, or it is an error. */
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "recipe/recipe_read.h"

#include <math.h>

/* ---- members ---- */

/* The byte where the comment of a line begins, or `end`: # after a blank or at the beginning, outside quotes. */
static const char *comment_of(const char *line, const char *end)
{
    char quote = 0;
    for (const char *p = line; p < end; p++) {
        if (quote == '"' && *p == '\\' && p + 1 < end)
            p++;
        else if (quote && *p == quote)
            quote = 0;
        else if (!quote && (*p == '"' || *p == '\'') && (p == line || strchr(" [{,:", p[-1])))
            quote = *p;
        else if (!quote && *p == '#' && (p == line || p[-1] == ' ' || p[-1] == '\t'))
            return p;
    }
    return end;
}

static const char *newline_of(const char *text) { return strstr(text, "\r\n") ? "\r\n" : "\n"; }

/* Comments of the lines that are replaced, each on a line of its own. */
static void keep_comments(ct__text *out, const char *from, const char *to, int indent, const char *newline)
{
    while (from < to) {
        const char *end = memchr(from, '\n', (size_t)(to - from)), *stop = end ? end : to;
        if (stop > from && stop[-1] == '\r') stop--;
        const char *comment = comment_of(from, stop);
        if (comment < stop) {
            ct__text_repeat(out, " ", indent);
            ct__text_bytes(out, comment, (size_t)(stop - comment));
            ct__text_put(out, newline);
        }
        from = end ? end + 1 : to;
    }
}

/* Where a member is appended: the end of the text, or the mark "..." that ends a document. */
static size_t append_offset(const char *text, size_t size, const ct__node *root)
{
    for (int line = root->end_line + 1;; line++) {
        const size_t at = ct__tree_line_offset(text, size, line);
        if (at >= size) return size;
        if (!strncmp(text + at, "...", 3)) return at;
    }
}

typedef struct {
    const char *key;
    ct__text lines; /* "key: value" in lines, without indentation; {newline} after each  */
    ct__text flow;  /* the value within braces                                           */
} member;

static void put_indented(ct__text *out, const char *lines, int indent)
{
    while (*lines) {
        const size_t n = strcspn(lines, "\n") + 1;
        ct__text_repeat(out, " ", indent);
        ct__text_bytes(out, lines, n);
        lines += n;
    }
}

static void edit_lines(ct__text *out, const char *text, const ct__node *root, const ct__node *old, const member *m)
{
    const size_t size = strlen(text);
    const char *newline = newline_of(text);
    const int indent = root->first ? root->first->column - 1 : 0;
    const size_t from = old ? ct__tree_line_offset(text, size, old->line) : append_offset(text, size, root);
    const size_t to = old ? ct__tree_line_offset(text, size, old->end_line + 1) : from;
    const size_t first = strcspn(m->lines.bytes, "\n") + 1;
    ct__text_bytes(out, text, from);
    if (!old && from && text[from - 1] != '\n') ct__text_put(out, newline);
    ct__text_repeat(out, " ", indent);
    ct__text_bytes(out, m->lines.bytes, first);
    if (old) keep_comments(out, text + from, text + to, indent + 2, newline);
    put_indented(out, m->lines.bytes + first, indent);
    ct__text_put(out, text + to);
}

static void edit_flow(ct__text *out, const char *text, const ct__node *root, const ct__node *old, const member *m)
{
    const size_t size = strlen(text);
    const size_t from = ct__tree_byte_offset(text, size, old ? old->begin : root->last->end);
    const size_t to = old ? ct__tree_byte_offset(text, size, old->end) : from;
    ct__text_bytes(out, text, from);
    if (!old) ct__text_printf(out, ", \"%s\": ", m->key);
    ct__text_put(out, m->flow.bytes);
    ct__text_put(out, text + to);
}

static ct_status put_member(const ct_recipe *recipe, const member *m, char **text, ct_err *err)
{
    const ct__node *root = ((const ct__tree *)recipe->tree)->root, *old = ct__node_member(root, m->key);
    ct__text out = {0};
    if (m->lines.failed || m->flow.failed) return ct__no_memory(err, "bytes of text", m->lines.used);
    if (root->flow)
        edit_flow(&out, recipe->text, root, old, m);
    else
        edit_lines(&out, recipe->text, root, old, m);
    return ct__text_take(&out, text, err);
}

/* ---- values ---- */

/* A text in quotes that YAML and JSON share, or as it is if that is plain. */
static void put_text(ct__text *out, const char *text, int quoted)
{
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789.-";
    const int plain = strspn(text, LETTERS) > 0 && !text[strspn(text, PLAIN)] &&
                      ct__word_find("true false null yes no on off y n", text) < 0;
    if (plain && !quoted) {
        ct__text_put(out, text);
        return;
    }
    ct__text_put(out, "\"");
    for (const char *p = text; *p; p++) {
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            ct__text_printf(out, "\\u%04x", (unsigned)(unsigned char)*p);
        else if (*p == '"' || *p == '\\')
            ct__text_printf(out, "\\%c", *p);
        else
            ct__text_bytes(out, p, 1);
    }
    ct__text_put(out, "\"");
}

static void put_numbers(ct__text *out, const ct_correction *c)
{
    char buf[32];
    const int lasting = c->kind == CT_CORRECT_LASTING || c->kind == CT_CORRECT_LASTING_EACH;
    const int number = c->kind == CT_CORRECT_DELAY || c->kind == CT_CORRECT_DRIFT || c->kind == CT_CORRECT_STEPS ||
                       c->kind == CT_CORRECT_WRAP;
    const int list = !number && !lasting;
    if (list) ct__text_put(out, "[");
    for (int32_t i = 0; i < c->count; i++) {
        if (i) ct__text_put(out, ", ");
        ct__text_put(out, ct__format_double(c->value[i], buf));
    }
    if (list) ct__text_put(out, "]");
}

static void put_value(ct__text *out, const ct_correction *c, int quoted)
{
    char word[CT_ROBUST_TEXT_MAX];
    switch (c->kind) {
    case CT_CORRECT_QUATERNION: put_text(out, c->value[0] != 0 ? "scalar_first" : "scalar_last", quoted); return;
    case CT_CORRECT_CAMERA:
    case CT_CORRECT_NED:
    case CT_CORRECT_COMPASS:
    case CT_CORRECT_INVERSE:
    case CT_CORRECT_DEGREES:
    case CT_CORRECT_FULL: ct__text_put(out, c->value[0] != 0 ? "true" : "false"); return;
    case CT_CORRECT_KERNEL: {
        const ct_robust_kind kind = (ct_robust_kind)(int)c->value[0];
        const double ratio = c->count > 2 ? c->value[2] : ct_robust_default_ratio(kind);
        if (kind == CT_ROBUST_NONE || c->count < 2)
            snprintf(word, sizeof word, "%s", ct_robust_name(kind));
        else
            ct_robust_text((ct_robust){kind, c->value[1], ratio}, word);
        if (quoted)
            put_text(out, word, 1);
        else
            ct__text_put(out, word);
        return;
    }
    default: put_numbers(out, c);
    }
}

static int same_target(const ct_correction *a, const ct_correction *b)
{
    return !strcmp(a->sensor, b->sensor) && !strcmp(a->recording, b->recording);
}

/* The corrections of one sensor and recording, in braces. */
static void put_entry(ct__text *out, const ct_correction c[], int32_t count, int32_t first, int quoted)
{
    const char *mark = quoted ? "\"" : "";
    ct__text_printf(out, "{%ssensor%s: ", mark, mark);
    put_text(out, c[first].sensor, quoted);
    if (c[first].recording[0]) {
        ct__text_printf(out, ", %srecording%s: ", mark, mark);
        put_text(out, c[first].recording, quoted);
    }
    for (int32_t i = first; i < count; i++) {
        if (!same_target(&c[i], &c[first])) continue;
        ct__text_printf(out, ", %s%s%s: ", mark, ct_correction_key(c[i].kind), mark);
        put_value(out, &c[i], quoted);
    }
    ct__text_put(out, "}");
}

static int is_first(const ct_correction c[], int32_t i)
{
    for (int32_t k = 0; k < i; k++)
        if (same_target(&c[k], &c[i])) return 0;
    return 1;
}

static void put_list(member *m, const char *newline, const ct_correction c[], int32_t count)
{
    int any = 0;
    ct__text_printf(&m->lines, "corrections:%s%s", count ? "" : " []", newline);
    ct__text_put(&m->flow, "[");
    for (int32_t i = 0; i < count; i++) {
        if (!is_first(c, i)) continue;
        ct__text_put(&m->lines, "  - ");
        put_entry(&m->lines, c, count, i, 0);
        ct__text_put(&m->lines, newline);
        ct__text_put(&m->flow, any++ ? ", " : "");
        put_entry(&m->flow, c, count, i, 1);
    }
    ct__text_put(&m->flow, "]");
}

/* ---- corrections ---- */

static ct_status check_correction(const ct_correction *c, ct_err *err)
{
    if ((int)c->kind < 0 || c->kind >= CT_CORRECTION_COUNT)
        return ct_fail(err, CT_E_ARGUMENT, "a correction has a kind from 0 to %d, found %d", CT_CORRECTION_COUNT - 1,
                       (int)c->kind);
    if (c->count < 0 || c->count > CT_CORRECTION_VALUES)
        return ct_fail(err, CT_E_ARGUMENT, "a correction has at most %d numbers, found %d", CT_CORRECTION_VALUES,
                       c->count);
    if (!memchr(c->sensor, 0, sizeof c->sensor) || !memchr(c->recording, 0, sizeof c->recording))
        return ct_fail(err, CT_E_ARGUMENT, "the names of a correction do not end");
    if (!c->sensor[0] || !ct__json_is_utf8(c->recording))
        return ct_fail(err, CT_E_ARGUMENT, "a correction names a sensor, and its recording is UTF-8");
    for (int32_t i = 0; i < c->count; i++)
        if (!isfinite(c->value[i]))
            return ct_fail(err, CT_E_ARGUMENT, "the correction %s of %s is not finite", ct_correction_key(c->kind),
                           c->sensor);
    const double kernel = c->value[0];
    if (c->kind == CT_CORRECT_KERNEL && c->count &&
        !(kernel == floor(kernel) && kernel >= 0 && kernel < CT_ROBUST_COUNT))
        return ct_fail(err, CT_E_ARGUMENT, "the correction kernel of %s is no ct_robust_kind: %g", c->sensor, kernel);
    return CT_OK;
}

/* all[0 .. *count) with these put in; *changed: they differ from what was there. */
static void merge(ct_correction all[], int32_t *count, const ct_correction c[], int32_t n, int *changed)
{
    for (int32_t i = 0; i < n; i++) {
        int32_t at = 0;
        while (at < *count && !(all[at].kind == c[i].kind && same_target(&all[at], &c[i]))) at++;
        if (at == *count && !c[i].count) continue;
        if (at < *count && c[i].count == all[at].count &&
            !memcmp(c[i].value, all[at].value, (size_t)c[i].count * sizeof c[i].value[0]))
            continue;
        *changed = 1;
        if (c[i].count) {
            all[at] = c[i];
            *count += at == *count;
        } else {
            memmove(&all[at], &all[at + 1], (size_t)(*count - at - 1) * sizeof *all);
            --*count;
        }
    }
}

/* The new text is read, so that no name or number of the caller can make a recipe that is none. */
static ct_status verify(const ct_recipe *recipe, char **text, int32_t count, ct_err *err)
{
    ct_recipe *again = NULL;
    ct_status status = ct_recipe_parse(*text, recipe->name, recipe->folder, &again, err);
    if (status == CT_OK && again->corrections != count)
        status =
            ct_fail(err, CT_E_UNSUPPORTED, "%s: the corrections could not be written into this text", recipe->name);
    ct_recipe_free(again);
    if (status == CT_OK) return CT_OK;
    free(*text);
    *text = NULL;
    return status;
}

ct_status ct_recipe_correct(const ct_recipe *recipe, const ct_correction correction[], int32_t count, char **text,
                            ct_err *err)
{
    *text = NULL;
    if (count < 0) return ct_fail(err, CT_E_ARGUMENT, "the number of corrections is not negative, found %d", count);
    for (int32_t i = 0; i < count; i++) CT_TRY(check_correction(&correction[i], err));
    ct_correction *all = ct__zalloc((int64_t)recipe->corrections + count, sizeof *all);
    int32_t used = recipe->corrections;
    int changed = recipe->doctor;
    if (!all) return ct__no_memory(err, "corrections", (int64_t)recipe->corrections + count);
    if (used) memcpy(all, recipe->correction, (size_t)used * sizeof *all);
    merge(all, &used, correction, count, &changed);
    member m = {.key = "corrections"};
    ct_status status = CT_OK;
    if (!changed) {
        *text = ct__strdup(recipe->text);
        if (!*text) status = ct__no_memory(err, "bytes of text", (int64_t)strlen(recipe->text));
    } else {
        put_list(&m, newline_of(recipe->text), all, used);
        status = put_member(recipe, &m, text, err);
        if (status == CT_OK) status = verify(recipe, text, used, err);
    }
    ct__text_free(&m.lines);
    ct__text_free(&m.flow);
    free(all);
    return status;
}

ct_status ct__recipe_put(const ct_recipe *recipe, const char *key, const char *value, char **text, ct_err *err)
{
    member m = {.key = key};
    *text = NULL;
    if (!ct__json_is_utf8(value)) return ct_fail(err, CT_E_UNSUPPORTED, "the %s %s is not UTF-8", key, value);
    put_text(&m.flow, value, 1);
    ct__text_printf(&m.lines, "%s: ", key);
    put_text(&m.lines, value, 1);
    ct__text_put(&m.lines, newline_of(recipe->text));
    ct_status status = put_member(recipe, &m, text, err);
    if (status == CT_OK) status = verify(recipe, text, recipe->corrections, err);
    ct__text_free(&m.lines);
    ct__text_free(&m.flow);
    return status;
}
