/* test_innovation.c: held-out measurements, predicted from the rest: against dense algebra on the graph without them,
 * on simulated logs whose noise is known, and as a score. */
#include "ct_test.h"
#include "evaluate/hold_out.h"

#include <covtune/covtune.h>

/* ---- a robot that sees landmarks ------------------------------------------------------------- */

#define POSES 24
#define MARKS 3

typedef struct {
    ct_graph *graph;
    ct_noise *noise;
    ct_err    err;
} scene;

enum { ODOM, GPS, SIGHT, FIRST, LOOP };

/* Poses on a circle, odometry, positions at every second pose, sightings of unknown landmarks, two loops. Noise models
 * are right. */
static void make_scene(scene *s, uint64_t seed)
{
    static const double V[][3] = {
        {1e-3, 1e-3, 1e-4}, {0.04, 0.09, 0}, {0.01, 4e-4, 0}, {1e-6, 1e-6, 1e-6}, {1e-2, 1e-2, 1e-3}};
    static const int    DIM[] = {3, 2, 2, 3, 3};
    static const char  *NAME[] = {"odom", "gps", "sight", "first_pose", "loop"};
    ct_rng              rng = ct_rng_seed(seed);
    ct_se2              truth[POSES];
    *s = (scene){0};
    CHECK_OK(ct_noise_new(&s->noise, &s->err), s->err);
    CHECK_OK(ct_graph_new(&s->graph, &s->err), s->err);
    for (int k = 0; k < 5; k++)
        CHECK_OK(ct_noise_add_diagonal(s->noise, NAME[k], DIM[k], V[k], NULL, &s->err), s->err);
    double e[5][3];
#define DRAW(k) for (int i = 0; i < DIM[k]; i++) e[k][i] = sqrt(V[k][i]) * ct_rng_normal(&rng)
    for (int k = 0; k < POSES; k++) {
        truth[k] = ct_se2_make(5 * cos(0.5 * k), 5 * sin(0.5 * k), 0.5 * k + 1.57);
        CHECK_OK(ct_graph_add_se2(s->graph, NULL, truth[k], NULL, &s->err), s->err);
    }
    for (int m = 0; m < MARKS; m++) {
        const double point[2] = {3.0 * m - 2, 1.5 * m};
        char         name[16];
        snprintf(name, sizeof name, "l%d", m);
        CHECK_OK(ct_graph_add_point2(s->graph, name, point, NULL, &s->err), s->err);
        for (int k = 0; k < POSES; k++) {
            if ((k + m) % 3) continue;
            DRAW(SIGHT);
            const double dx = point[0] - truth[k].x, dy = point[1] - truth[k].y;
            const double yaw = atan2(truth[k].s, truth[k].c);
            CHECK_OK(ct_graph_add_range_bearing_se2(s->graph, k, POSES + m, hypot(dx, dy) + e[SIGHT][0],
                                                    atan2(dy, dx) - yaw + e[SIGHT][1], SIGHT, &s->err),
                     s->err);
        }
    }
    DRAW(FIRST);
    const ct_se2 first = ct_se2_compose(truth[0], ct_se2_exp(e[FIRST]), NULL, NULL);
    CHECK_OK(ct_graph_add_prior_se2(s->graph, 0, first, FIRST, &s->err), s->err);
    for (int k = 0; k < POSES; k++) {
        DRAW(GPS);
        const double z[2] = {truth[k].x + e[GPS][0], truth[k].y + e[GPS][1]};
        if (k % 2) CHECK_OK(ct_graph_add_position(s->graph, k, z, GPS, &s->err), s->err);
        for (int to = 1; to <= 12 && k; to += 11) { /* the pose before; half a turn of four before */
            const int what = to == 1 ? ODOM : LOOP;
            if (k < to) continue;
            if (what == ODOM) DRAW(ODOM);
            else DRAW(LOOP);
            const ct_se2 step = ct_se2_between(truth[k - to], truth[k], NULL, NULL),
                         z2 = ct_se2_compose(step, ct_se2_exp(e[what]), NULL, NULL);
            CHECK_OK(ct_graph_add_between_se2(s->graph, k - to, k, z2, what, &s->err), s->err);
        }
    }
}

