/* build_folder.c: the folder of an imported dataset.
 *
 * Sequences are written to a hidden folder inside, .covtune-<digits>, as they are complete. At the end
 *   1. dataset.yaml is replaced by one that names them there: from now on the new dataset is complete;
 *   2. the sequences of the old dataset are removed, and links to the new ones made in train/ and test/;
 *   3. dataset.yaml is replaced by one that names those; the hidden folder is removed.
 * A process that is killed leaves the old dataset or the new one. What it leaves hidden is removed by the next import.
 * On file systems without hard links files are moved in step 2, and a kill within it leaves a dataset.yaml that names
 * some files where they were: reading it fails with their names. */
#define _XOPEN_SOURCE 700
#include "base/lock.h"
#include "recipe/build.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK  ".covtune-lock"
#define YAML  "dataset.yaml"
#define STAGE ".import"

struct ct__folder {
    char *path, *staged, *name; /* name: of the hidden folder in path */
    ct__lock lock;
    int made;   /* 1: the folder was made by us */
    DIR *files; /* of the hidden folder: it can be emptied without memory */
};

const char *ct__folder_staged(const ct__folder *folder) { return folder->staged; }

/* ---- looking ---- */

/* *ours <- whether the dataset in the folder may be replaced. */
static ct_status check_ours(const char *out, int *ours, ct_err *err)
{
    char line[sizeof CT_DATASET_BEGINS] = "";
    char *path = ct__path_join(out, YAML);
    if (!path) return ct__no_memory(err, "file names", 1);
    FILE *file = fopen(path, "rb");
    const int why = errno;
    free(path);
    errno = why;
    if (!file) return ct_fail(err, ct__io_status(), "%s/" YAML ": %s", out, strerror(why));
    const size_t n = fread(line, 1, sizeof line - 1, file);
    fclose(file);
    *ours = n == sizeof line - 1 && !memcmp(line, CT_DATASET_BEGINS, n);
    return CT_OK;
}

static int is_hidden_of_ours(const char *name)
{
    return !strncmp(name, CT__OURS, strlen(CT__OURS)); /* lock, temporary files, hidden folders of killed imports */
}

/* Refuses a folder with other files than a dataset of ours. */
static ct_status check_place(const char *out, ct_err *err)
{
    struct stat entry;
    if (stat(out, &entry) != 0) return errno == ENOENT ? CT_OK : ct_fail(err, CT_E_IO, "%s: %s", out, strerror(errno));
    if (!S_ISDIR(entry.st_mode)) return ct_fail(err, CT_E_IO, "%s: it is a file; a dataset is a folder", out);
    DIR *dir = opendir(out);
    if (!dir) return ct_fail(err, ct__io_status(), "%s: %s", out, strerror(errno));
    int others = 0, dataset = 0;
    const struct dirent *e;
    while ((e = readdir(dir))) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || is_hidden_of_ours(e->d_name)) continue;
        others++;
        dataset |= !strcmp(e->d_name, YAML);
    }
    closedir(dir);
    if (!others) return CT_OK;
    if (!dataset)
        return ct_fail(err, CT_E_IO, "%s: there is something in this folder, and it is no dataset; name another folder",
                       out);
    int own = 0;
    CT_TRY(check_ours(out, &own, err));
    if (own) return CT_OK;
    return ct_fail(err, CT_E_IO,
                   "%s: the dataset in it was not written by covtune (dataset.yaml does not begin with \"%s\"); name "
                   "another folder",
                   out, CT_DATASET_BEGINS);
}

/* ---- removing ---- */

/* The files of a folder that has no folders, and the folder. Closes dir, which may be NULL. */
static void remove_files(DIR *dir, const char *path)
{
    const struct dirent *e;
    if (dir) rewinddir(dir);
    while (dir && (e = readdir(dir))) unlinkat(dirfd(dir), e->d_name, 0); /* fails for . and .. */
    if (dir) closedir(dir);
    rmdir(path);
}

static void remove_flat(const char *path) { remove_files(opendir(path), path); }

