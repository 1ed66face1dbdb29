/* test_relative_error.c: alignment and relative pose error, against slow formulas with 4 x 4 matrices. */
#include "ct_test.h"

#include <covtune/covtune.h>

#define POSES 60

typedef struct {
    ct_sequence *seq;
    double      *x;
    ct_err       err;
} track;

/* A winding path and an estimate that drifts from it; every third pose of a second body "o" where asked for. */
static track make_track(ct_kind kind, int bodies, uint64_t seed)
{
    const int dim = ct_kind_dim(kind), size = ct_kind_size(kind);
    track     t = {0};
    ct_graph *graph = NULL;
    ct_rng    rng = ct_rng_seed(seed);
    double    truth[2][CT_SIZE_MAX], estimate[2][CT_SIZE_MAX];
    CHECK_OK(ct_graph_new(&graph, &t.err), t.err);
    CHECK_OK(ct_sequence_new(graph, &t.seq, &t.err), t.err);
    t.seq->truth = calloc((size_t)(POSES * size), sizeof(double));
    t.seq->known = malloc(POSES);
    t.x = calloc((size_t)(POSES * size), sizeof(double));
    memset(t.seq->known, (1 << dim) - 1, POSES);
    for (int b = 0; b < 2; b++) ct_kind_identity(kind, truth[b]), ct_kind_identity(kind, estimate[b]);
    for (int v = 0; v < POSES; v++) {
        const int b = bodies > 1 && v % 3 == 2;
        double    step[CT_DIM_MAX], other[CT_DIM_MAX];
        char      name[16];
        for (int i = 0; i < dim; i++) {
            step[i] = 0.3 + 0.4 * ct_rng_normal(&rng);
            other[i] = step[i] + 0.02 * ct_rng_normal(&rng);
        }
        ct_kind_retract(kind, truth[b], step, truth[b]);
        ct_kind_retract(kind, estimate[b], other, estimate[b]);
        memcpy(t.seq->truth + v * size, truth[b], (size_t)size * sizeof(double));
        memcpy(t.x + v * size, estimate[b], (size_t)size * sizeof(double));
        snprintf(name, sizeof name, "%s%d", b ? "o" : "x", v);
        CHECK_OK(ct_graph_add_variable(graph, name, kind, estimate[b], NULL, &t.err), t.err);
    }
    return t;
}

static void free_track(track *t)
{
    ct_sequence_free(t->seq);
    free(t->x);
}

/* ---- the slow way -------------------------------------------------------------------------------- */

static void matrix_of(ct_kind kind, const double *x, double M[16])
{
    double R[9] = {x[2], -x[3], 0, x[3], x[2], 0, 0, 0, 1};
    if (kind == CT_SE3) ct_so3_matrix((ct_so3){x[3], x[4], x[5], x[6]}, R);
    for (int i = 0; i < 16; i++) M[i] = i / 4 == 3 ? i == 15 : i % 4 == 3 ? 0 : R[i / 4 * 3 + i % 4];
    M[3] = x[0], M[7] = x[1], M[11] = kind == CT_SE3 ? x[2] : 0;
}

static void multiply(const double A[16], const double B[16], double C[16])
{
    for (int i = 0; i < 16; i++) {
        C[i] = 0;
        for (int k = 0; k < 4; k++) C[i] += A[i / 4 * 4 + k] * B[4 * k + i % 4];
    }
}

static void invert(const double A[16], double B[16])
{
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) B[4 * i + k] = A[4 * k + i];
        B[4 * i + 3] = -(A[i] * A[3] + A[4 + i] * A[7] + A[8 + i] * A[11]);
        B[12 + i] = 0;
    }
    B[15] = 1;
}

static void between(const double A[16], const double B[16], double C[16])
{
    double inverse[16];
    invert(A, inverse);
    multiply(inverse, B, C);
}

/* The path is measured anew for every pair: O(n^3). */
static double path(const track *t, ct_kind kind, const int *at, int i, int j)
{
    double length = 0;
    for (int k = i; k < j; k++) {
        double A[16], B[16];
        matrix_of(kind, t->seq->truth + at[k] * ct_kind_size(kind), A);
        matrix_of(kind, t->seq->truth + at[k + 1] * ct_kind_size(kind), B);
        length += sqrt(pow(A[3] - B[3], 2) + pow(A[7] - B[7], 2) + pow(A[11] - B[11], 2));
    }
    return length;
}

