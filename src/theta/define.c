/* define.c: definition of the parameters: which models are learned, as which kind, within which bounds.
 *
 * A definition is checked before it changes anything, or undone: a refused call has no effect. After each, blocks are
 * renumbered in the order in which models and coordinates first refer to them, and unused blocks are dropped. So
 * parameter numbers depend on what is learned, and not on the order of the calls. */
#include "theta/theta.h"
#include "base/base.h"

#include <math.h>

/* The limits of variances in a noise table. */
#define BOUND_MIN 1e-150
#define BOUND_MAX 1e150

/* Bounds around values: within the limits of the table in any unit. */
#define AROUND_MIN 1e-50
#define AROUND_MAX 1e50

/* Squared units, and bounds times these, stay within the limits of the table. */
#define UNIT_MIN 1e-50
#define UNIT_MAX 1e50

#define PLACE 300 /* bytes for the names of a model, at most 255, and a row */

static void renumber(ct_theta *theta)
{
    int32_t blocks = 0, count = 0;
    for (int32_t b = 0; b < theta->blocks; b++) theta->map[b] = -1;
    theta->end = 0;
    for (int32_t i = 0; i < theta->models; i++) {
        ct__theta_model *m = &theta->model[i];
        for (int c = 0; c < m->dim; c++) {
            const int32_t old = m->block[c];
            if (old < 0) continue;
            theta->end = i + 1;
            if (theta->map[old] < 0) {
                ct__theta_block *block = &theta->spare[blocks];
                *block = theta->block[old];
                block->first = count;
                block->uses = 0;
                block->model = i;
                block->coordinate = m->kind == CT_NOISE_DIAGONAL ? c : -1;
                count += ct__packed(block->dim);
                theta->map[old] = blocks++;
            }
            m->block[c] = theta->map[old];
            theta->spare[m->block[c]].uses++;
        }
    }
    ct__theta_block *const t = theta->block;
    theta->block = theta->spare;
    theta->spare = t;
    theta->blocks = blocks;
    theta->count = count;
}

/* The same if the model lies after all learned ones: its new blocks are the last. Learning the models of a table in
 * order takes linear time. */
static void number_last(ct_theta *theta, int32_t model)
{
    const ct__theta_model *m = &theta->model[model];
    for (int c = 0; c < m->dim; c++) {
        if (m->block[c] < 0) continue;
        ct__theta_block *block = &theta->block[m->block[c]];
        block->first = theta->count;
        block->uses = 1;
        block->model = model;
        block->coordinate = m->kind == CT_NOISE_DIAGONAL ? c : -1;
        theta->count += ct__packed(block->dim);
    }
    theta->end = model + 1;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static ct_status check_model(const ct_theta *theta, int32_t model, ct_err *err)
{
    if (model >= 0 && model < theta->models) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT, "there is no noise model number %d: the table has %d", model, theta->models);
}

/* Variances between the bounds, in units, must be within the limits of the table; coordinate -1: in every row. */
static ct_status check_in_table(const ct_theta *theta, int32_t model, int coordinate, double lower, double upper,
                                ct_err *err)
{
    const ct__theta_model *m = &theta->model[model];
    for (int c = CT_MAX(coordinate, 0); c <= (coordinate < 0 ? m->dim - 1 : coordinate); c++) {
        const double square = ct__unit2(m, c, c);
        char         place[PLACE];
        if (lower * square >= BOUND_MIN && upper * square <= BOUND_MAX) continue;
        return ct_fail(
            err, CT_E_ARGUMENT,
            "%s: bounds %g and %g of variances in units of %g are %g and %g; they must lie between %g and %g",
            ct__theta_label(theta, model, c, place, sizeof place), lower, upper, m->unit[c], lower * square,
            upper * square, BOUND_MIN, BOUND_MAX);
    }
    return CT_OK;
}

static ct_status check_bounds(const ct_theta *theta, int32_t model, int coordinate, double lower, double upper,
                              ct_err *err)
{
    char place[PLACE];
    ct__theta_label(theta, model, coordinate, place, sizeof place);
    if (!(lower >= BOUND_MIN && lower <= BOUND_MAX))
        return ct_fail(err, CT_E_ARGUMENT, "%s: lower bound is %g; it must lie between %g and %g", place, lower,
                       BOUND_MIN, BOUND_MAX);
    if (!(upper >= BOUND_MIN && upper <= BOUND_MAX))
        return ct_fail(err, CT_E_ARGUMENT, "%s: upper bound is %g; it must lie between %g and %g", place, upper,
                       BOUND_MIN, BOUND_MAX);
    if (lower > upper)
        return ct_fail(err, CT_E_ARGUMENT, "%s: lower bound %g is above upper bound %g", place, lower, upper);
    return check_in_table(theta, model, coordinate, lower, upper, err);
}

