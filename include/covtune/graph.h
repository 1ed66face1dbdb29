/* covtune/graph.h: variables, measurement models (factors), and the graph they form.
 *
 * A graph is structure: variables, the factors between them, and what was measured. It holds no covariance: a factor
 * stores the index of a model in a ct_noise table. It holds no estimate: values are a plain array that the solver
 * changes. So one graph, unchanged, serves many threads, noise tables and starts.
 *
 * Values: variable v lies at ct_graph_offset(g, v) in an array of ct_graph_size(g) doubles, stored
 * as in lie.h for its kind.
 */
#ifndef COVTUNE_GRAPH_H
#define COVTUNE_GRAPH_H

#include <covtune/base.h>
#include <covtune/lie.h>
#include <covtune/noise.h>
#include <covtune/shape.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Measurement models ---------------------------------------------------------------------- */

#define CT_ARITY_MAX  4 /* variables one factor may touch             */
#define CT_ROWS_MAX   6 /* rows one residual may have                 */
#define CT_FIELDS_MAX 8 /* parts of one measurement                   */

/* How a model's derivatives are computed. */
typedef enum {
    CT_JACOBIAN_ANALYTIC, /* eval fills J                                             */
    CT_JACOBIAN_NUMERIC,  /* eval is called with J = NULL only; central differences   */
    /* eval fills J with an approximation whose error is proportional to |r|. Iterations end near the minimum, not at
     * it; the solver polishes (solve.h). */
    CT_JACOBIAN_APPROXIMATE
} ct_jacobian;

/* A measurement model is a pure function, described once in a static const. Users write their own
 * exactly as the built-in ones are written.
 *
 * eval writes the raw residual r (`rows` numbers; a pose residual is Log(z^-1 o g(x))) and, for
 * every i with J != NULL and J[i] != NULL, its derivative by a right perturbation of variable i:
 * row-major, rows x ct_kind_dim(kind[i]). It keeps no state, allocates nothing, and uses no
 * covariance. `context` is what the factor was added with (a map, a shape), or NULL.
 *
 * A measurement is a concatenation of group elements: `field` lists their kinds, the first
 * `required` of which a file must give; the others default to the identity (a sensor offset). */
typedef struct {
    const char *name;                 /* as written in files and reports: "between_se2"       */
    int         rows, arity;          /* residual rows; variables touched                     */
    ct_kind     kind[CT_ARITY_MAX];   /* manifold of each variable                            */
    int         fields, required;     /* parts of the measurement; how many must be given     */
    ct_kind     field[CT_FIELDS_MAX]; /* manifold of each part                                */
    int         absolute;             /* 1: ties its variables to the world, not only to each other */
    ct_jacobian jacobian;
    void      (*eval)(const double *z, const void *context, const double *const x[], double *r, double *const J[]);
    const char *(*refuse)(const double *z); /* NULL, or why z cannot be ("dt must be positive")  */
    /* Second derivatives, for exact Hessians: K <- sum_i u_i d2 r_i(x o Exp(d)) / dd2 at d = 0, d the right
     * perturbations of all variables one after the other: n x n row-major, symmetric, n the sum of their dimensions.
     * NULL: differences. */
    void      (*curvature)(const double *z, const void *context, const double *const x[], const double *u, double *K);
    int         flat;                    /* 1: there are none, r is linear in d                         */
    /* Bit c of depends[i]: r depends on coordinate c of variable i's perturbation; 0: on all of them. The other
     * columns of J are zero. Solvers then avoid fill: a factor on headings does not couple positions. */
    uint8_t     depends[CT_ARITY_MAX];
    int         shaped;                  /* 1: its context is a ct_shape, and required                      */
    const char *coordinate[CT_ROWS_MAX]; /* name of each residual row ("x", "range")          */
    const char *unit[CT_ROWS_MAX];       /* its unit ("m", "rad", "m/s")                      */
    /* Many factors at once, or NULL: what eval computes, for models whose call is expensive in itself (written in
     * another language) or that use vector instructions. n factors: z is n x ct_factor_z_size numbers, context n
     * pointers, x[i] n x ct_kind_size(kind[i]), r n x rows, J[i] n x rows x ct_kind_dim(kind[i]); J or J[i] may be
     * NULL. Solvers then call it instead of eval, which is required all the same, for single factors. A call that fails
     * writes NaN. */
    void      (*eval_many)(int64_t n, const double *z, const void *const context[], const double *const x[], double *r,
                           double *const J[]);
} ct_factor_ops;

