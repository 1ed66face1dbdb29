/* finding_text.c: the sentence of a finding, from the template of its code. Findings become text here and nowhere
 * else. */
#include <covtune/finding.h>

#include "base/base.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define NAMED 12  /* subjects that a sentence names; of more their number is given */
#define PLAIN 1e6 /* numbers from 1 up to here are written without exponent       */

typedef struct {
    char  *buf;
    size_t size;
    int    length; /* without limit */
} writer;

static void put(writer *w, const char *fmt, ...) CT_PRINTF(2, 3);
static void put(writer *w, const char *fmt, ...)
{
    const size_t used = (size_t)w->length < w->size ? (size_t)w->length : w->size;
    va_list      args;
    va_start(args, fmt);
    w->length += vsnprintf(w->size ? w->buf + used : NULL, w->size - used, fmt, args);
    va_end(args);
}

/* Names of the subjects of a sign; 0: of all. */
static void put_subjects(writer *w, const ct_finding *f, int sign)
{
    int32_t n = 0;
    for (int32_t i = 0; i < f->subjects; i++) {
        if (sign && f->subject[i].sign != sign) continue;
        if (n < NAMED) put(w, "%s%s", n ? ", " : "", f->subject[i].name);
        n++;
    }
    if (n > NAMED) put(w, " and %d more", n - NAMED);
    if (!n) put(w, "none");
}

/* The number that a place of the template names: "NAME" or "NAME:FORMAT". */
static void put_number(writer *w, const ct_finding *f, const char *place, size_t length)
{
    const ct_finding_info *info = ct_finding_get_info(f->code);
    const char            *colon = memchr(place, ':', length);
    const size_t           name = colon ? (size_t)(colon - place) : length;
    char                   format[16] = "%.6g", number[400];
    if (colon) snprintf(format, sizeof format, "%%%.*s", (int)(length - name - 1), colon + 1);
    for (int i = 0; info->value[i]; i++) {
        if (strlen(info->value[i]) != name || memcmp(place, info->value[i], name)) continue;
        snprintf(number, sizeof number, format, f->value[i]);
        if (strchr(number, 'e') && fabs(f->value[i]) >= 1 && fabs(f->value[i]) < PLAIN) /* 180 %, not 1.8e+02 % */
            snprintf(number, sizeof number, "%.0f", f->value[i]);
        put(w, "%s", number);
    }
}

/* The number that a place "NAME" or "NAME:FORMAT" stands for; 0 if it is none. */
static double number_at(const ct_finding *f, const char *place, size_t length)
{
    const ct_finding_info *info = ct_finding_get_info(f->code);
    const size_t           name = CT_MIN(strcspn(place, ":}"), length);
    for (int i = 0; info->value[i]; i++)
        if (strlen(info->value[i]) == name && !strncmp(info->value[i], place, name)) return f->value[i];
    return 0;
}

/* The length of " ({NAME} ...)" at the beginning of the text if that number is unknown, else 0. */
static size_t unknown_remark(const ct_finding *f, const char *text)
{
    if (strncmp(text, " ({", 3) || !isnan(number_at(f, text + 3, strcspn(text + 3, "}")))) return 0;
    const size_t end = strcspn(text, ")");
    return text[end] ? end + 1 : 0;
}

int ct_finding_text(const ct_finding *finding, char *buf, size_t size)
{
    const ct_finding_info *info = ct_finding_get_info(finding->code);
    writer                 w = {buf, size, 0};
    if (size) buf[0] = 0;
    for (const char *at = info ? info->text : "?"; *at;) {
        const char *bracket = strstr(at, " ({");
        size_t      plain = strcspn(at, "{");
        if (bracket == at) {
            const size_t skipped = unknown_remark(finding, at);
            at += skipped;
            if (skipped) continue;
        } else if (bracket && bracket < at + plain) plain = (size_t)(bracket - at);
        put(&w, "%.*s", (int)plain, at);
        at += plain;
        if (!*at) break;
        if (*at == ' ') continue;
        const size_t length = strcspn(++at, "}");
        const int    sign = *at == '+' ? 1 : *at == '-' ? -1 : 0;
        if (!strncmp(at + (sign != 0), "subjects", 8)) put_subjects(&w, finding, sign);
        else put_number(&w, finding, at, length);
        at += length + 1;
    }
    return w.length;
}
