/* test_kind.c: manifolds as values, SO(2), R^n, rotation matrices, unit lengths. */
#include <covtune/lie.h>
#include <float.h>

#include "ct_test.h"

#define PI 3.14159265358979323846

static void draw(ct_rng *rng, ct_kind kind, double scale, double *x)
{
    double d[CT_DIM_MAX];
    for (int i = 0; i < ct_kind_dim(kind); i++) d[i] = scale * ct_rng_normal(rng);
    ct_kind_identity(kind, x);
    ct_kind_retract(kind, x, d, x);
}

/* |length - 1| of the rotation stored in x; 0 for R^n. */
static double length_error(ct_kind kind, const double *x)
{
    const int first = kind == CT_SE2 ? 2 : kind == CT_SE3 ? 3 : 0;
    double    sum = 0;
    if (kind <= CT_R3) return 0;
    for (int i = first; i < ct_kind_size(kind); i++) sum += x[i] * x[i];
    return fabs(sqrt(sum) - 1);
}

static void test_a_kind_is_found_by_its_name(void)
{
    for (int k = 0; k < CT_KIND_COUNT; k++) {
        CHECK(ct_kind_find(ct_kind_name((ct_kind)k)) == k);
        CHECK(ct_kind_dim((ct_kind)k) <= CT_DIM_MAX);
        CHECK(ct_kind_size((ct_kind)k) <= CT_SIZE_MAX);
        for (int i = 0; i < ct_kind_dim((ct_kind)k); i++) CHECK(ct_kind_coordinate((ct_kind)k, i) != NULL);
    }
    CHECK(ct_kind_find("SE4") == -1);
    CHECK(ct_kind_find("") == -1);
}

/* Every group's identity is the kind's, is written as the same numbers, and moves nothing. */
static void test_identity_moves_nothing(void)
{
    const ct_so2 so2 = ct_so2_identity();
    const ct_so3 so3 = ct_so3_identity();
    const ct_se2 se2 = ct_se2_identity();
    const ct_se3 se3 = ct_se3_identity();
    const void  *identity[CT_KIND_COUNT] = {[CT_SO2] = &so2, [CT_SO3] = &so3, [CT_SE2] = &se2, [CT_SE3] = &se3};
    ct_rng       rng = ct_rng_seed(17);
    for (int k = 0; k < CT_KIND_COUNT; k++) {
        const ct_kind kind = (ct_kind)k;
        double        e[CT_SIZE_MAX], field[CT_SIZE_MAX], x[CT_SIZE_MAX], y[CT_SIZE_MAX], d[CT_DIM_MAX] = {0};
        ct_kind_identity(kind, e);
        if (identity[k]) CHECK(!memcmp(identity[k], e, (size_t)ct_kind_size(kind) * sizeof *e));
        ct_kind_to_fields(kind, e, field);
        const int w = kind == CT_SO3 ? 3 : kind == CT_SE3 ? 6 : -1; /* a quaternion's scalar part is 1, all else 0 */
        for (int i = 0; i < ct_kind_fields(kind); i++) CHECK(field[i] == (i == w));
        draw(&rng, kind, 3, x);
        ct_kind_retract(kind, x, d, y);
        ct_kind_local(kind, x, y, d);
        for (int i = 0; i < ct_kind_dim(kind); i++) CHECK_NEAR(d[i], 0, 1e-15);
    }
}

static void test_coordinates_follow_tangent_order(void)
{
    static const char *const name[] = {"rx", "ry", "rz", "x", "y", "z"}, *const unit[] = {"rad", "rad", "rad",
                                                                                          "m",   "m",   "m"};
    for (int i = 0; i < 6; i++) {
        CHECK(!strcmp(ct_kind_coordinate(CT_SE3, i), name[i]));
        CHECK(!strcmp(ct_kind_unit(CT_SE3, i), unit[i]));
    }
    CHECK(!strcmp(ct_kind_coordinate(CT_SE2, 2), "yaw"));
    CHECK(!strcmp(ct_kind_unit(CT_SE2, 2), "rad"));
    CHECK(!strcmp(ct_kind_unit(CT_SE2, 0), "m"));
    CHECK(!strcmp(ct_kind_coordinate(CT_SO2, 0), "yaw"));
    CHECK(!strcmp(ct_kind_unit(CT_R1, 0), "m"));
}

