/* simulate.c: pushing sequences as graphs of a few episodes.
 *
 * Episode k is moved rigidly so that the object's first pose is the last of the episode before: T_k = o_last
 * o_first^-1. The finger moves with it and jumps. The measurements are
 *
 *     prior  z = e o Exp(n)   n of prior_sigma
 *     tac    z = relative yaw + n, n of tactile_sigma; or the output of a sensor for two images
 *     dyn    z = c2           no noise, but an approximate model
 *     geo                     no measurement: the fingertip touches the outline
 *
 * dyn and geo are approximate: the finger rolls and slides, is 7.5 mm thick and yields by 0.5 mm, friction differs
 * from the model, and calibrations have errors. */
#include <covtune/push.h>
#include "data/data.h"
#include "data/leo.h"
#include "push/push.h"

#include <math.h>

/* Start values: a spread of 1e6 in units, as distant as the paper's. bind and first_pose are exact: 1 um and 1 urad,
 * as tight as dyn can become (6e-6 in the loose bounds), so that they do not affect learning. */
static const struct {
    const char *name;
    int         dim;
    double      variance; /* in units */
    double      unit[3];
} MODEL[] = {{"prior", 3, 30, {1e-4, 1e-4, 1e-4}}, {"tac", 1, 1e3, {1e-2}},
             {"dyn", 3, 1e-3, {2e-4, 2e-4, 2e-4}}, {"geo", 1, 1e-2, {2e-3}},
             {"bind", 3, 1, {1e-6, 1e-6, 1e-6}},   {LEO_FIRST_POSE, 3, 1, {1e-6, 1e-6, 1e-6}}};
enum { PRIOR, TAC, DYN, GEO, LEARNED, BIND = LEARNED, FIRST, MODELS };

int ct_push_units(const char *model, double unit[3])
{
    for (int i = 0; i < LEARNED; i++)
        if (!strcmp(model, MODEL[i].name)) return memcpy(unit, MODEL[i].unit, (size_t)MODEL[i].dim * sizeof *unit), 1;
    return 0;
}

typedef struct {
    const ct_push_options *o;
    ct_tactile_fn          tactile;
    void                  *user;
    ct_rng                 prior, turn;
    int32_t                model[MODELS];
    double                 c2;
    const ct_shape        *shape;
    ct_sequence           *seq;
    ct_err                *err;
} maker;

static ct_status check_choice(const ct_push_options *o, int pool, ct_err *err)
{
    if (pool > 1)
        return ct_fail(err, CT_E_ARGUMENT, "sequences are drawn from pool 0 (training) or 1 (test), not from pool %d",
                       pool);
    if (o->episodes < 1)
        return ct_fail(err, CT_E_ARGUMENT, "a pushing sequence needs at least 1 episode, %d were asked for",
                       o->episodes);
    if (o->pool < o->episodes)
        return ct_fail(err, CT_E_ARGUMENT, "a sequence of %d different episodes cannot be drawn from a pool of %d",
                       o->episodes, o->pool);
    return CT_OK;
}

static ct_status check(const ct_push_options *o, int pool, int pushes, ct_err *err)
{
    CT_TRY(ct__push_check(o, pool, err));
    CT_TRY(ct__push_check_windows(o, err));
    if ((int64_t)pushes * o->steps > INT32_MAX / 2)
        return ct_fail(err, CT_E_LIMIT, "%d episodes of %d steps are more than a graph can hold", pushes, o->steps);
    if (!(o->tactile_sigma > 0) || isinf(o->tactile_sigma))
        return ct_fail(err, CT_E_ARGUMENT, "tactile_sigma is %g rad; it must be positive and finite", o->tactile_sigma);
    if (!(o->prior_sigma > 0) || isinf(o->prior_sigma))
        return ct_fail(err, CT_E_ARGUMENT, "prior_sigma is %g; it must be positive and finite", o->prior_sigma);
    if (!isnan(o->c2) && (!(o->c2 > 0) || isinf(o->c2)))
        return ct_fail(err, CT_E_ARGUMENT,
                       "c2 is %g m^2; it must be positive and finite, or NaN for that of even pressure", o->c2);
    return CT_OK;
}

