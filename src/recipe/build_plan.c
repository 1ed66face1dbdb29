/* build_plan.c: recordings from file patterns.
 *
 * A source has the files of its patterns, each with values of the named parts. The parts of all sources, but that of
 * the bodies, tell recordings apart. A recording is a set of values; a file belongs to it if its own parts agree.
 * Sources with all parts come first, so that a source with fewer parts (a map of each place) only adds recordings
 * that no other source has. */
#define _POSIX_C_SOURCE 200809L
#include "recipe/build.h"

#include <dirent.h>
#include <sys/stat.h>

int64_t ct__file_bytes(const char *path)
{
    struct stat entry;
    if (stat(path, &entry) != 0) return 0;
    if (!S_ISDIR(entry.st_mode)) return (int64_t)entry.st_size;
    DIR *dir = opendir(path);
    const struct dirent *e;
    int64_t sum = 0;
    while (dir && (e = readdir(dir))) {
        char *inside = ct__path_join(path, e->d_name);
        if (inside && stat(inside, &entry) == 0 && S_ISREG(entry.st_mode)) sum += (int64_t)entry.st_size;
        free(inside);
    }
    if (dir) closedir(dir);
    return sum;
}

/* ---- files ---- */

static void free_list(char **list, int64_t count)
{
    for (int64_t i = 0; list && i < count; i++) free(list[i]);
    free(list);
}

static int find_in(char *const list[], int32_t count, const char *name)
{
    for (int32_t i = 0; i < count; i++)
        if (!strcmp(list[i], name)) return i;
    return -1;
}

static ct_status copy_names(const ct_matches *m, ct__source_files *to, ct_err *err)
{
    to->name = ct__zalloc(m->parts, sizeof *to->name);
    if (!to->name) return ct__no_memory(err, "named parts", m->parts);
    for (to->parts = 0; to->parts < m->parts; to->parts++)
        if (!(to->name[to->parts] = ct__strdup(m->name[to->parts]))) return ct__no_memory(err, "named parts", m->parts);
    return CT_OK;
}

/* Every pattern of a source has the same named parts. */
static ct_status check_names(const ct_recipe *recipe, const ct__words *pattern, const ct_matches *m,
                             const ct__source_files *files, ct_err *err)
{
    int same = m->parts == files->parts;
    for (int32_t p = 0; same && p < m->parts; p++) same = find_in(files->name, files->parts, m->name[p]) >= 0;
    if (same) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT, "%s:%d: the pattern \"%s\" has other named parts than the first of its source",
                   recipe->name, pattern->line, pattern->text);
}

static ct_status add_files(const ct_matches *m, ct__source_files *to, ct_err *err)
{
    const int64_t all = (int64_t)to->files + m->files;
    char **file = realloc(to->file, (size_t)CT_MAX(all, 1) * sizeof *file);
    if (file) to->file = file;
    char **value = realloc(to->value, (size_t)CT_MAX(all * to->parts, 1) * sizeof *value);
    if (value) to->value = value;
    if (!file || !value) return ct__no_memory(err, "file names", all);
    for (int32_t f = 0; f < m->files; f++) {
        char **row = to->value + (int64_t)to->files * to->parts;
        for (int32_t p = 0; p < to->parts; p++) row[p] = NULL;
        to->file[to->files] = ct__strdup(m->file[f]);
        int whole = to->file[to->files++] != NULL; /* from here on the row is freed with the others */
        for (int32_t p = 0; whole && p < to->parts; p++) {
            const int from = find_in(m->name, m->parts, to->name[p]);
            whole = (row[p] = ct__strdup(m->value[(int64_t)f * m->parts + from])) != NULL;
        }
        if (!whole) return ct__no_memory(err, "file names", all);
    }
    return CT_OK;
}

static ct_status match_pattern(const ct_recipe *recipe, const ct__recordings *plan, const ct__words *pattern,
                               ct__source_files *to, ct_err *err)
{
    ct_matches *m = NULL;
    ct_err inner = {0};
    ct_status status = ct_files_match(plan->folder, pattern->text, &m, &inner);
    if (status != CT_OK)
        return ct_fail(err, status, "%s:%d: %s%s", recipe->name, pattern->line, inner.text,
                       status == CT_E_EMPTY ? "; the recipe's key folder, or --data, names the folder of the files"
                                            : "");
    if (!to->name)
        status = copy_names(m, to, err);
    else
        status = check_names(recipe, pattern, m, to, err);
    if (status == CT_OK) status = add_files(m, to, err);
    ct_matches_free(m);
    return status;
}

