/* test_function_bounds.c: where bounds cut a function of features, cuts follow the model's covariance; derivatives by
 * its parameters are those of differences: by adjoint, by sensitivity, and of the likelihood. */
#define _XOPEN_SOURCE 700
#include "ct_test.h"

#include <covtune/covtune.h>
#include <math.h>
#include <string.h>

#define RUNS  2
#define MOST  32
#define STEP  1e-3

typedef struct {
    const char   *form;
    ct_noise_kind kind;
    int           robust;
} example;

static const example EXAMPLE[] = {
    {"linear:cos2a,sin2a", CT_NOISE_DIAGONAL, 0},        {"linear:cos2a,sin2a", CT_NOISE_DIAGONAL, 1},
    {"linear:cos2a,sin2a/shared", CT_NOISE_DIAGONAL, 0}, {"linear:cos2a,sin2a", CT_NOISE_FULL, 1},
    {"piecewise:cos2a/4/shared", CT_NOISE_FULL, 0},      {"network:cos2a,sin2a/5/matrix", CT_NOISE_DIAGONAL, 0},
    {"linear:cos2a,sin2a/matrix", CT_NOISE_FULL, 1},
};

typedef struct {
    ct_noise    *noise;
    ct_sequence *seq[RUNS];
    ct_theta    *theta;
    int32_t      m, gps;
} problem;

/* Bounds within a factor of three of the model's variances (of a full covariance: of its eigenvalues). No two rows have
 * the same ratio: cuts of functions that rows share would have a kink. */
static void give_bounds(problem *q, const example *e)
{
    ct_err       err;
    ct_function *f = ct_function_copy(ct_noise_get(q->noise, q->gps)->function);
    for (int i = 0; i < 3; i++) {
        const double sigma = ct_noise_sigma(ct_noise_get(q->noise, q->gps), i);
        const double v = f->matrix ? f->unit[i] * f->unit[i] : sigma * sigma;
        f->lower[i] = e->kind == CT_NOISE_FULL && !f->matrix ? 4e-3 : (0.4 + 0.05 * i) * v;
        f->upper[i] = e->kind == CT_NOISE_FULL && !f->matrix ? 0.9 : (2.5 - 0.2 * i) * v;
    }
    CHECK_OK(ct_noise_set_function(q->noise, q->gps, f, &err), err);
    ct_function_free(f);
}

static problem make(const example *e)
{
    static const double S[9] = {0.5, 0.1, 0.002, 0.1, 0.3, 0.001, 0.002, 0.001, 0.01};
    problem             q = {0};
    ct_err              err;
    ct_nav_options      o;
    ct_rng              rng = ct_rng_seed(11);
    CHECK(ct_nav_preset("D1", CT_SE2, &o));
    o.least = o.most = 30;
    o.situation = CT_SITUATION_STREET;
    CHECK_OK(ct_noise_new(&q.noise, &err), err);
    for (int i = 0; i < RUNS; i++) CHECK_OK(ct_simulate_nav(&o, (uint64_t)i, q.noise, &q.seq[i], &err), err);
    q.gps = ct_noise_find(q.noise, "gps");
    if (e->kind == CT_NOISE_FULL) CHECK_OK(ct_noise_set_covariance(q.noise, q.gps, S, &err), err);
    if (e->robust) CHECK_OK(ct_noise_set_robust(q.noise, q.gps, (ct_robust){CT_ROBUST_CAUCHY, 3, 0}, &err), err);
    const ct_sequence *const *list = (const ct_sequence *const *)q.seq;
    CHECK_OK(ct_conditional_form(RUNS, list, q.noise, q.gps, e->form, NULL, NULL, &err), err);
    const ct_function *f = ct_noise_get(q.noise, q.gps)->function;
    for (int i = 0; i < f->weights; i++) f->weight[i] = 1.2 * (0.5 + fabs(ct_rng_normal(&rng))) * (i % 2 ? -1 : 1);
    if (f->matrix && e->kind == CT_NOISE_DIAGONAL) { /* not D^2, whose equal eigenvalues have no derivative */
        double v[3];
        for (int i = 0; i < 3; i++) v[i] = (0.8 + 0.2 * i) * f->unit[i] * f->unit[i];
        CHECK_OK(ct_noise_set_variance(q.noise, q.gps, v, &err), err);
    }
    give_bounds(&q, e);
    CHECK_OK(ct_theta_new(q.noise, &q.theta, &err), err);
    for (int32_t g = 0; g < ct_noise_count(q.noise); g++)
        if (strncmp(ct_noise_get(q.noise, g)->name, "first", 5))
            CHECK_OK(ct_theta_learn(q.theta, g, g == q.gps ? e->kind : CT_NOISE_DIAGONAL, 1e-8, 1e6, &err), err);
    q.m = ct_theta_count(q.theta);
    CHECK(q.m <= MOST);
    return q;
}

static void release(problem *q)
{
    for (int i = 0; i < RUNS; i++) ct_sequence_free(q->seq[i]);
    ct_theta_free(q->theta);
    ct_noise_free(q->noise);
}

