/* dataset_paths.c: the sequence files of a folder. */
#define _POSIX_C_SOURCE 200809L
#include "data/data.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <sys/stat.h>

char *ct__path_join(const char *folder, const char *name)
{
    const size_t n = name[0] == '/' ? 0 : strlen(folder), m = strlen(name);
    char        *path = malloc(n + m + 2);
    if (!path) return NULL;
    memcpy(path, folder, n);
    const size_t slash = n && folder[n - 1] != '/';
    if (slash) path[n] = '/';
    memcpy(path + n + slash, name, m + 1);
    return path;
}

const char *ct__path_inside(const char *folder, const char *path)
{
    const size_t n = folder ? strlen(folder) : 0;
    if (n && !strncmp(path, folder, n)) path = path[n] == '/' ? path + n + 1 : path[n - 1] == '/' ? path + n : path;
    while (!strncmp(path, "./", 2)) path += 2;
    return path;
}

ct_status ct__paths_add(ct__paths *paths, const char *folder, const char *name, ct_err *err)
{
    CT_TRY(ct__grow(&paths->path, &paths->capacity, paths->count + 1, sizeof *paths->path, "file names", err));
    char *path = ct__path_join(folder, name);
    if (!path) return ct__no_memory(err, "file names", 1);
    paths->path[paths->count++] = path;
    return CT_OK;
}

void ct__paths_free(ct__paths *paths)
{
    for (int64_t i = 0; i < paths->count; i++) free(paths->path[i]);
    free(paths->path);
    *paths = (ct__paths){0};
}

/* folder/pattern with the folder's own special characters escaped. NULL without memory. */
static char *escape_folder(const char *folder, const char *pattern)
{
    char *escaped = malloc(2 * strlen(folder) + 1), *to = escaped;
    for (const char *at = folder; escaped && *at; *to++ = *at++)
        if (strchr("*?[]\\", *at)) *to++ = '\\';
    if (escaped) *to = 0;
    char *path = escaped ? ct__path_join(escaped, pattern) : NULL;
    free(escaped);
    return path;
}

ct_status ct__paths_match(ct__paths *paths, const char *folder, const char *pattern, int64_t *found, ct_err *err)
{
    glob_t list = {0};
    char  *path = escape_folder(folder, pattern);
    if (!path) return ct__no_memory(err, "file names", 1);
    const int code = glob(path, 0, NULL, &list); /* sorted */
    ct_status status = code == GLOB_NOSPACE ? ct__no_memory(err, "file names", 1) : CT_OK;
    *found = code ? 0 : (int64_t)list.gl_pathc;
    for (size_t i = 0; status == CT_OK && !code && i < list.gl_pathc; i++)
        status = ct__paths_add(paths, "", list.gl_pathv[i], err);
    if (!code) globfree(&list);
    free(path);
    return status;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* The first skipped file by name, for a message: folders are listed in any order. */
static void leave_out(ct__paths *paths, const char *name)
{
    if (!paths->others++ || strncmp(name, paths->other, 60) < 0)
        snprintf(paths->other, sizeof paths->other, "%.60s", name);
}

static ct_status take(ct__paths *paths, const char *folder, const char *name, ct_err *err)
{
    ct_format   format;
    struct stat entry;
    if (name[0] == '.') return CT_OK;
    if (ct_format_guess(name, 0, &format, NULL) != CT_OK) {
        leave_out(paths, name);
        return CT_OK;
    }
    CT_TRY(ct__paths_add(paths, folder, name, err));
    if (stat(paths->path[paths->count - 1], &entry) == 0 && S_ISDIR(entry.st_mode)) {
        free(paths->path[--paths->count]);
        leave_out(paths, name);
    }
    return CT_OK;
}

ct_status ct__paths_scan(ct__paths *paths, const char *folder, ct_err *err)
{
    DIR *dir = opendir(folder);
    if (!dir) return ct_fail(err, ct__io_status(), "%s: %s", folder, strerror(errno));
    ct_status      status = CT_OK;
    struct dirent *entry;
    while (status == CT_OK && (errno = 0, entry = readdir(dir))) status = take(paths, folder, entry->d_name, err);
    if (status == CT_OK && errno) status = ct_fail(err, CT_E_IO, "%s: %s", folder, strerror(errno));
    closedir(dir);
    if (status == CT_OK && paths->count) qsort(paths->path, (size_t)paths->count, sizeof *paths->path, by_name);
    return status;
}
