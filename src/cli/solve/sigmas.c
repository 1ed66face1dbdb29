/* sigmas.c: standard deviations of the variables of --sigmas. */
#include "cli/solve/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

ct_status solve_ask(const solve_request *request, solve_job *job, ct_err *err)
{
    const ct_graph *g = job->seq->graph;
    const int32_t   variables = ct_graph_variables(g);
    if (!request->sigmas) return CT_OK;
    if (!strcmp(request->sigmas, "all")) {
        job->asked_var = cli_alloc(variables, sizeof *job->asked_var);
        for (job->asked = 0; job->asked < variables; job->asked++) job->asked_var[job->asked] = job->asked;
        return CT_OK;
    }
    job->asked_var = cli_alloc((int64_t)strlen(request->sigmas) + 1, sizeof *job->asked_var);
    char     *words = strcpy(cli_alloc((int64_t)strlen(request->sigmas) + 1, 1), request->sigmas);
    ct_status status = CT_OK;
    for (char *word = words, *end = words; status == CT_OK && end; word = end + 1) {
        end = strchr(word, ',');
        if (end) *end = 0;
        const int32_t var = ct_graph_find(g, word);
        char          likely[64];
        snprintf(likely, sizeof likely, "x%s", word); /* files that number their variables give them such names */
        if (var < 0)
            status = ct_fail(err, CT_E_ARGUMENT, "%s: --sigmas: there is no variable \"%s\"%s%s%s",
                             request->path, word, ct_graph_find(g, likely) < 0 ? "" : "; did you mean ",
                             ct_graph_find(g, likely) < 0 ? "" : likely, ct_graph_find(g, likely) < 0 ? "" : "?");
        else job->asked_var[job->asked++] = var;
    }
    free(words);
    return status;
}

/* From marginal covariances. Sigmas of a fixed variable are zero. */
ct_status solve_sigmas(solve_job *job, ct_err *err)
{
    int32_t   n = 0, *var = cli_alloc(job->asked, sizeof *var), *place = cli_alloc(job->asked, sizeof *place);
    double  **block = cli_alloc(job->asked, sizeof *block);
    double   *space = cli_alloc((int64_t)job->asked * CT_DIM_MAX * CT_DIM_MAX, sizeof *space);
    double   *sigma = cli_alloc((int64_t)job->asked * CT_DIM_MAX, sizeof *sigma);
    ct_status status = ct_solver_linearise(job->solver, job->table, job->x, err);
    for (int32_t k = 0; k < job->asked; k++) {
        if (ct_graph_fixed(job->graph, job->asked_var[k])) continue;
        var[n] = job->asked_var[k];
        place[n] = k;
        block[n] = space + (int64_t)n * CT_DIM_MAX * CT_DIM_MAX;
        n++;
    }
    if (status == CT_OK && n) status = ct_solver_marginals(job->solver, n, var, block, err);
    for (int32_t k = 0; status == CT_OK && k < n; k++) {
        const int dim = ct_kind_dim(ct_graph_kind(job->graph, var[k]));
        for (int i = 0; i < dim; i++) sigma[place[k] * CT_DIM_MAX + i] = sqrt(block[k][i * dim + i]);
    }
    if (status == CT_OK) job->sigma = sigma;
    else free(sigma);
    free(space);
    free(block);
    free(place);
    free(var);
    return status;
}
