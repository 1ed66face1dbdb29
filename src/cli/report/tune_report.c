/* tune_report.c: the page about a run of covtune tune: are unseen logs better, what was learned and how certain it is,
 * which runs failed. All numbers are those of tune.json; the estimator is not run. */
#define _POSIX_C_SOURCE 200809L
#include "cli/common/findings.h"
#include "cli/report/tune_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

double tune_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *tune_word(const json_t *object, const char *key)
{
    const char *word = json_string_value(json_object_get(object, key));
    return word ? word : "";
}

static int is_test(const json_t *log) { return json_is_true(json_object_get(log, "test")); }

/* ---- accuracy ---- */

typedef struct {
    int logs;             /* with both figures */
    double before, after; /* root mean square over logs, of losses the mean */
} change;

static change change_of(const tune_page *p, int test, const char *key)
{
    const int mean = !strcmp(key, "loss");
    change c = {0, 0, 0};
    for (size_t i = 0; i < json_array_size(p->logs); i++) {
        const json_t *log = json_array_get(p->logs, i);
        const double a = tune_number(json_object_get(log, "before"), key),
                     b = tune_number(json_object_get(log, "after"), key);
        if (is_test(log) != test || isnan(a) || isnan(b)) continue;
        c.logs++;
        c.before += mean ? a : a * a;
        c.after += mean ? b : b * b;
    }
    c.before = !c.logs ? NAN : mean ? c.before / c.logs : sqrt(c.before / c.logs);
    c.after = !c.logs ? NAN : mean ? c.after / c.logs : sqrt(c.after / c.logs);
    return c;
}

static int count_tests(const tune_page *p)
{
    int n = 0;
    for (size_t i = 0; i < json_array_size(p->logs); i++) n += is_test(json_array_get(p->logs, i));
    return n;
}

static void put_tile(const tune_page *p, const char *label, change c, double unit, const char *name)
{
    char value[64], remark[64], number[32];
    if (!c.logs) return;
    snprintf(value, sizeof value, "%s %s", report_number(unit * c.after, number), name);
    snprintf(remark, sizeof remark, "%s %s before", report_number(unit * c.before, number), name);
    ct_page_tile(p->page, label, value, remark);
}

static void put_accuracy(const tune_page *p)
{
    const double degrees = 180 / acos(-1);
    ct_table *t = report_table("Errors of each log");
    ct_page_section(p->page, "accuracy", "Accuracy before and after");
    ct_page_text(p->page,
                 "Root mean square errors of positions and rotations, at the start values and at the answer. Test "
                 "logs were not learned from.");
    ct_table_column(t, "log", "log", NULL, 0);
    ct_table_column(t, "part", "part", NULL, 0);
    ct_table_column(t, "translation_before", "position before", "m", 4);
    ct_table_column(t, "translation_after", "after", "m", 4);
    ct_table_column(t, "rotation_before", "rotation before", "deg", 4);
    ct_table_column(t, "rotation_after", "after", "deg", 4);
    ct_table_column(t, "loss_ratio", "loss, after / before", NULL, 3);
    ct_table_column(t, "end", "end", NULL, 0);
    for (int test = 1; test >= 0; test--)
        for (size_t i = 0; i < json_array_size(p->logs); i++) {
            const json_t *log = json_array_get(p->logs, i), *a = json_object_get(log, "before"),
                         *b = json_object_get(log, "after");
            if (is_test(log) != test) continue;
            ct_table_row(t, 0);
            ct_table_text(t, "%s", tune_word(log, "name"));
            ct_table_text(t, test ? "test" : "training");
            ct_table_number(t, tune_number(a, "translation"));
            ct_table_number(t, tune_number(b, "translation"));
            ct_table_number(t, degrees * tune_number(a, "rotation"));
            ct_table_number(t, degrees * tune_number(b, "rotation"));
            ct_table_number(t, tune_number(b, "loss") / tune_number(a, "loss"));
            ct_table_text(t, "%s", tune_word(b, "end"));
            if (strcmp(tune_word(b, "end"), "done")) ct_table_mark(t, 2);
        }
    ct_page_table(p->page, t);
    ct_table_free(t);
}

