/* test_misuse.c: what public functions make of indices, counts, kinds and names that are none: an error, NULL or a
 * neutral value, never an abort. Module by module, in the order of the headers; the later ones in
 * test_misuse_more.c. */
#include "ct_test.h"

#include <covtune/covtune.h>

static const int BAD[] = {-1, 99, INT32_MIN, INT32_MAX};
#define EACH_BAD(i) for (int bad_ = 0, i = BAD[0]; bad_ < 4; bad_++, i = BAD[bad_ < 4 ? bad_ : 0])

/* Two poses, a prior on the first, a step to the second, under two models. */
typedef struct {
    ct_noise *noise;
    ct_graph *graph;
    int32_t   prior, step;
    ct_err    err;
} fixture;

static fixture make(void)
{
    fixture      f = {0};
    const double one[3] = {1, 1, 1}, at[4] = {0, 0, 1, 0};
    CHECK_OK(ct_noise_new(&f.noise, &f.err), f.err);
    CHECK_OK(ct_noise_add_diagonal(f.noise, "gps", 3, one, &f.prior, &f.err), f.err);
    CHECK_OK(ct_noise_add_diagonal(f.noise, "odom", 3, one, &f.step, &f.err), f.err);
    CHECK_OK(ct_graph_new(&f.graph, &f.err), f.err);
    for (int i = 0; i < 2; i++) CHECK_OK(ct_graph_add_variable(f.graph, NULL, CT_SE2, at, NULL, &f.err), f.err);
    CHECK_OK(ct_graph_add_prior(f.graph, 0, at, f.prior, &f.err), f.err);
    CHECK_OK(ct_graph_add_between(f.graph, 0, 1, at, f.step, &f.err), f.err);
    return f;
}

static void release(fixture *f)
{
    ct_graph_free(f->graph);
    ct_noise_free(f->noise);
}

/* ---- free(NULL) ---- */

static void test_free_of_null_does_nothing(void)
{
    ct_run_folder_free(NULL);
    ct_noise_free(NULL);
    ct_theta_free(NULL);
    ct_shape_free(NULL);
    ct_net_free(NULL);
    ct_graph_free(NULL);
    ct_sequence_free(NULL);
    ct_dataset_free(NULL);
    ct_push_episode_free(NULL);
    ct_sparse_free(NULL);
    ct_solver_free(NULL);
    ct_smoother_free(NULL);
    ct_outer_free(NULL);
    ct_learn_result_free(NULL);
    ct_checkpoint_free(NULL);
    ct_trial_free(NULL);
    ct_table_free(NULL);
    ct_page_free(NULL);
    CHECK(1);
}

/* ---- names ---- */

static void test_what_is_no_choice_has_a_name_all_the_same(void)
{
    EACH_BAD(i)
    {
        const char *const name[] = {ct_status_text((ct_status)i),
                                    ct_kind_name((ct_kind)i),
                                    ct_kind_coordinate((ct_kind)i, 0),
                                    ct_kind_coordinate(CT_SE2, i),
                                    ct_kind_unit((ct_kind)i, 0),
                                    ct_kind_unit(CT_SE2, i),
                                    ct_shape_kind_name((ct_shape_kind)i),
                                    ct_robust_name((ct_robust_kind)i),
                                    ct_format_name((ct_format)i),
                                    ct_order_name((ct_order)i),
                                    ct_method_name((ct_method)i),
                                    ct_stop_name((ct_stop)i),
                                    ct_stop_meaning((ct_stop)i),
                                    ct_entry_name((ct_entry)i),
                                    ct_difference_name((ct_difference)i),
                                    ct_start_name((ct_start)i),
                                    ct_gradient_name((ct_gradient)i),
                                    ct_hessian_name((ct_hessian)i),
                                    ct_learn_method_name((ct_learn_method)i),
                                    ct_learn_stop_name((ct_learn_stop)i),
                                    ct_learn_stop_meaning((ct_learn_stop)i),
                                    ct_scale_name((ct_scale)i),
                                    ct_export_name((ct_export_format)i),
                                    ct_table_format_name((ct_table_format)i)};
        for (size_t k = 0; k < sizeof name / sizeof *name; k++) CHECK(name[k] && *name[k] && strlen(name[k]) < 80);
        CHECK(!ct_stop_converged((ct_stop)i));
    }
}

