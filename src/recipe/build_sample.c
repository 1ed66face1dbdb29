/* build_sample.c: what a channel makes of a record: rows of a measurement, the body's pose, the body's velocity.
 *
 * Order of what is done: degrees, inverse, compass; axes of the recipe; corrections (axes, scale, bias of rows); frame
 * of the source's world; mount. Corrections of odometry act on the velocity of the sensor: a difference of poses, or an
 * increment, is divided by its duration first. */
#include "recipe/build.h"

#include <math.h>

static double value_at(const ct__channel *c, const ct_record *record, ct__role role, int i)
{
    return record->value[c->place[role][i]];
}

#define DEGREE    0.01745329251994329577 /* rad */
#define VALUE_MAX 1e15 /* m, rad, their rates: what is larger stands for no value, and its products overflow */

/* n numbers of a role. -1, or why they are none. */
static int take(const ct__channel *c, const ct_record *record, ct__role role, int n, double v[])
{
    for (int i = 0; i < n; i++) {
        v[i] = value_at(c, record, role, i);
        if (isnan(v[i])) return CT_DROP_MISSING;
        if (!(fabs(v[i]) < VALUE_MAX)) return CT_DROP_NOT_FINITE;
    }
    return -1;
}

#define TAKE(role, n, v)                                                                                               \
    do {                                                                                                               \
        const int why_not = take(c, record, role, n, v);                                                               \
        if (why_not >= 0) return why_not;                                                                              \
    } while (0)

/* ---- poses ---- */

static int unit(double x, double y, double z, double w, ct_so3 *q)
{
    const double n = sqrt(x * x + y * y + z * z + w * w);
    if (!(n > 1e-6) || !isfinite(n)) return CT_DROP_NOT_FINITE;
    *q = (ct_so3){x / n, y / n, z / n, w / n};
    return -1;
}

static ct_so3 about(int axis, double angle)
{
    double w[3] = {0, 0, 0};
    w[axis] = angle;
    return ct_so3_exp(w);
}

static int matrix_pose(const double m[12], ct_se3 *pose)
{
    const double R[9] = {m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]}, t[3] = {m[3], m[7], m[11]};
    const double det =
        R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) + R[2] * (R[3] * R[7] - R[4] * R[6]);
    if (!(det > 0.5 && det < 2)) return CT_DROP_NOT_FINITE; /* no rotation, and none with rounded digits */
    const ct_so3 q = ct_so3_from_matrix(R);
    ct_so3 n;
    const int bad = unit(q.x, q.y, q.z, q.w, &n);
    *pose = ct_se3_make(t, n);
    return bad;
}

/* Angles, or rates of angles, in rad. */
static void to_radians(const ct__channel *c, int n, double v[])
{
    for (int i = 0; c->corrected.degrees && i < n; i++) v[i] *= DEGREE;
}

/* The rotation of x ahead, y left, z up against east, north, up, from that of x ahead, y right, z down against north,
 * east, down. */
static ct_so3 from_compass(ct_so3 q)
{
    const ct_so3 back = ct_so3_inverse(ct__body_axes(CT__AXES_NED), NULL);
    return ct_so3_compose(ct_so3_compose(ct__world_axes(CT__AXES_NED), q, NULL, NULL), back, NULL, NULL);
}

/* The pose of the body in the world, with the file's axes, from what the file has. */
static ct_se3 read_otherwise(const ct__channel *c, ct_se3 pose)
{
    if (c->corrected.inverse) pose = ct_se3_inverse(pose, NULL);
    if (!c->corrected.compass) return pose;
    return ct_se3_make((const double[]){pose.x, pose.y, pose.z}, from_compass(ct_se3_rotation(pose)));
}

