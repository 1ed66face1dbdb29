/* doctor.h: what the files of the doctor share.
 *
 *   survey.c      sequences, bodies in time, sensors and their samples
 *   complete.c    values: the truth, completed by an estimate where it is not known
 *   track.c       a body between its states
 *   values.c      measurements as vectors: rows in their units
 *   rows.c        residual of a sample under faults, and its derivatives by them
 *   regress.c     robust regression with standard errors for dependent errors
 *   instruments.c odometry whose noise is not in what it measures
 *   motion.c      steps at which a body rests
 *   describe.c    what a sensor varies in, rows that it does not measure
 *   repeated.c    measurements that repeat
 *   groups.c      samples with one sigma
 *   faults.c      which faults of a sensor the data show, and their size
 *   delays.c      delays that are longer than a step
 *   large.c       units and axes
 *   conventions.h conventions of poses and headings: order, axes, inverse, degrees
 *   noise_rows.c  rows and frame in which noise is tested
 *   noise_tests.c, tails.c, depends.c    what remains
 *   truth_faults.c truth_jumps.c truth_tests.c    truth: gaps, copies, jumps
 *   truth_noise.c                        truth: noise of its own
 *   truth_turned.c                       truth: yaw that is not compared, but used
 *   truth_unrelated.c                    truth: of another body, recording or clock
 *   import_findings.c                    what an import says of the files
 *   repeated.c                           measurements that are there again
 *   influence.c                          what does not matter, what nothing determines
 *   trial.c       faults that are applied exactly
 *   corrections.c faults as corrections of a recipe
 *   frames.c      the frame of the truth, jointly from all sensors that see the world
 *   report.c      findings, evidence
 *   evidence.c    pictures of faults
 *   compose.c     corrections after those that a recipe has
 *   imports.c     examinations until corrections stay
 *   polish.c      delays of commands, by imports
 *   held_velocities.c  delays that an import makes itself
 *   guard.c       corrections that are refused: measurements fit worse with them
 *   examine.c     one examination
 */
#ifndef CT_DOCTOR_PRIVATE_H
#define CT_DOCTOR_PRIVATE_H

#include "base/base.h"
#include "base/select.h"
#include "evaluate/evaluate.h"
#include "graph/bodies.h"

#include <covtune/doctor.h>

#define CT__SAMPLES_LEAST 40   /* of a sensor with fewer nothing is said */
#define CT__DRIFT_MOST    0.05 /* s a second: no clock is that bad       */

/* ---- Data ------------------------------------------------------------------------------------ */

/* A sequence. Bodies are poses of one name in the order of their stamps. */
typedef struct {
    const ct_sequence *seq;
    int32_t            recording; /* index */
    int32_t            index;     /* among the training, then the test sequences */
    int                train;     /* 1: faults are fitted to it                  */
    ct__bodies         bodies;
    int                timed;      /* every pose of a moving body has a stamp */
    double             t0;         /* first stamp                             */
    int32_t           *order;      /* variables by body and time              */
    int32_t           *first;      /* per body: its first place in order; one more at the end */
    int32_t           *place;      /* per variable: its place in order        */
    uint8_t           *moving;     /* per variable                            */
    uint8_t           *whole;      /* per variable: its truth is known in full, or it is fixed */
    double            *x;          /* truth, completed                        */
    double            *t;          /* per variable: stamp, else rank          */
} ct__exam_sequence;

typedef struct {
    int32_t sequence, factor;
    int32_t model;     /* index among the sensor's models */
    int32_t target;    /* samples of equal number are of one target */
    int     estimated; /* 1: the truth does not determine its residual */
    int     rest;      /* 1: a step of odometry at which the body rests: motion.c */
    double  t;
} ct__sample;

/* Forward model of a sensor:  w = scale * true value + bias * u,  true value = h(F^-1 x(stamp + delay + drift (stamp -
 * t0)), mount o Exp(m)),  u the duration of a step, or 1. Frames turn about `centre`. */
typedef struct {
    double  delay, drift;
    double  scale[CT_ROWS_MAX], bias[CT_ROWS_MAX];
    double  wheel[2]; /* left, right: factors of the ways that they measure */
    double  mount[CT_DIM_MAX];
    double  frame[CT_SIZE_MAX]; /* an element of the kind of the poses */
    int     axis[CT_ROWS_MAX];  /* row i of the measured value is axis |axis[i]| - 1, with its sign */
    double  unit[CT_ROWS_MAX];  /* and is divided by this                                           */
} ct__fault;

