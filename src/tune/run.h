/* run.h: what the files that run estimators share.
 *
 *   child          a program below a supervisor: limits, output, end               run_child.c, run_supervisor.c,
 *                                                                                  run_descendants.c
 *   arguments      templates with placeholders                                     run_template.c
 *   folders        one a run, those of failures are kept                           run_folder.c
 *   comparison     sites of a log, the estimate's residuals, own scoring           run_compare.c, run_first.c
 *   queue          runs waiting, under way, ended                                  queue_local.c, queue_server.c
 *
 * Every slot of the queue has a supervisor, a process that this one forks:
 *
 *     this process ══ socket ══ supervisor (subreaper) ─── program ─── its children ...
 *
 * The supervisor starts the program, reads its output, enforces its limits and kills what it leaves. All descendants of
 * a run are descendants of the supervisor, in whatever session or process group they put themselves. When the socket
 * closes, because this process ended in whatever way, the supervisor kills them and ends. The estimator's processes
 * are no children of this process: signal handlers and waits of the host program do not see them.
 */
#ifndef CT_TUNE_RUN_H
#define CT_TUNE_RUN_H

#include "base/base.h"
#include "base/text.h"
#include "tune/tune.h"

#include <sys/types.h>

/* ---- Children --------------------------------------------------------------------------------- */

#define CT__GRACE_S    1.0       /* between SIGTERM and SIGKILL at the time limit                        */
#define CT__KEEP_BYTES 65536     /* of each stream: the first quarter and the last three                 */
#define CT__KEEP_SCORE (1 << 26) /* of the stdout of a scoring command: three million residuals          */

typedef struct {
    const char        *program;      /* path of the file to execute                            */
    const char *const *argument;     /* with the program's name; ended by NULL                 */
    const char *const *environment;  /* NAME=VALUE, ended by NULL                              */
    const char        *folder;       /* where it is started                                    */
    double             time_limit_s; /* 0: none                                                */
    int64_t            memory_limit; /* bytes, of the resident sets of all its processes; 0: none */
    int                niceness;
    int64_t            keep_out, keep_err; /* bytes of its output that are kept                */
} ct__program;

/* How a program ended, as its supervisor saw it. */
typedef enum {
    CT__CHILD_ENDED,       /* by itself: code is the exit code or minus the signal               */
    CT__CHILD_TIME,
    CT__CHILD_MEMORY,
    CT__CHILD_STOPPED,     /* by ct__child_stop                                                  */
    CT__CHILD_NOT_STARTED, /* code is errno, `step` what failed                                  */
    CT__CHILD_LOST         /* the supervisor itself was killed                                   */
} ct__child_end;

typedef enum { CT__STEP_FOLDER = 1, CT__STEP_EXECUTE, CT__STEP_PROCESS } ct__child_step;

/* What a program wrote: the first `head` bytes of `bytes` are the beginning, the others the end of `total` bytes. */
typedef struct {
    char   *bytes; /* owned; ended by 0 */
    int64_t head, kept, total;
} ct__output;

typedef struct {
    ct__child_end  end;
    ct__child_step step;
    int            code;
    double         seconds;
    int64_t        peak; /* bytes: the largest resident set of a process, or sum over processes that was seen */
    ct__output     out, err;
} ct__report;

void ct__report_free(ct__report *report);

typedef struct {
    pid_t supervisor; /* 0: none              */
    int   socket;
    int   to, from;   /* stdin and stdout of a program that is a server; else -1 */
} ct__child;

/* Fork a supervisor. pipes 1: the program's stdin and stdout are child->to and child->from; else they are /dev/null and
 * kept. CT_E_IO: no more processes or descriptors. */
ct_status ct__child_open(ct__child *child, int pipes, ct_err *err);
/* Kills the program with all its descendants, and the supervisor, and waits for them. */
void ct__child_close(ct__child *child);
/* Start a program; its report can be read when child->socket is readable. One at a time. CT_E_IO: the supervisor is
 * gone. */
ct_status ct__child_start(const ct__child *child, const ct__program *program, ct_err *err);
/* Kill the program with its descendants. Its report follows. */
void ct__child_stop(const ct__child *child);
/* Waits for the report of the program that was started. */
ct_status ct__child_report(const ct__child *child, ct__report *report, ct_err *err);

/* What main and supervisor send each other. Texts follow it: folder, program, arguments, environment, each ended by 0.
 * A stop has size 0. */
typedef struct {
    uint64_t size; /* bytes of the texts */
    int32_t  arguments, environments, niceness, pipes;
    double   time_limit_s;
    int64_t  memory_limit, keep_out, keep_err;
} ct__start_message;

typedef struct {
    int32_t end, step, code, pad;
    double  seconds;
    int64_t peak, out_head, out_kept, out_total, err_head, err_kept, err_total;
} ct__end_message;

/* All of it; 0: the other end is gone. Signals do not interrupt it. */
int ct__send_all(int socket, const void *bytes, size_t size);
int ct__receive_all(int socket, void *bytes, size_t size);

/* The life of a supervisor: in the forked process. in, out: of a server's program, or -1. */
_Noreturn void ct__supervise(int socket, int in, int out, pid_t parent);

/* Kills all descendants of this process and reaps them. Those that may not be killed are left. */
void ct__kill_descendants(void);
/* Sum of the resident sets of a process and its descendants, bytes. */
int64_t ct__resident_bytes(pid_t root);

#endif
