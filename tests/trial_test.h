/* trial_test.h: training and test runs from one noise table, for the tests of module study. */
#ifndef STUDY_TEST_H
#define STUDY_TEST_H

#include <covtune/simulate.h>
#include "learn_test.h"

#include <covtune/trial.h>

#define TESTS 3
#define TOLD  2000

/* Training runs from a bad start, and test runs of the same kind. */
typedef struct {
    lesson       l;
    ct_sequence *test[TESTS];
} course;

static inline course course_of(const char *preset, int runs, int poses, double lower, double upper)
{
    course         c = {.l = lesson_of(preset, CT_SE2, runs, poses, 21)};
    ct_nav_options nav;
    CHECK(ct_nav_preset(preset, CT_SE2, &nav));
    nav.least = nav.most = poses;
    nav.seed = 77;
    for (int i = 0; i < TESTS; i++)
        CHECK_OK(ct_simulate_nav(&nav, (uint64_t)i, c.l.noise, &c.test[i], &c.l.err), c.l.err);
    start_far(&c.l);
    learn_all(&c.l, CT_NOISE_DIAGONAL, lower, upper);
    return c;
}

static inline void course_free(course *c)
{
    for (int i = 0; i < TESTS; i++) ct_sequence_free(c->test[i]);
    lesson_free(&c->l);
}

static inline ct_trial trial_of(course *c, const ct_trial_options *options)
{
    ct_trial trial;
    CHECK_OK(ct_trial_run(c->l.runs, c->l.seq, TESTS, c->test, c->l.noise, c->l.theta, options, &trial, &c->l.err),
             c->l.err);
    return trial;
}

static inline int same_table(const ct_noise *a, const ct_noise *b)
{
    for (int32_t g = 0; g < ct_noise_count(a); g++) {
        const ct_noise_model *x = ct_noise_get(a, g), *y = ct_noise_get(b, g);
        if (x->kind != y->kind || memcmp(x->covariance, y->covariance,
                                         (size_t)(x->kind == CT_NOISE_FULL       ? x->dim * x->dim
                                                  : x->kind == CT_NOISE_DIAGONAL ? x->dim
                                                                                 : 1) *
                                             sizeof(double)))
            return 0;
    }
    return 1;
}

static inline int same_double(double a, double b) { return !memcmp(&a, &b, sizeof a) || (isnan(a) && isnan(b)); }

typedef struct {
    int asked, most;
} patience;

static inline int out_of_patience(void *user)
{
    patience *p = user;
    return ++p->asked > p->most;
}

static inline int progress_until_out_of_patience(void *user, int32_t done, int32_t count)
{
    CHECK(done <= count);
    return out_of_patience(user);
}

static const ct_learn_method METHODS[] = {
    CT_LEARN_LM,   CT_LEARN_CLOSED_FORM, CT_LEARN_FRANK_WOLFE, CT_LEARN_FRANK_WOLFE_LOG, CT_LEARN_PROJECTED_GRADIENT,
    CT_LEARN_LBFGS};
#define METHOD_COUNT (sizeof METHODS / sizeof *METHODS)

static inline ct_trial_options options_of(ct_learn_method method)
{
    ct_trial_options options = ct_trial_defaults();
    CHECK(options.trace && !options.errors);
    options.learn.method = method;
    options.learn.max_iterations = 12;
    options.test.nees = 1;
    options.test.inference.incremental = 1;
    options.errors = 1;
    return options;
}

/* What a caller is told on the way. */
typedef struct {
    int    count, stop_at;
    ct_learn_phase phase[TOLD];
    double loss[TOLD], p[TOLD][6];
} listener;

static inline int listen(void *user, const ct_learn_progress *progress)
{
    listener *l = user;
    if (l->count < TOLD) {
        l->phase[l->count] = progress->phase;
        l->loss[l->count] = progress->train;
        memcpy(l->p[l->count], progress->p, sizeof l->p[0]);
    }
    return ++l->count == l->stop_at;
}

#endif
