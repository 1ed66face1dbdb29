/* noise.c: the table of noise models.
 *
 * Models stand in one array, because linearising a graph reads model after model by index. Each
 * model's numbers and names are one block, sized for a full matrix and for rows with names, so a model
 * can change its kind and its row names, and the array can grow, without reallocation or
 * failure: dim^2 for Sigma, dim^2 for R, dim rows, what measures with it, the name.
 * A graph file may bring one information matrix an edge, hence ten thousand models. */
#include "noise/noise.h"
#include "base/base.h"
#include "base/coordinate.h"
#include "base/name_table.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#define WIDTH_MIN 1e-150 /* the square of a kernel's width must be a normal number */
#define WIDTH_MAX 1e150
#define NAME_MAX_LENGTH 255
#define MEASUREMENT_DOUBLES ((CT_NOISE_MEASUREMENT_MAX + 1) / sizeof(double)) /* its place in the block */

struct ct_noise {
    ct_noise_model *model;
    int32_t         count;
    int64_t         capacity;
    ct__names       names; /* numbered as the models are */
    int             functions; /* models that have one */
};

ct_status ct_noise_new(ct_noise **out, ct_err *err)
{
    *out = ct__zalloc(1, sizeof **out);
    return *out ? CT_OK : ct__no_memory(err, "noise tables", 1);
}

void ct_noise_free(ct_noise *noise)
{
    if (!noise) return;
    for (int32_t i = 0; i < noise->count; i++) {
        free((double *)noise->model[i].covariance); /* the block */
        free((ct_bias *)noise->model[i].bias);
        ct_function_free((ct_function *)noise->model[i].function);
    }
    free(noise->model);
    ct__names_free(&noise->names);
    free(noise);
}

void ct__noise_swap(ct_noise *a, ct_noise *b)
{
    const ct_noise t = *a;
    *a = *b;
    *b = t;
}

/* ---- Names ----------------------------------------------------------------------------------- */

static int has_model(const ct_noise *noise, int32_t index) { return index >= 0 && index < noise->count; }

static ct_status check_index(const ct_noise *noise, int32_t index, ct_err *err)
{
    if (has_model(noise, index)) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT, "there is no noise model number %d: the table has %d", index, noise->count);
}

static ct_status check_name(const ct_noise *noise, const char *name, ct_err *err)
{
    if (!name || !*name) return ct_fail(err, CT_E_NOISE, "a noise model's name is empty");
    for (const char *c = name; *c; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f)
            return ct_fail(err, CT_E_NOISE, "noise model \"%s\": a name must not hold spaces or control characters",
                           name);
    if (strlen(name) > NAME_MAX_LENGTH)
        return ct_fail(err, CT_E_NOISE, "noise model \"%.40s...\": a name has at most %d bytes", name, NAME_MAX_LENGTH);
    if (ct__names_find(&noise->names, name) >= 0)
        return ct_fail(err, CT_E_NOISE, "noise model \"%s\": there is one of this name already", name);
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
    ct__noise_update_cuts(model);
}

void ct__noise_put_function(ct_noise *noise, int32_t index, ct_function *function)
{
    ct_noise_model *model = &noise->model[index];
    noise->functions += (function != NULL) - (model->function != NULL);
    ct_function_free((ct_function *)model->function);
    model->function = function;
    ct__noise_update_cuts(model);
}

int ct__noise_functions(const ct_noise *noise) { return noise->functions; }

ct_status ct__noise_add(ct_noise *noise, const char *name, const ct__noise_numbers *numbers, int32_t *index,
                        ct_err *err)
{
    CT_TRY(check_name(noise, name, err));
    CT_TRY(ct__grow(&noise->model, &noise->capacity, (int64_t)noise->count + 1, sizeof *noise->model, "noise models",
                    err));
    const size_t dim = (size_t)numbers->dim, n = dim * dim, length = strlen(name) + 1;
    const size_t rows = dim * sizeof(ct_noise_row) / sizeof(double); /* in doubles; 32 bytes a row */
    double *block =
        ct__zalloc((int64_t)(2 * n + rows + MEASUREMENT_DOUBLES + length / sizeof(double) + 1), sizeof *block);
    if (!block) return ct__no_memory(err, "noise models", 1);
    const ct_status status = ct__names_add(&noise->names, name, err);
    if (status != CT_OK) {
        free(block);
        return status;
    }
    char *own_name = (char *)(block + 2 * n + rows + MEASUREMENT_DOUBLES);
    memcpy(own_name, name, length);

    const int32_t i = noise->count++;
    noise->model[i] = (ct_noise_model){
        .name = own_name, .dim = numbers->dim, .covariance = block, .sqrt_info = block + n, .learned = -1};
    ct__noise_put(noise, i, numbers);
    if (index) *index = i;
    return CT_OK;
}

