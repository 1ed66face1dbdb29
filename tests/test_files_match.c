/* test_files_match.c: files by pattern. */
#define _POSIX_C_SOURCE 200809L
#include "source/pattern.h"
#include "source_test.h"

#include <sys/stat.h>

static ct_err err;

/* A folder of empty files: names with "/" make folders. */
static const char *make_folder(const char *name, const char *const file[])
{
    const char *folder = scratch_path(name);
    char command[700], path[1200];
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir -p '%s'", folder, folder);
    CHECK(system(command) == 0);
    for (; *file; file++) {
        snprintf(path, sizeof path, "%s/%s", folder, *file);
        for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
            *slash = 0;
            mkdir(path, 0777);
        }
        if (path[strlen(path) - 1] == '/') continue;
        FILE *f = fopen(path, "wb");
        CHECK(f && fclose(f) == 0);
    }
    return folder;
}

/* Files and values in a line: "a1.csv robot=1|..." relative to the folder. */
static const char *found(const char *folder, const char *pattern)
{
    static char text[4096];
    ct_matches *m = NULL;
    char *at = text;
    text[0] = 0;
    CHECK_OK(ct_files_match(folder, pattern, &m, &err), err);
    for (int32_t f = 0; m && f < m->files; f++) {
        CHECK(!strncmp(m->file[f], folder, strlen(folder)));
        at += snprintf(at, 300, "%s%s", f ? "|" : "", m->file[f] + strlen(folder) + 1);
        for (int32_t p = 0; p < m->parts; p++)
            at += snprintf(at, 300, " %s=%s", m->name[p], m->value[f * m->parts + p]);
    }
    ct_matches_free(m);
    return text;
}

#define CHECK_FOUND(folder, pattern, expected)                                                                         \
    do {                                                                                                               \
        const char *is = found(folder, pattern);                                                                       \
        if (strcmp(is, expected) != 0) CT_TEST_SAY("%s:%d: %s: %s\n", __FILE__, __LINE__, pattern, is);                \
    } while (0)

static void test_parts_are_remembered_and_sorted_by_value(void)
{
    const char *folder =
        make_folder("match1", NAMES("Robot1_Odometry.dat", "Robot10_Odometry.dat", "Robot2_Odometry.dat",
                                    "Robot2_Measurement.dat", "Barcodes.dat", ".Robot3_Odometry.dat"));
    CHECK_FOUND(folder, "Robot{robot}_Odometry.dat",
                "Robot1_Odometry.dat robot=1|Robot2_Odometry.dat robot=2|Robot10_Odometry.dat robot=10");
    CHECK_FOUND(folder, "Barcodes.dat", "Barcodes.dat");
    CHECK_FOUND(folder, "R*2_*.dat", "Robot2_Measurement.dat|Robot2_Odometry.dat");
    CHECK_FOUND(folder, "Robot?_O*", "Robot1_Odometry.dat|Robot2_Odometry.dat");
    CHECK_FOUND(folder, "Robot{robot}_{kind}.dat",
                "Robot1_Odometry.dat robot=1 kind=Odometry|Robot2_Measurement.dat robot=2 kind=Measurement|"
                "Robot2_Odometry.dat robot=2 kind=Odometry|Robot10_Odometry.dat robot=10 kind=Odometry");
    CHECK_FOUND(folder, "./Barcodes.dat", "./Barcodes.dat");
}

