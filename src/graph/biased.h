/* biased.h: what other modules use of measurement models with a bias (biased.c). */
#ifndef CT_BIASED_H
#define CT_BIASED_H

#include <covtune/graph.h>

/* The biased model of that name, or NULL. */
const ct_factor_ops *ct__biased_find(const char *name);
/* 1: a step or start of a bias: bias_start, random_walk, gauss_markov, oscillation. */
int ct__is_process(const ct_factor_ops *ops);

/* The factor without its bias: variables and measurement begin with those of the model without it. */
static inline ct_factor ct__without_bias(ct_factor f)
{
    f.ops = ct_factor_unbiased(f.ops);
    return f;
}

#endif
