/* smooth.h: the private structures of a smoother.
 *
 * Variables, factors and cliques are slots of three arrays with free lists. Their numbers and lists are blocks of pools
 * (pool.c). Slots and blocks are addressed by index, so arrays may be reallocated.
 *
 * A clique is a front of sparse.h that is kept:
 *
 *        pivots   separator   rhs
 *      [  R_pp       R_ps      d_p ]   panel:  p rows x (p + s + 1), row-major
 *      [             U_ss      u_s ]   update: s rows x (s + 1), row-major upper
 *
 * A factor belongs to the clique that eliminates its first variable, with all its contributions, right-hand side
 * included. So [U u] is the whole information of a subtree on its separator, and is used again when the cliques above
 * are computed again. A clique also stores the contribution of its subtree's factors to the separator's diagonal before
 * elimination: a pivot is weak relative to that.
 *
 * An update is a transaction (transaction.c): it copies what it changes, and lists what it creates.
 */
#ifndef CT_SMOOTH_PRIVATE_H
#define CT_SMOOTH_PRIVATE_H

#include "base/base.h"
#include "sparse/sparse.h"

#include <covtune/smooth.h>

#define CT_NONE (-1)

/* ---- pool.c: blocks of any length in one array; free ones are found by their size ---- */

#define CT_POOL_CLASSES 200
typedef struct {
    char   *data;
    size_t  unit; /* bytes of an element, at least 4 */
    int64_t used, capacity;
    int64_t head[CT_POOL_CLASSES]; /* 1 + first free block of a class, 0: none */
} ct__pool;

/* Where a block of n elements begins, the same for every n >= 0; not zeroed. */
ct_status ct__pool_take(ct__pool *pool, int64_t n, int64_t *at, ct_err *err);
void      ct__pool_give(ct__pool *pool, int64_t at, int64_t n);

/* ---- variables, factors, cliques ---- */

typedef struct {
    int32_t index;     /* the caller's index; CT_NONE: a free slot                        */
    uint8_t kind, dim;
    unsigned fixed : 1;
    unsigned far : 1;    /* delta is beyond the threshold: listed in far                  */
    unsigned proved : 1; /* observability.c: its group has full rank                              */
    unsigned peers : 8;  /* variables ever in its group                                   */
    int32_t group;     /* index of the first of those that it came with                   */
    int32_t clique;    /* that eliminates it                                              */
    int32_t row;       /* first scalar among that one's pivots                            */
    int32_t incidence; /* its first node; of a free slot: the next free one               */
    char   *name;      /* or NULL                                                         */
    double  point[CT_SIZE_MAX], delta[CT_DIM_MAX];
    double  sent[CT_DIM_MAX]; /* delta as the cliques below know it                       */
} ct__var;

/* Scratch of a variable: not part of a transaction. */
typedef struct {
    int64_t saved;    /* stamps: the update that ...                                      */
    int64_t affected; /* ... marked it                                                    */
    int64_t changed;  /* ... carried its delta down                                       */
    int32_t column;   /* among the detached variables; row in the front being assembled   */
    int64_t seen;     /* marginalise.c: by the variable being marginalised                     */
    uint8_t leaves;   /* it is being marginalised out                                     */
    uint8_t listed;   /* its slot is in unproved                                          */
} ct__var_work;

/* One variable of one factor, in the list of the variable's factors. */
typedef struct {
    int32_t var, factor;
    int32_t next, before; /* nodes */
} ct__node;

typedef struct {
    const ct_factor_ops *ops; /* NULL: a prior that marginalised variables left               */
    const void          *context;
    int64_t              node;   /* its members' nodes, in a row                              */
    int64_t              z;      /* measurement; of a prior: points, Lambda, eta              */
    int64_t              linear; /* whitened J of each member, r; of a prior: H, g            */
    int64_t              redone; /* stamp: relinearised by this update                        */
    double               multiplier; /* of its model's covariance                             */
    int32_t              features;   /* of its model's function, after its measurement        */
    int32_t              index;  /* the caller's index, CT_NONE for a prior                   */
    int32_t              noise, members;
    int32_t              n;      /* scalars of its members                                    */
    uint8_t              gone;   /* removed by this update                                    */
    uint8_t              housed; /* a prior that a clique owns already, which stays as it is  */
    int32_t              next;   /* of a free slot                                            */
} ct__smooth_factor; /* a factor */

