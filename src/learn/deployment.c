/* deployment.c: each sequence estimated under p as in deployment, and evaluated. */
#include "evaluate/evaluate.h"
#include "learn/learn.h"

#include <math.h>

#define DEPLOY_TAG 64 /* in the checkpoint: distinguishes this kind of evaluation */

typedef struct {
    ct_outer           *outer;
    ct_evaluate_options how;
    const uint8_t      *part;
    ct_evaluation      *out;
    ct_status          *status;
} validation;

static void validate_sequence(void *user, int64_t i, int worker)
{
    const validation *j = user;
    const ct__inner_problem *inner = &j->outer->inner[i];
    ct_solver               *solver = inner->solver; /* NULL: one of the pool */
    ct_err                   err = {0};
    j->status[i] = ct_sequence_acquire(inner->seq, &err);
    if (j->status[i] != CT_OK) {
        ct__outer_tell(j->outer, (int32_t)i, j->status[i], &err);
        return;
    }
    if (!solver) j->status[i] = ct__solver_pool_take(j->outer->pool, inner->seq->graph, &solver, NULL);
    if (j->status[i] == CT_OK)
        j->status[i] = ct_evaluate_sequence(inner->seq, j->outer->noise, solver, &j->how, j->outer->scratch[worker].x,
                                            &j->out[i], NULL);
    if (solver && !inner->solver) ct__solver_pool_give(j->outer->pool, solver);
    ct_sequence_release(inner->seq);
    /* times are not reproducible */
    j->out[i].solve.seconds = j->out[i].solve.linearise_s = j->out[i].solve.factor_s = j->out[i].solve.solve_s = 0;
}

/* ---- over ranks ---- */

static int is_wanted(const void *user, int64_t i)
{
    const validation *j = user;
    return !j->part || j->part[i];
}

static int64_t record_size(const void *user, int64_t i)
{
    (void)user;
    (void)i;
    return (int64_t)(sizeof(ct_status) + sizeof(ct_evaluation));
}

static void pack(const void *user, int64_t i, void *record)
{
    const validation *j = user;
    memcpy(record, &j->status[i], sizeof *j->status);
    memcpy((char *)record + sizeof *j->status, &j->out[i], sizeof *j->out);
}

static void unpack(void *user, int64_t i, const void *record)
{
    const validation *j = user;
    memcpy(&j->status[i], record, sizeof *j->status);
    memcpy(&j->out[i], (const char *)record + sizeof *j->status, sizeof *j->out);
}

static ct_status validate(validation *j, const double *p, ct_err *err)
{
    ct_outer *o = j->outer;
    CT_TRY(ct_theta_apply_unprojected(o->theta, p, o->noise, err));
    j->status = ct__zalloc(o->count, sizeof *j->status);
    if (!j->status) return ct__no_memory(err, "sequences", o->count);
    const ct__spread spread = {.comm = o->options.comm,
                               .owner = o->owner,
                               .jobs = o->scratches,
                               .count = o->count,
                               .task = validate_sequence,
                               .user = j,
                               .wanted = is_wanted,
                               .size = record_size,
                               .pack = pack,
                               .unpack = unpack};
    ct_status status = ct__outer_spread_run(o, &spread, err);
    if (status == CT_OK) status = ct__spread_exchange(&spread, err);
    for (int32_t i = 0; i < o->count; i++) {
        o->solves += !j->part || j->part[i];
        if (status == CT_OK && j->status[i] != CT_OK)
            status = ct_fail(err, j->status[i], "sequence %s could not be evaluated: %s",
                             o->inner[i].seq->name ? o->inner[i].seq->name : "", ct_status_text(j->status[i]));
    }
    free(j->status);
    return status;
}

double ct__deployment_loss(const ct_evaluation *e)
{
    return ct_evaluation_has_estimate(e) && isfinite(e->loss) ? e->loss : INFINITY;
}

ct_inference ct_outer_inference(const ct_outer_options *o)
{
    return (ct_inference){.start = o->incremental || o->no_truth ? CT_START_MEASURED : CT_START_TRUTH,
                          .solve = o->inner,
                          .incremental = o->incremental,
                          .replay = o->replay};
}

ct_status ct__outer_deployment(const ct_outer *o, ct_inference *deployment, ct_err *err)
{
    (void)err;
    ct__inference_resolve(o->unplaced, deployment);
    return CT_OK;
}

ct_status ct_outer_validate(ct_outer *o, const double *p, const uint8_t *part, const ct_inference *inference, int nees,
                         ct_evaluation *out, ct_err *err)
{
    validation j = {.outer = o, .how = ct_evaluate_defaults(), .part = part, .out = out};
    j.how.inference = *inference;
    j.how.loss = o->options.loss;
    j.how.nees = nees;
    if (!o->checkpoint) return validate(&j, p, err);
    /* ct_evaluation has no pointers: stored as bytes, padded with zeros to whole doubles, of those that take part */
    const int64_t each = (int64_t)((sizeof *out + sizeof(double) - 1) / sizeof(double));
    int64_t       parts = 0, k = 0;
    for (int32_t i = 0; i < o->count; i++) parts += !part || part[i];
    const int64_t numbers = each * parts;
    double       *number = ct__zalloc(numbers, sizeof *number);
    int           taken = 0;
    if (!number) return ct__no_memory(err, "numbers", numbers);
    ct_status status = ct__checkpoint_take(o->checkpoint, o, DEPLOY_TAG + nees, p, part, numbers, number, &taken, err);
    if (status == CT_OK && !taken) status = validate(&j, p, err);
    for (int32_t i = 0; status == CT_OK && i < o->count; i++) {
        if (part && !part[i]) continue;
        if (taken) memcpy(&out[i], number + k * each, sizeof *out);
        else memcpy(number + k * each, &out[i], sizeof *out);
        o->solves += taken;
        k++;
    }
    if (status == CT_OK && !taken)
        status = ct__checkpoint_put(o->checkpoint, o, DEPLOY_TAG + nees, p, part, numbers, number, err);
    free(number);
    return status;
}
