/* evaluate.c: estimate sequences under a noise table and compare with the truth.
 *
 * A sequence is a task. Tasks write to their own places, and ct_summarise adds results up in the order of the
 * sequences, so that the number of threads changes no bit. */
#include "evaluate/evaluate.h"
#include "evaluate/consistency.h"
#include "comm/comm.h"
#include "data/store.h"
#include "solve/solver_pool.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

ct_evaluate_options ct_evaluate_defaults(void)
{
    return (ct_evaluate_options){
        .inference = ct_inference_defaults(), .loss = ct_loss_defaults(), .seed = 1, .jobs = 1};
}

int ct_evaluation_has_estimate(const ct_evaluation *e)
{
    const ct_stop stop = e->solve.stop;
    return (ct_solve_usable(&e->solve) || stop == CT_STOP_ITERATIONS || stop == CT_STOP_STUCK) &&
           !isnan(e->consistency.chi_squared);
}

int ct_evaluation_failed(const ct_evaluation *e)
{
    const ct_stop stop = e->solve.stop;
    return stop != CT_STOP_CANCELLED && stop != CT_STOP_NONE &&
           !(ct_solve_usable(&e->solve) && ct_evaluation_counts(e));
}

static ct_evaluation unknown(void)
{
    return (ct_evaluation){.loss = NAN,
                           .accuracy = {0, NAN, NAN, NAN},
                           .consistency = {.chi_squared = NAN, .nees = NAN, .nees_deviation = NAN},
                           .innovation = {.log_density = NAN},
                           .smoothness = {.translation = NAN, .rotation = NAN},
                           .condition = NAN,
                           .condition_scaled = NAN};
}

/* ---- One sequence ---------------------------------------------------------------------------- */

/* The memory that ct_estimate points to. */
typedef struct {
    double         *nees;
    int            *degrees;
    ct_conditioning conditioning;
    ct_innovation  *innovation; /* per noise model */
    ct_model_fit   *fit;
} details;

/* Allocates the arrays of `in`; the caller frees them. A singular system has no covariances: nees stays NaN. */
static ct_status compute_nees(const ct_sequence *seq, const ct_noise *noise, ct_solver *solver, const double *x,
                              int deviation, details *in, ct_consistency *out, ct_err *err)
{
    const int32_t n = ct_graph_variables(seq->graph);
    in->nees = ct__zalloc(n, sizeof *in->nees);
    in->degrees = ct__zalloc(n, sizeof *in->degrees);
    if (!in->nees || !in->degrees) return ct__no_memory(err, "variables", n);
    return ct__nees(seq, noise, solver, x, deviation, in->nees, in->degrees, out, err);
}

/* Allocates the arrays of `in`. */
static ct_status compute_innovations(const ct_sequence *seq, const ct_noise *noise, ct_solver *solver,
                                     const ct_evaluate_options *options, const double *x, details *in,
                                     ct_innovation *out, ct_err *err)
{
    const int32_t models = ct_noise_count(noise);
    in->innovation = ct__zalloc(models, sizeof *in->innovation);
    in->fit = ct__zalloc(models, sizeof *in->fit);
    if (!in->innovation || !in->fit) return ct__no_memory(err, "noise models", models);
    const ct_status status = ct_model_fit_at(noise, solver, x, in->fit, err);
    if (status != CT_OK) return status == CT_E_SINGULAR ? CT_OK : status;
    return ct_innovations(seq->graph, noise, x, options->seed, &options->inference.solve, in->innovation, out, err);
}

