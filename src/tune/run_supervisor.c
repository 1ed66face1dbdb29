/* run_supervisor.c: the process that starts programs, watches them, and kills what they leave.
 *
 * It is forked from a program that may have threads: here is no allocation, no stream and no lock. Memory for output is
 * mapped. SIGCHLD is blocked but for ppoll, which it interrupts: an end of the program is never missed. Programs are
 * started by vfork: the time does not depend on the size of the host program. */
#define _GNU_SOURCE
#include "tune/run.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#define MEMORY_POLL_S 0.02 /* a program that fills 2 GB/s is 40 MB beyond its limit when it is stopped */
#define IDLE_S        5.0  /* between looks at the parent, should the socket have been copied elsewhere */
#define LIMIT_POLL_S  1.0  /* between looks at the clock where there is a time limit: see wait_is_over */
#define SUSPENDED_S   0.5  /* beyond the end of a wait: longer than a busy machine makes one wait */

int ct__send_all(int socket, const void *bytes, size_t size)
{
    for (const char *at = bytes; size;) {
        const ssize_t n = send(socket, at, size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return 0;
        at += n;
        size -= (size_t)n;
    }
    return 1;
}

int ct__receive_all(int socket, void *bytes, size_t size)
{
    for (char *at = bytes; size;) {
        const ssize_t n = recv(socket, at, size, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return 0;
        at += n;
        size -= (size_t)n;
    }
    return 1;
}

/* ---- What a program writes -------------------------------------------------------------------- */

/* The first quarter of `room` bytes stays; the rest is a ring. */
typedef struct {
    int     fd;
    char   *bytes;
    int64_t room, total;
} stream;

static void keep(stream *s, const char *from, int64_t n)
{
    const int64_t head = s->room / 4, ring = s->room - head;
    if (n > s->room) { /* only its end can stay */
        const int64_t first = CT_MAX(0, CT_MIN(n, head - s->total));
        memcpy(s->bytes + s->total, from, (size_t)first);
        s->total += first;
        const int64_t skip = CT_MAX(0, n - first - ring);
        s->total += skip;
        from += first + skip;
        n -= first + skip;
    }
    while (n > 0) {
        const int64_t at = s->total < head ? s->total : head + (s->total - head) % ring,
                      end = s->total < head ? head : s->room, part = CT_MIN(n, end - at);
        memcpy(s->bytes + at, from, (size_t)part);
        s->total += part;
        from += part;
        n -= part;
    }
}

/* Read what is there, at most a megabyte: the other stream and the limits wait. */
static void drain(stream *s, int64_t most)
{
    char buf[65536];
    for (int64_t got = 0; s->fd >= 0 && got < most;) {
        const ssize_t n = read(s->fd, buf, sizeof buf);
        if (n > 0) {
            keep(s, buf, n);
            got += n;
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            close(s->fd);
            s->fd = -1;
        } else if (errno == EAGAIN) return;
    }
}

static int send_stream(int socket, const stream *s)
{
    const int64_t head = s->room / 4, ring = s->room - head;
    if (s->total <= s->room) return ct__send_all(socket, s->bytes, (size_t)s->total);
    const int64_t at = (s->total - head) % ring; /* the oldest byte of the ring */
    return ct__send_all(socket, s->bytes, (size_t)head) &&
           ct__send_all(socket, s->bytes + head + at, (size_t)(ring - at)) &&
           ct__send_all(socket, s->bytes + head, (size_t)at);
}

/* ---- A program -------------------------------------------------------------------------------- */

typedef struct {
    int               socket, in, out; /* in, out: of a server's program, or -1 */
    pid_t             parent;
    ct__start_message start;
    char             *text; /* mapped */
    size_t            text_room;
    char            **vector; /* mapped: arguments, NULL, environment, NULL */
    size_t            vector_room;
    stream            stdout_kept, stderr_kept;
    pid_t             program;
    int               status;
    double            began, stop_at; /* stop_at: of SIGTERM at the time limit; 0: not yet */
    ct__end_message   end;
} supervisor;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Room for `need` bytes at *at. */
static int map(void **at, size_t *room, size_t need)
{
    if (need <= *room) return 1;
    if (*at) munmap(*at, *room);
    *at = mmap(NULL, need, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *room = *at == MAP_FAILED ? 0 : need;
    if (*at == MAP_FAILED) *at = NULL;
    return *at != NULL;
}

static int prepare_stream(stream *s, int64_t room)
{
    size_t have = (size_t)s->room;
    if (have != (size_t)room && s->bytes) {
        munmap(s->bytes, have);
        s->bytes = NULL;
        have = 0;
    }
    void     *bytes = s->bytes;
    const int ok = map(&bytes, &have, (size_t)room);
    *s = (stream){.fd = -1, .bytes = bytes, .room = (int64_t)have};
    return ok;
}

/* The texts of the start message as vectors for execve. */
static int prepare(supervisor *s)
{
    const size_t count = (size_t)s->start.arguments + (size_t)s->start.environments + 2;
    void        *vector = s->vector;
    const int    ok = map(&vector, &s->vector_room, count * sizeof *s->vector);
    s->vector = vector;
    if (!ok || !prepare_stream(&s->stdout_kept, s->start.keep_out)) return 0;
    if (!prepare_stream(&s->stderr_kept, s->start.keep_err)) return 0;
    char  *at = s->text;
    char **into = s->vector;
    at += strlen(at) + 1; /* the folder  */
    at += strlen(at) + 1; /* the program */
    for (int32_t i = 0; i < s->start.arguments + s->start.environments; i++, at += strlen(at) + 1) {
        if (i == s->start.arguments) *into++ = NULL;
        *into++ = at;
    }
    if (!s->start.environments) *into++ = NULL;
    *into = NULL;
    return 1;
}

/* In the child of vfork, which shares memory with the supervisor until it executes the program. Returns what failed. */
static int execute(const supervisor *s, const int stdio[3])
{
    static const struct rlimit no_core = {0};
    sigset_t                   none;
    const pid_t                above = getppid();
    setpgid(0, 0);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != above) _exit(127);
    const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (score >= 0) { /* when memory runs out, it is the estimator that ends */
        (void)!write(score, "1000", 4);
        close(score);
    }
#else
    (void)above;
#endif
    for (int i = 0; i < 3; i++)
        if (dup2(stdio[i], i) < 0) return CT__STEP_PROCESS;
    setrlimit(RLIMIT_CORE, &no_core);
    if (s->start.niceness) setpriority(PRIO_PROCESS, 0, s->start.niceness);
    if (chdir(s->text)) return CT__STEP_FOLDER;
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(s->text + strlen(s->text) + 1, s->vector, s->vector + s->start.arguments + 1);
    return CT__STEP_EXECUTE;
}

static void close_pair(int pair[2])
{
    for (int i = 0; i < 2; i++)
        if (pair[i] >= 0) close(pair[i]);
}

/* The program in a process of its own. 0: end.step and end.code say why not; they come through a pipe that executing
 * closes, so that it does not matter whether memory is shared. */
static int launch(supervisor *s, const int stdio[3])
{
    int word[2] = {CT__STEP_PROCESS, 0}, failure[2];
    if (pipe2(failure, O_CLOEXEC)) {
        s->end.code = errno;
        return 0;
    }
    s->program = vfork();
    if (s->program == 0) {
        const int said[2] = {execute(s, stdio), errno};
        (void)!write(failure[1], said, sizeof said);
        _exit(127);
    }
    if (s->program < 0) word[1] = errno;
    close(failure[1]);
    ssize_t n = 0;
    while (s->program > 0 && (n = read(failure[0], word, sizeof word)) < 0 && errno == EINTR) {}
    close(failure[0]);
    if (s->program > 0 && n != sizeof word) {
        s->end.step = 0;
        return 1;
    }
    if (s->program > 0) (void)waitpid(s->program, NULL, 0);
    s->end.step = word[0];
    s->end.code = word[1];
    return 0;
}

/* Start the program. On failure end.code is errno. */
static int start(supervisor *s)
{
    int       out[2] = {-1, -1}, err[2] = {-1, -1};
    const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    s->end = (ct__end_message){.step = CT__STEP_PROCESS};
    if (null < 0 || pipe2(err, O_CLOEXEC) || (s->out < 0 && pipe2(out, O_CLOEXEC)) || !prepare(s)) {
        s->end.code = errno;
        close(null);
        close_pair(out);
        close_pair(err);
        return 0;
    }
    const int stdio[3] = {s->in >= 0 ? s->in : null, s->out >= 0 ? s->out : out[1], err[1]};
    s->began = now();
    s->stop_at = 0;
    const int started = launch(s, stdio);
    close(null);
    if (s->in >= 0) close(s->in);
    if (s->out >= 0) close(s->out);
    s->in = s->out = -1;
    if (out[1] >= 0) close(out[1]);
    close(err[1]);
    s->stdout_kept.fd = out[0];
    s->stderr_kept.fd = err[0];
    if (out[0] >= 0) fcntl(out[0], F_SETFL, O_NONBLOCK);
    fcntl(err[0], F_SETFL, O_NONBLOCK);
    return started;
}

/* ---- Watching --------------------------------------------------------------------------------- */

static void parent_is_gone(void)
{
    ct__kill_descendants();
    _exit(0);
}

/* Has the program ended? It is not reaped: its number still is that of its group. */
static int has_ended(const supervisor *s)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)s->program, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid == s->program;
}

