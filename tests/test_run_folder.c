/* test_run_folder.c: files replaced whole; folders of runs: known, locked, begun in one step. */
#define _XOPEN_SOURCE 700
#include "base/file.h"
#include "ct_test.h"

#include <covtune/base.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const NOTHING[] = {NULL};

/* "scratch/name". Four at a time. */
static const char *at(const char *name)
{
    static char buf[4][700];
    static int  next;
    char       *path = buf[next++ % 4];
    snprintf(path, sizeof buf[0], "%s/%s", ct_test_folder(), name);
    return path;
}

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0);
    if (file) fclose(file);
}

static int holds(const char *path, const char *text)
{
    char  buf[200] = "";
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    buf[fread(buf, 1, sizeof buf - 1, file)] = 0;
    fclose(file);
    return !strcmp(buf, text);
}

static int is_there(const char *path) { return access(path, F_OK) == 0; }

static int entries(const char *folder)
{
    int  n = 0;
    DIR *dir = opendir(folder);
    for (const struct dirent *e; dir && (e = readdir(dir));) n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    if (dir) closedir(dir);
    return n;
}

/* An empty folder. */
static const char *fresh(const char *name)
{
    char command[800];
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir '%s'", at(name), at(name));
    CHECK(system(command) == 0);
    return at(name);
}

/* "folder/name". */
static char *in(const char *folder, const char *name)
{
    static char buf[4][1000];
    static int  next;
    char       *path = buf[next++ % 4];
    snprintf(path, sizeof buf[0], "%s/%s", folder, name);
    return path;
}

