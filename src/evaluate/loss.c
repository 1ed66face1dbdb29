/* loss.c: the difference of an estimate from the truth, and its derivative.
 *
 * A variable whose truth g is known in full, x <- x o Exp(d):
 *
 *     local   e = Log(g^-1 x)      g^-1 x Exp(d)                             D = Jr^-1(e)
 *     left    e = Log(x g^-1)      x Exp(d) g^-1 = (x g^-1) Exp(Ad(g) d)     D = Jr^-1(e) Ad(g)
 *
 * A pose whose truth is known in part: position t - t_g in the world, with D = R as t(x o Exp(d)) = t + R d_t +
 * O(d^2); rotation Log(R_g^-1 R), with D = Jr^-1. On R^n both are x - g, with D = I.
 *
 * It runs once per variable in every step of learning, most often on planar poses.
 */
#include "evaluate/evaluate.h"
#include "lie/se2_inline.h"
#include "lie/se3_inline.h"


/* ---- names ---- */

static const char *const names[CT_DIFFERENCE_COUNT] = {
#define X(constant, name) [constant] = name,
    CT_DIFFERENCE_LIST(X)
#undef X
};

const char *ct_difference_name(ct_difference difference)
{
    return ct__name_at(names, CT_DIFFERENCE_COUNT, (int)difference);
}

int ct_difference_find(const char *name) { return ct__find_name(name, names, CT_DIFFERENCE_COUNT); }

ct_loss ct_loss_defaults(void) { return (ct_loss){.difference = CT_DIFFERENCE_LOCAL, .translation = 1, .rotation = 1}; }

/* ---- differences; D may be NULL ---- */

static void of_points(int n, const double *g, const double *x, double *e, double *D)
{
    for (int i = 0; i < n; i++) e[i] = x[i] - g[i];
    for (int i = 0; D && i < n * n; i++) D[i] = i % (n + 1) == 0;
}

static void of_so2(const double *g, const double *x, double *e, double *D)
{
    e[0] = ct__so2_log(ct__so2_between(ct__so2_load(g), ct__so2_load(x)));
    if (D) D[0] = 1;
}

static void of_so3(int left, ct_so3 g, ct_so3 x, double *e, double *D)
{
    const ct__so3_chart at = ct__so3_chart_at(left ? ct__so3_compose(x, ct__so3_inverse(g)) : ct__so3_between(g, x));
    double              J[9], R[9];
    memcpy(e, at.w, sizeof at.w);
    if (!D) return;
    ct__so3_jr_inv(&at, left ? J : D);
    if (!left) return;
    ct__so3_matrix(g, R);
    ct__mul33(J, R, D);
}

static void of_se2(int left, ct_se2 g, ct_se2 x, double *e, double *D)
{
    const ct__se2_chart at = ct__se2_chart_at(left ? ct__se2_compose(x, ct__se2_inverse(g)) : ct__se2_between(g, x));
    double              J[9], Ad[9];
    memcpy(e, at.v, sizeof at.v);
    if (!D) return;
    ct__se2_jr_inv(&at, left ? J : D);
    if (!left) return;
    ct__se2_adjoint(g, Ad);
    ct__mul33(J, Ad, D);
}

/* [J 0; K J] [R 0; [t]R R] = [JR 0; (K + J[t])R JR]. */
static void of_se3(int left, ct_se3 g, ct_se3 x, double *e, double *D)
{
    const ct__se3_chart at = ct__se3_chart_at(left ? ct__se3_compose(x, ct__se3_inverse(g)) : ct__se3_between(g, x));
    double              J[9], K[9], R[9], JR[9], KR[9];
    ct__se3_chart_tangent(&at, e);
    if (!D) return;
    ct__se3_jr_inv_blocks(&at, J, K);
    if (!left) {
        ct__se3_blocks(J, K, D);
        return;
    }
    ct__mul33_skew(J, (const double[3]){g.x, g.y, g.z}, R);
    for (int i = 0; i < 9; i++) K[i] += R[i];
    ct__so3_matrix(ct__se3_rotation(g), R);
    ct__mul33(J, R, JR);
    ct__mul33(K, R, KR);
    ct__se3_blocks(JR, KR, D);
}

static void of_whole(int left, ct_kind kind, const double *g, const double *x, double *e, double *D)
{
    switch (kind) {
    case CT_SE2: of_se2(left, ct__se2_load(g), ct__se2_load(x), e, D); return;
    case CT_SE3: of_se3(left, ct__se3_load(g), ct__se3_load(x), e, D); return;
    case CT_SO2: of_so2(g, x, e, D); return;
    case CT_SO3: of_so3(left, ct__so3_load(g), ct__so3_load(x), e, D); return;
    default: of_points(ct_kind_dim(kind), g, x, e, D); return;
    }
}

