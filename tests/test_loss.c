/* test_loss.c: the difference from the truth, on all kinds and for every part of the truth that may be known: against
 * lie.h's public functions, and its derivative against differences. */
#include "graph_test.h"

#include <covtune/evaluate.h>

/* ---- a sequence with the truth of a random graph, and values off it ---- */

typedef struct {
    world       w;
    ct_sequence seq;
    uint8_t     known[64];
    double     *x;
} fixture;

static void begin(fixture *f, uint64_t seed, int parts)
{
    *f = (fixture){0};
    world_make(&f->w, seed, parts);
    CHECK(ct_graph_variables(f->w.graph) <= 64);
    f->seq = (ct_sequence){.graph = f->w.graph, .truth = f->w.truth, .known = f->known};
    f->x = copy_values(f->w.graph, f->w.truth);
    for (int32_t v = 0; v < ct_graph_variables(f->w.graph); v++) {
        const ct_kind kind = ct_graph_kind(f->w.graph, v);
        f->known[v] = (uint8_t)((1u << ct_kind_dim(kind)) - 1);
        jitter(&f->w, kind, 0.4, f->x + ct_graph_offset(f->w.graph, v));
    }
}

static void end(fixture *f)
{
    free(f->x);
    world_free(&f->w);
}

static unsigned rotation_of(ct_kind kind)
{
    return kind == CT_SO2 ? 1 : kind == CT_SE2 ? 4 : kind == CT_SO3 || kind == CT_SE3 ? 7 : 0;
}

/* Log(x g^-1) with the public functions. */
static void left(ct_kind kind, const double *g, const double *x, double *e)
{
    if (kind == CT_SE2) {
        const ct_se2 a = {g[0], g[1], g[2], g[3]}, b = {x[0], x[1], x[2], x[3]};
        ct_se2_log(ct_se2_compose(b, ct_se2_inverse(a, NULL), NULL, NULL), e);
    } else if (kind == CT_SE3) {
        const ct_se3 a = {g[0], g[1], g[2], g[3], g[4], g[5], g[6]}, b = {x[0], x[1], x[2], x[3], x[4], x[5], x[6]};
        ct_se3_log(ct_se3_compose(b, ct_se3_inverse(a, NULL), NULL, NULL), e);
    } else if (kind == CT_SO3) {
        const ct_so3 a = {g[0], g[1], g[2], g[3]}, b = {x[0], x[1], x[2], x[3]};
        ct_so3_log(ct_so3_compose(b, ct_so3_inverse(a, NULL), NULL, NULL), e);
    } else {
        ct_kind_local(kind, g, x, e);
    }
}

/* What the header says, in its words. */
static void expected(const ct_loss *loss, ct_kind kind, unsigned known, const double *g, const double *x, double *e)
{
    const int      dim = ct_kind_dim(kind);
    const unsigned turn = rotation_of(kind);
    if (known == (1u << dim) - 1 && loss->difference == CT_DIFFERENCE_LEFT) left(kind, g, x, e);
    else ct_kind_local(kind, g, x, e);
    if (known != (1u << dim) - 1 && (kind == CT_SE2 || kind == CT_SE3))
        for (int i = 0; i < (kind == CT_SE2 ? 2 : 3); i++) e[(kind == CT_SE2 ? 0 : 3) + i] = x[i] - g[i];
    for (int i = 0; i < dim; i++) {
        const int turns = turn >> i & 1, counts = (known >> i & 1) && (!turns || (known & turn) == turn);
        e[i] = counts ? e[i] * sqrt(turns ? loss->rotation : loss->translation) : 0;
    }
}

static const ct_loss LOSSES[] = {{CT_DIFFERENCE_LOCAL, 1, 1},     {CT_DIFFERENCE_LEFT, 1, 1},
                                 {CT_DIFFERENCE_LOCAL, 2.5, 0.3}, {CT_DIFFERENCE_LEFT, 0.5, 7},
                                 {CT_DIFFERENCE_LOCAL, 0, 2},     {CT_DIFFERENCE_LEFT, 3, 0}};
