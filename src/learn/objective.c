/* objective.c: the function that methods minimise: the loss over part of the sequences, plus a prior. Evaluations are
 * counted, reported and cancelled here. */
#include "learn/learn.h"

#include <math.h>

ct_status ct__point_new(const ct__objective *e, int matrix, ct__point *out, ct_err *err)
{
    const int64_t m = e->outer->m;
    out->p = ct__zalloc(2 * m + (matrix ? m * m : 0), sizeof *out->p);
    out->gradient = out->p ? out->p + m : NULL;
    out->matrix = out->p && matrix ? out->p + 2 * m : NULL;
    return out->p ? CT_OK : ct__no_memory(err, "parameters", m);
}

void ct__point_free(ct__point *point) { free(point->p); }

void ct__point_swap(ct__point *a, ct__point *b)
{
    const ct__point t = *a;
    *a = *b;
    *b = t;
}

/* ---- Memo ---- */

ct_status ct__memo_new(int32_t m, ct__memo *memo, ct_err *err)
{
    memo->length = 2 * (int64_t)m + (int64_t)m * m + 1;
    memo->entry = ct__zalloc(CT__MEMO * memo->length, sizeof *memo->entry);
    return memo->entry ? CT_OK : ct__no_memory(err, "values", CT__MEMO);
}

void ct__memo_free(ct__memo *memo) { free(memo->entry); }

/* 1: the memo has the value at at->p; it is copied to the point, without the prior. */
static int recall(const ct__objective *e, ct__point *at)
{
    const size_t bytes = (size_t)e->outer->m * sizeof *at->p, square = bytes * (size_t)e->outer->m;
    for (int k = 0; e->memo && at->matrix && k < e->memo->used; k++) {
        const double *entry = e->memo->entry + k * e->memo->length;
        if (e->memo->part[k] != e->part || memcmp(entry, at->p, bytes)) continue;
        at->loss = entry[e->outer->m];
        memcpy(at->gradient, entry + e->outer->m + 1, bytes);
        memcpy(at->matrix, entry + 2 * e->outer->m + 1, square);
        at->failed = 0;
        e->outer->fresh = 0; /* the memo holds no solutions to start from */
        return 1;
    }
    return 0;
}

static void remember(const ct__objective *e, const ct__point *at)
{
    const size_t bytes = (size_t)e->outer->m * sizeof *at->p;
    if (!e->memo || !at->matrix || at->failed) return;
    const int k = e->memo->next;
    double   *entry = e->memo->entry + k * e->memo->length;
    memcpy(entry, at->p, bytes);
    entry[e->outer->m] = at->loss;
    memcpy(entry + e->outer->m + 1, at->gradient, bytes);
    memcpy(entry + 2 * e->outer->m + 1, at->matrix, bytes * (size_t)e->outer->m);
    e->memo->part[k] = e->part;
    e->memo->next = (k + 1) % CT__MEMO;
    e->memo->used = CT_MAX(e->memo->used, k + 1);
}

/* ---- Evaluation ---- */

void ct__objective_report(ct__objective *e, const double *p, double loss)
{
    if (!e->options->progress) return;
    const int    folding = e->fold_iteration >= 0; /* then an iteration is a fold at one weight of the prior */
    const double part = e->iterations > 0 && !folding ? CT_MIN(1.0, (double)e->iteration / e->iterations) : 0;
    const ct_learn_progress progress = {
        .phase = e->phase,
        .iteration = folding ? e->fold_iteration : e->iteration,
        .iterations = e->iterations,
        .train = loss,
        .heldout = e->heldout,
        .spread = ct_theta_spread(e->outer->theta, p),
        .done = e->done_from + part * (e->done_to - e->done_from),
        .seconds = ct_now_s() - e->start_s,
        .p = p,
    };
    int       any = 0;
    const int mine = e->options->progress(e->options->user, &progress);
    /* one rank that is interrupted stops all, at the same value */
    if (ct_comm_any(e->outer->options.comm, mine, &any, e->err) == CT_OK && !any) return;
    *e->cancelled = 1;
    /* a resumed run is not cancelled here, so it does not ask for later values in this order */
    if (e->outer->checkpoint) ct__checkpoint_seal(e->outer->checkpoint);
    ct_outer_set_checkpoint(e->outer, NULL);
}

ct_status ct__objective_evaluate(ct__objective *e, ct__point *at)
{
    const int32_t m = e->outer->m;
    if (!recall(e, at)) {
        ct_outer_value value = {.gradient = at->gradient, .matrix = at->matrix};
        CT_TRY(ct_outer_evaluate(e->outer, at->p, e->part, &value, e->err));
        e->result->evaluations++;
        at->loss = value.loss;
        at->failed = value.failed;
        remember(e, at);
    }
    at->F = at->loss;
    for (int32_t i = 0; e->nu > 0 && i < m; i++) {
        const double pull = e->nu * e->weight[i], away = at->p[i] - e->centre[i];
        at->F += 0.5 * pull * away * away;
        if (at->gradient) at->gradient[i] += pull * away;
        if (at->matrix) at->matrix[(int64_t)i * m + i] += pull;
    }
    ct__objective_report(e, at->p, at->loss);
    return CT_OK;
}

void ct__objective_begin(ct__objective *e) { e->begun = 0; }

void ct__objective_step(ct__objective *e)
{
    e->iteration++;
    e->steps += e->begun;
    e->begun = 1;
}

ct_status ct__objective_accept(ct__objective *e)
{
    ct__objective_step(e);
    return ct_outer_accept(e->outer, e->err);
}

int ct__objective_cancelled(const ct__objective *e) { return *e->cancelled; }
