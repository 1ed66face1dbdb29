/* polish.c: delays of odometry whose noise is not in what it measures (instruments.c), by imports.
 *
 * The fit has only the motion between states: the rate of what is measured is the difference of its neighbours, a mean
 * over two steps. A body that follows commands with a lag then gets another delay than the one that fits best: the
 * coarser the rate, the longer the delay. Where there is a recipe, the delay itself is varied, and the one is taken
 * that minimises
 *
 *     L(d) = sum over rows i of  n/2 log mean_k min((v_ki - c_i m_ki(d))^2, (CLIP sigma_i)^2),    c_i by least squares,
 *
 * m measured and v true motion, for each recording that has a delay of its own. L is computed at steps of a tenth of
 * the time between states, until it is bracketed; the minimum is that of the parabola. L is a negative log likelihood
 * with the scatter at its best value, so that the standard error of d is 1 / sqrt(L''). */
#include "doctor/doctor.h"
#include "recipe/recipe.h"

#include <math.h>
#include <stdio.h>

#define STEP       0.1 /* of the time between states          */
#define ITERATIONS 6
#define CLIP       10.0

typedef struct {
    int32_t count; /* recordings; the first stands for all training sequences if there is one delay */
    char  (*name)[256];
    double *loss;  /* a sample */
    double *samples;
} scatter;

typedef struct {
    const ct_recipe         *recipe;
    const ct_doctor_options *options;
    const char              *model;
    char                     sensor[64]; /* of the recipe */
    int                      by_recording;
    double                   step;       /* s             */
    scatter                  at[3];      /* a step before, there, a step behind */
    double                  *x;          /* per recording: the delay to add     */
    double                  *error;      /* its standard error, 0: unknown      */
    uint8_t                 *done;
} search;

static void scatter_free(scatter *s)
{
    free(s->name);
    free(s->loss);
    free(s->samples);
    *s = (scatter){0};
}

/* ---- The loss ---------------------------------------------------------------------------------- */

/* ½ log of the mean square of v - c m, clipped; NAN: m is always 0. */
static double row_loss(int64_t n, const double *m, const double *v)
{
    double limit = INFINITY, square = 0;
    for (int pass = 0; pass < 4; pass++) {
        double mm = 0, mv = 0, next = 0;
        for (int64_t k = 0; k < n; k++) mm += m[k] * m[k], mv += m[k] * v[k];
        if (!(mm > 0)) return NAN;
        for (int64_t k = 0; k < n; k++) next += fmin(pow(v[k] - mv / mm * m[k], 2), limit * limit) / (double)n;
        square = next;
        limit = CLIP * sqrt(square);
    }
    return 0.5 * log(fmax(square, 1e-24));
}

/* Sum over rows, a sample; the sequences are those of a recording, or (-1) all to learn from. NAN: too few. *samples <-
 * their number. */
static double loss_of(const ct__exam *e, const ct__sensor *s, int32_t recording, double *m, double *v, double *samples)
{
    double    sum = 0;
    ct__fault none;
    ct__fault_none(s, &none);
    for (int i = 0; i < s->rows; i++) {
        int64_t n = 0;
        for (int32_t k = 0; k < s->samples; k++) {
            const ct__sample        *q = &s->sample[k];
            const ct__exam_sequence *of = &e->sequence[q->sequence];
            double                   r[CT_ROWS_MAX], h[CT_ROWS_MAX], w[CT_ROWS_MAX] = {0};
            if (recording < 0 ? !of->train : of->recording != recording) continue;
            if (!ct__sample_row(e, s, q, &none, r, NULL, h)) continue;
            ct__value_of(s, ct_graph_factor(of->seq->graph, q->factor).z, w);
            m[n] = w[i];
            v[n++] = h[i];
        }
        const double loss = n < CT__SAMPLES_LEAST ? NAN : row_loss(n, m, v);
        *samples = (double)n;
        if (n < CT__SAMPLES_LEAST) return NAN;
        if (!isnan(loss)) sum += loss;
    }
    return sum;
}