/* The built-in models. Suffixes name the variables; "_point" is a known point, part of z.
 *   prior_K       x               z: K                         Log(z^-1 x)            K any kind
 *   between_K     a, b            z: K                         Log(z^-1 a^-1 b)       K any kind
 *   position_P    pose            z: world point, lever arm    t + R l - z            world frame
 *   height_se3    pose            z: height, lever arm         z of t + R l, less z   world frame
 *   range_*       pose, point     z: range, sensor position    |p - (t + R s)| - z
 *                                 SE2: then height h of the point above the sensor: sqrt(|.|^2 + h^2) - z
 *   bearing_*     pose, point     z: direction, sensor pose    angle(s) from z to the direction of p
 *   range_bearing_*               z: range, direction, sensor pose     both, range first
 *   range_P_P, bearing_P_P, range_bearing_P_P     pose, pose: the same to a target, a point of the second body
 *                                 z: the same, then the target's position in the frame of the second body
 *   point_*       pose, point     z: point, sensor pose        (x o s)^-1 p - z       sensor frame
 *   pixel_*       pose, point     z: u v, fu fv, cu cv, camera pose    projection of (x o s)^-1 p, less z; pixels
 *   stereo_*      pose, point     z: u v left, u v right, fu fv, cu cv, baseline, camera pose      both cameras, less z
 *   heading_P     pose            z: yaw SO2, sensor rotation  yaw of the sensor's x axis, from z
 *   velocity_P    a, b            z: body velocity, dt         Log(a^-1 b) / dt - z   tangent order
 *   tactile_yaw   o, e, p, f      z: SO2                       turn of (o^-1 e)^-1 (p^-1 f), from z
 *   tactile_se2   o, e, p, f      z: SE2                       Log(z^-1 (o^-1 e)^-1 (p^-1 f))
 *   push_se2      o, e, p, f      z: c2 (m^2)                  quasi-static pushing, see factor_push.c; in the frame
 *                                                              of p
 *   contact_se2   o, e            z: [radius]                  distance of e from the outline of o, less radius;
 *                                                              with a shape
 * In the last four o and e are an object and a finger (both SE2), p and f the same two later.
 *   bias_start_K  b               z: [b0]                      b - b0                 K one of R1, R2, R3
 *   random_walk_K b, c            z: dt                        (c - b) / sqrt(dt)
 *   gauss_markov_K  b, c          z: dt, tau                   (c - f b) / sqrt(1 - f^2), f = exp(-dt / tau)
 *   oscillation_K b, q, c         z: dt, tau, period           (c - f (b cos a - q sin a)) / sqrt(1 - f^2),
 *                                                              a = 2 pi dt / period; q is the bias a quarter of a
 *                                                              period later; its own steps are (q, b, q later), -period
 * The last four are steps of an error that lasts, a bias b (ct_factor_biased). Their variances are those of the start,
 * of the walk per unit of time, and the stationary one.
 * Lever arms and sensor poses are in the body frame and come last; files may leave them out. A known point
 * stands before them. In the plane a direction is SO2; in space it is R3, any length but zero, and
 * the residual is the Log on the sphere at z: arcs along azimuth and elevation about the sensor's z
 * axis. velocity_se3 has z = angular (R3), linear (R3), dt (R1).
 *
 * Cameras look along their z axis, x to the right, y down. A point at (x, y, z) is seen at u = fu x/z + cu and
 * v = fv y/z + cv. The right camera of a stereo pair is `baseline` along x and has the same axes and intrinsics. The
 * projection goes on where a camera sees nothing: beyond atan 10 = 84.3 degrees from the axis, the image radius grows
 * with the angle at the rate that it has there. So a point beside or behind a camera has a large finite residual whose
 * gradient leads to the front. At the camera itself residual and derivatives are 0. No residual or derivative is NaN.
 *
 * Heading is that of the sensor's x axis, seen from above (world z): atan2(y, x). In space it has no value where that
 * axis is vertical: there residual and derivative are 0, and near it the derivative grows as 1 / cos(pitch).
 *
 * gtsam_prior_P and gtsam_between_P measure what prior_P and between_P do, as GTSAM does it: see
 * ct_graph_like_gtsam. */
