/* compose.c: corrections of a recipe after those that it has.
 *
 * Rows were corrected by z' = s A z - b, and are now found to need z'' = s_n A_n z' - b_n:
 *
 *     A'' = A_n A,   s'' = s_n A_n s,   b'' = s_n A_n b + b_n          A a signed permutation
 *
 * Mounts: a sensor that looks at points moves with its own frame, M M_n; one that measures poses or motion is M_n M.
 * Frames: F_n F. Delays and drifts add. What a recipe says for one recording overrides what it says for all, so every
 * recording that has entries gets its own. */
#include "doctor/doctor.h"
#include "recipe/recipe.h"

#include <math.h>
#include <stdio.h>

/* Corrections of one sensor in one recording, complete. */
typedef struct {
    double delay, drift, scale[CT_ROWS_MAX], bias[CT_ROWS_MAX];
    int    rows, axis[CT_ROWS_MAX];
    uint8_t given[CT_CORRECTION_COUNT];
    ct_correction mount, frame, other[CT_CORRECTION_COUNT];
} whole;

typedef struct {
    int32_t              count;
    const ct_correction *item;
} list;

static const ct_correction *look_up(list l, const char *sensor, const char *recording, ct_correction_kind kind)
{
    const ct_correction *found = NULL;
    for (int32_t i = 0; i < l.count; i++) {
        const ct_correction *c = &l.item[i];
        if (c->kind != kind || strcmp(c->sensor, sensor)) continue;
        if (!strcmp(c->recording, recording)) return c;
        if (!c->recording[0]) found = c;
    }
    return found;
}

static void gather(list l, const char *sensor, const char *recording, whole *w)
{
    *w = (whole){.rows = 0};
    for (int i = 0; i < CT_ROWS_MAX; i++) w->scale[i] = 1, w->axis[i] = i + 1;
    for (int kind = 0; kind < CT_CORRECTION_COUNT; kind++) {
        const ct_correction *c = look_up(l, sensor, recording, (ct_correction_kind)kind);
        if (!c) continue;
        w->given[kind] = 1;
        w->other[kind] = *c;
        const int n = CT_MIN(c->count, CT_ROWS_MAX);
        switch (c->kind) {
        case CT_CORRECT_DELAY: w->delay = c->value[0]; break;
        case CT_CORRECT_DRIFT: w->drift = c->value[0]; break;
        case CT_CORRECT_AXES:
            for (int i = 0; i < n; i++) w->axis[i] = (int)c->value[i];
            w->rows = CT_MAX(w->rows, n);
            break;
        case CT_CORRECT_SCALE:
            for (int i = 0; i < n; i++) w->scale[i] = c->value[i];
            w->rows = CT_MAX(w->rows, n);
            break;
        case CT_CORRECT_BIAS:
            for (int i = 0; i < n; i++) w->bias[i] = c->value[i];
            w->rows = CT_MAX(w->rows, n);
            break;
        default: break;
        }
    }
}

/* old <- old, then now. Row i of what is measured is axis[i]; place[] is where it goes. */
static void compose_rows(whole *old, const whole *now)
{
    double scale[CT_ROWS_MAX], bias[CT_ROWS_MAX];
    int    axis[CT_ROWS_MAX];
    memcpy(scale, old->scale, sizeof scale);
    memcpy(bias, old->bias, sizeof bias);
    for (int i = 0; i < CT_ROWS_MAX; i++) { /* row i after the old axes is row |axis| - 1 after the new ones */
        const int to = abs(now->axis[i]) - 1, sign = now->axis[i] < 0 ? -1 : 1;
        scale[to] = now->scale[to] * old->scale[i];
        bias[to] = now->scale[to] * sign * old->bias[i] + now->bias[to];
    }
    for (int i = 0; i < CT_ROWS_MAX; i++) {
        const int middle = abs(old->axis[i]) - 1;
        axis[i] = (old->axis[i] < 0 ? -1 : 1) * now->axis[middle];
    }
    memcpy(old->scale, scale, sizeof scale);
    memcpy(old->bias, bias, sizeof bias);
    memcpy(old->axis, axis, sizeof axis);
    old->rows = CT_MAX(old->rows, now->rows);
    for (int kind = CT_CORRECT_AXES; kind <= CT_CORRECT_BIAS; kind++) old->given[kind] |= now->given[kind];
    for (int i = 0; i < old->rows; i++) old->given[CT_CORRECT_BIAS] |= bias[i] < 0 || bias[i] > 0;
}

/* ---- Poses ------------------------------------------------------------------------------------ */

static ct_se3 pose_of(int count, const double *v)
{
    if (count == 2) return (ct_se3){v[0], v[1], 0, 0, 0, 0, 1};
    if (count == 7) return (ct_se3){v[0], v[1], v[2], v[3], v[4], v[5], v[6]};
    return (ct_se3){v[0], v[1], 0, 0, 0, sin(0.5 * v[2]), cos(0.5 * v[2])};
}

