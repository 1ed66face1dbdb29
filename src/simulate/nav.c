/* nav.c: navigation sequences as in the paper's first study: odometry between neighbouring poses, a GPS-like pose on
 * each.
 *
 * A measurement is z = g(x) o Exp(e) with e ~ N(0, Sigma) in the tangent space, on the right. For odometry g = a^-1
 * b, for GPS g = x. With the square-root information R, R'R = Sigma^-1, and white n, e solves R e = n, so that Cov e
 * = R^-1 R^-T = Sigma. An odometry step with multiplier m has sqrt(m) e.
 *
 * Path and noise are drawn from separate streams, each seeded by a hash of the dataset's seed and the number of the
 * sequence. So the noise does not change the path, and a sequence does not depend on the others. */
#include <covtune/simulate.h>
#include "data/data.h"
#include "data/leo.h"
#include "simulate/nav_situation.h"

#include <ctype.h>
#include <math.h>

enum { STREAM_PATH, STREAM_NOISE, STREAM_DRIFT, STREAM_UNEVEN, STREAM_SWING, STREAM_GYRO };

#define PI 3.14159265358979323846

/* ---- Presets --------------------------------------------------------------------------------- */

/* Sigmas of a regime: x, y (m) and yaw (rad), of odometry and of GPS. */
typedef struct {
    double odom[3], gps[3];
} regime_sigmas;

static const regime_sigmas ROAD = {{0.1, 0.1, 0.1}, {1, 1, 0.1}}, ICE = {{1, 1, 1}, {0.1, 0.1, 0.1}},
                           SKEW = {{1, 2, 0.1}, {2, 1, 0.1}};

static const struct {
    const char          *name;
    int                  regimes;
    const regime_sigmas *sigmas[CT_NAV_REGIMES];
} PRESET[] = {{"D1", 1, {&ROAD, NULL}}, {"D2", 1, {&SKEW, NULL}}, {"D3", 2, {&ROAD, &ICE}}, {"D4", 2, {&ICE, &ROAD}}};

/* Sigma = diag(sigma^2). In space every rotation has the sigma of yaw, every translation that of x. */
static void fill_covariance(ct_kind kind, const double sigma[3], double S[36])
{
    const int dim = ct_kind_dim(kind);
    memset(S, 0, 36 * sizeof *S);
    for (int i = 0; i < dim; i++) {
        const double s = kind == CT_SE2 ? sigma[i] : sigma[i < 3 ? 2 : 0];
        S[i * dim + i] = s * s;
    }
}

static int same_word(const char *a, const char *b)
{
    while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b)) a++, b++;
    return !*a && !*b;
}

int ct_nav_preset(const char *name, ct_kind kind, ct_nav_options *out)
{
    if (kind != CT_SE2 && kind != CT_SE3) return 0;
    for (size_t p = 0; p < sizeof PRESET / sizeof *PRESET; p++) {
        if (!same_word(name, PRESET[p].name)) continue;
        *out = (ct_nav_options){.kind = kind, .least = 300, .most = 500, .regimes = PRESET[p].regimes, .seed = 1};
        for (int r = 0; r < PRESET[p].regimes; r++) {
            fill_covariance(kind, PRESET[p].sigmas[r]->odom, out->odom[r]);
            fill_covariance(kind, PRESET[p].sigmas[r]->gps, out->gps[r]);
        }
        return 1;
    }
    return 0;
}

/* ---- Noise ----------------------------------------------------------------------------------- */

typedef struct {
    ct__noise_numbers numbers;
    int32_t           index; /* in the table */
} nav_model;

typedef struct {
    ct_kind      kind;
    int          regimes;
    nav_model    odom[CT_NAV_REGIMES], gps[CT_NAV_REGIMES];
    int32_t      first; /* noise model of the first pose */
    ct_rng       noise, drift_noise, durations;
    ct__situation situation;
    double       uneven;         /* largest multiplier of odometry; 0 or 1: none                */
    double       drift, decay;   /* sigma of the slow error (m); its factor a per pose */
    double       slow[3];        /* the slow error at the current pose, in the world            */
    double       swing, omega, phase[3]; /* amplitude, rad per pose                             */
    double       walk, gyro;     /* sigma of a step of the turn rate's error; its value         */
    ct_rng       gyro_noise;
    ct_sequence *seq;
    ct_err      *err;
} maker;

static const char *name_model(const maker *m, const char *group, int regime, char buf[16])
{
    snprintf(buf, 16, m->regimes > 1 ? "%s@%d" : "%s", group, regime);
    return buf;
}

