/* score.h: what the files of the module share.
 *
 *   trajectories    in memory, between stamps                            trajectory.c
 *     read          by expressions, by names of columns and fields       trajectory_read.c, trajectory_columns.c
 *                   of graphs                                            trajectory_graph.c
 *   mounts          sensors on the body, the point that is compared      mount.c
 *   association     poses of two trajectories side by side               associate.c
 *   alignment       least squares over positions                         alignment.c
 *   errors          pairs of RPE, figures                                pairs.c, figures.c, score.c
 *   covariances     axes and order, NEES                                 nees.c
 *   sites           fixed times of one log, residual vectors             sites.c, residuals.c
 */
#ifndef CT_SCORE_PRIVATE_H
#define CT_SCORE_PRIVATE_H

#include "base/base.h"

#include <covtune/score.h>

/* ---- Times ------------------------------------------------------------------------------------ */

/* b - a in s, for b >= a; the difference of any two stamps fits into 64 bits without sign. */
static inline double ct__seconds(ct_ns a, ct_ns b) { return (double)((uint64_t)b - (uint64_t)a) * 1e-9; }

/* stamp + offset, at the ends of the range of stamps if it is beyond them. */
ct_ns ct__stamp_plus(ct_ns stamp, double offset_s);

/* Stamps of trajectories without times are numbers of records in this unit. */
#define CT__NUMBERED INT64_C(1000000000)

/* ---- Trajectories ----------------------------------------------------------------------------- */

/* Poses in the order of time; those with the stamp of an earlier record are dropped. */
ct_status ct__trajectory_sort(ct_trajectory *trajectory, ct_err *err);
/* Is a record that is no pose at one of these times, or between? O(log n). */
int ct__broken_within(const ct_trajectory *trajectory, ct_ns from, ct_ns to);

/* x, y, yaw alone. */
ct_se3 ct__flat(ct_se3 pose);
/* Log of SE(2) of a pose with z = 0 that turns about z. */
void ct__planar_log(ct_se3 pose, double v[3]);
/* The axes x right, y down, z ahead of body and world become x ahead, y left, z up. */
ct_se3 ct__from_camera(ct_se3 pose);

/* ct_trajectory_at for times that rise: O(1) a step. */
typedef struct {
    const ct_trajectory *trajectory;
    int64_t at; /* first pose that is not before the last time */
} ct__cursor;
/* nearest (may be NULL) <- the pose whose stamp is nearest to t. */
int ct__cursor_at(ct__cursor *cursor, ct_ns t, double gap_s, ct_se3 *out, int64_t *nearest);

/* Is the file a graph? Then *out is its trajectory; else NULL. */
ct_status ct__trajectory_of_graph(const char *path, const ct_trajectory_options *options, ct_trajectory **out,
                                  ct_err *err);

/* What is read of a record: expressions, where they were found by name with their units. */
enum { CT__POSE_POSITION, CT__POSE_QUATERNION = 3, CT__POSE_YAW = 7, CT__POSE_MATRIX, CT__POSE_VALUES = 20 };
typedef struct {
    char *text[CT__POSE_VALUES]; /* NULL: not read */
    char *covariance[36];
    int32_t covariances;
    int world; /* the covariance's axes are the world's */
} ct__columns;
ct_status ct__columns_choose(const char *path, const ct_source *source, const ct_trajectory_options *options,
                             ct__columns *out, ct_err *err);
void ct__columns_free(ct__columns *columns);

/* ---- Mounts ----------------------------------------------------------------------------------- */

/* t->mount <- the options'. */
ct_status ct__mount_set(ct_trajectory *t, const ct_trajectory_options *options, ct_err *err);

typedef struct {
    ct_se3 by_estimate, by_truth; /* X <- X by                              */
    ct_se3 at;                    /* the point of the body that is compared */
    int mounted;                  /* 0: all are the identity                */
} ct__mounts;

