/* escape.h: text escaped for HTML, Markdown, JSON or a terminal, from any bytes; numbers as text. */
#ifndef CT_REPORT_TEXT_H
#define CT_REPORT_TEXT_H

#include "base/text.h"

/* The code point at *s, which is moved past it. '?' for bytes that are not UTF-8, control characters, and marks that
 * change the direction of writing. A line end is a blank. */
unsigned long ct__text_next(const char **s);

/* Text of such code points: plain, for HTML (also in quotes) and XML, for Markdown, and as a JSON string (which keeps
 * line ends and tabs). */
void ct__text_plain(ct__text *text, const char *s);
void ct__text_html(ct__text *text, const char *s);
void ct__text_markdown(ct__text *text, const char *s);
void ct__text_json(ct__text *text, const char *s);

/* Columns on a terminal: code points. */
int ct__text_columns(const char *s);

/* ---- Numbers --------------------------------------------------------------------------------- */

#define CT__NUMBER 96 /* room for any of these */

/* A number to so many significant digits (1 to 17), fixed from 1e-3 up to 1e5, else "1.23e-5"; digits before the
 * point are never dropped. */
void ct__number_format(double value, int digits, char out[CT__NUMBER]);
/* A count: all of its digits, up to 1e15. */
void ct__number_whole(double value, char out[CT__NUMBER]);
/* "0.176 +- 0.003", "(1.23 +- 0.04)e-5", with `sign` for the +-: decimals as the digits ask, but no more than leave
 * the deviation two significant ones, and enough that it has one. */
void ct__number_deviation(double value, double deviation, int digits, const char *sign, char out[CT__NUMBER]);
/* With so many decimals; and with zeros at their end left out, where "-0" is "0". */
void ct__number_decimals(double value, int decimals, char out[CT__NUMBER]);
void ct__number_fixed(double value, int decimals, char out[CT__NUMBER]);

#endif