/* What killed imports left: hidden folders and temporary files. The lock is held: no other one is at work. */
static void remove_left(const char *out)
{
    DIR *dir = opendir(out);
    const struct dirent *e;
    while (dir && (e = readdir(dir))) {
        const int folder = ct__is_fresh_name(e->d_name, STAGE), file = ct__is_fresh_name(e->d_name, CT__TEMP);
        char *path = folder || file ? ct__path_join(out, e->d_name) : NULL;
        if (path && folder) remove_flat(path);
        if (path && file && ct__is_left_behind(path)) unlink(path);
        free(path);
    }
    if (dir) closedir(dir);
}

/* Sequence files of a part; the folder too, if it is empty then. */
static void remove_part(const char *out, const char *part)
{
    char *path = ct__path_join(out, part);
    DIR *dir = path ? opendir(path) : NULL;
    const struct dirent *e;
    while (dir && (e = readdir(dir))) {
        const size_t n = strlen(e->d_name);
        char *inside = n > 6 && !strcmp(e->d_name + n - 6, ".ctseq") ? ct__path_join(path, e->d_name) : NULL;
        if (inside) unlink(inside);
        free(inside);
    }
    if (dir) closedir(dir);
    if (path) rmdir(path);
    free(path);
}

void ct__folder_free(ct__folder *folder)
{
    if (!folder) return;
    if (folder->staged)
        remove_files(folder->files, folder->staged);
    else if (folder->files)
        closedir(folder->files);
    ct__lock_drop(&folder->lock);
    if (folder->made) rmdir(folder->path); /* if nothing was put there */
    free(folder->path);
    free(folder->staged);
    free(folder->name);
    free(folder);
}

/* ---- beginning ---- */

static ct_status make_folder(const char *path, int *made, ct_err *err)
{
    struct stat entry;
    *made = mkdir(path, 0777) == 0;
    if (*made) return CT_OK;
    const int why = errno;
    if (why == EEXIST && stat(path, &entry) == 0 && S_ISDIR(entry.st_mode)) return CT_OK;
    return ct_fail(err, CT_E_IO, "%s: the folder cannot be made: %s", path, strerror(why));
}

static ct_status make_staged(ct__folder *folder, ct_err *err)
{
    for (int attempt = 0; attempt < 100; attempt++) {
        char name[CT__FRESH_NAME];
        ct__fresh_name(attempt, name);
        folder->name = malloc(strlen(name) + sizeof STAGE);
        if (!folder->name) return ct__no_memory(err, "file names", 1);
        strcat(strcpy(folder->name, name), STAGE);
        folder->staged = ct__path_join(folder->path, folder->name);
        if (!folder->staged) return ct__no_memory(err, "file names", 1);
        if (mkdir(folder->staged, 0777) == 0) {
            folder->files = opendir(folder->staged);
            if (folder->files) return CT_OK;
            return ct_fail(err, ct__io_status(), "%s: %s", folder->staged, strerror(errno));
        }
        const int why = errno;
        free(folder->name);
        free(folder->staged);
        folder->name = folder->staged = NULL;
        if (why != EEXIST)
            return ct_fail(err, CT_E_IO, "%s: nothing can be made there: %s", folder->path, strerror(why));
    }
    return ct_fail(err, CT_E_IO, "%s: no name is free for a folder of its own", folder->path);
}

static ct_status prepare(ct__folder *folder, const char *out, ct_err *err)
{
    CT_TRY(check_place(out, err));
    CT_TRY(make_folder(out, &folder->made, err));
    char *lock = ct__path_join(out, LOCK);
    if (!lock) return ct__no_memory(err, "file names", 1);
    const ct_status status = ct__lock_take(lock, out, "covtune import", &folder->lock, err);
    free(lock);
    CT_TRY(status);
    CT_TRY(check_place(out, err)); /* again: it may have changed before the lock was obtained */
    return make_staged(folder, err);
}

ct_status ct__folder_begin(const char *out, ct__folder **folder, ct_err *err)
{
    *folder = ct__zalloc(1, sizeof **folder);
    if (!*folder) return ct__no_memory(err, "folders", 1);
    (*folder)->path = ct__strdup(out);
    const ct_status status = (*folder)->path ? prepare(*folder, out, err) : ct__no_memory(err, "file names", 1);
    if (status == CT_OK) return CT_OK;
    ct__folder_free(*folder);
    *folder = NULL;
    return status;
}

