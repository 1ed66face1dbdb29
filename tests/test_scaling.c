/* What takes time in proportion to its input must not take the square of it: jobs of size n and 4 n side by side.
 *
 * Times are of this process alone, the best of three, so that a busy machine does not count; four times the work may
 * take up to eight times as long, where a quadratic job takes sixteen times. What is of a higher order by its nature
 * says which. */
#include "ct_test.h"

#include <covtune/evaluate.h>
#include <covtune/data.h>
#include <covtune/simulate.h>
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

/* Time grows with the power `order` of the size, or less. */
static void expect_order(const char *what, job_fn job, int n, int order)
{
    double one = 0, four = 0, most = 2;
    if (ct_test_slow()) { /* times are those of the sanitizer: only that it runs */
        job(n);
        return;
    }
    for (int i = 0; i < order; i++) most *= 4;
    for (int attempt = 0; attempt < 3; attempt++) {
        one = best_of_three(job, n);
        four = best_of_three(job, 4 * n);
        if (getenv("COVTUNE_TIMES")) printf("  %s: %g ms, %g ms\n", what, 1e3 * one, 1e3 * four);
        if (four <= most * one) return;
    }
    CT_TEST_SAY("%s: %g ms of size %d, %g ms of size %d: %.1f times as much\n", what, 1e3 * one, n, 1e3 * four, 4 * n,
                four / one);
}

/* ---- incremental smoothing ---- */

static double replay_s(const ct_graph *graph, const ct_noise *noise, const double *start,
                       const ct_replay_options *options)
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

/* Where a method that goes to the corners of wide bounds takes it: one row is 1e16 times as strong as another, and
 * nearly every pivot weak. */
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
    CHECK_OK(ct_simulate_nav(&options, 0, noise, &seq, &err), err);
    CHECK_OK(ct_noise_set_variance(noise, ct_noise_find(noise, "odom"), odom, &err), err);
    CHECK_OK(ct_noise_set_variance(noise, ct_noise_find(noise, "gps"), gps, &err), err);
    const ct_replay_options how = ct_inference_defaults().replay;
    const double            s = replay_s(seq->graph, noise, ct_graph_initial(seq->graph), &how);
    ct_sequence_free(seq);
    ct_noise_free(noise);
    return s;
}

static void test_a_replay_at_the_corner_of_the_bounds_takes_linear_time(void)
{
    expect_order("replay", corner_of_the_bounds, 200, 1);
}

/* A hub with n poses around it, each tied to it and seen: every step touches the hub. */
static double star(int n)
{
    ct_graph         *graph;
    ct_noise         *noise;
    ct_err            err;
    ct_replay_options how = ct_replay_defaults();
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "tight", 3, 1e-4, NULL, &err), err);
    CHECK_OK(ct_noise_add_isotropic(noise, "loose", 3, 1, NULL, &err), err);
    CHECK_OK(ct_graph_new(&graph, &err), err);
    for (int32_t i = 0; i <= n; i++) {
        const double angle = 7.0 * i, pose[4] = {i ? 10 * cos(angle) : 0, i ? 10 * sin(angle) : 0, 1, 0},
                     seen[4] = {pose[0] + sin(3.0 * i * i), pose[1], 1, 0};
        const int32_t ends[2] = {0, i};
        CHECK_OK(ct_graph_add_variable(graph, NULL, CT_SE2, pose, NULL, &err), err);
        CHECK_OK(ct_graph_add_factor(graph, &ct_prior_se2, &i, i ? seen : pose, NULL, i > 0, &err), err);
        if (i) CHECK_OK(ct_graph_add_factor(graph, &ct_between_se2, ends, pose, NULL, 0, &err), err);
    }
    const double s = replay_s(graph, noise, ct_graph_initial(graph), &how);
    ct_graph_free(graph);
    ct_noise_free(noise);
    return s;
}

static void test_a_star_is_replayed_in_linear_time(void) { expect_order("star", star, 1000, 1); }

/* ---- many noise models ---- */

static const char *in_folder(const char *name)
{
    static char path[2][512];
    static int  turn;
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s", ct_test_folder(), name);
    return path[turn];
}

