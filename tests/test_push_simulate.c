/* test_push_simulate.c: runs of pushing as graphs. */
#define _XOPEN_SOURCE 700
#include <covtune/push.h>
#include "data_test.h"
#include "push/push.h"

#include <covtune/solve.h>

static const ct_shape_kind OBJECT[2] = {CT_SHAPE_ELLIPSE, CT_SHAPE_RECTANGLE};
enum { STEPS = 300, MODELS = 6 };
static const char *const MODEL[MODELS] = {"prior", "tac", "dyn", "geo", "bind", "first_pose"};

static ct_push_options options(int object, uint64_t seed)
{
    ct_push_options o = ct_push_defaults(OBJECT[object]);
    o.seed = seed;
    return o;
}

static run make(const ct_push_options *o, int pool, uint64_t number, ct_tactile_fn tactile, void *user)
{
    run r = {0};
    CHECK_OK(ct_noise_new(&r.noise, &r.err), r.err);
    CHECK_OK(ct_simulate_push(o, pool, number, tactile, user, r.noise, &r.seq, &r.err), r.err);
    return r;
}

static ct_se2 pose(const double *x, int32_t v)
{
    ct_se2 T;
    memcpy(&T, x + 4 * (int64_t)v, sizeof T);
    return T;
}

static int model_of(const run *r, int32_t noise)
{
    int m = 0;
    while (strcmp(ct_noise_get(r->noise, noise)->name, MODEL[m])) m++;
    return m;
}

/* ---- structure ---- */

static void test_a_run_has_the_factors_it_says(void)
{
    static const char *const NAME[MODELS] = {"prior_se2",   "tactile_yaw", "push_se2",
                                             "contact_se2", "between_se2", "prior_se2"};
    for (int k = 0; k < 2; k++) {
        const ct_push_options o = options(k, 1);
        run                   r = make(&o, 0, 0, NULL, NULL);
        const ct_graph       *g = r.seq->graph;
        int                   count[MODELS] = {0};
        CHECK(ct_graph_variables(g) == 2 * STEPS && ct_graph_find(g, "o0") == 0 && ct_graph_find(g, "e0") == 1 &&
              ct_graph_find(g, "e299") == 2 * STEPS - 1);
        for (int32_t f = 0; f < ct_graph_factors(g); f++) {
            const ct_factor k_f = ct_graph_factor(g, f);
            const int       m = model_of(&r, k_f.noise), first = k_f.var[0] / 2, last = k_f.var[k_f.ops->arity - 1] / 2;
            count[m]++;
            CHECK(!strcmp(k_f.ops->name, NAME[m]) && (m == 3) == (k_f.context != NULL));
            if (m == 0) CHECK(k_f.var[0] % 2 == 1);
            if (m == 1) CHECK(first / 100 == last / 100 && last - first >= 10 && last - first < 20);
            if (m == 2) CHECK(last == first + 1 && first / 100 == last / 100 && k_f.z[0] == (k ? 0.08077 : 0.04133));
            if (m == 3) CHECK(last == first && k_f.z[0] == 0 && k_f.context == r.seq->shape[0]);
            if (m == 4) CHECK(last == first + 1 && last % 100 == 0 && k_f.var[0] % 2 == 0 && k_f.var[1] % 2 == 0);
            if (m == 5) CHECK(first == 0);
        }
        /* of 100 steps, 90 reach back by 10, 89 by 11, ..., 81 by 19 */
        const int expected[MODELS] = {STEPS, 3 * (90 + 81) * 10 / 2, 3 * 99, STEPS, 2, 2};
        for (int m = 0; m < MODELS; m++) CHECK(count[m] == expected[m]);
        CHECK(r.seq->shapes == 1 && !strcmp(r.seq->shape_name[0], ct_shape_kind_name(OBJECT[k])) &&
              ct_shape_kind_of(r.seq->shape[0]) == OBJECT[k]);
        for (int v = 0; v < 2 * STEPS; v++) CHECK(r.seq->known[v] == 7);
        run_free(&r);
    }
}

