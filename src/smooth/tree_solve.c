/* tree_solve.c: R'R x = b over the whole tree; marginals; whether the solution is unique.
 *
 * If a pivot is weak, uniqueness is first proved from the structure (observability.c). Only if that fails are the weak
 * pivots tested, as in a batch solve (src/solve/rank_deficiency.c): the direction z of a weak pivot is refined, and J z
 * decides. */
#include "smooth/smooth.h"
#include "solve/rank_thresholds.h"

ct_status ct__sweep_order(ct_smoother *s, ct_err *err)
{
    s->stack.count = 0;
    for (int32_t c = s->root; c != CT_NONE; c = s->clique[c].sibling) CT_TRY(ct__list_push(&s->stack, c, err));
    for (int64_t k = 0; k < s->stack.count; k++)
        for (int32_t c = s->clique[s->stack.item[k]].child; c != CT_NONE; c = s->clique[c].sibling)
            CT_TRY(ct__list_push(&s->stack, c, err));
    return CT_OK;
}

static ct_status room(ct_smoother *s, int64_t numbers, ct_err *err)
{
    for (int i = 0; i < 2; i++)
        CT_TRY(ct__grow(&s->vector[i], &s->vector_capacity[i], numbers, sizeof **s->vector, "numbers of a sweep", err));
    return CT_OK;
}

/* x of the clique's rows [row, ...): CT_DIM_MAX per slot. */
#define AT(x, var) ((x) + (int64_t)CT_DIM_MAX * (var))

/* y_p = R_pp^-T x_p, x_s -= R_ps' y_p. */
void ct__sweep_up(const ct_smoother *s, double *x)
{
    for (int64_t k = s->stack.count - 1; k >= 0; k--) {
        const ct__clique *c = &s->clique[s->stack.item[k]];
        const int32_t    *var = ct__variables_of(s, c), ld = c->p + c->s + 1;
        const double     *A = ct__panel(s, c), *inverse = ct__inverse(s, c);
        for (int32_t i = 0, row = 0; i < c->pivots; i++)
            for (int d = 0; d < s->var[var[i]].dim; d++, row++) {
                const double *R = A + (int64_t)row * ld;
                const double  y = AT(x, var[i])[d] *= inverse[row];
                int32_t       column = row + 1;
                for (int e = d + 1; e < s->var[var[i]].dim; e++) AT(x, var[i])[e] -= R[column++] * y;
                for (int32_t j = i + 1; j < c->pivots + c->separators; j++)
                    for (int e = 0; e < s->var[var[j]].dim; e++) AT(x, var[j])[e] -= R[column++] * y;
            }
    }
}

/* Nothing but zeros in a clique's part of x. */
static int is_zero(const ct_smoother *s, const ct__clique *c, const double *x)
{
    const int32_t *var = ct__variables_of(s, c);
    for (int32_t i = 0; i < c->pivots + c->separators; i++)
        for (int d = 0; d < s->var[var[i]].dim; d++)
            if (AT(x, var[i])[d] != 0) return 0;
    return 1;
}

/* x_p = R_pp^-1 (x_p - R_ps x_s). The direction of a weak pivot is zero outside its subtree. */
void ct__sweep_down(const ct_smoother *s, double *x)
{
    for (int64_t k = 0; k < s->stack.count; k++) {
        const ct__clique *c = &s->clique[s->stack.item[k]];
        const int32_t    *var = ct__variables_of(s, c), ld = c->p + c->s + 1;
        if (is_zero(s, c, x)) continue;
        const double     *A = ct__panel(s, c), *inverse = ct__inverse(s, c);
        for (int32_t i = c->pivots - 1, row = c->p - 1; i >= 0; i--)
            for (int d = s->var[var[i]].dim - 1; d >= 0; d--, row--) {
                const double *R = A + (int64_t)row * ld;
                double        sum = AT(x, var[i])[d];
                int32_t       column = row + 1;
                for (int e = d + 1; e < s->var[var[i]].dim; e++) sum -= R[column++] * AT(x, var[i])[e];
                for (int32_t j = i + 1; j < c->pivots + c->separators; j++)
                    for (int e = 0; e < s->var[var[j]].dim; e++) sum -= R[column++] * AT(x, var[j])[e];
                AT(x, var[i])[d] = sum * inverse[row];
            }
    }
}

/* ---- marginals: with W = R^-T E, which is zero off the path from the variable to its root, S = W'W ---- */

