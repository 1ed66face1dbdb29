/* black_box.c: covtune's own batch estimates as the estimator of `tune`. */
#include "studies/tuning/black_box.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRY(call)                                \
    do {                                         \
        const ct_status status_ = (call);        \
        if (status_ != CT_OK) return status_;    \
    } while (0)

static const ct_sequence *sequence_of(const black_box *b, int32_t log)
{
    return log < b->data->trains ? b->data->train[log] : b->data->test[log - b->data->trains];
}

static int is_learned(const ct_noise *noise, int32_t g)
{
    return strcmp(ct_noise_get(noise, g)->name, "first_pose") != 0;
}

static ct_status no_memory(ct_err *err) { return ct_fail(err, CT_E_MEMORY, "no memory for the estimator"); }

static ct_status allocate(black_box *b, ct_err *err)
{
    const nav_data *d = b->data;
    int64_t         most = 0;
    for (int32_t g = 0; g < ct_noise_count(d->latent); g++)
        if (is_learned(d->latent, g)) b->m += ct_noise_get(d->latent, g)->dim;
    b->logs = d->trains + d->tests;
    b->parameter = calloc((size_t)b->m, sizeof *b->parameter);
    b->log = calloc((size_t)b->logs, sizeof *b->log);
    b->name = calloc((size_t)b->logs, sizeof *b->name);
    b->model = calloc(2 * (size_t)b->m, sizeof *b->model);
    b->now = calloc((size_t)b->m, sizeof *b->now);
    b->solver = calloc((size_t)b->logs, sizeof *b->solver);
    if (!b->parameter || !b->log || !b->name || !b->model || !b->now || !b->solver) return no_memory(err);
    b->row = b->model + b->m;
    for (int32_t i = 0; i < b->logs; i++) {
        const ct_sequence *seq = sequence_of(b, i);
        TRY(ct_solver_new(seq->graph, NULL, &b->solver[i], err));
        if (ct_graph_size(seq->graph) > most) most = ct_graph_size(seq->graph);
        snprintf(b->name[i], sizeof b->name[i], "%s%d", i < d->trains ? "train" : "test", (int)i);
        b->log[i] = (ct_tune_log){b->name[i], b->name[i], i >= d->trains};
    }
    b->x = malloc((size_t)most * sizeof *b->x);
    return b->x ? CT_OK : no_memory(err);
}

static void name_parameters(black_box *b)
{
    int32_t k = 0;
    for (int32_t g = 0; g < ct_noise_count(b->data->latent); g++) {
        const ct_noise_model *model = ct_noise_get(b->data->latent, g);
        for (int r = 0; is_learned(b->data->latent, g) && r < model->dim; r++, k++) {
            ct_tune_parameter *p = &b->parameter[k];
            *p = (ct_tune_parameter){
                .start = model->covariance[r],
                .lower = CT_BOUND_LOOSE_LOWER,
                .upper = CT_BOUND_LOOSE_UPPER,
                .quantity = CT_QUANTITY_VARIANCE,
                .log = 1,
                .tie = -1,
                .group = -1,
            };
            snprintf(p->name, sizeof p->name, "%.50s.%d", model->name, r);
            b->model[k] = g;
            b->row[k] = r;
        }
    }
    b->problem = (ct_tune_problem){b->m, b->data->trains, 0, b->parameter, b->log, NULL}; /* box_loss has the others */
}

void box_forget(black_box *b, int compares)
{
    b->compares = compares;
    b->summed = 0;
    b->sum = b->least = INFINITY;
}

/* A run of which it is known that its point is not the best: residuals as large as those of the point's other logs. */
static ct_status not_the_best(const black_box *b, int32_t log, ct_tune_outcome *out, ct_err *err)
{
    *out = (ct_tune_outcome){.translation = NAN, .rotation = NAN, .nees = NAN};
    out->rows = 3 * (int64_t)ct_graph_variables(sequence_of(b, log)->graph);
    out->residual = malloc((size_t)out->rows * sizeof *out->residual);
    if (!out->residual) return no_memory(err);
    for (int64_t i = 0; i < out->rows; i++) out->residual[i] = sqrt(2 * b->sum);
    return CT_OK;
}

