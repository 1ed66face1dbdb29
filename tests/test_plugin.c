/* test_plugin.c: registries of measurement models, and shared objects that fill them. */
#include "ct_test.h"

#include <covtune/data.h>
#include <covtune/plugin.h>
#include <covtune/solve.h>

#ifndef CT_PLUGINS
#define CT_PLUGINS "."
#endif

static void numeric(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    (void)context, (void)J;
    r[0] = x[0][0] * x[0][0] - z[0];
}

static const ct_factor_ops SQUARE = {
    .name = "square",
    .rows = 1,
    .arity = 1,
    .kind = {CT_R1},
    .fields = 1,
    .required = 1,
    .field = {CT_R1},
    .jacobian = CT_JACOBIAN_NUMERIC,
    .eval = numeric,
    .coordinate = {"x"},
    .unit = {"m"},
};

static void test_a_registry_finds_its_models_and_the_built_in_ones(void)
{
    ct_factor_registry *r = NULL;
    ct_err              err = {0};
    CHECK_OK(ct_factor_registry_new(&r, &err), err);
    CHECK_OK(ct_factor_registry_add(r, &SQUARE, &err), err);
    CHECK(ct_factor_registry_find(r, "square") == &SQUARE && ct_factor_registry_find(NULL, "square") == NULL);
    CHECK(ct_factor_registry_find(r, "prior_se2") == &ct_prior_se2);
    CHECK(ct_factor_registry_find(NULL, "prior_se2") == &ct_prior_se2);
    CHECK(ct_factor_registry_find(r, "cube") == NULL && ct_factor_registry_find(r, NULL) == NULL);
    CHECK(ct_factor_registry_at(r, 0) == &SQUARE && ct_factor_registry_at(r, 1) == NULL);
    CHECK(ct_factor_registry_at(r, -1) == NULL && ct_factor_registry_at(NULL, 0) == NULL);
    CHECK_REFUSED(ct_factor_registry_add(r, &SQUARE, &err), err, "square: there is a measurement model of that name");
    CHECK_REFUSED(ct_factor_registry_add(r, NULL, &err), err, "a measurement model is NULL");
    CHECK_REFUSED(ct_factor_registry_add(r, &ct_prior_se2, &err), err, "prior_se2 is the name of a built-in");
    static const char *const bad[] = {"", "Square", "1st", "a-b", "two words", NULL,
                                      "a123456789012345678901234567890123456789012345678901234567890123"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ct_factor_ops ops = SQUARE;
        ops.name = bad[i];
        CHECK_REFUSED(ct_factor_registry_add(r, &ops, &err), err, "a name is 1 to 63 lower-case letters");
    }
    ct_factor_ops ops = SQUARE;
    ops.name = "other";
    ops.eval = NULL;
    CHECK_REFUSED(ct_factor_registry_add(r, &ops, &err), err, "other: eval is missing");
    CHECK(ct_factor_registry_at(r, 1) == NULL);
    ct_factor_registry_free(r);
    ct_factor_registry_free(NULL);
}

static const char TEXT[] = "covtune-sequence 1\nnoise n isotropic 1 0.01\nvar x R1 3\nfactor square n x 4\n";

/* Read, solved, written, and read again; without the registry the file is refused, and so is writing. */
static void test_files_name_the_models_of_a_registry(void)
{
    ct_factor_registry *r = NULL;
    ct_err              err = {0};
    ct_noise           *noise = NULL;
    ct_sequence        *seq = NULL, *again = NULL;
    ct_solver          *solver = NULL;
    char                path[512], copy[512];
    snprintf(path, sizeof path, "%s/square.ctseq", ct_test_folder());
    snprintf(copy, sizeof copy, "%s/copy.ctseq", ct_test_folder());
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(TEXT, file) >= 0 && !fclose(file));
    CHECK_OK(ct_factor_registry_new(&r, &err), err);
    CHECK_OK(ct_factor_registry_add(r, &SQUARE, &err), err);
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_REFUSED(ct_sequence_read(path, CT_FORMAT_AUTO, noise, &seq, &err), err,
                  "square.ctseq:4: there is no measurement model \"square\"");
    const ct_read_options how = {.models = r};
    CHECK_OK(ct_sequence_read_with(path, CT_FORMAT_AUTO, &how, noise, &seq, &err), err);
    CHECK(ct_graph_factor(seq->graph, 0).ops == &SQUARE);
    CHECK_OK(ct_solver_new(seq->graph, NULL, &solver, &err), err);
    double                 x = 3;
    ct_solve_result        result;
    const ct_solve_options options = ct_solve_defaults();
    CHECK_OK(ct_solver_run(solver, noise, &x, &options, &result, &err), err);
    CHECK_NEAR(x, 2, 1e-6);
    CHECK_OK(ct_sequence_write(seq, noise, NULL, CT_FORMAT_AUTO, 0, copy, NULL, &err), err);
    CHECK_OK(ct_sequence_read_with(copy, CT_FORMAT_AUTO, &how, noise, &again, &err), err);
    CHECK(ct_graph_factor(again->graph, 0).ops == &SQUARE && ct_graph_factor(again->graph, 0).z[0] == 4);
    seq->models = NULL;
    CHECK_REFUSED(ct_sequence_write(seq, noise, NULL, CT_FORMAT_AUTO, 0, copy, NULL, &err), err,
                  "covtune files hold built-in models and those of plugins alone");
    ct_solver_free(solver);
    ct_sequence_free(seq);
    ct_sequence_free(again);
    ct_noise_free(noise);
    ct_factor_registry_free(r);
}