typedef struct {
    int32_t pivots, separators, factors; /* blocks; factors it owns                           */
    int32_t p, s;                        /* scalars                                           */
    /* of a bundle, which has no pivots (hub_sums.c): 1, or 1 more than those in it; else 0 */
    int32_t rank;
    int32_t parent, child, sibling, before; /* cliques; roots are siblings                    */
    int64_t list;                        /* pivots, separators (variables), factors           */
    /* panel, 1 / R_kk, update, diagonal of the separator; of a bundle: its separator's delta as last used below */
    int64_t numbers;
    int64_t taken, saved;                /* stamps                                            */
} ct__clique;

/* From the caller's indices to slots; those below base are no longer in the graph. */
typedef struct {
    int32_t  base;
    int32_t *slot;
    int64_t  first, count, capacity;
} ct__map;

typedef struct {
    int32_t *item;
    int64_t  count, capacity;
} ct__list;

typedef struct {
    int32_t slot;
    ct__var was;
} ct__saved_var;

typedef struct {
    int32_t    clique;
    ct__clique was;
} ct__saved_clique;

typedef struct {
    int32_t factor;
    int64_t linear;
} ct__saved_linear;

/* Changes of the current update. */
typedef struct {
    ct__saved_var    *var;
    ct__saved_clique *clique;
    ct__saved_linear *linear;
    int64_t         vars, var_capacity, cliques, clique_capacity, linears, linear_capacity;
    ct__list        new_vars, new_factors, new_cliques, gone, taken, leaving;
    int64_t         far_count;
    int32_t         root;
    int32_t         oldest; /* as ct_smoother.oldest will be */
    int             relinearised; /* variables beyond their thresholds were */
    int             renews; /* every factor is whitened again */
} ct__change;

/* An orphan, by the number that it shares with those of the same separator. */
typedef struct {
    uint64_t mark;
    int32_t  edge;
} ct__orphan_key;

/* The detached part of the tree as a small system. Columns are its variables. */
typedef struct {
    ct__list  var, factor, orphan;   /* slots; an orphan that is in a bundle now: CT_NONE */
    ct__list  member, stage;         /* of its edges: factors first, then orphans   */
    ct__list  rows, cuts;            /* CCOLAMD's                                   */
    int64_t  *start, *pair_start;
    int64_t   start_capacity, pair_start_capacity;
    ct__list  pair;
    ct__list  head, next, front_of;  /* per front its first edge, per edge the next one; per position its front */
    ct__list  clique;                /* of each front                               */
    ct__list  weak;                  /* pairs: clique, row; ~row where it is not positive */
    ct__interval *interval;
    double   *original, *tiles;
    ct__orphan_key *hanging;
    int64_t   interval_capacity, original_capacity, tiles_capacity, hanging_capacity;
} ct__top;

struct ct_smoother {
    const ct_noise     *noise;
    ct_smoother_options options;
    ct__var            *var;
    ct__var_work       *work;
    ct__smooth_factor           *factor;
    ct__clique         *clique;
    /* slots ever used */
    int64_t   vars, var_capacity, work_capacity, factors, factor_capacity, cliques, clique_capacity;
    int32_t   free_var, free_factor, free_clique, root;
    int32_t   live_vars, live_factors, moving; /* moving: not fixed */
    int32_t   oldest;                         /* every index below it is gone or fixed */
    ct__pool  numbers, lists, nodes;
    ct__map   var_map, factor_map;
    /* [far_at]: variables whose delta was found beyond its threshold; the other: those since points were moved */
    ct__list  far[2];
    int       far_at;
    /* variables of this update: whose cliques are computed again; whose points have moved */
    ct__list  affected, moved;
    ct__list  unproved; /* every variable whose group is not proved, and some that are */
    ct__list  stack;
    int64_t   stamp, updates;
    int64_t   seen;     /* stamp of marginalise.c */
    ct__change change;
    ct__top    top;
    double   *vector[2]; /* sweeps: CT_DIM_MAX numbers per variable slot, or a front's rows */
    int64_t   vector_capacity[2];
    ct_smoother_stats stats;
};

