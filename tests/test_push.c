/* test_push.c: the law of pushing, and episodes that follow it. */
#include <covtune/push.h>
#include "ct_test.h"
#include "push/push.h"

static const ct_shape_kind OBJECT[2] = {CT_SHAPE_ELLIPSE, CT_SHAPE_RECTANGLE};

static ct_push_options options(int object, uint64_t seed)
{
    ct_push_options o = ct_push_defaults(OBJECT[object]);
    o.seed = seed;
    return o;
}

static ct_shape *shape_of(int object)
{
    ct_shape *shape = NULL;
    ct_err    err = {0};
    CHECK_OK(ct__push_shape(OBJECT[object], &shape, &err), err);
    return shape;
}

static ct_push_episode make(const ct_push_options *o, int pool, uint64_t number, ct__push_watch watch, void *user)
{
    ct_push_episode episode;
    ct_err          err = {0};
    CHECK_OK(ct__push_episode(o, pool, number, watch, user, &episode, &err), err);
    return episode;
}

static double dot(const double a[2], const double b[2]) { return a[0] * b[0] + a[1] * b[1]; }

/* ---- the law, at one contact ---- */

typedef struct {
    ct__push_table   table;
    ct__push_contact contact;
    double           mu, v[2];
} pushed;

/* Any contact, any table, any direction into the object. */
static pushed draw_pushed(ct_rng *rng)
{
    pushed p = {.table = {.c = 0.03 + 0.1 * ct_rng_uniform(rng), .stretch = exp(0.3 * ct_rng_normal(rng))},
                .mu = 1.5 * ct_rng_uniform(rng)};
    const double a = 6.28 * ct_rng_uniform(rng), off = 1.4 * (2 * ct_rng_uniform(rng) - 1);
    for (int i = 0; i < 2; i++)
        p.contact.point[i] = 0.1 * ct_rng_normal(rng), p.table.centre[i] = 0.01 * ct_rng_normal(rng);
    p.contact.normal[0] = cos(a), p.contact.normal[1] = sin(a);
    p.v[0] = 3e-4 * cos(a + off), p.v[1] = 3e-4 * sin(a + off);
    return p;
}

/* How the object's material at the contact moves. */
static void material(const pushed *p, const double twist[3], double u[2])
{
    u[0] = twist[0] - twist[2] * (p->contact.point[1] - p->table.centre[1]);
    u[1] = twist[1] + twist[2] * (p->contact.point[0] - p->table.centre[0]);
}

/* Work that friction under the object takes, in units of f: half the square of the twist in the norm of the limit
 * surface. */
static double resistance(const pushed *p, const double twist[3])
{
    const double c2 = p->table.c * p->table.c;
    return 0.5 *
           (twist[0] * twist[0] / p->table.stretch + twist[1] * twist[1] * p->table.stretch + twist[2] * twist[2] * c2);
}

static void check_sticking(const pushed *p, const ct__push_motion *m, const double u[2])
{
    for (int i = 0; i < 2; i++) CHECK_NEAR(u[i], p->v[i], 1e-16);
    CHECK_NEAR(m->slip, 0, 1e-16);
    CHECK(fabs(m->shear) <= p->mu);
    for (int k = -1; k <= 1; k += 2) { /* of all motions that go along with the finger it is the easiest */
        const double w = m->twist[2] + k * 1e-4,
                     r[2] = {p->contact.point[0] - p->table.centre[0], p->contact.point[1] - p->table.centre[1]};
        CHECK(resistance(p, (const double[3]){p->v[0] + w * r[1], p->v[1] - w * r[0], w}) > resistance(p, m->twist));
    }
}

static void check_sliding(const pushed *p, const ct__push_motion *m, const double u[2])
{
    const double *n = p->contact.normal, t[2] = {-n[1], n[0]};
    CHECK_NEAR(dot(n, u), dot(n, p->v), 1e-16);               /* neither apart nor into each other */
    CHECK_NEAR(m->slip, dot(t, p->v) - dot(t, u), 1e-16);
    CHECK_NEAR(fabs(m->shear), p->mu, 1e-12);                 /* on the edge of the cone */
    CHECK(m->slip * m->shear >= 0 && dot(m->force, n) > 0);   /* friction drags along, and takes work */
}