/* Errors of positions of each log as points. */
static void put_accuracy_plot(const tune_page *p)
{
    const size_t all = json_array_size(p->logs);
    const int tests = count_tests(p);
    double *x = cli_alloc(3 * (int64_t)all + 1, sizeof *x), *y[2] = {x + all, x + 2 * all};
    const char **name = cli_alloc((int64_t)all, sizeof *name);
    int64_t n = 0;
    for (size_t i = 0; i < all; i++) {
        const json_t *log = json_array_get(p->logs, i);
        if (tests && !is_test(log)) continue;
        x[n] = (double)n;
        y[0][n] = tune_number(json_object_get(log, "before"), "translation");
        y[1][n] = tune_number(json_object_get(log, "after"), "translation");
        name[n++] = tune_word(log, "name");
    }
    const ct_series series[] = {{"before", CT_ROLE_BEFORE, CT_MARK_POINTS, n, x, y[0], NULL},
                                {"after", CT_ROLE_AFTER, CT_MARK_POINTS, n, x, y[1], NULL}};
    const ct_plot plot = {.id = "errors",
                          .title = tests ? "Errors of positions on test logs" : "Errors of positions on training logs",
                          .y_label = "m",
                          .y_log = report_wants_log(n, y[0], n, y[1]),
                          .x_low = -0.5,
                          .x_high = (double)n - 0.5,
                          .count = 2,
                          .series = series,
                          .x_names = name,
                          .names = (int32_t)n};
    if (n) ct_page_plot(p->page, &plot);
    free(x);
    free(name);
}

/* ---- verdict ---- */

static const json_t *chosen(const tune_page *p)
{
    const json_t *list = json_object_get(p->root, "candidates");
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_is_true(json_object_get(json_array_get(list, i), "chosen"))) return json_array_get(list, i);
    return NULL;
}

/* The loss decides: it is what was asked for. Of relative losses errors of positions may go the other way. */
static void test_logs_text(const tune_page *p, change loss, char *buf, size_t size)
{
    const change position = change_of(p, 1, "translation");
    char metres[80] = "";
    if (position.logs)
        snprintf(metres, sizeof metres, ", errors of positions are %.3f", position.after / position.before);
    if (loss.logs)
        snprintf(buf, size, "On %d test log%s the loss is %.3f of that before%s.", loss.logs, CLI_S(loss.logs),
                 loss.after / loss.before, metres);
    else
        snprintf(buf, size, count_tests(p) ? "No test log has an estimate both before and after."
                                           : "There are no test logs.");
}

static void put_verdict(const tune_page *p)
{
    const json_t *answer = chosen(p);
    const change test = change_of(p, 1, "loss");
    const int finished = json_is_true(json_object_get(p->root, "finished"));
    const int stays = answer && !strcmp(tune_word(answer, "candidate"), "start");
    const double ratio = tune_number(answer, "log_ratio");
    char heldout[200] = "No recording was held out.", tests[200];
    if (stays)
        snprintf(heldout, sizeof heldout, "No answer was better on held-out recordings than the start values.");
    else if (answer)
        snprintf(heldout, sizeof heldout, "The loss of held-out recordings is %s%.3f of that at the start values.",
                 ratio <= -log(10) * (1 - 1e-9) ? "below " : "", exp(ratio));
    test_logs_text(p, test, tests, sizeof tests);
    const char *unfinished = finished ? "" : " The run was interrupted; this is the best so far.";
    if (stays)
        ct_page_verdict(p->page, CT_VERDICT_OPEN, "The start values stay", "%s %s%s", heldout, tests, unfinished);
    else if (test.logs && test.after > test.before)
        ct_page_verdict(p->page, CT_VERDICT_WORSE, "Unseen logs are worse", "%s %s%s", tests, heldout, unfinished);
    else if (test.logs && answer)
        ct_page_verdict(p->page, CT_VERDICT_BETTER, "Unseen logs are better", "%s %s%s", tests, heldout, unfinished);
    else if (answer && ratio < 0)
        ct_page_verdict(p->page, CT_VERDICT_BETTER, "Held-out recordings are better", "%s %s%s", heldout, tests,
                        unfinished);
    else
        ct_page_verdict(p->page, CT_VERDICT_OPEN, "Not compared with unseen recordings", "%s %s%s", heldout, tests,
                        unfinished);
}

