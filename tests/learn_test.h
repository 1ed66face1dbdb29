/* learn_test.h: small problems to learn from, for the tests of module learn. */
#ifndef LEARN_TEST_H
#define LEARN_TEST_H

#include <covtune/simulate.h>
#include "ct_test.h"

#include <covtune/learn.h>

#define RUNS_MAX 32

typedef struct {
    ct_noise    *noise;
    ct_theta    *theta;
    ct_sequence *seq[RUNS_MAX];
    int          runs;
    ct_outer    *outer;
    ct_err       err;
} lesson;

/* Navigation runs of a preset, the latent noise in the table; nothing is learned yet. */
static inline lesson lesson_of(const char *preset, ct_kind kind, int runs, int poses, uint64_t seed)
{
    lesson         l = {.runs = runs};
    ct_nav_options options;
    CHECK(ct_nav_preset(preset, kind, &options));
    options.least = options.most = poses;
    options.seed = seed;
    CHECK_OK(ct_noise_new(&l.noise, &l.err), l.err);
    for (int i = 0; i < runs; i++) CHECK_OK(ct_simulate_nav(&options, (uint64_t)i, l.noise, &l.seq[i], &l.err), l.err);
    return l;
}

/* Learn every model but the first pose's, within bounds. */
static inline void learn_all(lesson *l, ct_noise_kind kind, double lower, double upper)
{
    if (!l->theta) CHECK_OK(ct_theta_new(l->noise, &l->theta, &l->err), l->err);
    for (int32_t g = 0; g < ct_noise_count(l->noise); g++)
        if (strcmp(ct_noise_get(l->noise, g)->name, "first_pose"))
            CHECK_OK(ct_theta_learn(l->theta, g, kind, lower, upper, &l->err), l->err);
}

static inline void open_outer(lesson *l, const ct_outer_options *options)
{
    ct_outer_free(l->outer);
    CHECK_OK(ct_outer_new(l->runs, (const ct_sequence *const *)l->seq, l->noise, l->theta, options, &l->outer, &l->err),
             l->err);
}

/* The far start of the studies: six decades of spread. */
static inline void start_far(lesson *l)
{
    for (int32_t g = 0; g < ct_noise_count(l->noise); g++) {
        const ct_noise_model *m = ct_noise_get(l->noise, g);
        const double          odom[3] = {100, 100, 1e-3}, gps[3] = {0.1, 0.1, 1e3};
        if (!strcmp(m->name, "first_pose")) continue;
        CHECK_OK(ct_noise_set_variance(l->noise, g, m->name[0] == 'o' ? odom : gps, &l->err), l->err);
    }
}

static inline ct_learn_result learn(lesson *l, const ct_learn_options *options)
{
    ct_learn_result result;
    CHECK_OK(ct_learn(l->outer, options, l->noise, &result, &l->err), l->err);
    CHECK(ct_theta_is_feasible(l->theta, l->noise));
    return result;
}

/* A lesson with a bad start, ready to be learned. */
static inline lesson begin(const char *preset, int runs, int poses, uint64_t seed, double lower, double upper)
{
    lesson l = lesson_of(preset, CT_SE2, runs, poses, seed);
    start_far(&l);
    learn_all(&l, CT_NOISE_DIAGONAL, lower, upper);
    open_outer(&l, NULL);
    return l;
}

/* Runs whose graph is wrong: odometry turns a little with every step, and the GPS hardly knows the heading. */
static inline lesson biased_lesson(int runs, uint64_t first, double bias)
{
    lesson         l = {.runs = runs};
    ct_nav_options nav;
    CHECK(ct_nav_preset("D1", CT_SE2, &nav));
    nav.least = nav.most = 200;
    nav.odom[0][8] = 0.02 * 0.02;
    nav.gps[0][8] = 1;
    CHECK_OK(ct_noise_new(&l.noise, &l.err), l.err);
    for (int i = 0; i < runs; i++) {
        ct_graph *biased = NULL;
        CHECK_OK(ct_simulate_nav(&nav, first + (uint64_t)i, l.noise, &l.seq[i], &l.err), l.err);
        ct_sequence *seq = l.seq[i];
        CHECK_OK(ct_graph_new(&biased, &l.err), l.err);
        for (int32_t v = 0; v < ct_graph_variables(seq->graph); v++)
            CHECK_OK(ct_graph_add_variable(biased, NULL, CT_SE2,
                                           ct_graph_initial_const(seq->graph) + ct_graph_offset(seq->graph, v), NULL,
                                           &l.err),
                     l.err);
        for (int32_t f = 0; f < ct_graph_factors(seq->graph); f++) {
            const ct_factor k = ct_graph_factor(seq->graph, f);
            double          z[4];
            memcpy(z, k.z, sizeof z);
            if (k.ops->arity == 2) ct_kind_retract(CT_SE2, z, (const double[3]){0, 0, bias}, z);
            CHECK_OK(ct_graph_add_factor(biased, k.ops, k.var, z, NULL, k.noise, &l.err), l.err);
        }
        ct_graph_free(seq->graph);
        seq->graph = biased;
    }
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-3, 1e3);
    open_outer(&l, NULL);
    return l;
}

static inline void lesson_free(lesson *l)
{
    ct_outer_free(l->outer);
    ct_theta_free(l->theta);
    for (int i = 0; i < l->runs; i++) ct_sequence_free(l->seq[i]);
    ct_noise_free(l->noise);
}

#endif
