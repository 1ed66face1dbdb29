/* ticks.c: ticks at multiples of 1, 2 or 5 times a power of ten. A multiple k m 10^e is computed as k m / 10^-e
 * where e < 0: one rounding, so that a third of a unit is 0.3 and not 0.30000000000000004. */
#include "page/ticks.h"
#include "base/base.h"

#include <math.h>

#define SLACK      1e-9 /* of a step: an end that rounding puts beyond a tick still has it         */
#define FINE       4    /* decades that leave room for minor ticks between powers of ten           */
#define PLAIN_LOW  -3   /* powers of ten that are written 0.001 ...                                */
#define PLAIN_HIGH 4    /* ... 10000; if one lies outside, all are written as powers               */
#define LONG       7    /* linear labels of more digits than that have an exponent                 */

static double multiple(double k, int mantissa, int exponent)
{
    return exponent < 0 ? k * mantissa / pow(10, -exponent) : k * mantissa * pow(10, exponent);
}

static void add(ct__ticks *t, double value, int minor)
{
    if (t->count == CT__TICKS) return;
    t->value[t->count] = value;
    t->minor[t->count++] = (int8_t)minor;
}

ct__ticks ct__ticks_linear(double low, double high, int most)
{
    static const int MANTISSA[] = {1, 2, 5};
    ct__ticks        t = {0};
    const double     raw = (high - low) / CT_MAX(most, 1);
    int              e = (int)floor(log10(raw)), m = 0;
    while (multiple(1, MANTISSA[m], e) < raw * (1 - SLACK)) e += m == 2, m = (m + 1) % 3;
    for (; t.count < 2; e -= m == 0, m = (m + 2) % 3) { /* finer, until there are two: coarse steps can miss a range */
        const double step = multiple(1, MANTISSA[m], e), last = floor(high / step + SLACK);
        t.exponent = e;
        t.count = 0;
        for (double k = ceil(low / step - SLACK); k <= last && t.count < CT__TICKS; k++)
            add(&t, k == 0 ? 0 : multiple(k, MANTISSA[m], e), 0);
    }
    return t;
}

/* 1 to 9 times the powers of ten in range; which of them are minor is a bit of `minor` (bit 1 for 1 times). */
static ct__ticks each_of_nine(double low, double high, int minor)
{
    ct__ticks t = {.log = 1};
    for (int k = (int)floor(log10(low)); k <= (int)floor(log10(high)); k++)
        for (int m = 1; m <= 9; m++) {
            const double v = multiple(1, m, k);
            if (v >= low * (1 - SLACK) && v <= high * (1 + SLACK)) add(&t, v, minor >> m & 1);
        }
    return t;
}

ct__ticks ct__ticks_log(double low, double high, int most)
{
    const double first = ceil(log10(low) - SLACK), last = floor(log10(high) + SLACK);
    if (last - first >= 1) {
        static const int STEP[] = {1, 2, 5, 10, 20, 50, 100, 200, 500};
        size_t           s = 0;
        while (s < 8 && (last - first) / STEP[s] + 1 > CT_MAX(most, 2)) s++;
        while (s > 0 && floor(last / STEP[s]) - ceil(first / STEP[s]) < 1) s--; /* coarse steps can miss a range */
        ct__ticks t = {.log = 1};
        if (STEP[s] == 1 && last - first <= FINE) t = each_of_nine(low, high, ~(1 << 1));
        else
            for (double k = STEP[s] * ceil(first / STEP[s]); k <= last; k += STEP[s])
                add(&t, multiple(1, 1, (int)k), 0);
        if (first < PLAIN_LOW || last > PLAIN_HIGH) t.log = 2;
        return t;
    }
    ct__ticks t = each_of_nine(low, high, ~(1 << 1 | 1 << 2 | 1 << 5));
    int       major = 0;
    for (int i = 0; i < t.count; i++) major += !t.minor[i];
    return major >= 3 ? t : ct__ticks_linear(low, high, most);
}

/* U+2212 for the minus. */
static void mend_minus(char out[CT__NUMBER])
{
    char buf[CT__NUMBER];
    int  n = 0;
    snprintf(buf, sizeof buf, "%s", out);
    for (const char *p = buf; *p && n < CT__NUMBER - 4; p++) {
        if (*p == '-') memcpy(out + n, "\342\210\222", 3), n += 3;
        else out[n++] = *p;
    }
    out[n] = 0;
}

/* As many digits as distinguish neighbours: "2.5e-6". */
static void put_exponent(double value, int exponent, char out[CT__NUMBER])
{
    const int e = (int)floor(log10(fabs(value)) + SLACK);
    char      mantissa[CT__NUMBER];
    ct__number_fixed(value / pow(10, e), CT_MIN(CT_MAX(0, e - exponent), 15), mantissa);
    snprintf(out, CT__NUMBER, "%.40se%d", mantissa, e);
}

void ct__ticks_label(const ct__ticks *t, int i, char out[CT__NUMBER])
{
    const double v = t->value[i], largest = t->count ? fmax(fabs(t->value[0]), fabs(t->value[t->count - 1])) : 0;
    const int    e = largest > 0 ? (int)floor(log10(largest) + SLACK) : 0;
    if (t->log == 2) snprintf(out, CT__NUMBER, "%d", (int)lround(log10(v)));
    else if (t->log) ct__number_format(v, 1, out);
    else if (v != 0 && (e >= LONG || t->exponent < -LONG + 1)) put_exponent(v, t->exponent, out);
    else ct__number_decimals(v, CT_MAX(0, -t->exponent), out);
    mend_minus(out);
}