static void test_models_start_far_away_and_are_shared_by_runs(void)
{
    /* a spread of 1e6 in units */
    static const double VARIANCE[MODELS] = {30, 1e3, 1e-3, 1e-2, 1, 1},
                        UNIT[MODELS] = {1e-4, 1e-2, 2e-4, 2e-3, 1e-6, 1e-6};
    static const int      DIM[MODELS] = {3, 1, 3, 1, 3, 3};
    const ct_push_options o = options(0, 1);
    run                   r = make(&o, 0, 0, NULL, NULL);
    ct_sequence          *other = NULL;
    CHECK_OK(ct_simulate_push(&o, 1, 4, NULL, NULL, r.noise, &other, &r.err), r.err);
    CHECK(ct_noise_count(r.noise) == MODELS);
    for (int m = 0; m < MODELS; m++) {
        const ct_noise_model *n = ct_noise_get(r.noise, ct_noise_find(r.noise, MODEL[m]));
        CHECK(n->dim == DIM[m] && n->kind == (m == 5 ? CT_NOISE_ISOTROPIC : CT_NOISE_DIAGONAL));
        double                unit[3] = {1e-6, 1e-6, 1e-6};
        CHECK(ct_push_units(MODEL[m], unit) == (m < 4));
        for (int i = 0; i < n->dim; i++)
            CHECK(unit[i] == UNIT[m] && n->covariance[i] == VARIANCE[m] * (UNIT[m] * UNIT[m]));
    }
    CHECK_OK(ct_graph_check_noise(other->graph, r.noise, &r.err), r.err);
    ct_sequence_free(other);
    run_free(&r);
}

/* Which of the pool's pushes begins at step `begin`: the one that moves as it does. */
static int find_episode(const run *r, int begin, int pushes, const ct_push_episode *push)
{
    int found = -1;
    for (int i = 0; i < pushes; i++) {
        double d = 0;
        for (int k = 1; k < 100; k++) {
            const ct_se2 a = ct_se2_between(push[i].object[k - 1], push[i].finger[k], NULL, NULL);
            const ct_se2 b = ct_se2_between(pose(r->seq->truth, 2 * (begin + k - 1)),
                                            pose(r->seq->truth, 2 * (begin + k) + 1), NULL, NULL);
            d = fmax(d, fabs(a.x - b.x) + fabs(a.y - b.y) + fabs(a.c - b.c) + fabs(a.s - b.s));
        }
        if (d < 1e-12) found = found < 0 ? i : pushes;
    }
    return found;
}

static void test_runs_are_pushes_of_their_pool_one_after_the_other(void)
{
    enum { POOL = 20, ALL = 3 * POOL };
    const ct_push_options o = options(1, 2);
    ct_push_episode       push[ALL];
    ct_err                err = {0};
    int                   used[ALL] = {0}, chosen = 0;
    for (int i = 0; i < ALL; i++)
        CHECK_OK(ct_simulate_push_episode(&o, i / POOL, (uint64_t)(i % POOL), &push[i], &err), err);
    for (int pool = 0; pool < 2; pool++) {
        for (uint64_t number = 0; number < 10; number++) {
            run r = make(&o, pool, number, NULL, NULL);
            int episode[3];
            for (int k = 0; k < 3; k++) {
                episode[k] = find_episode(&r, 100 * k, ALL, push);
                CHECK(episode[k] >= 0 && episode[k] / POOL == pool);
                if (episode[k] >= 0 && episode[k] < ALL) used[episode[k]] = 1;
                if (k == 0) continue;
                /* the object goes on from where it was, the finger does not */
                const double *last = r.seq->truth + 4 * (200 * k - 2), *first = last + 8;
                CHECK(same_bits(last, first, 4) && hypot(last[4] - first[4], last[5] - first[5]) > 1e-3);
            }
            CHECK(episode[0] != episode[1] && episode[0] != episode[2] && episode[1] != episode[2]);
            run_free(&r);
        }
    }
    for (int i = 0; i < ALL; i++) chosen += used[i];
    CHECK(chosen > 24 && !used[2 * POOL]); /* of 40, in 60 draws: 31 are expected */
    for (int i = 0; i < ALL; i++) ct_push_episode_free(&push[i]);
}

static void test_the_same_run_has_the_same_bits_and_another_has_not(void)
{
    for (int k = 0; k < 2; k++) {
        const ct_push_options o = options(k, 3);
        run a = make(&o, 0, 5, NULL, NULL), b = make(&o, 0, 5, NULL, NULL), c = make(&o, 0, 6, NULL, NULL),
            d = make(&o, 1, 5, NULL, NULL);
        check_same_run(&a, &b, 1);
        CHECK(!same_bits(a.seq->truth, c.seq->truth, 8) && !same_bits(a.seq->truth, d.seq->truth, 8));
        CHECK(!strcmp(a.seq->name, "run5"));
        run_free(&a), run_free(&b), run_free(&c), run_free(&d);
    }
}

