/* recipe_sensors.c: sensors and the truth: which fields a type needs, and which do not belong to it. */
#include "graph/graph.h"
#include "recipe/recipe_read.h"

#include <math.h>

/* ---- what a type has ---- */

#define BIT(role) (1u << (role))
#define ROTATION  (BIT(CT__ROLE_YAW) | BIT(CT__ROLE_QUATERNION) | BIT(CT__ROLE_ROTATION_VECTOR) | BIT(CT__ROLE_EULER))
#define POSE      (BIT(CT__ROLE_POSITION) | ROTATION | BIT(CT__ROLE_MATRIX))
#define MOTION    (BIT(CT__ROLE_INCREMENT) | BIT(CT__ROLE_WHEELS))
#define RATES     (BIT(CT__ROLE_VELOCITY) | BIT(CT__ROLE_ANGULAR_VELOCITY))
#define TARGET    (BIT(CT__ROLE_ID) | BIT(CT__ROLE_TO_BODY))
#define ANGLES    (BIT(CT__ROLE_BEARING) | BIT(CT__ROLE_ELEVATION) | BIT(CT__ROLE_DIRECTION))

/* Roles that a type may have, and rows of its noise model in SE2 and SE3; 0: the type does not exist there. */
static const struct {
    unsigned roles;
    int rows[2];
} TYPE[CT__SENSOR_COUNT] = {
    [CT__SENSOR_ODOMETRY] = {POSE | RATES | MOTION, {3, 6}},
    [CT__SENSOR_VELOCITY] = {RATES, {3, 6}},
    [CT__SENSOR_TURN_RATE] = {BIT(CT__ROLE_RATE) | BIT(CT__ROLE_YAW), {1, 3}},
    [CT__SENSOR_POSE] = {POSE | BIT(CT__ROLE_GEODETIC), {3, 6}},
    [CT__SENSOR_POSITION] = {BIT(CT__ROLE_POSITION), {2, 3}},
    [CT__SENSOR_GEODETIC] = {BIT(CT__ROLE_GEODETIC), {2, 3}},
    [CT__SENSOR_HEADING] = {ROTATION, {1, 1}},
    [CT__SENSOR_HEIGHT] = {BIT(CT__ROLE_HEIGHT), {0, 1}},
    [CT__SENSOR_RANGE] = {BIT(CT__ROLE_RANGE) | TARGET, {1, 1}},
    [CT__SENSOR_BEARING] = {ANGLES | TARGET, {1, 2}},
    [CT__SENSOR_RANGE_BEARING] = {BIT(CT__ROLE_RANGE) | ANGLES | TARGET, {2, 3}},
    [CT__SENSOR_POINT] = {BIT(CT__ROLE_POINT) | TARGET, {2, 3}},
    [CT__SENSOR_RELATIVE_POSE] = {POSE | BIT(CT__ROLE_FROM) | BIT(CT__ROLE_TO), {3, 6}},
    [CT__SENSOR_PIXEL] = {BIT(CT__ROLE_PIXEL) | TARGET, {0, 2}},
    [CT__SENSOR_STEREO] = {BIT(CT__ROLE_PIXEL) | TARGET, {0, 4}},
};

/* Keys of some types only. */
static const struct {
    const char *key;
    unsigned types;
} SPECIAL[] = {
#define TYPES_WITH_TARGET                                                                                              \
    (BIT(CT__SENSOR_RANGE) | BIT(CT__SENSOR_BEARING) | BIT(CT__SENSOR_RANGE_BEARING) | BIT(CT__SENSOR_POINT) |         \
     BIT(CT__SENSOR_PIXEL) | BIT(CT__SENSOR_STEREO))
    {"index", BIT(CT__SENSOR_RELATIVE_POSE)}, {"intrinsics", BIT(CT__SENSOR_PIXEL) | BIT(CT__SENSOR_STEREO)},
    {"origin", BIT(CT__SENSOR_GEODETIC) | BIT(CT__SENSOR_POSE)}, {"landmarks", TYPES_WITH_TARGET},
    {"target_mount", TYPES_WITH_TARGET},      {"ids", TYPES_WITH_TARGET},
    {"track", BIT(CT__SENSOR_ODOMETRY)},      {"wrap", BIT(CT__SENSOR_ODOMETRY)},
    {"turn", BIT(CT__SENSOR_ODOMETRY)},       {"mount", ~BIT(CT__SENSOR_TURN_RATE)},
    {"noise", ~BIT(CT__SENSOR_TURN_RATE)},    {"regime", ~BIT(CT__SENSOR_TURN_RATE)},
    {"regimes", ~BIT(CT__SENSOR_TURN_RATE)},  {"features", ~BIT(CT__SENSOR_TURN_RATE)},
    {"attach", ~BIT(CT__SENSOR_TURN_RATE)},   {"tolerance", ~BIT(CT__SENSOR_TURN_RATE)},
    {"inverse", BIT(CT__SENSOR_ODOMETRY) | BIT(CT__SENSOR_POSE) | BIT(CT__SENSOR_RELATIVE_POSE)},
};

