/* summary.c: the means over the evaluations of sequences. There is no other place where they are averaged. */
#include "evaluate/evaluate.h"

#include <math.h>

ct_summary ct__summary_none(void)
{
    return (ct_summary){.accuracy = {0, NAN, NAN, NAN},
                        .loss = NAN,
                        .chi_squared = NAN,
                        .nees = NAN,
                        .innovation = {.log_density = NAN},
                        .smoothness = {.translation = NAN, .rotation = NAN},
                        .condition = NAN,
                        .condition_scaled = NAN,
                        .with_diverged = {NAN, NAN, NAN, NAN, NAN},
                        .seconds = NAN};
}

/* ---- Means ----------------------------------------------------------------------------------- */

typedef struct {
    double sum, count;
} mean;

/* A value that is not known does not count. */
static void add(mean *m, double value)
{
    if (isnan(value)) return;
    m->sum += value;
    m->count++;
}

/* sum over sum of degrees */
static void add_ratio(mean *m, double value, int64_t degrees)
{
    if (isnan(value)) return;
    m->sum += value;
    m->count += (double)degrees;
}

static double value_of(mean m) { return m.count > 0 ? m.sum / m.count : NAN; }

typedef struct {
    mean translation, rotation, ape;
} accuracy_mean;

static void add_accuracy(accuracy_mean *m, const ct_accuracy *a, ct_accuracy *out)
{
    out->poses += a->poses;
    add(&m->translation, a->translation);
    add(&m->rotation, a->rotation);
    add(&m->ape, a->ape_translation);
}