/* Kills the program, its group, and all other descendants. */
static void end_all(supervisor *s)
{
    struct rusage usage = {0};
    kill(-s->program, SIGKILL); /* all at once: those that fork have no time to */
    kill(s->program, SIGKILL);  /* should it have left its group                */
    while (wait4(s->program, &s->status, 0, &usage) < 0 && errno == EINTR) {}
    s->end.peak = CT_MAX(s->end.peak, (int64_t)usage.ru_maxrss * 1024);
    ct__kill_descendants();
}

/* Ends the program at a limit or on request; returns 1 once it must not go on. */
static int enforce(supervisor *s)
{
    const double t = now();
    if (s->start.memory_limit > 0) {
        const int64_t bytes = ct__resident_below();
        s->end.peak = CT_MAX(s->end.peak, bytes);
        if (bytes > s->start.memory_limit) {
            s->end.end = CT__CHILD_MEMORY;
            return 1;
        }
    }
    if (s->start.time_limit_s > 0 && !(s->stop_at > 0) && t > s->began + s->start.time_limit_s) {
        s->end.end = CT__CHILD_TIME;
        s->stop_at = t;
        kill(-s->program, SIGTERM);
    }
    return s->stop_at > 0 && t > s->stop_at + CT__GRACE_S;
}

static double wait_s(const supervisor *s)
{
    double until = IDLE_S;
    if (s->stop_at > 0) until = s->stop_at + CT__GRACE_S - now();
    else if (s->start.time_limit_s > 0)
        until = CT_MIN(LIMIT_POLL_S, s->began + s->start.time_limit_s - now());
    if (s->start.memory_limit > 0) until = CT_MIN(until, MEMORY_POLL_S);
    return CT_MAX(until, 0) + 1e-4;
}

