/* attach_truth.c: truth and times from another sequence.
 *
 * Each variable is matched by time, index or name. Its true value is converted to the variable's kind and, if asked
 * for, moved to its frame: with x0 the initial value of one pose and g0 its truth, every truth g becomes (x0 g0^-1)
 * g. seq changes only after everything is known to be valid. */
#include "data/data.h"
#include "graph/graph.h"

#include <math.h>

#define TOLERANCE_S 0.02 /* as in the tools of the TUM benchmark */
#define TILT_COS    0.5  /* 60 degrees; yaw is ill-defined beyond    */

#define SE3_TURNS 7u /* coordinates rx, ry, rz of SE3 */
#define SE2_TURN  4u /* yaw of SE2                    */

typedef struct {
    ct_sequence      *seq;
    const ct_sequence *truth;
    ct_attach_options  how;
    ct_attach_result   found;
    int32_t  *match;                /* per variable: its true one, or -1                */
    double   *value;                /* truth, in the layout of seq's graph              */
    uint8_t  *known;
    uint8_t   wanted[CT_KIND_COUNT]; /* coordinates to use                               */
    ct_err   *err;
} attach;

ct_attach_options ct_attach_defaults(void)
{
    return (ct_attach_options){.by = CT_ATTACH_AUTO, .tolerance_s = TOLERANCE_S};
}

static int         is_pose(const ct_graph *g, int32_t v) { return g->kind[v] == CT_SE2 || g->kind[v] == CT_SE3; }
static unsigned    all_of(ct_kind kind) { return (1u << ct_kind_dim(kind)) - 1; }
static const char *name_of(const ct_graph *g, int32_t v) { return ct__names_get(&g->names, v); }
static ct_kind     kind_of(const ct_graph *g, int32_t v) { return (ct_kind)g->kind[v]; }

/* 1 if the other sequence has a value for its variable v. */
static int speaks(const ct_sequence *truth, int32_t v) { return !truth->truth || truth->known[v]; }

/* ---- by time ---- */

typedef struct {
    double  time_s;
    int32_t var;
} moment;

static int by_time(const void *a, const void *b)
{
    const moment *p = a, *q = b;
    if (p->time_s != q->time_s) return p->time_s < q->time_s ? -1 : 1;
    return p->var < q->var ? -1 : p->var > q->var;
}

/* list (NULL: count only) <- poses with a time and a value, in order. */
static int32_t list_moments(const ct_sequence *seq, int truth, moment *list)
{
    int32_t n = 0;
    for (int32_t v = 0; seq->stamp && v < seq->graph->variables; v++) {
        if (!is_pose(seq->graph, v) || isnan(seq->stamp[v]) || (truth && !speaks(seq, v))) continue;
        if (list) list[n] = (moment){seq->stamp[v], v};
        n++;
    }
    if (list && n) qsort(list, (size_t)n, sizeof *list, by_time);
    return n;
}

/* The nearest of n > 0 sorted times; the earlier of two. */
static const moment *nearest_moment(const moment *list, int32_t n, double time_s)
{
    int32_t low = 0, high = n; /* lower bound */
    while (low < high) {
        const int32_t mid = low + (high - low) / 2;
        if (list[mid].time_s < time_s) low = mid + 1;
        else high = mid;
    }
    if (low == n || (low > 0 && time_s - list[low - 1].time_s <= list[low].time_s - time_s)) low--;
    while (low > 0 && list[low - 1].time_s == list[low].time_s) low--;
    return &list[low];
}

static ct_status no_times(const attach *a, const char *whose)
{
    return ct_fail(a->err, CT_E_ARGUMENT, "by time: no pose of the %s has a time; match by name or by index", whose);
}