static void test_a_coordinate_is_found_by_its_name(void)
{
    for (int k = 0; k < CT_KIND_COUNT; k++)
        for (int i = 0; i < ct_kind_dim((ct_kind)k); i++)
            CHECK(ct_kind_find_coordinate((ct_kind)k, ct_kind_coordinate((ct_kind)k, i)) == i);
    CHECK(ct_kind_find_coordinate(CT_SE2, "theta") == 2 && ct_kind_find_coordinate(CT_SO2, "theta") == 0);
    CHECK(ct_kind_find_coordinate(CT_SE3, "theta") == -1 && ct_kind_find_coordinate(CT_SE2, "z") == -1);
    CHECK(ct_kind_find_coordinate(CT_SE2, "") == -1 && ct_kind_find_coordinate(CT_SE2, NULL) == -1);
    CHECK(ct_kind_find_coordinate(CT_KIND_COUNT, "x") == -1);
}

static void test_local_undoes_retract(void)
{
    ct_rng rng = ct_rng_seed(1);
    for (int k = 0; k < CT_KIND_COUNT; k++)
        for (int draw_number = 0; draw_number < 200; draw_number++) {
            const ct_kind kind = (ct_kind)k;
            double        x[CT_SIZE_MAX], y[CT_SIZE_MAX], d[CT_DIM_MAX], e[CT_DIM_MAX];
            draw(&rng, kind, 1, x);
            for (int i = 0; i < ct_kind_dim(kind); i++) d[i] = ct_rng_uniform(&rng) - 0.5;
            ct_kind_retract(kind, x, d, y);
            ct_kind_local(kind, x, y, e);
            for (int i = 0; i < ct_kind_dim(kind); i++) CHECK_NEAR(e[i], d[i], 1e-14);
            ct_kind_retract(kind, x, d, x); /* in place */
            CHECK(!memcmp(x, y, (size_t)ct_kind_size(kind) * sizeof *x));
        }
}

static void test_a_million_retractions_stay_unit(void)
{
    ct_rng rng = ct_rng_seed(2);
    for (int k = 0; k < CT_KIND_COUNT; k++) {
        const ct_kind kind = (ct_kind)k;
        double        x[CT_SIZE_MAX], d[CT_DIM_MAX];
        ct_kind_identity(kind, x);
        for (int i = 0; i < 1000000; i++) {
            for (int j = 0; j < ct_kind_dim(kind); j++) d[j] = ct_rng_uniform(&rng) - 0.5;
            ct_kind_retract(kind, x, d, x);
        }
        CHECK_NEAR(length_error(kind, x), 0, 4 * DBL_EPSILON);
    }
}

static void test_fields_come_back_to_the_same_bits(void)
{
    ct_rng rng = ct_rng_seed(3);
    for (int k = 0; k < CT_KIND_COUNT; k++)
        for (int draw_number = 0; draw_number < 1000; draw_number++) {
            const ct_kind kind = (ct_kind)k;
            double        x[CT_SIZE_MAX], y[CT_SIZE_MAX], f[CT_SIZE_MAX], d[CT_DIM_MAX];
            draw(&rng, kind, 2, x);
            ct_kind_to_fields(kind, x, f);
            CHECK(ct_kind_from_fields(kind, f, y));
            if (kind == CT_SO2 || kind == CT_SE2) { /* an angle has no bits for the last ones of (c, s) */
                ct_kind_local(kind, x, y, d);
                for (int i = 0; i < ct_kind_dim(kind); i++) CHECK_NEAR(d[i], 0, 1e-15);
            } else {
                CHECK(!memcmp(x, y, (size_t)ct_kind_size(kind) * sizeof *x));
            }
        }
}

