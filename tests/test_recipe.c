/* test_recipe.c: recipes as they are read: every value, and every mistake with its line. */
#define _POSIX_C_SOURCE 200809L
#include "recipe_test.h"

#include <locale.h>

static ct_recipe *parse(const char *text)
{
    ct_err err = {0};
    ct_recipe *recipe = NULL;
    CHECK_OK(ct_recipe_parse(text, "r.yaml", NULL, &recipe, &err), err);
    return recipe;
}

static void test_every_value_of_a_planar_recipe_is_read(void)
{
    ct_recipe *p = parse(PLANAR);
    if (!p) return;
    CHECK(!strcmp(ct_recipe_text(p), PLANAR) && !strcmp(p->folder, "logs"));
    CHECK(!strcmp(p->recording, "run{run}") && !strcmp(p->bodies, "robot"));
    CHECK(p->sources == 5 && p->landmarks == 2 && p->sensors == 6 && p->corrections == 19);
    const ct__recipe_source *s = &p->source[0];
    CHECK(!strcmp(s->name, "odometry") && s->line == 8 && s->format == CT_SOURCE_TABLE && s->header == 0 &&
          s->skip == 2);
    CHECK(!strcmp(s->separator, "blank") && !strcmp(s->comment, "#") && s->columns.count == 4 && s->missing.count == 2);
    CHECK(!strcmp(s->columns.item[3].text, "mode") && s->columns.line == 13 &&
          !strcmp(s->missing.item[0].text, "-999"));
    CHECK(!strcmp(s->time, "t in ms") && !strcmp(s->where, "v < 5") && !s->topic && ct__recipe_line(p, s->where) == 18);
    CHECK(p->source[1].files.count == 2 && p->source[1].format == CT_SOURCE_AUTO && p->source[1].header == -1);
    CHECK(!strcmp(p->source[2].topic, "/tf") && !strcmp(p->source[2].each, "transforms"));
    CHECK(p->states.kind == CT_SE2 && p->states.by == CT__STATES_EVERY && p->states.every_s == 0.2);
    CHECK(p->states.from_s == 10 && p->states.to_s == 500 && p->states.gap_s == 2);
    CHECK(p->landmark[0].source == 3 && p->landmark[0].ids.source == 4 && p->landmark[0].estimate_unknown == 1);
    CHECK(p->landmark[1].source == -1 && p->landmark[1].estimate_unknown == 1);
    const ct__recipe_sensor *o = &p->sensor[0];
    CHECK(o->type == CT__SENSOR_ODOMETRY && o->source == 0 && o->role[CT__ROLE_VELOCITY].count == 3 && o->every == 1);
    CHECK(!strcmp(o->role[CT__ROLE_VELOCITY].item[2].text, "-omega in deg/s") && !strcmp(o->noise.model, "wheels"));
    CHECK_NEAR(o->noise.variance.value[1], 0.005 * 0.005, 1e-20);
    CHECK(o->noise.kind == CT_NOISE_FULL && o->noise.robust.kind == CT_ROBUST_HUBER && o->noise.robust.width == 1.5);
    CHECK(o->noise.per == CT__PER_SECOND && o->noise.learn == 1 && o->intervals == 1 && o->interval[0].to_s == 20);
    const ct__recipe_sensor *n = &p->sensor[1];
    CHECK(n->landmarks == 0 && n->mount.count == 3 && n->tolerance_s == 0.5 && n->attach == CT__ATTACH_NEAREST);
    CHECK(n->every == 2 && n->role[CT__ROLE_REGIME].count == 1 && n->noise.variance.value[0] == 0.5);
    CHECK(p->sensor[2].ids.source == 4 && p->sensor[2].target_mount.count == 2 && p->sensor[2].landmarks == -1);
    CHECK(!strcmp(p->sensor[3].body, "3") && p->sensor[4].index == 1 && p->sensor[5].origin.value[2] == 500);
    CHECK(p->sensor[4].inverse == 1 && p->sensor[0].inverse == 0 && p->truth.inverse == 0);
    CHECK(p->truth.given && p->truth.source == 2 && p->truth.nearest == 1 && p->truth.gap_s == 1 &&
          p->truth.axes == CT__AXES_NED);
    CHECK(p->truth.sigma[1] == 0.04 && p->truth.delay_s == -0.05 && p->truth.frame.value[2] == 0.5 &&
          p->truth.known.count == 2);
    CHECK(p->anchor == CT__ANCHOR_SIGMA && p->anchor_sigma[0] == 0.1 && p->anchor_sigma[1] == 0.2);
    CHECK(p->split.segment_s == 60 && p->split.train.count == 2 && p->split.test.count == 1 &&
          isnan(p->split.test_fraction));
    CHECK(!strcmp(ct_recipe_sensor(p, 5), "gps") && !ct_recipe_sensor(p, 6) && !ct_recipe_sensor(p, -1));
    CHECK(!ct_recipe_wants_doctor(p));
    ct_recipe_free(p);
}