/* All models are checked before the first is added to the table. */
static ct_status make_models(maker *m, const ct_nav_options *o, ct_noise *noise)
{
    char              name[16];
    const int         dim = ct_kind_dim(o->kind);
    ct__noise_numbers first;
    for (int r = 0; r < o->regimes; r++) {
        CT_TRY(ct__covariance_numbers(name_model(m, "odom", r, name), dim, o->odom[r], &m->odom[r].numbers, m->err));
        CT_TRY(ct__covariance_numbers(name_model(m, "gps", r, name), dim, o->gps[r], &m->gps[r].numbers, m->err));
    }
    CT_TRY(ct__noise_isotropic(LEO_FIRST_POSE, dim, LEO_FIRST_VARIANCE, &first, m->err));
    CT_TRY(ct__share_model(noise, LEO_FIRST_POSE, &first, &m->first, m->err));
    for (int r = 0; r < o->regimes; r++) {
        CT_TRY(ct__share_model(noise, name_model(m, "odom", r, name), &m->odom[r].numbers, &m->odom[r].index, m->err));
        CT_TRY(ct__share_model(noise, name_model(m, "gps", r, name), &m->gps[r].numbers, &m->gps[r].index, m->err));
        if (o->situation == CT_SITUATION_NONE) continue;
        CT_TRY(ct__situation_function(noise, m->odom[r].index, 1, m->err));
        CT_TRY(o->situation == CT_SITUATION_STREET ? ct__situation_street(noise, m->gps[r].index, m->err)
                                                   : ct__situation_function(noise, m->gps[r].index, 0, m->err));
    }
    return CT_OK;
}

/* e with R e = n. */
static void draw(maker *m, const ct__noise_numbers *model, double e[CT_DIM_MAX])
{
    const int     dim = model->dim, full = model->kind == CT_NOISE_FULL;
    const double *R = model->sqrt_info;
    for (int i = 0; i < dim; i++) e[i] = ct_rng_normal(&m->noise);
    for (int i = dim - 1; i >= 0; i--) {
        for (int j = i + 1; full && j < dim; j++) e[i] -= R[i * dim + j] * e[j];
        e[i] /= R[full ? i * dim + i : i];
    }
}

/* slow <- a slow + sqrt(1 - a^2) n: its variance stays drift^2. */
static void step_drift(maker *m)
{
    const double fresh = m->drift * sqrt(1 - m->decay * m->decay);
    for (int i = 0; i < 3; i++) m->slow[i] = m->decay * m->slow[i] + fresh * ct_rng_normal(&m->drift_noise);
}

/* Adds the slow error to the translation of the GPS pose z. */
static void add_drift(const maker *m, double z[CT_SIZE_MAX])
{
    for (int i = 0; i < (m->kind == CT_SE2 ? 2 : 3); i++) z[i] += m->slow[i]; /* translation is stored first */
}

static void add_swing(const maker *m, int32_t i, double z[CT_SIZE_MAX])
{
    for (int k = 0; k < (m->kind == CT_SE2 ? 2 : 3); k++) z[k] += m->swing * sin(m->omega * i + m->phase[k]);
}

/* Errors that last begin. */
static void begin_errors(maker *m, const ct_nav_options *o, uint64_t number)
{
    ct_rng swing = ct__rng_stream(o->seed, number, STREAM_SWING);
    m->gyro_noise = ct__rng_stream(o->seed, number, STREAM_GYRO);
    for (int i = 0; i < 3; i++) m->slow[i] = m->drift * ct_rng_normal(&m->drift_noise);
    for (int i = 0; i < 3; i++) m->phase[i] = 2 * PI * ct_rng_uniform(&swing);
    m->swing = o->swing;
    m->omega = o->swing > 0 ? 2 * PI / o->swing_poses : 0;
    m->walk = o->gyro;
    m->gyro = o->gyro_start * ct_rng_normal(&m->gyro_noise);
}

static ct_status add_bias(ct_noise *noise, const char *name, int dim, double sigma, const ct_bias *bias, ct_err *err)
{
    int32_t index;
    CT_TRY(ct_noise_add_isotropic(noise, name, dim, sigma * sigma, &index, err));
    return bias ? ct_noise_set_bias(noise, index, bias, err) : CT_OK;
}