/* A dataset.yaml with n groups, and a run with as many models. */
static void put_groups(int n)
{
    FILE *yaml = fopen(in_folder("many.yaml"), "w"), *run = fopen(in_folder("many.ctseq"), "w");
    fputs("format: covtune-dataset\nversion: 1\ngroups:\n", yaml);
    fputs("covtune-sequence 1\n", run);
    for (int i = 0; i < n; i++) fprintf(yaml, "  - name: g%d\n    variance: [2]\n", i);
    for (int i = 0; i < n; i++)
        fprintf(run, "noise g%d@a isotropic 1 1\nvar x%d R1 0\nfactor prior_r1 g%d@a x%d 0.5\n", i, i, i, i);
    fputs("train:\n  - many.ctseq\n", yaml);
    fclose(yaml);
    fclose(run);
}

static double many_groups(int n)
{
    ct_dataset *d;
    ct_theta   *theta;
    ct_err      err;
    put_groups(n);
    const double begin = cpu_s();
    CHECK_OK(ct_dataset_read(in_folder("many.yaml"), CT_DATASET_ALL, &d, &err), err);
    CHECK_OK(ct_dataset_theta(d, NULL, &theta, &err), err);
    CHECK(ct_theta_count(theta) == n);
    CHECK_OK(ct_dataset_write(d, in_folder("again"), &err), err);
    ct_theta_free(theta);
    ct_dataset_free(d);
    return cpu_s() - begin;
}

static void test_a_dataset_with_many_groups_is_read_and_written_in_linear_time(void)
{
    expect_order("dataset", many_groups, 2000, 1);
}

/* n poses on a line, each measured with a model of its own, and steps between them. */
static ct_sequence *line_of_models(int n, ct_noise *noise)
{
    FILE *run = fopen(in_folder("line.ctseq"), "w");
    fputs("covtune-sequence 1\nnoise step isotropic 1 0.1\n", run);
    for (int i = 0; i < n; i++) fprintf(run, "noise m%d isotropic 1 1\n", i);
    for (int i = 0; i < 4 * n; i++)
        fprintf(run, "var x%d R1 %d\ntruth x%d %d\nfactor prior_r1 m%d x%d %g\n", i, i, i, i, i % n, i,
                i + sin(17.0 * i * i));
    for (int i = 1; i < 4 * n; i++)
        fprintf(run, "factor between_r1 step x%d x%d %g\n", i - 1, i, 1 + 0.3 * sin(5.0 * i * i));
    fclose(run);
    ct_sequence *seq = NULL;
    ct_err       err;
    CHECK_OK(ct_sequence_read(in_folder("line.ctseq"), CT_FORMAT_AUTO, noise, &seq, &err), err);
    return seq;
}

static double error_bars(int n)
{
    ct_noise        *noise;
    ct_theta        *theta;
    ct_outer        *outer;
    ct_learn_result  result;
    ct_learn_options options = ct_learn_defaults();
    ct_err           err;
    CHECK_OK(ct_noise_new(&noise, &err), err);
    ct_sequence *seq = line_of_models(n, noise);
    CHECK_OK(ct_theta_new(noise, &theta, &err), err);
    for (int32_t g = 1; g < ct_noise_count(noise); g++)
        CHECK_OK(ct_theta_learn(theta, g, CT_NOISE_ISOTROPIC, 1e-3, 1e3, &err), err);
    CHECK_OK(ct_outer_new(1, (const ct_sequence *const *)&seq, noise, theta, NULL, &outer, &err), err);
    options.max_iterations = 1;
    options.folds = 0;
    const double begin = cpu_s();
    CHECK_OK(ct_learn(outer, &options, noise, &result, &err), err);
    const double took = cpu_s() - begin;
    CHECK(result.standard_error[n / 2] > 0);
    ct_learn_result_free(&result);
    ct_outer_free(outer);
    ct_theta_free(theta);
    ct_sequence_free(seq);
    ct_noise_free(noise);
    return took;
}

static void test_error_bars_of_many_models_take_cubic_time_at_most(void)
{
    expect_order("error bars", error_bars, 40, 3);
}

int main(void)
{
    RUN(test_a_dataset_with_many_groups_is_read_and_written_in_linear_time);
    RUN(test_error_bars_of_many_models_take_cubic_time_at_most);
    RUN(test_a_star_is_replayed_in_linear_time);
    RUN(test_a_replay_at_the_corner_of_the_bounds_takes_linear_time);
    return ct_test_end();
}
