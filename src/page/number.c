/* number.c: numbers for people. With e the exponent of the value rounded to d significant digits,
 *
 *   decimals = max(0, d - 1 - e)        where -3 <= e < 5, else the same of value / 10^e, and "e<e>" behind it
 *
 * so that 0.9996 to three digits is 1.00, and 12345.6 keeps all before its point. */
#include "page/escape.h"
#include "base/base.h"

#include <locale.h>
#include <math.h>

#define FIXED_LOW  -3 /* exponents that are written out: 0.00123 ...  */
#define FIXED_HIGH 5  /* ... 12345; from 1e5 on, and below 1e-3: 1.23e-5 */

/* The decimal point does not depend on the locale. */
static void mend_point(char *text)
{
    const char *point = localeconv()->decimal_point;
    char       *found = strcmp(point, ".") ? strstr(text, point) : NULL;
    if (!found) return;
    *found = '.';
    memmove(found + 1, found + strlen(point), strlen(found + strlen(point)) + 1);
}

/* The exponent of a finite value once it is rounded to so many digits; 0 of 0. */
static int exponent_of(double value, int digits)
{
    char buf[40];
    snprintf(buf, sizeof buf, "%.*e", digits - 1, value);
    const char *e = strchr(buf, 'e');
    return e ? atoi(e + 1) : 0;
}

void ct__number_decimals(double value, int decimals, char out[CT__NUMBER])
{
    snprintf(out, CT__NUMBER, "%.*f", decimals, value);
    mend_point(out);
}

/* NaN and infinities as words. */
static int put_word(double value, char out[CT__NUMBER])
{
    if (isfinite(value)) return 0;
    snprintf(out, CT__NUMBER, "%s", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
    return 1;
}

void ct__number_format(double value, int digits, char out[CT__NUMBER])
{
    if (put_word(value, out)) return;
    if (value == 0) {
        snprintf(out, CT__NUMBER, "0");
        return;
    }
    const int e = exponent_of(value, digits);
    if (e >= FIXED_LOW && e < FIXED_HIGH) {
        ct__number_decimals(value, CT_MAX(0, digits - 1 - e), out);
        return;
    }
    char buf[40];
    snprintf(buf, sizeof buf, "%.*e", digits - 1, value);
    *strchr(buf, 'e') = 0;
    snprintf(out, CT__NUMBER, "%se%d", buf, e);
    mend_point(out);
}

void ct__number_whole(double value, char out[CT__NUMBER])
{
    if (put_word(value, out)) return;
    if (fabs(value) < 1e15) ct__number_fixed(value, 0, out);
    else ct__number_format(value, 6, out);
}

void ct__number_deviation(double value, double deviation, int digits, const char *sign, char out[CT__NUMBER])
{
    const double larger = fmax(fabs(value), fabs(deviation));
    char         a[CT__NUMBER], b[CT__NUMBER];
    ct__number_format(value, digits, a);
    /* too different to share decimals: each has its own digits */
    if (!isfinite(value) || !isfinite(deviation) || deviation <= 0 || (value != 0 && deviation < 1e-6 * fabs(value))) {
        ct__number_format(deviation, CT_MIN(digits, 2), b);
        snprintf(out, CT__NUMBER, "%.40s %s %.40s", a, sign, b);
        return;
    }
    const int    e = exponent_of(larger, digits), fixed = e >= FIXED_LOW && e < FIXED_HIGH;
    const double unit = fixed ? 1 : pow(10, e);
    const int of_value = value != 0 ? digits - 1 - exponent_of(value / unit, digits) : digits - 1,
              of_two = 1 - exponent_of(deviation / unit, 2);
    const int    decimals = CT_MAX(0, CT_MAX(CT_MIN(of_value, of_two), -exponent_of(deviation / unit, 1)));
    ct__number_decimals(value / unit, decimals, a);
    ct__number_decimals(deviation / unit, decimals, b);
    if (fixed) snprintf(out, CT__NUMBER, "%.40s %s %.40s", a, sign, b);
    else snprintf(out, CT__NUMBER, "(%.40s %s %.40s)e%d", a, sign, b, e);
}

void ct__number_fixed(double value, int decimals, char out[CT__NUMBER])
{
    if (put_word(value, out)) return;
    ct__number_decimals(value, decimals, out);
    if (strchr(out, '.')) {
        char *end = out + strlen(out);
        while (end[-1] == '0') end--;
        end[-(end[-1] == '.')] = 0;
    }
    if (!strcmp(out, "-0")) memmove(out, out + 1, 2);
}
