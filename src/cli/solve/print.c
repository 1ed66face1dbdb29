/* print.c: prints the result of a solve, as rows or JSON. */
#include "cli/solve/solve.h"

#include <math.h>

#define NAME_MAX 256

/* ---- JSON ---- */

static json_t *breakdown(const solve_job *job)
{
    json_t *o = cli_object();
    cli_put(o, "read", cli_number(job->read_s));
    cli_put(o, "analyse", cli_number(job->analyse_s));
    cli_put(o, "linearise", cli_number(job->result.linearise_s));
    cli_put(o, "factor", cli_number(job->result.factor_s));
    cli_put(o, "solve", cli_number(job->result.solve_s));
    return o;
}

static json_t *structure(const solve_job *job)
{
    const ct_sparse_info info = ct_sparse_describe(ct_solver_system(job->solver));
    json_t              *o = cli_object();
    cli_put(o, "scalars", cli_integer(info.scalars));
    cli_put(o, "fronts", cli_integer(info.fronts));
    cli_put(o, "largest_front", cli_integer(info.largest_front));
    cli_put(o, "tree_height", cli_integer(info.tree_height));
    cli_put(o, "h_nonzeros", cli_integer(info.h_nonzeros));
    cli_put(o, "r_nonzeros", cli_integer(info.r_nonzeros));
    cli_put(o, "flops", cli_number(info.flops));
    cli_put(o, "bytes", cli_integer(info.bytes));
    return o;
}

static json_t *replay(const solve_job *job)
{
    const ct_replay_result *r = &job->replay;
    json_t                 *o = cli_object();
    cli_put(o, "updates", cli_integer(r->updates));
    cli_put(o, "eliminated", cli_integer(r->eliminated));
    cli_put(o, "relinearised", cli_integer(r->relinearised));
    cli_put(o, "visited", cli_integer(r->visited));
    cli_put(o, "left_out", cli_integer(r->left_out));
    cli_put(o, "stationarity", cli_number(r->stationarity));
    cli_put(o, "worst_step", cli_integer(r->worst_step));
    cli_put(o, "worst_seconds", cli_number(r->worst_s));
    return o;
}

static json_t *anchor(const solve_request *request, const solve_job *job)
{
    char name[NAME_MAX];
    if (job->anchor < 0) return json_null();
    json_t *o = cli_object();
    cli_put(o, "variable", cli_text(ct_graph_name(job->graph, job->anchor, name, sizeof name)));
    cli_put(o, "sigma", cli_number(request->anchor_sigma));
    return o;
}

/* Degrees of freedom: rows of residuals minus estimated scalars, the expectation of twice the error. */
static int64_t degrees_of_freedom(const solve_job *job)
{
    int64_t rows = 0;
    for (int32_t f = 0; f < ct_graph_factors(job->graph); f++) rows += ct_graph_factor(job->graph, f).ops->rows;
    return rows - ct_sparse_describe(ct_solver_system(job->solver)).scalars;
}

static json_t *rmse(const solve_job *job)
{
    if (!job->before.poses) return json_null();
    json_t *o = cli_object();
    cli_put(o, "poses", cli_integer(job->before.poses));
    cli_put(o, "before", cli_rmse_json(job->before));
    cli_put(o, "after", cli_rmse_json(job->after));
    return o;
}

static void put_asked(json_t *o, const solve_job *job)
{
    json_t *sigmas = cli_object(), *values = cli_object();
    for (int32_t k = 0; job->sigma && k < job->asked; k++) {
        const int32_t var = job->asked_var[k];
        const ct_kind kind = ct_graph_kind(job->graph, var);
        char          name[NAME_MAX];
        double        field[CT_SIZE_MAX];
        ct_graph_name(job->graph, var, name, sizeof name);
        ct_kind_to_fields(kind, job->x + ct_graph_offset(job->graph, var), field);
        cli_put(sigmas, name, cli_numbers(ct_kind_dim(kind), job->sigma + (int64_t)k * CT_DIM_MAX));
        cli_put(values, name, cli_numbers(ct_kind_fields(kind), field));
    }
    cli_put(o, "sigmas", sigmas);
    cli_put(o, "values", values);
}

