/* covtune/data.h: sequences, read from and written to files; graphs made to order.
 *
 * A sequence is one recorded run: a graph with initial values, and, where known, the truth and the
 * times. Its noise models live in a ct_noise table, which several sequences share.
 *
 * Every reader streams, refuses what it does not understand with "file:line: what was expected,
 * what was found", and guesses nothing silently: what it had to add is said in `note`.
 */
#ifndef COVTUNE_DATA_H
#define COVTUNE_DATA_H

#include <covtune/base.h>
#include <covtune/graph.h>
#include <covtune/noise.h>
#include <covtune/theta.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    char     *name;    /* file name without folder and ending, or NULL           */
    ct_graph *graph;
    double   *truth;   /* values layout of the graph, or NULL                    */
    uint8_t  *known;   /* per variable: bit i set if tangent coordinate i of its truth counts; NULL with truth */
    double   *stamp;   /* per variable: time in seconds, NaN where unknown; or NULL */
    char     *note;    /* what the reader added or assumed, or NULL              */
    int64_t   repaired; /* matrices that were made positive definite (ct_read_options) */
    int32_t   shapes;  /* outlines that factors of the graph refer to            */
    ct_shape **shape;  /* owned                                                  */
    char    **shape_name;
} ct_sequence;

/* X(constant, name, endings, what it is) */
#define CT_FORMAT_LIST(X)                                                                          \
    X(CT_FORMAT_COVTUNE, "covtune", ".ctseq", "covtune sequence")                                  \
    X(CT_FORMAT_G2O, "g2o", ".g2o", "g2o graph")                                                   \
    X(CT_FORMAT_LEO, "leo", ".json", "LEO JSON log")                                               \
    X(CT_FORMAT_TUM, "tum", ".tum", "TUM trajectory: time x y z qx qy qz qw")                      \
    X(CT_FORMAT_KITTI, "kitti", ".kitti", "KITTI trajectory: 3x4 matrices")                        \
    X(CT_FORMAT_PYFG, "pyfg", ".pyfg", "PyFactorGraph text")                                       \
    X(CT_FORMAT_ISAM, "isam", ".isam", "iSAM text, square-root information")                       \
    X(CT_FORMAT_PUSH, "push", ".csv", "recorded push: t, object_x, ..., pusher_y")

typedef enum {
#define X(constant, name, ending, what) constant,
    CT_FORMAT_LIST(X)
#undef X
    CT_FORMAT_COUNT,
    CT_FORMAT_AUTO /* by the file's ending, else by its first line */
} ct_format;

const char *ct_format_name(ct_format format);
int         ct_format_find(const char *name);                /* a ct_format, or -1 */
/* The format of an existing file (ending, then first line), or of one to be written (ending). */
ct_status   ct_format_guess(const char *path, int exists, ct_format *format, ct_err *err);

/* Read one sequence. Noise models found in the file are added to `noise` (equal ones of a group are
 * shared). On failure *out is NULL and `noise` may hold models added before the fault. */
ct_status ct_sequence_read(const char *path, ct_format format, ct_noise *noise, ct_sequence **out, ct_err *err);

/* How a file is read. */
typedef struct ct_push_csv_options ct_push_csv_options;
typedef struct {
    /* 1: information and covariance matrices that are not positive definite, or only by their last digits, are made so:
     * eigenvalues below 1e-6 of the largest are raised to that; the note says of how many, and the worst. Without a
     * positive eigenvalue they are refused even so */
    int repair;
    const ct_push_csv_options *push; /* of recorded pushes, borrowed; NULL: the defaults */
} ct_read_options;

ct_read_options ct_read_defaults(void); /* all zero */
/* The same as told; options may be NULL: the defaults. */
ct_status ct_sequence_read_with(const char *path, ct_format format, const ct_read_options *options, ct_noise *noise,
                                ct_sequence **out, ct_err *err);

/* Write values x (NULL: the graph's initial values) with the graph. The file is replaced atomically.
 * What the format cannot hold is CT_E_UNSUPPORTED and names the factor or variable, unless `lossy`
 * is set: then it is left out and counted in *dropped (may be NULL). */
