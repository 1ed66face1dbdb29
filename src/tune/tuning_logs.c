/* tuning_logs.c: logs from patterns. "train/{run}.csv" matches files; the parts of each fill the patterns of truth,
 * further files, name and recording. Without named parts the n-th * of a pattern stands for what the n-th * of the log
 * matched. */
#define _POSIX_C_SOURCE 200809L
#include "base/text.h"
#include "tune/tuning.h"

#include <sys/stat.h>

#define FOLDER_DEPTH 3 /* of the first file in a folder that is a log: mav0/imu0/data.csv */

/* The parts of one log. */
typedef struct {
    const ct_matches *matches;
    int32_t file;
    int stars; /* parts are those of *, in order */
} parts;

static int is_there(const char *path)
{
    struct stat entry;
    return stat(path, &entry) == 0;
}

/* ---- patterns ---- */

/* Every * as {star1}, {star2}, ..., so that what it matches is remembered. */
static char *name_stars(ct__tuning_reader *r, const char *pattern)
{
    ct__text out = {0};
    int star = 0;
    for (const char *at = pattern; *at; at++)
        if (*at == '*')
            ct__text_printf(&out, "{star%d}", ++star);
        else
            ct__text_bytes(&out, at, 1);
    char *text = out.failed ? NULL : ct__tuning_text(r, "%s", out.bytes ? out.bytes : "");
    if (out.failed) r->base.status = CT_E_MEMORY;
    ct__text_free(&out);
    return text;
}

/* A pattern with the parts of a log. Parts that the log does not have stay. */
static char *fill_parts(ct__tuning_reader *r, const char *pattern, const parts *of)
{
    const ct_matches *m = of->matches;
    ct__text out = {0};
    int star = 0;
    for (const char *at = pattern; *at;) {
        const char *end = *at == '{' ? strchr(at, '}') : NULL;
        int32_t p = m->parts;
        if (*at == '*' && of->stars && star < m->parts) p = star++;
        for (int32_t i = 0; end && i < m->parts; i++)
            if (strlen(m->name[i]) == (size_t)(end - at - 1) && !memcmp(m->name[i], at + 1, (size_t)(end - at - 1)))
                p = i;
        if (p < m->parts)
            ct__text_put(&out, m->value[(int64_t)of->file * m->parts + p]);
        else
            ct__text_bytes(&out, at, 1);
        at = p < m->parts && end ? end + 1 : at + 1;
    }
    char *text = out.failed ? NULL : ct__tuning_text(r, "%s", out.bytes ? out.bytes : "");
    if (out.failed) r->base.status = CT_E_MEMORY;
    ct__text_free(&out);
    return text;
}

/* Folders that match: those that have a file at some depth. Paths of these are cut in place. */
static ct_status match_folders(const char *folder, const char *pattern, ct_matches **out)
{
    ct_status status = CT_E_EMPTY;
    for (int depth = 1; depth <= FOLDER_DEPTH && status == CT_E_EMPTY; depth++) {
        ct__text text = {0};
        ct__text_put(&text, pattern);
        while (text.used > 1 && text.bytes[text.used - 1] == '/') text.bytes[--text.used] = 0;
        ct__text_repeat(&text, "/*", depth);
        status = text.failed ? CT_E_MEMORY : ct_files_match(folder, text.bytes, out, NULL);
        ct__text_free(&text);
        if (status != CT_OK) continue;
        int32_t kept = 0;
        ct_matches *m = *out;
        for (int32_t f = 0; f < m->files; f++) {
            for (int i = 0; i < depth; i++) *strrchr(m->file[f], '/') = 0;
            if (kept && !strcmp(m->file[kept - 1], m->file[f])) continue;
            char *file = m->file[kept];
            m->file[kept] = m->file[f], m->file[f] = file;
            for (int32_t p = 0; p < m->parts; p++) {
                char **a = &m->value[(int64_t)kept * m->parts + p], **b = &m->value[(int64_t)f * m->parts + p];
                char *value = *a;
                *a = *b, *b = value;
            }
            kept++;
        }
        for (int64_t f = kept; f < m->files; f++) {
            free(m->file[f]);
            for (int32_t p = 0; p < m->parts; p++) free(m->value[f * m->parts + p]);
        }
        m->files = kept;
    }
    return status;
}

