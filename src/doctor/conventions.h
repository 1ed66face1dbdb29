/* conventions.h: what a file may mean by the numbers of its poses, beside what a recipe says.
 *
 *   convention_sigmas.c  errors of all sensors at the truth, and what they gain by an alternative
 *   conventions.c        alternatives by trial imports, with a recipe
 *   convention_values.c  alternatives of the truth's poses in the dataset, without one */
#ifndef CT_DOCTOR_CONVENTIONS_H
#define CT_DOCTOR_CONVENTIONS_H

#include "doctor/doctor.h"

/* Bits of an alternative. */
enum {
    CT__READ_QUATERNION = 1, /* the scalar is at the other end                                       */
    CT__READ_CAMERA = 2,     /* x right, y down, z ahead                                             */
    CT__READ_NED = 4,        /* north, east, down; the body x ahead, y right, z down                 */
    CT__READ_COMPASS = 8,    /* rotations alone have the axes of ned: in the plane clockwise from y  */
    CT__READ_CLOCKWISE = 16, /* in the plane: clockwise from x                                       */
    CT__READ_INVERSE = 32,   /* the world in the body's frame                                        */
    CT__READ_DEGREES = 64,
    CT__READ_END = 128
};
#define CT__READ_AXES (CT__READ_CAMERA | CT__READ_NED | CT__READ_COMPASS | CT__READ_CLOCKWISE)

/* Two bits at most, one of them axes: more mistakes at once fit by chance. Returns their number; 0: no alternative. */
int ct__convention_size(int bits);

typedef struct {
    char    name[64];
    int     loops, rows, relative;
    int32_t n;
    double  sigma[CT_ROWS_MAX];
    double  size[2];  /* of lengths, of angles: sigma, m and rad                    */
    double  share[2]; /* the same over the sigma of measured values                 */
    uint8_t turns[CT_ROWS_MAX]; /* rows of angles                                   */
    double  offset;   /* rad: the mean of absolute angles, which sigma is without   */
} ct__tally;

#define CT__TALLIES 64
typedef struct {
    int       count;
    ct__tally sensor[CT__TALLIES];
} ct__tallies;

ct_status ct__tally_exam(const ct__exam *e, ct__tallies *all, ct_err *err);
ct_status ct__tally_dataset(const ct_dataset *d, const ct_doctor_options *o, ct__tallies *all, ct_err *err);
/* Sigmas of a sensor's angles in another unit. */
#define CT__DEGREES 57.29577951308232
void ct__tally_rescale(ct__tallies *all, const char *model, double factor);
/* Nats of `to` over `from`; 0: not enough, or a sensor is worse. */
double ct__tally_gain(const ct__tallies *from, const ct__tallies *to);
/* Is `to` better than what has gained so much? Alternatives that gain the same differ in constant angles. */
int ct__tally_is_better(double gain, const ct__tallies *to, double best_gain, const ct__tallies *best);
/* Does a sensor that is tied to the world gain much? */
int ct__tally_world_gains(const ct__tallies *from, const ct__tallies *to);
/* Are residuals of relative poses and rotations, or of one sensor, as large as what is measured? */
int ct__tally_is_gross(const ct__tallies *all, const char *model);
/* The same of angles of relative poses, or of one sensor. */
int ct__tally_turns_grossly(const ct__tallies *all, const char *model);

/* Findings of an alternative for the truth or a noise model, with pictures of errors as they were (e: at them). rows:
 * of the sensor. */
ct_status ct__report_conventions(ct__exam *out, const ct__exam *e, const char *subject, int bits, int rows,
                                 const ct__tallies *from, const ct__tallies *to, ct_err *err);

#endif
