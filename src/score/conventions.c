/* conventions.c: is an estimate off by a constant: another frame, body, point of the body, clock or unit?
 *
 * No noise parameter mends that. With g the truth and x the estimate of a site:
 *
 *     motion, scale    x <- s T x                   least squares of positions (alignment.c), then s about their mean
 *     reflection       x <- T (x with x and y exchanged)
 *     turn of a body   Q_i = R(g_i)^-1 R(x_i)       mean rotation Q; left: the angles of Q^-1 Q_i
 *     mirrored yaw     yaw(x_i) + yaw(g_i)          circular mean; left: the deviations
 *     late stamps      x(t + d) = g(t)              Gauss-Newton in d with the truth's velocity
 *     lever arm        t(g_i) = t(x_i) + R(x_i) m   mean of R(x_i)' (t(g_i) - t(x_i))
 *
 * A constant of the whole log fits drift, too: on a straight road an error of heading is a motion, and one of speed is
 * a delay. But a convention holds everywhere, and drift does not go on as it began. So the path is cut in quarters, and
 * what counts is what the constant of one leaves of the others, at worst. Of 400 drives of 4.5 km with drift of heading
 * and speed, 6 have another frame by this rule, and 59 by that of two halves. Quarters of the path and not of the time:
 * a robot that waits says nothing of a motion.
 *
 * The frame of a relative loss is arbitrary. Its estimates are moved onto the truth first; in space rotations are not
 * looked at, because on a straight road that motion may be turned about the road. */
#include "score/sites.h"

#include <math.h>

#define STEPS  8   /* of Gauss-Newton                                               */
#define MOST_S 3.0 /* between two sites: a chord of more is no velocity             */
#define FEW    10  /* sites: a motion with a scale fits those of two exactly        */
#define TURNS  0.3 /* of a lever arm: how far its end moves about its mean      */
#define PARTS  4   /* of a path                                                     */
#define PART   10  /* sites, at least, of each of so many parts; else there are two */

typedef struct {
    const ct__sides *s;
    int              count;
    int64_t          begin[PARTS + 1]; /* first sites of parts of equal length */
    ct_se3          *work;             /* room for estimates                   */
} parts;

/* It borrows. */
static ct__sides part_of(const parts *p, int k)
{
    ct__sides part = *p->s;
    part.count = p->begin[k + 1] - p->begin[k];
    part.estimate += p->begin[k];
    part.truth += p->begin[k];
    part.stamp += p->begin[k];
    part.from += p->begin[k];
    return part;
}

static parts cut(const ct__sides *s, ct_se3 *work)
{
    parts   p = {.s = s, .count = s->count < PARTS * PART ? 2 : PARTS, .work = work};
    double  length = 0, gone = 0;
    int64_t i = 1;
    const int64_t least = s->count < PARTS * PART ? FEW / 2 : PART;
    for (int64_t k = 1; k < s->count; k++) length += ct__distance(s->truth[k - 1], s->truth[k]);
    for (int k = 1; k < p.count; k++) {
        for (; i < s->count && gone < length * k / p.count; i++) gone += ct__distance(s->truth[i - 1], s->truth[i]);
        p.begin[k] = CT_MAX(p.begin[k - 1] + least, CT_MIN(s->count - (p.count - k) * least, i));
    }
    p.begin[p.count] = s->count;
    return p;
}

/* Rms over the sites of the other parts than k of a sum of squares. */
static double rms_beside(const parts *p, int k, double sum)
{
    return sqrt(sum / (double)(p->s->count - (p->begin[k + 1] - p->begin[k])));
}

static int is_beside(const parts *p, int k, int64_t i) { return i < p->begin[k] || i >= p->begin[k + 1]; }

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

typedef struct {
    ct_se3 motion;
    double scale;
} similarity; /* x <- motion (scale x) */

static ct_se3 apply(similarity f, ct_se3 x)
{
    const double from[3] = {f.scale * x.x, f.scale * x.y, f.scale * x.z};
    double       to[3];
    ct_se3_act(f.motion, from, to, NULL, NULL);
    return (ct_se3){to[0], to[1], to[2], 0, 0, 0, 1};
}

