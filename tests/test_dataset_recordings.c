/* test_dataset_recordings.c: recordings, the truth's own sigma, and patterns of file names in dataset.yaml. */
#define _XOPEN_SOURCE 700
#include "dataset_test.h"

#define HEAD2 "format: covtune-dataset\nversion: 2\n"

/* A sequence of one pose; `more` are its lines of version 2. */
static const char *sequence(const char *more)
{
    static char text[256];
    snprintf(text, sizeof text, "covtune-sequence 2\n%snoise p diagonal 1 1 1\nvar x0 SE2 0 0 0\ntruth x0 0 0 0\n"
                                "factor prior_se2 p x0 0 0 0\n",
             more);
    return text;
}

static const char *recording(const ct_sequence *seq)
{
    static char name[4][64];
    static int  turn;
    turn = (turn + 1) % 4;
    return ct_sequence_recording(seq, name[turn], sizeof name[turn]);
}

static int has_sigma(const ct_sequence *seq, double m, double rad)
{
    return seq->truth_sigma[0] == m && seq->truth_sigma[1] == rad;
}

/* Six training files of three walks and a test file; b1 says what it is itself. */
static void make_walks(void)
{
    static const char *const NAME[] = {"a1", "a2", "b2", "c-part1", "c-part2"};
    char                     name[32];
    begin();
    folder("train");
    folder("test");
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "train/%s.ctseq", NAME[i]);
        put(name, sequence(""));
    }
    put("train/b1.ctseq", sequence("recording yard\ntruth_sigma 0.5 0.25\n"));
    put("test/a3.ctseq", sequence(""));
}

static const ct_sequence *find(const ct_dataset *d, const char *name)
{
    for (int32_t i = 0; i < d->trains + d->tests; i++) {
        const ct_sequence *seq = i < d->trains ? d->train[i] : d->test[i - d->trains];
        if (!strcmp(seq->name, name)) return seq;
    }
    CHECK(!"a sequence of that name");
    exit(ct_test_end() | 1);
}

static void test_files_say_what_they_are_parts_of(void)
{
    make_walks();
    ct_dataset *d = must_read(at(""), CT_DATASET_ALL);
    CHECK(!strcmp(recording(find(d, "b1")), "yard") && has_sigma(find(d, "b1"), 0.5, 0.25));
    CHECK(!strcmp(recording(find(d, "c-part1")), "c") && !strcmp(recording(find(d, "c-part2")), "c"));
    CHECK(!strcmp(recording(find(d, "a1")), "a1") && has_sigma(find(d, "a1"), 0, 0));
    ct_dataset_free(d);
}

/* Three lines beside folders of files are enough. */
static void test_a_yaml_overrides_what_files_say(void)
{
    make_walks();
    put("dataset.yaml", HEAD2 "truth_sigma: {translation: 0.01, rotation: 0.002}\n"
                              "recordings:\n"
                              "  - {name: walk1, files: [a*], truth_sigma: {translation: 0.04}}\n"
                              "  - name: walk2\n    files: [train/b1.ctseq, train/b2*]\n"
                              "  - {name: c, truth_sigma: {rotation: 0.1}}\n");
    for (int part = CT_DATASET_TRAIN; part <= CT_DATASET_ALL; part++) {
        ct_dataset *d = must_read(at(part == CT_DATASET_ALL ? "" : "dataset.yaml"), (ct_dataset_part)part);
        CHECK(d->trains == (part & 1 ? 6 : 0) && d->tests == (part & 2 ? 1 : 0));
        if (part & 1) {
            CHECK(!strcmp(recording(find(d, "a1")), "walk1") && !strcmp(recording(find(d, "a2")), "walk1"));
            CHECK(has_sigma(find(d, "a1"), 0.04, 0.002));
            CHECK(!strcmp(recording(find(d, "b1")), "walk2") && !strcmp(recording(find(d, "b2")), "walk2"));
            CHECK(has_sigma(find(d, "b1"), 0.01, 0.002));
            CHECK(!strcmp(recording(find(d, "c-part2")), "c") && has_sigma(find(d, "c-part2"), 0.01, 0.1));
        }
        if (part & 2) CHECK(!strcmp(recording(find(d, "a3")), "walk1") && has_sigma(find(d, "a3"), 0.04, 0.002));
        ct_dataset_free(d);
    }
}

static void test_a_recording_that_no_sequence_names_gives_a_note(void)
{
    make_walks();
    put("dataset.yaml", HEAD2 "recordings: [{name: c}, {name: d, truth_sigma: {translation: 1}}]\n");
    ct_dataset *d = must_read(at(""), CT_DATASET_ALL);
    CHECK(d->note && !strcmp(d->note, "recording d of dataset.yaml is that of no sequence that was read"));
    ct_dataset_free(d);
}

static void test_patterns_stand_for_files_in_order(void)
{
    make_walks();
    put("dataset.yaml", HEAD2 "train: [train/b*, \"train/a?.ctseq\"]\ntest: [\"train/c-part[12].ctseq\"]\n");
    ct_dataset *d = must_read(at(""), CT_DATASET_ALL);
    CHECK(d->trains == 4 && d->tests == 2);
    CHECK(!strcmp(d->train[0]->name, "b1") && !strcmp(d->train[3]->name, "a2"));
    CHECK(!strcmp(d->test[1]->name, "c-part2"));
    ct_dataset_free(d);
    /* a file that is called like a pattern is that file, and folders are not patterns */
    begin();
    folder("run[1]");
    put("run[1]/a[2].ctseq", sequence(""));
    put("run[1]/a2.ctseq", sequence(""));
    put("run[1]/dataset.yaml", HEAD2 "train: [\"a[2].ctseq\"]\ntest: [\"a?.ctseq\"]\n");
    d = must_read(at("run[1]"), CT_DATASET_ALL);
    CHECK(d->trains == 1 && !strcmp(d->train[0]->name, "a[2]") && d->tests == 1 && !strcmp(d->test[0]->name, "a2"));
    ct_dataset_free(d);
}

