/* test_evaluate_bodies.c: accuracy thing by thing: an object's apart from that of the finger that pushes it. */
#include "ct_test.h"
#include "evaluate_test.h"

#include <covtune/covtune.h>

/* Poses in the plane of these names, each at its own truth; R2 where the name begins with l. */
static ct_sequence *make(int n, const char *const name[])
{
    ct_err       err = {0};
    ct_graph    *graph = NULL;
    ct_sequence *seq = NULL;
    CHECK_OK(ct_graph_new(&graph, &err), err);
    CHECK_OK(ct_sequence_new(graph, &seq, &err), err);
    for (int v = 0; v < n; v++) {
        const double value[4] = {v, -v, cos(0.1 * v), sin(0.1 * v)};
        CHECK_OK(ct_graph_add_variable(graph, name[v], name[v][0] == 'l' ? CT_R2 : CT_SE2, value, NULL, &err), err);
    }
    const size_t size = (size_t)ct_graph_size(graph);
    seq->truth = malloc(size * sizeof(double));
    memcpy(seq->truth, ct_graph_initial_const(graph), size * sizeof(double));
    seq->known = malloc((size_t)n);
    memset(seq->known, 7, (size_t)n);
    return seq;
}

static double *at(double *x, const ct_sequence *seq, const char *name)
{
    return x + ct_graph_offset(seq->graph, ct_graph_find(seq->graph, name));
}

/* Numbers that differ from one name to the next, by hand. */
static void test_each_thing_has_an_accuracy_of_its_own(void)
{
    static const char *const name[] = {"o0", "e0", "o1", "e1", "l1", "o10"};
    ct_sequence             *seq = make(6, name);
    double                   x[22];
    ct_body                 thing[CT_BODIES_MAX];
    memcpy(x, seq->truth, sizeof x);
    at(x, seq, "o1")[0] += 3;
    at(x, seq, "o10")[1] -= 4;
    ct_kind_retract(CT_SE2, at(x, seq, "e1"), (const double[]){0, 0, 0.5}, at(x, seq, "e1"));
    at(x, seq, "l1")[0] += 100; /* a point is no pose */
    const ct_accuracy o = ct_accuracy_of_body(seq, x, "o"), e = ct_accuracy_of_body(seq, x, "e");
    CHECK(o.poses == 3 && e.poses == 2);
    CHECK_NEAR(o.translation, sqrt(25 / 6.), 1e-14);
    CHECK_NEAR(o.ape_translation, sqrt(25 / 3.), 1e-14);
    CHECK(o.rotation < 1e-15 && e.translation == 0);
    CHECK_NEAR(e.rotation, sqrt(0.25 / 2), 1e-14);
    CHECK(ct_accuracy_of_bodies(seq, x, thing) == 2);
    CHECK(!strcmp(thing[0].name, "o") && !memcmp(&thing[0].accuracy, &o, sizeof o));
    CHECK(!strcmp(thing[1].name, "e") && !memcmp(&thing[1].accuracy, &e, sizeof e));
    CHECK(ct_accuracy_of_body(seq, x, "l").poses == 0 && ct_accuracy_of_body(seq, x, "o1").poses == 0 &&
          isnan(ct_accuracy_of_body(seq, x, "").translation));
    seq->known[1] = seq->known[3] = 0; /* nothing is known of the finger: it is no thing to be compared */
    CHECK(ct_accuracy_of_bodies(seq, x, thing) == 1 && thing[0].accuracy.poses == 3);
    ct_sequence_free(seq);
}

