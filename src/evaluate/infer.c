/* infer.c: the estimate of a sequence, and the starts that it is made from. Every command, fold and report estimates
 * here.
 *
 * A batch solve from measurements is followed by others only if its result is doubtful, because a second solve costs as
 * much as the first. It is doubtful by the tension of its residuals (tension.c), or if composed odometry starts at
 * less than half its error. Initial values do not know sigmas: a position that hardly counts may have bent the path,
 * and residuals beside sigmas that are too large show no tension. The starts are then composed odometry and, if the
 * best estimate so far has the tension of diverged runs, the incremental estimate. The lowest error wins. */
#include "evaluate/evaluate.h"

#include <math.h>

#define DOUBTFUL 6    /* tension: three times that of normal residuals         */
#define CLOSER   0.5  /* of the error at the first start: another start this good is worth a solve */
#define SAME     1e-3 /* starts whose errors differ by a smaller share are one */

static void as_solve(const ct_replay_result *replay, ct_solve_result *out)
{
    out->stop = replay->stop;
    out->iterations = out->linearisations = out->factorisations = replay->updates;
    out->final_error = replay->error;
    out->distance = replay->distance;
    out->seconds = replay->seconds;
}

static ct_status infer_incrementally(const ct_sequence *seq, const ct_noise *noise, const ct_inference *how, double *x,
                                     ct_inference_result *out, ct_err *err)
{
    out->solve = (ct_solve_result){
        .initial_error = ct_graph_error(seq->graph, noise, x), .gradient = NAN, .distance = NAN};
    CT_TRY(ct_replay(seq->graph, noise, &how->replay, x, &out->replay, err));
    as_solve(&out->replay, &out->solve);
    return CT_OK;
}

/* ---- Several starts ----------------------------------------------------------------------------- */

typedef struct {
    const ct_sequence   *seq;
    const ct_noise      *noise;
    ct_solver           *solver;
    const ct_inference  *how;
    double              *x;        /* the best estimate so far */
    double              *y;
    double               initial;  /* error at the first start */
    ct_tension           tension;  /* of x                     */
    ct_inference_result *out;
} search;

/* The error of an estimate, for comparison; infinite if there is none. */
static double error_of(const ct_solve_result *r)
{
    const int none = r->stop == CT_STOP_RANK || r->stop == CT_STOP_NOT_FINITE || !isfinite(r->final_error);
    return none ? INFINITY : r->final_error;
}

/* 0: good; 1: other starts are worth a solve; 2: the incremental estimate as well. */
static ct_status doubt(search *s, int *level, ct_err *err)
{
    *level = 2;
    if (error_of(&s->out->solve) == INFINITY) return CT_OK;
    CT_TRY(ct_tension_at(s->seq->graph, s->noise, s->x, &s->tension, err));
    const double worst = fmax(s->tension.relative, s->tension.absolute);
    *level = s->tension.on_points || s->tension.relative > CT_TENSION_DIVERGED    ? 2
             : worst > DOUBTFUL || !ct_solve_usable(&s->out->solve) ? 1
                                                                                  : 0;
    return CT_OK;
}

/* Solves from s->y. What is better goes to s->x. */
static ct_status try_start(search *s, int from, ct_err *err)
{
    ct_solve_result r;
    CT_TRY(ct_solver_run(s->solver, s->noise, s->y, &s->how->solve, &r, err));
    const double spent = s->out->solve.seconds;
    s->out->starts++;
    if (r.stop == CT_STOP_CANCELLED) s->out->solve.stop = r.stop;
    else if (error_of(&r) < (1 - 1e-9) * error_of(&s->out->solve)) {
        memcpy(s->x, s->y, (size_t)s->seq->graph->size * sizeof *s->x);
        s->out->solve = r;
        s->out->start = from;
    }
    s->out->solve.seconds = spent + r.seconds;
    return CT_OK;
}

static ct_status try_others(search *s, ct_err *err)
{
    const ct_graph *g = s->seq->graph;
    int             level;
    CT_TRY(doubt(s, &level, err));
    CT_TRY(ct_start_values(s->seq, CT_START_ODOMETRY, s->y, err));
    const double error = ct_graph_error(g, s->noise, s->y);
    if (!level && !(error < CLOSER * s->initial)) return CT_OK;
    if (!(fabs(error - s->initial) > SAME * s->initial)) return CT_OK; /* there is one start only */
    CT_TRY(try_start(s, CT_START_ODOMETRY, err));
    if (s->out->solve.stop == CT_STOP_CANCELLED) return CT_OK;
    CT_TRY(doubt(s, &level, err));
    if (level < 2) return CT_OK;
    ct_replay_options replay = s->how->replay;
    ct_replay_result  result;
    replay.progress = NULL;
    CT_TRY(ct_start_values(s->seq, CT_START_MEASURED, s->y, err));
    CT_TRY(ct_replay(g, s->noise, &replay, s->y, &result, err));
    s->out->solve.seconds += result.seconds;
    return result.stop == CT_STOP_STEP ? try_start(s, CT_START_INCREMENTAL, err) : CT_OK;
}

static ct_status infer_batch(const ct_sequence *seq, const ct_noise *noise, ct_solver *solver, const ct_inference *how,
                             double *x, ct_inference_result *out, ct_err *err)
{
    CT_TRY(ct_solver_run(solver, noise, x, &how->solve, &out->solve, err));
    out->starts = 1;
    if (how->start != CT_START_MEASURED || how->one_start || out->solve.stop == CT_STOP_CANCELLED) return CT_OK;
    search s = {.seq = seq, .noise = noise, .solver = solver, .how = how, .x = x, .out = out};
    s.initial = out->solve.initial_error;
    s.y = ct__zalloc(seq->graph->size, sizeof *s.y);
    if (!s.y) return ct__no_memory(err, "values", seq->graph->size);
    const ct_status status = try_others(&s, err);
    free(s.y);
    return status;
}

ct_status ct_infer(const ct_sequence *seq, const ct_noise *noise, ct_solver *solver, const ct_inference *inference,
                   double *x, ct_inference_result *out, ct_err *err)
{
    ct_inference how = *inference;
    *out = (ct_inference_result){.start = (int)inference->start, .starts = 1};
    CT_TRY(ct_inference_choose(1, (ct_sequence *const[]){(ct_sequence *)seq}, &how, err));
    if (!how.at_x) CT_TRY(ct_start_values(seq, how.start, x, err));
    CT_TRY(ct_graph_check_noise(seq->graph, noise, err));
    return how.incremental ? infer_incrementally(seq, noise, &how, x, out, err)
                           : infer_batch(seq, noise, solver, &how, x, out, err);
}
