/* Minima of graphs whose sigmas differ by many orders of magnitude, against a dense reference in quadruple
 * precision. */
#include "ct_test.h"
#include "quad_oracle.h"

#include <covtune/covtune.h>
#include <math.h>

/* ---- random stiff graphs ---- */

typedef struct {
    ct_graph *graph;
    ct_noise *noise;
    ct_kind   kind;
    double    ratio; /* of the largest sigma to the least */
} stiff;

static double log_uniform(ct_rng *rng, double low, double high) { return low * pow(high / low, ct_rng_uniform(rng)); }

/* truth o Exp(e), e of that many sigmas in every row, at most `most` m or rad. */
static void disturb(ct_rng *rng, ct_kind kind, const double *x, const double *sigma, double sigmas, double most,
                    double *y)
{
    double d[CT_DIM_MAX];
    for (int i = 0; i < ct_kind_dim(kind); i++) {
        const double e = sigmas * sigma[i] * ct_rng_normal(rng);
        d[i] = fabs(e) > most ? copysign(most * ct_rng_uniform(rng), e) : e;
    }
    ct_kind_retract(kind, x, d, y);
}

static int32_t random_noise(ct_rng *rng, stiff *s, double low, double high, double *sigma)
{
    double   variance[CT_DIM_MAX];
    char     name[16];
    int32_t  index = -1;
    ct_err   err;
    const int dim = ct_kind_dim(s->kind), alike = ct_rng_uniform(rng) < 0.5;
    for (int i = 0; i < dim; i++) {
        sigma[i] = i && alike ? sigma[0] : log_uniform(rng, low, high);
        variance[i] = sigma[i] * sigma[i];
    }
    snprintf(name, sizeof name, "n%d", ct_noise_count(s->noise));
    CHECK_OK(ct_noise_add_diagonal(s->noise, name, dim, variance, &index, &err), err);
    return index;
}

/* A chain with a few more edges, some of which contradict it, and one to three priors, weak and far. */
static stiff random_stiff(uint64_t seed, double ratio)
{
    ct_rng       rng = ct_rng_seed(seed);
    ct_err       err;
    stiff        s = {.kind = (ct_kind[]){CT_R1, CT_SE2, CT_SE3}[seed % 3], .ratio = ratio};
    const int    count = 2 + (int)(ct_rng_uniform(&rng) * (s.kind == CT_SE3 ? 4 : 7)), dim = ct_kind_dim(s.kind);
    const double low = log_uniform(&rng, 1e-8, 1e3 / ratio), high = low * ratio;
    double       truth[8][CT_SIZE_MAX], x[CT_SIZE_MAX], step[CT_DIM_MAX], sigma[CT_DIM_MAX], one[CT_DIM_MAX];
    CHECK_OK(ct_graph_new(&s.graph, &err), err);
    CHECK_OK(ct_noise_new(&s.noise, &err), err);
    ct_kind_identity(s.kind, truth[0]);
    for (int i = 0; i < dim; i++) one[i] = 1;
    const double start_off = log_uniform(&rng, 1e-3, 1);
    for (int v = 0; v < count; v++) {
        for (int i = 0; i < dim; i++) step[i] = ct_rng_normal(&rng) * (ct_kind_unit(s.kind, i)[0] == 'm' ? 3 : 0.5);
        ct_kind_retract(s.kind, truth[v ? v - 1 : 0], step, truth[v]);
        disturb(&rng, s.kind, truth[v], one, start_off, 1, x);
        CHECK_OK(ct_graph_add_variable(s.graph, NULL, s.kind, x, NULL, &err), err);
    }
    const int extra = (int)(ct_rng_uniform(&rng) * 4), contradict = ct_rng_uniform(&rng) < 0.5;
    for (int e = 0; e < count - 1 + extra; e++) {
        int a = e, b = e + 1;
        if (e >= count - 1) {
            a = (int)(ct_rng_uniform(&rng) * count);
            b = (a + 1 + (int)(ct_rng_uniform(&rng) * (count - 1))) % count;
        }
        const int32_t noise = random_noise(&rng, &s, low, high, sigma);
        ct_kind_local(s.kind, truth[a], truth[b], step);
        double identity[CT_SIZE_MAX], z[CT_SIZE_MAX];
        ct_kind_identity(s.kind, identity);
        ct_kind_retract(s.kind, identity, step, z);
        disturb(&rng, s.kind, z, sigma, contradict && e >= count - 1 ? log_uniform(&rng, 1, 1e3) : 1, 0.3, z);
        CHECK_OK(ct_graph_add_between(s.graph, a, b, z, noise, &err), err);
    }
    const int priors = 1 + (int)(ct_rng_uniform(&rng) * 3);
    for (int k = 0; k < priors; k++) {
        const int     v = (int)(ct_rng_uniform(&rng) * count);
        const int32_t noise = random_noise(&rng, &s, k ? low : sqrt(low * high), high, sigma);
        double        z[CT_SIZE_MAX];
        disturb(&rng, s.kind, truth[v], sigma, k ? 1 : log_uniform(&rng, 1, 30), s.kind == CT_R1 ? 100 : 1, z);
        CHECK_OK(ct_graph_add_prior(s.graph, v, z, noise, &err), err);
    }
    return s;
}

