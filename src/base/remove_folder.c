/* remove_folder.c: a folder removed with all that is in it.
 *
 * A folder within a folder of the tree is moved up to the tree's root, and is emptied as an entry of that. So two
 * folders are open at a time, at any depth: paths that are longer than the system takes have no meaning here, and there
 * is no recursion. Entries are named within their folder: a run that writes 1,000 files costs little more than their
 * unlinking.
 *
 * Programs leave folders that their owner may not read or write (chmod -R a-w is common for what is fetched), and whose
 * entries cannot be removed by any user but root. They are opened to their owner on the way. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700
#include "base/base.h"
#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOVE_TRIES 1000   /* each fails only if the tree has an entry of that name                       */
#define PASSES     100000 /* one a level at most; somebody else may go on to write into the tree         */

typedef struct {
    int     root;  /* descriptor of the tree's folder               */
    int     why;   /* errno of the first failure of a pass; 0: none */
    int64_t moved; /* folders, or tries to                          */
} removal;

/* What is gone is no failure. */
static void note(removal *r, int why)
{
    if (!r->why && why != ENOENT) r->why = why;
}

/* Opened to its owner. NULL: errno; ENOTDIR or ELOOP of what is no folder. */
static DIR *open_folder(int at, const char *name)
{
    const int   flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    struct stat entry;
    int         fd = openat(at, name, flags);
    if (fd < 0 && errno == EACCES && fchmodat(at, name, S_IRWXU, 0) == 0) fd = openat(at, name, flags);
    if (fd < 0) return NULL;
    if (fstat(fd, &entry) == 0 && (entry.st_mode & S_IRWXU) != S_IRWXU) (void)fchmod(fd, S_IRWXU);
    DIR *folder = fdopendir(fd);
    if (!folder) {
        const int why = errno;
        close(fd);
        errno = why;
    }
    return folder;
}

static int is_folder(int at, const struct dirent *entry)
{
    struct stat found;
#ifdef DT_DIR
    if (entry->d_type != DT_UNKNOWN) return entry->d_type == DT_DIR;
#endif
    return fstatat(at, entry->d_name, &found, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(found.st_mode);
}

/* Removes an entry that is no folder, or an empty one. 1: done. -1: it is a folder that has entries. */
static int take_plain(removal *r, int at, const struct dirent *entry)
{
    const int folder = is_folder(at, entry);
    if (unlinkat(at, entry->d_name, folder ? AT_REMOVEDIR : 0) == 0) return 1;
    if (folder) return -1; /* entries, or rights, of it may be the cause */
    note(r, errno);
    return 0;
}

/* A folder below an entry of the root becomes an entry of the root. */
static int move_up(removal *r, int from, const char *name)
{
    char fresh[48];
    (void)fchmodat(from, name, S_IRWXU, 0); /* a folder that its owner may not write cannot be moved */
    for (int i = 0; i < MOVE_TRIES; i++) {
        snprintf(fresh, sizeof fresh, CT__OURS "up-%lld", (long long)r->moved++);
        if (renameat(from, name, r->root, fresh) == 0) return 1;
        if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) break;
    }
    note(r, errno);
    return 0;
}

static int is_self(const char *name) { return !strcmp(name, ".") || !strcmp(name, ".."); }

/* A folder in the root, with what is in it. How many entries were removed or moved. */
static int64_t empty_folder(removal *r, const char *name)
{
    const struct dirent *entry;
    int64_t              count = 0;
    DIR                 *folder = open_folder(r->root, name);
    if (!folder) {
        note(r, errno);
        return 0;
    }
    while ((entry = readdir(folder))) {
        if (is_self(entry->d_name)) continue;
        const int taken = take_plain(r, dirfd(folder), entry);
        count += taken < 0 ? move_up(r, dirfd(folder), entry->d_name) : taken;
    }
    closedir(folder);
    if (unlinkat(r->root, name, AT_REMOVEDIR) == 0) count++;
    else note(r, errno);
    return count;
}

/* Every entry of the root once; those that are moved there meanwhile may be seen or not. */
static int64_t pass(removal *r, DIR *root)
{
    const struct dirent *entry;
    int64_t              count = 0;
    r->why = 0;
    rewinddir(root);
    while ((entry = readdir(root))) {
        if (is_self(entry->d_name)) continue;
        const int taken = take_plain(r, r->root, entry);
        count += taken < 0 ? empty_folder(r, entry->d_name) : taken;
    }
    return count;
}

ct_status ct_folder_remove(const char *path, ct_err *err)
{
    DIR *root = open_folder(AT_FDCWD, path);
    int  why = root ? 0 : errno;
    if (root) {
        removal r = {.root = dirfd(root)};
        for (int i = 0; i < PASSES && pass(&r, root) > 0; i++) {}
        closedir(root);
        why = r.why ? r.why : rmdir(path) ? errno : 0;
    } else if (why == ENOTDIR || why == ELOOP)
        why = unlink(path) ? errno : 0; /* a file, or a link */
    if (why == 0 || why == ENOENT) return CT_OK;
    return ct_fail(err, why == ENOMEM ? CT_E_MEMORY : CT_E_IO, "%s: cannot be removed: %s", path, strerror(why));
}