static ct_status match_times(attach *a)
{
    const int32_t n = list_moments(a->truth, 1, NULL), own = list_moments(a->seq, 0, NULL);
    if (!own) return no_times(a, "graph");
    if (!n) return no_times(a, "truth");
    moment *list = ct__zalloc((int64_t)n + own, sizeof *list), *mine = list + n;
    if (!list) return ct__no_memory(a->err, "times", n);
    list_moments(a->truth, 1, list);
    list_moments(a->seq, 0, mine);
    int32_t   matched = 0;
    ct_status status = CT_OK;
    for (int32_t i = 0; i < own; i++) {
        const moment *m = nearest_moment(list, n, mine[i].time_s);
        const double  gap = fabs(m->time_s - mine[i].time_s);
        if (!(gap <= a->how.tolerance_s)) continue;
        a->match[mine[i].var] = m->var;
        a->found.gap_s = fmax(a->found.gap_s, gap);
        matched++;
    }
    if (!matched)
        status = ct_fail(a->err, CT_E_ARGUMENT,
                         "by time: no pose is within %g s of a true one: the graph's poses are from %.15g s to %.15g "
                         "s, the true ones from %.15g s to %.15g s",
                         a->how.tolerance_s, mine[0].time_s, mine[own - 1].time_s, list[0].time_s, list[n - 1].time_s);
    free(list);
    return status;
}

/* ---- by index, by name ---- */

static int32_t count_poses(const ct_graph *g)
{
    int32_t n = 0;
    for (int32_t v = 0; v < g->variables; v++) n += is_pose(g, v);
    return n;
}

static ct_status match_index(attach *a)
{
    const ct_graph *g = a->seq->graph, *h = a->truth->graph;
    const int32_t   own = count_poses(g), theirs = count_poses(h);
    if (own != theirs)
        return ct_fail(a->err, CT_E_ARGUMENT,
                       "by index: the graph has %d poses, the truth %d; there must be as many (pose i of a trajectory "
                       "is called xi: match by name)",
                       own, theirs);
    for (int32_t v = 0, w = 0; v < g->variables; v++) {
        if (!is_pose(g, v)) continue;
        while (!is_pose(h, w)) w++;
        a->match[v] = speaks(a->truth, w) ? w : -1;
        w++;
    }
    return CT_OK;
}

static ct_status match_names(attach *a)
{
    const ct_graph *g = a->seq->graph, *h = a->truth->graph;
    int32_t         matched = 0;
    for (int32_t v = 0; v < g->variables; v++) {
        const int32_t w = ct_graph_find(h, name_of(g, v));
        if (w < 0 || !speaks(a->truth, w)) continue;
        a->match[v] = w;
        matched++;
    }
    if (matched || !g->variables || !h->variables) return CT_OK;
    return ct_fail(a->err, CT_E_ARGUMENT,
                   "by name: no variable is called as one of the other file: the graph's are from %.60s to %.60s, the "
                   "other file's from %.60s to %.60s",
                   name_of(g, 0), name_of(g, g->variables - 1), name_of(h, 0), name_of(h, h->variables - 1));
}

/* Names that only some poses share may be numbers with another meaning. */
static ct_status match_all_names(attach *a)
{
    const ct_graph *g = a->seq->graph;
    int32_t         matched = 0, poses = count_poses(g);
    CT_TRY(match_names(a));
    for (int32_t v = 0; v < g->variables; v++) matched += is_pose(g, v) && a->match[v] >= 0;
    if (matched == poses) return CT_OK;
    return ct_fail(a->err, CT_E_ARGUMENT,
                   "%d of the graph's %d poses have names of the other file's %d; choose whether to match by name, "
                   "leaving out the rest, or by index",
                   matched, poses, count_poses(a->truth->graph));
}

static ct_status match_all(attach *a)
{
    const int choose = a->how.by == CT_ATTACH_AUTO;
    for (int32_t v = 0; v < a->seq->graph->variables; v++) a->match[v] = a->truth == a->seq ? v : -1;
    if (a->truth == a->seq) return CT_OK;
    if (choose)
        a->how.by = list_moments(a->seq, 0, NULL) && list_moments(a->truth, 1, NULL) ? CT_ATTACH_TIME : CT_ATTACH_NAME;
    if (choose && a->how.by == CT_ATTACH_NAME) return match_all_names(a);
    switch (a->how.by) {
    case CT_ATTACH_TIME: return match_times(a);
    case CT_ATTACH_INDEX: return match_index(a);
    default: return match_names(a);
    }
}