static void free_scene(scene *s)
{
    ct_graph_free(s->graph);
    ct_noise_free(s->noise);
}

/* The minimum from the initial values; the caller frees it. */
static double *solve(const ct_graph *graph, const ct_noise *noise)
{
    ct_solver       *solver = NULL;
    ct_solve_options options = ct_inference_defaults().solve;
    ct_solve_result  result;
    ct_err           err = {0};
    double          *x = malloc((size_t)ct_graph_size(graph) * sizeof *x);
    memcpy(x, ct_graph_initial_const(graph), (size_t)ct_graph_size(graph) * sizeof *x);
    CHECK_OK(ct_solver_new(graph, NULL, &solver, &err), err);
    CHECK_OK(ct_solver_run(solver, noise, x, &options, &result, &err), err);
    CHECK(ct_solve_usable(&result));
    ct_solver_free(solver);
    return x;
}

static ct_innovation innovate(const ct_graph *graph, const ct_noise *noise, uint64_t seed, ct_innovation *each)
{
    const ct_solve_options options = ct_inference_defaults().solve;
    double                *x = solve(graph, noise);
    ct_innovation          total;
    ct_err                 err = {0};
    CHECK_OK(ct_innovations(graph, noise, x, seed, &options, each, &total, &err), err);
    free(x);
    return total;
}

/* ---- dense algebra on the graph without them ------------------------------------------------- */

/* A <- A^-1, by Gauss and Jordan. Returns |A|. */
static double invert(int n, double *A)
{
    double *B = calloc((size_t)(n * n), sizeof *B), det = 1;
    for (int i = 0; i < n; i++) B[i * n + i] = 1;
    for (int i = 0; i < n; i++) { /* positive definite: no pivoting */
        const double p = A[i * n + i];
        det *= p;
        for (int j = 0; j < n; j++) A[i * n + j] /= p, B[i * n + j] /= p;
        for (int k = 0; k < n; k++) {
            const double q = A[k * n + i];
            for (int j = 0; k != i && j < n; j++) A[k * n + j] -= q * A[i * n + j], B[k * n + j] -= q * B[i * n + j];
        }
    }
    memcpy(A, B, (size_t)(n * n) * sizeof *A);
    free(B);
    return det;
}

/* r, and J as rows over all scalars. Returns rows. */
static int rows_of(const ct_graph *g, int32_t f, const double *x, const int *column, int n, double *r, double *J)
{
    const ct_factor factor = ct_graph_factor(g, f);
    const double   *arg[CT_ARITY_MAX];
    double          block[CT_ARITY_MAX][36], *to[CT_ARITY_MAX];
    for (int i = 0; i < factor.ops->arity; i++) {
        arg[i] = x + ct_graph_offset(g, factor.var[i]);
        to[i] = block[i];
    }
    ct_factor_eval(factor.ops, factor.z, factor.context, arg, r, to);
    memset(J, 0, (size_t)(factor.ops->rows * n) * sizeof *J);
    for (int i = 0; i < factor.ops->arity; i++) {
        const int cols = ct_kind_dim(factor.ops->kind[i]);
        for (int row = 0; row < factor.ops->rows; row++)
            for (int c = 0; c < cols; c++) J[row * n + column[factor.var[i]] + c] = block[i][row * cols + c];
    }
    return factor.ops->rows;
}

/* The graph without the factors of `held`, which has the same variables. */
static ct_graph *without(const ct_graph *g, const uint8_t *held)
{
    ct_graph *out = NULL;
    ct_err    err = {0};
    CHECK_OK(ct_graph_new(&out, &err), err);
    for (int32_t v = 0; v < ct_graph_variables(g); v++) {
        char name[32];
        CHECK_OK(ct_graph_add_variable(out, ct_graph_name(g, v, name, sizeof name), ct_graph_kind(g, v),
                                       ct_graph_initial_const(g) + ct_graph_offset(g, v), NULL, &err),
                 err);
    }
    for (int32_t f = 0; f < ct_graph_factors(g); f++) {
        const ct_factor k = ct_graph_factor(g, f);
        if (!held[f]) CHECK_OK(ct_graph_add_factor(out, k.ops, k.var, k.z, k.context, k.noise, &err), err);
    }
    return out;
}

