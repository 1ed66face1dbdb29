/* graph_values.c: variables and factors from the values of lie.h.
 *
 * A measurement is stored as the concatenation of its parts (ct_factor_ops.field). The functions here take the required
 * parts. The optional ones, lever arms and sensor poses, are the identity. */
#include "graph/graph.h"
#include "lie/se2_inline.h"
#include "lie/se3_inline.h"

#include <math.h>

/* ---- variables ---- */

ct_status ct_graph_add_se2(ct_graph *g, const char *name, ct_se2 value, int32_t *index, ct_err *err)
{
    const double x[4] = {value.x, value.y, value.c, value.s};
    return ct_graph_add_variable(g, name, CT_SE2, x, index, err);
}

ct_status ct_graph_add_se3(ct_graph *g, const char *name, ct_se3 value, int32_t *index, ct_err *err)
{
    const double x[7] = {value.x, value.y, value.z, value.qx, value.qy, value.qz, value.qw};
    return ct_graph_add_variable(g, name, CT_SE3, x, index, err);
}

ct_status ct_graph_add_point2(ct_graph *g, const char *name, const double point[2], int32_t *index, ct_err *err)
{
    return ct_graph_add_variable(g, name, CT_R2, point, index, err);
}

ct_status ct_graph_add_point3(ct_graph *g, const char *name, const double point[3], int32_t *index, ct_err *err)
{
    return ct_graph_add_variable(g, name, CT_R3, point, index, err);
}

/* ---- values ---- */

static const double *value_of(const ct_graph *g, const double *x, int32_t var, ct_kind kind)
{
    return ct_graph_kind(g, var) == kind ? x + ct_graph_offset(g, var) : NULL;
}

ct_se2 ct_graph_se2(const ct_graph *g, const double *x, int32_t var)
{
    const double *at = value_of(g, x, var, CT_SE2);
    return at ? ct__se2_load(at) : (ct_se2){NAN, NAN, NAN, NAN};
}

ct_se3 ct_graph_se3(const ct_graph *g, const double *x, int32_t var)
{
    const double *at = value_of(g, x, var, CT_SE3);
    return at ? ct__se3_load(at) : (ct_se3){NAN, NAN, NAN, NAN, NAN, NAN, NAN};
}

/* ---- factors ---- */

/* `required`: the required parts of the measurement, concatenated. */
static ct_status add(ct_graph *g, const ct_factor_ops *ops, const int32_t var[], const double required[], int32_t noise,
                     ct_err *err)
{
    double z[CT_FIELDS_MAX * CT_SIZE_MAX];
    int    at = 0;
    for (int i = 0; i < ops->fields; at += ct_kind_size(ops->field[i++])) {
        if (i < ops->required) memcpy(z + at, required + at, (size_t)ct_kind_size(ops->field[i]) * sizeof *z);
        else ct_kind_identity(ops->field[i], z + at);
    }
    return ct_graph_add_factor(g, ops, var, z, NULL, noise, err);
}

ct_status ct_graph_add_prior_se2(ct_graph *g, int32_t pose, ct_se2 z, int32_t noise, ct_err *err)
{
    return add(g, &ct_prior_se2, &pose, (const double[]){z.x, z.y, z.c, z.s}, noise, err);
}

ct_status ct_graph_add_prior_se3(ct_graph *g, int32_t pose, ct_se3 z, int32_t noise, ct_err *err)
{
    return add(g, &ct_prior_se3, &pose, (const double[]){z.x, z.y, z.z, z.qx, z.qy, z.qz, z.qw}, noise, err);
}

ct_status ct_graph_add_between_se2(ct_graph *g, int32_t a, int32_t b, ct_se2 z, int32_t noise, ct_err *err)
{
    return add(g, &ct_between_se2, (const int32_t[]){a, b}, (const double[]){z.x, z.y, z.c, z.s}, noise, err);
}

ct_status ct_graph_add_between_se3(ct_graph *g, int32_t a, int32_t b, ct_se3 z, int32_t noise, ct_err *err)
{
    return add(g, &ct_between_se3, (const int32_t[]){a, b},
               (const double[]){z.x, z.y, z.z, z.qx, z.qy, z.qz, z.qw}, noise, err);
}

/* The model for a pose in space or in the plane. A variable of another kind is refused when the factor is added. */
static const ct_factor_ops *for_pose(const ct_graph *g, int32_t pose, const ct_factor_ops *plane,
                                     const ct_factor_ops *space)
{
    return ct_graph_kind(g, pose) == CT_SE3 ? space : plane;
}

ct_status ct_graph_add_position(ct_graph *g, int32_t pose, const double z[], int32_t noise, ct_err *err)
{
    return add(g, for_pose(g, pose, &ct_position_se2, &ct_position_se3), &pose, z, noise, err);
}

ct_status ct_graph_add_range(ct_graph *g, int32_t pose, int32_t point, double range, int32_t noise, ct_err *err)
{
    return add(g, for_pose(g, pose, &ct_range_se2_r2, &ct_range_se3_r3), (const int32_t[]){pose, point}, &range, noise,
               err);
}

ct_status ct_graph_add_landmark(ct_graph *g, int32_t pose, int32_t point, const double z[], int32_t noise, ct_err *err)
{
    return add(g, for_pose(g, pose, &ct_point_se2_r2, &ct_point_se3_r3), (const int32_t[]){pose, point}, z, noise, err);
}

ct_status ct_graph_add_bearing_se2(ct_graph *g, int32_t pose, int32_t point, double bearing, int32_t noise, ct_err *err)
{
    return add(g, &ct_bearing_se2_r2, (const int32_t[]){pose, point}, (const double[]){cos(bearing), sin(bearing)},
               noise, err);
}

ct_status ct_graph_add_range_bearing_se2(ct_graph *g, int32_t pose, int32_t point, double range, double bearing,
                                         int32_t noise, ct_err *err)
{
    return add(g, &ct_range_bearing_se2_r2, (const int32_t[]){pose, point},
               (const double[]){range, cos(bearing), sin(bearing)}, noise, err);
}
