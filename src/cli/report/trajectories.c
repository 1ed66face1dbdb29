/* trajectories.c: maps of the truth and both estimates, where the errors are, and errors along the way. */
#define _POSIX_C_SOURCE 200809L
#include "cli/report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* poses on all maps together: with five lines each, a page of at most two megabytes */
#define MAP_POINTS 20000

/* ---- which ---- */

char **report_choices(const report_job *job)
{
    char **names = cli_alloc(job->shown, sizeof *names);
    for (int32_t k = 0; k < job->shown; k++) {
        const int32_t i = job->show[k];
        const int     least = k == 1 && job->most_worsened < 0;
        const char   *name = ct_sequence_label(job->track[i].seq);
        const char   *why = i == job->most_improved   ? " (most improved)"
                            : i == job->most_worsened ? " (most worsened)"
                            : least                   ? " (least improved)"
                                                      : "";
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

/* Is v a pose of the body: its name and a number? */
static int is_of(const ct_sequence *seq, int32_t v, const char *body)
{
    char         name[256];
    const size_t n = strlen(body);
    ct_graph_name(seq->graph, v, name, sizeof name);
    return !strncmp(name, body, n) && strspn(name + n, "0123456789") == strlen(name + n);
}

int32_t report_poses(const ct_sequence *seq, const char *body, int32_t *at, double *x, const char **label)
{
    const int32_t n = ct_graph_variables(seq->graph);
    int32_t       poses = 0;
    int           timed = seq->stamp != NULL;
    for (int32_t v = 0; v < n; v++) {
        if (!cli_is_pose(ct_graph_kind(seq->graph, v)) || (body && !is_of(seq, v, body))) continue;
        timed = timed && isfinite(seq->stamp[v]);
        at[poses++] = v;
    }
    for (int32_t i = 0; i < poses; i++) x[i] = timed ? seq->stamp[at[i]] - seq->stamp[at[0]] : i;
    *label = timed ? "time in s" : body ? "step" : "pose index";
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
    int32_t            *at, *point; /* variables; at -1: a line breaks */
    int                 spatial;
    double             *time;
    const char         *label;
} course;

/* Of a body's poses, or of all (NULL). */
static void read_course(course *s, const report_track *track, const char *body)
{
    const ct_graph *g = track->seq->graph;
    const int32_t   n = ct_graph_variables(g);
    *s = (course){.track = track,
                  .at = cli_alloc(n, sizeof *s->at),
                  .point = cli_alloc(n, sizeof *s->point),
                  .time = cli_alloc(n, sizeof *s->time)};
    s->poses = report_poses(track->seq, body, s->at, s->time, &s->label);
    for (int32_t v = 0; v < n; v++) {
        if (is_point(ct_graph_kind(g, v))) s->point[s->points++] = v;
        s->spatial = s->spatial || is_spatial(ct_graph_kind(g, v));
    }
}

static void free_course(course *s)
{
    free(s->at);
    free(s->point);
    free(s->time);
}

/* The poses of every body after each other, for lines that do not jump from one to the other: between them as many
 * breaks as there are poses to a point. */
static void separate_bodies(const report_job *job, course *s, int32_t step)
{
    const char   *body[CT_BODIES_MAX];
    const int     bodies = report_each_body(job, body);
    const int32_t n = ct_graph_variables(s->track->seq->graph);
    int32_t       used = 0;
    if (bodies == 1) return;
    int32_t *at = cli_alloc(n + (int64_t)bodies * step, sizeof *at);
    for (int k = 0; k < bodies; k++) {
        course one;
        read_course(&one, s->track, body[k]);
        memcpy(at + used, one.at, (size_t)one.poses * sizeof *at);
        used += one.poses;
        for (int32_t i = 0; i < step; i++) at[used++] = -1;
        free_course(&one);
    }
    free(s->at);
    s->at = at;
    s->poses = used;
}

/* Coordinate `axis` of every step-th of n variables; of the truth (side < 0) where it is known, else NaN: the line
 * breaks there. */
static double *coordinates(const course *s, const int32_t *variable, int32_t n, int32_t step, int side, int axis)
{
    const ct_sequence *seq = s->track->seq;
    double            *out = cli_alloc(n, sizeof *out);
    for (int32_t i = 0; i < n; i += step) {
        out[i / step] = NAN;
        if (variable[i] < 0) continue;
        if (side < 0 && !truth_is_known(seq, variable[i])) continue;
        const double *x = (side < 0 ? seq->truth : s->track->x[side]) + ct_graph_offset(seq->graph, variable[i]);
        const int     flat = axis == 2 && !is_spatial(ct_graph_kind(seq->graph, variable[i]));
        out[i / step] = flat ? 0 : x[axis];
    }
    return out;
}

/* ---- errors ---- */

/* The angle between a pose and its truth; NaN where the true rotation is not known. */
static double turned(const ct_sequence *seq, int32_t v, const double *p)
{
    const ct_kind kind = ct_graph_kind(seq->graph, v);
    const unsigned bits = kind == CT_SE2 ? 4 : 7;
    double w[3];
    if (!seq->truth || !cli_is_pose(kind) || (seq->known[v] & bits) != bits) return NAN;
    const double *truth = seq->truth + ct_graph_offset(seq->graph, v);
    if (kind == CT_SE2) return fabs(atan2(truth[2] * p[3] - truth[3] * p[2], truth[2] * p[2] + truth[3] * p[3]));
    ct_so3_log(
        ct_so3_between((ct_so3){truth[3], truth[4], truth[5], truth[6]}, (ct_so3){p[3], p[4], p[5], p[6]}, NULL, NULL),
        w);
    return sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
}

static double distance(const report_job *job, const ct_sequence *seq, int32_t v, const double *p)
{
    if (!truth_is_known(seq, v)) return NAN;
    const double *truth = seq->truth + ct_graph_offset(seq->graph, v);
    return job->unit.per_m * hypot(hypot(p[0] - truth[0], p[1] - truth[1]),
                                   is_spatial(ct_graph_kind(seq->graph, v)) ? p[2] - truth[2] : 0);
}

/* ---- pictures ---- */

/* Seen from above (y over x), or from the side (z over x); every step-th pose. */
static void put_map(report_job *job, const course *s, int32_t k, int axis, int32_t step)
{
    static const char *const NAME[] = {"truth", "before", "after"}, *const POINTS[] = {"true landmarks", NULL,
                                                                                       "landmarks after"};
    static const ct_role     ROLE[] = {CT_ROLE_TRUTH, CT_ROLE_BEFORE, CT_ROLE_AFTER};
    static const int ORDER[] = {1, 2, 0}; /* the truth above the estimates */
    const int32_t            poses = (s->poses + step - 1) / step;
    double                  *kept[12];
    ct_series                series[6];
    int                      count = 0, held = 0;
    char                     id[32];
    for (int o = 0; o < 3; o++) {
        const int side = ORDER[o] - 1;
        if (side < 0 && !s->track->seq->truth) continue;
        const double *x = kept[held++] = coordinates(s, s->at, s->poses, step, side, 0),
                     *y = kept[held++] = coordinates(s, s->at, s->poses, step, side, axis);
        series[count++] = (ct_series){NAME[ORDER[o]], ROLE[ORDER[o]], CT_MARK_LINE, poses, x, y, NULL};
        if (!s->points || !POINTS[ORDER[o]]) continue;
        const double *px = kept[held++] = coordinates(s, s->point, s->points, 1, side, 0),
                     *py = kept[held++] = coordinates(s, s->point, s->points, 1, side, axis);
        series[count++] = (ct_series){POINTS[ORDER[o]], ROLE[ORDER[o]], CT_MARK_POINTS, s->points, px, py, NULL};
    }
    snprintf(id, sizeof id, "map-%s-%d", axis == 1 ? "top" : "side", k);
    const ct_plot plot = {.id = id,
                          .title = axis == 2    ? "From the side"
                                   : s->spatial ? "From above"
                                                : "Map",
                          .text = job->align == CT_ALIGN_NONE ? NULL : "Estimates are aligned with the truth.",
                          .x_label = "x in m",
                          .y_label = axis == 2 ? "z in m" : "y in m",
                          .equal = 1,
                          .zoom = 1,
                          .count = count,
                          .series = series};
    ct_page_plot(job->page, &plot);
    while (held) free(kept[--held]);
}

/* Errors of a few poses, wrong starts or lost tracks, do not set the scale of colours: this share is beyond its end. */
#define BEYOND 0.02

static int ascending(const void *a, const void *b)
{
    const double d = *(const double *)a - *(const double *)b;
    return d > 0 ? 1 : d < 0 ? -1 : 0;
}

/* The end of the colours: the largest error but for the share above; 0: there is none. */
static double colours_end(int32_t n, const double *error)
{
    double *sorted = cli_alloc(n, sizeof *sorted);
    int32_t used = 0;
    for (int32_t i = 0; i < n; i++)
        if (isfinite(error[i])) sorted[used++] = error[i];
    qsort(sorted, (size_t)used, sizeof *sorted, ascending);
    const double end = used ? sorted[(int32_t)((1 - BEYOND) * (used - 1))] : 0;
    free(sorted);
    return end;
}

/* Seen from above: the learned estimate, coloured by its distance from the truth, and the truth above it. */
static void put_error_map(report_job *job, const course *s, int32_t k, int32_t step)
{
    const ct_sequence *seq = s->track->seq;
    const int32_t n = (s->poses + step - 1) / step;
    double *x[2], *y[2], *error = cli_alloc(n, sizeof *error);
    char id[32], label[64], number[32];
    for (int i = 0; i < 2; i++) { /* truth, estimate */
        x[i] = coordinates(s, s->at, s->poses, step, i ? AFTER : -1, 0);
        y[i] = coordinates(s, s->at, s->poses, step, i ? AFTER : -1, 1);
    }
    for (int32_t i = 0; i < n; i++) {
        const int32_t v = s->at[i * step];
        const int64_t at = v < 0 ? 0 : ct_graph_offset(seq->graph, v);
        error[i] = v < 0 ? NAN : distance(job, seq, v, s->track->x[AFTER] + at);
    }
    const double end = colours_end(n, error);
    snprintf(label, sizeof label, "after, 0 to %s %s from the truth", report_number(end, number), job->unit.name);
    const ct_series series[] = {{label, CT_ROLE_AFTER, CT_MARK_GRADED, n, x[1], y[1], error},
                                {"truth", CT_ROLE_TRUTH, CT_MARK_LINE, n, x[0], y[0], NULL}};
    snprintf(id, sizeof id, "map-error-%d", k);
    const ct_plot plot = {.id = id,
                          .title = "Where the errors are",
                          .text = "The estimate after learning, coloured by its distance from the truth: stronger "
                                  "colours are larger errors.",
                          .x_label = "x in m",
                          .y_label = "y in m",
                          .equal = 1,
                          .zoom = 1,
                          .value_low = 0,
                          .value_high = end,
                          .count = 2,
                          .series = series};
    if (end > 0) ct_page_plot(job->page, &plot);
    for (int i = 0; i < 2; i++) free(x[i]), free(y[i]);
    free(error);
}

/* Error of each pose of a body (NULL: of all) before and after, in position or in rotation. */
static void put_errors(report_job *job, int32_t k, const char *body, int turns)
{
    course s;
    read_course(&s, &job->track[job->show[k]], body);
    const ct_sequence *seq = s.track->seq;
    const int64_t      n = s.poses;
    double            *x = cli_alloc(3 * n, sizeof *x), *e[SIDES] = {x + n, x + 2 * n};
    char               id[32], name[64], title[128], label[64];
    int                known = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = ct_graph_offset(seq->graph, s.at[i]);
        x[i] = s.time[i];
        for (int side = BEFORE; side <= AFTER; side++) {
            const double *p = s.track->x[side] + at;
            e[side][i] = turns ? turned(seq, s.at[i], p) : distance(job, seq, s.at[i], p);
            known = known || isfinite(e[side][i]);
        }
    }
    const int64_t   drawn = report_thin(n, REPORT_LINE / job->shown, x, e[BEFORE], e[AFTER]);
    const ct_series series[] = {{"before", CT_ROLE_BEFORE, CT_MARK_LINE, drawn, x, e[BEFORE], NULL},
                                {"after", CT_ROLE_AFTER, CT_MARK_LINE, drawn, x, e[AFTER], NULL}};
    snprintf(id, sizeof id, "%s-%d", turns ? "turn" : "error", k);
    snprintf(title, sizeof title, "Error in %s%s%s", turns ? "rotation" : "position", body ? ": " : " over time",
             report_body(job, body, name));
    snprintf(label, sizeof label, turns ? "angle from the truth in rad" : "distance from the truth in %s",
             job->unit.name);
    const ct_plot plot = {.id = id,
                          .title = title,
                          .x_label = s.label,
                          .y_label = label,
                          .zoom = 1,
                          .height = 0.75,
                          .count = 2,
                          .series = series};
    if (known) ct_page_plot(job->page, &plot);
    free(x);
    free_course(&s);
}

/* Size of the sequence, and its errors in one sentence a body. */
static void put_sizes(report_job *job, int32_t i, const course *s)
{
    const char *body[CT_BODIES_MAX];
    const int   bodies = report_each_body(job, body);
    char        landmarks[32] = "";
    if (s->points) snprintf(landmarks, sizeof landmarks, ", %d landmark%s", s->points, CLI_S(s->points));
    for (int k = 0; k < bodies; k++) {
        const ct_accuracy before = report_accuracy_of(job, BEFORE, i, body[k]),
                          after = report_accuracy_of(job, AFTER, i, body[k]);
        char              name[64], what[96], a[48], b[48], rotations[128] = "";
        if (!isnan(after.rotation))
            snprintf(rotations, sizeof rotations, ", rotation %s rad before and %s rad after",
                     report_number(before.rotation, a), report_number(after.rotation, b));
        if (body[k]) snprintf(what, sizeof what, ", %s:", report_body(job, body[k], name));
        else snprintf(what, sizeof what, ": %d pose%s%s.", s->poses, CLI_S(s->poses), landmarks);
        if (isnan(after.translation) && isnan(after.rotation))
            ct_page_text(job->page, "%s%s", ct_sequence_label(job->track[i].seq), what);
        else
            ct_page_text(job->page, "%s%s Rmse: position %s before and %s after%s.",
                         ct_sequence_label(job->track[i].seq), what, report_length(job, before.translation, a),
                         report_length(job, after.translation, b), rotations);
    }
}

static void put_sequence(report_job *job, int32_t k)
{
    const char *body[CT_BODIES_MAX];
    const int   bodies = report_each_body(job, body);
    course      s;
    read_course(&s, &job->track[job->show[k]], NULL);
    put_sizes(job, job->show[k], &s);
    const int64_t room = MAP_POINTS / job->shown, step = s.poses / room + 1;
    const int     moving = report_scene(job, k), any = s.poses > 0, spatial = s.spatial;
    separate_bodies(job, &s, (int32_t)step);
    if (step > 1 && !moving) ct_page_text(job->page, "The maps show one pose in %lld.", (long long)step);
    if (any && !moving) {
        put_map(job, &s, k, 1, (int32_t)step);
        put_error_map(job, &s, k, (int32_t)step);
    }
    if (any && spatial) put_map(job, &s, k, 2, (int32_t)step);
    for (int i = 0; any && i < bodies; i++) {
        put_errors(job, k, body[i], 0);
        if (!body[i] || !strcmp(body[i], job->object)) put_errors(job, k, body[i], 1);
    }
    free_course(&s);
}

void report_paths(report_job *job)
{
    ct_page_section(job->page, "trajectories", "Trajectories");
    if (!job->shown) {
        ct_page_text(job->page, "No sequence has an estimate both before and after.");
        return;
    }
    char **names = report_choices(job);
    if (job->shown < job->averaged)
        ct_page_text(job->page, "%d of %d sequences are shown, the most improved and the %s first.", job->shown,
                     job->averaged, job->most_worsened < 0 ? "least improved" : "most worsened");
    ct_page_text(job->page, "Wheel, pinch and drag zoom; a double click resets. A click in the legend hides a line.%s",
                 *job->object ? " The slider and Play move object and finger." : "");
    if (job->shown > 1) ct_page_choices(job->page, "run", "sequence", job->shown, (const char *const *)names);
    for (int32_t k = 0; k < job->shown; k++) {
        if (job->shown > 1) ct_page_choice(job->page, k);
        put_sequence(job, k);
    }
    if (job->shown > 1) ct_page_choices_end(job->page);
    report_choices_free(job, names);
}