void solve_print_json(const solve_request *request, const solve_job *job)
{
    const ct_solve_result *r = &job->result;
    json_t                *o = cli_object();
    cli_put(o, "graph", cli_text(request->path));
    cli_put(o, "format", cli_text(ct_format_name(job->format)));
    cli_put(o, "variables", cli_integer(ct_graph_variables(job->seq->graph)));
    cli_put(o, "factors", cli_integer(ct_graph_factors(job->seq->graph)));
    cli_put(o, "noise_models", cli_integer(ct_noise_count(job->noise)));
    cli_put(o, "anchor", anchor(request, job));
    cli_put(o, "method", cli_text(solve_method_name(request)));
    cli_put(o, "order", cli_text(ct_order_name((ct_order)request->order)));
    cli_put(o, "like", cli_text(request->like ? "gtsam" : NULL));
    cli_put(o, "start", cli_text(job->from == CT_START_INCREMENTAL ? "isam2" : ct_start_name((ct_start)job->from)));
    cli_put(o, "starts", cli_integer(job->starts));
    if (request->method == SOLVE_ISAM2) cli_put(o, "entry", cli_text(ct_entry_name(job->entry)));
    cli_put(o, "initial_error", cli_number(r->initial_error));
    cli_put(o, "final_error", cli_number(r->final_error));
    cli_put(o, "degrees_of_freedom", cli_integer(degrees_of_freedom(job)));
    cli_put(o, "chi_squared_per_degree",
            cli_number(degrees_of_freedom(job) > 0 ? 2 * r->final_error / (double)degrees_of_freedom(job) : NAN));
    cli_put(o, "iterations", cli_integer(r->iterations));
    cli_put(o, "stop", cli_text(ct_stop_name(r->stop)));
    cli_put(o, "converged", cli_check_alloc(json_boolean(solve_at_minimum(request, job))));
    cli_put(o, "distance", cli_number(r->distance));
    cli_put(o, "seconds", cli_number(job->analyse_s + r->seconds));
    cli_put(o, "breakdown", breakdown(job));
    cli_put(o, "structure", structure(job));
    if (request->method == SOLVE_ISAM2) cli_put(o, "replay", replay(job));
    cli_put(o, "undetermined", cli_text(job->undetermined[0] ? job->undetermined : NULL));
    cli_put(o, "loose", cli_text(job->undetermined[0] ? job->undetermined : NULL)); /* its name before 0.2.0 */
    cli_put(o, "rmse", rmse(job));
    cli_put(o, "out", cli_text(job->is_written ? request->out : NULL));
    cli_put(o, "dropped", cli_integer(job->written.dropped));
    cli_put(o, "repaired", cli_integer(job->seq->repaired));
    cli_put(o, "note", cli_text(job->seq->note));
    if (request->sigmas) put_asked(o, job);
    cli_print_json(o);
}

/* ---- for people ---- */

static void print_asked(const solve_job *job)
{
    for (int32_t k = 0; job->sigma && k < job->asked; k++) {
        const int32_t var = job->asked_var[k];
        const ct_kind kind = ct_graph_kind(job->graph, var);
        char          name[NAME_MAX], text[512];
        double        field[CT_SIZE_MAX];
        int           used = 0;
        ct_kind_to_fields(kind, job->x + ct_graph_offset(job->graph, var), field);
        used += snprintf(text, sizeof text, "at");
        for (int i = 0; i < ct_kind_fields(kind); i++)
            used += snprintf(text + used, sizeof text - (size_t)used, " %.6g", field[i]);
        used += snprintf(text + used, sizeof text - (size_t)used, "\nsigma");
        for (int i = 0; i < ct_kind_dim(kind); i++)
            used +=
                snprintf(text + used, sizeof text - (size_t)used, "%s %s %.4g %s", i ? "," : "",
                         ct_kind_coordinate(kind, i), job->sigma[(int64_t)k * CT_DIM_MAX + i], ct_kind_unit(kind, i));
        cli_row(ct_graph_name(job->graph, var, name, sizeof name), "%s", text);
    }
}

static void print_truth(const solve_job *job)
{
    char rotation[96] = "";
    if (!job->before.poses) return;
    const ct_accuracy *a = &job->before, *b = &job->after;
    if (!isnan(a->rotation))
        snprintf(rotation, sizeof rotation, ", rotation %.4g -> %.4g rad", a->rotation, b->rotation);
    cli_row("rmse", "translation %.4g -> %.4g m%s (per coordinate, against the truth of %lld poses)", a->translation,
            b->translation, rotation, (long long)a->poses);
}

