/* queue.h: the queue of processes of this machine.
 *
 *     waiting ─► under way (a slot) ─► [scoring] ─► held until the log has sites ─► ended
 *
 * Over several ranks (comm.h) rank 0 has the queue, and slots of other ranks beside its own. A run in such a slot is
 * prepared, started and scored by that rank, in a folder there; its estimate comes back and is compared by rank 0, so
 * that sites, journal and answers are those of one process:
 *
 *     rank 0   queue_ranks.c   RUN ─►   other ranks   queue_serve.c: a queue whose runs end with a message
 *                              ◄─ ANSWER
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

/* How far the programs of a run came. */
typedef enum { CT__STAGE_FAILED, CT__STAGE_ESTIMATE, CT__STAGE_SCORED } ct__stage;

/* A process that runs one after the other. */
typedef struct {
    int       rank;     /* who runs it; 0: this process                      */
    ct__child child, scorer; /* scorer: beside a server                      */
    ct__run  *run;      /* NULL: none under way                              */
    int       served;   /* 1: child has a server's program started           */
    int64_t   answers;  /* of the server, since it was started               */
    int64_t   number;   /* of the run that it was started for                */
    double    asked, deadline; /* of the run that the server has; INFINITY: none */
    ct__text  line;     /* what it wrote, up to the end of a line            */
} ct__slot;

#define CT__FAILURES_KEPT 20

typedef struct ct__local ct__local;
struct ct__local {
    ct_tuning     *tuning;
    char          *folder, *here; /* of runs; the present one when the queue was made. Absolute   */
    dev_t          device;        /* of the folder, with its inode: is it another now?             */
    ino_t          inode;
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
    const ct_comm *comm;        /* NULL: this process alone                                        */
    int            serving;     /* 1: another rank than 0: runs end with a message to rank 0       */
    int            dismissed;   /* 1: rank 0 wants no more                                         */
    int           *interrupted; /* of rank 0: another rank was interrupted; may be NULL            */
    /* Takes in messages of other ranks; *heard 1: there were some. NULL without a comm. */
    ct_status (*hear)(ct__local *q, int *heard, ct_err *err);
};

/* queue_start.c: the folder, files and arguments of a run; its program is started in the slot. */
ct_status ct__run_prepare(ct__local *q, ct__run *run, ct_err *err);
ct_status ct__run_start(const ct__local *q, ct__run *run, const ct__child *child, const ct__tune_words *command,
                        const char *program, ct_err *err);
ct__scope ct__run_scope(const ct__local *q, const ct__run *run);
/* run->command as ct__run_start would have it. */
ct_status ct__run_command(const ct__local *q, ct__run *run, ct_err *err);
/* queue_folders.c: folders that earlier processes left; of failures. */
ct_status ct__folders_open(ct__local *q, ct_err *err);
/* Is the folder of runs still the one that was opened? */
int ct__folder_is_there(const ct__local *q);
/* Kills what the program that was started for this run has left: its supervisor was killed, and maybe the reaper. */
void ct__folder_end_strays(const ct__local *q, int64_t number);
/* After a run: its folder is removed, or kept with what the program wrote. */
void ct__folder_close(ct__local *q, ct__run *run, int abandoned);

/* run_keep.c: positions of an estimate that was compared, for pictures. */
void ct__estimate_keep(const ct__local *q, const ct__run *run);

/* queue_server.c: ask the slot's server, which is started if there is none. */
ct_status ct__server_ask(ct__local *q, ct__slot *slot, ct_err *err);
/* Something can be read from the server or its supervisor. *ended 1: the run has ended; *well 1: with an estimate. */
ct_status ct__server_hear(ct__local *q, ct__slot *slot, int *ended, int *well, ct_err *err);
/* The run is not answered at its time limit: the server is stopped. */
ct_status ct__server_late(ct__local *q, ct__slot *slot, ct_err *err);

/* queue_local.c: a queue without its interface. */
ct_status ct__local_new(ct_tuning *tuning, const ct_tuning_local *local, ct__local **out, ct_err *err);
void      ct__local_free(void *local);
/* Stops and forgets all runs of this process. */
void ct__local_abandon(void *local);
/* A new run, at the end of the list. */
ct_status ct__local_add(ct__local *q, const ct_tune_request *request, ct__run **out, ct_err *err);
/* Runs that wait go to free slots. */
ct_status ct__local_begin(ct__local *q, ct_err *err);
/* Wait until a run goes on. *any 0: the time has come, a signal did, or nothing is under way. */
ct_status ct__local_wait(ct__local *q, double until, int *any, ct_err *err);
/* Takes the first ended run out of the list; NULL: there is none. For the caller to free. */
ct__run *ct__local_take(ct__local *q);
/* The programs of a slot's run have ended. */
ct_status ct__run_ends(ct__local *q, ct__slot *slot, ct__stage stage, ct_err *err);
/* A run while the disk is full, or whose folder was taken away, says nothing about its values: CT_E_IO. An estimate
 * without its end may be read, too. */
ct_status ct__disk_check(const ct__local *q, ct_err *err);

void ct__run_free(ct__run *run);

/* ---- Ranks ------------------------------------------------------------------------------------ */

typedef enum {
    CT__MESSAGE_RUN,       /* from rank 0: values follow                                        */
    CT__MESSAGE_ABANDON,
    CT__MESSAGE_DISMISS,
    CT__MESSAGE_READY,     /* to rank 0: number is how many runs at once                        */
    CT__MESSAGE_ANSWER,    /* stdout, stderr, message, files follow                             */
    CT__MESSAGE_ABANDONED,
    CT__MESSAGE_INTERRUPT,
    CT__MESSAGE_ERROR      /* a sentence follows; the rank serves no more                       */
} ct__message_kind;

/* The head of all messages. Ranks are one program on machines of one byte order. */
typedef struct {
    int32_t         kind, log, repeat, stage;
    int64_t         number;
    int32_t         end, code; /* of the outcome                                                */
    double          seconds;
    int64_t         message, files; /* bytes                                                    */
    ct__end_message report;
} ct__message;

/* queue_ranks.c. Rank 0: the slots of all ranks, once they are ready; local: those of this process. */
ct_status ct__ranks_open(ct__local *q, int local, ct_err *err);
ct_status ct__rank_start(ct__local *q, ct__slot *slot, ct_err *err);
/* Other ranks stop their runs. */
void ct__ranks_abandon(ct__local *q);
/* How many runs at once are usual on this rank. */
int ct__usual_jobs(const ct_comm *comm);

/* queue_serve.c. Other ranks: what became of a run goes to rank 0. */
ct_status ct__answer(ct__local *q, ct__run *run, ct__stage stage, ct_err *err);

#endif
