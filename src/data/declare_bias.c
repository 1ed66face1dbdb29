/* declare_bias.c: biases of a dataset: what is left out of their description is filled in from the sensor.
 *
 * Start values of sigma: an offset is as large as the sensor's noise; a rate makes that of one step, over the root of
 * MEMORY steps; a scale factor is 5 %. A walk reaches these within MEMORY steps. Learning moves them by orders of
 * magnitude if the data say so. */
#define _POSIX_C_SOURCE 200809L
#include "data/bias_states.h"
#include "data/locale.h"
#include "data/theta_options.h"

#include <math.h>
#include <stdio.h>

#define OPTION "bias"
#define MEMORY 20   /* steps: the first time constant */
#define SCALE  0.05 /* the first scale factor         */

/* ---- Defaults -------------------------------------------------------------------------------- */

static int turns(ct_kind kind, int row) { return kind == CT_SE2 ? row == 2 : kind == CT_SE3 && row < 3; }

static int is_pose(ct_kind kind) { return kind == CT_SE2 || kind == CT_SE3; }

/* Positions of a pose in the world, turns of odometry, else all rows. */
static ct_status choose_rows(const ct__bias_survey *s, ct_bias *b, ct_err *err)
{
    const ct_factor_ops *ops = s->ops;
    const int pose = is_pose(ops->kind[0]) && ops->rows == ct_kind_dim(ops->kind[0]);
    for (int i = 0; i < ops->rows; i++) {
        const int wanted = !pose ? 1 : ct__is_relative(ops) ? turns(ops->kind[0], i) : !turns(ops->kind[0], i);
        if (!wanted) continue;
        if (b->rows == CT_BIAS_ROWS_MAX)
            return ct_fail(err, CT_E_ARGUMENT,
                           "bias of %s: %s has %d rows; name the rows, at most %d, that the bias acts on", b->sensor,
                           ops->name, ops->rows, CT_BIAS_ROWS_MAX);
        snprintf(b->row[b->rows++], sizeof b->row[0], "%s", ops->coordinate[i]);
    }
    return CT_OK;
}

static int find_row(const ct_factor_ops *ops, const char *name)
{
    for (int i = 0; i < ops->rows; i++)
        if (!strcmp(ops->coordinate[i], name)) return i;
    return -1;
}

static double first_sigma(const ct__bias_survey *s, const ct_noise *noise, const ct_bias *b, int row)
{
    const double own = ct_noise_sigma(ct_noise_get(noise, s->model), row), steps = MEMORY;
    const double sigma = b->effect == CT_BIAS_SCALE  ? SCALE
                         : b->effect == CT_BIAS_RATE ? own / (s->step * sqrt(steps))
                                                     : own;
    return b->process == CT_BIAS_RANDOM_WALK ? sigma / sqrt(steps * s->step) : sigma;
}

/* The unit of a row: that of the sensor, per second for a rate, over the root of time for a walk. */
static void name_rows(const ct__bias_survey *s, const ct_bias *b, ct_noise *noise, int32_t index)
{
    const char *name[CT_BIAS_ROWS_MAX], *unit[CT_BIAS_ROWS_MAX];
    char text[CT_BIAS_ROWS_MAX][48];
    const int rate = b->effect == CT_BIAS_RATE, walk = b->process == CT_BIAS_RANDOM_WALK;
    for (int i = 0; i < b->rows; i++) {
        const int row = find_row(s->ops, b->row[i]);
        const char *own = row < 0 || b->effect == CT_BIAS_SCALE ? "" : s->ops->unit[row];
        const char *t = s->seconds ? "s" : "pose";
        const char *power = rate && walk ? "^1.5" : walk ? "^0.5" : "";
        snprintf(text[i], sizeof text[i], "%s%s%s%s", *own ? own : "1", rate || walk ? "/" : "", rate || walk ? t : "",
                 power);
        name[i] = b->row[i];
        unit[i] = text[i];
    }
    ct_noise_set_rows(noise, index, name, unit);
}

