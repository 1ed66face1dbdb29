/* test_read_covtune.c: covtune's own sequence format: nothing is lost, by one bit, and every mistake has
 * its sentence. */
#define _XOPEN_SOURCE 700
#include "data_test.h"

#define HEAD "covtune-sequence 1\n"

static const char EXAMPLE[] = HEAD "noise odom@0 diagonal 0.01 0.02 0.0004\n"
                                   "noise gps isotropic 2 0.25 huber 1.345\n"
                                   "noise loop full 2 0.5 0 0.5 3 0 0 0 1\n"
                                   "noise sight isotropic 1 0.01\n"
                                   "var x0 SE2 1.5 2 0.1 t=12.5\n"
                                   "truth x0 1.5 2 0.11\n"
                                   "var x1 SE2 2.5 2 0,1 t=13.25 fixed\n"
                                   "truth x1 2.5 2.1 0 known=x,y\n"
                                   "var l0 R2 4 -0.5\n"
                                   "factor between_se2 odom@0 x0 x1 1 0 0.1\n"
                                   "factor between_se2 loop x1 x0 -1 0 -0.1\n"
                                   "factor position_se2 gps x1 2.4 2\n"
                                   "factor position_se2 gps x0 1.5 2 0.3 0\n"
                                   "factor range_se2_r2 sight x0 l0 3.5\n";

static void test_what_is_written_again_is_the_same_text(void)
{
    CHECK_SAME_TEXT(CT_FORMAT_COVTUNE, HEAD);
    CHECK_SAME_TEXT(CT_FORMAT_COVTUNE, EXAMPLE);
}

/* Files written before 0.2 name the heading "theta". */
static void test_a_heading_called_theta_is_read_as_yaw(void)
{
    run r;
    MUST_READ(&r, CT_FORMAT_COVTUNE, HEAD "var x0 SE2 0 0 0\ntruth x0 1 2 0.5 known=x,theta\n");
    CHECK(r.seq->known[0] == 5);
    run_free(&r);
    CHECK_SAME_TEXT(CT_FORMAT_COVTUNE, HEAD "var x0 SE2 0 0 0\ntruth x0 1 2 0.5 known=x,yaw\n");
}

/* By its field, else by its name without a part number, else by its name. */
static void test_the_recording_of_a_sequence(void)
{
    static const struct {
        const char *name, *recording;
    } CASES[] = {{"woods-seg03", "woods"},
                 {"woods_part3", "woods"},
                 {"a.segment-12", "a"},
                 {"robot4-cut_2", "robot4"},
                 {"robot4", "robot4"},
                 {"part3", "part3"},
                 {"x-part", "x-part"},
                 {"counterpart7", "counterpart7"},
                 {"day-piece1-seg2", "day-piece1"}};
    char buf[32];
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const ct_sequence named = {.name = (char *)CASES[i].name};
        const ct_sequence given = {.name = (char *)CASES[i].name, .recording = (char *)"plaza-part2"};
        CHECK(!strcmp(ct_sequence_recording(&named, buf, sizeof buf), CASES[i].recording));
        CHECK(!strcmp(ct_sequence_recording(&given, buf, sizeof buf), "plaza-part2"));
    }
    CHECK(!strcmp(ct_sequence_recording(&(ct_sequence){0}, buf, sizeof buf), ""));
}

