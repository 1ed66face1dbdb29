/* nav_situation.h: noise that depends on features, for navigation sequences. */
#ifndef CT_NAV_SITUATION_H
#define CT_NAV_SITUATION_H

#include <covtune/simulate.h>

typedef struct {
    ct_situation kind;
    int          useless;
    ct_rng       rng, idle; /* of the world; of useless features */
    double       wander[2]; /* Gaussian processes behind sky and traffic */
} ct__situation;

ct__situation ct__situation_begin(const ct_nav_options *options, uint64_t number);
/* The next fix of GPS, or the next step of odometry: its features go to factor f (the last one), u <- log of the factor
 * on its variances. turn: rad a step. */
double    ct__situation_gps(ct__situation *s, double feature[2]);
double    ct__situation_odom(const ct__situation *s, double turn);
ct_status ct__situation_describe(ct__situation *s, ct_graph *graph, int odom, const double *feature, double u,
                                 ct_err *err);
/* An error e of GPS in a street: its ellipse turns with the features. */
void ct__situation_turn(int dim, const double feature[2], const double sigma[], double e[]);
/* The true function of GPS in a street. */
ct_status ct__situation_street(ct_noise *noise, int32_t model, ct_err *err);
/* The true function of a model: of the feature that holds u itself. */
ct_status ct__situation_function(ct_noise *noise, int32_t model, int odom, ct_err *err);

#endif