/* The scale of aligned estimates y about the mean m that they and the truth g have in common: sum (g - m)'(y - m) over
 * sum |y - m|^2. With y = R x + t, m + scale (y - m) = R scale x + m + scale (t - m). */
static void add_scale(const ct__sides *aligned, similarity *f)
{
    const double n = (double)aligned->count;
    double       m[3] = {0}, gy = 0, yy = 0;
    for (int64_t i = 0; i < aligned->count; i++) {
        const ct_se3 y = aligned->estimate[i];
        m[0] += y.x / n, m[1] += y.y / n, m[2] += y.z / n;
    }
    for (int64_t i = 0; i < aligned->count; i++) {
        const ct_se3 y = aligned->estimate[i], g = aligned->truth[i];
        gy += (g.x - m[0]) * (y.x - m[0]) + (g.y - m[1]) * (y.y - m[1]) + (g.z - m[2]) * (y.z - m[2]);
        yy += (y.x - m[0]) * (y.x - m[0]) + (y.y - m[1]) * (y.y - m[1]) + (y.z - m[2]) * (y.z - m[2]);
    }
    f->scale = gy / yy;
    f->motion.x = m[0] + f->scale * (f->motion.x - m[0]);
    f->motion.y = m[1] + f->scale * (f->motion.y - m[1]);
    f->motion.z = m[2] + f->scale * (f->motion.z - m[2]);
}

/* The axis of the estimate that is up: z, -z, y, -y, x, -x. */
#define UPS 6
#define R2  0.70710678118654752
static const ct_se3 UP[UPS] = {{.qw = 1},
                               {.qx = 1},
                               {.qx = R2, .qw = R2},
                               {.qx = -R2, .qw = R2},
                               {.qy = -R2, .qw = R2},
                               {.qy = R2, .qw = R2}};

/* 0: positions do not determine it. The sides stay. */
static int fit_motion(const ct__sides *s, ct_alignment alignment, ct_se3 up, int scaled, ct_se3 *work, similarity *out)
{
    ct__sides copy = *s;
    ct_err    why = {0};
    copy.estimate = work;
    for (int64_t i = 0; i < s->count; i++) work[i] = ct_se3_compose(up, s->estimate[i], NULL, NULL);
    if (ct__align(&copy, alignment, &out->motion, &out->scale, &why) != CT_OK) return 0;
    out->motion = ct_se3_compose(out->motion, up, NULL, NULL);
    if (scaled) add_scale(&copy, out);
    return out->scale > 0 && isfinite(out->scale);
}

/* Rms of positions after the motion of another part, at worst; NaN: one is not determined. */
static double left_by_motion(const parts *p, ct_alignment alignment, ct_se3 up, int scaled)
{
    double worst = 0;
    for (int k = 0; k < p->count; k++) {
        const ct__sides of = part_of(p, k);
        similarity f;
        double sum = 0;
        if (!fit_motion(&of, alignment, up, scaled, p->work, &f)) return NAN;
        for (int64_t i = 0; i < p->s->count; i++)
            if (is_beside(p, k, i)) sum += squared(apply(f, p->s->estimate[i]), p->s->truth[i]);
        worst = fmax(worst, rms_beside(p, k, sum));
    }
    return worst;
}

/* On a straight part a motion in space may be turned about the road. One about z is not, nor is one that has an axis
 * of the estimate up, as those of a camera are. */
static double least_by_motion(const parts *p, int scaled)
{
    double least = left_by_motion(p, CT_ALIGNMENT_SE3, UP[0], scaled);
    for (int u = 0; u < (p->s->planar ? 1 : UPS); u++)
        least = fmin(least, left_by_motion(p, CT_ALIGNMENT_YAW, UP[u], scaled));
    return least;
}

