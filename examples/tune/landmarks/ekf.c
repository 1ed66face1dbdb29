/* ekf.c: an extended Kalman filter of a robot in the plane: speed and turn rate, range and bearing to known landmarks.
 * The estimator that examples/tune/landmarks tunes; nothing here knows of covtune.
 *
 *     cc -O2 -o ekf ekf.c -lm
 *     ekf CONFIG MAP LOG ESTIMATE.csv
 *
 * CONFIG: lines "name: number". MAP: lines "landmark x y". LOG, in the order of time:
 *     start t x y yaw
 *     odometry t speed turn_rate          which hold until the next
 *     landmark t number range bearing     of a sensor that is sensor_ahead in front of the robot's origin
 *
 * A sighting is left out if its squared Mahalanobis distance is above `gate`. Writes the pose after every record, and
 * every 0.1 s between them, with its covariance in the axes of the map. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LANDMARKS 256
#define STEP_S    0.1 /* of integration and output, at most */

typedef struct {
    double speed_sigma, slip_sigma, turn_sigma; /* per root second: ahead, to the side, rad */
    double range_sigma, bearing_sigma, gate, sensor_ahead;
} config;

typedef struct {
    double t, x[3], P[3][3];
    double speed, turn;
} filter;

static int    known[LANDMARKS];
static double place[LANDMARKS][2];

static double wrap(double angle) { return remainder(angle, 2 * M_PI); }

static void fail(const char *what, const char *path)
{
    fprintf(stderr, "ekf: %s: %s\n", path, what);
    exit(1);
}

static FILE *must_open(const char *path, const char *mode)
{
    FILE *file = fopen(path, mode);
    if (!file) fail("cannot be opened", path);
    return file;
}

static config read_config(const char *path)
{
    config c = {0};
    const struct {
        const char *name;
        double     *value;
    } known_names[] = {{"speed_sigma", &c.speed_sigma},     {"slip_sigma", &c.slip_sigma},
                       {"turn_sigma", &c.turn_sigma},       {"range_sigma", &c.range_sigma},
                       {"bearing_sigma", &c.bearing_sigma}, {"gate", &c.gate},
                       {"sensor_ahead", &c.sensor_ahead}};
    char   line[256], name[64];
    double value;
    FILE  *file = must_open(path, "r");
    while (fgets(line, sizeof line, file))
        for (size_t k = 0; k < sizeof known_names / sizeof *known_names; k++)
            if (sscanf(line, " %63[a-z_]: %lf", name, &value) == 2 && !strcmp(name, known_names[k].name))
                *known_names[k].value = value;
    fclose(file);
    return c;
}

static void read_map(const char *path)
{
    int    number;
    double x, y;
    FILE  *file = must_open(path, "r");
    while (fscanf(file, "%d %lf %lf", &number, &x, &y) == 3)
        if (number >= 0 && number < LANDMARKS) known[number] = 1, place[number][0] = x, place[number][1] = y;
    fclose(file);
}

/* x <- f(x), P <- F P F' + Q. */
static void move(filter *f, const config *c, double h)
{
    const double yaw = f->x[2] + f->turn * h / 2, cs = cos(yaw), sn = sin(yaw), way = f->speed * h;
    const double F[3][3] = {{1, 0, -way * sn}, {0, 1, way * cs}, {0, 0, 1}};
    const double ahead = c->speed_sigma * c->speed_sigma * h, aside = c->slip_sigma * c->slip_sigma * h;
    double A[3][3] = {{0}}, B[3][3] = {{0}};
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 3; k++) A[i / 3][i % 3] += F[i / 3][k] * f->P[k][i % 3];
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 3; k++) B[i / 3][i % 3] += A[i / 3][k] * F[i % 3][k];
    B[0][0] += ahead * cs * cs + aside * sn * sn;
    B[1][1] += ahead * sn * sn + aside * cs * cs;
    B[0][1] += (ahead - aside) * cs * sn;
    B[1][0] += (ahead - aside) * cs * sn;
    B[2][2] += c->turn_sigma * c->turn_sigma * h;
    memcpy(f->P, B, sizeof B);
    f->x[0] += way * cs;
    f->x[1] += way * sn;
    f->x[2] = wrap(f->x[2] + f->turn * h);
}