/* The first sequence with measurements of the sensor. */
static ct_status survey(const ct_dataset *d, const ct_bias *bias, ct__bias_survey *out, ct_err *err)
{
    *out = (ct__bias_survey){0};
    for (int32_t i = 0; i < d->trains + d->tests && !out->measurements; i++) {
        const ct_sequence *seq = i < d->trains ? d->train[i] : d->test[i - d->trains];
        CT_TRY(ct_sequence_acquire(seq, err));
        const ct_status status = ct__bias_inspect(seq, d->noise, bias, out, err);
        ct_sequence_release(seq);
        CT_TRY(status);
    }
    return CT_OK;
}

static ct_status inspect(const ct_dataset *d, const ct_bias *bias, ct__bias_survey *out, ct_err *err)
{
    CT_TRY(survey(d, bias, out, err));
    if (out->measurements) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT,
                   "bias of %s: no sequence has measurements with a noise model or group of that name; covtune info "
                   "lists the models",
                   bias->sensor);
}

static int32_t bias_of(const ct_noise *noise, const char *sensor)
{
    for (int32_t g = 0; g < ct_noise_count(noise); g++)
        if (ct_noise_get(noise, g)->bias && !strcmp(ct_noise_get(noise, g)->bias->sensor, sensor)) return g;
    return -1;
}

ct_status ct_dataset_add_bias(ct_dataset *d, const ct_bias *bias, const double *sigma, ct_err *err)
{
    ct_bias b = *bias;
    ct__bias_survey s;
    char name[300];
    double variance[CT_BIAS_ROWS_MAX];
    int32_t index;
    if (bias_of(d->noise, b.sensor) >= 0)
        return ct_fail(err, CT_E_ARGUMENT, "bias of %s: it has one already", b.sensor);
    CT_TRY(inspect(d, &b, &s, err));
    if (!b.rows) CT_TRY(choose_rows(&s, &b, err));
    if ((int)b.effect < 0) b.effect = ct__is_relative(s.ops) && is_pose(s.ops->kind[0]) ? CT_BIAS_RATE : CT_BIAS_OFFSET;
    const int swings = b.process == CT_BIAS_OSCILLATION;
    b.tau_error = NAN;
    b.period_error = swings && b.period == 0 ? INFINITY : NAN; /* learning looks for it everywhere */
    if (swings && b.period == 0) b.period = MEMORY * s.step;
    if (swings && b.tau == 0) b.tau = 5 * b.period;
    if (b.process == CT_BIAS_GAUSS_MARKOV && b.tau == 0) b.tau = MEMORY * s.step;
    for (int i = 0; i < b.rows; i++) {
        const int row = find_row(s.ops, b.row[i]);
        if (row < 0)
            return ct_fail(err, CT_E_ARGUMENT, "bias of %s: %s, which measures with it, has no row %s", b.sensor,
                           s.ops->name, b.row[i]);
        const double one = sigma ? sigma[i] : first_sigma(&s, d->noise, &b, row);
        variance[i] = one * one;
    }
    snprintf(name, sizeof name, "%s_bias", b.sensor);
    index = ct_noise_find(d->noise, name);
    if (index < 0) CT_TRY(ct_noise_add_diagonal(d->noise, name, b.rows, variance, &index, err));
    name_rows(&s, &b, d->noise, index);
    CT_TRY(ct_noise_set_bias(d->noise, index, &b, err));
    const ct_status status = ct_dataset_apply_biases(d, err);
    if (status != CT_OK) (void)ct_noise_set_bias(d->noise, index, NULL, NULL);
    return status;
}

ct_status ct__dataset_declare_biases(ct_dataset *d, ct_err *err)
{
    for (int32_t i = 0; i < d->groups; i++) {
        const ct_dataset_group *g = &d->group[i];
        ct__bias_survey s = {0};
        if (!g->bias || bias_of(d->noise, g->bias->sensor) >= 0) continue;
        CT_TRY(survey(d, g->bias, &s, err));
        if (s.measurements) CT_TRY(ct_dataset_add_bias(d, g->bias, g->bias_sigma[0] > 0 ? g->bias_sigma : NULL, err));
    }
    return CT_OK;
}

