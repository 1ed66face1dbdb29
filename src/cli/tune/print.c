/* print.c: the result of tune as text. */
#include "cli/common/findings.h"
#include "cli/tune/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters ---- */

/* "+-12 %" of a logarithm, "+-0.1" of a value, "-" if it is not determined. */
static const char *error_text(const ct_tune_parameter *p, double error, char buf[24])
{
    if (!isfinite(error)) return "-";
    if (p->log)
        snprintf(buf, 24, "%.3g %%", 100 * expm1(error));
    else
        snprintf(buf, 24, "%.3g", error);
    return buf;
}

static void remark(const tune_job *job, int32_t i, char *buf, size_t size)
{
    const ct_tune_parameter *p = &job->problem->parameter[i];
    const int8_t side = job->result.at_bound ? job->result.at_bound[i] : 0;
    buf[0] = 0;
    if (p->tie >= 0)
        snprintf(buf, size, "%g times %s", p->factor, job->problem->parameter[p->tie].name);
    else if (side)
        snprintf(buf, size, "at its %s bound, %g", side < 0 ? "lower" : "upper", side < 0 ? p->lower : p->upper);
    else if (job->result.standard_error && isinf(job->result.standard_error[i]))
        snprintf(buf, size, "not determined");
    else if (job->result.standard_error && isnan(job->result.standard_error[i]) && isfinite(job->result.loss) &&
             job->result.stop != CT_TUNE_STOP_CANCELLED)
        snprintf(buf, size, "matters; no standard error");
}

static void print_parameters(const tune_job *job)
{
    const ct_tune_problem *problem = job->problem;
    int width = 9;
    for (int32_t i = 0; i < problem->parameters; i++)
        width = (int)strlen(problem->parameter[i].name) > width ? (int)strlen(problem->parameter[i].name) : width;
    printf("\n%-*s %-11s %12s    %12s %10s\n", width, "parameter", "is", "start", "learned", "+-");
    for (int32_t i = 0; i < problem->parameters; i++) {
        const ct_tune_parameter *p = &problem->parameter[i];
        char error[24], note[128];
        remark(job, i, note, sizeof note);
        printf("%-*s %-11s %12.5g -> %12.5g %10s%s%s\n", width, p->name, ct_quantity_name(p->quantity), p->start,
               job->result.value[i],
               error_text(p, job->result.standard_error ? job->result.standard_error[i] : INFINITY, error),
               note[0] ? "  " : "", note);
    }
    putchar('\n');
}

/* ---- candidates ---- */

static const char *number(double value, const char *format, char buf[24])
{
    snprintf(buf, 24, isfinite(value) ? format : "-", value);
    return buf;
}

/* Ratios of losses are clipped at a tenth and at ten: beyond, they tell no more. */
static void ratio_text(const ct_tune_candidate *c, char buf[64])
{
    char ratio[24], error[24];
    const double limit = log(10) * (1 - 1e-9);
    if (fabs(c->log_ratio) >= limit)
        snprintf(buf, 64, c->log_ratio < 0 ? "< 0.1" : "> 10");
    else
        snprintf(buf, 64, "%s +- %s", number(exp(c->log_ratio), "%.3f", ratio),
                 number(exp(c->log_ratio) * c->log_ratio_error, "%.3f", error));
}

static void print_candidates(const ct_tune_result *r)
{
    if (!r->candidates) {
        cli_row("held out", "no recording was held out; whether the answer beats the start values is not known");
        return;
    }
    printf("%-14s %19s %10s %10s %6s  %s\n", "candidate", "loss ratio", "m", "rad", "failed", "on held-out logs");
    for (int k = 0; k < r->candidates; k++) {
        const ct_tune_candidate *c = &r->candidate[k];
        char name[32], both[64], m[24], rad[24];
        if (isnan(c->prior))
            snprintf(name, sizeof name, "start values");
        else
            snprintf(name, sizeof name, "prior %g", c->prior);
        ratio_text(c, both);
        const int failed = c->failed && c->log_ratio > log(10) * (1 - 1e-9); /* no ratio of accuracies */
        printf("%-14s %19s %10s %10s %6d  %s\n", name, isnan(c->prior) ? "1" : both,
               number(failed ? NAN : c->translation_ratio, "%.3f", m),
               number(failed ? NAN : c->rotation_ratio, "%.3f", rad), c->failed,
               ct_choice_meaning(c->verdict));
    }
    putchar('\n');
}

