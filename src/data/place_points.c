/* place_points.c: unknown points from the poses that see them.
 *
 * A point seen in full (range and bearing, or coordinates) is where its first sightings say. Ranges alone give a point
 * by trilateration, bearings alone by triangulation: from the first sightings, as many as determine it, because
 * odometry drifts. Minimised is the sum of |r| as in rigid_fit.c. Two ranges meet in two points. Both are fitted; as
 * long as they fit alike, as on a straight path, further sightings are added. */
#include "data/start.h"
#include "graph/biased.h"

#include <math.h>

#define FIRST  16  /* sightings that are used at first */
#define LAST   512 /* at most                          */
#define STEPS  12
#define STARTS 8
#define ALIKE  1.5 /* ratio of the costs of two fits that the sightings do not tell apart */

typedef struct {
    ct__sees sees;
    double   b[3];  /* world: the point as seen, or the position of the sensor */
    double   u[3];  /* world: unit direction                                   */
    double   range;
} sighted;

typedef struct {
    int      n; /* coordinates */
    int32_t  count;
    sighted *of;
    int64_t  all, capacity;
    double   reach; /* m: typical range; of bearings the longest baseline */
} view;

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static double distance(const double a[3], const double b[3])
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return sqrt(dot(d, d));
}

/* ---- Fit --------------------------------------------------------------------------------------- */

/* r and its derivative by p (3 x 3, row-major; may be NULL); returns the rows. */
static int residual(const view *v, const sighted *k, const double p[3], double r[3], double *J)
{
    const double e[3] = {p[0] - k->b[0], p[1] - k->b[1], p[2] - k->b[2]}, d = fmax(sqrt(dot(e, e)), 1e-9 * v->reach);
    if (k->sees == CT__SEES_RANGE) {
        r[0] = d - k->range, r[1] = r[2] = 0;
        for (int i = 0; J && i < 3; i++) J[i] = e[i] / d;
        return 1;
    }
    for (int i = 0; i < 3; i++) {
        r[i] = k->sees == CT__SEES_POINT ? e[i] : v->reach * (e[i] / d - k->u[i]);
        for (int j = 0; J && j < 3; j++)
            J[3 * i + j] = k->sees == CT__SEES_POINT ? i == j : v->reach * ((i == j) - e[i] * e[j] / (d * d)) / d;
    }
    return v->n;
}

static double cost_at(const view *v, const double p[3])
{
    double sum = 0, r[3];
    for (int32_t i = 0; i < v->count; i++) {
        residual(v, &v->of[i], p, r, NULL);
        sum += fmin(sqrt(dot(r, r)), v->reach);
    }
    return sum;
}

/* H = sum w J'J, g = sum w J'r; least 0: w = 1. */
static void normal_equations(const view *v, const double p[3], double least, double H[36], double g[6])
{
    memset(H, 0, 36 * sizeof *H);
    memset(g, 0, 6 * sizeof *g);
    for (int32_t k = 0; k < v->count; k++) {
        double       r[3], J[9];
        const int    rows = residual(v, &v->of[k], p, r, J);
        const double w = least > 0 ? 1 / fmax(sqrt(dot(r, r)), least) : 1;
        for (int row = 0; row < rows; row++)
            for (int i = 0; i < v->n; i++) {
                g[i] += w * J[3 * row + i] * r[row];
                for (int j = 0; j < v->n; j++) H[6 * i + j] += w * J[3 * row + i] * J[3 * row + j];
            }
    }
}

/* p <- the minimum near p; returns its cost. */
static double fit(const view *v, double p[3])
{
    double best = cost_at(v, p), at[3] = {p[0], p[1], p[2]};
    for (int step = 0; step < STEPS; step++) {
        double H[36], g[6], d[6] = {0}, trace = 0;
        normal_equations(v, at, fmax(0.1 * best / v->count, 1e-6 * v->reach), H, g);
        for (int i = 0; i < v->n; i++) trace += H[7 * i];
        for (int i = 0; i < v->n; i++) H[7 * i] += 1e-4 * trace;
        if (!ct__small_solve(v->n, H, g, d)) break;
        const double length = sqrt(dot(d, d)); /* in the plane the third is 0 */
        const double k = length > v->reach ? v->reach / length : 1;
        for (int i = 0; i < v->n; i++) at[i] -= k * d[i];
        const double cost = cost_at(v, at);
        if (!isfinite(cost)) break;
        if (cost < best) best = cost, memcpy(p, at, sizeof at);
    }
    return best;
}

