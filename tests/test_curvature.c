/* test_curvature.c: second derivatives of every built-in model, and of user models, against second differences of
 * the residual. */
#include <covtune/graph.h>

#include "ct_test.h"

enum { DRAWS = 60, Z_MAX = 32, N_MAX = CT_ARITY_MAX * CT_DIM_MAX };

typedef struct {
    const ct_factor_ops *ops;
    double               z[Z_MAX], value[CT_ARITY_MAX][CT_SIZE_MAX], u[CT_ROWS_MAX];
    const double        *x[CT_ARITY_MAX];
    int                  n;
    const ct_shape      *context; /* if it needs one */
} sample;

static ct_shape *shape[2]; /* round, and with corners */

static const ct_shape *shape_for(const ct_factor_ops *ops, ct_rng *rng)
{
    return ops->shaped ? shape[ct_rng_bits(rng) % 2] : NULL;
}

static void draw_element(ct_rng *rng, ct_kind kind, double size, double *x)
{
    double d[CT_DIM_MAX];
    for (int i = 0; i < ct_kind_dim(kind); i++) d[i] = size * ct_rng_normal(rng);
    ct_kind_identity(kind, x);
    ct_kind_retract(kind, x, d, x);
}

/* Any measurement that is not refused, any values; rotations of that size. */
static void draw(sample *s, const ct_factor_ops *ops, ct_rng *rng, double size)
{
    *s = (sample){.ops = ops, .context = shape_for(ops, rng)};
    do {
        for (int f = 0, at = 0; f < ops->fields; at += ct_kind_size(ops->field[f++]))
            draw_element(rng, ops->field[f], size, s->z + at);
    } while (ops->refuse && ops->refuse(s->z));
    for (int v = 0; v < ops->arity; v++) {
        draw_element(rng, ops->kind[v], size, s->value[v]);
        s->x[v] = s->value[v];
        s->n += ct_kind_dim(ops->kind[v]);
    }
    if (ops->shaped) s->value[1][0] += 1.3, s->value[1][1] += 0.9; /* in the middle of a shape there is a kink */
    for (int i = 0; i < ops->rows; i++) s->u[i] = ct_rng_normal(rng);
}

/* u'r at x o Exp(t d). */
static double value_at(const sample *s, const double *d, double t)
{
    double        y[CT_ARITY_MAX][CT_SIZE_MAX], step[N_MAX], r[CT_ROWS_MAX], sum = 0;
    const double *x[CT_ARITY_MAX];
    for (int k = 0; k < s->n; k++) step[k] = t * d[k];
    for (int v = 0, at = 0; v < s->ops->arity; at += ct_kind_dim(s->ops->kind[v++])) {
        ct_kind_retract(s->ops->kind[v], s->value[v], step + at, y[v]);
        x[v] = y[v];
    }
    s->ops->eval(s->z, s->context, x, r, NULL);
    for (int i = 0; i < s->ops->rows; i++) sum += s->u[i] * r[i];
    return sum;
}

/* d2/dt2 of that at 0, extrapolated over two steps: error t^4. */
static double second(const sample *s, const double *d, double t)
{
    const double middle = value_at(s, d, 0);
    const double near = (value_at(s, d, t) - middle) + (value_at(s, d, -t) - middle);
    const double far = (value_at(s, d, 2 * t) - middle) + (value_at(s, d, -2 * t) - middle);
    return (4 * near - far / 4) / (3 * t * t);
}

/* d'Kd along random d, and K symmetric. Where two step lengths disagree the point is no place for differences: an
 * angle that wraps, a point at arm's length. Returns whether anything was compared. */
static int check_directions(const sample *s, ct_rng *rng, double tolerance)
{
    double K[N_MAX * N_MAX], d[N_MAX];
    int    compared = 0;
    for (int i = 0; i < N_MAX * N_MAX; i++) K[i] = NAN;
    ct_factor_curvature(s->ops, s->z, s->context, s->x, s->u, K);
    for (int round = 0; round < 8; round++) {
        double form = 0;
        for (int k = 0; k < s->n; k++) d[k] = ct_rng_normal(rng);
        for (int j = 0; j < s->n; j++)
            for (int k = 0; k < s->n; k++) {
                form += d[j] * K[j * s->n + k] * d[k];
                CHECK_NEAR(K[j * s->n + k], K[k * s->n + j], 1e-12 * (1 + fabs(K[j * s->n + k])));
            }
        const double want = second(s, d, 1e-3), other = second(s, d, 5e-4);
        if (!(fabs(want - other) <= tolerance * (1 + fabs(want)))) continue;
        CHECK_NEAR(form, want, 3 * tolerance * (1 + fabs(want)));
        compared++;
    }
    return compared;
}

static void check_model(const ct_factor_ops *ops, double size, double tolerance)
{
    ct_rng rng = ct_rng_seed(11);
    int    compared = 0;
    for (int i = 0; i < DRAWS; i++) {
        sample s;
        draw(&s, ops, &rng, size);
        compared += check_directions(&s, &rng, tolerance);
    }
    if (compared < 2 * DRAWS) fprintf(stderr, "  %s: only %d compared\n", ops->name, compared);
    CHECK(compared >= 2 * DRAWS);
}

static void test_curvatures_are_second_derivatives_of_the_residual(void)
{
    for (int m = 0; ct_factor_at(m); m++) {
        const int failed = ct_test_failed_checks;
        check_model(ct_factor_at(m), 1, 1e-6);
        if (ct_test_failed_checks > failed) fprintf(stderr, "  %s\n", ct_factor_at(m)->name);
    }
}

