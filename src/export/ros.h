/* ros.h: a noise model in ROS conventions, shared by the two ROS formats. */
#ifndef CT_EXPORT_ROS_H
#define CT_EXPORT_ROS_H

#include "export/export.h"

#define CT__ROS_STATES 15 /* of robot_localization: pose, twist, acceleration */

/* What a model is the noise of. Rows distinguish a pose from a twist, the measurement the others. */
typedef enum {
    CT__ROS_UNKNOWN,  /* a pose or a step between poses: not known                   */
    CT__ROS_POSE,     /* prior_*: in the frame of the pose                           */
    CT__ROS_POSITION, /* position_*: along the world's axes                          */
    CT__ROS_STEP,     /* between_* of poses and rotations                            */
    CT__ROS_TWIST,    /* velocities                                                  */
    CT__ROS_HEADING,  /* heading_*: about the world's Z, as an IMU's orientation     */
    CT__ROS_OTHER     /* x and y of something else: a point that a sensor sees       */
} ct__ros_what;

typedef struct {
    ct__ros_what what;
    int          twist;    /* S is of a twist, or of a step over a known time                     */
    unsigned     measured; /* bit i: state i of robot_localization                                */
    double       S[36];    /* x, y, z, rotation about X, Y, Z; 1e6 where not measured             */
} ct__ros_model;

/* Refuses kernels and rows that are not all of a pose or all of a twist; `format` is for the message. */
ct_status ct__ros_check_rows(const ct_noise_model *m, const char *format, ct_err *err);
ct__ros_what  ct__ros_what_of(const ct_noise_model *m);
ct__ros_model ct__ros_model_of(const ct_noise_model *m, double dt_s); /* of a model that was checked */

/* [1.0, 2.0, ...]: n numbers, `width` a line, further lines indented by `indent`. With a point, and one before the
 * exponent: parsers of YAML take 1e-05 for a string, and ROS takes no list of integers and reals. */
void ct__ros_list(ct__text *out, int n, int width, int indent, const double value[]);

/* orientation_covariance of sensor_msgs/Imu: 3 x 3, about X, Y, Z. */
void ct__ros_put_orientation(ct__text *out, const ct__ros_model *r, int indent);

#endif