static void test_folders_are_searched_and_parts_repeat(void)
{
    const char *folder = make_folder("match2", NAMES("run1/run1_odom.csv", "run1/run2_odom.csv", "run2/run2_odom.csv",
                                                     "run2/deep/run2.csv", "run10/run10_odom.csv", "odom.csv", "run3",
                                                     "bag/metadata.yaml", "other/x"));
    CHECK_FOUND(folder, "{run}/{run}_odom.csv",
                "run1/run1_odom.csv run=run1|run2/run2_odom.csv run=run2|run10/run10_odom.csv run=run10");
    CHECK_FOUND(folder, "run{n}/run*_odom.csv",
                "run1/run1_odom.csv n=1|run1/run2_odom.csv n=1|run2/run2_odom.csv n=2|run10/run10_odom.csv n=10");
    CHECK_FOUND(folder, "*/deep/{run}.csv", "run2/deep/run2.csv run=run2");
    CHECK_FOUND(folder, "run3", "run3");
    CHECK_FOUND(folder, "b*", "bag"); /* a folder that is a bag */
    CHECK_FOUND(folder, "o*", "odom.csv");
    CHECK_FOUND(folder, "other", "other"); /* named in full, a folder is found */
}

static void test_the_first_parts_are_as_short_as_possible(void)
{
    const char *folder = make_folder("match3", NAMES("x_y_z.csv", "aXa.txt", "abXab.txt", "aXb.txt", "odd{1}.csv"));
    CHECK_FOUND(folder, "{a}_{b}.csv", "x_y_z.csv a=x b=y_z");
    CHECK_FOUND(folder, "{a}X{a}.txt", "aXa.txt a=a|abXab.txt a=ab");
    CHECK_FOUND(folder, "odd\\{{n}\\}.csv", "odd{1}.csv n=1");
}

static void test_nothing_found_names_the_folder_and_what_is_like_it(void)
{
    const char *folder =
        make_folder("match4", NAMES("Robot1_Odometry.dat", "Robot1_Groundtruth.dat", "map.csv", "sub/a.csv"));
    ct_matches *m = NULL;
    CHECK_REFUSED(ct_files_match(folder, "Robot{robot}_Odom.dat", &m, &err), err, "in folder ");
    CHECK(strstr(err.text, "match4; there is Robot1_Groundtruth.dat, Robot1_Odometry.dat") && !m &&
          err.status == CT_E_EMPTY);
    CHECK_REFUSED(ct_files_match(folder, "robot*_odometry.dat", &m, &err), err, "there is Robot1_Odometry.dat");
    CHECK_REFUSED(ct_files_match(folder, "s*/b.csv", &m, &err), err, "match4/sub; there is a.csv");
    CHECK_REFUSED(ct_files_match(folder, "subs/b.csv", &m, &err), err, "there is sub");
    CHECK_REFUSED(ct_files_match(scratch_path("no_such_folder"), "*.csv", &m, &err), err, "No such file or directory");
    CHECK_REFUSED(ct_files_match(make_folder("match5", (const char *const[]){NULL}), "*", &m, &err), err, "is empty");
}

static void test_mistakes_in_patterns_are_told(void)
{
    ct_matches *m = NULL;
    CHECK_REFUSED(ct_files_match(".", "a{b", &m, &err), err, "character 2: a part is a name in brackets");
    CHECK_REFUSED(ct_files_match(".", "a{}", &m, &err), err, "character 2");
    CHECK_REFUSED(ct_files_match(".", "a}", &m, &err), err, "\"}\" has no \"{\"");
    CHECK_REFUSED(ct_files_match(".", "{1}", &m, &err), err, "character 1");
    CHECK_REFUSED(ct_files_match(".", "", &m, &err), err, "it is empty");
    CHECK_REFUSED(ct_files_match(".", "{a}{b}{c}{d}{e}{f}{g}{h}{i}{j}{k}{l}{m}{n}{o}{p}{q}", &m, &err), err,
                  "more than 16");
    char path[200] = "";
    for (int i = 0; i < 40; i++) strcat(path, "a/");
    CHECK_REFUSED(ct_files_match(".", path, &m, &err), err, "more than 32 folders");
    char name[800];
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = 0;
    CHECK_REFUSED(ct_files_match(".", name, &m, &err), err, "longer than 512");
    ct_matches_free(NULL);
}

