/* report_path.c: trajectories: maps of the truth and both estimates, and the error in position along the way. */
#define _POSIX_C_SOURCE 200809L
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAP_POINTS 36000 /* poses on all maps together: with three lines each, a page of at most two or three megabytes */

/* ---- which ---- */

char **report_choices(const report_job *job)
{
    char **names = cli_alloc(job->shown, sizeof *names);
    for (int32_t k = 0; k < job->shown; k++) {
        const int32_t i = job->show[k];
        const char   *name = report_name(job->track[i].seq), *why = i == job->most_improved ? " (most improved)" : i == job->most_worsened ? " (most worsened)" : k == 1 && job->most_worsened < 0 ? " (least improved)" : "";
        const size_t  size = strlen(name) + strlen(why) + 1;
        names[k] = cli_alloc((int64_t)size, 1);
        snprintf(names[k], size, "%s%s", name, why);
    }
    return names;
}

void report_choices_free(const report_job *job, char **names)
{
    for (int32_t k = 0; k < job->shown; k++) free(names[k]);
    free(names);
}

int32_t report_poses(const ct_sequence *seq, int32_t *at, double *x, const char **label)
{
    const int32_t n = ct_graph_variables(seq->graph);
    int32_t       poses = 0;
    int           timed = seq->stamp != NULL;
    for (int32_t v = 0; v < n; v++) {
        if (!cli_is_pose(ct_graph_kind(seq->graph, v))) continue;
        timed = timed && isfinite(seq->stamp[v]);
        at[poses++] = v;
    }
    for (int32_t i = 0; i < poses; i++) x[i] = timed ? seq->stamp[at[i]] - seq->stamp[at[0]] : i;
    *label = timed ? "time in s" : "pose";
    return poses;
}

int64_t report_thin(int64_t n, int64_t most, double *x, double *y, double *z)
{
    const int64_t parts = most / 4;
    int64_t       used = 0;
    if (n <= most) return n;
    for (int64_t k = 0; k < parts; k++) {
        const int64_t from = k * n / parts, to = (k + 1) * n / parts;
        int64_t       keep[4] = {from, from, from, from};
        for (int64_t i = from; i < to; i++) { /* a NaN is neither */
            if (y[i] < y[keep[0]] || isnan(y[keep[0]])) keep[0] = i;
            if (y[i] > y[keep[1]] || isnan(y[keep[1]])) keep[1] = i;
            if (z[i] < z[keep[2]] || isnan(z[keep[2]])) keep[2] = i;
            if (z[i] > z[keep[3]] || isnan(z[keep[3]])) keep[3] = i;
        }
        for (int64_t i = from; i < to; i++) {
            if (i != keep[0] && i != keep[1] && i != keep[2] && i != keep[3]) continue;
            x[used] = x[i], y[used] = y[i], z[used] = z[i];
            used++;
        }
    }
    return used;
}

/* ---- places ---- */

/* Bits of the tangent coordinates that are a position; 0: the kind has none. */
static unsigned position_bits(ct_kind kind)
{
    switch (kind) {
    case CT_SE2: case CT_R2: return 0x3;
    case CT_SE3: return 0x38;
    case CT_R3: return 0x7;
    default: return 0;
    }
}

static int is_point(ct_kind kind) { return kind == CT_R2 || kind == CT_R3; }
static int is_spatial(ct_kind kind) { return kind == CT_SE3 || kind == CT_R3; }

static int truth_is_known(const ct_sequence *seq, int32_t v)
{
    const unsigned bits = position_bits(ct_graph_kind(seq->graph, v));
    return seq->truth && bits && (seq->known[v] & bits) == bits;
}

typedef struct {
    const report_track *track;
    int32_t             poses, points;
    int32_t            *at, *point; /* variables */
    int                 spatial;
    double             *time;
    const char         *label;
} scene;