static void test_no_name_is_found_nowhere(void)
{
    const char *const none[] = {NULL, "", "nothing is called so"};
    for (int k = 0; k < 3; k++) {
        const char *n = none[k];
        const int   found[] = {ct_kind_find(n),      ct_shape_kind_find(n), ct_robust_find(n),
                               ct_format_find(n),    ct_order_find(n),      ct_method_find(n),
                               ct_entry_find(n),     ct_difference_find(n), ct_start_find(n),
                               ct_gradient_find(n),  ct_hessian_find(n),    ct_learn_method_find(n),
                               ct_scale_find(n),     ct_export_find(n),     ct_table_format_find(n),
                               ct_learn_stop_find(n), ct_learn_phase_find(n)};
        for (size_t i = 0; i < sizeof found / sizeof *found; i++) CHECK(found[i] == -1);
        CHECK(!ct_factor_find(n));
    }
}

/* ---- lie ---- */

static void test_a_kind_that_is_none_has_no_size_and_changes_nothing(void)
{
    EACH_BAD(i)
    {
        const ct_kind kind = (ct_kind)i;
        double        x[CT_SIZE_MAX] = {7}, y[CT_SIZE_MAX] = {7};
        CHECK(ct_kind_dim(kind) == 0 && ct_kind_size(kind) == 0 && ct_kind_fields(kind) == 0);
        ct_kind_identity(kind, x);
        ct_kind_retract(kind, x, x, y);
        ct_kind_local(kind, x, x, y);
        ct_kind_to_fields(kind, x, y);
        CHECK(!ct_kind_from_fields(kind, x, y));
        CHECK(x[0] == 7 && y[0] == 7);
        CHECK(!ct_factor_prior(kind) && !ct_factor_between(kind) && !ct_factor_at(i));
    }
    const ct_so2 flat = ct_so2_normalize((ct_so2){0, 0});
    const ct_so3 space = ct_so3_normalize((ct_so3){0, 0, 0, 0});
    CHECK(isnan(flat.c) && isnan(space.w)); /* no direction: no number */
    ct_rn_compose(-1, NULL, NULL, NULL);
    ct_rn_inverse(-1, NULL, NULL);
    ct_rn_between(-1, NULL, NULL, NULL);
}

/* ---- shape, net ---- */

static void test_outlines_of_too_few_points_are_not_drawn(void)
{
    ct_shape *shape;
    ct_err    err;
    double    xy[6] = {7};
    CHECK_OK(ct_shape_ellipse(1, 2, &shape, &err), err);
    for (int n = -1; n < 3; n++) ct_shape_outline(shape, n, xy);
    CHECK(xy[0] == 7);
    CHECK(ct_shape_numbers(shape, -1, xy) > 0 && xy[0] == 7);
    ct_shape_free(shape);
    CHECK_REFUSED(ct_shape_polygon(-1, xy, &shape, &err), err, "");
    CHECK_REFUSED(ct_shape_grid(-1, 5, 0, 0, 1, xy, &shape, &err), err, "");
    CHECK_REFUSED(ct_shape_grid(INT32_MAX, INT32_MAX, 0, 0, 1, xy, &shape, &err), err, "");
}

