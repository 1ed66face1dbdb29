/* noise_rows.c: rows and frame in which noise is tested.
 *
 * Frame: errors of odometry are those of the later pose, e, or of the mean velocity of the step, Jr^-1(w) e. White
 * noise of velocities correlates the rows of the one, noise of relative poses those of the other. The frame is taken
 * in which rows correlate less, by -1/2 log det R.
 *
 * Rows: a row of lengths may have no noise of its own. White noise of a turn rate bends the path within a step. With n
 * the length that the other rows travel and s the sigma of the turn over the step, it moves the end sideways by
 *
 *     n s / sqrt 12 in the frame of the mean velocity,    n s / sqrt 3 in that of the pose.
 *
 * Where the sigma of a row is not above PRODUCT times that, its errors are products of speed and of errors of turns.
 * They have tails and depend on speed by construction, and nothing is to be learned from them: the row is mute. So are
 * rows that are not measured or have no errors, and turns of odometry at estimated headings, which are smooth.
 *
 * Samples: where wheels measure no motion at all they have no noise. Such steps are left out. */
#include "base/eigen.h"
#include "doctor/doctor.h"

#include <math.h>

#define PRODUCT  2.0
#define LITTLE   0.05 /* of the sigma of a row: a group with less stays as it is */
#define EMPTY    1e-3 /* of the rms of the other rows of its kind: it has none   */
#define ROUNDING 1e-9 /* m: less is no motion                                    */

int ct__noise_row_count(const ct__sensor *s)
{
    int n = 0;
    for (int i = 0; i < s->rows; i++) n += !s->mute[i];
    return n;
}

ct__row_correlation ct__correlate_rows(const ct__sensor *s, const double *u)
{
    int                 row[CT_ROWS_MAX], n = 0;
    double              R[CT_ROWS_MAX * CT_ROWS_MAX] = {0}, V[CT_ROWS_MAX * CT_ROWS_MAX], lambda[CT_ROWS_MAX];
    double              d[CT_ROWS_MAX];
    ct__row_correlation c = {0};
    for (int i = 0; i < s->rows; i++)
        if (!s->mute[i]) row[n++] = i;
    c.rows = n;
    if (n < 2) return c;
    for (int32_t k = 0; k < s->samples; k++) {
        const double *v = u + (int64_t)k * s->rows, *scale = s->fit->sigma[s->sample[k].model];
        c.count += s->fit->weight[k];
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                R[i * n + j] += s->fit->weight[k] * v[row[i]] * v[row[j]] / (scale[row[i]] * scale[row[j]]);
    }
    for (int i = 0; i < n; i++) d[i] = sqrt(R[i * n + i]);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            R[i * n + j] = d[i] > 0 && d[j] > 0 ? R[i * n + j] / (d[i] * d[j]) : i == j;
            if (j < i && fabs(R[i * n + j]) > fabs(c.rho)) c.rho = R[i * n + j], c.a = row[j], c.b = row[i];
        }
    ct__eigen_symmetric(n, R, lambda, V);
    for (int i = 0; i < n; i++) c.gain -= 0.5 * log(fmax(1e-12, lambda[i]));
    return c;
}

/* u <- errors of the mean velocity of odometry. */
static void as_velocities(const ct__exam *e, const ct__sensor *s, double *u)
{
    const int n = s->rows;
    for (int32_t k = 0; k < s->samples; k++) {
        double r[CT_ROWS_MAX], w[CT_ROWS_MAX], J[CT_DIM_MAX * CT_DIM_MAX];
        if (!ct__sample_row(e, s, &s->sample[k], &s->fault, r, NULL, w)) continue;
        if (s->pose == CT_SE2) ct_se2_jr_inv(w, J);
        else ct_se3_jr_inv(w, J);
        for (int i = 0; i < n; i++) {
            u[(int64_t)k * n + i] = 0;
            for (int j = 0; j < n; j++) u[(int64_t)k * n + i] += J[i * n + j] * s->fit->e[(int64_t)k * n + j];
        }
    }
}

/* Robust sigmas of each model, in the frame that was chosen. */
static void find_sigmas(const ct__sensor *s, double *room)
{
    for (int32_t m = 0; m < s->models; m++)
        for (int i = 0; i < s->rows; i++) {
            int64_t n = 0;
            double  square = 0;
            for (int32_t k = 0; k < s->samples; k++)
                if (s->sample[k].model == m) {
                    room[n++] = s->fit->e[(int64_t)k * s->rows + i];
                    square += room[n - 1] * room[n - 1];
                }
            const double rms = sqrt(square / (double)CT_MAX(1, n)), sigma = n ? ct__robust_sigma(n, room) : 0;
            s->fit->white[m][i] = sigma > 1e-6 * rms ? sigma : rms > 0 ? rms : 1;
        }
}

/* Mutes rows without noise of their own: a robot on a floor, whose poses are in space, does not tilt and does not rise.
 * Their errors are rounding errors. */
static void mute_empty(ct__sensor *s)
{
    double rms[CT_ROWS_MAX] = {0}, most[2] = {0, 0};
    for (int32_t k = 0; k < s->samples; k++)
        for (int i = 0; i < s->rows; i++) rms[i] += pow(s->fit->e[(int64_t)k * s->rows + i], 2) / s->samples;
    for (int i = 0; i < s->rows; i++) {
        double *of = &most[ct__row_turns(s, i) != 0];
        *of = fmax(*of, rms[i]);
    }
    for (int i = 0; i < s->rows; i++)
        if (rms[i] <= EMPTY * EMPTY * most[ct__row_turns(s, i) != 0]) s->mute[i] = 1;
}

