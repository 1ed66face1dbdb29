/* factor.c: the table of built-in measurement models, and numeric derivatives of any model.
 *
 * To add a model: a file factor_<name>.c with its mathematics, its eval and its ct_factor_ops, and
 * its name in CT_FACTOR_LIST of graph.h. The tests then check its Jacobians.
 */
#include "graph/biased.h"
#include "graph/graph.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const ct_factor_ops *const models[] = {
#define X(name) &ct_##name,
    CT_FACTOR_LIST(X)
#undef X
};
enum { MODELS = sizeof models / sizeof *models };

const ct_factor_ops *ct_factor_at(int i) { return i >= 0 && i < MODELS ? models[i] : NULL; }

const ct_factor_ops *ct_factor_find(const char *name)
{
    for (int i = 0; i < MODELS; i++)
        if (name && !strcmp(models[i]->name, name)) return models[i];
    return ct__biased_find(name);
}

const ct_factor_ops *ct_factor_prior(ct_kind kind)
{
    static const ct_factor_ops *const prior[CT_KIND_COUNT] = {
        [CT_R1] = &ct_prior_r1,   [CT_R2] = &ct_prior_r2,   [CT_R3] = &ct_prior_r3,   [CT_SO2] = &ct_prior_so2,
        [CT_SO3] = &ct_prior_so3, [CT_SE2] = &ct_prior_se2, [CT_SE3] = &ct_prior_se3,
    };
    return (int)kind >= 0 && kind < CT_KIND_COUNT ? prior[kind] : NULL;
}

const ct_factor_ops *ct_factor_between(ct_kind kind)
{
    static const ct_factor_ops *const between[CT_KIND_COUNT] = {
        [CT_R1] = &ct_between_r1,   [CT_R2] = &ct_between_r2,   [CT_R3] = &ct_between_r3,   [CT_SO2] = &ct_between_so2,
        [CT_SO3] = &ct_between_so3, [CT_SE2] = &ct_between_se2, [CT_SE3] = &ct_between_se3,
    };
    return (int)kind >= 0 && kind < CT_KIND_COUNT ? between[kind] : NULL;
}

int ct_factor_z_size(const ct_factor_ops *ops)
{
    int size = 0;
    for (int i = 0; i < ops->fields; i++) size += ct_kind_size(ops->field[i]);
    return size;
}

/* ---- Derivatives by differences ------------------------------------------------------------------ */

/* A factor at a point. */
typedef struct {
    const ct_factor_ops *ops;
    const double        *z;
    const void          *context;
    const double *const *x;
} place;

/* The step that balances truncation h^2 against rounding eps X/h, X the largest number involved:
 * 6e-6 for coordinates of order one, 6e-4 for map coordinates of order 1e6. */
static double step_at(const place *at)
{
    double largest = 1;
    for (int i = 0; i < at->ops->arity; i++)
        for (int j = 0; j < ct_kind_size(at->ops->kind[i]); j++) largest = fmax(largest, fabs(at->x[i][j]));
    return cbrt(DBL_EPSILON * largest);
}

/* The residual with coordinate j of variable i moved by h; returns the largest change from r0. */
static double moved(const place *at, int i, int j, double h, const double *r0, double *r)
{
    const double *x[CT_ARITY_MAX];
    double        y[CT_SIZE_MAX], d[CT_DIM_MAX] = {0};
    memcpy(x, at->x, (size_t)at->ops->arity * sizeof *x);
    d[j] = h;
    ct_kind_retract(at->ops->kind[i], x[i], d, y);
    x[i] = y;
    at->ops->eval(at->z, at->context, x, r, NULL);
    double change = 0;
    for (int k = 0; k < at->ops->rows; k++) change = fmax(change, fabs(r[k] - r0[k]));
    return change;
}

/* J = (r(+h) - r(-h)) / 2h. An angle's residual jumps where it wraps at pi; if it does so within the
 * step (a change above 1, a thousand times the other side's), the side that does not jump is used. */
static void differences(const place *at, int i, double h, const double *r0, double *J)
{
    const int rows = at->ops->rows, dim = ct_kind_dim(at->ops->kind[i]);
    for (int j = 0; j < dim; j++) {
        double       ahead[CT_ROWS_MAX], behind[CT_ROWS_MAX], span = 2 * h;
        const double up = moved(at, i, j, h, r0, ahead), down = moved(at, i, j, -h, r0, behind);
        const int    jump_up = up > 1 && up > 1e3 * down, jump_down = down > 1 && down > 1e3 * up;
        if (jump_up) memcpy(ahead, r0, (size_t)rows * sizeof *r0);
        if (jump_down) memcpy(behind, r0, (size_t)rows * sizeof *r0);
        if (jump_up || jump_down) span = h;
        for (int k = 0; k < rows; k++) J[k * dim + j] = (ahead[k] - behind[k]) / span;
    }
}

