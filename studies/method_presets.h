/* method_presets.h: who takes part in comparisons and studies: methods, with what each is told beside its name. */
#ifndef CT_STUDIES_METHOD_PRESETS_H
#define CT_STUDIES_METHOD_PRESETS_H

#include "cli/common/cli.h"

/* A method_preset learns from the table's values, as the paper's methods do, unless it is the default learner. */
typedef struct {
    const char     *key;        /* in files and on the command line           */
    const char     *name;       /* for people                                 */
    ct_learn_method method;
    int             from_table; /* as in ct_learn_options                     */
    int             alone;      /* lm: without a prior                        */
    ct_difference   difference; /* in the loss                                */
    ct_gradient     gradient;
    int             zero_order; /* sees values of the loss alone              */
    /* of learning, in that of lm: for the bar; in a loose box of twelve numbers, from far off */
    double          cost;
    int             quick;      /* iterations where time is short; 0: its own */
    ct_role         role;       /* in pictures                                */
} method_preset;

/* The method_preset of that key, NULL: there is none. A method's name is the key of that method with nothing else
 * said. */
const method_preset *preset_find(const char *key);

/* "a,b,c" into at most `most` keys' method_presets. Returns how many, or -1 and the first word that is none in
 * bad[64]. */
int preset_list(const char *list, const method_preset *out[], int most, char bad[64]);

/* What ct_trial is told: outer problem and method. The rest are the defaults. */
void preset_options(const method_preset *who, ct_trial_options *options);

/* Of a table's values, as theta has them, inside its set or not. */
double preset_spread(const ct_theta *theta, const ct_noise *noise);

#endif
