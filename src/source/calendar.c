/* calendar.c: dates with times, ISO 8601: "2009-07-22T14:31:12.841Z". */
#include "source/decimal.h"

/* Reads `count` digits at *at: their value, or -1. */
static int64_t digits(const char **at, const char *end, int count)
{
    int64_t value = 0;
    for (int i = 0; i < count; i++, ++*at) {
        if (*at >= end || **at < '0' || **at > '9') return -1;
        value = value * 10 + (**at - '0');
    }
    return value;
}

/* Steps over one of the characters; 0: there is none. */
static int accept(const char **at, const char *end, const char *characters)
{
    if (*at >= end || !**at || !strchr(characters, **at)) return 0;
    ++*at;
    return 1;
}

/* Days from 1970-01-01 in the Gregorian calendar; years begin in March, so that a leap day is the last of its year. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
    const int64_t y = month <= 2 ? year - 1 : year, m = (month + 9) % 12;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

static int days_in_month(int64_t year, int64_t month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const int leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (leap && month == 2);
}

/* The fraction of a second in ns, rounded to the nearest. */
static int64_t fraction(const char **at, const char *end)
{
    int64_t ns = 0, one = 100000000;
    if (*at >= end || **at < '0' || **at > '9') return -1;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
        ns += one > 0 ? one * (**at - '0') : one == 0 && **at >= '5';
        one = one > 1 ? one / 10 : one - 1; /* 1, 0, -1, ...: digits beyond ns */
    }
    return ns;
}

/* "Z", "+02:00", "+0200", "+02" or nothing: minutes east of Greenwich. -1e6: none of them. */
static int64_t zone(const char **at, const char *end)
{
    if (*at == end || accept(at, end, "Zz")) return 0;
    const int sign = **at == '-' ? -1 : 1;
    if (!accept(at, end, "+-")) return -1000000;
    const int64_t hours = digits(at, end, 2);
    accept(at, end, ":");
    const int64_t minutes = *at == end ? 0 : digits(at, end, 2);
    return hours < 0 || minutes < 0 ? -1000000 : sign * (60 * hours + minutes);
}

int ct__calendar(const char *text, size_t length, int64_t *ns)
{
    const char *at = text, *const end = text + length;
    int64_t part = 0;
    if (length < 16) return 0;
    const int64_t year = digits(&at, end, 4);
    if (year < 1678 || year > 2261 || !accept(&at, end, "-/")) return 0; /* what 64 bits of ns hold */
    const int64_t month = digits(&at, end, 2);
    if (month < 1 || month > 12 || !accept(&at, end, "-/")) return 0;
    const int64_t day = digits(&at, end, 2);
    if (day < 1 || day > days_in_month(year, month) || !accept(&at, end, "Tt_ \t,;|")) return 0;
    while (accept(&at, end, " \t")) continue; /* between two columns */
    const int64_t hour = digits(&at, end, 2);
    if (hour < 0 || hour > 23 || !accept(&at, end, ":")) return 0;
    const int64_t minute = digits(&at, end, 2);
    if (minute < 0 || minute > 59) return 0;
    const int64_t second = accept(&at, end, ":") ? digits(&at, end, 2) : 0;
    if (second < 0 || second > 60) return 0;
    if (accept(&at, end, ".,")) part = fraction(&at, end);
    accept(&at, end, " ");
    const int64_t east = zone(&at, end);
    if (part < 0 || east == -1000000 || at != end) return 0;
    const int64_t seconds = 86400 * days_of(year, month, day) + 3600 * hour + 60 * (minute - east) + second;
    *ns = seconds * 1000000000 + part;
    return 1;
}