void ct_factor_eval(const ct_factor_ops *ops, const double *z, const void *context, const double *const x[], double *r,
                    double *const J[])
{
    if (ops->jacobian != CT_JACOBIAN_NUMERIC) {
        ops->eval(z, context, x, r, J);
        return;
    }
    ops->eval(z, context, x, r, NULL);
    if (!J) return;
    const place  at = {ops, z, context, x};
    const double h = step_at(&at);
    for (int i = 0; i < ops->arity; i++)
        if (J[i]) differences(&at, i, h, r, J[i]);
}

/* ---- Checking a model ------------------------------------------------------------------------------ */

const char *ct__factor_inconsistent(const ct_factor_ops *ops)
{
    if (ops->rows < 1 || ops->rows > CT_ROWS_MAX) return "rows must be 1 to 6";
    if (ops->arity < 1 || ops->arity > CT_ARITY_MAX) return "arity must be 1 to 4";
    if (ops->fields < 0 || ops->fields > CT_FIELDS_MAX) return "fields must be 0 to 8";
    if (ops->required < 0 || ops->required > ops->fields) return "required must be 0 to fields";
    if ((unsigned)ops->jacobian > CT_JACOBIAN_APPROXIMATE) return "jacobian must be analytic, numeric or approximate";
    if (!ops->eval) return "eval is missing";
    for (int i = 0; i < ops->arity; i++)
        if ((int)ops->kind[i] < 0 || ops->kind[i] >= CT_KIND_COUNT) return "kind of a variable is not in CT_KIND_LIST";
    for (int i = 0; i < ops->arity; i++)
        if (ops->depends[i] >> ct_kind_dim(ops->kind[i])) return "depends has a coordinate that its variable has not";
    for (int i = 0; i < ops->fields; i++)
        if ((int)ops->field[i] < 0 || ops->field[i] >= CT_KIND_COUNT) return "kind of a field is not in CT_KIND_LIST";
    for (int k = 0; k < ops->rows; k++)
        if (!ops->coordinate[k] || !ops->unit[k]) return "every row needs a coordinate and a unit";
    return NULL;
}

/* An entry of a Jacobian, and its error over 1 + its size. */
typedef struct {
    int    variable, row, column;
    double found, expected, error;
} entry;

/* The derivative by variable i: differences at h and 2h, extrapolated (error h^4), for h = 64, 16, 4
 * and 1 times the step of central differences; Each entry takes the value with the smallest
 * correction. Long steps have less rounding error; short ones resolve a point 1 cm away. */
static void careful_differences(const place *at, int i, const double *r0, double *D)
{
    const int    count = at->ops->rows * ct_kind_dim(at->ops->kind[i]);
    const double step = step_at(at);
    double       D1[CT_ROWS_MAX * CT_DIM_MAX], D2[CT_ROWS_MAX * CT_DIM_MAX], least[CT_ROWS_MAX * CT_DIM_MAX];
    for (int level = 64; level >= 1; level /= 4) {
        differences(at, i, level * step, r0, D1);
        differences(at, i, 2 * level * step, r0, D2);
        for (int k = 0; k < count; k++) {
            const double correction = fabs(D1[k] - D2[k]) / 3;
            if (level < 64 && !(correction < least[k])) continue;
            least[k] = correction;
            D[k] = (4 * D1[k] - D2[k]) / 3;
        }
    }
}

/* The error allowed for an approximate Jacobian: |r| (1 + the largest entry). */
static double allowance(const place *at, int count, const double *r0, const double *D)
{
    double square = 0, largest = 0;
    if (at->ops->jacobian != CT_JACOBIAN_APPROXIMATE) return 0;
    for (int k = 0; k < at->ops->rows; k++) square += r0[k] * r0[k];
    for (int k = 0; k < count; k++) largest = fmax(largest, fabs(D[k]));
    return sqrt(square) * (1 + largest);
}

/* J was filled with NaN, so an entry that eval did not write is infinitely wrong. Derivatives by
 * variables that r is declared not to depend on count as zero. */
static void compare(const place *at, int i, const double *r0, const double *J, entry *worst)
{
    const int dim = ct_kind_dim(at->ops->kind[i]), count = at->ops->rows * dim;
    double    D[CT_ROWS_MAX * CT_DIM_MAX];
    careful_differences(at, i, r0, D);
    const double allowed = allowance(at, count, r0, D);
    for (int k = 0; k < count; k++) {
        const int    depends = !at->ops->depends[i] || at->ops->depends[i] >> k % dim & 1;
        const double found = depends || isnan(J[k]) ? J[k] : 0, gap = fabs(found - D[k]),
                     error = isnan(gap) ? INFINITY : (gap - allowed) / (1 + fabs(D[k]));
        if (error > worst->error) *worst = (entry){i, k / dim, k % dim, found, D[k], error};
    }
}

