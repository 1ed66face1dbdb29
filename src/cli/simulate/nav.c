/* nav.c: covtune simulate nav2d and nav3d: navigation datasets with known noise. The folder holds dataset.yaml, with
 * distant start values, the sequences, and latent.json, the noise that the measurements were drawn with. */
#define _POSIX_C_SOURCE 200809L
#include <covtune/simulate.h>
#include "cli/simulate/simulate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_TEST_SEQUENCE ((uint64_t)1 << 32) /* test sequences do not depend on the number of training sequences */
#define RUNS_MAX       100000

typedef struct {
    const char    *world, *dataset, *out;
    /* option texts, or NULL */
    const char    *odom[CT_NAV_REGIMES], *gps[CT_NAV_REGIMES], *poses, *drift, *swing, *gyro;
    double         odom_correlation, gps_correlation, uneven;
    int            train, test, start, situation, useless, binary;
    uint64_t       seed;
    ct_nav_options nav;
    simulate_tables_request tables;
} nav_request;

/* ---- options ---- */

static const char *const STARTS[] = {"far", "unit"};

static int find_start(const char *name) { return !strcmp(name, STARTS[0]) ? 0 : !strcmp(name, STARTS[1]) ? 1 : -1; }

static const char *const SITUATIONS[] = {"none", "linear", "curved", "street"};

static int find_situation(const char *name)
{
    for (int i = 0; i < 4; i++)
        if (!strcmp(name, SITUATIONS[i])) return i;
    return -1;
}

/* Sigmas "S,S,..", one per tangent coordinate, to diag(S^2). */
static cli_exit take_sigmas(const cli_io *io, const char *option, const char *text, int dim, double S[36])
{
    memset(S, 0, 36 * sizeof *S);
    const char *at = text;
    for (int i = 0; i < dim; i++) {
        char        *end;
        const double sigma = strtod(at, &end);
        const char   wanted = i + 1 < dim ? ',' : 0;
        if (end == at || *end != wanted || !(sigma >= 1e-6 && sigma <= 1e6))
            return cli_misuse(io, "--%s is %d sigmas from 1e-06 to 1e+06 with commas (%s), found \"%s\"", option, dim,
                              dim == 3 ? "x,y,yaw" : "rx,ry,rz,x,y,z", text);
        S[i * dim + i] = sigma * sigma;
        at = end + 1;
    }
    return CLI_GO;
}

/* "N" or "LO:HI". */
static cli_exit take_poses(const cli_io *io, const char *text, int32_t *least, int32_t *most)
{
    char *end;
    errno = 0;
    const long low = strtol(text, &end, 10);
    const long high = *end == ':' ? strtol(end + 1, &end, 10) : low;
    if (*end || errno || low < 2 || high < low || high > 1000000)
        return cli_misuse(io, "--poses is a whole number from 2 to 1000000, or two of them (300:500), found \"%s\"",
                          text);
    *least = (int32_t)low;
    *most = (int32_t)high;
    return CLI_GO;
}

/* "S:T", a sigma in metres and a correlation time in poses. */
static cli_exit take_drift(const cli_io *io, const char *text, ct_nav_options *o)
{
    char *end;
    o->drift = strtod(text, &end);
    const int colon = end != text && *end == ':';
    o->drift_poses = colon ? strtod(end + 1, &end) : NAN;
    if (*end || !(o->drift > 0 && o->drift <= 1e6 && o->drift_poses > 0 && o->drift_poses <= 1e9))
        return cli_misuse(io,
                          "--gps-drift is a sigma in m and a correlation time in poses (2:20), both above 0, found "
                          "\"%s\"",
                          text);
    return CLI_GO;
}

