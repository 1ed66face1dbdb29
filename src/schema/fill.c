/* fill.c: values of a file, checked by the table of keys and stored in the section's struct. */
#define _POSIX_C_SOURCE 200809L
#include "base/text.h"
#include "schema/schema.h"

#include <math.h>

static void append(char *buf, size_t size, const char *text)
{
    const size_t used = strlen(buf);
    snprintf(buf + used, size - used, "%s", text);
}

/* ---- values ---- */

/* A node in a few words, for "found ...". */
static const char *found(const ct__node *n, char buf[64])
{
    if (n->type == CT__NODE_LIST)
        snprintf(buf, 64, "a list of %d", n->count);
    else if (n->type == CT__NODE_MAP)
        snprintf(buf, 64, "keys with values");
    else if (ct__node_is_null(n))
        snprintf(buf, 64, "nothing");
    else if (!n->text[0])
        snprintf(buf, 64, "an empty text");
    else
        snprintf(buf, 64, "\"%.40s\"%s", n->text, strlen(n->text) > 40 ? "..." : "");
    return buf;
}

static int number_text(const char *text, double *value)
{
    char *end;
    if (!text[0] || text[strspn(text, "+-.0123456789eE")]) return 0; /* no hexadecimal, inf, nan, blanks */
    *value = strtod(text, &end);
    return !*end && isfinite(*value);
}

int ct__node_number(const ct__node *n, double *value)
{
    return n->type == CT__NODE_SCALAR && !n->quoted && number_text(n->text, value);
}

int ct__node_fraction(const ct__node *n, double *value)
{
    char top[32];
    double a, b;
    const char *slash = n->type == CT__NODE_SCALAR ? strchr(n->text, '/') : NULL;
    if (n->type != CT__NODE_SCALAR || n->quoted) return 0;
    if (!slash) return number_text(n->text, value) && *value >= 0 && *value < 1;
    if ((size_t)(slash - n->text) >= sizeof top) return 0;
    snprintf(top, sizeof top, "%.*s", (int)(slash - n->text), n->text);
    if (!number_text(top, &a) || !number_text(slash + 1, &b) || !(a >= 0 && b > 0 && a < b)) return 0;
    *value = a / b;
    return 1;
}

void ct__node_numbers(const ct__node *n, ct__numbers *out)
{
    *out = (ct__numbers){.line = n->line};
    if (n->type == CT__NODE_SCALAR) out->count = ct__node_number(n, &out->value[0]);
    for (const ct__node *i = n->first; i && out->count < 36; i = i->next) ct__node_number(i, &out->value[out->count++]);
}

void ct__node_texts(ct__schema_reader *r, const ct__node *n, ct__list *out)
{
    const int32_t count = n->type == CT__NODE_SCALAR ? 1 : n->count;
    *out = (ct__list){.line = n->line};
    if (!(out->item = ct__schema_alloc(r, count, sizeof *out->item))) return;
    if (n->type == CT__NODE_SCALAR) out->item[out->count++] = (ct__words){n->text, n->line};
    for (const ct__node *i = n->first; i; i = i->next) out->item[out->count++] = (ct__words){i->text, i->line};
}

int ct__node_bool(const ct__node *n)
{
    return n->type == CT__NODE_SCALAR && !n->quoted ? ct__word_find("false true", n->text) : -1;
}

#define WIDTH_LEAST 1e-6 /* sigmas; as of `learn --robust` */
#define WIDTH_MOST  1e6

