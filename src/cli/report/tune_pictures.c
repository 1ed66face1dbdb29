/* tune_pictures.c: pictures of a run of tune: trajectories of test logs, which parameter matters where, and the loss
 * over the points that were tried. */
#define _POSIX_C_SOURCE 200809L
#include "cli/report/tune_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOGS_MOST 12 /* drawn: a page is to be read */

/* ---- trajectories ---- */

/* Numbers of an array; *n is their count. The caller frees them. */
static double *numbers(const json_t *list, int64_t *n)
{
    const size_t all = json_array_size(list);
    double *v = cli_alloc((int64_t)all + 1, sizeof *v);
    for (size_t i = 0; i < all; i++) {
        const json_t *value = json_array_get(list, i);
        v[i] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    *n = (int64_t)all;
    return v;
}

static void put_map(const tune_page *p, const json_t *log, int32_t number)
{
    static const char *const KEY[] = {"truth", "before", "after"};
    static const ct_role ROLE[] = {CT_ROLE_TRUTH, CT_ROLE_BEFORE, CT_ROLE_AFTER};
    ct_series series[3];
    double *x[3], *y[3];
    char id[32];
    int32_t count = 0;
    for (int k = 0; k < 3; k++) {
        const json_t *o = json_object_get(log, KEY[k]);
        int64_t n, m;
        x[k] = numbers(json_object_get(o, "x"), &n);
        y[k] = numbers(json_object_get(o, "y"), &m);
        if (n && n == m) series[count++] = (ct_series){KEY[k], ROLE[k], CT_MARK_LINE, n, x[k], y[k], NULL};
    }
    snprintf(id, sizeof id, "map-%d", number);
    const ct_plot plot = {.id = id,
                          .title = tune_word(log, "log"),
                          .x_label = "x, m",
                          .y_label = "y, m",
                          .equal = 1,
                          .zoom = 1,
                          .count = count,
                          .series = series};
    if (count) ct_page_plot(p->page, &plot);
    for (int k = 0; k < 3; k++) free(x[k]), free(y[k]);
}

void tune_put_trajectories(const tune_page *p)
{
    const size_t all = json_array_size(p->trajectories);
    if (!all) return;
    ct_page_section(p->page, "trajectories", "Trajectories");
    ct_page_text(p->page, "The truth, the estimate at the start values and at the answer, from above, aligned as the "
                          "comparison is.");
    if (all > LOGS_MOST) ct_page_text(p->page, "The first %d of %zu logs.", LOGS_MOST, all);
    for (size_t i = 0; i < all && i < LOGS_MOST; i++) put_map(p, json_array_get(p->trajectories, i), (int32_t)i);
}

/* ---- sensitivities ---- */

static double sensitivity(const json_t *log, size_t part, size_t parameter)
{
    const json_t *v = json_array_get(json_array_get(json_object_get(log, "sensitivity"), part), parameter);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

static double largest(const tune_page *p)
{
    double most = 0;
    for (size_t i = 0; i < json_array_size(p->logs); i++) {
        const json_t *log = json_array_get(p->logs, i);
        for (size_t k = 0; k < json_array_size(json_object_get(log, "sensitivity")); k++)
            for (size_t j = 0; j < json_array_size(p->parameters); j++) most = fmax(most, sensitivity(log, k, j));
    }
    return most;
}

/* Parameters from left to right, the log from its beginning upwards. Colours are decades below the largest of all. What
 * has no effect has no colour. */
static void put_heat(const tune_page *p, const json_t *log, int32_t number, double most)
{
    const size_t parts = json_array_size(json_object_get(log, "sensitivity")), m = json_array_size(p->parameters);
    double *x = cli_alloc(3 * (int64_t)(parts * m) + 1, sizeof *x), *y = x + parts * m, *value = y + parts * m;
    const char **name = cli_alloc((int64_t)m, sizeof *name);
    int64_t n = 0;
    char id[32];
    for (size_t j = 0; j < m; j++) {
        name[j] = tune_word(json_array_get(p->parameters, j), "name");
        for (size_t k = 0; k < parts; k++) {
            if (!(sensitivity(log, k, j) > 0)) continue;
            x[n] = (double)j;
            y[n] = (double)k + 1;
            value[n++] = fmax(log10(sensitivity(log, k, j) / most), -2);
        }
    }
    snprintf(id, sizeof id, "heat-%d", number);
    const ct_series series = {
        "a hundredth of the largest change, to the largest", CT_ROLE_AFTER, CT_MARK_CELLS, n, x, y, value};
    const ct_plot plot = {.id = id,
                          .title = tune_word(log, "name"),
                          .y_label = "part of the log",
                          .small = 1,
                          .height = 0.8,
                          .x_low = -0.5,
                          .x_high = (double)m - 0.5,
                          .y_low = 0.5,
                          .y_high = (double)parts + 0.5,
                          .value_low = -2,
                          .value_high = 0,
                          .count = 1,
                          .series = &series,
                          .x_names = name,
                          .names = (int32_t)m};
    ct_page_plot(p->page, &plot);
    free(x);
    free(name);
}

/* Root mean square over all logs, for each parameter. */
static void put_heat_table(const tune_page *p)
{
    ct_table *t =
        report_table("Change of residuals for a parameter times 2.7, root mean square over training logs");
    ct_table_column(t, "parameter", "parameter", NULL, 0);
    ct_table_column(t, "sensitivity", "sensitivity", NULL, 3);
    for (size_t j = 0; j < json_array_size(p->parameters); j++) {
        double sum = 0;
        int count = 0;
        for (size_t i = 0; i < json_array_size(p->logs); i++) {
            const json_t *log = json_array_get(p->logs, i);
            for (size_t k = 0; k < json_array_size(json_object_get(log, "sensitivity")); k++) {
                const double s = sensitivity(log, k, j);
                if (isfinite(s)) sum += s * s, count++;
            }
        }
        ct_table_row(t, 0);
        ct_table_text(t, "%s", tune_word(json_array_get(p->parameters, j), "name"));
        ct_table_number(t, count ? sqrt(sum / count) : NAN);
    }
    ct_page_table(p->page, t);
    ct_table_free(t);
}

static int has_heat(const json_t *log)
{
    for (size_t k = 0; k < json_array_size(json_object_get(log, "sensitivity")); k++)
        if (isfinite(sensitivity(log, k, 0))) return 1;
    return 0;
}

void tune_put_sensitivities(const tune_page *p)
{
    const double most = largest(p);
    int32_t drawn = 0;
    if (!(most > 0)) return;
    ct_page_section(p->page, "sensitivities", "Which parameter matters where");
    ct_page_text(p->page,
                 "By how much the residuals of a part of a log (m, rad, as the loss weighs them) change if a parameter "
                 "is multiplied by 2.7 (a number: raised by one), near the answer. Strong colour: it matters there. "
                 "None: it changes nothing. Each log is cut into parts of equal numbers of poses; its beginning is "
                 "below.");
    put_heat_table(p);
    for (size_t i = 0; i < json_array_size(p->logs) && drawn < LOGS_MOST; i++)
        if (has_heat(json_array_get(p->logs, i))) put_heat(p, json_array_get(p->logs, i), drawn++, most);
}

/* ---- history ---- */

/* The cells of a line of CSV, in place; quotes as in history.c of tune. Returns their number. */
static int split(char *line, char *cell[], int most)
{
    int n = 0;
    char *to = line;
    line[strcspn(line, "\r\n")] = 0;
    for (char *at = line; n < most; at++) {
        const int quoted = *at == '"';
        cell[n++] = to;
        if (quoted)
            for (at++; *at && (*at != '"' || at[1] == '"'); at++) at += *at == '"', *to++ = *at;
        if (quoted && *at == '"') at++;
        while (*at && *at != ',') *to++ = *at++;
        const int more = *at == ',';
        *to++ = 0;
        if (!more) break;
    }
    return n;
}

static int column(char *const cell[], int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (!strcmp(cell[i], name)) return i;
    return -1;
}

static int32_t find_log(const tune_page *p, const char *name)
{
    for (size_t i = 0; i < json_array_size(p->logs); i++)
        if (!strcmp(tune_word(json_array_get(p->logs, i), "name"), name)) return (int32_t)i;
    return -1;
}

#define CELLS_MOST 4096
#define RUNS_MOST  1000000

/* The range of each parameter in runs that failed, and in others. */
static void note_values(tune_page *p, char *const cell[], int n, int failed)
{
    const int m = (int)json_array_size(p->parameters);
    if (!p->range) {
        p->range = cli_alloc(4 * (int64_t)m + 1, sizeof *p->range);
        for (int i = 0; i < 4 * m; i++) p->range[i] = i % 2 ? -INFINITY : INFINITY;
    }
    for (int i = 0; i < m && i < n; i++) {
        double *range = p->range + 4 * i + (failed ? 0 : 2);
        const double value = strtod(cell[i], NULL);
        range[0] = fmin(range[0], value);
        range[1] = fmax(range[1], value);
    }
}

/* Lines of runs. Runs of equal values follow each other, but for those in parallel; values are compared as text. */
void tune_read_history(tune_page *p, const char *path)
{
    FILE *file = cli_open(path, "rb");
    char *line = NULL, **cell = cli_alloc(CELLS_MOST, sizeof *cell);
    size_t size = 0;
    int64_t capacity = 0;
    int n = file && cli_getline(&line, &size, file) > 0 ? split(line, cell, CELLS_MOST) : 0;
    const int log = column(cell, n, "log"), part = column(cell, n, "part"), loss = column(cell, n, "loss"),
              values = column(cell, n, "nees") + 1;
    cli_buffer last = {0};
    while (log >= 0 && part >= 0 && loss >= 0 && values > 0 && p->lines < RUNS_MOST &&
           cli_getline(&line, &size, file) > 0) {
        cli_buffer now = {0};
        if (split(line, cell, CELLS_MOST) != n) continue;
        for (int i = values; i < n; i++) cli_buffer_printf(&now, "%s,", cell[i]);
        if (p->lines == capacity) {
            capacity = capacity ? 2 * capacity : 256;
            p->line = cli_check_alloc(realloc(p->line, (size_t)capacity * sizeof *p->line));
        }
        p->points += strcmp(cli_buffer_text(&now), cli_buffer_text(&last)) != 0;
        p->line[p->lines++] = (tune_line){.log = find_log(p, cell[log]),
                                          .train = !strcmp(cell[part], "train"),
                                          .point = p->points,
                                          .loss = *cell[loss] ? strtod(cell[loss], NULL) : NAN};
        note_values(p, cell + values, n - values, isnan(p->line[p->lines - 1].loss));
        free(last.text);
        last = now;
    }
    free(last.text);
    free(line);
    free(cell);
    if (file) fclose(file);
}

static const char *stop_meaning(const char *name)
{
    for (int k = 0; k < CT_TUNE_STOP_COUNT; k++)
        if (!strcmp(name, ct_tune_stop_name((ct_tune_stop)k))) return ct_tune_stop_meaning((ct_tune_stop)k);
    return name;
}

/* Of every run of a training log, its loss over that of the start; the best mean of a point that all logs have. */
void tune_put_history(const tune_page *p)
{
    double *x = cli_alloc(3 * p->lines + 1, sizeof *x), *y = x + p->lines, *best = y + p->lines;
    int64_t n = 0, done = 0, sum_count = 0;
    double least = INFINITY, sum = 0;
    int64_t trains = 0;
    for (size_t i = 0; i < json_array_size(p->logs); i++)
        trains += !json_is_true(json_object_get(json_array_get(p->logs, i), "test"));
    for (int64_t i = 0; i < p->lines; i++) {
        const tune_line *l = &p->line[i];
        if (!l->train || l->log < 0) continue;
        const double start = tune_number(json_object_get(json_array_get(p->logs, (size_t)l->log), "before"), "loss");
        if (i && p->line[i - 1].point != l->point) sum = 0, sum_count = 0;
        x[n] = (double)i + 1;
        y[n] = l->loss / start;
        done += isfinite(y[n]);
        sum += y[n];
        sum_count++;
        if (isfinite(sum) && sum_count >= trains) least = fmin(least, sum / (double)sum_count);
        best[n++] = isfinite(least) ? least : NAN;
    }
    ct_page_section(p->page, "runs", "Runs");
    ct_page_text(p->page, "%lld runs of the estimator, %.0f points, stopped: %s.", (long long)p->lines,
                 tune_number(json_object_get(p->root, "runs"), "points"), stop_meaning(tune_word(p->root, "stop")));
    const ct_series series[] = {{"a run", (ct_role)(CT_ROLE_FIRST + 2), CT_MARK_POINTS, n, x, y, NULL},
                                {"best mean so far", CT_ROLE_AFTER, CT_MARK_STEPS, n, x, best, NULL}};
    const ct_plot plot = {.id = "loss",
                          .title = "Loss of training logs over that at the start values",
                          .text =
                              "In the order in which runs ended. The last runs are those of folds and of the answer.",
                          .x_label = "run",
                          .y_label = "loss / loss at the start",
                          .y_log = report_wants_log(n, y, 0, NULL),
                          .count = 2,
                          .series = series};
    if (done) ct_page_plot(p->page, &plot);
    free(x);
}
