/* measure.c: all peers on one workload, in turns.
 *
 * Other work on the machine slows whoever happens to run. So every peer gets a slice of each of several rounds, and
 * counts with its fastest run; how far the median lies above it says how quiet the machine was. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS_MIN 3
#define ROUNDS_MAX 12
#define RUNS_MAX   20000

typedef struct {
    const bench_workload *workload;
    bench_cell           *cell;
    void                 *problem;
    double               *x;
    double                seconds[RUNS_MAX];
} turn;

const bench_peer *const bench_peers[] = {
#define X(name) &bench_##name,
    BENCH_PEERS
#undef X
};
const int bench_peer_count = sizeof bench_peers / sizeof *bench_peers;
_Static_assert(sizeof bench_peers / sizeof *bench_peers <= BENCH_PEERS_MAX, "more peers than cells");

/* One solve from the graph's initial values. */
static double run_once(turn *t, int counts)
{
    const ct_graph *graph = t->workload->graph;
    bench_outcome   out = {0};
    memcpy(t->x, ct_graph_initial_const(graph), (size_t)ct_graph_size(graph) * sizeof *t->x);
    t->cell->converged = t->cell->peer->solve(t->problem, t->x, &out);
    if (counts && t->cell->runs < RUNS_MAX) {
        if (t->cell->runs == 0 || out.seconds < t->cell->best.seconds) t->cell->best = out;
        t->seconds[t->cell->runs++] = out.seconds;
    }
    return out.seconds;
}

/* About `slice_s` of runs, at least one. */
static void take_turn(turn *t, double slice_s)
{
    const double begin = ct_now_s();
    do run_once(t, 1);
    while (ct_now_s() - begin < slice_s && t->cell->runs < RUNS_MAX);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void close_turn(turn *t)
{
    qsort(t->seconds, (size_t)t->cell->runs, sizeof *t->seconds, ascending);
    t->cell->median_s = t->seconds[t->cell->runs / 2];
    t->cell->judged = ct_graph_error(t->workload->graph, t->workload->noise, t->x);
    t->cell->peer->close(t->problem);
    free(t->x);
}

static int open_turn(turn *t, const bench_workload *w, const bench_peer *peer, bench_cell *cell)
{
    *t = (turn){.workload = w, .cell = cell};
    *cell = (bench_cell){.peer = peer};
    t->problem = peer->open(w->graph, w->noise, w->method, BENCH_MAX_ITERATIONS);
    if (!t->problem) return 0;
    t->x = calloc((size_t)ct_graph_size(w->graph), sizeof *t->x);
    if (t->x) return 1;
    peer->close(t->problem);
    return 0;
}

int bench_measure(const bench_workload *w, double budget_s, const char *only, bench_cell cell[BENCH_PEERS_MAX])
{
    turn *all = calloc(BENCH_PEERS_MAX, sizeof *all);
    int   n = 0;
    if (!all) return 0;
    for (int i = 0; i < bench_peer_count; i++)
        if (!only || strstr(bench_peers[i]->name, only)) n += open_turn(&all[n], w, bench_peers[i], &cell[n]);
    double slowest = 0;
    for (int i = 0; i < n && budget_s > 0; i++) { /* a warm-up, which also tells how many rounds there is time for */
        const double seconds = run_once(&all[i], 0);
        slowest = seconds > slowest ? seconds : slowest;
    }
    int rounds = slowest > 0 ? (int)(budget_s / slowest) : 1;
    if (budget_s > 0) rounds = rounds < ROUNDS_MIN ? ROUNDS_MIN : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < n; i++) take_turn(&all[i], budget_s / rounds);
    for (int i = 0; i < n; i++) close_turn(&all[i]);
    free(all);
    return n;
}
