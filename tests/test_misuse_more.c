/* test_misuse_more.c: as test_misuse.c, of the modules that read data, judge, learn and report. */
#include "evaluate_test.h"
#include "learn_test.h"

#include <covtune/covtune.h>

static const int BAD[] = {-1, 99, INT32_MIN, INT32_MAX};
#define EACH_BAD(i) for (int bad_ = 0, i = BAD[0]; bad_ < 4; bad_++, i = BAD[bad_ < 4 ? bad_ : 0])

static const char *scratch(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", ct_test_folder(), name);
    return path;
}

/* ---- data ---- */

static void test_formats_that_are_none_are_refused(void)
{
    lesson       l = lesson_of("D1", CT_SE2, 1, 3, 1);
    ct_sequence *seq;
    EACH_BAD(i)
    {
        CHECK_REFUSED(ct_sequence_write(l.seq[0], l.noise, NULL, (ct_format)i, 0, scratch("x.any"), NULL, &l.err),
                      l.err, "format");
        CHECK_REFUSED(ct_sequence_read("CMakeLists.txt", (ct_format)i, l.noise, &seq, &l.err), l.err, "format");
        CHECK(!seq);
    }
    lesson_free(&l);
}

static void test_kinds_that_cannot_be_made_are_refused(void)
{
    lesson         l = lesson_of("D1", CT_SE2, 1, 3, 1);
    ct_sequence   *seq;
    ct_nav_options nav;
    CHECK(!ct_nav_preset("none", CT_SE2, &nav));
    CHECK(!ct_nav_preset("D1", (ct_kind)99, &nav) && !ct_nav_preset("D1", CT_R1, &nav));
    CHECK(ct_nav_preset("D1", CT_SE2, &nav));
    EACH_BAD(i)
    {
        ct_nav_options   of = nav;
        ct_pose_graph_options world = ct_pose_graph_defaults((ct_kind)i);
        of.kind = (ct_kind)i;
        CHECK_REFUSED(ct_simulate_nav(&of, 0, l.noise, &seq, &l.err), l.err, "");
        of = nav;
        of.regimes = i;
        CHECK_REFUSED(ct_simulate_nav(&of, 0, l.noise, &seq, &l.err), l.err, "");
        of = nav;
        of.least = i < 0 ? i : 5;
        of.most = 4;
        CHECK_REFUSED(ct_simulate_nav(&of, 0, l.noise, &seq, &l.err), l.err, "");
        CHECK_REFUSED(ct_simulate_pose_graph(&world, l.noise, &seq, &l.err), l.err, "");
        world = ct_pose_graph_defaults(CT_SE2);
        world.poses = -1;
        CHECK_REFUSED(ct_simulate_pose_graph(&world, l.noise, &seq, &l.err), l.err, "");
        CHECK(!seq);
    }
    lesson_free(&l);
}

static void test_pushes_that_cannot_be_made_are_refused(void)
{
    ct_push_options push = ct_push_defaults(CT_SHAPE_RECTANGLE);
    ct_push_episode e;
    ct_sequence    *seq;
    ct_noise       *noise;
    ct_err          err;
    double         *x, *t, unit[3];
    int64_t         count;
    CHECK_OK(ct_noise_new(&noise, &err), err);
    push.steps = 12;
    EACH_BAD(i)
    {
        ct_push_options of = ct_push_defaults((ct_shape_kind)i);
        CHECK_REFUSED(ct_simulate_push(&of, 0, 0, NULL, NULL, noise, &seq, &err), err, "");
        CHECK_REFUSED(ct_simulate_push(&push, i, 0, NULL, NULL, noise, &seq, &err), err, "");
        CHECK_REFUSED(ct_simulate_push_episode(&push, i, 0, &e, &err), err, "pool");
        of = push;
        of.pool = of.episodes = -1;
        CHECK_REFUSED(ct_simulate_push(&of, 0, 0, NULL, NULL, noise, &seq, &err), err, "");
    }
    CHECK_OK(ct_simulate_push_episode(&push, 0, 0, &e, &err), err);
    EACH_BAD(i) CHECK(isnan(ct_push_relative_yaw(&e, i, 0)) && isnan(ct_push_relative_yaw(&e, 0, i)));
    CHECK_REFUSED(ct_push_image_pairs(&push, -1, &e, &count, &x, &t, &err), err, "");
    push.window = -1;
    CHECK_REFUSED(ct_push_image_pairs(&push, 1, &e, &count, &x, &t, &err), err, "");
    CHECK(!ct_push_units("none", unit));
    ct_push_episode_free(&e);
    ct_noise_free(noise);
}