static ct_rpe slow_rpe(const track *t, ct_kind kind, int n, const int *at, double length)
{
    ct_rpe    out = {.length = length};
    const int size = ct_kind_size(kind);
    for (int i = 0; i < n; i++) {
        int j = i;
        while (j < n && path(t, kind, at, i, j) < length) j++;
        if (j == n) continue;
        double G[2][16], X[2][16], g[16], x[16], E[16];
        for (int k = 0; k < 2; k++) {
            matrix_of(kind, t->seq->truth + at[k ? j : i] * size, G[k]);
            matrix_of(kind, t->x + at[k ? j : i] * size, X[k]);
        }
        between(G[0], G[1], g);
        between(X[0], X[1], x);
        between(g, x, E);
        out.segments++;
        out.translation += E[3] * E[3] + E[7] * E[7] + E[11] * E[11];
        const double sine = 0.5 * sqrt(pow(E[9] - E[6], 2) + pow(E[2] - E[8], 2) + pow(E[4] - E[1], 2));
        out.rotation += pow(atan2(sine, 0.5 * (E[0] + E[5] + E[10] - 1)), 2);
    }
    out.translation = sqrt(out.translation / (double)out.segments);
    out.rotation = sqrt(out.rotation / (double)out.segments);
    return out;
}

static double square_distance(const track *t, ct_kind kind, const double *y)
{
    const int size = ct_kind_size(kind);
    double    sum = 0;
    for (int v = 0; v < POSES; v++)
        for (int i = 0; i < (kind == CT_SE2 ? 2 : 3); i++) sum += pow(y[v * size + i] - t->seq->truth[v * size + i], 2);
    return sum;
}

/* ---- laws ---------------------------------------------------------------------------------------- */

static const ct_kind KIND[] = {CT_SE2, CT_SE3};

static void test_relative_error_is_that_of_matrices(void)
{
    for (int k = 0; k < 2; k++)
        for (int bodies = 1; bodies <= 2; bodies++) {
            track  t = make_track(KIND[k], bodies, 3);
            int    at[POSES], n = 0;
            double length[3] = {0.7, 4, 1e6};
            ct_rpe found[3];
            for (int v = 0; v < POSES; v++)
                if (bodies == 1 || v % 3 != 2) at[n++] = v;
            CHECK_NEAR(ct_truth_length(t.seq, bodies > 1 ? "x" : NULL), path(&t, KIND[k], at, 0, n - 1), 1e-10);
            CHECK_OK(ct_rpe_over(t.seq, t.x, bodies > 1 ? "x" : NULL, 3, length, found, &t.err), t.err);
            for (int i = 0; i < 2; i++) {
                const ct_rpe slow = slow_rpe(&t, KIND[k], n, at, length[i]);
                CHECK(found[i].segments == slow.segments && slow.segments > 10 && found[i].length == length[i]);
                CHECK_NEAR(found[i].translation, slow.translation, 1e-12);
                CHECK_NEAR(found[i].rotation, slow.rotation, 1e-12);
            }
            CHECK(!found[2].segments && isnan(found[2].translation) && isnan(found[2].rotation));
            free_track(&t);
        }
}

static void test_relative_error_does_not_depend_on_the_frame(void)
{
    for (int k = 0; k < 2; k++) {
        track  t = make_track(KIND[k], 1, 5);
        double y[POSES * CT_SIZE_MAX], length = 3;
        ct_rpe before, after;
        CHECK_OK(ct_align(t.seq, CT_ALIGN_RIGID, t.x, y, NULL, &t.err), t.err);
        CHECK_OK(ct_rpe_over(t.seq, t.x, NULL, 1, &length, &before, &t.err), t.err);
        CHECK_OK(ct_rpe_over(t.seq, y, NULL, 1, &length, &after, &t.err), t.err);
        CHECK_NEAR(before.translation, after.translation, 1e-12);
        CHECK_NEAR(before.rotation, after.rotation, 1e-12);
        free_track(&t);
    }
}

static void test_a_moved_truth_is_moved_back(void)
{
    for (int k = 0; k < 2; k++)
        for (int how = CT_ALIGN_FIRST; how < CT_ALIGN_COUNT; how++) {
            track        t = make_track(KIND[k], 1, 7);
            const double w[3] = {k ? 0.9 : 0, k ? -0.4 : 0, 2.1};
            const ct_so3 q = ct_so3_exp(w);
            ct_se3       T, M = ct_se3_make((const double[]){3, -8, k ? 5 : 0}, q);
            /* the estimate is M truth, so that T is M^-1 */
            for (int v = 0; v < POSES; v++) {
                const double *g = t.seq->truth + v * ct_kind_size(KIND[k]);
                double       *x = t.x + v * ct_kind_size(KIND[k]);
                if (k) {
                    const ct_se3 a = ct_se3_compose(M, (ct_se3){g[0], g[1], g[2], g[3], g[4], g[5], g[6]}, NULL, NULL);
                    memcpy(x, (double[]){a.x, a.y, a.z, a.qx, a.qy, a.qz, a.qw}, 7 * sizeof *x);
                } else {
                    const ct_se2 a =
                        ct_se2_compose(ct_se2_make(3, -8, 2.1), (ct_se2){g[0], g[1], g[2], g[3]}, NULL, NULL);
                    memcpy(x, (double[]){a.x, a.y, a.c, a.s}, 4 * sizeof *x);
                }
            }
            CHECK_OK(ct_align(t.seq, (ct_align_kind)how, t.x, t.x, &T, &t.err), t.err);
            const ct_accuracy a = ct_accuracy_of(t.seq, t.x);
            CHECK(a.ape_translation < 1e-12 && a.rotation < 1e-12);
            const ct_se3 one = ct_se3_compose(T, M, NULL, NULL);
            CHECK(fabs(one.x) + fabs(one.y) + fabs(one.z) < 1e-11 && fabs(fabs(one.qw) - 1) < 1e-12);
            free_track(&t);
        }
}

