/* g2o.c: information matrices as at the end of g2o's edges: the upper triangle, row by row.
 *
 * An SE3 edge has translation before rotation. The rotation block is for the rotation vector in radians, as covtune and
 * GTSAM read it. g2o's own error is the vector part of the quaternion, half the angle: for g2o the rotation block is 4
 * times as large and the mixed blocks twice. A file does not say which program it is for, so that a comment has the
 * second form.
 *
 * Entries have the fewest digits that covtune's reader turns into the same covariance. Where none do, as the inverse of
 * an inverse is rounded, it reads back to rounding. */
#include "export/export.h"
#include "base/base.h"
#include "data/data.h"

static const struct {
    const char *rows, *edges;
} TYPE[] = {
    {"x y yaw", "EDGE_SE2, EDGE_PRIOR_SE2: x y theta"},
    {"rx ry rz x y z", "EDGE_SE3:QUAT, EDGE_SE3_PRIOR: x y z rx ry rz"},
    {"x y", "EDGE_SE2_XY, EDGE_POINTXY, EDGE_PRIOR_SE2_XY, EDGE_PRIOR_XY: x y"},
    {"x y z", "EDGE_SE3_TRACKXYZ, EDGE_POINTXYZ, EDGE_SE3_XYZ_PRIOR, EDGE_POINTXYZ_PRIOR: x y z"},
    {"bearing", "EDGE_BEARING_SE2_XY: bearing"},
};

static const char *edges_of(const ct_noise_model *m)
{
    for (int i = 0; i < (int)(sizeof TYPE / sizeof *TYPE); i++)
        if (ct__export_rows_are(m, TYPE[i].rows)) return TYPE[i].edges;
    return NULL;
}

ct_status ct__g2o_check(const ct_noise_model *m, ct_err *err)
{
    char   text[128] = "";
    size_t used = 0;
    CT_TRY(ct__export_no_function(m, "g2o", err));
    if (!m->row) return ct__export_unnamed(m, "g2o", err);
    for (int i = 0; i < m->dim; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "", m->row[i].name);
    if (!edges_of(m))
        return ct_fail(err, CT_E_UNSUPPORTED, "noise model \"%s\": g2o has no edge with rows %s", m->name, text);
    return ct__export_no_kernel(m, "g2o", err);
}

static void put_triangle(ct__text *out, int n, const double A[36])
{
    for (int i = 0; i < n; i++) {
        ct__text_put(out, i ? " " : "");
        ct__export_numbers(out, " ", n - i, &A[i * n + i]);
    }
    ct__text_put(out, "\n");
}

ct_status ct__export_g2o(ct__export *e)
{
    ct__text_printf(
        e->out,
        "# Information for g2o, written by covtune %s: what an edge ends with, the upper triangle row by row.\n"
        "# 1/m^2, 1/rad^2, in the frame of the measurement. Rotations in space: of the rotation vector in radians, as\n"
        "# covtune and GTSAM read it; g2o itself measures half of that (the quaternion's vector part).\n",
        ct_version());
    ct__export_origin(e, "#");
    for (int32_t k = 0; k < e->count; k++) {
        const ct_noise_model *m = ct_noise_get(e->noise, e->index[k]);
        double                rotation_first[36], A[36];
        ct__out_information(m, rotation_first);
        ct__turn(m->dim, rotation_first, A);
        ct__export_round_matrix(e, m->dim, A);
        ct__export_title(e, k, "#", NULL);
        ct__text_printf(e->out, "# %s\n", edges_of(m));
        put_triangle(e->out, m->dim, A);
        if (m->dim < 6) continue;
        for (int i = 0; i < 36; i++) A[i] *= (i / 6 > 2 ? 2 : 1) * (i % 6 > 2 ? 2 : 1);
        ct__text_printf(e->out, "# for g2o itself: ");
        put_triangle(e->out, m->dim, A);
    }
    return CT_OK;
}
