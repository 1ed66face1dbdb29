/* accuracy.c: errors of position and rotation against the truth, before and after learning: means over sequences, and
 * sequence by sequence. */
#include "cli/report/report.h"

#include <math.h>
#include <stdlib.h>

#define ROWS_MAX 200    /* sequences in the table */
#define SAME     0.0005 /* relative: values that differ by less have the same digits */

static void put_inference(report_job *job)
{
    const ct_inference *how = &job->inference;
    const char *of = how->start == CT_START_INITIAL ? "the values in the " : how->start == CT_START_TRUTH ? "the " : "";
    const char *entry = how->replay.entry == CT_ENTRY_PREVIOUS ? "the previous pose"
                        : how->replay.entry == CT_ENTRY_MOTION ? "the previous pose moved by the measured motion"
                                                               : NULL;
    char start[128];
    snprintf(start, sizeof start, "%s%s", of, ct_start_name(how->start));
    if (!how->incremental)
        ct_page_text(job->page,
                     "Each of the %d %s sequences is estimated twice, in batch, from %s: with the start noise models "
                     "(before) and with the learned ones (after).",
                     job->count, report_part(job), start);
    else
        ct_page_text(job->page,
                     "Each of the %d %s sequences is estimated twice, incrementally (isam2): with the start noise "
                     "models (before) and with the learned ones (after). A new pose starts from %s.",
                     job->count, report_part(job), entry ? entry : start);
}

/* ---- means ---- */

static void put_mean(ct_table *t, int rule, const char *body, const char *what, const char *unit, double before,
                     double after)
{
    if (isnan(before) && isnan(after)) return;
    ct_table_row(t, rule);
    ct_table_text(t, "%s%s%s", body, *body ? ": " : "", what);
    ct_table_text(t, "%s", unit);
    ct_table_number(t, before);
    ct_table_number(t, after);
    ct_table_mark(t, after < (1 - SAME) * before);
    ct_table_number(t, after / before);
}

static void put_means_of(report_job *job, ct_table *t, const char *body)
{
    const ct_accuracy before = report_mean_of(job, BEFORE, body), after = report_mean_of(job, AFTER, body);
    const double      k = job->unit.per_m;
    char              name[64];
    report_body(job, body, name);
    if (!body && job->bodies > 1) snprintf(name, sizeof name, "all poses");
    put_mean(t, ct_table_rows(t) > 0, name, "position, rmse per coordinate", job->unit.name, k * before.translation,
             k * after.translation);
    put_mean(t, 0, name, "position, rms of distances", job->unit.name, k * before.ape_translation,
             k * after.ape_translation);
    put_mean(t, 0, name, "rotation, rmse of angles", "rad", before.rotation, after.rotation);
}

/* Errors after alignment, below those without. */
static void put_aligned(report_job *job, ct_table *t)
{
    const double k = job->unit.per_m;
    char name[48];
    if (job->align == CT_ALIGN_NONE) return;
    snprintf(name, sizeof name, "aligned (%s)", ct_align_name((ct_align_kind)job->align));
    put_mean(t, 1, name, "position, rms of distances", job->unit.name, k * report_mean_aligned(job, BEFORE, 0),
             k * report_mean_aligned(job, AFTER, 0));
    put_mean(t, 0, name, "rotation, rmse of angles", "rad", report_mean_aligned(job, BEFORE, 1),
             report_mean_aligned(job, AFTER, 1));
}

static void put_means(report_job *job)
{
    const char *body[CT_BODIES_MAX];
    const int   bodies = report_each_body(job, body);
    ct_table *t = report_table("Means over sequences");
    ct_table_column(t, "what", "", NULL, 0);
    ct_table_column(t, "unit", "unit", NULL, 0);
    ct_table_column(t, "before", "before", NULL, 4);
    ct_table_column(t, "after", "after", NULL, 4);
    ct_table_column(t, "ratio", "after / before", NULL, 3);
    for (int k = 0; k < bodies; k++) put_means_of(job, t, body[k]);
    if (bodies > 1) put_means_of(job, t, NULL);
    put_aligned(job, t);
    put_mean(t, bodies > 1 || job->align != CT_ALIGN_NONE, "", "loss, \u00bd sum of squared differences", "",
             job->mean[BEFORE][EVAL_LOSS], job->mean[AFTER][EVAL_LOSS]);
    ct_table_note(t,
                  "Over %d sequence%s, without alignment unless stated. Rms of distances is the absolute pose error "
                  "(APE). Differences in the loss are %s.",
                  job->averaged, CLI_S(job->averaged), ct_difference_name((ct_difference)job->learn.difference));
    report_put_table(job, t);
}

