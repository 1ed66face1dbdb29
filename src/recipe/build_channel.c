/* build_channel.c: the channels of a recording: which sensor of which body reads which files, with which
 * corrections. */
#include "recipe/build.h"

#include <math.h>

const char *ct__channel_name(const ct__channel *c) { return c->sensor ? c->sensor->name : "truth"; }

void ct__channel_drop(ct__import *imp, const ct__channel *c, ct_drop why, int64_t count)
{
    imp->result.count[c->number].dropped[why] += count;
}

/* ---- corrections ---- */

static void set_rows(const ct_correction *from, double to[6])
{
    for (int i = 0; i < from->count && i < 6; i++) to[i] = from->value[i];
}

static void set_axes(const ct_correction *from, ct__corrected *to)
{
    to->has_axes = 1;
    for (int i = 0; i < from->count && i < 6; i++) to->axes[i] = (int)from->value[i];
}

/* Corrections for one recording come after those for all, and override them. */
static void find_corrections(const ct__import *imp, const char *name, int inverse, ct__corrected *c)
{
    const ct_recipe *recipe = imp->recipe;
    *c = (ct__corrected){.scale = {1, 1, 1, 1, 1, 1}, .wheel = {1, 1}, .inverse = inverse};
    for (int own = 0; own < 2; own++)
        for (int32_t i = 0; i < recipe->corrections; i++) {
            const ct_correction *k = &recipe->correction[i];
            if (strcmp(k->sensor, name) || (*k->recording != 0) != own) continue;
            if (own && strcmp(k->recording, imp->plan.recording[imp->r].name)) continue;
            switch (k->kind) {
            case CT_CORRECT_DELAY: c->delay_s = k->value[0]; break;
            case CT_CORRECT_DRIFT: c->drift = k->value[0]; break;
            case CT_CORRECT_AXES: set_axes(k, c); break;
            case CT_CORRECT_SCALE: set_rows(k, c->scale); break;
            case CT_CORRECT_BIAS: set_rows(k, c->bias); break;
            case CT_CORRECT_WHEELS: memcpy(c->wheel, k->value, sizeof c->wheel); break;
            case CT_CORRECT_STEPS: c->steps_s = k->value[0]; break;
            case CT_CORRECT_WRAP: c->wrap_m = k->value[0]; break;
            case CT_CORRECT_MOUNT: c->mount = k; break;
            case CT_CORRECT_FRAME: c->frame = k; break;
            case CT_CORRECT_QUATERNION: c->scalar_first = k->value[0] != 0; break;
            case CT_CORRECT_CAMERA: c->camera = k->value[0] != 0; break;
            case CT_CORRECT_NED: c->ned = k->value[0] != 0; break;
            case CT_CORRECT_COMPASS: c->compass = k->value[0] != 0; break;
            case CT_CORRECT_INVERSE: c->inverse = k->value[0] != 0; break;
            case CT_CORRECT_DEGREES: c->degrees = k->value[0] != 0; break;
            default: break; /* of noise models */
            }
        }
}

/* Time of an odometry is that of its turns, too. */
static void add_odometry_time(const ct__import *imp, ct__channel *c)
{
    ct__corrected whole;
    for (int32_t i = 0; i < imp->recipe->sensors; i++) {
        if (imp->recipe->sensor[i].turn != c->number) continue;
        find_corrections(imp, imp->recipe->sensor[i].name, 0, &whole);
        c->corrected.delay_s += whole.delay_s;
        c->corrected.drift += whole.drift;
        return;
    }
}

/* ---- one channel ---- */

static ct_status set_pose(const ct__import *imp, const ct__channel *c, const char *what, const ct__numbers *own,
                          const ct_correction *correction, ct_se3 *pose, int *has, int *in_space)
{
    const int count = correction ? correction->count : own->count;
    const double *value = correction ? correction->value : own->value;
    *pose = ct_se3_identity();
    *has = count > 0;
    if (count == 0 || ct__pose_of_numbers(imp->kind, value, count, pose, in_space)) return CT_OK;
    return ct_fail(imp->err, CT_E_ARGUMENT, "%s:%d: %s: %s of %d numbers is no pose or position in %s",
                   imp->recipe->name,
                   own->line   ? own->line
                   : c->sensor ? c->sensor->line
                               : imp->recipe->truth.line,
                   ct__channel_name(c), what, count, ct_kind_name(imp->kind));
}

