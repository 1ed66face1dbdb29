/* test_trial_memory.c: no memory at any moment of a trial, or of an evaluation. Every allocation is failed once,
 * each in a call of its own: the call says so, and nothing of what it was given has changed, or is lost. */
#include "memory_test.h"
#include "trial_test.h"

#define RUNS  2
#define POSES 6

typedef struct {
    lesson     l;
    ct_solver *solver; /* of the first run, with which nothing was solved */
} stage;

typedef ct_status (*act)(stage *s, ct_err *err);

/* The act with every allocation failing in turn. */
static void sweep(const char *name, act perform, int least)
{
    const int64_t stride = ct_test_slow() && least > 10 ? 23 : 1;
    stage         s = {.l = lesson_of("D1", CT_SE2, RUNS, POSES, 5)};
    int64_t       k = 0, unnoticed = 0;
    ct_noise     *before = NULL;
    ct_err        err = {0};
    start_far(&s.l);
    learn_all(&s.l, CT_NOISE_DIAGONAL, 1e-3, 1e3);
    CHECK_OK(ct_noise_copy(s.l.noise, &before, &err), err);
    for (int through = 0; !through && k < 100000; k += stride) {
        CHECK_OK(ct_solver_new(s.l.seq[0]->graph, NULL, &s.solver, &err), err);
        err = (ct_err){0};
        left = k;
        const ct_status status = perform(&s, &err);
        through = left >= 0;
        left = -1;
        if (through) CHECK_OK(status, err);
        else if (status == CT_OK) unnoticed++;
        else CHECK(status == CT_E_MEMORY && err.status == status && err.text[0]);
        CHECK(same_table(s.l.noise, before));
        ct_solver_free(s.solver);
    }
    printf("  %s: %lld allocations, %lld of them not missed\n", name, (long long)(k - stride), (long long)unnoticed);
    CHECK(k > least && k < 100000 && unnoticed * 50 <= k); /* memory that was to be given back in part is not missed */
    ct_noise_free(before);
    lesson_free(&s.l);
}

static ct_status look(stage *s, ct_err *err)
{
    ct_conditioning c;
    const ct_status status = ct_conditioning_at(s->l.seq[0]->graph, s->l.noise, s->solver, s->l.seq[0]->truth, &c, err);
    CHECK((status == CT_OK) == (c.plain.condition > 1 && c.scaled.condition > 1));
    return status;
}

static ct_status weigh(stage *s, ct_err *err)
{
    double nees[POSES];
    int    degrees[POSES];
    return ct_nees_each(s->l.seq[0], s->l.noise, s->solver, s->l.seq[0]->truth, nees, degrees, err);
}

static ct_status judge(stage *s, ct_err *err)
{
    ct_evaluate_options options = ct_evaluate_defaults();
    ct_summary         v;
    options.nees = 1;
    const ct_status status = ct_evaluate(s->l.runs, s->l.seq, s->l.noise, &options, NULL, &v, err);
    CHECK(v.sequences == (status == CT_OK ? RUNS : 0));
    return status;
}

static ct_status try_method(stage *s, ct_learn_method method, ct_err *err)
{
    ct_trial_options options = ct_trial_defaults();
    ct_trial         trial;
    options.learn.method = method;
    options.learn.max_iterations = 3;
    options.errors = 1;
    const ct_status status =
        ct_trial_run(s->l.runs, s->l.seq, 1, s->l.seq, s->l.noise, s->l.theta, &options, &trial, err);
    CHECK((status == CT_OK) == (trial.noise != NULL) && (status == CT_OK) == (trial.points > 0));
    ct_trial_free(&trial);
    return status;
}

static ct_status try_lm(stage *s, ct_err *err) { return try_method(s, CT_LEARN_LM, err); }
static ct_status try_frank_wolfe(stage *s, ct_err *err) { return try_method(s, CT_LEARN_FRANK_WOLFE, err); }

static ct_status fit(stage *s, ct_err *err)
{
    const int fits = ct_fits(s->l.noise, s->l.theta);
    CHECK(fits == (left < 0 ? -1 : 1));
    return fits < 0 ? ct_fail(err, CT_E_MEMORY, "nobody knows whether it fits") : CT_OK;
}

static void test_a_study_survives_the_failure_of_every_allocation(void)
{
    sweep("conditioning", look, 3);
    sweep("nees of each", weigh, 3);
    sweep("verdict", judge, 20);
    sweep("trial of lm", try_lm, 100);
    sweep("trial of fw", try_frank_wolfe, 100);
    sweep("fits", fit, 1);
}

int main(void)
{
    RUN(test_a_study_survives_the_failure_of_every_allocation);
    return ct_test_end();
}
