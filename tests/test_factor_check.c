/* test_factor_check.c: the table of models, refused measurements, and models written by users: wrong
 * ones are named, numerical ones work. */
#include <covtune/push.h>
#include <covtune/graph.h>

#include "ct_test.h"

#define PI 3.14159265358979323846

static const double pose_a[4] = {1, 2, 0.6, 0.8}, pose_b[4] = {2, 4, -0.8, 0.6}, offset[4] = {0.5, 0.1, 0.8, 0.6};
static const double *const poses[2] = {pose_a, pose_b};

static void test_every_model_is_found_by_its_name(void)
{
    int count = 0;
    for (; ct_factor_at(count); count++) {
        const ct_factor_ops *ops = ct_factor_at(count);
        CHECK(ct_factor_find(ops->name) == ops);
        CHECK(ops->jacobian == (strncmp(ops->name, "gtsam", 5) ? CT_JACOBIAN_ANALYTIC : CT_JACOBIAN_APPROXIMATE));
        int size = 0;
        for (int f = 0; f < ops->fields; f++) size += ct_kind_size(ops->field[f]);
        CHECK(ct_factor_z_size(ops) == size && size > 0);
        const int begins = !strncmp(ops->name, "bias_start", 10); /* its process alone: nothing must be given */
        CHECK((ops->required >= 1 || ops->shaped || begins) && ops->required <= ops->fields);
        for (int k = 0; k < ops->rows; k++) CHECK(ops->coordinate[k] && ops->unit[k]);
    }
    CHECK(count == 67);
    CHECK(ct_factor_at(-1) == NULL);
    CHECK(ct_factor_find("between_se4") == NULL);
    CHECK(ct_factor_z_size(&ct_range_bearing_se3_point) == 14);
}

/* Rows of priors and betweens are named and measured as the kind's tangent coordinates are. */
static void test_priors_and_betweens_follow_their_kind(void)
{
    for (int k = 0; k < CT_KIND_COUNT; k++) {
        const ct_kind        kind = (ct_kind)k;
        const ct_factor_ops *both[] = {ct_factor_prior(kind), ct_factor_between(kind)};
        for (int i = 0; i < 2; i++) {
            CHECK(both[i]->arity == i + 1 && both[i]->kind[0] == kind && both[i]->kind[i] == kind &&
                  both[i]->field[0] == kind);
            CHECK(both[i]->rows == ct_kind_dim(kind) && both[i]->absolute == !i);
            for (int row = 0; row < both[i]->rows; row++) {
                CHECK(!strcmp(both[i]->coordinate[row], ct_kind_coordinate(kind, row)));
                CHECK(!strcmp(both[i]->unit[row], ct_kind_unit(kind, row)));
            }
        }
    }
}

static void test_jacobians_are_written_only_where_wanted(void)
{
    double    r[CT_ROWS_MAX], q[CT_ROWS_MAX], J[4][36], K[4][36];
    ct_shape *shape = NULL;
    ct_err    err = {0};
    CHECK_OK(ct_shape_ellipse(0.3, 0.2, &shape, &err), err);
    for (int m = 0; ct_factor_at(m); m++) {
        const ct_factor_ops *ops = ct_factor_at(m);
        const ct_shape      *context = ops->shaped ? shape : NULL;
        double               z[32] = {0}, x[4][CT_SIZE_MAX];
        const double        *px[4] = {x[0], x[1], x[2], x[3]};
        for (int f = 0, i = 0; f < ops->fields; i += ct_kind_size(ops->field[f++]))
            ct_kind_identity(ops->field[f], z + i);
        for (int i = 0; i < ct_factor_z_size(ops); i++) z[i] += z[i] == 0 ? 0.25 : 0;
        for (int v = 0; v < ops->arity; v++) {
            ct_kind_identity(ops->kind[v], x[v]);
            x[v][0] += v + 0.5;
        }
        ct_factor_eval(ops, z, context, px, r, (double *[]){J[0], J[1], J[2], J[3]});
        for (int v = 0; v < ops->arity; v++) { /* variable v alone */
            double *only[4] = {v == 0 ? K[0] : NULL, v == 1 ? K[1] : NULL, v == 2 ? K[2] : NULL, v == 3 ? K[3] : NULL};
            ct_factor_eval(ops, z, context, px, q, only);
            CHECK(!memcmp(J[v], K[v], (size_t)(ops->rows * ct_kind_dim(ops->kind[v])) * sizeof **J));
            CHECK(!memcmp(r, q, (size_t)ops->rows * sizeof *r));
        }
        ct_factor_eval(ops, z, context, px, q, NULL);
        CHECK(!memcmp(r, q, (size_t)ops->rows * sizeof *r));
    }
    ct_shape_free(shape);
}

