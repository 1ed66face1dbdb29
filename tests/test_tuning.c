/* test_tuning.c: TUNE.yaml: what it says becomes a problem; every mistake has its line and a sentence. */
#define _GNU_SOURCE
#include "manual_test.h"
#include "tuning_test.h"

#include <jansson.h>
#include <math.h>

#define X(constant, name, heading) heading,
static const char *const HEADING[] = {CT__TUNING_SECTION_LIST(X)};
#undef X

static manual_of manual = {&ct__tuning_schema, HEADING, "docs/tune.md", NULL};

/* ---- schema and manual ---- */

static void test_rows_of_the_table_are_complete(void) { schema_rows_are_complete(&ct__tuning_schema); }
static void test_the_manual_has_every_key_in_its_section(void) { manual_has_every_key(&manual); }
static void test_the_tables_of_the_manual_have_no_other_keys(void) { manual_has_no_other_keys(&manual); }

static void test_the_json_schema_has_every_key(void)
{
    char        *text = NULL;
    json_error_t why;
    ct_err err = {0};
    size_t keys = 0;
    CHECK_OK(ct_tuning_schema(&text, &err), err);
    json_t *schema = text ? json_loads(text, JSON_REJECT_DUPLICATES, &why) : NULL;
    CHECK(schema != NULL);
    for (int s = 0; s < CT__TUNING_SECTION_COUNT; s++)
        keys += json_object_size(json_object_get(
            json_object_get(json_object_get(schema, "$defs"), ct__schema_section(&ct__tuning_schema, s)),
            "properties"));
    CHECK(keys == (size_t)ct__tuning_schema.keys);
    json_decref(schema);
    free(text);
}

/* ---- what is read ---- */

static ct_tuning *read_text(const char *text)
{
    ct_err     err = {0};
    ct_tuning *t = NULL;
    put_file("tune.yaml", text);
    CHECK_OK(ct_tuning_read(in_folder("tune.yaml"), &t, &err), err);
    return t;
}

static const ct_tune_parameter *parameter(const ct_tuning *t, const char *name)
{
    static const ct_tune_parameter none;
    const ct_tune_problem         *p = ct_tuning_problem(t);
    for (int32_t i = 0; i < p->parameters; i++)
        if (!strcmp(p->parameter[i].name, name)) return &p->parameter[i];
    printf("  no parameter %s\n", name);
    CHECK(!"there is such a parameter");
    return &none;
}

static void test_a_short_file_becomes_a_problem(void)
{
    ct_tuning *t = read_text(MINIMAL);
    if (!t) return;
    const ct_tune_problem   *p = ct_tuning_problem(t);
    const ct_tune_parameter *odom = parameter(t, "odom"), *gps = parameter(t, "gps");
    CHECK(p->parameters == 2 && p->logs == 3 && p->spreads == 0);
    CHECK(odom->start == 0.1 && odom->lower == 0.1 / 1e3 && odom->upper == 0.1 * 1e3 && odom->log && odom->tie < 0);
    CHECK(gps->start == 0.5 && gps->lower == 0.01 && gps->upper == 10 && gps->quantity == CT_QUANTITY_SIGMA);
    CHECK(!strcmp(p->log[0].name, "a") && !p->log[0].test && !strcmp(p->log[2].name, "c") && p->log[2].test);
    CHECK(!strcmp(p->log[1].recording, "b"));
    CHECK(t->places == 2 && t->place[0].kind == CT__PLACE_FILE && t->place[0].parameter == 0);
    CHECK(t->command.count == 4 && !strcmp(t->log[2].truth, in_folder("test/c.tum")));
    CHECK(t->time_limit_s == 600 && t->memory_limit == 0 && t->track.align == CT_ALIGNMENT_NONE);
    CHECK(t->estimate_options.source.format == CT_SOURCE_TUM && t->estimate_options.estimate == 1);
    CHECK(ct_tuning_options(t).method == CT_TUNE_DFGN && isnan(ct_tuning_options(t).prior));
    ct_tuning_free(t);
}

