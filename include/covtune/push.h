/* covtune/push.h: simulated planar pushing with a tactile finger: the paper's second study.
 *
 * Where the rest of pushing is:
 *   src/push/                    simulator (limit_surface.c, episode.c), tactile sensor, network (net.h), sequences
 *   src/graph/factor_{contact,push,tactile}.c   the factors contact_se2, push_se2, tactile_yaw, tactile_se2
 *   shape.h, src/shape/          outlines of objects and their signed distance
 *   data.h, src/data/read_push_csv.c            recorded pushes (ct_push_csv_read)
 *   src/cli/push/                `covtune simulate push2d`, pictures and animations of pushing
 *   studies/reproduce/push2d*.c  the paper's study; docs/pushing.md explains it
 */
#ifndef COVTUNE_PUSH_H
#define COVTUNE_PUSH_H

#include <covtune/data.h>
#include <covtune/net.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A finger pushes an object over a table. Motion is quasi-static, with an ellipsoidal limit surface and Coulomb
 * friction at the finger, which sticks or slides (src/push/limit_surface.c has the equations). Pressure and friction
 * vary, so the estimator's model is approximate. A sequence is `episodes` pushes of `steps` steps. Between pushes
 * the finger jumps and the object stays.
 *
 * Variables o0, e0, o1, e1, ... are the object and the fingertip. Their truth is that of motion capture, with jitter
 * and a calibration error. Factors, by noise model:
 *   prior       prior_se2 on every e: the arm's kinematics
 *   dyn         push_se2 between neighbours of an episode
 *   tac         tactile_yaw over `window` steps and more, within an episode
 *   geo         contact_se2 on every (o, e)
 *   bind        between_se2 of the object from episode to episode; frozen, sigma 1e-6
 *   first_pose  prior_se2 on o0 and e0; frozen, sigma 1e-6 */
#define CT_PUSH_IMAGE_ROWS    8
#define CT_PUSH_IMAGE_COLUMNS 12
#define CT_PUSH_PIXELS        (CT_PUSH_IMAGE_ROWS * CT_PUSH_IMAGE_COLUMNS)

typedef struct {
    ct_shape_kind object;          /* ellipse (0.1638 m x 0.2428 m) or rectangle (0.2363 m x 0.1579 m), full lengths  */
    int           episodes, steps; /* 3 of 100                                                                        */
    int           window, windows; /* tactile pairs span window .. window + windows - 1 steps: 10, 10                 */
    double        tactile_sigma;   /* rad, of the noisy oracle: 5e-3                                                  */
    double        prior_sigma;     /* m and rad, of the finger: 1e-5                                                  */
    double        c2;              /* m^2, the estimator's limit-surface constant: LEO's. NaN: that of even pressure,
                                      which is at most a ninth of it */
    int           pool;            /* episodes in the training pool, and in the test pool: 20                         */
    uint64_t      seed;            /* of friction, calibration and pools                                              */
} ct_push_options;

ct_push_options ct_push_defaults(ct_shape_kind object);

/* One push: poses as measured by motion capture, and a tactile image per step. */
typedef struct {
    int     steps;
    ct_se2 *object, *finger;
    double *image;   /* steps x CT_PUSH_PIXELS: contact patch, shear, pixel noise and drift */
    double  sliding; /* share of the path on which the finger slid                          */
} ct_push_episode;

/* Pools: 0 for training sequences, 1 for test sequences, 2 for training a tactile network. Episodes do not depend on
 * each other. */
ct_status ct_simulate_push_episode(const ct_push_options *options, int pool, uint64_t number, ct_push_episode *out,
                                   ct_err *err);
void      ct_push_episode_free(ct_push_episode *episode);
/* Rotation of the finger relative to the object from step i to step j: what tactile_yaw measures. */
double ct_push_relative_yaw(const ct_push_episode *episode, int i, int j);

/* A tactile sensor: the relative yaw, in rad, from a pair of images. *multiplier is 1, and may be set to what the
 * covariance of this measurement is multiplied by. */
typedef double (*ct_tactile_fn)(void *user, const double before[CT_PUSH_PIXELS], const double after[CT_PUSH_PIXELS],
                                double *multiplier);
/* Training data for a tactile network: pairs of images over the options' windows within each episode, and their
 * relative yaw. Each pair is followed by its mirror image, left to right, with the opposite yaw. *x: count x 2
 * CT_PUSH_PIXELS, before and after; *t: count. The caller frees both. CT_E_ARGUMENT if the episodes are too short.
 * For four episodes, 8 hidden units and a weight decay of 1e-2 suffice. */
ct_status ct_push_image_pairs(const ct_push_options *options, int episodes, const ct_push_episode episode[],
                              int64_t *count, double **x, double **t, ct_err *err);
/* A ct_tactile_fn; net is a ct_net with 2 CT_PUSH_PIXELS inputs and one output, or two: the second is the multiplier
 * (ct_net_multiplier). NaN for another network. */
double ct_push_predict_yaw(void *net, const double before[CT_PUSH_PIXELS], const double after[CT_PUSH_PIXELS],
                           double *multiplier);

/* Sequence number `number` of pool 0 or 1. Its episodes are drawn without replacement. tactile NULL: the noisy
 * oracle. Noise models are added to `noise` with the paper's distant start values (a spread of 1e6 in the units
 * below), or shared with an earlier sequence. Initial values of the finger are its measurements; the object starts
 * at its pose before, moved along with the finger. */
ct_status ct_simulate_push(const ct_push_options *options, int pool, uint64_t number, ct_tactile_fn tactile, void *user,
                           ct_noise *noise, ct_sequence **out, ct_err *err);
/* The same of given pushes, in this order: sequence `number` of pool 0, 1 or 2 has their noise. options->episodes is
 * not used. CT_E_ARGUMENT for pushes of other lengths than options->steps. */
ct_status ct_simulate_push_sequence(const ct_push_options *options, int pool, uint64_t number, int pushes,
                                    const ct_push_episode *const push[], ct_tactile_fn tactile, void *user,
                                    ct_noise *noise, ct_sequence **out, ct_err *err);
/* number <- the pushes of the pool that sequence `sequence` consists of: options->episodes of them. */
ct_status ct_push_choose(const ct_push_options *options, int pool, uint64_t sequence, int32_t number[], ct_err *err);
/* The same push seen in a mirror: all outlines here are symmetric, so it is one as well. The caller frees *out. */
ct_status ct_push_mirror(const ct_push_episode *push, ct_push_episode *out, ct_err *err);
/* Inputs of a network for a sequence of given pushes: its tactile_yaw factors (*factor: *count) and the images of each
 * before and after (*x: count x 2 CT_PUSH_PIXELS). The caller frees both. CT_E_ARGUMENT: images are missing, as the
 * sequence has more steps than the pushes. */
ct_status ct_push_inputs(const ct_sequence *seq, int pushes, const ct_push_episode *const push[], int32_t *count,
                         int32_t **factor, double **x, ct_err *err);
/* Units of a model's rows, about the size of its errors: tac 0.01 rad; dyn 0.2 mm, 0.2 mm, 2 cm^2; geo 2 mm; prior
 * 0.1 mm and 0.1 mrad. 0, with unit unchanged, for a model that is not learned; else 1. */
int ct_push_units(const char *model, double unit[3]);

#ifdef __cplusplus
}
#endif
#endif
