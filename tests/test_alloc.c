/* test_alloc.c: memory runs out at every place where it can, once alone and once for good. Each time the call
 * says so, nothing leaks or crashes, and the same call works when there is memory again. */
#include "alloc_test.h"
#include "evaluate_test.h"
#include "graph_test.h"

#include <covtune/covtune.h>

/* ---- one piece of work, over and over --------------------------------------------------------- */

typedef struct {
    int       again;  /* a call that failed is made once more, and must succeed */
    ct_err    err;
    ct_status failed; /* the first failure, or CT_OK                            */
    double    answer; /* the same each time that the work is done               */
} task;

/* The status of a call; if memory ran out in it, what it says is looked at, and it is made again if that is wanted. */
#define STEP(call)                                                                                 \
    do {                                                                                           \
        ct_status step_status = (call);                                                            \
        if (step_status != CT_OK) {                                                                \
            note_failure(job, step_status, #call);                                                 \
            if (job->again) step_status = (call);                                                  \
        }                                                                                          \
        if (step_status != CT_OK) goto done;                                                       \
    } while (0)

/* The C library's own failures to open a file are told as it tells them. */
static void note_failure(task *job, ct_status status, const char *call)
{
    const int fine = status == CT_E_MEMORY || (status == CT_E_IO && strstr(job->err.text, "annot allocate memory"));
    if (!fine || job->err.status != status || strlen(job->err.text) < 10) {
        ct_test_failed_checks++;
        fprintf(stderr, "%s with call %ld refused: %s: \"%s\"\n", call, alloc_fail, ct_status_text(status),
                job->err.text);
    }
    if (job->failed == CT_OK) job->failed = status;
}

typedef void (*work)(task *job);

/* What the work gives when nothing fails; twice, so that what is made once in a program's life is there. */
static double undisturbed(work do_work)
{
    task job = {0};
    for (int i = 0; i < 2; i++) {
        job.answer = NAN;
        do_work(&job);
    }
    CHECK(job.failed == CT_OK && isfinite(job.answer));
    return job.answer;
}

/* Memory runs out at call k = 0, 1, 2 ... until the work needs no more calls. Returns how many it needs. */
static long sweep(work do_work, double answer, int again, int onwards)
{
    for (long k = 0;; k++) {
        task       job = {.again = again, .answer = NAN};
        const int  before = ct_test_failed_checks;
        const long live = alloc_live;
        alloc_from_now(k, onwards);
        do_work(&job);
        const long left = alloc_live - live, refused = alloc_calls > k;
        alloc_from_now(-1, 0);
        CHECK(left == 0);
        if (job.failed == CT_OK || again) CHECK(job.answer == answer); /* the C library can do without a buffer */
        if (ct_test_failed_checks > before)
            fprintf(stderr, "  call %ld of the work refused, %s, %s; %ld left\n", k, again ? "tried again" : "given up",
                    onwards ? "for good" : "once", left);
        if (!refused || ct_test_failed_checks > before + 5) return k;
    }
}

static void check_work(const char *name, work do_work)
{
    const double answer = undisturbed(do_work);
    const long   calls = sweep(do_work, answer, 0, 0);
    sweep(do_work, answer, 1, 0);
    sweep(do_work, answer, 0, 1);
    printf("  %s: %ld calls for memory\n", name, calls);
    CHECK(calls > 0);
}

/* ---- files ------------------------------------------------------------------------------------ */

static const char *const FILES[CT_FORMAT_COUNT] = {
    [CT_FORMAT_COVTUNE] =
        "covtune-sequence 1\n"
        "noise odom@0 diagonal 0.01 0.01 0.001\n"
        "noise fix full 2 0.5 0.5 1 huber 1.5\n"
        "var x0 SE2 0 0 0 fixed\nvar x1 SE2 1 0 0.1 t=1.5\nvar l R2 3 4\n"
        "truth x1 1 0 0\n"
        "factor between_se2 odom@0 x0 x1 1 0 0.1\nfactor position_se2 fix x1 1 0\nfactor prior_r2 fix l 3 4\n",
    [CT_FORMAT_G2O] = "VERTEX_SE2 0 0 0 0\nVERTEX_SE2 1 1 0 0.1\nVERTEX_XY 2 1 1\nFIX 0\n"
                      "EDGE_SE2 0 1 1 0 0.1 100 1 2 50 3 400\nEDGE_SE2_XY 0 2 1 1 25 0 16\n",
    [CT_FORMAT_LEO] = "{\"poses_gt\": [[0, 0, 0], [1, 0, 0.1]], \"factor_names\": [\"odom\", \"gps\"], "
                      "\"factor_keysyms\": [[\"x\", \"x\"], [\"x\"]],"
                      " \"factor_keyids\": [[0, 1], [1]], \"factor_covs\": [[0.1, 0.1, 0.1], [1, 1, 1]], "
                      "\"factor_meas\": [[1, 0, 0.1, 0], [1, 0, 0.1, 1]]}",
    [CT_FORMAT_TUM] = "0 0 0 0 0 0 0 1\n1 1 0 0 0 0 0.6 0.8\n",
    [CT_FORMAT_KITTI] = "1 0 0 0 0 1 0 0 0 0 1 0\n1 0 0 1 0 1 0 0 0 0 1 0\n",
    [CT_FORMAT_PYFG] =
        "VERTEX_SE2 0 A0 0 0 0\nVERTEX_SE2 1 A1 1 0 0.1\nEDGE_SE2 1 A0 A1 1 0 0.1 0.01 0 0 0.01 0 0.01\n",
    [CT_FORMAT_ISAM] = "EDGE2 0 1 1 0 0.1 10 0 0 10 0 10\nEDGE2 1 2 1 0 0.1 10 0 0 10 0 10\n",
    [CT_FORMAT_PUSH] = "t,object_x,object_y,object_theta,pusher_x,pusher_y,force\n0,0,0,0,-0.0497,0,1\n1,0.001,0,0,-0."
                       "0487,0,1\n2,0.002,0,0,-0.0477,0,1\n3,0.003,0,0,-0.0467,0,1\n",
};

static const char *path_of(ct_format format, const char *which)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s.%s", ct_test_folder(), which, ct_format_name(format));
    return path;
}

