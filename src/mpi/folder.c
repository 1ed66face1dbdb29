/* folder.c: the temporary folder of a rank, covtune-rank-* in TMPDIR.
 *
 * A rank holds a lock (flock) on its folder while it lives, with its supervisors of programs. Folders of ranks that
 * were killed have no lock: the next rank on that machine removes them. A folder gets its name when it is locked, so
 * that nobody takes a new one for an old one. */
#define _DEFAULT_SOURCE /* flock */
#define _XOPEN_SOURCE   700
#include "mpi/transport.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char BEGINS[] = "covtune-rank-";

static int open_folder(const char *path) { return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }

/* A folder of this user that no process holds. */
static void remove_stale(const char *path)
{
    struct stat info;
    const int   folder = open_folder(path);
    if (folder < 0) return;
    if (!fstat(folder, &info) && info.st_uid == geteuid() && !flock(folder, LOCK_EX | LOCK_NB))
        (void)ct_folder_remove(path, NULL);
    close(folder);
}

static void remove_stale_ones(const char *temporary)
{
    DIR *entries = opendir(temporary);
    for (const struct dirent *e; entries && (e = readdir(entries));) {
        char path[FOLDER_PATH];
        if (strncmp(e->d_name, BEGINS, strlen(BEGINS))) continue;
        if (snprintf(path, sizeof path, "%s/%s", temporary, e->d_name) < (int)sizeof path) remove_stale(path);
    }
    if (entries) closedir(entries);
}

int folder_make(rank_folder *f)
{
    const char *given = getenv("TMPDIR"), *temporary = given && *given ? given : P_tmpdir;
    char        fresh[FOLDER_PATH];
    f->lock = -1;
    snprintf(f->path, sizeof f->path, "%s/", temporary);
    if (snprintf(fresh, sizeof fresh, "%s/covtune-new-XXXXXX", temporary) >= (int)sizeof fresh) return 0;
    remove_stale_ones(temporary);
    if (!mkdtemp(fresh)) return 0;
    snprintf(f->path, sizeof f->path, "%s/%s%s", temporary, BEGINS, fresh + strlen(fresh) - 6);
    f->lock = open_folder(fresh);
    if (f->lock >= 0 && !flock(f->lock, LOCK_EX | LOCK_NB) && !rename(fresh, f->path)) return 1;
    const int why = errno;
    if (f->lock >= 0) close(f->lock);
    f->lock = -1;
    rmdir(fresh);
    errno = why;
    return 0;
}

void folder_remove(rank_folder *f)
{
    if (f->lock < 0) return;
    (void)ct_folder_remove(f->path, NULL);
    close(f->lock);
    f->lock = -1;
}
