/* dataset_paths.c: the sequence files of a folder. */
#define _POSIX_C_SOURCE 200809L
#include "data/data.h"

#include <dirent.h>
#include <errno.h>
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
