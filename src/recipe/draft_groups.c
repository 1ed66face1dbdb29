/* draft_groups.c: files as patterns: files whose names differ in numbers alone are runs of one kind
 * ("Robot{robot}_Odometry.dat"), and so are folders that hold the same files. Tables with other columns are never of
 * one pattern. */
#include "recipe/draft.h"

#include <ctype.h>

typedef ct__draft_files files;

#define PATH_SIZE CT__DRAFT_PATH_SIZE
#define DEPTH_MAX CT__DRAFT_DEPTH_MAX

/* ---- numbers ---- */

/* The name with each number as one "0". */
static void mask(const char *name, char out[PATH_SIZE])
{
    size_t n = 0;
    for (const char *p = name; *p && n + 2 < PATH_SIZE; p++) {
        if (!isdigit((unsigned char)*p))
            out[n++] = *p;
        else if (p == name || !isdigit((unsigned char)p[-1]))
            out[n++] = '0';
    }
    out[n] = 0;
}

/* The number k of a name: its first digit and length; 0: there is none. */
static size_t number_at(const char *name, int k, const char **first)
{
    for (const char *p = name; *p; p++) {
        if (!isdigit((unsigned char)*p)) continue;
        const size_t length = strspn(p, "0123456789");
        if (!k--) return *first = p, length;
        p += length - 1;
    }
    return 0;
}

static int number_varies(const char *const name[], int32_t count, int k)
{
    const char *a = "", *b = "";
    const size_t length = number_at(name[0], k, &a);
    for (int32_t i = 1; i < count; i++)
        if (number_at(name[i], k, &b) != length || memcmp(a, b, length)) return 1;
    return 0;
}

/* The letters before a number, in small ones: "robot" of Robot1. */
static void word_before(const char *name, const char *digit, char out[32])
{
    size_t n = 0;
    while (digit > name && strchr("_-", digit[-1])) digit--;
    const char *end = digit;
    while (digit > name && isalpha((unsigned char)digit[-1])) digit--;
    for (; digit < end && n < 31; digit++) out[n++] = (char)tolower((unsigned char)*digit);
    out[n] = 0;
}

/* What the parts of all patterns are called: the word before the numbers where all have the same one and it says what
 * is numbered (a robot, not a sensor), else run. */
#define PART_WORDS                                                                                                     \
    "robot agent vehicle car drone uav auv subject run seq sequence session trial flight drive lap scene day part "    \
    "rec recording experiment exp dataset"

typedef struct {
    char word[32];
    int used;
} part_name;

static void see_word(part_name *part, const char *name, int k)
{
    const char *digit;
    char word[32];
    if (!number_at(name, k, &digit)) return;
    word_before(name, digit, word);
    if (ct__word_find(PART_WORDS, word) < 0) word[0] = 0;
    if (!part->used++)
        strcpy(part->word, word);
    else if (strcmp(part->word, word))
        part->word[0] = 0;
}

#define NUMBERS_MAX 16

/* "robot1_gps.csv" beside "robot1_odom.csv" and "robot2_odom.csv": which robot it is, names of another sensor say. */
static int varies_elsewhere(const files *f, const char *name, int k)
{
    const char *digit, *other;
    char word[32], mine[PATH_SIZE], theirs[PATH_SIZE], begin[PATH_SIZE];
    const size_t length = number_at(name, k, &digit);
    if (!length) return 0;
    word_before(name, digit, word);
    if (ct__word_find(PART_WORDS, word) < 0) return 0;
    snprintf(begin, sizeof begin, "%.*s", (int)(digit - name), name);
    mask(begin, mine);
    for (int32_t i = 0; i < f->count; i++) {
        const size_t n = number_at(f->path[i], k, &other);
        if (!n || (n == length && !memcmp(other, digit, n))) continue;
        snprintf(begin, sizeof begin, "%.*s", (int)(other - f->path[i]), f->path[i]);
        mask(begin, theirs);
        if (!strcmp(mine, theirs)) return 1;
    }
    return 0;
}

/* Name of the part that number k is: the first of all is that of all patterns. */
static void name_part(const char *name, int k, int parts, const part_name *part, char out[40])
{
    const char *digit;
    char word[32] = "";
    if (parts > 1 && number_at(name, k, &digit)) word_before(name, digit, word);
    const char *first = part->word[0] ? part->word : "run";
    if (parts > 1 && ct__word_find(PART_WORDS, word) >= 0 && strcmp(word, first))
        snprintf(out, 40, "{%s}", word);
    else
        snprintf(out, 40, parts > 1 ? "{%s%d}" : "{%s}", first, parts);
}