static void look(scene *s, const report_track *track)
{
    const ct_graph *g = track->seq->graph;
    const int32_t   n = ct_graph_variables(g);
    *s = (scene){.track = track, .at = cli_alloc(n, sizeof *s->at), .point = cli_alloc(n, sizeof *s->point), .time = cli_alloc(n, sizeof *s->time)};
    s->poses = report_poses(track->seq, s->at, s->time, &s->label);
    for (int32_t v = 0; v < n; v++) {
        if (is_point(ct_graph_kind(g, v))) s->point[s->points++] = v;
        s->spatial = s->spatial || is_spatial(ct_graph_kind(g, v));
    }
}

static void forget(scene *s)
{
    free(s->at);
    free(s->point);
    free(s->time);
}

/* Coordinate `axis` of every step-th of n variables; of the truth (side < 0) where it is known, else NaN: the line breaks there. */
static double *coordinates(const scene *s, const int32_t *variable, int32_t n, int32_t step, int side, int axis)
{
    const ct_sequence *seq = s->track->seq;
    double            *out = cli_alloc(n, sizeof *out);
    for (int32_t i = 0; i < n; i += step) {
        const double *x = (side < 0 ? seq->truth : s->track->x[side]) + ct_graph_offset(seq->graph, variable[i]);
        const int     flat = axis == 2 && !is_spatial(ct_graph_kind(seq->graph, variable[i]));
        out[i / step] = side < 0 && !truth_is_known(seq, variable[i]) ? NAN : flat ? 0 : x[axis];
    }
    return out;
}

/* ---- pictures ---- */

/* Seen from above (y over x), or from the side (z over x); every step-th pose. */
static void put_map(report_job *job, const scene *s, int32_t k, int axis, int32_t step)
{
    static const char *const NAME[] = {"truth", "before", "after"}, *const POINTS[] = {"true landmarks", NULL, "landmarks after"};
    static const ct_role     ROLE[] = {CT_ROLE_TRUTH, CT_ROLE_BEFORE, CT_ROLE_AFTER};
    static const int         ORDER[] = {1, 0, 2}; /* the truth over what is far from it, the answer over both */
    const int32_t            poses = (s->poses + step - 1) / step;
    double                  *kept[12];
    ct_series                series[6];
    int                      count = 0, held = 0;
    char                     id[32];
    for (int o = 0; o < 3; o++) {
        const int side = ORDER[o] - 1;
        const double *x = kept[held++] = coordinates(s, s->at, s->poses, step, side, 0), *y = kept[held++] = coordinates(s, s->at, s->poses, step, side, axis);
        series[count++] = (ct_series){NAME[ORDER[o]], ROLE[ORDER[o]], CT_MARK_LINE, poses, x, y, NULL};
        if (!s->points || !POINTS[ORDER[o]]) continue;
        const double *px = kept[held++] = coordinates(s, s->point, s->points, 1, side, 0), *py = kept[held++] = coordinates(s, s->point, s->points, 1, side, axis);
        series[count++] = (ct_series){POINTS[ORDER[o]], ROLE[ORDER[o]], CT_MARK_POINTS, s->points, px, py, NULL};
    }
    snprintf(id, sizeof id, "map-%s-%d", axis == 1 ? "top" : "side", k);
    const ct_plot plot = {.id = id, .title = axis == 2 ? "From the side" : s->spatial ? "From above" : "Map", .x_label = "x in m", .y_label = axis == 2 ? "z in m" : "y in m", .equal = 1, .zoom = 1,
                          .count = count, .series = series};
    ct_page_plot(job->page, &plot);
    while (held) free(kept[--held]);
}

