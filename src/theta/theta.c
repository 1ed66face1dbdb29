/* theta.c: creation of a ct_theta, queries and names of parameters.
 *
 * ct_theta_new allocates for as many blocks as can be needed. So definitions (define.c) cannot run out of memory. */
#include "theta/theta.h"
#include "base/base.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

static const size_t ROW = sizeof((ct_noise_row *)0)->name;

/* ---- Creation -------------------------------------------------------------------------------- */

static ct_status allocate(int32_t models, int32_t room, int64_t text_size, ct_theta **out, ct_err *err)
{
    *out = NULL;
    ct_theta *theta = ct__zalloc(1, sizeof *theta);
    if (!theta) return ct__no_memory(err, "sets of parameters", 1);
    theta->model = ct__zalloc(models, sizeof *theta->model);
    theta->block = ct__zalloc(room, sizeof *theta->block);
    theta->spare = ct__zalloc(room, sizeof *theta->spare);
    theta->map = ct__zalloc(room, sizeof *theta->map);
    theta->text = ct__zalloc(text_size, 1);
    if (!theta->model || !theta->block || !theta->spare || !theta->map || !theta->text) {
        ct_theta_free(theta);
        return ct__no_memory(err, "parameters", room);
    }
    theta->models = models;
    theta->room = room;
    theta->text_size = text_size;
    theta->spread = INFINITY;
    *out = theta;
    return CT_OK;
}

void ct_theta_free(ct_theta *theta)
{
    if (!theta) return;
    free(theta->model);
    free(theta->block);
    free(theta->spare);
    free(theta->map);
    free(theta->text);
    free(theta);
}

ct_status ct_theta_new(const ct_noise *noise, ct_theta **out, ct_err *err)
{
    const int32_t models = ct_noise_count(noise);
    int64_t       coordinates = 0, parameters = 0, text = 0;
    *out = NULL;
    for (int32_t i = 0; i < models; i++) {
        const ct_noise_model *m = ct_noise_get(noise, i);
        coordinates += m->dim;
        parameters += ct__packed(m->dim);
        text += (int64_t)(strlen(m->name) + 1 + (m->row ? (size_t)m->dim * ROW : 0));
    }
    if (parameters > INT32_MAX)
        return ct_fail(err, CT_E_LIMIT, "%d noise models have up to %lld parameters, more than %d", models,
                       (long long)parameters, INT32_MAX);
    CT_TRY(allocate(models, (int32_t)coordinates + CT_NOISE_DIM_MAX, text, out, err));

    char *to = (*out)->text;
    for (int32_t i = 0; i < models; i++) {
        const ct_noise_model *m = ct_noise_get(noise, i);
        ct__theta_model      *mine = &(*out)->model[i];
        *mine = (ct__theta_model){.name = to - (*out)->text, .rows = -1, .dim = m->dim};
        for (int c = 0; c < CT_NOISE_DIM_MAX; c++) mine->block[c] = -1, mine->unit[c] = 1;
        to = strcpy(to, m->name) + strlen(m->name) + 1;
        if (!m->row) continue;
        mine->rows = to - (*out)->text;
        for (int c = 0; c < m->dim; c++, to += ROW) memcpy(to, m->row[c].name, ROW - 1); /* the last byte stays 0 */
    }
    return CT_OK;
}

ct_status ct_theta_copy(const ct_theta *theta, ct_theta **out, ct_err *err)
{
    CT_TRY(allocate(theta->models, theta->room, theta->text_size, out, err));
    ct_theta *copy = *out;
    memcpy(copy->model, theta->model, (size_t)theta->models * sizeof *theta->model);
    memcpy(copy->block, theta->block, (size_t)theta->blocks * sizeof *theta->block);
    memcpy(copy->text, theta->text, (size_t)theta->text_size);
    copy->blocks = theta->blocks;
    copy->count = theta->count;
    copy->end = theta->end;
    copy->spread = theta->spread;
    return CT_OK;
}

/* ---- Queries --------------------------------------------------------------------------------- */

int32_t ct_theta_count(const ct_theta *theta) { return theta->count; }
int32_t ct_theta_models(const ct_theta *theta) { return theta->models; }
double  ct_theta_spread_limit(const ct_theta *theta) { return theta->spread; }

int ct_theta_learns(const ct_theta *theta, int32_t model)
{
    if (model < 0 || model >= theta->models) return 0;
    for (int c = 0; c < theta->model[model].dim; c++)
        if (theta->model[model].block[c] >= 0) return 1;
    return 0;
}

/* Blocks ascend in `first`. */
const ct__theta_block *ct__theta_find_block(const ct_theta *theta, int32_t i)
{
    assert(i >= 0 && i < theta->count);
    int32_t low = 0, high = theta->blocks; /* block[low].first <= i < block[high].first */
    while (high - low > 1) {
        const int32_t middle = low + (high - low) / 2;
        if (theta->block[middle].first <= i) low = middle;
        else high = middle;
    }
    return &theta->block[low];
}

static int has_parameter(const ct_theta *theta, int32_t i) { return i >= 0 && i < theta->count; }

/* Row and column of entry k of a triangle. */
static void triangle(int dim, int k, int *row, int *column)
{
    *row = 0;
    for (; k >= dim - *row; (*row)++) k -= dim - *row;
    *column = *row + k;
}