/* ---- accuracy ---- */

typedef enum { TRANSLATION, ROTATION, NEES, LOSS } figure;

static double figure_of(const ct_tune_figures *f, figure which)
{
    switch (which) {
    case TRANSLATION: return f->translation;
    case ROTATION: return f->rotation;
    case NEES: return f->nees;
    default: return f->loss;
    }
}

/* Root mean square, of NEES and losses the mean, over logs that have the figure in both `of` and `with`. */
static double pooled(const tune_job *job, int test, const ct_tune_figures *of, const ct_tune_figures *with,
                     figure which, int *count)
{
    const int mean = which == NEES || which == LOSS;
    double sum = 0;
    *count = 0;
    for (int32_t i = 0; i < job->problem->logs; i++) {
        const double value = figure_of(&of[i], which);
        if ((job->problem->log[i].test != 0) != test || !isfinite(value) || !isfinite(figure_of(&with[i], which)))
            continue;
        sum += mean ? value : value * value;
        ++*count;
    }
    return !*count ? NAN : mean ? sum / *count : sqrt(sum / *count);
}

static void print_nees(const tune_job *job, int test)
{
    int count;
    const ct_tune_figures *b = job->result.before, *a = job->result.after;
    const double before = pooled(job, test, b, a, NEES, &count), after = pooled(job, test, a, b, NEES, &count);
    if (count)
        cli_row("", "NEES %.3g -> %.3g per coordinate, mean over %d log%s: 1 if the covariances are right", before,
                after, count, CLI_S(count));
}

/* Of a scoring command there are no metres: the loss. */
static void print_losses(const tune_job *job, int test)
{
    int count;
    const ct_tune_figures *b = job->result.before, *a = job->result.after;
    const double before = pooled(job, test, b, a, LOSS, &count), after = pooled(job, test, a, b, LOSS, &count);
    if (count)
        cli_row(test ? "test logs" : "training", "loss %.4g -> %.4g (%.3f), mean over %d log%s", before, after,
                after / before, count, CLI_S(count));
}

/* What is minimised: of relative and robust losses errors of positions tell little. Of a scoring command it is the only
 * figure, and below. */
static void print_loss(const tune_job *job)
{
    const ct_tune_result *r = &job->result;
    const ct_tune_figures *b = r->before, *a = r->after;
    int count = 0, metres = 0;
    cli_row("loss", "start %.6g, learned %.6g (training logs)", r->loss_start, r->loss);
    if (!b || !a) return;
    const double before = pooled(job, 1, b, a, LOSS, &count), after = pooled(job, 1, a, b, LOSS, &count);
    pooled(job, 1, b, a, TRANSLATION, &metres);
    if (count && metres) cli_row("", "start %.6g, learned %.6g (test logs)", before, after);
}

/* Where no log has an estimate at the start values, the answer has no ratio: its figures alone. */
static void print_answer(const tune_job *job, int test)
{
    const ct_tune_figures *a = job->result.after;
    const char *label = test ? "test logs" : "training";
    char rotation[48] = "";
    int count;
    const double angle = pooled(job, test, a, a, ROTATION, &count), loss = pooled(job, test, a, a, LOSS, &count),
                 metres = pooled(job, test, a, a, TRANSLATION, &count);
    if (isfinite(angle)) snprintf(rotation, sizeof rotation, ", %.4g deg", angle * 180 / acos(-1));
    if (isfinite(metres))
        cli_row(label, "no estimate -> %.4g m%s, root mean square over %d log%s", metres, rotation, count,
                CLI_S(count));
    else if (isfinite(loss))
        cli_row(label, "no estimate -> loss %.4g", loss);
    else
        cli_row(label, "no estimate");
}

