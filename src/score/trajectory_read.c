/* trajectory_read.c: trajectories from tables and bags.
 *
 * Records become poses one by one; the arrays double. Rotations in files are rounded: quaternions are made unit and
 * matrices the nearest rotation. What is off by more than OFF is no rotation but another column. Records of an
 * estimator that has failed hold NaN, inf or a quaternion of zeros: they are no poses. */
#include "score/score.h"

#include <math.h>

#define OFF 1e-2 /* as the detection of the formats: files with three digits */

typedef struct {
    ct_source *source;
    ct__columns columns;
    int32_t place[CT__POSE_VALUES], covariance[36];
    int planar, rotations;
    int camera, geodetic, n; /* n: rows of the covariance in the file */
    int32_t child;           /* place of the text child_frame_id of transforms; -1: there is none */
    char *first_child;       /* of the first record */
    ct_trajectory *t;
    int64_t stamp_room, pose_room, covariance_room, broken_room;
} reading;

/* ---- rotations ---- */

/* R <- the nearest orthonormal matrix by Newton's iteration R <- (R + R^-T) / 2, which squares the distance: 1e-2,
 * 1e-4, 1e-8, rounding. R^-T is the cofactor matrix over det. */
static void nearest_rotation(double R[9])
{
    for (int step = 0; step < 5; step++) {
        double C[9];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                const int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
                C[3 * i + j] = R[3 * a + c] * R[3 * b + d] - R[3 * a + d] * R[3 * b + c];
            }
        const double det = R[0] * C[0] + R[1] * C[1] + R[2] * C[2];
        for (int i = 0; i < 9; i++) R[i] = 0.5 * (R[i] + C[i] / det);
    }
}

static ct_status no_rotation(const reading *r, const char *what, double found, ct_err *err)
{
    char where[256];
    return ct_fail(err, CT_E_PARSE, "%s: not a rotation: %s %.4g", ct_source_where(r->source, where, sizeof where),
                   what, found);
}

static ct_status rotation_of_matrix(const reading *r, const double M[12], ct_so3 *q, ct_err *err)
{
    double R[9] = {M[0], M[1], M[2], M[4], M[5], M[6], M[8], M[9], M[10]}, worst = 0;
    const double det =
        R[0] * (R[4] * R[8] - R[5] * R[7]) - R[1] * (R[3] * R[8] - R[5] * R[6]) + R[2] * (R[3] * R[7] - R[4] * R[6]);
    for (int k = 0; k < 9; k++) {
        double s = k % 4 == 0 ? -1 : 0;
        for (int j = 0; j < 3; j++) s += R[3 * (k / 3) + j] * R[3 * (k % 3) + j];
        worst = fmax(worst, fabs(s));
    }
    if (!(worst <= 2 * OFF)) return no_rotation(r, "the matrix times its transpose is off the identity by", worst, err);
    if (det < 0) return no_rotation(r, "the matrix is a reflection, its determinant is", det, err);
    nearest_rotation(R);
    *q = ct_so3_from_matrix(R);
    return CT_OK;
}

static ct_status rotation_of_quaternion(const reading *r, const double q[4], ct_so3 *out, ct_err *err)
{
    const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    if (!(fabs(length - 1) <= OFF)) return no_rotation(r, "the quaternion must have length 1, it has", length, err);
    *out = ct_so3_normalize((ct_so3){q[0], q[1], q[2], q[3]});
    return CT_OK;
}

/* ---- positions ---- */

/* Latitude and longitude in degrees and height over WGS 84, to the Earth's axes. */
static void to_earth(double p[3])
{
    const double a = 6378137, f = 1 / 298.257223563, e2 = f * (2 - f), degree = 0.017453292519943295;
    const double lat = p[0] * degree, lon = p[1] * degree, height = p[2];
    const double N = a / sqrt(1 - e2 * sin(lat) * sin(lat));
    p[0] = (N + height) * cos(lat) * cos(lon);
    p[1] = (N + height) * cos(lat) * sin(lon);
    p[2] = (N * (1 - e2) + height) * sin(lat);
}

/* ---- records ---- */

static int finite_values(const reading *r, const ct_record *record)
{
    int turned = !r->columns.text[CT__POSE_QUATERNION];
    for (int i = 0; i < CT__POSE_VALUES; i++) {
        if (r->place[i] < 0) continue;
        const double value = record->value[r->place[i]];
        if (!isfinite(value)) return 0;
        turned = turned || (i >= CT__POSE_QUATERNION && i < CT__POSE_YAW && value != 0);
    }
    return turned;
}