static const ct__sensor *find_odometry(const ct__exam *e, const char *model)
{
    for (int32_t i = 0; i < e->sensors; i++)
        if (e->sensor[i].odometry && !strcmp(e->sensor[i].name, model)) return &e->sensor[i];
    return NULL;
}

static ct_status fill(const search *p, const ct__exam *e, scatter *out, ct_err *err)
{
    const ct__sensor *s = find_odometry(e, p->model);
    const int32_t     count = p->by_recording ? e->recordings : 1;
    double           *m = ct__zalloc(s ? 2 * (int64_t)s->samples : 0, sizeof *m);
    out->name = ct__zalloc(count, sizeof *out->name);
    out->loss = ct__zalloc(count, sizeof *out->loss);
    out->samples = ct__zalloc(count, sizeof *out->samples);
    ct_status status = m && out->name && out->loss && out->samples ? CT_OK : ct__no_memory(err, "recordings", count);
    for (int32_t i = 0; status == CT_OK && s && i < count; i++) {
        if (p->by_recording) snprintf(out->name[i], sizeof out->name[i], "%.255s", e->recording[i]);
        out->loss[i] = loss_of(e, s, p->by_recording ? i : -1, m, m + s->samples, &out->samples[i]);
        out->count = i + 1;
    }
    free(m);
    return status;
}

static ct_status measure(const search *p, const ct_dataset *dataset, scatter *out, ct_err *err)
{
    ct__exam  e = {.dataset = dataset, .options = *p->options, .out = ct__zalloc(1, sizeof *e.out)};
    ct_status status = e.out ? ct__exam_survey(&e, err) : ct__no_memory(err, "diagnoses", 1);
    scatter_free(out);
    if (status == CT_OK) status = fill(p, &e, out, err);
    ct__exam_free(&e);
    ct_diagnosis_free(e.out);
    return status;
}

/* ---- Imports ----------------------------------------------------------------------------------- */

static ct_correction delay_of(const search *p, int32_t i, double shift)
{
    ct_correction c = {.kind = CT_CORRECT_DELAY, .count = 1, .value = {p->x[i] + shift}};
    snprintf(c.sensor, sizeof c.sensor, "%s", p->sensor);
    snprintf(c.recording, sizeof c.recording, "%.*s", (int)sizeof c.recording - 1, p->at[1].name[i]);
    return c;
}

/* *out <- the dataset with delays that are longer by x + shift. */
static ct_status import(const search *p, double shift, ct_dataset **out, ct_err *err)
{
    ct_import_options options = ct_import_defaults();
    const int32_t     n = p->at[1].count;
    ct_correction    *delay = ct__zalloc(n, sizeof *delay), *list = NULL;
    ct_recipe        *recipe = NULL;
    char             *text = NULL;
    int32_t           count = 0;
    *out = NULL;
    if (!delay) return ct__no_memory(err, "corrections", n);
    for (int32_t i = 0; i < n; i++) delay[i] = delay_of(p, i, shift);
    options.folder = p->options->folder;
    ct_status status = ct__compose_corrections(p->recipe, n, delay, &list, &count, err);
    if (status == CT_OK) status = ct_recipe_correct(p->recipe, list, count, &text, err);
    if (status == CT_OK) status = ct_recipe_parse(text, p->recipe->name, p->recipe->folder, &recipe, err);
    if (status == CT_OK) status = ct_recipe_dataset(recipe, &options, out, NULL, err);
    ct_recipe_free(recipe);
    free(text);
    free(list);
    free(delay);
    return status;
}

static double loss_at(const search *p, int place, int32_t i)
{
    for (int32_t k = 0; k < p->at[place].count; k++)
        if (!strcmp(p->at[place].name[k], p->at[1].name[i])) return p->at[place].loss[k];
    return NAN;
}