static void test_initial_values_are_measurements_and_an_object_that_goes_along(void)
{
    const ct_push_options o = options(0, 1);
    run                   r = make(&o, 0, 0, NULL, NULL);
    const double         *x = ct_graph_initial_const(r.seq->graph);
    int                   priors = 0;
    CHECK(same_bits(x, r.seq->truth, 4));
    for (int t = 1; t < STEPS; t++) {
        const double *now = x + 8 * t, *before = now - 8;
        const int     pushed = t % o.steps != 0; /* else the finger was put elsewhere */
        CHECK(same_bits(now + 2, before + 2, 2));
        for (int i = 0; i < 2; i++) CHECK_NEAR(now[i] - before[i], pushed ? now[4 + i] - before[4 + i] : 0, 1e-15);
    }
    for (int32_t f = 0; f < ct_graph_factors(r.seq->graph); f++) {
        const ct_factor k = ct_graph_factor(r.seq->graph, f);
        if (model_of(&r, k.noise)) continue;
        CHECK(same_bits(k.z, x + 4 * k.var[0], 4));
        priors++;
    }
    CHECK(priors == STEPS);
    run_free(&r);
}

static void test_a_run_is_written_and_read_back_to_the_bit(void)
{
    ct_push_options o = options(1, 1);
    o.steps = 30, o.episodes = 2;
    run   r = make(&o, 0, 0, NULL, NULL), again = {0};
    char *text = write_text(&r, CT_FORMAT_COVTUNE, NULL, 0, NULL);
    CHECK(text != NULL);
    if (text) CHECK_OK(read_text(&again, CT_FORMAT_COVTUNE, text), again.err);
    if (again.seq) check_same_run(&r, &again, 1);
    CHECK(again.seq && ct_graph_error(r.seq->graph, r.noise, r.seq->truth) ==
                           ct_graph_error(again.seq->graph, again.noise, again.seq->truth));
    free(text);
    run_free(&r);
    run_free(&again);
}

/* ---- measurements ---- */

typedef struct {
    double  squares[MODELS][3];
    int64_t n[MODELS];
} moments;

static void add_residuals(const run *r, moments *m)
{
    for (int32_t f = 0; f < ct_graph_factors(r->seq->graph); f++) {
        const ct_factor k = ct_graph_factor(r->seq->graph, f);
        const double   *x[CT_ARITY_MAX];
        double          e[CT_ROWS_MAX];
        const int       i = model_of(r, k.noise);
        for (int v = 0; v < k.ops->arity; v++) x[v] = r->seq->truth + 4 * (int64_t)k.var[v];
        ct_factor_eval(k.ops, k.z, k.context, x, e, NULL);
        for (int row = 0; row < k.ops->rows; row++) m->squares[i][row] += e[row] * e[row];
        m->n[i]++;
    }
}

static double rms(const moments *m, int model, int row) { return sqrt(m->squares[model][row] / (double)m->n[model]); }

static void test_residuals_at_the_truth_are_what_was_drawn_or_nearly_nothing(void)
{
    for (int k = 0; k < 2; k++) {
        moments m = {0}, even = {0};
        for (uint64_t seed = 1; seed <= 5; seed++) {
            ct_push_options o = options(k, seed);
            run             r = make(&o, 1, 0, NULL, NULL);
            add_residuals(&r, &m);
            run_free(&r);
            o.c2 = NAN;
            r = make(&o, 1, 0, NULL, NULL);
            add_residuals(&r, &even);
            run_free(&r);
        }
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(rms(&m, 0, i), 1e-5, 1e-5 * 5 / sqrt(2.0 * (double)m.n[0]));
            CHECK(rms(&m, 4, i) < 1e-14 && rms(&m, 5, i) < 1e-14);
        }
        CHECK_NEAR(rms(&m, 1, 0), 5e-3, 5e-3 * 5 / sqrt(2.0 * (double)m.n[1]));
        printf("  %s: dyn x %.2g m, y %.2g m, moment %.2g m^2 (even pressure: %.2g), geo %.2g m\n",
               ct_shape_kind_name(OBJECT[k]), rms(&m, 2, 0), rms(&m, 2, 1), rms(&m, 2, 2), rms(&even, 2, 2),
               rms(&m, 3, 0));
        CHECK(rms(&m, 2, 0) < 5e-4 && rms(&m, 2, 1) < 5e-4); /* a fifth of a step, which is 2.5 mm */
        /* calibration is off by 2 mm, and a tilted pad touches beside its tip */
        CHECK(rms(&m, 3, 0) < 4e-3);
        /* LEO's c2 is not that of the object */
        CHECK(rms(&even, 2, 2) < 0.5 * rms(&m, 2, 2) && rms(&even, 2, 0) == rms(&m, 2, 0));
    }
}

