/* sightings.c: measurements as geometry, and rigid motions.
 *
 * Range and bearing together are a point in the body frame, s = sensor o (range direction). A position is a point of
 * the body (its lever arm) whose place in the world is measured. A prior of a pose is that of two or three points of
 * the body: its origin, and points 1 m ahead and to the left. A pixel is a bearing. A pair of them is a point, if the
 * disparity tells its depth. In the plane, the range to a point above the sensor is its horizontal part. */
#include "data/start.h"
#include "graph/biased.h"

#include <math.h>

/* ---- Rigid motions ---------------------------------------------------------------------------- */

ct__rigid ct__rigid_identity(void) { return (ct__rigid){.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}}; }

ct__rigid ct__rigid_of(ct_kind kind, const double *x)
{
    if (kind == CT_SE2) return (ct__rigid){.R = {x[2], -x[3], 0, x[3], x[2], 0, 0, 0, 1}, .t = {x[0], x[1], 0}};
    ct__rigid a = {.t = {x[0], x[1], x[2]}};
    ct_so3_matrix((ct_so3){x[3], x[4], x[5], x[6]}, a.R);
    return a;
}

void ct__rigid_store(ct_kind kind, const ct__rigid *a, double *x)
{
    if (kind == CT_SE2) {
        const double n = hypot(a->R[0], a->R[3]);
        x[0] = a->t[0], x[1] = a->t[1], x[2] = a->R[0] / n, x[3] = a->R[3] / n;
        return;
    }
    const ct_so3 q = ct_so3_normalize(ct_so3_from_matrix(a->R));
    const double v[7] = {a->t[0], a->t[1], a->t[2], q.x, q.y, q.z, q.w};
    memcpy(x, v, sizeof v);
}

void ct__rigid_turn(const ct__rigid *a, const double d[3], double q[3])
{
    const double *R = a->R, x = d[0], y = d[1], z = d[2];
    for (int i = 0; i < 3; i++) q[i] = R[3 * i] * x + R[3 * i + 1] * y + R[3 * i + 2] * z;
}

void ct__rigid_act(const ct__rigid *a, const double p[3], double q[3])
{
    ct__rigid_turn(a, p, q);
    for (int i = 0; i < 3; i++) q[i] += a->t[i];
}

ct__rigid ct__rigid_compose(const ct__rigid *a, const ct__rigid *b)
{
    ct__rigid c = {0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) c.R[3 * i + j] += a->R[3 * i + k] * b->R[3 * k + j];
    ct__rigid_act(a, b->t, c.t);
    return c;
}

ct__rigid ct__rigid_inverse(const ct__rigid *a)
{
    ct__rigid b = {0};
    double    t[3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) b.R[3 * i + j] = a->R[3 * j + i];
    ct__rigid_turn(&b, a->t, t);
    for (int i = 0; i < 3; i++) b.t[i] = -t[i];
    return b;
}

double ct__rigid_angle(const ct__rigid *a, const ct__rigid *b)
{
    double sum = 0; /* |Ra - Rb|_F = 2 sqrt 2 sin(angle / 2) */
    for (int i = 0; i < 9; i++) sum += (a->R[i] - b->R[i]) * (a->R[i] - b->R[i]);
    return 2 * asin(fmin(1, sqrt(sum / 8)));
}

/* ---- Sightings -------------------------------------------------------------------------------- */

#define DISPARITY_MIN 1.0 /* pixels: with less the depth is not told from infinity */

/* What a measurement consists of. */
typedef struct {
    const ct_factor_ops *ops;
    int                  ranged, directed, point; /* it has a range, a direction, a point in the sensor's frame */
    int                  cameras;                 /* images of it */
} layout;

static const layout LAYOUT[] = {
    {&ct_range_se2_r2, 1, 0, 0, 0},           {&ct_range_se2_point, 1, 0, 0, 0},
    {&ct_range_se3_r3, 1, 0, 0, 0},           {&ct_range_se3_point, 1, 0, 0, 0},
    {&ct_range_se2_se2, 1, 0, 0, 0},          {&ct_range_se3_se3, 1, 0, 0, 0},
    {&ct_bearing_se2_r2, 0, 1, 0, 0},         {&ct_bearing_se2_point, 0, 1, 0, 0},
    {&ct_bearing_se3_r3, 0, 1, 0, 0},         {&ct_bearing_se3_point, 0, 1, 0, 0},
    {&ct_bearing_se2_se2, 0, 1, 0, 0},        {&ct_bearing_se3_se3, 0, 1, 0, 0},
    {&ct_range_bearing_se2_r2, 1, 1, 0, 0},   {&ct_range_bearing_se2_point, 1, 1, 0, 0},
    {&ct_range_bearing_se3_r3, 1, 1, 0, 0},   {&ct_range_bearing_se3_point, 1, 1, 0, 0},
    {&ct_range_bearing_se2_se2, 1, 1, 0, 0},  {&ct_range_bearing_se3_se3, 1, 1, 0, 0},
    {&ct_point_se2_r2, 0, 0, 1, 0},           {&ct_point_se2_point, 0, 0, 1, 0},
    {&ct_point_se3_r3, 0, 0, 1, 0},           {&ct_point_se3_point, 0, 0, 1, 0},
    {&ct_pixel_se3_r3, 0, 1, 0, 1},           {&ct_pixel_se3_point, 0, 1, 0, 1},
    {&ct_stereo_se3_r3, 0, 1, 0, 2},          {&ct_stereo_se3_point, 0, 1, 0, 2},
};