static int has_rotation(const ct__list role[])
{
    return role[CT__ROLE_YAW].count || role[CT__ROLE_QUATERNION].count || role[CT__ROLE_ROTATION_VECTOR].count ||
           role[CT__ROLE_EULER].count || role[CT__ROLE_MATRIX].count;
}

static int is_spatial(const ct__list role[])
{
    return role[CT__ROLE_POSITION].count == 3 || role[CT__ROLE_MATRIX].count || role[CT__ROLE_DIRECTION].count ||
           role[CT__ROLE_GEODETIC].count || role[CT__ROLE_POINT].count == 3;
}

static ct_status check_channel(const ct__import *imp, const ct__channel *c)
{
    const int line = c->sensor ? c->sensor->line : imp->recipe->truth.line;
    const char *name = ct__channel_name(c);
    if (c->axes == CT__AXES_CAMERA && imp->kind == CT_SE2 && !c->spatial)
        return ct_fail(imp->err, CT_E_ARGUMENT,
                       "%s:%d: %s: camera axes are of a pose in space; x and y alone do not say where the camera is",
                       imp->recipe->name, line, name);
    if (!c->sensor && c->has_mount && !c->rotates && hypot(hypot(c->mount.x, c->mount.y), c->mount.z) > 0)
        return ct_fail(imp->err, CT_E_ARGUMENT,
                       "%s:%d: truth: without a rotation the body's position does not follow from that of its mount; "
                       "name a rotation, or leave `mount` out",
                       imp->recipe->name, line);
    return CT_OK;
}

static ct_status set_channel(ct__import *imp, ct__channel *c)
{
    const ct__recipe_sensor *s = c->sensor;
    const ct__recipe_truth *truth = &imp->recipe->truth;
    const ct__numbers none = {0};
    find_corrections(imp, ct__channel_name(c), s ? s->inverse : truth->inverse, &c->corrected);
    if (!s) c->corrected.delay_s += truth->delay_s;
    if (s && s->type == CT__SENSOR_TURN_RATE) add_odometry_time(imp, c);
    c->axes = c->corrected.camera ? CT__AXES_CAMERA : c->corrected.ned ? CT__AXES_NED : s ? s->axes : truth->axes;
    c->rotates = has_rotation(c->role);
    c->spatial = is_spatial(c->role);
    CT_TRY(set_pose(imp, c, "mount", s ? &s->mount : &truth->mount, c->corrected.mount, &c->mount, &c->has_mount,
                    &c->mount_in_space));
    int in_space = 0;
    CT_TRY(
        set_pose(imp, c, "frame", s ? &none : &truth->frame, c->corrected.frame, &c->frame, &c->has_frame, &in_space));
    if (imp->kind == CT_SE2 && c->mount_in_space && !(c->spatial && c->rotates)) {
        c->mount = ct__flatten(c->mount);
        c->mount_in_space = 0;
    }
    if (s && s->type == CT__SENSOR_ODOMETRY)
        c->motion = c->role[CT__ROLE_VELOCITY].count    ? CT__MOTION_VELOCITY
                    : c->role[CT__ROLE_INCREMENT].count || c->role[CT__ROLE_WHEELS].count ? CT__MOTION_INCREMENT
                                                                                          : CT__MOTION_POSE;
    if (s && s->type == CT__SENSOR_VELOCITY) c->motion = CT__MOTION_VELOCITY;
    c->turn = CT__TURN_OWN;
    if (s && s->turn >= 0) c->turn = CT__TURN_MISSING; /* find_turns */
    if (s && s->type == CT__SENSOR_TURN_RATE)
        c->rates = c->role[CT__ROLE_RATE].count ? CT__MOTION_VELOCITY : CT__MOTION_INCREMENT;
    c->steady = !s || c->motion != CT__MOTION_NONE || c->rates != CT__MOTION_NONE;
    c->moved = ct_se3_identity();
    c->step_regime = c->regime_of = NAN;
    c->regime_model = -1;
    if (s) CT_TRY(ct__ids_read(imp->recipe, &imp->plan, &s->ids, imp->r, &c->ids, imp->err));
    return check_channel(imp, c);
}

