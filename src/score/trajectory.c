/* trajectory.c: poses in the order of time, and between stamps.
 *
 * Between two poses the position is linear, and the rotation turns along the shortest arc at a constant rate. */
#include "score/score.h"

#include <math.h>

/* ---- times ---- */

ct_ns ct__stamp_plus(ct_ns stamp, double offset_s)
{
    const double ns = offset_s * 1e9;
    if (!(fabs(ns) < 9.2e18)) return ns > 0 ? INT64_MAX : INT64_MIN;
    const int64_t step = (int64_t)llround(ns);
    if (step > 0 && stamp > INT64_MAX - step) return INT64_MAX;
    if (step < 0 && stamp < INT64_MIN - step) return INT64_MIN;
    return stamp + step;
}

/* ---- memory ---- */

ct_trajectory_options ct_trajectory_defaults(void) { return (ct_trajectory_options){.source = ct_source_defaults()}; }

ct_status ct_trajectory_new(int64_t poses, int rotations, ct_trajectory **out, ct_err *err)
{
    *out = NULL;
    if (poses < 0) return ct_fail(err, CT_E_ARGUMENT, "a trajectory cannot have %lld poses", (long long)poses);
    ct_trajectory *t = ct__zalloc(1, sizeof *t);
    if (t) t->stamp = ct__zalloc(poses, sizeof *t->stamp);
    if (t) t->pose = ct__zalloc(poses, sizeof *t->pose);
    if (!t || !t->stamp || !t->pose) {
        ct_trajectory_free(t);
        return ct__no_memory(err, "poses", poses);
    }
    t->poses = poses;
    t->timed = 1;
    t->rotations = rotations != 0;
    for (int64_t i = 0; i < poses; i++) t->pose[i] = ct_se3_identity();
    *out = t;
    return CT_OK;
}

void ct_trajectory_free(ct_trajectory *t)
{
    if (!t) return;
    free(t->stamp);
    free(t->pose);
    free(t->covariance);
    free(t->broken_stamp);
    free(t);
}

/* ---- order ---- */

typedef struct {
    ct_ns stamp;
    int64_t from;
} place;

static int by_stamp(const void *a, const void *b)
{
    const place *p = a, *q = b;
    if (p->stamp != q->stamp) return p->stamp < q->stamp ? -1 : 1;
    return (p->from > q->from) - (p->from < q->from);
}

/* Poses in `order`, into new arrays that replace the old. Of equal stamps the last record counts: a filter that writes
 * its pose after each measurement has used all of them there. */
static ct_status rearrange(ct_trajectory *t, const place *order, ct_err *err)
{
    const int64_t nn = (int64_t)t->covariance_dim * t->covariance_dim;
    ct_ns *stamp = ct__zalloc(t->poses, sizeof *stamp);
    ct_se3 *pose = ct__zalloc(t->poses, sizeof *pose);
    double *covariance = t->covariance ? ct__zalloc(t->poses, (size_t)nn * sizeof *covariance) : NULL;
    if (!stamp || !pose || (t->covariance && !covariance)) {
        free(stamp);
        free(pose);
        free(covariance);
        return ct__no_memory(err, "poses", t->poses);
    }
    int64_t n = 0;
    for (int64_t i = 0; i < t->poses; i++) {
        if (n && stamp[n - 1] == order[i].stamp) n--;
        stamp[n] = order[i].stamp;
        pose[n] = t->pose[order[i].from];
        if (covariance)
            memcpy(covariance + n * nn, t->covariance + order[i].from * nn, (size_t)nn * sizeof *covariance);
        n++;
    }
    free(t->stamp);
    free(t->pose);
    free(t->covariance);
    t->stamp = stamp, t->pose = pose, t->covariance = covariance;
    t->dropped += t->poses - n;
    t->poses = n;
    return CT_OK;
}

static int by_time(const void *a, const void *b)
{
    const ct_ns x = *(const ct_ns *)a, y = *(const ct_ns *)b;
    return (x > y) - (x < y);
}

int ct__broken_within(const ct_trajectory *t, ct_ns from, ct_ns to)
{
    int64_t low = 0, high = t->broken;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (t->broken_stamp[middle] < from) low = middle + 1;
        else high = middle;
    }
    return low < t->broken && t->broken_stamp[low] <= to;
}