static void find_motion(const parts *p, int framed, ct_conventions *out)
{
    similarity f;
    out->rigid = least_by_motion(p, 0);
    if (framed) out->moved = out->rigid;
    out->scaled = least_by_motion(p, 1);
    if (fit_motion(p->s, CT_ALIGNMENT_SE3, UP[0], 1, p->work, &f) ||
        fit_motion(p->s, CT_ALIGNMENT_YAW, UP[0], 1, p->work, &f))
        out->scale = f.scale;
}

/* A reflection: no motion mends it. On a straight road a motion does as well. */
static ct_status find_reflection(const parts *p, ct_conventions *out, ct_err *err)
{
    ct__sides exchanged = *p->s;
    parts     q = *p;
    exchanged.estimate = ct__zalloc(p->s->count, sizeof(ct_se3));
    if (!exchanged.estimate) return ct__no_memory(err, "poses", p->s->count);
    for (int64_t i = 0; i < p->s->count; i++) {
        const ct_se3 x = p->s->estimate[i];
        exchanged.estimate[i] = (ct_se3){x.y, x.x, x.z, 0, 0, 0, 1};
    }
    q.s = &exchanged;
    out->reflected = least_by_motion(&q, 0);
    free(exchanged.estimate);
    return CT_OK;
}

/* ---- turns ---- */

static ct_so3 turn_of(const ct__sides *s, int64_t i)
{
    return ct_so3_between(ct_se3_rotation(s->truth[i]), ct_se3_rotation(s->estimate[i]), NULL, NULL);
}

/* The mean of quaternions with the sign of the middle one, which is that of rotations while they are within a right
 * angle of it. */
static ct_so3 mean_turn(const ct__sides *s)
{
    double sum[4] = {0};
    const ct_so3 first = turn_of(s, s->count / 2);
    for (int64_t i = 0; i < s->count; i++) {
        const ct_so3 q = turn_of(s, i);
        const double sign = q.x * first.x + q.y * first.y + q.z * first.z + q.w * first.w < 0 ? -1 : 1;
        sum[0] += sign * q.x, sum[1] += sign * q.y, sum[2] += sign * q.z, sum[3] += sign * q.w;
    }
    return ct_so3_normalize((ct_so3){sum[0], sum[1], sum[2], sum[3]});
}

static double angle_between(ct_so3 a, ct_so3 b)
{
    double w[3];
    ct_so3_log(ct_so3_between(a, b, NULL, NULL), w);
    return sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
}

/* The estimate's body is the truth's turned by Q, so that x Q^-1 is mended. */
static void find_turn(const parts *p, ct_conventions *out)
{
    double all = 0;
    out->turned = 0;
    for (int k = 0; k < p->count; k++) {
        const ct__sides of = part_of(p, k);
        const ct_so3 turn = mean_turn(&of);
        double left = 0;
        for (int64_t i = 0; i < p->s->count; i++) {
            const double a = angle_between(turn, turn_of(p->s, i));
            if (is_beside(p, k, i)) left += a * a;
        }
        out->turned = fmax(out->turned, rms_beside(p, k, left));
    }
    for (int64_t i = 0; i < p->s->count; i++) {
        const double a = angle_between((ct_so3){0, 0, 0, 1}, turn_of(p->s, i));
        all += a * a;
    }
    ct_so3_log(ct_so3_inverse(mean_turn(p->s), NULL), out->turn);
    out->rotation = sqrt(all / (double)p->s->count);
}

static double yaw_of(ct_se3 p) { return 2 * atan2(p.qz, p.qw); }

