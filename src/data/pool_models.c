/* pool_models.c: one noise model in place of the numbered models of a group.
 *
 * Readers number models where a file writes a matrix on every edge: "odom#1", "odom#2", ... The pooled model "odom" has
 * the mean covariance over the factors. */
#include "base/base.h"
#include "data/data.h"
#include "data/theta_options.h"
#include "graph/graph.h"

typedef struct {
    ct_dataset *d;
    const char *group;
    int64_t    *uses;    /* per model of the table: 1 + factors that have it; 0: it is not of the group */
    int64_t     factors; /* of the group                                                               */
    int32_t     first;   /* the first numbered model, -1: none. A new pooled model gets its kernel     */
    int         dim;
    double      mean[CT__NOISE_NUMBERS_MAX];
} pool;

/* "group" itself (1), or "group#" and a number (2). */
static int part_of_group(const char *model, const char *group)
{
    const size_t n = strlen(group);
    if (strncmp(model, group, n)) return 0;
    if (!model[n]) return 1;
    return model[n] == '#' && model[n + 1] && !model[n + 1 + strspn(model + n + 1, "0123456789")] ? 2 : 0;
}

/* Sequence i of both parts; NULL for a test sequence that is a training sequence as well. */
static ct_sequence *sequence_at(const ct_dataset *d, int32_t i)
{
    if (i < d->trains) return d->train[i];
    ct_sequence *seq = d->test[i - d->trains];
    return ct__sequence_find(d->train, d->trains, seq) < 0 ? seq : NULL;
}

static void count_uses(pool *p)
{
    for (int32_t m = 0; m < ct_noise_count(p->d->noise); m++) {
        const int part = part_of_group(ct_noise_get(p->d->noise, m)->name, p->group);
        p->uses[m] = part != 0;
        if (part == 2 && p->first < 0) p->first = m;
    }
    for (int32_t i = 0; i < p->d->trains + p->d->tests; i++) {
        const ct_sequence *seq = sequence_at(p->d, i);
        for (int32_t m = 0; seq && m < seq->graph->noise_count; m++) {
            if (!p->uses[m]) continue;
            p->uses[m] += seq->graph->noise_use[m].factors;
            p->factors += seq->graph->noise_use[m].factors;
        }
    }
}

/* mean = sum over factors of Sigma / number of factors. */
static ct_status take_mean(pool *p, ct_err *err)
{
    for (int32_t m = 0; m < ct_noise_count(p->d->noise); m++) {
        const ct_noise_model *model = ct_noise_get(p->d->noise, m);
        if (p->uses[m] < 2) continue;
        if (p->dim && p->dim != model->dim)
            return ct_fail(err, CT_E_ARGUMENT,
                           "noise models of the group \"%s\" have %d and %d coordinates and cannot become one",
                           p->group, p->dim, model->dim);
        p->dim = model->dim;
        const double weight = (double)(p->uses[m] - 1) / (double)p->factors;
        const int    full = model->kind == CT_NOISE_FULL, n = model->dim;
        for (int i = 0; i < ct__noise_length(model->kind, n); i++)
            p->mean[full ? i : i * (n + 1)] += weight * model->covariance[i];
    }
    return CT_OK;
}

/* *index <- the pooled model: the table's model of the group's name, or a new one. */
static ct_status put_mean(const pool *p, int32_t *index, ct_err *err)
{
    ct__noise_numbers numbers;
    CT_TRY(ct__covariance_numbers(p->group, p->dim, p->mean, &numbers, err));
    *index = ct_noise_find(p->d->noise, p->group);
    if (*index < 0) {
        const ct_robust robust = ct_noise_get(p->d->noise, p->first)->robust;
        CT_TRY(ct__noise_add(p->d->noise, p->group, &numbers, index, err));
        return ct_noise_set_robust(p->d->noise, *index, robust, err);
    }
    const ct_noise_model *m = ct_noise_get(p->d->noise, *index);
    if (m->dim != p->dim)
        return ct_fail(err, CT_E_ARGUMENT, "noise model \"%s\" has %d coordinates, the numbered ones have %d", p->group,
                       m->dim, p->dim);
    ct__noise_put(p->d->noise, *index, &numbers);
    return CT_OK;
}

static ct_status replace_in(const pool *p, ct_graph *g, int32_t models, int32_t index, ct_err *err)
{
    for (int32_t f = 0; f < ct_graph_factors(g); f++) {
        const int32_t noise = ct_graph_factor(g, f).noise;
        if (noise < models && noise != index && p->uses[noise]) CT_TRY(ct_graph_set_noise(g, f, index, err));
    }
    return CT_OK;
}

