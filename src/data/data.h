/* data.h: what the readers and writers of sequence files share.
 *
 *   ct__lines   a text file, line by line, split into words            text_lines.c
 *   ct__build   a sequence while it is being read                      sequence_builder.c, intern_noise.c,
 *                                                                      initialise.c, repair_covariance.c
 *   ct__out     a sequence while it is being written                   writer.c
 *   shapes      in covtune's own sequences                             read_covtune_shape.c
 *   ct__yaml    dataset.yaml as it stands                              dataset_yaml.c, dataset_schema.c
 *   made        what sequences made to order share                     intern_noise.c, pose_graph.c, nav_path.c
 *   numbers     elements and matrices as words, and back               fields.c
 *
 * To add a format: a line in CT_FORMAT_LIST (covtune/data.h), one file with a `ct__NAME_read` and,
 * if the format can hold graphs, a `ct__NAME_write`, their row in the table of sequence.c, a
 * section in docs/formats.md, and a seed in tests/fuzz/corpus/data.
 *
 * All of it runs with the thread's locale set to "C" (ct__sequence_read_stream and
 * ct__sequence_write_stream see to that), so strtod and printf mean a decimal point by a point. */
#ifndef CT_DATA_PRIVATE_H
#define CT_DATA_PRIVATE_H

#include "base/base.h"
#include "base/file.h"
#include "base/names.h"
#include "noise/noise.h"

#include <covtune/data.h>
#include <stdio.h>

/* ---- Lines and words ------------------------------------------------------------------------- */

#define CT__LINE_MAX  65536 /* bytes; the longest honest line (a 6 x 6 matrix) has about 1000 */
#define CT__WORDS_MAX 128   /* words; the longest honest line has about 40                    */

/* All zero but file, path and err is a reader at the start of the file. */
typedef struct {
    FILE       *file;  /* borrowed                                                 */
    const char *path;  /* borrowed; as messages name the file                      */
    ct_err     *err;   /* borrowed; may be NULL                                    */
    int         commas; /* 1: a word is what stands between commas, without the blanks around it; it may be empty */
    int64_t     line;  /* number of the current line, from 1; 0 before the first   */
    int         words;
    char       *word[CT__WORDS_MAX]; /* until the next line                        */
    char       *buffer;
    int64_t     begin, end;          /* bytes read and not yet handed out          */
    int         ended;
} ct__lines;

/* Go to the next line that has words, and split it at blanks. A word that begins with '#' begins a
 * comment. *more is 0 when there is none. Lines too long, NUL bytes and faults of the disk are errors. */
ct_status ct__lines_next(ct__lines *in, int *more);
void      ct__lines_free(ct__lines *in); /* the buffer; the file stays open */

/* CT_E_PARSE, with the sentence after "path:line: " ("path: " before the first line). */
ct_status ct__lines_bad(const ct__lines *in, const char *fmt, ...) CT_PRINTF(2, 3);
/* Puts "path:line: " before the sentence another module left in err; passes CT_OK through. */
ct_status ct__lines_place(const ct__lines *in, ct_status status);

/* Word w as a number: decimal, finite, nothing after it. `what` names it in the message. */
ct_status ct__word_number(const ct__lines *in, int w, const char *what, double *value);
ct_status ct__word_numbers(const ct__lines *in, int w, int n, const char *what, double value[]);
ct_status ct__word_integer(const ct__lines *in, int w, const char *what, int64_t low, int64_t high, int64_t *value);
/* The line must go on for n words from word w, or end there: "EDGE_SE2 needs 6 information entries, found 4". */
ct_status ct__word_need(const ct__lines *in, int w, int n, const char *what);
ct_status ct__word_end(const ct__lines *in, int w);

/* The word in quotes, cut to a readable length, bytes that do not print shown as '?'. */
#define CT__QUOTE_MAX 48
const char *ct__quote(const char *word, char buf[CT__QUOTE_MAX]);

/* Does the text stand for a number (as above)? */
int ct__is_number(const char *text, double *value);