/* Findings that differ in their subjects alone are one. Those that another version found are as it wrote them. */
static void put_findings(const tune_page *p)
{
    const json_t *list = json_object_get(p->root, "findings");
    ct_findings all = {0};
    cli_findings_read(list, &all);
    ct_findings joined = cli_findings_join(&all);
    for (int32_t i = 0; i < joined.count; i++) {
        char text[CLI_FINDING_TEXT];
        ct_finding_text(&joined.item[i], text, sizeof text);
        ct_page_warn(p->page, "%s", text);
    }
    for (size_t i = 0; i < json_array_size(list); i++)
        if (ct_finding_code_find(tune_word(json_array_get(list, i), "code")) < 0)
            ct_page_warn(p->page, "%s", tune_word(json_array_get(list, i), "text"));
    ct_findings_free(&joined);
    ct_findings_free(&all);
}

static void put_top(const tune_page *p)
{
    const json_t *runs = json_object_get(p->root, "runs"), *failed = json_object_get(runs, "failed");
    const int tests = count_tests(p) > 0;
    const char *key;
    json_t *value;
    char text[64], remark[64];
    double failures = 0;
    json_object_foreach((json_t *)failed, key, value) failures += json_number_value(value);
    put_verdict(p);
    put_tile(p, tests ? "test position" : "training position", change_of(p, tests, "translation"), 1, "m");
    put_tile(p, tests ? "test rotation" : "training rotation", change_of(p, tests, "rotation"), 180 / acos(-1), "deg");
    snprintf(text, sizeof text, "%.0f", tune_number(runs, "runs"));
    snprintf(remark, sizeof remark, "at %.0f points, %.0f failed", tune_number(runs, "points"), failures);
    ct_page_tile(p->page, "runs of the estimator", text, remark);
    put_findings(p);
}

/* ---- parameters ---- */

static void put_remark(ct_table *t, const json_t *o)
{
    const char *bound = tune_word(o, "at_bound"), *tied = tune_word(o, "same_as");
    if (*tied)
        ct_table_text(t, "%g times %s", tune_number(o, "times"), tied);
    else if (*bound)
        ct_table_text(t, "at its %s bound", bound), ct_table_mark(t, 2);
    else if (isnan(tune_number(o, "standard_error")))
        ct_table_text(t, json_is_true(json_object_get(o, "undetermined")) ? "not determined" : "no standard error"),
            ct_table_mark(t, 2);
    else
        ct_table_text(t, "%s", "");
}

/* Where the numbers are ready to use. */
static void put_files(const tune_page *p)
{
    char *best = cli_path_join(p->run, "best");
    if (access(best, F_OK) == 0)
        ct_page_text(p->page, "Your files with the learned numbers are in %s. Standard errors are percentages of the "
                              "number; of a linear scale they have its unit.", best);
    free(best);
}

