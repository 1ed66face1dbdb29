/* turn_to_headings.c: trees of composed poses that nothing anchors begin with an arbitrary yaw. Where headings are
 * measured on them, the tree is turned about the vertical through its root by
 *
 *     angle = direction of sum over headings of (cos d, sin d),   d = measured - composed
 *
 * which a minority of wrong headings does not change by much.
 *
 * Where most headings of a tree are still more than FAR from its yaws, the turn of the odometry is wrong, or is not
 * measured (a vehicle with a Doppler log and a compass). The tree then follows its headings: with a_v the direction of
 * the sum over WINDOW headings about pose v, and u the pose from which v was composed,
 *
 *     p_v' = p_u' + Rz(a_u) (p_v - p_u),    R_v' = Rz(a_v) R_v,    a_v = a_u where v has no heading. */
#include "data/start.h"
#include "graph/biased.h"

#include <math.h>

#define FAR    0.3 /* rad: a heading that a start does not have to agree with better */
#define WINDOW 5   /* headings: two wrong ones among them do not turn a pose by much  */

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

typedef struct {
    const ct_graph *graph;
    const int32_t  *parent, *queue;
    double         *x;
    int32_t        *root;   /* per variable: that of its tree                                             */
    double         *sum;    /* per variable: cos, sin, number of its own headings less the composed yaw   */
    double         *tree;   /* per root: cos, sin of all, number, number of those that are far            */
    double         *centre; /* per variable: its position as composed                                     */
    double         *turn;   /* per variable: cos, sin of a                                                */
} work;

static int allocate(work *w)
{
    const int64_t n = w->graph->variables;
    w->root = ct__zalloc(n, sizeof *w->root);
    w->sum = ct__zalloc(3 * n, sizeof *w->sum);
    w->tree = ct__zalloc(4 * n, sizeof *w->tree);
    w->centre = ct__zalloc(3 * n, sizeof *w->centre);
    w->turn = ct__zalloc(2 * n, sizeof *w->turn);
    return w->root && w->sum && w->tree && w->centre && w->turn;
}

static void free_work(work *w)
{
    void *const owned[] = {w->root, w->sum, w->tree, w->centre, w->turn};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}

static int has_position(ct_kind kind) { return kind == CT_SE2 || kind == CT_SE3 || kind == CT_R2 || kind == CT_R3; }

static void find_roots(work *w)
{
    for (int32_t i = 0; i < w->graph->variables; i++) {
        const int32_t v = w->queue[i];
        w->root[v] = w->parent[v] >= 0 ? w->root[w->parent[v]] : v;
    }
}

/* Positions and differences of x as it is. */
static void compare_headings(work *w)
{
    const ct_graph *g = w->graph;
    memset(w->sum, 0, 3 * (size_t)g->variables * sizeof *w->sum);
    memset(w->tree, 0, 4 * (size_t)g->variables * sizeof *w->tree);
    for (int32_t v = 0; v < g->variables; v++)
        if (has_position((ct_kind)g->kind[v]))
            memcpy(w->centre + 3 * (int64_t)v, w->x + g->offset[v], 2 * sizeof *w->x);
    for (int32_t i = 0; i < g->factors; i++) {
        const ct_factor f = ct__without_bias(ct_graph_factor(g, i));
        double          c, s;
        if (!difference(&f, w->x + g->offset[f.var[0]], &c, &s)) continue;
        double *own = w->sum + 3 * (int64_t)f.var[0], *all = w->tree + 4 * (int64_t)w->root[f.var[0]];
        own[0] += c, own[1] += s, own[2]++;
        all[0] += c, all[1] += s, all[2]++, all[3] += c < cos(FAR);
    }
}

/* ---- Headings along a tree ---------------------------------------------------------------------- */