static void test_numbers_land_where_they_belong(void)
{
    run r;
    MUST_READ(&r, CT_FORMAT_COVTUNE, EXAMPLE);
    const ct_graph *g = r.seq->graph;
    const double   *x = ct_graph_initial_const(g);
    CHECK(ct_graph_variables(g) == 3 && ct_graph_factors(g) == 5 && ct_noise_count(r.noise) == 4);
    CHECK(ct_graph_find(g, "x1") == 1 && ct_graph_kind(g, 1) == CT_SE2 && ct_graph_fixed(g, 1) &&
          !ct_graph_fixed(g, 0));
    CHECK(x[0] == 1.5 && x[1] == 2 && x[2] == cos(0.1) && x[3] == sin(0.1));
    CHECK(x[6] == 0 && x[7] == 1 && x[8] == 4 && x[9] == -0.5);
    CHECK(r.seq->stamp[0] == 12.5 && r.seq->stamp[1] == 13.25 && isnan(r.seq->stamp[2]));
    CHECK(r.seq->truth[3] == sin(0.11) && r.seq->truth[5] == 2.1 && r.seq->truth[6] == 1 && r.seq->truth[8] == 0);
    CHECK(r.seq->known[0] == 7 && r.seq->known[1] == 3 && r.seq->known[2] == 0);
    const ct_factor lever = ct_graph_factor(g, 3), range = ct_graph_factor(g, 4);
    CHECK(lever.ops == &ct_position_se2 && lever.z[2] == 0.3 && lever.var[0] == 0);
    CHECK(range.ops == &ct_range_se2_r2 && range.z[0] == 3.5 && range.z[1] == 0 && range.var[1] == 2);
    const ct_noise_model *loop = ct_noise_get(r.noise, ct_noise_find(r.noise, "loop")),
                         *gps = ct_noise_get(r.noise, ct_noise_find(r.noise, "gps"));
    CHECK(loop->kind == CT_NOISE_FULL && loop->covariance[1] == 0.5 && loop->covariance[4] == 3);
    CHECK(gps->kind == CT_NOISE_ISOTROPIC && gps->covariance[1] == 0.25 && gps->robust.kind == CT_ROBUST_HUBER &&
          gps->robust.width == 1.345);
    CHECK(!r.seq->note);
    run_free(&r);
}

/* Truth, masks and times at random; every tenth variable has none of them. */
static void add_extras(run *r, uint64_t seed)
{
    ct_rng          rng = ct_rng_seed(seed);
    const ct_graph *g = r->seq->graph;
    r->seq->truth = ct__zalloc(ct_graph_size(g), sizeof *r->seq->truth);
    r->seq->known = ct__zalloc(ct_graph_variables(g), 1);
    r->seq->stamp = ct__zalloc(ct_graph_variables(g), sizeof *r->seq->stamp);
    for (int32_t v = 0; v < ct_graph_variables(g); v++) {
        const ct_kind kind = ct_graph_kind(g, v);
        ct_graph_fix(r->seq->graph, v, ct_rng_bits(&rng) % 4 == 0);
        r->seq->stamp[v] = v % 10 ? ct_rng_normal(&rng) * 1e9 : NAN;
        ct_kind_identity(kind, r->seq->truth + ct_graph_offset(g, v));
        if (v % 10 == 0) continue;
        random_element(&rng, kind, r->seq->truth + ct_graph_offset(g, v));
        r->seq->known[v] = (uint8_t)(ct_rng_bits(&rng) & ((1u << ct_kind_dim(kind)) - 1));
    }
}

static void test_a_sequence_of_everything_comes_back_to_the_bit(void)
{
    for (uint64_t seed = 1; seed <= 50; seed++) {
        run made, read;
        random_run(&made, seed, ~0u, NULL, 1);
        if (seed % 2) add_extras(&made, seed);
        CHECK(ct_graph_factors(made.seq->graph) > 60);
        char *text = write_text(&made, CT_FORMAT_COVTUNE, NULL, 0, NULL);
        CHECK(text);
        if (!text) return;
        CHECK_OK(read_text(&read, CT_FORMAT_COVTUNE, text), read.err);
        if (read.seq) {
            check_same_run(&made, &read, 1);
            const double before = ct_graph_error(made.seq->graph, made.noise, ct_graph_initial_const(made.seq->graph));
            CHECK(before == ct_graph_error(read.seq->graph, read.noise, ct_graph_initial_const(read.seq->graph)));
            char *again = write_text(&read, CT_FORMAT_COVTUNE, NULL, 0, NULL);
            CHECK(again && !strcmp(text, again));
            free(again);
        }
        free(text);
        run_free(&made);
        run_free(&read);
    }
}