typedef enum {
    CT__FAULT_DELAY,
    CT__FAULT_DRIFT,
    CT__FAULT_BIAS,
    CT__FAULT_SCALE,
    CT__FAULT_WHEEL,
    CT__FAULT_MOUNT,
    CT__FAULT_FRAME
} ct__fault_kind;

#define CT__PARAMS_MAX (2 + 4 * CT_DIM_MAX)

typedef struct {
    ct__fault_kind kind;
    int            row; /* or coordinate, or wheel */
} ct__param;

#define CT__MODELS_MAX 16 /* regimes of one sensor */
#define CT__GROUPS_MAX 32 /* groups of samples with one sigma */

/* Factors of one group of noise models and one measurement model; odometry apart from other relative poses. */
typedef struct {
    char                 name[64];
    const ct_factor_ops *ops;
    int                  rows;
    int                  loops;    /* 1: relative poses of poses that are no neighbours          */
    int                  odometry; /* 1: relative poses of neighbours                            */
    int                  tied;     /* 1: to the world                                            */
    int                  measured; /* leading fields of z that are measured                      */
    int                  offset;   /* place of the mount in z; -1: there is none                 */
    int                  frozen;   /* its noise is given: it is not tested                       */
    int                  timed;    /* every sequence of a sample is                              */
    ct_kind              mount, pose;
    double               track;    /* m between the wheels of which it is the odometry; 0: of none    */
    double               centre[3];
    int32_t              model[CT__MODELS_MAX], models;
    ct__sample          *sample;
    int32_t              samples;
    int64_t              capacity, all; /* all: before thinning */
    int                  params;
    ct__param            param[CT__PARAMS_MAX];
    ct__fault            fault;
    int                  estimated; /* 1: most samples are at the estimate  */
    int                  exact;     /* 1: noise is not in what it measures: instruments.c */
    uint8_t              still[CT_ROWS_MAX]; /* rows whose measured value does not vary */
    uint8_t              held[CT_ROWS_MAX];  /* rows that are always 0: not measured, describe.c */
    uint8_t              absent[CT_ROWS_MAX]; /* such rows whose true value varies: no part of residuals */
    uint8_t              blind[CT_ROWS_MAX]; /* rows of odometry whose residuals have its own headings: describe.c */
    uint8_t              mute[CT_ROWS_MAX];  /* rows that noise is not tested with: noise_rows.c */
    int                  placed;    /* 1: the truth knows the positions of most samples */
    uint8_t              closed[CT__PARAMS_MAX]; /* parameters that do not hold when they are applied */
    int                  copied;    /* 1: the truth is a copy of one of its rows: not examined      */
    int                  spoiled;   /* 1: a fault makes its other rows meaningless */
    struct ct__fit      *fit;
} ct__sensor;

typedef struct {
    const ct_dataset  *dataset;
    ct_doctor_options  options;
    int32_t            sequences, recordings;
    ct__exam_sequence *sequence;
    char             **recording; /* names */
    uint8_t           *trained;   /* per recording: one of its sequences is for training */
    int32_t            sensors;
    int64_t            sensor_capacity;
    ct__sensor        *sensor;
    int64_t            tests;
    double             alpha; /* of one test */
    double             frame_moved; /* the common frame of all sensors, in its standard errors; 0: there is none */
    double             delay;        /* of the odometry that was examined before; NAN: none */
    int                truth_late;   /* 1: a delay that all sensors have is the truth's, as in an earlier import */
    int                frames_apart; /* 1: frames are those of single sensors, as in an earlier import */
    const struct ct__forced *forced; /* faults that are fitted in any case */
    int32_t            forceds;
    const struct ct__forced *excluded; /* faults that are not looked for */
    int32_t            excludeds;
    const struct ct__exact_list *settled; /* sensors whose delay is not fitted; may be NULL */
    ct_diagnosis      *out;
    int64_t            finding_capacity, correction_capacity, error_capacity, evidence_capacity;
} ct__exam;

/* A fault of a sensor that an earlier examination found. */
typedef struct ct__forced {
    char      name[64];
    int       loops, by_recording;
    ct__param param;
    char      subject[128]; /* of its finding */
} ct__forced;

