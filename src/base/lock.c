/* lock.c: mutual exclusion of processes by flock. The lock is held through an open file and ends with the process, so a
 * file that a killed process left blocks nobody. It also excludes two handles in one process, unlike locks of fcntl.
 *
 * The holder removes the file. So between opening and locking, the file at the path may be replaced by another. After
 * locking the two are compared, and a lock on a removed file is discarded. */
#define _DEFAULT_SOURCE /* flock */
#define _XOPEN_SOURCE   700
#include "base/lock.h"
#include "base/base.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TRIES   1000 /* each fails only if a process released the lock in between */
#define ATTEMPTS 50   /* to read the holder's line, written right after locking */
#define LOOK_NS 1000000
#define LINE    400

static const char BEGINS[] = "covtune ";

static void host_name(char buf[128])
{
    if (gethostname(buf, 128)) strcpy(buf, "?");
    buf[127] = 0;
}

/* The content of the file, without its end of line. */
static size_t read_line(int file, char line[LINE])
{
    const ssize_t n = pread(file, line, LINE - 1, 0);
    line[n > 0 ? n : 0] = 0;
    line[strcspn(line, "\n")] = 0;
    return n > 0 ? (size_t)n : 0;
}

/* Was the line written by a process that is alive, as far as this machine can determine? */
static int is_current(const char *line)
{
    char        host[128], theirs[128] = "";
    long        pid = 0;
    const char *at = strstr(line, ", process ");
    host_name(host);
    if (!at || sscanf(at, ", process %ld on %127s", &pid, theirs) != 2) return 0;
    return strcmp(host, theirs) || kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

static ct_status busy(int file, const char *what, ct_err *err)
{
    char line[LINE] = "";
    for (int i = 0; i < ATTEMPTS; i++) { /* a line of a killed one is replaced as soon as the next has the lock */
        const struct timespec pause = {.tv_nsec = LOOK_NS};
        if (read_line(file, line) && is_current(line)) break;
        nanosleep(&pause, NULL);
    }
    return ct_fail(err, CT_E_BUSY, "%s: is in use by %s; wait until it ends, stop it, or choose another folder", what,
                   line[0] ? line : "another process");
}

/* Open for the lock, whatever is there: an empty file, or one of ours. */
static ct_status open_file(const char *path, int *file, ct_err *err)
{
    char        line[LINE];
    struct stat entry;
    *file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (*file < 0) return ct_fail(err, CT_E_IO, "%s: cannot be made: %s", path, strerror(errno));
    const int plain = fstat(*file, &entry) == 0 && S_ISREG(entry.st_mode);
    if (plain && (read_line(*file, line) == 0 || !strncmp(line, BEGINS, strlen(BEGINS)))) return CT_OK;
    close(*file);
    return ct_fail(err, CT_E_ARGUMENT,
                   "%s: has the name of a lock of covtune and is none; remove it, or choose another folder", path);
}

static int is_still(int file, const char *path)
{
    struct stat ours, theirs;
    return fstat(file, &ours) == 0 && lstat(path, &theirs) == 0 && ours.st_dev == theirs.st_dev &&
           ours.st_ino == theirs.st_ino;
}

static ct_status say_who(int file, const char *path, const char *who, ct_err *err)
{
    char host[128], line[LINE];
    host_name(host);
    const int n = snprintf(line, sizeof line, "%s, process %ld on %s\n", who, (long)getpid(), host);
    if (ftruncate(file, 0) == 0 && pwrite(file, line, (size_t)n, 0) == n) return CT_OK;
    return ct_fail(err, CT_E_IO, "%s: cannot be written: %s", path, strerror(errno));
}

/* 1: held. 0: failed, see *status. -1: the file was removed in between. */
static int try_once(const char *path, const char *what, const char *who, int *file, ct_status *status, ct_err *err)
{
    *status = open_file(path, file, err);
    if (*status != CT_OK) return 0;
    if (flock(*file, LOCK_EX | LOCK_NB) == 0) {
        if (is_still(*file, path)) {
            *status = say_who(*file, path, who, err);
            if (*status == CT_OK) return 1;
            unlink(path);
            close(*file);
            return 0;
        }
        close(*file);
        return -1;
    }
    const int why = errno;
    if (why == EWOULDBLOCK) *status = busy(*file, what, err);
    else
        *status = ct_fail(err, CT_E_IO, "%s: cannot be locked: %s; choose a folder on another file system", what,
                          strerror(why));
    close(*file);
    return why == EINTR ? -1 : 0;
}

ct_status ct__lock_take(const char *path, const char *what, const char *who, ct__lock *lock, ct_err *err)
{
    *lock = (ct__lock){0};
    char *copy = ct__strdup(path);
    if (!copy) return ct__no_memory(err, "file names", 1);
    ct_status status = CT_OK;
    int       file = -1, got = -1;
    for (int i = 0; got < 0 && i < TRIES; i++) got = try_once(path, what, who, &file, &status, err);
    if (got > 0) {
        *lock = (ct__lock){.path = copy, .file = file, .doomed = ct__doomed_add(path)};
        return CT_OK;
    }
    free(copy);
    return got == 0 ? status : ct_fail(err, CT_E_BUSY, "%s: is in use by other processes, one after the other", what);
}

void ct__lock_drop(ct__lock *lock)
{
    if (!lock->path) return;
    if (is_still(lock->file, lock->path))
        unlink(lock->path); /* while the lock is held, so no other process can hold this file */
    ct__doomed_drop(lock->doomed);
    close(lock->file);
    free(lock->path);
    *lock = (ct__lock){0};
}
