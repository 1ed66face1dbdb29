/* tables.c: tables of a simulated robot, with the recipe that imports them.
 *
 * A record of odometry at t_k has Log(X(t_k)^-1 X(t_k+1)) / (t_k+1 - t_k) and noise: the velocity that, held from its
 * stamp to the next, gives the motion in between exactly. A step of n records of duration h sums n independent errors
 * of sigma h times the record's: variance n h^2 sigma^2 = every_s sigma^2 / odom_hz. (To first order in the motion of a
 * step, which turns errors of the position.)
 *
 * Path, stamps and noise of each table are drawn from separate streams: a table does not change when another has other
 * noise or another rate. */
#define _POSIX_C_SOURCE 200809L
#include "simulate/tables.h"
#include "base/base.h"
#include "base/file.h"
#include "base/text.h"
#include "data/data.h"

#include <errno.h>
#include <math.h>
#include <sys/stat.h>

#define FIRST_TEST_RUN ((uint64_t)1 << 32)
#define SMALLEST       1e-12  /* variance in latent.json of a sensor without noise, which needs one */
#define RING_X         38.0   /* m: beacons are on an ellipse around the path                       */
#define RING_Y         20.0
#define RING_Z         10.0

enum { STREAM_ODOMETRY = 17, STREAM_GPS, STREAM_HEADING, STREAM_RANGES, STREAM_GPS_STAMPS, STREAM_RANGE_STAMPS,
       STREAM_BEACONS };

ct_tables_options ct_tables_defaults(ct_kind kind)
{
    ct_tables_options o = {.kind = kind,
                           .duration_s = 120,
                           .every_s = 0.5,
                           .odom_hz = 20,
                           .gps_hz = 2,
                           .range_hz = 4,
                           .truth_hz = 20,
                           .odom = {0.1, 0.05, 0.03},
                           .gps = {0.5, 0.5, 0.5},
                           .heading = -1,
                           .range = 0.2,
                           .beacons = 4,
                           .seed = 1};
    if (kind == CT_SE3) memcpy(o.odom, (const double[6]){0.03, 0.03, 0.03, 0.1, 0.05, 0.05}, sizeof o.odom);
    return o;
}

static int is_sigma(double sigma) { return sigma >= 0 && sigma <= 1e6; }
static int is_rate(double hz) { return hz >= 1e-3 && hz <= 1e4; }

static ct_status check(const ct_tables_options *o, int32_t train, int32_t test, ct_err *err)
{
    if (o->kind != CT_SE2 && o->kind != CT_SE3)
        return ct_fail(err, CT_E_ARGUMENT, "simulated tables have SE2 or SE3 poses, not %s", ct_kind_name(o->kind));
    if (train < 0 || test < 0 || train + (int64_t)test < 1 || train + (int64_t)test > 100000)
        return ct_fail(err, CT_E_ARGUMENT, "simulated tables have 1 to 100000 runs, asked for were %d and %d", train,
                       test);
    if (!(o->duration_s >= 1 && o->duration_s <= 1e6))
        return ct_fail(err, CT_E_ARGUMENT, "a simulated run lasts from 1 to 1e6 s, not %g", o->duration_s);
    if (!(o->every_s >= 1e-3 && o->every_s <= o->duration_s))
        return ct_fail(err, CT_E_ARGUMENT, "states are from 0.001 s to the duration of a run apart, not %g s",
                       o->every_s);
    if (!is_rate(o->odom_hz) || !is_rate(o->truth_hz) || (o->gps_hz != 0 && !is_rate(o->gps_hz)) ||
        (o->range_hz != 0 && !is_rate(o->range_hz)))
        return ct_fail(err, CT_E_ARGUMENT,
                       "rates of simulated tables are from 0.001 to 1e4 Hz (GPS and ranges may have 0: no table), "
                       "found %g, %g, %g and %g",
                       o->odom_hz, o->truth_hz, o->gps_hz, o->range_hz);
    const double other[] = {o->gps[0], o->gps[1], o->gps[2], fabs(o->heading), o->range};
    double       sigma[CT_DIM_MAX + 5];
    memcpy(sigma, o->odom, sizeof o->odom);
    memcpy(sigma + CT_DIM_MAX, other, sizeof other);
    for (size_t i = 0; i < sizeof sigma / sizeof *sigma; i++)
        if (!is_sigma(sigma[i]))
            return ct_fail(err, CT_E_ARGUMENT, "sigmas of simulated tables are from 0 to 1e6, found %g", sigma[i]);
    if (o->beacons < 1 || o->beacons > 1000)
        return ct_fail(err, CT_E_ARGUMENT, "simulated tables have 1 to 1000 beacons, asked for were %d", o->beacons);
    return CT_OK;
}

/* ---- Text ------------------------------------------------------------------------------------ */

