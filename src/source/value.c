/* value.c: values of fields as numbers, as text and as stamps. */
#include "source/decimal.h"

#include <math.h>
#include <stdio.h>

double ct__value_number(const ct__value *value, int *ok)
{
    switch (value->kind) {
    case CT__VALUE_NUMBER: return value->number;
    case CT__VALUE_INTEGER: return (double)value->integer;
    case CT__VALUE_TIME: return (double)value->integer / 1e9;
    case CT__VALUE_MISSING: return NAN;
    case CT__VALUE_TEXT: break;
    }
    *ok = 0;
    return NAN;
}

/* %.15g; whatever the locale writes for the point becomes a point. */
static size_t number_text(double number, char *buf, size_t size)
{
    char text[64];
    const int n = snprintf(text, sizeof text, "%.15g", number == 0 ? 0 : number);
    int used = 0;
    for (int i = 0; i < n; i++) {
        const char c = text[i];
        const int known = (c >= '0' && c <= '9') || c == '-' || c == '+' || (c >= 'a' && c <= 'z');
        if (known)
            text[used++] = c;
        else if (used > 0 && text[used - 1] != '.')
            text[used++] = '.'; /* a point may have two bytes */
    }
    text[used] = 0;
    return (size_t)snprintf(buf, size, "%s", text);
}

static size_t integer_text(int64_t integer, char *buf, size_t size)
{
    return (size_t)snprintf(buf, size, "%lld", (long long)integer);
}

/* A word that is an integer or a number is written as one, so that "7", "07" and "7.0" are the same. */
static size_t word_text(const char *word, size_t length, char *buf, size_t size)
{
    int64_t integer;
    double number;
    if (length > 0 && (word[0] == '-' || word[0] == '+' || word[0] == '.' || (word[0] >= '0' && word[0] <= '9'))) {
        if (ct__decimal_integer(word, length, &integer)) return integer_text(integer, buf, size);
        if (ct__decimal(word, length, &number) && isfinite(number)) return number_text(number, buf, size);
    }
    if (size > 0) {
        const size_t kept = CT_MIN(length, size - 1);
        memcpy(buf, word, kept);
        buf[kept] = 0;
    }
    return length;
}

size_t ct__value_text(const ct__value *value, char *buf, size_t size)
{
    switch (value->kind) {
    case CT__VALUE_NUMBER: return number_text(value->number, buf, size);
    case CT__VALUE_INTEGER: return integer_text(value->integer, buf, size);
    case CT__VALUE_TIME: return number_text((double)value->integer / 1e9, buf, size);
    case CT__VALUE_TEXT: return word_text(value->text, (size_t)value->length, buf, size);
    case CT__VALUE_MISSING: break;
    }
    if (size > 0) buf[0] = 0;
    return 0;
}

/* What unit could it be in? The largest that brings it before 2262, or a smaller one: a clock may count from another
 * moment than 1970. */
static ct_status beyond(const ct__value *value, ct_err *err)
{
    char text[64];
    int ok = 1;
    double found = ct__value_number(value, &ok);
    if (!ok) ct__decimal(value->text, (size_t)value->length, &found);
    const char *unit = fabs(found) > 1e17   ? "\"in ns\""
                       : fabs(found) > 1e14 ? "\"in us\" or \"in ns\""
                                            : "\"in ms\", \"in us\" or \"in ns\"";
    ct__value_text(value, text, sizeof text);
    return ct_fail(err, CT_E_PARSE,
                   "the stamp \"%s\" is more than 292 years, in the unit it is read in; is it %s?", text, unit);
}

/* The whole part is scaled as an integer and only the fraction as a double, so that 10^9 s keep their last digits. */
static ct_status stamp_of_number(const ct__value *value, int digits, ct_ns *stamp, ct_err *err)
{
    const double number = value->number;
    double one = 1;
    for (int i = 0; i < digits; i++) one *= 10;
    const double whole = floor(number);
    if (!(fabs(number) * one < 9.2e18)) return beyond(value, err);
    *stamp = (ct_ns)whole * (ct_ns)one + (ct_ns)llround((number - whole) * one);
    return CT_OK;
}

