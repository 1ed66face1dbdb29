/* test_derivative_free.c: Nelder-Mead and Powell: what holds of both, and of each. That they take SciPy's path is
 * for check_scipy to see. */
#include "learn_test.h"
#include "learn/derivative_free.h"

#define EVENTS 4000
#define M_MAX  12

/* Every evaluation of the method itself, in order. */
typedef struct {
    int    count, stop_at; /* stop_at -1: never */
    int    m;
    double p[EVENTS][M_MAX], loss[EVENTS];
} diary;

static diary seen;

static int note_down(void *user, const ct_learn_progress *progress)
{
    diary *d = user;
    if (progress->phase != CT_LEARN_PHASE_LEARN) return 0;
    CHECK(d->count < EVENTS);
    if (d->count == EVENTS) return 1;
    memcpy(d->p[d->count], progress->p, (size_t)d->m * sizeof(double));
    d->loss[d->count++] = progress->train;
    return d->count - 1 == d->stop_at;
}

static int best_of(const diary *d)
{
    int best = 0;
    for (int i = 1; i < d->count; i++)
        if (d->loss[i] < d->loss[best]) best = i;
    return best;
}

static ct_learn_options options_of(ct_learn_method method, ct_space space, int iterations, int stop_at, const lesson *l)
{
    ct_learn_options o = ct_learn_defaults();
    o.method = method;
    o.space = space;
    o.max_iterations = iterations;
    o.scale = CT_SCALE_NONE;
    o.progress = note_down;
    o.user = &seen;
    seen.count = 0;
    seen.stop_at = stop_at;
    seen.m = ct_theta_count(l->theta);
    return o;
}

static ct_learn_result search(lesson *l, ct_learn_method method, ct_space space, int iterations)
{
    const ct_learn_options o = options_of(method, space, iterations, -1, l);
    return learn(l, &o);
}

static const ct_learn_method METHOD[] = {CT_LEARN_NELDER_MEAD, CT_LEARN_POWELL};
static const ct_space        SPACE[] = {CT_SPACE_VARIANCE, CT_SPACE_LOG};

#define FOR_EACH_WAY(method, space)                                                                 \
    for (int way = 0; way < 4; way++)                                                               \
        for (ct_learn_method method = METHOD[way / 2], once = 1; once; once = 0)                    \
            for (ct_space space = SPACE[way % 2], once_more = 1; once_more; once_more = 0)

/* ---- Both ------------------------------------------------------------------------------------- */

static void test_every_point_lies_in_the_set_to_the_bit(void)
{
    static const double BOX[][2] = {{1e-10, 1e6}, {0.02, 3}, {0.1, 10}};
    for (size_t b = 0; b < sizeof BOX / sizeof *BOX; b++)
        FOR_EACH_WAY(method, space)
        {
            lesson          l = begin("D1", 2, 30, 5, BOX[b][0], BOX[b][1]);
            ct_learn_result r = search(&l, method, space, method == CT_LEARN_POWELL ? 3 : 150);
            for (int i = 0; i < seen.count; i++) {
                for (int k = 0; k < seen.m; k++)
                    CHECK(seen.p[i][k] >= log(BOX[b][0]) && seen.p[i][k] <= log(BOX[b][1]));
                CHECK_OK(ct_theta_apply(l.theta, seen.p[i], l.noise, &l.err), l.err);
                for (int32_t g = 0; g < ct_noise_count(l.noise); g++)
                    for (int c = 0; ct_theta_learns(l.theta, g) && c < 3; c++)
                        CHECK(ct_noise_get(l.noise, g)->covariance[c] >= BOX[b][0] &&
                              ct_noise_get(l.noise, g)->covariance[c] <= BOX[b][1]);
            }
            ct_learn_result_free(&r);
            lesson_free(&l);
        }
}