static void test_measurements_that_cannot_be_are_refused_with_a_reason(void)
{
    static const struct {
        const char *name, *reason;
        double      bad[9];
    } cases[] = {
        {"range_se2_r2", "range must not be negative", {-0.1}},
        {"range_se2_point", "range must not be negative", {-0.1}},
        {"range_se3_r3", "range must not be negative", {-0.1}},
        {"range_se3_point", "range must not be negative", {NAN}},
        {"range_bearing_se2_r2", "range must not be negative", {-1, 1, 0}},
        {"range_bearing_se3_r3", "range must not be negative", {-1, 1, 0, 0}},
        {"range_bearing_se3_r3", "direction must not be zero", {1, 0, 0, 0}},
        {"range_bearing_se3_point", "direction must not be zero", {1, 0, 0, 0, 5}},
        {"range_se2_se2", "range must not be negative", {-0.1}},
        {"range_bearing_se2_se2", "range must not be negative", {-1, 1, 0}},
        {"range_bearing_se3_se3", "direction must not be zero", {1, 0, 0, 0}},
        {"bearing_se3_se3", "direction must not be zero", {0, 0, 0}},
        {"pixel_se3_r3", "focal lengths must be positive", {10, 20, 0, 1}},
        {"pixel_se3_point", "focal lengths must be positive", {10, 20, 1, -1}},
        {"stereo_se3_r3", "focal lengths must be positive", {10, 20, 5, 20, 0, 1, 0, 0, 1}},
        {"stereo_se3_point", "baseline must be positive", {10, 20, 5, 20, 1, 1, 0, 0, 0}},
        {"bearing_se3_r3", "direction must not be zero", {0, 0, 0}},
        {"bearing_se3_point", "direction must not be zero", {0, 0, 0, 5}},
        {"velocity_se2", "dt must be positive", {1, 1, 1, 0}},
        {"velocity_se3", "dt must be positive", {1, 1, 1, 1, 1, 1, -0.1}},
        {"push_se2", "c2 must be positive", {0}},
        {"push_se2", "c2 must be positive", {NAN}},
        {"contact_se2", "radius must not be negative", {-1e-9}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const ct_factor_ops *ops = ct_factor_find(cases[i].name);
        const char          *why = ops->refuse(cases[i].bad);
        CHECK(why && !strcmp(why, cases[i].reason));
    }
    const double zero[7] = {0}, ahead[4] = {0, 0, 1, 0}, good[7] = {1, 0, 0, 0, 0, 0, 0.1};
    CHECK(!ct_range_se2_r2.refuse(zero));
    CHECK(!ct_bearing_se3_r3.refuse(ahead + 1));
    CHECK(!ct_range_bearing_se3_r3.refuse(ahead));
    CHECK(!ct_velocity_se3.refuse(good));
    CHECK(!ct_push_se2.refuse(good) && !ct_contact_se2.refuse(zero));
}

/* ---- User models ------------------------------------------------------------------------------------- */

static void wrong_entry(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    ct_between_se2.eval(z, context, x, r, J);
    if (J && J[1]) J[1][2 * 3 + 1] = 1;
}

static void forgotten_entry(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    double  K[9];
    double *rest[2] = {K, J ? J[1] : NULL};
    ct_between_se2.eval(z, context, x, r, J ? rest : NULL);
    for (int i = 0; J && J[0] && i < 8; i++) J[0][i] = K[i];
}

static void two_residuals(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    ct_between_se2.eval(z, context, x, r, J);
    if (J) r[1] += 1;
}

static void no_number(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    ct_between_se2.eval(z, context, x, r, J);
    r[2] = NAN;
}

static ct_factor_ops like_between(const char *name, void (*eval)(const double *, const void *, const double *const[],
                                                                 double *, double *const[]))
{
    ct_factor_ops ops = ct_between_se2;
    ops.name = name;
    ops.eval = eval;
    return ops;
}

static void test_a_wrong_derivative_is_named_by_model_row_and_coordinate(void)
{
    ct_err        err = {0};
    ct_factor_ops ops = like_between("mine", wrong_entry);
    CHECK_REFUSED(ct_factor_check(&ops, offset, NULL, poses, 1e-6, &err), err,
                  "mine: d r[yaw] / d x1[y] is 1, differences give 0");
    ops = like_between("mine", forgotten_entry);
    CHECK_REFUSED(ct_factor_check(&ops, offset, NULL, poses, 1e-6, &err), err,
                  "mine: d r[yaw] / d x0[yaw] is nan, differences give -1");
    CHECK_OK(ct_factor_check(&ct_between_se2, offset, NULL, poses, 1e-9, &err), err);
}

static void test_a_residual_that_is_not_one_number_is_named(void)
{
    ct_err        err = {0};
    ct_factor_ops ops = like_between("mine", two_residuals);
    CHECK_REFUSED(ct_factor_check(&ops, offset, NULL, poses, 1e-6, &err), err, "mine: r[y] is");
    ops = like_between("mine", no_number);
    CHECK_REFUSED(ct_factor_check(&ops, offset, NULL, poses, 1e-6, &err), err, "mine: r[yaw] is nan");
}

static void test_an_inconsistent_description_is_refused(void)
{
    ct_err        err = {0};
    ct_factor_ops ops = ct_between_se2;
#define REFUSES(change, part)                                                                      \
    ops = ct_between_se2;                                                                          \
    change;                                                                                        \
    CHECK_REFUSED(ct_factor_check(&ops, offset, NULL, poses, 1e-6, &err), err, part)
    REFUSES(ops.name = NULL, "no name");
    REFUSES(ops.rows = 0, "between_se2: rows must be");
    REFUSES(ops.rows = CT_ROWS_MAX + 1, "rows must be 1 to 6");
    REFUSES(ops.arity = CT_ARITY_MAX + 1, "arity must be 1 to 4");
    REFUSES(ops.fields = CT_FIELDS_MAX + 1, "fields must be 0 to 8");
    REFUSES(ops.required = 2, "required");
    REFUSES(ops.eval = NULL, "eval is missing");
    REFUSES(ops.kind[1] = CT_KIND_COUNT, "kind of a variable");
    REFUSES(ops.field[0] = CT_KIND_COUNT, "kind of a field");
    REFUSES(ops.unit[2] = NULL, "every row needs");
    REFUSES(ops.jacobian = (ct_jacobian)3, "jacobian");
#undef REFUSES
    const double bad[4] = {0, 0, 0, -1};
    CHECK_REFUSED(ct_factor_check(&ct_velocity_se2, bad, NULL, poses, 1e-6, &err), err,
                  "velocity_se2: dt must be positive");
}

static void half_wrong(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    ct_gtsam_between_se2.eval(z, context, x, r, J);
    if (J && J[1]) J[1][0] = 0.5;
}

/* In full where there is no residual, not at all where it is large. */
static void test_an_approximate_derivative_may_be_off_by_the_residual(void)
{
    const double  none[4] = {2.2, 0.4, 0, 1}, little[4] = {2.2, 0.401, 0, 1}; /* a^-1 b, and a millimetre beside it */
    ct_err        err = {0};
    ct_factor_ops ops = ct_gtsam_between_se2;
    CHECK_OK(ct_factor_check(&ops, none, NULL, poses, 1e-9, &err), err);
    CHECK_OK(ct_factor_check(&ops, little, NULL, poses, 1e-9, &err), err);
    ops.eval = half_wrong;
    CHECK_REFUSED(ct_factor_check(&ops, none, NULL, poses, 1e-6, &err), err,
                  "gtsam_between_se2: d r[x] / d x1[x] is 0.5, differences give 1");
    CHECK_REFUSED(ct_factor_check(&ops, little, NULL, poses, 1e-6, &err), err, "d r[x] / d x1[x] is 0.5");
    CHECK_OK(ct_factor_check(&ops, offset, NULL, poses, 1e-6, &err), err); /* r is 1.6 m long */
    ops.jacobian = CT_JACOBIAN_ANALYTIC;
    CHECK_REFUSED(ct_factor_check(&ops, offset, NULL, poses, 1e-6, &err), err, "gtsam_between_se2: d r[");
}

/* A model with no derivatives of its own, and a context: the range in units of *context. */
static void scaled_range(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    CHECK(J == NULL); /* as promised to numerical models */
    const double unit = *(const double *)context;
    ct_range_se2_r2.eval(z, NULL, x, r, NULL);
    r[0] /= unit;
}

static void test_a_numerical_model_gets_its_derivatives(void)
{
    static const ct_factor_ops ops = {
        .name = "scaled_range",
        .rows = 1,
        .arity = 2,
        .kind = {CT_SE2, CT_R2},
        .fields = 3,
        .required = 1,
        .field = {CT_R1, CT_R2, CT_R1},
        .jacobian = CT_JACOBIAN_NUMERIC,
        .eval = scaled_range,
        .coordinate = {"range"},
        .unit = {"ft"},
    };
    const double foot = 0.3048, z[4] = {2, 0.3, -0.1, 0.7}, far[4] = {4e5, 5e6, 0.6, 0.8};
    const double near_point[2] = {3, -1}, far_point[2] = {4e5 + 30, 5e6 + 40};
    ct_err       err = {0};
    for (int i = 0; i < 2; i++) { /* of order one, and map coordinates of 5e6 m, which have 1e-9 m of rounding */
        const double *const x[2] = {i ? far : pose_a, i ? far_point : near_point};
        double              r, q, J[2][3], K[2][3];
        ct_factor_eval(&ops, z, &foot, x, &r, (double *[]){J[0], J[1]});
        ct_factor_eval(&ct_range_se2_r2, z, NULL, x, &q, (double *[]){K[0], K[1]});
        CHECK(r == q / foot);
        for (int k = 0; k < 3; k++) CHECK_NEAR(J[0][k], K[0][k] / foot, i ? 1e-5 : 1e-9);
        for (int k = 0; k < 2; k++) CHECK_NEAR(J[1][k], K[1][k] / foot, i ? 1e-5 : 1e-9);
        double only[3];
        ct_factor_eval(&ops, z, &foot, x, &r, (double *[]){only, NULL});
        CHECK(!memcmp(only, J[0], sizeof only));
        CHECK_OK(ct_factor_check(&ops, z, &foot, x, 1e-6, &err), err);
    }
}

static void wrapped_angle(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    (void)J;
    ct_between_so2.eval(z, context, x, r, NULL);
}

static void test_numerical_derivatives_survive_the_wrap_at_pi(void)
{
    ct_factor_ops ops = ct_between_so2;
    ops.jacobian = CT_JACOBIAN_NUMERIC;
    ops.eval = wrapped_angle;
    for (int i = -2; i <= 2; i++) {
        const ct_so2 turn = ct_so2_exp(PI + 1e-6 * i);
        const double z[2] = {1, 0}, a[2] = {1, 0}, b[2] = {turn.c, turn.s};
        double       r, Ja, Jb;
        ct_factor_eval(&ops, z, NULL, (const double *const[]){a, b}, &r, (double *[]){&Ja, &Jb});
        CHECK_NEAR(Ja, -1, 1e-9);
        CHECK_NEAR(Jb, 1, 1e-9);
    }
}

int main(void)
{
    RUN(test_every_model_is_found_by_its_name);
    RUN(test_priors_and_betweens_follow_their_kind);
    RUN(test_jacobians_are_written_only_where_wanted);
    RUN(test_measurements_that_cannot_be_are_refused_with_a_reason);
    RUN(test_a_wrong_derivative_is_named_by_model_row_and_coordinate);
    RUN(test_a_residual_that_is_not_one_number_is_named);
    RUN(test_an_inconsistent_description_is_refused);
    RUN(test_an_approximate_derivative_may_be_off_by_the_residual);
    RUN(test_a_numerical_model_gets_its_derivatives);
    RUN(test_numerical_derivatives_survive_the_wrap_at_pi);
    return ct_test_end();
}