ct_status ct_sequence_write(const ct_sequence *seq, const ct_noise *noise, const double *x, ct_format format, int lossy,
                            const char *path, int64_t *dropped, ct_err *err);

/* A shape for factors of the graph to be added with, under a name (copied; must be new, one word). The sequence owns
 * it, also on failure. */
ct_status ct_sequence_add_shape(ct_sequence *seq, const char *name, ct_shape *shape, ct_err *err);

/* An empty sequence, and one that owns `graph`. */
ct_status ct_sequence_new(ct_graph *graph, ct_sequence **out, ct_err *err);
void      ct_sequence_free(ct_sequence *seq);
/* What messages call it: its name, "without a name" if it has none. Never NULL. */
const char *ct_sequence_label(const ct_sequence *seq);

/* x <- values composed from the measurements alone, truth and initial values not looked at but for fixed variables:
 * along the factors in their order, then from neighbour to neighbour. With `absolute`, every variable that a prior
 * measures whole begins there; else only the first of each connected part, and the rest follows by odometry.
 * Variables that nothing reaches keep their initial values. x holds ct_graph_size doubles. */
ct_status ct_sequence_initialise(const ct_sequence *seq, int absolute, double *x, ct_err *err);
/* *poses <- how many poses that walk does not reach, the one that a part without a prior has to begin at included:
 * an object that nothing measures but touch is one at every step. */
ct_status ct_sequence_uninitialised(const ct_sequence *seq, int32_t *poses, ct_err *err);

/* ---- Truth from another file ----------------------------------------------------------------- */

/* Which variable a true one belongs to. */
typedef enum {
    CT_ATTACH_AUTO,  /* by time if both have times, else by name, if every pose of the graph then has one   */
    CT_ATTACH_TIME,  /* poses: the one that is nearest in time, within the tolerance; nothing is interpolated */
    CT_ATTACH_INDEX, /* poses: the i-th and the i-th, in the order of the graphs; there must be as many     */
    CT_ATTACH_NAME   /* any variable; pose i of a trajectory is called xi, as vertex i of a g2o file is     */
} ct_attach_by;

typedef struct {
    ct_attach_by by;
    /* by time */
    double       tolerance_s;
    /* tangent coordinates that count, "x,y"; NULL or "all": those that the truth knows; borrowed */
    const char  *known;
    /* 1: the truth's axes are a camera's (x right, y down, z ahead), the graph's a body's (x ahead, y left, z up) */
    int          camera;
    /* 1: the truth is moved as a whole, so that the first pose (of those that are fixed, if some are) has its initial
     * value */
    int          align;
} ct_attach_options;

typedef struct {
    ct_attach_by by;              /* what it was                                                          */
    int64_t      matched, poses;  /* poses that have a truth now, of how many                             */
    int64_t      points;          /* other variables that have                                            */
    int32_t      first;           /* first pose whose truth is known in full, -1: none                    */
    double       gap_s;           /* by time: the largest difference                                      */
    int          unturned;        /* 1: every true rotation is the identity; is only the position known?  */
} ct_attach_result;

ct_attach_options ct_attach_defaults(void); /* by itself, 0.02 s, all, no camera, not moved */

/* Give variables of seq the truth that another sequence has for them (where it has none: its initial values),
 * instead of what seq had. Truth NULL: the initial values of seq itself, of every variable. A pose in the plane
 * takes x, y and yaw of one in space, a point x and y. The truth is used as it is: graph and truth must be in one
 * frame. options and result may be NULL. CT_E_ARGUMENT, and seq as it was, if none matches, a true one says less
 * than the variable needs, or a pose in the plane is tilted by more than 60 degrees. O(n log n). */
ct_status ct_sequence_attach_truth(ct_sequence *seq, const ct_sequence *truth, const ct_attach_options *options,
                             ct_attach_result *result, ct_err *err);
/* Give variables of seq the times that another sequence has for them, instead of those seq had: for graphs in
 * formats without times, from the trajectory that their estimator wrote. By index or by name. *matched (may be
 * NULL): how many have one now. */
