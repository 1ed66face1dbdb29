/* recipe_read.c: a recipe from its text: sections into struct ct_recipe, references, and the list of mistakes. */
#define _POSIX_C_SOURCE 200809L
#include "base/file.h"
#include "data/locale.h"
#include "recipe/recipe_read.h"

#include <errno.h>
#include <math.h>

/* ---- names ---- */

#define NAME_LENGTH 63 /* ct_correction.sensor */

/* Names of sources, landmarks and sensors. Those of sensors become names of noise models, which option lists
 * ("odom=huber") and file names contain. */
void ct__check_item_name(ct__recipe_reader *r, ct__node *n)
{
    static const char PLAIN[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    const char *end = n->key + strspn(n->key, PLAIN);
    if (*end)
        ct__mistake(&r->base, n, "a name has letters, digits and the characters _ . -; found \"%.60s\"", n->key);
    else if (strlen(n->key) > NAME_LENGTH)
        ct__mistake(&r->base, n, "a name has at most %d characters", NAME_LENGTH);
}

static const char *source_at(const void *recipe, int i)
{
    const ct_recipe *p = recipe;
    return i < p->sources + p->unused ? p->source[i].name : NULL;
}

static int32_t find(const char *(*at)(const void *, int), const void *list, const char *name)
{
    for (int i = 0; at(list, i); i++)
        if (!strcmp(at(list, i), name)) return i;
    return -1;
}

/* The item that a member refers to, or -1; what does not exist is a mistake. */
static int32_t refer(ct__recipe_reader *r, ct__node *n, const char *(*at)(const void *, int), const char *what)
{
    if (!n) return -1;
    const int32_t i = find(at, r->recipe, n->text);
    if (i >= 0) return i;
    const char *near = ct_nearest(n->text, at, r->recipe);
    if (near)
        ct__mistake(&r->base, n, "there is no %s %.60s; did you mean %s?", what, n->text, near);
    else
        ct__mistake(&r->base, n, "there is no %s %.60s in the recipe", what, n->text);
    return -1;
}

int32_t ct__read_source_name(ct__recipe_reader *r, const ct__node *map, const char *key)
{
    return refer(r, ct__sound(map, key), source_at, "source");
}

void ct__read_ids(ct__recipe_reader *r, const ct__node *map, ct__recipe_ids *ids)
{
    const ct__node *n = ct__sound(map, "ids");
    ids->source = -1;
    if (!n || n->type != CT__NODE_MAP) return;
    ids->line = n->line;
    ids->source = ct__read_source_name(r, n, "source");
}

/* ---- sections ---- */

/* One character, or "blank". */
static void check_separator(ct__recipe_reader *r, ct__node *map)
{
    ct__node *n = ct__sound(map, "separator");
    if (n && strlen(n->text) != 1 && strcmp(n->text, "blank"))
        ct__mistake(&r->base, n, "expected one character, or blank; found \"%.40s\"", n->text);
}

static const char *const TABLE_KEYS[] = {"separator", "header", "columns", "comment", "missing", "skip"};
static const char *const BAG_KEYS[] = {"topic", "each"};

/* Keys that the stated format does not have. */
static void check_format_keys(ct__recipe_reader *r, ct__node *map, const ct__recipe_source *s)
{
    if (s->format == CT_SOURCE_AUTO) return;
    const int bag = s->format == CT_SOURCE_ROS1 || s->format == CT_SOURCE_ROS2 || s->format == CT_SOURCE_MCAP;
    for (size_t i = 0; bag && i < sizeof TABLE_KEYS / sizeof *TABLE_KEYS; i++) {
        ct__node *n = ct__node_member(map, TABLE_KEYS[i]);
        if (n) ct__mistake(&r->base, n, "is of tables, and the format is %s", ct_source_format_name(s->format));
    }
    for (size_t i = 0; !bag && i < sizeof BAG_KEYS / sizeof *BAG_KEYS; i++) {
        ct__node *n = ct__node_member(map, BAG_KEYS[i]);
        if (n) ct__mistake(&r->base, n, "is of bags, and the format is %s", ct_source_format_name(s->format));
    }
}

static void read_source(ct__recipe_reader *r, ct__node *n, ct__recipe_source *s)
{
    *s = (ct__recipe_source){.name = n->key, .line = n->line, .format = CT_SOURCE_AUTO, .header = -1};
    ct__check_item_name(r, n);
    if (n->type == CT__NODE_MAP) {
        ct__fill(&r->base, n, CT__SECTION_SOURCE, s);
        check_separator(r, n);
        check_format_keys(r, n, s);
    } else if (ct__node_check(&r->base, n, ct__key_find(CT__SECTION_SOURCE, "files")))
        ct__node_texts(&r->base, n, &s->files);
}

/* Does a key `source` of any section have this name? */
static int is_used(const ct__node *root, const char *name)
{
    for (const ct__node *n = root; n;) {
        if (n->key && !strcmp(n->key, "source") && n->type == CT__NODE_SCALAR && !strcmp(n->text, name)) return 1;
        if (n->first)
            n = n->first;
        else {
            while (n && !n->next) n = n->parent;
            if (n) n = n->next;
        }
    }
    return 0;
}

/* Sources that nothing uses come last: their files are not looked for. */
static void read_sources(ct__recipe_reader *r, const ct__node *items)
{
    ct_recipe *p = r->recipe;
    if (!items) return;
    p->source = ct__schema_alloc(&r->base, items->count, sizeof *p->source);
    if (r->base.status != CT_OK) return;
    for (ct__node *n = items->first; n; n = n->next)
        if (is_used(r->base.tree->root, n->key)) read_source(r, n, &p->source[p->sources++]);
    for (ct__node *n = items->first; n; n = n->next)
        if (!is_used(r->base.tree->root, n->key)) read_source(r, n, &p->source[p->sources + p->unused++]);
}

static void read_landmark(ct__recipe_reader *r, ct__node *n, ct__recipe_landmarks *l)
{
    *l =
        (ct__recipe_landmarks){.name = n->key, .line = n->line, .source = -1, .ids.source = -1, .estimate_unknown = -1};
    ct__check_item_name(r, n);
    if (n->type != CT__NODE_MAP) return;
    ct__fill(&r->base, n, CT__SECTION_LANDMARKS, l);
    l->source = ct__read_source_name(r, n, "source");
    ct__read_ids(r, n, &l->ids);
    const int map = ct__node_member(n, "source") != NULL;
    if (map && ct__key_missing(n, CT__SECTION_LANDMARKS, "id"))
        ct__mistake(&r->base, n, "id is missing: the field of the map with the landmark's name");
    if (map && ct__key_missing(n, CT__SECTION_LANDMARKS, "position"))
        ct__mistake(&r->base, n, "position is missing: fields of the map, [x, y]");
    for (int i = 0; !map && i < 2; i++) {
        ct__node *stray = ct__node_member(n, i ? "position" : "id");
        if (stray) ct__mistake(&r->base, stray, "is of a map, and there is no source");
    }
    if (l->estimate_unknown < 0)
        l->estimate_unknown = !map;
    else if (!map && !l->estimate_unknown)
        ct__mistake(&r->base, ct__node_member(n, "unknown"),
                    "drop: there is no map, so that all landmarks would be dropped");
}

static void read_landmarks(ct__recipe_reader *r, const ct__node *items)
{
    ct_recipe *p = r->recipe;
    if (!items || !(p->landmark = ct__schema_alloc(&r->base, items->count, sizeof *p->landmark))) return;
    for (ct__node *n = items->first; n; n = n->next) read_landmark(r, n, &p->landmark[p->landmarks++]);
}

/* A number for both, or one each; 0 where none is. */
static void read_sigma(const ct__node *n, double sigma[2])
{
    ct__numbers v = {0};
    if (n) ct__node_numbers(n, &v);
    sigma[0] = v.count ? v.value[0] : 0;
    sigma[1] = v.count > 1 ? v.value[1] : sigma[0];
}

static void read_truth(ct__recipe_reader *r, ct__node *n)
{
    ct__recipe_truth *t = &r->recipe->truth;
    if (!n) return;
    t->given = 1;
    t->line = n->line;
    t->source = ct__read_source_name(r, n, "source");
    read_sigma(ct__sound(n, "sigma"), t->sigma);
    ct__check_truth(r, n, t);
}

static void read_anchor(ct__recipe_reader *r, ct__node *n)
{
    ct_recipe *p = r->recipe;
    p->anchor = CT__ANCHOR_AUTO;
    if (!n) return;
    if (n->type == CT__NODE_SCALAR) {
        if (!strcmp(n->text, "none")) p->anchor = CT__ANCHOR_NONE;
        return;
    }
    ct__fill(&r->base, n, CT__SECTION_ANCHOR, NULL);
    p->anchor = CT__ANCHOR_SIGMA;
    read_sigma(ct__sound(n, "sigma"), p->anchor_sigma);
}

static void read_split(ct__recipe_reader *r, const ct__node *n)
{
    ct__recipe_split *s = &r->recipe->split;
    ct__node *segment = ct__sound(n, "segment"), *test = ct__sound(n, "test");
    double value;
    if (!n) return;
    s->line = n->line;
    if (segment && segment->type == CT__NODE_SCALAR) ct__node_number(segment, &s->segment_s);
    if (segment && segment->type == CT__NODE_MAP) {
        ct__fill(&r->base, segment, CT__SECTION_SEGMENT, NULL);
        const ct__node *states = ct__sound(segment, "states");
        if (states && ct__node_number(states, &value)) s->segment_states = (int64_t)value;
    }
    if (!test) {
        if (s->train.count) s->test_fraction = NAN; /* all others */
    } else if (!ct__node_fraction(test, &s->test_fraction)) {
        s->test_fraction = NAN;
        ct__node_texts(&r->base, test, &s->test);
    } else if (s->train.count)
        ct__mistake(&r->base, test, "a fraction is of all recordings: with train, name those to test with");
}

/* ---- states ---- */

static const char *sensor_or_truth(const void *recipe, int i)
{
    const ct_recipe *p = recipe;
    return i < p->sensors ? p->sensor[i].name : i == p->sensors && p->truth.given ? "truth" : NULL;
}

static void read_states_by(ct__recipe_reader *r, ct__node *map)
{
    static const char *const KEY[] = {"every", "at", "distance"}; /* ct__states_by */
    ct__recipe_states *s = &r->recipe->states;
    ct__node *first = NULL;
    for (int i = 0; i < 3; i++) {
        ct__node *n = ct__node_member(map, KEY[i]);
        if (!n) continue;
        if (first)
            ct__mistake(&r->base, n, "contradicts %s in line %d: one of every, at and distance is to be there",
                        first->key, first->line);
        else
            s->by = (ct__states_by)i, first = n;
    }
    int near = 0; /* one of them is misspelt */
    for (int i = 0; i < 3; i++) near |= !ct__key_missing(map, CT__SECTION_STATES, KEY[i]);
    if (!first && !near) ct__mistake(&r->base, map, "one of every, at and distance is missing");
    ct__node *turn = ct__node_member(map, "turn");
    if (turn && !ct__node_member(map, "distance")) ct__mistake(&r->base, turn, "is for states by distance");
    const int32_t at = refer(r, ct__sound(map, "at"), sensor_or_truth, "sensor");
    s->at = at == r->recipe->sensors ? -1 : at;
}

static void check_states(ct__recipe_reader *r, ct__node *map)
{
    ct__recipe_states *s = &r->recipe->states;
    if (!map) return;
    s->line = map->line;
    read_states_by(r, map);
    ct__node *to = ct__sound(map, "to");
    if (to && s->to_s <= s->from_s)
        ct__mistake(&r->base, to, "expected a number above from, %g; found %.30s", s->from_s, to->text);
    if (s->by != CT__STATES_DISTANCE) return;
    for (int32_t i = 0; i < r->recipe->sensors; i++)
        if (r->recipe->sensor[i].type == CT__SENSOR_ODOMETRY) return;
    ct__node *n = ct__sound(map, "distance");
    if (n) ct__mistake(&r->base, n, "states by distance need a sensor of type odometry, and there is none");
}

/* ---- the whole ---- */

static void check_top(ct__recipe_reader *r, ct__node *root)
{
    static const char *const INSTEAD[] = {"states", "sensors", "landmarks", "anchor", "bodies"};
    ct_recipe *p = r->recipe;
    ct__node *sequences = ct__node_member(root, "sequences");
    p->sequences.given = sequences != NULL;
    if (sequences) p->sequences.line = sequences->line;
    for (size_t i = 0; sequences && i < sizeof INSTEAD / sizeof *INSTEAD; i++) {
        ct__node *n = ct__node_member(root, INSTEAD[i]);
        if (n) ct__mistake(&r->base, n, "contradicts sequences in line %d, which are graphs already", sequences->line);
    }
    for (int i = 0; !sequences && i < 3; i++) {
        static const char *const NEEDED[] = {"sources", "states", "sensors"};
        if (ct__key_missing(root, CT__SECTION_TOP, NEEDED[i]))
            ct__mistake(&r->base, root, "%s is missing: %s", NEEDED[i], ct__key_find(CT__SECTION_TOP, NEEDED[i])->text);
    }
    ct__node *sensors = ct__sound(root, "sensors");
    if (sensors && !sensors->count) ct__mistake(&r->base, sensors, "there is no sensor");
}

static void set_defaults(ct_recipe *p)
{
    p->states = (ct__recipe_states){.kind = CT_SE2, .turn_rad = INFINITY, .to_s = INFINITY, .gap_s = 1, .at = -1};
    p->truth = (ct__recipe_truth){.source = -1, .gap_s = 0.5};
    p->split.test_fraction = 1.0 / 3;
    p->sequences.format = CT_FORMAT_AUTO;
}

static void read_type(ct__recipe_reader *r, const ct__node *root)
{
    const ct__node *type = ct__sound(ct__sound(root, "states"), "type");
    if (type)
        r->recipe->states.kind = strcmp(type->text, "SE3") ? CT_SE2 : CT_SE3;
    else
        r->any_kind = 1;
}

static void read_all(ct__recipe_reader *r)
{
    ct__node *root = r->base.tree->root;
    if (root->type != CT__NODE_MAP) {
        ct__mistake(&r->base, root, "expected keys with values, the first of them format: covtune-recipe");
        return;
    }
    set_defaults(r->recipe);
    ct__fill(&r->base, root, CT__SECTION_TOP, r->recipe);
    read_type(r, root);
    read_sources(r, ct__sound(root, "sources"));
    if (r->base.status != CT_OK) return;
    read_landmarks(r, ct__sound(root, "landmarks"));
    read_truth(r, ct__sound(root, "truth"));
    ct__read_sensors(r, ct__sound(root, "sensors"));
    check_top(r, root);
    check_states(r, ct__sound(root, "states"));
    read_anchor(r, ct__sound(root, "anchor"));
    read_split(r, ct__sound(root, "split"));
    ct__read_corrections(r, ct__sound(root, "corrections"));
}

/* Read into r->recipe; the caller frees the mistakes. */
static ct_status read_tree(ct__recipe_reader *r, const char *folder, ct_err *err)
{
    ct_recipe *p = r->recipe;
    const locale_t before = ct__locale_begin(err);
    if (!before) return CT_E_MEMORY;
    read_all(r);
    ct__locale_end(before);
    CT_TRY(ct__mistakes_status(&r->base, err));
    const ct__node *own = ct__node_member(r->base.tree->root, "folder");
    p->folder = own ? ct__schema_join(folder ? folder : ".", own->text) : ct__strdup(folder ? folder : ".");
    return p->folder ? CT_OK : ct__no_memory(err, "names", 1);
}

/* *out is the recipe, or NULL; mistakes (may be NULL) receives those of a text that is YAML. */
static ct_status parse(const char *text, const char *name, const char *folder, ct_recipe **out,
                       ct_recipe_mistakes *mistakes, ct_err *err)
{
    ct_recipe *p = ct__zalloc(1, sizeof *p);
    ct__tree *tree = NULL;
    ct__recipe_reader r = {.base = {.schema = &ct__recipe_schema, .name = name}, .recipe = p};
    *out = NULL;
    if (!p) return ct__no_memory(err, "recipes", 1);
    p->text = ct__strdup(text);
    p->name = ct__strdup(name);
    ct_status status = p->text && p->name ? CT_OK : ct__no_memory(err, "bytes of text", (int64_t)strlen(text));
    if (status == CT_OK) status = ct__tree_parse(text, strlen(text), name, &tree, err);
    p->tree = r.base.tree = tree;
    if (status == CT_OK) status = read_tree(&r, folder, err);
    if (status == CT_OK)
        *out = p;
    else
        ct_recipe_free(p);
    ct__mistakes_take(&r.base, status == CT_E_PARSE ? mistakes : NULL);
    return status;
}

ct_status ct_recipe_parse(const char *text, const char *name, const char *folder, ct_recipe **out, ct_err *err)
{
    return parse(text, name, folder, out, NULL, err);
}

void ct_recipe_mistakes_free(ct_recipe_mistakes *mistakes) { ct__mistakes_free(mistakes); }

void ct_recipe_free(ct_recipe *recipe)
{
    if (!recipe) return;
    ct__tree_free(recipe->tree);
    free(recipe->text);
    free(recipe->name);
    free(recipe->folder);
    free(recipe);
}

/* ---- files ---- */

static ct_status read_file(const char *path, ct_recipe **out, ct_recipe_mistakes *mistakes, ct_err *err)
{
    char *text = NULL;
    *out = NULL;
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)CT_MAX(slash - path, 1)) : ct__strdup(".");
    ct_status status = folder ? CT_OK : ct__no_memory(err, "names", 1);
    if (status == CT_OK)
        status = ct__schema_load(path, "a recipe is a YAML file: covtune import --init FILES writes a first one",
                                 &text, err);
    if (status == CT_OK) status = parse(text, path, folder, out, mistakes, err);
    free(text);
    free(folder);
    return status;
}