static int rotation(const ct__channel *c, const ct_record *record, ct_so3 *q)
{
    double v[4];
    *q = ct_so3_identity();
    if (c->role[CT__ROLE_QUATERNION].count) {
        TAKE(CT__ROLE_QUATERNION, 4, v);
        return c->corrected.scalar_first ? unit(v[1], v[2], v[3], v[0], q) : unit(v[0], v[1], v[2], v[3], q);
    }
    if (c->role[CT__ROLE_ROTATION_VECTOR].count) {
        TAKE(CT__ROLE_ROTATION_VECTOR, 3, v);
        to_radians(c, 3, v);
        *q = ct_so3_exp(v);
    } else if (c->role[CT__ROLE_EULER].count) {
        TAKE(CT__ROLE_EULER, 3, v);
        to_radians(c, 3, v);
        *q = ct_so3_compose(about(2, v[2]), ct_so3_compose(about(1, v[1]), about(0, v[0]), NULL, NULL), NULL, NULL);
    } else if (c->role[CT__ROLE_YAW].count) {
        TAKE(CT__ROLE_YAW, 1, v);
        to_radians(c, 1, v);
        *q = about(2, v[0]);
    }
    return -1;
}

/* East, north, up, m. */
static int geodetic_position(ct__import *imp, const ct__channel *c, const ct_record *record, double p[3])
{
    double g[3] = {0, 0, imp->origin[2]};
    TAKE(CT__ROLE_GEODETIC, c->role[CT__ROLE_GEODETIC].count, g);
    return ct__geodetic_local(imp, g, p) ? -1 : CT_DROP_NOT_FINITE;
}

/* A position on the earth has the dataset's axes already: in those of the source, as the rotation is. */
static int raw_geodetic(ct__import *imp, const ct__channel *c, const ct_record *record, double t[3])
{
    double p[3];
    const int bad = geodetic_position(imp, c, record, p);
    if (bad < 0) ct_so3_act(ct_so3_inverse(ct__world_axes(c->axes), NULL), p, t, NULL, NULL);
    return bad;
}

int ct__sample_raw_pose(ct__import *imp, const ct__channel *c, const ct_record *record, ct_se3 *pose)
{
    double m[12], t[3] = {0, 0, 0};
    ct_so3 q;
    if (c->role[CT__ROLE_MATRIX].count) {
        TAKE(CT__ROLE_MATRIX, 12, m);
        const int bad = matrix_pose(m, pose);
        *pose = read_otherwise(c, *pose);
        return bad;
    }
    int bad = -1;
    if (c->role[CT__ROLE_GEODETIC].count)
        bad = raw_geodetic(imp, c, record, t);
    else
        TAKE(CT__ROLE_POSITION, c->role[CT__ROLE_POSITION].count, t);
    if (bad < 0) bad = rotation(c, record, &q);
    if (bad >= 0) return bad;
    *pose = read_otherwise(c, ct_se3_make(t, q));
    return -1;
}

/* With the axes of the dataset, in the plane where states are. A mount in space is taken off before that. */
static ct_se3 turn_axes(const ct__import *imp, const ct__channel *c, ct_se3 raw)
{
    const double zero[3] = {0, 0, 0};
    const ct_se3 W = ct_se3_make(zero, ct__world_axes(c->axes));
    const ct_se3 C = ct_se3_make(zero, ct_so3_inverse(ct__body_axes(c->axes), NULL));
    ct_se3 pose = raw;
    if (c->axes != CT__AXES_BODY) pose = ct_se3_compose(ct_se3_compose(W, raw, NULL, NULL), C, NULL, NULL);
    if (imp->kind == CT_SE3) return pose;
    if (c->mount_in_space) pose = ct_se3_compose(pose, ct_se3_inverse(c->mount, NULL), NULL, NULL);
    return ct__flatten(pose);
}

static int has_row_corrections(const ct__corrected *c)
{
    int any = c->has_axes;
    for (int i = 0; i < 6; i++) any |= c->scale[i] != 1 || c->bias[i] != 0;
    return any;
}

