/* dataset.c: reading datasets.
 *
 * All sequences share one noise table, so that learning has one theta. A file that both lists name is read once; one
 * sequence is then in both. */
#define _POSIX_C_SOURCE 200809L
#include "data/data.h"
#include "data/read_ahead.h"
#include "data/store.h"

#include <errno.h>
#include <sys/stat.h>

#define YAML      "dataset.yaml"
#define NOTES_MAX 8 /* different notes; logs of one kind have the same ones */

/* ---- handles ---- */

ct_status ct_dataset_new(ct_dataset **out, ct_err *err)
{
    *out = ct__zalloc(1, sizeof **out);
    if (!*out) return ct__no_memory(err, "datasets", 1);
    const ct_status status = ct_noise_new(&(*out)->noise, err);
    if (status == CT_OK) return CT_OK;
    free(*out);
    *out = NULL;
    return status;
}

static int by_address(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t) * (ct_sequence *const *)a, y = (uintptr_t) * (ct_sequence *const *)b;
    return x < y ? -1 : x > y;
}

/* Frees every sequence once: sorted by address, equal pointers are neighbours. */
static void free_runs(ct_dataset *d)
{
    if (d->trains) qsort(d->train, (size_t)d->trains, sizeof *d->train, by_address);
    if (d->tests) qsort(d->test, (size_t)d->tests, sizeof *d->test, by_address);
    for (int32_t i = 0, j = 0; i < d->trains || j < d->tests;) {
        ct_sequence *next =
            j == d->tests || (i < d->trains && by_address(&d->train[i], &d->test[j]) < 0) ? d->train[i] : d->test[j];
        while (i < d->trains && d->train[i] == next) i++;
        while (j < d->tests && d->test[j] == next) j++;
        ct_sequence_free(next);
    }
}

void ct_dataset_free(ct_dataset *d)
{
    if (!d) return;
    free_runs(d);
    ct__store_free(d->store);
    if (d->index) ct__names_free(d->index);
    free(d->index);
    for (int32_t i = 0; i < d->groups; i++) {
        free(d->group[i].name);
        free(d->group[i].bias);
        free(d->group[i].model);
    }
    free(d->train);
    free(d->test);
    free(d->group);
    free(d->path);
    free(d->note);
    ct_noise_free(d->noise);
    free(d);
}

/* ---- notes ---- */

typedef struct {
    const char *text, *path; /* borrowed, of the first file with this note */
    int32_t     more;        /* further files with it                 */
} note;

typedef struct {
    ct_dataset  *d;
    ct_err      *err;
    const ct_read_options *how; /* for its files; borrowed, or NULL */
    ct__yaml    *yaml;      /* or NULL */
    char        *yaml_path, *folder;
    ct__paths    train, test;
    ct__names    paths;     /* files that were read, ...                     */
    ct_sequence **of_path;  /* ... and their sequences; borrowed             */
    int64_t      of_path_capacity;
    note         notes[NOTES_MAX];
    int          note_count;
} reader;

/* The path relative to the dataset, "train/0000.json"; "" for a file that is the dataset. */
static const char *inside(const reader *r, const char *path)
{
    return strcmp(path, r->d->path) ? ct__path_inside(r->folder, path) : "";
}

static void take_note(reader *r, const char *path, const char *text)
{
    for (int i = 0; i < r->note_count; i++) {
        if (strcmp(r->notes[i].text, text)) continue;
        r->notes[i].more++;
        return;
    }
    if (r->note_count < NOTES_MAX) r->notes[r->note_count++] = (note){text, inside(r, path), 0};
}

static ct_status append(reader *r, const char *text)
{
    const size_t old = r->d->note ? strlen(r->d->note) : 0;
    char        *longer = realloc(r->d->note, old + strlen(text) + 3);
    if (!longer) return ct__no_memory(r->err, "bytes of notes", (int64_t)old);
    sprintf(longer + old, "%s%s", old ? "; " : "", text);
    r->d->note = longer;
    return CT_OK;
}

