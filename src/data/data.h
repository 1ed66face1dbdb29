/* data.h: what readers and writers of sequence files share.
 *
 *   ct__lines   a text file, line by line, split into words            text_lines.c, lines_ahead.c
 *   ct__build   a sequence that is being read                          sequence_builder.c, deduplicate_noise.c,
 *                                                                      initialise.c, repair_covariance.c
 *   ct__out     a sequence that is being written                       writer.c
 *   shapes      in covtune's own sequences                             read_covtune_shape.c
 *   binary      covtune's own sequences as arrays                      binary.h, read_binary.c, write_binary.c
 *   ct__yaml    the contents of dataset.yaml                           dataset_yaml.c, dataset_schema.c
 *   simulated   what simulators share                                  deduplicate_noise.c, src/simulate/
 *   numbers     group elements and matrices as words                   fields.c
 *
 * To add a format: a line in CT_FORMAT_LIST (covtune/data.h), one file with a `ct__NAME_read` and, if the format can
 * hold graphs, a `ct__NAME_write`, their row in the table of sequence.c, a section in docs/formats.md, and a seed in
 * tests/fuzz/corpus/data.
 *
 * Readers and writers run with the thread's locale set to "C" (ct__sequence_read_stream and
 * ct__sequence_write_stream set it), so strtod and printf use a decimal point. */
#ifndef CT_DATA_PRIVATE_H
#define CT_DATA_PRIVATE_H

#include "base/base.h"
#include "base/file.h"
#include "base/name_table.h"
#include "noise/noise.h"

#include <covtune/data.h>
#include <stdio.h>

/* ---- Lines and words ------------------------------------------------------------------------- */

#define CT__LINE_MAX  65536 /* bytes; the longest valid line (a 6 x 6 matrix) has about 1000 */
#define CT__WORDS_MAX 128   /* words; the longest valid line has about 40                     */

#define CT__NOT_READ 2
typedef struct ct__lines_ahead ct__lines_ahead; /* lines that a second thread has read: lines_ahead.c */

/* A reader at the start of a file has all fields zero except file, path, err and wants_ahead. */
typedef struct {
    FILE       *file;  /* borrowed                                                 */
    const char *path;  /* borrowed; as messages name the file                      */
    ct_err     *err;   /* borrowed; may be NULL                                    */
    int         commas; /* 1: words are separated by commas, blanks around them removed; a word may be empty */
    int64_t     line;  /* number of the current line, from 1; 0 before the first   */
    int         words;
    char       *word[CT__WORDS_MAX]; /* until the next line                        */
    char       *buffer;
    int64_t     begin, end;          /* bytes read and not yet handed out          */
    int         ended;
    int         wants_ahead;         /* 1: a second thread may read ahead          */
    int         ahead_begun;
    ct__lines_ahead *ahead;          /* or NULL                                    */
    const double    *number;         /* with `ahead`, per word: its number, if it is one */
    const uint8_t   *is_number;      /* or CT__NOT_READ: only its text is known    */
} ct__lines;

/* Go to the next line that has words, and split it at blanks. '#' at the start of a word starts a comment. *more is
 * 0 at the end of the file. Overlong lines, NUL bytes and read errors are errors. */
ct_status ct__lines_next(ct__lines *in, int *more);
void      ct__lines_free(ct__lines *in); /* the buffer; the file stays open */
/* lines_ahead.c. Begins to read ahead, if the file is a large one; ct__lines_next then takes lines from there. */
void      ct__lines_ahead_begin(ct__lines *in);
ct_status ct__lines_ahead_next(ct__lines *in, int *more);
void      ct__lines_ahead_end(ct__lines *in);

/* Returns CT_E_PARSE. The message is "path:line: " ("path: " before the first line) and the sentence. */
ct_status ct__lines_bad(const ct__lines *in, const char *fmt, ...) CT_PRINTF(2, 3);
/* Prefixes the sentence in err with "path:line: "; passes CT_OK through. */
ct_status ct__lines_place(const ct__lines *in, ct_status status);

/* Word w as a number: decimal, finite, nothing after it. `what` names it in messages. */
ct_status ct__word_number(const ct__lines *in, int w, const char *what, double *value);
ct_status ct__word_numbers(const ct__lines *in, int w, int n, const char *what, double value[]);
ct_status ct__word_integer(const ct__lines *in, int w, const char *what, int64_t low, int64_t high, int64_t *value);
/* The line must have n words from word w on, or end there: "EDGE_SE2 needs 6 information entries, found 4". */
ct_status ct__word_need(const ct__lines *in, int w, int n, const char *what);
ct_status ct__word_end(const ct__lines *in, int w);

