/* recipe_schema.c: the table of keys. docs/import.md is the manual; a test compares the two. */
#include "recipe/recipe_schema.h"
#include "schema/rows.h"

#include <math.h>

#define HUGE_S   1e12 /* s: longer than any recording */
#define METRES   1e9  /* m: beyond the orbit of the moon */

#define X(constant, name, description) name " "
static const char FORMATS[] = CT_SOURCE_FORMAT_LIST(X);
#undef X
#define X(constant, name) name " "
static const char TYPES[] = CT__SENSOR_LIST(X);
#undef X
#define X(constant, name, ending, description) name " "
static const char GRAPHS[] = CT_FORMAT_LIST(X);
#undef X

#define ROLE(s, type, k, which, least, most, text) \
    ROW_TEXTS(s, k, TEXT, AT(type, role[0]) + (which) * sizeof(ct__list), least, most, "none", text)

const ct__key ct__recipe_keys[] = {
#define S CT__SECTION_TOP
#define T struct ct_recipe
    ROW_OWN(S, "format", CT__FORM_CHOICE | REQUIRED, 0, 0, 0, 0, "covtune-recipe", CT__SECTION_NONE, NULL,
            "what this file is: covtune-recipe"),
    ROW_OWN(S, "version", CT__FORM_INTEGER | REQUIRED, 1, 1, 0, 0, NULL, CT__SECTION_NONE, NULL,
            "version of the format: 1"),
    ROW_NAME(S, "folder", 0, "the recipe's folder", "where the files are, relative to the recipe; --data overrides it"),
    ROW_TEXT(S, "recording", 0, AT(T, recording), "the named parts, joined by -; without parts the recipe's name",
             "name of a recording, with named parts: robot{robot}"),
    ROW_TEXT(S, "bodies", 0, AT(T, bodies), "one body a recording",
             "named part that tells bodies of one recording apart"),
    ROW_OWN(S, "sources", CT__FORM_ITEMS | CT__SHORT, 0, 0, 0, 0, NULL, CT__SECTION_SOURCE, "none",
            "records with fields, from tables or bags, by name; or the pattern of the files alone"),
    ROW_SECTION(S, "states", 0, AT(T, states), CT__SECTION_STATES, "none", "which poses are estimated"),
    ROW_OWN(S, "landmarks", CT__FORM_ITEMS, 0, 0, 0, 0, NULL, CT__SECTION_LANDMARKS, "none", "points, by name"),
    ROW_OWN(S, "sensors", CT__FORM_ITEMS, 0, 0, 0, 0, NULL, CT__SECTION_SENSOR, "none",
            "what is measured, by name of the noise model"),
    ROW_SECTION(S, "truth", 0, AT(T, truth), CT__SECTION_TRUTH, "none", "the true poses"),
    ROW_OWN(S, "anchor", CT__FORM_SECTION | CT__FORM_CHOICE, 0, 0, 0, 0, "auto none", CT__SECTION_ANCHOR, "auto",
            "what fixes the first pose of a sequence"),
    ROW_OWN(S, "corrections", CT__FORM_LIST | CT__FORM_CHOICE, 0, 0, 0, 0, "doctor", CT__SECTION_CORRECTION, "none",
            "errors that no covariance describes; doctor: import finds them"),
    ROW_SECTION(S, "sequences", 0, AT(T, sequences), CT__SECTION_SEQUENCES, "none",
                "files that are graphs already, instead of states and sensors"),
    ROW_SECTION(S, "split", 0, AT(T, split), CT__SECTION_SPLIT, "test: 1/3", "which recordings are for testing"),
#undef S
#undef T
#define S CT__SECTION_SOURCE
#define T ct__recipe_source
    ROW_TEXTS(S, "files", TEXT | REQUIRED, AT(T, files), 1, 1000, NULL,
              "pattern or list of patterns: *, ?, and named parts {robot}"),
    ROW_CHOICE(S, "format", 0, AT(T, format), FORMATS, "by content", "format of the files"),
    ROW_TEXT(S, "separator", 0, AT(T, separator), "guessed", "of columns of a table: one character, or blank"),
    ROW_BOOL(S, "header", AT(T, header), "guessed", "whether the first line of a table has the names of its columns"),
    ROW_TEXTS(S, "columns", TEXT, AT(T, columns), 1, 100000, "the header's",
              "names of the columns of a table, in order"),
    ROW_TEXT(S, "comment", CT__FORM_EMPTY, AT(T, comment), "#", "lines of a table that begin so are skipped"),
    ROW_TEXTS(S, "missing", TEXT, AT(T, missing), 1, 100, "empty, nan, NA", "words that stand for a missing value"),
    ROW_INTEGER(S, "skip", AT(T, skip), 0, 1e9, "0", "lines to skip at the beginning of a table"),
    ROW_TEXT(S, "topic", 0, AT(T, topic), "the only one", "topic of a bag"),
    ROW_TEXT(S, "each", 0, AT(T, each), "the message is the record",
             "array in a message whose elements are the records"),
    ROW_TEXT(S, "time", 0, AT(T, time), "header.stamp; the column t, time, timestamp or stamp; the record's number",
             "expression of the stamp, in s"),
    ROW_TEXT(S, "where", 0, AT(T, where), "all", "condition; other records are left out"),
#undef S
#undef T
#define S CT__SECTION_STATES
#define T ct__recipe_states
    ROW_OWN(S, "type", CT__FORM_CHOICE | REQUIRED, 0, 0, 0, 0, "SE2 SE3", CT__SECTION_NONE, NULL,
            "poses in the plane or in space"),
    ROW_NUMBER(S, "every", CT__OPEN_LOW, AT(T, every_s), 0, HUGE_S, "none", "seconds between states"),
    ROW_NAME(S, "at", 0, "none", "name of a sensor, or truth: a state at each of its stamps"),
    ROW_NUMBER(S, "distance", CT__OPEN_LOW, AT(T, distance_m), 0, METRES, "none", "metres of odometry between states"),
    ROW_NUMBER(S, "turn", CT__OPEN_LOW, AT(T, turn_rad), 0, 1e6, "none", "with distance: rad of odometry, likewise"),
    ROW_NUMBER(S, "from", 0, AT(T, from_s), 0, HUGE_S, "the beginning", "s after the recording's first stamp"),
    ROW_NUMBER(S, "to", CT__OPEN_LOW, AT(T, to_s), 0, HUGE_S, "the end", "s after the recording's first stamp"),
    ROW_NUMBER(S, "gap", CT__OPEN_LOW, AT(T, gap_s), 0, HUGE_S, "1",
               "s: a longer gap in the odometry ends the sequence and starts the next"),
#undef S
#undef T
#define S CT__SECTION_SENSOR
#define T ct__recipe_sensor
    ROW_CHOICE(S, "type", REQUIRED, AT(T, type), TYPES, NULL, "what it measures"),
    ROW_NAME(S, "source", REQUIRED, NULL, "name of a source"),
    ROW_TEXT(S, "where", 0, AT(T, where), "all", "condition; other records are left out"),
    ROLE(S, T, "position", CT__ROLE_POSITION, 2, 3, "of a pose, m"),
    ROLE(S, T, "yaw", CT__ROLE_YAW, 1, 1, "rotation of a pose in the plane, rad"),
    ROLE(S, T, "quaternion", CT__ROLE_QUATERNION, 4, 4, "rotation of a pose: qx, qy, qz, qw"),
    ROLE(S, T, "rotation_vector", CT__ROLE_ROTATION_VECTOR, 3, 3, "rotation of a pose: axis times angle, rad"),
    ROLE(S, T, "euler", CT__ROLE_EULER, 3, 3, "rotation of a pose: roll, pitch, yaw, rad"),
    ROLE(S, T, "matrix", CT__ROLE_MATRIX, 12, 12, "a pose: 3 x 4 numbers, row by row"),
    ROLE(S, T, "velocity", CT__ROLE_VELOCITY, 2, 3, "SE2: vx, vy, omega; SE3: vx, vy, vz; m/s, rad/s"),
    ROLE(S, T, "angular_velocity", CT__ROLE_ANGULAR_VELOCITY, 3, 3, "SE3: wx, wy, wz, rad/s"),
    ROLE(S, T, "increment", CT__ROLE_INCREMENT, 2, 7,
         "motion since the record before: dx, dy, dyaw; SE3: x, y, z, qx, qy, qz, qw"),
    ROW_NAME(S, "turn", 0, "none: its own source has them", "of odometry: the sensor that measures its turns"),
    ROLE(S, T, "rate", CT__ROLE_RATE, 1, 3, "turn rate, rad/s; SE3: wx, wy, wz"),
    ROLE(S, T, "wheels", CT__ROLE_WHEELS, 2, 2,
         "distance that the left and the right wheel have travelled so far, m: counts times metres per count"),
    ROW_NUMBER(S, "track", CT__OPEN_LOW, AT(T, track_m), 0, METRES, "none", "of wheels: distance between them, m"),
    ROW_NUMBER(S, "wrap", CT__OPEN_LOW, AT(T, wrap_m), 0, METRES, "none",
               "of wheels: distance after which their counters begin again, m"),
    ROLE(S, T, "geodetic", CT__ROLE_GEODETIC, 2, 3, "latitude, longitude in degrees, height in m"),
    ROLE(S, T, "height", CT__ROLE_HEIGHT, 1, 1, "z of the sensor in the world, m"),
    ROLE(S, T, "range", CT__ROLE_RANGE, 1, 1, "m"),
    ROLE(S, T, "bearing", CT__ROLE_BEARING, 1, 1, "rad, from the sensor's x axis towards y"),
    ROLE(S, T, "elevation", CT__ROLE_ELEVATION, 1, 1, "rad, from the sensor's xy plane towards z"),
    ROLE(S, T, "direction", CT__ROLE_DIRECTION, 3, 3, "vector towards the target, in the sensor's frame"),
    ROLE(S, T, "point", CT__ROLE_POINT, 2, 3, "the target in the sensor's frame, m"),
    ROLE(S, T, "pixel", CT__ROLE_PIXEL, 2, 4, "u, v; stereo: u_left, v_left, u_right, v_right"),
    ROW_NAME(S, "landmarks", 0, "none", "name of the landmarks that are the targets"),
    ROLE(S, T, "id", CT__ROLE_ID, 1, 1, "field with the name of the landmark"),
    ROLE(S, T, "to_body", CT__ROLE_TO_BODY, 1, 1, "field with the name of the body that is the target"),
    ROW_SECTION(S, "ids", 0, AT(T, ids), CT__SECTION_IDS, "none", "table from measured names to those of bodies"),
    ROW_NUMBERS(S, "target_mount", 0, AT(T, target_mount), -METRES, METRES, 2, 7, "the body's origin",
                "position or pose of the target on its body"),
    ROLE(S, T, "from", CT__ROLE_FROM, 1, 1, "of a relative pose: stamp in s, or number of a state"),
    ROLE(S, T, "to", CT__ROLE_TO, 1, 1, "of a relative pose: stamp in s, or number of a state"),
    ROW_BOOL(S, "index", AT(T, index), "false", "from and to are numbers of states"),
    ROW_NUMBERS(S, "intrinsics", 0, AT(T, intrinsics), -1e9, 1e9, 4, 5, "none",
                "fu, fv, cu, cv in pixels; stereo: and the baseline in m"),
    ROW_NUMBERS(S, "origin", 0, AT(T, origin), -METRES, METRES, 2, 3, "the first position of the first recording",
                "of the tangent frame: latitude, longitude in degrees, height in m"),
    ROW_NUMBERS(S, "mount", 0, AT(T, mount), -METRES, METRES, 2, 7, "the body's origin",
                "pose or position of the sensor on the body: x, y; x, y, yaw; x, y, z; x, y, z, qx, qy, qz, qw"),
    ROW_NUMBER(S, "mount_height", 0, AT(T, mount_height_m), -METRES, METRES, "0",
               "of ranges in SE2 to landmarks with z: height of the sensor where those have theirs, m"),
    ROW_CHOICE(S, "axes", 0, AT(T, axes), "body camera ned", "body", "of poses, velocities and points"),
    ROW_BOOL(S, "inverse", AT(T, inverse), "false",
             "poses are those of the world in the sensor's frame; relative ones and increments, of the earlier pose"),
    ROW_TEXT(S, "body", 0, AT(T, body), "that of the source's files", "value of the part `bodies` that carries it"),
    ROW_NUMBER(S, "tolerance", CT__OPEN_LOW, AT(T, tolerance_s), 0, HUGE_S, "half the time between states",
               "largest time between a measurement and its state, s"),
    ROW_CHOICE(S, "attach", 0, AT(T, attach), "motion nearest", "motion where there is odometry",
               "motion: with the odometry between state and measurement; nearest: to the nearest state as it is"),
    ROW_SECTION(S, "noise", 0, AT(T, noise), CT__SECTION_NOISE, "by type", "noise model"),
    ROLE(S, T, "regime", CT__ROLE_REGIME, 1, 1, "expression; a whole number K gives the model name@K"),
    ROW_OWN(S, "regimes", CT__FORM_LIST, 0, 0, 1, 1000, NULL, CT__SECTION_INTERVAL, "none",
            "intervals of the recording with models of their own, name@NAME"),
    ROW_INTEGER(S, "every", AT(T, every), 1, 1e9, "1", "use every n-th record"),
    ROW_OWN(S, "features", CT__FORM_NAMED_TEXTS, 0, 0, 0, 0, NULL, CT__SECTION_NONE, "none",
            "names and expressions: numbers of the record that the noise may depend on; of odometry their mean"),
    ROW_TEXTS(S, "motion_features", TEXT, AT(T, motion_features), 1, 3, "none",
              "of odometry and velocity: speed, turn_rate, duration of a step as measured; m/s, rad/s, s"),
#undef S
#undef T
#define S CT__SECTION_NOISE
#define T ct__recipe_noise
    ROW_OWN(S, "sigma", CT__FORM_NUMBER | CT__FORM_NUMBERS | CT__OPEN_LOW, 0, 1e12, 1, 6, NULL, CT__SECTION_NONE,
            "by type", "one number, or one a row"),
    ROW_OWN(S, "variance", CT__FORM_NUMBER | CT__FORM_NUMBERS | CT__OPEN_LOW, 0, 1e24, 1, 6, NULL, CT__SECTION_NONE,
            "by type", "one number, or one a row"),
    ROW_CHOICE(S, "kind", 0, AT(T, kind), "isotropic diagonal full", "diagonal", "which covariance is learned"),
    ROW_OWN(S, "kernel", CT__FORM_KERNEL, 0, 0, 0, 0, NULL, CT__SECTION_NONE, "none",
            "robust kernel, and its width in sigmas: huber:1.5"),
    ROW_CHOICE(S, "per", 0, AT(T, per), "step second metre", "step",
               "second, metre: the variance grows with duration or distance of the step"),
    ROW_BOOL(S, "learn", AT(T, learn), "true", "false: frozen"),
    ROW_TEXT(S, "model", 0, AT(T, model), "the sensor's name", "name of the noise model"),
    ROW_TEXT(S, "bias", 0, AT(T, bias), "none",
             "error that lasts: gauss-markov:tau=20, oscillation, or with rows x+y=random-walk"),
#undef S
#undef T
#define S CT__SECTION_INTERVAL
#define T ct__recipe_interval
    ROW_NUMBER(S, "from", REQUIRED, AT(T, from_s), 0, HUGE_S, NULL, "s after the recording's first stamp"),
    ROW_NUMBER(S, "to", REQUIRED, AT(T, to_s), 0, HUGE_S, NULL, "s after the recording's first stamp"),
    ROW_TEXT(S, "name", REQUIRED, AT(T, name), NULL, "the part of the model's name after @"),
#undef S
#undef T
#define S CT__SECTION_LANDMARKS
#define T ct__recipe_landmarks
    ROW_NAME(S, "source", 0, "none: the points are unknown", "name of the source that is the map"),
    ROLE(S, T, "id", CT__ROLE_ID, 1, 1, "field with the landmark's name"),
    ROLE(S, T, "position", CT__ROLE_POSITION, 2, 3, "of the landmark, m"),
    ROW_SECTION(S, "ids", 0, AT(T, ids), CT__SECTION_IDS, "none", "table from measured names to those of the map"),
    ROW_CHOICE(S, "unknown", 0, AT(T, estimate_unknown), "drop estimate", "drop with a map, estimate without",
               "what becomes of landmarks that the map does not have"),
#undef S
#undef T
#define S CT__SECTION_IDS
#define T ct__recipe_ids
    ROW_NAME(S, "source", REQUIRED, NULL, "name of the source that is the table"),
    ROW_TEXT(S, "from", REQUIRED, AT(T, from), NULL, "field with the measured name"),
    ROW_TEXT(S, "to", REQUIRED, AT(T, to), NULL, "field with the name that it stands for"),
#undef S
#undef T
#define S CT__SECTION_TRUTH
#define T ct__recipe_truth
    ROW_NAME(S, "source", REQUIRED, NULL, "name of a source"),
    ROW_TEXT(S, "where", 0, AT(T, where), "all", "condition; other records are left out"),
    ROLE(S, T, "position", CT__ROLE_POSITION, 2, 3, "m"),
    ROLE(S, T, "yaw", CT__ROLE_YAW, 1, 1, "rotation in the plane, rad"),
    ROLE(S, T, "quaternion", CT__ROLE_QUATERNION, 4, 4, "rotation: qx, qy, qz, qw"),
    ROLE(S, T, "rotation_vector", CT__ROLE_ROTATION_VECTOR, 3, 3, "rotation: axis times angle, rad"),
    ROLE(S, T, "euler", CT__ROLE_EULER, 3, 3, "rotation: roll, pitch, yaw, rad"),
    ROLE(S, T, "matrix", CT__ROLE_MATRIX, 12, 12, "the pose: 3 x 4 numbers, row by row"),
    ROLE(S, T, "geodetic", CT__ROLE_GEODETIC, 2, 3,
         "instead of position: latitude, longitude in degrees, height in m"),
    ROW_NUMBERS(S, "origin", 0, AT(T, origin), -METRES, METRES, 2, 3, "that of the sensors",
                "of the tangent frame: latitude, longitude in degrees, height in m"),
    ROW_TEXTS(S, "known", TEXT, AT(T, known), 1, 6, "those that are given", "tangent coordinates that count"),
    ROW_CHOICE(S, "interpolate", 0, AT(T, nearest), "linear nearest", "linear", "between two records"),
    ROW_NUMBER(S, "gap", CT__OPEN_LOW, AT(T, gap_s), 0, HUGE_S, "0.5", "no truth in a larger gap between records, s"),
    ROW_OWN(S, "sigma", CT__FORM_NUMBERS | CT__FORM_NUMBER | CT__OPEN_LOW, 0, 1e9, 1, 2, NULL, CT__SECTION_NONE,
            "not given", "of position in m, and of rotation in rad"),
    ROW_NUMBERS(S, "mount", 0, AT(T, mount), -METRES, METRES, 2, 7, "the body's origin",
                "pose of what is tracked on the body"),
    ROW_CHOICE(S, "axes", 0, AT(T, axes), "body camera ned", "body", "of the poses"),
    ROW_BOOL(S, "inverse", AT(T, inverse), "false", "poses are those of the world in the body's frame"),
    ROW_NUMBER(S, "delay", 0, AT(T, delay_s), -HUGE_S, HUGE_S, "0", "added to the stamps, s"),
    ROW_NUMBERS(S, "frame", 0, AT(T, frame), -METRES, METRES, 3, 7, "the identity",
                "pose of the truth's frame in that of the measurements"),
#undef S
#undef T
#define S CT__SECTION_ANCHOR
    ROW_OWN(S, "sigma", CT__FORM_NUMBERS | CT__FORM_NUMBER | CT__OPEN_LOW | REQUIRED, 0, 1e9, 1, 2, NULL,
            CT__SECTION_NONE, NULL, "of position in m, and of rotation in rad"),
#undef S
#define S CT__SECTION_CORRECTION
    ROW_NAME(S, "sensor", REQUIRED, NULL, "name of a sensor; truth: the truth"),
    ROW_NAME(S, "recording", 0, "all", "name of a recording"),
    ROW_OWN(S, "delay", CT__FORM_NUMBER, -HUGE_S, HUGE_S, 1, 1, NULL, CT__SECTION_NONE, "0",
            "s, added to the stamps: true time = stamp + delay"),
    ROW_OWN(S, "drift", CT__FORM_NUMBER, -0.5, 0.5, 1, 1, NULL, CT__SECTION_NONE, "0",
            "of the clock: true time = stamp + drift * (stamp - first stamp)"),
    ROW_OWN(S, "axes", CT__FORM_NUMBERS, -6, 6, 1, 6, NULL, CT__SECTION_NONE, "none",
            "which axis each row is, with its sign: 2, -1 means row 1 is y, row 2 is -x"),
    ROW_OWN(S, "scale", CT__FORM_NUMBERS | CT__FORM_NUMBER, -1e9, 1e9, 1, 6, NULL, CT__SECTION_NONE, "1",
            "of each row: the measured value is multiplied by it"),
    ROW_OWN(S, "bias", CT__FORM_NUMBERS | CT__FORM_NUMBER, -METRES, METRES, 1, 6, NULL, CT__SECTION_NONE, "0",
            "of each row, subtracted after the scale"),
    ROW_OWN(S, "mount", CT__FORM_NUMBERS, -METRES, METRES, 2, 7, NULL, CT__SECTION_NONE, "the recipe's own",
            "pose or position of the sensor on its body"),
    ROW_OWN(S, "frame", CT__FORM_NUMBERS, -METRES, METRES, 3, 7, NULL, CT__SECTION_NONE, "the identity",
            "pose of the source's world frame in the dataset's"),
    ROW_OWN(S, "quaternion", CT__FORM_CHOICE, 0, 0, 0, 0, "scalar_last scalar_first", CT__SECTION_NONE, "scalar_last",
            "order of the quaternion"),
    ROW_OWN(S, "camera", CT__FORM_BOOL, 0, 0, 0, 0, NULL, CT__SECTION_NONE, "false", "poses have camera axes"),
    ROW_OWN(S, "ned", CT__FORM_BOOL, 0, 0, 0, 0, NULL, CT__SECTION_NONE, "false",
            "poses have the axes north, east, down; the body x ahead, y right, z down"),
    ROW_OWN(S, "compass", CT__FORM_BOOL, 0, 0, 0, 0, NULL, CT__SECTION_NONE, "false",
            "rotations have the axes of ned, positions do not: yaw = pi/2 - heading"),
    ROW_OWN(S, "inverse", CT__FORM_BOOL, 0, 0, 0, 0, NULL, CT__SECTION_NONE, "the recipe's own",
            "the inverse of the pose is given: the world in the body's frame"),
    ROW_OWN(S, "degrees", CT__FORM_BOOL, 0, 0, 0, 0, NULL, CT__SECTION_NONE, "false",
            "angles and turn rates are in degrees"),
    ROW_OWN(S, "wheels", CT__FORM_NUMBERS | CT__OPEN_LOW, 0, 1e9, 2, 2, NULL, CT__SECTION_NONE, "1, 1",
            "of an odometry of wheels: the ways of the left and the right one are multiplied by these"),
    ROW_OWN(S, "steps", CT__FORM_NUMBER | CT__OPEN_LOW, 0, HUGE_S, 1, 1, NULL, CT__SECTION_NONE, "none",
            "s: stamps that step further than this, either way, go on as if they had not: a clock that was set"),
    ROW_OWN(S, "wrap", CT__FORM_NUMBER | CT__OPEN_LOW, 0, METRES, 1, 1, NULL, CT__SECTION_NONE, "the recipe's own",
            "of an odometry of wheels: distance after which their counters begin again, m"),
    ROW_OWN(S, "kernel", CT__FORM_KERNEL, 0, 0, 0, 0, NULL, CT__SECTION_NONE, "the recipe's own", "robust kernel"),
    ROW_OWN(S, "full", CT__FORM_BOOL, 0, 0, 0, 0, NULL, CT__SECTION_NONE, "false", "learn a full covariance"),
    ROW_OWN(S, "lasting", CT__FORM_NUMBER | CT__OPEN_LOW, 0, HUGE_S, 1, 1, NULL, CT__SECTION_NONE, "none",
            "s, time constant of an error that lasts: it becomes a Gauss-Markov bias"),
    ROW_OWN(S, "lasting_each", CT__FORM_NUMBER | CT__OPEN_LOW, 0, HUGE_S, 1, 1, NULL, CT__SECTION_NONE, "none",
            "as lasting, with a bias for each landmark"),
    ROW_OWN(S, "sigma", CT__FORM_NUMBERS, 0, 1e9, 2, 2, NULL, CT__SECTION_NONE, "the truth's own",
            "of the truth: of position in m, and of rotation in rad; 0: not given"),
#undef S
#define S CT__SECTION_SEQUENCES
#define T ct__recipe_sequences
    ROW_TEXTS(S, "files", TEXT | REQUIRED, AT(T, files), 1, 1000, NULL,
              "pattern or list of patterns: *, ?, and named parts {run}"),
    ROW_CHOICE(S, "format", 0, AT(T, format), GRAPHS, "by the file", "format of the graphs"),
    ROW_BOOL(S, "split_loops", AT(T, split_loops), "false",
             "relative poses between poses that do not follow each other get a model of their own, loop"),
#undef S
#undef T
#define S CT__SECTION_SPLIT
#define T ct__recipe_split
    ROW_OWN(S, "segment", CT__FORM_NUMBER | CT__OPEN_LOW | CT__FORM_SECTION, 0, HUGE_S, 0, 0, NULL,
            CT__SECTION_SEGMENT, "whole recordings", "cut recordings into sequences of so many seconds"),
    ROW_TEXTS(S, "train", TEXT, AT(T, train), 1, 100000, "all others", "recordings (patterns) to learn from"),
    ROW_OWN(S, "test", CT__FORM_TEXT | CT__FORM_TEXTS | CT__FORM_FRACTION, 0, 1, 1, 100000, NULL, CT__SECTION_NONE,
            "1/3", "recordings (patterns) to test with, or a fraction: the last of the recordings"),
#undef S
#undef T
#define S CT__SECTION_SEGMENT
    ROW_OWN(S, "states", CT__FORM_INTEGER | REQUIRED, 2, 1e9, 0, 0, NULL, CT__SECTION_NONE, NULL,
            "cut recordings into sequences of so many states"),
#undef S
};

const int ct__recipe_key_count = (int)(sizeof ct__recipe_keys / sizeof *ct__recipe_keys);

#define X(constant, name, heading) name,
static const char *const NAME[] = {CT__SECTION_LIST(X)};
#undef X

const ct__schema ct__recipe_schema = {.title = "covtune recipe, version 1",
                                      .sections = CT__SECTION_COUNT,
                                      .section = NAME,
                                      .keys = (int)(sizeof ct__recipe_keys / sizeof *ct__recipe_keys),
                                      .key = ct__recipe_keys};

const char *ct__section_name(ct__section section) { return ct__schema_section(&ct__recipe_schema, section); }

const ct__key *ct__key_find(ct__section section, const char *key)
{
    return ct__schema_find(&ct__recipe_schema, section, key);
}

int ct__key_missing(const ct__node *map, ct__section section, const char *key)
{
    return ct__schema_missing(&ct__recipe_schema, map, section, key);
}

ct_status ct_recipe_schema(char **text, ct_err *err) { return ct__schema_json(&ct__recipe_schema, text, err); }