static ct_status join_notes(reader *r)
{
    char text[5000]; /* a reader's note has at most 4 KB */
    for (int i = 0; i < r->note_count; i++) {
        const note *n = &r->notes[i];
        if (n->more)
            snprintf(text, sizeof text, "%.400s and %d other%s: %s", n->path, n->more, n->more == 1 ? "" : "s",
                     n->text);
        else snprintf(text, sizeof text, "%.400s%s%s", n->path, *n->path ? ": " : "", n->text);
        CT_TRY(append(r, text));
    }
    for (int part = 0; part < 2; part++) {
        const ct__paths *p = part ? &r->test : &r->train;
        if (!p->others) continue;
        if (p->others == 1)
            snprintf(text, sizeof text, "%s is left out: it is no file with a format's ending", p->other);
        else
            snprintf(text, sizeof text, "%s and %lld more are left out: they are no files with a format's ending",
                     p->other, (long long)p->others - 1);
        CT_TRY(append(r, text));
    }
    return CT_OK;
}

/* Not every note of many files is kept; the number of repairs is. */
static ct_status note_repairs(reader *r)
{
    int64_t matrices = 0, files = 0;
    char    text[128];
    for (int64_t i = 0; i < r->paths.count; i++) {
        matrices += r->of_path[i]->repaired;
        files += r->of_path[i]->repaired > 0;
    }
    snprintf(text, sizeof text, "%lld matrices are repaired in all, in %lld files", (long long)matrices,
             (long long)files);
    return files > 1 ? append(r, text) : CT_OK;
}

/* ---- dataset.yaml ---- */

static int is_folder(const char *path)
{
    struct stat entry;
    return stat(path, &entry) == 0 && S_ISDIR(entry.st_mode);
}

static int exists(const char *path)
{
    struct stat entry;
    return stat(path, &entry) == 0;
}

/* The whole file; the caller frees *text. */
static ct_status slurp(const char *path, char **text, size_t *size, ct_err *err)
{
    FILE *file = fopen(path, "rb");
    if (!file) return ct_fail(err, ct__io_status(), "%s: %s", path, strerror(errno));
    int64_t   capacity = 0, used = 0;
    size_t    got = 1;
    ct_status status = CT_OK;
    *text = NULL;
    while (status == CT_OK && got) {
        status = ct__grow(text, &capacity, used + 4096, 1, "bytes of text", err);
        got = status == CT_OK ? fread(*text + used, 1, (size_t)(capacity - used), file) : 0;
        used += (int64_t)got;
    }
    if (status == CT_OK && ferror(file)) status = ct_fail(err, CT_E_IO, "%s: %s", path, strerror(errno));
    fclose(file);
    *size = (size_t)used;
    return status;
}

static ct_status take_groups(reader *r)
{
    r->d->group = ct__zalloc(r->yaml->groups, sizeof *r->d->group);
    if (!r->d->group) return ct__no_memory(r->err, "groups", r->yaml->groups);
    for (unsigned i = 0; i < r->yaml->groups; i++) {
        r->d->groups++;
        CT_TRY(ct__yaml_take_group(&r->yaml->group[i], r->yaml_path, &r->d->group[i], r->err));
    }
    return CT_OK;
}

/* A file of a list, or the files that match it if it is a pattern and no file. */
static ct_status add_listed(reader *r, const char *key, const char *word, ct__paths *to)
{
    int64_t found = 1;
    char   *path = ct__path_join(r->folder, word);
    if (!path) return ct__no_memory(r->err, "file names", 1);
    const int literal = exists(path) || !word[strcspn(word, "*?[")];
    free(path);
    if (literal) return ct__paths_add(to, r->folder, word, r->err);
    CT_TRY(ct__paths_match(to, r->folder, word, &found, r->err));
    return found ? CT_OK
                 : ct_fail(r->err, CT_E_PARSE, "%s:%d: %s: no file matches %.200s", r->yaml_path,
                           ct__yaml_line(r->yaml, key, word), key, word);
}

static ct_status read_yaml(reader *r)
{
    char     *text = NULL;
    size_t    size = 0;
    ct_status status = slurp(r->yaml_path, &text, &size, r->err);
    if (status == CT_OK) status = ct__yaml_parse(text, size, r->yaml_path, &r->yaml, r->err);
    free(text);
    CT_TRY(status);
    CT_TRY(ct__yaml_check(r->yaml, r->yaml_path, r->err));
    CT_TRY(take_groups(r));
    for (unsigned i = 0; i < r->yaml->trains; i++) CT_TRY(add_listed(r, "train", r->yaml->train[i], &r->train));
    for (unsigned i = 0; i < r->yaml->tests; i++) CT_TRY(add_listed(r, "test", r->yaml->test[i], &r->test));
    return CT_OK;
}

