/* smoothness.c: second differences along the poses of each body. A trajectory that follows the noise of its
 * measurements is rough; one that is smoother than the robot moved trusts its odometry too much. */
#include "evaluate/evaluate.h"

#include <math.h>

/* The last two poses of a body. */
typedef struct {
    char    name[CT_BODY_NAME_MAX];
    int32_t last[2]; /* -1: none */
} trail;

typedef struct {
    const ct_sequence *seq;
    const double      *x;
    int                timed;
    int64_t            triples;
    double             translation, rotation; /* sums of squares */
} sums;

/* u: translation (3, in the world), rotation (3, local) from pose a to b, per s or step; returns the time. */
static double velocity(const sums *s, int32_t a, int32_t b, double u[6])
{
    const ct_graph *g = s->seq->graph;
    const ct_kind   kind = (ct_kind)g->kind[a];
    const double   *p = s->x + g->offset[a], *q = s->x + g->offset[b];
    const double    dt = s->timed ? s->seq->stamp[b] - s->seq->stamp[a] : 1;
    const int       n = kind == CT_SE2 ? 2 : 3;
    double          d[CT_DIM_MAX];
    memset(u, 0, 6 * sizeof *u);
    ct_kind_local(kind, p, q, d);
    for (int i = 0; i < n; i++) u[i] = (q[i] - p[i]) / dt;
    for (int i = 0, k = 3; i < ct_kind_dim(kind); i++)
        if (ct__turns[kind] >> i & 1) u[k++] = d[i] / dt;
    return dt;
}

static void add_triple(sums *s, int32_t a, int32_t b, int32_t c)
{
    double       u[6], v[6], square[2] = {0};
    const double before = velocity(s, a, b, u), after = velocity(s, b, c, v);
    for (int i = 0; i < 6; i++) {
        const double second = 2 * (v[i] - u[i]) / (before + after);
        square[i >= 3] += second * second;
    }
    s->translation += square[0];
    s->rotation += square[1];
    s->triples++;
}

static trail *find_trail(trail list[CT_BODIES_MAX], int *count, const char *name)
{
    char         body[CT_BODY_NAME_MAX];
    const size_t n = CT_MIN(ct__body_name_length(name), sizeof body - 1);
    snprintf(body, sizeof body, "%.*s", (int)n, name);
    for (int i = 0; i < *count; i++)
        if (!strcmp(list[i].name, body)) return &list[i];
    if (*count == CT_BODIES_MAX) return NULL;
    trail *t = &list[(*count)++];
    *t = (trail){.last = {-1, -1}};
    memcpy(t->name, body, n + 1);
    return t;
}

/* Walks along the poses; returns 0 if a triple has no times that grow. add 0: only looks. */
static int walk(sums *s, int add)
{
    const ct_sequence *seq = s->seq;
    const ct_graph    *g = seq->graph;
    trail              list[CT_BODIES_MAX];
    int                count = 0;
    for (int32_t v = 0; v < g->variables; v++) {
        char name[256];
        if (!ct__is_pose((ct_kind)g->kind[v])) continue;
        trail *t = find_trail(list, &count, ct_graph_name(g, v, name, sizeof name));
        if (!t) continue;
        const int32_t last = t->last[1];
        if (!add && (!seq->stamp || isnan(seq->stamp[v]))) return 0;
        if (!add && last >= 0 && !(seq->stamp[v] > seq->stamp[last])) return 0;
        if (add && t->last[0] >= 0 && g->kind[t->last[0]] == g->kind[v]) add_triple(s, t->last[0], t->last[1], v);
        t->last[0] = t->last[1];
        t->last[1] = v;
    }
    return 1;
}

ct_smoothness ct_smoothness_of(const ct_sequence *seq, const double *x)
{
    sums s = {.seq = seq, .x = x};
    s.timed = walk(&s, 0);
    walk(&s, 1);
    ct_smoothness out = {.triples = s.triples, .timed = s.timed && s.triples, .translation = NAN, .rotation = NAN};
    if (!s.triples || !isfinite(s.translation) || !isfinite(s.rotation)) return out;
    out.translation = sqrt(s.translation / (double)s.triples);
    out.rotation = sqrt(s.rotation / (double)s.triples);
    return out;
}