static void test_networks_of_no_examples_have_no_loss(void)
{
    const int32_t        width[2] = {1, 1}, none[2] = {-1, 1};
    const double         x[1] = {1};
    ct_net              *net;
    ct_err               err;
    double               gradient[2] = {7, 7};
    const ct_net_options options = ct_net_defaults();
    ct_net_result        result;
    CHECK_REFUSED(ct_net_new(-1, width, 1, &net, &err), err, "");
    CHECK_REFUSED(ct_net_new(99, width, 1, &net, &err), err, "");
    CHECK_REFUSED(ct_net_new(1, none, 1, &net, &err), err, "");
    CHECK_OK(ct_net_new(1, width, 1, &net, &err), err);
    CHECK(isnan(ct_net_loss(net, 0, x, x, gradient)) && gradient[0] == 0 && gradient[1] == 0);
    CHECK(isnan(ct_net_loss(net, -1, x, x, NULL)));
    CHECK_REFUSED(ct_net_train(net, -1, x, x, &options, &result, &err), err, "");
    ct_net_free(net);
}

/* ---- noise ---- */

static void test_a_noise_model_that_is_not_there_is_null(void)
{
    fixture           f = make();
    const double      one[36] = {1, 1, 1};
    const char *const rows[3] = {"a", "b", "c"};
    EACH_BAD(i)
    {
        CHECK(!ct_noise_get(f.noise, i));
        CHECK_REFUSED(ct_noise_set_variance(f.noise, i, one, &f.err), f.err, "there is no noise model number");
        CHECK_REFUSED(ct_noise_set_covariance(f.noise, i, one, &f.err), f.err, "there is no noise model number");
        CHECK_REFUSED(ct_noise_set_robust(f.noise, i, (ct_robust){CT_ROBUST_NONE, 0, 0}, &f.err), f.err,
                      "there is no noise model number");
        CHECK_REFUSED(ct_noise_set_robust(f.noise, 0, (ct_robust){(ct_robust_kind)i, 1, 0}, &f.err), f.err,
                      "is not one");
        ct_noise_set_rows(f.noise, i, rows, NULL);
        ct_noise_set_measurement(f.noise, i, "x");
        ct_noise_set_learned(f.noise, i, 1);
        CHECK_REFUSED(ct_noise_add_isotropic(f.noise, "new", i, 1, NULL, &f.err), f.err, "");
        CHECK_REFUSED(ct_noise_add_diagonal(f.noise, "new", i, one, NULL, &f.err), f.err, "");
        CHECK_REFUSED(ct_noise_add_full(f.noise, "new", i, one, NULL, &f.err), f.err, "");
        CHECK_REFUSED(ct_noise_add_information(f.noise, "new", i, one, NULL, &f.err), f.err, "");
        CHECK(ct_robust_error((ct_robust){(ct_robust_kind)i, 1, 0}, 1, NULL) >= 0 &&
              ct_robust_slope((ct_robust){(ct_robust_kind)i, 1, 0}, 1) == 0);
        CHECK(ct_robust_default_width((ct_robust_kind)i) == 0);
    }
    CHECK_REFUSED(ct_noise_add_isotropic(f.noise, NULL, 3, 1, NULL, &f.err), f.err, "name");
    ct_noise_set_learned(f.noise, 0, 7);
    CHECK(ct_noise_get(f.noise, 0)->learned == 1 && !ct_noise_get(f.noise, 0)->row && ct_noise_count(f.noise) == 2);
    CHECK(ct_noise_find(f.noise, NULL) == -1 && ct_noise_select(f.noise, "none", NULL) == -1);
    release(&f);
}

/* ---- theta ---- */

static void refuse_sayings(ct_theta *theta, int32_t i, ct_err *err)
{
    CHECK_REFUSED(ct_theta_learn(theta, i, CT_NOISE_DIAGONAL, 1e-3, 1, err), *err, "there is no noise model number");
    CHECK_REFUSED(ct_theta_learn(theta, 0, (ct_noise_kind)i, 1e-3, 1, err), *err, "kind");
    CHECK_REFUSED(ct_theta_set_unit(theta, i, 0, 1, err), *err, "");
    CHECK_REFUSED(ct_theta_bound(theta, i, 0, 1e-3, 1, err), *err, "");
    CHECK_REFUSED(ct_theta_bound(theta, 0, i, 1e-3, 1, err), *err, "");
    CHECK_REFUSED(ct_theta_freeze(theta, i, 0, err), *err, "");
    CHECK_REFUSED(ct_theta_tie(theta, i, 0, 0, 0, err), *err, "");
    CHECK_REFUSED(ct_theta_tie(theta, 0, i, 0, 0, err), *err, "");
    if (i != -1) CHECK_REFUSED(ct_theta_set_unit(theta, 0, i, 1, err), *err, "");
    if (i != -1) CHECK_REFUSED(ct_theta_freeze(theta, 0, i, err), *err, "");
}