static ct_status path_product(ct_smoother *s, int32_t slot, double *out, ct_err *err)
{
    const int d = s->var[slot].dim;
    int32_t   id = s->var[slot].clique, at = 0;
    for (int32_t c = id; c != CT_NONE; c = s->clique[c].parent) at = CT_MAX(at, s->clique[c].p + s->clique[c].s);
    CT_TRY(room(s, (int64_t)at * d, err));
    double *W = s->vector[0], *next = s->vector[1];
    memset(W, 0, (size_t)(s->clique[id].p + s->clique[id].s) * (size_t)d * sizeof *W);
    for (int i = 0; i < d; i++) W[(int64_t)(s->var[slot].row + i) * d + i] = 1;
    memset(out, 0, (size_t)(d * d) * sizeof *out);
    for (;; id = s->clique[id].parent) {
        const ct__clique *c = &s->clique[id];
        const int32_t     ld = c->p + c->s + 1;
        for (int32_t k = 0; k < c->p; k++) {
            const double *R = ct__panel(s, c) + (int64_t)k * ld;
            double       *y = W + (int64_t)k * d;
            for (int i = 0; i < d; i++) y[i] *= ct__inverse(s, c)[k];
            for (int32_t j = k + 1; j < c->p + c->s; j++)
                for (int i = 0; i < d; i++) W[(int64_t)j * d + i] -= R[j] * y[i];
            for (int i = 0; i < d * d; i++) out[i] += y[i / d] * y[i % d];
        }
        if (c->parent == CT_NONE) return CT_OK;
        const ct__clique *up = &s->clique[c->parent];
        memset(next, 0, (size_t)(up->p + up->s) * (size_t)d * sizeof *next);
        for (int32_t i = 0, row = 0; i < up->pivots + up->separators; i++) {
            s->work[ct__variables_of(s, up)[i]].column = row;
            row += s->var[ct__variables_of(s, up)[i]].dim;
        }
        for (int32_t i = c->pivots, row = c->p; i < c->pivots + c->separators; i++) {
            const int32_t var = ct__variables_of(s, c)[i], dim = s->var[var].dim;
            memcpy(next + (int64_t)s->work[var].column * d, W + (int64_t)row * d, (size_t)(dim * d) * sizeof *W);
            row += dim;
        }
        double *swap = W;
        W = next;
        next = swap;
    }
}

ct_status ct_smoother_marginal(ct_smoother *s, int32_t var, double *out, ct_err *err)
{
    if (!ct_smoother_has(s, var))
        return ct_fail(err, CT_E_ARGUMENT, "variable %d %s", var, var >= 0 &&
                       var < ct_smoother_variables(s) ? "was marginalised out" : "does not exist");
    const int32_t slot = ct__slot(&s->var_map, var);
    if (!s->var[slot].fixed) return path_product(s, slot, out, err);
    memset(out, 0, (size_t)(s->var[slot].dim * s->var[slot].dim) * sizeof *out);
    return CT_OK;
}

/* ---- judging weak pivots ---- */

/* The variable and coordinate of a clique's row. */
static int32_t variable_of_row(const ct_smoother *s, int32_t clique, int32_t row, int *coordinate)
{
    const ct__clique *c = &s->clique[clique];
    const int32_t    *var = ct__variables_of(s, c);
    for (int32_t i = 0;; i++) {
        if (row < s->var[var[i]].dim) {
            *coordinate = row;
            return var[i];
        }
        row -= s->var[var[i]].dim;
    }
}

static ct_status refuse(const ct_smoother *s, int32_t clique, int32_t row, int lost, ct_err *err)
{
    int           k;
    char          name[64];
    const int32_t var = variable_of_row(s, clique, row, &k);
    ct__var_name(s, var, name);
    if (lost)
        return ct_fail(err, CT_E_SINGULAR,
                       "%s: what fixes its %s is lost to rounding, beside measurements 1e16 times as strong", name,
                       ct_kind_coordinate(s->var[var].kind, k));
    return ct_fail(err, CT_E_SINGULAR, "%s: no factor would fix its %s", name, ct_kind_coordinate(s->var[var].kind, k));
}

/* As in rank_deficiency.c: refines the direction z of a weak pivot; 1 if no residual changes along it. */
static int is_undetermined(ct_smoother *s, double *z, double *back)
{
    double before = 0;
    for (int k = 0;; k++) {
        double size;
        memset(back, 0, (size_t)(CT_DIM_MAX * s->vars) * sizeof *back);
        const double response = ct__smoother_response(s, z, back, &size);
        if (response <= CLEARLY_UNDETERMINED * size) return 1;
        if (response > CLEARLY_DETERMINED * size) return 0;
        if (k == REFINEMENTS) return response <= UNDETERMINED   * size;
        if (k > 0 && response > NOT_FALLING * before && response > TOO_FAR * UNDETERMINED   * size) return 0;
        before = response;
        ct__sweep_up(s, back);
        for (int64_t i = 0; i < s->top.weak.count; i += 2) {
            int           c;
            const int32_t row = s->top.weak.item[i + 1],
                          var = variable_of_row(s, s->top.weak.item[i], row < 0 ? ~row : row, &c);
            AT(back, var)[c] = 0;
        }
        ct__sweep_down(s, back);
        for (int64_t i = 0; i < CT_DIM_MAX * s->vars; i++) z[i] -= back[i];
    }
}

ct_status ct__check_weak_pivots(ct_smoother *s, ct_err *err)
{
    int settled, c;
    CT_TRY(ct__prove(s, &settled, err));
    if (!settled) {
        CT_TRY(room(s, CT_DIM_MAX * (s->vars + 1), err));
        CT_TRY(ct__sweep_order(s, err));
    }
    for (int64_t i = 0; i < s->top.weak.count; i += 2) {
        const int32_t clique = s->top.weak.item[i], row = s->top.weak.item[i + 1], there = row < 0 ? ~row : row;
        if (!settled) {
            double       *z = s->vector[0];
            const int32_t var = variable_of_row(s, clique, there, &c);
            memset(z, 0, (size_t)(CT_DIM_MAX * s->vars) * sizeof *z);
            AT(z, var)
            [c] = ct__panel(
                s, &s->clique[clique])[(int64_t)there * (s->clique[clique].p + s->clique[clique].s + 1) + there];
            ct__sweep_down(s, z);
            if (is_undetermined(s, z, s->vector[1])) return refuse(s, clique, there, 0, err);
        }
        if (row < 0) return refuse(s, clique, there, 1, err);
    }
    return CT_OK;
}
