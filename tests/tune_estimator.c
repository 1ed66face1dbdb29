/* tune_estimator.c: an estimator for the tests of runs, and all that can go wrong with one.
 *
 *     tune_estimator WHAT [ARGUMENT...]
 *
 * poses FILE COUNT A B: a trajectory in TUM's format: x = t + A cos t + B, y = A sin t; so residuals are linear in A
 * and B.
 * noted FILE NOTES LOG A B SEED: a trajectory that is best at A = 0.3, B = 5; says in NOTES that it was started, and
 * leaves a process behind. The others are misdeeds. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *word(int argc, char **argv, int i) { return i < argc ? argv[i] : ""; }

static int poses(const char *path, int count, double a, double b, int from)
{
    FILE *file = fopen(path, "w");
    if (!file) return 1;
    for (int i = from; i < from + count; i++) {
        const double t = 0.1 * i;
        fprintf(file, "%.1f %.9f %.9f 0 0 0 0 1\n", t, t + a * cos(t) + b, a * sin(t));
    }
    return fclose(file) != 0;
}

static void note(const char *path, const char *what)
{
    char      line[600];
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666), n = snprintf(line, sizeof line, "%s\n", what);
    if (file >= 0) {
        (void)!write(file, line, (size_t)n);
        close(file);
    }
}

static void note_pid(const char *path)
{
    char text[32];
    snprintf(text, sizeof text, "%ld", (long)getpid());
    note(path, text);
}

static int noted(char **argv)
{
    const char  *log = argv[4];
    char         line[512];
    const double a = log10(atof(argv[5]) / 0.3), b = log10(atof(argv[6]) / 5), phase = log[strlen(log) - 1];
    snprintf(line, sizeof line, "start %s %s %s %s", argv[4], argv[5], argv[6], argv[7]);
    note(argv[3], line);
    if (fork() == 0) {
        setsid();
        for (;;) pause();
    }
    usleep(3000);
    FILE *file = fopen(argv[2], "w");
    if (!file) return 1;
    for (int i = 0; i < 100; i++) {
        const double t = 0.1 * i, x = t + a * cos(t) + 0.3 * a * a + 0.05 * sin(37 * t + phase),
                     y = b * sin(t) + 0.2 * a * b + 0.05 * cos(31 * t * phase);
        fprintf(file, "%.1f %.9f %.9f 0 0 0 0 1\n", t, x, y);
    }
    return fclose(file) != 0;
}

/* Grandchildren in the group, in a session of their own, and orphaned; all ignore SIGTERM. */
static void breed(const char *path)
{
    int  ready[2];
    char bytes[3];
    if (pipe(ready)) exit(1);
    for (int i = 0; i < 3; i++) {
        if (fork()) continue;
        if (i > 0) setsid();
        if (i > 1 && fork()) _exit(0);
        signal(SIGTERM, SIG_IGN);
        note_pid(path);
        (void)!write(ready[1], "x", 1);
        for (;;) pause();
    }
    for (ssize_t n = 0, got; n < 3 && (got = read(ready[0], bytes, 3)) > 0; n += got) {} /* they have written */
}

/* A process that is another one all the time: it forks and ends. A byte is written every time. */
static void hop(const char *path, int session)
{
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (fork()) {
        usleep(20000);
        return;
    }
    if (session) setsid();
    for (;;) {
        (void)!write(file, "x", 1);
        if (fork() > 0) _exit(0);
    }
}

static void allocate(int megabytes)
{
    for (int i = 0; i < megabytes; i++) {
        char *block = malloc(1 << 20);
        if (!block) exit(1);
        memset(block, 1, 1 << 20);
    }
}

/* Address space is not memory. */
static void reserve(void)
{
    for (int i = 0; i < 64; i++) {
        volatile char *block = malloc((size_t)1 << 30);
        if (block) block[0] = 1;
    }
}

static void flood(double bytes)
{
    static char block[65536];
    memset(block, 'x', sizeof block);
    block[sizeof block - 1] = '\n';
    for (double left = bytes; left > 0; left -= sizeof block) (void)!write(1, block, sizeof block);
    (void)!write(1, "the end\n", 8);
}

