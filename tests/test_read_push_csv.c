/* test_read_push_csv.c: pushes that were recorded: what is read, what is cut off, and what is refused. */
#define _XOPEN_SOURCE 700
#include <covtune/push.h>
#include "data_test.h"

#include <unistd.h>

#define NAMES "t,object_x,object_y,object_theta,pusher_x,pusher_y\n"

/* Rows of a square of 90 mm that is pushed along x by a finger that touches it in the middle of its -x face, 1 mm a
 * row; before and after, the object lies still and the finger comes and goes. The numbers are those of the table's
 * rows, from 0. */
enum { COMES = 4, PUSHES = 20, GOES = 5, ROWS = COMES + PUSHES + GOES, TEXT_MAX = 8192 };

static double object_x(int i) { return 0.2 + 1e-3 * (i < COMES ? 0 : i < COMES + PUSHES ? i - COMES : PUSHES - 1); }
static double finger_x(int i)
{
    return i < COMES + PUSHES ? 0.2 + 1e-3 * (i - COMES) - 0.0497
                              : object_x(i) - 0.0497 - 2e-3 * (i - COMES - PUSHES + 1);
}

static void write_rows(char text[TEXT_MAX])
{
    char *at = text + sprintf(text, NAMES);
    for (int i = 0; i < ROWS; i++)
        at += sprintf(at, "%.17g,%.17g,0.01,0,%.17g,0.01\n", 0.02 * i + 0.001 * (i % 3), object_x(i), finger_x(i));
}

static const ct_push_csv_options ONE = {.half_x = 0.045, .half_y = 0.045, .radius = 0.0047, .c = 0.05, .every = 1};

/* A file of it, read with options. */
static ct_status read_file(run *r, const char *text, const ct_push_csv_options *options)
{
    char path[512];
    snprintf(path, sizeof path, "%s/push_log.csv", ct_test_folder());
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
    *r = (run){0};
    ct_noise_new(&r->noise, &r->err);
    const ct_status status = options ? ct_push_csv_read(path, options, r->noise, &r->seq, &r->err)
                                     : ct_sequence_read(path, CT_FORMAT_AUTO, r->noise, &r->seq, &r->err);
    remove(path);
    return status;
}

static const double *value_of(const ct_sequence *seq, const double *x, const char *name)
{
    return x + ct_graph_offset(seq->graph, ct_graph_find(seq->graph, name));
}

/* Noise models, variables, truth, times and factors are as the header says; contact and mechanics fit at the truth,
 * as the object was pushed straight. */
static void test_a_table_becomes_a_graph(void)
{
    char text[TEXT_MAX];
    run  r;
    write_rows(text);
    CHECK_OK(read_file(&r, text, &ONE), r.err);
    if (!r.seq) return;
    const ct_sequence *seq = r.seq;
    const ct_graph    *g = seq->graph;
    CHECK(ct_graph_variables(g) == 2 * PUSHES && ct_graph_factors(g) == 1 + PUSHES + PUSHES + PUSHES - 1);
    CHECK(seq->shapes == 1 && ct_shape_kind_of(seq->shape[0]) == CT_SHAPE_RECTANGLE && !strcmp(seq->name, "push_log"));
    CHECK(!strcmp(ct_sequence_label(seq), "push_log"));
    const ct_sequence unnamed = {0};
    CHECK(!strcmp(ct_sequence_label(&unnamed), "without a name"));
    int64_t samples = 0;
    for (int32_t f = 0; f < ct_graph_factors(g); f++) {
        const ct_factor k = ct_graph_factor(g, f);
        const char     *model = ct_noise_get(r.noise, k.noise)->name;
        const char *of = k.ops == &ct_push_se2 ? "dyn" : k.ops == &ct_contact_se2 ? "geo" : f ? "prior" : "first_pose";
        CHECK(!strcmp(model, of));
        if (k.ops == &ct_contact_se2) CHECK(k.z[0] == 0.0047);
        if (k.ops == &ct_push_se2) CHECK(k.z[0] == 0.05 * 0.05);
        const double *x[4];
        double        residual[3] = {0};
        for (int i = 0; i < k.ops->arity; i++) x[i] = seq->truth + ct_graph_offset(g, k.var[i]);
        ct_factor_eval(k.ops, k.z, k.context, x, residual, NULL);
        for (int i = 0; i < k.ops->rows; i++) CHECK_NEAR(residual[i], 0, 1e-15);
        samples++;
    }
    CHECK(samples == 3 * PUSHES);
    for (int k = 0; k < PUSHES; k++) {
        char o[16], e[16];
        snprintf(o, sizeof o, "o%d", k);
        snprintf(e, sizeof e, "e%d", k);
        CHECK(ct_graph_find(g, o) == 2 * k && ct_graph_find(g, e) == 2 * k + 1);
        CHECK(seq->known[2 * k] == 7 && seq->known[2 * k + 1] == 3);
        CHECK(value_of(seq, seq->truth, o)[0] == object_x(COMES + k) &&
              value_of(seq, seq->truth, e)[0] == finger_x(COMES + k));
        CHECK(seq->stamp[2 * k] == 0.02 * (COMES + k) + 0.001 * ((COMES + k) % 3) &&
              seq->stamp[2 * k + 1] == seq->stamp[2 * k]);
    }
    CHECK(ct_noise_get(r.noise, ct_noise_find(r.noise, "dyn"))->kind == CT_NOISE_DIAGONAL &&
          ct_noise_get(r.noise, ct_noise_find(r.noise, "geo"))->dim == 1);
    run_free(&r);
}