/* ---- Reading --------------------------------------------------------------------------------- */

/* Which models of the table have which covariance, by group; see intern_noise.c. */
typedef struct {
    int32_t  *slot;  /* open addressing: index of the model + 1 */
    int64_t   slots;
    ct__names group;
    int32_t  *next;  /* per group: number of the next name to try */
    int64_t   next_capacity;
    int32_t   seen;  /* models of the table that are in here      */
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

/* Shapes of a covtune sequence while it is being read; see read_covtune_shape.c. All zero at the start. */
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
    int64_t       first_line; /* of the first contact of any shape, 0: none */
    int32_t       first;      /* its factor */
} ct__shape_lines;

/* Matrices that were made positive definite, which ct_sequence.repaired counts; see repair_covariance.c. All zero at
 * the start. */
#define CT__INFORMATION "information"
#define CT__COVARIANCE  "covariance"
typedef struct {
    const char *of;           /* what has one: "noise model"; NULL: an edge           */
    const char *what;         /* of the worst, as all else here                       */
    double      least, most;  /* eigenvalues                                          */
    int64_t     line;
} ct__repairs;

/* A sequence while it is being read: every verb leaves a sentence with file and line in in.err. */
typedef struct {
    ct__lines    in;
    ct_noise    *noise;        /* borrowed */
    int32_t      noise_before; /* models the table had before this file */
    ct_sequence *seq;          /* seq->graph is there, empty */
    ct__intern   intern;
    uint8_t     *given;        /* per variable: 1 if the file gave its value, 0 if it was only mentioned */
    int64_t      given_capacity, truth_capacity, known_capacity, stamp_capacity;
    int32_t      truth_vars, stamp_vars; /* variables that truth and stamp cover so far */
    int32_t      kept;         /* models of the table that stayed though the file has other numbers */
    char         kept_name[64]; /* the first of them */
    const ct__conflict_policy *policy; /* borrowed, or NULL */
    ct__names    defined;        /* with a policy: names of the models that this file has defined so far */
    struct {
        int32_t index;         /* in the table, perhaps under another name */
        int64_t line;
    }           *defined_model;
    int64_t      defined_capacity;
    ct__shape_lines shapes;
    const ct_push_csv_options *push; /* borrowed; NULL: the defaults */
    int          repair;       /* 1: as ct_read_options has it */
    ct__repairs  repairs;
} ct__build;

/* As ct_graph_add_variable and ct_graph_add_factor. Values are in the stored layout. A variable that
 * was mentioned before gets its value now. */
ct_status ct__build_variable(ct__build *b, const char *name, ct_kind kind, const double *value, int32_t *index);
ct_status ct__build_factor(ct__build *b, const ct_factor_ops *ops, const int32_t var[], const double z[],
                           int32_t noise);
/* The variable of that name; if there is none, one whose value is not known yet. */
ct_status ct__build_mention(ct__build *b, const char *name, ct_kind kind, int32_t *index);
/* Values for the variables that were only mentioned, by composing measurements; see initialise.c. */
ct_status ct__build_initialise(ct__build *b);
/* The truth of a variable (stored layout); bit i of `known` says that tangent coordinate i counts. */
ct_status ct__build_truth(ct__build *b, int32_t var, const double *value, unsigned known);
ct_status ct__build_stamp(ct__build *b, int32_t var, double stamp_s);
/* After the last line: truth, masks and times, if any, cover the whole graph; notes are complete. */
ct_status ct__build_end(ct__build *b);
/* All but seq, which is the caller's. */
void      ct__build_free(ct__build *b);
/* A sentence for seq->note; sentences are joined by "; ", and there is room for 4 KB of them. */
ct_status ct__build_note(ct__build *b, const char *fmt, ...) CT_PRINTF(2, 3);

/* A model under its own name. If the table had one of that name before this file (from a noise file or another
 * sequence) that one is used, and if it is another model the note says so; another dimension, or a second model of
 * that name in this file, is an error. `value` is 1 variance, dim variances or dim x dim, as the kind says. */
