/* trajectory_graph.c: the poses of a graph file as a trajectory: those of one body, in the order of the graph. */
#include "score/score.h"
#include "graph/graph.h"

#include <covtune/data.h>
#include <math.h>
#include <stdio.h>

/* A graph, where nothing is said that a graph does not have. Tables and trajectories are sources. */
static int may_be_graph(const ct_trajectory_options *o)
{
    const ct_source_options *s = &o->source;
    return (s->format == CT_SOURCE_AUTO || s->format == CT_SOURCE_G2O) && !s->columns && !s->separator && !s->topic &&
           !s->each && !s->time && !s->where && !s->skip && !o->position[0] && !o->quaternion[0] && !o->yaw &&
           !o->matrix[0];
}

static int is_graph(ct_format format)
{
    return format == CT_FORMAT_COVTUNE || format == CT_FORMAT_G2O || format == CT_FORMAT_LEO ||
           format == CT_FORMAT_PYFG || format == CT_FORMAT_ISAM;
}

typedef struct {
    const char *path, *body;
    const ct_sequence *seq;
    const double *x;
    int truth;
    char name[64]; /* of the body */
} view;

static int is_pose(const view *v, int32_t var)
{
    const ct_kind kind = ct_graph_kind(v->seq->graph, var);
    return kind == CT_SE2 || kind == CT_SE3;
}

/* Name of a variable's body. */
static void body_of(const view *v, int32_t var, char name[64])
{
    ct_graph_name(v->seq->graph, var, name, 64);
    name[ct__body_name_length(name)] = 0;
}

/* The body that is asked for, or the only one. */
static ct_status choose_body(view *v, ct_err *err)
{
    int found = 0;
    char name[64], other[64] = "";
    for (int32_t i = 0; i < ct_graph_variables(v->seq->graph); i++) {
        if (!is_pose(v, i)) continue;
        body_of(v, i, name);
        if (v->body && strcmp(name, v->body)) {
            memcpy(other, name, sizeof other);
            continue;
        }
        if (found && strcmp(name, v->name))
            return ct_fail(err, CT_E_ARGUMENT, "%s: poses of several bodies, %s and %s: say which one", v->path,
                           v->name, name);
        memcpy(v->name, name, sizeof name);
        found = 1;
    }
    if (found) return CT_OK;
    if (v->body && *other)
        return ct_fail(err, CT_E_ARGUMENT, "%s: there is no body %s; there is %s", v->path, v->body, other);
    return ct_fail(err, CT_E_EMPTY, "%s: the graph has no poses", v->path);
}

/* Coordinates that are known, as bits: 1 the position, 2 the rotation. */
static int known(const view *v, int32_t var)
{
    const int planar = ct_graph_kind(v->seq->graph, var) == CT_SE2;
    const unsigned bits = v->truth ? v->seq->known[var] : 0x3f, position = planar ? 0x3 : 0x38, turn = planar ? 4 : 7;
    return ((bits & position) == position) + 2 * ((bits & turn) == turn);
}

static ct_se3 pose_of(const view *v, int32_t var)
{
    const double *a = v->x + ct_graph_offset(v->seq->graph, var);
    if (ct_graph_kind(v->seq->graph, var) == CT_SE3) return (ct_se3){a[0], a[1], a[2], a[3], a[4], a[5], a[6]};
    const double half = 0.5 * atan2(a[3], a[2]);
    return (ct_se3){a[0], a[1], 0, 0, 0, sin(half), cos(half)};
}

static int finite_pose(ct_se3 p)
{
    return isfinite(p.x) && isfinite(p.y) && isfinite(p.z) && isfinite(p.qx + p.qy + p.qz + p.qw);
}

/* Has every pose of the body a time that fits into ns? */
static int has_times(const view *v)
{
    char name[64];
    for (int32_t i = 0; v->seq->stamp && i < ct_graph_variables(v->seq->graph); i++) {
        body_of(v, i, name);
        if (is_pose(v, i) && !strcmp(name, v->name) && !(fabs(v->seq->stamp[i]) < 9e9)) return 0;
    }
    return v->seq->stamp != NULL;
}

