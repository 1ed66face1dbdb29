/* covtune/finding.h: facts that a result reports beside its numbers, as data.
 *
 * A finding has a code, the things it is about (its subjects) and a few numbers. The code fixes severity, topic, names
 * of the numbers and the sentence; all of them stand in one list. Programs read codes and numbers. ct_finding_text
 * makes the sentence for people; no code reads that sentence.
 *
 *     const int32_t i = ct_findings_find(&result.findings, CT_FINDING_NOT_A_MINIMUM);
 *     if (i >= 0) printf("%g\n", result.findings.item[i].value[0]);
 *
 * To add a finding: a line in CT_FINDING_LIST, and a call of ct_findings_add where the fact is known.
 */
#ifndef COVTUNE_FINDING_H
#define COVTUNE_FINDING_H

#include <covtune/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(constant, name) */
#define CT_SEVERITY_LIST(X)                                                                        \
    X(CT_SEVERITY_INFO, "info")       /* a choice that was made; nothing is wrong       */         \
    X(CT_SEVERITY_WARNING, "warning") /* the result may not be what the caller wants    */         \
    X(CT_SEVERITY_ERROR, "error")     /* the result must not be used as it is           */

typedef enum {
#define X(constant, name) constant,
    CT_SEVERITY_LIST(X)
#undef X
    CT_SEVERITY_COUNT
} ct_severity;

/* What a finding concerns. X(constant, name) */
#define CT_TOPIC_LIST(X)                                                                           \
    X(CT_TOPIC_DATA, "data")                       /* sequences and their truth                */  \
    X(CT_TOPIC_SENSORS, "sensors")                 /* errors of sensors beside noise           */  \
    X(CT_TOPIC_START, "start")                     /* where learning begins                    */  \
    X(CT_TOPIC_OPTIMISATION, "optimisation")       /* whether a minimum was found              */  \
    X(CT_TOPIC_VALIDATION, "validation")           /* held-out loss, loss as in deployment     */  \
    X(CT_TOPIC_CONSISTENCY, "consistency")         /* common scale, NEES, chi-square           */  \
    X(CT_TOPIC_IDENTIFIABILITY, "identifiability") /* what the data do not determine           */  \
    X(CT_TOPIC_EXPORT, "export")                   /* what a format has no place for           */

typedef enum {
#define X(constant, name) constant,
    CT_TOPIC_LIST(X)
#undef X
    CT_TOPIC_COUNT
} ct_topic;

/* What a subject is. X(constant, name) */
#define CT_SUBJECT_LIST(X)                                                                         \
    X(CT_SUBJECT_PARAMETER, "parameter") /* index in theta                                     */  \
    X(CT_SUBJECT_MODEL, "model")         /* index in the noise table                           */  \
    X(CT_SUBJECT_SEQUENCE, "sequence")   /* index among the sequences                          */  \
    X(CT_SUBJECT_CANDIDATE, "candidate") /* theta that was compared with others                */  \
    X(CT_SUBJECT_INFERENCE, "inference") /* how estimates were made                            */  \
    X(CT_SUBJECT_COVARIATE, "covariate") /* what a noise depends on: range, speed, ...         */  \
    X(CT_SUBJECT_CAUSE, "cause")         /* what brought it about, such as a file and its line */  \
    X(CT_SUBJECT_SENSOR, "sensor")       /* index in the recipe                                */

typedef enum {
#define X(constant, name) constant,
    CT_SUBJECT_LIST(X)
#undef X
    CT_SUBJECT_COUNT
} ct_subject_kind;

#define CT_FINDING_VALUES_MAX 10

/* X(constant, name, severity, topic, text, names of its numbers ...). The text is a template: {subjects} stands for the
 * names of all subjects; {+subjects} and {-subjects} for those of that sign; {NAME} or {NAME:FORMAT} for a number, in a
 * format of printf without its %. The format is .6g unless given. A remark in brackets that begins with a number,
 * " ({seconds} s)", is left out where that number is NaN. A finding without numbers ends in NULL. */
