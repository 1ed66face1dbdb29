/* tuning.h: reading TUNE.yaml: sections as the table of keys fills them, and the parts of the reader.
 *
 *   tuning_schema.c       the table of keys
 *   tuning_read.c         top level, estimate, truth, loss, method; ct_tuning_read and its kin
 *   tuning_parameters.c   files, parameters, their places and bounds
 *   tuning_logs.c         logs from patterns
 *   tuning_templates.c    placeholders: known, missing, unused; programs that can be executed
 *
 * Memory of a tuning is that of its tree (struct ct_tuning.texts), but for configurations. */
#ifndef CT_TUNE_TUNING_H
#define CT_TUNE_TUNING_H

#include "schema/schema.h"
#include "tune/tune.h"

/* Sections. X(constant, name, heading of docs/tune.md that has its keys) */
#define CT__TUNING_SECTION_LIST(X)                                                                                     \
    X(CT__TUNING_TOP, "tune", "Top level")                                                                             \
    X(CT__TUNING_FILE, "file", "files")                                                                                \
    X(CT__TUNING_PARAMETER, "parameter", "parameters")                                                                 \
    X(CT__TUNING_LOGS, "logs", "logs")                                                                                 \
    X(CT__TUNING_LOG, "log", "logs")                                                                                   \
    X(CT__TUNING_TRUTH, "truth", "estimate, truth")                                                                    \
    X(CT__TUNING_ESTIMATE, "estimate", "estimate, truth")                                                              \
    X(CT__TUNING_LOSS, "loss", "loss")                                                                                 \
    X(CT__TUNING_METHOD, "method", "method")

enum { /* ct__section */
#define X(constant, name, heading) constant,
    CT__TUNING_SECTION_LIST(X)
#undef X
    CT__TUNING_SECTION_COUNT
};

extern const ct__schema ct__tuning_schema;

typedef struct {
    const char *working_folder, *memory_limit;
    int         shell;
    double      time_limit_s;
    int64_t     niceness;
} ct__tuning_top;

typedef struct {
    const char *path;
    int         format; /* a ct_config_format */
} ct__tuning_file;

/* A parameter as it is written; it becomes one of the problem, or one for each place if `separate`. */
typedef struct {
    ct__node   *node;
    const char *name;
    double      start, lower, upper, times; /* NaN: not given */
    int         is, scale, separate;        /* ct_quantity; 0 log, 1 linear, -1 not given */
    const char *in, *environment, *same_as, *group;
    ct__list    key;
    int32_t     file;                       /* of its keys; -1: none                              */
    int32_t     places, *place;             /* pairs: file, place in its configuration            */
    int32_t     argument;                   /* 1: {NAME} is in a template                         */
    int32_t     first;                      /* the first of the problem's parameters that it is   */
} ct__tuning_parameter;

typedef struct {
    const char *log, *truth, *name, *recording;
} ct__tuning_log;

typedef struct {
    const char *file;
    int         format, header, axes, covariance_frame, align, whole, relative;
    const char *time, *separator, *comment, *topic, *each, *where, *yaw, *body;
    ct__list    columns, position, geodetic, quaternion, matrix, covariance;
    ct__numbers mount;
    double      offset_s, gap_s, skip_s;
} ct__tuning_trajectory;

typedef struct {
    int         type;
    const char *over;
    double      translation, rotation, lost, nees;
} ct__tuning_loss;

typedef struct {
    int     name, global;
    int64_t points, folds, repeats, seed;
} ct__tuning_method;

typedef struct {
    ct__schema_reader     base;
    ct_tuning            *t;
    ct__tuning_top        top;
    int32_t               parameters;
    ct__tuning_parameter *parameter;
    ct__node            **file;     /* of t->file                                                */
    ct__tuning_file      *file_as;  /* as it is written                                          */
    uint8_t              *file_used;
    ct__node            **log;      /* of t->log: its node                                       */
    int64_t               log_capacity;
    int32_t               log_names;/* names of the logs' files: "log" and those of `also`       */
    const char          **log_name;
    ct__node            **log_name_node;
    uint8_t              *log_name_used;
    int                   estimate_used; /* {estimate} is in a template */
} ct__tuning_reader;

/* A text in the memory of the tuning; "" with base.status set if there is none. */
char *ct__tuning_text(ct__tuning_reader *r, const char *fmt, ...) CT_PRINTF(2, 3);
/* A path of the file: relative to the tuning's folder. */
char *ct__tuning_path(ct__tuning_reader *r, const char *path);
/* An absolute path below the root of copies, where there is one; any other as it is. */
const char *ct__tuning_rooted(ct__tuning_reader *r, const char *path);
/* ct_tuning_read, with absolute paths below root (may be NULL) where they are there. */
ct_status ct__tuning_read_below(const char *path, const char *root, ct_tuning **out, ct_err *err);
/* Names of files, of parameters and of files of logs are placeholders: their letters, and none that has a meaning. */
void ct__check_placeholder_name(ct__tuning_reader *r, ct__node *item);

void ct__read_tuning_files(ct__tuning_reader *r, ct__node *items);
void ct__read_parameters(ct__tuning_reader *r, ct__node *items);
/* After templates are known: the problem's parameters, places and spreads. */
void ct__resolve_parameters(ct__tuning_reader *r, ct__node *spread);
void ct__read_logs(ct__tuning_reader *r, ct__node *logs, int truth_needed);
/* A log that is listed twice would be held out beside its copy, or tested with what was learned from it. */
void ct__check_copies(ct__tuning_reader *r);
/* command, server, environment, score, estimate.file. */
void ct__read_templates(ct__tuning_reader *r, ct__node *root);

#endif
