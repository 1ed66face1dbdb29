/* grid_file.c: LEO's JSON of a sampled signed distance.
 *
 *   grid_res                       grid spacing, m
 *   grid_size_x, grid_size_y       columns and rows
 *   grid_origin_x, grid_origin_y   position of the first sample in the body frame
 *   grid_data                      [[d, d, ...], ...]: rows along x, the first at grid_origin_y; positive outside
 *
 * Other keys are ignored. */
#include "base/json.h"
#include "shape/shape.h"

#include <errno.h>
#include <math.h>

typedef struct {
    const char   *path;
    const json_t *root;
    ct_err       *err;
} sdf_file;

static ct_status expected(const sdf_file *file, const char *key, const char *what, const json_t *found)
{
    char buf[CT__JSON_WORDS];
    return ct_fail(file->err, CT_E_PARSE, "%s: %s: expected %s, found %s", file->path, key, what,
                   ct__json_describe(found, buf));
}

static ct_status number(const sdf_file *file, const char *key, double *value)
{
    const json_t *found = json_object_get(file->root, key);
    *value = json_number_value(found);
    return json_is_number(found) ? CT_OK : expected(file, key, "a number", found);
}

static ct_status size(const sdf_file *file, const char *key, int32_t *value)
{
    double d;
    CT_TRY(number(file, key, &d));
    if (!(d >= 1 && d <= INT32_MAX && d == floor(d)))
        return expected(file, key, "a whole number", json_object_get(file->root, key));
    *value = (int32_t)d;
    return CT_OK;
}

/* Memory is proportional to the length of the file, not to the counts that it states. */
static ct_status check_rows(const sdf_file *file, const json_t *data, int32_t rows, int32_t columns)
{
    char key[40], what[48];
    snprintf(what, sizeof what, "a list of %d rows", rows);
    if (!json_is_array(data) || json_array_size(data) != (size_t)rows) return expected(file, "grid_data", what, data);
    snprintf(what, sizeof what, "a list of %d numbers", columns);
    for (int32_t r = 0; r < rows; r++) {
        const json_t *row = json_array_get(data, (size_t)r);
        snprintf(key, sizeof key, "grid_data[%d]", r);
        if (!json_is_array(row) || json_array_size(row) != (size_t)columns) return expected(file, key, what, row);
        for (int32_t c = 0; c < columns; c++) {
            const json_t *sample = json_array_get(row, (size_t)c);
            if (json_is_number(sample)) continue;
            snprintf(key, sizeof key, "grid_data[%d][%d]", r, c);
            return expected(file, key, "a number", sample);
        }
    }
    return CT_OK;
}

static ct_status read(const sdf_file *file, ct_shape **out)
{
    int32_t       rows, columns;
    double        x0, y0, step;
    ct_err        inner = {0};
    const json_t *data = json_object_get(file->root, "grid_data");
    if (!json_is_object(file->root))
        return ct_fail(file->err, CT_E_PARSE, "%s: expected an object with grid_data, found %s", file->path,
                       json_is_array(file->root) ? "a list" : "something else");
    CT_TRY(number(file, "grid_res", &step));
    CT_TRY(size(file, "grid_size_x", &columns));
    CT_TRY(size(file, "grid_size_y", &rows));
    CT_TRY(number(file, "grid_origin_x", &x0));
    CT_TRY(number(file, "grid_origin_y", &y0));
    CT_TRY(check_rows(file, data, rows, columns));
    double *value = ct__zalloc((int64_t)rows * columns, sizeof *value);
    if (!value) return ct__no_memory(file->err, "samples", (int64_t)rows * columns);
    for (int32_t r = 0; r < rows; r++)
        for (int32_t c = 0; c < columns; c++)
            value[(int64_t)r * columns + c] =
                json_number_value(json_array_get(json_array_get(data, (size_t)r), (size_t)c));
    const ct_status status = ct_shape_grid(rows, columns, x0, y0, step, value, out, &inner);
    free(value);
    return status == CT_OK ? CT_OK : ct_fail(file->err, status, "%s: %s", file->path, inner.text);
}

ct_status ct_shape_read(const char *path, ct_shape **out, ct_err *err)
{
    json_t *root;
    *out = NULL;
    FILE *stream = fopen(path, "rb");
    if (!stream) return ct_fail(err, ct__io_status(), "%s: %s", path, strerror(errno));
    ct_status status = ct__json_load(stream, path, &root, err);
    fclose(stream);
    if (status != CT_OK) return status;
    status = read(&(sdf_file){path, root, err}, out);
    json_decref(root);
    return status;
}
