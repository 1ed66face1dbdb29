/* transaction.c: slots, and the transaction of an update.
 *
 * Until an update is complete no earlier state is lost. Variables and cliques are copied before they are changed, new
 * linearisations use new blocks, new cliques new slots, and factors are only marked as removed. Undoing restores the
 * copies and frees what was created; keeping frees what was replaced. Neither allocates. Slots are freed in the reverse
 * order of their allocation, so a failed update does not change which slots the next one uses. */
#include "smooth/smooth.h"

void ct__change_begin(ct_smoother *s)
{
    ct__change *c = &s->change;
    s->stamp++;
    c->vars = c->cliques = c->linears = 0;
    c->new_vars.count = c->new_factors.count = c->new_cliques.count = c->gone.count = c->taken.count =
        c->leaving.count = 0;
    c->far_count = s->far[s->far_at].count;
    c->root = s->root;
    c->oldest = s->oldest;
    c->relinearised = c->renews = 0;
    s->affected.count = s->moved.count = 0;
    s->top.var.count = s->top.factor.count = s->top.orphan.count = s->top.clique.count = s->top.weak.count = 0;
    s->stats = (ct_smoother_stats){0};
}

ct_status ct__save_var(ct_smoother *s, int32_t slot, ct_err *err)
{
    ct__change *c = &s->change;
    if (s->work[slot].saved == s->stamp) return CT_OK;
    CT_TRY(ct__grow(&c->var, &c->var_capacity, c->vars + 1, sizeof *c->var, "variables of an update", err));
    c->var[c->vars++] = (ct__saved_var){.slot = slot, .was = s->var[slot]};
    s->work[slot].saved = s->stamp;
    return CT_OK;
}

ct_status ct__save_clique(ct_smoother *s, int32_t clique, ct_err *err)
{
    ct__change *c = &s->change;
    if (s->clique[clique].saved == s->stamp) return CT_OK;
    CT_TRY(ct__grow(&c->clique, &c->clique_capacity, c->cliques + 1, sizeof *c->clique, "fronts of an update", err));
    c->clique[c->cliques++] = (ct__saved_clique){.clique = clique, .was = s->clique[clique]};
    s->clique[clique].saved = s->stamp;
    return CT_OK;
}

/* ---- slots ---- */

ct_status ct__new_var(ct_smoother *s, int32_t *slot, ct_err *err)
{
    CT_TRY(ct__list_room(&s->change.new_vars, s->change.new_vars.count + 1, err));
    /* so that listing one later does not allocate */
    for (int i = 0; i < 2; i++) CT_TRY(ct__list_room(&s->far[i], s->vars + 1, err));
    int listed = 0;
    if (s->free_var != CT_NONE) {
        *slot = s->free_var;
        s->free_var = s->var[*slot].incidence;
        listed = s->work[*slot].listed;
    } else {
        if (s->vars == INT32_MAX) return ct_fail(err, CT_E_LIMIT, "a smoother holds at most %d variables", INT32_MAX);
        CT_TRY(ct__grow(&s->var, &s->var_capacity, s->vars + 1, sizeof *s->var, "variables", err));
        CT_TRY(ct__grow(&s->work, &s->work_capacity, s->vars + 1, sizeof *s->work, "variables", err));
        *slot = (int32_t)s->vars++;
    }
    s->work[*slot] = (ct__var_work){.saved = s->stamp, .listed = (uint8_t)listed}; /* undo frees it */
    s->change.new_vars.item[s->change.new_vars.count++] = *slot;
    return CT_OK;
}

ct_status ct__new_factor(ct_smoother *s, int32_t members, int32_t *slot, ct_err *err)
{
    int64_t node;
    CT_TRY(ct__list_room(&s->change.new_factors, s->change.new_factors.count + 1, err));
    if (s->free_factor == CT_NONE) {
        if (s->factors == INT32_MAX) return ct_fail(err, CT_E_LIMIT, "a smoother holds at most %d factors", INT32_MAX);
        CT_TRY(ct__grow(&s->factor, &s->factor_capacity, s->factors + 1, sizeof *s->factor, "factors", err));
    }
    CT_TRY(ct__pool_take(&s->nodes, members, &node, err));
    if (s->free_factor != CT_NONE) {
        *slot = s->free_factor;
        s->free_factor = s->factor[*slot].next;
    } else *slot = (int32_t)s->factors++;
    s->factor[*slot] = (ct__smooth_factor){
        .node = node, .members = members, .z = CT_NONE, .linear = CT_NONE, .index = CT_NONE, .next = CT_NONE};
    s->change.new_factors.item[s->change.new_factors.count++] = *slot;
    return CT_OK;
}

