/* influence.c: states that measurements do not determine, and sensors without which nothing changes.
 *
 * Both are of the graph without its truth, linearised at the truth. A sensor is removed by a variance that is REMOVED
 * times as large; it has no influence if no variance of a pose grows by more than LITTLE in any of some sequences.
 * Sigmas are those of the residuals where the truth gives them, else those of the model: a start value says nothing. */
#include "doctor/doctor.h"

#include <math.h>

#define REMOVED   1e8
#define LITTLE    1e-3
#define SEQUENCES 4     /* of a sensor that are looked at */
#define UNKNOWNS  50000 /* of a larger sequence nothing is said */

/* One sequence: its variances with all sensors and without one. */
typedef struct {
    ct__exam *e;
    int32_t   index;
    ct_solver *solver;
    double   *x;
    int32_t  *var;  /* moving, not fixed */
    int32_t   count;
    double  **block;
    double   *room, *before; /* covariances; variances with all sensors */
    int       singular;
} scene;

static void close_scene(scene *t)
{
    ct_solver_free(t->solver);
    free(t->x);
    free(t->var);
    free(t->block);
    free(t->room);
    free(t->before);
    *t = (scene){0};
}

static ct_status open_scene(ct__exam *e, int32_t index, scene *t, ct_err *err)
{
    const ct__exam_sequence *s = &e->sequence[index];
    const ct_graph          *g = s->seq->graph;
    const int64_t            n = g->variables, size = ct_graph_size(g), block = CT_DIM_MAX * CT_DIM_MAX;
    *t = (scene){.e = e, .index = index};
    t->x = ct__zalloc(CT_MAX(1, size), sizeof *t->x);
    t->var = ct__zalloc(CT_MAX(1, n), sizeof *t->var);
    t->block = ct__zalloc(CT_MAX(1, n), sizeof *t->block);
    if (!t->x || !t->var || !t->block) return ct__no_memory(err, "variables", n);
    for (int32_t v = 0; v < n; v++) {
        const double *from = s->whole[v] ? s->x : g->initial;
        memcpy(t->x + g->offset[v], from + g->offset[v], (size_t)ct_kind_size((ct_kind)g->kind[v]) * sizeof *t->x);
        if (s->moving[v] && !g->fixed[v]) t->var[t->count++] = v;
    }
    t->room = ct__zalloc(CT_MAX(1, t->count * block), sizeof *t->room);
    t->before = ct__zalloc(CT_MAX(1, (int64_t)t->count * CT_DIM_MAX), sizeof *t->before);
    if (!t->room || !t->before) return ct__no_memory(err, "variables", n);
    for (int32_t k = 0; k < t->count; k++) t->block[k] = t->room + k * block;
    return ct_solver_new(g, NULL, &t->solver, err);
}

static ct_status linearise(scene *t, const ct_noise *noise, ct_err *err)
{
    ct_err          why = {0};
    const ct_status status = ct_solver_linearise(t->solver, noise, t->x, &why);
    t->singular = status == CT_E_SINGULAR;
    return status == CT_OK || t->singular ? CT_OK : ct_fail(err, status, "%s", why.text);
}

/* ---- States ----------------------------------------------------------------------------------- */

typedef struct {
    int64_t poses, loose;
    int32_t sequences, first, variable;
    ct__picture picture; /* undetermined poses: time, number of the sequence */
} counts;

static ct_status count_loose(const scene *t, counts *c, ct_err *err)
{
    const ct__exam_sequence *s = &t->e->sequence[t->index];
    int32_t loose = 0;
    c->poses += t->count;
    for (int32_t k = 0; t->singular && k < t->count; k++) {
        if (!ct_solver_undetermined(t->solver, t->var[k])) continue;
        if (!c->loose && !loose) c->first = t->index;
        loose++;
        CT_TRY(ct__picture_add(&c->picture, ct__time_of(s, t->var[k]), t->index + 1, err));
    }
    c->loose += loose;
    c->sequences += loose > 0;
    return CT_OK;
}

/* ---- Sensors ----------------------------------------------------------------------------------- */

