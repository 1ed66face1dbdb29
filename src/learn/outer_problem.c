/* outer_problem.c: the loss over many sequences. Inner problems are solved on several threads; their values are added
 * in the order of the sequences. */
#include "evaluate/evaluate.h"
#include "graph/graph.h"
#include "learn/learn.h"
#include "solve/solve.h"
#include "theta/check_noise.h"

#include <covtune/likelihood.h>
#include <math.h>

ct_outer_options ct_outer_defaults(void)
{
    return (ct_outer_options){.loss = ct_loss_defaults(),
                              .gradient = CT_GRADIENT_ADJOINT,
                              .hessian = CT_HESSIAN_EXACT,
                              .inner = ct_likelihood_defaults().inner,
                              .step = 1e-3,
                              .jobs = 1,
                              .replay = ct_inference_defaults().replay};
}

/* ---- Construction ---------------------------------------------------------------------------- */

static const char *name_of(const ct_sequence *seq, int32_t i, char buf[64])
{
    if (seq->name) return seq->name;
    snprintf(buf, 64, "number %d", i);
    return buf;
}

static ct_status check_graph(const ct_sequence *seq, const char *name, const ct_noise *noise, ct_err *err)
{
    ct_err inner = {0};
    if (ct_graph_check_noise(seq->graph, noise, &inner) == CT_OK) return CT_OK;
    return ct_fail(err, CT_E_NOISE, "sequence %s: %s", name, inner.text);
}

static ct_status check_sequence(const ct_outer *o, const ct_sequence *seq, int32_t i, const ct_noise *noise,
                                ct_err *err)
{
    char        buf[64];
    const char *name = name_of(seq, i, buf);
    CT_TRY(check_graph(seq, name, noise, err));
    if (o->options.no_truth) return CT_OK;
    for (int32_t v = 0; v < ct_graph_variables(seq->graph); v++) {
        const int64_t at = ct_graph_offset(seq->graph, v), end = at + ct_kind_size(ct_graph_kind(seq->graph, v));
        char          var[64];
        for (int64_t k = at; seq->known[v] && k < end; k++)
            if (!isfinite(seq->truth[k]))
                return ct_fail(err, CT_E_ARGUMENT, "sequence %s: the truth of %s holds %g; it must be finite", name,
                               ct_graph_name(seq->graph, v, var, sizeof var), seq->truth[k]);
    }
    if (ct_loss_terms(&o->options.loss, seq) == 0)
        return ct_fail(err, CT_E_ARGUMENT, "sequence %s: no estimated variable has a truth of positive weight", name);
    return CT_OK;
}

/* Every learned model must be used by a factor of some sequence. */
static ct_status check_use(const ct_outer *o, const ct_noise *noise, ct_err *err)
{
    uint8_t  *used = ct__zalloc(o->models, sizeof *used);
    ct_status status = used ? CT_OK : ct__no_memory(err, "noise models", o->models);
    for (int32_t i = 0; used && i < o->count + o->extras; i++) {
        const ct_graph *graph = (i < o->count ? o->inner[i].seq : o->extra[i - o->count])->graph;
        for (int32_t g = 0; g < CT_MIN(o->models, graph->noise_count); g++) used[g] |= graph->noise_use[g].factors > 0;
    }
    for (int32_t g = 0; status == CT_OK && g < o->models; g++)
        if (o->slot[g] >= 0 && !used[g])
            status = ct_fail(err, CT_E_ARGUMENT,
                             "noise model \"%s\" is to be learned, but no factor of the %d sequence%s uses it",
                             ct_noise_get(noise, g)->name, o->count, o->count == 1 ? "" : "s");
    free(used);
    return status;
}

/* With approximate Jacobians the estimate is no minimum, so its derivative needs differences of solves. */
static ct_status check_derivatives(const ct_outer *o, const ct_graph *graph, ct_err *err)
{
    if (o->options.gradient == CT_GRADIENT_NUMERIC) return CT_OK;
    for (int32_t f = 0; f < graph->factors; f++)
        if (graph->factor[f].ops->jacobian == CT_JACOBIAN_APPROXIMATE)
            return ct_fail(
                err, CT_E_UNSUPPORTED,
                "derivatives by %s need exact Jacobians, and those of %s are approximate; use numeric",
                ct_gradient_name(o->options.gradient), graph->factor[f].ops->name);
    return CT_OK;
}