/* Groups that apply to no model: the first few by name. */
static ct_status note_idle_groups(reader *r)
{
    const int32_t groups = r->d->groups;
    uint8_t      *used = ct__zalloc(groups, sizeof *used);
    ct_status     status = used ? CT_OK : ct__no_memory(r->err, "groups", groups);
    int32_t       idle = 0;
    char          text[400], name[256];
    for (int32_t m = 0; used && m < ct_noise_count(r->d->noise); m++) {
        snprintf(name, sizeof name, "%s", ct_noise_get(r->d->noise, m)->name);
        do {
            const int32_t i = ct__names_find(&r->yaml->index, name);
            if (i >= 0) used[i] = 1;
        } while (ct__noise_whole(name));
    }
    for (int32_t i = 0; status == CT_OK && i < groups; i++) {
        if (used[i] || ++idle > NOTES_MAX) continue;
        snprintf(text, sizeof text, "group %s of " YAML " applies to no noise model of the sequences that were read",
                 r->d->group[i].name);
        status = append(r, text);
    }
    if (status == CT_OK && idle > NOTES_MAX) {
        snprintf(text, sizeof text, "nor do%s %d other group%s", idle == NOTES_MAX + 1 ? "es" : "", idle - NOTES_MAX,
                 idle == NOTES_MAX + 1 ? "" : "s");
        status = append(r, text);
    }
    free(used);
    return status;
}

/* Recordings without files that no sequence is of. */
static ct_status note_idle_recordings(reader *r)
{
    char text[400], own[256];
    for (unsigned i = 0; i < r->yaml->recordings; i++) {
        const ct__yaml_recording *recording = &r->yaml->recording[i];
        int                       used = recording->files > 0;
        for (int64_t k = 0; !used && k < r->paths.count; k++)
            used = !strcmp(ct_sequence_recording(r->of_path[k], own, sizeof own), recording->name);
        if (used) continue;
        snprintf(text, sizeof text, "recording %s of " YAML " is that of no sequence that was read", recording->name);
        CT_TRY(append(r, text));
    }
    return CT_OK;
}

/* The dataset keeps the name index of the file. */
static ct_status keep_index(reader *r)
{
    ct__names *index = ct__zalloc(1, sizeof *index);
    if (!index) return ct__no_memory(r->err, "names", r->d->groups);
    *index = r->yaml->index;
    r->yaml->index = (ct__names){0};
    r->d->index = index;
    return CT_OK;
}

/* ---- which files ---- */

/* One of the folders train and test, if it exists. */
static ct_status scan_part(reader *r, const char *name, ct__paths *paths, int *found)
{
    char *folder = ct__path_join(r->folder, name);
    if (!folder) return ct__no_memory(r->err, "file names", 1);
    const int is = is_folder(folder);
    *found |= is;
    const ct_status status = is ? ct__paths_scan(paths, folder, r->err) : CT_OK;
    free(folder);
    return status;
}

/* The same files for both parts. */
static ct_status both_parts(reader *r)
{
    for (int64_t i = 0; i < r->train.count; i++) CT_TRY(ct__paths_add(&r->test, "", r->train.path[i], r->err));
    return CT_OK;
}

/* As dataset.yaml lists them; else, or if it lists none, those of the folders train and test, or of the folder. */
static ct_status list_folder(reader *r)
{
    int found = 0;
    if (!r->folder || !r->yaml_path) return ct__no_memory(r->err, "file names", 2);
    if (exists(r->yaml_path)) CT_TRY(read_yaml(r));
    if (r->yaml && (r->yaml->trains || r->yaml->tests)) return CT_OK;
    CT_TRY(scan_part(r, "train", &r->train, &found));
    CT_TRY(scan_part(r, "test", &r->test, &found));
    if (found) return CT_OK;
    CT_TRY(ct__paths_scan(&r->train, r->folder, r->err));
    return both_parts(r);
}