static void test_values_may_be_other_than_the_initial_ones(void)
{
    run r;
    CHECK_OK(read_text(&r, CT_FORMAT_COVTUNE, HEAD "var a R2 1 2\n"), r.err);
    char *text = write_text(&r, CT_FORMAT_COVTUNE, (const double[]){3, 4}, 0, NULL);
    CHECK(text && !strcmp(text, HEAD "var a R2 3 4\n"));
    free(text);
    run_free(&r);
}

static void test_a_pair_that_is_not_unit_is_made_so(void)
{
    run r;
    CHECK_OK(read_text(&r, CT_FORMAT_COVTUNE, HEAD "var a SO2 3,4\nvar b SO3 0 0 0 2\n"), r.err);
    if (r.seq) {
        const double *x = ct_graph_initial_const(r.seq->graph);
        CHECK_NEAR(x[0], 0.6, 1e-16);
        CHECK_NEAR(x[1], 0.8, 1e-16);
        CHECK(x[5] == 1);
    }
    run_free(&r);
}

/* Several sequences share a table: what is there first stays, and the note says so. */
static void test_models_of_one_name_are_shared_between_files(void)
{
    run r;
    CHECK_OK(read_text(&r, CT_FORMAT_COVTUNE, HEAD "noise a diagonal 1 2\nnoise b isotropic 1 4\n"), r.err);
    static const struct {
        const char *text, *note;
    } list[] = {
        {HEAD "noise a diagonal 1 2\n", NULL},
        {HEAD "noise a diagonal 1 3\n", "noise model a was there already with other numbers, which stay"},
        {HEAD "noise a diagonal 1 3\nnoise b isotropic 1 4 huber 2\n",
         "2 noise models (a the first) were there already with other numbers, which stay"},
        {HEAD "var x R1 0\nfactor prior_r1 b x 1\n", NULL},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        FILE        *file = fmemopen((void *)(uintptr_t)list[i].text, strlen(list[i].text), "rb");
        ct_sequence *seq;
        CHECK_OK(ct__sequence_read_stream(file, "t", CT_FORMAT_COVTUNE, NULL, r.noise, &seq, &r.err), r.err);
        if (seq) CHECK(!seq->note == !list[i].note && (!seq->note || !strcmp(seq->note, list[i].note)));
        ct_sequence_free(seq);
        fclose(file);
    }
    CHECK(ct_noise_count(r.noise) == 2 && ct_noise_get(r.noise, 0)->covariance[1] == 2);
    run_free(&r);
}