static int is_determined(const view *v, const double p[3], double cost)
{
    double       H[36], g[6];
    const double sigma = fmax(cost / v->count, 0.01 * v->reach);
    normal_equations(v, p, 0, H, g);
    for (int i = 0; i < v->n; i++) {
        double one[6] = {0}, x[6];
        one[i] = 1;
        if (!ct__small_solve(v->n, H, one, x) || !(sigma * sqrt(x[i]) <= 0.2 * v->reach)) return 0;
    }
    return 1;
}

/* ---- Starts ------------------------------------------------------------------------------------ */

/* The sighting whose sensor is farthest from that of sighting a. */
static int32_t farthest(const view *v, int32_t a)
{
    int32_t best = a;
    for (int32_t i = 0; i < v->count; i++)
        if (distance(v->of[i].b, v->of[a].b) > distance(v->of[best].b, v->of[a].b)) best = i;
    return best;
}

/* Where two ranges meet; of a single one a point beside the sensor. Returns how many. */
static int meet_ranges(const view *v, const sighted *a, const sighted *b, double p[4][3])
{
    const double d = distance(a->b, b->b);
    double       x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, z[3] = {0, 0, 1};
    for (int i = 0; d > 0 && i < 3; i++) x[i] = (b->b[i] - a->b[i]) / d;
    if (d > 0 && fabs(x[2]) > 0.9) y[0] = 1, y[1] = 0;
    else if (d > 0) y[0] = -x[1], y[1] = x[0];
    const double xy = dot(x, y);
    for (int i = 0; i < 3; i++) y[i] -= xy * x[i];
    const double n = sqrt(dot(y, y));
    for (int i = 0; i < 3; i++) y[i] /= n;
    z[0] = x[1] * y[2] - x[2] * y[1], z[1] = x[2] * y[0] - x[0] * y[2], z[2] = x[0] * y[1] - x[1] * y[0];
    const double along = d > 0 ? fmin(fmax((d * d + a->range * a->range - b->range * b->range) / (2 * d), -a->range),
                                      a->range) : 0;
    const double h = sqrt(a->range * a->range - along * along);
    const int    count = v->n == 2 ? 2 : 4;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < 3; i++)
            p[k][i] = a->b[i] + along * x[i] + (k == 0 ? h : k == 1 ? -h : 0) * y[i] +
                      (k == 2 ? h : k == 3 ? -h : 0) * z[i];
    return count;
}

/* The point of ray a nearest to ray b, ahead of both; without a baseline a reach ahead. */
static void meet_rays(const view *v, const sighted *a, const sighted *b, double p[3])
{
    const double w[3] = {b->b[0] - a->b[0], b->b[1] - a->b[1], b->b[2] - a->b[2]}, c = dot(a->u, b->u);
    const double sine = 1 - c * c, t = sine > 1e-6 ? (dot(w, a->u) - c * dot(w, b->u)) / sine : v->reach;
    for (int i = 0; i < 3; i++) p[i] = a->b[i] + fmax(t, 0.01 * v->reach) * a->u[i];
}

static int starts(const view *v, double p[STARTS][3])
{
    int n = 0;
    for (int k = 0; k < 3 && n < STARTS; k++) {
        const int32_t  at = k * (v->count - 1) / 2;
        const sighted *a = &v->of[at], *b = &v->of[farthest(v, at)];
        if (a->sees == CT__SEES_POINT) memcpy(p[n++], a->b, sizeof a->b);
        else if (a->sees == CT__SEES_BEARING) {
            if (b->sees == CT__SEES_BEARING) meet_rays(v, a, b, p[n++]);
            for (int i = 0; n < STARTS && i < 3; i++) p[n][i] = a->b[i] + v->reach * a->u[i];
            n++;
        } else if (n + 4 <= STARTS) n += meet_ranges(v, a, b->sees == CT__SEES_RANGE ? b : a, p + n);
    }
    return n;
}

