/* rigid_fit.c: the rigid motion T that fits a stretch of a path to the known points seen from it.
 *
 * Minimised is the sum of |r_i| (ct__stretch_cost): gross outliers pull no harder than others, and no scale of the
 * errors is needed. Steps are Gauss-Newton with weights 1 / |r_i|, in d = (tau, w) about the centre c of the stretch:
 *
 *     b = T a,     b' = c + Exp(w) (b - c) + tau,     db = tau + w x (b - c)
 *
 * Guesses need no start. Two points (in space three) give T in closed form; several samples of them, scored by all
 * items, survive outliers (Fischler and Bolles 1981). Ranges and bearings have no closed form: steps start from several
 * headings at several places. */
#include "data/start.h"

#include <math.h>

#define SAMPLES  16 /* of points: with a third of outliers one sample in a thousand windows has none without */
#define DRAWS    64 /* of which samples are taken, as some are too short to give a rotation                  */
#define SUBSET   32 /* items that a search from several headings uses                                       */
#define PLACES   6
#define FIT      8  /* steps; later ones change a start by less than the noise                               */

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static double norm(const double a[3]) { return sqrt(dot(a, a)); }

static void minus(const double a[3], const double b[3], double c[3])
{
    for (int i = 0; i < 3; i++) c[i] = a[i] - b[i];
}

static void cross(const double a[3], const double b[3], double c[3])
{
    const double v[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    memcpy(c, v, sizeof v);
}

int ct__small_solve(int n, const double A[36], const double b[6], double x[6])
{
    double L[36];
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = A[6 * i + j];
            for (int k = 0; k < j; k++) sum -= L[6 * i + k] * L[6 * j + k];
            if (i == j && !(sum > 1e-12 * A[6 * i + i])) return 0;
            L[6 * i + j] = i == j ? sqrt(sum) : sum / L[6 * j + j];
        }
    for (int i = 0; i < n; i++) {
        x[i] = b[i];
        for (int k = 0; k < i; k++) x[i] -= L[6 * i + k] * x[k];
        x[i] /= L[6 * i + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) x[i] -= L[6 * k + i] * x[k];
        x[i] /= L[6 * i + i];
    }
    return 1;
}

/* ---- Residuals --------------------------------------------------------------------------------- */

/* r of an item, and b = T a; returns its rows. */
static int residual(const ct__stretch *s, const ct__item *k, const ct__rigid *T, double r[3], double b[3])
{
    double e[3];
    ct__rigid_act(T, k->a, b);
    if (k->sees == CT__SEES_POINT) {
        minus(b, k->p, r);
        return s->planar ? 2 : 3;
    }
    minus(k->p, b, e);
    const double distance = norm(e);
    if (k->sees == CT__SEES_RANGE) {
        r[0] = distance - k->range, r[1] = r[2] = 0;
        return 1;
    }
    const double way = k->sees == CT__SEEN_FROM ? -1 : 1;
    double       u[3] = {k->u[0], k->u[1], k->u[2]};
    if (k->sees == CT__SEES_BEARING) ct__rigid_turn(T, k->u, u);
    for (int i = 0; i < 3; i++) r[i] = s->reach * (distance > 0 ? way * e[i] / distance - u[i] : -u[i]);
    return s->planar ? 2 : 3;
}

/* Row i of dr/d(tau, w). */
static void jacobian_row(const ct__stretch *s, const ct__item *k, const ct__rigid *T, const double b[3],
                         const double c[3], int i, double J[6])
{
    double g[3] = {0}, e[3], m[3];
    minus(b, c, m);
    g[i] = 1;
    if (k->sees != CT__SEES_POINT) {
        minus(k->p, b, e);
        const double distance = fmax(norm(e), 1e-9 * s->reach);
        if (k->sees == CT__SEES_RANGE)
            for (int j = 0; j < 3; j++) g[j] = -e[j] / distance;
        else /* of reach e / |e|: -(I - f f') / |e|, f = e / |e| */
            for (int j = 0; j < 3; j++)
                g[j] = (k->sees == CT__SEEN_FROM ? 1 : -1) * s->reach *
                       ((i == j) - e[i] * e[j] / (distance * distance)) / distance;
    }
    memcpy(J, g, sizeof g); /* g . db = g . tau + ((b - c) x g) . w */
    cross(m, g, J + 3);
    if (k->sees != CT__SEES_BEARING) return;
    double u[3], v[3] = {0}, uv[3]; /* -reach (w x u)_i = -reach (u x e_i) . w */
    ct__rigid_turn(T, k->u, u);
    v[i] = 1;
    cross(u, v, uv);
    for (int j = 0; j < 3; j++) J[3 + j] -= s->reach * uv[j];
}

