/* align_chains.c: poses composed along odometry are moved to where known points, positions and priors say.
 *
 * The spanning forest of relative measurements is cut into chains: a chain goes on from a pose to the first pose that
 * was composed from it. Along a chain, sightings are collected into windows that are just long enough to determine a
 * rigid motion T (rigid_fit.c); within a window odometry is taken as exact. Each window has a few candidates for T: the
 * candidates of the window before, fitted again, and, where those fit badly, guesses from the window alone. The
 * sequence of candidates with the least cost is found by dynamic programming (Viterbi):
 *
 *     cost = sum over windows of the cost of its items
 *          + sum over neighbours of JUMP min(distance, 2 reach)
 *
 * The distance is that between the two motions where the windows meet: metres, and radians times the reach. So a window
 * full of outliers follows its neighbours, and of two mirrored fits to ranges the one stays that continues the path.
 * Poses between the centres of two windows are interpolated, which spreads the drift of odometry.
 *
 * What one body measures of another (range, bearing, both) places the one whose chain is not known yet from the other,
 * whichever of the two has the sensor. Chains are gone through again as long as one of them becomes known that way.
 *
 * Windows hold a bounded number of items and candidates: time is linear in the size of the graph. */
#include "data/start.h"
#include "graph/biased.h"

#include <math.h>

#define MOST     4    /* candidates of a window                                                               */
#define ROWS     24   /* rows of the sightings in a window, at least: 12 points in the plane, 24 ranges       */
#define ROWS_MAX 768  /* beyond, the first window is used even if it does not determine T                     */
#define ROWS_ON  96   /* beyond, a later one: what it does not determine stays as in the window before        */
#define JUMP     1.5  /* items that a jump between windows weighs as much as                                  */
#define POOR     1.5  /* times the usual cost: the window is guessed anew                                     */
#define LOST     3    /* times the usual cost, and                                                            */
#define FAR      0.2  /* of the reach: it is searched, as ranges and bearings have no closed form             */
#define PLACES   4    /* positions of a pose that are used                                                    */
#define PASSES   8    /* through the chains: robots that see each other in a row                                */
#define TRACK    4    /* steps that a candidate is fitted to the next window by                               */

typedef struct {
    ct__rigid T;
    double    cost, total; /* of the window's items; of the best sequence that ends here */
    int       from;        /* candidate of the window before; -1: none                   */
} candidate;

typedef struct {
    int32_t   begin, end; /* items                     */
    int32_t   centre;     /* place in the list of poses */
    int       count, chosen;
    candidate of[MOST];
} window;

typedef struct {
    const ct__forest *forest;
    double           *x;
    uint8_t          *placed;
    ct__rigid        *y;         /* per variable: the composed pose                              */
    int32_t          *chain;     /* per variable: its chain, -1: no pose                         */
    int32_t          *list;      /* poses by chain, in the order of the queue                    */
    int32_t          *begin;     /* of a chain in the list; chains + 1 of them                   */
    int32_t           chains, poses;
    uint8_t          *known;     /* per chain: its poses are absolute, or relative to those that are the reference */
    int               meetings;  /* 1: bodies measure each other                                 */
    ct__item         *item;      /* of the current chain */
    int32_t          *item_pose; /* place in the list    */
    int64_t           items, item_capacity, item_pose_capacity;
    window           *window;    /* of the current chain */
    int64_t           windows, window_capacity;
    double           *scratch;   /* for a median         */
    int64_t           scratch_capacity;
    ct_err           *err;
} work;

static int is_pose(const ct_graph *g, int32_t v) { return g->kind[v] == CT_SE2 || g->kind[v] == CT_SE3; }

/* ---- Chains ------------------------------------------------------------------------------------ */