#define CT_FACTOR_LIST(X)                                                                          \
    X(prior_r1) X(prior_r2) X(prior_r3) X(prior_so2) X(prior_so3) X(prior_se2) X(prior_se3)        \
    X(between_r1) X(between_r2) X(between_r3) X(between_so2) X(between_so3) X(between_se2)         \
    X(between_se3)                                                                                 \
    X(position_se2) X(position_se3)                                                                \
    X(range_se2_r2) X(range_se2_point) X(range_se3_r3) X(range_se3_point)                          \
    X(bearing_se2_r2) X(bearing_se2_point) X(bearing_se3_r3) X(bearing_se3_point)                  \
    X(range_bearing_se2_r2) X(range_bearing_se2_point) X(range_bearing_se3_r3)                     \
    X(range_bearing_se3_point)                                                                     \
    X(range_se2_se2) X(range_se3_se3) X(bearing_se2_se2) X(bearing_se3_se3)                        \
    X(range_bearing_se2_se2) X(range_bearing_se3_se3)                                              \
    X(point_se2_r2) X(point_se2_point) X(point_se3_r3) X(point_se3_point)                          \
    X(pixel_se3_r3) X(pixel_se3_point) X(stereo_se3_r3) X(stereo_se3_point)                        \
    X(heading_se2) X(heading_se3) X(height_se3)                                                    \
    X(velocity_se2) X(velocity_se3)                                                                \
    X(tactile_yaw) X(tactile_se2) X(push_se2) X(contact_se2)                                       \
    X(bias_start_r1) X(bias_start_r2) X(bias_start_r3)                                             \
    X(random_walk_r1) X(random_walk_r2) X(random_walk_r3)                                          \
    X(gauss_markov_r1) X(gauss_markov_r2) X(gauss_markov_r3)                                       \
    X(oscillation_r1) X(oscillation_r2) X(oscillation_r3)                                          \
    X(gtsam_prior_se2) X(gtsam_prior_se3) X(gtsam_between_se2) X(gtsam_between_se3)

#define X(name) extern const ct_factor_ops ct_##name;
CT_FACTOR_LIST(X)
#undef X

/* A built-in model by name or kind, or NULL. */
const ct_factor_ops *ct_factor_find(const char *name);
const ct_factor_ops *ct_factor_prior(ct_kind kind);
const ct_factor_ops *ct_factor_between(ct_kind kind);
/* Built-in model number i in the list's order, or NULL past its end. */
const ct_factor_ops *ct_factor_at(int i);
/* The model of a measurement that has an error which lasts, estimated as a variable b (CT_R1 to CT_R3) behind those of
 * ops: r[row_j] + c_j b_j, with rows and coefficients behind the parts of z. Its name is "biased_" and that of ops with
 * "_r1" to "_r3". With `world`, for poses in the world (prior_se2, prior_se3): b shifts the position that is measured
 * along axes of the world, where its rows are those of the frame of the body; "world_biased_..". NULL: there is none,
 * as ops is no built-in model, has four variables, fewer rows than b, or more than six parts of a measurement. */
const ct_factor_ops *ct_factor_biased(const ct_factor_ops *ops, ct_kind bias, int world);
/* The model without bias: that of which ops was made, or ops itself. */
const ct_factor_ops *ct_factor_unbiased(const ct_factor_ops *ops);
/* Model number i of those with a bias, or NULL past their end. */
const ct_factor_ops *ct_factor_biased_at(int i);
/* Doubles in a measurement. */
int ct_factor_z_size(const ct_factor_ops *ops);

