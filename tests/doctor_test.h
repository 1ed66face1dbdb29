/* doctor_test.h: datasets of a robot with odometry, GPS and ranges to known beacons, with faults put in. */
#ifndef DOCTOR_TEST_H
#define DOCTOR_TEST_H

#include <covtune/doctor.h>
#include <covtune/simulate.h>

#include "ct_test.h"

#include <math.h>

typedef struct {
    int    runs, poses;
    double dt;
    int    with_gps, with_ranges, with_stamps;
    /* faults; all zero: none. Factors are 1 + what is written */
    double odom_scale[3], odom_bias[3], odom_delay, odom_drift, odom_turn, odom_unit_yaw;
    double gps_offset[2], gps_turn, gps_arm[2], gps_delay, gps_drift, gps_scale, gps_unit;
    int    gps_swap, gps_flip;
    double range_scale, range_bias, range_delay, range_arm[2];
    double gps_outliers, gps_outlier_size, gps_student, gps_rho, odom_rho, gps_lasting, range_growth;
    double range_lasting; /* correlation of ranges of neighbouring poses; below 0, negated: of one beacon's ranges */
    double gps_dilution; /* 1: sigma is hdop times 0.5 m, exp of a normal number, a feature */
    double gps_wander; /* sigma in m of an error that lasts for 60 poses, under the noise */
    double spread; /* of odom_bias[2] over runs */
    int    steady; /* 1: a circle at constant speed, 2: straight on */
    uint64_t seed;
} doctor_world;

#define DOCTOR_ODOM {0.05, 0.025, 0.02}
#define DOCTOR_GPS   0.5
#define DOCTOR_RANGE 0.2

static inline doctor_world doctor_world_clean(uint64_t seed)
{
    return (doctor_world){
        .runs = 4, .poses = 250, .dt = 0.5, .with_gps = 1, .with_ranges = 1, .with_stamps = 1, .seed = seed};
}

static inline ct_se2 doctor_pose(const doctor_world *w, int run, double t)
{
    ct_tables_options o = ct_tables_defaults(CT_SE2);
    double            p[CT_SIZE_MAX];
    if (w->steady) return ct_se2_exp((const double[]){2 * t, 0, w->steady == 1 ? 0.1 * t : 0});
    o.seed = w->seed;
    o.duration_s = 1e4;
    ct_tables_truth(&o, (uint64_t)run, t, p, NULL);
    return ct_se2_make(p[0], p[1], p[2]);
}

static inline void doctor_odometry(const doctor_world *w, int run, int k, ct_rng *rng, ct_graph *g, int32_t model)
{
    static const double SIGMA[3] = DOCTOR_ODOM;
    const double t = k * w->dt, a = t + w->odom_delay + w->odom_drift * t, b = a + w->dt * (1 + w->odom_drift);
    const ct_se2 x = doctor_pose(w, run, a), y = doctor_pose(w, run, b);
    double       v[3], n[3], z[4];
    ct_se2_log(ct_se2_between(x, y, NULL, NULL), v);
    const double c = cos(w->odom_turn), s = sin(w->odom_turn), vx = v[0], vy = v[1];
    v[0] = c * vx + s * vy, v[1] = -s * vx + c * vy;
    for (int i = 0; i < 3; i++) n[i] = ct_rng_normal(rng);
    n[1] = w->odom_rho * n[0] + sqrt(1 - w->odom_rho * w->odom_rho) * n[1];
    for (int i = 0; i < 3; i++)
        v[i] = (1 + w->odom_scale[i]) * v[i] + w->odom_bias[i] * w->dt + SIGMA[i] * n[i];
    v[2] += w->spread * (run % 2 ? 1 : -1) * w->dt;
    if (w->odom_unit_yaw > 0) v[2] *= w->odom_unit_yaw;
    const ct_se2 m = ct_se2_exp(v);
    z[0] = m.x, z[1] = m.y, z[2] = m.c, z[3] = m.s;
    ct_graph_add_between(g, k, k + 1, z, model, NULL);
}

static inline void doctor_gps(const doctor_world *w, int run, int k, ct_rng *rng, double slow[2], ct_graph *g,
                              int32_t model)
{
    const double t = k * w->dt;
    const ct_se2 x = doctor_pose(w, run, t + w->gps_delay + w->gps_drift * t);
    double       p[2];
    ct_se2_act(x, w->gps_arm, p, NULL, NULL);
    const double c = cos(w->gps_turn), s = sin(w->gps_turn), n0 = ct_rng_normal(rng), n1 = ct_rng_normal(rng);
    double       q[2] = {c * p[0] - s * p[1] + w->gps_offset[0], s * p[0] + c * p[1] + w->gps_offset[1]}, z[4] = {0};
    double       n[2] = {n0, w->gps_rho * n0 + sqrt(1 - w->gps_rho * w->gps_rho) * n1}, size = DOCTOR_GPS;
    const double hdop = w->gps_dilution > 0 ? exp(0.7 * ct_rng_normal(rng)) : 1;
    size *= hdop;
    if (ct_rng_uniform(rng) < w->gps_outliers) size *= w->gps_outlier_size;
    if (w->gps_student > 0) {
        double chi = 0;
        for (int i = 0; i < (int)w->gps_student; i++) {
            const double u = ct_rng_normal(rng);
            chi += u * u;
        }
        size /= sqrt(chi / w->gps_student);
    }
    for (int i = 0; i < 2; i++) {
        const double a = w->gps_wander > 0 ? exp(-1 / 60.0) : w->gps_lasting;
        slow[i] = a * slow[i] + sqrt(1 - a * a) * (w->gps_wander > 0 ? ct_rng_normal(rng) : n[i]);
        z[i] = (1 + w->gps_scale) * q[i] + size * (w->gps_lasting > 0 ? slow[i] : n[i]) + w->gps_wander * slow[i];
    }
    if (w->gps_swap) {
        const double keep = z[0];
        z[0] = z[1], z[1] = keep;
    }
    if (w->gps_flip) z[1] = -z[1];
    for (int i = 0; i < 2 && w->gps_unit > 0; i++) z[i] *= w->gps_unit;
    ct_graph_add_factor(g, &ct_position_se2, &k, z, NULL, model, NULL);
    const int32_t last = ct_graph_factors(g) - 1;
    if (w->gps_dilution > 0) ct_graph_set_feature(g, "hdop", 1, &last, &hdop, NULL);
}

