/* spill.c: see spill.h. */
#define _GNU_SOURCE /* statfs, P_tmpdir */
#include "base/spill.h"
#include "base/base.h"
#include "base/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <unistd.h>

#define TMPFS 0x01021994
#define RAMFS 0x858458f6
#define TRIES 8 /* names that others may have taken */

static int is_in_memory(const char *folder)
{
    struct statfs info;
    return statfs(folder, &info) == 0 && ((unsigned long)info.f_type == TMPFS || (unsigned long)info.f_type == RAMFS);
}

static int is_usable(const char *folder) { return access(folder, W_OK | X_OK) == 0 && !is_in_memory(folder); }

/* A user's choice is taken or refused, never replaced. */
static ct_status choose_folder(const char **folder, ct_err *err)
{
    const char *given = getenv("TMPDIR");
    *folder = given && *given ? given : is_usable("/var" P_tmpdir) ? "/var" P_tmpdir : P_tmpdir;
    if (!is_in_memory(*folder)) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT,
                   "%s is a folder in memory (tmpfs), where what exceeds the limit of memory cannot be kept; set "
                   "TMPDIR to a folder on a disk",
                   *folder);
}

static ct_status make_file(ct__spill *s, ct_err *err)
{
    char path[4096], name[CT__FRESH_NAME];
    s->fd = -1;
    for (int attempt = 0; s->fd < 0 && attempt < TRIES; attempt++) {
        ct__fresh_name(attempt, name);
        if (snprintf(path, sizeof path, "%s/%s", s->folder, name) >= (int)sizeof path) break;
        s->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (s->fd < 0 && errno != EEXIST) break;
    }
    if (s->fd >= 0 && unlink(path) == 0) return CT_OK;
    return ct_fail(err, CT_E_IO,
                   "%s: no file can be made there for what exceeds the limit of memory: %s; set TMPDIR to another "
                   "folder",
                   s->folder, strerror(errno));
}

ct_status ct__spill_open(ct__spill **out, ct_err *err)
{
    const char *folder;
    *out = NULL;
    CT_TRY(choose_folder(&folder, err));
    ct__spill *s = ct__zalloc(1, sizeof *s);
    if (s) s->folder = ct__strdup(folder);
    ct_status status = s && s->folder ? CT_OK : ct__no_memory(err, "names", 1);
    if (status == CT_OK) status = make_file(s, err);
    if (status == CT_OK) {
        *out = s;
        return CT_OK;
    }
    if (s) free(s->folder);
    free(s);
    return status;
}

void ct__spill_close(ct__spill *s)
{
    if (!s) return;
    close(s->fd);
    free(s->folder);
    free(s);
}

int64_t ct__spill_take(ct__spill *s, int64_t bytes) { return atomic_fetch_add(&s->end, bytes); }

ct_status ct__spill_write(ct__spill *s, int64_t at, const void *bytes, int64_t count, ct_err *err)
{
    const char *from = bytes;
    while (count > 0) {
        const ssize_t done = pwrite(s->fd, from, (size_t)count, at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0)
            return ct_fail(err, CT_E_IO,
                           "%s: what exceeds the limit of memory cannot be written there, after %lld MB: %s; free "
                           "space there, set TMPDIR to another folder, or raise the limit",
                           s->folder, (long long)(at >> 20), strerror(errno));
        from += done, at += done, count -= done;
    }
    return CT_OK;
}

ct_status ct__spill_read(ct__spill *s, int64_t at, void *bytes, int64_t count, ct_err *err)
{
    char *to = bytes;
    while (count > 0) {
        const ssize_t done = pread(s->fd, to, (size_t)count, at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0)
            return ct_fail(err, CT_E_IO, "%s: what was kept there beyond the limit of memory cannot be read back: %s",
                           s->folder, done < 0 ? strerror(errno) : "it ends too early");
        to += done, at += done, count -= done;
    }
    return CT_OK;
}