static int has_files(const ct__import *imp, int32_t source, int32_t body)
{
    for (int32_t f = 0; f < imp->plan.source[source].files; f++)
        if (ct__recordings_has(imp->recipe, &imp->plan, source, f, imp->r, body)) return 1;
    return 0;
}

/* 1 if the body carries the sensor. */
static int is_carried(const ct__import *imp, const ct__recipe_sensor *s, int32_t source, int32_t body)
{
    if (!has_files(imp, source, body)) return 0;
    if (imp->bodies == 1 || ct__recordings_has_bodies(imp->recipe, &imp->plan, source)) return 1;
    return s && s->body ? !strcmp(s->body, imp->body[body].name) : body == 0;
}

static ct_status add_channel(ct__import *imp, int64_t *capacity, int32_t sensor, int32_t body)
{
    const ct_recipe *recipe = imp->recipe;
    CT_TRY(ct__grow(&imp->channel, capacity, imp->channels + 1, sizeof *imp->channel, "channels", imp->err));
    ct__channel *c = &imp->channel[imp->channels++];
    *c = (ct__channel){.sensor = sensor < recipe->sensors ? &recipe->sensor[sensor] : NULL,
                       .role = sensor < recipe->sensors ? recipe->sensor[sensor].role : recipe->truth.role,
                       .number = sensor,
                       .body = body,
                       .where = -1,
                       .id = -1};
    return set_channel(imp, c);
}

/* The channels of one body that have the turns of its odometries. */
static void find_turns(ct__import *imp, int32_t b)
{
    for (int32_t i = 0; i < imp->channels; i++) {
        ct__channel *c = &imp->channel[i];
        if (c->body != b || c->turn == CT__TURN_OWN) continue;
        for (int32_t k = 0; k < imp->channels; k++)
            if (imp->channel[k].body == b && imp->channel[k].number == c->sensor->turn) c->turn = k;
    }
}

/* The body's motion is its first odometry; else its first velocity. */
static void choose_motion(ct__import *imp, int32_t b)
{
    ct__body *body = &imp->body[b];
    for (int velocity = 0; velocity < 2; velocity++)
        for (int32_t i = 0; body->motion < 0 && i < imp->channels; i++) {
            const ct__channel *c = &imp->channel[i];
            if (c->body == b && c->sensor && (c->sensor->type == CT__SENSOR_ODOMETRY) == !velocity && c->motion)
                body->motion = i;
        }
    for (int32_t i = 0; i < imp->channels; i++) {
        const ct__channel *c = &imp->channel[i];
        if (c->body != b) continue;
        if (!c->sensor) body->truth = i;
        if (imp->recipe->states.by == CT__STATES_AT &&
            c->number == (imp->recipe->states.at < 0 ? imp->recipe->sensors : imp->recipe->states.at))
            body->at = i;
    }
}

/* Sensors that this recording has no files of. A body without its odometry has no states. */
static void find_missing(ct__import *imp)
{
    const ct_recipe *recipe = imp->recipe;
    int moves = 0;
    for (int32_t s = 0; s < recipe->sensors; s++)
        moves |= recipe->sensor[s].type == CT__SENSOR_ODOMETRY || recipe->sensor[s].type == CT__SENSOR_VELOCITY;
    for (int32_t b = 0; b < imp->bodies; b++) {
        const int32_t m = imp->body[b].motion;
        imp->body[b].stuck = moves && (m < 0 || imp->channel[m].turn == CT__TURN_MISSING);
    }
    for (int32_t s = 0; s < imp->result.counts; s++) {
        int there = 0;
        for (int32_t i = 0; i < imp->channels; i++) there |= imp->channel[i].number == s;
        if (there) continue;
        if (!imp->seen[s].missing++)
            snprintf(imp->seen[s].missing_in, sizeof imp->seen[s].missing_in, "%s", imp->plan.recording[imp->r].name);
    }
}