static ct_status start_sequence(ct_outer *o, int32_t i, ct_err *err)
{
    const int          measured = o->options.incremental || o->options.no_truth;
    const ct_sequence *seq = o->inner[i].seq;
    double            *x = o->spill ? ct__zalloc(o->inner[i].size, sizeof *x) : o->inner[i].start;
    if (!x) return ct__no_memory(err, "values", o->inner[i].size);
    ct_status status = ct_start_values(seq, measured ? CT_START_MEASURED : CT_START_TRUTH, x, err);
    if (!o->spill) return status;
    if (status == CT_OK) status = ct__inner_put(o, i, 0, x, err);
    free(x);
    return status;
}

static ct_status make_sequence(ct_outer *o, int32_t i, ct_err *err)
{
    ct__inner_problem *inner = &o->inner[i];
    const ct_graph    *graph = inner->seq->graph;
    int32_t            unplaced;
    CT_TRY(check_sequence(o, inner->seq, i, o->base, err));
    CT_TRY(check_derivatives(o, graph, err));
    CT_TRY(ct__samples_of(o, i, err));
    CT_TRY(ct__sequence_unplaced(inner->seq, &unplaced, err));
    inner->unplaced = unplaced;
    inner->digest = ct__sequence_digest(inner->seq);
    for (int32_t v = 0; v < graph->variables; v++) inner->scalars += graph->fixed[v] ? 0 : ct_kind_dim(graph->kind[v]);
    return start_sequence(o, i, err);
}

static void construct(void *user, int64_t i, int worker)
{
    ct_outer       *o = user;
    ct_err          err = {0};
    const ct_status status = make_sequence(o, (int32_t)i, &err);
    (void)worker;
    if (status != CT_OK) ct__outer_tell(o, (int32_t)i, status, &err);
}

/* What other ranks need to know of a sequence: its samples, and */
typedef struct {
    uint64_t digest;
    int32_t  scalars, unplaced;
} facts;

static int64_t facts_size(const void *user, int64_t i)
{
    return (int64_t)sizeof(facts) + ct__samples_bytes(user, (int32_t)i);
}

static void pack_facts(const void *user, int64_t i, void *record)
{
    ct_outer                *o = (ct_outer *)(uintptr_t)user;
    const ct__inner_problem *inner = &o->inner[i];
    const facts              f = {inner->digest, inner->scalars, inner->unplaced};
    memcpy(record, &f, sizeof f);
    ct__samples_copy(o, (int32_t)i, (char *)record + sizeof f, 1);
}

static void unpack_facts(void *user, int64_t i, const void *record)
{
    ct_outer          *o = user;
    ct__inner_problem *inner = &o->inner[i];
    facts              f;
    memcpy(&f, record, sizeof f);
    inner->digest = f.digest;
    inner->scalars = f.scalars;
    inner->unplaced = f.unplaced;
    ct__samples_copy(o, (int32_t)i, (char *)(uintptr_t)record + sizeof f, 0);
}

static ct_status allocate_inner(ct_outer *o, ct__inner_problem *inner, ct_err *err)
{
    const int64_t m = o->m;
    if (!o->spill) {
        inner->start = ct__zalloc(inner->size, sizeof *inner->start);
        inner->x = ct__zalloc(inner->size, sizeof *inner->x);
        if (!inner->start || !inner->x) return ct__no_memory(err, "values", inner->size);
    }
    inner->samples = ct__zalloc(o->slots, sizeof *inner->samples);
    inner->gradient = ct__zalloc(m + 2 * m * m, sizeof *inner->gradient);
    inner->fit = ct__zalloc(o->models, sizeof *inner->fit);
    if (!inner->samples || !inner->gradient || !inner->fit) return ct__no_memory(err, "derivatives", m);
    inner->matrix = inner->gradient + m;
    inner->gradient_covariance = inner->matrix + m * m;
    return CT_OK;
}