double ct__stretch_cost(const ct__stretch *s, const ct__rigid *T)
{
    double sum = 0, r[3], b[3];
    for (int32_t i = 0; i < s->count; i++) {
        residual(s, &s->item[i], T, r, b);
        sum += fmin(norm(r), s->reach);
    }
    return sum;
}

static void centre(const ct__stretch *s, const ct__rigid *T, double c[3])
{
    double mean[3] = {0};
    for (int32_t i = 0; i < s->count; i++)
        for (int j = 0; j < 3; j++) mean[j] += s->item[i].a[j] / s->count;
    ct__rigid_act(T, mean, c);
}

/* In the plane x, y and the rotation about z are free. */
static const int PLANE[6] = {0, 1, 5}, SPACE[6] = {0, 1, 2, 3, 4, 5};

static int free_count(const ct__stretch *s) { return s->planar ? 3 : 6; }

/* H = sum w J'J, g = sum w J'r of the free coordinates, with w = 1 / max(|r|, least); least 0: w = 1. */
static void normal_equations(const ct__stretch *s, const ct__rigid *T, const double c[3], double least, double H[36],
                             double g[6])
{
    const int  n = free_count(s);
    const int *at = s->planar ? PLANE : SPACE;
    memset(H, 0, 36 * sizeof *H);
    memset(g, 0, 6 * sizeof *g);
    for (int32_t i = 0; i < s->count; i++) {
        const ct__item *k = &s->item[i];
        double          r[3], b[3], J[6];
        const int       rows = residual(s, k, T, r, b);
        const double    w = least > 0 ? 1 / fmax(norm(r), least) : 1;
        for (int row = 0; row < rows; row++) {
            jacobian_row(s, k, T, b, c, row, J);
            for (int p = 0; p < n; p++) {
                g[p] += w * J[at[p]] * r[row];
                for (int q = 0; q <= p; q++) H[6 * p + q] += w * J[at[p]] * J[at[q]];
            }
        }
    }
}

/* T <- T moved by d = (tau, w) about c, |w| of at most a radian. */
static void move(ct__rigid *T, const double c[3], const double d[6])
{
    const double turn = norm(d + 3), k = turn > 1 ? 1 / turn : 1, w[3] = {k * d[3], k * d[4], k * d[5]};
    ct__rigid    by = {.t = {0}};
    double       from[3], to[3];
    ct_so3_matrix(ct_so3_exp(w), by.R);
    minus(T->t, c, from);
    ct__rigid_turn(&by, from, to);
    const ct__rigid turned = ct__rigid_compose(&by, T);
    memcpy(T->R, turned.R, sizeof T->R);
    for (int i = 0; i < 3; i++) T->t[i] = c[i] + to[i] + k * d[i];
}

void ct__stretch_fit(const ct__stretch *s, int steps, ct__rigid *T)
{
    ct__rigid now = *T;
    double    best = ct__stretch_cost(s, T);
    for (int step = 0; step < steps && s->count; step++) {
        double H[36], g[6], x[6] = {0}, d[6] = {0}, c[3];
        centre(s, &now, c);
        normal_equations(s, &now, c, fmax(0.1 * best / s->count, 1e-6 * s->reach), H, g);
        const int    n = free_count(s), lengths = s->planar ? 2 : 3;
        double       trace = 0;
        for (int i = 0; i < lengths; i++) trace += H[7 * i];
        for (int i = 0; i < n; i++) /* what the items do not determine stays */
            H[7 * i] += 1e-3 * H[7 * i] + 1e-4 * trace * (i < lengths ? 1 : s->reach * s->reach);
        for (int i = 0; i < n; i++) g[i] = -g[i];
        if (!ct__small_solve(n, H, g, x)) return;
        for (int i = 0; i < n; i++) d[(s->planar ? PLANE : SPACE)[i]] = x[i];
        move(&now, c, d);
        const double cost = ct__stretch_cost(s, &now);
        if (!isfinite(cost)) return;
        const int slow = cost < best && cost > 0.999 * best;
        if (cost < best) best = cost, *T = now;
        if (slow) return;
    }
}

int ct__stretch_determines(const ct__stretch *s, const ct__rigid *T)
{
    double H[36], g[6], c[3];
    if (!s->count) return 0;
    centre(s, T, c);
    normal_equations(s, T, c, 0, H, g);
    const int    n = free_count(s), lengths = s->planar ? 2 : 3;
    /* no measurement is better than a hundredth of its distance, as far as is known here */
    const double sigma = fmax(ct__stretch_cost(s, T) / s->count, 0.01 * s->reach);
    for (int i = 0; i < n; i++) {
        double one[6] = {0}, x[6];
        one[i] = 1;
        if (!ct__small_solve(n, H, one, x)) return 0;
        if (!(sigma * sqrt(x[i]) <= (i < lengths ? 0.1 * s->reach : 0.05))) return 0;
    }
    return 1;
}