static inline ct_status ct__list_push(ct__list *list, int32_t item, ct_err *err)
{
    if (list->count == list->capacity)
        CT_TRY(ct__grow(&list->item, &list->capacity, list->count + 1, sizeof *list->item, "list entries", err));
    list->item[list->count++] = item;
    return CT_OK;
}

static inline ct_status ct__list_room(ct__list *list, int64_t count, ct_err *err)
{
    return ct__grow(&list->item, &list->capacity, count, sizeof *list->item, "list entries", err);
}

static inline int32_t ct__slot(const ct__map *map, int32_t index)
{
    return index < map->base || index - map->base >= map->count ? CT_NONE : map->slot[map->first + index - map->base];
}

static inline double   *ct__numbers(const ct_smoother *s, int64_t at) { return (double *)(void *)s->numbers.data + at; }
static inline int32_t  *ct__ints(const ct_smoother *s, int64_t at) { return (int32_t *)(void *)s->lists.data + at; }
static inline ct__node *ct__nodes(const ct_smoother *s, int64_t at) { return (ct__node *)(void *)s->nodes.data + at; }

/* A clique's parts. */
static inline int32_t *ct__variables_of(const ct_smoother *s, const ct__clique *c) { return ct__ints(s, c->list); }
static inline int32_t *ct__factors_of(const ct_smoother *s, const ct__clique *c)
{
    return ct__ints(s, c->list) + c->pivots + c->separators;
}
static inline double  *ct__panel(const ct_smoother *s, const ct__clique *c) { return ct__numbers(s, c->numbers); }
static inline double *ct__inverse(const ct_smoother *s, const ct__clique *c)
{
    return ct__panel(s, c) + (int64_t)c->p * (c->p + c->s + 1);
}
static inline double  *ct__update(const ct_smoother *s, const ct__clique *c) { return ct__inverse(s, c) + c->p; }
static inline double *ct__before(const ct_smoother *s, const ct__clique *c)
{
    return ct__update(s, c) + (int64_t)c->s * (c->s + 1);
}
/* of a bundle */
static inline double  *ct__sent_delta(const ct_smoother *s, const ct__clique *c) { return ct__before(s, c) + c->s; }
static inline int64_t ct__clique_numbers(int64_t p, int64_t s)
{
    return p * (p + s + 1) + p + s * (s + 1) + s + (p ? 0 : s);
}
static inline int64_t  ct__clique_list(const ct__clique *c) { return (int64_t)c->pivots + c->separators + c->factors; }

/* Sizes of a factor's blocks in the pool of numbers. */
int64_t ct__z_numbers(const ct__smooth_factor *f);
int64_t ct__linear_numbers(const ct__smooth_factor *f);

/* transaction.c: slots, and the transaction. */
void      ct__change_begin(ct_smoother *s);
ct_status ct__save_var(ct_smoother *s, int32_t slot, ct_err *err);       /* before it is changed */
ct_status ct__save_clique(ct_smoother *s, int32_t clique, ct_err *err);
ct_status ct__new_var(ct_smoother *s, int32_t *slot, ct_err *err);
/* with room for its members' nodes */
ct_status ct__new_factor(ct_smoother *s, int32_t members, int32_t *slot, ct_err *err);
ct_status ct__new_clique(ct_smoother *s, int32_t *clique, ct_err *err);
ct_status ct__map_append(ct__map *map, int32_t slot, ct_err *err);
void      ct__change_undo(ct_smoother *s);
void      ct__change_keep(ct_smoother *s);
void      ct__smoother_release(ct_smoother *s); /* everything that the arrays hold */

