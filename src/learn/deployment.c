/* deployment.c: each sequence estimated under p as in deployment, and evaluated. */
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
    j->status[i] = ct_evaluate_sequence(inner->seq, j->outer->noise, inner->solver, &j->how,
                                        j->outer->scratch[worker].x, &j->out[i], NULL);
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
    ct_status status = ct__spread_run(&spread, err);
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
    ct_sequence **seq = ct__zalloc(o->count, sizeof *seq);
    if (!seq) return ct__no_memory(err, "sequences", o->count);
    for (int32_t i = 0; i < o->count; i++) seq[i] = (ct_sequence *)o->inner[i].seq;
    const ct_status status = ct_inference_choose(o->count, seq, deployment, err);
    free(seq);
    return status;
}

ct_status ct_outer_validate(ct_outer *o, const double *p, const uint8_t *part, const ct_inference *inference, int nees,
                         ct_evaluation *out, ct_err *err)
{
    validation j = {.outer = o, .how = ct_evaluate_defaults(), .part = part, .out = out};
    j.how.inference = *inference;
    j.how.loss = o->options.loss;
    j.how.nees = nees;
    if (!o->checkpoint) return validate(&j, p, err);
    /* ct_evaluation has no pointers: stored as bytes, padded with zeros to whole doubles. */
    const int64_t each = (int64_t)((sizeof *out + sizeof(double) - 1) / sizeof(double)), numbers = each * o->count;
    double       *number = ct__zalloc(numbers, sizeof *number);
    int           taken = 0;
    if (!number) return ct__no_memory(err, "numbers", numbers);
    ct_status status = ct__checkpoint_take(o->checkpoint, o, DEPLOY_TAG + nees, p, part, numbers, number, &taken, err);
    if (status == CT_OK && !taken) status = validate(&j, p, err);
    for (int32_t i = 0; status == CT_OK && i < o->count; i++) {
        if (part && !part[i]) continue;
        if (taken) memcpy(&out[i], number + i * each, sizeof *out);
        else memcpy(number + i * each, &out[i], sizeof *out);
        o->solves += taken;
    }
    if (status == CT_OK && !taken)
        status = ct__checkpoint_put(o->checkpoint, o, DEPLOY_TAG + nees, p, part, numbers, number, err);
    free(number);
    return status;
}
