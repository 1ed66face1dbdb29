/* test_read_covtune_shape.c: shapes in covtune's sequences, and the factors that name them: nothing is lost, every
 * mistake has its sentence. */
#define _XOPEN_SOURCE 700
#include <covtune/push.h>
#include "data_test.h"

#define HEAD "covtune-sequence 1\n"
#define REST                                                                                                           \
    "var o0 SE2 0 0 0\nvar e0 SE2 1 0 0\nvar o1 SE2 0 0 0.1\nvar e1 SE2 1 0.1 0\n"                                     \
    "factor contact_se2 geo o0 e0 shape=egg\nfactor contact_se2 geo o1 e1 shape=box 0.0075\nfactor contact_se2 geo "   \
    "o1 e0 shape=can\n"                                                                                                \
    "factor tactile_yaw geo o0 e0 o1 e1 0.25\nfactor tactile_se2 dyn o0 e0 o1 e1 0.1 0.2 0.25\nfactor push_se2 dyn "   \
    "o0 e0 o1 e1 0.041\n"

static const char EXAMPLE[] =
    HEAD "noise geo isotropic 1 1e-06\nnoise dyn isotropic 3 1e-06\n"
         "shape egg ellipse 0.0819 0.1214\nshape box rectangle 0.11815 0.07895\nshape tri polygon 0 0 0.1 0 0 0.1\n"
         "shape can grid -1 -1.5 0.5 3 4\n+ 1 2 3 4\n+ 5 -0.125 7 8\n+ 9 10 11 12\n" REST;

static void test_shapes_are_written_as_they_were_read(void)
{
    run    r;
    double number[17];
    CHECK_SAME_TEXT(CT_FORMAT_COVTUNE, EXAMPLE);
    MUST_READ(&r, CT_FORMAT_COVTUNE, EXAMPLE);
    const ct_sequence *s = r.seq;
    CHECK(s->shapes == 4 && !strcmp(s->shape_name[1], "box") && ct_shape_kind_of(s->shape[1]) == CT_SHAPE_RECTANGLE &&
          ct_shape_kind_of(s->shape[2]) == CT_SHAPE_POLYGON);
    CHECK(ct_shape_numbers(s->shape[3], 17, number) == 17 && number[0] == -1 && number[1] == -1.5 && number[3] == 3 &&
          number[4] == 4 && number[10] == -0.125 && number[16] == 12);
    const ct_factor bare = ct_graph_factor(s->graph, 0), round = ct_graph_factor(s->graph, 1),
                    push = ct_graph_factor(s->graph, 5);
    CHECK(bare.ops == &ct_contact_se2 && bare.context == s->shape[0] && bare.z[0] == 0);
    CHECK(round.context == s->shape[1] && round.z[0] == 0.0075 && push.ops == &ct_push_se2 && push.z[0] == 0.041 &&
          !push.context);
    run_free(&r);
}

