/* print.c: the result of a comparison, as a table or as one object. */
#include "studies/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const compare_row *oracle_row(const compare_job *job)
{
    for (int i = 0; i < job->rows; i++)
        if (!strcmp(job->row[i].method, "oracle")) return &job->row[i];
    return NULL;
}

/* NaN where there is no oracle, or the row has no numbers. */
static void ratios(const compare_job *job, const compare_row *row, double ratio[2])
{
    const compare_row *oracle = oracle_row(job);
    ratio[0] = oracle ? row->cell.test.accuracy.translation / oracle->cell.test.accuracy.translation : NAN;
    ratio[1] = oracle ? row->cell.test.accuracy.rotation / oracle->cell.test.accuracy.rotation : NAN;
}

/* ---- the table ---- */

/* Of test sequences that have truth. */
static void error_columns(ct_table *t, const compare_job *job)
{
    ct_table_column(t, "translation", "translation", "m", 4);
    ct_table_column(t, "rotation", "rotation", "rad", 4);
    for (int k = 0; k < job->bodies; k++) {
        const char *name = job->body[k].name;
        char        key[CT_BODY_NAME_MAX + 16], heading[CT_BODY_NAME_MAX + 16];
        snprintf(key, sizeof key, "%s_translation", name);
        snprintf(heading, sizeof heading, "%s translation", name);
        ct_table_column(t, key, heading, "m", 4);
        snprintf(key, sizeof key, "%s_rotation", name);
        snprintf(heading, sizeof heading, "%s rotation", name);
        ct_table_column(t, key, heading, "rad", 4);
    }
    if (job->oracle) {
        ct_table_column(t, "translation_over_oracle", "translation / oracle", NULL, 4);
        ct_table_column(t, "rotation_over_oracle", "rotation / oracle", NULL, 4);
    }
    ct_table_column(t, "test_loss", "test loss", NULL, 4);
    ct_table_column(t, "train_loss", "training loss", NULL, 4);
    ct_table_column(t, "nees", "NEES", NULL, 3);
}

/* Of test sequences that have none. The metrics of eval. */
static const struct {
    int         metric;
    const char *key, *heading;
} BLIND[] = {{EVAL_LOG_DENSITY, "log_density", "log density"},
             {EVAL_INNOVATION, "innovation", "innovation"},
             {EVAL_CHI_SQUARED, "chi_squared_per_degree", "chi-square"},
             {EVAL_ROUGH_TRANSLATION, "second_difference_translation", "second diff. m"},
             {EVAL_ROUGH_ROTATION, "second_difference_rotation", "second diff. rad"}};
#define BLINDS ((int)(sizeof BLIND / sizeof *BLIND))

static void columns(ct_table *t, const compare_job *job, int data)
{
    ct_table_column(t, "method", "method", NULL, 0);
    ct_table_column(t, "bounds", "bounds", NULL, 0);
    if (!job->blind) error_columns(t, job);
    for (int k = 0; job->blind && k < BLINDS; k++) ct_table_column(t, BLIND[k].key, BLIND[k].heading, NULL, 4);
    ct_table_column(t, "spread", "spread", NULL, 3);
    ct_table_column(t, "condition", "condition", NULL, 3);
    ct_table_column(t, "condition_scaled", "condition, scaled", NULL, 3);
    ct_table_column(t, "solves", "inner solves", NULL, 6);
    ct_table_column(t, "evaluations", "evaluations", NULL, 6);
    ct_table_column(t, "seconds", "time", "s", 3);
    ct_table_column(t, "stop", "stop", NULL, 0);
    ct_table_column(t, "failed", "failed", NULL, 6);
    if (data) ct_table_column(t, "reason", "reason", NULL, 0);
}

static void put_errors(ct_table *t, const compare_job *job, int i)
{
    const compare_row *row = &job->row[i];
    const int          none = *row->reason != 0;
    double             ratio[2];
    ratios(job, row, ratio);
    ct_table_number(t, none ? NAN : row->cell.test.accuracy.translation);
    ct_table_mark(t, compare_is_best(job, i, 0));
    ct_table_number(t, none ? NAN : row->cell.test.accuracy.rotation);
    ct_table_mark(t, compare_is_best(job, i, 1));
    for (int k = 0; k < job->bodies; k++) {
        const ct_accuracy of = ct_summary_body(&row->cell.test, job->body[k].name);
        ct_table_number(t, none ? NAN : of.translation);
        ct_table_number(t, none ? NAN : of.rotation);
    }
    for (int k = 0; k < 2 && job->oracle; k++) ct_table_number(t, none ? NAN : ratio[k]);
    const double number[] = {row->cell.test.loss, row->cell.train.loss, row->cell.test.nees};
    for (size_t k = 0; k < sizeof number / sizeof *number; k++) ct_table_number(t, none ? NAN : number[k]);
}

