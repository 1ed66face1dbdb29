/* table.c: what was measured, as text for people, CSV or JSON. */
#include "bench.h"

#include <math.h>
#include <string.h>

#define LINE    "%-17s %-16s"
#define COLUMNS " %9s %8s %8s %9s %9s %9s %9s %8s %8s\n"

static int objects; /* printed so far in the JSON list that is open */

/* ---- one cell ---- */

static const bench_cell *find_covtune(const bench_cell *cell, int cells)
{
    for (int i = 0; i < cells; i++)
        if (!strcmp(cell[i].peer->name, "covtune")) return &cell[i];
    return NULL;
}

/* Microseconds an iteration. */
static double each_us(const bench_cell *c, double seconds)
{
    return 1e6 * seconds / (c->best.iterations > 0 ? c->best.iterations : 1);
}

/* What an iteration spends in no phase: moving, judging steps. Only where every phase is told. */
static double other_s(const bench_outcome *o)
{
    if (o->linearise_s < 0 || o->factor_s < 0 || o->backsub_s < 0 || o->analyse_s < 0) return -1;
    return o->seconds - o->analyse_s - o->linearise_s - o->factor_s - o->backsub_s;
}

/* Four figures, no exponents; "-" for what is not told. */
typedef struct {
    char text[24];
} figure;

static figure figures(double value)
{
    figure f;
    if (value < 0) snprintf(f.text, sizeof f.text, "-");
    else snprintf(f.text, sizeof f.text, "%.*f", value < 10 ? 3 : value < 100 ? 2 : value < 1000 ? 1 : 0, value);
    return f;
}

/* Per iteration, in microseconds. */
static figure phase(const bench_cell *c, double seconds) { return figures(seconds < 0 ? -1 : each_us(c, seconds)); }

static void text_cell(FILE *to, const bench_workload *w, const bench_cell *c, const bench_cell *covtune, int first)
{
    const bench_outcome *o = &c->best;
    const int            same = !covtune || fabs(c->judged - covtune->judged) <= 1e-6 * covtune->judged;
    fprintf(to, LINE, first ? w->name : "", c->peer->name);
    fprintf(to, " %4d%c %13.8g%c", o->iterations, c->converged ? ' ' : '!', c->judged, same ? ' ' : '*');
    fprintf(to, COLUMNS, figures(1e3 * o->seconds).text, figures(c->median_s / o->seconds).text,
            figures(covtune ? o->seconds / covtune->best.seconds : -1).text, phase(c, o->seconds).text,
            figures(1e6 * o->analyse_s).text, phase(c, o->linearise_s).text, phase(c, o->factor_s).text,
            phase(c, o->backsub_s).text, phase(c, other_s(o)).text);
}

static void csv_cell(FILE *to, const bench_workload *w, const bench_cell *c)
{
    const bench_outcome *o = &c->best;
    fprintf(to, "%s,%s,%s,%s,%s,%d,%d,%.17g,%.17g,%.9g,%.9g,%d,%.9g,%.9g,%.9g,%.9g\n", w->name, w->source,
            ct_method_name(w->method), c->peer->name, c->peer->version, o->iterations, c->converged, c->judged,
            o->final_error, o->seconds, c->median_s, c->runs, o->analyse_s, o->linearise_s, o->factor_s, o->backsub_s);
}

static void json_cell(FILE *to, const bench_workload *w, const bench_cell *c)
{
    const bench_outcome *o = &c->best;
    fprintf(to,
            "%s\n  {\"workload\": \"%s\", \"source\": \"%s\", \"method\": \"%s\", \"solver\": \"%s\", \"version\": "
            "\"%s\", \"iterations\": %d, \"converged\": %s, "
            "\"final_error\": %.17g, \"own_final_error\": %.17g, \"seconds\": %.9g, \"median_seconds\": %.9g, "
            "\"runs\": %d, "
            "\"analyse_s\": %.9g, \"linearise_s\": %.9g, \"factor_s\": %.9g, \"backsub_s\": %.9g}",
            objects++ ? "," : "", w->name, w->source, ct_method_name(w->method), c->peer->name, c->peer->version,
            o->iterations, c->converged ? "true" : "false", c->judged, o->final_error, o->seconds, c->median_s, c->runs,
            o->analyse_s, o->linearise_s, o->factor_s, o->backsub_s);
}

/* ---- the whole ---- */

