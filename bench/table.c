/* table.c: what was measured, as text for people, CSV or JSON. */
#include "bench.h"

#include <math.h>
#include <string.h>

static int objects; /* printed so far in the JSON list that is open */

/* ---- one cell ---- */

static const bench_cell *find_covtune(const bench_cell *cell, int cells)
{
    for (int i = 0; i < cells; i++)
        if (!strcmp(cell[i].peer->name, "covtune")) return &cell[i];
    return NULL;
}

/* Microseconds an iteration. */
static double each_us(const bench_cell *c, double seconds) { return 1e6 * seconds / (c->best.iterations > 0 ? c->best.iterations : 1); }

/* What an iteration spends in no phase: moving, judging steps. Only where every phase is told. */
static double other_s(const bench_outcome *o)
{
    if (o->linearise_s < 0 || o->factor_s < 0 || o->backsub_s < 0 || o->analyse_s < 0) return -1;
    return o->seconds - o->analyse_s - o->linearise_s - o->factor_s - o->backsub_s;
}

static const char *phase_text(const bench_cell *c, double seconds, char buf[24])
{
    if (seconds < 0) snprintf(buf, 24, "-");
    else snprintf(buf, 24, "%.4g", each_us(c, seconds));
    return buf;
}

static void text_cell(FILE *to, const bench_workload *w, const bench_cell *c, const bench_cell *covtune, int first)
{
    const bench_outcome *o = &c->best;
    char                 analyse[24] = "-", a[24], b[24], d[24], e[24], ratio[24] = "-";
    if (o->analyse_s >= 0) snprintf(analyse, sizeof analyse, "%.4g", 1e6 * o->analyse_s);
    if (covtune) snprintf(ratio, sizeof ratio, "%.3g", o->seconds / covtune->best.seconds);
    const int same = !covtune || fabs(c->judged - covtune->judged) <= 1e-6 * covtune->judged;
    fprintf(to, "%-18s %-16s %5d%c %14.8g%c %10.4g %6.2f %9s %11.4g %10s %10s %9s %9s %9s\n", first ? w->name : "", c->peer->name, o->iterations, c->converged ? ' ' : '!',
            c->judged, same ? ' ' : '*', 1e3 * o->seconds, c->median_s / o->seconds, ratio, each_us(c, o->seconds), analyse, phase_text(c, o->linearise_s, a),
            phase_text(c, o->factor_s, b), phase_text(c, o->backsub_s, d), phase_text(c, other_s(o), e));
}

static void csv_cell(FILE *to, const bench_workload *w, const bench_cell *c)
{
    const bench_outcome *o = &c->best;
    fprintf(to, "%s,%s,%s,%s,%d,%d,%.17g,%.17g,%.9g,%.9g,%d,%.9g,%.9g,%.9g,%.9g\n", w->name, w->source, ct_method_name(w->method), c->peer->name, o->iterations, c->converged,
            c->judged, o->final_error, o->seconds, c->median_s, c->runs, o->analyse_s, o->linearise_s, o->factor_s, o->backsub_s);
}

static void json_cell(FILE *to, const bench_workload *w, const bench_cell *c)
{
    const bench_outcome *o = &c->best;
    fprintf(to, "%s\n  {\"workload\": \"%s\", \"source\": \"%s\", \"method\": \"%s\", \"solver\": \"%s\", \"iterations\": %d, \"converged\": %s, "
                "\"final_error\": %.17g, \"own_final_error\": %.17g, \"seconds\": %.9g, \"median_seconds\": %.9g, \"runs\": %d, "
                "\"analyse_s\": %.9g, \"linearise_s\": %.9g, \"factor_s\": %.9g, \"backsub_s\": %.9g}",
            objects++ ? "," : "", w->name, w->source, ct_method_name(w->method), c->peer->name, o->iterations, c->converged ? "true" : "false", c->judged,
            o->final_error, o->seconds, c->median_s, c->runs, o->analyse_s, o->linearise_s, o->factor_s, o->backsub_s);
}

/* ---- the whole ---- */

void bench_print_begin(FILE *to, bench_form form)
{
    objects = 0;
    if (form == BENCH_JSON) fprintf(to, "{\"covtune\": \"%s\", \"solves\": [", ct_version());
    else if (form == BENCH_CSV)
        fprintf(to, "workload,source,method,solver,iterations,converged,final_error,own_final_error,seconds,median_seconds,runs,analyse_s,linearise_s,factor_s,backsub_s\n");
    else
        fprintf(to,
                "%-18s %-16s %6s %15s %10s %6s %9s %11s %10s %10s %9s %9s %9s\n"
                "%-18s %-16s %6s %15s %10s %6s %9s %11s %10s %10s %9s %9s %9s\n",
                "workload", "solver", "iter ", "final error ", "best", "median", "best", "best", "analyse", "linearise", "factor", "back-", "other", "", "", "", "", "ms",
                "/ best", "/ covtune", "us / iter", "us", "us / iter", "", "subst.", "");
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
        fprintf(to, "%-18s %d variables, %d factors, %s: %s\n\n", "", ct_graph_variables(w->graph), ct_graph_factors(w->graph), ct_method_name(w->method), w->source);
    fflush(to);
}

void bench_print_growth(FILE *to, bench_form form, const bench_growth *growth, int count)
{
    if (form == BENCH_CSV) return;
    if (form == BENCH_JSON) fprintf(to, "],\n \"growth\": [");
    else
        fprintf(to, "%-18s %5s %11s %11s %9s %9s %9s %11s %11s %11s\n", "growth of a chain", "iter", "us / iter", "ns / iter", "analyse", "flops", "fronts", "system",
                "peak", "peak bytes"),
            fprintf(to, "%-18s %5s %11s %11s %9s %9s %9s %11s %11s %11s\n", "", "", "", "/ pose", "ns / pose", "/ pose", "", "bytes/pose", "MB", "/ pose");
    for (int i = 0; i < count; i++) {
        const bench_growth *g = &growth[i];
        const double        n = g->poses;
        if (form == BENCH_JSON)
            fprintf(to, "%s\n  {\"poses\": %d, \"iterations\": %d, \"iteration_s\": %.9g, \"analyse_s\": %.9g, \"flops\": %.9g, \"system_bytes\": %lld, \"peak_bytes\": %.9g}",
                    i ? "," : "", g->poses, g->iterations, g->iteration_s, g->analyse_s, g->info.flops, (long long)g->info.bytes, g->peak_bytes);
        else
            fprintf(to, "%-18d %5d %11.4g %11.4g %9.4g %9.4g %9d %11.4g %11.4g %11.4g\n", g->poses, g->iterations, 1e6 * g->iteration_s, 1e9 * g->iteration_s / n,
                    1e9 * g->analyse_s / n, g->info.flops / n, g->info.fronts, (double)g->info.bytes / n, g->peak_bytes / 1e6, g->peak_bytes / n);
    }
}

void bench_print_end(FILE *to, bench_form form)
{
    if (form == BENCH_JSON) fprintf(to, "]}\n");
    if (form == BENCH_TEXT)
        fprintf(to, "\nOne thread unless the name says otherwise. best and median: of whole solves, analysis included, \"again\" without. final error: covtune's error\n"
                    "at the values that each solver came to; * differs from covtune's by more than 1e-6 of it. ! has not converged. Ceres' factor includes its back-substitution.\n");
}
