/* read_trajectory.c: TUM and KITTI trajectories, which hold poses only.
 *
 *   TUM     time x y z qx qy qz qw                  seconds, metres, unit quaternion
 *   KITTI   r00 r01 r02 tx r10 ... r22 tz           the rows of [R t]; 13 numbers: a time before them
 *
 * Reading: pose k is the SE3 variable xk. A trajectory is an estimate or the truth, so its poses become both initial
 * values and truth; the note mentions it. There are no factors.
 *
 * Writing: the SE2 and SE3 variables in order; a planar pose has z = 0. Factors, points, fixed variables, a separate
 * truth and (KITTI) times are lost. TUM needs a time: a sequence without times uses the number of the pose.
 *
 * Rotations in files are rounded. A quaternion or matrix within OFF of a rotation is moved to the nearest one;
 * further off it is an error. */
#include "data/data.h"

#include <math.h>

#define OFF 1e-3 /* files have as few as four digits: errors of 1e-4 are rounding */

/* ---- Reading --------------------------------------------------------------------------------- */

static ct_status add_pose(ct__build *b, ct_se3 pose)
{
    const double value[7] = {pose.x, pose.y, pose.z, pose.qx, pose.qy, pose.qz, pose.qw};
    int32_t      var;
    char         name[16];
    snprintf(name, sizeof name, "x%d", ct_graph_variables(b->seq->graph));
    CT_TRY(ct__build_variable(b, name, CT_SE3, value, &var));
    return ct__build_truth(b, var, value, 63);
}

static ct_status end(ct__build *b)
{
    const int32_t poses = ct_graph_variables(b->seq->graph);
    b->in.line = 0;
    if (poses == 0) return ct__lines_bad(&b->in, "no poses");
    return ct__build_note(b, "the poses are both initial values and truth");
}

/* A 3 x 3 matrix is a rotation if R R' = I and det R = 1. */
static ct_status check_rotation(const ct__build *b, const double R[9])
{
    double worst = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double s = i == j ? -1 : 0;
            for (int k = 0; k < 3; k++) s += R[3 * i + k] * R[3 * j + k];
            worst = fmax(worst, fabs(s));
        }
    if (!(worst <= OFF))
        return ct__lines_bad(&b->in, "not a rotation: R R' is off the identity by %.3g, at most %g is rounding", worst,
                             OFF);
    const double det =
        R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) + R[2] * (R[3] * R[7] - R[4] * R[6]);
    if (det < 0) return ct__lines_bad(&b->in, "not a rotation but a reflection: its determinant is %.3g", det);
    return CT_OK;
}

/* R <- the nearest orthonormal matrix, by Newton's iteration R <- (R + R^-T) / 2. It squares the distance: 1e-3,
 * 1e-6, 1e-12, rounding. R^-T is the cofactor matrix over det. */
static void nearest_rotation(double R[9])
{
    for (int step = 0; step < 4; step++) {
        double C[9];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                const int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
                C[3 * i + j] = R[3 * a + c] * R[3 * b + d] - R[3 * a + d] * R[3 * b + c];
            }
        const double det = R[0] * C[0] + R[1] * C[1] + R[2] * C[2];
        for (int i = 0; i < 9; i++) R[i] = 0.5 * (R[i] + C[i] / det);
    }
}

ct_status ct__kitti_read(ct__build *b)
{
    const ct__lines *in = &b->in;
    int              more, words = 0;
    for (;;) {
        CT_TRY(ct__lines_next(&b->in, &more));
        if (!more) return end(b);
        if (in->words != 12 && in->words != 13)
            return ct__lines_bad(in, "a KITTI pose is 12 numbers, or 13 with a time before them; found %d", in->words);
        if (words && in->words != words)
            return ct__lines_bad(in, "%d numbers, the lines before have %d", in->words, words);
        words = in->words;
        double time_s = 0, M[12];
        if (words == 13) CT_TRY(ct__word_number(in, 0, "a time", &time_s));
        CT_TRY(ct__word_numbers(in, words - 12, 12, "an entry of [R t]", M));
        double R[9] = {M[0], M[1], M[2], M[4], M[5], M[6], M[8], M[9], M[10]};
        CT_TRY(check_rotation(b, R));
        nearest_rotation(R);
        const double t[3] = {M[3], M[7], M[11]};
        CT_TRY(add_pose(b, ct_se3_make(t, ct_so3_from_matrix(R))));
        if (words == 13) CT_TRY(ct__build_stamp(b, ct_graph_variables(b->seq->graph) - 1, time_s));
    }
}

ct_status ct__tum_read(ct__build *b)
{
    const ct__lines *in = &b->in;
    int              more;
    for (;;) {
        CT_TRY(ct__lines_next(&b->in, &more));
        if (!more) return end(b);
        if (in->words != 8)
            return ct__lines_bad(in, "a TUM pose is 8 numbers (time x y z qx qy qz qw); found %d", in->words);
        double time_s, field[7], value[CT_SIZE_MAX];
        CT_TRY(ct__word_number(in, 0, "a time", &time_s));
        CT_TRY(ct__word_numbers(in, 1, 7, "a coordinate", field));
        const double *q = field + 3, length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        if (!(fabs(length - 1) <= OFF))
            return ct__lines_bad(in, "not a rotation: the quaternion's length is %.6g, it must be 1 to %g", length,
                                 OFF);
        if (!ct_kind_from_fields(CT_SE3, field, value)) return ct__lines_bad(in, "not a pose");
        ct_se3 pose;
        memcpy(&pose, value, sizeof pose);
        CT_TRY(add_pose(b, pose));
        CT_TRY(ct__build_stamp(b, ct_graph_variables(b->seq->graph) - 1, time_s));
    }
}