ct_status ct__mounts_meet(const ct_trajectory *estimate, const ct_trajectory *truth, ct__mounts *out, ct_err *err);
/* P <- the covariance of X by, of that of the pose X; n: 3 in the plane, 6 in space. */
void ct__covariance_move(int n, ct_se3 by, double *P);

/* ---- Poses side by side ----------------------------------------------------------------------- */

typedef struct {
    int64_t count;
    int rotations, planar;
    ct_se3 *estimate, *truth;
    ct_ns *stamp;  /* of the truth's clock; numbers without times                       */
    int64_t *from; /* pose of the estimate's trajectory that it is, or is nearest to it */
    ct__mounts mounts;
} ct__sides;

ct_status ct__sides_new(int64_t room, const ct_trajectory *estimate, const ct_trajectory *truth, ct__sides *out,
                        ct_err *err);
void ct__sides_free(ct__sides *sides);
/* Puts a pair at the end, at the point that is compared; planar comparisons take x, y and yaw alone. */
void ct__sides_add(ct__sides *sides, ct_ns stamp, ct_se3 estimate, ct_se3 truth, int64_t from);

/* score->associate and score->lost are set. */
ct_status ct__associate(const ct_trajectory *estimate, const ct_trajectory *truth, const ct_score_options *options,
                        ct__sides *out, ct_score *score, ct_err *err);
/* CT_E_EMPTY: what does not overlap, and what to do; `nearer`: what to do where both are of one time. */
ct_status ct__no_overlap(const ct_trajectory *estimate, const ct_trajectory *truth, double offset_s, const char *rule,
                         const char *nearer, ct_err *err);

/* The estimates of `sides` are moved. */
ct_status ct__align(ct__sides *sides, ct_alignment alignment, ct_se3 *motion, double *scale, ct_err *err);

/* ---- Errors ----------------------------------------------------------------------------------- */

typedef struct {
    int64_t count;
    int64_t *first, *second;
} ct__pairs;

/* Pairs as ct_score_trajectory has them, from poses and their stamps. */
ct_status ct__pairs_choose(int64_t count, const ct_se3 pose[], const ct_ns stamp[], const ct_score_options *options,
                           ct__pairs *out, ct_err *err);
/* From every pose to the first that is delta on. */
ct_status ct__pairs_from_all(int64_t count, const ct_se3 pose[], const ct_ns stamp[], double delta, ct_delta_unit unit,
                             ct__pairs *out, ct_err *err);
void ct__pairs_free(ct__pairs *pairs);
ct_status ct__check_delta(double delta, ct_delta_unit unit, int timed, ct_err *err);

double ct__distance(ct_se3 a, ct_se3 b);
double ct__turn_angle(ct_se3 e); /* |Log R| */
/* (a_i^-1 a_j)^-1 (b_i^-1 b_j) */
ct_se3 ct__relative(ct_se3 a_i, ct_se3 a_j, ct_se3 b_i, ct_se3 b_j);
/* value is used up. */
ct_error_figures ct__figures(int64_t count, double value[]);
ct_status ct__errors(const ct__sides *sides, const ct__pairs *pairs, ct_score *score, ct_err *err);
/* score->nees, score->covariances: of the sides, aligned by the motion and scale in the score. */
void ct__score_nees(const ct__sides *sides, const ct_trajectory *estimate, ct_score *score);

/* ---- Covariances ------------------------------------------------------------------------------ */

/* Rows of the covariance that a trajectory stores, of n in the file; 0: none. */
int ct__covariance_rows(int n, int rotations, int planar);
/* Covariance of a file, n x n, translation first, to the form of ct_trajectory (see there), of the pose `at`. world:
 * its axes are the world's, else the body's. */
void ct__covariance_store(int n, int rotations, int planar, int world, ct_se3 at, const double *in, double *out);
/* From camera axes of body and world to the robot's. */
void ct__covariance_from_camera(int n, double *P);

#endif