#define X(constant, key, least, most) key,
static const char *const ROLE_KEY[] = {CT__ROLE_LIST(X)};
#undef X
#define X(constant, name) name,
static const char *const TYPE_NAME[] = {CT__SENSOR_LIST(X)};
#undef X

static const char *kind_name(const ct__recipe_reader *r) { return r->recipe->states.kind == CT_SE3 ? "SE3" : "SE2"; }
static int in_space(const ct__recipe_reader *r) { return r->recipe->states.kind == CT_SE3; }

int ct__sensor_rows(ct__sensor_type type, ct_kind kind) { return TYPE[type].rows[kind == CT_SE3]; }

/* What is missing may be an unknown key, which has been reported. */
static int has_unknown_key(const ct__node *map)
{
    const int truth = map->parent && !map->parent->parent; /* sensors lie deeper */
    for (const ct__node *n = map->first; n; n = n->next)
        if (!ct__key_find(truth ? CT__SECTION_TRUTH : CT__SECTION_SENSOR, n->key)) return 1;
    return 0;
}

/* The mapping is still usable. */
static void missing(ct__recipe_reader *r, ct__node *map, const char *sentence)
{
    if (has_unknown_key(map)) return;
    ct__mistake(&r->base, map, "%s", sentence);
    map->bad = 0;
}

static int has(const ct__node *map, ct__role role) { return ct__node_member(map, ROLE_KEY[role]) != NULL; }

/* The member has this many values, or it is a mistake. */
static void want_count(ct__recipe_reader *r, const ct__node *map, const char *key, int a, int b, const char *what)
{
    ct__node *n = ct__sound(map, key);
    if (!n) return;
    const int count = n->type == CT__NODE_SCALAR ? 1 : n->count;
    if (count != a && count != b)
        ct__mistake(&r->base, n, "in %s expected %s; found %d value%s", kind_name(r), what, count,
                    count == 1 ? "" : "s");
}

/* ---- poses ---- */

static ct__node *first_rotation(const ct__node *map)
{
    for (int role = 0; role < CT__ROLE_COUNT; role++)
        if ((ROTATION & BIT(role)) && has(map, (ct__role)role)) return ct__node_member(map, ROLE_KEY[role]);
    return NULL;
}

static void check_rotation(ct__recipe_reader *r, ct__node *map)
{
    ct__node *first = first_rotation(map);
    for (int role = 0; role < CT__ROLE_COUNT; role++) {
        ct__node *n = ct__node_member(map, ROLE_KEY[role]);
        if (!(ROTATION & BIT(role)) || !n || n == first) continue;
        ct__mistake(&r->base, n, "contradicts %s in line %d: a pose has one rotation", first->key, first->line);
    }
}

