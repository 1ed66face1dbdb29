/* ros.c: covariances for ROS messages.
 *
 * geometry_msgs/PoseWithCovariance and TwistWithCovariance hold a 6 x 6 matrix, row-major, in the order (x, y, z,
 * rotation about X, Y, Z). The names of a model's rows choose the entries: x y z, rx ry rz (or yaw, formerly theta,
 * about Z) are a pose; vx vy vz, wx wy wz (or omega) are a twist. Coordinates that the model does not have get a
 * variance of 1e6, as drivers of planar robots do. A zero would mean certainty, or make the matrix singular.
 *
 * sensor_msgs/NavSatFix has a 3 x 3 matrix along East, North, Up: for positions, measured along the world's axes.
 * sensor_msgs/Imu has one of the orientation about X, Y, Z: for headings.
 *
 * Frames: the covariance of a pose in a message is along the axes of the header's frame, covtune's along those of the
 * measured pose. With R its rotation, blocks become R S R'. The covariance of a twist is in the child's frame, the
 * body, and is unchanged.
 *
 * Steps: no message holds the noise S of a step from pose to pose. Over dt seconds the step is a velocity of covariance
 * S / dt^2. */
#include "export/ros.h"
#include "base/base.h"
#include "base/file.h"

#define UNMEASURED 1e6

/* ---- Models in ROS conventions ---------------------------------------------------------------- */

static const char *const SLOT[] = {"x", "y", "z", "rx", "ry", "rz", "vx", "vy", "vz", "wx", "wy", "wz"};
static const struct {
    const char *name;
    int         slot;
} SYNONYM[] = {{"roll", 3}, {"pitch", 4}, {"yaw", 5}, {"theta", 5}, {"heading", 5}, {"omega", 11},
              {"height", 2}};

/* The place of a row among the states of robot_localization, or -1. */
static int slot_of(const char *name)
{
    for (int i = 0; i < (int)(sizeof SLOT / sizeof *SLOT); i++)
        if (!strcmp(name, SLOT[i])) return i;
    for (int i = 0; i < (int)(sizeof SYNONYM / sizeof *SYNONYM); i++)
        if (!strcmp(name, SYNONYM[i].name)) return SYNONYM[i].slot;
    return -1;
}

ct_status ct__ros_check_rows(const ct_noise_model *m, const char *format, ct_err *err)
{
    CT_TRY(ct__export_no_function(m, format, err));
    unsigned taken = 0;
    if (!m->row) return ct__export_unnamed(m, format, err);
    for (int i = 0; i < m->dim; i++) {
        const int slot = slot_of(m->row[i].name);
        if (slot < 0 || taken >> slot & 1 || slot / 6 != slot_of(m->row[0].name) / 6)
            return ct_fail(err, CT_E_UNSUPPORTED,
                           "noise model \"%s\": %s has no place for its row \"%s\"; it has poses (x y z rx ry rz, or "
                           "yaw) and twists (vx vy vz wx wy wz, or omega)",
                           m->name, format, m->row[i].name);
        taken |= 1u << slot;
    }
    return ct__export_no_kernel(m, format, err);
}

ct_status ct__ros_check(const ct_noise_model *m, ct_err *err) { return ct__ros_check_rows(m, "a ROS message", err); }

/* The first prefix that a name begins with. Names of a user's own factors should begin with none. */
static const struct {
    const char  *begin;
    ct__ros_what what;
} MEASUREMENT[] = {
    {"prior_", CT__ROS_POSE},     {"gtsam_prior_", CT__ROS_POSE}, {"position_", CT__ROS_POSITION},
    {"heading_", CT__ROS_HEADING}, {"height_", CT__ROS_POSITION},
    {"between_se", CT__ROS_STEP}, {"between_so", CT__ROS_STEP},   {"gtsam_between_se", CT__ROS_STEP},
    {"between_r", CT__ROS_OTHER}, {"point_", CT__ROS_OTHER},
};

ct__ros_what ct__ros_what_of(const ct_noise_model *m)
{
    if (slot_of(m->row[0].name) >= 6) return CT__ROS_TWIST;
    for (int i = 0; m->measurement && i < (int)(sizeof MEASUREMENT / sizeof *MEASUREMENT); i++)
        if (!strncmp(m->measurement, MEASUREMENT[i].begin, strlen(MEASUREMENT[i].begin))) return MEASUREMENT[i].what;
    return CT__ROS_UNKNOWN;
}

ct__ros_model ct__ros_model_of(const ct_noise_model *m, double dt_s)
{
    ct__ros_model r = {.what = ct__ros_what_of(m)};
    const int     over = r.what == CT__ROS_STEP && dt_s > 0; /* a step over a known time */
    r.twist = r.what == CT__ROS_TWIST || over;
    for (int i = 0; i < 36; i++) r.S[i] = i / 6 == i % 6 ? UNMEASURED : 0;
    for (int i = 0; i < m->dim; i++) {
        const int a = slot_of(m->row[i].name) % 6;
        r.measured |= 1u << (a + (r.twist ? 6 : 0));
        for (int j = 0; j < m->dim; j++)
            r.S[a * 6 + slot_of(m->row[j].name) % 6] = ct_noise_covariance(m, i, j) / (over ? dt_s * dt_s : 1);
    }
    return r;
}