static void test_a_finger_sticks_or_slides_as_friction_has_it(void)
{
    ct_rng rng = ct_rng_seed(1);
    int    count[3] = {0}; /* stuck, slid, refused */
    for (int i = 0; i < 20000; i++) {
        const pushed    p = draw_pushed(&rng);
        ct__push_motion m;
        double          u[2];
        const char     *why = ct__push_solve(&p.table, &p.contact, p.mu, p.v, &m);
        count[why ? 2 : m.sliding]++;
        if (why) continue;
        material(&p, m.twist, u);
        if (m.sliding) check_sliding(&p, &m, u);
        else check_sticking(&p, &m, u);
        /* the twist is the limit surface's normal at the wrench: their product, in units of force, is what friction
         * takes */
        CHECK_NEAR(dot(m.force, u), 2 * resistance(&p, m.twist), 1e-12 * dot(m.force, u));
        CHECK(dot(m.force, u) > 0 && m.load > 0);
    }
    CHECK(count[0] > 2000 && count[1] > 2000 && count[2] == 0); /* nothing jams */
}

static void test_a_mirrored_contact_moves_the_mirrored_way(void)
{
    ct_rng rng = ct_rng_seed(2);
    for (int i = 0; i < 1000; i++) {
        pushed          p = draw_pushed(&rng), q = p;
        ct__push_motion m, n;
        q.contact.point[1] *= -1, q.contact.normal[1] *= -1, q.table.centre[1] *= -1, q.v[1] *= -1;
        const char *a = ct__push_solve(&p.table, &p.contact, p.mu, p.v, &m),
                   *b = ct__push_solve(&q.table, &q.contact, q.mu, q.v, &n);
        CHECK(!a == !b);
        if (a) continue;
        CHECK(m.twist[0] == n.twist[0] && m.twist[1] == -n.twist[1] && m.twist[2] == -n.twist[2] && m.slip == -n.slip &&
              m.shear == -n.shear && m.load == n.load && m.sliding == n.sliding);
    }
}

/* ---- the law, step by step ---- */

/* A finger that looks along y and touches the side below, `along` m from its middle. */
static ct__push_state below(double along)
{
    return (ct__push_state){.object = ct_se2_identity(), .finger = ct_se2_make(along, -0.07895 - CT__PUSH_REACH, 0)};
}

static ct__push_table even(const ct_shape *shape)
{
    return (ct__push_table){.shape = shape, .c = 0.07626, .stretch = 1, .mu = 0.8};
}

static void test_a_push_through_the_middle_moves_and_does_not_turn(void)
{
    ct_shape            *shape = shape_of(1);
    const ct__push_table table = even(shape);
    ct__push_state       x = below(0);
    const double         step[2] = {0, 0.25e-3};
    for (int i = 0; i < 1000; i++) {
        ct__push_contact contact;
        ct__push_motion  motion;
        CHECK(!ct__push_touch(&table, &x, &contact) && !ct__push_advance(&table, &contact, step, 0, &x, &motion));
        CHECK(!motion.sliding && fabs(contact.gap) < 1e-15 && fabs(contact.tilt) < 1e-15);
        CHECK_NEAR(motion.load, 1, 1e-12); /* all that friction can resist */
    }
    CHECK_NEAR(x.object.x, 0, 1e-12);
    CHECK_NEAR(x.object.y, 0.25, 1e-12);
    CHECK_NEAR(ct_se2_yaw(x.object), 0, 1e-12);
    CHECK_NEAR(x.travelled, 0.25, 1e-12);
    ct_shape_free(shape);
}

/* A pad that is turned to the left is touched to the right of its middle, seen along y from its centre: at a
 * negative angle. */