/* q <- direction of the point, or the point itself, in the camera's frame. Returns whether it is the point. */
static int from_images(const double *z, int cameras, double q[3])
{
    const double *lens = z + 2 * cameras, v = cameras == 2 ? (z[1] + z[3]) / 2 : z[1];
    const double  disparity = cameras == 2 ? z[0] - z[2] : 0;
    const double  depth = disparity >= DISPARITY_MIN ? lens[0] * lens[4] / disparity : 1;
    q[0] = depth * (z[0] - lens[2]) / lens[0], q[1] = depth * (v - lens[3]) / lens[1], q[2] = depth;
    return disparity >= DISPARITY_MIN;
}

/* q <- what is measured, in the sensor's frame, and *range. Returns what follows it in z. Sets l->point of a point. */
static const double *take_measured(layout *l, const double *z, int n, double q[3], double *range)
{
    if (l->cameras) {
        l->point = from_images(z, l->cameras, q);
        l->directed = !l->point;
        return z + (l->cameras == 2 ? 9 : 6);
    }
    if (l->ranged) *range = *z++;
    if (!l->directed && !l->point) return z;
    for (int i = 0; i < n; i++) q[i] = z[i];
    return z + n; /* a direction in the plane is its cosine and sine */
}

static void see(const ct_factor *f, layout l, ct__sighting *out)
{
    const int     n = f->ops->kind[0] == CT_SE2 ? 2 : 3, known = f->ops->arity == 1;
    double        q[3] = {0};
    ct__rigid     sensor = ct__rigid_identity();
    *out = (ct__sighting){.pose = f->var[0], .point = known ? -1 : f->var[1]};
    const double *z = take_measured(&l, f->z, n, q, &out->range);
    for (int i = 0; known && i < n; i++) out->p[i] = z[i];
    z += known ? n : 0;
    if (l.directed || l.point) sensor = ct__rigid_of(n == 2 ? CT_SE2 : CT_SE3, z);
    for (int i = 0; !l.directed && !l.point && i < n; i++) sensor.t[i] = z[i];
    z += !l.directed && !l.point ? n : n == 2 ? 4 : 7;
    out->body = !known && f->ops->kind[1] == f->ops->kind[0];
    const int slant = n == 2 && l.ranged && !l.directed && !out->body; /* the height of the point is last */
    if (slant && z[0] != 0) out->range = sqrt(fmax(out->range * out->range - z[0] * z[0], 0));
    for (int i = 0; out->body && i < n; i++) out->c[i] = z[i];

    memcpy(out->sensor, sensor.t, sizeof out->sensor);
    const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    for (int i = 0; l.directed && i < 3; i++) q[i] /= length;
    if (l.point || (l.ranged && l.directed)) {
        out->sees = CT__SEES_POINT;
        for (int i = 0; l.directed && i < 3; i++) q[i] *= out->range;
        if (l.point) out->range = length;
        ct__rigid_act(&sensor, q, out->s);
        return;
    }
    out->sees = l.ranged ? CT__SEES_RANGE : CT__SEES_BEARING;
    memcpy(out->s, sensor.t, sizeof out->s);
    if (l.directed) ct__rigid_turn(&sensor, q, out->d);
}

/* A point s of the body is at p. */
static ct__sighting at(int32_t pose, const double s[3], const double p[3])
{
    ct__sighting out = {.sees = CT__SEES_POINT, .pose = pose, .point = -1};
    memcpy(out.s, s, sizeof out.s);
    memcpy(out.p, p, sizeof out.p);
    return out;
}

static int is_prior(const ct_factor_ops *ops)
{
    return ops == &ct_prior_se2 || ops == &ct_prior_se3 || ops == &ct_gtsam_prior_se2 || ops == &ct_gtsam_prior_se3;
}

int ct__sightings_of(const ct_factor *factor, ct__sighting out[CT__SIGHTINGS_MAX], int *whole)
{
    const ct_factor plain = ct__without_bias(*factor), *const f = &plain;
    if (whole) *whole = 0;
    for (size_t i = 0; i < sizeof LAYOUT / sizeof *LAYOUT; i++)
        if (f->ops == LAYOUT[i].ops) {
            see(f, LAYOUT[i], out);
            return 1;
        }
    const int n = f->ops->kind[0] == CT_SE2 ? 2 : 3;
    if (f->ops == &ct_position_se2 || f->ops == &ct_position_se3) {
        double s[3] = {0}, p[3] = {0};
        for (int i = 0; i < n; i++) p[i] = f->z[i], s[i] = f->z[n + i];
        out[0] = at(f->var[0], s, p);
        return 1;
    }
    if (!is_prior(f->ops)) return 0;
    if (whole) *whole = 1;
    const ct__rigid z = ct__rigid_of(f->ops->kind[0], f->z);
    for (int k = 0; k < n; k++) {
        double s[3] = {k == 1, k == 2, 0}, p[3];
        ct__rigid_act(&z, s, p);
        out[k] = at(f->var[0], s, p);
    }
    return n;
}

void ct__sighted_point(const ct_graph *graph, const ct__sighting *s, const double *x, double p[3])
{
    memcpy(p, s->p, sizeof s->p);
    if (s->point < 0) return;
    const ct_kind kind = (ct_kind)graph->kind[s->point];
    const double *at = x + graph->offset[s->point];
    if (s->body) {
        const ct__rigid other = ct__rigid_of(kind, at);
        ct__rigid_act(&other, s->c, p);
    } else {
        p[2] = 0;
        memcpy(p, at, (size_t)ct_kind_size(kind) * sizeof *p);
    }
}
