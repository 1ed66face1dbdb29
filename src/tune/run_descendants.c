/* run_descendants.c: the processes below one, as /proc shows them.
 *
 * A supervisor is a subreaper: when a process dies, its children become children of the supervisor. So killing direct
 * children again and again kills a tree of any depth, also processes that left the group or session. Where /proc has
 * no lists of children (other systems, kernels built without them) all processes are searched by their parent.
 *
 * No function here allocates, but for opendir: the supervisor is forked from a program that may have threads.
 *
 * When both subreapers of a run were killed, what it left has another parent. It is known by its environment then. */
#define _GNU_SOURCE
#include "tune/run.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#define TREE   4096  /* processes of one run that are counted                                              */
#define MARKED_PASSES 100 /* of all processes: those that fork are found again        */
#define PASSES 20000 /* a process that forks and ends all the time is missed by some: it is caught by chance */

/* The file's beginning as text; its length, or -1. */
static ssize_t read_some(const char *path, char *buf, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    size_t used = 0;
    for (ssize_t n = 1; n > 0 && used + 1 < size; used += n > 0 ? (size_t)n : 0)
        n = read(fd, buf + used, size - 1 - used);
    close(fd);
    buf[used] = 0;
    return (ssize_t)used;
}

int ct__add_numbers(const char *text, pid_t list[], int count, int room)
{
    for (const char *at = text; count < room;) {
        char      *end;
        const long pid = strtol(at, &end, 10);
        if (end == at || !*end) break;
        if (pid > 0) list[count++] = (pid_t)pid;
        at = end;
    }
    return count;
}

/* Processes whose parent is `parent`, by a search of all. "PID (name) S PPID": the name may hold anything. */
static int search_children(pid_t parent, pid_t list[], int count, int room)
{
    DIR *all = opendir("/proc");
    if (!all) return count;
    for (const struct dirent *entry; count < room && (entry = readdir(all));) {
        char        path[64], text[1024];
        const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid <= 0) continue;
        snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
        if (read_some(path, text, sizeof text) <= 0) continue;
        const char *name_end = strrchr(text, ')');
        if (name_end && name_end[1] && strtol(name_end + 3, NULL, 10) == parent) list[count++] = pid;
    }
    closedir(all);
    return count;
}

/* Children of a process, of all its threads, appended to list. */
static int add_children(pid_t parent, pid_t list[], int count, int room)
{
    char path[96], text[8192];
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)parent, (long)parent);
    if (access(path, R_OK)) return search_children(parent, list, count, room);
    snprintf(path, sizeof path, "/proc/%ld/task", (long)parent);
    DIR *threads = opendir(path);
    if (!threads) return count;
    for (const struct dirent *entry; count < room && (entry = readdir(threads));) {
        const long thread = strtol(entry->d_name, NULL, 10);
        if (thread <= 0) continue;
        snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)parent, thread);
        if (read_some(path, text, sizeof text) > 0) count = ct__add_numbers(text, list, count, room);
    }
    closedir(threads);
    return count;
}

void ct__rename_process(const char *name)
{
#ifdef __linux__
    enum { ARG_START = 46 }; /* of the numbers after the state; then ARG_END */
    char               text[2048];
    unsigned long      begin = 0, end = 0;
    const char        *at = read_some("/proc/self/stat", text, sizeof text) > 0 ? strrchr(text, ')') : NULL;
    prctl(PR_SET_NAME, name);
    for (int i = 0; at && i < ARG_START; i++) at = strchr(at + 1, ' ');
    if (!at || sscanf(at, "%lu %lu", &begin, &end) != 2 || begin == 0 || end <= begin) return;
    memset((char *)begin, 0, end - begin);
    memcpy((char *)begin, name, CT_MIN(strlen(name), (size_t)(end - begin - 1)));
#else
    (void)name;
#endif
}

static int64_t resident(pid_t pid)
{
    char      path[64], text[256];
    long long size = 0, pages = 0;
    snprintf(path, sizeof path, "/proc/%ld/statm", (long)pid);
    if (read_some(path, text, sizeof text) <= 0 || sscanf(text, "%lld %lld", &size, &pages) != 2) return 0;
    return (int64_t)pages * sysconf(_SC_PAGESIZE);
}

int64_t ct__resident_below(void)
{
    pid_t   tree[TREE];
    int     count = add_children(getpid(), tree, 0, TREE); /* also those that the program left: see above */
    int64_t sum = 0;
    for (int i = 0; i < count; i++) {
        sum += resident(tree[i]);
        count = add_children(tree[i], tree, count, TREE);
    }
    return sum;
}

/* Has the file this text at the beginning of one of its strings? They end with 0. */
static int has_string(const char *path, const char *wanted)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    char      buf[4096];
    size_t    same = 0; /* bytes of the string that agree; SIZE_MAX: it differs */
    ssize_t   n = 0;
    while (fd >= 0 && wanted[same == SIZE_MAX ? 0 : same] && (n = read(fd, buf, sizeof buf)) > 0)
        for (ssize_t i = 0; i < n && (same == SIZE_MAX || wanted[same]); i++) {
            if (!buf[i]) same = 0;
            else if (same != SIZE_MAX) same = buf[i] == wanted[same] ? same + 1 : SIZE_MAX;
        }
    if (fd >= 0) close(fd);
    return same != SIZE_MAX && !wanted[same];
}

/* One look at all processes; how many were killed. */
static int kill_marked_once(const char *wanted)
{
    DIR *all = opendir("/proc");
    int  killed = 0;
    for (const struct dirent *entry; all && (entry = readdir(all));) {
        char        path[64];
        const pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid <= 0 || pid == getpid()) continue;
        snprintf(path, sizeof path, "/proc/%ld/environ", (long)pid);
        if (has_string(path, wanted)) killed += kill(pid, SIGKILL) == 0;
    }
    if (all) closedir(all);
    return killed;
}

void ct__kill_marked(const char *beginning)
{
    char      wanted[4200];
    const int n = snprintf(wanted, sizeof wanted, CT__MARK "=%s", beginning);
    if (n <= 0 || (size_t)n >= sizeof wanted) return;
    for (int pass = 0; pass < MARKED_PASSES && kill_marked_once(wanted); pass++) (void)usleep(1000);
}

/* Reap what has ended. 0: there are no children left. */
static int reap(int options)
{
    pid_t got;
    do got = waitpid(-1, NULL, options);
    while (got > 0 || (got < 0 && errno == EINTR));
    return got == 0;
}

void ct__kill_descendants(void)
{
    pid_t list[TREE];
    for (int pass = 0; pass < PASSES && reap(WNOHANG); pass++) {
        const int count = add_children(getpid(), list, 0, TREE);
        int       killed = 0, denied = 0;
        for (int i = 0; i < count; i++) {
            const int gone = kill(list[i], SIGKILL) == 0;
            killed += gone;
            denied += !gone && errno == EPERM;
        }
        if (count && denied == count) return; /* of another user: setuid */
        if (killed) (void)waitpid(-1, NULL, 0);
    }
}
