/* covtune/recipe.h: datasets from recorded files, by a recipe.
 *
 * A recipe (docs/import.md) is a YAML file. It says where records come from (sources), which states are estimated, what
 * each sensor measures, what the truth is, and how runs are split. Importing streams: sequences are written as they are
 * complete, and memory holds those that are being built.
 *
 *     ct_recipe *recipe;
 *     CT_TRY(ct_recipe_read("mrclam.yaml", &recipe, err));
 *     CT_TRY(ct_recipe_import(recipe, NULL, "data", &result, err));          writes dataset.yaml, train/, test/
 *
 * Errors name the recipe's line ("mrclam.yaml:17: ...") or the record ("Robot1_Odometry.dat:2031: ...").
 */
#ifndef COVTUNE_RECIPE_H
#define COVTUNE_RECIPE_H

#include <covtune/data.h>
#include <covtune/finding.h>
#include <covtune/source.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ct_recipe ct_recipe;

/* Read and check a recipe. Nothing but the recipe itself is read. ct_recipe_parse: from text; `name` is what messages
 * call it, `folder` what paths are relative to (NULL: "."). JSON is YAML: both are accepted. */
ct_status ct_recipe_read(const char *path, ct_recipe **out, ct_err *err);
ct_status ct_recipe_parse(const char *text, const char *name, const char *folder, ct_recipe **out, ct_err *err);
void      ct_recipe_free(ct_recipe *recipe);
const char *ct_recipe_text(const ct_recipe *recipe); /* as it was read */
/* 1: its corrections are to be found by the doctor ("corrections: doctor"). */
int ct_recipe_wants_doctor(const ct_recipe *recipe);
/* Names of the sensors, in order; NULL: none of that number. */
const char *ct_recipe_sensor(const ct_recipe *recipe, int32_t i);
/* Names of sources that no sensor, landmarks or truth uses, in order; NULL: none of that number. */
const char *ct_recipe_unused_source(const ct_recipe *recipe, int32_t i);

/* All mistakes of a recipe, by line; of ct_recipe_read only the first has a sentence. Text that is no YAML is one
 * mistake, which is in err: then the status is that of ct_recipe_read. CT_OK otherwise, with mistakes or without. */
typedef ct_mistake  ct_recipe_mistake;
typedef ct_mistakes ct_recipe_mistakes;

ct_status ct_recipe_check(const char *path, ct_recipe_mistakes *out, ct_err *err);
void      ct_recipe_mistakes_free(ct_recipe_mistakes *mistakes);

/* The JSON Schema of recipes, made from the table that the reader itself uses. For the caller to free. */
ct_status ct_recipe_schema(char **text, ct_err *err);

/* A first recipe with comments for these files: formats, columns and topics are looked at, roles guessed from their
 * names and types; what is uncertain is said in a comment. CT_E_EMPTY: nothing was recognised. For the caller to
 * free. */
ct_status ct_recipe_draft(const char *const path[], int32_t paths, char **text, ct_err *err);

/* ---- Corrections ------------------------------------------------------------------------------ */

/* What can be wrong with a source, beside noise. X(constant, key, description) */
#define CT_CORRECTION_LIST(X)                                                                                          \
    X(CT_CORRECT_DELAY, "delay", "s, added to the stamps: true time = stamp + delay")                                  \
    X(CT_CORRECT_DRIFT, "drift", "of the clock: true time = stamp + drift * (stamp - first stamp)")                    \
    X(CT_CORRECT_AXES, "axes", "which axis a row is, and its sign: a number a row; 2, -1 means row 1 is y, row 2 -x")  \
    X(CT_CORRECT_SCALE, "scale", "of each row: the measured value is multiplied by it")                                \
    X(CT_CORRECT_BIAS, "bias", "of each row, subtracted after the scale, in the row's unit")                           \
    X(CT_CORRECT_MOUNT, "mount", "pose or position of the sensor on its body, in place of the recipe's own")           \
    X(CT_CORRECT_FRAME, "frame", "pose of the source's world frame in the dataset's; values are moved by it")          \
    X(CT_CORRECT_QUATERNION, "quaternion", "1: the quaternion has its scalar first")                                   \
    X(CT_CORRECT_CAMERA, "camera", "1: poses have camera axes (x right, y down, z ahead)")                             \
    X(CT_CORRECT_NED, "ned", "1: poses have the axes north, east, down; x ahead, y right, z down")                     \
    X(CT_CORRECT_COMPASS, "compass", "1: rotations have the axes of ned, positions do not: yaw = pi/2 - heading")      \
    X(CT_CORRECT_INVERSE, "inverse", "1: the inverse of the pose is given: the world in the body's frame")             \
    X(CT_CORRECT_DEGREES, "degrees", "1: angles and turn rates are in degrees")                                        \
    X(CT_CORRECT_WHEELS, "wheels", "the ways of the left and the right wheel are multiplied by these")                 \
    X(CT_CORRECT_STEPS, "steps", "s: stamps that step further than this, either way, go on as if they had not")        \
    X(CT_CORRECT_WRAP, "wrap", "of wheels: m, distance after which their counters begin again")                        \
    X(CT_CORRECT_KERNEL, "kernel", "robust kernel: ct_robust and width")                                               \
    X(CT_CORRECT_FULL, "full", "1: learn a full covariance")                                                           \
    X(CT_CORRECT_LASTING, "lasting", "s, time constant of an error that lasts: it becomes a Gauss-Markov bias")        \
    X(CT_CORRECT_SIGMA, "sigma", "of the truth alone: its own noise in m and rad; 0: not given")                       \
    X(CT_CORRECT_LASTING_EACH, "lasting_each", "as lasting, with a bias for each landmark")

