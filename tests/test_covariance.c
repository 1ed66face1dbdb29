/* test_covariance.c: how sure an estimate is, against the dense inverse; and what one run leaves behind for the
 * next: nothing. */
#include "graph_test.h"

#include <pthread.h>

static const int PARTS[] = {PLANE | LOOPS | LANDMARKS,         SPACE | LOOPS,       VECTORS, EVERYTHING,
                            PLANE | SPACE | VECTORS | PARTIAL, EVERYTHING | PARTIAL};
enum { CASES = sizeof PARTS / sizeof *PARTS };

static void for_all(void (*law)(world *w))
{
    for (int i = 0; i < CASES; i++)
        for (int round = 0; round < 3; round++) {
            world w;
            world_make(&w, (uint64_t)(1000 + 10 * i + round), PARTS[i]);
            law(&w);
            world_free(&w);
        }
}

/* The estimated variables, and where their blocks go: 36 doubles each. */
typedef struct {
    int32_t count, *var;
    double **out, *space;
} request;

static request ask_for_all(const world *w)
{
    const int32_t n = ct_graph_variables(w->graph);
    request q = {.var = malloc((size_t)n * sizeof *q.var),
                 .out = malloc((size_t)n * sizeof *q.out),
                 .space = calloc((size_t)n, 36 * sizeof *q.space)};
    for (int32_t v = 0; v < n; v++) {
        if (ct_graph_fixed(w->graph, v)) continue;
        q.out[q.count] = q.space + 36 * q.count;
        q.var[q.count++] = v;
    }
    return q;
}

static void request_free(request *q)
{
    free(q->var);
    free(q->out);
    free(q->space);
}

static void covariances_are_blocks_of_the_dense_inverse(world *w)
{
    ct_solve_result result;
    double         *x = estimate(w, CT_GAUSS_NEWTON, &result);
    ct_solver      *solver = new_solver(w, NULL);
    const int       n = ct_sparse_describe(ct_solver_system(solver)).scalars;
    double *H = malloc((size_t)n * (size_t)n * sizeof *H), *S = malloc((size_t)n * (size_t)n * sizeof *S),
           *g = malloc((size_t)n * sizeof *g);
    request         q = ask_for_all(w);
    dense_system(w, solver, x, n, H, g);
    dense_inverse(n, H, S);
    CHECK_OK(ct_solver_linearise(solver, w->noise, x, &w->err), w->err);
    CHECK_OK(ct_solver_marginals(solver, q.count, q.var, q.out, &w->err), w->err);
    for (int32_t a = 0; a < q.count; a++)
        for (int32_t b = 0; b < q.count; b++) {
            const int ca = ct_solver_column(solver, q.var[a]), cb = ct_solver_column(solver, q.var[b]);
            const int da = ct_kind_dim(ct_graph_kind(w->graph, q.var[a])),
                      db = ct_kind_dim(ct_graph_kind(w->graph, q.var[b]));
            double    C[36];
            CHECK_OK(ct_solver_cross(solver, q.var[a], q.var[b], C, &w->err), w->err);
            for (int i = 0; i < da * db; i++) {
                const int    row = ca + i / db, col = cb + i % db;
                const double size = sqrt(S[row * (n + 1)] * S[col * (n + 1)]);
                CHECK_NEAR(C[i] / size, S[row * n + col] / size, 1e-9);
                if (a == b) CHECK_NEAR(q.out[a][i] / size, S[row * n + col] / size, 1e-9);
            }
        }
    void *const owned[] = {H, S, g, x};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    request_free(&q);
    ct_solver_free(solver);
}
static void test_covariances_are_blocks_of_the_dense_inverse(void)
{
    for_all(covariances_are_blocks_of_the_dense_inverse);
}