/* Nine decimals: far below any noise, and short. */
static void put(ct__text *text, double value, const char *after)
{
    char buf[32];
    ct__text_put(text, ct__format_double(fabs(value) < 1e6 ? round(value * 1e9) / 1e9 + 0.0 : value, buf));
    ct__text_put(text, after);
}

static ct_status save(ct__text *text, const char *folder, const char *name, ct_err *err)
{
    char     *path = ct__path_join(folder, name);
    ct_status status = path ? ct__text_save(text, path, err) : ct__no_memory(err, "file names", 1);
    free(path);
    ct__text_free(text);
    return status;
}

/* ---- A run ----------------------------------------------------------------------------------- */

typedef struct {
    const ct_tables_options *options;
    ct__tables_path          path;
    uint64_t                 number;
    char                     name[24];
    const double            *beacon; /* x, y, z of each */
    const char              *folder;
    ct_err                  *err;
} run;

static ct_rng stream(const run *r, uint64_t which) { return ct__rng_stream(r->options->seed, r->number, which); }

static ct_status save_table(const run *r, ct__text *text, const char *what)
{
    char name[64];
    snprintf(name, sizeof name, "%s-%s.csv", what, r->name);
    return save(text, r->folder, name, r->err);
}

/* Stamp k of a table, to the microsecond, as it is written: what is measured is measured then. */
static double stamp(double first, int64_t k, double hz) { return round((first + (double)k / hz) * 1e6) / 1e6; }

/* Element of the path at t, as stored. */
static void element_at(const run *r, double t, double x[CT_SIZE_MAX])
{
    double field[CT_SIZE_MAX];
    ct__tables_path_at(&r->path, t, field, NULL);
    ct_kind_from_fields(r->options->kind, field, x);
}

static ct_status write_odometry(const run *r)
{
    const ct_tables_options *o = r->options;
    const int                dim = ct_kind_dim(o->kind), space = o->kind == CT_SE3;
    ct_rng                   rng = stream(r, STREAM_ODOMETRY);
    ct__text                 text = {0};
    ct__text_put(&text, space ? "t,vx,vy,vz,wx,wy,wz\n" : "t,vx,vy,omega\n");
    for (int64_t k = 0; stamp(0, k, o->odom_hz) <= o->duration_s; k++) {
        const double t = stamp(0, k, o->odom_hz), next = stamp(0, k + 1, o->odom_hz);
        double       a[CT_SIZE_MAX], b[CT_SIZE_MAX], v[CT_DIM_MAX];
        element_at(r, t, a);
        element_at(r, next, b);
        ct_kind_local(o->kind, a, b, v);
        for (int i = 0; i < dim; i++) v[i] = v[i] / (next - t) + o->odom[i] * ct_rng_normal(&rng);
        put(&text, t, ",");
        for (int i = 0; i < dim; i++) put(&text, v[space ? (i + 3) % 6 : i], i < dim - 1 ? "," : "\n");
    }
    return save_table(r, &text, "odometry");
}

/* Of the x axis, seen from above. */
static double heading_of(ct_kind kind, const double field[CT_SIZE_MAX])
{
    if (kind == CT_SE2) return field[2];
    const double *q = field + 3; /* qx qy qz qw */
    return atan2(2 * (q[0] * q[1] + q[2] * q[3]), 1 - 2 * (q[1] * q[1] + q[2] * q[2]));
}

static ct_status write_gps(const run *r)
{
    const ct_tables_options *o = r->options;
    const int                axes = o->kind == CT_SE3 ? 3 : 2;
    ct_rng                   rng = stream(r, STREAM_GPS), turn = stream(r, STREAM_HEADING);
    ct_rng                   stamps = stream(r, STREAM_GPS_STAMPS);
    const double             first = ct_rng_uniform(&stamps) / o->gps_hz;
    ct__text                 text = {0};
    ct__text_put(&text, axes == 3 ? "t,x,y,z" : "t,x,y");
    ct__text_put(&text, o->heading >= 0 ? ",yaw\n" : "\n");
    for (int64_t k = 0; stamp(first, k, o->gps_hz) <= o->duration_s; k++) {
        const double t = stamp(first, k, o->gps_hz);
        double       x[CT_SIZE_MAX];
        ct__tables_path_at(&r->path, t, x, NULL);
        put(&text, t, ",");
        for (int i = 0; i < axes; i++)
            put(&text, x[i] + o->gps[i] * ct_rng_normal(&rng), i < axes - 1 || o->heading >= 0 ? "," : "\n");
        const double yaw = o->heading >= 0 ? heading_of(o->kind, x) + o->heading * ct_rng_normal(&turn) : 0;
        if (o->heading >= 0) put(&text, atan2(sin(yaw), cos(yaw)), "\n");
    }
    return save_table(r, &text, "gps");
}