static void test_a_dataset_says_nothing_of_a_model_that_is_not_there(void)
{
    ct_dataset *d;
    ct_err      err;
    CHECK_OK(ct_dataset_new(&d, &err), err);
    EACH_BAD(i)
    {
        const ct_dataset_group g = ct_dataset_group_of(d, i);
        CHECK(!g.learn && !g.name && g.kind == -1);
    }
    ct_dataset_free(d);
    CHECK_REFUSED(ct_dataset_read(ct_test_folder(), (ct_dataset_part)0, &d, &err), err, "");
    CHECK_REFUSED(ct_dataset_read("there is no such place", CT_DATASET_ALL, &d, &err), err, "");
    CHECK(!d);
}

static void test_truth_is_attached_by_known_rules_only(void)
{
    lesson            l = lesson_of("D1", CT_SE2, 1, 3, 1);
    ct_attach_options how = ct_attach_defaults();
    int32_t           poses;
    EACH_BAD(i)
    {
        how.by = (ct_attach_by)i;
        CHECK_REFUSED(ct_sequence_attach_truth(l.seq[0], l.seq[0], &how, NULL, &l.err), l.err, "");
        CHECK_REFUSED(ct_sequence_attach_times(l.seq[0], l.seq[0], (ct_attach_by)i, NULL, &l.err), l.err, "");
    }
    CHECK_OK(ct_sequence_uninitialised(l.seq[0], &poses, &l.err), l.err);
    lesson_free(&l);
}

/* ---- assess ---- */

static void test_losses_that_cannot_be_are_refused(void)
{
    lesson        l = lesson_of("D1", CT_SE2, 1, 3, 1);
    ct_loss       loss = ct_loss_defaults();
    ct_inference  how = ct_inference_defaults();
    ct_evaluation of;
    double        x[12], e[CT_DIM_MAX];
    ct_solver    *solver;
    CHECK_OK(ct_solver_new(l.seq[0]->graph, NULL, &solver, &l.err), l.err);
    CHECK_OK(ct_start_values(l.seq[0], CT_START_TRUTH, x, &l.err), l.err);
    EACH_BAD(i)
    {
        CHECK(ct_loss_variable(&loss, l.seq[0], i, x, e, NULL) == 0);
        CHECK(ct_truth_residuals(l.seq[0], i, l.noise, 0, NULL) == 0 && ct_truth_residuals(l.seq[0], i, NULL, 0,
                                                                                           NULL) == 0);
        CHECK_REFUSED(ct_start_values(l.seq[0], (ct_start)i, x, &l.err), l.err, "is not one");
        loss.difference = (ct_difference)i;
        CHECK_REFUSED(evaluate_one(l.seq[0], l.noise, solver, &how, &loss, 0, x, &of, &l.err), l.err, "is not one");
        loss = ct_loss_defaults();
        how.start = (ct_start)i;
        CHECK_REFUSED(evaluate_one(l.seq[0], l.noise, solver, &how, &loss, 0, x, &of, &l.err), l.err, "is not one");
        how = ct_inference_defaults();
        CHECK_OK(evaluate_all(1, l.seq, l.noise, &how, &loss, 0, i > 64 ? 3 : i, NULL, NULL, &of, &l.err), l.err);
    }
    CHECK_OK(evaluate_all(0, NULL, l.noise, &how, &loss, 0, 1, NULL, NULL, NULL, &l.err), l.err);
    CHECK_REFUSED(evaluate_all(-1, NULL, l.noise, &how, &loss, 0, 1, NULL, NULL, NULL, &l.err), l.err, "-1 sequences");
    CHECK_OK(ct_inference_choose(-1, NULL, &how, &l.err), l.err);
    loss.translation = -1;
    CHECK(ct_loss_terms(&loss, l.seq[0]) > 0 && ct_loss_value(&loss, l.seq[0],
                                                              x) >= 0); /* what has no weight does not count */
    CHECK_REFUSED(evaluate_one(l.seq[0], l.noise, solver, &how, &loss, 0, x, &of, &l.err), l.err, "weights -1");
    CHECK(ct_accuracy_of_body(l.seq[0], x, "none").poses == 0);
    CHECK(isnan(ct_chi_squared_quantile(-1, 1)) && isnan(ct_chi_squared_quantile(0.5, -1)) &&
          isnan(ct_chi_squared_quantile(2, 1)));
    ct_solver_free(solver);
    lesson_free(&l);
}

