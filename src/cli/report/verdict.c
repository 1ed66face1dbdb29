/* verdict.c: the top of the page. Are the learned noise models better than the start and than the reference (the closed
 * form, or the maximum of a likelihood), on sequences that were not learned from?
 *
 * With e_i the error of sequence i under the learned models and f_i under the others, the difference is paired:
 *
 *     d_i = e_i - f_i,   mean d,   standard error sd(d) / sqrt(n).
 *
 * Without truth e_i is minus the mean log density of held-out measurements, and pairs are those of
 * ct_innovation_compare: sequences, or the blocks of one. Better and worse mean that the 95 % interval of the mean
 * difference, by Student's t of n - 1 degrees, does not contain zero. The table has a row for each candidate. */
#include "cli/report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAME  0.0005 /* relative: errors that differ by less have the same digits   */
#define NAMED 6      /* parameters named in a sentence; findings name all            */

typedef enum { NOT_KNOWN, BETTER, WORSE, EQUAL, UNDECIDED } outcome;
static const char *const OUTCOME[] = {"", "better", "worse", "equal", "undecided"};

/* A candidate's mean error, and the learned one's less it. */
typedef struct {
    int32_t n, smaller; /* sequences; those where the learned one's error is smaller */
    double error, difference, standard_error;
} comparison;

enum { START, REFERENCE, LEARNED, CANDIDATES };
typedef enum { POSITION, ROTATION, PREDICTION } quantity;

static const char *name_of(const report_job *job, int candidate)
{
    if (candidate != REFERENCE) return candidate == START ? "start" : "learned";
    /* a name of two words is not broken in a column */
    return learn_reference(job->summary_json) == CT_REFERENCE_CLOSED_FORM ? "closed\u00a0form" : report_reference(job);
}

/* ---- comparing ---- */

static const ct_evaluation *evaluations(const report_job *job, int candidate)
{
    return candidate == START ? job->of[BEFORE] : candidate == LEARNED ? job->of[AFTER] : job->closed;
}

static double error_of(const report_job *job, int candidate, int32_t i, quantity of)
{
    const ct_innovation *n = &evaluations(job, candidate)[i].innovation;
    if (of == PREDICTION) return n->measurements ? -n->log_density / (double)n->measurements : NAN;
    const char *body = job->bodies > 1 && *job->object ? job->object : NULL;
    const ct_accuracy a = report_accuracy_in(&evaluations(job, candidate)[i], body);
    return of == ROTATION ? a.rotation : job->unit.per_m * a.translation;
}

/* The pairs of ct_innovation_compare in place of those of sequences. */
static void compare_predictions(const report_job *job, int candidate, comparison *c)
{
    ct_innovation *side = cli_alloc(2 * (int64_t)job->count, sizeof *side);
    for (int32_t i = 0; i < job->count; i++)
        if (job->use[i]) {
            side[i] = evaluations(job, LEARNED)[i].innovation;
            side[job->count + i] = evaluations(job, candidate)[i].innovation;
        }
    const ct_score_difference d = ct_innovation_compare(job->count, side, side + job->count);
    free(side);
    if (!d.pairs) return;
    c->n = d.pairs;
    c->difference = -d.difference;
    c->standard_error = d.standard_error;
}

static comparison compare(const report_job *job, int candidate, quantity of)
{
    comparison c = {.error = NAN, .difference = NAN, .standard_error = NAN};
    double sum = 0, error = 0, square = 0;
    if (!evaluations(job, candidate)) return c;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < job->count; i++) {
            const double mine = error_of(job, LEARNED, i, of), other = error_of(job, candidate, i, of);
            if (!job->use[i] || !isfinite(mine) || !isfinite(other)) continue;
            const double d = mine - other - (pass ? sum / c.n : 0);
            if (pass)
                square += d * d;
            else
                sum += d, error += other, c.n++, c.smaller += mine < other - SAME * fabs(other);
        }
    if (c.n) c.error = error / c.n, c.difference = sum / c.n;
    if (c.n > 1) c.standard_error = sqrt(square / ((double)c.n * (c.n - 1)));
    if (c.n && of == PREDICTION) compare_predictions(job, candidate, &c);
    return c;
}