/* "A:P", an amplitude in metres and a period in poses. */
static cli_exit take_swing(const cli_io *io, const char *text, ct_nav_options *o)
{
    char *end;
    o->swing = strtod(text, &end);
    const int colon = end != text && *end == ':';
    o->swing_poses = colon ? strtod(end + 1, &end) : NAN;
    if (*end || !(o->swing > 0 && o->swing <= 1e6 && o->swing_poses > 0 && o->swing_poses <= 1e9))
        return cli_misuse(io,
                          "--gps-swing is an amplitude in m and a period in poses (2:60), both above 0, found \"%s\"",
                          text);
    return CLI_GO;
}

/* "S" or "S:S0", sigmas of a random walk of the turn rate and of its first value. */
static cli_exit take_gyro(const cli_io *io, const char *text, ct_nav_options *o)
{
    char *end;
    o->gyro = strtod(text, &end);
    if (end != text && *end == ':') o->gyro_start = strtod(end + 1, &end);
    if (end == text || *end || !(o->gyro >= 0 && o->gyro <= 1 && o->gyro_start >= 0 && o->gyro_start <= 1) ||
        !(o->gyro + o->gyro_start > 0))
        return cli_misuse(io,
                          "--gyro-bias is the sigma of a step of the turn rate's error, and behind a colon that of its "
                          "first value (0.002:0.02), 0 to 1 rad, found \"%s\"",
                          text);
    return CLI_GO;
}

static void correlate(double S[36], ct_kind kind, double r)
{
    const int n = ct_kind_dim(kind), x = kind == CT_SE2 ? 0 : 3, y = x + 1;
    S[x * n + y] = S[y * n + x] = r * sqrt(S[x * n + x] * S[y * n + y]);
}

static cli_exit resolve(const cli_io *io, nav_request *q)
{
    const ct_kind   kind = !strcmp(q->world, "nav2d") ? CT_SE2 : CT_SE3;
    const int       dim = ct_kind_dim(kind);
    ct_nav_options *o = &q->nav;
    cli_exit        code = CLI_GO;
    if (!q->out) return cli_misuse(io, "--out DIR is missing");
    if (q->train + q->test < 1) return cli_misuse(io, "--train 0 and --test 0 leave nothing to make");
    if (!ct_nav_preset(q->dataset, kind, o))
        return cli_misuse(io, "--dataset is one of D1, D2, D3, D4, found \"%s\"", q->dataset);
    o->seed = q->seed;
    o->uneven = q->uneven;
    o->situation = (ct_situation)q->situation;
    o->useless = q->useless;
    if (q->useless && !q->situation) return cli_misuse(io, "--useless has an effect only with --situation");
    if (q->poses) code = take_poses(io, q->poses, &o->least, &o->most);
    if (code == CLI_GO && q->odom[0]) code = take_sigmas(io, "odom", q->odom[0], dim, o->odom[0]);
    if (code == CLI_GO && q->gps[0]) code = take_sigmas(io, "gps", q->gps[0], dim, o->gps[0]);
    if (o->regimes == 1 && (q->odom[1] || q->gps[1])) { /* a second regime, by default like the first */
        o->regimes = 2;
        memcpy(o->odom[1], o->odom[0], sizeof o->odom[1]);
        memcpy(o->gps[1], o->gps[0], sizeof o->gps[1]);
    }
    if (code == CLI_GO && q->odom[1]) code = take_sigmas(io, "odom1", q->odom[1], dim, o->odom[1]);
    if (code == CLI_GO && q->gps[1]) code = take_sigmas(io, "gps1", q->gps[1], dim, o->gps[1]);
    if (code == CLI_GO && q->drift) code = take_drift(io, q->drift, o);
    if (code == CLI_GO && q->swing) code = take_swing(io, q->swing, o);
    if (code == CLI_GO && q->gyro) code = take_gyro(io, q->gyro, o);
    for (int r = 0; r < o->regimes; r++) {
        correlate(o->odom[r], kind, q->odom_correlation);
        correlate(o->gps[r], kind, q->gps_correlation);
    }
    return code;
}

/* ---- sequences ---- */