/* More numbers than a line holds, to the bit, and however they are broken into lines. */
static void test_long_shapes_go_on_over_lines(void)
{
    enum { CORNERS = 777, ROWS = 5, COLUMNS = 333 };
    static double xy[2 * CORNERS], value[ROWS * COLUMNS];
    ct_shape     *shape;
    run           made = {0}, read;
    ct_noise_new(&made.noise, &made.err);
    ct_sequence_new(NULL, &made.seq, &made.err);
    for (int i = 0; i < CORNERS; i++) {
        const double t = 6.283185307179586 * i / CORNERS, far = 1 + 0.1 * sin(7 * t);
        xy[2 * i] = far * cos(t), xy[2 * i + 1] = far * sin(t);
    }
    for (int i = 0; i < ROWS * COLUMNS; i++) value[i] = i == 3 * COLUMNS + 100 ? -1 / 3. : 1 + sin(i);
    for (int i = 0; i < ROWS * COLUMNS; i++) value[i] = value[i] == 0 ? 1e-3 : value[i];
    CHECK_OK(ct_shape_polygon(CORNERS, xy, &shape, &made.err), made.err);
    CHECK_OK(ct_sequence_add_shape(made.seq, "part", shape, &made.err), made.err);
    CHECK_OK(ct_shape_grid(ROWS, COLUMNS, 0.1, 1 / 3., 1e-3, value, &shape, &made.err), made.err);
    CHECK_OK(ct_sequence_add_shape(made.seq, "plate", shape, &made.err), made.err);
    char *text = write_text(&made, CT_FORMAT_COVTUNE, NULL, 0, NULL);
    CHECK_OK(read_text(&read, CT_FORMAT_COVTUNE, text), read.err);
    CHECK(read.seq && read.seq->shapes == 2 && same_shape(made.seq->shape[0], read.seq->shape[0]) &&
          same_shape(made.seq->shape[1], read.seq->shape[1]));
    char *again = read.seq ? write_text(&read, CT_FORMAT_COVTUNE, NULL, 0, NULL) : NULL;
    CHECK(again && !strcmp(text, again));
    free(again);
    free(text);
    run_free(&made);
    run_free(&read);
    MUST_READ(&read, CT_FORMAT_COVTUNE,
              HEAD "shape tri polygon # none here\n+ 0 0 1\n# between them\n\n+ 0 0 1\nshape egg ellipse\n+ 1\n+ 2");
    CHECK(read.seq->shapes == 2 && ct_shape_numbers(read.seq->shape[0], 0, NULL) == 6);
    run_free(&read);
}

/* LEO's file, found from the folder of the sequence; it is written as a grid, and so needs no other file any more. */
static void test_a_grid_may_be_in_a_file_beside_the_sequence(void)
{
    static const char *const files[2][2] = {
        {"sdf.json", "{\"grid_res\": 0.5, \"grid_size_x\": 3, \"grid_size_y\": 3, \"grid_origin_x\": -1, "
                     "\"grid_origin_y\": 2, \"grid_data\": [[1, 1, 1], [1, -1, 1], [1, 1, 1.5]]}"},
        {"run.ctseq", HEAD "shape tin file sdf.json\n"}};
    char path[512], where[600];
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", ct_test_folder(), files[i][0]);
        FILE *file = fopen(path, "w");
        CHECK(file);
        if (!file) return;
        fputs(files[i][1], file);
        fclose(file);
    }
    run r = {0};
    ct_noise_new(&r.noise, &r.err);
    CHECK_OK(ct_sequence_read(path, CT_FORMAT_AUTO, r.noise, &r.seq, &r.err), r.err);
    char *text = r.seq ? write_text(&r, CT_FORMAT_COVTUNE, NULL, 0, NULL) : NULL;
    CHECK(text && !strcmp(text, HEAD "shape tin grid -1 2 0.5 3 3\n+ 1 1 1\n+ 1 -1 1\n+ 1 1 1.5\n"));
    free(text);
    ct_sequence_free(r.seq);
    snprintf(where, sizeof where, "%s/sdf.json", ct_test_folder());
    remove(where);
    CHECK(ct_sequence_read(path, CT_FORMAT_AUTO, r.noise, &r.seq, &r.err) == CT_E_IO &&
          strstr(r.err.text, "run.ctseq:2: ") && strstr(r.err.text, "sdf.json: No such file"));
    remove(path);
    run_free(&r);
    CHECK_MESSAGE(CT_FORMAT_COVTUNE, HEAD "shape tin file", "t.txt:2: shape needs 1 file after the word file, found 0");
    CHECK_MESSAGE(CT_FORMAT_COVTUNE, HEAD "shape tin file a.json b.json",
                  "t.txt:2: expected the end of the line, found \"b.json\"");
}

