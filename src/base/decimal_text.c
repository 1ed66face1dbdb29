/* decimal_text.c: doubles as decimal text, by exact integers where they fit.
 *
 * A positive double is v = m 2^e, 2^52 <= m < 2^53. With x = floor(log10 v) and k = d - 1 - x its first d digits are
 *
 *     D = round(v 10^k) = round(P 2^s),   P = m 5^k,   s = e + k.
 *
 * For 0 <= k <= 27, P < 2^116: 128 bits hold it, and the remainder of the shift rounds exactly, ties to even, as printf
 * does. D reads back to v where |D 10^-k - v| is below half the distance to the next double, 2^(e-1): times 10^k 2^-s,
 *
 *     2 |D 2^-s - P| < 5^k,   or equal to it if m is even.
 *
 * Below a power of two (m = 2^52) doubles lie closer. Those, and values beyond 1e-7 to 1e15, are left to printf and
 * strtod, which are slower. */
#define _XOPEN_SOURCE 700
#include "base/base.h"
#include "base/file.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>

__extension__ typedef unsigned __int128 wide;

#define POWERS 28 /* 5^27 < 2^64 */

static const uint64_t FIVE[POWERS] = {
    UINT64_C(1), UINT64_C(5), UINT64_C(25), UINT64_C(125), UINT64_C(625), UINT64_C(3125), UINT64_C(15625),
    UINT64_C(78125), UINT64_C(390625), UINT64_C(1953125), UINT64_C(9765625), UINT64_C(48828125),
    UINT64_C(244140625), UINT64_C(1220703125), UINT64_C(6103515625), UINT64_C(30517578125), UINT64_C(152587890625),
    UINT64_C(762939453125), UINT64_C(3814697265625), UINT64_C(19073486328125), UINT64_C(95367431640625),
    UINT64_C(476837158203125), UINT64_C(2384185791015625), UINT64_C(11920928955078125),
    UINT64_C(59604644775390625), UINT64_C(298023223876953125), UINT64_C(1490116119384765625),
    UINT64_C(7450580596923828125)};

/* 10^n, n <= 17. */
static uint64_t ten(int n) { return FIVE[n] << n; }

/* v = m 2^e. */
typedef struct {
    uint64_t m;
    int      e;
} binary;

/* v ~ digit 10^(exponent + 1 - digits). */
typedef struct {
    uint64_t digit;
    int      digits, exponent;
    int      exact; /* it reads back to v */
} decimal;

static binary split(double v)
{
    int          e;
    const double f = frexp(v, &e);
    return (binary){(uint64_t)ldexp(f, 53), e - 53};
}

/* The first d digits of b, whose exponent is x or one more; 0: out of range. */
static int round_at(binary b, int d, int x, decimal *out)
{
    const int k = d - 1 - x;
    if (k < 0 || k >= POWERS) return 0;
    const wide P = (wide)b.m * FIVE[k];
    const int  s = b.e + k;
    uint64_t   D;
    int        exact = 1;
    if (s >= 0) {
        D = (uint64_t)(P << s); /* below 10^18 */
    } else {
        const wide half = (wide)1 << (-s - 1), rest = P & (2 * half - 1);
        D = (uint64_t)(P >> -s);
        D += rest > half || (rest == half && (D & 1));
        const wide back = (wide)D << -s, off = back > P ? back - P : P - back;
        exact = 2 * off < FIVE[k] || (2 * off == FIVE[k] && !(b.m & 1));
    }
    if (D > ten(d)) return round_at(b, d, x + 1, out);
    *out = D == ten(d) ? (decimal){ten(d - 1), d, x + 1, exact} : (decimal){D, d, x, exact};
    return 1;
}

/* Can it be done in integers? *x <- the exponent of v > 0, or one less. */
static int in_range(double v, binary *b, int *x)
{
    if (!(v >= 1e-7 && v < 1e15)) return 0;
    *b = split(v);
    *x = (int)floor(log10(v) - 1e-12);
    return b->m != UINT64_C(1) << 52;
}

/* ---- text ---- */

static const char *by_printf(double value, char buf[32])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buf, 32, "%.*g", digits, value);
        if (strtod(buf, NULL) == value) break;
    }
    const char *point = localeconv()->decimal_point;
    char *found = strcmp(point, ".") ? strstr(buf, point) : NULL;
    if (found) {
        *found = '.';
        memmove(found + 1, found + strlen(point), strlen(found + strlen(point)) + 1);
    }
    return buf;
}

/* As %g: without closing zeros; below 1e-4, and from 10^digits on, with an exponent. */
static void put(decimal d, char *out)
{
    char digit[20];
    int  n = d.digits;
    for (int i = n - 1; i >= 0; i--, d.digit /= 10) digit[i] = (char)('0' + d.digit % 10);
    while (n > 1 && digit[n - 1] == '0') n--;
    const int before = d.exponent < -4 ? 1 : d.exponent + 1; /* digits before the point */
    if (before <= 0) {
        *out++ = '0';
        *out++ = '.';
        for (int i = before; i < 0; i++) *out++ = '0';
    }
    for (int i = 0; i < n || i < before; i++) {
        if (i == before && i > 0) *out++ = '.';
        *out++ = i < n ? digit[i] : '0';
    }
    if (d.exponent < -4) {
        *out++ = 'e';
        *out++ = '-';
        *out++ = '0';
        *out++ = (char)('0' - d.exponent);
    }
    *out = '\0';
}

const char *ct__format_double(double value, char buf[32])
{
    binary  b;
    decimal d = {.exact = 0};
    int     x;
    if (!in_range(fabs(value), &b, &x)) return by_printf(value, buf);
    for (int digits = 15; digits <= 17 && !d.exact; digits++)
        if (!round_at(b, digits, x, &d)) return by_printf(value, buf);
    buf[0] = '-';
    put(d, buf + (value < 0));
    return buf;
}

double ct__round_to_digits(double value, int digits)
{
    binary  b;
    decimal d;
    int     x;
    if (digits >= 15 && in_range(fabs(value), &b, &x) && round_at(b, digits, x, &d)) {
        const int k = digits - 1 - d.exponent;
        if (d.exact) return value;
        /* Both are exact, so their quotient is the nearest double. */
        if (d.digit <= UINT64_C(1) << 53 && k >= 0 && k <= 22)
            return copysign(ldexp((double)d.digit / (double)FIVE[k], -k), value);
    }
    char text[40];
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    return strtod(text, NULL);
}
