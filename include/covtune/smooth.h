/* covtune/smooth.h: incremental estimation of a growing graph (iSAM2: Kaess et al. 2012).
 *
 * The smoother keeps the tree of fronts (sparse.h) between updates. An update that adds factors or relinearises affects
 * some variables. The fronts with these variables, and all above them, are removed from the tree. Their variables are
 * ordered again, the newest last, and eliminated again, together with the Schur complements of the unaffected subtrees.
 * Back-substitution then descends the tree as far as the solution changes.
 *
 * A smoother owns its graph: updates add variables and factors, remove factors, and marginalise variables (fixed-lag
 * window). The estimate is x = point o Exp(delta); a linearisation point moves when delta exceeds a threshold.
 */
#ifndef COVTUNE_SMOOTH_H
#define COVTUNE_SMOOTH_H

#include <covtune/solve.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ct_smoother ct_smoother;

typedef struct {
    /* Every `skip` updates (0: never) the variables whose largest |delta| exceeds the threshold of their kind are
     * relinearised. Threshold 0: all whose delta is not zero. */
    double  relinearise[CT_KIND_COUNT];
    int     skip;
    /* A variable's delta is propagated down the tree once it differs by more than this from the delta propagated last;
     * 0: whenever it changes. The error does not accumulate: every front has used deltas of its separator that are
     * within this of the current ones, after any number of updates. */
    double  wildfire;
    int32_t window; /* fixed lag: number of variables kept, older ones are marginalised; 0: all */
} ct_smoother_options;

ct_smoother_options ct_smoother_defaults(void); /* 0.1, 10, 0.001, no window: as GTSAM's */

/* noise is borrowed until the smoother is freed. Models may be added to it, and changed (then call ct_smoother_renew).
 * options may be NULL. */
ct_status ct_smoother_new(const ct_noise *noise, const ct_smoother_options *options, ct_smoother **out, ct_err *err);
void      ct_smoother_free(ct_smoother *smoother);

/* ---- Updates --------------------------------------------------------------------------------- */

/* An update. New variables and factors get the next indices. Indices are never reused, whatever was removed or
 * marginalised. */
typedef struct {
    ct_kind       kind;
    const double *value; /* initial value; copied, stored layout; NULL: the identity   */
    const char   *name;  /* copied; NULL: its index, "x17"                             */
    int           fixed; /* held at its value; never marginalised by a window          */
} ct_new_variable;

typedef struct {
    const ct_factor_ops *ops;     /* borrowed                                          */
    const int32_t       *var;     /* indices, new variables of the same update included */
    const double        *z;       /* copied                                            */
    const void          *context; /* borrowed                                          */
    int32_t              noise;
    double               multiplier; /* of its model's covariance (ct_graph_set_multiplier); 0: 1 */
    const double        *feature; /* copied: one for each feature of its model's function, in order; NULL: none */
} ct_new_factor;

typedef struct {
    int32_t                variables, factors, removals, marginals;
    const ct_new_variable *variable;
    const ct_new_factor   *factor;
    const int32_t         *removal;     /* factors to remove                                                  */
    /* variables to marginalise, after everything else: the information of their factors stays as a quadratic prior on
     * their neighbours at the linearisation points */
    const int32_t         *marginal;
    /* 1: relinearise variables beyond their thresholds in this update, regardless of `skip` */
    int                    relinearise_due;
    /* 1: relinearise every variable whose delta is not zero. An update with nothing else is a Gauss-Newton iteration */
    int                    relinearise;
} ct_increment;

/* Statistics of the last update. */
typedef struct {
    int32_t variables, factors;         /* in the graph after it                     */
    int32_t eliminated;                 /* variables eliminated again                */
    int32_t relinearised, marginalised; /* variables                                 */
    int32_t fronts;                     /* computed again                            */
    int32_t visited;                    /* variables whose delta was computed        */
    double  seconds;
} ct_smoother_stats;

/* Atomic: on failure the smoother does not change. Errors are a factor on an unknown variable, a number that is not
 * finite, a graph without a unique solution after the update (CT_E_SINGULAR, a variable is named), and lack of memory.
 * increment may be NULL (an empty one), stats too. */
ct_status ct_smoother_update(ct_smoother *smoother, const ct_increment *increment, ct_smoother_stats *stats,
                             ct_err *err);

/* Call after numbers of the noise table changed: every factor is whitened again at its linearisation point, and
 * everything is eliminated again. Linearisation points stay, and so do the priors of marginalised variables. Atomic. */
ct_status ct_smoother_renew(ct_smoother *smoother, ct_err *err);

