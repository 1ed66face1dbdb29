/* test_learn_nlopt.c: NLopt's methods, above all those without gradients. */
#include "learn_test.h"

#include <nlopt.h>

static const ct_learn_method METHOD[] = {CT_LEARN_BOBYQA, CT_LEARN_SUBPLEX, CT_LEARN_CRS};
#define METHODS (int)(sizeof METHOD / sizeof *METHOD)

static ct_learn_options options_of(ct_learn_method method)
{
    ct_learn_options o = ct_learn_defaults();
    o.method = method;
    o.scale = CT_SCALE_NONE;
    return o;
}

/* lm, from the closed form and without a prior, knows the minimum; limits are the methods' own. */
static void test_all_reach_the_minimum_of_the_gradient_methods(void)
{
    double least = 0;
    for (int k = -1; k < METHODS; k++) {
        lesson           l = begin("D1", 3, 60, 12, 1e-3, 1e3);
        ct_learn_options options = options_of(k < 0 ? CT_LEARN_LM : METHOD[k]);
        if (k < 0) options.relative = 1e-9;
        options.prior = k < 0 ? 0 : options.prior;
        ct_learn_result r = learn(&l, &options);
        printf("  %-8s loss %.8g, %4d evaluations, stop %s\n", ct_learn_method_name(options.method), r.loss_train,
               r.evaluations, ct_learn_stop_name(r.stop));
        if (k < 0) least = r.loss_train;
        CHECK_NEAR(r.loss_train / least, 1, 1e-3);
        CHECK(r.evaluations <= (k < 0 ? 100 : METHOD[k] == CT_LEARN_CRS ? 6010 : 1210));
        CHECK(k < 0 || r.stop == (METHOD[k] == CT_LEARN_CRS      ? CT_LEARN_STOP_ITERATIONS
                                  : METHOD[k] == CT_LEARN_BOBYQA ? CT_LEARN_STOP_STEP
                                                                 : CT_LEARN_STOP_LOSS));
        ct_learn_result_free(&r);
        lesson_free(&l);
    }
}

/* The local ones walk, too, where the start is three decades off in every variance; crs has its start as one point
 * of many. */
static void test_a_far_start_is_survived(void)
{
    for (int k = 0; k < METHODS; k++) {
        lesson           l = begin("D1", 3, 60, 12, 1e-3, 1e3);
        ct_learn_options options = options_of(METHOD[k]);
        options.from_table = 1;
        ct_learn_result r = learn(&l, &options);
        CHECK(r.loss_start > 20 * r.loss_closed_form && r.loss_train < 1.01 * r.loss_closed_form);
        ct_learn_result_free(&r);
        lesson_free(&l);
    }
}

/* ---- Values depend on their point alone --------------------------------------------------------- */

typedef struct {
    int    count;
    double p[400][6], loss[400];
} diary;

static int note_down(void *user, const ct_learn_progress *progress)
{
    diary *d = user;
    if (progress->phase != CT_LEARN_PHASE_LEARN || d->count == 400) return 0;
    memcpy(d->p[d->count], progress->p, sizeof d->p[0]);
    d->loss[d->count++] = progress->train;
    return 0;
}

/* In reverse, by a problem of its own. */
static void test_a_value_does_not_depend_on_those_before(void)
{
    static const ct_learn_method ALL[] = {CT_LEARN_BOBYQA,  CT_LEARN_SUBPLEX, CT_LEARN_CRS,  CT_LEARN_LBFGS,
                                          CT_LEARN_TNEWTON, CT_LEARN_MMA,     CT_LEARN_SLSQP};
    for (size_t k = 0; k < sizeof ALL / sizeof *ALL; k++) {
        lesson           l = begin("D1", 2, 40, 5, 1e-3, 1e3);
        ct_learn_options options = options_of(ALL[k]);
        diary            d = {0};
        options.max_iterations = 60;
        options.from_table = 1;
        options.progress = note_down;
        options.user = &d;
        ct_learn_result r = learn(&l, &options);
        ct_learn_result other = learn(&l, NULL); /* which leaves other starts for inner solves behind */
        start_far(&l);
        ct_learn_result again = learn(&l, &options);
        CHECK(d.count >= 30 && !memcmp(d.loss, d.loss + d.count / 2, (size_t)(d.count / 2) * sizeof *d.loss));
        open_outer(&l, NULL);
        for (int i = d.count - 1; i >= 0; i--) {
            ct_outer_value v = {0};
            CHECK_OK(ct_outer_evaluate(l.outer, d.p[i], NULL, &v, &l.err), l.err);
            CHECK(v.loss == d.loss[i]);
        }
        ct_learn_result_free(&r);
        ct_learn_result_free(&other);
        ct_learn_result_free(&again);
        lesson_free(&l);
    }
}

/* ---- Seeds -------------------------------------------------------------------------------------- */

static void test_a_seed_decides_what_crs_does(void)
{
    ct_learn_result r[3];
    for (int k = 0; k < 3; k++) {
        lesson           l = begin("D1", 2, 30, 5, 1e-3, 1e3);
        ct_learn_options options = options_of(CT_LEARN_CRS);
        options.max_iterations = 150;
        options.seed = k == 2 ? 8 : 7;
        nlopt_srand((unsigned long)k); /* whatever somebody else did */
        r[k] = learn(&l, &options);
        lesson_free(&l);
    }
    CHECK(!memcmp(r[0].p, r[1].p, 6 * sizeof *r[0].p) && memcmp(r[0].p, r[2].p, 6 * sizeof *r[0].p));
    for (int k = 0; k < 3; k++) ct_learn_result_free(&r[k]);
}