/* Student's t of 97.5 %: a table, and beyond it the first terms of its expansion in 1 / degrees, good to 0.002. */
static double student(int32_t degrees)
{
    static const double T[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
    return degrees <= 10 ? T[degrees - 1] : 1.960 + 2.372 / degrees + 2.823 / ((double)degrees * degrees);
}

static outcome decide(const comparison *c)
{
    if (!c->n) return NOT_KNOWN;
    if (fabs(c->difference) <= SAME * fabs(c->error)) return EQUAL;
    if (c->n < 2 || !(fabs(c->difference) > student(c->n - 1) * c->standard_error)) return UNDECIDED;
    return c->difference < 0 ? BETTER : WORSE;
}

/* ---- the table ---- */

static void put_cells(ct_table *t, int candidate, const comparison *c)
{
    ct_table_number(t, c->error);
    if (candidate == LEARNED)
        ct_table_text(t, "%s", "");
    else if (decide(c) == EQUAL)
        ct_table_number(t, 0);
    else if (isnan(c->standard_error))
        ct_table_number(t, c->difference);
    else
        ct_table_deviation(t, c->difference, c->standard_error);
}

/* Columns of the quantities that are known; the first of them decides. */
static void put_columns(ct_table *t, const report_job *job, const int known[3])
{
    if (known[POSITION]) {
        ct_table_column(t, "translation", "error in position", job->unit.name, 4);
        ct_table_column(t, "translation_difference", "learned \u2212 this", job->unit.name, 3);
    }
    if (known[ROTATION]) {
        ct_table_column(t, "rotation", "error in rotation", "rad", 4);
        ct_table_column(t, "rotation_difference", "learned \u2212 this", "rad", 3);
    }
    if (known[PREDICTION]) {
        ct_table_column(t, "prediction", "\u2212 log density", NULL, 4);
        ct_table_column(t, "prediction_difference", "learned \u2212 this", NULL, 3);
    }
}

static void put_table(report_job *job, const int known[3])
{
    ct_table *t = report_table("Candidates on unseen sequences");
    const quantity first = known[POSITION] ? POSITION : known[ROTATION] ? ROTATION : PREDICTION;
    ct_table_column(t, "candidate", "noise models", NULL, 0);
    put_columns(t, job, known);
    ct_table_column(t, "smaller", "learned smaller in", NULL, 0);
    ct_table_column(t, "outcome", "learned is", NULL, 0);
    for (int k = START; k < CANDIDATES; k++) {
        const comparison c = compare(job, k, first);
        if (!c.n) continue;
        ct_table_row(t, 0);
        ct_table_text(t, "%s", name_of(job, k));
        for (int of = POSITION; of <= PREDICTION; of++) {
            const comparison one = known[of] ? compare(job, k, (quantity)of) : c;
            if (known[of]) put_cells(t, k, &one);
        }
        if (k == LEARNED) continue;
        ct_table_text(t, "%d of %d", c.smaller, first == PREDICTION ? job->averaged : c.n);
        ct_table_text(t, "%s", OUTCOME[decide(&c)]);
        ct_table_mark(t, decide(&c) == BETTER ? 1 : decide(&c) == WORSE ? 2 : 0);
    }
    if (first == PREDICTION)
        ct_table_note(t, "No sequence has truth. Measurements that were held out are predicted from the others; the "
                         "mean of their log densities, with its sign changed, is an error.");
    ct_table_note(t,
                  "Errors are %smeans over sequences. Differences are paired, \u00b1 one standard error over "
                  "sequences. Better and worse: the 95 %% interval of the difference%s does not contain zero.",
                  first == PREDICTION ? "" : "rmse, ", first == POSITION ? " in position" : "");
    report_put_table(job, t);
}

/* ---- in words ---- */

/* Names in a sentence: "odom.x, odom.y and 3 more". */
typedef struct {
    char text[1024];
    size_t used;
    int count;
} name_list;

static void add_name(name_list *l, const char *name)
{
    if (l->count++ < NAMED && l->used < sizeof l->text)
        l->used += (size_t)snprintf(l->text + l->used, sizeof l->text - l->used, "%s%s", l->used ? ", " : "", name);
}

static void end_names(name_list *l)
{
    if (l->count > NAMED && l->used < sizeof l->text)
        snprintf(l->text + l->used, sizeof l->text - l->used, " and %d more", l->count - NAMED);
}

/* Is subject k of finding i named by a finding before, or earlier in this one? */
static int is_repeated(const report_job *job, int32_t i, int32_t k)
{
    const char *name = job->findings.item[i].subject[k].name;
    for (int32_t j = 0; j <= i; j++) {
        const ct_finding *f = &job->findings.item[j];
        if (ct_finding_get_info(f->code)->topic != CT_TOPIC_IDENTIFIABILITY) continue;
        for (int32_t l = 0; l < (j == i ? k : f->subjects); l++)
            if (!strcmp(f->subject[l].name, name)) return 1;
    }
    return 0;
}

/* Parameters that findings name as not, or hardly, determined by the data. */
static name_list undetermined(const report_job *job)
{
    name_list list = {0};
    for (int32_t i = 0; i < job->findings.count; i++) {
        const ct_finding *f = &job->findings.item[i];
        if (ct_finding_get_info(f->code)->topic != CT_TOPIC_IDENTIFIABILITY) continue;
        for (int32_t k = 0; k < f->subjects; k++)
            if (f->subject[k].kind == CT_SUBJECT_PARAMETER && !is_repeated(job, i, k))
                add_name(&list, f->subject[k].name);
    }
    end_names(&list);
    return list;
}

static name_list at_bound(const report_job *job)
{
    name_list list = {0};
    for (int32_t i = 0; i < job->rows; i++) {
        char name[300];
        if (job->row[i].at_bound) add_name(&list, report_row_name(job, &job->row[i], name, sizeof name));
    }
    end_names(&list);
    return list;
}

static void put_determined(const report_job *job, char *text, size_t size)
{
    const name_list open = undetermined(job), bound = at_bound(job);
    size_t used = 0;
    if (!job->finished) {
        snprintf(text, size, "The run is not finished: which parameters are determined is not known.");
        return;
    }
    text[0] = 0;
    if (open.count) used += (size_t)snprintf(text, size, "The data hardly determine %s. ", open.text);
    if (bound.count && used < size)
        used += (size_t)snprintf(text + used, size - used, "A bound decided %s, not the data.", bound.text);
    if (!used) snprintf(text, size, "The data determine all learned parameters.");
}

/* Why there are no unseen sequences; NULL: there are. */
static const char *why_none(const report_job *job)
{
    if (!job->dataset) return "The report was made without the dataset.";
    if (job->part == CT_DATASET_TRAIN) return "The dataset has no test sequences.";
    if (cli_is_unsplit(job->path)) return "The test sequences are also the training sequences.";
    return job->averaged ? NULL : "No sequence has an estimate both before and after learning.";
}

/* What decides: positions, or rotations where no position is known, or predictions where nothing is. */
static quantity deciding_quantity(const report_job *job, int candidate)
{
    if (compare(job, candidate, POSITION).n) return POSITION;
    return job->with_truth ? ROTATION : PREDICTION;
}

static comparison deciding(const report_job *job, int candidate)
{
    return compare(job, candidate, deciding_quantity(job, candidate));
}

static const char *const IS[] = {"", "better than", "worse than", "the same as", "not distinguishable from"};

static const char *other_name(const report_job *job, int candidate)
{
    return candidate == START ? "start values" : report_reference(job);
}

/* "In rotation: better than the start values." Where positions decide; "" without rotations. */
static void put_rotation(const report_job *job, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "In rotation:");
    int    any = 0;
    for (int k = START; k <= REFERENCE && used < size; k++) {
        const comparison c = compare(job, k, ROTATION);
        if (!c.n) continue;
        used += (size_t)snprintf(text + used, size - used, "%s %s the %s", any++ ? "," : "", IS[decide(&c)],
                                 other_name(job, k));
    }
    if (used < size) snprintf(text + used, size - used, ". ");
    if (!any || !compare(job, START, POSITION).n) text[0] = 0;
}

