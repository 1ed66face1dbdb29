/* test_score_memory.c: no memory at any moment. Every allocation that reading and comparing trajectories makes fails
 * once, each in a run of its own: the run ends in CT_E_MEMORY with nothing lost, which the sanitizers see. */
#include "memory_test.h"
#include "score_test.h"

#include <covtune/covtune.h>

#define MOST 2000

/* ---- reading ---- */

static const struct {
    const char *name, *text;
    int named;
} file[] = {
    {"memory.tum", "2 1 2 3 0 0 0 1\n1 1 2 3 0 0 0 1\n2 0 0 0 0 0 0 1\n", 0},
    {"memory.csv", "t [ms],x [mm],y,yaw [deg],c\n1,2,3,4,5\n0,2,3,4,5\n", 0},
    {"memory.csv", "t,x,y,z,c\n1,2,3,4,5\n0,2,3,4,5\n", 1},
    {"memory.g2o", "VERTEX_SE2 0 1 2 3\nVERTEX_SE2 1 1 2 3\nEDGE_SE2 0 1 1 0 0 1 0 0 1 0 1\n", 0},
    {"memory.txt", "1 0 0 1 0 1 0 2 0 0 1 3\n", 0},
};

static int read_once(int i, int64_t k, const char *path)
{
    ct_trajectory *t = NULL;
    ct_err err = {0};
    ct_trajectory_options o = ct_trajectory_defaults();
    if (file[i].named) {
        o.position[0] = "x", o.position[1] = "y", o.position[2] = "z in cm";
        o.covariance[0] = o.covariance[1] = o.covariance[2] = "c";
        o.covariances = 3;
    }
    left = k;
    const ct_status status = ct_trajectory_read(path, &o, &t, &err);
    const int through = left >= 0;
    left = -1;
    CHECK(through ? status == CT_OK && t : status == CT_E_MEMORY && !t && strstr(err.text, "memory"));
    ct_trajectory_free(t);
    return through;
}

static void test_reading_survives_the_failure_of_every_allocation(void)
{
    for (int i = 0; i < (int)(sizeof file / sizeof *file); i++) {
        const char *path = write_text(file[i].name, file[i].text);
        int64_t k = 0;
        while (k < MOST && !read_once(i, k, path)) k++;
        CHECK(k > 10 && k < MOST);
    }
}

/* A name that is not there, of an empty file too: the sentence, or no memory for it. */
static void test_refusing_survives_the_failure_of_every_allocation(void)
{
    const char *const text[] = {"a,b\n1,2\n", "# nothing\n"};
    for (int i = 0; i < 2; i++) {
        const char *path = write_text("memory.csv", text[i]);
        int64_t k = 0;
        for (int through = 0; !through && k < MOST; k++) {
            ct_trajectory *t = NULL;
            ct_err err = {0};
            left = k;
            const ct_status status = ct_trajectory_read(path, NULL, &t, &err);
            through = left >= 0;
            left = -1;
            CHECK(!t && status == (through ? i ? CT_E_EMPTY : CT_E_ARGUMENT : CT_E_MEMORY));
        }
        CHECK(k > 5 && k < MOST);
    }
}

/* ---- comparing ---- */

static void test_comparing_survives_the_failure_of_every_allocation(void)
{
    ct_trajectory *truth = winding_path(30, 0), *estimate = noisy(truth, 0.1, 0.1, 1);
    for (int rule = 0; rule < CT_ASSOCIATE_COUNT; rule++) {
        ct_score_options o = ct_score_defaults();
        int64_t k = 0;
        o.associate = rule;
        o.all_pairs = rule == 1;
        o.align = CT_ALIGNMENT_SIM3;
        for (int through = 0; !through && k < MOST; k++) {
            ct_score s;
            ct_err err = {0};
            left = k;
            const ct_status status = ct_score_trajectory(estimate, truth, &o, &s, &err);
            through = left >= 0;
            left = -1;
            CHECK(status == (through ? CT_OK : CT_E_MEMORY));
        }
        CHECK(k > 5 && k < MOST);
    }
    ct_trajectory_free(truth);
    ct_trajectory_free(estimate);
}

static void test_sites_survive_the_failure_of_every_allocation(void)
{
    ct_trajectory *truth = winding_path(30, 1), *estimate = noisy(truth, 0.1, 0.1, 1);
    ct_track_options o = ct_track_defaults();
    int64_t k = 0;
    o.type = CT_TRACK_RELATIVE;
    for (int through = 0; !through && k < MOST; k++) {
        ct_sites *sites = NULL;
        ct_err err = {0};
        double r[200];
        ct_score s;
        left = k;
        ct_status status = ct_sites_choose(truth, estimate, &o, &sites, &err);
        CHECK((status == CT_OK) == (sites != NULL));
        if (status == CT_OK) status = ct_sites_residuals(sites, estimate, r, &s, &err);
        through = left >= 0;
        left = -1;
        CHECK(status == (through ? CT_OK : CT_E_MEMORY));
        ct_sites_free(sites);
    }
    CHECK(k > 10 && k < MOST);
    ct_trajectory_free(truth);
    ct_trajectory_free(estimate);
}

int main(void)
{
    RUN(test_reading_survives_the_failure_of_every_allocation);
    RUN(test_refusing_survives_the_failure_of_every_allocation);
    RUN(test_comparing_survives_the_failure_of_every_allocation);
    RUN(test_sites_survive_the_failure_of_every_allocation);
    return ct_test_end();
}