/* The metrics of BLIND; NaN without numbers. */
static void predictions(const compare_row *row, double value[BLINDS])
{
    double metric[EVAL_COUNT];
    eval_metrics(&row->cell.test, metric);
    for (int k = 0; k < BLINDS; k++) value[k] = *row->reason ? NAN : metric[BLIND[k].metric];
}

static void put_predictions(ct_table *t, const compare_job *job, int i)
{
    double value[BLINDS];
    predictions(&job->row[i], value);
    for (int k = 0; k < BLINDS; k++) {
        ct_table_number(t, value[k]);
        if (BLIND[k].metric == EVAL_LOG_DENSITY) ct_table_mark(t, compare_is_best(job, i, 2));
    }
}

static void put_row(ct_table *t, const compare_job *job, int i, int data)
{
    const compare_row *row = &job->row[i];
    const int          none = *row->reason != 0;
    ct_table_row(t, i == 0 || row->group != job->row[i - 1].group);
    ct_table_text(t, "%s", row->method);
    ct_table_text(t, "%s", row->bounds);
    if (job->blind) put_predictions(t, job, i);
    else put_errors(t, job, i);
    const double number[] = {row->cell.spread, row->cell.test.condition, row->cell.test.condition_scaled};
    for (size_t k = 0; k < sizeof number / sizeof *number; k++) ct_table_number(t, none ? NAN : number[k]);
    ct_table_number(t, row->cell.solves < 0 ? NAN : (double)row->cell.solves);
    ct_table_number(t, row->cell.evaluations < 0 ? NAN : (double)row->cell.evaluations);
    ct_table_number(t, row->cell.seconds);
    ct_table_text(t, "%s", row->cell.solves >= 0 ? ct_learn_stop_name(row->cell.stop) : none && !data ? "cannot" : "");
    if (none) ct_table_mark(t, 2);
    ct_table_number(t, none ? NAN : (double)row->cell.test.failed);
    if (!none && row->cell.test.failed) ct_table_mark(t, 2);
    if (data) ct_table_text(t, "%s", row->reason);
}

/* What the columns are, and how lm starts. */
static void note_columns(ct_table *t, const compare_job *job)
{
    if (job->blind)
        ct_table_note(t, "No sequence has truth. A tenth of the absolute measurements is held out and predicted from "
                         "the rest: log density, higher is better; innovation and chi-square are 1 if noise models are "
                         "right. second diff.: rms of the estimate's second differences. Errors that last do not show "
                         "here.");
    if (job->untold) return;
    ct_table_note(t,
                  "lm, the default of covtune learn, starts from second moments of residuals at the truth; %s. Other "
                  "methods start from the table's values.",
                  job->dataset->trains > 1 ? "a prior towards them is chosen by cross-validation"
                                           : "its answer is these or the start values, as one sequence has no folds");
}

static void notes(ct_table *t, const compare_request *request, const compare_job *job)
{
    const char *part = job->seen ? "training" : "test";
    ct_table_note(t, "Means over %d %s sequence%s, estimated %s; loss %s.", job->tests, part, CLI_S(job->tests),
                  job->options.test.inference.incremental ? "incrementally (isam2)" : "in batch",
                  ct_difference_name((ct_difference)request->difference));
    if (job->seen)
        ct_table_note(t, "There are no test sequences. The evaluation is on the training sequences, and too good.");
    note_columns(t, job);
    ct_table_note(t, "spread: largest over smallest learned variance. condition: of the whitened system at the "
                     "estimates, without and with column scaling, the median over sequences.");
    for (int i = 0; i < job->rows; i++)
        if (*job->row[i].reason) ct_table_note(t, "%s bounds: %s.", job->row[i].bounds, job->row[i].reason);
    for (const char *line = job->failures; *line;
         line += line[strcspn(line, "\n")] ? strcspn(line, "\n") + 1 : strlen(line))
        ct_table_note(t, "%.*s", (int)strcspn(line, "\n"), line);
    if (job->interrupted) ct_table_note(t, "Interrupted: methods that were not finished are left out.");
}

ct_status compare_table(const compare_request *request, const compare_job *job, ct_table_format format, ct_table **out,
                        ct_err *err)
{
    char      title[512];
    const int data = format == CT_TABLE_CSV || format == CT_TABLE_JSON; /* without notes */
    snprintf(title, sizeof title, "%s: methods compared", request->path);
    const ct_status status = ct_table_new(title, out, err);
    if (status != CT_OK) return status;
    columns(*out, job, data);
    for (int i = 0; i < job->rows; i++) put_row(*out, job, i, data);
    notes(*out, request, job);
    return CT_OK;
}