/* A wait of this process ended much later than it should: it was suspended, as batch systems do with all processes of a
 * job, and so was the program. That time is not the program's. */
static void wait_is_over(supervisor *s, double until)
{
    const double late = now() - until;
    if (late < SUSPENDED_S) return;
    s->began += late;
    if (s->stop_at > 0) s->stop_at += late;
}

/* Wait for output, a message, an end or a limit. 1: the program must be stopped. */
static int watch_once(supervisor *s, const sigset_t *open_mask)
{
    const double          seconds = wait_s(s);
    const struct timespec timeout = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
    struct pollfd         fd[3] = {
        {s->socket, POLLIN, 0}, {s->stdout_kept.fd, POLLIN, 0}, {s->stderr_kept.fd, POLLIN, 0}};
    ct__start_message     message;
    const double          until = now() + seconds;
    const int             n = ppoll(fd, 3, &timeout, open_mask);
    wait_is_over(s, until);
    if (getppid() != s->parent) parent_is_gone();
    if (n > 0 && fd[1].revents) drain(&s->stdout_kept, 1 << 20);
    if (n > 0 && fd[2].revents) drain(&s->stderr_kept, 1 << 20);
    if (n <= 0 || !fd[0].revents) return 0;
    if (!ct__receive_all(s->socket, &message, sizeof message)) parent_is_gone();
    s->end.end = CT__CHILD_STOPPED; /* the only message while a program runs */
    return 1;
}

static void run(supervisor *s, const sigset_t *open_mask)
{
    int started = start(s), ended = !started;
    if (!started) s->end.end = CT__CHILD_NOT_STARTED;
    while (!ended && !(ended = has_ended(s))) {
        if (watch_once(s, open_mask) || enforce(s)) break;
    }
    if (started) end_all(s);
    drain(&s->stdout_kept, INT64_MAX);
    drain(&s->stderr_kept, INT64_MAX);
    if (s->stdout_kept.fd >= 0) close(s->stdout_kept.fd);
    if (s->stderr_kept.fd >= 0) close(s->stderr_kept.fd);
    if (started) s->end.code = WIFSIGNALED(s->status) ? -WTERMSIG(s->status) : WEXITSTATUS(s->status);
    s->end.seconds = started ? now() - s->began : 0;
}