static void put_parameter_table(const tune_page *p)
{
    ct_table *t = report_table("Learned parameters");
    ct_table_column(t, "parameter", "parameter", NULL, 0);
    ct_table_column(t, "is", "is", NULL, 0);
    ct_table_column(t, "start", "start", NULL, 5);
    ct_table_column(t, "learned", "learned", NULL, 5);
    ct_table_column(t, "error", "standard error", NULL, 0);
    ct_table_column(t, "lower", "lower bound", NULL, 4);
    ct_table_column(t, "upper", "upper bound", NULL, 4);
    ct_table_column(t, "remark", "remark", NULL, 0);
    for (size_t i = 0; i < json_array_size(p->parameters); i++) {
        const json_t *o = json_array_get(p->parameters, i);
        const double error = tune_number(o, "standard_error");
        ct_table_row(t, 0);
        ct_table_text(t, "%s", tune_word(o, "name"));
        ct_table_text(t, "%s", tune_word(o, "is"));
        ct_table_number(t, tune_number(o, "start"));
        ct_table_number(t, tune_number(o, "value"));
        if (isnan(error))
            ct_table_text(t, "-");
        else if (!strcmp(tune_word(o, "scale"), "log"))
            ct_table_text(t, "%.3g %%", 100 * expm1(error));
        else
            ct_table_text(t, "%.3g", error);
        ct_table_number(t, tune_number(o, "lower"));
        ct_table_number(t, tune_number(o, "upper"));
        put_remark(t, o);
    }
    ct_page_table(p->page, t);
    ct_table_free(t);
}

/* How far each parameter went, in decades, with its standard error. Those that are not logarithms are left out. */
static void put_parameter_plot(const tune_page *p)
{
    const size_t all = json_array_size(p->parameters);
    double *x = cli_alloc(3 * (int64_t)all + 1, sizeof *x), *y = x + all, *spread = x + 2 * all;
    const char **name = cli_alloc((int64_t)all, sizeof *name);
    int64_t n = 0;
    for (size_t i = 0; i < all; i++) {
        const json_t *o = json_array_get(p->parameters, i);
        if (strcmp(tune_word(o, "scale"), "log")) continue;
        const double decades = log10(tune_number(o, "value") / tune_number(o, "start"));
        x[n] = (double)n;
        y[n] = decades;
        spread[n] = tune_number(o, "standard_error") / log(10);
        name[n++] = tune_word(o, "name");
    }
    const double ends[2] = {-0.5, (double)n - 0.5}, zero[2] = {0, 0};
    const ct_series series[] = {{"start", CT_ROLE_BEFORE, CT_MARK_LINE, 2, ends, zero, NULL},
                                {"learned, with standard error", CT_ROLE_AFTER, CT_MARK_POINTS, n, x, y, spread}};
    const ct_plot plot = {.id = "parameters-plot",
                          .title = "Learned over start",
                          .text = "Where a bar reaches the line, the logs do not tell the learned value from the "
                                  "start. A point without a bar has no standard error.",
                          .y_label = "decades (factors of ten)",
                          .x_low = ends[0],
                          .x_high = ends[1],
                          .count = 2,
                          .series = series,
                          .x_names = name,
                          .names = (int32_t)n};
    if (n) ct_page_plot(p->page, &plot);
    free(x);
    free(name);
}