/* Models beside the built-in ones, found by name: files may then name them (ct_read_options.models). A registry borrows
 * its models; they and it must outlive the graphs and sequences that have them. It is filled once, and then read by any
 * number of threads. plugin.h fills one from a shared object. */
typedef struct ct_factor_registry ct_factor_registry;
ct_status ct_factor_registry_new(ct_factor_registry **out, ct_err *err);
void      ct_factor_registry_free(ct_factor_registry *registry);
/* CT_E_ARGUMENT, and nothing changes: a description that is inconsistent (ct_factor_check), a name that is taken, or
 * that is not 1 to 63 lower-case letters, digits and _, the first a letter. */
ct_status ct_factor_registry_add(ct_factor_registry *registry, const ct_factor_ops *ops, ct_err *err);
/* The built-in model of that name, or that of the registry (which may be NULL), or NULL. */
const ct_factor_ops *ct_factor_registry_find(const ct_factor_registry *registry, const char *name);
/* Model number i of the registry, in the order in which they were added, or NULL past its end. */
const ct_factor_ops *ct_factor_registry_at(const ct_factor_registry *registry, int i);

/* The residual and, where J[i] is not NULL, Jacobians, analytic or by central differences as the
 * model specifies. J may be NULL. */
void ct_factor_eval(const ct_factor_ops *ops, const double *z, const void *context, const double *const x[], double *r,
                    double *const J[]);

/* K as in ct_factor_ops.curvature: zero if u is; the model's own; else by differences of J (error about 1e-9), or of r
 * (1e-7) if J is numeric or approximate. K is the residual's, also where J is approximate. Does not allocate. */
void ct_factor_curvature(const ct_factor_ops *ops, const double *z, const void *context, const double *const x[],
                         const double *u, double *K);

/* Derivatives by the first `parts` parts of the measurement, perturbed on the right, part by part: z <- z o Exp(d), d
 * of n = ct_factor_z_dim(ops, parts) numbers. M (rows x n) <- dr/dd. N (rows x n; may be NULL) <- d(sum_i J_i l_i)/dd
 * for directions l[i] of the variables, NULL: zero. Exact where r is g(x) less z; else by differences (error about
 * 1e-11; 1e-6 of N if J is numeric). Parts must be continuous: not the rows of a biased model. Does not allocate. */
int  ct_factor_z_dim(const ct_factor_ops *ops, int parts);
void ct_factor_by_measurement(const ct_factor_ops *ops, const double *z, const void *context, const double *const x[],
                              const double *const l[], int parts, double *M, double *N);

/* Compare the model's analytic Jacobian with central differences of its residual at one point.
 * The worst entry is reported as a sentence ("between_se2: d r[yaw] / d x1[y] is 1.0, differences
 * give 0.0"). Returns CT_OK if every entry agrees within `tolerance` times (1 + its size), else
 * CT_E_ARGUMENT with that sentence. Also refuses a model whose description is inconsistent, and an eval_many whose
 * results differ from eval's by more than 1e-12.
 * An approximate Jacobian may be off by a further |r| times (1 + the largest entry of its block): check it where the
 * residual is zero. */
ct_status ct_factor_check(const ct_factor_ops *ops, const double *z, const void *context, const double *const x[],
                          double tolerance, ct_err *err);

/* ---- Graph ----------------------------------------------------------------------------------- */

typedef struct ct_graph ct_graph;

/* A factor as stored. Borrowed until the graph is changed or freed. */
typedef struct {
    const ct_factor_ops *ops;
    const int32_t       *var;   /* ops->arity variables         */
    const double        *z;     /* ct_factor_z_size(ops) doubles */
    const void          *context;
    int32_t              noise;      /* index in the ct_noise table                    */
    double               multiplier; /* m: its covariance is m times that of the model */
} ct_factor;

