/* influence.c: sensors that do not matter, and states that nothing determines.
 *
 * With the noise that was found, the leverage of a sensor's rows is the number of unknowns that they determine
 * (ct_model_fit_at). A sensor whose share is tiny could as well be left out. */
#include "doctor/doctor.h"

#include <math.h>

#define SHARE_LEAST 0.002

/* The table with the sigmas of this examination. */
static ct_status find_noise(const ct__exam *e, ct_noise **out, ct_err *err)
{
    CT_TRY(ct_noise_copy(e->dataset->noise, out, err));
    for (int32_t i = 0; i < e->sensors; i++) {
        const ct__sensor *s = &e->sensor[i];
        for (int32_t m = 0; s->fit && !s->loops && m < s->models; m++) {
            double variance[CT_ROWS_MAX], mean = 0;
            for (int k = 0; k < s->rows; k++) variance[k] = pow(s->fit->sigma[m][k], 2), mean += variance[k] / s->rows;
            const int isotropic = ct_noise_get(*out, s->model[m])->kind == CT_NOISE_ISOTROPIC;
            ct_err    ignored; /* a sigma of zero: the table's stays */
            if (ct_noise_get(*out, s->model[m])->kind != CT_NOISE_FULL)
                (void)ct_noise_set_variance(*out, s->model[m], isotropic ? &mean : variance, &ignored);
        }
    }
    return CT_OK;
}

static ct_status report_undetermined(ct__exam *e, const ct__exam_sequence *s, const ct_solver *solver, ct_err *err)
{
    const ct_graph *g = s->seq->graph;
    int64_t         count = 0, poses = 0;
    int32_t         first = -1;
    char            name[128];
    for (int32_t v = 0; v < g->variables; v++) {
        poses += ct__is_pose((ct_kind)g->kind[v]);
        if (!ct_solver_undetermined(solver, v)) continue;
        if (first < 0) first = v;
        count++;
    }
    if (first < 0) return CT_OK;
    const double value[] = {(double)count, (double)poses};
    CT_TRY(ct__report(e, NULL, -1, CT_FINDING_STATES_UNDETERMINED, 2, value, err));
    return ct_findings_add_subject(&e->out->findings, CT_SUBJECT_SEQUENCE, s->index, 0,
                                   ct_graph_name(g, first, name, sizeof name), err);
}

/* Leverage of every model in the first sequence; 0 in *known: its graph does not determine all states. */
static ct_status find_leverage(ct__exam *e, const ct__exam_sequence *s, const ct_noise *noise, ct_model_fit *fit,
                               int *known, ct_err *err)
{
    ct_solver *solver = NULL;
    ct_err     why;
    CT_TRY(ct_solver_new(s->seq->graph, NULL, &solver, err));
    ct_status status = ct_model_fit_at(noise, solver, s->x, fit, &why);
    *known = status == CT_OK;
    if (status == CT_E_SINGULAR) status = report_undetermined(e, s, solver, err);
    else if (status == CT_E_MEMORY) status = ct_fail(err, status, "%s", why.text);
    else status = CT_OK;
    ct_solver_free(solver);
    return status;
}

ct_status ct__test_influence(ct__exam *e, ct_err *err)
{
    const int32_t models = ct_noise_count(e->dataset->noise);
    ct_noise     *noise = NULL;
    ct_model_fit *fit = ct__zalloc(models, sizeof *fit);
    int           known = 0;
    double        all = 0;
    if (!fit) return ct__no_memory(err, "noise models", models);
    ct_status status = e->sequences ? find_noise(e, &noise, err) : CT_OK;
    if (status == CT_OK && e->sequences) status = find_leverage(e, &e->sequence[0], noise, fit, &known, err);
    for (int32_t m = 0; m < models; m++)
        for (int k = 0; k < CT_NOISE_DIM_MAX; k++) all += fit[m].leverage[k];
    for (int32_t i = 0; status == CT_OK && known && i < e->sensors; i++) {
        const ct__sensor *s = &e->sensor[i];
        double            mine = 0, factors = 0;
        for (int32_t m = 0; m < s->models; m++) {
            factors += fit[s->model[m]].factors;
            for (int k = 0; k < CT_NOISE_DIM_MAX; k++) mine += fit[s->model[m]].leverage[k];
        }
        if (!s->fit || factors < CT__SAMPLES_LEAST || !(mine < SHARE_LEAST * all)) continue;
        const double share = 100 * mine / all;
        status = ct__report(e, s, -1, CT_FINDING_SENSOR_WITHOUT_INFLUENCE, 1, &share, err);
    }
    ct_noise_free(noise);
    free(fit);
    return status;
}
