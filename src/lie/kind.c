/* kind.c: manifolds as values of ct_kind: tables from CT_KIND_LIST, and one switch per operation. Also R^n, the
 * kinds whose group operation is addition.
 *
 * To add a kind: a line in CT_KIND_LIST, its coordinate names here, and a case in each switch (the
 * compiler names those that are missing).
 */
#include <float.h>
#include <string.h>

#include "base/coordinate.h"
#include "lie/se2_inline.h"
#include "lie/se3_inline.h"

void ct_rn_compose(int n, const double *a, const double *b, double *c)
{
    for (int i = 0; i < n; i++) c[i] = a[i] + b[i];
}

void ct_rn_inverse(int n, const double *a, double *c)
{
    for (int i = 0; i < n; i++) c[i] = -a[i];
}

void ct_rn_between(int n, const double *a, const double *b, double *c)
{
    for (int i = 0; i < n; i++) c[i] = b[i] - a[i];
}

static const struct {
    const char *name;
    int         dim, size, fields;
} info[CT_KIND_COUNT] = {
#define X(constant, name, dim, size, fields) [constant] = {name, dim, size, fields},
    CT_KIND_LIST(X)
#undef X
};

static const char *const coordinate[CT_KIND_COUNT][CT_DIM_MAX] = {
    [CT_R1] = {"x"},
    [CT_R2] = {"x", "y"},
    [CT_R3] = {"x", "y", "z"},
    [CT_SO2] = {"yaw"},
    [CT_SO3] = {"rx", "ry", "rz"},
    [CT_SE2] = {"x", "y", "yaw"},
    [CT_SE3] = {"rx", "ry", "rz", "x", "y", "z"},
};

static inline int valid(ct_kind kind) { return (int)kind >= 0 && kind < CT_KIND_COUNT; }

int ct_kind_dim(ct_kind kind) { return valid(kind) ? info[kind].dim : 0; }

int ct_kind_size(ct_kind kind) { return valid(kind) ? info[kind].size : 0; }

int ct_kind_fields(ct_kind kind) { return valid(kind) ? info[kind].fields : 0; }

const char *ct_kind_name(ct_kind kind) { return valid(kind) ? info[kind].name : "?"; }

int ct_kind_find(const char *name)
{
    for (int kind = 0; kind < CT_KIND_COUNT; kind++)
        if (name && !strcmp(name, info[kind].name)) return kind;
    return -1;
}

const char *ct_kind_coordinate(ct_kind kind, int i)
{
    return valid(kind) && i >= 0 && i < info[kind].dim ? coordinate[kind][i] : "?";
}

int ct_kind_find_coordinate(ct_kind kind, const char *name)
{
    for (int i = 0; name && i < ct_kind_dim(kind); i++)
        if (ct__same_coordinate(name, coordinate[kind][i])) return i;
    return -1;
}

/* Lengths are named x, y, z. Angles have longer names: yaw, rx, ry, rz. */
const char *ct_kind_unit(ct_kind kind, int i)
{
    const char *name = ct_kind_coordinate(kind, i);
    return name[0] == '?' ? "?" : name[1] ? "rad" : "m";
}

static void store_so2(ct_so2 a, double *x) { x[0] = a.c, x[1] = a.s; }
static void store_so3(ct_so3 a, double *x) { x[0] = a.x, x[1] = a.y, x[2] = a.z, x[3] = a.w; }
static void store_se2(ct_se2 a, double *x) { x[0] = a.x, x[1] = a.y, x[2] = a.c, x[3] = a.s; }

static void store_se3(ct_se3 a, double *x)
{
    x[0] = a.x, x[1] = a.y, x[2] = a.z;
    store_so3(ct__se3_rotation(a), x + 3);
}

void ct_kind_identity(ct_kind kind, double *x)
{
    switch (kind) {
    case CT_R1:
    case CT_R2:
    case CT_R3: memset(x, 0, (size_t)info[kind].size * sizeof *x); return;
    case CT_SO2: store_so2(ct_so2_identity(), x); return;
    case CT_SO3: store_so3(ct_so3_identity(), x); return;
    case CT_SE2: store_se2(ct_se2_identity(), x); return;
    case CT_SE3: store_se3(ct_se3_identity(), x); return;
    case CT_KIND_COUNT: break;
    }
}

/* Rounding moves a product of units off the unit sphere by some eps; one Newton step brings it back
 * (see ct__so3_renormalize), so a million retractions stay as unit as one. It does not repair an x
 * that is far from unit: ct_*_normalize does. */
static ct_so2 renormalize_so2(ct_so2 a)
{
    const double k = 1.5 - 0.5 * (a.c * a.c + a.s * a.s);
    return (ct_so2){k * a.c, k * a.s};
}