ct_status ct__trajectory_sort(ct_trajectory *t, ct_err *err)
{
    int rises = 1;
    if (t->broken > 1) qsort(t->broken_stamp, (size_t)t->broken, sizeof *t->broken_stamp, by_time);
    for (int64_t i = 1; i < t->poses; i++) {
        t->reordered += t->stamp[i] < t->stamp[i - 1];
        rises = rises && t->stamp[i] > t->stamp[i - 1];
    }
    if (rises) return CT_OK;
    place *order = ct__zalloc(t->poses, sizeof *order);
    if (!order) return ct__no_memory(err, "poses", t->poses);
    for (int64_t i = 0; i < t->poses; i++) order[i] = (place){t->stamp[i], i};
    if (t->reordered) qsort(order, (size_t)t->poses, sizeof *order, by_stamp);
    const ct_status status = rearrange(t, order, err);
    free(order);
    return status;
}

/* ---- poses ---- */

ct_se3 ct__flat(ct_se3 a)
{
    if (a.z == 0 && a.qx == 0 && a.qy == 0) return a;
    const double yaw = atan2(2 * (a.qw * a.qz + a.qx * a.qy), 1 - 2 * (a.qy * a.qy + a.qz * a.qz));
    return (ct_se3){a.x, a.y, 0, 0, 0, sin(yaw / 2), cos(yaw / 2)};
}

void ct__planar_log(ct_se3 a, double v[3])
{
    /* of the half angle; the double angle by products, without rounding at pi */
    ct_se2_log((ct_se2){a.x, a.y, a.qw * a.qw - a.qz * a.qz, 2 * a.qw * a.qz}, v);
}

ct_se3 ct__from_camera(ct_se3 a)
{
    const ct_se3 axes = {0, 0, 0, -0.5, 0.5, -0.5, 0.5}; /* x = z of the camera, y = -x, z = -y */
    return ct_se3_compose(ct_se3_compose(axes, a, NULL, NULL), ct_se3_inverse(axes, NULL), NULL, NULL);
}

static ct_se3 between(ct_se3 a, ct_se3 b, double u)
{
    double w[3];
    const double t[3] = {a.x + u * (b.x - a.x), a.y + u * (b.y - a.y), a.z + u * (b.z - a.z)};
    ct_so3_log(ct_so3_between(ct_se3_rotation(a), ct_se3_rotation(b), NULL, NULL), w);
    for (int i = 0; i < 3; i++) w[i] *= u;
    return ct_se3_make(t, ct_so3_normalize(ct_so3_compose(ct_se3_rotation(a), ct_so3_exp(w), NULL, NULL)));
}

/* The pose at t, where `at` is the first pose that is not before it. */
static int pose_at(const ct_trajectory *t, int64_t at, ct_ns time, double gap_s, ct_se3 *out, int64_t *nearest)
{
    if (at >= t->poses) return 0;
    if (t->stamp[at] == time) {
        *out = t->pose[at];
        if (nearest) *nearest = at;
        return 1;
    }
    if (at == 0) return 0;
    const double length = ct__seconds(t->stamp[at - 1], t->stamp[at]);
    if (!(length <= gap_s)) return 0;
    const double u = ct__seconds(t->stamp[at - 1], time) / length;
    *out = between(t->pose[at - 1], t->pose[at], u);
    if (nearest) *nearest = u <= 0.5 ? at - 1 : at;
    return 1;
}

int ct_trajectory_at(const ct_trajectory *t, ct_ns time, double gap_s, ct_se3 *out)
{
    int64_t low = 0, high = t->poses;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (t->stamp[middle] < time)
            low = middle + 1;
        else
            high = middle;
    }
    return pose_at(t, low, time, gap_s, out, NULL);
}

int ct__cursor_at(ct__cursor *c, ct_ns time, double gap_s, ct_se3 *out, int64_t *nearest)
{
    const ct_trajectory *t = c->trajectory;
    while (c->at < t->poses && t->stamp[c->at] < time) c->at++;
    return pose_at(t, c->at, time, gap_s, out, nearest);
}
