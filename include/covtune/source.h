/* covtune/source.h: recordings of any kind as streams of stamped records.
 *
 * A source is a table (delimited text, TUM, EuRoC, KITTI, g2o) or one topic of a ROS bag. A record is a line of the
 * table, a message, or an element of an array in a message. The caller says which values it wants, as expressions over
 * the record's fields, and reads record after record:
 *
 *     ct_source_options options = ct_source_defaults();
 *     options.topic = "/odom";
 *     ct_source *source;
 *     int32_t    v, w;
 *     int        more;
 *     CT_TRY(ct_source_open("run.mcap", &options, &source, err));
 *     CT_TRY(ct_source_select(source, "twist.twist.linear.x", &v, err));
 *     CT_TRY(ct_source_select(source, "twist.twist.angular.z in deg", &w, err));
 *     while (CT_TRY(ct_source_next(source, &record, &more, err)), more) use(record.stamp, record.value[v]);
 *     ct_source_free(source);
 *
 * Sources stream: memory does not grow with the file. Stamps are whole nanoseconds, so that differences are exact for
 * clocks that count from 1970. Units of values after selection are m, rad, s and their quotients.
 *
 * Expressions. Names are columns ("v", or "#3" for the third column) or fields of a message by path
 * ("pose.pose.position.x", "ranges[0]", "header.frame_id"). A name with other characters is quoted by backquotes:
 * `forward velocity`. Operators, by falling precedence: ^, unary -, * / %, + -, < <= > >= == !=, not, and, or; a % b
 * has the sign of b. Functions: abs sqrt sin cos tan asin acos atan atan2 exp log floor round (halves away from 0) min
 * max (of two or more) hypot isnan. Constants: pi; numbers; 'text'. Text can be compared (== !=) only. A condition is
 * 1 or 0. A missing value is NaN, and so is what is computed from it; comparisons with it are 0; a missing text is ''.
 * "EXPRESSION in UNIT" multiplies by the unit: one of CT_UNIT_LIST, or a product or quotient of them ("km/h", "deg/s",
 * "m/s^2"). It ends an expression, and can be used in brackets: (left in mm) - (right in m).
 *
 * Tables (docs/import.md has the rules). A column "x [m]" is called "x"; its type is "number [m]". The unit is told and
 * not applied: expressions name units. Records of a table without stamps, and those of KITTI, are 1 s apart from 0.
 */
#ifndef COVTUNE_SOURCE_H
#define COVTUNE_SOURCE_H

#include <covtune/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int64_t ct_ns; /* time in ns: since 1970 or since any other moment, as the source has it */

/* X(constant, name, description) */
#define CT_SOURCE_FORMAT_LIST(X)                                                                                       \
    X(CT_SOURCE_TABLE, "table", "delimited text: columns by name or number")                                           \
    X(CT_SOURCE_TUM, "tum", "t x y z qx qy qz qw")                                                                     \
    X(CT_SOURCE_EUROC, "euroc", "EuRoC/ASL csv: t in ns; columns named in the header, p_RS_R_x [m] as p_RS_R_x")       \
    X(CT_SOURCE_KITTI, "kitti", "12 numbers a line, m11 .. m34; t first, or the line's number")                        \
    X(CT_SOURCE_G2O, "g2o", "tag, i, j, then x y yaw or x y z qx qy qz qw; vertices: tag, i")                          \
    X(CT_SOURCE_ROS1, "ros1", "ROS 1 bag")                                                                             \
    X(CT_SOURCE_ROS2, "ros2", "ROS 2 bag in SQLite: file or folder")                                                   \
    X(CT_SOURCE_MCAP, "mcap", "MCAP: ROS 1, ROS 2 or JSON messages; file or folder of a ROS 2 bag")

typedef enum {
#define X(constant, name, description) constant,
    CT_SOURCE_FORMAT_LIST(X)
#undef X
    CT_SOURCE_FORMAT_COUNT,
    CT_SOURCE_AUTO /* by the file's first bytes, then its ending */
} ct_source_format;