static void add_information(const ct_graph *g, const ct_noise *noise, const double *x, const int *column, int n,
                            double *H)
{
    double *J = malloc((size_t)(6 * n) * sizeof *J), r[6];
    for (int32_t f = 0; f < ct_graph_factors(g); f++) {
        const int             rows = rows_of(g, f, x, column, n, r, J);
        const ct_noise_model *m = ct_noise_get(noise, ct_graph_factor(g, f).noise);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < n; k++)
                for (int row = 0; row < rows; row++)
                    H[i * n + k] += J[row * n + i] * J[row * n + k] / m->covariance[row];
    }
    free(J);
}

/* nu' S^-1 nu and log p of a factor, with P of all scalars. */
static void predict_dense(const ct_graph *g, int32_t f, const ct_noise *noise, const double *x, const int *column,
                          int n, const double *P, double *normalised, double *density)
{
    double   *J = malloc((size_t)(6 * n) * sizeof *J), r[6], S[36];
    const int rows = rows_of(g, f, x, column, n, r, J);
    for (int a = 0; a < rows; a++)
        for (int b = 0; b < rows; b++) {
            S[a * rows + b] = a == b ? ct_noise_get(noise, ct_graph_factor(g, f).noise)->covariance[a] : 0;
            for (int i = 0; i < n; i++)
                for (int k = 0; k < n; k++) S[a * rows + b] += J[a * n + i] * P[i * n + k] * J[b * n + k];
        }
    const double det = invert(rows, S);
    double       d2 = 0;
    for (int a = 0; a < rows; a++)
        for (int b = 0; b < rows; b++) d2 += r[a] * S[a * rows + b] * r[b];
    *normalised += d2;
    *density -= 0.5 * (d2 + log(det) + rows * log(2 * acos(-1)));
    free(J);
}

static void test_innovations_are_those_of_dense_algebra(void)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        scene         s;
        int           column[POSES + MARKS], n = 0, held = 0;
        double        normalised = 0, density = 0;
        ct__hold_out  h;
        make_scene(&s, seed);
        double *x = solve(s.graph, s.noise);
        CHECK_OK(ct__hold_out_choose(s.graph, s.noise, x, seed, &h, &s.err), s.err);
        ct_graph *rest = without(s.graph, h.held);
        double   *y = solve(rest, s.noise);
        for (int v = 0; v < POSES + MARKS; v++) {
            column[v] = n;
            n += ct_kind_dim(ct_graph_kind(s.graph, v));
        }
        double *H = calloc((size_t)(n * n), sizeof *H);
        add_information(rest, s.noise, y, column, n, H);
        invert(n, H);
        for (int32_t f = 0; f < ct_graph_factors(s.graph); f++) {
            if (!h.held[f]) continue;
            held++;
            predict_dense(s.graph, f, s.noise, y, column, n, H, &normalised, &density);
        }
        const ct_innovation found = innovate(s.graph, s.noise, seed, NULL);
        CHECK(held == h.count && found.measurements == held && held >= 3);
        CHECK_NEAR(found.normalised, normalised, 1e-5 * normalised);
        CHECK_NEAR(found.log_density, density, 1e-5 * fabs(density) + 1e-6);
        free(x);
        free(y);
        free(H);
        ct_graph_free(rest);
        ct__hold_out_free(&h);
        free_scene(&s);
    }
}

/* ---- what is held out ------------------------------------------------------------------------ */

static void test_a_tenth_of_what_is_not_odometry_is_held_out(void)
{
    scene    s;
    int32_t  ever = 0;
    uint8_t *seen;
    make_scene(&s, 1);
    seen = calloc((size_t)ct_graph_factors(s.graph), 1);
    double *x = solve(s.graph, s.noise);
    for (uint64_t seed = 1; seed <= 200; seed++) {
        ct__hold_out h;
        int          of[5] = {0};
        CHECK_OK(ct__hold_out_choose(s.graph, s.noise, x, seed, &h, &s.err), s.err);
        for (int32_t f = 0; f < ct_graph_factors(s.graph); f++)
            if (h.held[f]) of[ct_graph_factor(s.graph, f).noise]++, seen[f] = 1;
        CHECK(of[ODOM] == 0 && of[FIRST] == 0); /* the chain; one alone */
        CHECK(of[GPS] == 1 && of[SIGHT] == 2 && of[LOOP] == 1);
        ct__hold_out_free(&h);
    }
    for (int32_t f = 0; f < ct_graph_factors(s.graph); f++) ever += seen[f];
    CHECK(ever == 12 + 24 + 12); /* every one has its turn */
    free(seen);
    free(x);
    free_scene(&s);
}