static void release(stiff *s)
{
    ct_graph_free(s->graph);
    ct_noise_free(s->noise);
}

static void test_random_stiff_graphs_end_at_their_minimum_or_say_not(void)
{
    const char *many = getenv("COVTUNE_STIFF_GRAPHS");
    const int graphs = many ? atoi(many) : 45,
              first = getenv("COVTUNE_STIFF_FIRST") ? atoi(getenv("COVTUNE_STIFF_FIRST")) : 0;
    int runs = 0, minima = 0, said = 0, iterations = 0, said_low[CT_STOP_COUNT] = {0}, said_all[CT_STOP_COUNT] = {0};
    double      worst = 0;
    for (int k = 0; k < graphs; k++) {
        const double     ratio = k % 4 == 3 ? pow(10, 6 + 5 * (k % 17) / 16.0) : pow(10, 6 * (k % 13) / 12.0);
        stiff            s = random_stiff((uint64_t)(k + first) + 1, ratio);
        ct_solve_options options = ct_solve_defaults();
        ct_solve_result  result;
        ct_solver       *solver;
        ct_err           err;
        double           x[8 * CT_SIZE_MAX];
        CHECK_OK(ct_solver_new(s.graph, NULL, &solver, &err), err);
        for (int method = 0; method < CT_METHOD_COUNT; method++) {
            options.method = (ct_method)method;
            memcpy(x, ct_graph_initial_const(s.graph), (size_t)ct_graph_size(s.graph) * sizeof *x);
            CHECK_OK(ct_solver_run(solver, s.noise, x, &options, &result, &err), err);
            const double distance = quad_distance(s.graph, s.noise, x);
            runs++;
            iterations += result.iterations;
            said_all[result.stop]++;
            if (s.ratio <= 1e6 * (1 + 1e-9)) said_low[result.stop]++;
            const int converged = ct_stop_converged(result.stop);
            minima += converged;
            said += !converged;
            if (getenv("COVTUNE_STIFF_TRACE"))
                printf("graph %d %s ratio %.2g n %d %s: %s, %d iterations, error %.4g, says %.2g sigma, is %.2g\n", k,
                       ct_kind_name(s.kind), s.ratio, ct_graph_variables(s.graph) * ct_kind_dim(s.kind),
                       ct_method_name(options.method), ct_stop_name(result.stop), result.iterations, result.final_error,
                       result.distance, distance);
            if (converged && distance > worst) worst = distance;
            if (converged) CHECK(distance <= 1e-6);
            if (s.ratio <= 1e6 * (1 + 1e-9)) CHECK(converged);
        }
        ct_solver_free(solver);
        release(&s);
    }
    printf("  %d runs on %d graphs: %d minima, the furthest %.2g sigma off; %d say that they are none; %.1f iterations "
           "a run\n",
           runs, graphs, minima, worst, said, (double)iterations / runs);
    for (int i = 0; i < CT_STOP_COUNT; i++)
        if (said_all[i])
            printf("    %s: %d, %d of them up to a ratio of 1e6\n", ct_stop_name((ct_stop)i), said_all[i], said_low[i]);
}

/* ---- graphs that were once solved wrongly, without a word ---- */

/* Two stiff betweens that contradict each other, and a weak prior far away: a is to be 10. */
static void test_a_weak_prior_beside_contradicting_betweens_is_heard(void)
{
    ct_err    err;
    ct_graph *graph;
    ct_noise *noise;
    int32_t   gps, odo, a, b;
    CHECK_OK(ct_graph_new(&graph, &err), err);
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "gps", 1, 1, &gps, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "odo", 1, 1e-12, &odo, &err), err);
    CHECK_OK(ct_graph_add_variable(graph, "a", CT_R1, (const double[]){0}, &a, &err), err);
    CHECK_OK(ct_graph_add_variable(graph, "b", CT_R1, (const double[]){1}, &b, &err), err);
    CHECK_OK(ct_graph_add_prior(graph, a, (const double[]){10}, gps, &err), err);
    CHECK_OK(ct_graph_add_between(graph, a, b, (const double[]){1}, odo, &err), err);
    CHECK_OK(ct_graph_add_between(graph, a, b, (const double[]){2}, odo, &err), err);
    for (int method = 0; method < CT_METHOD_COUNT; method++) {
        double           x[2] = {0, 1};
        ct_solver       *solver;
        ct_solve_result  result;
        ct_solve_options options = ct_solve_defaults();
        options.method = (ct_method)method;
        CHECK_OK(ct_solver_new(graph, NULL, &solver, &err), err);
        CHECK_OK(ct_solver_run(solver, noise, x, &options, &result, &err), err);
        CHECK(ct_stop_converged(result.stop) && result.distance <= 1e-6);
        CHECK_NEAR(x[0], 10, 1e-6);
        CHECK_NEAR(x[1] - x[0], 1.5, 1e-12);
        ct_solver_free(solver);
    }
    ct_graph_free(graph);
    ct_noise_free(noise);
}

