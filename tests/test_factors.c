/* test_factors.c: every built-in measurement model, and user models through the same door.
 *
 * Laws run over the whole list, so a model added there is tested. Measurements of the truth are made
 * with the public functions of lie.h, not with the kernels under test. */
#include <covtune/graph.h>

#include "ct_test.h"

#define PI 3.14159265358979323846
enum { DRAWS = 200, Z_MAX = 32 };

#define H  (PI / 2)
#define Q  0.70710678118654752440 /* half a right angle's sine and cosine */
#define ID 0, 0, 0, 0, 0, 0, 1
#define SIN60      0.86602540378443864676
#define ATAN_TENTH 0.099668652491162027378
#define LOG_2      0.69314718055994530942

/* A factor with values of its own. */
typedef struct {
    const ct_factor_ops *ops;
    const ct_shape      *context; /* if it needs one */
    double               z[Z_MAX], value[CT_ARITY_MAX][CT_SIZE_MAX];
    const double        *x[CT_ARITY_MAX];
} sample;

/* Round, with corners, and with a corner that is no right angle; none goes in. */
static void make_shapes(ct_shape *shape[3])
{
    ct_err err = {0};
    CHECK_OK(ct_shape_ellipse(0.7, 1.2, &shape[0], &err), err);
    CHECK_OK(ct_shape_rectangle(1, 0.6, &shape[1], &err), err);
    CHECK_OK(ct_shape_polygon(3, (const double[]){-1, -0.8, 1.1, -0.3, 0.2, 0.9}, &shape[2], &err), err);
}

static void for_all(uint64_t seed, void (*law)(sample *s, ct_rng *rng))
{
    ct_rng    rng = ct_rng_seed(seed);
    ct_shape *shape[3] = {0};
    make_shapes(shape);
    for (int m = 0; ct_factor_at(m); m++)
        for (int i = 0; i < DRAWS; i++) {
            sample s = {.ops = ct_factor_at(m), .context = ct_factor_at(m)->shaped ? shape[i % 3] : NULL};
            for (int v = 0; v < CT_ARITY_MAX; v++) s.x[v] = s.value[v];
            law(&s, &rng);
        }
    for (int i = 0; i < 3; i++) ct_shape_free(shape[i]);
}

static void draw_element(ct_rng *rng, ct_kind kind, double *x)
{
    double d[CT_DIM_MAX];
    for (int i = 0; i < ct_kind_dim(kind); i++) d[i] = ct_rng_normal(rng);
    ct_kind_identity(kind, x);
    ct_kind_retract(kind, x, d, x);
}

/* Any measurement that is not refused, any values. */
static void draw(sample *s, ct_rng *rng)
{
    do {
        for (int f = 0, at = 0; f < s->ops->fields; at += ct_kind_size(s->ops->field[f++]))
            draw_element(rng, s->ops->field[f], s->z + at);
    } while (s->ops->refuse && s->ops->refuse(s->z));
    for (int v = 0; v < s->ops->arity; v++) draw_element(rng, s->ops->kind[v], s->value[v]);
}

static int is(const sample *s, const char *prefix) { return !strncmp(s->ops->name, prefix, strlen(prefix)); }
static int in_space(const sample *s) { return s->ops->kind[0] == CT_SE3; }
static int cameras(const sample *s) { return is(s, "pixel") ? 1 : is(s, "stereo") ? 2 : 0; }
static int sights(const sample *s) { return is(s, "range") || is(s, "bearing") || is(s, "point") || cameras(s); }
static int to_a_pose(const sample *s) { return sights(s) && s->ops->arity == 2 && s->ops->kind[0] == s->ops->kind[1]; }

/* Steps and starts of biases, which are in no place of the world. */
static int is_step(const sample *s) { return is(s, "random_walk") || is(s, "gauss_markov") || is(s, "oscillation"); }
static int is_process(const sample *s) { return is_step(s) || is(s, "bias_start"); }

static ct_se2 se2(const double *x) { return (ct_se2){x[0], x[1], x[2], x[3]}; }
static ct_se3 se3(const double *x) { return (ct_se3){x[0], x[1], x[2], x[3], x[4], x[5], x[6]}; }

/* ---- Sights: where in z the parts lie, and the point in the sensor's frame ------------------------ */

typedef struct {
    int     n, direction; /* of the plane or space; offset of the direction in z, or -1 */
    double *point;        /* of a target on a second body: that body                    */
    double *sensor;       /* a position for range, else a pose                          */
    double *target;       /* in the frame of the second body, or NULL                   */
} sight;