static const char *kind_name(ct_noise_kind kind)
{
    return kind == CT_NOISE_ISOTROPIC ? "isotropic" : kind == CT_NOISE_DIAGONAL ? "diagonal" : "full";
}

/* The coordinate must be one of a diagonal model that is learned. */
static ct_status check_coordinate(const ct_theta *theta, int32_t model, int coordinate, ct_err *err)
{
    CT_TRY(check_model(theta, model, err));
    const ct__theta_model *m = &theta->model[model];
    const char            *name = theta->text + m->name;
    if (coordinate < 0 || coordinate >= m->dim)
        return ct_fail(err, CT_E_ARGUMENT, "%s: there is no coordinate %d: it has %d, numbered from 0", name,
                       coordinate, m->dim);
    if (!ct_theta_learns(theta, model)) return ct_fail(err, CT_E_ARGUMENT, "%s: it is not learned", name);
    if (m->kind == CT_NOISE_DIAGONAL) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT,
                   "%s: it is learned as %s, and has no coordinates of its own: those of diagonal models do", name,
                   kind_name(m->kind));
}

/* The same, and the coordinate must be learned. */
static ct_status check_learned(const ct_theta *theta, int32_t model, int coordinate, ct_err *err)
{
    char place[PLACE];
    CT_TRY(check_coordinate(theta, model, coordinate, err));
    if (theta->model[model].block[coordinate] >= 0) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT, "%s: it is frozen",
                   ct__theta_label(theta, model, coordinate, place, sizeof place));
}

/* A point with max <= spread * min exists if the largest lower bound is at most spread times the smallest upper bound:
 * all other values fit between. */
static ct_status check_spread(const ct_theta *theta, double spread, ct_err *err)
{
    const ct__theta_block *high = NULL, *low = NULL; /* of the largest lower bound, of the smallest upper one */
    char             a[PLACE] = "", b[PLACE] = "";
    if (isinf(spread)) return CT_OK;
    for (int32_t i = 0; i < theta->models; i++) {
        const ct__theta_model *m = &theta->model[i];
        for (int c = 0; c < m->dim; c++) {
            /* visited through coordinates, because theta->block may hold unused blocks */
            if (m->block[c] < 0) continue;
            const ct__theta_block *block = &theta->block[m->block[c]];
            const int        coordinate = m->kind == CT_NOISE_DIAGONAL ? c : -1;
            if (!high || block->lower > high->lower) high = block, ct__theta_label(theta, i, coordinate, a, sizeof a);
            if (!low || block->upper < low->upper) low = block, ct__theta_label(theta, i, coordinate, b, sizeof b);
        }
    }
    if (!high || high->lower <= spread * low->upper) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT, "%s is at least %g and %s at most %g: that is further apart than the spread, %g",
                   a, high->lower, b, low->upper, spread);
}

/* ---- Definitions ----------------------------------------------------------------------------- */

ct_status ct_theta_learn(ct_theta *theta, int32_t model, ct_noise_kind kind, double lower, double upper, ct_err *err)
{
    CT_TRY(check_model(theta, model, err));
    if (kind != CT_NOISE_ISOTROPIC && kind != CT_NOISE_DIAGONAL && kind != CT_NOISE_FULL)
        return ct_fail(err, CT_E_ARGUMENT, "%s: kind %d of noise models is not one",
                       theta->text + theta->model[model].name, (int)kind);
    CT_TRY(check_bounds(theta, model, -1, lower, upper, err));
    ct__theta_model      *m = &theta->model[model];
    const ct__theta_model before = *m;
    const int32_t         blocks = theta->blocks;
    const int             mine = kind == CT_NOISE_DIAGONAL ? m->dim : 1;
    m->kind = kind;
    for (int c = 0; c < m->dim; c++) {
        m->block[c] = c < mine ? theta->blocks++ : -1;
        if (c < mine)
            theta->block[m->block[c]] =
                (ct__theta_block){.dim = kind == CT_NOISE_FULL ? m->dim : 1, .lower = lower, .upper = upper};
    }
    const ct_status status = check_spread(theta, theta->spread, err);
    if (status != CT_OK) {
        *m = before;
        theta->blocks = blocks;
        return status;
    }
    if (model >= theta->end) number_last(theta, model);
    else renumber(theta);
    return CT_OK;
}