/* ---- coordinates that count ---- */

/* Kinds of the matched variables. */
static unsigned matched_kinds(const attach *a)
{
    unsigned kinds = 0;
    for (int32_t v = 0; v < a->seq->graph->variables; v++)
        if (a->match[v] >= 0) kinds |= 1u << a->seq->graph->kind[v];
    return kinds;
}

static ct_status want(attach *a, const char *item, size_t length, unsigned kinds)
{
    char name[16] = ""; /* longer than any coordinate's */
    int  found = 0;
    if (length < sizeof name) snprintf(name, sizeof name, "%.*s", (int)length, item);
    for (int k = 0; k < CT_KIND_COUNT; k++) {
        const int i = ct_kind_find_coordinate((ct_kind)k, name);
        if (i < 0) continue;
        a->wanted[k] |= (uint8_t)(1u << i);
        found = found || (kinds >> k & 1);
    }
    if (found) return CT_OK;
    char list[200] = "";
    int  used = 0;
    for (int k = CT_KIND_COUNT - 1; k >= 0; k--) /* poses first */
        for (int i = 0; kinds >> k & 1 && i < ct_kind_dim((ct_kind)k); i++)
            used += snprintf(list + used, sizeof list - (size_t)used, "%s%s",
                             i      ? ", "
                             : used ? "; "
                                    : "",
                             ct_kind_coordinate((ct_kind)k, i));
    return ct_fail(a->err, CT_E_ARGUMENT,
                   "what is known of the truth: \"%.*s\" is no coordinate of the variables that have one; there are %s",
                   (int)CT_MIN(length, 60), item, list);
}

static ct_status read_wanted(attach *a)
{
    const unsigned kinds = matched_kinds(a);
    const char    *at = a->how.known;
    if (!at || !strcmp(at, "all")) {
        memset(a->wanted, 0xff, sizeof a->wanted);
        return CT_OK;
    }
    for (;; at++) {
        const size_t length = strcspn(at, ",");
        CT_TRY(want(a, at, length, kinds));
        at += length;
        if (!*at) break;
    }
    const unsigned turns = a->wanted[CT_SE3] & SE3_TURNS;
    if (kinds >> CT_SE3 & 1 && turns && turns != SE3_TURNS)
        return ct_fail(
            a->err, CT_E_ARGUMENT,
            "what is known of the truth: of a rotation in space rx, ry and rz count together, or none of them");
    return CT_OK;
}

/* ---- values ---- */

/* Camera axes to body axes: x ahead is the camera's z, y left its -x, z up its -y. A pose becomes C g C^-1 with that
 * rotation C. */
static ct_se3 turn_camera(ct_se3 g)
{
    static const double turn[9] = {0, 0, 1, -1, 0, 0, 0, -1, 0}, here[3];
    const ct_se3        C = ct_se3_make(here, ct_so3_from_matrix(turn));
    return ct_se3_compose(ct_se3_compose(C, g, NULL, NULL), ct_se3_inverse(C, NULL), NULL, NULL);
}

/* The masks of x, y, z at bit `first` in the other axes. */
static unsigned turn_mask(unsigned known, int first)
{
    const unsigned t = known >> first & 7, turned = (t >> 2 & 1) | (t & 1) << 1 | (t >> 1 & 1) << 2;
    return (known & ~(7u << first)) | turned << first;
}