/* Rows x y yaw, or rotation vector and position. */
static ct_se3 correct_pose(const ct__import *imp, const ct__channel *c, ct_se3 pose)
{
    double row[6];
    if (!has_row_corrections(&c->corrected)) return pose;
    if (imp->kind == CT_SE2) {
        row[0] = pose.x, row[1] = pose.y, row[2] = ct__yaw(pose);
        ct__correct_rows(&c->corrected, 3, row);
        return ct__planar(row[0], row[1], row[2]);
    }
    ct_so3_log(ct_se3_rotation(pose), row);
    row[3] = pose.x, row[4] = pose.y, row[5] = pose.z;
    ct__correct_rows(&c->corrected, 6, row);
    return ct_se3_make(row + 3, ct_so3_exp(row));
}

/* The body's pose in the world, from an absolute pose; without a rotation, the position alone. */
static ct_se3 absolute_pose(const ct__import *imp, const ct__channel *c, ct_se3 raw)
{
    ct_se3 pose = correct_pose(imp, c, turn_axes(imp, c, raw));
    if (c->has_frame) pose = ct_se3_compose(c->frame, pose, NULL, NULL);
    const int off = c->has_mount && c->rotates && !(imp->kind == CT_SE2 && c->mount_in_space);
    if (off) pose = ct_se3_compose(pose, ct_se3_inverse(c->mount, NULL), NULL, NULL);
    return pose;
}

ct_se3 ct__relative_pose(const ct__import *imp, const ct__channel *c, ct_se3 raw)
{
    double twist[6];
    const double zero[3] = {0, 0, 0};
    const ct_se3 C = ct_se3_make(zero, ct__body_axes(c->axes));
    ct_se3 pose = raw;
    if (c->axes != CT__AXES_BODY)
        pose = ct_se3_compose(ct_se3_compose(C, raw, NULL, NULL), ct_se3_inverse(C, NULL), NULL, NULL);
    if (imp->kind == CT_SE2) pose = ct__flatten(pose);
    if (!has_row_corrections(&c->corrected)) return pose;
    double row[6];
    ct_se3_log(pose, twist);
    ct__twist_rows(imp->kind, twist, row);
    ct__correct_rows(&c->corrected, imp->kind == CT_SE2 ? 3 : 6, row);
    ct__rows_twist(imp->kind, row, twist);
    return ct_se3_exp(twist);
}

/* ---- velocities ---- */

/* Rows of the sensor's velocity are corrected; then it is that of the body. */
static void correct_twist(const ct__import *imp, const ct__channel *c, double twist[6])
{
    double row[6];
    const int planar = imp->kind == CT_SE2;
    ct__twist_rows(imp->kind, twist, row);
    ct__correct_rows(&c->corrected, planar ? 3 : 6, row);
    ct__rows_twist(imp->kind, row, twist);
    if (c->has_mount && !(planar && c->mount_in_space && c->motion == CT__MOTION_POSE)) ct__move_twist(c->mount, twist);
}

static void turn_twist(const ct__channel *c, double twist[6])
{
    double old[6];
    if (c->axes == CT__AXES_BODY) return;
    memcpy(old, twist, sizeof old);
    ct_so3_act(ct__body_axes(c->axes), old, twist, NULL, NULL);
    ct_so3_act(ct__body_axes(c->axes), old + 3, twist + 3, NULL, NULL);
}

void ct__join_turns(const ct__import *imp, const ct__channel *c, const double rate[3], double twist[6])
{
    memcpy(twist, rate, 3 * sizeof *rate);
    to_radians(c, 3, twist);
    correct_twist(imp, c, twist);
}

