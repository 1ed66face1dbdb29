/* test_bias.c: measurement models with a bias, and the processes of biases. Laws run over all of them. */
#include <covtune/graph.h>

#include "ct_test.h"

enum { DRAWS = 25, Z_MAX = 80 };

typedef struct {
    const ct_factor_ops *ops, *inner;
    int k, world;
    double z[Z_MAX], value[CT_ARITY_MAX][CT_SIZE_MAX];
    const double *x[CT_ARITY_MAX];
} sample;

static void draw_element(ct_rng *rng, ct_kind kind, double *x)
{
    double d[CT_DIM_MAX];
    for (int i = 0; i < ct_kind_dim(kind); i++) d[i] = ct_rng_normal(rng);
    ct_kind_identity(kind, x);
    ct_kind_retract(kind, x, d, x);
}

/* Distinct rows: a rotation of those that there are. */
static void draw(sample *s, ct_rng *rng)
{
    const int size = ct_factor_z_size(s->inner), se3 = s->inner->kind[0] == CT_SE3;
    const int first = s->world && se3 ? 3 : 0, rows = s->world ? (se3 ? 3 : 2) : s->inner->rows;
    const int turn = (int)(ct_rng_uniform(rng) * rows);
    do {
        for (int f = 0, at = 0; f < s->inner->fields; at += ct_kind_size(s->inner->field[f++]))
            draw_element(rng, s->inner->field[f], s->z + at);
    } while (s->inner->refuse && s->inner->refuse(s->z));
    for (int j = 0; j < s->k; j++) {
        s->z[size + j] = first + (j + turn) % rows;
        s->z[size + s->k + j] = ct_rng_normal(rng);
    }
    for (int v = 0; v < s->ops->arity; v++) draw_element(rng, s->ops->kind[v], s->value[v]);
}

static void for_all(uint64_t seed, void (*law)(sample *s))
{
    ct_rng rng = ct_rng_seed(seed);
    int count = 0;
    for (int m = 0; ct_factor_biased_at(m); m++, count++)
        for (int i = 0; i < DRAWS; i++) {
            sample s = {.ops = ct_factor_biased_at(m)};
            s.inner = ct_factor_unbiased(s.ops);
            s.k = ct_kind_dim(s.ops->kind[s.inner->arity]);
            s.world = !strncmp(s.ops->name, "world_", 6);
            for (int v = 0; v < CT_ARITY_MAX; v++) s.x[v] = s.value[v];
            draw(&s, &rng);
            law(&s);
        }
    CHECK(count > 60);
}

static void jacobians_are_differences(sample *s)
{
    ct_err err = {0};
    if (s->inner->jacobian != CT_JACOBIAN_ANALYTIC) return;
    CHECK_OK(ct_factor_check(s->ops, s->z, NULL, s->x, 1e-5, &err), err);
}

/* The same model without its own curvature: differences of Jacobians. */
static void curvature_is_that_of_differences(sample *s)
{
    enum { N = CT_ARITY_MAX * CT_DIM_MAX };
    double u[CT_ROWS_MAX], K[N * N], D[N * N], largest = 1;
    ct_factor_ops plain = *s->ops;
    int n = 0;
    for (int i = 0; i < s->ops->arity; i++) n += ct_kind_dim(s->ops->kind[i]);
    for (int i = 0; i < s->ops->rows; i++) u[i] = 0.3 + i;
    if (s->inner->jacobian != CT_JACOBIAN_ANALYTIC) return;
    plain.curvature = NULL;
    ct_factor_curvature(s->ops, s->z, NULL, s->x, u, K);
    ct_factor_curvature(&plain, s->z, NULL, s->x, u, D);
    for (int i = 0; i < n * n; i++) largest = fmax(largest, fabs(D[i]));
    for (int i = 0; i < n * n; i++) CHECK_NEAR(K[i], D[i], 1e-5 * largest * largest);
}

/* measured = true + b: with a bias of b the residual is that of a measurement less b. */
static void a_bias_is_an_error_of_the_measurement(sample *s)
{
    double r[CT_ROWS_MAX], plain[CT_ROWS_MAX], y[CT_SIZE_MAX];
    const int size = ct_factor_z_size(s->inner), first = s->inner->kind[0] == CT_SE3 ? 3 : 0;
    const double *row = s->z + size, *c = row + s->k, *b = s->value[s->inner->arity], *x[CT_ARITY_MAX];
    memcpy(x, s->x, sizeof x);
    memcpy(y, s->value[0], sizeof y);
    x[0] = y;
    for (int j = 0; s->world && j < s->k; j++) y[(int)row[j] - first] += c[j] * b[j];
    ct_factor_eval(s->ops, s->z, NULL, s->x, r, NULL);
    ct_factor_eval(s->inner, s->z, NULL, x, plain, NULL);
    for (int j = 0; !s->world && j < s->k; j++) plain[(int)row[j]] += c[j] * b[j];
    for (int i = 0; i < s->ops->rows; i++) CHECK_NEAR(r[i], plain[i], 1e-12 * (1 + fabs(plain[i])));
}

