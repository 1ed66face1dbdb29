/* gtsam.c: noise models for GTSAM, in C++ and Python.
 *
 * Variances are written, which covtune learns. GTSAM takes the roots itself (Diagonal::Variances, Isotropic::Variance),
 * so that no digit is lost.
 *
 *   tangent order   Pose2 (x, y, theta) and Pose3 (rotation, translation) are as in covtune. BearingRange has the
 *                   bearing first, covtune the range: rows are permuted by their names.
 *   directions      Unit3 has axes of its own at every direction, so that azimuth and elevation have no counterpart.
 *                   With one variance for both and no correlation the axes do not matter.
 *   kernels         rho and weight of mEstimator Huber, Cauchy, GemanMcClure and Tukey are those of covtune/noise.h,
 *                   of the whitened norm of the whole residual (ReweightScheme Block, the default). The width is the
 *                   same.
 *   residuals       Pose2's residual equals the logarithm to first order; see docs/gtsam.md. */
#include "export/export.h"
#include "base/base.h"
#include "base/file.h"

static const char *const KERNEL[CT_ROBUST_COUNT] = {[CT_ROBUST_HUBER] = "Huber",
                                                    [CT_ROBUST_CAUCHY] = "Cauchy",
                                                    [CT_ROBUST_GEMAN_MCCLURE] = "GemanMcClure",
                                                    [CT_ROBUST_TUKEY] = "Tukey"};

/* Where the two languages differ, besides how an array begins. */
typedef struct {
    int         cpp;
    const char *mark, *scope, *declare, *end; /* comment; a::b or a.b; before a name; after a statement */
    const char *row, *vector_end, *matrix_end; /* between rows of a matrix; after the numbers            */
} language;

static const language CPP = {
    1, "//", "::", "const gtsam::SharedNoiseModel ", ";", ",\n    ", ").finished())", ").finished())"};
static const language PYTHON = {0, "#", ".", "", "", "],\n    [", "], dtype=float))", "]], dtype=float))"};

/* Do azimuth and elevation have one variance and no correlation with other rows? */
static int is_round(const ct_noise_model *m, int a, int b)
{
    for (int j = 0; j < m->dim; j++)
        if ((j != a && ct_noise_covariance(m, a, j) != 0) || (j != b && ct_noise_covariance(m, b, j) != 0)) return 0;
    return ct_noise_covariance(m, a, a) == ct_noise_covariance(m, b, b);
}

ct_status ct__gtsam_check(const ct_noise_model *m, ct_err *err)
{
    const int a = ct_noise_find_row(m, "azimuth"), b = ct_noise_find_row(m, "elevation");
    if (!m->row && m->kind != CT_NOISE_ISOTROPIC && (m->dim == 2 || m->dim == 3))
        return ct__export_unnamed(m, "GTSAM, where a bearing comes before a range,", err);
    if (a >= 0 && b >= 0 && !is_round(m, a, b))
        return ct_fail(err, CT_E_UNSUPPORTED,
                       "noise model \"%s\": GTSAM's directions (Unit3) know no azimuth and elevation; with one "
                       "variance for both, and no correlation, it would be the same there",
                       m->name);
    return m->robust.kind != CT_ROBUST_NONE && !KERNEL[m->robust.kind] ? ct__export_no_kernel(m, "GTSAM", err) : CT_OK;
}

/* order[i]: the row of covtune's at place i of GTSAM's. */
static void find_order(const ct_noise_model *m, int order[CT_NOISE_DIM_MAX])
{
    const int turn = ct__export_rows_are(m, "range bearing") || ct__export_rows_are(m, "range azimuth elevation");
    for (int i = 0; i < m->dim; i++) order[i] = turn ? (i + 1) % m->dim : i;
}

static void put_gaussian(ct__export *e, const language *in, const ct_noise_model *m, const int order[])
{
    double S[CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX], variance[CT_NOISE_DIM_MAX];
    char   buf[32];
    for (int i = 0; i < m->dim; i++) {
        variance[i] = ct_noise_covariance(m, order[i], order[i]);
        for (int j = 0; j < m->dim; j++) S[i * m->dim + j] = ct_noise_covariance(m, order[i], order[j]);
    }
    ct__export_round(e, m->dim, variance);
    ct__export_round_matrix(e, m->dim, S);
    ct__text_printf(e->out, "gtsam%snoiseModel%s", in->scope, in->scope);
    if (m->kind == CT_NOISE_ISOTROPIC) {
        ct__text_printf(e->out, "Isotropic%sVariance(%d, %s)", in->scope, m->dim, ct__format_double(variance[0], buf));
    } else if (m->kind == CT_NOISE_DIAGONAL) {
        ct__text_printf(e->out, "Diagonal%sVariances(", in->scope);
        if (in->cpp) ct__text_printf(e->out, "(gtsam::Vector(%d) << ", m->dim);
        else ct__text_put(e->out, "np.array([");
        ct__export_numbers(e->out, ", ", m->dim, variance);
        ct__text_put(e->out, in->vector_end);
    } else {
        ct__text_printf(e->out, "Gaussian%sCovariance(", in->scope);
        if (in->cpp) ct__text_printf(e->out, "(gtsam::Matrix(%d, %d) <<\n    ", m->dim, m->dim);
        else ct__text_put(e->out, "np.array([\n    [");
        for (int i = 0; i < m->dim; i++) {
            ct__text_put(e->out, i ? in->row : "");
            ct__export_numbers(e->out, ", ", m->dim, S + i * m->dim);
        }
        ct__text_put(e->out, in->matrix_end);
    }
}

