/* bench.h: what the parts of the benchmark share: workloads, measured cells, the forms of the table. */
#ifndef BENCH_H
#define BENCH_H

#include "peer.h"

#include <stdio.h>

#define BENCH_MAX_ITERATIONS 100
#define BENCH_PEERS_MAX      12

/* A program's way with failure: print the sentence, exit. */
void bench_must(ct_status status, const ct_err *err);

/* ---- workload.c ---- */

typedef struct {
    char      name[32];
    char      source[160]; /* where it came from, as a sentence's end */
    ct_method method;
    ct_graph *graph;
    ct_noise *noise;
} bench_workload;

/* A smooth random path of planar poses: a prior of sigma 1e-3 on the first, odometry (.1 m, .1 m, .1 rad) between
 * neighbours, a position with heading (1 m, 1 m, .1 rad) on each later one. The start is the truth. */
void bench_chain(int32_t poses, uint64_t seed, bench_workload *out);
/* A pose graph: folder/file if that can be opened, else a world of the kind and size given; either way with a
 * prior of sigma 1e-3 on the first pose where it starts. folder may be NULL. */
void bench_pose_graph(const char *name, const char *folder, const char *file, ct_kind kind, int32_t poses,
                      ct_method method, bench_workload *out);
void bench_workload_free(bench_workload *w);

/* ---- measure.c ---- */

extern const bench_peer *const bench_peers[];
extern const int               bench_peer_count;

/* One peer on one workload. */
typedef struct {
    const bench_peer *peer;
    bench_outcome     best;      /* of its fastest run                                  */
    double            median_s;
    int               runs;
    int               converged;
    double            judged;    /* covtune's error at the values that it came up with  */
} bench_cell;

/* Runs every peer that takes the workload, in turns, until each has had about `budget_s` of it (0: once). Returns the
 * number of cells. Peers whose name does not contain `only` (NULL: any) are passed over. */
int bench_measure(const bench_workload *w, double budget_s, const char *only, bench_cell cell[BENCH_PEERS_MAX]);

/* ---- scaling.c ---- */

typedef struct {
    int32_t        poses;
    int            iterations;
    double         iteration_s;   /* of the fastest solve, structure analysed before */
    double         analyse_s;
    ct_sparse_info info;
    double         peak_bytes;    /* graph, solver and values, in a process of its own */
} bench_growth;

/* A chain of that many poses, solved for about `budget_s` seconds, at least once. */
bench_growth bench_grow(int32_t poses, double budget_s);

/* ---- table.c ---- */

typedef enum { BENCH_TEXT, BENCH_CSV, BENCH_JSON } bench_form;

void bench_print_begin(FILE *to, bench_form form, const bench_peer *const *peer, int peers);
void bench_print_workload(FILE *to, bench_form form, const bench_workload *w, const bench_cell *cell, int cells);
void bench_print_growth(FILE *to, bench_form form, const bench_growth *growth, int count);
void bench_print_end(FILE *to, bench_form form);

#endif
