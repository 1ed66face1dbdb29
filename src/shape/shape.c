/* shape.c: handles, names, and dispatch by kind. */
#include "shape/shape.h"

static const char *const NAME[CT_SHAPE_COUNT] = {
#define X(constant, name, what) name,
    CT_SHAPE_LIST(X)
#undef X
};

const char *ct_shape_kind_name(ct_shape_kind kind) { return (unsigned)kind < CT_SHAPE_COUNT ? NAME[kind] : "unknown"; }

int ct_shape_kind_find(const char *name) { return ct__find_name(name, NAME, CT_SHAPE_COUNT); }

ct_status ct__shape_new(ct_shape_kind kind, int64_t count, ct_shape **out, ct_err *err)
{
    const int64_t head = (int64_t)((sizeof **out + sizeof(double) - 1) / sizeof(double));
    *out = ct__zalloc(head + count, sizeof(double));
    if (!*out) return ct__no_memory(err, "numbers of a shape", count);
    (*out)->kind = kind;
    (*out)->count = count;
    return CT_OK;
}

static ct_status check_length(const char *shape, const char *what, double value, ct_err *err)
{
    if (value >= CT__LENGTH_LEAST && value <= CT__LENGTH_MOST) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT, "%s: its half %s must be from %g to %g, it is %g", shape, what, CT__LENGTH_LEAST,
                   CT__LENGTH_MOST, value);
}

ct_status ct__shape_pair(ct_shape_kind kind, double a, double b, const char *first, const char *second, ct_shape **out,
                         ct_err *err)
{
    *out = NULL;
    CT_TRY(check_length(ct_shape_kind_name(kind), first, a, err));
    CT_TRY(check_length(ct_shape_kind_name(kind), second, b, err));
    CT_TRY(ct__shape_new(kind, 2, out, err));
    (*out)->number[0] = a;
    (*out)->number[1] = b;
    return CT_OK;
}

void ct_shape_free(ct_shape *shape) { free(shape); }

ct_shape_kind ct_shape_kind_of(const ct_shape *shape) { return shape->kind; }

int64_t ct_shape_numbers(const ct_shape *shape, int64_t most, double *number)
{
    const int64_t n = CT_MIN(most, shape->count);
    if (n > 0) memcpy(number, shape->number, (size_t)n * sizeof *number);
    return shape->count;
}

double ct_shape_distance(const ct_shape *shape, const double p[2], double g[2], double H[4])
{
    switch (shape->kind) {
    case CT_SHAPE_ELLIPSE: return ct__ellipse_distance(shape->number, p, g, H);
    case CT_SHAPE_RECTANGLE: return ct__rectangle_distance(shape->number, p, g, H);
    case CT_SHAPE_POLYGON: return ct__polygon_distance(shape, p, g, H);
    default: return ct__grid_distance(shape, p, g, H);
    }
}

ct_status ct_shape_check(const ct_shape *shape, const double p[2], ct_err *err)
{
    if (shape->kind != CT_SHAPE_GRID) return CT_OK;
    const double *n = shape->number, x1 = n[0] + (shape->columns - 1) * n[2], y1 = n[1] + (shape->rows - 1) * n[2];
    if (p[0] >= n[0] && p[0] <= x1 && p[1] >= n[1] && p[1] <= y1) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT, "(%g, %g) lies beyond the grid, which goes from (%g, %g) to (%g, %g)", p[0],
                   p[1], n[0], n[1], x1, y1);
}
