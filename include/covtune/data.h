/* covtune/data.h: sequences and datasets, read from and written to files.
 *
 * A sequence is one recorded log as a factor graph, with initial values, and ground truth and time stamps where known.
 * Its noise models are in a ct_noise table that several sequences share. A dataset is a list of training sequences, a
 * list of test sequences and their noise table.
 *
 * Readers stream. They refuse what they do not understand: "file:line: what was expected, what was found". What they
 * add or assume is in `note`.
 */
#ifndef COVTUNE_DATA_H
#define COVTUNE_DATA_H

#include <covtune/base.h>
#include <covtune/comm.h>
#include <covtune/graph.h>
#include <covtune/noise.h>
#include <covtune/theta.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    char      *name;       /* file name without folder and ending, or NULL                                       */
    ct_graph  *graph;
    double    *truth;      /* in the layout of the graph's values, or NULL                                       */
    uint8_t   *known;      /* per variable: bit i: tangent coordinate i of its truth is known; NULL without truth */
    double    *stamp;      /* per variable: time in s, NaN if unknown; or NULL                                   */
    /* the recording that it is a part of, or NULL: see ct_sequence_recording. Sequences of one recording share a robot,
     * a place and a day, so they are not independent samples                                                         */
    char      *recording;
    /* sigma of the truth itself: m, rad; 0: not given                                                                */
    double     truth_sigma[2];
    char      *note;       /* what the reader added or assumed, or NULL                                          */
    int64_t    repaired;   /* number of matrices made positive definite (ct_read_options)                        */
    int32_t    shapes;     /* number of outlines that factors of the graph refer to                              */
    ct_shape **shape;      /* owned                                                                              */
    char     **shape_name;
    /* models beside the built-in ones that its files may name, borrowed; or NULL                                     */
    const ct_factor_registry *models;
    void      *entry;      /* private: of the cache, if it is of a dataset that was read with a limit of memory  */
} ct_sequence;

/* X(constant, name, ending, description) */
#define CT_FORMAT_LIST(X)                                                                          \
    X(CT_FORMAT_COVTUNE, "covtune", ".ctseq", "covtune sequence")                                  \
    X(CT_FORMAT_G2O, "g2o", ".g2o", "g2o graph")                                                   \
    X(CT_FORMAT_LEO, "leo", ".json", "LEO JSON log")                                               \
    X(CT_FORMAT_TUM, "tum", ".tum", "TUM trajectory: time x y z qx qy qz qw")                      \
    X(CT_FORMAT_KITTI, "kitti", ".kitti", "KITTI trajectory: 3x4 matrices")                        \
    X(CT_FORMAT_PYFG, "pyfg", ".pyfg", "PyFactorGraph text")                                       \
    X(CT_FORMAT_ISAM, "isam", ".isam", "iSAM text, square-root information")                       \
    X(CT_FORMAT_PUSH, "push", ".csv", "recorded push: t, object_x, ..., pusher_y")                 \
    X(CT_FORMAT_BINARY, "binary", ".ctbin", "covtune sequence, binary")

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

/* Read one sequence. Noise models of the file are added to `noise`; equal ones of a group are shared. On failure *out
 * is NULL, and `noise` may hold models added before the error. */
ct_status ct_sequence_read(const char *path, ct_format format, ct_noise *noise, ct_sequence **out, ct_err *err);

typedef struct ct_push_csv_options ct_push_csv_options;
typedef struct {
    /* 1: information and covariance matrices that are not positive definite, or nearly singular, are repaired:
     * eigenvalues below 1e-6 of the largest are raised to that. The note has the number of matrices and the worst.
     * A matrix without a positive eigenvalue is refused even so. */
    int repair;
    const ct_push_csv_options *push; /* for recorded pushes, borrowed; NULL: the defaults */
    /* models that files of covtune's own format may name beside the built-in ones; sequences borrow it; or NULL */
    const ct_factor_registry *models;
    /* Of ct_dataset_read_with. memory: bytes that the process may take, about; 0: no limit. Sequences are then in a
     * cache: ct_sequence_acquire. comm: ranks that read the same dataset, of which one reads a text file and sends it
     * to the others; borrowed; NULL: one process. jobs: threads that read; 0: one. Of ct_sequence_read_with, too: a
     * large text file is then read by two. None of these changes a bit. */
    int64_t memory;
    int     jobs;
    const ct_comm *comm;
} ct_read_options;