static void test_tables_that_do_not_fit_are_refused(void)
{
    lesson          l = lesson_of("D1", CT_SE2, 1, 3, 1);
    ct_noise       *none;
    ct_solver      *solver;
    ct_conditioning c;
    ct_solve_result result;
    ct_replay_result replayed;
    double          x[12], nees[3];
    int             degrees[3];
    CHECK_OK(ct_noise_new(&none, &l.err), l.err);
    CHECK_OK(ct_solver_new(l.seq[0]->graph, NULL, &solver, &l.err), l.err);
    CHECK_OK(ct_start_values(l.seq[0], CT_START_TRUTH, x, &l.err), l.err);
    CHECK_REFUSED(ct_solver_run(solver, none, x, NULL, &result, &l.err), l.err, "noise model");
    CHECK_REFUSED(ct_solver_linearise(solver, none, x, &l.err), l.err, "noise model");
    CHECK_REFUSED(ct_solver_hessian(solver, none, x, &l.err), l.err, "noise model");
    CHECK_REFUSED(ct_conditioning_at(l.seq[0]->graph, none, solver, x, &c, &l.err), l.err, "noise model");
    CHECK_REFUSED(ct_nees_each(l.seq[0], none, solver, x, nees, degrees, &l.err), l.err, "noise model");
    CHECK_REFUSED(ct_replay(l.seq[0]->graph, none, &(ct_replay_options){0}, x, &replayed, &l.err), l.err,
                  "noise model");
    CHECK_REFUSED(ct_sequence_write(l.seq[0], none, NULL, CT_FORMAT_COVTUNE, 0, scratch("x.ctseq"), NULL, &l.err),
                  l.err, "noise model");
    CHECK(ct_truth_residuals(l.seq[0], 0, none, 9, x) == 0);
    ct_solver_free(solver);
    ct_noise_free(none);
    lesson_free(&l);
}

/* ---- learn ---- */

static void test_what_cannot_be_learned_is_refused(void)
{
    lesson           l = begin("D1", 1, 4, 1, 1e-3, 1e3);
    ct_learn_options options = ct_learn_defaults();
    ct_learn_result  result;
    ct_outer        *outer;
    ct_noise        *none;
    double           error[CT_NOISE_DIM_MAX];
    int8_t           at[CT_NOISE_DIM_MAX];
    CHECK_OK(ct_noise_new(&none, &l.err), l.err);
    EACH_BAD(i)
    {
        options.method = (ct_learn_method)i;
        CHECK_REFUSED(ct_learn_check(l.outer, (ct_learn_method)i, &l.err), l.err, "method");
        CHECK_REFUSED(ct_learn(l.outer, &options, l.noise, &result, &l.err), l.err, "method");
        ct_learn_result_free(&result);
    }
    options = ct_learn_defaults();
    CHECK_REFUSED(ct_outer_new(0, NULL, l.noise, l.theta, NULL, &outer, &l.err), l.err, "no sequence");
    CHECK_REFUSED(ct_outer_new(-1, NULL, l.noise, l.theta, NULL, &outer, &l.err), l.err, "no sequence");
    CHECK_REFUSED(ct_outer_new(1, (const ct_sequence *const *)l.seq, none, l.theta, NULL, &outer, &l.err), l.err,
                  "another noise table");
    CHECK_REFUSED(ct_learn(l.outer, &options, none, &result, &l.err), l.err, "another noise table");
    ct_learn_result_free(&result);
    options.max_iterations = 2;
    options.folds = 0;
    CHECK_OK(ct_learn(l.outer, &options, l.noise, &result, &l.err), l.err);
    EACH_BAD(i)
    {
        ct_learn_rows(l.theta, &result, i, error, at);
        CHECK(isnan(error[0]) && isnan(error[5]) && !at[0]);
    }
    CHECK_REFUSED(ct_learn_write_noise(l.theta, none, none, &result, &(ct_learn_origin){0}, scratch("n.json"), &l.err),
                  l.err, "another noise table");
    CHECK_REFUSED(ct_learn_write_noise(l.theta, l.noise, none, &result, &(ct_learn_origin){0}, scratch("n.json"),
                                       &l.err), l.err, "another noise table");
    ct_learn_result_free(&result);
    ct_noise_free(none);
    lesson_free(&l);
}