/* The truth of one variable of the other sequence, in body axes. */
static ct_status true_value(const attach *a, int32_t w, double value[CT_SIZE_MAX], unsigned *known)
{
    const ct_graph *h = a->truth->graph;
    const ct_kind   kind = kind_of(h, w);
    const int       own = a->truth == a->seq || !a->truth->truth;
    memcpy(value, (own ? ct_graph_initial_const(h) : a->truth->truth) + h->offset[w],
           (size_t)ct_kind_size(kind) * sizeof *value);
    *known = own ? all_of(kind) : a->truth->known[w] & all_of(kind);
    if (!a->how.camera) return CT_OK;
    if (kind == CT_SE3) {
        ct_se3 g;
        memcpy(&g, value, sizeof g);
        g = turn_camera(g);
        memcpy(value, &g, sizeof g);
        *known = turn_mask(*known, 3);
        return CT_OK;
    }
    if (kind != CT_R3)
        return ct_fail(a->err, CT_E_ARGUMENT, "true variable %.60s: a camera's axes are those of SE3 and R3, it is %s",
                       name_of(h, w), ct_kind_name(kind));
    const double p[3] = {value[2], -value[0], -value[1]};
    memcpy(value, p, sizeof p);
    *known = turn_mask(*known, 0);
    return CT_OK;
}

/* (x, y, yaw) of a pose in space; 0 if it is tilted too far. */
static int to_plane(double value[CT_SIZE_MAX], unsigned *known)
{
    ct_se3 g;
    double R[9];
    memcpy(&g, value, sizeof g);
    ct_so3_matrix(ct_se3_rotation(g), R);
    const unsigned k = *known;
    *known = (k >> 3 & 1) | (k >> 4 & 1) << 1 | ((k & SE3_TURNS) == SE3_TURNS ? SE2_TURN : 0);
    const ct_se2 planar = ct_se2_make(g.x, g.y, atan2(R[3], R[0]));
    memcpy(value, &planar, sizeof planar);
    return R[8] >= TILT_COS;
}

/* 1 if the rotation of a pose is the identity, to the bit. */
static int unturned(ct_kind kind, const double *value)
{
    double none[CT_SIZE_MAX];
    ct_kind_identity(kind, none);
    const int first = kind == CT_SE2 ? 2 : 3;
    return !memcmp(value + first, none + first, (size_t)(ct_kind_size(kind) - first) * sizeof *none);
}

static ct_status take_value(attach *a, int32_t v)
{
    const ct_graph *g = a->seq->graph;
    const ct_kind   kind = kind_of(g, v), theirs = kind_of(a->truth->graph, a->match[v]);
    double          value[CT_SIZE_MAX];
    unsigned        known;
    int             upright = 1;
    CT_TRY(true_value(a, a->match[v], value, &known));
    if (kind == CT_SE2 && theirs == CT_SE3) upright = to_plane(value, &known);
    else if (kind == CT_R2 && theirs == CT_R3) known &= 3;
    else if (kind != theirs)
        return ct_fail(a->err, CT_E_ARGUMENT, "variable %.60s is %s, its truth %s, which does not tell", name_of(g, v),
                       ct_kind_name(kind), ct_kind_name(theirs));
    known &= a->wanted[kind];
    if (!upright && known & SE2_TURN)
        return ct_fail(a->err, CT_E_ARGUMENT,
                       "variable %.60s: its truth is tilted by more than 60 degrees, and it is a pose in the plane; "
                       "are those a camera's axes (x right, y down, z ahead)?",
                       name_of(g, v));
    if (is_pose(g, v) && !unturned(kind, value)) a->found.unturned = 0;
    memcpy(a->value + g->offset[v], value, (size_t)ct_kind_size(kind) * sizeof *value);
    a->known[v] = (uint8_t)known;
    return CT_OK;
}