/* The file of covtune's text format, as a binary one. */
static void write_binary(const char *path)
{
    ct_err       err = {0};
    ct_noise    *noise = NULL;
    ct_sequence *seq = NULL;
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_sequence_read(path_of(CT_FORMAT_COVTUNE, "in"), CT_FORMAT_COVTUNE, noise, &seq, &err), err);
    CHECK_OK(ct_sequence_write(seq, noise, NULL, CT_FORMAT_BINARY, 0, path, NULL, &err), err);
    ct_sequence_free(seq);
    ct_noise_free(noise);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static ct_format format_now;

static void read_and_write(task *job)
{
    ct_noise    *noise = NULL;
    ct_sequence *seq = NULL;
    STEP(ct_noise_new(&noise, &job->err));
    STEP(ct_sequence_read(path_of(format_now, "in"), format_now, noise, &seq, &job->err));
    /* a push is only read */
    STEP(ct_sequence_write(seq, noise, NULL, format_now == CT_FORMAT_PUSH ? CT_FORMAT_COVTUNE : format_now, 1,
                           path_of(format_now, "out"), NULL, &job->err));
    job->answer = ct_graph_error(seq->graph, noise, ct_graph_initial(seq->graph)) + ct_graph_variables(seq->graph) +
                  100 * ct_noise_count(noise);
done:
    ct_sequence_free(seq);
    ct_noise_free(noise);
}

static void test_every_format_is_read_and_written(void)
{
    for (int f = 0; f < CT_FORMAT_COUNT; f++) {
        format_now = (ct_format)f;
        if (format_now == CT_FORMAT_BINARY) {
            char path[512];
            snprintf(path, sizeof path, "%s", path_of(format_now, "in"));
            write_binary(path);
        } else write_file(path_of(format_now, "in"), FILES[f]);
        check_work(ct_format_name(format_now), read_and_write);
    }
}

static void guess_read(task *job)
{
    ct_noise    *noise = NULL;
    ct_sequence *seq = NULL;
    char         path[512];
    snprintf(path, sizeof path, "%s/mystery.txt", ct_test_folder());
    STEP(ct_noise_new(&noise, &job->err));
    STEP(ct_sequence_read(path, CT_FORMAT_AUTO, noise, &seq, &job->err));
    job->answer = ct_graph_factors(seq->graph);
done:
    ct_sequence_free(seq);
    ct_noise_free(noise);
}

