/* hub_sums.c: partial sums of the updates of many children of one front.
 *
 * A hub with n subtrees below it is detached with every update that affects it. Adding all subtrees again would cost n
 * additions per update. A bundle is a clique without pivots between the hub and subtrees of the same separator:
 *
 *     [U u] = sum of its children's [U u].
 *
 * BUNDLE subtrees form a bundle, BUNDLE bundles of equal rank form another, so n subtrees leave about
 * BUNDLE log n / log BUNDLE orphans. If a subtree changes, the bundles above it are detached like any clique, and their
 * other children become orphans. Sums are only formed of positive semidefinite terms. Nothing is subtracted, so no
 * accuracy is lost.
 *
 * A bundle stores the separator's delta that its children last used (back_substitute.c). It is one of the new cliques
 * of its update, and is removed if the update is undone. */
#include "smooth/smooth.h"

#define BUNDLE 8 /* in graphs without hubs fewer subtrees share a separator, and there are no bundles */

/* A hash of rank and separator, independent of the order of its variables. */
static uint64_t mark_of(const ct_smoother *s, const ct__clique *c)
{
    const int32_t *var = ct__variables_of(s, c) + c->pivots;
    uint64_t       sum = (uint64_t)c->rank;
    for (int32_t i = 0; i < c->separators; i++) {
        uint64_t h = ((uint64_t)s->var[var[i]].index + 1) * 0x9e3779b97f4a7c15u;
        sum += (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9u;
    }
    return sum;
}

static int same_separator(ct_smoother *s, const ct__clique *a, const ct__clique *b)
{
    if (a->rank != b->rank || a->separators != b->separators) return 0;
    s->seen++;
    for (int32_t i = 0; i < a->separators; i++) s->work[ct__variables_of(s, a)[a->pivots + i]].seen = s->seen;
    for (int32_t i = 0; i < b->separators; i++)
        if (s->work[ct__variables_of(s, b)[b->pivots + i]].seen != s->seen) return 0;
    return 1;
}

/* By mark, then in the order of edges. */
static int comes_before(const ct__orphan_key *a, const ct__orphan_key *b)
{
    return a->mark < b->mark || (a->mark == b->mark && a->edge < b->edge);
}

static void sort_hanging(ct__orphan_key *list, int64_t count)
{
    for (int64_t gap = count / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11) /* Shell's */
        for (int64_t i = gap; i < count; i++) {
            const ct__orphan_key x = list[i];
            int64_t           j = i;
            for (; j >= gap && comes_before(&x, &list[j - gap]); j -= gap) list[j] = list[j - gap];
            list[j] = x;
        }
}

static int32_t *orphan_at(ct__top *t, int32_t edge) { return &t->orphan.item[edge - t->factor.count]; }

/* A bundle of BUNDLE orphans, in the place of the first. */
static ct_status make_bundle(ct_smoother *s, const ct__orphan_key *hanging, ct_err *err)
{
    ct__top *t = &s->top;
    int32_t  id;
    int64_t  list, numbers;
    CT_TRY(ct__new_clique(s, &id, err));
    const ct__clique first = s->clique[*orphan_at(t, hanging[0].edge)];
    CT_TRY(ct__pool_take(&s->lists, first.separators, &list, err));
    s->clique[id].list = list;
    s->clique[id].separators = first.separators;
    s->clique[id].s = first.s;
    s->clique[id].rank = first.rank + 1;
    CT_TRY(ct__pool_take(&s->numbers, ct__clique_numbers(0, first.s), &numbers, err));
    s->clique[id].numbers = numbers;
    CT_TRY(ct__grow(&t->interval, &t->interval_capacity, first.separators, sizeof *t->interval, "runs", err));
    const ct__clique *c = &s->clique[id];
    memcpy(ct__variables_of(s, c), ct__variables_of(s, &first) + first.pivots,
           (size_t)first.separators * sizeof(int32_t));
    memset(ct__panel(s, c), 0, (size_t)ct__clique_numbers(0, first.s) * sizeof(double));
    for (int32_t i = 0, row = 0; i < c->separators; row += s->var[ct__variables_of(s, c)[i++]].dim)
        s->work[ct__variables_of(s, c)[i]].column = row;
    for (int32_t i = 0; i < c->s; i++) ct__sent_delta(s, c)[i] = NAN; /* nothing yet: see back_substitute.c */
    const ct__extend sum = {.A = ct__panel(s, c), .U = ct__update(s, c), .p = 0, .s = c->s};
    for (int i = 0; i < BUNDLE; i++) {
        int32_t *orphan = orphan_at(t, hanging[i].edge);
        ct__add_child(s, id, *orphan, &sum, ct__before(s, c));
        *orphan = i ? CT_NONE : id;
    }
    return CT_OK;
}

/* The orphans among a front's edges, sorted. */
static ct_status list_hanging(ct_smoother *s, int32_t f, int64_t *count, ct_err *err)
{
    ct__top *t = &s->top;
    *count = 0;
    for (int32_t e = t->head.item[f]; e != CT_NONE; e = t->next.item[e]) {
        if (e < t->factor.count) continue;
        CT_TRY(ct__grow(&t->hanging, &t->hanging_capacity, *count + 1, sizeof *t->hanging, "orphans", err));
        t->hanging[(*count)++] = (ct__orphan_key){.mark = mark_of(s, &s->clique[*orphan_at(t, e)]), .edge = e};
    }
    sort_hanging(t->hanging, *count);
    return CT_OK;
}

/* Removes the orphans that are in a bundle now from the edges. */
static void unlink_bundled(ct__top *t, int32_t f)
{
    int32_t *link = &t->head.item[f];
    while (*link != CT_NONE) {
        if (*link >= t->factor.count && *orphan_at(t, *link) == CT_NONE) *link = t->next.item[*link];
        else link = &t->next.item[*link];
    }
}

ct_status ct__sum_orphans(ct_smoother *s, int32_t f, ct_err *err)
{
    ct__top *t = &s->top;
    int64_t  orphans = 0, count, made = 1;
    for (int32_t e = t->head.item[f]; e != CT_NONE; e = t->next.item[e]) orphans += e >= t->factor.count;
    while (orphans >= BUNDLE && made) { /* until no rank has as many */
        made = 0;
        CT_TRY(list_hanging(s, f, &count, err));
        for (int64_t i = 0, equal; i < count; i += equal) {
            const ct__clique *first = &s->clique[*orphan_at(t, t->hanging[i].edge)];
            for (equal = 1; equal < BUNDLE && i + equal < count && t->hanging[i + equal].mark == t->hanging[i].mark;
                 equal++)
                if (!same_separator(s, first, &s->clique[*orphan_at(t, t->hanging[i + equal].edge)])) break;
            if (equal < BUNDLE) continue;
            CT_TRY(make_bundle(s, &t->hanging[i], err));
            made++;
        }
        if (made) unlink_bundled(t, f);
    }
    return CT_OK;
}
