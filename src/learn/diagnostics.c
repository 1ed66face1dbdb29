/* diagnostics.c: checks of a result. Each appends a finding if it fails. */
#include "evaluate/evaluate.h"
#include "learn/learn.h"

#include <math.h>
#include <stdio.h>

#define WORSE         1.5 /* held-out loss over training loss above which there is a finding                 */
#define NEES_MOST     3.0 /* NEES above which claimed uncertainty is not usable                              */
#define NEES_LEAST    .25 /* NEES below which it is not either                                               */
#define CHI_MOST      1.3 /* chi-square, or its inverse, below which residuals have their expected size      */
#define OTHER_MINIMUM 1.1 /* loss as in deployment over loss from the truth above which the minima differ    */

ct_status ct__find(ct__learning *l, ct_finding_code code, int values, const double value[])
{
    return ct_findings_add(&l->objective.result->findings, code, values, value, l->objective.err);
}

ct_status ct__find_parameter(ct__learning *l, int32_t i, int sign)
{
    char name[128];
    ct_theta_name(l->objective.outer->theta, i, name, sizeof name);
    return ct_findings_add_subject(&l->objective.result->findings, CT_SUBJECT_PARAMETER, i, sign, name,
                                   l->objective.err);
}

ct_status ct__diagnose_missing_samples(ct__learning *l)
{
    int found = 0;
    for (int32_t i = 0; i < l->objective.outer->m; i++) {
        if (l->samples[i]) continue;
        if (!found++) CT_TRY(ct__find(l, CT_FINDING_NO_SAMPLES, CT__NO_VALUES));
        CT_TRY(ct__find_parameter(l, i, 0));
    }
    return CT_OK;
}

/* The loss as in deployment against the loss from the truth, and in how many sequences the minima differ. */
ct_status ct__diagnose_deployment(ct__learning *l)
{
    ct__objective         *e = &l->objective;
    const ct_learn_result *r = e->result;
    const ct_inference    *deployment = &e->options->deployment;
    const int32_t          n = e->outer->count;
    const int              held = r->loss_heldout > WORSE * r->loss_train;
    if (!held && !(r->loss_deployment > WORSE * r->loss_train)) return CT_OK;
    ct_evaluation *seen = ct__zalloc(n, sizeof *seen);
    double        *each = ct__zalloc(n, sizeof *each);
    ct_outer_value value = {.each = each};
    ct_status      status = seen && each ? CT_OK : ct__no_memory(e->err, "sequences", n);
    if (status == CT_OK) status = ct_outer_evaluate(e->outer, l->p, NULL, &value, e->err);
    if (status == CT_OK) status = ct_outer_validate(e->outer, l->p, NULL, deployment, 0, seen, e->err);
    int32_t elsewhere = 0;
    for (int32_t i = 0; status == CT_OK && i < n; i++) elsewhere += !(seen[i].loss <= OTHER_MINIMUM * each[i]);
    const double ratio = (held ? r->loss_heldout : r->loss_deployment) / r->loss_train;
    if (status == CT_OK)
        status = ct__find(l, held ? CT_FINDING_HELDOUT_LOSS : CT_FINDING_DEPLOYMENT_LOSS,
                          CT__VALUES(ratio, elsewhere, n));
    char how[64] = "incremental";
    if (!deployment->incremental) snprintf(how, sizeof how, "batch, start: %s", ct_start_name(deployment->start));
    if (status == CT_OK)
        status = ct_findings_add_subject(&e->result->findings, CT_SUBJECT_INFERENCE, -1, 0, how, e->err);
    free(seen);
    free(each);
    return status;
}

/* NEES far from 1. If chi-square is far from 1 too, the common scale is wrong; else the models do not describe the
 * errors. */
ct_status ct__diagnose_inconsistency(ct__learning *l)
{
    const ct_learn_result *r = l->objective.result;
    const double           nees = r->nees_after, chi = r->chi_after;
    if (!(nees > NEES_MOST) && !(nees < NEES_LEAST)) return CT_OK;
    if (chi < CHI_MOST && chi > 1 / CHI_MOST)
        return ct__find(l, CT_FINDING_MODEL_MISMATCH, CT__VALUES(sqrt(nees), nees, chi));
    return ct__find(l, CT_FINDING_SCALE_IS_OFF, CT__VALUES(sqrt(nees), nees, sqrt(chi), chi));
}

/* A simplex that collapsed in one direction still converges in the others. */
ct_status ct__diagnose_collapse(ct__learning *l)
{
    const ct__objective *e = &l->objective;
    if (!e->collapsed) return CT_OK;
    CT_TRY(ct__find(l, CT_FINDING_SIMPLEX_COLLAPSED, CT__VALUES(e->collapsed, e->collapsed_loss)));
    return ct__find_parameter(l, e->collapsed_parameter, 0);
}