/* A run for a method that compares losses: a point's logs come one after the other. */
static ct_status run_or_skip(black_box *b, const ct_tune_request *q, ct_err *err)
{
    const size_t bytes = (size_t)b->m * sizeof *b->now;
    double       own = 0;
    if (q->repeat || q->log >= b->data->trains) return box_run(b, q->value, q->log, q->repeat, &b->outcome, err);
    if (memcmp(b->now, q->value, bytes) || q->log == 0) {
        memcpy(b->now, q->value, bytes);
        b->sum = b->summed = 0;
    }
    if (b->sum > b->least) {
        b->runs++;
        return not_the_best(b, q->log, &b->outcome, err);
    }
    TRY(box_run(b, q->value, q->log, q->repeat, &b->outcome, err));
    const ct_tune_outcome *o = &b->outcome;
    for (int64_t i = 0; i < o->rows; i++) own += o->residual[i] * o->residual[i];
    b->sum += o->end == CT_TUNE_DONE ? 0.5 * own / (double)o->rows : NAN;
    if (++b->summed == b->data->trains && b->sum < b->least) b->least = b->sum;
    return CT_OK;
}

static ct_status submit(void *user, const ct_tune_request *request, ct_err *err)
{
    black_box *b = user;
    b->ticket = request->ticket;
    if (b->compares) return run_or_skip(b, request, err);
    return box_run(b, request->value, request->log, request->repeat, &b->outcome, err);
}

static ct_status collect(void *user, double wait_s, int64_t *ticket, ct_tune_outcome *outcome, ct_err *err)
{
    black_box *b = user;
    (void)wait_s;
    (void)err;
    *ticket = b->ticket;
    *outcome = b->outcome;
    b->ticket = -1;
    b->outcome = (ct_tune_outcome){0};
    return CT_OK;
}

static void abandon(void *user)
{
    black_box *b = user;
    ct_tune_outcome_free(&b->outcome);
    b->ticket = -1;
}

ct_status box_new(const nav_data *data, const box_faults *faults, black_box *b, ct_err *err)
{
    *b = (black_box){.data = data, .inference = ct_inference_defaults(), .ticket = -1};
    if (faults) b->faults = *faults;
    b->inference.incremental = 0;
    b->queue = (ct_tune_queue){b, 1, submit, collect, abandon, NULL};
    ct_status status = ct_noise_copy(data->latent, &b->noise, err);
    if (status == CT_OK) status = allocate(b, err);
    if (status == CT_OK) name_parameters(b);
    else box_free(b);
    return status;
}

void box_free(black_box *b)
{
    abandon(b);
    for (int32_t i = 0; b->solver && i < b->logs; i++) ct_solver_free(b->solver[i]);
    free(b->parameter);
    free(b->log);
    free(b->name);
    free(b->model);
    free(b->now);
    free(b->solver);
    free(b->x);
    ct_noise_free(b->noise);
}

static double rounded(double x, int digits)
{
    char text[64];
    snprintf(text, sizeof text, "%.*g", digits, x);
    return strtod(text, NULL);
}

/* x as a program would write it: six digits or so of each coordinate. */
static void round_values(const black_box *b, const ct_sequence *seq)
{
    for (int32_t v = 0; b->faults.digits && v < ct_graph_variables(seq->graph); v++) {
        double *at = b->x + ct_graph_offset(seq->graph, v);
        at[0] = rounded(at[0], b->faults.digits);
        at[1] = rounded(at[1], b->faults.digits);
        const double angle = rounded(atan2(at[3], at[2]), b->faults.digits);
        at[2] = cos(angle);
        at[3] = sin(angle);
    }
}

#define SLOW   3.0  /* of the residuals' size, times the noise: the loss changes by some 0.7 times the noise */
#define MEMORY 0.98 /* of noise, from pose to pose: it lasts fifty poses, as of a filter whose threads race */

/* Residuals of all variables, with noise that changes the loss by its relative deviation from run to run. Half of its
 * variance scales the residuals of the run. The other half is a slow error of poses, a first-order Markov process. */