ct_status ct__build_model(ct__build *b, const char *name, ct_noise_kind kind, int dim, const double value[],
                          ct_robust robust, int32_t *index);
/* The model that a name of this file stands for, or -1. */
int32_t   ct__build_find_model(const ct__build *b, const char *name);
/* Adds a model, under a name that the table does not have. */
ct_status ct__build_add_model(ct__build *b, const char *name, ct_noise_kind kind, int dim, const double value[],
                              ct_robust robust, int32_t *index);
/* A model that is equal to this one, of the same group (the name up to a '#'), under any number; added if there is
 * none. */
ct_status ct__build_renumber(ct__build *b, const char *name, ct_noise_kind kind, int dim, const double value[],
                             ct_robust robust, int32_t *index);
/* For formats that name no models: the model of this group with this covariance (dim x dim, row-
 * major), found or added. The first of a group is called `group`, the others group#1, group#2, ...
 * Diagonal matrices become diagonal models. O(1) whatever the number of models. */
ct_status ct__build_covariance(ct__build *b, const char *group, int dim, const double covariance[], int32_t *index);
/* The same from the inverse of the covariance. */
ct_status ct__build_information(ct__build *b, const char *group, int dim, const double information[], int32_t *index);

/* A (n x n row-major, `what` it is) as a model takes it: left alone if it is positive definite, made so if it can be
 * and b->repair says so, else CT_E_NOISE and a sentence that says whether it could be. `name` is for that. */
ct_status ct__build_repair(ct__build *b, const char *name, const char *what, int n, double A[]);
ct_status ct__build_repair_note(ct__build *b);

void ct__intern_free(ct__intern *intern);

/* ct_sequence_read_with of a file that may share its table with others; policy and options may be NULL. */
ct_status ct__sequence_read_shared(const char *path, ct_format format, ct_noise *noise,
                                   const ct__conflict_policy *policy, const ct_read_options *options,
                                   ct_sequence **out, ct_err *err);
/* Read a stream that is at its start; `path` is for messages and for the sequence's name. */
ct_status ct__sequence_read_stream(FILE *file, const char *path, ct_format format, const ct_read_options *options,
                                   ct_noise *noise, ct_sequence **out, ct_err *err);

/* Which of the sequence's shapes has that name, or -1. */
int32_t   ct__sequence_shape(const ct_sequence *seq, const char *name);
/* The line "shape ..."; "+ ..."; and what to do before any other line and after the last, when the shape is
 * complete. */
ct_status ct__shape_begin(ct__build *b);
ct_status ct__shape_more(ct__build *b);
ct_status ct__shape_end(ct__build *b);
/* Word w, "shape=box", of a factor that is about to be added. */
ct_status ct__shape_word(ct__build *b, int w, const ct_factor_ops *ops, const ct_shape **shape);
/* After the last line: no finger lies, by its truth, beyond the grid that it is to touch, and none begins deep
 * inside the object; by start values that is noted. */
ct_status ct__shape_check(ct__build *b);
void      ct__shape_lines_free(ct__shape_lines *shapes);

/* ---- Numbers of elements and matrices, in and out -------------------------------------------- */

/* The words from w on as an element: an angle for SO2, x y yaw for SE2, x y z qx qy qz qw for
 * SE3. Rotations need not be unit. `value` is in the stored layout. */
ct_status ct__word_element(const ct__lines *in, int w, ct_kind kind, double *value);

/* The words from w on as the upper triangle, row by row, of a symmetric n x n matrix. Other programs
 * put an SE3's translation before its rotation, covtune the other way: 6 x 6 matrices are turned.
 * `what` is "information" or "covariance". */
ct_status ct__word_triangle(const ct__lines *in, int w, int n, const char *what, double A[36]);
/* How many words that is. */
#define CT__TRIANGLE(n) ((n) * ((n) + 1) / 2)