/* rotation 0: it may be absent, 1: required. */
static void check_pose(ct__recipe_reader *r, ct__node *map, int rotation)
{
    ct__node *matrix = ct__node_member(map, "matrix"), *first = first_rotation(map);
    ct__node *position = ct__node_member(map, "position"), *geodetic = ct__node_member(map, "geodetic");
    if (matrix) {
        ct__node *other = position ? position : geodetic ? geodetic : first;
        if (other) ct__mistake(&r->base, other, "contradicts matrix in line %d, which is the whole pose", matrix->line);
        return;
    }
    if (position && geodetic) ct__mistake(&r->base, geodetic, "contradicts position in line %d", position->line);
    if (!position && !geodetic) missing(r, map, "position is missing (or matrix: 3 x 4 numbers)");
    if (!geodetic && ct__node_member(map, "origin"))
        ct__mistake(&r->base, ct__node_member(map, "origin"), "is of geodetic: latitude, longitude and height");
    if (!first && rotation)
        missing(r, map,
                in_space(r) ? "a rotation is missing: quaternion, rotation_vector or euler (or matrix)"
                            : "a rotation is missing: yaw, quaternion, rotation_vector or euler (or matrix)");
    check_rotation(r, map);
    if (!in_space(r)) return;
    want_count(r, map, "position", 3, 3, "x, y, z");
    want_count(r, map, "geodetic", 3, 3, "latitude, longitude, height");
    if (first && !strcmp(first->key, "yaw"))
        ct__mistake(&r->base, first,
                    "is a rotation in the plane; in SE3 write quaternion, rotation_vector or euler: [0, 0, %.40s]",
                    first->type == CT__NODE_SCALAR ? first->text : "yaw");
}

/* A pose or position of numbers: SE2 x y or x y yaw, SE3 x y z or x y z and a unit quaternion. */
static void check_placement(ct__recipe_reader *r, const ct__node *map, const char *key, int pose_only)
{
    ct__node *n = ct__sound(map, key);
    ct__numbers v;
    if (!n) return;
    if (in_space(r))
        want_count(r, map, key, 7, pose_only ? 7 : 3,
                   pose_only ? "x, y, z, qx, qy, qz, qw" : "x, y, z or x, y, z, qx, qy, qz, qw");
    else
        want_count(r, map, key, 3, pose_only ? 3 : 2, pose_only ? "x, y, yaw" : "x, y or x, y, yaw");
    ct__node_numbers(n, &v);
    if (n->bad || v.count != 7) return;
    const double norm =
        sqrt(v.value[3] * v.value[3] + v.value[4] * v.value[4] + v.value[5] * v.value[5] + v.value[6] * v.value[6]);
    if (fabs(norm - 1) > 0.01) ct__mistake(&r->base, n, "the quaternion qx, qy, qz, qw has the norm %.4g, not 1", norm);
}

/* ---- the truth ---- */

static void check_known(ct__recipe_reader *r, const ct__node *map)
{
    ct__node *n = ct__sound(map, "known");
    const char *words = in_space(r) ? "rx ry rz x y z" : "x y yaw";
    if (!n) return;
    if (n->type == CT__NODE_SCALAR && ct__word_find(words, n->text) < 0)
        ct__mistake(&r->base, n, "expected coordinates of %s: %s; found \"%.40s\"", kind_name(r), words, n->text);
    for (ct__node *i = n->first; i; i = i->next)
        if (ct__word_find(words, i->text) < 0)
            ct__mistake(&r->base, i, "expected coordinates of %s: %s; found \"%.40s\"", kind_name(r), words, i->text);
}

void ct__check_truth(ct__recipe_reader *r, ct__node *node, ct__recipe_truth *truth)
{
    ct__node *inverse = ct__sound(node, "inverse");
    if (truth->inverse && inverse && !first_rotation(node) && !ct__node_member(node, "matrix"))
        ct__mistake(&r->base, inverse, "the inverse of a pose needs its rotation, and the truth has a position alone");
    check_rotation(r, node);
    if (r->any_kind) return; /* also of sequences: the graphs say which kind of pose it is */
    check_pose(r, node, 0);
    check_placement(r, node, "mount", 0);
    check_placement(r, node, "frame", 1);
    check_known(r, node);
}

/* ---- sensors ---- */

static void check_wheel_keys(ct__recipe_reader *r, const ct__node *map, const ct__node *wheels)
{
    static const char *const keys[] = {"track", "wrap"};
    for (int i = 0; i < 2; i++) {
        ct__node *n = ct__node_member(map, keys[i]);
        if (n && !wheels) ct__mistake(&r->base, n, "is of wheels: [left, right], which this odometry does not have");
    }
}