static void test_a_tilt_is_from_the_middle_of_the_pad_to_the_contact(void)
{
    ct_shape            *shape = shape_of(1);
    const ct__push_table table = even(shape);
    for (int i = -7; i <= 7; i++) {
        ct__push_state   x = below(0.01);
        ct__push_contact contact;
        x.finger = ct_se2_make(x.finger.x, x.finger.y - 1e-4, 0.1 * i);
        CHECK(!ct__push_touch(&table, &x, &contact));
        CHECK_NEAR(contact.tilt, -0.1 * i, 1e-15);
        CHECK_NEAR(contact.gap, 1e-4, 1e-15);
        CHECK_NEAR(x.finger.y, below(0).finger.y, 1e-15);
    }
    ct_shape_free(shape);
}

/* Turned about the contact by a lever of 50 mm: V + w S r = v with V = f, w = r x f / c^2 and v = (0, h), by hand. */
static void test_a_push_beside_the_middle_turns_the_object_by_its_lever(void)
{
    ct_shape            *shape = shape_of(1);
    const ct__push_table table = even(shape);
    ct__push_state       x = below(0.05);
    ct__push_contact     contact;
    ct__push_motion      motion;
    const double         h = 0.25e-3, rx = 0.05, ry = -0.07895, c2 = table.c * table.c;
    CHECK(!ct__push_touch(&table, &x, &contact) &&
          !ct__push_advance(&table, &contact, (const double[2]){0, h}, 0, &x, &motion));
    const double det = (1 + ry * ry / c2) * (1 + rx * rx / c2) - rx * ry / c2 * rx * ry / c2,
                 fx = rx * ry / c2 * h / det, fy = (1 + ry * ry / c2) * h / det;
    CHECK_NEAR(contact.point[0], rx, 1e-15);
    CHECK_NEAR(contact.point[1], ry, 1e-15);
    CHECK_NEAR(motion.force[0], fx, 1e-15);
    CHECK_NEAR(motion.force[1], fy, 1e-15);
    CHECK_NEAR(ct_se2_yaw(x.object), (rx * fy - ry * fx) / c2, 1e-15);
    CHECK(motion.twist[2] > 0);
    ct_shape_free(shape);
}

/* Where the table lies in the world is of no importance. */
static void test_a_push_is_the_same_in_a_turned_room(void)
{
    ct_shape       *shape = shape_of(0);
    ct__push_table  table = even(shape);
    const ct_se2    room = ct_se2_make(3, -2, 1.1);
    ct__push_state  x = {.object = ct_se2_identity(), .finger = ct_se2_make(0.02, -0.1255, 0.1)}, y = x;
    ct__push_contact a, b;
    ct__push_motion  m, n;
    table.stretch = 1.2, table.centre[0] = 0.01;
    y.object = ct_se2_compose(room, y.object, NULL, NULL), y.finger = ct_se2_compose(room, y.finger, NULL, NULL);
    for (int i = 0; i < 200; i++) {
        const double step[2] = {1e-4, 2.2e-4},
                     turned[2] = {room.c * step[0] - room.s * step[1], room.s * step[0] + room.c * step[1]};
        CHECK(!ct__push_touch(&table, &x, &a) && !ct__push_advance(&table, &a, step, 1e-4, &x, &m));
        CHECK(!ct__push_touch(&table, &y, &b) && !ct__push_advance(&table, &b, turned, 1e-4, &y, &n));
    }
    double d[3];
    ct_se2_log(ct_se2_between(ct_se2_compose(room, x.object, NULL, NULL), y.object, NULL, NULL), d);
    for (int i = 0; i < 3; i++) CHECK_NEAR(d[i], 0, 1e-12);
    CHECK(fabs(ct_se2_yaw(x.object)) > 0.1);
    CHECK_NEAR(a.tilt, b.tilt, 1e-11);
    ct_shape_free(shape);
}

