/* digest.c: the digest of an outer problem: graphs, truth, noise, parameters and their set, options. */
#include "learn/digest.h"
#include "graph/graph.h"
#include "learn/learn.h"
#include "shape/shape.h"

static uint64_t add_sequence(uint64_t h, const ct_sequence *seq)
{
    const ct_graph *g = seq->graph;
    const ct_shape *last = NULL;
    h = ct__digest(h, g->kind, (size_t)g->variables * sizeof *g->kind);
    h = ct__digest(h, g->fixed, (size_t)g->variables * sizeof *g->fixed);
    h = ct__digest(h, g->initial, (size_t)g->size * sizeof *g->initial);
    h = ct__digest(h, g->var_pool, (size_t)g->var_used * sizeof *g->var_pool);
    h = ct__digest(h, g->z_pool, (size_t)g->z_used * sizeof *g->z_pool);
    for (int32_t f = 0; f < g->factors; f++) {
        h = ct__digest(h, g->factor[f].ops->name, strlen(g->factor[f].ops->name));
        h = ct__digest(h, &g->factor[f].noise, sizeof g->factor[f].noise);
        if (g->factor[f].multiplier != 1) h = ct__digest(h, &g->factor[f].multiplier, sizeof g->factor[f].multiplier);
        if (!g->factor[f].ops->shaped || g->factor[f].context == last) continue;
        last = g->factor[f].context;
        h = ct__digest(h, &last->kind, sizeof last->kind);
        h = ct__digest(h, last->number, (size_t)last->count * sizeof *last->number);
    }
    for (int c = 0; c < ct_graph_features(g); c++) {
        const char *name = ct_graph_feature_name(g, c);
        h = ct__digest(h, name, strlen(name));
        h = ct__digest(h, g->feature[c].value, (size_t)g->feature[c].count * sizeof *g->feature[c].value);
    }
    if (seq->truth) h = ct__digest(h, seq->truth, (size_t)g->size * sizeof *seq->truth);
    if (seq->truth) h = ct__digest(h, seq->known, (size_t)g->variables * sizeof *seq->known);
    if (seq->recording) h = ct__digest(h, seq->recording, strlen(seq->recording));
    if (seq->truth_sigma[0] == 0 && seq->truth_sigma[1] == 0) return h;
    return ct__digest(h, seq->truth_sigma, sizeof seq->truth_sigma);
}

/* Form, features, bounds and weights. */
static uint64_t add_function(uint64_t h, const ct_function *f)
{
    const double form[] = {f->kind, f->outputs, f->features, f->terms, f->layers, f->weights};
    h = ct__digest(h, form, sizeof form);
    for (int i = 0; i < f->features; i++) {
        const ct_function_feature *x = &f->feature[i];
        const double               numbers[] = {x->mean, x->deviation, x->low, x->high};
        h = ct__digest(h, x->name, strlen(x->name) + 1);
        h = ct__digest(h, numbers, sizeof numbers);
    }
    for (int i = 0; i < f->terms; i++) {
        const ct_function_term *t = &f->term[i];
        const double            numbers[] = {t->a, t->b, t->hat, t->left, t->at, t->right};
        h = ct__digest(h, numbers, sizeof numbers);
    }
    for (int i = 0; i < f->layers; i++) h = ct__digest(h, &f->width[i], sizeof f->width[i]);
    h = ct__digest(h, f->lower, sizeof f->lower);
    h = ct__digest(h, f->upper, sizeof f->upper);
    if (f->matrix) h = ct__digest(h, f->unit, sizeof f->unit);
    return ct__digest(h, f->weight, (size_t)f->weights * sizeof *f->weight);
}

static uint64_t add_model(uint64_t h, const ct_noise_model *m)
{
    const double robust[] = {m->robust.kind, m->robust.width, m->kind, m->robust.ratio};
    if (m->function) h = add_function(h, m->function);
    h = ct__digest(h, m->name, strlen(m->name));
    h = ct__digest(h, m->covariance,
                   (size_t)(m->kind == CT_NOISE_FULL ? m->dim * m->dim : m->dim) * sizeof *m->covariance);
    return ct__digest(h, robust, sizeof robust);
}

uint64_t ct__sequence_digest(const ct_sequence *seq) { return add_sequence(CT__DIGEST_SEED, seq); }

/* A parameter's name. The coordinate yaw was called theta until 0.2 and enters under that name: digests of older runs
 * stay the same. */
static uint64_t add_parameter(uint64_t h, const char *name)
{
    const char *from = name;
    for (const char *at = name; *at; at++) {
        if (!strchr(".[,", *at) || strncmp(at + 1, "yaw", 3) || !strchr(",]", at[4])) continue;
        h = ct__digest(h, from, (size_t)(at + 1 - from));
        h = ct__digest(h, "theta", 5);
        from = at + 4;
    }
    return ct__digest(h, from, strlen(from));
}

#define MANY 64 /* sequences; more are known by their digests, which threads and ranks have made together */

/* With few sequences digests of older runs stay the same. */
static uint64_t add_sequences(uint64_t h, const ct_outer *o)
{
    const int many = o->count + o->extras > MANY;
    for (int32_t i = 0; i < o->count + o->extras; i++) {
        const ct_sequence *seq = i < o->count ? o->inner[i].seq : o->extra[i - o->count];
        if (many && i < o->count) {
            h = ct__digest(h, &o->inner[i].digest, sizeof o->inner[i].digest);
            continue;
        }
        if (ct_sequence_acquire(seq, NULL) != CT_OK) continue; /* learning meets the error */
        h = add_sequence(h, seq);
        ct_sequence_release(seq);
    }
    return h;
}

uint64_t ct_outer_digest(const ct_outer *o, const char *text)
{
    const ct_outer_options *q = &o->options;
    const double numbers[] = {q->loss.difference,
                              q->loss.translation,
                              q->loss.rotation,
                              q->gradient,
                              q->hessian,
                              q->inner.method,
                              q->inner.max_iterations,
                              q->inner.relative,
                              q->inner.absolute,
                              q->inner.step,
                              q->inner.gradient,
                              q->inner.distance,
                              q->step,
                              ct_theta_spread_limit(o->theta),
                              q->incremental,
                              q->replay.entry,
                              q->replay.extra_updates,
                              q->replay.extent,
                              q->replay.smoother.skip,
                              q->replay.smoother.wildfire,
                              q->replay.smoother.window};
    uint64_t     h = ct__digest(CT__DIGEST_SEED, numbers, sizeof numbers);
    h = ct__digest(h, q->replay.smoother.relinearise, sizeof q->replay.smoother.relinearise);
    if (q->no_truth) h = ct__digest(h, "no truth", 8); /* digests of older runs stay the same */
    h = add_sequences(h, o);
    for (int32_t g = 0; g < o->models; g++) h = add_model(h, ct_noise_get(o->base, g));
    for (int32_t i = 0; i < o->m; i++) {
        char   name[512];
        double bounds[2];
        ct_theta_bounds(o->theta, i, &bounds[0], &bounds[1]);
        ct_theta_name(o->theta, i, name, sizeof name);
        h = ct__digest(h, bounds, sizeof bounds);
        h = add_parameter(h, name);
    }
    for (int32_t g = 0; ct_theta_has_units(o->theta) && g < o->models; g++)
        for (int c = 0; ct_theta_learns(o->theta, g) && c < ct_noise_get(o->base, g)->dim; c++) {
            const double unit = ct_theta_unit(o->theta, g, c);
            h = ct__digest(h, &unit, sizeof unit);
        }
    return text ? ct__digest(h, text, strlen(text)) : h;
}