/* ---- One point --------------------------------------------------------------------------------- */

static ct_status scale(view *v, ct_err *err)
{
    double *range = ct__zalloc(v->all, sizeof *range);
    int64_t n = 0;
    double  base = 0;
    if (!range) return ct__no_memory(err, "sightings", v->all);
    for (int64_t i = 0; i < v->all; i++) {
        if (v->of[i].range > 0) range[n++] = v->of[i].range;
        base = fmax(base, distance(v->of[i].b, v->of[0].b));
    }
    v->reach = n ? ct_median(n, range) : base > 0 ? base : 1;
    free(range);
    return CT_OK;
}

/* Best point for the first v->count sightings; 1 if they determine it. */
static int solve(const view *v, double p[3])
{
    double    at[STARTS][3], cost[STARTS];
    const int n = starts(v, at);
    int       best = 0;
    for (int i = 0; i < n; i++) {
        cost[i] = fit(v, at[i]);
        if (cost[i] < cost[best]) best = i;
    }
    int alone = 1;
    for (int i = 0; i < n; i++)
        if (distance(at[i], at[best]) > 0.1 * v->reach && cost[i] < ALIKE * cost[best] + 1e-3 * v->reach * v->count)
            alone = 0;
    memcpy(p, at[best], sizeof at[best]);
    return alone && is_determined(v, p, cost[best]);
}

static ct_status collect(const ct_graph *g, const int64_t *first, const int32_t *touching, int32_t var, const double *x,
                         const uint8_t *given, view *v, ct_err *err)
{
    v->all = 0;
    for (int64_t k = first[var]; k < first[var + 1]; k++) {
        const ct_factor f = ct__without_bias(ct_graph_factor(g, touching[k]));
        ct__sighting    s[CT__SIGHTINGS_MAX];
        if (f.ops->arity != 2 || f.var[1] != var || !given[f.var[0]] || ct__sightings_of(&f, s, NULL) != 1) continue;
        const ct__rigid pose = ct__rigid_of(f.ops->kind[0], x + g->offset[f.var[0]]);
        CT_TRY(ct__grow(&v->of, &v->capacity, v->all + 1, sizeof *v->of, "sightings", err));
        sighted *to = &v->of[v->all++];
        *to = (sighted){.sees = s[0].sees, .range = s[0].range};
        ct__rigid_act(&pose, s[0].s, to->b);
        ct__rigid_turn(&pose, s[0].d, to->u);
    }
    return CT_OK;
}

ct_status ct__place_points(const ct_graph *graph, const int64_t *first, const int32_t *touching, double *x,
                           uint8_t *given, ct_err *err)
{
    view      v = {0};
    ct_status status = CT_OK;
    for (int32_t var = 0; status == CT_OK && var < graph->variables; var++) {
        const ct_kind kind = (ct_kind)graph->kind[var];
        double        p[3] = {0};
        if (given[var] || (kind != CT_R2 && kind != CT_R3)) continue;
        v.n = kind == CT_R2 ? 2 : 3;
        status = collect(graph, first, touching, var, x, given, &v, err);
        if (status != CT_OK || !v.all) continue;
        status = scale(&v, err);
        v.count = (int32_t)CT_MIN(v.all, FIRST);
        while (status == CT_OK && !solve(&v, p) && v.count < v.all && v.count < LAST)
            v.count = (int32_t)CT_MIN(v.all, 2 * (int64_t)v.count);
        if (status != CT_OK || !isfinite(p[0] + p[1] + p[2])) continue;
        memcpy(x + graph->offset[var], p, (size_t)v.n * sizeof *p);
        given[var] = 1;
    }
    free(v.of);
    return status;
}
