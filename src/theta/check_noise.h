/* check_noise.h: does a noise table fit theta? For this module and those after it, which do not see what theta is
 * made of. */
#ifndef CT_THETA_TABLE_H
#define CT_THETA_TABLE_H

#include <covtune/theta.h>

/* Was it made for such a table: the models it knows of are there, of the same dimensions? Those that a table was given
 * later come after them, and do not matter. check: CT_E_ARGUMENT if not. */
int       ct__theta_matches(const ct_theta *theta, const ct_noise *noise);
ct_status ct__theta_check_noise(const ct_theta *theta, const ct_noise *noise, ct_err *err);

#endif
