/* observability.c: proves that the solution is unique, by induction over the order in which variables were added.
 *
 * The variables added by one update are a group g. Let J_g be the columns of g in those factors whose newest variable
 * is in g. If every J_g has full column rank, the solution is unique: let J z = 0, and g the first group that z moves;
 * then J_g z_g = 0. The test
 *
 *     H_gg = sum over their rows of j j' / |j|^2,   every pivot of it above CT_WEAK_RATIO of its diagonal
 *
 * is small and dense. It does not depend on the length of paths and, as rows are normalised, not on the ratio of
 * measurement variances. These two are what makes pivots weak. An update that adds variables passes the test for them
 * in all but exceptional cases.
 *
 * A proof is valid until one of its factors is removed or relinearised. Proofs are attempted only if a pivot is weak.
 * Unproved groups are listed, so an update only pays for groups that it has changed. */
#include "smooth/smooth.h"

/* squared ratio to the other columns below which the columns of a row in the group are rounding */
#define ROUNDING  1e-20
#define DENSE_MAX 120   /* scalars of a group; the variables of a larger one are groups of their own */

int ct__is_one_group(const ct_increment *inc)
{
    int64_t scalars = 0;
    for (int32_t k = 0; k < inc->variables; k++)
        scalars += inc->variable[k].fixed ? 0 : ct_kind_dim(inc->variable[k].kind);
    return inc->variables <= UINT8_MAX && scalars <= DENSE_MAX;
}

/* The group of a factor's newest variable; CT_NONE: all are fixed. */
static int32_t group_of(const ct_smoother *s, const ct__smooth_factor *f)
{
    int32_t group = CT_NONE;
    for (int32_t i = 0; i < f->members; i++) {
        const ct__var *var = &s->var[ct__nodes(s, f->node + i)->var];
        if (!var->fixed) group = CT_MAX(group, var->group);
    }
    return group;
}

ct_status ct__unprove(ct_smoother *s, int32_t slot, ct_err *err)
{
    if (!s->work[slot].listed) CT_TRY(ct__list_push(&s->unproved, slot, err));
    s->work[slot].listed = 1;
    if (!s->var[slot].proved) return CT_OK;
    CT_TRY(ct__save_var(s, slot, err));
    s->var[slot].proved = 0;
    return CT_OK;
}

ct_status ct__unprove_group_of(ct_smoother *s, const ct__smooth_factor *f, ct_err *err)
{
    int proved = 0;
    for (int32_t i = 0; i < f->members; i++) {
        const ct__var *var = &s->var[ct__nodes(s, f->node + i)->var];
        proved |= var->proved && !var->fixed;
    }
    if (!proved) return CT_OK;
    const int32_t group = group_of(s, f);
    int32_t       peers = 0;
    for (int32_t i = 0; i < f->members && !peers; i++) {
        const ct__var *var = &s->var[ct__nodes(s, f->node + i)->var];
        if (!var->fixed && var->group == group) peers = var->peers;
    }
    for (int32_t k = 0; k < peers; k++) {
        const int32_t slot = ct__slot(&s->var_map, group + k);
        if (slot != CT_NONE && !s->var[slot].fixed) CT_TRY(ct__unprove(s, slot, err));
    }
    return CT_OK;
}

/* ---- one group ---- */

/* Assigns rows to the variables of the group in the graph; returns their number of scalars. */
static int32_t number_group(ct_smoother *s, int32_t group, int32_t peers)
{
    int32_t n = 0;
    for (int32_t k = 0; k < peers; k++) {
        const int32_t slot = ct__slot(&s->var_map, group + k);
        if (slot == CT_NONE || s->var[slot].fixed || s->work[slot].leaves) continue;
        s->work[slot].column = n;
        n += s->var[slot].dim;
    }
    return n;
}

/* Whether a member is in the group, and so has rows of H. */
static int belongs(const ct__var *var, int32_t group) { return !var->fixed && var->group == group; }