static ct_status residuals(const black_box *b, const ct_sequence *seq, ct_rng *rng, ct_tune_outcome *out, ct_err *err)
{
    const ct_loss loss = ct_loss_defaults();
    const int32_t count = ct_graph_variables(seq->graph);
    const double  scale = sqrt(fmax(0.1, 1 + 0.7 * b->faults.noise * ct_rng_normal(rng)));
    double        square = 0, slow[3];
    out->residual = malloc((size_t)count * 3 * sizeof *out->residual);
    if (!out->residual) return no_memory(err);
    out->rows = 3 * (int64_t)count;
    for (int32_t v = 0; v < count; v++) {
        double e[CT_DIM_MAX] = {0};
        ct_loss_variable(&loss, seq, v, b->x + ct_graph_offset(seq->graph, v), e, NULL);
        for (int r = 0; r < 3; r++) {
            out->residual[3 * v + r] = scale * e[r];
            square += e[r] * e[r];
        }
    }
    const double size = SLOW * b->faults.noise * sqrt(square / (3.0 * count));
    for (int r = 0; r < 3; r++) slow[r] = ct_rng_normal(rng);
    for (int32_t v = 0; v < count && size > 0; v++)
        for (int r = 0; r < 3; r++) {
            slow[r] = MEMORY * slow[r] + sqrt(1 - MEMORY * MEMORY) * ct_rng_normal(rng);
            out->residual[3 * v + r] += size * slow[r];
        }
    return CT_OK;
}

ct_status box_run(black_box *b, const double *value, int32_t log, int32_t repeat, ct_tune_outcome *out, ct_err *err)
{
    const ct_sequence *seq = sequence_of(b, log);
    ct_inference_result result;
    uint64_t h = b->faults.seed;
    for (int32_t k = 0; k < b->m; k++) {
        uint64_t bits;
        memcpy(&bits, &value[k], sizeof bits);
        h = (h ^ bits) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    ct_rng rng = ct_rng_seed(h ^ (uint64_t)log << 32 ^ (uint64_t)repeat);
    *out = (ct_tune_outcome){.translation = NAN, .rotation = NAN, .nees = NAN};
    b->runs++;
    if (ct_rng_uniform(&rng) < b->faults.crashes) {
        out->end = CT_TUNE_CRASHED;
        return CT_OK;
    }
    for (int32_t k = 0; k < b->m;) {
        double v[6];
        const int32_t g = b->model[k];
        for (int r = 0; k < b->m && b->model[k] == g; k++, r++) v[r] = value[k];
        TRY(ct_noise_set_variance(b->noise, g, v, err));
    }
    TRY(ct_infer(seq, b->noise, b->solver[log], &b->inference, b->x, &result, err));
    round_values(b, seq);
    const ct_accuracy a = ct_accuracy_of(seq, b->x);
    out->translation = a.translation;
    out->rotation = a.rotation;
    out->poses = a.poses;
    if (result.solve.stop == CT_STOP_RANK || result.solve.stop == CT_STOP_NOT_FINITE) {
        out->end = CT_TUNE_NO_ESTIMATE;
        return CT_OK;
    }
    return residuals(b, seq, &rng, out, err);
}

ct_status box_loss(black_box *b, const double *value, int test, double limit, double *loss, ct_err *err)
{
    const box_faults faults = b->faults;
    const int64_t    runs = b->runs;
    const int32_t    from = test ? b->data->trains : 0, to = test ? b->logs : b->data->trains;
    ct_status        status = CT_OK;
    b->faults = (box_faults){0};
    *loss = 0;
    for (int32_t log = from; log < to && isfinite(*loss) && status == CT_OK; log++) {
        ct_tune_outcome o;
        double sum = 0;
        status = box_run(b, value, log, 0, &o, err);
        for (int64_t i = 0; i < o.rows; i++) sum += o.residual[i] * o.residual[i];
        *loss += o.end == CT_TUNE_DONE ? 0.5 * sum / (double)o.rows / (to - from) : INFINITY;
        if (*loss > limit) *loss = INFINITY;
        ct_tune_outcome_free(&o);
    }
    b->runs = runs;
    b->faults = faults;
    return status;
}
