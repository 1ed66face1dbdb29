/* noise.c: the table of noise models.
 *
 * Models stand in one array, because linearising a graph reads model after model by index. Each
 * model's numbers and name are one block, sized for a full matrix, so a model can change its kind
 * and the array can grow without anything else moving: dim^2 for Sigma, dim^2 for R, the name.
 * Names are found by open addressing (FNV-1a, at most half full): a graph file may bring one
 * information matrix an edge, hence ten thousand models. */
#include "noise/noise.h"
#include "base/base.h"

#include <assert.h>
#include <math.h>

#define WIDTH_MIN 1e-150 /* the square of a kernel's width must be a normal number */
#define WIDTH_MAX 1e150

struct ct_noise {
    ct_noise_model *model;
    int32_t         count;
    int64_t         capacity;
    int32_t        *slot;  /* model index + 1; 0 is free */
    int64_t         slots; /* a power of two, or 0       */
};

ct_status ct_noise_new(ct_noise **out, ct_err *err)
{
    *out = ct__zalloc(1, sizeof **out);
    return *out ? CT_OK : ct__no_memory(err, "noise tables", 1);
}

void ct_noise_free(ct_noise *noise)
{
    if (!noise) return;
    for (int32_t i = 0; i < noise->count; i++) free((double *)noise->model[i].covariance); /* the block */
    free(noise->model);
    free(noise->slot);
    free(noise);
}

void ct__noise_swap(ct_noise *a, ct_noise *b)
{
    const ct_noise t = *a;
    *a = *b;
    *b = t;
}

/* ---- Names ----------------------------------------------------------------------------------- */

static uint64_t hash_more(uint64_t hash, const char *text)
{
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    return hash;
}

static uint64_t hash_name(const char *group, const char *label)
{
    const uint64_t hash = hash_more(0xcbf29ce484222325u, group);
    return label ? hash_more(hash_more(hash, "@"), label) : hash;
}

/* Is this the name group, or group@label where a label is given? */
static int same_name(const char *name, const char *group, const char *label)
{
    if (!label) return !strcmp(name, group);
    const size_t n = strlen(group);
    return !strncmp(name, group, n) && name[n] == '@' && !strcmp(name + n + 1, label);
}

/* The slot that holds the name, or the free one where it would go. Needs slots > 0. */
static int64_t find_slot(const ct_noise *noise, const char *group, const char *label)
{
    const uint64_t mask = (uint64_t)noise->slots - 1;
    uint64_t i = hash_name(group, label) & mask;
    while (noise->slot[i] && !same_name(noise->model[noise->slot[i] - 1].name, group, label)) i = (i + 1) & mask;
    return (int64_t)i;
}

static int32_t find(const ct_noise *noise, const char *group, const char *label)
{
    return noise->slots ? noise->slot[find_slot(noise, group, label)] - 1 : -1;
}

static ct_status grow_slots(ct_noise *noise, ct_err *err)
{
    if (2 * ((int64_t)noise->count + 1) <= noise->slots) return CT_OK;
    const int64_t slots = CT_MAX(16, 2 * noise->slots);
    int32_t *slot = ct__zalloc(slots, sizeof *slot);
    if (!slot) return ct__no_memory(err, "noise model names", slots);
    free(noise->slot);
    noise->slot = slot;
    noise->slots = slots;
    for (int32_t i = 0; i < noise->count; i++) slot[find_slot(noise, noise->model[i].name, NULL)] = i + 1;
    return CT_OK;
}

static ct_status check_name(const ct_noise *noise, const char *name, ct_err *err)
{
    if (!*name) return ct_fail(err, CT_E_NOISE, "a noise model's name is empty");
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f)
            return ct_fail(err, CT_E_NOISE, "noise model \"%s\": a name must not hold spaces or control characters", name);
    if (find(noise, name, NULL) >= 0) return ct_fail(err, CT_E_NOISE, "noise model \"%s\": there is one of this name already", name);
    if (noise->count == INT32_MAX) return ct_fail(err, CT_E_LIMIT, "more than %d noise models", INT32_MAX);
    return CT_OK;
}

/* ---- Models ---------------------------------------------------------------------------------- */

void ct__noise_put(ct_noise *noise, int32_t index, const ct__noise_numbers *numbers)
{
    ct_noise_model *model = &noise->model[index];
    assert(model->dim == numbers->dim);
    const size_t bytes = (size_t)ct__noise_length(numbers->kind, numbers->dim) * sizeof(double);
    model->kind = numbers->kind;
    memcpy((double *)model->covariance, numbers->covariance, bytes); /* const to readers only */
    memcpy((double *)model->sqrt_info, numbers->sqrt_info, bytes);
}