/* 1 / |row r of J_g|^2; 0 if the row does not involve the group. */
static double row_weight(const ct_smoother *s, const ct__smooth_factor *f, int32_t group, int r)
{
    const double *J = ct__numbers(s, f->linear);
    double        own = 0, all = 0;
    for (int32_t i = 0; i < f->members; i++) {
        const ct__var *var = &s->var[ct__nodes(s, f->node + i)->var];
        double         sum = 0;
        for (int k = 0; k < var->dim; k++) sum += J[r * var->dim + k] * J[r * var->dim + k];
        all += sum;
        if (belongs(var, group)) own += sum;
        J += f->ops->rows * var->dim;
    }
    return own > ROUNDING * all ? 1 / own : 0;
}

/* H += scale a b', a and b the parts of a row that belong to two members. */
static void add_pair(const ct_smoother *s, int32_t u, int32_t v, double scale, const double *a, const double *b,
                     int32_t n, double *H)
{
    for (int i = 0; i < s->var[u].dim; i++)
        for (int j = 0; j < s->var[v].dim; j++)
            H[(int64_t)(s->work[u].column + i) * n + s->work[v].column + j] += scale * a[i] * b[j];
}

static void add_row(const ct_smoother *s, const ct__smooth_factor *f, int32_t group, int r, int32_t n, double *H)
{
    const double *Ja = ct__numbers(s, f->linear), scale = row_weight(s, f, group, r);
    for (int32_t a = 0; scale > 0 && a < f->members; a++) {
        const int32_t u = ct__nodes(s, f->node + a)->var;
        const double *Jb = ct__numbers(s, f->linear);
        for (int32_t b = 0; belongs(&s->var[u], group) && b < f->members; b++) {
            const int32_t v = ct__nodes(s, f->node + b)->var;
            if (belongs(&s->var[v], group))
                add_pair(s, u, v, scale, Ja + r * s->var[u].dim, Jb + r * s->var[v].dim, n, H);
            Jb += f->ops->rows * s->var[v].dim;
        }
        Ja += f->ops->rows * s->var[u].dim;
    }
}

/* A prior has no rows: its block H_gg, over the largest number in it. */
static void add_prior(const ct_smoother *s, const ct__smooth_factor *f, int32_t group, int32_t n, double *H)
{
    const double *K = ct__numbers(s, f->linear);
    double        largest = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t a = 0, row = 0; a < f->members; row += s->var[ct__nodes(s, f->node + a++)->var].dim) {
            const int32_t u = ct__nodes(s, f->node + a)->var;
            for (int32_t b = 0, col = 0; belongs(&s->var[u], group) && b < f->members;
                 col += s->var[ct__nodes(s, f->node + b++)->var].dim) {
                const int32_t v = ct__nodes(s, f->node + b)->var;
                for (int i = 0; belongs(&s->var[v], group) && i < s->var[u].dim; i++)
                    for (int j = 0; j < s->var[v].dim; j++) {
                        const double k = K[(int64_t)(row + i) * f->n + col + j];
                        if (pass == 0) largest = CT_MAX(largest, fabs(k));
                        else if (largest > 0)
                            H[(int64_t)(s->work[u].column + i) * n + s->work[v].column + j] += k / largest;
                    }
            }
        }
}

static void add_factor(const ct_smoother *s, const ct__smooth_factor *f, int32_t group, int32_t n, double *H)
{
    if (!f->ops) add_prior(s, f, group, n, H);
    for (int r = 0; f->ops && r < f->ops->rows; r++) add_row(s, f, group, r, n, H);
}

static int has_full_rank(int32_t n, double *H, double *diagonal)
{
    for (int32_t k = 0; k < n; k++) diagonal[k] = H[k * n + k];
    for (int32_t k = 0; k < n; k++) {
        if (!(H[k * n + k] > CT_WEAK_RATIO * diagonal[k])) return 0;
        for (int32_t i = k + 1; i < n; i++)
            for (int32_t j = i; j < n; j++) H[i * n + j] -= H[k * n + i] * H[k * n + j] / H[k * n + k];
    }
    return 1;
}

static ct_status start_matrix(ct_smoother *s, int32_t n, ct_err *err)
{
    for (int i = 0; i < 2; i++)
        CT_TRY(ct__grow(&s->vector[i], &s->vector_capacity[i], (int64_t)n * n + 1, sizeof **s->vector,
                        "numbers of a group", err));
    memset(s->vector[0], 0, (size_t)n * (size_t)n * sizeof **s->vector);
    return CT_OK;
}

/* Of an older group: its factors that stay, and priors that this update makes. What else this update brings can only
 * help, and is counted the next time. */
