/* headline.c: warnings, and the four numbers that are seen first. */
#include "cli/report/report.h"

#include <math.h>
#include <string.h>

#define NAMED_MAX 5 /* sequences without an estimate that are named; the table has all */

/* ---- warnings ---- */

/* "0003, 0007 and 2 more: the limit of iterations is reached", or, where reasons differ, each with its own. */
static void warn_of_failures(report_job *job, int side)
{
    char    text[1024] = "", reason[128] = "";
    size_t  used = 0;
    int32_t named = 0;
    int     same = 1;
    const char *first = NULL;
    if (!job->failed[side]) return;
    for (int32_t i = 0; i < job->count; i++) {
        if (!ct_evaluation_failed(&job->of[side][i])) continue;
        const char *why = ct_evaluation_reason(&job->of[side][i]);
        same = same && (!first || !strcmp(first, why));
        first = why;
    }
    for (int32_t i = 0; i < job->count && named < NAMED_MAX && used < sizeof text; i++) {
        const ct_evaluation *of = &job->of[side][i];
        if (!ct_evaluation_failed(of)) continue;
        if (!same) snprintf(reason, sizeof reason, " (%s)", ct_evaluation_reason(of));
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%s", named++ ? ", " : "",
                                 ct_sequence_label(job->track[i].seq), reason);
    }
    if (job->failed[side] > named && used < sizeof text)
        snprintf(text + used, sizeof text - used, " and %d more", job->failed[side] - named);
    report_warn(job, "With the %s noise models %d of %d sequences failed: %s%s%s.",
                side == BEFORE ? "start" : "learned", job->failed[side], job->count, text, same ? ": " : "",
                same ? first : "");
}

static void warn_of_runs(report_job *job)
{
    if (job->part == CT_DATASET_TRAIN)
        report_warn(job, "There are no test sequences. Errors are of the training sequences and are too small.");
    else if (cli_is_unsplit(job->path))
        report_warn(job, "The test sequences are also the training sequences: their errors are too small. Put some "
                         "under test/.");
    warn_of_failures(job, BEFORE);
    warn_of_failures(job, AFTER);
    if (job->averaged < job->count)
        report_warn(job, "Means are over the %d of %d sequences that have an estimate both before and after that has "
                         "not diverged.",
                    job->averaged, job->count);
    if (job->averaged && job->mean[AFTER][EVAL_TRANSLATION] > job->mean[BEFORE][EVAL_TRANSLATION])
        report_warn(job, "The error in position of the %s sequences is larger after learning than before.",
                    report_part(job));
}

/* Findings as warnings, joined; but those with the code `except` (-1: none). */
static void warn_of_findings(report_job *job, const ct_findings *findings, int except)
{
    ct_findings joined = cli_findings_join(findings);
    for (int32_t i = 0; i < joined.count; i++) {
        char text[CLI_FINDING_TEXT];
        if ((int)joined.item[i].code == except) continue;
        ct_finding_text(&joined.item[i], text, sizeof text);
        report_warn(job, "%s", text);
    }
    ct_findings_free(&joined);
}

static void warn_of_rows(report_job *job)
{
    ct_findings findings = {0};
    for (int32_t i = 0; i < job->rows; i++) {
        const report_row     *r = &job->row[i];
        const ct_noise_model *m = ct_noise_get(job->file[AFTER], r->model);
        const int             full = m->kind == CT_NOISE_FULL, lower = r->at_bound < 0;
        char                  name[300];
        if (!r->at_bound) continue;
        report_row_name(job, r, name, sizeof name);
        const ct_finding_code code = full ? lower ? CT_FINDING_EIGENVALUE_AT_LOWER_BOUND
                                                  : CT_FINDING_EIGENVALUE_AT_UPPER_BOUND
                                     : lower ? CT_FINDING_AT_LOWER_BOUND
                                             : CT_FINDING_AT_UPPER_BOUND;
        if (ct_findings_add(&findings, code, 0, NULL, NULL) != CT_OK ||
            ct_findings_add_subject(&findings, full ? CT_SUBJECT_MODEL : CT_SUBJECT_PARAMETER, full ? r->model : -1, 0,
                                    full ? m->name : name, NULL) != CT_OK)
            cli_check_alloc(NULL);
    }
    warn_of_findings(job, &findings, -1);
    ct_findings_free(&findings);
}

/* Findings of the run. The scale is undetermined by tracking, which needs no warning where consistency has set it. Runs
 * of older versions have sentences alone. */
static void warn_of_summary(report_job *job)
{
    const json_t *scale = json_object_get(job->summary_json, "scale");
    const double wanted = json_number_value(json_object_get(scale, "wanted")),
                 applied = json_number_value(json_object_get(scale, "applied"));
    const int     settled = json_is_true(json_object_get(scale, "free")) && applied == wanted;
    warn_of_findings(job, &job->findings, settled ? CT_FINDING_SCALE_UNDETERMINED : -1);
    for (int k = 0; !json_object_get(job->summary_json, "findings") && k < 2; k++) {
        const json_t *list = json_object_get(job->summary_json, k ? "undetermined" : "notes");
        for (size_t i = 0; i < json_array_size(list); i++)
            if (json_is_string(json_array_get(list, i)))
                report_warn(job, "%s", json_string_value(json_array_get(list, i)));
    }
}