/* The word in quotes, truncated to a readable length; bytes that do not print are shown as '?'. */
#define CT__QUOTE_MAX 48
const char *ct__quote(const char *word, char buf[CT__QUOTE_MAX]);

/* 1 if the text is a number (as above). */
int ct__is_number(const char *text, double *value);


/* ---- Reading --------------------------------------------------------------------------------- */

/* Which models of the table have which covariance, by group; see deduplicate_noise.c. */
typedef struct {
    int32_t  *slot;  /* open addressing: index of the model + 1 */
    int64_t   slots;
    ct__names group;
    int32_t  *next;  /* per group: number of the next name to try */
    int64_t   next_capacity;
    int32_t   seen;  /* models of the table that are indexed      */
} ct__intern;

/* What happens if a file gives a model of the table other numbers. Files of a dataset have equal rank:
 *   is_given returns 1   the dataset gives the numbers; they stay
 *   the name is numbered (group#7)   the file's model gets a free number
 *   else   an error
 * Without a policy, as for a table read from a noise file, the table's numbers stay and a note is made. */
typedef struct {
    int       (*is_given)(const void *user, const char *model);
    const void *user;
} ct__conflict_policy;

/* Shapes of a covtune sequence that is being read (read_covtune_shape.c). All zero at the start. */
typedef struct {
    char         *name;   /* of the shape whose numbers are being read, NULL: none is */
    ct_shape_kind kind;
    int64_t       line;   /* where it began */
    double       *number;
    int64_t       count, capacity;
    struct {
        int32_t factor;
        int64_t line;
    }            *contact; /* factors on grids */
    int64_t       contacts, contact_capacity;
    int           begun;      /* there is a contact of any shape */
    int64_t       first_line; /* of the first one */
    int32_t       first;      /* its factor */
} ct__shape_lines;

/* Matrices that were made positive definite, counted by ct_sequence.repaired (repair_covariance.c). All zero at the
 * start. */
#define CT__INFORMATION "information"
#define CT__COVARIANCE  "covariance"
typedef struct {
    const char *of;           /* what has one: "noise model"; NULL: an edge           */
    const char *what;         /* of the worst matrix, as are the fields below         */
    double      least, most;  /* eigenvalues                                          */
    int64_t     line;
} ct__repairs;

/* A sequence that is being read. Functions that fail leave a sentence with file and line in in.err. */
typedef struct {
    ct__lines    in;
    ct_noise    *noise;        /* borrowed */
    int32_t      noise_before; /* models the table had before this file */
    ct_sequence *seq;          /* with an empty graph */
    ct__intern   intern;
    uint8_t     *given;        /* per variable: 1 if the file gave its value, 0 if an edge mentioned it only */
    int64_t      given_capacity, truth_capacity, known_capacity, stamp_capacity;
    int32_t      truth_vars, stamp_vars; /* variables that truth and stamp cover so far */
    int32_t      mentioned;    /* variables that were only mentioned when they were added */
    int32_t      found;        /* the variable that was looked up last */
    int32_t      kept;         /* models that kept the table's numbers although the file has others */
    char         kept_name[64]; /* the first of them */
    const ct__conflict_policy *policy; /* borrowed, or NULL */
    ct__names    defined;        /* with a policy: names of the models that this file has defined so far */
    struct {
        int32_t index;         /* in the table, under this or another name */
        int64_t line;
    }           *defined_model;
    int64_t      defined_capacity;
    ct__shape_lines shapes;
    int64_t      version;      /* of a file of covtune's own format                                 */
    const ct_push_csv_options *push; /* borrowed; NULL: the defaults */
    int          repair;       /* 1: as ct_read_options has it */
    ct__repairs  repairs;
} ct__build;

/* As ct_graph_add_variable and ct_graph_add_factor. Values are in the stored layout. A variable that was only
 * mentioned before gets its value. */
ct_status ct__build_variable(ct__build *b, const char *name, ct_kind kind, const double *value, int32_t *index);
ct_status ct__build_factor(ct__build *b, const ct_factor_ops *ops, const int32_t var[], const double z[],
                           int32_t noise);