/* ---- Text ------------------------------------------------------------------------------------ */

void ct__ros_list(ct__text *out, int n, int width, int indent, const double value[])
{
    char buf[32];
    ct__text_put(out, "[");
    for (int i = 0; i < n; i++) {
        const size_t mantissa = strcspn(ct__format_double(value[i], buf), "e");
        if (i && i % width == 0) ct__text_printf(out, ",\n%*s", indent, "");
        else if (i) ct__text_put(out, ", ");
        ct__text_printf(out, "%.*s%s%s", (int)mantissa, buf, memchr(buf, '.', mantissa) ? "" : ".0", buf + mantissa);
    }
    ct__text_put(out, "]\n");
}

static void put_what(ct__text *out, const ct__ros_model *r, double dt_s)
{
    char buf[32];
    switch (r->what) {
    case CT__ROS_UNKNOWN:
        ct__text_printf(
            out, "# What measures it is not said: it may be that of a pose, or of one step from pose to pose.\n");
        break;
    case CT__ROS_POSITION:
        ct__text_printf(out, "# Along the world's axes. position_covariance, of sensor_msgs/NavSatFix, is along East, "
                             "North, Up: the world's x, y, z are taken for these.\n");
        break;
    case CT__ROS_STEP:
        if (r->twist)
            ct__text_printf(
                out, "# Of one step from pose to pose in %s s, as a velocity: the step's covariance over dt^2.\n",
                ct__format_double(dt_s, buf));
        else
            ct__text_printf(out, "# Of one step from pose to pose, not of the pose that steps add up to. Over dt "
                                 "seconds, as a twist's: divide by dt^2.\n");
        break;
    case CT__ROS_HEADING:
        ct__text_printf(out, "# About the world's Z. orientation_covariance, of sensor_msgs/Imu, is about X, Y, Z.\n");
        break;
    case CT__ROS_POSE:
    case CT__ROS_TWIST:
    case CT__ROS_OTHER: break;
    }
}

/* NavSatFix: 3 x 3, and COVARIANCE_TYPE_DIAGONAL_KNOWN or COVARIANCE_TYPE_KNOWN. */
static void put_fix(ct__text *out, const ct__ros_model *r)
{
    double    P[9];
    int       diagonal = 1;
    for (int i = 0; i < 9; i++) {
        P[i] = r->S[i / 3 * 6 + i % 3];
        diagonal = diagonal && (i % 4 == 0 || P[i] == 0);
    }
    ct__text_put(out, "  position_covariance: ");
    ct__ros_list(out, 9, 3, 24, P);
    ct__text_printf(out, "  position_covariance_type: %d # %s\n", diagonal ? 2 : 3,
                    diagonal ? "diagonal known" : "known");
}

void ct__ros_put_orientation(ct__text *out, const ct__ros_model *r, int indent)
{
    double P[9];
    for (int i = 0; i < 9; i++) P[i] = r->S[(i / 3 + 3) * 6 + i % 3 + 3];
    ct__text_printf(out, "%*sorientation_covariance: ", indent, "");
    ct__ros_list(out, 9, 3, indent + 25, P);
}

ct_status ct__ros_write(ct__export *e)
{
    ct__text_printf(
        e->out,
        "# Covariances for ROS messages, written by covtune %s: of geometry_msgs/PoseWithCovariance (m^2, rad^2) and\n"
        "# TwistWithCovariance (m^2/s^2, rad^2/s^2). Row by row, in the order x, y, z, rotation about X, Y, Z.\n"
        "# Coordinates that are not measured have a variance of 1e6.\n"
        "# Frame: that of the measured pose. A message wants the axes of its header's frame: with R the pose's "
        "rotation,\n"
        "# the blocks of position and rotation become R S R'. A position measured along the world's axes, and a twist\n"
        "# (in the body's frame, the child_frame_id), go there as they are.\n",
        ct_version());
    ct__export_origin(e, "#");
    for (int32_t k = 0; k < e->count; k++) {
        const ct_noise_model *m = ct_noise_get(e->noise, e->index[k]);
        ct__ros_model         r = ct__ros_model_of(m, e->options.dt_s);
        ct__export_round_matrix(e, 6, r.S);
        ct__export_title(e, k, "#", NULL);
        put_what(e->out, &r, e->options.dt_s);
        ct__export_quote(e->out, m->name);
        ct__text_printf(e->out, ":\n  %s:\n    covariance: ", r.twist ? "twist" : "pose");
        ct__ros_list(e->out, 36, 6, 17, r.S);
        if (r.what == CT__ROS_POSITION && !(r.measured >> 3)) put_fix(e->out, &r);
        if (r.what == CT__ROS_HEADING) ct__ros_put_orientation(e->out, &r, 2);
    }
    if (!e->count) ct__text_printf(e->out, "{}\n");
    return CT_OK;
}