static void text_head(FILE *to, const bench_peer *const *peer, int peers)
{
    for (int i = 0; i < peers; i++)
        if (*peer[i]->version) fprintf(to, "%s %s\n", peer[i]->name, peer[i]->version);
    fprintf(to, "\n" LINE " %5s %14s" COLUMNS, "", "", "", "", "ms", "median", "best /", "us /",
            "us:", "us / iter:", "", "back-", "");
    fprintf(to, LINE " %5s %14s" COLUMNS "\n", "workload", "solver", "iter ", "final error ", "best", "/ best",
            "covtune", "iter", "analyse", "linearise", "factor", "subst.", "other");
}

void bench_print_begin(FILE *to, bench_form form, const bench_peer *const *peer, int peers)
{
    objects = 0;
    if (form == BENCH_JSON) fprintf(to, "{\"solves\": [");
    else if (form == BENCH_CSV)
        fprintf(to, "workload,source,method,solver,version,iterations,converged,final_error,own_final_error,seconds,"
                    "median_seconds,runs,analyse_s,linearise_s,factor_s,backsub_s\n");
    else text_head(to, peer, peers);
}

void bench_print_workload(FILE *to, bench_form form, const bench_workload *w, const bench_cell *cell, int cells)
{
    const bench_cell *covtune = find_covtune(cell, cells);
    for (int i = 0; i < cells; i++) {
        if (form == BENCH_JSON) json_cell(to, w, &cell[i]);
        else if (form == BENCH_CSV) csv_cell(to, w, &cell[i]);
        else text_cell(to, w, &cell[i], covtune, i == 0);
    }
    if (form == BENCH_TEXT)
        fprintf(to, "%-17s %d variables, %d factors, %s, %s\n\n", "", ct_graph_variables(w->graph),
                ct_graph_factors(w->graph), ct_method_name(w->method), w->source);
    fflush(to);
}

#define GROWTH "%-17s %5s %10s %10s %10s %10s %10s %10s %10s %10s\n"

static void text_growth(FILE *to, const bench_growth *g)
{
    const double n = g->poses;
    char         poses[24], iterations[24];
    snprintf(poses, sizeof poses, "%d poses", g->poses);
    snprintf(iterations, sizeof iterations, "%d", g->iterations);
    fprintf(to, GROWTH, poses, iterations, figures(1e6 * g->iteration_s).text, figures(1e9 * g->iteration_s / n).text,
            figures(1e9 * g->analyse_s / n).text, figures(g->info.flops / n).text,
            figures((double)g->info.bytes / 1e6).text, figures((double)g->info.bytes / n).text,
            figures(g->peak_bytes / 1e6).text, figures(g->peak_bytes / n).text);
}

void bench_print_growth(FILE *to, bench_form form, const bench_growth *growth, int count)
{
    if (form == BENCH_CSV) return;
    if (form == BENCH_JSON) fprintf(to, "],\n \"growth\": [");
    else {
        fprintf(to, GROWTH, "", "", "us /", "ns / iter", "analyse", "flops", "system", "bytes", "peak", "bytes");
        fprintf(to, GROWTH "\n", "chain", "iter", "iter", "/ pose", "ns / pose", "/ pose", "MB", "/ pose", "MB",
                "/ pose");
    }
    for (int i = 0; i < count; i++) {
        const bench_growth *g = &growth[i];
        if (form == BENCH_TEXT) text_growth(to, g);
        else
            fprintf(to,
                    "%s\n  {\"poses\": %d, \"iterations\": %d, \"iteration_s\": %.9g, \"analyse_s\": %.9g, \"flops\": "
                    "%.9g, \"system_bytes\": %lld, \"peak_bytes\": %.9g}",
                    i ? "," : "", g->poses, g->iterations, g->iteration_s, g->analyse_s, g->info.flops,
                    (long long)g->info.bytes, g->peak_bytes);
    }
}

void bench_print_end(FILE *to, bench_form form)
{
    if (form == BENCH_JSON) fprintf(to, "]}\n");
    if (form != BENCH_TEXT) return;
    fprintf(to, "\nOne thread, unless the name says otherwise. ms: a whole solve, analysis of the structure included; "
                "\"again\" without. final error:\n"
                "covtune's at the values that the solver came to; * not within 1e-6 of covtune's own. ! stopped before "
                "it converged.\n"
                "Ceres tells no back-substitution: it is in its factor, as is most of its analysis.\n");
}