static void test_a_parameter_that_is_not_there_is_no_number(void)
{
    fixture   f = make();
    ct_theta *theta;
    char      name[32];
    CHECK_OK(ct_theta_new(f.noise, &theta, &f.err), f.err);
    CHECK_OK(ct_theta_learn(theta, 0, CT_NOISE_DIAGONAL, 1e-3, 1e3, &f.err), f.err);
    EACH_BAD(i)
    {
        double lower = 0, upper = 0;
        refuse_sayings(theta, i, &f.err);
        ct_theta_bounds(theta, i, &lower, &upper);
        CHECK(isnan(lower) && isnan(upper));
        CHECK(!ct_theta_learns(theta, i) && !ct_theta_is_scale(theta, i) && ct_theta_find(theta, i, 0) == -1 &&
              ct_theta_find(theta, 0, i) == -1);
        CHECK(isnan(ct_theta_unit(theta, i, 0)) && isnan(ct_theta_unit(theta, 0, i)) &&
              isnan(ct_theta_unit_squared(theta, i)));
        CHECK(!strcmp(ct_theta_name(theta, i, name, sizeof name), "?"));
    }
    CHECK(ct_theta_count(theta) == 3 && ct_theta_find(theta, 0, 2) == 2);
    ct_theta_free(theta);
    release(&f);
}

static void test_parameters_of_another_table_are_refused(void)
{
    fixture          f = make();
    ct_theta        *theta;
    ct_theta_jacobian *slopes;
    ct_noise        *other;
    const double     zero[6] = {0};
    double           p[6] = {0};
    CHECK_OK(ct_theta_new(f.noise, &theta, &f.err), f.err);
    CHECK_OK(ct_theta_learn(theta, 0, CT_NOISE_DIAGONAL, 1e-3, 1e3, &f.err), f.err);
    CHECK_OK(ct_theta_jacobian_new(theta, &slopes, &f.err), f.err);
    CHECK_OK(ct_theta_learn(theta, 1, CT_NOISE_DIAGONAL, 1e-3, 1e3, &f.err), f.err);
    CHECK_OK(ct_noise_new(&other, &f.err), f.err);
    for (int models = 0; models < 3; models++) { /* none, then models of other dimensions */
        ct_theta_get(theta, other, p);
        CHECK(isnan(p[0]) && isnan(p[5]));
        CHECK_REFUSED(ct_theta_apply(theta, zero, other, &f.err), f.err, "another noise table");
        CHECK_REFUSED(ct_theta_apply_unprojected(theta, zero, other, &f.err), f.err, "another noise table");
        CHECK(!ct_theta_is_feasible(theta, other) && !ct_fits(other, theta));
        CHECK_OK(ct_noise_add_isotropic(other, (const char *const[]){"a", "b", "c"}[models], 1, 1, NULL, &f.err),
                 f.err);
    }
    ct_theta_jacobian_at(theta, zero, slopes); /* made before more was learned */
    CHECK(slopes->terms == 3 && isnan(slopes->dSigma[0][0]) && isnan(slopes->dSigma[2][35]));
    free(slopes);
    ct_noise_free(other);
    ct_theta_free(theta);
    release(&f);
}

/* ---- graph ---- */