static ct_status pose_of(const reading *r, const ct_record *record, ct_se3 *pose, ct_err *err)
{
    double v[CT__POSE_VALUES] = {0};
    ct_so3 q = ct_so3_identity();
    for (int i = 0; i < CT__POSE_VALUES; i++)
        if (r->place[i] >= 0) v[i] = record->value[r->place[i]];
    double p[3] = {v[0], v[1], v[2]};
    if (r->place[CT__POSE_MATRIX] >= 0) {
        const double *M = v + CT__POSE_MATRIX;
        CT_TRY(rotation_of_matrix(r, M, &q, err));
        p[0] = M[3], p[1] = M[7], p[2] = M[11];
    } else if (r->place[CT__POSE_QUATERNION] >= 0) {
        CT_TRY(rotation_of_quaternion(r, v + CT__POSE_QUATERNION, &q, err));
    } else if (r->place[CT__POSE_YAW] >= 0) {
        q = (ct_so3){0, 0, sin(v[CT__POSE_YAW] / 2), cos(v[CT__POSE_YAW] / 2)};
        r->t->largest_yaw = fmax(r->t->largest_yaw, fabs(v[CT__POSE_YAW]));
    }
    if (r->geodetic) to_earth(p);
    *pose = ct_se3_make(p, q);
    if (r->planar) *pose = ct__flat(*pose);
    if (r->camera) *pose = ct__from_camera(*pose);
    return CT_OK;
}

/* The covariance of a record, n x n; a missing number leaves it all zero, which is not used. */
static void covariance_of(const reading *r, const ct_record *record, ct_se3 pose, double *out)
{
    double P[36] = {0};
    const int n = r->n, count = r->columns.covariances;
    for (int i = 0; i < count; i++) {
        const double value = record->value[r->covariance[i]];
        if (!isfinite(value)) return;
        P[count == n ? i * (n + 1) : i] = value;
    }
    if (r->camera) ct__covariance_from_camera(n, P);
    ct__covariance_store(n, r->rotations, r->planar, r->columns.world, pose, P, out);
}

/* Transforms of a tree of frames are on one topic. Those of two frames are no trajectory. */
static ct_status check_child(reading *r, const ct_record *record, ct_err *err)
{
    char where[256];
    if (r->child < 0) return CT_OK;
    const char *child = record->text[r->child];
    if (!r->first_child) {
        r->first_child = ct__strdup(child);
        return r->first_child ? CT_OK : ct__no_memory(err, "characters", (int64_t)strlen(child));
    }
    if (!strcmp(r->first_child, child)) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT,
                   "%s: poses of two frames, \"%.60s\" and \"%.60s\", are no trajectory; the condition `where` chooses "
                   "one: child_frame_id == '%.60s'",
                   ct_source_where(r->source, where, sizeof where), r->first_child, child, child);
}

static ct_status add_record(reading *r, const ct_record *record, ct_err *err)
{
    ct_trajectory *t = r->t;
    CT_TRY(check_child(r, record, err));
    if (!finite_values(r, record)) {
        CT_TRY(ct__grow(&t->broken_stamp, &r->broken_room, t->broken + 1, sizeof *t->broken_stamp, "poses", err));
        t->broken_stamp[t->broken++] = record->stamp;
        t->dropped++;
        return CT_OK;
    }
    const int64_t nn = (int64_t)t->covariance_dim * t->covariance_dim;
    CT_TRY(ct__grow(&t->stamp, &r->stamp_room, t->poses + 1, sizeof *t->stamp, "poses", err));
    CT_TRY(ct__grow(&t->pose, &r->pose_room, t->poses + 1, sizeof *t->pose, "poses", err));
    if (nn) {
        CT_TRY(ct__grow(&t->covariance, &r->covariance_room, (t->poses + 1) * nn, sizeof(double), "covariances", err));
        memset(t->covariance + t->poses * nn, 0, (size_t)nn * sizeof(double));
    }
    CT_TRY(pose_of(r, record, &t->pose[t->poses], err));
    t->stamp[t->poses] = record->stamp;
    if (nn) covariance_of(r, record, t->pose[t->poses], t->covariance + t->poses * nn);
    t->poses++;
    return CT_OK;
}

static ct_status select_all(reading *r, ct_err *err)
{
    const ct__columns *c = &r->columns;
    for (int i = 0; i < CT__POSE_VALUES; i++) {
        r->place[i] = -1;
        if (c->text[i]) CT_TRY(ct_source_select(r->source, c->text[i], &r->place[i], err));
    }
    for (int i = 0; i < c->covariances; i++)
        CT_TRY(ct_source_select(r->source, c->covariance[i], &r->covariance[i], err));
    int child = 0, transform = 0;
    for (int32_t i = 0; i < ct_source_fields(r->source); i++) {
        child |= !strcmp(ct_source_field_at(r->source, i)->name, "child_frame_id");
        transform |= !strcmp(ct_source_field_at(r->source, i)->name, "transform.translation.x");
    }
    r->child = -1;
    return child && transform ? ct_source_select_text(r->source, "child_frame_id", &r->child, err) : CT_OK;
}