/* The answer is the best point seen, the first of which is the start. */
static void test_the_answer_is_the_best_point_and_never_worse_than_the_start(void)
{
    static const char *const PRESET[] = {"D1", "D2", "D3"};
    for (size_t d = 0; d < 3; d++)
        FOR_EACH_WAY(method, space)
        {
            lesson          l = begin(PRESET[d], 2, 30, 8, 0.1, 10);
            ct_learn_result r = search(&l, method, space, method == CT_LEARN_POWELL ? 4 : 300);
            const int       best = best_of(&seen);
            CHECK(seen.loss[0] == r.loss_start && r.loss_train < 0.9 * r.loss_start);
            CHECK(r.loss_train == seen.loss[best] && !memcmp(r.p, seen.p[best], (size_t)seen.m * sizeof(double)));
            ct_learn_result_free(&r);
            lesson_free(&l);
        }
}

/* The middle of a box, and corners of it at which the loss is smooth. (Where both headings are trusted least it
 * jumps: inner solves end in one valley or another.) */
#define L 0.1
#define U 10.0
static const double CORNER[][6] = {{1, 1, 1, 1, 1, 1}, {L, L, L, L, L, L}, {U, U, U, U, U, U},
                                   {U, U, L, U, U, L}, {U, U, L, L, L, U}, {1, U, L, L, 1, U}};
#define CORNERS ((int)(sizeof CORNER / sizeof *CORNER))

static lesson lesson_at(const double start[6])
{
    lesson l = lesson_of("D1", CT_SE2, 2, 40, 3);
    CHECK_OK(ct_noise_set_variance(l.noise, ct_noise_find(l.noise, "odom"), start, &l.err), l.err);
    CHECK_OK(ct_noise_set_variance(l.noise, ct_noise_find(l.noise, "gps"), start + 3, &l.err), l.err);
    learn_all(&l, CT_NOISE_DIAGONAL, L, U);
    open_outer(&l, NULL);
    return l;
}

/* Of the differences from the first point, by elimination with full pivots. */
static int rank_of(const diary *d, int points)
{
    double A[M_MAX][M_MAX];
    int    rank = 0, m = d->m;
    for (int i = 0; i < points - 1; i++)
        for (int k = 0; k < m; k++) A[i][k] = d->p[i + 1][k] - d->p[0][k];
    for (; rank < m; rank++) {
        int row = rank, column = rank;
        for (int i = rank; i < m; i++)
            for (int k = rank; k < m; k++)
                if (fabs(A[i][k]) > fabs(A[row][column])) row = i, column = k;
        if (fabs(A[row][column]) < 1e-6) break;
        for (int k = 0; k < m; k++) {
            const double t = A[rank][k];
            A[rank][k] = A[row][k];
            A[row][k] = t;
        }
        for (int i = 0; i < m; i++) {
            const double t = A[i][rank];
            A[i][rank] = A[i][column];
            A[i][column] = t;
        }
        for (int i = rank + 1; i < m; i++)
            for (int k = m - 1; k >= rank; k--) A[i][k] -= A[i][rank] / A[rank][rank] * A[rank][k];
    }
    return rank;
}

/* A simplex may still fall flat on the way, and end early; then it says so. (One that is flat from the start, as
 * clipping would make it, ends at 4 to 17 times the least loss here.) */
static void test_a_start_on_bounds_comes_as_far_as_one_inside(void)
{
    FOR_EACH_WAY(method, space)
    {
        double inside = 0;
        for (int corner = 0; corner < (ct_test_slow() ? 2 : CORNERS); corner++) {
            lesson          l = lesson_at(CORNER[corner]);
            ct_learn_result r = search(&l, method, space, 0);
            if (corner == 0) inside = r.loss_train;
            const int flat = ct_findings_find(&r.findings, CT_FINDING_SIMPLEX_COLLAPSED) >= 0;
            printf("  %-11s %-8s corner %d: loss %.6g from %.6g, %d evaluations, stop %s\n",
                   ct_learn_method_name(method), space == CT_SPACE_LOG ? "log" : "variance", corner, r.loss_train,
                   r.loss_start, seen.count, flat ? "flat" : ct_learn_stop_name(r.stop));
            CHECK(r.loss_train <= (flat ? 1.3 : 1.05) * inside);
            CHECK(!flat || method == CT_LEARN_NELDER_MEAD);
            if (method == CT_LEARN_NELDER_MEAD) CHECK(rank_of(&seen, seen.m + 1) == seen.m);
            ct_learn_result_free(&r);
            lesson_free(&l);
        }
    }
}

