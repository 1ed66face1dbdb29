/* broken.c: plugins that must be refused, and one with a wrong derivative. BROKEN_CASE selects the mistake. */
#include <covtune/plugin.h>

enum {
    NO_SYMBOL, RETURNS_NULL, OTHER_ABI, OTHER_SIZE, NO_MODELS, NULL_MODEL,
    BUILT_IN, BAD_NAME, NO_EVAL, ROWS, TWICE, MANY, DERIVATIVE
};

static void eval(const double *z, const void *context, const double *const x[], double *r, double *const J[])
{
    (void)context;
    r[0] = x[0][0] - z[0];
    if (J && J[0]) J[0][0] = BROKEN_CASE == DERIVATIVE ? -1 : 1;
}

#define GOOD                                                                                                           \
    .rows = BROKEN_CASE == ROWS ? CT_ROWS_MAX + 1 : 1, .arity = 1, .kind = {CT_R1}, .fields = 1, .required = 1,        \
    .field = {CT_R1}, .eval = BROKEN_CASE == NO_EVAL ? 0 : eval, .coordinate = {"x"}, .unit = {"m"}

static const ct_factor_ops first = {.name = "first", GOOD};
static const ct_factor_ops second = {.name = BROKEN_CASE == BUILT_IN   ? "prior_se2"
                                             : BROKEN_CASE == BAD_NAME ? "Not a name"
                                             : BROKEN_CASE == TWICE    ? "first"
                                                                : "second",
                                     GOOD};

static const ct_factor_ops *const models[] = {&first, BROKEN_CASE == NULL_MODEL ? 0 : &second};

static const ct_plugin plugin = {
    .abi = BROKEN_CASE == OTHER_ABI ? CT_PLUGIN_ABI + 1 : CT_PLUGIN_ABI,
    .ops_size = sizeof(ct_factor_ops) + (BROKEN_CASE == OTHER_SIZE ? 8 : 0),
    .name = "broken",
    .count = BROKEN_CASE == NO_MODELS ? 0 : BROKEN_CASE == MANY ? CT_PLUGIN_MODELS_MAX + 1 : 2,
    .model = models,
};

#if BROKEN_CASE == 0
#define ct_plugin_describe ct_plugin_of_another_name
#endif
CT_PLUGIN_EXPORT const ct_plugin *ct_plugin_describe(void);
const ct_plugin                  *ct_plugin_describe(void) { return BROKEN_CASE == RETURNS_NULL ? 0 : &plugin; }