static void test_every_value_of_a_spatial_recipe_is_read(void)
{
    ct_recipe *p = parse(SPATIAL);
    if (!p) return;
    CHECK(p->states.kind == CT_SE3 && p->states.by == CT__STATES_DISTANCE && p->states.distance_m == 0.5);
    CHECK(p->states.turn_rad == 0.2 && isinf(p->states.to_s) && p->states.gap_s == 1);
    CHECK(p->sensors == 11 && p->sensor[1].axes == CT__AXES_CAMERA && p->sensor[1].role[CT__ROLE_MATRIX].count == 12);
    CHECK(p->sensor[9].intrinsics.count == 5 && p->sensor[9].noise.variance.count == 0);
    CHECK(p->split.segment_states == 600 && p->split.test_fraction == 0.25 && !strcmp(p->folder, "."));
    CHECK(p->truth.gap_s == 0.5 && p->truth.sigma[0] == 0 && p->anchor == CT__ANCHOR_AUTO);
    ct_recipe_free(p);
}

static void test_every_value_of_a_recipe_of_graphs_is_read(void)
{
    ct_recipe *p = parse(GRAPHS);
    if (!p) return;
    CHECK(p->sequences.given && p->sequences.files.count == 2 && p->sequences.format == CT_FORMAT_G2O);
    CHECK(p->sequences.split_loops == 1 && p->sensors == 0 && p->truth.given && p->truth.source == 0);
    CHECK(p->truth.role[CT__ROLE_MATRIX].count == 12 && p->truth.axes == CT__AXES_CAMERA);
    ct_recipe_free(p);
}

static const ct_correction *correction_of(const ct_recipe *p, int kind)
{
    for (int32_t i = 0; i < p->corrections; i++)
        if ((int)ct_recipe_correction(p, i)->kind == kind) return ct_recipe_correction(p, i);
    return NULL;
}

static void test_corrections_are_read_as_values(void)
{
    ct_recipe *p = parse(PLANAR);
    if (!p) return;
    const ct_correction *c = ct_recipe_correction(p, 0);
    CHECK(c->kind == CT_CORRECT_DELAY && c->count == 1 && c->value[0] == 0.175 && !strcmp(c->sensor, "odom"));
    CHECK(!strcmp(c->recording, "run1"));
    CHECK(p->corrections == CT_CORRECTION_COUNT - 2 && !ct_recipe_correction(p, CT_CORRECTION_COUNT - 2));
    for (int kind = 0; kind < CT_CORRECTION_COUNT; kind++) /* there are no wheels */
        CHECK((correction_of(p, kind) != NULL) == (kind != CT_CORRECT_WHEELS && kind != CT_CORRECT_WRAP));
    CHECK(correction_of(p, CT_CORRECT_STEPS)->value[0] == 5);
    CHECK(correction_of(p, CT_CORRECT_AXES)->value[1] == -1 && correction_of(p, CT_CORRECT_SCALE)->count == 3);
    CHECK(correction_of(p, CT_CORRECT_QUATERNION)->value[0] == 1);
    CHECK(correction_of(p, CT_CORRECT_KERNEL)->value[0] == CT_ROBUST_CAUCHY);
    CHECK(correction_of(p, CT_CORRECT_KERNEL)->value[1] == 2);
    CHECK(correction_of(p, CT_CORRECT_LASTING)->value[0] == 20);
    CHECK(correction_of(p, CT_CORRECT_LASTING_EACH)->value[0] == 30);
    for (int kind = CT_CORRECT_NED; kind <= CT_CORRECT_DEGREES; kind++)
        CHECK(correction_of(p, kind)->value[0] == 1 && !strcmp(correction_of(p, kind)->sensor, "truth"));
    CHECK(p->truth.sigma[0] == 0.01); /* the correction, in place of the truth's own */
    CHECK(!strcmp(ct_correction_key(CT_CORRECT_BIAS), "bias") &&
          !strcmp(ct_correction_key((ct_correction_kind)99), "?"));
    ct_recipe_free(p);
}