/* On all threads and ranks: samples and starts of a sequence take as long as an iteration. */
static ct_status make_sequences(ct_outer *o, ct_err *err)
{
    static const ct__records records = {facts_size, pack_facts, unpack_facts};
    CT_TRY(ct__samples_begin(o, err));
    for (int32_t i = 0; i < o->count; i++) CT_TRY(allocate_inner(o, &o->inner[i], err));
    CT_TRY(ct__outer_each_shared(o, construct, &records, o, err));
    for (int32_t i = 0; i < o->count; i++) o->unplaced |= o->inner[i].unplaced;
    return ct__samples_end(o, err);
}

static ct_status make_scratch(ct_outer *o, ct_err *err)
{
    int64_t scalars = 1, size = 1;
    for (int32_t i = 0; i < o->count; i++) {
        scalars = CT_MAX(scalars, o->inner[i].scalars);
        size = CT_MAX(size, o->inner[i].size);
    }
    o->scratch = ct__zalloc(o->scratches, sizeof *o->scratch);
    if (!o->scratch) return ct__no_memory(err, "threads", o->scratches);
    for (int32_t k = 0; k < o->scratches; k++) {
        ct__scratch *s = &o->scratch[k];
        s->S = ct__zalloc(scalars * CT_MAX(1, o->m), sizeof *s->S);
        s->Y = ct__zalloc(scalars * CT_MAX(1, o->m), sizeof *s->Y);
        s->e = ct__zalloc(scalars, sizeof *s->e);
        s->x = ct__zalloc(size, sizeof *s->x);
        s->dL_dSigma = ct__zalloc(CT_MAX(1, o->slots) * CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX, sizeof *s->dL_dSigma);
        s->solver_of = -1;
        for (int v = 0; v < 2 && o->spill; v++)
            if (!(s->values[v] = ct__zalloc(size, sizeof **s->values))) return ct__no_memory(err, "values", size);
        if (!s->S || !s->Y || !s->e || !s->x || !s->dL_dSigma) return ct__no_memory(err, "numbers", scalars * o->m);
    }
    return CT_OK;
}

/* Evaluates the Jacobian of theta once: its structure (parameter, model, coordinate) does not depend on p. */
static ct_status make_slopes(ct_outer *o, ct_err *err)
{
    CT_TRY(ct_theta_jacobian_new(o->theta, &o->slopes, err));
    double *p = ct__zalloc(o->m, sizeof *p);
    if (!p) return ct__no_memory(err, "parameters", o->m);
    ct_theta_get(o->theta, o->base, p);
    ct_theta_jacobian_at(o->theta, p, o->slopes);
    free(p);
    return CT_OK;
}

static ct_status fill(ct_outer *o, const ct_noise *noise, ct_err *err)
{
    CT_TRY(ct_noise_copy(noise, &o->base, err));
    CT_TRY(ct_noise_copy(noise, &o->noise, err));
    CT_TRY(make_slopes(o, err));
    o->slot = ct__zalloc(o->models, sizeof *o->slot);
    if (!o->slot) return ct__no_memory(err, "noise models", o->models);
    for (int32_t g = 0; g < o->models; g++) o->slot[g] = ct_theta_learns(o->theta, g) ? o->slots++ : -1;
    CT_TRY(ct__outer_plan_memory(o, err));
    CT_TRY(ct__outer_share_owners(o, err));
    CT_TRY(make_sequences(o, err));
    for (int32_t i = 0; i < o->extras; i++)
        CT_TRY(check_graph(o->extra[i], ct_sequence_label(o->extra[i]), noise, err));
    CT_TRY(check_use(o, noise, err));
    return make_scratch(o, err);
}

/* Sequences without truth are apart: the likelihood alone uses them. */
static ct_status split_sequences(ct_outer *o, int32_t count, const ct_sequence *const seq[], ct_err *err)
{
    o->inner = ct__zalloc(count, sizeof *o->inner);
    o->extra = ct__zalloc(count, sizeof *o->extra);
    if (!o->inner || !o->extra) return ct__no_memory(err, "sequences", count);
    for (int32_t i = 0; i < count; i++)
        if (seq[i]->truth || o->options.no_truth) {
            o->inner[o->count].size = ct_graph_size(seq[i]->graph);
            o->inner[o->count++].seq = seq[i];
        } else o->extra[o->extras++] = seq[i];
    if (o->count) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT,
                   "no sequence has truth to learn from; without truth, method %s learns from the measurements alone",
                   ct_learn_method_name(CT_LEARN_LIKELIHOOD));
}

