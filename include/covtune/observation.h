/* covtune/observation.h: networks that make measurements of raw data, such as images, trained through the estimator.
 *
 *     y_k = net(input_k),   z_k = Exp(y_k),   minimise over the weights   L = mean over sequences of 1/2 |e(x(z))|^2
 *
 * x(z) is the estimate with these measurements, e its difference from the truth (evaluate.h). A network that is trained
 * by the difference of its output from the true measurement (ct_net_train, the surrogate loss) does not know what its
 * errors do to the estimate: many errors of 0.02 rad that agree are worse than some of 0.05 rad that do not. One
 * adjoint solve a sequence gives dL/dz_k of every factor (ct_outer_watch_measurements), a backward pass the gradient
 * by all weights (ct_net_backward).
 *
 * A network may have one output more than a measurement has coordinates: the multiplier of its covariance
 * (ct_net_multiplier), by which it says when it guesses.
 */
#ifndef COVTUNE_OBSERVATION_H
#define COVTUNE_OBSERVATION_H

#include <covtune/learn.h>
#include <covtune/net.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Measurements of a sequence that a network makes: factors of one model, and what the network sees of each. Borrows all
 * three; the sequence's graph is changed. The network gives the first part of z; other parts stay. */
typedef struct {
    ct_sequence   *seq;
    int32_t        count;
    const int32_t *factor; /* of the sequence's graph */
    const double  *input;  /* count x ct_net_inputs   */
} ct_observation;

/* Measurements, and multipliers with a further output, <- those of the network. CT_E_ARGUMENT: no such factor, factors
 * of several models, a network whose outputs do not fit, inputs that are missing (NULL) or not finite. */
ct_status ct_observe(const ct_net *net, const ct_observation *observation, ct_err *err);

/* Loss over sequences under a noise table, and its gradient by all weights (ct_net_weights; for gradient checks).
 * gradient is zero if a solve failed, and the loss infinite. theta and options as for ct_outer_new. */
ct_status ct_observation_gradient(int32_t count, const ct_observation observation[], const ct_noise *noise,
                                  const ct_theta *theta, const ct_outer_options *outer, const ct_net *net, double *loss,
                                  double *gradient, ct_err *err);

typedef struct {
    int    epoch, epochs;
    double train;   /* mean loss of the training sequences in this epoch, over that of the start  */
    double stop;    /* of the stopping sequences: geometric mean of ratios                       */
} ct_observation_progress;

/* Not 0: stop here; the result is that of the epochs so far. */
typedef int (*ct_observation_progress_fn)(void *user, const ct_observation_progress *progress);

typedef struct {
    int      epochs;    /* at most                                                                        */
    int      batch;     /* sequences a step                                                               */
    int      patience;  /* stops after so many epochs without a better loss of the stopping sequences     */
    double   rate;      /* of Adam, for the last layer; three times this for log variances                */
    double   hidden;    /* rate of the layers before it, relative to this; 0: they stay as they are       */
    double   prior;     /* weight nu of nu/2 |w - w0|^2 beside L / L0: towards the start                  */
    int      variances; /* 1: the variances that theta learns move too                                    */
    int      keep;      /* 1: the start stays unless it is beaten on held-out sequences by two standard errors;
                           0: the best epoch is the answer                                                */
    uint64_t seed;      /* of the order of sequences                                                      */
    ct_inference deployment; /* how held-out sequences are estimated for the choice                       */
    ct_observation_progress_fn progress; /* may be NULL */
    void                      *user;
} ct_observation_options;

ct_observation_options ct_observation_defaults(void);

typedef struct {
    int    epochs, best; /* done; the one with the least loss of the stopping sequences, 0: the start      */
    int    chosen;       /* 1: the trained network; 0: the start stays                                     */
    ct_choice verdict;   /* on the trained network                                                         */
    int    steps, failed; /* of Adam; those left out, as a solve failed                                    */
    double train_start, train_best;     /* mean loss of training sequences                                 */
    double heldout_start, heldout_best; /* of held-out ones, estimated as in deployment                    */
    /* robust mean of log(loss / loss of the start) over held-out sequences, and its standard error; errors as ratios */
    double log_ratio, log_ratio_error, translation_ratio, rotation_ratio;
} ct_observation_result;

/* The sequences of training, those that say which epoch is best, and those that say whether the start stays. The last
 * ones must have no part in training: what chose an epoch is no judge of it. All three are of different recordings. */
typedef struct {
    int32_t               trains, stops, helds;
    const ct_observation *train, *stop, *held;
} ct_observation_data;

/* Train a network by the loss through the estimator: Adam over batches of sequences, from its present weights. net and
 * noise: start in, answer out; measurements of all sequences are those of the answer. Same input, same bits at any
 * number of threads. On failure net and noise are unchanged. CT_E_ARGUMENT: one of the three has no sequence, options
 * outside their domain, what ct_observe refuses. */
ct_status ct_observation_learn(const ct_observation_data *data, const ct_theta *theta, const ct_outer_options *outer,
                               const ct_observation_options *options, ct_noise *noise, ct_net *net,
                               ct_observation_result *result, ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
