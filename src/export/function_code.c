/* function_code.c: the function of a model as code of another language: C without allocation, which C++ takes as well,
 * and Python without packages. Both compute what ct_noise_covariance_at does, from the model's own numbers:
 *
 *     NAME_covariance_at(x, covariance)      x: the features in the order of the comment; covariance: row by row
 *
 * Features are cut to the range that was seen in training, and u to the bounds of the variances. Code of matrix
 * functions has Jacobi's method for the eigenvalues of U: export_matrix.c. */
#include "export/export.h"
#include "base/file.h"
#include "function/function.h"

#include <math.h>

typedef struct {
    ct__text   *out;
    int         python;
    const char *line; /* before a statement */
} code;

static void put_number(const code *c, double v)
{
    char buf[32];
    if (isinf(v)) ct__text_printf(c->out, "%s%s", v < 0 ? "-" : "", c->python ? "float(\"inf\")" : "HUGE_VAL");
    else ct__text_put(c->out, ct__format_double(v, buf));
}

/* A constant array. */
static void put_list(const code *c, const char *name, int n, const double *v, size_t stride)
{
    if (c->python) ct__text_printf(c->out, "    %s = [", name);
    else ct__text_printf(c->out, "    static const double %s[%d] = {", name, n);
    for (int i = 0; i < n; i++) {
        if (i) ct__text_put(c->out, i % 8 ? ", " : ",\n        ");
        put_number(c, *(const double *)((const char *)v + (size_t)i * stride));
    }
    ct__text_put(c->out, c->python ? "]\n" : "};\n");
}

static void put_integers(const code *c, const char *name, int n, const int *v, size_t stride)
{
    if (c->python) ct__text_printf(c->out, "    %s = [", name);
    else ct__text_printf(c->out, "    static const int %s[%d] = {", name, n);
    for (int i = 0; i < n; i++)
        ct__text_printf(c->out, "%s%d", i ? ", " : "", *(const int *)((const char *)v + (size_t)i * stride));
    ct__text_put(c->out, c->python ? "]\n" : "};\n");
}

static void put_constants(const code *c, const ct_noise_model *m)
{
    const ct_function *f = m->function;
    double             S[CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX];
    for (int i = 0; i < m->dim * m->dim; i++) S[i] = ct_noise_covariance(m, i / m->dim, i % m->dim);
    put_list(c, "base", m->dim * m->dim, S, sizeof *S);
    if (f->matrix) put_list(c, "unit", m->dim, f->unit, sizeof *f->unit);
    put_list(c, "u_low", f->matrix ? 1 : m->dim, f->u_low, sizeof *f->u_low);
    put_list(c, "u_high", f->matrix ? 1 : m->dim, f->u_high, sizeof *f->u_high);
    put_list(c, "low", f->features, &f->feature->low, sizeof *f->feature);
    put_list(c, "high", f->features, &f->feature->high, sizeof *f->feature);
    put_list(c, "mean", f->features, &f->feature->mean, sizeof *f->feature);
    put_list(c, "deviation", f->features, &f->feature->deviation, sizeof *f->feature);
    put_list(c, "weight", f->weights, f->weight, sizeof *f->weight);
    if (f->kind == CT_FUNCTION_NETWORK) {
        int width[CT_FUNCTION_LAYERS_MAX + 2] = {f->features};
        for (int k = 0; k < f->layers; k++) width[k + 1] = f->width[k];
        width[f->layers + 1] = f->outputs;
        put_integers(c, "width", f->layers + 2, width, sizeof *width);
        return;
    }
    put_integers(c, "a", f->terms, &f->term->a, sizeof *f->term);
    if (f->kind == CT_FUNCTION_LINEAR) {
        put_integers(c, "b", f->terms, &f->term->b, sizeof *f->term);
        return;
    }
    put_list(c, "left", f->terms, &f->term->left, sizeof *f->term);
    put_list(c, "at", f->terms, &f->term->at, sizeof *f->term);
    put_list(c, "right", f->terms, &f->term->right, sizeof *f->term);
}

/* ---- C ---- */

