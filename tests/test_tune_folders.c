/* test_tune_folders.c: folders of runs that somebody moves, removes, links elsewhere or fills: no run is blamed for it,
 * and nothing outside is written. */
#define _GNU_SOURCE
#include "run_test.h"

#include <sys/mount.h>

/* Asks for a run whose program takes folders away; the queue refuses to go on. */
static void check_refused(test_tuning *t, const char *command, const char *part)
{
    const double    value[2] = {0};
    ct_err          err = {0};
    int64_t         ticket = -1;
    ct_tune_outcome outcome = {0};
    ct_status       status = CT_OK;
    t->tuning.shell = 1;
    t->tuning.command = WORDS(t->word, command);
    ct_tune_queue *queue = open_queue(t, 1, 0);
    CHECK_OK(queue->submit(queue->user, &(ct_tune_request){1, 0, 0, value}, &err), err);
    for (int i = 0; i < 100 && ticket < 0 && status == CT_OK; i++)
        status = queue->collect(queue->user, 0.1, &ticket, &outcome, &err);
    CHECK(status == CT_E_IO && strstr(err.text, part));
    if (status == CT_OK) CT_TEST_SAY("%s, %s\n", ct_tune_end_name(outcome.end), outcome.message);
    ct_tune_outcome_free(&outcome);
    ct_tune_queue_free(queue);
}

/* A run folder that is moved or removed while a run is under way was a run without an estimate. */
static void test_a_folder_that_goes_away_is_no_failure_of_the_estimator(void)
{
    char        command[7000];
    test_tuning t;
    make_tuning(&t, "away");
    snprintf(command, sizeof command, "mv %s %s/elsewhere; exit 3", t.runs, t.root);
    check_refused(&t, command, "was moved or removed while runs are under way");
    make_tuning(&t, "away");
    snprintf(command, sizeof command, "mv %s %s/elsewhere; mkdir %s; true", t.runs, t.root, t.runs);
    check_refused(&t, command, "was moved or removed while runs are under way");
    make_tuning(&t, "away");
    snprintf(command, sizeof command, "cd /; rm -r %s", t.runs);
    check_refused(&t, command, "was moved or removed while runs are under way");
}

/* A program that puts a link in the place of its folder had what it printed written beyond the link. */
static void test_nothing_is_written_through_a_link_in_the_place_of_a_run(void)
{
    char        path[2200], command[7000];
    test_tuning t;
    make_tuning(&t, "link");
    snprintf(path, sizeof path, "%s/dear", t.root);
    CHECK(mkdir(path, 0777) == 0);
    snprintf(command, sizeof command, "rmdir {folder}; ln -s %s {folder}; echo words; exit 3", path);
    t.tuning.shell = 1;
    t.tuning.command = WORDS(t.word, command);
    ct_tune_queue  *queue = open_queue(&t, 1, 0);
    ct_tune_outcome outcome = run_once(queue, 0, 0, 0, 0);
    CHECK(outcome.end == CT_TUNE_CRASHED);
    ct_tune_outcome_free(&outcome);
    CHECK(rmdir(path) == 0); /* it is empty */
    snprintf(path, sizeof path, "%s/run-000001/stdout.txt", t.runs);
    CHECK(line_count(path) == 1);
    ct_tune_queue_free(queue);
}

/* A file system may have room for bytes and none for another file. */
static void test_a_disk_without_room_for_files_is_told_as_such(void)
{
    char        path[2200];
    ct_err      err = {0};
    test_tuning t;
    make_tuning(&t, "files");
    CHECK_OK(ct__make_folders(t.runs, &err), err);
    if (mount("tmpfs", t.runs, "tmpfs", 0, "size=4m,nr_inodes=6")) SKIP("no file system can be mounted");
    check_refused(&t, "touch 1 2 3 4 5 6 7 8 9; exit 3", "the disk has no room for another file");
    snprintf(path, sizeof path, "%s/1", t.runs);
    for (int i = 0; i < 20 && mkdir(path, 0777) == 0; i++) snprintf(path, sizeof path, "%s/1%d", t.runs, i);
    snprintf(path, sizeof path, "%s/another", t.runs);
    CHECK_REFUSED(ct__make_folders(path, &err), err, "the folder cannot be made: No space left on device");
    CHECK(umount(t.runs) == 0);
}

int main(void)
{
    RUN(test_a_folder_that_goes_away_is_no_failure_of_the_estimator);
    RUN(test_nothing_is_written_through_a_link_in_the_place_of_a_run);
    RUN(test_a_disk_without_room_for_files_is_told_as_such);
    return ct_test_end();
}
