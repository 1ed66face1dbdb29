/* ticks.h: ticks of an axis and their labels. */
#ifndef CT_REPORT_TICKS_H
#define CT_REPORT_TICKS_H

#include "page/escape.h"

#define CT__TICKS 96

typedef struct {
    int    count;
    double value[CT__TICKS]; /* rising                                                  */
    int8_t minor[CT__TICKS]; /* a fine line without a label                             */
    int    exponent;         /* the step is 1, 2 or 5 times 10^exponent; of linear ones */
    int    log;              /* 1: ticks of a logarithmic axis; 2: all are powers of ten, and are written so */
} ct__ticks;

/* All multiples in [low, high] of the smallest 1, 2 or 5 times a power of ten that leaves at most `most` steps, or
 * of a smaller one if there were less than two; low < high, most >= 1. */
ct__ticks ct__ticks_linear(double low, double high, int most);
/* Powers of ten, every first, second, fifth, ... of them so that there are at most `most`, but two at least; with 2
 * to 9 times them as minor ones where there are few. Where there are less than two powers: 1, 2 and 5 times powers;
 * less than three of those: as on a linear axis. 0 < low < high. */
ct__ticks ct__ticks_log(double low, double high, int most);

/* The label of tick i: plain text with U+2212 for the minus; for powers of ten (log == 2) the exponent alone. */
void ct__ticks_label(const ct__ticks *ticks, int i, char out[CT__NUMBER]);

#endif