static void test_a_format_is_guessed(void)
{
    char path[512];
    snprintf(path, sizeof path, "%s/mystery.txt", ct_test_folder());
    write_file(path, FILES[CT_FORMAT_G2O]);
    check_work("guess", guess_read);
}

/* A dataset made, written, read back. */
static void datasets(task *job)
{
    ct_nav_options options;
    ct_dataset    *made = NULL, *read = NULL;
    char           path[512];
    snprintf(path, sizeof path, "%s/dataset", ct_test_folder());
    ct_nav_preset("D3", CT_SE2, &options);
    options.least = options.most = 8;
    STEP(ct_dataset_new(&made, &job->err));
    static ct_sequence *train[1];
    made->train = train;
    STEP(ct_simulate_nav(&options, 0, made->noise, &train[0], &job->err));
    made->trains = 1;
    ct_dataset_group group = {
        .name = (char[]){"odom"}, .learn = 1, .kind = -1, .lower = {1, 1, 1, 1, 1, 1}, .upper = {2, 2, 2, 2, 2, 2}};
    made->group = &group;
    made->groups = 1;
    STEP(ct_dataset_write(made, path, &job->err));
    STEP(ct_dataset_read(path, CT_DATASET_ALL, &read, &job->err));
    job->answer = ct_graph_factors(read->train[0]->graph) + 100 * ct_noise_count(read->noise);
done:
    if (made) { /* what it borrowed */
        if (made->trains) ct_sequence_free(train[0]);
        made->train = NULL;
        made->group = NULL;
        made->trains = made->groups = 0;
    }
    ct_dataset_free(made);
    ct_dataset_free(read);
}
static void test_datasets(void) { check_work("dataset", datasets); }

/* ---- noise and graphs ------------------------------------------------------------------------- */

static void noise_tables(task *job)
{
    const double full[4] = {2, 0.5, 0.5, 1}, diagonal[3] = {1, 2, 3};
    const ct_export_options options = {.group = "odom", .diagonal = 1, .origin = "one line\nand another"};
    ct_noise    *noise = NULL, *copy = NULL, *read = NULL;
    char         path[512];
    snprintf(path, sizeof path, "%s/noise.json", ct_test_folder());
    STEP(ct_noise_new(&noise, &job->err));
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "group@%d", i);
        STEP(ct_noise_add_isotropic(noise, name, 1 + i % 6, 0.5 + i, NULL, &job->err));
    }
    STEP(ct_noise_add_diagonal(noise, "odom", 3, diagonal, NULL, &job->err));
    STEP(ct_noise_add_full(noise, "gps", 2, full, NULL, &job->err));
    STEP(ct_noise_add_information(noise, "loop", 2, full, NULL, &job->err));
    STEP(ct_noise_set_covariance(noise, ct_noise_find(noise, "gps"), full, &job->err));
    STEP(ct_noise_set_variance(noise, ct_noise_find(noise, "gps"), diagonal, &job->err));
    ct_noise_set_rows(noise, ct_noise_find(noise, "odom"), ct_prior_se2.coordinate, ct_prior_se2.unit);
    ct_noise_set_measurement(noise, ct_noise_find(noise, "odom"), "prior_se2");
    STEP(ct_noise_copy(noise, &copy, &job->err));
    STEP(ct_noise_write(copy, path, &job->err));
    STEP(ct_noise_new(&read, &job->err));
    STEP(ct_noise_read(read, path, &job->err));
    for (int i = 0; i < CT_EXPORT_COUNT; i++)
        STEP(ct_export_write(noise, (ct_export_format)i, &options, path, &job->err));
    job->answer = ct_noise_count(read) + ct_noise_get(read, ct_noise_find(read, "loop"))->covariance[0];
done:
    ct_noise_free(noise);
    ct_noise_free(copy);
    ct_noise_free(read);
}
static void test_noise_tables(void) { check_work("noise", noise_tables); }

static ct_kind world_kind;

static void graphs_made_and_copied(task *job)
{
    ct_pose_graph_options options = ct_pose_graph_defaults(world_kind);
    ct_noise        *noise = NULL;
    ct_sequence     *seq = NULL, *empty = NULL;
    ct_graph        *copy = NULL;
    options.poses = 60;
    STEP(ct_noise_new(&noise, &job->err));
    STEP(ct_simulate_pose_graph(&options, noise, &seq, &job->err));
    STEP(ct_graph_copy(seq->graph, &copy, &job->err));
    STEP(ct_graph_set_noise(copy, 0, 40, &job->err));
    STEP(ct_sequence_new(NULL, &empty, &job->err));
    job->answer = ct_graph_error(seq->graph, noise, ct_graph_initial(copy));
done:
    ct_graph_free(copy);
    ct_sequence_free(empty);
    ct_sequence_free(seq);
    ct_noise_free(noise);
}

