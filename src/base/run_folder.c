/* run_folder.c: run folders: the marker file, the lock, and the atomic start of a run.
 *
 *   covtune-run.json         the marker: format, version, command, id, key, and the files that its start removes
 *   .covtune-lock            the process that works there (lock.c)
 *   .covtune-<id>/           staged first files of the run of that id
 *   .covtune-<digits>.tmp    a file being written (file.c)
 *
 * The first files of a run are written to .covtune-<id>/ and synced. Replacing the marker, one rename, commits. Before
 * it the old run is complete, and the staged folder, whose id is in no marker, can be removed. After it the remaining
 * steps can be repeated from any point:
 *
 *     remove the files that the marker lists, move every staged file into the folder, remove the staged folder
 *
 * A staged folder with the marker's own id shows that they are not complete. These steps, and removing staged files,
 * do not allocate: the staged folder stays open while it exists. */
#define _XOPEN_SOURCE 700
#include "base/base.h"
#include "base/file.h"
#include "base/json.h"
#include "base/lock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK        "covtune-run.json"
#define FORMAT      "covtune-run"
#define VERSION     1
#define MARK_MAX    65536
#define SWEEPS      3 /* not every file system lists all entries of a folder that shrinks meanwhile */
#define NAME_LENGTH 200
static const char LOCK[] = ".covtune-lock";

struct ct_run_folder {
    char       *folder, *mark;
    char       *staged; /* NULL: no run was begun */
    DIR        *files;  /* of the staged folder   */
    char        who[64];
    ct__lock    lock;
    ct_run_folder_info info, next;
};

/* ---- Small things ---------------------------------------------------------------------------- */

static char *join(const char *folder, const char *name)
{
    const size_t n = strlen(folder), size = n + strlen(name) + 2;
    char        *path = malloc(size);
    if (path) snprintf(path, size, "%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name);
    return path;
}

/* A name that a list of removed files may hold: no path, no file of covtune's own. */
static int is_name(const char *name)
{
    const size_t      n = strlen(name);
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    return n && n <= NAME_LENGTH && name[0] != '.' && strspn(name, LETTERS) == n && strcmp(name, MARK);
}

static int is_dots(const char *name) { return !strcmp(name, ".") || !strcmp(name, ".."); }

static int is_folder(const char *path)
{
    struct stat entry;
    return lstat(path, &entry) == 0 && S_ISDIR(entry.st_mode);
}

/* The names that only covtune creates in a run folder. */
static int is_ours(const char *name)
{
    return !strcmp(name, LOCK) || ct__is_fresh_name(name, "") || ct__is_fresh_name(name, CT__TEMP);
}

/* f(user, path, name) for every entry, until one is not CT_OK. A folder that is not there has none. */
typedef ct_status (*visitor)(void *user, const char *path, const char *name, ct_err *err);
static ct_status visit(const char *folder, visitor f, void *user, ct_err *err)
{
    DIR *dir = opendir(folder);
    if (!dir && errno == ENOENT) return CT_OK;
    if (!dir) return ct_fail(err, ct__io_status(), "%s: cannot be the folder of a run: %s", folder, strerror(errno));
    ct_status status = CT_OK;
    for (const struct dirent *e; status == CT_OK && (e = readdir(dir));) {
        if (is_dots(e->d_name)) continue;
        char *path = join(folder, e->d_name);
        status = path ? f(user, path, e->d_name, err) : ct__no_memory(err, "file names", 1);
        free(path);
    }
    closedir(dir);
    return status;
}

/* ---- The mark -------------------------------------------------------------------------------- */

static ct_status damaged(const char *path, const char *what, ct_err *err)
{
    return ct_fail(err, CT_E_PARSE, "%s: %s; the folder is left as it is, choose another one", path, what);
}

static ct_status take_mark(const char *path, json_t *root, ct_run_folder_info *info, ct_err *err)
{
    const char *format = json_string_value(json_object_get(root, "format")),
               *of = json_string_value(json_object_get(root, "of"));
    const char *id = json_string_value(json_object_get(root, "id")),
               *key = json_string_value(json_object_get(root, "key"));
    const json_t *removes = json_object_get(root, "removes");
    if (!format || strcmp(format, FORMAT)) return damaged(path, "its format is not \"" FORMAT "\"", err);
    if (json_number_value(json_object_get(root, "version")) != VERSION)
        return damaged(path, "its version is not 1: a later covtune wrote it", err);
    if (!of || strlen(of) >= sizeof info->of) return damaged(path, "\"of\" does not say whose run it is", err);
    if (!id || strlen(id) >= sizeof info->id || !ct__is_fresh_name(id, "")) return damaged(path, "\"id\" is none", err);
    if (!key || strlen(key) != 16 || strspn(key, "0123456789abcdef") != 16)
        return damaged(path, "\"key\" is not 16 hexadecimal digits", err);
    for (size_t i = 0; i < json_array_size(removes); i++) {
        const char *name = json_string_value(json_array_get(removes, i));
        if (!name || !is_name(name)) return damaged(path, "\"removes\" holds what is no name of a file", err);
    }
    strcpy(info->of, of);
    strcpy(info->id, id);
    info->key = strtoull(key, NULL, 16);
    return CT_OK;
}

/* *root: the caller's; NULL where there is no mark. */
static ct_status read_mark(const char *path, json_t **root, ct_run_folder_info *info, ct_err *err)
{
    struct stat entry;
    *root = NULL;
    *info = (ct_run_folder_info){0};
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) return CT_OK;
    if (fd < 0) return ct_fail(err, CT_E_IO, "%s: %s", path, strerror(errno));
    if (fstat(fd, &entry) || !S_ISREG(entry.st_mode) || entry.st_size > MARK_MAX) {
        close(fd);
        return damaged(path, "is no file of covtune", err);
    }
    FILE *file = fdopen(fd, "r");
    if (!file) {
        close(fd);
        return ct__no_memory(err, "file buffers", 1);
    }
    ct_status status = ct__json_load(file, path, root, err);
    fclose(file);
    if (status == CT_OK) status = take_mark(path, *root, info, err);
    if (status == CT_OK) return status;
    json_decref(*root);
    *root = NULL;
    return status;
}

