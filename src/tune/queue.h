/* queue.h: the queue of processes of this machine.
 *
 *     waiting ─► under way (a slot) ─► [scoring] ─► held until the log has sites ─► ended
 */
#ifndef CT_TUNE_QUEUE_H
#define CT_TUNE_QUEUE_H

#include "base/lock.h"
#include "tune/run.h"

#include <poll.h>

typedef enum { CT__RUN_WAITING, CT__RUN_PROGRAM, CT__RUN_SCORE, CT__RUN_HELD, CT__RUN_ENDED } ct__run_state;

typedef struct ct__run {
    struct ct__run *next; /* in the order of requests */
    ct__run_state   state;
    int64_t         ticket, number; /* number: of its folder */
    int32_t         log, repeat;
    double         *value;
    char           *folder, *estimate;
    char           *command;  /* as a line for a shell */
    char          **file;     /* paths of the copies, tuning->files of them, then NULL */
    ct__report      report;   /* of the program, or the scoring command after it       */
    ct_trajectory  *trajectory;
    ct_tune_outcome outcome;
} ct__run;

/* A process that runs one after the other. */
typedef struct {
    ct__child child, scorer; /* scorer: beside a server                      */
    ct__run  *run;      /* NULL: none under way                              */
    int       served;   /* 1: child has a server's program started           */
    int64_t   answers;  /* of the server, since it was started               */
    double    asked, deadline; /* of the run that the server has; INFINITY: none */
    ct__text  line;     /* what it wrote, up to the end of a line            */
} ct__slot;

#define CT__FAILURES_KEPT 20

typedef struct {
    ct_tuning     *tuning;
    char          *folder, *here; /* of runs; the present one when the queue was made. Absolute   */
    char          *estimates;     /* NULL: none are kept                                           */
    char          *program, *score_program; /* NULL: the name has placeholders, or there is none  */
    int            keep, slots;
    ct__lock       lock;
    ct__slot      *slot;
    ct__run       *first;
    struct pollfd *poll;  /* two a slot */
    ct__log_sites *sites; /* of each log; opened at its first estimate */
    int64_t        next_number, failures;
    int64_t        failure[CT__FAILURES_KEPT]; /* numbers of folders that are kept, the oldest first */
} ct__local;

/* queue_start.c: the folder, files and arguments of a run; its program is started in the slot. */
ct_status ct__run_prepare(ct__local *q, ct__run *run, ct_err *err);
ct_status ct__run_start(const ct__local *q, ct__run *run, const ct__child *child, const ct__tune_words *command,
                        const char *program, ct_err *err);
ct__scope ct__run_scope(const ct__local *q, const ct__run *run);
/* queue_folders.c: folders that earlier processes left; of failures. */
ct_status ct__folders_open(ct__local *q, ct_err *err);
/* After a run: its folder is removed, or kept with what the program wrote. */
void ct__folder_settle(ct__local *q, ct__run *run, int abandoned);

/* run_keep.c: positions of an estimate that was compared, for pictures. */
void ct__estimate_keep(const ct__local *q, const ct__run *run);

/* queue_server.c: ask the slot's server, which is started if there is none. */
ct_status ct__server_ask(ct__local *q, ct__slot *slot, ct_err *err);
/* Something can be read from the server or its supervisor. *ended 1: the run has ended; *well 1: with an estimate. */
ct_status ct__server_hear(ct__local *q, ct__slot *slot, int *ended, int *well, ct_err *err);
/* The run is not answered at its time limit: the server is stopped. */
ct_status ct__server_late(ct__local *q, ct__slot *slot, ct_err *err);

void ct__run_free(ct__run *run);

#endif