/* Mutes rows of lengths whose errors are products. share: of the travelled length times the turn's sigma, squared. */
static void mute_products(const ct__exam *e, ct__sensor *s, double share)
{
    double product[CT_ROWS_MAX] = {0}, own[CT_ROWS_MAX] = {0};
    for (int32_t k = 0; k < s->samples; k++) {
        const double *sigma = s->fit->white[s->sample[k].model];
        double        w[CT_ROWS_MAX], length = 0, turn = 0;
        ct__value_of(s, ct_graph_factor(e->sequence[s->sample[k].sequence].seq->graph, s->sample[k].factor).z, w);
        for (int i = 0; i < s->rows; i++) {
            if (ct__row_turns(s, i)) turn = fmax(turn, sigma[i]);
            else length += w[i] * w[i];
        }
        for (int i = 0; i < s->rows; i++) {
            own[i] += sigma[i] * sigma[i];
            if (!ct__row_turns(s, i)) product[i] += share * (length - w[i] * w[i]) * turn * turn;
        }
    }
    for (int i = 0; i < s->rows; i++)
        if (!ct__row_turns(s, i) && own[i] < PRODUCT * PRODUCT * product[i]) s->mute[i] = 1;
}

/* Does odometry measure no motion at all? Wheels at rest have no noise, only motion has. */
static int is_at_rest(const ct__exam *e, const ct__sensor *s, int32_t k)
{
    double w[CT_ROWS_MAX], most = 0;
    ct__value_of(s, ct_graph_factor(e->sequence[s->sample[k].sequence].seq->graph, s->sample[k].factor).z, w);
    for (int i = 0; i < s->rows; i++)
        if (!ct__row_turns(s, i)) most = fmax(most, fabs(w[i]));
    return most < ROUNDING;
}

/* Without samples at rest, if enough remain. */
static void drop_rest(const ct__exam *e, ct__sensor *s)
{
    int32_t n = 0;
    for (int32_t k = 0; k < s->samples; k++) n += !is_at_rest(e, s, k);
    if (n < CT__SAMPLES_LEAST || n == s->samples) return;
    n = 0;
    for (int32_t k = 0; k < s->samples; k++) {
        if (is_at_rest(e, s, k)) continue;
        memmove(s->fit->e + (int64_t)n * s->rows, s->fit->e + (int64_t)k * s->rows,
                (size_t)s->rows * sizeof *s->fit->e);
        s->fit->weight[n] = s->fit->weight[k];
        s->sample[n++] = s->sample[k];
    }
    s->samples = n;
}

ct_status ct__choose_noise_rows(ct__exam *e, ct__sensor *s, ct_err *err)
{
    if (s->odometry) drop_rest(e, s);
    const int64_t size = (int64_t)s->samples * s->rows;
    int           velocities = 0;
    double       *u = ct__zalloc(CT_MAX(1, size), sizeof *u);
    if (!u) return ct__no_memory(err, "samples", s->samples);
    for (int i = 0; i < s->rows; i++) {
        s->mute[i] = s->absent[i] || s->blind[i] || ct__turns_unseen(s) || (s->held[i] && !s->odometry);
        if (s->odometry && s->estimated && s->placed && ct__row_turns(s, i)) s->mute[i] = 1;
    }
    if (s->odometry && ct__is_pose(s->pose)) {
        as_velocities(e, s, u);
        velocities = ct__correlate_rows(s, u).gain < ct__correlate_rows(s, s->fit->e).gain;
        if (velocities) memcpy(s->fit->e, u, (size_t)size * sizeof *u);
    }
    find_sigmas(s, u);
    if (s->odometry) mute_empty(s);
    if (s->odometry) mute_products(e, s, velocities ? 1 / 12.0 : 1 / 3.0);
    free(u);
    return CT_OK;
}

/* ---- Groups by motion --------------------------------------------------------------------------- */

/* Errors of a group and row, divided by their sigma over that of the model. */
static void level(ct__sensor *s, const int32_t *group, int which, int row, double *room)
{
    int64_t n = 0;
    double  whole = 0;
    for (int32_t k = 0; k < s->samples; k++)
        if (group[k] == which) {
            room[n++] = s->fit->e[(int64_t)k * s->rows + row];
            whole = s->fit->white[s->sample[k].model][row];
        }
    if (!n) return;
    const double sigma = ct__robust_sigma(n, room);
    for (int32_t k = 0; k < s->samples; k++)
        if (group[k] == which && sigma > LITTLE * whole) s->fit->e[(int64_t)k * s->rows + row] *= whole / sigma;
}

static void level_odometry(const ct__exam *e, ct__sensor *s, double *w, double *room, int32_t *from, int32_t *group)
{
    double r[CT_ROWS_MAX];
    for (int32_t k = 0; k < s->samples; k++) {
        from[k] = k;
        ct__sample_row(e, s, &s->sample[k], &s->fault, r, NULL, w + (int64_t)k * CT_ROWS_MAX);
    }
    ct__group_samples(e, s, s->samples, from, w, room, group);
    for (int g = 0; g < CT__GROUPS_MAX; g++)
        for (int i = 0; i < s->rows; i++)
            if (!s->mute[i]) level(s, group, g, i, room);
}

ct_status ct__level_groups(ct__exam *e, ct__sensor *s, ct_err *err)
{
    const int64_t n = CT_MAX(1, s->samples);
    double       *w = ct__zalloc(n * CT_ROWS_MAX, sizeof *w), *room = ct__zalloc(2 * n, sizeof *room);
    int32_t      *from = ct__zalloc(n, sizeof *from), *group = ct__zalloc(n, sizeof *group);
    ct_status     status = w && room && from && group ? CT_OK : ct__no_memory(err, "samples", n);
    if (status == CT_OK && s->odometry) level_odometry(e, s, w, room, from, group);
    free(w);
    free(room);
    free(from);
    free(group);
    return status;
}