static void test_names_of_kept_estimates_tell_values_apart(void)
{
    ct_tuning *t = read_text(MINIMAL);
    if (!t) return;
    const double a[] = {0.1, 0.5}, b[] = {0.1, 0.5000000001};
    char name[4][64];
    ct_tuning_estimate_name(t, 2, a, name[0]);
    ct_tuning_estimate_name(t, 2, b, name[1]);
    ct_tuning_estimate_name(t, 1, a, name[2]);
    CHECK(strcmp(name[0], name[1]) && strcmp(name[0], name[2]) && !strchr(name[0], '/'));
    CHECK(!strcmp(ct_tuning_estimate_name(t, 2, a, name[3]), name[0]));
    CHECK(!strcmp(ct_tuning_estimate_name(t, 2, NULL, name[3]), "log2-truth.txt"));
    ct_tuning_free(t);
}

static const char FULL[] = "format: covtune-tune\n"
                           "version: 1\n"
                           "command: ./run {params} {log} {estimate} {rate} --extra {extra} ${{HOME}} {cfg}\n"
                           "shell: true\n"
                           "environment: {EKF_LOG: \"{folder}/log\", EMPTY: \"\"}\n"
                           "time_limit: 20\n"
                           "memory_limit: 1.5G\n"
                           "niceness: 5\n"
                           "files:\n"
                           "  params: {path: ekf.yaml, format: yaml}\n"
                           "  cfg: ekf.cfg\n"
                           "parameters:\n"
                           "  odom: {in: params, key: noise.odom, is: variance, group: a}\n"
                           "  gps: {in: params, key: noise.gps, same_as: odom, times: 5, upper: 1000}\n"
                           "  Q: {in: params, key: \"noise.Q[0, 1]\", separate: true, group: a}\n"
                           "  P: {in: params, key: \"noise.P[0, 3]\", is: information}\n"
                           "  bias: {in: params, key: bias, is: number, lower: -1, upper: 1}\n"
                           "  rate: {start: 2, environment: RATE}\n"
                           "  gate: {start: 3}\n"
                           "spread: {a: 1000}\n"
                           "logs:\n"
                           "  train:\n"
                           "    - {log: train/a.csv, truth: \"train/a.t?m\", also: {extra: train/a.csv}, name: first}\n"
                           "    - {log: train/b.csv, truth: train/b.tum, also: {extra: train/b.csv}, recording: r}\n"
                           "truth: {format: tum, mount: [1, 2, 3]}\n"
                           "estimate:\n"
                           "  file: out.csv\n"
                           "  time: t\n"
                           "  position: [x, y]\n"
                           "  yaw: yaw\n"
                           "  covariance: [a, b, c]\n"
                           "  covariance_frame: world\n"
                           "  align: yaw\n"
                           "  offset: -1700000000.5\n" /* of a clock that counts from 1970 */
                           "  gap: 2\n"
                           "  skip: 1\n"
                           "loss: {type: relative, over: 10 m, rotation: 4, robust: \"huber:0.5\", lost: 7, nees: 1}\n"
                           "method: {name: lm, points: 50, folds: 3, prior: 0, repeats: 2, global: never, seed: 9}\n";