ct_status ct_nav_add_biases(const ct_nav_options *o, ct_noise *noise, ct_err *err)
{
    const int     n = o->kind == CT_SE2 ? 2 : 3;
    const ct_bias gps = {.sensor = "gps",
                         .process = CT_BIAS_GAUSS_MARKOV,
                         .rows = n,
                         .row = {"x", "y", ""},
                         .tau = o->drift_poses,
                         .tau_error = NAN};
    ct_bias       odom = {.sensor = "odom",
                          .process = o->gyro > 0 ? CT_BIAS_RANDOM_WALK : CT_BIAS_CONSTANT,
                          .effect = CT_BIAS_RATE,
                          .rows = 1,
                          .tau_error = NAN};
    ct_bias       spatial = gps;
    snprintf(spatial.row[2], sizeof spatial.row[2], "%s", n == 3 ? "z" : "");
    snprintf(odom.row[0], sizeof odom.row[0], "%s", ct_kind_coordinate(o->kind, 2));
    if (o->drift > 0) CT_TRY(add_bias(noise, "gps_bias", n, o->drift, &spatial, err));
    if (o->gyro > 0) CT_TRY(add_bias(noise, "odom_bias", 1, o->gyro, &odom, err));
    if (o->gyro > 0 && o->gyro_start > 0) return add_bias(noise, "odom_bias_start", 1, o->gyro_start, NULL, err);
    if (o->gyro > 0) return add_bias(noise, "odom_bias_start", 1, 1e-3 * o->gyro, NULL, err); /* it begins at zero */
    return o->gyro_start > 0 ? add_bias(noise, "odom_bias", 1, o->gyro_start, &odom, err) : CT_OK;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* Rotation from one pose to the next, rad. */
static double turn_of(ct_kind kind, const double *a, const double *b)
{
    double d[CT_DIM_MAX];
    ct_kind_local(kind, a, b, d);
    return kind == CT_SE2 ? fabs(d[2]) : sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

/* Odometry from pose i - 1 to pose i. */
static ct_status add_odometry(maker *m, int32_t i, const double *x, const nav_model *model)
{
    double z[CT_SIZE_MAX], e[CT_DIM_MAX], multiplier = 1;
    draw(m, &model->numbers, e);
    if (m->uneven > 1) multiplier = pow(m->uneven, 2 * ct_rng_uniform(&m->durations) - 1);
    for (int k = 0; m->uneven > 1 && k < ct_kind_dim(m->kind); k++) e[k] *= sqrt(multiplier);
    const int    depends = m->situation.kind != CT_SITUATION_NONE;
    const double turn = depends ? turn_of(m->kind, x - ct_kind_size(m->kind), x) : 0;
    const double u = depends ? ct__situation_odom(&m->situation, turn) : 0;
    for (int k = 0; depends && k < ct_kind_dim(m->kind); k++) e[k] *= exp(0.5 * u);
    e[2] += m->gyro; /* yaw, in space rz */
    if (m->walk > 0) m->gyro += m->walk * ct_rng_normal(&m->gyro_noise);
    ct__measure(m->kind, x - ct_kind_size(m->kind), x, e, z);
    CT_TRY(ct_graph_add_between(m->seq->graph, i - 1, i, z, model->index, m->err));
    if (depends) CT_TRY(ct__situation_describe(&m->situation, m->seq->graph, 1, &turn, u, m->err));
    return ct_graph_set_multiplier(m->seq->graph, ct_graph_factors(m->seq->graph) - 1, multiplier, m->err);
}

static void turn_ellipse(const ct__noise_numbers *gps, const double feature[2], double *e)
{
    double sigma[CT_DIM_MAX];
    for (int i = 0; i < gps->dim; i++)
        sigma[i] = sqrt(gps->covariance[gps->kind == CT_NOISE_FULL ? i * (gps->dim + 1) : i]);
    ct__situation_turn(gps->dim, feature, sigma, e);
}

/* A pose, its odometry and its GPS measurement; the first pose has a prior instead. */
static ct_status add_pose(maker *m, int32_t i, int regime)
{
    ct_graph      *g = m->seq->graph;
    const int64_t  size = ct_kind_size(m->kind);
    const double  *x = m->seq->truth + i * size;
    double         z[CT_SIZE_MAX], e[CT_DIM_MAX], world[CT_SIZE_MAX];
    CT_TRY(ct_graph_add_variable(g, NULL, m->kind, x, NULL, m->err));
    if (i == 0) return ct_graph_add_prior(g, 0, x, m->first, m->err);
    CT_TRY(add_odometry(m, i, x, &m->odom[regime]));
    draw(m, &m->gps[regime].numbers, e);
    double       feature[2];
    const int    depends = m->situation.kind != CT_SITUATION_NONE;
    const double u = depends ? ct__situation_gps(&m->situation, feature) : 0;
    for (int k = 0; depends && k < ct_kind_dim(m->kind); k++) e[k] *= exp(0.5 * u);
    if (m->situation.kind == CT_SITUATION_STREET) turn_ellipse(&m->gps[regime].numbers, feature, e);
    ct_kind_identity(m->kind, world);
    ct__measure(m->kind, world, x, e, z);
    if (m->drift > 0) step_drift(m), add_drift(m, z);
    if (m->swing > 0) add_swing(m, i, z);
    CT_TRY(ct_graph_add_prior(g, i, z, m->gps[regime].index, m->err));
    return depends ? ct__situation_describe(&m->situation, g, 0, feature, u, m->err) : CT_OK;
}

static ct_status check(const ct_nav_options *o, ct_err *err)
{
    if (o->kind != CT_SE2 && o->kind != CT_SE3)
        return ct_fail(err, CT_E_ARGUMENT, "a navigation sequence has SE2 or SE3 poses, not %s",
                       ct_kind_name(o->kind));
    if (o->least < 2)
        return ct_fail(err, CT_E_ARGUMENT, "a navigation sequence needs at least 2 poses, %d were asked for", o->least);
    if (o->most < o->least)
        return ct_fail(err, CT_E_ARGUMENT, "a navigation sequence cannot have at least %d and at most %d poses",
                       o->least, o->most);
    if (o->regimes < 1 || o->regimes > CT_NAV_REGIMES)
        return ct_fail(err, CT_E_ARGUMENT, "a navigation sequence has 1 or %d regimes, %d were asked for",
                       CT_NAV_REGIMES, o->regimes);
    if (!(o->drift >= 0 && o->drift <= 1e6) || (o->drift > 0 && !(o->drift_poses > 0 && o->drift_poses <= 1e9)))
        return ct_fail(err, CT_E_ARGUMENT,
                       "the drift of GPS needs a sigma from 0 to 1e6 m and a correlation time above 0 and up to 1e9 "
                       "poses, found %g and %g",
                       o->drift, o->drift_poses);
    if (!(o->swing >= 0 && o->swing <= 1e6) || (o->swing > 0 && !(o->swing_poses > 0 && o->swing_poses <= 1e9)))
        return ct_fail(err, CT_E_ARGUMENT,
                       "the swing of GPS needs an amplitude from 0 to 1e6 m and a period above 0 and up to 1e9 poses, "
                       "found %g and %g",
                       o->swing, o->swing_poses);
    if (!(o->gyro >= 0 && o->gyro <= 1 && o->gyro_start >= 0 && o->gyro_start <= 1))
        return ct_fail(err, CT_E_ARGUMENT, "the error of the turn rate has sigmas from 0 to 1 rad, found %g and %g",
                       o->gyro, o->gyro_start);
    if (o->uneven != 0 && !(o->uneven >= 1 && o->uneven <= 1e6))
        return ct_fail(err, CT_E_ARGUMENT, "the largest multiplier of odometry is from 1 to 1e6, found %g", o->uneven);
    if ((unsigned)o->situation > CT_SITUATION_STREET || o->useless < 0 || o->useless > 20)
        return ct_fail(err, CT_E_ARGUMENT, "situation %d is not one, or %d useless features are not 0 to 20",
                       (int)o->situation, o->useless);
    return CT_OK;
}

static ct_status fill(maker *m, const ct_nav_options *o, uint64_t number, ct_noise *noise)
{
    ct_sequence  *seq = m->seq;
    ct_rng        path = ct__rng_stream(o->seed, number, STREAM_PATH);
    const int32_t n = o->least + (int32_t)(ct_rng_uniform(&path) * ((double)o->most - o->least + 1));
    char          name[32];
    snprintf(name, sizeof name, "run%llu", (unsigned long long)number);
    seq->name = ct__strdup(name);
    seq->truth = ct__zalloc((int64_t)n * ct_kind_size(o->kind), sizeof *seq->truth);
    seq->known = ct__zalloc(n, sizeof *seq->known);
    if (!seq->name || !seq->truth || !seq->known) return ct__no_memory(m->err, "poses", n);
    CT_TRY(make_models(m, o, noise));
    ct__nav_path(o->kind, n, &path, seq->truth);
    for (int32_t i = 0; i < n; i++) {
        const int middle = i >= n / 4 && i < n - n / 4;
        CT_TRY(add_pose(m, i, o->regimes > 1 && middle));
        seq->known[i] = (uint8_t)((1u << ct_kind_dim(o->kind)) - 1);
    }
    return ct_sequence_initialise(seq, 1, ct_graph_initial(seq->graph), m->err);
}

ct_status ct_simulate_nav(const ct_nav_options *options, uint64_t number, ct_noise *noise, ct_sequence **out,
                          ct_err *err)
{
    *out = NULL;
    CT_TRY(check(options, err));
    maker m = {.kind = options->kind,
               .regimes = options->regimes,
               .noise = ct__rng_stream(options->seed, number, STREAM_NOISE),
               .drift_noise = ct__rng_stream(options->seed, number, STREAM_DRIFT),
               .durations = ct__rng_stream(options->seed, number, STREAM_UNEVEN),
               .uneven = options->uneven,
               .situation = ct__situation_begin(options, number),
               .drift = options->drift,
               .decay = options->drift > 0 ? exp(-1 / options->drift_poses) : 0,
               .err = err};
    begin_errors(&m, options, number);
    CT_TRY(ct_sequence_new(NULL, &m.seq, err));
    const ct_status status = fill(&m, options, number, noise);
    if (status == CT_OK) *out = m.seq;
    else ct_sequence_free(m.seq);
    return status;
}