static ct_status match_source(const ct_recipe *recipe, const ct__recordings *plan, int32_t s, ct_err *err)
{
    const ct__recipe_source *source = &recipe->source[s];
    for (int32_t i = 0; i < source->files.count; i++)
        CT_TRY(match_pattern(recipe, plan, &source->files.item[i], &plan->source[s], err));
    if (plan->source[s].files > 0) return CT_OK;
    return ct_fail(err, CT_E_IO, "%s:%d: source %s: no file in %s matches \"%s\"", recipe->name, source->line,
                   source->name, plan->folder, source->files.count ? source->files.item[0].text : "");
}

/* ---- recordings ---- */

static int is_body(const ct_recipe *recipe, const char *part)
{
    return recipe->bodies && !strcmp(part, recipe->bodies);
}

int ct__recordings_has_bodies(const ct_recipe *recipe, const ct__recordings *plan, int32_t source)
{
    return recipe->bodies && find_in(plan->source[source].name, plan->source[source].parts, recipe->bodies) >= 0;
}

static ct_status collect_parts(const ct_recipe *recipe, ct__recordings *plan, ct_err *err)
{
    int64_t capacity = 0;
    for (int32_t s = 0; s < recipe->sources; s++) {
        const ct__source_files *files = &plan->source[s];
        for (int32_t p = 0; p < files->parts; p++) {
            if (is_body(recipe, files->name[p]) || find_in(plan->part, plan->parts, files->name[p]) >= 0) continue;
            CT_TRY(ct__grow(&plan->part, &capacity, plan->parts + 1, sizeof *plan->part, "named parts", err));
            if (!(plan->part[plan->parts] = ct__strdup(files->name[p]))) return ct__no_memory(err, "named parts", 1);
            plan->parts++;
        }
    }
    return CT_OK;
}

int ct__recordings_has(const ct_recipe *recipe, const ct__recordings *plan, int32_t source, int32_t f, int32_t r,
                       int32_t b)
{
    const ct__source_files *files = &plan->source[source];
    const ct__recording_entry *entry = &plan->recording[r];
    for (int32_t p = 0; p < files->parts; p++) {
        const char *value = files->value[(int64_t)f * files->parts + p];
        if (is_body(recipe, files->name[p])) {
            if (b >= 0 && strcmp(value, entry->body[b])) return 0;
            continue;
        }
        const char *own = entry->value[find_in(plan->part, plan->parts, files->name[p])];
        if (!own || strcmp(own, value)) return 0;
    }
    return 1;
}

/* 1 if a recording agrees with all parts of the file. */
static int is_covered(const ct_recipe *recipe, const ct__recordings *plan, int32_t s, int32_t f)
{
    for (int32_t r = 0; r < plan->recordings; r++)
        if (ct__recordings_has(recipe, plan, s, f, r, -1)) return 1;
    return 0;
}

static ct_status add_recording(const ct_recipe *recipe, ct__recordings *plan, int64_t *capacity, int32_t s, int32_t f,
                               ct_err *err)
{
    const ct__source_files *files = &plan->source[s];
    CT_TRY(ct__grow(&plan->recording, capacity, plan->recordings + 1, sizeof *plan->recording, "recordings", err));
    ct__recording_entry *entry = &plan->recording[plan->recordings];
    *entry = (ct__recording_entry){.value = ct__zalloc(plan->parts, sizeof *entry->value)};
    if (!entry->value) return ct__no_memory(err, "recordings", 1);
    plan->recordings++;
    for (int32_t p = 0; p < files->parts; p++) {
        if (is_body(recipe, files->name[p])) continue;
        char **to = &entry->value[find_in(plan->part, plan->parts, files->name[p])];
        if (!(*to = ct__strdup(files->value[(int64_t)f * files->parts + p])))
            return ct__no_memory(err, "recordings", 1);
    }
    return CT_OK;
}

/* 1 if a sensor or the truth reads the source: maps and tables of ids make no recordings. */
static int is_recorded(const ct_recipe *recipe, int32_t s)
{
    if (recipe->sequences.given) return s == recipe->sources - 1; /* build_graphs.c */
    int used = recipe->truth.given && recipe->truth.source == s;
    for (int32_t i = 0; !used && i < recipe->sensors; i++) used = recipe->sensor[i].source == s;
    return used;
}

