/* test_start_memory.c: start values of robots that measure each other, of cameras and headings, splitting loops, and
 * registries, with every allocation failing once: CT_E_MEMORY, nothing half-built, nothing lost. */
#define _XOPEN_SOURCE 700
#include "ct_test.h"
#include "memory_test.h"

#include <covtune/data.h>
#include <covtune/plugin.h>

#ifndef CT_PLUGINS
#define CT_PLUGINS "."
#endif

static const char TEXT[] = "covtune-sequence 1\n"
                           "noise pose2 isotropic 3 1\nnoise pose3 isotropic 6 1\nnoise one isotropic 1 1\n"
                           "noise two isotropic 2 1\nnoise four isotropic 4 1\n"
                           "var a0 SE2 0 0 0\nvar a1 SE2 0 0 0\nvar a2 SE2 0 0 0\nvar b0 SE2 0 0 0\nvar b1 SE2 0 0 0\n"
                           "var c0 SE3 0 0 0 0 0 0 1\nvar c1 SE3 0 0 0 0 0 0 1\nvar l R3 0 0 0\n"
                           "factor prior_se2 pose2 a0 0 0 0\nfactor between_se2 pose2 a0 a1 1 0 0\n"
                           "factor between_se2 pose2 a1 a2 1 0 0\nfactor between_se2 pose2 a0 a2 2 0 0\n"
                           "factor between_se2 pose2 b0 b1 1 0 0\nfactor range_bearing_se2_se2 two a0 b0 3 0\n"
                           "factor range_bearing_se2_se2 two a1 b1 3 0\nfactor range_bearing_se2_se2 two b0 a1 2 1\n"
                           "factor between_se3 pose3 c0 c1 1 0 0 0 0 0 1\nfactor heading_se3 one c0 1\n"
                           "factor stereo_se3_r3 four c0 l 340 240 320 240 400 400 320 240 0.4\n"
                           "factor pixel_se3_r3 two c1 l 340 240 400 400 320 240\n";

static ct_sequence *seq;
static ct_noise    *noise;

static void read_text(void)
{
    ct_err err = {0};
    char   path[512];
    snprintf(path, sizeof path, "%s/graph.ctseq", ct_test_folder());
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(TEXT, file) >= 0 && !fclose(file));
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_sequence_read(path, CT_FORMAT_AUTO, noise, &seq, &err), err);
}

static void release(void)
{
    ct_sequence_free(seq);
    ct_noise_free(noise);
}

static void test_start_values_survive_the_failure_of_every_allocation(void)
{
    read_text();
    double *x = calloc((size_t)ct_graph_size(seq->graph), sizeof *x);
    int     k = 0, through = 0;
    for (; !through; k++) {
        ct_err err = {0};
        left = k;
        const ct_status status = ct_sequence_initialise(seq, k % 2, x, &err);
        through = left >= 0 && k % 2;
        if (left < 0) CHECK(status == CT_E_MEMORY && strstr(err.text, "memory"));
        else CHECK_OK(status, err);
        left = -1;
    }
    CHECK(k > 10);
    free(x);
    release();
}

/* Factors keep their models until all new ones are there. */
static void test_splitting_survives_the_failure_of_every_allocation(void)
{
    int k = 0;
    for (int through = 0; !through; k++) {
        read_text();
        ct_err          err = {0};
        ct_split_result r;
        left = k;
        const ct_status status = ct_sequence_split_loops(seq, noise, &r, &err);
        through = left >= 0;
        left = -1;
        CHECK(through ? status == CT_OK && r.loops == 1 && r.odometry == 4 : status == CT_E_MEMORY && !r.loops);
        if (!through) CHECK(ct_graph_factor(seq->graph, 3).noise == 0);
        release();
    }
    CHECK(k > 8);
}

static void test_plugins_survive_the_failure_of_every_allocation(void)
{
    int k = 0;
    for (int through = 0; !through && k < 200; k++) {
        ct_err              err = {0};
        ct_factor_registry *models = NULL;
        left = k;
        ct_status status = ct_factor_registry_new(&models, &err);
        if (status == CT_OK) status = ct_plugin_load(CT_PLUGINS "/libwall.so", models, NULL, &err);
        through = left >= 0;
        left = -1;
        CHECK(status == CT_OK || status == CT_E_MEMORY || status == CT_E_IO); /* the loader allocates, too */
        CHECK(!models || status == CT_OK || !ct_factor_registry_at(models, 0));
        if (through) CHECK_OK(status, err);
        ct_factor_registry_free(models);
    }
    CHECK(k > 2 && k < 200);
}

int main(void)
{
    RUN(test_start_values_survive_the_failure_of_every_allocation);
    RUN(test_splitting_survives_the_failure_of_every_allocation);
    RUN(test_plugins_survive_the_failure_of_every_allocation);
    return ct_test_end();
}
