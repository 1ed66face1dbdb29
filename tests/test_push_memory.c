/* test_push_memory.c: no memory at any moment. Every allocation is failed once, each in a run of its own: the call
 * that made it says so and leaves nothing half-built. */
#include "ct_test.h"
#include "memory_test.h"

#include <covtune/data.h>
#include <covtune/push.h>
#include <covtune/net.h>

static ct_push_options few(void)
{
    ct_push_options o = ct_push_defaults(CT_SHAPE_RECTANGLE);
    o.episodes = 2, o.steps = 6, o.window = 2, o.windows = 3, o.pool = 3;
    return o;
}

static void check_status(int through, ct_status status, const ct_err *err)
{
    CHECK(through == (status == CT_OK));
    if (!through) CHECK(status == CT_E_MEMORY && strstr(err->text, "out of memory"));
}

static void test_episodes_and_pairs_survive_the_failure_of_every_allocation(void)
{
    const ct_push_options o = few();
    int64_t               k = 0;
    for (int through = 0; !through && k < 100; k++) {
        ct_push_episode e = {0};
        ct_err          err = {0};
        int64_t         count;
        double         *x = NULL, *t = NULL;
        left = k;
        ct_status status = ct_simulate_push_episode(&o, 0, 0, &e, &err);
        if (status == CT_OK) status = ct_push_image_pairs(&o, 1, &e, &count, &x, &t, &err);
        else CHECK(!e.object && !e.finger && !e.image);
        through = left >= 0;
        left = -1;
        check_status(through, status, &err);
        CHECK(through == (x != NULL) && through == (t != NULL));
        free(x);
        free(t);
        ct_push_episode_free(&e);
    }
    CHECK(k == 1 + 4 + 2 + 1); /* the shape, the episode, pairs; none */
}

static void test_runs_survive_the_failure_of_every_allocation(void)
{
    const ct_push_options o = few();
    int64_t               k = 0;
    for (int through = 0; !through && k < 1000; k++) {
        ct_noise    *noise = NULL;
        ct_sequence *seq = NULL;
        ct_err       err = {0};
        CHECK_OK(ct_noise_new(&noise, &err), err);
        left = k;
        const ct_status status = ct_simulate_push(&o, 1, 0, NULL, NULL, noise, &seq, &err);
        through = left >= 0;
        left = -1;
        check_status(through, status, &err);
        CHECK(through == (seq != NULL));
        ct_sequence_free(seq);
        ct_noise_free(noise);
    }
    CHECK(k > 20 && k < 1000);
}

static void test_turns_and_predictions_allocate_nothing(void)
{
    const ct_push_options o = few();
    const int32_t         width[] = {2 * CT_PUSH_PIXELS, 1};
    ct_push_episode       e;
    ct_net               *net = NULL;
    ct_err                err = {0};
    CHECK_OK(ct_simulate_push_episode(&o, 0, 0, &e, &err), err);
    CHECK_OK(ct_net_new(1, width, 1, &net, &err), err);
    left = 0; /* the first to ask gets nothing */
    double       multiplier = 1;
    const double turn = ct_push_relative_yaw(&e, 0, 5),
                 said = ct_push_predict_yaw(net, e.image, e.image + 5 * CT_PUSH_PIXELS, &multiplier);
    CHECK(left == 0 && isfinite(turn) && isfinite(said));
    left = -1;
    ct_net_free(net);
    ct_push_episode_free(&e);
}

int main(void)
{
    RUN(test_episodes_and_pairs_survive_the_failure_of_every_allocation);
    RUN(test_runs_survive_the_failure_of_every_allocation);
    RUN(test_turns_and_predictions_allocate_nothing);
    return ct_test_end();
}
