/* build_factor.c: factors from measurements and states.
 *
 * With X the body's pose at the state, M its motion from there to the time of measuring, S the sensor on the body:
 *     pose z of the body          X = z M^-1                            prior_K
 *     position, range             lever arm: translation of M S         position_K, range_*
 *     what has a direction        sensor pose M S                       bearing_*, point_*, pixel_*, ...
 *     heading                     rotation of M S                       heading_K
 *     relative pose z             A^-1 B = M_a S z S^-1 M_b^-1          between_K
 * Models are found by name: measurement, then what it is of. */
#include "recipe/build.h"

#include <math.h>

/* Numbers of a measurement, in the order of the model's parts. */
typedef struct {
    double z[40];
    int n;
} numbers;

static void put(numbers *to, int n, const double v[])
{
    memcpy(to->z + to->n, v, (size_t)n * sizeof *v);
    to->n += n;
}

static void put_pose(ct_kind kind, numbers *to, ct_se3 a)
{
    a = ct_se3_normalize(a);
    if (kind == CT_SE2) {
        const ct_se2 p = ct__to_se2(a);
        put(to, 4, (const double[]){p.x, p.y, p.c, p.s});
    } else
        put(to, 7, (const double[]){a.x, a.y, a.z, a.qx, a.qy, a.qz, a.qw});
}

static void put_translation(ct_kind kind, numbers *to, ct_se3 a)
{
    put(to, kind == CT_SE2 ? 2 : 3, (const double[]){a.x, a.y, a.z});
}

static ct_status find_model(const ct__import *imp, const ct__channel *c, const char *what, const char *of,
                            const ct_factor_ops **ops)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%s%s", what, imp->kind == CT_SE2 ? "se2" : "se3", of);
    *ops = ct_factor_find(name);
    if (*ops) return CT_OK;
    return ct_fail(imp->err, CT_E_UNSUPPORTED, "%s:%d: sensor %s: there is no measurement model %s", imp->recipe->name,
                   c->sensor->line, c->sensor->name, name);
}

static ct_status add(ct__import *imp, const ct__channel *c, ct__open *open, const ct_factor_ops *ops,
                     const int32_t var[], const numbers *n, int32_t noise, double multiplier, const double feature[])
{
    CT_TRY(ct__open_add_factor(imp, open, ops, var, n->z, c->number, noise, multiplier));
    return ct__open_add_features(imp, open, feature);
}

/* ---- targets ---- */

/* The optical frame: `mount` is its pose; without one the camera looks ahead from the body's origin. */
static ct_se3 sensor_pose(const ct__import *imp, const ct__channel *c)
{
    const double zero[3] = {0, 0, 0};
    const ct__sensor_type type = c->sensor->type;
    const int camera = type == CT__SENSOR_PIXEL || type == CT__SENSOR_STEREO;
    if (camera) return c->has_mount ? c->mount : ct_se3_make(zero, ct__body_axes(CT__AXES_CAMERA));
    if (type == CT__SENSOR_POINT && imp->kind == CT_SE3 && c->axes != CT__AXES_BODY)
        return ct_se3_compose(c->mount, ct_se3_make(zero, ct__body_axes(c->axes)), NULL, NULL);
    return c->mount;
}

static void put_direction(ct_kind kind, numbers *to, const double angle[2])
{
    if (kind == CT_SE2)
        put(to, 2, (const double[]){cos(angle[0]), sin(angle[0])});
    else
        put(to, 3, (const double[]){cos(angle[1]) * cos(angle[0]), cos(angle[1]) * sin(angle[0]), sin(angle[1])});
}

static void put_measured(const ct__import *imp, const ct__channel *c, const double value[], numbers *to)
{
    const double *k = c->sensor->intrinsics.value;
    switch (c->sensor->type) {
    case CT__SENSOR_RANGE: put(to, 1, value); break;
    case CT__SENSOR_BEARING: put_direction(imp->kind, to, value); break;
    case CT__SENSOR_RANGE_BEARING:
        put(to, 1, value);
        put_direction(imp->kind, to, value + 1);
        break;
    case CT__SENSOR_PIXEL:
        put(to, 2, value);
        put(to, 4, k);
        break;
    case CT__SENSOR_STEREO:
        put(to, 4, value);
        put(to, 5, k);
        break;
    default: put(to, imp->kind == CT_SE2 ? 2 : 3, value); break;
    }
}

