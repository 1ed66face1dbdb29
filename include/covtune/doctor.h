/* covtune/doctor.h: mistakes in a dataset that no covariance mends.
 *
 * Residuals at the truth (at the estimate, where there is none) are samples of the sensors' errors. Noise has mean
 * zero, does not depend on what is measured, and does not last. The doctor fits, for every noise model, what else
 * can be in them: a bias, a factor, a delay, a lever arm, another frame, swapped axes, other units; and tests what
 * remains: outliers, tails, correlation of rows and of neighbours, dependence on range, speed and time, two
 * populations in one model. Each finding has a size with a standard error, over recordings where there are several,
 * and is reported only if the data can tell it from chance with all the tests that were made.
 *
 * What a recipe can mend comes as corrections. A delay cannot be mended in a graph that is built; with the recipe the
 * doctor imports again, until the corrections do not change.
 *
 *     ct_diagnosis *diagnosis;
 *     CT_TRY(ct_doctor_examine(dataset, NULL, &diagnosis, err));
 *     for (int32_t i = 0; i < diagnosis->findings.count; i++) ...
 *     ct_diagnosis_free(diagnosis);
 */
#ifndef COVTUNE_DOCTOR_H
#define COVTUNE_DOCTOR_H

#include <covtune/data.h>
#include <covtune/evaluate.h>
#include <covtune/finding.h>
#include <covtune/recipe.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CT_DOCTOR_BRIEF_SEQUENCES 64

typedef struct {
    const ct_recipe *recipe;  /* of the dataset, borrowed; NULL: none, and nothing is imported again */
    const char      *folder;  /* of its files; NULL: the recipe's                                     */
    /* 1: one pass, no imports, of CT_DOCTOR_BRIEF_SEQUENCES sequences at most, at equal distances: what `learn` runs
     * first */
    int              brief;
    double           level;   /* chance of one false finding or more in a dataset without faults: 0.01 */
    int              threads; /* 0: all processors                                                    */
    int (*progress)(void *user, double share, const char *what); /* returns 1 to stop; may be NULL    */
    void *user;
} ct_doctor_options;

ct_doctor_options ct_doctor_defaults(void);

/* The evidence of a finding, for a picture: points (x, y) with a line or a band. */
typedef struct {
    int32_t finding;              /* index in findings                                        */
    char    x_label[64], y_label[64];
    int32_t points;               /* at most 1000: thinned evenly                            */
    double *x, *y;
    int32_t lines;                /* polyline of what was fitted                              */
    double *line_x, *line_y;
    int     of_reading;           /* 1: errors as poses are read; the line is their sigma if read as proposed */
} ct_evidence;

typedef struct {
    ct_findings    findings;
    int32_t       *correction_of; /* per finding: the first of its corrections, or -1          */
    int32_t        corrections;
    int32_t        mending;       /* the first of them mend mistakes: for ct_recipe_correct. The rest are models of
                                     noise (full, lasting), whose gain only unseen recordings tell */
    ct_correction *correction;
    double        *correction_error; /* standard error of value[0] of each                    */
    int32_t        evidences;
    ct_evidence   *evidence;
    int32_t        imports;       /* how often the dataset was imported again                  */
    int64_t        tests;         /* number of hypotheses tested                               */
} ct_diagnosis;

/* Examine a dataset. It is not changed. options may be NULL. */
ct_status ct_doctor_examine(const ct_dataset *dataset, const ct_doctor_options *options, ct_diagnosis **out,
                            ct_err *err);
void      ct_diagnosis_free(ct_diagnosis *diagnosis);

#ifdef __cplusplus
}
#endif
#endif
