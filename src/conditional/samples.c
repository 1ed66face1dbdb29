/* samples.c: squared residuals of a model with the features of their factors. At the truth, residuals are samples of
 * the noise. Without it, their expectation given the measurements is that at the estimate plus its own variance,
 *
 *     E[r_i^2] = r_i^2 + (J P J')_ii,
 *
 * under the present model: the expectation step of EM, whose maximisation step is the regression. For matrix functions
 * outer products r r' are kept, or their expectation r r' + J P J', in units of the rows. */
#include "conditional/conditional.h"
#include "evaluate/evaluate.h"
#include "evaluate/factor_sweep.h"
#include "graph/graph.h"

#include <math.h>

void ct__squares_free(ct__squares *s)
{
    if (s->store) (void)ct__store_reserve(s->store, -s->reserved, 0, "", NULL);
    free(s->square);
    free(s->moment);
    free(s->x);
    free(s->sequence);
    *s = (ct__squares){0};
}

/* Adds one sample: dim squares, moments M of a matrix function, its factor's features. */
static ct_status add(ct__squares *s, const ct_graph *g, const ct_function *f, const int column[], int32_t factor,
                     int32_t sequence, const double *square, double *M, ct_err *err)
{
    const int n = ct__packed(s->dim);
    if (f->matrix) {
        CT_TRY(ct__grow(&s->moment, &s->m_capacity, (s->count + 1) * n, sizeof *s->moment, "residuals", err));
        for (int i = 0; i < s->dim * s->dim; i++) M[i] /= f->unit[i / s->dim] * f->unit[i % s->dim];
        ct__sym_pack(s->dim, M, s->moment + s->count * n);
    }
    CT_TRY(ct__grow(&s->square, &s->r_capacity, (s->count + 1) * s->dim, sizeof *s->square, "residuals", err));
    CT_TRY(ct__grow(&s->x, &s->x_capacity, (s->count + 1) * s->features, sizeof *s->x, "features", err));
    CT_TRY(ct__grow(&s->sequence, &s->s_capacity, s->count + 1, sizeof *s->sequence, "residuals", err));
    memcpy(s->square + s->count * s->dim, square, (size_t)s->dim * sizeof *square);
    ct__factor_features(g, factor, f, column, s->x + s->count * s->features);
    s->sequence[s->count++] = sequence;
    return CT_OK;
}

void ct__squares_begin(const ct_theta *theta, const ct_noise *noise, int32_t model, ct__squares *out)
{
    const ct_noise_model *m = ct_noise_get(noise, model);
    *out = (ct__squares){.model = model, .dim = m->dim, .features = m->function->features};
    ct__tied_rows(theta, model, out->same_row);
}

/* Of sequences in a cache, squares and features of all factors of the model take their part of the limit: a sample's
 * numbers, what their arrays have grown beyond them, and the terms of its regression. */
static ct_status reserve_room(int32_t count, const ct_sequence *const seq[], const ct_noise *noise, int32_t model,
                              ct__squares *out, ct_err *err)
{
    const ct_function *f = ct_noise_get(noise, model)->function;
    const int64_t      moments = out->dim + (f->matrix ? ct__packed(out->dim) : 0);
    const int64_t      numbers = 2 * (moments + f->features + 1) + f->terms;
    int64_t            samples = 0;
    ct__store         *store = count ? ct__store_of(seq[0]) : NULL;
    if (!store) return CT_OK;
    for (int32_t i = 0; i < count; i++)
        if (model < seq[i]->graph->noise_count) samples += seq[i]->graph->noise_use[model].factors;
    const int64_t bytes = samples * numbers * (int64_t)sizeof(double);
    CT_TRY(ct__store_reserve(store, bytes, 1, "squared residuals and features of a function", err));
    out->store = store;
    out->reserved += bytes;
    return CT_OK;
}

static ct_status add_truth(const ct_sequence *seq, int32_t i, const ct_function *f, int32_t model, ct__squares *out,
                           ct_err *err)
{
    const ct_graph *g = seq->graph;
    int             column[CT_FUNCTION_FEATURES_MAX];
    ct__feature_columns(g, f, column);
    for (int32_t k = 0; k < g->factors; k++) {
        double r[CT_ROWS_MAX], M[CT_ROWS_MAX * CT_ROWS_MAX];
        if (g->factor[k].noise != model || !seq->truth || !ct__truth_residual(seq, k, r)) continue;
        for (int a = 0; a < out->dim * out->dim; a++) M[a] = r[a / out->dim] * r[a % out->dim];
        for (int row = 0; row < out->dim; row++) r[row] *= r[row];
        CT_TRY(add(out, g, f, column, k, i, r, M, err));
    }
    return CT_OK;
}

ct_status ct__squares_at_truth(int32_t count, const ct_sequence *const seq[], const ct_noise *noise, int32_t model,
                               ct__squares *out, ct_err *err)
{
    const ct_function *f = ct_noise_get(noise, model)->function;
    CT_TRY(reserve_room(count, seq, noise, model, out, err));
    for (int32_t i = 0; i < count; i++) {
        CT_TRY(ct_sequence_acquire(seq[i], err));
        const ct_status status = add_truth(seq[i], i, f, model, out, err);
        ct_sequence_release(seq[i]);
        CT_TRY(status);
    }
    return CT_OK;
}