/* Rates of the body's axes; of a yaw its change since the record before, the shorter way round. */
static int turn_rate(const ct__import *imp, ct__channel *c, const ct_record *record, ct__sample *s)
{
    const int rows = imp->kind == CT_SE2 ? 1 : 3;
    double    w[6] = {0, 0, 0, 0, 0, 0}, yaw;
    if (c->rates == CT__MOTION_VELOCITY) {
        TAKE(CT__ROLE_RATE, rows, rows == 1 ? w + 2 : w);
        to_radians(c, 3, w);
    } else {
        TAKE(CT__ROLE_YAW, 1, &yaw);
        to_radians(c, 1, &yaw);
        if (c->taken)
            w[2] = remainder(yaw - c->last_yaw, 6.28318530717958647693) / ((double)(s->stamp - c->last_stamp) * 1e-9);
        c->last_yaw = yaw;
    }
    if (rows == 1 && c->axes == CT__AXES_NED)
        w[2] = -w[2];
    else if (rows == 3)
        turn_twist(c, w);
    ct__correct_rows(&c->corrected, rows, rows == 1 ? w + 2 : w);
    memcpy(c->rates == CT__MOTION_VELOCITY ? s->value : s->twist, w, sizeof w);
    return -1;
}

static int velocity(const ct__import *imp, const ct__channel *c, const ct_record *record, ct__sample *s)
{
    double v[3] = {0, 0, 0}, w[3] = {0, 0, 0};
    TAKE(CT__ROLE_VELOCITY, c->role[CT__ROLE_VELOCITY].count, v);
    if (c->role[CT__ROLE_ANGULAR_VELOCITY].count) {
        TAKE(CT__ROLE_ANGULAR_VELOCITY, 3, w);
    } else if (c->turn == CT__TURN_OWN) {
        w[2] = v[2]; /* vx, vy, omega */
        v[2] = 0;
    }
    to_radians(c, 3, w);
    for (int i = 0; i < 3; i++) s->value[i] = w[i], s->value[3 + i] = v[i];
    turn_twist(c, s->value);
    if (imp->kind == CT_SE2) s->value[0] = s->value[1] = s->value[5] = 0;
    if (c->turn == CT__TURN_OWN) correct_twist(imp, c, s->value); /* else with the turns: ct__join_turns */
    return -1;
}

/* s->twist <- velocity from the record before to this one, if the motion is `step`. */
static void step_velocity(const ct__import *imp, const ct__channel *c, ct_se3 step, ct__sample *s)
{
    const double dt = (double)(s->stamp - c->last_stamp) * 1e-9;
    ct_se3_log(step, s->twist);
    for (int i = 0; i < 6; i++) s->twist[i] /= dt;
    if (c->turn == CT__TURN_OWN) correct_twist(imp, c, s->twist);
}

static int increment(const ct__import *imp, const ct__channel *c, const ct_record *record, ct__sample *s)
{
    const int n = c->role[CT__ROLE_INCREMENT].count;
    const int alone = c->turn != CT__TURN_OWN; /* a displacement without its turn */
    double v[7] = {0};
    ct_so3 q;
    ct_se3 step;
    TAKE(CT__ROLE_INCREMENT, n, v);
    if (n < 7 && !alone) to_radians(c, n == 3 ? 1 : 3, n == 3 ? v + 2 : v + 3);
    if (alone)
        step = ct_se3_make(v, ct_so3_identity());
    else if (n == 3)
        step = ct__planar(v[0], v[1], v[2]);
    else if (n == 6)
        step = ct_se3_make(v, ct_so3_exp(v + 3));
    else {
        const int bad = c->corrected.scalar_first ? unit(v[4], v[5], v[6], v[3], &q) : unit(v[3], v[4], v[5], v[6], &q);
        if (bad >= 0) return bad;
        step = ct_se3_make(v, q);
    }
    if (c->corrected.inverse) step = ct_se3_inverse(step, NULL);
    if (c->axes != CT__AXES_BODY) {
        double twist[6];
        ct_se3_log(step, twist);
        turn_twist(c, twist);
        step = ct_se3_exp(twist);
    }
    if (imp->kind == CT_SE2) step = ct__flatten(step);
    if (c->taken) step_velocity(imp, c, step, s);
    return -1;
}

/* Both wheels roll on arcs about one centre: turn (right - left) / track, ahead (left + right) / 2. A counter that
 * began again has gone the shorter way. */
