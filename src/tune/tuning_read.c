/* tuning_read.c: TUNE.yaml from its text: top level, trajectories, loss, method; then parameters, logs and templates in
 * files of their own. Mistakes are collected; programs and truths are looked at when the file itself has none. */
#define _POSIX_C_SOURCE 200809L
#include "data/locale.h"
#include "tune/run.h"
#include "tune/tuning.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <sys/stat.h>

/* ---- memory ---- */

char *ct__tuning_text(ct__tuning_reader *r, const char *fmt, ...)
{
    static char nothing[1];
    va_list args;
    va_start(args, fmt);
    const int length = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *text = length < 0 ? NULL : ct__schema_alloc(&r->base, (int64_t)length + 1, 1);
    if (!text) {
        r->base.status = CT_E_MEMORY;
        return nothing;
    }
    va_start(args, fmt);
    vsnprintf(text, (size_t)length + 1, fmt, args);
    va_end(args);
    return text;
}

const char *ct__tuning_rooted(ct__tuning_reader *r, const char *path)
{
    return r->t->root && path[0] == '/' ? ct__tuning_text(r, "%s%s", r->t->root, path) : path;
}

char *ct__tuning_path(ct__tuning_reader *r, const char *path)
{
    struct stat entry;
    const char *rooted = ct__tuning_rooted(r, path);
    if (rooted != path && stat(rooted, &entry) == 0) path = rooted;
    if (path[0] == '/' || !strcmp(r->t->folder, ".")) return ct__tuning_text(r, "%s", path);
    return ct__tuning_text(r, "%s/%s", r->t->folder, path);
}

/* ---- top level ---- */

/* 2G, 500M, 1.5G, 100000000; 0: none of them. */
static int64_t bytes_of(const char *text)
{
    static const char UNITS[] = "KMGT";
    char *end;
    const double value = strtod(text, &end);
    const char *unit = *end ? strchr(UNITS, *end) : NULL;
    if (end == text || !(value > 0) || (*end && !unit)) return 0;
    if (unit && end[1] && strcmp(end + 1, "B") && strcmp(end + 1, "iB")) return 0;
    const double bytes = value * pow(1024, unit ? (double)(unit - UNITS) + 1 : 0);
    return bytes >= 1 && bytes < 9e18 ? (int64_t)bytes : 0;
}

#define MEMORY_LEAST (1 << 20) /* bytes: less is a number without its unit */

static void read_top(ct__tuning_reader *r, ct__node *root)
{
    ct_tuning *t = r->t;
    ct__node *memory = ct__sound(root, "memory_limit"), *folder = ct__sound(root, "working_folder");
    struct stat entry;
    t->time_limit_s = r->top.time_limit_s;
    t->niceness = (int)r->top.niceness;
    if (memory && !(t->memory_limit = bytes_of(memory->text)))
        ct__mistake(&r->base, memory, "expected bytes, such as 500M or 2G; found \"%.40s\"", memory->text);
    else if (memory && t->memory_limit < MEMORY_LEAST)
        ct__mistake(&r->base, memory, "%.40s bytes hold no program: expected 1M at least, such as 500M or 2G",
                    memory->text);
    if (!folder) return;
    t->working_folder = ct__tuning_path(r, folder->text);
    if (stat(t->working_folder, &entry) != 0 || !S_ISDIR(entry.st_mode))
        ct__mistake(&r->base, folder, "there is no folder %s", t->working_folder);
}

/* 0: there is none, and so no other file. */
static int read_folder(ct__tuning_reader *r, const ct__node *root, const char *folder)
{
    ct__node *n = ct__sound(root, "folder");
    struct stat entry;
    r->t->folder = ct__tuning_text(r, "%s", folder);
    if (!n) return 1;
    r->t->folder = ct__tuning_path(r, n->text);
    if (stat(r->t->folder, &entry) == 0 && S_ISDIR(entry.st_mode)) return 1;
    ct__mistake(&r->base, n, "there is no folder %s", r->t->folder);
    return 0;
}

/* ---- trajectories ---- */

static const char **list_texts(ct__tuning_reader *r, const ct__list *list)
{
    const char **text = ct__schema_alloc(&r->base, list->count, sizeof *text);
    for (int32_t i = 0; text && i < list->count; i++) text[i] = list->item[i].text;
    return text;
}

static void copy_texts(const ct__list *list, const char *to[])
{
    for (int32_t i = 0; i < list->count; i++) to[i] = list->item[i].text;
}