ct_status ct_graph_new(ct_graph **out, ct_err *err);
ct_status ct_graph_copy(const ct_graph *graph, ct_graph **out, ct_err *err);
void      ct_graph_free(ct_graph *graph);

/* Add a variable with its initial value (copied, stored layout; NULL: the identity). The name is
 * copied and must be new; NULL names it by its index, "x17". Amortised O(1). */
ct_status ct_graph_add_variable(ct_graph *graph, const char *name, ct_kind kind, const double *value, int32_t *index,
                                ct_err *err);

/* Hold a variable at its value: it is not estimated, factors on it are kept. */
void ct_graph_fix(ct_graph *graph, int32_t var, int fixed);

/* Add a factor: ops is borrowed for the graph's lifetime, var (ops->arity) and z (ct_factor_z_size(ops) doubles:
 * every part, the optional ones too; only files may leave those out) are copied, context borrowed until the graph is
 * freed. Refuses unknown, repeated or wrong-kind variables, numbers that are not finite, rotations that are not
 * unit, a model that needs a shape without one, and a noise index that other factors use with another number of
 * rows. */
ct_status ct_graph_add_factor(ct_graph *graph, const ct_factor_ops *ops, const int32_t var[], const double z[],
                              const void *context, int32_t noise, ct_err *err);

/* The same for arrays: all of them are added, or none. Variables of one kind, named by their index: values (count x
 * ct_kind_size; NULL: the identity); *first (may be NULL) is the index of the first. Factors of one model: var is count
 * x arity, z count x ct_factor_z_size; context and noise are the same for all. */
ct_status ct_graph_add_variables(ct_graph *graph, ct_kind kind, int64_t count, const double *values, int32_t *first,
                                 ct_err *err);
ct_status ct_graph_add_factors(ct_graph *graph, const ct_factor_ops *ops, int64_t count, const int32_t var[],
                               const double z[], const void *context, int32_t noise, ct_err *err);

/* Prior and between for any kind: the model follows from the kind of the first variable; z is stored layout. */
ct_status ct_graph_add_prior(ct_graph *graph, int32_t x, const double z[], int32_t noise, ct_err *err);
ct_status ct_graph_add_between(ct_graph *graph, int32_t a, int32_t b, const double z[], int32_t noise, ct_err *err);

/* ---- Building with values -------------------------------------------------------------------- */

/* The same with the values of lie.h, for the factors that most graphs consist of. They fail as ct_graph_add_variable
 * and ct_graph_add_factor do. Lever arms and sensor poses are the identity; ct_graph_add_factor takes others.
 *
 *     int32_t a, b;
 *     ct_graph_add_se2(graph, "a", ct_se2_make(0, 0, 0), &a, &err);
 *     ct_graph_add_se2(graph, "b", ct_se2_make(1, 0, 0), &b, &err);
 *     ct_graph_add_prior_se2(graph, a, ct_se2_identity(), prior, &err);
 *     ct_graph_add_between_se2(graph, a, b, ct_se2_make(1.1, 0, 0.02), odom, &err);                              */
ct_status ct_graph_add_se2(ct_graph *graph, const char *name, ct_se2 value, int32_t *index, ct_err *err);
ct_status ct_graph_add_se3(ct_graph *graph, const char *name, ct_se3 value, int32_t *index, ct_err *err);
ct_status ct_graph_add_point2(ct_graph *graph, const char *name, const double point[2], int32_t *index, ct_err *err);
ct_status ct_graph_add_point3(ct_graph *graph, const char *name, const double point[3], int32_t *index, ct_err *err);

ct_status ct_graph_add_prior_se2(ct_graph *graph, int32_t pose, ct_se2 z, int32_t noise, ct_err *err);
ct_status ct_graph_add_prior_se3(ct_graph *graph, int32_t pose, ct_se3 z, int32_t noise, ct_err *err);
ct_status ct_graph_add_between_se2(ct_graph *graph, int32_t a, int32_t b, ct_se2 z, int32_t noise, ct_err *err);
ct_status ct_graph_add_between_se3(ct_graph *graph, int32_t a, int32_t b, ct_se3 z, int32_t noise, ct_err *err);

