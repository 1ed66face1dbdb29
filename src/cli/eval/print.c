/* print.c: the result of an evaluation, for people or for programs. */
#include "cli/common/findings.h"
#include "cli/eval/eval.h"

#include <math.h>
#include <string.h>

/* What EVAL_LIST calls them. */
static const struct {
    const char *label, *unit;
} metric[EVAL_COUNT] = {
#define X(name, label, unit) [name] = {label, unit},
    EVAL_LIST(X)
#undef X
};

static const char *part_name(int part)
{
    return part == CT_DATASET_TEST ? "test" : part == CT_DATASET_TRAIN ? "train" : "all";
}

/* ---- JSON ---- */

/* Keys of a sequence and of the summary. */
static void put_numbers(json_t *o, const double value[EVAL_COUNT])
{
    json_t *ape = cli_object();
    cli_put(ape, "translation", cli_number(value[EVAL_APE]));
    cli_put(o, "rmse",
            cli_rmse_json((ct_accuracy){.translation = value[EVAL_TRANSLATION], .rotation = value[EVAL_ROTATION]}));
    cli_put(o, "ape", ape);
    cli_put(o, "loss", cli_number(value[EVAL_LOSS]));
    cli_put(o, "chi_squared_per_degree", cli_number(value[EVAL_CHI_SQUARED]));
    cli_put(o, "nees", cli_number(value[EVAL_NEES]));
}

/* The keys that need no truth. */
static void put_without_truth(json_t *o, const eval_job *job, const ct_innovation *innovation,
                              const ct_smoothness *smoothness)
{
    cli_put(o, "innovation", job->innovations ? eval_innovation_json(innovation) : cli_check_alloc(json_null()));
    cli_put(o, "smoothness", eval_smoothness_json(smoothness));
}

static json_t *sequence_json(const eval_request *request, const eval_job *job, const ct_sequence *seq,
                             const ct_evaluation *a)
{
    double  value[EVAL_COUNT];
    json_t *o = cli_object();
    eval_sequence_metrics(a, value);
    cli_put(o, "name", cli_text(seq->name));
    cli_put(o, "poses", cli_integer(a->accuracy.poses));
    put_numbers(o, value);
    put_without_truth(o, job, &a->innovation, &a->smoothness);
    const int by_name = request->by_name && ct_evaluation_has_estimate(a);
    cli_put(o, "by_name", by_name ? eval_bodies_json(a->bodies, a->body) : cli_check_alloc(json_null()));
    cli_put(o, "stop", cli_text(ct_stop_name(a->solve.stop)));
    cli_put(o, "diverged", cli_text(a->diverged ? ct_diverged_name(a->diverged) : NULL));
    cli_put(o, "start", cli_text(a->start == CT_START_INCREMENTAL ? "isam2" : ct_start_name((ct_start)a->start)));
    cli_put(o, "starts", cli_integer(a->starts));
    cli_put(o, "iterations", cli_integer(a->solve.iterations));
    cli_put(o, "seconds", cli_number(a->solve.seconds));
    return o;
}

static ct_findings eval_findings(const eval_job *job, const eval_column *column)
{
    ct_findings findings = {0};
    if (ct_diverged_find(job->count, column->seq, column->of, &findings, NULL) != CT_OK) cli_check_alloc(NULL);
    return findings;
}

/* The means with the diverged estimates; null if there are none. */
static json_t *with_diverged(const ct_summary *s)
{
    json_t *o = s->diverged ? cli_object() : json_null(), *rmse = cli_object();
    if (s->diverged) {
        cli_put(rmse, "translation", cli_number(s->with_diverged.translation));
        cli_put(rmse, "rotation", cli_number(s->with_diverged.rotation));
        cli_put(o, "loss", cli_number(s->with_diverged.loss));
        cli_put(o, "chi_squared_per_degree", cli_number(s->with_diverged.chi_squared));
        cli_put(o, "nees", cli_number(s->with_diverged.nees));
        cli_put(o, "rmse", rmse);
    } else {
        json_decref(rmse);
    }
    return o;
}

static void put_column(json_t *o, const eval_request *request, const eval_job *job, const eval_column *column)
{
    const ct_summary *s = &column->summary;
    double            value[EVAL_COUNT];
    json_t           *sequences = cli_array();
    for (int32_t i = 0; i < job->count; i++)
        cli_append(sequences, sequence_json(request, job, job->seq[i], &column->of[i]));
    cli_put(o, "noise", cli_text(column->file));
    eval_metrics(s, value);
    put_numbers(o, value);
    put_without_truth(o, job, &s->innovation, &s->smoothness);
    cli_put(o, "models", job->innovations ? eval_models_json(job, column) : cli_check_alloc(json_null()));
    cli_put(o, "by_name", request->by_name ? eval_bodies_json(s->bodies, s->body) : cli_check_alloc(json_null()));
    cli_put(o, "failed", cli_integer(s->failed));
    cli_put(o, "averaged", cli_integer(s->averaged));
    cli_put(o, "diverged", cli_integer(s->diverged));
    cli_put(o, "with_diverged", with_diverged(s));
    ct_findings findings = eval_findings(job, column);
    json_t     *list = cli_findings_json(&findings), *shared = cli_findings_json(&job->findings);
    ct_findings_free(&findings);
    if (column == &job->column[0] && json_array_extend(list, shared)) cli_check_alloc(NULL);
    json_decref(shared);
    cli_put(o, "findings", list);
    cli_put(o, "sequences", sequences);
}