ct_status ct_outer_new(int32_t count, const ct_sequence *const seq[], const ct_noise *noise, const ct_theta *theta,
                       const ct_outer_options *options, ct_outer **out, ct_err *err)
{
    *out = NULL;
    if (count < 1) return ct_fail(err, CT_E_ARGUMENT, "there is no sequence to learn from");
    if (ct_theta_count(theta) < 1)
        return ct_fail(err, CT_E_ARGUMENT, "there is nothing to learn: every noise model is frozen");
    CT_TRY(ct__theta_check_noise(theta, noise, err));
    if (ct_theta_models(theta) < ct_noise_count(noise))
        return ct_fail(err, CT_E_ARGUMENT, "the noise table has %d models, and had %d when the parameters were defined",
                       ct_noise_count(noise), ct_theta_models(theta));
    if (options) CT_TRY(ct__check_loss(&options->loss, err));
    ct_outer *o = ct__zalloc(1, sizeof *o);
    if (!o) return ct__no_memory(err, "outer problems", 1);
    o->theta = theta;
    o->m = ct_theta_count(theta);
    o->models = ct_noise_count(noise);
    o->options = options ? *options : ct_outer_defaults();
    o->scratches = CT_MAX(1, o->options.jobs);
    o->store = ct__store_of(seq[0]);
    o->failed = -1;
    ct_inference how = ct_outer_inference(&o->options);
    if (pthread_mutex_init(&o->telling, NULL)) {
        free(o);
        return ct__no_memory(err, "locks", 1);
    }
    ct_status status = split_sequences(o, count, seq, err);
    if (status == CT_OK) status = fill(o, noise, err);
    if (status == CT_OK) status = ct__outer_deployment(o, &how, err);
    o->options.replay.entry = how.replay.entry;
    if (status == CT_OK) *out = o;
    else ct_outer_free(o);
    return status;
}

void ct_outer_free(ct_outer *o)
{
    if (!o) return;
    for (int32_t i = 0; o->inner && i < o->count; i++) {
        free(o->inner[i].start);
        free(o->inner[i].x);
        free(o->inner[i].gradient);
        free(o->inner[i].fit);
        free(o->inner[i].weight_gradient);
        free(o->inner[i].watched);
    }
    for (int32_t k = 0; o->scratch && k < o->scratches; k++) {
        const ct__scratch *scratch = &o->scratch[k];
        void *const        owned[] = {scratch->S, scratch->Y,         scratch->e,        scratch->x,
                                      scratch->dL_dSigma, scratch->values[0], scratch->values[1]};
        for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
        if (scratch->solver) ct__solver_pool_give(o->pool, scratch->solver);
    }
    ct__free_samples(o);
    ct__solver_pool_free(o->pool);
    if (o->store) (void)ct__store_reserve(o->store, -o->reserved, 0, "", NULL);
    pthread_mutex_destroy(&o->telling);
    for (int k = 0; k < 2; k++) ct_likelihood_free(o->likelihood[k]);
    free(o->inner);
    free(o->owner);
    free(o->extra);
    free(o->scratch);
    free(o->slot);
    free(o->slopes);
    free(o->weight_of);
    ct_noise_free(o->base);
    ct_noise_free(o->noise);
    free(o);
}

int32_t         ct_outer_sequences(const ct_outer *outer) { return outer->count; }
const ct_theta *ct_outer_theta(const ct_outer *outer) { return outer->theta; }
int64_t         ct_outer_solves(const ct_outer *outer) { return outer->solves; }
void            ct_outer_set_checkpoint(ct_outer *outer, ct_checkpoint *checkpoint) { outer->checkpoint = checkpoint; }

/* ---- Evaluation ------------------------------------------------------------------------------ */

typedef struct {
    ct_outer *outer;
    int       want;
} evaluation;