/* ---- Edges -------------------------------------------------------------------------------------- */

static void test_a_parameter_without_room_stays(void)
{
    for (int k = 0; k < METHODS; k++) {
        lesson           l = begin("D1", 2, 40, 5, 1e-3, 1e3);
        ct_learn_options options = options_of(METHOD[k]);
        const int32_t    gps = ct_noise_find(l.noise, "gps");
        CHECK_OK(ct_theta_bound(l.theta, gps, 1, 2, 2, &l.err), l.err);
        CHECK_OK(ct_theta_bound(l.theta, gps, 0, 1.9, 2, &l.err), l.err);
        open_outer(&l, NULL);
        options.max_iterations = 400;
        ct_learn_result r = learn(&l, &options);
        CHECK(ct_noise_get(l.noise, gps)->covariance[1] == 2 && r.stop != CT_LEARN_STOP_STUCK &&
              r.loss_train <= r.loss_closed_form * (1 + 1e-12));
        ct_learn_result_free(&r);
        lesson_free(&l);
    }
}

static int stop_at_once(void *user, const ct_learn_progress *progress)
{
    int *left = user;
    return progress->phase == CT_LEARN_PHASE_LEARN && (*left)-- == 0;
}

static void test_a_caller_who_says_stop_gets_the_best_so_far(void)
{
    for (int k = 0; k < METHODS; k++) {
        lesson           l = begin("D1", 2, 30, 5, 1e-3, 1e3);
        ct_learn_options options = options_of(METHOD[k]);
        int              left = 90;
        options.from_table = 1;
        options.progress = stop_at_once;
        options.user = &left;
        ct_learn_result r = learn(&l, &options);
        CHECK(r.stop == CT_LEARN_STOP_CANCELLED && left < 0);
        CHECK(r.loss_train < r.loss_start);
        ct_learn_result_free(&r);
        lesson_free(&l);
    }
}

/* What would be refused after a while can be known before. */
static void test_what_a_method_cannot_learn_is_known_before(void)
{
    lesson l = lesson_of("D1", CT_SE2, 2, 30, 5);
    learn_all(&l, CT_NOISE_FULL, 1e-3, 1e3);
    open_outer(&l, NULL);
    for (int k = 0; k < CT_LEARN_COUNT; k++) {
        ct_learn_options options = options_of((ct_learn_method)k);
        ct_learn_result  r;
        options.max_iterations = 1;
        options.folds = 0;
        ct_err          said = {0};
        const ct_status before = ct_learn_check(l.outer, options.method, &said),
                        then = ct_learn(l.outer, &options, l.noise, &r, &l.err);
        CHECK(before == then);
        if (then != CT_OK) CHECK(!strcmp(said.text, l.err.text));
        CHECK((then == CT_OK) ==
              (k == CT_LEARN_LM || k == CT_LEARN_CLOSED_FORM || k == CT_LEARN_LIKELIHOOD || k == CT_LEARN_FRANK_WOLFE ||
               k == CT_LEARN_FRANK_WOLFE_LOG || k == CT_LEARN_PROJECTED_GRADIENT));
        ct_learn_result_free(&r);
    }
    lesson_free(&l);
}

/* Error bars are those of a minimum: where a method was stopped far from it there are none, and it is said. */
static void test_there_are_no_error_bars_away_from_a_minimum(void)
{
    for (int long_enough = 0; long_enough < 2; long_enough++) {
        lesson           l = begin("D1", 3, 60, 12, long_enough ? 1e-8 : 1e-3, long_enough ? 1e8 : 1e3);
        ct_learn_options options = options_of(long_enough ? CT_LEARN_BOBYQA : CT_LEARN_LBFGS);
        options.from_table = !long_enough;
        options.max_iterations = long_enough ? 1200 : 8;
        if (long_enough) options.step = 1e-6; /* bobyqa may end beyond a standard error from the minimum with its own */
        options.scale = CT_SCALE_FIT; /* without it the common factor is anybody's guess, and every bar infinite */
        ct_learn_result r = learn(&l, &options);
        int             bars = 0;
        for (int32_t i = 0; i < r.parameters; i++) bars += isfinite(r.standard_error[i]) != 0;
        const int32_t f = ct_findings_find(&r.findings, CT_FINDING_NOT_A_MINIMUM);
        printf("  %s: %d error bars, loss %.6g\n", ct_learn_method_name(options.method), bars, r.loss_train);
        CHECK(long_enough ? bars > 0 : bars == 0);
        CHECK((f >= 0) == !long_enough);
        if (f >= 0) CHECK(r.findings.item[f].subjects == 1 && r.findings.item[f].value[0] > 1);
        ct_learn_result_free(&r);
        lesson_free(&l);
    }
}

int main(void)
{
    RUN(test_what_a_method_cannot_learn_is_known_before);
    RUN(test_there_are_no_error_bars_away_from_a_minimum);
    RUN(test_all_reach_the_minimum_of_the_gradient_methods);
    RUN(test_a_far_start_is_survived);
    RUN(test_a_value_does_not_depend_on_those_before);
    RUN(test_a_seed_decides_what_crs_does);
    RUN(test_a_parameter_without_room_stays);
    RUN(test_a_caller_who_says_stop_gets_the_best_so_far);
    return ct_test_end();
}