ct_read_options ct_read_defaults(void); /* all zero */
/* ct_sequence_read with options; NULL: the defaults. */
ct_status ct_sequence_read_with(const char *path, ct_format format, const ct_read_options *options, ct_noise *noise,
                                ct_sequence **out, ct_err *err);

/* Write the graph with values x (NULL: its initial values). The file is replaced atomically. CT_E_UNSUPPORTED, naming
 * factor or variable, if the format cannot represent something. With `lossy` it is left out and counted in *dropped
 * (may be NULL). */
ct_status ct_sequence_write(const ct_sequence *seq, const ct_noise *noise, const double *x, ct_format format, int lossy,
                            const char *path, int64_t *dropped, ct_err *err);

/* Add a shape that factors of the graph can refer to. The name is copied; it must be new and one word. The sequence
 * owns the shape, also on failure. */
ct_status ct_sequence_add_shape(ct_sequence *seq, const char *name, ct_shape *shape, ct_err *err);

/* A sequence that owns `graph`; NULL: an empty graph. */
ct_status ct_sequence_new(ct_graph *graph, ct_sequence **out, ct_err *err);
void      ct_sequence_free(ct_sequence *seq);
/* Truth of all variables in the layout of the graph's values, with a byte a variable as in ct_sequence.known; times of
 * all variables, s, NaN where unknown; name and recording, NULL for none. All are copied and replace what was there.
 * CT_E_ARGUMENT: a known value is not finite or no rotation, a bit that the variable has not, an infinite time. */
ct_status ct_sequence_set_truth(ct_sequence *seq, const double *x, const uint8_t *known, ct_err *err);
ct_status ct_sequence_set_times(ct_sequence *seq, const double *stamp, ct_err *err);
ct_status ct_sequence_set_name(ct_sequence *seq, const char *name, const char *recording, ct_err *err);
/* Sequences of a dataset that was read with a limit of memory: graph, truth and times are in memory between these two
 * calls only, which nest. Names, counts of the graph (variables, factors, size) and whether there is a truth are known
 * always. They do nothing for other sequences. Functions that take a list of sequences, or a dataset, call them
 * themselves where their header says that they stream; all others need acquired sequences. A failure is CT_E_IO or
 * CT_E_MEMORY. Any thread may call them. */
ct_status ct_sequence_acquire(const ct_sequence *seq, ct_err *err);
void      ct_sequence_release(const ct_sequence *seq);
/* What messages call it: its name, "without a name" if it has none. Never NULL. */
const char *ct_sequence_label(const ct_sequence *seq);
/* The recording of a sequence, into buf (always ended, cut if it does not fit); returns buf. It is seq->recording, else
 * the name without a part number at its end: "-part3", "_seg03", ".segment-2" ("part", "seg", "segment", "piece",
 * "cut"), else the whole name. A sequence without a name is a recording of its own: buf is then empty. */
const char *ct_sequence_recording(const ct_sequence *seq, char *buf, size_t size);

/* x <- initial values from the measurements. Truth, noise models and initial values are not used, except the values of
 * fixed variables. Relative measurements are composed: along the factors in their order, then from neighbour to
 * neighbour. Without `absolute` the first variable with a prior of each connected component starts there, and odometry
 * gives the rest. With `absolute`
 *   - every variable with a prior on its whole value starts there; or
 *   - if known points (parts of measurements, fixed variables, points with a prior) or positions are measured, and less
 *     than a tenth of the poses has a prior: stretches of the composed path are moved rigidly to fit what is seen from
 *     them, by least absolute deviations, so that gross outliers do not move them. Of several fits (mirrored ones to
 *     ranges) the sequence is taken that fits and continues best.
 * Where headings are measured they turn paths that begin anywhere, and paths whose yaws are far from most of them:
 * odometry without turns.
 * A body that nothing but other bodies measures (ranges and bearings between poses) is moved rigidly to where those
 * say, with or without `absolute`.
 * Unknown points start from their first sightings: where they are seen, by trilateration or by triangulation.
 * Variables that no measurement reaches keep their initial values. x holds ct_graph_size doubles. O(n): it takes a few
 * iterations of a solve. */
