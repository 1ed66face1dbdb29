/* test_recipe_edit.c: corrections put into a recipe's text: what they say is read back, every other byte stays. */
#define _POSIX_C_SOURCE 200809L
#include "recipe_test.h"

#include <sys/stat.h>

static const char HEAD[] = "# by hand\nformat: covtune-recipe\nversion: 1   # first\nsources: {odo: odo.csv}\n"
                           "states: {type: SE2, every: 1}\n"
                           "sensors: {odom: {type: odometry, source: odo, velocity: [v, 0, w]}}\n"
                           "truth: {source: odo, position: [x, y]}\n";

static ct_recipe *parse(const char *text)
{
    ct_err err = {0};
    ct_recipe *recipe = NULL;
    CHECK_OK(ct_recipe_parse(text, "r.yaml", NULL, &recipe, &err), err);
    return recipe;
}

static char *correct(const char *text, const ct_correction c[], int32_t count)
{
    ct_err err = {0};
    char *out = NULL;
    ct_recipe *recipe = parse(text);
    if (recipe) CHECK_OK(ct_recipe_correct(recipe, c, count, &out, &err), err);
    ct_recipe_free(recipe);
    return out;
}

static void want(const char *text, const ct_correction c[], int32_t count, const char *expected)
{
    char *out = correct(text, c, count), *again = out ? correct(out, c, count) : NULL;
    if (!out || strcmp(out, expected)) printf("--- wanted\n%s--- got\n%s---\n", expected, out ? out : "nothing");
    CHECK(out && !strcmp(out, expected));
    CHECK(again && !strcmp(again, expected)); /* the same again changes nothing */
    free(out);
    free(again);
}

static const ct_correction DELAY = {
    .sensor = "odom", .recording = "1", .kind = CT_CORRECT_DELAY, .count = 1, .value = {0.175}};
static const ct_correction SCALE = {
    .sensor = "odom", .recording = "1", .kind = CT_CORRECT_SCALE, .count = 3, .value = {0.944, 1, 0.1 + 0.2}};

static void test_corrections_are_appended_and_all_else_stays(void)
{
    char expected[1000];
    snprintf(
        expected, sizeof expected,
        "%scorrections:\n  - {sensor: odom, recording: \"1\", delay: 0.175, scale: [0.944, 1, 0.30000000000000004]}\n",
        HEAD);
    want(HEAD, (const ct_correction[]){DELAY, SCALE}, 2, expected);
}

static void test_a_text_that_does_not_end_in_a_newline_gets_one(void)
{
    char text[600], expected[1000];
    snprintf(text, sizeof text, "%.*s", (int)strlen(HEAD) - 1, HEAD);
    snprintf(expected, sizeof expected, "%scorrections:\n  - {sensor: odom, recording: \"1\", delay: 0.175}\n", HEAD);
    want(text, &DELAY, 1, expected);
}

static void test_a_block_in_the_middle_is_replaced_with_its_comments_kept(void)
{
    char text[1000], expected[1000];
    snprintf(text, sizeof text,
             "%scorrections: # found in May\n  # first run\n  - {sensor: odom, recording: \"1\", delay: 0.2, bias: [0, "
             "0, 1]}\n"
             "  - sensor: odom # all '#'\n    camera: true\n\n# what is split\nsplit: {test: 1/2}\n",
             HEAD);
    snprintf(expected, sizeof expected,
             "%scorrections:\n  # found in May\n  # first run\n  # all '#'\n"
             "  - {sensor: odom, recording: \"1\", delay: 0.175, bias: [0, 0, 1]}\n"
             "  - {sensor: odom, camera: true}\n\n# what is split\nsplit: {test: 1/2}\n",
             HEAD);
    want(text, &DELAY, 1, expected);
}

static void test_a_correction_without_numbers_is_removed(void)
{
    char text[1000], expected[1000];
    ct_correction none = DELAY;
    none.count = 0;
    snprintf(text, sizeof text, "%scorrections: [{sensor: odom, recording: \"1\", delay: 0.2}]\nsplit: {test: 1/2}\n",
             HEAD);
    snprintf(expected, sizeof expected, "%scorrections: []\nsplit: {test: 1/2}\n", HEAD);
    want(text, &none, 1, expected);
}

static void test_doctor_becomes_the_list(void)
{
    char text[1000], expected[1000];
    snprintf(text, sizeof text, "%scorrections: doctor\n", HEAD);
    snprintf(expected, sizeof expected, "%scorrections:\n  - {sensor: odom, recording: \"1\", delay: 0.175}\n", HEAD);
    want(text, &DELAY, 1, expected);
    snprintf(expected, sizeof expected, "%scorrections: []\n", HEAD);
    want(text, NULL, 0, expected);
}