ct_status ct_sequence_attach_times(ct_sequence *seq, const ct_sequence *from, ct_attach_by by, int64_t *matched,
                                   ct_err *err);

/* ---- Datasets -------------------------------------------------------------------------------- */

/* What a dataset says on learning a noise model; numbers of what is not said are NaN. Of a model the group of the
 * nearest name counts: for "odom@1#7" that of "odom@1#7", else of "odom@1", else of "odom". */
typedef struct {
    /* of a model, or a group: "odom" means "odom@0" and "odom#7" as well */
    char  *name;
    int    learn;                                 /* 0: frozen                                      */
    int    kind;                                  /* ct_noise_kind, or -1: as the table has it      */
    /* of the variances, in units; full: [0], of the eigenvalues. One for all is in every place */
    double lower[CT_NOISE_DIM_MAX], upper[CT_NOISE_DIM_MAX];
    double unit[CT_NOISE_DIM_MAX]; /* a sigma that counts as one (ct_theta_set_unit), one a row; 0 or NaN: not said */
} ct_dataset_group;

/* Runs to learn from and to test on, and the noise table that they share. Owns all of it, by malloc; one sequence
 * may be in both lists. */
typedef struct {
    char             *path;  /* as it was read from, or NULL               */
    ct_noise         *noise; /* with start values, where the dataset says some */
    int32_t           trains, tests, groups;
    ct_sequence     **train, **test;
    ct_dataset_group *group;
    char             *note;  /* what the readers added or assumed, or NULL */
    /* the reader's: where names of groups are. Groups may be added to what was read, but not renamed */
    void             *index;
} ct_dataset;

typedef enum { CT_DATASET_TRAIN = 1, CT_DATASET_TEST = 2, CT_DATASET_ALL = 3 } ct_dataset_part;

/* Read a dataset, or the part of it that is wanted; *out is NULL on failure:
 *   a folder with dataset.yaml, or that file itself     docs/formats.md
 *   a folder with folders train and test (one may be missing), files in order of their names: LEO's layout, with any
 *   format's files in it
 *   a folder of sequence files, or one such file         every run is in both parts
 * A part without sequences is CT_E_EMPTY. A model that two files give different numbers is CT_E_PARSE unless
 * dataset.yaml says its numbers; models that the files number (group#1) get other numbers instead. The sequences keep
 * notes of their own. Rows of the table's models are named from the factors (ct_graph_name_rows). */
ct_status ct_dataset_read(const char *path, ct_dataset_part part, ct_dataset **out, ct_err *err);
/* The same, its sequences read as told; options may be NULL: the defaults. */
ct_status ct_dataset_read_with(const char *path, ct_dataset_part part, const ct_read_options *options, ct_dataset **out,
                               ct_err *err);
/* Write dataset.yaml, train/0000.ctseq, ... into a folder, which is made if it is not there; files that are there
 * are replaced one by one, the yaml last. */
#define CT_DATASET_BEGINS "# written by covtune" /* what its dataset.yaml begins with: one that a program may replace */
ct_status ct_dataset_write(const ct_dataset *dataset, const char *folder, ct_err *err);
/* An empty one, with an empty table. */
ct_status ct_dataset_new(ct_dataset **out, ct_err *err);
void      ct_dataset_free(ct_dataset *dataset);

/* ---- Parameters to learn from a dataset ------------------------------------------------------ */

/* Which noise models are learned, and how. Texts are lists as on the command line of `covtune learn`, items separated
 * by commas; NULL: not given. A name is a model, or a group: "odom" stands for "odom", "odom@0" and "odom#7". A row
 * follows a point, by name or number: "odom.x", "odom@0.2". */
