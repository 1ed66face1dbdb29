/* covtune/score.h: a trajectory compared with another: association, alignment, absolute and relative pose errors, and
 * residual vectors for learning.
 *
 *     estimate, truth ─► associate ─► align ─► errors (APE, RPE)                          covtune score
 *     truth, first estimate ─► sites;  sites, estimate ─► residuals, errors               covtune tune
 *
 * Poses are in space; planar ones have z = 0 and turn about z. A trajectory of positions alone has no rotations, and
 * then no rotation errors. Figures agree with those of evo: APE is the difference of associated poses, RPE the
 * difference of motions over a number of frames, seconds or metres.
 */
#ifndef COVTUNE_SCORE_H
#define COVTUNE_SCORE_H

#include <covtune/lie.h>
#include <covtune/noise.h>
#include <covtune/source.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Trajectories ---------------------------------------------------------------------------- */

typedef struct {
    int64_t poses;
    int     timed;       /* 0: stamps are numbers of records                                         */
    int     rotations;   /* 0: positions alone                                                       */
    int     planar;      /* 1: made of x, y or x, y, yaw: z, roll and pitch are not compared         */
    ct_ns  *stamp;       /* rising                                                                   */
    ct_se3 *pose;
    /* n x n a pose, n = covariance_dim, or NULL (by malloc; ct_trajectory_free frees it). Of poses in the body's axes
     * and tangent order of SE(2) (3) or SE(3) (6); of positions (planar 2, else 3) in the axes of the world          */
    double *covariance;
    int     covariance_dim;
    int64_t dropped;     /* records with numbers that are missing or not finite, or with the stamp of a later one */
    int64_t reordered;   /* records with a stamp before that of the one before; the trajectory is sorted      */
    int64_t without_stamp; /* of the dropped: records whose stamp is no number                                */
    int64_t broken;      /* of the dropped: records with a stamp that are no poses: not finite, no rotation   */
    ct_ns  *broken_stamp;/* `broken` of them, rising; by malloc. Sites between such a record and its neighbours are
                            lost: nothing is interpolated over it                                             */
    int     mounted;     /* 1: `mount` is the pose on the body of what is tracked; 0: it is the body's origin */
    ct_se3  mount;
    double  largest_yaw; /* of absolute values of a yaw, as it was read, rad; 0: rotations are no yaws        */
} ct_trajectory;

/* X(constant, name, description): the frame and order of a covariance that a file has */
#define CT_COVARIANCE_FRAME_LIST(X)                                                                                    \
    X(CT_COVARIANCE_LOCAL, "local", "the body's axes at the estimate, translation first")                              \
    X(CT_COVARIANCE_WORLD, "world", "the axes of the world, translation first, as in ROS messages")

typedef enum {
#define X(constant, name, description) constant,
    CT_COVARIANCE_FRAME_LIST(X)
#undef X
    CT_COVARIANCE_FRAME_COUNT
} ct_covariance_frame;

/* How a trajectory is read: the source, and expressions for its poses (source.h). All NULL: by the format (TUM, EuRoC,
 * KITTI); of tables the columns x, y, z, qx, qy, qz, qw or x, y, yaw, with the units of the header; of messages the
 * pose, transform or point in them. Without time (source.h) in a table the poses are numbered: timed is 0. Strings are
 * borrowed by ct_trajectory_read only.
 *
 * Graphs (.ctseq, g2o, LEO, PyFactorGraph, iSAM) are read as sequences where nothing is said about columns: the poses
 * of one body, with their truth, or with `estimate`, or where the file has no truth, with their values. */