/* ---- committing ---- */

typedef struct {
    ct__import *imp;
    ct__folder *folder;
    ct__part train, test;
    ct__paths name[2], file[2]; /* in the hidden folder; in train/ and test/ */
    ct_dataset *dataset;        /* groups and noise, for dataset.yaml */
} commit;

/* train/robot1-seg00.ctseq. A sequence of both parts is in train/. */
static ct_status name_part(commit *c, int testing)
{
    const ct__part *part = testing ? &c->test : &c->train;
    for (int32_t i = 0; i < part->count; i++) {
        const ct__made *made = &c->imp->sink.item[part->item[i]];
        int both = 0;
        for (int32_t k = 0; testing && !both && k < c->train.count; k++) both = c->train.item[k] == part->item[i];
        ct__text text = {0};
        char *file = NULL;
        ct__text_printf(&text, "%s/%s.ctseq", testing && !both ? "test" : "train", made->name);
        CT_TRY(ct__text_take(&text, &file, c->imp->err));
        ct_status status = ct__paths_add(&c->file[testing], "", file, c->imp->err);
        free(file);
        const char *slash = strrchr(made->temp, '/');
        if (status == CT_OK) status = ct__paths_add(&c->name[testing], c->folder->name, slash + 1, c->imp->err);
        CT_TRY(status);
    }
    return CT_OK;
}

/* dataset.yaml with these files, written beside the one that is there: ct__file_commit puts it in its place. */
static ct_status stage_yaml(const commit *c, const ct__paths list[2], ct__file *file)
{
    ct_err *err = c->imp->err;
    char *path = ct__path_join(c->folder->path, YAML);
    if (!path) return ct__no_memory(err, "file names", 1);
    ct_status status = ct__file_begin(file, path, err);
    free(path);
    CT_TRY(status);
    c->dataset->trains = (int32_t)list[0].count;
    c->dataset->tests = (int32_t)list[1].count;
    status = ct__yaml_write(file->stream, c->dataset, list[0].path, list[1].path, err);
    c->dataset->trains = c->dataset->tests = 0;
    if (status != CT_OK) ct__file_abort(file);
    return status;
}

/* A recording that is called after the recipe keeps that name. */
static ct_status put_recording(const commit *c, char **text)
{
    ct_recipe *copy = NULL;
    char *named = NULL;
    if (!c->imp->unnamed) return CT_OK;
    ct_status status = ct_recipe_parse(*text, c->imp->recipe->name, NULL, &copy, c->imp->err);
    if (status == CT_OK)
        status = ct__recipe_put(copy, "recording", c->imp->sink.item[0].recording, &named, c->imp->err);
    ct_recipe_free(copy);
    if (status != CT_OK) return status;
    free(*text);
    *text = named;
    return CT_OK;
}

/* recipe.yaml: the recipe to the byte, but for the folder of its files and the name of the recording. */
static ct_status write_recipe(const commit *c)
{
    ct_err *err = c->imp->err;
    char *path = ct__path_join(c->folder->path, CT__RECIPE_COPY), *absolute = realpath(c->imp->plan.folder, NULL);
    char *text = NULL;
    ct_status status = path && (absolute || errno != ENOMEM) ? CT_OK : ct__no_memory(err, "file names", 1);
    if (status == CT_OK)
        status = ct__recipe_put(c->imp->recipe, "folder", absolute ? absolute : c->imp->plan.folder, &text, err);
    if (status == CT_OK) status = put_recording(c, &text);
    if (status == CT_OK) status = ct_file_replace(path, text, strlen(text), err);
    free(text);
    free(absolute);
    free(path);
    return status;
}