static ct_status cut_chains(work *w)
{
    const ct_graph *g = w->forest->graph;
    const int32_t   n = g->variables;
    uint8_t        *taken = ct__zalloc(n, 1); /* a pose whose chain has gone on */
    int32_t        *count = ct__zalloc((int64_t)n + 1, sizeof *count);
    w->y = ct__zalloc(n, sizeof *w->y);
    w->chain = ct__zalloc(n, sizeof *w->chain);
    w->list = ct__zalloc(n, sizeof *w->list);
    w->begin = ct__zalloc((int64_t)n + 1, sizeof *w->begin);
    w->known = ct__zalloc(n, 1);
    const int whole = taken && count && w->y && w->chain && w->list && w->begin && w->known;
    for (int32_t i = 0; whole && i < n; i++) {
        const int32_t v = w->forest->queue[i], p = w->forest->parent[v];
        w->chain[v] = -1;
        if (!is_pose(g, v)) continue;
        const int goes_on = p >= 0 && g->kind[p] == g->kind[v] && !taken[p];
        if (goes_on) taken[p] = 1;
        w->chain[v] = goes_on ? w->chain[p] : w->chains++;
        w->y[v] = ct__rigid_of((ct_kind)g->kind[v], w->x + g->offset[v]);
        count[w->chain[v]]++;
    }
    for (int32_t c = 0; whole && c < w->chains; c++) w->begin[c + 1] = w->begin[c] + count[c];
    for (int32_t c = 0; whole && c < w->chains; c++) count[c] = w->begin[c];
    for (int32_t i = 0; whole && i < n; i++) {
        const int32_t v = w->forest->queue[i];
        if (w->chain[v] >= 0) w->list[count[w->chain[v]]++] = v;
    }
    w->poses = whole ? w->begin[w->chains] : 0;
    free(taken);
    free(count);
    return whole ? CT_OK : ct__no_memory(w->err, "variables to place", n);
}

/* ---- Items ------------------------------------------------------------------------------------- */

/* The point of a sighting, if it is known or has a value. */
static int known_point(const work *w, const ct__sighting *s, double p[3])
{
    if (s->body && (w->chain[s->point] == w->chain[s->pose] || !w->known[w->chain[s->point]])) return 0;
    if (!s->body && w->forest->joins) return 0;
    if (!s->body && s->point >= 0 && !w->forest->anchored[s->point]) return 0; /* it was placed from a pose */
    ct__sighted_point(w->forest->graph, s, w->x, p);
    return 1;
}

static ct_status new_item(work *w, int32_t at, ct__item **out)
{
    CT_TRY(ct__grow(&w->item, &w->item_capacity, w->items + 1, sizeof *w->item, "sightings", w->err));
    CT_TRY(ct__grow(&w->item_pose, &w->item_pose_capacity, w->items + 1, sizeof *w->item_pose, "sightings", w->err));
    *out = &w->item[w->items];
    w->item_pose[w->items++] = at;
    return CT_OK;
}

static ct_status add_item(work *w, const ct__sighting *s, const double p[3], int32_t at)
{
    ct__item *k;
    CT_TRY(new_item(w, at, &k));
    *k = (ct__item){.sees = s->sees, .range = s->range, .p = {p[0], p[1], p[2]}};
    ct__rigid_act(&w->y[s->pose], s->s, k->a);
    ct__rigid_turn(&w->y[s->pose], s->d, k->u);
    return CT_OK;
}

/* The target of a sighting from a pose that is known: where it is, how far from the sensor, or in which direction. */
static ct_status add_target(work *w, const ct__sighting *s, int32_t at)
{
    const ct_graph *g = w->forest->graph;
    ct__item       *k;
    if (w->chain[s->pose] == w->chain[s->point] || !w->known[w->chain[s->pose]]) return CT_OK;
    const ct__rigid from = ct__rigid_of((ct_kind)g->kind[s->pose], w->x + g->offset[s->pose]);
    CT_TRY(new_item(w, at, &k));
    *k = (ct__item){.sees = s->sees == CT__SEES_BEARING ? CT__SEEN_FROM : s->sees, .range = s->range};
    ct__rigid_act(&w->y[s->point], s->c, k->a);
    ct__rigid_act(&from, s->s, k->p); /* the point as seen, or the sensor */
    ct__rigid_turn(&from, s->d, k->u);
    return CT_OK;
}

/* A position of the pose. */
static int is_place(const ct_factor *f)
{
    const ct_factor_ops *ops = ct_factor_unbiased(f->ops);
    return ops == &ct_position_se2 || ops == &ct_position_se3;
}