ct_status ct_sequence_initialise(const ct_sequence *seq, int absolute, double *x, ct_err *err);
/* *poses <- the number of poses that this does not reach, including the arbitrary start of a component that nothing
 * absolute measures. An example is an object that only contact measures: its pose is not determined at any step. */
ct_status ct_sequence_uninitialised(const ct_sequence *seq, int32_t *poses, ct_err *err);

/* ---- Odometry and loops ----------------------------------------------------------------------- */

typedef struct {
    int32_t odometry, loops; /* relative pose measurements of each sort                            */
    int32_t between;         /* of the loops: those between two bodies                             */
    int32_t models;          /* noise models that were added: loop, loop#1, ...                    */
    double  step;            /* usual difference of the numbers of consecutive poses               */
} ct_split_result;

/* Give relative pose measurements (between_se2, between_se3) that are no odometry a noise model of their own: "loop",
 * or if they have several, "loop", "loop#1", ... with the covariances that they had ("loop_se2", "loop_se3" if they are
 * of both kinds). Pose graphs of other programs have one sort of edge for both.
 *
 * Poses are in the order of the number at the end of their names (vertex 17 of a g2o file is x17). Names with other
 * beginnings are other bodies. An edge is odometry if, of all edges from its first pose to later ones, it leads to the
 * nearest, and of all from its second pose to earlier ones, too. So numbers may have gaps, and those of several robots
 * may alternate. A step of more than ten times the usual one is none: numbers jump from one robot to the next. Other
 * edges are loops. Noise models that only loops had stay in the table, unused. CT_E_ARGUMENT, and nothing changes: no
 * edge is odometry, or the table has a model "loop" already. result may be NULL. */
ct_status ct_sequence_split_loops(ct_sequence *seq, ct_noise *noise, ct_split_result *result, ct_err *err);

/* ---- Truth from another file ----------------------------------------------------------------- */

/* How variables of two sequences are matched. */
typedef enum {
    CT_ATTACH_AUTO,  /* by time if both have times; else by name, if every pose of the graph then has a match */
    CT_ATTACH_TIME,  /* poses: nearest in time within the tolerance, without interpolation                    */
    CT_ATTACH_INDEX, /* poses: by position in the graphs, which must have equally many                        */
    CT_ATTACH_NAME   /* all variables; pose i of a trajectory is called xi, as is vertex i of a g2o file      */
} ct_attach_by;

typedef struct {
    ct_attach_by by;
    double       tolerance_s; /* by time */
    const char  *known;       /* tangent coordinates to use, "x,y"; NULL or "all": those known in the truth; borrowed */
    int          camera;      /* 1: the truth has camera axes (x right, y down, z ahead), the graph body axes (x ahead,
                                 y left, z up) */
    int          align;       /* 1: move the truth rigidly so that the first pose (the first fixed one, if any) has its
                                 initial value */
} ct_attach_options;

typedef struct {
    ct_attach_by by;             /* the matching that was used                                              */
    int64_t      matched, poses; /* poses with a truth now, of how many                                     */
    int64_t      points;         /* other variables with a truth now                                        */
    int32_t      first;          /* first pose whose truth is fully known, -1: none                         */
    double       gap_s;          /* by time: the largest difference                                         */
    int          unturned;       /* 1: every true rotation is the identity; the file may hold positions only */
} ct_attach_result;

ct_attach_options ct_attach_defaults(void); /* CT_ATTACH_AUTO, 0.02 s, all coordinates, no camera, no alignment */

/* Replace the truth of seq by that of another sequence, or by its initial values where it has no truth; truth_sigma is
 * then that of the other. truth NULL: the initial values of seq itself, for every variable; truth_sigma is 0. A planar
 * pose takes x, y and yaw of a pose in space, a point x and y. Graph and truth must be in one frame, unless align is
 * set. options and result may be NULL. CT_E_ARGUMENT, with seq unchanged, if nothing matches, if a true variable lacks
 * coordinates, or if a planar pose is tilted by more than 60 degrees. O(n log n). */
