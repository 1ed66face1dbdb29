/* report_accuracy.c: how far from the truth runs are estimated, before and after: means, and run by run. */
#include "report.h"

#include <math.h>
#include <stdlib.h>

#define ROWS_MAX 200    /* runs in the table: of more, nobody reads one */
#define SAME     0.0005 /* relative: what differs by less is the same to the digits that are shown */

static void say_inference(report_job *job)
{
    const ct_inference *how = &job->inference;
    const char         *of = how->start == CT_START_INITIAL ? "the values in the " : how->start == CT_START_TRUTH ? "the " : "";
    char                start[128];
    snprintf(start, sizeof start, "%s%s", of, ct_start_name(how->start));
    if (!how->incremental) ct_page_text(job->page, "Each of the %d %s runs is estimated at once, starting from %s, with the noise models before learning and with those after.", job->count, report_part(job), start);
    else
        ct_page_text(job->page, "Each of the %d %s runs is estimated step by step (isam2), a new pose starting from %s, with the noise models before learning and with those after.", job->count, report_part(job),
                     how->replay.entry == CT_ENTRY_PREVIOUS ? "the one before" : how->replay.entry == CT_ENTRY_MOTION ? "the one before, moved on as measured" : start);
}

/* ---- means ---- */

static void put_mean(report_job *job, ct_table *t, const char *what, const char *unit, int k)
{
    const double before = job->mean[BEFORE][k], after = job->mean[AFTER][k];
    if (isnan(before) && isnan(after)) return;
    ct_table_row(t, 0);
    ct_table_text(t, "%s", what);
    ct_table_text(t, "%s", unit);
    ct_table_number(t, before);
    ct_table_number(t, after);
    ct_table_mark(t, after < (1 - SAME) * before);
    ct_table_number(t, after / before);
}

static void put_means(report_job *job)
{
    ct_table *t = report_table("Means over runs");
    ct_table_column(t, "what", "", NULL, 0);
    ct_table_column(t, "unit", "unit", NULL, 0);
    ct_table_column(t, "before", "before", NULL, 4);
    ct_table_column(t, "after", "after", NULL, 4);
    ct_table_column(t, "ratio", "after / before", NULL, 3);
    put_mean(job, t, "position, rmse per coordinate", "m", EVAL_TRANSLATION);
    put_mean(job, t, "position, rms of distances", "m", EVAL_APE);
    put_mean(job, t, "rotation, rmse of angles", "rad", EVAL_ROTATION);
    put_mean(job, t, "loss, \u00bd sum of squared differences", "", EVAL_LOSS);
    ct_table_note(t, "Over %d run%s, without alignment. Differences in the loss are %s.", job->averaged, CLI_S(job->averaged), ct_difference_name((ct_difference)job->learn.difference));
    report_put_table(job, t);
}

static void say_change(report_job *job)
{
    const int    k = isnan(job->mean[AFTER][EVAL_TRANSLATION]) ? EVAL_ROTATION : EVAL_TRANSLATION;
    const double ratio = job->mean[AFTER][k] / job->mean[BEFORE][k];
    int32_t      better = 0, worse = 0;
    for (int32_t i = 0; i < job->count; i++) {
        const ct_accuracy a = job->of[BEFORE][i].accuracy, b = job->of[AFTER][i].accuracy;
        const double      change = k == EVAL_ROTATION ? b.rotation / a.rotation : b.translation / a.translation;
        better += job->use[i] && change < 1 - SAME;
        worse += job->use[i] && change > 1 + SAME;
    }
    if (isnan(ratio)) return;
    const char *of = k == EVAL_ROTATION ? "rotation" : "position";
    char        change[64] = "what it was", runs[96] = "";
    if (fabs(ratio - 1) > SAME) snprintf(change, sizeof change, "%.3g %% %s after learning", 100 * fabs(ratio - 1), ratio < 1 ? "smaller" : "larger");
    if (job->averaged > 1) snprintf(runs, sizeof runs, " It is smaller in %d of %d runs, and larger in %d.", better, job->averaged, worse);
    ct_page_text(job->page, "The mean error in %s is %s.%s", of, change, runs);
}

/* ---- run by run ---- */

