/* run_keep.c: positions of estimates and truths that are kept for pictures: "t x y z" a line, at most KEPT_MOST lines.
 *
 * A file is there before its run is in the journal: a run that is not repeated has its picture. */
#include "base/file.h"
#include "tune/queue.h"

#include <math.h>
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

/* Axes of a picture at a place. */
typedef struct {
    double origin[3], axis[3][3];
} view;

/* As the file has them; of geodetic positions, which are those of the Earth's axes by now, east, north and up of the
 * truth's first. The normal of the ellipsoid x^2 / a^2 + y^2 / a^2 + z^2 / b^2 is up. */
static view view_of(const ct_tuning *tuning, const ct_trajectory *truth)
{
    view v = {.axis = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    if (!tuning->estimate_options.geodetic || !truth) return v;
    const double a2_b2 = 1.006739496742; /* of WGS 84 */
    const double p[3] = {truth->pose[0].x, truth->pose[0].y, truth->pose[0].z};
    double up[3] = {p[0], p[1], a2_b2 * p[2]};
    const double n = sqrt(up[0] * up[0] + up[1] * up[1] + up[2] * up[2]), flat = hypot(up[0], up[1]);
    if (!(flat > 0)) return v;
    for (int i = 0; i < 3; i++) up[i] /= n;
    const double east[3] = {-p[1] / flat, p[0] / flat, 0};
    const double north[3] = {up[1] * east[2] - up[2] * east[1], up[2] * east[0] - up[0] * east[2],
                             up[0] * east[1] - up[1] * east[0]};
    memcpy(v.origin, p, sizeof p);
    memcpy(v.axis[0], east, sizeof east);
    memcpy(v.axis[1], north, sizeof north);
    memcpy(v.axis[2], up, sizeof up);
    return v;
}

static void put_position(ct__text *out, const view *v, const double p[3])
{
    for (int k = 0; k < 3; k++) {
        double sum = 0;
        for (int i = 0; i < 3; i++) sum += v->axis[k][i] * (p[i] - v->origin[i]);
        put_number(out, sum, k < 2 ? " " : "\n");
    }
}

/* Of the point that is compared. */
static void write_positions(const ct__local *q, const char *name, const ct_trajectory *t, ct_se3 by,
                            const ct__log_sites *moved, const view *v)
{
    char *path = ct__join_path(q->estimates, name);
    const int64_t step = t->poses / KEPT_MOST + 1;
    ct__text out = {0};
    for (int64_t i = 0; i < t->poses; i += step) {
        const ct_se3 x = ct_se3_compose(t->pose[i], by, NULL, NULL);
        const double k = moved ? moved->scale : 1, p[3] = {k * x.x, k * x.y, k * x.z};
        double at[3] = {p[0], p[1], p[2]};
        if (moved) ct_se3_act(moved->motion, p, at, NULL, NULL);
        put_number(&out, 1e-9 * (double)(t->stamp[i] - t->stamp[0]), " ");
        put_position(&out, v, at);
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
    ct__log_sites *sites = &q->sites[run->log];
    char name[64];
    if (!q->estimates || !run->trajectory || !run->outcome.residual || run->repeat) return;
    if (!is_wanted(&q->tuning->problem, run->log)) return;
    const view v = view_of(q->tuning, sites->truth);
    ct_se3 by_estimate = ct_se3_identity(), by_truth = ct_se3_identity();
    if (sites->truth) (void)ct_trajectory_meet(run->trajectory, sites->truth, &by_estimate, &by_truth, NULL);
    write_positions(q, ct_tuning_estimate_name(q->tuning, run->log, run->value, name), run->trajectory, by_estimate,
                    sites, &v);
    if (sites->kept || !sites->truth) return;
    write_positions(q, ct_tuning_estimate_name(q->tuning, run->log, NULL, name), sites->truth, by_truth, NULL, &v);
    sites->kept = 1;
}