/* The one file of a pattern whose parts are filled; NULL with a mistake. */
static char *one_file(ct__tuning_reader *r, ct__node *at, const char *pattern, const char *log)
{
    char *path = pattern ? ct__tuning_path(r, pattern) : NULL;
    if (pattern) pattern = ct__tuning_rooted(r, pattern);
    ct_matches *m = NULL;
    ct_err err = {0};
    if (!path || is_there(path)) return path;
    ct_status status = ct_files_match(r->t->folder, pattern, &m, &err);
    if (status == CT_E_EMPTY) status = match_folders(r->t->folder, pattern, &m);
    if (status == CT_E_MEMORY) r->base.status = status;
    char *found = status == CT_OK && m->files == 1 ? ct__tuning_text(r, "%s", m->file[0]) : NULL;
    if (status == CT_OK && m->files > 1)
        ct__mistake(&r->base, at, "of %s, both %s and %s match %s; name parts of the log, {run}, in both patterns", log,
                    m->file[0], m->file[1], pattern);
    else if (status != CT_OK)
        ct__mistake(&r->base, at, "of %s: %s", log, err.text[0] ? err.text : "no such file");
    ct_matches_free(m);
    return found;
}

/* ---- logs ---- */

static int32_t find_log(const ct_tuning *t, const char *name)
{
    for (int32_t i = 0; i < t->problem.logs; i++)
        if (!strcmp(t->log[i].name, name)) return i;
    return -1;
}

/* The part of a path that is no folder and no ending. */
static char *stem(ct__tuning_reader *r, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strchr(name + (*name != 0), '.');
    return ct__tuning_text(r, "%.*s", dot ? (int)(dot - name) : (int)strlen(name), name);
}

/* The path within the tuning's folder as a name: slashes become -. */
static char *long_name(ct__tuning_reader *r, const char *path)
{
    const size_t length = strlen(r->t->folder);
    const int inside = !strncmp(path, r->t->folder, length) && path[length] == '/';
    const char *from = inside ? path + length + 1 : path, *dot = strrchr(from, '.');
    char *name = ct__tuning_text(r, "%.*s", dot && !strchr(dot, '/') ? (int)(dot - from) : (int)strlen(from), from);
    for (char *at = name; *at; at++)
        if (*at == '/') *at = '-';
    return name;
}

static char *usual_name(ct__tuning_reader *r, const char *path, const parts *of, int test)
{
    const ct_matches *m = of->matches;
    char *name = m->parts ? ct__tuning_text(r, "%s", m->value[(int64_t)of->file * m->parts]) : stem(r, path);
    for (int32_t p = 1; p < m->parts; p++) {
        const char *value = m->value[(int64_t)of->file * m->parts + p];
        name = ct__tuning_text(r, "%s-%s", name, value);
    }
    if (find_log(r->t, name) >= 0 && test) name = ct__tuning_text(r, "test-%s", name);
    if (find_log(r->t, name) >= 0) name = long_name(r, path);
    for (int k = 2; find_log(r->t, name) >= 0; k++) name = ct__tuning_text(r, "%s-%d", stem(r, path), k);
    return name;
}

/* Files of the log by name: {log}, and those of `also`. */
static void add_files(ct__tuning_reader *r, ct__node *map, const char *path, const parts *of, ct__tune_log *log)
{
    const ct__node *also = ct__sound(map, "also");
    const int32_t count = 1 + (also ? also->count : 0);
    log->file_name = ct__schema_alloc(&r->base, count, sizeof *log->file_name);
    log->file_path = ct__schema_alloc(&r->base, count, sizeof *log->file_path);
    if (r->base.status != CT_OK) return;
    log->file_name[0] = ct__tuning_text(r, "log");
    log->file_path[0] = ct__tuning_text(r, "%s", path);
    log->files = 1;
    for (ct__node *n = also ? also->first : NULL; n; n = n->next) {
        log->file_name[log->files] = ct__tuning_text(r, "%s", n->key);
        log->file_path[log->files++] = one_file(r, n, fill_parts(r, n->text, of), path);
    }
}

static ct__tune_log *new_log(ct__tuning_reader *r, ct__node *map)
{
    ct_tuning *t = r->t;
    const int64_t need = t->problem.logs + 1;
    if (need > r->log_capacity) {
        const int64_t capacity = CT_MAX(2 * r->log_capacity, 16);
        ct__tune_log *log = ct__schema_alloc(&r->base, capacity, sizeof *log);
        ct__node **node = ct__schema_alloc(&r->base, capacity, sizeof *node);
        if (!log || !node) return NULL;
        if (t->problem.logs) {
            memcpy(log, t->log, (size_t)t->problem.logs * sizeof *log);
            memcpy(node, r->log, (size_t)t->problem.logs * sizeof *node);
        }
        t->log = log;
        r->log = node;
        r->log_capacity = capacity;
    }
    r->log[t->problem.logs] = map;
    return &t->log[t->problem.logs];
}