static void test_the_choice_does_not_depend_on_variances(void)
{
    scene        s;
    ct__hold_out a, b;
    make_scene(&s, 2);
    double *x = solve(s.graph, s.noise);
    CHECK_OK(ct__hold_out_choose(s.graph, s.noise, x, 7, &a, &s.err), s.err);
    for (int32_t g = 0; g < 5; g++) {
        double v[3];
        for (int i = 0; i < ct_noise_get(s.noise, g)->dim; i++) v[i] = g % 2 ? 1e-8 : 1e8;
        CHECK_OK(ct_noise_set_variance(s.noise, g, v, &s.err), s.err);
    }
    CHECK_OK(ct__hold_out_choose(s.graph, s.noise, x, 7, &b, &s.err), s.err);
    CHECK(a.count == b.count && !memcmp(a.held, b.held, (size_t)ct_graph_factors(s.graph)));
    ct__hold_out_free(&a);
    ct__hold_out_free(&b);
    free(x);
    free_scene(&s);
}

/* Landmarks seen twice by their bearing alone: without one of the two their distance is undetermined. */
static void test_nothing_is_held_out_that_leaves_a_variable_undetermined(void)
{
    ct_graph *graph = NULL;
    ct_noise *noise = NULL;
    ct_err    err = {0};
    CHECK_OK(ct_graph_new(&graph, &err), err);
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "bearing", 1, 1e-4, NULL, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "gps", 3, 1e-4, NULL, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "odom", 3, 1e-4, NULL, &err), err);
    for (int k = 0; k < 20; k++) {
        CHECK_OK(ct_graph_add_se2(graph, NULL, ct_se2_make(k, 0, 0), NULL, &err), err);
        CHECK_OK(ct_graph_add_prior_se2(graph, k, ct_se2_make(k, 0, 0), 1, &err), err);
        if (k) CHECK_OK(ct_graph_add_between_se2(graph, k - 1, k, ct_se2_make(1, 0, 0), 2, &err), err);
    }
    for (int m = 0; m < 15; m++) { /* from m and m + 2; the last five from a third pose too */
        char name[16];
        snprintf(name, sizeof name, "l%d", m);
        CHECK_OK(ct_graph_add_point2(graph, name, (const double[]){m + 1, 3}, NULL, &err), err);
        for (int k = 0; k < (m < 10 ? 2 : 3); k++)
            CHECK_OK(ct_graph_add_bearing_se2(graph, m + 2 * k, 20 + m, atan2(3, 1 - 2 * k), 0, &err), err);
    }
    int ever = 0;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        ct__hold_out h;
        CHECK_OK(ct__hold_out_choose(graph, noise, ct_graph_initial(graph), seed, &h, &err), err);
        int bearings = 0, priors = 0;
        for (int32_t f = 0; f < ct_graph_factors(graph); f++) {
            const ct_factor k = ct_graph_factor(graph, f);
            if (h.held[f] && k.noise == 1) priors++;
            if (!h.held[f] || k.noise == 1) continue;
            CHECK(k.var[1] - 20 >= 10);
            bearings++;
        }
        CHECK(priors == 2 && bearings <= 3);
        ever |= bearings > 0;
        ct__hold_out_free(&h);
    }
    CHECK(ever);
    ct_graph_free(graph);
    ct_noise_free(noise);
}