static sight sight_of(sample *s)
{
    const int n = in_space(s) ? 3 : 2, direction = in_space(s) ? 3 : 2, both = is(s, "range_bearing");
    const int measured = both                ? 1 + direction
                         : is(s, "range")    ? 1
                         : is(s, "bearing")  ? direction
                         : cameras(s)        ? 3 * cameras(s) + 3
                                             : n;
    const int known = s->ops->arity == 1, mounted = is(s, "range_se") ? n : n == 2 ? 4 : 7;
    double   *sensor = s->z + measured + (known ? n : 0);
    return (sight){n,
                   both               ? 1
                   : is(s, "bearing") ? 0
                                      : -1,
                   known ? s->z + measured : s->value[1], sensor, to_a_pose(s) ? sensor + mounted : NULL};
}

/* Where the point is in the world. */
static void get_point(sample *s, double *p)
{
    const sight at = sight_of(s);
    if (!at.target) memcpy(p, at.point, (size_t)at.n * sizeof *p);
    else if (at.n == 2) ct_se2_act(se2(s->value[1]), at.target, p, NULL, NULL);
    else ct_se3_act(se3(s->value[1]), at.target, p, NULL, NULL);
}

static void set_point(sample *s, const double *p)
{
    const sight at = sight_of(s);
    double      now[3];
    get_point(s, now);
    for (int i = 0; i < at.n; i++) at.point[i] = at.target ? at.point[i] + p[i] - now[i] : p[i];
}

static ct_se2 sensor_se2(sample *s)
{
    const sight  at = sight_of(s);
    const ct_se2 offset = is(s, "range_se") ? ct_se2_make(at.sensor[0], at.sensor[1], 0) : se2(at.sensor);
    return ct_se2_compose(se2(s->value[0]), offset, NULL, NULL);
}

static ct_se3 sensor_se3(sample *s)
{
    const sight  at = sight_of(s);
    const ct_se3 offset = is(s, "range_se") ? ct_se3_make(at.sensor, ct_so3_identity()) : se3(at.sensor);
    return ct_se3_compose(se3(s->value[0]), offset, NULL, NULL);
}

static void to_sensor(sample *s, const double *p, double *m)
{
    if (in_space(s)) ct_se3_act(ct_se3_inverse(sensor_se3(s), NULL), p, m, NULL, NULL);
    else ct_se2_act(ct_se2_inverse(sensor_se2(s), NULL), p, m, NULL, NULL);
}

static void from_sensor(sample *s, const double *m, double *p)
{
    if (in_space(s)) ct_se3_act(sensor_se3(s), m, p, NULL, NULL);
    else ct_se2_act(sensor_se2(s), m, p, NULL, NULL);
}

static double norm(int n, const double *a) { return n == 2 ? hypot(a[0], a[1]) : hypot(hypot(a[0], a[1]), a[2]); }

/* The image of m, of unit focal length; beyond ten focal lengths it goes on with the angle. */
static void image(const double *m, double *P)
{
    const double f = hypot(m[0], m[1]), a = atan2(f, m[2]),
                 radius = m[2] > 0 && f <= 10 * m[2] ? f / m[2] : 10 + 101 * (a - atan(10));
    for (int i = 0; i < 2; i++) P[i] = f > 0 ? radius * m[i] / f : 0;
}

static void measure_image(sample *s, const double *m)
{
    const int     n = cameras(s);
    const double *lens = s->z + 2 * n;
    for (int k = 0; k < n; k++) {
        double P[2];
        image((const double[]){m[0] - k * s->z[8], m[1], m[2]}, P);
        for (int i = 0; i < 2; i++) s->z[2 * k + i] = lens[i] * P[i] + lens[2 + i];
    }
}

/* Yaw of the sensor's x axis. */
static void measure_heading(sample *s)
{
    double v[3] = {s->z[2], s->z[3], 0};
    if (in_space(s)) {
        ct_so3_act((ct_so3){s->z[2], s->z[3], s->z[4], s->z[5]}, (const double[]){1, 0, 0}, v, NULL, NULL);
        ct_so3_act(ct_se3_rotation(se3(s->value[0])), v, v, NULL, NULL);
    } else {
        ct_se2_act((ct_se2){0, 0, s->value[0][2], s->value[0][3]}, v, v, NULL, NULL);
    }
    for (int i = 0; i < 2; i++) s->z[i] = v[i] / hypot(v[0], v[1]);
}

static void measure_sight(sample *s)
{
    const sight at = sight_of(s);
    double      m[3], p[3];
    get_point(s, p);
    to_sensor(s, p, m);
    if (cameras(s)) measure_image(s, m);
    if (is(s, "range")) s->z[0] = norm(at.n, m);
    if (is(s, "range_se2_r2") || is(s, "range_se2_point")) /* above the sensor */
        s->z[0] = hypot(norm(2, m), s->z[s->ops->arity == 2 ? 3 : 5]);
    if (is(s, "point")) memcpy(s->z, m, (size_t)at.n * sizeof *m);
    for (int i = 0; at.direction >= 0 && i < at.n; i++) s->z[at.direction + i] = m[i] / (at.n == 2 ? norm(2, m) : 0.3);
}

/* ---- Pushing: what the models say is so, by the public functions of lie.h --------------------------- */

