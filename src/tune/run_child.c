/* run_child.c: programs below supervisors, from the side of this process. */
#define _GNU_SOURCE
#include "tune/run.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

void ct__report_free(ct__report *report)
{
    free(report->out.bytes);
    free(report->err.bytes);
    *report = (ct__report){0};
}

static void close_fd(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

/* Not one of 0, 1, 2, which a program may have closed: the supervisor makes them anew. */
static int above_stdio(int *fd)
{
    if (*fd > 2) return 1;
    const int moved = fcntl(*fd, F_DUPFD_CLOEXEC, 3);
    if (moved < 0) return 0;
    close(*fd);
    *fd = moved;
    return 1;
}

/* sockets: this process, supervisor. in, out: of the program's stdin and stdout, reading end first. */
static int make_ends(int sockets[2], int in[2], int out[2], int pipes)
{
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets)) return 0;
    if (pipes && (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))) return 0;
    for (int i = 0; i < 2; i++)
        if (!above_stdio(&sockets[i]) || (pipes && (!above_stdio(&in[i]) || !above_stdio(&out[i])))) return 0;
    return 1;
}

void ct__child_close(ct__child *child)
{
    if (!child->reaper) return;
    close_fd(&child->socket);
    close_fd(&child->to);
    close_fd(&child->from);
    kill(child->reaper, SIGTERM); /* the closed socket is enough for a supervisor, but for one that is stopped */
    kill(child->reaper, SIGCONT); /* it may be stopped itself */
    while (waitpid(child->reaper, NULL, 0) < 0 && errno == EINTR) {} /* ECHILD: the host program took it */
    child->reaper = 0;
}

/* Forks the reaper, and it the supervisor. 0: errno says why not. */
static pid_t fork_reaper(const int sockets[2], const int in[2], const int out[2])
{
    const pid_t me = getpid();
    sigset_t    all, before;
    sigfillset(&all); /* handlers of this program must not run in them */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t pid = fork();
    if (pid == 0) ct__reap(sockets[1], in[0], out[1], me);
    const int why = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return pid > 0 ? pid : 0;
}

static ct_status gone(ct_err *err)
{
    return ct_fail(err, CT_E_IO, "the process that starts runs is gone; was it killed? Resume to go on");
}

ct_status ct__child_open(ct__child *child, int pipes, ct_err *err)
{
    int         sockets[2] = {-1, -1}, in[2] = {-1, -1}, out[2] = {-1, -1};
    const pid_t reaper = make_ends(sockets, in, out, pipes) ? fork_reaper(sockets, in, out) : 0;
    int         why = errno;
    close_fd(&sockets[1]);
    close_fd(&in[0]);
    close_fd(&out[1]);
    *child = (ct__child){.reaper = reaper, .socket = sockets[0], .to = in[1], .from = out[0]};
    const int killed = reaper && !ct__receive_all(sockets[0], &why, sizeof why); /* by somebody, just now */
    if (reaper && !killed && !why) return CT_OK;
    ct__child_close(child);
    if (!reaper) {
        close_fd(&child->socket);
        close_fd(&child->to);
        close_fd(&child->from);
    }
    if (killed) return gone(err);
    return ct_fail(err, why == ENOMEM ? CT_E_MEMORY : CT_E_IO, "no process can be started: %s", strerror(why));
}

int ct__child_gone(const ct__child *child)
{
    struct pollfd end = {child->socket, POLLIN, 0};
    return child->reaper && poll(&end, 1, 0) > 0;
}

static void add(ct__text *text, const char *word) { ct__text_bytes(text, word, strlen(word) + 1); }

ct_status ct__child_start(const ct__child *child, const ct__program *program, ct_err *err)
{
    ct__text          text = {0};
    ct__start_message message = {.niceness = program->niceness,
                                 .pipes = child->to >= 0,
                                 .time_limit_s = program->time_limit_s,
                                 .memory_limit = program->memory_limit,
                                 .keep_out = program->keep_out,
                                 .keep_err = program->keep_err};
    add(&text, program->folder);
    add(&text, program->program);
    for (; program->argument[message.arguments]; message.arguments++) add(&text, program->argument[message.arguments]);
    for (; program->environment[message.environments]; message.environments++)
        add(&text, program->environment[message.environments]);
    message.size = (uint64_t)text.used;
    ct_status status = CT_OK;
    if (text.failed) status = ct__no_memory(err, "arguments", message.arguments);
    else if (!ct__send_all(child->socket, &message, sizeof message) ||
             !ct__send_all(child->socket, text.bytes, (size_t)text.used))
        status = gone(err);
    ct__text_free(&text);
    return status;
}

void ct__child_stop(const ct__child *child)
{
    const ct__start_message stop = {0};
    (void)ct__send_all(child->socket, &stop, sizeof stop);
}

/* CT_E_EMPTY: the supervisor is gone. */
static ct_status receive_output(int socket, ct__output *output, ct_err *err)
{
    output->bytes = malloc((size_t)output->kept + 1);
    if (!output->bytes) return ct__no_memory(err, "output of a run", output->kept);
    output->bytes[output->kept] = 0;
    return ct__receive_all(socket, output->bytes, (size_t)output->kept) ? CT_OK : CT_E_EMPTY;
}

ct_status ct__child_report(const ct__child *child, ct__report *report, ct_err *err)
{
    ct__end_message end;
    *report = (ct__report){0};
    ct_status status = ct__receive_all(child->socket, &end, sizeof end) ? CT_OK : CT_E_EMPTY;
    if (status == CT_OK) {
        *report = (ct__report){.end = (ct__child_end)end.end,
                               .step = (ct__child_step)end.step,
                               .code = end.code,
                               .seconds = end.seconds,
                               .peak = end.peak,
                               .out = {.head = end.out_head, .kept = end.out_kept, .total = end.out_total},
                               .err = {.head = end.err_head, .kept = end.err_kept, .total = end.err_total}};
        status = receive_output(child->socket, &report->out, err);
        if (status == CT_OK) status = receive_output(child->socket, &report->err, err);
    }
    if (status == CT_OK) return CT_OK;
    ct__report_free(report);
    if (status != CT_E_EMPTY) return status;
    report->end = CT__CHILD_LOST;
    return CT_OK;
}
