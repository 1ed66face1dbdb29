/* covtune/simulate.h: simulated sequences with known truth and noise: navigation as in the paper, pose graphs. */
#ifndef COVTUNE_SIMULATE_H
#define COVTUNE_SIMULATE_H

#include <covtune/data.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Navigation runs: what the paper learns from ---------------------------------------------- */

#define CT_NAV_REGIMES 2

/* Smooth random paths in an area of 100 m x 50 m (SE3: and 10 m high), 0.3 m to 1 m a pose, a GPS-like pose on every
 * pose after the first ("gps"), odometry between neighbours ("odom"), a prior of sigma 1e-3 at truth on the first
 * ("first_pose"). Noise is drawn in the tangent space: z = g(truth) o Exp(e), e ~ N(0, Sigma). With two regimes
 * models are "odom@0", "odom@1", ...; regime 1 holds in one stretch, from a quarter of the run to three quarters; an
 * odometry factor has the regime of the pose it leads to. */
typedef struct {
    ct_kind  kind;                /* CT_SE2 or CT_SE3                    */
    int32_t  least, most;         /* poses of a run: drawn between these, both included; at least 2 */
    int      regimes;             /* 1 or 2                              */
    double   odom[CT_NAV_REGIMES][36], gps[CT_NAV_REGIMES][36]; /* Sigma, dim x dim row-major, tangent order */
    uint64_t seed;                /* of the dataset                      */
    /* A slow error of GPS, as from multipath: b is added to its position in the world, a first-order Gauss-Markov
     * process b <- a b + sqrt(1 - a^2) n, n ~ N(0, drift^2 I), a = exp(-1 / drift_poses). No noise model describes it.
     * drift 0: none. */
    double drift;       /* m                   */
    double drift_poses; /* correlation time, > 0 */
} ct_nav_options;

/* The paper's D1 to D4 ("D1", ..., any case), 300 to 500 poses, seed 1; in space, rotations take the heading's sigma
 * and translations x's. 0 if there is none of that name. */
int ct_nav_preset(const char *name, ct_kind kind, ct_nav_options *out);
/* Run number `run` (any; runs differ in path, length and noise, and do not depend on each other; path and length do
 * not depend on the noise). Its models are added to noise, with Sigma, or shared with a run made before; other
 * numbers under their names are CT_E_NOISE. Initial values are the measurements composed (ct_sequence_initialise). */
ct_status ct_simulate_nav(const ct_nav_options *options, uint64_t run, ct_noise *noise, ct_sequence **out, ct_err *err);

/* ---- Graphs made to order: for demos, tests and benchmarks ----------------------------------- */

/* A pose graph on a grid of streets (SE2) or a sphere of rings (SE3) with loop closures, truth
 * included; initial values are composed odometry. The first pose is fixed at its truth. Noise models
 * "odom" and "loop" are added, or shared with a world made before with the same sigmas. */
typedef struct {
    ct_kind  kind;         /* CT_SE2 or CT_SE3                           */
    int32_t  poses;
    double   sigma_t;      /* m, of every relative translation           */
    double   sigma_r;      /* rad                                        */
    double   loop_chance;  /* of closing a loop where one is near, [0,1] */
    uint64_t seed;
} ct_pose_graph_options;

ct_pose_graph_options ct_pose_graph_defaults(ct_kind kind);
ct_status ct_simulate_pose_graph(const ct_pose_graph_options *options, ct_noise *noise, ct_sequence **out, ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
