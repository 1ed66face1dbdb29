/* replay.c: adds a graph to a smoother in the order in which it would have been measured. */
#include "graph/graph.h"
#include "smooth/smooth.h"

#include <math.h>
#include <stdio.h>

static const char *const names[CT_ENTRY_COUNT] = {
#define X(constant, name, what) [constant] = name,
    CT_ENTRY_LIST(X)
#undef X
};

const char *ct_entry_name(ct_entry entry) { return ct__name_at(names, CT_ENTRY_COUNT, (int)entry); }

int ct_entry_find(const char *name) { return ct__find_name(name, names, CT_ENTRY_COUNT); }

ct_replay_options ct_replay_defaults(void)
{
    return (ct_replay_options){.smoother = ct_smoother_defaults(), .entry = CT_ENTRY_MOTION};
}

typedef struct {
    const ct_graph          *graph;
    const ct_replay_options *options;
    ct_replay_result        *result;
    ct_smoother             *smoother;
    double                  *x, *given;
    int32_t                 *step_of;        /* per variable: the step that adds it; INT32_MAX: never      */
    int32_t                 *number;         /* per variable: the smoother's index, -1 before it is added  */
    int32_t                 *body;           /* per variable: its name without the number at its end: x of x17 */
    int32_t                 *before;         /* per variable: the one before of the same body and kind, -1: none */
    int32_t                 *factor, *first; /* factors by step: factor[first[step] ..]                    */
    int32_t                 *enter, *begin;  /* variables by step, the same way                            */
    /* waiting to be added */
    ct_new_variable         *variable;
    ct_new_factor           *pending;
    double                  *feature; /* of factors whose models have functions, CT_FUNCTION_FEATURES_MAX each */
    int32_t                 *member;         /* their variables                                            */
    int32_t                  variables, factors, members;
    int32_t                  next_try;       /* with so many waiting variables and factors                 */
    int32_t                  last_pose[2];   /* the last pose added, in the plane and in space             */
    int32_t                  entered;
} replay;

/* Counting sort of bodies 0 .. count - 1 by step. */
static void sort_by_step(int32_t steps, int32_t count, const int32_t *step, int32_t *list, int32_t *first)
{
    for (int32_t k = 0; k < count; k++)
        if (step[k] < steps) first[step[k] + 2]++;
    for (int32_t k = 0; k < steps; k++) first[k + 2] += first[k + 1];
    for (int32_t k = 0; k < count; k++)
        if (step[k] < steps) list[first[step[k] + 1]++] = k;
}

/* What a graph estimates may be several bodies, each over and over: an object o0, o1, .. and a finger e0, e1, ..; of
 * two robots' poses, too, the one before is a robot's own. */
static ct_status find_bodies(replay *t, ct_err *err)
{
    const ct_graph *g = t->graph;
    ct__names       bodies = {0};
    char            stem[256];
    /* per body and kind: a variable + 1 */
    int32_t        *last = ct__zalloc((int64_t)g->variables * CT_KIND_COUNT, sizeof *last);
    ct_status       status = last ? CT_OK : ct__no_memory(err, "variables to replay", g->variables);
    for (int32_t v = 0; status == CT_OK && v < g->variables; v++) {
        stem[ct__body_name_length(ct_graph_name(g, v, stem, sizeof stem))] = 0;
        t->body[v] = ct__names_find(&bodies, stem);
        if (t->body[v] < 0) {
            t->body[v] = (int32_t)bodies.count;
            status = ct__names_add(&bodies, stem, err);
        }
        int32_t *const mine = &last[(int64_t)t->body[v] * CT_KIND_COUNT + g->kind[v]];
        t->before[v] = *mine - 1;
        *mine = v + 1;
    }
    ct__names_free(&bodies);
    free(last);
    return status;
}