static ct_status make_models(maker *m, ct_noise *noise)
{
    for (int i = 0; i < MODELS; i++) {
        double            variance[3];
        ct__noise_numbers numbers;
        for (int k = 0; k < 3; k++) variance[k] = MODEL[i].variance * (MODEL[i].unit[k] * MODEL[i].unit[k]);
        if (i == FIRST) CT_TRY(ct__noise_isotropic(MODEL[i].name, MODEL[i].dim, variance[0], &numbers, m->err));
        else CT_TRY(ct__noise_diagonal(MODEL[i].name, MODEL[i].dim, variance, &numbers, m->err));
        CT_TRY(ct__share_model(noise, MODEL[i].name, &numbers, &m->model[i], m->err));
    }
    return CT_OK;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Of step t of the sequence: variables 2 t and 2 t + 1. */
static double *truth_of(const maker *m, int32_t variable) { return m->seq->truth + (int64_t)variable * 4; }

/* The object's initial value: its pose before, moved along with the finger. At the start of an episode (k = 0) the
 * object stays. */
static void guess(const maker *m, int32_t t, int k, const double finger[4], double object[4])
{
    const double *before = t ? ct_graph_initial_const(m->seq->graph) + 8 * (int64_t)(t - 1) : truth_of(m, 0);
    memcpy(object, before, 4 * sizeof *object);
    for (int i = 0; k > 0 && i < 2; i++) object[i] += finger[i] - before[4 + i];
}

static ct_status add_variables(maker *m, int32_t t, int k, double z[4])
{
    char   name[16];
    double object[4], n[3];
    for (int i = 0; i < 3; i++) n[i] = m->o->prior_sigma * ct_rng_normal(&m->prior);
    ct_kind_retract(CT_SE2, truth_of(m, 2 * t + 1), n, z);
    guess(m, t, k, z, object);
    snprintf(name, sizeof name, "o%d", (int)t);
    CT_TRY(ct_graph_add_variable(m->seq->graph, name, CT_SE2, object, NULL, m->err));
    snprintf(name, sizeof name, "e%d", (int)t);
    CT_TRY(ct_graph_add_variable(m->seq->graph, name, CT_SE2, z, NULL, m->err));
    m->seq->known[2 * t] = m->seq->known[2 * t + 1] = 7;
    return CT_OK;
}

static ct_status add_turns(maker *m, const ct_push_episode *episode, int32_t begin, int k)
{
    for (int i = k - m->o->window; i >= 0 && i > k - m->o->window - m->o->windows; i--) {
        const double *before = episode->image + (int64_t)i * CT_PUSH_PIXELS,
                     *after = episode->image + (int64_t)k * CT_PUSH_PIXELS;
        double       multiplier = 1;
        const double turn = m->tactile ? m->tactile(m->user, before, after, &multiplier)
                                       : ct_push_relative_yaw(episode, i, k) +
                                             m->o->tactile_sigma * ct_rng_normal(&m->turn);
        const double  z[2] = {cos(turn), sin(turn)};
        const int32_t a = 2 * (begin + i), b = 2 * (begin + k), var[4] = {a, a + 1, b, b + 1};
        if (!isfinite(turn))
            return ct_fail(m->err, CT_E_ARGUMENT,
                           "the tactile sensor gives %g for steps %d and %d; a yaw must be finite", turn,
                           (int)(begin + i), (int)(begin + k));
        CT_TRY(ct_graph_add_factor(m->seq->graph, &ct_tactile_yaw, var, z, NULL, m->model[TAC], m->err));
        if (multiplier != 1)
            CT_TRY(ct_graph_set_multiplier(m->seq->graph, ct_graph_factors(m->seq->graph) - 1, multiplier, m->err));
    }
    return CT_OK;
}

/* Step k of an episode that starts at step `begin` of the sequence. */
static ct_status add_step(maker *m, const ct_push_episode *episode, int32_t begin, int k)
{
    ct_graph     *g = m->seq->graph;
    const int32_t t = begin + k, o = 2 * t, e = o + 1, pair[2] = {o, e}, step[4] = {o - 2, e - 2, o, e};
    const double  radius = 0, same[4] = {0, 0, 1, 0};
    double        z[4];
    CT_TRY(add_variables(m, t, k, z));
    if (t == 0) {
        CT_TRY(ct_graph_add_prior(g, o, truth_of(m, o), m->model[FIRST], m->err));
        CT_TRY(ct_graph_add_prior(g, e, truth_of(m, e), m->model[FIRST], m->err));
    }
    CT_TRY(ct_graph_add_prior(g, e, z, m->model[PRIOR], m->err));
    CT_TRY(ct_graph_add_factor(g, &ct_contact_se2, pair, &radius, m->shape, m->model[GEO], m->err));
    if (k > 0) CT_TRY(ct_graph_add_factor(g, &ct_push_se2, step, &m->c2, NULL, m->model[DYN], m->err));
    else if (t > 0) CT_TRY(ct_graph_add_between(g, o - 2, o, same, m->model[BIND], m->err));
    return add_turns(m, episode, begin, k);
}

/* ---- Episodes -------------------------------------------------------------------------------- */

/* True poses of an episode, moved to the last pose of the object. */
static void chain(maker *m, const ct_push_episode *episode, int32_t begin)
{
    ct_se2 to = ct_se2_identity();
    if (begin > 0) {
        ct_se2 last;
        memcpy(&last, truth_of(m, 2 * (begin - 1)), sizeof last);
        to = ct_se2_compose(last, ct_se2_inverse(episode->object[0], NULL), NULL, NULL);
    }
    for (int k = 0; k < episode->steps; k++) {
        const ct_se2 object = ct_se2_normalize(ct_se2_compose(to, episode->object[k], NULL, NULL)),
                     finger = ct_se2_normalize(ct_se2_compose(to, episode->finger[k], NULL, NULL));
        memcpy(truth_of(m, 2 * (begin + k)), &object, sizeof object);
        memcpy(truth_of(m, 2 * (begin + k) + 1), &finger, sizeof finger);
    }
    if (begin > 0) memcpy(truth_of(m, 2 * begin), truth_of(m, 2 * (begin - 1)), sizeof to); /* to the bit */
}

/* The first `episodes` of a shuffled pool. */
static void choose(const ct_push_options *o, int pool, uint64_t sequence, int32_t *number)
{
    ct_rng rng = ct__push_stream(o, CT__PUSH_CHOICE, pool, sequence);
    for (int32_t i = 0; i < o->pool; i++) number[i] = i;
    for (int32_t i = 0; i < o->episodes; i++) {
        const int32_t j = i + (int32_t)(ct_rng_uniform(&rng) * (o->pool - i)), kept = number[i];
        number[i] = number[j];
        number[j] = kept;
    }
}

static ct_status add_pushes(maker *m, int pushes, const ct_push_episode *const push[])
{
    for (int i = 0; i < pushes; i++) {
        const int32_t begin = i * m->o->steps;
        chain(m, push[i], begin);
        for (int k = 0; k < m->o->steps; k++) CT_TRY(add_step(m, push[i], begin, k));
    }
    return CT_OK;
}

static ct_status fill(maker *m, uint64_t sequence, int pushes, const ct_push_episode *const push[], ct_noise *noise)
{
    const int32_t poses = 2 * pushes * m->o->steps;
    ct_sequence  *seq = m->seq;
    ct_shape     *shape;
    double        area, radius;
    char          name[32];
    snprintf(name, sizeof name, "run%llu", (unsigned long long)sequence);
    seq->name = ct__strdup(name);
    seq->truth = ct__zalloc((int64_t)poses * 4, sizeof *seq->truth);
    seq->known = ct__zalloc(poses, sizeof *seq->known);
    if (!seq->name || !seq->truth || !seq->known) return ct__no_memory(m->err, "poses", poses);
    CT_TRY(ct__push_shape(m->o->object, &shape, m->err));
    m->shape = shape;
    CT_TRY(ct_sequence_add_shape(seq, ct_shape_kind_name(m->o->object), shape, m->err));
    ct_shape_moments(shape, &area, &radius, NULL);
    m->c2 = isnan(m->o->c2) ? radius * radius : m->o->c2;
    CT_TRY(make_models(m, noise));
    return add_pushes(m, pushes, push);
}

ct_status ct_simulate_push_sequence(const ct_push_options *options, int pool, uint64_t sequence, int pushes,
                                    const ct_push_episode *const push[], ct_tactile_fn tactile, void *user,
                                    ct_noise *noise, ct_sequence **out, ct_err *err)
{
    *out = NULL;
    CT_TRY(check(options, pool, pushes, err));
    if (pushes < 1) return ct_fail(err, CT_E_ARGUMENT, "a pushing sequence needs at least 1 push, found %d", pushes);
    for (int i = 0; i < pushes; i++)
        if (push[i]->steps != options->steps)
            return ct_fail(err, CT_E_ARGUMENT, "push %d has %d steps, the options say %d", i, push[i]->steps,
                           options->steps);
    maker m = {.o = options, .tactile = tactile, .user = user, .err = err};
    m.prior = ct__push_stream(options, CT__PUSH_PRIOR, pool, sequence);
    m.turn = ct__push_stream(options, CT__PUSH_TACTILE, pool, sequence);
    CT_TRY(ct_sequence_new(NULL, &m.seq, err));
    const ct_status status = fill(&m, sequence, pushes, push, noise);
    if (status == CT_OK) *out = m.seq;
    else ct_sequence_free(m.seq);
    return status;
}

ct_status ct_push_choose(const ct_push_options *options, int pool, uint64_t sequence, int32_t number[], ct_err *err)
{
    CT_TRY(check(options, pool, options->episodes, err));
    CT_TRY(check_choice(options, pool, err));
    int32_t *all = ct__zalloc(options->pool, sizeof *all);
    if (!all) return ct__no_memory(err, "pushes", options->pool);
    choose(options, pool, sequence, all);
    memcpy(number, all, (size_t)options->episodes * sizeof *number);
    free(all);
    return CT_OK;
}

ct_status ct_simulate_push(const ct_push_options *options, int pool, uint64_t sequence, ct_tactile_fn tactile,
                           void *user, ct_noise *noise, ct_sequence **out, ct_err *err)
{
    const int n = CT_MAX(1, options->episodes);
    *out = NULL;
    CT_TRY(check(options, pool, options->episodes, err));
    CT_TRY(check_choice(options, pool, err));
    int32_t                *number = ct__zalloc(n, sizeof *number);
    ct_push_episode        *episode = ct__zalloc(n, sizeof *episode);
    const ct_push_episode **push = ct__zalloc(n, sizeof *push);
    int                     made = 0;
    ct_status status = number && episode && push ? CT_OK : ct__no_memory(err, "pushes", n);
    if (status == CT_OK) status = ct_push_choose(options, pool, sequence, number, err);
    for (; status == CT_OK && made < n; made += status == CT_OK) {
        push[made] = &episode[made];
        status = ct_simulate_push_episode(options, pool, (uint64_t)number[made], &episode[made], err);
    }
    if (status == CT_OK)
        status = ct_simulate_push_sequence(options, pool, sequence, n, push, tactile, user, noise, out, err);
    for (int i = 0; i < made; i++) ct_push_episode_free(&episode[i]);
    free(number);
    free(episode);
    free(push);
    return status;
}
