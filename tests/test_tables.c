/* test_tables.c: tables of a simulated robot. */
#include "ct_test.h"

#include <covtune/lie.h>
#include <covtune/noise.h>
#include <covtune/simulate.h>

enum { COLUMNS = 8, ROWS_MAX = 20000 };
static double table[ROWS_MAX][COLUMNS];

static const char *in(const char *folder, const char *name)
{
    static char path[4][700];
    static int  turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s%s%s", ct_test_folder(), folder, *name ? "/" : "", name);
    return path[turn];
}

/* Rows of a table; 0: it cannot be read. */
static int read_table(const char *folder, const char *name, int columns)
{
    FILE *file = fopen(in(folder, name), "r");
    char  line[256];
    int   rows = 0;
    CHECK(file != NULL);
    if (!file) return 0;
    CHECK(fgets(line, sizeof line, file) != NULL); /* the header */
    while (rows < ROWS_MAX && fgets(line, sizeof line, file)) {
        char *at = line;
        for (int c = 0; c < columns; c++) table[rows][c] = strtod(at, &at), at++;
        rows++;
    }
    fclose(file);
    return rows;
}

static void make(const ct_tables_options *o, int train, int test, const char *folder)
{
    ct_err err = {0};
    CHECK_OK(ct_simulate_tables(o, train, test, in(folder, ""), &err), err);
}

static ct_tables_options noise_free(ct_kind kind)
{
    ct_tables_options o = ct_tables_defaults(kind);
    memset(o.odom, 0, sizeof o.odom);
    memset(o.gps, 0, sizeof o.gps);
    o.heading = o.range = 0;
    return o;
}

/* The element of run `number` at time t. */
static void truth_at(const ct_tables_options *o, uint64_t number, double t, double x[CT_SIZE_MAX])
{
    double field[CT_SIZE_MAX];
    ct_tables_truth(o, number, t, field, NULL);
    CHECK(ct_kind_from_fields(o->kind, field, x));
}

/* Velocity is the derivative of the pose, in the body's frame, at any time: five-point differences. */
static void check_derivative(ct_kind kind)
{
    ct_tables_options o = ct_tables_defaults(kind);
    const double      h = 1e-3, weight[4] = {1. / 12, -2. / 3, 2. / 3, -1. / 12};
    for (uint64_t run = 0; run < 50; run++) {
        for (double t = 0; t < 120; t += 3.7) {
            double x[CT_SIZE_MAX], v[CT_DIM_MAX], d[CT_DIM_MAX] = {0};
            ct_tables_truth(&o, run, t, NULL, v);
            truth_at(&o, run, t, x);
            for (int k = 0; k < 4; k++) {
                double y[CT_SIZE_MAX], e[CT_DIM_MAX];
                truth_at(&o, run, t + (k < 2 ? k - 2 : k - 1) * h, y);
                ct_kind_local(kind, x, y, e);
                for (int i = 0; i < ct_kind_dim(kind); i++) d[i] += weight[k] * e[i] / h;
            }
            for (int i = 0; i < ct_kind_dim(kind); i++) CHECK_NEAR(d[i], v[i], 1e-8);
            const double *linear = kind == CT_SE2 ? v : v + 3;
            CHECK(hypot(linear[0], linear[1]) > 0.4 && hypot(linear[0], linear[1]) < 4);
        }
    }
}

static void test_velocity_is_derivative_of_pose(void)
{
    check_derivative(CT_SE2);
    check_derivative(CT_SE3);
}

/* Noise-free odometry, held from stamp to stamp, leads from the first truth to every other. */
static void check_integral(ct_kind kind)
{
    const ct_tables_options o = noise_free(kind);
    const int               dim = ct_kind_dim(kind), size = ct_kind_size(kind);
    static double           truth[ROWS_MAX][CT_SIZE_MAX];
    double                  x[CT_SIZE_MAX];
    make(&o, 1, 0, "exact");
    const int rows = read_table("exact", "truth-train00.csv", 1 + ct_kind_fields(kind));
    for (int k = 0; k < rows; k++) CHECK(ct_kind_from_fields(kind, table[k] + 1, truth[k]));
    CHECK(rows == 2401 && read_table("exact", "odometry-train00.csv", 1 + dim) == rows);
    memcpy(x, truth[0], (size_t)size * sizeof *x);
    for (int k = 0; k + 1 < rows; k++) {
        const double dt = table[k + 1][0] - table[k][0];
        double       step[CT_DIM_MAX], e[CT_DIM_MAX];
        for (int i = 0; i < dim; i++) step[i] = dt * table[k][1 + (dim == 6 ? (i + 3) % 6 : i)];
        ct_kind_retract(kind, x, step, x);
        ct_kind_local(kind, x, truth[k + 1], e);
        for (int i = 0; i < dim; i++) CHECK_NEAR(e[i], 0, 2e-6); /* digits of 2400 records */
    }
}

static void test_noise_free_odometry_gives_truth(void)
{
    check_integral(CT_SE2);
    check_integral(CT_SE3);
}