static void test_a_variable_or_factor_that_is_not_there_is_refused(void)
{
    fixture       f = make();
    const double  z[4] = {0, 0, 1, 0};
    const int32_t pair[2] = {0, 1};
    char          name[32];
    ct_factor_ops wide = ct_between_se2;
    EACH_BAD(i)
    {
        CHECK_REFUSED(ct_graph_add_variable(f.graph, NULL, (ct_kind)i, NULL, NULL, &f.err), f.err, "kind");
        CHECK_REFUSED(ct_graph_add_prior(f.graph, i, z, 0, &f.err), f.err, "does not exist");
        CHECK_REFUSED(ct_graph_add_between(f.graph, i, 0, z, 0, &f.err), f.err, "does not exist");
        CHECK_REFUSED(ct_graph_add_between(f.graph, 0, i, z, 0, &f.err), f.err, "does not exist");
        CHECK_REFUSED(ct_graph_set_noise(f.graph, i, 0, &f.err), f.err, "there is no factor");
        ct_graph_fix(f.graph, i, 1);
        CHECK(!ct_graph_factor(f.graph, i).ops && ct_graph_factor(f.graph, i).noise == -1);
        CHECK(ct_graph_kind(f.graph, i) == CT_KIND_COUNT && !ct_graph_fixed(f.graph, i) && ct_graph_offset(f.graph,
                                                                                                           i) == -1);
        CHECK(!strcmp(ct_graph_name(f.graph, i, name, sizeof name), "?"));
        wide.arity = i;
        CHECK_REFUSED(ct_graph_add_factor(f.graph, &wide, pair, z, NULL, 0, &f.err), f.err, "its model has");
        wide = ct_between_se2;
        wide.rows = i;
        CHECK_REFUSED(ct_graph_add_factor(f.graph, &wide, pair, z, NULL, 0, &f.err), f.err, "its model has");
        wide = ct_between_se2;
    }
    CHECK_REFUSED(ct_graph_add_factor(f.graph, NULL, pair, z, NULL, 0, &f.err), f.err, "no measurement model");
    CHECK_REFUSED(ct_graph_set_noise(f.graph, 0, -1, &f.err), f.err, "does not exist");
    CHECK_REFUSED(ct_graph_add_prior(f.graph, 0, z, -1, &f.err), f.err, "does not exist");
    CHECK(ct_graph_find(f.graph, NULL) == -1 && ct_graph_variables(f.graph) == 2 && ct_graph_factors(f.graph) == 2);
    release(&f);
}

static void test_a_table_that_does_not_fit_gives_no_error_value(void)
{
    fixture   f = make();
    ct_noise *small;
    CHECK_OK(ct_noise_new(&small, &f.err), f.err);
    for (int models = 0; models < 3; models++) {
        CHECK(isnan(ct_graph_error(f.graph, small, ct_graph_initial_const(f.graph))));
        ct_graph_name_rows(f.graph, small);
        CHECK_OK(ct_noise_add_isotropic(small, (const char *const[]){"a", "b", "c"}[models], 1, 1, NULL, &f.err),
                 f.err);
    }
    CHECK(!ct_noise_get(small, 0)->row);
    ct_noise_free(small);
    release(&f);
}

/* ---- sparse ---- */

static void refuse_structures(ct_err *err)
{
    const int64_t start[2] = {0, 2}, back[2] = {0, -1}, off[2] = {1, 2};
    const int32_t dim[2] = {1, 1}, none[2] = {0, 1}, wide[2] = {256, 1}, good[2] = {0, 1}, same[2] = {0, 0};
    ct_sparse    *sparse;
    CHECK_REFUSED(ct_sparse_new(-1, dim, 1, start, good, NULL, &sparse, err), *err, "negative");
    CHECK_REFUSED(ct_sparse_new(2, dim, -1, start, good, NULL, &sparse, err), *err, "negative");
    CHECK_REFUSED(ct_sparse_new(2, none, 1, start, good, NULL, &sparse, err), *err, "scalars");
    CHECK_REFUSED(ct_sparse_new(2, wide, 1, start, good, NULL, &sparse, err), *err, "scalars");
    CHECK_REFUSED(ct_sparse_new(2, dim, 1, back, good, NULL, &sparse, err), *err, "ends before");
    CHECK_REFUSED(ct_sparse_new(2, dim, 1, off, good, NULL, &sparse, err), *err, "begins at");
    CHECK_REFUSED(ct_sparse_new(2, dim, 1, start, same, NULL, &sparse, err), *err, "twice");
    CHECK_REFUSED(ct_sparse_new(2, dim, 1, start, (const int32_t[]){0, 2}, NULL, &sparse, err), *err, "ties block");
    CHECK_REFUSED(ct_sparse_new(2, dim, 1, start, (const int32_t[]){-1, 0}, NULL, &sparse, err), *err, "ties block");
    CHECK_REFUSED(ct_sparse_new(2, dim, 1, start, good, &(ct_sparse_options){.order = (ct_order)9}, &sparse, err),
                  *err, "order");
    CHECK(!sparse);
}

