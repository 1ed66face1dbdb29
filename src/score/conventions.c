/* conventions.c: is an estimate off by a constant: another frame, another body, another clock, another unit?
 *
 * No noise parameter mends that. With g the truth and x the estimate of a site:
 *
 *     motion, scale    x <- s T x                   least squares of positions (alignment.c)
 *     turn of a body   Q_i = R(g_i)^-1 R(x_i)       mean rotation Q; left: the angles of Q^-1 Q_i
 *     mirrored yaw     yaw(x_i) + yaw(g_i)          circular mean; left: the deviations
 *     late stamps      x(t + d) = g(t)              Gauss-Newton in d with the truth's velocity
 */
#include "score/sites.h"

#include <math.h>

#define STEPS  8   /* of Gauss-Newton */
#define MOST_S 3.0 /* between two sites: a chord of more is no velocity */

static double squared(ct_se3 a, ct_se3 b)
{
    const double x = a.x - b.x, y = a.y - b.y, z = a.z - b.z;
    return x * x + y * y + z * z;
}

static double rms_of_positions(const ct__sides *s)
{
    double sum = 0;
    for (int64_t i = 0; i < s->count; i++) sum += squared(s->estimate[i], s->truth[i]);
    return sqrt(sum / (double)s->count);
}

/* ---- motions ---- */

/* What an alignment of the sides leaves; NaN: it is not determined. The sides stay. */
static ct_status align_copy(const ct__sides *s, ct_alignment alignment, double *left, double *scale, ct_err *err)
{
    ct__sides copy = *s;
    ct_se3 motion;
    ct_err why = {0};
    copy.estimate = ct__zalloc(s->count, sizeof *copy.estimate);
    if (!copy.estimate) return ct__no_memory(err, "poses", s->count);
    memcpy(copy.estimate, s->estimate, (size_t)s->count * sizeof *copy.estimate);
    const ct_status status = ct__align(&copy, alignment, &motion, scale, &why);
    *left = status == CT_OK ? rms_of_positions(&copy) : NAN;
    free(copy.estimate);
    return CT_OK;
}

/* ---- turns ---- */

static ct_so3 turn_of(const ct__sides *s, int64_t i)
{
    return ct_so3_between(ct_se3_rotation(s->truth[i]), ct_se3_rotation(s->estimate[i]), NULL, NULL);
}

static double angle_of(ct_so3 q)
{
    double w[3];
    ct_so3_log(q, w);
    return sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
}

/* The mean of quaternions with the sign of the first, which is that of rotations while they are within a right angle
 * of it. The estimate's body is the truth's turned by Q, so that x Q^-1 is mended. */
static void find_turn(const ct__sides *s, ct_conventions *out)
{
    double sum[4] = {0}, squares = 0, left = 0;
    const ct_so3 first = turn_of(s, s->count / 2);
    for (int64_t i = 0; i < s->count; i++) {
        const ct_so3 q = turn_of(s, i);
        const double sign = q.x * first.x + q.y * first.y + q.z * first.z + q.w * first.w < 0 ? -1 : 1, a = angle_of(q);
        sum[0] += sign * q.x, sum[1] += sign * q.y, sum[2] += sign * q.z, sum[3] += sign * q.w;
        squares += a * a;
    }
    const ct_so3 mean = ct_so3_normalize((ct_so3){sum[0], sum[1], sum[2], sum[3]});
    for (int64_t i = 0; i < s->count; i++) {
        const double a = angle_of(ct_so3_between(mean, turn_of(s, i), NULL, NULL));
        left += a * a;
    }
    ct_so3_log(ct_so3_inverse(mean, NULL), out->turn);
    out->rotation = sqrt(squares / (double)s->count);
    out->turned = sqrt(left / (double)s->count);
}

static double yaw_of(ct_se3 p) { return 2 * atan2(p.qz, p.qw); }

static double mirrored(const ct__sides *s)
{
    double c = 0, d = 0, left = 0;
    for (int64_t i = 0; i < s->count; i++) {
        const double sum = yaw_of(s->estimate[i]) + yaw_of(s->truth[i]);
        c += cos(sum), d += sin(sum);
    }
    const double mean = atan2(d, c);
    for (int64_t i = 0; i < s->count; i++) {
        const double e = remainder(yaw_of(s->estimate[i]) + yaw_of(s->truth[i]) - mean, 2 * acos(-1));
        left += e * e;
    }
    return sqrt(left / (double)s->count);
}

