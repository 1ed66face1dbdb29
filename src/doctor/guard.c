/* guard.c: corrections that make things worse are refused.
 *
 * The dataset is imported without and with the corrections. Of each sensor the profile log-likelihood of the errors at
 * the truth is compared, of Student's distribution with 4 degrees, in groups of samples with a sigma each:
 *
 *     l = sum over rows, groups of  max_sigma sum_k [ -log sigma - 5/2 log(1 + r_k^2 / (4 sigma^2)) ] + sum_k log c_k
 *
 * c is the scale that the correction multiplies measured values by: without it, smaller values would fit better by
 * being smaller. Where noise is not in measured values (instruments.c), c = 1. The corrections stay if l rises over all
 * sensors together, does not fall in the sequences to test with, to which nothing was fitted, and no sensor loses more
 * than WORSE nats a measurement. Otherwise the correction without which l is largest is refused, until the rest stays.
 *
 * A delay moves the records of odometry against the states. A record whose time a state divides gives a part of its
 * noise to either step, so that the same noise seems smaller by up to a half, whatever the delay is worth. What this
 * makes of l is measured, and left out. With S the dataset with delays alone and D the truth at times shifted by them,
 *
 *     artefact = (l(S, -D) - l(base, 0)) / 2 + (l(S, 0) - l(base, +D)) / 2,
 *
 * in both differences the same delay and another division of records; the second has in the one what the first has in
 * the other of interpolated truth.
 *
 * Units, axes, conventions and turns of the truth are not judged here: they have tests of their own, and nothing
 * compares without them. */
#include "doctor/doctor.h"
#include "recipe/recipe.h"

#include <math.h>
#include <stdio.h>

#define DEGREES    4.0
#define ITERATIONS 60
#define SMALLEST   1e-6  /* m, rad: errors below are rounding                     */
#define FEW        10    /* measurements that say nothing                         */
#define LOST       0.8   /* of its measurements a sensor keeps at least           */
#define WORSE      0.02  /* nats a measurement: 2 % of a sigma                    */
#define EVEN       0.002 /* the same over all sensors, in sequences to test with  */
#define LARGE      2.0   /* a factor beyond is a unit                             */
#define UNITS      32

typedef struct {
    char    name[64];
    int     loops, odometry, rows;
    int64_t n[2];    /* all sequences; those to test with */
    double  nats[2]; /* sums                              */
    double  artefact[2]; /* nats a measurement that its delay costs by the division of records alone */
} quality;

typedef struct {
    int32_t  count;
    int64_t  capacity;
    quality *sensor;
} qualities;

/* A set of corrections against none. */
typedef struct {
    int     holds;
    double  gain[2]; /* nats a measurement */
    int64_t n[2];
} verdict;

typedef struct {
    const ct_recipe         *recipe;
    const ct_doctor_options *options;
    const ct__exact_list    *exact;
    const ct_diagnosis      *d;
    int32_t                  units;
    int32_t                 *unit;    /* per correction; -1: it is not judged */
    uint8_t                  refused[UNITS];
    qualities                before;
    ct_recipe               *base;    /* with what is not judged */
    ct_recipe               *delayed; /* the same with delays of odometry; NULL: there are none */
} guard;

/* ---- Sensors that are exact -------------------------------------------------------------------- */

int ct__exact_has(const ct__exact_list *list, const char *name)
{
    for (int32_t i = 0; i < list->count; i++)
        if (!strcmp(list->name[i], name)) return 1;
    return 0;
}

void ct__exact_add(ct__exact_list *list, const ct__exam *e)
{
    for (int32_t i = 0; i < e->sensors; i++) {
        const ct__sensor *s = &e->sensor[i];
        if (!s->exact || ct__exact_has(list, s->name) || list->count == CT__EXACT_MAX) continue;
        snprintf(list->name[list->count++], sizeof list->name[0], "%.63s", s->name);
    }
}

/* ---- The likelihood of errors ------------------------------------------------------------------ */