/* Measurements that determine an unknown point, seen from different places. */
static int needed_for(const ct__import *imp, ct__sensor_type type)
{
    if (type == CT__SENSOR_RANGE) return imp->kind == CT_SE2 ? 2 : 3;
    return type == CT__SENSOR_BEARING || type == CT__SENSOR_PIXEL ? 2 : 1;
}

#define X(constant, name) name,
static const char *const TYPE_NAME[] = {CT__SENSOR_LIST(X)};
#undef X

static ct_status factor_of_target(ct__import *imp, const ct__pending *p, ct__open *open, int32_t noise)
{
    const ct__channel *c = &imp->channel[p->channel];
    const ct__recipe_sensor *s = c->sensor;
    const ct_se3 sensor = ct_se3_compose(p->end[0].moved, sensor_pose(imp, c), NULL, NULL);
    const double *const at =
        s->landmarks >= 0 ? imp->points[s->landmarks].position + 3 * (int64_t)p->sample.target : NULL;
    const int known = at && !isnan(at[0]);
    const char *of = !at                   ? (imp->kind == CT_SE2 ? "_se2" : "_se3")
                     : known               ? "_point"
                     : imp->kind == CT_SE2 ? "_r2"
                                           : "_r3";
    const ct_factor_ops *ops;
    numbers n = {.n = 0};
    int32_t var[2] = {p->end[0].state, p->end[1].state};
    CT_TRY(find_model(imp, c, TYPE_NAME[s->type], of, &ops));
    put_measured(imp, c, p->sample.value, &n);
    if (known) put(&n, imp->kind == CT_SE2 ? 2 : 3, at);
    if (s->type == CT__SENSOR_RANGE)
        put_translation(imp->kind, &n, sensor);
    else
        put_pose(imp->kind, &n, sensor);
    if (!at) {
        ct_se3 target;
        int in_space;
        ct__pose_of_numbers(imp->kind, s->target_mount.value, s->target_mount.count, &target, &in_space);
        put_translation(imp->kind, &n, ct_se3_compose(p->end[1].moved, target, NULL, NULL));
    } else if (!known) {
        int32_t number;
        CT_TRY(ct__open_point(imp, open, s->landmarks, p->sample.target, needed_for(imp, s->type), &number));
        var[1] = -1 - number;
    }
    return add(imp, c, open, ops, var, &n, noise, 1, p->sample.feature);
}

/* ---- one state ---- */

static ct_status factor_of_state(ct__import *imp, const ct__pending *p, ct__open *open, int32_t noise)
{
    const ct__channel *c = &imp->channel[p->channel];
    const ct_se3 moved = p->end[0].moved, sensor = ct_se3_compose(moved, c->mount, NULL, NULL);
    const int32_t var[2] = {p->end[0].state, -1};
    const char *what = "position";
    const ct_factor_ops *ops;
    numbers n = {.n = 0};
    if (c->sensor->type == CT__SENSOR_POSE) {
        what = "prior";
        put_pose(imp->kind, &n, ct_se3_compose(p->sample.pose, ct_se3_inverse(moved, NULL), NULL, NULL));
    } else if (c->sensor->type == CT__SENSOR_HEADING) {
        what = "heading";
        put(&n, 2, (const double[]){cos(p->sample.value[0]), sin(p->sample.value[0])});
        if (imp->kind == CT_SE2)
            put(&n, 2, (const double[]){cos(ct__yaw(sensor)), sin(ct__yaw(sensor))});
        else {
            const ct_so3 q = ct_so3_normalize(ct_se3_rotation(sensor));
            put(&n, 4, (const double[]){q.x, q.y, q.z, q.w});
        }
    } else {
        const int height = c->sensor->type == CT__SENSOR_HEIGHT;
        if (height) what = "height";
        put(&n, height ? 1 : imp->kind == CT_SE2 ? 2 : 3, p->sample.value);
        put_translation(imp->kind, &n, sensor);
    }
    CT_TRY(find_model(imp, c, what, "", &ops));
    return add(imp, c, open, ops, var, &n, noise, 1, p->sample.feature);
}

