/* kill_at.c: kill_at N SIGNAL COMMAND...: runs a command and sends it a signal just before its N-th system call that
 * makes, writes, renames, locks or removes something in the file system, or closes a file. SIGNAL is a number; 9 leaves
 * it no chance. N = 0: it runs to its end, and the number of such calls is printed on stderr.
 *
 * Exit code: the command's, 128 + the signal that ended it, 125 if it cannot be traced here. Linux. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_HERE 125

/* Calls that change what a later process finds, or end a step of it. */
static int changes(const struct __ptrace_syscall_info *info)
{
    static const long CALLS[] = {
        SYS_write,    SYS_pwrite64, SYS_writev,    SYS_fsync,    SYS_fdatasync, SYS_ftruncate, SYS_fchmod,
        SYS_flock,    SYS_close,    SYS_renameat2, SYS_unlinkat, SYS_mkdirat,   SYS_linkat,
#ifdef SYS_rename
        SYS_rename,   SYS_unlink,   SYS_mkdir,     SYS_rmdir,    SYS_link,
#endif
#ifdef SYS_renameat
        SYS_renameat,
#endif
    };
    const long nr = (long)info->entry.nr;
    if (nr == SYS_openat) return (info->entry.args[2] & (O_CREAT | O_WRONLY | O_RDWR)) != 0;
#ifdef SYS_open
    if (nr == SYS_open) return (info->entry.args[1] & (O_CREAT | O_WRONLY | O_RDWR)) != 0;
#endif
    for (size_t i = 0; i < sizeof CALLS / sizeof *CALLS; i++)
        if (nr == CALLS[i]) return 1;
    return 0;
}

static int run(char **argv)
{
    if (ptrace(PTRACE_TRACEME, 0, 0, 0)) return NOT_HERE;
    raise(SIGSTOP);
    execvp(argv[0], argv);
    fprintf(stderr, "kill_at: %s: %s\n", argv[0], strerror(errno));
    return 127;
}

/* Is the stop one at the entry of such a call? */
static int is_entry(pid_t thread)
{
    struct __ptrace_syscall_info info;
    const long                   n = ptrace(PTRACE_GET_SYSCALL_INFO, thread, (void *)sizeof info, &info);
    return n > 0 && info.op == PTRACE_SYSCALL_INFO_ENTRY && changes(&info);
}

static int watch(pid_t child, long at, int signal_number)
{
    long calls = 0;
    int  status;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return NOT_HERE;
    if (ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL))
        return NOT_HERE;
    ptrace(PTRACE_SYSCALL, child, 0, 0);
    for (;;) {
        const pid_t thread = waitpid(-1, &status, __WALL);
        long        pass = 0;
        if (thread < 0) return NOT_HERE;
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (thread != child) continue;
            if (at == 0) fprintf(stderr, "%ld\n", calls);
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
            if (is_entry(thread) && ++calls == at) kill(child, signal_number);
        } else if (WSTOPSIG(status) != SIGTRAP && WSTOPSIG(status) != SIGSTOP) {
            pass = WSTOPSIG(status);
        }
        ptrace(PTRACE_SYSCALL, thread, 0, pass);
    }
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: kill_at N SIGNAL COMMAND...\n");
        return 2;
    }
    const pid_t child = fork();
    if (child < 0) return NOT_HERE;
    if (child == 0) _exit(run(argv + 3));
    return watch(child, atol(argv[1]), atoi(argv[2]));
}