static const char C_LINEAR[] = "    for (j = 0; j < %d; j++) {\n"
                               "        const double phi = %sb[j] < 0 ? z[a[j]] : z[a[j]] * z[b[j]];\n"
                               "        for (o = 0; o < %d; o++) u[o] += weight[o * %d + j] * phi;\n"
                               "    }\n";
static const char C_PIECEWISE[] =
    "    for (j = 0; j < %d; j++) {\n"
    "        const double v = clamped[%sa[j]], side = v <= at[j] ? left[j] : right[j];\n"
    "        double phi = %sside == HUGE_VAL || side == -HUGE_VAL ? 1 : (v - side) / (at[j] - side);\n"
    "        if (phi < 0) phi = 0;\n"
    "        for (o = 0; o < %d; o++) u[o] += weight[o * %d + j] * phi;\n"
    "    }\n";
static const char C_NETWORK[] =
    "    const double *w = weight;\n"
    "    double in[%d], out[%d];\n"
    "    for (i = 0; i < width[0]; i++) in[i] = z[i];\n"
    "    for (j = 0; j <= %d; j++) {\n"
    "        for (o = 0; o < width[j + 1]; o++) {\n"
    "            double sum = w[width[j] * width[j + 1] + o];\n"
    "            for (i = 0; i < width[j]; i++) sum += w[o * width[j] + i] * in[i];\n"
    "            out[o] = j == %d ? sum : tanh(sum);\n"
    "        }\n"
    "        w += width[j + 1] * (width[j] + 1);\n"
    "        for (o = 0; o < width[j + 1]; o++) in[o] = out[o];\n"
    "    }\n"
    "    for (o = 0; o < %d; o++) u[o] = in[o];\n";

static void put_c(const code *c, const ct_noise_model *m, const char *id)
{
    const ct_function *f = m->function;
    const int          network = f->kind == CT_FUNCTION_NETWORK;
    int                widest = CT_MAX(f->features, f->outputs);
    for (int k = 0; k < f->layers; k++) widest = CT_MAX(widest, f->width[k]);
    ct__text_printf(c->out, "static inline void %s_covariance_at(const double x[%d], double covariance[%d])\n{\n", id,
                    f->features, m->dim * m->dim);
    put_constants(c, m);
    ct__text_printf(c->out,
                    "    double clamped[%d], z[%d], u[%d] = {0};\n    int i, j, o;\n"
                    "    for (i = 0; i < %d; i++) {\n"
                    "        clamped[i] = x[i] < low[i] ? low[i] : x[i] > high[i] ? high[i] : x[i];\n"
                    "        z[i] = (clamped[i] - mean[i]) / deviation[i];\n    }\n",
                    f->features, f->features, CT_MAX(m->dim, f->outputs), f->features);
    if (network) ct__text_printf(c->out, C_NETWORK, widest, widest, f->layers, f->layers, f->outputs);
    else if (f->kind == CT_FUNCTION_LINEAR)
        ct__text_printf(c->out, C_LINEAR, f->terms, f->matrix ? "a[j] < 0 ? 1 : " : "", f->outputs, f->terms);
    else
        ct__text_printf(c->out, C_PIECEWISE, f->terms, f->matrix ? "a[j] < 0 ? 0 : " : "",
                        f->matrix ? "a[j] < 0 ? 1 : " : "", f->outputs, f->terms);
    if (f->matrix) {
        ct__export_matrix_c(c->out, m->dim);
        return;
    }
    ct__text_printf(c->out,
                    "    (void)z;\n"
                    "    for (i = %d; i >= 0; i--) {\n"
                    "        const double v = u[%s];\n"
                    "        u[i] = v < u_low[i] ? u_low[i] : v > u_high[i] ? u_high[i] : v;\n    }\n"
                    "    for (i = 0; i < %d; i++)\n        for (j = 0; j < %d; j++)\n"
                    "            covariance[i * %d + j] = exp(0.5 * (u[i] + u[j])) * base[i * %d + j];\n"
                    "    (void)o;\n}\n",
                    m->dim - 1, f->outputs == 1 ? "0" : "i", m->dim, m->dim, m->dim, m->dim);
}

