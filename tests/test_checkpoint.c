/* test_checkpoint.c: runs that are broken off, and what they are resumed from. */
#define _XOPEN_SOURCE 700
#include "learn_test.h"
#include "learn/learn.h"

#include <unistd.h>

/* ---- Broken off and resumed ------------------------------------------------------------------- */

typedef struct {
    int left; /* events until the caller says stop; -1: never */
} patience;

static int count_down(void *user, const ct_learn_progress *progress)
{
    patience *p = user;
    CHECK(progress->done >= 0 && progress->done <= 1 && progress->seconds >= 0 && progress->p &&
          (unsigned)progress->phase < CT_LEARN_PHASE_COUNT);
    return p->left >= 0 && p->left-- == 0;
}

static ct_learn_result learn_kept(const char *path, ct_learn_method method, int resume, int stop_after, int jobs,
                                  int64_t *replayed)
{
    lesson           l = begin("D1", 4, 40, 17, 1e-3, 1e3);
    ct_outer_options outer = ct_outer_defaults();
    ct_learn_options options = ct_learn_defaults();
    ct_checkpoint       *checkpoint = NULL;
    patience         p = {stop_after};
    outer.jobs = jobs;
    open_outer(&l, &outer);
    options.method = method;
    options.max_iterations = method == CT_LEARN_POWELL ? 1 : 15;
    options.progress = count_down;
    options.user = &p;
    CHECK_OK(ct_checkpoint_open(path, resume, ct_outer_digest(l.outer, "15"), 0, &checkpoint, &l.err), l.err);
    if (checkpoint) ct_outer_set_checkpoint(l.outer, checkpoint);
    ct_learn_result r = learn(&l, &options);
    if (checkpoint) {
        CHECK_OK(ct_checkpoint_write(checkpoint, &l.err), l.err);
        *replayed = ct_checkpoint_replayed(checkpoint);
        CHECK(ct_checkpoint_is(path) && !ct_checkpoint_is(ct_test_folder()) &&
              (!ct_checkpoint_replays(checkpoint) || r.stop == CT_LEARN_STOP_CANCELLED));
    }
    ct_checkpoint_free(checkpoint);
    lesson_free(&l);
    return r;
}

static int same_result(const ct_learn_result *a, const ct_learn_result *b)
{
    const size_t bytes = (size_t)a->parameters * sizeof *a->p;
    return a->stop == b->stop && a->iterations == b->iterations && a->evaluations == b->evaluations &&
           a->inner_solves == b->inner_solves && !memcmp(a->p, b->p, bytes) &&
           !memcmp(a->standard_error, b->standard_error, bytes) &&
           !memcmp(a->covariance, b->covariance, bytes * (size_t)a->parameters) && a->loss_train == b->loss_train &&
           !memcmp(&a->loss_heldout, &b->loss_heldout, sizeof a->loss_heldout);
}

static void test_a_run_broken_off_anywhere_is_resumed_to_the_same_bits(void)
{
    static const ct_learn_method METHOD[] = {CT_LEARN_LM,     CT_LEARN_FRANK_WOLFE, CT_LEARN_PROJECTED_GRADIENT,
                                             CT_LEARN_LBFGS,  CT_LEARN_SLSQP,       CT_LEARN_NELDER_MEAD,
                                             CT_LEARN_POWELL, CT_LEARN_LEO,         CT_LEARN_BOBYQA,
                                             CT_LEARN_CRS};
    char                         path[600];
    snprintf(path, sizeof path, "%s/checkpoint", ct_test_folder());
    for (size_t k = 0; k < sizeof METHOD / sizeof *METHOD; k++) {
        int64_t         replayed = 0;
        ct_learn_result whole = learn_kept(path, METHOD[k], 0, -1, 1, &replayed);
        CHECK(replayed == 0);
        ct_learn_result again = learn_kept(path, METHOD[k], 1, -1, 2, &replayed); /* all of it given back */
        CHECK(replayed > 5 && same_result(&whole, &again));
        ct_learn_result_free(&again);
        /* those settle every evaluation, and here a file is written each time */
        for (int stop = 0; stop < 40; stop += METHOD[k] < CT_LEARN_NELDER_MEAD ? 3 : 10) {
            unlink(path);
            ct_learn_result part = learn_kept(path, METHOD[k], 0, stop, 1, &replayed);
            ct_learn_result rest = learn_kept(path, METHOD[k], 1, -1, 1 + stop % 3, &replayed);
            CHECK(same_result(&whole, &rest));
            CHECK(stop > whole.evaluations - 4 || part.stop == CT_LEARN_STOP_CANCELLED);
            ct_learn_result_free(&part);
            ct_learn_result_free(&rest);
        }
        ct_learn_result_free(&whole);
    }
    unlink(path);
}

/* It said that the checkpoint was written by another version: after a stop the answer is evaluated, which a run that
 * goes on does not do at that place. */
static void test_a_resumed_run_can_be_stopped_during_its_replay(void)
{
    static const ct_learn_method METHOD[] = {CT_LEARN_LM, CT_LEARN_FRANK_WOLFE, CT_LEARN_NELDER_MEAD};
    char    path[600];
    int64_t replayed;
    snprintf(path, sizeof path, "%s/stopped", ct_test_folder());
    for (size_t k = 0; k < sizeof METHOD / sizeof *METHOD; k++) {
        unlink(path);
        ct_learn_result whole = learn_kept(path, METHOD[k], 0, -1, 1, &replayed);
        for (int stop = 0; stop < 7; stop += 2) {
            ct_learn_result part = learn_kept(path, METHOD[k], 1, stop, 1, &replayed);
            ct_learn_result rest = learn_kept(path, METHOD[k], 1, -1, 1, &replayed);
            CHECK(part.stop == CT_LEARN_STOP_CANCELLED && same_result(&whole, &rest) && replayed > 0);
            ct_learn_result_free(&part);
            ct_learn_result_free(&rest);
        }
        ct_learn_result_free(&whole);
    }
    unlink(path);
}

