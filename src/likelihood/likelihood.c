/* likelihood.c: L over many sequences. Sequences are evaluated on several threads; their values are added in the order
 * of the sequences. */
#include "likelihood/likelihood.h"

#include "comm/comm.h"
#include "data/store.h"
#include "graph/graph.h"
#include "solve/solve.h"
#include "sparse/sparse.h"
#include "theta/check_noise.h"

#include <math.h>

ct_likelihood_options ct_likelihood_defaults(void)
{
    ct_likelihood_options o = {.truth = 1, .inner = ct_solve_defaults(), .jobs = 1};
    o.inner.method = CT_NEWTON;
    o.inner.max_iterations = 200;
    o.inner.relative = o.inner.absolute = o.inner.gradient = 0;
    o.inner.step = 1e-6;
    o.inner.distance = 1e-4; /* with exact Hessians the error after a step is its square */
    return o;
}

/* ---- Construction ---------------------------------------------------------------------------- */

ct_status ct__no_normaliser(const ct_noise_model *model, ct_robust robust, ct_err *err)
{
    return ct_fail(err, CT_E_NOISE,
                   "noise model \"%s\": exp(-rho) of kernel %s %g has no finite integral over %d row%s, so there is no "
                   "likelihood; huber has one, cauchy if its width squared exceeds the rows",
                   model->name, ct_robust_name(robust.kind), robust.width, model->dim, model->dim == 1 ? "" : "s");
}

/* Every learned model must be used, and have a kernel that can be normalised. */
static ct_status check_models(ct_likelihood *l, const ct_noise *noise, ct_err *err)
{
    for (int32_t g = 0; g < l->models; g++) {
        const ct_noise_model *model = ct_noise_get(noise, g);
        int32_t               used = 0;
        l->slot[g] = ct_theta_learns(l->theta, g) ? l->slots++ : -1;
        if (l->slot[g] < 0) continue;
        for (int32_t i = 0; i < l->count && !used; i++) {
            const ct_graph *graph = l->sequence[i].seq->graph;
            used = g < graph->noise_count && graph->noise_use[g].factors > 0;
        }
        if (!used)
            return ct_fail(err, CT_E_ARGUMENT,
                           "noise model \"%s\" is to be learned, but no factor of the %d sequence%s uses it",
                           model->name, l->count, l->count == 1 ? "" : "s");
        l->normaliser[g] = ct_robust_log_normaliser(model->robust, model->dim);
        if (isfinite(l->normaliser[g])) continue;
        return ct__no_normaliser(model, model->robust, err);
    }
    return CT_OK;
}

/* Known coordinates start from the truth, others from measurements. */
static ct_status find_start(const ct_likelihood *l, ct__likelihood_sequence *s, ct_err *err)
{
    const ct_sequence *seq = s->seq;
    CT_TRY(ct_start_values(seq, CT_START_MEASURED, s->first, err));
    for (int32_t v = 0; l->options.truth && seq->truth && v < ct_graph_variables(seq->graph); v++) {
        const ct_kind kind = ct_graph_kind(seq->graph, v);
        const int64_t at = ct_graph_offset(seq->graph, v);
        const int     positions = kind == CT_SE2 ? 2 : kind == CT_SE3 ? 3 : ct_kind_size(kind);
        if (!seq->known[v] || ct_graph_fixed(seq->graph, v)) continue;
        if (seq->known[v] == (1u << ct_kind_dim(kind)) - 1)
            memcpy(s->first + at, seq->truth + at, (size_t)ct_kind_size(kind) * sizeof *s->first);
        else /* of a partial truth the position: stored values begin with it */
            for (int i = 0; i < positions; i++) {
                const int bit = kind == CT_SE3 ? i + 3 : i;
                if (seq->known[v] >> bit & 1) s->first[at + i] = seq->truth[at + i];
            }
    }
    return CT_OK;
}

/* The sequence, which is acquired. It stays open if there is no cache. */
static ct_status make_sequence(ct_likelihood *l, ct__likelihood_sequence *s, ct_err *err)
{
    const int64_t m = l->m;
    s->gradient = ct__zalloc(m + m * m, sizeof *s->gradient);
    if (!s->gradient) return ct__no_memory(err, "parameters", m);
    s->information = s->gradient + m;
    CT_TRY(ct__likelihood_build(l, s, err));
    CT_TRY(find_start(l, s, err));
    CT_TRY(ct__likelihood_keep_first(l, s, err));
    l->scalars = CT_MAX(l->scalars, s->solver->scalars);
    if (s->solver->approximate)
        return ct_fail(err, CT_E_UNSUPPORTED, "sequence %s: the likelihood needs exact Jacobians of all factors",
                       ct_sequence_label(s->seq));
    return CT_OK;
}