/* Factors whose covariance does not grow with the model's. */
static int count_cut(const problem *q)
{
    const ct_graph *g = q->seq[0]->graph;
    ct_noise       *larger;
    ct_err          err;
    double          S[9], A[9], B[9];
    int             cut = 0;
    const ct_noise_model *m = ct_noise_get(q->noise, q->gps);
    CHECK_OK(ct_noise_copy(q->noise, &larger, &err), err);
    for (int i = 0; i < 9; i++) S[i] = 1.001 * ct_noise_covariance(m, i / 3, i % 3);
    CHECK_OK(ct_noise_set_covariance(larger, q->gps, S, &err), err);
    for (int32_t f = 0; f < ct_graph_factors(g); f++) {
        if (ct_graph_factor(g, f).noise != q->gps) continue;
        CHECK_OK(ct_graph_covariance(g, q->noise, f, A, &err), err);
        CHECK_OK(ct_graph_covariance(g, larger, f, B, &err), err);
        int grows = 1;
        for (int i = 0; i < 3; i++) grows &= B[4 * i] > 1.0009 * A[4 * i];
        cut += !grows;
    }
    ct_noise_free(larger);
    return cut;
}

typedef double value_of(const problem *q, const double *p, double *gradient);

static double loss_by(const problem *q, const double *p, double *gradient, ct_gradient how)
{
    ct_outer_options o = ct_outer_defaults();
    ct_outer        *outer;
    ct_outer_value   value = {.gradient = gradient};
    ct_err           err;
    o.gradient = how;
    o.inner.relative = 0;
    o.inner.step = 1e-13;
    CHECK_OK(ct_outer_new(RUNS, (const ct_sequence *const *)q->seq, q->noise, q->theta, &o, &outer, &err), err);
    CHECK_OK(ct_outer_evaluate(outer, p, NULL, &value, &err), err);
    const double loss = value.loss;
    ct_outer_free(outer);
    return loss;
}

static double adjoint(const problem *q, const double *p, double *g) { return loss_by(q, p, g, CT_GRADIENT_ADJOINT); }

static double sensitivity(const problem *q, const double *p, double *g)
{
    return loss_by(q, p, g, CT_GRADIENT_SENSITIVITY);
}

static double likelihood(const problem *q, const double *p, double *gradient)
{
    ct_likelihood_options o = ct_likelihood_defaults();
    ct_likelihood        *l;
    ct_likelihood_value   value = {.gradient = gradient};
    ct_err                err;
    o.inner.relative = 0;
    o.inner.step = 1e-13;
    CHECK_OK(ct_likelihood_new(RUNS, (const ct_sequence *const *)q->seq, q->noise, q->theta, &o, &l, &err), err);
    CHECK_OK(ct_likelihood_evaluate(l, p, NULL, &value, &err), err);
    ct_likelihood_free(l);
    return value.value;
}

/* The largest difference from Richardson's differences, relative to the largest derivative. */
static double error_of(const problem *q, value_of *value)
{
    double p[MOST], g[MOST], size = 0, worst = 0;
    ct_theta_get(q->theta, q->noise, p);
    value(q, p, g);
    for (int32_t i = 0; i < q->m; i++) size = fmax(size, fabs(g[i]));
    for (int32_t i = 0; i < q->m; i++) {
        const double at = p[i];
        double       slope[2];
        for (int k = 0; k < 2; k++) {
            const double h = STEP / (1 << k);
            p[i] = at + h;
            const double high = value(q, p, NULL);
            p[i] = at - h;
            slope[k] = (high - value(q, p, NULL)) / (2 * h);
        }
        p[i] = at;
        worst = fmax(worst, fabs((4 * slope[1] - slope[0]) / 3 - g[i]) / size);
    }
    return worst;
}

static void test_derivatives_by_variances_know_the_cuts_of_functions(void)
{
    static const struct {
        const char *name;
        value_of   *value;
    } OF[] = {{"adjoint", adjoint}, {"sensitivity", sensitivity}, {"likelihood", likelihood}};
    for (size_t c = 0; c < sizeof EXAMPLE / sizeof *EXAMPLE; c++) {
        problem   q = make(&EXAMPLE[c]);
        const int cut = count_cut(&q);
        if (cut < 5) fprintf(stderr, "%s: %d factors are cut\n", EXAMPLE[c].form, cut);
        CHECK(cut >= 5);
        for (size_t k = 0; k < sizeof OF / sizeof *OF; k++) {
            const double worst = error_of(&q, OF[k].value);
            if (!(worst < 1e-7)) fprintf(stderr, "example %zu, %s, %s: %g\n", c, EXAMPLE[c].form, OF[k].name, worst);
            CHECK(worst < 1e-7);
        }
        release(&q);
    }
}

int main(void)
{
    RUN(test_derivatives_by_variances_know_the_cuts_of_functions);
    return ct_test_end();
}