/* The place for a model's rows in its block. */
static ct_noise_row *place_of_rows(const ct_noise_model *m)
{
    return (ct_noise_row *)(void *)((double *)m->covariance + 2 * m->dim * m->dim);
}

/* As much of the text as fits into `size` bytes, ended; a UTF-8 sequence is not cut in two. */
static void put_word(char *word, size_t size, const char *text)
{
    size_t n = text ? strlen(text) : 0;
    if (n >= size)
        for (n = size - 1; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80;) n--;
    if (n) memmove(word, text, n); /* the text may be the word itself */
    memset(word + n, 0, size - n);
}

void ct_noise_set_rows(ct_noise *noise, int32_t index, const char *const name[], const char *const unit[])
{
    if (!has_model(noise, index)) return;
    const int dim = noise->model[index].dim;
    if (!name) {
        noise->model[index].row = NULL;
        return;
    }
    ct_noise_row *row = place_of_rows(&noise->model[index]);
    noise->model[index].row = row;
    for (int i = 0; i < dim; i++) {
        put_word(row[i].name, sizeof row[i].name, name[i]);
        put_word(row[i].unit, sizeof row[i].unit, unit ? unit[i] : NULL);
    }
}

double ct_noise_covariance(const ct_noise_model *model, int i, int j)
{
    if (i < 0 || j < 0 || i >= model->dim || j >= model->dim) return NAN;
    if (model->kind == CT_NOISE_FULL) return model->covariance[i * model->dim + j];
    return i == j ? model->covariance[i] : 0;
}

double ct_noise_sigma(const ct_noise_model *model, int i) { return sqrt(ct_noise_covariance(model, i, i)); }

int ct_noise_find_row(const ct_noise_model *model, const char *name)
{
    if (!name || !*name || !model || !model->row) return -1;
    for (int i = 0; i < model->dim; i++)
        if (!strcmp(name, model->row[i].name)) return i;
    for (int i = 0; i < model->dim; i++)
        if (ct__same_coordinate(name, model->row[i].name)) return i;
    return -1;
}

void ct_noise_set_measurement(ct_noise *noise, int32_t index, const char *name)
{
    if (!has_model(noise, index)) return;
    ct_noise_model *m = &noise->model[index];
    char           *place = (char *)(place_of_rows(m) + m->dim);
    m->measurement = name && *name ? place : NULL;
    put_word(place, CT_NOISE_MEASUREMENT_MAX + 1, name);
}

void ct_noise_set_learned(ct_noise *noise, int32_t index, int learned)
{
    if (has_model(noise, index)) noise->model[index].learned = learned < 0 ? -1 : learned > 0;
}

ct_status ct_noise_set_bias(ct_noise *noise, int32_t index, const ct_bias *bias, ct_err *err)
{
    CT_TRY(check_index(noise, index, err));
    ct_noise_model *m = &noise->model[index];
    ct_bias        *own = NULL;
    if (bias) {
        CT_TRY(ct__bias_check(m->name, m->dim, bias, err));
        own = ct__zalloc(1, sizeof *own);
        if (!own) return ct__no_memory(err, "biases", 1);
        *own = *bias;
    }
    free((ct_bias *)m->bias);
    m->bias = own;
    return CT_OK;
}

/* What a model has beside its numbers. */
static ct_status copy_labels(const ct_noise_model *m, ct_noise *to, int32_t i, ct_err *err)
{
    ct_noise_model *copy = &to->model[i];
    copy->robust = m->robust;
    copy->learned = m->learned;
    if (m->row) copy->row = memcpy(place_of_rows(copy), m->row, (size_t)m->dim * sizeof *m->row);
    ct_noise_set_measurement(to, i, m->measurement);
    if (m->function) {
        ct_function *function = ct_function_copy(m->function);
        if (!function) return ct__no_memory(err, "functions of noise models", 1);
        ct__noise_put_function(to, i, function);
    }
    return ct_noise_set_bias(to, i, m->bias, err);
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
        ct_status status = ct__noise_add(*out, m->name, &numbers, NULL, err);
        if (status == CT_OK) status = copy_labels(m, *out, i, err);
        if (status != CT_OK) {
            ct_noise_free(*out);
            *out = NULL;
            return status;
        }
    }
    return CT_OK;
}

ct_status ct_noise_add_isotropic(ct_noise *noise, const char *name, int dim, double variance, int32_t *index,
                                 ct_err *err)
{
    ct__noise_numbers numbers;
    CT_TRY(ct__noise_isotropic(name, dim, variance, &numbers, err));
    return ct__noise_add(noise, name, &numbers, index, err);
}