/* The variable of that name. If there is none, it is added without a value. */
ct_status ct__build_mention(ct__build *b, const char *name, ct_kind kind, int32_t *index);
/* Compute values for variables that were only mentioned, by composing measurements (initialise.c). */
ct_status ct__build_initialise(ct__build *b);
/* Set the truth of a variable (stored layout); bit i of `known`: tangent coordinate i is known. */
ct_status ct__build_truth(ct__build *b, int32_t var, const double *value, unsigned known);
ct_status ct__build_stamp(ct__build *b, int32_t var, double stamp_s);
/* After the last line: extend truth, masks and times, if any, to the whole graph, and complete the notes. */
ct_status ct__build_end(ct__build *b);
/* Frees all but seq, which the caller owns. */
void      ct__build_free(ct__build *b);
/* Append a sentence to seq->note, separated by "; "; at most 4 KB. */
ct_status ct__build_note(ct__build *b, const char *fmt, ...) CT_PRINTF(2, 3);

/* Define a model. If the table already had a model of that name (from a noise file or another sequence), that one is
 * used; if its numbers differ, the note mentions it. A different dimension, or a second definition in this file, is
 * an error. `value` holds 1 variance, dim variances or dim x dim numbers, depending on the kind. */
ct_status ct__build_model(ct__build *b, const char *name, ct_noise_kind kind, int dim, const double value[],
                          ct_robust robust, int32_t *index);
/* The model that this file calls so, or -1. */
int32_t   ct__build_find_model(const ct__build *b, const char *name);
/* Add a model under a name that the table does not have. */
ct_status ct__build_add_model(ct__build *b, const char *name, ct_noise_kind kind, int dim, const double value[],
                              ct_robust robust, int32_t *index);
/* Find a model equal to this one in the same group (the name up to '#'), under any number, or add one. */
ct_status ct__build_renumber(ct__build *b, const char *name, ct_noise_kind kind, int dim, const double value[],
                             ct_robust robust, int32_t *index);
/* For formats without model names: find or add the model of this group with this covariance (dim x dim, row-major).
 * The first of a group is called `group`, the others group#1, group#2, ... Diagonal matrices become diagonal models.
 * O(1) for any number of models. */
ct_status ct__build_covariance(ct__build *b, const char *group, int dim, const double covariance[], int32_t *index);
/* The same from the information matrix. */
ct_status ct__build_information(ct__build *b, const char *group, int dim, const double information[], int32_t *index);

/* Check that A (n x n row-major; `what` it is) is positive definite. If it is not, repair it if b->repair is set and
 * it is possible; else CT_E_NOISE with a sentence that tells whether repair is possible. `name` is for messages. */
ct_status ct__build_repair(ct__build *b, const char *name, const char *what, int n, double A[]);
ct_status ct__build_repair_note(ct__build *b);

/* CT_E_PARSE: there is no measurement model of that name, with the nearest one that there is. */
ct_status ct__build_no_measurement_model(const ct__build *b, const char *name);

void ct__intern_free(ct__intern *intern);

/* ct_sequence_read_with for files that share a table; policy and options may be NULL. */
ct_status ct__sequence_read_shared(const char *path, ct_format format, ct_noise *noise,
                                   const ct__conflict_policy *policy, const ct_read_options *options,
                                   ct_sequence **out, ct_err *err);
ct_status ct__sequence_read_from(FILE *file, const char *path, ct_format format, ct_noise *noise,
                                 const ct__conflict_policy *policy, const ct_read_options *options, ct_sequence **out,
                                 ct_err *err);
/* Read a stream from its start; `path` is for messages and the sequence's name. */
ct_status ct__sequence_read_stream(FILE *file, const char *path, ct_format format, const ct_read_options *options,
                                   ct_noise *noise, ct_sequence **out, ct_err *err);

/* The index of the sequence's shape of that name, or -1. */
int32_t   ct__sequence_shape(const ct_sequence *seq, const char *name);
/* The line "shape ..."; the line "+ ..."; and completion of the shape, before any other line and after the last. */
ct_status ct__shape_begin(ct__build *b);
ct_status ct__shape_more(ct__build *b);
ct_status ct__shape_end(ct__build *b);
/* A factor on shape `index` is about to be added: it is checked when all truth is known. `line` is for messages. */
ct_status ct__shape_contact(ct__build *b, int32_t index, int64_t line);
/* Word w, "shape=box", of a factor that is about to be added. */
ct_status ct__shape_word(ct__build *b, int w, const ct_factor_ops *ops, const ct_shape **shape);
/* After the last line: errors if the true position of a finger lies beyond the grid that it touches or deep inside
 * the object. Initial values there give a note. */
