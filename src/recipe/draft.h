/* draft.h: a first recipe for files that nobody has described.
 *
 *   draft_files.c    arguments to files, with what their headers say
 *   draft_groups.c   files of one kind to patterns
 *   draft_names.c    names of columns and fields to meanings, with units
 *   draft_inspect.c  a file or topic: its fields
 *   draft_records.c  its first records: stamps, units by the size of values
 *   draft_roles.c    what each source is: odometry, truth, a map, ...
 *   draft_values.c   values, poses and motion as text
 *   recipe_draft.c   the recipe
 */
#ifndef CT_RECIPE_DRAFT_H
#define CT_RECIPE_DRAFT_H

#include "base/text.h"
#include "recipe/recipe_read.h"

/* What a field of a record may be. X(constant, unit that it has without a word about it) */
#define CT__MEANING_LIST(X)                                                                                            \
    X(CT__MEANS_TIME, "s") X(CT__MEANS_X, "m") X(CT__MEANS_Y, "m") X(CT__MEANS_Z, "m") X(CT__MEANS_YAW, "rad")         \
    X(CT__MEANS_ROLL, "rad") X(CT__MEANS_PITCH, "rad") X(CT__MEANS_QX, "1") X(CT__MEANS_QY, "1")                       \
    X(CT__MEANS_QZ, "1") X(CT__MEANS_QW, "1") X(CT__MEANS_VX, "m/s") X(CT__MEANS_VY, "m/s") X(CT__MEANS_VZ, "m/s")     \
    X(CT__MEANS_WX, "rad/s") X(CT__MEANS_WY, "rad/s") X(CT__MEANS_WZ, "rad/s") X(CT__MEANS_DX, "m")                    \
    X(CT__MEANS_DY, "m") X(CT__MEANS_DYAW, "rad") X(CT__MEANS_LATITUDE, "deg") X(CT__MEANS_LONGITUDE, "deg")           \
    X(CT__MEANS_HEIGHT, "m") X(CT__MEANS_RANGE, "m") X(CT__MEANS_BEARING, "rad") X(CT__MEANS_ELEVATION, "rad")         \
    X(CT__MEANS_ID, "1") X(CT__MEANS_ID2, "1") X(CT__MEANS_VALID, "1") X(CT__MEANS_MATRIX, "1")                        \
    X(CT__MEANS_U, "1") X(CT__MEANS_V, "1") X(CT__MEANS_U_RIGHT, "1") X(CT__MEANS_V_RIGHT, "1")                        \
    X(CT__MEANS_NANOSECONDS, "ns") X(CT__MEANS_FRAME, "1") X(CT__MEANS_DOWN, "m") X(CT__MEANS_LEFT, "1")               \
    X(CT__MEANS_RIGHT, "1") X(CT__MEANS_LEFT_SPEED, "m/s") X(CT__MEANS_RIGHT_SPEED, "m/s")                 \
    X(CT__MEANS_STEER, "rad")

typedef enum {
#define X(constant, unit) constant,
    CT__MEANING_LIST(X)
#undef X
    CT__MEANS_COUNT,
    CT__MEANS_NOTHING
} ct__meaning;

typedef enum {
    CT__DRAFT_UNUSED,
    CT__DRAFT_ODOMETRY_VELOCITY,
    CT__DRAFT_ODOMETRY_INCREMENT,
    CT__DRAFT_ODOMETRY_POSE,
    CT__DRAFT_ODOMETRY_WHEELS,
    CT__DRAFT_TURN_RATE, /* of the odometry */
    CT__DRAFT_POSE,
    CT__DRAFT_POSITION,
    CT__DRAFT_GEODETIC,
    CT__DRAFT_HEADING,
    CT__DRAFT_HEIGHT,
    CT__DRAFT_RANGE,
    CT__DRAFT_BEARING,
    CT__DRAFT_RANGE_BEARING,
    CT__DRAFT_PIXEL,
    CT__DRAFT_STEREO,
    CT__DRAFT_TRUTH,
    CT__DRAFT_MAP,
    CT__DRAFT_IDS,
    CT__DRAFT_GRAPH
} ct__draft_role;

#define CT__DRAFT_IDS_MAX 64 /* different names of landmarks that are compared */

typedef struct {
    const char      *pattern;  /* relative to the folder                                     */
    const char      *file;     /* one of the files                                           */
    int32_t          files;    /* of the pattern                                             */
    ct_source_format format;
    int64_t          skip;     /* lines above the header                                     */
    double           rate_hz;  /* of frames, as one of those lines has it; 0: not said       */
    const char      *topic, *type, *each, *where; /* of bags                                 */
    const char      *kind;     /* "truth", "gps", "odom": the columns of a table that are named so; NULL: all others */
    const char      *field[CT__MEANS_COUNT];      /* its name, or NULL                       */
    const char      *unit[CT__MEANS_COUNT];       /* written, or guessed by its size; NULL   */
    int              guessed[CT__MEANS_COUNT];    /* the unit is a guess                     */
    double           factor[CT__MEANS_COUNT];     /* that the values are multiplied by; 0: 1 */
    double           first[CT__MEANS_COUNT];      /* first value; NaN: none                  */
    int              has_time, date;              /* date: stamps are dates with a time      */
    double           begin, end;                  /* first and last stamp seen, in its unit  */
    int              whole;                       /* all records were seen                   */
    double           step, period_s;              /* median, in its unit and in s; NaN: unknown */
    int64_t          records;                     /* that were looked at                     */
    int              zero_rotation;               /* the quaternion is not set               */
    int              north;    /* positions are easting and northing, or beside a latitude   */
    int              ned;      /* rotations are of a body with z down                        */
    int              compass;  /* the yaw is called heading, course, compass                 */
    int              guess;    /* the role is a guess                                        */
    int              level;    /* heights and rates out of the plane are always 0            */
    int              interval; /* stamps that say that a record is of an interval            */
    const char      *clock;    /* another source, whose stamps are of another clock; NULL    */
    const char      *columns;  /* names of the first ones, for people                        */
    int32_t          ids;
    const char      *id[2][CT__DRAFT_IDS_MAX];    /* values of ID; of ID2                    */
    const char      *why_unused;
    ct__draft_role   role;
    char             name[40], sensor[40];        /* in the recipe                           */
} ct__draft_source;

