/* match.c: the files that a pattern matches. Folders are visited level by level of the pattern. */
#define _POSIX_C_SOURCE 200809L
#include "base/text.h"
#include "source/pattern.h"

#include <dirent.h>
#include <sys/stat.h>

#define FILES_MAX 1000000

/* ---- names in a folder ---- */

typedef struct {
    char **name;
    int64_t count, capacity;
} names;

static void names_free(names *n)
{
    for (int64_t i = 0; i < n->count; i++) free(n->name[i]);
    free(n->name);
    *n = (names){0};
}

static int by_bytes(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Names in a folder, sorted. A folder that is not there, or cannot be read, has none: *status_of_it is errno. */
static ct_status names_read(const char *folder, names *n, int *status_of_it, ct_err *err)
{
    errno = 0;
    DIR *dir = opendir(folder[0] ? folder : ".");
    *status_of_it = dir ? 0 : errno;
    if (!dir) return errno == ENOMEM ? ct__no_memory(err, "names of files", 1) : CT_OK;
    ct_status status = CT_OK;
    for (struct dirent *entry; status == CT_OK && (entry = readdir(dir));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        status = ct__grow(&n->name, &n->capacity, n->count + 1, sizeof *n->name, "names of files", err);
        if (status == CT_OK && !(n->name[n->count] = ct__strdup(entry->d_name)))
            status = ct__no_memory(err, "names of files", n->count);
        n->count += status == CT_OK;
    }
    closedir(dir);
    if (status == CT_OK && n->count > 1) qsort(n->name, (size_t)n->count, sizeof *n->name, by_bytes);
    return status;
}

/* ---- walking ---- */

typedef struct {
    ct__pattern pattern;
    const char *text; /* of the pattern */
    ct_matches *out;
    int64_t file_capacity, value_capacity;
    int deepest; /* level of the folder below, in which nothing matched */
    char *deepest_folder;
    ct_err *err;
} walk;

static char *join(const char *folder, const char *name)
{
    const size_t n = strlen(folder);
    const int slash = n > 0 && folder[n - 1] != '/';
    char *path = malloc(n + strlen(name) + 2);
    if (!path) return NULL;
    memcpy(path, folder, n);
    if (slash) path[n] = '/';
    strcpy(path + n + (size_t)slash, name);
    return path;
}

static int is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* A file; or a folder that is a recording in itself: a ROS 2 bag has metadata.yaml. */
static int is_source(const char *path, int *status)
{
    struct stat info;
    if (stat(path, &info) != 0) return 0;
    if (!S_ISDIR(info.st_mode)) return 1;
    char *metadata = join(path, "metadata.yaml");
    *status |= !metadata;
    const int yes = metadata && stat(metadata, &info) == 0;
    free(metadata);
    return yes;
}

static ct_status add_file(walk *w, const char *path, const ct__part_value value[])
{
    ct_matches *m = w->out;
    const int32_t parts = w->pattern.parts;
    if (m->files == FILES_MAX)
        return ct_fail(w->err, CT_E_LIMIT, "pattern \"%s\" matches more than %d files", w->text, FILES_MAX);
    CT_TRY(ct__grow(&m->file, &w->file_capacity, m->files + 1, sizeof *m->file, "files", w->err));
    CT_TRY(ct__grow(&m->value, &w->value_capacity, (int64_t)(m->files + 1) * CT_MAX(parts, 1), sizeof *m->value,
                    "files", w->err));
    m->file[m->files] = ct__strdup(path);
    int failed = !m->file[m->files];
    for (int32_t p = 0; p < parts; p++) {
        char *copy = ct__zalloc((int64_t)value[p].length + 1, 1);
        if (copy && value[p].length > 0) memcpy(copy, value[p].text, (size_t)value[p].length);
        m->value[(int64_t)m->files * parts + p] = copy;
        failed |= !copy;
    }
    m->files++; /* what is not there is NULL and is freed as such */
    return failed ? ct__no_memory(w->err, "files", m->files) : CT_OK;
}

/* A folder that can be visited, and the parts that its path has fixed. */
typedef struct {
    char *path;
    int level;
    char *fixed[CT__PARTS_MAX]; /* copies */
} place;

static void place_free(place *p)
{
    for (int i = 0; i < CT__PARTS_MAX; i++) free(p->fixed[i]);
    free(p->path);
}

typedef struct {
    place *place;
    int64_t count, capacity;
} places;

static ct_status push(walk *w, places *stack, char *path, int level, const ct__part_value value[])
{
    const ct_status status =
        ct__grow(&stack->place, &stack->capacity, stack->count + 1, sizeof *stack->place, "folders", w->err);
    if (status != CT_OK || !path) {
        free(path);
        return status != CT_OK ? status : ct__no_memory(w->err, "folders", stack->count);
    }
    place *p = &stack->place[stack->count++];
    *p = (place){.path = path, .level = level};
    for (int k = 0; k < w->pattern.parts; k++) {
        if (!value[k].text) continue;
        p->fixed[k] = ct__zalloc((int64_t)value[k].length + 1, 1);
        if (!p->fixed[k]) return ct__no_memory(w->err, "named parts", k);
        memcpy(p->fixed[k], value[k].text, (size_t)value[k].length);
    }
    return CT_OK;
}

/* A name of the level: a file of the result, or a folder to visit. *used <- 1 if it is one of them. */
static ct_status take(walk *w, places *stack, const place *at, const char *name, const ct__part_value value[],
                      int *used)
{
    char *path = join(at->path, name);
    int no_memory = 0;
    if (!path) return ct__no_memory(w->err, "path", 1);
    if (at->level + 1 == w->pattern.levels) {
        const int wanted = is_source(path, &no_memory) || (!w->pattern.level[at->level].wild && is_folder(path));
        const ct_status status = no_memory ? ct__no_memory(w->err, "path", 1)
                                 : wanted  ? add_file(w, path, value)
                                           : CT_OK;
        *used |= wanted;
        free(path);
        return status;
    }
    if (is_folder(path)) {
        *used = 1;
        return push(w, stack, path, at->level + 1, value);
    }
    free(path);
    return CT_OK;
}

static void known_parts(const place *at, ct__part_value value[CT__PARTS_MAX])
{
    for (int k = 0; k < CT__PARTS_MAX; k++) {
        value[k].text = at->fixed[k];
        value[k].length = at->fixed[k] ? (int)strlen(at->fixed[k]) : 0;
    }
}

static ct_status visit(walk *w, places *stack, const place *at)
{
    const ct__level *level = &w->pattern.level[at->level];
    ct__part_value value[CT__PARTS_MAX];
    names n = {0};
    int used = 0, reason;
    ct_status status = CT_OK;
    if (!level->wild) {
        char name[CT__TOKENS_MAX + 1];
        for (int i = 0; i <= level->tokens; i++) name[i] = i < level->tokens ? (char)level->token[i] : 0;
        known_parts(at, value);
        status = take(w, stack, at, name, value, &used);
    } else {
        status = names_read(at->path, &n, &reason, w->err);
        for (int64_t i = 0; status == CT_OK && i < n.count; i++) {
            known_parts(at, value);
            const int match = ct__level_match(level, n.name[i], value);
            if (match < 0)
                status =
                    ct_fail(w->err, CT_E_LIMIT, "pattern \"%s\": repeated parts make it too hard to match \"%.100s\"",
                            w->text, n.name[i]);
            else if (match)
                status = take(w, stack, at, n.name[i], value, &used);
        }
    }
    names_free(&n);
    if (status == CT_OK && !used && at->level >= w->deepest) {
        free(w->deepest_folder);
        w->deepest = at->level;
        w->deepest_folder = ct__strdup(at->path);
        if (!w->deepest_folder) return ct__no_memory(w->err, "path", 1);
    }
    return status;
}

static ct_status walk_all(walk *w, const char *folder)
{
    places stack = {0};
    const ct__part_value none[CT__PARTS_MAX] = {0};
    char *root = ct__strdup(w->pattern.absolute ? "/" : !strcmp(folder, ".") ? "" : folder);
    ct_status status = push(w, &stack, root, 0, none);
    while (status == CT_OK && stack.count > 0) {
        place at = stack.place[--stack.count];
        status = visit(w, &stack, &at);
        place_free(&at);
    }
    while (stack.count > 0) place_free(&stack.place[--stack.count]);
    free(stack.place);
    return status;
}

/* ---- order ---- */

static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* Runs of digits by their value, other characters by their code. */
static int natural(const char *a, const char *b)
{
    while (*a && *b) {
        if (!is_digit(*a) || !is_digit(*b)) {
            if (*a != *b) return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
            a++, b++;
            continue;
        }
        while (*a == '0' && is_digit(a[1])) a++;
        while (*b == '0' && is_digit(b[1])) b++;
        int n = 0, m = 0;
        while (is_digit(a[n])) n++;
        while (is_digit(b[m])) m++;
        if (n != m) return n < m ? -1 : 1;
        const int order = memcmp(a, b, (size_t)n);
        if (order) return order;
        a += n, b += m;
    }
    return *a ? 1 : *b ? -1 : 0;
}

/* A file with its values, to be sorted. */
typedef struct {
    char *file, **value;
    int32_t parts;
} item;

static int by_parts(const void *x, const void *y)
{
    const item *a = x, *b = y;
    for (int32_t p = 0; p < a->parts; p++) {
        const int order = natural(a->value[p], b->value[p]);
        if (order) return order;
    }
    const int order = natural(a->file, b->file);
    return order ? order : strcmp(a->file, b->file);
}

static ct_status sort_files(ct_matches *m, ct_err *err)
{
    const int64_t cells = (int64_t)m->files * m->parts;
    item *list = ct__zalloc(m->files, sizeof *list);
    char **value = ct__zalloc(cells, sizeof *value);
    if (!list || !value) {
        free(list);
        free(value);
        return ct__no_memory(err, "files", m->files);
    }
    for (int32_t f = 0; f < m->files; f++) list[f] = (item){m->file[f], m->value + (int64_t)f * m->parts, m->parts};
    qsort(list, (size_t)m->files, sizeof *list, by_parts);
    for (int32_t f = 0; f < m->files; f++) {
        m->file[f] = list[f].file;
        for (int32_t p = 0; p < m->parts; p++) value[(int64_t)f * m->parts + p] = list[f].value[p];
    }
    free(list);
    free(m->value);
    m->value = value;
    return CT_OK;
}

/* ---- nothing matches ---- */

static char lower(int c) { return (char)(c >= 'A' && c <= 'Z' ? c + 32 : c); }

/* Characters that a name shares with the pattern before its first and after its last wildcard. */
static int likeness(const ct__level *l, const char *name)
{
    const int length = (int)strlen(name);
    int head = 0, tail = 0;
    while (head < l->tokens && head < length && l->token[head] < 256 && lower(l->token[head]) == lower(name[head]))
        head++;
    while (tail < l->tokens - head && tail < length - head && l->token[l->tokens - 1 - tail] < 256 &&
           lower(l->token[l->tokens - 1 - tail]) == lower(name[length - 1 - tail]))
        tail++;
    return head + tail;
}

static ct_status nothing(walk *w)
{
    const char *folder = w->deepest_folder ? w->deepest_folder : "";
    const ct__level *level = &w->pattern.level[w->deepest];
    names n = {0};
    int reason, best = 0;
    char like[3][80] = {{0}};
    const ct_status status = names_read(folder, &n, &reason, w->err);
    if (status != CT_OK) {
        names_free(&n);
        return status;
    }
    for (int64_t i = 0; i < n.count; i++) best = CT_MAX(best, likeness(level, n.name[i]));
    int shown = 0;
    for (int64_t i = 0; i < n.count && shown < 3; i++)
        if (n.name[i][0] != '.' && likeness(level, n.name[i]) == best) snprintf(like[shown++], 80, "%.70s", n.name[i]);
    const int64_t count = n.count;
    names_free(&n);
    if (!folder[0]) folder = ".";
    if (reason)
        return ct_fail(w->err, CT_E_EMPTY, "no file matches \"%s\": folder %s: %s", w->text, folder, strerror(reason));
    if (shown == 0) return ct_fail(w->err, CT_E_EMPTY, "no file matches \"%s\": folder %s is empty", w->text, folder);
    return ct_fail(w->err, CT_E_EMPTY, "no file matches \"%s\" in folder %s; there is %s%s%s%s%s%s%s", w->text, folder,
                   like[0], shown > 1 ? ", " : "", like[1], shown > 2 ? ", " : "", like[2],
                   count > shown ? ", ..." : "",
                   strchr(w->text, '[') ? "; [ is no wildcard: those are *, ? and named parts {run}" : "");
}

/* ---- the call ---- */

static ct_status match(walk *w, const char *folder)
{
    CT_TRY(ct__pattern_parse(w->text, &w->pattern, w->err));
    w->out->parts = w->pattern.parts;
    w->out->name = ct__zalloc(w->pattern.parts, sizeof *w->out->name);
    if (!w->out->name) return ct__no_memory(w->err, "named parts", w->pattern.parts);
    for (int p = 0; p < w->pattern.parts; p++)
        if (!(w->out->name[p] = ct__strdup(w->pattern.part[p]))) return ct__no_memory(w->err, "named parts", p);
    CT_TRY(walk_all(w, folder));
    return w->out->files == 0 ? nothing(w) : sort_files(w->out, w->err);
}

ct_status ct_files_match(const char *folder, const char *pattern, ct_matches **out, ct_err *err)
{
    walk w = {.text = pattern, .deepest = 0, .err = err};
    *out = NULL;
    w.out = ct__zalloc(1, sizeof *w.out);
    if (!w.out) return ct__no_memory(err, "files", 1);
    const ct_status status = match(&w, folder ? folder : ".");
    ct__pattern_free(&w.pattern);
    free(w.deepest_folder);
    if (status == CT_OK)
        *out = w.out;
    else
        ct_matches_free(w.out);
    return status;
}

void ct_matches_free(ct_matches *m)
{
    if (!m) return;
    for (int32_t f = 0; f < m->files; f++) free(m->file[f]);
    for (int64_t i = 0; i < (int64_t)m->files * m->parts; i++) free(m->value[i]);
    for (int32_t p = 0; p < m->parts && m->name; p++) free(m->name[p]);
    free(m->file);
    free(m->value);
    free(m->name);
    free(m);
}
