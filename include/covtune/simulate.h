/* covtune/simulate.h: simulated data with known truth and noise: the paper's navigation, pose graphs, and tables as a
 * robot records them. Simulated pushing is in push.h. */
#ifndef COVTUNE_SIMULATE_H
#define COVTUNE_SIMULATE_H

#include <covtune/data.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Navigation: the paper's first study ------------------------------------------------------ */

#define CT_NAV_REGIMES 2

typedef enum { CT_SITUATION_NONE, CT_SITUATION_LINEAR, CT_SITUATION_CURVED, CT_SITUATION_STREET } ct_situation;

/* Smooth random paths in an area of 100 m x 50 m (SE3: 10 m high), with 0.3 m to 1 m between poses. Measurements, by
 * noise model:
 *   gps         a GPS-like pose on every pose after the first
 *   odom        odometry between neighbours
 *   first_pose  a prior of sigma 1e-3 at the truth on the first pose
 * Noise is drawn in the tangent space: z = g(truth) o Exp(e), e ~ N(0, Sigma). With two regimes the models are
 * "odom@0", "odom@1", ...; regime 1 holds from a quarter to three quarters of the sequence. An odometry factor has
 * the regime of the pose it leads to. */
typedef struct {
    ct_kind  kind;                /* CT_SE2 or CT_SE3                    */
    int32_t  least, most;         /* poses of a sequence: drawn from least .. most; at least 2 */
    int      regimes;             /* 1 or 2                              */
    double   odom[CT_NAV_REGIMES][36], gps[CT_NAV_REGIMES][36]; /* Sigma, dim x dim row-major, tangent order */
    uint64_t seed;                /* of the dataset                      */
    /* A slow GPS error, as from multipath: a first-order Gauss-Markov process b is added to the position in the world,
     * b <- a b + sqrt(1 - a^2) n, n ~ N(0, drift^2 I), a = exp(-1 / drift_poses). White-noise models cannot describe
     * it. drift 0: none. */
    double drift;       /* m                   */
    double drift_poses; /* correlation time, > 0 */
    /* A GPS error that swings: amplitude sin(2 pi i / period + phase) in each coordinate of the position in the world,
     * with phases of its own in each sequence. No process of ct_bias is like it. swing 0: none. */
    double swing;       /* amplitude, m        */
    double swing_poses; /* period, > 0         */
    /* A turn rate that odometry has too much, a random walk: b <- b + n, n ~ N(0, gyro^2), b ~ N(0, gyro_start^2) at
     * first. It is added to yaw (SE3: rz). gyro and gyro_start 0: none. */
    double gyro, gyro_start; /* rad per pose, over the root of a pose; rad per pose */
    /* Steps of unequal duration: the covariance of an odometry factor is m Sigma, m its multiplier (graph.h), with log
     * m uniform from -log uneven to log uneven. From 1 to 1e6; 0 or 1: every step has Sigma. */
    double uneven;
    /* Noise that depends on features (function.h): the covariance of GPS on `sky` and `traffic`, that of odometry on
     * `turn`, over factors of 20 and more in sigma. The models then have functions of latent_gps and latent_odom.
     * STREET: the ellipse of GPS positions turns with a direction a, whose features are `cos2a` and `sin2a`: sigma
     * along it is 20 times that across. Its model has a matrix function of them. */
    ct_situation situation;
    int          useless; /* features that mean nothing, 0 to 20 */
} ct_nav_options;

/* The paper's D1 to D4 ("D1", ..., any case), 300 to 500 poses, seed 1. In space, rotations take the sigma of yaw and
 * translations that of x. 0 if the name is unknown. */
int ct_nav_preset(const char *name, ct_kind kind, ct_nav_options *out);
/* Add the errors that last of these options to a table, as biases (ct_noise_model.bias) with their true strengths
 * and time constants: "gps_bias", "odom_bias" and "odom_bias_start". A swing is none. Sequences do not have their
 * states. */
ct_status ct_nav_add_biases(const ct_nav_options *options, ct_noise *noise, ct_err *err);
/* Sequence number `number` of the dataset. Sequences differ in path, length and noise, and do not depend on each other.
 * Path and length do not depend on the noise. Noise models with the true Sigma are added to `noise`, or shared with
 * those of an earlier sequence; CT_E_NOISE if they have other numbers. Initial values are composed from the
 * measurements (ct_sequence_initialise). */