static ct_status set_sigmas(ct_noise *noise, int32_t model, const double *sigma, double by, ct_err *err)
{
    const ct_noise_model *m = ct_noise_get(noise, model);
    const int             dim = m->dim;
    double                v[CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX] = {0}, mean = 0;
    if (m->kind == CT_NOISE_FULL) {
        for (int i = 0; i < dim * dim; i++) v[i] = by * m->covariance[i];
        for (int i = 0; sigma && i < dim * dim; i++) v[i] = i % (dim + 1) ? 0 : by * sigma[i / dim] * sigma[i / dim];
        return ct_noise_set_covariance(noise, model, v, err);
    }
    for (int i = 0; i < dim; i++) v[i] = by * (sigma ? sigma[i] * sigma[i] : m->covariance[i]);
    for (int i = 0; i < dim; i++) mean += v[i] / dim;
    if (m->kind == CT_NOISE_ISOTROPIC) v[0] = mean;
    return ct_noise_set_variance(noise, model, v, err);
}

static int has_sigmas(const ct__sensor *s, int32_t k)
{
    if (!s->fit || s->estimated || s->copied || s->spoiled || s->samples < CT__SAMPLES_LEAST) return 0;
    for (int i = 0; i < s->rows; i++)
        if (!(s->fit->sigma[k][i] > 1e-12 && s->fit->sigma[k][i] < 1e12)) return 0;
    return 1;
}

static ct_status use_residuals(const ct__exam *e, ct_noise *noise, ct_err *err)
{
    for (int32_t i = 0; i < e->sensors; i++) {
        const ct__sensor *s = &e->sensor[i];
        for (int32_t k = 0; k < s->models; k++)
            if (!s->loops && has_sigmas(s, k)) CT_TRY(set_sigmas(noise, s->model[k], s->fit->sigma[k], 1, err));
    }
    return CT_OK;
}

static ct_status take_variances(scene *t, double *out, ct_err *err)
{
    const ct_graph *g = t->e->sequence[t->index].seq->graph;
    CT_TRY(ct_solver_marginals(t->solver, t->count, t->var, t->block, err));
    for (int32_t k = 0; k < t->count; k++) {
        const int dim = ct_kind_dim((ct_kind)g->kind[t->var[k]]);
        for (int i = 0; i < dim; i++) out[k * CT_DIM_MAX + i] = t->block[k][i * (dim + 1)];
    }
    return CT_OK;
}

/* *most <- the largest part of a variance that the sensor takes away. */
static ct_status without_sensor(scene *t, const ct__sensor *s, const ct_noise *noise, double *after, double *most,
                                ct__picture *picture, ct_err *err)
{
    ct_noise *other = NULL;
    CT_TRY(ct_noise_copy(noise, &other, err));
    ct_status status = CT_OK;
    for (int32_t k = 0; status == CT_OK && k < s->models; k++)
        status = set_sigmas(other, s->model[k], NULL, REMOVED, err);
    if (status == CT_OK) status = linearise(t, other, err);
    if (status == CT_OK && t->singular) *most = 1;
    else if (status == CT_OK) {
        status = take_variances(t, after, err);
        for (int32_t k = 0; status == CT_OK && k < t->count; k++) {
            double part = 0; /* of the variances of this pose, the largest */
            for (int i = 0; i < CT_DIM_MAX; i++)
                if (after[k * CT_DIM_MAX + i] > 0)
                    part = fmax(part, 1 - t->before[k * CT_DIM_MAX + i] / after[k * CT_DIM_MAX + i]);
            *most = fmax(*most, part);
            status = ct__picture_add(picture, ct__time_of(&t->e->sequence[t->index], t->var[k]),
                                     100 * (1 / sqrt(1 - part) - 1), err);
        }
    }
    ct_noise_free(other);
    return status;
}

static int has_samples(const ct__sensor *s, int32_t sequence)
{
    for (int32_t k = 0; k < s->samples; k++)
        if (s->sample[k].sequence == sequence) return 1;
    return 0;
}