#define CT_FINDING_LIST(X)                                                                                             \
    X(CT_FINDING_DUPLICATE_SEQUENCES, "duplicate_sequences", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                       \
      "Sequences {subjects} are the same. Held-out losses are too small.", NULL)                                       \
    X(CT_FINDING_TRUTH_IN_OTHER_FRAME, "truth_in_other_frame", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                     \
      "{subjects}: the truth is in another frame than the measurements. It lies ({x:.4g}, {y:.4g}, {z:.4g}) m from "   \
      "where they place the poses, turned by {angle:.2g} rad; a rigid motion removes most of that. Errors are of the " \
      "frames, not of the sensors. covtune convert IN OUT --truth FILE --truth-align first moves a truth.",            \
      "x", "y", "z", "angle")                                                                                          \
    X(CT_FINDING_ONE_RECORDING, "one_recording", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                                   \
      "All training sequences (their number: {sequences:.0f}) are of one recording, {subjects}. Held-out sequences "   \
      "are of the same place and day: errors on other recordings may be larger than theirs.", "sequences")             \
    X(CT_FINDING_NO_SAMPLES, "no_samples", CT_SEVERITY_INFO, CT_TOPIC_DATA,                                            \
      "{subjects}: the truth does not determine these residuals, or all of them are zero. There is no closed form; "   \
      "they are learned from the start values by the tracking loss alone.", NULL)                                      \
    X(CT_FINDING_LIKELIHOOD, "likelihood", CT_SEVERITY_INFO, CT_TOPIC_DATA,                                            \
      "Residuals at the truth are not known for every parameter, the truth has a sigma, or models have kernels. The "  \
      "maximum of the likelihood of measurements and truth takes the place of the closed form.", NULL)                 \
    X(CT_FINDING_EVIDENCE, "evidence", CT_SEVERITY_INFO, CT_TOPIC_VALIDATION,                                          \
      "The likelihood of the measurements alone tracks held-out sequences better than with the truth: "             \
      "its loss is {ratio:.2g} times as large (standard error of the logarithm {error:.2g}). It is the reference.",    \
      "ratio", "error")                                                                                                \
    X(CT_FINDING_EVIDENCE_ALONE, "evidence_alone", CT_SEVERITY_INFO, CT_TOPIC_VALIDATION,                              \
      "The likelihood of the measurements alone is the reference in its place.", NULL)                                 \
    X(CT_FINDING_NO_LIKELIHOOD, "no_likelihood", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                                   \
      "Not every parameter has a closed form, and there is no likelihood: {subjects}.", NULL)                          \
    X(CT_FINDING_WITHOUT_TRUTH, "without_truth", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                                   \
      "Learned from the measurements alone. Errors that last (a bias, a scale factor, a delay) do not show in them: "  \
      "real errors may be larger than claimed. Error bars assume that the models are right.", NULL)                    \
    X(CT_FINDING_ERRORS_LAST, "errors_last", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                                       \
      "{subjects}: residuals of neighbouring measurements of one target correlate by {rho:.2g}. Errors that last are " \
      "not white noise: sigmas of odometry may be too large, and real errors larger than claimed.", "rho")             \
    X(CT_FINDING_MEASUREMENTS_THINNED, "measurements_thinned", CT_SEVERITY_INFO, CT_TOPIC_DATA,                        \
      "{subjects}: residuals of neighbouring measurements of one target correlate by {rho:.2g}: errors that last. "    \
      "Learning uses one measurement of a target every {lag:.2g} s. Sigmas are multiplied by {factor:.3g}, so that "   \
      "all measurements together weigh as much as those do.", "rho", "lag", "factor")                                  \
    X(CT_FINDING_POSES_THINNED, "poses_thinned", CT_SEVERITY_INFO, CT_TOPIC_DATA,                                      \
      "{subjects}: residuals of neighbouring measurements of one target correlate by {rho:.2g}: errors that last. "    \
      "Learning uses one measurement of a target every {lag:.2g} poses. Sigmas are multiplied by {factor:.3g}, so "    \
      "that all measurements together weigh as much as those do.", "rho", "lag", "factor")                             \
    X(CT_FINDING_SEQUENCES_LEFT_OUT, "sequences_left_out", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                         \
      "The likelihood leaves out {count:.0f} of {sequences:.0f} sequences: they have no estimate under the start "     \
      "values.", "count", "sequences")                                                                                 \
    X(CT_FINDING_LIKELIHOOD_FLAT, "likelihood_flat", CT_SEVERITY_WARNING, CT_TOPIC_IDENTIFIABILITY,                    \
      "{subjects}: the data hardly tell these variances, alone or together. They stay near their start values.", NULL) \
    X(CT_FINDING_KERNEL_LEARNED, "kernel_learned", CT_SEVERITY_INFO, CT_TOPIC_DATA,                                    \
      "{subjects}: the likelihood changes the width of the kernel from {before:.3g} to {after:.3g} sigmas.", "before", \
      "after")                                                                                                         \
    X(CT_FINDING_DIVERGED, "diverged", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                                             \
      "{diverged:.0f} of {sequences:.0f} estimates diverged, to minima far from what measurements or the truth say: "  \
      "{subjects}. They count as failed, and means are without them.", "diverged", "sequences")                        \
    X(CT_FINDING_DIVERGED_HELDOUT, "diverged_heldout", CT_SEVERITY_WARNING, CT_TOPIC_VALIDATION,                       \
      "Under the chosen values {diverged:.0f} of {sequences:.0f} estimates diverged, to minima far from what "         \
      "measurements or the truth say: {subjects}. Where candidates are compared no ratio of losses counts as more "    \
      "than ten, and in NEES no sequence as more than 30 medians.", "diverged", "sequences")                           \
    X(CT_FINDING_START_OUTSIDE_BOUNDS, "start_outside_bounds", CT_SEVERITY_INFO, CT_TOPIC_START,                       \
      "The start values are outside the bounds. The nearest values inside are used.", NULL)                            \
    X(CT_FINDING_BOUNDS_FROM_DATA, "bounds_from_data", CT_SEVERITY_INFO, CT_TOPIC_START,                               \
      "This method goes to the corners of its bounds, and none are given for {subjects}. They are two decades each "   \
      "way of what the data say; --bounds or dataset.yaml give others.", NULL)                                         \
    X(CT_FINDING_BOUNDS_USED, "bounds_used", CT_SEVERITY_INFO, CT_TOPIC_START,                                         \
      "{subjects}: variances are bounded from {lower:.3g} to {upper:.3g}.", "lower", "upper")                          \
    X(CT_FINDING_CLOSED_FORM_FAILED, "closed_form_failed", CT_SEVERITY_WARNING, CT_TOPIC_START,                        \
      "A sequence has no estimate under the {subjects}, even from the truth. This is neither a start nor a "           \
      "candidate.",                                                                                                    \
      NULL)                                                                                                            \
    X(CT_FINDING_START_WITHOUT_PRIOR, "start_without_prior", CT_SEVERITY_INFO, CT_TOPIC_START,                         \
      "The start values track better than the closed form. Learning from the start values, without a prior, has the "  \
      "smallest held-out loss.", NULL)                                                                                 \
    X(CT_FINDING_LAST_ITERATE, "last_iterate", CT_SEVERITY_INFO, CT_TOPIC_OPTIMISATION,                                \
      "This method answers with its last iterate. Iteration {iteration:.0f} has a smaller loss, {loss}.", "iteration", \
      "loss")                                                                                                          \
    X(CT_FINDING_SIMPLEX_COLLAPSED, "simplex_collapsed", CT_SEVERITY_WARNING, CT_TOPIC_OPTIMISATION,                   \
      "The simplex collapsed onto bounds (their number: {bounds:.0f}). Inside the bound of {subjects} the loss is "    \
      "{loss}: this is no minimum. Another start or method may find one.", "bounds", "loss")                           \
    X(CT_FINDING_NOT_A_MINIMUM, "not_a_minimum", CT_SEVERITY_WARNING, CT_TOPIC_OPTIMISATION,                           \
      "This is no minimum of the loss: a Newton step changes the variance of {subjects} by a factor of {factor:.2g} "  \
      "(10: or more). There are no error bars. Another method or start may do better.", "factor")                      \
    X(CT_FINDING_CLOSED_FORM_IS_BETTER, "closed_form_is_better", CT_SEVERITY_WARNING, CT_TOPIC_OPTIMISATION,           \
      "The closed form has a smaller training loss, {loss}.", "loss")                                                  \
    X(CT_FINDING_HESSIAN_INDEFINITE, "hessian_indefinite", CT_SEVERITY_INFO, CT_TOPIC_OPTIMISATION,                    \
      "The exact Hessian of the inner problem is not positive definite at the answer (sequences: {sequences:.0f}). "   \
      "Error bars use J'J there.", "sequences")                                                                        \
    X(CT_FINDING_AT_LOWER_BOUND, "at_lower_bound", CT_SEVERITY_WARNING, CT_TOPIC_OPTIMISATION,                         \
      "{subjects}: held by the lower bound. The bound decided this variance, not the data.", NULL)                     \
    X(CT_FINDING_EIGENVALUE_AT_LOWER_BOUND, "eigenvalue_at_lower_bound", CT_SEVERITY_WARNING, CT_TOPIC_OPTIMISATION,   \
      "{subjects}: an eigenvalue is held by the lower bound. The bound decided it, not the data.", NULL)               \
    X(CT_FINDING_AT_UPPER_BOUND, "at_upper_bound", CT_SEVERITY_WARNING, CT_TOPIC_OPTIMISATION,                         \
      "{subjects}: held by the upper bound. The bound decided this variance, not the data.", NULL)                     \
    X(CT_FINDING_EIGENVALUE_AT_UPPER_BOUND, "eigenvalue_at_upper_bound", CT_SEVERITY_WARNING, CT_TOPIC_OPTIMISATION,   \
      "{subjects}: an eigenvalue is held by the upper bound. The bound decided it, not the data.", NULL)               \
    X(CT_FINDING_ANSWER_REPLACED, "answer_replaced", CT_SEVERITY_WARNING, CT_TOPIC_VALIDATION,                         \
      "The answer with prior weight {prior:g} has a loss of {loss} estimated from the truth, and of {deployment} "     \
      "estimated as in deployment; the {subjects} {candidate}. The answer is the {subjects}.",                         \
      "prior", "loss", "deployment", "candidate")                                                                      \
    X(CT_FINDING_GAIN_WITHIN_ERROR, "gain_within_error", CT_SEVERITY_WARNING, CT_TOPIC_VALIDATION,                     \
      "The held-out loss of the candidate {subjects} is {gain:.2g} % below that of the start values, with a standard " \
      "error of {error:.2g} %: the data do not tell them apart.", "gain", "error")                                     \
    X(CT_FINDING_HELDOUT_LOSS, "heldout_loss", CT_SEVERITY_WARNING, CT_TOPIC_VALIDATION,                               \
      "The held-out loss is {ratio:.3g} times the training loss. Estimated as in deployment ({subjects}), "            \
      "{elsewhere:.0f} of {sequences:.0f} training sequences reach another minimum than from the truth.",              \
      "ratio", "elsewhere", "sequences")                                                                               \
    X(CT_FINDING_DEPLOYMENT_LOSS, "deployment_loss", CT_SEVERITY_WARNING, CT_TOPIC_VALIDATION,                         \
      "Estimated as in deployment ({subjects}), training sequences have {ratio:.3g} times their loss from the truth; " \
      "{elsewhere:.0f} of {sequences:.0f} reach another minimum.", "ratio", "elsewhere", "sequences")                  \
    X(CT_FINDING_SIGMAS_TOO_LARGE, "sigmas_too_large", CT_SEVERITY_WARNING, CT_TOPIC_CONSISTENCY,                      \
      "All learned sigmas are too large, by a factor of about {factor:.3g}: the bounds do not allow the common scale " \
      "that consistency asks for. Parameters on a bound: {subjects}. Ratios of sigmas are as learned. Wider bounds "   \
      "allow the scale.", "factor")                                                                                    \
    X(CT_FINDING_SIGMAS_TOO_SMALL, "sigmas_too_small", CT_SEVERITY_WARNING, CT_TOPIC_CONSISTENCY,                      \
      "All learned sigmas are too small, by a factor of about {factor:.3g}: the bounds do not allow the common scale " \
      "that consistency asks for. Parameters on a bound: {subjects}. Ratios of sigmas are as learned. Wider bounds "   \
      "allow the scale.", "factor")                                                                                    \
    X(CT_FINDING_SCALE_NOT_APPLIED, "scale_not_applied", CT_SEVERITY_INFO, CT_TOPIC_CONSISTENCY,                       \
      "The common scale is not applied: estimates depend on it through frozen noise models. The factor {scale:.4g} "   \
      "raises held-out losses by {rise:.2g} % (standard error {error:.2g} %).", "scale", "rise", "error")              \
    X(CT_FINDING_SCALE_IN_PART, "scale_in_part", CT_SEVERITY_INFO, CT_TOPIC_CONSISTENCY,                               \
      "The common scale is applied in part: estimates depend on it through frozen noise models. The factor "           \
      "{scale:.4g} raises held-out losses by {rise:.2g} % (standard error {error:.2g} %), {applied:.4g} does not. "    \
      "NEES of held-out sequences is {before:.3g} without it and {after:.3g} with it.",                                \
      "scale", "rise", "error", "applied", "before", "after")                                                          \
    X(CT_FINDING_SCALE_WORSENS_NEES, "scale_worsens_nees", CT_SEVERITY_INFO, CT_TOPIC_CONSISTENCY,                     \
      "The common scale is not applied: the factor {scale:.4g} changes NEES of held-out sequences from {before:.3g} "  \
      "to {after:.3g}, farther from 1.", "scale", "before", "after")                                                   \
    X(CT_FINDING_SCALES_DIFFER, "scales_differ", CT_SEVERITY_INFO, CT_TOPIC_CONSISTENCY,                               \
      "Errors ask for variances x {nees:.3g}, residuals for x {chi_squared:.3g}; x {applied:.3g} is applied. "         \
      "Residuals do not show errors that last: biases, slow drifts, wrong models.", "nees", "chi_squared", "applied")  \
    X(CT_FINDING_SCALE_IS_OFF, "scale_is_off", CT_SEVERITY_WARNING, CT_TOPIC_CONSISTENCY,                              \
      "Errors are {errors:.2g} times what the estimator claims (NEES {nees:.3g}), residuals {residuals:.2g} times "    \
      "their expected size (chi-square {chi_squared:.3g}): all sigmas are off by a common factor.",                    \
      "errors", "nees", "residuals", "chi_squared")                                                                    \
    X(CT_FINDING_MODEL_MISMATCH, "model_mismatch", CT_SEVERITY_WARNING, CT_TOPIC_CONSISTENCY,                          \
      "Errors are {errors:.2g} times what the estimator claims (NEES {nees:.3g}), but residuals have their expected "  \
      "size (chi-square {chi_squared:.3g}). Residuals do not show biases, slow errors and wrong models.",              \
      "errors", "nees", "chi_squared")                                                                                 \
    X(CT_FINDING_SCALE_UNDETERMINED, "scale_undetermined", CT_SEVERITY_INFO, CT_TOPIC_IDENTIFIABILITY,                 \
      "The common scale of all learned variances: the tracking loss does not depend on it. Its value comes from "      \
      "consistency.", NULL)                                                                                            \
    X(CT_FINDING_LARGE_ERROR_BARS, "large_error_bars", CT_SEVERITY_WARNING, CT_TOPIC_IDENTIFIABILITY,                  \
      "{subjects}: error bars above 50 % of sigma, up to {percent:.3g} % (inf: not determined). The data hardly "      \
      "determine these variances.", "percent")                                                                         \
    X(CT_FINDING_TOO_MANY_PARAMETERS, "too_many_parameters", CT_SEVERITY_WARNING, CT_TOPIC_IDENTIFIABILITY,            \
      "The data determine {determined:.0f} of {parameters:.0f} learned parameters. Tie, freeze or pool some (--tie, "  \
      "--freeze, --isotropic), or add recordings.", "determined", "parameters")                                        \
    X(CT_FINDING_PARAMETER_UNDETERMINED, "parameter_undetermined", CT_SEVERITY_WARNING, CT_TOPIC_IDENTIFIABILITY,      \
      "{subjects}: multiplied or divided by 10, each changes the loss by {change:.2g} % at most.", "change")           \
    X(CT_FINDING_PRODUCT_UNDETERMINED, "product_undetermined", CT_SEVERITY_WARNING, CT_TOPIC_IDENTIFIABILITY,          \
      "{subjects} together: multiplied or divided by up to 10, they change the loss by {change:.2g} % at most.",       \
      "change")                                                                                                        \
    X(CT_FINDING_RATIO_UNDETERMINED, "ratio_undetermined", CT_SEVERITY_WARNING, CT_TOPIC_IDENTIFIABILITY,              \
      "{+subjects} against {-subjects}: multiplying the former and dividing the latter by up to 10, or the reverse, "  \
      "changes the loss by {change:.2g} % at most.", "change")                                                         \
    X(CT_FINDING_PARAMETER_WITHOUT_EFFECT, "parameter_without_effect", CT_SEVERITY_WARNING, CT_TOPIC_IDENTIFIABILITY,  \
      "{subjects}: over {share:.2g} % of the range between the bounds, the others at their start values, nothing "     \
      "changes on any training log beyond the noise of runs. Start values are kept. Does the program read them?",      \
      "share")                                                                                                         \
    X(CT_FINDING_ESTIMATOR_NOISY, "estimator_noisy", CT_SEVERITY_INFO, CT_TOPIC_DATA,                                  \
      "The program is not deterministic: with the same parameters the loss varies by {share:.2g} % from run to run. "  \
      "Models average over points, and the last ones are run {repeats:.0f} times.", "share", "repeats")                \
    X(CT_FINDING_SEARCH_STUCK, "search_stuck", CT_SEVERITY_WARNING, CT_TOPIC_OPTIMISATION,                             \
      "The search is stuck at a loss of {loss:.4g}, {ratio:.3g} times that of the start. The model predicts a "        \
      "decrease of {predicted:.2g} %, and no step has it. {subjects} should change most. Other start values may do "   \
      "better.", "loss", "ratio", "predicted")                                                                         \
    X(CT_FINDING_SEARCH_GLOBAL, "search_global", CT_SEVERITY_INFO, CT_TOPIC_OPTIMISATION,                              \
      "The search was stuck at a loss of {before:.4g}. From {points:.0f} other points in the bounds it reached "       \
      "{after:.4g}.", "before", "points", "after")                                                                     \
    X(CT_FINDING_RUNS_FAILED, "runs_failed", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                                       \
      "{failed:.0f} of {runs:.0f} runs failed; {recovered:.0f} of them did not when they were repeated. Steps to "     \
      "such points were shortened. Most often: {subjects}.", "failed", "runs", "recovered")                            \
    X(CT_FINDING_START_FAILS, "start_fails", CT_SEVERITY_ERROR, CT_TOPIC_START,                                        \
      "The start values give no estimate on {subjects}. {points:.0f} other points were tried. The search began from "  \
      "one that differs by a factor of up to {factor:.3g} in variance.", "points", "factor")                           \
    X(CT_FINDING_NO_ESTIMATE, "no_estimate", CT_SEVERITY_ERROR, CT_TOPIC_START,                                        \
      "The start values give no estimate on {subjects}. {points:.0f} other points near them were tried, and none has " \
      "estimates on all training logs. Nothing was learned.", "points")                                                \
    X(CT_FINDING_TRUTH_NOT_COVERED, "truth_not_covered", CT_SEVERITY_INFO, CT_TOPIC_DATA,                              \
      "{subjects}: the estimate at the start values covers {share:.2g} % of the truth's time. What is outside is not " \
      "compared. If the program stopped early, \"whole: true\" under \"estimate\" counts what is missing as lost.",    \
      "share")                                                                                                         \
    X(CT_FINDING_POSES_LOST, "poses_lost", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                                         \
      "{subjects}: up to {share:.2g} % of poses have no estimate at the start values. A lost pose counts as many "     \
      "others. A larger estimate \"gap\" bridges gaps, a smaller loss \"lost\" counts them less.", "share")            \
    X(CT_FINDING_ESTIMATE_BROKEN, "estimate_broken", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                               \
      "{subjects}: in the worst run {broken:.0f} records of the estimate are no poses: not finite, or a quaternion of "\
      "zeros. They count as lost poses.", "broken")                                                                    \
    X(CT_FINDING_ESTIMATE_UNORDERED, "estimate_unordered", CT_SEVERITY_INFO, CT_TOPIC_DATA,                            \
      "{subjects}: in the worst run the stamps of {unordered:.0f} records of the estimate repeat or go back. They are "\
      "sorted; of equal stamps the last counts.", "unordered")                                                         \
    X(CT_FINDING_ESTIMATE_FRAME, "estimate_frame", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                                 \
      "{subjects}: positions are {before:.3g} m off at the start values, and {after:.3g} m after a rigid motion of "   \
      "the whole estimate. Is its frame another than that of the truth? `align: se3` (or yaw, se2) under `estimate` "  \
      "moves it.", "before", "after")                                                                                  \
    X(CT_FINDING_ESTIMATE_UNIT, "estimate_unit", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                                   \
      "{subjects}: positions are {before:.3g} m off at the start values, and {after:.3g} m after a motion of the "     \
      "estimate with a scale of {scale:.4g}. Is its unit another, as in `x in mm`? Where the program knows no scale, " \
      "`align: sim3` under `estimate` finds it.", "before", "after", "scale")                                          \
    X(CT_FINDING_ESTIMATE_CLOCK, "estimate_clock", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                                 \
      "{subjects}: positions are {before:.3g} m off at the start values, and {after:.3g} m if {offset:.3g} s are "     \
      "added to the stamps of the estimate. Is its clock another? `offset` under `estimate` moves it. Or does the "    \
      "filter lag at these values, or the truth track a point ahead (`mount`)?", "before", "after", "offset")          \
    X(CT_FINDING_ESTIMATE_LEVER, "estimate_lever", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                                 \
      "{subjects}: positions are {before:.3g} m off at the start values, and {after:.3g} m off the point ({x:.3g}, "   \
      "{y:.3g}, {z:.3g}) of the estimate's body. Does the truth track another point, as an antenna or a marker? "      \
      "`mount: [{x:.3g}, {y:.3g}, {z:.3g}]` under `truth` says where it is.", "before", "after", "x", "y", "z")        \
    X(CT_FINDING_ESTIMATE_BODY, "estimate_body", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                                   \
      "{subjects}: rotations are {before:.3g} rad off at the start values, and {after:.3g} rad but for a constant "    \
      "turn of {angle:.3g} rad about the axis ({x:.3g}, {y:.3g}, {z:.3g}) of the body. Another body frame? "           \
      "`mount: [0, 0, 0, {qx:.6g}, {qy:.6g}, {qz:.6g}, {qw:.6g}]` under `truth` is that turn. Or a quaternion in "     \
      "another order, a heading from north, an `in deg` of a whole sum?", "before", "after", "angle", "x", "y", "z",   \
      "qx", "qy", "qz", "qw")                                                                                          \
    X(CT_FINDING_ESTIMATE_MIRRORED, "estimate_mirrored", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                           \
      "{subjects}: rotations are {before:.3g} rad off at the start values, and {after:.3g} rad if yaws have the "      \
      "other sign and a constant is added. Is a heading clockwise? A yaw of it is `pi/2 - (heading in deg)`.",         \
      "before", "after")                                                                                               \
    X(CT_FINDING_ESTIMATE_REFLECTED, "estimate_reflected", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                         \
      "{subjects}: positions are {before:.3g} m off at the start values, and {after:.3g} m after x and y of the "      \
      "estimate are exchanged, and a rigid motion. Is north first, or has one coordinate the other sign? `position: "  \
      "[y, x]` under `estimate` exchanges them.", "before", "after")                                                   \
    X(CT_FINDING_ESTIMATE_DEGREES, "estimate_degrees", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                             \
      "{subjects}: rotations are {before:.3g} rad off at the start values, as by chance, and yaws of the estimate go " \
      "up to {largest:.4g} rad. Are they degrees? `yaw: heading in deg` under `estimate` says so.", "before",          \
      "largest")                                                                                                       \
    X(CT_FINDING_FEW_RECORDINGS, "few_recordings", CT_SEVERITY_WARNING, CT_TOPIC_VALIDATION,                           \
      "Training recordings are too few to hold them out: {recordings:.0f}. {parts:.0f} parts of their logs were held " \
      "out instead. Recordings are what is independent: errors on others may be larger.", "recordings", "parts")       \
    X(CT_FINDING_START_KEPT, "start_kept", CT_SEVERITY_INFO, CT_TOPIC_VALIDATION,                                      \
      "The start values stay: on held-out logs the loss of the best other values is {ratio:.4g} times theirs "         \
      "(standard error of the logarithm {error:.2g}). Are they a guess? `global: always` tries the whole bounds.",     \
      "ratio", "error")                                                                                                \
    X(CT_FINDING_START_KEPT_OTHERS_FAIL, "start_kept_others_fail", CT_SEVERITY_WARNING, CT_TOPIC_VALIDATION,           \
      "The start values stay: the best other values have no estimate on {failed:.0f} of {parts:.0f} held-out logs. "   \
      "Bounds that leave out values at which the program fails help.", "failed", "parts")                              \
    X(CT_FINDING_START_KEPT_OTHERS_TRADE, "start_kept_others_trade", CT_SEVERITY_WARNING, CT_TOPIC_VALIDATION,         \
      "The start values stay: on held-out logs the loss of the best other values is {ratio:.4g} times theirs, but "    \
      "their {subjects} errors are {errors:.3g} times as large. `{subjects}` under `loss` is the weight of these "     \
      "errors: a larger one makes the search avoid this, and 0 says that they do not matter.", "ratio", "errors")      \
    X(CT_FINDING_SEARCH_UNFINISHED, "search_unfinished", CT_SEVERITY_WARNING, CT_TOPIC_OPTIMISATION,                   \
      "The search had not converged when it reached its limit of {points:.0f} points. The best of them is the "        \
      "answer. More points or another method may do better.", "points")                                                \
    X(CT_FINDING_TEST_LOGS_DIFFER, "test_logs_differ", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                             \
      "At the start values the loss is {train:.4g} on training logs and {test:.4g} on test logs. Errors apart by "     \
      "{factor:.0f} times are rarely noise: does every log have its own truth, in the frame and time of the estimate?",\
      "train", "test", "factor")                                                                                       \
    X(CT_FINDING_NOT_HELD_OUT, "not_held_out", CT_SEVERITY_WARNING, CT_TOPIC_VALIDATION,                               \
      "No log was held out: that the answer is better than the start values is said by the logs it was learned from.", \
      NULL)                                                                                                            \
    X(CT_FINDING_SENSOR_UNITS, "sensor_units", CT_SEVERITY_ERROR, CT_TOPIC_SENSORS,                                    \
      "{subjects}: measured values are {factor:.4g} times the true ones (standard error {error:.2g}), which is a "     \
      "unit of {unit:.6g}.", "factor", "error", "unit")                                                                \
    X(CT_FINDING_SENSOR_AXES, "sensor_axes", CT_SEVERITY_ERROR, CT_TOPIC_SENSORS,                                      \
      "{subjects}: its axes are not those of the body or world. Its rows are the axes {first:.0f}, {second:.0f}, "     \
      "{third:.0f} (1: x; negative: turned round; 0: no such row).", "first", "second", "third")                       \
    X(CT_FINDING_QUATERNION_ORDER, "quaternion_order", CT_SEVERITY_ERROR, CT_TOPIC_SENSORS,                            \
      "{subjects}: quaternions have their scalar at the other end. In the other order rotations differ from the "      \
      "truth by {after:.2g} rad instead of {before:.2g} rad.", "before", "after")                                      \
    X(CT_FINDING_CAMERA_AXES, "camera_axes", CT_SEVERITY_ERROR, CT_TOPIC_SENSORS,                                      \
      "{subjects}: poses have camera axes (x right, y down, z ahead). With these they differ by {after:.2g} rad "      \
      "instead of {before:.2g} rad.", "before", "after")                                                               \
    X(CT_FINDING_NED_AXES, "ned_axes", CT_SEVERITY_ERROR, CT_TOPIC_SENSORS,                                            \
      "{subjects}: poses have the axes north, east, down (body: x ahead, y right, z down). With these, measurements "  \
      "differ from the truth by {after:.2g} rad and {after_m:.2g} m, instead of {before:.2g} rad and {before_m:.2g} "  \
      "m.", "before", "after", "before_m", "after_m")                                                                  \
    X(CT_FINDING_COMPASS_HEADING, "compass_heading", CT_SEVERITY_ERROR, CT_TOPIC_SENSORS,                              \
      "{subjects}: headings are those of a compass, clockwise from north: yaw = pi/2 - heading. Read so, "             \
      "measurements differ from the truth by {after:.2g} rad and {after_m:.2g} m, instead of {before:.2g} rad and "    \
      "{before_m:.2g} m.", "before", "after", "before_m", "after_m")                                                   \
    X(CT_FINDING_INVERSE_POSES, "inverse_poses", CT_SEVERITY_ERROR, CT_TOPIC_SENSORS,                                  \
      "{subjects}: poses are the inverse of what the recipe reads, as the world in the body's frame. Inverted, "       \
      "measurements differ from the truth by {after:.2g} rad and {after_m:.2g} m, instead of {before:.2g} rad and "    \
      "{before_m:.2g} m.", "before", "after", "before_m", "after_m")                                                   \
    X(CT_FINDING_SENSOR_IN_OTHER_FRAME, "sensor_in_other_frame", CT_SEVERITY_ERROR, CT_TOPIC_SENSORS,                  \
      "{subjects}: its world frame is another than that of the truth: moved by ({x:.4g}, {y:.4g}, {z:.4g}) m "         \
      "(standard error {error:.2g}) and turned by {angle:.4g} rad (standard error {angle_error:.2g}), its values "     \
      "agree.", "x", "y", "z", "angle", "error", "angle_error")                                                        \
    X(CT_FINDING_SENSOR_DELAY, "sensor_delay", CT_SEVERITY_WARNING, CT_TOPIC_SENSORS,                                  \
      "{subjects}: measurements are of {size:.4g} s after their stamps (standard error {error:.2g} s). That makes "    \
      "errors of {sigmas:.2g} sigma ({spread:.2g} s between recordings). ({held:.3g} s is the time between its "       \
      "records: velocities that are sampled at their stamps and held until the next record are half of that late)",    \
      "size", "error", "sigmas", "spread", "held")                                                                     \
    X(CT_FINDING_CLOCK_DRIFT, "clock_drift", CT_SEVERITY_WARNING, CT_TOPIC_SENSORS,                                    \
      "{subjects}: its clock drifts by {size:.4g} s a second (standard error {error:.2g}). That makes errors of "      \
      "{sigmas:.2g} sigma ({spread:.2g} between recordings).", "size", "error", "sigmas", "spread")                    \
    X(CT_FINDING_SENSOR_SCALE, "sensor_scale", CT_SEVERITY_WARNING, CT_TOPIC_SENSORS,                                  \
      "{subjects}: measured values are {size:.5g} times the true ones (standard error {error:.2g}). That makes "       \
      "errors of {sigmas:.2g} sigma ({spread:.2g} between recordings).", "size", "error", "sigmas", "spread")          \
    X(CT_FINDING_SENSOR_BIAS, "sensor_bias", CT_SEVERITY_WARNING, CT_TOPIC_SENSORS,                                    \
      "{subjects}: measured values are too large by {size:.4g}, in m or rad (standard error {error:.2g}), which is "   \
      "{sigmas:.2g} sigma ({spread:.2g} between recordings).", "size", "error", "sigmas", "spread")                    \
    X(CT_FINDING_RATE_BIAS, "rate_bias", CT_SEVERITY_WARNING, CT_TOPIC_SENSORS,                                        \
      "{subjects}: measured motion is too large by {size:.4g} a second, in m or rad (standard error {error:.2g}). "    \
      "That makes errors of {sigmas:.2g} sigma a step ({spread:.2g} between recordings).",                             \
      "size", "error", "sigmas", "spread")                                                                             \
    X(CT_FINDING_SENSOR_MOUNT, "sensor_mount", CT_SEVERITY_WARNING, CT_TOPIC_SENSORS,                                  \
      "{subjects}: the sensor is ({x:.4g}, {y:.4g}, {z:.4g}) m on its body from where it was taken to be (standard "   \
      "error {error:.2g} m). That makes errors of {sigmas:.2g} sigma.", "x", "y", "z", "error", "sigmas")              \
    X(CT_FINDING_SENSOR_TURNED, "sensor_turned", CT_SEVERITY_WARNING, CT_TOPIC_SENSORS,                                \
      "{subjects}: the sensor is turned on its body by ({x:.4g}, {y:.4g}, {z:.4g}) rad (standard error {error:.2g} "   \
      "rad). That makes errors of {sigmas:.2g} sigma.", "x", "y", "z", "error", "sigmas")                              \
    X(CT_FINDING_CORRECTION_REFUSED, "correction_refused", CT_SEVERITY_WARNING, CT_TOPIC_SENSORS,                      \
      "{+subjects}: the correction of its {-subjects} is left out. It would change the log-likelihood of the errors "  \
      "by {gain:.2g} nats a measurement ({test:.2g} in sequences to test with).", "gain", "test")                      \
    X(CT_FINDING_TEST_CORRECTED, "test_corrected", CT_SEVERITY_INFO, CT_TOPIC_SENSORS,                                 \
      "{+subjects}: faults differ between recordings. {-subjects} have corrections from their own truth, though they " \
      "are to test with: their errors are those after such a calibration.", NULL)                                      \
    X(CT_FINDING_OUTLIERS, "outliers", CT_SEVERITY_WARNING, CT_TOPIC_SENSORS,                                          \
      "{subjects}: {share:.3g} % of the measurements are outliers, {size:.2g} times as large as the noise of the "     \
      "others (sigma {sigma:.3g} of the first row). A robust kernel of width {width:.3g} fits better by {gain:.2g} "   \
      "nats a measurement.", "share", "size", "sigma", "gain", "width")                                                \
    X(CT_FINDING_HEAVY_TAILS, "heavy_tails", CT_SEVERITY_WARNING, CT_TOPIC_SENSORS,                                    \
      "{subjects}: errors have heavy tails, as Student's distribution of {degrees:.2g} degrees. A robust kernel of "   \
      "width {width:.3g} fits better by {gain:.2g} nats a measurement.", "degrees", "gain", "width")                   \
    X(CT_FINDING_ROWS_CORRELATED, "rows_correlated", CT_SEVERITY_WARNING, CT_TOPIC_SENSORS,                            \
      "{subjects}: errors of its rows correlate by up to {rho:.2g}. A full covariance gains {gain:.2g} nats a "        \
      "measurement.", "rho", "gain")                                                                                   \
    X(CT_FINDING_ERRORS_AUTOCORRELATED, "errors_autocorrelated", CT_SEVERITY_WARNING, CT_TOPIC_SENSORS,                \
      "{subjects}: errors of neighbouring measurements correlate by {rho:.2g}; they last for {steps:.3g} "             \
      "measurements ({seconds:.3g} s). White noise is assumed: NEES comes out up to {nees:.2g} times too large. "      \
      "covtune learn --bias SENSOR=gauss-markov makes such an error a state.", "rho", "steps", "seconds", "nees")      \
    X(CT_FINDING_NOISE_DEPENDS, "noise_depends", CT_SEVERITY_INFO, CT_TOPIC_SENSORS,                                   \
      "{subjects}: the noise depends on it: sigma is {factor:.3g} times as large at {high:.3g} (nine tenths are "      \
      "below) as at {low:.3g} (one tenth is below). That is {share:.2g} % of the variation of their size.",            \
      "factor", "share", "low", "high")                                                                                \
    X(CT_FINDING_ROW_NOT_MEASURED, "row_not_measured", CT_SEVERITY_INFO, CT_TOPIC_SENSORS,                             \
      "{subjects}: is 0 in all measurements, and the true value is not. It is not examined. Give the recipe what "     \
      "measures it, or a sigma that covers the motion.", NULL)                                                         \
    X(CT_FINDING_TWO_POPULATIONS, "two_populations", CT_SEVERITY_WARNING, CT_TOPIC_SENSORS,                            \
      "{subjects}: one model for two kinds of measurements. Those between poses that are no neighbours ({share:.2g} "  \
      "%) have {ratio:.3g} times the sigma of the others. covtune convert --split-loops gives them a model of their "  \
      "own.", "ratio", "share")                                                                                        \
    X(CT_FINDING_MEASUREMENTS_REPEATED, "measurements_repeated", CT_SEVERITY_WARNING, CT_TOPIC_SENSORS,                \
      "{subjects}: {share:.2g} % of the measurements are equal to the one before, to the bit, though the body moves.", \
      "share")                                                                                                         \
    X(CT_FINDING_SENSOR_WITHOUT_INFLUENCE, "sensor_without_influence", CT_SEVERITY_INFO, CT_TOPIC_SENSORS,             \
      "{subjects}: hardly matters: without it the standard deviation of no pose grows by more than {share:.2g} %.",    \
      "share")                                                                                                         \
    X(CT_FINDING_TRUTH_COPIES_SENSOR, "truth_copies_sensor", CT_SEVERITY_ERROR, CT_TOPIC_DATA,                         \
      "{subjects}: the truth is a copy of this sensor, or made from it. The two differ by {residual:.2g}; "            \
      "independent ones would differ by more than {least:.2g}. Errors against such a truth mean nothing: leave the "   \
      "coordinate out of the recipe's `known`.", "residual", "least")                                                  \
    X(CT_FINDING_TRUTH_UNRELATED, "truth_unrelated", CT_SEVERITY_ERROR, CT_TOPIC_DATA,                                 \
      "{subjects}: the truth of this recording has nothing to do with what its sensors measure, of motion and of the " \
      "world. Is it that of another body or recording, or of another clock? The recording is not examined further.",   \
      NULL)                                                                                                            \
    X(CT_FINDING_TRUTH_GAPS, "truth_gaps", CT_SEVERITY_INFO, CT_TOPIC_DATA,                                            \
      "{share:.2g} % of the poses between others that have a truth have none; the longest gap has {poses:.0f} poses "  \
      "({seconds:.3g} s), in {subjects}.", "share", "poses", "seconds")                                                \
    X(CT_FINDING_TRUTH_JUMPS, "truth_jumps", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                                       \
      "The truth jumps {count:.0f} times, by up to {size:.3g} m, where odometry sees no such motion. First in "        \
      "{subjects}, {seconds:.6g} s after its start.", "count", "size", "seconds")                                      \
    X(CT_FINDING_TRUTH_NOISE, "truth_noise", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                                       \
      "The truth has noise of its own ({position:.3g} m, standard error {error:.2g}) ({rotation:.3g} rad, standard "   \
      "error {rotation_error:.2g}). It makes {share:.2g} % of the variance of the errors of {subjects}, and is "       \
      "learned as noise of that sensor. A sigma of the truth prevents that.",                                          \
      "position", "error", "rotation", "rotation_error", "share")                                                      \
    X(CT_FINDING_NOT_IMPORTED, "not_imported", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                                     \
      "Corrections were not tried by an import, which failed: {subjects}. What is found is of the dataset as it is.",  \
      NULL)                                                                                                            \
    X(CT_FINDING_TRUTH_TURNED, "truth_turned", CT_SEVERITY_ERROR, CT_TOPIC_DATA,                                       \
      "The truth's rotation is turned by {turn:.4g} rad (standard error {error:.2g}) from where the body points: its " \
      "positions and the odometry say so, in {same:.0f} of {sequences:.0f} sequences. It is not compared, but it "     \
      "fixes the first poses.", "turn", "error", "same", "sequences")                                                  \
    X(CT_FINDING_STAMPS_REPEATED, "stamps_repeated", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                               \
      "{subjects}: {count:.0f} records ({share:.2g} %) have a stamp that is not after the one before, or are there "   \
      "twice.", "count", "share")                                                                                      \
    X(CT_FINDING_TRUTH_FROZEN, "truth_frozen", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                                     \
      "The truth repeats a pose to the last digit while odometry moves, {count:.0f} times, for up to {poses:.0f} "     \
      "poses ({seconds:.4g} s), {share:.2g} % of all. First in {subjects}. What is left is examined without. `where` " \
      "in the truth leaves such records out.", "count", "poses", "seconds", "share")                                   \
    X(CT_FINDING_CLOCK_JUMPS, "clock_jumps", CT_SEVERITY_ERROR, CT_TOPIC_DATA,                                         \
      "{+subjects} in {-subjects}: its stamps step by {size:.6g} s (long steps: {count:.0f}, the first at {from:.3f} " \
      "s). Without that it ends when others do: its clock was set, or began again. The correction steps: {steps:.4g} " \
      "takes out steps that are longer.", "size", "count", "from", "steps")                                            \
    X(CT_FINDING_COUNTERS_WRAP, "counters_wrap", CT_SEVERITY_ERROR, CT_TOPIC_DATA,                                     \
      "{subjects}: counters of its wheels begin again after {wrap:.6g} m (steps of that length: {count:.0f}). Each "   \
      "is read as a way of this length. `wrap` in the sensor says it: counts of a turn of the counter, as 65536, "     \
      "times metres a count.", "wrap", "count")                                                                        \
    X(CT_FINDING_SENSOR_UNUSED, "sensor_unused", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                                   \
      "{+subjects}: none of its {records:.0f} records is used. {dropped:.0f} of them: {-subjects}.", "records",        \
      "dropped")                                                                                                       \
    X(CT_FINDING_SENSOR_WITHOUT_RECORDS, "sensor_without_records", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                 \
      "{subjects}: its files have no records.", NULL)                                                                  \
    X(CT_FINDING_FILES_MISSING, "files_missing", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                                   \
      "{+subjects}: {count:.0f} recordings have no files of it, first {-subjects}.", "count")                          \
    X(CT_FINDING_RECORDING_EMPTY, "recording_empty", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                               \
      "{subjects}: the recording gives no sequence. Odometry runs from {begin:.3f} to {end:.3f} s, the truth from "    \
      "{first:.3f} to {last:.3f} s (nan: there is none).", "begin", "end", "first", "last")                            \
    X(CT_FINDING_NO_COMMON_TIME, "no_common_time", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                                 \
      "{subjects}: its stamps run from {first:.3f} to {last:.3f} s, those of the odometry from {begin:.3f} to "        \
      "{end:.3f} s. They have no time in common. If its clock is in another zone, the correction delay: {shift:.0f} "  \
      "moves its stamps.", "first", "last", "begin", "end", "shift")                                                   \
    X(CT_FINDING_FILE_CUT_SHORT, "file_cut_short", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                                 \
      "{+subjects}: {-subjects} was cut short: {bytes:.0f} bytes at its end are no whole record. What is before them " \
      "is used.", "bytes")                                                                                             \
    X(CT_FINDING_RECORDS_NUMBERED, "records_numbered", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                             \
      "{+subjects}: no column of {-subjects} is known as its stamp, so its records are numbered: 0, 1, 2, ... s. "     \
      "time: COLUMN in its source names the stamp.", NULL)                                                             \
    X(CT_FINDING_RECORDS_UNORDERED, "records_unordered", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                           \
      "{+subjects}: {count:.0f} records have an earlier stamp than a record before them, first {-subjects}. They are " \
      "used in the order of their stamps.", "count")                                                                   \
    X(CT_FINDING_ODOMETRY_GAPS, "odometry_gaps", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                                   \
      "{subjects}: {count:.0f} gaps are longer than {gap:.3g} s, up to {longest:.4g} s. Each ends a sequence "         \
      "(states: gap).", "count", "gap", "longest")                                                                     \
    X(CT_FINDING_SHORT_SEQUENCES, "short_sequences", CT_SEVERITY_INFO, CT_TOPIC_DATA,                                  \
      "{count:.0f} sequences of less than half a segment, or of one state, are left out: {states:.0f} states.",        \
      "count", "states")                                                                                               \
    X(CT_FINDING_LONG_SEQUENCE, "long_sequence", CT_SEVERITY_WARNING, CT_TOPIC_DATA,                                   \
      "{subjects} becomes one sequence of some {states:.0f} states: its import takes about {megabytes:.0f} MB of "     \
      "memory, and learning from it more. Lines \"split:\" and \"segment: {seconds:.0f}\" in the recipe divide it.",   \
      "states", "megabytes", "seconds")                                                                                \
    X(CT_FINDING_POINTS_LEFT_OUT, "points_left_out", CT_SEVERITY_INFO, CT_TOPIC_DATA,                                  \
      "{count:.0f} unknown points are left out of sequences that have too few measurements of them.", "count")         \
    X(CT_FINDING_STATES_UNDETERMINED, "states_undetermined", CT_SEVERITY_ERROR, CT_TOPIC_DATA,                         \
      "{count:.0f} of {states:.0f} poses are not determined by measurements, first {subjects}.", "count", "states")    \
    X(CT_FINDING_WITHOUT_FULL_TRUTH, "without_full_truth", CT_SEVERITY_INFO, CT_TOPIC_DATA,                            \
      "{subjects}: the truth does not determine these residuals; they are examined at the estimate. Errors that last " \
      "show less there.", NULL)                                                                                        \
    X(CT_FINDING_MEASUREMENT_UNKNOWN, "measurement_unknown", CT_SEVERITY_WARNING, CT_TOPIC_EXPORT,                     \
      "{subjects}: the noise file has no \"measurement\", so a pose and a step between poses cannot be told apart. "   \
      "Nothing is set for these models; comments in the export name what is missing.", NULL)                           \
    X(CT_FINDING_MODEL_NOT_EXPORTED, "model_not_exported", CT_SEVERITY_WARNING, CT_TOPIC_EXPORT,                       \
      "Not in the export: {subjects}.",                                                                                \
      NULL)