/* Every delay one step further, or to its minimum. 1: all are there. */
static int advance(search *p)
{
    int all = 1;
    for (int32_t i = 0; i < p->at[1].count; i++) {
        const double a = loss_at(p, 0, i), b = p->at[1].loss[i], c = loss_at(p, 2, i);
        if (p->done[i]) continue;
        if (isnan(a + b + c)) {
            p->done[i] = 1;
        } else if (b <= a && b <= c) {
            const double bend = a - 2 * b + c;
            p->x[i] += bend > 0 ? 0.5 * p->step * (a - c) / bend : 0;
            p->error[i] = bend > 0 ? p->step / sqrt(p->at[1].samples[i] * bend) : 0;
            p->done[i] = 1;
        } else {
            p->x[i] += a < c ? -p->step : p->step;
            all = 0;
        }
    }
    return all;
}

static ct_status descend(search *p, int32_t *imports, ct_err *err)
{
    for (int i = 0; i < ITERATIONS; i++) {
        for (int place = 0; place < 3; place++) {
            ct_dataset *dataset = NULL;
            scatter     now = {0};
            if (place == 1 && i == 0) continue; /* it is known */
            ct_status status = import(p, (place - 1) * p->step, &dataset, err);
            if (status == CT_OK) status = measure(p, dataset, &now, err);
            ct_dataset_free(dataset);
            ++*imports;
            if (status != CT_OK) {
                scatter_free(&now);
                return status;
            }
            if (place == 1 && now.count == p->at[1].count)
                memcpy(p->at[1].loss, now.loss, (size_t)now.count * sizeof *now.loss); /* names stay: x is theirs */
            if (place == 1) scatter_free(&now);
            else scatter_free(&p->at[place]), p->at[place] = now;
        }
        if (advance(p)) break;
    }
    return CT_OK;
}

/* ---- One sensor -------------------------------------------------------------------------------- */

/* Median time between neighbouring states. */
static double state_step(const ct_dataset *d)
{
    double  sum = 0;
    int64_t n = 0;
    for (int32_t i = 0; i < d->trains + d->tests; i++) {
        const ct_sequence *q = i < d->trains ? d->train[i] : d->test[i - d->trains];
        for (int32_t v = 1; q->stamp && v < q->graph->variables; v++) {
            const double dt = q->stamp[v] - q->stamp[v - 1];
            if (dt > 0 && dt < 60) sum += dt, n++;
        }
    }
    return n ? sum / (double)n : 0;
}

static ct_status report(const search *p, ct_diagnosis *out, ct_err *err)
{
    ct__exam e = {.out = out};
    for (int32_t i = 0; i < p->at[1].count; i++) {
        const ct_correction c = delay_of(p, i, 0);
        if (!(fabs(p->x[i]) > 0)) continue;
        CT_TRY(ct__report_correction(&e, NULL, -1, c.kind, c.count, c.value, p->error[i], err));
        out->correction[out->corrections - 1] = c;
    }
    return CT_OK;
}

ct_status ct__polish_delay(const ct_recipe *recipe, const ct_dataset *dataset, const ct_doctor_options *options,
                           const ct__forced *fault, ct_diagnosis *out, int32_t *imports, ct_err *err)
{
    search p = {.recipe = recipe,
                .options = options,
                .model = fault->name,
                .by_recording = fault->by_recording,
                .step = STEP * state_step(dataset)};
    if (!(p.step > 0) || !ct__recipe_sensor_of(recipe, fault->name, p.sensor)) return CT_OK;
    ct_status status = measure(&p, dataset, &p.at[1], err);
    p.x = ct__zalloc(CT_MAX(1, p.at[1].count), sizeof *p.x);
    p.done = ct__zalloc(CT_MAX(1, p.at[1].count), 1);
    p.error = ct__zalloc(CT_MAX(1, p.at[1].count), sizeof *p.error);
    if (status == CT_OK && !(p.x && p.done && p.error)) status = ct__no_memory(err, "recordings", p.at[1].count);
    if (status == CT_OK && p.at[1].count) status = descend(&p, imports, err);
    if (status == CT_OK && p.at[1].count) status = report(&p, out, err);
    for (int i = 0; i < 3; i++) scatter_free(&p.at[i]);
    free(p.x);
    free(p.error);
    free(p.done);
    return status;
}
