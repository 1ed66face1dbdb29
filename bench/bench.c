/* bench.c: covtune beside other solvers on the same graphs, in one run. docs/performance.md says how to read it.
 *
 * bench [--quick] [--json | --csv] [--data FOLDER] [--seconds S] [--only WORKLOAD] [--solver NAME]
 *
 * --quick runs everything once on small graphs and checks what does not depend on the machine: that all solvers come to
 * the same answer, and that work and memory grow as the graph does. Exit code 1 if they do not. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    int         quick;
    bench_form  form;
    double      seconds; /* for each cell */
    const char *data, *only, *solver;
} settings;

typedef struct {
    const char *name, *file; /* file NULL: a chain */
    ct_kind     kind;
    int32_t     poses;       /* of the chain, or of the world that stands in for the file */
    ct_method   method;
} plan;

static const plan FULL[] = {
    {"chain 500", NULL, CT_SE2, 500, CT_GAUSS_NEWTON},
    {"chain 50000", NULL, CT_SE2, 50000, CT_GAUSS_NEWTON},
    {"manhattan", "posegraph/manhattan.g2o", CT_SE2, 3500, CT_LEVENBERG_MARQUARDT},
    {"manhattan dogleg", "posegraph/manhattan.g2o", CT_SE2, 3500, CT_DOGLEG},
    {"sphere2500", "posegraph/sphere2500.g2o", CT_SE3, 2500, CT_LEVENBERG_MARQUARDT},
    {"sphere dogleg", "posegraph/sphere2500.g2o", CT_SE3, 2500, CT_DOGLEG},
    {"parking garage", "posegraph/parking-garage.g2o", CT_SE3, 1661, CT_LEVENBERG_MARQUARDT},
    {"kitti 00", "kitti/kitti_00.g2o", CT_SE2, 4541, CT_LEVENBERG_MARQUARDT},
    {"city 100000", "", CT_SE2, 100000, CT_LEVENBERG_MARQUARDT},
};
static const plan QUICK[] = {
    {"chain 500", NULL, CT_SE2, 500, CT_GAUSS_NEWTON},
    {"city", "", CT_SE2, 400, CT_LEVENBERG_MARQUARDT},
    {"city dogleg", "", CT_SE2, 400, CT_DOGLEG},
    {"sphere", "", CT_SE3, 300, CT_LEVENBERG_MARQUARDT},
    {"sphere dogleg", "", CT_SE3, 300, CT_DOGLEG},
};
static const int32_t FULL_LENGTHS[] = {500, 5000, 50000, 500000}, QUICK_LENGTHS[] = {500, 5000, 50000};

#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/* ---- what must hold on any machine ---- */

static int failures;

static void want(int condition, const char *workload, const char *who, const char *what, double found, double wanted)
{
    if (condition) return;
    fprintf(stderr, "bench: %s: %s: %s: %.12g, wanted %.12g\n", workload, who, what, found, wanted);
    failures++;
}

static int near(double a, double b, double relative) { return fabs(a - b) <= relative * fabs(b); }

static void check_cells(const bench_workload *w, const bench_cell *cell, int cells)
{
    for (int i = 0; i < cells; i++) {
        const bench_cell *c = &cell[i];
        want(c->converged, w->name, c->peer->name, "not converged after iterations", c->best.iterations,
             BENCH_MAX_ITERATIONS);
        if (!c->peer->same_function) continue;
        want(near(c->judged, cell[0].judged, 1e-6), w->name, c->peer->name, "final error is not the first solver's",
             c->judged, cell[0].judged);
        want(near(c->best.final_error, c->judged, 1e-6), w->name, c->peer->name,
             "its error is not covtune's at the same values", c->best.final_error, c->judged);
    }
}

static void check_growth(const bench_growth *growth, int count)
{
    char length[24];
    for (int i = 1; i < count; i++) {
        const bench_growth *g = &growth[i];
        const double n = g->poses, m = g[-1].poses, bytes = (double)g->info.bytes / n,
                     before = (double)g[-1].info.bytes / m;
        snprintf(length, sizeof length, "%d poses", g->poses);
        want(near(g->info.flops / n, g[-1].info.flops / m, 0.1), "chain", length, "flops per pose", g->info.flops / n,
             g[-1].info.flops / m);
        want(near(bytes, before, 0.1), "chain", length, "bytes per pose", bytes, before);
        want(g->iterations > 0, "chain", length, "iterations", g->iterations, 1);
    }
}

/* ---- the run ---- */

static void run_plan(const settings *s, const plan *p)
{
    bench_workload w;
    bench_cell     cell[BENCH_PEERS_MAX];
    if (s->only && strcmp(p->name, s->only)) return;
    if (p->file) bench_pose_graph(p->name, s->data, p->file, p->kind, p->poses, p->method, &w);
    else bench_chain(p->poses, 1, &w);
    const int cells = bench_measure(&w, s->seconds, s->solver, cell);
    bench_print_workload(stdout, s->form, &w, cell, cells);
    if (s->quick) check_cells(&w, cell, cells);
    bench_workload_free(&w);
}

static void run(const settings *s)
{
    bench_growth   growth[COUNT(FULL_LENGTHS)];
    const int32_t *length = s->quick ? QUICK_LENGTHS : FULL_LENGTHS;
    const plan    *plans = s->quick ? QUICK : FULL;
    const int      lengths = s->only || s->solver ? 0 : s->quick ? COUNT(QUICK_LENGTHS) : COUNT(FULL_LENGTHS);
    /* first, while this process is small: memory is measured in its children */
    for (int i = 0; i < lengths; i++) growth[i] = bench_grow(length[i], s->seconds);
    bench_print_begin(stdout, s->form, bench_peers, bench_peer_count);
    for (int i = 0; i < (s->quick ? COUNT(QUICK) : COUNT(FULL)); i++) run_plan(s, &plans[i]);
    if (lengths) bench_print_growth(stdout, s->form, growth, lengths);
    bench_print_end(stdout, s->form);
    if (s->quick) check_growth(growth, lengths);
}

static int usage(const char *what)
{
    fprintf(stderr,
            "bench: %s\nusage: bench [--quick] [--json | --csv] [--data FOLDER] [--seconds S] [--only WORKLOAD] "
            "[--solver NAME]\n",
            what);
    return 2;
}

int main(int argc, char **argv)
{
    settings s = {.seconds = 1};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(argv[i], "--quick")) s.quick = 1, s.seconds = 0;
        else if (!strcmp(argv[i], "--json")) s.form = BENCH_JSON;
        else if (!strcmp(argv[i], "--csv")) s.form = BENCH_CSV;
        else if (!value) return usage(argv[i]);
        else if (!strcmp(argv[i], "--data")) s.data = value, i++;
        else if (!strcmp(argv[i], "--seconds")) s.seconds = strtod(value, NULL), i++;
        else if (!strcmp(argv[i], "--only")) s.only = value, i++;
        else if (!strcmp(argv[i], "--solver")) s.solver = value, i++;
        else return usage(argv[i]);
    }
    run(&s);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
