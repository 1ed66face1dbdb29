/* tuning_schema.c: the table of keys of TUNE.yaml. docs/tune.md is the manual; a test compares the two. */
#include "schema/rows.h"
#include "tune/tuning.h"

#define SECONDS 1e9
#define STAMP   1e11 /* s, of offsets between clocks, as in score: since 1970 1.7e9 have passed */
#define LIMIT   1e300
#define METRES  1e9 /* of mounts, as in recipes */

#define X(constant, name, description) name " "
static const char SOURCES[] = CT_SOURCE_FORMAT_LIST(X);
static const char CONFIGS[] = CT_CONFIG_FORMAT_LIST(X);
static const char ALIGNMENTS[] = CT_ALIGNMENT_LIST(X);
static const char FRAMES[] = CT_COVARIANCE_FRAME_LIST(X);
static const char LOSSES[] = CT_TRACK_LOSS_LIST(X);
static const char METHODS[] = CT_TUNE_METHOD_LIST(X);
#undef X
#define X(constant, name, power, description) name " "
static const char QUANTITIES[] = CT_QUANTITY_LIST(X);
#undef X

#define NONE CT__SECTION_NONE

static const ct__key KEYS[] = {
#define S CT__TUNING_TOP
#define T ct__tuning_top
    ROW_OWN(S, "format", CT__FORM_CHOICE | REQUIRED, 0, 0, 0, 0, "covtune-tune", NONE, NULL,
            "what this file is: covtune-tune"),
    ROW_OWN(S, "version", CT__FORM_INTEGER | REQUIRED, 1, 1, 0, 0, NULL, NONE, NULL, "version of the format: 1"),
    ROW_NAME(S, "folder", 0, "the file's folder", "what paths are relative to"),
    ROW_OWN(S, "command", TEXT | CT__FORM_TEXTS, 0, 0, 1, 10000, NULL, NONE, "none",
            "the program and its arguments, with placeholders; with `shell: true` one text"),
    ROW_OWN(S, "server", TEXT | CT__FORM_TEXTS, 0, 0, 1, 10000, NULL, NONE, "none",
            "instead of command: a program that stays and answers runs line by line"),
    ROW_BOOL(S, "shell", AT(T, shell), "false", "command is run by sh -c"),
    ROW_OWN(S, "environment", CT__FORM_NAMED_TEXTS | CT__FORM_EMPTY, 0, 0, 0, 0, NULL, NONE, "that of covtune",
            "names and values of environment variables, with placeholders"),
    ROW_TEXT(S, "working_folder", 0, AT(T, working_folder), "the folder of the run", "where the program is started"),
    ROW_NUMBER(S, "time_limit", CT__OPEN_LOW, AT(T, time_limit_s), 0, SECONDS, "600", "of a run, s"),
    ROW_TEXT(S, "memory_limit", 0, AT(T, memory_limit), "none", "of a run: 2G, 500M"),
    ROW_INTEGER(S, "niceness", AT(T, niceness), 0, 19, "0", "0 to 19"),
    ROW_OWN(S, "files", CT__FORM_ITEMS | CT__SHORT, 0, 0, 0, 0, NULL, CT__TUNING_FILE, "none",
            "names and paths of configuration files"),
    ROW_OWN(S, "parameters", CT__FORM_ITEMS | REQUIRED, 0, 0, 0, 0, NULL, CT__TUNING_PARAMETER, NULL,
            "names, and what they are"),
    ROW_OWN(S, "spread", CT__FORM_NUMBER | CT__FORM_NAMED_NUMBERS, 1, LIMIT, 0, 0, NULL, NONE, "none",
            "largest over smallest variance: a number for all, or by group"),
    ROW_OWN(S, "logs", CT__FORM_SECTION | REQUIRED, 0, 0, 0, 0, NULL, CT__TUNING_LOGS, NULL, "train, test"),
    ROW_OWN(S, "truth", CT__FORM_SECTION, 0, 0, 0, 0, NULL, CT__TUNING_TRUTH, "by the format", "how truths are read"),
    ROW_OWN(S, "estimate", CT__FORM_SECTION, 0, 0, 0, 0, NULL, CT__TUNING_ESTIMATE, "by the format",
            "how estimates are read and compared"),
    ROW_OWN(S, "loss", CT__FORM_SECTION, 0, 0, 0, 0, NULL, CT__TUNING_LOSS, "local", "what is minimised"),
    ROW_OWN(S, "method", CT__FORM_SECTION, 0, 0, 0, 0, NULL, CT__TUNING_METHOD, "dfgn", "how"),
#undef S
#undef T
#define S CT__TUNING_FILE
#define T ct__tuning_file
    ROW_TEXT(S, "path", REQUIRED, AT(T, path), NULL, "of the file"),
    ROW_CHOICE(S, "format", 0, AT(T, format), CONFIGS, "by the file", "how it is read"),
#undef S
#undef T
#define S CT__TUNING_PARAMETER
#define T ct__tuning_parameter
    ROW_NUMBER(S, "start", 0, AT(T, start), -LIMIT, LIMIT, "the number in the file", "start value"),
    ROW_NUMBER(S, "lower", 0, AT(T, lower), -LIMIT, LIMIT, "a thousandth of the start; of variances a millionth",
               "hard bound: no run is below"),
    ROW_NUMBER(S, "upper", 0, AT(T, upper), -LIMIT, LIMIT, "a thousand times the start; of variances a million times",
               "hard bound: no run is above"),
    ROW_CHOICE(S, "is", 0, AT(T, is), QUANTITIES, "sigma", "what the number is"),
    ROW_CHOICE(S, "scale", 0, AT(T, scale), "log linear", "log; of a number linear, unless 0 < 10 lower <= upper",
               "how it is searched"),
    ROW_TEXT(S, "in", 0, AT(T, in), "the only file", "name of the file that has the key"),
    ROW_TEXTS(S, "key", TEXT, AT(T, key), 1, 1000, "none", "key path in the file, or a list of them"),
    ROW_TEXT(S, "environment", 0, AT(T, environment), "none", "name of an environment variable"),
    ROW_TEXT(S, "same_as", 0, AT(T, same_as), "none", "another parameter that it is a multiple of"),
    ROW_NUMBER(S, "times", CT__OPEN_LOW, AT(T, times), 0, LIMIT, "1", "of same_as: the factor"),
    ROW_TEXT(S, "group", 0, AT(T, group), "none", "for spread"),
    ROW_BOOL(S, "separate", AT(T, separate), "false", "a key with several entries is a parameter for each"),
#undef S
#undef T
#define S CT__TUNING_LOGS
    ROW_OWN(S, "train", CT__FORM_SECTION | CT__FORM_LIST | REQUIRED, 0, 0, 1, 100000, NULL, CT__TUNING_LOG, NULL,
            "logs to learn from: a mapping with patterns, or a list of them"),
    ROW_OWN(S, "test", CT__FORM_SECTION | CT__FORM_LIST, 0, 0, 1, 100000, NULL, CT__TUNING_LOG, "none",
            "logs that are not learned from"),
#undef S
#define S CT__TUNING_LOG
#define T ct__tuning_log
    ROW_TEXT(S, "log", REQUIRED, AT(T, log), NULL, "path, with * and named parts {run}"),
    ROW_TEXT(S, "truth", 0, AT(T, truth), "required; with estimate.score none", "path, with the same parts"),
    ROW_OWN(S, "also", CT__FORM_NAMED_TEXTS, 0, 0, 0, 0, NULL, NONE, "none", "names and paths of further files"),
    ROW_TEXT(S, "name", 0, AT(T, name), "the parts, or the file's name", "of the log, with parts"),
    ROW_TEXT(S, "recording", 0, AT(T, recording), "the log's name", "logs of one recording are held out together"),
#undef S
#undef T
#define TRAJECTORY                                                                                                     \
    ROW_CHOICE(S, "format", 0, AT(T, format), SOURCES, "by content", "format of the file"),                            \
    ROW_TEXT(S, "time", 0, AT(T, time), "as of a source in a recipe", "expression of the stamp, in s"),                \
    ROW_TEXT(S, "separator", 0, AT(T, separator), "guessed", "of columns of a table"),                                 \
    ROW_BOOL(S, "header", AT(T, header), "guessed", "whether a table's first line has the names of its columns"),      \
    ROW_TEXTS(S, "columns", TEXT, AT(T, columns), 1, 100000, "the header's", "names of the columns of a table"),       \
    ROW_TEXT(S, "comment", CT__FORM_EMPTY, AT(T, comment), "#, //, %", "lines of a table that begin so are skipped"),  \
    ROW_TEXT(S, "topic", 0, AT(T, topic), "the only one", "topic of a bag"),                                           \
    ROW_TEXT(S, "each", 0, AT(T, each), "the message is the record", "array whose elements are the records"),          \
    ROW_TEXT(S, "where", 0, AT(T, where), "all", "condition; other records are left out"),                             \
    ROW_TEXTS(S, "position", 0, AT(T, position), 2, 3, "by the format", "x, y or x, y, z"),                            \
    ROW_TEXTS(S, "geodetic", 0, AT(T, geodetic), 3, 3, "none", "latitude, longitude in degrees, height in m"),         \
    ROW_TEXTS(S, "quaternion", 0, AT(T, quaternion), 4, 4, "by the format", "qx, qy, qz, qw"),                         \
    ROW_TEXT(S, "yaw", 0, AT(T, yaw), "by the format", "rotation in the plane, rad"),                                  \
    ROW_TEXTS(S, "matrix", 0, AT(T, matrix), 12, 12, "by the format", "3 x 4, row by row"),                            \
    ROW_CHOICE(S, "axes", 0, AT(T, axes), "robot camera", "robot", "camera: x right, y down, z ahead"),                \
    ROW_NUMBERS(S, "mount", 0, AT(T, mount), -METRES, METRES, 2, 7, "the body's origin",                               \
                "pose on the body of what is tracked: x, y, z; x, y, yaw in the plane; x, y, z, qx, qy, qz, qw"),      \
    ROW_TEXT(S, "body", 0, AT(T, body), "the only one", "of graphs: x of x0, x1, ...")
#define T ct__tuning_trajectory
#define S CT__TUNING_TRUTH
    TRAJECTORY,
#undef S
#define S CT__TUNING_ESTIMATE
    ROW_TEXT(S, "file", 0, AT(T, file), "{estimate}", "where the program writes it"),
    TRAJECTORY,
    ROW_TEXTS(S, "covariance", 0, AT(T, covariance), 2, 36, "none", "variances, or a matrix row by row"),
    ROW_CHOICE(S, "covariance_frame", 0, AT(T, covariance_frame), FRAMES, "local", "axes of the covariance"),
    ROW_CHOICE(S, "align", 0, AT(T, align), ALIGNMENTS, "none", "motion that is fitted before the comparison"),
    ROW_NUMBER(S, "offset", 0, AT(T, offset_s), -STAMP, STAMP, "0", "s, added to the estimate's stamps"),
    ROW_NUMBER(S, "gap", CT__OPEN_LOW, AT(T, gap_s), 0, SECONDS, "0.5; of slow estimates 2.5 intervals",
               "s, the largest that is interpolated"),
    ROW_NUMBER(S, "skip", 0, AT(T, skip_s), 0, SECONDS, "0", "s at the beginning that are not compared"),
    ROW_BOOL(S, "relative_time", AT(T, relative), "false", "the estimate's stamps count from the truth's first one"),
    ROW_BOOL(S, "whole", AT(T, whole), "false", "time of the truth before and after the first estimate counts as lost"),
    ROW_OWN(S, "score", TEXT | CT__FORM_TEXTS, 0, 0, 1, 10000, NULL, NONE, "none",
            "a command that prints residuals, one a line; then no truth is read"),
#undef S
#undef T
#define S CT__TUNING_LOSS
#define T ct__tuning_loss
    ROW_CHOICE(S, "type", 0, AT(T, type), LOSSES, "local", "difference of poses, or of motions"),
    ROW_TEXT(S, "over", 0, AT(T, over), "1 frames", "of relative: 10 m, 2 s, 5 frames"),
    ROW_NUMBER(S, "translation", 0, AT(T, translation), 0, 1e12, "1", "weight of squares, 1/m^2"),
    ROW_NUMBER(S, "rotation", 0, AT(T, rotation), 0, 1e12, "1", "weight of squares, 1/rad^2"),
    ROW_OWN(S, "robust", CT__FORM_KERNEL, 0, 0, 0, 0, NULL, NONE, "none",
            "kernel and width of a pose's residual: huber:0.5"),
    ROW_NUMBER(S, "lost", 0, AT(T, lost), 0, 1e12, "100",
               "a pose without estimate counts as so many times the median squared residual at the start"),
    ROW_NUMBER(S, "nees", 0, AT(T, nees), 0, 1e12, "0", "weight of (log NEES)^2 per pose"),
#undef S
#undef T
#define S CT__TUNING_METHOD
#define T ct__tuning_method
    ROW_CHOICE(S, "name", 0, AT(T, name), METHODS, "dfgn", "of the method"),
    ROW_INTEGER(S, "points", AT(T, points), 1, 1e9, "the method's own", "parameter values to try, at most"),
    ROW_INTEGER(S, "folds", AT(T, folds), 0, 1000, "5", "of held-out recordings; 0: none"),
    ROW_OWN(S, "prior", CT__FORM_NUMBER, 0, 1e12, 0, 0, NULL, NONE, "held-out logs decide",
            "weight of the prior towards the start"),
    ROW_INTEGER(S, "repeats", AT(T, repeats), 1, 1000, "as its noise needs", "runs averaged at every point"),
    ROW_CHOICE(S, "global", 0, AT(T, global), "never always stuck", "stuck", "coarse search of the bounds"),
    ROW_INTEGER(S, "seed", AT(T, seed), 0, 9007199254740992.0, "1", "of random numbers"),
#undef S
#undef T
};

#define X(constant, name, heading) name,
static const char *const NAME[] = {CT__TUNING_SECTION_LIST(X)};
#undef X

const ct__schema ct__tuning_schema = {.title = "covtune tune, version 1",
                                      .sections = CT__TUNING_SECTION_COUNT,
                                      .section = NAME,
                                      .keys = (int)(sizeof KEYS / sizeof *KEYS),
                                      .key = KEYS};

ct_status ct_tuning_schema(char **text, ct_err *err) { return ct__schema_json(&ct__tuning_schema, text, err); }
