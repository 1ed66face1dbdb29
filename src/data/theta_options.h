/* theta_options.h: the lists of ct_theta_options, and the noise models that their names select. */
#ifndef CT_DATA_THETA_OPTIONS_H
#define CT_DATA_THETA_OPTIONS_H

#include <covtune/data.h>

#define CT__ITEM_MAX 2048 /* bytes of a list item: seven of the longest names tied together */

/* Copies the next item of "a,b,c" to `item` and advances *list; 0 at the end. Items are shorter than CT__ITEM_MAX:
 * ct_theta_options_check. */
int ct__list_next(const char **list, char item[CT__ITEM_MAX]);
/* 1 if an item of the list is this model or its group. */
int ct__list_has_model(const char *list, const char *model);
/* "LO:HI" with 0 < LO <= HI < infinity; 0 if the text is something else. */
int ct__range_parse(const char *text, double *lower, double *upper);

/* The models that names can select. */
typedef struct {
    const ct_noise *noise;
    int32_t         models;
    const uint8_t  *used;   /* per model: 1 if a factor of a training sequence has it     */
    const char     *prefix; /* of option names in messages                           */
    void (*remark)(void *user, const char *sentence);
    void           *user;
    ct_err         *err;
} ct__model_names;

/* model[0 .. *count - 1] <- the used models that "odom", "odom@0.x" or "odom.2" names; *row <- the row, -1: whole
 * models. CT_E_ARGUMENT with a sentence if the name selects nothing. `model` holds names->models numbers. */
ct_status ct__select_models(const ct__model_names *names, const char *option, const char *text, int32_t *model,
                            int32_t *count, int *row);

/* used[i] <- 1 if a factor of a training sequence has model i, for the first `models` of the table. */
void ct__mark_used_models(const ct_dataset *dataset, int32_t models, uint8_t *used);
/* 1 if dataset and options learn the model, used or not. */
int ct__model_is_learned(const ct_dataset *dataset, const ct_theta_options *options, int32_t model);

#endif