ct_status ct__shape_check(ct__build *b);
void      ct__shape_lines_free(ct__shape_lines *shapes);

/* ---- Numbers of elements and matrices, in and out -------------------------------------------- */

/* Parse the words from w on as a group element: an angle for SO2, x y yaw for SE2, x y z qx qy qz qw for SE3.
 * Rotations need not be normalised. `value` is in the stored layout. */
ct_status ct__word_element(const ct__lines *in, int w, ct_kind kind, double *value);

/* Parse the words from w on as the upper triangle, row by row, of a symmetric n x n matrix. Other programs put the
 * translation of an SE3 before its rotation, covtune the other way: 6 x 6 matrices are permuted. `what` is
 * "information" or "covariance". */
ct_status ct__word_triangle(const ct__lines *in, int w, int n, const char *what, double A[36]);
/* The number of its words. */
#define CT__TRIANGLE(n) ((n) * ((n) + 1) / 2)

/* Word w, an integer, as a variable name: x17. */
#define CT__ID_MAX      (INT64_MAX - INT32_MAX) /* leaves a free number for every variable */
#define CT__ID_NAME_MAX 24                      /* a letter and 19 digits                         */
ct_status ct__word_id(const ct__lines *in, int w, char prefix, char name[CT__ID_NAME_MAX]);

/* B = A with rows and columns permuted between translation first and rotation first. n = 6 only; smaller matrices
 * are copied. It is its own inverse. */
void ct__turn(int n, const double A[36], double B[36]);

/* Round n numbers to the fewest digits, from `digits` to 17, for which same(value, context) holds; returns 1. If
 * there are none, the numbers are unchanged and 0 is returned. */
int ct__shortest(int n, double value[], int digits, int (*same)(const double *value, const void *context),
                 const void *context);

/* The angle of the unit pair (c, s). Returns 1 and the shortest angle that reads back to the same bits, or 0 and the
 * nearest angle if there is none, as for a rounded product. */
int ct__angle(double c, double s, double *theta);

/* 1 if it is the identity, to the bit. */
int ct__is_identity(ct_kind kind, const double *value);

/* ---- Writing --------------------------------------------------------------------------------- */

typedef struct {
    FILE              *file;
    const ct_sequence *seq;
    const ct_noise    *noise;
    const double      *x;       /* values to write                        */
    int                x_given; /* 1: the caller's, 0: the initial values */
    int                lossy;
    int64_t            dropped;
    ct_err            *err;
    struct {
        int32_t noise;     /* index + 1; 0: nothing yet */
        double  multiplier;
        double  number[36];
    } memo[8];             /* the last matrices written: their shortest digits are slow to find */
} ct__out;

/* The numbers that are written for the noise of a factor, in the format's kind of matrix. *known is 0 if the caller
 * must compute and store them. */
double *ct__out_memo(ct__out *out, const ct_factor *f, int *known);
/* The noise of a factor: its model or, if it has a multiplier, that with m Sigma, in `own`. For formats with a matrix
 * on every edge. */
typedef struct {
    ct_noise_model model;
    double         covariance[36], sqrt_info[36];
} ct__own_model;
const ct_noise_model *ct__out_model(const ct__out *out, const ct_factor *f, ct__own_model *own);

/* Something that the format cannot represent: counted if the writer may drop it, else CT_E_UNSUPPORTED. */
ct_status ct__out_drop(ct__out *out, const char *fmt, ...) CT_PRINTF(2, 3);
/* Drop truth and times, which most formats of other programs cannot represent. */
ct_status ct__out_drop_extras(ct__out *out, const char *format);
/* 1 if files can hold the name: one word that does not begin with #, of limited length. */
int       ct__is_name(const char *name);
/* Check that a name is a single word for the reader. */
ct_status ct__out_check_name(const ct__out *out, const char *what, const char *name);
/* The same for every name that a file of covtune's own has: variables, noise models, shapes, recording. */
ct_status ct__out_check_names(const ct__out *out);
/* For formats with numbered variables: 17 for x17, and numbers after the largest for variables with other names.
 * With points_apart, points (R^n) have their own numbering, 17 for l17. The caller frees *ids. */