static ct_status make_sequences(ct_likelihood *l, const ct_noise *noise, ct_err *err)
{
    for (int32_t i = 0; i < l->count; i++) {
        ct__likelihood_sequence *s = &l->sequence[i];
        ct_err                   inner = {0};
        CT_TRY(ct_sequence_acquire(s->seq, err));
        ct_status status = ct_graph_check_noise(s->seq->graph, noise, &inner);
        if (status != CT_OK)
            status = ct_fail(err, CT_E_NOISE, "sequence %s: %s", ct_sequence_label(s->seq), inner.text);
        if (status == CT_OK) status = ct__add_truth_models(s, &l->options, i, l->noise, err);
        if (status == CT_OK) status = make_sequence(l, s, err);
        if (l->store) ct__likelihood_release(l, s);
        ct_sequence_release(s->seq);
        CT_TRY(status);
    }
    return CT_OK;
}

static ct_status make_scratch(ct_likelihood *l, ct_err *err)
{
    const int64_t scalars = CT_MAX(1, l->scalars);
    l->scratch = ct__zalloc(l->options.jobs, sizeof *l->scratch);
    if (!l->scratch) return ct__no_memory(err, "threads", l->options.jobs);
    for (int k = 0; k < l->options.jobs; k++) {
        ct__likelihood_scratch *s = &l->scratch[k];
        s->g = ct__zalloc(scalars, sizeof *s->g);
        s->S = ct__zalloc(2 * scalars * l->m, sizeof *s->S);
        s->dL_dSigma = ct__zalloc((int64_t)l->slots * CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX, sizeof *s->dL_dSigma);
        s->floor = ct__zalloc(l->m, sizeof *s->floor);
        if (!s->g || !s->S || !s->dL_dSigma || !s->floor) return ct__no_memory(err, "numbers", scalars * l->m);
        s->PS = s->S + scalars * l->m;
    }
    return CT_OK;
}

static ct_status fill(ct_likelihood *l, const ct_sequence *const seq[], const ct_noise *noise, ct_err *err)
{
    CT_TRY(ct_noise_copy(noise, &l->noise, err));
    CT_TRY(ct_theta_jacobian_new(l->theta, &l->slopes, err));
    l->slot = ct__zalloc(l->models, sizeof *l->slot);
    l->normaliser = ct__zalloc(l->models, sizeof *l->normaliser);
    l->constant = ct__zalloc(l->models, sizeof *l->constant);
    if (!l->slot || !l->normaliser || !l->constant) return ct__no_memory(err, "noise models", l->models);
    l->retimed = ct__zalloc(l->models, sizeof *l->retimed);
    l->thinned = ct__zalloc(l->models, sizeof *l->thinned);
    if (!l->retimed || !l->thinned) return ct__no_memory(err, "noise models", l->models);
    l->options.jobs = CT_MAX(1, l->options.jobs);
    for (int32_t i = 0; i < l->count; i++) {
        l->sequence[i].seq = seq[i];
        l->sequence[i].size = ct_graph_size(seq[i]->graph);
    }
    CT_TRY(check_models(l, noise, err));
    CT_TRY(ct__likelihood_plan(l, err));
    CT_TRY(make_sequences(l, noise, err));
    return make_scratch(l, err);
}

ct_status ct_likelihood_new(int32_t count, const ct_sequence *const seq[], const ct_noise *noise, const ct_theta *theta,
                            const ct_likelihood_options *options, ct_likelihood **out, ct_err *err)
{
    *out = NULL;
    if (count < 1) return ct_fail(err, CT_E_ARGUMENT, "there is no sequence to learn from");
    if (ct_theta_count(theta) < 1)
        return ct_fail(err, CT_E_ARGUMENT, "there is nothing to learn: every noise model is frozen");
    CT_TRY(ct__theta_check_noise(theta, noise, err));
    ct_likelihood *l = ct__zalloc(1, sizeof *l);
    if (!l) return ct__no_memory(err, "likelihoods", 1);
    l->theta = theta;
    l->m = ct_theta_count(theta);
    l->models = ct_noise_count(noise);
    l->count = count;
    l->options = options ? *options : ct_likelihood_defaults();
    l->sequence = ct__zalloc(count, sizeof *l->sequence);
    const ct_status status = l->sequence ? fill(l, seq, noise, err) : ct__no_memory(err, "sequences", count);
    if (status == CT_OK) *out = l;
    else ct_likelihood_free(l);
    return status;
}