static void evaluate_sequence(void *user, int64_t i, int worker)
{
    const evaluation *e = user;
    if (ct__inner_open(e->outer, (int32_t)i, worker) != CT_OK) return;
    ct__inner_evaluate(e->outer, &e->outer->inner[i], &e->outer->scratch[worker], e->want);
    ct__inner_close(e->outer, (int32_t)i, worker);
}

/* to += from / n */
static void add_mean(int64_t length, const double *from, int32_t n, double *to)
{
    for (int64_t i = 0; to && i < length; i++) to[i] += from[i] / n;
}

static void clear(int64_t length, double *to)
{
    if (to) memset(to, 0, (size_t)length * sizeof *to);
}

static void add_fit(int32_t models, const ct_model_fit *from, ct_model_fit *to)
{
    for (int32_t g = 0; g < models; g++) {
        to[g].factors += from[g].factors;
        for (int i = 0; i < CT_NOISE_DIM_MAX; i++) {
            to[g].chi_squared[i] += from[g].chi_squared[i];
            to[g].leverage[i] += from[g].leverage[i];
        }
    }
}

static void add_up(ct_outer *o, int32_t parts, ct_outer_value *value)
{
    const int64_t m = o->m;
    clear(m, value->gradient);
    clear(m * m, value->matrix);
    clear(m * m, value->gradient_covariance);
    if (value->fit) memset(value->fit, 0, (size_t)o->models * sizeof *value->fit);
    value->loss = value->stationarity = 0;
    value->failed = value->solves = value->iterations = value->inexact = 0;
    value->which = -1;
    value->stop = CT_STOP_NONE;
    for (int32_t i = 0; i < o->count; i++) {
        const ct__inner_problem *inner = &o->inner[i];
        if (value->each) value->each[i] = inner->took_part ? inner->loss : NAN;
        if (value->gradients) memcpy(value->gradients + i * m, inner->gradient, (size_t)m * sizeof *inner->gradient);
        if (!inner->took_part) continue;
        value->solves += inner->solves;
        value->loss += inner->loss / parts;
        value->iterations += inner->iterations;
        value->inexact += inner->inexact;
        if (value->fit) add_fit(o->models, inner->fit, value->fit);
        value->stationarity = CT_MAX(value->stationarity, inner->stationarity);
        if (isfinite(inner->loss)) {
            add_mean(m, inner->gradient, parts, value->gradient);
            add_mean(m * m, inner->matrix, parts, value->matrix);
            add_mean(m * m, inner->gradient_covariance, parts, value->gradient_covariance);
        } else if (value->failed++ == 0) {
            value->which = i;
            value->stop = inner->stop;
        }
    }
    if (!value->failed) return;
    value->loss = INFINITY;
    clear(m, value->gradient);
    clear(m * m, value->matrix);
    clear(m * m, value->gradient_covariance);
}

static int32_t select_sequences(ct_outer *o, const uint8_t *part)
{
    int32_t parts = 0;
    for (int32_t i = 0; i < o->count; i++) parts += o->inner[i].took_part = !part || part[i];
    return parts;
}

static ct_status evaluate(ct_outer *o, const double *p, int want, int32_t parts, ct_outer_value *value, ct_err *err)
{
    evaluation e = {.outer = o, .want = want};
    CT_TRY(ct_theta_apply_unprojected(o->theta, p, o->noise, err));
    ct_theta_jacobian_at(o->theta, p, o->slopes);
    CT_TRY(ct__outer_run(o, evaluate_sequence, &e, err));
    if (want & CT__WANT_DERIVATIVES && !(want & CT_WANT_COVARIANCE) && o->options.gradient == CT_GRADIENT_NUMERIC)
        CT_TRY(ct__numeric_derivatives(o, p, err));
    CT_TRY(ct__outer_exchange(o, want, NULL, err));
    for (int32_t i = 0; i < o->count; i++)
        if (o->inner[i].took_part && o->inner[i].status != CT_OK) return ct__no_memory(err, "right-hand sides", o->m);
    add_up(o, parts, value);
    o->solves += value->solves;
    o->fresh = 1;
    return CT_OK;
}