static void end_accuracy(const accuracy_mean *m, ct_accuracy *out)
{
    out->translation = value_of(m->translation);
    out->rotation = value_of(m->rotation);
    out->ape_translation = value_of(m->ape);
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

/* The body of that name, added if it is new; -1: there are too many. */
static int find_body(ct_summary *s, const char *name)
{
    for (int i = 0; i < s->bodies; i++)
        if (!strcmp(s->body[i].name, name)) return i;
    if (s->bodies == CT_BODIES_MAX) return -1;
    memcpy(s->body[s->bodies].name, name, strlen(name) + 1);
    return s->bodies++;
}

static void add_bodies(ct_summary *s, const ct_evaluation *e, accuracy_mean of_body[CT_BODIES_MAX])
{
    for (int k = 0; k < e->bodies; k++) {
        const int i = find_body(s, e->body[k].name);
        if (i >= 0) add_accuracy(&of_body[i], &e->body[k].accuracy, &s->body[i].accuracy);
    }
}

ct_accuracy ct_summary_body(const ct_summary *summary, const char *name)
{
    for (int i = 0; i < summary->bodies; i++)
        if (!strcmp(summary->body[i].name, name)) return summary->body[i].accuracy;
    return (ct_accuracy){0, NAN, NAN, NAN};
}

/* ---- Conditions ------------------------------------------------------------------------------ */

static int counts(const ct_evaluation each[], const uint8_t *use, int32_t i)
{
    return (!use || use[i]) && ct_evaluation_counts(&each[i]);
}

static ct_status conditions(int32_t count, const ct_evaluation each[], const uint8_t *use, ct_summary *s, ct_err *err)
{
    double *value = ct__zalloc(count, sizeof *value);
    if (!value && count) return ct__no_memory(err, "sequences", count);
    for (int scaled = 0; scaled < 2; scaled++) {
        int32_t n = 0;
        for (int32_t i = 0; i < count; i++) {
            const double one = scaled ? each[i].condition_scaled : each[i].condition;
            if (counts(each, use, i) && !isnan(one)) value[n++] = one;
        }
        *(scaled ? &s->condition_scaled : &s->condition) = ct_median(n, value);
    }
    free(value);
    return CT_OK;
}

/* ---- Smoothness ------------------------------------------------------------------------------ */

/* Sums of squares, of sequences with times apart from the others. */
typedef struct {
    int64_t triples;
    double  translation, rotation;
} roughness;

static void add_smoothness(roughness sum[2], const ct_smoothness *s)
{
    roughness *to = &sum[s->timed];
    if (isnan(s->translation)) return;
    to->triples += s->triples;
    to->translation += (double)s->triples * s->translation * s->translation;
    to->rotation += (double)s->triples * s->rotation * s->rotation;
}

static void end_smoothness(const roughness sum[2], ct_smoothness *out)
{
    const roughness *of = &sum[sum[1].triples > 0];
    if (!of->triples) return;
    *out = (ct_smoothness){.triples = of->triples,
                           .timed = of == &sum[1],
                           .translation = sqrt(of->translation / (double)of->triples),
                           .rotation = sqrt(of->rotation / (double)of->triples)};
}

/* ---- Diverged estimates ------------------------------------------------------------------------ */

/* Means over all estimates, diverged ones too. */
static void add_diverged(int32_t count, const ct_evaluation each[], ct_summary *s)
{
    mean translation = {0}, rotation = {0}, loss = {0}, chi = {0}, nees = {0};
    for (int32_t i = 0; i < count; i++) {
        const ct_evaluation *e = &each[i];
        if (!ct_evaluation_has_estimate(e)) continue;
        add(&translation, e->accuracy.translation);
        add(&rotation, e->accuracy.rotation);
        add(&loss, e->loss);
        add_ratio(&chi, e->consistency.chi_squared, e->consistency.degrees);
        add_ratio(&nees, e->consistency.nees, e->consistency.nees_degrees);
    }
    s->with_diverged.translation = value_of(translation);
    s->with_diverged.rotation = value_of(rotation);
    s->with_diverged.loss = value_of(loss);
    s->with_diverged.chi_squared = value_of(chi);
    s->with_diverged.nees = value_of(nees);
}

/* ---- The summary ----------------------------------------------------------------------------- */

ct_status ct_summarise(int32_t count, const ct_evaluation each[], const uint8_t *use, ct_summary *out, ct_err *err)
{
    ct_summary    s = ct__summary_none();
    mean          loss = {0}, seconds = {0}, chi = {0}, nees = {0};
    accuracy_mean accuracy = {0}, of_body[CT_BODIES_MAX] = {0};
    roughness     rough[2] = {{0}};
    *out = s;
    if (count < 0) return ct_fail(err, CT_E_ARGUMENT, "%d evaluations: there cannot be less than none", count);
    for (int32_t i = 0; i < count; i++) {
        const ct_evaluation *e = &each[i];
        if (e->solve.stop == CT_STOP_NONE || e->solve.stop == CT_STOP_CANCELLED) continue;
        s.sequences++;
        s.failed += ct_evaluation_failed(e);
        s.diverged += e->diverged != CT_DIVERGED_NO;
        if (!counts(each, use, i)) continue;
        s.averaged++;
        add_accuracy(&accuracy, &e->accuracy, &s.accuracy);
        add_bodies(&s, e, of_body);
        add(&loss, e->loss);
        add(&seconds, e->solve.seconds);
        add_ratio(&chi, e->consistency.chi_squared, e->consistency.degrees);
        add_ratio(&nees, e->consistency.nees, e->consistency.nees_degrees);
        ct_innovation_add(&e->innovation, &s.innovation);
        add_smoothness(rough, &e->smoothness);
    }
    end_accuracy(&accuracy, &s.accuracy);
    s.loss = value_of(loss);
    s.seconds = value_of(seconds);
    s.chi_squared = value_of(chi);
    s.nees = value_of(nees);
    end_smoothness(rough, &s.smoothness);
    memset(s.innovation.block_log_density, 0, sizeof s.innovation.block_log_density);
    memset(s.innovation.block_measurements, 0, sizeof s.innovation.block_measurements);
    for (int i = 0; i < s.bodies; i++) end_accuracy(&of_body[i], &s.body[i].accuracy);
    add_diverged(count, each, &s);
    CT_TRY(conditions(count, each, use, &s, err));
    *out = s;
    return CT_OK;
}