ct_status ct_dataset_apply_biases(ct_dataset *d, ct_err *err)
{
    for (int32_t g = 0; g < ct_noise_count(d->noise); g++) {
        const ct_bias *bias = ct_noise_get(d->noise, g)->bias;
        int seen = -1;
        for (int32_t i = 0; bias && i < d->trains + d->tests; i++) {
            const ct_sequence *seq = i < d->trains ? d->train[i] : d->test[i - d->trains];
            int seconds;
            CT_TRY(ct_sequence_acquire(seq, err));
            const ct_status status = ct_sequence_bias_times(seq, d->noise, bias, &seconds, err);
            ct_sequence_release(seq);
            CT_TRY(status);
            if (seconds >= 0 && seen >= 0 && seconds != seen)
                return ct_fail(err, CT_E_ARGUMENT,
                               "bias of %s: sequence %s %s time stamps for its poses, and others %s; a bias changes "
                               "with time, in s or in poses",
                               bias->sensor, ct_sequence_label(seq), seconds ? "has" : "has no",
                               seconds ? "have none" : "have them");
            if (seconds >= 0) seen = seconds;
        }
    }
    for (int32_t i = 0; i < d->trains + d->tests; i++) {
        ct_sequence *seq = i < d->trains ? d->train[i] : d->test[i - d->trains];
        CT_TRY(ct_sequence_acquire(seq, err));
        const ct_status status = ct_sequence_apply_biases(seq, d->noise, err);
        ct_sequence_release(seq);
        CT_TRY(status);
    }
    return CT_OK;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

typedef struct {
    ct_bias bias;
    double sigma; /* NaN: not given */
} request;

static ct_status bad(const char *prefix, ct_err *err, const char *what, const char *found)
{
    return ct_fail(err, CT_E_ARGUMENT, "%s" OPTION ": %s, found \"%s\"", prefix, what, found);
}

static int take_number(const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    return end != text && !*end && *out > 0 && isfinite(*out);
}

/* "tau=20" and the like. */
static ct_status parse_key(char *item, const char *prefix, request *r, ct_err *err)
{
    char *value = strchr(item, '=');
    if (!value) return bad(prefix, err, "after the process come tau=, period=, sigma=, every=, as= or per=", item);
    *value++ = 0;
    double *number = !strcmp(item, "tau")     ? &r->bias.tau
                     : !strcmp(item, "period") ? &r->bias.period
                     : !strcmp(item, "sigma") ? &r->sigma
                     : !strcmp(item, "every") ? &r->bias.every
                                              : NULL;
    if (number && take_number(value, number)) return CT_OK;
    if (number) return bad(prefix, err, "tau, period, sigma and every are above 0", value);
    if (!strcmp(item, "as")) {
        const int effect = ct_bias_effect_find(value);
        r->bias.effect = (ct_bias_effect)effect;
        return effect >= 0 ? CT_OK : bad(prefix, err, "as is offset, rate or scale", value);
    }
    if (strcmp(item, "per")) return bad(prefix, err, "keys are tau, period, sigma, every, as and per", item);
    r->bias.per_target = !strcmp(value, "target");
    return r->bias.per_target || !strcmp(value, "sensor") ? CT_OK : bad(prefix, err, "per is sensor or target", value);
}

/* "x+y" behind the point of "gps.x+y". */
static ct_status parse_rows(char *rows, const char *prefix, ct_bias *b, ct_err *err)
{
    for (char *at = rows, *next; at; at = next) {
        next = strchr(at, '+');
        if (next) *next++ = 0;
        if (!*at || strlen(at) >= sizeof b->row[0] || b->rows == CT_BIAS_ROWS_MAX)
            return bad(prefix, err, "rows are one to three names with + between them, such as gps.x+y", at);
        snprintf(b->row[b->rows++], sizeof b->row[0], "%s", at);
    }
    return CT_OK;
}

static ct_status parse_item(char *item, const char *prefix, request *r, ct_err *err)
{
    char *process = strchr(item, '='), *key = process ? strchr(process, ':') : NULL, *rows;
    *r = (request){.sigma = NAN};
    r->bias.effect = (ct_bias_effect)-1;
    if (!process || process == item)
        return bad(prefix, err, "it is a list of NAME=PROCESS, such as gps=gauss-markov or odom.yaw=random-walk", item);
    *process++ = 0;
    if (key) *key++ = 0;
    if ((rows = strrchr(item, '.'))) {
        *rows++ = 0;
        CT_TRY(parse_rows(rows, prefix, &r->bias, err));
    }
    if (strlen(item) >= sizeof r->bias.sensor) return bad(prefix, err, "a name has at most 255 bytes", item);
    snprintf(r->bias.sensor, sizeof r->bias.sensor, "%s", item);
    const int found = ct_bias_process_find(process);
    if (found < 0) return bad(prefix, err, "a process is constant, random-walk, gauss-markov or oscillation", process);
    r->bias.process = (ct_bias_process)found;
    for (char *next; key; key = next) {
        next = strchr(key, ':');
        if (next) *next++ = 0;
        CT_TRY(parse_key(key, prefix, r, err));
    }
    if (r->bias.tau > 0 && found != CT_BIAS_GAUSS_MARKOV && found != CT_BIAS_OSCILLATION)
        return bad(prefix, err, "a time constant is that of gauss-markov or oscillation", process);
    if (r->bias.period > 0 && found != CT_BIAS_OSCILLATION)
        return bad(prefix, err, "a period is that of oscillation", process);
    return CT_OK;
}

ct_status ct__bias_parse(const char *sensor, const char *text, ct_bias *bias, double *sigma, ct_err *err)
{
    char        item[CT__ITEM_MAX];
    const char *equals = strchr(text, '='), *key = strchr(text, ':');
    const int   rows = equals && (!key || equals < key); /* "x+y=gauss-markov" */
    request     r;
    if (strlen(sensor) + strlen(text) + 2 > sizeof item) return bad("", err, "it is too long", "...");
    snprintf(item, sizeof item, "%s%s%s", sensor, rows ? "." : "=", text);
    const locale_t before = ct__locale_begin(err);
    if (!before) return CT_E_MEMORY;
    const ct_status status = parse_item(item, "", &r, err);
    ct__locale_end(before);
    CT_TRY(status);
    *bias = r.bias;
    bias->tau_error = bias->period_error = NAN;
    *sigma = r.sigma;
    return CT_OK;
}

static ct_status each_item(const char *list, const char *prefix, ct_dataset *d, ct_err *err)
{
    char item[CT__ITEM_MAX];
    for (const char *at = list; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") >= CT__ITEM_MAX)
            return ct_fail(err, CT_E_ARGUMENT, "%s" OPTION ": an item of the list has at most %d bytes: \"%.40s...\"",
                           prefix, CT__ITEM_MAX - 1, at);
    while (ct__list_next(&list, item)) {
        request r;
        CT_TRY(parse_item(item, prefix, &r, err));
        if (!d || bias_of(d->noise, r.bias.sensor) >= 0) continue;
        const double sigma[CT_BIAS_ROWS_MAX] = {r.sigma, r.sigma, r.sigma};
        CT_TRY(ct_dataset_add_bias(d, &r.bias, isnan(r.sigma) ? NULL : sigma, err));
    }
    return CT_OK;
}

static ct_status apply(const char *list, const char *prefix, ct_dataset *d, ct_err *err)
{
    const locale_t before = ct__locale_begin(err);
    if (!before) return CT_E_MEMORY;
    const ct_status status = each_item(list, prefix ? prefix : "", d, err);
    ct__locale_end(before);
    return status;
}

ct_status ct_bias_list_check(const char *list, const char *option_prefix, ct_err *err)
{
    return list ? apply(list, option_prefix, NULL, err) : CT_OK;
}

ct_status ct_bias_list_apply(const char *list, const char *option_prefix, ct_dataset *dataset, ct_err *err)
{
    return list ? apply(list, option_prefix, dataset, err) : CT_OK;
}
