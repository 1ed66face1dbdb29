/* robot_localization.c: parameters of robot_localization and of the nodes that publish its inputs.
 *
 * robot_localization (ekf_node, ukf_node) takes the covariance of a measurement from its message; no parameter replaces
 * it. process_noise_covariance is the variance that the filter's own motion model gains per second. covtune does not
 * learn that model, so that it is not written. What a noise model does determine: the states that a measurement holds
 * (the 15 booleans of odomN_config), whether they are absolute or differences (odomN_differential), and the diagonal of
 * the publishing node (pose_covariance_diagonal and twist_covariance_diagonal of ros2_controllers and others).
 *
 * Steps from pose to pose (between_*): fused as absolute poses they would tie the filter to the drift of odometry, so
 * that differential is true. The filter then makes a velocity of two poses, of covariance (P1 + P2) dt with P the
 * poses' own (RosFilter::preparePose, 7e). A step of covariance S over dt seconds is a velocity of covariance
 * S / dt^2, so that P would have to be S / (2 dt^3). Without dt no diagonal is right: none is written, and a comment
 * has S and the formulas. With dt a twist of S / dt^2 is written.
 *
 * ROS 2 accepts the file (NODE: ros__parameters:). Names of nodes are placeholders: until they are replaced it has no
 * effect. */
#include "export/ros.h"
#include "base/base.h"
#include "base/file.h"

ct_status ct__robot_localization_check(const ct_noise_model *m, ct_err *err)
{
    CT_TRY(ct__ros_check_rows(m, "robot_localization", err));
    if (ct__ros_what_of(m) == CT__ROS_OTHER)
        return ct_fail(err, CT_E_UNSUPPORTED,
                       "noise model \"%s\": robot_localization has no place for %s; it has poses, positions, steps "
                       "between poses and twists",
                       m->name, m->measurement);
    for (int i = 0; i < m->dim; i++)
        for (int j = 0; j < m->dim; j++)
            if (i != j && ct_noise_covariance(m, i, j) != 0)
                return ct_fail(err, CT_E_UNSUPPORTED,
                               "noise model \"%s\": the parameters are diagonals and have no place for its "
                               "correlations; the option diagonal leaves them out, the format ros has them",
                               m->name);
    return CT_OK;
}

/* ---- Inputs of the filter -------------------------------------------------------------------- */

static const char *input_name(const ct__ros_model *r)
{
    return r->what == CT__ROS_STEP ? "odom" : r->what == CT__ROS_HEADING ? "imu" : r->twist ? "twist" : "pose";
}

/* odom@0, odom@1 and odom#2 are one input if they measure the same. */
static int same_input(const ct__export *e, int32_t j, int32_t k)
{
    const ct_noise_model *a = ct_noise_get(e->noise, e->index[j]), *b = ct_noise_get(e->noise, e->index[k]);
    const size_t          n = strcspn(a->name, "@#");
    if (strcspn(b->name, "@#") != n || strncmp(a->name, b->name, n)) return 0;
    const ct__ros_model r = ct__ros_model_of(a, e->options.dt_s), s = ct__ros_model_of(b, e->options.dt_s);
    return r.what == s.what && r.measured == s.measured;
}

typedef struct {
    int32_t number; /* the N of odomN, counted by kind; -1: not written       */
    int     first;  /* 1: the first model of this input                       */
} input;

static void find_inputs(const ct__export *e, input in[])
{
    int32_t odom = 0, imu = 0, pose = 0, twist = 0;
    for (int32_t k = 0; k < e->count; k++) {
        const ct__ros_model r = ct__ros_model_of(ct_noise_get(e->noise, e->index[k]), e->options.dt_s);
        int32_t             j = 0;
        while (j < k && !same_input(e, j, k)) j++;
        in[k].first = j == k;
        if (j < k) in[k].number = in[j].number;
        else
            in[k].number = r.what == CT__ROS_UNKNOWN ? -1
                           : r.what == CT__ROS_STEP  ? odom++
                           : r.what == CT__ROS_HEADING ? imu++
                           : r.twist                 ? twist++
                                                     : pose++;
    }
}

static void put_input(const ct__export *e, int32_t k, input in)
{
    const ct__ros_model r = ct__ros_model_of(ct_noise_get(e->noise, e->index[k]), e->options.dt_s);
    char                name[32];
    ct__export_heading(e, k, "    #", NULL);
    if (in.number < 0) {
        ct__text_printf(
            e->out,
            "    # What measures it is not said, a pose or a step from pose to pose, and the filter must know: nothing "
            "is set.\n"
            "    # Say it in the noise file, for instance \"measurement\": \"prior_se2\" or \"between_se2\".\n");
        return;
    }
    snprintf(name, sizeof name, "%s%d", input_name(&r), in.number);
    if (!in.first) {
        ct__text_printf(e->out, "    # %s, as above.\n", name);
        return;
    }
    ct__text_printf(e->out, "    %s_config: [", name);
    for (int i = 0; i < CT__ROS_STATES; i++) {
        if (i && i % 3 == 0) ct__text_printf(e->out, ",\n%*s", (int)strlen(name) + 14, "");
        else if (i) ct__text_put(e->out, ", ");
        ct__text_put(e->out, r.measured >> i & 1 ? "true" : "false");
    }
    ct__text_put(e->out, "]\n");
    if (r.what == CT__ROS_STEP && !r.twist)
        ct__text_printf(e->out, "    # Steps: what is known is the noise from one pose to the next. Poses that "
                                "odometry adds up drift, and must not be\n"
                                "    # fused as if they were measured in the world.\n");
    if (r.what != CT__ROS_TWIST)
        ct__text_printf(e->out, "    %s_differential: %s\n", name,
                        r.what == CT__ROS_STEP && !r.twist ? "true" : "false");
}