static void lay_out(reading *r, const ct_trajectory_options *options)
{
    const ct__columns *c = &r->columns;
    const int matrix = c->text[CT__POSE_MATRIX] != NULL;
    r->planar = !matrix && !c->text[CT__POSE_POSITION + 2];
    r->rotations = matrix || c->text[CT__POSE_QUATERNION] || c->text[CT__POSE_YAW];
    r->camera = options->camera;
    r->geodetic = options->geodetic;
    for (r->n = 0; c->covariances && r->n < 6; r->n++) /* n or n * n */
        if (c->covariances == r->n || c->covariances == r->n * r->n) break;
    r->t->timed = ct_source_timed(r->source);
    r->t->rotations = r->rotations;
    r->t->planar = r->planar;
    r->t->covariance_dim = ct__covariance_rows(r->n, r->rotations, r->planar);
}

static ct_status read_all(reading *r, const char *path, const ct_trajectory_options *options, ct_err *err)
{
    ct_record record;
    int more;
    CT_TRY(ct__columns_choose(path, r->source, options, &r->columns, err));
    CT_TRY(select_all(r, err));
    lay_out(r, options);
    if (r->planar && r->camera)
        return ct_fail(err, CT_E_ARGUMENT, "%s: camera axes are those of poses in space, this trajectory has x and y",
                       path);
    while (1) {
        CT_TRY(ct_source_next(r->source, &record, &more, err));
        if (!more) break;
        CT_TRY(add_record(r, &record, err));
    }
    const ct_source_counts counts = ct_source_count(r->source);
    if (counts.damaged)
        return ct_fail(err, CT_E_PARSE, "%s: the last line, of %lld bytes, is cut short: the trajectory is not whole",
                       path, (long long)counts.damaged);
    r->t->without_stamp = counts.no_stamp;
    r->t->dropped += r->t->without_stamp;
    if (r->t->poses == 0 && r->t->dropped == 0 && counts.left_out)
        return ct_fail(err, CT_E_EMPTY, "%s: none of its %lld records meets the condition `where`: %s", path,
                       (long long)counts.left_out, options->source.where);
    if (r->t->poses == 0 && r->t->dropped == 0) return ct_fail(err, CT_E_EMPTY, "%s: there are no records in it", path);
    if (r->t->poses == 0)
        return ct_fail(err, CT_E_EMPTY, "%s: none of its %lld records is a pose: numbers are missing or not finite",
                       path, (long long)r->t->dropped);
    return ct__trajectory_sort(r->t, err);
}

/* A table without a record has no columns, so that any name is unknown: say what is wrong. */
static ct_status or_empty(const char *path, const ct_trajectory_options *options, ct_status status, ct_err *err)
{
    ct_source_options plain = ct_source_defaults();
    ct_source        *source;
    if (status != CT_E_ARGUMENT) return status;
    plain.format = options->source.format;
    plain.comment = options->source.comment;
    plain.skip = options->source.skip;
    if (plain.format > CT_SOURCE_G2O && plain.format != CT_SOURCE_AUTO) return status;
    const ct_status again = ct_source_open(path, &plain, &source, NULL);
    if (again == CT_E_MEMORY) return ct__no_memory(err, "source", 1);
    if (again != CT_OK) return status;
    if (ct_source_fields(source) == 0) status = ct_fail(err, CT_E_EMPTY, "%s: there are no records in it", path);
    ct_source_free(source);
    return status;
}

/* *out with its mount; NULL on failure. */
static ct_status mounted(const char *path, const ct_trajectory_options *options, ct_status status, ct_trajectory **out,
                         ct_err *err)
{
    ct_err why = {0};
    if (status == CT_OK && (status = ct__mount_set(*out, options, &why)) != CT_OK)
        ct_fail(err, status, "%s: %s", path, why.text);
    if (status == CT_OK) return CT_OK;
    ct_trajectory_free(*out);
    *out = NULL;
    return status;
}

ct_status ct_trajectory_read(const char *path, const ct_trajectory_options *options, ct_trajectory **out, ct_err *err)
{
    const ct_trajectory_options defaults = ct_trajectory_defaults();
    if (!options) options = &defaults;
    *out = NULL;
    if (options->covariances < 0 || options->covariances > 36 ||
        (unsigned)options->covariance_frame >= CT_COVARIANCE_FRAME_COUNT)
        return ct_fail(err, CT_E_ARGUMENT, "%s: %d expressions of a covariance in frame %d", path,
                       (int)options->covariances, (int)options->covariance_frame);
    CT_TRY(ct__trajectory_of_graph(path, options, out, err));
    if (*out) return mounted(path, options, CT_OK, out, err);
    reading r = {0};
    CT_TRY(ct_trajectory_new(0, 0, &r.t, err));
    ct_status status = ct_source_open(path, &options->source, &r.source, err);
    if (status == CT_OK) status = read_all(&r, path, options, err);
    ct__columns_free(&r.columns);
    free(r.first_child);
    ct_source_free(r.source);
    status = or_empty(path, options, status, err);
    *out = r.t;
    return mounted(path, options, status, out, err);
}