/* ---- study ---- */

static void test_studies_of_nothing_come_to_nothing(void)
{
    lesson             l = lesson_of("D1", CT_SE2, 1, 3, 1);
    ct_evaluate_options how = ct_evaluate_defaults();
    ct_trial_options   options = ct_trial_defaults();
    ct_summary         v;
    ct_trial           trial = {0};
    learn_all(&l, CT_NOISE_DIAGONAL, 1e-3, 1e3);
    for (int n = -1; n < 1; n++) {
        if (n < 0) CHECK_REFUSED(ct_evaluate(n, NULL, l.noise, &how, NULL, &v, &l.err), l.err, "-1 sequences");
        else CHECK_OK(ct_evaluate(n, NULL, l.noise, &how, NULL, &v, &l.err), l.err);
        CHECK(v.sequences == 0 && isnan(v.loss));
        CHECK_REFUSED(ct_trial_run(n, NULL, 0, NULL, l.noise, l.theta, &options, &trial, &l.err), l.err, "no sequence");
        ct_trial_free(&trial);
    }
    CHECK(ct_summary_body(&v, "none").poses == 0);
    CHECK(ct_trace_reaches(&trial, 1, 1, 0.05) == -1);
    lesson_free(&l);
}

/* ---- report ---- */

static void test_tables_built_wrongly_say_so(void)
{
    const struct {
        int         what;
        const char *sentence;
    } CASE[] = {{0, "the same key"}, {1, "digits"}, {2, "after the first row"}, {3, "before the first row"},
                {4, "more cells"}, {5, "a mark is"}, {6, "before the first cell"}};
    for (size_t k = 0; k < sizeof CASE / sizeof *CASE; k++) {
        ct_table *t;
        ct_page  *page;
        ct_err    err;
        CHECK_OK(ct_table_new("title", &t, &err), err);
        ct_table_column(t, "a", "a", NULL, 3);
        if (CASE[k].what == 0) ct_table_column(t, "a", "b", NULL, 3);
        if (CASE[k].what == 1) ct_table_column(t, "b", "b", NULL, 99);
        if (CASE[k].what == 3) ct_table_number(t, 1);
        if (CASE[k].what == 6) ct_table_mark(t, 1);
        ct_table_row(t, 0);
        ct_table_text(t, "%s", "x");
        if (CASE[k].what == 4) ct_table_number(t, 1);
        if (CASE[k].what == 5) ct_table_mark(t, 7);
        if (CASE[k].what == 2) ct_table_column(t, "c", "c", NULL, 3);
        ct_table_row(t, 0);
        ct_table_deviation(t, 1, 2);
        ct_table_note(t, "note");
        CHECK_REFUSED(ct_table_print(t, CT_TABLE_TEXT, 0, stdout, &err), err, CASE[k].sentence);
        CHECK_REFUSED(ct_table_write(t, CT_TABLE_CSV, scratch("t.csv"), &err), err, CASE[k].sentence);
        CHECK_OK(ct_page_new("page", NULL, &page, &err), err);
        ct_page_table(page, t);
        CHECK_REFUSED(ct_page_write(page, scratch("p.html"), &err), err, CASE[k].sentence);
        ct_page_free(page);
        ct_table_free(t);
    }
}