static void print_method(const solve_request *request, const solve_job *job)
{
    const ct_sparse_info info = ct_sparse_describe(ct_solver_system(job->solver));
    const char          *like = request->like ? ", poses measured as GTSAM does" : "";
    if (request->method == SOLVE_ISAM2)
        cli_row("method", "isam2%s: variables in their order, each starts %s (--entry %s)", like,
                job->entry == CT_ENTRY_PREVIOUS ? "from the pose before"
                : job->entry == CT_ENTRY_MOTION ? "from the pose before, moved as the start values move"
                                                : "at its start value",
                ct_entry_name(job->entry));
    else
        cli_row("method", "%s%s, order %s: %d front%s of at most %d rows, %lld numbers",
                ct_method_name((ct_method)request->method), like, ct_order_name((ct_order)request->order), info.fronts,
                CLI_S(info.fronts), info.largest_front, (long long)info.r_nonzeros);
}

static void print_replay(const solve_job *job)
{
    const ct_replay_result *r = &job->replay;
    char                    time[3][24];
    if (r->stop == CT_STOP_STEP)
        cli_row("steps", "%d, then %.2g sigma from the minimum: a Gauss-Newton step of at most %.3g m or rad is left",
                r->updates, isnan(job->result.distance) ? r->distance : job->result.distance, r->stationarity);
    else
        cli_row("steps", "%d: %s", r->updates, r->stop == CT_STOP_CANCELLED ? "interrupted" : ct_stop_meaning(r->stop));
    if (r->left_out)
        cli_row("left out", "%lld factor%s on marginalised variables", (long long)r->left_out,
                CLI_S(r->left_out));
    if (!r->updates) return;
    cli_row("work", "%.3g variables eliminated per update, %.3g visited, %lld relinearised",
            (double)r->eliminated / r->updates, (double)r->visited / r->updates, (long long)r->relinearised);
    cli_row("time", "%s: %s per update, %s the longest (update %d)", cli_format_time(r->seconds, time[0]),
            cli_format_time(r->seconds / r->updates, time[1]), cli_format_time(r->worst_s, time[2]), r->worst_step);
}

void solve_print(const solve_request *request, const solve_job *job)
{
    const ct_solve_result *r = &job->result;
    const int32_t          factors = ct_graph_factors(job->seq->graph), models = ct_noise_count(job->noise);
    char                   kinds[128], name[NAME_MAX], time[4][24];
    cli_row("graph", "%s: %s; %d factor%s, %d noise model%s", request->path,
            cli_describe_kinds(job->seq->graph, kinds, sizeof kinds), factors, CLI_S(factors), models, CLI_S(models));
    if (job->anchor >= 0)
        cli_row("anchor", "%s, at its initial value with sigma %g",
                ct_graph_name(job->graph, job->anchor, name, sizeof name), request->anchor_sigma);
    print_method(request, job);
    cli_row("start", "%s%s", job->from == CT_START_INCREMENTAL ? "isam2" : ct_start_name((ct_start)job->from),
            job->starts > 1 ? ", the best of several" : "");
    cli_row("error", "%.10g -> %.10g", r->initial_error, r->final_error);
    const int64_t degrees = degrees_of_freedom(job);
    if (degrees > 0)
        cli_row("fit", "%.4g: twice the error over %lld degrees of freedom, about 1 if the noise models are right",
                2 * r->final_error / (double)degrees, (long long)degrees);
    if (request->method == SOLVE_ISAM2) print_replay(job);
    else {
        cli_row("iterations", "%d: %s", r->iterations,
                r->stop == CT_STOP_CANCELLED ? "interrupted" : ct_stop_meaning(r->stop));
        if (!isnan(r->distance)) cli_row("distance", "about %.1g sigma from the minimum", r->distance);
        cli_row("time", "%s: analyse %s, linearise %s, factor and solve %s",
                cli_format_time(job->analyse_s + r->seconds, time[0]), cli_format_time(job->analyse_s, time[1]),
                cli_format_time(r->linearise_s, time[2]), cli_format_time(r->factor_s + r->solve_s, time[3]));
    }
    print_truth(job);
    if (job->is_written) cli_row("written", "%s", request->out);
    print_asked(job);
    if (!request->map) return;
    putchar('\n');
    cli_draw_map(job->graph, 2, (const double *const[]){ct_graph_initial_const(job->graph), job->x},
            (const char *const[]){"before", "after"});
}
