/* graph_lesson_test.h: random graphs of every built-in measurement (graph_test.h) as problems to learn from. */
#ifndef GRAPH_LESSON_TEST_H
#define GRAPH_LESSON_TEST_H

#include "graph_test.h"
#include "learn_test.h"

static inline int graph_uses(const ct_graph *graph, int32_t noise)
{
    for (int32_t f = 0; f < ct_graph_factors(graph); f++)
        if (ct_graph_factor(graph, f).noise == noise) return 1;
    return 0;
}

/* Learns every model that the graph uses. truth: the sequence has it; else models whose kernel has no normaliser, and
 * so no likelihood, are left out. */
static inline lesson lesson_of_graph(uint64_t seed, int has, int truth)
{
    lesson l = {.runs = 1};
    world  w;
    world_make(&w, seed, has);
    l.noise = w.noise;
    CHECK_OK(ct_sequence_new(w.graph, &l.seq[0], &l.err), l.err);
    CHECK_OK(ct_theta_new(l.noise, &l.theta, &l.err), l.err);
    for (int32_t g = 0; g < ct_noise_count(l.noise); g++) {
        const ct_noise_model *model = ct_noise_get(l.noise, g);
        if (!graph_uses(w.graph, g)) continue;
        if (!truth && !isfinite(ct_robust_log_normaliser(model->robust, model->dim))) continue;
        CHECK_OK(ct_theta_learn(l.theta, g, model->kind, 1e-9, 1e9, &l.err), l.err);
    }
    if (truth) {
        const size_t variables = (size_t)ct_graph_variables(w.graph);
        l.seq[0]->truth = w.truth;
        l.seq[0]->known = memset(malloc(variables), 0x3f, variables);
    } else free(w.truth);
    return l;
}

#endif
