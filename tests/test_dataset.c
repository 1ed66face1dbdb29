/* test_dataset.c: datasets, read from folders and written to them. */
#define _XOPEN_SOURCE 700
#include <covtune/simulate.h>
#include "dataset_test.h"

#include <unistd.h>

static char *get(const char *name)
{
    FILE *file = fopen(at(name), "rb");
    char *text = calloc(1, 100000);
    CHECK(file && fread(text, 1, 99999, file) > 0);
    if (file) fclose(file);
    return text;
}

static void refused(const char *path, ct_dataset_part part, const char *words)
{
    ct_dataset *d = NULL;
    ct_err      err = {0};
    CHECK_REFUSED(ct_dataset_read(path, part, &d, &err), err, words);
    CHECK(!d);
}

static const double *variance(const ct_dataset *d, const char *model)
{
    const int32_t i = ct_noise_find(d->noise, model);
    static const double none[6];
    CHECK(i >= 0);
    return i < 0 ? none : ct_noise_get(d->noise, i)->covariance;
}

/* A sequence of two poses with the odometry model and variance that are given. */
static const char *sequence(const char *model, double v)
{
    static char text[512];
    snprintf(text, sizeof text,
             "covtune-sequence 1\nnoise %s diagonal %g %g %g\nvar x0 SE2 0 0 0\nvar x1 SE2 1 0 0\nfactor between_se2 "
             "%s x0 x1 1 0 0\n",
             model, v, v, v, model);
    return text;
}

/* ---- layouts ---- */

static void test_a_yaml_names_groups_and_runs(void)
{
    begin();
    folder("a");
    put("a/1.ctseq", sequence("odom@0", 4));
    put("2.ctseq", sequence("odom@1", 5));
    put("dataset.yaml",
        HEAD "groups:\n  - name: odom@0\n    variance: [1, 2, 3]\n    kind: full\n    bounds: [1e-3, 1e3]\n"
             "  - {name: odom@1, learn: false, lower: [1, 2, 3], upper: [7]}\ntrain: [a/1.ctseq]\ntest: [2.ctseq, "
             "a/1.ctseq]\n");
    ct_dataset *d = must_read(at(""), CT_DATASET_ALL);
    CHECK(d->trains == 1 && d->tests == 2 && d->groups == 2 && !d->note);
    CHECK(d->train[0] == d->test[1] && !strcmp(d->test[0]->name, "2"));
    CHECK(variance(d, "odom@0")[1] == 2 && variance(d, "odom@1")[1] == 5);
    const ct_dataset_group *a = &d->group[0], *b = &d->group[1];
    CHECK(!strcmp(a->name, "odom@0") && a->learn == 1 && a->kind == CT_NOISE_FULL && a->lower[0] == 1e-3 &&
          a->lower[5] == 1e-3 && a->upper[2] == 1e3);
    CHECK(b->learn == 0 && b->kind == -1 && b->lower[2] == 3 && isnan(b->lower[3]) && b->upper[0] == 7 &&
          b->upper[2] == 7);
    ct_dataset_free(d);
    d = must_read(at("dataset.yaml"), CT_DATASET_TRAIN);
    CHECK(d->trains == 1 && d->tests == 0 && !d->test &&
          strstr(d->note, "group odom@1 of dataset.yaml applies to no noise model"));
    ct_dataset_free(d);
    d = must_read(at("dataset.yaml"), CT_DATASET_TEST);
    CHECK(d->trains == 0 && d->tests == 2 && !d->train);
    ct_dataset_free(d);
}

static void test_a_yaml_in_the_working_folder_is_found(void)
{
    char here[1024];
    begin();
    put("1.ctseq", sequence("odom", 4));
    put("dataset.yaml", HEAD "train: [1.ctseq]\n");
    CHECK(getcwd(here, sizeof here) && !chdir(at("")));
    ct_dataset *d = NULL;
    ct_err      err = {0};
    CHECK_OK(ct_dataset_read("dataset.yaml", CT_DATASET_ALL, &d, &err), err);
    ct_dataset_free(d);
    CHECK_OK(ct_dataset_read(".", CT_DATASET_ALL, &d, &err), err);
    ct_dataset_free(d);
    CHECK(!chdir(here));
}

static void test_folders_train_and_test_are_read_in_order_of_names(void)
{
    begin();
    folder("train");
    folder("train/sub");
    put("README", "no sequence");
    put("train/b.ctseq", sequence("odom", 1));
    put("train/a.ctseq", sequence("odom", 1));
    put("train/.hidden.ctseq", "broken");
    put("train/notes.txt", "hello");
    ct_dataset *d = must_read(at(""), CT_DATASET_ALL);
    CHECK(d->trains == 2 && d->tests == 0 && !strcmp(d->train[0]->name, "a") && !strcmp(d->train[1]->name, "b"));
    CHECK(d->note && strstr(d->note, "notes.txt and 1 more are left out: they are no files with a format's ending"));
    ct_dataset_free(d);
    folder("test");
    put("test/c.ctseq", sequence("odom", 1));
    d = must_read(at(""), CT_DATASET_TEST);
    CHECK(d->trains == 0 && d->tests == 1 && !strcmp(d->test[0]->name, "c"));
    ct_dataset_free(d);
}