static void test_a_long_file_has_all_its_values(void)
{
    put_file("ekf.cfg", "gate = {{gate}}\nagain = {{gate}}\n");
    ct_tuning *t = read_text(FULL);
    if (!t) return;
    const ct_tune_parameter *odom = parameter(t, "odom"), *gps = parameter(t, "gps"), *P = parameter(t, "P");
    const ct_tune_options    o = ct_tuning_options(t);
    CHECK(t->shell && t->command.count == 1 && t->environment.count == 2 && t->niceness == 5);
    CHECK(!strcmp(t->environment.word[0], "EKF_LOG={folder}/log") && t->memory_limit == (int64_t)3 << 29);
    CHECK(odom->quantity == CT_QUANTITY_VARIANCE && fabs(odom->lower / 1e-7 - 1) < 1e-12 && odom->group == 0);
    CHECK(odom->upper == 200); /* narrowed by the tie */
    CHECK(gps->tie == (int32_t)(odom - ct_tuning_problem(t)->parameter) && gps->factor == 5 && gps->start == 0.5);
    CHECK(gps->upper == 1000 && gps->quantity == CT_QUANTITY_VARIANCE);
    CHECK(parameter(t, "Q[0]")->start == 0.01 && parameter(t, "Q[1]")->start == 0.02 && P->start == 0.3);
    CHECK(P->quantity == CT_QUANTITY_INFORMATION && fabs(P->upper / 3e5 - 1) < 1e-12);
    CHECK(parameter(t, "bias")->log == 0 && parameter(t, "bias")->start == 0);
    CHECK(t->problem.spreads == 1 && t->problem.spread[0] == 1000);
    int files = 0, variables = 0, arguments = 0;
    for (int32_t i = 0; i < t->places; i++) {
        files += t->place[i].kind == CT__PLACE_FILE;
        variables += t->place[i].kind == CT__PLACE_ENVIRONMENT && !strcmp(t->place[i].name, "RATE");
        arguments += t->place[i].kind == CT__PLACE_ARGUMENT;
    }
    CHECK(ct_tuning_in_file(t, 0) && !ct_tuning_in_file(t, (int32_t)(parameter(t, "rate") - t->parameter)));
    CHECK(files == 9 && variables == 1 && arguments == 1); /* odom gps Q Q P P bias gate gate; rate twice */
    CHECK(t->problem.logs == 2 && !strcmp(t->log[0].name, "first") && !strcmp(t->log[1].recording, "r"));
    CHECK(t->log[0].files == 2 && !strcmp(t->log[0].file_name[1], "extra"));
    CHECK(!strcmp(t->log[0].truth, in_folder("train/a.tum")));
    CHECK(!strcmp(t->estimate, "{folder}/out.csv") && t->estimate_options.covariances == 3);
    CHECK(t->estimate_options.covariance_frame == CT_COVARIANCE_WORLD && !strcmp(t->estimate_options.yaw, "yaw"));
    CHECK(t->truth_options.mounts == 3 && t->truth_options.mount[2] == 3 && t->estimate_options.mounts == 0);
    CHECK(t->track.align == CT_ALIGNMENT_YAW && t->track.offset_s == -1700000000.5 && t->track.gap_s == 2);
    CHECK(t->track.skip_s == 1 && t->track.type == CT_TRACK_RELATIVE && t->track.delta == 10);
    CHECK(t->track.delta_unit == CT_DELTA_METRES && t->track.rotation == 4 && t->track.lost == 7);
    CHECK(t->track.robust.kind == CT_ROBUST_HUBER && t->track.robust.width == 0.5 && t->track.nees == 1);
    CHECK(o.method == CT_TUNE_LM && o.points == 50 && o.folds == 3 && o.prior == 0 && o.repeats == 2);
    CHECK(o.global == 0 && o.seed == 9);
    ct_tuning_free(t);
}

/* Test and training logs with the same parts have names of their own; * pairs logs with truths. */
static void test_stars_pair_logs_with_truths(void)
{
    static const char TEXT[] = "format: covtune-tune\nversion: 1\n"
                               "command: [./run, \"{odom}\", \"{log}\", \"{estimate}\"]\n"
                               "parameters: {odom: {start: 1}}\n"
                               "logs:\n"
                               "  train: {log: \"train/*.csv\", truth: \"train/*.tum\"}\n"
                               "  test: [{log: test/c.csv, truth: test/c.tum}]\n";
    ct_tuning *t = read_text(TEXT);
    if (!t) return;
    CHECK(t->problem.logs == 3 && !strcmp(t->log[0].name, "a") && !strcmp(t->log[2].name, "c"));
    CHECK(!strcmp(t->log[1].truth, in_folder("train/b.tum")));
    ct_tuning_free(t);
    static const char SAME[] = "format: covtune-tune\nversion: 1\n"
                               "command: [./run, \"{odom}\", \"{log}\", \"{estimate}\"]\n"
                               "parameters: {odom: {start: 1}}\n"
                               "logs:\n"
                               "  train: {log: \"train/{run}.csv\", truth: \"train/{run}.tum\"}\n"
                               "  test: {log: \"train/{run}.tum\", truth: \"train/{run}.tum\"}\n";
    t = read_text(SAME);
    if (!t) return;
    CHECK(t->problem.logs == 4 && !strcmp(t->log[2].name, "test-a") && strcmp(t->log[2].name, t->log[3].name));
    ct_tuning_free(t);
}