static void test_what_cannot_be_pushed_is_said(void)
{
    ct_shape        *shape = shape_of(1);
    ct__push_table   table = even(shape);
    ct__push_contact contact;
    ct__push_motion  motion;
    const double     ahead[2] = {0, 1e-4}, back[2] = {0, -1e-4}, along[2] = {1e-4, 1e-6};
    ct__push_state   x = below(0);
    x.finger.y = -0.05;
    CHECK(!strcmp(ct__push_touch(&table, &x, &contact), "is inside the object"));
    x.finger.y = -0.2;
    CHECK(!strcmp(ct__push_touch(&table, &x, &contact), "does not touch the object"));
    x.finger.y = NAN;
    CHECK(ct__push_touch(&table, &x, &contact) != NULL);
    x = below(0);
    x.finger = ct_se2_make(0, x.finger.y, 0.8);
    CHECK(!strcmp(ct__push_touch(&table, &x, &contact), "is turned too far away from the surface"));
    x = below(0);
    CHECK(!ct__push_touch(&table, &x, &contact));
    CHECK(!strcmp(ct__push_advance(&table, &contact, back, 0, &x, &motion), "moves along the surface or away from it"));
    CHECK(
        !strcmp(ct__push_advance(&table, &contact, along, 0, &x, &motion), "moves along the surface or away from it"));
    CHECK(x.object.y == 0 && !ct__push_advance(&table, &contact, ahead, 0, &x, &motion) && x.object.y > 0);
    ct_shape_free(shape);
}

/* ---- episodes ---- */

typedef struct {
    int64_t substeps, slid, pushes;
    double  gap;
} seen;

/* From the poses before and after: what is touched stays with the finger, up to second order in a step of 0.25 mm,
 * or slides along the surface. */
static void watch_law(void *user, const ct__push_substep *s)
{
    seen         *all = user;
    const ct_se2  o = s->before.object, p = s->after.object;
    double was[2], is[2], in[2], side[2], finger[2],
        n[2] = {o.c * s->contact.normal[0] - o.s * s->contact.normal[1],
                o.s * s->contact.normal[0] + o.c * s->contact.normal[1]};
    const double t[2] = {-n[1], n[0]},
                 mu = s->table.mu * (1 + s->table.ripple * sin(s->table.phase + s->table.wave * s->before.travelled));
    ct_se2_act(o, s->contact.point, was, NULL, NULL);
    ct_se2_act(p, s->contact.point, is, NULL, NULL);
    ct_se2_act(ct_se2_inverse(s->before.finger, NULL), was, in, NULL, NULL);
    ct_se2_act(s->after.finger, in, finger, NULL, NULL);
    const double apart[2] = {finger[0] - is[0], finger[1] - is[1]};
    CHECK_NEAR(dot(apart, n), 0, 2e-6);
    CHECK_NEAR(dot(apart, t), s->motion.slip, 2e-6);
    CHECK((s->motion.sliding ? fabs(fabs(s->motion.shear) - mu) < 1e-12 : fabs(s->motion.shear) <= mu) &&
          s->motion.slip * s->motion.shear >= -1e-18);
    const double away[2] = {s->before.finger.x - o.x, s->before.finger.y - o.y},
                 q[2] = {o.c * away[0] + o.s * away[1], o.c * away[1] - o.s * away[0]};
    CHECK_NEAR(ct_shape_distance(s->table.shape, q, side, NULL), CT__PUSH_REACH, 1e-14);
    CHECK_NEAR(s->after.travelled - s->before.travelled, 0.25e-3, 1e-15);
    all->gap = fmax(all->gap, fabs(s->contact.gap));
    all->substeps++;
    all->slid += s->motion.sliding;
    all->pushes += s->step == 0 && s->substep == 0;
}

static void test_every_substep_follows_the_law_and_keeps_touching(void)
{
    for (int k = 0; k < 2; k++) {
        seen   all = {0};
        double sliding = 0;
        for (uint64_t seed = 1; seed <= 4; seed++) {
            const ct_push_options o = options(k, seed);
            for (uint64_t number = 0; number < 10; number++) {
                ct_push_episode e = make(&o, 0, number, watch_law, &all);
                sliding += e.sliding / 40;
                ct_push_episode_free(&e);
            }
        }
        CHECK(all.gap < 5e-6); /* h^2 / (2 R), h = 0.25 mm, R = 7 mm: what sliding round a corner would open */
        printf("  %s: slides on %.3f of the way, %.2f pushes tried for one, gaps of at most %.1f um are closed\n",
               ct_shape_kind_name(OBJECT[k]), sliding, (double)all.pushes / 40, 1e6 * all.gap);
    }
}