static void test_line_ends_byte_order_mark_and_end_of_document_stay(void)
{
#define DOS                                                                                                            \
    "\xef\xbb\xbf---\r\nformat: covtune-recipe\r\nversion: 1\r\nsources: {odo: \"\xc3\xb6.csv\"}\r\n"                  \
    "states: {type: SE2, every: 1}\r\nsensors: {odom: {type: odometry, source: odo, velocity: [v, 0, w]}}\r\n"
    want(DOS "...\r\n# end\r\n", &DELAY, 1,
         DOS "corrections:\r\n  - {sensor: odom, recording: \"1\", delay: 0.175}\r\n...\r\n# end\r\n");
}

static void test_json_stays_json(void)
{
    static const char TEXT[] =
        "{\"format\": \"covtune-recipe\", \"version\": 1, \"sources\": {\"odo\": \"\xc3\xb6.csv\"},\n"
        " \"states\": {\"type\": \"SE2\", \"every\": 1},\n \"sensors\": {\"odom\":"
        " {\"type\": \"odometry\", \"source\": \"odo\", \"velocity\": [\"v\", 0, \"w\"]}}%s\n}\n";
    char text[1000], expected[1000];
    const ct_correction kernel = {
        .sensor = "odom", .kind = CT_CORRECT_KERNEL, .count = 2, .value = {CT_ROBUST_HUBER, 1.5}};
    snprintf(text, sizeof text, TEXT, "");
    snprintf(
        expected, sizeof expected, TEXT,
        ", \"corrections\": [{\"sensor\": \"odom\", \"recording\": \"1\", \"delay\": 0.175}, {\"sensor\": \"odom\", "
        "\"kernel\": \"huber:1.5\"}]");
    want(text, (const ct_correction[]){DELAY, kernel}, 2, expected);
    snprintf(text, sizeof text, TEXT, ", \"corrections\": \"doctor\"");
    want(text, (const ct_correction[]){DELAY, kernel}, 2, expected);
}

/* Odometry that may have any correction. */
static const char POSES[] = "format: covtune-recipe\nversion: 1\nsources: {odo: odo.csv}\n"
                            "states: {type: SE2, every: 1}\n"
                            "sensors: {odom: {type: odometry, source: odo, position: [x, y], yaw: yaw},\n"
                            "  axle: {type: odometry, source: odo, wheels: [l, r], track: 1}}\n"
                            "truth: {source: odo, position: [x, y], yaw: yaw}\n";

/* Every kind, with random numbers, through the text and back to the bit. */
static void test_any_corrections_are_read_back_to_the_bit(void)
{
    static const int COUNT[CT_CORRECTION_COUNT] = {1, 1, 3, 3, 3, 3, 3, 1, 1, 1, 1, 1, 1, 2, 1, 1, 2, 1, 1, 2, 1};
    ct_rng rng = ct_rng_seed(5);
    for (int trial = 0; trial < 200; trial++) {
        ct_correction c[4];
        const int32_t n = 1 + (int32_t)(ct_rng_bits(&rng) % 4);
        for (int32_t i = 0; i < n; i++) {
            c[i] = (ct_correction){.sensor = "odom", .kind = (ct_correction_kind)((trial + i) % CT_CORRECTION_COUNT)};
            snprintf(c[i].recording, sizeof c[i].recording, "%s",
                     trial % 3 ? trial % 2 ? "a \"b\"\\: #\xc3\xa9" : "" : "7");
            c[i].count = COUNT[c[i].kind];
            for (int32_t v = 0; v < c[i].count; v++) c[i].value[v] = 0.5 * tanh(ct_rng_normal(&rng));
            if (c[i].kind == CT_CORRECT_AXES) memcpy(c[i].value, (double[]){-2, 1, 3}, 3 * sizeof(double));
            if (COUNT[c[i].kind] == 1 && c[i].kind > CT_CORRECT_DRIFT) c[i].value[0] = trial % 2;
            if (c[i].kind == CT_CORRECT_LASTING || c[i].kind == CT_CORRECT_LASTING_EACH) c[i].value[0] = 12.5;
            if (c[i].kind == CT_CORRECT_STEPS || c[i].kind == CT_CORRECT_WRAP) c[i].value[0] = 12.5 + trial;
            if (c[i].kind == CT_CORRECT_WHEELS || c[i].kind == CT_CORRECT_WRAP) {
                snprintf(c[i].sensor, sizeof c[i].sensor, "axle");
                for (int v = 0; c[i].kind == CT_CORRECT_WHEELS && v < 2; v++) c[i].value[v] = 1 + c[i].value[v];
            }
            if (c[i].kind == CT_CORRECT_SIGMA) { /* of the truth, in all recordings */
                snprintf(c[i].sensor, sizeof c[i].sensor, "truth");
                c[i].recording[0] = 0;
                for (int v = 0; v < 2; v++) c[i].value[v] = fabs(c[i].value[v]);
            }
            if (c[i].kind == CT_CORRECT_KERNEL) c[i].value[0] = CT_ROBUST_CAUCHY, c[i].value[1] = fabs(c[i].value[1]);
            if (c[i].kind == CT_CORRECT_KERNEL && trial % 2) { /* width and ratio */
                c[i].count = 3;
                c[i].value[0] = CT_ROBUST_MAX_MIXTURE;
                c[i].value[2] = 2 + c[i].value[1];
            }
        }
        char *text = correct(POSES, c, n);
        ct_recipe *p = text ? parse(text) : NULL;
        for (int32_t i = 0; p && i < n; i++) {
            const ct_correction *found = NULL;
            for (int32_t k = 0; ct_recipe_correction(p, k); k++)
                if (ct_recipe_correction(p, k)->kind == c[i].kind) found = ct_recipe_correction(p, k);
            CHECK(found && found->count == c[i].count && !strcmp(found->recording, c[i].recording));
            CHECK(found && !memcmp(found->value, c[i].value, (size_t)c[i].count * sizeof(double)));
        }
        CHECK(p != NULL && !strncmp(text, POSES, strlen(POSES)));
        ct_recipe_free(p);
        free(text);
    }
}