static ct_status make_runs(const cli_io *io, const nav_request *q, ct_noise *latent, ct_dataset *d, ct_err *err)
{
    const int total = q->train + q->test;
    d->train = cli_alloc(q->train, sizeof *d->train);
    d->test = cli_alloc(q->test, sizeof *d->test);
    for (int i = 0; i < total; i++) {
        const int      testing = i >= q->train;
        const uint64_t number = testing ? FIRST_TEST_SEQUENCE + (uint64_t)(i - q->train) : (uint64_t)i;
        ct_sequence   *seq;
        if (i % 16 == 0) cli_status_show(io, "simulating sequence %d of %d", i + 1, total);
        const ct_status status = ct_simulate_nav(&q->nav, number, latent, &seq, err);
        if (status != CT_OK) return status;
        if (testing) d->test[d->tests++] = seq;
        else d->train[d->trains++] = seq;
    }
    return CT_OK;
}

static int is_group(const char *name, const char *group)
{
    const size_t n = strlen(group);
    return !strncmp(name, group, n) && (!name[n] || name[n] == '@');
}

/* Start values: variances of one, or wrong by orders of magnitude, each sensor where the other is accurate. */
static void fill_start(const nav_request *q, int odom, double variance[CT_DIM_MAX])
{
    const double rotation = odom ? 1e-3 : 1e3, translation = odom ? 100 : 0.1;
    for (int i = 0; i < ct_kind_dim(q->nav.kind); i++) {
        const int turns = q->nav.kind == CT_SE2 ? i == 2 : i < 3;
        variance[i] = q->start ? 1 : turns ? rotation : translation;
    }
}

/* The table that the files are written with, and the groups: neither has the latent numbers. */
static ct_status start_models(const nav_request *q, const ct_noise *latent, ct_dataset *d, ct_err *err)
{
    ct_noise_free(d->noise);
    ct_status status = ct_noise_copy(latent, &d->noise, err);
    if (status != CT_OK) return status;
    d->group = cli_alloc(ct_noise_count(d->noise), sizeof *d->group);
    for (int32_t i = 0; i < ct_noise_count(d->noise) && status == CT_OK; i++) {
        const char       *name = ct_noise_get(d->noise, i)->name;
        const int         odom = is_group(name, "odom"), learn = odom || is_group(name, "gps");
        ct_dataset_group *g = &d->group[d->groups++];
        double            variance[CT_DIM_MAX];
        *g = (ct_dataset_group){.name = cli_check_alloc(strdup(name)), .learn = learn, .kind = -1};
        for (int k = 0; k < CT_NOISE_DIM_MAX; k++) g->lower[k] = g->upper[k] = NAN;
        fill_start(q, odom, variance);
        if (learn) status = ct_noise_set_variance(d->noise, i, variance, err);
        if (status == CT_OK) status = ct_noise_set_function(d->noise, i, NULL, err);
    }
    return status;
}

static ct_status write_all(const cli_io *io, const nav_request *q, const ct_noise *latent, const ct_dataset *d,
                           ct_err *err)
{
    cli_status_show(io, "writing %s", q->out);
    ct_status status = ct_dataset_write_as(d, q->out, q->binary ? CT_FORMAT_BINARY : CT_FORMAT_COVTUNE, err);
    char     *path = cli_path_join(q->out, "latent.json");
    if (status == CT_OK) status = ct_noise_write(latent, path, err);
    free(path);
    if (status != CT_OK) return status;
    simulate_remove_stale(q->out, "train", q->train, q->binary);
    simulate_remove_stale(q->out, "test", q->test, q->binary);
    return CT_OK;
}

/* ---- results ---- */

/* Number of poses, and error of the initial values, averaged over sequences. */
static ct_accuracy initial_accuracy(const ct_dataset *d)
{
    ct_accuracy sum = {0};
    for (int32_t i = 0; i < d->trains + d->tests; i++) {
        const ct_sequence *seq = i < d->trains ? d->train[i] : d->test[i - d->trains];
        const ct_accuracy     one = ct_accuracy_of(seq, ct_graph_initial_const(seq->graph));
        sum.poses += ct_graph_variables(seq->graph);
        sum.translation += one.translation / (d->trains + d->tests);
        sum.rotation += one.rotation / (d->trains + d->tests);
    }
    return sum;
}