static ct_status write_mark(const char *path, const ct_run_folder_info *info, const char *const removed[], ct_err *err)
{
    char    key[24];
    json_t *list = json_array();
    snprintf(key, sizeof key, "%016" PRIx64, info->key);
    int bad = !list;
    for (int i = 0; !bad && removed[i]; i++) bad = json_array_append_new(list, json_string(removed[i])) != 0;
    json_t *root = json_pack("{s:s, s:i, s:s, s:s, s:s, s:O}", "format", FORMAT, "version", VERSION, "of", info->of,
                             "id", info->id, "key", key, "removes", list);
    json_decref(list);
    ct__text text = {.failed = bad || !root};
    if (root) ct__json_print(&text, root, 1);
    ct__text_put(&text, "\n");
    json_decref(root);
    const ct_status status = ct__text_save(&text, path, err);
    ct__text_free(&text);
    return status;
}

/* ---- Looking --------------------------------------------------------------------------------- */

static ct_status count_others(void *user, const char *path, const char *name, ct_err *err)
{
    int *n = user;
    (void)path;
    (void)err;
    *n += !is_ours(name);
    return CT_OK;
}

/* *root <- the mark, the caller's, with its state; NULL: there is none. */
static ct_status inspect_mark(const char *folder, json_t **root, ct_run_folder_info *info, ct_err *err)
{
    char *mark = join(folder, MARK);
    if (!mark) return ct__no_memory(err, "file names", 1);
    const ct_status status = read_mark(mark, root, info, err);
    free(mark);
    if (status != CT_OK || !*root) return status;
    char *staged = join(folder, info->id);
    if (!staged) return ct__no_memory(err, "file names", 1);
    info->state = is_folder(staged) ? CT_RUN_FOLDER_CUT : CT_RUN_FOLDER_HERE;
    free(staged);
    return CT_OK;
}