static ct_status take_values(attach *a)
{
    const ct_graph *g = a->seq->graph;
    a->found.unturned = 1;
    a->found.first = -1;
    for (int32_t v = 0; v < g->variables; v++) {
        const ct_kind kind = kind_of(g, v);
        a->found.poses += is_pose(g, v);
        ct_kind_identity(kind, a->value + g->offset[v]);
        if (a->match[v] < 0) continue;
        CT_TRY(take_value(a, v));
        if (!a->known[v]) continue;
        *(is_pose(g, v) ? &a->found.matched : &a->found.points) += 1;
        if (a->found.first < 0 && is_pose(g, v) && a->known[v] == all_of(kind)) a->found.first = v;
        const unsigned turns = kind == CT_SE2 ? SE2_TURN : SE3_TURNS;
        if (is_pose(g, v) && !(a->known[v] & turns)) a->found.unturned = 0; /* rotation not known */
    }
    if (a->found.matched < 2) a->found.unturned = 0;
    if (a->found.matched || a->found.points) return CT_OK;
    return ct_fail(a->err, CT_E_ARGUMENT,
                   "of the true values that belong to the graph's variables no coordinate is known");
}

/* ---- frames ---- */

/* The pose that keeps its initial value, -1: none. */
static int32_t anchor_of(const attach *a)
{
    const ct_graph *g = a->seq->graph;
    for (int32_t v = 0; v < g->variables; v++)
        if (g->fixed[v] && is_pose(g, v) && a->known[v] == all_of(kind_of(g, v))) return v;
    return a->found.first;
}

static ct_status move_one(const attach *a, int32_t v, ct_kind frame, const double move[CT_SIZE_MAX])
{
    const ct_graph *g = a->seq->graph;
    const ct_kind   kind = kind_of(g, v);
    const unsigned place = kind == CT_SE3   ? all_of(kind) & ~SE3_TURNS
                           : kind == CT_SE2 ? all_of(kind) & ~SE2_TURN
                                            : all_of(kind);
    double         *value = a->value + g->offset[v];
    if (kind != frame && kind != (frame == CT_SE2 ? CT_R2 : CT_R3))
        return ct_fail(a->err, CT_E_ARGUMENT, "variable %.60s: a truth of %s cannot be moved as one of %s",
                       name_of(g, v), ct_kind_name(kind), ct_kind_name(frame));
    if (a->known[v] & place && (a->known[v] & place) != place)
        return ct_fail(a->err, CT_E_ARGUMENT, "variable %.60s: a truth whose position is known in part cannot be moved",
                       name_of(g, v));
    if (frame == CT_SE2) {
        ct_se2 m, x;
        memcpy(&m, move, sizeof m);
        if (kind == CT_R2) {
            ct_se2_act(m, (const double[2]){value[0], value[1]}, value, NULL, NULL);
            return CT_OK;
        }
        memcpy(&x, value, sizeof x);
        x = ct_se2_normalize(ct_se2_compose(m, x, NULL, NULL));
        memcpy(value, &x, sizeof x);
        return CT_OK;
    }
    ct_se3 m, x;
    memcpy(&m, move, sizeof m);
    if (kind == CT_R3) {
        ct_se3_act(m, (const double[3]){value[0], value[1], value[2]}, value, NULL, NULL);
        return CT_OK;
    }
    memcpy(&x, value, sizeof x);
    x = ct_se3_normalize(ct_se3_compose(m, x, NULL, NULL));
    memcpy(value, &x, sizeof x);
    return CT_OK;
}

/* x0 g0^-1. */
static void move_of(ct_kind kind, const double *x0, const double *g0, double move[CT_SIZE_MAX])
{
    if (kind == CT_SE2) {
        ct_se2 x, g;
        memcpy(&x, x0, sizeof x);
        memcpy(&g, g0, sizeof g);
        x = ct_se2_compose(x, ct_se2_inverse(g, NULL), NULL, NULL);
        memcpy(move, &x, sizeof x);
        return;
    }
    ct_se3 x, g;
    memcpy(&x, x0, sizeof x);
    memcpy(&g, g0, sizeof g);
    x = ct_se3_compose(x, ct_se3_inverse(g, NULL), NULL, NULL);
    memcpy(move, &x, sizeof x);
}