/* Is number k always equal to number `first`? */
static int same_number(const char *const name[], int32_t count, int first, int k)
{
    int same = 1;
    for (int32_t i = 0; same && i < count; i++) {
        const char *a = NULL, *b = NULL;
        const size_t m = number_at(name[i], first, &a);
        same = number_at(name[i], k, &b) == m && !memcmp(a, b, m);
    }
    return same;
}

/* Numbers that vary become {part}; those that are always equal to the first of them share its name. */
static const char *pattern_of(const files *f, const char *const name[], int32_t count, const part_name *part)
{
    char out[2 * PATH_SIZE] = "", word[40];
    size_t n = 0;
    int k = 0, parts = 0, first = -1;
    for (const char *p = name[0]; *p && n + 48 < sizeof out; p++) {
        const size_t length = isdigit((unsigned char)*p) ? strspn(p, "0123456789") : 0;
        const int varies = length && k < NUMBERS_MAX && number_varies(name, count, k);
        if (varies || (length && k < NUMBERS_MAX && varies_elsewhere(f, name[0], k))) {
            const int twice = parts > 0 && varies && number_varies(name, count, first);
            const int same = twice && same_number(name, count, first, k);
            if (!parts) first = k;
            parts += !same;
            name_part(name[0], k, same ? 1 : parts, part, word);
            n += (size_t)sprintf(out + n, "%s", word);
        } else if (length)
            n += (size_t)sprintf(out + n, "%.*s", (int)CT_MIN(length, 40), p);
        else
            out[n++] = *p, out[n] = 0;
        if (length) k++, p += length - 1;
    }
    return ct__draft_print(f->d, "%s", out);
}

/* ---- groups ---- */

/* Have tables of other columns a name that differs in numbers alone? */
static int is_kind_conflict(const files *f, int32_t i)
{
    char mine[PATH_SIZE], other[PATH_SIZE];
    mask(f->path[i], mine);
    for (int32_t k = 0; k < f->count; k++) {
        mask(f->path[k], other);
        if (!strcmp(mine, other) && strcmp(f->kind[i], f->kind[k])) return 1;
    }
    return 0;
}

/* The first file of the pattern: its name differs in numbers alone. A name that tables of other columns have as well
 * is no pattern: file by file. */
static int32_t first_of_mask(const files *f, int32_t i)
{
    char mine[PATH_SIZE], other[PATH_SIZE];
    int32_t first = i;
    if (is_kind_conflict(f, i)) return i;
    mask(f->path[i], mine);
    for (int32_t k = 0; k < i; k++) {
        mask(f->path[k], other);
        if (!strcmp(mine, other)) first = CT_MIN(first, k);
    }
    return first;
}

static int32_t names_like(const files *f, const int32_t first[], int32_t i, const char *name[])
{
    int32_t n = 0;
    for (int32_t k = i; k < f->count; k++)
        if (first[k] == i) name[n++] = f->path[k];
    return n;
}

static ct_status group_by_number(const files *f, ct__draft_group *group, int32_t *groups)
{
    int32_t *first = ct__zalloc(f->count, sizeof *first);
    const char **name = ct__zalloc(f->count, sizeof *name);
    part_name part = {0};
    ct_status status = first && name ? CT_OK : ct__no_memory(f->d->err, "files", f->count);
    for (int32_t i = 0; status == CT_OK && i < f->count; i++) first[i] = first_of_mask(f, i);
    for (int32_t i = 0; status == CT_OK && i < f->count; i++) {
        const int32_t n = first[i] == i ? names_like(f, first, i, name) : 0;
        for (int k = 0; n > 1 && k < NUMBERS_MAX; k++) {
            const char *digit;
            if (!number_at(name[0], k, &digit) || !number_varies(name, n, k)) continue;
            see_word(&part, name[0], k);
            break;
        }
    }
    for (int32_t i = 0; status == CT_OK && i < f->count; i++) {
        const int32_t n = first[i] == i ? names_like(f, first, i, name) : 0;
        if (!n) continue;
        const char *pattern = n > 1 || !is_kind_conflict(f, i) ? pattern_of(f, name, n, &part) : f->path[i];
        if (!pattern)
            status = CT_E_MEMORY;
        else
            group[(*groups)++] = (ct__draft_group){pattern, f->whole[i], n};
    }
    free(first);
    free(name);
    return status;
}

/* ---- bags are runs ---- */

static const char *bag_ending(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && ct__word_find("mcap bag db3", dot + 1) >= 0 ? dot : "";
}