typedef struct {
    ct_source_options   source;
    const char         *position[3];   /* two or three                                              */
    const char         *quaternion[4]; /* x, y, z, w                                                */
    const char         *yaw;
    const char         *matrix[12];    /* 3 x 4, row by row                                         */
    const char         *covariance[36];
    int32_t             covariances;   /* 0; n: variances of the diagonal; n * n: row by row. n is 2 or 3 for positions
                                          (with rotations too), 3 for x, y, yaw, 6 for poses, translation first.
                                          0 with messages that have one: it is read                           */
    ct_covariance_frame covariance_frame; /* of messages always the world                                     */
    int                 camera;        /* 1: camera axes (x right, y down, z ahead) of the body and the world */
    int                 geodetic;      /* 1: position is latitude and longitude in degrees, height in m (WGS 84);
                                          the trajectory has x, y, z of the Earth (ECEF)                      */
    double              mount[7];      /* pose on the body of what is tracked: x, y; x, y, z, or x, y, yaw of poses in
                                          the plane; x, y, z, qx, qy, qz, qw                                  */
    int32_t             mounts;        /* numbers of it: 2, 3 or 7; 0: the body's origin                      */
    const char         *body;          /* of graphs: "x" of x0, x1, ...; NULL: the only one                   */
    int                 estimate;      /* of graphs: 1: values, 0: the truth where there is one               */
} ct_trajectory_options;

ct_trajectory_options ct_trajectory_defaults(void);
/* CT_E_PARSE, CT_E_ARGUMENT as of ct_source_open; CT_E_ARGUMENT also if no columns or fields of a pose are known by
 * name; CT_E_EMPTY: no record is a pose. Poses that are not finite are dropped and counted. Quaternions are made unit,
 * matrices the nearest rotation; those off by more than 1 % are CT_E_PARSE. O(n); O(n log n) if unsorted. */
ct_status ct_trajectory_read(const char *path, const ct_trajectory_options *options, ct_trajectory **out, ct_err *err);
/* A trajectory of `poses` identities, timed, with stamps 0, to be filled. */
ct_status ct_trajectory_new(int64_t poses, int rotations, ct_trajectory **out, ct_err *err);
void      ct_trajectory_free(ct_trajectory *trajectory);
/* The pose at a time: exact at a stamp, else between neighbours that are at most gap_s apart: position linear, rotation
 * along the shortest arc. 0: none. O(log n). */
int ct_trajectory_at(const ct_trajectory *trajectory, ct_ns t, double gap_s, ct_se3 *out);

/* Motions by which poses of trajectories with mounts meet, X <- X by: where both have rotations at the body, where one
 * has positions alone at the point that it tracks. Every comparison below moves poses so; this is for pictures of them.
 * CT_E_ARGUMENT: neither has rotations, and they track other points; the estimate, moved, has covariances of positions
 * alone. */
ct_status ct_trajectory_meet(const ct_trajectory *estimate, const ct_trajectory *truth, ct_se3 *by_estimate,
                             ct_se3 *by_truth, ct_err *err);

/* ---- Errors ---------------------------------------------------------------------------------- */

/* X(constant, name, description) */
#define CT_ALIGNMENT_LIST(X)                                                                                           \
    X(CT_ALIGNMENT_NONE, "none", "one frame already")                                                                  \
    X(CT_ALIGNMENT_FIRST, "first", "the first poses are made equal")                                                   \
    X(CT_ALIGNMENT_YAW, "yaw", "position and yaw: gravity is known")                                                   \
    X(CT_ALIGNMENT_SE2, "se2", "a rigid motion in the plane; z is left alone")                                         \
    X(CT_ALIGNMENT_SE3, "se3", "a rigid motion")                                                                       \
    X(CT_ALIGNMENT_SIM3, "sim3", "a rigid motion and a scale")

typedef enum {
#define X(constant, name, description) constant,
    CT_ALIGNMENT_LIST(X)
#undef X
    CT_ALIGNMENT_COUNT
} ct_alignment;

const char *ct_alignment_name(ct_alignment alignment);
int         ct_alignment_find(const char *name); /* a ct_alignment, or -1 */

/* X(constant, name, description) */
#define CT_ASSOCIATE_LIST(X)                                                                                           \
    X(CT_ASSOCIATE_NEAREST, "nearest", "each pose of the one with fewer poses, with the nearest in time")              \
    X(CT_ASSOCIATE_INTERPOLATE, "interpolate", "each pose of the estimate with the truth at its time")                 \
    X(CT_ASSOCIATE_INDEX, "index", "by number: trajectories without times")

typedef enum {
#define X(constant, name, description) constant,
    CT_ASSOCIATE_LIST(X)
#undef X
    CT_ASSOCIATE_COUNT
} ct_associate;

const char *ct_associate_name(ct_associate associate);
int         ct_associate_find(const char *name);

