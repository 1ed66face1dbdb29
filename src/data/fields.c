/* fields.c: group elements and symmetric matrices as words of a line, with the fewest digits that read back to the
 * same bits.
 *
 * A planar rotation is stored as (cos, sin) and written as an angle; an information matrix is written where a
 * covariance is stored. These values are computed: 17 digits would turn 0.1 into 0.10000000000000001 and read back
 * one bit off. Writers try decimal numbers from short to long, and take the first that the reader maps to the stored
 * bits. */
#include "data/data.h"

#include <math.h>

/* Names of the numbers of an element, for messages. */
static const char *const FIELD[CT_KIND_COUNT][CT_SIZE_MAX] = {
    [CT_R1] = {"x"},
    [CT_R2] = {"x", "y"},
    [CT_R3] = {"x", "y", "z"},
    [CT_SO2] = {"yaw"},
    [CT_SO3] = {"qx", "qy", "qz", "qw"},
    [CT_SE2] = {"x", "y", "yaw"},
    [CT_SE3] = {"x", "y", "z", "qx", "qy", "qz", "qw"},
};

ct_status ct__word_element(const ct__lines *in, int w, ct_kind kind, double *value)
{
    double    field[CT_SIZE_MAX];
    const int n = ct_kind_fields(kind);
    if (in->words - w < n) {
        char what[32];
        snprintf(what, sizeof what, "numbers for %s", ct_kind_name(kind));
        return ct__word_need(in, w, n, what);
    }
    for (int i = 0; i < n; i++) CT_TRY(ct__word_number(in, w + i, FIELD[kind][i], &field[i]));
    if (!ct_kind_from_fields(kind, field, value)) return ct__lines_bad(in, "the quaternion is zero");
    return CT_OK;
}

ct_status ct__word_id(const ct__lines *in, int w, char prefix, char name[CT__ID_NAME_MAX])
{
    int64_t id;
    CT_TRY(ct__word_integer(in, w, "an id", 0, CT__ID_MAX, &id));
    snprintf(name, CT__ID_NAME_MAX, "%c%lld", prefix, (long long)id);
    return CT_OK;
}

void ct__turn(int n, const double A[36], double B[36])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) B[i * n + j] = n == 6 ? A[(i + 3) % 6 * 6 + (j + 3) % 6] : A[i * n + j];
}

ct_status ct__word_triangle(const ct__lines *in, int w, int n, const char *what, double A[36])
{
    double B[36];
    char   entry[64];
    snprintf(entry, sizeof entry, "%s entries", what);
    CT_TRY(ct__word_need(in, w, CT__TRIANGLE(n), entry));
    for (int i = 0; i < n; i++) {
        for (int j = i; j < n; j++) {
            snprintf(entry, sizeof entry, "%s entry (%d, %d)", what, i + 1, j + 1);
            CT_TRY(ct__word_number(in, w++, entry, &B[i * n + j]));
            B[j * n + i] = B[i * n + j];
        }
    }
    ct__turn(n, B, A);
    return CT_OK;
}

/* ---- short decimals ---- */

int ct__shortest(int n, double value[], int digits, int (*same)(const double *value, const void *context),
                 const void *context)
{
    double try[36];
    for (; digits <= 17; digits++) {
        for (int i = 0; i < n; i++) try[i] = ct__round_to_digits(value[i], digits);
        if (!same(try, context)) continue;
        memcpy(value, try, (size_t)n * sizeof *value);
        return 1;
    }
    return 0;
}

static int same_angle(const double *theta, const void *context)
{
    const ct_so2 a = ct_so2_exp(*theta);
    return !memcmp(&a, context, sizeof a);
}

int ct__angle(double c, double s, double *theta)
{
    const ct_so2 a = {c, s};
    const double nearest = ct_so2_log(a);
    double       low = nearest, high = nearest;
    *theta = nearest;
    if (ct__shortest(1, theta, 15, same_angle, &a)) return 1; /* atan2 is accurate to 15 digits */
    for (int ulp = 0; ulp < 4; ulp++) {
        low = nextafter(low, -INFINITY);
        high = nextafter(high, INFINITY);
        *theta = low;
        if (same_angle(theta, &a)) return 1;
        *theta = high;
        if (same_angle(theta, &a)) return 1;
    }
    *theta = nearest;
    return 0;
}

int ct__is_identity(ct_kind kind, const double *value)
{
    double identity[CT_SIZE_MAX];
    ct_kind_identity(kind, identity);
    return !memcmp(value, identity, (size_t)ct_kind_size(kind) * sizeof *value);
}