static void test_odometry_alone_has_nothing_to_hold_out(void)
{
    ct_pose_graph_options options = ct_pose_graph_defaults(CT_SE2);
    ct_noise             *noise = NULL;
    ct_sequence          *seq = NULL;
    ct_err                err = {0};
    CHECK_OK(ct_noise_new(&noise, &err), err);
    options.poses = 50;
    options.loop_chance = 0;
    CHECK_OK(ct_simulate_pose_graph(&options, noise, &seq, &err), err);
    ct_innovation       each[2];
    const ct_innovation none = innovate(seq->graph, noise, 1, each);
    CHECK(none.measurements == 0 && isnan(none.log_density) && each[0].measurements == 0);
    ct_sequence_free(seq);
    ct_noise_free(noise);
}

/* ---- simulated logs -------------------------------------------------------------------------- */

static void scale_all(ct_noise *noise, double factor)
{
    ct_err err = {0};
    for (int32_t g = 0; g < ct_noise_count(noise); g++) {
        const ct_noise_model *m = ct_noise_get(noise, g);
        double                v[36];
        const int             n = m->kind == CT_NOISE_FULL ? m->dim * m->dim : m->dim;
        for (int i = 0; i < n; i++) v[i] = factor * m->covariance[i];
        if (m->kind == CT_NOISE_FULL) CHECK_OK(ct_noise_set_covariance(noise, g, v, &err), err);
        else CHECK_OK(ct_noise_set_variance(noise, g, v, &err), err);
    }
}

#define RUNS 12
typedef struct {
    ct_noise    *noise;
    ct_sequence *seq[RUNS];
} logs;

static void make_logs(logs *l)
{
    ct_nav_options options;
    ct_err         err = {0};
    CHECK(ct_nav_preset("D1", CT_SE2, &options));
    CHECK_OK(ct_noise_new(&l->noise, &err), err);
    for (int i = 0; i < RUNS; i++) CHECK_OK(ct_simulate_nav(&options, (uint64_t)i, l->noise, &l->seq[i], &err), err);
}

static void free_logs(logs *l)
{
    for (int i = 0; i < RUNS; i++) ct_sequence_free(l->seq[i]);
    ct_noise_free(l->noise);
}

static ct_summary evaluate_logs(const logs *l, ct_innovation of[RUNS])
{
    ct_evaluate_options options = ct_evaluate_defaults();
    ct_evaluation       each[RUNS];
    ct_summary          summary;
    ct_err              err = {0};
    options.innovations = 1;
    CHECK_OK(ct_evaluate(RUNS, l->seq, l->noise, &options, each, &summary, &err), err);
    for (int i = 0; i < RUNS; i++) of[i] = each[i].innovation;
    return summary;
}

static void test_latent_noise_predicts_as_well_as_it_claims(void)
{
    logs          l;
    ct_innovation latent[RUNS], half[RUNS];
    make_logs(&l);
    const ct_innovation right = evaluate_logs(&l, latent).innovation;
    const double        mean = right.normalised / (double)right.rows, se = sqrt(2.0 / (double)right.rows);
    printf("  %lld measurements: %.3f +- %.3f per row, %.4f beyond 3 sigma\n", (long long)right.measurements, mean, se,
           (double)right.beyond / (double)right.rows);
    CHECK(right.measurements > 30 * RUNS && right.rows == 3 * right.measurements);
    CHECK_NEAR(mean, 1, 3 * se);
    CHECK_NEAR((double)right.beyond / (double)right.rows, 0.0027, 4 * sqrt(0.0027 / (double)right.rows));
    scale_all(l.noise, 0.25);
    const ct_innovation small = evaluate_logs(&l, half).innovation;
    CHECK_NEAR(small.normalised, 4 * right.normalised, 1e-6 * small.normalised);
    CHECK(small.measurements == right.measurements && small.beyond > 20 * right.beyond);
    free_logs(&l);
}