/* Squares add up: the whole is the mean of the things, each with as many poses as it has. */
static void test_things_add_up_to_the_whole(void)
{
    static const char *const name[] = {"a0", "a1", "a2", "b7", "left_hand", "0", "17"};
    ct_sequence             *seq = make(7, name);
    ct_rng                   rng = ct_rng_seed(3);
    double                   x[28], translation = 0, rotation = 0;
    ct_body                 thing[CT_BODIES_MAX];
    for (int v = 0; v < 7; v++) {
        const double d[3] = {ct_rng_normal(&rng), ct_rng_normal(&rng), ct_rng_normal(&rng)};
        if (v != 4)
            ct_kind_retract(CT_SE2, seq->truth + ct_graph_offset(seq->graph, v), d, x + ct_graph_offset(seq->graph, v));
    }
    const ct_accuracy whole = ct_accuracy_of(seq, x);
    const int         n = ct_accuracy_of_bodies(seq, x, thing);
    /* 0 and 17 are one without a name */
    CHECK(n == 3 && !strcmp(thing[0].name, "a") && !strcmp(thing[1].name, "b") && !strcmp(thing[2].name, ""));
    for (int i = 0; i < n; i++) {
        const ct_accuracy a = thing[i].accuracy;
        translation += (double)a.poses * a.translation * a.translation;
        rotation += (double)a.poses * a.rotation * a.rotation;
    }
    CHECK_NEAR(sqrt(translation / (double)whole.poses), whole.translation, 1e-14);
    CHECK_NEAR(sqrt(rotation / (double)whole.poses), whole.rotation, 1e-14);
    ct_sequence_free(seq);
}

/* Of more than there is room for the first; of names longer than there is room for what fits. */
static void test_many_things_and_long_names(void)
{
    static const char *const name[] = {
        "a0", "bb0", "b0", "c0", "d0", "e0", "f0", "a_name_of_more_than_thirty_one_bytes_1", "g0", "a1", "g1"};
    ct_sequence             *seq = make(11, name);
    ct_body                 thing[CT_BODIES_MAX];
    CHECK(ct_accuracy_of_bodies(seq, seq->truth, thing) == CT_BODIES_MAX);
    CHECK(!strcmp(thing[1].name, "bb") && thing[1].accuracy.poses == 1 && !strcmp(thing[2].name, "b"));
    CHECK(!strcmp(thing[7].name, "a_name_of_more_than_thirty_one_") && thing[7].accuracy.poses == 1);
    CHECK(thing[0].accuracy.poses == 2 && thing[0].accuracy.translation == 0);
    CHECK(ct_accuracy_of_body(seq, seq->truth, "g").poses == 2 &&
          ct_accuracy_of_body(seq, seq->truth, "a_name_of_more_than_thirty_one_bytes_").poses == 1);
    const ct_sequence without = {.graph = seq->graph};
    CHECK(ct_accuracy_of_bodies(&without, seq->truth, thing) == 0 &&
          ct_accuracy_of_body(&without, seq->truth, "a").poses == 0);
    ct_sequence_free(seq);
}

/* An assessment has them: of a run of pushing, the object's and the finger's at the estimate. */
static void test_assessments_have_them(void)
{
    ct_push_options options = ct_push_defaults(CT_SHAPE_ELLIPSE);
    ct_noise       *noise = NULL;
    ct_sequence    *seq = NULL;
    ct_solver      *solver = NULL;
    ct_err          err = {0};
    ct_evaluation   found;
    ct_inference    inference = ct_inference_defaults();
    const ct_loss   loss = ct_loss_defaults();
    options.episodes = 1, options.steps = 30;
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_simulate_push(&options, 0, 1, NULL, NULL, noise, &seq, &err), err);
    CHECK_OK(ct_solver_new(seq->graph, NULL, &solver, &err), err);
    double *x = malloc((size_t)ct_graph_size(seq->graph) * sizeof *x);
    inference.start = CT_START_TRUTH;
    CHECK_OK(evaluate_one(seq, noise, solver, &inference, &loss, 0, x, &found, &err), err);
    const ct_accuracy o = ct_accuracy_of_body(seq, x, "o"), e = ct_accuracy_of_body(seq, x, "e");
    CHECK(found.bodies == 2 && !strcmp(found.body[0].name, "o") && !strcmp(found.body[1].name, "e"));
    CHECK(o.poses == 30 && o.translation > 0 && o.translation != e.translation);
    CHECK(!memcmp(&found.body[0].accuracy, &o, sizeof o) && !memcmp(&found.body[1].accuracy, &e, sizeof e));
    free(x);
    ct_solver_free(solver);
    ct_sequence_free(seq);
    ct_noise_free(noise);
}

int main(void)
{
    RUN(test_each_thing_has_an_accuracy_of_its_own);
    RUN(test_things_add_up_to_the_whole);
    RUN(test_many_things_and_long_names);
    RUN(test_assessments_have_them);
    return ct_test_end();
}
