/* info_dataset.c: covtune info of a dataset. */
#include "cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MODELS_SHOWN 12 /* for people; files that write a matrix on every edge have thousands */

/* Sums over the runs of a part; both parts may share runs. */
typedef struct {
    int64_t variables, factors, known;
    int32_t least, most; /* variables of a run */
} tally;

typedef struct {
    const char       *path;
    const ct_dataset *d;
    tally             train, test;
    int64_t          *uses; /* per noise model: factors, over both parts */
} summary;

static tally count_runs(const summary *s, ct_sequence *const run[], int32_t runs)
{
    tally t = {.least = INT32_MAX};
    for (int32_t i = 0; i < runs; i++) {
        const ct_graph *g = run[i]->graph;
        const int32_t   variables = ct_graph_variables(g);
        t.variables += variables;
        t.factors += ct_graph_factors(g);
        if (variables < t.least) t.least = variables;
        if (variables > t.most) t.most = variables;
        for (int32_t v = 0; run[i]->known && v < variables; v++) t.known += run[i]->known[v] != 0;
        for (int32_t f = 0; f < ct_graph_factors(g); f++) s->uses[ct_graph_factor(g, f).noise]++;
    }
    return t;
}

/* What the dataset says of a model: the group of its name, or of the nearest name that it is part of. */
static const ct_dataset_group *group_of(const ct_dataset *d, const char *model)
{
    const ct_dataset_group *best = NULL;
    for (int32_t i = 0; i < d->groups; i++) {
        const char  *name = d->group[i].name;
        const size_t n = strlen(name);
        if (strncmp(model, name, n) || (model[n] && model[n] != '@' && model[n] != '#')) continue;
        if (!best || n > strlen(best->name)) best = &d->group[i];
    }
    return best;
}

static const char *const KIND[] = {"isotropic", "diagonal", "full"};

/* ---- JSON ---- */

static json_t *tally_json(const tally *t, int32_t runs)
{
    json_t *o = cli_object();
    cli_put(o, "runs", cli_integer(runs));
    cli_put(o, "variables", cli_integer(t->variables));
    cli_put(o, "factors", cli_integer(t->factors));
    cli_put(o, "truth", cli_integer(t->known));
    return o;
}

static json_t *model_json(const summary *s, int32_t index)
{
    const ct_noise_model   *m = ct_noise_get(s->d->noise, index);
    const ct_dataset_group *g = group_of(s->d, m->name);
    json_t                 *o = cli_object();
    double                  variance[CT_NOISE_DIM_MAX];
    for (int i = 0; i < m->dim; i++) variance[i] = m->covariance[m->kind == CT_NOISE_FULL ? i * m->dim + i : i];
    cli_put(o, "factors", cli_integer(s->uses[index]));
    cli_put(o, "kind", cli_text(KIND[m->kind]));
    cli_put(o, "variance", cli_numbers(m->dim, variance));
    cli_put(o, "group", cli_text(g ? g->name : NULL));
    cli_put(o, "learn", g ? cli_need(json_boolean(g->learn)) : cli_need(json_null()));
    cli_put(o, "learn_as", cli_text(g && g->kind >= 0 ? KIND[g->kind] : NULL));
    cli_put(o, "lower", g ? cli_numbers(m->dim, g->lower) : cli_need(json_null()));
    cli_put(o, "upper", g ? cli_numbers(m->dim, g->upper) : cli_need(json_null()));
    return o;
}

static void print_json(const summary *s)
{
    json_t *o = cli_object(), *noise = cli_object();
    for (int32_t i = 0; i < ct_noise_count(s->d->noise); i++) cli_put(noise, ct_noise_get(s->d->noise, i)->name, model_json(s, i));
    cli_put(o, "dataset", cli_text(s->path));
    cli_put(o, "train", tally_json(&s->train, s->d->trains));
    cli_put(o, "test", tally_json(&s->test, s->d->tests));
    cli_put(o, "noise", noise);
    cli_put(o, "note", cli_text(s->d->note));
    cli_print_json(o);
}

/* ---- for people ---- */

static void print_part(const char *label, const tally *t, int32_t runs)
{
    if (!runs) cli_row(label, "no runs");
    else
        cli_row(label, "%d run%s of %d to %d variables, %lld factors; truth of %lld variables of %lld", runs, CLI_S(runs), t->least, t->most, (long long)t->factors,
                (long long)t->known, (long long)t->variables);
}

/* "lower 0.001, upper 1000", as far as they are said: one number for all coordinates, or a list. */
static int put_bound(char *buf, size_t size, const char *label, const double v[], int dim)
{
    int n = 0, same = 1;
    if (isnan(v[0])) return 0;
    for (int i = 1; i < dim; i++) same = same && v[i] == v[0];
    n += snprintf(buf, size, ", %s", label);
    for (int i = 0; i < (same ? 1 : dim); i++) n += snprintf(buf + n, size - (size_t)n, " %.4g", v[i]);
    return n;
}

static void print_model(const summary *s, int32_t index)
{
    const ct_noise_model   *m = ct_noise_get(s->d->noise, index);
    const ct_dataset_group *g = group_of(s->d, m->name);
    char                    text[600];
    int                     n = 0;
    for (int i = 0; i < m->dim; i++) n += snprintf(text + n, sizeof text - (size_t)n, " %.4g", m->covariance[m->kind == CT_NOISE_FULL ? i * m->dim + i : i]);
    if (m->kind == CT_NOISE_FULL) n += snprintf(text + n, sizeof text - (size_t)n, ", correlated");
    if (g && !g->learn) n += snprintf(text + n, sizeof text - (size_t)n, "; frozen");
    else if (g) n += snprintf(text + n, sizeof text - (size_t)n, "; to be learned%s%s", g->kind >= 0 ? " as " : "", g->kind >= 0 ? KIND[g->kind] : "");
    if (g && g->learn) n += put_bound(text + n, sizeof text - (size_t)n, "from", g->lower, m->dim);
    if (g && g->learn) put_bound(text + n, sizeof text - (size_t)n, "to", g->upper, m->dim);
    cli_row("", "%s (%lld factor%s): variance%s", m->name, (long long)s->uses[index], CLI_S(s->uses[index]), text);
}

static void print_all(const summary *s)
{
    const int32_t models = ct_noise_count(s->d->noise);
    cli_row("dataset", "%s", s->path);
    print_part("train", &s->train, s->d->trains);
    print_part("test", &s->test, s->d->tests);
    cli_row("noise", "%d model%s", models, CLI_S(models));
    for (int32_t i = 0; i < models && i < MODELS_SHOWN; i++) print_model(s, i);
    if (models > MODELS_SHOWN) cli_row("", "and %d more, which --json lists", models - MODELS_SHOWN);
}

cli_exit cli_info_dataset(const cli_io *io, const char *path)
{
    ct_err      err = {0};
    ct_dataset *d = NULL;
    cli_show(io, "reading %s", path);
    const ct_status status = ct_dataset_read(path, CT_DATASET_ALL, &d, &err);
    cli_hide();
    if (status != CT_OK) return cli_fail(io, "%s", err.text);
    if (d->note) cli_remark(io, "%s: %s", path, d->note);
    summary s = {.path = path, .d = d, .uses = cli_alloc(ct_noise_count(d->noise), sizeof *s.uses)};
    s.train = count_runs(&s, d->train, d->trains);
    s.test = count_runs(&s, d->test, d->tests);
    if (io->json) print_json(&s);
    else if (!io->quiet) print_all(&s);
    free(s.uses);
    ct_dataset_free(d);
    return CLI_DONE;
}