static void test_a_folder_of_files_and_one_file_are_both_parts(void)
{
    begin();
    put("1.ctseq", sequence("odom", 1));
    put("2.ctseq", sequence("odom", 1));
    ct_dataset *d = must_read(at(""), CT_DATASET_ALL);
    CHECK(d->trains == 2 && d->tests == 2 && d->train[1] == d->test[1]);
    ct_dataset_free(d);
    d = must_read(at("2.ctseq"), CT_DATASET_ALL);
    CHECK(d->trains == 1 && d->tests == 1 && d->train[0] == d->test[0] && !strcmp(d->train[0]->name, "2"));
    ct_dataset_free(d);
    d = must_read(at(""), CT_DATASET_TEST);
    CHECK(d->trains == 0 && d->tests == 2);
    ct_dataset_free(d);
}

static void test_where_nothing_is_found_it_is_said_what_was_looked_for(void)
{
    begin();
    refused(at("nowhere"), CT_DATASET_ALL, "nowhere: No such file");
    refused(
        at(""), CT_DATASET_ALL,
        "no sequences: a dataset is a folder with dataset.yaml, or with folders train and test, or with files .ctseq "
        ".g2o");
    folder("train");
    refused(at(""), CT_DATASET_ALL, "no sequences");
    put("train/1.ctseq", sequence("odom", 1));
    refused(at(""), CT_DATASET_TEST, "no test sequences");
    ct_dataset *d;
    CHECK(ct_dataset_read(at(""), CT_DATASET_TEST, &d, NULL) == CT_E_EMPTY && !d);
    put("train/1.ctseq", "covtune-sequence 1\n");
    refused(at(""), CT_DATASET_ALL, "train/1.ctseq: there is no variable in it");
}

static void test_notes_of_many_files_are_said_once(void)
{
    begin();
    for (int i = 0; i < 3; i++) {
        char name[24];
        snprintf(name, sizeof name, "%d.g2o", i);
        put(name, "EDGE_SE2 0 1 1 0 0 1 0 0 1 0 1\n");
    }
    ct_dataset *d = must_read(at(""), CT_DATASET_ALL);
    CHECK(d->note && strstr(d->note, "0.g2o and 2 others: 2 variables have no value in the file") &&
          !strstr(d->note, "1.g2o"));
    ct_dataset_free(d);
}

static void test_leo_logs_are_a_dataset(void)
{
    const char *log = ct_test_shared("golden/nav_two_regimes/train/0000.json");
    char        path[512];
    if (!log) SKIP("the shared logs are not here");
    snprintf(path, sizeof path, "%s", log);
    path[strlen(path) - strlen("/train/0000.json")] = 0;
    ct_dataset *d = must_read(path, CT_DATASET_ALL);
    CHECK(d->trains == 2 && d->tests == 0 && ct_noise_count(d->noise) == 5 && d->train[0]->truth);
    CHECK(variance(d, "odom@0")[0] == 0.1 * 0.1 && variance(d, "odom@1")[0] == 1);
    ct_err err = {0};
    begin();
    CHECK_OK(ct_dataset_write(d, at(""), &err), err);
    ct_dataset *again = must_read(at(""), CT_DATASET_ALL);
    for (int i = 0; i < 2; i++) {
        const run a = {.noise = d->noise, .seq = d->train[i]}, b = {.noise = again->noise, .seq = again->train[i]};
        check_same_run(&a, &b, 1);
    }
    ct_dataset_free(again);
    ct_dataset_free(d);
}

/* ---- a model in several files ---- */

static void test_files_with_other_numbers_for_a_model_are_refused(void)
{
    begin();
    put("1.ctseq", sequence("odom", 1));
    put("2.ctseq", sequence("odom", 2));
    refused(at(""), CT_DATASET_ALL,
            "2.ctseq:2: noise model odom has other numbers here than in a file before; a dataset.yaml can give the "
            "right ones");
    put("dataset.yaml", HEAD "groups: [{name: odom, bounds: [1, 2]}]\ntrain: [1.ctseq, 2.ctseq]\n");
    refused(at(""), CT_DATASET_ALL, "2.ctseq:2: noise model odom has other numbers");
    put("dataset.yaml", HEAD "groups: [{name: odom, variance: [9]}]\ntrain: [1.ctseq, 2.ctseq]\n");
    ct_dataset *d = must_read(at(""), CT_DATASET_ALL);
    CHECK(ct_noise_count(d->noise) == 1 && variance(d, "odom")[2] == 9);
    CHECK(ct_noise_get(d->noise, 0)->kind == CT_NOISE_ISOTROPIC);
    ct_dataset_free(d);
}