/* 1 if the rows of two users of one block have the same units. Isotropic models of different dimension must have one
 * unit in all rows. */
static int same_units(const ct__theta_model *x, int a, const ct__theta_model *y, int b)
{
    if (x->kind == CT_NOISE_DIAGONAL) return x->unit[a] == y->unit[b];
    if (x->dim != y->dim && !(ct__one_unit(x) && ct__one_unit(y))) return 0;
    for (int c = 0; c < CT_MIN(x->dim, y->dim); c++)
        if (x->unit[c] != y->unit[c]) return 0;
    return 1;
}

/* The units of a model must suit its bounds and ties. */
static ct_status check_units(const ct_theta *theta, int32_t model, ct_err *err)
{
    const ct__theta_model *m = &theta->model[model];
    for (int c = 0; c < m->dim; c++) {
        if (m->block[c] < 0) continue;
        const ct__theta_block *block = &theta->block[m->block[c]];
        const int        diagonal = m->kind == CT_NOISE_DIAGONAL;
        CT_TRY(check_in_table(theta, model, diagonal ? c : -1, block->lower, block->upper, err));
        for (int32_t i = block->model; block->uses > 1 && i < theta->models; i++)
            for (int k = 0; k < theta->model[i].dim; k++) {
                char one[PLACE], other[PLACE];
                if (theta->model[i].block[k] != m->block[c] || same_units(m, c, &theta->model[i], k)) continue;
                return ct_fail(err, CT_E_ARGUMENT,
                               "%s and %s are tied and cannot have different units; units come before ties",
                               ct__theta_label(theta, model, diagonal ? c : -1, one, sizeof one),
                               ct__theta_label(theta, i, diagonal ? k : -1, other, sizeof other));
            }
    }
    return CT_OK;
}

ct_status ct_theta_set_unit(ct_theta *theta, int32_t model, int coordinate, double unit, ct_err *err)
{
    CT_TRY(check_model(theta, model, err));
    ct__theta_model      *m = &theta->model[model];
    const ct__theta_model before = *m;
    char                  place[PLACE];
    if (coordinate < -1 || coordinate >= m->dim)
        return ct_fail(err, CT_E_ARGUMENT, "%s: there is no coordinate %d: it has %d, numbered from 0",
                       theta->text + m->name, coordinate, m->dim);
    if (!(unit >= UNIT_MIN && unit <= UNIT_MAX))
        return ct_fail(err, CT_E_ARGUMENT, "%s: its unit is %g; it must lie between %g and %g",
                       ct__theta_label(theta, model, coordinate, place, sizeof place), unit, UNIT_MIN, UNIT_MAX);
    for (int c = 0; c < m->dim; c++)
        if (coordinate < 0 || c == coordinate) m->unit[c] = unit;
    const ct_status status = check_units(theta, model, err);
    if (status != CT_OK) *m = before;
    return status;
}

ct_status ct_theta_bound(ct_theta *theta, int32_t model, int coordinate, double lower, double upper, ct_err *err)
{
    CT_TRY(check_learned(theta, model, coordinate, err));
    CT_TRY(check_bounds(theta, model, coordinate, lower, upper, err));
    ct__theta_block      *block = &theta->block[theta->model[model].block[coordinate]];
    const ct__theta_block before = *block;
    block->lower = lower;
    block->upper = upper;
    block->origin = CT_BOUND_GIVEN;
    const ct_status status = check_spread(theta, theta->spread, err);
    if (status != CT_OK) *block = before;
    return status;
}

ct_status ct_theta_bound_is_default(ct_theta *theta, int32_t model, int coordinate, ct_err *err)
{
    CT_TRY(check_model(theta, model, err));
    if (coordinate != -1) CT_TRY(check_learned(theta, model, coordinate, err));
    const ct__theta_model *m = &theta->model[model];
    for (int c = 0; c < m->dim; c++)
        if ((coordinate == -1 || c == coordinate) && m->block[c] >= 0)
            theta->block[m->block[c]].origin = CT_BOUND_DEFAULT;
    return CT_OK;
}

ct_bound_origin ct_theta_bound_origin(const ct_theta *theta, int32_t i)
{
    return i >= 0 && i < theta->count ? ct__theta_find_block(theta, i)->origin : CT_BOUND_ORIGIN_COUNT;
}