/* A name against a pattern, by trying every way: the law that ct__level_match keeps. */
static int slow_match(const ct__level *l, int i, const char *name, int length, int j, ct__part_value value[])
{
    if (i == l->tokens) return j == length;
    const int16_t token = l->token[i];
    if (token < CT__ANY_MANY) {
        if (j == length || (token != CT__ANY_ONE && token != (unsigned char)name[j])) return 0;
        return slow_match(l, i + 1, name, length, j + 1, value);
    }
    if (token == CT__ANY_MANY) {
        for (int end = j; end <= length; end++)
            if (slow_match(l, i + 1, name, length, end, value)) return 1;
        return 0;
    }
    ct__part_value *v = &value[token - CT__PART];
    if (v->text)
        return v->length <= length - j && !memcmp(v->text, name + j, (size_t)v->length) &&
               slow_match(l, i + 1, name, length, j + v->length, value);
    for (int end = j + 1; end <= length; end++) {
        *v = (ct__part_value){name + j, end - j};
        if (slow_match(l, i + 1, name, length, end, value)) return 1;
        v->text = NULL;
    }
    return 0;
}

static void test_matching_is_the_exhaustive_search(void)
{
    static const char *const piece[] = {"a", "b", "*", "?", "{x}", "{y}"};
    ct_rng rng = ct_rng_seed(5);
    int hits = 0;
    for (int trial = 0; trial < 20000; trial++) {
        char pattern[64] = "", name[16];
        for (int i = 1 + (int)(ct_rng_bits(&rng) % 6); i > 0; i--) strcat(pattern, piece[ct_rng_bits(&rng) % 6]);
        const int length = 1 + (int)(ct_rng_bits(&rng) % 8);
        for (int i = 0; i < length; i++) name[i] = (char)('a' + ct_rng_bits(&rng) % 2);
        name[length] = 0;
        ct__pattern p;
        ct__part_value fast[CT__PARTS_MAX] = {0}, slow[CT__PARTS_MAX] = {0};
        CHECK_OK(ct__pattern_parse(pattern, &p, &err), err);
        const int is = ct__level_match(&p.level[0], name, fast),
                  should = slow_match(&p.level[0], 0, name, length, 0, slow);
        CHECK(is == should);
        hits += is;
        for (int k = 0; is && k < p.parts; k++) CHECK(fast[k].text == slow[k].text && fast[k].length == slow[k].length);
        ct__pattern_free(&p);
    }
    CHECK(hits > 1000 && hits < 19000);
}

/* Forty stars against two hundred letters: no exponential search. */
static void test_many_wildcards_take_no_time(void)
{
    char pattern[200] = "", name[256];
    ct__pattern p;
    for (int i = 0; i < 40; i++) strcat(pattern, "*a");
    strcat(pattern, "*b");
    memset(name, 'a', 250);
    name[250] = 0;
    ct__part_value value[CT__PARTS_MAX] = {0};
    CHECK_OK(ct__pattern_parse(pattern, &p, &err), err);
    const double before = ct_now_s();
    CHECK(ct__level_match(&p.level[0], name, value) == 0);
    CHECK(ct_now_s() - before < 1);
    ct__pattern_free(&p);
    CHECK_OK(ct__pattern_parse("{a}{b}{c}{d}{e}{f}{a}{b}{c}{d}{e}{f}{a}x", &p, &err), err);
    memset(name + 249, 'x', 1);
    CHECK(ct__level_match(&p.level[0], name, value) <= 1); /* an answer, or that there is none in time */
    CHECK(ct_now_s() - before < 5);
    ct__pattern_free(&p);
}

int main(void)
{
    RUN(test_parts_are_remembered_and_sorted_by_value);
    RUN(test_folders_are_searched_and_parts_repeat);
    RUN(test_the_first_parts_are_as_short_as_possible);
    RUN(test_nothing_found_names_the_folder_and_what_is_like_it);
    RUN(test_mistakes_in_patterns_are_told);
    RUN(test_matching_is_the_exhaustive_search);
    RUN(test_many_wildcards_take_no_time);
    return ct_test_end();
}