/* What convert makes of a g2o file: the first of a group has no number. */
static void test_models_that_each_file_numbers_get_other_numbers(void)
{
    begin();
    const char *text =
        "covtune-sequence 1\nnoise e diagonal %d 1 1\nnoise e#1 diagonal 5 5 %d\nnoise e#2 diagonal 6 6 6\nvar a SE2 0 "
        "0 0\nvar b SE2 0 0 0\n"
        "factor between_se2 e a b 1 0 0\nfactor between_se2 e#1 a b 1 0 0\nfactor between_se2 e#2 a b 1 0 0\n";
    char        one[512];
    for (int i = 1; i <= 3; i++) {
        char name[24];
        snprintf(name, sizeof name, "%d.ctseq", i);
        snprintf(one, sizeof one, text, i, 10 * i);
        put(name, one);
    }
    ct_dataset *d = must_read(at(""), CT_DATASET_ALL);
    for (int i = 0; i < 3; i++) {
        const ct_graph *g = d->train[i]->graph;
        CHECK(ct_noise_get(d->noise, ct_graph_factor(g, 0).noise)->covariance[0] == i + 1);
        CHECK(ct_noise_get(d->noise, ct_graph_factor(g, 1).noise)->covariance[2] == 10 * (i + 1));
        CHECK(ct_noise_get(d->noise, ct_graph_factor(g, 2).noise)->covariance[2] == 6);
    }
    CHECK(ct_noise_count(d->noise) == 3 + 2 + 2);
    ct_dataset_free(d);
    put("4.ctseq", sequence("e", 77)); /* this one numbers nothing */
    refused(at(""), CT_DATASET_ALL, "4.ctseq:2: noise model e has other numbers");
    put("4.ctseq", "covtune-sequence 1\nnoise e diagonal 1 1 1\nnoise e diagonal 2 2 2\n");
    refused(at(""), CT_DATASET_ALL, "4.ctseq:3: noise model e is there already");
}

static void test_logs_with_other_sigmas_are_refused(void)
{
    const char *text = "{\"poses_gt\": [[0, 0, 0], [1, 0, 0], [2, 0, 0]], \"factor_names\": [\"odom\", \"odom\"], "
                       "\"factor_keysyms\": [[\"x\", \"x\"], [\"x\", \"x\"]], "
                       "\"factor_keyids\": [[0, 1], [1, 2]], \"factor_meas\": [[1, 0, 0], [1, 0, 0]], \"factor_covs\": "
                       "[[%d, 1, 1], [%d, 1, 1]]}";
    char        one[512];
    begin();
    for (int i = 1; i <= 2; i++) {
        snprintf(one, sizeof one, text, i, i);
        put(i == 1 ? "1.json" : "2.json", one);
    }
    refused(at(""), CT_DATASET_ALL, "2.json: noise model odom has other numbers here than in a file before");
    put("dataset.yaml", HEAD "groups: [{name: odom, variance: [1, 2, 3]}]\ntrain: [1.json, 2.json]\n");
    ct_dataset *d = must_read(at(""), CT_DATASET_ALL);
    CHECK(ct_noise_count(d->noise) == 2 && variance(d, "odom")[1] == 2);
    ct_dataset_free(d);
}

static void test_a_group_speaks_of_its_regimes_and_numbers(void)
{
    begin();
    put("1.ctseq", "covtune-sequence 1\nnoise odom@0 diagonal 1 1 1\nnoise odom@1 diagonal 1 1 1\nnoise odom@1#7 "
                   "diagonal 1 1 1\nnoise odometer diagonal 1 1 1\nvar a SE2 0 0 0\n");
    put("dataset.yaml", HEAD "groups: [{name: odom, variance: [2, 2, 2]}, {name: odom@1, covariance: [3, 0, 0, 0, 3, "
                             "0, 0, 0, 3]}]\ntrain: [1.ctseq]\n");
    ct_dataset *d = must_read(at(""), CT_DATASET_ALL);
    CHECK(variance(d, "odom@0")[0] == 2 && variance(d, "odom@1")[0] == 3 && variance(d, "odom@1#7")[0] == 3 &&
          variance(d, "odometer")[0] == 1);
    CHECK(ct_noise_get(d->noise, 1)->kind == CT_NOISE_FULL);
    CHECK(ct__dataset_find_group(d, "odom@1#7") == &d->group[1] &&
          ct__dataset_find_group(d, "odom#3") == &d->group[0] && !ct__dataset_find_group(d, "odometer"));
    ct_dataset_free(d);
}