static void put_candidates(const tune_page *p)
{
    const json_t *list = json_object_get(p->root, "candidates");
    if (!json_array_size(list)) return;
    ct_table *t = report_table("Candidates on held-out recordings");
    ct_page_section(p->page, "heldout", "Held-out recordings");
    ct_page_text(p->page,
                 "Each fold is learned from the other recordings and compared on its own. Ratios are to the start "
                 "values. The strongest prior that does as well as the best is chosen; the start values stay "
                 "unless they are beaten.");
    ct_table_column(t, "candidate", "candidate", NULL, 0);
    ct_table_column(t, "loss_ratio", "loss ratio", NULL, 3);
    ct_table_column(t, "translation_ratio", "positions", NULL, 3);
    ct_table_column(t, "rotation_ratio", "rotations", NULL, 3);
    ct_table_column(t, "failed", "failed logs", NULL, 3);
    ct_table_column(t, "verdict", "verdict", NULL, 0);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);
        const double ratio = exp(tune_number(o, "log_ratio"));
        const int verdict = ct_choice_find(tune_word(o, "verdict"));
        ct_table_row(t, 0);
        if (isnan(tune_number(o, "prior")))
            ct_table_text(t, "start values");
        else
            ct_table_text(t, "prior %g", tune_number(o, "prior"));
        if (fabs(log(ratio)) >= log(10) * (1 - 1e-9)) /* clipped */
            ct_table_text(t, ratio < 1 ? "< 0.1" : "> 10");
        else
            ct_table_deviation(t, ratio, ratio * tune_number(o, "log_ratio_error"));
        const int failed = tune_number(o, "failed") > 0 && ratio > 10 * (1 - 1e-9); /* no ratio of accuracies */
        ct_table_number(t, failed ? NAN : tune_number(o, "translation_ratio"));
        ct_table_number(t, failed ? NAN : tune_number(o, "rotation_ratio"));
        ct_table_number(t, tune_number(o, "failed"));
        ct_table_text(t, "%s", verdict < 0 ? "" : ct_choice_meaning((ct_choice)verdict));
        if (json_is_true(json_object_get(o, "chosen"))) ct_table_mark(t, 1);
    }
    ct_page_table(p->page, t);
    ct_table_free(t);
}

/* ---- failures ---- */

/* Where runs fail: the values of failed runs against those of others. */
static void put_failed_values(const tune_page *p)
{
    if (!p->range) return;
    ct_table *t = report_table("Parameter values of runs that failed and of runs that did not");
    ct_table_column(t, "parameter", "parameter", NULL, 0);
    ct_table_column(t, "failed_low", "failed: least", NULL, 5);
    ct_table_column(t, "failed_high", "largest", NULL, 5);
    ct_table_column(t, "done_low", "others: least", NULL, 5);
    ct_table_column(t, "done_high", "largest", NULL, 5);
    for (size_t i = 0; i < json_array_size(p->parameters); i++) {
        ct_table_row(t, 0);
        ct_table_text(t, "%s", tune_word(json_array_get(p->parameters, i), "name"));
        for (size_t k = 4 * i; k < 4 * i + 4; k++) ct_table_number(t, isfinite(p->range[k]) ? p->range[k] : NAN);
    }
    ct_page_table(p->page, t);
    ct_table_free(t);
}

static void put_failures(const tune_page *p)
{
    const json_t *list = json_object_get(p->root, "failures");
    ct_page_section(p->page, "failures", "Failures");
    if (!json_array_size(list)) {
        ct_page_text(p->page, "No run failed.");
        return;
    }
    put_failed_values(p);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *o = json_array_get(list, i);
        const double count = tune_number(o, "count");
        ct_page_heading(p->page, tune_word(o, "end"));
        ct_page_text(p->page, "%.0f run%s. The last one was of the log %s, exit code %.0f.", count,
                     count == 1 ? "" : "s", tune_word(o, "log"), tune_number(o, "code"));
        ct_page_code(p->page, tune_word(o, "message"));
    }
}

/* ---- the run ---- */

static cli_exit read_run(const cli_io *io, const report_request *request, tune_page *p)
{
    json_error_t why = {0};
    char *json = cli_path_join(request->run, "tune.json"), *history = cli_path_join(request->run, "history.csv");
    char *positions = cli_path_join(request->run, "trajectories.json");
    cli_exit code = CLI_GO;
    p->run = request->run;
    p->out = request->out ? cli_check_alloc(strdup(request->out)) : cli_path_join(request->run, "report.html");
    p->root = cli_load_json(json, &why);
    char *quoted = cli_shell_quote(request->run);
    if (!p->root)
        code = cli_fail(io, "%s: %s; the run has no result yet: covtune tune TUNE --out %s --resume continues it", json,
                        why.text, quoted);
    free(quoted);
    p->parameters = json_object_get(p->root, "parameters");
    p->logs = json_object_get(p->root, "logs");
    if (code == CLI_GO && (!json_is_array(p->parameters) || !json_is_array(p->logs)))
        code = cli_fail(io, "%s: is no result of covtune tune", json);
    if (code == CLI_GO) {
        p->trajectories = cli_load_json(positions, NULL);
        tune_read_history(p, history);
    }
    free(json);
    free(history);
    free(positions);
    return code;
}

