/* gauss_newton.c: F(p, w) of tracking.c by Levenberg-Marquardt, for tens of weights.
 *
 *     (B + mu diag B) d = -g,    B = mean of A'A + nu diag(a, b),    A = de/d(p, w)   (learn/weight_sensitivity.c)
 *
 * B costs a back-substitution a parameter, which is less than a solve for as many as there are here; a few steps are
 * enough where L-BFGS needs tens. Log variances are projected onto their set after a step. */
#include "conditional/conditional.h"

#include <math.h>

#define MU_FIRST 1e-3
#define MU_MOST  1e8
#define RELATIVE 1e-5 /* of F: as L-BFGS stops */

typedef struct {
    ct__tracking *t;
    int32_t       m, n;
    double       *y, *trial, *g, *trial_g, *B, *L, *step;
    double        F;
    int           left;
} lm;

/* step <- -(B + mu diag B)^-1 g. 0: not positive definite. */
static int solve(const lm *s, double mu)
{
    const int32_t n = s->n;
    for (int32_t j = 0; j < n; j++)
        for (int32_t i = j; i < n; i++) {
            double sum = s->B[(int64_t)i * n + j] * (i == j ? 1 + mu : 1) + (i == j ? 1e-300 : 0);
            for (int32_t k = 0; k < j; k++) sum -= s->L[(int64_t)i * n + k] * s->L[(int64_t)j * n + k];
            if (i == j && !(sum > 0)) return 0;
            s->L[(int64_t)i * n + j] = i == j ? sqrt(sum) : sum / s->L[(int64_t)j * n + j];
        }
    for (int32_t i = 0; i < n; i++) {
        s->step[i] = -s->g[i];
        for (int32_t k = 0; k < i; k++) s->step[i] -= s->L[(int64_t)i * n + k] * s->step[k];
        s->step[i] /= s->L[(int64_t)i * n + i];
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t k = i + 1; k < n; k++) s->step[i] -= s->L[(int64_t)k * n + i] * s->step[k];
        s->step[i] /= s->L[(int64_t)i * n + i];
    }
    return 1;
}

/* P B P, P the mean over weights that are one: B as the directions see it that are allowed. */
static void average(const lm *s)
{
    const int64_t n = s->n;
    double       *column = s->step;
    if (!s->t->same) return;
    for (int64_t i = 0; i < n; i++) ct__average_ties(s->n - s->m, s->t->same, s->B + i * n + s->m);
    for (int64_t j = 0; j < n; j++) {
        for (int64_t i = 0; i < n; i++) column[i] = s->B[i * n + j];
        ct__average_ties(s->n - s->m, s->t->same, column + s->m);
        for (int64_t i = 0; i < n; i++) s->B[i * n + j] = column[i];
    }
}

/* B at the point that was evaluated last. */
static ct_status fill_matrix(lm *s)
{
    const ct__tracking *t = s->t;
    CT_TRY(ct__outer_weight_matrix(t->outer, s->B, t->err));
    average(s);
    for (int32_t i = 0; t->nu > 0 && i < s->n; i++)
        s->B[(int64_t)i * s->n + i] += t->nu * (i < s->m ? t->p_weight[i] : t->w_weight[i - s->m]);
    return CT_OK;
}

/* One step that lowers F, from where B is known. *moved <- 0: there is none. */
static ct_status advance(lm *s, double *mu, int *moved)
{
    ct__tracking *t = s->t;
    *moved = 0;
    for (; *mu <= MU_MOST && s->left > 0; *mu *= 8) {
        double F, fall = 0;
        if (!solve(s, *mu)) continue;
        for (int32_t i = 0; i < s->n; i++) s->trial[i] = s->y[i] + s->step[i];
        ct_theta_project(t->outer->theta, CT_SPACE_LOG, s->trial);
        for (int32_t i = 0; i < s->n; i++) fall -= 0.5 * s->g[i] * (s->trial[i] - s->y[i]);
        if (fall <= 0.1 * RELATIVE * s->F) return CT_OK; /* as good as stationary */
        CT_TRY(ct__tracking_value(t, s->trial, s->trial + s->m, &F, s->trial_g, s->trial_g + s->m));
        s->left--;
        if (!(isfinite(F) && s->F - F > 1e-3 * fall)) continue;
        const double gain = (s->F - F) / fall;
        *moved = s->F - F > RELATIVE * s->F ? 1 : 2;
        s->F = F;
        memcpy(s->y, s->trial, (size_t)s->n * sizeof *s->y);
        memcpy(s->g, s->trial_g, (size_t)s->n * sizeof *s->g);
        *mu = fmax(1e-9, *mu * (gain > 0.75 ? 0.1 : gain > 0.25 ? 0.5 : 2));
        return CT_OK;
    }
    return CT_OK;
}

ct_status ct__track_gauss_newton(ct__tracking *t, double *y)
{
    const int64_t m = t->outer->m, n = m + t->weights;
    double       *room = ct__zalloc(5 * n + 2 * n * n, sizeof *room), mu = MU_FIRST;
    if (!room) return ct__no_memory(t->err, "weights", n);
    lm s = {.t = t, .m = (int32_t)m, .n = (int32_t)n, .y = y, .trial = room, .g = room + n, .trial_g = room + 2 * n,
            .step = room + 3 * n, .B = room + 5 * n, .L = room + 5 * n + n * n, .left = t->evaluations};
    int       moved = 1;
    ct_status status = ct__tracking_value(t, y, y + m, &s.F, s.g, s.g + m);
    s.left--;
    while (status == CT_OK && isfinite(s.F) && moved == 1 && s.left > 0) {
        status = fill_matrix(&s);
        if (status == CT_OK) status = advance(&s, &mu, &moved);
    }
    t->used += t->evaluations - s.left;
    free(room);
    return status;
}
