/* test_data_memory.c: no memory at any moment. Every allocation that reading and writing a file make is
 * failed once, each in a run of its own: the run must end in CT_E_MEMORY with nothing half-built, and
 * the sanitizers must find nothing lost. Programs called *_memory are linked so that the library's
 * allocations pass through here. */
#define _XOPEN_SOURCE 700
#include <covtune/simulate.h>
#include "data_test.h"
#include "memory_test.h"

#include <sys/stat.h>

/* A few variables and factors, with what each format can hold. */
static const struct {
    ct_format   format;
    const char *text;
} FILES[] = {
    {CT_FORMAT_COVTUNE, "covtune-sequence 1\nnoise a diagonal 1 2 3\nnoise b isotropic 1 2 huber 1\nvar x0 SE2 0 0 0 "
                        "t=1\ntruth x0 0 0 1\nvar x1 SE2 1 0 0\n"
                        "var l R2 1 1\nfactor between_se2 a x0 x1 1 0 0\nfactor range_se2_r2 b x0 l 2\n"},
    {CT_FORMAT_COVTUNE, "covtune-sequence 1\nnoise b isotropic 1 2\nshape egg ellipse 1 2\nshape box rectangle 2 "
                        "1\nshape tri polygon 0 0 1 0\n+ 0 1\nshape can grid -1 -1 1 3 3\n"
                        "+ 1 1 1\n+ 1 -1 1\n+ 1 1 1\nvar o SE2 0 0 0\ntruth o 0 0 0\nvar e SE2 1 0 0\ntruth e 1 0 "
                        "0\nfactor contact_se2 b o e shape=egg\nfactor contact_se2 b o e shape=can 0.5\n"},
    {CT_FORMAT_G2O, "PARAMS_SE2OFFSET 0 0 0 1\nEDGE_SE2 2 3 1 0 0 1 0 0 1 0 2\nEDGE_SE2 1 0 1 0 0 1 0 0 1 0 "
                    "1\nEDGE_SE2 3 0 1 0 0 1 0 0 1 0 1\n"
                    "EDGE_SE2_POINTXY_OFFSET 1 9 0 1 1 1 0 1\n"},
    {CT_FORMAT_ISAM, "EDGE3 0 1 1 2 3 0.1 0.2 0.3\nPOINT3 1 0 1 2 3 1 0 0 1 0 1\n"},
    {CT_FORMAT_PYFG, "VERTEX_SE2 0 A0 0 0 0\nVERTEX_XY L0 1 1\nEDGE_RANGE 0 A0 L0 1 1\n"},
    {CT_FORMAT_TUM, "0 0 0 0 0 0 0 1\n1 1 0 0 0 0 0 1\n"},
    {CT_FORMAT_KITTI, "1 0 0 0 0 1 0 0 0 0 1 0\n"},
    {CT_FORMAT_PUSH, "t,object_x,object_y,object_theta,pusher_x,pusher_y,force\n0,0,0,0,-0.0497,0,1\n1,0.001,0,0,-0."
                     "0487,0,1\n2,0.002,0,0,-0.0477,0,1\n3,0.003,0,0,-0.0467,0,1\n"},
    {CT_FORMAT_LEO, "{\"poses_gt\": [[0, 0, 0], [1, 0, 0]], \"factor_names\": [\"odom\", \"gps\"], \"factor_keysyms\": "
                    "[[\"x\", \"x\"], [\"x\"]], "
                    "\"factor_keyids\": [[0, 1], [1]], \"factor_meas\": [[1, 0, 0, 0], [1, 0, 0, 1]]}"},
};
#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

/* Reads with allocation number k failing; returns 1 when there is no such allocation any more. */
static int read_once(const char *text, ct_format format, int64_t k)
{
    ct_noise    *noise = NULL;
    ct_sequence *seq = NULL;
    ct_err       err = {0};
    FILE        *file = fmemopen((void *)(uintptr_t)text, strlen(text), "rb");
    CHECK(ct_noise_new(&noise, &err) == CT_OK);
    left = k;
    const ct_status status = ct__sequence_read_stream(file, "f", format, NULL, noise, &seq, &err);
    const int       through = left >= 0;
    left = -1;
    fclose(file);
    CHECK(through ? status == CT_OK && seq : status == CT_E_MEMORY && !seq && strstr(err.text, "memory"));
    ct_sequence_free(seq);
    ct_noise_free(noise);
    return through;
}

