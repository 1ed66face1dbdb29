/* dataset_write.c: datasets into folders; many models pooled into one. */
#define _POSIX_C_SOURCE 200809L
#include "data/data.h"
#include "graph/graph.h"

#include <errno.h>
#include <sys/stat.h>

/* ---- writing ---- */

static ct_status make_folder(const char *path, ct_err *err)
{
    struct stat entry;
    if (mkdir(path, 0777) == 0) return CT_OK;
    const int why = errno;
    if (why == EEXIST && stat(path, &entry) == 0 && S_ISDIR(entry.st_mode)) return CT_OK;
    return ct_fail(err, CT_E_IO, "%s: the folder cannot be made: %s", path, strerror(why));
}

static ct_status write_run(const ct_dataset *d, const ct_sequence *seq, const char *folder, const char *name,
                           ct_err *err)
{
    ct_err inner = {0};
    char  *path = ct__path_join(folder, name);
    if (!path) return ct__no_memory(err, "file names", 1);
    ct_status status = ct_sequence_write(seq, d->noise, NULL, CT_FORMAT_COVTUNE, 0, path, NULL, &inner);
    if (status == CT_E_IO || status == CT_E_MEMORY) ct_fail(err, status, "%s", inner.text); /* which names the file */
    else if (status != CT_OK) ct_fail(err, status, "%s: %s", path, inner.text);
    free(path);
    return status;
}

/* Where run i is in the list that was written before, or -1. */
static int32_t place_in(ct_sequence *const list[], int32_t count, const ct_sequence *seq)
{
    for (int32_t i = 0; i < count; i++)
        if (list[i] == seq) return i;
    return -1;
}

/* Runs of one part, and their names into `names`; a training run that is tested on too is written once. */
static ct_status write_part(const ct_dataset *d, const char *folder, const char *part, ct__paths *names, ct_err *err)
{
    const int          testing = !strcmp(part, "test");
    ct_sequence *const *list = testing ? d->test : d->train;
    const int32_t      count = testing ? d->tests : d->trains;
    char               name[32];
    char              *sub = ct__path_join(folder, part);
    ct_status          status = !sub ? ct__no_memory(err, "file names", 1) : count ? make_folder(sub, err) : CT_OK;
    free(sub);
    for (int32_t i = 0; status == CT_OK && i < count; i++) {
        const int32_t same = testing ? place_in(d->train, d->trains, list[i]) : -1;
        snprintf(name, sizeof name, "%s/%04d.ctseq", same >= 0 ? "train" : part, same >= 0 ? same : i);
        status = ct__paths_add(names, "", name, err);
        if (status == CT_OK && same < 0) status = write_run(d, list[i], folder, name, err);
    }
    return status;
}

static ct_status write_yaml(const ct_dataset *d, const char *folder, const ct__paths *train, const ct__paths *test,
                            ct_err *err)
{
    ct__file file;
    char    *path = ct__path_join(folder, "dataset.yaml");
    if (!path) return ct__no_memory(err, "file names", 1);
    ct_status status = ct__file_begin(&file, path, err);
    free(path);
    CT_TRY(status);
    status = ct__yaml_write(file.stream, d, train->path, test->path, err);
    if (status == CT_OK) return ct__file_commit(&file, err);
    ct__file_abort(&file);
    return status;
}

ct_status ct_dataset_write(const ct_dataset *dataset, const char *folder, ct_err *err)
{
    ct__paths train = {0}, test = {0};
    if (!dataset->trains && !dataset->tests)
        return ct_fail(err, CT_E_ARGUMENT, "%s: a dataset without runs is not written", folder);
    ct_status status = make_folder(folder, err);
    if (status == CT_OK) status = write_part(dataset, folder, "train", &train, err);
    if (status == CT_OK) status = write_part(dataset, folder, "test", &test, err);
    if (status == CT_OK) status = write_yaml(dataset, folder, &train, &test, err);
    ct__paths_free(&train);
    ct__paths_free(&test);
    return status;
}

/* ---- pooling ---- */

typedef struct {
    ct_dataset *d;
    const char *group;
    int64_t    *uses;     /* per model of the table: factors that have it, + 1; 0: it is not of the group */
    int64_t     factors;  /* of the group    */
    int32_t     first;    /* a numbered one, whose kernel the one model gets if it is new; -1: none */
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

/* Run i of both parts; NULL for a test run that is a training run as well. */
static ct_sequence *run_at(const ct_dataset *d, int32_t i)
{
    if (i < d->trains) return d->train[i];
    ct_sequence *seq = d->test[i - d->trains];
    return place_in(d->train, d->trains, seq) < 0 ? seq : NULL;
}

static void count_uses(pool *p)
{
    for (int32_t m = 0; m < ct_noise_count(p->d->noise); m++) {
        const int part = part_of_group(ct_noise_get(p->d->noise, m)->name, p->group);
        p->uses[m] = part != 0;
        if (part == 2 && p->first < 0) p->first = m;
    }
    for (int32_t i = 0; i < p->d->trains + p->d->tests; i++) {
        const ct_sequence *seq = run_at(p->d, i);
        for (int32_t m = 0; seq && m < seq->graph->noise_count; m++) {
            if (!p->uses[m]) continue;
            p->uses[m] += seq->graph->noise_use[m].factors;
            p->factors += seq->graph->noise_use[m].factors;
        }
    }
}

/* mean = sum over factors of their Sigma / how many they are. */
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

/* The one model: the table's own of that name, or a new one. */
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

static ct_status replace(const pool *p, int32_t models, int32_t index, ct_err *err)
{
    for (int32_t i = 0; i < p->d->trains + p->d->tests; i++) {
        ct_sequence *seq = run_at(p->d, i);
        for (int32_t f = 0; seq && f < ct_graph_factors(seq->graph); f++) {
            const int32_t noise = ct_graph_factor(seq->graph, f).noise;
            if (noise < models && noise != index && p->uses[noise])
                CT_TRY(ct_graph_set_noise(seq->graph, f, index, err));
        }
    }
    return CT_OK;
}

/* A model that is new has the rows of those that it is for. */
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
