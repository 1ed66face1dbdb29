/* draft.h: a first recipe for files that nobody has described.
 *
 *   draft_files.c    arguments to files, files of one kind to patterns
 *   draft_names.c    names of columns and fields to meanings, with units
 *   draft_inspect.c  a file or topic: its fields, stamps and first values
 *   draft_roles.c    what each source is: odometry, truth, a map, ...
 *   recipe_draft.c   the text
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
    X(CT__MEANS_ID, "1") X(CT__MEANS_ID2, "1") X(CT__MEANS_VALID, "1") X(CT__MEANS_MATRIX, "1")             \
    X(CT__MEANS_U, "1") X(CT__MEANS_V, "1") X(CT__MEANS_U_RIGHT, "1") X(CT__MEANS_V_RIGHT, "1")

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
    CT__DRAFT_POSE,
    CT__DRAFT_POSITION,
    CT__DRAFT_GEODETIC,
    CT__DRAFT_HEADING,
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
    ct_source_format format;
    const char      *topic, *type, *each, *where; /* of bags                                 */
    const char      *kind;     /* "truth", "gps", "odom": the columns of a table that are named so; NULL: all others */
    const char      *field[CT__MEANS_COUNT];      /* its name, or NULL                       */
    const char      *unit[CT__MEANS_COUNT];       /* written, or guessed by its size; NULL   */
    int              guessed[CT__MEANS_COUNT];    /* the unit is a guess                     */
    int              scaled;                      /* latitude and longitude are times 1e7    */
    int              has_time;
    const char      *time;                        /* expression; NULL: the source finds it   */
    double           period_s;                    /* median; NaN: unknown                    */
    int64_t          records;                     /* that were looked at                     */
    int              zero_rotation;               /* the quaternion is not set               */
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

/* A pattern with a file of it. */
typedef struct {
    const char *pattern, *file;
} ct__draft_group;

char     *ct__draft_print(ct__draft *d, const char *fmt, ...) CT_PRINTF(2, 3); /* NULL: no memory */
ct_status ct__draft_note(ct__draft *d, const char *text);
ct_status ct__draft_groups(ct__draft *d, const char *const path[], int32_t paths, ct__draft_group **out,
                           int32_t *count);
/* Sources of a group: one of a table, one a topic of a bag. */
ct_status ct__draft_inspect(ct__draft *d, const ct__draft_group *group);
/* The meaning of a name; *unit is that of its ending ("heading_deg"), or NULL. */
ct__meaning ct__draft_meaning(const char *name, const char **unit);
/* Does the text have one of these words, with blanks between? Words of names are cut at what is no letter. */
#define CT__DRAFT_TRUTH_WORDS    "truth groundtruth gt mocap vicon optitrack reference ground"
#define CT__DRAFT_ODOMETRY_WORDS "odom odometry wheel wheels encoder encoders vo vio slam rgbdslam orb estimate est"
#define CT__DRAFT_GPS_WORDS      "gps gnss"
int  ct__draft_has_word(const char *text, const char *words);
void ct__draft_roles(ct__draft *d);

static inline int ct__draft_has(const ct__draft_source *s, ct__meaning m) { return s->field[m] != NULL; }

#endif
