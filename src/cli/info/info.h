/* info.h: covtune info of files (info.c), datasets (dataset.c), run folders (run.c) and bags (bag.c); shared:
 * truth_and_noise.c, recordings.c. */
#ifndef CT_CLI_INFO_H
#define CT_CLI_INFO_H

#include "cli/common/cli.h"

/* Noise models that are printed of a dataset or a run. Files with a matrix on every edge have thousands. */
#define INFO_MODELS 12

/* Describes a run folder of learn. */
cli_exit info_run(cli_io *io, const char *path);

/* Describes a bag; with a topic (not NULL) the fields of its messages, or of the elements of its array `each`. */
cli_exit info_bag(const cli_io *io, const char *path, const char *topic, const char *each);

/* How much of the truth is known. */
typedef struct {
    int64_t  known, part;         /* variables with any ground truth, and with a part of it only */
    int      mixed;               /* the known part differs between variables                    */
    unsigned mask[CT_KIND_COUNT]; /* the part, per kind                                       */
} info_truth;

void info_add_truth(info_truth *truth, const ct_sequence *seq);
/* "; x, y only", "; of 12 in part", or "" if the truth of all these variables is complete. Returns buf. */
const char *info_part(const info_truth *truth, char *buf, size_t size);

/* A row "train: 2, of 4 sequences: walk1 (3), walk2 (1)", if a recording has several sequences. */
void info_print_recordings(const char *label, const char *part, ct_sequence *const list[], int32_t count);
/* Number of sequences by recording. */
json_t *info_recordings_json(ct_sequence *const list[], int32_t count);

/* The truth's own sigma over sequences: m, rad; 0: not given. */
typedef struct {
    int32_t sequences;
    double  least[2], most[2];
} info_sigma;

void info_add_sigma(info_sigma *sigma, const ct_sequence *seq);
/* "0.01 to 0.05 m, 0.002 rad"; "" if none is given. Returns buf. */
const char *info_sigma_text(const info_sigma *sigma, char *buf, size_t size);

/* "sigma x 0.1 m, y 0.1 m, correlated, huber 1.5", rows named as the table names them. Returns buf. */
#define INFO_SIGMAS 512
const char *info_sigmas(const ct_noise_model *m, char buf[INFO_SIGMAS]);
/* "sigma", "coordinates" and "units" into a model's object. */
void info_put_sigmas(json_t *object, const ct_noise_model *m);

#endif