static ct_status write_ranges(const run *r)
{
    const ct_tables_options *o = r->options;
    ct_rng                   rng = stream(r, STREAM_RANGES), stamps = stream(r, STREAM_RANGE_STAMPS);
    const double             first = ct_rng_uniform(&stamps) / o->range_hz;
    ct__text                 text = {0};
    ct__text_put(&text, "t,beacon,range\n");
    for (int64_t k = 0; stamp(first, k, o->range_hz) <= o->duration_s; k++) {
        const double  t = stamp(first, k, o->range_hz);
        const int32_t b = (int32_t)(k % o->beacons);
        double        x[CT_SIZE_MAX];
        ct__tables_path_at(&r->path, t, x, NULL);
        const double flat = hypot(r->beacon[3 * b] - x[0], r->beacon[3 * b + 1] - x[1]);
        const double distance = o->kind == CT_SE3 ? hypot(flat, r->beacon[3 * b + 2] - x[2]) : flat;
        put(&text, t, ",");
        ct__text_printf(&text, "%d,", b + 1);
        put(&text, fabs(distance + o->range * ct_rng_normal(&rng)), "\n");
    }
    return save_table(r, &text, "ranges");
}

static ct_status write_truth(const run *r)
{
    const ct_tables_options *o = r->options;
    const int                fields = ct_kind_fields(o->kind);
    ct__text                 text = {0};
    ct__text_put(&text, o->kind == CT_SE3 ? "t,x,y,z,qx,qy,qz,qw\n" : "t,x,y,yaw\n");
    for (int64_t k = 0; stamp(0, k, o->truth_hz) <= o->duration_s; k++) {
        const double t = stamp(0, k, o->truth_hz);
        double       x[CT_SIZE_MAX];
        ct__tables_path_at(&r->path, t, x, NULL);
        put(&text, t, ",");
        for (int i = 0; i < fields; i++) put(&text, x[i], i < fields - 1 ? "," : "\n");
    }
    return save_table(r, &text, "truth");
}

static ct_status write_run(run *r)
{
    r->path = ct__tables_path_draw(r->options->kind, r->options->seed, r->number);
    CT_TRY(write_odometry(r));
    if (r->options->gps_hz > 0) CT_TRY(write_gps(r));
    if (r->options->range_hz > 0) CT_TRY(write_ranges(r));
    return write_truth(r);
}

/* ---- Map, recipe and noise ------------------------------------------------------------------- */

static void place_beacons(const ct_tables_options *o, double *beacon)
{
    ct_rng rng = ct__rng_stream(o->seed, 0, STREAM_BEACONS);
    for (int32_t b = 0; b < o->beacons; b++) {
        const double angle = 6.28318530717958647692 * (b + 0.2 + 0.6 * ct_rng_uniform(&rng)) / o->beacons;
        beacon[3 * b] = round(RING_X * cos(angle) * 1e3) / 1e3;
        beacon[3 * b + 1] = round(RING_Y * sin(angle) * 1e3) / 1e3;
        beacon[3 * b + 2] = b % 2 ? RING_Z : 0; /* in space: on the ground and on masts */
    }
}

static ct_status write_beacons(const ct_tables_options *o, const double *beacon, const char *folder, ct_err *err)
{
    const int axes = o->kind == CT_SE3 ? 3 : 2;
    ct__text  text = {0};
    ct__text_put(&text, axes == 3 ? "beacon,x,y,z\n" : "beacon,x,y\n");
    for (int32_t b = 0; b < o->beacons; b++) {
        ct__text_printf(&text, "%d,", b + 1);
        for (int i = 0; i < axes; i++) put(&text, beacon[3 * b + i], i < axes - 1 ? "," : "\n");
    }
    return save(&text, folder, "beacons.csv", err);
}