/* "x 0.1 m, y 0.1 m, yaw 0.1 rad; x-y correlation 0.9". Returns buf. */
static const char *format_latent(const ct_noise_model *m, ct_kind kind, char *buf, size_t size)
{
    const int full = m->kind == CT_NOISE_FULL, n = m->dim, x = kind == CT_SE2 ? 0 : 3, y = x + 1;
    int       used = 0;
    for (int i = 0; i < n && used < (int)size; i++)
        used += snprintf(buf + used, size - (size_t)used, "%s%s %.4g %s", i ? ", " : "", ct_kind_coordinate(kind, i),
                         ct_noise_sigma(m, i), ct_kind_unit(kind, i));
    if (full && used < (int)size)
        snprintf(buf + used, size - (size_t)used, "; x-y correlation %.4g",
                 m->covariance[x * n + y] / sqrt(m->covariance[x * n + x] * m->covariance[y * n + y]));
    return buf;
}

static void print(const nav_request *q, const ct_noise *latent, const ct_dataset *d)
{
    const ct_accuracy rmse = initial_accuracy(d);
    char           text[256];
    cli_row("made", "%s: %d training sequence%s, %d test sequence%s, %lld poses (%s)", q->out, q->train,
            CLI_S(q->train), q->test, CLI_S(q->test), (long long)rmse.poses, ct_kind_name(q->nav.kind));
    cli_row("latent noise", "sigmas, in %s/latent.json; seed %llu", q->out, (unsigned long long)q->nav.seed);
    for (int32_t i = 0; i < d->groups; i++) { /* biases follow */
        const ct_noise_model *m = ct_noise_get(latent, i);
        if (d->group[i].learn) cli_row("", "%s: %s", m->name, format_latent(m, q->nav.kind, text, sizeof text));
    }
    if (q->drift)
        cli_row("drift", "of GPS: sigma %g m, correlation time %g poses; latent.json has it as a bias of gps",
                q->nav.drift, q->nav.drift_poses);
    if (q->swing)
        cli_row("swing", "of GPS: amplitude %g m, period %g poses; in no noise model", q->nav.swing,
                q->nav.swing_poses);
    if (q->gyro)
        cli_row("turn rate",
                "of odometry has an error: sigma %g rad a step, %g rad at first; latent.json has it as a bias of odom",
                q->nav.gyro, q->nav.gyro_start);
    if (q->uneven > 1)
        cli_row("steps", "are uneven: the covariance of odometry is %.4g to %g times the model's", 1 / q->uneven,
                q->uneven);
    if (q->situation)
        cli_row("situation", "%s: %s, of odometry on turn; %d useless feature%s", SITUATIONS[q->situation],
                q->situation == CT_SITUATION_STREET ? "covariance of GPS depends on cos2a and sin2a"
                                                    : "sigma of GPS depends on sky and traffic",
                q->useless, CLI_S(q->useless));
    cli_row("start", "%s", q->start ? "variances of 1" : "distant variances, see dataset.yaml");
    cli_row("initial",
            "values are the measurements: rmse %.4g m, %.4g rad (per coordinate, against the truth, mean of the "
            "sequences)",
            rmse.translation, rmse.rotation);
}

static json_t *rows_json(const ct_noise_model *m)
{
    json_t *rows = cli_array();
    for (int i = 0; i < m->dim; i++) cli_append(rows, cli_numbers(m->dim, m->covariance + i * m->dim));
    return rows;
}

