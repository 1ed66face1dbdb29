/* queue_folders.c: folders run-000001, ... below the queue's. A folder that is kept has outcome.txt. What a killed
 * process left has none, and is removed when the next queue opens the folder. */
#define _GNU_SOURCE
#include "tune/queue.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static char *path_of(const ct__local *q, int64_t number, const char *file)
{
    char name[64];
    snprintf(name, sizeof name, "run-%06lld%s", (long long)number, file);
    return ct__join_path(q->folder, name);
}

static void remove_run(const ct__local *q, int64_t number)
{
    char *path = path_of(q, number, "");
    if (path) (void)ct_folder_remove(path, NULL);
    free(path);
}

static int64_t number_of(const char *name)
{
    if (strncmp(name, "run-", 4) || strspn(name + 4, "0123456789") != strlen(name + 4) || !name[4]) return -1;
    return strlen(name) > 22 ? -1 : strtoll(name + 4, NULL, 10);
}

static int by_number(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* One more failure is kept, the oldest is not. */
static void keep_failure(ct__local *q, int64_t number)
{
    if (q->failures == CT__FAILURES_KEPT) {
        remove_run(q, q->failure[0]);
        memmove(q->failure, q->failure + 1, (CT__FAILURES_KEPT - 1) * sizeof *q->failure);
        q->failures--;
    }
    q->failure[q->failures++] = number;
}

/* Folders that are there: the whole ones in rising order, others removed. */
static ct_status survey(ct__local *q, ct_err *err)
{
    int64_t  *list = NULL, count = 0, capacity = 0;
    DIR      *entries = opendir(q->folder);
    ct_status status = CT_OK;
    if (!entries) return ct_fail(err, ct__io_status(), "%s: cannot be read: %s", q->folder, strerror(errno));
    for (const struct dirent *entry; status == CT_OK && (entry = readdir(entries));) {
        const int64_t number = number_of(entry->d_name);
        if (number < 0) continue;
        status = ct__grow(&list, &capacity, count + 1, sizeof *list, "runs", err);
        if (status == CT_OK) list[count++] = number;
    }
    closedir(entries);
    if (count) qsort(list, (size_t)count, sizeof *list, by_number);
    for (int64_t i = 0; status == CT_OK && i < count; i++) {
        char     *mark = path_of(q, list[i], "/outcome.txt");
        const int whole = mark && access(mark, F_OK) == 0;
        q->next_number = CT_MAX(q->next_number, list[i] + 1);
        if (!whole) remove_run(q, list[i]);
        else if (!q->keep) keep_failure(q, list[i]);
        free(mark);
    }
    free(list);
    return status;
}

ct_status ct__folders_open(ct__local *q, ct_err *err)
{
    char *lock = ct__join_path(q->folder, ".covtune-lock");
    if (!lock) return ct__no_memory(err, "file names", 1);
    ct_status status = ct__lock_take(lock, q->folder, "covtune tune", &q->lock, err);
    free(lock);
    q->next_number = 1;
    struct stat entry = {0};
    if (status == CT_OK && stat(q->folder, &entry))
        status = ct_fail(err, ct__io_status(), "%s: cannot be read: %s", q->folder, strerror(errno));
    char *runs = status == CT_OK ? ct__join_path(q->folder, "run-") : NULL;
    if (runs) ct__kill_marked(runs); /* what an earlier process left, though all of its watchers were killed */
    free(runs);
    q->device = entry.st_dev;
    q->inode = entry.st_ino;
    return status == CT_OK ? survey(q, err) : status;
}

void ct__folder_end_strays(const ct__local *q, int64_t number)
{
    char *mark = path_of(q, number, "/");
    if (mark) ct__kill_marked(mark);
    free(mark);
}

int ct__folder_is_there(const ct__local *q)
{
    struct stat entry;
    return stat(q->folder, &entry) == 0 && entry.st_dev == q->device && entry.st_ino == q->inode;
}

/* ---- After a run ------------------------------------------------------------------------------ */

static void write_text(const ct__run *run, const char *name, const ct__text *text)
{
    char *path = ct__join_path(run->folder, name);
    if (path && !text->failed) (void)ct__write_plain(path, text->bytes, (size_t)text->used, NULL);
    free(path);
}

static void write_output(const ct__run *run, const char *name, const ct__output *output)
{
    ct__text      text = {0};
    const int64_t left = output->total - output->kept;
    if (!output->bytes || !output->total) return;
    ct__text_bytes(&text, output->bytes, (size_t)output->head);
    if (left > 0) ct__text_printf(&text, "\n... %lld bytes are left out ...\n", (long long)left);
    ct__text_bytes(&text, output->bytes + output->head, (size_t)(output->kept - output->head));
    write_text(run, name, &text);
    ct__text_free(&text);
}

void ct__folder_close(ct__local *q, ct__run *run, int abandoned)
{
    const int failed = run->outcome.end != CT_TUNE_DONE;
    if (!run->folder) return;
    if (abandoned || (!failed && !q->keep)) {
        (void)ct_folder_remove(run->folder, NULL);
        return;
    }
    struct stat entry; /* the program may have removed it, or put a link to another in its place */
    if (lstat(run->folder, &entry) == 0 && !S_ISDIR(entry.st_mode)) (void)unlink(run->folder);
    (void)mkdir(run->folder, 0777);
    ct__text text = {0};
    ct__text_put(&text, run->command ? run->command : "");
    if (run->command) write_text(run, "command.txt", &text);
    ct__text_free(&text);
    write_output(run, "stdout.txt", &run->report.out);
    write_output(run, "stderr.txt", &run->report.err);
    ct__text_printf(&text, "%s\n", ct_tune_end_name(run->outcome.end));
    if (run->outcome.message) ct__text_printf(&text, "%s\n", run->outcome.message);
    write_text(run, "outcome.txt", &text);
    ct__text_free(&text);
    if (!q->keep) keep_failure(q, run->number);
}