typedef struct {
    ct_se2 object[100], finger[100];
    int    steps;
} poses;

static void watch_poses(void *user, const ct__push_substep *s)
{
    poses *p = user;
    if (s->substep) return;
    p->object[s->step] = s->before.object;
    p->finger[s->step] = s->before.finger;
    p->steps = s->step + 1;
}

/* From what moves to what is recorded: three numbers of the object, three of the finger's tip. */
static void offset(const poses *p, const ct_push_episode *e, int t, double d[6])
{
    const ct_se2 tip = ct_se2_compose(p->finger[t], ct_se2_make(0, CT__PUSH_RADIUS, 0), NULL, NULL);
    ct_se2_log(ct_se2_between(p->object[t], e->object[t], NULL, NULL), d);
    ct_se2_log(ct_se2_between(tip, e->finger[t], NULL, NULL), d + 3);
}

/* Motion capture follows something that is fixed to the object, and to the finger's tip: the same thing in every
 * push of a world. */
static void test_recorded_poses_are_true_ones_but_for_calibration_and_jitter(void)
{
    /* four sigma */
    static const double JITTER[6] = {1e-4, 1e-4, 5e-4, 1e-4, 1e-4, 5e-4}, OFF[6] = {8e-3, 8e-3, 0.04, 8e-3, 8e-3, 0.04};
    double              first[6] = {0}, squares[6] = {0};
    for (int number = 0; number < 10; number++) {
        const ct_push_options o = options(0, 3);
        poses                 p = {.steps = 0};
        ct_push_episode       e = make(&o, number % 3, (uint64_t)number, watch_poses, &p);
        double                d[6], mean[6] = {0};
        CHECK(e.steps == 100 && p.steps == 100);
        for (int t = 0; t < 100; t++) {
            offset(&p, &e, t, d);
            for (int i = 0; i < 6; i++) mean[i] += d[i] / 100;
        }
        for (int t = 0; t < 100; t++) {
            offset(&p, &e, t, d);
            for (int i = 0; i < 6; i++) squares[i] += (d[i] - mean[i]) * (d[i] - mean[i]) / 990;
        }
        if (number == 0) memcpy(first, mean, sizeof first);
        for (int i = 0; i < 6; i++) {
            CHECK_NEAR(mean[i], first[i], 5 * sqrt(2.0 / 100) * JITTER[i]);
            CHECK(fabs(mean[i]) < OFF[i] && fabs(mean[i]) > 1e-5);
        }
        ct_push_episode_free(&e);
    }
    for (int i = 0; i < 6; i++) CHECK_NEAR(sqrt(squares[i]), JITTER[i], JITTER[i] * 5 / sqrt(2 * 990.0));
}

static int same_episode(const ct_push_episode *a, const ct_push_episode *b)
{
    return a->steps == b->steps && a->sliding == b->sliding &&
           !memcmp(a->object, b->object, (size_t)a->steps * sizeof *a->object) &&
           !memcmp(a->finger, b->finger, (size_t)a->steps * sizeof *a->finger) &&
           !memcmp(a->image, b->image, (size_t)a->steps * CT_PUSH_PIXELS * sizeof *a->image);
}