/* Numbers of values of an odometry: with a sensor of its turns, those of the displacement alone. */
static void check_values(ct__recipe_reader *r, ct__node *map, const ct__node *turn)
{
    ct__node *angular = ct__node_member(map, "angular_velocity"), *track = ct__node_member(map, "track");
    if (turn && angular)
        ct__mistake(&r->base, angular, "contradicts turn in line %d: the turn rate is there twice", turn->line);
    if (turn && track)
        ct__mistake(&r->base, track, "contradicts turn in line %d: what the wheels say of turns is not used",
                    turn->line);
    if (turn && in_space(r)) {
        want_count(r, map, "velocity", 3, 3, "vx, vy, vz beside turn");
        want_count(r, map, "increment", 3, 3, "dx, dy, dz beside turn");
    } else if (turn) {
        want_count(r, map, "velocity", 2, 2, "vx, vy beside turn, which has the turn rate");
        want_count(r, map, "increment", 2, 2, "dx, dy beside turn, which has the turn rate");
    } else if (in_space(r)) {
        want_count(r, map, "increment", 7, 7, "x, y, z, qx, qy, qz, qw");
    } else {
        want_count(r, map, "increment", 3, 3, "dx, dy, dyaw");
        want_count(r, map, "velocity", 3, 3,
                   "vx, vy, omega (or turn: the name of a sensor of type turn_rate, where another source has omega)");
    }
}

static void check_odometry(ct__recipe_reader *r, ct__node *map)
{
    ct__node *ways[] = {ct__node_member(map, "velocity"), ct__node_member(map, "increment"),
                        ct__node_member(map, "wheels"), first_rotation(map)};
    ct__node *way = NULL, *wheels = ways[2];
    if (!ways[3]) ways[3] = ct__node_member(map, "position");
    if (!ways[3]) ways[3] = ct__node_member(map, "matrix");
    for (int i = 0; i < 4; i++) {
        if (way && ways[i])
            ct__mistake(&r->base, ways[i],
                        "contradicts %s in line %d: odometry is velocities, increments, wheels or poses", way->key,
                        way->line);
        if (!way) way = ways[i];
    }
    ct__node *inverse = ways[0] || wheels ? ct__node_member(map, "inverse") : NULL;
    if (inverse)
        ct__mistake(&r->base, inverse, "is of poses and increments; the sign of velocities is in their expressions");
    if (!way)
        missing(r, map,
                "what the odometry measures is missing: velocity, increment, wheels, or position and a rotation");
    else if (way == ways[3])
        check_pose(r, map, 1);
    ct__node *turn = ct__node_member(map, "turn");
    if (turn && way && way == ways[3])
        ct__mistake(&r->base, turn, "contradicts %s in line %d: poses have their turns", way->key, way->line);
    if (wheels && !turn && !ct__node_member(map, "track"))
        missing(r, map, "track is missing: the distance between the wheels, m");
    check_wheel_keys(r, map, wheels);
    check_values(r, map, turn);
}

static void check_turn_rate(ct__recipe_reader *r, ct__node *map)
{
    ct__node *rate = ct__node_member(map, "rate"), *yaw = ct__node_member(map, "yaw");
    if (!rate && !yaw) missing(r, map, "what it measures is missing: rate, or yaw, whose changes are the turns");
    if (rate && yaw) ct__mistake(&r->base, yaw, "contradicts rate in line %d", rate->line);
    if (yaw && in_space(r)) ct__mistake(&r->base, yaw, "is a rotation in the plane; in SE3 write rate: [wx, wy, wz]");
    if (in_space(r))
        want_count(r, map, "rate", 3, 3, "wx, wy, wz");
    else
        want_count(r, map, "rate", 1, 1, "the turn rate about z");
}

static void check_rates(ct__recipe_reader *r, ct__node *map)
{
    ct__node *velocity = ct__node_member(map, "velocity"), *angular = ct__node_member(map, "angular_velocity");
    if (velocity && in_space(r) && !angular && !ct__node_member(map, "turn"))
        missing(r, map, "angular_velocity is missing: wx, wy, wz, which SE3 needs beside velocity");
    if (angular && !in_space(r))
        ct__mistake(&r->base, angular, "is of SE3; in SE2 the third value of velocity is omega");
    else if (angular && !velocity)
        missing(r, map, "velocity is missing: vx, vy, vz");
}

static void check_angles(ct__recipe_reader *r, ct__node *map)
{
    ct__node *bearing = ct__node_member(map, "bearing"), *direction = ct__node_member(map, "direction");
    ct__node *elevation = ct__node_member(map, "elevation");
    if (bearing && direction) ct__mistake(&r->base, direction, "contradicts bearing in line %d", bearing->line);
    if (!bearing && !direction)
        missing(r, map,
                in_space(r) ? "bearing is missing (with elevation; or direction: [x, y, z])" : "bearing is missing");
    if (!in_space(r) && elevation) ct__mistake(&r->base, elevation, "is of SE3, and the states are SE2");
    if (in_space(r) && bearing && !direction && !elevation)
        missing(r, map, "elevation is missing, which SE3 needs beside bearing");
}