#define LOSS_COUNT ((int)(sizeof LOSSES / sizeof *LOSSES))

/* Calls `check` for every variable, every part of its truth and every loss. */
static void for_all(fixture *f, void (*check)(fixture *f, const ct_loss *loss, int32_t v))
{
    for (int32_t v = 0; v < ct_graph_variables(f->w.graph); v++) {
        const uint8_t all = f->known[v];
        for (unsigned known = 0; known <= all; known++)
            for (int k = 0; k < LOSS_COUNT; k++) {
                f->known[v] = (uint8_t)known;
                check(f, &LOSSES[k], v);
            }
        f->known[v] = all;
    }
}

/* ---- laws ---- */

static void check_difference(fixture *f, const ct_loss *loss, int32_t v)
{
    const ct_kind kind = ct_graph_kind(f->w.graph, v);
    const int64_t at = ct_graph_offset(f->w.graph, v);
    double        e[CT_DIM_MAX], same[CT_DIM_MAX], want[CT_DIM_MAX], D[36], half = 0;
    const double  value = ct_loss_variable(loss, &f->seq, v, f->x + at, e, NULL);
    CHECK(ct_loss_variable(loss, &f->seq, v, f->x + at, same, D) == value);
    expected(loss, kind, f->known[v], f->w.truth + at, f->x + at, want);
    for (int i = 0; i < ct_kind_dim(kind); i++) {
        CHECK_NEAR(e[i], want[i], 1e-12 * (1 + fabs(want[i])));
        CHECK(e[i] == same[i]);
        half += e[i] * e[i] / 2;
    }
    CHECK_NEAR(value, half, 1e-14 * (1 + half));
}

static void test_differences_are_those_of_the_header(void)
{
    fixture f;
    begin(&f, 1, PLANE | SPACE | VECTORS | LANDMARKS);
    for_all(&f, check_difference);
    end(&f);
}

/* Central differences of order eight. */
static void check_derivative(fixture *f, const ct_loss *loss, int32_t v)
{
    static const double weight[4] = {4. / 5, -1. / 5, 4. / 105, -1. / 280};
    const ct_kind       kind = ct_graph_kind(f->w.graph, v);
    const int           dim = ct_kind_dim(kind);
    const double       *x = f->x + ct_graph_offset(f->w.graph, v), h = 0.02;
    double              e[CT_DIM_MAX], D[36], slope[36] = {0};
    ct_loss_variable(loss, &f->seq, v, x, e, D);
    for (int j = 0; j < dim; j++)
        for (int k = 1; k <= 4; k++)
            for (int sign = -1; sign <= 1; sign += 2) {
                double d[CT_DIM_MAX] = {0}, y[CT_SIZE_MAX];
                d[j] = sign * k * h;
                ct_kind_retract(kind, x, d, y);
                ct_loss_variable(loss, &f->seq, v, y, e, NULL);
                for (int i = 0; i < dim; i++) slope[i * dim + j] += sign * weight[k - 1] * e[i] / h;
            }
    for (int i = 0; i < dim * dim; i++) CHECK_NEAR(D[i], slope[i], 1e-9 * (1 + fabs(D[i])));
}

static void test_derivatives_are_those_of_differences(void)
{
    fixture f;
    begin(&f, 2, PLANE | SPACE | VECTORS | LANDMARKS);
    for_all(&f, check_derivative);
    end(&f);
}

/* At the truth the local difference is zero, and its derivative the identity: Gauss-Newton of the loss sees tangent
 * vectors as they are. */
static void test_nothing_is_lost_at_the_truth(void)
{
    fixture       f;
    const ct_loss loss = ct_loss_defaults();
    begin(&f, 3, PLANE | SPACE | VECTORS);
    CHECK(loss.difference == CT_DIFFERENCE_LOCAL && loss.translation == 1 && loss.rotation == 1);
    CHECK_NEAR(ct_loss_value(&loss, &f.seq, f.w.truth), 0, 1e-28);
    for (int32_t v = 0; v < ct_graph_variables(f.w.graph); v++) {
        const int dim = ct_kind_dim(ct_graph_kind(f.w.graph, v));
        double    e[CT_DIM_MAX], D[36];
        ct_loss_variable(&loss, &f.seq, v, f.w.truth + ct_graph_offset(f.w.graph, v), e, D);
        for (int i = 0; i < dim * dim; i++) CHECK_NEAR(D[i], i % (dim + 1) == 0, 1e-12);
    }
    end(&f);
}

