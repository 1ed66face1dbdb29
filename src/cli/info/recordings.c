/* recordings.c: recordings and the truth's own sigma, as covtune info shows them. */
#include "cli/info/info.h"

#include <stdlib.h>
#include <string.h>

#define NAMES_SHOWN 8

typedef struct {
    char    name[64];
    int32_t sequences;
} recording;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const recording *)a)->name, ((const recording *)b)->name);
}

/* The recordings of a list by name; the caller frees *out. */
static int32_t list_recordings(ct_sequence *const list[], int32_t count, recording **out)
{
    recording *r = *out = cli_alloc(count, sizeof *r);
    int32_t    n = 0;
    for (int32_t i = 0; i < count; i++) {
        ct_sequence_recording(list[i], r[i].name, sizeof r[i].name);
        r[i].sequences = 1;
    }
    if (count) qsort(r, (size_t)count, sizeof *r, by_name);
    for (int32_t i = 0; i < count; i++) {
        /* one without a name is a recording of its own */
        if (n && r[i].name[0] && !strcmp(r[n - 1].name, r[i].name)) r[n - 1].sequences++;
        else r[n++] = r[i];
    }
    return n;
}

void info_print_recordings(const char *label, const char *part, ct_sequence *const list[], int32_t count)
{
    recording    *r;
    const int32_t n = list_recordings(list, count, &r);
    char          text[NAMES_SHOWN * 96 + 64];
    int           at = snprintf(text, sizeof text, "%s: %d, of %d sequence%s:", part, n, count, CLI_S(count));
    for (int32_t i = 0; i < n && i < NAMES_SHOWN; i++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s %s (%d)", i ? "," : "", r[i].name, r[i].sequences);
    if (n > NAMES_SHOWN) snprintf(text + at, sizeof text - (size_t)at, " and %d more", n - NAMES_SHOWN);
    if (n < count) cli_row(label, "%s", text);
    free(r);
}

json_t *info_recordings_json(ct_sequence *const list[], int32_t count)
{
    json_t       *o = cli_object();
    recording    *r;
    const int32_t n = list_recordings(list, count, &r);
    for (int32_t i = 0; i < n; i++) cli_put(o, r[i].name, cli_integer(r[i].sequences));
    free(r);
    return o;
}

void info_add_sigma(info_sigma *sigma, const ct_sequence *seq)
{
    for (int k = 0; k < 2; k++) {
        const double s = seq->truth_sigma[k];
        if (!sigma->sequences || s < sigma->least[k]) sigma->least[k] = s;
        if (!sigma->sequences || s > sigma->most[k]) sigma->most[k] = s;
    }
    sigma->sequences++;
}

const char *info_sigma_text(const info_sigma *sigma, char *buf, size_t size)
{
    static const char *const UNIT[2] = {"m", "rad"};
    int                      at = 0;
    if (size) buf[0] = 0;
    for (int k = 0; k < 2; k++) {
        if (sigma->most[k] == 0 || at >= (int)size) continue;
        at += snprintf(buf + at, size - (size_t)at, at ? ", " : "");
        if (sigma->least[k] != sigma->most[k])
            at += snprintf(buf + at, size - (size_t)at, "%.4g to ", sigma->least[k]);
        at += snprintf(buf + at, size - (size_t)at, "%.4g %s", sigma->most[k], UNIT[k]);
    }
    return buf;
}