const char *ct_source_format_name(ct_source_format format);
int         ct_source_format_find(const char *name); /* a ct_source_format, or -1 */

/* X(name, factor): what one of it is in m, rad, s, kg-free SI */
#define CT_UNIT_LIST(X)                                                                                                \
    X("m", 1) X("km", 1e3) X("cm", 1e-2) X("mm", 1e-3) X("um", 1e-6) X("ft", 0.3048) X("in", 0.0254)                   \
    X("mi", 1609.344) X("nmi", 1852) X("rad", 1) X("mrad", 1e-3) X("deg", 0.017453292519943295)                        \
    X("rev", 6.283185307179586) X("s", 1) X("ms", 1e-3) X("us", 1e-6) X("ns", 1e-9) X("min", 60) X("h", 3600)          \
    X("Hz", 1) X("g", 9.80665) X("kn", 0.5144444444444445) X("mph", 0.44704) X("rpm", 0.10471975511965977) X("1", 1)   \
    X("%", 1e-2)

/* Strings are borrowed by ct_source_open only; it copies what it needs. NULL or 0: the default. */
typedef struct {
    ct_source_format format;
    /* tables */
    const char        *separator; /* one character, "tab" or "blank" (any number of blanks and tabs); NULL:
                                     guessed from the first lines                                          */
    int                header;    /* 1: the first line has names; 0: none; -1: guessed                     */
    const char *const *column;    /* names of the first columns, instead of those of a header              */
    int32_t            columns;
    const char        *comment;   /* a line that begins so is skipped; NULL: "#", "//", "%" and a blank; "": none */
    const char *const *missing;   /* words that stand for a missing value, beside "", "NA" and "nan"       */
    int32_t            missings;
    int64_t            skip;      /* lines to skip at the beginning                                        */
    /* bags */
    const char        *topic;     /* NULL: the only one                                                    */
    const char        *each;      /* path of an array: its elements are the records. Fields of the message
                                     itself are "^.header.stamp"                                           */
    /* all */
    const char        *time;      /* expression of the stamp in s. NULL: header.stamp (of the element, then of the
                                     message), else the time of recording; of tables the column t, time, timestamp,
                                     stamp (any case; in s, or as its header says: "#timestamp [ns]"), else none:
                                     records are numbered. A name alone or with ns, us, ms or s, "t in ns", is read
                                     without rounding; it may also be a date with a time (ISO 8601, of tables) */
    const char        *where;     /* condition: other records are left out; lines of a table that are left out
                                     may have other columns                                                */
    const char *const *constant;  /* pairs name, value (number or text) that expressions may use           */
    int32_t            constants; /* number of pairs                                                       */
} ct_source_options;

ct_source_options ct_source_defaults(void); /* CT_SOURCE_AUTO, header -1, else all 0 */

typedef struct ct_source ct_source;

/* Open a file (for ROS 2 bags also the folder). Text may be compressed by gzip. CT_E_IO, CT_E_PARSE or CT_E_ARGUMENT
 * with a sentence: what is wrong in which file and line, or which column, topic or field there is instead.
 * CT_E_UNSUPPORTED: this build lacks the library that the file needs. */
ct_status ct_source_open(const char *path, const ct_source_options *options, ct_source **out, ct_err *err);
void      ct_source_free(ct_source *source);

/* Ask for a value of every record: *index is its place in ct_record.value. Before the first ct_source_next. Names that
 * the source does not have: CT_E_ARGUMENT, with the nearest that it has. ct_source_select_text: its place in
 * ct_record.text; a plain name; integers are written exactly and other numbers as %.15g, so that "7", "7.0" and an
 * integer field are equal. */
ct_status ct_source_select(ct_source *source, const char *expression, int32_t *index, ct_err *err);
ct_status ct_source_select_text(ct_source *source, const char *name, int32_t *index, ct_err *err);