/* Noise-free positions, headings and ranges are those of the truth at their own stamps. */
static void test_noise_free_tables_sample_truth(void)
{
    const ct_tables_options o = noise_free(CT_SE2);
    double                  beacon[4][2];
    make(&o, 0, 2, "exact");
    CHECK(read_table("exact", "beacons.csv", 3) == 4);
    for (int b = 0; b < 4; b++) beacon[b][0] = table[b][1], beacon[b][1] = table[b][2];
    const int fixes = read_table("exact", "gps-test01.csv", 4);
    CHECK(fixes == 240);
    for (int k = 0; k < fixes; k++) {
        double x[CT_SIZE_MAX];
        ct_tables_truth(&o, ((uint64_t)1 << 32) + 1, table[k][0], x, NULL);
        for (int i = 0; i < 3; i++) CHECK_NEAR(table[k][1 + i], x[i], 1e-9);
    }
    const int ranges = read_table("exact", "ranges-test01.csv", 3);
    CHECK(ranges == 480);
    for (int k = 0; k < ranges; k++) {
        double    x[CT_SIZE_MAX];
        const int b = (int)table[k][1] - 1;
        CHECK(b == k % 4);
        ct_tables_truth(&o, ((uint64_t)1 << 32) + 1, table[k][0], x, NULL);
        CHECK_NEAR(table[k][2], hypot(beacon[b][0] - x[0], beacon[b][1] - x[1]), 1e-9);
    }
}

/* In space: positions, the heading of the x axis, ranges. */
static void test_noise_free_tables_in_space(void)
{
    const ct_tables_options o = noise_free(CT_SE3);
    double                  beacon[4][3];
    make(&o, 1, 0, "exact");
    CHECK(read_table("exact", "beacons.csv", 4) == 4);
    for (int b = 0; b < 4; b++) memcpy(beacon[b], table[b] + 1, sizeof beacon[b]);
    const int fixes = read_table("exact", "gps-train00.csv", 5);
    CHECK(fixes == 240);
    for (int k = 0; k < fixes; k++) {
        double x[CT_SIZE_MAX], ahead[3];
        ct_tables_truth(&o, 0, table[k][0], x, NULL);
        for (int i = 0; i < 3; i++) CHECK_NEAR(table[k][1 + i], x[i], 1e-9);
        ct_so3_act((ct_so3){x[3], x[4], x[5], x[6]}, (double[3]){1, 0, 0}, ahead, NULL, NULL);
        CHECK_NEAR(table[k][4], atan2(ahead[1], ahead[0]), 1e-9);
    }
    const int ranges = read_table("exact", "ranges-train00.csv", 3);
    for (int k = 0; k < ranges; k++) {
        double       x[CT_SIZE_MAX];
        const double *b = beacon[(int)table[k][1] - 1];
        ct_tables_truth(&o, 0, table[k][0], x, NULL);
        CHECK_NEAR(table[k][2], sqrt(pow(b[0] - x[0], 2) + pow(b[1] - x[1], 2) + pow(b[2] - x[2], 2)), 1e-9);
    }
}

/* Mean of squares e^2 / sigma^2 over n records is 1 within five standard deviations; so is the mean of e about 0. */
static void check_white(double sum, double squares, int n)
{
    CHECK_NEAR(sum / n, 0, 5 / sqrt(n));
    CHECK_NEAR(squares / n, 1, 5 * sqrt(2. / n));
}

/* Differences of a noisy table to the noise-free one have the stated sigmas. */
static void test_noise_is_as_stated(void)
{
    static double     clean[ROWS_MAX][COLUMNS];
    ct_tables_options o = noise_free(CT_SE2);
    const struct {
        const char *name;
        int         first, columns;
        double      sigma[3];
    } file[] = {{"odometry-train00.csv", 1, 4, {0.1, 0.05, 0.03}},
                {"gps-train00.csv", 1, 4, {0.5, 0.7, 0.02}},
                {"ranges-train00.csv", 2, 3, {0.2}}};
    o.duration_s = 600;
    make(&o, 1, 0, "exact");
    memcpy(o.odom, file[0].sigma, sizeof file[0].sigma);
    o.gps[0] = 0.5, o.gps[1] = 0.7, o.heading = 0.02, o.range = 0.2;
    make(&o, 1, 0, "noisy");
    for (int f = 0; f < 3; f++) {
        const int rows = read_table("exact", file[f].name, file[f].columns);
        memcpy(clean, table, sizeof clean);
        CHECK(rows > 1000 && read_table("noisy", file[f].name, file[f].columns) == rows);
        for (int c = file[f].first; c < file[f].columns; c++) {
            double sum = 0, squares = 0;
            for (int k = 0; k < rows; k++) {
                double e = table[k][c] - clean[k][c];
                if (f == 1 && c == 3) e = atan2(sin(e), cos(e));
                e /= file[f].sigma[c - file[f].first];
                CHECK(table[k][0] == clean[k][0]);
                sum += e, squares += e * e;
            }
            check_white(sum, squares, rows);
        }
    }
}

