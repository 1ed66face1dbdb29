/* decimal.c: decimal text to the nearest double, and to exact integers.
 *
 * A number is w 10^e with w of at most 19 digits. If w < 2^53 and |e| <= 22, both w and 10^|e| are doubles, and one
 * multiplication or division rounds once (Clinger, How to read floating point numbers accurately, 1990). This holds for
 * nearly all numbers of logs. The rest goes to strtod as digits and an
 * exponent, which no locale reads differently. */
#include "source/decimal.h"

#include <math.h>

/* A number in parts: (-1)^negative w 10^exponent, where digits beyond the 19th were cut off. */
typedef struct {
    const char *digits, *end; /* of the mantissa, with its point */
    uint64_t w;
    int64_t exponent, written; /* written: the exponent after "e" */
    int negative, cut;
} parts;

#define EXPONENT_MAX 100000000 /* larger ones are the same: 0 or infinity for any mantissa in memory */
#define W_DIGITS     19

static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* The exponent at `at`, after "e"; NULL if there is none. */
static const char *read_exponent(const char *at, const char *end, int64_t *exponent)
{
    const int negative = at < end && *at == '-';
    int64_t e = 0;
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (at == end || !is_digit(*at)) return NULL;
    for (; at < end && is_digit(*at); at++)
        if (e < EXPONENT_MAX) e = e * 10 + (*at - '0');
    *exponent = negative ? -e : e;
    return at;
}

/* The mantissa from p->digits on, of any length: what does not fit into w is cut off. NULL if there is no digit. */
static const char *read_long(const char *at, const char *end, parts *p)
{
    int kept = 0; /* significant digits in w */
    int64_t count = 0;
    for (; at < end && is_digit(*at); at++, count++) {
        if (kept < W_DIGITS)
            p->w = p->w * 10 + (uint64_t)(*at - '0'), kept += p->w != 0;
        else
            p->exponent++, p->cut |= *at != '0';
    }
    if (at < end && *at == '.') {
        for (at++; at < end && is_digit(*at); at++, count++) {
            if (kept < W_DIGITS)
                p->w = p->w * 10 + (uint64_t)(*at - '0'), kept += p->w != 0, p->exponent--;
            else
                p->cut |= *at != '0';
        }
    }
    return count > 0 ? at : NULL;
}

/* The same where so few bytes are left that w cannot overflow. */
static inline const char *read_short(const char *at, const char *end, parts *p)
{
    const char *const first = at;
    uint64_t w = 0;
    for (; at < end && is_digit(*at); at++) w = w * 10 + (uint64_t)(*at - '0');
    const char *const point = at;
    if (at < end && *at == '.')
        for (at++; at < end && is_digit(*at); at++) w = w * 10 + (uint64_t)(*at - '0');
    p->w = w;
    const int64_t decimals = at > point ? at - point - 1 : 0;
    p->exponent = -decimals;
    return point - first + decimals > 0 ? at : NULL;
}

/* 1 if the whole of [at, end) is a decimal number. */
static inline int read_parts(const char *at, const char *end, parts *p)
{
    *p = (parts){.negative = at < end && *at == '-'};
    if (at < end && (*at == '-' || *at == '+')) at++;
    p->digits = at;
    at = end - at <= W_DIGITS ? read_short(at, end, p) : read_long(at, end, p);
    if (!at) return 0;
    p->end = at;
    if (at == end) return 1;
    if (*at != 'e' && *at != 'E') return 0;
    at = read_exponent(at + 1, end, &p->written);
    if (at != end) return 0;
    p->exponent += p->written;
    return 1;
}

/* nan, inf, infinity in any case. */
static int special(const char *text, size_t length, double *value)
{
    char word[16];
    const int negative = length > 0 && text[0] == '-';
    const size_t sign = length > 0 && (text[0] == '-' || text[0] == '+');
    length -= sign;
    if (length < 3 || length > 8) return 0;
    for (size_t i = 0; i < length; i++) word[i] = (char)(text[sign + i] | 0x20);
    word[length] = 0;
    if (!strcmp(word, "nan")) return *value = NAN, 1;
    if (strcmp(word, "inf") != 0 && strcmp(word, "infinity") != 0) return 0;
    return *value = negative ? -INFINITY : INFINITY, 1;
}

/* strtod of at most 800 digits: a double that is not exact is told from its neighbours by fewer (768), if a digit that
 * is not 0 stands for all that were cut off. */