/* The score is highest where variances are right: 12 pairs say so by more than two standard errors. */
static void test_the_score_prefers_the_noise_that_was_drawn(void)
{
    logs          l;
    ct_innovation latent[RUNS], other[RUNS];
    make_logs(&l);
    evaluate_logs(&l, latent);
    for (int wrong = 0; wrong < 4; wrong++) {
        ct_noise *kept = l.noise;
        ct_err    err = {0};
        CHECK_OK(ct_noise_copy(kept, &l.noise, &err), err);
        for (int32_t g = 0; g < ct_noise_count(l.noise); g++) {
            const ct_noise_model *m = ct_noise_get(l.noise, g);
            double                v[3];
            for (int i = 0; i < 3; i++) v[i] = ct_noise_covariance(m, i, i) * (wrong % 2 ? 9 : 1.0 / 9);
            if (!strcmp(m->name, wrong < 2 ? "odom" : "gps")) CHECK_OK(ct_noise_set_variance(l.noise, g, v, &err), err);
        }
        evaluate_logs(&l, other);
        const ct_score_difference d = ct_innovation_compare(RUNS, latent, other),
                                  back = ct_innovation_compare(RUNS, other, latent),
                                  one = ct_innovation_compare(1, latent, other);
        printf("  %s: %.4f +- %.4f, of blocks of one sequence %.4f +- %.4f\n", wrong < 2 ? "odom" : "gps", d.difference,
               d.standard_error, one.difference, one.standard_error);
        CHECK(d.pairs == RUNS && !d.of_blocks && d.difference > 2 * d.standard_error && d.standard_error > 0);
        CHECK_NEAR(back.difference, -d.difference, 1e-12);
        CHECK(one.of_blocks && one.pairs == CT_INNOVATION_BLOCKS && one.standard_error > 0);
        ct_noise_free(l.noise);
        l.noise = kept;
    }
    CHECK(ct_innovation_compare(RUNS, latent, latent).difference == 0);
    CHECK(isnan(ct_innovation_compare(0, NULL, NULL).difference));
    free_logs(&l);
}

static void test_sums_by_model_are_those_of_all(void)
{
    scene         s;
    ct_innovation each[5], sum = {0};
    make_scene(&s, 4);
    const ct_innovation total = innovate(s.graph, s.noise, 3, each);
    int64_t             of_blocks = 0;
    double              density = 0;
    for (int g = 0; g < 5; g++) ct_innovation_add(&each[g], &sum);
    for (int b = 0; b < CT_INNOVATION_BLOCKS; b++) {
        of_blocks += total.block_measurements[b];
        density += total.block_log_density[b];
    }
    CHECK(sum.measurements == total.measurements && of_blocks == total.measurements && sum.beyond == total.beyond);
    CHECK_NEAR(sum.log_density, total.log_density, 1e-9);
    CHECK_NEAR(density, total.log_density, 1e-9);
    CHECK(each[ODOM].measurements == 0 && each[GPS].rows == 2 * each[GPS].measurements);
    CHECK(each[GPS].row_square[0] > 0 && each[GPS].row_square[2] == 0);
    free_scene(&s);
}

