/* turn_to_headings.c: trees of composed poses that nothing anchors begin with an arbitrary yaw. Where headings are
 * measured on them, the tree is turned about the vertical through its root by
 *
 *     angle = direction of sum over headings of (cos d, sin d),   d = measured - composed
 *
 * which a minority of wrong headings does not change by much. */
#include "data/start.h"
#include "graph/biased.h"

#include <math.h>

static int is_heading(const ct_factor_ops *ops) { return ops == &ct_heading_se2 || ops == &ct_heading_se3; }

/* Cosine and sine of d of a heading factor; 0 if it is another factor. */
static int difference(const ct_factor *f, const double *pose, double *c, double *s)
{
    double zero[6] = {1, 0}, r;
    if (!is_heading(f->ops)) return 0;
    memcpy(zero + 2, f->z + 2, (size_t)(f->ops == &ct_heading_se2 ? 2 : 4) * sizeof *zero); /* the sensor */
    f->ops->eval(zero, NULL, &pose, &r, NULL); /* the composed yaw */
    if (!isfinite(r)) return 0;
    *c = f->z[0] * cos(r) + f->z[1] * sin(r);
    *s = f->z[1] * cos(r) - f->z[0] * sin(r);
    return 1;
}

static void turn(const ct_graph *g, int32_t v, double c, double s, const double centre[3], double *x)
{
    double       *p = x + g->offset[v];
    const ct_kind kind = (ct_kind)g->kind[v];
    if (kind == CT_SE2 || kind == CT_SE3) {
        const double    o[2] = {centre[0], centre[1]};
        const ct__rigid by = {.R = {c, -s, 0, s, c, 0, 0, 0, 1},
                              .t = {o[0] - c * o[0] + s * o[1], o[1] - s * o[0] - c * o[1]}};
        ct__rigid       a = ct__rigid_of(kind, p);
        a = ct__rigid_compose(&by, &a);
        ct__rigid_store(kind, &a, p);
    } else if (kind == CT_R2 || kind == CT_R3) {
        const double dx = p[0] - centre[0], dy = p[1] - centre[1];
        p[0] = centre[0] + c * dx - s * dy, p[1] = centre[1] + s * dx + c * dy;
    }
}

ct_status ct__turn_to_headings(const ct_graph *g, const int32_t *parent, const int32_t *queue, const uint8_t *begun,
                               double *x, ct_err *err)
{
    int any = 0;
    for (int32_t i = 0; i < g->factors && !any; i++)
        any = is_heading(ct_factor_unbiased(g->factor[i].ops));
    if (!any) return CT_OK;
    int32_t *root = ct__zalloc(g->variables, sizeof *root);
    double  *sum = ct__zalloc(3 * (int64_t)g->variables, sizeof *sum); /* per root: cos, sin, number */
    double  *centre = ct__zalloc(3 * (int64_t)g->variables, sizeof *centre);
    const ct_status status = root && sum && centre ? CT_OK : ct__no_memory(err, "variables", g->variables);
    for (int32_t i = 0; status == CT_OK && i < g->variables; i++) {
        const int32_t v = queue[i];
        root[v] = parent[v] >= 0 ? root[parent[v]] : v;
        if (root[v] == v) memcpy(centre + 3 * (int64_t)v, x + g->offset[v], 2 * sizeof *x);
    }
    for (int32_t i = 0; status == CT_OK && i < g->factors; i++) {
        const ct_factor f = ct__without_bias(ct_graph_factor(g, i));
        double          c, s;
        if (!difference(&f, x + g->offset[f.var[0]], &c, &s)) continue;
        double *to = sum + 3 * (int64_t)root[f.var[0]];
        to[0] += c, to[1] += s, to[2]++;
    }
    for (int32_t v = 0; status == CT_OK && v < g->variables; v++) {
        const double *of = sum + 3 * (int64_t)root[v], n = hypot(of[0], of[1]);
        if (begun[root[v]] && !g->fixed[v] && n > 0) turn(g, v, of[0] / n, of[1] / n, centre + 3 * (int64_t)root[v], x);
    }
    free(root);
    free(sum);
    free(centre);
    return status;
}
