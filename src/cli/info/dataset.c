/* dataset.c: covtune info of a dataset. */
#include "cli/info/info.h"

#include <stdlib.h>

/* Sums over the sequences of a part. A sequence may be in both parts. */
typedef struct {
    int64_t    variables, factors;
    int32_t    least, most; /* variables of a sequence */
    info_truth truth;
    info_sigma sigma;
} tally;

typedef struct {
    const char       *path;
    const ct_dataset *d;
    tally             train, test;
    int64_t          *uses; /* per noise model: factors in both parts; a sequence in both counts once */
    uint8_t          *trained; /* per noise model: a training sequence uses it */
} summary;

static int is_among(const ct_sequence *seq, ct_sequence *const list[], int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        if (list[i] == seq) return 1;
    return 0;
}

static void count_run(const ct_sequence *seq, tally *t)
{
    const int32_t variables = ct_graph_variables(seq->graph);
    t->variables += variables;
    t->factors += ct_graph_factors(seq->graph);
    if (!t->least || variables < t->least) t->least = variables;
    if (variables > t->most) t->most = variables;
    info_add_truth(&t->truth, seq);
    info_add_sigma(&t->sigma, seq);
}

static void count_uses(const summary *s, const ct_sequence *seq)
{
    for (int32_t f = 0; f < ct_graph_factors(seq->graph); f++) s->uses[ct_graph_factor(seq->graph, f).noise]++;
}

static void count(summary *s)
{
    const ct_dataset *d = s->d;
    for (int32_t i = 0; i < d->trains; i++) {
        count_run(d->train[i], &s->train);
        if (!is_among(d->train[i], d->train, i)) count_uses(s, d->train[i]);
    }
    for (int32_t m = 0; m < ct_noise_count(d->noise); m++) s->trained[m] = s->uses[m] > 0;
    for (int32_t i = 0; i < d->tests; i++) {
        count_run(d->test[i], &s->test);
        if (!is_among(d->test[i], d->train, d->trains) && !is_among(d->test[i], d->test, i)) count_uses(s, d->test[i]);
    }
}

static const char *const KIND[] = {"isotropic", "diagonal", "full"};

/* ---- JSON ---- */

static json_t *tally_json(const tally *t, ct_sequence *const list[], int32_t runs)
{
    json_t *o = cli_object();
    cli_put(o, "runs", cli_integer(runs));
    cli_put(o, "variables", cli_integer(t->variables));
    cli_put(o, "factors", cli_integer(t->factors));
    cli_put(o, "truth", cli_integer(t->truth.known));
    cli_put(o, "truth_in_part", cli_integer(t->truth.part));
    cli_put(o, "truth_sigma_least", cli_numbers(2, t->sigma.least));
    cli_put(o, "truth_sigma_most", cli_numbers(2, t->sigma.most));
    cli_put(o, "recordings", info_recordings_json(list, runs));
    return o;
}

static json_t *model_json(const summary *s, int32_t index)
{
    const ct_noise_model  *m = ct_noise_get(s->d->noise, index);
    const ct_dataset_group g = ct_dataset_group_of(s->d, index);
    json_t                *o = cli_object();
    double                 variance[CT_NOISE_DIM_MAX];
    for (int i = 0; i < m->dim; i++) variance[i] = ct_noise_covariance(m, i, i);
    cli_put(o, "factors", cli_integer(s->uses[index]));
    cli_put(o, "kind", cli_text(KIND[m->kind]));
    cli_put(o, "variance", cli_numbers(m->dim, variance));
    info_put_sigmas(o, m);
    cli_put(o, "group", cli_text(g.name));
    cli_put(o, "learn", cli_check_alloc(json_boolean(g.learn && s->trained[index])));
    cli_put(o, "learn_as", cli_text(KIND[g.kind]));
    cli_put(o, "lower", cli_numbers(m->dim, g.lower));
    cli_put(o, "upper", cli_numbers(m->dim, g.upper));
    cli_put(o, "unit_sigma", cli_numbers(m->dim, g.unit));
    return o;
}

static void print_json(const summary *s)
{
    json_t *o = cli_object(), *noise = cli_object();
    for (int32_t i = 0; i < ct_noise_count(s->d->noise); i++)
        cli_put(noise, ct_noise_get(s->d->noise, i)->name, model_json(s, i));
    cli_put(o, "dataset", cli_text(s->path));
    cli_put(o, "train", tally_json(&s->train, s->d->train, s->d->trains));
    cli_put(o, "test", tally_json(&s->test, s->d->test, s->d->tests));
    cli_put(o, "noise", noise);
    cli_put(o, "note", cli_text(s->d->note));
    cli_print_json(o);
}