ct_status ct__new_clique(ct_smoother *s, int32_t *clique, ct_err *err)
{
    CT_TRY(ct__list_room(&s->change.new_cliques, s->change.new_cliques.count + 1, err));
    if (s->free_clique != CT_NONE) {
        *clique = s->free_clique;
        s->free_clique = s->clique[*clique].sibling;
    } else {
        CT_TRY(ct__grow(&s->clique, &s->clique_capacity, s->cliques + 1, sizeof *s->clique, "fronts", err));
        *clique = (int32_t)s->cliques++;
    }
    s->clique[*clique] = (ct__clique){.parent = CT_NONE,
                                      .child = CT_NONE,
                                      .sibling = CT_NONE,
                                      .before = CT_NONE,
                                      .list = CT_NONE,
                                      .numbers = CT_NONE,
                                      .saved = s->stamp};
    s->change.new_cliques.item[s->change.new_cliques.count++] = *clique;
    return CT_OK;
}

static void free_var(ct_smoother *s, int32_t slot)
{
    free(s->var[slot].name);
    s->var[slot] = (ct__var){.index = CT_NONE, .clique = CT_NONE, .incidence = s->free_var};
    s->free_var = slot;
}

static void free_factor(ct_smoother *s, int32_t slot)
{
    ct__smooth_factor *f = &s->factor[slot];
    ct__pool_give(&s->nodes, f->node, f->members);
    if (f->z != CT_NONE) ct__pool_give(&s->numbers, f->z, ct__z_numbers(f));
    if (f->linear != CT_NONE) ct__pool_give(&s->numbers, f->linear, ct__linear_numbers(f));
    *f = (ct__smooth_factor){.node = CT_NONE, .index = CT_NONE, .next = s->free_factor};
    s->free_factor = slot;
}

/* The blocks that a clique, as it is or was, holds. */
static void free_blocks(ct_smoother *s, const ct__clique *c)
{
    if (c->list != CT_NONE) ct__pool_give(&s->lists, c->list, ct__clique_list(c));
    if (c->numbers != CT_NONE) ct__pool_give(&s->numbers, c->numbers, ct__clique_numbers(c->p, c->s));
}

static void free_clique(ct_smoother *s, int32_t clique)
{
    free_blocks(s, &s->clique[clique]);
    s->clique[clique] = (ct__clique){.list = CT_NONE, .numbers = CT_NONE, .sibling = s->free_clique};
    s->free_clique = clique;
}

/* ---- maps ---- */

ct_status ct__map_append(ct__map *map, int32_t slot, ct_err *err)
{
    if (map->base > INT32_MAX - 1 - map->count)
        return ct_fail(err, CT_E_LIMIT, "a smoother gives out at most %d indices", INT32_MAX);
    if (map->first + map->count == map->capacity) {
        if (map->first > map->count) { /* more than half is unused: the rest moves down */
            memmove(map->slot, map->slot + map->first, (size_t)map->count * sizeof *map->slot);
            map->first = 0;
        } else CT_TRY(ct__grow(&map->slot, &map->capacity, map->capacity + 1, sizeof *map->slot, "indices", err));
    }
    map->slot[map->first + map->count++] = slot;
    return CT_OK;
}

static void map_clear(ct__map *map, int32_t index)
{
    map->slot[map->first + index - map->base] = CT_NONE;
    while (map->count && map->slot[map->first] == CT_NONE) {
        map->first++;
        map->base++;
        map->count--;
    }
}

/* ---- undo ---- */

void ct__change_undo(ct_smoother *s)
{
    ct__change *c = &s->change;
    for (int64_t k = c->new_cliques.count - 1; k >= 0; k--) free_clique(s, c->new_cliques.item[k]);
    for (int64_t k = 0; k < c->cliques; k++) {
        const ct__clique *now = &s->clique[c->clique[k].clique], *was = &c->clique[k].was;
        if (now->list != was->list) ct__pool_give(&s->lists, now->list, ct__clique_list(now));
        if (now->numbers != was->numbers) ct__pool_give(&s->numbers, now->numbers, ct__clique_numbers(now->p, now->s));
        s->clique[c->clique[k].clique] = *was;
    }
    s->root = c->root;
    for (int64_t k = 0; k < c->vars; k++) s->var[c->var[k].slot] = c->var[k].was;
    for (int64_t k = c->linears - 1; k >= 0; k--) {
        ct__smooth_factor *f = &s->factor[c->linear[k].factor];
        ct__pool_give(&s->numbers, f->linear, ct__linear_numbers(f));
        f->linear = c->linear[k].linear;
    }
    for (int64_t k = 0; k < c->gone.count; k++) s->factor[c->gone.item[k]].gone = 0;
    for (int64_t k = c->new_factors.count - 1; k >= 0; k--) {
        const int32_t slot = c->new_factors.item[k];
        if (s->factor[slot].index != CT_NONE) s->factor_map.count--;
        free_factor(s, slot);
    }
    for (int64_t k = 0; k < c->leaving.count; k++) s->work[c->leaving.item[k]].leaves = 0;
    for (int64_t k = c->new_vars.count - 1; k >= 0; k--) {
        if (s->var[c->new_vars.item[k]].index != CT_NONE) s->var_map.count--;
        free_var(s, c->new_vars.item[k]);
    }
    s->far[s->far_at].count = c->far_count;
}