static void print_accuracy(const tune_job *job, int test)
{
    const ct_tune_result *r = &job->result;
    char rotation[96] = "";
    int count, angles, lost[2] = {0, 0}, logs = 0;
    if (!r->before || !r->after) return;
    for (int32_t i = 0; i < job->problem->logs; i++) {
        if ((job->problem->log[i].test != 0) != test) continue;
        logs++;
        lost[0] += r->before[i].end != CT_TUNE_DONE;
        lost[1] += r->after[i].end != CT_TUNE_DONE;
    }
    if (!logs) return;
    const double before = pooled(job, test, r->before, r->after, TRANSLATION, &count),
                 after = pooled(job, test, r->after, r->before, TRANSLATION, &count);
    const double a = pooled(job, test, r->before, r->after, ROTATION, &angles),
                 b = pooled(job, test, r->after, r->before, ROTATION, &angles);
    if (angles && a > 0)
        snprintf(rotation, sizeof rotation, ", %.4g -> %.4g deg (%.3f)", a * 180 / acos(-1), b * 180 / acos(-1), b / a);
    if (count)
        cli_row(test ? "test logs" : "training", "%.4g -> %.4g m (%.3f)%s, root mean square over %d log%s", before,
                after, after / before, rotation, count, CLI_S(count));
    else if (lost[0] == logs && r->stop != CT_TUNE_STOP_CANCELLED)
        print_answer(job, test);
    else
        print_losses(job, test);
    print_nees(job, test);
    if (lost[0] + lost[1] && r->stop != CT_TUNE_STOP_CANCELLED) /* else some were not run */
        cli_row("", "%d of %d logs failed before, %d after", lost[0], logs, lost[1]);
}

/* ---- runs ---- */

static void print_failures(const tune_job *job)
{
    char text[256];
    int most = -1;
    if (!tune_failures_text(job->result.failed, text, sizeof text)[0]) return;
    cli_row("failures", "%s; the folders of the last ones are in %s", text, job->failures);
    for (int k = 0; k < CT_TUNE_END_COUNT; k++)
        if (job->failure[k].message && (most < 0 || job->result.failed[k] > job->result.failed[most])) most = k;
    if (most < 0) return;
    const tune_failure *f = &job->failure[most];
    cli_row("", "%s with log %s:", ct_tune_end_name((ct_tune_end)most), job->problem->log[f->log].name);
    for (const char *line = f->message; *line;) {
        const size_t length = strcspn(line, "\n");
        printf("             | %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static void print_runs(const tune_job *job)
{
    const ct_tune_result *r = &job->result;
    char time[24], cached[64] = "", noise[64] = "";
    if (r->cached) snprintf(cached, sizeof cached, ", %lld of them from the journal", (long long)r->cached);
    if (r->noise > 0)
        snprintf(noise, sizeof noise, "; runs differ by %.2g %% of the loss, as last measured", 100 * r->noise);
    cli_row("runs", "%lld at %lld point%s%s, %s%s", (long long)r->runs, (long long)r->points, CLI_S(r->points), cached,
            cli_format_time(r->seconds, time), noise);
    print_failures(job);
}

/* What best/ does not have, with all digits. */
static void print_elsewhere(const tune_job *job)
{
    for (int32_t i = 0; i < job->problem->parameters; i++)
        if (!ct_tuning_in_file(job->tuning, i))
            cli_row("", "%s = %.17g is in no file: for your command or its environment",
                    job->problem->parameter[i].name, job->result.value[i]);
}

void tune_print(const tune_request *request, const tune_job *job)
{
    const ct_tune_result *r = &job->result;
    const ct_tune_problem *p = job->problem;
    int32_t tests = 0;
    for (int32_t i = 0; i < p->logs; i++) tests += p->log[i].test != 0;
    cli_row("tuned", "%s: %d parameter%s, %d training log%s, %d test log%s, method %s", request->path, p->parameters,
            CLI_S(p->parameters), p->logs - tests, CLI_S(p->logs - tests), tests, CLI_S(tests),
            ct_tune_method_name(r->method));
    print_parameters(job);
    print_loss(job);
    cli_row("stopped", "%s", ct_tune_stop_meaning(r->stop));
    print_candidates(r);
    print_accuracy(job, 0);
    print_accuracy(job, 1);
    print_runs(job);
    cli_findings_print("warning", &r->findings, CT_TOPIC_COUNT, 1, -1);
    int same = 1;
    for (int32_t i = 0; i < p->parameters; i++)
        same &= p->parameter[i].tie >= 0 || r->value[i] == p->parameter[i].start;
    if (!job->no_files) {
        cli_row("written", same ? "%s: your files; the start values stay" : "%s: your files with the learned numbers",
                job->best);
        print_elsewhere(job);
    } else
        cli_row("written", "%s; no file has a parameter: the numbers go into your command or its environment",
                job->json);
}
