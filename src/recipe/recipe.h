/* recipe.h: a recipe as the reader checked it (recipe_*.c) and as the builder uses it (build_*.c).
 *
 * Strings belong to the recipe. Every item has the line of the recipe it was written on, for messages. Names of
 * sources, landmarks and sensors are resolved to indices by the reader; -1: none. */
#ifndef CT_RECIPE_PRIVATE_H
#define CT_RECIPE_PRIVATE_H

#include "schema/schema.h"

#include <covtune/recipe.h>

typedef struct {
    const char *name;
    int         line;
    ct__list    files; /* patterns */
    ct_source_format format;
    const char *separator, *comment, *topic, *each, *time, *where; /* NULL: default */
    int         header;                                            /* -1: guess     */
    ct__list    columns, missing;
    int64_t     skip;
} ct__recipe_source;

/* Fields of records that a sensor, a map or the truth uses: expressions. X(constant, key, least and most items) */
#define CT__ROLE_LIST(X)                                                                           \
    X(CT__ROLE_POSITION, "position", 2, 3)                                                         \
    X(CT__ROLE_YAW, "yaw", 1, 1)                                                                   \
    X(CT__ROLE_QUATERNION, "quaternion", 4, 4)                                                     \
    X(CT__ROLE_ROTATION_VECTOR, "rotation_vector", 3, 3)                                           \
    X(CT__ROLE_EULER, "euler", 3, 3)                                                               \
    X(CT__ROLE_MATRIX, "matrix", 12, 12)                                                           \
    X(CT__ROLE_VELOCITY, "velocity", 2, 3)                                                         \
    X(CT__ROLE_ANGULAR_VELOCITY, "angular_velocity", 3, 3)                                         \
    X(CT__ROLE_INCREMENT, "increment", 2, 7)                                                       \
    X(CT__ROLE_RATE, "rate", 1, 3)                                                                 \
    X(CT__ROLE_GEODETIC, "geodetic", 2, 3)                                                         \
    X(CT__ROLE_HEIGHT, "height", 1, 1)                                                             \
    X(CT__ROLE_WHEELS, "wheels", 2, 2)                                                             \
    X(CT__ROLE_RANGE, "range", 1, 1)                                                               \
    X(CT__ROLE_BEARING, "bearing", 1, 1)                                                           \
    X(CT__ROLE_ELEVATION, "elevation", 1, 1)                                                       \
    X(CT__ROLE_DIRECTION, "direction", 3, 3)                                                       \
    X(CT__ROLE_POINT, "point", 2, 3)                                                               \
    X(CT__ROLE_PIXEL, "pixel", 2, 4)                                                               \
    X(CT__ROLE_ID, "id", 1, 1)           /* of a landmark; a plain name, as text        */         \
    X(CT__ROLE_TO_BODY, "to_body", 1, 1) /* of a body                                   */         \
    X(CT__ROLE_FROM, "from", 1, 1)       /* relative poses: stamps or numbers of states */         \
    X(CT__ROLE_TO, "to", 1, 1)           /*                                             */         \
    X(CT__ROLE_REGIME, "regime", 1, 1)

typedef enum {
#define X(constant, key, least, most) constant,
    CT__ROLE_LIST(X)
#undef X
    CT__ROLE_COUNT
} ct__role;

/* X(constant, name) */
#define CT__SENSOR_LIST(X)                                                                         \
    X(CT__SENSOR_ODOMETRY, "odometry")                                                             \
    X(CT__SENSOR_VELOCITY, "velocity")                                                             \
    X(CT__SENSOR_TURN_RATE, "turn_rate") /* of an odometry that names it */                        \
    X(CT__SENSOR_POSE, "pose")                                                                     \
    X(CT__SENSOR_POSITION, "position")                                                             \
    X(CT__SENSOR_GEODETIC, "geodetic")                                                             \
    X(CT__SENSOR_HEADING, "heading")                                                               \
    X(CT__SENSOR_HEIGHT, "height")                                                                 \
    X(CT__SENSOR_RANGE, "range")                                                                   \
    X(CT__SENSOR_BEARING, "bearing")                                                               \
    X(CT__SENSOR_RANGE_BEARING, "range_bearing")                                                   \
    X(CT__SENSOR_POINT, "point")                                                                   \
    X(CT__SENSOR_RELATIVE_POSE, "relative_pose")                                                   \
    X(CT__SENSOR_PIXEL, "pixel")                                                                   \
    X(CT__SENSOR_STEREO, "stereo")

typedef enum {
#define X(constant, name) constant,
    CT__SENSOR_LIST(X)
#undef X
    CT__SENSOR_COUNT
} ct__sensor_type;

typedef enum { CT__AXES_BODY, CT__AXES_CAMERA, CT__AXES_NED } ct__axes;
typedef enum { CT__PER_STEP, CT__PER_SECOND, CT__PER_METRE } ct__per;
typedef enum { CT__ATTACH_MOTION, CT__ATTACH_NEAREST } ct__attach;