typedef struct {
    const char *learn;         /* models: these alone; NULL: those that the dataset does not freeze     */
    const char *freeze;        /* models and rows                                                       */
    const char *full;          /* models to learn as a full covariance; "all": every one                */
    const char *diagonal;      /* ... as one variance a row                                             */
    const char *isotropic;     /* ... as one variance                                                   */
    const char *tie;           /* pairs with one value: "odom.x=odom.y,gps@0=gps@1"                     */
    const char *bounds;        /* of all variances: "dataset" (or NULL), "wide", "loose", "tight", "LO:HI" */
    const char *bound;         /* of some, which overrides bounds: "odom.x=1e-4:1,gps=1:100"            */
    double      spread;        /* ct_theta_set_spread; INFINITY or 0: no limit                          */
    const char *option_prefix; /* of option names in sentences: "--" for a command line; NULL: ""       */
    /* called for a name of an earlier version that was understood, with a sentence that has the new one; may be NULL */
    void (*remark)(void *user, const char *sentence);
    void *user;
} ct_theta_options;

ct_theta_options ct_theta_defaults(void); /* no lists, bounds of the dataset, no spread */
/* The syntax of the options, without a dataset: CT_E_ARGUMENT with a sentence. */
ct_status ct_theta_options_check(const ct_theta_options *options, ct_err *err);
/* The bounds that a text stands for: "wide", "loose", "tight" or "LO:HI" with 0 < LO <= HI. 0 if none. */
int ct_bounds_parse(const char *text, double *lower, double *upper);

/* *out <- the parameters: every model that a factor of a training sequence has and that is not frozen. Full and
 * isotropic models take the widest bounds of their rows. Numbered models (group#7) are separate parameters unless they
 * are pooled before. options may be NULL: the defaults. CT_E_ARGUMENT if an option names nothing that is used, if the
 * options contradict each other, or if bounds and spread cannot be met. The caller frees *out; NULL on failure. */
ct_status ct_dataset_theta(const ct_dataset *dataset, const ct_theta_options *options, ct_theta **out, ct_err *err);
/* How the dataset wants a model to be learned, without options and with all defaults filled in: frozen if it is called
 * "first_pose" (the prior that readers and simulators add) and no group names it, else learned; its own kind; bounds
 * CT_BOUND_WIDE_LOWER and _UPPER; units of 1. `name` is that of the group (borrowed), or NULL. */
ct_dataset_group ct_dataset_group_of(const ct_dataset *dataset, int32_t model);

/* Give the factors of "group", "group#1", "group#2", ... one model "group". Its covariance is the mean over those
 * factors. For files that write a matrix on every edge, where one is to be learned. The numbered models stay in the
 * table, unused. Nothing happens if there are none. */
ct_status ct_dataset_pool(ct_dataset *dataset, const char *group, ct_err *err);
/* ct_dataset_pool of every group that the options learn and that training sequences have numbered models of. (*model)[0
 * .. *count - 1] <- the pooled models, for the caller to free; NULL if there are none. options may be NULL. */
ct_status ct_dataset_pool_learned(ct_dataset *dataset, const ct_theta_options *options, int32_t **model, int32_t *count,
                                  ct_err *err);

/* ---- Recorded pushes -------------------------------------------------------------------------- */

/* A push that was recorded: a table with a line of names (t, object_x, object_y, object_theta, pusher_x, pusher_y,
 * in any order, and others, which are not looked at), then a row a moment. A round finger pushes a rectangle; cut to
 * where they touch and the object moves, as an estimator that takes contact for granted needs it. Variables and
 * models are those of ct_simulate_push, but for tac and bind: there is no touch and one episode. The finger's yaw is
 * not recorded and is zero by convention, its truth x and y alone. Object and finger may come from sensors whose
 * clocks and frames are not quite the same: that is what is learned. */
struct ct_push_csv_options {
    double half_x, half_y; /* m, half lengths of the rectangle: 0.045 each, as in MIT's cpush            */
    double radius;         /* m, of the finger: 0.0047                                                   */
    double c;              /* m, of the limit surface, which push_se2 has the square of: 0.05            */
    int    every;          /* rows that make a step: 3; at 50 Hz and 5 cm/s that is 3 mm                 */
};

ct_push_csv_options ct_push_csv_defaults(void);
/* ct_sequence_read of the format "push", which is this with the defaults. CT_E_ARGUMENT for lengths that are none. */
ct_status ct_push_csv_read(const char *path, const ct_push_csv_options *options, ct_noise *noise, ct_sequence **out,
                           ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
