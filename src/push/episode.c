/* episode.c: simulated pushes. Friction, pressure and motion vary per world, per push and along a push, so that the
 * estimator's model of pushing is approximate.
 *
 * A world (a seed) has a friction and a motion-capture calibration error. A push varies the friction, starts
 * anywhere on the outline and steers towards the centre of friction or along a curve. Per substep
 *
 *     heading += (bend + seek (direction of the centre - heading)) / 10
 *     rotation of the hand = (0.7 bend + comply tilt) / 10 + 0.3 w,   w <- 0.98 w + N(0, 6e-4^2)
 *
 * A push in which the finger loses the object, or the object rotates by more than 2.2 rad, is drawn again. Motion
 * capture measures o o cal_o o Exp(e), and the same for the fingertip: the recorded poses are the truth, as in an
 * experiment. */
#include <covtune/push.h>
#include "push/push.h"

#include <math.h>

#define SUBSTEPS 10
#define SUBSTEP  0.25e-3 /* m                                                                       */
#define TURN_MAX 2.2     /* rad                                                                     */
#define TRIES    1000    /* of 100 steps: one in a few is rejected; more mean that it is impossible */

static const double TWO_PI = 6.28318530717958647692;

/* Half lengths, and LEO's limit-surface constant (nine and fourteen times that of even pressure). */
static const struct {
    double half[2], c2;
} OBJECT[] = {[CT_SHAPE_ELLIPSE] = {{0.0819, 0.1214}, 0.04133}, [CT_SHAPE_RECTANGLE] = {{0.11815, 0.07895}, 0.08077}};

ct_push_options ct_push_defaults(ct_shape_kind object)
{
    const double c2 = object == CT_SHAPE_ELLIPSE || object == CT_SHAPE_RECTANGLE ? OBJECT[object].c2 : NAN;
    return (ct_push_options){.object = object,
                             .episodes = 3,
                             .steps = 100,
                             .window = 10,
                             .windows = 10,
                             .tactile_sigma = 5e-3,
                             .prior_sigma = 1e-5,
                             .c2 = c2,
                             .pool = 20,
                             .seed = 1};
}

ct_status ct__push_check(const ct_push_options *o, int pool, ct_err *err)
{
    if (o->object != CT_SHAPE_ELLIPSE && o->object != CT_SHAPE_RECTANGLE)
        return ct_fail(err, CT_E_ARGUMENT, "what is pushed is an ellipse or a rectangle, not object %d",
                       (int)o->object);
    if (o->steps < 2) return ct_fail(err, CT_E_ARGUMENT, "a push needs at least 2 steps, %d were asked for", o->steps);
    if (pool < 0 || pool > 2)
        return ct_fail(err, CT_E_ARGUMENT,
                       "pushes are of pool 0 (training), 1 (test) or 2 (for networks), not of pool %d", pool);
    return CT_OK;
}

ct_status ct__push_check_windows(const ct_push_options *o, ct_err *err)
{
    if (o->window < 1)
        return ct_fail(err, CT_E_ARGUMENT, "window is %d; a turn is measured over 1 or more steps", o->window);
    if (o->windows < 1)
        return ct_fail(err, CT_E_ARGUMENT, "windows is %d; a step is compared with 1 or more before", o->windows);
    if (o->windows > INT32_MAX - o->window)
        return ct_fail(err, CT_E_ARGUMENT, "windows is %d, from %d steps on: more than there can be", o->windows,
                       o->window);
    return CT_OK;
}

ct_status ct__push_shape(ct_shape_kind object, ct_shape **out, ct_err *err)
{
    const double *half = OBJECT[object].half;
    return object == CT_SHAPE_ELLIPSE ? ct_shape_ellipse(half[0], half[1], out, err)
                                      : ct_shape_rectangle(half[0], half[1], out, err);
}

ct_rng ct__push_stream(const ct_push_options *options, ct__push_stream_kind kind, int pool, uint64_t number)
{
    return ct__rng_stream(options->seed, number, 3 * (uint64_t)kind + (uint64_t)pool);
}

static double between(ct_rng *rng, double least, double most) { return least + (most - least) * ct_rng_uniform(rng); }

/* ---- Worlds ---------------------------------------------------------------------------------- */

/* What all pushes of a world share. */
typedef struct {
    ct__push_table table;
    ct_se2         object, finger; /* from the moving body to the frame that motion capture tracks */
} world;

static ct_se2 draw_offset(ct_rng *rng, double metres, double radians)
{
    const double x = metres * ct_rng_normal(rng), y = metres * ct_rng_normal(rng);
    return ct_se2_exp((const double[3]){x, y, radians * ct_rng_normal(rng)});
}