/* The same, and what there is without one. A run that another process puts in place has its mark before its files:
 * where there are files, the mark is looked for again. */
static ct_status inspect(const char *folder, json_t **root, ct_run_folder_info *info, ct_err *err)
{
    CT_TRY(inspect_mark(folder, root, info, err));
    if (*root) return CT_OK;
    int others = 0;
    CT_TRY(visit(folder, count_others, &others, err));
    if (others) CT_TRY(inspect_mark(folder, root, info, err));
    if (!*root) info->state = others ? CT_RUN_FOLDER_OTHER : CT_RUN_FOLDER_NONE;
    return CT_OK;
}

ct_status ct_run_folder_inspect(const char *folder, ct_run_folder_info *info, ct_err *err)
{
    json_t         *root = NULL;
    const ct_status status = inspect(folder, &root, info, err);
    json_decref(root);
    return status;
}

/* ---- Finishing and tidying ------------------------------------------------------------------- */

static ct_status cannot(const char *folder, const char *name, const char *what, ct_err *err)
{
    return ct_fail(err, CT_E_IO, "%s/%s: cannot be %s: %s; covtune does it when the folder is next used", folder, name,
                   what, strerror(errno));
}

/* Every file of the open folder into the one whose descriptor is `to`. Where that is -1 they are removed, as temporary
 * files always are. */
static ct_status empty(DIR *files, int to, const char *folder, ct_err *err)
{
    rewinddir(files);
    for (const struct dirent *e; (e = readdir(files));) {
        if (is_dots(e->d_name)) continue;
        if (to < 0 || ct__is_fresh_name(e->d_name, CT__TEMP)) unlinkat(dirfd(files), e->d_name, 0);
        else if (renameat(dirfd(files), e->d_name, to, e->d_name))
            return cannot(folder, e->d_name, "put in place", err);
    }
    return CT_OK;
}

/* The steps after the commit; can be repeated from any point. */
static ct_status finish_in(ct_run_folder *run, int folder, const char *const removed[], DIR *files, const char *staged,
                           ct_err *err)
{
    for (int i = 0; removed[i]; i++)
        if (unlinkat(folder, removed[i], 0) && errno != ENOENT) return cannot(run->folder, removed[i], "removed", err);
    int left = -1;
    for (int i = 0; left && i < SWEEPS; i++) {
        CT_TRY(empty(files, folder, run->folder, err));
        ct__sync_folder(run->folder);
        left = rmdir(staged);
    }
    if (left) return ct_fail(err, CT_E_IO, "%s: cannot be removed: %s", staged, strerror(errno));
    ct__sync_folder(run->folder);
    return CT_OK;
}

