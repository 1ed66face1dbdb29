/* output_folder.c: the output folder of a simulated dataset. */
#include "cli/simulate/simulate.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A dataset that covtune wrote is replaced; one that was written or edited otherwise is not. */
static ct_status check_own(const char *folder, ct_err *err)
{
    char     *path = cli_path_join(folder, "dataset.yaml");
    const int own = cli_replaceable(path, CT_DATASET_BEGINS);
    free(path);
    if (own) return CT_OK;
    return ct_fail(err, CT_E_IO,
                   "%s: the dataset in it was not written by covtune (dataset.yaml does not begin with \"%s\"); "
                   "name another folder",
                   folder, CT_DATASET_BEGINS);
}

ct_status simulate_check_place(const char *path, ct_err *err)
{
    struct stat entry;
    if (stat(path, &entry) != 0)
        return errno == ENOENT ? CT_OK : ct_fail(err, CT_E_IO, "%s: %s", path, strerror(errno));
    if (!S_ISDIR(entry.st_mode)) return ct_fail(err, CT_E_IO, "%s: it is a file; a dataset is a folder", path);
    DIR *dir = cli_open_folder(path);
    if (!dir) return ct_fail(err, CT_E_IO, "%s: %s", path, strerror(errno));
    int                  others = 0, dataset = 0;
    const struct dirent *e;
    while ((e = readdir(dir))) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
        others++;
        dataset |= !strcmp(e->d_name, "dataset.yaml");
    }
    closedir(dir);
    if (!others) return CT_OK;
    if (dataset) return check_own(path, err);
    return ct_fail(err, CT_E_IO, "%s: there is something in this folder, and it is no dataset; name another folder",
                   path);
}

static void remove_from(const char *folder, const char *part, int from, const char *ending)
{
    for (int i = from, gone = 1; gone; i++) {
        char name[40];
        snprintf(name, sizeof name, "%s/%04d%s", part, i, ending);
        char *path = cli_path_join(folder, name);
        gone = unlink(path) == 0;
        free(path);
    }
}

void simulate_remove_stale(const char *folder, const char *part, int from, int binary)
{
    remove_from(folder, part, binary ? 0 : from, ".ctseq");
    remove_from(folder, part, binary ? from : 0, ".ctbin");
}