static void add_log(ct__tuning_reader *r, ct__node *map, const ct__tuning_log *as, const parts *of, int test)
{
    const char *path = of->matches->file[of->file];
    ct__tune_log *log = new_log(r, map);
    ct__node *name = ct__sound(map, "name"), *truth = ct__sound(map, "truth");
    if (!log) return;
    *log = (ct__tune_log){.test = test};
    log->name = as->name ? fill_parts(r, as->name, of) : usual_name(r, path, of, test);
    log->recording = as->recording ? fill_parts(r, as->recording, of) : log->name;
    if (truth) log->truth = one_file(r, truth, fill_parts(r, as->truth, of), path);
    add_files(r, map, path, of, log);
    if (r->base.status != CT_OK) return;
    if (as->name && name && find_log(r->t, log->name) >= 0)
        ct__mistake(&r->base, name, "two logs are called %.60s; parts of the pattern tell them apart: name: \"{run}\"",
                    log->name);
    r->t->problem.logs++;
}

/* Paths that the patterns of truths and further files give for the files of a log's pattern, `each` of them a file. */
static char **partner_paths(ct__tuning_reader *r, const ct__node *map, const ct__tuning_log *as, const ct_matches *m,
                            int stars, int32_t *each)
{
    const ct__node *also = ct__sound(map, "also");
    *each = (as->truth != NULL) + (also ? also->count : 0);
    char  **path = ct__schema_alloc(&r->base, (int64_t)m->files * *each + 1, sizeof *path);
    int64_t k = 0;
    for (int32_t f = 0; path && f < m->files; f++) {
        const parts of = {m, f, stars};
        const ct__node *n = also ? also->first : NULL;
        for (int32_t i = 0; i < *each && r->base.status == CT_OK; i++) {
            const int truth = as->truth && i == 0;
            const char *text = truth ? as->truth : n->text;
            if (!truth) n = n->next;
            char *filled = fill_parts(r, text, &of);
            path[k++] = filled ? ct__tuning_path(r, filled) : NULL;
        }
    }
    return r->base.status == CT_OK ? path : NULL;
}

/* Is a file that the log's pattern matches the truth of another, as 1_truth.txt is of 1.txt for {run}.txt? */
static int is_partner(const ct_matches *m, int32_t file, char *const path[], int32_t each)
{
    for (int64_t k = 0; k < (int64_t)m->files * each; k++)
        if (k / each != file && path[k] && !strcmp(path[k], m->file[file])) return 1;
    return 0;
}

/* Logs of one mapping. */
static void read_log(ct__tuning_reader *r, ct__node *map, int test, int truth_needed)
{
    ct__tuning_log as = {0};
    ct_matches *m = NULL;
    ct_err err = {0};
    if (map->type != CT__NODE_MAP) return;
    ct__fill(&r->base, map, CT__TUNING_LOG, &as);
    ct__node *n = ct__sound(map, "log"), *also = ct__sound(map, "also");
    for (ct__node *i = also ? also->first : NULL; i; i = i->next) ct__check_placeholder_name(r, i);
    if (truth_needed && ct__schema_missing(&ct__tuning_schema, map, CT__TUNING_LOG, "truth"))
        ct__mistake(&r->base, map, "truth is missing: the file with the true trajectory");
    if (!n) return;
    const int stars = !strchr(as.log, '{');
    const char *pattern = stars ? name_stars(r, as.log) : as.log;
    if (!pattern) return;
    pattern = ct__tuning_rooted(r, pattern);
    ct_status status = ct_files_match(r->t->folder, pattern, &m, &err);
    if (status == CT_E_EMPTY) status = match_folders(r->t->folder, pattern, &m);
    if (status == CT_E_MEMORY)
        r->base.status = status;
    else if (status != CT_OK)
        ct__mistake(&r->base, n, "%s", err.text);
    int32_t each = 0;
    char **partner = status == CT_OK ? partner_paths(r, map, &as, m, stars, &each) : NULL;
    for (int32_t f = 0; partner && f < m->files && r->base.status == CT_OK; f++) {
        const parts of = {m, f, stars};
        if (!is_partner(m, f, partner, each)) add_log(r, map, &as, &of, test);
    }
    ct_matches_free(m);
}

