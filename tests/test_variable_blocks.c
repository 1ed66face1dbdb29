/* test_variable_blocks.c: what models say that they do not depend on. Laws of systems, Hessians and covariances with
 * such models are in test_solve.c, test_hessian.c and test_covariance.c. */
#include "graph_test.h"
#include "solve/solve.h"
#include "sparse/sparse.h"

#include <covtune/data.h>
#include <covtune/push.h>

/* The same graph with every model's word for what it depends on taken back. */
static ct_graph *without_depends(const ct_graph *graph, ct_factor_ops plain[], int *models)
{
    ct_graph *copy = NULL;
    ct_err    err = {0};
    CHECK_OK(ct_graph_new(&copy, &err), err);
    for (int32_t v = 0; v < ct_graph_variables(graph); v++) {
        CHECK_OK(ct_graph_add_variable(copy, NULL, ct_graph_kind(graph, v),
                                       ct_graph_initial_const(graph) + ct_graph_offset(graph, v), NULL, &err),
                 err);
        ct_graph_fix(copy, v, ct_graph_fixed(graph, v));
    }
    for (int32_t f = 0; f < ct_graph_factors(graph); f++) {
        const ct_factor factor = ct_graph_factor(graph, f);
        int             m = 0;
        while (m < *models && strcmp(plain[m].name, factor.ops->name)) m++;
        if (m == *models) {
            plain[(*models)++] = *factor.ops;
            memset(plain[m].depends, 0, sizeof plain[m].depends);
        }
        CHECK_OK(ct_graph_add_factor(copy, &plain[m], factor.var, factor.z, factor.context, factor.noise, &err), err);
    }
    return copy;
}

/* A run of pushing: the same steps to the same estimate, with a fraction of the work. */
static void test_pushing_takes_a_quarter_of_the_work_and_ends_where_it_did(void)
{
    ct_push_options  push = ct_push_defaults(CT_SHAPE_ELLIPSE);
    ct_factor_ops    plain[16];
    int              models = 0;
    ct_noise        *noise = NULL;
    ct_sequence     *seq = NULL;
    ct_err           err = {0};
    ct_solver       *solver[2];
    ct_solve_result  result[2];
    double          *x[2];
    ct_solve_options options = ct_solve_defaults();
    push.episodes = 1;
    push.steps = 60;
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_simulate_push(&push, 0, 0, NULL, NULL, noise, &seq, &err), err);
    ct_graph       *whole = without_depends(seq->graph, plain, &models);
    const ct_graph *graph[2] = {seq->graph, whole};
    for (int32_t g = 0; g < ct_noise_count(noise); g++) {
        double unit[3], variance[3];
        if (!ct_push_units(ct_noise_get(noise, g)->name, unit)) continue;
        for (int i = 0; i < 3; i++) variance[i] = unit[i] * unit[i];
        CHECK_OK(ct_noise_set_variance(noise, g, variance, &err), err);
    }
    for (int m = 0; m < 2; m++) {
        options.method = m ? CT_NEWTON : CT_LEVENBERG_MARQUARDT;
        for (int k = 0; k < 2; k++) {
            x[k] = malloc((size_t)ct_graph_size(graph[k]) * sizeof **x);
            memcpy(x[k], seq->truth, (size_t)ct_graph_size(graph[k]) * sizeof **x);
            CHECK_OK(ct_solver_new(graph[k], NULL, &solver[k], &err), err);
            CHECK_OK(ct_solver_run(solver[k], noise, x[k], &options, &result[k], &err), err);
            CHECK(ct_stop_converged(result[k].stop));
        }
        CHECK(result[0].iterations == result[1].iterations);
        CHECK_NEAR(result[0].final_error, result[1].final_error, 1e-9 * result[1].final_error);
        for (int32_t i = 0; i < ct_graph_size(graph[0]); i++) CHECK_NEAR(x[0][i], x[1][i], 1e-7);
        CHECK(ct_sparse_describe(ct_solver_system(solver[0])).flops <
              0.25 * ct_sparse_describe(ct_solver_system(solver[1])).flops);
        for (int k = 0; k < 2; k++) free(x[k]), ct_solver_free(solver[k]);
    }
    ct_graph_free(whole);
    ct_sequence_free(seq);
    ct_noise_free(noise);
}

