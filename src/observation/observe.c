/* observe.c: measurements of a network into a graph. */
#include "observation/observation.h"

#include "graph/graph.h"

#include <math.h>

static ct_status check_factors(const ct_observation *o, ct_err *err)
{
    const ct_graph *g = o->seq->graph;
    for (int32_t i = 0; i < o->count; i++) {
        const int32_t f = o->factor[i];
        if (f < 0 || f >= g->factors)
            return ct_fail(err, CT_E_ARGUMENT, "sequence %s: there is no factor %d: the graph has %d",
                           ct_sequence_label(o->seq), f, g->factors);
        if (g->factor[f].ops != g->factor[o->factor[0]].ops)
            return ct_fail(err, CT_E_ARGUMENT,
                           "sequence %s: factor %d is %s and factor %d %s; a network measures those of one model",
                           ct_sequence_label(o->seq), o->factor[0], g->factor[o->factor[0]].ops->name, f,
                           g->factor[f].ops->name);
    }
    return CT_OK;
}

ct_status ct__observation_check(const ct_net *net, const ct_observation *o, int *dim, ct_err *err)
{
    const int32_t in = ct_net_inputs(net), out = ct_net_outputs(net);
    if (o->count < 1)
        return ct_fail(err, CT_E_ARGUMENT, "sequence %s has no factor that the network measures",
                       ct_sequence_label(o->seq));
    CT_TRY(check_factors(o, err));
    const ct_factor_ops *ops = o->seq->graph->factor[o->factor[0]].ops;
    *dim = ct_factor_z_dim(ops, 1);
    if (out != *dim && out != *dim + 1)
        return ct_fail(err, CT_E_ARGUMENT,
                       "the network has %d outputs; a measurement of %s has %d coordinate%s: %d outputs, or %d with "
                       "the multiplier of its covariance",
                       out, ops->name, *dim, *dim == 1 ? "" : "s", *dim, *dim + 1);
    if (!o->input)
        return ct_fail(err, CT_E_ARGUMENT, "sequence %s: the inputs of the network are missing: %d x %d numbers",
                       ct_sequence_label(o->seq), o->count, in);
    for (int64_t i = 0; i < (int64_t)o->count * in; i++)
        if (!isfinite(o->input[i]))
            return ct_fail(err, CT_E_ARGUMENT, "sequence %s: input %d of measurement %d is %g; it must be finite",
                           ct_sequence_label(o->seq), (int)(i % in), (int)(i / in), o->input[i]);
    return CT_OK;
}

ct_status ct__observation_set(const ct_observation *o, int dim, int outputs, const double *y, ct_err *err)
{
    ct_graph            *g = o->seq->graph;
    const ct_factor_ops *ops = g->factor[o->factor[0]].ops;
    const int            size = ct_factor_z_size(ops);
    for (int32_t i = 0; i < o->count; i++, y += outputs) {
        double z[CT_FIELDS_MAX * CT_SIZE_MAX], zero[CT_SIZE_MAX];
        for (int k = 0; k < outputs; k++)
            if (!isfinite(y[k]))
                return ct_fail(err, CT_E_ARGUMENT, "sequence %s: the network gives %g for factor %d; it must be finite",
                               ct_sequence_label(o->seq), y[k], o->factor[i]);
        memcpy(z, ct_graph_factor(g, o->factor[i]).z, (size_t)size * sizeof *z);
        ct_kind_identity(ops->field[0], zero);
        ct_kind_retract(ops->field[0], zero, y, z); /* Exp(y) */
        CT_TRY(ct_graph_set_measurement(g, o->factor[i], z, err));
        if (outputs > dim) CT_TRY(ct_graph_set_multiplier(g, o->factor[i], ct_net_multiplier(y[dim], NULL), err));
    }
    return CT_OK;
}

ct_status ct_observe(const ct_net *net, const ct_observation *o, ct_err *err)
{
    int dim;
    CT_TRY(ct__observation_check(net, o, &dim, err));
    const int outputs = ct_net_outputs(net);
    double   *y = ct__zalloc((int64_t)o->count * outputs, sizeof *y);
    if (!y) return ct__no_memory(err, "measurements", o->count);
    ct_net_predict_all(net, o->count, o->input, y);
    const ct_status status = ct__observation_set(o, dim, outputs, y, err);
    free(y);
    return status;
}
