/* tune_findings.c: facts about a search, as findings. */
#include "tune/search.h"

#include <math.h>

#define NAMED   3   /* parameters that a finding names, at most     */
#define APART   10  /* times: errors of training and test logs      */
#define COVERED 0.9 /* of the truth's time: less than that is told  */
#define LOST    0.01 /* of poses: each counts as many               */

ct_status ct__note_stuck(ct__tuner *t, const ct__tune_point *p, double predicted, const double *s)
{
    const double value[] = {p->loss, p->loss / t->start->loss, 100 * predicted / p->loss};
    double       below = INFINITY;
    CT_TRY(ct_findings_add(&t->result->findings, CT_FINDING_SEARCH_STUCK, 3, value, t->err));
    for (int k = 0; k < NAMED; k++) {
        int32_t most = -1;
        for (int32_t i = 0; i < t->c.n; i++)
            if (fabs(s[i]) < below && (most < 0 || fabs(s[i]) > fabs(s[most]))) most = i;
        if (most < 0 || s[most] == 0) break;
        below = fabs(s[most]);
        const int32_t i = t->c.parameter[most];
        CT_TRY(ct_findings_add_subject(&t->result->findings, CT_SUBJECT_PARAMETER, i, s[most] > 0 ? 1 : -1,
                                       t->problem->parameter[i].name, t->err));
    }
    return CT_OK;
}

ct_status ct__note_covered(ct__tuner *t)
{
    ct_findings *list = &t->result->findings;
    double       least = COVERED;
    for (int32_t l = 0; l < t->problem->logs; l++) least = fmin(least, t->covered[l]);
    if (!(least < COVERED)) return CT_OK;
    const double value[] = {100 * least};
    CT_TRY(ct_findings_add(list, CT_FINDING_TRUTH_NOT_COVERED, 1, value, t->err));
    for (int32_t l = 0; l < t->problem->logs; l++)
        if (t->covered[l] < COVERED)
            CT_TRY(ct_findings_add_subject(list, CT_SUBJECT_SEQUENCE, l, 0, t->problem->log[l].name, t->err));
    return CT_OK;
}

ct_status ct__note_lost(ct__tuner *t)
{
    ct_findings *list = &t->result->findings;
    double       most = 0;
    for (int32_t l = 0; l < t->problem->logs; l++) most = fmax(most, t->lost[l]);
    if (!(most > LOST)) return CT_OK;
    const double value[] = {100 * most};
    CT_TRY(ct_findings_add(list, CT_FINDING_POSES_LOST, 1, value, t->err));
    for (int32_t l = 0; l < t->problem->logs; l++)
        if (t->lost[l] > LOST)
            CT_TRY(ct_findings_add_subject(list, CT_SUBJECT_SEQUENCE, l, 0, t->problem->log[l].name, t->err));
    return CT_OK;
}

/* The most of any log, and which logs have any. */
static ct_status note_count(ct__tuner *t, ct_finding_code code, const int64_t *count)
{
    ct_findings *list = &t->result->findings;
    double       most = 0;
    for (int32_t l = 0; l < t->problem->logs; l++) most = fmax(most, (double)count[l]);
    if (!(most > 0)) return CT_OK;
    CT_TRY(ct_findings_add(list, code, 1, &most, t->err));
    for (int32_t l = 0; l < t->problem->logs; l++)
        if (count[l])
            CT_TRY(ct_findings_add_subject(list, CT_SUBJECT_SEQUENCE, l, 0, t->problem->log[l].name, t->err));
    return CT_OK;
}

ct_status ct__note_records(ct__tuner *t)
{
    CT_TRY(note_count(t, CT_FINDING_ESTIMATE_BROKEN, t->broken));
    return note_count(t, CT_FINDING_ESTIMATE_UNORDERED, t->unordered);
}

ct_status ct__note_failures(ct__tuner *t)
{
    ct_tune_result *r = t->result;
    int64_t failed = 0;
    int     most = 1;
    for (int i = 1; i < CT_TUNE_END_COUNT; i++) {
        failed += r->failed[i];
        if (r->failed[i] > r->failed[most]) most = i;
    }
    if (!failed) return CT_OK;
    const double value[] = {(double)failed, (double)r->runs, t->recovered};
    CT_TRY(ct_findings_add(&r->findings, CT_FINDING_RUNS_FAILED, 3, value, t->err));
    return ct_findings_add_subject(&r->findings, CT_SUBJECT_CAUSE, -1, 0, ct_tune_end_name((ct_tune_end)most), t->err);
}

ct_status ct__note_test_logs(ct__tuner *t)
{
    double loss[2] = {0};
    for (int test = 0; test < 2; test++) {
        int32_t count = 0;
        for (int32_t l = 0; l < t->problem->logs; l++) {
            if ((t->problem->log[l].test != 0) != test || !t->start->runs[l]) continue;
            loss[test] += t->start->figures[l].loss;
            count++;
        }
        if (count) loss[test] /= count;
    }
    const double value[] = {loss[0], loss[1], sqrt(fmax(loss[0], loss[1]) / fmin(loss[0], loss[1]))};
    if (!(fmin(loss[0], loss[1]) > 0 && value[2] > APART)) return CT_OK;
    return ct_findings_add(&t->result->findings, CT_FINDING_TEST_LOGS_DIFFER, 3, value, t->err);
}