static ct_status move_all(attach *a)
{
    const ct_graph *g = a->seq->graph;
    const int32_t   anchor = a->how.align ? anchor_of(a) : -1;
    double          move[CT_SIZE_MAX];
    if (!a->how.align) return CT_OK;
    if (anchor < 0)
        return ct_fail(a->err, CT_E_ARGUMENT,
                       "the truth cannot be moved to where the graph begins: of no pose it is known in full, position "
                       "and rotation");
    const ct_kind frame = kind_of(g, anchor);
    const double *x0 = ct_graph_initial_const(g) + g->offset[anchor];
    move_of(frame, x0, a->value + g->offset[anchor], move);
    for (int32_t v = 0; v < g->variables; v++)
        if (a->known[v]) CT_TRY(move_one(a, v, frame, move));
    memcpy(a->value + g->offset[anchor], x0, (size_t)ct_kind_size(frame) * sizeof *x0); /* to the bit */
    return CT_OK;
}

/* ---- all of it ---- */

static ct_status find_truth(attach *a)
{
    const ct_graph *g = a->seq->graph;
    a->match = ct__zalloc(g->variables, sizeof *a->match);
    a->value = ct__zalloc(ct_graph_size(g), sizeof *a->value);
    a->known = ct__zalloc(g->variables, sizeof *a->known);
    if (!a->match || !a->value || !a->known) return ct__no_memory(a->err, "true values", g->variables);
    CT_TRY(match_all(a));
    CT_TRY(read_wanted(a));
    CT_TRY(take_values(a));
    return move_all(a);
}

ct_status ct_sequence_attach_truth(ct_sequence *seq, const ct_sequence *truth, const ct_attach_options *options,
                                   ct_attach_result *result, ct_err *err)
{
    attach a = {.seq = seq, .truth = truth ? truth : seq, .how = options ? *options : ct_attach_defaults(), .err = err};
    if ((unsigned)a.how.by > CT_ATTACH_NAME)
        return ct_fail(err, CT_E_ARGUMENT, "rule %d to match poses by is not one", (int)a.how.by);
    const ct_status status = find_truth(&a);
    free(a.match);
    if (status != CT_OK) {
        free(a.value);
        free(a.known);
        return status;
    }
    free(seq->truth);
    free(seq->known);
    seq->truth = a.value;
    seq->known = a.known;
    for (int i = 0; i < 2; i++) seq->truth_sigma[i] = truth ? truth->truth_sigma[i] : 0;
    a.found.by = a.how.by;
    if (result) *result = a.found;
    return CT_OK;
}

/* ---- times ---- */

ct_status ct_sequence_attach_times(ct_sequence *seq, const ct_sequence *from, ct_attach_by by, int64_t *matched,
                                   ct_err *err)
{
    const int32_t n = seq->graph->variables;
    attach        a = {.seq = seq, .truth = from, .err = err};
    if ((unsigned)by > CT_ATTACH_NAME || by == CT_ATTACH_TIME || from == seq)
        return ct_fail(err, CT_E_ARGUMENT, "times belong to poses of another file by index or by name");
    if (!list_moments(from, 0, NULL)) return ct_fail(err, CT_E_ARGUMENT, "no pose of it has a time");
    a.match = ct__zalloc(n, sizeof *a.match);
    double   *stamp = ct__zalloc(n, sizeof *stamp);
    ct_status status = a.match && stamp ? CT_OK : ct__no_memory(err, "times", n);
    for (int32_t v = 0; status == CT_OK && v < n; v++) a.match[v] = -1;
    if (status == CT_OK)
        status = by == CT_ATTACH_AUTO ? match_all_names(&a) : by == CT_ATTACH_NAME ? match_names(&a) : match_index(&a);
    int64_t count = 0;
    for (int32_t v = 0; status == CT_OK && v < n; v++) {
        stamp[v] = a.match[v] >= 0 ? from->stamp[a.match[v]] : NAN;
        count += !isnan(stamp[v]);
    }
    free(a.match);
    if (status != CT_OK) {
        free(stamp);
        return status;
    }
    free(seq->stamp);
    seq->stamp = stamp;
    if (matched) *matched = count;
    return CT_OK;
}
