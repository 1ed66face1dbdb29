/* is_anchored.c: is a graph anchored? The estimate of a graph with relative measurements only is not determined. */
#include "cli/common/cli.h"

int cli_is_anchored(const ct_graph *g)
{
    for (int32_t v = 0; v < ct_graph_variables(g); v++)
        if (ct_graph_fixed(g, v)) return 1;
    for (int32_t f = 0; f < ct_graph_factors(g); f++)
        if (ct_graph_factor(g, f).ops->absolute) return 1;
    return 0;
}

ct_status cli_check_anchored(const char *path, int32_t count, ct_sequence *const seq[], ct_err *err)
{
    int32_t floating = 0, first = -1;
    for (int32_t i = 0; i < count; i++) {
        if (cli_is_anchored(seq[i]->graph)) continue;
        first = floating++ ? first : i;
    }
    if (!floating) return CT_OK;
    const char *name = ct_sequence_label(seq[first]);
    return ct_fail(err, CT_E_ARGUMENT,
                   "%s: %d of %d sequence%s (%s%s not anchored: all measurements are relative and no variable is "
                   "fixed; "
                   CLI_ADVICE_ANCHOR,
                   path, floating, count, CLI_S(count), name, floating > 1 ? " the first) are" : ") is");
}