/* faults.c: is it parameter j of the sensor? */
int ct__forces(const ct__forced *forced, const ct__sensor *s, int j);

/* examine.c: one examination; e->out is made, the caller frees it and e. */
ct_status ct__examine(ct__exam *e, ct_err *err);
/* imports.c: the same until corrections stay, with imports by the recipe of the options. */
ct_status ct__examine_with_imports(const ct_dataset *dataset, const ct_doctor_options *options, ct_diagnosis **out,
                                   ct_err *err);
/* held_velocities.c: says of delays of odometry that they are those of velocities which hold until the next record. */
ct_status ct__explain_held_velocities(const ct_doctor_options *options, ct_diagnosis *d, ct_err *err);
/* compose.c: *out <- entries of the recipe that corrections of its dataset change. For the caller to free. */
ct_status ct__compose_corrections(const ct_recipe *recipe, int32_t count, const ct_correction *correction,
                                  ct_correction **out, int32_t *outs, ct_err *err);
/* guard.c: sensors whose noise is not in what they measure. */
#define CT__EXACT_MAX 64
typedef struct ct__exact_list {
    int32_t count;
    char    name[CT__EXACT_MAX][64];
} ct__exact_list;
int  ct__exact_has(const ct__exact_list *list, const char *name);
void ct__exact_add(ct__exact_list *list, const ct__exam *e);

/* polish.c: out += what is to be added to the delay of such a sensor, for each recording if it differs, so that its
 * errors scatter least. dataset: as the recipe imports it. */
ct_status ct__polish_delay(const ct_recipe *recipe, const ct_dataset *dataset, const ct_doctor_options *options,
                           const ct__forced *fault, ct_diagnosis *out, int32_t *imports, ct_err *err);

/* guard.c: drops corrections with which measurements fit worse, and says so. d: its corrections are for
 * ct_recipe_correct with this recipe. */
ct_status ct__guard_corrections(const ct_recipe *recipe, const ct_doctor_options *options, const ct__exact_list *exact,
                                ct_diagnosis *d, ct_err *err);
/* The sensor of a recipe that has a noise model; 0: none, or several. */
int ct__recipe_sensor_of(const ct_recipe *recipe, const char *model, char name[64]);

/* survey.c */
ct_status ct__exam_survey(ct__exam *e, ct_err *err);
void      ct__exam_free(ct__exam *e);
/* places.c. NULL: no memory; the caller frees it. */
typedef struct {
    int32_t sequence, target, at; /* at: index of the sample */
} ct__place;
ct__place *ct__order_by_target(const ct__sensor *s);
int        ct__same_place(const ct__place *a, const ct__place *b);

/* truth_frozen.c: says where the truth stays to the last digit though odometry moves, and drops samples there. */
ct_status ct__drop_frozen_truth(ct__exam *e, ct_err *err);

/* motion.c */
ct_status ct__mark_rest(const ct__exam *e, ct__sensor *s, ct_err *err);

/* complete.c */
ct_status ct__exam_complete(ct__exam *e, ct_err *err);

/* track.c: the pose of the body of variable v at stamp t: the polynomial through five states. 0: outside by more
 * than a step, or a state is not known. twist (may be NULL): its body velocity there. */
int ct__pose_at(const ct__exam_sequence *s, int32_t v, double t, double *x, double *twist);

/* values.c: the measured value of z in the rows' units, of absolute poses position and rotation vector, of relative
 * poses the logarithm; and back into z. */
int  ct__measured_fields(const ct_factor_ops *ops);
void ct__value_of(const ct__sensor *s, const double *z, double *w);
void ct__value_set(const ct__sensor *s, const double *w, double *z);
/* 1: row i is an angle. */
int  ct__row_turns(const ct__sensor *s, int i);
/* w <- the measured value under the unit and axes of a fault. */
void ct__value_true(const ct__fault *f, int rows, const double *w, double *out);

/* rows.c: the residual of a sample under a fault, divided by the root of its multiplier, and D (rows x params) its
 * derivative by the parameters; NULL: not wanted. w (may be NULL): the predicted value. 0: there is none. */
void ct__fault_none(const ct__sensor *s, ct__fault *f);
int  ct__sample_row(const ct__exam *e, const ct__sensor *s, const ct__sample *q, const ct__fault *f, double *r,
                    double *D, double *w);