/* {run}.txt matches 1_truth.txt, too: of 1.txt it is the truth, and no log. */
static void test_truths_beside_their_logs_are_no_logs(void)
{
    static const char *const PATTERN[] = {"{run}", "*"};
    mkdir(in_folder("mixed"), 0755);
    for (int i = 1; i < 4; i++) {
        char name[64];
        snprintf(name, sizeof name, "mixed/%d.txt", i);
        put_file(name, "t,v\n0,1\n");
        snprintf(name, sizeof name, "mixed/%d_truth.txt", i);
        put_file(name, "0 0 0 0 0 0 0 1\n1 1 0 0 0 0 0 1\n");
        snprintf(name, sizeof name, "mixed/%d_gps.txt", i);
        put_file(name, "t,x\n0,1\n");
    }
    for (int k = 0; k < 2; k++) {
        const char *run = PATTERN[k];
        char text[600];
        snprintf(text, sizeof text,
                 "format: covtune-tune\nversion: 1\n"
                 "command: [./run, \"{odom}\", \"{log}\", \"{gps}\", \"{estimate}\"]\n"
                 "parameters: {odom: {start: 1}}\nlogs:\n"
                 "  train: {log: \"mixed/%s.txt\", truth: \"mixed/%s_truth.txt\", also: {gps: \"mixed/%s_gps.txt\"}}\n",
                 run, run, run);
        ct_tuning *t = read_text(text);
        if (!t) continue;
        CHECK(t->problem.logs == 3 && !strcmp(t->log[2].name, "3"));
        CHECK(!strcmp(t->log[2].truth, in_folder("mixed/3_truth.txt")));
        ct_tuning_free(t);
    }
}

/* A folder can be a log; a file without parameters is passed on as it is. */
static void test_logs_may_be_folders(void)
{
    static const char TEXT[] = "format: covtune-tune\nversion: 1\n"
                               "command: [python3, \"{program}\", \"{odom}\", \"{log}\", \"{estimate}\"]\n"
                               "files: {program: ekf.py}\n"
                               "parameters: {odom: {start: 1}}\n"
                               "logs:\n"
                               "  train: {log: \"drives/{run}\", truth: \"drives/{run}/truth/gt.tum\"}\n";
    mkdir(in_folder("drives"), 0755);
    for (int i = 1; i < 3; i++) {
        char name[64];
        snprintf(name, sizeof name, "drives/%d", i);
        mkdir(in_folder(name), 0755);
        snprintf(name, sizeof name, "drives/%d/truth", i);
        mkdir(in_folder(name), 0755);
        snprintf(name, sizeof name, "drives/%d/truth/gt.tum", i);
        put_file(name, "0 0 0 0 0 0 0 1\n1 1 0 0 0 0 0 1\n");
        snprintf(name, sizeof name, "drives/%d/truth/more.tum", i);
        put_file(name, "");
    }
    put_file("ekf.py", "print(f'{{x}}: {1}')\n");
    ct_tuning *t = read_text(TEXT);
    if (!t) return;
    CHECK(t->problem.logs == 2 && !strcmp(t->log[1].file_path[0], in_folder("drives/2")));
    CHECK(t->file[0].config == NULL && !strcmp(t->log[0].name, "1"));
    ct_tuning_free(t);
}

/* A text with one part replaced by another; edited: of MINIMAL. */
static char *edited_text(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    char       *out = NULL;
    if (!at || asprintf(&out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from)) < 0) return NULL;
    return out;
}

static char *edited(const char *from, const char *to) { return edited_text(MINIMAL, from, to); }

/* On a linear scale from 0.1 to 50 a search never saw the widths below 2, where the minimum was. */
static void test_width_of_a_kernel_is_searched_by_its_logarithm(void)
{
    static const struct {
        const char *is;
        int log;
    } CASE[] = {
        {"is: number, lower: 0.1, upper: 50}", 1},
        {"is: number, lower: 0.1, upper: 50, scale: linear}", 0},
        {"is: number, lower: 0.4, upper: 0.9}", 0}, /* no order of magnitude */
        {"is: number, lower: 0, upper: 50}", 0},
        {"is: number, lower: -0.2, upper: 2}", 0}, /* a delay */
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        char      *text = edited("lower: 0.01, upper: 10}", CASE[i].is);
        ct_tuning *t = text ? read_text(text) : NULL;
        CHECK(t && parameter(t, "gps")->log == CASE[i].log);
        ct_tuning_free(t);
        free(text);
    }
}

