/* covtune/report.h: what was learned, in the words of other programs.
 *
 * An export is text, ready to be pasted or included: it says, in a comment where the format has any, which program's convention it follows: order of the
 * coordinates, units, sigma or variance or information, and the frame. covtune's own are: tangent order (x, y, theta) in the plane and (rotation, translation) in
 * space, variances, the local frame of the measurement (right perturbation). Formats of other order are permuted.
 */
#ifndef COVTUNE_REPORT_H
#define COVTUNE_REPORT_H

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
    X(CT_EXPORT_ROBOT_LOCALIZATION, "robot-localization", "robot_localization parameters, YAML")   \
    X(CT_EXPORT_ROS, "ros", "ROS covariance fields: 6 x 6 row-major, (x, y, z, roll, pitch, yaw)") \
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

/* Write the table, or the models of one group (NULL: all), as `format`. What the format has no place for is CT_E_UNSUPPORTED with a sentence that
 * names the model, before anything is written. */
ct_status ct_export(const ct_noise *noise, const char *group, ct_export_format format, FILE *out, ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
