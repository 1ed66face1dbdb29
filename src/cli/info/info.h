/* info.h: covtune info of files (info.c), datasets (dataset.c) and run folders (run.c); shared: truth_and_noise.c. */
#ifndef CT_CLI_INFO_H
#define CT_CLI_INFO_H

#include "cli/common/cli.h"

/* Noise models that are printed of a dataset or a run. Files with a matrix on every edge have thousands. */
#define INFO_MODELS 12

/* Describes a run folder of learn. */
cli_exit info_run(cli_io *io, const char *path);

/* How much of the truth is known. */
typedef struct {
    int64_t  known, part;         /* variables with any ground truth, and with a part of it only */
    int      mixed;               /* the known part differs between variables                    */
    unsigned mask[CT_KIND_COUNT]; /* the part, per kind                                       */
} info_truth;

void info_add_truth(info_truth *truth, const ct_sequence *seq);
/* "; x, y only", "; of 12 in part", or "" if the truth of all these variables is complete. Returns buf. */
const char *info_part(const info_truth *truth, char *buf, size_t size);

/* "sigma x 0.1 m, y 0.1 m, correlated, huber 1.5", rows named as the table names them. Returns buf. */
#define INFO_SIGMAS 512
const char *info_sigmas(const ct_noise_model *m, char buf[INFO_SIGMAS]);
/* "sigma", "coordinates" and "units" into a model's object. */
void info_put_sigmas(json_t *object, const ct_noise_model *m);

#endif