/* Cut to where they touch and it moves, from the last row at rest to the first one there again; the note says which
 * rows those are. Steps are of as many rows as was asked for. */
static void test_what_is_no_push_is_cut_off(void)
{
    char text[TEXT_MAX], words[128];
    run  r;
    write_rows(text);
    for (int every = 1; every <= PUSHES - 1; every += 3) {
        ct_push_csv_options options = ONE;
        options.every = every;
        CHECK_OK(read_file(&r, text, &options), r.err);
        if (!r.seq) return;
        CHECK(ct_graph_variables(r.seq->graph) == 2 * ((PUSHES - 1) / every + 1));
        CHECK(value_of(r.seq, r.seq->truth, "o1")[0] == object_x(COMES + every));
        snprintf(words, sizeof words, "of %d rows those from %d to %d are used", ROWS, COMES + 1, COMES + PUSHES);
        CHECK(strstr(r.seq->note, words) && !strstr(r.seq->note, "apart"));
        run_free(&r);
    }
    CHECK(read_file(&r, text, NULL) == CT_OK && ct_graph_variables(r.seq->graph) == 2 * 7); /* by itself: every third */
    run_free(&r);
}

/* A finger that comes from afar begins the run where it arrives, though the object moved before; one that loses the
 * object ends it there, though the object moves on. */
static void test_contact_begins_and_ends_a_run(void)
{
    char  text[TEXT_MAX], *at = text + sprintf(text, NAMES);
    run   r;
    for (int i = 0; i < 12; i++) {
        const double gap = i < 3 ? 0.01 : i > 8 ? 0.02 : i == 5 ? 0.005 : 0;
        at += sprintf(at, "%d,%.17g,0,0,%.17g,0\n", i, 1e-3 * i, 1e-3 * i - 0.0497 - gap);
    }
    CHECK_OK(read_file(&r, text, &ONE), r.err);
    if (!r.seq) return;
    CHECK(ct_graph_variables(r.seq->graph) == 2 * 6 && value_of(r.seq, r.seq->truth, "o0")[0] == 3e-3 &&
          value_of(r.seq, r.seq->truth, "o5")[0] == 8e-3);
    CHECK(strstr(r.seq->note, "those from 4 to 9 are used") &&
          strstr(r.seq->note, "in 1 of 6 steps they are more than 3 mm apart"));
    run_free(&r);
}