void eval_print_json(const eval_request *request, const eval_job *job)
{
    json_t *o = cli_object(), *against = job->columns > 1 ? cli_object() : json_null();
    cli_put(o, "dataset", cli_text(request->path));
    cli_put(o, "part", cli_text(part_name(request->part)));
    cli_put(o, "solver", cli_text(cli_solvers[job->incremental]));
    if (job->incremental) cli_put(o, "entry", cli_text(ct_entry_name(job->entry)));
    cli_put(o, "method", cli_text(job->incremental ? NULL : ct_method_name((ct_method)request->method)));
    cli_put(o, "start", cli_text(ct_start_name((ct_start)request->start)));
    cli_put(o, "difference", cli_text(ct_difference_name((ct_difference)request->difference)));
    cli_put(o, "seconds", cli_number(job->seconds));
    put_column(o, request, job, &job->column[0]);
    if (job->columns > 1) put_column(against, request, job, &job->column[1]);
    cli_put(o, "against", against);
    if (job->columns > 1 && job->innovations) cli_put(o, "score", eval_score_json(job));
    cli_put(o, "note", cli_text(job->dataset->note));
    cli_print_json(o);
}

/* ---- text ---- */

#define LABEL  EVAL_LABEL
#define NUMBER EVAL_NUMBER
#define NAME   EVAL_NAME

void eval_print_number(double value)
{
    if (isnan(value)) printf(" %*s", NUMBER, "-");
    else printf(" %*.4g", NUMBER, value);
}

/* Metrics where smaller is better; chi-square, NEES and innovations should be 1. */
static int has_ratio(int k) { return k < EVAL_CHI_SQUARED; }

/* The end of a metric's unit. */
static const char *unit_end(const eval_request *request, const eval_job *job, int k)
{
    if (k == EVAL_LOSS) return ct_difference_name((ct_difference)request->difference);
    if (k < EVAL_ROUGH_TRANSLATION) return "";
    return job->column[0].summary.smoothness.timed ? "s^2" : "step^2";
}

static void print_metric(const eval_request *request, const eval_job *job, int k)
{
    const int at = LABEL + (job->columns > 1 ? 3 : 1) * (NUMBER + 1) + 2;
    char      unit[128];
    double    value[2][EVAL_COUNT];
    printf("%-*s", LABEL, metric[k].label);
    for (int c = 0; c < job->columns; c++) {
        eval_metrics(&job->column[c].summary, value[c]);
        eval_print_number(value[c][k]);
    }
    if (job->columns > 1 && !has_ratio(k)) printf(" %*s", NUMBER, "");
    else if (job->columns > 1) eval_print_number(job->apart ? NAN : value[0][k] / value[1][k]);
    printf("  ");
    snprintf(unit, sizeof unit, "%s%s", metric[k].unit, unit_end(request, job, k));
    if (cli_result_width() < at + 20) puts(unit); /* the table may be wider than the terminal */
    else cli_wrap(stdout, at, at, cli_result_width(), unit);
}

static void print_count(const eval_job *job, const char *label, int failed)
{
    printf("%-*s", LABEL, label);
    for (int c = 0; c < job->columns; c++)
        printf(" %*d", NUMBER, failed ? job->column[c].summary.failed : job->column[c].summary.averaged);
    printf("%*s  ", job->columns > 1 ? NUMBER + 1 : 0, "");
    if (failed) printf("of %d sequence%s\n", job->count, CLI_S(job->count));
    else printf("sequence%s\n", CLI_S(job->column[0].summary.averaged));
}

/* Which estimates diverged, and the means with them. */
static void print_diverged(const eval_job *job, const eval_column *column)
{
    const ct_summary *s = &column->summary;
    ct_findings       findings = eval_findings(job, column);
    for (int32_t i = 0; i < findings.count; i++) {
        char text[CLI_FINDING_TEXT];
        ct_finding_text(&findings.item[i], text, sizeof text);
        char more[160] = "", nees[48] = "";
        if (!isnan(s->with_diverged.translation))
            snprintf(more, sizeof more, "rmse translation %.4g m, loss %.4g, ", s->with_diverged.translation,
                     s->with_diverged.loss);
        if (!isnan(s->with_diverged.nees)) snprintf(nees, sizeof nees, ", NEES %.4g", s->with_diverged.nees);
        cli_row("note", "%s With them: %schi-square %.4g%s.", text, more, s->with_diverged.chi_squared, nees);
    }
    ct_findings_free(&findings);
}