/* No small motion of the aligned estimate brings it nearer. */
static void test_rigid_alignment_is_the_minimum(void)
{
    for (int k = 0; k < 2; k++) {
        track        t = make_track(KIND[k], 1, 11);
        const int    size = ct_kind_size(KIND[k]), dim = ct_kind_dim(KIND[k]);
        double       y[POSES * CT_SIZE_MAX], z[POSES * CT_SIZE_MAX];
        CHECK_OK(ct_align(t.seq, CT_ALIGN_RIGID, t.x, y, NULL, &t.err), t.err);
        const double least = square_distance(&t, KIND[k], y);
        CHECK(least < square_distance(&t, KIND[k], t.x));
        for (int i = 0; i < 2 * dim; i++) {
            double d[CT_DIM_MAX] = {0}, M[CT_SIZE_MAX];
            d[i / 2] = i % 2 ? 1e-3 : -1e-3;
            ct_kind_identity(KIND[k], M);
            ct_kind_retract(KIND[k], M, d, M);
            for (int v = 0; v < POSES; v++) {
                const double *p = y + v * size;
                if (!k) ct_se2_act((ct_se2){M[0], M[1], M[2], M[3]}, p, z + v * size, NULL, NULL);
                else ct_se3_act((ct_se3){M[0], M[1], M[2], M[3], M[4], M[5], M[6]}, p, z + v * size, NULL, NULL);
            }
            CHECK(square_distance(&t, KIND[k], z) > least);
        }
        free_track(&t);
    }
}

static void test_what_cannot_be_aligned_is_refused(void)
{
    track  t = make_track(CT_SE3, 1, 13);
    double y[POSES * CT_SIZE_MAX], length = 1;
    ct_rpe rpe;
    CHECK(ct_align(t.seq, (ct_align_kind)CT_ALIGN_COUNT, t.x, y, NULL, &t.err) == CT_E_ARGUMENT);
    CHECK_OK(ct_align(t.seq, CT_ALIGN_NONE, t.x, y, NULL, &t.err), t.err);
    CHECK(!memcmp(y, t.x, POSES * 7 * sizeof *y));
    for (int v = 0; v < POSES; v++) { /* on a line */
        t.seq->truth[7 * v] = t.x[7 * v] = v;
        t.seq->truth[7 * v + 1] = t.seq->truth[7 * v + 2] = t.x[7 * v + 1] = t.x[7 * v + 2] = 0;
    }
    CHECK(ct_align(t.seq, CT_ALIGN_RIGID, t.x, y, NULL, &t.err) == CT_E_SINGULAR);
    memset(t.seq->known, 0x38, POSES); /* positions alone */
    CHECK(ct_align(t.seq, CT_ALIGN_FIRST, t.x, y, NULL, &t.err) == CT_E_ARGUMENT);
    CHECK_OK(ct_rpe_over(t.seq, t.x, NULL, 1, &length, &rpe, &t.err), t.err);
    CHECK(!rpe.segments && isnan(rpe.translation) && ct_truth_length(t.seq, NULL) == 0);
    memset(t.seq->known, 0, POSES);
    CHECK(ct_align(t.seq, CT_ALIGN_RIGID, t.x, y, NULL, &t.err) == CT_E_ARGUMENT);
    for (int k = 0; k < CT_ALIGN_COUNT; k++) CHECK(ct_align_find(ct_align_name((ct_align_kind)k)) == k);
    CHECK(ct_align_find("umeyama") == -1 && ct_align_find(NULL) == -1);
    free_track(&t);
}

int main(void)
{
    RUN(test_relative_error_is_that_of_matrices);
    RUN(test_relative_error_does_not_depend_on_the_frame);
    RUN(test_a_moved_truth_is_moved_back);
    RUN(test_rigid_alignment_is_the_minimum);
    RUN(test_what_cannot_be_aligned_is_refused);
    return ct_test_end();
}