/* An object that turns on the spot moves; one whose heading jumps by a whole turn does not. */
static void test_turning_is_moving_but_a_whole_turn_is_not(void)
{
    char  text[TEXT_MAX], *at = text + sprintf(text, NAMES);
    run   r;
    const double turn = 2 * acos(-1);
    for (int i = 0; i < 9; i++)
        at += sprintf(at, "%d,0,0,%.17g,-0.0497,0\n", i, (i < 3 ? 0 : i < 6 ? 0.01 * (i - 2) : 0.03) + turn * (i % 2));
    CHECK_OK(read_file(&r, text, &ONE), r.err);
    if (!r.seq) return;
    CHECK(strstr(r.seq->note, "those from 3 to 6 are used"));
    run_free(&r);
    at = text + sprintf(text, NAMES);
    for (int i = 0; i < 9; i++) at += sprintf(at, "%d,0,0,%.17g,-0.0497,0\n", i, turn * (i % 2));
    CHECK_REFUSED(read_file(&r, text, &ONE), r.err,
                  "push_log.csv: the object lies still: it moves by less than 0.2 mm");
    run_free(&r);
}

/* Initial values know no truth but the first: the object went along with the finger. */
static void test_initial_values_know_the_first_pose_alone(void)
{
    char  text[TEXT_MAX], *at = text + sprintf(text, NAMES);
    run   r;
    for (int i = 0; i < 10; i++)
        at += sprintf(at, "%d,%.17g,%.17g,%.17g,%.17g,0\n", i, 9e-4 * i, 5e-4 * i, 0.2 + 0.01 * i, 1e-3 * i - 0.05);
    CHECK_OK(read_file(&r, text, &ONE), r.err);
    if (!r.seq) return;
    const double *x = ct_graph_initial_const(r.seq->graph), *last = value_of(r.seq, x, "o9"),
                 *finger = value_of(r.seq, x, "e9");
    CHECK_NEAR(last[0], 9e-3, 1e-16);
    CHECK(last[1] == 0 && last[2] == cos(0.2) && last[3] == sin(0.2) && finger[2] == 1 && finger[3] == 0);
    CHECK(value_of(r.seq, r.seq->truth, "o9")[1] == 5e-4 * 9);
    run_free(&r);
}

/* Where the table stands in the world does not matter: turned and moved, the same rows are used, and the finger is
 * where it was as the object sees it. */
static void test_the_frame_does_not_matter(void)
{
    char         text[2][TEXT_MAX];
    run          r[2];
    const double turn = 1.2, c = cos(turn), s = sin(turn);
    for (int k = 0; k < 2; k++) {
        char *at = text[k] + sprintf(text[k], NAMES);
        for (int i = 0; i < 12; i++) {
            const double x = i < 3 ? 0 : 1e-3 * (i - 2), theta = 0.01 * x, ex = x - 0.0497 - (i > 9 ? 0.01 : 0),
                         ey = 0.03;
            if (k)
                at += sprintf(at, "%d,%.17g,%.17g,%.17g,%.17g,%.17g\n", i, c * x + 5, s * x - 2, theta + turn,
                              c * ex - s * ey + 5, s * ex + c * ey - 2);
            else at += sprintf(at, "%d,%.17g,0,%.17g,%.17g,%.17g\n", i, x, theta, ex, ey);
        }
        CHECK_OK(read_file(&r[k], text[k], &ONE), r[k].err);
    }
    if (r[0].seq && r[1].seq) {
        CHECK(!strcmp(r[0].seq->note, r[1].seq->note) && strstr(r[0].seq->note, "those from 3 to 10 are used"));
        CHECK(ct_graph_variables(r[0].seq->graph) == ct_graph_variables(r[1].seq->graph));
        for (int32_t k = 0; k < ct_graph_variables(r[0].seq->graph); k += 2) {
            double q[2][2];
            for (int i = 0; i < 2; i++) {
                const double *o = r[i].seq->truth + 4 * k, x = o[4] - o[0], y = o[5] - o[1];
                q[i][0] = o[2] * x + o[3] * y, q[i][1] = o[2] * y - o[3] * x;
            }
            CHECK_NEAR(q[1][0], q[0][0], 1e-14);
            CHECK_NEAR(q[1][1], q[0][1], 1e-14);
        }
    }
    run_free(&r[0]);
    run_free(&r[1]);
}

