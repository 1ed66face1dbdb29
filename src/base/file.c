/* file.c: atomic replacement of files (write a temporary file, fsync, rename).
 *
 * A temporary file is called .covtune-<16 hexadecimal digits>.tmp. The length fits any target, and the name shows its
 * origin. It is created exclusively, so an existing file or link of that name is never opened. Its writer holds a lock
 * on it (flock), which ends with the process: a temporary file that can be locked belongs to a killed process. */
#define _DEFAULT_SOURCE /* flock */
#define _XOPEN_SOURCE 700
#include "base/file.h"
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TEMP_TRIES 100

/* ---- Names that are taken away when a signal ends the program -------------------------------- */

/* A handler may neither lock nor read what another thread frees: so names are copied to fixed places. A name that is
 * too long, or has no place left, stays behind as after a kill. */
#define PLACES     64
#define PLACE_SIZE 4096

enum { FREE, TAKEN, SET };
static struct {
    atomic_int state;
    char       path[PLACE_SIZE];
} place[PLACES];
static atomic_int ending;

int ct__doomed_add(const char *path)
{
    if (strlen(path) >= PLACE_SIZE) return -1;
    for (int i = 0; i < PLACES; i++) {
        int expected = FREE;
        if (!atomic_compare_exchange_strong(&place[i].state, &expected, TAKEN)) continue;
        strcpy(place[i].path, path);
        atomic_store(&place[i].state, SET);
        return i;
    }
    return -1;
}

void ct__doomed_drop(int i)
{
    if (i >= 0) atomic_store(&place[i].state, FREE);
}

void ct_file_drop_all(void)
{
    atomic_store(&ending, 1);
    for (int i = 0; i < PLACES; i++)
        if (atomic_load(&place[i].state) == SET) unlink(place[i].path);
}

/* ---- Temporary files ------------------------------------------------------------------------- */

void ct__fresh_name(int attempt, char buf[CT__FRESH_NAME])
{
    struct timespec now = {0};
    clock_gettime(CLOCK_REALTIME, &now);
    ct_rng rng = ct__rng_stream((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec, (uint64_t)getpid(),
                                (uint64_t)(uintptr_t)&now + (uint64_t)attempt);
    snprintf(buf, CT__FRESH_NAME, CT__OURS "%016llx", (unsigned long long)ct_rng_bits(&rng));
}

int ct__is_fresh_name(const char *name, const char *ending_wanted)
{
    const size_t n = strlen(CT__OURS);
    return !strncmp(name, CT__OURS, n) && strspn(name + n, "0123456789abcdef") == 16 &&
           !strcmp(name + n + 16, ending_wanted);
}

int ct__is_left_behind(const char *path)
{
    struct stat entry;
    if (lstat(path, &entry) || !S_ISREG(entry.st_mode)) return 0;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return 0;
    const int alone = flock(fd, LOCK_EX | LOCK_NB) == 0;
    close(fd);
    return alone;
}

static void release(ct__file *file)
{
    ct__doomed_drop(file->doomed - 1);
    free(file->path);
    free(file->target);
    free(file->temp);
    *file = (ct__file){0};
}

/* A new file in the target's folder; -1 and errno. */
static int create_temp(ct__file *file, size_t folder, size_t size)
{
    char name[CT__FRESH_NAME];
    int  fd = -1;
    for (int i = 0; fd < 0 && i < TEMP_TRIES; i++) {
        ct__fresh_name(i, name);
        snprintf(file->temp + folder, size - folder, "%s" CT__TEMP, name);
        file->doomed = ct__doomed_add(file->temp) + 1;
        fd = open(file->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd >= 0) break;
        const int why = errno;
        ct__doomed_drop(file->doomed - 1);
        file->doomed = 0;
        errno = why;
        if (why != EEXIST) break;
    }
    if (fd >= 0) (void)flock(fd, LOCK_EX | LOCK_NB); /* file systems without locks are accepted */
    if (fd >= 0 && atomic_load(&ending)) unlink(file->temp);
    return fd;
}

/* Open a temporary file with the permissions the old file has, or new files get. */
static ct_status open_temp(ct__file *file, const struct stat *old, ct_err *err)
{
    const char  *slash = strrchr(file->target, '/');
    const size_t folder = slash ? (size_t)(slash - file->target) + 1 : 0,
                 size = folder + CT__FRESH_NAME + sizeof CT__TEMP;
    file->temp = malloc(size);
    if (!file->temp) return ct__no_memory(err, "file names", 1);
    memcpy(file->temp, file->target, folder);
    const int fd = create_temp(file, folder, size);
    if (fd < 0)
        return ct_fail(err, CT_E_IO, "%s: cannot create a file in this folder: %s", file->path, strerror(errno));
    if (old) (void)fchmod(fd, old->st_mode & 0777); /* file systems without modes are accepted */
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
    if (exists && access(path, W_OK) != 0)
        return ct_fail(err, CT_E_IO, "%s: cannot be written: %s", path, strerror(errno));
    file->path = ct__strdup(path);
    const int replaces = exists && S_ISREG(old.st_mode); /* through links, which stay */
    file->target = replaces ? realpath(path, NULL) : ct__strdup(path);
    if (!file->path || !file->target) return ct__no_memory(err, "file names", 2);
    if (!exists || S_ISREG(old.st_mode)) return open_temp(file, exists ? &old : NULL, err);

    file->stream = fopen(path, "w"); /* /dev/stdout, a pipe: written directly */
    if (!file->stream) return ct_fail(err, ct__io_status(), "%s: cannot be written: %s", path, strerror(errno));
    return CT_OK;
}

ct_status ct__file_begin(ct__file *file, const char *path, ct_err *err)
{
    *file = (ct__file){0};
    const ct_status status = open_parts(file, path, err);
    if (status != CT_OK) release(file);
    return status;
}

void ct__sync_folder(const char *folder)
{
    const int fd = open(folder, O_RDONLY | O_CLOEXEC);
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
        status = ct_fail(err, CT_E_IO, "%s: could not be written: %s", file->path,
                         why ? strerror(why) : "the disk may be full");
    if (failed && file->temp) unlink(file->temp);
    if (!failed && file->temp) ct__sync_folder(dirname(file->target));
    release(file);
    return status;
}

void ct__file_abort(ct__file *file)
{
    if (file->stream) fclose(file->stream);
    if (file->temp) unlink(file->temp);
    release(file);
}

ct_status ct_file_replace(const char *path, const void *bytes, size_t size, ct_err *err)
{
    ct__file file;
    CT_TRY(ct__file_begin(&file, path, err));
    if (size) fwrite(bytes, 1, size, file.stream); /* commit checks for errors */
    return ct__file_commit(&file, err);
}