int ct__stretch_same(const ct__stretch *s, const ct__rigid *a, const ct__rigid *b, const double c[3])
{
    double p[3], q[3], d[3];
    ct__rigid_act(a, c, p);
    ct__rigid_act(b, c, q);
    minus(p, q, d);
    return norm(d) < 0.05 * s->reach && ct__rigid_angle(a, b) < 0.05;
}

/* ---- Guesses ----------------------------------------------------------------------------------- */

/* The best few guesses so far, best first. */
typedef struct {
    int       count, most;
    double    cost[CT__GUESSES_MAX];
    ct__rigid T[CT__GUESSES_MAX];
} ranking;

static void rank(ranking *of, const ct__stretch *s, const ct__rigid *T)
{
    const double  cost = ct__stretch_cost(s, T);
    const double *c = s->item[s->count / 2].a;
    int           at = 0;
    if (!isfinite(cost)) return;
    while (at < of->count && of->cost[at] <= cost) {
        if (ct__stretch_same(s, &of->T[at], T, c)) return;
        at++;
    }
    int end = at; /* a worse one that is the same leaves */
    while (end < of->count && !ct__stretch_same(s, &of->T[end], T, c)) end++;
    if (end == of->count && of->count < of->most) of->count++;
    else if (end == of->count) end--;
    if (at > end) return;
    for (int i = end; i > at; i--) of->cost[i] = of->cost[i - 1], of->T[i] = of->T[i - 1];
    of->cost[at] = cost, of->T[at] = *T;
}

/* Orthonormal axes of three points: along b - a, across in their plane, and normal to it (columns of F). 0 if they are
 * on a line. */
static int frame_of(const double a[3], const double b[3], const double c[3], double F[9])
{
    double x[3], y[3], z[3];
    minus(b, a, x);
    minus(c, a, y);
    cross(x, y, z);
    const double n = norm(x), m = norm(z);
    if (!(m > 0.1 * n * norm(y)) || !(n > 0)) return 0;
    for (int i = 0; i < 3; i++) x[i] /= n, z[i] /= m;
    cross(z, x, y);
    for (int i = 0; i < 3; i++) F[3 * i] = x[i], F[3 * i + 1] = y[i], F[3 * i + 2] = z[i];
    return 1;
}

/* T from two points in the plane, three in space. 0 if they are too close, or if their distances differ. */
static int from_points(const ct__stretch *s, const ct__item *const k[3], ct__rigid *T)
{
    const int n = s->planar ? 2 : 3;
    double    da[3], dp[3], mean[3] = {0}, to[3] = {0}, q[3];
    for (int i = 0; i < n; i++) {
        minus(k[(i + 1) % n]->a, k[i]->a, da);
        minus(k[(i + 1) % n]->p, k[i]->p, dp);
        const double a = norm(da), p = norm(dp);
        if (!(a > 0.05 * s->reach) || fabs(a - p) > 0.3 * a) return 0;
        for (int j = 0; j < 3; j++) mean[j] += k[i]->a[j] / n, to[j] += k[i]->p[j] / n;
    }
    *T = ct__rigid_identity();
    if (s->planar) { /* da and dp are k[0] - k[1] */
        const double c = da[0] * dp[0] + da[1] * dp[1], w = da[0] * dp[1] - da[1] * dp[0], m = hypot(c, w);
        if (!(m > 0)) return 0;
        T->R[0] = T->R[4] = c / m, T->R[3] = w / m, T->R[1] = -w / m;
    } else {
        double A[9], P[9];
        if (!frame_of(k[0]->a, k[1]->a, k[2]->a, A) || !frame_of(k[0]->p, k[1]->p, k[2]->p, P)) return 0;
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) T->R[3 * i + j] = dot(P + 3 * i, A + 3 * j); /* P A' */
    }
    ct__rigid_turn(T, mean, q);
    minus(to, q, T->t);
    return 1;
}

static void sample_points(const ct__stretch *s, ranking *of)
{
    ct_rng        rng = ct_rng_seed((uint64_t)s->count);
    int32_t       points = 0;
    for (int32_t i = 0; i < s->count; i++) points += s->item[i].sees == CT__SEES_POINT;
    if (points < (s->planar ? 2 : 3)) return;
    for (int draw = 0, taken = 0; draw < DRAWS && taken < SAMPLES; draw++) {
        const ct__item *k[3];
        ct__rigid       T;
        for (int i = 0; i < 3; i++) {
            int32_t at = (int32_t)(ct_rng_bits(&rng) % (uint64_t)s->count);
            while (s->item[at].sees != CT__SEES_POINT) at = (at + 1) % s->count;
            k[i] = &s->item[at];
        }
        if (!from_points(s, k, &T)) continue;
        rank(of, s, &T);
        taken++;
    }
}

