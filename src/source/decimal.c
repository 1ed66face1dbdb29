/* decimal.c: decimal text to the nearest double, and to exact integers.
 *
 * A number is w 10^e with w of at most 19 digits. If w < 2^53 and |e| <= 22, both w and 10^|e| are doubles, and one
 * multiplication or division rounds once (Clinger, How to read floating point numbers accurately, 1990). This holds for
 * most numbers of logs. Others are rounded by 128 bits of w 10^e, unless these lie too near to the middle between two
 * doubles; the rest goes to strtod as digits and an exponent, which no locale reads differently. */
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

/* The first 64 bits of 10^-60 ... 10^60, cut off: 10^k is p 2^b with top[k + 60] <= p < top[k + 60] + 1 and
 * b = floor(k log2(10)) - 63. Exact from 10^0 to 10^27. */
#define TOP_MAX 60
static const uint64_t top[] = {
    0xcdb02555653131b6, 0x808e17555f3ebf11, 0xa0b19d2ab70e6ed6, 0xc8de047564d20a8b, 0xfb158592be068d2e,
    0x9ced737bb6c4183d, 0xc428d05aa4751e4c, 0xf53304714d9265df, 0x993fe2c6d07b7fab, 0xbf8fdb78849a5f96,
    0xef73d256a5c0f77c, 0x95a8637627989aad, 0xbb127c53b17ec159, 0xe9d71b689dde71af, 0x9226712162ab070d,
    0xb6b00d69bb55c8d1, 0xe45c10c42a2b3b05, 0x8eb98a7a9a5b04e3, 0xb267ed1940f1c61c, 0xdf01e85f912e37a3,
    0x8b61313bbabce2c6, 0xae397d8aa96c1b77, 0xd9c7dced53c72255, 0x881cea14545c7575, 0xaa242499697392d2,
    0xd4ad2dbfc3d07787, 0x84ec3c97da624ab4, 0xa6274bbdd0fadd61, 0xcfb11ead453994ba, 0x81ceb32c4b43fcf4,
    0xa2425ff75e14fc31, 0xcad2f7f5359a3b3e, 0xfd87b5f28300ca0d, 0x9e74d1b791e07e48, 0xc612062576589dda,
    0xf79687aed3eec551, 0x9abe14cd44753b52, 0xc16d9a0095928a27, 0xf1c90080baf72cb1, 0x971da05074da7bee,
    0xbce5086492111aea, 0xec1e4a7db69561a5, 0x9392ee8e921d5d07, 0xb877aa3236a4b449, 0xe69594bec44de15b,
    0x901d7cf73ab0acd9, 0xb424dc35095cd80f, 0xe12e13424bb40e13, 0x8cbccc096f5088cb, 0xafebff0bcb24aafe,
    0xdbe6fecebdedd5be, 0x89705f4136b4a597, 0xabcc77118461cefc, 0xd6bf94d5e57a42bc, 0x8637bd05af6c69b5,
    0xa7c5ac471b478423, 0xd1b71758e219652b, 0x83126e978d4fdf3b, 0xa3d70a3d70a3d70a, 0xcccccccccccccccc,
    0x8000000000000000, 0xa000000000000000, 0xc800000000000000, 0xfa00000000000000, 0x9c40000000000000,
    0xc350000000000000, 0xf424000000000000, 0x9896800000000000, 0xbebc200000000000, 0xee6b280000000000,
    0x9502f90000000000, 0xba43b74000000000, 0xe8d4a51000000000, 0x9184e72a00000000, 0xb5e620f480000000,
    0xe35fa931a0000000, 0x8e1bc9bf04000000, 0xb1a2bc2ec5000000, 0xde0b6b3a76400000, 0x8ac7230489e80000,
    0xad78ebc5ac620000, 0xd8d726b7177a8000, 0x878678326eac9000, 0xa968163f0a57b400, 0xd3c21bcecceda100,
    0x84595161401484a0, 0xa56fa5b99019a5c8, 0xcecb8f27f4200f3a, 0x813f3978f8940984, 0xa18f07d736b90be5,
    0xc9f2c9cd04674ede, 0xfc6f7c4045812296, 0x9dc5ada82b70b59d, 0xc5371912364ce305, 0xf684df56c3e01bc6,
    0x9a130b963a6c115c, 0xc097ce7bc90715b3, 0xf0bdc21abb48db20, 0x96769950b50d88f4, 0xbc143fa4e250eb31,
    0xeb194f8e1ae525fd, 0x92efd1b8d0cf37be, 0xb7abc627050305ad, 0xe596b7b0c643c719, 0x8f7e32ce7bea5c6f,
    0xb35dbf821ae4f38b, 0xe0352f62a19e306e, 0x8c213d9da502de45, 0xaf298d050e4395d6, 0xdaf3f04651d47b4c,
    0x88d8762bf324cd0f, 0xab0e93b6efee0053, 0xd5d238a4abe98068, 0x85a36366eb71f041, 0xa70c3c40a64e6c51,
    0xd0cf4b50cfe20765, 0x82818f1281ed449f, 0xa321f2d7226895c7, 0xcbea6f8ceb02bb39, 0xfee50b7025c36a08,
    0x9f4f2726179a2245,
};