static void test_rows_are_elements_one_after_the_other(void)
{
    enum { ROWS = 5 };
    ct_rng rng = ct_rng_seed(4);
    for (int k = 0; k < CT_KIND_COUNT; k++) {
        const ct_kind kind = (ct_kind)k;
        const int     size = ct_kind_size(kind), fields = ct_kind_fields(kind);
        double        x[ROWS * CT_SIZE_MAX], y[ROWS * CT_SIZE_MAX], one[CT_SIZE_MAX], f[ROWS * CT_SIZE_MAX];
        for (int i = 0; i < ROWS; i++) draw(&rng, kind, 2, x + i * size);
        ct_kind_to_rows(kind, ROWS, x, f);
        CHECK(ct_kind_from_rows(kind, ROWS, f, y) == ROWS);
        for (int i = 0; i < ROWS; i++) {
            CHECK(ct_kind_from_fields(kind, f + i * fields, one));
            CHECK(!memcmp(one, y + i * size, (size_t)size * sizeof *one));
        }
        f[3 * fields] = NAN;
        CHECK(ct_kind_from_rows(kind, ROWS, f, y) == 3);
        CHECK(ct_kind_from_rows(kind, 0, f, y) == 0);
    }
}

static void test_fields_are_made_unit_or_refused(void)
{
    double q[4] = {3e200, 0, 4e200, 0}, x[CT_SIZE_MAX];
    CHECK(ct_kind_from_fields(CT_SO3, q, x));
    CHECK_NEAR(x[0], 0.6, 1e-15);
    CHECK_NEAR(x[2], 0.8, 1e-15);
    const double tiny[7] = {1, 2, 3, 0, 0, 1e-300, 0}, zero[7] = {1, 2, 3}, nan7[7] = {NAN, 0, 0, 0, 0, 0, 1},
                 inf3[3] = {0, 0, INFINITY};
    CHECK(ct_kind_from_fields(CT_SE3, tiny, x));
    CHECK(x[5] == 1 && x[1] == 2);
    CHECK(!ct_kind_from_fields(CT_SE3, zero, x));
    CHECK(!ct_kind_from_fields(CT_SE3, nan7, x));
    CHECK(!ct_kind_from_fields(CT_SE2, inf3, x));
    CHECK(!ct_kind_from_fields(CT_R3, inf3, x));
    CHECK(ct_kind_from_fields(CT_SE2, (const double[3]){1, 2, 7 * PI}, x));
    CHECK_NEAR(x[2], -1, 1e-15);
}

static void test_so2_is_the_circle(void)
{
    ct_rng rng = ct_rng_seed(4);
    for (int i = 0; i < 1000; i++) {
        const double a = PI * (2 * ct_rng_uniform(&rng) - 1), b = PI * (2 * ct_rng_uniform(&rng) - 1);
        const ct_so2 A = ct_so2_exp(a), B = ct_so2_exp(b), AB = ct_so2_compose(A, B), D = ct_so2_between(A, B);
        CHECK_NEAR(ct_so2_log(A), a, 1e-15);
        CHECK_NEAR(AB.c, cos(a + b), 1e-15);
        CHECK_NEAR(AB.s, sin(a + b), 1e-15);
        CHECK_NEAR(D.c, cos(b - a), 1e-15);
        CHECK_NEAR(D.s, sin(b - a), 1e-15);
        CHECK_NEAR(ct_so2_log(ct_so2_compose(A, ct_so2_inverse(A))), 0, 1e-15);
        const double p[2] = {ct_rng_normal(&rng), ct_rng_normal(&rng)};
        double       q[2], Ja[2], Jp[4];
        ct_so2_act(A, p, q, Ja, Jp);
        CHECK_NEAR(q[0], cos(a) * p[0] - sin(a) * p[1], 1e-14);
        CHECK_NEAR(q[1], sin(a) * p[0] + cos(a) * p[1], 1e-14);
        CHECK_NEAR(Ja[0], -sin(a) * p[0] - cos(a) * p[1], 1e-14);
        CHECK_NEAR(Ja[1], cos(a) * p[0] - sin(a) * p[1], 1e-14);
        CHECK(Jp[0] == A.c && Jp[1] == -A.s && Jp[2] == A.s && Jp[3] == A.c);
    }
    CHECK(ct_so2_log(ct_so2_exp(0)) == 0);
    CHECK(ct_so2_log(ct_so2_exp(1e-300)) == 1e-300);
}