static void put_change(report_job *job, const char *body)
{
    const ct_accuracy before = report_mean_of(job, BEFORE, body), after = report_mean_of(job, AFTER, body);
    const int         turns = isnan(after.translation);
    const double      ratio = turns ? after.rotation / before.rotation : after.translation / before.translation;
    int32_t           better = 0, worse = 0;
    for (int32_t i = 0; i < job->count; i++) {
        const ct_accuracy a = report_accuracy_of(job, BEFORE, i, body), b = report_accuracy_of(job, AFTER, i, body);
        const double      change = turns ? b.rotation / a.rotation : b.translation / a.translation;
        better += job->use[i] && change < 1 - SAME;
        worse += job->use[i] && change > 1 + SAME;
    }
    if (isnan(ratio)) return;
    char name[64], change[64] = "is the same after learning", each[96] = "";
    if (fabs(ratio - 1) > SAME)
        snprintf(change, sizeof change, "is %.3g %% %s after learning", 100 * fabs(ratio - 1),
                 ratio < 1 ? "smaller" : "larger");
    if (job->averaged > 1)
        snprintf(each, sizeof each, " It is smaller in %d of %d sequences and larger in %d.", better, job->averaged,
                 worse);
    ct_page_text(job->page, "The mean error in %s%s%s %s.%s", turns ? "rotation" : "position", body ? " of the " : "",
                 report_body(job, body, name), change, each);
}

/* ---- sequence by sequence ---- */

static void put_sequences(report_job *job)
{
    ct_table *t = report_table("Sequence by sequence");
    const int32_t n = job->count < ROWS_MAX ? job->count : ROWS_MAX;
    ct_table_column(t, "sequence", "sequence", NULL, 0);
    ct_table_column(t, "poses", "poses", NULL, 6);
    ct_table_column(t, "translation_before", "position before", job->unit.name, 4);
    ct_table_column(t, "translation", "after", job->unit.name, 4);
    ct_table_column(t, "rotation_before", "rotation before", "rad", 4);
    ct_table_column(t, "rotation", "after", "rad", 4);
    ct_table_column(t, "nees_before", "NEES before", NULL, 3);
    ct_table_column(t, "nees", "after", NULL, 3);
    if (job->failed[BEFORE] || job->failed[AFTER]) ct_table_column(t, "remark", "remark", NULL, 0);
    for (int32_t i = 0; i < n; i++) {
        static const int METRIC[] = {EVAL_TRANSLATION, EVAL_ROTATION, EVAL_NEES};
        double           value[SIDES][EVAL_COUNT];
        for (int side = BEFORE; side <= AFTER; side++)
            eval_sequence_metrics(&job->of[side][i], value[side]), value[side][EVAL_TRANSLATION] *= job->unit.per_m;
        ct_table_row(t, 0);
        ct_table_text(t, "%s", ct_sequence_label(job->track[i].seq));
        ct_table_number(t, (double)job->of[AFTER][i].accuracy.poses);
        for (int k = 0; k < 3; k++) {
            ct_table_number(t, value[BEFORE][METRIC[k]]);
            ct_table_number(t, value[AFTER][METRIC[k]]);
            if (METRIC[k] != EVAL_NEES && value[AFTER][METRIC[k]] > (1 + SAME) * value[BEFORE][METRIC[k]])
                ct_table_mark(t, 2);
        }
        for (int side = BEFORE; side <= AFTER; side++)
            if (ct_evaluation_failed(&job->of[side][i])) {
                ct_table_text(t, "%s: %s", side == BEFORE ? "before" : "after",
                              ct_evaluation_reason(&job->of[side][i]));
                ct_table_mark(t, 2);
                break;
            }
    }
    if (n < job->count) ct_table_note(t, "The first %d of %d sequences.", n, job->count);
    ct_table_note(t, "Rmse: per coordinate of positions, and of angles. Larger errors than before are marked.");
    report_put_table(job, t);
}