/* ---- refusals ---- */

static const struct {
    const char *text, *words;
} BAD[] = {
    {"", "dataset.yaml: there is nothing in it"},
    {"# nothing\n", "dataset.yaml: there is nothing in it"},
    {"[1, 2]\n", "dataset.yaml: expected keys with values, found a list"},
    {"format: [covtune\n", "dataset.yaml:1: format: expected a word, found a list"},
    {"format: covtune-noise\nversion: 1\n", "dataset.yaml: format: expected covtune-dataset, found covtune-noise"},
    {"format: covtune-dataset\nversion: 3\n", "dataset.yaml:2: version: this covtune reads 1 to 2, found 3"},
    {"format: covtune-dataset\nversion: 0\n", "dataset.yaml:2: version: this covtune reads 1 to 2, found 0"},
    {"format: covtune-dataset\nversion: one\n", "dataset.yaml:2: version: expected a whole number, found 'one'"},
    {"version: 1\n", "format is missing"},
    {HEAD "trian: [a]\n", "dataset.yaml:3: there is no key trian; did you mean train?"},
    {HEAD "groups:\n  - name: a\n    kind: full\n    sigma: [1]\n", "dataset.yaml:6: there is no key sigma"},
    {HEAD "groups:\n  - name: a\n    varience: [1]\n",
     "dataset.yaml:5: there is no key varience; did you mean variance?"},
    {HEAD "groups:\n  - name: a\n    test: [1]\n", "dataset.yaml:5: there is no key test"},
    {HEAD "groups:\n  - kind: full\n", "name is missing"},
    {HEAD "groups:\n  - name: a\n    name: b\n", "name is there twice"},
    {HEAD "groups:\n  - name: \"\"\n", "dataset.yaml:4: name: expected a word, found nothing"},
    {HEAD "groups:\n  - name: a\n    kind: round\n",
     "dataset.yaml:5: kind: expected isotropic, diagonal or full, found round"},
    {HEAD "groups:\n  - name: a\n    learn: maybe\n", "dataset.yaml:5: learn: expected true or false, found maybe"},
    {HEAD "groups:\n  - name: a\n    variance: 3\n", "dataset.yaml:5: variance: expected a list, found a word"},
    {HEAD "groups:\n  - name: a\n    variance:\n      - 1\n      - x\n",
     "dataset.yaml:7: variance: expected a number, found x"},
    {HEAD "groups:\n  - name: a\n    variance: []\n", "variance: Insufficient entries"},
    {HEAD "groups:\n  - name: a\n    variance: [1, 2, 3, 4, 5, 6, 7]\n", "variance: Excessive entries (6 max)"},
    {HEAD "groups:\n  - name: a\n    variance: [1, -2, 1]\n", "dataset.yaml: noise model \"a\""},
    {HEAD "groups:\n  - name: a\n    variance: [1, .nan, 1]\n", "variance: expected a number, found .nan"},
    {HEAD "groups:\n  - name: a\n    variance: [1, nan, 1]\n", "dataset.yaml: noise model \"a\""},
    {HEAD "groups:\n  - name: a\n    variance: [1, 1e999, 1]\n", "dataset.yaml: noise model \"a\""},
    {HEAD "groups:\n  - name: a\n    covariance: [1, 2, 3]\n",
     "group a: covariance is rows one after the other, n x n numbers, found 3"},
    {HEAD "groups:\n  - name: a\n    covariance: [1, 2, 2, 1]\n", "dataset.yaml: noise model \"a\""},
    {HEAD "groups:\n  - name: a\n    covariance: [1]\n    variance: [1]\n",
     "group a: variance or covariance, found both"},
    {HEAD "groups:\n  - name: a\n    kind: isotropic\n    variance: [1, 2]\n", "group a: isotropic has one variance"},
    {HEAD "groups:\n  - name: a\n    kind: diagonal\n    covariance: [1]\n",
     "group a: a covariance is learned as kind full"},
    {HEAD "groups:\n  - name: a\n    bounds: [1]\n", "bounds: Insufficient entries"},
    {HEAD "groups:\n  - name: a\n    bounds: [2, 1]\n", "group a: the lower bound 2 is above the upper bound 1"},
    {HEAD "groups:\n  - name: a\n    bounds: [0, 1]\n",
     "group a: a bound of a variance is positive and finite, found 0"},
    {HEAD "groups:\n  - name: a\n    bounds: [1, inf]\n",
     "group a: a bound of a variance is positive and finite, found inf"},
    {HEAD "groups:\n  - name: a\n    bounds: [1, nan]\n",
     "group a: a bound of a variance is positive and finite, found nan"},
    {HEAD "groups:\n  - name: a\n    bounds: [1, 2]\n    lower: [1]\n", "beside it neither lower nor upper"},
    {HEAD "groups:\n  - name: a\n    lower: [1, 2, 3]\n    upper: [1, 2]\n", "the same number of entries"},
    {HEAD "groups:\n  - name: a\n    lower: [1, 2, 3]\n    upper: [2]\n",
     "group a: the lower bound 3 is above the upper bound 2"},
    {HEAD "groups:\n  - name: a\n    kind: full\n    lower: [1, 2, 3]\n",
     "one bound below and one above, those of its eigenvalues"},
    {HEAD "groups:\n  - name: a\n    unit: [0]\n", "group a: a unit is positive and finite, found 0"},
    {HEAD "groups:\n  - name: a\n    unit: [1, nan]\n", "group a: a unit is positive and finite, found nan"},
    {HEAD "groups:\n  - name: a\n    unit: [1, inf]\n", "group a: a unit is positive and finite, found inf"},
    {HEAD "groups:\n  - name: a\n    unit: 1\n", "unit: expected a list, found a word"},
    {HEAD "groups:\n  - name: a\n  - name: b\n  - name: a\n", "group a: there is one of this name above"},
    {HEAD "train:\n", "dataset.yaml:3: train: expected a list, found a word"},
    {HEAD "train: [{a: b}]\n", "dataset.yaml:3: train: expected a word, found keys with values"},
    {HEAD "train: [nowhere.ctseq]\n", "nowhere.ctseq: No such file or directory ("},
    {HEAD "train: [&x a.ctseq, *x]\n", "train: aliases (*name) are not read here"},
    {HEAD "train: [a.ctseq\n", "not YAML"},
    {HEAD "---\nformat: x\n", "a second document begins"},
    {HEAD "groups:\n  - name: a\n\tkind: full\n", "not YAML"},
    {HEAD "train: [1.ctseq]\ngroups: [{name: odom, variance: [1, 2]}]\n",
     "group odom: variance needs 3 numbers, or one, found 2"},
    {HEAD "train: [1.ctseq]\ngroups: [{name: odom, covariance: [1, 0, 0, 1]}]\n",
     "group odom: covariance needs 3 x 3 numbers, found 2 x 2"},
    {HEAD "train: [1.ctseq]\ngroups: [{name: odom, lower: [1, 2]}]\n",
     "group odom: noise model odom has 3 coordinates"},
    {HEAD "train: [1.ctseq]\ngroups: [{name: odom, unit: [1, 2]}]\n",
     "group odom: noise model odom has 3 coordinates, which unit wants a number each of, or one; found 2"},
};