/* ---- Estimates ------------------------------------------------------------------------------- */

/* Indices given so far, to variables and to factors. Marginalised variables have no estimate. */
int32_t ct_smoother_variables(const ct_smoother *smoother);
int32_t ct_smoother_factors(const ct_smoother *smoother);
int     ct_smoother_has(const ct_smoother *smoother, int32_t var); /* 1: it is in the graph */
ct_kind ct_smoother_kind(const ct_smoother *smoother, int32_t var);
/* x = point o Exp(delta), stored layout; not written if the variable is not in the graph. */
void ct_smoother_estimate(const ct_smoother *smoother, int32_t var, double *x);
/* The estimates of all variables in the graph, concatenated in the order of their indices. Returns the number of
 * doubles. x NULL: returns the number only. */
int64_t ct_smoother_estimates(const ct_smoother *smoother, double *x);
/* error = sum of rho over the factors at the estimate, without the priors of marginalised variables. O(factors). */
double ct_smoother_error(const ct_smoother *smoother);
/* Largest |delta| of a full Gauss-Newton step from the estimate, with everything linearised there: 0 at a minimum.
 * distance (may be NULL): the Newton decrement sqrt(g'H^-1 g) of that step, in standard deviations. It does not depend
 * on units and bounds every coordinate's distance from the minimum in its own sigma. NaN on failure, which is as for an
 * update. Costs as much as an update that relinearises everything; changes nothing. */
ct_status ct_smoother_stationarity(ct_smoother *smoother, double *largest, double *distance, ct_err *err);
/* Marginal covariance of a variable, tangent, local frame, at the linearisation points: dim x dim; zero for a fixed
 * one. Cost: the path from its front to the root. */
ct_status ct_smoother_marginal(ct_smoother *smoother, int32_t var, double *out, ct_err *err);

/* ---- Replaying a graph ----------------------------------------------------------------------- */

/* Initial value of a variable when it is added. X(constant, name, what it is) */
#define CT_ENTRY_LIST(X)                                                                                               \
    X(CT_ENTRY_PREVIOUS, "previous", "the estimate of the pose before")                                                \
    X(CT_ENTRY_MOTION, "motion", "the estimate of the pose before, moved as the given values move") \
    X(CT_ENTRY_GIVEN, "given", "the given values")

typedef enum {
#define X(constant, name, what) constant,
    CT_ENTRY_LIST(X)
#undef X
    CT_ENTRY_COUNT
} ct_entry;

const char *ct_entry_name(ct_entry entry);
int         ct_entry_find(const char *name); /* a ct_entry, or -1 */

/* Called after every update, of which there are at most `steps`; return non-zero to cancel. */
typedef int (*ct_replay_fn)(void *user, const ct_smoother *smoother, int32_t step, int32_t steps,
                            const ct_smoother_stats *stats);

typedef struct {
    ct_smoother_options smoother;
    ct_entry            entry;
    int                 extra_updates; /* at most so many after a step, while a variable is beyond its threshold */
    /* m: extent of the world for which the relinearisation thresholds are meant. If the bounding box of the given
     * values is smaller, they shrink in proportion: 0.1 m is little on a road and much on a table. 0: as they are */
    double              extent;
    ct_replay_fn        progress; /* may be NULL */
    void               *user;
} ct_replay_options;

ct_replay_options ct_replay_defaults(void); /* ct_smoother_defaults, motion, 0, 0 */

typedef struct {
    ct_stop stop;                       /* step: complete; else rank, not_finite or cancelled              */
    char    why[512];                   /* rank, not_finite: a sentence                                    */
    int32_t updates;                    /* including extra_updates                                         */
    int64_t eliminated, relinearised, visited;
    int64_t left_out;                   /* with a window: factors on variables already marginalised        */
    double  error;                      /* of the graph at x                                               */
    /* ct_smoother_stationarity of the remaining graph; NaN if not complete. An incremental estimate is off the minimum
     * by what its thresholds allow; these give the distance */
    double  stationarity, distance;
    double  seconds, worst_s;           /* total; the longest update                                       */
    int32_t worst_step;
} ct_replay_result;

/* Estimate a graph incrementally, as if it were being measured. Variables are added in their order, each with its first
 * factor whose other variables are in the graph or added too; factors as soon as all their variables are. An update
 * that would leave a variable undetermined is combined with the next one. x: the given values, then the estimates (with
 * a window: the last ones). Fails only if the noise table does not fit, or for lack of memory. */
ct_status ct_replay(const ct_graph *graph, const ct_noise *noise, const ct_replay_options *options, double *x,
                    ct_replay_result *result, ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