/* Bags of one folder and ending, whatever they are called: "{run}.mcap". */
static ct_status group_bags(files *f, ct__draft_group *group, int32_t *groups)
{
    char mine[PATH_SIZE], other[PATH_SIZE];
    int numbers = 1;
    if (f->count < 2 || !*bag_ending(f->path[0])) return CT_OK;
    mask(f->path[0], mine);
    for (int32_t i = 0; i < f->count; i++) {
        if (strchr(f->path[i], '/') || strcmp(bag_ending(f->path[i]), bag_ending(f->path[0]))) return CT_OK;
        mask(f->path[i], other);
        numbers = numbers && !strcmp(mine, other);
    }
    if (numbers) return CT_OK; /* which say more */
    const char *pattern = ct__draft_print(f->d, "{run}%s", bag_ending(f->path[0]));
    if (!pattern) return CT_E_MEMORY;
    group[(*groups)++] = (ct__draft_group){pattern, f->whole[0], f->count};
    f->count = 0;
    return CT_OK;
}

/* ---- words that are runs ---- */

/* The part p of a file's name, between - _ and . and before its ending; 0: there is none, or it has no digit. */
static size_t token_at(const char *path, int p, const char **first)
{
    const char *slash = strrchr(path, '/'), *at = slash ? slash + 1 : path, *end = strrchr(at, '.');
    if (!end) end = at + strlen(at);
    while (p-- && at < end) {
        at += strcspn(at, "-_.");
        at += at < end;
    }
    const size_t length = CT_MIN(strcspn(at, "-_."), (size_t)(end - CT_MIN(at, end)));
    const size_t letters = strcspn(at, "0123456789");
    *first = at;
    return at < end && letters < length ? length : 0;
}

static void without_token(const char *path, int p, char out[PATH_SIZE])
{
    const char *at;
    const size_t length = token_at(path, p, &at);
    snprintf(out, PATH_SIZE, "%.*s{run}%s", (int)(at - path), path, at + length);
}

static int same_token(const char *a, const char *b, int p)
{
    const char *x, *y;
    const size_t length = token_at(a, p, &x);
    return token_at(b, p, &y) == length && !memcmp(x, y, length);
}

static int same_rest(const char *a, const char *b, int p)
{
    char x[PATH_SIZE], y[PATH_SIZE];
    without_token(a, p, x);
    without_token(b, p, y);
    return !strcmp(x, y);
}

/* Is part p the run: does every word there occur with every rest of a name? "gps-test00", "gps-train00", "odo-test00",
 * "odo-train00". Words that differ in their numbers alone are left to the numbers. */
static int token_is_run(const files *f, int p)
{
    char first[PATH_SIZE], mine[PATH_SIZE];
    int32_t count = 0, words = 0, rests = 0, masks = 0;
    for (int32_t i = 0; i < f->count; i++) {
        const char *at;
        int word = 1, rest = 1;
        if (!token_at(f->path[i], p, &at)) continue;
        for (int32_t k = 0; k < i; k++) {
            if (!token_at(f->path[k], p, &at)) continue;
            word = word && !same_token(f->path[i], f->path[k], p);
            if (!same_rest(f->path[i], f->path[k], p)) continue;
            if (strcmp(f->kind[i], f->kind[k])) return 0; /* "odo0.csv", "uwb0.csv": the word is the sensor */
            rest = 0;
        }
        char token[PATH_SIZE];
        const size_t length = token_at(f->path[i], p, &at);
        snprintf(token, sizeof token, "%.*s", (int)length, at);
        mask(token, mine);
        if (!count++) strcpy(first, mine);
        masks |= strcmp(first, mine) != 0;
        words += word;
        rests += rest;
    }
    return masks && words > 1 && count == words * rests;
}

#define TOKENS_MAX 6

/* File i stays in the list, at this place. */
static void keep(files *f, int32_t to, int32_t i)
{
    f->path[to] = f->path[i];
    f->whole[to] = f->whole[i];
    f->kind[to] = f->kind[i];
}

/* Groups of names whose run is a word; those files are taken from the list. */
static ct_status group_by_token(files *f, ct__draft_group *group, int32_t *groups)
{
    int32_t left = 0;
    int p = 0;
    while (p < TOKENS_MAX && !token_is_run(f, p)) p++;
    if (p == TOKENS_MAX) return CT_OK;
    for (int32_t i = 0; i < f->count; i++) {
        const char *at;
        char pattern[PATH_SIZE];
        int seen = 0;
        if (!token_at(f->path[i], p, &at)) {
            keep(f, left++, i);
            continue;
        }
        without_token(f->path[i], p, pattern);
        for (int32_t k = 0; k < *groups; k++)
            if (!strcmp(group[k].pattern, pattern)) seen = 1, group[k].files++;
        if (seen) continue;
        group[*groups] = (ct__draft_group){ct__draft_print(f->d, "%s", pattern), f->whole[i], 1};
        if (!group[(*groups)++].pattern) return CT_E_MEMORY;
    }
    f->count = left;
    return CT_OK;
}

/* ---- folders that are runs ---- */

