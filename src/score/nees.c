/* nees.c: covariances of estimates, and the normalised estimation error squared.
 *
 * With e = Log(truth^-1 estimate) and P the covariance of the estimate in its own axes, NEES = e' P^-1 e has the mean n
 * if P is right. Positions: e = t - t_truth in the axes of the world. Where the comparison has fewer coordinates than
 * P, P is that of these coordinates alone:
 *
 *     pose in space   -> planar       rows x, y, yaw of the body's axes
 *     pose            -> positions    R P_tt R'
 *
 * Files have translation first. World axes: t + dt, Exp(dw) R; body axes: t + R d_t, R Exp(d_w); so d_t = R' dt and d_w
 * = R' dw. A mount moves the covariance of a pose (mount.c). An alignment x -> s R_a x + t_a leaves body axes alone but
 * for the scale, and turns those of the world. */
#include "score/score.h"

#include <math.h>

/* ---- small matrices ---- */

/* P <- B P B', n x n, with B = diag(R, R, ...) of blocks of `block` rows. */
static void turn(int n, int block, const double *R, double *P)
{
    double T[36];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            T[n * i + j] = 0;
            for (int k = 0; k < block; k++)
                T[n * i + j] += R[block * (i % block) + k] * P[n * (i / block * block + k) + j];
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            P[n * i + j] = 0;
            for (int k = 0; k < block; k++)
                P[n * i + j] += T[n * i + j / block * block + k] * R[block * (j % block) + k];
        }
}

/* out <- rows and columns `row` of P. */
static void pick(int n, const double *P, int m, const int row[], double *out)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++) out[m * i + j] = P[n * row[i] + row[j]];
}

/* *value <- e' P^-1 e by Cholesky; 0: P is not positive definite. */
static int weigh(int n, const double *P, const double *e, double *value)
{
    double L[36], y[6];
    *value = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0.5 * (P[n * i + j] + P[n * j + i]);
            for (int k = 0; k < j; k++) sum -= L[n * i + k] * L[n * j + k];
            if (i == j && !(sum > 1e-14 * P[n * i + i])) return 0;
            L[n * i + j] = i == j ? sqrt(sum) : sum / L[n * j + j];
        }
        y[i] = e[i];
        for (int k = 0; k < i; k++) y[i] -= L[n * i + k] * y[k];
        y[i] /= L[n * i + i];
        *value += y[i] * y[i];
    }
    return isfinite(*value);
}

/* ---- as trajectories store them ---- */

int ct__covariance_rows(int n, int rotations, int planar)
{
    if (n == 0) return 0;
    if (planar) return n == 2 || !rotations ? 2 : 3;
    return n == 3 || !rotations ? 3 : 6;
}

static void rotation_in(int planar, ct_se3 at, int inverse, double R[9])
{
    double M[9];
    ct_so3_matrix(ct_se3_rotation(at), M);
    const int n = planar ? 2 : 3;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) R[n * i + j] = inverse ? M[3 * j + i] : M[3 * i + j];
}

void ct__covariance_from_camera(int n, double *P)
{
    static const double axes[9] = {0, 0, 1, -1, 0, 0, 0, -1, 0}; /* x = z of the camera, y = -x, z = -y */
    if (n % 3 == 0) turn(n, 3, axes, P);
}

void ct__covariance_store(int n, int rotations, int planar, int world, ct_se3 at, const double *in, double *out)
{
    static const int plane[3] = {0, 1, 5}, tangent[6] = {3, 4, 5, 0, 1, 2}, first[6] = {0, 1, 2, 3, 4, 5};
    const int rows = ct__covariance_rows(n, rotations, planar);
    const int pose = planar ? rows == 3 : rows == 6;
    const int *row = n == 6 && planar ? plane : rows == 6 ? tangent : first;
    double R[9];
    pick(n, in, rows, row, out);
    if (!rotations || pose != world) return; /* the body's axes of a pose, the world's of a position: as stored */
    rotation_in(planar, at, pose, R);
    if (!planar || !pose)
        turn(rows, planar ? 2 : 3, R, out);
    else { /* x and y turn, yaw does not */
        const double B[9] = {R[0], R[1], 0, R[2], R[3], 0, 0, 0, 1};
        turn(3, 3, B, out);
    }
}

/* ---- errors ---- */

/* The covariance of the coordinates that are compared; returns their number. *pose <- 0: positions alone. */
static int covariance_of(const ct__sides *s, const ct_trajectory *t, const ct_score *score, int64_t i, double *out,
                         int *pose)
{
    static const int all[6] = {0, 1, 2, 3, 4, 5}, planar[3] = {3, 4, 2}, translation[3] = {3, 4, 5};
    const int dim = t->covariance_dim, space = t->planar ? 2 : 3, of_pose = dim > space;
    double P[36], R[9], Q[9];
    memcpy(P, t->covariance + s->from[i] * dim * dim, (size_t)(dim * dim) * sizeof *P);
    if (of_pose && s->mounts.mounted) ct__covariance_move(dim, s->mounts.by_estimate, P);
    *pose = of_pose && s->rotations;
    if (*pose) {
        const int n = s->planar ? 3 : 6;
        pick(dim, P, n, dim > n ? planar : all, out);
        return n;
    }
    pick(dim, P, space, dim == 6 ? translation : all, Q);
    const ct_se3 at = ct_se3_compose(t->pose[s->from[i]], s->mounts.by_estimate, NULL, NULL);
    const ct_se3 moved = ct_se3_compose(score->motion, at, NULL, NULL);
    rotation_in(t->planar, of_pose ? moved : score->motion, 0, R);
    turn(space, space, R, Q);
    pick(space, Q, s->planar ? 2 : 3, all, out);
    return s->planar ? 2 : 3;
}

/* P of translations is scaled by the alignment. rotation: bits of rows that are not. */
static void scale_translations(int n, unsigned rotation, double scale, double *P)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) P[n * i + j] *= (rotation >> i & 1 ? 1 : scale) * (rotation >> j & 1 ? 1 : scale);
}

void ct__score_nees(const ct__sides *s, const ct_trajectory *t, ct_score *score)
{
    double sum = 0;
    score->nees = NAN;
    score->covariances = 0;
    for (int64_t i = 0; t->covariance && i < s->count; i++) {
        const ct_se3 x = s->estimate[i], g = s->truth[i];
        double P[36], e[6] = {x.x - g.x, x.y - g.y, x.z - g.z}, value;
        int pose;
        const int n = covariance_of(s, t, score, i, P, &pose);
        scale_translations(n, !pose ? 0 : s->planar ? 4 : 7, score->scale, P);
        if (pose && s->planar) ct__planar_log(ct_se3_between(g, x, NULL, NULL), e);
        if (pose && !s->planar) ct_se3_log(ct_se3_between(g, x, NULL, NULL), e);
        if (!weigh(n, P, e, &value)) continue;
        sum += value / n;
        score->covariances++;
    }
    if (score->covariances) score->nees = sum / (double)score->covariances;
}