static void test_the_same_number_makes_the_same_bits_and_no_other_does(void)
{
    enum { NUMBERS = 20, ALL = 3 * NUMBERS };
    for (int k = 0; k < 2; k++) {
        const ct_push_options o = options(k, 1), other = options(k, 2);
        ct_push_episode       e[ALL], again;
        ct_err                err = {0};
        for (int i = 0; i < ALL; i++) e[i] = make(&o, i / NUMBERS, (uint64_t)(i % NUMBERS), NULL, NULL);
        for (int i = ALL - 1; i >= 0; i -= 7) { /* in another order */
            CHECK_OK(ct_simulate_push_episode(&o, i / NUMBERS, (uint64_t)(i % NUMBERS), &again, &err), err);
            CHECK(same_episode(&e[i], &again));
            ct_push_episode_free(&again);
            CHECK_OK(ct_simulate_push_episode(&other, i / NUMBERS, (uint64_t)(i % NUMBERS), &again, &err), err);
            CHECK(again.object[0].x != e[i].object[0].x);
            ct_push_episode_free(&again);
        }
        for (int i = 0; i < ALL; i++) /* no two pushes begin alike, in one pool or in two; nor do their images */
            for (int j = 0; j < i; j++)
                CHECK(hypot(e[i].finger[0].x - e[j].finger[0].x, e[i].finger[0].y - e[j].finger[0].y) > 1e-7 &&
                      e[i].image[0] != e[j].image[0]);
        for (int i = 0; i < ALL; i++) ct_push_episode_free(&e[i]);
        CHECK(!e[0].object && !e[0].image);
    }
    ct_push_episode_free(NULL);
}

static void test_a_turn_is_that_of_the_finger_less_that_of_the_object(void)
{
    const ct_push_options o = options(1, 5);
    ct_push_episode       e = make(&o, 0, 0, NULL, NULL);
    for (int i = 0; i < 100; i += 9) {
        for (int j = 0; j < 100; j += 7) {
            const double turn = ct_se2_yaw(e.finger[j]) - ct_se2_yaw(e.object[j]) - ct_se2_yaw(e.finger[i]) +
                                ct_se2_yaw(e.object[i]);
            CHECK_NEAR(ct_push_relative_yaw(&e, i, j), remainder(turn, 2 * acos(-1)), 1e-14);
        }
    }
    ct_push_episode_free(&e);
}

/* Nobody pushes with one finger for eighty metres. */
static void test_pushes_that_are_never_found_are_given_up(void)
{
    ct_push_options o = options(1, 1);
    ct_push_episode e;
    ct_err          err = {0};
    o.steps = 32000;
    CHECK_REFUSED(ct_simulate_push_episode(&o, 0, 0, &e, &err), err,
                  "no push of 32000 steps was found in 1000 tries; in the last the finger ");
    CHECK(err.status == CT_E_ARGUMENT && !e.object && !e.finger && !e.image);
    o.steps = 1;
    CHECK_REFUSED(ct_simulate_push_episode(&o, 0, 0, &e, &err), err, "a push needs at least 2 steps, 1 were asked for");
    o = options(1, 1);
    CHECK_REFUSED(ct_simulate_push_episode(&o, 3, 0, &e, &err), err,
                  "pool 0 (training), 1 (test) or 2 (for networks), not of pool 3");
    CHECK_REFUSED(ct_simulate_push_episode(&o, -1, 0, &e, &err), err, "not of pool -1");
    o = ct_push_defaults(CT_SHAPE_POLYGON);
    CHECK_REFUSED(ct_simulate_push_episode(&o, 0, 0, &e, &err), err,
                  "what is pushed is an ellipse or a rectangle, not object 2");
}

int main(void)
{
    RUN(test_a_finger_sticks_or_slides_as_friction_has_it);
    RUN(test_a_mirrored_contact_moves_the_mirrored_way);
    RUN(test_a_push_through_the_middle_moves_and_does_not_turn);
    RUN(test_a_tilt_is_from_the_middle_of_the_pad_to_the_contact);
    RUN(test_a_push_beside_the_middle_turns_the_object_by_its_lever);
    RUN(test_a_push_is_the_same_in_a_turned_room);
    RUN(test_what_cannot_be_pushed_is_said);
    RUN(test_every_substep_follows_the_law_and_keeps_touching);
    RUN(test_recorded_poses_are_true_ones_but_for_calibration_and_jitter);
    RUN(test_the_same_number_makes_the_same_bits_and_no_other_does);
    RUN(test_a_turn_is_that_of_the_finger_less_that_of_the_object);
    RUN(test_pushes_that_are_never_found_are_given_up);
    return ct_test_end();
}
