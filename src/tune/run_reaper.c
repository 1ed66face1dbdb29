/* run_reaper.c: the process above a supervisor. Should the supervisor be killed, what it started becomes children of
 * this one, a subreaper, too, which ends them. It also ends them when its parent ends, while the supervisor is stopped,
 * too. A supervisor that is stopped would hold no limit: it is continued. This process does nothing else, and holds no
 * descriptors: nothing that is full, closed or slow keeps it.
 *
 * As in the supervisor, here is no allocation, no stream and no lock: the parent may have threads. */
#define _GNU_SOURCE
#include "tune/run.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#define IDLE_S  5         /* between looks at the parent, should its end have sent no signal       */
#define STOP_NS 200000000 /* before a stopped supervisor goes on: who stops all stops this one, too */

/* Without handlers of the host program, which ran before the first fork. */
static pid_t fork_again(void)
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34)
    return _Fork();
#else
    return fork();
#endif
}

static void continue_later(pid_t supervisor)
{
    const struct timespec pause = {0, STOP_NS};
    (void)nanosleep(&pause, NULL);
    kill(supervisor, SIGCONT);
}

/* Takes up what has ended or stopped; has the supervisor ended? */
static int supervisor_has_ended(pid_t supervisor)
{
    int   ended = 0, status = 0;
    pid_t got;
    while ((got = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0 || (got < 0 && errno == EINTR)) {
        if (got != supervisor) continue;
        if (WIFSTOPPED(status)) continue_later(supervisor);
        else ended = 1;
    }
    return ended;
}

/* Until the supervisor or the parent ends, or the parent asks. Of others a SIGTERM is nothing. */
static void watch(pid_t supervisor, pid_t parent)
{
    const struct timespec idle = {IDLE_S, 0};
    sigset_t              wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGCHLD);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGCONT);
    while (getppid() == parent && !supervisor_has_ended(supervisor)) {
        siginfo_t info = {0};
        if (sigtimedwait(&wanted, &info, &idle) == SIGTERM && info.si_pid == parent) return;
    }
}

void ct__reap(int socket, int in, int out, pid_t parent)
{
    const pid_t me = getpid();
    for (int number = 1; number < 65; number++) signal(number, SIG_DFL); /* they are blocked: ct__child_open */
    setsid();                                                           /* Ctrl-C does not reach it          */
#ifdef __linux__
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_PDEATHSIG, SIGCONT); /* a look at the parent, which may have lost a thread only; if stopped, too */
#endif
    ct__rename_process("reaper-of-runs"); /* `pkill` by the supervisor's name is not for it */
    const pid_t supervisor = fork_again();
    if (supervisor == 0) ct__supervise(socket, in, out, me);
    const int why = errno;
    if (supervisor < 0) (void)ct__send_all(socket, &why, sizeof why);
    ct__close_others(-1, -1, -1);
    if (supervisor > 0) watch(supervisor, parent);
    ct__kill_descendants();
    _exit(0);
}