static void print_json(const nav_request *q, const ct_noise *latent, const ct_dataset *d)
{
    const ct_accuracy rmse = initial_accuracy(d);
    json_t        *o = cli_object(), *noise = cli_object();
    for (int32_t i = 0; i < d->groups; i++) {
        const ct_noise_model *m = ct_noise_get(latent, i), *s = ct_noise_get(d->noise, i);
        json_t               *group = cli_object();
        if (m->kind == CT_NOISE_FULL) cli_put(group, "covariance", rows_json(m));
        else cli_put(group, "variance", cli_numbers(m->dim, m->covariance));
        cli_put(group, "start", cli_numbers(s->dim, s->covariance));
        cli_put(group, "learn", cli_check_alloc(json_boolean(d->group[i].learn)));
        cli_put(noise, m->name, group);
    }
    cli_put(o, "out", cli_text(q->out));
    cli_put(o, "world", cli_text(q->world));
    cli_put(o, "dataset", cli_text(q->dataset));
    cli_put(o, "train", cli_integer(q->train));
    cli_put(o, "test", cli_integer(q->test));
    cli_put(o, "poses", cli_integer(rmse.poses));
    cli_put(o, "seed", cli_integer((int64_t)q->nav.seed));
    if (q->drift) {
        cli_put(o, "gps_drift", cli_number(q->nav.drift));
        cli_put(o, "gps_drift_poses", cli_number(q->nav.drift_poses));
    }
    if (q->swing) {
        cli_put(o, "gps_swing", cli_number(q->nav.swing));
        cli_put(o, "gps_swing_poses", cli_number(q->nav.swing_poses));
    }
    if (q->gyro) {
        cli_put(o, "gyro_bias", cli_number(q->nav.gyro));
        cli_put(o, "gyro_bias_start", cli_number(q->nav.gyro_start));
    }
    if (q->uneven > 1) cli_put(o, "uneven", cli_number(q->uneven));
    if (q->situation) {
        cli_put(o, "situation", cli_text(SITUATIONS[q->situation]));
        cli_put(o, "useless", cli_integer(q->useless));
    }
    cli_put(o, "start", cli_text(STARTS[q->start]));
    cli_put(o, "latent", noise);
    cli_put(o, "rmse", cli_rmse_json(rmse));
    cli_print_json(o);
}

/* ---- the command ---- */

static cli_exit carry_out(const cli_io *io, const nav_request *q)
{
    ct_err      err = {0};
    ct_noise   *latent = NULL;
    ct_dataset *d = NULL;
    ct_status   status = simulate_check_place(q->out, &err);
    if (status == CT_OK) status = ct_noise_new(&latent, &err);
    if (status == CT_OK) status = ct_dataset_new(&d, &err);
    if (status == CT_OK) status = make_runs(io, q, latent, d, &err);
    if (status == CT_OK) status = start_models(q, latent, d, &err);
    if (status == CT_OK) status = ct_nav_add_biases(&q->nav, latent, &err);
    if (status == CT_OK) status = write_all(io, q, latent, d, &err);
    cli_status_clear();
    if (status == CT_OK && io->json) print_json(q, latent, d);
    else if (status == CT_OK && !io->quiet) print(q, latent, d);
    ct_dataset_free(d);
    ct_noise_free(latent);
    return status == CT_OK ? CLI_DONE : cli_fail(io, "%s", err.text);
}

