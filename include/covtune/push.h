/* covtune/push.h: simulated planar pushing with a tactile finger, the paper's second study. */
#ifndef COVTUNE_PUSH_H
#define COVTUNE_PUSH_H

#include <covtune/data.h>
#include <covtune/net.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Pushing: the paper's second study -------------------------------------------------------- */

/* A finger pushes an object over a table. Quasi-static: an ellipsoidal limit surface, Coulomb friction at the finger
 * (it sticks or slides), pressure and friction that vary so that the estimator's model is only nearly right
 * (src/push/limit_surface.c has the equations). A run is `episodes` pushes of `steps` steps, one after the other;
 * the finger jumps between them, the object does not.
 *
 * Variables o0, e0, o1, e1, ...: object and finger (its tip), with truth as motion capture has it: jitter, and a
 * calibration that is a little off. Factors, by noise model:
 *   prior       prior_se2 on every e: where the arm says it is                  dyn    push_se2 between neighbours
 *                                                                               of an episode
 *   tac         tactile_yaw over `window` steps and more, within an episode     geo    contact_se2 on every (o, e)
 *   bind        between_se2 of the object from episode to episode, frozen       first_pose    prior_se2 on o0 and
 *                                                                               e0, frozen; of both sigma is 1e-6,
 *                                                                               as they are exact */
#define CT_PUSH_IMAGE_ROWS    8
#define CT_PUSH_IMAGE_COLUMNS 12
#define CT_PUSH_PIXELS        (CT_PUSH_IMAGE_ROWS * CT_PUSH_IMAGE_COLUMNS)

typedef struct {
    ct_shape_kind object;          /* ellipse (0.1638 m x 0.2428 m) or rectangle (0.2363 m x 0.1579 m), full lengths */
    int           episodes, steps; /* 3 of 100                                                                       */
    int           window, windows; /* tactile pairs over window .. window + windows - 1 steps: 10, 10                */
    double        tactile_sigma;   /* rad, of the noisy oracle: 5e-3                                                 */
    double        prior_sigma;     /* m and rad, of the finger: 1e-5                                                 */
    /* m^2, the estimator's own constant of the limit surface: LEO's. NaN: that of even pressure, a ninth or less */
    double        c2;
    /* so many episodes training runs are put together from, and as many others test runs: 20 */
    int           pool;
    uint64_t      seed;            /* of the world: friction, calibration, pools                                     */
} ct_push_options;

ct_push_options ct_push_defaults(ct_shape_kind object);

/* An episode: poses as motion capture has them, and a tactile image a step. */
typedef struct {
    int     steps;
    ct_se2 *object, *finger;
    double *image;    /* steps x CT_PUSH_PIXELS: the contact's patch, shear, pixel noise and drift            */
    double  sliding;  /* share of the way on which the finger slid                                             */
} ct_push_episode;

/* Pools: 0 of training runs, 1 of test runs, 2 of what a tactile network is trained on. Episodes do not depend on
 * each other. */
ct_status ct_simulate_push_episode(const ct_push_options *options, int pool, uint64_t number, ct_push_episode *out,
                               ct_err *err);
void      ct_push_episode_free(ct_push_episode *episode);
/* How much the finger turned on the object from step i to step j: what tactile_yaw measures. */
double ct_push_relative_yaw(const ct_push_episode *episode, int i, int j);

/* What a tactile sensor makes of a pair of images. */
typedef double (*ct_tactile_fn)(void *user, const double before[CT_PUSH_PIXELS], const double after[CT_PUSH_PIXELS]);
/* Pairs of images over the options' windows, within each of a number of episodes, and their turns: what a network is
 * trained on. Every pair is there as it is and, after that, mirrored left to right, where the turn is the other way.
 * *x: count x 2 CT_PUSH_PIXELS, before and after; *t: count. The caller frees both. CT_E_ARGUMENT if episodes are
 * too short for any. For those of four episodes 8 hidden units and a decay of 1e-2 will do. */
ct_status ct_push_image_pairs(const ct_push_options *options, int episodes, const ct_push_episode episode[],
                              int64_t *count, double **x, double **t, ct_err *err);
/* A ct_tactile_fn: net is a ct_net of 2 CT_PUSH_PIXELS inputs and one output, such as is trained on pairs. */
double ct_push_predict_yaw(void *net, const double before[CT_PUSH_PIXELS], const double after[CT_PUSH_PIXELS]);

/* Run number `run` of pool 0 or 1, its episodes drawn without replacement. tactile NULL: the noisy oracle. Models
 * are added to noise with far start values as the paper has them (a spread of 1e6, in the units below), or shared
 * with a run made before. Initial values are the measurements; the object's are the pose before, moved along with
 * the finger. */
ct_status ct_simulate_push(const ct_push_options *options, int pool, uint64_t run, ct_tactile_fn tactile, void *user,
                       ct_noise *noise, ct_sequence **out, ct_err *err);
/* Units of a model's rows, about the size of its errors: tac 0.01 rad; dyn 0.2 mm, 0.2 mm, 2 cm^2; geo 2 mm; prior
 * 0.1 mm and 0.1 mrad. Returns 1; 0, and nothing, for a model that is not to be learned. */
int ct_push_units(const char *model, double unit[3]);

#ifdef __cplusplus
}
#endif
#endif