static ct_status evaluate(const ct_sequence *seq, const ct_noise *noise, ct_solver *solver,
                          const ct_evaluate_options *options, double *x, details *in, ct_evaluation *out, ct_err *err)
{
    *out = unknown();
    CT_TRY(ct__check_loss(&options->loss, err));
    ct_inference_result found;
    CT_TRY(ct_infer(seq, noise, solver, &options->inference, x, &found, err));
    out->solve = found.solve;
    out->start = found.start;
    out->starts = found.starts;
    const double value = ct_loss_value(&options->loss, seq, x);
    out->loss = isfinite(value) && ct_loss_terms(&options->loss, seq) ? value : NAN;
    out->accuracy = ct_accuracy_of(seq, x);
    out->bodies = ct_accuracy_of_bodies(seq, x, out->body);
    out->consistency = ct__fit(seq->graph, out->solve.final_error);
    if (out->solve.stop == CT_STOP_CANCELLED) return CT_OK;
    if (options->nees) CT_TRY(compute_nees(seq, noise, solver, x, options->nees > 1, in, &out->consistency, err));
    if (!ct_evaluation_has_estimate(out)) return CT_OK;
    CT_TRY(ct__find_divergence(seq, noise, solver, x, out, err));
    out->smoothness = ct_smoothness_of(seq, x);
    if (options->innovations)
        CT_TRY(compute_innovations(seq, noise, solver, options, x, in, &out->innovation, err));
    if (!options->conditioning) return CT_OK;
    CT_TRY(ct_conditioning_at(seq->graph, noise, solver, x, &in->conditioning, err));
    out->condition = in->conditioning.plain.condition;
    out->condition_scaled = in->conditioning.scaled.condition;
    return CT_OK;
}

static void release(details *in)
{
    free(in->nees);
    free(in->degrees);
    free(in->innovation);
    free(in->fit);
}

ct_status ct_evaluate_sequence(const ct_sequence *seq, const ct_noise *noise, ct_solver *solver,
                               const ct_evaluate_options *options, double *x, ct_evaluation *out, ct_err *err)
{
    details         in = {0};
    const ct_status status = evaluate(seq, noise, solver, options, x, &in, out, err);
    release(&in);
    return status;
}

/* ---- All sequences --------------------------------------------------------------------------- */

typedef struct {
    int32_t                    count;
    ct_sequence *const        *seq;
    const ct_noise            *noise;
    const ct_evaluate_options *options; /* with the caller's functions; AUTO is resolved */
    ct_evaluation             *out;
    ct__solver_pool           *pool;
    pthread_mutex_t            calling; /* one call to the caller's functions at a time; guards done, failed, why */
    int32_t                    done;
    int32_t                    failed;  /* the first sequence, in their order, whose status was not CT_OK; or count */
    ct_err                     why;
    atomic_int                 stop;
} batch;

/* The caller's progress, after an iteration or after a sequence (iteration is NULL). Returns whether to stop. */
static int call_progress(batch *b, const ct_progress *iteration)
{
    const ct_evaluate_options *o = b->options;
    const ct_solve_options    *solve = &o->inference.solve;
    pthread_mutex_lock(&b->calling);
    if (!iteration) b->done++;
    if (iteration && solve->progress && solve->progress(solve->user, iteration)) atomic_store(&b->stop, 1);
    if (o->progress && o->progress(o->user, b->done, b->count)) atomic_store(&b->stop, 1);
    pthread_mutex_unlock(&b->calling);
    return atomic_load(&b->stop);
}

static int on_iteration(void *user, const ct_progress *progress) { return call_progress(user, progress); }

static int on_step(void *user, const ct_smoother *smoother, int32_t step, int32_t steps, const ct_smoother_stats *stats)
{
    batch                   *b = user;
    const ct_replay_options *options = &b->options->inference.replay;
    const ct_progress        progress = {.iteration = step,
                                         .accepted = 1,
                                         .error = NAN,
                                         .step = NAN,
                                         .gradient = NAN,
                                         .seconds = stats->seconds};
    pthread_mutex_lock(&b->calling);
    if (options->progress && options->progress(options->user, smoother, step, steps, stats)) atomic_store(&b->stop, 1);
    pthread_mutex_unlock(&b->calling);
    return call_progress(b, &progress);
}