/* The lines of version 2 about the whole sequence. */
static void test_recording_and_sigma_of_the_truth_are_kept(void)
{
    run r;
    CHECK_SAME_TEXT(CT_FORMAT_COVTUNE, "covtune-sequence 2\nrecording walk1\ntruth_sigma 0.01 0.002\nvar a R1 1\n");
    CHECK_SAME_TEXT(CT_FORMAT_COVTUNE, "covtune-sequence 2\ntruth_sigma 0.01\nvar a R1 1\n");
    CHECK_SAME_TEXT(CT_FORMAT_COVTUNE, "covtune-sequence 2\ntruth_sigma 0 0.002\nvar a R1 1\n");
    MUST_READ(&r, CT_FORMAT_COVTUNE, "covtune-sequence 2\nvar a R1 1\ntruth_sigma 0.01 0.002\nrecording walk1\n");
    char name[16];
    CHECK(!strcmp(ct_sequence_recording(r.seq, name, sizeof name), "walk1"));
    CHECK(r.seq->truth_sigma[0] == 0.01 && r.seq->truth_sigma[1] == 0.002);
    free(r.seq->recording);
    r.seq->recording = strdup("two words");
    CHECK(!write_text(&r, CT_FORMAT_COVTUNE, NULL, 0, NULL) && strstr(r.err.text, "recording \"two words\": a name"));
    CHECK_OK(ct_sequence_attach_truth(r.seq, NULL, NULL, NULL, &r.err), r.err); /* another truth, another sigma */
    CHECK(r.seq->truth_sigma[0] == 0 && r.seq->truth_sigma[1] == 0);
    run_free(&r);
    CHECK_MESSAGE(CT_FORMAT_COVTUNE, HEAD "recording a\n",
                  "t.txt:2: recording is of version 2; the first line must then be \"covtune-sequence 2\"");
    CHECK_MESSAGE(CT_FORMAT_COVTUNE, HEAD "truth_sigma 1\n",
                  "t.txt:2: truth_sigma is of version 2; the first line must then be \"covtune-sequence 2\"");
#define BAD(line, words) CHECK_MESSAGE(CT_FORMAT_COVTUNE, "covtune-sequence 2\n" line "\n", words)
    BAD("recording", "t.txt:2: recording needs 1 name, found 0");
    BAD("recording a b", "t.txt:2: expected the end of the line, found \"b\"");
    BAD("recording a\nrecording b", "t.txt:3: a second recording; the first is a");
    BAD("truth_sigma", "t.txt:2: truth_sigma needs 1 sigma, found 0");
    BAD("truth_sigma -1", "t.txt:2: a sigma is not negative, found -1");
    BAD("truth_sigma 1 nan", "t.txt:2: expected a finite number for a sigma, found \"nan\"");
    BAD("truth_sigma 1 2 3", "t.txt:2: expected the end of the line, found \"3\"");
    BAD("truth_sigma 1\ntruth_sigma 1", "t.txt:3: a second truth_sigma");
#undef BAD
}