static void print_summary(const eval_request *request, const eval_job *job)
{
    if (job->columns > 1) printf("%-*s %*s %*s %*s\n", LABEL, "", NUMBER, "noise", NUMBER, "against", NUMBER, "ratio");
    for (int k = 0; k < EVAL_COUNT; k++)
        if (eval_shows(request, job, k)) print_metric(request, job, k);
    print_count(job, "averaged", 0);
    print_count(job, "failed", 1);
    if (job->apart && !job->interrupted)
        cli_row("note", "No sequence has an estimate with both noise files. Each column is over the sequences that "
                        "have one with its own.");
    for (int c = 0; c < job->columns; c++) print_diverged(job, &job->column[c]);
}

/* Of a long name the end, where names differ. Control characters are replaced. */
void eval_print_name(const char *name)
{
    char      text[256];
    const int n = snprintf(text, sizeof text, "%s", name ? name : "?");
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f) *c = '?';
    if (n <= NAME) printf("%-*s", NAME, text);
    else printf("..%-*s", NAME - 2, text + strlen(text) - (NAME - 2));
}

/* A row a sequence; with two noise tables, a block for each. */
static void print_each(const eval_request *request, const eval_job *job)
{
    static const char *const head[EVAL_COUNT] = {
        "rmse m",     "rmse rad",  "ape m",       "loss",       "chi-square",  "nees",
        "innovation", "> 3 sigma", "log density", "2nd diff m", "2nd diff rad"};
    for (int c = 0; c < job->columns; c++) {
        printf("\n%-*s", NAME, job->columns == 1 ? "sequence" : c ? "against" : "noise");
        for (int k = 0; k < EVAL_COUNT; k++)
            if (eval_shows(request, job, k)) printf(" %*s", NUMBER, head[k]);
        printf("  stop\n");
        for (int32_t i = 0; i < job->count; i++) {
            const ct_evaluation *a = &job->column[c].of[i];
            double               value[EVAL_COUNT];
            eval_sequence_metrics(a, value);
            eval_print_name(job->seq[i]->name);
            for (int k = 0; k < EVAL_COUNT; k++)
                if (eval_shows(request, job, k)) eval_print_number(value[k]);
            printf("  %s\n", a->diverged                 ? "diverged"
                             : ct_solve_usable(&a->solve) ? "converged"
                                                          : ct_stop_name(a->solve.stop));
        }
    }
}

static void print_inference(const eval_request *request, const eval_job *job)
{
    char        time[24];
    const char *of = request->start == CT_START_INITIAL ? "the values in the "
                     : request->start == CT_START_TRUTH ? "the "
                                                        : "";
    const char *start = ct_start_name((ct_start)request->start);
    cli_format_time(job->seconds, time);
    int32_t several = 0;
    for (int32_t i = 0; i < job->count; i++) several += job->column[0].of[i].starts > 1;
    char more[64] = "";
    if (several) snprintf(more, sizeof more, ", %d of %d from several starts", several, job->count);
    if (!job->incremental)
        cli_row("inference", "batch, %s, from %s%s%s; %s", ct_method_name((ct_method)request->method), of, start, more,
                time);
    else if (job->entry == CT_ENTRY_PREVIOUS)
        cli_row("inference", "isam2, each pose from the one before; %s", time);
    else
        cli_row("inference", "isam2, %s%s%s; %s",
                job->entry == CT_ENTRY_MOTION ? "each pose from the one before, moved as in " : "from ", of,
                start, time);
}

void eval_print(const eval_request *request, const eval_job *job)
{
    int64_t poses = 0;
    for (int32_t i = 0; i < job->count; i++) poses += job->column[0].of[i].accuracy.poses;
    if (job->with_truth)
        cli_row("dataset", "%s: %d sequence%s (%s), %lld pose%s with truth", request->path, job->count,
                CLI_S(job->count), part_name(request->part), (long long)poses, CLI_S(poses));
    else
        cli_row("dataset", "%s: %d sequence%s (%s) without truth", request->path, job->count, CLI_S(job->count),
                part_name(request->part));
    if (job->with_truth && job->with_truth < job->count)
        cli_row("", "%d of %d sequences have truth; errors are means over these", job->with_truth, job->count);
    cli_row("noise", "%s", request->noise ? request->noise : "the dataset's own");
    if (request->against) cli_row("against", "%s", request->against);
    print_inference(request, job);
    cli_findings_print("warning", &job->findings, CT_TOPIC_DATA, 0, -1);
    putchar('\n');
    print_summary(request, job);
    if (job->innovations && job->columns > 1 && !job->interrupted) eval_print_score(job);
    if (job->innovations) eval_print_models(job);
    if (request->by_name) eval_print_bodies(job);
    if (request->each) print_each(request, job);
}
