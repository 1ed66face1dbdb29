/* start.h: what the files that place variables share: sightings.c, rigid_fit.c, align_chains.c, place_points.c,
 * initialise.c.
 *
 * A sighting is a measurement as geometry, in metres: where a point is seen from a body. It has no noise. Start values
 * thus do not depend on noise models, which are wrong where they are still to be learned. */
#ifndef CT_DATA_START_H
#define CT_DATA_START_H

#include "base/base.h"
#include "graph/graph.h"

/* CT__SEEN_FROM: a point of the body is seen in a known direction from a known place. */
typedef enum { CT__SEES_POINT, CT__SEES_RANGE, CT__SEES_BEARING, CT__SEEN_FROM } ct__sees;

/* In the plane third coordinates are zero. */
typedef struct {
    ct__sees sees;
    int32_t  pose, point; /* variables; point -1: known                                                      */
    int      body;        /* 1: `point` is the pose of another body, or of the same at another time          */
    double   c[3];        /* then: the target in the frame of that pose                                      */
    double   p[3];        /* the known point, world frame                                                    */
    double   s[3];        /* body frame: the point as seen (CT__SEES_POINT), else the position of the sensor */
    double   sensor[3];   /* body frame: the position of the sensor                                          */
    double   d[3];        /* CT__SEES_BEARING: unit direction, body axes                                     */
    double   range;       /* CT__SEES_RANGE; CT__SEES_POINT: distance from the sensor, 0: a position         */
} ct__sighting;

#define CT__SIGHTINGS_MAX 3 /* of one factor: a prior of a pose in space is that of three points of the body */

/* The sightings that a factor is: of points, or a position or a prior of a pose (point -1). Returns how many; 0 for
 * other models. whole (may be NULL) <- 1 if it measures the whole pose. */
int ct__sightings_of(const ct_factor *f, ct__sighting out[CT__SIGHTINGS_MAX], int *whole);

/* World position of the point that is seen, or of the target, by the values x. */
void ct__sighted_point(const ct_graph *graph, const ct__sighting *s, const double *x, double p[3]);

/* ---- Rigid motions: q = R a + t; in the plane R turns about z --------------------------------- */

typedef struct {
    double R[9], t[3];
} ct__rigid;

ct__rigid ct__rigid_identity(void);
ct__rigid ct__rigid_of(ct_kind kind, const double *x); /* x: a stored SE2 or SE3 */
void      ct__rigid_store(ct_kind kind, const ct__rigid *a, double *x);
ct__rigid ct__rigid_compose(const ct__rigid *a, const ct__rigid *b);
ct__rigid ct__rigid_inverse(const ct__rigid *a);
void      ct__rigid_act(const ct__rigid *a, const double p[3], double q[3]);
void      ct__rigid_turn(const ct__rigid *a, const double d[3], double q[3]); /* R d */
/* Angle between the rotations, rad. */
double    ct__rigid_angle(const ct__rigid *a, const ct__rigid *b);

/* ---- The rigid motion that fits a stretch of a path to what is seen from it ------------------- */

/* A sighting of a known point, in the frame of the path. */
typedef struct {
    ct__sees sees;
    double   a[3];  /* the point as seen, or the position of the sensor; CT__SEEN_FROM: the point of the body */
    double   u[3];  /* unit direction; CT__SEEN_FROM: in world axes                                          */
    double   p[3];  /* the known point, world frame                                                          */
    double   range;
} ct__item;

typedef struct {
    int             planar;
    int32_t         count;
    const ct__item *item;
    double          reach; /* m: typical distance of what is seen; the unit of rotation errors, the limit of outliers */
} ct__stretch;

/* Sum over the items of min(|r|, reach), in m. r: of a point T a - p; of a range |p - T a| - range; of a bearing the
 * difference of unit vectors times reach. */
double ct__stretch_cost(const ct__stretch *s, const ct__rigid *T);
/* T <- the minimum near T of the sum of |r|, by reweighted Gauss-Newton steps. */
void ct__stretch_fit(const ct__stretch *s, int steps, ct__rigid *T);
/* 1 if the items determine T to 0.05 rad and a tenth of the reach. */
int ct__stretch_determines(const ct__stretch *s, const ct__rigid *T);
/* Up to `most` motions that fit, the best first, found without a guess: by samples of points, or, with `search`, from
 * several headings and places. Returns how many. */
#define CT__GUESSES_MAX 3
int ct__stretch_guess(const ct__stretch *s, int search, int most, ct__rigid T[CT__GUESSES_MAX]);
/* 1 if two motions move point c to the same place within a twentieth of the reach, and turn alike. */
int ct__stretch_same(const ct__stretch *s, const ct__rigid *a, const ct__rigid *b, const double c[3]);

/* x = A \ b of a symmetric positive definite n x n system, n <= 6, row-major with stride 6; only the lower triangle is
 * read. 0 if it is not. */
int ct__small_solve(int n, const double A[36], const double b[6], double x[6]);

/* ---- Placing variables ------------------------------------------------------------------------ */

/* A spanning forest of the graph by relative measurements. Arrays per variable. */
typedef struct {
    const ct_graph *graph;
    const int32_t  *parent;   /* the variable it was composed from; -1: none                    */
    const int32_t  *queue;    /* variables in the order in which they were placed               */
    const uint8_t  *anchored; /* 1: its value is absolute: fixed, or by a prior                  */
    const int64_t  *first;    /* factors of variable v: touching[first[v]] .. [first[v + 1] - 1] */
    const int32_t  *touching;
    int             joins;    /* 1: measurements between bodies alone count, and anchored trees keep their place */
} ct__forest;

/* Moves the poses of x, composed along the forest, to where known points, positions and priors say, and measurements
 * between bodies of which one is placed: align_chains.c. placed[v] <- 1 for poses on a chain that these determine. */
ct_status ct__align_chains(const ct__forest *forest, double *x, uint8_t *placed, ct_err *err);

/* Turns trees of x whose root has begun[root] set to the headings that are measured on them: turn_to_headings.c. */
ct_status ct__turn_to_headings(const ct_graph *graph, const int32_t *parent, const int32_t *queue, const uint8_t *begun,
                               double *x, ct_err *err);

/* Places points that no sighting gives alone (ranges, bearings) from the poses that have values: place_points.c. Sets
 * given of those that it places. */
ct_status ct__place_points(const ct_graph *graph, const int64_t *first, const int32_t *touching, double *x,
                           uint8_t *given, ct_err *err);

/* Places the points with unknown[v] set, from all poses in x; those without sightings stay. */
ct_status ct__replace_points(const ct_graph *graph, const uint8_t *unknown, double *x, ct_err *err);

#endif