/* The folder at this depth of a path; 0: there is none. */
static size_t component_at(const char *path, int depth, const char **first)
{
    for (; depth; depth--) {
        path += strcspn(path, "/");
        if (!*path++) return 0;
    }
    const size_t length = strcspn(path, "/");
    *first = path;
    return path[length] ? length : 0;
}

/* The path with {run} for the folder at this depth, and for its name where that is a word of what follows:
 * "{run}/{run}_odometry.csv". Empty: there is no such folder. */
static const char *without_component(ct__draft *d, const char *path, int depth)
{
    char out[2 * PATH_SIZE];
    const char *folder = "";
    const size_t length = component_at(path, depth, &folder);
    if (!length) return "";
    size_t n = (size_t)snprintf(out, sizeof out, "%.*s{run}", (int)(folder - path), path);
    for (const char *p = folder + length; *p && n + 8 < sizeof out;) {
        const int word = !isalnum((unsigned char)p[-1]) && !strncmp(p, folder, length) &&
                         !isalnum((unsigned char)p[length]) && length > 1;
        if (word)
            n += (size_t)sprintf(out + n, "{run}"), p += length;
        else
            out[n++] = *p++;
    }
    out[n] = 0;
    return ct__draft_print(d, "%s", out);
}

static int same_folder(const char *a, const char *b, int depth)
{
    const char *x = "", *y = "";
    const size_t length = component_at(a, depth, &x);
    return component_at(b, depth, &y) == length && x - a == y - b && !memcmp(a, b, (size_t)(x - a) + length);
}

/* taken[i] <- 1: file i is in a folder that is a run: two of its files, or more, are in another folder as well. */
static int find_runs(const files *f, const char *const pattern[], int depth, uint8_t *taken)
{
    int any = 0;
    for (int32_t i = 0; i < f->count; i++) {
        taken[i] = 0;
        for (int32_t k = 0; *pattern[i] && !taken[i] && k < f->count; k++)
            taken[i] = k != i && !strcmp(pattern[i], pattern[k]) && !strcmp(f->kind[i], f->kind[k]);
    }
    for (int32_t i = 0, end; i < f->count; i = end) { /* sorted: files of a folder follow each other */
        int32_t shared = 0;
        for (end = i; end < f->count && (end == i || same_folder(f->path[i], f->path[end], depth)); end++)
            shared += taken[end];
        for (int32_t k = i; k < end; k++) taken[k] = taken[k] && shared > 1;
        any |= shared > 1;
    }
    return any;
}

/* Groups of files that several folders have; those are taken from the list. What one folder alone has stays. */
static ct_status group_by_folder(files *f, ct__draft_group *group, int32_t *groups)
{
    uint8_t *taken = ct__zalloc(f->count, sizeof *taken);
    const char **pattern = ct__zalloc(f->count, sizeof *pattern);
    ct_status status = taken && pattern ? CT_OK : ct__no_memory(f->d->err, "files", f->count);
    int32_t left = 0;
    int any = 0;
    for (int depth = 0; status == CT_OK && !any && depth < DEPTH_MAX; depth++) {
        for (int32_t i = 0; status == CT_OK && i < f->count; i++)
            if (!(pattern[i] = without_component(f->d, f->path[i], depth))) status = CT_E_MEMORY;
        if (status == CT_OK) any = find_runs(f, pattern, depth, taken);
    }
    for (int32_t i = 0; status == CT_OK && any && i < f->count; i++) {
        int seen = 0;
        for (int32_t k = 0; taken[i] && k < *groups; k++)
            if (!strcmp(group[k].pattern, pattern[i])) seen = 1, group[k].files++;
        if (!taken[i])
            keep(f, left++, i);
        else if (!seen)
            group[(*groups)++] = (ct__draft_group){pattern[i], f->whole[i], 1};
    }
    if (any) f->count = left;
    free(taken);
    free(pattern);
    return status;
}

ct_status ct__draft_groups(ct__draft *d, const char *const path[], int32_t paths, ct__draft_group **out, int32_t *count)
{
    files *f = ct__zalloc(1, sizeof *f);
    *count = 0;
    *out = NULL;
    if (!f) return ct__no_memory(d->err, "files", paths);
    f->d = d;
    ct_status status = ct__draft_collect(f, path, paths);
    if (status == CT_OK && !(*out = ct__tree_alloc(d->pool, f->count, sizeof **out)))
        status = ct__no_memory(d->err, "files", f->count);
    if (status == CT_OK) status = group_by_folder(f, *out, count);
    if (status == CT_OK) status = group_bags(f, *out, count);
    if (status == CT_OK) status = group_by_token(f, *out, count);
    if (status == CT_OK) status = group_by_number(f, *out, count);
    free(f);
    return status;
}