static ct_status find_sequence(ct__learning *l, int32_t i)
{
    const ct_sequence *seq = l->objective.outer->inner[i].seq;
    char               number[32];
    snprintf(number, sizeof number, "number %d", i);
    return ct_findings_add_subject(&l->objective.result->findings, CT_SUBJECT_SEQUENCE, i, 0,
                                   seq->name ? seq->name : number, l->objective.err);
}

ct_status ct__diagnose_divergence(ct__learning *l, const ct_evaluation *seen)
{
    const int32_t n = l->objective.outer->count;
    int32_t       diverged = 0;
    for (int32_t i = 0; i < n; i++) diverged += seen[i].diverged != CT_DIVERGED_NO;
    if (!diverged) return CT_OK;
    CT_TRY(ct__find(l, CT_FINDING_DIVERGED_HELDOUT, CT__VALUES(diverged, n)));
    for (int32_t i = 0; i < n; i++)
        if (seen[i].diverged) CT_TRY(find_sequence(l, i));
    return CT_OK;
}

typedef struct {
    uint64_t digest;
    int32_t  sequence;
} identity;

static int by_digest(const void *a, const void *b)
{
    const identity *x = a, *y = b;
    if (x->digest != y->digest) return x->digest < y->digest ? -1 : 1;
    return x->sequence < y->sequence ? -1 : 1;
}

/* The first pair i > j with equal digests; 0 if there is none. Sorts. */
static int find_pair(int32_t n, identity *each, int32_t *i, int32_t *j)
{
    *i = n;
    qsort(each, (size_t)n, sizeof *each, by_digest);
    for (int32_t k = 1; k < n; k++) /* equal ones are in the order of sequences: the second of them comes first */
        if (each[k].digest == each[k - 1].digest && each[k].sequence < *i &&
            (k < 2 || each[k - 2].digest != each[k].digest)) {
            *i = each[k].sequence;
            *j = each[k - 1].sequence;
        }
    return *i < n;
}

typedef struct {
    ct_outer            *outer;
    ct_frame_difference *difference; /* per sequence */
} frames;

static void compare_frames(void *user, int64_t i, int worker)
{
    const frames   *f = user;
    ct_err          err = {0};
    const ct_status status = ct_truth_frame(f->outer->inner[i].seq, f->outer->base, &f->difference[i], &err);
    (void)worker;
    if (status != CT_OK) ct__outer_tell(f->outer, (int32_t)i, status, &err);
}

static int64_t frame_size(const void *user, int64_t i)
{
    (void)user;
    (void)i;
    return (int64_t)sizeof(ct_frame_difference);
}

static void pack_frame(const void *user, int64_t i, void *record)
{
    memcpy(record, &((const frames *)user)->difference[i], sizeof(ct_frame_difference));
}

static void unpack_frame(void *user, int64_t i, const void *record)
{
    memcpy(&((const frames *)user)->difference[i], record, sizeof(ct_frame_difference));
}

ct_status ct__diagnose_frames(ct__learning *l)
{
    static const ct__records records = {frame_size, pack_frame, unpack_frame};
    ct_outer *const          o = l->objective.outer;
    ct_err *const            err = l->objective.err;
    frames                   f = {o, ct__zalloc(o->count, sizeof *f.difference)};
    const ct_sequence      **seq = ct__zalloc(o->count, sizeof *seq);
    ct_status status = seq && f.difference ? CT_OK : ct__no_memory(err, "sequences", o->count);
    for (int32_t i = 0; status == CT_OK && i < o->count; i++) seq[i] = o->inner[i].seq;
    if (status == CT_OK) status = ct__outer_each_shared(o, compare_frames, &records, &f, err);
    if (status == CT_OK)
        status = ct__truth_frame_report(o->count, seq, f.difference, &l->objective.result->findings, err);
    free(f.difference);
    free(seq);
    return status;
}

/* If a sequence occurs twice, a fold that holds one copy out trains on the other. */
ct_status ct__diagnose_duplicates(ct__learning *l)
{
    const ct_outer *o = l->objective.outer;
    identity       *each = ct__zalloc(o->count, sizeof *each);
    int32_t         i = 0, j = 0;
    if (!each) return ct__no_memory(l->objective.err, "sequences", o->count);
    for (int32_t k = 0; k < o->count; k++) each[k] = (identity){o->inner[k].digest, k};
    const int found = find_pair(o->count, each, &i, &j);
    free(each);
    if (!found) return CT_OK;
    CT_TRY(ct__find(l, CT_FINDING_DUPLICATE_SEQUENCES, CT__NO_VALUES));
    CT_TRY(find_sequence(l, j));
    return find_sequence(l, i);
}