static ct_se2 relative(const sample *s, int a, int b)
{
    return ct_se2_between(se2(s->value[a]), se2(s->value[b]), NULL, NULL);
}

/* The finger's turn, or motion, on the object. */
static void measure_touch(sample *s)
{
    const ct_se2 moved = ct_se2_between(relative(s, 0, 1), relative(s, 2, 3), NULL, NULL);
    if (is(s, "tactile_se2")) memcpy(s->z, &moved, sizeof moved);
    else s->z[0] = moved.c, s->z[1] = moved.s;
}

/* The finger where it must have been, before and after, to push the object from o to p: P x v = c2 w, and the
 * contact moves with it. */
static void push_truly(sample *s)
{
    const ct_se2 o = relative(s, 2, 0); /* in the frame of p */
    const double v[2] = {-o.x, -o.y}, w = -atan2(o.s, o.c), v2 = v[0] * v[0] + v[1] * v[1],
                 k = v2 > 0 ? s->z[0] * w / v2 : 0;
    const double P[2] = {k * v[1], -k * v[0]}, before[2] = {P[0] - v[0] + w * P[1], P[1] - v[1] - w * P[0]};
    ct_se2_act(se2(s->value[2]), P, s->value[3], NULL, NULL);
    ct_se2_act(se2(s->value[2]), before, s->value[1], NULL, NULL);
}

/* The finger at its radius from the outline, on the way there or back. */
static void touch_truly(sample *s)
{
    const ct_se2 e = relative(s, 0, 1);
    double       q[2] = {e.x, e.y}, g[2];
    const double d = ct_shape_distance(s->context, q, g, NULL);
    for (int i = 0; i < 2; i++) q[i] -= (d - s->z[0]) * g[i];
    ct_se2_act(se2(s->value[0]), q, s->value[1], NULL, NULL);
}

/* What a perfect sensor would have said; or, where all is said by the variables, those that fit. */
static void measure_truth(sample *s)
{
    double        d[CT_DIM_MAX], zero[CT_SIZE_MAX];
    const ct_kind kind = s->ops->kind[0];
    if (sights(s)) {
        measure_sight(s);
    } else if (is(s, "tactile")) {
        measure_touch(s);
    } else if (is(s, "push")) {
        push_truly(s);
    } else if (is(s, "contact")) {
        touch_truly(s);
    } else if (is(s, "prior") || is(s, "gtsam_prior")) {
        memcpy(s->z, s->value[0], sizeof s->value[0]);
    } else if (is(s, "between") || is(s, "gtsam_between")) {
        ct_kind_local(kind, s->value[0], s->value[1], d);
        ct_kind_identity(kind, zero);
        ct_kind_retract(kind, zero, d, s->z);
    } else if (is(s, "heading")) {
        measure_heading(s);
    } else if (is(s, "height")) {
        double p[3];
        ct_se3_act(se3(s->value[0]), s->z + 1, p, NULL, NULL);
        s->z[0] = p[2];
    } else if (is(s, "position")) {
        if (in_space(s)) ct_se3_act(se3(s->value[0]), s->z + 3, s->z, NULL, NULL);
        else ct_se2_act(se2(s->value[0]), s->z + 2, s->z, NULL, NULL);
    } else if (is(s, "bias_start")) {
        memcpy(s->z, s->value[0], sizeof s->value[0]);
    } else if (is(s, "oscillation")) {
        const double f = exp(-s->z[0] / s->z[1]), a = 2 * PI * s->z[0] / s->z[2];
        for (int i = 0; i < s->ops->rows; i++)
            s->value[2][i] = f * (cos(a) * s->value[0][i] - sin(a) * s->value[1][i]);
    } else if (is_step(s)) { /* what follows without noise */
        const double f = is(s, "gauss_markov") ? exp(-s->z[0] / s->z[1]) : 1;
        for (int i = 0; i < s->ops->rows; i++) s->value[1][i] = f * s->value[0][i];
    } else { /* velocity; z ends in dt */
        ct_kind_local(kind, s->value[0], s->value[1], d);
        for (int i = 0; i < ct_kind_dim(kind); i++) s->z[i] = d[i] / s->z[ct_kind_dim(kind)];
    }
}

/* ---- Laws ------------------------------------------------------------------------------------------- */

static void jacobians_agree_with_differences(sample *s, ct_rng *rng)
{
    ct_err err = {0};
    draw(s, rng);
    CHECK_OK(ct_factor_check(s->ops, s->z, s->context, s->x, 1e-8, &err), err);
    measure_truth(s);
    CHECK_OK(ct_factor_check(s->ops, s->z, s->context, s->x, 1e-8, &err), err);
    if (s->ops->shaped) return; /* in the middle of a shape there is no derivative */
    for (int v = 1; v < s->ops->arity && s->ops->kind[v] == s->ops->kind[0]; v++)
        memcpy(s->value[v], s->value[0], sizeof s->value[0]);
    CHECK_OK(ct_factor_check(s->ops, s->z, s->context, s->x, 1e-8, &err), err);
    measure_truth(s); /* identical poses, nothing between them */
    CHECK_OK(ct_factor_check(s->ops, s->z, s->context, s->x, 1e-8, &err), err);
}
static void test_jacobians_agree_with_differences(void) { for_all(1, jacobians_agree_with_differences); }