int ct__node_kernel(const ct__node *n, ct_robust *out, char why[160])
{
    char name[32] = "";
    const char *colon = n->type == CT__NODE_SCALAR ? strchr(n->text, ':') : NULL;
    if (n->type == CT__NODE_SCALAR)
        snprintf(name, sizeof name, "%.*s", colon ? (int)CT_MIN(colon - n->text, 31) : 31, n->text);
    const int kind = ct_robust_find(name);
    if (kind < 0) {
        snprintf(why, 160, "expected none");
        for (int k = 0; k < CT_ROBUST_COUNT; k++)
            if (k != CT_ROBUST_NONE) append(why, 160, ", "), append(why, 160, ct_robust_name((ct_robust_kind)k));
        append(why, 160, ", with a width if wanted, huber:1.5");
        return 0;
    }
    *out = (ct_robust){(ct_robust_kind)kind, ct_robust_default_width((ct_robust_kind)kind),
                       ct_robust_default_ratio((ct_robust_kind)kind)};
    if (!colon) return 1;
    if (kind == CT_ROBUST_NONE) return snprintf(why, 160, "none takes no width"), 0;
    char        width[32];
    const char *second = kind == CT_ROBUST_MAX_MIXTURE ? strchr(colon + 1, ':') : NULL;
    snprintf(width, sizeof width, "%.*s", second ? (int)CT_MIN(second - colon - 1, 31) : 31, colon + 1);
    if (second && !(number_text(second + 1, &out->ratio) && out->ratio > 1 && out->ratio <= WIDTH_MOST))
        return snprintf(why, 160, "%s takes a ratio above 1, at most %g", name, WIDTH_MOST), 0;
    if (number_text(width, &out->width) && out->width >= WIDTH_LEAST && out->width <= WIDTH_MOST) return 1;
    return snprintf(why, 160, "%s takes a width of %g to %g sigmas", name, WIDTH_LEAST, WIDTH_MOST), 0;
}

/* ---- checks ---- */

/* "a number, a list of numbers or keys with values" */
static void expected(const ct__key *k, char *buf, size_t size)
{
    static const struct {
        unsigned form;
        const char *words;
    } WORDS[] = {{CT__FORM_TEXT, "a text"},
                 {CT__FORM_TEXTS, "a list of texts"},
                 {CT__FORM_NUMBER, "a number"},
                 {CT__FORM_NUMBERS, "a list of numbers"},
                 {CT__FORM_INTEGER, "a whole number"},
                 {CT__FORM_BOOL, "true or false"},
                 {CT__FORM_FRACTION, "a fraction, 1/3"},
                 {CT__FORM_SECTION, "keys with values"},
                 {CT__FORM_ITEMS, "names with values"},
                 {CT__FORM_LIST, "a list of mappings"},
                 {CT__FORM_NAMED_TEXTS, "names with texts"},
                 {CT__FORM_NAMED_NUMBERS, "names with numbers"}};
    buf[0] = 0;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        if (!(k->forms & WORDS[i].form)) continue;
        if (buf[0]) append(buf, size, " or ");
        append(buf, size, WORDS[i].words);
    }
    if (k->forms & CT__FORM_CHOICE) {
        if (buf[0]) append(buf, size, ", or ");
        append(buf, size, strchr(k->words, ' ') ? "one of " : "");
        append(buf, size, k->words);
        while (buf[0] && buf[strlen(buf) - 1] == ' ') buf[strlen(buf) - 1] = 0;
    }
}

#define WORDS_MAX 40 /* of a choice */

static const char *word_at(const void *list, int i) { return ((const char *const *)list)[i]; }

/* The word of a choice that is nearest to a misspelt one, into out; 0: none. */
static int suggest_word(const char *words, const char *word, char out[64])
{
    char copy[512];
    const char *list[WORDS_MAX + 1] = {NULL};
    int count = 0;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *at = copy; *at && count < WORDS_MAX;) {
        list[count++] = at;
        at += strcspn(at, " ");
        if (*at) *at++ = 0;
    }
    const char *near = ct_nearest(word, word_at, list);
    if (near) snprintf(out, 64, "%s", near);
    return near != NULL;
}

/* {log} without quotes is a mapping of the key log to nothing. */
static const char *way_out(const ct__node *n, char buf[96])
{
    const int placeholder =
        n->type == CT__NODE_MAP && n->flow && n->count == 1 && n->first->key && ct__node_is_null(n->first);
    buf[0] = 0;
    if (placeholder) snprintf(buf, 96, "; a text that begins with a brace needs quotes: \"{%.30s}\"", n->first->key);
    return buf;
}