/* r0 without Jacobians, J with; the residual must be the same and finite. */
static ct_status evaluate(const place *at, double *r0, double J[][CT_ROWS_MAX * CT_DIM_MAX], ct_err *err)
{
    double  r[CT_ROWS_MAX];
    double *pointers[CT_ARITY_MAX];
    for (int i = 0; i < at->ops->arity; i++) {
        pointers[i] = J[i];
        for (int k = 0; k < CT_ROWS_MAX * CT_DIM_MAX; k++) J[i][k] = NAN;
    }
    at->ops->eval(at->z, at->context, at->x, r0, NULL);
    ct_factor_eval(at->ops, at->z, at->context, at->x, r, pointers);
    for (int k = 0; k < at->ops->rows; k++) {
        const char *row = at->ops->coordinate[k];
        if (!isfinite(r0[k])) return ct_fail(err, CT_E_ARGUMENT, "%s: r[%s] is %g", at->ops->name, row, r0[k]);
        if (!(r[k] == r0[k]))
            return ct_fail(err, CT_E_ARGUMENT, "%s: r[%s] is %.9g with Jacobians, %.9g without", at->ops->name, row,
                           r[k], r0[k]);
    }
    return CT_OK;
}

#define COPIES 3 /* of the factor, for eval_many */
#define ALIKE  1e-12

static ct_status differs(const place *at, const char *what, int copy, double many, double one, ct_err *err)
{
    return ct_fail(err, CT_E_ARGUMENT, "%s: %s of factor %d of %d is %.9g by eval_many, %.9g by eval", at->ops->name,
                   what, copy + 1, COPIES, many, one);
}

/* eval_many of COPIES times the same factor gives what eval does. */
static ct_status check_many(const place *at, const double *r0, double J[][CT_ROWS_MAX * CT_DIM_MAX], ct_err *err)
{
    enum { Z_MAX = CT_FIELDS_MAX * CT_SIZE_MAX, BLOCK = CT_ROWS_MAX * CT_DIM_MAX };
    const ct_factor_ops *ops = at->ops;
    const int            numbers = ct_factor_z_size(ops), derive = ops->jacobian != CT_JACOBIAN_NUMERIC;
    double               z[COPIES * Z_MAX], x[CT_ARITY_MAX][COPIES * CT_SIZE_MAX], r[COPIES * CT_ROWS_MAX];
    double               D[CT_ARITY_MAX][COPIES * BLOCK], *pointers[CT_ARITY_MAX];
    const double        *arg[CT_ARITY_MAX];
    const void          *context[COPIES];
    for (int c = 0; c < COPIES; c++) {
        context[c] = at->context;
        memcpy(z + c * numbers, at->z, (size_t)numbers * sizeof *z);
        for (int i = 0; i < ops->arity; i++) {
            const int size = ct_kind_size(ops->kind[i]);
            memcpy(x[i] + c * size, at->x[i], (size_t)size * sizeof **x);
            arg[i] = x[i];
            pointers[i] = D[i];
        }
    }
    ops->eval_many(COPIES, z, context, arg, r, derive ? pointers : NULL);
    for (int k = 0; k < COPIES * ops->rows; k++) {
        const double one = r0[k % ops->rows];
        if (!(fabs(r[k] - one) <= ALIKE * (1 + fabs(one))))
            return differs(at, ops->coordinate[k % ops->rows], k / ops->rows, r[k], one, err);
    }
    for (int i = 0; derive && i < ops->arity; i++) {
        const int count = ops->rows * ct_kind_dim(ops->kind[i]);
        for (int k = 0; k < COPIES * count; k++)
            if (!(fabs(D[i][k] - J[i][k % count]) <= ALIKE * (1 + fabs(J[i][k % count]))))
                return differs(at, "a derivative", k / count, D[i][k], J[i][k % count], err);
    }
    return CT_OK;
}

ct_status ct_factor_check(const ct_factor_ops *ops, const double *z, const void *context, const double *const x[],
                          double tolerance, ct_err *err)
{
    if (!ops->name || !ops->name[0]) return ct_fail(err, CT_E_ARGUMENT, "a measurement model has no name");
    const char *why = ct__factor_inconsistent(ops);
    if (!why && ops->shaped && !context) why = "it needs a shape";
    if (!why && ops->refuse) why = ops->refuse(z);
    if (why) return ct_fail(err, CT_E_ARGUMENT, "%s: %s", ops->name, why);

    const place at = {ops, z, context, x};
    double      r0[CT_ROWS_MAX], J[CT_ARITY_MAX][CT_ROWS_MAX * CT_DIM_MAX];
    ct_status   status = evaluate(&at, r0, J, err);
    if (status == CT_OK && ops->eval_many) status = check_many(&at, r0, J, err);
    if (status != CT_OK || ops->jacobian == CT_JACOBIAN_NUMERIC) return status;

    entry worst = {.error = 0};
    for (int i = 0; i < ops->arity; i++) compare(&at, i, r0, J[i], &worst);
    if (worst.error <= tolerance) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT, "%s: d r[%s] / d x%d[%s] is %.9g, differences give %.9g", ops->name,
                   ops->coordinate[worst.row], worst.variable,
                   ct_kind_coordinate(ops->kind[worst.variable], worst.column), worst.found, worst.expected);
}