static void draw_world(const ct_push_options *o, const ct_shape *shape, world *w)
{
    ct_rng rng = ct__push_stream(o, CT__PUSH_WORLD, 0, 0);
    double area, radius;
    ct_shape_moments(shape, &area, &radius, NULL); /* c of even pressure is the mean distance from the centre */
    ct__push_table *t = &w->table;
    *t = (ct__push_table){.shape = shape};
    t->c = radius * between(&rng, 0.85, 1.15);
    for (int i = 0; i < 2; i++) t->centre[i] = between(&rng, -10e-3, 10e-3);
    t->stretch = exp(between(&rng, -0.15, 0.15));
    t->mu = between(&rng, 0.65, 0.95);
    w->object = draw_offset(&rng, 2e-3, 0.01);
    w->finger = draw_offset(&rng, 2e-3, 0.01);
}

/* ---- One push -------------------------------------------------------------------------------- */

/* Motion of the hand. */
typedef struct {
    double heading, bend, seek, comply, wander; /* rad; rad per step; 1 per step; 1 per step; rad per substep */
} hand;

static void vary(ct__push_table *t, ct_rng *rng)
{
    t->c *= exp(0.125 * ct_rng_normal(rng));
    for (int i = 0; i < 2; i++) t->centre[i] += 2.5e-3 * ct_rng_normal(rng);
    t->stretch *= exp(0.075 * ct_rng_normal(rng));
    t->mu *= exp(0.125 * ct_rng_normal(rng));
    t->ripple = 0.15;
    t->phase = between(rng, 0, TWO_PI);
    t->wave = between(rng, 20, 60);
}

enum { STRAIGHT, CURVED, CORNER };

/* A point p of the outline and the normal n into the object: for an ellipse at a uniform parameter; for a rectangle
 * on one of the sides, in the middle half or, with CORNER, near its end. */
static void draw_start(ct_shape_kind object, int manner, ct_rng *rng, double p[2], double n[2])
{
    const double *half = OBJECT[object].half;
    if (object == CT_SHAPE_ELLIPSE) {
        const double a = between(rng, 0, TWO_PI), g[2] = {cos(a) / half[0], sin(a) / half[1]},
                     length = hypot(g[0], g[1]);
        p[0] = half[0] * cos(a), p[1] = half[1] * sin(a);
        n[0] = -g[0] / length, n[1] = -g[1] / length;
        return;
    }
    const int axis = (int)(ct_rng_bits(rng) >> 63), sign = ct_rng_bits(rng) >> 63 ? 1 : -1,
              end = ct_rng_bits(rng) >> 63 ? 1 : -1;
    const double along = manner == CORNER ? end * between(rng, 0.55, 0.95) : between(rng, -0.55, 0.55);
    p[axis] = sign * half[axis], p[1 - axis] = along * half[1 - axis];
    n[axis] = -sign, n[1 - axis] = 0;
}

static void start(const ct_push_options *o, const ct__push_table *t, ct_rng *rng, ct__push_state *x, hand *h)
{
    const int manner = (int)(ct_rng_uniform(rng) * (o->object == CT_SHAPE_RECTANGLE ? 3 : 2));
    double    p[2], n[2];
    draw_start(o->object, manner, rng, p, n);
    const double inward = atan2(n[1], n[0]), towards = atan2(t->centre[1] - p[1], t->centre[0] - p[0]);
    const double yaw = inward - TWO_PI / 4 - between(rng, -0.2, 0.2);
    *x = (ct__push_state){.object = ct_se2_identity(),
                          .finger = ct_se2_make(p[0] - CT__PUSH_REACH * n[0], p[1] - CT__PUSH_REACH * n[1], yaw)};
    h->heading = inward + 0.6 * remainder(towards - inward, TWO_PI) + between(rng, -0.15, 0.15);
    h->bend = manner == STRAIGHT ? 0 : between(rng, -0.012, 0.012);
    h->seek = between(rng, 0, manner == STRAIGHT ? 0.004 : 0.02);
    h->comply = between(rng, 0, 0.03);
    h->wander = 0;
}

/* The next motion of the hand: its rotation, and the finger's step. */
static double steer(hand *h, const ct__push_table *t, const ct__push_state *x, double tilt, ct_rng *rng, double step[2])
{
    double centre[2];
    ct_se2_act(x->object, t->centre, centre, NULL, NULL);
    h->heading +=
        (h->bend + h->seek * remainder(atan2(centre[1] - x->finger.y, centre[0] - x->finger.x) - h->heading, TWO_PI)) /
        SUBSTEPS;
    h->wander = 0.98 * h->wander + 6e-4 * ct_rng_normal(rng);
    step[0] = SUBSTEP * cos(h->heading);
    step[1] = SUBSTEP * sin(h->heading);
    return (0.7 * h->bend + h->comply * tilt) / SUBSTEPS + 0.3 * h->wander;
}

/* The record of a step. */
typedef struct {
    ct__push_state x;
    double         tilt, shear, load;
} record;

static const char *advance(hand *h, ct_rng *rng, ct__push_substep *s)
{
    double      step[2];
    const char *why = ct__push_touch(&s->table, &s->after, &s->contact);
    if (why) return why;
    s->before = s->after;
    const double turn = steer(h, &s->table, &s->before, s->contact.tilt, rng, step);
    return ct__push_advance(&s->table, &s->contact, step, turn, &s->after, &s->motion);
}

