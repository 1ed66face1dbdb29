/* check_noise.h: whether a noise table matches theta; for this and later modules. */
#ifndef CT_THETA_CHECK_NOISE_H
#define CT_THETA_CHECK_NOISE_H

#include <covtune/theta.h>

/* 1 if the table has theta's models, with the same dimensions. Models added later do not matter. The check is
 * CT_E_ARGUMENT if not. */
int       ct__theta_matches(const ct_theta *theta, const ct_noise *noise);
ct_status ct__theta_check_noise(const ct_theta *theta, const ct_noise *noise, ct_err *err);

#endif
