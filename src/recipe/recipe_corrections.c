/* recipe_corrections.c: the block "corrections": from the recipe, and into its text. */
#include "recipe/recipe_read.h"

#include <math.h>

const char *ct_correction_key(ct_correction_kind kind)
{
#define X(constant, key, description) key,
    static const char *const KEY[] = {CT_CORRECTION_LIST(X)};
#undef X
    return ct__name_at(KEY, CT_CORRECTION_COUNT, (int)kind);
}

const ct_correction *ct_recipe_correction(const ct_recipe *recipe, int32_t i)
{
    return i >= 0 && i < recipe->corrections ? &recipe->correction[i] : NULL;
}

/* ---- reading ---- */

/* Names that a correction may have: of the sensors, and of the truth. */
static const char *target_at(const void *recipe, int i)
{
    const ct_recipe *p = recipe;
    return i < p->sensors ? p->sensor[i].name : i == p->sensors && p->truth.given ? "truth" : NULL;
}

static void check_target(ct__recipe_reader *r, ct__node *n)
{
    if (!n || r->recipe->sequences.given) return;
    for (int i = 0; target_at(r->recipe, i); i++)
        if (!strcmp(target_at(r->recipe, i), n->text)) return;
    const char *near = ct_nearest(n->text, target_at, r->recipe);
    ct__mistake(&r->base, n, "there is no sensor %.60s%s%s%s", n->text, near ? "; did you mean " : "", near ? near : "",
                near ? "?" : "");
}

/* Rows as the recipe reads them: of velocities and poses as of the noise model. 0: unknown. */
static int rows_of(const ct_recipe *p, const char *sensor)
{
    for (int32_t i = 0; i < p->sensors; i++)
        if (!strcmp(p->sensor[i].name, sensor)) return ct__sensor_rows(p->sensor[i].type, p->states.kind);
    return 0;
}

static void check_axes(ct__recipe_reader *r, ct__node *n, const ct_correction *c)
{
    unsigned seen = 0;
    for (int32_t i = 0; i < c->count; i++) {
        const double axis = fabs(c->value[i]);
        if (axis != floor(axis) || axis < 1 || axis > c->count || (seen & (1u << (int)axis))) {
            ct__mistake(&r->base, n, "expected the numbers 1 to %d, each once, with signs", c->count);
            return;
        }
        seen |= 1u << (int)axis;
    }
}

/* A sigma replaces that of the truth. Sensors have theirs in `noise`. */
static void set_truth_sigma(ct__recipe_reader *r, ct__node *n, const ct_correction *c)
{
    if (strcmp(c->sensor, "truth") && !r->any_kind)
        ct__mistake(&r->base, n, "sigma corrects the truth; %.63s has `noise: {sigma: ...}`", c->sensor);
    else if (c->recording[0] && !r->any_kind)
        ct__mistake(&r->base, n, "sigma corrects the truth of all recordings; leave `recording` out");
    else
        memcpy(r->recipe->truth.sigma, c->value, sizeof r->recipe->truth.sigma);
}

static int has_rotation(const ct__list role[])
{
    return role[CT__ROLE_YAW].count || role[CT__ROLE_QUATERNION].count || role[CT__ROLE_ROTATION_VECTOR].count ||
           role[CT__ROLE_EULER].count || role[CT__ROLE_MATRIX].count;
}

static int has_angles(const ct__list role[])
{
    return role[CT__ROLE_YAW].count || role[CT__ROLE_ROTATION_VECTOR].count || role[CT__ROLE_EULER].count ||
           role[CT__ROLE_VELOCITY].count || role[CT__ROLE_INCREMENT].count % 7 || role[CT__ROLE_RATE].count;
}

static int has_pose(const ct__list role[])
{
    return role[CT__ROLE_MATRIX].count || role[CT__ROLE_INCREMENT].count ||
           ((role[CT__ROLE_POSITION].count || role[CT__ROLE_GEODETIC].count) && has_rotation(role));
}

/* A convention is one of what the sensor has. */
static void check_convention(ct__recipe_reader *r, ct__node *n, const ct_correction *c)
{
    const ct_recipe *p = r->recipe;
    const ct__list *role = strcmp(c->sensor, "truth") || !p->truth.given ? NULL : p->truth.role;
    for (int32_t i = 0; !role && i < p->sensors; i++)
        if (!strcmp(p->sensor[i].name, c->sensor)) role = p->sensor[i].role;
    if (!role || r->any_kind) return;
    if (c->kind == CT_CORRECT_COMPASS && (!has_rotation(role) || role[CT__ROLE_FROM].count))
        ct__mistake(&r->base, n, "%.63s measures no heading or rotation against the world", c->sensor);
    if (c->kind == CT_CORRECT_INVERSE && !has_pose(role))
        ct__mistake(&r->base, n, "%.63s has no poses: position and a rotation, matrix or increment", c->sensor);
    if (c->kind == CT_CORRECT_DEGREES && !has_angles(role))
        ct__mistake(&r->base, n, "%.63s has no angles: yaw, euler, rotation_vector or turn rates", c->sensor);
    if ((c->kind == CT_CORRECT_WHEELS || c->kind == CT_CORRECT_WRAP) && !role[CT__ROLE_WHEELS].count)
        ct__mistake(&r->base, n, "%.63s has no wheels: [left, right]", c->sensor);
}