/* ---- Python ---- */

static void put_python(const code *c, const ct_noise_model *m, const char *id)
{
    const ct_function *f = m->function;
    ct__text_printf(c->out, "def %s_covariance_at(x):\n", id);
    ct__text_put(c->out, "    \"\"\"Rows of the covariance at the features x, a list.\"\"\"\n");
    put_constants(c, m);
    ct__text_put(c->out, "    clamped = [min(max(v, l), h) for v, l, h in zip(x, low, high)]\n"
                         "    z = [(v - m) / d for v, m, d in zip(clamped, mean, deviation)]\n");
    ct__text_printf(c->out, "    n = %d\n", m->dim);
    if (f->kind == CT_FUNCTION_NETWORK)
        ct__text_printf(c->out,
                        "    w = 0\n"
                        "    for k in range(%d):\n"
                        "        rows, cols = width[k + 1], width[k]\n"
                        "        out = []\n"
                        "        for o in range(rows):\n"
                        "            s = weight[w + rows * cols + o]\n"
                        "            s += sum(weight[w + o * cols + i] * z[i] for i in range(cols))\n"
                        "            out.append(s if k == %d else math.tanh(s))\n"
                        "        w += rows * (cols + 1)\n"
                        "        z = out\n"
                        "    u = z\n",
                        f->layers + 1, f->layers);
    else {
        if (f->kind == CT_FUNCTION_LINEAR)
            ct__text_printf(c->out, "    phi = [%sz[i] if j < 0 else z[i] * z[j] for i, j in zip(a, b)]\n",
                            f->matrix ? "1.0 if i < 0 else " : "");
        else
            ct__text_put(c->out, "    phi = []\n"
                                 "    for i, l, p, r in zip(a, left, at, right):\n"
                                 "        v = clamped[i]\n"
                                 "        side = l if v <= p else r\n"
                                 "        t = 1.0 if i < 0 or math.isinf(side) else (v - side) / (p - side)\n"
                                 "        phi.append(max(0.0, t))\n");
        ct__text_printf(c->out,
                        "    u = [sum(weight[o * %d + j] * phi[j] for j in range(%d)) for o in range(%d)]\n", f->terms,
                        f->terms, f->outputs);
    }
    if (f->matrix) {
        ct__export_matrix_python(c->out);
        return;
    }
    ct__text_printf(c->out,
                    "    u = [min(max(u[%s], u_low[i]), u_high[i]) for i in range(n)]\n"
                    "    scale = [math.exp(0.5 * v) for v in u]\n"
                    "    return [[scale[i] * scale[k] * base[i * n + k] for k in range(n)] for i in range(n)]\n",
                    f->outputs == 1 ? "0" : "i");
}

void ct__export_function(const ct__export *e, int32_t k, int python)
{
    const ct_noise_model *m = ct_noise_get(e->noise, e->index[k]);
    const code            c = {.out = e->out, .python = python};
    ct__text_printf(e->out, "%s x:", python ? "\n#" : "//");
    for (int i = 0; i < m->function->features; i++)
        ct__text_printf(e->out, "%s %s", i ? "," : "", m->function->feature[i].name);
    ct__text_put(e->out, python ? "\n\n" : "\n");
    if (python) put_python(&c, m, ct__names_get(&e->id, k));
    else put_c(&c, m, ct__names_get(&e->id, k));
}

ct_status ct__export_no_function(const ct_noise_model *m, const char *format, ct_err *err)
{
    if (!m->function) return CT_OK;
    return ct_fail(err, CT_E_UNSUPPORTED,
                   "noise model \"%s\" is a function of features, which %s has no place for; the formats c, python, "
                   "gtsam-cpp, gtsam-python and ros-node write it as code",
                   m->name, format);
}

/* ---- Formats of their own ---- */

int ct__export_any_function(const ct__export *e)
{
    for (int32_t k = 0; k < e->count; k++)
        if (ct_noise_get(e->noise, e->index[k])->function) return 1;
    return 0;
}