ct_status ct__out_ids(const ct__out *out, int points_apart, int64_t **ids);
/* Write the sequence's shapes in covtune's format. */
ct_status ct__shapes_write(const ct__out *out);
/* Write n numbers, a group element, or a symmetric matrix as ct__word_triangle reads it, each number after a blank. */
void ct__out_numbers(const ct__out *out, int n, const double value[]);
void ct__out_element(const ct__out *out, ct_kind kind, const double *value);
void ct__out_triangle(const ct__out *out, int n, const double A[36]);
/* The covariance of a model, dim x dim for every kind. */
void ct__out_covariance(const ct_noise_model *m, double covariance[36]);
/* Its inverse, with the fewest digits that read back to the same model. */
void ct__out_information(const ct_noise_model *m, double information[36]);
/* 1 if this information matrix reads as the covariance of the ct_noise_model *model. */
int  ct__same_model(const double *information, const void *model);

ct_status ct__sequence_write_stream(FILE *file, const ct_sequence *seq, const ct_noise *noise, const double *x,
                                    ct_format format, int lossy, int64_t *dropped, ct_err *err);

/* ---- Datasets -------------------------------------------------------------------------------- */

/* Owned paths. All zero is an empty list. */
typedef struct {
    char  **path;
    int64_t count, capacity;
    char    other[64]; /* the first name that was left out, "" if none */
    int64_t others;
} ct__paths;

/* The contents of dataset.yaml, filled and freed by libcyaml. Counts are 0 for missing keys. */
typedef struct {
    char    *name;
    int      kind;  /* ct_noise_kind + 1 */
    int      learn, arbitrary; /* 1: true, 2: false */
    double  *variance, *covariance, *bounds, *lower, *upper, *unit;
    unsigned variances, covariances, bounds_count, lowers, uppers, units;
    struct ct__yaml_bias *bias; /* or NULL */
    char    *model;             /* or NULL */
} ct__yaml_group;

/* The bias of a group; 0 and NULL: not given. */
typedef struct ct__yaml_bias {
    int      process, effect, per; /* number of the choice + 1 */
    char   **row;
    double  *tau, *period, *every, *sigma;
    unsigned rows, sigmas;
} ct__yaml_bias;

typedef struct {
    double *translation, *rotation; /* m, rad; NULL: not given */
} ct__yaml_sigma;

typedef struct {
    char           *name;
    char          **file; /* paths or patterns */
    unsigned        files;
    ct__yaml_sigma *truth_sigma;
} ct__yaml_recording;

typedef struct {
    char               *format;
    int                 version;
    ct__yaml_group     *group;
    ct__yaml_recording *recording;
    ct__yaml_sigma     *truth_sigma;
    char              **train, **test;
    unsigned            groups, recordings, trains, tests;
    ct__names           index; /* group names, numbered like the groups; not libcyaml's */
    char               *text;  /* the file, for lines in messages; not libcyaml's       */
} ct__yaml;

/* Parse (syntax and schema: dataset_schema.c) and check (values, unique names: dataset_yaml.c). `path` is for
 * messages. On failure *out is NULL. */
ct_status ct__yaml_parse(const char *text, size_t size, const char *path, ct__yaml **out, ct_err *err);
ct_status ct__yaml_check(ct__yaml *yaml, const char *path, ct_err *err);
void      ct__yaml_free(ct__yaml *yaml);
/* dataset_recordings.c: the line of the file that has `word`, from the line that begins with `key` on; 0: none. */
int       ct__yaml_line(const ct__yaml *yaml, const char *key, const char *word);
ct_status ct__yaml_check_recordings(const ct__yaml *yaml, const char *path, ct_err *err);
/* Every pattern matches a file of the lists, and no file belongs to two recordings. Paths begin with `folder`. */
ct_status ct__yaml_match_recordings(const ct__yaml *yaml, const char *path, const char *folder, const ct__paths *train,
                                    const ct__paths *test, ct_err *err);
/* Recording and truth_sigma of the sequence that was read from `file`, as the file says or dataset.yaml overrides. */
ct_status ct__yaml_apply_recording(const ct__yaml *yaml, const char *folder, const char *file, ct_sequence *seq,
                                   ct_err *err);
/* Convert a group for a dataset; the name is copied. */
ct_status ct__yaml_take_group(const ct__yaml_group *from, const char *path, ct_dataset_group *to, ct_err *err);
/* Set the table's models to the numbers of the file. */
ct_status ct__yaml_apply(const ct__yaml *yaml, const char *path, ct_noise *noise, ct_err *err);
/* The group that applies to a model, or that gives its numbers: the one with the most specific name. -1 or NULL:
 * none. */