/* A known multiple of the covariance is the same as a model that has it. */
static void test_multiples_of_a_covariance_are_the_covariance(void)
{
    scene         a, b;
    ct_innovation of_a[5], of_b[5];
    make_scene(&a, 6);
    make_scene(&b, 6);
    for (int32_t f = 0; f < ct_graph_factors(a.graph); f++)
        CHECK_OK(ct_graph_set_multiplier(a.graph, f, 2.5, &a.err), a.err);
    scale_all(b.noise, 2.5);
    const ct_innovation x = innovate(a.graph, a.noise, 1, of_a), y = innovate(b.graph, b.noise, 1, of_b);
    CHECK(x.measurements == y.measurements && x.measurements > 0);
    CHECK_NEAR(x.normalised, y.normalised, 1e-6 * y.normalised);
    CHECK_NEAR(x.log_density, y.log_density, 1e-6);
    CHECK_NEAR(of_a[SIGHT].row_square[0], of_b[SIGHT].row_square[0], 1e-6 * of_b[SIGHT].row_square[0]);
    CHECK_NEAR(of_a[SIGHT].row_ratio[1], of_b[SIGHT].row_ratio[1], 1e-6 * of_b[SIGHT].row_ratio[1]);
    free_scene(&a);
    free_scene(&b);
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* A number measured five times, one held out: its density as a function of what it measures, over a grid. */
static double integrate_density(ct_robust kernel)
{
    double       sum = 0;
    const double step = 0.05;
    for (double z = -600; z <= 600; z += fabs(z) < 20 ? step : 1.0) {
        ct_graph     *graph = NULL;
        ct_noise     *noise = NULL;
        ct_err        err = {0};
        ct__hold_out  h;
        const double  weight = fabs(z) < 20 ? step : 1.0;
        CHECK_OK(ct_graph_new(&graph, &err), err);
        CHECK_OK(ct_noise_new(&noise, &err), err);
        CHECK_OK(ct_noise_add_isotropic(noise, "m", 1, 0.25, NULL, &err), err);
        CHECK_OK(ct_graph_add_variable(graph, NULL, CT_R1, NULL, NULL, &err), err);
        CHECK_OK(ct_noise_set_robust(noise, 0, kernel, &err), err);
        for (int held = 0, pass = 0; pass < 2; pass++) { /* which one is held out does not depend on z */
            ct_graph *g = NULL;
            CHECK_OK(ct_graph_copy(graph, &g, &err), err);
            for (int k = 0; k < 5; k++) {
                const double value = pass && k == held ? z : 0.02 * k - 0.04;
                CHECK_OK(ct_graph_add_prior(g, 0, &value, 0, &err), err);
            }
            const double           x0 = 0;
            const ct_solve_options options = ct_inference_defaults().solve;
            ct_innovation          total;
            if (pass) CHECK_OK(ct_innovations(g, noise, &x0, 1, &options, NULL, &total, &err), err);
            if (pass) sum += weight * exp(total.log_density);
            CHECK_OK(ct__hold_out_choose(g, noise, &x0, 1, &h, &err), err);
            for (int k = 0; k < 5; k++)
                if (h.held[k]) held = k;
            ct__hold_out_free(&h);
            ct_graph_free(g);
        }
        ct_graph_free(graph);
        ct_noise_free(noise);
    }
    return sum;
}

static void test_predictive_densities_integrate_to_one(void)
{
    const ct_robust KERNELS[] = {{CT_ROBUST_NONE, 0, 0}, {CT_ROBUST_HUBER, 1.345, 0}, {CT_ROBUST_CAUCHY, 2.3849, 0},
                                 {CT_ROBUST_TUKEY, 4.7, 0}, {CT_ROBUST_GEMAN_MCCLURE, 2, 0}};
    for (int k = 0; k < 5; k++) CHECK_NEAR(integrate_density(KERNELS[k]), 1, 2e-3);
}

/* ---- fit ------------------------------------------------------------------------------------- */

static void test_chi_square_by_model_adds_up_to_twice_the_error(void)
{
    scene        s;
    ct_solver   *solver = NULL;
    ct_model_fit fit[5];
    double       chi = 0, leverage = 0;
    make_scene(&s, 9);
    double *x = solve(s.graph, s.noise);
    CHECK_OK(ct_solver_new(s.graph, NULL, &solver, &s.err), s.err);
    CHECK_OK(ct_model_fit_at(s.noise, solver, x, fit, &s.err), s.err);
    for (int g = 0; g < 5; g++)
        for (int i = 0; i < 3; i++) chi += fit[g].chi_squared[i], leverage += fit[g].leverage[i];
    CHECK_NEAR(chi, 2 * ct_graph_error(s.graph, s.noise, x), 1e-9 * chi);
    CHECK_NEAR(leverage, 3 * POSES + 2 * MARKS, 1e-6);
    CHECK(fit[ODOM].factors == POSES - 1 && fit[GPS].factors == POSES / 2 && fit[FIRST].factors == 1);
    ct_solver_free(solver);
    free(x);
    free_scene(&s);
}

int main(void)
{
    RUN(test_innovations_are_those_of_dense_algebra);
    RUN(test_a_tenth_of_what_is_not_odometry_is_held_out);
    RUN(test_the_choice_does_not_depend_on_variances);
    RUN(test_nothing_is_held_out_that_leaves_a_variable_undetermined);
    RUN(test_odometry_alone_has_nothing_to_hold_out);
    RUN(test_latent_noise_predicts_as_well_as_it_claims);
    RUN(test_the_score_prefers_the_noise_that_was_drawn);
    RUN(test_sums_by_model_are_those_of_all);
    RUN(test_multiples_of_a_covariance_are_the_covariance);
    RUN(test_predictive_densities_integrate_to_one);
    RUN(test_chi_square_by_model_adds_up_to_twice_the_error);
    return ct_test_end();
}
