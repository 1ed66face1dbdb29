/* bias_states.h: what the files on biases share (bias_states.c, declare_bias.c). */
#ifndef CT_BIAS_STATES_H
#define CT_BIAS_STATES_H

#include "data/data.h"

/* 1 if the noise model is the sensor's: of its name, or part of the group of that name. */
int ct__of_sensor(const ct_noise *noise, int32_t model, const char *sensor);
/* 1 for relative poses: between_K. */
int ct__is_relative(const ct_factor_ops *ops);
/* What the sequence's measurements of a sensor are. */
typedef struct {
    int64_t              measurements;
    const ct_factor_ops *ops;     /* of the first           */
    int32_t              model;   /* its noise model        */
    int                  seconds; /* times are stamps       */
    double               step;    /* median time between    */
} ct__bias_survey;
ct_status ct__bias_inspect(const ct_sequence *seq, const ct_noise *noise, const ct_bias *bias, ct__bias_survey *out,
                        ct_err *err);
/* biased_measurement.c: factor f of variables var, with the state of its bias. dt: time between its two poses. */
ct_status ct__add_biased(ct_graph *graph, const ct_bias *b, const ct_factor *f, const int32_t *var, int32_t state,
                         double dt, ct_err *err);
/* The known point in the measurement of a factor with one variable, or NULL. */
const double *ct__known_point(const ct_factor *f);

#endif