static ct_se3 mount_of(ct_kind states, int count, const double *v)
{
    if (count == 3 && states == CT_SE3) return (ct_se3){v[0], v[1], v[2], 0, 0, 0, 1};
    return count ? pose_of(count, v) : (ct_se3){0, 0, 0, 0, 0, 0, 1};
}

static void set_pose(ct_kind states, int count, ct_se3 T, ct_correction *c)
{
    const double full[7] = {T.x, T.y, T.z, T.qx, T.qy, T.qz, T.qw};
    const int    planar = states == CT_SE2 && fabs(T.qx) < 1e-12 && fabs(T.qy) < 1e-12 && fabs(T.z) < 1e-12;
    c->count = planar ? (count == 2 ? 2 : 3) : count == 3 && states == CT_SE3 ? 3 : 7;
    memcpy(c->value, full, sizeof full);
    if (planar) c->value[2] = 2 * atan2(T.qz, T.qw);
}

static const ct__recipe_sensor *find_sensor(const ct_recipe *recipe, const char *name)
{
    for (int32_t i = 0; i < recipe->sensors; i++)
        if (!strcmp(recipe->sensor[i].name, name)) return &recipe->sensor[i];
    return NULL;
}

static void compose_mount(const ct_recipe *recipe, const char *name, whole *old, const whole *now)
{
    const ct__recipe_sensor *s = find_sensor(recipe, name);
    const ct_correction     *was = &old->other[CT_CORRECT_MOUNT], *add = &now->other[CT_CORRECT_MOUNT];
    const ct_kind            states = recipe->states.kind;
    const int                truth = !strcmp(name, "truth");
    if (!(s || truth) || !now->given[CT_CORRECT_MOUNT]) return;
    const ct__numbers *own = truth ? &recipe->truth.mount : &s->mount;
    const int          count = old->given[CT_CORRECT_MOUNT] ? was->count : own->count;
    const double      *value = old->given[CT_CORRECT_MOUNT] ? was->value : own->value;
    const ct_se3       M = mount_of(states, count, value), N = mount_of(states, add->count, add->value);
    const int          motion = truth || s->type == CT__SENSOR_ODOMETRY || s->type == CT__SENSOR_POSE ||
                       s->type == CT__SENSOR_RELATIVE_POSE || s->type == CT__SENSOR_VELOCITY;
    ct_correction next = *add;
    set_pose(states, CT_MAX(count, add->count),
             motion ? ct_se3_compose(N, M, NULL, NULL) : ct_se3_compose(M, N, NULL, NULL), &next);
    old->other[CT_CORRECT_MOUNT] = next;
    old->given[CT_CORRECT_MOUNT] = 1;
}

static void compose_frame(const ct_recipe *recipe, const char *name, whole *old, const whole *now)
{
    const ct__numbers none = {0}, *own = strcmp(name, "truth") ? &none : &recipe->truth.frame;
    if (!now->given[CT_CORRECT_FRAME]) return;
    const ct_correction *was = &old->other[CT_CORRECT_FRAME], *add = &now->other[CT_CORRECT_FRAME];
    const int            count = old->given[CT_CORRECT_FRAME] ? was->count : own->count;
    const double        *value = old->given[CT_CORRECT_FRAME] ? was->value : own->value;
    ct_correction        next = *add;
    set_pose(recipe->states.kind, 0,
             ct_se3_compose(pose_of(add->count, add->value), mount_of(recipe->states.kind, count, value), NULL, NULL),
             &next);
    if (next.count == 7 && add->count == 3) set_pose(CT_SE2, 0, pose_of(add->count, add->value), &next);
    old->other[CT_CORRECT_FRAME] = next;
    old->given[CT_CORRECT_FRAME] = 1;
}

/* ---- Lists ------------------------------------------------------------------------------------ */

typedef struct {
    ct_correction *item;
    int32_t        count;
    int64_t        capacity;
} growing;

static ct_status put(growing *out, const char *sensor, const char *recording, ct_correction_kind kind, int count,
                     const double *value, ct_err *err)
{
    if (!ct__can_correct(kind, count, value)) return CT_OK;
    CT_TRY(ct__grow(&out->item, &out->capacity, (int64_t)out->count + 1, sizeof *out->item, "corrections", err));
    ct_correction *c = &out->item[out->count++];
    *c = (ct_correction){.kind = kind, .count = count};
    snprintf(c->sensor, sizeof c->sensor, "%s", sensor);
    snprintf(c->recording, sizeof c->recording, "%s", recording);
    memcpy(c->value, value, (size_t)count * sizeof *value);
    return CT_OK;
}

