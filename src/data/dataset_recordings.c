/* dataset_recordings.c: recordings and the truth's own sigma, as dataset.yaml overrides them.
 *
 *   truth_sigma: {translation: 0.01, rotation: 0.002}    of all sequences; one of them may be missing
 *   recordings:
 *     - name: walk1                                      one word
 *       files: [train/a1.ctseq, "b*"]                    of which it consists; a pattern without / is one of file names
 *       truth_sigma: {translation: 0.05}                 of its sequences
 *
 * Without files a recording is that of the sequences that name it themselves. What dataset.yaml does not say, the
 * sequence file does. */
#define _POSIX_C_SOURCE 200809L
#include "data/data.h"

#include <fnmatch.h>
#include <math.h>

#define KEY "recordings"

/* ---- lines ---- */

/* Is the word at `at` + i, alone and not a part of another one? "" is everywhere. */
static int stands(const char *at, size_t i, const char *word)
{
    static const char BESIDE[] = " \t\r\n[]{},:\"'";
    const size_t      m = strlen(word);
    return !strncmp(at + i, word, m) && (!m || ((!i || strchr(BESIDE, at[i - 1])) && strchr(BESIDE, at[i + m])));
}

int ct__yaml_line(const ct__yaml *yaml, const char *key, const char *word)
{
    const size_t n = strlen(key);
    int          line = 1, inside = 0;
    for (const char *at = yaml->text; *at; line++) {
        const size_t length = strcspn(at, "\n");
        inside = inside || (!strncmp(at, key, n) && at[n] == ':');
        for (size_t i = 0; inside && i <= length; i++)
            if (stands(at, i, word)) return line;
        at += length + (at[length] == '\n');
    }
    return 0;
}

static ct_status bad(const ct__yaml *yaml, const char *path, const char *key, const char *word, ct_err *err,
                     const char *what)
{
    const int line = ct__yaml_line(yaml, key, word);
    if (!line) return ct_fail(err, CT_E_PARSE, "%s: %s", path, what);
    return ct_fail(err, CT_E_PARSE, "%s:%d: %s", path, line, what);
}

/* ---- checks ---- */

static ct_status check_sigma(const ct__yaml *yaml, const ct__yaml_sigma *sigma, const char *path, const char *key,
                             ct_err *err)
{
    const double *value[2] = {sigma ? sigma->translation : NULL, sigma ? sigma->rotation : NULL};
    char          what[128];
    for (int i = 0; i < 2; i++) {
        if (!value[i] || (*value[i] >= 0 && isfinite(*value[i]))) continue;
        snprintf(what, sizeof what, "truth_sigma: %s is not negative and finite, found %g",
                 i ? "rotation" : "translation", *value[i]);
        return bad(yaml, path, key, i ? "rotation" : "translation", err, what);
    }
    return CT_OK;
}

static ct_status check_recording(const ct__yaml *yaml, unsigned index, const char *path, ct_err *err)
{
    const ct__yaml_recording *r = &yaml->recording[index];
    char                      what[400];
    if (r->name[0] == '#' || r->name[strcspn(r->name, " \t\r\n")]) {
        snprintf(what, sizeof what, "recording \"%.200s\": a name is one word that does not begin with #", r->name);
        return bad(yaml, path, KEY, r->name, err, what);
    }
    for (unsigned i = 0; i < index; i++) {
        if (strcmp(yaml->recording[i].name, r->name)) continue;
        snprintf(what, sizeof what, "recording %.200s is there twice", r->name);
        return bad(yaml, path, KEY, r->name, err, what);
    }
    return check_sigma(yaml, r->truth_sigma, path, KEY, err);
}

static int is_pattern(const char *word) { return word[strcspn(word, "*?[")] != 0; }

/* What version 1 has not. */
static const char *new_key(const ct__yaml *yaml, const char **word)
{
    *word = "";
    if (yaml->recordings) return KEY;
    if (yaml->truth_sigma) return "truth_sigma";
    for (unsigned i = 0; i < yaml->trains; i++)
        if (is_pattern(*word = yaml->train[i])) return "train";
    for (unsigned i = 0; i < yaml->tests; i++)
        if (is_pattern(*word = yaml->test[i])) return "test";
    return NULL;
}