static void test_files_that_change_are_noticed(void)
{
    ct_err     err = {0};
    ct_tuning *t = read_text(MINIMAL);
    if (!t) return;
    CHECK_OK(ct_tuning_unchanged(t, &err), err);
    put_file("train/a.csv", "t,v\n0,1\n1,1\n2,1\n");
    CHECK_REFUSED(ct_tuning_unchanged(t, &err), err, "has changed since it was read");
    remove(in_folder("train/a.csv"));
    CHECK_REFUSED(ct_tuning_unchanged(t, &err), err, "train/a.csv: cannot be read");
    put_file("train/a.csv", "t,v\n0,1\n1,1\n");
    CHECK_OK(ct_tuning_unchanged(t, &err), err);
    ct_tuning_free(t);
}

/* To read a pipe would wait for a writer. */
static void test_logs_that_are_no_files(void)
{
    ct_err     err = {0};
    ct_tuning *t = NULL;
    char      *text = edited("{log: \"train/{run}.csv\", truth", "{log: train/a.pipe, truth");
    char      *whole = text ? edited_text(text, "train/{run}.tum", "train/a.tum") : NULL;
    mkfifo(in_folder("train/a.pipe"), 0600);
    put_file("tune.yaml", whole ? whole : "");
    CHECK_REFUSED(ct_tuning_read(in_folder("tune.yaml"), &t, &err), err, "train/a.pipe: is a device, pipe or socket");
    remove(in_folder("train/a.pipe"));
    free(text);
    free(whole);
}

static uint64_t digest_with(const char *from, const char *to)
{
    char      *text = edited(from, to);
    ct_tuning *t = text ? read_text(text) : NULL;
    const uint64_t digest = t ? ct_tuning_digest(t) : 0;
    ct_tuning_free(t);
    free(text);
    return digest;
}

/* Parameters that change places give other outcomes to the same values: old runs tell nothing of them. */
static void test_the_digest_tells_where_each_parameter_goes(void)
{
    static const char BOTH[] = "  odom: {key: noise.odom}\n  gps: {key: noise.gps, lower: 0.01, upper: 10}\n";
    const uint64_t as_is = digest_with("gps: {", "gps: {");
    CHECK(as_is && digest_with("lower: 0.01", "lower: 0.02") == as_is);
    CHECK(digest_with("noise.odom", "\"'noise'.odom\"") == as_is);
    CHECK(digest_with(BOTH, "  odom: {key: noise.gps}\n  gps: {key: noise.odom}\n") != as_is);
    CHECK(digest_with(BOTH, "  odom: {key: noise.odom}\n  gps: {key: 'noise.Q[0]'}\n") != as_is);
    CHECK(digest_with("noise.odom", "'noise.Q[1]'") != digest_with("noise.odom", "'noise.Q[2]'"));
    CHECK(digest_with("version: 1", "version: 1\nworking_folder: train") != as_is);
    CHECK(digest_with("version: 1", "version: 1\nworking_folder: train") !=
          digest_with("version: 1", "version: 1\nworking_folder: test"));
}

/* ---- mistakes ---- */

/* The sentence is that of a mistake in the line; alone 1: of the only one. */
static void check_among(int alone, const char *from, const char *to, int line, const char *sentence)
{
    ct_err             err = {0};
    ct_recipe_mistakes list = {0};
    ct_tuning         *t = NULL;
    char              *text = edited(from, to);
    CHECK(text != NULL);
    if (!text) return;
    put_file("tune.yaml", text);
    CHECK_OK(ct_tuning_check(in_folder("tune.yaml"), &list, &err), err);
    int right = 0;
    for (int32_t i = 0; i < list.count; i++)
        right |= list.mistake[i].line == line && strstr(list.mistake[i].text, sentence);
    right &= !alone || list.count == 1;
    for (int32_t i = 0; !right && i < list.count; i++)
        printf("  \"%s\": %d: %s\n", to, list.mistake[i].line, list.mistake[i].text);
    if (!right) printf("  wanted: %d: %s\n", line, sentence);
    CHECK(right);
    CHECK(ct_tuning_read(in_folder("tune.yaml"), &t, &err) == CT_E_PARSE && !t && strstr(err.text, "tune.yaml:"));
    ct_recipe_mistakes_free(&list);
    free(text);
}

static void check_mistake(const char *from, const char *to, int line, const char *sentence)
{
    check_among(1, from, to, line, sentence);
}