ct_status ct_noise_add_diagonal(ct_noise *noise, const char *name, int dim, const double variance[], int32_t *index,
                                ct_err *err)
{
    ct__noise_numbers numbers;
    CT_TRY(ct__noise_diagonal(name, dim, variance, &numbers, err));
    return ct__noise_add(noise, name, &numbers, index, err);
}

ct_status ct_noise_add_full(ct_noise *noise, const char *name, int dim, const double covariance[], int32_t *index,
                            ct_err *err)
{
    ct__noise_numbers numbers;
    CT_TRY(ct__noise_full(name, dim, covariance, &numbers, err));
    return ct__noise_add(noise, name, &numbers, index, err);
}

ct_status ct_noise_add_information(ct_noise *noise, const char *name, int dim, const double information[],
                                   int32_t *index, ct_err *err)
{
    ct__noise_numbers numbers;
    CT_TRY(ct__noise_information(name, dim, information, &numbers, err));
    return ct__noise_add(noise, name, &numbers, index, err);
}

ct_status ct_noise_set_variance(ct_noise *noise, int32_t index, const double variance[], ct_err *err)
{
    CT_TRY(check_index(noise, index, err));
    const ct_noise_model *m = ct_noise_get(noise, index);
    ct__noise_numbers     numbers;
    if (m->kind == CT_NOISE_ISOTROPIC) CT_TRY(ct__noise_isotropic(m->name, m->dim, variance[0], &numbers, err));
    else CT_TRY(ct__noise_diagonal(m->name, m->dim, variance, &numbers, err));
    ct__noise_put(noise, index, &numbers);
    return CT_OK;
}

ct_status ct_noise_set_covariance(ct_noise *noise, int32_t index, const double covariance[], ct_err *err)
{
    CT_TRY(check_index(noise, index, err));
    const ct_noise_model *m = ct_noise_get(noise, index);
    ct__noise_numbers     numbers;
    CT_TRY(ct__noise_full(m->name, m->dim, covariance, &numbers, err));
    ct__noise_put(noise, index, &numbers);
    return CT_OK;
}

ct_status ct_noise_set_robust(ct_noise *noise, int32_t index, ct_robust robust, ct_err *err)
{
    CT_TRY(check_index(noise, index, err));
    const char *name = ct_noise_get(noise, index)->name;
    if ((int)robust.kind < 0 || robust.kind >= CT_ROBUST_COUNT)
        return ct_fail(err, CT_E_NOISE, "noise model \"%s\": robust kernel number %d is not one", name,
                       (int)robust.kind);
    if (robust.kind == CT_ROBUST_NONE) robust.width = 0;
    else if (!(robust.width >= WIDTH_MIN && robust.width <= WIDTH_MAX))
        return ct_fail(err, CT_E_NOISE,
                       "noise model \"%s\": width of the %s kernel is %g; it must be positive and finite (%g to %g)",
                       name, ct_robust_name(robust.kind), robust.width, WIDTH_MIN, WIDTH_MAX);
    if (robust.kind != CT_ROBUST_MAX_MIXTURE) robust.ratio = 0;
    else if (robust.ratio == 0) robust.ratio = ct_robust_default_ratio(robust.kind);
    else if (!(robust.ratio > 1 && robust.ratio <= WIDTH_MAX))
        return ct_fail(err, CT_E_NOISE,
                       "noise model \"%s\": the wide component of its %s kernel is %g times as wide; it must be more "
                       "than 1 and at most %g",
                       name, ct_robust_name(robust.kind), robust.ratio, WIDTH_MAX);
    noise->model[index].robust = robust;
    return CT_OK;
}

int32_t ct_noise_count(const ct_noise *noise) { return noise->count; }

const ct_noise_model *ct_noise_get(const ct_noise *noise, int32_t index)
{
    return has_model(noise, index) ? &noise->model[index] : NULL;
}

int32_t ct_noise_find(const ct_noise *noise, const char *name) { return name ? ct__names_find(&noise->names,
                                                                                              name) : -1; }

int ct__noise_whole(char *name)
{
    char *number = strrchr(name, '#'), *end = strpbrk(number ? number : name, "@#");
    if (!end) return 0;
    *end = 0;
    return 1;
}

int32_t ct_noise_select(const ct_noise *noise, const char *group, const char *label)
{
    char      name[NAME_MAX_LENGTH + 2]; /* one more than any model's name, so that a cut one matches none */
    const int labelled = label && *label;
    if (labelled) snprintf(name, sizeof name, "%s@%s", group, label);
    const int32_t index = labelled ? ct_noise_find(noise, name) : -1;
    return index >= 0 ? index : ct_noise_find(noise, group);
}