typedef enum { CT_DELTA_FRAMES, CT_DELTA_SECONDS, CT_DELTA_METRES, CT_DELTA_COUNT } ct_delta_unit;

/* "10f", "0.5s", "100 m" (also frames, seconds, metres; km, ms); 0: none of them. A number of frames is whole. */
int ct_delta_find(const char *text, double *delta, ct_delta_unit *unit);

typedef struct {
    int           associate;   /* a ct_associate; -1: NEAREST where both have times, else INDEX      */
    double        tolerance_s; /* of NEAREST: 0.01                                                   */
    double        gap_s;       /* of INTERPOLATE, the largest in the truth: 0.5                      */
    double        offset_s;    /* added to the stamps of the estimate                                */
    ct_alignment  align;
    double        delta;       /* of RPE: 1                                                          */
    ct_delta_unit delta_unit;
    double        delta_tolerance; /* of metres and seconds, relative: 0.1, as evo                    */
    int           all_pairs;   /* 0: consecutive pairs, as evo without all_pairs                     */
} ct_score_options;

ct_score_options ct_score_defaults(void);

typedef struct {
    double  rmse, mean, median, sd, min, max; /* NaN: none */
    int64_t count;
} ct_error_figures;

typedef struct {
    ct_associate     associate;        /* that was used; of sites no matter                                     */
    int64_t          poses;            /* associated                                                            */
    int64_t          lost;             /* sites, or poses of the one with fewer within the other's time, alone  */
    double           covered;          /* share of the truth's duration that has an estimate: between associated
                                          poses at most gap_s (or twice their median interval) apart; of sites
                                          the share that is not lost                                            */
    ct_se3           motion;           /* of the alignment: a position p becomes scale R p + t                  */
    double           scale;
    ct_error_figures ape_translation, ape_rotation, rpe_translation, rpe_rotation; /* m, rad */
    double           nees;             /* mean of e' P^-1 e per coordinate; NaN without covariances             */
    int64_t          covariances;      /* poses of that mean: their covariance is positive definite             */
    double           length_m;         /* of the truth, over the poses that are compared                        */
} ct_score;

/* Errors are those of evo. APE: |t(E)| and |Log R(E)| of E = truth^-1 aligned. RPE: of E = (truth_i^-1 truth_j)^-1
 * (aligned_i^-1 aligned_j) over pairs i, j. Consecutive pairs begin where the one before ends: frames 0, d, 2 d, ...;
 * seconds likewise; metres along the path of the aligned estimate, from the first pose that is d from the beginning.
 * All pairs: from every i to i + d, or to the j whose distance (in time) is nearest to d, within the tolerance.
 * If one trajectory is planar, both are compared as x, y, yaw; if one has no rotations, as positions.
 * CT_E_EMPTY if no poses are associated, with the time intervals of both. CT_E_ARGUMENT: times of one only; by index
 * different numbers of poses. CT_E_SINGULAR: positions do not determine the alignment (all equal, in space on one
 * line). O(n). */
ct_status ct_score_trajectory(const ct_trajectory *estimate, const ct_trajectory *truth,
                              const ct_score_options *options, ct_score *out, ct_err *err);

/* ---- Sites: residuals of one log, comparable from run to run ---------------------------------- */

/* X(constant, name, description) */
#define CT_TRACK_LOSS_LIST(X)                                                                                          \
    X(CT_TRACK_LOCAL, "local", "Log(truth^-1 estimate): in the body's axes, whatever the origin")                      \
    X(CT_TRACK_LEFT, "left", "Log(estimate truth^-1): the paper's; depends on the origin")                             \
    X(CT_TRACK_RELATIVE, "relative", "difference of motions over `delta`")

typedef enum {
#define X(constant, name, description) constant,
    CT_TRACK_LOSS_LIST(X)
#undef X
    CT_TRACK_LOSS_COUNT
} ct_track_loss;

#define CT_GAP_USUAL (-1.0)