static void test_the_example_is_loaded_and_its_derivatives_are_right(void)
{
    ct_factor_registry *r = NULL;
    ct_err              err = {0};
    const ct_plugin    *plugin = NULL;
    const double        z[4] = {1.5, 0.6, 0.8, 5}, x[4] = {1, 2, 0.8, -0.6};
    CHECK_OK(ct_factor_registry_new(&r, &err), err);
    CHECK_OK(ct_plugin_load(CT_PLUGINS "/libwall.so", r, &plugin, &err), err);
    const ct_factor_ops *wall = ct_factor_registry_find(r, "wall_se2");
    CHECK(plugin && plugin->count == 1 && !strcmp(plugin->name, "wall") && wall == plugin->model[0]);
    if (wall) {
        double residual;
        wall->eval(z, NULL, (const double *[]){x}, &residual, NULL);
        CHECK_NEAR(residual, 5 - 2.2 - 1.5, 1e-15);
        CHECK_OK(ct_factor_check(wall, z, NULL, (const double *[]){x}, 1e-8, &err), err);
    }
    CHECK_REFUSED(ct_plugin_load(CT_PLUGINS "/libwall.so", r, &plugin, &err), err,
                  "libwall.so: wall_se2: there is a measurement model of that name already");
    CHECK(!plugin && ct_factor_registry_at(r, 0) == wall && !ct_factor_registry_at(r, 1));
    ct_factor_registry_free(r);
}

/* Each mistake has its sentence, and leaves nothing in the registry. */
static void test_what_is_no_plugin_is_refused(void)
{
    static const char *const SAYS[] = {
        "it has no function ct_plugin_describe; a plugin has one",
        "ct_plugin_describe returns NULL",
        "the plugin is of ABI 2, this covtune of ABI 1; compile it with the headers of covtune",
        "its ct_factor_ops has ",
        "the plugin has 0 measurement models; 1 to 1000 are possible",
        "a measurement model is NULL",
        "prior_se2 is the name of a built-in measurement model",
        "a measurement model is called \"Not a name\"",
        "first: eval is missing",
        "first: rows must be 1 to 6",
        "first: there is a measurement model of that name already",
        "the plugin has 1001 measurement models",
    };
    ct_factor_registry *r = NULL;
    ct_err              err = {0};
    CHECK_OK(ct_factor_registry_new(&r, &err), err);
    for (int i = 0; i < (int)(sizeof SAYS / sizeof *SAYS); i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/broken%d.so", CT_PLUGINS, i);
        CHECK_REFUSED(ct_plugin_load(path, r, NULL, &err), err, SAYS[i]);
        CHECK(strstr(err.text, path) == err.text);
        CHECK(!ct_factor_registry_at(r, 0));
    }
    char path[512];
    snprintf(path, sizeof path, "%s/text.so", ct_test_folder());
    FILE *file = fopen(path, "w");
    CHECK(file && fputs("no object", file) >= 0 && !fclose(file));
    CHECK_REFUSED(ct_plugin_load(path, r, NULL, &err), err, "it is not a shared object that can be loaded");
    CHECK_REFUSED(ct_plugin_load(ct_test_folder(), r, NULL, &err), err, "it is not a file; a plugin is a shared");
    CHECK_REFUSED(ct_plugin_load("no/such.so", r, NULL, &err), err, "no/such.so: No such file");
    /* without a slash: a file here, never the search path of the loader */
    CHECK_REFUSED(ct_plugin_load("libm.so.6", r, NULL, &err), err, "libm.so.6: No such file");
    ct_factor_registry_free(r);
}

int main(void)
{
    RUN(test_a_registry_finds_its_models_and_the_built_in_ones);
    RUN(test_files_name_the_models_of_a_registry);
    RUN(test_the_example_is_loaded_and_its_derivatives_are_right);
    RUN(test_what_is_no_plugin_is_refused);
    return ct_test_end();
}