/* ---- clocks ---- */

/* v <- the truth's velocity at a site; 0: its neighbours are too far. */
static int velocity(const ct__sides *s, int64_t i, double v[3])
{
    const int64_t a = CT_MAX(i - 1, 0), b = CT_MIN(i + 1, s->count - 1);
    const double dt = ct__seconds(s->stamp[a], s->stamp[b]);
    if (!(dt > 0) || dt > 2 * MOST_S) return 0;
    v[0] = (s->truth[b].x - s->truth[a].x) / dt;
    v[1] = (s->truth[b].y - s->truth[a].y) / dt;
    v[2] = (s->truth[b].z - s->truth[a].z) / dt;
    return 1;
}

/* Rms of positions if stamps are late by late_s; NaN: fewer than half of the sites have one. *step: to the minimum of a
 * linear model. */
static double shifted(const ct_sites *sites, const ct__found *f, const ct_trajectory *estimate, double late_s,
                      double *step)
{
    const ct__sides *s = &f->sides;
    double vv = 0, ve = 0, ee = 0;
    int64_t n = 0;
    for (int64_t i = 0; i < s->count; i++) {
        const ct_ns t = ct__stamp_plus(s->stamp[i], late_s - sites->options.offset_s);
        const double k = f->score.scale;
        ct_se3 x;
        double v[3], p[3];
        if (!velocity(s, i, v) || !ct_trajectory_at(estimate, t, sites->options.gap_s, &x)) continue;
        const double raw[3] = {k * x.x, k * x.y, k * x.z};
        ct_se3_act(f->score.motion, raw, p, NULL, NULL);
        const double e[3] = {p[0] - s->truth[i].x, p[1] - s->truth[i].y, s->planar ? 0 : p[2] - s->truth[i].z};
        vv += v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        ve += v[0] * e[0] + v[1] * e[1] + v[2] * e[2];
        ee += e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
        n++;
    }
    *step = vv > 0 ? -ve / vv : 0;
    return 2 * n > s->count ? sqrt(ee / (double)n) : NAN;
}

static void find_delay(const ct_sites *sites, const ct__found *f, const ct_trajectory *estimate, ct_conventions *out)
{
    double at = 0, step;
    for (int k = 0; k <= STEPS; k++) {
        const double left = shifted(sites, f, estimate, at, &step);
        if (isnan(left)) return;
        if (!(left >= out->shifted)) out->shifted = left, out->late_s = at;
        at += step;
    }
}

/* ---- all ---- */

static ct_status find_all(const ct_sites *sites, const ct__found *f, const ct_trajectory *estimate,
                          ct_conventions *out, ct_err *err)
{
    double one;
    out->translation = rms_of_positions(&f->sides);
    const int framed = sites->options.align == CT_ALIGNMENT_NONE && sites->options.type != CT_TRACK_RELATIVE;
    if (framed) CT_TRY(align_copy(&f->sides, CT_ALIGNMENT_SE3, &out->moved, &one, err));
    CT_TRY(align_copy(&f->sides, CT_ALIGNMENT_SIM3, &out->scaled, &out->scale, err));
    if (f->sides.rotations) find_turn(&f->sides, out);
    if (f->sides.rotations && f->sides.planar) out->mirrored = mirrored(&f->sides);
    if (sites->timed) find_delay(sites, f, estimate, out);
    return CT_OK;
}

ct_status ct_sites_conventions(const ct_sites *sites, const ct_trajectory *estimate, ct_conventions *out, ct_err *err)
{
    ct__found f;
    *out = (ct_conventions){NAN, NAN, NAN, NAN, NAN, {NAN, NAN, NAN}, NAN, NAN, NAN, NAN};
    ct_status status = ct__sites_find(sites, estimate, &f, err);
    if (status == CT_OK) status = find_all(sites, &f, estimate, out, err);
    ct__found_free(&f);
    return status;
}