#define SLOW_DIGITS 800
static double slow(const parts *p)
{
    char text[SLOW_DIGITS + 32];
    int n = 0, more = 0, seen_point = 0;
    int64_t exponent = p->written;
    for (const char *c = p->digits; c < p->end; c++) {
        if (*c == '.') {
            seen_point = 1;
            continue;
        }
        if (n < SLOW_DIGITS && (n > 0 || *c != '0'))
            text[n++] = *c;
        else if (n > 0)
            more |= *c != '0', exponent++;
        exponent -= seen_point;
    }
    if (more) text[n++] = '1', exponent--;
    text[n++] = 'e';
    exponent = CT_MAX(-(int64_t)EXPONENT_MAX * 4, CT_MIN(exponent, (int64_t)EXPONENT_MAX * 4));
    if (exponent < 0) text[n++] = '-', exponent = -exponent;
    char digit[24];
    int m = 0;
    do digit[m++] = (char)('0' + exponent % 10), exponent /= 10;
    while (exponent > 0);
    while (m > 0) text[n++] = digit[--m];
    text[n] = 0;
    return strtod(text, NULL); /* digits and an exponent: the same in every locale */
}

static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                               1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

int ct__decimal(const char *text, size_t length, double *value)
{
    parts p;
    if (!read_parts(text, text + length, &p)) return special(text, length, value);
    double magnitude;
    if (p.w == 0)
        magnitude = 0;
    else if (!p.cut && p.w <= (uint64_t)1 << 53 && p.exponent >= -22 && p.exponent <= 22)
        magnitude = p.exponent < 0 ? (double)p.w / power[-p.exponent] : (double)p.w * power[p.exponent];
    else
        magnitude = slow(&p);
    *value = p.negative ? -magnitude : magnitude;
    return 1;
}

int ct__decimal_integer(const char *text, size_t length, int64_t *value)
{
    const size_t sign = length > 0 && (text[0] == '-' || text[0] == '+');
    int64_t v = 0;
    if (length == sign) return 0;
    for (size_t i = sign; i < length; i++) {
        if (!is_digit(text[i])) return 0;
        const int digit = text[i] - '0';
        if (__builtin_mul_overflow(v, (int64_t)10, &v) || __builtin_sub_overflow(v, (int64_t)digit, &v)) return 0;
    }
    if (text[0] != '-' && v == INT64_MIN) return 0;
    *value = text[0] == '-' ? v : -v; /* built up negative, which reaches one further */
    return 1;
}

/* All digits, one by one. */
static ct__scaled scale_digits(const parts *p, int digits, int64_t *value)
{
    const char *point = memchr(p->digits, '.', (size_t)(p->end - p->digits));
    const int64_t whole = (point ? point : p->end) - p->digits; /* digits before the point */
    const int64_t keep = whole + p->written + digits;           /* digits of the result, leading zeros too */
    int64_t v = 0, at = 0;                                      /* v is negative: that reaches one further */
    for (const char *c = p->digits; c < p->end; c++) {
        if (*c == '.') continue;
        const int digit = *c - '0';
        if (at == keep && digit >= 5 && __builtin_sub_overflow(v, (int64_t)1, &v)) return CT__SCALED_BEYOND;
        if (at++ >= keep) continue;
        if (__builtin_mul_overflow(v, (int64_t)10, &v) || __builtin_sub_overflow(v, (int64_t)digit, &v))
            return CT__SCALED_BEYOND;
    }
    for (; at < keep && v != 0; at++)
        if (__builtin_mul_overflow(v, (int64_t)10, &v)) return CT__SCALED_BEYOND;
    if (v == INT64_MIN) return CT__SCALED_BEYOND;
    *value = p->negative ? v : -v;
    return CT__SCALED_OK;
}

ct__scaled ct__decimal_scaled(const char *text, size_t length, int digits, int64_t *value)
{
    static const int64_t ten[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};
    parts p;
    double none;
    if (!read_parts(text, text + length, &p))
        return special(text, length, &none) ? CT__SCALED_BEYOND : CT__SCALED_NO_NUMBER;
    const int64_t power10 = p.exponent + digits; /* the result is w 10^power10 */
    int64_t v;
    if (p.cut || power10 < 0 || power10 > 9 || p.w > INT64_MAX ||
        __builtin_mul_overflow((int64_t)p.w, ten[power10], &v))
        return scale_digits(&p, digits, value);
    *value = p.negative ? -v : v;
    return CT__SCALED_OK;
}