static int wheel_difference(const ct__import *imp, ct__channel *c, const ct_record *record, ct__sample *s)
{
    const double wrap = c->corrected.wrap_m > 0 ? c->corrected.wrap_m : c->sensor->wrap_m;
    double now[2], d[2];
    TAKE(CT__ROLE_WHEELS, 2, now);
    for (int i = 0; i < 2; i++) {
        d[i] = now[i] - c->last_wheel[i];
        if (wrap > 0) d[i] -= wrap * round(d[i] / wrap);
    }
    if (c->taken && (double)(s->stamp - c->last_stamp) <= (double)imp->gap)
        ct__counters_note(&imp->seen[c->number].counters, d, c->wheel_step);
    memcpy(c->wheel_step, d, sizeof d);
    for (int i = 0; i < 2; i++) d[i] *= c->corrected.wheel[i];
    const double turn = c->turn == CT__TURN_OWN ? (d[1] - d[0]) / c->sensor->track_m : 0;
    double twist[6] = {0, 0, turn, (d[0] + d[1]) / 2, 0, 0};
    turn_twist(c, twist);
    if (c->taken) step_velocity(imp, c, ct_se3_exp(twist), s);
    memcpy(c->last_wheel, now, sizeof now);
    return -1;
}

static int pose_difference(ct__import *imp, ct__channel *c, const ct_record *record, ct__sample *s)
{
    ct_se3 raw;
    const int bad = ct__sample_raw_pose(imp, c, record, &raw);
    if (bad >= 0) return bad;
    const ct_se3 pose = turn_axes(imp, c, raw);
    if (c->taken) step_velocity(imp, c, ct_se3_between(c->last_pose, pose, NULL, NULL), s);
    c->last_pose = pose;
    return -1;
}

/* ---- measurements ---- */

static int positions(ct__import *imp, const ct__channel *c, const ct_record *record, ct__sample *s)
{
    const int n = imp->kind == CT_SE2 ? 2 : 3;
    double p[3] = {0, 0, 0}, q[3];
    if (c->sensor->type == CT__SENSOR_GEODETIC) {
        const int bad = geodetic_position(imp, c, record, p);
        if (bad >= 0) return bad;
    } else {
        TAKE(CT__ROLE_POSITION, c->role[CT__ROLE_POSITION].count, q);
        if (c->role[CT__ROLE_POSITION].count == 2) q[2] = 0;
        ct_so3_act(ct__world_axes(c->axes), q, p, NULL, NULL);
    }
    ct__correct_rows(&c->corrected, n, p);
    if (n == 2) p[2] = 0;
    if (c->has_frame) {
        memcpy(q, p, sizeof q);
        ct_se3_act(c->frame, q, p, NULL, NULL);
    }
    memcpy(s->value, p, sizeof p);
    return -1;
}

/* Azimuth and elevation in the sensor's frame. */
static int angles(const ct__import *imp, const ct__channel *c, const ct_record *record, double angle[2])
{
    double d[3], e[3];
    angle[1] = 0;
    if (c->role[CT__ROLE_DIRECTION].count) {
        TAKE(CT__ROLE_DIRECTION, 3, d);
        ct_so3_act(ct__body_axes(c->axes), d, e, NULL, NULL);
        if (!(hypot(hypot(e[0], e[1]), e[2]) > 1e-9)) return CT_DROP_NOT_FINITE;
        angle[0] = atan2(e[1], e[0]);
        angle[1] = atan2(e[2], hypot(e[0], e[1]));
        return -1;
    }
    TAKE(CT__ROLE_BEARING, 1, angle);
    if (c->axes == CT__AXES_NED) angle[0] = -angle[0]; /* clockwise */
    if (imp->kind == CT_SE3 && c->role[CT__ROLE_ELEVATION].count) TAKE(CT__ROLE_ELEVATION, 1, angle + 1);
    return -1;
}