static void add_old(const ct_smoother *s, int32_t group, int32_t peers, int32_t n, double *H)
{
    const ct__list *made = &s->change.new_factors;
    for (int32_t k = 0; k < peers; k++) {
        const int32_t slot = ct__slot(&s->var_map, group + k);
        if (slot == CT_NONE || s->var[slot].fixed || s->work[slot].leaves) continue;
        for (int32_t node = s->var[slot].incidence; node != CT_NONE; node = ct__nodes(s, node)->next) {
            const ct__smooth_factor *f = &s->factor[ct__nodes(s, node)->factor];
            int             first = 1; /* of the group among the members: each of them lists the factor */
            for (int32_t i = 0; ct__nodes(s, f->node + i)->var != slot; i++) {
                const ct__var *other = &s->var[ct__nodes(s, f->node + i)->var];
                first = first && (other->fixed || other->group != group);
            }
            if (first && !f->gone && group_of(s, f) == group) add_factor(s, f, group, n, H);
        }
    }
    for (int64_t k = made->count - 1; k >= 0 && !s->factor[made->item[k]].ops; k--) {
        const ct__smooth_factor *prior = &s->factor[made->item[k]];
        if (!prior->gone && group_of(s, prior) == group) add_factor(s, prior, group, n, H);
    }
}

/* Of the group that this update adds: the factors that it adds. */
static void add_new(const ct_smoother *s, int32_t group, int32_t n, double *H)
{
    for (int64_t k = 0; k < s->change.new_factors.count; k++) {
        const ct__smooth_factor *f = &s->factor[s->change.new_factors.item[k]];
        if (!f->gone && group_of(s, f) == group) add_factor(s, f, group, n, H);
    }
}

static int is_new(const ct_smoother *s, const ct__var *var)
{
    const ct__list *made = &s->change.new_vars;
    return made->count && var->index >= s->var[made->item[0]].index;
}

static ct_status prove_group(ct_smoother *s, int32_t slot, ct_err *err)
{
    const ct__var *var = &s->var[slot];
    const int32_t  group = var->group, peers = var->peers, n = number_group(s, group, peers);
    if (is_new(s, var) && peers != s->change.new_vars.count) return CT_OK; /* one of many new groups: proved later */
    CT_TRY(start_matrix(s, n, err));
    if (is_new(s, var)) add_new(s, group, n, s->vector[0]);
    else add_old(s, group, peers, n, s->vector[0]);
    if (!has_full_rank(n, s->vector[0], s->vector[1])) return CT_OK;
    for (int32_t k = 0; k < peers; k++) {
        const int32_t peer = ct__slot(&s->var_map, group + k);
        if (peer == CT_NONE) continue;
        CT_TRY(ct__save_var(s, peer, err));
        s->var[peer].proved = 1;
    }
    return CT_OK;
}

/* ---- all ---- */

/* Whether additions are all there is to the update, and the new variables are proved: a graph that was determined
 * stays so. */
static int only_grows(const ct_smoother *s)
{
    const ct__change *c = &s->change;
    if (c->gone.count || s->stats.relinearised || c->renews) return 0;
    for (int64_t k = 0; k < c->new_vars.count; k++)
        if (!s->var[c->new_vars.item[k]].fixed && !s->var[c->new_vars.item[k]].proved) return 0;
    return 1;
}

/* A variable that was proved before this update leaves the list; one that this update has proved stays on it, in
 * case the update is undone. */
ct_status ct__prove(ct_smoother *s, int *unique, ct_err *err)
{
    ct_status status = CT_OK;
    int64_t   kept = 0, missing = 0;
    for (int64_t k = 0; k < s->unproved.count; k++) {
        const int32_t slot = s->unproved.item[k];
        if (s->var[slot].index == CT_NONE || (s->var[slot].proved && s->work[slot].saved != s->stamp)) {
            s->work[slot].listed = 0;
            continue;
        }
        s->unproved.item[kept++] = slot;
        if (s->var[slot].proved || s->work[slot].leaves || status != CT_OK) continue;
        status = prove_group(s, slot, err);
        missing += !s->var[slot].proved;
    }
    s->unproved.count = kept;
    *unique = !missing || only_grows(s);
    return status;
}