static int misdeed(const char *what, int argc, char **argv)
{
    if (!strcmp(what, "segfault")) raise(SIGSEGV);
    else if (!strcmp(what, "sleep")) sleep((unsigned)atoi(word(argc, argv, 2)));
    else if (!strcmp(what, "forever")) for (;;) pause();
    else if (!strcmp(what, "ignore")) {
        signal(SIGTERM, SIG_IGN);
        note_pid(word(argc, argv, 2));
        for (;;) pause();
    } else if (!strcmp(what, "breed")) breed(word(argc, argv, 2));
    else if (!strcmp(what, "breed-forever")) {
        breed(word(argc, argv, 2));
        for (;;) pause();
    } else if (!strcmp(what, "hop")) hop(word(argc, argv, 2), 0);
    else if (!strcmp(what, "hop-away")) hop(word(argc, argv, 2), 1);
    else if (!strcmp(what, "allocate")) allocate(INT_MAX);
    else if (!strcmp(what, "allocate-below")) {
        if (fork() == 0) allocate(INT_MAX);
        for (;;) pause();
    } else if (!strcmp(what, "allocate-away")) { /* a daemon: the process above it ends */
        if (fork() == 0) {
            setsid();
            if (fork() == 0) {
                allocate(300);
                for (;;) pause();
            }
            return 0;
        }
        for (;;) pause();
    } else if (!strcmp(what, "reserve")) reserve();
    else if (!strcmp(what, "flood")) flood(atof(word(argc, argv, 2)));
    else if (!strcmp(what, "close")) {
        close(0);
        close(1);
        close(2);
    } else if (!strcmp(what, "binary")) {
        for (int i = 0; i < 512; i++) fputc(i % 256, stderr);
        return 1;
    } else if (!strcmp(what, "kill-parent")) {
        kill(getppid(), SIGKILL);
        for (;;) pause();
    } else if (!strcmp(what, "stop-parent")) {
        kill(getppid(), SIGSTOP);
        for (;;) pause();
    } else return -1;
    return 0;
}

static int bad_file(const char *what, const char *path)
{
    FILE *file;
    if (!strcmp(what, "directory")) return mkdir(path, 0777) != 0;
    if (!strcmp(what, "loop")) return symlink(path, path) != 0;
    if (!strcmp(what, "remove-folder")) return execlp("rm", "rm", "-rf", ".", path, NULL);
    if (!(file = fopen(path, "w"))) return 1;
    if (!strcmp(what, "half")) fputs("0.0 0 0 0 0 0 0 1\n0.1 0.1 0 0 0 0 0 1\n0.2 0.2 0 0", file);
    else if (!strcmp(what, "nan"))
        for (int i = 0; i < 100; i++) fprintf(file, "%.1f nan nan 0 0 0 0 1\n", 0.1 * i);
    else if (!strcmp(what, "words")) fputs("this is no trajectory\nat all\n", file);
    else if (!strcmp(what, "huge"))
        for (int i = 0; i < 100; i++) fprintf(file, "%.1f 1e300 -1e300 0 0 0 0 1\n", 0.1 * i);
    else if (strcmp(what, "empty")) return -1;
    return fclose(file) != 0;
}

int main(int argc, char **argv)
{
    const char *const what = word(argc, argv, 1);
    if (!strcmp(what, "poses"))
        return poses(word(argc, argv, 2), atoi(word(argc, argv, 3)), atof(word(argc, argv, 4)),
                     atof(word(argc, argv, 5)), atoi(word(argc, argv, 6)));
    if (!strcmp(what, "noted") && argc > 7) return noted(argv);
    if (!strcmp(what, "exit")) {
        fprintf(stderr, "first line\nlast words\n");
        return atoi(word(argc, argv, 2));
    }
    if (!strcmp(what, "echo")) {
        char folder[4096];
        printf("%s\n", getcwd(folder, sizeof folder));
        for (int i = 2; i < argc; i++) printf("%s\n", argv[i]);
        printf("%s\n", getenv("COVTUNE_TEST") ? getenv("COVTUNE_TEST") : "");
        return 0;
    }
    const int done = misdeed(what, argc, argv);
    if (done >= 0) return done;
    const int code = bad_file(what, word(argc, argv, 2));
    if (code < 0) fprintf(stderr, "%s: what is that?\n", what);
    return code < 0 ? 2 : code;
}