static void check_trajectory(ct__tuning_reader *r, ct__node *map, const ct__tuning_trajectory *as)
{
    ct__node *geodetic = ct__sound(map, "geodetic"), *separator = ct__sound(map, "separator");
    ct__node *covariance = ct__sound(map, "covariance"), *frame = ct__node_member(map, "covariance_frame");
    ct__node *mount = ct__sound(map, "mount");
    const ct__numbers *m = &as->mount;
    const double length = sqrt(m->value[3] * m->value[3] + m->value[4] * m->value[4] + m->value[5] * m->value[5] +
                               m->value[6] * m->value[6]);
    const int n = as->covariance.count;
    if (geodetic && as->position.count)
        ct__mistake(&r->base, geodetic, "contradicts position: one of them is to be there");
    if (separator && strlen(separator->text) != 1 && strcmp(separator->text, "blank") && strcmp(separator->text, "tab"))
        ct__mistake(&r->base, separator, "expected one character, blank or tab; found \"%.40s\"", separator->text);
    if (as->quaternion.count + as->matrix.count > 0 && as->yaw)
        ct__mistake(&r->base, ct__node_member(map, "yaw"), "contradicts %s: a pose has one rotation",
                    as->matrix.count ? "matrix" : "quaternion");
    if (covariance && n != 2 && n != 3 && n != 4 && n != 6 && n != 9 && n != 36)
        ct__mistake(&r->base, covariance,
                    "expected 2, 3 or 6 variances, or the 4, 9 or 36 entries of a matrix; found %d", n);
    if (mount && geodetic)
        ct__mistake(&r->base, mount,
                    "is in the axes of a body, and rotations are not in those of the Earth, as geodetic positions are");
    if (mount && (m->count == 4 || m->count == 5 || m->count == 6))
        ct__mistake(&r->base, mount,
                    "expected 2, 3 or 7 numbers: x, y; x, y, z, or x, y, yaw of poses in the plane; x, y, z, qx, qy, "
                    "qz, qw; found %d", m->count);
    if (mount && m->count == 7 && !(fabs(length - 1) <= 0.01))
        ct__mistake(&r->base, mount, "the last four numbers are a quaternion, its length must be 1; it is %.4g",
                    length);
    if (frame && !covariance && !ct__node_member(map, "covariance"))
        ct__mistake(&r->base, frame, "is of a covariance, and there is none");
}

static void set_trajectory(ct__tuning_reader *r, const ct__tuning_trajectory *as, ct_trajectory_options *to)
{
    *to = ct_trajectory_defaults();
    to->source.format = (ct_source_format)as->format;
    to->source.header = as->header;
    to->source.separator = as->separator;
    to->source.comment = as->comment;
    to->source.topic = as->topic;
    to->source.each = as->each;
    to->source.time = as->time;
    to->source.where = as->where;
    to->source.columns = as->columns.count;
    to->source.column = list_texts(r, &as->columns);
    copy_texts(as->geodetic.count ? &as->geodetic : &as->position, to->position);
    to->geodetic = as->geodetic.count > 0;
    copy_texts(&as->quaternion, to->quaternion);
    copy_texts(&as->matrix, to->matrix);
    copy_texts(&as->covariance, to->covariance);
    to->covariances = as->covariance.count;
    to->covariance_frame = (ct_covariance_frame)as->covariance_frame;
    to->yaw = as->yaw;
    to->camera = as->axes;
    to->body = as->body;
    to->mounts = as->mount.count;
    memcpy(to->mount, as->mount.value, sizeof to->mount);
}

static void read_trajectories(ct__tuning_reader *r, ct__node *root)
{
    static const char *const KEY[] = {"truth", "estimate"};
    ct_tuning *t = r->t;
    for (int k = 0; k < 2; k++) {
        ct__node *n = ct__sound(root, KEY[k]);
        const ct_track_options usual = ct_track_defaults();
        ct__tuning_trajectory as = {.format = CT_SOURCE_AUTO,
                                    .header = -1,
                                    .align = (int)usual.align,
                                    .gap_s = usual.gap_s,
                                    .offset_s = usual.offset_s,
                                    .skip_s = usual.skip_s};
        if (n) ct__fill(&r->base, n, k ? CT__TUNING_ESTIMATE : CT__TUNING_TRUTH, &as);
        if (n) check_trajectory(r, n, &as);
        set_trajectory(r, &as, k ? &t->estimate_options : &t->truth_options);
        if (!k) continue;
        t->estimate_options.estimate = 1;
        t->track.align = (ct_alignment)as.align;
        t->track.gap_s = as.gap_s;
        t->track.offset_s = as.offset_s;
        t->track.skip_s = as.skip_s;
        t->track.whole = as.whole;
        t->relative_time = as.relative;
    }
}

/* ---- loss and method ---- */

