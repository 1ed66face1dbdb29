/* c_header.c: a C header with the numbers of the models, for programs with noise models of their own. Each array is
 * named after its model: NAME_variance and NAME_sigma (dim numbers), NAME_covariance (row-major) of a full model,
 * NAME_kernel and NAME_width of a robust one. No suffix is the end of another, so distinct models have distinct
 * arrays. */
#include "export/export.h"
#include "base/file.h"

#include <math.h>

static void put_array(ct__export *e, int32_t k, const char *what, int n, const double *value)
{
    ct__text_printf(e->out, "static const double %s_%s[%d] = {", ct__names_get(&e->id, k), what, n);
    ct__export_numbers(e->out, ", ", n, value);
    ct__text_printf(e->out, "};\n");
}

ct_status ct__export_c(ct__export *e)
{
    ct__text_printf(
        e->out,
        "// Noise models, written by covtune %s. Variances and covariances (row by row; m^2, rad^2, ...), and sigmas,\n"
        "// which are the roots of the variances. Rows in covtune's order: poses in the plane (x, y, yaw), in space\n"
        "// (rotation, translation), range before bearing; in the frame of the measurement. Kernels: width in "
        "sigmas.\n",
        ct_version());
    ct__export_origin(e, "//");
    ct__text_printf(e->out, "#ifndef COVTUNE_C_%s\n#define COVTUNE_C_%s\n", e->guard, e->guard);
    if (ct__export_any_function(e))
        ct__text_put(e->out,
                     "\n// Functions of features: NAME_covariance_at(x, covariance). They allocate nothing.\n"
                     "// The arrays beside them hold the model where the function is zero.\n#include <math.h>\n");
    for (int32_t k = 0; k < e->count; k++) {
        const ct_noise_model *m = ct_noise_get(e->noise, e->index[k]);
        double variance[CT_NOISE_DIM_MAX], sigma[CT_NOISE_DIM_MAX], S[CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX];
        char                  buf[32];
        for (int i = 0; i < m->dim; i++) {
            variance[i] = ct_noise_covariance(m, i, i);
            sigma[i] = sqrt(variance[i]);
        }
        for (int i = 0; i < m->dim * m->dim; i++) S[i] = ct_noise_covariance(m, i / m->dim, i % m->dim);
        ct__export_round(e, m->dim, variance);
        ct__export_round(e, m->dim, sigma);
        ct__export_round_matrix(e, m->dim, S);
        ct__export_title(e, k, "//", NULL);
        put_array(e, k, "variance", m->dim, variance);
        put_array(e, k, "sigma", m->dim, sigma);
        if (m->kind == CT_NOISE_FULL) put_array(e, k, "covariance", m->dim * m->dim, S);
        if (m->function) ct__export_function(e, k, 0);
        if (m->robust.kind == CT_ROBUST_NONE) continue;
        ct__text_printf(e->out, "static const char %s_kernel[] = \"%s\";\n", ct__names_get(&e->id, k),
                        ct_robust_name(m->robust.kind));
        ct__text_printf(e->out, "static const double %s_width = %s;\n", ct__names_get(&e->id, k),
                        ct__format_double(m->robust.width, buf));
        if (m->robust.ratio > 0)
            ct__text_printf(e->out, "static const double %s_ratio = %s;\n", ct__names_get(&e->id, k),
                            ct__format_double(m->robust.ratio, buf));
    }
    ct__text_printf(e->out, "\n#endif\n");
    return CT_OK;
}