ct_status ct_recipe_read(const char *path, ct_recipe **out, ct_err *err) { return read_file(path, out, NULL, err); }

ct_status ct_recipe_check(const char *path, ct_recipe_mistakes *out, ct_err *err)
{
    ct_recipe *recipe;
    *out = (ct_recipe_mistakes){0};
    const ct_status status = read_file(path, &recipe, out, err);
    ct_recipe_free(recipe);
    return out->count ? CT_OK : status;
}

int ct__recipe_line(const ct_recipe *recipe, const char *text)
{
    const ct__tree *tree = recipe->tree;
    for (const ct__node *n = tree->root; n;) {
        if (n->text == text || n->key == text) return n->line;
        if (n->first)
            n = n->first;
        else {
            while (n && !n->next) n = n->parent;
            if (n) n = n->next;
        }
    }
    return 0;
}

const char *ct_recipe_text(const ct_recipe *recipe) { return recipe->text; }
int ct_recipe_wants_doctor(const ct_recipe *recipe) { return recipe->doctor; }

const char *ct_recipe_sensor(const ct_recipe *recipe, int32_t i)
{
    return i >= 0 && i < recipe->sensors ? recipe->sensor[i].name : NULL;
}

const char *ct_recipe_unused_source(const ct_recipe *recipe, int32_t i)
{
    return i >= 0 && i < recipe->unused ? recipe->source[recipe->sources + i].name : NULL;
}

#define COPY "recipe.yaml" /* of the recipe, in the folder of its dataset */

ct_status ct_recipe_of_dataset(const char *folder, ct_recipe **out, ct_err *err)
{
    char *path = ct__zalloc((int64_t)(strlen(folder) + sizeof COPY + 1), 1);
    *out = NULL;
    if (!path) return ct__no_memory(err, "names", 1);
    sprintf(path, "%s/" COPY, folder);
    FILE     *file = fopen(path, "rb");
    const int why = errno;
    if (file) fclose(file);
    errno = why;
    ct_status status = CT_OK;
    if (file) status = ct_recipe_read(path, out, err);
    else if (why != ENOENT && why != ENOTDIR) status = ct_fail(err, ct__io_status(), "%s: %s", path, strerror(why));
    free(path);
    return status;
}