static void test_edges_and_blocks_that_are_not_there_are_left_alone(void)
{
    const int64_t       start[2] = {0, 2};
    const int32_t       dim[2] = {1, 1}, member[2] = {0, 1};
    const double        J[2] = {1, 2}, r[1] = {1}, K[4] = {5, 0, 0, 5};
    const double *const rows[2] = {&J[0], &J[1]};
    double              d[2], X[2] = {1, 1};
    ct_sparse          *sparse;
    ct_err              err;
    refuse_structures(&err);
    CHECK_OK(ct_sparse_new(2, dim, 1, start, member, NULL, &sparse, &err), err);
    ct_sparse_clear(sparse);
    ct_sparse_add_symmetric(sparse, 0, K);
    EACH_BAD(i)
    {
        double       *out[1] = {X};
        const int32_t bad = i, good = 0;
        ct_sparse_add(sparse, i, 1, rows, r);
        ct_sparse_add_symmetric(sparse, i, K);
        if (i < 0) ct_sparse_add(sparse, 0, i, rows, r);
        CHECK(ct_sparse_weak(sparse, i, NULL, NULL) == -1);
        CHECK_REFUSED(ct_sparse_covariance(sparse, 1, &bad, &good, out, &err), err, "there are 2");
        CHECK_REFUSED(ct_sparse_covariance(sparse, 1, &good, &bad, out, &err), err, "there are 2");
    }
    ct_sparse_diagonal(sparse, d);
    CHECK(d[0] == 5 && d[1] == 5);
    CHECK(ct_sparse_factor(sparse, 0, NULL) == 0);
    CHECK_REFUSED(ct_sparse_solve(sparse, X, -1, &err), err, "right-hand sides");
    CHECK_REFUSED(ct_sparse_draw(sparse, X, -1, &err), err, "right-hand sides");
    CHECK_OK(ct_sparse_solve(sparse, X, 0, &err), err);
    CHECK_OK(ct_sparse_covariance(sparse, 0, NULL, NULL, NULL, &err), err);
    ct_sparse_free(sparse);
}

/* ---- solve ---- */

static void test_a_solver_refuses_variables_that_are_not_there(void)
{
    fixture          f = make();
    ct_solver       *solver;
    ct_solve_options options = ct_solve_defaults();
    ct_solve_result  result;
    double           x[8], S[9], *out[1] = {S};
    memcpy(x, ct_graph_initial_const(f.graph), sizeof x);
    CHECK_OK(ct_solver_new(f.graph, NULL, &solver, &f.err), f.err);
    CHECK_OK(ct_solver_linearise(solver, f.noise, x, &f.err), f.err);
    EACH_BAD(i)
    {
        const int32_t bad = i;
        CHECK(!ct_solver_undetermined(solver, i) && ct_solver_column(solver, i) == -1);
        CHECK_REFUSED(ct_solver_marginals(solver, 1, &bad, out, &f.err), f.err, "does not exist");
        CHECK_REFUSED(ct_solver_cross(solver, i, 0, S, &f.err), f.err, "does not exist");
        CHECK_REFUSED(ct_solver_cross(solver, 0, i, S, &f.err), f.err, "does not exist");
        options.method = (ct_method)i;
        CHECK_REFUSED(ct_solver_run(solver, f.noise, x, &options, &result, &f.err), f.err, "there is no method");
    }
    options = ct_solve_defaults();
    options.max_iterations = -1;
    CHECK_OK(ct_solver_run(solver, f.noise, x, &options, &result, &f.err), f.err);
    ct_solver_free(solver);
    release(&f);
}