ct_status ct_sequence_attach_truth(ct_sequence *seq, const ct_sequence *truth, const ct_attach_options *options,
                                   ct_attach_result *result, ct_err *err);
/* Replace the times of seq by those of another sequence, by index or by name. For graphs in formats without times, from
 * the trajectory that their estimator wrote. *matched (may be NULL) <- the number of variables with a time. */
ct_status ct_sequence_attach_times(ct_sequence *seq, const ct_sequence *from, ct_attach_by by, int64_t *matched,
                                   ct_err *err);

/* ---- Errors that last ------------------------------------------------------------------------- */

/* Give the sequence the states of every bias of the table (ct_noise_model.bias) that it does not have yet: variables
 * "gps_bias0", "gps_bias1", .. in R1, R2 or R3, each behind the pose at whose time it begins, start at zero.
 * Measurements of the sensor get the model with a bias (ct_factor_biased), whose state is the last that began before
 * them; steps between states have the noise model of the bias. A body (poses of one name but for their number) has
 * states of its own. The start of a random walk has a model of its own, "gps_bias_start", which is added to the table.
 * The position of a measured pose is offset in the world. Times are stamps; where a pose of the sensor has none,
 * numbers of poses. Truth of the states is unknown. Where the sequence has the states already, their time constants
 * become those of the table. CT_E_ARGUMENT with a sentence, and the sequence does not change: rows that a measurement
 * of the sensor has not, a model that has no biased form, a rate of what is not relative, a scale of what has none,
 * another process than the sequence has. A table may be ahead of the sequence: a sensor without measurements is no
 * error. O(n log n). */
ct_status ct_sequence_apply_biases(ct_sequence *seq, ct_noise *noise, ct_err *err);
/* The same for a copy; the sequence does not change. The copy borrows its shapes. */
ct_status ct_sequence_copy_biased(const ct_sequence *seq, ct_noise *noise, ct_sequence **out, ct_err *err);
/* *seconds <- 1: times of the sensor's states are stamps; 0: numbers of poses; -1: it has no measurements of it. */
ct_status ct_sequence_bias_times(const ct_sequence *seq, const ct_noise *noise, const ct_bias *bias, int *seconds,
                                 ct_err *err);

/* ---- Datasets -------------------------------------------------------------------------------- */

/* How a dataset wants noise models to be learned; NaN: not given. The group of the most specific name applies: for
 * "odom@1#7" the group "odom@1#7", else "odom@1", else "odom". */
typedef struct {
    char  *name;                                             /* of a model or a group of models        */
    int    learn;                                            /* 0: frozen                              */
    int    kind;                                             /* ct_noise_kind; -1: as in the table     */
    double lower[CT_NOISE_DIM_MAX], upper[CT_NOISE_DIM_MAX]; /* of variances, in units; full: [0], of eigenvalues */
    double unit[CT_NOISE_DIM_MAX];                           /* per row (ct_theta_set_unit); 0 or NaN: not given */
    ct_bias *bias;                                           /* as for ct_dataset_add_bias, by malloc; or NULL   */
    double   bias_sigma[CT_BIAS_ROWS_MAX];                   /* of the bias; 0 or NaN: not given                 */
    char    *model;                                          /* form of a function (conditional.h); or NULL      */
    int      arbitrary; /* 1: its start values are a program's defaults, nobody's choice (ct_dataset_start_given)  */
} ct_dataset_group;

/* Owns everything, by malloc. One sequence may be in both lists. */
typedef struct {
    char             *path;  /* as it was read from, or NULL                 */
    ct_noise         *noise; /* with the dataset's start values, if it has any */
    int32_t           trains, tests, groups;
    ct_sequence     **train, **test;
    ct_dataset_group *group;
    char             *note;  /* what the readers added or assumed, or NULL   */
    void             *index; /* of group names, private. Groups may be added to a dataset that was read, not renamed */
    void             *store; /* private: the cache of its sequences; NULL: all are in memory                       */
} ct_dataset;

