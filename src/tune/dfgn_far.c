/* dfgn_far.c: where linear models do not hold.
 *
 * Far from the minimum a linear model may not hold at any distance: estimates follow one sensor alone, and residuals do
 * not change until a parameter has moved by decades. Two steps of which the model was far off, and none of which it was
 * right in much, are the sign. Then points of the whole bounds are run (search_global.c). A search may end on such a
 * plateau, too, or in a gap between jumps. So before the end, coordinates without curvature are moved far, one at a
 * time, and together with those that went far they are taken back to the start. Where the search gained little, or
 * residuals jump between neighbours, points of the whole bounds are run, and among jumps points around, as long as that
 * gains. */
#include "tune/dfgn.h"

#include <math.h>

#define MISPREDICTED 2    /* steps; then points of the whole bounds are run                       */
#define MOST_COARSE  3
#define MOST_ELSEWHERE 3  /* ends after which points elsewhere are run, as long as that gains      */
#define LITTLE       0.5  /* of the loss of the start: a search that ends above may have begun in a wrong valley  */
#define PLATEAU      0.01 /* of the loss: curvature of a coordinate on a plateau                  */
#define AWAY         2.0  /* of a log variance from others, on a plateau                          */
#define FAR_AWAY     8.0  /* ... where a model of points before the plateau hides it              */
#define MOST_ON_LOSS 1    /* searches of the loss alone                                       */
#define LOSS_POINTS  10   /* times n + 1, at most: the first model of BOBYQA has 2 n + 1 points  */
#define NEARLY       1.05 /* times the loss: a far point that has less may lie in another valley  */

static int is_number(const ct__tuner *t, int32_t k)
{
    return t->problem->parameter[t->c.parameter[k]].quantity == CT_QUANTITY_NUMBER;
}

/* The search goes on at p, if that is better by more than noise. */
static int move_to(ct__dfgn *d, ct__tune_point *p)
{
    const double least = fmax(d->t->options.relative * d->base->loss, 2 * d->t->noise_loss);
    if (d->stop || !p || !(p->loss < d->base->loss - least)) return 0;
    d->base = p;
    d->fresh = INFINITY;
    d->radius = CT__FIRST_RADIUS;
    d->bad = d->small = 0;
    return 1;
}

ct_status ct__dfgn_complete_first(ct__dfgn *d)
{
    ct__tuner    *t = d->t;
    const int32_t k = t->put_off;
    t->put_off = -1;
    return k < 0 || t->cancelled ? CT_OK : ct__first_points(t, d->from, CT__FIRST_STEP, d->first);
}

int ct__dfgn_is_far(const ct__dfgn *d)
{
    return d->mispredicted >= MISPREDICTED && !d->valid && d->coarse < MOST_COARSE && d->t->options.global;
}

int ct__dfgn_may_be_local(const ct__dfgn *d)
{
    const double loss = d->base->loss;
    if (!d->t->options.global || d->elsewhere >= MOST_ELSEWHERE) return 0;
    if (!(loss > CT__RESOLVED * d->t->start->loss)) return 0;
    return d->jumped || (loss > LITTLE * d->from->loss && !d->coarse);
}

ct_status ct__dfgn_search_bounds(ct__dfgn *d)
{
    ct__tune_point *best = NULL;
    d->mispredicted = 0;
    d->coarse++;
    CT_TRY(ct__dfgn_complete_first(d));
    if (d->t->cancelled) return CT_OK;
    CT_TRY(ct__coarse_points(d->t, &d->rng, d->base, &best));
    ct__dfgn_note_stop(d);
    if (!move_to(d, best)) return CT_OK;
    CT_TRY(ct__dfgn_refresh(d, CT__FIRST_STEP));
    d->fresh = INFINITY;
    return CT_OK;
}

/* Points of the whole bounds, and along single coordinates, on the first log; the best of them on all logs. */
static ct_status run_far_points(ct__dfgn *d, ct__tune_point **best)
{
    ct__tuner      *t = d->t;
    ct__tune_point *on_axis = NULL;
    ct__use_logs(t, 0, ct__first_logs(t));
    ct_status status = ct__axis_points(t, d->base, NULL, &on_axis);
    if (status == CT_OK && !t->cancelled) status = ct__coarse_points(t, &d->rng, d->base, best);
    if (on_axis && (!*best || on_axis->loss < (*best)->loss)) *best = on_axis;
    if (*best && !((*best)->loss < d->base->loss)) *best = NULL;
    ct__use_logs(t, 0, d->used);
    return status == CT_OK && *best && !t->cancelled ? ct__evaluate(t, 1, best, CT__TRAIN, t->repeats) : status;
}

int ct__dfgn_is_among_jumps(const ct__dfgn *d)
{
    const ct_tune_options *o = &d->t->options;
    return o->global && !(d->t->noise > 0) && d->on_loss < MOST_ON_LOSS && d->radius <= o->step &&
           d->base->loss > CT__RESOLVED * d->t->start->loss;
}