/* "a/b" of "a/b/dataset.yaml", "." of "dataset.yaml". */
static char *folder_of(const char *path)
{
    char *folder = ct__strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
    if (!folder) return NULL;
    if (slash) slash[slash == folder] = 0; /* "/" stays */
    else strcpy(folder, *path ? "." : "");
    return folder;
}

static int has_ending(const char *path, const char *ending)
{
    const size_t n = strlen(path), m = strlen(ending);
    return n > m && !strcmp(path + n - m, ending);
}

/* The files of both parts. */
static ct_status list_files(reader *r)
{
    const char *path = r->d->path;
    if (!exists(path))
        return ct_fail(r->err, CT_E_IO, "%s: %s; a dataset is a folder of sequences, or a sequence file", path,
                       strerror(errno));
    if (is_folder(path)) {
        r->folder = ct__strdup(path);
        r->yaml_path = ct__path_join(path, YAML);
        return list_folder(r);
    }
    if (has_ending(path, ".yaml") || has_ending(path, ".yml")) {
        r->yaml_path = ct__strdup(path);
        r->folder = folder_of(path);
        return list_folder(r);
    }
    CT_TRY(ct__paths_add(&r->train, "", path, r->err));
    return both_parts(r);
}

/* ---- sequences ---- */

static int is_given(const void *user, const char *model)
{
    const reader *r = user;
    return r->yaml && ct__yaml_numbers_of(r->yaml, model);
}

/* `ready` was read ahead, or is NULL. */
static ct_status take_run(reader *r, const char *path, ct_sequence *ready, ct_sequence **out)
{
    const ct__conflict_policy policy = {is_given, r};
    ct_status                 status = CT_OK;
    *out = ready;
    if (!ready)
        status = ct__sequence_read_shared(path, CT_FORMAT_AUTO, r->d->noise, &policy, r->how, out, r->err);
    if (status == CT_E_IO && r->yaml && r->err) { /* a wrong list is more likely than a disk error */
        const ct_err inner = *r->err;
        return ct_fail(r->err, status, "%s (%s names it)", inner.text, r->yaml_path);
    }
    CT_TRY(status);
    if (!ct_graph_variables((*out)->graph))
        status = ct_fail(r->err, CT_E_PARSE, "%s: there is no variable in it", path);
    if (status == CT_OK && r->yaml) status = ct__yaml_apply_recording(r->yaml, r->folder, path, *out, r->err);
    if (status == CT_OK && (*out)->note) take_note(r, path, (*out)->note);
    if (status == CT_OK) {
        ct_graph_name_rows((*out)->graph, r->d->noise);
        if (r->d->store) status = ct__store_add(r->d->store, *out, path, r->err);
    }
    if (status == CT_OK) return CT_OK;
    ct_sequence_free(*out);
    *out = NULL;
    return status;
}

static ct_status read_run(reader *r, const char *path, ct_sequence *ready, ct_sequence **out)
{
    const int32_t before = ct__names_find(&r->paths, path);
    const int64_t n = r->paths.count;
    if (before >= 0) {
        ct_sequence_free(ready);
        *out = r->of_path[before];
        return CT_OK;
    }
    ct_status status = ct__grow(&r->of_path, &r->of_path_capacity, n + 1, sizeof *r->of_path, "sequences", r->err);
    if (status == CT_OK) status = ct__names_add(&r->paths, path, r->err);
    if (status != CT_OK) {
        ct_sequence_free(ready);
        return status;
    }
    CT_TRY(take_run(r, path, ready, out));
    r->of_path[n] = *out;
    return CT_OK;
}

