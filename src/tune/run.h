/* run.h: what the files that run estimators share.
 *
 *   child          a program below a supervisor: limits, output, end               run_child.c, run_reaper.c,
 *                                                                                  run_supervisor.c, run_descendants.c
 *   arguments      templates with placeholders                                     run_template.c, run_shell.c
 *   folders        one a run, those of failures are kept                           run_folder.c
 *   comparison     sites of a log, the estimate's residuals, own scoring           run_compare.c
 *   queue          runs waiting, under way, ended                                  queue_local.c, queue_server.c
 *
 * Every slot of the queue has a supervisor, below a reaper that this process forks; both are subreapers:
 *
 *     this process ─── reaper ─── supervisor ─── program ─── its children ...
 *          ╚════════ socket ═══════════╝
 *
 * The supervisor starts the program, reads its output, enforces its limits and kills what it leaves. All descendants of
 * a run are descendants of the supervisor, in whatever session or process group they put themselves. When the socket
 * closes, because this process ended in whatever way, the supervisor kills them and ends. When the supervisor itself
 * is killed, the reaper kills them. The estimator's processes are no children of this process: signal handlers and
 * waits of the host program do not see them.
 */
#ifndef CT_TUNE_RUN_H
#define CT_TUNE_RUN_H

#include "base/base.h"
#include "base/text.h"
#include "tune/tune.h"

#include <sys/types.h>

/* ---- Children --------------------------------------------------------------------------------- */

#define CT__MARK "COVTUNE_RUN" /* in the environment of programs: the folder of their run, with a slash */

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
    pid_t reaper;     /* 0: none              */
    int   socket;
    int   to, from;   /* stdin and stdout of a program that is a server; else -1 */
} ct__child;

/* Fork a reaper with its supervisor. pipes 1: the program's stdin and stdout are child->to and child->from; else they
 * are /dev/null and kept. CT_E_IO: no more processes or descriptors. */
ct_status ct__child_open(ct__child *child, int pipes, ct_err *err);
/* Kills the program with all its descendants, supervisor and reaper, and waits for them. */
void ct__child_close(ct__child *child);
/* Has the supervisor been killed, or a server's program ended? Of one that has nothing under way but a server. */
int ct__child_gone(const ct__child *child);
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

/* The life of a reaper: in the forked process. in, out: of a server's program, or -1. */
_Noreturn void ct__reap(int socket, int in, int out, pid_t parent);
/* The life of a supervisor: in a process that the reaper forks. It first sends an int, which is 0; of one that cannot
 * be forked the reaper sends errno. */
_Noreturn void ct__supervise(int socket, int in, int out, pid_t parent);
/* Closes all descriptors but these; -1 is none. */
void ct__close_others(int a, int b, int c);

/* Numbers in a text that /proc wrote, a blank after each, appended to list. A last one without is cut, and left out: it
 * is another process. */
int ct__add_numbers(const char *text, pid_t list[], int count, int room);
/* Kills all descendants of this process and reaps them. Those that may not be killed are left. */
void ct__kill_descendants(void);
/* Kills processes that have CT__MARK "=" and a text that begins so in the environment they were started with: what runs
 * left whose supervisor and reaper were killed at the same moment. */
void ct__kill_marked(const char *beginning);
/* The name and the command line that other processes see. */
void ct__rename_process(const char *name);
/* Sum of the resident sets of all descendants of this process, bytes. */
int64_t ct__resident_below(void);

/* ---- Templates -------------------------------------------------------------------------------- */

/* What placeholders stand for in one run. Paths are absolute. */
typedef struct {
    const ct_tuning   *tuning;
    const char        *here;     /* what relative paths are relative to: the present folder when the queue was made */
    int32_t            log, repeat;
    const double      *value;
    int                shell;    /* 1: values are quoted for a shell where that is needed     */
    const char        *folder, *estimate;
    const char *const *file;     /* of tuning->file: the copies                               */
} ct__scope;

/* What is open where a text for a shell has been read to. {0} at its beginning. */
#define CT__SHELL_DEPTH 64

typedef struct {
    char open[CT__SHELL_DEPTH]; /* quotes, brackets, comment, here-document: innermost last              */
    int  depth;
    char before;                /* the byte before                                                       */
    int  substitution;          /* the next bracket is that of $( in double quotes                       */
    char here;                  /* of a here-document that begins with the next line; 0: none            */
    char here_end[64];          /* the line that ends it                                                 */
    int  here_tabs, here_at;    /* here_at: bytes of that line that have been read; -1: it is another    */
} ct__shell;

void ct__shell_read(ct__shell *shell, const char *text, size_t size);
/* Append a value, quoted so that the shell takes it as it is. */
void ct__shell_put(ct__shell *shell, const char *value, ct__text *out);

/* Append a template with its placeholders replaced. CT_E_ARGUMENT: one that is not known, or a brace that is open. */
ct_status ct__expand(const ct__scope *scope, const char *words, ct__text *out, ct_err *err);
/* Append a path, made absolute. */
void ct__put_path(const char *here, const char *path, ct__text *out);