/* After any method, damped or not, from any solver: the covariance at x is the covariance at x. */
static void damping_leaves_no_trace(world *w)
{
    ct_solve_result result;
    double         *x = estimate(w, CT_GAUSS_NEWTON, &result);
    request         want = ask_for_all(w), got = ask_for_all(w);
    ct_solver      *solver = new_solver(w, NULL);
    CHECK_OK(ct_solver_linearise(solver, w->noise, x, &w->err), w->err);
    CHECK_OK(ct_solver_marginals(solver, want.count, want.var, want.out, &w->err), w->err);
    for (int method = 0; method < CT_METHOD_COUNT; method++) {
        ct_solve_options options = ct_solve_defaults();
        double          *y = copy_values(w->graph, ct_graph_initial(w->graph));
        options.method = (ct_method)method;
        options.lambda = 10;
        options.radius = 1;
        /* in the middle, and at the end */
        for (options.max_iterations = 3; options.max_iterations < 200; options.max_iterations += 150) {
            CHECK_OK(ct_solver_run(solver, w->noise, y, &options, &result, &w->err), w->err);
            CHECK_REFUSED(ct_solver_marginals(solver, got.count, got.var, got.out, &w->err), w->err,
                          "covariances need ct_solver_linearise first");
            CHECK_OK(ct_solver_linearise(solver, w->noise, x, &w->err), w->err);
            CHECK_OK(ct_solver_marginals(solver, got.count, got.var, got.out, &w->err), w->err);
            CHECK(!memcmp(got.space, want.space, (size_t)want.count * 36 * sizeof(double)));
        }
        free(y);
    }
    ct_solver_free(solver);
    request_free(&want);
    request_free(&got);
    free(x);
}
static void test_damping_leaves_no_trace(void) { for_all(damping_leaves_no_trace); }

/* From the initial values; the covariance of everything too. */
static double *run_and_ask(world *w, ct_solver *solver, const ct_noise *noise, const ct_solve_options *options,
                           request *q)
{
    ct_solve_result result;
    double         *x = copy_values(w->graph, ct_graph_initial(w->graph));
    CHECK_OK(ct_solver_run(solver, noise, x, options, &result, &w->err), w->err);
    CHECK_OK(ct_solver_linearise(solver, noise, x, &w->err), w->err);
    CHECK_OK(ct_solver_marginals(solver, q->count, q->var, q->out, &w->err), w->err);
    return x;
}

/* One solver through many theta, to the bit what fresh ones give; and each twice. */
static void a_solver_used_again_is_as_good_as_new(world *w)
{
    const size_t bytes = (size_t)ct_graph_size(w->graph) * sizeof(double);
    ct_solver   *old = new_solver(w, NULL);
    request      q = ask_for_all(w), r = ask_for_all(w);
    for (int round = 0; round < 6; round++) {
        ct_noise        *noise = NULL;
        ct_solve_options options = ct_solve_defaults();
        options.method = (ct_method)(round % CT_METHOD_COUNT);
        CHECK_OK(ct_noise_copy(w->noise, &noise, &w->err), w->err);
        for (int32_t i = 0; i < ct_noise_count(noise); i++) {
            const ct_noise_model *m = ct_noise_get(noise, i);
            double                v[36];
            if (m->kind == CT_NOISE_FULL) continue;
            for (int k = 0; k < m->dim; k++) v[k] = m->covariance[k] * pow(2, round * cos(i + k));
            CHECK_OK(ct_noise_set_variance(noise, i, v, &w->err), w->err);
        }
        ct_solver *fresh = new_solver(w, NULL);
        double    *x = run_and_ask(w, old, noise, &options, &q), *y = run_and_ask(w, fresh, noise, &options, &r);
        CHECK(!memcmp(x, y, bytes) && !memcmp(q.space, r.space, (size_t)q.count * 36 * sizeof(double)));
        free(y);
        y = run_and_ask(w, fresh, noise, &options, &r);
        CHECK(!memcmp(x, y, bytes) && !memcmp(q.space, r.space, (size_t)q.count * 36 * sizeof(double)));
        ct_solver_free(fresh);
        ct_noise_free(noise);
        free(x);
        free(y);
    }
    ct_solver_free(old);
    request_free(&q);
    request_free(&r);
}
static void test_a_solver_used_again_is_as_good_as_new(void) { for_all(a_solver_used_again_is_as_good_as_new); }

/* Solvers of one graph in threads of their own, to the bit what one after the other gives. */
typedef struct {
    world    *w;
    ct_method method;
    double   *x;
    request   q;
} thread_job;

