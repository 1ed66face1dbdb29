/* remove_folder.c: a folder removed with all that is in it.
 *
 * Programs leave folders that their owner may not read or write (chmod -R a-w is common for what is fetched), and whose
 * entries cannot be removed by any user but root. They are opened to their owner on the way down. */
#define _DEFAULT_SOURCE
#include "base/base.h"
#include "base/file.h"

#include <fts.h>
#include <sys/stat.h>
#include <unistd.h>

/* What an entry of the walk asks for; errno of a failure, 0: none. */
static int take_away(const FTSENT *entry)
{
    switch (entry->fts_info) {
    case FTS_D:
        if ((entry->fts_statp->st_mode & S_IRWXU) != S_IRWXU) (void)chmod(entry->fts_path, S_IRWXU);
        return 0;
    case FTS_DC:
    case FTS_ERR: return entry->fts_errno ? entry->fts_errno : EIO;
    case FTS_DNR:
    case FTS_DP: return rmdir(entry->fts_path) && errno != ENOENT ? errno : 0;
    default: return unlink(entry->fts_path) && errno != ENOENT ? errno : 0;
    }
}

ct_status ct_folder_remove(const char *path, ct_err *err)
{
    char        *copy = ct__strdup(path);
    char *const  roots[] = {copy, NULL};
    FTS         *walk = copy ? fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL) : NULL;
    int          why = walk ? 0 : copy ? errno : ENOMEM;
    const FTSENT *entry;
    while (walk && (errno = 0, entry = fts_read(walk))) {
        const int failed = take_away(entry);
        if (!why) why = failed;
    }
    if (walk && errno && !why) why = errno;
    if (walk) fts_close(walk);
    free(copy);
    if (!why) return CT_OK;
    return ct_fail(err, why == ENOMEM ? CT_E_MEMORY : CT_E_IO, "%s: cannot be removed: %s", path, strerror(why));
}