static int line_of_sight(const ct__import *imp, const ct__channel *c, const ct_record *record, ct__sample *s)
{
    const ct__sensor_type type = c->sensor->type;
    int n = 0;
    if (type != CT__SENSOR_BEARING) {
        TAKE(CT__ROLE_RANGE, 1, s->value);
        n = 1;
    }
    if (type != CT__SENSOR_RANGE) {
        const int bad = angles(imp, c, record, s->value + n);
        if (bad >= 0) return bad;
        n += imp->kind == CT_SE2 ? 1 : 2;
    }
    ct__correct_rows(&c->corrected, n, s->value);
    return type != CT__SENSOR_BEARING && s->value[0] < 0 ? CT_DROP_NOT_FINITE : -1;
}

static int plain(const ct__import *imp, const ct__channel *c, const ct_record *record, ct__role role, ct__sample *s)
{
    const int n = role == CT__ROLE_POINT ? (imp->kind == CT_SE2 ? 2 : 3) : c->role[role].count;
    TAKE(role, n, s->value);
    if (role == CT__ROLE_POINT && imp->kind == CT_SE2 && c->axes == CT__AXES_NED) s->value[1] = -s->value[1];
    ct__correct_rows(&c->corrected, n, s->value);
    return -1;
}

/* z in the world: of a frame the shift and turn about z alone, as a height knows nothing else. */
static int height(const ct__channel *c, const ct_record *record, ct__sample *s)
{
    TAKE(CT__ROLE_HEIGHT, 1, s->value);
    if (c->axes == CT__AXES_NED) s->value[0] = -s->value[0];
    ct__correct_rows(&c->corrected, 1, s->value);
    if (c->has_frame) s->value[0] += c->frame.z;
    return -1;
}

/* Yaw of the sensor's x axis, from any rotation. */
static int heading(const ct__channel *c, const ct_record *record, ct__sample *s)
{
    ct_so3 q;
    const int bad = rotation(c, record, &q);
    if (bad >= 0) return bad;
    const ct_so3 C = ct_so3_inverse(ct__body_axes(c->axes), NULL);
    if (c->corrected.compass) q = from_compass(q);
    q = ct_so3_compose(ct_so3_compose(ct__world_axes(c->axes), q, NULL, NULL), C, NULL, NULL);
    s->value[0] = ct__yaw((ct_se3){0, 0, 0, q.x, q.y, q.z, q.w});
    if (c->role[CT__ROLE_YAW].count && c->axes == CT__AXES_BODY) { /* not wrapped yet */
        TAKE(CT__ROLE_YAW, 1, s->value);
        to_radians(c, 1, s->value);
        if (c->corrected.compass) s->value[0] = 1.57079632679489661923 - s->value[0];
    }
    ct__correct_rows(&c->corrected, 1, s->value);
    if (c->has_frame) s->value[0] += ct__yaw(c->frame);
    return -1;
}

/* What decides whether the record is taken is done; the rest when a state needs it. */
static int truth_of(ct__import *imp, const ct__channel *c, const ct_record *record, ct__sample *s)
{
    s->late = 1;
    if (c->role[CT__ROLE_MATRIX].count || c->role[CT__ROLE_GEODETIC].count || c->role[CT__ROLE_QUATERNION].count ||
        c->role[CT__ROLE_ROTATION_VECTOR].count || c->role[CT__ROLE_EULER].count || !c->role[CT__ROLE_YAW].count)
        return ct__sample_raw_pose(imp, c, record, &s->pose);
    s->late = 2;
    TAKE(CT__ROLE_POSITION, c->role[CT__ROLE_POSITION].count, s->value);
    TAKE(CT__ROLE_YAW, 1, s->value + 3);
    to_radians(c, 1, s->value + 3);
    return -1;
}

ct_se3 ct__sample_pose(const ct__import *imp, const ct__channel *c, const ct__sample *s)
{
    if (!s->late) return s->pose;
    if (s->late == 1) return absolute_pose(imp, c, s->pose);
    return absolute_pose(imp, c, read_otherwise(c, ct_se3_make(s->value, about(2, s->value[3]))));
}

