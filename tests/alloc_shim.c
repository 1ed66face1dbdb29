/* alloc_shim.c: memory that runs out when told to, for a program that is not built for it. Preloaded (LD_PRELOAD),
 * it stands between the program with all its libraries and the C library's memory; what the C library itself asks
 * for (strdup, streams, folders) comes here as well.
 *
 *   ALLOC_FAIL=K     call K for memory is refused, counted from 0      ALLOC_ONWARDS=1  and all after it
 *   ALLOC_LOG=FILE   at the end a number a call for memory: the stack that it came from, hashed
 *   ALLOC_SHOW=1     the stack of call K on stderr
 *   ALLOC_KEEP=DIR   every file that is put in place by renaming is copied there first: what a file may be in between
 *
 * So that two runs print the same bytes, time is counted in looks at the clock, a millisecond each, and there is one
 * processor: calls for memory of several threads would have no order. Nothing waits for the disk. For glibc, and not
 * together with a sanitizer, which has a malloc of its own. */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#define FRAMES    32        /* of a stack that tell it from others; deeper ones are the same    */
#define CALLS_MAX (1 << 23) /* that are remembered: 64 MB of addresses, of which few are touched */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static long        fail = -1, calls;
static int         onwards, show, begun;
static const char *log_path, *keep_path;
static uint64_t    stack[CALLS_MAX];

__attribute__((constructor)) static void begin(void)
{
    const char *k = getenv("ALLOC_FAIL"), *on = getenv("ALLOC_ONWARDS"), *look = getenv("ALLOC_SHOW");
    fail = k ? atol(k) : -1;
    onwards = on && *on == '1';
    show = look && *look == '1';
    log_path = getenv("ALLOC_LOG");
    keep_path = getenv("ALLOC_KEEP");
    begun = 1;
}

__attribute__((destructor)) static void end(void)
{
    const long   n = calls < CALLS_MAX ? calls : CALLS_MAX;
    const size_t size = (size_t)n * sizeof *stack;
    begun = 0;
    const int file = log_path ? open(log_path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (file < 0) return;
    for (size_t done = 0; done < size;) {
        const ssize_t wrote = write(file, (const char *)stack + done, size - done);
        if (wrote <= 0) _exit(99);
        done += (size_t)wrote;
    }
    close(file);
}

typedef struct {
    uint64_t hash;
    int      left;
} walk;

static _Unwind_Reason_Code add_frame(struct _Unwind_Context *context, void *user)
{
    walk *w = user;
    w->hash = (w->hash ^ (uint64_t)_Unwind_GetIP(context)) * 0x100000001b3u; /* FNV-1a, a word at a time */
    w->hash ^= w->hash >> 29;
    return --w->left ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static void show_stack(void)
{
    void     *frame[FRAMES];
    const int n = backtrace(frame, FRAMES);
    backtrace_symbols_fd(frame, n, 2);
}

static int refuse(void)
{
    if (!begun) return 0;
    const long k = calls++;
    if (log_path && k < CALLS_MAX) {
        walk w = {0xcbf29ce484222325u, FRAMES};
        _Unwind_Backtrace(add_frame, &w);
        stack[k] = w.hash;
    }
    if (fail < 0 || k < fail || (k > fail && !onwards)) return 0;
    if (show && k == fail) {
        begun = 0;
        show_stack();
        begun = 1;
    }
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return refuse() ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return refuse() ? NULL : __libc_calloc(count, size); }
/* to nothing: freed */
void *realloc(void *old, size_t size) { return size && refuse() ? NULL : __libc_realloc(old, size); }
void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size) { return refuse() ? NULL : __libc_memalign(alignment, size); }
void *aligned_alloc(size_t alignment, size_t size) { return refuse() ? NULL : __libc_memalign(alignment, size); }

int posix_memalign(void **p, size_t alignment, size_t size)
{
    void *found = refuse() ? NULL : __libc_memalign(alignment, size);
    if (!found) return ENOMEM;
    *p = found;
    return 0;
}

static void keep(const char *path)
{
    static int kept;
    char       to[512], part[4096];
    ssize_t    n = 0;
    snprintf(to, sizeof to, "%s/%d", keep_path, kept++);
    const int in = open(path, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    while (in >= 0 && out >= 0 && (n = read(in, part, sizeof part)) > 0)
        if (write(out, part, (size_t)n) != n) _exit(99);
    close(in);
    close(out);
}

int rename(const char *old, const char *new)
{
    if (keep_path) keep(old);
    return renameat(AT_FDCWD, old, AT_FDCWD, new);
}

int fsync(int file)
{
    (void)file;
    return 0;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static long looks;
    (void)clock;
    looks++;
    *now = (struct timespec){.tv_sec = 1000 + looks / 1000, .tv_nsec = looks % 1000 * 1000000};
    return 0;
}

/* The rest of what sysconf knows is not asked for here. */
long sysconf(int name)
{
    if (name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF) return 1;
    return name == _SC_PAGESIZE ? 4096 : -1;
}
