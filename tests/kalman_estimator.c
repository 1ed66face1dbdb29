/* kalman_estimator PARAMETERS LOG ESTIMATE [--sleep MS] [--leave SECONDS] [--ignore]: an estimator of a millisecond,
 * for tests of covtune tune.
 *
 * Three Kalman filters of one coordinate each. A line of LOG is t u1 z1 u2 z2 u3 z3: the motion u and the position z,
 * measured with sigma 1. PARAMETERS has lines "q1 = sigma" of u; the best are those that the log was drawn with.
 *
 * To the file of the environment variable KALMAN_COUNT a line is appended when a run begins, and one when it ends.
 * --sleep: it waits before it ends. --leave: a process in a session of its own is left behind, as a daemon does.
 * --ignore: SIGTERM and SIGINT are ignored. */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *option(int argc, char **argv, const char *name) {
    for (int i = 4; i + 1 < argc; i++)
        if (!strcmp(argv[i], name)) return argv[i + 1];
    return NULL;
}

/* One write: lines of runs at the same time stay whole. */
static void count(const char *path, const char *what, uint64_t digest, const char *log) {
    if (!path) return;
    char         line[600];
    const char  *slash = strrchr(log, '/');
    const int    size = snprintf(line, sizeof line, "%s %016llx %.400s\n", what, (unsigned long long)digest,
                                 slash ? slash + 1 : log);
    const int    file = open(path, O_WRONLY | O_APPEND | O_CREAT, 0644);
    if (file < 0 || write(file, line, (size_t)size) != size) perror(path), exit(1);
    close(file);
}

static void pause_s(double seconds) {
    struct timespec left = {(time_t)seconds, (long)(fmod(seconds, 1) * 1e9)};
    while (nanosleep(&left, &left) != 0) continue;
}

/* q[3], and the FNV-1a digest of the file's bytes. */
static uint64_t read_parameters(const char *path, double q[3]) {
    uint64_t digest = 14695981039346656037u;
    FILE    *file = fopen(path, "r");
    char     line[256];
    int      found = 0;
    if (!file) perror(path), exit(1);
    while (fgets(line, sizeof line, file)) {
        int    axis;
        double sigma;
        for (const char *c = line; *c; c++) digest = (digest ^ (unsigned char)*c) * 1099511628211u;
        if (sscanf(line, "q%d = %lf", &axis, &sigma) == 2 && axis >= 1 && axis <= 3) q[axis - 1] = sigma, found++;
    }
    fclose(file);
    if (found != 3) fprintf(stderr, "%s: %d of q1, q2, q3\n", path, found), exit(1);
    return digest;
}

static void filter(const char *log, const double q[3], const char *estimate) {
    FILE *in = fopen(log, "r"), *out = fopen(estimate, "w");
    if (!in || !out) perror(in ? estimate : log), exit(1);
    double t, u[3], z[3], x[3] = {0}, P[3] = {1e6, 1e6, 1e6};
    while (fscanf(in, "%lf %lf %lf %lf %lf %lf %lf", &t, &u[0], &z[0], &u[1], &z[1], &u[2], &z[2]) == 7) {
        for (int i = 0; i < 3; i++) {
            P[i] += q[i] * q[i];
            const double K = P[i] / (P[i] + 1);
            x[i] += u[i], x[i] += K * (z[i] - x[i]), P[i] *= 1 - K;
        }
        fprintf(out, "%.9g %.17g %.17g %.17g 0 0 0 1\n", t, x[0], x[1], x[2]);
    }
    fclose(in);
    if (fclose(out) != 0) perror(estimate), exit(1);
}

int main(int argc, char **argv) {
    if (argc < 4) return fprintf(stderr, "usage: kalman_estimator PARAMETERS LOG ESTIMATE [options]\n"), 2;
    const char *counted = getenv("KALMAN_COUNT"), *sleep_ms = option(argc, argv, "--sleep");
    const char *leave = option(argc, argv, "--leave");
    double      q[3];
    if (!strcmp(argv[argc - 1], "--ignore")) signal(SIGTERM, SIG_IGN), signal(SIGINT, SIG_IGN);
    const uint64_t digest = read_parameters(argv[1], q);
    count(counted, "begin", digest, argv[2]);
    if (leave && fork() == 0) {
        setsid();
        pause_s(atof(leave));
        _exit(0);
    }
    filter(argv[2], q, argv[3]);
    if (sleep_ms) pause_s(atof(sleep_ms) / 1000);
    count(counted, "end", digest, argv[2]);
    return 0;
}