static void test_every_mistake_is_named_with_its_line(void)
{
#define BAD(lines, words)                                                                                              \
    CHECK_MESSAGE(CT_FORMAT_COVTUNE,                                                                                   \
                  HEAD "noise geo isotropic 1 1\nshape egg ellipse 1 2\nvar o SE2 0 0 0\nvar e SE2 0 0 0\n" lines      \
                       "\n",                                                                                           \
                  "t.txt:6: " words)
    BAD("shape", "shape needs 2 words: name and kind, found 0");
    BAD("shape disc circle 1", "expected ellipse, rectangle, polygon, grid or file, found \"circle\"");
    BAD("shape egg ellipse 1 2", "shape \"egg\" is there already");
    BAD("shape box rectangle 1", "rectangle needs 2 numbers, found 1");
    BAD("shape box rectangle 1\nvar x R1 0", "rectangle needs 2 numbers, found 1");
    BAD("shape box rectangle 1 2\n+ 3", "rectangle needs 2 numbers, found 3");
    BAD("shape box rectangle 1 wide", "expected a finite number for rectangle, found \"wide\"");
    BAD("shape box rectangle 1 0", "rectangle: its half length hy must be from 1e-06 to 1e+06, it is 0");
    BAD("shape bad ellipse -1 1\nfactor contact_se2 geo o e shape=bad",
        "ellipse: its half axis a must be from 1e-06 to 1e+06, it is -1");
    BAD("shape tri polygon 0 0 1 0 1", "polygon needs an x and a y for every corner, found 5 numbers");
    BAD("shape tri polygon 0 0 1 1\n+ 1 0 0 1", "polygon: the sides from corner 0 and from corner 2 cross or touch");
    BAD("shape can grid 0 0 1 3", "grid needs 5 numbers before its samples, x0 y0 step rows columns, found 4");
    BAD("shape can grid 0 0 1 3 2.5", "grid: its columns must be a whole number, found 2.5");
    BAD("shape can grid 0 0 1 1e9 3", "grid of 1e+09 rows and 3 columns needs 3000000000 samples, found 0");
    BAD("shape can grid 0 0 1 3 3 1 1 1\n+ 1 -1 1 1 1", "grid of 3 rows and 3 columns needs 9 samples, found 8");
    BAD("shape can grid 0 0 1 3 3 1 1 1\n+ 1 -1 1 1 1 0",
        "grid: the sample in row 2, column 2 of its edge is 0: the outline must lie within the grid, where distances "
        "outside are positive");
    BAD("+ 1 2", "+ goes on with the numbers of a shape, the line above is none");
    BAD("factor contact_se2 geo o e",
        "contact_se2 needs shape= and the name of a shape after its variables, the line ends");
    BAD("factor contact_se2 geo o e 0.1",
        "contact_se2 needs shape= and the name of a shape after its variables, found \"0.1\"");
    BAD("factor contact_se2 geo o e shape=box", "there is no shape \"box\" above");
    BAD("factor contact_se2 geo o e shape=egg 0.1 0.2", "expected the end of the line, found \"0.2\"");
    BAD("factor contact_se2 geo o e shape=egg -0.1", "factor 0 (contact_se2 on o): radius must not be negative");
    BAD("factor tactile_yaw geo o e shape=egg", "factor needs 4 variables, found 3");
#undef BAD
}

/* A thousand shapes and no more, whatever their names. */
static void test_names_and_numbers_of_shapes_are_looked_at(void)
{
    ct_sequence *seq;
    ct_err       err = {0};
    char         name[16];
    CHECK_OK(ct_sequence_new(NULL, &seq, &err), err);
    for (int i = -4; i <= 1000; i++) {
        static const char *const bad[4] = {"", "#box", "two words", "tab\there"};
        ct_shape                *shape;
        snprintf(name, sizeof name, "s%d", i);
        CHECK_OK(ct_shape_ellipse(1, 2, &shape, &err), err);
        if (i < 0)
            CHECK_REFUSED(ct_sequence_add_shape(seq, bad[i + 4], shape, &err), err,
                          "its name must be one word that does not begin with #");
        else if (i < 1000) CHECK_OK(ct_sequence_add_shape(seq, name, shape, &err), err);
        else
            CHECK_REFUSED(ct_sequence_add_shape(seq, name, shape, &err), err,
                          "shape s1000: a sequence has at most 1000 shapes");
    }
    ct_shape *second;
    CHECK_OK(ct_shape_ellipse(1, 2, &second, &err), err);
    CHECK_REFUSED(ct_sequence_add_shape(seq, "s7", second, &err), err, "shape s7 is there already");
    CHECK(seq->shapes == 1000);
    ct_sequence_free(seq);
}

