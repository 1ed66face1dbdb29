/* method_presets.h: the methods of comparisons and studies, each with the options that make it comparable. */
#ifndef CT_STUDIES_METHOD_PRESETS_H
#define CT_STUDIES_METHOD_PRESETS_H

#include <covtune/page.h>
#include <covtune/trial.h>

/* Methods start from the table's values, as the paper's do, but for the default (lm) and the closed form. The maximum
 * of the likelihood does not depend on its start. */
typedef struct {
    const char     *key;        /* in files and on the command line                                  */
    const char     *name;       /* in tables and pictures                                            */
    ct_learn_method method;
    int             from_table; /* as in ct_learn_options                                            */
    int             alone;      /* lm: without a prior                                               */
    ct_difference   difference; /* of the loss; local: as the options have it                        */
    ct_gradient     gradient;
    double          cost;       /* of learning, relative to lm: for progress                         */
    int             quick;      /* limit of iterations in quick studies; 0: the method's own         */
    ct_role         role;       /* in pictures                                                       */
} method_preset;

/* The preset of that key, in any case, with _ for -; NULL: there is none. A method's name is the key of its plain
 * preset. */
const method_preset *preset_find(const char *key);

/* "a,b,c" into at most `most` presets. Returns how many, or -1 and the first word that is none in bad[64]. */
int preset_list(const char *list, const method_preset *out[], int most, char bad[64]);

/* 1: it searches by values of the loss alone. */
int preset_is_zero_order(const method_preset *who);

/* options <- outer problem and method of the preset; the rest stays. */
void preset_options(const method_preset *who, ct_trial_options *options);

#endif