/* max over sigma of the log-likelihood of n errors: sigma by EM. */
static double profile(int64_t n, const double *r)
{
    double s2 = 0, sum = 0;
    for (int64_t k = 0; k < n; k++) s2 += r[k] * r[k] / (double)n;
    s2 = fmax(s2, SMALLEST * SMALLEST);
    for (int i = 0; i < ITERATIONS; i++) {
        double next = 0;
        for (int64_t k = 0; k < n; k++) next += (DEGREES + 1) * r[k] * r[k] / (DEGREES + r[k] * r[k] / s2) / (double)n;
        next = fmax(next, SMALLEST * SMALLEST);
        if (fabs(next - s2) < 1e-9 * s2) break;
        s2 = next;
    }
    for (int64_t k = 0; k < n; k++)
        sum -= 0.5 * log(s2) + 0.5 * (DEGREES + 1) * log1p(r[k] * r[k] / (DEGREES * s2));
    return sum;
}

/* delay <- what corrections of this kind add in one recipe and do not in the other. */
static double added(const ct_recipe *in, const ct_recipe *out, ct_correction_kind kind, const char *sensor,
                    const char *recording)
{
    double value[2] = {0, 0};
    for (int which = 0; which < 2; which++) {
        const ct_recipe *recipe = which ? out : in;
        int              own = 0;
        for (int32_t i = 0; i < recipe->corrections; i++) {
            const ct_correction *c = &recipe->correction[i];
            if (c->kind != kind || strcmp(c->sensor, sensor) || (own && !c->recording[0])) continue;
            if (c->recording[0] && strcmp(c->recording, recording)) continue;
            own = c->recording[0] != 0;
            value[which] = c->value[0];
        }
    }
    return value[0] - value[1];
}

static double factor_in(const ct_recipe *recipe, ct_correction_kind kind, const char *sensor, const char *recording,
                        int row)
{
    double scale = 1;
    for (int32_t i = 0; i < recipe->corrections; i++) {
        const ct_correction *c = &recipe->correction[i];
        if (c->kind != kind || strcmp(c->sensor, sensor) || row >= c->count) continue;
        if (!strcmp(c->recording, recording)) return c->value[row];
        if (!c->recording[0]) scale = c->value[row];
    }
    return scale;
}

static double scale_in(const ct_recipe *recipe, const char *sensor, const char *recording, int row)
{
    return factor_in(recipe, CT_CORRECT_SCALE, sensor, recording, row);
}

/* log c of a measurement of this recording. Factors of two wheels multiply ahead and turn by their product. */
static double log_scale(const guard *g, const ct_recipe *recipe, const ct__sensor *s, const char *recording)
{
    char   name[64];
    double sum = 0;
    if (!recipe || ct__exact_has(g->exact, s->name) || !ct__recipe_sensor_of(recipe, s->name, name)) return 0;
    for (int i = 0; i < s->rows; i++)
        sum += log(fabs(scale_in(recipe, name, recording, i) / scale_in(g->base, name, recording, i)));
    for (int i = 0; i < 2; i++)
        sum += log(factor_in(recipe, CT_CORRECT_WHEELS, name, recording, i) /
                   factor_in(g->base, CT_CORRECT_WHEELS, name, recording, i));
    return sum;
}

typedef struct {
    double  *r, *w, *room;
    int32_t *from, *group;
    int32_t  count;
} errors;

static ct_status errors_new(int32_t samples, errors *t, ct_err *err)
{
    t->r = ct__zalloc((int64_t)samples * CT_ROWS_MAX, sizeof *t->r);
    t->w = ct__zalloc((int64_t)samples * CT_ROWS_MAX, sizeof *t->w);
    t->room = ct__zalloc(2 * (int64_t)samples, sizeof *t->room);
    t->from = ct__zalloc(samples, sizeof *t->from);
    t->group = ct__zalloc(samples, sizeof *t->group);
    return t->r && t->w && t->room && t->from && t->group ? CT_OK : ct__no_memory(err, "samples", samples);
}

static void errors_free(errors *t)
{
    free(t->r);
    free(t->w);
    free(t->room);
    free(t->from);
    free(t->group);
}