/* ---- truth beyond a grid ---- */

#define CAN                                                                                                            \
    "noise geo isotropic 1 1\nshape can grid -1 -1 1 3 3\n+ 1 1 1\n+ 1 -1 1\n+ 1 1 1\nvar o SE2 0 0 0\nvar e SE2 0 0 " \
    "0\nfactor contact_se2 geo o e shape=can 0.1\n"

static void test_a_contact_that_is_truly_beyond_its_grid_is_refused(void)
{
    run r;
    MUST_READ(&r, CT_FORMAT_COVTUNE, HEAD CAN "truth o 5 5 0\ntruth e 5.5 6 0\n");
    run_free(&r);
    CHECK_MESSAGE(CT_FORMAT_COVTUNE, HEAD CAN "truth o 5 5 0\ntruth e 5.5 6.5 0\n",
                  "t.txt:9: e on o, shape can: by their truth (0.5, 1.5) lies beyond the grid, which goes from (-1, "
                  "-1) to (1, 1)");
    CHECK_MESSAGE(
        CT_FORMAT_COVTUNE, HEAD CAN "truth o 5 5 0,1\ntruth e 5 8 0 known=x,y\n",
        "t.txt:9: e on o, shape can: by their truth (3, 0) lies beyond the grid, which goes from (-1, -1) to (1, 1)");
    MUST_READ(&r, CT_FORMAT_COVTUNE, HEAD CAN "truth o 5 5 0 known=x,y\ntruth e 5 8 0\n"); /* which is not known */
    run_free(&r);
    MUST_READ(&r, CT_FORMAT_COVTUNE, HEAD CAN "truth o 5 5 0\n");
    run_free(&r);
    MUST_READ(&r, CT_FORMAT_COVTUNE,
              HEAD "noise geo isotropic 1 1\nshape egg ellipse 1 1\nvar o SE2 0 0 0\nvar e SE2 0 0 0\ntruth o 0 0 "
                   "0\ntruth e 99 0 0\nfactor contact_se2 geo o e shape=egg\n");
    run_free(&r);
}

/* ---- a finger inside at the start ---- */

#define BOX(x0, more)                                                                                                  \
    HEAD "noise geo isotropic 1 1\nshape box rectangle 0.2 0.1\nvar o0 SE2 5 5 0,1\nvar e0 SE2 5 " x0                  \
         " 0\nvar o1 SE2 0 0 0\nvar e1 SE2 0 0 0\n"                                                                    \
         "factor contact_se2 geo o0 e0 shape=box 0.01\nfactor contact_se2 geo o1 e1 shape=box 0.01\n" more

/* The object is turned by a quarter: y of the world is its x. 0.2 of sqrt(0.08 / pi) is 31.9 mm; of e1, which is in
 * the middle, nothing is said: it may have come there. */