static ct_status finish(ct_run_folder *run, const char *const removed[], DIR *files, const char *staged, ct_err *err)
{
    const int folder = open(run->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return ct_fail(err, CT_E_IO, "%s: %s", run->folder, strerror(errno));
    const ct_status status = finish_in(run, folder, removed, files, staged, err);
    close(folder);
    return status;
}

/* The same for a run that was killed in these steps. */
static ct_status finish_cut(ct_run_folder *run, const json_t *mark, ct_err *err)
{
    const json_t *list = json_object_get(mark, "removes");
    const size_t  n = json_array_size(list);
    const char  **removed = ct__zalloc((int64_t)n + 1, sizeof *removed);
    char         *staged = join(run->folder, run->info.id);
    DIR          *files = staged ? opendir(staged) : NULL;
    ct_status     status = removed && staged ? CT_OK : ct__no_memory(err, "file names", (int64_t)n + 1);
    if (status == CT_OK && !files) status = ct_fail(err, ct__io_status(), "%s: %s", staged, strerror(errno));
    for (size_t i = 0; removed && i < n; i++) removed[i] = json_string_value(json_array_get(list, i));
    if (status == CT_OK) status = finish(run, removed, files, staged, err);
    if (files) closedir(files);
    free(staged);
    free(removed);
    return status;
}

static void remove_staged(DIR *files, const char *staged)
{
    empty(files, -1, staged, NULL);
    rmdir(staged);
}

/* Removes the files of killed processes. No other process stages files: the lock is held. */
static ct_status tidy(void *user, const char *path, const char *name, ct_err *err)
{
    const ct_run_folder *run = user;
    (void)err;
    if (ct__is_fresh_name(name, "") && is_folder(path) && strcmp(name, run->info.id)) {
        DIR *files = opendir(path);
        if (files) remove_staged(files, path);
        if (files) closedir(files);
    }
    if (ct__is_fresh_name(name, CT__TEMP) && ct__is_left_behind(path)) unlink(path);
    return CT_OK;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static ct_status refuse(const ct_run_folder *run, const char *of, int adopt, ct_err *err)
{
    const ct_run_folder_info *info = &run->info;
    if (info->state == CT_RUN_FOLDER_OTHER && !adopt)
        return ct_fail(err, CT_E_ARGUMENT, "%s: is a folder with other things in it; choose a new one", run->folder);
    if (info->state >= CT_RUN_FOLDER_CUT && strcmp(info->of, of))
        return ct_fail(err, CT_E_ARGUMENT, "%s: is a run of covtune %s; choose another folder", run->folder, info->of);
    return CT_OK;
}

/* Before the lock file is created: a folder with other files is not changed at all. */
static ct_status look_first(ct_run_folder *run, const char *of, int adopt, ct_err *err)
{
    struct stat entry;
    if (stat(run->folder, &entry)) return ct_fail(err, CT_E_IO, "%s: %s", run->folder, strerror(errno));
    if (!S_ISDIR(entry.st_mode)) return ct_fail(err, CT_E_IO, "%s: is not a folder", run->folder);
    CT_TRY(ct_run_folder_inspect(run->folder, &run->info, err));
    return refuse(run, of, adopt, err);
}

static ct_status open_parts(ct_run_folder *run, const char *of, int adopt, ct_err *err)
{
    json_t *mark = NULL;
    CT_TRY(look_first(run, of, adopt, err));
    char *lock = join(run->folder, LOCK);
    if (!lock) return ct__no_memory(err, "file names", 1);
    ct_status status = ct__lock_take(lock, run->folder, run->who, &run->lock, err);
    free(lock);
    CT_TRY(status);
    status = inspect(run->folder, &mark, &run->info, err); /* again: it may have changed before the lock was obtained */
    if (status == CT_OK) status = refuse(run, of, adopt, err);
    if (status == CT_OK && run->info.state == CT_RUN_FOLDER_CUT) {
        status = finish_cut(run, mark, err);
        if (status == CT_OK) run->info.state = CT_RUN_FOLDER_HERE;
    }
    json_decref(mark);
    if (status == CT_OK && run->info.state != CT_RUN_FOLDER_OTHER) status = visit(run->folder, tidy, run, err);
    return status;
}

ct_status ct_run_folder_open(const char *folder, const char *of, int adopt, ct_run_folder **out, ct_err *err)
{
    ct_run_folder *run;
    *out = NULL;
    if (!of[0] || strlen(of) >= sizeof run->info.of)
        return ct_fail(err, CT_E_ARGUMENT, "whose a run is takes 1 to 31 characters, found \"%s\"", of);
    run = ct__zalloc(1, sizeof *run);
    if (!run) return ct__no_memory(err, "folders of runs", 1);
    snprintf(run->who, sizeof run->who, "covtune %s", of);
    run->folder = ct__strdup(folder);
    run->mark = join(folder, MARK);
    strcpy(run->next.of, of);
    const ct_status status =
        run->folder && run->mark ? open_parts(run, of, adopt, err) : ct__no_memory(err, "file names", 2);
    if (status == CT_OK) *out = run;
    else ct_run_folder_free(run);
    return status;
}

static void drop_staged(ct_run_folder *run)
{
    if (run->files) remove_staged(run->files, run->staged);
    if (run->files) closedir(run->files);
    free(run->staged);
    run->files = NULL;
    run->staged = NULL;
}

void ct_run_folder_free(ct_run_folder *run)
{
    if (!run) return;
    drop_staged(run);
    ct__lock_drop(&run->lock);
    free(run->folder);
    free(run->mark);
    free(run);
}

const ct_run_folder_info *ct_run_folder_get(const ct_run_folder *run) { return &run->info; }

const char *ct_run_folder_staged(const ct_run_folder *run) { return run->staged; }

/* ---- Beginning ------------------------------------------------------------------------------- */

ct_status ct_run_folder_begin(ct_run_folder *run, uint64_t key, ct_err *err)
{
    drop_staged(run);
    run->next.key = key;
    int made = -1;
    for (int i = 0; made && i < 100; i++) {
        ct__fresh_name(i, run->next.id);
        free(run->staged);
        run->staged = join(run->folder, run->next.id);
        if (!run->staged) return ct__no_memory(err, "file names", 1);
        made = mkdir(run->staged, 0777);
        if (made && errno != EEXIST) break;
    }
    if (!made && (run->files = opendir(run->staged))) return CT_OK;
    const int       why = errno;
    const ct_status status = ct__io_status();
    if (!made) rmdir(run->staged);
    free(run->staged);
    run->staged = NULL;
    return ct_fail(err, status, "%s: nothing can be made in this folder: %s", run->folder, strerror(why));
}

/* Checks before the commit that every staged entry, and its destination if it exists, is a regular file. */
static ct_status check_move(void *user, const char *path, const char *name, ct_err *err)
{
    const ct_run_folder *run = user;
    struct stat   entry;
    if (!is_name(name)) return ct_fail(err, CT_E_ARGUMENT, "%s: is no name for a file of a run", path);
    if (lstat(path, &entry) || !S_ISREG(entry.st_mode)) return ct_fail(err, CT_E_ARGUMENT, "%s: is not a file", path);
    char *to = join(run->folder, name);
    if (!to) return ct__no_memory(err, "file names", 1);
    const int blocked = is_folder(to);
    free(to);
    return blocked
               ? ct_fail(err, CT_E_IO, "%s: there is a folder %s in it, where a file has to be; choose another folder",
                         run->folder, name)
               : CT_OK;
}

static ct_status check_removed(const ct_run_folder *run, const char *const removed[], ct_err *err)
{
    for (int i = 0; removed[i]; i++) {
        if (!is_name(removed[i]))
            return ct_fail(err, CT_E_ARGUMENT, "\"%s\" is no name for a file of a run", removed[i]);
        char *path = join(run->folder, removed[i]);
        if (!path) return ct__no_memory(err, "file names", 1);
        const int blocked = is_folder(path);
        free(path);
        if (blocked)
            return ct_fail(err, CT_E_IO,
                           "%s: there is a folder %s in it, where a file has to be; choose another folder", run->folder,
                           removed[i]);
    }
    return CT_OK;
}

ct_status ct_run_folder_commit(ct_run_folder *run, const char *const removed[], ct_err *err)
{
    if (!run->staged) return ct_fail(err, CT_E_ARGUMENT, "%s: no run was begun that could be committed", run->folder);
    CT_TRY(check_removed(run, removed, err));
    CT_TRY(visit(run->staged, check_move, run, err));
    ct__sync_folder(run->staged);
    CT_TRY(write_mark(run->mark, &run->next, removed, err)); /* the commit */
    run->info = run->next;
    run->info.state = CT_RUN_FOLDER_HERE;
    char *staged = run->staged;
    DIR  *files = run->files;
    run->staged = NULL;
    run->files = NULL;
    ct_status status = finish(run, removed, files, staged, err);
    closedir(files);
    if (status == CT_OK)
        status = visit(run->folder, tidy, run, err); /* an adopted folder was not tidied before */
    free(staged);
    return status;
}