void ct__fault_step(const ct__sensor *s, const double *step, ct__fault *f);
double ct__fault_value(const ct__sensor *s, const ct__fault *f, int param);
const char *ct__param_name(const ct__sensor *s, int param, char *buf, size_t size);
/* dt of a step, or 1. */
double ct__sample_duration(const ct__exam *e, const ct__sensor *s, const ct__sample *q);

/* ---- Regression ------------------------------------------------------------------------------ */

/* r = -D phi + e over samples in groups of `rows` rows, in order; a new `run` begins a stretch that does not depend on
 * the one before. */
typedef struct {
    int32_t        samples;
    int            rows, params;
    const double  *r, *D;   /* samples x rows, samples x rows x params             */
    const int32_t *run;     /* per sample                                          */
    int            plain;   /* 1: least squares, but for gross outliers            */
    const int32_t *group;   /* per sample: whose scale it has; NULL: all of one    */
} ct__regression;

typedef struct ct__fit {
    int32_t samples; /* copy of the regression's sizes */
    int     rows, params;
    uint8_t use[CT__PARAMS_MAX];
    double  phi[CT__PARAMS_MAX], error[CT__PARAMS_MAX];
    double  covariance[CT__PARAMS_MAX * CT__PARAMS_MAX];
    double  information[CT__PARAMS_MAX * CT__PARAMS_MAX]; /* of ct__regress; 0 in directions without any */
    double  scale[CT__GROUPS_MAX][CT_ROWS_MAX]; /* robust sigma of e, of each group of samples           */
    double  sigma[CT__MODELS_MAX][CT_ROWS_MAX]; /* of each noise model: faults.c                         */
    double  white[CT__MODELS_MAX][CT_ROWS_MAX]; /* the same of errors that noise is tested with          */
    double  degrees;                            /* of Student's distribution that errors follow          */
    double  wald[CT__PARAMS_MAX];               /* of a parameter that is not in use: phi / error if it were */
    double  effect[CT__PARAMS_MAX];             /* of the same: rms of D phi in sigmas                   */
    double  unit_effect[CT__PARAMS_MAX];        /* of one unit                                           */
    double  alone[CT__PARAMS_MAX];              /* of a parameter that is not in use: phi if it were     */
    double  plain[CT__PARAMS_MAX];              /* error of phi if errors were independent, of variance 1 */
    double *e, *weight;                         /* samples x rows; samples                               */
} ct__fit;

/* Fit the parameters with use[j], which the caller sets: phi, error, covariance, scale, e, weight. */
ct_status ct__regress(const ct__regression *g, ct__fit *fit, ct_err *err);
/* The same with noise from the fit of all parameters, and what those not in use would be: wald, effect. */
ct_status ct__screen(const ct__regression *g, ct__fit *fit, ct_err *err);
void      ct__fit_free(ct__fit *fit);
/* Two-sided chance of a ratio of this size, Student's distribution. */
double ct__student_tail(double t, double degrees);
/* The upper tail of chi-square. */
double ct__chi_squared_tail(double x, double degrees);
/* The upper tail of a ratio of variances (F), with m degrees of freedom over n. */
double ct__variance_ratio_tail(double f, double m, double n);
/* 1.4826 times the median of |x|, x is used up. */
double ct__robust_sigma(int64_t n, double *x);
int    ct__invert(int n, double *A); /* symmetric positive definite, in place; 0: singular */

/* groups.c: group[k] <- the group of sample from[k], whose predicted value is w[k CT_ROWS_MAX]. room: 2 count of
 * numbers. */
void ct__group_samples(const ct__exam *e, const ct__sensor *s, int32_t count, const int32_t *from, const double *w,
                       double *room, int32_t *group);

/* trial.c: samples of a fit, for faults that are applied exactly. */
typedef struct {
    const ct__exam   *e;
    const ct__sensor *s;
    const ct__fit    *fit;
    int32_t           count;
    const int32_t    *from, *group; /* per sample: its index among those of the sensor, whose scale it has */
} ct__trial;

/* By how much the loss falls from fault a to b. */
double ct__gain(const ct__trial *t, const ct__fault *a, const ct__fault *b);
/* f <- f after the step of the fit, whose largest ratio to its error is given; 0: the loss does not fall. */
int ct__try_step(const ct__trial *t, double ratio, ct__fault *f);
int ct__delay_holds(const ct__trial *t, const ct__fault *f);
/* delays.c: mean duration between states; *delay <- near which the residuals of a sensor are smallest, NAN: they are
 * without any. */
