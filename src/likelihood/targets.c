/* targets.c: measurements by model, target and time. */
#include "graph/bodies.h"
#include "graph/biased.h"
#include "likelihood/likelihood.h"

#include <math.h>

#define NO_THING INT32_MIN

typedef struct {
    const ct_graph    *graph;
    const double      *stamp;   /* per variable, or NULL                         */
    ct__bodies         bodies;
    uint8_t           *chained; /* per variable: odometry leads to it or from it */
    int                seconds;
} survey;

static ct_status begin(const ct_sequence *seq, const ct_graph *g, survey *s, ct_err *err)
{
    *s = (survey){.graph = g, .stamp = seq->stamp};
    CT_TRY(ct__bodies_find(g, &s->bodies, err));
    s->chained = ct__zalloc(g->variables, 1);
    if (!s->chained) return ct__no_memory(err, "variables", g->variables);
    for (int32_t f = 0; f < g->factors; f++) {
        if (!ct__is_odometry(g, &s->bodies, f)) continue;
        for (int i = 0; i < g->factor[f].ops->arity; i++) s->chained[g->var_pool[g->factor[f].var + i]] = 1;
    }
    return CT_OK;
}

static void end(survey *s)
{
    ct__bodies_free(&s->bodies);
    free(s->chained);
}

ct_status ct__has_times(const ct_likelihood *l, int *seconds, ct_err *err)
{
    *seconds = 1;
    for (int32_t i = 0; i < l->count && *seconds; i++) {
        survey             s;
        const ct_sequence *seq = l->sequence[i].seq;
        CT_TRY(ct_sequence_acquire(seq, err));
        const ct_status status = begin(seq, seq->graph, &s, err);
        for (int32_t v = 0; status == CT_OK && v < seq->graph->variables; v++)
            if (s.chained[v] && !(seq->stamp && isfinite(seq->stamp[v]))) *seconds = 0;
        end(&s);
        ct_sequence_release(seq);
        CT_TRY(status);
    }
    return CT_OK;
}

/* The known point of a model whose name ends in "_point": the last part that a file must give. */
static void read_known_point(const ct_factor *f, double p[3])
{
    static const char SUFFIX[] = "_point";
    const size_t      n = strlen(f->ops->name), length = sizeof SUFFIX - 1;
    int               at = 0;
    if (n < length || strcmp(f->ops->name + n - length, SUFFIX)) return;
    for (int i = 0; i < f->ops->required - 1; i++) at += ct_kind_size(f->ops->field[i]);
    const ct_kind kind = f->ops->field[f->ops->required - 1];
    for (int i = 0; (kind == CT_R2 || kind == CT_R3) && i < ct_kind_size(kind); i++) p[i] = f->z[at + i];
}

/* 0 if the factor has no target: odometry, loop closures, contacts of two bodies, factors off the chains. */
static int survey_factor(const survey *s, int32_t index, ct__measurement *out)
{
    const ct_factor f = ct_graph_factor(s->graph, index);
    int             moving = 0;
    *out = (ct__measurement){.model = f.noise, .factor = index, .t = -INFINITY};
    for (int i = 0; i < CT_ARITY_MAX; i++) out->thing[i] = NO_THING;
    if (ct__is_process(f.ops)) return 0;
    for (int i = 0; i < ct_factor_unbiased(f.ops)->arity; i++) {
        const int32_t v = f.var[i];
        out->thing[i] = s->chained[v] ? -1 - s->bodies.body[v] : v;
        if (!s->chained[v]) continue;
        out->t = fmax(out->t, s->seconds ? s->stamp[v] : s->bodies.rank[v]);
        moving++;
    }
    const ct_factor plain = ct__without_bias(f);
    read_known_point(&plain, out->point);
    return moving == 1;
}

static int compare_targets(const ct__measurement *a, const ct__measurement *b)
{
    if (a->model != b->model) return a->model < b->model ? -1 : 1;
    for (int i = 0; i < CT_ARITY_MAX; i++)
        if (a->thing[i] != b->thing[i]) return a->thing[i] < b->thing[i] ? -1 : 1;
    for (int i = 0; i < 3; i++)
        if (a->point[i] < b->point[i] || a->point[i] > b->point[i]) return a->point[i] < b->point[i] ? -1 : 1;
    return 0;
}

int ct__same_target(const ct__measurement *a, const ct__measurement *b) { return compare_targets(a, b) == 0; }

static int compare(const void *a, const void *b)
{
    const ct__measurement *x = a, *y = b;
    const int              targets = compare_targets(x, y);
    if (targets) return targets;
    if (x->t < y->t || x->t > y->t) return x->t < y->t ? -1 : 1;
    return x->factor < y->factor ? -1 : x->factor > y->factor;
}

ct_status ct__list_measurements(const ct_sequence *seq, const ct_graph *g, int32_t model, int seconds,
                                ct__measurement **out, int32_t *count, ct_err *err)
{
    survey    s;
    ct_status status = begin(seq, g, &s, err);
    *count = 0;
    *out = status == CT_OK ? ct__zalloc(g->factors, sizeof **out) : NULL;
    if (status == CT_OK && !*out) status = ct__no_memory(err, "factors", g->factors);
    s.seconds = seconds;
    for (int32_t f = 0; status == CT_OK && f < g->factors; f++)
        if (model < 0 || g->factor[f].noise == model) *count += survey_factor(&s, f, &(*out)[*count]);
    if (status == CT_OK) qsort(*out, (size_t)*count, sizeof **out, compare);
    end(&s);
    return status;
}
