/* values.c: measurements as vectors. Rows have the order of the residual.
 *
 *   relative poses   Log z: what a sensor of velocities measures, times the duration
 *   absolute poses   rotation vector and position, in tangent order
 *   directions       azimuth and elevation in space, an angle in the plane
 *   others           their numbers
 */
#include "doctor/doctor.h"

#include <math.h>

int ct__measured_fields(const ct_factor_ops *ops)
{
    int rows = 0;
    for (int i = 0; i < ops->required; i++) {
        const int direction = ops->field[i] == CT_R3 && ops->rows - rows == 2;
        rows += direction ? 2 : ct_kind_dim(ops->field[i]);
        if (rows == ops->rows) return i + 1;
        if (rows > ops->rows) return 0;
    }
    return 0;
}

static void pose_value(ct_kind kind, const double *z, double *w)
{
    if (kind == CT_SE2) {
        w[0] = z[0], w[1] = z[1], w[2] = atan2(z[3], z[2]);
        return;
    }
    ct_so3_log((ct_so3){z[3], z[4], z[5], z[6]}, w);
    for (int i = 0; i < 3; i++) w[3 + i] = z[i];
}

static void pose_set(ct_kind kind, const double *w, double *z)
{
    if (kind == CT_SE2) {
        z[0] = w[0], z[1] = w[1], z[2] = cos(w[2]), z[3] = sin(w[2]);
        return;
    }
    const ct_so3 q = ct_so3_exp(w);
    for (int i = 0; i < 3; i++) z[i] = w[3 + i];
    z[3] = q.x, z[4] = q.y, z[5] = q.z, z[6] = q.w;
}

void ct__value_of(const ct__sensor *s, const double *z, double *w)
{
    double identity[CT_SIZE_MAX];
    for (int i = 0, row = 0; i < s->measured; i++) {
        const ct_kind kind = s->ops->field[i];
        if (kind == CT_R3 && s->rows - row == 2) {
            w[row] = atan2(z[1], z[0]), w[row + 1] = atan2(z[2], hypot(z[0], z[1]));
            row += 2;
        } else {
            ct_kind_identity(kind, identity);
            if (s->tied && ct__is_pose(kind)) pose_value(kind, z, w + row);
            else ct_kind_local(kind, identity, z, w + row);
            row += ct_kind_dim(kind);
        }
        z += ct_kind_size(kind);
    }
}

void ct__value_set(const ct__sensor *s, const double *w, double *z)
{
    double identity[CT_SIZE_MAX];
    for (int i = 0, row = 0; i < s->measured; i++) {
        const ct_kind kind = s->ops->field[i];
        if (kind == CT_R3 && s->rows - row == 2) {
            z[0] = cos(w[row + 1]) * cos(w[row]), z[1] = cos(w[row + 1]) * sin(w[row]), z[2] = sin(w[row + 1]);
            row += 2;
        } else {
            ct_kind_identity(kind, identity);
            if (s->tied && ct__is_pose(kind)) pose_set(kind, w + row, z);
            else ct_kind_retract(kind, identity, w + row, z);
            row += ct_kind_dim(kind);
        }
        z += ct_kind_size(kind);
    }
}

int ct__row_turns(const ct__sensor *s, int i)
{
    return s->ops->unit[i] && !strncmp(s->ops->unit[i], "rad", 3);
}

void ct__value_true(const ct__fault *f, int rows, const double *w, double *out)
{
    double v[CT_ROWS_MAX] = {0};
    for (int i = 0; i < rows; i++) v[abs(f->axis[i]) - 1] = (f->axis[i] < 0 ? -1 : 1) * w[i] / f->unit[i];
    memcpy(out, v, (size_t)rows * sizeof *out);
}