/* A factor belongs to the step of its newest variable; a variable to that of its first factor. */
static ct_status plan(replay *t, ct_err *err)
{
    const ct_graph *g = t->graph;
    const int32_t   n = g->variables, m = g->factors;
    int32_t        *step = ct__zalloc(m, sizeof *step);
    t->step_of = ct__zalloc(n, sizeof *t->step_of);
    t->number = ct__zalloc(n, sizeof *t->number);
    t->body = ct__zalloc(n, sizeof *t->body);
    t->before = ct__zalloc(n, sizeof *t->before);
    t->factor = ct__zalloc(m, sizeof *t->factor);
    t->first = ct__zalloc((int64_t)n + 2, sizeof *t->first);
    t->enter = ct__zalloc(n, sizeof *t->enter);
    t->begin = ct__zalloc((int64_t)n + 2, sizeof *t->begin);
    t->variable = ct__zalloc(n, sizeof *t->variable);
    t->pending = ct__zalloc(m, sizeof *t->pending);
    t->member = ct__zalloc(g->var_used, sizeof *t->member);
    t->given = ct__zalloc(g->size, sizeof *t->given);
    const int whole = step && t->step_of && t->number && t->body && t->before && t->factor && t->first && t->enter &&
                      t->begin && t->variable && t->pending && t->member && t->given;
    if (whole) {
        memcpy(t->given, t->x, (size_t)g->size * sizeof *t->given);
        for (int32_t v = 0; v < n; v++) t->step_of[v] = INT32_MAX, t->number[v] = -1;
        for (int32_t f = 0; f < m; f++) {
            const ct_factor k = ct_graph_factor(g, f);
            for (int i = 0; i < k.ops->arity; i++) step[f] = CT_MAX(step[f], k.var[i]);
            for (int i = 0; i < k.ops->arity; i++) t->step_of[k.var[i]] = CT_MIN(t->step_of[k.var[i]], step[f]);
        }
        sort_by_step(n, m, step, t->factor, t->first);
        sort_by_step(n, n, t->step_of, t->enter, t->begin);
    }
    free(step);
    return whole ? find_bodies(t, err) : ct__no_memory(err, "variables to replay", n);
}

static void release(replay *t)
{
    ct_smoother_free(t->smoother);
    void *const owned[] = {t->step_of, t->number, t->body,     t->before,  t->factor, t->first,
                           t->enter,   t->begin,  t->variable, t->pending, t->member, t->given,
                           t->feature};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}

/* ---- where a variable starts ---- */

/* y = est o given^-1 o v: v moved as `given` moved to `est`. Returns 0 if the kinds do not allow it. */
static int carry(ct_kind from, const double *given, const double *est, ct_kind kind, const double *v, double *y)
{
    double d[CT_DIM_MAX];
    if (from == kind) { /* est o Exp(Log(given^-1 v)) */
        ct_kind_local(kind, given, v, d);
        ct_kind_retract(kind, est, d, y);
        return 1;
    }
    if (from == CT_SE2 && kind == CT_R2) {
        const ct_se2 a = {given[0], given[1], given[2], given[3]}, b = {est[0], est[1], est[2], est[3]};
        ct_se2_act(ct_se2_compose(b, ct_se2_inverse(a, NULL), NULL, NULL), v, y, NULL, NULL);
        return 1;
    }
    if (from == CT_SE3 && kind == CT_R3) {
        const ct_se3 a = {given[0], given[1], given[2], given[3], given[4], given[5], given[6]},
                     b = {est[0], est[1], est[2], est[3], est[4], est[5], est[6]};
        ct_se3_act(ct_se3_compose(b, ct_se3_inverse(a, NULL), NULL, NULL), v, y, NULL, NULL);
        return 1;
    }
    return 0;
}

static int is_pose(ct_kind kind) { return kind == CT_SE2 || kind == CT_SE3; }

/* Relation of v to another variable of a factor: the same body, the same kind, or neither. */
static int kinship(const replay *t, int32_t v, int32_t other)
{
    const int same = t->graph->kind[other] == t->graph->kind[v];
    return same + (same && t->body[other] == t->body[v]);
}

/* The variable whose estimate initialises v: one that a factor of this step connects it to, of its own body and kind if
 * there is
 * one; else the one before of that; else a tied one of its kind, or the pose before. -1: none. */
static int32_t neighbour(const replay *t, int32_t v, int32_t step)
{
    const ct_kind kind = ct_graph_kind(t->graph, v);
    int32_t       best = -1;
    for (int32_t k = t->first[step]; k < t->first[step + 1]; k++) {
        const ct_factor f = ct_graph_factor(t->graph, t->factor[k]);
        int             mine = 0;
        for (int i = 0; i < f.ops->arity; i++) mine |= f.var[i] == v;
        for (int i = 0; mine && i < f.ops->arity; i++) {
            const int32_t other = f.var[i];
            if (other == v || t->number[other] < 0) continue;
            const int kin = kinship(t, v, other), best_kin = best < 0 ? -1 : kinship(t, v, best);
            if (kin > best_kin || (kin == best_kin && other > best)) best = other;
        }
    }
    const int     kin = best < 0 ? 0 : kinship(t, v, best);
    const int32_t before = t->before[v];
    if (is_pose(kind) && kin < 2 && before >= 0 && t->number[before] >= 0) return before;
    return is_pose(kind) && kin < 1 ? t->last_pose[kind == CT_SE3] : best;
}

/* The current value of a variable: its estimate, or its initial value if it waits. */
static void value_now(const replay *t, int32_t v, double *y)
{
    if (t->number[v] >= 0 && ct_smoother_has(t->smoother, t->number[v]))
        ct_smoother_estimate(t->smoother, t->number[v], y);
    else memcpy(y, t->x + t->graph->offset[v], (size_t)ct_kind_size(t->graph->kind[v]) * sizeof *y);
}