/* The measurement turned by pi - 0.01 against the truth; on the sphere, nearly to the antipode. */
static void jacobians_agree_with_differences_near_pi(sample *s, ct_rng *rng)
{
    const double turn = PI - 0.01;
    ct_err       err = {0};
    draw(s, rng);
    measure_truth(s);
    if (is(s, "prior") || is(s, "between") || is(s, "tactile") || is(s, "heading")) {
        const ct_kind kind = s->ops->field[0];
        double        d[CT_DIM_MAX] = {0};
        if (kind <= CT_R3) return;
        d[kind == CT_SE2 ? 2 : 0] = turn;
        ct_kind_retract(kind, s->z, d, s->z);
    } else if (is(s, "push")) { /* the object turned so far */
        ct_kind_retract(CT_SE2, s->value[0], (const double[]){0.3, 0.2, turn}, s->value[2]);
    } else if (sights(s) && sight_of(s).direction >= 0) {
        double *z = s->z + sight_of(s).direction;
        if (in_space(s)) {
            const double n = norm(3, z),
                         axis[3] = {turn * z[1] / hypot(z[0], z[1]), -turn * z[0] / hypot(z[0], z[1]), 0};
            ct_so3_act(ct_so3_exp(axis), z, z, NULL, NULL);
            CHECK_NEAR(norm(3, z), n, 1e-12);
        } else {
            ct_kind_retract(CT_SO2, z, &turn, z);
        }
    }
    CHECK_OK(ct_factor_check(s->ops, s->z, s->context, s->x, 1e-6, &err), err);
}
static void test_jacobians_agree_with_differences_near_pi(void)
{
    for_all(2, jacobians_agree_with_differences_near_pi);
}

static void jacobians_agree_with_differences_at_tiny_range(sample *s, ct_rng *rng)
{
    ct_err err = {0};
    draw(s, rng);
    if (!sights(s)) return;
    const sight at = sight_of(s);
    double      m[3] = {ct_rng_normal(rng), ct_rng_normal(rng), ct_rng_normal(rng)};
    const double n = norm(at.n, m);
    for (int i = 0; i < at.n; i++) m[i] *= 0.01 / n;
    const double aside = atan2(hypot(m[0], m[1]), m[2]) - atan(10); /* where a projection ends it has a kink */
    if (cameras(s) && fabs(aside) < 0.1) return;
    double p[3];
    from_sensor(s, m, p);
    set_point(s, p);
    measure_truth(s);
    CHECK_OK(ct_factor_check(s->ops, s->z, s->context, s->x, 1e-6, &err), err);
}
static void test_jacobians_agree_with_differences_at_tiny_range(void)
{
    for_all(3, jacobians_agree_with_differences_at_tiny_range);
}

static void a_perfect_measurement_leaves_no_residual(sample *s, ct_rng *rng)
{
    double r[CT_ROWS_MAX];
    draw(s, rng);
    if (is(s, "velocity")) s->z[ct_kind_dim(s->ops->kind[0])] += 0.1; /* dt: 1/dt scales rounding */
    measure_truth(s);
    ct_factor_eval(s->ops, s->z, s->context, s->x, r, NULL);
    const double size = is(s, "bearing") || is(s, "range_b") ? 1e-12 : 1e-13;
    for (int k = 0; k < s->ops->rows; k++) CHECK_NEAR(r[k], 0, cameras(s) ? 1e-12 * (1 + fabs(s->z[k])) : size);
}
static void test_a_perfect_measurement_leaves_no_residual(void)
{
    for_all(4, a_perfect_measurement_leaves_no_residual);
}

/* Move a variable of any kind by one rigid motion of the world. */
static void move(ct_kind kind, ct_se2 g2, ct_se3 g3, double *x)
{
    if (kind == CT_R1) {
        x[0] += g2.x;
    } else if (kind == CT_R2) {
        ct_se2_act(g2, x, x, NULL, NULL);
    } else if (kind == CT_R3) {
        ct_se3_act(g3, x, x, NULL, NULL);
    } else if (kind == CT_SO2) {
        const ct_so2 y = ct_so2_compose((ct_so2){g2.c, g2.s}, (ct_so2){x[0], x[1]});
        memcpy(x, &y, sizeof y);
    } else if (kind == CT_SO3) {
        const ct_so3 y = ct_so3_compose(ct_se3_rotation(g3), (ct_so3){x[0], x[1], x[2], x[3]}, NULL, NULL);
        memcpy(x, &y, sizeof y);
    } else if (kind == CT_SE2) {
        const ct_se2 y = ct_se2_compose(g2, se2(x), NULL, NULL);
        memcpy(x, &y, sizeof y);
    } else {
        const ct_se3 y = ct_se3_compose(g3, se3(x), NULL, NULL);
        memcpy(x, &y, sizeof y);
    }
}