/* a of the poses of one tree that have headings. `at`: numbers of its variables with headings in the queue. */
static void smooth(work *w, int64_t count, const int32_t *at)
{
    for (int64_t i = 0; i < count; i++) {
        double c = 0, s = 0;
        for (int64_t j = i - WINDOW / 2; j <= i + WINDOW / 2; j++) {
            if (j < 0 || j >= count) continue;
            const double *d = w->sum + 3 * (int64_t)at[j];
            c += d[0] / d[2], s += d[1] / d[2];
        }
        const double n = hypot(c, s);
        double      *a = w->turn + 2 * (int64_t)at[i];
        a[0] = n > 0 ? c / n : 1, a[1] = n > 0 ? s / n : 0;
    }
}

static void follow_tree(work *w, int32_t root, int begun, int32_t *at)
{
    const ct_graph *g = w->graph;
    int64_t         count = 0;
    for (int32_t i = 0; i < g->variables; i++)
        if (w->root[w->queue[i]] == root && w->sum[3 * (int64_t)w->queue[i] + 2] > 0) at[count++] = w->queue[i];
    smooth(w, count, at);
    double *first = w->turn + 2 * (int64_t)root;
    if (begun) memmove(first, w->turn + 2 * (int64_t)at[0], 2 * sizeof *first);
    else first[0] = 1, first[1] = 0; /* the root has a value */
    for (int32_t i = 0; i < g->variables; i++) {
        const int32_t v = w->queue[i], u = w->parent[v];
        if (w->root[v] != root) continue;
        double *a = w->turn + 2 * (int64_t)v;
        if (u >= 0 && w->sum[3 * (int64_t)v + 2] == 0) memcpy(a, w->turn + 2 * (int64_t)u, 2 * sizeof *a);
        if (g->fixed[v] || !has_position((ct_kind)g->kind[v])) continue;
        const double *p = w->centre + 3 * (int64_t)v;
        turn(g, v, a[0], a[1], p, w->x); /* in its place */
        if (u < 0) continue;
        const double *b = w->turn + 2 * (int64_t)u, *from = w->centre + 3 * (int64_t)u, *now = w->x + g->offset[u];
        const double  dx = p[0] - from[0], dy = p[1] - from[1];
        w->x[g->offset[v]] = now[0] + b[0] * dx - b[1] * dy;
        w->x[g->offset[v] + 1] = now[1] + b[1] * dx + b[0] * dy;
    }
}

static ct_status follow_headings(work *w, const uint8_t *begun, ct_err *err)
{
    const ct_graph *g = w->graph;
    int32_t        *at = NULL;
    for (int32_t v = 0; v < g->variables; v++) {
        const double *all = w->tree + 4 * (int64_t)v;
        if (w->root[v] != v || !(all[3] > all[2] / 2) || !has_position((ct_kind)g->kind[v])) continue;
        if (!at) at = ct__zalloc(g->variables, sizeof *at);
        if (!at) return ct__no_memory(err, "variables", g->variables);
        follow_tree(w, v, begun[v], at);
    }
    free(at);
    return CT_OK;
}

ct_status ct__turn_to_headings(const ct_graph *g, const int32_t *parent, const int32_t *queue, const uint8_t *begun,
                               double *x, ct_err *err)
{
    int  any = 0, turned = 0;
    work w = {.graph = g, .parent = parent, .queue = queue, .x = x};
    for (int32_t i = 0; i < g->factors && !any; i++)
        any = is_heading(ct_factor_unbiased(g->factor[i].ops));
    if (!any) return CT_OK;
    ct_status status = allocate(&w) ? CT_OK : ct__no_memory(err, "variables", g->variables);
    if (status == CT_OK) {
        find_roots(&w);
        compare_headings(&w);
    }
    for (int32_t v = 0; status == CT_OK && v < g->variables; v++) {
        const double *of = w.tree + 4 * (int64_t)w.root[v], n = hypot(of[0], of[1]);
        if (!begun[w.root[v]] || g->fixed[v] || !(n > 0)) continue;
        turn(g, v, of[0] / n, of[1] / n, w.centre + 3 * (int64_t)w.root[v], x);
        turned = 1;
    }
    if (status == CT_OK && turned) compare_headings(&w);
    if (status == CT_OK) status = follow_headings(&w, begun, err);
    free_work(&w);
    return status;
}