static void check_target(ct__recipe_reader *r, ct__node *map)
{
    ct__node *landmarks = ct__node_member(map, "landmarks"), *id = ct__node_member(map, "id");
    ct__node *body = ct__node_member(map, "to_body"), *ids = ct__node_member(map, "ids");
    ct__node *mount = ct__node_member(map, "target_mount");
    if (body && (landmarks || id))
        ct__mistake(&r->base, body, "contradicts %s: a target is a landmark or a body", landmarks ? "landmarks" : "id");
    if (!body && !landmarks) missing(r, map, "the target is missing: landmarks and id, or to_body");
    if (landmarks && !id && !body) missing(r, map, "id is missing: the field with the landmark's name");
    if (!body && ids) ct__mistake(&r->base, ids, "is of to_body; the table of landmarks is written with the landmarks");
    if (!body && mount) ct__mistake(&r->base, mount, "is of to_body: a landmark is a point");
    if (body && !r->recipe->bodies)
        ct__mistake(&r->base, body,
                    "the recipe has one body a recording; bodies names the part of the files that tells them apart");
    check_placement(r, map, "target_mount", 0);
}

static void check_camera(ct__recipe_reader *r, ct__node *map, int stereo)
{
    want_count(r, map, "pixel", stereo ? 4 : 2, stereo ? 4 : 2, stereo ? "u_left, v_left, u_right, v_right" : "u, v");
    want_count(r, map, "intrinsics", stereo ? 5 : 4, stereo ? 5 : 4,
               stereo ? "fu, fv, cu, cv, baseline" : "fu, fv, cu, cv");
    if (!ct__node_member(map, "pixel")) missing(r, map, "pixel is missing");
    if (!ct__node_member(map, "intrinsics")) missing(r, map, "intrinsics is missing: fu, fv, cu, cv");
}

static void want(ct__recipe_reader *r, ct__node *map, ct__role role)
{
    char sentence[64];
    snprintf(sentence, sizeof sentence, "%s is missing", ROLE_KEY[role]);
    if (!has(map, role)) missing(r, map, sentence);
}

static void check_fields(ct__recipe_reader *r, ct__node *map, ct__sensor_type type)
{
    switch (type) {
    case CT__SENSOR_ODOMETRY: check_odometry(r, map), check_rates(r, map); break;
    case CT__SENSOR_VELOCITY:
        want(r, map, CT__ROLE_VELOCITY), check_rates(r, map);
        want_count(r, map, "velocity", 3, 3, in_space(r) ? "vx, vy, vz" : "vx, vy, omega");
        break;
    case CT__SENSOR_TURN_RATE: check_turn_rate(r, map); break;
    case CT__SENSOR_POSE: check_pose(r, map, 1); break;
    case CT__SENSOR_POSITION: want(r, map, CT__ROLE_POSITION); break;
    case CT__SENSOR_GEODETIC: want(r, map, CT__ROLE_GEODETIC); break;
    case CT__SENSOR_HEADING:
        if (!first_rotation(map)) want(r, map, CT__ROLE_YAW);
        check_rotation(r, map);
        break;
    case CT__SENSOR_HEIGHT: want(r, map, CT__ROLE_HEIGHT); break;
    case CT__SENSOR_RANGE: want(r, map, CT__ROLE_RANGE); break;
    case CT__SENSOR_BEARING: check_angles(r, map); break;
    case CT__SENSOR_RANGE_BEARING: want(r, map, CT__ROLE_RANGE), check_angles(r, map); break;
    case CT__SENSOR_POINT: want(r, map, CT__ROLE_POINT); break;
    case CT__SENSOR_RELATIVE_POSE:
        check_pose(r, map, 1);
        want(r, map, CT__ROLE_FROM);
        want(r, map, CT__ROLE_TO);
        break;
    case CT__SENSOR_PIXEL:
    case CT__SENSOR_STEREO: check_camera(r, map, type == CT__SENSOR_STEREO); break;
    case CT__SENSOR_COUNT: break;
    }
    if (type == CT__SENSOR_POSITION || type == CT__SENSOR_GEODETIC || type == CT__SENSOR_POINT) {
        const char *key = type == CT__SENSOR_POINT ? "point" : type == CT__SENSOR_POSITION ? "position" : "geodetic";
        if (in_space(r)) want_count(r, map, key, 3, 3, "three values");
    }
    if (TYPE[type].roles & TARGET) check_target(r, map);
}

