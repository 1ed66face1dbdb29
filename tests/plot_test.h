/* plot_test.h: pictures read as a person reads them: two ticks and what stands beside them give the scale, and paths
 * are measured against it. */
#ifndef PLOT_TEST_H
#define PLOT_TEST_H

#include "page_test.h"
#include "page/plot.h"

#define MOST 60000

typedef struct {
    int    count;
    double x[MOST], y[MOST];
    char   verb[MOST]; /* M, L, z, h */
} path;

static path drawn; /* as large as it is */

/* Coordinates of a path's d, absolute; h0 repeats the point. */
static inline void read_path(const char *d)
{
    double x = 0, y = 0;
    char   verb = 'M', *end;
    for (drawn.count = 0; *d && *d != '"' && drawn.count < MOST;) {
        if (strchr("MLVHhz", *d)) {
            verb = *d++;
            if (verb != 'z') continue;
        }
        if (verb == 'M' || verb == 'L') {
            x = strtod(d, &end);
            y = strtod(end, &end);
        } else if (verb == 'V') y = strtod(d, &end);
        else if (verb == 'H') x = strtod(d, &end);
        else if (verb == 'h') x += strtod(d, &end);
        drawn.x[drawn.count] = x;
        drawn.y[drawn.count] = y;
        drawn.verb[drawn.count++] = verb;
        if (verb == 'M') verb = 'L';
        if (verb != 'z') d = end;
        d += *d == ' ';
    }
}

/* The path of a class in series s; whether it is there. */
static inline int find_path(const char *svg, int s, const char *class)
{
    char part[64];
    snprintf(part, sizeof part, "data-s=\"%d\"", s);
    const char *p = strstr(svg, part);
    snprintf(part, sizeof part, "<path class=\"%s\"", class);
    p = p ? strstr(p, part) : NULL;
    p = p ? strstr(p, " d=\"") : NULL;
    if (p) read_path(p + 4);
    return p != NULL;
}

/* What is beside a tick, as a number. */
static inline double label_value(const char *label)
{
    char plain[64];
    int  n = 0;
    for (; *label && *label != '<' && n < 60; label++) {
        if (!strncmp(label, "\342\210\222", 3)) plain[n++] = '-', label += 2;
        else plain[n++] = *label;
    }
    plain[n] = 0;
    const char *power = *label == '<' ? strstr(label, "75%\">") : NULL;
    if (power && !strcmp(plain, "10") && power - label < 40) return pow(10, label_value(power + 5));
    return strtod(plain, NULL);
}

typedef struct {
    int    count;
    double value[96], at[96];
} scale;

/* Ticks of an axis ("xt", "yt"), in the order of the file. */
static inline scale read_scale(const char *svg, const char *axis)
{
    scale       s = {0};
    char        part[64];
    const char *p, *end;
    snprintf(part, sizeof part, "<g class=\"%s\"", axis);
    p = strstr(svg, part);
    if (!p) return s;
    end = strstr(p, "</g>");
    while ((p = strstr(p, "<text x=\"")) && p < end && s.count < 96) {
        char        *after;
        const double x = strtod(p + 9, &after), y = strtod(after + 5, &after);
        s.at[s.count] = axis[0] == 'x' ? x : y - 4.5; /* letters are as high above their line */
        p = strchr(after, '>') + 1;
        s.value[s.count++] = label_value(p);
    }
    return s;
}

/* Where a value lies by the first and the last tick. */
static inline double by_scale(const scale *s, int log, double value)
{
    const double a = s->value[0], b = s->value[s->count - 1],
                 f = log ? log10(value / a) / log10(b / a) : (value - a) / (b - a);
    return s->at[0] + f * (s->at[s->count - 1] - s->at[0]);
}

/* units: ticks and points are rounded to a hundredth, and a scale is read off ticks that may be near each other */
#define PLACE 0.06

#endif
