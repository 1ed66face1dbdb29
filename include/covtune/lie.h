/* covtune/lie.h: SO(2), SO(3), SE(2), SE(3) and R^n.
 *
 * Elements are small values. Perturbations are on the right, x <- x o Exp(d), in every Jacobian
 * of this header; there is no flag. Tangent order: SE(2) = (x, y, yaw); SE(3) = (rotation,
 * translation). Jacobians are row-major, and optional: NULL means not wanted. Angles are radians.
 *
 * Rotations are unit (cos, sin) and unit quaternions, because log is well conditioned on both all
 * the way to pi. log returns an angle in [-pi, pi] ([0, pi] as a norm for SO(3)).
 */
#ifndef COVTUNE_LIE_H
#define COVTUNE_LIE_H

#include <covtune/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct { double c, s; } ct_so2;                      /* unit (cos, sin)               */
typedef struct { double x, y, z, w; } ct_so3;                /* unit quaternion, w the scalar */
typedef struct { double x, y, c, s; } ct_se2;                /* translation; unit (cos, sin)  */
typedef struct { double x, y, z, qx, qy, qz, qw; } ct_se3;   /* translation; unit quaternion  */

/* ---- SO(2), tangent (yaw); Jacobians of compose and inverse are +1 or -1 ------------------ */
ct_so2 ct_so2_identity(void);
ct_so2 ct_so2_exp(double yaw);
double ct_so2_log(ct_so2 a);
ct_so2 ct_so2_compose(ct_so2 a, ct_so2 b);
ct_so2 ct_so2_inverse(ct_so2 a);
ct_so2 ct_so2_between(ct_so2 a, ct_so2 b);                   /* a^-1 b                        */
ct_so2 ct_so2_normalize(ct_so2 a);                           /* back onto the unit circle     */
/* q = R p. dq/da (2x1) = R S p with S = [0 -1; 1 0], dq/dp (2x2) = R. */
void   ct_so2_act(ct_so2 a, const double p[2], double q[2], double Ja[2], double Jp[4]);

/* ---- SO(3), tangent = rotation vector -------------------------------------------------------- */
ct_so3 ct_so3_identity(void);
ct_so3 ct_so3_exp(const double w[3]);
void   ct_so3_log(ct_so3 a, double w[3]);
ct_so3 ct_so3_compose(ct_so3 a, ct_so3 b, double Ja[9], double Jb[9]);
ct_so3 ct_so3_inverse(ct_so3 a, double Ja[9]);
ct_so3 ct_so3_between(ct_so3 a, ct_so3 b, double Ja[9], double Jb[9]);
ct_so3 ct_so3_normalize(ct_so3 a);
void   ct_so3_matrix(ct_so3 a, double R[9]);                 /* rotation matrix               */
ct_so3 ct_so3_from_matrix(const double R[9]);                /* nearest is the caller's duty  */
void   ct_so3_adjoint(ct_so3 a, double Ad[9]);               /* Ad = R                        */
void   ct_so3_act(ct_so3 a, const double p[3], double q[3], double Ja[9], double Jp[9]);
/* Exp(w + d) ~ Exp(Jl d) Exp(w) ~ Exp(w) Exp(Jr d). The inverses are singular at |w| = 2 pi. */
void   ct_so3_jl(const double w[3], double J[9]);
void   ct_so3_jr(const double w[3], double J[9]);
void   ct_so3_jl_inv(const double w[3], double J[9]);
void   ct_so3_jr_inv(const double w[3], double J[9]);

/* ---- SE(2), tangent (x, y, yaw) -------------------------------------------------------------- */
ct_se2 ct_se2_identity(void);
ct_se2 ct_se2_make(double x, double y, double yaw);
double ct_se2_yaw(ct_se2 a);                                 /* heading in [-pi, pi]          */
ct_se2 ct_se2_exp(const double v[3]);
void   ct_se2_log(ct_se2 a, double v[3]);
/* c = a b.     dc/da = Ad(b^-1), dc/db = I. */
ct_se2 ct_se2_compose(ct_se2 a, ct_se2 b, double Ja[9], double Jb[9]);
/* c = a^-1.    dc/da = -Ad(a). */
ct_se2 ct_se2_inverse(ct_se2 a, double Ja[9]);
/* d = a^-1 b.  dd/da = -Ad(d^-1), dd/db = I. */
ct_se2 ct_se2_between(ct_se2 a, ct_se2 b, double Ja[9], double Jb[9]);
ct_se2 ct_se2_normalize(ct_se2 a);
void   ct_se2_adjoint(ct_se2 a, double Ad[9]);
/* q = R p + t. dq/da (2x3), dq/dp (2x2) = R. */
void   ct_se2_act(ct_se2 a, const double p[2], double q[2], double Ja[6], double Jp[4]);
void   ct_se2_jl(const double v[3], double J[9]);
void   ct_se2_jr(const double v[3], double J[9]);
void   ct_se2_jl_inv(const double v[3], double J[9]);
void   ct_se2_jr_inv(const double v[3], double J[9]);