/* A model is absolute if and only if moving the world under it changes its residual. R^n as a group
 * has no rotations, so between_rN is moved by translations. */
static void only_absolute_models_see_the_world_move(sample *s, ct_rng *rng)
{
    double r[CT_ROWS_MAX], moved[CT_ROWS_MAX], change = 0, d2[4], d3[7];
    if (is_process(s)) return;
    draw(s, rng);
    ct_factor_eval(s->ops, s->z, s->context, s->x, r, NULL);
    draw_element(rng, CT_SE2, d2);
    draw_element(rng, CT_SE3, d3);
    ct_se2 g2 = se2(d2);
    ct_se3 g3 = se3(d3);
    if (s->ops->kind[0] <= CT_R3) g2 = ct_se2_make(g2.x, g2.y, 0), g3 = ct_se3_make(d3, ct_so3_identity());
    for (int v = 0; v < s->ops->arity; v++) move(s->ops->kind[v], g2, g3, s->value[v]);
    ct_factor_eval(s->ops, s->z, s->context, s->x, moved, NULL);
    double largest = 1;
    for (int k = 0; k < s->ops->rows; k++)
        change = fmax(change, fabs(moved[k] - r[k])), largest = fmax(largest, fabs(r[k]));
    if (s->ops->absolute) CHECK(change > 1e-6);
    else CHECK_NEAR(change, 0, 1e-11 * largest);
}
static void test_only_absolute_models_see_the_world_move(void) { for_all(5, only_absolute_models_see_the_world_move); }

/* On the sensor, and behind it exactly: numbers, not NaN. */
static void sights_are_finite_where_they_have_no_derivative(sample *s, ct_rng *rng)
{
    double  r[CT_ROWS_MAX], J[2][CT_ROWS_MAX * CT_DIM_MAX];
    double *pointers[2] = {J[0], J[1]};
    (void)rng;
    if (!sights(s)) return;
    const sight at = sight_of(s);
    for (int f = 0, i = 0; f < s->ops->fields; i += ct_kind_size(s->ops->field[f++]))
        ct_kind_identity(s->ops->field[f], s->z + i);
    for (int v = 0; v < s->ops->arity; v++) ct_kind_identity(s->ops->kind[v], s->value[v]);
    if (at.direction >= 0 && at.n == 3) s->z[at.direction] = 1;
    if (cameras(s)) s->z[2 * cameras(s)] = s->z[2 * cameras(s) + 1] = s->z[8] = 1;
    for (int behind = 0; behind < 2; behind++) {
        at.point[0] = -behind;
        ct_factor_eval(s->ops, s->z, s->context, s->x, r, pointers);
        for (int k = 0; k < s->ops->rows; k++) CHECK(isfinite(r[k]));
        for (int v = 0; v < s->ops->arity; v++)
            for (int k = 0; k < s->ops->rows * ct_kind_dim(s->ops->kind[v]); k++) CHECK(isfinite(J[v][k]));
        if (at.direction >= 0) CHECK_NEAR(fabs(r[at.direction]), behind ? PI : 0, 0);
    }
}
static void test_sights_are_finite_where_they_have_no_derivative(void)
{
    for_all(6, sights_are_finite_where_they_have_no_derivative);
}

/* A body, sensor and point in the plane z = 0 of space: azimuth is the planar bearing. */
static void test_bearing_in_space_is_the_planar_one_in_a_plane(void)
{
    ct_rng rng = ct_rng_seed(7);
    for (int i = 0; i < DRAWS; i++) {
        double f[3][3], z2[6], z3[10] = {0}, x2[4], x3[7] = {0}, p[3] = {ct_rng_normal(&rng), ct_rng_normal(&rng), 0},
                               r2, r3[2];
        for (int k = 0; k < 9; k++) f[k / 3][k % 3] = ct_rng_normal(&rng);
        ct_kind_from_fields(CT_SE2, f[0], x2);
        ct_kind_from_fields(CT_SO2, f[1], z2);
        ct_kind_from_fields(CT_SE2, f[2], z2 + 2);
        x3[0] = f[0][0], x3[1] = f[0][1], x3[5] = sin(f[0][2] / 2), x3[6] = cos(f[0][2] / 2);
        z3[0] = 7 * z2[0], z3[1] = 7 * z2[1];
        z3[3] = f[2][0], z3[4] = f[2][1], z3[8] = sin(f[2][2] / 2), z3[9] = cos(f[2][2] / 2);
        ct_factor_eval(&ct_bearing_se2_r2, z2, NULL, (const double *const[]){x2, p}, &r2, NULL);
        ct_factor_eval(&ct_bearing_se3_r3, z3, NULL, (const double *const[]){x3, p}, r3, NULL);
        CHECK_NEAR(r3[0], r2, 1e-13);
        CHECK_NEAR(r3[1], 0, 1e-13);
    }
}

