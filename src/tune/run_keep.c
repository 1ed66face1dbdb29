/* run_keep.c: positions of estimates and truths that are kept for pictures: "t x y z" a line, at most KEPT_MOST lines.
 *
 * A file is there before its run is in the journal: a run that is not repeated has its picture. */
#include "base/file.h"
#include "tune/queue.h"

#include <stdio.h>

#define KEPT_MOST 2000 /* poses: more than a picture has pixels */

const char *ct_tuning_estimate_name(const ct_tuning *tuning, int32_t log, const double value[], char name[64])
{
    uint64_t h = 0xcbf29ce484222325u;
    const unsigned char *bytes = (const void *)value;
    for (size_t i = 0; value && i < (size_t)tuning->problem.parameters * sizeof *value; i++)
        h = (h ^ bytes[i]) * 0x100000001b3u;
    if (value)
        snprintf(name, 64, "log%d-%016llx.txt", log, (unsigned long long)h);
    else
        snprintf(name, 64, "log%d-truth.txt", log);
    return name;
}

static void put_number(ct__text *out, double value, const char *after)
{
    char buf[32];
    ct__text_put(out, ct__format_double(value, buf));
    ct__text_put(out, after);
}

static void write_positions(const ct__local *q, const char *name, const ct_trajectory *t, const ct__log_sites *moved)
{
    char *path = ct__join_path(q->estimates, name);
    const int64_t step = t->poses / KEPT_MOST + 1;
    ct__text out = {0};
    for (int64_t i = 0; i < t->poses; i += step) {
        const double k = moved ? moved->scale : 1, p[3] = {k * t->pose[i].x, k * t->pose[i].y, k * t->pose[i].z};
        double at[3] = {p[0], p[1], p[2]};
        if (moved) ct_se3_act(moved->motion, p, at, NULL, NULL);
        put_number(&out, 1e-9 * (double)(t->stamp[i] - t->stamp[0]), " ");
        put_number(&out, at[0], " ");
        put_number(&out, at[1], " ");
        put_number(&out, at[2], "\n");
    }
    if (path && !out.failed && out.used) (void)ct__write_plain(path, out.bytes, (size_t)out.used, NULL);
    ct__text_free(&out);
    free(path);
}

/* Test logs; all where there are none. */
static int is_wanted(const ct_tune_problem *problem, int32_t log)
{
    int tests = 0;
    for (int32_t i = 0; i < problem->logs; i++) tests |= problem->log[i].test;
    return !tests || problem->log[log].test;
}

void ct__estimate_keep(const ct__local *q, const ct__run *run)
{
    const ct__log_sites *sites = &q->sites[run->log];
    char name[64];
    if (!q->estimates || !run->trajectory || !run->outcome.residual || run->repeat) return;
    if (!is_wanted(&q->tuning->problem, run->log)) return;
    write_positions(q, ct_tuning_estimate_name(q->tuning, run->log, run->value, name), run->trajectory, sites);
    if (sites->truth) write_positions(q, ct_tuning_estimate_name(q->tuning, run->log, NULL, name), sites->truth, NULL);
}