static void test_graphs_are_made_and_copied(void)
{
    world_kind = CT_SE2;
    check_work("city", graphs_made_and_copied);
    world_kind = CT_SE3;
    check_work("sphere", graphs_made_and_copied);
}

static void tables_written(task *job)
{
    ct_tables_options options = ct_tables_defaults(world_kind);
    char              folder[700];
    snprintf(folder, sizeof folder, "%s/tables", ct_test_folder());
    options.duration_s = 2;
    options.heading = 0.1;
    STEP(ct_simulate_tables(&options, 1, 1, folder, &job->err));
    job->answer = 1;
done:;
}

static void test_tables_are_written(void)
{
    world_kind = CT_SE2;
    check_work("tables", tables_written);
    world_kind = CT_SE3;
    check_work("tables in space", tables_written);
}

/* ---- solvers ---------------------------------------------------------------------------------- */

static world    the_world;
static ct_order order_now;
static int32_t *stage_now;

static void solvers_and_covariances(task *job)
{
    const ct_sparse_options how = {.order = order_now, .stage = stage_now};
    const world            *w = &the_world;
    const int32_t           far = w->pose[0][11], list[3] = {0, w->pose[1][3], w->point[0][2]};
    double                  S[3][36], C[36], x[512], *out[3] = {S[0], S[1], S[2]}, *X = NULL;
    ct_solver              *solver = NULL;
    job->answer = 0;
    STEP(ct_solver_new(w->graph, &how, &solver, &job->err));
    for (int m = 0; m < CT_METHOD_COUNT; m++) {
        ct_solve_options options = ct_solve_defaults();
        ct_solve_result  result;
        options.method = (ct_method)m;
        options.max_iterations = 5; /* what is asked for memory does not depend on it */
        memcpy(x, ct_graph_initial(w->graph), (size_t)ct_graph_size(w->graph) * sizeof *x);
        STEP(ct_solver_run(solver, w->noise, x, &options, &result, &job->err));
        STEP(ct_solver_linearise(solver, w->noise, x, &job->err));
        STEP(ct_solver_marginals(solver, 3, list, out, &job->err));
        STEP(ct_solver_cross(solver, 0, far, C, &job->err));
        const int32_t n = ct_sparse_describe(ct_solver_system(solver)).scalars;
        if (!(X = __libc_calloc((size_t)n * 2, sizeof *X))) goto done;
        X[0] = 1;
        STEP(m % 2 ? ct_sparse_draw(ct_solver_system(solver), X, 2, &job->err)
                   : ct_sparse_solve(ct_solver_system(solver), X, 2, &job->err));
        job->answer += result.final_error + S[1][0] + S[2][3] + C[0] + X[0];
        __libc_free(X);
        X = NULL;
    }
done:
    if (job->failed && !job->again) job->answer = NAN;
    __libc_free(X);
    ct_solver_free(solver);
}

static void test_solvers_in_every_order(void)
{
    world_make(&the_world, 3, PLANE | SPACE | LOOPS | LANDMARKS | ROBUST | PARTIAL);
    const int32_t n = ct_graph_variables(the_world.graph);
    int32_t      *stage = calloc((size_t)n, sizeof *stage);
    CHECK(ct_graph_size(the_world.graph) <= 512);
    stage[3] = stage[9] = 2;
    for (int order = 0; order < 2 * CT_ORDER_COUNT; order++) {
        order_now = (ct_order)(order % CT_ORDER_COUNT);
        stage_now = order < CT_ORDER_COUNT ? NULL : stage;
        check_work(ct_order_name(order_now), solvers_and_covariances);
    }
    free(stage);
    world_free(&the_world);
}

/* ---- assessments ------------------------------------------------------------------------------ */