int64_t               ct__yaml_group_of(const ct__yaml *yaml, const char *model);
const ct__yaml_group *ct__yaml_numbers_of(const ct__yaml *yaml, const char *model);
/* Write the file, with lists of paths. */
ct_status ct__yaml_write(FILE *file, const ct_dataset *dataset, char *const train[], char *const test[], ct_err *err);

/* declare_bias.c: a bias from "gauss-markov:tau=20" or "x+y=random-walk"; *sigma is NaN if it is not given. */
ct_status ct__bias_parse(const char *sensor, const char *text, ct_bias *bias, double *sigma, ct_err *err);
/* declare_bias.c: biases of groups whose sensor a sequence has. */
ct_status ct__dataset_declare_biases(ct_dataset *dataset, ct_err *err);
/* dataset_bias.c: the bias of a group of dataset.yaml, checked; and written. */
ct_status ct__yaml_take_bias(const ct__yaml_group *from, const char *path, ct_dataset_group *to, ct_err *err);
void      ct__yaml_put_bias(FILE *out, const ct_dataset_group *group);

/* The group of a dataset that applies to a model: the one with the most specific name. NULL: none. */
const ct_dataset_group *ct__dataset_find_group(const ct_dataset *dataset, const char *model);

/* The place of a sequence in a list, or -1. */
int32_t ct__sequence_find(ct_sequence *const list[], int32_t count, const ct_sequence *seq);

/* The sequence files of a folder by their ending, sorted by name. Hidden files, folders and other endings are
 * skipped. */
ct_status ct__paths_scan(ct__paths *paths, const char *folder, ct_err *err);
ct_status ct__paths_add(ct__paths *paths, const char *folder, const char *name, ct_err *err);
/* The files of a folder that match a pattern (*, ?, [...]), sorted by name; *found <- their number. */
ct_status ct__paths_match(ct__paths *paths, const char *folder, const char *pattern, int64_t *found, ct_err *err);
/* The part of a path behind a folder that it begins with, without "./"; else the path. */
const char *ct__path_inside(const char *folder, const char *path);
void      ct__paths_free(ct__paths *paths);
/* folder/name, or name if it starts with '/'. NULL without memory. */
char     *ct__path_join(const char *folder, const char *name);

/* ---- Made to order --------------------------------------------------------------------------- */

/* The numbers of a covariance (dim x dim): of a diagonal model if it is diagonal, else of a full one. `name` is for
 * messages. */
ct_status ct__covariance_numbers(const char *name, int dim, const double covariance[], ct__noise_numbers *out,
                                 ct_err *err);
/* Find or add the model of this name with these numbers and no kernel. */
ct_status ct__share_model(ct_noise *noise, const char *name, const ct__noise_numbers *numbers, int32_t *index,
                          ct_err *err);
/* z = (a^-1 b) o Exp(e). */
void      ct__measure(ct_kind kind, const double *a, const double *b, const double *e, double z[CT_SIZE_MAX]);
/* True poses of a smooth random path in 100 m x 50 m (x 10 m), heading along it. */
void      ct__nav_path(ct_kind kind, int32_t poses, ct_rng *rng, double *truth);

/* ---- The formats, one file each -------------------------------------------------------------- */

/* A reader fills b->seq; a writer writes to out->file. The caller handles I/O errors. */
typedef ct_status ct__read_fn(ct__build *b);
typedef ct_status ct__write_fn(ct__out *out);

ct__read_fn ct__seqfile_read, ct__binary_read, ct__g2o_read, ct__leo_read, ct__tum_read, ct__kitti_read, ct__pyfg_read,
    ct__isam_read, ct__push_csv_read;
/* format_table.c: how a format is read and written. */
typedef struct {
    ct__read_fn  *read;
    ct__write_fn *write; /* NULL: it is not written */
} ct__format_functions;
extern const ct__format_functions ct__format_table[CT_FORMAT_COUNT];

#define CT__PUSH_COLUMN "object_theta" /* no file of another format starts with this name */
ct__write_fn ct__seqfile_write, ct__binary_write, ct__g2o_write, ct__leo_write, ct__tum_write, ct__kitti_write,
    ct__pyfg_write, ct__isam_write;

#endif