static void test_a_finger_that_begins_deep_inside_the_object_is_refused_by_truth_and_noted_by_start_values(void)
{
    run r;
    MUST_READ(&r, CT_FORMAT_COVTUNE, BOX("5.2", "truth o0 5 5 0,1\ntruth e0 5 5.18 0\n")); /* 30 mm */
    CHECK(!r.seq->note);
    run_free(&r);
    CHECK_MESSAGE(CT_FORMAT_COVTUNE, BOX("5.2", "truth o0 5 5 0,1\ntruth e0 5 5.17 0\n"),
                  "t.txt:8: finger inside the object: by their truth e0 is 40 mm inside o0, shape box, at the "
                  "start, more than 31.9 mm; is this the object's size, and are both in one frame?");
    CHECK_MESSAGE(CT_FORMAT_COVTUNE, BOX("5.2", "truth o0 5 5 0,1\ntruth e0 5 5 0 known=x,y\n"),
                  "t.txt:8: finger inside the object: by their truth e0 is 110 mm inside o0, shape box, at the "
                  "start, more than 31.9 mm; is this the object's size, and are both in one frame?");
    MUST_READ(&r, CT_FORMAT_COVTUNE, BOX("5.17", ""));
    CHECK(r.seq->note && strstr(r.seq->note, "by its start values finger e0 is 40 mm inside o0, shape box, at the "
                                       "start, and may be led out on any side"));
    run_free(&r);
    /* the truth is what counts, where it is known */
    MUST_READ(&r, CT_FORMAT_COVTUNE, BOX("5.17", "truth o0 5 5 0,1\ntruth e0 5 5.2 0\n"));
    CHECK(!r.seq->note);
    run_free(&r);
    MUST_READ(&r, CT_FORMAT_COVTUNE, BOX("5.18", ""));
    CHECK(!r.seq->note);
    run_free(&r);
    /* 4.5 mm: what is small is not deep */
    MUST_READ(&r, CT_FORMAT_COVTUNE,
              HEAD "noise geo isotropic 1 1\nshape pin ellipse 0.001 0.001\nvar o SE2 0 0 0\nvar e SE2 0 0 0\nfactor "
                   "contact_se2 geo o e shape=pin 0.0035\n");
    CHECK(!r.seq->note);
    run_free(&r);
}

/* ---- what others cannot hold ---- */

static void test_other_formats_have_no_place_for_pushing(void)
{
    run       r;
    int64_t   dropped;
    ct_shape *own = NULL;
    MUST_READ(&r, CT_FORMAT_COVTUNE, EXAMPLE);
    static const struct {
        ct_format   format;
        const char *words;
    } list[] = {{CT_FORMAT_G2O, "factor 0 (contact_se2 on o0): g2o has no edge for it"},
                {CT_FORMAT_ISAM, "factor 0 (contact_se2 on o0): iSAM has no edge for it"},
                {CT_FORMAT_PYFG, "factor 0 (contact_se2 on o0): PyFactorGraph has no edge for it"},
                {CT_FORMAT_TUM, "factor 0: a trajectory has no place for contact_se2"}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        char *text = write_text(&r, list[i].format, NULL, 0, NULL);
        CHECK(!text && r.err.status == CT_E_UNSUPPORTED && !strcmp(r.err.text, list[i].words));
        if (strcmp(r.err.text, list[i].words)) fprintf(stderr, "  %s\n", r.err.text);
        free(text);
        text = write_text(&r, list[i].format, NULL, 1, &dropped);
        CHECK(text && dropped >= 6);
        free(text);
    }
    CHECK_OK(ct_shape_ellipse(1, 1, &own, &r.err), r.err); /* borrowed from the caller, unknown to the sequence */
    CHECK_OK(ct_graph_add_factor(r.seq->graph, &ct_contact_se2, (const int32_t[]){0, 1}, (const double[]){0}, own, 0,
                                 &r.err),
             r.err);
    char *text = write_text(&r, CT_FORMAT_COVTUNE, NULL, 0, NULL);
    CHECK(!text && !strcmp(r.err.text, "factor 6 (contact_se2): its shape is none of the sequence's"));
    free(text);
    run_free(&r);
    ct_shape_free(own);
}

int main(void)
{
    RUN(test_shapes_are_written_as_they_were_read);
    RUN(test_long_shapes_go_on_over_lines);
    RUN(test_a_grid_may_be_in_a_file_beside_the_sequence);
    RUN(test_every_mistake_is_named_with_its_line);
    RUN(test_names_and_numbers_of_shapes_are_looked_at);
    RUN(test_a_contact_that_is_truly_beyond_its_grid_is_refused);
    RUN(test_a_finger_that_begins_deep_inside_the_object_is_refused_by_truth_and_noted_by_start_values);
    RUN(test_other_formats_have_no_place_for_pushing);
    return ct_test_end();
}