/* The range of variances around a block at p. */
static void range_around(const ct__theta_block *block, const double *p, double factor, double *lower, double *upper)
{
    double lambda[CT_NOISE_DIM_MAX], V[CT__BLOCK_MAX];
    ct__sym_spectrum(block->dim, p + block->first, lambda, V);
    double least = lambda[0], most = lambda[0];
    for (int i = 1; i < block->dim; i++) least = fmin(least, lambda[i]), most = fmax(most, lambda[i]);
    *lower = fmin(fmax(exp(least) / factor, AROUND_MIN), AROUND_MAX);
    *upper = fmin(fmax(exp(most) * factor, AROUND_MIN), AROUND_MAX);
}

ct_status ct_theta_bound_around(ct_theta *theta, const double *p, double factor, int32_t *changed, ct_err *err)
{
    int32_t n = 0;
    if (!(factor >= 1 && factor <= 1e10))
        return ct_fail(err, CT_E_ARGUMENT, "bounds by a factor of %g: it must lie between 1 and 1e10", factor);
    for (int32_t i = 0; i < theta->count; i++)
        if (!isfinite(p[i])) return ct_fail(err, CT_E_ARGUMENT, "parameter %d is %g: it must be finite", i, p[i]);
    memcpy(theta->spare, theta->block, (size_t)theta->blocks * sizeof *theta->block);
    for (int32_t b = 0; b < theta->blocks; b++) {
        ct__theta_block *block = &theta->block[b];
        if (block->origin != CT_BOUND_DEFAULT) continue;
        range_around(block, p, factor, &block->lower, &block->upper);
        block->origin = CT_BOUND_FROM_DATA;
        n++;
    }
    const ct_status status = check_spread(theta, theta->spread, err);
    if (status != CT_OK) memcpy(theta->block, theta->spare, (size_t)theta->blocks * sizeof *theta->block);
    if (changed) *changed = status == CT_OK ? n : 0;
    return status;
}

ct_status ct_theta_bound_spread(ct_theta *theta, const double *p, ct_err *err)
{
    double least = INFINITY, most = 0;
    if (!isfinite(theta->spread) || theta->blocks == 0) return CT_OK;
    for (int32_t i = 0; i < theta->count; i++)
        if (!isfinite(p[i])) return ct_fail(err, CT_E_ARGUMENT, "parameter %d is %g: it must be finite", i, p[i]);
    for (int32_t b = 0; b < theta->blocks; b++) {
        double lower, upper;
        range_around(&theta->block[b], p, 1, &lower, &upper);
        least = fmin(least, lower);
        most = fmax(most, upper);
    }
    if (most > least * theta->spread * (1 + 1e-9))
        return ct_fail(err, CT_E_ARGUMENT, "variances from %g to %g have a spread of %g; at most %g is allowed", least,
                       most, most / least, theta->spread);
    const double floor = sqrt(least * most / theta->spread);
    for (int32_t b = 0; b < theta->blocks; b++) {
        ct__theta_block *block = &theta->block[b];
        block->lower = fmax(block->lower, floor);
        block->upper = fmin(block->upper, floor * theta->spread);
    }
    return CT_OK;
}

ct_status ct_theta_freeze(ct_theta *theta, int32_t model, int coordinate, ct_err *err)
{
    CT_TRY(check_model(theta, model, err));
    ct__theta_model *m = &theta->model[model];
    if (coordinate != -1) {
        CT_TRY(check_coordinate(theta, model, coordinate, err));
        m->block[coordinate] = -1;
    } else {
        for (int c = 0; c < m->dim; c++) m->block[c] = -1;
    }
    renumber(theta);
    return CT_OK;
}

ct_status ct_theta_set_spread(ct_theta *theta, double spread, ct_err *err)
{
    if (!(spread >= 1))
        return ct_fail(err, CT_E_ARGUMENT, "spread is %g; it must be at least 1, infinite for none", spread);
    CT_TRY(check_spread(theta, spread, err));
    theta->spread = spread;
    return CT_OK;
}

/* ---- Ties ------------------------------------------------------------------------------------ */

static int32_t root(const ct_theta *theta, int32_t block)
{
    while (theta->map[block] != block) block = theta->map[block];
    return block;
}

/* Join the blocks of two coordinates (-1: of a model with one block). Works on a trial copy: bounds are in `spare`, and
 * `map` is a union-find forest of blocks. */