static void test_keys_and_values_that_are_wrong(void)
{
    check_mistake("estimate: {format: tum}", "estimat: {format: tum}", 11, "did you mean estimate?");
    check_mistake("version: 1", "version: 2", 2, "version: expected 1; found 2");
    check_mistake("{format: tum}", "{format: tumm}", 11, "did you mean tum?");
    check_mistake("{format: tum}", "{format: tum, gap: 0}", 11, "estimate.gap: expected a positive number");
    check_mistake("{format: tum}", "{format: tum, covariance: [a, b, c, d, e]}", 11, "found 5");
    check_mistake("{format: tum}", "{format: tum, covariance_frame: world}", 11, "and there is none");
    check_mistake("{format: tum}", "{format: tum, mount: [1]}", 11, "expected");
    check_mistake("{format: tum}", "{format: tum, mount: [1, 2, 3, 4]}", 11, "expected 2, 3 or 7 numbers");
    check_mistake("{format: tum}", "{format: tum, mount: [1, 2, 3, 0, 0, 0, 0.5]}", 11, "must be 1; it is 0.5");
    check_mistake("{format: tum}", "{mount: [1, 2], geodetic: [a, b, c]}", 11, "those of the Earth");
    check_mistake("estimate: {", "loss: {over: 3 apples}\nestimate: {", 11, "10 m, 2 s, 5 frames");
    check_mistake("estimate: {", "loss: {translation: 0, rotation: 0}\nestimate: {", 11, "nothing to minimise");
    check_mistake("estimate: {", "loss: {robust: hubr}\nestimate: {", 11, "huber");
    check_mistake("estimate: {", "method: {name: simplex}\nestimate: {", 11, "nelder-mead");
    check_mistake("estimate: {", "memory_limit: lots\nestimate: {", 11, "500M or 2G");
    check_mistake("estimate: {", "memory_limit: 10\nestimate: {", 11, "10 bytes hold no program");
    check_mistake("estimate: {", "working_folder: nowhere\nestimate: {", 11, "there is no folder");
    check_mistake("estimate: {", "niceness: 40\nestimate: {", 11, "from 0 to 19");
    check_mistake("version: 1", "version: 1\nfolder: nowhere", 3, "there is no folder");
    check_mistake("version: 1", "version: 1\nenvironment: \"A=1\"", 3, "expected names with texts; found \"A=1\"");
    check_mistake("version: 1", "version: 1\nenvironment: \"\"", 3, "expected names with texts");
}

static void test_placeholders_that_are_missing_unknown_or_unused(void)
{
    check_mistake("\"{params}\"", "ekf.yaml", 4, "the command does not have {params}");
    check_mistake("\"{log}\"", "a.csv", 3, "{log} is missing");
    check_mistake("\"{estimate}\"", "out.tum", 3, "{estimate} is missing");
    check_mistake("\"{params}\"", "\"{parms}\"", 3, "did you mean {params}?");
    check_mistake("\"{params}\"", "\"{params\"", 3, "a brace has no partner");
    check_among(0, "{params: ekf.yaml}", "{params: ekf.yaml, log: ekf.yaml}", 4, "{log} has a meaning of its own");
    check_among(0, "\"train/{run}.tum\"}", "\"train/{run}.tum\", also: {base: train/a.csv}}", 10, "base is missing");
    check_mistake("[./run, \"{params}\", \"{log}\", \"{estimate}\"]", "./run {params} {log} {estimate}", 3,
                  "shell: true");
    check_mistake("./run,", "./run, \"{odm}\",", 3, "did you mean {odom}?");
    check_mistake("{format: tum}", "{file: /x.tum}", 11, "all runs would write one file");
    check_mistake("{format: tum}", "{file: \"{estimate}.csv\", score: \"a {b}\"}", 11, "shell: true");
}

static void test_programs_that_cannot_be_executed(void)
{
    check_mistake("./run", "./ekf.yaml", 3, "is not executable");
    check_mistake("./run", "./runn", 3, "./runn");
    check_mistake("./run", "no-such-program-anywhere", 3, "PATH");
    check_mistake("command: [./run,", "server: [./runn,", 3, "./runn");
    check_mistake("command:", "server: ./run\ncommand:", 3, "contradicts command in line 4");
    check_mistake("command: [./run, \"{params}\", \"{log}\", \"{estimate}\"]\n", "", 1, "command is missing");
}