/* ---- Writing --------------------------------------------------------------------------------- */

/* Variable v as a pose in space; 0 if it is not a pose. */
static int pose_of(const ct__out *out, int32_t v, ct_se3 *pose)
{
    const ct_graph *g = out->seq->graph;
    const double   *x = out->x + ct_graph_offset(g, v);
    if (ct_graph_kind(g, v) == CT_SE3) {
        memcpy(pose, x, sizeof *pose);
        return 1;
    }
    if (ct_graph_kind(g, v) != CT_SE2) return 0;
    ct_se2 planar;
    memcpy(&planar, x, sizeof planar);
    const double turn[3] = {0, 0, ct_se2_yaw(planar)}, t[3] = {planar.x, planar.y, 0};
    *pose = ct_se3_make(t, ct_so3_exp(turn));
    return 1;
}

/* What a trajectory cannot hold of one variable. A truth equal to the written value is kept. */
static ct_status drop_of_variable(ct__out *out, int32_t v, int times)
{
    const ct_sequence *seq = out->seq;
    const ct_graph    *g = seq->graph;
    const ct_kind      kind = ct_graph_kind(g, v);
    const int64_t      at = ct_graph_offset(g, v);
    char               name[64];
    ct_graph_name(g, v, name, sizeof name);
    if (kind != CT_SE2 && kind != CT_SE3)
        return ct__out_drop(out, "variable %s: a trajectory has no place for %s", name, ct_kind_name(kind));
    if (ct_graph_fixed(g, v)) CT_TRY(ct__out_drop(out, "variable %s: a trajectory cannot mark it as fixed", name));
    if (seq->truth && seq->known[v] &&
        memcmp(out->x + at, seq->truth + at, (size_t)ct_kind_size(kind) * sizeof(double)))
        CT_TRY(ct__out_drop(out, "variable %s: a trajectory has no place for its true value beside another", name));
    if (seq->stamp && !times && !isnan(seq->stamp[v]))
        CT_TRY(ct__out_drop(out, "variable %s: a KITTI trajectory has no place for its time", name));
    return CT_OK;
}

static ct_status drop_the_rest(ct__out *out, int times)
{
    const ct_graph *g = out->seq->graph;
    int32_t         poses = 0;
    for (int32_t v = 0; v < ct_graph_variables(g); v++) {
        poses += ct_graph_kind(g, v) == CT_SE2 || ct_graph_kind(g, v) == CT_SE3;
        CT_TRY(drop_of_variable(out, v, times));
    }
    if (poses == 0) return ct_fail(out->err, CT_E_UNSUPPORTED, "a trajectory is made of poses, there is none");
    for (int32_t f = 0; f < ct_graph_factors(g); f++)
        CT_TRY(ct__out_drop(out, "factor %d: a trajectory has no place for %s", f, ct_graph_factor(g, f).ops->name));
    return CT_OK;
}

ct_status ct__kitti_write(ct__out *out)
{
    CT_TRY(drop_the_rest(out, 0));
    for (int32_t v = 0; v < ct_graph_variables(out->seq->graph); v++) {
        ct_se3 pose;
        if (!pose_of(out, v, &pose)) continue;
        double R[9];
        ct_so3_matrix(ct_se3_rotation(pose), R);
        const double M[12] = {R[0], R[1], R[2], pose.x, R[3], R[4], R[5], pose.y, R[6], R[7], R[8], pose.z};
        char         buf[32];
        fputs(ct__format_double(M[0], buf), out->file);
        ct__out_numbers(out, 11, M + 1);
        fputc('\n', out->file);
    }
    return CT_OK;
}

ct_status ct__tum_write(ct__out *out)
{
    CT_TRY(drop_the_rest(out, 1));
    const double *stamp = out->seq->stamp;
    fputs("# time x y z qx qy qz qw\n", out->file);
    for (int32_t v = 0; v < ct_graph_variables(out->seq->graph); v++) {
        ct_se3 pose;
        char   buf[32], name[64];
        if (!pose_of(out, v, &pose)) continue;
        if (stamp && isnan(stamp[v])) {
            ct_graph_name(out->seq->graph, v, name, sizeof name);
            CT_TRY(ct__out_drop(out, "variable %s has no time, others have", name));
            continue;
        }
        const double value[7] = {pose.x, pose.y, pose.z, pose.qx, pose.qy, pose.qz, pose.qw};
        fputs(ct__format_double(stamp ? stamp[v] : v, buf), out->file);
        ct__out_numbers(out, 7, value);
        fputc('\n', out->file);
    }
    return CT_OK;
}