typedef enum {
#define X(constant, ...) constant,
    CT_FINDING_LIST(X)
#undef X
    CT_FINDING_COUNT
} ct_finding_code;

/* A line of the list. */
typedef struct {
    const char *name;
    ct_severity severity;
    ct_topic    topic;
    const char *text;                             /* template                               */
    const char *value[CT_FINDING_VALUES_MAX + 1]; /* names of the numbers, ended by NULL    */
} ct_finding_info;

typedef struct {
    ct_subject_kind kind;
    int32_t         index; /* see CT_SUBJECT_LIST; -1: none                                  */
    int             sign;  /* +1 or -1 where subjects take part with a sign, else 0          */
    char           *name;
} ct_subject;

typedef struct {
    ct_finding_code code;
    double          value[CT_FINDING_VALUES_MAX];
    int32_t         subjects;
    ct_subject     *subject;
    int64_t         capacity; /* of subject                                                  */
} ct_finding;

/* All zero: an empty list. It owns its findings, subjects and names. */
typedef struct {
    int32_t     count;
    ct_finding *item;
    int64_t     capacity;
} ct_findings;

/* NULL, "?" or -1 where the argument is none. */
const ct_finding_info *ct_finding_get_info(ct_finding_code code);
int                    ct_finding_code_find(const char *name); /* a ct_finding_code, or -1 */
const char            *ct_severity_name(ct_severity severity);
const char            *ct_topic_name(ct_topic topic);
const char            *ct_subject_kind_name(ct_subject_kind kind);

/* Append a finding. value: the numbers of the code, in the order of the list. CT_E_ARGUMENT: no such code, or another
 * number of values. On failure the list is unchanged. */
ct_status ct_findings_add(ct_findings *list, ct_finding_code code, int values, const double value[], ct_err *err);
/* Append a subject to the last finding. The name is copied. */
ct_status ct_findings_add_subject(ct_findings *list, ct_subject_kind kind, int32_t index, int sign, const char *name,
                                  ct_err *err);
/* The first finding with that code, or -1. */
int32_t ct_findings_find(const ct_findings *list, ct_finding_code code);
/* out <- copies of the findings; those with one subject that differ in it alone become one. Numbers are the same if
 * they agree to two digits. */
ct_status ct_findings_join(const ct_findings *list, ct_findings *out, ct_err *err);
/* Frees what the list owns, and empties it. */
void ct_findings_free(ct_findings *list);

/* The sentence, one line. Returns its length without limit, as snprintf does; a text that does not fit is cut. */
int ct_finding_text(const ct_finding *finding, char *buf, size_t size);

#ifdef __cplusplus
}
#endif
#endif