typedef enum {
#define X(constant, key, description) constant,
    CT_CORRECTION_LIST(X)
#undef X
    CT_CORRECTION_COUNT
} ct_correction_kind;

#define CT_CORRECTION_VALUES 7

/* The rows of a sensor are those of its measurement as the recipe reads it (docs/import.md), before factors are made:
 * velocities of an odometry that measures velocities, and so on. */
typedef struct {
    char               sensor[64];    /* its name in the recipe; "truth": the truth       */
    char               recording[64]; /* "": all recordings                               */
    ct_correction_kind kind;
    int32_t            count;         /* numbers that are used                            */
    double             value[CT_CORRECTION_VALUES];
} ct_correction;

const char *ct_correction_key(ct_correction_kind kind);
/* *text <- the recipe with these corrections in its block "corrections", everything else to the byte as it was;
 * comments within the block are kept above its items. A correction of the same sensor, recording and kind is replaced,
 * or removed if count is 0. "corrections: doctor" becomes the list. Names and numbers are checked as in a recipe. For
 * the caller to free. */
ct_status ct_recipe_correct(const ct_recipe *recipe, const ct_correction correction[], int32_t count, char **text,
                            ct_err *err);
/* Corrections that the recipe has, in order; NULL: none of that number. */
const ct_correction *ct_recipe_correction(const ct_recipe *recipe, int32_t i);

/* ---- Import ----------------------------------------------------------------------------------- */

typedef struct {
    const char *folder;  /* of the files, in place of the recipe's; NULL: the recipe's             */
    const char *only;    /* recordings to import, names with commas; NULL: all                     */
    /* called now and then: bytes read so far and in all (0: unknown). Returns 1 to stop (CT_E_EMPTY, "stopped"). */
    int (*progress)(void *user, int64_t done, int64_t all);
    void *user;
    /* called as soon as it is seen that a sequence will be very long (CT_FINDING_LONG_SEQUENCE), with the same user.
     * The result has the finding, too. May be NULL */
    void (*notice)(void *user, const ct_finding *finding);
} ct_import_options;

ct_import_options ct_import_defaults(void);

/* Why records became nothing. X(constant, name, sentence) */
#define CT_DROP_LIST(X)                                                                                                \
    X(CT_DROP_CONDITION, "condition", "left out by `where` or `every`")                                                \
    X(CT_DROP_MISSING, "missing", "a value is missing")                                                                \
    X(CT_DROP_NOT_FINITE, "not_finite", "a value is not finite, a range is negative, or a quaternion is zero")         \
    X(CT_DROP_STAMP, "stamp", "its stamp is not after that of the record before it")                                   \
    X(CT_DROP_OUTSIDE, "outside", "before the first or after the last state")                                          \
    X(CT_DROP_FAR, "far", "no state is near in time")                                                                  \
    X(CT_DROP_LANDMARK, "landmark", "its landmark or body is unknown")                                                 \
    X(CT_DROP_GAP, "gap", "in a gap of the odometry that is longer than the recipe allows")

typedef enum {
#define X(constant, name, sentence) constant,
    CT_DROP_LIST(X)
#undef X
    CT_DROP_COUNT
} ct_drop;

const char *ct_drop_name(ct_drop drop);
const char *ct_drop_text(ct_drop drop);

/* Of one sensor, or of the truth (last). */
typedef struct {
    char    name[64];
    int64_t records, factors;          /* read; made of them (truth: states that have one) */
    int64_t dropped[CT_DROP_COUNT];
    double  rate_hz;                   /* median over recordings; NaN: unknown             */
    /* where stamps do not ascend: records of the sensor, thinned evenly, and those that were dropped for it */
    int32_t steps;
    double *step_at, *step;            /* s since the recording's first stamp; since the record before, s */
} ct_import_count;

typedef struct {
    int32_t          counts;
    ct_import_count *count;
    int32_t          recordings, trains, tests;
    int64_t          states, landmarks;
    ct_findings      findings;
} ct_import_result;

void ct_import_result_free(ct_import_result *result);

/* Write a dataset into a folder, sequence by sequence: dataset.yaml, train/, test/, and recipe.yaml, a copy with the
 * folder of its files, which the doctor reads. A folder with other files is refused; a dataset that covtune wrote is
 * replaced. options and result may be NULL. */
ct_status ct_recipe_import(const ct_recipe *recipe, const ct_import_options *options, const char *out,
                           ct_import_result *result, ct_err *err);
/* The same into memory. */
ct_status ct_recipe_dataset(const ct_recipe *recipe, const ct_import_options *options, ct_dataset **out,
                            ct_import_result *result, ct_err *err);
/* The recipe of a dataset that was imported into a folder; *out NULL without error: it has none. */
ct_status ct_recipe_of_dataset(const char *folder, ct_recipe **out, ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