/* ---- Nodes that publish ---------------------------------------------------------------------- */

static void put_publisher(const ct__export *e, int32_t k, input in)
{
    ct__ros_model r = ct__ros_model_of(ct_noise_get(e->noise, e->index[k]), e->options.dt_s);
    double              v[6];
    char                buf[32];
    for (int i = 0; i < 6; i++) v[i] = r.S[i * 7];
    ct__export_round(e, 6, v);
    ct__export_title(e, k, "#", NULL);
    if (r.what == CT__ROS_UNKNOWN || (r.what == CT__ROS_STEP && !r.twist)) {
        ct__text_printf(e->out, "# variances%s: ", r.what == CT__ROS_STEP ? " of one step" : "");
        ct__ros_list(e->out, 6, 6, 0, v);
        if (r.what == CT__ROS_UNKNOWN) return;
        ct__text_printf(e->out,
                        "# With dt seconds from pose to pose: as a twist's, over dt^2 (the option dt writes that). As "
                        "a pose's, where odom%d_differential is\n"
                        "# true, over 2 dt^3: the filter gives the velocity between two poses of covariances P1 and P2 "
                        "the covariance (P1 + P2) dt.\n",
                        in.number);
        return;
    }
    if (r.what == CT__ROS_STEP)
        ct__text_printf(e->out,
                        "# Of one step from pose to pose in %s s, as a velocity: the step's variances over dt^2.\n",
                        ct__format_double(e->options.dt_s, buf));
    ct__text_printf(e->out, "publisher_of_%s:\n  ros__parameters:\n", ct__names_get(&e->id, k));
    if (r.what == CT__ROS_HEADING) {
        ct__export_round_matrix(e, 6, r.S);
        ct__ros_put_orientation(e->out, &r, 4);
        return;
    }
    ct__text_printf(e->out, "    %s_covariance_diagonal: ", r.twist ? "twist" : "pose");
    ct__ros_list(e->out, 6, 6, 0, v);
}

/* A finding where models are not written because their table has no "measurement" for them. */
static ct_status report_unset(const ct__export *e, const input in[])
{
    ct_findings *findings = e->options.findings;
    int          found = 0;
    for (int32_t k = 0; findings && k < e->count; k++) {
        if (in[k].number >= 0) continue;
        if (!found++) CT_TRY(ct_findings_add(findings, CT_FINDING_MEASUREMENT_UNKNOWN, 0, NULL, e->err));
        CT_TRY(ct_findings_add_subject(findings, CT_SUBJECT_MODEL, e->index[k], 0,
                                       ct_noise_get(e->noise, e->index[k])->name, e->err));
    }
    return CT_OK;
}

ct_status ct__robot_localization_write(ct__export *e)
{
    input  *in = ct__zalloc(e->count, sizeof *in);
    int32_t written = 0;
    if (!in) return ct__no_memory(e->err, "noise models", e->count);
    find_inputs(e, in);
    for (int32_t k = 0; k < e->count; k++) written += in[k].number >= 0;
    ct__text_printf(
        e->out,
        "# For robot_localization (ekf_node, ukf_node) and the nodes that feed it, written by covtune %s.\n"
        "# robot_localization takes a measurement's covariance from its message, and has no parameter in its place. "
        "So:\n"
        "#   odomN_config, poseN_config, twistN_config, imuN_config\n"
        "#       which of x y z, roll pitch yaw, vx vy vz, vroll vpitch vyaw, ax ay az are measured. N counts the "
        "inputs\n"
        "#       here: replace it by that of your filter, where odomN, poseN, twistN or imuN is the topic; and the "
        "node's name.\n"
        "#   pose_covariance_diagonal, twist_covariance_diagonal\n"
        "#       variances of x y z, roll pitch yaw (m^2, rad^2), or of their velocities, for the node that "
        "publishes:\n"
        "#       diff_drive_controller and others of ros2_controllers have parameters of these names; else they belong "
        "into\n"
        "#       the messages. Replace publisher_of_... by that node's name.\n"
        "#   orientation_covariance\n"
        "#       of a heading, row by row about X, Y, Z (rad^2): what sensor_msgs/Imu has.\n"
        "# Coordinates that are not measured have a variance of 1e6, and false in the config.\n"
        "# It is not process_noise_covariance, which is what the filter's motion model gains in variance per second.\n"
        "# Frame: that of the measured pose; a message has a pose's along the axes of its header's frame.\n",
        ct_version());
    ct__export_origin(e, "#");
    ct__text_printf(e->out, "\nekf_filter_node:\n  ros__parameters:%s\n", written ? "" : " {}");
    for (int32_t k = 0; k < e->count; k++) put_input(e, k, in[k]);
    for (int32_t k = 0; k < e->count; k++) put_publisher(e, k, in[k]);
    const ct_status status = report_unset(e, in);
    free(in);
    return status;
}