/* Fills `steps` records. Returns NULL, or why it failed, with the step in *at. */
static const char *push(const ct_push_options *o, const world *w, ct_rng *rng, ct__push_watch watch, void *user,
                        record *records, double *sliding, int *at)
{
    ct__push_substep s = {.table = w->table};
    hand             h;
    int64_t          slid = 0;
    vary(&s.table, rng);
    start(o, &s.table, rng, &s.after, &h);
    for (*at = 0; *at < o->steps; ++*at) {
        for (int k = 0; k < SUBSTEPS; k++) {
            s.step = *at;
            s.substep = k;
            const char *why = advance(&h, rng, &s);
            if (why) return why;
            if (watch) watch(user, &s);
            if (k == 0) records[*at] = (record){s.before, s.contact.tilt, s.motion.shear, s.motion.load};
            slid += s.motion.sliding;
        }
        if (fabs(ct_se2_yaw(s.after.object)) > TURN_MAX) return "turns the object too far";
    }
    *sliding = (double)slid / ((double)o->steps * SUBSTEPS);
    return NULL;
}

/* ---- Episodes -------------------------------------------------------------------------------- */

void ct_push_episode_free(ct_push_episode *episode)
{
    if (!episode) return;
    free(episode->object);
    free(episode->finger);
    free(episode->image);
    *episode = (ct_push_episode){0};
}

static ct_se2 capture(ct_se2 x, ct_se2 offset, ct_rng *rng)
{
    const ct_se2 seen = ct_se2_compose(x, offset, NULL, NULL);
    return ct_se2_normalize(ct_se2_compose(seen, draw_offset(rng, 0.1e-3, 0.5e-3), NULL, NULL));
}

static ct_status fill(const ct_push_options *o, const world *w, int pool, uint64_t number, ct__push_watch watch,
                      void *user, record *records, ct_push_episode *out, ct_err *err)
{
    const ct_se2 tip = {0, CT__PUSH_RADIUS, 1, 0};
    ct_rng path = ct__push_stream(o, CT__PUSH_PATH, pool, number),
           jitter = ct__push_stream(o, CT__PUSH_CAPTURE, pool, number);
    ct__push_pad pad = ct__push_pad_draw(ct__push_stream(o, CT__PUSH_PAD, pool, number));
    const char  *why = "";
    int          at;
    for (int tries = 0; why && tries < TRIES; tries++)
        why = push(o, w, &path, watch, user, records, &out->sliding, &at);
    if (why)
        return ct_fail(err, CT_E_ARGUMENT,
                       "no push of %d steps was found in %d tries; in the last the finger %s at step %d", o->steps,
                       TRIES, why, at);
    for (int t = 0; t < o->steps; t++) {
        const record *r = &records[t];
        out->object[t] = capture(r->x.object, w->object, &jitter);
        out->finger[t] = capture(ct_se2_compose(r->x.finger, tip, NULL, NULL), w->finger, &jitter);
        ct__push_render(&pad, r->tilt, r->shear, r->load, out->image + (int64_t)t * CT_PUSH_PIXELS);
    }
    return CT_OK;
}

ct_status ct__push_episode(const ct_push_options *o, int pool, uint64_t number, ct__push_watch watch, void *user,
                           ct_push_episode *out, ct_err *err)
{
    *out = (ct_push_episode){0};
    CT_TRY(ct__push_check(o, pool, err));
    ct_shape *shape;
    CT_TRY(ct__push_shape(o->object, &shape, err));
    ct_push_episode e = {.steps = o->steps};
    e.object = ct__zalloc(o->steps, sizeof *e.object);
    e.finger = ct__zalloc(o->steps, sizeof *e.finger);
    e.image = ct__zalloc((int64_t)o->steps * CT_PUSH_PIXELS, sizeof *e.image);
    record   *records = ct__zalloc(o->steps, sizeof *records);
    world     w;
    ct_status status =
        e.object && e.finger && e.image && records ? CT_OK : ct__no_memory(err, "steps of a push", o->steps);
    if (status == CT_OK) {
        draw_world(o, shape, &w);
        status = fill(o, &w, pool, number, watch, user, records, &e, err);
    }
    free(records);
    ct_shape_free(shape);
    if (status == CT_OK) *out = e;
    else ct_push_episode_free(&e);
    return status;
}

ct_status ct_simulate_push_episode(const ct_push_options *options, int pool, uint64_t number, ct_push_episode *out,
                                   ct_err *err)
{
    return ct__push_episode(options, pool, number, NULL, NULL, out, err);
}

double ct_push_relative_yaw(const ct_push_episode *episode, int i, int j)
{
    if (i < 0 || j < 0 || i >= episode->steps || j >= episode->steps) return NAN;
    const ct_se2 before = ct_se2_between(episode->object[i], episode->finger[i], NULL, NULL),
                 after = ct_se2_between(episode->object[j], episode->finger[j], NULL, NULL);
    return ct_se2_yaw(ct_se2_between(before, after, NULL, NULL));
}