ct_status ct__channels_make(ct__import *imp)
{
    const ct_recipe *recipe = imp->recipe;
    const ct__recording_entry *entry = &imp->plan.recording[imp->r];
    int64_t capacity = 0;
    imp->body = ct__zalloc(entry->bodies, sizeof *imp->body);
    if (!imp->body) return ct__no_memory(imp->err, "bodies", entry->bodies);
    imp->bodies = entry->bodies;
    for (int32_t b = 0; b < imp->bodies; b++)
        imp->body[b] = (ct__body){.name = entry->body[b], .motion = -1, .truth = -1, .at = -1, .open = -1};
    for (int32_t b = 0; b < imp->bodies; b++) {
        for (int32_t s = 0; s < recipe->sensors; s++)
            if (is_carried(imp, &recipe->sensor[s], recipe->sensor[s].source, b))
                CT_TRY(add_channel(imp, &capacity, s, b));
        if (recipe->truth.given && is_carried(imp, NULL, recipe->truth.source, b))
            CT_TRY(add_channel(imp, &capacity, recipe->sensors, b));
        find_turns(imp, b);
        choose_motion(imp, b);
    }
    find_missing(imp);
    return CT_OK;
}

void ct__channels_free(ct__import *imp)
{
    for (int32_t i = 0; i < imp->channels; i++) ct__ids_free(&imp->channel[i].ids);
    free(imp->channel);
    free(imp->body);
    imp->channel = NULL;
    imp->body = NULL;
    imp->channels = imp->bodies = 0;
}

/* ---- values ---- */

ct_status ct__channel_select(const ct__import *imp, ct__channel *c, ct_source *source)
{
    const ct_recipe *recipe = imp->recipe;
    const ct__words where = {c->sensor ? c->sensor->where : recipe->truth.where,
                             c->sensor ? c->sensor->line : recipe->truth.line};
    c->where = c->id = -1;
    if (where.text) CT_TRY(ct__select(recipe, source, &where, &c->where, imp->err));
    for (int role = 0; role < CT__ROLE_COUNT; role++) {
        const ct__list *list = &c->role[role];
        if (role == CT__ROLE_ID || role == CT__ROLE_TO_BODY) {
            if (list->count) CT_TRY(ct__select_text(recipe, source, &list->item[0], &c->id, imp->err));
            continue;
        }
        for (int i = 0; i < list->count && i < CT__PLACES; i++)
            CT_TRY(ct__select(recipe, source, &list->item[i], &c->place[role][i], imp->err));
    }
    return ct__features_select(imp, c, source);
}

/* ---- noise models ---- */

/* *model <- "name@label", made as a copy of the sensor's model if there is none. */
static ct_status model_of_regime(ct__import *imp, int32_t base, const char *label, int32_t *model)
{
    const ct_noise_model *from = ct_noise_get(imp->noise, base);
    char name[256];
    double numbers[36];
    snprintf(name, sizeof name, "%s@%s", from->name, label);
    *model = ct_noise_find(imp->noise, name);
    if (*model >= 0) return CT_OK;
    const ct_robust robust = from->robust;
    const int dim = from->dim;
    memcpy(numbers, from->covariance, (size_t)(from->kind == CT_NOISE_FULL ? dim * dim : dim) * sizeof *numbers);
    if (from->kind == CT_NOISE_ISOTROPIC)
        CT_TRY(ct_noise_add_isotropic(imp->noise, name, dim, numbers[0], model, imp->err));
    else if (from->kind == CT_NOISE_DIAGONAL)
        CT_TRY(ct_noise_add_diagonal(imp->noise, name, dim, numbers, model, imp->err));
    else
        CT_TRY(ct_noise_add_full(imp->noise, name, dim, numbers, model, imp->err));
    return robust.kind == CT_ROBUST_NONE ? CT_OK : ct_noise_set_robust(imp->noise, *model, robust, imp->err);
}

ct_status ct__channel_model(ct__import *imp, ct__channel *c, double regime, ct_ns stamp, int32_t *model)
{
    char label[32];
    *model = imp->model[c->number];
    for (int32_t i = 0; i < c->sensor->intervals; i++) {
        const ct__recipe_interval *in = &c->sensor->interval[i];
        const double t = (double)(stamp - imp->base) * 1e-9;
        if (t >= in->from_s && t < in->to_s) return model_of_regime(imp, *model, in->name, model);
    }
    if (!isfinite(regime)) return CT_OK;
    if (regime == c->regime_of) {
        *model = c->regime_model;
        return CT_OK;
    }
    snprintf(label, sizeof label, "%.0f", round(regime));
    CT_TRY(model_of_regime(imp, *model, label, model));
    c->regime_of = regime;
    c->regime_model = *model;
    return CT_OK;
}