/* Entries of the kinds that the new corrections change. */
static ct_status put_whole(growing *out, const char *sensor, const char *recording, const whole *w, const whole *now,
                           ct_err *err)
{
    double axes[CT_ROWS_MAX];
    int    rows = 0;
    for (int i = 0; i < CT_ROWS_MAX; i++) axes[i] = w->axis[i];
    for (int kind = CT_CORRECT_AXES; kind <= CT_CORRECT_BIAS; kind++) rows |= now->given[kind];
    for (int k = 0; k < CT_CORRECTION_COUNT; k++) {
        const ct_correction_kind kind = (ct_correction_kind)k;
        const int                row = kind >= CT_CORRECT_AXES && kind <= CT_CORRECT_BIAS;
        const int noise = kind >= CT_CORRECT_KERNEL; /* one model for all recordings */
        if (!(row ? rows && w->given[k] : now->given[k]) || (noise && recording[0])) continue;
        const double *value = kind == CT_CORRECT_DELAY   ? &w->delay
                              : kind == CT_CORRECT_DRIFT ? &w->drift
                              : kind == CT_CORRECT_AXES  ? axes
                              : kind == CT_CORRECT_SCALE ? w->scale
                              : kind == CT_CORRECT_BIAS  ? w->bias
                                                         : w->other[k].value;
        const int count = row ? w->rows : kind <= CT_CORRECT_DRIFT ? 1 : w->other[k].count;
        CT_TRY(put(out, sensor, recording, kind, count, value, err));
    }
    return CT_OK;
}

static int seen_before(list l, int32_t i)
{
    for (int32_t k = 0; k < i; k++)
        if (!strcmp(l.item[k].sensor, l.item[i].sensor) && !strcmp(l.item[k].recording, l.item[i].recording)) return 1;
    return 0;
}

static ct_status compose_one(const ct_recipe *recipe, list old, list now, const char *sensor, const char *recording,
                             growing *out, ct_err *err)
{
    whole a, b;
    gather(old, sensor, recording, &a);
    gather(now, sensor, recording, &b);
    a.delay += b.delay, a.given[CT_CORRECT_DELAY] |= b.given[CT_CORRECT_DELAY];
    a.drift += b.drift, a.given[CT_CORRECT_DRIFT] |= b.given[CT_CORRECT_DRIFT];
    compose_rows(&a, &b);
    compose_mount(recipe, sensor, &a, &b);
    compose_frame(recipe, sensor, &a, &b);
    for (int i = 0; a.given[CT_CORRECT_WHEELS] && b.given[CT_CORRECT_WHEELS] && i < 2; i++)
        b.other[CT_CORRECT_WHEELS].value[i] *= a.other[CT_CORRECT_WHEELS].value[i];
    for (int k = CT_CORRECT_QUATERNION; k < CT_CORRECTION_COUNT; k++)
        if (b.given[k]) a.other[k] = b.other[k], a.given[k] = 1;
    return put_whole(out, sensor, recording, &a, &b, err);
}

ct_status ct__compose_corrections(const ct_recipe *recipe, int32_t count, const ct_correction *correction,
                                  ct_correction **out, int32_t *outs, ct_err *err)
{
    const list now = {count, correction}, old = {recipe->corrections, recipe->correction};
    growing    all = {0};
    ct_status  status = CT_OK;
    for (int32_t i = 0; status == CT_OK && i < count; i++)
        if (!seen_before(now, i))
            status = compose_one(recipe, old, now, now.item[i].sensor, now.item[i].recording, &all, err);
    /* recordings with entries of their own that only a correction for all concerns */
    for (int32_t i = 0; status == CT_OK && i < old.count; i++) {
        int mine = 0, general = 0;
        for (int32_t k = 0; k < count; k++) {
            if (strcmp(now.item[k].sensor, old.item[i].sensor)) continue;
            mine |= !strcmp(now.item[k].recording, old.item[i].recording);
            general |= !now.item[k].recording[0];
        }
        if (old.item[i].recording[0] && general && !mine && !seen_before(old, i))
            status = compose_one(recipe, old, now, old.item[i].sensor, old.item[i].recording, &all, err);
    }
    if (status != CT_OK) {
        free(all.item);
        all.item = NULL;
        all.count = 0;
    }
    *out = all.item;
    *outs = all.count;
    return status;
}

int ct__recipe_sensor_of(const ct_recipe *recipe, const char *model, char name[64])
{
    int found = 0;
    for (int32_t i = 0; i < recipe->sensors; i++) {
        const ct__recipe_sensor *s = &recipe->sensor[i];
        const char              *own = s->noise.model ? s->noise.model : s->name;
        if (strcmp(own, model)) continue;
        if (!found++) snprintf(name, 64, "%.63s", s->name);
    }
    return found == 1;
}