/* Nats of all samples, or of those to test with. */
static void add_up(const guard *g, const ct_recipe *recipe, const ct__exam *e, const ct__sensor *s, errors *t, int part,
                   quality *q)
{
    double  scale = 0;
    int32_t last = -1; /* recording; samples are in order of their sequences */
    for (int32_t k = 0; k < t->count; k++) {
        const ct__exam_sequence *of = &e->sequence[s->sample[t->from[k]].sequence];
        if (part && of->train) continue;
        if (of->recording != last) scale = log_scale(g, recipe, s, e->recording[last = of->recording]);
        q->nats[part] += scale;
        q->n[part]++;
    }
    for (int group = 0; group < CT__GROUPS_MAX; group++)
        for (int i = 0; i < s->rows; i++) {
            int64_t n = 0;
            for (int32_t k = 0; k < t->count; k++)
                if (t->group[k] == group && !(part && e->sequence[s->sample[t->from[k]].sequence].train))
                    t->room[n++] = t->r[(int64_t)k * CT_ROWS_MAX + i];
            if (n) q->nats[part] += profile(n, t->room);
        }
}

/* The truth at times that are shifted by `sign` times the delays of g->delayed. */
static ct__fault shifted(const guard *g, const ct__sensor *s, const char *recording, int sign)
{
    ct__fault f;
    char      name[64];
    ct__fault_none(s, &f);
    if (!sign || !ct__recipe_sensor_of(g->delayed, s->name, name)) return f;
    f.delay = sign * added(g->delayed, g->base, CT_CORRECT_DELAY, name, recording);
    f.drift = sign * added(g->delayed, g->base, CT_CORRECT_DRIFT, name, recording);
    return f;
}

static ct_status measure(const guard *g, const ct_recipe *recipe, const ct__exam *e, const ct__sensor *s, int sign,
                         quality *q, ct_err *err)
{
    errors    t = {0};
    ct__fault f = shifted(g, s, "", 0);
    int32_t   last = -1;
    ct_status status = errors_new(s->samples, &t, err);
    *q = (quality){.loops = s->loops, .odometry = s->odometry, .rows = s->rows};
    snprintf(q->name, sizeof q->name, "%s", s->name);
    for (int32_t k = 0; status == CT_OK && k < s->samples; k++) {
        const int64_t at = (int64_t)t.count * CT_ROWS_MAX;
        const int32_t of = e->sequence[s->sample[k].sequence].recording;
        if (of != last) f = shifted(g, s, e->recording[last = of], sign);
        if (!ct__sample_row(e, s, &s->sample[k], &f, t.r + at, NULL, t.w + at)) continue;
        t.from[t.count++] = k;
    }
    if (status == CT_OK) {
        ct__group_samples(e, s, t.count, t.from, t.w, t.room, t.group);
        for (int part = 0; part < 2; part++) add_up(g, recipe, e, s, &t, part, q);
    }
    errors_free(&t);
    return status;
}

/* recipe: by which the dataset was imported; NULL: the base. sign: of shifted times. */
static ct_status measure_all(const guard *g, const ct_recipe *recipe, const ct_dataset *dataset, int sign,
                             qualities *out, ct_err *err)
{
    ct__exam  e = {.dataset = dataset, .options = *g->options, .out = ct__zalloc(1, sizeof *e.out)};
    ct_status status = e.out ? ct__exam_survey(&e, err) : ct__no_memory(err, "diagnoses", 1);
    out->count = 0;
    for (int32_t i = 0; status == CT_OK && i < e.sensors; i++) {
        status = ct__grow(&out->sensor, &out->capacity, (int64_t)out->count + 1, sizeof *out->sensor, "sensors", err);
        if (status == CT_OK) status = measure(g, recipe, &e, &e.sensor[i], sign, &out->sensor[out->count], err);
        if (status == CT_OK) out->count++;
    }
    ct__exam_free(&e);
    ct_diagnosis_free(e.out);
    return status;
}

static const quality *find_quality(const qualities *in, const quality *like)
{
    for (int32_t k = 0; k < in->count; k++)
        if (in->sensor[k].loops == like->loops && in->sensor[k].rows == like->rows &&
            !strcmp(in->sensor[k].name, like->name))
            return &in->sensor[k];
    return NULL;
}