/* ---- SE(3), tangent (rotation, translation) -------------------------------------------------- */
ct_se3 ct_se3_identity(void);
ct_se3 ct_se3_make(const double t[3], ct_so3 q);
ct_so3 ct_se3_rotation(ct_se3 a);
ct_se3 ct_se3_exp(const double v[6]);
void   ct_se3_log(ct_se3 a, double v[6]);
ct_se3 ct_se3_compose(ct_se3 a, ct_se3 b, double Ja[36], double Jb[36]);
ct_se3 ct_se3_inverse(ct_se3 a, double Ja[36]);
ct_se3 ct_se3_between(ct_se3 a, ct_se3 b, double Ja[36], double Jb[36]);
ct_se3 ct_se3_normalize(ct_se3 a);
void   ct_se3_adjoint(ct_se3 a, double Ad[36]);              /* [R 0; [t]x R, R]              */
void   ct_se3_act(ct_se3 a, const double p[3], double q[3], double Ja[18], double Jp[9]);
void   ct_se3_jl(const double v[6], double J[36]);
void   ct_se3_jr(const double v[6], double J[36]);
void   ct_se3_jl_inv(const double v[6], double J[36]);
void   ct_se3_jr_inv(const double v[6], double J[36]);

/* ---- R^n: composition is addition, exp and log are the identity, Jacobians are +-I ----------- */
void ct_rn_compose(int n, const double *a, const double *b, double *c);
void ct_rn_inverse(int n, const double *a, double *c);
void ct_rn_between(int n, const double *a, const double *b, double *c); /* b - a               */

/* ---- Kinds: one name for "which manifold", so that graphs can mix them ----------------------- */

/* X(constant, name in files, tangent dimension, doubles stored, numbers in files) */
#define CT_KIND_LIST(X)                                                                            \
    X(CT_R1, "R1", 1, 1, 1)                                                                        \
    X(CT_R2, "R2", 2, 2, 2)                                                                        \
    X(CT_R3, "R3", 3, 3, 3)                                                                        \
    X(CT_SO2, "SO2", 1, 2, 1)                                                                      \
    X(CT_SO3, "SO3", 3, 4, 4)                                                                      \
    X(CT_SE2, "SE2", 3, 4, 3)                                                                      \
    X(CT_SE3, "SE3", 6, 7, 7)

typedef enum {
#define X(constant, name, dim, size, fields) constant,
    CT_KIND_LIST(X)
#undef X
    CT_KIND_COUNT
} ct_kind;

#define CT_DIM_MAX  6 /* largest tangent dimension of a kind  */
#define CT_SIZE_MAX 7 /* most doubles stored for one element  */

int         ct_kind_dim(ct_kind kind);
int         ct_kind_size(ct_kind kind);
const char *ct_kind_name(ct_kind kind);
int         ct_kind_find(const char *name);                  /* a ct_kind, or -1              */
/* Name and unit of tangent coordinate i: "x" "m", "yaw" "rad", "rx" "rad". R^n has no unit of
 * its own and is taken to be a position. */
const char *ct_kind_coordinate(ct_kind kind, int i);
/* The tangent coordinate of that name, or -1. "theta", the name of yaw before 0.2, is accepted. */
int         ct_kind_find_coordinate(ct_kind kind, const char *name);
const char *ct_kind_unit(ct_kind kind, int i);

/* The element as stored doubles: x, y, c, s for SE(2); x, y, z, qx, qy, qz, qw for SE(3). */
void ct_kind_identity(ct_kind kind, double *x);
void ct_kind_retract(ct_kind kind, const double *x, const double *d, double *y); /* y = x o Exp(d); y may be x */
void ct_kind_local(ct_kind kind, const double *x, const double *y, double *d);   /* d = Log(x^-1 o y) */

/* As numbers in files: an angle for SO2, x y yaw for SE2, x y z qx qy qz qw for SE3.
 * from_fields makes rotations unit unless they are so to 4 eps, so that what was written is read
 * back to the same bits. Returns 0 if a number is not finite or a rotation has zero length. */
int  ct_kind_fields(ct_kind kind);
int  ct_kind_from_fields(ct_kind kind, const double *field, double *x);
void ct_kind_to_fields(ct_kind kind, const double *x, double *field);
/* n of them, one after the other. from_rows returns how many were read: below n if the next one is no element. */
int64_t ct_kind_from_rows(ct_kind kind, int64_t n, const double *field, double *x);
void    ct_kind_to_rows(ct_kind kind, int64_t n, const double *x, double *field);

#ifdef __cplusplus
}
#endif
#endif