static void place(replay *t, int32_t v, int32_t step)
{
    const ct_kind kind = ct_graph_kind(t->graph, v);
    const int64_t at = ct_graph_offset(t->graph, v);
    const int32_t beside = t->options->entry == CT_ENTRY_GIVEN || t->graph->fixed[v] ? -1 : neighbour(t, v, step);
    double        est[CT_SIZE_MAX];
    if (beside < 0) return;
    value_now(t, beside, est);
    if (t->options->entry == CT_ENTRY_MOTION)
        carry(ct_graph_kind(t->graph, beside), t->given + ct_graph_offset(t->graph, beside), est, kind, t->given + at,
              t->x + at);
    else if (ct_graph_kind(t->graph, beside) == kind) memcpy(t->x + at, est, (size_t)ct_kind_size(kind) * sizeof *est);
}

/* ---- feeding ---- */

/* Appends the variables and factors of a step to those waiting. */
static void load(replay *t, int32_t step)
{
    for (int32_t k = t->begin[step]; k < t->begin[step + 1]; k++) {
        const int32_t v = t->enter[k];
        const ct_kind kind = ct_graph_kind(t->graph, v);
        place(t, v, step);
        t->number[v] = t->entered++;
        t->variable[t->variables++] = (ct_new_variable){.kind = kind,
                                                        .value = t->x + ct_graph_offset(t->graph, v),
                                                        .fixed = ct_graph_fixed(t->graph, v),
                                                        .name = ct__names_get(&t->graph->names, v)};
        if (is_pose(kind)) t->last_pose[kind == CT_SE3] = v;
    }
    for (int32_t k = t->first[step]; k < t->first[step + 1]; k++) {
        const ct_factor f = ct_graph_factor(t->graph, t->factor[k]);
        int32_t        *var = t->member + t->members;
        int             gone = 0;
        for (int i = 0; i < f.ops->arity; i++) {
            var[i] = t->number[f.var[i]];
            gone |= var[i] < ct_smoother_variables(t->smoother) && !ct_smoother_has(t->smoother, var[i]);
        }
        t->result->left_out += gone;
        if (gone) continue;
        t->members += f.ops->arity;
        const int64_t features = (int64_t)t->factor[k] * CT_FUNCTION_FEATURES_MAX;
        t->pending[t->factors++] =
            (ct_new_factor){.ops = f.ops, .var = var, .z = f.z, .context = f.context, .noise = f.noise,
                            .multiplier = f.multiplier,
                            .feature = t->feature ? t->feature + features : NULL};
    }
}

static void read_all(replay *t)
{
    for (int32_t v = 0; v < t->graph->variables; v++)
        if (t->number[v] >= 0 && ct_smoother_has(t->smoother, t->number[v]))
            ct_smoother_estimate(t->smoother, t->number[v], t->x + t->graph->offset[v]);
}

/* With a window, estimates are read before they are marginalised. Variables are added in the order of their numbers. */
static void read_window(replay *t)
{
    const int32_t window = t->options->smoother.window;
    for (int32_t k = t->entered - 1, found = 0; k >= 0 && found < window; k--) {
        if (!ct_smoother_has(t->smoother, k)) continue;
        ct_smoother_estimate(t->smoother, k, t->x + t->graph->offset[t->enter[k]]);
        found++;
    }
}

static void count(ct_replay_result *r, const ct_smoother_stats *stats)
{
    r->updates++;
    r->eliminated += stats->eliminated;
    r->relinearised += stats->relinearised;
    r->visited += stats->visited;
}

/* Adds what is waiting, then relinearises what is beyond its threshold, at most extra_updates times. */
static ct_status update(replay *t, ct_smoother_stats *stats, ct_err *err)
{
    const ct_increment inc = {.variables = t->variables,
                              .variable = t->variable,
                              .factors = t->factors,
                              .factor = t->pending},
                       relinearise = {.relinearise_due = 1};
    CT_TRY(ct_smoother_update(t->smoother, &inc, stats, err));
    count(t->result, stats);
    for (int k = 0; k < t->options->extra_updates && t->smoother->far[t->smoother->far_at].count; k++) {
        ct_smoother_stats more;
        const ct_status   status = ct_smoother_update(t->smoother, &relinearise, &more, err);
        if (status == CT_E_MEMORY) return status;
        if (status != CT_OK) break; /* the smoother did not change */
        count(t->result, &more);
        stats->eliminated += more.eliminated;
        stats->relinearised += more.relinearised;
        stats->visited += more.visited;
        stats->seconds += more.seconds;
    }
    return CT_OK;
}

