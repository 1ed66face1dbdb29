/* test_read_binary.c: binary sequence files: the same bits both ways, every damage refused with a sentence. */
#define _XOPEN_SOURCE 700
#include "data_test.h"

#include "data/binary.h"

static const char TEXT[] = "covtune-sequence 3\nrecording walk1\ntruth_sigma 0.01 0.002\n"
                           "noise odom@0 diagonal 0.01 0.02 0.0004\nnoise fix full 2 0.5 0.5 1 huber 1.5\n"
                           "shape egg ellipse 1 2\nshape can grid -1 -1 1 3 3\n+ 1 1 1\n+ 1 -1 1\n+ 1 1 1\n"
                           "var a SE2 0 0 0 fixed\ntruth a 0 0 0\nvar b SE2 1 0 0.1 t=1.5\ntruth b 1 0 0.1 known=x,y\n"
                           "var l R2 3 4\nnoise one isotropic 1 2\n"
                           "factor between_se2 odom@0 a b multiplier=2.5 1 0 0.1\n"
                           "factor position_se2 fix b hdop=1.4 sats=7 1 0\n"
                           "factor prior_r2 fix l sats=5 3 4\nfactor contact_se2 one a b shape=egg 0.1\n";

typedef struct {
    char  *bytes;
    size_t size;
} image;

static image write_image(run *r)
{
    image out = {0};
    FILE *file = open_memstream(&out.bytes, &out.size);
    CHECK_OK(ct__sequence_write_stream(file, r->seq, r->noise, NULL, CT_FORMAT_BINARY, 0, NULL, &r->err), r->err);
    fclose(file);
    return out;
}

static image image_of(const char *text)
{
    run r;
    CHECK_OK(read_text(&r, CT_FORMAT_COVTUNE, text), r.err);
    const image out = write_image(&r);
    run_free(&r);
    return out;
}

static void test_what_is_written_reads_back_to_the_bit(void)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        run a, b;
        random_run(&a, seed, (1u << CT_KIND_COUNT) - 1, NULL, 1);
        const image first = write_image(&a);
        CHECK_OK(read_bytes(&b, CT_FORMAT_BINARY, first.bytes, first.size), b.err);
        check_same_run(&a, &b, 1);
        const image again = write_image(&b);
        CHECK(again.size == first.size && !memcmp(again.bytes, first.bytes, first.size));
        free(first.bytes);
        free(again.bytes);
        run_free(&a);
        run_free(&b);
    }
}

static void test_text_and_binary_hold_the_same(void)
{
    run         a, b;
    const image binary = image_of(TEXT);
    CHECK_OK(read_text(&a, CT_FORMAT_COVTUNE, TEXT), a.err);
    CHECK_OK(read_bytes(&b, CT_FORMAT_BINARY, binary.bytes, binary.size), b.err);
    check_same_run(&a, &b, 1);
    char *x = write_text(&a, CT_FORMAT_COVTUNE, NULL, 0, NULL), *y = write_text(&b, CT_FORMAT_COVTUNE, NULL, 0, NULL);
    CHECK(x && y && !strcmp(x, y));
    free(x);
    free(y);
    free(binary.bytes);
    run_free(&a);
    run_free(&b);
}

static void test_a_file_cut_off_anywhere_is_refused(void)
{
    const image whole = image_of(TEXT);
    for (size_t size = 1; size < whole.size; size++) {
        run r;
        CHECK(read_bytes(&r, CT_FORMAT_BINARY, whole.bytes, size) == CT_E_PARSE && !r.seq && r.err.text[0]);
        run_free(&r);
    }
    free(whole.bytes);
}

/* A changed byte is noticed, or lies in a gap that is not read. */
static void test_a_changed_byte_is_refused_or_changes_nothing(void)
{
    const image whole = image_of(TEXT);
    run         before;
    int64_t     refused = 0;
    CHECK_OK(read_bytes(&before, CT_FORMAT_BINARY, whole.bytes, whole.size), before.err);
    for (size_t i = 0; i < whole.size; i++) {
        run r;
        whole.bytes[i] = (char)(whole.bytes[i] ^ (1 << i % 8));
        const ct_status status = read_bytes(&r, CT_FORMAT_BINARY, whole.bytes, whole.size);
        if (status == CT_OK) check_same_run(&before, &r, 1);
        else {
            CHECK(!r.seq && r.err.text[0]);
            refused++;
        }
        whole.bytes[i] = (char)(whole.bytes[i] ^ (1 << i % 8));
        run_free(&r);
    }
    CHECK(refused > 1000);
    run_free(&before);
    free(whole.bytes);
}