ct_status ct__stamp_of_seconds(double hi, double lo, ct_ns *stamp, int *found, ct_err *err)
{
    const ct__value value = {.kind = CT__VALUE_NUMBER, .number = hi};
    const double whole = floor(hi);
    *found = !isnan(hi);
    if (!*found) return CT_OK;
    if (!(fabs(hi) < 9.2e9)) return beyond(&value, err);
    *stamp = (ct_ns)whole * 1000000000 + (ct_ns)llround(((hi - whole) + lo) * 1e9);
    return CT_OK;
}

/* "12,5": a number where a comma is the decimal point. */
static int has_decimal_comma(const ct__value *value)
{
    int digits = 0, commas = 0;
    for (int64_t i = 0; i < (int64_t)value->length; i++) {
        const char c = value->text[i];
        commas += c == ',';
        digits += c >= '0' && c <= '9';
        if (c != ',' && c != '-' && c != '+' && !(c >= '0' && c <= '9')) return 0;
    }
    return commas == 1 && digits > 1;
}

ct_status ct__stamp_of(const ct__value *value, int digits, ct_ns *stamp, int *found, ct_err *err)
{
    char show[CT__SHOW_MAX];
    *found = value->kind != CT__VALUE_MISSING && !(value->kind == CT__VALUE_NUMBER && isnan(value->number));
    if (!*found) return CT_OK;
    switch (value->kind) {
    case CT__VALUE_NUMBER: return stamp_of_number(value, digits, stamp, err);
    case CT__VALUE_INTEGER: {
        ct_ns one = 1;
        for (int i = 0; i < digits; i++) one *= 10;
        return __builtin_mul_overflow(value->integer, one, stamp) ? beyond(value, err) : CT_OK;
    }
    case CT__VALUE_TIME: *stamp = value->integer; return CT_OK;
    default: break;
    }
    switch (ct__decimal_scaled(value->text, (size_t)value->length, digits, stamp)) {
    case CT__SCALED_OK: return CT_OK;
    case CT__SCALED_BEYOND: return beyond(value, err);
    default: break;
    }
    if (ct__calendar(value->text, (size_t)value->length, stamp)) return CT_OK;
    ct__show(value->text, (size_t)value->length, show);
    if (has_decimal_comma(value))
        return ct_fail(err, CT_E_PARSE,
                       "expected a number for the stamp, found %s with a decimal comma; write decimal points, as "
                       "sed 's/,/./g' does where columns are separated otherwise",
                       show);
    return ct_fail(err, CT_E_PARSE, "expected a number for the stamp, or a date with a time, found %s", show);
}

/* Bytes of the UTF-8 sequence at text, at most `left`; 0: none begins there. Two to four bytes. */
static size_t sequence(const char *text, size_t left)
{
    const unsigned char c = (unsigned char)text[0];
    const size_t n = c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xf0 && c < 0xf5 ? 4 : 0;
    if (n > left) return 0;
    for (size_t i = 1; i < n; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80) return 0;
    return n;
}

int ct__is_utf8(const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        const size_t more = (unsigned char)text[i] >= 128 ? sequence(text + i, length - i) : 1;
        if (more == 0) return 0;
        i += more;
    }
    return 1;
}

const char *ct__show(const char *text, size_t length, char buf[CT__SHOW_MAX])
{
    size_t n = 0, i = 0;
    buf[n++] = '"';
    while (i < length) {
        const unsigned char c = (unsigned char)text[i];
        const size_t more = c >= 128 ? sequence(text + i, length - i) : 0, bytes = more ? more : 1;
        if (n + bytes > CT__SHOW_MAX - 5) break;
        if (more) memcpy(buf + n, text + i, more);
        else buf[n] = c >= ' ' && c < 127 ? (char)c : '?';
        n += bytes;
        i += bytes;
    }
    strcpy(buf + n, i < length ? "...\"" : "\"");
    return buf;
}