/* Tries to add what is waiting. 1 if the replay is over. */
static int feed(replay *t, int32_t step, int last, ct_status *status, ct_err *err)
{
    ct_replay_result *r = t->result;
    ct_smoother_stats stats;
    ct_err            why = {0};
    if (!t->variables && !t->factors) return 0;
    if (!last && t->variables + t->factors < t->next_try) return 0;
    *status = update(t, &stats, &why);
    /* a later step may determine it; attempts become rarer */
    if (*status == CT_E_SINGULAR && !last) {
        const int32_t waiting = t->variables + t->factors;
        t->next_try = waiting + 1 + waiting / 8;
        *status = CT_OK;
        return 0;
    }
    if (*status == CT_E_SINGULAR || *status == CT_E_ARGUMENT) {
        r->stop = *status == CT_E_SINGULAR ? CT_STOP_RANK : CT_STOP_NOT_FINITE;
        snprintf(r->why, sizeof r->why, "%s", why.text);
        *status = CT_OK;
        return 1;
    }
    if (*status != CT_OK) {
        ct_fail(err, *status, "%s", why.text);
        return 1;
    }
    t->variables = t->factors = t->members = t->next_try = 0;
    if (stats.seconds > r->worst_s) r->worst_s = stats.seconds, r->worst_step = step;
    read_window(t);
    if (!t->options->progress ||
        !t->options->progress(t->options->user, t->smoother, step, t->graph->variables, &stats))
        return 0;
    r->stop = CT_STOP_CANCELLED;
    return 1;
}

static void end(replay *t, double start_s)
{
    ct_replay_result *r = t->result;
    char              name[64];
    for (int32_t v = 0; r->stop == CT_STOP_STEP && v < t->graph->variables; v++)
        if (t->number[v] < 0 && !t->graph->fixed[v]) {
            r->stop = CT_STOP_RANK;
            snprintf(r->why, sizeof r->why, "%s: no factor touches it", ct_graph_name(t->graph, v, name, sizeof name));
        }
    read_all(t);
    r->seconds = ct_now_s() - start_s;
}

/* Diagonal of the box around all positions of x. */
static double extent_of(const ct_graph *g, const double *x)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, square = 0;
    for (int32_t v = 0; v < g->variables; v++) {
        const ct_kind kind = ct_graph_kind(g, v);
        const int     lengths = kind == CT_SE2 || kind == CT_R2 ? 2 : kind == CT_SE3 || kind == CT_R3 ? 3 : 0;
        for (int i = 0; i < lengths; i++) {
            low[i] = CT_MIN(low[i], x[g->offset[v] + i]);
            high[i] = CT_MAX(high[i], x[g->offset[v] + i]);
        }
    }
    for (int i = 0; i < 3; i++)
        if (high[i] > low[i]) square += (high[i] - low[i]) * (high[i] - low[i]);
    return sqrt(square);
}

/* The smoother's options, with thresholds for a world of this size. */
static ct_smoother_options sized(const replay *t)
{
    ct_smoother_options o = t->options->smoother;
    const double        extent = t->options->extent > 0 ? extent_of(t->graph, t->x) : 0;
    for (int k = 0; extent > 0 && extent < t->options->extent && k < CT_KIND_COUNT; k++)
        o.relinearise[k] *= extent / t->options->extent;
    return o;
}

ct_status ct_replay(const ct_graph *graph, const ct_noise *noise, const ct_replay_options *options, double *x,
                    ct_replay_result *result, ct_err *err)
{
    const ct_replay_options usual = ct_replay_defaults();
    replay t = {.graph = graph, .options = options ? options : &usual, .result = result, .x = x, .last_pose = {-1, -1}};
    const double            start_s = ct_now_s();
    *result = (ct_replay_result){.stop = CT_STOP_STEP, .stationarity = NAN, .distance = NAN};
    CT_TRY(ct_graph_check_noise(graph, noise, err));
    const ct_smoother_options smoother = sized(&t);
    ct_status                 status = plan(&t, err);
    if (status == CT_OK) status = ct__graph_gather_features(graph, noise, 0, graph->factors, &t.feature, err);
    if (status == CT_OK) status = ct_smoother_new(noise, &smoother, &t.smoother, err);
    for (int32_t step = 0, over = 0; step < graph->variables && !over && status == CT_OK; step++) {
        load(&t, step);
        over = feed(&t, step, step + 1 == graph->variables, &status, err);
    }
    if (status == CT_OK) {
        end(&t, start_s);
        if (result->stop == CT_STOP_STEP)
            status = ct_smoother_stationarity(t.smoother, &result->stationarity, &result->distance, err);
        /* no step is possible from the current values */
        if (status == CT_E_SINGULAR || status == CT_E_ARGUMENT) status = CT_OK;
        result->error = ct_graph_error(graph, noise, x);
        if (!isfinite(result->error) && result->stop == CT_STOP_STEP) result->stop = CT_STOP_NOT_FINITE;
    }
    release(&t);
    return status;
}
