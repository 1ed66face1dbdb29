/* number.c: numbers as configuration files have them. */
#include "config/config.h"

#include "base/file.h"
#include "source/decimal.h"

#include <math.h>

#define DIGITS_MAX 400 /* a double has at most 309 before its point and 17 that count */

static int is_digit(char c) { return c >= '0' && c <= '9'; }

/* Digits, sign, point and exponent; an underscore between digits is left out where the format has it. */
static int copy_digits(ct_config_format format, const char *text, size_t length, char out[DIGITS_MAX], size_t *used)
{
    const int underscores = format == CT_CONFIG_YAML || format == CT_CONFIG_TOML;
    *used = 0;
    for (size_t i = 0; i < length; i++) {
        if (underscores && text[i] == '_' && i && i + 1 < length && is_digit(text[i - 1]) && is_digit(text[i + 1]))
            continue;
        if (!is_digit(text[i]) && !(text[i] && strchr("+-.eE", text[i]))) return 0;
        out[(*used)++] = text[i];
    }
    return 1;
}

int ct__config_is_number(ct_config_format format, const char *text, size_t length, double *value)
{
    char digits[DIGITS_MAX];
    size_t n;
    if (!length || length > DIGITS_MAX || !copy_digits(format, text, length, digits, &n)) return 0;
    if (!ct__decimal(digits, n, value) || !isfinite(*value)) return 0;
    /* 010 is 8 for readers of YAML 1.1 and 10 for those of YAML 1.2 */
    const size_t sign = digits[0] == '+' || digits[0] == '-';
    const int octal = n > sign + 1 && digits[sign] == '0' && is_digit(digits[sign + 1]) && !memchr(digits, '.', n) &&
                      !memchr(digits, 'e', n) && !memchr(digits, 'E', n);
    return format != CT_CONFIG_YAML || !octal;
}

/* Readers differ: to PyYAML "1e-05" is a text, to ROS 2 "3" is an integer that a parameter of type double refuses, in
 * TOML and JSON digits must follow the point. */
const char *ct__config_format_number(double value, char buf[40])
{
    char digits[32];
    ct__format_double(value, digits);
    const size_t mantissa = strcspn(digits, "e");
    const int point = memchr(digits, '.', mantissa) != NULL;
    memcpy(buf, digits, mantissa);
    memcpy(buf + mantissa, ".0", 2);
    memcpy(buf + mantissa + (point ? 0 : 2), digits + mantissa, strlen(digits + mantissa) + 1);
    return buf;
}
