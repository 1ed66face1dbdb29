/* tuning_test.h: a folder with an estimator, its configuration and logs, for tests of TUNE.yaml. */
#ifndef CT_TUNING_TEST_H
#define CT_TUNING_TEST_H

#include "tune/tuning.h"

#include <covtune/tune.h>
#include "ct_test.h"

#include <sys/stat.h>

static char folder_path[512];

static const char *in_folder(const char *name)
{
    static char path[4][768];
    static int  at;
    at = (at + 1) % 4;
    snprintf(path[at], sizeof path[at], "%s/%s", folder_path, name);
    return path[at];
}

static void put_file(const char *name, const char *text)
{
    ct_err err = {0};
    CHECK_OK(ct_file_replace(in_folder(name), text, strlen(text), &err), err);
}

static const char EKF[] = "# noise of the filter\n"
                          "noise:\n"
                          "  odom: 0.1   # m\n"
                          "  gps: 0.5\n"
                          "  Q: [0.01, 0.02, 0.02]\n"
                          "  P: [0.3, 0, 0, 0.3]\n"
                          "name: slow\n"
                          "bias: 0\n";

static const char MINIMAL[] = "format: covtune-tune\n"
                              "version: 1\n"
                              "command: [./run, \"{params}\", \"{log}\", \"{estimate}\"]\n"
                              "files: {params: ekf.yaml}\n"
                              "parameters:\n"
                              "  odom: {key: noise.odom}\n"
                              "  gps: {key: noise.gps, lower: 0.01, upper: 10}\n"
                              "logs:\n"
                              "  train: {log: \"train/{run}.csv\", truth: \"train/{run}.tum\"}\n"
                              "  test: {log: \"test/{run}.csv\", truth: \"test/{run}.tum\"}\n"
                              "estimate: {format: tum}\n";

static void make_folder(void)
{
    static const char *const LOG[] = {"train/a", "train/b", "test/c"};
    snprintf(folder_path, sizeof folder_path, "%s", ct_test_folder());
    mkdir(in_folder("train"), 0755);
    mkdir(in_folder("test"), 0755);
    for (int i = 0; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s.csv", LOG[i]);
        put_file(name, "t,v\n0,1\n1,1\n");
        snprintf(name, sizeof name, "%s.tum", LOG[i]);
        put_file(name, "0 0 0 0 0 0 0 1\n1 1 0 0 0 0 0 1\n2 2 0 0 0 0 0 1\n");
    }
    put_file("run", "#!/bin/sh\ncp train/a.tum \"$3\"\n");
    chmod(in_folder("run"), 0755);
    put_file("ekf.yaml", EKF);
    put_file("tune.yaml", MINIMAL);
}

#endif
