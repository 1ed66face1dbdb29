/* tune_report.h: the page about a run of covtune tune.
 *
 *   tune_report.c     reads the run folder; verdict, parameters, accuracy, failures
 *   tune_pictures.c   trajectories, sensitivities, the loss over runs */
#ifndef CT_CLI_TUNE_REPORT_H
#define CT_CLI_TUNE_REPORT_H

#include "cli/report/report.h"

/* A run of the estimator: a line of history.csv. */
typedef struct {
    int32_t log;   /* in `logs`; -1: unknown                          */
    int     train; /* 1: of a training log                            */
    int     point; /* number of its values: equal ones have one number */
    double  loss;  /* NaN: it failed                                  */
} tune_line;

typedef struct {
    const char *run;
    char       *out;
    json_t     *root, *trajectories; /* tune.json, trajectories.json (may be NULL) */
    const json_t *parameters, *logs; /* of root: arrays                            */
    int64_t     lines;
    tune_line  *line;
    double     *range;               /* per parameter: least, largest of failed runs; of others; NULL: no runs */
    int         points;
    ct_page    *page;
} tune_page;

double      tune_number(const json_t *object, const char *key); /* NaN: none */
const char *tune_word(const json_t *object, const char *key);   /* "" if none */

/* tune_pictures.c */
void tune_put_trajectories(const tune_page *p);
void tune_put_sensitivities(const tune_page *p);
void tune_put_history(const tune_page *p);
void tune_read_history(tune_page *p, const char *path);

/* The page about the run in request->run, a folder of covtune tune. */
cli_exit report_tune(const cli_io *io, const report_request *request, int argc, char **argv);

#endif