ct_verdict report_verdict_headline(const report_job *job, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "Learned noise models:");
    int worse = 0, better = 0;
    if (why_none(job)) {
        snprintf(text, size, "No verdict: there are no unseen sequences to compare on.");
        return CT_VERDICT_OPEN;
    }
    for (int k = START; k <= REFERENCE; k++) {
        const comparison c = deciding(job, k);
        const outcome o = decide(&c);
        worse += o == WORSE;
        better += o == BETTER;
        if (o != NOT_KNOWN && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s %s the %s", k ? "," : "", IS[o], other_name(job, k));
    }
    const int32_t n = job->with_truth ? deciding(job, START).n : job->averaged;
    if (used < size) snprintf(text + used, size - used, ", on %d unseen sequence%s.", n, CLI_S(n));
    return worse ? CT_VERDICT_WORSE : better ? CT_VERDICT_BETTER : CT_VERDICT_OPEN;
}

json_t *report_verdict_json(const report_job *job)
{
    static const char *const KEY[] = {"start", "closed_form"};
    json_t *o = cli_object();
    for (int k = START; k <= REFERENCE && !why_none(job); k++) {
        const comparison c = deciding(job, k);
        static const char *const QUANTITY[] = {"translation", "rotation", "log_density"};
        const quantity of = deciding_quantity(job, k);
        const double unit = of == POSITION ? job->unit.per_m : 1;
        json_t *one = cli_object();
        if (!c.n) {
            json_decref(one);
            continue;
        }
        cli_put(one, "outcome", cli_text(OUTCOME[decide(&c)]));
        cli_put(one, "quantity", cli_text(QUANTITY[of]));
        cli_put(one, "sequences", cli_integer(c.n));
        cli_put(one, "smaller", cli_integer(c.smaller));
        cli_put(one, "difference", cli_number(c.difference / unit));
        cli_put(one, "standard_error", cli_number(c.standard_error / unit));
        cli_put(o, KEY[k], one);
    }
    return o;
}