/* ---- Numbers worked out by hand, as they would stand in a file -------------------------------------- */

/* A shape is a rectangle of 4 x 2. */
static const struct {
    const char *name;
    double      z[20], x[14], r[6];
} by_hand[] = {
    {"prior_r1", {1}, {3}, {2}},
    {"prior_r2", {1, 2}, {3, 5}, {2, 3}},
    {"prior_r3", {1, 2, 3}, {3, 5, 7}, {2, 3, 4}},
    {"prior_so2", {3}, {-3}, {2 * PI - 6}},
    {"prior_so3", {0, 0, 0, 1}, {0, 0, Q, Q}, {0, 0, H}},
    {"prior_se2", {0, 0, 0}, {1, 1, H}, {H, 0, H}}, /* a quarter of a unit circle */
    {"prior_se2", {1, 2, H}, {1, 3, H}, {1, 0, 0}}, /* seen from the body         */
    {"prior_se3", {1, 2, 3, 0, 0, 0, 1}, {2, 3, 5, 0, 0, Q, Q}, {0, 0, H, H, 0, 2}},
    {"between_r1", {1}, {2, 5}, {2}},
    {"between_r2", {1, 1}, {0, 1, 2, 3}, {1, 1}},
    {"between_r3", {1, 1, 1}, {0, 1, 2, 3, 4, 6}, {2, 2, 3}},
    {"between_so2", {0.1}, {0.2, 0.5}, {0.2}},
    {"between_so3", {0, 0, 0, 1}, {0, 0, Q, Q, 0.5, 0.5, 0.5, 0.5}, {H, 0, 0}}, /* b = Rz Rx, a third of a turn */
    {"between_se2", {1, 0, H}, {0, 0, 0, 2, 0, H}, {0, -1, 0}},
    {"between_se3", {0, 0, 1, 0, 0, Q, Q}, {ID, 0, 0, 4, 0, 0, Q, Q}, {0, 0, 0, 0, 0, 3}},
    {"position_se2", {0, 0, 1, 0}, {1, 2, H}, {1, 3}},
    {"position_se3", {1, 1, 1, 1, 0, 0}, {1, 2, 3, 0, 0, Q, Q}, {0, 2, 2}},
    {"range_se2_r2", {4.5, 1, 0}, {0, 0, H, 3, 5}, {0.5}}, /* sensor at (0, 1): 3-4-5 triangle */
    {"range_se2_point", {12.5, 3, 5, 1, 0, 12}, {0, 0, H}, {0.5}}, /* 12 above it: 5-12-13 */
    {"range_se3_r3", {4.5, 1, 0, 0}, {0, 0, 2, 0, 0, Q, Q, 3, 5, 2}, {0.5}},
    {"range_se3_point", {4.5, 3, 5, 2, 1, 0, 0}, {0, 0, 2, 0, 0, Q, Q}, {0.5}},
    {"bearing_se2_r2", {0.3, 0, 0, 0.2}, {0, 0, H, 0, 2}, {-0.5}},
    {"bearing_se2_point", {0.3, 0, 2, 0, 0, 0.2}, {0, 0, H}, {-0.5}},
    {"bearing_se3_r3", {5, 0, 0, ID}, {ID, 1, 1, 0}, {PI / 4, 0}},
    {"bearing_se3_r3", {5, 0, 0, ID}, {ID, 1, 0, 1}, {0, PI / 4}},
    {"bearing_se3_r3", {0, 0, 9, ID}, {ID, 0, 1, 1}, {PI / 4, 0}}, /* the pole's east is y */
    {"bearing_se3_point", {0, 3, 0, -1, 0, 0, 0, 0, 0, 0, 0, Q, Q}, {ID}, {0, 0}},
    {"range_bearing_se2_r2", {1, 0.3, 0, 0, 0.2}, {0, 0, H, 0, 2}, {1, -0.5}},
    {"range_bearing_se2_point", {1, 0.3, 0, 2, 0, 0, 0.2}, {0, 0, H}, {1, -0.5}},
    {"range_bearing_se3_r3", {4, 5, 0, 0, ID}, {ID, 3, 0, 4}, {1, 0, 0.92729521800161223}}, /* atan 4/3 */
    {"range_bearing_se3_point", {4, 5, 0, 0, 3, 0, 4, ID}, {ID}, {1, 0, 0.92729521800161223}},
    /* sensor at (0, 1), target one ahead of a body that looks along -x, at (4, 5) */
    {"range_se2_se2", {4.5, 1, 0, 1, 0}, {0, 0, H, 4, 5, PI}, {0.5}},
    {"range_se3_se3", {4.5, 1, 0, 0, 1, 0, 0}, {0, 0, 2, 0, 0, Q, Q, 4, 5, 2, 0, 0, 1, 0}, {0.5}},
    {"bearing_se2_se2", {0.3, 0, 0, 0.2, 0, 2}, {0, 0, H, 2, 2, H}, {-0.5}},
    {"bearing_se3_se3", {5, 0, 0, ID, 0, 1, 0}, {ID, 2, 1, 0, 0, 0, Q, Q}, {PI / 4, 0}},
    {"range_bearing_se2_se2", {1, 0.3, 0, 0, 0.2, 0, 2}, {0, 0, H, 2, 2, H}, {1, -0.5}},
    {"range_bearing_se3_se3", {4, 5, 0, 0, ID, 0, 0, 3}, {ID, 3, 0, 1, 0, 0, 0, 1}, {1, 0, 0.92729521800161223}},
    /* 2 right, 1 down, 4 ahead; camera at (0, 0, 1) on the body */
    {"pixel_se3_r3", {300, 200, 100, 80, 320, 240, 0, 0, 1, 0, 0, 0, 1}, {ID, 2, 1, 5}, {70, 60}},
    {"pixel_se3_point", {300, 200, 100, 80, 320, 240, 2, 1, 5, 0, 0, 1, 0, 0, 0, 1}, {ID}, {70, 60}},
    /* beside the camera, 90 degrees from its axis */
    {"pixel_se3_r3", {0, 0, 100, 80, 320, 240, ID}, {ID, 0, -3, 0}, {320, 240 - 80 * (10 + 101 * ATAN_TENTH)}},
    /* a camera that looks along the body's x: its z is x, its x is -y, its y is -z */
    {"stereo_se3_r3", {0, 0, 0, 0, 100, 80, 320, 240, 0.5, 0, 0, 0, -0.5, 0.5, -0.5, 0.5}, {ID, 4, -2, -1},
     {370, 260, 357.5, 260}},
    {"stereo_se3_point", {370, 260, 357.5, 260, 100, 80, 320, 240, 0.5, 4, -2, -1, 0, 0, 0, -0.5, 0.5, -0.5, 0.5}, {ID},
     {0, 0, 0, 0}},
    /* pitched down by a quarter turn: 2 m ahead are 2 m below */
    {"height_se3", {0.5, 2, 0, 7}, {4, 5, 3, 0, Q, 0, Q}, {0.5}},
    {"heading_se2", {3, 0.5}, {7, 8, -3}, {2 * PI - 5.5}},
    {"heading_se3", {0.5, 0, 0, Q, Q}, {1, 2, 3, 0, 0, Q, Q}, {PI - 0.5}},
    /* pitched up by 60 degrees, then turned by a quarter: the pitch does not count */
    {"heading_se3", {0.25, 0, 0, 0, 1}, {0, 0, 0, 0.5 * Q, -0.5 * Q, SIN60 * Q, SIN60 * Q}, {H - 0.25}},
    {"point_se2_r2", {0, 0, 1, 0, H}, {1, 0, H, 1, 3}, {0, -2}},
    {"point_se2_point", {0, 0, 1, 3, 1, 0, H}, {1, 0, H}, {0, -2}},
    {"point_se3_r3", {0, 0, 1, 1, 0, 0, 0, 0, Q, Q}, {1, 0, 0, 0, 0, Q, Q, 1, 3, 5}, {0, -2, 4}},
    {"point_se3_point", {0, 0, 1, 1, 3, 5, 1, 0, 0, 0, 0, Q, Q}, {1, 0, 0, 0, 0, Q, Q}, {0, -2, 4}},
    {"velocity_se2", {PI, 0, 0, 0.5}, {0, 0, 0, 1, 1, H}, {0, 0, PI}},
    {"gtsam_prior_se2", {0, 0, 0}, {1, 1, H}, {1, -1, H}}, /* seen from x, not a curve */
    {"gtsam_prior_se3", {1, 2, 3, 0, 0, 0, 1}, {2, 3, 5, 0, 0, Q, Q}, {0, 0, H, H, 0, 2}},
    {"gtsam_between_se2", {1, 0, H}, {0, 0, 0, 2, 1, PI}, {1, -1, H}}, /* seen from z */
    {"gtsam_between_se3", {0, 0, 1, 0, 0, Q, Q}, {ID, 0, 0, 4, 0, 0, Q, Q}, {0, 0, 0, 0, 0, 3}},
    {"tactile_yaw", {0.1}, {9, 9, 0.2, 8, 7, 0.5, 6, 5, 1, 4, 3, 1.7}, {0.3}},
    {"tactile_yaw", {3}, {0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0.5}, {2 * PI - 5.5}},
    /* the finger slid from (1, 0) to (1, 2) */
    {"tactile_se2", {0, 0.5, 0}, {0, 0, 0, 1, 0, 0, 5, 5, H, 3, 6, H}, {0, 1.5, 0}},
    /* v = (2, -1), V = (3, -3), P = (0, -2) */
    {"push_se2", {0.5}, {0, 0, 0, 0, -1, 0, 1, 2, H, 3, 2, 0}, {2 * H - 1, 2, 4 - H / 2}},
    {"contact_se2", {0.5}, {1, 1, H, 1, 6, 0}, {2.5}},
    {"contact_se2", {0}, {1, 1, H, -4, 6, 1}, {5}}, /* 3-4-5 from a corner */
    {"contact_se2", {0.25}, {1, 1, H, 0.25, 1, 2}, {-0.5}},
    {"velocity_se3", {0, 0, 0, 0, 0, 0.5, 2}, {ID, 1, 1, 2, 0, 0, Q, Q}, {0, 0, PI / 4, PI / 4, 0, 0.5}},
    {"bias_start_r1", {0.5}, {2}, {1.5}},
    {"bias_start_r2", {0, 1}, {2, 3}, {2, 2}},
    {"bias_start_r3", {0, 1, 2}, {2, 3, 4}, {2, 2, 2}},
    {"random_walk_r1", {4}, {1, 2}, {0.5}},
    {"random_walk_r2", {0.25}, {1, 2, 1, 4}, {0, 4}},
    {"random_walk_r3", {1}, {1, 2, 3, 0, 2, 5}, {-1, 0, 2}},
    /* half is left after log 2 */
    {"gauss_markov_r1", {LOG_2, 1}, {2, 1 + SIN60}, {1}},
    {"gauss_markov_r2", {2 * LOG_2, 2}, {2, 4, 1 - SIN60, 2}, {-1, 0}},
    {"gauss_markov_r3", {LOG_2, 1}, {0, 2, 4, SIN60, 1, 2 + 2 * SIN60}, {1, 0, 2}},
    /* a quarter of a period: the bias is minus its quadrature, halved */
    {"oscillation_r1", {LOG_2, 1, 4 * LOG_2}, {7, 2, SIN60 - 1}, {1}},
    {"oscillation_r1", {LOG_2, 1, -4 * LOG_2}, {7, 2, SIN60 + 1}, {1}},
    {"oscillation_r2", {LOG_2, 1, 2 * LOG_2}, {2, 4, 5, 6, -1 + SIN60, -2}, {1, 0}},
    {"oscillation_r3", {LOG_2, 1, LOG_2}, {2, 4, 6, 5, 5, 5, 1, 2 + SIN60, 3}, {0, 1, 0}},
};
enum { BY_HAND = sizeof by_hand / sizeof *by_hand };