static void test_a_broken_yaml_is_refused_by_file_line_and_what_was_expected(void)
{
    begin();
    put("1.ctseq", sequence("odom", 1));
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        put("dataset.yaml", BAD[i].text);
        refused(at(""), CT_DATASET_ALL, BAD[i].words);
    }
    put("dataset.yaml", HEAD "train: []\ntest: [1.ctseq]\n");
    refused(at(""), CT_DATASET_TRAIN, "it lists no training sequences");
    begin();
    put("dataset.yaml", HEAD);
    refused(at(""), CT_DATASET_ALL,
            "dataset.yaml: it lists no sequences (train: and test: are lists of files), nor are there any beside it");
}

/* ---- writing ---- */

static ct_dataset *made(const char *preset, int trains, int tests)
{
    ct_dataset    *d = NULL;
    ct_nav_options o;
    ct_err         err = {0};
    CHECK(ct_nav_preset(preset, CT_SE2, &o));
    o.least = o.most = 12;
    CHECK_OK(ct_dataset_new(&d, &err), err);
    d->train = calloc((size_t)trains + 1, sizeof *d->train);
    d->test = calloc((size_t)tests + 1, sizeof *d->test);
    for (; d->trains < trains; d->trains++)
        CHECK_OK(ct_simulate_nav(&o, (uint64_t)d->trains, d->noise, &d->train[d->trains], &err), err);
    for (; d->tests < tests; d->tests++)
        CHECK_OK(ct_simulate_nav(&o, (uint64_t)(100 + d->tests), d->noise, &d->test[d->tests], &err), err);
    return d;
}

static void add_group(ct_dataset *d, const char *name, int learn, int kind)
{
    d->group = realloc(d->group, (size_t)(d->groups + 1) * sizeof *d->group);
    ct_dataset_group *g = &d->group[d->groups++];
    *g = (ct_dataset_group){.learn = learn, .kind = kind};
    for (int i = 0; i < CT_NOISE_DIM_MAX; i++) g->lower[i] = g->upper[i] = NAN;
    g->name = malloc(strlen(name) + 1);
    strcpy(g->name, name);
}