static int own_parts(const ct_recipe *recipe, const ct__source_files *files)
{
    int n = 0;
    for (int32_t p = 0; p < files->parts; p++) n += !is_body(recipe, files->name[p]);
    return n;
}

static ct_status find_recordings(const ct_recipe *recipe, ct__recordings *plan, ct_err *err)
{
    int64_t capacity = 0;
    for (int32_t n = plan->parts; n >= 0; n--)
        for (int32_t s = 0; s < recipe->sources; s++) {
            if (!is_recorded(recipe, s) || own_parts(recipe, &plan->source[s]) != n) continue;
            for (int32_t f = 0; f < plan->source[s].files; f++)
                if (!is_covered(recipe, plan, s, f)) CT_TRY(add_recording(recipe, plan, &capacity, s, f, err));
        }
    return CT_OK;
}

/* ---- names and bodies ---- */

static const char *part_value(const ct__recordings *plan, const ct__recording_entry *entry, const char *name,
                              size_t length)
{
    for (int32_t p = 0; p < plan->parts; p++)
        if (strlen(plan->part[p]) == length && !strncmp(plan->part[p], name, length))
            return entry->value[p] ? entry->value[p] : "";
    return NULL;
}

/* The recipe's template with its parts filled in. */
static ct_status fill_template(const ct_recipe *recipe, const ct__recordings *plan, const ct__recording_entry *entry,
                               ct__text *text, ct_err *err)
{
    for (const char *at = recipe->recording; *at;) {
        const char *end = *at == '{' ? strchr(at, '}') : NULL;
        if (!end) {
            ct__text_bytes(text, at++, 1);
            continue;
        }
        const char *value = part_value(plan, entry, at + 1, (size_t)(end - at - 1));
        if (!value)
            return ct_fail(err, CT_E_ARGUMENT, "%s: recording: \"%s\" names %.*s, which is no named part of the files",
                           recipe->name, recipe->recording, (int)(end - at + 1), at);
        ct__text_put(text, value);
        at = end + 1;
    }
    return CT_OK;
}

static void default_name(const ct_recipe *recipe, const ct__recordings *plan, const ct__recording_entry *entry,
                         ct__text *text)
{
    for (int32_t p = 0; p < plan->parts; p++) {
        if (!entry->value[p]) continue;
        if (text->used) ct__text_put(text, "-");
        ct__text_put(text, entry->value[p]);
    }
    if (text->used) return;
    const char *slash = strrchr(recipe->name, '/'), *base = slash ? slash + 1 : recipe->name;
    const char *dot = strrchr(base, '.');
    ct__text_bytes(text, base, dot && dot != base ? (size_t)(dot - base) : strlen(base));
}

static ct_status name_recording(const ct_recipe *recipe, const ct__recordings *plan, ct__recording_entry *entry,
                                ct_err *err)
{
    ct__text text = {0};
    ct_status status = CT_OK;
    if (recipe->recording)
        status = fill_template(recipe, plan, entry, &text, err);
    else
        default_name(recipe, plan, entry, &text);
    if (status == CT_OK) status = ct__text_take(&text, &entry->name, err);
    ct__text_free(&text);
    if (status != CT_OK) return status;
    for (char *c = entry->name; *c; c++) /* names are words of files */
        if ((unsigned char)*c <= ' ' || *c == '/' || *c == '#' || *c == ',') *c = '_';
    return CT_OK;
}

static ct_status add_body(ct__recording_entry *entry, int64_t *capacity, const char *name, ct_err *err)
{
    if (find_in(entry->body, entry->bodies, name) >= 0) return CT_OK;
    CT_TRY(ct__grow(&entry->body, capacity, entry->bodies + 1, sizeof *entry->body, "bodies", err));
    if (!(entry->body[entry->bodies] = ct__strdup(name))) return ct__no_memory(err, "bodies", 1);
    entry->bodies++;
    return CT_OK;
}