/* options <- the caller's, with the functions above in place of the caller's, if there are any. */
static ct_evaluate_options with_progress(batch *b)
{
    ct_evaluate_options options = *b->options;
    ct_inference       *inference = &options.inference;
    const int           iteration = options.progress || inference->solve.progress;
    if (iteration) {
        inference->solve.progress = on_iteration;
        inference->solve.user = b;
    }
    if (iteration || inference->replay.progress) {
        inference->replay.progress = on_step;
        inference->replay.user = b;
    }
    return options;
}

static ct_status call_estimate(batch *b, int32_t i, const double *x, const details *in, ct_err *err)
{
    const ct_evaluate_options *o = b->options;
    const ct_evaluation       *found = &b->out[i];
    const int                  nees = in->nees && found->consistency.nees_degrees > 0;
    const ct_estimate          estimate = {
        .x = x,
        .nees = nees ? in->nees : NULL,
        .nees_degrees = nees ? in->degrees : NULL,
        .conditioning = o->conditioning && ct_evaluation_has_estimate(found) ? &in->conditioning : NULL,
        .innovation = in->innovation,
        .fit = in->fit,
    };
    if (!o->estimate || found->solve.stop == CT_STOP_CANCELLED) return CT_OK;
    pthread_mutex_lock(&b->calling);
    const ct_status status = o->estimate(o->user, i, found, &estimate, err);
    pthread_mutex_unlock(&b->calling);
    return status;
}

static ct_status run_present(batch *b, int32_t i, ct_err *err)
{
    const ct_sequence        *seq = b->seq[i];
    const ct_evaluate_options options = with_progress(b);
    ct_solver                *solver = NULL;
    details                   in = {0};
    double                   *x = ct__zalloc(ct_graph_size(seq->graph), sizeof *x);
    ct_status                 status =
        x ? ct__solver_pool_take(b->pool, seq->graph, &solver, err)
          : ct__no_memory(err, "values", ct_graph_size(seq->graph));
    if (status == CT_OK) status = evaluate(seq, b->noise, solver, &options, x, &in, &b->out[i], err);
    if (status == CT_OK) status = call_estimate(b, i, x, &in, err);
    release(&in);
    if (solver) ct__solver_pool_give(b->pool, solver);
    free(x);
    return status;
}

static ct_status run_one(batch *b, int32_t i, ct_err *err)
{
    CT_TRY(ct_sequence_acquire(b->seq[i], err));
    const ct_status status = run_present(b, i, err);
    ct_sequence_release(b->seq[i]);
    return status;
}

/* The error kept is that of the first sequence in their order, whichever came first in time. */
static void keep_error(batch *b, int32_t i, ct_status status, const ct_err *err)
{
    pthread_mutex_lock(&b->calling);
    if (i < b->failed) {
        b->failed = i;
        b->why = *err;
        b->why.status = status;
    }
    pthread_mutex_unlock(&b->calling);
}

static int is_over(batch *b, int32_t i)
{
    pthread_mutex_lock(&b->calling);
    const int failed = i > b->failed;
    pthread_mutex_unlock(&b->calling);
    return failed || atomic_load(&b->stop);
}

static void run_task(void *user, int64_t task, int worker)
{
    batch        *b = user;
    const int32_t i = (int32_t)task;
    ct_err        err = {0};
    (void)worker;
    if (is_over(b, i)) return;
    const ct_status status = run_one(b, i, &err);
    if (status != CT_OK) keep_error(b, i, status, &err);
    else if (b->out[i].solve.stop != CT_STOP_CANCELLED) call_progress(b, NULL);
}

/* ---- over ranks ---- */

static int64_t record_size(const void *user, int64_t i)
{
    (void)user;
    (void)i;
    return sizeof(ct_evaluation);
}

static void pack(const void *user, int64_t i, void *record)
{
    const batch *b = user;
    memcpy(record, &b->out[i], sizeof *b->out);
}

