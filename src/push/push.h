/* push.h: a rounded finger pushes an object over a table: mechanics (limit_surface.c) and tactile image
 * (tactile_image.c). */
#ifndef CT_PUSH_H
#define CT_PUSH_H

#include "base/base.h"

#include <covtune/data.h>
#include <covtune/push.h>

#define CT__PUSH_RADIUS  7.5e-3                     /* m, of the finger, a disc                                  */
#define CT__PUSH_REACH   (CT__PUSH_RADIUS - 0.5e-3) /* m, from its centre to the surface: the pad yields by 0.5 mm */
#define CT__PUSH_TILT    0.75                       /* rad: a pad that is tilted further loses contact           */

/* Friction and contact. Vectors are in the object's frame. */
typedef struct {
    const ct_shape *shape;       /* borrowed                                                                 */
    double          c;           /* m: ratio of the half axes of the limit surface along moment and force */
    double          centre[2];   /* m: of friction                                                           */
    double          stretch;     /* axes of the limit surface along the force: 1 / sqrt(stretch), sqrt(stretch) */
    double          mu;          /* Coulomb's, mean along the path                                           */
    double          ripple, phase, wave; /* mu (1 + ripple sin(phase + wave s)), s in m                      */
} ct__push_table;

typedef struct {
    ct_se2 object;
    ct_se2 finger;    /* its centre; the pad faces y */
    double travelled; /* m, of the finger                  */
} ct__push_state;

typedef struct {
    double gap;                 /* m, before the finger was moved to the surface */
    double normal[2], point[2]; /* into the object; contact point; object frame */
    double tilt;                /* rad: from the centre of the pad to the contact point */
} ct__push_contact;

typedef struct {
    double force[2];   /* on the object, object frame, in units of velocity: V = A f              */
    double twist[3];   /* of the object, about its centre of friction, object frame: m, m, rad    */
    double slip;       /* m: motion of the finger along the surface, to the left of the normal */
    double shear;      /* force along the surface over force along the normal                     */
    double load;       /* normal force, relative to that which drags the object without rotation */
    int    sliding;
} ct__push_motion;

/* Each returns NULL, or why it failed, in words that follow "the finger". */
/* Moves the finger to the surface along the normal: a compliant hand. */
const char *ct__push_touch(const ct__push_table *table, ct__push_state *x, ct__push_contact *contact);
/* The motion caused by a finger whose surface moves by v (object frame, m) at the contact. */
const char *ct__push_solve(const ct__push_table *table, const ct__push_contact *contact, double mu, const double v[2],
                           ct__push_motion *motion);
/* A small step: the finger's centre moves by `step` (world, m), it rotates by `turn`, and the object follows. */
const char *ct__push_advance(const ct__push_table *table, const ct__push_contact *contact, const double step[2],
                             double turn, ct__push_state *x, ct__push_motion *motion);

/* ---- Episodes -------------------------------------------------------------------------------- */

/* Separate random streams, so that one kind of noise does not change another. */
typedef enum {
    CT__PUSH_WORLD,
    CT__PUSH_PATH,
    CT__PUSH_CAPTURE,
    CT__PUSH_PAD,
    CT__PUSH_CHOICE,
    CT__PUSH_PRIOR,
    CT__PUSH_TACTILE
} ct__push_stream_kind;
ct_rng ct__push_stream(const ct_push_options *options, ct__push_stream_kind kind, int pool, uint64_t number);

/* Checks of the options for episodes and for pairs. */
ct_status ct__push_check(const ct_push_options *options, int pool, ct_err *err);
ct_status ct__push_check_windows(const ct_push_options *options, ct_err *err);
/* The object; owned by the caller. */
ct_status ct__push_shape(ct_shape_kind object, ct_shape **out, ct_err *err);

/* Called for every substep of every attempted push, also of rejected ones, which start again at step 0. */
typedef struct {
    int              step, substep;
    ct__push_table   table;
    ct__push_state   before, after;
    ct__push_contact contact;
    ct__push_motion  motion;
} ct__push_substep;
typedef void (*ct__push_watch)(void *user, const ct__push_substep *substep);

/* ct_simulate_push_episode with this callback. */
ct_status ct__push_episode(const ct_push_options *options, int pool, uint64_t number, ct__push_watch watch, void *user,
                           ct_push_episode *out, ct_err *err);

/* ---- The pad --------------------------------------------------------------------------------- */

/* State of the pad in one episode. */
typedef struct {
    ct_rng rng;
    double gain;                     /* of the position of the patch             */
    double drift, height, brightness, ground; /* slow random processes, see tactile_image.c */
} ct__push_pad;

ct__push_pad ct__push_pad_draw(ct_rng rng);
/* The image of one step; advances the pad's state. */
void ct__push_render(ct__push_pad *pad, double tilt, double shear, double load, double image[CT_PUSH_PIXELS]);

#endif