typedef struct {
    const char   *model; /* name of the noise model */
    const char   *bias;  /* as learn --bias has it behind the name of a sensor; NULL: none */
    ct__numbers   variance; /* squared if sigma was written; count 0: the type's default; 1: all rows */
    ct_noise_kind kind;
    ct_robust     robust;
    double        width;
    ct__per       per;
    int           learn;
} ct__recipe_noise;

typedef struct {
    double      from_s, to_s; /* of the recording, from its first stamp */
    const char *name;
} ct__recipe_interval;

#define CT__SENSOR_FEATURES_MAX 16
#define CT__MOTION_FEATURES     "speed turn_rate duration" /* of a step of odometry: m/s, rad/s, s */

typedef struct {
    const char *name;
    ct__words   value; /* expression */
} ct__recipe_feature;

typedef struct {
    int32_t     source; /* in recipe->source */
    const char *from, *to;
    int         line;
} ct__recipe_ids; /* source -1: none */

typedef struct {
    const char      *name;
    int              line;
    ct__sensor_type  type;
    int32_t          source, landmarks; /* indices; -1: none */
    int32_t          turn;  /* of odometry: the sensor that measures its turns; -1: it does itself */
    const char      *where, *body;
    ct__list         role[CT__ROLE_COUNT];
    ct__numbers      mount, target_mount, intrinsics, origin;
    double           track_m, wrap_m; /* of wheels: distance between them; where their counters begin again; 0: none */
    ct__axes         axes;
    int              inverse;     /* the world in the sensor's frame; the pose before in that after */
    double           tolerance_s; /* NaN: default */
    ct__attach       attach;
    int              index;       /* relative poses: from and to are numbers of states */
    int64_t          every;
    ct__recipe_ids   ids;         /* of to_body */
    ct__recipe_noise noise;
    int32_t          intervals;
    ct__recipe_interval *interval;
    int32_t          features;       /* numbers that go with every factor: expressions */
    ct__recipe_feature *feature;
    ct__list         motion_features; /* of CT__MOTION_FEATURES */
} ct__recipe_sensor;

typedef struct {
    const char    *name;
    int            line;
    int32_t        source; /* -1: unknown points */
    ct__list       role[CT__ROLE_COUNT]; /* id, position */
    ct__recipe_ids ids;
    int            estimate_unknown;
} ct__recipe_landmarks;

typedef struct {
    int         given, line;
    int32_t     source;
    const char *where;
    ct__list    role[CT__ROLE_COUNT];
    ct__list    known;
    int         nearest;
    double      gap_s, delay_s, sigma[2]; /* sigma 0: not given */
    ct__numbers mount, frame, origin;
    ct__axes    axes;
    int         inverse; /* poses are those of the world in the body's frame */
} ct__recipe_truth;

typedef enum { CT__STATES_EVERY, CT__STATES_AT, CT__STATES_DISTANCE } ct__states_by;

typedef struct {
    ct_kind       kind; /* CT_SE2, CT_SE3 */
    ct__states_by by;
    double        every_s, distance_m, turn_rad; /* turn_rad INFINITY: none */
    int32_t       at;                            /* sensor; -1: the truth */
    double        from_s, to_s, gap_s;
    int           line;
} ct__recipe_states;

typedef enum { CT__ANCHOR_AUTO, CT__ANCHOR_NONE, CT__ANCHOR_SIGMA } ct__anchor;

typedef struct {
    double   segment_s;      /* 0: not cut by time    */
    int64_t  segment_states; /* 0: not cut by number  */
    ct__list train, test;    /* patterns of recordings */
    double   test_fraction;  /* NaN: lists             */
    int      line;
} ct__recipe_split;

/* Files that are graphs already (a ct_format of data.h), instead of sources, states and sensors. */
typedef struct {
    int       given, line;
    ct__list  files;
    ct_format format;
    int       split_loops; /* relative poses between states that are not neighbours get the model "loop" */
} ct__recipe_sequences;

struct ct_recipe {
    char                 *text, *name, *folder;
    void                 *tree; /* owns the strings below */
    const char           *recording, *bodies;
    int32_t               sources, landmarks, sensors, corrections;
    int32_t               unused; /* sources behind the others that nothing refers to */
    ct__recipe_source    *source;
    ct__recipe_landmarks *landmark;
    ct__recipe_sensor    *sensor;
    ct_correction        *correction;
    int                   doctor; /* corrections: doctor */
    ct__recipe_states     states;
    ct__recipe_truth      truth;
    ct__anchor            anchor;
    double                anchor_sigma[2];
    ct__recipe_split      split;
    ct__recipe_sequences  sequences;
};

/* The line of a text of the recipe (any const char * above), for messages; 0: it is none of them. */
int ct__recipe_line(const ct_recipe *recipe, const char *text);
/* *text <- the recipe's text with this value of a key at its top level (`folder`, `recording`), everything else to the
 * byte as it was: for the copy that a dataset keeps. For the caller to free. */
ct_status ct__recipe_put(const ct_recipe *recipe, const char *key, const char *value, char **text, ct_err *err);

#endif