typedef struct {
    int    calls;
    double factor, multiplier;
} fake;

/* Tells which images it was given. */
static double sense(void *user, const double before[CT_PUSH_PIXELS], const double after[CT_PUSH_PIXELS],
                    double *multiplier)
{
    fake *f = user;
    CHECK(*multiplier == 1);
    if (f->multiplier > 0) *multiplier = f->multiplier;
    f->calls++;
    return f->factor * (before[0] + 2 * after[CT_PUSH_PIXELS - 1]);
}

static void test_a_sensor_is_shown_the_images_of_its_steps(void)
{
    ct_push_options o = options(0, 1);
    ct_push_episode e;
    o.episodes = 1, o.steps = 25, o.pool = 1;
    fake f = {.factor = 1};
    run  r = make(&o, 1, 0, sense, &f), oracle = make(&o, 1, 0, NULL, NULL);
    int  turns = 0;
    CHECK_OK(ct_simulate_push_episode(&o, 1, 0, &e, &r.err), r.err);
    for (int32_t i = 0; i < ct_graph_factors(r.seq->graph); i++) {
        const ct_factor k = ct_graph_factor(r.seq->graph, i), other = ct_graph_factor(oracle.seq->graph, i);
        if (model_of(&r, k.noise) != 1) { /* all else stays as it is with the oracle */
            CHECK(same_bits(k.z, other.z, ct_factor_z_size(k.ops)));
            continue;
        }
        const double turn =
            e.image[k.var[0] / 2 * CT_PUSH_PIXELS] + 2 * e.image[(k.var[2] / 2 + 1) * CT_PUSH_PIXELS - 1];
        CHECK(k.z[0] == cos(turn) && k.z[1] == sin(turn));
        turns++;
    }
    CHECK(turns == f.calls && turns == 15 + 14 + 13 + 12 + 11 + 10 + 9 + 8 + 7 + 6);
    run_free(&r);
    run_free(&oracle);
    f.multiplier = 4; /* what it says of its covariance is the factor's */
    r = make(&o, 1, 0, sense, &f);
    for (int32_t i = 0; i < ct_graph_factors(r.seq->graph); i++) {
        const ct_factor k = ct_graph_factor(r.seq->graph, i);
        CHECK(k.multiplier == (model_of(&r, k.noise) == 1 ? 4 : 1));
    }
    run_free(&r);
    f.factor = NAN;
    ct_noise *noise = NULL;
    ct_err    err = {0};
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_REFUSED(ct_simulate_push(&o, 1, 0, sense, &f, noise, &r.seq, &err), err,
                  "the tactile sensor gives nan for steps 0 and 10; a yaw must be finite");
    CHECK(!r.seq && err.status == CT_E_ARGUMENT);
    ct_noise_free(noise);
    ct_push_episode_free(&e);
}

