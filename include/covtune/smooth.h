/* covtune/smooth.h: the estimate of a graph that grows, step by step (iSAM2: Kaess et al. 2012).
 *
 * The tree of fronts that a batch solve eliminates (sparse.h) is kept. A step that adds factors or moves
 * linearisation points touches some variables; the fronts that hold them, and all above those, are taken off, their
 * variables ordered anew (the newest last) and eliminated again, with what the untouched subtrees left on their
 * separators; the rest is not looked at. Then the solution is brought down the tree as far as it changes.
 *
 * A smoother owns its graph: updates add variables and factors to it, take factors out, and let variables go (a
 * window). Linearisation points lag behind the estimate, x = point o Exp(delta), until delta has grown beyond a
 * threshold.
 */
#ifndef COVTUNE_SMOOTH_H
#define COVTUNE_SMOOTH_H

#include <covtune/solve.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ct_smoother ct_smoother;

typedef struct {
    /* Every `skip` updates (0: never) those variables are linearised anew whose largest |delta| exceeds their kind's
     * threshold; 0: all whose delta is not zero. */
    double  relinearise[CT_KIND_COUNT];
    int     skip;
    /* A variable's delta is carried further down the tree once it differs by more than this from what was carried
     * last; 0: whenever it changes. Nothing below is ever off by more than that many units of what is above it,
     * however many updates there are. */
    double  wildfire;
    int32_t window; /* fixed lag: so many variables are kept, older ones marginalised out; 0: all */
} ct_smoother_options;

ct_smoother_options ct_smoother_defaults(void); /* 0.1, 10, 0.001, no window: as GTSAM's */

/* noise is borrowed for the smoother's life; it may gain models, and change in place (ct_smoother_renew). options
 * may be NULL. */
ct_status ct_smoother_new(const ct_noise *noise, const ct_smoother_options *options, ct_smoother **out, ct_err *err);
void      ct_smoother_free(ct_smoother *smoother);

/* ---- Updates --------------------------------------------------------------------------------- */

/* What an update brings. Variables get the next indices, factors too; both count on through a smoother's life,
 * whatever was removed or marginalised. */
typedef struct {
    ct_kind       kind;
    const double *value; /* where it starts; copied, stored layout; NULL: the identity */
    const char   *name;  /* copied; NULL: its index, "x17"                             */
    int           fixed; /* held at its value; no window lets it go                    */
} ct_new_variable;

typedef struct {
    const ct_factor_ops *ops;     /* borrowed                                          */
    const int32_t       *var;     /* indices, new variables of the same update included */
    const double        *z;       /* copied                                            */
    const void          *context; /* borrowed                                          */
    int32_t              noise;
} ct_new_factor;

typedef struct {
    int32_t                variables, factors, removals, marginals;
    const ct_new_variable *variable;
    const ct_new_factor   *factor;
    const int32_t         *removal;     /* factors to take out again                                          */
    /* variables to let go, after all the rest: what is known of them and their factors stays, as a quadratic in the
     * coordinates of their neighbours about the linearisation points */
    const int32_t         *marginal;
    /* 1: relinearise variables beyond their thresholds in this update, whatever `skip` says */
    int                    relinearise_due;
    /* 1: every variable whose delta is not zero, now. With nothing else: a Gauss-Newton iteration */
    int                    relinearise;
} ct_increment;

/* What the last update did. */
typedef struct {
    int32_t variables, factors;         /* there are now                             */
    int32_t eliminated;                 /* variables eliminated again                */
    int32_t relinearised, marginalised; /* points moved; variables let go            */
    int32_t fronts;                     /* made anew                                 */
    int32_t visited;                    /* variables whose delta was computed        */
    double  seconds;
} ct_smoother_stats;

/* All or nothing: a factor on an unknown variable, a number that is not finite, a graph that the update would leave
 * without a unique solution (CT_E_SINGULAR, a variable named), or no memory is an error with a sentence, and the
 * smoother stands as it stood before. increment may be NULL (an empty one), stats too. */
ct_status ct_smoother_update(ct_smoother *smoother, const ct_increment *increment, ct_smoother_stats *stats,
                             ct_err *err);

