/* tables.c: how fast tables are read, and in how much memory.
 *
 * Tables are written to a file, read, and removed: odometry (three columns, all used), thirty columns of which three
 * are used, numbers of 19 digits between blanks (numpy's savetxt), words in quotes, and lines that a condition leaves
 * out.
 * Each is read in a child process, so that its peak of memory is its own. --quick: 8 MB each; what is read is compared
 * with what was written, and the memory with its limit. */
#define _POSIX_C_SOURCE 200809L
#include <covtune/source.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MEMORY_MAX 20e6 /* bytes that reading may add */

typedef struct {
    const char *name, *header, *where, *value[3];
    void (*write)(FILE *file, ct_rng *rng, int64_t i, double v[3]);
} table;

typedef struct {
    int64_t bytes, records;
    double sum, seconds, memory;
} result;

/* ---- tables ---- */

static void write_odometry(FILE *file, ct_rng *rng, int64_t i, double v[3])
{
    fprintf(file, "%.6f,%.6f,%.6f\n", 1403636579.763 + 0.005 * (double)i, v[0], v[1]);
    (void)rng;
}

static void write_wide(FILE *file, ct_rng *rng, int64_t i, double v[3])
{
    fprintf(file, "%.9f", 1403636579.763 + 0.005 * (double)i);
    for (int k = 0; k < 29; k++) fprintf(file, ",%.7g", k % 10 == 0 ? v[k / 10] : ct_rng_normal(rng));
    fprintf(file, "\n");
}

static void write_digits(FILE *file, ct_rng *rng, int64_t i, double v[3])
{
    fprintf(file, "%.18e %.18e %.18e\n", 0.005 * (double)i, v[0], v[1]);
    (void)rng;
}

static void write_quoted(FILE *file, ct_rng *rng, int64_t i, double v[3])
{
    fprintf(file, "%.3f,\"robot, %d\",%.6f,\"%.6f\"\n", 0.005 * (double)i, (int)(ct_rng_bits(rng) % 10), v[0], v[1]);
}

static void write_kinds(FILE *file, ct_rng *rng, int64_t i, double v[3])
{
    const double t = 0.005 * (double)i;
    if (i % 2)
        fprintf(file, "imu %.6f %.6f %.6f %.6f\n", t, ct_rng_normal(rng), ct_rng_normal(rng), ct_rng_normal(rng));
    else
        fprintf(file, "odom %.6f %.6f %.6f\n", t, v[0], v[1]);
}

static const table tables[] = {
    {"odometry, 3 of 3 columns", "t,v,omega\n", NULL, {"v", "omega"}, write_odometry},
    {"3 of 30 columns",
     "t,c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12,c13,c14,c15,c16,c17,c18,c19,c20,c21,c22,c23,c24,c25,c26,c27,c28,c29\n",
     NULL,
     {"c1", "c11", "c21"},
     write_wide},
    {"19 digits, blanks", "", NULL, {"#2", "#3"}, write_digits},
    {"words in quotes", "t,who,v,omega\n", NULL, {"v", "omega"}, write_quoted},
    {"every other line left out", "", "#1 == 'odom'", {"#3", "#4"}, write_kinds},
};
#define TABLES (int)(sizeof tables / sizeof *tables)

/* ---- measuring ---- */

static void must(int good, const char *what)
{
    if (good) return;
    fprintf(stderr, "covtune-bench-tables: %s\n", what);
    exit(EXIT_FAILURE);
}