/* ---- smooth ---- */

static void test_a_smoother_refuses_variables_that_are_not_there(void)
{
    fixture             f = make();
    ct_smoother        *s;
    const double        z[4] = {0, 0, 1, 0};
    double              x[4] = {7}, S[9];
    ct_new_variable     v = {.kind = CT_SE2};
    int32_t             on[1] = {0};
    ct_new_factor       prior = {.ops = &ct_prior_se2, .var = on, .z = z, .noise = f.prior};
    const ct_increment  inc = {.variables = 1, .variable = &v, .factors = 1, .factor = &prior};
    CHECK_OK(ct_smoother_new(f.noise, NULL, &s, &f.err), f.err);
    EACH_BAD(i)
    {
        ct_factor_ops wide = ct_prior_se2;
        const int32_t bad = i;
        v.kind = (ct_kind)i;
        CHECK_REFUSED(ct_smoother_update(s, &inc, NULL, &f.err), f.err, "kind");
        v.kind = CT_SE2;
        wide.arity = i;
        prior.ops = &wide;
        CHECK_REFUSED(ct_smoother_update(s, &inc, NULL, &f.err), f.err, "its model has");
        prior.ops = &ct_prior_se2;
        prior.noise = i;
        CHECK_REFUSED(ct_smoother_update(s, &inc, NULL, &f.err), f.err, "does not exist");
        prior.noise = f.prior;
        on[0] = i;
        CHECK_REFUSED(ct_smoother_update(s, &inc, NULL, &f.err), f.err, "does not exist");
        on[0] = 0;
        CHECK_REFUSED(ct_smoother_update(s, &(ct_increment){.removals = 1, .removal = &bad}, NULL, &f.err), f.err,
                      "does not exist");
        CHECK_REFUSED(ct_smoother_update(s, &(ct_increment){.marginals = 1, .marginal = &bad}, NULL, &f.err), f.err,
                      "not there");
    }
    CHECK_OK(ct_smoother_update(s, &inc, NULL, &f.err), f.err);
    EACH_BAD(i)
    {
        CHECK(!ct_smoother_has(s, i) && ct_smoother_kind(s, i) == CT_KIND_COUNT);
        ct_smoother_estimate(s, i, x);
        CHECK_REFUSED(ct_smoother_marginal(s, i, S, &f.err), f.err, "does not exist");
    }
    CHECK(x[0] == 7);
    ct_smoother_free(s);
    release(&f);
}

int main(void)
{
    RUN(test_free_of_null_does_nothing);
    RUN(test_what_is_no_choice_has_a_name_all_the_same);
    RUN(test_no_name_is_found_nowhere);
    RUN(test_a_kind_that_is_none_has_no_size_and_changes_nothing);
    RUN(test_outlines_of_too_few_points_are_not_drawn);
    RUN(test_networks_of_no_examples_have_no_loss);
    RUN(test_a_noise_model_that_is_not_there_is_null);
    RUN(test_a_parameter_that_is_not_there_is_no_number);
    RUN(test_parameters_of_another_table_are_refused);
    RUN(test_a_variable_or_factor_that_is_not_there_is_refused);
    RUN(test_a_table_that_does_not_fit_gives_no_error_value);
    RUN(test_edges_and_blocks_that_are_not_there_are_left_alone);
    RUN(test_a_solver_refuses_variables_that_are_not_there);
    RUN(test_a_smoother_refuses_variables_that_are_not_there);
    return ct_test_end();
}