int ct_theta_is_scale(const ct_theta *theta, int32_t i)
{
    if (!has_parameter(theta, i)) return 0;
    const ct__theta_block *block = ct__theta_find_block(theta, i);
    int              row, column;
    triangle(block->dim, i - block->first, &row, &column);
    return row == column;
}

void ct_theta_bounds(const ct_theta *theta, int32_t i, double *lower, double *upper)
{
    *lower = *upper = NAN;
    if (!has_parameter(theta, i)) return;
    const ct__theta_block *block = ct__theta_find_block(theta, i);
    *lower = block->lower;
    *upper = block->upper;
}

double ct_theta_unit(const ct_theta *theta, int32_t model, int coordinate)
{
    if (model < 0 || model >= theta->models || coordinate < 0 || coordinate >= theta->model[model].dim) return NAN;
    return theta->model[model].unit[coordinate];
}

int ct_theta_has_units(const ct_theta *theta)
{
    for (int32_t i = 0; i < theta->models; i++) {
        const ct__theta_model *m = &theta->model[i];
        for (int c = 0; ct_theta_learns(theta, i) && c < m->dim; c++)
            if (m->unit[c] != 1 && (m->kind != CT_NOISE_DIAGONAL || m->block[c] >= 0)) return 1;
    }
    return 0;
}

double ct_theta_unit_squared(const ct_theta *theta, int32_t i)
{
    if (!has_parameter(theta, i)) return NAN;
    const ct__theta_block *block = ct__theta_find_block(theta, i);
    const int        at = CT_MAX(block->coordinate, 0);
    int              row, column;
    triangle(block->dim, i - block->first, &row, &column);
    return ct__unit2(&theta->model[block->model], at + row, at + column);
}

int32_t ct_theta_find(const ct_theta *theta, int32_t model, int coordinate)
{
    if (model < 0 || model >= theta->models) return -1;
    const ct__theta_model *m = &theta->model[model];
    if (coordinate < 0 || coordinate >= m->dim || m->kind == CT_NOISE_FULL) return -1;
    const int32_t block = m->block[m->kind == CT_NOISE_ISOTROPIC ? 0 : coordinate];
    return block < 0 ? -1 : theta->block[block].first;
}

/* ---- Names ----------------------------------------------------------------------------------- */

/* Appends to the text in buf that ends at *used; a truncated text ends in "...". */
static void add(char *buf, size_t size, size_t *used, const char *text)
{
    const size_t length = strlen(text);
    if (*used + length < size) {
        memcpy(buf + *used, text, length + 1);
        *used += length;
    } else if (size) {
        snprintf(buf + *used, size - *used, "%s", text);
        if (size > 3) memcpy(buf + size - 4, "...", 4);
        *used = size;
    }
}

static void add_row(const ct_theta *theta, const ct__theta_model *m, int c, char *buf, size_t size, size_t *used)
{
    char        number[16];
    const char *row = m->rows < 0 ? "" : theta->text + m->rows + (size_t)c * ROW;
    snprintf(number, sizeof number, "%d", c);
    add(buf, size, used, *row ? row : number);
}

static void add_label(const ct_theta *theta, int32_t model, int coordinate, char *buf, size_t size, size_t *used)
{
    const ct__theta_model *m = &theta->model[model];
    add(buf, size, used, theta->text + m->name);
    if (coordinate < 0) return;
    add(buf, size, used, ".");
    add_row(theta, m, coordinate, buf, size, used);
}

const char *ct__theta_label(const ct_theta *theta, int32_t model, int coordinate, char *buf, size_t size)
{
    size_t used = 0;
    if (size) buf[0] = 0;
    add_label(theta, model, coordinate, buf, size, &used);
    return buf;
}

/* "[x,y]" for entry k of a full model. */
static void add_entry(const ct_theta *theta, const ct__theta_model *m, int k, char *buf, size_t size, size_t *used)
{
    int row, column;
    triangle(m->dim, k, &row, &column);
    add(buf, size, used, "[");
    add_row(theta, m, row, buf, size, used);
    add(buf, size, used, ",");
    add_row(theta, m, column, buf, size, used);
    add(buf, size, used, "]");
}

const char *ct_theta_name(const ct_theta *theta, int32_t i, char *buf, size_t size)
{
    if (!has_parameter(theta, i)) {
        snprintf(buf, size, "?");
        return buf;
    }
    const ct__theta_block *block = ct__theta_find_block(theta, i);
    const int32_t    number = (int32_t)(block - theta->block);
    size_t           used = 0;
    int32_t          left = block->uses;
    if (size) buf[0] = 0;
    for (int32_t model = block->model; left && used < size; model++) {
        const ct__theta_model *m = &theta->model[model];
        for (int c = 0; c < m->dim; c++) {
            if (m->block[c] != number) continue;
            add_label(theta, model, m->kind == CT_NOISE_DIAGONAL ? c : -1, buf, size, &used);
            if (m->kind == CT_NOISE_FULL) add_entry(theta, m, i - block->first, buf, size, &used);
            if (--left) add(buf, size, &used, "=");
        }
    }
    return buf;
}
