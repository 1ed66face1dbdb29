/* dataset_test.h: a folder to make datasets in, for tests. Define _XOPEN_SOURCE 700 before. */
#ifndef DATASET_TEST_H
#define DATASET_TEST_H

#include "data_test.h"

#include <ftw.h>
#include <sys/stat.h>

#define HEAD "format: covtune-dataset\nversion: 1\n"

static inline const char *at(const char *name)
{
    static char path[4][512];
    static int  turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/dataset/%s", ct_test_folder(), name);
    return path[turn];
}

static inline int drop(const char *path, const struct stat *entry, int type, struct FTW *walk)
{
    (void)entry, (void)type, (void)walk;
    return remove(path);
}

/* An empty folder. */
static inline void begin(void)
{
    nftw(at(""), drop, 16, FTW_DEPTH | FTW_PHYS);
    mkdir(at(""), 0777);
}

static inline void put(const char *name, const char *text)
{
    FILE *file = fopen(at(name), "wb");
    CHECK(file);
    if (!file) return;
    fputs(text, file);
    fclose(file);
}

static inline void folder(const char *name) { CHECK(mkdir(at(name), 0777) == 0); }

static inline ct_dataset *must_read(const char *path, ct_dataset_part part)
{
    ct_dataset *d = NULL;
    ct_err      err = {0};
    CHECK_OK(ct_dataset_read(path, part, &d, &err), err);
    if (!d) exit(ct_test_end() | 1);
    return d;
}

#endif
