/* test_solve_threads.c: one large graph solved by several threads: the same bits for any number of them, for every
 * method, on graphs of every shape. */
#define _POSIX_C_SOURCE 200809L /* nanosleep */
#include "ct_test.h"

#include "base/team.h"
#include "solve/solve.h"
#include "sparse/sparse.h"

#include <covtune/covtune.h>
#include <time.h>

static const int NUMBERS[] = {1, 2, 3, 4, 7};
#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

typedef struct {
    ct_graph *graph;
    ct_noise *noise;
    int32_t   tight, loose, point; /* noise models of 3, 3 and 2 rows */
    ct_rng    rng;
    ct_err    err;
} world;

/* ---- graphs ---- */

static void begin(world *w)
{
    *w = (world){.rng = ct_rng_seed(7)};
    CHECK_OK(ct_graph_new(&w->graph, &w->err), w->err);
    CHECK_OK(ct_noise_new(&w->noise, &w->err), w->err);
    CHECK_OK(ct_noise_add_isotropic(w->noise, "tight", 3, 1e-2, &w->tight, &w->err), w->err);
    CHECK_OK(ct_noise_add_diagonal(w->noise, "loose", 3, (const double[]){1, 2, 0.5}, &w->loose, &w->err), w->err);
    CHECK_OK(ct_noise_add_isotropic(w->noise, "point", 2, 0.04, &w->point, &w->err), w->err);
}

static void end(world *w)
{
    ct_graph_free(w->graph);
    ct_noise_free(w->noise);
}

static double noise_of(world *w, double sigma) { return sigma * ct_rng_normal(&w->rng); }

static int32_t add_pose(world *w, double x, double y)
{
    int32_t v = -1;
    CHECK_OK(ct_graph_add_se2(w->graph, NULL, ct_se2_make(x + noise_of(w, 0.1), y + noise_of(w, 0.1), noise_of(w, 0.1)),
                              &v, &w->err),
             w->err);
    return v;
}

static void tie(world *w, int32_t a, int32_t b, double x, double y)
{
    const ct_se2 z = ct_se2_make(x + noise_of(w, 0.1), y + noise_of(w, 0.1), noise_of(w, 0.1));
    CHECK_OK(ct_graph_add_between_se2(w->graph, a, b, z, w->tight, &w->err), w->err);
}

static void hold(world *w, int32_t a, double x, double y)
{
    CHECK_OK(ct_graph_add_prior_se2(w->graph, a, ct_se2_make(x, y, 0), w->loose, &w->err), w->err);
}

/* A path with a position at every pose. */
static void make_chain(world *w)
{
    for (int i = 0; i < 8000; i++) {
        const int32_t v = add_pose(w, i, 0);
        hold(w, v, i, 0);
        if (i) tie(w, v - 1, v, 1, 0);
    }
}

/* A binary tree, tied to the world at its root. */
static void make_tree(world *w)
{
    for (int i = 0; i < 8000; i++) {
        const int32_t v = add_pose(w, i % 90, i / 90.0);
        if (!i) hold(w, v, 0, 0);
        else tie(w, (v - 1) / 2, v, 1, 0.5);
    }
}

static void make_grid(world *w)
{
    const int side = 40;
    for (int i = 0; i < side * side; i++) {
        const int32_t v = add_pose(w, i % side, i / side);
        if (!i) hold(w, v, 0, 0);
        if (i % side) tie(w, v - 1, v, 1, 0);
        if (i >= side) tie(w, v - side, v, 0, 1);
    }
}

/* Poses around a few hubs, in components of their own; one hub has no tie to the world if not `whole`. */
static void make_hubs(world *w, int whole)
{
    for (int h = 0; h < 5; h++) {
        const int32_t hub = add_pose(w, 0, 0);
        if (h || whole) hold(w, hub, 0, 0);
        for (int i = 0; i < 1800; i++) {
            const int32_t v = add_pose(w, cos(i), sin(i));
            tie(w, hub, v, cos(i), sin(i));
        }
    }
}