#define AT(member) offsetof(nav_request, member)
static const cli_option OPTIONS[] = {
    CLI_ROW_HEADING("What is made"),
    CLI_ROW_TEXT("out", "DIR", AT(out), "output folder; a dataset in it that covtune wrote is replaced"),
    CLI_ROW_TEXT("dataset", "D1|D2|D3|D4", AT(dataset),
                 "noise of the paper's dataset; D3 and D4 have two regimes (D1)"),
    CLI_ROW_CHOICE("start", "far|unit", find_start, AT(start),
                   "start values of the variances: wrong by orders of magnitude, or 1 (far)"),
    CLI_ROW_INTEGER("train", "N", 0, RUNS_MAX, AT(train), "number of training sequences (5; tables: 4)"),
    CLI_ROW_INTEGER("test", "N", 0, RUNS_MAX, AT(test), "number of test sequences (20; tables: 4)"),
    CLI_ROW_TEXT("poses", "N|LO:HI", AT(poses), "poses per sequence, drawn from LO to HI (300:500)"),
    CLI_ROW_SEED("seed", "K", AT(seed), "seed of the random numbers (1)"),
    CLI_ROW_FLAG("binary", AT(binary),
                 "write sequences as binary files, .ctbin: a half as large, read ten times as fast"),
    CLI_ROW_HEADING("Other noise"),
    CLI_ROW_TEXT("odom", "S,S,S", AT(odom[0]),
                 "sigmas of odometry: x,y,yaw (nav3d: rx,ry,rz,x,y,z), in m and rad"),
    CLI_ROW_TEXT("gps", "S,S,S", AT(gps[0]), "sigmas of GPS"),
    CLI_ROW_TEXT("odom1", "S,S,S", AT(odom[1]),
                 "sigmas of odometry in the second regime, the middle half of a sequence"),
    CLI_ROW_TEXT("gps1", "S,S,S", AT(gps[1]), "sigmas of GPS in the second regime"),
    CLI_ROW_NUMBER("odom-correlation", "R", -0.999, 0.999, AT(odom_correlation),
                   "correlation of x and y of odometry (0)"),
    CLI_ROW_NUMBER("gps-correlation", "R", -0.999, 0.999, AT(gps_correlation),
                   "correlation of x and y of GPS (0)"),
    CLI_ROW_TEXT("gps-drift", "S:T", AT(drift),
                 "a slow error of GPS positions, as from multipath: sigma S in m, correlation time T in poses; "
                 "white-noise models cannot describe it, learn --bias gps=gauss-markov does (none)"),
    CLI_ROW_TEXT("gps-swing", "A:P", AT(swing),
                 "an error of GPS positions that swings: a sine of amplitude A in m and period P in poses in each "
                 "coordinate (none)"),
    CLI_ROW_TEXT("gyro-bias", "S[:S0]", AT(gyro),
                 "an error of odometry's turn rate, a random walk: sigma S of a step and S0 of its first value, in rad "
                 "per pose; learn --bias odom.yaw=random-walk describes it (none)"),
    CLI_ROW_NUMBER("uneven", "R", 1, 1e6, AT(uneven),
                   "steps of unequal duration: the covariance of an odometry factor is 1/R to R times its model's, "
                   "and the factor says so (1)"),
    CLI_ROW_CHOICE("situation", "none|linear|curved|street", find_situation, AT(situation),
                   "noise that depends on features: GPS on sky and traffic over a factor of 20 in sigma, odometry on "
                   "turn; log-linear, or not; street: the ellipse of GPS turns with cos2a and sin2a (none)"),
    CLI_ROW_INTEGER("useless", "N", 0, 20, AT(useless), "with --situation: features that mean nothing (0)"),
    CLI_ROW_HEADING("Tables of a recorder instead of sequences"),
    CLI_ROW_FLAG("tables", AT(tables.wanted),
                 "write stamped CSV files of odometry, GPS, ranges and truth, with the recipe that imports them; "
                 "--odom has the sigmas of vx,vy,omega of a record (0.1,0.05,0.03), --gps those of x,y (0.5,0.5) or "
                 "x,y,yaw"),
    CLI_ROW_NUMBER("duration", "S", 1, 1e6, AT(tables.duration_s), "seconds of a run (120)"),
    CLI_ROW_NUMBER("every", "S", 1e-3, 1e6, AT(tables.every_s), "seconds between states in the recipe (0.5)"),
    CLI_ROW_TEXT("rates", "O,G,R,T", AT(tables.rates),
                 "records a second of odometry, GPS, ranges and truth; 0 for GPS or ranges: no table (20,2,4,20)"),
    CLI_ROW_NUMBER("range", "S", 0, 1e6, AT(tables.range), "sigma of ranges, in m (0.2)"),
    CLI_ROW_INTEGER("beacons", "N", 1, 1000, AT(tables.beacons), "number of beacons (4)"),
    CLI_ROW_HEADING("Output"),
    CLI_ROW_END,
};
#undef AT