/* With variances that are about right the minimum lies near the truth. */
static void test_a_run_can_be_estimated(void)
{
    for (int k = 0; k < 2; k++) {
        const ct_push_options o = options(k, 1);
        run                   r = make(&o, 1, 0, NULL, NULL);
        ct_solver            *solver = NULL;
        ct_solve_options      how = ct_solve_defaults();
        ct_solve_result       result;
        double               *x = malloc((size_t)ct_graph_size(r.seq->graph) * sizeof *x), squares[3] = {0};
        CHECK_OK(ct_noise_set_variance(r.noise, ct_noise_find(r.noise, "tac"), (const double[]){1e-4}, &r.err), r.err);
        CHECK_OK(
            ct_noise_set_variance(r.noise, ct_noise_find(r.noise, "prior"), (const double[]){1e-8, 1e-8, 1e-8}, &r.err),
            r.err);
        CHECK_OK(
            ct_noise_set_variance(r.noise, ct_noise_find(r.noise, "dyn"), (const double[]){1e-7, 1e-7, 1e-7}, &r.err),
            r.err);
        CHECK_OK(ct_noise_set_variance(r.noise, ct_noise_find(r.noise, "geo"), (const double[]){1e-5}, &r.err), r.err);
        memcpy(x, r.seq->truth, (size_t)ct_graph_size(r.seq->graph) * sizeof *x);
        CHECK_OK(ct_solver_new(r.seq->graph, NULL, &solver, &r.err), r.err);
        CHECK_OK(ct_solver_run(solver, r.noise, x, &how, &result, &r.err), r.err);
        CHECK(ct_stop_converged(result.stop));
        for (int t = 0; t < STEPS; t++) {
            double d[3];
            ct_kind_local(CT_SE2, r.seq->truth + 8 * t, x + 8 * t, d);
            for (int i = 0; i < 3; i++) squares[i] += d[i] * d[i] / STEPS;
        }
        printf("  %s: object off by %.2f mm and %.3f rad, rms\n", ct_shape_kind_name(OBJECT[k]),
               1e3 * sqrt(squares[0] + squares[1]), sqrt(squares[2]));
        CHECK(sqrt(squares[0] + squares[1]) < 0.01 && sqrt(squares[2]) < 0.05);
        ct_solver_free(solver);
        free(x);
        run_free(&r);
    }
}

/* ---- refusals ---- */

static void test_options_that_cannot_be_are_refused(void)
{
    ct_noise    *noise = NULL;
    ct_sequence *seq = NULL;
    ct_err       err = {0};
    CHECK_OK(ct_noise_new(&noise, &err), err);
#define OPTION(field, value, part)                                                                 \
    do {                                                                                           \
        ct_push_options o = options(0, 1);                                                         \
        o.field = value;                                                                           \
        CHECK_REFUSED(ct_simulate_push(&o, 0, 0, NULL, NULL, noise, &seq, &err), err, part);           \
        CHECK(!seq);                                                                               \
    } while (0)
    OPTION(episodes, 0, "a pushing sequence needs at least 1 episode, 0 were asked for");
    OPTION(pool, 2, "a sequence of 3 different episodes cannot be drawn from a pool of 2");
    OPTION(steps, 1, "a push needs at least 2 steps, 1 were asked for");
    OPTION(steps, 1000000000, "3 episodes of 1000000000 steps are more than a graph can hold");
    OPTION(window, 0, "window is 0");
    OPTION(windows, -3, "windows is -3");
    OPTION(tactile_sigma, 0, "tactile_sigma is 0 rad; it must be positive and finite");
    OPTION(prior_sigma, INFINITY, "prior_sigma is inf; it must be positive and finite");
    OPTION(c2, -1, "c2 is -1 m^2; it must be positive and finite, or NaN for that of even pressure");
    OPTION(object, CT_SHAPE_GRID, "what is pushed is an ellipse or a rectangle, not object 3");
#undef OPTION
    const ct_push_options good = options(0, 1);
    CHECK_REFUSED(ct_simulate_push(&good, 2, 0, NULL, NULL, noise, &seq, &err), err,
                  "sequences are drawn from pool 0 (training) or 1 (test), not from pool 2");
    CHECK(ct_noise_count(noise) == 0);
    CHECK_OK(ct_noise_add_isotropic(noise, "geo", 1, 7, NULL, &err), err);
    CHECK_REFUSED(ct_simulate_push(&good, 0, 0, NULL, NULL, noise, &seq, &err), err, "\"geo\"");
    CHECK(err.status == CT_E_NOISE && !seq);
    ct_noise_free(noise);
}

int main(void)
{
    RUN(test_a_run_has_the_factors_it_says);
    RUN(test_models_start_far_away_and_are_shared_by_runs);
    RUN(test_runs_are_pushes_of_their_pool_one_after_the_other);
    RUN(test_the_same_run_has_the_same_bits_and_another_has_not);
    RUN(test_initial_values_are_measurements_and_an_object_that_goes_along);
    RUN(test_a_run_is_written_and_read_back_to_the_bit);
    RUN(test_residuals_at_the_truth_are_what_was_drawn_or_nearly_nothing);
    RUN(test_a_sensor_is_shown_the_images_of_its_steps);
    RUN(test_a_run_can_be_estimated);
    RUN(test_options_that_cannot_be_are_refused);
    return ct_test_end();
}
