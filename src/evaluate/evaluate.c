/* evaluate.c: estimates, and how good they are; of one sequence, and of many at a time. */
#include "evaluate/evaluate.h"
#include "evaluate/consistency.h"
#include "base/parallel.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

/* The distance from the minimum enters accuracy and loss as it is, and the error as its square: so that six digits
 * of them hold, the error has to stand still in twelve. */
ct_inference ct_inference_defaults(void)
{
    ct_inference inference = {.start = CT_START_MEASURED,
                              .solve = ct_solve_defaults(),
                              .incremental = CT_INFERENCE_AUTO,
                              .replay = ct_replay_defaults()};
    inference.solve.relative = 1e-12;
    inference.solve.max_iterations = 100;
    inference.replay.entry = CT_ENTRY_PREVIOUS;
    inference.replay.settle = 5;   /* from the pose before it may be a quarter turn */
    inference.replay.extent = 10;
    return inference;
}

#define UNPLACED_OK 0.1 /* of the poses: a part or two without a prior, a gap */

ct_status ct_inference_choose(int32_t count, ct_sequence *const seq[], ct_inference *inference, ct_err *err)
{
    if (inference->incremental != CT_INFERENCE_AUTO) return CT_OK;
    int chosen = 0;
    for (int32_t i = 0; i < count && !chosen; i++) {
        const ct_graph *g = seq[i]->graph;
        int32_t         unplaced, poses = 0;
        CT_TRY(ct_sequence_unplaced(seq[i], &unplaced, err));
        for (int32_t v = 0; v < ct_graph_variables(g); v++)
            poses += ct_graph_kind(g, v) == CT_SE2 || ct_graph_kind(g, v) == CT_SE3;
        chosen = unplaced > 1 && unplaced > UNPLACED_OK * poses;
    }
    inference->incremental = chosen;
    return CT_OK;
}

static ct_status replay(const ct_sequence *seq, const ct_noise *noise, const ct_replay_options *options, double *x,
                        ct_solve_result *out, ct_err *err)
{
    ct_replay_result result;
    *out = (ct_solve_result){.initial_error = ct_graph_error(seq->graph, noise, x), .gradient = NAN};
    CT_TRY(ct_replay(seq->graph, noise, options, x, &result, err));
    out->stop = result.stop;
    out->iterations = out->linearisations = out->factorisations = result.updates;
    out->final_error = result.error;
    out->seconds = result.seconds;
    return CT_OK;
}

ct_status ct_evaluate(const ct_sequence *seq, const ct_noise *noise, ct_solver *solver, const ct_inference *inference,
                      const ct_loss *loss, int nees, double *x, ct_evaluation *out, ct_err *err)
{
    *out =
        (ct_evaluation){.loss = NAN, .accuracy = {0, NAN, NAN, NAN}, .consistency = {.chi_squared = NAN, .nees = NAN}};
    ct_inference how = *inference;
    CT_TRY(ct__check_loss(loss, err));
    CT_TRY(ct_inference_choose(1, (ct_sequence *const[]){(ct_sequence *)seq}, &how, err));
    CT_TRY(ct_start_values(seq, inference->start, x, err));
    CT_TRY(ct_graph_check_noise(seq->graph, noise, err));
    if (how.incremental) CT_TRY(replay(seq, noise, &inference->replay, x, &out->solve, err));
    else CT_TRY(ct_solver_run(solver, noise, x, &inference->solve, &out->solve, err));
    const double value = ct_loss_value(loss, seq, x);
    out->loss = isfinite(value) ? value : NAN;
    out->accuracy = ct_accuracy_of(seq, x);
    out->bodies = ct_accuracy_of_bodies(seq, x, out->body);
    out->consistency = ct__fit(seq->graph, out->solve.final_error);
    if (!nees || out->solve.stop == CT_STOP_CANCELLED) return CT_OK;
    return ct__nees(seq, noise, solver, x, &out->consistency, err);
}

/* ---- many ---- */

typedef struct {
    int32_t             count;
    ct_sequence *const *seq;
    const ct_noise     *noise;
    const ct_inference *inference;
    const ct_loss      *loss;
    int                 nees;
    ct_evaluate_fn        progress;
    void               *user;
    ct__look_fn         look;
    void               *looker;
    ct_evaluation      *out;
    pthread_mutex_t     telling; /* one call to the caller's functions at a time; guards done, failed, why */
    int32_t             done;
    int32_t             failed;  /* the first sequence, in their order, whose status was not CT_OK; or count */
    ct_err              why;
    atomic_int          stop;
} crowd;

/* Whatever the caller has to say: after an iteration (its own function first), or after a sequence. */
static int tell(crowd *c, const ct_progress *iteration)
{
    const ct_solve_options *theirs = &c->inference->solve;
    pthread_mutex_lock(&c->telling);
    if (!iteration) c->done++;
    if (iteration && theirs->progress && theirs->progress(theirs->user, iteration)) atomic_store(&c->stop, 1);
    if (c->progress && c->progress(c->user, c->done, c->count)) atomic_store(&c->stop, 1);
    pthread_mutex_unlock(&c->telling);
    return atomic_load(&c->stop);
}