static ct_status read_runs(reader *r, const ct__paths *from, ct_sequence ***list, int32_t *count)
{
    const ct__conflict_policy policy = {is_given, r};
    ct__read_ahead            ahead = {.noise = r->d->noise, .policy = &policy, .how = r->how, .known = &r->paths};
    if (from->count > INT32_MAX)
        return ct_fail(r->err, CT_E_LIMIT, "%s: more than %d sequences", r->d->path, INT32_MAX);
    if (!from->count) return CT_OK;
    *list = ct__zalloc(from->count, sizeof **list);
    if (!*list) return ct__no_memory(r->err, "sequences", from->count);
    ct_status status = CT_OK;
    for (int64_t i = 0; status == CT_OK && i < from->count; i++) {
        ct_sequence *ready = ct__read_ahead_take(&ahead, from->count, (const char *const *)from->path, i);
        if (ahead.status != CT_OK) { /* a rank does not answer */
            ct_sequence_free(ready);
            if (r->err) *r->err = ahead.err;
            status = ahead.status;
            break;
        }
        status = read_run(r, from->path[i], ready, &(*list)[i]);
        if (status == CT_OK) ++*count;
    }
    ct__read_ahead_free(&ahead);
    return status;
}

/* The message if nothing was found: what was looked for. */
static ct_status nothing(const reader *r, int part)
{
#define X(constant, name, ending, what) " " ending
    const char *which = part == CT_DATASET_ALL ? "" : part == CT_DATASET_TRAIN ? "training " : "test ";
    if (r->yaml)
        return ct_fail(r->err, CT_E_EMPTY,
                       "%s: it lists no %ssequences (train: and test: are lists of files)%s", r->yaml_path, which,
                       r->yaml->trains || r->yaml->tests ? "" : ", nor are there any beside it");
    return ct_fail(r->err, CT_E_EMPTY,
                   "%s: no %ssequences: a dataset is a folder with " YAML
                   ", or with folders train and test, or with files" CT_FORMAT_LIST(X)
                   "; a recipe imports recordings: covtune import --init FILES writes a first one",
                   r->d->path, which);
#undef X
}

/* Groups may give the start values of a bias, whose model is new. */
static ct_status declare_biases(reader *r)
{
    ct_err          inner = {0};
    const ct_status status = ct__dataset_declare_biases(r->d, &inner);
    if (status != CT_OK) return ct_fail(r->err, status, "%s: %s", r->yaml_path, inner.text);
    return ct__yaml_apply(r->yaml, r->yaml_path, r->d->noise, r->err);
}

static ct_status read_all(reader *r, const char *path, int part)
{
    CT_TRY(ct_dataset_new(&r->d, r->err));
    r->d->path = ct__strdup(path);
    if (!r->d->path) return ct__no_memory(r->err, "file names", 1);
    CT_TRY(list_files(r));
    if (r->yaml)
        CT_TRY(ct__yaml_match_recordings(r->yaml, r->yaml_path, r->folder, &r->train, &r->test, r->err));
    if (!(part & CT_DATASET_TRAIN)) ct__paths_free(&r->train);
    if (!(part & CT_DATASET_TEST)) ct__paths_free(&r->test);
    if (!r->train.count && !r->test.count) return nothing(r, part);
    if (r->how && r->how->memory) {
        ct__store *store;
        CT_TRY(ct__store_new(r->how->memory, &store, r->err));
        r->d->store = store;
    }
    CT_TRY(read_runs(r, &r->train, &r->d->train, &r->d->trains));
    CT_TRY(read_runs(r, &r->test, &r->d->test, &r->d->tests));
    CT_TRY(join_notes(r));
    CT_TRY(note_repairs(r));
    if (!r->yaml) return CT_OK;
    CT_TRY(ct__yaml_apply(r->yaml, r->yaml_path, r->d->noise, r->err));
    CT_TRY(declare_biases(r));
    CT_TRY(note_idle_groups(r));
    CT_TRY(note_idle_recordings(r));
    return keep_index(r);
}

ct_status ct_dataset_read(const char *path, ct_dataset_part part, ct_dataset **out, ct_err *err)
{
    return ct_dataset_read_with(path, part, NULL, out, err);
}

ct_status ct_dataset_read_with(const char *path, ct_dataset_part part, const ct_read_options *options, ct_dataset **out,
                               ct_err *err)
{
    reader          r = {.err = err, .how = options};
    const ct_status status = read_all(&r, path, (int)part);
    *out = status == CT_OK ? r.d : NULL;
    if (status != CT_OK) ct_dataset_free(r.d);
    ct__yaml_free(r.yaml);
    ct__paths_free(&r.train);
    ct__paths_free(&r.test);
    ct__names_free(&r.paths);
    free(r.of_path);
    free(r.yaml_path);
    free(r.folder);
    return status;
}