/* What the cache of a dataset has done so far. */
typedef struct {
    int64_t limit, most;      /* bytes: allowed; counted at most, the program included          */
    int64_t used, came, left; /* sequences acquired; of them brought from the file; sent there  */
    double  come_s, leave_s;  /* processor time of that                                         */
} ct_cache_info;
/* 0, and *out is zero, if the dataset was read without a limit. */
int ct_dataset_cache_info(const ct_dataset *dataset, ct_cache_info *out);

typedef enum { CT_DATASET_TRAIN = 1, CT_DATASET_TEST = 2, CT_DATASET_ALL = 3 } ct_dataset_part;

/* Read a dataset, or a part of it; *out is NULL on failure. The path is one of
 *   a folder with dataset.yaml, or that file              docs/formats.md
 *   a folder with folders train and test (one may be missing), files in order of their names: LEO's layout, with files
 *   of any format
 *   a folder of sequence files, or one such file          every sequence is in both parts
 * CT_E_EMPTY if the part has no sequences. CT_E_PARSE if two files give one model different numbers, unless
 * dataset.yaml gives its numbers. Models that the files number (group#1) get other numbers instead. Sequences keep
 * notes of their own. Rows of the table's models are named from the factors (ct_graph_name_rows). */
ct_status ct_dataset_read(const char *path, ct_dataset_part part, ct_dataset **out, ct_err *err);
/* ct_dataset_read with options for its sequences; NULL: the defaults. */
ct_status ct_dataset_read_with(const char *path, ct_dataset_part part, const ct_read_options *options, ct_dataset **out,
                               ct_err *err);
/* Write dataset.yaml, train/0000.ctseq, ... into a folder, which is created if necessary. Existing files are replaced
 * one by one, the yaml last. */
#define CT_DATASET_BEGINS "# written by covtune" /* first line of a dataset.yaml that a program may replace */
ct_status ct_dataset_write(const ct_dataset *dataset, const char *folder, ct_err *err);
/* The same in another format that holds truth: CT_FORMAT_COVTUNE or CT_FORMAT_BINARY (train/0000.ctbin). */
ct_status ct_dataset_write_as(const ct_dataset *dataset, const char *folder, ct_format format, ct_err *err);
/* An empty dataset with an empty table. */
ct_status ct_dataset_new(ct_dataset **out, ct_err *err);
/* Add a sequence to CT_DATASET_TRAIN or CT_DATASET_TEST. Its noise indices are those of the dataset's table, which must
 * fit. The dataset owns it; on failure the caller does. */
ct_status ct_dataset_add(ct_dataset *dataset, ct_sequence *seq, ct_dataset_part part, ct_err *err);
void      ct_dataset_free(ct_dataset *dataset);

/* ---- Biases of a dataset ---------------------------------------------------------------------- */

/* Add a bias to the table of the dataset, as the model "SENSOR_bias", and its states to all sequences. What is not
 * given is filled in: rows 0: positions of a pose in the world, turns of odometry, else all; effect -1 cast to the
 * enum: rate for relative poses, else offset; tau 0: twenty times the median time between measurements; sigma (one per
 * row) NULL: from that of the sensor. They are where learning starts. CT_E_ARGUMENT: no sequence has such a sensor, it
 * has a bias already, and as for ct_sequence_apply_biases. */
ct_status ct_dataset_add_bias(ct_dataset *dataset, const ct_bias *bias, const double *sigma, ct_err *err);
/* ct_sequence_apply_biases of all sequences. CT_E_ARGUMENT also if some have time stamps for a sensor and others
 * not. */
ct_status ct_dataset_apply_biases(ct_dataset *dataset, ct_err *err);
/* Biases from a list as on the command line, "NAME[.ROW[+ROW..]]=PROCESS[:KEY=VALUE..],..": "gps=gauss-markov",
 * "odom.yaw=random-walk", "range=gauss-markov:tau=20:sigma=0.5:per=target", "odom.x=constant:as=scale". Keys are tau,
 * sigma, every, as (offset, rate, scale) and per (sensor, target). A bias that the dataset has already is left as it
 * is. list NULL: nothing changes. CT_E_ARGUMENT with a sentence; ct_bias_list_check finds mistakes of syntax. */
