/* divergence.c: estimates that are in a far minimum are named, so that means do not hide them.
 *
 * Signs without truth: the sensor on top of a landmark that it measured from a distance, where weights are singular;
 * the tension of relative measurements (tension.c); a chi-square per degree that is enormous beside the other
 * sequences'. Signs with truth count only where residuals do not explain the errors, because sigmas that are all too
 * small raise NEES and chi-square alike. */
#include "evaluate/consistency.h"

#include <math.h>

#define SIGMAS_RUN  1e4 /* NEES per coordinate beside chi-square per degree: errors of 100 sigma                */
#define SIGMAS_FAR  100 /* the same of a run that is farther from the truth than one point: 10 sigma            */
#define CHI_OTHERS  100 /* times the median of the sequences                                                    */
#define OTHERS      3   /* sequences that have a median to compare with, at least                                */

static const char *const names[CT_DIVERGED_COUNT] = {
#define X(constant, name, meaning) [constant] = name,
    CT_DIVERGED_LIST(X)
#undef X
};

static const char *const meanings[CT_DIVERGED_COUNT] = {
#define X(constant, name, meaning) [constant] = meaning,
    CT_DIVERGED_LIST(X)
#undef X
};

const char *ct_diverged_name(ct_diverged diverged) { return ct__name_at(names, CT_DIVERGED_COUNT, (int)diverged); }

const char *ct_evaluation_reason(const ct_evaluation *e)
{
    return e->diverged ? ct__name_at(meanings, CT_DIVERGED_COUNT, (int)e->diverged) : ct_stop_meaning(e->solve.stop);
}

int ct_evaluation_counts(const ct_evaluation *e) { return ct_evaluation_has_estimate(e) && !e->diverged; }

/* Root mean square distance of the true positions from their mean, m; NaN: none is known. */
static double truth_radius(const ct_sequence *seq)
{
    const ct_graph *g = seq->graph;
    double          sum[3] = {0}, square = 0, n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t v = 0; v < g->variables; v++) {
            const int      lengths = g->kind[v] == CT_SE2 ? 2 : g->kind[v] == CT_SE3 ? 3 : 0;
            const unsigned position = lengths == 2 ? 3 : 7u << 3;
            if (!lengths || (ct__known(seq, v) & position) != position) continue;
            const double *t = seq->truth + g->offset[v];
            n += !pass;
            for (int i = 0; i < lengths; i++)
                if (pass) square += (t[i] - sum[i] / n) * (t[i] - sum[i] / n) / n;
                else sum[i] += t[i];
        }
    return n > 0 ? sqrt(square) : NAN;
}

/* NEES per coordinate over chi-square per degree, each at least 1. */
static double unexplained(const ct_consistency *c)
{
    const double nees = c->nees_degrees > 0 ? c->nees / (double)c->nees_degrees : NAN;
    const double chi = c->degrees > 0 ? c->chi_squared / (double)c->degrees : 1;
    return nees / fmax(1, chi);
}

/* Marginal covariances are computed here, if they were not, for a run that is far from the truth. */
static ct_status against_truth(const ct_sequence *seq, const ct_noise *noise, ct_solver *solver, const double *x,
                               ct_evaluation *e, ct_err *err)
{
    ct_consistency found = e->consistency;
    const int32_t  n = seq->graph->variables;
    const int      far = seq->truth && e->accuracy.ape_translation > truth_radius(seq);
    if (unexplained(&found) > SIGMAS_RUN) e->diverged = CT_DIVERGED_NEES;
    if (e->diverged || !far) return CT_OK;
    if (isnan(found.nees)) {
        double   *nees = ct__zalloc(n, sizeof *nees);
        int      *degrees = ct__zalloc(n, sizeof *degrees);
        ct_status status = nees && degrees ? CT_OK : ct__no_memory(err, "variables", n);
        if (status == CT_OK) status = ct__nees(seq, noise, solver, x, 0, nees, degrees, &found, err);
        free(nees);
        free(degrees);
        CT_TRY(status);
    }
    if (unexplained(&found) > SIGMAS_FAR) e->diverged = CT_DIVERGED_TRUTH;
    return CT_OK;
}

ct_status ct__find_divergence(const ct_sequence *seq, const ct_noise *noise, ct_solver *solver, const double *x,
                              ct_evaluation *e, ct_err *err)
{
    ct_tension tension;
    e->diverged = CT_DIVERGED_NO;
    if (!ct_evaluation_has_estimate(e)) return CT_OK;
    CT_TRY(ct_tension_at(seq->graph, noise, x, &tension, err));
    if (tension.on_points) e->diverged = CT_DIVERGED_ON_POINT;
    else if (tension.relative > CT_TENSION_DIVERGED) e->diverged = CT_DIVERGED_TENSION;
    return e->diverged ? CT_OK : against_truth(seq, noise, solver, x, e, err);
}

ct_status ct__compare_divergence(int32_t count, ct_evaluation each[], ct_err *err)
{
    double *chi = ct__zalloc(count, sizeof *chi);
    int32_t n = 0;
    if (!chi && count) return ct__no_memory(err, "sequences", count);
    for (int32_t i = 0; i < count; i++)
        if (ct_evaluation_has_estimate(&each[i]) && each[i].consistency.degrees > 0)
            chi[n++] = each[i].consistency.chi_squared / (double)each[i].consistency.degrees;
    const double median = ct_median(n, chi);
    for (int32_t i = 0; n >= OTHERS && i < count; i++) {
        const ct_consistency *c = &each[i].consistency;
        if (ct_evaluation_counts(&each[i]) && c->degrees > 0 && median > 0 &&
            c->chi_squared / (double)c->degrees > CHI_OTHERS * median)
            each[i].diverged = CT_DIVERGED_CHI_SQUARED;
    }
    free(chi);
    return CT_OK;
}

ct_status ct_diverged_find(int32_t count, ct_sequence *const seq[], const ct_evaluation each[], ct_findings *findings,
                           ct_err *err)
{
    double diverged = 0;
    for (int32_t i = 0; i < count; i++) diverged += each[i].diverged != CT_DIVERGED_NO;
    if (diverged == 0) return CT_OK;
    CT_TRY(ct_findings_add(findings, CT_FINDING_DIVERGED, 2, (const double[]){diverged, count}, err));
    for (int32_t i = 0; i < count; i++)
        if (each[i].diverged)
            CT_TRY(ct_findings_add_subject(findings, CT_SUBJECT_SEQUENCE, i, 0, ct_sequence_label(seq[i]), err));
    return CT_OK;
}
