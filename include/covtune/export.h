/* covtune/export.h: noise models in the conventions of other programs.
 *
 * An export is text to paste or include. A comment in it states the convention: order of the coordinates, units, sigma
 * or variance or information, and the frame. covtune's own convention: tangent order (x, y, yaw) in the plane and
 * (rotation, translation) in space, range before bearing, variances, the local frame of the measurement (right
 * perturbation). docs/program.md has a table of all conventions.
 *
 * Rows are permuted by their names (ct_noise_set_rows). A model without the names that a format needs is refused. The
 * measurement of a model (ct_noise_set_measurement) distinguishes a pose from a step between poses, which ROS has
 * different messages for. Without it neither is written.
 *
 * Numbers read back to the bit. g2o has inverses of covtune's matrices; these read back to rounding.
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
    X(CT_EXPORT_ROBOT_LOCALIZATION, "robot-localization", "parameters of robot_localization, YAML")   \
    X(CT_EXPORT_ROS, "ros", "ROS covariance fields: 6 x 6 row-major, (x, y, z, roll, pitch, yaw); 3 x 3 of NavSatFix") \
    X(CT_EXPORT_G2O, "g2o", "g2o information, upper triangle")                                     \
    X(CT_EXPORT_C, "c", "C header")                                                                \
    X(CT_EXPORT_PYTHON, "python", "Python functions: the covariance at given features")            \
    X(CT_EXPORT_ROS_NODE, "ros-node", "Python functions and a relay for a ROS 2 node")

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
    /* export only this group: "odom" means odom, odom@1, odom#2, ...; NULL: see `all` */
    const char        *group;
    /* without a group: 1 every model; 0 without the models that were not learned, where others were */
    int                all;
    /* 1: leave out correlations of full models */
    int                diagonal;
    /* significant digits; a matrix gets more where it needs them. 0: all. JSON always has all */
    int                digits;
    /* time from pose to pose: ROS formats write between_* models as twists, Sigma / dt^2; 0: not known */
    double             dt_s;
    /* lines for a comment on the origin of the numbers; may be NULL */
    const char        *origin;
    /* lines for a comment beside each model of the table; the list and its entries may be NULL */
    const char *const *remark;
    /* receives findings on what the format cannot express (CT_TOPIC_EXPORT); may be NULL */
    ct_findings       *findings;
} ct_export_options;

ct_export_options ct_export_defaults(void); /* all zero: every digit */

/* Write models of the table in a format; options may be NULL: the defaults. Models that the format cannot express are
 * left out, with a comment and CT_FINDING_MODEL_NOT_EXPORTED; if none of them fits, or one of the group, it is
 * CT_E_UNSUPPORTED before anything is written. An unknown group is CT_E_ARGUMENT. out stays open; the caller checks it
 * for write errors. */
ct_status ct_export(const ct_noise *noise, ct_export_format format, const ct_export_options *options, FILE *out,
                    ct_err *err);
/* The same as a string, which the caller frees; NULL on failure. */
ct_status ct_export_string(const ct_noise *noise, ct_export_format format, const ct_export_options *options, char **out,
                           ct_err *err);
/* The same into a file, replaced atomically. */
ct_status ct_export_write(const ct_noise *noise, ct_export_format format, const ct_export_options *options,
                          const char *path, ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