/* latent.json has the variances of factors: odometry of a step of every_s. */
static void test_latent_noise_is_of_steps(void)
{
    const ct_tables_options o = ct_tables_defaults(CT_SE2);
    ct_noise               *noise = NULL;
    ct_err                  err = {0};
    make(&o, 1, 1, "plain");
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "odom", 3, 1, NULL, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "gps", 2, 1, NULL, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "range", 1, 1, NULL, &err), err);
    CHECK_OK(ct_noise_read(noise, in("plain", "latent.json"), &err), err);
    CHECK_NEAR(ct_noise_sigma(ct_noise_get(noise, 0), 0), sqrt(10) * 0.05 * 0.1, 1e-15); /* ten records of 0.05 s */
    CHECK_NEAR(ct_noise_sigma(ct_noise_get(noise, 0), 2), sqrt(10) * 0.05 * 0.03, 1e-15);
    CHECK_NEAR(ct_noise_sigma(ct_noise_get(noise, 1), 1), 0.5, 1e-15);
    CHECK_NEAR(ct_noise_sigma(ct_noise_get(noise, 2), 0), 0.2, 1e-15);
    ct_noise_free(noise);
}

static long size_of(const char *folder, const char *name, unsigned long long *hash)
{
    FILE *file = fopen(in(folder, name), "r");
    long  n = 0;
    *hash = 1469598103934665603ull;
    if (!file) return -1;
    for (int c; (c = getc(file)) != EOF; n++) *hash = (*hash ^ (unsigned)c) * 1099511628211ull;
    fclose(file);
    return n;
}

/* A run is the same whatever the others are, and a table whatever the noise of the others is. */
static void test_runs_and_tables_do_not_depend_on_others(void)
{
    ct_tables_options  o = ct_tables_defaults(CT_SE2);
    unsigned long long a, b;
    o.duration_s = 20;
    make(&o, 1, 2, "few");
    make(&o, 3, 2, "more");
    CHECK(size_of("few", "odometry-test01.csv", &a) == size_of("more", "odometry-test01.csv", &b) && a == b);
    CHECK(size_of("few", "gps-train00.csv", &a) == size_of("more", "gps-train00.csv", &b) && a == b);
    size_of("more", "gps-train01.csv", &b);
    CHECK(a != b);
    o.range = 3, o.odom[0] = 1;
    make(&o, 1, 2, "more");
    size_of("few", "gps-train00.csv", &a), size_of("more", "gps-train00.csv", &b);
    CHECK(a == b);
    o.seed = 2;
    make(&o, 1, 2, "more");
    size_of("more", "gps-train00.csv", &b);
    CHECK(a != b);
}

static void test_refusals(void)
{
    ct_err                  err = {0};
    const ct_tables_options good = ct_tables_defaults(CT_SE2);
    ct_tables_options       o = good;
    const char             *folder = in("refused", "");
    CHECK_REFUSED(ct_simulate_tables(&o, 0, 0, folder, &err), err, "1 to 100000 runs");
    CHECK_REFUSED(ct_simulate_tables(&o, -1, 5, folder, &err), err, "1 to 100000 runs");
    o.duration_s = NAN;
    CHECK_REFUSED(ct_simulate_tables(&o, 1, 0, folder, &err), err, "from 1 to 1e6 s");
    o = good, o.every_s = 0;
    CHECK_REFUSED(ct_simulate_tables(&o, 1, 0, folder, &err), err, "0.001 s");
    o = good, o.odom_hz = 0;
    CHECK_REFUSED(ct_simulate_tables(&o, 1, 0, folder, &err), err, "from 0.001 to 1e4 Hz");
    o = good, o.gps[1] = -1;
    CHECK_REFUSED(ct_simulate_tables(&o, 1, 0, folder, &err), err, "sigmas");
    o = good, o.heading = NAN;
    CHECK_REFUSED(ct_simulate_tables(&o, 1, 0, folder, &err), err, "sigmas");
    o = good, o.kind = CT_R2;
    CHECK_REFUSED(ct_simulate_tables(&o, 1, 0, folder, &err), err, "SE2 or SE3");
    o = good, o.beacons = 0;
    CHECK_REFUSED(ct_simulate_tables(&o, 1, 0, folder, &err), err, "1 to 1000 beacons");
    CHECK(access(folder, F_OK) != 0);
    CHECK_REFUSED(ct_simulate_tables(&good, 1, 0, in("no/where", ""), &err), err, "cannot be made");
}

int main(void)
{
    RUN(test_velocity_is_derivative_of_pose);
    RUN(test_noise_free_odometry_gives_truth);
    RUN(test_noise_free_tables_sample_truth);
    RUN(test_noise_free_tables_in_space);
    RUN(test_noise_is_as_stated);
    RUN(test_latent_noise_is_of_steps);
    RUN(test_runs_and_tables_do_not_depend_on_others);
    RUN(test_refusals);
    return ct_test_end();
}