/* ---- keep ---- */

static void link_factor(ct_smoother *s, int32_t slot)
{
    const ct__smooth_factor *f = &s->factor[slot];
    for (int32_t i = 0; i < f->members; i++) {
        ct__node     *node = ct__nodes(s, f->node + i);
        ct__var      *var = &s->var[node->var];
        const int32_t here = (int32_t)(f->node + i);
        node->factor = slot;
        node->next = node->before = CT_NONE;
        if (var->fixed) continue;
        node->next = var->incidence;
        if (var->incidence != CT_NONE) ct__nodes(s, var->incidence)->before = here;
        var->incidence = here;
    }
}

static void unlink_factor(ct_smoother *s, int32_t slot)
{
    const ct__smooth_factor *f = &s->factor[slot];
    for (int32_t i = 0; i < f->members; i++) {
        const ct__node *node = ct__nodes(s, f->node + i);
        if (s->var[node->var].fixed) continue;
        if (node->before != CT_NONE) ct__nodes(s, node->before)->next = node->next;
        else s->var[node->var].incidence = node->next;
        if (node->next != CT_NONE) ct__nodes(s, node->next)->before = node->before;
    }
}

static void drop_far(ct_smoother *s, int32_t slot)
{
    ct__list *far = &s->far[s->far_at];
    for (int64_t k = 0; k < far->count; k++)
        if (far->item[k] == slot) {
            far->item[k] = far->item[--far->count];
            return;
        }
}

static void drop_leaving(ct_smoother *s)
{
    ct__change *c = &s->change;
    for (int64_t k = 0; k < c->leaving.count; k++) {
        const int32_t slot = c->leaving.item[k];
        if (s->var[slot].far) drop_far(s, slot);
        map_clear(&s->var_map, s->var[slot].index);
        s->live_vars--;
        s->moving--;
        s->work[slot].leaves = 0;
        free_var(s, slot);
    }
}

void ct__change_keep(ct_smoother *s)
{
    ct__change *c = &s->change;
    for (int64_t k = 0; k < c->new_vars.count; k++) {
        s->live_vars++;
        s->moving += !s->var[c->new_vars.item[k]].fixed;
    }
    for (int64_t k = 0; k < c->new_factors.count; k++) {
        link_factor(s, c->new_factors.item[k]);
        s->live_factors += s->factor[c->new_factors.item[k]].ops != NULL;
    }
    for (int64_t k = 0; k < c->linears; k++) {
        const ct__smooth_factor *f = &s->factor[c->linear[k].factor];
        ct__pool_give(&s->numbers, c->linear[k].linear, ct__linear_numbers(f));
    }
    for (int64_t k = 0; k < c->gone.count; k++) {
        const int32_t slot = c->gone.item[k];
        unlink_factor(s, slot);
        s->live_factors -= s->factor[slot].ops != NULL;
        if (s->factor[slot].index != CT_NONE) map_clear(&s->factor_map, s->factor[slot].index);
        free_factor(s, slot);
    }
    for (int64_t k = 0; k < c->cliques; k++) {
        const ct__clique *now = &s->clique[c->clique[k].clique], *was = &c->clique[k].was;
        if (now->list != was->list) ct__pool_give(&s->lists, was->list, ct__clique_list(was));
        if (now->numbers != was->numbers) ct__pool_give(&s->numbers, was->numbers, ct__clique_numbers(was->p, was->s));
    }
    for (int64_t k = 0; k < c->taken.count; k++) free_clique(s, c->taken.item[k]);
    s->far_at ^= c->relinearised;
    s->oldest = c->oldest;
    drop_leaving(s);
}

void ct__smoother_release(ct_smoother *s)
{
    ct__change *c = &s->change;
    ct__top    *t = &s->top;
    for (int64_t k = 0; k < s->vars; k++) free(s->var[k].name);
    void *const owned[] = {s->var,
                           s->work,
                           s->factor,
                           s->clique,
                           s->numbers.data,
                           s->lists.data,
                           s->nodes.data,
                           s->var_map.slot,
                           s->factor_map.slot,
                           s->far[0].item,
                           s->far[1].item,
                           s->affected.item,
                           s->moved.item,
                           s->unproved.item,
                           s->stack.item,
                           s->vector[0],
                           s->vector[1],
                           c->var,
                           c->clique,
                           c->linear,
                           c->new_vars.item,
                           c->new_factors.item,
                           c->new_cliques.item,
                           c->gone.item,
                           c->taken.item,
                           c->leaving.item,
                           t->var.item,
                           t->factor.item,
                           t->orphan.item,
                           t->member.item,
                           t->stage.item,
                           t->rows.item,
                           t->cuts.item,
                           t->start,
                           t->pair_start,
                           t->pair.item,
                           t->head.item,
                           t->next.item,
                           t->front_of.item,
                           t->interval,
                           t->clique.item,
                           t->weak.item,
                           t->original,
                           t->tiles,
                           t->hanging};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}