static void write_pose(const filter *f, FILE *out)
{
    fprintf(out, "%.9g,%.9g,%.9g,%.9g", f->t, f->x[0], f->x[1], f->x[2]);
    for (int i = 0; i < 9; i++) fprintf(out, ",%.9g", f->P[i / 3][i % 3]);
    fprintf(out, "\n");
}

static void predict(filter *f, const config *c, double t, FILE *out)
{
    while (f->t < t - 1e-9) {
        const double h = fmin(STEP_S, t - f->t);
        move(f, c, h);
        f->t += h;
        if (f->t < t - 1e-9) write_pose(f, out);
    }
}

static void update(filter *f, const config *c, int number, double range, double bearing)
{
    const double sx = c->sensor_ahead * cos(f->x[2]), sy = c->sensor_ahead * sin(f->x[2]);
    const double dx = place[number][0] - f->x[0] - sx, dy = place[number][1] - f->x[1] - sy;
    const double q = dx * dx + dy * dy, d = sqrt(q);
    const double H[2][3] = {{-dx / d, -dy / d, (dx * sy - dy * sx) / d},
                            {dy / q, -dx / q, -(dx * sx + dy * sy) / q - 1}};
    const double r[2] = {range - d, wrap(bearing - (atan2(dy, dx) - f->x[2]))};
    double PH[3][2] = {{0}}, K[3][2], S[2][2] = {{c->range_sigma * c->range_sigma, 0},
                                                 {0, c->bearing_sigma * c->bearing_sigma}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 3; k++) PH[i][j] += f->P[i][k] * H[j][k];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 3; k++) S[i][j] += H[i][k] * PH[k][j];
    const double det = S[0][0] * S[1][1] - S[0][1] * S[1][0];
    const double distance = (r[0] * r[0] * S[1][1] - 2 * r[0] * r[1] * S[0][1] + r[1] * r[1] * S[0][0]) / det;
    if (distance > c->gate) return;
    for (int i = 0; i < 3; i++) {
        K[i][0] = (PH[i][0] * S[1][1] - PH[i][1] * S[1][0]) / det;
        K[i][1] = (PH[i][1] * S[0][0] - PH[i][0] * S[0][1]) / det;
        f->x[i] += K[i][0] * r[0] + K[i][1] * r[1];
    }
    f->x[2] = wrap(f->x[2]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) f->P[i][j] = f->P[j][i] = f->P[i][j] - K[i][0] * PH[j][0] - K[i][1] * PH[j][1];
}

int main(int words, char **word)
{
    if (words != 5) fail("usage: ekf CONFIG MAP LOG ESTIMATE.csv", "4 arguments");
    const config c = read_config(word[1]);
    read_map(word[2]);
    FILE  *log = must_open(word[3], "r"), *out = must_open(word[4], "w");
    filter f = {.P = {{1e-4, 0, 0}, {0, 1e-4, 0}, {0, 0, 1e-4}}};
    char   line[256];
    double t, a, b, yaw;
    int    number;
    fprintf(out, "t,x,y,yaw,P00,P01,P02,P10,P11,P12,P20,P21,P22\n");
    while (fgets(line, sizeof line, log)) {
        if (sscanf(line, "start %lf %lf %lf %lf", &t, &a, &b, &yaw) == 4) {
            f.t = t, f.x[0] = a, f.x[1] = b, f.x[2] = yaw;
        } else if (sscanf(line, "odometry %lf %lf %lf", &t, &a, &b) == 3) {
            predict(&f, &c, t, out);
            f.speed = a, f.turn = b;
        } else if (sscanf(line, "landmark %lf %d %lf %lf", &t, &number, &a, &b) == 4) {
            predict(&f, &c, t, out);
            if (number >= 0 && number < LANDMARKS && known[number]) update(&f, &c, number, a, b);
        } else fail("a line is no record", word[3]);
        write_pose(&f, out);
    }
    fclose(log);
    if (ferror(out) || fclose(out)) fail("cannot be written", word[4]);
    return 0;
}