ct_status ct_bias_list_check(const char *list, const char *option_prefix, ct_err *err);
ct_status ct_bias_list_apply(const char *list, const char *option_prefix, ct_dataset *dataset, ct_err *err);

/* ---- The truth's own sigma -------------------------------------------------------------------- */

/* sigma <- "M" or "M,RAD": metres and radians, >= 0; sigma[1] is NaN if RAD is left out. CT_E_ARGUMENT with a sentence
 * that begins with `option` ("--truth-sigma"). */
ct_status ct_truth_sigma_parse(const char *text, const char *option, double sigma[2], ct_err *err);
/* truth_sigma of every sequence <- sigma; NaN keeps what the files say. CT_E_ARGUMENT, and nothing changes, if one is
 * negative or infinite. */
ct_status ct_dataset_set_truth_sigma(ct_dataset *dataset, const double sigma[2], ct_err *err);

/* ---- Robust kernels --------------------------------------------------------------------------- */

/* Robust kernels from a list as on the command line, "NAME=KERNEL[:WIDTH],..": "all=huber,gps=cauchy:2,odom=none". A
 * name is a model or a group, as for ct_theta_options; "all", or no name, is every model. Later items override earlier
 * ones. KERNEL is one of CT_ROBUST_LIST; WIDTH is in sigmas, that of ct_robust_default_width if left out. list NULL:
 * nothing changes. option_prefix as in ct_theta_options. CT_E_ARGUMENT with a sentence; ct_robust_list_check finds all
 * but names that the table does not have. */
ct_status ct_robust_list_check(const char *list, const char *option_prefix, ct_err *err);
ct_status ct_robust_list_apply(const char *list, const char *option_prefix, ct_noise *noise, ct_err *err);

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
/* 1: somebody chose the start values of all models that are learned, for ct_learn_options.given; 0: some are defaults
 * of an import. */
int ct_dataset_start_given(const ct_dataset *dataset);

/* Give the factors of "group", "group#1", "group#2", ... one model "group". Its covariance is the mean over those
 * factors. For files that write a matrix on every edge, where one is to be learned. The numbered models stay in the
 * table, unused. Nothing happens if there are none. */
ct_status ct_dataset_pool(ct_dataset *dataset, const char *group, ct_err *err);
/* ct_dataset_pool of every group that the options learn and that training sequences have numbered models of. (*model)[0
 * .. *count - 1] <- the pooled models, for the caller to free; NULL if there are none. options may be NULL. */
ct_status ct_dataset_pool_learned(ct_dataset *dataset, const ct_theta_options *options, int32_t **model, int32_t *count,
                                  ct_err *err);

/* ---- Recorded pushes -------------------------------------------------------------------------- */

/* A recorded push: a CSV table with column names (t, object_x, object_y, object_theta, pusher_x, pusher_y in any order;
 * other columns are ignored), then one row per time. A round finger pushes a rectangle. Rows are cut to the interval in
 * which they touch and the object moves, because the estimator assumes contact. Variables and noise models are those of
 * ct_simulate_push without tac and bind: there is no tactile sensor and one episode. The finger's yaw is not recorded
 * and is zero; its truth is x and y only. Object and finger may come from sensors with slightly different clocks and
 * frames; the learned noise includes that. */
struct ct_push_csv_options {
    double half_x, half_y; /* m, half lengths of the rectangle: 0.045 each, as in MIT's cpush            */
    double radius;         /* m, of the finger: 0.0047                                                   */
    double c;              /* m, constant of the limit surface, whose square push_se2 takes: 0.05        */
    int    every;          /* rows per step: 3, which is 3 mm at 50 Hz and 5 cm/s                        */
};

ct_push_csv_options ct_push_csv_defaults(void);
/* ct_sequence_read of the format "push" with options. CT_E_ARGUMENT for lengths that are not positive and finite. */
ct_status ct_push_csv_read(const char *path, const ct_push_csv_options *options, ct_noise *noise, ct_sequence **out,
                           ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