/* A value as a list of numbers, for the checkpoint. */
static int64_t pack(const ct_outer *o, int want, int out, double *number, ct_outer_value *v)
{
    const int64_t m = o->m;
    double *const block[] = {want & CT_WANT_GRADIENT ? v->gradient : NULL,
                             want & CT_WANT_MATRIX ? v->matrix : NULL,
                             want & CT_WANT_COVARIANCE ? v->gradient_covariance : NULL,
                             v->each,
                             v->gradients,
                             (double *)v->fit};
    const int64_t length[] = {m,        m * m,        m * m,
                              o->count, o->count * m, o->models * (int64_t)(sizeof *v->fit / sizeof *number)};
    double head[] = {v->loss, v->failed, v->which, v->stop, v->solves, v->iterations, v->inexact, v->stationarity};
    int64_t       n = sizeof head / sizeof *head;
    if (number && !out) memcpy(number, head, sizeof head);
    if (number && out) {
        v->loss = number[0];
        v->failed = (int32_t)number[1];
        v->which = (int32_t)number[2];
        v->stop = (ct_stop)number[3];
        v->solves = (int)number[4];
        v->iterations = (int)number[5];
        v->inexact = (int32_t)number[6];
        v->stationarity = number[7];
    }
    for (int b = 0; b < 6; b++) {
        if (!block[b]) continue;
        if (number)
            memcpy(out ? block[b] : number + n, out ? number + n : block[b], (size_t)length[b] * sizeof *number);
        n += length[b];
    }
    return n;
}

ct_status ct_outer_evaluate(ct_outer *o, const double *p, const uint8_t *part, ct_outer_value *value, ct_err *err)
{
    const int want = (value->gradient ? CT_WANT_GRADIENT : 0) | (value->matrix ? CT_WANT_MATRIX : 0) |
                     (value->gradient_covariance ? CT_WANT_COVARIANCE : 0) | (value->fit ? CT_WANT_FIT : 0);
    const int32_t parts = select_sequences(o, part);
    if (!parts) return ct_fail(err, CT_E_ARGUMENT, "no sequence is left to evaluate");
    if (!o->checkpoint) return evaluate(o, p, want, parts, value, err);

    const int64_t numbers = pack(o, want, 0, NULL, value);
    double       *number = ct__zalloc(numbers, sizeof *number);
    int           taken = 0;
    if (!number) return ct__no_memory(err, "numbers", numbers);
    ct_status status = ct__checkpoint_take(o->checkpoint, o, want, p, part, numbers, number, &taken, err);
    if (status == CT_OK && taken) {
        pack(o, want, 1, number, value);
        o->solves += value->solves;
        o->fresh = 0;
    } else if (status == CT_OK) {
        status = evaluate(o, p, want, parts, value, err);
        if (status == CT_OK) {
            pack(o, want, 0, number, value);
            status = ct__checkpoint_put(o->checkpoint, o, want, p, part, numbers, number, err);
        }
    }
    free(number);
    return status;
}

ct_status ct_outer_accept(ct_outer *o, ct_err *err)
{
    /* incremental estimates always start from measurements */
    for (int32_t i = 0; o->fresh && !o->options.incremental && i < o->count; i++) {
        ct__inner_problem *inner = &o->inner[i];
        if (!inner->took_part || !isfinite(inner->loss)) continue;
        if (ct__outer_owns(o, i)) ct__inner_swap(inner);
        inner->took_part = 0;
    }
    return ct__outer_checkpoint(o, err);
}

ct_status ct__outer_checkpoint(ct_outer *o, ct_err *err)
{
    return o->checkpoint ? ct__checkpoint_mark(o->checkpoint, o, err) : CT_OK;
}

static void start_again(void *user, int64_t i, int worker)
{
    ct_outer       *o = user;
    ct_err          err = {0};
    const ct_status status = start_sequence(o, (int32_t)i, &err);
    (void)worker;
    if (status != CT_OK) ct__outer_tell(o, (int32_t)i, status, &err);
}

ct_status ct__outer_start_over(ct_outer *o, ct_err *err)
{
    CT_TRY(ct__outer_each(o, start_again, o, err));
    return ct__outer_checkpoint(o, err);
}
