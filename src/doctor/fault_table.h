/* fault_table.h: the samples of a sensor as rows of a regression on its faults, all or those of one recording. */
#ifndef CT_FAULT_TABLE_H
#define CT_FAULT_TABLE_H
#include "doctor/doctor.h"

#define CT__PARTS 4 /* of a recording */

/* The rows of a sensor's samples, under a fault. */
typedef struct {
    ct__exam   *e;
    ct__sensor *s;
    int32_t     recording; /* -1: all */
    int         part;      /* of its samples: 1 to CT__PARTS; 0: all */
    double     *r, *D, *w;
    int32_t    *run, *group, *from; /* from: index of the sample */
    double     *room;
    int32_t     count;
    uint8_t     closed[CT__PARAMS_MAX], still[CT_ROWS_MAX]; /* of the sensor before faults are selected */
} ct__table;

ct_status ct__table_new(ct__table *t, ct_err *err); /* of e and s, which are set */
void      ct__table_free(ct__table *t);
/* Rows and derivatives under f, of the samples that faults are fitted to. */
void ct__table_fill(ct__table *t, const ct__fault *f);
/* May parameter j be looked for? */
int            ct__table_open(const ct__sensor *s, int j);
ct__regression ct__table_regression(const ct__table *t);
ct__trial      ct__table_trial(const ct__table *t, const ct__fit *fit);
/* screen: also what parameters that are not in use would be. */
ct_status ct__table_regress(const ct__table *t, int screen, ct__fit *fit, ct_err *err);
/* Fit the parameters in use by Gauss-Newton; f <- the faults. */
ct_status ct__table_settle(ct__table *t, int screen, ct__fit *fit, ct__fault *f, ct_err *err);
/* Effects in sigmas below which a fault does not matter. */
double ct__least_effect(const ct__sensor *s);

/* recordings.c: faults of each recording. */
typedef struct {
    int32_t    recordings; /* with enough samples; 0: one correction for all                     */
    int32_t   *recording;
    ct__fault *fault;
    double    *error;      /* recordings x params */
    double     mean[CT__PARAMS_MAX], mean_error[CT__PARAMS_MAX], spread[CT__PARAMS_MAX];
} ct__by_recording;

void ct__by_recording_free(ct__by_recording *b);
/* A fault that differs between recordings, and may be none in the mean, joins those in use, marked by 3. */
ct_status ct__choose_by_recording(ct__table *all, ct__fit *fit, const ct__fault *f, int *found, ct_err *err);
/* b <- the faults in use of each recording, if they differ. */
ct_status ct__split_recordings(ct__table *t, ct__fit *fit, const ct__fault *f, ct__by_recording *b, ct_err *err);
/* fit->e <- errors under each recording's own faults. */
void ct__take_errors(const ct__table *t, const ct__by_recording *b, ct__fit *fit);

#endif