/* A written dataset reads back to the same recordings, though its files have other names. */
static void test_written_datasets_keep_recordings(void)
{
    ct_err err = {0};
    make_walks();
    put("dataset.yaml", HEAD2 "truth_sigma: {translation: 0.01}\nrecordings:\n  - {name: walk1, files: [a*]}\n");
    ct_dataset *d = must_read(at(""), CT_DATASET_ALL);
    CHECK_OK(ct_dataset_write(d, at("again"), &err), err);
    ct_dataset *again = must_read(at("again"), CT_DATASET_ALL);
    CHECK(again->trains == d->trains && again->tests == d->tests);
    for (int32_t i = 0; i < d->trains; i++)
        for (int32_t j = 0; j < d->trains; j++)
            CHECK(!strcmp(recording(d->train[i]), recording(d->train[j])) ==
                  !strcmp(recording(again->train[i]), recording(again->train[j])));
    CHECK(!strcmp(recording(again->test[0]), "walk1") && has_sigma(again->test[0], 0.01, 0));
    ct_dataset_free(d);
    ct_dataset_free(again);
}

static const struct {
    const char *text, *words;
} BAD[] = {
    {HEAD "truth_sigma: {translation: 1}\n", "dataset.yaml:3: truth_sigma is of version 2; write version: 2 above"},
    {HEAD "train: [train/a1.ctseq]\nrecordings:\n  - name: a\n",
     "dataset.yaml:4: recordings is of version 2; write version: 2 above"},
    {HEAD "test: [test/a3.ctseq]\ntrain:\n  - train/a1.ctseq\n  - train/b*\n",
     "dataset.yaml:6: train with a pattern is of version 2; write version: 2 above"},
    {HEAD2 "truth_sigma:\n  translation: 1\n  rotation: -0.5\n",
     "dataset.yaml:5: truth_sigma: rotation is not negative and finite, found -0.5"},
    {HEAD2 "truth_sigma: {translation: inf}\n",
     "dataset.yaml:3: truth_sigma: translation is not negative and finite, found inf"},
    {HEAD2 "truth_sigma: 0.01\n", "dataset.yaml:3: truth_sigma: expected keys with values, found a word"},
    {HEAD2 "truth_sigma: {translations: 1}\n",
     "dataset.yaml:3: there is no key translations; did you mean translation?"},
    {HEAD2 "recordings:\n  - {name: a, file: [a1]}\n", "there is no key file; did you mean files?"},
    {HEAD2 "recordings:\n  - {name: a, truth_sigma: {x: 1}}\n", "there is no key x"},
    {HEAD2 "recordings:\n  - files: [a1]\n", "name is missing"},
    {HEAD2 "recordings:\n  - name: x\n    files: [a1]\n  - name: a b\n",
     "dataset.yaml:6: recording \"a b\": a name is one word that does not begin with #"},
    {HEAD2 "recordings:\n  - name: x\n    files: [a1]\n  - name: x\n", "dataset.yaml:4: recording x is there twice"},
    {HEAD2 "recordings:\n  - name: dad\n    files: [a1]\n  - {name: a, files: [a1]}\n",
     "dataset.yaml:6: recording a: train/a1.ctseq is of recording dad already"},
    {HEAD2 "recordings:\n  - name: x\n    files: [a1]\n  - name: y\n    files: [d*]\n",
     "dataset.yaml:7: recording y: no sequence of the dataset is called d*"},
    {HEAD2 "recordings:\n  - name: x\n    files: [a1]\n  - name: y\n    files: [train/a*]\n",
     "dataset.yaml:6: recording y: train/a1.ctseq is of recording x already"},
    {HEAD2 "recordings:\n  - {name: x, files: [*.ctseq]}\n", "quote a pattern that begins with *: \"*.ctseq\""},
    {HEAD2 "recordings:\n  - {name: x, files: [*a]}\n", "aliases (*name) are not read here; quote a pattern"},
    {HEAD2 "train: [train/z*]\n", "dataset.yaml:3: train: no file matches train/z*"},
};

static void test_mistakes_are_named_with_their_line(void)
{
    make_walks();
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        ct_dataset *d = NULL;
        ct_err      err = {0};
        put("dataset.yaml", BAD[i].text);
        CHECK_REFUSED(ct_dataset_read(at(""), CT_DATASET_TRAIN, &d, &err), err, BAD[i].words);
        CHECK(!d);
    }
}

int main(void)
{
    RUN(test_files_say_what_they_are_parts_of);
    RUN(test_a_yaml_overrides_what_files_say);
    RUN(test_a_recording_that_no_sequence_names_gives_a_note);
    RUN(test_patterns_stand_for_files_in_order);
    RUN(test_written_datasets_keep_recordings);
    RUN(test_mistakes_are_named_with_their_line);
    return ct_test_end();
}