/* What the two forms of output do not share is refused. */
static cli_exit check_form(const cli_io *io, const nav_request *q)
{
    const simulate_tables_request *t = &q->tables;
    const struct {
        const char *name;
        int         given, tables;
    } option[] = {{"dataset", q->dataset != NULL, 0},
                  {"start", q->start >= 0, 0},
                  {"poses", q->poses != NULL, 0},
                  {"odom1", q->odom[1] != NULL, 0},
                  {"gps1", q->gps[1] != NULL, 0},
                  {"odom-correlation", q->odom_correlation != 0, 0},
                  {"gps-correlation", q->gps_correlation != 0, 0},
                  {"gps-drift", q->drift != NULL, 0},
                  {"uneven", q->uneven > 0, 0},
                  {"situation", q->situation != 0, 0},
                  {"useless", q->useless != 0, 0},
                  {"binary", q->binary, 0},
                  {"duration", t->duration_s > 0, 1},
                  {"every", t->every_s > 0, 1},
                  {"rates", t->rates != NULL, 1},
                  {"range", t->range >= 0, 1},
                  {"beacons", t->beacons > 0, 1}};
    for (size_t i = 0; i < sizeof option / sizeof *option; i++)
        if (option[i].given && option[i].tables != t->wanted)
            return cli_misuse(io, "--%s has %s effect %s --tables", option[i].name, t->wanted ? "no" : "an",
                              t->wanted ? "with" : "only with");
    return CLI_GO;
}

static cli_exit run(const cli_command *command, int argc, char **argv)
{
    nav_request q = {.train = -1, .test = -1, .seed = 1, .start = -1, .tables = {.range = -1}};
    cli_io      io;
    cli_exit    code = cli_parse(command, &q, argc, argv, &io, &q.world);
    if (code == CLI_GO) code = check_form(&io, &q);
    if (code != CLI_GO) return code;
    if (q.train < 0) q.train = q.tables.wanted ? 4 : 5;
    if (q.test < 0) q.test = q.tables.wanted ? 4 : 20;
    if (q.tables.wanted) {
        q.tables.kind = !strcmp(q.world, "nav2d") ? CT_SE2 : CT_SE3;
        q.tables.out = q.out;
        q.tables.odom = q.odom[0];
        q.tables.gps = q.gps[0];
        q.tables.train = q.train;
        q.tables.test = q.test;
        q.tables.seed = q.seed;
        return simulate_tables(&io, &q.tables);
    }
    if (!q.dataset) q.dataset = "D1";
    if (q.start < 0) q.start = 0;
    if (!(q.uneven > 0)) q.uneven = 1;
    code = resolve(&io, &q);
    return code != CLI_GO ? code : cli_finish(&io, carry_out(&io, &q));
}

const cli_command cli_simulate_nav = {
    .name = "simulate",
    .brief = "simulate a navigation dataset",
    .operands = "nav2d|nav3d",
    .needs = "--out DIR",
    .least = 1,
    .most = 1,
    .text = "Makes a dataset to learn noise models from: robots on smooth random paths in 100 m by 50 m (nav3d: 10 m "
            "high). Factors are odometry between poses (noise model odom), a GPS-like pose on each (gps) and a tight "
            "prior on the first (first_pose). The folder has dataset.yaml, sequences with their truth in train and "
            "test, and latent.json, the noise that the measurements were drawn with. Initial values are absolute "
            "measurements where there are any, and composed from relative ones elsewhere.\n"
            "With --tables: what a robot records, as CSV files, and recipe.yaml for covtune import.\n",
    .example = "  covtune simulate nav2d --dataset D3 --train 5 --test 20 --seed 1 --out d3\n"
               "  covtune info d3\n"
               "  covtune simulate nav2d --tables --out robot\n",
    .options = OPTIONS,
    .run = run,
};