/* ---- JSON ---- */

static json_t *row_json(const compare_job *job, int i)
{
    const compare_row *row = &job->row[i];
    const int          none = *row->reason != 0;
    json_t            *o = cli_object();
    double             ratio[2];
    ratios(job, row, ratio);
    cli_put(o, "method", cli_text(row->method));
    cli_put(o, "bounds", cli_text(*row->bounds ? row->bounds : NULL));
    const ct_accuracy rmse =
        none ? (ct_accuracy){.translation = NAN, .rotation = NAN, .ape_translation = NAN} : row->cell.test.accuracy;
    cli_put(o, "rmse", cli_rmse_json(rmse));
    if (job->bodies)
        cli_put(o, "by_name", none ? json_null() : eval_bodies_json(row->cell.test.bodies, row->cell.test.body));
    cli_put(o, "over_oracle",
            cli_rmse_json((ct_accuracy){.translation = none ? NAN : ratio[0], .rotation = none ? NAN : ratio[1]}));
    cli_put(o, "test_loss", cli_number(none ? NAN : row->cell.test.loss));
    cli_put(o, "train_loss", cli_number(none ? NAN : row->cell.train.loss));
    cli_put(o, "nees", cli_number(none ? NAN : row->cell.test.nees));
    double value[BLINDS];
    predictions(row, value);
    for (int k = 0; job->blind && k < BLINDS; k++) cli_put(o, BLIND[k].key, cli_number(value[k]));
    cli_put(o, "spread", cli_number(row->cell.spread));
    cli_put(o, "condition", cli_number(none ? NAN : row->cell.test.condition));
    cli_put(o, "condition_scaled", cli_number(none ? NAN : row->cell.test.condition_scaled));
    cli_put(o, "inner_solves", row->cell.solves < 0 ? json_null() : cli_integer(row->cell.solves));
    cli_put(o, "evaluations", row->cell.evaluations < 0 ? json_null() : cli_integer(row->cell.evaluations));
    cli_put(o, "seconds", cli_number(row->cell.seconds));
    cli_put(o, "stop", cli_text(row->cell.solves >= 0 ? ct_learn_stop_name(row->cell.stop) : NULL));
    cli_put(o, "failed", none ? json_null() : cli_integer(row->cell.test.failed));
    cli_put(o, "best_translation", cli_check_alloc(json_boolean(compare_is_best(job, i, 0))));
    cli_put(o, "best_rotation", cli_check_alloc(json_boolean(compare_is_best(job, i, 1))));
    if (job->blind) cli_put(o, "best_log_density", cli_check_alloc(json_boolean(compare_is_best(job, i, 2))));
    cli_put(o, "reason", cli_text(none ? row->reason : NULL));
    return o;
}

static json_t *object(const compare_request *request, const compare_job *job)
{
    json_t *o = cli_object(), *rows = cli_array();
    for (int i = 0; i < job->rows; i++) cli_append(rows, row_json(job, i));
    cli_put(o, "dataset", cli_text(request->path));
    cli_put(o, "part", cli_text(job->seen ? "train" : "test"));
    cli_put(o, "sequences", cli_integer(job->tests));
    cli_put(o, "runs", cli_integer(job->tests)); /* the key before 0.2 */
    cli_put(o, "oracle", cli_text(job->oracle_path));
    cli_put(o, "solver", cli_text(cli_solvers[job->options.test.inference.incremental]));
    cli_put(o, "difference", cli_text(ct_difference_name((ct_difference)request->difference)));
    cli_put(o, "seed", cli_integer((int64_t)request->seed));
    cli_put(o, "interrupted", cli_check_alloc(json_boolean(job->interrupted)));
    cli_put(o, "seconds", cli_number(job->seconds));
    cli_put(o, "rows", rows);
    return o;
}

void compare_print_json(const compare_request *request, const compare_job *job)
{
    cli_print_json(object(request, job));
}

ct_status compare_write_json(const compare_request *request, const compare_job *job, ct_err *err)
{
    if (cli_is_stdout(request->out)) {
        compare_print_json(request, job);
        return CT_OK;
    }
    json_t         *o = object(request, job);
    char           *text = cli_check_alloc(json_dumps(o, JSON_INDENT(1) | JSON_REAL_PRECISION(17)));
    const ct_status status = ct_file_replace(request->out, text, strlen(text), err);
    free(text);
    json_decref(o);
    return status;
}
