/* tune.h: what the parts of `tune` share.
 *
 *   tuning_*.c     the file TUNE.yaml -> ct_tuning                                       (reads config, score)
 *   run_*.c        a run: its folder, files, arguments; the child; its estimate compared with the truth
 *   queue_*.c      processes of this machine, a server, other ranks; journal*.c: runs that are known already
 *   search.h       methods over residual vectors, held-out logs, error bars: its files
 */
#ifndef CT_TUNE_INTERNAL_H
#define CT_TUNE_INTERNAL_H

#include <covtune/tune.h>

/* ---- A tuning --------------------------------------------------------------------------------- */

/* A file with parameters: {name} in the command is the path of its copy with values. */
typedef struct {
    char      *name, *path;
    ct_config *config;
} ct__tune_file;

/* Where a parameter goes. */
typedef enum { CT__PLACE_FILE, CT__PLACE_ENVIRONMENT, CT__PLACE_ARGUMENT } ct__place_kind;
typedef struct {
    ct__place_kind kind;
    int32_t        parameter;
    int32_t        file, place; /* of CT__PLACE_FILE: file's index, place in its config          */
    char          *name;        /* of CT__PLACE_ENVIRONMENT; {NAME} of the command is an argument */
} ct__tune_place;

/* A log: its truth, and files by name: {log} and others. */
typedef struct {
    char   *name, *recording, *truth;
    int     test;
    int32_t files;
    char  **file_name, **file_path;
} ct__tune_log;

typedef struct {
    int32_t count;
    char  **word;
} ct__tune_words;

/* Paths are absolute, or relative to the present folder. All is owned by the tuning. */
struct ct_tuning {
    char      *path, *folder;     /* of TUNE.yaml                                                               */
    char      *root;              /* where copies of rank 0's files are, as at its absolute paths; NULL: none   */
    ct__tune_words command;       /* templates of arguments; with `shell` one text                               */
    ct__tune_words server;        /* instead of command                                                          */
    int        shell;
    ct__tune_words environment;   /* NAME=VALUE, templates                                                       */
    char      *working_folder;    /* NULL: the folder of the run                                                */
    double     time_limit_s;
    int64_t    memory_limit;      /* bytes; 0: none                                                             */
    int        niceness;
    int32_t         files;
    ct__tune_file  *file;
    int32_t         places;
    ct__tune_place *place;
    ct_tune_parameter *parameter; /* problem.parameter                                                          */
    ct_tune_log       *public_log;/* problem.log                                                                */
    ct__tune_log      *log;
    ct_tune_problem    problem;
    char      *estimate;          /* template of the estimate's path: {estimate} or below {folder}              */
    ct_trajectory_options estimate_options, truth_options; /* their texts live in `texts`                       */
    ct_track_options      track;
    int                   relative_time; /* the estimate's stamps count from the truth's first one */
    ct__tune_words score;         /* own scoring command; empty: none                                            */
    ct_tune_options options;
    uint64_t   digest;
    void      *texts;             /* memory of texts that options borrow                                        */
};

#endif