/* A parameter whose bounds are one value does what one that is frozen at it does: nothing. */
static void test_a_parameter_without_room_does_not_stop_the_others(void)
{
    FOR_EACH_WAY(method, space)
    {
        double apart[2][M_MAX];
        int    evaluations[2];
        for (int frozen = 0; frozen < 2; frozen++) {
            lesson        l = lesson_at(CORNER[5]); /* odom.x is 1, the logarithm of which is exact */
            const int32_t odom = ct_noise_find(l.noise, "odom");
            if (frozen) CHECK_OK(ct_theta_freeze(l.theta, odom, 0, &l.err), l.err);
            else CHECK_OK(ct_theta_bound(l.theta, odom, 0, 1, 1, &l.err), l.err);
            open_outer(&l, NULL);
            ct_learn_result r = search(&l, method, space, method == CT_LEARN_POWELL ? 2 : 100);
            CHECK(r.parameters == 6 - frozen && r.loss_train < 0.7 * r.loss_start &&
                  ct_noise_get(l.noise, odom)->covariance[0] == 1);
            memcpy(apart[frozen], r.p + (frozen ? 0 : 1), 5 * sizeof(double));
            evaluations[frozen] = seen.count;
            ct_learn_result_free(&r);
            lesson_free(&l);
        }
        CHECK(evaluations[0] == evaluations[1] && !memcmp(apart[0], apart[1], 5 * sizeof(double)));
    }
}

static void test_a_box_of_one_point_is_its_answer(void)
{
    FOR_EACH_WAY(method, space)
    {
        lesson l = lesson_of("D1", CT_SE2, 2, 20, 3);
        learn_all(&l, CT_NOISE_DIAGONAL, 2, 2);
        open_outer(&l, NULL);
        ct_learn_result r = search(&l, method, space, 0);
        CHECK(r.stop == CT_LEARN_STOP_GRADIENT && seen.count == 0 && r.loss_train == r.loss_start);
        ct_learn_result_free(&r);
        lesson_free(&l);
    }
}

/* In one dimension the minimum is where a scan finds it. */
static void test_one_parameter_alone_is_learned(void)
{
    FOR_EACH_WAY(method, space)
    {
        lesson        l = lesson_of("D1", CT_SE2, 2, 40, 3);
        const int32_t gps = ct_noise_find(l.noise, "gps");
        double        least = INFINITY, at = 0;
        CHECK_OK(ct_theta_new(l.noise, &l.theta, &l.err), l.err);
        CHECK_OK(ct_theta_learn(l.theta, gps, CT_NOISE_ISOTROPIC, 1e-2, 1e2, &l.err), l.err);
        CHECK_OK(ct_noise_set_variance(l.noise, gps, (const double[]){1e2, 1e2, 1e2}, &l.err), l.err);
        open_outer(&l, NULL);
        for (int i = -400; i <= 400; i++) {
            const double   p = i * log(100) / 400;
            ct_outer_value v = {0};
            CHECK_OK(ct_outer_evaluate(l.outer, &p, NULL, &v, &l.err), l.err);
            if (v.loss < least) least = v.loss, at = p;
        }
        ct_learn_result r = search(&l, method, space, 0);
        CHECK(fabs(at) < 4 && r.loss_train <= least);
        CHECK_NEAR(r.p[0], at, 2 * log(100) / 400);
        ct_learn_result_free(&r);
        lesson_free(&l);
    }
}

/* Inner solves that are given up early fail where theta is bad: here and there, or the start included. A method gets
 * away from there, or says that it cannot. */