static void read_value(ct__recipe_reader *r, ct__node *n, ct_correction *c)
{
    ct__numbers v = {0};
    ct_robust kernel = {0};
    char why[160];
    switch (c->kind) {
    case CT_CORRECT_QUATERNION: v.count = 1, v.value[0] = !strcmp(n->text, "scalar_first"); break;
    case CT_CORRECT_CAMERA:
    case CT_CORRECT_NED:
    case CT_CORRECT_COMPASS:
    case CT_CORRECT_INVERSE:
    case CT_CORRECT_DEGREES:
    case CT_CORRECT_FULL: v.count = 1, v.value[0] = ct__node_bool(n); break;
    case CT_CORRECT_KERNEL:
        ct__node_kernel(n, &kernel, why);
        v.count = kernel.ratio > 0 ? 3 : 2;
        v.value[0] = kernel.kind;
        v.value[1] = kernel.width;
        v.value[2] = kernel.ratio;
        break;
    default: ct__node_numbers(n, &v);
    }
    if (v.count && v.value[0] != 0) check_convention(r, n, c);
    c->count = CT_MIN(v.count, CT_CORRECTION_VALUES);
    for (int32_t i = 0; i < c->count; i++) c->value[i] = v.value[i];
    const int rows = rows_of(r->recipe, c->sensor);
    const int per_row = c->kind == CT_CORRECT_SCALE || c->kind == CT_CORRECT_BIAS || c->kind == CT_CORRECT_AXES;
    if (per_row && rows && !r->any_kind && c->count != rows && !(c->count == 1 && c->kind == CT_CORRECT_SCALE))
        ct__mistake(&r->base, n, "%.63s has %d row%s; found %d number%s", c->sensor, rows, rows == 1 ? "" : "s",
                    c->count,
                    c->count == 1 ? "" : "s");
    else if (c->kind == CT_CORRECT_AXES)
        check_axes(r, n, c);
    else if (c->kind == CT_CORRECT_SIGMA)
        set_truth_sigma(r, n, c);
}

static void read_entry(ct__recipe_reader *r, ct__node *map)
{
    ct_recipe *p = r->recipe;
    ct__fill(&r->base, map, CT__SECTION_CORRECTION, NULL);
    ct__node *sensor = ct__sound(map, "sensor"), *recording = ct__sound(map, "recording");
    int corrected = 0;
    check_target(r, sensor);
    if (recording && strlen(recording->text) > 63)
        ct__mistake(&r->base, recording, "a recording's name has at most 63 bytes");
    for (int kind = 0; kind < CT_CORRECTION_COUNT; kind++) {
        ct__node *n = ct__node_member(map, ct_correction_key((ct_correction_kind)kind));
        corrected += n != NULL;
        if (!n || n->bad || !sensor || sensor->bad) continue;
        ct_correction *c = &p->correction[p->corrections++];
        *c = (ct_correction){.kind = (ct_correction_kind)kind};
        snprintf(c->sensor, sizeof c->sensor, "%.63s", sensor->text);
        if (recording && !recording->bad) snprintf(c->recording, sizeof c->recording, "%.63s", recording->text);
        read_value(r, n, c);
        for (const ct_correction *o = p->correction; o < c; o++)
            if (o->kind == c->kind && !strcmp(o->sensor, c->sensor) && !strcmp(o->recording, c->recording))
                ct__mistake(&r->base, n, "%s of %s is corrected twice", n->key, c->sensor);
    }
    if (!corrected) ct__mistake(&r->base, map, "nothing is corrected: delay, scale, bias, ... is missing");
}

void ct__read_corrections(ct__recipe_reader *r, ct__node *node)
{
    if (!node) return;
    if (node->type == CT__NODE_SCALAR) {
        r->recipe->doctor = 1;
        return;
    }
    r->recipe->correction =
        ct__schema_alloc(&r->base, (int64_t)node->count * CT_CORRECTION_COUNT, sizeof *r->recipe->correction);
    if (!r->recipe->correction) return;
    for (ct__node *n = node->first; n; n = n->next)
        if (n->type == CT__NODE_MAP) read_entry(r, n);
}