/* Position in the world and rotation, each for itself. */
static void of_parts(ct_kind kind, const double *g, const double *x, double *e, double *D)
{
    const int dim = ct_kind_dim(kind);
    if (D) memset(D, 0, (size_t)(dim * dim) * sizeof *D);
    if (kind == CT_SE2) {
        of_points(2, g, x, e, NULL);
        of_so2(g + 2, x + 2, e + 2, NULL);
        if (D) D[0] = x[2], D[1] = -x[3], D[3] = x[3], D[4] = x[2], D[8] = 1;
    } else if (kind == CT_SE3) {
        double J[9], R[9];
        of_so3(0, ct__so3_load(g + 3), ct__so3_load(x + 3), e, J);
        of_points(3, g, x, e + 3, NULL);
        ct__so3_matrix(ct__so3_load(x + 3), R);
        for (int i = 0; D && i < 9; i++) D[i / 3 * 6 + i % 3] = J[i], D[i / 3 * 6 + i % 3 + 21] = R[i];
    } else {
        of_points(dim, g, x, e, D);
    }
}

/* ---- the loss ---- */

ct_status ct__check_loss(const ct_loss *loss, ct_err *err)
{
    if ((unsigned)loss->difference >= CT_DIFFERENCE_COUNT)
        return ct_fail(err, CT_E_ARGUMENT, "difference %d from the truth is not one", (int)loss->difference);
    if (loss->translation >= 0 && loss->rotation >= 0 && isfinite(loss->translation) && isfinite(loss->rotation))
        return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT,
                   "weights %g of translations and %g of rotations in the loss: both must be finite and not negative",
                   loss->translation, loss->rotation);
}

/* Coordinates of v that count, as bits. */
static unsigned counted(const ct_loss *loss, const ct_sequence *seq, int32_t v)
{
    if (v < 0 || v >= seq->graph->variables || seq->graph->fixed[v]) return 0;
    const unsigned turns = ct__turns[seq->graph->kind[v]];
    return ct__known(seq, v) & ((loss->rotation > 0 ? turns : 0) | (loss->translation > 0 ? ~turns : 0));
}

int64_t ct_loss_terms(const ct_loss *loss, const ct_sequence *seq)
{
    int64_t terms = 0;
    for (int32_t v = 0; v < seq->graph->variables; v++)
        for (unsigned bits = counted(loss, seq, v); bits; bits &= bits - 1) terms++;
    return terms;
}

/* Rows of e and D times sqrt(w), or zero where they do not count. */
static void weigh(const ct_loss *loss, ct_kind kind, unsigned counts, double *e, double *D)
{
    const int    dim = ct_kind_dim(kind);
    const double metres = sqrt(loss->translation), radians = sqrt(loss->rotation);
    for (int i = 0; i < dim; i++) {
        const double w = ct__turns[kind] >> i & 1 ? radians : metres;
        e[i] = counts >> i & 1 ? w * e[i] : 0; /* what does not count may be any number */
        for (int j = 0; D && j < dim; j++) D[i * dim + j] = counts >> i & 1 ? w * D[i * dim + j] : 0;
    }
}

double ct_loss_variable(const ct_loss *loss, const ct_sequence *seq, int32_t v, const double *x, double e[CT_DIM_MAX],
                        double *D)
{
    const ct_graph *graph = seq->graph;
    const ct_kind   kind = ct_graph_kind(graph, v);
    const int       dim = ct_kind_dim(kind);
    const unsigned  counts = counted(loss, seq, v);
    if (!counts) {
        memset(e, 0, (size_t)dim * sizeof *e);
        if (D) memset(D, 0, (size_t)(dim * dim) * sizeof *D);
        return 0;
    }
    const double *truth = seq->truth + graph->offset[v];
    const int     whole = ct__known(seq, v) == ct__all_of(kind);
    if (whole) of_whole(loss->difference == CT_DIFFERENCE_LEFT, kind, truth, x, e, D);
    else of_parts(kind, truth, x, e, D);
    if (!whole || loss->translation != 1 || loss->rotation != 1) weigh(loss, kind, counts, e, D);
    double sum = 0;
    for (int i = 0; i < dim; i++) sum += e[i] * e[i];
    return sum / 2;
}

double ct_loss_value(const ct_loss *loss, const ct_sequence *seq, const double *x)
{
    double e[CT_DIM_MAX], sum = 0;
    for (int32_t v = 0; v < seq->graph->variables; v++)
        sum += ct_loss_variable(loss, seq, v, x + seq->graph->offset[v], e, NULL);
    return sum;
}