static const char SMALL[] = "format: covtune-recipe\nversion: 1\nsources: {odo: odo.csv}\n"
                            "states: {type: SE2, every: 1}\n"
                            "sensors: {odom: {type: odometry, source: odo, velocity: [v, 0, w]}}\n";

static void test_json_is_read_as_yaml(void)
{
    ct_recipe *p = parse("{\"format\": \"covtune-recipe\", \"version\": 1, \"sources\": {\"odo\": \"odo.csv\"},\n"
                         "\"states\": {\"type\": \"SE2\", \"every\": 1}, \"sensors\":\n"
                         "{\"odom\": {\"type\": \"odometry\", \"source\": \"odo\", \"velocity\": [\"v\", 0, \"w\"]}},\n"
                         "\"corrections\": \"doctor\"}\n");
    if (p) CHECK(p->sensors == 1 && p->sensor[0].line == 3 && ct_recipe_wants_doctor(p));
    ct_recipe_free(p);
}

/* ---- mistakes ---- */

/* A text that is read from a file, so that ct_recipe_check gives all mistakes. Is there one in this line? */
static int has_mistake(const char *text, int line, char first[600])
{
    char path[512];
    ct_err err = {0};
    ct_recipe_mistakes list;
    int found = 0;
    snprintf(path, sizeof path, "%s/mutated.yaml", ct_test_folder());
    CHECK_OK(ct_file_replace(path, text, strlen(text), &err), err);
    snprintf(first, 600, "(none)");
    if (ct_recipe_check(path, &list, &err) != CT_OK) { /* no YAML: one sentence */
        const char *colon = strstr(err.text, "mutated.yaml:");
        snprintf(first, 600, "%s", err.text);
        return colon && atoi(colon + strlen("mutated.yaml:")) == line;
    }
    for (int32_t i = 0; i < list.count; i++) {
        if (list.mistake[i].line == line && !found++)
            snprintf(first, 600, "%s", list.mistake[i].text);
        else if (!found)
            snprintf(first, 600, "%d: %s", list.mistake[i].line, list.mistake[i].text);
        CHECK(strlen(list.mistake[i].text) > 10);
    }
    ct_recipe_mistakes_free(&list);
    return found;
}

/* The text with one line replaced; NULL: removed. The caller frees it. */
static char *with_line(const char *text, int line, const char *instead)
{
    char *out = malloc(strlen(text) + (instead ? strlen(instead) : 0) + 2), *to = out;
    const char *at = text;
    for (int now = 1; *at; now++) {
        const size_t length = strcspn(at, "\n") + 1;
        if (now != line)
            memcpy(to, at, length), to += length;
        else if (instead)
            to += sprintf(to, "%s\n", instead);
        at += length;
    }
    *to = 0;
    return out;
}

typedef struct {
    char indent[32], key[64], value[200];
} entry;