static void test_corrections_that_no_recipe_can_have_are_refused(void)
{
    ct_err err = {0};
    char *text;
    ct_recipe *p = parse(HEAD);
    ct_correction c = DELAY;
    if (!p) return;
    c.value[0] = INFINITY;
    CHECK_REFUSED(ct_recipe_correct(p, &c, 1, &text, &err), err, "not finite");
    c = DELAY, c.kind = (ct_correction_kind)77;
    CHECK_REFUSED(ct_recipe_correct(p, &c, 1, &text, &err), err, "kind from 0 to 20");
    c = DELAY, c.count = 8;
    CHECK_REFUSED(ct_recipe_correct(p, &c, 1, &text, &err), err, "at most 7");
    c = DELAY, memset(c.recording, 'x', sizeof c.recording);
    CHECK_REFUSED(ct_recipe_correct(p, &c, 1, &text, &err), err, "do not end");
    c = DELAY, snprintf(c.sensor, sizeof c.sensor, "gps");
    CHECK_REFUSED(ct_recipe_correct(p, &c, 1, &text, &err), err, "there is no sensor gps");
    CHECK(text == NULL);
    CHECK_REFUSED(ct_recipe_correct(p, &c, -1, &text, &err), err, "not negative");
    ct_recipe_free(p);
}

static void test_the_folder_of_the_copy_is_put_in(void)
{
    ct_err err = {0};
    char *text = NULL, path[600], folder[512];
    ct_recipe *p = parse(HEAD), *q = NULL;
    if (!p) return;
    CHECK_OK(ct__recipe_put(p, "folder", "/data/a b", &text, &err), err);
    CHECK(text && !strncmp(text, HEAD, strlen(HEAD)) && !strcmp(text + strlen(HEAD), "folder: \"/data/a b\"\n"));
    snprintf(folder, sizeof folder, "%s/copy", ct_test_folder());
    mkdir(folder, 0777);
    snprintf(path, sizeof path, "%s/recipe.yaml", folder);
    if (text) CHECK_OK(ct_file_replace(path, text, strlen(text), &err), err);
    CHECK_OK(ct_recipe_of_dataset(folder, &q, &err), err);
    CHECK(q && !strcmp(q->folder, "/data/a b"));
    ct_recipe_free(q);
    snprintf(path, sizeof path, "%s/nowhere", folder);
    CHECK_OK(ct_recipe_of_dataset(path, &q, &err), err);
    CHECK(q == NULL);
    free(text);
    ct_recipe_free(p);
}

int main(void)
{
    RUN(test_corrections_are_appended_and_all_else_stays);
    RUN(test_a_text_that_does_not_end_in_a_newline_gets_one);
    RUN(test_a_block_in_the_middle_is_replaced_with_its_comments_kept);
    RUN(test_a_correction_without_numbers_is_removed);
    RUN(test_doctor_becomes_the_list);
    RUN(test_line_ends_byte_order_mark_and_end_of_document_stay);
    RUN(test_json_stays_json);
    RUN(test_any_corrections_are_read_back_to_the_bit);
    RUN(test_corrections_that_no_recipe_can_have_are_refused);
    RUN(test_the_folder_of_the_copy_is_put_in);
    return ct_test_end();
}