static void test_a_checkpoint_that_does_not_belong_is_refused(void)
{
    char       path[600];
    int64_t    replayed;
    ct_checkpoint *checkpoint = NULL;
    ct_err     err = {0};
    snprintf(path, sizeof path, "%s/checkpoint", ct_test_folder());
    ct_learn_result r = learn_kept(path, CT_LEARN_FRANK_WOLFE, 0, -1, 1, &replayed);
    ct_learn_result_free(&r);
    CHECK_REFUSED(ct_checkpoint_open(path, 1, 12345, 0, &checkpoint, &err), err,
                  "from other data or with other options");
    FILE  *file = fopen(path, "r+b");
    fseek(file, 200, SEEK_SET);
    fputc(0x5a, file);
    fclose(file);
    lesson l = begin("D1", 4, 40, 17, 1e-3, 1e3);
    const uint64_t key = ct_outer_digest(l.outer, "15");
    CHECK(key != ct_outer_digest(l.outer, "16") && key != ct_outer_digest(l.outer, NULL));
    CHECK_REFUSED(ct_checkpoint_open(path, 1, key, 0, &checkpoint, &err), err, "is damaged");
    CHECK(truncate(path, 100) == 0);
    CHECK_REFUSED(ct_checkpoint_open(path, 1, key, 0, &checkpoint, &err), err, "is damaged");
    CHECK(truncate(path, 3) == 0);
    CHECK_REFUSED(ct_checkpoint_open(path, 1, key, 0, &checkpoint, &err), err, "is not a checkpoint");
    unlink(path);
    CHECK_OK(ct_checkpoint_open(path, 1, key, 0, &checkpoint, &err), err); /* none yet: from the beginning */
    ct_checkpoint_free(checkpoint);
    /* though it had come to nothing */
    CHECK_REFUSED(ct_checkpoint_open(path, 1, key + 1, 0, &checkpoint, &err), err, "other options");
    unlink(path);
    lesson_free(&l);
}

/* A run on other shapes is another run, though no number of its graph differs. */
static uint64_t digest_with(double a, double b, int second)
{
    ct_sequence  *seq;
    ct_shape     *shape[2];
    ct_err        err = {0};
    const int32_t var[2] = {0, 1};
    CHECK_OK(ct_sequence_new(NULL, &seq, &err), err);
    CHECK_OK(ct_shape_rectangle(a, b, &shape[0], &err), err);
    CHECK_OK(ct_shape_ellipse(a, b, &shape[1], &err), err);
    CHECK_OK(ct_sequence_add_shape(seq, "box", shape[0], &err), err);
    CHECK_OK(ct_sequence_add_shape(seq, "egg", shape[1], &err), err);
    for (int i = 0; i < 2; i++) CHECK_OK(ct_graph_add_variable(seq->graph, NULL, CT_SE2, NULL, NULL, &err), err);
    for (int i = 0; i < 3; i++)
        CHECK_OK(
            ct_graph_add_factor(seq->graph, &ct_contact_se2, var, (const double[]){0}, shape[i >= second], 0, &err),
            err);
    seq->truth = calloc((size_t)ct_graph_size(seq->graph), sizeof *seq->truth);
    seq->known = calloc(2, 1);
    const uint64_t digest = ct__sequence_digest(seq);
    ct_sequence_free(seq);
    return digest;
}

static void test_a_run_on_other_shapes_is_another_run(void)
{
    CHECK(digest_with(1, 2, 1) == digest_with(1, 2, 1));
    CHECK(digest_with(1, 2, 1) != digest_with(1, 2.5, 1));
    CHECK(digest_with(1, 2, 1) != digest_with(1, 2, 2) && digest_with(1, 2, 0) != digest_with(1, 2, 3));
}

/* Runs of older versions are resumed although a coordinate got another name. */
static void test_the_digest_does_not_depend_on_the_name_of_the_heading(void)
{
    static const char *const ROWS[3][3] = {{"x", "y", "yaw"}, {"x", "y", "theta"}, {"x", "y", "z"}};
    for (int full = 0; full < 2; full++) {
        uint64_t digest[3];
        for (int k = 0; k < 3; k++) {
            lesson l = lesson_of("D1", CT_SE2, 2, 20, 5);
            for (int32_t g = 0; g < ct_noise_count(l.noise); g++) ct_noise_set_rows(l.noise, g, ROWS[k], NULL);
            learn_all(&l, full ? CT_NOISE_FULL : CT_NOISE_DIAGONAL, 1e-3, 1e3);
            open_outer(&l, NULL);
            digest[k] = ct_outer_digest(l.outer, NULL);
            lesson_free(&l);
        }
        CHECK(digest[0] == digest[1] && digest[0] != digest[2]);
    }
}

int main(void)
{
    RUN(test_the_digest_does_not_depend_on_the_name_of_the_heading);
    RUN(test_a_run_on_other_shapes_is_another_run);
    RUN(test_a_run_broken_off_anywhere_is_resumed_to_the_same_bits);
    RUN(test_a_resumed_run_can_be_stopped_during_its_replay);
    RUN(test_a_checkpoint_that_does_not_belong_is_refused);
    return ct_test_end();
}