static void check_same_groups(const ct_dataset *a, const ct_dataset *b)
{
    CHECK(a->groups == b->groups);
    for (int32_t i = 0; i < a->groups && i < b->groups; i++) {
        const ct_dataset_group *g = &a->group[i], *h = &b->group[i];
        CHECK(!strcmp(g->name, h->name) && g->learn == h->learn && g->kind == h->kind);
        for (int k = 0; k < CT_NOISE_DIM_MAX; k++) {
            CHECK(g->lower[k] == h->lower[k] || (isnan(g->lower[k]) && isnan(h->lower[k])));
            CHECK(g->upper[k] == h->upper[k] || (isnan(g->upper[k]) && isnan(h->upper[k])));
            CHECK(g->unit[k] == h->unit[k] || (!(g->unit[k] > 0) && isnan(h->unit[k])));
        }
    }
}

static void test_what_is_written_is_read_back_to_the_bit(void)
{
    const double third[3] = {1.0 / 3, 2.0 / 7, 1e-17}, S[9] = {1, 0.1, 0, 0.1, 2, 1.0 / 3, 0, 1.0 / 3, 3};
    ct_dataset  *d = made("D3", 2, 3);
    ct_err       err = {0};
    CHECK_OK(ct_noise_set_variance(d->noise, ct_noise_find(d->noise, "odom@0"), third, &err), err);
    CHECK_OK(ct_noise_set_covariance(d->noise, ct_noise_find(d->noise, "gps@1"), S, &err), err);
    add_group(d, "odom@0", 1, -1);
    add_group(d, "odom@1", 1, CT_NOISE_DIAGONAL);
    add_group(d, "gps", 1, CT_NOISE_FULL);
    add_group(d, "gps@1", 1, CT_NOISE_FULL);
    add_group(d, "first_pose", 0, CT_NOISE_ISOTROPIC);
    add_group(d, "na\xc3\xafve: \"x\"\\ \xc2\x80 \xf0\x9f\xa4\x96", 0, -1); /* of no model */
    d->group[0].lower[0] = 1e-3, d->group[0].lower[1] = 1.0 / 3, d->group[0].lower[2] = 0.2;
    for (int i = 0; i < CT_NOISE_DIM_MAX; i++)
        d->group[1].lower[i] = 1e-5, d->group[1].upper[i] = 0.1, d->group[2].upper[i] = 7,
        d->group[3].unit[i] = 1.0 / 3;
    /* of the others nothing is said */
    d->group[1].unit[0] = 0.1, d->group[1].unit[1] = 1, d->group[1].unit[2] = 1.0 / 7, d->group[1].unit[3] = NAN;
    begin();
    CHECK_OK(ct_dataset_write(d, at(""), &err), err);
    ct_dataset *again = must_read(at(""), CT_DATASET_ALL);
    check_same_groups(d, again);
    CHECK(d->trains == again->trains && d->tests == again->tests);
    for (int32_t i = 0; i < d->trains + d->tests; i++) {
        const run a = {.noise = d->noise, .seq = i < d->trains ? d->train[i] : d->test[i - d->trains]};
        const run b = {.noise = again->noise, .seq = i < d->trains ? again->train[i] : again->test[i - d->trains]};
        check_same_run(&a, &b, 1);
    }
    char *text = get("dataset.yaml");
    CHECK(strstr(text, "  - name: odom@0\n    variance: [0.333333333333333") &&
          strstr(text, "    bounds: [1e-05, 0.1]\n") && strstr(text, "  - test/0002.ctseq\n"));
    CHECK(strstr(text, "    unit: [0.1, 1, 0.14285714285714285]\n    learn: true\n  - name: gps\n") &&
          strstr(text, "    unit: [0.3333333333333333]\n"));
    CHECK(strstr(text, "  - name: first_pose\n    variance: [1e-06]\n    kind: isotropic\n    learn: false\n"));
    CHECK_OK(ct_dataset_write(again, at(""), &err), err); /* over itself */
    char *text_again = get("dataset.yaml");
    CHECK(!strcmp(text, text_again));
    free(text);
    free(text_again);
    ct_dataset_free(again);
    ct_dataset_free(d);
}

static void test_a_run_in_both_parts_is_written_once(void)
{
    ct_dataset *d = made("D1", 2, 0);
    ct_err      err = {0};
    d->test = realloc(d->test, 2 * sizeof *d->test);
    d->test[0] = d->train[1];
    d->tests = 1;
    begin();
    CHECK_OK(ct_dataset_write(d, at(""), &err), err);
    CHECK(access(at("test/0000.ctseq"), F_OK) != 0);
    ct_dataset *again = must_read(at(""), CT_DATASET_ALL);
    CHECK(again->trains == 2 && again->tests == 1 && again->test[0] == again->train[1]);
    ct_dataset_free(again);
    ct_dataset_free(d);
}