/* The program of a command: *path <- the file, absolute; of `shell` /bin/sh. A name without a slash is searched in
 * PATH, then in the tuning's folder; others are relative to that folder. CT_E_ARGUMENT: there is none, or it is not
 * executable. NULL: the name has placeholders. For the caller to free. */
ct_status ct__tuning_program(const ct_tuning *tuning, const ct__tune_words *command, char **path, ct_err *err);
/* Is the word one that stands for a file in the tuning's folder, such as a script? Then *path is the file, absolute;
 * else NULL. For the caller to free. */
ct_status ct__tuning_script(const ct_tuning *tuning, const char *word, char **path, ct_err *err);

/* tuning->digest <- the digest of command, environment, contents of programs, scripts, files, logs and truths, limits,
 * and of how estimates are compared. CT_E_IO: a file cannot be read. */
ct_status ct__tuning_take_digest(ct_tuning *tuning, ct_err *err);

/* ---- Folders ---------------------------------------------------------------------------------- */

/* Make a folder with those above it. */
ct_status ct__make_folders(const char *path, ct_err *err);
/* The last part of a path, within it. */
const char *ct__base_name(const char *path);
/* "folder/name"; NULL: no memory. */
char *ct__join_path(const char *folder, const char *name);
/* Plain writing: what a killed process leaves is removed with its folder. */
ct_status ct__write_plain(const char *path, const void *bytes, size_t size, ct_err *err);

/* The name of a tuning's file in a folder: its own, or with the name it has in `files` before it if another file is
 * called the same. For the caller to free; NULL: no memory. */
char *ct__copy_name(const ct_tuning *tuning, int32_t file);
/* The text of a user's file with values in its places; for the caller to free. */
ct_status ct__file_text(const ct_tuning *tuning, int32_t file, const double value[], char **text, size_t *size,
                        ct_err *err);
/* The user's files with values, into a folder that is there. whole 1: replaced as ct_file_replace does. */
ct_status ct__write_files(const ct_tuning *tuning, const double value[], const char *folder, int whole, ct_err *err);

/* ---- Comparison ------------------------------------------------------------------------------- */

/* Of one log: its truth, and the sites that all estimates are compared at. They are those of the first estimate, in the
 * order of requests, that can be compared; it is kept in a file, so that a resumed tuning has the same. */
typedef struct {
    char          *first; /* path of that file                                     */
    ct_trajectory *truth;
    ct_sites      *sites; /* NULL: not yet                                         */
    int64_t        rows;  /* of the residuals; 0: not yet                          */
    ct_se3         motion;/* of the last estimate's alignment, with its scale      */
    double         scale;
    int            told;  /* 1: an outcome of this queue has the conventions       */
    int            kept;  /* 1: this queue has kept the truth's positions          */
} ct__log_sites;

ct_status ct__sites_open(const ct_tuning *tuning, int32_t log, const char *folder, const char *here,
                         ct__log_sites *sites, ct_err *err);
void      ct__sites_close(ct__log_sites *sites);

/* The trajectory that a run wrote; *out NULL: outcome->end and message say why. */
ct_status ct__estimate_read(const ct_tuning *tuning, const char *path, ct_trajectory **out, ct_tune_outcome *outcome,
                            ct_err *err);
/* Stamps of an estimate that count from the truth's first one <- those of the truth. */
void ct__estimate_place(const ct_tuning *tuning, const ct__log_sites *sites, ct_trajectory *estimate);
/* Residuals of an estimate; makes the sites if there are none. A status is of this process: no memory, a full disk. */
ct_status ct__estimate_compare(const ct_tuning *tuning, ct__log_sites *sites, const ct_trajectory *estimate,
                               ct_tune_outcome *outcome, ct_err *err);
/* Residuals that a scoring command printed. */
ct_status ct__score_read(ct__log_sites *sites, const ct__output *printed, ct_tune_outcome *outcome, ct_err *err);

/* Ends an outcome: end, and the sentence as its message. */
ct_status ct__outcome_end(ct_tune_outcome *outcome, ct_tune_end end, ct_err *err, const char *fmt, ...) CT_PRINTF(4, 5);
/* Ends an outcome as crashed, with what the program says of it, cut and without controls of terminals. */
ct_status ct__outcome_say(ct_tune_outcome *outcome, const char *before, const char *why, ct_err *err);
/* Appends the last lines of what a program wrote to a message: of stderr, or stdout where that is empty. */
ct_status ct__outcome_quote(ct_tune_outcome *outcome, const ct__report *report, ct_err *err);
/* The end of a program that did not end well; 1 if it did. who: "the program", "the server", ... of sentences. */
int ct__outcome_of_report(const ct_tuning *tuning, const ct__report *report, const char *who, const char *program,
                          ct_tune_outcome *outcome, ct_status *status, ct_err *err);

#endif