/* Keys that are there and are not of this type. */
static void check_strays(ct__recipe_reader *r, ct__node *map, ct__sensor_type type)
{
    for (int role = 0; role < CT__ROLE_COUNT; role++) {
        ct__node *n = ct__node_member(map, ROLE_KEY[role]);
        if (!n || role == CT__ROLE_REGIME || (TYPE[type].roles & BIT(role))) continue;
        ct__mistake(&r->base, n, "is no field of the type %s", TYPE_NAME[type]);
    }
    for (size_t i = 0; i < sizeof SPECIAL / sizeof *SPECIAL; i++) {
        ct__node *n = ct__node_member(map, SPECIAL[i].key);
        if (n && !(SPECIAL[i].types & BIT(type))) ct__mistake(&r->base, n, "is no key of the type %s", TYPE_NAME[type]);
    }
}

/* ---- noise ---- */

static void check_model_name(ct__recipe_reader *r, ct__node *n)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-@";
    if (n && (n->text[strspn(n->text, PLAIN)] || strlen(n->text) > 120 || n->text[0] == '@'))
        ct__mistake(&r->base, n, "a noise model's name has letters, digits and _ . - @, 120 at most; found \"%.60s\"",
                    n->text);
}

static void read_noise(ct__recipe_reader *r, ct__node *map, ct__recipe_sensor *s)
{
    ct__node *noise = ct__sound(map, "noise"), *sigma = ct__node_member(noise, "sigma");
    ct__node *variance = ct__node_member(noise, "variance"), *numbers = ct__sound(noise, sigma ? "sigma" : "variance");
    ct__node *kernel = ct__sound(noise, "kernel"), *per = ct__sound(noise, "per");
    const int rows = ct__sensor_rows(s->type, r->recipe->states.kind);
    char why[160];
    if (!s->noise.model) s->noise.model = s->name;
    if (sigma && variance) ct__mistake(&r->base, variance, "contradicts sigma in line %d", sigma->line);
    check_model_name(r, ct__sound(noise, "model"));
    if (kernel) ct__node_kernel(kernel, &s->noise.robust, why);
    s->noise.width = s->noise.robust.width;
    if (per && s->noise.per != CT__PER_STEP && s->type != CT__SENSOR_ODOMETRY)
        ct__mistake(&r->base, per, "a variance grows with duration or distance of odometry alone, and the type is %s",
                    TYPE_NAME[s->type]);
    if (!numbers) return;
    ct__node_numbers(numbers, &s->noise.variance);
    if (s->noise.variance.count != 1 && s->noise.variance.count != rows && rows)
        ct__mistake(&r->base, numbers, "%s has %d row%s in %s: expected one number%s; found %d", TYPE_NAME[s->type],
                    rows,
                    rows == 1 ? "" : "s", kind_name(r), rows == 1 ? "" : ", or one a row", s->noise.variance.count);
    if (s->noise.kind == CT_NOISE_ISOTROPIC && s->noise.variance.count > 1)
        ct__mistake(&r->base, numbers, "an isotropic covariance has one number; found %d", s->noise.variance.count);
    for (int i = 0; sigma && i < s->noise.variance.count; i++) s->noise.variance.value[i] *= s->noise.variance.value[i];
}

/* Sensors that share a model have the same rows, and do not contradict each other. */
static void check_shared(ct__recipe_reader *r, ct__node *map, const ct__recipe_sensor *s)
{
    const ct_kind kind = r->recipe->states.kind;
    for (const ct__recipe_sensor *o = r->recipe->sensor; o < s; o++) {
        ct__node *n = ct__node_member(ct__node_member(map, "noise"), "model");
        if (!n) n = map;
        if (strcmp(o->noise.model, s->noise.model)) continue;
        if (ct__sensor_rows(o->type, kind) != ct__sensor_rows(s->type, kind))
            ct__mistake(&r->base, n,
                        "the noise model %s is that of %s in line %d, which has %d rows; this sensor has %d",
                        s->noise.model, o->name, o->line, ct__sensor_rows(o->type, kind),
                        ct__sensor_rows(s->type, kind));
        else if (o->noise.variance.count && s->noise.variance.count)
            ct__mistake(&r->base, n, "the noise model %s has its sigma in line %d already, with %s", s->noise.model,
                        o->noise.variance.line, o->name);
        return;
    }
}