/* A path that sees points, with a kernel; the first pose is fixed. */
static void make_landmarks(world *w)
{
    const int points = 2400, poses = 4000;
    int32_t   first = -1;
    const ct_robust huber = {.kind = CT_ROBUST_HUBER, .width = 1};
    CHECK_OK(ct_noise_set_robust(w->noise, w->point, huber, &w->err), w->err);
    for (int i = 0; i < points; i++) {
        int32_t v;
        const double at[2] = {i * poses / points + noise_of(w, 0.3), (i % 7) - 3 + noise_of(w, 0.3)};
        CHECK_OK(ct_graph_add_point2(w->graph, NULL, at, &v, &w->err), w->err);
        if (!i) first = v;
    }
    for (int i = 0; i < poses; i++) {
        const int32_t v = add_pose(w, i, 0);
        if (i) tie(w, v - 1, v, 1, 0);
        else ct_graph_fix(w->graph, v, 1);
        for (int k = 0; k < 6; k++) {
            const int p = i * points / poses + k - 3;
            if (p < 0 || p >= points) continue;
            const double dx = p * poses / points - i, dy = p % 7 - 3;
            const double range = hypot(dx, dy) + 0.1 + fabs(noise_of(w, 0.2)), bearing = atan2(dy, dx);
            CHECK_OK(ct_graph_add_range_bearing_se2(w->graph, v, first + p, range, bearing + noise_of(w, 0.1), w->point,
                                                    &w->err),
                     w->err);
        }
    }
}

/* ---- what must be the same ---- */

typedef struct {
    double         *x, *g, *diagonal, *marginal;
    ct_solve_result result;
    uint8_t        *undetermined;
    double          distance;
} answer;

#define MARGINALS 40

static void free_answer(answer *a)
{
    free(a->x);
    free(a->g);
    free(a->diagonal);
    free(a->marginal);
    free(a->undetermined);
}

/* Solves from the initial values; then marginals, if the solve ends at a minimum. */
static void solve(const ct_graph *graph, const ct_noise *noise, ct_method method, int threads, answer *a)
{
    ct_solver       *solver = NULL;
    ct_err           err = {0};
    ct_solve_options options = ct_solve_defaults();
    const int32_t    n = ct_graph_variables(graph);
    const size_t     bytes = (size_t)ct_graph_size(graph) * sizeof(double);
    *a = (answer){.x = malloc(bytes), .undetermined = calloc((size_t)n, 1)};
    memcpy(a->x, ct_graph_initial_const(graph), bytes);
    options.method = method;
    options.threads = threads;
    options.max_iterations = 12;
    CHECK_OK(ct_solver_new(graph, NULL, &solver, &err), err);
    CHECK(solver->system->parts > 0); /* a path is one tree without branches: only its lower end is a part */
    CHECK_OK(ct_solver_run(solver, noise, a->x, &options, &a->result, &err), err);
    for (int32_t v = 0; v < n; v++) a->undetermined[v] = (uint8_t)ct_solver_undetermined(solver, v);
    ct_sparse *sp = ct_solver_system(solver);
    a->g = malloc((size_t)sp->scalars * sizeof(double));
    a->diagonal = malloc((size_t)sp->scalars * sizeof(double));
    memcpy(a->g, ct_sparse_gradient(sp), (size_t)sp->scalars * sizeof(double));
    ct_sparse_diagonal(sp, a->diagonal);
    a->marginal = calloc(MARGINALS * 36, sizeof(double));
    CHECK_OK(ct_solver_distance(solver, noise, a->x, &a->distance, &err), err);
    if (ct_solver_linearise(solver, noise, a->x, &err) == CT_OK) {
        int32_t var[MARGINALS];
        double *out[MARGINALS];
        for (int k = 0; k < MARGINALS; k++) {
            out[k] = a->marginal + 36 * k;
            var[k] = 1 + (int32_t)((int64_t)k * (n - 2) / MARGINALS);
            var[k] += ct_graph_fixed(graph, var[k]);
        }
        CHECK_OK(ct_solver_marginals(solver, MARGINALS, var, out, &err), err);
    }
    ct_solver_free(solver);
}

static int same_bits(const double *a, const double *b, int64_t n) { return !memcmp(a, b, (size_t)n * sizeof *a); }

static void check_same(const ct_graph *graph, const answer *a, const answer *b, int32_t scalars)
{
    CHECK(same_bits(a->x, b->x, ct_graph_size(graph)));
    CHECK(same_bits(a->g, b->g, scalars));
    CHECK(same_bits(a->diagonal, b->diagonal, scalars));
    CHECK(same_bits(a->marginal, b->marginal, MARGINALS * 36));
    CHECK(same_bits(&a->distance, &b->distance, 1));
    CHECK(same_bits(&a->result.final_error, &b->result.final_error, 1));
    CHECK(same_bits(&a->result.gradient, &b->result.gradient, 1));
    CHECK(same_bits(&a->result.distance, &b->result.distance, 1));
    CHECK(a->result.stop == b->result.stop && a->result.iterations == b->result.iterations);
    CHECK(a->result.undetermined == b->result.undetermined);
    CHECK(!memcmp(a->undetermined, b->undetermined, (size_t)ct_graph_variables(graph)));
}