static int measure(ct__import *imp, ct__channel *c, const ct_record *record, ct__sample *s)
{
    ct_se3 raw;
    int bad;
    if (!c->sensor) return truth_of(imp, c, record, s);
    switch (c->sensor->type) {
    case CT__SENSOR_ODOMETRY:
        if (c->motion == CT__MOTION_VELOCITY) return velocity(imp, c, record, s);
        if (c->motion == CT__MOTION_INCREMENT)
            return c->role[CT__ROLE_WHEELS].count ? wheel_difference(imp, c, record, s)
                                                  : increment(imp, c, record, s);
        return pose_difference(imp, c, record, s);
    case CT__SENSOR_VELOCITY: return velocity(imp, c, record, s);
    case CT__SENSOR_TURN_RATE: return turn_rate(imp, c, record, s);
    case CT__SENSOR_POSE:
        bad = ct__sample_raw_pose(imp, c, record, &raw);
        if (bad < 0) s->pose = absolute_pose(imp, c, raw);
        return bad;
    case CT__SENSOR_POSITION:
    case CT__SENSOR_GEODETIC: return positions(imp, c, record, s);
    case CT__SENSOR_HEADING: return heading(c, record, s);
    case CT__SENSOR_HEIGHT: return height(c, record, s);
    case CT__SENSOR_POINT: return plain(imp, c, record, CT__ROLE_POINT, s);
    case CT__SENSOR_PIXEL:
    case CT__SENSOR_STEREO: return plain(imp, c, record, CT__ROLE_PIXEL, s);
    default: return line_of_sight(imp, c, record, s);
    }
}

/* ---- targets ---- */

static ct_status find_target(ct__import *imp, const ct__channel *c, const ct_record *record, ct__sample *s, int *drop)
{
    s->target = -1;
    if (!c->sensor || c->id < 0) return CT_OK;
    const char *text = record->text[c->id];
    if (c->sensor->landmarks >= 0) {
        CT_TRY(ct__points_find(imp->recipe, c->sensor->landmarks, &imp->points[c->sensor->landmarks], text, &s->target,
                               imp->err));
    } else {
        const char *name = ct__ids_find(&c->ids, text);
        for (int32_t b = 0; name && b < imp->bodies; b++)
            if (b != c->body && !strcmp(imp->body[b].name, name)) s->target = b;
    }
    if (s->target < 0) *drop = CT_DROP_LANDMARK;
    return CT_OK;
}

ct_status ct__sample_make(ct__import *imp, ct__channel *c, const ct_record *record, ct_ns stamp, ct__sample *sample,
                          int *drop)
{
    *drop = -1;
    if (c->where >= 0 && !(record->value[c->where] != 0)) *drop = CT_DROP_CONDITION; /* and if it is missing */
    if (c->where >= 0 && isnan(record->value[c->where])) *drop = CT_DROP_CONDITION;
    if (*drop >= 0) return CT_OK;
    if (c->sensor && c->sensor->every > 1 && c->seen++ % c->sensor->every) {
        *drop = CT_DROP_CONDITION;
        return CT_OK;
    }
    if (c->taken && c->steady) ct__result_step(imp, c, stamp);
    if (c->taken && c->steady && stamp <= c->last_stamp) {
        *drop = CT_DROP_STAMP;
        return CT_OK;
    }
    *sample = (ct__sample){.stamp = stamp, .regime = NAN, .target = -1};
    CT_TRY(find_target(imp, c, record, sample, drop));
    if (*drop < 0) *drop = measure(imp, c, record, sample);
    if (*drop >= 0) return CT_OK;
    if (c->sensor && c->role[CT__ROLE_REGIME].count) sample->regime = value_at(c, record, CT__ROLE_REGIME, 0);
    ct__features_of_record(c, record, sample->feature);
    if (!c->taken || stamp < c->first) c->first = stamp;
    if (!c->taken || stamp > c->last) c->last = stamp;
    c->last_stamp = stamp;
    c->taken++;
    return CT_OK;
}
