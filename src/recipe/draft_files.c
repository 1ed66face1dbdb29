/* draft_files.c: the files that were named, or lie in folders that were, and what their headers say. */
#define _POSIX_C_SOURCE 200809L
#include "recipe/draft.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

typedef ct__draft_files files;

#define FILES_MAX CT__DRAFT_FILES_MAX
#define PATH_SIZE CT__DRAFT_PATH_SIZE

/* ---- folders ---- */

static int has_ending(const char *name)
{
    static const char *const ENDING[] = {".csv", ".txt", ".dat",  ".tum", ".tsv",
                                         ".log", ".bag", ".mcap", ".db3", ".g2o"};
    char plain[300];
    snprintf(plain, sizeof plain, "%s", name);
    size_t length = strlen(plain);
    if (length > 3 && !strcmp(plain + length - 3, ".gz")) plain[length -= 3] = 0;
    for (size_t i = 0; i < sizeof ENDING / sizeof *ENDING; i++)
        if (length > strlen(ENDING[i]) && !strcmp(plain + length - strlen(ENDING[i]), ENDING[i])) return 1;
    return 0;
}

static int is_folder(const char *path)
{
    struct stat entry;
    return stat(path, &entry) == 0 && S_ISDIR(entry.st_mode);
}

/* A ROS 2 bag is a folder with this file. */
static int is_bag_folder(const char *path)
{
    char name[PATH_SIZE + 16];
    struct stat entry;
    snprintf(name, sizeof name, "%.*s/metadata.yaml", PATH_SIZE, path);
    return stat(name, &entry) == 0;
}

static ct_status add_file(files *f, const char *path)
{
    if (f->count == FILES_MAX)
        return ct_fail(f->d->err, CT_E_LIMIT, "a draft looks at %d files at most; name some of each kind", FILES_MAX);
    if (strlen(path) >= PATH_SIZE) return ct_fail(f->d->err, CT_E_LIMIT, "%.60s...: the path is too long", path);
    f->path[f->count] = ct__draft_print(f->d, "%s", path);
    return f->path[f->count++] ? CT_OK : CT_E_MEMORY;
}

/* Depth first, level by level below CT__DRAFT_DEPTH_MAX: folders are few. */
static ct_status add_folder(files *f, const char *path, int depth)
{
    DIR *folder = opendir(path);
    if (!folder) return ct_fail(f->d->err, ct__io_status(), "%s: %s", path, strerror(errno));
    ct_status status = CT_OK;
    for (struct dirent *entry; status == CT_OK && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.') continue;
        char inside[PATH_SIZE + 300];
        snprintf(inside, sizeof inside, "%.*s/%s", PATH_SIZE, path, entry->d_name);
        if (!is_folder(inside))
            status = has_ending(entry->d_name) ? add_file(f, inside) : CT_OK;
        else if (is_bag_folder(inside))
            status = add_file(f, inside);
        else if (depth < CT__DRAFT_DEPTH_MAX && strlen(inside) < PATH_SIZE)
            status = add_folder(f, inside, depth + 1);
    }
    closedir(folder);
    return status;
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static ct_status collect(files *f, const char *const path[], int32_t paths)
{
    for (int32_t i = 0; i < paths; i++) {
        char name[PATH_SIZE];
        size_t length = strlen(path[i]);
        if (length >= PATH_SIZE) return ct_fail(f->d->err, CT_E_LIMIT, "%.60s...: the path is too long", path[i]);
        strcpy(name, path[i]);
        while (length > 1 && name[length - 1] == '/') name[--length] = 0;
        struct stat entry;
        if (stat(name, &entry) != 0) return ct_fail(f->d->err, ct__io_status(), "%s: %s", name, strerror(errno));
        CT_TRY(S_ISDIR(entry.st_mode) && !is_bag_folder(name) ? add_folder(f, name, 0) : add_file(f, name));
    }
    qsort(f->path, (size_t)f->count, sizeof f->path[0], by_name);
    return CT_OK;
}

/* Paths relative to the folder that has them all. */
static ct_status make_relative(files *f)
{
    const char *first = f->count ? f->path[0] : "";
    size_t common = 0;
    for (size_t n = 0; first[n]; n++) {
        int same = 1;
        for (int32_t i = 1; i < f->count; i++) same = same && f->path[i][n] == first[n];
        if (!same) break;
        if (first[n] == '/') common = n + 1;
    }
    if (common) {
        f->d->folder = ct__draft_print(f->d, "%.*s", (int)CT_MAX(common - 1, 1), first);
        if (!f->d->folder) return CT_E_MEMORY;
    }
    for (int32_t i = 0; i < f->count; i++) f->whole[i] = f->path[i], f->path[i] += common;
    return CT_OK;
}

/* ---- headers ---- */

/* The recognised columns of a table with their names, in order; without any, all names. Columns that mean nothing may
 * differ between files of one source. */
static void list_columns(const ct_source *source, int all, ct__text *out)
{
    for (int32_t i = 0; i < ct_source_fields(source); i++) {
        const char *unit, *name = ct_source_field_at(source, i)->name;
        if (all || ct__draft_meaning(name, &unit) != CT__MEANS_NOTHING) ct__text_printf(out, "%s\t", name);
    }
}

/* f->kind[i]; "" of what is no table. */
static ct_status find_kind(files *f, int32_t i)
{
    ct_err why = {0};
    ct_source *source = NULL;
    ct_source_options options = ct_source_defaults();
    ct__text text = {0};
    double rate;
    struct stat entry;
    f->kind[i] = "";
    const char *dot = strrchr(f->whole[i], '.');
    const int bag = dot && ct__word_find("mcap bag db3", dot + 1) >= 0;
    if (bag || stat(f->whole[i], &entry) != 0 || !S_ISREG(entry.st_mode)) return CT_OK;
    CT_TRY(ct__draft_skip(f->d, f->whole[i], &options.skip, &rate));
    ct_status status = ct_source_open(f->whole[i], &options, &source, &why);
    if (status == CT_OK) {
        list_columns(source, 0, &text);
        if (!text.used) list_columns(source, 1, &text);
        ct_source_free(source);
    }
    if (!text.failed && text.used) {
        char *kept = ct__tree_alloc(f->d->pool, (int64_t)text.used + 1, 1);
        if (kept) f->kind[i] = strcpy(kept, text.bytes);
        text.failed |= !kept;
    }
    if (text.failed || status == CT_E_MEMORY)
        status = ct__no_memory(f->d->err, "names", f->count);
    else
        status = CT_OK; /* what cannot be read is said later */
    ct__text_free(&text);
    return status;
}

ct_status ct__draft_collect(files *f, const char *const path[], int32_t paths)
{
    CT_TRY(collect(f, path, paths));
    CT_TRY(make_relative(f));
    if (!f->count) return ct_fail(f->d->err, CT_E_EMPTY, "there are no tables and no bags in %s", path[0]);
    for (int32_t i = 0; i < f->count; i++)
        if (f->count > 1)
            CT_TRY(find_kind(f, i));
        else
            f->kind[i] = "";
    return CT_OK;
}