static ct_status join(ct_theta *theta, int32_t a, int coordinate_a, int32_t b, int coordinate_b, ct_err *err)
{
    const int32_t to = root(theta, theta->model[a].block[CT_MAX(coordinate_a, 0)]),
                  from = root(theta, theta->model[b].block[CT_MAX(coordinate_b, 0)]);
    ct__theta_block    *x = &theta->spare[to], *y = &theta->spare[from];
    char          one[PLACE], other[PLACE];
    if (!same_units(&theta->model[a], CT_MAX(coordinate_a, 0), &theta->model[b], CT_MAX(coordinate_b, 0)))
        return ct_fail(err, CT_E_ARGUMENT, "%s and %s cannot be tied: their units differ",
                       ct__theta_label(theta, a, coordinate_a, one, sizeof one),
                       ct__theta_label(theta, b, coordinate_b, other, sizeof other));
    const double  lower = CT_MAX(x->lower, y->lower), upper = CT_MIN(x->upper, y->upper);
    if (lower > upper)
        return ct_fail(err, CT_E_ARGUMENT, "%s and %s cannot be tied: nothing lies both in %g .. %g and in %g .. %g",
                       ct__theta_label(theta, a, coordinate_a, one, sizeof one),
                       ct__theta_label(theta, b, coordinate_b, other, sizeof other), x->lower, x->upper, y->lower,
                       y->upper);
    x->lower = lower;
    x->upper = upper;
    if (y->origin == CT_BOUND_GIVEN) x->origin = CT_BOUND_GIVEN;
    theta->map[from] = to;
    return CT_OK;
}

/* Conditions for tying two whole models. */
static ct_status check_alike(const ct_theta *theta, int32_t a, int32_t b, ct_err *err)
{
    const ct__theta_model *x = &theta->model[a], *y = &theta->model[b];
    const char            *one = theta->text + x->name, *other = theta->text + y->name;
    for (int k = 0; k < 2; k++)
        if (!ct_theta_learns(theta, k ? b : a))
            return ct_fail(err, CT_E_ARGUMENT, "%s and %s cannot be tied: %s is not learned", one, other,
                           k ? other : one);
    if (x->kind != y->kind)
        return ct_fail(err, CT_E_ARGUMENT, "%s and %s cannot be tied: one is learned as %s, the other as %s", one,
                       other, kind_name(x->kind), kind_name(y->kind));
    if (x->kind != CT_NOISE_ISOTROPIC && x->dim != y->dim)
        return ct_fail(err, CT_E_ARGUMENT, "%s and %s cannot be tied: their dimensions are %d and %d", one, other,
                       x->dim, y->dim);
    for (int c = 0; x->kind == CT_NOISE_DIAGONAL && c < x->dim; c++) {
        char place[PLACE];
        if ((x->block[c] < 0) != (y->block[c] < 0))
            return ct_fail(err, CT_E_ARGUMENT, "%s and %s cannot be tied: %s is frozen", one, other,
                           ct__theta_label(theta, x->block[c] < 0 ? a : b, c, place, sizeof place));
    }
    return CT_OK;
}

static ct_status join_models(ct_theta *theta, int32_t a, int32_t b, ct_err *err)
{
    const ct__theta_model *m = &theta->model[a];
    if (m->kind != CT_NOISE_DIAGONAL) return join(theta, a, -1, b, -1, err);
    for (int c = 0; c < m->dim; c++)
        if (m->block[c] >= 0) CT_TRY(join(theta, a, c, b, c, err));
    return CT_OK;
}

ct_status ct_theta_tie(ct_theta *theta, int32_t a, int coordinate_a, int32_t b, int coordinate_b, ct_err *err)
{
    CT_TRY(check_model(theta, a, err));
    CT_TRY(check_model(theta, b, err));
    const int whole = coordinate_a == -1 && coordinate_b == -1;
    if (whole) CT_TRY(check_alike(theta, a, b, err));
    else {
        CT_TRY(check_learned(theta, a, coordinate_a, err));
        CT_TRY(check_learned(theta, b, coordinate_b, err));
    }
    memcpy(theta->spare, theta->block, (size_t)theta->blocks * sizeof *theta->block);
    for (int32_t i = 0; i < theta->blocks; i++) theta->map[i] = i;
    CT_TRY(whole ? join_models(theta, a, b, err) : join(theta, a, coordinate_a, b, coordinate_b, err));

    for (int32_t i = 0; i < theta->blocks; i++) theta->block[i] = theta->spare[i];
    for (int32_t i = 0; i < theta->models; i++)
        for (int c = 0; c < theta->model[i].dim; c++)
            if (theta->model[i].block[c] >= 0) theta->model[i].block[c] = root(theta, theta->model[i].block[c]);
    renumber(theta);
    return CT_OK;
}