static void test_every_mistake_is_named_with_its_line(void)
{
#define BAD(line, words)                                                                                               \
    CHECK_MESSAGE(CT_FORMAT_COVTUNE, HEAD "noise n isotropic 1 1\nvar a R1 1\nvar p SE2 0 0 0\n" line "\n",            \
                  "t.txt:5: " words)
    CHECK_MESSAGE(CT_FORMAT_COVTUNE, "", "t.txt: the first line must be \"covtune-sequence 3\"");
    CHECK_MESSAGE(CT_FORMAT_COVTUNE, "VERTEX_SE2 0 0 0 0", "t.txt:1: the first line must be \"covtune-sequence 3\"");
    CHECK_MESSAGE(CT_FORMAT_COVTUNE, "covtune-sequence 4",
                  "t.txt:1: the file is of version \"4\"; this covtune reads versions 1 to 3");
    BAD("vertex a", "expected recording, truth_sigma, noise, shape, var, truth or factor, found \"vertex\"");
    BAD("noise m", "noise needs 3 words: name, kind and variances, found 1");
    BAD("noise m diag 1", "expected isotropic, diagonal or full, found \"diag\"");
    BAD("noise m isotropic 1", "isotropic needs a dimension and a variance, found 1 words");
    BAD("noise m isotropic 7 1", "expected an integer from 1 to 6 for the dimension, found \"7\"");
    BAD("noise m isotropic 1000000000000000000 1",
        "expected an integer from 1 to 6 for the dimension, found \"1000000000000000000\"");
    BAD("noise m diagonal 1 2 3 4 5 6 7", "diagonal needs 1 to 6 variances, found 7");
    BAD("noise m full 1 2 3", "full needs n x n numbers with n from 1 to 6, found 3");
    BAD("noise m diagonal 1 nan", "expected a finite number for a variance, found \"nan\"");
    BAD("noise m diagonal 1 huber wide", "expected a finite number for the kernel's width, found \"wide\"");
    BAD("noise n isotropic 1 1", "noise model n is there already");
    BAD("var b", "var needs 2 words: name and kind, found 1");
    BAD("var b SE4 1", "expected R1, R2, R3, SO2, SO3, SE2 or SE3, found \"SE4\"");
    BAD("var b SE2 1 2", "var needs 3 numbers for SE2, found 2");
    BAD("var b SE2 1 2 inf", "expected a finite number for yaw, found \"inf\"");
    BAD("var b SE2 1 2 1,2,3", "expected an angle or cos,sin, found \"1,2,3\"");
    BAD("var b SE2 1 2 0,0", "expected an angle or cos,sin, found \"0,0\"");
    BAD("var b SO3 0 0 0 0", "the quaternion is zero");
    BAD("var b R1 1 t=soon", "expected t= and a finite number, found \"t=soon\"");
    BAD("var b R1 1 fixed t=1", "expected the end of the line, found \"t=1\"");
    BAD("var a R1 1", "variable a is there already");
    BAD("truth b 1", "there is no variable \"b\" above");
    BAD("truth", "truth needs 1 variable, found 0");
    BAD("truth p 1 2", "truth needs 3 numbers for SE2, found 2");
    BAD("truth p 1 2 3 known=x,z", "known= names \"z\", which is no coordinate of SE2");
    BAD("truth p 1 2 3 known=", "known= names \"\", which is no coordinate of SE2");
    BAD("truth p 1 2 3 4", "expected the end of the line, found \"4\"");
    BAD("factor prior_r1", "factor needs 2 words: model and noise, found 1");
    BAD("factor prior_r9 n a 1", "there is no measurement model \"prior_r9\"; did you mean prior_r1?");
    BAD("factor between_s2 n a 1", "there is no measurement model \"between_s2\"; did you mean between_r2?");
    BAD("factor camera n a 1", "there is no measurement model \"camera\", built in or of a plugin");
    BAD("factor prior_r1 m a 1", "there is no noise model \"m\" above");
    BAD("factor prior_se2 n p 1 2 3", "noise model n has 1 coordinates, prior_se2 needs 3");
    BAD("factor prior_r1 n", "factor needs 1 variables, found 0");
    BAD("factor prior_r1 n b 1", "there is no variable \"b\" above");
    BAD("factor prior_r1 n a", "factor needs 1 numbers for R1, found 0");
    BAD("factor prior_r1 n a 1 2", "expected the end of the line, found \"2\"");
    BAD("factor prior_r1 n a nan", "expected a finite number for x, found \"nan\"");
    BAD("factor prior_r1 n p 1", "factor 0 (prior_r1): p is SE2, it must be R1");
    BAD("factor between_r1 n a a 1", "factor 0 (between_r1): a is named twice");
#undef BAD
    CHECK_MESSAGE(CT_FORMAT_COVTUNE, HEAD "var a R1 1\ntruth a 1\ntruth a 2\n", "t.txt:4: a second truth for a");
    run r;
    CHECK(read_text(&r, CT_FORMAT_COVTUNE, HEAD "noise m diagonal 1 -2\n") == CT_E_NOISE &&
          !strncmp(r.err.text, "t.txt:2: noise model \"m\"", 24));
    run_free(&r);
}

static void no_residual(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    (void)z, (void)context, (void)x, (void)J;
    r[0] = 0;
}