/* ---- the division of the tree ---- */

/* Each front is in one part, or is one of the fronts above them. */
static void check_covered(const ct_sparse *sp)
{
    int *seen = calloc((size_t)sp->fronts, sizeof *seen), wrong = 0;
    for (int32_t k = 0; k < sp->parts; k++)
        for (int32_t f = sp->part[k].first; f <= sp->part[k].last; f++) seen[f]++;
    for (int32_t t = 0; t < sp->tops; t++) seen[sp->top[t].front]++;
    for (int32_t f = 0; f < sp->fronts; f++) wrong += seen[f] != 1;
    CHECK(wrong == 0);
    free(seen);
}

/* A branch waits for all parts below its fronts, and its fronts have no others than parts and themselves below them. */
static void check_branches(const ct_sparse *sp)
{
    int *branch_of = calloc((size_t)sp->fronts, sizeof *branch_of), wrong = 0, parts = 0;
    for (int32_t f = 0; f < sp->fronts; f++) branch_of[f] = -1;
    for (int32_t t = 0; t < sp->tops; t++) branch_of[sp->top[t].front] = sp->top[t].branch;
    for (int32_t k = 0; k < sp->parts; k++) {
        const ct__part *part = &sp->part[k];
        for (int32_t f = part->first; f <= part->last; f++) {
            const int32_t up = sp->front[f].parent;
            if (up >= 0 && up > part->last && branch_of[up] >= 0) wrong += branch_of[up] != part->branch;
        }
        parts += part->branch >= 0;
    }
    for (int32_t t = 0; t < sp->tops; t++) {
        const int32_t up = sp->front[sp->top[t].front].parent;
        if (up >= 0 && branch_of[up] >= 0) wrong += branch_of[up] != sp->top[t].branch;
    }
    for (int32_t b = 0; b < sp->branches; b++) parts -= sp->branch[b].parts;
    CHECK(wrong == 0 && parts == 0);
    free(branch_of);
}

/* Updates that are needed at the same time, or may be, do not overlap. One is needed until the parent has taken it. */
static void check_updates(const ct_sparse *sp)
{
    int32_t *list = calloc((size_t)sp->fronts, sizeof *list);
    int32_t *branch_of = calloc((size_t)sp->fronts, sizeof *branch_of);
    int      n = 0, wrong = 0;
    for (int32_t f = 0; f < sp->fronts; f++) branch_of[f] = -1;
    for (int32_t t = 0; t < sp->tops; t++) branch_of[sp->top[t].front] = sp->top[t].branch;
    for (int32_t f = 0; f < sp->fronts; f++)
        if (sp->front[f].stack != CT__STACK_PART && sp->front[f].s) list[n++] = f;
    for (int i = 0; i < n; i++)
        for (int k = CT_MAX(0, i - 2000); k < i; k++) {
            const ct__front *a = &sp->front[list[k]], *b = &sp->front[list[i]];
            const int64_t    a_end = a->update + (int64_t)a->s * (a->s + 1);
            const int64_t    b_end = b->update + (int64_t)b->s * (b->s + 1);
            if (a_end <= b->update || b_end <= a->update) continue;
            const int in_order = a->stack == b->stack && a->stack != CT__STACK_NONE &&
                                 branch_of[list[k]] == branch_of[list[i]] && a->parent < list[i];
            wrong += !in_order;
        }
    CHECK(wrong == 0);
    free(list);
    free(branch_of);
}

static void check_division(const ct_graph *graph)
{
    ct_solver *solver = NULL;
    ct_err     err = {0};
    CHECK_OK(ct_solver_new(graph, NULL, &solver, &err), err);
    check_covered(solver->system);
    check_branches(solver->system);
    check_updates(solver->system);
    ct_solver_free(solver);
}

/* All numbers of threads, all methods given. */
static void check_methods(const ct_graph *graph, const ct_noise *noise, int methods, const ct_method *method)
{
    int32_t scalars = 0;
    for (int32_t v = 0; v < ct_graph_variables(graph); v++)
        if (!ct_graph_fixed(graph, v)) scalars += ct_kind_dim(ct_graph_kind(graph, v));
    check_division(graph);
    for (int m = 0; m < methods; m++) {
        answer one, other;
        solve(graph, noise, method[m], 1, &one);
        for (int k = 1; k < COUNT(NUMBERS); k++) {
            solve(graph, noise, method[m], NUMBERS[k], &other);
            check_same(graph, &one, &other, scalars);
            free_answer(&other);
        }
        free_answer(&one);
    }
}

