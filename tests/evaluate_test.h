/* evaluate_test.h: ct_evaluate and ct_evaluate_sequence with the options that tests vary as arguments. */
#ifndef EVALUATE_TEST_H
#define EVALUATE_TEST_H

#include <covtune/evaluate.h>

static inline ct_evaluate_options evaluate_options(const ct_inference *inference, const ct_loss *loss, int nees)
{
    ct_evaluate_options options = ct_evaluate_defaults();
    options.inference = *inference;
    options.loss = *loss;
    options.nees = nees;
    return options;
}

static inline ct_status evaluate_one(const ct_sequence *seq, const ct_noise *noise, ct_solver *solver,
                                     const ct_inference *inference, const ct_loss *loss, int nees, double *x,
                                     ct_evaluation *out, ct_err *err)
{
    const ct_evaluate_options options = evaluate_options(inference, loss, nees);
    return ct_evaluate_sequence(seq, noise, solver, &options, x, out, err);
}

static inline ct_status evaluate_all(int32_t count, ct_sequence *const seq[], const ct_noise *noise,
                                     const ct_inference *inference, const ct_loss *loss, int nees, int jobs,
                                     ct_evaluate_fn progress, void *user, ct_evaluation out[], ct_err *err)
{
    ct_evaluate_options options = evaluate_options(inference, loss, nees);
    options.jobs = jobs;
    options.progress = progress;
    options.user = user;
    return ct_evaluate(count, seq, noise, &options, out, NULL, err);
}

#endif