static void test_reading_survives_the_failure_of_every_allocation(void)
{
    for (int i = 0; i < COUNT(FILES); i++) {
        int64_t k = 0;
        while (k < 10000 && !read_once(FILES[i].text, FILES[i].format, k)) k++;
        CHECK(k >= 10 && k < 10000);
    }
}

static int write_once(const run *r, ct_format format, int64_t k)
{
    char           *text = NULL;
    size_t          size;
    ct_err          err = {0};
    FILE           *file = open_memstream(&text, &size);
    left = k;
    const ct_status status = ct__sequence_write_stream(file, r->seq, r->noise, NULL, format, 1, NULL, &err);
    const int       through = left >= 0;
    left = -1;
    fclose(file);
    free(text);
    CHECK(through ? status == CT_OK || status == CT_E_UNSUPPORTED
                  : status == CT_E_MEMORY && strstr(err.text, "memory"));
    return through;
}

static void test_writing_survives_the_failure_of_every_allocation(void)
{
    for (int i = 0; i < COUNT(FILES); i++) {
        run r;
        MUST_READ(&r, FILES[i].format, FILES[i].text);
        for (int format = 0; format < CT_FORMAT_COUNT; format++) {
            int64_t k = 0;
            while (k < 10000 && !write_once(&r, (ct_format)format, k)) k++;
            CHECK(k < 10000);
        }
        run_free(&r);
    }
}

/* ---- datasets ---- */

static const char *path_of(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", ct_test_folder(), name);
    return path;
}

static ct_dataset *small_dataset(void)
{
    ct_dataset    *d = NULL;
    ct_nav_options o;
    CHECK(ct_dataset_new(&d, NULL) == CT_OK && ct_nav_preset("D3", CT_SE2, &o));
    o.least = o.most = 3;
    d->train = calloc(1, sizeof *d->train);
    d->test = calloc(1, sizeof *d->test);
    d->group = calloc(1, sizeof *d->group);
    CHECK(ct_simulate_nav(&o, 0, d->noise, &d->train[0], NULL) == CT_OK &&
          ct_simulate_nav(&o, 1, d->noise, &d->test[0], NULL) == CT_OK);
    d->trains = d->tests = d->groups = 1;
    d->group[0] = (ct_dataset_group){
        .name = calloc(1, 8), .learn = 1, .kind = -1, .lower = {1, 1, 1, 1, 1, 1}, .upper = {2, 2, 2, 2, 2, 2}};
    strcpy(d->group[0].name, "odom");
    return d;
}

static int write_dataset_once(const ct_dataset *d, int64_t k)
{
    ct_err err = {0};
    left = k;
    const ct_status status = ct_dataset_write(d, path_of("memory"), &err);
    const int       through = left >= 0;
    left = -1;
    CHECK(through ? status == CT_OK : status == CT_E_MEMORY && strstr(err.text, "memory"));
    return through;
}

static int read_dataset_once(int64_t k)
{
    ct_err      err = {0};
    ct_dataset *d = NULL;
    left = k;
    const ct_status status = ct_dataset_read(path_of("memory"), CT_DATASET_ALL, &d, &err);
    const int       through = left >= 0;
    left = -1;
    CHECK(through ? status == CT_OK && d : status == CT_E_MEMORY && !d && strstr(err.text, "memory"));
    ct_dataset_free(d);
    return through;
}

static void test_datasets_survive_the_failure_of_every_allocation(void)
{
    ct_dataset *d = small_dataset();
    int64_t     k = 0;
    while (k < 10000 && !write_dataset_once(d, k)) k++;
    CHECK(k >= 10 && k < 10000);
    ct_dataset_free(d);
    for (k = 0; k < 10000 && !read_dataset_once(k);) k++;
    CHECK(k >= 60 && k < 10000);
}

