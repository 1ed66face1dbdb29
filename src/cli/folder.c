/* folder.c: folders that results go into, and files in them that are replaced whole. */
#define _POSIX_C_SOURCE 200809L
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *cli_inside(const char *folder, const char *name)
{
    const size_t n = strlen(folder), size = n + strlen(name) + 2;
    char        *path = cli_alloc((int64_t)size, 1);
    snprintf(path, size, "%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name);
    return path;
}

int cli_make_folders(const char *path)
{
    char *part = cli_need(strdup(path));
    int   result = 0;
    for (char *slash = part + 1; result == 0 && (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        if (mkdir(part, 0777) && errno != EEXIST) result = -1;
        *slash = '/';
    }
    if (result == 0 && mkdir(path, 0777) && errno != EEXIST) result = -1;
    free(part);
    return result;
}

ct_status cli_replace(const char *path, const char *text, ct_err *err)
{
    const size_t n = strlen(path) + 5, length = strlen(text);
    char        *temp = cli_alloc((int64_t)n, 1);
    snprintf(temp, n, "%s.new", path);
    const int file = open(temp, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    size_t    done = 0;
    while (file >= 0 && done < length) {
        const ssize_t wrote = write(file, text + done, length - done);
        if (wrote <= 0) break;
        done += (size_t)wrote;
    }
    int ok = file >= 0 && done == length && fsync(file) == 0;
    if (file >= 0 && close(file)) ok = 0;
    ok = ok && rename(temp, path) == 0;
    const ct_status status = ok ? CT_OK : ct_fail(err, CT_E_IO, "%s: cannot be written: %s", path, strerror(errno));
    if (!ok && file >= 0) unlink(temp);
    free(temp);
    return status;
}