/* A body alone. */
static void put_sequences_of(report_job *job, const char *body)
{
    char          name[64], title[128];
    const int32_t n = job->count < ROWS_MAX ? job->count : ROWS_MAX;
    snprintf(title, sizeof title, "Sequence by sequence: %s", report_body(job, body, name));
    ct_table *t = report_table(title);
    ct_table_column(t, "sequence", "sequence", NULL, 0);
    ct_table_column(t, "translation_before", "position before", job->unit.name, 4);
    ct_table_column(t, "translation", "after", job->unit.name, 4);
    ct_table_column(t, "rotation_before", "rotation before", "rad", 4);
    ct_table_column(t, "rotation", "after", "rad", 4);
    for (int32_t i = 0; i < n; i++) {
        const ct_accuracy a = report_accuracy_of(job, BEFORE, i, body), b = report_accuracy_of(job, AFTER, i, body);
        ct_table_row(t, 0);
        ct_table_text(t, "%s", ct_sequence_label(job->track[i].seq));
        ct_table_number(t, job->unit.per_m * a.translation);
        ct_table_number(t, job->unit.per_m * b.translation);
        ct_table_mark(t, b.translation > (1 + SAME) * a.translation ? 2 : 0);
        ct_table_number(t, a.rotation);
        ct_table_number(t, b.rotation);
        ct_table_mark(t, b.rotation > (1 + SAME) * a.rotation ? 2 : 0);
    }
    report_put_table(job, t);
}

static void put_picture(report_job *job, const char *body, int turns)
{
    const int32_t n = job->count;
    double       *x = cli_alloc(3 * (int64_t)n, sizeof *x), *y[SIDES] = {x + n, x + 2 * (int64_t)n};
    const char  **names = cli_alloc(n, sizeof *names);
    int           known = 0;
    for (int32_t i = 0; i < n; i++) {
        x[i] = i;
        names[i] = ct_sequence_label(job->track[i].seq);
        for (int side = BEFORE; side <= AFTER; side++) {
            const ct_accuracy a = report_accuracy_of(job, side, i, body);
            y[side][i] = turns ? a.rotation : job->unit.per_m * a.translation;
            known = known || isfinite(y[side][i]);
        }
    }
    const ct_series series[] = {{"before", CT_ROLE_BEFORE, CT_MARK_POINTS, n, x, y[BEFORE], NULL},
                                {"after", CT_ROLE_AFTER, CT_MARK_POINTS, n, x, y[AFTER], NULL}};
    const int       is_log = report_wants_log(n, y[BEFORE], n, y[AFTER]);
    char            name[64], title[128], label[32];
    snprintf(title, sizeof title, "Error in %s%s%s by sequence", turns ? "rotation" : "position", body ? ": " : "",
             report_body(job, body, name));
    snprintf(label, sizeof label, "rmse in %s", turns ? "rad" : job->unit.name);
    const ct_plot plot = {.id = turns ? "rotation" : "translation",
                          .title = title,
                          .text = "One point a sequence, in the order of the dataset.",
                          .x_label = "sequence",
                          .y_label = label,
                          .y_log = is_log,
                          .count = 2,
                          .series = series,
                          .x_names = names,
                          .names = n};
    if (known) ct_page_plot(job->page, &plot);
    free(names);
    free(x);
}

void report_accuracy(report_job *job)
{
    ct_page_section(job->page, "accuracy",
                    job->part == CT_DATASET_TEST ? "Accuracy on test sequences" : "Accuracy on training sequences");
    put_inference(job);
    if (!job->averaged) {
        ct_page_text(job->page, "No sequence has an estimate both before and after.");
        put_sequences(job);
        return;
    }
    const char *body[CT_BODIES_MAX];
    const int   bodies = report_each_body(job, body);
    for (int k = 0; k < bodies; k++) put_change(job, body[k]);
    put_means(job);
    for (int k = 0; k < bodies; k++)
        for (int turns = 0; turns < 2; turns++) put_picture(job, body[k], turns);
    report_relative_error(job);
    for (int k = 0; bodies > 1 && k < bodies; k++) put_sequences_of(job, body[k]);
    put_sequences(job);
}
