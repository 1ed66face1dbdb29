/* test_lines_ahead.c: large text files are read by two threads: the same sequence, and the same errors, as by one. */
#define _POSIX_C_SOURCE 200809L
#include "ct_test.h"

#include "data/data.h"

#include <covtune/covtune.h>
#include <stdlib.h>
#include <unistd.h>

static char PATH[512];
#define POSES 8000

/* Line `bad` of the file is this one instead; 0: none. Blank lines, comments and a byte order mark are there, too. */
static void write_file(int64_t bad, const char *line)
{
    FILE   *file = fopen(PATH, "w");
    ct_rng  rng = ct_rng_seed(3);
    int64_t n = 0;
    CHECK(file != NULL);
#define LINE(...) (++n == bad ? fprintf(file, "%s\n", line) : (fprintf(file, __VA_ARGS__), fputc('\n', file)))
    LINE("\xef\xbb\xbf" "covtune-sequence 3");
    LINE("noise odom diagonal 0.01 0.01 0.0004");
    LINE("noise gps isotropic 2 0.25");
    for (int v = 0; v < POSES; v++) {
        LINE("var x%d SE2 %.17g %.17g %.17g t=%d", v, ct_rng_normal(&rng), ct_rng_normal(&rng), ct_rng_normal(&rng), v);
        LINE("  # %d", v);
        LINE("truth x%d %.15g %.9e 0.6,0.8 # a comment", v, ct_rng_normal(&rng), ct_rng_normal(&rng));
        LINE("%s", "");
    }
    for (int v = 1; v < POSES; v++) {
        LINE("factor between_se2 odom x%d x%d 1 0 %.17g", v - 1, v, 0.1 * ct_rng_normal(&rng));
        LINE("factor position_se2 gps x%d multiplier=2 hdop=%.3g %.17g 1e-3", v, 1 + ct_rng_uniform(&rng),
             ct_rng_normal(&rng));
    }
    LINE(" ");
#undef LINE
    fclose(file);
}

typedef struct {
    ct_noise    *noise;
    ct_sequence *seq;
    ct_status    status;
    ct_err       err;
} reading;

static reading read_by(int jobs)
{
    reading         r = {0};
    ct_read_options options = ct_read_defaults();
    options.jobs = jobs;
    CHECK_OK(ct_noise_new(&r.noise, &r.err), r.err);
    r.status = ct_sequence_read_with(PATH, CT_FORMAT_COVTUNE, &options, r.noise, &r.seq, &r.err);
    return r;
}

static void free_reading(reading *r)
{
    ct_sequence_free(r->seq);
    ct_noise_free(r->noise);
}

static void test_two_threads_read_the_same_sequence(void)
{
    write_file(0, NULL);
    reading one = read_by(1), two = read_by(2);
    CHECK_OK(one.status, one.err);
    CHECK_OK(two.status, two.err);
    const ct_graph *a = one.seq->graph, *b = two.seq->graph;
    const size_t    bytes = (size_t)ct_graph_size(a) * sizeof(double);
    CHECK(ct_graph_variables(a) == POSES && ct_graph_variables(b) == POSES);
    CHECK(ct_graph_factors(a) == 2 * (POSES - 1) && ct_graph_factors(b) == ct_graph_factors(a));
    CHECK(!memcmp(ct_graph_initial_const(a), ct_graph_initial_const(b), bytes));
    CHECK(!memcmp(one.seq->truth, two.seq->truth, bytes));
    CHECK(!memcmp(one.seq->stamp, two.seq->stamp, POSES * sizeof(double)));
    int different = 0;
    for (int32_t f = 0; f < ct_graph_factors(a); f++) {
        const ct_factor x = ct_graph_factor(a, f), y = ct_graph_factor(b, f);
        different += x.ops != y.ops || x.noise != y.noise || x.multiplier != y.multiplier || x.var[0] != y.var[0] ||
                     memcmp(x.z, y.z, (size_t)ct_factor_z_size(x.ops) * sizeof *x.z);
        if (f % 2)
            different += ct_graph_feature(a, f, 0) != ct_graph_feature(b, f, 0);
    }
    CHECK(different == 0);
    free_reading(&one);
    free_reading(&two);
}

static void test_two_threads_tell_the_same_error_with_its_line(void)
{
    char      *overlong = malloc(70002), *many = malloc(1001);
    const char nul[] = "var";
    memset(overlong, 'a', 70001);
    overlong[70001] = 0;
    for (int i = 0; i < 1000; i++) many[i] = i % 2 ? ' ' : '1';
    many[1000] = 0;
    const char *const line[] = {
        "var x1 SE2 1 2", "var y SE2 nan 0 0", "strange words", "factor between_se2 odom x0 z 1 0 0",
        overlong,         many,                nul,             "truth x0 1 2 3 4"};
    const int64_t     at[] = {4, 5, 4000, 30000, 40002, 47000};
    for (size_t k = 0; k < sizeof line / sizeof *line; k++)
        for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
            write_file(at[i], line[k]);
            reading one = read_by(1), two = read_by(2);
            CHECK(one.status != CT_OK && one.status == two.status && !strcmp(one.err.text, two.err.text));
            CHECK(!one.seq && !two.seq);
            free_reading(&one);
            free_reading(&two);
        }
    free(overlong);
    free(many);
}

int main(void)
{
    snprintf(PATH, sizeof PATH, "%s/lines_ahead_XXXXXX", ct_test_folder());
    const int fd = mkstemp(PATH);
    CHECK(fd >= 0);
    close(fd);
    RUN(test_two_threads_read_the_same_sequence);
    RUN(test_two_threads_tell_the_same_error_with_its_line);
    unlink(PATH);
    return ct_test_end();
}