static ct_status find_bodies(const ct_recipe *recipe, ct__recordings *plan, int32_t r, ct_err *err)
{
    ct__recording_entry *entry = &plan->recording[r];
    int64_t capacity = 0;
    for (int32_t s = 0; recipe->bodies && s < recipe->sources; s++) {
        const ct__source_files *files = &plan->source[s];
        const int p = find_in(files->name, files->parts, recipe->bodies);
        for (int32_t f = 0; p >= 0 && is_recorded(recipe, s) && f < files->files; f++)
            if (ct__recordings_has(recipe, plan, s, f, r, -1))
                CT_TRY(add_body(entry, &capacity, files->value[(int64_t)f * files->parts + p], err));
    }
    return entry->bodies ? CT_OK : add_body(entry, &capacity, "", err);
}

/* ---- all of it ---- */

static void free_recording(const ct__recordings *plan, ct__recording_entry *entry)
{
    free(entry->name);
    free_list(entry->value, plan->parts);
    free_list(entry->body, entry->bodies);
}

/* Keep the recordings that options->only names. */
static ct_status keep_only(ct__recordings *plan, const char *only, ct_err *err)
{
    uint8_t *keep = ct__zalloc(plan->recordings, 1);
    if (!keep) return ct__no_memory(err, "recordings", plan->recordings);
    for (const char *at = only; *at;) {
        const size_t n = strcspn(at, ",");
        int found = 0;
        for (int32_t r = 0; r < plan->recordings; r++)
            if (strlen(plan->recording[r].name) == n && !strncmp(plan->recording[r].name, at, n)) found = keep[r] = 1;
        if (!found) {
            free(keep);
            return ct_fail(err, CT_E_ARGUMENT, "there is no recording \"%.*s\"; the first is \"%s\"", (int)n, at,
                           plan->recording[0].name);
        }
        at += n + (at[n] == ',');
    }
    int32_t kept = 0;
    for (int32_t r = 0; r < plan->recordings; r++) {
        if (keep[r])
            plan->recording[kept++] = plan->recording[r];
        else
            free_recording(plan, &plan->recording[r]);
    }
    plan->recordings = kept;
    free(keep);
    return CT_OK;
}

static ct_status check_names_differ(const ct_recipe *recipe, const ct__recordings *plan, ct_err *err)
{
    for (int32_t a = 0; a < plan->recordings; a++)
        for (int32_t b = 0; b < a; b++)
            if (!strcmp(plan->recording[a].name, plan->recording[b].name))
                return ct_fail(err, CT_E_ARGUMENT,
                               "%s: two recordings are called \"%s\"; `recording:` names them by their named parts",
                               recipe->name, plan->recording[a].name);
    return CT_OK;
}

ct_status ct__recordings_make(const ct_recipe *recipe, const ct_import_options *options, ct__recordings *plan,
                              ct_err *err)
{
    plan->folder = ct__strdup(options->folder ? options->folder : recipe->folder ? recipe->folder : ".");
    plan->source = ct__zalloc(recipe->sources, sizeof *plan->source);
    if (!plan->folder || !plan->source) return ct__no_memory(err, "sources", recipe->sources);
    for (int32_t s = 0; s < recipe->sources; s++) CT_TRY(match_source(recipe, plan, s, err));
    CT_TRY(collect_parts(recipe, plan, err));
    CT_TRY(find_recordings(recipe, plan, err));
    for (int32_t r = 0; r < plan->recordings; r++) {
        CT_TRY(name_recording(recipe, plan, &plan->recording[r], err));
        CT_TRY(find_bodies(recipe, plan, r, err));
    }
    if (plan->recordings == 0) return ct_fail(err, CT_E_EMPTY, "%s: no sensor and no truth has a source", recipe->name);
    return check_names_differ(recipe, plan, err);
}

ct_status ct__recordings_keep(ct__recordings *plan, const char *only, ct_err *err)
{
    return only && *only ? keep_only(plan, only, err) : CT_OK;
}

void ct__recordings_free(const ct_recipe *recipe, ct__recordings *plan)
{
    for (int32_t r = 0; r < plan->recordings; r++) free_recording(plan, &plan->recording[r]);
    free(plan->recording);
    for (int32_t s = 0; plan->source && s < recipe->sources; s++) {
        ct__source_files *files = &plan->source[s];
        free_list(files->value, (int64_t)files->files * files->parts);
        free_list(files->file, files->files);
        free_list(files->name, files->parts);
    }
    free(plan->source);
    free_list(plan->part, plan->parts);
    free(plan->folder);
    *plan = (ct__recordings){0};
}
