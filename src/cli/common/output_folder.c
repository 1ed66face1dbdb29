/* output_folder.c: folders that results go into. */
#define _POSIX_C_SOURCE 200809L
#include "cli/common/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *cli_path_join(const char *folder, const char *name)
{
    const size_t n = strlen(folder), size = n + strlen(name) + 2;
    char        *path = cli_alloc((int64_t)size, 1);
    snprintf(path, size, "%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name);
    return path;
}

int cli_make_folders(const char *path)
{
    char *part = cli_check_alloc(strdup(path));
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
