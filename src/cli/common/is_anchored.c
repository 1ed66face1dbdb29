/* is_anchored.c: is a graph anchored? The estimate of a graph with relative measurements only is not determined. */
#include "cli/common/cli.h"

/* Does the model depend on a coordinate other than rotations of poses? A heading does not. */
static int depends_on_places(const ct_factor_ops *ops)
{
    for (int i = 0; i < ops->arity; i++) {
        const unsigned turns = ops->kind[i] == CT_SE2 ? 0x4 : ops->kind[i] == CT_SE3 ? 0x7 : 0;
        if (!ops->depends[i] || ops->depends[i] & ~turns) return 1;
    }
    return 0;
}

int cli_is_anchored(const ct_graph *g)
{
    for (int32_t v = 0; v < ct_graph_variables(g); v++)
        if (ct_graph_fixed(g, v)) return 1;
    for (int32_t f = 0; f < ct_graph_factors(g); f++) {
        const ct_factor_ops *ops = ct_graph_factor(g, f).ops;
        if (ops->absolute && depends_on_places(ops)) return 1;
    }
    return 0;
}

int cli_has_heading(const ct_graph *g)
{
    for (int32_t f = 0; f < ct_graph_factors(g); f++)
        if (ct_graph_factor(g, f).ops->absolute && !depends_on_places(ct_graph_factor(g, f).ops)) return 1;
    return 0;
}

ct_status cli_check_anchored(const char *path, int32_t count, ct_sequence *const seq[], ct_err *err)
{
    int32_t floating = 0, first = -1;
    int     headed = 0;
    for (int32_t i = 0; i < count; i++) {
        const ct_status status = ct_sequence_acquire(seq[i], err);
        if (status != CT_OK) return status;
        const int anchored = cli_is_anchored(seq[i]->graph);
        if (!anchored && !floating) headed = cli_has_heading(seq[i]->graph);
        ct_sequence_release(seq[i]);
        if (!anchored) first = floating++ ? first : i;
    }
    if (!floating) return CT_OK;
    const char *name = ct_sequence_label(seq[first]);
    const char *why = headed ? "headings alone are absolute" : "all measurements are relative";
    return ct_fail(err, CT_E_ARGUMENT,
                   "%s: %d of %d sequence%s (%s%s not anchored: %s and no variable is "
                   "fixed; "
                   CLI_ADVICE_ANCHOR,
                   path, floating, count, CLI_S(count), name, floating > 1 ? " the first) are" : ") is", why);
}