ct_status ct__yaml_check_recordings(const ct__yaml *yaml, const char *path, ct_err *err)
{
    const char *word, *key = new_key(yaml, &word);
    char        what[400];
    if (key && yaml->version < 2) {
        snprintf(what, sizeof what, "%s%s is of version 2; write version: 2 above", key,
                 *word ? " with a pattern" : "");
        return bad(yaml, path, key, word, err, what);
    }
    CT_TRY(check_sigma(yaml, yaml->truth_sigma, path, "truth_sigma", err));
    for (unsigned i = 0; i < yaml->recordings; i++) CT_TRY(check_recording(yaml, i, path, err));
    return CT_OK;
}

/* ---- files ---- */

static const char *file_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

/* A pattern with / is compared with the path inside the dataset, one without with the file's name, with and without its
 * ending. */
static int matches(const char *pattern, const char *folder, const char *path)
{
    const char *file = ct__path_inside(folder, path), *name = file_name(file);
    char        stem[256];
    pattern = ct__path_inside(folder, pattern);
    if (strchr(pattern, '/')) return !strcmp(pattern, file) || !fnmatch(pattern, file, FNM_PATHNAME);
    const char *dot = strrchr(name, '.');
    snprintf(stem, sizeof stem, "%.*s", (int)(dot ? dot - name : (long)strlen(name)), name);
    return !strcmp(pattern, name) || !fnmatch(pattern, name, 0) || !fnmatch(pattern, stem, 0);
}

static int is_of(const ct__yaml_recording *r, const char *folder, const char *path)
{
    for (unsigned i = 0; i < r->files; i++)
        if (matches(r->file[i], folder, path)) return 1;
    return 0;
}

static ct_status check_pattern(const ct__yaml *yaml, const ct__yaml_recording *r, const char *pattern, const char *path,
                               const char *folder, const ct__paths *train, const ct__paths *test, ct_err *err)
{
    char what[700];
    for (int64_t k = 0; k < train->count + test->count; k++)
        if (matches(pattern, folder, k < train->count ? train->path[k] : test->path[k - train->count])) return CT_OK;
    snprintf(what, sizeof what, "recording %.200s: no sequence of the dataset is called %.200s", r->name, pattern);
    return bad(yaml, path, KEY, pattern, err, what);
}

ct_status ct__yaml_match_recordings(const ct__yaml *yaml, const char *path, const char *folder, const ct__paths *train,
                                    const ct__paths *test, ct_err *err)
{
    char what[900];
    for (unsigned i = 0; i < yaml->recordings; i++) {
        const ct__yaml_recording *r = &yaml->recording[i];
        for (unsigned f = 0; f < r->files; f++)
            CT_TRY(check_pattern(yaml, r, r->file[f], path, folder, train, test, err));
    }
    for (int64_t k = 0; yaml->recordings && k < train->count + test->count; k++) {
        const char               *file = k < train->count ? train->path[k] : test->path[k - train->count];
        const ct__yaml_recording *first = NULL;
        for (unsigned i = 0; i < yaml->recordings; i++) {
            const ct__yaml_recording *r = &yaml->recording[i];
            if (!is_of(r, folder, file)) continue;
            if (!first) {
                first = r;
                continue;
            }
            snprintf(what, sizeof what, "recording %.200s: %.200s is of recording %.200s already", r->name,
                     ct__path_inside(folder, file), first->name);
            return bad(yaml, path, KEY, r->name, err, what);
        }
    }
    return CT_OK;
}

static void take_sigma(const ct__yaml_sigma *sigma, ct_sequence *seq)
{
    if (sigma && sigma->translation) seq->truth_sigma[0] = *sigma->translation;
    if (sigma && sigma->rotation) seq->truth_sigma[1] = *sigma->rotation;
}

ct_status ct__yaml_apply_recording(const ct__yaml *yaml, const char *folder, const char *file, ct_sequence *seq,
                                   ct_err *err)
{
    char own[256];
    ct_sequence_recording(seq, own, sizeof own);
    take_sigma(yaml->truth_sigma, seq);
    for (unsigned i = 0; i < yaml->recordings; i++) {
        const ct__yaml_recording *r = &yaml->recording[i];
        if (r->files ? !is_of(r, folder, file) : strcmp(r->name, own) != 0) continue;
        char *name = ct__strdup(r->name);
        if (!name) return ct__no_memory(err, "names", 1);
        free(seq->recording);
        seq->recording = name;
        take_sigma(r->truth_sigma, seq);
    }
    return CT_OK;
}
