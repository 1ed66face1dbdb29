/* truth_sigma.c: the sigma of the truth itself, from text, for all sequences of a dataset. */
#define _POSIX_C_SOURCE 200809L
#include "base/base.h"
#include "data/data.h"
#include "data/locale.h"

#include <math.h>

/* A number >= 0 at *text, which moves behind it. */
static int take_number(const char **text, double *value)
{
    char *end;
    *value = strtod(*text, &end);
    if (end == *text || !(*value >= 0) || !isfinite(*value)) return 0;
    *text = end;
    return 1;
}

static int parse(const char *text, double sigma[2])
{
    double pair[2] = {NAN, NAN};
    if (!take_number(&text, &pair[0])) return 0;
    if (*text == ',' && (text++, !take_number(&text, &pair[1]))) return 0;
    if (*text) return 0;
    memcpy(sigma, pair, sizeof pair);
    return 1;
}

ct_status ct_truth_sigma_parse(const char *text, const char *option, double sigma[2], ct_err *err)
{
    const locale_t before = ct__locale_begin(NULL);
    const int      valid = parse(text, sigma);
    if (before) ct__locale_end(before);
    return valid ? CT_OK
                 : ct_fail(err, CT_E_ARGUMENT, "%s is M or M,RAD: metres and radians, not negative, found \"%s\"",
                           option, text);
}

ct_status ct_dataset_set_truth_sigma(ct_dataset *dataset, const double sigma[2], ct_err *err)
{
    for (int k = 0; k < 2; k++)
        if (sigma[k] < 0 || isinf(sigma[k]))
            return ct_fail(err, CT_E_ARGUMENT, "the sigma of the truth is %g %s; it must not be negative or infinite",
                           sigma[k], k ? "rad" : "m");
    for (int32_t i = 0; i < dataset->trains + dataset->tests; i++) {
        ct_sequence *seq = i < dataset->trains ? dataset->train[i] : dataset->test[i - dataset->trains];
        for (int k = 0; k < 2; k++)
            if (!isnan(sigma[k])) seq->truth_sigma[k] = sigma[k];
    }
    return CT_OK;
}