/* Warnings of the run that qualify a verdict, a sentence each. */
static void put_warnings(const report_job *job, char *text, size_t size)
{
    static const ct_finding_code CODE[] = {CT_FINDING_ONE_RECORDING,    CT_FINDING_GAIN_WITHIN_ERROR,
                                           CT_FINDING_LARGE_ERROR_BARS, CT_FINDING_TOO_MANY_PARAMETERS,
                                           CT_FINDING_MODEL_MISMATCH,   CT_FINDING_SCALE_IS_OFF};
    size_t used = 0;
    text[0] = 0;
    for (size_t k = 0; k < sizeof CODE / sizeof *CODE; k++) {
        const int32_t i = ct_findings_find(&job->findings, CODE[k]);
        char sentence[CLI_FINDING_TEXT];
        if (i < 0 || used >= size) continue;
        ct_finding_text(&job->findings.item[i], sentence, sizeof sentence);
        used += (size_t)snprintf(text + used, size - used, "\n\n%s", sentence);
    }
}

void report_verdict(report_job *job)
{
    char head[512], rotation[256], determined[2400], warnings[4096];
    const char      *why = why_none(job);
    const ct_verdict verdict = report_verdict_headline(job, head, sizeof head);
    ct_page_section(job->page, "verdict", "Verdict");
    put_determined(job, determined, sizeof determined);
    put_warnings(job, warnings, sizeof warnings);
    if (why) {
        ct_page_verdict(job->page, verdict, head, "%s\n\n%s%s", why, determined, warnings);
        return;
    }
    put_rotation(job, rotation, sizeof rotation);
    ct_page_verdict(job->page, verdict, head, "%s%s%s", rotation, determined, warnings);
    const int known[3] = {compare(job, START, POSITION).n > 0, compare(job, START, ROTATION).n > 0, !job->with_truth};
    put_table(job, known);
}