/* A chain of 50 poses, a metre apart, that closes 0.1 m short, and a prior of sigma 1 on the first: at 30, 40, 0. */
static void test_a_stiff_chain_goes_where_its_prior_is(void)
{
    enum { POSES = 50 };
    const double sigma[] = {1e-2, 1e-4, 1e-5, 3e-6, 1e-6};
    /* residuals of 667 and 2000 sigma, and cosines of 1 - 1e-16 on the way: what J'r is rounded by, 49 times with
     * the same sign */
    const double reach[] = {1e-6, 1e-6, 1e-6, 3e-6, 3e-5};
    for (int k = 0; k < 5; k++) {
        ct_err    err;
        ct_graph *graph;
        ct_noise *noise;
        int32_t   gps, odo;
        CHECK_OK(ct_graph_new(&graph, &err), err);
        CHECK_OK(ct_noise_new(&noise, &err), err);
        CHECK_OK(ct_noise_add_isotropic(noise, "gps", 3, 1, &gps, &err), err);
        CHECK_OK(ct_noise_add_isotropic(noise, "odo", 3, sigma[k] * sigma[k], &odo, &err), err);
        for (int i = 0; i < POSES; i++)
            CHECK_OK(ct_graph_add_variable(graph, NULL, CT_SE2, (const double[]){i, 0, 1, 0}, NULL, &err), err);
        for (int i = 0; i + 1 < POSES; i++)
            CHECK_OK(ct_graph_add_between(graph, i, i + 1, (const double[]){1, 0, 1, 0}, odo, &err), err);
        CHECK_OK(ct_graph_add_between(graph, 0, POSES - 1, (const double[]){48.9, 0, 1, 0}, odo, &err), err);
        CHECK_OK(ct_graph_add_prior(graph, 0, (const double[]){30, 40, 1, 0}, gps, &err), err);
        for (int method = 0; method < CT_METHOD_COUNT; method++) {
            double           x[POSES * 4];
            ct_solver       *solver;
            ct_solve_result  result;
            ct_solve_options options = ct_solve_defaults();
            options.method = (ct_method)method;
            memcpy(x, ct_graph_initial_const(graph), sizeof x);
            CHECK_OK(ct_solver_new(graph, NULL, &solver, &err), err);
            CHECK_OK(ct_solver_run(solver, noise, x, &options, &result, &err), err);
            CHECK(ct_solve_usable(&result) && (k == 4 || ct_stop_converged(result.stop)));
            CHECK_NEAR(x[0], 30, reach[k]);
            CHECK_NEAR(x[1], 40, reach[k]);
            CHECK_NEAR(atan2(x[3], x[2]), 0, reach[k]);
            ct_solver_free(solver);
        }
        ct_replay_result replayed;
        double           x[POSES * 4];
        memcpy(x, ct_graph_initial_const(graph), sizeof x);
        CHECK_OK(ct_replay(graph, noise, NULL, x, &replayed, &err), err);
        double     distance;
        ct_solver *solver;
        CHECK_OK(ct_solver_new(graph, NULL, &solver, &err), err);
        CHECK_OK(ct_solver_distance(solver, noise, x, &distance, &err), err);
        CHECK(hypot(x[0] - 30, x[1] - 40) <= 5 * distance + 1e-9); /* how far it is, is known */
        ct_solver_free(solver);
        ct_graph_free(graph);
        ct_noise_free(noise);
    }
}

/* A large tolerance is what the caller asked for. */
static void test_distance_is_not_asked_where_it_is_zero(void)
{
    stiff            s = random_stiff(2, 1e4);
    ct_solve_options options = ct_solve_defaults();
    ct_solve_result  loose, tight;
    ct_solver       *solver;
    ct_err           err;
    double           x[8 * CT_SIZE_MAX];
    CHECK_OK(ct_solver_new(s.graph, NULL, &solver, &err), err);
    for (int k = 0; k < 2; k++) {
        options.relative = 0.5;
        options.distance = k ? 1e-6 : 0;
        memcpy(x, ct_graph_initial_const(s.graph), (size_t)ct_graph_size(s.graph) * sizeof *x);
        CHECK_OK(ct_solver_run(solver, s.noise, x, &options, k ? &tight : &loose, &err), err);
    }
    CHECK(ct_stop_converged(loose.stop) && ct_stop_converged(tight.stop) && tight.distance <= 1e-6);
    CHECK(loose.iterations < tight.iterations);
    ct_solver_free(solver);
    release(&s);
}

int main(void)
{
    RUN(test_a_weak_prior_beside_contradicting_betweens_is_heard);
    RUN(test_a_stiff_chain_goes_where_its_prior_is);
    RUN(test_distance_is_not_asked_where_it_is_zero);
    RUN(test_random_stiff_graphs_end_at_their_minimum_or_say_not);
    return ct_test_end();
}
