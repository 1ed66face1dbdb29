/* test_tables.c: tables of a simulated robot. */
#include "ct_test.h"

#include <covtune/lie.h>
#include <covtune/noise.h>
#include <covtune/simulate.h>

enum { COLUMNS = 4, ROWS_MAX = 20000 };
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

static ct_tables_options noise_free(void)
{
    ct_tables_options o = ct_tables_defaults();
    o.odom[0] = o.odom[1] = o.odom[2] = o.gps[0] = o.gps[1] = o.heading = o.range = 0;
    return o;
}

/* Velocity is the derivative of the pose, in the body's frame, at any time: five-point differences. */
static void test_velocity_is_derivative_of_pose(void)
{
    ct_tables_options o = ct_tables_defaults();
    const double      h = 1e-3, weight[4] = {1. / 12, -2. / 3, 2. / 3, -1. / 12};
    for (uint64_t run = 0; run < 50; run++) {
        for (double t = 0; t < 120; t += 3.7) {
            double x[3], v[3], d[3] = {0};
            ct_tables_truth(&o, run, t, x, v);
            for (int k = 0; k < 4; k++) {
                double y[3], e[3];
                ct_tables_truth(&o, run, t + (k < 2 ? k - 2 : k - 1) * h, y, NULL);
                ct_se2_log(ct_se2_between(ct_se2_make(x[0], x[1], x[2]), ct_se2_make(y[0], y[1], y[2]), NULL, NULL), e);
                for (int i = 0; i < 3; i++) d[i] += weight[k] * e[i] / h;
            }
            for (int i = 0; i < 3; i++) CHECK_NEAR(d[i], v[i], 1e-8);
            CHECK(hypot(v[0], v[1]) > 0.5 && fabs(v[2]) < 3);
        }
    }
}

/* Noise-free odometry, held from stamp to stamp, leads from the first truth to every other. */
static void test_noise_free_odometry_gives_truth(void)
{
    const ct_tables_options o = noise_free();
    static double           truth[ROWS_MAX][3];
    make(&o, 1, 0, "exact");
    const int rows = read_table("exact", "truth-train00.csv", 4);
    for (int k = 0; k < rows; k++) memcpy(truth[k], table[k] + 1, sizeof truth[k]);
    CHECK(rows == 2401 && read_table("exact", "odometry-train00.csv", 4) == rows);
    ct_se2 x = ct_se2_make(truth[0][0], truth[0][1], truth[0][2]);
    for (int k = 0; k + 1 < rows; k++) {
        const double dt = table[k + 1][0] - table[k][0];
        x = ct_se2_compose(x, ct_se2_exp((double[3]){table[k][1] * dt, table[k][2] * dt, table[k][3] * dt}), NULL,
                           NULL);
        const ct_se2 y = ct_se2_make(truth[k + 1][0], truth[k + 1][1], truth[k + 1][2]);
        double       e[3];
        ct_se2_log(ct_se2_between(x, y, NULL, NULL), e);
        for (int i = 0; i < 3; i++) CHECK_NEAR(e[i], 0, 2e-6); /* digits of 2400 records */
    }
}

/* Noise-free positions, headings and ranges are those of the truth at their own stamps. */
static void test_noise_free_tables_sample_truth(void)
{
    const ct_tables_options o = noise_free();
    double                  beacon[4][2];
    make(&o, 0, 2, "exact");
    CHECK(read_table("exact", "beacons.csv", 3) == 4);
    for (int b = 0; b < 4; b++) beacon[b][0] = table[b][1], beacon[b][1] = table[b][2];
    const int fixes = read_table("exact", "gps-test01.csv", 4);
    CHECK(fixes == 240);
    for (int k = 0; k < fixes; k++) {
        double x[3];
        ct_tables_truth(&o, ((uint64_t)1 << 32) + 1, table[k][0], x, NULL);
        for (int i = 0; i < 3; i++) CHECK_NEAR(table[k][1 + i], x[i], 1e-9);
    }
    const int ranges = read_table("exact", "ranges-test01.csv", 3);
    CHECK(ranges == 480);
    for (int k = 0; k < ranges; k++) {
        double    x[3];
        const int b = (int)table[k][1] - 1;
        CHECK(b == k % 4);
        ct_tables_truth(&o, ((uint64_t)1 << 32) + 1, table[k][0], x, NULL);
        CHECK_NEAR(table[k][2], hypot(beacon[b][0] - x[0], beacon[b][1] - x[1]), 1e-9);
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
    ct_tables_options o = noise_free();
    const struct {
        const char *name;
        int         first, columns;
        double      sigma[3];
    } file[] = {{"odometry-train00.csv", 1, 4, {0.1, 0.05, 0.03}},
                {"gps-train00.csv", 1, 4, {0.5, 0.7, 0.02}},
                {"ranges-train00.csv", 2, 3, {0.2}}};
    o.duration_s = 600;
    make(&o, 1, 0, "exact");
    memcpy(o.odom, file[0].sigma, sizeof o.odom);
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
    const ct_tables_options o = ct_tables_defaults();
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
    ct_tables_options  o = ct_tables_defaults();
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
    const ct_tables_options good = ct_tables_defaults();
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
    RUN(test_noise_is_as_stated);
    RUN(test_latent_noise_is_of_steps);
    RUN(test_runs_and_tables_do_not_depend_on_others);
    RUN(test_refusals);
    return ct_test_end();
}
