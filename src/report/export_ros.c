/* export_ros.c: covariances for ROS messages, and what robot_localization can be told.
 *
 * geometry_msgs/PoseWithCovariance and TwistWithCovariance hold a 6 x 6 matrix, row by row, in the order (x, y, z, rotation about
 * X, Y, Z). A model goes there by the names of its rows: x y z, rx ry rz (or theta: about Z) are a pose, vx vy vz, wx wy wz (or
 * omega) a twist. Coordinates that the model does not have get a variance of 1e6: a zero would be taken as certainty, or as
 * a fault, by those who invert the matrix, and 1e6 is what drivers of planar robots put there.
 *
 * Frames: a pose's covariance in a message is along the axes of the header's frame, covtune's along those of the measured pose:
 * with R its rotation, blocks become R S R'. A twist's is in the child's frame, which is the body: as it is.
 *
 * robot_localization (ekf_node, ukf_node) takes the covariance of a measurement from its message; there is no parameter that
 * replaces it, though many have looked for one. process_noise_covariance is another thing: what the filter's own motion model,
 * constant acceleration, gains in variance per second. covtune learns nothing of that model, so it is not written. What a
 * set-up does need from a noise model is which states the measurement holds (the 15 booleans of odomN_config and its
 * like), and the diagonal that the publishing node is configured with: the pose_covariance_diagonal and
 * twist_covariance_diagonal of ros2_controllers and others. */
#include "report/export.h"
#include "base/base.h"
#include "base/file.h"

#define UNMEASURED 1e6
#define STATES     15 /* of robot_localization: pose, twist, acceleration */

static const char *const SLOT[] = {"x", "y", "z", "rx", "ry", "rz", "vx", "vy", "vz", "wx", "wy", "wz"};
static const struct {
    const char *name;
    int         slot;
} SYNONYM[] = {{"theta", 5}, {"roll", 3}, {"pitch", 4}, {"yaw", 5}, {"omega", 11}};

/* The place of a row among the states of robot_localization, or -1. */
static int slot_of(const char *name)
{
    for (int i = 0; i < (int)(sizeof SLOT / sizeof *SLOT); i++)
        if (!strcmp(name, SLOT[i])) return i;
    for (int i = 0; i < (int)(sizeof SYNONYM / sizeof *SYNONYM); i++)
        if (!strcmp(name, SYNONYM[i].name)) return SYNONYM[i].slot;
    return -1;
}

static ct_status check(const ct_noise_model *m, const char *format, ct_err *err)
{
    unsigned taken = 0;
    if (!m->row) return ct__export_unnamed(m, format, err);
    for (int i = 0; i < m->dim; i++) {
        const int slot = slot_of(m->row[i].name);
        if (slot < 0 || taken >> slot & 1 || slot / 6 != slot_of(m->row[0].name) / 6)
            return ct_fail(err, CT_E_UNSUPPORTED,
                           "noise model \"%s\": %s has no place for its row \"%s\"; it has poses (x y z rx ry rz, or theta) and twists (vx vy vz wx wy wz, or omega)",
                           m->name, format, m->row[i].name);
        taken |= 1u << slot;
    }
    return ct__export_no_kernel(m, format, err);
}

ct_status ct__ros_check(const ct_noise_model *m, ct_err *err) { return check(m, "a ROS message", err); }

ct_status ct__robot_localization_check(const ct_noise_model *m, ct_err *err)
{
    CT_TRY(check(m, "robot_localization", err));
    for (int i = 0; i < m->dim; i++)
        for (int j = 0; j < m->dim; j++)
            if (i != j && ct__export_entry(m, i, j) != 0)
                return ct_fail(err, CT_E_UNSUPPORTED, "noise model \"%s\": the parameters are diagonals and have no place for its correlations; the format ros has", m->name);
    return CT_OK;
}

/* With a point, and one before the exponent: parsers of YAML take 1e-05 for a string, and ROS takes no list of
 * integers and reals. */
static void put_number(FILE *out, double value)
{
    char         buf[32];
    const size_t n = strcspn(ct__format_double(value, buf), "e");
    fprintf(out, "%.*s%s%s", (int)n, buf, memchr(buf, '.', n) ? "" : ".0", buf + n);
}