static void read_loss(ct__tuning_reader *r, ct__node *n)
{
    ct_track_options *o = &r->t->track;
    ct__tuning_loss as = {(int)o->type, NULL, o->translation, o->rotation, o->lost, o->nees};
    char why[160];
    if (n) ct__fill(&r->base, n, CT__TUNING_LOSS, &as);
    ct__node *over = ct__sound(n, "over"), *robust = ct__sound(n, "robust");
    o->type = (ct_track_loss)as.type;
    o->translation = as.translation;
    o->rotation = as.rotation;
    o->lost = as.lost;
    o->nees = as.nees;
    if (robust) ct__node_kernel(robust, &o->robust, why);
    if (over && !ct_delta_find(over->text, &o->delta, &o->delta_unit))
        ct__mistake(&r->base, over,
                    "expected a distance, a time or a number of frames, such as 10 m, 2 s, 5 frames; found "
                    "\"%.40s\"",
                    over->text);
    else if (over && o->type != CT_TRACK_RELATIVE)
        ct__mistake(&r->base, over, "\"over\" is of \"type: relative\"; the type here is %s",
                    ct_track_loss_name(o->type));
    if (n && as.translation == 0 && as.rotation == 0 && as.nees == 0)
        ct__mistake(&r->base, n, "all weights are 0: there is nothing to minimise");
}

static void read_method(ct__tuning_reader *r, ct__node *n)
{
    ct_tune_options *o = &r->t->options;
    *o = ct_tune_defaults();
    ct__tuning_method as = {.name = (int)o->method,
                            .global = o->global < 0 ? 2 : o->global,
                            .points = o->points,
                            .folds = o->folds,
                            .repeats = o->repeats,
                            .seed = (int64_t)o->seed};
    if (n) ct__fill(&r->base, n, CT__TUNING_METHOD, &as);
    const ct__node *prior = ct__sound(n, "prior");
    o->method = (ct_tune_method)as.name;
    o->global = as.global == 2 ? -1 : as.global;
    o->points = as.points;
    o->folds = (int)as.folds;
    o->repeats = (int)as.repeats;
    o->seed = (uint64_t)as.seed;
    if (prior) ct__node_number(prior, &o->prior);
}

/* ---- what the file refers to ---- */

static void check_program(ct__tuning_reader *r, ct__node *n, const ct__tune_words *command)
{
    char *path = NULL;
    ct_err err = {0};
    if (!n || !command->count || strchr(command->word[0], '{')) return;
    const ct_status status = ct__tuning_program(r->t, command, &path, &err);
    if (status == CT_E_MEMORY)
        r->base.status = status;
    else if (status != CT_OK)
        ct__mistake(&r->base, n, "%s", err.text);
    free(path);
}

/* A mistake of a truth, and how many further files have it. */
typedef struct {
    ct__node *node;
    char      text[sizeof ((ct_err *)0)->text];
    size_t    path; /* bytes of the file's path, where the text begins with it */
    int32_t   more;
} truth_mistake;

static void say_truth(ct__tuning_reader *r, const truth_mistake *m)
{
    char more[64] = "";
    if (m->more) snprintf(more, sizeof more, "; %d more file%s the same", m->more, m->more > 1 ? "s have" : " has");
    if (m->node) ct__mistake(&r->base, m->node, "%s; the top-level key truth says how it is read%s", m->text, more);
}

/* Counted where it is the one before in another file, which then is not said again. */
static void note_truth(ct__tuning_reader *r, ct__node *node, const char *path, const char *text, truth_mistake *m)
{
    const size_t length = strlen(path), own = strncmp(text, path, length) ? 0 : length;
    if (m->node == node && !strcmp(text + own, m->text + m->path)) {
        m->more++;
        return;
    }
    say_truth(r, m);
    *m = (truth_mistake){.node = node, .path = own};
    snprintf(m->text, sizeof m->text, "%s", text);
}

/* Truths of all logs, each file once. */
static void check_truths(ct__tuning_reader *r)
{
    const ct_tuning *t = r->t;
    truth_mistake    last = {0};
    for (int32_t i = 0; i < t->problem.logs && !t->score.count; i++) {
        ct_trajectory *truth = NULL;
        ct_err err = {0};
        int32_t before = 0;
        while (before < i && strcmp(t->log[before].truth, t->log[i].truth)) before++;
        if (before < i) continue;
        const ct_status status = ct_trajectory_read(t->log[i].truth, &t->truth_options, &truth, &err);
        ct_trajectory_free(truth);
        if (status == CT_E_MEMORY)
            r->base.status = status;
        else if (status != CT_OK)
            note_truth(r, ct__node_member(r->log[i], "truth"), t->log[i].truth, err.text, &last);
    }
    say_truth(r, &last);
}

static void check_references(ct__tuning_reader *r, ct__node *root)
{
    ct_err err = {0};
    ct__node *estimate = ct__sound(root, "estimate");
    check_program(r, ct__sound(root, "command"), &r->t->command);
    check_program(r, ct__sound(root, "server"), &r->t->server);
    check_program(r, ct__sound(estimate, "score"), &r->t->score);
    check_truths(r);
    if (!r->base.mistakes && ct_tune_check(&r->t->problem, &err) != CT_OK) ct__mistake(&r->base, root, "%s", err.text);
}