/* A record; what it points to is valid until the next call. */
typedef struct {
    ct_ns              stamp;
    int64_t            line;  /* of a table; number of the message in a bag: from 1 */
    const double      *value; /* NaN: missing                                       */
    const char *const *text;
} ct_record;

/* *more <- 1 and the next record, in the order of the file; or 0 at its end. Lines that are cut short, words that are
 * no numbers, messages that end early: CT_E_PARSE with file and line (or topic and message). A last line without its
 * end that is no whole record counts as damaged, and is left out. */
ct_status ct_source_next(ct_source *source, ct_record *record, int *more, ct_err *err);

typedef struct {
    int64_t records;     /* given to the caller               */
    int64_t left_out;    /* by `where`                        */
    int64_t no_stamp;    /* left out: their stamp is missing  */
    int64_t bytes, size; /* read so far, of all; size 0: unknown */
    int64_t damaged;     /* bytes at the end that are no whole record: the file was cut short */
} ct_source_counts;

ct_source_counts ct_source_count(const ct_source *source);
/* 1: records have stamps of their own. 0: they are numbered, 1 s apart. */
int ct_source_timed(const ct_source *source);
/* "file:line" or "file: /topic, message 17" of the last record, into buf; returns buf. */
const char *ct_source_where(const ct_source *source, char *buf, size_t size);

/* Fields of the records: names for expressions, with their types. Arrays of numbers are "ranges[]". */
typedef struct {
    char *name, *type; /* "number", "number [deg]", "text", "time"; of messages as the definition has it: "float64" */
} ct_source_field;
int32_t                ct_source_fields(const ct_source *source);
const ct_source_field *ct_source_field_at(const ct_source *source, int32_t i); /* NULL: none */

/* ---- What a bag holds ------------------------------------------------------------------------- */

typedef struct {
    char   *name, *type; /* "/odom", "nav_msgs/msg/Odometry"                                       */
    char   *encoding;    /* "ros1", "cdr", "json", ...                                             */
    char   *definition;  /* text of the message definition, or NULL                                */
    int64_t count;
    ct_ns   first, last; /* times of recording; first > last: no message                           */
} ct_bag_topic;

typedef struct {
    ct_source_format format;
    char     compression[32]; /* "none", "lz4", "zstd", "bz2", "mixed" */
    int32_t  topics;
    ct_bag_topic *topic;      /* by name */
    int64_t  messages;
    int64_t  damaged;         /* bytes at the end that are no whole record: a recording that was cut short */
} ct_bag;

/* Is the file or folder a bag, by its first bytes? 0 also if it cannot be read; -1: there is no memory to tell. */
int ct_bag_is(const char *path);
/* Counts and times of all topics: from the index, or by reading the file where there is none. MCAP files of at most
 * 1 GiB are read through, and all their checksums are checked: CT_E_PARSE with what is damaged. CT_E_UNSUPPORTED if the
 * file is no bag, or compressed in a way that this build does not read. */
ct_status ct_bag_read(const char *path, ct_bag **out, ct_err *err);
void      ct_bag_free(ct_bag *bag);

/* ---- Files by pattern ------------------------------------------------------------------------- */

/* Files that a pattern matches: "*" and "?" as in a shell, "{name}" as "*" that is remembered, also in folders. Sorted
 * by their parts, numbers by value. One name twice must match the same text. A part has at least one character; where
 * there are several ways, the first parts are short. A folder matches if it is a ROS 2 bag (metadata.yaml). CT_E_EMPTY:
 * nothing matches; the sentence has names that are like the pattern. */
typedef struct {
    int32_t files, parts;
    char  **file;  /* paths                                             */
    char  **name;  /* of the parts, in the order of the pattern          */
    char  **value; /* of part p in file f: value[f * parts + p]          */
} ct_matches;

ct_status ct_files_match(const char *folder, const char *pattern, ct_matches **out, ct_err *err);
void      ct_matches_free(ct_matches *matches);

#ifdef __cplusplus
}
#endif
#endif