/* 6 x 6 in the order of ROS. Returns 1 if it is a twist's. */
static int to_ros(const ct_noise_model *m, double S[36])
{
    for (int i = 0; i < 36; i++) S[i] = i / 6 == i % 6 ? UNMEASURED : 0;
    for (int i = 0; i < m->dim; i++)
        for (int j = 0; j < m->dim; j++) S[slot_of(m->row[i].name) % 6 * 6 + slot_of(m->row[j].name) % 6] = ct__export_entry(m, i, j);
    return slot_of(m->row[0].name) >= 6;
}

ct_status ct__ros_write(ct__export *e)
{
    fprintf(e->out, "# Covariances for ROS messages, written by covtune %s: of geometry_msgs/PoseWithCovariance (m^2, rad^2) and\n"
                    "# TwistWithCovariance (m^2/s^2, rad^2/s^2). Row by row, in the order x, y, z, rotation about X, Y, Z.\n"
                    "# Coordinates that are not measured have a variance of 1e6.\n"
                    "# Frame: that of the measured pose. A message wants the axes of its header's frame: with R the pose's rotation,\n"
                    "# the blocks of position and rotation become R S R'. A position measured along the world's axes, and a twist\n"
                    "# (in the body's frame, the child_frame_id), go there as they are.\n"
                    "# Of odometry from pose to pose it is the covariance of one step, not that of the pose the steps add up to.\n", ct_version());
    for (int32_t k = 0; k < e->count; k++) {
        const ct_noise_model *m = ct_noise_get(e->noise, e->index[k]);
        double                S[36];
        const int             twist = to_ros(m, S);
        ct__export_title(e->out, "#", m, NULL);
        ct__export_quote(e->out, m->name);
        fprintf(e->out, ":\n  %s:\n    covariance: [", twist ? "twist" : "pose");
        for (int i = 0; i < 36; i++) {
            fputs(!i ? "" : i % 6 ? ", " : ",\n                 ", e->out);
            put_number(e->out, S[i]);
        }
        fprintf(e->out, "]\n");
    }
    if (!e->count) fprintf(e->out, "{}\n");
    return CT_OK;
}

static void put_config(FILE *out, const ct_noise_model *m)
{
    unsigned measured = 0;
    for (int i = 0; i < m->dim; i++) measured |= 1u << slot_of(m->row[i].name);
    fputs("  config: [", out);
    for (int i = 0; i < STATES; i++) fprintf(out, "%s%s", !i ? "" : i % 3 ? ", " : ",\n           ", measured >> i & 1 ? "true" : "false");
    fputs("]\n", out);
}

ct_status ct__robot_localization_write(ct__export *e)
{
    fprintf(e->out, "# For robot_localization (ekf_node, ukf_node) and the nodes that feed it, written by covtune %s.\n"
                    "# robot_localization takes a measurement's covariance from its message, and has no parameter in its place. So:\n"
                    "#   config                      value of odomN_config, poseN_config, twistN_config or imuN_config: which of\n"
                    "#                               x y z, roll pitch yaw, vx vy vz, vroll vpitch vyaw, ax ay az are measured\n"
                    "#   pose_covariance_diagonal    variances of x y z, roll pitch yaw (m^2, rad^2) for the node that publishes\n"
                    "#   twist_covariance_diagonal   the same of a twist: diff_drive_controller and others of ros2_controllers\n"
                    "#                               have parameters of these names; else they belong into the messages\n"
                    "# Coordinates that are not measured have a variance of 1e6, and false in config.\n"
                    "# It is not process_noise_covariance, which is what the filter's motion model gains in variance per second.\n"
                    "# Of odometry from pose to pose it is the variance of one step: as a twist, over dt seconds, divide by dt^2.\n"
                    "# Frame: that of the measured pose; a message has a pose's along the axes of its header's frame.\n", ct_version());
    for (int32_t k = 0; k < e->count; k++) {
        const ct_noise_model *m = ct_noise_get(e->noise, e->index[k]);
        double                S[36];
        const int             twist = to_ros(m, S);
        ct__export_title(e->out, "#", m, NULL);
        ct__export_quote(e->out, m->name);
        fprintf(e->out, ":\n");
        put_config(e->out, m);
        fprintf(e->out, "  %s_covariance_diagonal: [", twist ? "twist" : "pose");
        for (int i = 0; i < 6; i++) {
            fputs(i ? ", " : "", e->out);
            put_number(e->out, S[i * 7]);
        }
        fprintf(e->out, "]\n");
    }
    if (!e->count) fprintf(e->out, "{}\n");
    return CT_OK;
}
