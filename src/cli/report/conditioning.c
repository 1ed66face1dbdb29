/* conditioning.c: condition numbers of the linear systems of the estimates, before and after learning, and the
 * measurements that cause them. */
#include "cli/report/report.h"

#include <math.h>
#include <stdlib.h>

static const ct_condition *condition_of(const report_track *t, int side, int scaled)
{
    return scaled ? &t->condition[side].scaled : &t->condition[side].plain;
}

typedef struct {
    double  value;
    int32_t sequence;
} ranked;

static int by_value(const void *a, const void *b)
{
    const double d = ((const ranked *)a)->value - ((const ranked *)b)->value;
    return d > 0 ? 1 : d < 0 ? -1 : ((const ranked *)a)->sequence - ((const ranked *)b)->sequence;
}

/* Sequences by their condition number, ascending; returns how many have one. */
static int32_t rank(const report_job *job, int side, int scaled, ranked *list)
{
    int32_t n = 0;
    for (int32_t i = 0; i < job->count; i++)
        if (job->use[i] && job->track[i].conditioned[side])
            list[n++] = (ranked){condition_of(&job->track[i], side, scaled)->condition, i};
    qsort(list, (size_t)n, sizeof *list, by_value);
    return n;
}

/* Of n in ascending order. */
static double median(const ranked *list, int32_t n) { return 0.5 * (list[(n - 1) / 2].value + list[n / 2].value); }

static void put_number(ct_table *t, double value)
{
    if (isinf(value)) ct_table_text(t, "singular");
    else ct_table_number(t, value);
}

static void put_table(report_job *job, ranked *list)
{
    static const char *const NAME[] = {"as it is", "columns scaled"};
    ct_table                *t = report_table("Condition numbers");
    ct_table_column(t, "system", "system", NULL, 0);
    ct_table_column(t, "noise", "noise models", NULL, 0);
    ct_table_column(t, "median", "median", NULL, 3);
    ct_table_column(t, "worst", "worst", NULL, 3);
    ct_table_column(t, "sequence", "in sequence", NULL, 0);
    ct_table_column(t, "digits", "digits lost", NULL, 2);
    for (int scaled = 0; scaled < 2; scaled++)
        for (int side = BEFORE; side <= AFTER; side++) {
            const int32_t n = rank(job, side, scaled, list);
            if (!n) continue;
            ct_table_row(t, scaled && side == BEFORE);
            ct_table_text(t, "%s", NAME[scaled]);
            ct_table_text(t, "%s", side == BEFORE ? "before" : "after");
            put_number(t, median(list, n));
            put_number(t, list[n - 1].value);
            ct_table_text(t, "%s", ct_sequence_label(job->track[list[n - 1].sequence].seq));
            put_number(t, 2 * log10(median(list, n)));
        }
    ct_table_note(t, "Of the whitened system at the estimate. Digits lost are those of the median sequence, of 16, in "
                     "a Cholesky factorisation. Column scaling removes the choice of units.");
    report_put_table(job, t);
}

/* "odom@1.x 83 %, gps@0.y 12 %". Returns buf. */
static const char *name_contributions(const report_job *job, const ct_contribution cause[CT_CONTRIBUTIONS], char *buf,
                                      size_t size)
{
    size_t used = 0;
    buf[0] = 0;
    for (int i = 0; i < CT_CONTRIBUTIONS && cause[i].model >= 0 && used < size; i++) {
        const ct_noise_model *m = ct_noise_get(job->table[AFTER], cause[i].model);
        if (i && cause[i].share < 0.005) break;
        if (m->row && m->row[cause[i].row].name[0])
            used += (size_t)snprintf(buf + used, size - used, "%s%s.%s\u00a0%.0f\u00a0%%", i ? ", " : "", m->name,
                                     m->row[cause[i].row].name, 100 * cause[i].share);
        else
            used += (size_t)snprintf(buf + used, size - used, "%s%s.%d\u00a0%.0f\u00a0%%", i ? ", " : "", m->name,
                                     cause[i].row, 100 * cause[i].share);
    }
    return buf;
}

static void put_causes(report_job *job, ranked *list)
{
    ct_table *t = report_table("Which measurements cause the largest and smallest eigenvalues");
    ct_table_column(t, "system", "system", NULL, 0);
    ct_table_column(t, "noise", "noise models", NULL, 0);
    ct_table_column(t, "end", "end", NULL, 0);
    ct_table_column(t, "rows", "measurements, share", NULL, 0);
    ct_table_column(t, "variable", "mostly at", NULL, 0);
    for (int scaled = 0; scaled < 2; scaled++)
        for (int side = BEFORE; side <= AFTER; side++) {
            const int32_t n = rank(job, side, scaled, list);
            if (!n) continue;
            const report_track *track = &job->track[list[n / 2].sequence];
            const ct_condition *c = condition_of(track, side, scaled);
            for (int weak = 0; weak < 2; weak++) {
                const int32_t end = weak ? c->weak : c->stiff;
                char          causes[512], name[64];
                ct_table_row(t, !weak && (scaled || side == AFTER));
                ct_table_text(t, "%s", weak ? "" : scaled ? "columns scaled" : "as it is");
                ct_table_text(t, "%s", weak ? "" : side == BEFORE ? "before" : "after");
                ct_table_text(t, "%s", weak ? "weak" : "stiff");
                ct_table_text(t, "%s", name_contributions(job, weak ? c->weakest : c->stiffest, causes, sizeof causes));
                ct_table_text(t, "%s", end < 0 ? "" : ct_graph_name(track->seq->graph, end, name, sizeof name));
            }
        }
    ct_table_note(t,
                  "Of the median sequence. Stiff is the direction that measurements determine best, weak the one that "
                  "they determine least. The condition number is the ratio of the two.");
    report_put_table(job, t);
}

void report_condition(report_job *job)
{
    ranked       *list = cli_alloc(job->count, sizeof *list);
    const int32_t n = rank(job, AFTER, 0, list);
    ct_page_section(job->page, "conditioning", "Conditioning");
    if (!n)
        ct_page_text(job->page, "No sequence has an estimate both before and after.");
    else {
        const double  after = median(list, n);
        const int32_t others = rank(job, BEFORE, 0, list);
        const double  before = others ? median(list, others) : NAN;
        char          a[32], b[32];
        ct_page_text(job->page,
                     "A large spread of noise models makes linear systems ill-conditioned. The median condition number "
                     "of the sequences is %s after learning and was %s before.",
                     report_number(after, a), report_number(before, b));
        put_table(job, list);
        put_causes(job, list);
    }
    free(list);
}