static void test_normalize_keeps_the_direction(void)
{
    ct_rng rng = ct_rng_seed(5);
    for (int i = 0; i < 100; i++) {
        const double scale = pow(10, 600 * ct_rng_uniform(&rng) - 300), w[3] = {ct_rng_normal(&rng), 0.1, -0.2},
                     t[3] = {1, 2, 3};
        const ct_so3 q = ct_so3_exp(w),
                     r = ct_so3_normalize((ct_so3){scale * q.x, scale * q.y, scale * q.z, scale * q.w});
        CHECK_NEAR(fabs(r.x - q.x) + fabs(r.y - q.y) + fabs(r.z - q.z) + fabs(r.w - q.w), 0, 2e-15);
        const ct_se3 p = ct_se3_normalize(ct_se3_make(t, (ct_so3){scale * q.x, scale * q.y, scale * q.z, scale * q.w}));
        CHECK(p.x == 1 && p.y == 2 && p.z == 3 && p.qx == r.x && p.qw == r.w && ct_se3_rotation(p).y == r.y);
        const ct_so2 c = ct_so2_exp(w[0]), d = ct_so2_normalize((ct_so2){scale * c.c, scale * c.s});
        CHECK_NEAR(fabs(c.c - d.c) + fabs(c.s - d.s), 0, 1e-15);
        const ct_se2 m = ct_se2_normalize((ct_se2){4, 5, scale * c.c, scale * c.s});
        CHECK(m.x == 4 && m.y == 5 && m.c == d.c && m.s == d.s);
    }
}

/* Half turns about each axis exercise all four branches; angles to pi - 1e-12 their neighbourhood. */
static void test_a_rotation_matrix_gives_its_quaternion_back(void)
{
    static const double angle[] = {0, 1e-9, 1e-3, 1, 2, 3, PI - 1e-6, PI - 1e-12, PI};
    ct_rng              rng = ct_rng_seed(6);
    for (int i = 0; i < 2000; i++) {
        double w[3] = {ct_rng_normal(&rng), ct_rng_normal(&rng), ct_rng_normal(&rng)}, R[9], S[9];
        if (i % 2) w[i % 3] *= 1e3;
        const double n = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
        for (int j = 0; j < 3; j++) w[j] *= angle[i % 9] / n;
        const ct_so3 q = ct_so3_exp(w);
        ct_so3_matrix(q, R);
        const ct_so3 p = ct_so3_from_matrix(R);
        ct_so3_matrix(p, S);
        CHECK(p.w >= 0);
        for (int j = 0; j < 9; j++) CHECK_NEAR(R[j], S[j], 4e-15);
        const double dot = q.x * p.x + q.y * p.y + q.z * p.z + q.w * p.w, s = dot < 0 ? -1 : 1;
        CHECK_NEAR(fabs(q.x - s * p.x) + fabs(q.y - s * p.y) + fabs(q.z - s * p.z) + fabs(q.w - s * p.w), 0, 4e-15);
    }
}

static void test_make_and_yaw_agree(void)
{
    const ct_se2 a = ct_se2_make(1, 2, 3);
    CHECK(a.x == 1 && a.y == 2);
    CHECK_NEAR(ct_se2_yaw(a), 3, 1e-15);
    CHECK_NEAR(ct_se2_yaw(ct_se2_make(0, 0, 4)), 4 - 2 * PI, 1e-15);
}

static void test_rn_is_addition(void)
{
    const double a[3] = {1, 2, 3}, b[3] = {10, 20, 40};
    double       c[3];
    ct_rn_compose(3, a, b, c);
    CHECK(c[0] == 11 && c[1] == 22 && c[2] == 43);
    ct_rn_between(3, a, b, c);
    CHECK(c[0] == 9 && c[1] == 18 && c[2] == 37);
    ct_rn_inverse(3, a, c);
    CHECK(c[0] == -1 && c[1] == -2 && c[2] == -3);
}

int main(void)
{
    RUN(test_a_kind_is_found_by_its_name);
    RUN(test_identity_moves_nothing);
    RUN(test_coordinates_follow_tangent_order);
    RUN(test_a_coordinate_is_found_by_its_name);
    RUN(test_local_undoes_retract);
    RUN(test_a_million_retractions_stay_unit);
    RUN(test_fields_come_back_to_the_same_bits);
    RUN(test_rows_are_elements_one_after_the_other);
    RUN(test_fields_are_made_unit_or_refused);
    RUN(test_so2_is_the_circle);
    RUN(test_normalize_keeps_the_direction);
    RUN(test_a_rotation_matrix_gives_its_quaternion_back);
    RUN(test_make_and_yaw_agree);
    RUN(test_rn_is_addition);
    return ct_test_end();
}