static ct__binary_section *find(const image *file, const char *name)
{
    const ct__binary_head *head = (const ct__binary_head *)(const void *)file->bytes;
    for (uint32_t i = 0; i < head->sections; i++) {
        ct__binary_section *s = (ct__binary_section *)(void *)(file->bytes + sizeof *head) + i;
        if (!strncmp(s->name, name, sizeof s->name)) return s;
    }
    CHECK(0);
    abort();
}

/* The sentence of reading, after the checksums are right again. */
static void check_refused(image *file, const char *sentence)
{
    run r;
    ct__binary_seal(file->bytes, file->size);
    CHECK(read_bytes(&r, CT_FORMAT_BINARY, file->bytes, file->size) != CT_OK);
    if (strcmp(r.err.text, sentence)) fprintf(stderr, "found:  %s\nwanted: %s\n", r.err.text, sentence);
    CHECK(!strcmp(r.err.text, sentence));
    run_free(&r);
    free(file->bytes);
}

static void test_what_is_not_understood_is_refused_by_name(void)
{
    image file = image_of(TEXT);
    memcpy(find(&file, "factor.times")->name, "factor.later", 13);
    check_refused(&file, "t.txt: it has a section \"factor.later\", which this covtune does not know; a newer one "
                         "wrote it");

    file = image_of(TEXT);
    ((ct__binary_head *)(void *)file.bytes)->version = 7;
    check_refused(&file, "t.txt: the file is of version 7; this covtune reads version 1");

    file = image_of(TEXT);
    ((ct__binary_head *)(void *)file.bytes)->order = 0x04030201;
    check_refused(&file, "t.txt: it was written on a machine of other byte order; write a text sequence there: "
                         "covtune convert");

    file = image_of(TEXT);
    ((int32_t *)(void *)(file.bytes + find(&file, "factor.var")->at))[1] = 77;
    check_refused(&file, "t.txt: factor 0 (between_se2): variable 77 of 3 does not exist");

    file = image_of(TEXT);
    find(&file, "var.kind")->count--;
    check_refused(&file, "t.txt: its section var.kind has 2 elements and should have 3");

    file = image_of(TEXT);
    memcpy(file.bytes + find(&file, "model.name")->at, "betwean", 7);
    check_refused(&file, "t.txt: there is no measurement model \"betwean_se2\"; did you mean between_se2?");

    file = image_of(TEXT);
    ((double *)(void *)(file.bytes + find(&file, "truth")->at))[0] = NAN;
    check_refused(&file, "t.txt: variable a: its true value is not finite or no unit rotation");
}

static void test_an_optional_section_of_later_versions_is_skipped(void)
{
    image               file = image_of(TEXT);
    run                 r;
    ct__binary_section *s = find(&file, "truth_sigma");
    memcpy(s->name, "curvature", 10);
    s->name[10] = 0;
    s->flags = CT__SECTION_OPTIONAL;
    ct__binary_seal(file.bytes, file.size);
    CHECK_OK(read_bytes(&r, CT_FORMAT_BINARY, file.bytes, file.size), r.err);
    CHECK(r.seq && r.seq->truth_sigma[0] == 0 && ct_graph_factors(r.seq->graph) == 4);
    run_free(&r);
    free(file.bytes);
}

static void test_files_are_mapped_and_known_by_their_first_bytes(void)
{
    char         path[512];
    ct_format    format;
    ct_err       err = {0};
    ct_noise    *noise = NULL;
    ct_sequence *seq = NULL;
    const image  file = image_of(TEXT);
    snprintf(path, sizeof path, "%s/sequence", ct_test_folder());
    FILE *out = fopen(path, "wb");
    CHECK(out && fwrite(file.bytes, 1, file.size, out) == file.size && !fclose(out));
    CHECK_OK(ct_format_guess(path, 1, &format, &err), err);
    CHECK(format == CT_FORMAT_BINARY);
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_sequence_read(path, CT_FORMAT_AUTO, noise, &seq, &err), err);
    CHECK(seq && ct_graph_variables(seq->graph) == 3);
    ct_sequence_free(seq);
    ct_noise_free(noise);
    free(file.bytes);
}

int main(void)
{
    RUN(test_what_is_written_reads_back_to_the_bit);
    RUN(test_text_and_binary_hold_the_same);
    RUN(test_a_file_cut_off_anywhere_is_refused);
    RUN(test_a_changed_byte_is_refused_or_changes_nothing);
    RUN(test_what_is_not_understood_is_refused_by_name);
    RUN(test_an_optional_section_of_later_versions_is_skipped);
    RUN(test_files_are_mapped_and_known_by_their_first_bytes);
    return ct_test_end();
}