static int wrong(ct__schema_reader *r, ct__node *n, const ct__key *k)
{
    char want[400], have[64], near[64] = "", quotes[96];
    expected(k, want, sizeof want);
    const int similar =
        (k->forms & CT__FORM_CHOICE) && n->type == CT__NODE_SCALAR && suggest_word(k->words, n->text, near);
    ct__mistake(r, n, "expected %s; found %s%s%s%s%s", want, found(n, have), similar ? "; did you mean " : "",
                similar ? near : "", similar ? "?" : "", way_out(n, quotes));
    return 0;
}

static int check_range(ct__schema_reader *r, ct__node *n, const ct__key *k, double value)
{
    const int open = (k->forms & CT__OPEN_LOW) != 0;
    if ((open ? value > k->low : value >= k->low) && value <= k->high) return 1;
    if (open && k->low == 0)
        ct__mistake(r, n, "expected a positive number of at most %g; found %.30s", k->high, n->text);
    else if (k->low == k->high)
        ct__mistake(r, n, "expected %g; found %.30s", k->low, n->text);
    else
        ct__mistake(r, n, "expected a number from %g to %g; found %.30s", k->low, k->high, n->text);
    return 0;
}

static int check_number(ct__schema_reader *r, ct__node *n, const ct__key *k)
{
    double value;
    char have[64];
    if (ct__node_number(n, &value)) return check_range(r, n, k, value);
    ct__mistake(r, n, "expected a number; found %s%s", found(n, have), n->quoted ? ", a text in quotes" : "");
    return 0;
}

static int check_count(ct__schema_reader *r, ct__node *n, const ct__key *k)
{
    if (n->count >= k->least && n->count <= k->most) return 1;
    if (k->least == k->most)
        ct__mistake(r, n, "expected %d value%s (%s); found %d", k->least, k->least == 1 ? "" : "s", k->text, n->count);
    else
        ct__mistake(r, n, "expected %d to %d values; found %d", k->least, k->most, n->count);
    return 0;
}

static int check_list(ct__schema_reader *r, ct__node *n, const ct__key *k)
{
    int sound = check_count(r, n, k);
    char have[64], quotes[96];
    for (ct__node *i = n->first; i; i = i->next) {
        if (k->forms & CT__FORM_NUMBERS)
            sound &= check_number(r, i, k);
        else if (i->type != CT__NODE_SCALAR || !i->text[0])
            ct__mistake(r, i, "expected a text; found %s%s", found(i, have), way_out(i, quotes)), sound = 0;
    }
    n->bad |= !sound;
    return sound;
}

static int check_items(ct__schema_reader *r, ct__node *n)
{
    for (ct__node *i = n->first; i; i = i->next) {
        if (i->type == CT__NODE_MAP) continue;
        char have[64];
        ct__mistake(r, i, "expected keys with values; found %s", found(i, have));
    }
    return 1;
}

/* Names with texts or numbers. */
static int check_named(ct__schema_reader *r, ct__node *n, const ct__key *k)
{
    int sound = 1;
    char have[64];
    for (ct__node *i = n->first; i; i = i->next) {
        if (k->forms & CT__FORM_NAMED_NUMBERS)
            sound &= check_number(r, i, k);
        else if (i->type != CT__NODE_SCALAR || (!i->text[0] && !(k->forms & CT__FORM_EMPTY)))
            ct__mistake(r, i, "expected a text; found %s", found(i, have)), sound = 0;
    }
    n->bad |= !sound;
    return sound;
}

static int check_integer(ct__schema_reader *r, ct__node *n, const ct__key *k)
{
    double value;
    if (ct__node_number(n, &value) && value == floor(value)) return check_range(r, n, k, value);
    return wrong(r, n, k);
}

static int check_scalar(ct__schema_reader *r, ct__node *n, const ct__key *k)
{
    double value;
    ct_robust kernel;
    char why[160], have[64];
    if ((k->forms & CT__FORM_CHOICE) && ct__word_find(k->words, n->text) >= 0) return 1;
    if (k->forms & CT__FORM_BOOL) return ct__node_bool(n) >= 0 ? 1 : wrong(r, n, k);
    if (k->forms & CT__FORM_KERNEL) {
        if (ct__node_kernel(n, &kernel, why)) return 1;
        ct__mistake(r, n, "%s; found %s", why, found(n, have));
        return 0;
    }
    if (k->forms & CT__FORM_INTEGER) return check_integer(r, n, k);
    if ((k->forms & CT__FORM_FRACTION) && ct__node_fraction(n, &value)) return 1;
    if ((k->forms & CT__FORM_TEXT) && n->text[0] && !ct__node_is_null(n)) return 1;
    if ((k->forms & CT__FORM_TEXT) && (k->forms & CT__FORM_EMPTY) && n->quoted) return 1;
    if ((k->forms & CT__FORM_NUMBER) && ct__node_number(n, &value)) return check_range(r, n, k, value);
    return wrong(r, n, k);
}