static void test_residuals_are_those_worked_out_by_hand(void)
{
    ct_shape *shape = NULL;
    ct_err    err = {0};
    CHECK_OK(ct_shape_rectangle(2, 1, &shape, &err), err);
    for (int i = 0; i < BY_HAND; i++) {
        const ct_factor_ops *ops = ct_factor_find(by_hand[i].name);
        CHECK(ops != NULL);
        if (!ops) continue;
        double        z[Z_MAX], value[CT_ARITY_MAX][CT_SIZE_MAX], r[CT_ROWS_MAX];
        const double *x[CT_ARITY_MAX], *field = by_hand[i].z;
        for (int f = 0, at = 0; f < ops->fields;
             at += ct_kind_size(ops->field[f]), field += ct_kind_fields(ops->field[f]), f++)
            CHECK(ct_kind_from_fields(ops->field[f], field, z + at));
        field = by_hand[i].x;
        for (int v = 0; v < ops->arity; field += ct_kind_fields(ops->kind[v]), v++) {
            CHECK(ct_kind_from_fields(ops->kind[v], field, value[v]));
            x[v] = value[v];
        }
        ct_factor_eval(ops, z, ops->shaped ? shape : NULL, x, r, NULL);
        for (int k = 0; k < ops->rows; k++) CHECK_NEAR(r[k], by_hand[i].r[k], 2e-15 + 4e-16 * fabs(by_hand[i].r[k]));
    }
    ct_shape_free(shape);
    for (int m = 0; ct_factor_at(m); m++) {
        int found = 0;
        for (int i = 0; i < BY_HAND; i++) found |= !strcmp(by_hand[i].name, ct_factor_at(m)->name);
        CHECK(found);
    }
}

int main(void)
{
    RUN(test_residuals_are_those_worked_out_by_hand);
    RUN(test_a_perfect_measurement_leaves_no_residual);
    RUN(test_jacobians_agree_with_differences);
    RUN(test_jacobians_agree_with_differences_near_pi);
    RUN(test_jacobians_agree_with_differences_at_tiny_range);
    RUN(test_only_absolute_models_see_the_world_move);
    RUN(test_sights_are_finite_where_they_have_no_derivative);
    RUN(test_bearing_in_space_is_the_planar_one_in_a_plane);
    return ct_test_end();
}