/* Word w, an integer, as the name of a variable: x17. */
#define CT__ID_MAX      (INT64_MAX - INT32_MAX) /* room for a number behind it for every variable */
#define CT__ID_NAME_MAX 24                      /* a letter and 19 digits                         */
ct_status ct__word_id(const ct__lines *in, int w, char prefix, char name[CT__ID_NAME_MAX]);

/* B = A with rows and columns in the other order: translation first, rotation first. n = 6 only;
 * smaller matrices are copied. It is its own inverse. */
void ct__turn(int n, const double A[36], double B[36]);

/* Rounds n numbers to the fewest digits, from `digits` to 17, for which same(value, context) holds,
 * and returns 1; if it never does they are left as they were, and it returns 0. */
int ct__shortest(int n, double value[], int digits, int (*same)(const double *value, const void *context),
                 const void *context);

/* The angle of the unit pair (c, s): the shortest one that reads back to the same bits, and 1; or, where
 * there is none (the pair is a product, rounded), the nearest, and 0. */
int ct__angle(double c, double s, double *theta);

/* Is it the identity, to the bit? */
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
        double  number[36];
    } memo[8];             /* matrices last written: finding their shortest digits costs more than the rest of a line */
} ct__out;

/* The numbers written for noise model `noise`, by its own kind of matrix in each format. *known is 0 if they are still
 * to be found and put there. */
double *ct__out_memo(ct__out *out, int32_t noise, int *known);

/* Something the format cannot hold: counted if the writer may drop it, else CT_E_UNSUPPORTED. */
ct_status ct__out_drop(ct__out *out, const char *fmt, ...) CT_PRINTF(2, 3);
/* Drops truth and times, which most formats of other programs have no place for. */
ct_status ct__out_drop_extras(ct__out *out, const char *format);
/* A name must be a word that the reader takes as one. */
ct_status ct__out_check_name(const ct__out *out, const char *what, const char *name);
/* For formats that number their variables: 17 for x17, and numbers after the largest for variables
 * called otherwise. With points_apart, points (R^n) are numbered apart from poses, 17 for l17. The
 * caller frees *ids. */
ct_status ct__out_ids(const ct__out *out, int points_apart, int64_t **ids);
/* The sequence's shapes, as lines of covtune's own format. */
ct_status ct__shapes_write(const ct__out *out);
/* n numbers, or an element's, or a symmetric matrix as ct__word_triangle reads it: each after a blank. */
void ct__out_numbers(const ct__out *out, int n, const double value[]);
void ct__out_element(const ct__out *out, ct_kind kind, const double *value);
void ct__out_triangle(const ct__out *out, int n, const double A[36]);
/* The covariance of model `noise`, dim x dim whatever its kind. */
void ct__out_covariance(const ct__out *out, int32_t noise, double covariance[36]);
/* Its inverse, entries rounded to the fewest digits that read back to the same model. */
void ct__out_information(const ct__out *out, int32_t noise, double information[36]);
/* Does this information matrix read as the covariance of the ct_noise_model *model? */
int  ct__same_model(const double *information, const void *model);

ct_status ct__sequence_write_stream(FILE *file, const ct_sequence *seq, const ct_noise *noise, const double *x,
                                    ct_format format, int lossy, int64_t *dropped, ct_err *err);

/* ---- Datasets -------------------------------------------------------------------------------- */

/* dataset.yaml as it stands. What libcyaml fills and frees; counts of what is not said are 0. */
typedef struct {
    char    *name;
    int      kind;  /* ct_noise_kind + 1 */
    int      learn; /* 1: true, 2: false */
    double  *variance, *covariance, *bounds, *lower, *upper, *unit;
    unsigned variances, covariances, bounds_count, lowers, uppers, units;
} ct__yaml_group;

typedef struct {
    char           *format;
    int             version;
    ct__yaml_group *group;
    char          **train, **test;
    unsigned        groups, trains, tests;
    ct__names       index; /* names of groups, numbered as they are; not libcyaml's */
} ct__yaml;

