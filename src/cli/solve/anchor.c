/* anchor.c: a prior on one pose determines the absolute pose of a graph with relative measurements.
 *
 * Its sigma is small compared with measurements and large compared with rounding. Its mean is the initial value, so it
 * adds nothing to the error there. */
#include "cli/solve/solve.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX 256

/* The number in a name like x17 with this prefix; -1: none. */
static long long number_of(const char *name, const char *prefix, size_t length)
{
    if (strncmp(name, prefix, length) || !isdigit((unsigned char)name[length])) return -1;
    char           *end;
    const long long number = strtoll(name + length, &end, 10);
    return *end ? -1 : number;
}

/* The first pose, or the one with the lowest number if names are numbered (x17), because files list poses in any order.
 * Without poses, the first variable. */
static int32_t first_pose(const ct_graph *g)
{
    char    name[NAME_MAX], other[NAME_MAX];
    int32_t first = 0;
    while (first < ct_graph_variables(g) && !cli_is_pose(ct_graph_kind(g, first))) first++;
    if (first == ct_graph_variables(g)) return 0;
    const size_t length = strcspn(ct_graph_name(g, first, name, sizeof name), "0123456789");
    long long    lowest = number_of(name, name, length);
    for (int32_t v = first + 1; lowest > 0 && v < ct_graph_variables(g); v++) {
        const long long number = number_of(ct_graph_name(g, v, other, sizeof other), name, length);
        if (!cli_is_pose(ct_graph_kind(g, v)) || number < 0 || number >= lowest) continue;
        lowest = number;
        first = v;
    }
    return first;
}

static ct_status choose(const solve_request *request, solve_job *job, ct_err *err)
{
    const ct_graph *g = job->seq->graph;
    job->anchor = -1;
    if (!strcmp(request->anchor, "none")) return CT_OK;
    if (!strcmp(request->anchor, "auto")) {
        if (!cli_is_anchored(g)) job->anchor = first_pose(g);
        if (job->anchor < 0 && request->anchor_sigma_given > 0)
            return ct_fail(err, CT_E_ARGUMENT,
                           "%s: --anchor-sigma has no effect: the graph has an absolute measurement or a fixed "
                           "variable, so no anchor is added; --anchor NAME adds one",
                           request->path);
        return CT_OK;
    }
    job->anchor = ct_graph_find(g, request->anchor);
    if (job->anchor < 0)
        return ct_fail(err, CT_E_ARGUMENT, "%s: there is no variable %s to anchor", request->path, request->anchor);
    if (ct_graph_fixed(g, job->anchor))
        return ct_fail(err, CT_E_ARGUMENT, "%s: %s is fixed already and needs no anchor", request->path,
                       request->anchor);
    return CT_OK;
}

/* Adds a noise model with a name that the table does not have. */
static ct_status add_model(ct_noise *noise, int dim, double sigma, int32_t *index, ct_err *err)
{
    char name[32] = "anchor";
    for (int i = 1; ct_noise_find(noise, name) >= 0; i++) snprintf(name, sizeof name, "anchor#%d", i);
    return ct_noise_add_isotropic(noise, name, dim, sigma * sigma, index, err);
}

ct_status solve_anchor(const solve_request *request, solve_job *job, ct_err *err)
{
    int32_t   model;
    ct_status status = choose(request, job, err);
    job->graph = job->seq->graph;
    if (status == CT_OK && (job->anchor >= 0 || request->like))
        status = ct_graph_copy(job->seq->graph, &job->graph, err);
    if (status == CT_OK) status = ct_noise_copy(job->noise, &job->table, err);
    if (status != CT_OK || job->anchor < 0) return status;
    const ct_kind kind = ct_graph_kind(job->graph, job->anchor);
    const double *at = ct_graph_initial_const(job->graph) + ct_graph_offset(job->graph, job->anchor);
    /* a planar pose with headings needs its position alone: a heading of its own would contradict them */
    const int place = kind == CT_SE2 && !strcmp(request->anchor, "auto") && cli_has_heading(job->graph);
    status = add_model(job->table, place ? 2 : ct_kind_dim(kind), request->anchor_sigma, &model, err);
    if (status != CT_OK) return status;
    return place ? ct_graph_add_position(job->graph, job->anchor, at, model, err)
                 : ct_graph_add_prior(job->graph, job->anchor, at, model, err);
}