/* Position of a pose in the world frame (GPS), range from a pose to a point, and a point in the frame of a pose. In
 * the plane (pose SE2, point R2, z of 2 numbers) or in space (SE3, R3, 3 numbers), by the kind of the pose. m. */
ct_status ct_graph_add_position(ct_graph *graph, int32_t pose, const double z[], int32_t noise, ct_err *err);
ct_status ct_graph_add_range(ct_graph *graph, int32_t pose, int32_t point, double range, int32_t noise, ct_err *err);
ct_status ct_graph_add_landmark(ct_graph *graph, int32_t pose, int32_t point, const double z[], int32_t noise,
                                ct_err *err);
/* Bearing, or range and bearing, of a point R2 from a pose SE2; counter-clockwise from the pose's x axis. rad. */
ct_status ct_graph_add_bearing_se2(ct_graph *graph, int32_t pose, int32_t point, double bearing, int32_t noise,
                                   ct_err *err);
ct_status ct_graph_add_range_bearing_se2(ct_graph *graph, int32_t pose, int32_t point, double range, double bearing,
                                         int32_t noise, ct_err *err);

/* The value of a variable in values x: ct_graph_initial, or what a solver returned. NaN if it is of another kind. */
ct_se2 ct_graph_se2(const ct_graph *graph, const double *x, int32_t var);
ct_se3 ct_graph_se3(const ct_graph *graph, const double *x, int32_t var);

/* ---- Changing and reading -------------------------------------------------------------------- */

/* Give factor f another noise model of the same dimension. */
ct_status ct_graph_set_noise(ct_graph *graph, int32_t f, int32_t noise, ct_err *err);

/* Give factor f the covariance m Sigma, with Sigma that of its model; m is 1 when a factor is added. For what is known
 * about a measurement beforehand: an odometry step of m seconds or metres whose model holds the covariance of one, the
 * mean of 1 / m measurements. r / sqrt(m) is then a sample of the model's noise, so a model is learned from steps of
 * unequal length. CT_E_ARGUMENT if there is no factor f, or if m is not from CT_MULTIPLIER_MIN to CT_MULTIPLIER_MAX. */
#define CT_MULTIPLIER_MIN 1e-12
#define CT_MULTIPLIER_MAX 1e12
ct_status ct_graph_set_multiplier(ct_graph *graph, int32_t f, double m, ct_err *err);

/* Give factor f another measurement (ct_factor_z_size(ops) doubles; copied), with the checks of ct_graph_add_factor. */
ct_status ct_graph_set_measurement(ct_graph *graph, int32_t f, const double z[], ct_err *err);

/* Features: numbers that describe the situation of a measurement (range, speed, satellites, inliers), in named columns.
 * A noise model may be a function of them (function.h); a constant one ignores them. set_feature gives factors (NULL:
 * the factors 0 .. count - 1) a value each in the column of that name, which is made if there is none; others keep
 * theirs. CT_E_ARGUMENT, and nothing changes: no such factor, a value that is not finite or beyond 1e100 in size (leave
 * out what is unknown), a name that is not 1 to 31 letters, digits and _ . - or that files use otherwise ("multiplier",
 * "shape"), or more than CT_FEATURES_MAX columns. */
#define CT_FEATURES_MAX 64
ct_status ct_graph_set_feature(ct_graph *graph, const char *name, int64_t count, const int32_t factor[],
                               const double value[], ct_err *err);
int         ct_graph_features(const ct_graph *graph);                       /* columns   */
const char *ct_graph_feature_name(const ct_graph *graph, int column);       /* NULL: none */
int         ct_graph_find_feature(const ct_graph *graph, const char *name); /* -1: none  */
/* The value of factor f in a column; NaN: it has none. */
double ct_graph_feature(const ct_graph *graph, int32_t f, int column);
/* A column as an array of ct_graph_factors numbers, NaN where a factor has none. */
void ct_graph_describe_feature(const ct_graph *graph, int column, double value[]);