/* Writes the table; *sum <- of its values as they are written, to 6 digits. */
static result write_table(const table *t, const char *path, double bytes)
{
    FILE *file = fopen(path, "wb");
    ct_rng rng = ct_rng_seed(1);
    result r = {0};
    must(file != NULL, "the file cannot be written here; --folder names another folder");
    fputs(t->header, file);
    for (int64_t i = 0; (double)ftell(file) < bytes; i++) {
        double v[3];
        for (int k = 0; k < 3; k++) v[k] = 1 + round(ct_rng_normal(&rng) * 1e5) / 1e6;
        t->write(file, &rng, i, v);
        if (t->where && i % 2) continue;
        r.records++;
        for (int k = 0; k < 3 && t->value[k]; k++) r.sum += v[k];
    }
    r.bytes = ftell(file);
    must(fclose(file) == 0, "the disk is full");
    return r;
}

static double peak_bytes(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return 1024.0 * (double)usage.ru_maxrss;
}

/* Processor time, the system's for reading included: what a quiet core takes, also where others work. */
static double processor_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static result read_table(const table *t, const char *path)
{
    result r = {0};
    ct_err err = {0};
    ct_source *source;
    ct_record record;
    int32_t index = 0;
    int more = 1;
    ct_source_options options = ct_source_defaults();
    const double before = peak_bytes(), begin = processor_s();
    options.where = t->where;
    options.time = t->header[0] ? NULL : t->where ? "#2" : "#1";
    must(ct_source_open(path, &options, &source, &err) == CT_OK, err.text);
    for (int k = 0; k < 3 && t->value[k]; k++)
        must(ct_source_select(source, t->value[k], &index, &err) == CT_OK, err.text);
    for (;;) {
        must(ct_source_next(source, &record, &more, &err) == CT_OK, err.text);
        if (!more) break;
        r.records++;
        for (int32_t k = 0; k <= index; k++) r.sum += record.value[k];
    }
    r.bytes = ct_source_count(source).bytes;
    ct_source_free(source);
    r.seconds = processor_s() - begin;
    r.memory = peak_bytes() - before;
    return r;
}

/* In a process of its own. */
static result read_apart(const table *t, const char *path)
{
    result r = {0};
    int end[2], status = 0;
    fflush(NULL);
    must(pipe(end) == 0, "no pipe");
    const pid_t child = fork();
    must(child >= 0, "no process");
    if (child == 0) {
        r = read_table(t, path);
        _exit(write(end[1], &r, sizeof r) == (ssize_t)sizeof r ? EXIT_SUCCESS : EXIT_FAILURE);
    }
    close(end[1]);
    const int got = read(end[0], &r, sizeof r) == (ssize_t)sizeof r;
    close(end[0]);
    must(waitpid(child, &status, 0) == child && status == 0 && got, "reading failed");
    return r;
}

int main(int argc, char **argv)
{
    double megabytes = 500;
    const char *folder = ".";
    char path[1024];
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--quick"))
            megabytes = 8;
        else if (!strcmp(argv[i], "--megabytes") && i + 1 < argc)
            megabytes = atof(argv[++i]);
        else if (!strcmp(argv[i], "--folder") && i + 1 < argc)
            folder = argv[++i];
        else
            return fprintf(stderr, "usage: covtune-bench-tables [--quick] [--megabytes N] [--folder DIR]\n"), 2;
    }
    snprintf(path, sizeof path, "%s/covtune-bench-tables.%ld.tmp", folder, (long)getpid());
    printf("%-28s %8s %12s %8s %10s\n", "table", "MB", "records", "MB/s", "memory MB");
    for (int i = 0; i < TABLES; i++) {
        const result written = write_table(&tables[i], path, megabytes * 1e6), r = read_apart(&tables[i], path);
        remove(path);
        printf("%-28s %8.0f %12lld %8.0f %10.1f\n", tables[i].name, (double)r.bytes / 1e6, (long long)r.records,
               (double)r.bytes / 1e6 / r.seconds, r.memory / 1e6);
        must(r.records == written.records && r.bytes == written.bytes, "not all records were read");
        must(fabs(r.sum - written.sum) <= 1e-9 * fabs(written.sum), "other values than were written");
        must(r.memory < MEMORY_MAX, "more memory than the limit");
    }
    return 0;
}