static void test_parameters_that_are_wrong(void)
{
    check_mistake("noise.odom", "noise.odm", 6, "odom");
    check_mistake("{key: noise.odom}", "{start: 3}", 6, "goes nowhere");
    check_mistake("{key: noise.odom}", "{key: name}", 6, "slow");
    check_mistake("{key: noise.odom}", "{key: bias}", 6, "starts at 0, and its logarithm");
    check_mistake("{key: noise.odom}", "{key: bias, is: number}", 6, "lower and upper are missing");
    check_mistake("{key: noise.odom}", "{key: noise.gps}", 7, "one number, one parameter");
    check_mistake("{key: noise.odom}", "{key: \"noise.Q[all]\"}", 6, "separate: true");
    check_mistake("{key: noise.odom}", "{key: noise.odom, same_as: gpss}", 6, "did you mean gps?");
    check_mistake("{key: noise.odom}", "{key: noise.odom, same_as: odom}", 6, "itself");
    check_mistake("{key: noise.odom}", "{key: noise.odom, times: 2}", 6, "is of same_as");
    check_mistake("{key: noise.odom}", "{key: noise.odom, start: 1, upper: 0.5}", 6, "outside its bounds");
    check_mistake("{key: noise.odom}", "{key: noise.odom, lower: 1, upper: 0.5}", 6, "nothing between");
    check_mistake("{key: noise.odom}", "{key: noise.odom, lower: -1}", 6, "expected a positive number");
    check_mistake("{key: noise.odom}", "{key: noise.odom, group: a}", 6, "spread has no group a");
    check_mistake("{key: noise.odom}", "{key: noise.odom, in: parms}", 6, "did you mean params?");
    check_mistake("{key: noise.odom}", "{in: params, environment: X, start: 1}", 6, "is of a key");
    check_mistake("{key: noise.odom}", "{environment: 1X, start: 1}", 6, "an environment variable has");
    check_mistake("{key: noise.odom}", "{environment: X}", 6, "start is missing");
    check_mistake("odom:", "\"od om\":", 6, "a name has letters");
    check_mistake("ekf.yaml", "efk.yaml", 4, "efk.yaml");
    check_mistake("logs:", "spread: {a: 10}\nlogs:", 8, "no parameter is of this group");
    put_file("broken.yaml", "noise: [1, 2\n");
    check_mistake("ekf.yaml", "broken.yaml", 4, "broken.yaml:");
}

static void test_logs_that_are_wrong(void)
{
    check_mistake("\"train/{run}.csv\"", "\"trian/{run}.csv\"", 9, "train");
    check_mistake(", truth: \"train/{run}.tum\"", "", 9, "truth is missing");
    check_mistake("\"train/{run}.tum\"", "\"train/{run}.txt\"", 9, "of ");
    check_mistake("\"train/{run}.tum\"", "\"train/*.tum\"", 9, "name parts of the log");
    check_mistake("\"train/{run}.tum\"}", "\"train/{run}.tum\", name: x}", 9, "two logs are called x");
    check_mistake("\"test/{run}.tum\"}", "\"test/{run}.tum\", recording: a}", 10, "is learned from");
    put_file("train/a.bad", "0 0 0 0 0\nx\n");
    put_file("train/b.bad", "0 0 0 0 0\nx\n");
    check_mistake("\"train/{run}.tum\"", "\"train/a.bad\"", 9, "a.bad");
}

/* A log of 20000 bytes that differs from others in the number at one place. */
static void put_log(int32_t name, size_t place, int32_t number)
{
    char  path[64], bytes[20001];
    memset(bytes, 'x', sizeof bytes);
    snprintf(path, sizeof path, "many/%04d.csv", name);
    FILE *file = fopen(in_folder(path), "w");
    bytes[place + (size_t)snprintf(bytes + place, 8, "%06d", number)] = 'x';
    CHECK(file && fwrite(bytes, 20000, 1, file) == 1 && fclose(file) == 0);
}