/* ---- Without truth ---- */

typedef struct {
    ct__squares       *out;
    const ct_graph    *graph;
    const ct_function *function;
    int                column[CT_FUNCTION_FEATURES_MAX];
    int32_t            sequence, model;
    ct_status          status;
    ct_err            *err;
} expectation;

/* M <- (r r' + J P J') / m without T: M <- F M F' / m, F = T^-1. */
static void expect_moment(const ct__factor_at *f, double multiplier, double *M)
{
    const int   rows = f->ops->rows;
    ct__scaling F;
    double      half[CT_ROWS_MAX * CT_ROWS_MAX];
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < rows; k++) {
            double sum = f->r[i] * f->r[k];
            for (int a = 0; a < f->n; a++)
                for (int b = 0; b < f->n; b++) sum += f->J[i * f->n + a] * f->P[a * f->n + b] * f->J[k * f->n + b];
            M[i * rows + k] = sum / multiplier;
        }
    ct__scale_invert(&f->scale, rows, &F);
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < rows; k++) {
            half[i * rows + k] = 0;
            for (int j = 0; j < rows; j++) half[i * rows + k] += F.t[i * rows + j] * M[j * rows + k];
        }
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < rows; k++) {
            M[i * rows + k] = 0;
            for (int j = 0; j < rows; j++) M[i * rows + k] += half[i * rows + j] * F.t[k * rows + j];
        }
}

/* r and J are multiplied by T; a multiplier stays divided out. */
static void add_expected(void *user, ct__factor_at *f)
{
    expectation *e = user;
    double       square[CT_ROWS_MAX], M[CT_ROWS_MAX * CT_ROWS_MAX];
    const double m = e->graph->factor[f->factor].multiplier;
    if (f->noise != e->model || e->status != CT_OK) return;
    if (f->scale.full) expect_moment(f, m, M);
    for (int i = 0; i < f->ops->rows; i++) {
        double sum = f->r[i] * f->r[i];
        for (int a = 0; a < f->n; a++)
            for (int b = 0; b < f->n; b++) sum += f->J[i * f->n + a] * f->P[a * f->n + b] * f->J[i * f->n + b];
        square[i] = f->scale.full ? M[i * f->ops->rows + i] : sum / (f->scale.t[i] * f->scale.t[i] * m);
    }
    e->status = add(e->out, e->graph, e->function, e->column, f->factor, e->sequence, square, M, e->err);
}

/* graph: that of the sequence, perhaps with more fixed variables. */
static ct_status expect_sequence(const ct_sequence *seq, const ct_graph *graph, ct_start start, const ct_noise *noise,
                                 expectation *e, ct_err *err)
{
    ct_solver      *solver = NULL;
    ct_solve_result result;
    double         *x = ct__zalloc(ct_graph_size(seq->graph), sizeof *x);
    ct_status       status = x ? ct_solver_new(graph, NULL, &solver, err) : ct__no_memory(err, "values", 1);
    if (status == CT_OK) status = ct_start_values(seq, start, x, err);
    if (status == CT_OK) status = ct_solver_run(solver, noise, x, NULL, &result, err);
    if (status == CT_OK && ct_solve_usable(&result)) {
        status = ct__factor_sweep(solver, noise, x, NULL, add_expected, e, err);
        if (status == CT_OK) status = e->status;
        if (status == CT_E_SINGULAR) status = CT_OK; /* a sequence without a unique estimate says nothing */
    }
    ct_solver_free(solver);
    free(x);
    return status;
}

/* Variables whose truth is known are fixed at it. */
static ct_status expect_given_truth(const ct_sequence *seq, const ct_noise *noise, expectation *e, ct_err *err)
{
    ct_graph *graph = NULL;
    ct_status status = ct_graph_copy(seq->graph, &graph, err);
    for (int32_t v = 0; status == CT_OK && v < ct_graph_variables(graph); v++) {
        const unsigned all = (1u << ct_kind_dim(ct_graph_kind(graph, v))) - 1;
        if ((seq->known[v] & all) == all) ct_graph_fix(graph, v, 1);
    }
    if (status == CT_OK) status = expect_sequence(seq, graph, CT_START_TRUTH, noise, e, err);
    ct_graph_free(graph);
    return status;
}

ct_status ct__squares_expected(int32_t count, const ct_sequence *const seq[], const ct_noise *noise, int32_t model,
                               int truth, ct__squares *out, ct_err *err)
{
    const ct_function *f = ct_noise_get(noise, model)->function;
    CT_TRY(reserve_room(count, seq, noise, model, out, err));
    for (int32_t i = 0; i < count; i++) {
        expectation e = {.out = out, .function = f, .sequence = i, .model = model, .err = err};
        ct_status   status = CT_OK;
        CT_TRY(ct_sequence_acquire(seq[i], err));
        e.graph = seq[i]->graph;
        ct__feature_columns(e.graph, f, e.column);
        if (!truth) status = expect_sequence(seq[i], e.graph, CT_START_MEASURED, noise, &e, err);
        else if (seq[i]->truth) status = expect_given_truth(seq[i], noise, &e, err);
        ct_sequence_release(seq[i]);
        CT_TRY(status);
    }
    return CT_OK;
}