static void test_points_that_fail_are_worse_than_any_other(void)
{
    int recovered = 0, stuck = 0;
    for (int patience = 4; patience <= 6; patience += 2)
        FOR_EACH_WAY(method, space)
        {
            lesson           l = begin("D1", 2, 40, 9, 1e-3, 1e3);
            ct_outer_options outer = ct_outer_defaults();
            int              failed = 0;
            outer.inner.max_iterations = patience;
            open_outer(&l, &outer);
            ct_learn_result r = search(&l, method, space, method == CT_LEARN_POWELL ? 3 : 200);
            for (int i = 0; i < seen.count; i++) failed += !isfinite(seen.loss[i]);
            CHECK(failed > 0 && isfinite(r.loss_start) == (patience == 6) && r.loss_train == seen.loss[best_of(&seen)]);
            CHECK((failed == seen.count) == (r.stop == CT_LEARN_STOP_STUCK));
            /* a fall from infinity is not the last */
            if (method == CT_LEARN_POWELL && r.stop != CT_LEARN_STOP_STUCK) CHECK(r.iterations > 1);
            recovered += isinf(r.loss_start) && isfinite(r.loss_train);
            stuck += r.stop == CT_LEARN_STOP_STUCK;
            ct_learn_result_free(&r);
            lesson_free(&l);
        }
    CHECK(recovered > 0 && stuck > 0);
}

static void test_the_caller_can_stop_at_the_best_so_far(void)
{
    static const int AFTER[] = {0, 3, 6, 7, 25, 60};
    FOR_EACH_WAY(method, space)
        for (size_t k = 0; k < sizeof AFTER / sizeof *AFTER; k++) {
            lesson                 l = begin("D1", 2, 30, 6, 1e-3, 1e3);
            const ct_learn_options o = options_of(method, space, 0, AFTER[k], &l);
            ct_learn_result        r = learn(&l, &o);
            CHECK(r.stop == CT_LEARN_STOP_CANCELLED && seen.count == AFTER[k] + 1);
            CHECK(!memcmp(r.p, seen.p[best_of(&seen)], 6 * sizeof(double)));
            ct_learn_result_free(&r);
            lesson_free(&l);
        }
}

/* By itself a method makes so many evaluations a parameter and not one more; told how many iterations, it makes
 * those. */
static void test_limits_are_met_exactly(void)
{
    lesson          l = begin("D3", 2, 25, 4, 0.1, 10);
    ct_learn_result r = search(&l, CT_LEARN_NELDER_MEAD, CT_SPACE_VARIANCE, 0);
    CHECK(r.stop == CT_LEARN_STOP_ITERATIONS && seen.count == 200 * 12);
    ct_learn_result_free(&r);
    lesson_free(&l);
    for (int n = 1; n < 8; n += 3)
        FOR_EACH_WAY(method, space)
        {
            l = begin("D1", 2, 30, 4, 0.1, 10);
            r = search(&l, method, space, method == CT_LEARN_POWELL ? 1 + n / 3 : n);
            CHECK(r.stop == CT_LEARN_STOP_ITERATIONS && r.iterations == (method == CT_LEARN_POWELL ? 1 + n / 3 : n));
            if (method == CT_LEARN_NELDER_MEAD && n == 1) CHECK(seen.count == 7); /* the first simplex */
            ct_learn_result_free(&r);
            lesson_free(&l);
        }
}

/* A search under way, without a run around it. */
static void test_no_value_is_given_beyond_the_limit(void)
{
    lesson           l = begin("D1", 2, 20, 4, 0.1, 10);
    ct_learn_options o = ct_learn_defaults();
    ct_learn_result  r = {0};
    int              cancelled = 0, given = 0;
    ct__objective e = {
        .outer = l.outer,
        .options = &o,
        .result = &r,
        .phase = CT_LEARN_PHASE_LEARN,
        .cancelled = &cancelled,
        .err = &l.err,
    };
    ct__search       s;
    double           p[6] = {0}, q[6] = {5, 20, 1, 1, 1e-9, 1}, F;
    CHECK_OK(ct__search_begin(&e, CT_SPACE_VARIANCE, 3, p, &s), l.err);
    for (int i = 0; i < 6; i++) given += ct__search_loss(&s, q, &F);
    CHECK(given == 3 && s.stop == CT_LEARN_STOP_ITERATIONS && r.evaluations == 3 && q[1] == 10 && q[4] == 0.1);
    ct__search_end(&s, p);
    CHECK(p[1] == log(10) && p[4] == log(0.1) && p[0] == log(5));
    lesson_free(&l);
}