/* The noise table's numbers have changed: every factor is weighed anew at its linearisation point and everything
 * eliminated; points stay, and so does what marginalised variables left. All or nothing, too. */
ct_status ct_smoother_renew(ct_smoother *smoother, ct_err *err);

/* ---- Estimates ------------------------------------------------------------------------------- */

/* indices ever given; those marginalised have no estimate */
int32_t ct_smoother_variables(const ct_smoother *smoother);
/* the same of factors */
int32_t ct_smoother_factors(const ct_smoother *smoother);
int     ct_smoother_has(const ct_smoother *smoother, int32_t var);
ct_kind ct_smoother_kind(const ct_smoother *smoother, int32_t var);
/* x = point o Exp(delta), stored layout; left alone if the variable is not there. */
void ct_smoother_estimate(const ct_smoother *smoother, int32_t var, double *x);
/* The same of all that are there, one after the other in the order of their indices; returns how many doubles that
 * are. x NULL: only that. */
int64_t ct_smoother_estimates(const ct_smoother *smoother, double *x);
/* error = sum of rho over the factors at the estimate; marginalised information is not in it. O(factors). */
double ct_smoother_error(const ct_smoother *smoother);
/* Largest |delta| of a full Gauss-Newton step from the estimate, everything linearised there: 0 at a minimum. How
 * far a derivative taken here may be trusted. distance (may be NULL): the length of that step in standard
 * deviations, the Newton decrement sqrt(g'H^-1 g), which does not depend on units and bounds every coordinate's
 * distance from the minimum in its own sigma. NaN where it fails, as an update would. Costs as much as one that
 * moves every point, and changes nothing. */
ct_status ct_smoother_stationarity(ct_smoother *smoother, double *largest, double *distance, ct_err *err);
/* Marginal covariance of a variable, tangent, local frame, at the linearisation points: dim x dim; zero of a fixed
 * one. Costs the path from its front to the root. */
ct_status ct_smoother_marginal(ct_smoother *smoother, int32_t var, double *out, ct_err *err);

/* ---- Replaying a graph ----------------------------------------------------------------------- */

/* Where a variable starts when it enters. X(constant, name, what it is) */
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

/* Told after every update, of which there are at most `steps`; return non-zero to cancel. */
typedef int (*ct_replay_fn)(void *user, const ct_smoother *smoother, int32_t step, int32_t steps,
                            const ct_smoother_stats *stats);

typedef struct {
    ct_smoother_options smoother;
    ct_entry            entry;
    int                 settle;   /* updates that may follow a step, while a variable is beyond its threshold */
    /* m, of a world that the smoother's thresholds for linearising anew are meant for: in a smaller one (the box around
     * the given values) they shrink in proportion. A decimetre is little on a road and much on a table. 0: as they
     * are */
    double              extent;
    ct_replay_fn        progress; /* may be NULL */
    void               *user;
} ct_replay_options;

ct_replay_options ct_replay_defaults(void); /* ct_smoother_defaults, motion, 0, 0 */

typedef struct {
    ct_stop stop;                       /* step: to the end; rank, not_finite or cancelled: not            */
    char    why[512];                   /* rank, not_finite: a sentence                                    */
    int32_t updates;                    /* those that brought something, and those that followed           */
    int64_t eliminated, relinearised, visited;
    int64_t left_out;                   /* with a window: factors on variables that were gone              */
    double  error;                      /* of the graph at x                                               */
    /* as ct_smoother_stationarity, of what is still there; NaN if not to the end. An estimate step by step is within
     * its thresholds of the minimum, and these say how far that is */
    double  stationarity, distance;
    double  seconds, worst_s;           /* all of it; the longest update                                   */
    int32_t worst_step;
} ct_replay_result;

/* Estimate a graph as if it were being measured: its variables enter in their order, each with its first factor
 * whose other variables are there or enter as well, factors as soon as all their variables are. Where that would
 * leave something undetermined, it waits for what comes next. x: the given values, then the estimates (with a
 * window: the last there were). Refuses only a noise table that does not fit, and a lack of memory. */
ct_status ct_replay(const ct_graph *graph, const ct_noise *noise, const ct_replay_options *options, double *x,
                    ct_replay_result *result, ct_err *err);

#ifdef __cplusplus
}
#endif
#endif
