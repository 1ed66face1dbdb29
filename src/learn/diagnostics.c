/* diagnostics.c: what a user should know of a run without having asked: sentences for result->note. */
#include "learn/learn.h"

#include <math.h>
#include <stdio.h>

#define WORSE   1.5 /* held-out loss over training loss from which on that is said       */
#define NEES_OK 4.0 /* NEES, or its inverse, from which on claimed uncertainty is no good */
#define CHI_OK  1.3 /* chi-square, or its inverse, up to which residuals have the size they should */

ct_status ct__diagnose_missing_samples(ct__learning *l)
{
    const ct_outer *o = l->objective.outer;
    char            names[400] = "", name[80];
    for (int32_t i = 0; i < o->m; i++) {
        const size_t used = strlen(names);
        if (l->samples[i]) continue;
        ct_theta_name(o->theta, i, name, sizeof name);
        if (used + strlen(name) + 8 < sizeof names)
            snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", name);
        else snprintf(names + used, sizeof names - used, ", ...");
    }
    return *names ? ct__note(l,
                             "%s: the truth does not tell these residuals, or they are all zero; learned from the "
                             "start values, by tracking alone.",
                             names)
                  : CT_OK;
}

/* Held-out runs that do much worse than training ones are told of, and training runs that do so as estimated in
 * deployment; and whether it is the deployment's inference that fails: runs that end in another minimum than from
 * the truth. */
ct_status ct__diagnose_deployment(ct__learning *l)
{
    ct__objective            *e = &l->objective;
    const ct_learn_result *r = e->result;
    const int32_t          n = e->outer->count;
    const int              held = r->loss_heldout > WORSE * r->loss_train;
    if (!held && !(r->loss_deployment > WORSE * r->loss_train)) return CT_OK;
    ct_evaluation *seen = ct__zalloc(n, sizeof *seen);
    double        *each = ct__zalloc(n, sizeof *each);
    ct_outer_value value = {.each = each};
    ct_status      status = seen && each ? CT_OK : ct__no_memory(e->err, "sequences", n);
    if (status == CT_OK) status = ct_outer_evaluate(e->outer, l->p, NULL, &value, e->err);
    if (status == CT_OK) status = ct_outer_judge(e->outer, l->p, NULL, &e->options->deployment, 0, seen, e->err);
    int32_t elsewhere = 0;
    for (int32_t i = 0; status == CT_OK && i < n; i++) elsewhere += !(seen[i].loss <= 1.1 * each[i]);
    char from[64] = "step by step";
    if (!e->options->deployment.incremental)
        snprintf(from, sizeof from, "from: %s", ct_start_name(e->options->deployment.start));
    if (status == CT_OK && held)
        status = ct__note(l,
                          "Held-out runs have %.3g times the loss of training runs. Estimated as in deployment (%s), "
                          "%d of %d runs end in another minimum than from the truth.",
                          r->loss_heldout / r->loss_train, from, elsewhere, n);
    else if (status == CT_OK)
        status = ct__note(l,
                          "Estimated as in deployment (%s), training runs have %.3g times the loss that they have from "
                          "the truth; %d of %d end in another minimum.",
                          from, r->loss_deployment / r->loss_train, elsewhere, n);
    free(seen);
    free(each);
    return status;
}

ct_status ct__diagnose_inconsistency(ct__learning *l)
{
    const ct_learn_result *r = l->objective.result;
    if (!(r->nees_after > NEES_OK) && !(r->nees_after < 1 / NEES_OK)) return CT_OK;
    if (!(r->chi_after < CHI_OK && r->chi_after > 1 / CHI_OK))
        return ct__note(l,
                        "Errors are %.2g times what the estimator claims (NEES %.3g), and residuals %.2g times what "
                        "they should be (chi-square %.3g): sigmas are off as a whole.",
                        sqrt(r->nees_after), r->nees_after, sqrt(r->chi_after), r->chi_after);
    return ct__note(l,
                    "Errors are %.2g times what the estimator claims (NEES %.3g) although residuals have the size they "
                    "should (chi-square %.3g): errors that last, or models that are wrong, do not show in residuals.",
                    sqrt(r->nees_after), r->nees_after, r->chi_after);
}

/* A method that has lost a direction converges in those that are left. */
ct_status ct__diagnose_flatness(ct__learning *l)
{
    const ct__objective *e = &l->objective;
    char              name[80];
    if (!e->flat) return CT_OK;
    return ct__note(l,
                    "The simplex fell flat on %d bound%s, and moved no more in those directions; inside of that of %s "
                    "the loss is %.6g: this is no minimum. Another start or method may find one.",
                    e->flat, e->flat == 1 ? "" : "s",
                    ct_theta_name(e->outer->theta, e->flat_parameter, name, sizeof name), e->flat_loss);
}

static const char *name_of(const ct_outer *o, int32_t i, char buf[32])
{
    if (o->seat[i].seq->name) return o->seat[i].seq->name;
    snprintf(buf, 32, "number %d", i);
    return buf;
}

/* A run that is there twice is held out from itself: held-out losses would say nothing. */
ct_status ct__diagnose_duplicates(ct__learning *l)
{
    const ct_outer *o = l->objective.outer;
    uint64_t       *digest = ct__zalloc(o->count, sizeof *digest);
    char            a[32], b[32];
    if (!digest) return ct__no_memory(l->objective.err, "sequences", o->count);
    for (int32_t i = 0; i < o->count; i++) digest[i] = ct__sequence_digest(o->seat[i].seq);
    ct_status status = CT_OK;
    for (int32_t i = 0, told = 0; i < o->count && !told && status == CT_OK; i++)
        for (int32_t j = 0; j < i && !told; j++)
            if (digest[i] == digest[j]) {
                told = 1;
                status = ct__note(l, "Runs %s and %s are the same: what is said of held-out runs is too good.",
                                  name_of(o, j, a), name_of(o, i, b));
            }
    free(digest);
    return status;
}
