/* claims.c: a claim about every row of a table, checked row by row. */
#include "studies/reproduce/reproduce.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

claim claim_new(void) { return (claim){.most = -INFINITY}; }

void claim_row(claim *t, double value, double limit, const char *fmt, ...)
{
    char    text[160];
    va_list args;
    if (isnan(value)) return;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    t->rows++;
    if (value > t->most) memcpy(t->worst, text, sizeof text), t->most = value;
    if (value <= limit) return;
    const size_t used = strlen(t->bad);
    snprintf(t->bad + used, sizeof t->bad - used, "%s%s", t->misses++ ? "; " : "", text);
}

void claim_state(const claim *t, document *b, const char *what)
{
    char where[1600];
    if (!t->rows) return;
    if (t->misses) snprintf(where, sizeof where, "not in %d of %d: %s", t->misses, t->rows, t->bad);
    else snprintf(where, sizeof where, "%d of %d; nearest to the limit: %s", t->rows, t->rows, t->worst);
    document_state(b, !t->misses, where, "%s", what);
}