/* Of how many places of a pose one is used: positions of 100 Hz, states of 2 Hz. */
static int64_t places_every(const ct__forest *forest, int32_t v)
{
    int64_t n = 0;
    for (int64_t k = forest->first[v]; k < forest->first[v + 1]; k++) {
        const ct_factor f = ct_graph_factor(forest->graph, forest->touching[k]);
        n += is_place(&f);
    }
    return (n + PLACES - 1) / PLACES;
}

static ct_status collect_items(work *w, int32_t chain)
{
    const ct__forest *forest = w->forest;
    w->items = 0;
    for (int32_t at = w->begin[chain]; at < w->begin[chain + 1]; at++) {
        const int64_t every = places_every(forest, w->list[at]);
        int64_t       places = 0;
        for (int64_t k = forest->first[w->list[at]]; k < forest->first[w->list[at] + 1]; k++) {
            const ct_factor f = ct_graph_factor(forest->graph, forest->touching[k]);
            ct__sighting    s[CT__SIGHTINGS_MAX];
            const int       n = ct__sightings_of(&f, s, NULL);
            double          p[3];
            if (is_place(&f) && places++ % every) continue;
            w->meetings |= n && s[0].body;
            if (f.var[0] != w->list[at]) {
                if (n && s[0].body) CT_TRY(add_target(w, &s[0], at));
                continue;
            }
            for (int i = 0; i < n; i++)
                if (known_point(w, &s[i], p)) CT_TRY(add_item(w, &s[i], p, at));
        }
    }
    return CT_OK;
}

/* Typical distance of what is seen; of positions alone: their extent. */
static ct_status reach_of(work *w, double *reach)
{
    double  mean[3] = {0}, square = 0;
    int64_t n = 0;
    CT_TRY(ct__grow(&w->scratch, &w->scratch_capacity, w->items, sizeof *w->scratch, "sightings", w->err));
    for (int64_t i = 0; i < w->items; i++) {
        if (w->item[i].range > 0) w->scratch[n++] = w->item[i].range;
        for (int j = 0; j < 3; j++) mean[j] += w->item[i].p[j] / (double)w->items;
    }
    *reach = ct_median(n, w->scratch);
    if (n) return CT_OK;
    for (int64_t i = 0; i < w->items; i++)
        for (int j = 0; j < 3; j++)
            square += (w->item[i].p[j] - mean[j]) * (w->item[i].p[j] - mean[j]) / (double)w->items;
    *reach = square > 0 ? sqrt(square) : 1;
    return CT_OK;
}

/* ---- Candidates of a window -------------------------------------------------------------------- */

/* How far apart two motions are where the windows meet, at composed pose y. */
static double jump(const ct__rigid *a, const ct__rigid *b, const ct__rigid *y, double reach)
{
    double p[3], q[3];
    ct__rigid_act(a, y->t, p);
    ct__rigid_act(b, y->t, q);
    const double d[3] = {p[0] - q[0], p[1] - q[1], p[2] - q[2]};
    return JUMP * fmin(sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) + reach * ct__rigid_angle(a, b), 2 * reach);
}

/* Adds a candidate unless it is there; of too many the one with the largest total leaves. */
static void add_candidate(const work *w, const ct__stretch *s, window *to, const window *before, const ct__rigid *T)
{
    const ct__rigid *meet = &w->y[w->list[w->item_pose[to->begin]]];
    candidate        new = {.T = *T, .cost = ct__stretch_cost(s, T), .from = -1};
    if (!isfinite(new.cost)) return;
    new.total = new.cost;
    for (int i = 0; before && i < before->count; i++) {
        const double total = before->of[i].total + jump(&before->of[i].T, T, meet, s->reach) + new.cost;
        if (i == 0 || total < new.total) new.total = total, new.from = i;
    }
    int worst = 0;
    for (int i = 0; i < to->count; i++) {
        if (ct__stretch_same(s, &to->of[i].T, T, s->item[s->count / 2].a)) {
            if (new.total < to->of[i].total) to->of[i] = new;
            return;
        }
        if (to->of[i].total > to->of[worst].total) worst = i;
    }
    if (to->count < MOST) to->of[to->count++] = new;
    else if (new.total < to->of[worst].total) to->of[worst] = new;
}

