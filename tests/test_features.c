/* test_features.c: features of factors: set by the array, kept by files and copies, made by import recipes. */
#define _XOPEN_SOURCE 700
#include "data_test.h"

#include <covtune/recipe.h>

#define HEAD "covtune-sequence 3\nnoise gps isotropic 2 0.25\nnoise odom diagonal 0.01 0.01 0.0004\n" \
             "var x0 SE2 0 0 0\nvar x1 SE2 1 0 0.1\n"

static const char TEXT[] = HEAD "factor position_se2 gps x0 hdop=1.5 sats=7 0 0\n"
                                "factor position_se2 gps x1 multiplier=2 hdop=-2.25 1 0\n"
                                "factor between_se2 odom x0 x1 turn.rate=0.1 1 0 0.1\n";

static void test_files_keep_features_to_the_bit(void)
{
    run r;
    CHECK_SAME_TEXT(CT_FORMAT_COVTUNE, TEXT);
    MUST_READ(&r, CT_FORMAT_COVTUNE, TEXT);
    const ct_graph *g = r.seq->graph;
    CHECK(ct_graph_features(g) == 3);
    const int hdop = ct_graph_find_feature(g, "hdop"), turn = ct_graph_find_feature(g, "turn.rate");
    CHECK(ct_graph_feature(g, 0, hdop) == 1.5 && ct_graph_feature(g, 1, hdop) == -2.25);
    CHECK(isnan(ct_graph_feature(g, 2, hdop)) && ct_graph_feature(g, 2, turn) == 0.1);
    CHECK(!strcmp(ct_graph_feature_name(g, hdop), "hdop") && !ct_graph_feature_name(g, 3));
    CHECK(isnan(ct_graph_feature(g, 3, hdop)) && isnan(ct_graph_feature(g, 0, 9)) && isnan(ct_graph_feature(g, -1, 0)));
    ct_graph *copy = NULL;
    CHECK_OK(ct_graph_copy(g, &copy, &r.err), r.err);
    double column[3];
    ct_graph_describe_feature(copy, ct_graph_find_feature(copy, "hdop"), column);
    CHECK(column[0] == 1.5 && column[1] == -2.25 && isnan(column[2]));
    ct_graph_free(copy);
    run_free(&r);
}

static void test_refusals_name_feature_and_factor(void)
{
#define LINE(version, words)                                                                                          \
    "covtune-sequence " version "\nnoise gps isotropic 2 0.25\nvar x0 SE2 0 0 0\n"                                     \
    "factor position_se2 gps x0 " words " 0 0\n"
    CHECK_MESSAGE(CT_FORMAT_COVTUNE, LINE("2", "hdop=1"),
                  "t.txt:4: a feature, NAME=NUMBER, is of version 3; the first line must then be "
                  "\"covtune-sequence 3\"");
    CHECK_MESSAGE(CT_FORMAT_COVTUNE, LINE("3", "hdop=nan"),
                  "t.txt:4: expected feature hdop= and a finite number, found \"hdop=nan\"");
    CHECK_MESSAGE(CT_FORMAT_COVTUNE, LINE("3", "hdop=1 hdop=2"), "t.txt:4: feature hdop is given twice");
    CHECK_MESSAGE(CT_FORMAT_COVTUNE, LINE("3", "=1"), "t.txt:4: feature \"=1\": its name is empty");
    CHECK_MESSAGE(CT_FORMAT_COVTUNE, LINE("3", "a+b=1"),
                  "t.txt:4: feature \"a+b=1\": its name may have letters, digits and _ . - only");
    CHECK_MESSAGE(CT_FORMAT_COVTUNE, LINE("3", "hdop=1e200"),
                  "t.txt:4: feature hdop of factor 0 is 1e+200; a feature is a number from -1e+100 to 1e+100, left "
                  "out where it is unknown");
#undef LINE
    run r;
    MUST_READ(&r, CT_FORMAT_COVTUNE, TEXT);
    ct_graph *g = r.seq->graph;
    CHECK_REFUSED(ct_graph_set_feature(g, "a", 2, NULL, (const double[]){1, NAN}, &r.err), r.err, "factor 1 is nan");
    CHECK_REFUSED(ct_graph_set_feature(g, "a", 1, (const int32_t[]){7}, (const double[]){1}, &r.err), r.err,
                  "there is no factor 7, the graph has 3");
    CHECK_REFUSED(ct_graph_set_feature(g, "multiplier", 1, NULL, (const double[]){1}, &r.err), r.err,
                  "another meaning");
    CHECK_REFUSED(ct_graph_set_feature(g, NULL, 1, NULL, (const double[]){1}, &r.err), r.err, "its name is empty");
    CHECK(ct_graph_features(g) == 3);
    for (int i = 3; i < CT_FEATURES_MAX; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i);
        CHECK_OK(ct_graph_set_feature(g, name, 3, NULL, (const double[]){1, 2, i}, &r.err), r.err);
    }
    CHECK_REFUSED(ct_graph_set_feature(g, "more", 1, NULL, (const double[]){1}, &r.err), r.err, "at most 64 features");
    run_free(&r);
}