static void put_runs(report_job *job)
{
    ct_table     *t = report_table("Run by run");
    const int32_t n = job->count < ROWS_MAX ? job->count : ROWS_MAX;
    ct_table_column(t, "run", "run", NULL, 0);
    ct_table_column(t, "poses", "poses", NULL, 6);
    ct_table_column(t, "translation_before", "position before", "m", 4);
    ct_table_column(t, "translation", "after", "m", 4);
    ct_table_column(t, "rotation_before", "rotation before", "rad", 4);
    ct_table_column(t, "rotation", "after", "rad", 4);
    ct_table_column(t, "nees_before", "NEES before", NULL, 3);
    ct_table_column(t, "nees", "after", NULL, 3);
    if (job->failed[BEFORE] || job->failed[AFTER]) ct_table_column(t, "remark", "remark", NULL, 0);
    for (int32_t i = 0; i < n; i++) {
        static const int METRIC[] = {EVAL_TRANSLATION, EVAL_ROTATION, EVAL_NEES};
        double           value[SIDES][EVAL_COUNT];
        for (int side = BEFORE; side <= AFTER; side++) eval_numbers(&job->of[side][i], value[side]);
        ct_table_row(t, 0);
        ct_table_text(t, "%s", report_name(job->track[i].seq));
        ct_table_number(t, (double)job->of[AFTER][i].accuracy.poses);
        for (int k = 0; k < 3; k++) {
            ct_table_number(t, value[BEFORE][METRIC[k]]);
            ct_table_number(t, value[AFTER][METRIC[k]]);
            if (METRIC[k] != EVAL_NEES && value[AFTER][METRIC[k]] > (1 + SAME) * value[BEFORE][METRIC[k]]) ct_table_mark(t, 2);
        }
        for (int side = BEFORE; side <= AFTER; side++)
            if (eval_failed(&job->of[side][i])) {
                ct_table_text(t, "%s: %s", side == BEFORE ? "before" : "after", ct_stop_meaning(job->of[side][i].solve.stop));
                ct_table_mark(t, 2);
                break;
            }
    }
    if (n < job->count) ct_table_note(t, "The first %d of %d runs.", n, job->count);
    ct_table_note(t, "rmse: per coordinate of positions; of angles. What is worse than before is marked.");
    report_put_table(job, t);
}

static void put_picture(report_job *job, const char *id, const char *title, const char *unit, int k)
{
    const int32_t n = job->count;
    double       *x = cli_alloc(3 * (int64_t)n, sizeof *x), *y[SIDES] = {x + n, x + 2 * (int64_t)n};
    const char  **names = cli_alloc(n, sizeof *names);
    int           known = 0;
    for (int32_t i = 0; i < n; i++) {
        x[i] = i;
        names[i] = report_name(job->track[i].seq);
        for (int side = BEFORE; side <= AFTER; side++) {
            double value[EVAL_COUNT];
            eval_numbers(&job->of[side][i], value);
            y[side][i] = value[k];
            known = known || isfinite(value[k]);
        }
    }
    const ct_series series[] = {{"before", CT_ROLE_BEFORE, CT_MARK_POINTS, n, x, y[BEFORE], NULL}, {"after", CT_ROLE_AFTER, CT_MARK_POINTS, n, x, y[AFTER], NULL}};
    const int       is_log = report_wants_log(n, y[BEFORE], n, y[AFTER]);
    const ct_plot   plot = {.id = id, .title = title, .x_label = "run", .y_label = unit, .y_log = is_log, .count = 2, .series = series, .x_names = names, .names = n};
    if (known) ct_page_plot(job->page, &plot);
    free(names);
    free(x);
}

void report_accuracy(report_job *job)
{
    ct_page_section(job->page, "accuracy", job->part == CT_DATASET_TEST ? "Accuracy on test runs" : "Accuracy on training runs");
    say_inference(job);
    if (!job->averaged) {
        ct_page_text(job->page, "No run has an estimate both before and after.");
        put_runs(job);
        return;
    }
    say_change(job);
    put_means(job);
    put_picture(job, "translation", "Error in position, run by run", "rmse in m", EVAL_TRANSLATION);
    put_picture(job, "rotation", "Error in rotation, run by run", "rmse in rad", EVAL_ROTATION);
    put_runs(job);
}