/* Where a variable is cut, and that nothing else is. */
static void variables_are_cut_where_models_say(world *w)
{
    ct_solver *solver = new_solver(w, NULL);
    for (int32_t b = 0; b < solver->blocks; b++) {
        const int32_t v = solver->variable_of[b], *dim = solver->system->dim + solver->piece[b],
                      pieces = solver->piece[b + 1] - solver->piece[b];
        int           touched = 0;
        for (int32_t f = 0; f < ct_graph_factors(w->graph); f++)
            for (int i = 0; i < ct_graph_factor(w->graph, f).ops->arity; i++)
                touched |= ct_graph_factor(w->graph, f).var[i] == v && ct_graph_factor(w->graph, f).ops->depends[i];
        switch (touched ? ct_graph_kind(w->graph, v) : CT_KIND_COUNT) {
        case CT_SE2: CHECK(pieces == 2 && dim[0] == 2 && dim[1] == 1); break;
        case CT_SE3: CHECK(pieces == 2 && dim[0] == 3 && dim[1] == 3); break;
        case CT_R3: CHECK(pieces == 3 && dim[0] == 1 && dim[1] == 1 && dim[2] == 1); break;
        default: CHECK(pieces == 1 && dim[0] == ct_kind_dim(ct_graph_kind(w->graph, v)));
        }
    }
    ct_solver_free(solver);
}
static void test_variables_are_cut_where_models_say(void)
{
    static const int PARTS[] = {EVERYTHING, PLANE | PARTIAL, SPACE | PARTIAL, VECTORS | PARTIAL, EVERYTHING | PARTIAL};
    for_worlds(5, PARTS, 2, variables_are_cut_where_models_say);
}

/* A coordinate that nothing measures is loose, and named, also where its variable is cut. */
static void test_what_no_piece_is_measured_by_is_loose(void)
{
    ct_graph       *graph = NULL;
    ct_noise       *noise = NULL;
    ct_solver      *solver = NULL;
    ct_err          err = {0};
    ct_solve_result result;
    double          x[3] = {0, 0, 0}, z = 1, variance = 1;
    int32_t         v, model;
    char            text[128];
    CHECK_OK(ct_graph_new(&graph, &err), err);
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_noise_add_diagonal(noise, "y", 1, &variance, &model, &err), err);
    CHECK_OK(ct_graph_add_variable(graph, "p", CT_R3, x, &v, &err), err);
    CHECK_OK(ct_graph_add_factor(graph, &middle_r3, &v, &z, NULL, model, &err), err);
    CHECK_OK(ct_solver_new(graph, NULL, &solver, &err), err);
    CHECK_OK(ct_solver_run(solver, noise, x, NULL, &result, &err), err);
    CHECK(result.stop == CT_STOP_RANK);
    CHECK(strstr(ct_solver_undetermined_text(solver, text, sizeof text), "p: no factor fixes its position"));
    ct_solver_free(solver);
    ct_graph_free(graph);
    ct_noise_free(noise);
}

static void test_dependence_that_is_denied_is_told(void)
{
    const double  o[4] = {0.1, 0.2, 1, 0}, z[2] = {1, 0}, *const x[4] = {o, o, o, o};
    ct_factor_ops wrong = ct_tactile_yaw;
    ct_err        err = {0};
    CHECK_OK(ct_factor_check(&wrong, z, NULL, x, 1e-7, &err), err);
    wrong.depends[2] = 3; /* x and y, it says, and not the heading */
    CHECK_REFUSED(ct_factor_check(&wrong, z, NULL, x, 1e-7, &err), err, "tactile_yaw: d r[yaw] / d x2[yaw] is 0");
    wrong.depends[2] = 8;
    CHECK_REFUSED(ct_factor_check(&wrong, z, NULL, x, 1e-7, &err), err,
                  "depends has a coordinate that its variable has not");
}

int main(void)
{
    RUN(test_pushing_takes_a_quarter_of_the_work_and_ends_where_it_did);
    RUN(test_variables_are_cut_where_models_say);
    RUN(test_what_no_piece_is_measured_by_is_loose);
    RUN(test_dependence_that_is_denied_is_told);
    return ct_test_end();
}