static int make_once(int64_t k)
{
    ct_err         err = {0};
    ct_nav_options o;
    ct_noise      *noise = NULL;
    ct_sequence   *seq = NULL;
    CHECK(ct_nav_preset("D3", CT_SE2, &o) && ct_noise_new(&noise, &err) == CT_OK);
    o.least = o.most = 40;
    left = k;
    const ct_status status = ct_simulate_nav(&o, 0, noise, &seq, &err);
    const int       through = left >= 0;
    left = -1;
    CHECK(through ? status == CT_OK && seq : status == CT_E_MEMORY && !seq && strstr(err.text, "memory"));
    ct_sequence_free(seq);
    ct_noise_free(noise);
    return through;
}

static void test_making_a_run_survives_the_failure_of_every_allocation(void)
{
    int64_t k = 0;
    while (k < 10000 && !make_once(k)) k++;
    CHECK(k >= 10 && k < 10000);
}

/* Numbered models of two files, pooled, and the parameters that are learned. */
static int pool_once(int64_t k)
{
    ct_err      err = {0};
    ct_dataset *d = NULL;
    left = k;
    ct_status status = ct_dataset_read(path_of("numbered"), CT_DATASET_ALL, &d, &err);
    int32_t  *pooled = NULL, count = 0;
    ct_theta *theta = NULL;
    if (status == CT_OK) status = ct_dataset_pool_learned(d, NULL, &pooled, &count, &err);
    if (status == CT_OK) status = ct_dataset_theta(d, &(ct_theta_options){.learn = "e"}, &theta, &err);
    const int through = left >= 0;
    left = -1;
    CHECK(through ? status == CT_OK && count == 1 && theta
                  : status == CT_E_MEMORY && !theta && strstr(err.text, "memory"));
    free(pooled);
    ct_theta_free(theta);
    ct_dataset_free(d);
    return through;
}

static void test_pooling_survives_the_failure_of_every_allocation(void)
{
    (void)mkdir(path_of("numbered"), 0777);
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(path_of(i ? "numbered/1.ctseq" : "numbered/0.ctseq"), "w");
        CHECK(file);
        if (!file) return;
        fprintf(file, "covtune-sequence 1\nnoise e#1 isotropic 1 %d huber 1\nvar a R1 0\nfactor prior_r1 e#1 a 0\n",
                i + 1);
        fclose(file);
    }
    int64_t k = 0;
    while (k < 10000 && !pool_once(k)) k++;
    CHECK(k >= 10 && k < 10000);
}

/* Truth and times from elsewhere, and what is learned. */
static int attach_once(const run *from, const ct_dataset *d, int64_t k)
{
    run       r;
    ct_err    err = {0};
    ct_theta *theta = NULL;
    CHECK(read_text(&r, CT_FORMAT_COVTUNE, FILES[0].text) == CT_OK);
    left = k;
    const ct_attach_options by_time = {.by = CT_ATTACH_TIME, .tolerance_s = 1};
    ct_status               status = ct_sequence_attach_truth(r.seq, from->seq, &by_time, NULL, &err);
    if (status == CT_OK) status = ct_sequence_attach_times(r.seq, from->seq, CT_ATTACH_INDEX, NULL, &err);
    if (status == CT_OK) status = ct_dataset_theta(d, NULL, &theta, &err);
    const int through = left >= 0;
    left = -1;
    CHECK(through ? status == CT_OK && theta : status == CT_E_MEMORY && !theta && strstr(err.text, "memory"));
    ct_theta_free(theta);
    run_free(&r);
    return through;
}

static void test_attaching_survives_the_failure_of_every_allocation(void)
{
    run         from;
    ct_dataset *d = small_dataset();
    MUST_READ(&from, CT_FORMAT_TUM, "0 0 0 0 0 0 0 1\n1 1 0 0 0 0 0 1\n");
    int64_t k = 0;
    while (k < 1000 && !attach_once(&from, d, k)) k++;
    CHECK(k >= 7 && k < 1000);
    run_free(&from);
    ct_dataset_free(d);
}

int main(void)
{
    RUN(test_datasets_survive_the_failure_of_every_allocation);
    RUN(test_making_a_run_survives_the_failure_of_every_allocation);
    RUN(test_attaching_survives_the_failure_of_every_allocation);
    RUN(test_pooling_survives_the_failure_of_every_allocation);
    RUN(test_reading_survives_the_failure_of_every_allocation);
    RUN(test_writing_survives_the_failure_of_every_allocation);
    return ct_test_end();
}