/* Links in train/ or test/. Without memory: the dataset must not stay hidden for want of it. */
static ct_status link_part(const commit *c, int at, int testing)
{
    const char *part = testing ? "test" : "train";
    const ct__paths *from = &c->name[testing], *to = &c->file[testing];
    for (int64_t i = 0; i < to->count; i++) {
        if (strncmp(to->path[i], part, strlen(part))) continue; /* a sequence of both parts, which train/ has */
        if (mkdirat(at, part, 0777) != 0 && errno != EEXIST)
            return ct_fail(c->imp->err, CT_E_IO, "%s/%s: the folder cannot be made: %s", c->folder->path, part,
                           strerror(errno));
        if (linkat(at, from->path[i], at, to->path[i], 0) != 0 && renameat(at, from->path[i], at, to->path[i]) != 0)
            return ct_fail(c->imp->err, CT_E_IO, "%s/%s: %s", c->folder->path, to->path[i], strerror(errno));
    }
    const int folder = openat(at, part, O_RDONLY | O_DIRECTORY);
    if (folder >= 0) fsync(folder);
    if (folder >= 0) close(folder);
    return CT_OK;
}

/* "a-seg00" is the first part of a, and may be the name of another recording. */
static ct_status check_names(const ct__import *imp)
{
    ct__names names = {0};
    ct_status status = CT_OK;
    for (int64_t i = 0; status == CT_OK && i < imp->sink.count; i++) {
        const char *name = imp->sink.item[i].name;
        if (ct__names_find(&names, name) >= 0)
            status = ct_fail(imp->err, CT_E_ARGUMENT,
                             "%s: two sequences are called \"%s\"; `recording:` gives recordings other names",
                             imp->recipe->name, name);
        else
            status = ct__names_add(&names, name, imp->err);
    }
    ct__names_free(&names);
    return status;
}

/* Steps 1 to 3. All that needs memory is done before. */
static ct_status put_in_place(commit *c, int at)
{
    ct__file hidden, final;
    CT_TRY(stage_yaml(c, c->name, &hidden));
    ct_status status = stage_yaml(c, c->file, &final);
    if (status != CT_OK) {
        ct__file_abort(&hidden);
        return status;
    }
    status = ct__file_commit(&hidden, c->imp->err);
    if (status != CT_OK) {
        ct__file_abort(&final);
        return status;
    }
    c->folder->made = 0;
    remove_part(c->folder->path, "train");
    remove_part(c->folder->path, "test");
    for (int testing = 0; status == CT_OK && testing < 2; testing++) status = link_part(c, at, testing);
    if (status == CT_OK) status = ct__file_commit(&final, c->imp->err);
    else ct__file_abort(&final);
    if (status == CT_OK) remove_left(c->folder->path);
    else { /* the dataset is complete where it is */
        free(c->folder->staged);
        c->folder->staged = NULL;
    }
    return status;
}

static ct_status do_commit(commit *c)
{
    ct__import *imp = c->imp;
    CT_TRY(ct__split(imp->recipe, &imp->sink, imp->options.only != NULL, &c->train, &c->test, imp->err));
    CT_TRY(check_names(imp));
    imp->result.trains = c->train.count;
    imp->result.tests = c->test.count;
    CT_TRY(ct_dataset_new(&c->dataset, imp->err));
    ct_noise *empty = c->dataset->noise;
    c->dataset->noise = imp->noise; /* lent */
    ct_status status = ct__add_groups(imp, c->dataset);
    for (int testing = 0; status == CT_OK && testing < 2; testing++) status = name_part(c, testing);
    const int at = open(c->folder->path, O_RDONLY | O_DIRECTORY);
    if (status == CT_OK && at < 0) status = ct_fail(imp->err, CT_E_IO, "%s: %s", c->folder->path, strerror(errno));
    if (status == CT_OK) ct__sync_folder(c->folder->staged);
    if (status == CT_OK) status = write_recipe(c);
    if (status == CT_OK) status = put_in_place(c, at);
    if (at >= 0) close(at);
    c->dataset->noise = empty;
    return status;
}

ct_status ct__folder_commit(ct__import *imp, ct__folder *folder)
{
    commit c = {.imp = imp, .folder = folder};
    const ct_status status = do_commit(&c);
    for (int i = 0; i < 2; i++) {
        ct__paths_free(&c.name[i]);
        ct__paths_free(&c.file[i]);
    }
    free(c.train.item);
    free(c.test.item);
    ct_dataset_free(c.dataset);
    return status;
}