static void test_pages_built_wrongly_say_so(void)
{
    static const char *const NAMES[] = {"a", "b"};
    static const char *const SENTENCE[] = {"between choices", "inside choices", "inside others", "nothing to choose",
                                           "not there", "not there", "not begun", "not ended"};
    for (int k = 0; k < 8; k++) {
        ct_page *page;
        ct_err   err;
        CHECK_OK(ct_page_new("page", NULL, &page, &err), err);
        if (k != 3 && k != 4 && k != 6) ct_page_choices(page, "c", "label", 2, NAMES);
        if (k == 0) ct_page_text(page, "text");
        if (k == 3) ct_page_choices(page, "c", "label", 0, NAMES);
        if (k == 4) ct_page_choice(page, 0);
        if (k == 6) ct_page_choices_end(page);
        if (k != 3 && k != 4 && k != 6) ct_page_choice(page, 0);
        if (k == 1) ct_page_section(page, "s", "s");
        if (k == 2) ct_page_choices(page, "d", "label", 2, NAMES);
        if (k == 5) ct_page_choice(page, 2);
        if (k != 3 && k != 4 && k != 6 && k != 7) ct_page_choices_end(page);
        CHECK_REFUSED(ct_page_write(page, scratch("p.html"), &err), err, SENTENCE[k]);
        ct_page_free(page);
    }
}

static void test_pictures_and_exports_that_cannot_be(void)
{
    lesson       l = lesson_of("D1", CT_SE2, 1, 3, 1);
    const double x[3] = {1, 2, 3};
    FILE        *null = fopen("/dev/null", "w");
    ct_table    *t;
    CHECK_OK(ct_table_new(NULL, &t, &l.err), l.err);
    EACH_BAD(i)
    {
        const ct_series series = {NULL, (ct_role)i, CT_MARK_LINE, 3, x, x, NULL}, odd = {NULL, CT_ROLE_TRUTH,
                                                                                         (ct_mark)i, 3, x, x, x};
        const ct_plot   one = {.count = 1, .series = &series}, two = {.count = 1,
                                                                      .series = &odd}, none = {.count = i < 0 ? i : 0};
        const ct_scene_body   body = {.role = (ct_role)i, .radius = 1, .pose = x};
        const ct_scene  scene = {.frames = 1, .count = 1, .body = &body}, empty = {.frames = i < 0 ? i : 0,
                                                                                   .count = i < 0 ? i : 0};
        CHECK_REFUSED(ct_export(l.noise, (ct_export_format)i, NULL, null, &l.err), l.err, "is not one");
        CHECK_REFUSED(ct_export_write(l.noise, (ct_export_format)i, NULL, scratch("e.txt"), &l.err), l.err,
                      "is not one");
        CHECK_REFUSED(ct_table_print(t, (ct_table_format)i, 0, null, &l.err), l.err, "is not one");
        CHECK_OK(ct_plot_print(&one, null, &l.err), l.err);
        CHECK_OK(ct_plot_print(&two, null, &l.err), l.err);
        CHECK_OK(ct_plot_print(&none, null, &l.err), l.err);
        CHECK_OK(ct_scene_print(&scene, null, &l.err), l.err);
        CHECK_OK(ct_scene_print(&empty, null, &l.err), l.err);
    }
    ct_table_free(t);
    fclose(null);
    lesson_free(&l);
}

int main(void)
{
    RUN(test_formats_that_are_none_are_refused);
    RUN(test_kinds_that_cannot_be_made_are_refused);
    RUN(test_pushes_that_cannot_be_made_are_refused);
    RUN(test_a_dataset_says_nothing_of_a_model_that_is_not_there);
    RUN(test_truth_is_attached_by_known_rules_only);
    RUN(test_losses_that_cannot_be_are_refused);
    RUN(test_tables_that_do_not_fit_are_refused);
    RUN(test_what_cannot_be_learned_is_refused);
    RUN(test_studies_of_nothing_come_to_nothing);
    RUN(test_tables_built_wrongly_say_so);
    RUN(test_pages_built_wrongly_say_so);
    RUN(test_pictures_and_exports_that_cannot_be);
    return ct_test_end();
}