typedef struct {
    ct__tree         *pool; /* memory */
    ct_err           *err;
    const char       *folder; /* NULL: the current one */
    int64_t           sources, capacity;
    ct__draft_source *source;
    int64_t           notes, note_capacity;
    const char      **note; /* what could not be read */
} ct__draft;

/* ---- Files ------------------------------------------------------------------------------------- */

#define CT__DRAFT_FILES_MAX 4096
#define CT__DRAFT_DEPTH_MAX 6
#define CT__DRAFT_PATH_SIZE 900 /* of names that are drafted */

typedef struct {
    ct__draft  *d;
    int32_t     count;
    const char *path[CT__DRAFT_FILES_MAX]; /* relative to the folder that has them all                      */
    const char *whole[CT__DRAFT_FILES_MAX];
    const char *kind[CT__DRAFT_FILES_MAX]; /* what its header says: files of one source have the same text */
} ct__draft_files;

/* A pattern with a file of it. */
typedef struct {
    const char *pattern, *file;
    int32_t     files;
} ct__draft_group;

char     *ct__draft_print(ct__draft *d, const char *fmt, ...) CT_PRINTF(2, 3); /* NULL: no memory */
ct_status ct__draft_note(ct__draft *d, const char *text);
ct_status ct__draft_collect(ct__draft_files *f, const char *const path[], int32_t paths);
ct_status ct__draft_groups(ct__draft *d, const char *const path[], int32_t paths, ct__draft_group **out,
                           int32_t *count);

/* ---- Sources ----------------------------------------------------------------------------------- */

/* Sources of a group: one of a table, one a topic of a bag. */
ct_status ct__draft_inspect(ct__draft *d, const ct__draft_group *group);
/* Looks at the first records of a source. */
ct_status ct__draft_read_records(ct__draft *d, ct__draft_source *s, const ct_source_options *options);
/* Units of stamps that only the other sources tell. */
void ct__draft_clocks(ct__draft *d);
/* How many seconds the unit of a stamp is; NULL: 1. */
double ct__draft_seconds(const char *unit);
/* Lines above the header of a table that has a title, or several lines of header; *rate_hz as one of them says it. */
ct_status ct__draft_skip(ct__draft *d, const char *file, int64_t *skip, double *rate_hz);

/* ---- Words ------------------------------------------------------------------------------------- */

/* The meaning of a name; *unit is that of its ending ("heading_deg"), or NULL. */
ct__meaning ct__draft_meaning(const char *name, const char **unit);
/* Is it a heading from north by its name: heading, course, compass? */
int ct__draft_is_compass(const char *name);
/* Does the text have one of these words, with blanks between? Words of names are cut at what is no letter. */
#define CT__DRAFT_TRUTH_WORDS                                                                                          \
    "truth groundtruth gt mocap vicon optitrack qualisys reference ground rtk ppk vrpn leica totalstation total"
#define CT__DRAFT_INS_WORDS      "ins oxts novatel applanix span vectornav xsens" /* truth beside an odometry */
#define CT__DRAFT_ODOMETRY_WORDS "odom odometry wheel wheels encoder encoders vo vio slam rgbdslam orb estimate est"
#define CT__DRAFT_GPS_WORDS      "gps gnss"
int ct__draft_has_word(const char *text, const char *words);
ct_status ct__draft_roles(ct__draft *d);

static inline int ct__draft_has(const ct__draft_source *s, ct__meaning m) { return s->field[m] != NULL; }
int ct__draft_has_rotation(const ct__draft_source *s);
int ct__draft_is_odometry(const ct__draft_source *s);
/* Is the truth given by latitude and longitude, as a sensor is or because it has nothing else? */
int ct__draft_is_geodetic_truth(const ct__draft *d, const ct__draft_source *s);

/* ---- Text -------------------------------------------------------------------------------------- */

typedef struct {
    ct__draft *d;
    ct__text   out;
    int        space; /* SE3 */
    const ct__draft_source *truth, *odometry, *turns, *map, *codes; /* turns: of the odometry, or NULL */
} ct__draft_writer;

/* A text as YAML: plain where that is safe, also within brackets. */
void ct__draft_put_word(ct__text *out, const char *word);
void ct__draft_put_values(ct__draft_writer *w, const ct__draft_source *s, const char *key, int count,
                          const ct__meaning m[]);
#define CT__DRAFT_PUT(w, s, key, ...)                                                                                  \
    ct__draft_put_values(w, s, key, (int)(sizeof((const ct__meaning[]){__VA_ARGS__}) / sizeof(ct__meaning)),           \
                         (const ct__meaning[]){__VA_ARGS__})
void ct__draft_put_source(ct__draft_writer *w, const ct__draft_source *s);
void ct__draft_put_pose(ct__draft_writer *w, const ct__draft_source *s, const char *indent);
void ct__draft_put_position(ct__draft_writer *w, const ct__draft_source *s, const char *indent);
void ct__draft_put_yaw(ct__draft_writer *w, const ct__draft_source *s, const char *indent);
void ct__draft_put_geodetic(ct__draft_writer *w, const ct__draft_source *s, const char *indent);
void ct__draft_put_motion(ct__draft_writer *w, const ct__draft_source *s);

#endif