static double mean_nats(const quality *q, int part) { return q->n[part] ? q->nats[part] / (double)q->n[part] : 0; }

/* Is the delay of the sensor corrected, with unit `without` and those that are refused left out? */
static int is_delayed(const guard *g, const char *model, int32_t without)
{
    char name[64];
    if (!g->delayed || !ct__recipe_sensor_of(g->recipe, model, name)) return 0;
    for (int32_t i = 0; i < g->d->corrections; i++) {
        const int32_t u = g->unit[i];
        if (g->d->correction[i].kind == CT_CORRECT_DELAY && u >= 0 && u != without && !g->refused[u] &&
            !strcmp(g->d->correction[i].sensor, name))
            return 1;
    }
    return 0;
}

static verdict compare(const guard *g, const qualities *after, int32_t without)
{
    verdict v = {.holds = 1};
    double  sum[2] = {0, 0};
    for (int32_t i = 0; i < g->before.count; i++) {
        const quality *a = &g->before.sensor[i], *b = find_quality(after, a);
        const int      delayed = is_delayed(g, a->name, without);
        for (int part = 0; part < 2; part++) {
            if (a->n[part] < FEW) continue;
            const int64_t n = b ? b->n[part] : 0;
            const int     lost = (double)n < LOST * (double)a->n[part];
            const double  was = mean_nats(a, part) + (delayed ? a->artefact[part] : 0);
            const double  gain = lost ? -1 : mean_nats(b, part) - was;
            if (gain < -WORSE) v.holds = 0;
            sum[part] += gain * (double)a->n[part];
            v.n[part] += a->n[part];
        }
    }
    for (int part = 0; part < 2; part++) v.gain[part] = v.n[part] ? sum[part] / (double)v.n[part] : 0;
    if (!(sum[0] > 0) || v.gain[1] < -EVEN) v.holds = 0;
    return v;
}

/* ---- Corrections ------------------------------------------------------------------------------- */

static int is_judged(ct_correction_kind kind)
{
    return kind == CT_CORRECT_DELAY || kind == CT_CORRECT_DRIFT || kind == CT_CORRECT_SCALE ||
           kind == CT_CORRECT_BIAS || kind == CT_CORRECT_WHEELS || kind == CT_CORRECT_MOUNT || kind == CT_CORRECT_FRAME;
}

/* Is it a change of units, or of where the truth's body points (truth_turned.c)? */
static int is_large(const guard *g, const ct_correction *c)
{
    if (c->kind == CT_CORRECT_MOUNT && !strcmp(c->sensor, "truth")) return 1;
    for (int i = 0; c->kind == CT_CORRECT_SCALE && i < c->count; i++)
        if (fabs(log(fabs(c->value[i] / scale_in(g->recipe, c->sensor, c->recording, i)))) > log(LARGE)) return 1;
    return 0;
}

static int32_t find_unit(const guard *g, int32_t i)
{
    const ct_correction *c = &g->d->correction[i];
    for (int32_t k = 0; k < i; k++)
        if (g->d->correction[k].kind == c->kind && !strcmp(g->d->correction[k].sensor, c->sensor)) return g->unit[k];
    return CT_MIN(g->units, UNITS - 1);
}

/* A unit is what one sensor has of one kind, over recordings. */
static void make_units(guard *g)
{
    for (int32_t i = 0; i < g->d->corrections; i++) {
        const ct_correction *c = &g->d->correction[i];
        g->unit[i] = -1;
        if (!is_judged(c->kind) || is_large(g, c)) continue;
        g->unit[i] = find_unit(g, i);
        g->units = CT_MAX(g->units, g->unit[i] + 1);
    }
}

typedef enum { BASE, DELAYED, CORRECTED } stage;

static int is_of_time(ct_correction_kind kind) { return kind == CT_CORRECT_DELAY || kind == CT_CORRECT_DRIFT; }