/* A run of "learn" with one file, and one that others put there. */
static ct_run_folder *begin(const char *folder, uint64_t key, const char *text, const char *const removed[])
{
    ct_run_folder *run = NULL;
    ct_err  err = {0};
    CHECK_OK(ct_run_folder_open(folder, "learn", 0, &run, &err), err);
    if (!run) return NULL;
    CHECK_OK(ct_run_folder_begin(run, key, &err), err);
    CHECK_OK(ct_file_replace(in(ct_run_folder_staged(run), "first.txt"), text, strlen(text), &err), err);
    CHECK_OK(ct_run_folder_commit(run, removed, &err), err);
    CHECK(!ct_run_folder_staged(run));
    return run;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static void test_a_file_is_replaced_whole_with_nothing_beside_it(void)
{
    char   folder[700];
    ct_err err = {0};
    snprintf(folder, sizeof folder, "%s", fresh("files"));
    CHECK_OK(ct_file_replace(in(folder, "a"), "one\0two", 7, &err), err);
    CHECK_OK(ct_file_replace(in(folder, "a"), "three", 5, &err), err);
    CHECK(holds(in(folder, "a"), "three") && entries(folder) == 1);
    CHECK_OK(ct_file_replace(in(folder, "a"), NULL, 0, &err), err);
    CHECK(holds(in(folder, "a"), ""));
    CHECK_REFUSED(ct_file_replace(folder, "x", 1, &err), err, "it is a folder");
    CHECK_REFUSED(ct_file_replace(in(folder, "none/a"), "x", 1, &err), err, "cannot create a file in this folder");
}

static void test_a_name_as_long_as_names_may_be_can_be_replaced(void)
{
    char   folder[700], name[256];
    ct_err err = {0};
    snprintf(folder, sizeof folder, "%s", fresh("names"));
    memset(name, 'n', 255);
    name[255] = 0;
    CHECK_OK(ct_file_replace(in(folder, name), "long", 4, &err), err);
    CHECK(holds(in(folder, name), "long"));
}

static void test_a_link_where_a_temporary_file_was_expected_is_not_written_through(void)
{
    char   folder[700];
    ct_err err = {0};
    snprintf(folder, sizeof folder, "%s", fresh("links"));
    put(in(folder, "victim"), "mine");
    CHECK(symlink("victim", in(folder, "a.new")) == 0 && symlink("victim", in(folder, "a.tmp")) == 0);
    CHECK_OK(ct_file_replace(in(folder, "a"), "new", 3, &err), err);
    CHECK(holds(in(folder, "a"), "new") && holds(in(folder, "victim"), "mine") && entries(folder) == 4);
}

/* A process of its own: nothing can be finished after it. */
static void test_what_is_being_written_is_dropped_when_a_signal_ends_the_program(void)
{
    char folder[700];
    snprintf(folder, sizeof folder, "%s", fresh("dropped"));
    const pid_t child = fork();
    if (child == 0) {
        ct__file file[3];
        ct_err   err;
        for (int i = 0; i < 3; i++)
            if (ct__file_begin(&file[i], in(folder, "a"), &err) != CT_OK) _exit(1);
        if (entries(folder) != 3) _exit(2);
        ct__file_abort(&file[1]);
        ct_file_drop_all();
        _exit(entries(folder) != 0);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- Folders --------------------------------------------------------------------------------- */

static void test_a_folder_with_other_things_is_no_run_and_is_left_alone(void)
{
    char        folder[700];
    ct_err      err = {0};
    ct_run_folder     *run = NULL;
    ct_run_folder_info info;
    snprintf(folder, sizeof folder, "%s", fresh("others"));
    CHECK_OK(ct_run_folder_inspect(folder, &info, &err), err);
    CHECK(info.state == CT_RUN_FOLDER_NONE);
    CHECK_OK(ct_run_folder_inspect(in(folder, "none"), &info, &err), err);
    CHECK(info.state == CT_RUN_FOLDER_NONE);
    put(in(folder, "config.yaml"), "mine");
    CHECK_OK(ct_run_folder_inspect(folder, &info, &err), err);
    CHECK(info.state == CT_RUN_FOLDER_OTHER);
    CHECK_REFUSED(ct_run_folder_open(folder, "learn", 0, &run, &err), err, "is a folder with other things in it");
    CHECK(!run && entries(folder) == 1 && holds(in(folder, "config.yaml"), "mine"));
    CHECK_REFUSED(ct_run_folder_open(in(folder, "config.yaml"), "learn", 0, &run, &err), err, "is not a folder");
    CHECK_REFUSED(ct_run_folder_open(in(folder, "none"), "learn", 0, &run, &err), err, "No such file or directory");
    CHECK_REFUSED(ct_run_folder_open(folder, "", 1, &run, &err), err, "takes 1 to 31 characters");
    CHECK_OK(ct_run_folder_open(folder, "learn", 1, &run, &err), err); /* the caller knows it */
    CHECK(run && ct_run_folder_get(run)->state == CT_RUN_FOLDER_OTHER);
    ct_run_folder_free(run);
    CHECK(entries(folder) == 1);
    ct_run_folder_free(NULL);
}

static void test_a_run_is_known_by_its_mark_and_replaced_by_another(void)
{
    char              folder[700], id[32];
    ct_err            err = {0};
    ct_run_folder_info       info;
    const char *const removed[] = {"later.txt", "never.txt", NULL};
    snprintf(folder, sizeof folder, "%s", fresh("runs"));
    ct_run_folder *run = begin(folder, 0xfedcba9876543210u, "one", NOTHING);
    CHECK(run && ct_run_folder_get(run)->state == CT_RUN_FOLDER_HERE);
    ct_run_folder_free(run);
    put(in(folder, "later.txt"), "of the first");
    put(in(folder, "notes.txt"), "mine");
    CHECK_OK(ct_run_folder_inspect(folder, &info, &err), err);
    CHECK(info.state == CT_RUN_FOLDER_HERE && info.key == 0xfedcba9876543210u && !strcmp(info.of, "learn"));
    strcpy(id, info.id);
    ct_run_folder_free(begin(folder, 7, "two", removed));
    CHECK_OK(ct_run_folder_inspect(folder, &info, &err), err);
    CHECK(info.state == CT_RUN_FOLDER_HERE && info.key == 7 && strcmp(info.id, id));
    CHECK(holds(in(folder, "first.txt"), "two") && !is_there(in(folder, "later.txt")) &&
          holds(in(folder, "notes.txt"), "mine") && entries(folder) == 3);
    CHECK_REFUSED(ct_run_folder_open(folder, "tune", 0, &run, &err), err, "is a run of covtune learn");
}

static void test_what_was_not_committed_never_was(void)
{
    char              folder[700];
    ct_err            err = {0};
    ct_run_folder           *run = NULL;
    const char *const path[] = {"../a", NULL}, *const hidden[] = {".a", NULL},
                      *const mark[] = {"covtune-run.json", NULL}, *const sub[] = {"sub", NULL};
    snprintf(folder, sizeof folder, "%s", fresh("dropped-runs"));
    ct_run_folder_free(begin(folder, 1, "one", NOTHING));
    CHECK_OK(ct_run_folder_open(folder, "learn", 0, &run, &err), err);
    if (!run) return;
    CHECK_REFUSED(ct_run_folder_commit(run, NOTHING, &err), err, "no run was begun");
    CHECK_OK(ct_run_folder_begin(run, 2, &err), err);
    put(in(ct_run_folder_staged(run), "first.txt"), "two");
    CHECK_REFUSED(ct_run_folder_commit(run, path, &err), err, "is no name for a file of a run");
    CHECK_REFUSED(ct_run_folder_commit(run, hidden, &err), err, "is no name for a file of a run");
    CHECK_REFUSED(ct_run_folder_commit(run, mark, &err), err, "is no name for a file of a run");
    CHECK(mkdir(in(folder, "sub"), 0777) == 0);
    CHECK_REFUSED(ct_run_folder_commit(run, sub, &err), err, "there is a folder sub in it");
    put(in(ct_run_folder_staged(run), "sub"), "x");
    CHECK_REFUSED(ct_run_folder_commit(run, NOTHING, &err), err, "there is a folder sub in it");
    CHECK(ct_run_folder_get(run)->key == 1);
    CHECK_OK(ct_run_folder_begin(run, 3, &err), err);
    ct_run_folder_free(run);
    CHECK(holds(in(folder, "first.txt"), "one") && entries(folder) == 3 && rmdir(in(folder, "sub")) == 0);
}

static void test_a_beginning_that_was_cut_off_is_completed_and_litter_removed(void)
{
    static const char MARK[] =
        "{\"format\": \"covtune-run\", \"version\": 1, \"of\": \"learn\", \"id\": \".covtune-00000000000000aa\", "
        "\"key\": \"0000000000000005\", \"removes\": [\"old.txt\"]}";
    char        folder[700];
    ct_err      err = {0};
    ct_run_folder     *run = NULL;
    ct_run_folder_info info;
    snprintf(folder, sizeof folder, "%s", fresh("cut"));
    put(in(folder, "covtune-run.json"), MARK);
    put(in(folder, "old.txt"), "old");
    put(in(folder, "a.txt"), "old");
    CHECK(mkdir(in(folder, ".covtune-00000000000000aa"), 0777) == 0 &&
          mkdir(in(folder, ".covtune-00000000000000bb"), 0777) == 0);
    put(in(folder, ".covtune-00000000000000aa/a.txt"), "new");
    put(in(folder, ".covtune-00000000000000aa/.covtune-0123456789abcdef.tmp"), "ne");
    put(in(folder, ".covtune-00000000000000bb/a.txt"), "never");
    put(in(folder, ".covtune-0123456789abcdef.tmp"), "half");
    put(in(folder, ".covtune-notes"), "mine");
    put(in(folder, "a.tmp"), "mine");
    CHECK_OK(ct_run_folder_inspect(folder, &info, &err), err);
    CHECK(info.state == CT_RUN_FOLDER_CUT && info.key == 5);
    CHECK_OK(ct_run_folder_open(folder, "learn", 0, &run, &err), err);
    CHECK(run && ct_run_folder_get(run)->state == CT_RUN_FOLDER_HERE);
    ct_run_folder_free(run);
    CHECK(holds(in(folder, "a.txt"), "new") && !is_there(in(folder, "old.txt")) &&
          holds(in(folder, ".covtune-notes"), "mine") && holds(in(folder, "a.tmp"), "mine") && entries(folder) == 4);
}

static void test_a_damaged_mark_is_refused(void)
{
    static const char *const BAD[][2] = {
        {"", "not JSON"},
        {"{}", "its format is not"},
        {"{\"format\": \"covtune-run\", \"version\": 2}", "a later covtune wrote it"},
        {"{\"format\": \"covtune-run\", \"version\": 1}", "whose run it is"},
        {"{\"format\": \"covtune-run\", \"version\": 1, \"of\": \"learn\", \"id\": \"..\"}", "\"id\" is none"},
        {"{\"format\": \"covtune-run\", \"version\": 1, \"of\": \"learn\", \"id\": \".covtune-00000000000000aa\", "
         "\"key\": \"5\"}",
         "16 hexadecimal digits"},
        {"{\"format\": \"covtune-run\", \"version\": 1, \"of\": \"learn\", \"id\": \".covtune-00000000000000aa\", "
         "\"key\": \"0000000000000005\", \"removes\": [\"../thesis\"]}",
         "no name of a file"},
    };
    char    folder[700];
    ct_err  err = {0};
    ct_run_folder *run = NULL;
    snprintf(folder, sizeof folder, "%s", fresh("damaged"));
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        put(in(folder, "covtune-run.json"), BAD[i][0]);
        CHECK_REFUSED(ct_run_folder_open(folder, "learn", 0, &run, &err), err, BAD[i][1]);
        CHECK(!run && holds(in(folder, "covtune-run.json"), BAD[i][0]) && entries(folder) == 1);
    }
    CHECK(unlink(in(folder, "covtune-run.json")) == 0 && symlink("elsewhere", in(folder, "covtune-run.json")) == 0);
    CHECK_REFUSED(ct_run_folder_open(folder, "learn", 0, &run, &err), err, "covtune-run.json: ");
}

/* ---- Locks ----------------------------------------------------------------------------------- */

static void test_a_folder_in_use_is_refused_with_the_process_that_has_it(void)
{
    char    folder[700], said[100];
    ct_err  err = {0};
    ct_run_folder *run = NULL, *other = NULL;
    snprintf(folder, sizeof folder, "%s", fresh("held"));
    CHECK_OK(ct_run_folder_open(folder, "learn", 0, &run, &err), err);
    snprintf(said, sizeof said, "is in use by covtune learn, process %ld on ", (long)getpid());
    CHECK(ct_run_folder_open(folder, "learn", 0, &other, &err) == CT_E_BUSY && !other && strstr(err.text, said));
    ct_run_folder_free(run);
    CHECK(entries(folder) == 0);
    CHECK_OK(ct_run_folder_open(folder, "learn", 0, &run, &err), err);
    ct_run_folder_free(run);
}

static void test_the_lock_of_a_killed_process_does_not_block(void)
{
    char    folder[700];
    ct_err  err = {0};
    ct_run_folder *run = NULL;
    int     ready[2], status;
    char    byte = 0;
    snprintf(folder, sizeof folder, "%s", fresh("stale"));
    CHECK(pipe(ready) == 0);
    const pid_t child = fork();
    if (child == 0) {
        if (ct_run_folder_open(folder, "learn", 0, &run, &err) == CT_OK && ct_run_folder_begin(run, 1, &err) == CT_OK)
            (void)!write(ready[1], "x", 1);
        pause();
        _exit(0);
    }
    close(ready[1]);
    CHECK(read(ready[0], &byte, 1) == 1);
    close(ready[0]);
    CHECK(ct_run_folder_open(folder, "learn", 0, &run, &err) == CT_E_BUSY);
    kill(child, SIGKILL);
    CHECK(waitpid(child, &status, 0) == child && entries(folder) == 2); /* its lock, and what it had begun */
    CHECK_OK(ct_run_folder_open(folder, "learn", 0, &run, &err), err);
    CHECK(entries(folder) == 1);
    ct_run_folder_free(run);
    CHECK(entries(folder) == 0);
}

static void test_a_file_of_the_locks_name_that_is_none_is_not_overwritten(void)
{
    char    folder[700];
    ct_err  err = {0};
    ct_run_folder *run = NULL;
    snprintf(folder, sizeof folder, "%s", fresh("locks"));
    put(in(folder, ".covtune-lock"), "my own words");
    CHECK_REFUSED(ct_run_folder_open(folder, "learn", 0, &run, &err), err,
                  "has the name of a lock of covtune and is none");
    CHECK(holds(in(folder, ".covtune-lock"), "my own words") && unlink(in(folder, ".covtune-lock")) == 0);
    CHECK(symlink("victim", in(folder, ".covtune-lock")) == 0);
    CHECK_REFUSED(ct_run_folder_open(folder, "learn", 0, &run, &err), err, "cannot be made");
    CHECK(!is_there(in(folder, "victim")));
}

int main(void)
{
    RUN(test_a_file_is_replaced_whole_with_nothing_beside_it);
    RUN(test_a_name_as_long_as_names_may_be_can_be_replaced);
    RUN(test_a_link_where_a_temporary_file_was_expected_is_not_written_through);
    RUN(test_what_is_being_written_is_dropped_when_a_signal_ends_the_program);
    RUN(test_a_folder_with_other_things_is_no_run_and_is_left_alone);
    RUN(test_a_run_is_known_by_its_mark_and_replaced_by_another);
    RUN(test_what_was_not_committed_never_was);
    RUN(test_a_beginning_that_was_cut_off_is_completed_and_litter_removed);
    RUN(test_a_damaged_mark_is_refused);
    RUN(test_a_folder_in_use_is_refused_with_the_process_that_has_it);
    RUN(test_the_lock_of_a_killed_process_does_not_block);
    RUN(test_a_file_of_the_locks_name_that_is_none_is_not_overwritten);
    return ct_test_end();
}
