/* verdict.c: how a noise table does on runs, in a few numbers. */
#include "evaluate/evaluate.h"
#include "trial/trial.h"

#include <math.h>

ct_summary_options ct_summary_defaults(void)
{
    ct_summary_options options = {
        .inference = ct_inference_defaults(), .loss = ct_loss_defaults(), .conditioning = 1, .jobs = 1};
    options.inference.incremental = 1;
    return options;
}

ct_summary ct__verdict_none(void)
{
    return (ct_summary){.accuracy = {0, NAN, NAN, NAN},
                        .loss = NAN,
                        .chi_squared = NAN,
                        .nees = NAN,
                        .condition = NAN,
                        .condition_scaled = NAN,
                        .seconds = NAN};
}

/* ---- Sums ------------------------------------------------------------------------------------ */

static int has_estimate(const ct_evaluation *a)
{
    return ct_solve_usable(&a->solve) && !isnan(a->consistency.chi_squared);
}

typedef struct {
    double sum, count;
} mean;

/* What is not known does not count. */
static void add(mean *m, double value)
{
    if (isnan(value)) return;
    m->sum += value;
    m->count++;
}

static double of(mean m) { return m.count > 0 ? m.sum / m.count : NAN; }

/* ---- Things ---------------------------------------------------------------------------------- */

typedef struct {
    mean translation, rotation, distance;
} things_means;

/* The body of that name, a new one if it is not there; -1: there are too many. */
static int find_body(ct_summary *v, const char *name)
{
    for (int i = 0; i < v->bodies; i++)
        if (!strcmp(v->body[i].name, name)) return i;
    if (v->bodies == CT_BODIES_MAX) return -1;
    ct_body *fresh = &v->body[v->bodies];
    memcpy(fresh->name, name, strlen(name) + 1);
    return v->bodies++;
}

static void add_bodies(ct_summary *v, const ct_evaluation *a, things_means of_body[CT_BODIES_MAX])
{
    for (int k = 0; k < a->bodies; k++) {
        const ct_accuracy *seen = &a->body[k].accuracy;
        const int          i = find_body(v, a->body[k].name);
        if (i < 0) continue;
        v->body[i].accuracy.poses += seen->poses;
        add(&of_body[i].translation, seen->translation);
        add(&of_body[i].rotation, seen->rotation);
        add(&of_body[i].distance, seen->ape_translation);
    }
}

ct_accuracy ct_summary_body(const ct_summary *verdict, const char *name)
{
    for (int i = 0; i < verdict->bodies; i++)
        if (!strcmp(verdict->body[i].name, name)) return verdict->body[i].accuracy;
    return (ct_accuracy){0, NAN, NAN, NAN};
}

/* ---- All of them ----------------------------------------------------------------------------- */

ct_summary ct__verdict_add_up(int32_t count, const ct_evaluation *each)
{
    ct_summary   v = ct__verdict_none();
    mean         translation = {0}, rotation = {0}, distance = {0}, loss = {0}, seconds = {0}, chi = {0}, nees = {0};
    things_means of_body[CT_BODIES_MAX] = {0};
    for (int32_t i = 0; i < count; i++) {
        const ct_evaluation *a = &each[i];
        if (a->solve.stop == CT_STOP_NONE || a->solve.stop == CT_STOP_CANCELLED) continue;
        v.runs++;
        if (!has_estimate(a)) {
            v.failed++;
            continue;
        }
        v.accuracy.poses += a->accuracy.poses;
        add(&translation, a->accuracy.translation);
        add(&rotation, a->accuracy.rotation);
        add(&distance, a->accuracy.ape_translation);
        add_bodies(&v, a, of_body);
        add(&loss, a->loss);
        add(&seconds, a->solve.seconds);
        chi.sum += a->consistency.chi_squared;
        chi.count += (double)a->consistency.degrees;
        if (isnan(a->consistency.nees)) continue;
        nees.sum += a->consistency.nees;
        nees.count += (double)a->consistency.nees_degrees;
    }
    v.accuracy.translation = of(translation);
    v.accuracy.rotation = of(rotation);
    v.accuracy.ape_translation = of(distance);
    v.loss = of(loss);
    v.seconds = of(seconds);
    v.chi_squared = of(chi);
    v.nees = of(nees);
    for (int i = 0; i < v.bodies; i++) {
        ct_accuracy *mine = &v.body[i].accuracy;
        mine->translation = of(of_body[i].translation);
        mine->rotation = of(of_body[i].rotation);
        mine->ape_translation = of(of_body[i].distance);
    }
    return v;
}

/* ---- Conditioning ---------------------------------------------------------------------------- */

typedef struct {
    ct_sequence *const *seq;
    const ct_noise     *noise;
    double             *condition; /* of each run, plain, and then scaled; NaN where there is no estimate */
    int32_t             count;
} look;

static ct_status look_closer(void *user, int32_t i, const ct_evaluation *found, ct_solver *solver, const double *x,
                             ct_err *err)
{
    const look     *l = user;
    ct_conditioning c;
    if (!has_estimate(found)) return CT_OK;
    CT_TRY(ct_conditioning_at(l->seq[i]->graph, l->noise, solver, x, &c, err));
    l->condition[i] = c.plain.condition;
    l->condition[l->count + i] = c.scaled.condition;
    return CT_OK;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of the numbers among them, which are sorted on the way. */
static double median(int32_t count, double *value)
{
    int32_t n = 0;
    for (int32_t i = 0; i < count; i++)
        if (!isnan(value[i])) value[n++] = value[i];
    if (!n) return NAN;
    qsort(value, (size_t)n, sizeof *value, ascending);
    return n % 2 ? value[n / 2] : 0.5 * value[n / 2 - 1] + 0.5 * value[n / 2];
}

/* ---- Verdict --------------------------------------------------------------------------------- */

static int ask(void *user, int32_t done, int32_t count)
{
    const ct_summary_options *options = user;
    (void)done;
    (void)count;
    return options->cancel(options->user);
}

ct_status ct_summarise(int32_t count, ct_sequence *const seq[], const ct_noise *noise,
                       const ct_summary_options *options, ct_evaluation *each, ct_summary *out, ct_err *err)
{
    *out = ct__verdict_none();
    if (count < 0) return ct_fail(err, CT_E_ARGUMENT, "%d runs: there cannot be less than none", count);
    ct_summary_options asked = *options;
    look               l = {.seq = seq, .noise = noise, .count = count};
    ct_evaluation     *found = each ? each : ct__zalloc(count, sizeof *found);
    l.condition = ct__zalloc(2 * (int64_t)count, sizeof *l.condition);
    ct_status status = found && l.condition ? CT_OK : ct__no_memory(err, "runs", count);
    for (int32_t i = 0; status == CT_OK && i < 2 * count; i++) l.condition[i] = NAN;
    if (status == CT_OK)
        status = ct__assess_all(count, seq, noise, &options->inference, &options->loss, options->nees, options->jobs,
                                options->cancel ? ask : NULL, &asked, options->conditioning ? look_closer : NULL, &l,
                                found, err);
    if (status == CT_OK) {
        *out = ct__verdict_add_up(count, found);
        out->condition = median(count, l.condition);
        out->condition_scaled = median(count, l.condition + count);
    }
    if (!each) free(found);
    free(l.condition);
    return status;
}