/* The dataset with what is not judged; and delays of sensors; and all units that are not refused but for one. */
static ct_status import(const guard *g, stage which, int32_t without, ct_recipe **recipe, ct_dataset **dataset,
                        ct_err *err)
{
    ct_import_options options = ct_import_defaults();
    ct_correction    *list = ct__zalloc(CT_MAX(1, g->d->corrections), sizeof *list);
    char             *text = NULL;
    int32_t           count = 0;
    *recipe = NULL;
    *dataset = NULL;
    if (!list) return ct__no_memory(err, "corrections", g->d->corrections);
    for (int32_t i = 0; i < g->d->corrections; i++) {
        const int32_t u = g->unit[i];
        const int     delay = is_of_time(g->d->correction[i].kind) && strcmp(g->d->correction[i].sensor, "truth");
        if (u < 0 || (which == DELAYED && delay) || (which == CORRECTED && u != without && !g->refused[u]))
            list[count++] = g->d->correction[i];
    }
    options.folder = g->options->folder;
    ct_status status = ct_recipe_correct(g->recipe, list, count, &text, err);
    if (status == CT_OK) status = ct_recipe_parse(text, g->recipe->name, g->recipe->folder, recipe, err);
    if (status == CT_OK) status = ct_recipe_dataset(*recipe, &options, dataset, NULL, err);
    free(text);
    free(list);
    return status;
}

static ct_status judge(const guard *g, int32_t without, verdict *v, ct_err *err)
{
    ct_recipe  *recipe;
    ct_dataset *dataset;
    qualities   after = {0};
    ct_status   status = import(g, CORRECTED, without, &recipe, &dataset, err);
    if (status == CT_OK) status = measure_all(g, recipe, dataset, 0, &after, err);
    if (status == CT_OK) *v = compare(g, &after, without);
    free(after.sensor);
    ct_dataset_free(dataset);
    ct_recipe_free(recipe);
    return status;
}

static double worst_part(const verdict *v) { return v->n[1] ? fmin(v->gain[0], v->gain[1]) : v->gain[0]; }

/* The unit without which the rest is best; *v <- what is then left. */
static ct_status find_worst(const guard *g, int32_t left, int32_t *worst, verdict *v, ct_err *err)
{
    *worst = -1;
    for (int32_t u = 0; u < g->units; u++) {
        verdict now = {.holds = 1, .n = {v->n[0], v->n[1]}};
        if (g->refused[u]) continue;
        if (left > 1) CT_TRY(judge(g, u, &now, err));
        if (*worst >= 0 && (now.holds < v->holds || (now.holds == v->holds && worst_part(&now) <= worst_part(v))))
            continue;
        *worst = u;
        *v = now;
    }
    return CT_OK;
}

static ct_status report(ct__exam *e, const guard *g, int32_t u, const verdict *with, const verdict *without,
                        ct_err *err)
{
    const double value[] = {with->gain[0] - without->gain[0], with->n[1] ? with->gain[1] - without->gain[1] : NAN};
    int32_t      i = 0;
    while (g->unit[i] != u) i++;
    const ct_correction *c = &g->d->correction[i];
    CT_TRY(ct__report(e, NULL, -1, CT_FINDING_CORRECTION_REFUSED, 2, value, err));
    CT_TRY(ct_findings_add_subject(&e->out->findings, CT_SUBJECT_MODEL, -1, 1, c->sensor, err));
    return ct_findings_add_subject(&e->out->findings, CT_SUBJECT_CAUSE, -1, -1, ct_correction_key(c->kind), err);
}

static ct_status refuse(ct__exam *e, guard *g, ct_err *err)
{
    verdict with;
    CT_TRY(judge(g, -1, &with, err));
    for (int32_t left = g->units; left && !with.holds; left--) {
        verdict without = with;
        int32_t worst;
        CT_TRY(find_worst(g, left, &worst, &without, err));
        CT_TRY(report(e, g, worst, &with, &without, err));
        g->refused[worst] = 1;
        with = without;
    }
    return CT_OK;
}

static void drop_refused(const guard *g, ct_diagnosis *d)
{
    int32_t n = 0;
    for (int32_t i = 0; i < d->corrections; i++) {
        if (g->unit[i] >= 0 && g->refused[g->unit[i]]) continue;
        d->correction_error[n] = d->correction_error[i];
        d->correction[n++] = d->correction[i];
    }
    d->corrections = n;
}