ct_status ct__noise_add(ct_noise *noise, const char *name, const ct__noise_numbers *numbers, int32_t *index, ct_err *err)
{
    CT_TRY(check_name(noise, name, err));
    CT_TRY(ct__grow(&noise->model, &noise->capacity, (int64_t)noise->count + 1, sizeof *noise->model, "noise models", err));
    CT_TRY(grow_slots(noise, err));
    const size_t n = (size_t)numbers->dim * (size_t)numbers->dim, length = strlen(name) + 1;
    double *block = ct__zalloc((int64_t)(2 * n + length / sizeof(double) + 1), sizeof *block);
    if (!block) return ct__no_memory(err, "noise models", 1);
    memcpy(block + 2 * n, name, length);

    const int32_t i = noise->count++;
    noise->model[i] = (ct_noise_model){.name = (char *)(block + 2 * n), .dim = numbers->dim, .covariance = block, .sqrt_info = block + n};
    ct__noise_put(noise, i, numbers);
    noise->slot[find_slot(noise, name, NULL)] = i + 1;
    if (index) *index = i;
    return CT_OK;
}

ct_status ct_noise_copy(const ct_noise *noise, ct_noise **out, ct_err *err)
{
    CT_TRY(ct_noise_new(out, err));
    for (int32_t i = 0; i < noise->count; i++) {
        const ct_noise_model *m = &noise->model[i];
        ct__noise_numbers     numbers = {.kind = m->kind, .dim = m->dim};
        const size_t          bytes = (size_t)ct__noise_length(m->kind, m->dim) * sizeof(double);
        memcpy(numbers.covariance, m->covariance, bytes);
        memcpy(numbers.sqrt_info, m->sqrt_info, bytes);
        const ct_status status = ct__noise_add(*out, m->name, &numbers, NULL, err);
        if (status != CT_OK) {
            ct_noise_free(*out);
            *out = NULL;
            return status;
        }
        (*out)->model[i].robust = m->robust;
    }
    return CT_OK;
}

ct_status ct_noise_add_isotropic(ct_noise *noise, const char *name, int dim, double variance, int32_t *index, ct_err *err)
{
    ct__noise_numbers numbers;
    CT_TRY(ct__noise_isotropic(name, dim, variance, &numbers, err));
    return ct__noise_add(noise, name, &numbers, index, err);
}

ct_status ct_noise_add_diagonal(ct_noise *noise, const char *name, int dim, const double variance[], int32_t *index, ct_err *err)
{
    ct__noise_numbers numbers;
    CT_TRY(ct__noise_diagonal(name, dim, variance, &numbers, err));
    return ct__noise_add(noise, name, &numbers, index, err);
}

ct_status ct_noise_add_full(ct_noise *noise, const char *name, int dim, const double covariance[], int32_t *index, ct_err *err)
{
    ct__noise_numbers numbers;
    CT_TRY(ct__noise_full(name, dim, covariance, &numbers, err));
    return ct__noise_add(noise, name, &numbers, index, err);
}

ct_status ct_noise_add_information(ct_noise *noise, const char *name, int dim, const double information[], int32_t *index, ct_err *err)
{
    ct__noise_numbers numbers;
    CT_TRY(ct__noise_information(name, dim, information, &numbers, err));
    return ct__noise_add(noise, name, &numbers, index, err);
}

ct_status ct_noise_set_variance(ct_noise *noise, int32_t index, const double variance[], ct_err *err)
{
    const ct_noise_model *m = ct_noise_get(noise, index);
    ct__noise_numbers     numbers;
    if (m->kind == CT_NOISE_ISOTROPIC) CT_TRY(ct__noise_isotropic(m->name, m->dim, variance[0], &numbers, err));
    else CT_TRY(ct__noise_diagonal(m->name, m->dim, variance, &numbers, err));
    ct__noise_put(noise, index, &numbers);
    return CT_OK;
}

ct_status ct_noise_set_covariance(ct_noise *noise, int32_t index, const double covariance[], ct_err *err)
{
    const ct_noise_model *m = ct_noise_get(noise, index);
    ct__noise_numbers     numbers;
    CT_TRY(ct__noise_full(m->name, m->dim, covariance, &numbers, err));
    ct__noise_put(noise, index, &numbers);
    return CT_OK;
}

ct_status ct_noise_set_robust(ct_noise *noise, int32_t index, ct_robust robust, ct_err *err)
{
    const char *name = ct_noise_get(noise, index)->name;
    if (robust.kind >= CT_ROBUST_COUNT)
        return ct_fail(err, CT_E_NOISE, "noise model \"%s\": robust kernel number %d is not one", name, (int)robust.kind);
    if (robust.kind == CT_ROBUST_NONE) robust.width = 0;
    else if (!(robust.width >= WIDTH_MIN && robust.width <= WIDTH_MAX))
        return ct_fail(err, CT_E_NOISE, "noise model \"%s\": width of the %s kernel is %g; it must be positive and finite (%g to %g)", name,
                       ct_robust_name(robust.kind), robust.width, WIDTH_MIN, WIDTH_MAX);
    noise->model[index].robust = robust;
    return CT_OK;
}

int32_t ct_noise_count(const ct_noise *noise) { return noise->count; }

const ct_noise_model *ct_noise_get(const ct_noise *noise, int32_t index)
{
    assert(index >= 0 && index < noise->count);
    return &noise->model[index];
}

int32_t ct_noise_find(const ct_noise *noise, const char *name) { return find(noise, name, NULL); }

int32_t ct_noise_select(const ct_noise *noise, const char *group, const char *label)
{
    const int32_t index = label && *label ? find(noise, group, label) : -1;
    return index >= 0 ? index : find(noise, group, NULL);
}