/* Poses with a known position; rotations where all of them have one. */
static void fill(const view *v, ct_trajectory *t)
{
    char name[64];
    int64_t n = 0;
    int space = 0;
    t->timed = has_times(v);
    for (int32_t i = 0; i < ct_graph_variables(v->seq->graph); i++) {
        body_of(v, i, name);
        if (!is_pose(v, i) || strcmp(name, v->name)) continue;
        const ct_se3 pose = pose_of(v, i);
        if (!(known(v, i) & 1) || !finite_pose(pose)) {
            t->dropped++;
            t->without_stamp++; /* of a graph it is not asked which it lacks */
            continue;
        }
        space = space || ct_graph_kind(v->seq->graph, i) == CT_SE3;
        t->rotations = t->rotations && known(v, i) & 2;
        t->pose[n] = pose;
        t->stamp[n] = t->timed ? (ct_ns)llround(v->seq->stamp[i] * 1e9) : (n + t->dropped) * CT__NUMBERED;
        n++;
    }
    t->poses = n;
    t->planar = !space;
}

static ct_status of_sequence(view *v, const ct_trajectory_options *options, ct_trajectory **out, ct_err *err)
{
    CT_TRY(choose_body(v, err));
    ct_trajectory *t;
    CT_TRY(ct_trajectory_new(ct_graph_variables(v->seq->graph), 1, &t, err));
    fill(v, t);
    ct_status status = CT_OK;
    if (t->poses == 0) status = ct_fail(err, CT_E_EMPTY, "%s: the position of no pose is known", v->path);
    if (status == CT_OK && options->camera && t->planar)
        status =
            ct_fail(err, CT_E_ARGUMENT, "%s: camera axes are those of poses in space, this graph is planar", v->path);
    for (int64_t i = 0; i < t->poses && options->camera; i++) t->pose[i] = ct__from_camera(t->pose[i]);
    if (status == CT_OK) status = ct__trajectory_sort(t, err);
    if (status == CT_OK)
        *out = t;
    else
        ct_trajectory_free(t);
    return status;
}

/* One object in each of the first two lines: no graph, but records. */
static int is_json_lines(const char *path)
{
    FILE *file = fopen(path, "rb");
    int c = 0, last = 0;
    if (!file) return 0;
    if (fgetc(file) == '{')
        for (; (c = fgetc(file)) != EOF && c != '\n';)
            if (c != ' ' && c != '\r') last = c;
    const int next = c == '\n' ? fgetc(file) : EOF;
    fclose(file);
    return last == '}' && next == '{';
}

ct_status ct__trajectory_of_graph(const char *path, const ct_trajectory_options *options, ct_trajectory **out,
                                  ct_err *err)
{
    ct_format format;
    *out = NULL;
    if (!may_be_graph(options)) return CT_OK;
    const ct_status guess = ct_format_guess(path, 1, &format, NULL);
    if (guess == CT_E_MEMORY) return ct__no_memory(err, "lines", 1);
    if (guess != CT_OK || !is_graph(format)) return CT_OK; /* the source says what is wrong */
    if (format == CT_FORMAT_LEO && is_json_lines(path))
        return ct_fail(err, CT_E_PARSE,
                       "%s: JSON lines are no trajectory here, a table is: jq -r '[.t, .x, .y] | @csv' makes one of "
                       "{\"t\": 1, \"x\": 2, \"y\": 3}; its columns are named by columns, [t, x, y]",
                       path);
    ct_noise *noise = NULL;
    ct_sequence *seq = NULL;
    ct_status status = ct_noise_new(&noise, err);
    if (status == CT_OK) status = ct_sequence_read(path, format, noise, &seq, err);
    if (status == CT_OK) {
        const int truth = seq->truth && !options->estimate;
        view v = {path, options->body, seq, truth ? seq->truth : ct_graph_initial_const(seq->graph), truth, ""};
        status = of_sequence(&v, options, out, err);
    }
    ct_sequence_free(seq);
    ct_noise_free(noise);
    return status;
}
