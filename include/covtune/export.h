/* covtune/export.h: noise models in the conventions of other programs.
 *
 * An export is text, ready to be pasted or included: it says, in a comment where the format has any, which program's
 * convention it follows: order of the coordinates, units, sigma or variance or information, and the frame. covtune's
 * own are: tangent order (x, y, yaw) in the plane and (rotation, translation) in space, range before bearing,
 * variances, the local frame of the measurement (right perturbation). Formats of other order are permuted, by the
 * names of a model's rows (ct_noise_set_rows); where they are needed and not there, the model is refused. What
 * measures (ct_noise_set_measurement) tells a pose from a step between poses, which is another thing to ROS; where
 * it is not said, nothing is written that could be taken for either. docs/program.md has a table of the conventions.
 *
 * Numbers read back to the bit; of g2o, whose matrices are inverses, to rounding where no decimals do better.
 */
#ifndef COVTUNE_EXPORT_H
#define COVTUNE_EXPORT_H

#include <covtune/finding.h>
#include <covtune/noise.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X(constant, name, what it is) */
#define CT_EXPORT_LIST(X)                                                                          \
    X(CT_EXPORT_JSON, "json", "covtune's noise file")                                              \
    X(CT_EXPORT_GTSAM_CPP, "gtsam-cpp", "GTSAM noise models, C++")                                 \
    X(CT_EXPORT_GTSAM_PYTHON, "gtsam-python", "GTSAM noise models, Python")                        \
    X(CT_EXPORT_ROBOT_LOCALIZATION, "robot-localization", "what robot_localization needs, YAML")      \
    X(CT_EXPORT_ROS, "ros", "ROS covariance fields: 6 x 6 row-major, (x, y, z, roll, pitch, yaw); 3 x 3 of NavSatFix") \
    X(CT_EXPORT_G2O, "g2o", "g2o information, upper triangle")                                     \
    X(CT_EXPORT_C, "c", "C header")

typedef enum {
#define X(constant, name, what) constant,
    CT_EXPORT_LIST(X)
#undef X
    CT_EXPORT_COUNT
} ct_export_format;

const char *ct_export_name(ct_export_format format);
int         ct_export_find(const char *name); /* a ct_export_format, or -1 */

/* Everything is borrowed until the call returns. */
typedef struct {
    /* the models of that group alone: "odom" is odom, odom@1, odom#2, ...; NULL: see all */
    const char        *group;
    /* without a group: 1 every model, 0 but those that were held (learned == 0) where others were learned */
    int                all;
    /* 1: full models without their correlations */
    int                diagonal;
    /* significant digits, of a matrix more where it needs them; 0: all. JSON, the noise file, has all */
    int                digits;
    /* time from pose to pose: ROS formats have between_* models as twists, Sigma / dt^2; 0: not known */
    double             dt_s;
    /* where the numbers come from, for a comment: lines; may be NULL */
    const char        *origin;
    /* for a comment beside each model of the table: lines; it, and any of them, may be NULL */
    const char *const *remark;
    /* what the format could not say is appended (CT_TOPIC_EXPORT); may be NULL */
    ct_findings       *findings;
} ct_export_options;

ct_export_options ct_export_defaults(void); /* all zero: every digit */

/* Write models of the table as `format`; options may be NULL: the defaults. What the format has no place for is
 * CT_E_UNSUPPORTED with a sentence that names the model, before anything is written; a group that is not there is
 * CT_E_ARGUMENT. Comments say what was left out. out stays open; whether what it holds back reaches its end is for
 * its owner to see (fclose). */
ct_status ct_export(const ct_noise *noise, ct_export_format format, const ct_export_options *options, FILE *out,
                    ct_err *err);
/* The same as a string, which the caller frees; NULL on failure. */
ct_status ct_export_string(const ct_noise *noise, ct_export_format format, const ct_export_options *options, char **out,
                           ct_err *err);
/* The same into a file, which is replaced whole or not at all. */
ct_status ct_export_write(const ct_noise *noise, ct_export_format format, const ct_export_options *options,
                          const char *path, ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