static int best_of(const window *v)
{
    int best = 0;
    for (int i = 1; i < v->count; i++)
        if (v->of[i].total < v->of[best].total) best = i;
    return best;
}

/* Candidates for the items of `to`. usual: the cost of an item so far, 0: this is the first window. */
static void find_candidates(const work *w, const ct__stretch *s, window *to, const window *before, double usual)
{
    ct__rigid T[CT__GUESSES_MAX];
    to->count = 0;
    for (int i = 0; i < before->count; i++) {
        T[0] = before->of[i].T;
        ct__stretch_fit(s, TRACK, &T[0]);
        add_candidate(w, s, to, before->begin < 0 ? NULL : before, &T[0]);
    }
    const double least = to->count ? to->of[best_of(to)].cost / s->count : INFINITY;
    if (usual > 0 && least <= POOR * usual) return;
    const int lost = usual <= 0 || least > fmax(LOST * usual, FAR * s->reach);
    const int n = ct__stretch_guess(s, lost, CT__GUESSES_MAX, T);
    for (int i = 0; i < n; i++) add_candidate(w, s, to, before->begin < 0 ? NULL : before, &T[i]);
}

static int rows_of(const ct__item *k, int planar) { return k->sees == CT__SEES_RANGE ? 1 : planar ? 2 : 3; }

/* The next window from item `begin` on: it grows until a candidate is determined, or it has `most` rows. Returns
 * whether one is. */
static int next_window(const work *w, int32_t begin, int planar, double reach, const window *before, double usual,
                       int most, window *out)
{
    *out = (window){.begin = begin, .end = begin};
    for (int rows = 0, least = ROWS;; least *= 2) {
        while (out->end < w->items && rows < least) rows += rows_of(&w->item[out->end++], planar);
        /* what is left at the end is too little by itself: an outlier would decide */
        while (begin > 0 && rows < ROWS) rows += rows_of(&w->item[--begin], planar);
        out->begin = begin;
        const ct__stretch s = {planar, out->end - begin, w->item + begin, reach};
        find_candidates(w, &s, out, before, usual);
        const int determined = out->count && ct__stretch_determines(&s, &out->of[best_of(out)].T);
        if (determined || out->end == w->items || least >= most) {
            out->centre = w->item_pose[begin + (out->end - begin) / 2];
            return determined;
        }
    }
}

/* ---- One chain --------------------------------------------------------------------------------- */

/* x of the chain's poses <- the composed ones moved by the chosen motions, interpolated between centres. */
static void move_poses(work *w, int32_t chain, const ct__rigid *base, int determined)
{
    const ct_graph *g = w->forest->graph;
    int64_t         k = 0;
    for (int32_t at = w->begin[chain]; at < w->begin[chain + 1]; at++) {
        const int32_t v = w->list[at];
        const ct_kind kind = (ct_kind)g->kind[v];
        double       *x = w->x + g->offset[v];
        w->placed[v] = determined != 0;
        if (g->fixed[v]) continue;
        while (k + 1 < w->windows && w->window[k + 1].centre <= at) k++;
        const ct__rigid *T = w->windows ? &w->window[k].of[w->window[k].chosen].T : base;
        const ct__rigid  a = ct__rigid_compose(T, &w->y[v]);
        ct__rigid_store(kind, &a, x);
        if (k + 1 >= w->windows || at <= w->window[k].centre) continue;
        const window   *next = &w->window[k + 1];
        const double    u = (double)(at - w->window[k].centre) / (next->centre - w->window[k].centre);
        const ct__rigid b = ct__rigid_compose(&next->of[next->chosen].T, &w->y[v]);
        double          to[CT_SIZE_MAX], d[CT_DIM_MAX];
        ct__rigid_store(kind, &b, to);
        ct_kind_local(kind, x, to, d);
        for (int i = 0; i < ct_kind_dim(kind); i++) d[i] *= u;
        ct_kind_retract(kind, x, d, x);
    }
}