/* ---- intervals ---- */

static void read_intervals(ct__recipe_reader *r, ct__node *map, ct__recipe_sensor *s)
{
    ct__node *list = ct__sound(map, "regimes");
    if (!list) return;
    if (ct__node_member(map, "regime")) ct__mistake(&r->base, list, "contradicts regime: a sensor has one of the two");
    if (!(s->interval = ct__schema_alloc(&r->base, list->count, sizeof *s->interval))) return;
    for (ct__node *n = list->first; n; n = n->next) {
        ct__recipe_interval *i = &s->interval[s->intervals++];
        if (n->type != CT__NODE_MAP) continue;
        ct__fill(&r->base, n, CT__SECTION_INTERVAL, i);
        ct__node *to = ct__sound(n, "to");
        if (to && ct__sound(n, "from") && i->to_s <= i->from_s)
            ct__mistake(&r->base, to, "expected a number above from, %g; found %.30s", i->from_s, to->text);
        check_model_name(r, ct__sound(n, "name"));
    }
}

/* ---- features ---- */

static void check_feature_name(ct__recipe_reader *r, ct__node *at, const char *name, const ct__recipe_sensor *s)
{
    const char *why = ct__feature_name_invalid(name);
    if (why) ct__mistake(&r->base, at, "the feature's name %s", why);
    for (int32_t i = 0; i < s->features; i++)
        if (!strcmp(s->feature[i].name, name)) ct__mistake(&r->base, at, "the feature %s is there twice", name);
}

static void read_features(ct__recipe_reader *r, ct__node *map, ct__recipe_sensor *s)
{
    ct__node *list = ct__sound(map, "features"), *motion = ct__sound(map, "motion_features");
    const int moves = s->type == CT__SENSOR_ODOMETRY || s->type == CT__SENSOR_VELOCITY;
    if (list && list->count + s->motion_features.count > CT__SENSOR_FEATURES_MAX)
        ct__mistake(&r->base, list, "a sensor has at most %d features", CT__SENSOR_FEATURES_MAX);
    else if (list && (s->feature = ct__schema_alloc(&r->base, list->count, sizeof *s->feature)))
        for (ct__node *n = list->first; n; n = n->next) {
            check_feature_name(r, n, n->key, s);
            s->feature[s->features++] = (ct__recipe_feature){n->key, {n->text, n->line}};
        }
    if (motion && !moves) ct__mistake(&r->base, motion, "is of odometry and velocity");
    for (int32_t i = 0; motion && moves && i < s->motion_features.count; i++) {
        const char *name = s->motion_features.item[i].text;
        if (ct__word_find(CT__MOTION_FEATURES, name) < 0)
            ct__mistake(&r->base, motion, "expected speed, turn_rate or duration; found \"%.40s\"", name);
        for (int32_t k = 0; k < i; k++)
            if (!strcmp(s->motion_features.item[k].text, name))
                ct__mistake(&r->base, motion, "the feature %s is there twice", name);
        check_feature_name(r, motion, name, s);
    }
}

/* ---- all ---- */

static const char *landmarks_at(const void *recipe, int i)
{
    const ct_recipe *p = recipe;
    return i < p->landmarks ? p->landmark[i].name : NULL;
}

static int32_t landmarks_of(ct__recipe_reader *r, const ct__node *map)
{
    ct__node *n = ct__sound(map, "landmarks");
    if (!n) return -1;
    for (int i = 0; landmarks_at(r->recipe, i); i++)
        if (!strcmp(landmarks_at(r->recipe, i), n->text)) return i;
    const char *near = ct_nearest(n->text, landmarks_at, r->recipe);
    ct__mistake(&r->base, n, "there are no landmarks %.60s in the recipe%s%s%s", n->text, near ? "; did you mean " : "",
                near ? near : "", near ? "?" : "");
    return -1;
}