/* Measure poses as GTSAM's default build does, to compare numbers with it. prior_se2, prior_se3, between_se2 and
 * between_se3 are replaced by their gtsam_ counterparts; other models stay. Solvers then end where GTSAM does, which is
 * near the minimum, not at it: docs/gtsam.md. CT_E_UNSUPPORTED, and nothing changes, if the graph has prior_so3 or
 * between_so3, which have no counterpart. */
ct_status ct_graph_like_gtsam(ct_graph *graph, ct_err *err);

int32_t   ct_graph_variables(const ct_graph *graph);
int32_t   ct_graph_factors(const ct_graph *graph);
ct_factor ct_graph_factor(const ct_graph *graph, int32_t f);
ct_kind   ct_graph_kind(const ct_graph *graph, int32_t var);           /* CT_KIND_COUNT: none */
int       ct_graph_fixed(const ct_graph *graph, int32_t var);
int32_t   ct_graph_find(const ct_graph *graph, const char *name);      /* -1: none            */
/* Variable's name into buf (always ended, cut if it does not fit); returns buf. */
const char *ct_graph_name(const ct_graph *graph, int32_t var, char *buf, size_t size);

int64_t ct_graph_size(const ct_graph *graph);                          /* doubles in values   */
int64_t ct_graph_offset(const ct_graph *graph, int32_t var);           /* -1: none            */
/* Kinds, offsets, whether they are fixed, of all variables as arrays of ct_graph_variables. Each may be NULL. */
void    ct_graph_describe_variables(const ct_graph *graph, uint8_t kind[], uint8_t fixed[], int64_t offset[]);
double *ct_graph_initial(ct_graph *graph);                             /* the initial values, to read or change */
const double *ct_graph_initial_const(const ct_graph *graph);

/* Check that a noise table fits: every index in range, every dimension right, and every factor has the features that
 * its model depends on. O(models); with functions O(factors). */
ct_status ct_graph_check_noise(const ct_graph *graph, const ct_noise *noise, ct_err *err);

/* Sigma of factor f (rows x rows) under a noise table, with the function of its model at its features, and with its
 * multiplier. CT_E_ARGUMENT: no such factor; CT_E_NOISE: the table does not fit. */
ct_status ct_graph_covariance(const ct_graph *graph, const ct_noise *noise, int32_t f, double covariance[],
                              ct_err *err);

/* Set rows and measurement of the table's models (ct_noise_set_rows, ct_noise_set_measurement) from the factors that
 * use them. Models without factors do not change. If the factors of a model have no names, or different ones, the
 * model has none afterwards. The table must fit. O(factors). */
void ct_graph_name_rows(const ct_graph *graph, ct_noise *noise);

/* ---- Arrays ----------------------------------------------------------------------------------- */

/* Model number i among those that factors have, in the order of their first factors; NULL: none. O(factors). */
const ct_factor_ops *ct_graph_model(const ct_graph *graph, int i);
/* The factors of a model, in order: their numbers and variables (count x arity); either may be NULL. Returns how many
 * there are. O(factors). */
int64_t ct_graph_factors_of(const ct_graph *graph, const ct_factor_ops *ops, int32_t factor[], int32_t var[]);
/* Residuals and Jacobians of factors of one model at x: r is count x rows, J[i] count x rows x dim of variable i; r, J
 * and J[i] may be NULL. With noise they are whitened, robust weight and multiplier included: J'r is then the gradient
 * of the error and J'J its Gauss-Newton matrix; NULL: as the model has them. CT_E_ARGUMENT: no such factor, or another
 * model. */
ct_status ct_graph_evaluate(const ct_graph *graph, const ct_noise *noise, const double *x, int64_t count,
                            const int32_t factor[], double *r, double *const J[], ct_err *err);

/* error = sum over factors of rho(|R r| / sqrt(m)) at values x (no allocation). NaN if a residual is. */
double ct_graph_error(const ct_graph *graph, const ct_noise *noise, const double *x);

#ifdef __cplusplus
}
#endif
#endif
