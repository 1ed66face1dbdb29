/* peer.h: what a solver shows to the benchmark.
 *
 * Every peer gets the same covtune graph, noise table and start, and converts them outside the timed
 * part. So that one more peer is one more file: it defines a bench_peer named bench_<name>, and
 * CMakeLists.txt names it in BENCH_PEERS. covtune itself is a peer like the others. */
#ifndef BENCH_PEER_H
#define BENCH_PEER_H

#include <covtune/covtune.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One solve. Phases are the sums over its iterations; negative where a solver does not tell. */
typedef struct {
    double seconds;        /* from values in to values out, analysis of the structure included     */
    int    iterations;     /* steps tried                                                          */
    double final_error;    /* as the solver itself has it; the benchmark judges the values as well */
    double analyse_s, linearise_s, factor_s, backsub_s;
} bench_outcome;

typedef struct {
    const char *name;
    const char *version;       /* and what else tells builds apart; "": nothing to tell */
    int         same_function; /* it minimises what covtune does: final errors must agree */
    /* Takes the problem in, copying what it needs beyond the graph and the noise table, which it
     * borrows until close. NULL: not a problem that this peer can be given. */
    void *(*open)(const ct_graph *graph, const ct_noise *noise, ct_method method, int max_iterations);
    /* Solves from values x to values x. 0: it failed. */
    int (*solve)(void *problem, double *x, bench_outcome *out);
    void (*close)(void *problem);
} bench_peer;

/* What peers can express without further ado: planar or spatial poses alone, none held, tied by prior and between
 * factors without robust kernels. */
int bench_is_pose_graph(const ct_graph *graph, const ct_noise *noise);

#define X(name) extern const bench_peer bench_##name;
BENCH_PEERS
X(covtune_like_gtsam) /* listed where GTSAM is */
#undef X

#ifdef __cplusplus
}
#endif
#endif