typedef struct {
    ct_track_loss type;
    double        delta;       /* of RELATIVE and of RPE: from every site to the first that far on, of the truth: 1 */
    ct_delta_unit delta_unit;  /* frames: sites                                                                 */
    double        translation, rotation; /* weights of squared residuals, 1/m^2 and 1/rad^2: 1, 1                */
    ct_robust     robust;      /* of each pose's weighted residual, as (sqrt(2 rho) / d) r: its square is 2 rho */
    double        lost;        /* a lost pose counts as this many times the median squared residual of the first
                                  estimate's poses (1 if that is 0): 100                                        */
    double        nees;        /* weight w of log(NEES)^2 with the mean per coordinate: a row sqrt(w poses) log(NEES);
                                  needs covariances: 0                                                          */
    ct_alignment  align;
    double        gap_s;       /* largest gap of truth and estimate that is interpolated; CT_GAP_USUAL: 0.5, and of
                                  estimates 2.5 median intervals of the first one if that is more               */
    double        offset_s;    /* added to the stamps of the estimate                                           */
    double        skip_s;      /* after both have begun: not compared                                           */
    int           whole;       /* 1: the truth before the first estimate's beginning and after its end counts too: 0.
                                  One truth may be that of several logs, and longer than each                   */
} ct_track_options;

ct_track_options ct_track_defaults(void);
const char      *ct_track_loss_name(ct_track_loss loss);
int              ct_track_loss_find(const char *name); /* a ct_track_loss, or -1 */

/* The times of one log at which estimates are compared with the truth. They are fixed, so that residual vectors of
 * different runs agree entry by entry: the stamps of the first estimate that the truth covers, and, where the first
 * estimate has a gap of more than gap_s, the truth's own stamps at the estimate's median rate. Without times both
 * must have the same number of poses (CT_E_ARGUMENT); a later estimate that is shorter loses the rest. */
typedef struct ct_sites ct_sites;

/* Copies what it needs. CT_E_EMPTY: truth and estimate do not overlap, with the intervals. */
ct_status ct_sites_choose(const ct_trajectory *truth, const ct_trajectory *first, const ct_track_options *options,
                          ct_sites **out, ct_err *err);
void      ct_sites_free(ct_sites *sites);
/* Entries of the residual vector: 2, 3 or 6 a site (or pair of sites), and 1 for NEES if it has weight. */
int64_t ct_sites_rows(const ct_sites *sites);
int64_t ct_sites_count(const ct_sites *sites);
/* Time of the site that a row belongs to, in s since the first site; of a pair the second. */
double ct_sites_time(const ct_sites *sites, int64_t row);
/* residual: room for ct_sites_rows. Half its square sum is the loss. Entries of lost poses are the penalty's root,
 * spread over the entries of the site. score may be NULL; its RPE is over options.delta. CT_E_EMPTY: no site has an
 * estimate. */
ct_status ct_sites_residuals(const ct_sites *sites, const ct_trajectory *estimate, double residual[], ct_score *score,
                             ct_err *err);

/* What one constant correction would leave of the errors at the sites, root mean squares in m and rad: what the
 * constant of a quarter of the path (of a half, below 40 sites) leaves of the others, at worst. It is a small part of
 * what there was if a convention is another; drift does not go on as it began. NaN: there are no rotations or times,
 * positions do not determine it, or fewer than 10 sites have an estimate. Of a relative loss without alignment: after
 * a rigid motion, for its frame is arbitrary; in space without rotations. */
typedef struct {
    double translation, rotation; /* as they are compared                                                       */
    double moved;                 /* positions after a rigid motion, by least squares; NaN: they were aligned, or
                                     the loss is of motions                                                     */
    double rigid;                 /* the same, aligned or not: what a scale has to beat                         */
    double scale, scaled;         /* ... and with a scale; that of all sites                                    */
    double turn[3], turned;       /* rotations if the truth's body is the estimate's turned by Exp(turn)        */
    double mirrored;              /* yaws if their sign is turned, and a constant added; planar ones alone      */
    double reflected;             /* positions with x and y exchanged, after a rigid motion                     */
    double largest_yaw;           /* of the estimate's: ct_trajectory.largest_yaw                               */
    double late_s, shifted;       /* positions if the stamps of the estimate are late by that                   */
    double lever[3], levered;     /* positions if the truth is of this point of the estimate's body; not with mounts */
    int    planar, mounted;       /* as they were compared                                                      */
} ct_conventions;

/* CT_E_EMPTY: no site has an estimate. */
ct_status ct_sites_conventions(const ct_sites *sites, const ct_trajectory *estimate, ct_conventions *out, ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