/* A function of features: its code, and NAME(x), which makes the model of one factor. */
static void put_function(ct__export *e, const language *in, int32_t k, const int order[])
{
    const ct_noise_model *m = ct_noise_get(e->noise, e->index[k]);
    const char           *id = ct__names_get(&e->id, k);
    const int             robust = m->robust.kind != CT_ROBUST_NONE, n = m->dim;
    char                  kernel[160] = "", width[32];
    ct__export_function(e, k, !in->cpp);
    if (robust)
        snprintf(kernel, sizeof kernel,
                 "gtsam%snoiseModel%sRobust%sCreate(gtsam%snoiseModel%smEstimator%s%s%sCreate(%s), ", in->scope,
                 in->scope, in->scope, in->scope, in->scope, in->scope, KERNEL[m->robust.kind], in->scope,
                 ct__format_double(m->robust.width, width));
    if (in->cpp)
        ct__text_printf(e->out,
                        "inline gtsam::SharedNoiseModel %s(const double x[%d])\n{\n    double S[%d];\n"
                        "    gtsam::Matrix M(%d, %d);\n    %s_covariance_at(x, S);\n",
                        id, m->function->features, n * n, n, n, id);
    else ct__text_printf(e->out, "\n\ndef %s(x):\n    S = %s_covariance_at(x)\n    order = [", id, id);
    for (int i = 0; i < n; i++) {
        if (!in->cpp) ct__text_printf(e->out, "%s%d", i ? ", " : "", order[i]);
        for (int j = 0; in->cpp && j < n; j++)
            ct__text_printf(e->out, "    M(%d, %d) = S[%d];\n", i, j, order[i] * n + order[j]);
    }
    if (!in->cpp) ct__text_put(e->out, "]\n    M = np.array([[S[i][k] for k in order] for i in order])\n");
    ct__text_printf(e->out, "    return %sgtsam%snoiseModel%sGaussian%sCovariance(M)%s%s\n%s", kernel, in->scope,
                    in->scope, in->scope, robust ? ")" : "", in->end, in->cpp ? "}\n" : "");
}

static void put_models(ct__export *e, const language *in)
{
    char buf[32];
    for (int32_t i = 0; i < e->count; i++) {
        const ct_noise_model *m = ct_noise_get(e->noise, e->index[i]);
        int                   order[CT_NOISE_DIM_MAX];
        find_order(m, order);
        ct__export_title(e, i, in->mark, order);
        if (m->function) {
            put_function(e, in, i, order);
            continue;
        }
        ct__text_printf(e->out, "%s%s = ", in->declare, ct__names_get(&e->id, i));
        if (m->robust.kind != CT_ROBUST_NONE)
            ct__text_printf(
                e->out, "gtsam%snoiseModel%sRobust%sCreate(\n    gtsam%snoiseModel%smEstimator%s%s%sCreate(%s),\n    ",
                in->scope, in->scope, in->scope, in->scope, in->scope, in->scope, KERNEL[m->robust.kind], in->scope,
                ct__format_double(m->robust.width, buf));
        put_gaussian(e, in, m, order);
        ct__text_printf(e->out, "%s%s\n", m->robust.kind != CT_ROBUST_NONE ? ")" : "", in->end);
    }
}

static void put_head(ct__export *e, const char *mark)
{
    ct__text_printf(e->out,
            "%s Noise models for GTSAM 4, written by covtune %s.\n"
            "%s Variances and covariances (m^2, rad^2), in GTSAM's order of the tangent: Pose2 (x, y, theta), Pose3\n"
            "%s (rotation, translation), BearingRange (bearing, range); in the frame of the measurement, as GTSAM's\n"
            "%s factors have it. Kernels: width in sigmas, the same function in both programs.\n",
            mark, ct_version(), mark, mark, mark);
    ct__export_origin(e, mark);
}

ct_status ct__gtsam_cpp_write(ct__export *e)
{
    put_head(e, CPP.mark);
    ct__text_printf(e->out,
                    "#ifndef COVTUNE_GTSAM_%s\n#define COVTUNE_GTSAM_%s\n\n#include <gtsam/linear/NoiseModel.h>\n",
                    e->guard, e->guard);
    if (ct__export_any_function(e)) ct__text_put(e->out, "#include <cmath>\nusing std::exp;\nusing std::tanh;\n");
    put_models(e, &CPP);
    ct__text_printf(e->out, "\n#endif\n");
    return CT_OK;
}

ct_status ct__gtsam_python_write(ct__export *e)
{
    put_head(e, PYTHON.mark);
    ct__text_printf(e->out, "import gtsam\nimport numpy as np\n");
    if (ct__export_any_function(e)) ct__text_put(e->out, "import math\n");
    put_models(e, &PYTHON);
    return CT_OK;
}