/* ---- for people ---- */

static void print_part(const char *label, const tally *t, int32_t runs)
{
    char range[64], part[128], sigma[64], truth[512] = "no truth";
    if (!runs) {
        cli_row(label, "no sequences");
        return;
    }
    snprintf(range, sizeof range, t->least == t->most ? "%d" : "%d to %d", t->least, t->most);
    if (t->truth.known)
        snprintf(truth, sizeof truth, "truth of %lld variables of %lld%s%s%s", (long long)t->truth.known,
                 (long long)t->variables, info_part(&t->truth, part, sizeof part),
                 *info_sigma_text(&t->sigma, sigma, sizeof sigma) ? ", with a sigma of " : "", sigma);
    cli_row(label, "%d sequence%s of %s variables, %lld factors; %s", runs, CLI_S(runs), range, (long long)t->factors,
            truth);
}

/* " 0.001", or a list if coordinates differ. */
static int put_bound(char *buf, size_t size, const char *label, const double v[], int dim)
{
    int n = snprintf(buf, size, ", %s", label), same = 1;
    for (int i = 1; i < dim; i++) same = same && v[i] == v[0];
    for (int i = 0; i < (same ? 1 : dim); i++) n += snprintf(buf + n, size - (size_t)n, " %.4g", v[i]);
    return n;
}

static int is_all(const double v[], int dim, double value)
{
    for (int i = 0; i < dim; i++)
        if (v[i] != value) return 0;
    return 1;
}

static void print_model(const summary *s, int32_t index)
{
    const ct_noise_model  *m = ct_noise_get(s->d->noise, index);
    const ct_dataset_group g = ct_dataset_group_of(s->d, index);
    char                   sigmas[INFO_SIGMAS], text[400] = "; frozen";
    int                    n = 0;
    if (!s->trained[index]) snprintf(text, sizeof text, "; no training sequence has it");
    else if (g.learn) {
        n = snprintf(text, sizeof text, "; to be learned");
        if (g.kind != (int)m->kind) n += snprintf(text + n, sizeof text - (size_t)n, " as %s", KIND[g.kind]);
        if (!is_all(g.unit, m->dim, 1))
            n += put_bound(text + n, sizeof text - (size_t)n, "in units of", g.unit, m->dim);
        if (!is_all(g.lower, m->dim, CT_BOUND_WIDE_LOWER))
            n += put_bound(text + n, sizeof text - (size_t)n, "variance from", g.lower, m->dim);
        if (!is_all(g.upper, m->dim, CT_BOUND_WIDE_UPPER))
            put_bound(text + n, sizeof text - (size_t)n, "variance to", g.upper, m->dim);
    }
    cli_row("", "%s (%lld factor%s): %s%s", m->name, (long long)s->uses[index], CLI_S(s->uses[index]),
            info_sigmas(m, sigmas), text);
}

static void print_all(const summary *s)
{
    const int32_t models = ct_noise_count(s->d->noise);
    cli_row("dataset", "%s", s->path);
    print_part("train", &s->train, s->d->trains);
    print_part("test", &s->test, s->d->tests);
    info_print_recordings("recordings", "train", s->d->train, s->d->trains);
    info_print_recordings("recordings", "test", s->d->test, s->d->tests);
    cli_row("noise", "%d model%s", models, CLI_S(models));
    for (int32_t i = 0; i < models && i < INFO_MODELS; i++) print_model(s, i);
    if (models > INFO_MODELS) cli_row("", "and %d more, which --json lists", models - INFO_MODELS);
}

cli_exit cli_info_dataset(const cli_io *io, const char *path)
{
    ct_err      err = {0};
    ct_dataset *d = NULL;
    cli_status_show(io, "reading %s", path);
    const ct_read_options how = {.repair = io->repair, .models = io->models};
    const ct_status       status = ct_dataset_read_with(path, CT_DATASET_ALL, &how, &d, &err);
    cli_status_clear();
    if (status != CT_OK) return cli_fail(io, "%s", err.text);
    if (d->note) cli_remark(io, "%s: %s", path, d->note);
    summary s = {.path = path,
                 .d = d,
                 .uses = cli_alloc(ct_noise_count(d->noise), sizeof *s.uses),
                 .trained = cli_alloc(ct_noise_count(d->noise), 1)};
    count(&s);
    if (io->json) print_json(&s);
    else if (!io->quiet) print_all(&s);
    free(s.uses);
    free(s.trained);
    ct_dataset_free(d);
    return CLI_DONE;
}