ct_status ct_simulate_nav(const ct_nav_options *options, uint64_t number, ct_noise *noise, ct_sequence **out,
                          ct_err *err);

/* ---- Pose graphs: for demos, tests and benchmarks --------------------------------------------- */

/* A pose graph on a street grid (SE2) or on the rings of a sphere (SE3), with loop closures and truth. Initial values
 * are composed odometry. The first pose is fixed at its truth. Noise models "odom" and "loop" are added, or shared with
 * an earlier graph of the same sigmas. */
typedef struct {
    ct_kind  kind;         /* CT_SE2 or CT_SE3                           */
    int32_t  poses;
    double   sigma_t;      /* m, of every relative translation           */
    double   sigma_r;      /* rad                                        */
    double   loop_chance;  /* probability of a loop closure where one is possible */
    uint64_t seed;
} ct_pose_graph_options;

ct_pose_graph_options ct_pose_graph_defaults(ct_kind kind);
ct_status ct_simulate_pose_graph(const ct_pose_graph_options *options, ct_noise *noise, ct_sequence **out, ct_err *err);

/* ---- Tables: what a robot records, with a recipe ---------------------------------------------- */

/* A robot drives a smooth path: truth is a function of continuous time, with two derivatives. Each table samples it at
 * times of its own:
 *   odometry-RUN.csv  t, vx, vy, omega   mean velocity in the body's frame from t to the next record
 *                                        (SE3: t, vx, vy, vz, wx, wy, wz)
 *   gps-RUN.csv       t, x, y (, z) (, yaw)  position in the world, and heading if its sigma is given
 *   ranges-RUN.csv    t, beacon, range   distances to the beacons in turn
 *   truth-RUN.csv     t, x, y, yaw       without noise (SE3: t, x, y, z, qx, qy, qz, qw)
 *   beacons.csv       beacon, x, y (, z) their map
 * Noise is white: each value has an independent error of the stated sigma. Odometry and truth begin at 0; GPS and
 * ranges at random times within their first period. */
typedef struct {
    ct_kind  kind;                              /* CT_SE2 or CT_SE3                                      */
    double   duration_s;
    double   every_s;                           /* between states in the recipe                          */
    double   odom_hz, gps_hz, range_hz, truth_hz; /* gps_hz, range_hz 0: no such table                    */
    double   odom[CT_DIM_MAX];                  /* sigmas of the velocities of a record, tangent order: vx, vy (m/s),
                                                   omega (rad/s); SE3: wx, wy, wz, vx, vy, vz            */
    double   gps[3];                            /* of x, y, z, m                                         */
    double   heading;                           /* of yaw, rad; negative: gps tables have no yaw         */
    double   range;                             /* m                                                     */
    int32_t  beacons;
    uint64_t seed;
} ct_tables_options;

/* 120 s, states every 0.5 s; 20, 2, 4 and 20 Hz; odometry 0.1 m/s, 0.05 m/s (sideways, up), 0.03 rad/s; GPS 0.5 m, no
 * heading; ranges 0.2 m to 4 beacons; seed 1. Another kind than SE2 or SE3 is refused by ct_simulate_tables. */
ct_tables_options ct_tables_defaults(ct_kind kind);
/* Pose (SE2: x y yaw; SE3: x y z qx qy qz qw) and velocity in the body's frame (tangent order) of run `number` at time
 * t; either may be NULL. It depends on kind, seed and number only. */
void ct_tables_truth(const ct_tables_options *options, uint64_t number, double t, double pose[CT_SIZE_MAX],
                     double velocity[CT_DIM_MAX]);
/* Write the tables of runs train00, train01, ... and test00, ... into a folder, which is made if it is missing, with
 * recipe.yaml, which imports them (docs/import.md), and latent.json, the noise of the factors that it makes. Test runs
 * do not depend on the number of training runs. */
ct_status ct_simulate_tables(const ct_tables_options *options, int32_t train, int32_t test, const char *folder,
                             ct_err *err);

/* recipe.yaml begins so: tables in the same folder may be replaced. */
#define CT_TABLES_BEGINS "# simulated by covtune"

#ifdef __cplusplus
}
#endif
#endif
