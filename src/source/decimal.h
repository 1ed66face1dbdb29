/* decimal.h: numbers in text. Whatever the locale, the decimal separator is a point. */
#ifndef CT_SOURCE_DECIMAL_H
#define CT_SOURCE_DECIMAL_H

#include "source/source.h"

/* Is the whole text a decimal number, "-12.5e3", or nan, inf or infinity in any case? *value <- the nearest double. */
int ct__decimal(const char *text, size_t length, double *value);
/* The same where CT__DECIMAL_SLACK bytes from the end of the text on can be read, whatever they are: decimals are then
 * read at once. */
#define CT__DECIMAL_SLACK 8
int ct__decimal_padded(const char *text, size_t length, double *value);
/* Is the whole text digits with or without sign, and within 64 bits? */
int ct__decimal_integer(const char *text, size_t length, int64_t *value);

/* *value <- the decimal number times 10^digits, rounded to the nearest integer (halves away from 0); exact for any
 * number of digits. */
typedef enum { CT__SCALED_OK, CT__SCALED_NO_NUMBER, CT__SCALED_BEYOND /* 64 bits */ } ct__scaled;
ct__scaled ct__decimal_scaled(const char *text, size_t length, int digits, int64_t *value);

/* Is the whole text a date with a time, "2009-07-22T14:31:12.841Z"? *ns <- since 1970. Without a zone it is UTC. */
int ct__calendar(const char *text, size_t length, int64_t *ns);

#endif