static ct_status write_page(tune_page *p, ct_err *err)
{
    char title[400], subtitle[200];
    snprintf(title, sizeof title, "Parameters of %.200s, learned by %s", tune_word(p->root, "file"),
             tune_word(p->root, "method"));
    snprintf(subtitle, sizeof subtitle, "covtune %.60s", tune_word(p->root, "covtune"));
    const ct_status status = ct_page_new(title, subtitle, &p->page, err);
    if (status != CT_OK) return status;
    put_top(p);
    ct_page_section(p->page, "parameters", "Parameters");
    put_files(p);
    put_parameter_table(p);
    put_parameter_plot(p);
    put_accuracy(p);
    put_accuracy_plot(p);
    tune_put_trajectories(p);
    tune_put_sensitivities(p);
    put_candidates(p);
    tune_put_history(p);
    put_failures(p);
    return ct_page_write(p->page, p->out, err);
}

static void print(const cli_io *io, const tune_page *p)
{
    const int test = count_tests(p) > 0;
    const change c = change_of(p, test, "translation"), a = change_of(p, test, "rotation");
    if (io->json) {
        json_t *o = cli_object();
        cli_put(o, "report", cli_text(p->out));
        cli_put(o, "run", cli_text(p->run));
        cli_put(o, "finished", cli_check_alloc(json_boolean(json_is_true(json_object_get(p->root, "finished")))));
        cli_put(o, "part", cli_text(test ? "test" : "train"));
        cli_put(o, "logs", cli_integer(c.logs));
        cli_put(o, "translation", cli_numbers(2, (const double[]){c.before, c.after}));
        cli_put(o, "rotation", cli_numbers(2, (const double[]){a.before, a.after}));
        cli_print_json(o);
        return;
    }
    if (io->quiet || cli_is_stdout(p->out)) return;
    cli_row("run", "%s: %s, %d parameter%s", p->run, tune_word(p->root, "method"), (int)json_array_size(p->parameters),
            CLI_S(json_array_size(p->parameters)));
    if (c.logs)
        cli_row(test ? "test logs" : "training", "%.4g -> %.4g m, root mean square over %d log%s", c.before, c.after,
                c.logs, CLI_S(c.logs));
    cli_row("written", "%s", p->out);
}

cli_exit report_tune(const cli_io *io, const report_request *request, int argc, char **argv)
{
    static const char *const OF_LEARN[] = {"dataset", "sequences", "solver", "align", "truth-sigma", "jobs", "repair"};
    tune_page p = {0};
    ct_err err = {0};
    for (size_t i = 0; i < sizeof OF_LEARN / sizeof *OF_LEARN; i++)
        if (cli_option_given(argc, argv, OF_LEARN[i]))
            return cli_misuse(io, "--%s is for runs of learn; %s is one of tune", OF_LEARN[i], request->run);
    cli_exit code = read_run(io, request, &p);
    if (code == CLI_GO && cli_check_output(p.out, &err) != CT_OK) code = cli_fail(io, "%s", err.text);
    if (code == CLI_GO && !cli_is_stdout(p.out) && !cli_replaceable_page(p.out))
        code = cli_fail(io, "%s: is there already, and is no page that covtune wrote; choose another --out", p.out);
    if (code == CLI_GO && write_page(&p, &err) != CT_OK) code = cli_fail(io, "%s", err.text);
    if (code == CLI_GO) {
        print(io, &p);
        code = CLI_DONE;
    }
    ct_page_free(p.page);
    json_decref(p.root);
    json_decref(p.trajectories);
    free(p.line);
    free(p.range);
    free(p.out);
    return code;
}