static ct_status replace(const pool *p, int32_t models, int32_t index, ct_err *err)
{
    for (int32_t i = 0; i < p->d->trains + p->d->tests; i++) {
        ct_sequence *seq = sequence_at(p->d, i);
        if (!seq) continue;
        CT_TRY(ct_sequence_acquire(seq, err));
        const ct_status status = replace_in(p, seq->graph, models, index, err);
        ct_sequence_release(seq);
        CT_TRY(status);
    }
    return CT_OK;
}

/* A new pooled model takes the row names of the numbered ones. */
static void name_rows(const pool *p, int32_t index)
{
    const ct_noise_model *from = ct_noise_get(p->d->noise, p->first);
    const char           *name[CT_NOISE_DIM_MAX], *unit[CT_NOISE_DIM_MAX];
    if (!from->row || ct_noise_get(p->d->noise, index)->row) return;
    for (int i = 0; i < from->dim; i++) name[i] = from->row[i].name, unit[i] = from->row[i].unit;
    ct_noise_set_rows(p->d->noise, index, name, unit);
}

ct_status ct_dataset_pool(ct_dataset *dataset, const char *group, ct_err *err)
{
    const int32_t models = ct_noise_count(dataset->noise);
    int32_t       index;
    pool          p = {.d = dataset, .group = group, .first = -1, .uses = ct__zalloc(models, sizeof *p.uses)};
    if (!p.uses) return ct__no_memory(err, "noise models", models);
    count_uses(&p);
    ct_status status = CT_OK;
    if (p.first >= 0 && p.factors) {
        status = take_mean(&p, err);
        if (status == CT_OK) status = put_mean(&p, &index, err);
        if (status == CT_OK) status = replace(&p, models, index, err);
        if (status == CT_OK) name_rows(&p, index);
    }
    free(p.uses);
    return status;
}

/* ---- Groups that are learned ----------------------------------------------------------------- */

/* Pools the group of model i; *pooled <- the model that its factors have now, -1: model i is not numbered. */
static ct_status pool_group_of(ct_dataset *dataset, int32_t i, int32_t *pooled, ct_err *err)
{
    const char *name = ct_noise_get(dataset->noise, i)->name, *number = strrchr(name, '#');
    *pooled = -1;
    if (!number || !number[1] || number[1 + strspn(number + 1, "0123456789")]) return CT_OK;
    char *group = ct__strdup(name);
    if (!group) return ct__no_memory(err, "names", 1);
    group[number - name] = 0;
    const ct_status status = ct_dataset_pool(dataset, group, err);
    if (status == CT_OK) *pooled = ct_noise_find(dataset->noise, group);
    free(group);
    return status;
}

/* Pooled models come after the first `models` of the table, or have no number: they need no second look. */
static ct_status pool_learned(ct_dataset *dataset, const ct_theta_options *options, int32_t models, uint8_t *used,
                              int32_t *model, int32_t *count, ct_err *err)
{
    ct__mark_used_models(dataset, models, used);
    for (int32_t i = 0; i < models; i++) {
        int32_t pooled;
        if (!used[i] || !ct__model_is_learned(dataset, options, i)) continue;
        CT_TRY(pool_group_of(dataset, i, &pooled, err));
        if (pooled < 0) continue;
        model[(*count)++] = pooled;
        ct__mark_used_models(dataset, models, used);
    }
    return CT_OK;
}

ct_status ct_dataset_pool_learned(ct_dataset *dataset, const ct_theta_options *options, int32_t **model, int32_t *count,
                                  ct_err *err)
{
    const ct_theta_options defaults = ct_theta_defaults();
    const int32_t          models = ct_noise_count(dataset->noise);
    *model = NULL;
    *count = 0;
    if (!options) options = &defaults;
    CT_TRY(ct_theta_options_check(options, err));
    uint8_t  *used = ct__zalloc(models, sizeof *used);
    int32_t  *pooled = ct__zalloc(models, sizeof *pooled);
    ct_status status = used && pooled ? pool_learned(dataset, options, models, used, pooled, count, err)
                                      : ct__no_memory(err, "noise models", models);
    free(used);
    if (status == CT_OK && *count) {
        *model = pooled;
        return CT_OK;
    }
    free(pooled);
    *count = 0;
    return status;
}