static double mirrored(const parts *p)
{
    double worst = 0;
    for (int k = 0; k < p->count; k++) {
        const ct__sides of = part_of(p, k);
        double c = 0, d = 0, left = 0;
        for (int64_t i = 0; i < of.count; i++) {
            const double sum = yaw_of(of.estimate[i]) + yaw_of(of.truth[i]);
            c += cos(sum), d += sin(sum);
        }
        for (int64_t i = 0; i < p->s->count; i++) {
            const double sum = yaw_of(p->s->estimate[i]) + yaw_of(p->s->truth[i]);
            const double e = remainder(sum - atan2(d, c), 2 * acos(-1));
            if (is_beside(p, k, i)) left += e * e;
        }
        worst = fmax(worst, rms_beside(p, k, left));
    }
    return worst;
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

/* Mean square of positions of a part if stamps are late by late_s; NaN: fewer than half of its sites have one. *step:
 * to the minimum of a linear model. */
static double shifted(const ct_sites *sites, const ct__found *f, const ct__sides *part, const ct_trajectory *estimate,
                      double late_s, double *step)
{
    double vv = 0, ve = 0, ee = 0;
    int64_t n = 0;
    for (int64_t i = 0; i < part->count; i++) {
        const ct_ns t = ct__stamp_plus(part->stamp[i], late_s - sites->options.offset_s);
        ct_se3 x;
        double v[3];
        if (!velocity(part, i, v) || !ct_trajectory_at(estimate, t, sites->options.gap_s, &x)) continue;
        x = ct_se3_compose(x, part->mounts.by_estimate, NULL, NULL);
        const ct_se3 p = apply((similarity){f->score.motion, f->score.scale}, x), g = part->truth[i];
        const double e[3] = {p.x - g.x, p.y - g.y, part->planar ? 0 : p.z - g.z};
        vv += v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        ve += v[0] * e[0] + v[1] * e[1] + v[2] * e[2];
        ee += e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
        n++;
    }
    *step = vv > 0 ? -ve / vv : 0;
    return 2 * n > part->count ? ee / (double)n : NAN;
}

/* The delay of least errors; NaN: there is none. */
static double late_of(const ct_sites *sites, const ct__found *f, const ct__sides *part, const ct_trajectory *estimate)
{
    double at = 0, step, least = NAN, late_s = NAN;
    for (int k = 0; k <= STEPS; k++) {
        const double left = shifted(sites, f, part, estimate, at, &step);
        if (isnan(left)) break;
        if (!(left >= least)) least = left, late_s = at;
        at += step;
    }
    return late_s;
}

static void find_delay(const ct_sites *sites, const ct__found *f, const parts *p, const ct_trajectory *estimate,
                       ct_conventions *out)
{
    double worst = 0, step;
    for (int k = 0; k < p->count; k++) {
        const ct__sides of = part_of(p, k);
        const double late_s = late_of(sites, f, &of, estimate);
        double sum = 0;
        for (int j = 0; j < p->count; j++) {
            const ct__sides other = part_of(p, j);
            if (j != k) sum += (double)other.count * shifted(sites, f, &other, estimate, late_s, &step);
        }
        if (isnan(late_s) || isnan(sum)) return;
        worst = fmax(worst, rms_beside(p, k, sum));
    }
    out->late_s = late_of(sites, f, p->s, estimate);
    out->shifted = worst;
}

/* ---- lever arms ---- */

/* The rotation of the estimate's body alone. The sides have none where the truth has none; of an estimate between two
 * poses the nearest tells. */
static ct_se3 turned_body(const ct__sides *s, const ct__found *f, const ct_trajectory *estimate, int64_t i)
{
    ct_se3 body = ct_se3_compose(estimate->pose[s->from[i]], s->mounts.by_estimate, NULL, NULL);
    body = ct_se3_compose(f->score.motion, body, NULL, NULL);
    if (s->planar) body = ct__flat(body);
    body.x = body.y = body.z = 0;
    return body;
}

/* out <- the true position in the axes of the estimate's body. */
static void true_place(const ct__sides *s, const ct__found *f, const ct_trajectory *estimate, int64_t i, double out[3])
{
    const double apart[3] = {s->truth[i].x - s->estimate[i].x, s->truth[i].y - s->estimate[i].y,
                             s->truth[i].z - s->estimate[i].z};
    ct_se3_act(ct_se3_inverse(turned_body(s, f, estimate, i), NULL), apart, out, NULL, NULL);
}

static void mean_place(const ct__sides *s, const ct__found *f, const ct_trajectory *estimate, double mean[3])
{
    mean[0] = mean[1] = mean[2] = 0;
    for (int64_t i = 0; i < s->count; i++) {
        double at[3];
        true_place(s, f, estimate, i, at);
        for (int k = 0; k < 3; k++) mean[k] += at[k] / (double)s->count;
    }
}

/* On a path without turns a lever arm is a motion, too. */
static int turns_enough(const ct__sides *s, const ct__found *f, const ct_trajectory *estimate, const double lever[3])
{
    double mean[3] = {0}, apart = 0;
    const double square = lever[0] * lever[0] + lever[1] * lever[1] + lever[2] * lever[2];
    for (int64_t i = 0; i < s->count; i++) {
        double at[3];
        ct_se3_act(turned_body(s, f, estimate, i), lever, at, NULL, NULL);
        for (int k = 0; k < 3; k++) mean[k] += at[k] / (double)s->count;
    }
    apart = square - mean[0] * mean[0] - mean[1] * mean[1] - mean[2] * mean[2]; /* mean square about the mean */
    return apart > TURNS * TURNS * square;
}

static void find_lever(const parts *p, const ct__found *f, const ct_trajectory *estimate, ct_conventions *out)
{
    mean_place(p->s, f, estimate, out->lever);
    if (!turns_enough(p->s, f, estimate, out->lever)) return;
    out->levered = 0;
    for (int k = 0; k < p->count; k++) {
        const ct__sides of = part_of(p, k);
        double lever[3], left = 0;
        mean_place(&of, f, estimate, lever);
        for (int64_t i = 0; i < p->s->count; i++) {
            double at[3];
            if (!is_beside(p, k, i)) continue;
            true_place(p->s, f, estimate, i, at);
            for (int j = 0; j < 3; j++) left += (at[j] - lever[j]) * (at[j] - lever[j]);
        }
        out->levered = fmax(out->levered, rms_beside(p, k, left));
    }
}

/* ---- all ---- */

static ct_status find_all(const ct_sites *sites, ct__found *f, const ct_trajectory *estimate, ct_conventions *out,
                          ct_err *err)
{
    const int relative = sites->options.type == CT_TRACK_RELATIVE, aligned = sites->options.align != CT_ALIGNMENT_NONE;
    ct_err why = {0};
    if (f->sides.count < FEW) return CT_OK;
    if (relative && !aligned &&
        ct__align(&f->sides, CT_ALIGNMENT_SE3, &f->score.motion, &f->score.scale, &why) != CT_OK) return CT_OK;
    ct_se3 *work = ct__zalloc(f->sides.count, sizeof *work);
    if (!work) return ct__no_memory(err, "poses", f->sides.count);
    const parts p = cut(&f->sides, work);
    out->planar = f->sides.planar;
    out->mounted = f->sides.mounts.mounted;
    out->translation = rms_of_positions(&f->sides);
    find_motion(&p, !relative && !aligned, out);
    const int turns = f->sides.rotations && (f->sides.planar || !relative);
    if (turns) find_turn(&p, out);
    if (turns && f->sides.planar) out->mirrored = mirrored(&p);
    if (turns) out->largest_yaw = estimate->largest_yaw;
    if (sites->timed) find_delay(sites, f, &p, estimate, out);
    if (estimate->rotations && !out->mounted) find_lever(&p, f, estimate, out);
    const ct_status status = find_reflection(&p, out, err);
    free(work);
    return status;
}

ct_status ct_sites_conventions(const ct_sites *sites, const ct_trajectory *estimate, ct_conventions *out, ct_err *err)
{
    ct__found f;
    *out = (ct_conventions){
        .translation = NAN, .rotation = NAN, .moved = NAN, .rigid = NAN, .scale = NAN, .scaled = NAN,
        .turn = {NAN, NAN, NAN}, .turned = NAN, .mirrored = NAN, .reflected = NAN, .late_s = NAN, .shifted = NAN,
        .lever = {NAN, NAN, NAN}, .levered = NAN,
    };
    ct_status status = ct__sites_find(sites, estimate, &f, err);
    if (status == CT_OK) status = find_all(sites, &f, estimate, out, err);
    ct__found_free(&f);
    return status;
}