static void test_what_a_file_cannot_hold_is_refused_or_counted(void)
{
    static const ct_factor_ops own = {.name = "own",
                                      .rows = 1,
                                      .arity = 1,
                                      .kind = {CT_R1},
                                      .fields = 1,
                                      .required = 1,
                                      .field = {CT_R1},
                                      .eval = no_residual};
    run                        r;
    int64_t                    dropped = 0;
    CHECK_OK(read_text(&r, CT_FORMAT_COVTUNE, HEAD "noise n isotropic 1 1\nvar a R1 1\nfactor prior_r1 n a 1\n"),
             r.err);
    CHECK_OK(ct_graph_add_factor(r.seq->graph, &own, (const int32_t[]){0}, (const double[]){1}, NULL, 0, &r.err),
             r.err);
    CHECK_OK(ct_graph_add_factor(r.seq->graph, &ct_prior_r1, (const int32_t[]){0}, (const double[]){1}, &r, 0, &r.err),
             r.err);
    char *text = write_text(&r, CT_FORMAT_COVTUNE, NULL, 0, NULL);
    CHECK(!text && r.err.status == CT_E_UNSUPPORTED &&
          !strcmp(r.err.text, "factor 1 (own): covtune files hold built-in models and those of plugins alone"));
    text = write_text(&r, CT_FORMAT_COVTUNE, NULL, 1, &dropped);
    CHECK(text && dropped == 2 && strstr(text, "factor prior_r1 n a 1\n") && !strstr(text, "own"));
    free(text);
    static const char *const names[] = {"two words", "#comment", "line\nbreak"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        CHECK_OK(ct_graph_add_variable(r.seq->graph, names[i], CT_R1, NULL, NULL, &r.err), r.err);
        text = write_text(&r, CT_FORMAT_COVTUNE, NULL, 1, NULL);
        CHECK(!text && r.err.status == CT_E_UNSUPPORTED && strstr(r.err.text, "a name in a file is one word"));
        free(text);
    }
    run_free(&r);
}

/* Linear time: 20 times the file must not take 400 times as long. Generous, because machines are shared. */
static double seconds_to_read(int n)
{
    char  *text = malloc((size_t)n * 160 + 100);
    size_t size = (size_t)sprintf(text, HEAD);
    for (int i = 0; i < n; i++)
        size += (size_t)sprintf(
            text + size, "noise n%d isotropic 1 %d\nvar v%d R1 %d t=%d\ntruth v%d %d\nfactor prior_r1 n%d v%d %d\n", i,
            i + 1, i, i, i, i, i, i, i, i);
    run          r;
    const double start = ct_now_s();
    CHECK_OK(read_bytes(&r, CT_FORMAT_COVTUNE, text, size), r.err);
    const double seconds = ct_now_s() - start;
    run_free(&r);
    free(text);
    return seconds;
}

static void test_reading_takes_linear_time(void)
{
    const double small = seconds_to_read(2000), large = seconds_to_read(40000);
    CHECK(large < 100 * small + 0.2);
}

/* The example of the format's documentation is a file that can be read. */
static void test_the_documented_example_is_read(void)
{
    static char text[1 << 16];
    FILE       *file = fopen("docs/formats.md", "rb");
    CHECK(file);
    if (!file) return;
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    char *example = strstr(text, "```\ncovtune-sequence 1\n"), *end = example ? strstr(example + 4, "```") : NULL;
    CHECK(end);
    if (!end) return;
    *end = 0;
    run r;
    MUST_READ(&r, CT_FORMAT_COVTUNE, example + 4);
    CHECK(ct_graph_variables(r.seq->graph) == 3 && ct_graph_factors(r.seq->graph) == 4 && r.seq->known[1] == 3);
    run_free(&r);
}

int main(void)
{
    RUN(test_what_is_written_again_is_the_same_text);
    RUN(test_a_heading_called_theta_is_read_as_yaw);
    RUN(test_the_recording_of_a_sequence);
    RUN(test_numbers_land_where_they_belong);
    RUN(test_a_sequence_of_everything_comes_back_to_the_bit);
    RUN(test_values_may_be_other_than_the_initial_ones);
    RUN(test_a_pair_that_is_not_unit_is_made_so);
    RUN(test_models_of_one_name_are_shared_between_files);
    RUN(test_recording_and_sigma_of_the_truth_are_kept);
    RUN(test_every_mistake_is_named_with_its_line);
    RUN(test_what_a_file_cannot_hold_is_refused_or_counted);
    RUN(test_reading_takes_linear_time);
    RUN(test_the_documented_example_is_read);
    return ct_test_end();
}