/* slow: the last errors of the four beacons. */
static inline void doctor_range(const doctor_world *w, int run, int k, ct_rng *rng, double *slow, ct_graph *g,
                                int32_t model)
{
    static const double BEACON[4][2] = {{-5, -5}, {45, -3}, {42, 40}, {-8, 38}};
    const ct_se2        x = doctor_pose(w, run, k * w->dt + w->range_delay);
    const double       *p = BEACON[k % 4];
    const double        sx = x.x + x.c * w->range_arm[0] - x.s * w->range_arm[1],
                        sy = x.y + x.s * w->range_arm[0] + x.c * w->range_arm[1], d = hypot(p[0] - sx, p[1] - sy);
    const double        sigma = DOCTOR_RANGE * (w->range_growth > 0 ? 0.3 + w->range_growth * d / 30 : 1);
    const double        a = fabs(w->range_lasting);
    double             *last = &slow[w->range_lasting < 0 ? k % 4 : 0];
    *last = a * *last + sqrt(1 - a * a) * ct_rng_normal(rng);
    const double        n = sigma * *last;
    double              z[6] = {(1 + w->range_scale) * d + w->range_bias + n, p[0], p[1], 0, 0, 0};
    if (z[0] < 0) z[0] = 0;
    ct_graph_add_factor(g, &ct_range_se2_point, &k, z, NULL, model, NULL);
}

static inline ct_sequence *doctor_run(const doctor_world *w, int run, ct_noise *noise)
{
    ct_graph    *g;
    ct_sequence *seq;
    char         name[32];
    double       slow[2], slow_range[4];
    ct_rng       rng = ct_rng_seed(w->seed * 1000 + (uint64_t)run);
    const int32_t odom = ct_noise_find(noise, "odom"), gps = ct_noise_find(noise, "gps"),
                  range = ct_noise_find(noise, "range");
    ct_graph_new(&g, NULL);
    for (int k = 0; k < w->poses; k++) ct_graph_add_se2(g, NULL, doctor_pose(w, run, k * w->dt), NULL, NULL);
    slow[0] = ct_rng_normal(&rng), slow[1] = ct_rng_normal(&rng);
    for (int i = 0; i < 4; i++) slow_range[i] = w->range_lasting < 0 ? ct_rng_normal(&rng) : 0;
    for (int k = 0; k < w->poses; k++) {
        if (k + 1 < w->poses) doctor_odometry(w, run, k, &rng, g, odom);
        if (w->with_gps) doctor_gps(w, run, k, &rng, slow, g, gps);
        if (w->with_ranges) doctor_range(w, run, k, &rng, slow_range, g, range);
    }
    ct_sequence_new(g, &seq, NULL);
    snprintf(name, sizeof name, "run%d", run);
    seq->name = malloc(32);
    strcpy(seq->name, name);
    seq->truth = malloc((size_t)ct_graph_size(g) * sizeof(double));
    memcpy(seq->truth, ct_graph_initial(g), (size_t)ct_graph_size(g) * sizeof(double));
    seq->known = malloc((size_t)w->poses);
    memset(seq->known, 7, (size_t)w->poses);
    seq->stamp = malloc((size_t)w->poses * sizeof(double));
    for (int k = 0; k < w->poses; k++) seq->stamp[k] = w->with_stamps ? 100 + k * w->dt : NAN;
    return seq;
}

static inline ct_dataset *doctor_dataset(const doctor_world *w)
{
    static const double SIGMA[3] = DOCTOR_ODOM;
    ct_dataset         *d;
    double              variance[3];
    for (int i = 0; i < 3; i++) variance[i] = SIGMA[i] * SIGMA[i];
    ct_dataset_new(&d, NULL);
    ct_noise_add_diagonal(d->noise, "odom", 3, variance, NULL, NULL);
    ct_noise_add_isotropic(d->noise, "gps", 2, DOCTOR_GPS * DOCTOR_GPS, NULL, NULL);
    ct_noise_add_isotropic(d->noise, "range", 1, DOCTOR_RANGE * DOCTOR_RANGE, NULL, NULL);
    d->train = calloc((size_t)w->runs, sizeof *d->train);
    for (int i = 0; i < w->runs; i++) d->train[d->trains++] = doctor_run(w, i, d->noise);
    return d;
}

static inline ct_diagnosis *doctor_examine(const doctor_world *w)
{
    ct_dataset   *d = doctor_dataset(w);
    ct_diagnosis *out = NULL;
    ct_err        err = {0};
    CHECK_OK(ct_doctor_examine(d, NULL, &out, &err), err);
    ct_dataset_free(d);
    return out;
}

#endif