static void sequences_assessed(task *job)
{
    const ct_inference inference = ct_inference_defaults();
    const ct_loss      loss = ct_loss_defaults();
    ct_pose_graph_options   options = ct_pose_graph_defaults(CT_SE2);
    ct_noise          *noise = NULL;
    ct_sequence       *seq[2] = {NULL, NULL};
    ct_evaluation      out[2];
    options.poses = 40;
    STEP(ct_noise_new(&noise, &job->err));
    for (int i = 0; i < 2; i++) {
        options.seed = (uint64_t)i;
        STEP(ct_simulate_pose_graph(&options, noise, &seq[i], &job->err));
    }
    STEP(evaluate_all(2, seq, noise, &inference, &loss, 1, 1, NULL, NULL, out, &job->err));
    job->answer = out[0].loss + out[1].consistency.nees;
done:
    for (int i = 0; i < 2; i++) ct_sequence_free(seq[i]);
    ct_noise_free(noise);
}
static void test_sequences_are_assessed(void) { check_work("assess", sequences_assessed); }

/* ---- runs do not allocate --------------------------------------------------------------------- */

/* Small fronts and large ones (which are packed), every method, tukey and all. */
static void check_run_allocates_nothing(const ct_graph *graph, const ct_noise *noise)
{
    ct_err     err = {0};
    ct_solver *solver = NULL;
    double    *x = copy_values(graph, ct_graph_initial_const(graph));
    CHECK_OK(ct_solver_new(graph, NULL, &solver, &err), err);
    double *X = calloc(5 * (size_t)ct_sparse_describe(ct_solver_system(solver)).scalars, sizeof *X);
    CHECK_OK(ct_solver_linearise(solver, noise, x, &err), err);
    CHECK_OK(ct_sparse_solve(ct_solver_system(solver), X, 5, &err), err); /* fewer right-hand sides need no more room */
    for (int m = 0; m < CT_METHOD_COUNT; m++) {
        ct_solve_options options = ct_solve_defaults();
        ct_solve_result  result;
        options.method = (ct_method)(m % CT_METHOD_COUNT);
        memcpy(x, ct_graph_initial_const(graph), (size_t)ct_graph_size(graph) * sizeof *x);
        alloc_from_now(0, 1); /* if it asked, it would get nothing */
        CHECK_OK(ct_solver_run(solver, noise, x, &options, &result, &err), err);
        CHECK_OK(ct_solver_linearise(solver, noise, x, &err), err);
        CHECK_OK(ct_solver_hessian(solver, noise, x, &err), err);
        CHECK_OK(ct_sparse_solve(ct_solver_system(solver), X, 3, &err), err);
        CHECK_OK(ct_sparse_draw(ct_solver_system(solver), X, 5, &err), err);
        const long calls = alloc_calls;
        alloc_from_now(-1, 0);
        CHECK(ct_stop_converged(result.stop) && calls == 0);
    }
    ct_solver_free(solver);
    free(X);
    free(x);
}

static void test_a_run_allocates_nothing(void)
{
    for (int k = 0; k < 2; k++) {
        ct_pose_graph_options options = ct_pose_graph_defaults(k ? CT_SE3 : CT_SE2);
        ct_noise        *noise = NULL;
        ct_sequence     *seq = NULL;
        int32_t          prior;
        ct_err           err = {0};
        options.poses = 600;
        CHECK_OK(ct_noise_new(&noise, &err), err);
        CHECK_OK(ct_simulate_pose_graph(&options, noise, &seq, &err), err);
        CHECK_OK(ct_noise_add_isotropic(noise, "start", k ? 6 : 3, 1e-6, &prior, &err), err);
        CHECK_OK(ct_graph_add_prior(seq->graph, 0, ct_graph_initial(seq->graph), prior, &err), err);
        check_run_allocates_nothing(seq->graph, noise);
        ct_sequence_free(seq);
        ct_noise_free(noise);
    }
    world_make(&the_world, 4, EVERYTHING);
    check_run_allocates_nothing(the_world.graph, the_world.noise);
    world_free(&the_world);
}

int main(void)
{
    if (!alloc_works()) {
        printf("  skipped: something else has taken malloc's place\n");
        return EXIT_SUCCESS;
    }
    RUN(test_every_format_is_read_and_written);
    RUN(test_a_format_is_guessed);
    RUN(test_datasets);
    RUN(test_noise_tables);
    RUN(test_graphs_are_made_and_copied);
    RUN(test_tables_are_written);
    RUN(test_solvers_in_every_order);
    RUN(test_sequences_are_assessed);
    RUN(test_a_run_allocates_nothing);
    return ct_test_end();
}
