/* bodies.c: which variables are one body at different times. */
#include "graph/bodies.h"

static ct_status rank_variables(const ct_graph *g, ct__names *names, int32_t *count, ct__bodies *b, ct_err *err)
{
    for (int32_t v = 0; v < g->variables; v++) {
        char name[256];
        ct_graph_name(g, v, name, sizeof name - 1);
        const size_t n = ct__body_name_length(name);
        name[n] = (char)('A' + g->kind[v]); /* a body is of one kind */
        name[n + 1] = 0;
        b->body[v] = ct__names_find(names, name);
        if (b->body[v] < 0) {
            CT_TRY(ct__names_add(names, name, err));
            b->body[v] = (int32_t)names->count - 1;
        }
        b->rank[v] = count[b->body[v]]++;
    }
    b->count = (int32_t)names->count;
    return CT_OK;
}

ct_status ct__bodies_find(const ct_graph *g, ct__bodies *out, ct_err *err)
{
    ct__names names = {0};
    int32_t  *count = ct__zalloc(g->variables, sizeof *count);
    *out = (ct__bodies){.body = ct__zalloc(g->variables, sizeof *out->body),
                        .rank = ct__zalloc(g->variables, sizeof *out->rank)};
    ct_status status = count && out->body && out->rank ? rank_variables(g, &names, count, out, err)
                                                       : ct__no_memory(err, "variables", g->variables);
    free(count);
    ct__names_free(&names);
    if (status != CT_OK) ct__bodies_free(out);
    return status;
}

void ct__bodies_free(ct__bodies *b)
{
    free(b->body);
    free(b->rank);
    *b = (ct__bodies){0};
}

int ct__is_odometry(const ct_graph *g, const ct__bodies *b, int32_t f)
{
    const ct__factor *k = &g->factor[f];
    const int32_t    *var = g->var_pool + k->var;
    int               steps = 0;
    if (k->ops->absolute) return 0;
    if (k->ops->arity == 2 && k->ops->rows < ct_kind_dim(k->ops->kind[0])) return 0; /* a range is no motion */
    for (int i = 0; i < k->ops->arity; i++)
        for (int j = i + 1; j < k->ops->arity; j++) {
            if (b->body[var[i]] != b->body[var[j]]) continue;
            if (abs(b->rank[var[i]] - b->rank[var[j]]) != 1) return 0;
            steps++;
        }
    return steps > 0;
}