int ct__node_check(ct__schema_reader *r, ct__node *n, const ct__key *k)
{
    if (n->type == CT__NODE_MAP && (k->forms & CT__FORM_ITEMS)) return (k->forms & CT__SHORT) ? 1 : check_items(r, n);
    if (n->type == CT__NODE_MAP && (k->forms & CT__FORM_SECTION)) return 1;
    if (n->type == CT__NODE_MAP && (k->forms & (CT__FORM_NAMED_TEXTS | CT__FORM_NAMED_NUMBERS)))
        return check_named(r, n, k);
    if (n->type == CT__NODE_LIST && (k->forms & CT__FORM_LIST)) return check_items(r, n);
    if (n->type == CT__NODE_LIST && (k->forms & (CT__FORM_TEXTS | CT__FORM_NUMBERS))) return check_list(r, n, k);
    if (n->type == CT__NODE_SCALAR) return check_scalar(r, n, k);
    return wrong(r, n, k);
}

/* ---- storing ---- */

static void store(ct__schema_reader *r, ct__node *n, const ct__key *k, void *target)
{
    char *to = (char *)target + k->place;
    switch (k->store) {
    case CT__STORE_NONE: return;
    case CT__STORE_TEXT: *(const char **)(void *)to = n->text; return;
    case CT__STORE_LIST: ct__node_texts(r, n, (ct__list *)(void *)to); return;
    case CT__STORE_NUMBERS: ct__node_numbers(n, (ct__numbers *)(void *)to); return;
    case CT__STORE_DOUBLE: ct__node_number(n, (double *)(void *)to); return;
    case CT__STORE_INT64: {
        double value = 0;
        ct__node_number(n, &value);
        *(int64_t *)(void *)to = (int64_t)value;
        return;
    }
    case CT__STORE_INT:
        *(int *)(void *)to = k->forms & CT__FORM_BOOL ? ct__node_bool(n) : ct__word_find(k->words, n->text);
        return;
    case CT__STORE_SECTION: ct__fill(r, n, k->of, to); return;
    }
}

static void unknown_key(ct__schema_reader *r, ct__node *n, ct__section section)
{
    const char *near = ct__schema_near(r->schema, section, n->key), *name = ct__schema_section(r->schema, section);
    const char *owner = ct__schema_owner(r->schema, n->key);
    if (near)
        ct__mistake(r, n, "%s has no key %.60s; did you mean %s?", name, n->key, near);
    else
        ct__mistake(r, n, "%s has no key %.60s%s%s", name, n->key, owner ? "; it is a key of " : "",
                    owner ? owner : "");
}

void ct__fill(ct__schema_reader *r, ct__node *map, ct__section section, void *target)
{
    for (ct__node *n = map->first; n; n = n->next) {
        const ct__key *k = ct__schema_find(r->schema, section, n->key);
        if (!k)
            unknown_key(r, n, section);
        else if (ct__node_check(r, n, k) && target)
            store(r, n, k, target);
    }
    for (int i = 0; i < r->schema->keys; i++) {
        const ct__key *k = &r->schema->key[i];
        if (k->section != section || !(k->forms & CT__REQUIRED)) continue;
        if (!ct__schema_missing(r->schema, map, section, k->key)) continue;
        const int was = map->bad;
        ct__mistake(r, map, "%s is missing: %s", k->key, k->text);
        map->bad = was; /* what is there is still to be read */
    }
}

ct__node *ct__sound(const ct__node *map, const char *key)
{
    ct__node *n = ct__node_member(map, key);
    return n && !n->bad ? n : NULL;
}