/* new_factors.c: checks an increment, then adds it. */
ct_status   ct__increment_check(const ct_smoother *s, const ct_increment *inc, ct_err *err);
ct_status   ct__increment_add(ct_smoother *s, const ct_increment *inc, ct_err *err);
const char *ct__var_name(const ct_smoother *s, int32_t slot, char buf[64]);

/* linear_factors.c: factors as rows. */
ct_status ct__linearise_factor(ct_smoother *s, int32_t f, ct_err *err); /* at the points, into a block of its own */
/* |J z|^2 as linearised, back = J'J z, size = z'diag(J'J)z; vectors of CT_DIM_MAX per slot. */
double    ct__smoother_response(const ct_smoother *s, const double *z, double *back, double *size);

/* reorder.c: what to detach, and its order. */
ct_status ct__affect(ct_smoother *s, int32_t slot, ct_err *err);
ct_status ct__affect_factor(ct_smoother *s, int32_t f, ct_err *err);
ct_status ct__detach_top(ct_smoother *s, ct_err *err);
/* Fronts of the top, children first. sp is made, for the caller to release. */
ct_status ct__top_analyse(ct_smoother *s, ct_sparse *sp, ct_err *err);
void      ct__top_release(ct_sparse *sp);

/* eliminate.c: the fronts' numbers; weak pivots are listed in top.weak: clique, row (~row: not positive). */
ct_status ct__eliminate(ct_smoother *s, const ct_sparse *sp, ct_err *err);
/* A factor's part of a front. work[].column holds the members' first rows. */
void ct__assemble_factor(const ct_smoother *s, const ct__smooth_factor *f, const ct__extend *front, double *before);

/* Adds a child's update to a clique under construction, and the child to its children. */
void ct__add_child(ct_smoother *s, int32_t id, int32_t child_id, const ct__extend *front, double *before);

/* hub_sums.c: of the orphans that become children of front f, those of the same separator are summed. */
ct_status ct__sum_orphans(ct_smoother *s, int32_t f, ct_err *err);

/* back_substitute.c: delta from the top down. */
ct_status ct__back_substitute(ct_smoother *s, ct_err *err);

/* tree_solve.c: R'R x = b over the whole tree; tests of weak pivots. */
ct_status ct__sweep_order(ct_smoother *s, ct_err *err); /* s->stack: all cliques, parents first */
void      ct__sweep_up(const ct_smoother *s, double *x);
void      ct__sweep_down(const ct_smoother *s, double *x);
ct_status ct__check_weak_pivots(ct_smoother *s, ct_err *err);

/* observability.c: proof of a unique solution from the order of updates. */
int       ct__is_one_group(const ct_increment *inc); /* or each variable is one by itself */
ct_status ct__unprove(ct_smoother *s, int32_t slot, ct_err *err);
ct_status ct__unprove_group_of(ct_smoother *s, const ct__smooth_factor *f,
                               ct_err *err); /* f is removed or relinearised */
ct_status ct__prove(ct_smoother *s, int *unique, ct_err *err);

/* relinearise.c: which linearisation points move. */
/* those that are due; their factors' variables are affected */
ct_status ct__relinearise_due(ct_smoother *s, int all, ct_err *err);
/* of the detached variables, those that need no further elimination */
ct_status ct__relinearise_free(ct_smoother *s, ct_err *err);
/* the factors of those that moved, and the new ones */
ct_status ct__linearise_changed(ct_smoother *s, ct_err *err);

/* marginalise.c: variables are marginalised. */
ct_status ct__choose_marginalised(ct_smoother *s, const ct_increment *inc, ct_err *err);
ct_status ct__marginalise(ct_smoother *s, ct_err *err);

#endif