/* Names, kinds and refusals follow those of the model. */
static void descriptions_follow_from_the_model(sample *s)
{
    const int size = ct_factor_z_size(s->inner);
    CHECK(ct_factor_find(s->ops->name) == s->ops);
    CHECK(ct_factor_biased(s->inner, s->ops->kind[s->inner->arity], s->world) == s->ops);
    CHECK(ct_factor_unbiased(s->inner) == s->inner);
    CHECK(s->ops->absolute == s->inner->absolute && s->ops->arity == s->inner->arity + 1);
    CHECK(ct_factor_z_size(s->ops) == size + 2 * s->k);
    CHECK(!s->ops->refuse(s->z));
    const double row = s->z[size];
    s->z[size] = row + 0.5;
    CHECK(s->ops->refuse(s->z) != NULL);
    s->z[size] = 17;
    CHECK(s->ops->refuse(s->z) != NULL);
    s->z[size] = s->k > 1 ? s->z[size + 1] : -1;
    CHECK(s->ops->refuse(s->z) != NULL);
    s->z[size] = row;
}

static void test_jacobians_of_biased_models(void) { for_all(1, jacobians_are_differences); }
static void test_curvature_of_biased_models(void) { for_all(2, curvature_is_that_of_differences); }
static void test_biased_residuals(void) { for_all(3, a_bias_is_an_error_of_the_measurement); }
static void test_biased_descriptions(void) { for_all(4, descriptions_follow_from_the_model); }

static void test_models_without_a_biased_form(void)
{
    CHECK(!ct_factor_biased(&ct_push_se2, CT_R1, 0));        /* four variables           */
    CHECK(!ct_factor_biased(&ct_range_se2_r2, CT_R2, 0));    /* one row              */
    CHECK(!ct_factor_biased(&ct_gauss_markov_r1, CT_R1, 0)); /* a process         */
    CHECK(!ct_factor_biased(&ct_between_se2, CT_R2, 1));     /* not in the world      */
    CHECK(!ct_factor_biased(&ct_prior_se2, CT_R3, 1));       /* two positions           */
    CHECK(!ct_factor_biased(&ct_prior_se2, CT_SE2, 0));
    CHECK(!ct_factor_biased_at(-1) && !ct_factor_biased_at(100000));
    CHECK(!ct_factor_find("biased_push_se2_r1"));
}

/* A step as b' = f b + w, var w = q: from J = (-f s, s), q = 1 / s^2. */
static void step_of(const ct_factor_ops *ops, double dt, double tau, double *f, double *q)
{
    const double z[2] = {dt, tau}, b = 0.7, c = -0.2, *x[2] = {&b, &c};
    double r, Jb, Jc, *J[2] = {&Jb, &Jc};
    ct_factor_eval(ops, z, NULL, x, &r, J);
    *f = -Jb / Jc;
    *q = 1 / (Jc * Jc);
    CHECK_NEAR(r, (c - *f * b) / sqrt(*q), 1e-14 * (1 + fabs(r)));
}

/* Two steps are one of their duration: f = f2 f1, q = f2^2 q1 + q2. */
static void test_processes_are_semigroups(void)
{
    const ct_factor_ops *const OPS[] = {&ct_gauss_markov_r1, &ct_random_walk_r1};
    for (int m = 0; m < 2; m++)
        for (double tau = 1e-2; tau < 1e9; tau *= 31) {
            double f1, q1, f2, q2, f, q;
            step_of(OPS[m], 0.3, tau, &f1, &q1);
            step_of(OPS[m], 1.9, tau, &f2, &q2);
            step_of(OPS[m], 2.2, tau, &f, &q);
            CHECK_NEAR(f, f2 * f1, 1e-14);
            CHECK_NEAR(q, f2 * f2 * q1 + q2, 1e-13 * q);
            if (m == 0) CHECK_NEAR(f * f + q, 1, 1e-13); /* stationary */
        }
}

static void test_steps_refuse_times_that_are_none(void)
{
    CHECK(ct_gauss_markov_r2.refuse((const double[]){0, 1}) != NULL);
    CHECK(ct_gauss_markov_r2.refuse((const double[]){1, 0}) != NULL);
    CHECK(ct_gauss_markov_r2.refuse((const double[]){1e-13, 1}) != NULL);
    CHECK(ct_gauss_markov_r2.refuse((const double[]){NAN, 1}) != NULL);
    CHECK(ct_gauss_markov_r2.refuse((const double[]){1, 1}) == NULL);
    CHECK(ct_random_walk_r3.refuse((const double[]){-1}) != NULL);
}

static void test_a_measurement_can_be_replaced(void)
{
    ct_graph *g;
    ct_err err = {0};
    int32_t v[2];
    CHECK_OK(ct_graph_new(&g, &err), err);
    for (int i = 0; i < 2; i++) CHECK_OK(ct_graph_add_variable(g, NULL, CT_R1, NULL, &v[i], &err), err);
    CHECK_OK(ct_graph_add_factor(g, &ct_gauss_markov_r1, v, (const double[]){1, 5}, NULL, 0, &err), err);
    CHECK_OK(ct_graph_set_measurement(g, 0, (const double[]){2, 7}, &err), err);
    CHECK(ct_graph_factor(g, 0).z[0] == 2 && ct_graph_factor(g, 0).z[1] == 7);
    CHECK_REFUSED(ct_graph_set_measurement(g, 0, (const double[]){2, -7}, &err), err, "time constant");
    CHECK_REFUSED(ct_graph_set_measurement(g, 1, (const double[]){2, 7}, &err), err, "no factor 1");
    CHECK(ct_graph_factor(g, 0).z[1] == 7);
    ct_graph_free(g);
}

int main(void)
{
    RUN(test_jacobians_of_biased_models);
    RUN(test_curvature_of_biased_models);
    RUN(test_biased_residuals);
    RUN(test_biased_descriptions);
    RUN(test_models_without_a_biased_form);
    RUN(test_processes_are_semigroups);
    RUN(test_steps_refuse_times_that_are_none);
    RUN(test_a_measurement_can_be_replaced);
    return ct_test_end();
}