/* "    key: value" or "  - key: value"; 0: the line has no value. */
static int split_line(const char *line, entry *e)
{
    const size_t blanks = strspn(line, " -");
    const char *colon = strchr(line, ':');
    if (!colon || line[0] == '#' || colon[1] != ' ') return 0;
    snprintf(e->indent, sizeof e->indent, "%.*s", (int)blanks, line);
    snprintf(e->key, sizeof e->key, "%.*s", (int)(colon - line - (ptrdiff_t)blanks), line + blanks);
    snprintf(e->value, sizeof e->value, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    return 1;
}

static void want_mistake(const char *text, int line, const entry *e, const char *key, const char *value)
{
    char changed[400], sentence[600];
    snprintf(changed, sizeof changed, "%s%s: %s", e->indent, key, value);
    char *mutated = with_line(text, line, changed);
    if (!has_mistake(mutated, line, sentence)) {
        printf("  line %d \"%s\": %s\n", line, changed, sentence);
        CHECK(!"a mistake with this line");
    }
    free(mutated);
}

static const char *line_at(const char *text, int line)
{
    while (--line) text = strchr(text, '\n') + 1;
    return text;
}

static int is_item_name(const char *key)
{
    static const char *const NAMES[] = {"sightings", "map", "barcodes", "beacons", "cam", "points"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (!strcmp(key, NAMES[i])) return 1;
    return 0;
}

static void mutate_every_line(const char *text)
{
    int lines = 0;
    for (const char *p = text; *p; p++) lines += *p == '\n';
    for (int line = 1; line <= lines; line++) {
        entry e;
        char key[80];
        if (!split_line(line_at(text, line), &e)) continue;
        want_mistake(text, line, &e, e.key, "{a: 1, b: 2}");
        want_mistake(text, line, &e, e.key, "[[1], [2]]");
        want_mistake(text, line, &e, e.key, "");
        want_mistake(text, line, &e, e.key, "[1, 2");
        if (is_item_name(e.key)) continue;
        snprintf(key, sizeof key, "%sx", e.key);
        want_mistake(text, line, &e, key, e.value);
        snprintf(key, sizeof key, "%.1s%s", e.key, e.key);
        want_mistake(text, line, &e, key, e.value);
    }
}

static void test_each_key_that_is_wrong_gives_a_sentence_with_its_line(void)
{
    mutate_every_line(PLANAR);
    mutate_every_line(SPATIAL);
    mutate_every_line(GRAPHS);
}

/* By the table: words that are no choice, numbers outside their range, too many values. */
static void mutate_by_table(const char *text)
{
    int lines = 0;
    for (const char *p = text; *p; p++) lines += *p == '\n';
    for (int line = 1; line <= lines; line++) {
        entry e;
        int numbers = 0, choices = 0, rows = 0;
        if (!split_line(line_at(text, line), &e)) continue;
        for (int i = 0; i < ct__recipe_key_count; i++) {
            const ct__key *k = &ct__recipe_keys[i];
            if (strcmp(k->key, e.key)) continue;
            rows++;
            numbers += (k->forms & (CT__FORM_NUMBER | CT__FORM_INTEGER | CT__FORM_NUMBERS | CT__FORM_BOOL)) != 0;
            choices += (k->forms & (CT__FORM_CHOICE | CT__FORM_KERNEL)) != 0;
        }
        if (numbers && numbers == rows) {
            want_mistake(text, line, &e, e.key, "1e300");
            want_mistake(text, line, &e, e.key, "word");
            want_mistake(text, line, &e, e.key, "[-1e300, 1]");
            want_mistake(text, line, &e, e.key, "nan");
            want_mistake(text, line, &e, e.key, "\"1\"");
            want_mistake(text, line, &e, e.key, "[1,2,3,4,5,6,7,8,9]");
        }
        if (choices && choices == rows) want_mistake(text, line, &e, e.key, "zzzz");
    }
}

static void test_values_outside_their_range_are_refused(void)
{
    mutate_by_table(PLANAR);
    mutate_by_table(SPATIAL);
    mutate_by_table(GRAPHS);
}

/* Lines that cannot be left out, and the line of the sentence: that of the section. */
static void test_what_is_missing_is_named_with_the_line_of_its_section(void)
{
    static const struct {
        const char *line;
        int skip; /* of several such lines */
        const char *section, *part;
    } MISSING[] = {
        {"format: covtune-recipe\n", 0, "format", "format is missing"},
        {"    files: Robot{robot}_{run}.dat\n", 0, "  odometry:", "files is missing"},
        {"  type: SE2\n", 0, "states:", "type is missing"},
        {"  every: 0.2\n", 0, "states:", "one of every, at and distance is missing"},
        {"    id: subject\n", 0, "  posts:", "id is missing"},
        {"    position: [x, y]\n", 0, "  posts:", "position is missing"},
        {"      from: code\n", 0, "    ids:", "from is missing"},
        {"    type: odometry\n", 0, "  odom:", "type is missing"},
        {"    source: odometry\n", 0, "  odom:", "source is missing"},
        {"    velocity: [v, 0, -omega in deg/s]\n", 0, "  odom:", "what the odometry measures is missing"},
        {"    range: range in mm\n", 0, "  seen:", "range is missing"},
        {"    bearing: bearing\n", 0, "  seen:", "bearing is missing"},
        {"    landmarks: posts\n", 0, "  seen:", "the target is missing"},
        {"    id: code\n", 0, "  seen:", "id is missing"},
        {"    from: i\n", 0, "  loops:", "from is missing"},
        {"    geodetic: [latitude, longitude]\n", 0, "  gps:", "geodetic is missing"},
        {"        name: slow\n", 0, "      - from: 0", "name is missing"},
        {"  position: [transform.translation.x, transform.translation.y]\n", 0, "truth:", "position is missing"},
    };
    for (size_t i = 0; i < sizeof MISSING / sizeof *MISSING; i++) {
        const char *at = strstr(PLANAR, MISSING[i].line);
        char sentence[600];
        int line = 1, section = 1;
        if (!at) {
            CHECK(!"a line of the recipe");
            continue;
        }
        for (const char *p = PLANAR; p < at; p++) line += *p == '\n';
        char *mutated = with_line(PLANAR, line, NULL);
        const char *head = i ? strstr(mutated, MISSING[i].section) : strstr(mutated, "version");
        for (const char *p = mutated; p < head; p++) section += *p == '\n';
        const int found = has_mistake(mutated, section, sentence);
        if (!found || !strstr(sentence, MISSING[i].part)) printf("  without %s  %s\n", MISSING[i].line, sentence);
        CHECK(found && strstr(sentence, MISSING[i].part));
        free(mutated);
    }
}

#define REFUSED(text, part) CHECK_REFUSED(ct_recipe_parse(text, "r.yaml", NULL, &p, &err), err, part)

static void test_text_that_is_no_yaml_is_refused_with_its_line(void)
{
    ct_err err;
    ct_recipe *p;
    char deep[200] = "a: ";
    memset(deep + 3, '[', 100);
    deep[103] = 0;
    REFUSED("", "r.yaml: there is nothing in it");
    REFUSED("# nothing\n", "nothing in it");
    REFUSED("- a\n- b\n", "r.yaml:1: expected keys with values");
    REFUSED("word", "expected keys with values");
    REFUSED("a: 1\n\tb: 2\n", "r.yaml:2: not YAML");
    REFUSED("a: 1\nb: 2\na: 3\n", "r.yaml:3: the key a is there twice: first in line 1");
    REFUSED("a: &x 1\nb: *x\n", "r.yaml:1: anchors");
    REFUSED("a: 1\nb: *x\n", "r.yaml:2: aliases");
    REFUSED("a: *.csv\n", "quote a pattern that begins with *");
    REFUSED("a: !!str 1\n", "r.yaml:1: tags");
    REFUSED("a: {b: [1, 2}\n", "r.yaml:1: not YAML");
    REFUSED("? [a, b]\n: 1\n", "a list cannot be a key");
    REFUSED("a: \"x\\0y\"\n", "NUL");
    REFUSED("a: 1\n---\nb: 2\n", "r.yaml:2: a second document");
    REFUSED("a: \xff\xfe\n", "not UTF-8");
    REFUSED(deep, "at most 24 deep");
}

/* Sizes that no recipe has are refused before they cost time. */
static void test_large_texts_are_refused_quickly(void)
{
    ct_err       err;
    ct_recipe   *p;
    const size_t size = 5u << 20;
    char        *text = malloc(size + 1), *to = text;
    const double begin = ct_now_s();
    for (int i = 0; i < 100000; i++) to += sprintf(to, "key%d: 1\n", i);
    REFUSED(text, "r.yaml:2001: a mapping has at most 2000 keys");
    to = text + sprintf(text, "a: [0");
    for (int i = 0; i < 100000; i++) to += sprintf(to, ",\n%d", i);
    sprintf(to, "]\n");
    REFUSED(text, "at most 50000 values");
    memset(text, 'x', size);
    text[size] = 0;
    REFUSED(text, "at most 4194304 bytes");
    CHECK(ct_now_s() - begin < 10);
    free(text);
}

static char *replaced(const char *text, const char *what, const char *with)
{
    const char *at = strstr(text, what);
    char *out = malloc(strlen(text) + strlen(with) + 1);
    CHECK(at != NULL);
    sprintf(out, "%.*s%s%s", (int)(at - text), text, with, at + strlen(what));
    return out;
}

/* A source that nothing uses is left alone: who experiments takes a sensor out, and puts it back. */
static void test_a_source_that_is_not_used_is_told_and_not_refused(void)
{
    ct_err     err = {0};
    ct_recipe *p = NULL;
    char      *changed = replaced(PLANAR, "  map: map.csv", "  extra: x.csv\n  map: map.csv");
    CHECK_OK(ct_recipe_parse(changed, "r.yaml", NULL, &p, &err), err);
    CHECK(p && !strcmp(ct_recipe_unused_source(p, 0), "extra") && !ct_recipe_unused_source(p, 1));
    for (int32_t i = 0; p && i < p->sources; i++) CHECK(strcmp(p->source[i].name, "extra"));
    ct_recipe_free(p);
    free(changed);
    changed = replaced(PLANAR, "  map: map.csv", "  extra: {files: x.csv, colums: [t]}\n  map: map.csv");
    REFUSED(changed, "did you mean columns");
    free(changed);
}

static void refuse_change(const char *text, const char *what, const char *with, const char *part)
{
    ct_err err;
    ct_recipe *p;
    char *changed = replaced(text, what, with);
    REFUSED(changed, part);
    free(changed);
}

static void test_names_that_do_not_exist_get_the_nearest(void)
{
    refuse_change(PLANAR, "source: sightings", "source: sigthings",
                  "r.yaml:63: sensors.seen.source: there is no source "
                  "sigthings; did you mean sightings?");
    refuse_change(PLANAR, "landmarks: posts", "landmarks: post", "did you mean posts?");
    refuse_change(PLANAR, "sensor: odom", "sensor: odm", "did you mean odom?");
    refuse_change(PLANAR, "type: range_bearing", "type: range_baering", "did you mean range_bearing?");
    refuse_change(PLANAR, "kernel: huber:1.5", "kernel: hubert", "expected none, huber");
    refuse_change(PLANAR, "kernel: huber:1.5", "kernel: max_mixture:3:1", "max_mixture takes a ratio above 1");
    refuse_change(PLANAR, "kernel: huber:1.5", "kernel: max_mixture:x:2", "max_mixture takes a width of");
    refuse_change(PLANAR, "kernel: huber:1.5", "kernel: huber:3:2", "huber takes a width of");
    refuse_change(PLANAR, "  every: 0.2", "  evry: 0.2", "states has no key evry; did you mean every?");
    refuse_change(SMALL, "every: 1", "at: odo", "there is no sensor odo; did you mean odom?");
}

static void test_what_contradicts_or_does_not_belong_is_refused(void)
{
    refuse_change(PLANAR, "  every: 0.2", "  every: 0.2\n  at: truth", "contradicts every in line 29");
    refuse_change(PLANAR, "  every: 0.2", "  every: 0.2\n  turn: 1", "is for states by distance");
    refuse_change(PLANAR, "    yaw: yaw\n    body", "    quaternion: [a, b, c, d]\n    yaw: yaw\n    body",
                  "contradicts yaw");
    refuse_change(PLANAR, "    velocity: [v,", "    increment: [a, b, c]\n    velocity: [v,", "contradicts velocity");
    refuse_change(PLANAR, "    velocity: [v,", "    range: r\n    velocity: [v,", "is no field of the type odometry");
    refuse_change(PLANAR, "    geodetic: [", "    intrinsics: [1, 2, 3, 4]\n    geodetic: [",
                  "is no key of the type geodetic");
    refuse_change(PLANAR, "      variance: 0.5", "      variance: 0.5\n      sigma: 1", "contradicts sigma");
    refuse_change(PLANAR, "    lasting: 20", "    sigma: [1, 1]", "sigma corrects the truth; odom has");
    refuse_change(PLANAR, "      variance: 0.5", "      variance: [1, 2, 3]", "range_bearing has 2 rows in SE2");
    refuse_change(PLANAR, "      variance: 0.5", "      per: metre", "of odometry alone");
    refuse_change(PLANAR, "      variance: 0.5", "      model: wheels", "which has 3 rows; this sensor has 2");
    refuse_change(PLANAR, "    mount: [0.1, 0, 0]", "    mount: [0.1, 0, 0, 0]", "in SE2 expected x, y or x, y, yaw");
    refuse_change(PLANAR, "bodies: robot\n", "", "bodies names the part");
    refuse_change(PLANAR, "sensors:\n  odom:", "sensors:\n  truth:", "has a meaning of its own");
    refuse_change(PLANAR, "sensors:\n  odom:", "sensors:\n  'a b':", "a name has letters");
    refuse_change(PLANAR, "axes: [2, -1, 3]", "axes: [2, -2, 3]", "each once");
    refuse_change(PLANAR, "scale: [0.944, 1, 0.910]", "scale: [1, 1]", "odom has 3 rows; found 2 numbers");
    refuse_change(PLANAR, "  known: [x, y]", "  known: [x, z]", "expected coordinates of SE2: x y yaw");
    refuse_change(PLANAR, "    topic: /tf", "    skip: 3", "is of tables, and the format is mcap");
    refuse_change(PLANAR, "  to: 500", "  to: 5", "expected a number above from, 10");
    refuse_change(PLANAR, "separator: blank", "separator: comma", "expected one character, or blank");
    refuse_change(SPATIAL, "    angular_velocity: [wx, wy, wz]\n    mount", "    mount", "angular_velocity is missing");
    refuse_change(SPATIAL, "    elevation: e\n", "", "elevation is missing");
    refuse_change(SPATIAL, "    euler: [roll, pitch, yaw]", "    yaw: psi", "euler: [0, 0, psi]");
    refuse_change(PLANAR, "type: geodetic", "type: pixel", "needs states of type SE3");
    refuse_change(SPATIAL, "  type: SE3", "  type: SE2", "in SE2 the third value of velocity is omega");
    refuse_change(SPATIAL, "[0, 0, 0, 0, 0, 0, 1]", "[0, 0, 0, 0, 0, 0, 0.5]", "has the norm 0.5, not 1");
    refuse_change(SPATIAL, "  test: 1/4", "  test: 1/4\n  train: [a]", "a fraction is of all recordings");
    refuse_change(SMALL, "sensors: {", "sequences: {files: a.g2o}\nsensors: {", "contradicts sequences");
}

static void test_a_misspelt_section_is_one_mistake(void)
{
    refuse_change(SMALL, "sensors:", "sensor:", "r.yaml:5: sensor: recipe has no key sensor; did you mean sensors?");
}

static void test_numbers_do_not_depend_on_the_locale(void)
{
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) SKIP("there is no locale de_DE.UTF-8");
    ct_recipe *p = parse(PLANAR);
    if (p) CHECK(p->states.every_s == 0.2);
    ct_recipe_free(p);
    setlocale(LC_ALL, "C");
}

int main(void)
{
    RUN(test_every_value_of_a_planar_recipe_is_read);
    RUN(test_every_value_of_a_spatial_recipe_is_read);
    RUN(test_every_value_of_a_recipe_of_graphs_is_read);
    RUN(test_corrections_are_read_as_values);
    RUN(test_json_is_read_as_yaml);
    RUN(test_each_key_that_is_wrong_gives_a_sentence_with_its_line);
    RUN(test_values_outside_their_range_are_refused);
    RUN(test_what_is_missing_is_named_with_the_line_of_its_section);
    RUN(test_text_that_is_no_yaml_is_refused_with_its_line);
    RUN(test_large_texts_are_refused_quickly);
    RUN(test_names_that_do_not_exist_get_the_nearest);
    RUN(test_a_source_that_is_not_used_is_told_and_not_refused);
    RUN(test_what_contradicts_or_does_not_belong_is_refused);
    RUN(test_a_misspelt_section_is_one_mistake);
    RUN(test_numbers_do_not_depend_on_the_locale);
    return ct_test_end();
}