/* Columns are found by their names, blanks and comments do not matter, other columns are not looked at: the same
 * graph, to the bit. */
static void test_columns_go_by_their_names(void)
{
    static const char rows[] = NAMES "0,0,0,0,-0.0497,0\n0.1,0.001,0,0,-0.0487,0\n0.2,0.002,0.001,0.01,-0.0477,0\n";
    static const char other[] =
        "# by hand\n pusher_y , pusher_x,object_theta,force,object_y,object_x,t\r\n\n0,-0.0497,0,7,0,0,0\r\n# "
        "comment\n0 ,-0.0487,0,,0, 0.001,0.1\n 0,-0.0477,0.01,x,0.001,0.002,0.2";
    run               a, b;
    CHECK_OK(read_file(&a, rows, &ONE), a.err);
    CHECK_OK(read_file(&b, other, &ONE), b.err);
    if (a.seq && b.seq) check_same_run(&a, &b, 1);
    if (b.seq) CHECK(strstr(b.seq->note, "1 other column was not looked at"));
    if (a.seq) CHECK(!strstr(a.seq->note, "column"));
    run_free(&a);
    run_free(&b);
}

/* By its ending, and by its names where there is none. covtune's own format keeps all of it. */
static void test_it_is_known_by_its_names_and_kept(void)
{
    char      text[TEXT_MAX], path[512];
    run       r, again;
    ct_format format;
    write_rows(text);
    MUST_READ(&r, CT_FORMAT_PUSH, text);
    char *kept = write_text(&r, CT_FORMAT_COVTUNE, NULL, 0, NULL);
    CHECK(kept != NULL);
    MUST_READ(&again, CT_FORMAT_COVTUNE, kept);
    check_same_run(&r, &again, 1);
    free(kept);
    CHECK(!write_text(&r, CT_FORMAT_PUSH, NULL, 1, NULL) &&
          strstr(r.err.text, "covtune does not write the format push"));
    run_free(&again);
    run_free(&r);
    snprintf(path, sizeof path, "%s/push_log_table", ct_test_folder());
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
    CHECK_OK(ct_format_guess(path, 1, &format, &r.err), r.err);
    CHECK(format == CT_FORMAT_PUSH);
    CHECK(ct_format_guess("run.csv", 0, &format, &r.err) == CT_OK && format == CT_FORMAT_PUSH);
    remove(path);
}

#define PUSHED "0,0,0,0,-0.0497,0\n1,0.001,0,0,-0.0487,0\n2,0.002,0,0,-0.0477,0\n3,0.003,0,0,-0.0467,0\n"