/* Reading 1000 logs opened half a million pairs of files. */
static void test_a_copy_is_found_among_a_thousand_logs_at_once(void)
{
    static const char *const TRAIN = "\"train/{run}.csv\", truth: \"train/{run}.tum\"";
    char                     text[4096];
    ct_err                   err = {0};
    ct_tuning               *t = NULL;
    mkdir(in_folder("many"), 0755);
    for (int32_t i = 0; i < 1000; i++) put_log(i, i < 980 ? 10 : 5000, i); /* the last differ between samples */
    const char *at = strstr(MINIMAL, TRAIN);
    snprintf(text, sizeof text, "%.*s\"many/{run}.csv\", truth: \"train/a.tum\"%s", (int)(at - MINIMAL), MINIMAL,
             at + strlen(TRAIN));
    put_file("many.yaml", text);
    const double begin_s = ct_now_s();
    CHECK_OK(ct_tuning_read(in_folder("many.yaml"), &t, &err), err);
    const double seconds = ct_now_s() - begin_s;
    CHECK(ct_test_slow() || seconds < 2);
    if (seconds > 2) printf("  1000 logs: %.2f s\n", seconds);
    ct_tuning_free(t);
    put_log(990, 5000, 985);
    CHECK(ct_tuning_read(in_folder("many.yaml"), &t, &err) == CT_E_PARSE);
    CHECK(strstr(err.text, "log 0990 has the files of the training log 0985") != NULL);
    put_log(500, 10, 3);
    CHECK(ct_tuning_read(in_folder("many.yaml"), &t, &err) == CT_E_PARSE);
    CHECK(strstr(err.text, "log 0500 has the files of the training log 0003") != NULL);
}

static void test_all_mistakes_are_told_at_once(void)
{
    ct_err             err = {0};
    ct_recipe_mistakes list = {0};
    put_file("tune.yaml", "format: covtune-tune\nversion: 3\ncommand: [./run, \"{parms}\"]\nfiles: {params: efk.yaml}\n"
                          "parameters:\n  odom: {key: noise.odom, uper: 3}\n  gps: {ky: noise.gps}\n"
                          "logs:\n  train: {log: none/x.csv}\n  tset: []\nloss: {robust: x}\n");
    CHECK_OK(ct_tuning_check(in_folder("tune.yaml"), &list, &err), err);
    static const int LINE[] = {2, 3, 4, 6, 7, 9, 10, 11};
    for (size_t i = 0; i < sizeof LINE / sizeof *LINE; i++) {
        int there = 0;
        for (int32_t k = 0; k < list.count; k++) there |= list.mistake[k].line == LINE[i];
        if (!there) printf("  no mistake in line %d\n", LINE[i]);
        CHECK(there);
    }
    for (int32_t k = 1; k < list.count; k++) CHECK(list.mistake[k - 1].line <= list.mistake[k].line);
    ct_recipe_mistakes_free(&list);
    CHECK(ct_tuning_check(in_folder("nothing.yaml"), &list, &err) == CT_E_IO && strstr(err.text, "--init"));
    put_file("tune.yaml", "a: [b\n");
    CHECK(ct_tuning_check(in_folder("tune.yaml"), &list, &err) == CT_E_PARSE && list.count == 0);
}

int main(void)
{
    manual_read(&manual);
    make_folder();
    RUN(test_rows_of_the_table_are_complete);
    RUN(test_the_json_schema_has_every_key);
    if (manual.text) {
        RUN(test_the_manual_has_every_key_in_its_section);
        RUN(test_the_tables_of_the_manual_have_no_other_keys);
    } else
        printf("skip   docs/tune.md is not here\n");
    RUN(test_a_short_file_becomes_a_problem);
    RUN(test_names_of_kept_estimates_tell_values_apart);
    RUN(test_a_long_file_has_all_its_values);
    RUN(test_stars_pair_logs_with_truths);
    RUN(test_truths_beside_their_logs_are_no_logs);
    RUN(test_logs_may_be_folders);
    RUN(test_the_digest_tells_where_each_parameter_goes);
    RUN(test_width_of_a_kernel_is_searched_by_its_logarithm);
    RUN(test_files_that_change_are_noticed);
    RUN(test_logs_that_are_no_files);
    RUN(test_keys_and_values_that_are_wrong);
    RUN(test_placeholders_that_are_missing_unknown_or_unused);
    RUN(test_programs_that_cannot_be_executed);
    RUN(test_parameters_that_are_wrong);
    RUN(test_logs_that_are_wrong);
    RUN(test_a_copy_is_found_among_a_thousand_logs_at_once);
    RUN(test_all_mistakes_are_told_at_once);
    free(manual.text);
    return ct_test_end();
}