/* A value depends on its point alone: not on what was evaluated, or accepted, before. */
static void test_values_are_functions_of_their_points(void)
{
    for (int k = 0; k < 2; k++) {
        lesson         l = begin("D1", 2, 40, 7, 1e-3, 1e3), other = begin("D1", 2, 40, 7, 1e-3, 1e3);
        const double   far[6] = {3, -3, 3, -3, 3, 3};
        ct_outer_value v = {0};
        CHECK_OK(ct_outer_evaluate(l.outer, far, NULL, &v, &l.err), l.err);
        CHECK_OK(ct_outer_accept(l.outer, &l.err), l.err);
        ct_learn_result r = search(&l, METHOD[k], CT_SPACE_VARIANCE, k ? 1 : 40);
        for (int i = seen.count - 1; i >= 0; i--) {
            CHECK_OK(ct_outer_evaluate(other.outer, seen.p[i], NULL, &v, &l.err), l.err);
            CHECK(v.loss == seen.loss[i] || (v.failed && isinf(seen.loss[i])));
        }
        ct_learn_result_free(&r);
        lesson_free(&l);
        lesson_free(&other);
    }
}

/* ---- Nelder-Mead ------------------------------------------------------------------------------ */

/* The first simplex: every coordinate 5 % more, or less where there is no room; then the worst vertex, mirrored at
 * the mean of the others. */
static void test_the_simplex_begins_as_it_should(void)
{
    lesson          l = lesson_at(CORNER[4]);
    ct_learn_result r = search(&l, CT_LEARN_NELDER_MEAD, CT_SPACE_VARIANCE, 2);
    int             worst = 0;
    for (int i = 1; i <= 6; i++) {
        for (int k = 0; k < 6; k++)
            CHECK_NEAR(exp(seen.p[i][k]), CORNER[4][k] * (k != i - 1 ? 1 : CORNER[4][k] == U ? 0.95 : 1.05), 1e-14 * U);
        if (seen.loss[i] > seen.loss[worst]) worst = i;
    }
    for (int k = 0; k < 6; k++) {
        double mean = 0;
        for (int i = 0; i <= 6; i++) mean += i != worst ? exp(seen.p[i][k]) / 6 : 0;
        CHECK_NEAR(exp(seen.p[7][k]), fmin(fmax(2 * mean - exp(seen.p[worst][k]), L), U), 1e-13);
    }
    ct_learn_result_free(&r);
    lesson_free(&l);
}

/* A simplex that collapsed onto a bound, with a smaller loss inside, is a finding. A new simplex goes on from there. */
static void test_a_collapsed_simplex_is_a_finding(void)
{
    lesson           l = begin("D1", 3, 60, 1, 0.1, 10);
    ct_learn_result  r = search(&l, CT_LEARN_NELDER_MEAD, CT_SPACE_VARIANCE, 0);
    const int32_t    f = ct_findings_find(&r.findings, CT_FINDING_SIMPLEX_COLLAPSED);
    CHECK(r.stop == CT_LEARN_STOP_STEP && f >= 0 && r.findings.item[f].subjects == 1);
    if (f >= 0) CHECK(r.findings.item[f].value[0] >= 1 && r.findings.item[f].value[1] <= r.loss_train * (1 + 1e-9));
    ct_learn_result again = search(&l, CT_LEARN_NELDER_MEAD, CT_SPACE_VARIANCE, 0); /* from what was learned */
    CHECK(again.loss_train < 0.9999 * r.loss_train);
    ct_learn_result_free(&r);
    ct_learn_result_free(&again);
    lesson_free(&l);
}

/* ---- Powell ----------------------------------------------------------------------------------- */

/* The first pass goes along the axes. What a line left is where the next one begins: no worse, and one of the points
 * that were seen. */