static void test_refusals_name_file_line_rule_and_what_was_found(void)
{
    CHECK_MESSAGE(CT_FORMAT_PUSH, "", "t.txt: empty; a recorded push begins with the names of its columns");
    CHECK_MESSAGE(CT_FORMAT_PUSH, "time,x,y\n" PUSHED,
                  "t.txt:1: no column of a recorded push (object_x, object_y, object_theta, pusher_x, pusher_y); a "
                  "recipe imports other tables: covtune import --init FILES writes a first one");
    CHECK_MESSAGE(CT_FORMAT_PUSH, "time,object_x,y\n" PUSHED,
                  "t.txt:1: no column t; a recorded push has t, object_x, object_y, object_theta, pusher_x and "
                  "pusher_y, its first line begins with \"time\"");
    CHECK_MESSAGE(CT_FORMAT_PUSH, "t,object_x,object_y,object_theta,pusher_x,t\n" PUSHED,
                  "t.txt:1: column t is there twice");
    CHECK_MESSAGE(CT_FORMAT_PUSH, NAMES "0,0,0,0,-0.0497\n",
                  "t.txt:2: expected 6 numbers, as many as there are names in the first line, found 5");
    CHECK_MESSAGE(CT_FORMAT_PUSH, NAMES "0,0,0,0,-0.0497,0\n1,0.001,nan,0,-0.0487,0\n",
                  "t.txt:3: expected a finite number for object_y, found \"nan\"");
    CHECK_MESSAGE(CT_FORMAT_PUSH, NAMES "0,0,0,,-0.0497,0\n",
                  "t.txt:2: expected a finite number for object_theta, found \"\"");
    CHECK_MESSAGE(CT_FORMAT_PUSH, NAMES "0,0,0,0,-0.0497,0\n1,0.001,0,-1e7,-0.0487,0\n",
                  "t.txt:3: object_theta is -1e+07; metres and radians of a table are at most 1e+06");
    CHECK_MESSAGE(CT_FORMAT_PUSH, NAMES "0,0,0,0,-0.0497,1e308\n",
                  "t.txt:2: pusher_y is 1e+308; metres and radians of a table are at most 1e+06");
    CHECK_MESSAGE(CT_FORMAT_PUSH, NAMES, "t.txt:1: 0 rows; a push has at least two");
    CHECK_MESSAGE(CT_FORMAT_PUSH, "t,object_x,object_y,object_theta,pusher_x\n",
                  "t.txt:1: no column pusher_y; a recorded push has t, object_x, object_y, object_theta, pusher_x and "
                  "pusher_y, its first line begins with \"t\"");
    CHECK_MESSAGE(CT_FORMAT_PUSH, NAMES PUSHED "2.5,0.004,0,0,-0.0457,0\n",
                  "t.txt:6: t is 2.5, and 3 in the row before: times must grow");
    CHECK_MESSAGE(CT_FORMAT_PUSH, NAMES PUSHED "3,0.003,0,0,-0.0467,0\n",
                  "t.txt:6: t is 3, and 3 in the row before: times must grow");
    CHECK_MESSAGE(CT_FORMAT_PUSH, NAMES "0,0,0,0,-0.0497,0\n", "t.txt:2: 1 row; a push has at least two");
    CHECK_MESSAGE(CT_FORMAT_PUSH, NAMES "0,0,0,0,-49.7,0\n1,1,0,0,-48.7,0\n", /* millimetres */
                  "t.txt: finger and object never touch: they come no nearer than 4.97e+04 mm; are lengths in metres, "
                  "and is this the object's size?");
    CHECK_MESSAGE(CT_FORMAT_PUSH, NAMES "0,0,0,0,-0.0497,0\n1,0.001,0,0,-0.0487,0\n2,0.002,0,0,-0.0477,0\n",
                  "t.txt: no step of 3 rows in which finger and object touch and the object moves: of 3 rows it is "
                  "touched from 1 to 3, and moves from 1 to 3");
    CHECK_MESSAGE(CT_FORMAT_PUSH,
                  NAMES "0,0,0,0,-0.0377,0\n1,0.001,0,0,-0.0367,0\n2,0.002,0,0,-0.0357,0\n3,0.003,0,0,-0.0347,0\n",
                  "t.txt:2: finger inside the object: e0 is 12 mm inside, more than 5 mm; is this the object's size, "
                  "and are both in one frame?");
}

static void test_options_are_checked(void)
{
    run                 r;
    ct_push_csv_options options = ONE;
    options.radius = -1;
    CHECK_REFUSED(read_file(&r, NAMES PUSHED, &options), r.err, "radius is -1 m; it must be finite, and not negative");
    run_free(&r);
    options = ONE, options.c = 0;
    CHECK_REFUSED(read_file(&r, NAMES PUSHED, &options), r.err, "c is 0 m; it must be positive and finite");
    run_free(&r);
    options = ONE, options.every = 0;
    CHECK_REFUSED(read_file(&r, NAMES PUSHED, &options), r.err, "a step is at least 1 row, not 0");
    run_free(&r);
    options = ONE, options.half_y = NAN;
    CHECK(read_file(&r, NAMES PUSHED, &options) == CT_E_ARGUMENT && !r.seq);
    run_free(&r);
    /* touches where the default one does */
    options = (ct_push_csv_options){.half_x = 0.04, .half_y = 0.02, .radius = 0.0097, .c = 0.1, .every = 1};
    CHECK_OK(read_file(&r, NAMES PUSHED, &options), r.err);
    double number[2];
    CHECK(r.seq && ct_shape_numbers(r.seq->shape[0], 2, number) == 2 && number[0] == 0.04 && number[1] == 0.02);
    run_free(&r);
    const ct_push_csv_options d = ct_push_csv_defaults();
    CHECK(d.half_x == 0.045 && d.half_y == 0.045 && d.radius == 0.0047 && d.c == 0.05 && d.every == 3);
}