static void put_constant(ct__export *e, int32_t k)
{
    const ct_noise_model *m = ct_noise_get(e->noise, e->index[k]);
    ct__text_printf(e->out, "\ndef %s_covariance_at(x=None):\n    return [", ct__names_get(&e->id, k));
    for (int i = 0; i < m->dim; i++) {
        double row[CT_NOISE_DIM_MAX];
        for (int j = 0; j < m->dim; j++) row[j] = ct_noise_covariance(m, i, j);
        ct__text_put(e->out, i ? "], [" : "[");
        ct__export_numbers(e->out, ", ", m->dim, row);
    }
    ct__text_put(e->out, "]]\n");
}

static void put_functions(ct__export *e, const char *what)
{
    ct__text_printf(e->out,
                    "# %s, written by covtune %s. NAME_covariance_at(x) is the covariance of a measurement with\n"
                    "# features x (m^2, rad^2, ...), rows in covtune's order: poses in the plane (x, y, yaw), in\n"
                    "# space (rotation, translation), range before bearing; in the frame of the measurement.\n",
                    what, ct_version());
    ct__export_origin(e, "#");
    ct__text_put(e->out, "import math\n");
    for (int32_t k = 0; k < e->count; k++) {
        ct__export_title(e, k, "#", NULL);
        if (ct_noise_get(e->noise, e->index[k])->function) ct__export_function(e, k, 1);
        else put_constant(e, k);
    }
}

ct_status ct__export_python(ct__export *e)
{
    put_functions(e, "Noise models as Python functions");
    return CT_OK;
}

ct_status ct__ros_node_check(const ct_noise_model *m, ct_err *err)
{
    return m->row ? CT_OK : ct__export_unnamed(m, "ROS", err);
}

/* One node for all models: a message that has a covariance is given the one of its features and published again. */
ct_status ct__export_ros_node(ct__export *e)
{
    put_functions(e, "Noise models for a ROS 2 node");
    ct__text_put(e->out,
                 "\nMODELS = {\n");
    for (int32_t k = 0; k < e->count; k++) {
        const ct_noise_model *m = ct_noise_get(e->noise, e->index[k]);
        ct__text_put(e->out, "    ");
        ct__export_quote(e->out, m->name);
        ct__text_printf(e->out, ": (%s_covariance_at, [", ct__names_get(&e->id, k));
        for (int i = 0; m->row && i < m->dim; i++) {
            ct__text_put(e->out, i ? ", " : "");
            ct__export_quote(e->out, m->row[i].name);
        }
        ct__text_put(e->out, "]),\n");
    }
    ct__text_put(
        e->out,
        "}\n"
        "ROS = {\"x\": 0, \"y\": 1, \"z\": 2, \"rx\": 3, \"ry\": 4, \"rz\": 5, \"yaw\": 5}\n\n\n"
        "def ros_covariance(model, x, size=6):\n"
        "    \"\"\"The covariance field of a message by row: (x, y, z, roll, pitch, yaw), or 3 x 3 of a position.\n\n"
        "    Rows that the model does not have are unknown to it: a large variance, and no correlation.\"\"\"\n"
        "    function, rows = MODELS[model]\n"
        "    S = function(x)\n"
        "    field = [0.0] * (size * size)\n"
        "    for i in range(size):\n"
        "        field[i * size + i] = 1e6\n"
        "    for i, a in enumerate(rows):\n"
        "        for k, b in enumerate(rows):\n"
        "            if ROS[a] < size and ROS[b] < size:\n"
        "                field[ROS[a] * size + ROS[b]] = S[i][k]\n"
        "    return field\n\n\n"
        "def relay(node, kind, source, target, model, features, field=lambda m: m.pose, size=6):\n"
        "    \"\"\"Publish messages again with the covariance of their features; features(message) is x.\"\"\"\n"
        "    out = node.create_publisher(kind, target, 10)\n\n"
        "    def callback(message):\n"
        "        place = field(message)\n"
        "        name = \"covariance\" if hasattr(place, \"covariance\") else \"position_covariance\"\n"
        "        setattr(place, name, ros_covariance(model, features(message), size))\n"
        "        out.publish(message)\n\n"
        "    return node.create_subscription(kind, source, callback, 10)\n");
    return CT_OK;
}