/* Keys, types and lengths are as the format wants them; `path` is for messages. Syntax and schema: dataset_schema.c;
 * what the numbers mean, and that names are there once: dataset_yaml.c. On failure *out is NULL. */
ct_status ct__yaml_parse(const char *text, size_t size, const char *path, ct__yaml **out, ct_err *err);
ct_status ct__yaml_check(ct__yaml *yaml, const char *path, ct_err *err);
void      ct__yaml_free(ct__yaml *yaml);
/* What it says of a group, for a dataset; name is copied. */
ct_status ct__yaml_take_group(const ct__yaml_group *from, ct_dataset_group *to, ct_err *err);
/* The table's models take the numbers that the file says. */
ct_status ct__yaml_apply(const ct__yaml *yaml, const char *path, ct_noise *noise, ct_err *err);
/* The group that speaks of a model, or of its numbers: of its name, or the nearest that it is part of. -1; NULL:
 * none. */
int64_t               ct__yaml_group_of(const ct__yaml *yaml, const char *model);
const ct__yaml_group *ct__yaml_numbers_of(const ct__yaml *yaml, const char *model);
/* The file, with lists of paths. */
ct_status ct__yaml_write(FILE *file, const ct_dataset *dataset, char *const train[], char *const test[], ct_err *err);

/* The group of a dataset that speaks of a model, or NULL: of its name, or the nearest that it is part of. */
const ct_dataset_group *ct__dataset_find_group(const ct_dataset *dataset, const char *model);

/* The place of a sequence in a list, or -1. */
int32_t ct__sequence_find(ct_sequence *const list[], int32_t count, const ct_sequence *seq);

/* Paths, owned. All zero is an empty list. */
typedef struct {
    char  **path;
    int64_t count, capacity;
    char    other[64]; /* the first name that was left out, "" if none */
    int64_t others;
} ct__paths;

/* Sequence files of a folder by their ending, in the order of their names; hidden files, folders and other endings
 * are left out. */
ct_status ct__paths_scan(ct__paths *paths, const char *folder, ct_err *err);
ct_status ct__paths_add(ct__paths *paths, const char *folder, const char *name, ct_err *err);
void      ct__paths_free(ct__paths *paths);
/* folder/name, or name if it begins with '/'. NULL if there is no memory. */
char     *ct__path_join(const char *folder, const char *name);

/* ---- Made to order --------------------------------------------------------------------------- */

/* The numbers of a covariance (dim x dim): diagonal if it is, else full. `name` is for the message. */
ct_status ct__covariance_numbers(const char *name, int dim, const double covariance[], ct__noise_numbers *out,
                                 ct_err *err);
/* The model of this name with these numbers and no kernel: added, or there already from a sequence made before. */
ct_status ct__share_model(ct_noise *noise, const char *name, const ct__noise_numbers *numbers, int32_t *index,
                          ct_err *err);
/* z = (a^-1 b) o Exp(e). */
void      ct__measure(ct_kind kind, const double *a, const double *b, const double *e, double z[CT_SIZE_MAX]);
/* True poses of a smooth random path, heading along it, in 100 m x 50 m (x 10 m). */
void      ct__nav_path(ct_kind kind, int32_t poses, ct_rng *rng, double *truth);

/* ---- The formats, one file each -------------------------------------------------------------- */

/* A reader fills b->seq; a writer writes to out->file. Faults of the disk are seen to by the caller. */
typedef ct_status ct__read_fn(ct__build *b);
typedef ct_status ct__write_fn(ct__out *out);

ct__read_fn ct__seqfile_read, ct__g2o_read, ct__leo_read, ct__tum_read, ct__kitti_read, ct__pyfg_read, ct__isam_read,
    ct__push_csv_read;
#define CT__PUSH_COLUMN "object_theta" /* a name that no other format begins with */
ct__write_fn ct__seqfile_write, ct__g2o_write, ct__leo_write, ct__tum_write, ct__kitti_write, ct__pyfg_write,
    ct__isam_write;

#endif
