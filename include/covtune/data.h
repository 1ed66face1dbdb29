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
} ct_sequence;

/* X(constant, name, endings, what it is) */
#define CT_FORMAT_LIST(X)                                                                          \
    X(CT_FORMAT_COVTUNE, "covtune", ".ctseq", "covtune sequence")                                  \
    X(CT_FORMAT_G2O, "g2o", ".g2o", "g2o graph")                                                   \
    X(CT_FORMAT_LEO, "leo", ".json", "LEO JSON log")                                               \
    X(CT_FORMAT_TUM, "tum", ".tum", "TUM trajectory: time x y z qx qy qz qw")                      \
    X(CT_FORMAT_KITTI, "kitti", ".kitti", "KITTI trajectory: 3x4 matrices")                        \
    X(CT_FORMAT_PYFG, "pyfg", ".pyfg", "PyFactorGraph text")                                       \
    X(CT_FORMAT_ISAM, "isam", ".isam", "iSAM text, square-root information")

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

/* Write values x (NULL: the graph's initial values) with the graph. The file is replaced atomically.
 * What the format cannot hold is CT_E_UNSUPPORTED and names the factor or variable, unless `lossy`
 * is set: then it is left out and counted in *dropped (may be NULL). */
ct_status ct_sequence_write(const ct_sequence *seq, const ct_noise *noise, const double *x, ct_format format, int lossy, const char *path, int64_t *dropped, ct_err *err);

/* An empty sequence, and one that owns `graph`. */
ct_status ct_sequence_new(ct_graph *graph, ct_sequence **out, ct_err *err);
void      ct_sequence_free(ct_sequence *seq);

/* ---- Graphs made to order: for demos, tests and benchmarks ----------------------------------- */

/* A pose graph on a grid of streets (SE2) or a sphere of rings (SE3) with loop closures, truth
 * included; initial values are composed odometry. The first pose is fixed at its truth. Noise models
 * "odom" and "loop" are added, or shared with a world made before with the same sigmas. */
typedef struct {
    ct_kind  kind;         /* CT_SE2 or CT_SE3                           */
    int32_t  poses;
    double   sigma_t;      /* m, of every relative translation           */
    double   sigma_r;      /* rad                                        */
    double   loop_chance;  /* of closing a loop where one is near, [0,1] */
    uint64_t seed;
} ct_world_options;

ct_world_options ct_world_defaults(ct_kind kind);
ct_status ct_world_make(const ct_world_options *options, ct_noise *noise, ct_sequence **out, ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