/* ---- recipes ---- */

static const char *write_file(const char *name, const char *text)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", ct_test_folder(), name);
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
    return path;
}

#define RECIPE(odom, gps)                                                                                             \
    "format: covtune-recipe\nversion: 1\nsources:\n  wheels: wheels.csv\n  gps: gps.csv\n  truth: truth.csv\n"       \
    "states:\n  type: SE2\n  every: 1\nsensors:\n  odom:\n    type: odometry\n    source: wheels\n"                \
    "    velocity: [v, 0, w]\n" odom "  gps:\n    type: position\n    source: gps\n    position: [x, y]\n" gps       \
    "truth:\n  source: truth\n  position: [x, y]\n  yaw: 0\n"

static void write_tables(void)
{
    char wheels[4096] = "t,v,w,slip\n", gps[1024] = "t,x,y,hdop\n", truth[4096] = "t,x,y\n", line[64];
    for (int i = 0; i <= 80; i++) { /* 10 Hz; the slip of each second: 0.5 in its first half, 1.5 in its second */
        snprintf(line, sizeof line, "%.1f,2,0.25,%s\n", 0.1 * i, i % 10 < 5 ? "0.5" : "1.5");
        strcat(wheels, line);
        snprintf(line, sizeof line, "%.1f,%.2f,0\n", 0.1 * i, 0.2 * i);
        strcat(truth, line);
    }
    for (int i = 0; i <= 8; i++) {
        snprintf(line, sizeof line, "%d,%d,0,%s\n", i, 2 * i, i == 3 ? "" : i % 2 ? "1" : "4");
        strcat(gps, line);
    }
    write_file("wheels.csv", wheels);
    write_file("gps.csv", gps);
    write_file("truth.csv", truth);
}

static void test_recipes_give_factors_features(void)
{
    ct_dataset *d = NULL;
    ct_recipe  *recipe = NULL;
    ct_err      err;
    ct_import_result result = {0};
    write_tables();
    const char *path = write_file("recipe.yaml", RECIPE("    features: {slip: slip * 2}\n"
                                                        "    motion_features: [speed, turn_rate, duration]\n",
                                                        "    features: {hdop: sqrt(hdop)}\n"));
    CHECK_OK(ct_recipe_read(path, &recipe, &err), err);
    if (recipe) CHECK_OK(ct_recipe_dataset(recipe, NULL, &d, &result, &err), err);
    if (d) {
        const ct_graph *g = (d->trains ? d->train[0] : d->test[0])->graph;
        const int       slip = ct_graph_find_feature(g, "slip"), speed = ct_graph_find_feature(g, "speed");
        const int       turn = ct_graph_find_feature(g, "turn_rate"), hdop = ct_graph_find_feature(g, "hdop");
        int             steps = 0, fixes = 0, without = 0;
        for (int32_t f = 0; f < ct_graph_factors(g); f++) {
            const char *name = ct_graph_factor(g, f).ops->name;
            if (!strcmp(name, "between_se2")) {
                CHECK_NEAR(ct_graph_feature(g, f, slip), 2, 1e-9); /* twice the mean of 0.5 and 1.5 */
                CHECK_NEAR(ct_graph_feature(g, f, speed), 2, 1e-9);
                CHECK_NEAR(ct_graph_feature(g, f, turn), 0.25, 1e-9);
                CHECK_NEAR(ct_graph_feature(g, f, ct_graph_find_feature(g, "duration")), 1, 1e-9);
                steps++;
            } else if (!strcmp(name, "position_se2")) {
                const double value = ct_graph_feature(g, f, hdop);
                CHECK(isnan(value) || value == 1 || value == 2);
                without += isnan(value);
                fixes++;
            }
        }
        CHECK(steps >= 7 && fixes >= 7 && without == 1);
    }
    ct_import_result_free(&result);
    ct_dataset_free(d);
    ct_recipe_free(recipe);
}

static void test_mistakes_in_recipes_name_the_line(void)
{
    static const struct {
        const char *odom, *gps, *sentence;
    } WRONG[] = {
        {"    features: {a b: slip}\n", "", "the feature's name may have letters, digits and _ . - only"},
        {"    motion_features: [pace]\n", "", "expected speed, turn_rate or duration; found \"pace\""},
        {"    motion_features: [speed]\n    features: {speed: v}\n", "", "the feature speed is there twice"},
        {"", "    motion_features: [speed]\n", "is of odometry and velocity"},
    };
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        char       text[2048];
        ct_recipe *recipe = NULL;
        ct_err     err;
        snprintf(text, sizeof text, RECIPE("%s", "%s"), WRONG[i].odom, WRONG[i].gps);
        const char *path = write_file("wrong.yaml", text);
        CHECK_REFUSED(ct_recipe_read(path, &recipe, &err), err, WRONG[i].sentence);
        ct_recipe_free(recipe);
    }
}

int main(void)
{
    RUN(test_files_keep_features_to_the_bit);
    RUN(test_refusals_name_feature_and_factor);
    RUN(test_recipes_give_factors_features);
    RUN(test_mistakes_in_recipes_name_the_line);
    return ct_test_end();
}