static void check_graph(const ct_graph *graph, const ct_noise *noise)
{
    static const ct_method ALL[] = {CT_LEVENBERG_MARQUARDT, CT_GAUSS_NEWTON, CT_DOGLEG, CT_NEWTON};
    check_methods(graph, noise, COUNT(ALL), ALL);
}

static void check_world(void (*make)(world *))
{
    world w;
    begin(&w);
    make(&w);
    check_graph(w.graph, w.noise);
    end(&w);
}

static void test_chains(void) { check_world(make_chain); }
static void test_trees(void) { check_world(make_tree); }
static void test_grids(void) { check_world(make_grid); }
static void test_landmarks_kernels_and_a_fixed_pose(void) { check_world(make_landmarks); }

static void test_hubs_and_components(void)
{
    world w;
    begin(&w);
    make_hubs(&w, 1);
    check_graph(w.graph, w.noise);
    end(&w);
}

static void test_rank_deficient_graphs(void)
{
    const ct_method method[] = {CT_LEVENBERG_MARQUARDT, CT_GAUSS_NEWTON};
    world           w;
    begin(&w);
    make_hubs(&w, 0);
    check_methods(w.graph, w.noise, 2, method);
    end(&w);
}

static void check_simulated(ct_kind kind, int32_t poses)
{
    ct_pose_graph_options options = ct_pose_graph_defaults(kind);
    ct_noise             *noise = NULL;
    ct_sequence          *seq = NULL;
    ct_err                err = {0};
    options.poses = poses;
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_simulate_pose_graph(&options, noise, &seq, &err), err);
    check_graph(seq->graph, noise);
    ct_sequence_free(seq);
    ct_noise_free(noise);
}

static void test_streets(void) { check_simulated(CT_SE2, 6000); }
static void test_spheres(void) { check_simulated(CT_SE3, 900); }

/* ---- the team itself ---- */

typedef struct {
    atomic_int done[1000];
    int        workers[1000];
} tally;

static void count_task(void *user, int64_t t, int worker)
{
    tally *all = user;
    atomic_fetch_add(&all->done[t], 1);
    all->workers[t] = worker;
}

static void test_every_task_of_every_section_is_done_once(void)
{
    for (int k = 0; k < COUNT(NUMBERS); k++) {
        ct__team team;
        tally    all = {0};
        int      wrong = 0;
        ct__team_begin(&team, NUMBERS[k]);
        for (int section = 1; section <= 300; section++) {
            const int tasks = section * 7 % 1000;
            for (int t = 0; t < 1000; t++) atomic_store(&all.done[t], 0);
            ct__team_run(&team, tasks, count_task, &all);
            for (int t = 0; t < 1000; t++) wrong += atomic_load(&all.done[t]) != (t < tasks);
            for (int t = 0; t < tasks; t++) wrong += all.workers[t] < 0 || all.workers[t] >= NUMBERS[k];
            if (section % 50 == 0) nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); /* they fall asleep */
        }
        ct__team_end(&team);
        CHECK(wrong == 0);
    }
}

static void test_small_graphs_stay_with_their_caller(void)
{
    ct_nav_options nav;
    ct_noise      *noise = NULL;
    ct_sequence   *seq = NULL;
    ct_solver     *solver = NULL;
    ct_err         err = {0};
    CHECK(ct_nav_preset("D1", CT_SE2, &nav));
    nav.least = nav.most = 500;
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_simulate_nav(&nav, 0, noise, &seq, &err), err);
    CHECK_OK(ct_solver_new(seq->graph, NULL, &solver, &err), err);
    ct_solve_options options = ct_solve_defaults();
    ct_solve_result  result;
    options.threads = 0;
    CHECK_OK(ct_solver_run(solver, noise, ct_graph_initial(seq->graph), &options, &result, &err), err);
    CHECK(solver->system->parts == 0 && solver->system->workers == 1 && !solver->share);
    options.threads = -1;
    CHECK_REFUSED(ct_solver_run(solver, noise, ct_graph_initial(seq->graph), &options, &result, &err), err, "threads");
    ct_solver_free(solver);
    ct_sequence_free(seq);
    ct_noise_free(noise);
}

int main(void)
{
    RUN(test_every_task_of_every_section_is_done_once);
    RUN(test_small_graphs_stay_with_their_caller);
    RUN(test_chains);
    RUN(test_trees);
    RUN(test_grids);
    RUN(test_hubs_and_components);
    RUN(test_rank_deficient_graphs);
    RUN(test_landmarks_kernels_and_a_fixed_pose);
    RUN(test_streets);
    RUN(test_spheres);
    return ct_test_end();
}