/* ---- all ---- */

static void read_all(ct__tuning_reader *r, const char *folder)
{
    ct__node *root = r->base.tree->root;
    if (root->type != CT__NODE_MAP) {
        ct__mistake(&r->base, root, "expected keys with values, the first of them format: covtune-tune");
        return;
    }
    r->top = (ct__tuning_top){.time_limit_s = 600};
    r->t->track = ct_track_defaults();
    ct__fill(&r->base, root, CT__TUNING_TOP, &r->top);
    if (!read_folder(r, root, folder)) return;
    read_top(r, root);
    read_trajectories(r, root);
    read_loss(r, ct__sound(root, "loss"));
    read_method(r, ct__sound(root, "method"));
    if (r->base.status != CT_OK) return;
    ct__read_tuning_files(r, ct__sound(root, "files"));
    ct__read_parameters(r, ct__sound(root, "parameters"));
    if (r->base.status != CT_OK) return;
    ct__read_logs(r, ct__sound(root, "logs"), !ct__node_member(ct__node_member(root, "estimate"), "score"));
    if (r->base.status != CT_OK) return;
    ct__read_templates(r, root);
    if (r->base.status != CT_OK) return;
    ct__resolve_parameters(r, ct__sound(root, "spread"));
    if (!r->base.mistakes && r->base.status == CT_OK) check_references(r, root);
}

/* Read into r->t. */
static ct_status read_tree(ct__tuning_reader *r, const char *folder, ct_err *err)
{
    const locale_t before = ct__locale_begin(err);
    if (!before) return CT_E_MEMORY;
    read_all(r, folder);
    ct__locale_end(before);
    CT_TRY(ct__mistakes_status(&r->base, err));
    return ct__tuning_take_digest(r->t, err);
}

/* *out is the tuning, or NULL; mistakes (may be NULL) receives those of a text that is YAML. */
static ct_status parse(const char *text, const char *path, const char *folder, const char *root, ct_tuning **out,
                       ct_mistakes *mistakes, ct_err *err)
{
    ct_tuning *t = ct__zalloc(1, sizeof *t);
    ct__tree *tree = NULL;
    ct__tuning_reader r = {.base = {.schema = &ct__tuning_schema, .name = path}, .t = t};
    if (!t) return ct__no_memory(err, "tunings", 1);
    ct_status status = ct__tree_parse(text, strlen(text), path, &tree, err);
    t->texts = r.base.tree = tree;
    if (status == CT_OK) {
        t->path = ct__tuning_text(&r, "%s", path);
        t->root = root ? ct__tuning_text(&r, "%s", root) : NULL;
        status = read_tree(&r, folder, err);
    }
    if (status == CT_OK)
        *out = t;
    else
        ct_tuning_free(t);
    ct__mistakes_take(&r.base, status == CT_E_PARSE ? mistakes : NULL);
    return status;
}

static ct_status read_file(const char *path, const char *root, ct_tuning **out, ct_mistakes *mistakes, ct_err *err)
{
    char *text = NULL;
    *out = NULL;
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)CT_MAX(slash - path, 1)) : ct__strdup(".");
    ct_status status = folder ? CT_OK : ct__no_memory(err, "names", 1);
    if (status == CT_OK) status = ct__schema_load(path, "`covtune tune --init` writes a first one", &text, err);
    if (status == CT_OK) status = parse(text, path, folder, root, out, mistakes, err);
    free(text);
    free(folder);
    return status;
}

ct_status ct_tuning_read(const char *path, ct_tuning **out, ct_err *err)
{
    return read_file(path, NULL, out, NULL, err);
}

ct_status ct__tuning_read_below(const char *path, const char *root, ct_tuning **out, ct_err *err)
{
    return read_file(path, root, out, NULL, err);
}

ct_status ct_tuning_check(const char *path, ct_recipe_mistakes *out, ct_err *err)
{
    ct_tuning *tuning;
    *out = (ct_recipe_mistakes){0};
    const ct_status status = read_file(path, NULL, &tuning, out, err);
    ct_tuning_free(tuning);
    return out->count ? CT_OK : status;
}

void ct_tuning_free(ct_tuning *tuning)
{
    if (!tuning) return;
    for (int32_t i = 0; i < tuning->files; i++) ct_config_free(tuning->file[i].config);
    ct__tree_free(tuning->texts);
    free(tuning);
}

const ct_tune_problem *ct_tuning_problem(const ct_tuning *tuning) { return &tuning->problem; }
ct_tune_options ct_tuning_options(const ct_tuning *tuning)
{
    ct_tune_options o = tuning->options;
    o.free_translation = tuning->track.translation == 0;
    o.free_rotation = tuning->track.rotation == 0;
    return o;
}
