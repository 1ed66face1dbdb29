/* file.c: atomic replacement of files (write beside, fsync, rename), numbers as text. */
#define _XOPEN_SOURCE 700
#include "base/file.h"
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMP_TRIES 100 /* names taken by temporary files of killed runs are stepped over */

static void release(ct__file *file)
{
    free(file->path);
    free(file->target);
    free(file->temp);
    *file = (ct__file){0};
}

/* Open target.PID-N.tmp with the permissions the old file has, or new files get. */
static ct_status open_temp(ct__file *file, const struct stat *old, ct_err *err)
{
    const size_t size = strlen(file->target) + 48;
    file->temp = malloc(size);
    if (!file->temp) return ct__no_memory(err, "file names", 1);
    int fd = -1;
    for (int i = 0; fd < 0 && i < TEMP_TRIES; i++) {
        snprintf(file->temp, size, "%s.%ld-%d.tmp", file->target, (long)getpid(), i);
        fd = open(file->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST) break;
    }
    if (fd < 0) return ct_fail(err, CT_E_IO, "%s: cannot create a file in this folder: %s", file->path, strerror(errno));
    if (old) (void)fchmod(fd, old->st_mode & 0777); /* a file system without modes is no obstacle */
    file->stream = fdopen(fd, "w");
    if (file->stream) return CT_OK;
    close(fd);
    unlink(file->temp);
    return ct__no_memory(err, "file buffers", 1);
}

static ct_status open_parts(ct__file *file, const char *path, ct_err *err)
{
    struct stat old;
    const int   exists = stat(path, &old) == 0;
    if (exists && S_ISDIR(old.st_mode)) return ct_fail(err, CT_E_IO, "%s: cannot be written: it is a folder", path);
    if (exists && access(path, W_OK) != 0) return ct_fail(err, CT_E_IO, "%s: cannot be written: %s", path, strerror(errno));
    file->path = ct__strdup(path);
    const int replaces = exists && S_ISREG(old.st_mode); /* through links, which stay */
    file->target = replaces ? realpath(path, NULL) : ct__strdup(path);
    if (!file->path || !file->target) return ct__no_memory(err, "file names", 2);
    if (!exists || S_ISREG(old.st_mode)) return open_temp(file, exists ? &old : NULL, err);

    file->stream = fopen(path, "w"); /* /dev/stdout, a pipe: nothing there to replace */
    if (!file->stream) return ct_fail(err, CT_E_IO, "%s: cannot be written: %s", path, strerror(errno));
    return CT_OK;
}

ct_status ct__file_begin(ct__file *file, const char *path, ct_err *err)
{
    *file = (ct__file){0};
    const ct_status status = open_parts(file, path, err);
    if (status != CT_OK) release(file);
    return status;
}

/* After a rename only the folder's own fsync makes the new name survive a power cut. Not every
 * file system can; the file itself is whole either way, so failure is not reported. */
static void sync_folder(char *target)
{
    const int fd = open(dirname(target), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    (void)fsync(fd);
    close(fd);
}

ct_status ct__file_commit(ct__file *file, ct_err *err)
{
    errno = 0;
    int failed = fflush(file->stream) != 0 || ferror(file->stream);
    if (!failed && file->temp) failed = fsync(fileno(file->stream)) != 0;
    int why = errno;
    if (fclose(file->stream) != 0 && !failed) failed = 1, why = errno;
    if (!failed && file->temp && rename(file->temp, file->target) != 0) failed = 1, why = errno;

    ct_status status = CT_OK;
    if (failed)
        status = ct_fail(err, CT_E_IO, "%s: could not be written: %s", file->path, why ? strerror(why) : "the disk may be full");
    if (failed && file->temp) unlink(file->temp);
    if (!failed && file->temp) sync_folder(file->target);
    release(file);
    return status;
}

void ct__file_abort(ct__file *file)
{
    if (file->stream) fclose(file->stream);
    if (file->temp) unlink(file->temp);
    release(file);
}

const char *ct__format_double(double value, char buf[32])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buf, 32, "%.*g", digits, value);
        if (strtod(buf, NULL) == value) break;
    }
    const char *point = localeconv()->decimal_point;
    char *found = strcmp(point, ".") ? strstr(buf, point) : NULL;
    if (found) {
        *found = '.';
        memmove(found + 1, found + strlen(point), strlen(found + strlen(point)) + 1);
    }
    return buf;
}