/* Fills w->window. *determined is set if a window determines the motion. */
static ct_status find_windows(work *w, int planar, double reach, window before, int *determined)
{
    double usual = 0;
    int    begun = before.begin >= 0;
    w->windows = 0;
    for (int32_t at = 0; at < w->items;) {
        CT_TRY(ct__grow(&w->window, &w->window_capacity, w->windows + 1, sizeof *w->window, "windows", w->err));
        window   *new = &w->window[w->windows];
        const int found = next_window(w, at, planar, reach, &before, usual, begun ? ROWS_ON : ROWS_MAX, new);
        const int again = !begun && new->end - new->begin > ROWS_ON; /* odometry drifts in such a long window */
        begun = 1;
        *determined |= found;
        if (again && new->count) {
            before = *new;
            before.begin = -1;
            continue;
        }
        at = new->end;
        if (!new->count) continue;
        const double cost = new->of[best_of(new)].cost / (new->end - new->begin);
        if (found) usual = fmax(usual > 0 ? 0.8 * usual + 0.2 * cost : cost, 1e-6 * reach);
        before = *new;
        w->windows++;
    }
    for (int64_t k = w->windows - 1; k >= 0; k--)
        w->window[k].chosen = k + 1 < w->windows ? w->window[k + 1].of[w->window[k + 1].chosen].from
                                                 : best_of(&w->window[k]);
    return CT_OK;
}

static ct_status align_chain(work *w, int32_t chain)
{
    const ct_graph *g = w->forest->graph;
    const int32_t   root = w->list[w->begin[chain]], parent = w->forest->parent[root];
    const int       anchored = w->forest->anchored[root];
    ct__rigid       base = ct__rigid_identity();
    int             determined = 0;
    double          reach;
    if (parent >= 0 && is_pose(g, parent)) {
        const ct__rigid back = ct__rigid_inverse(&w->y[parent]);
        const ct__rigid now = ct__rigid_of((ct_kind)g->kind[parent], w->x + g->offset[parent]);
        base = ct__rigid_compose(&now, &back);
        determined = w->placed[parent];
        if (w->forest->joins && w->known[w->chain[parent]]) w->known[chain] = 1;
    }
    if (anchored) w->known[chain] = 1;
    CT_TRY(collect_items(w, chain));
    w->windows = 0;
    if (!w->forest->joins || !w->known[chain]) {
        CT_TRY(reach_of(w, &reach));
        /* a value that is only a guess (begin < 0) is a candidate, but leaving it is no jump */
        const window before = {.begin = anchored || determined ? 0 : -1, .count = 1, .of = {{.T = base}}};
        CT_TRY(find_windows(w, g->kind[root] == CT_SE2, reach, before, &determined));
    }
    move_poses(w, chain, &base, determined);
    if (determined) w->known[chain] = 1;
    return CT_OK;
}

/* Chains that are not known from those that are, until no more become known. If none is, the first is the reference. */
static ct_status align_meetings(work *w)
{
    int any = 0;
    for (int32_t c = 0; c < w->chains; c++) any |= w->known[c];
    if (w->chains && !any) w->known[0] = 1;
    for (int pass = 1; pass < PASSES; pass++) {
        int more = 0;
        for (int32_t c = 0; c < w->chains; c++) {
            if (w->known[c]) continue;
            CT_TRY(align_chain(w, c));
            more |= w->known[c];
        }
        if (!more) break;
    }
    return CT_OK;
}

ct_status ct__align_chains(const ct__forest *forest, double *x, uint8_t *placed, ct_err *err)
{
    work      w = {.forest = forest, .x = x, .placed = placed, .err = err};
    ct_status status = cut_chains(&w);
    for (int32_t c = 0; status == CT_OK && c < w.chains; c++) status = align_chain(&w, c);
    if (status == CT_OK && w.meetings) status = align_meetings(&w);
    void *const owned[] = {w.y, w.chain, w.list, w.begin, w.known, w.item, w.item_pose, w.window, w.scratch};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    return status;
}
