/* biased_measurement.c: a measurement of a sensor, added to a graph with the state of its bias. */
#include "data/bias_states.h"
#include "graph/biased.h"

#include <math.h>
#include <stdio.h>

static int is_pose(ct_kind kind) { return kind == CT_SE2 || kind == CT_SE3; }

static int find_row(const ct_factor_ops *ops, const char *name)
{
    for (int i = 0; i < ops->rows; i++)
        if (ops->coordinate[i] && !strcmp(ops->coordinate[i], name)) return i;
    return -1;
}

int ct__is_relative(const ct_factor_ops *ops)
{
    return ops == ct_factor_between(ops->kind[0]) || ops == &ct_gtsam_between_se2 || ops == &ct_gtsam_between_se3;
}

static int is_pose_prior(const ct_factor_ops *ops)
{
    return ops == &ct_prior_se2 || ops == &ct_prior_se3 || ops == &ct_gtsam_prior_se2 || ops == &ct_gtsam_prior_se3;
}

static int moves(const ct_factor_ops *ops, int row) { return ops->kind[0] == CT_SE2 ? row < 2 : row >= 3; }

/* What a scale factor multiplies: row i of what was measured. 0: it has no scale. */
static int measured(const ct_factor *f, int row, double *value)
{
    const ct_factor_ops *ops = f->ops;
    double identity[CT_SIZE_MAX], d[CT_DIM_MAX];
    if (ct__is_relative(ops)) {
        ct_kind_identity(ops->field[0], identity);
        ct_kind_local(ops->field[0], identity, f->z, d);
        *value = d[row];
        return 1;
    }
    if (ops == &ct_velocity_se2 || ops == &ct_velocity_se3) {
        *value = f->z[row];
        return 1;
    }
    *value = f->z[0];
    return !strncmp(ops->name, "range_", 6) && row == 0;
}

static ct_status no_row(const ct_bias *b, const ct_factor *f, const char *row, ct_err *err)
{
    char text[128] = "";
    size_t used = 0;
    for (int i = 0; i < f->ops->rows && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? ", " : "", f->ops->coordinate[i]);
    return ct_fail(err, CT_E_ARGUMENT, "bias of %s: %s, which measures with it, has no row %s; its rows are %s",
                   b->sensor, f->ops->name, row, text);
}

/* c <- the coefficient of a row. */
static ct_status coefficient(const ct_bias *b, const ct_factor *f, int row, double dt, double *c, ct_err *err)
{
    *c = 1;
    if (b->effect == CT_BIAS_RATE) {
        if (f->ops->arity != 2 || !is_pose(f->ops->kind[0]) || f->ops->kind[1] != f->ops->kind[0])
            return ct_fail(err, CT_E_ARGUMENT, "bias of %s: a rate acts between two poses, and %s is not: as offset",
                           b->sensor, f->ops->name);
        *c = isfinite(dt) ? dt : 0;
    }
    if (b->effect == CT_BIAS_SCALE && !measured(f, row, c))
        return ct_fail(err, CT_E_ARGUMENT,
                       "bias of %s: %s of %s has no scale factor; relative poses, velocities and ranges have one",
                       b->sensor, f->ops->coordinate[row], f->ops->name);
    return CT_OK;
}

ct_status ct__add_biased(ct_graph *graph, const ct_bias *b, const ct_factor *f, const int32_t *var, int32_t state,
                         double dt, ct_err *err)
{
    static const ct_kind R[] = {CT_R1, CT_R1, CT_R2, CT_R3};
    const int size = ct_factor_z_size(f->ops), k = b->rows;
    double z[CT_FIELDS_MAX * CT_SIZE_MAX + 2 * CT_BIAS_ROWS_MAX];
    int32_t all[CT_ARITY_MAX + 1];
    int shifts = 0;
    for (int j = 0; j < k; j++) {
        const int row = find_row(f->ops, b->row[j]);
        if (row < 0) return no_row(b, f, b->row[j], err);
        z[size + j] = row;
        CT_TRY(coefficient(b, f, row, dt, &z[size + k + j], err));
        shifts += is_pose_prior(f->ops) && moves(f->ops, row);
    }
    if (shifts && shifts < k)
        return ct_fail(
            err, CT_E_ARGUMENT,
            "bias of %s: positions of a pose are offset in the world, rotations in its own frame; a bias has "
            "rows of one sort",
            b->sensor);
    const ct_factor_ops *ops = ct_factor_biased(f->ops, R[k], shifts > 0);
    if (!ops)
        return ct_fail(
            err, CT_E_ARGUMENT,
            "bias of %s: %s has no form with a bias of %d row%s; built-in models of at most three variables, "
            "and as many rows, do",
            b->sensor, f->ops->name, k, k == 1 ? "" : "s");
    memcpy(z, f->z, (size_t)size * sizeof *z);
    memcpy(all, var, (size_t)f->ops->arity * sizeof *all);
    all[f->ops->arity] = state;
    return ct_graph_add_factor(graph, ops, all, z, f->context, f->noise, err);
}