void ct_likelihood_free(ct_likelihood *l)
{
    if (!l) return;
    for (int32_t i = 0; l->sequence && i < l->count; i++) {
        ct__likelihood_sequence *s = &l->sequence[i];
        ct__likelihood_release(l, s);
        free(s->left_out);
        free(s->gradient);
    }
    for (int k = 0; l->scratch && k < l->options.jobs; k++) {
        void *const owned[] = {l->scratch[k].g, l->scratch[k].S, l->scratch[k].dL_dSigma, l->scratch[k].floor};
        for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    }
    ct__solver_pool_free(l->pool);
    if (l->store) (void)ct__store_reserve(l->store, -l->reserved, 0, "", NULL);
    free(l->retimed);
    free(l->thinned);
    free(l->scratch);
    free(l->sequence);
    free(l->slot);
    free(l->normaliser);
    free(l->constant);
    free(l->slopes);
    ct_noise_free(l->noise);
    free(l);
}

void ct_likelihood_truth_sigma(const ct_likelihood *l, int32_t i, double sigma[2])
{
    memcpy(sigma, l->sequence[i].truth_sigma, sizeof l->sequence[i].truth_sigma);
}

/* ---- Evaluation ------------------------------------------------------------------------------ */

typedef struct {
    ct_likelihood *l;
    int            want;
} evaluation;

static void evaluate_sequence(void *user, int64_t i, int worker)
{
    const evaluation        *e = user;
    ct__likelihood_sequence *s = &e->l->sequence[i];
    s->status = ct__likelihood_open(e->l, (int32_t)i, NULL);
    if (s->status != CT_OK) return;
    ct__likelihood_evaluate_sequence(e->l, s, &e->l->scratch[worker], e->want);
    const ct_status closed = ct__likelihood_close(e->l, (int32_t)i, 1, NULL);
    if (s->status == CT_OK) s->status = closed;
}

/* Of all sequences that take part, in an order that the cache knows. */
static ct_status run(const ct_likelihood *l, const ct__spread *spread, ct_err *err)
{
    const ct_sequence **seq = l->store ? ct__zalloc(l->count, sizeof *seq) : NULL;
    ct__prefetch       *prefetch = NULL;
    int64_t             n = 0;
    if (l->store && !seq) return ct__no_memory(err, "sequences", l->count);
    for (int32_t i = 0; seq && i < l->count; i++)
        if (l->sequence[i].took_part && ct__spread_owns(spread, i)) seq[n++] = l->sequence[i].seq;
    if (seq) ct__prefetch_begin(n, seq, l->options.jobs, &prefetch);
    const ct_status status = ct__spread_run(spread, err);
    ct__prefetch_end(prefetch);
    free((void *)seq);
    return status;
}

/* ---- over ranks: value, derivatives and solution of a sequence ---- */

typedef struct {
    double  value;
    int32_t stop, status, iterations, solves, inexact, zero;
} head;

static int is_wanted(const void *user, int64_t i) { return ((const evaluation *)user)->l->sequence[i].took_part; }

static int64_t numbers(const evaluation *e) { return (int64_t)e->l->m + (int64_t)e->l->m * e->l->m; }

static int64_t record_size(const void *user, int64_t i)
{
    const evaluation *e = user;
    return (int64_t)sizeof(head) +
           (numbers(e) + e->l->sequence[i].size) * (int64_t)sizeof(double);
}

static void pack(const void *user, int64_t i, void *record)
{
    const evaluation        *e = user;
    ct__likelihood_sequence *s = &e->l->sequence[i];
    double                  *at = (double *)(void *)((char *)record + sizeof(head));
    const ct_status          status = ct__likelihood_copy_x(e->l, (int32_t)i, at + numbers(e), 1, NULL);
    if (s->status == CT_OK) s->status = status;
    const head h = {s->value, (int32_t)s->stop, (int32_t)s->status, s->iterations, s->solves, s->inexact, 0};
    memcpy(record, &h, sizeof h);
    memcpy(at, s->gradient, (size_t)numbers(e) * sizeof *at);
}