static int report(supervisor *s)
{
    const stream *const out = &s->stdout_kept, *const err = &s->stderr_kept;
    s->end.out_head = CT_MIN(out->total, out->room / 4);
    s->end.out_kept = CT_MIN(out->total, out->room);
    s->end.out_total = out->total;
    s->end.err_head = CT_MIN(err->total, err->room / 4);
    s->end.err_kept = CT_MIN(err->total, err->room);
    s->end.err_total = err->total;
    return ct__send_all(s->socket, &s->end, sizeof s->end) && send_stream(s->socket, out) &&
           send_stream(s->socket, err);
}

/* ---- Life ------------------------------------------------------------------------------------- */

static void on_signal(int number) { (void)number; }

/* Wait for a message while nothing runs; SIGCONT, which the parent's end sends, interrupts it. */
static void await(const supervisor *s, const sigset_t *open_mask)
{
    struct pollfd         fd = {s->socket, POLLIN, 0};
    const struct timespec timeout = {(time_t)IDLE_S, 0};
    while (ppoll(&fd, 1, &timeout, open_mask) <= 0)
        if (getppid() != s->parent) _exit(0);
}

/* Descriptors of the host program: its locks and pipes end with it alone. */
void ct__close_others(int a, int b, int c)
{
    const long most = sysconf(_SC_OPEN_MAX);
    int        low = 0, keep[3] = {a, b, c};
    for (int i = 0; i < 3; i++) /* in rising order */
        for (int k = i + 1; k < 3; k++)
            if (keep[k] < keep[i]) {
                const int swap = keep[i];
                keep[i] = keep[k];
                keep[k] = swap;
            }
    for (int i = 0; i < 4; i++) {
        const int end = i < 3 ? keep[i] : -1;
        if (i < 3 && end < 0) continue;
#if defined(__linux__) && defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
        const unsigned last = end < 0 ? ~0u : (unsigned)end - 1u;
        if (end != low && close_range((unsigned)low, last, 0) == 0) {
            low = end + 1;
            continue;
        }
#endif
        for (int fd = low; fd < (end < 0 ? CT_MIN(most, 65536) : end); fd++) close(fd);
        low = end + 1;
    }
}

void ct__supervise(int socket, int in, int out, pid_t parent)
{
    supervisor             s = {.socket = socket, .in = in, .out = out, .parent = parent};
    const struct sigaction action = {.sa_handler = on_signal};
    sigset_t               open_mask, blocked;
    for (int number = 1; number < 65; number++) signal(number, SIG_DFL);
    setsid(); /* Ctrl-C and the end of the terminal do not reach it */
    signal(SIGPIPE, SIG_IGN);
    sigaction(SIGCHLD, &action, NULL);
    sigaction(SIGCONT, &action, NULL);
    sigfillset(&blocked); /* its parent decides when it ends: one that is told to end leaves the program behind */
    for (int i = 0; i < 5; i++) sigdelset(&blocked, (const int[]){SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}[i]);
    open_mask = blocked;
    sigdelset(&open_mask, SIGCHLD);
    sigdelset(&open_mask, SIGCONT);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
#ifdef __linux__
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_PDEATHSIG, SIGCONT); /* a look at the parent, which may have lost a thread only; if stopped, too */
#endif
    ct__rename_process("runs-of-tune"); /* `pkill -f covtune` is for its parent; this one ends what the parent leaves */
    ct__close_others(socket, in, out);
    for (int fd = 0; fd >= 0 && fd < 2;) fd = open("/dev/null", O_RDWR); /* no pipe may come to be 0, 1 or 2 */
    if (getppid() != parent || !ct__send_all(socket, &(int){0}, sizeof(int))) _exit(0);
    for (;;) {
        await(&s, &open_mask);
        if (!ct__receive_all(socket, &s.start, sizeof s.start)) _exit(0);
        if (!s.start.size) continue; /* a stop that came after the end */
        void     *text = s.text;
        const int ok = map(&text, &s.text_room, s.start.size);
        s.text = text;
        if (!ok || !ct__receive_all(socket, s.text, s.start.size)) _exit(1);
        run(&s, &open_mask);
        if (!report(&s)) _exit(0);
    }
}