/* Distance of each pose from its truth, before and after. */
static void put_errors(report_job *job, const scene *s, int32_t k)
{
    const ct_sequence *seq = s->track->seq;
    const int64_t      n = s->poses;
    double            *x = cli_alloc(3 * n, sizeof *x), *e[SIDES] = {x + n, x + 2 * n};
    char               id[32];
    int                known = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = ct_graph_offset(seq->graph, s->at[i]);
        const double *truth = seq->truth + at;
        const int     here = truth_is_known(seq, s->at[i]), spatial = is_spatial(ct_graph_kind(seq->graph, s->at[i]));
        x[i] = s->time[i];
        for (int side = BEFORE; side <= AFTER; side++) {
            const double *p = s->track->x[side] + at;
            e[side][i] = here ? hypot(hypot(p[0] - truth[0], p[1] - truth[1]), spatial ? p[2] - truth[2] : 0) : NAN;
        }
        known = known || here;
    }
    const int64_t   drawn = report_thin(n, REPORT_LINE / job->shown, x, e[BEFORE], e[AFTER]);
    const ct_series series[] = {{"before", CT_ROLE_BEFORE, CT_MARK_LINE, drawn, x, e[BEFORE], NULL}, {"after", CT_ROLE_AFTER, CT_MARK_LINE, drawn, x, e[AFTER], NULL}};
    snprintf(id, sizeof id, "error-%d", k);
    const ct_plot plot = {.id = id, .title = "Error in position along the way", .x_label = s->label, .y_label = "distance from the truth in m", .zoom = 1, .height = 0.75, .count = 2, .series = series};
    if (known) ct_page_plot(job->page, &plot);
    free(x);
}

static void put_run(report_job *job, int32_t k)
{
    const int32_t i = job->show[k];
    double        value[SIDES][EVAL_COUNT];
    char          a[32], b[32], landmarks[32] = "", rotations[128] = "";
    scene         s;
    look(&s, &job->track[i]);
    for (int side = BEFORE; side <= AFTER; side++) eval_numbers(&job->of[side][i], value[side]);
    if (s.points) snprintf(landmarks, sizeof landmarks, ", %d landmark%s", s.points, CLI_S(s.points));
    if (!isnan(value[AFTER][EVAL_ROTATION])) snprintf(rotations, sizeof rotations, "; of rotations %s rad before, %s rad after", report_number(value[BEFORE][EVAL_ROTATION], a), report_number(value[AFTER][EVAL_ROTATION], b));
    ct_page_text(job->page, "%s: %d pose%s%s. rmse of positions %s m before, %s m after%s.", report_name(job->track[i].seq), s.poses, CLI_S(s.poses), landmarks, report_number(value[BEFORE][EVAL_TRANSLATION], a),
                 report_number(value[AFTER][EVAL_TRANSLATION], b), rotations);
    const int64_t room = MAP_POINTS / job->shown, step = s.poses / room + 1;
    if (step > 1) ct_page_text(job->page, "One in %lld of its poses is on the map.", (long long)step);
    if (s.poses) put_map(job, &s, k, 1, (int32_t)step);
    if (s.poses) put_errors(job, &s, k);
    if (s.poses && s.spatial) put_map(job, &s, k, 2, (int32_t)step);
    forget(&s);
}

void report_paths(report_job *job)
{
    ct_page_section(job->page, "trajectories", "Trajectories");
    if (!job->shown) {
        ct_page_text(job->page, "No run has an estimate both before and after.");
        return;
    }
    char **names = report_choices(job);
    if (job->shown < job->averaged) ct_page_text(job->page, "%d of %d runs are shown, the most improved and the %s first; --runs N shows more.", job->shown, job->averaged, job->most_worsened < 0 ? "least improved" : "most worsened");
    ct_page_text(job->page, "Wheel, pinch and drag zoom into a picture, a double click goes back. A click in the legend hides a line.");
    if (job->shown > 1) ct_page_choices(job->page, "run", "run", job->shown, (const char *const *)names);
    for (int32_t k = 0; k < job->shown; k++) {
        if (job->shown > 1) ct_page_choice(job->page, k);
        put_run(job, k);
    }
    if (job->shown > 1) ct_page_choices_end(job->page);
    report_choices_free(job, names);
}