static void test_no_line_ends_worse_than_it_began(void)
{
    int kept = 0;
    for (int corner = 0; corner < CORNERS; corner++) {
        lesson          l = lesson_at(CORNER[corner]);
        ct_learn_result r = search(&l, CT_LEARN_POWELL, CT_SPACE_VARIANCE, 2);
        double          x[6], F = seen.loss[0];
        int             at = 1;
        memcpy(x, seen.p[0], sizeof x);
        for (int k = 0; k < 5; k++) {
            const int first = at;
            int       left = -1;
            for (int along = 1; along && at < seen.count; at += along)
                for (int j = 0; j < 6; j++) along = along && (j == k || seen.p[at][j] == x[j]);
            /* the golden section of the box */
            CHECK_NEAR(exp(seen.p[first][k]), L + 0.5 * (3 - sqrt(5)) * (U - L), 1e-12);
            for (int i = first; i < at; i++)
                if (seen.p[i][k] == seen.p[at][k]) left = i;
            if (left < 0) CHECK(seen.p[at][k] == x[k]);
            else CHECK(seen.loss[left] <= F);
            kept += left < 0;
            if (left >= 0) x[k] = seen.p[left][k], F = seen.loss[left];
        }
        ct_learn_result_free(&r);
        lesson_free(&l);
    }
    printf("  %d lines ended where they began\n", kept);
    CHECK(kept > 0);
}

typedef struct {
    int    kind, calls, most;
    double least, largest;
} curve;

static int value_of(void *user, double t, double *F)
{
    curve *c = user;
    c->calls++;
    c->least = fmin(c->least, t);
    c->largest = fmax(c->largest, t);
    *F = c->kind == 0   ? (t - 0.3) * (t - 0.3)
         : c->kind == 1 ? -t
         : c->kind == 2 ? fabs(t - 1) + 0.1 * t
         : c->kind == 3 ? (t > 0.5 ? INFINITY : exp(t) - 2 * t)
                        : INFINITY;
    return c->calls != c->most;
}

static void test_brent_finds_the_minimum_of_an_interval(void)
{
    static const double AT[] = {0.3, 2, 1, 0.5, NAN};
    for (int kind = 0; kind < 5; kind++) {
        curve  c = {.kind = kind, .least = INFINITY, .largest = -INFINITY};
        double t = NAN, F = NAN;
        CHECK(ct__brent(-1, 2, 1e-4, 500, value_of, &c, &t, &F));
        CHECK(c.least > -1 && c.largest < 2 && c.calls < 60);
        if (kind < 4) CHECK_NEAR(t, AT[kind], 3e-4);
        else CHECK(isinf(F));
        curve limited = {.kind = kind}, broken = {.kind = kind, .most = 2};
        CHECK(ct__brent(-1, 2, 1e-9, 4, value_of, &limited, &t, &F) && limited.calls == 4);
        CHECK(!ct__brent(-1, 2, 1e-4, 500, value_of, &broken, &t, &F) && broken.calls == 2);
    }
    curve c = {.kind = 0};
    double t, F;
    /* a parabola is seen through at once */
    CHECK(ct__brent(0.1, 0.5, 1e-6, 500, value_of, &c, &t, &F) && c.calls < 12);
}

int main(void)
{
    RUN(test_every_point_lies_in_the_set_to_the_bit);
    RUN(test_the_answer_is_the_best_point_and_never_worse_than_the_start);
    RUN(test_a_start_on_bounds_comes_as_far_as_one_inside);
    RUN(test_a_parameter_without_room_does_not_stop_the_others);
    RUN(test_a_box_of_one_point_is_its_answer);
    RUN(test_one_parameter_alone_is_learned);
    RUN(test_points_that_fail_are_worse_than_any_other);
    RUN(test_the_caller_can_stop_at_the_best_so_far);
    RUN(test_limits_are_met_exactly);
    RUN(test_no_value_is_given_beyond_the_limit);
    RUN(test_values_are_functions_of_their_points);
    RUN(test_the_simplex_begins_as_it_should);
    RUN(test_a_collapsed_simplex_is_a_finding);
    RUN(test_no_line_ends_worse_than_it_began);
    RUN(test_brent_finds_the_minimum_of_an_interval);
    return ct_test_end();
}