static void test_a_sequence_is_the_sum_of_what_counts(void)
{
    fixture f;
    begin(&f, 4, PLANE | SPACE | VECTORS | FIXED);
    for (int32_t v = 0; v < ct_graph_variables(f.w.graph); v += 3) f.known[v] &= 5;
    for (int k = 0; k < LOSS_COUNT; k++) {
        double  sum = 0;
        int64_t terms = 0;
        for (int32_t v = 0; v < ct_graph_variables(f.w.graph); v++) {
            double    e[CT_DIM_MAX], D[36];
            const int dim = ct_kind_dim(ct_graph_kind(f.w.graph, v));
            const double value = ct_loss_variable(&LOSSES[k], &f.seq, v, f.x + ct_graph_offset(f.w.graph, v), e, D);
            sum += value;
            for (int i = 0; i < dim; i++) {
                double row = 0;
                for (int j = 0; j < dim; j++) row += fabs(D[i * dim + j]);
                terms += row > 0;
                CHECK(!ct_graph_fixed(f.w.graph, v) || (row == 0 && e[i] == 0));
            }
        }
        CHECK(sum > 0 && ct_loss_value(&LOSSES[k], &f.seq, f.x) == sum && ct_loss_terms(&LOSSES[k], &f.seq) == terms);
    }
    const ct_sequence unknown = {.graph = f.w.graph};
    CHECK(ct_loss_value(LOSSES, &unknown, f.x) == 0 && ct_loss_terms(LOSSES, &unknown) == 0);
    end(&f);
}

/* Where the world's origin lies does not matter to the local difference; to the left one it does. */
static void test_the_local_loss_knows_no_origin(void)
{
    fixture      f;
    double       before[2], after[2];
    const ct_se2 move = ct_se2_make(300, -200, 2);
    begin(&f, 5, PLANE);
    for (int k = 0; k < 2; k++) before[k] = ct_loss_value(&LOSSES[k], &f.seq, f.x);
    for (int32_t v = 0; v < ct_graph_variables(f.w.graph); v++)
        for (int k = 0; k < 2; k++) {
            double      *x = (k ? f.x : f.w.truth) + ct_graph_offset(f.w.graph, v);
            const ct_se2 moved = ct_se2_compose(move, (ct_se2){x[0], x[1], x[2], x[3]}, NULL, NULL);
            memcpy(x, &moved, sizeof moved);
        }
    for (int k = 0; k < 2; k++) after[k] = ct_loss_value(&LOSSES[k], &f.seq, f.x);
    CHECK_NEAR(after[0] / before[0], 1, 1e-10);
    CHECK(after[1] > 100 * before[1]);
    end(&f);
}

static void test_names_are_found(void)
{
    for (int i = 0; i < CT_DIFFERENCE_COUNT; i++) CHECK(ct_difference_find(ct_difference_name((ct_difference)i)) == i);
    for (int i = 0; i < CT_START_COUNT; i++) CHECK(ct_start_find(ct_start_name((ct_start)i)) == i);
    CHECK(ct_difference_find("right") == -1 && ct_start_find("") == -1);
    CHECK(!strcmp(ct_difference_name((ct_difference)9), "?") && !strcmp(ct_start_name(CT_START_COUNT), "?"));
}

int main(void)
{
    RUN(test_differences_are_those_of_the_header);
    RUN(test_derivatives_are_those_of_differences);
    RUN(test_nothing_is_lost_at_the_truth);
    RUN(test_a_sequence_is_the_sum_of_what_counts);
    RUN(test_the_local_loss_knows_no_origin);
    RUN(test_names_are_found);
    return ct_test_end();
}
