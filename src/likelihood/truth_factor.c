/* truth_factor.c: truth as a measurement. The residual of a variable is its difference from the truth as the loss has
 * it (evaluate.h): the local Log of a pose that is known in full, position in the world and rotation otherwise. Rows of
 * unknown coordinates are zero. */
#include "evaluate/evaluate.h"
#include "likelihood/likelihood.h"

#include <covtune/evaluate.h>
#include <math.h>
#include <stdio.h>

static void eval(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    static const ct_loss LOCAL = {CT_DIFFERENCE_LOCAL, 1, 1};
    const ct__truth     *truth = context;
    double               e[CT_DIM_MAX];
    (void)z;
    ct_loss_variable(&LOCAL, truth->seq, truth->variable, x[0], e, J ? J[0] : NULL);
    memcpy(r, e, (size_t)ct_kind_dim(ct_graph_kind(truth->seq->graph, truth->variable)) * sizeof *r);
}

#define OPS(constant, name_, rows_)                                                                \
    [constant] = {.name = name_,                                                                   \
                  .rows = rows_,                                                                   \
                  .arity = 1,                                                                      \
                  .kind = {constant},                                                              \
                  .fields = 1,                                                                     \
                  .required = 1,                                                                   \
                  .field = {CT_R1},                                                                \
                  .absolute = 1,                                                                   \
                  .jacobian = CT_JACOBIAN_ANALYTIC,                                                \
                  .eval = eval}
static const ct_factor_ops TRUTH[CT_KIND_COUNT] = {
    OPS(CT_R1, "truth_r1", 1),   OPS(CT_R2, "truth_r2", 2),   OPS(CT_R3, "truth_r3", 3),  OPS(CT_SO2, "truth_so2", 1),
    OPS(CT_SO3, "truth_so3", 3), OPS(CT_SE2, "truth_se2", 3), OPS(CT_SE3, "truth_se3", 6)};

static int is_pose(ct_kind kind) { return kind == CT_SE2 || kind == CT_SE3; }

/* Squared motion between the truths of two poses: sum[0] position, sum[1] rotation; count where they are known. */
static void add_motion(const ct_sequence *seq, int32_t from, int32_t to, double sum[2], int64_t count[2])
{
    const ct_kind  kind = ct_graph_kind(seq->graph, to);
    const unsigned turns = ct__turns[kind], known = seq->known[from] & seq->known[to];
    const double  *a = seq->truth + ct_graph_offset(seq->graph, from);
    const double  *b = seq->truth + ct_graph_offset(seq->graph, to);
    double         d[CT_DIM_MAX];
    ct_kind_local(kind, a, b, d);
    for (int i = 0; known & ~turns && i < (kind == CT_SE2 ? 2 : 3); i++) /* stored values begin with the position */
        sum[0] += (b[i] - a[i]) * (b[i] - a[i]);
    for (int i = 0; (known & turns) == turns && i < ct_kind_dim(kind); i++) sum[1] += turns >> i & 1 ? d[i] * d[i] : 0;
    count[0] += (known & ~turns) != 0;
    count[1] += (known & turns) == turns;
}

/* rms <- root mean squares of the true motion from one pose to the next, m and rad; 1 where there is none. */
static void typical_motion(const ct_sequence *seq, double rms[2])
{
    double  sum[2] = {0, 0};
    int64_t count[2] = {0, 0};
    int32_t last = -1;
    for (int32_t v = 0; v < ct_graph_variables(seq->graph); v++) {
        const ct_kind kind = ct_graph_kind(seq->graph, v);
        if (!is_pose(kind) || !seq->known[v]) continue;
        if (last >= 0 && ct_graph_kind(seq->graph, last) == kind) add_motion(seq, last, v, sum, count);
        last = v;
    }
    for (int k = 0; k < 2; k++) rms[k] = sum[k] > 0 ? sqrt(sum[k] / (double)count[k]) : 1;
}

static ct_status add_model(const ct__likelihood_sequence *s, int32_t number, ct_kind kind, ct_noise *noise,
                           int32_t *index, ct_err *err)
{
    char   name[64];
    double variance[CT_DIM_MAX];
    for (int i = 0; i < ct_kind_dim(kind); i++) {
        const double sigma = s->truth_sigma[ct__turns[kind] >> i & 1];
        variance[i] = sigma * sigma;
    }
    snprintf(name, sizeof name, "%s#%d", TRUTH[kind].name, number);
    return ct_noise_add_diagonal(noise, name, ct_kind_dim(kind), variance, index, err);
}

static void choose_sigma(ct__likelihood_sequence *s, const ct_likelihood_options *options)
{
    double rms[2];
    typical_motion(s->seq, rms);
    for (int k = 0; k < 2; k++)
        s->truth_sigma[k] = s->seq->truth_sigma[k] > 0   ? s->seq->truth_sigma[k]
                            : options->truth_sigma[k] > 0 ? options->truth_sigma[k]
                                                          : CT_TRUTH_SIGMA_STEP * rms[k];
}

static int has_truth(const ct_sequence *seq, int32_t v)
{
    return seq->known[v] && !ct_graph_fixed(seq->graph, v);
}

ct_status ct__add_truth_models(ct__likelihood_sequence *s, const ct_likelihood_options *options, int32_t number,
                               ct_noise *noise, ct_err *err)
{
    const ct_sequence *seq = s->seq;
    for (int k = 0; k < CT_KIND_COUNT; k++) s->truth_model[k] = -1;
    if (!options->truth || !seq->truth) return CT_OK;
    choose_sigma(s, options);
    for (int32_t v = 0; v < ct_graph_variables(seq->graph); v++) {
        const ct_kind kind = ct_graph_kind(seq->graph, v);
        if (has_truth(seq, v) && s->truth_model[kind] < 0)
            CT_TRY(add_model(s, number, kind, noise, &s->truth_model[kind], err));
    }
    return CT_OK;
}

ct_status ct__add_truth(ct__likelihood_sequence *s, ct_err *err)
{
    const ct_sequence *seq = s->seq;
    const int32_t      n = ct_graph_variables(seq->graph);
    int                any = 0;
    CT_TRY(ct_graph_copy(seq->graph, &s->whole, err));
    for (int k = 0; k < CT_KIND_COUNT; k++) any |= s->truth_model[k] >= 0;
    if (!any) return CT_OK;
    s->truth = ct__zalloc(n, sizeof *s->truth);
    if (!s->truth) return ct__no_memory(err, "variables", n);
    for (int32_t v = 0; v < n; v++) {
        const ct_kind kind = ct_graph_kind(seq->graph, v);
        const double  z = 0;
        if (!has_truth(seq, v)) continue;
        s->truth[v] = (ct__truth){seq, v};
        CT_TRY(ct_graph_add_factor(s->whole, &TRUTH[kind], &v, &z, &s->truth[v], s->truth_model[kind], err));
    }
    return CT_OK;
}