/* ---- recorded ---- */

static const char *const RECORDED[] = {"StraightLineBigPertubations", "StraightLineNoPertubations",
                                       "StraightLine_2016_10_23_NoPerturbationsBlack",
                                       "StraightLine_2016_10_23_StraightLineOpenLoop"};

/* Every row that is left moves and, undisturbed, touches; of the run in which the finger slides off, the end is
 * gone. What the models say at the truth has the size that it has in reality. */
static void test_recorded_pushes_are_read(void)
{
    if (!ct_test_shared("data/cpush/StraightLineNoPertubations.csv")) SKIP("no ../shared/data/cpush");
    for (int i = 0; i < 4; i++) {
        char   name[128];
        run    r = {0};
        double residual[500];
        snprintf(name, sizeof name, "data/cpush/%s.csv", RECORDED[i]);
        ct_noise_new(&r.noise, &r.err);
        CHECK_OK(ct_sequence_read(ct_test_shared(name), CT_FORMAT_AUTO, r.noise, &r.seq, &r.err), r.err);
        if (!r.seq) return;
        const int32_t steps = ct_graph_variables(r.seq->graph) / 2, geo = ct_noise_find(r.noise, "geo");
        int           apart = 0;
        double        sum = 0;
        CHECK(steps > 100 && steps < 160);
        for (int32_t k = 0; k < steps; k++) {
            const double *o = r.seq->truth + 8 * k, *e = o + 4, x = e[0] - o[0], y = e[1] - o[1];
            /* a square by hand */
            const double  wx = fabs(o[2] * x + o[3] * y) - 0.045, wy = fabs(o[2] * y - o[3] * x) - 0.045;
            residual[k] = (wx > 0 && wy > 0 ? hypot(wx, wy) : fmax(wx, wy)) - 0.0047;
            apart += fabs(residual[k]) > 3e-3;
            sum += residual[k] * residual[k];
        }
        /* an object that was kicked away */
        CHECK((apart > 0) == (i == 0) && (apart > 0) == (strstr(r.seq->note, " apart, ") != NULL));
        CHECK(sqrt(sum / steps) < 3e-3);
        double found[500];
        CHECK(ct_graph_factors(r.seq->graph) == 3 * steps && geo >= 0);
        int64_t n = 0;
        for (int32_t f = 0; f < ct_graph_factors(r.seq->graph); f++) {
            const ct_factor k = ct_graph_factor(r.seq->graph, f);
            const double   *at[4];
            if (k.noise != geo) continue;
            for (int j = 0; j < 2; j++) at[j] = r.seq->truth + ct_graph_offset(r.seq->graph, k.var[j]);
            ct_factor_eval(k.ops, k.z, k.context, at, &found[n++], NULL);
        }
        for (int32_t k = 0; k < steps; k++) CHECK_NEAR(found[k], residual[k], 1e-15);
        run_free(&r);
    }
}

int main(void)
{
    RUN(test_a_table_becomes_a_graph);
    RUN(test_what_is_no_push_is_cut_off);
    RUN(test_contact_begins_and_ends_a_run);
    RUN(test_turning_is_moving_but_a_whole_turn_is_not);
    RUN(test_initial_values_know_the_first_pose_alone);
    RUN(test_the_frame_does_not_matter);
    RUN(test_columns_go_by_their_names);
    RUN(test_it_is_known_by_its_names_and_kept);
    RUN(test_refusals_name_file_line_rule_and_what_was_found);
    RUN(test_options_are_checked);
    RUN(test_recorded_pushes_are_read);
    return ct_test_end();
}