double    ct__state_step(const ct__exam *e);
ct_status ct__scan_delay(const ct__exam *e, const ct__sensor *s, double *delay, ct_err *err);

/* ---- Stages ---------------------------------------------------------------------------------- */

void      ct__find_centre(const ct__exam *e, ct__sensor *s);
void      ct__describe(const ct__exam *e, ct__sensor *s);
/* describe.c: the track of wheels, by the recipe. */
void      ct__find_wheels(const ct__exam *e, ct__sensor *s);
/* describe.c: the sensor has a row of turns that it does not measure. */
int       ct__turns_unseen(const ct__sensor *s);
ct_status ct__report_held(ct__exam *e, const ct__sensor *s, ct_err *err);
/* instruments.c */
int  ct__is_exact(const ct__exam *e, const ct__sensor *s, int32_t count, const int32_t *from, const double *residual);
void ct__use_measured(const ct__exam *e, const ct__sensor *s, const ct__fault *f, int32_t count, const int32_t *from,
                      double *D);
ct_status ct__find_large_faults(ct__exam *e, ct__sensor *s, ct_err *err);
/* conventions.c: *out <- what the recipe misreads, with corrections, by trial imports; and what of it the truth's poses
 * alone show: they are then changed. */
ct_status ct__find_conventions(const ct_dataset *dataset, const ct_recipe *recipe, const ct_doctor_options *options,
                               ct_diagnosis **out, ct_err *err);
ct_status ct__change_conventions(ct__exam *e, ct_err *err);
/* truth_unrelated.c: says of which recordings, and drops their samples. *most: of half of them or more. */
ct_status ct__find_unrelated_truth(ct__exam *e, int *most, ct_err *err);
/* import_findings.c: *out <- what an import found in the files. */
ct_status ct__report_import(const ct_import_result *result, ct_diagnosis **out, ct_err *err);
int       ct__is_of_import(ct_finding_code code);
/* *out <- corrections of what it found, to be applied before all else. */
ct_status ct__correct_import(const ct_import_result *result, ct_diagnosis **out, ct_err *err);
ct_status ct__find_faults(ct__exam *e, ct__sensor *s, ct_err *err);
/* noise_rows.c: s->fit->e <- errors in the frame in which their rows correlate least; mute, white. Correlation of rows
 * that are not mute, with the weights of the fit: largest entry, rows, -1/2 log det R. */
typedef struct {
    double rho, gain, count; /* count: sum of weights */
    int    a, b, rows;       /* rows: that are not mute */
} ct__row_correlation;
ct__row_correlation ct__correlate_rows(const ct__sensor *s, const double *u);
ct_status ct__choose_noise_rows(ct__exam *e, ct__sensor *s, ct_err *err);
/* Errors in sigmas of their group by motion, so that noise that grows with motion has no tails. */
ct_status ct__level_groups(ct__exam *e, ct__sensor *s, ct_err *err);
int       ct__noise_row_count(const ct__sensor *s);
ct_status ct__test_noise(ct__exam *e, ct__sensor *s, ct_err *err);
ct_status ct__test_tails(ct__exam *e, ct__sensor *s, ct_err *err);
ct_status ct__test_dependence(ct__exam *e, ct__sensor *s, ct_err *err);
ct_status ct__test_influence(ct__exam *e, ct_err *err);

/* truth_faults.c: stretches without truth; rows that the truth copies: they mark their sensor. */
ct_status ct__find_truth_gaps(ct__exam *e, ct_err *err);
ct_status ct__find_truth_copies(ct__exam *e, ct__sensor *s, ct_err *err);
void      ct__drop_without_truth(const ct__exam *e, ct__sensor *s);
/* truth_noise.c: noise of the truth that odometry has to bear; before errors of odometry are changed by tests. */
ct_status ct__find_truth_noise(ct__exam *e, ct_err *err);
/* truth_tests.c: a truth that a sensor is part of. */
ct_status ct__find_truth_made_of(ct__exam *e, ct_err *err);
/* truth_jumps.c: jumps of the truth; values are then without them. */
ct_status ct__mend_truth_jumps(ct__exam *e, ct_err *err);
/* truth_turned.c: a yaw of the truth that does not count, and fixes first poses; *turned: there is that fault. */
ct_status ct__find_truth_turned(ct__exam *e, int *turned, ct_err *err);
/* repeated.c: a sensor that gives its last value again; its samples are then without those. */
ct_status ct__drop_repeated(ct__exam *e, ct__sensor *s, ct_err *err);