/* most, seen: per sensor. */
static ct_status weigh_sensors(scene *t, const ct_noise *noise, double *most, int *seen, ct__picture *picture,
                               ct_err *err)
{
    const ct__exam *e = t->e;
    int             wanted = 0;
    for (int32_t i = 0; i < e->sensors; i++)
        wanted |= most[i] < LITTLE && seen[i] < SEQUENCES && has_samples(&e->sensor[i], t->index);
    if (!wanted || !t->count) return CT_OK;
    CT_TRY(linearise(t, noise, err));
    for (int32_t i = 0; t->singular && i < e->sensors; i++) most[i] = 1;
    if (t->singular) return CT_OK;
    CT_TRY(take_variances(t, t->before, err));
    double   *after = ct__zalloc((int64_t)t->count * CT_DIM_MAX, sizeof *after);
    ct_status status = after ? CT_OK : ct__no_memory(err, "variables", t->count);
    for (int32_t i = 0; status == CT_OK && i < e->sensors; i++) {
        if (!(most[i] < LITTLE) || seen[i] >= SEQUENCES || !has_samples(&e->sensor[i], t->index)) continue;
        status = without_sensor(t, &e->sensor[i], noise, after, &most[i], &picture[i], err);
        seen[i]++;
    }
    free(after);
    return status;
}

/* ---- All ---------------------------------------------------------------------------------------- */

static ct_status report_loose(ct__exam *e, counts *c, ct_err *err)
{
    const ct__exam_sequence *s = &e->sequence[c->first];
    const double             value[] = {(double)c->loose, (double)c->poses};
    if (!c->loose) return CT_OK;
    CT_TRY(ct__report(e, NULL, -1, CT_FINDING_STATES_UNDETERMINED, 2, value, err));
    const char *label = ct_sequence_label(s->seq);
    CT_TRY(ct_findings_add_subject(&e->out->findings, CT_SUBJECT_SEQUENCE, s->index, 0, label, err));
    ct__picture_level(&c->picture, c->first + 1);
    return ct__picture_report(e, &c->picture, ct__time_label(s), "number of the sequence", err);
}

/* The picture of a sensor that does not matter. */
static ct_status report_without(ct__exam *e, const ct__sensor *s, double most, ct__picture *picture, ct_err *err)
{
    const double value = 100 * (1 / sqrt(1 - most) - 1); /* of sigma */
    CT_TRY(ct__report(e, s, -1, CT_FINDING_SENSOR_WITHOUT_INFLUENCE, 1, &value, err));
    ct__picture_level(picture, 100 * (1 / sqrt(1 - LITTLE) - 1));
    return ct__picture_report(e, picture, s->timed ? "time (s)" : "number of the pose",
                              "growth of its sigma without the sensor (%)", err);
}

static ct_status weigh_all(ct__exam *e, ct_noise *noise, double *most, int *seen, ct__picture *picture, ct_err *err)
{
    counts    c = {0};
    ct_status status = use_residuals(e, noise, err);
    for (int32_t i = 0; status == CT_OK && i < e->sequences; i++) {
        scene t = {0};
        if (e->sequence[i].seq->graph->variables > UNKNOWNS) continue;
        status = open_scene(e, i, &t, err);
        if (status == CT_OK) status = linearise(&t, e->dataset->noise, err);
        if (status == CT_OK) status = count_loose(&t, &c, err);
        if (status == CT_OK && !t.singular) status = weigh_sensors(&t, noise, most, seen, picture, err);
        close_scene(&t);
    }
    if (status == CT_OK) status = report_loose(e, &c, err);
    for (int32_t i = 0; status == CT_OK && !c.loose && i < e->sensors; i++)
        if (seen[i] && most[i] < LITTLE) status = report_without(e, &e->sensor[i], most[i], &picture[i], err);
    ct__picture_free(&c.picture);
    return status;
}

ct_status ct__test_influence(ct__exam *e, ct_err *err)
{
    ct_noise *noise = NULL;
    double   *most = ct__zalloc(CT_MAX(1, e->sensors), sizeof *most);
    int      *seen = ct__zalloc(CT_MAX(1, e->sensors), sizeof *seen);
    ct__picture *picture = ct__zalloc(CT_MAX(1, e->sensors), sizeof *picture);
    ct_status status = most && seen && picture ? ct_noise_copy(e->dataset->noise, &noise, err)
                                    : ct__no_memory(err, "sensors", e->sensors);
    if (status == CT_OK) status = weigh_all(e, noise, most, seen, picture, err);
    for (int32_t i = 0; picture && i < e->sensors; i++) ct__picture_free(&picture[i]);
    free(picture);
    ct_noise_free(noise);
    free(most);
    free(seen);
    return status;
}