/* Test logs of a recording that is learned from are not unseen. */
static void check_recordings(ct__tuning_reader *r)
{
    const ct_tuning *t = r->t;
    for (int32_t i = 0; i < t->problem.logs; i++)
        for (int32_t k = 0; t->log[i].test && k < t->problem.logs; k++) {
            ct__node *n = ct__node_member(r->log[i], "recording");
            if (t->log[k].test || strcmp(t->log[i].recording, t->log[k].recording)) continue;
            ct__mistake(&r->base, n ? n : r->log[i],
                        "the test log %.60s is of the recording %.60s, which %.60s is learned "
                        "from; test with other recordings",
                        t->log[i].name, t->log[i].recording, t->log[k].name);
            break;
        }
}

static void add_name(ct__tuning_reader *r, const char *name, ct__node *node)
{
    for (int32_t k = 0; k < r->log_names; k++)
        if (!strcmp(r->log_name[k], name)) return;
    r->log_name[r->log_names] = name;
    r->log_name_node[r->log_names++] = node;
}

/* Names of files of logs, for placeholders: of all mappings, also those whose pattern matches nothing. */
static void collect_names(ct__tuning_reader *r, const ct__node *logs)
{
    int64_t most = 1;
    for (const ct__node *part = logs->first; part; part = part->next)
        for (const ct__node *n = part->type == CT__NODE_LIST ? part->first : part; n; n = n == part ? NULL : n->next)
            most += ct__node_member(n, "also") ? ct__node_member(n, "also")->count : 0;
    r->log_name = ct__schema_alloc(&r->base, most, sizeof *r->log_name);
    r->log_name_node = ct__schema_alloc(&r->base, most, sizeof *r->log_name_node);
    r->log_name_used = ct__schema_alloc(&r->base, most, 1);
    if (r->base.status != CT_OK) return;
    add_name(r, "log", NULL);
    for (const ct__node *part = logs->first; part; part = part->next)
        for (const ct__node *n = part->type == CT__NODE_LIST ? part->first : part; n; n = n == part ? NULL : n->next) {
            const ct__node *also = ct__node_member(n, "also");
            for (ct__node *i = also ? also->first : NULL; i; i = i->next)
                if (i->key) add_name(r, i->key, i);
        }
}

/* Every log has the same names. */
static void check_names(ct__tuning_reader *r)
{
    const ct_tuning *t = r->t;
    for (int32_t i = 0; i < t->problem.logs; i++)
        for (int32_t k = 0; k < r->log_names; k++) {
            int there = 0;
            for (int32_t f = 0; f < t->log[i].files; f++) there |= !strcmp(t->log[i].file_name[f], r->log_name[k]);
            if (!there && !r->log[i]->bad)
                ct__mistake(&r->base, r->log[i], "also: %s is missing, which other logs have", r->log_name[k]);
        }
}

void ct__read_logs(ct__tuning_reader *r, ct__node *logs, int truth_needed)
{
    static const char *const KEY[] = {"train", "test"};
    ct_tuning *t = r->t;
    if (!logs) return;
    ct__fill(&r->base, logs, CT__TUNING_LOGS, NULL);
    for (int test = 0; test < 2; test++) {
        ct__node *n = ct__sound(logs, KEY[test]);
        if (n && n->type == CT__NODE_LIST && !n->count && !test) ct__mistake(&r->base, n, "there is no log");
        if (n && n->type == CT__NODE_MAP) read_log(r, n, test, truth_needed);
        for (ct__node *i = n && n->type == CT__NODE_LIST ? n->first : NULL; i; i = i->next)
            read_log(r, i, test, truth_needed);
    }
    if (r->base.status != CT_OK) return;
    check_recordings(r);
    if (!r->base.mistakes) ct__check_copies(r);
    collect_names(r, logs);
    if (r->base.status == CT_OK) check_names(r);
    t->public_log = ct__schema_alloc(&r->base, t->problem.logs, sizeof *t->public_log);
    if (!t->public_log) return;
    for (int32_t i = 0; i < t->problem.logs; i++)
        t->public_log[i] = (ct_tune_log){t->log[i].name, t->log[i].recording, t->log[i].test};
    t->problem.log = t->public_log;
}