static void unpack(void *user, int64_t i, const void *record)
{
    const batch *b = user;
    memcpy(&b->out[i], record, sizeof *b->out);
}

typedef struct {
    int32_t failed, stop;
    ct_err  why;
} ending;

/* The first failure in the order of sequences, whichever rank has it. */
static ct_status share_ending(batch *b, const ct_comm *comm, ct_err *err)
{
    if (!comm || comm->size < 2) return CT_OK;
    const ending mine = {b->failed, atomic_load(&b->stop), b->why};
    ending      *all = ct__zalloc(comm->size, sizeof *all);
    int64_t     *bytes = ct__zalloc(comm->size, sizeof *bytes);
    for (int r = 0; bytes && r < comm->size; r++) bytes[r] = sizeof mine;
    const ct_status status = all && bytes ? comm->exchange(comm->user, &mine, bytes, all, err)
                                          : ct__no_memory(err, "ranks", comm->size);
    for (int r = 0; status == CT_OK && r < comm->size; r++) {
        if (all[r].stop) atomic_store(&b->stop, 1);
        if (all[r].failed >= b->failed) continue;
        b->failed = all[r].failed;
        b->why = all[r].why;
    }
    free(all);
    free(bytes);
    return status;
}

static ct_status run_all(batch *b, ct_err *err)
{
    for (int32_t i = 0; i < b->count; i++) b->out[i] = unknown();
    if (pthread_mutex_init(&b->calling, NULL)) return ct__no_memory(err, "lock", 1);
    const ct__spread spread = {.comm = b->options->comm,
                               .jobs = b->options->jobs,
                               .count = b->count,
                               .task = run_task,
                               .user = b,
                               .size = record_size,
                               .pack = pack,
                               .unpack = unpack};
    ct__prefetch *prefetch = NULL;
    if (!b->options->comm || b->options->comm->size < 2)
        ct__prefetch_begin(b->count, (const ct_sequence *const *)b->seq, b->options->jobs, &prefetch);
    ct_status status = ct__spread_run(&spread, err);
    ct__prefetch_end(prefetch);
    pthread_mutex_destroy(&b->calling);
    if (status == CT_OK) status = ct__spread_exchange(&spread, err);
    if (status == CT_OK) status = share_ending(b, b->options->comm, err);
    if (status != CT_OK) return status;
    if (b->failed == b->count) return CT_OK;
    const char *name = b->seq[b->failed]->name;
    return ct_fail(err, b->why.status, "%s%s%s", name ? name : "", name ? ": " : "", b->why.text);
}

ct_status ct_evaluate(int32_t count, ct_sequence *const seq[], const ct_noise *noise,
                      const ct_evaluate_options *options, ct_evaluation each[], ct_summary *summary, ct_err *err)
{
    if (summary) *summary = ct__summary_none();
    if (count < 0) return ct_fail(err, CT_E_ARGUMENT, "%d sequences: there cannot be less than none", count);
    ct_evaluate_options resolved = *options;
    CT_TRY(ct_inference_choose(count, seq, &resolved.inference, err));
    ct_evaluation *out = each ? each : ct__zalloc(count, sizeof *out);
    if (!out && count) return ct__no_memory(err, "sequences", count);
    batch     b = {.count = count, .seq = seq, .noise = noise, .options = &resolved, .out = out, .failed = count};
    /* a sequence is estimated once: more idle solvers than threads would not be used again */
    ct_status status = ct__solver_pool_new(0, CT_MAX(1, resolved.jobs), 0, &b.pool, err);
    if (status == CT_OK) status = run_all(&b, err);
    ct__solver_pool_free(b.pool);
    if (status == CT_OK) status = ct__compare_divergence(count, out, err);
    if (status == CT_OK && summary) status = ct_summarise(count, out, NULL, summary, err);
    if (!each) free(out);
    return status;
}