static void *in_a_thread(void *argument)
{
    thread_job            *job = argument;
    world                  mine = *job->w; /* graph and noise are shared, the message is not */
    const ct_solve_options options = {
        .method = job->method, .max_iterations = 50, .relative = 1e-9, .lambda = 1e-4, .radius = 1e4};
    for (int round = 0; round < 20; round++) {
        ct_solver *solver = new_solver(&mine, NULL);
        free(job->x);
        job->x = run_and_ask(&mine, solver, mine.noise, &options, &job->q);
        ct_solver_free(solver);
    }
    return NULL;
}

static void test_solvers_of_one_graph_run_in_threads(void)
{
    world      w;
    thread_job job[4], alone;
    pthread_t  thread[4];
    world_make(&w, 77, EVERYTHING);
    for (int i = 0; i < 4; i++) {
        job[i] = (thread_job){.w = &w, .method = (ct_method)(i % CT_METHOD_COUNT), .q = ask_for_all(&w)};
        CHECK(pthread_create(&thread[i], NULL, in_a_thread, &job[i]) == 0);
    }
    for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < 4; i++) {
        alone = (thread_job){.w = &w, .method = job[i].method, .q = ask_for_all(&w)};
        in_a_thread(&alone);
        CHECK(!memcmp(alone.x, job[i].x, (size_t)ct_graph_size(w.graph) * sizeof *alone.x));
        CHECK(!memcmp(alone.q.space, job[i].q.space, (size_t)alone.q.count * 36 * sizeof(double)));
        free(alone.x);
        free(job[i].x);
        request_free(&alone.q);
        request_free(&job[i].q);
    }
    world_free(&w);
}

static void test_what_has_no_covariance_is_refused(void)
{
    world   w;
    double  S[36], *out[2] = {S, S};
    int32_t list[2] = {0, 1};
    world_make(&w, 5, PLANE | LOOPS);
    ct_graph_fix(w.graph, 1, 1);
    ct_solver *solver = new_solver(&w, NULL);
    CHECK_REFUSED(ct_solver_marginals(solver, 1, list, out, &w.err), w.err,
                  "covariances need ct_solver_linearise first");
    CHECK_REFUSED(ct_solver_cross(solver, 0, 2, S, &w.err), w.err, "covariances need ct_solver_linearise first");
    CHECK_OK(ct_solver_linearise(solver, w.noise, ct_graph_initial(w.graph), &w.err), w.err);
    CHECK_REFUSED(ct_solver_marginals(solver, 2, list, out, &w.err), w.err, "x1 is fixed: it has no covariance");
    CHECK_REFUSED(ct_solver_cross(solver, 0, 1, S, &w.err), w.err, "x1 is fixed");
    CHECK_REFUSED(ct_solver_cross(solver, 12, 0, S, &w.err), w.err, "variable 12 of 12 does not exist");
    list[0] = -1;
    CHECK_REFUSED(ct_solver_marginals(solver, 1, list, out, &w.err), w.err, "variable -1 of 12 does not exist");
    CHECK_OK(ct_solver_marginals(solver, 0, NULL, NULL, &w.err), w.err);
    CHECK(ct_solver_column(solver, 0) == 0 && ct_solver_column(solver, 1) == -1 && ct_solver_column(solver, 2) == 3);
    ct_graph_initial(w.graph)[0] = NAN;
    CHECK_REFUSED(ct_solver_linearise(solver, w.noise, ct_graph_initial(w.graph), &w.err), w.err,
                  "the error at these values is not finite");
    CHECK_REFUSED(ct_solver_cross(solver, 0, 2, S, &w.err), w.err, "linearise first"); /* what was there is gone */
    ct_solver_free(solver);
    ct_solver_free(NULL);
    world_free(&w);
}

int main(void)
{
    RUN(test_covariances_are_blocks_of_the_dense_inverse);
    RUN(test_damping_leaves_no_trace);
    RUN(test_a_solver_used_again_is_as_good_as_new);
    RUN(test_solvers_of_one_graph_run_in_threads);
    RUN(test_what_has_no_covariance_is_refused);
    return ct_test_end();
}