/* corrections.c: of a sensor's faults, without its frame; which belong to which finding. Is a kind of fault in use, and
 * the largest standard error of its parameters. */
int       ct__uses(const ct__sensor *s, ct__fault_kind kind);
double    ct__error_of(const ct__sensor *s, ct__fault_kind kind);
ct_status ct__correct_sensor(ct__exam *e, const ct__sensor *s, const ct__fault *f, int32_t recording, ct_err *err);
/* frames.c: of frames, when all sensors are examined. */
ct_status ct__correct_frames(ct__exam *e, ct_err *err);
/* faults.c: *f, *fit <- the sensor's faults with all coordinates of its frame among them. The caller frees the fit. */
ct_status ct__fit_frame(ct__exam *e, ct__sensor *s, ct__fault *f, ct__fit *fit, ct_err *err);
/* A delay that all sensors have is that of the truth. */
ct_status ct__find_common_delay(ct__exam *e, ct_err *err);
void      ct__assign_corrections(ct_diagnosis *d, const ct_recipe *recipe); /* recipe may be NULL */

/* report.c: append a finding about a sensor; row -1: all of it. The name of its subject. */
#define CT__ROW_WHEELS CT_ROWS_MAX /* the left wheel; then the right one */
void ct__subject_name(const ct__sensor *s, int row, char name[128]);
ct_status ct__report(ct__exam *e, const ct__sensor *s, int row, ct_finding_code code, int values, const double *value,
                     ct_err *err);
ct_status ct__report_correction(ct__exam *e, const ct__sensor *s, int32_t recording, ct_correction_kind kind, int count,
                                const double *value, double error, ct_err *err);
/* 0: no recipe has such numbers: too large, or a time that is not positive. A fit of what has another gross fault may
 * give them; there is no correction. */
int ct__can_correct(ct_correction_kind kind, int count, const double *value);
/* Without finding i and its evidence. */
void ct__remove_finding(ct_diagnosis *d, int32_t i);
/* Evidence of the last finding. Copies; thins evenly to at most 1000 points. */
ct_status ct__report_evidence(ct__exam *e, const char *x_label, const char *y_label, int64_t points, const double *x,
                              const double *y, int lines, const double *line_x, const double *line_y, ct_err *err);

/* A picture as it grows, and the line in it. ct__picture_report makes it the evidence of the last finding; either way
 * ct__picture_free. Without points there is no picture. */
typedef struct {
    double *x, *y;
    int64_t count, x_capacity, y_capacity;
    double  line_x[2], line_y[2];
} ct__picture;

ct_status ct__picture_add(ct__picture *p, double x, double y, ct_err *err);
/* The line at one height, over all points. */
void      ct__picture_level(ct__picture *p, double y);
/* The line y = slope x, over all points. */
void      ct__picture_slope(ct__picture *p, double slope);
ct_status ct__picture_report(ct__exam *e, const ct__picture *p, const char *x_label, const char *y_label, ct_err *err);
void      ct__picture_free(ct__picture *p);
/* "time (s)" of a sequence whose poses have stamps; and the time of a pose from its first on. */
const char *ct__time_label(const ct__exam_sequence *s);
double      ct__time_of(const ct__exam_sequence *s, int32_t variable);

/* evidence.c: the picture of parameter j, whose size is phi, of the last finding; from: per sample of g its index among
 * those of the sensor. */
ct_status ct__show_fault(ct__exam *e, const ct__sensor *s, const ct__regression *g, const int32_t *from,
                         const ct__fit *fit, double phi, int j, ct_err *err);
/* n values of `stride` columns each; a: the measured one, that of row `row`; b: the predicted one, of row `column`. */
typedef struct {
    int32_t       n;
    int           stride, a, b, row, column;
    const double *measured, *predicted;
} ct__values;
/* The picture of measured values over true ones, with the line y = slope x. */
ct_status ct__show_values(ct__exam *e, const ct__sensor *s, const ct__values *v, double slope, ct_err *err);

#endif