/* Gates and switches of a filter make residuals jump at many places: the difference of two points is a jump, and tells
 * no slope. A quadratic of the loss through points that are farther apart than the jumps tells where it falls. */
ct_status ct__dfgn_search_loss(ct__dfgn *d)
{
    ct__tune_point *best = d->base;
    ct_tune_stop    how;
    d->on_loss++;
    CT_TRY(ct__minimise_loss(d->t, CT_TUNE_BOBYQA, LOSS_POINTS * (d->n + 1), d->base, &best, &how));
    ct__dfgn_note_stop(d);
    return move_to(d, best) ? ct__dfgn_refresh(d, CT__SECOND_STEP) : CT_OK;
}

static int gains(const ct__dfgn *d, const ct__tune_point *p)
{
    return p && ct__is_done(p) && p->loss < d->base->loss;
}

/* Among jumps a search ends at any of them: points around, further than they reach, tell where it is lower. */
ct_status ct__dfgn_search_elsewhere(ct__dfgn *d)
{
    ct__tune_point *best = NULL;
    CT_TRY(run_far_points(d, &best));
    ct__dfgn_note_stop(d);
    if (!gains(d, best)) best = NULL;
    if (!best && d->jumped && !d->stop) {
        CT_TRY(ct__points_around(d->t, &d->rng, d->base, CT__FIRST_STEP, &best));
        ct__dfgn_note_stop(d);
    }
    d->elsewhere = gains(d, best) && move_to(d, best) ? d->elsewhere + 1 : MOST_ELSEWHERE;
    if (d->base != best) return CT_OK;
    d->jumped = 0;
    CT_TRY(ct__dfgn_refresh(d, CT__FIRST_STEP));
    d->fresh = INFINITY;
    return CT_OK;
}

/* A far point that is nearly as good as the base may lie in another valley, where the other coordinates have another
 * minimum: one step from there tells. */
static ct_status step_from(ct__dfgn *d, ct__tune_point *far)
{
    ct__dfgn before = *d;
    double predicted, size;
    d->base = far;
    CT_TRY(ct__dfgn_refresh(d, CT__SECOND_STEP));
    if (d->t->cancelled) return CT_OK;
    CT_TRY(ct__dfgn_minimise(d, &predicted, &size));
    if (predicted > 0) CT_TRY(ct__dfgn_step(d, predicted, size));
    ct__tune_point *found = d->base;
    before.stop = d->stop;
    before.far_steps++;
    *d = before;
    d->model.base = d->base;
    move_to(d, found);
    return CT_OK;
}

/* How far the variances went from the start; 0 without them. */
static double median_variance(const ct__dfgn *d)
{
    const ct__tuner *t = d->t;
    int64_t count = 0;
    for (int32_t k = 0; k < d->n; k++)
        if (!ct__coordinates_held(&t->c, k) && !is_number(t, k)) d->s[count++] = d->base->x[k];
    return count ? ct_median(count, d->s) : 0;
}

/* A sensor that is switched off, as by a sigma at its bound, has no slope in any of its parameters: a long step went
 * over the edge of a plateau, and the search sees no way back. So all coordinates that are flat, or farther than others
 * by decades, return to the start together, moved as the others did: ratios are what matters. NULL: there are none. */
static ct_status point_of_return(const ct__dfgn *d, ct__tune_point **out)
{
    const double median = median_variance(d);
    int far = 0;
    *out = NULL;
    for (int32_t k = 0; k < d->n; k++) {
        const double back = is_number(d->t, k) ? 0 : median, way = fabs(d->base->x[k] - back);
        const int flat = d->model.H[k * d->n + k] <= PLATEAU * d->base->loss;
        const int returns = !ct__coordinates_held(&d->t->c, k) && (flat ? way > AWAY : way > FAR_AWAY);
        d->x[k] = returns ? back : d->base->x[k];
        far |= returns;
    }
    return far ? ct__point_at(d->t, d->x, out) : CT_OK;
}

ct_status ct__dfgn_probe_flat(ct__dfgn *d)
{
    ct__tune_point *best = NULL, *back;
    d->probed = d->base->loss;
    CT_TRY(point_of_return(d, &back));
    CT_TRY(ct__axis_points(d->t, d->base, d->model.H, &best));
    if (back && isnan(back->loss) && !d->t->cancelled && ct__points_left(d->t)) {
        CT_TRY(ct__evaluate(d->t, 1, &back, CT__TRAIN, d->t->repeats));
        if (ct__is_done(back) && (!best || back->loss < best->loss)) best = back;
    }
    ct__dfgn_note_stop(d);
    if (move_to(d, best) || d->stop || !best || d->far_steps || d->t->noise > 0 || d->used < d->t->trains) return CT_OK;
    return best->loss < NEARLY * d->base->loss ? step_from(d, best) : CT_OK;
}