static int on_iteration(void *user, const ct_progress *progress) { return tell(user, progress); }

/* The same after a step of a replay. */
static int on_step(void *user, const ct_smoother *smoother, int32_t step, int32_t steps, const ct_smoother_stats *stats)
{
    crowd                   *c = user;
    const ct_replay_options *theirs = &c->inference->replay;
    const ct_progress progress = {
        .iteration = step, .accepted = 1, .error = NAN, .step = NAN, .gradient = NAN, .seconds = stats->seconds};
    pthread_mutex_lock(&c->telling);
    if (theirs->progress && theirs->progress(theirs->user, smoother, step, steps, stats)) atomic_store(&c->stop, 1);
    pthread_mutex_unlock(&c->telling);
    return tell(c, &progress);
}

/* The first in the order of the sequences is the one that is told, whichever came first in time. */
static void fail(crowd *c, int32_t sequence, ct_status status, const ct_err *err)
{
    pthread_mutex_lock(&c->telling);
    if (sequence < c->failed) {
        c->failed = sequence;
        c->why = *err;
        c->why.status = status;
    }
    pthread_mutex_unlock(&c->telling);
}

static int given_up(crowd *c, int32_t sequence)
{
    pthread_mutex_lock(&c->telling);
    const int failed = sequence > c->failed;
    pthread_mutex_unlock(&c->telling);
    return failed || atomic_load(&c->stop);
}

static ct_status assess_one(crowd *c, int32_t sequence, ct_err *err)
{
    const ct_sequence *seq = c->seq[sequence];
    ct_inference       inference = *c->inference;
    ct_solver         *solver = NULL;
    if (c->progress || inference.solve.progress) {
        inference.solve.progress = on_iteration;
        inference.solve.user = c;
    }
    if (c->progress || inference.solve.progress || inference.replay.progress) {
        inference.replay.progress = on_step;
        inference.replay.user = c;
    }
    double   *x = ct__zalloc(ct_graph_size(seq->graph), sizeof *x);
    ct_status status =
        x ? ct_solver_new(seq->graph, NULL, &solver, err) : ct__no_memory(err, "values", ct_graph_size(seq->graph));
    if (status == CT_OK)
        status = ct_evaluate(seq, c->noise, solver, &inference, c->loss, c->nees, x, &c->out[sequence], err);
    if (status == CT_OK && c->look && c->out[sequence].solve.stop != CT_STOP_CANCELLED)
        status = c->look(c->looker, sequence, &c->out[sequence], solver, x, err);
    ct_solver_free(solver);
    free(x);
    return status;
}

static void assess_task(void *user, int64_t task, int worker)
{
    crowd        *c = user;
    const int32_t sequence = (int32_t)task;
    ct_err        err = {0};
    (void)worker;
    if (given_up(c, sequence)) return;
    const ct_status status = assess_one(c, sequence, &err);
    if (status != CT_OK) fail(c, sequence, status, &err);
    else if (c->out[sequence].solve.stop != CT_STOP_CANCELLED) tell(c, NULL);
}

ct_status ct__assess_all(int32_t count, ct_sequence *const seq[], const ct_noise *noise, const ct_inference *inference,
                         const ct_loss *loss, int nees, int jobs, ct_evaluate_fn progress, void *user, ct__look_fn look,
                         void *looker, ct_evaluation out[], ct_err *err)
{
    ct_inference how = *inference;
    CT_TRY(ct_inference_choose(count, seq, &how, err));
    crowd c = {.count = count,
               .seq = seq,
               .noise = noise,
               .inference = &how,
               .loss = loss,
               .nees = nees,
               .progress = progress,
               .user = user,
               .look = look,
               .looker = looker,
               .out = out,
               .failed = count};
    for (int32_t i = 0; i < count; i++)
        out[i] = (ct_evaluation){
            .loss = NAN, .accuracy = {0, NAN, NAN, NAN}, .consistency = {.chi_squared = NAN, .nees = NAN}};
    if (pthread_mutex_init(&c.telling, NULL)) return ct__no_memory(err, "lock", 1);
    ct__parallel(jobs, count, assess_task, &c);
    pthread_mutex_destroy(&c.telling);
    if (c.failed == count) return CT_OK;
    const char *name = seq[c.failed]->name;
    return ct_fail(err, c.why.status, "%s%s%s", name ? name : "", name ? ": " : "", c.why.text);
}

ct_status ct_evaluate_all(int32_t count, ct_sequence *const seq[], const ct_noise *noise, const ct_inference *inference,
                          const ct_loss *loss, int nees, int jobs, ct_evaluate_fn progress, void *user,
                          ct_evaluation out[], ct_err *err)
{
    return ct__assess_all(count, seq, noise, inference, loss, nees, jobs, progress, user, NULL, NULL, out, err);
}