static void test_what_cannot_be_written_is_refused(void)
{
    ct_dataset *d = made("D1", 1, 0), *empty = NULL;
    ct_err      err = {0};
    begin();
    CHECK_OK(ct_dataset_new(&empty, &err), err);
    CHECK_REFUSED(ct_dataset_write(empty, at("x"), &err), err, "without sequences");
    put("file", "");
    CHECK_REFUSED(ct_dataset_write(d, at("file"), &err), err, "file: the folder cannot be made");
    CHECK_REFUSED(ct_dataset_write(d, at("no/where"), &err), err, "no/where: the folder cannot be made: No such file");
    add_group(d, "bad\xff", 1, -1);
    CHECK_REFUSED(ct_dataset_write(d, at("x"), &err), err, "a name in dataset.yaml must be UTF-8");
    CHECK(access(at("x/dataset.yaml"), F_OK) != 0);
    strcpy(d->group[0].name, "good");
    d->group[0].lower[0] = 0;
    CHECK_REFUSED(ct_dataset_write(d, at("x"), &err), err,
                  "group \"good\": a bound of a variance is positive and finite");
    d->group[0].lower[0] = NAN;
    d->group[0].unit[1] = -1;
    CHECK_REFUSED(ct_dataset_write(d, at("x"), &err), err, "group \"good\": a unit is positive and finite");
    ct_dataset_free(empty);
    ct_dataset_free(d);
    ct_dataset_free(NULL);
}

/* ---- pooling ---- */

static void test_pooling_gives_all_edges_their_mean(void)
{
    begin();
    put("1.g2o", "VERTEX_SE2 0 0 0 0\nVERTEX_SE2 1 1 0 0\nEDGE_SE2 0 1 1 0 0 1 0 0 1 0 1\nEDGE_SE2 0 1 1 0 0 1 0 0 1 0 "
                 "1\nEDGE_SE2 0 1 1 0 0 0.25 0 0 0.5 0 1\n");
    put("2.g2o", "VERTEX_SE2 0 0 0 0\nVERTEX_SE2 1 1 0 0\nEDGE_SE2 0 1 1 0 0 0.5 0 0 1 0 1\nEDGE_PRIOR_SE2 0 0 0 0 1 0 "
                 "0 1 0 1\n");
    ct_dataset *d = must_read(at(""), CT_DATASET_ALL);
    ct_err      err = {0};
    CHECK(ct_noise_count(d->noise) == 4);
    CHECK_OK(ct_dataset_pool(d, "prior_se2", &err), err); /* there is but one */
    CHECK_OK(ct_dataset_pool(d, "nothing", &err), err);
    CHECK(ct_noise_count(d->noise) == 4 && variance(d, "between_se2")[0] == 1);
    CHECK_OK(ct_dataset_pool(d, "between_se2", &err), err);
    const double *v = variance(d, "between_se2");
    CHECK_NEAR(v[0], (1 + 1 + 4 + 2) / 4.0, 1e-15);
    CHECK_NEAR(v[1], (1 + 1 + 2 + 1) / 4.0, 1e-15);
    CHECK_NEAR(v[2], 1, 1e-15);
    for (int i = 0; i < 2; i++)
        for (int32_t f = 0; f < ct_graph_factors(d->train[i]->graph); f++) {
            const ct_factor k = ct_graph_factor(d->train[i]->graph, f);
            CHECK(!strcmp(ct_noise_get(d->noise, k.noise)->name, k.ops->name));
        }
    CHECK_OK(ct_graph_check_noise(d->train[0]->graph, d->noise, &err), err);
    ct_dataset_free(d);
}

static void test_pooling_makes_the_model_if_there_is_none(void)
{
    begin();
    put("1.ctseq", "covtune-sequence 1\nnoise e#1 isotropic 3 1 huber 2\nnoise e#2 full 3 0.5 0 0.5 3 0 0 0 3 \nnoise "
                   "e#x isotropic 2 1\nvar a SE2 0 0 0\nvar b SE2 0 0 0\n"
                   "factor between_se2 e#1 a b 1 0 0\nfactor between_se2 e#2 a b 1 0 0\n");
    ct_dataset *d = must_read(at(""), CT_DATASET_ALL);
    ct_err      err = {0};
    CHECK_OK(ct_dataset_pool(d, "e", &err), err);
    const ct_noise_model *m = ct_noise_get(d->noise, ct_noise_find(d->noise, "e"));
    CHECK(m->kind == CT_NOISE_FULL && m->robust.kind == CT_ROBUST_HUBER && m->covariance[0] == 2 &&
          m->covariance[1] == 0.25);
    CHECK(ct_graph_factor(d->train[0]->graph, 1).noise == ct_noise_find(d->noise, "e"));
    CHECK(m->row && !strcmp(m->row[2].name, "yaw") && !strcmp(m->row[2].unit, "rad"));
    ct_dataset_free(d);
    put("1.ctseq",
        "covtune-sequence 1\nnoise e#1 isotropic 3 1\nnoise e#2 isotropic 2 1\nvar a SE2 0 0 0\nvar b SE2 0 0 0\n"
        "factor between_se2 e#1 a b 1 0 0\nfactor position_se2 e#2 a 1 0\n");
    d = must_read(at(""), CT_DATASET_ALL);
    CHECK_REFUSED(ct_dataset_pool(d, "e", &err), err, "the group \"e\" have 3 and 2 coordinates");
    ct_dataset_free(d);
}