__extension__ typedef unsigned __int128 uint128;

/* w 10^exponent where 64 bits decide how it is rounded: 1 and *value; 0 near the middle between two doubles. w > 0.
 * In units of the last of the first 64 bits of the product W P, where W is w moved to the left by s bits, the error is
 * below 2 from what was cut off of P and of the product, and 2^s more if digits of w were cut off. */
static int round_product(const parts *p, double *value)
{
    const int s = __builtin_clzll(p->w);
    const uint64_t high = (uint64_t)((uint128)(p->w << s) * top[p->exponent + TOP_MAX] >> 64);
    const int extra = high >> 63 ? 11 : 10; /* bits beyond 53 */
    const uint64_t rest = high & (((uint64_t)1 << extra) - 1), half = (uint64_t)1 << (extra - 1);
    const uint64_t error = 2 + (p->cut ? (uint64_t)1 << s : 0);
    if (rest <= half && rest + error >= half) return 0;
    const double mantissa = (double)((high >> extra) + (rest > half));
    const int binary = (int)(217706 * p->exponent >> 16) - 63 + 64 - s + extra;
    const uint64_t bits = (uint64_t)(binary + 1023) << 52; /* 2^binary */
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    *value = mantissa * scale;
    return 1;
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
    else if (p.exponent < -TOP_MAX || p.exponent > TOP_MAX || !round_product(&p, &magnitude)) magnitude = slow(&p);
    *value = p.negative ? -magnitude : magnitude;
    return 1;
}

/* Eight digits, the first in the lowest byte: pairs, then fours, then all of them. */
static inline uint64_t eight_digits(uint64_t v)
{
    v = (v * 10 + (v >> 8)) & 0x00ff00ff00ff00ffU;
    v = (v * 100 + (v >> 16)) & 0x0000ffff0000ffffU;
    return (v * 10000 + (v >> 32)) & 0xffffffffU;
}

#define BYTES(c) (0x0101010101010101U * (c))

/* "12.345678": up to 7 digits, a point, and 1 to 8 digits, which are read at once: they move to the high end of 8
 * bytes, with zeros below. 0: the text is something else. */
static inline int read_fixed(const char *text, size_t length, double *magnitude)
{
    static const uint64_t ten[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    uint64_t whole = 0, v;
    size_t n = 0;
    for (; n < length && n < 7 && is_digit(text[n]); n++) whole = whole * 10 + (uint64_t)(text[n] - '0');
    const size_t decimals = length - n - 1;
    if (n == length || text[n] != '.' || decimals - 1 > 7) return 0; /* 0 decimals: a large number */
    memcpy(&v, text + n + 1, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    v = __builtin_bswap64(v);
#endif
    v = (v ^ BYTES('0')) << 8 * (8 - decimals);
    if (((v + BYTES(6)) | v) & BYTES(0xf0U)) return 0; /* not digits alone */
    *magnitude = (double)(whole * ten[decimals] + eight_digits(v)) / power[decimals];
    return 1;
}

int ct__decimal_padded(const char *text, size_t length, double *value)
{
    const size_t sign = length > 0 && (text[0] == '-' || text[0] == '+');
    double magnitude;
    if (!read_fixed(text + sign, length - sign, &magnitude))
        return ct__decimal(text, length, value);
    *value = text[0] == '-' ? -magnitude : magnitude;
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
