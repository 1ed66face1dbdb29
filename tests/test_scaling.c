/* What takes time in proportion to its input must not take the square of it: jobs of size n and 4 n side by side.
 *
 * Times are of this process alone, the best of three, so that a busy machine does not count; four times the work may take up to eight times as long,
 * where a quadratic job takes sixteen times. */
#include "ct_test.h"

#include <covtune/assess.h>
#include <covtune/data.h>
#include <covtune/learn.h>
#include <time.h>

typedef double (*job_fn)(int n); /* CPU seconds of what is measured, without what prepares it */

static double cpu_s(void) { return (double)clock() / CLOCKS_PER_SEC; }

static double best_of_three(job_fn job, int n)
{
    double best = job(n);
    for (int i = 0; i < 2; i++) {
        const double s = job(n);
        best = s < best ? s : best;
    }
    return best;
}

static void expect_linear(const char *what, job_fn job, int n)
{
    double one = 0, four = 0;
    for (int attempt = 0; attempt < 3; attempt++) {
        one = best_of_three(job, n);
        four = best_of_three(job, 4 * n);
        if (four <= 8 * one) return;
    }
    CT_TEST_SAY("%s: %g ms of size %d, %g ms of size %d: %.1f times as much\n", what, 1e3 * one, n, 1e3 * four, 4 * n, four / one);
}

/* ---- incremental smoothing ---- */

static double replay_s(const ct_graph *graph, const ct_noise *noise, const double *start, const ct_replay_options *options)
{
    ct_err           err;
    ct_replay_result result;
    double          *x = malloc((size_t)ct_graph_size(graph) * sizeof *x);
    memcpy(x, start, (size_t)ct_graph_size(graph) * sizeof *x);
    const double begin = cpu_s();
    CHECK_OK(ct_replay(graph, noise, options, x, &result, &err), err);
    const double took = cpu_s() - begin;
    CHECK(result.stop == CT_STOP_STEP);
    free(x);
    return took;
}

/* Where a method that goes to the corners of wide bounds takes it: one row is 1e16 times as strong as another, and nearly every pivot weak. */
static double corner_of_the_bounds(int n)
{
    static const double odom[] = {1e-10, 1e6, 1e6}, gps[] = {1e6, 1e6, 1e-10};
    ct_nav_options      options;
    ct_noise           *noise;
    ct_sequence        *seq;
    ct_err              err;
    CHECK(ct_nav_preset("D1", CT_SE2, &options));
    options.least = options.most = n;
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_nav_make(&options, 0, noise, &seq, &err), err);
    CHECK_OK(ct_noise_set_variance(noise, ct_noise_find(noise, "odom"), odom, &err), err);
    CHECK_OK(ct_noise_set_variance(noise, ct_noise_find(noise, "gps"), gps, &err), err);
    const ct_replay_options how = ct_inference_defaults().replay;
    const double            s = replay_s(seq->graph, noise, ct_graph_initial(seq->graph), &how);
    ct_sequence_free(seq);
    ct_noise_free(noise);
    return s;
}

static void test_a_replay_at_the_corner_of_the_bounds_takes_linear_time(void) { expect_linear("replay", corner_of_the_bounds, 200); }

int main(void)
{
    RUN(test_a_replay_at_the_corner_of_the_bounds_takes_linear_time);
    return ct_test_end();
}