void ct__check_sensor(ct__recipe_reader *r, ct__node *node, ct__recipe_sensor *s)
{
    ct__node *body = ct__sound(node, "body"), *type = ct__sound(node, "type");
    s->source = ct__read_source_name(r, node, "source");
    s->landmarks = landmarks_of(r, node);
    ct__read_ids(r, node, &s->ids);
    if (body && !r->recipe->bodies)
        ct__mistake(&r->base, body, "the recipe has one body a recording, and no key bodies");
    if (!type || r->any_kind) return; /* what belongs to it is unknown */
    if (!TYPE[s->type].rows[in_space(r)]) {
        ct__mistake(&r->base, type, "%s needs states of type SE3", type->text);
        return;
    }
    check_fields(r, node, s->type);
    check_strays(r, node, s->type);
    check_placement(r, node, "mount", 0);
    read_noise(r, node, s);
    check_shared(r, node, s);
}

static const char *sensor_at(const void *recipe, int i)
{
    const ct_recipe *p = recipe;
    return i < p->sensors ? p->sensor[i].name : NULL;
}

/* The sensors of turns that odometries name, which may stand behind them; and those that none names. */
static void read_turns(ct__recipe_reader *r, ct__node *items)
{
    ct_recipe *p = r->recipe;
    int32_t    i = 0;
    for (ct__node *n = items->first; n && i < p->sensors; n = n->next, i++) {
        ct__node *turn = p->sensor[i].type == CT__SENSOR_ODOMETRY ? ct__sound(n, "turn") : NULL;
        for (int32_t k = 0; turn && k < p->sensors; k++)
            if (!strcmp(p->sensor[k].name, turn->text)) p->sensor[i].turn = k;
        if (!turn) continue;
        const char *near = ct_nearest(turn->text, sensor_at, p);
        if (p->sensor[i].turn < 0)
            ct__mistake(&r->base, turn, "there is no sensor %.60s%s%s%s", turn->text, near ? "; did you mean " : "",
                        near ? near : "", near ? "?" : "");
        else if (p->sensor[p->sensor[i].turn].type != CT__SENSOR_TURN_RATE)
            ct__mistake(&r->base, turn, "expected a sensor of type turn_rate; %.60s in line %d is of type %s",
                        turn->text, p->sensor[p->sensor[i].turn].line, TYPE_NAME[p->sensor[p->sensor[i].turn].type]);
    }
    i = 0;
    for (ct__node *n = items->first; n && i < p->sensors; n = n->next, i++) {
        int used = p->sensor[i].type != CT__SENSOR_TURN_RATE || !ct__sound(n, "type");
        for (int32_t k = 0; k < p->sensors; k++) used |= p->sensor[k].turn == i;
        if (!used) ct__mistake(&r->base, n, "no odometry has turns from it: `turn: %.60s` in one of them", n->key);
    }
}

void ct__read_sensors(ct__recipe_reader *r, ct__node *items)
{
    ct_recipe *p = r->recipe;
    if (!items || !(p->sensor = ct__schema_alloc(&r->base, items->count, sizeof *p->sensor))) return;
    for (ct__node *n = items->first; n && r->base.status == CT_OK; n = n->next) {
        ct__recipe_sensor *s = &p->sensor[p->sensors++];
        *s = (ct__recipe_sensor){.name = n->key, .line = n->line, .source = -1, .landmarks = -1, .tolerance_s = NAN};
        s->turn = -1;
        s->every = 1;
        s->ids.source = -1;
        s->noise = (ct__recipe_noise){.model = n->key, .kind = CT_NOISE_DIAGONAL, .learn = 1};
        s->noise.robust.kind = CT_ROBUST_NONE;
        ct__check_item_name(r, n);
        if (ct__word_find("truth all none", n->key) >= 0) /* of corrections and of --robust */
            ct__mistake(&r->base, n, "%s is no name of a sensor: it has a meaning of its own", n->key);
        if (n->type != CT__NODE_MAP) continue;
        ct__fill(&r->base, n, CT__SECTION_SENSOR, s);
        ct__check_sensor(r, n, s);
        read_intervals(r, n, s);
        read_features(r, n, s);
    }
    if (r->base.status == CT_OK && !r->any_kind) read_turns(r, items);
}