static int is_sight(const ct_factor_ops *ops)
{
    static const char *const family[] = {"range", "bearing", "pixel", "stereo"};
    for (size_t i = 0; i < sizeof family / sizeof *family; i++)
        if (!strncmp(ops->name, family[i], strlen(family[i]))) return 1;
    return 0;
}

/* Below and above the angle where series take over, and where they are all that is left. Sights need points apart. */
static void test_curvatures_hold_at_small_angles(void)
{
    const double sizes[] = {0.15, 1e-2, 1e-5, 1e-9};
    for (int m = 0; ct_factor_at(m); m++) {
        const ct_factor_ops *ops = ct_factor_at(m);
        if (ops->jacobian == CT_JACOBIAN_APPROXIMATE || !ops->curvature || is_sight(ops) ||
            !strncmp(ops->name, "velocity", 8))
            continue;
        const int failed = ct_test_failed_checks;
        for (int i = 0; i < 4; i++) check_model(ops, sizes[i], 1e-7);
        if (ct_test_failed_checks > failed) fprintf(stderr, "  %s\n", ops->name);
    }
}

/* A sight of a point near the sensor, or far beside a camera: its third derivatives are too large for differences. */
static int is_steep(const sample *s, const double *K)
{
    for (int k = 0; is_sight(s->ops) && k < s->n * s->n; k++)
        if (fabs(K[k]) > 30) return 1;
    return 0;
}

/* What a model computes is what differences of its Jacobians give, entry by entry: a sharper comparison. */
static void test_analytic_curvatures_equal_differences_of_jacobians(void)
{
    ct_rng rng = ct_rng_seed(12);
    for (int m = 0; ct_factor_at(m); m++) {
        ct_factor_ops plain = *ct_factor_at(m);
        if (!plain.curvature && !plain.flat) continue;
        int compared = 0;
        plain.curvature = NULL;
        plain.flat = 0;
        for (int i = 0; i < DRAWS; i++) {
            sample s;
            double K[N_MAX * N_MAX], L[N_MAX * N_MAX], z_scale = 1;
            draw(&s, ct_factor_at(m), &rng, is_sight(&plain) ? 1 : i % 2 ? 0.8 : 0.1);
            if (!strncmp(plain.name, "velocity", 8)) z_scale = 1 / s.z[s.ops->rows];
            ct_factor_curvature(s.ops, s.z, s.context, s.x, s.u, K);
            if (is_steep(&s, K)) continue;
            compared++;
            ct_factor_curvature(&plain, s.z, s.context, s.x, s.u, L);
            for (int k = 0; k < s.n * s.n; k++) CHECK_NEAR(K[k], L[k], 3e-8 * (z_scale + fabs(K[k])));
        }
        CHECK(compared >= DRAWS / 4);
    }
}

static void test_no_residual_has_no_curvature(void)
{
    ct_rng rng = ct_rng_seed(13);
    for (int m = 0; ct_factor_at(m); m++) {
        sample s;
        double K[N_MAX * N_MAX];
        draw(&s, ct_factor_at(m), &rng, 1);
        for (int k = 0; k < N_MAX * N_MAX; k++) K[k] = NAN;
        memset(s.u, 0, sizeof s.u);
        ct_factor_curvature(s.ops, s.z, s.context, s.x, s.u, K);
        for (int k = 0; k < s.n * s.n; k++) CHECK(K[k] == 0);
    }
}

/* A user's model without derivatives: r = sin(x) y on two R1, and on one variable of a curved group. */
static void eval_product(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    (void)context, (void)J;
    r[0] = sin(x[0][0]) * x[1][0] - z[0];
}

static void test_numeric_models_have_curvatures(void)
{
    static const ct_factor_ops product = {.name = "product",
                                          .rows = 1,
                                          .arity = 2,
                                          .kind = {CT_R1, CT_R1},
                                          .fields = 1,
                                          .required = 1,
                                          .field = {CT_R1},
                                          .jacobian = CT_JACOBIAN_NUMERIC,
                                          .eval = eval_product,
                                          .coordinate = {"x"},
                                          .unit = {"m"}};
    const double a = 0.7, b = 1.3, z = 0.1, u = 2;
    double       K[4];
    ct_factor_curvature(&product, &z, NULL, (const double *[]){&a, &b}, &u, K);
    CHECK_NEAR(K[0], -u * sin(a) * b, 1e-6);
    CHECK_NEAR(K[1], u * cos(a), 1e-6);
    CHECK_NEAR(K[2], u * cos(a), 1e-6);
    CHECK_NEAR(K[3], 0, 1e-6);
    ct_factor_ops between = ct_between_se3;
    between.jacobian = CT_JACOBIAN_NUMERIC;
    between.curvature = NULL;
    check_model(&between, 0.5, 1e-6);
}

int main(void)
{
    ct_err err = {0};
    if (ct_shape_ellipse(0.7, 1.2, &shape[0], &err) != CT_OK || ct_shape_rectangle(1, 0.6, &shape[1], &err) != CT_OK)
        return EXIT_FAILURE;
    RUN(test_curvatures_are_second_derivatives_of_the_residual);
    RUN(test_curvatures_hold_at_small_angles);
    RUN(test_analytic_curvatures_equal_differences_of_jacobians);
    RUN(test_no_residual_has_no_curvature);
    RUN(test_numeric_models_have_curvatures);
    for (int i = 0; i < 2; i++) ct_shape_free(shape[i]);
    return ct_test_end();
}