/* Start sigmas are round numbers that somebody would guess, not those that were drawn. */
static ct_status write_recipe(const ct_tables_options *o, const char *folder, ct_err *err)
{
    const int   gps = o->gps_hz > 0, ranges = o->range_hz > 0, yaw = gps && o->heading >= 0, space = o->kind == CT_SE3;
    const char *position = space ? "position: [x, y, z]" : "position: [x, y]";
    ct__text    t = {0};
    ct__text_put(&t, CT_TABLES_BEGINS "\nformat: covtune-recipe\nversion: 1\nsources:\n"
                     "  odometry: odometry-{run}.csv\n");
    if (gps) ct__text_put(&t, "  gps: gps-{run}.csv\n");
    if (ranges) ct__text_put(&t, "  ranges: ranges-{run}.csv\n  beacons: beacons.csv\n");
    ct__text_printf(&t, "  truth: truth-{run}.csv\nstates:\n  type: %s\n  every: ", ct_kind_name(o->kind));
    put(&t, o->every_s, "\n");
    if (ranges) ct__text_printf(&t, "landmarks:\n  beacons: {source: beacons, id: beacon, %s}\n", position);
    ct__text_put(&t, "sensors:\n  odom:\n    type: odometry\n    source: odometry\n");
    ct__text_put(&t, space ? "    velocity: [vx, vy, vz]\n    angular_velocity: [wx, wy, wz]\n"
                             "    noise: {sigma: [0.02, 0.02, 0.02, 0.05, 0.05, 0.05]}\n"
                           : "    velocity: [vx, vy, omega]\n    noise: {sigma: [0.05, 0.05, 0.02]}\n");
    if (gps)
        ct__text_printf(&t, "  gps:\n    type: position\n    source: gps\n    %s\n    noise: {sigma: 1}\n", position);
    if (yaw)
        ct__text_put(&t, "  heading:\n    type: heading\n    source: gps\n    yaw: yaw\n    noise: {sigma: 0.1}\n");
    if (ranges)
        ct__text_put(&t, "  range:\n    type: range\n    source: ranges\n    landmarks: beacons\n    id: beacon\n"
                         "    range: range\n    noise: {sigma: 1}\n");
    ct__text_printf(&t, "truth:\n  source: truth\n  %s\n  %s\n  gap: ", position,
                    space ? "quaternion: [qx, qy, qz, qw]" : "yaw: yaw");
    put(&t, fmax(0.5, 2 / o->truth_hz), "\nsplit:\n  train: [\"train*\"]\n  test: [\"test*\"]\n");
    return save(&t, folder, "recipe.yaml", err);
}

static ct_status add_model(ct_noise *noise, const char *name, int dim, const double sigma[], double factor,
                           ct_err *err)
{
    double variance[CT_DIM_MAX];
    for (int i = 0; i < dim; i++) variance[i] = fmax(SMALLEST, factor * sigma[i] * sigma[i]);
    return ct_noise_add_diagonal(noise, name, dim, variance, NULL, err);
}

static ct_status write_latent(const ct_tables_options *o, const char *folder, ct_err *err)
{
    ct_noise *noise = NULL;
    char     *path = ct__path_join(folder, "latent.json");
    ct_status status = path ? ct_noise_new(&noise, err) : ct__no_memory(err, "file names", 1);
    if (status == CT_OK) status = add_model(noise, "odom", ct_kind_dim(o->kind), o->odom, o->every_s / o->odom_hz, err);
    if (status == CT_OK && o->gps_hz > 0) status = add_model(noise, "gps", o->kind == CT_SE3 ? 3 : 2, o->gps, 1, err);
    if (status == CT_OK && o->gps_hz > 0 && o->heading >= 0)
        status = add_model(noise, "heading", 1, &o->heading, 1, err);
    if (status == CT_OK && o->range_hz > 0) status = add_model(noise, "range", 1, &o->range, 1, err);
    if (status == CT_OK) status = ct_noise_write(noise, path, err);
    ct_noise_free(noise);
    free(path);
    return status;
}

/* ---- All ------------------------------------------------------------------------------------- */

static ct_status write_runs(const ct_tables_options *o, int32_t train, int32_t test, const double *beacon,
                            const char *folder, ct_err *err)
{
    run       r = {.options = o, .beacon = beacon, .folder = folder, .err = err};
    ct_status status = CT_OK;
    for (int32_t i = 0; status == CT_OK && i < train + test; i++) {
        const int32_t k = i < train ? i : i - train;
        r.number = (i < train ? 0 : FIRST_TEST_RUN) + (uint64_t)k;
        snprintf(r.name, sizeof r.name, "%s%02d", i < train ? "train" : "test", k);
        status = write_run(&r);
    }
    return status;
}

ct_status ct_simulate_tables(const ct_tables_options *options, int32_t train, int32_t test, const char *folder,
                             ct_err *err)
{
    CT_TRY(check(options, train, test, err));
    struct stat entry;
    if (mkdir(folder, 0777) != 0 && !(errno == EEXIST && stat(folder, &entry) == 0 && S_ISDIR(entry.st_mode)))
        return ct_fail(err, CT_E_IO, "%s: the folder cannot be made: %s", folder, strerror(errno));
    double *beacon = ct__zalloc(3 * (int64_t)options->beacons, sizeof *beacon);
    if (!beacon) return ct__no_memory(err, "beacons", options->beacons);
    place_beacons(options, beacon);
    ct_status status = options->range_hz > 0 ? write_beacons(options, beacon, folder, err) : CT_OK;
    if (status == CT_OK) status = write_runs(options, train, test, beacon, folder, err);
    if (status == CT_OK) status = write_latent(options, folder, err);
    if (status == CT_OK) status = write_recipe(options, folder, err); /* last: what it names is there */
    free(beacon);
    return status;
}