/* Places where two ranges meet: two in the plane, four on a circle in space; else around the known points. */
static int places(const ct__stretch *s, double place[PLACES][3])
{
    double mean[3] = {0};
    for (int32_t i = 0; i < s->count; i++)
        for (int j = 0; j < 3; j++) mean[j] += s->item[i].p[j] / s->count;
    int32_t a = s->count / 2, b = -1; /* the range nearest in time to the middle, from another point */
    while (a < s->count && s->item[a].sees != CT__SEES_RANGE) a++;
    for (int32_t i = 0; a < s->count && i < s->count; i++) {
        double d[3];
        minus(s->item[i].p, s->item[a].p, d);
        if (s->item[i].sees == CT__SEES_RANGE && norm(d) > 0.1 * s->reach && (b < 0 || abs(i - a) < abs(b - a))) b = i;
    }
    memcpy(place[0], mean, sizeof mean);
    if (b < 0) {
        for (int i = 0; i < PLACES - 1; i++) {
            const double angle = 2 * acos(-1) * i / (PLACES - 1);
            memcpy(place[i + 1], mean, sizeof mean);
            place[i + 1][0] += s->reach * cos(angle), place[i + 1][1] += s->reach * sin(angle);
        }
        return PLACES;
    }
    double along[3], across[3], up[3], axis[3] = {0, 0, 1};
    minus(s->item[b].p, s->item[a].p, along);
    const double d = norm(along), ra = s->item[a].range, rb = s->item[b].range;
    const double low = fmin(fmax((d * d + ra * ra - rb * rb) / (2 * d), -ra), ra), h = sqrt(ra * ra - low * low);
    for (int i = 0; i < 3; i++) along[i] /= d;
    if (fabs(along[2]) > 0.9) axis[2] = 0, axis[0] = 1;
    cross(axis, along, across);
    const double n = norm(across);
    for (int i = 0; i < 3; i++) across[i] /= n;
    cross(along, across, up);
    for (int k = 0; k < (s->planar ? 2 : 4); k++)
        for (int i = 0; i < 3; i++)
            place[k + 1][i] = s->item[a].p[i] + low * along[i] +
                              (k == 0 ? h : k == 1 ? -h : 0) * across[i] + (k == 2 ? h : k == 3 ? -h : 0) * up[i];
    return s->planar ? 3 : 5;
}

/* Rotation number k of 8 about z, or in space of the 24 of a cube. 0 past the end. */
static int heading(int planar, int k, double R[9])
{
    const double quarter = acos(-1) / 2, turn[3] = {0, 0, planar ? k * quarter / 2 : (k % 4) * quarter};
    double       tilt[3] = {0}, A[9], B[9];
    if (k >= (planar ? 8 : 24)) return 0;
    if (!planar && k >= 4 && k < 8) tilt[0] = 2 * quarter;
    if (!planar && k >= 8) tilt[k < 16 ? 0 : 1] = (k / 4) % 2 ? -quarter : quarter;
    ct_so3_matrix(ct_so3_exp(tilt), A);
    ct_so3_matrix(ct_so3_exp(turn), B);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            R[3 * i + j] = 0;
            for (int l = 0; l < 3; l++) R[3 * i + j] += A[3 * i + l] * B[3 * l + j];
        }
    return 1;
}

static void search_headings(const ct__stretch *s, ranking *of)
{
    ct__item    some[SUBSET];
    ct__stretch part = {.planar = s->planar, .item = some, .reach = s->reach};
    double      place[PLACES][3];
    part.count = CT_MIN(s->count, SUBSET);
    for (int32_t i = 0; i < part.count; i++) some[i] = s->item[(int64_t)i * s->count / part.count];
    const int n = places(&part, place);
    for (int i = 0; i < n; i++) {
        ct__rigid T;
        for (int k = 0; heading(s->planar, k, T.R); k++) {
            double q[3];
            ct__rigid_turn(&T, some[part.count / 2].a, q);
            minus(place[i], q, T.t);
            ct__rigid from = T;
            ct__stretch_fit(&part, FIT, &from);
            rank(of, &part, &from);
        }
    }
}

int ct__stretch_guess(const ct__stretch *s, int search, int most, ct__rigid T[CT__GUESSES_MAX])
{
    ranking first = {.most = CT_MIN(most, CT__GUESSES_MAX)}, best = first;
    if (!s->count) return 0;
    sample_points(s, &first);
    if (!first.count && search) search_headings(s, &first);
    for (int i = 0; i < first.count; i++) {
        ct__stretch_fit(s, FIT, &first.T[i]);
        rank(&best, s, &first.T[i]);
    }
    memcpy(T, best.T, (size_t)best.count * sizeof *T);
    return best.count;
}