static ct_se2 retract_se2(ct_se2 a, const double d[3])
{
    const ct_se2 y = ct__se2_compose(a, ct__se2_exp(d));
    const ct_so2 r = renormalize_so2(ct__se2_rotation(y));
    return (ct_se2){y.x, y.y, r.c, r.s};
}

static ct_se3 retract_se3(ct_se3 a, const double d[6])
{
    const ct_se3 y = ct__se3_compose(a, ct__se3_exp(d));
    return ct__se3_make((const double[3]){y.x, y.y, y.z}, ct__so3_renormalize(ct__se3_rotation(y)));
}

void ct_kind_retract(ct_kind kind, const double *x, const double *d, double *y)
{
    switch (kind) {
    case CT_R1:
    case CT_R2:
    case CT_R3: ct_rn_compose(info[kind].dim, x, d, y); return;
    case CT_SO2: store_so2(renormalize_so2(ct__so2_compose(ct__so2_load(x), ct__so2_exp(d[0]))), y); return;
    case CT_SO3: store_so3(ct__so3_renormalize(ct__so3_compose(ct__so3_load(x), ct__so3_exp(d))), y); return;
    case CT_SE2: store_se2(retract_se2(ct__se2_load(x), d), y); return;
    case CT_SE3: store_se3(retract_se3(ct__se3_load(x), d), y); return;
    case CT_KIND_COUNT: break;
    }
}

void ct_kind_local(ct_kind kind, const double *x, const double *y, double *d)
{
    switch (kind) {
    case CT_R1:
    case CT_R2:
    case CT_R3: ct_rn_between(info[kind].dim, x, y, d); return;
    case CT_SO2: d[0] = ct__so2_log(ct__so2_between(ct__so2_load(x), ct__so2_load(y))); return;
    case CT_SO3: ct_so3_log(ct__so3_between(ct__so3_load(x), ct__so3_load(y)), d); return;
    case CT_SE2: ct_se2_log(ct__se2_between(ct__se2_load(x), ct__se2_load(y)), d); return;
    case CT_SE3: ct_se3_log(ct__se3_between(ct__se3_load(x), ct__se3_load(y)), d); return;
    case CT_KIND_COUNT: break;
    }
}

/* Normalises the quaternion in field[0..3] unless |q| = 1 up to 4 eps, that is |q|^2 = 1 up to 8 eps. */
static int unit_quaternion(const double *field, double *x)
{
    ct_so3       q = ct__so3_load(field);
    const double n2 = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
    if (q.x == 0 && q.y == 0 && q.z == 0 && q.w == 0) return 0;
    if (!(fabs(n2 - 1) <= 8 * DBL_EPSILON)) q = ct_so3_normalize(q);
    store_so3(q, x);
    return 1;
}

int ct_kind_from_fields(ct_kind kind, const double *field, double *x)
{
    for (int i = 0; i < ct_kind_fields(kind); i++)
        if (!isfinite(field[i])) return 0;
    switch (kind) {
    case CT_R1:
    case CT_R2:
    case CT_R3: memmove(x, field, (size_t)info[kind].size * sizeof *x); return 1;
    case CT_SO2: store_so2(ct__so2_exp(field[0]), x); return 1;
    case CT_SE2: store_se2(ct_se2_make(field[0], field[1], field[2]), x); return 1;
    case CT_SO3: return unit_quaternion(field, x);
    case CT_SE3:
        if (!unit_quaternion(field + 3, x + 3)) return 0;
        memmove(x, field, 3 * sizeof *x);
        return 1;
    case CT_KIND_COUNT: break;
    }
    return 0;
}

void ct_kind_to_fields(ct_kind kind, const double *x, double *field)
{
    if (!valid(kind)) return;
    if (kind == CT_SO2) {
        field[0] = ct__so2_log(ct__so2_load(x));
    } else if (kind == CT_SE2) {
        const ct_se2 a = ct__se2_load(x);
        field[0] = a.x, field[1] = a.y, field[2] = ct_se2_yaw(a);
    } else {
        memmove(field, x, (size_t)info[kind].size * sizeof *x);
    }
}

int64_t ct_kind_from_rows(ct_kind kind, int64_t n, const double *field, double *x)
{
    const int fields = ct_kind_fields(kind), size = ct_kind_size(kind);
    for (int64_t i = 0; i < n; i++)
        if (!ct_kind_from_fields(kind, field + i * fields, x + i * size)) return i;
    return n;
}

void ct_kind_to_rows(ct_kind kind, int64_t n, const double *x, double *field)
{
    const int fields = ct_kind_fields(kind), size = ct_kind_size(kind);
    for (int64_t i = 0; i < n; i++) ct_kind_to_fields(kind, x + i * size, field + i * fields);
}