void report_warnings(report_job *job)
{
    const char *stop = json_string_value(json_object_get(job->summary_json, "stop"));
    if (!job->finished && stop && !strcmp(stop, "cancelled"))
        report_warn(job, "The run was interrupted. These are the best noise models found by then, without error bars. "
                         "--resume continues it.");
    else if (!job->finished)
        report_warn(job, "The run is not finished: it is under way, or was killed. These are the best noise models so "
                         "far, without error bars. --resume continues it.");
    if (job->cut) report_warn(job, "The last line of the history is cut off and left out.");
    if (job->dataset) warn_of_runs(job);
    else
        report_warn(job, "This report was made without the dataset. It has no accuracy, trajectories, consistency, "
                         "residuals and conditioning.");
    job->grave = (int32_t)json_array_size(job->warnings);
    warn_of_rows(job);
    if (job->finished) warn_of_summary(job);
}

/* ---- tiles ---- */

/* Errors: of the object alone where there is one. */
static void put_errors(report_job *job)
{
    const char       *body = job->bodies > 1 && *job->object ? job->object : NULL, *whose = body ? "object: " : "";
    const ct_accuracy before = report_mean_of(job, BEFORE, body), after = report_mean_of(job, AFTER, body);
    char              label[96], value[64], remark[128], a[48], b[32];
    snprintf(label, sizeof label, "%serror in position, %s sequences", whose, report_part(job));
    snprintf(remark, sizeof remark, "%s before", report_length(job, before.translation, a));
    if (!isnan(after.translation)) ct_page_tile(job->page, label, report_length(job, after.translation, a), remark);
    snprintf(label, sizeof label, "%serror in rotation, %s sequences", whose, report_part(job));
    snprintf(value, sizeof value, "%s rad", report_number(after.rotation, b));
    snprintf(remark, sizeof remark, "%.3g\u00b0; %s rad before", 45 / atan(1) * after.rotation,
             report_number(before.rotation, b));
    if (!isnan(after.rotation)) ct_page_tile(job->page, label, value, remark);
}

static void put_nees(report_job *job)
{
    char value[64], remark[128], b[32];
    if (isnan(job->mean[AFTER][EVAL_NEES])) return;
    snprintf(value, sizeof value, "%s", report_number(job->mean[AFTER][EVAL_NEES], b));
    snprintf(remark, sizeof remark, "%s before", report_number(job->mean[BEFORE][EVAL_NEES], b));
    ct_page_tile(job->page, "NEES (1 is consistent)", value, remark);
}

/* Without truth: how well held-out measurements are predicted. */
static void put_predictions(report_job *job)
{
    static const struct {
        int         metric;
        const char *label;
    } TILE[] = {{EVAL_LOG_DENSITY, "log density of held-out measurements"},
                {EVAL_CHI_SQUARED, "chi-square (1 is consistent)"}};
    for (int k = 0; k < 2; k++) {
        char         value[64], remark[128], b[32];
        const double after = job->mean[AFTER][TILE[k].metric];
        if (isnan(after)) continue;
        snprintf(value, sizeof value, "%s", report_number(after, b));
        snprintf(remark, sizeof remark, "%s before", report_number(job->mean[BEFORE][TILE[k].metric], b));
        ct_page_tile(job->page, TILE[k].label, value, remark);
    }
}

static void put_spread(report_job *job)
{
    double       least = INFINITY, most = 0;
    const json_t *known = json_object_get(job->summary_json, "spread");
    char         value[64], buf[32];
    for (int32_t i = 0; i < job->rows; i++) {
        const double sigma = job->row[i].sigma[AFTER] / job->row[i].one;
        least = fmin(least, sigma * sigma);
        most = fmax(most, sigma * sigma);
    }
    const double spread = job->finished && json_is_number(known) ? json_number_value(known) : most / least;
    snprintf(value, sizeof value, "%s", report_number(spread, buf));
    ct_page_tile(job->page, "spread", value,
                 job->in_units ? "largest learned variance over smallest, in the dataset's units"
                               : "largest learned variance over smallest");
}

/* Without the dataset: what the run itself measured. */
static void put_losses(report_job *job)
{
    const json_t *loss = json_object_get(job->summary_json, "loss");
    char          value[64], remark[96], buf[32];
    for (int k = 0; k < 2; k++) {
        const json_t *after = json_object_get(loss, k ? "heldout" : "train"),
                     *before = json_object_get(loss, k ? "heldout_start" : "start");
        if (!json_is_number(after)) continue;
        snprintf(value, sizeof value, "%s", report_number(json_number_value(after), buf));
        snprintf(remark, sizeof remark, "%s at the start",
                 report_number(json_is_number(before) ? json_number_value(before) : NAN, buf));
        ct_page_tile(job->page, k ? "held-out loss" : "training loss", value, remark);
    }
}

static void put_warnings(report_job *job, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        ct_page_warn(job->page, "%s", json_string_value(json_array_get(job->warnings, i)));
}

void report_top(report_job *job)
{
    put_warnings(job, 0, (size_t)job->grave);
    if (!job->dataset) put_losses(job);
    else {
        put_errors(job);
        put_nees(job);
        if (!job->with_truth) put_predictions(job);
    }
    put_spread(job);
    put_warnings(job, (size_t)job->grave, json_array_size(job->warnings));
}