/* Without what is said of recordings to test with whose own corrections are refused. */
static void drop_untrue(const ct_recipe *recipe, ct_diagnosis *d)
{
    for (int32_t i = d->findings.count - 1; i >= 0; i--) {
        const ct_finding *f = &d->findings.item[i];
        char              name[64];
        int               own = 0;
        if (f->code != CT_FINDING_TEST_CORRECTED || !ct__recipe_sensor_of(recipe, f->subject[0].name, name)) continue;
        for (int32_t k = 0; k < d->corrections; k++)
            own |= d->correction[k].recording[0] && !strcmp(d->correction[k].sensor, name);
        if (!own) ct__remove_finding(d, i);
    }
}

/* 1: the delay of odometry with noise in what it measures is among the corrections. */
static int delays_odometry(const guard *g)
{
    char name[64];
    for (int32_t i = 0; i < g->before.count; i++) {
        const quality *q = &g->before.sensor[i];
        if (!q->odometry || ct__exact_has(g->exact, q->name)) continue;
        if (!ct__recipe_sensor_of(g->recipe, q->name, name)) continue;
        for (int32_t k = 0; k < g->d->corrections; k++)
            if (is_of_time(g->d->correction[k].kind) && !strcmp(g->d->correction[k].sensor, name)) return 1;
    }
    return 0;
}

/* base: the dataset without corrections. */
static ct_status find_artefacts(guard *g, const ct_dataset *base, ct_err *err)
{
    ct_dataset *delayed = NULL;
    qualities   q[3] = {{0}}; /* (S, -D), (S, 0), (base, +D) */
    if (!delays_odometry(g)) return CT_OK;
    ct_status status = import(g, DELAYED, -1, &g->delayed, &delayed, err);
    if (status == CT_OK) status = measure_all(g, NULL, delayed, -1, &q[0], err);
    if (status == CT_OK) status = measure_all(g, NULL, delayed, 0, &q[1], err);
    if (status == CT_OK) status = measure_all(g, NULL, base, 1, &q[2], err);
    for (int32_t i = 0; status == CT_OK && i < g->before.count; i++) {
        quality       *a = &g->before.sensor[i];
        const quality *other[3];
        for (int k = 0; k < 3; k++) other[k] = find_quality(&q[k], a);
        if (!a->odometry || ct__exact_has(g->exact, a->name) || !other[0] || !other[1] || !other[2]) continue;
        for (int part = 0; part < 2; part++)
            a->artefact[part] = (mean_nats(other[0], part) - mean_nats(a, part) + mean_nats(other[1], part) -
                                 mean_nats(other[2], part)) / 2;
    }
    ct_dataset_free(delayed);
    for (int k = 0; k < 3; k++) free(q[k].sensor);
    return status;
}

ct_status ct__guard_corrections(const ct_recipe *recipe, const ct_doctor_options *options, const ct__exact_list *exact,
                                ct_diagnosis *d, ct_err *err)
{
    ct__exam    e = {.out = d};
    guard       g = {.recipe = recipe, .options = options, .exact = exact, .d = d};
    ct_dataset *base = NULL;
    g.unit = ct__zalloc(CT_MAX(1, d->corrections), sizeof *g.unit);
    if (!g.unit) return ct__no_memory(err, "corrections", d->corrections);
    make_units(&g);
    ct_status status = g.units ? import(&g, BASE, -1, &g.base, &base, err) : CT_OK;
    if (status == CT_OK && g.units) status = measure_all(&g, NULL, base, 0, &g.before, err);
    if (status == CT_OK && g.units) status = find_artefacts(&g, base, err);
    ct_dataset_free(base);
    if (status == CT_OK && g.units) status = refuse(&e, &g, err);
    if (status == CT_OK) drop_refused(&g, d);
    if (status == CT_OK) drop_untrue(recipe, d);
    if (status == CT_OK) ct__assign_corrections(d, recipe);
    ct_recipe_free(g.base);
    ct_recipe_free(g.delayed);
    free(g.before.sensor);
    free(g.unit);
    return status;
}
