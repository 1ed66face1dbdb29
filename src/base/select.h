/* select.h: order statistics in linear time. ct_median sorts; these leave values partly ordered. None may be NaN. */
#ifndef CT_SELECT_H
#define CT_SELECT_H

#include <stdint.h>

/* value[k] <- the k-th smallest, from 0; those before it are not larger, those after it not smaller. 0 <= k < count. */
void ct__nth_smallest(int64_t count, double value[], int64_t k);
/* ct_median, to the bit. */
double ct__median(int64_t count, double value[]);

#endif