ct_status ct__factor_of_pending(ct__import *imp, const ct__pending *p)
{
    ct__channel *c = &imp->channel[p->channel];
    ct__open *open = ct__open_find(imp, p->end[0].open);
    int32_t noise;
    if (!open) {
        ct__channel_drop(imp, c, CT_DROP_OUTSIDE, 1);
        return CT_OK;
    }
    CT_TRY(ct__channel_model(imp, c, p->sample.regime, p->stamp, &noise));
    switch (c->sensor->type) {
    case CT__SENSOR_POSE:
    case CT__SENSOR_POSITION:
    case CT__SENSOR_GEODETIC:
    case CT__SENSOR_HEIGHT:
    case CT__SENSOR_HEADING: return factor_of_state(imp, p, open, noise);
    default: return factor_of_target(imp, p, open, noise);
    }
}

ct_status ct__factor_of_relative(ct__import *imp, ct__relative *r)
{
    ct__channel *c = &imp->channel[r->channel];
    ct__open *open = r->end[0].open == r->end[1].open ? ct__open_find(imp, r->end[0].open) : NULL;
    const int32_t var[2] = {r->end[0].state, r->end[1].state};
    if (!open || (var[0] == var[1])) {
        ct__relative_drop(imp, r, open ? CT_DROP_FAR : CT_DROP_OUTSIDE);
        return CT_OK;
    }
    if (r->gone) return CT_OK;
    r->gone = 1;
    const ct_factor_ops *ops;
    numbers n = {.n = 0};
    int32_t noise;
    ct_se3 z = r->pose;
    if (c->has_mount)
        z = ct_se3_compose(ct_se3_compose(c->mount, z, NULL, NULL), ct_se3_inverse(c->mount, NULL), NULL, NULL);
    z = ct_se3_compose(ct_se3_compose(r->end[0].moved, z, NULL, NULL), ct_se3_inverse(r->end[1].moved, NULL), NULL,
                       NULL);
    put_pose(imp->kind, &n, z);
    CT_TRY(ct__channel_model(imp, c, r->regime, r->stamp, &noise));
    CT_TRY(find_model(imp, c, "between", "", &ops));
    return add(imp, c, open, ops, var, &n, noise, 1, r->feature);
}

/* ---- steps ---- */

#define LENGTH_MIN 1e-3 /* m: a step of a body that stands has the variance of a millimetre, not none */

static ct_status step_of(ct__import *imp, ct__channel *c, ct_ns t, double dt, ct__open *open, const int32_t var[2])
{
    const int velocity = c->sensor->type == CT__SENSOR_VELOCITY;
    const ct__per per = c->sensor->noise.per;
    const ct_factor_ops *ops;
    numbers n = {.n = 0};
    int32_t noise;
    double multiplier = 1, mean[6], row[6], feature[CT__SENSOR_FEATURES_MAX];
    if (velocity) {
        for (int i = 0; i < 6; i++) mean[i] = c->sum[i] / dt;
        ct__twist_rows(imp->kind, mean, row);
        put(&n, imp->kind == CT_SE2 ? 3 : 6, row);
        put(&n, 1, &dt);
    } else {
        put_pose(imp->kind, &n, c->moved);
        if (per == CT__PER_SECOND) multiplier = dt;
        if (per == CT__PER_METRE) multiplier = fmax(c->length_m, LENGTH_MIN);
        multiplier = fmin(fmax(multiplier, CT_MULTIPLIER_MIN), CT_MULTIPLIER_MAX);
    }
    CT_TRY(ct__channel_model(imp, c, c->step_regime, t - (ct_ns)llround(dt * 5e8), &noise)); /* amid the step */
    CT_TRY(find_model(imp, c, velocity ? "velocity" : "between", "", &ops));
    ct__features_of_step(c, dt, feature);
    return add(imp, c, open, ops, var, &n, noise, multiplier, feature);
}

ct_status ct__factors_of_step(ct__import *imp, int32_t b, ct_ns t, ct__open *open, int32_t from, int32_t to)
{
    const double dt = (double)(t - imp->body[b].last) * 1e-9;
    const int32_t var[2] = {from, to};
    for (int32_t i = 0; i < imp->channels; i++) {
        ct__channel *c = &imp->channel[i];
        if (c->body != b || !c->motion || c->covered_from > imp->body[b].last) continue;
        CT_TRY(step_of(imp, c, t, dt, open, var));
        if (c->turn >= 0) imp->result.count[imp->channel[c->turn].number].factors++;
    }
    return CT_OK;
}