/* What a program sets is what readers would have made of a file. */
static void test_a_dataset_is_built_from_arrays(void)
{
    ct_dataset  *d = NULL;
    ct_graph    *graph = NULL;
    ct_sequence *seq = NULL;
    ct_err       err = {0};
    const double sigma2[3] = {0.01, 0.01, 0.01}, stamp[2] = {0.5, NAN}, wrong[2] = {INFINITY, 0};
    ct_se2       truth[2] = {ct_se2_make(0, 0, 0), ct_se2_make(1, 0, 0.1)};
    uint8_t      known[2] = {7, 3};
    char         text[64];
    CHECK_OK(ct_dataset_new(&d, &err), err);
    CHECK_OK(ct_graph_new(&graph, &err), err);
    CHECK_OK(ct_graph_add_variables(graph, CT_SE2, 2, NULL, NULL, &err), err);
    CHECK_OK(ct_graph_add_between_se2(graph, 0, 1, truth[1], 0, &err), err);
    CHECK_OK(ct_sequence_new(graph, &seq, &err), err);
    CHECK_OK(ct_sequence_set_truth(seq, (const double *)truth, known, &err), err);
    CHECK_OK(ct_sequence_set_times(seq, stamp, &err), err);
    CHECK_OK(ct_sequence_set_name(seq, "a", "monday", &err), err);
    CHECK(!strcmp(ct_sequence_label(seq), "a") && !strcmp(ct_sequence_recording(seq, text, sizeof text), "monday"));
    CHECK(seq->stamp[0] == 0.5 && isnan(seq->stamp[1]) && seq->known[1] == 3 && seq->truth[4] == 1);
    CHECK(ct_sequence_set_times(seq, wrong, &err) == CT_E_ARGUMENT && seq->stamp[0] == 0.5);
    known[0] = 8;
    CHECK(ct_sequence_set_truth(seq, (const double *)truth, known, &err) == CT_E_ARGUMENT && seq->known[0] == 7);
    known[0] = 7, truth[0].x = NAN;
    CHECK(ct_sequence_set_truth(seq, (const double *)truth, known, &err) == CT_E_ARGUMENT && seq->truth[0] == 0);
    CHECK_OK(ct_sequence_set_name(seq, "b", NULL, &err), err);
    CHECK(ct_dataset_add(d, seq, CT_DATASET_TRAIN, &err) != CT_OK && d->trains == 0); /* its noise model is not there */
    CHECK_OK(ct_noise_add_diagonal(d->noise, "odom", 3, sigma2, NULL, &err), err);
    CHECK(ct_dataset_add(d, seq, CT_DATASET_ALL, &err) == CT_E_ARGUMENT);
    CHECK_OK(ct_dataset_add(d, seq, CT_DATASET_TEST, &err), err);
    CHECK(d->tests == 1 && d->test[0] == seq && !strcmp(ct_noise_get(d->noise, 0)->row[2].name, "yaw"));
    ct_dataset_free(d);
}

int main(void)
{
    RUN(test_a_dataset_is_built_from_arrays);
    RUN(test_a_yaml_names_groups_and_runs);
    RUN(test_a_yaml_in_the_working_folder_is_found);
    RUN(test_folders_train_and_test_are_read_in_order_of_names);
    RUN(test_a_folder_of_files_and_one_file_are_both_parts);
    RUN(test_where_nothing_is_found_it_is_said_what_was_looked_for);
    RUN(test_notes_of_many_files_are_said_once);
    RUN(test_leo_logs_are_a_dataset);
    RUN(test_files_with_other_numbers_for_a_model_are_refused);
    RUN(test_models_that_each_file_numbers_get_other_numbers);
    RUN(test_logs_with_other_sigmas_are_refused);
    RUN(test_a_group_speaks_of_its_regimes_and_numbers);
    RUN(test_a_broken_yaml_is_refused_by_file_line_and_what_was_expected);
    RUN(test_what_is_written_is_read_back_to_the_bit);
    RUN(test_a_run_in_both_parts_is_written_once);
    RUN(test_what_cannot_be_written_is_refused);
    RUN(test_pooling_gives_all_edges_their_mean);
    RUN(test_pooling_makes_the_model_if_there_is_none);
    return ct_test_end();
}