static void unpack(void *user, int64_t i, const void *record)
{
    const evaluation        *e = user;
    ct__likelihood_sequence *s = &e->l->sequence[i];
    head                     h;
    memcpy(&h, record, sizeof h);
    const double *at = (const double *)(const void *)((const char *)record + sizeof h);
    s->value = h.value;
    s->stop = (ct_stop)h.stop;
    s->status = (ct_status)h.status;
    s->iterations = h.iterations;
    s->solves = h.solves;
    s->inexact = h.inexact;
    memcpy(s->gradient, at, (size_t)numbers(e) * sizeof *at);
    const ct_status status =
        ct__likelihood_copy_x(e->l, (int32_t)i, (double *)(uintptr_t)(at + numbers(e)), 0, NULL);
    if (s->status == CT_OK) s->status = status;
}

static void clear(int64_t length, double *to)
{
    if (to) memset(to, 0, (size_t)length * sizeof *to);
}

static void add(int64_t length, const double *from, double *to)
{
    for (int64_t i = 0; to && i < length; i++) to[i] += from[i];
}

static void add_up(const ct_likelihood *l, ct_likelihood_value *value)
{
    const int64_t m = l->m;
    clear(m, value->gradient);
    clear(m * m, value->information);
    value->value = 0;
    value->failed = value->inexact = value->solves = value->iterations = 0;
    value->which = -1;
    value->stop = CT_STOP_NONE;
    for (int32_t i = 0; i < l->count; i++) {
        const ct__likelihood_sequence *s = &l->sequence[i];
        if (value->each) value->each[i] = s->took_part ? s->value : NAN;
        if (value->gradients) memcpy(value->gradients + i * m, s->gradient, (size_t)m * sizeof *s->gradient);
        if (!s->took_part) {
            clear(m, value->gradients ? value->gradients + i * m : NULL);
            continue;
        }
        value->value += s->value;
        value->solves += s->solves;
        value->iterations += s->iterations;
        value->inexact += s->inexact;
        add(m, s->gradient, value->gradient);
        add(m * m, s->information, value->information);
        if (!isfinite(s->value) && value->failed++ == 0) {
            value->which = i;
            value->stop = s->stop;
        }
    }
    if (!value->failed) return;
    value->value = INFINITY;
    clear(m, value->gradient);
    clear(m * m, value->information);
}

/* 1/2 log det Sigma + log Z of learned models. */
static void find_constants(ct_likelihood *l)
{
    for (int32_t g = 0; g < l->models; g++) {
        const ct_noise_model *model = ct_noise_get(l->noise, g);
        l->constant[g] = l->slot[g] < 0 ? 0 : l->normaliser[g];
        for (int i = 0; l->slot[g] >= 0 && i < model->dim; i++)
            l->constant[g] -= log(model->sqrt_info[model->kind == CT_NOISE_FULL ? i * model->dim + i : i]);
    }
}

ct_status ct_likelihood_evaluate(ct_likelihood *l, const double *p, const uint8_t *part, ct_likelihood_value *value,
                                 ct_err *err)
{
    evaluation e = {.l = l};
    if (value->gradient || value->gradients) e.want |= CT__LIKELIHOOD_GRADIENT;
    if (value->information) e.want |= CT__LIKELIHOOD_INFORMATION;
    CT_TRY(ct_theta_apply_unprojected(l->theta, p, l->noise, err));
    ct_theta_jacobian_at(l->theta, p, l->slopes);
    find_constants(l);
    for (int32_t i = 0; i < l->count; i++) l->sequence[i].took_part = !part || part[i];
    const ct__spread spread = {.comm = l->options.comm,
                               .jobs = l->options.jobs,
                               .count = l->count,
                               .task = evaluate_sequence,
                               .user = &e,
                               .wanted = is_wanted,
                               .size = record_size,
                               .pack = pack,
                               .unpack = unpack};
    CT_TRY(run(l, &spread, err));
    CT_TRY(ct__spread_exchange(&spread, err));
    for (int32_t i = 0; i < l->count; i++)
        if (l->sequence[i].took_part && l->sequence[i].status != CT_OK)
            return ct_fail(err, l->sequence[i].status, "sequence %s could not be evaluated: %s",
                           ct_sequence_label(l->sequence[i].seq), ct_status_text(l->sequence[i].status));
    add_up(l, value);
    return CT_OK;
}
