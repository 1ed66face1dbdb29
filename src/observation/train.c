/* train.c: a network trained by the loss through the estimator.
 *
 *     F(p, w) = L(p, w) / L0 + nu/2 |w - w0|^2
 *
 * L is the mean loss of a batch of sequences, L0 that of all training sequences at the start, p log variances, w the
 * weights. Adam (Kingma and Ba 2015) as in net_train.c. After each epoch the stopping sequences are estimated in batch
 * from the truth; the epoch with the least geometric mean of loss ratios is the candidate. The candidate and the start
 * are then compared on held-out sequences, which had no part so far and are estimated as in deployment: the start stays
 * unless it is beaten by more than two standard errors and two percent of the loss, and neither positions nor rotations
 * get worse by one.
 *
 * Inner solves start from the truth in every evaluation: results do not depend on the order of steps before. */
#include "observation/observation.h"

#include <math.h>

#define B1         0.9 /* the authors' values */
#define B2         0.999
#define EPS        1e-8
#define VARIANCES  3.0 /* rate of log variances over that of weights: they are of order 1, weights of order 0.1 */

#define ERRORS     2.0  /* standard errors by which the start must be beaten: a network has many weights to fit with */
#define LEAST_GAIN 0.02 /* of log losses: chance makes gains of a percent                                          */
#define LEAST_LOSS 0.03 /* of log errors: below it they are not worse                                              */
#define UNITS      3    /* recordings, or sequences of one, that the trained network has to prove itself on         */

enum { TRAINED, START, CANDIDATES };

ct_observation_options ct_observation_defaults(void)
{
    return (ct_observation_options){.epochs = 60,
                                    .batch = 2,
                                    .patience = 12,
                                    .rate = 3e-3,
                                    .hidden = 1e-2,
                                    .prior = 1e-2,
                                    .variances = 1,
                                    .keep = 1,
                                    .seed = 1,
                                    .deployment = ct_inference_defaults()};
}

typedef struct {
    const ct_observation_options *o;
    ct_observation_result        *result;
    const ct_theta               *theta;
    ct__observed                  train, stop, held;
    ct_net                       *net;
    int32_t                       m, *order;
    int64_t                       n, weights, hidden; /* m and weights together; weights before the last layer */
    double *y, *y0, *best, *g, *m1, *m2;              /* n each: p, then w; start; best; gradient; moments    */
    double                       *base, *now;         /* losses of stopping sequences: at the start, now      */
    uint8_t                      *batch;
    double                        scale, least;       /* L0; least log ratio of stopping sequences            */
    int64_t                       step;
    ct_rng                        rng;
    ct_err                       *err;
} trainer;

static ct_status check_options(const ct_observation_options *o, ct_err *err)
{
    if (o->epochs < 1) return ct_fail(err, CT_E_ARGUMENT, "epochs is %d; a network is trained in 1 or more", o->epochs);
    if (o->batch < 1) return ct_fail(err, CT_E_ARGUMENT, "batch is %d; a step takes 1 or more sequences", o->batch);
    if (o->patience < 1) return ct_fail(err, CT_E_ARGUMENT, "patience is %d; it is 1 or more epochs", o->patience);
    if (!(o->rate > 0) || isinf(o->rate))
        return ct_fail(err, CT_E_ARGUMENT, "rate is %g; it must be positive and finite", o->rate);
    if (!(o->hidden >= 0) || isinf(o->hidden))
        return ct_fail(err, CT_E_ARGUMENT, "hidden is %g; it must be finite and not negative", o->hidden);
    if (!(o->prior >= 0) || isinf(o->prior))
        return ct_fail(err, CT_E_ARGUMENT, "prior is %g; it must be finite and not negative", o->prior);
    return CT_OK;
}

/* ---- The start -------------------------------------------------------------------------------- */

static void put_weights(trainer *t, const double *y)
{
    memcpy(ct_net_values(t->net), y + t->m, (size_t)t->weights * sizeof *y);
}

static ct_status allocate(trainer *t, int32_t stops)
{
    t->weights = ct_net_weights(t->net);
    t->hidden = t->weights - ct__net_last(t->net);
    t->n = t->m + t->weights;
    t->y = ct__zalloc(6 * t->n + 2 * (int64_t)stops, sizeof *t->y);
    t->order = ct__zalloc(t->train.count, sizeof *t->order);
    t->batch = ct__zalloc(t->train.count, sizeof *t->batch);
    if (!t->y || !t->order || !t->batch) return ct__no_memory(t->err, "weights", t->n);
    t->y0 = t->y + t->n;
    t->best = t->y0 + t->n;
    t->g = t->best + t->n;
    t->m1 = t->g + t->n;
    t->m2 = t->m1 + t->n;
    t->base = t->m2 + t->n;
    t->now = t->base + stops;
    for (int32_t i = 0; i < t->train.count; i++) t->order[i] = i;
    return CT_OK;
}

/* Geometric mean of stopping losses over those of the start, as a logarithm. A solve that fails counts as ten times the
 * loss. */
static ct_status stopping_ratio(trainer *t, double *log_ratio)
{
    ct_outer_value value = {.each = t->now};
    put_weights(t, t->y);
    CT_TRY(ct__observed_apply(&t->stop, t->net, NULL, t->err));
    CT_TRY(ct__observed_value(&t->stop, t->net, t->y, NULL, &value, NULL, t->err));
    *log_ratio = 0;
    for (int32_t i = 0; i < t->stop.count; i++) {
        const double most = log(10), d = isfinite(t->now[i]) ? log(t->now[i] / t->base[i]) : most;
        if (isfinite(t->base[i])) *log_ratio += CT_MAX(-most, CT_MIN(most, d)) / t->stop.count;
    }
    return CT_OK;
}

static ct_status begin(trainer *t, const ct_noise *noise)
{
    ct_outer_value value = {0};
    double         zero;
    ct_theta_get(t->theta, noise, t->y);
    ct_theta_project(t->theta, CT_SPACE_LOG, t->y);
    memcpy(t->y + t->m, ct_net_values(t->net), (size_t)t->weights * sizeof *t->y);
    memcpy(t->y0, t->y, (size_t)t->n * sizeof *t->y);
    memcpy(t->best, t->y, (size_t)t->n * sizeof *t->y);
    CT_TRY(ct__observed_apply(&t->train, t->net, NULL, t->err));
    CT_TRY(ct__observed_value(&t->train, t->net, t->y, NULL, &value, NULL, t->err));
    if (!isfinite(value.loss))
        return ct_fail(t->err, CT_E_ARGUMENT,
                       "sequence %s has no estimate from its truth under the noise models given (%s); learn noise "
                       "models for this network first",
                       ct_sequence_label(t->train.of[value.which].seq), ct_stop_name(value.stop));
    t->scale = value.loss > 0 ? value.loss : 1;
    t->result->train_start = t->result->train_best = value.loss;
    for (int32_t i = 0; i < t->stop.count; i++) t->base[i] = NAN;
    CT_TRY(stopping_ratio(t, &zero));
    memcpy(t->base, t->now, (size_t)t->stop.count * sizeof *t->base);
    t->least = 0;
    return CT_OK;
}

/* ---- Steps ------------------------------------------------------------------------------------ */

static void shuffle(trainer *t)
{
    for (int32_t i = t->train.count - 1; i > 0; i--) {
        const int32_t j = (int32_t)(ct_rng_uniform(&t->rng) * (i + 1)), kept = t->order[i];
        t->order[i] = t->order[j];
        t->order[j] = kept;
    }
}

/* A step of Adam on the sequences order[from ..]. *loss += those of the batch. */
static ct_status step(trainer *t, int32_t from, double *loss, int *summed)
{
    ct_outer_value value = {.gradient = t->g};
    const int32_t  end = CT_MIN(from + t->o->batch, t->train.count);
    memset(t->batch, 0, (size_t)t->train.count);
    for (int32_t i = from; i < end; i++) t->batch[t->order[i]] = 1;
    put_weights(t, t->y);
    CT_TRY(ct__observed_apply(&t->train, t->net, t->batch, t->err));
    CT_TRY(ct__observed_value(&t->train, t->net, t->y, t->batch, &value, t->g + t->m, t->err));
    if (value.failed) {
        t->result->failed++;
        return CT_OK;
    }
    *loss += value.loss * (end - from);
    *summed += end - from;
    t->step++;
    const double c1 = 1 - pow(B1, (double)t->step), c2 = 1 - pow(B2, (double)t->step);
    for (int64_t i = 0; i < t->n; i++) {
        const int    weight = i >= t->m;
        const double g = t->g[i] / t->scale + (weight ? t->o->prior * (t->y[i] - t->y0[i]) : 0);
        const double rate = !weight ? t->o->variances * VARIANCES : i < t->m + t->hidden ? t->o->hidden : 1;
        t->m1[i] = B1 * t->m1[i] + (1 - B1) * g;
        t->m2[i] = B2 * t->m2[i] + (1 - B2) * g * g;
        t->y[i] -= rate * t->o->rate * (t->m1[i] / c1) / (sqrt(t->m2[i] / c2) + EPS);
    }
    ct_theta_project(t->theta, CT_SPACE_LOG, t->y);
    t->result->steps++;
    return CT_OK;
}

static ct_status run(trainer *t)
{
    ct_observation_result *r = t->result;
    while (r->epochs < t->o->epochs && r->epochs - r->best < t->o->patience) {
        double loss = 0, ratio;
        int    summed = 0;
        shuffle(t);
        for (int32_t from = 0; from < t->train.count; from += t->o->batch) CT_TRY(step(t, from, &loss, &summed));
        r->epochs++;
        CT_TRY(stopping_ratio(t, &ratio));
        if (ratio < t->least) {
            t->least = ratio;
            r->best = r->epochs;
            memcpy(t->best, t->y, (size_t)t->n * sizeof *t->y);
        }
        const ct_observation_progress now = {.epoch = r->epochs,
                                             .epochs = t->o->epochs,
                                             .train = loss / (CT_MAX(1, summed) * t->scale),
                                             .stop = exp(ratio)};
        if (t->o->progress && t->o->progress(t->o->user, &now)) break;
    }
    return CT_OK;
}

/* ---- The choice ------------------------------------------------------------------------------- */

static ct_status score(trainer *t, const double *y, const ct_inference *deployment, ct_evaluation *seen, ct__scores *s,
                       int candidate)
{
    put_weights(t, y);
    CT_TRY(ct__observed_apply(&t->held, t->net, NULL, t->err));
    CT_TRY(ct_outer_validate(t->held.outer, y, NULL, deployment, 0, seen, t->err));
    for (int32_t i = 0; i < s->n; i++) ct__score_evaluation(&seen[i], &s->score[candidate * s->n + i]);
    return CT_OK;
}

static double mean_loss(const ct__scores *s, int candidate)
{
    double sum = 0;
    for (int32_t i = 0; i < s->n; i++) sum += s->score[candidate * s->n + i].loss / s->n;
    return sum;
}

static int is_worse(const ct__scores *s, ct__metric metric)
{
    const ct__paired d = ct__compare(s, TRAINED, START, metric);
    return d.mean > LEAST_LOSS && !(d.mean <= d.error);
}

static ct_choice judge(const ct__scores *s)
{
    const ct__paired d = ct__compare(s, TRAINED, START, CT_METRIC_LOSS);
    const double     error = ct__standard_errors(d.units) * d.error;
    if (d.units < UNITS) return CT_CHOICE_NOT_BETTER;
    if (d.mean > error && d.mean > LEAST_GAIN) return CT_CHOICE_WORSE;
    if (!(d.mean < -LEAST_GAIN && d.mean < -ERRORS * error)) return CT_CHOICE_NOT_BETTER;
    if (ct__count_failed(s, TRAINED) > ct__count_failed(s, START)) return CT_CHOICE_FAILS;
    if (is_worse(s, CT_METRIC_TRANSLATION)) return CT_CHOICE_TRANSLATION;
    if (is_worse(s, CT_METRIC_ROTATION)) return CT_CHOICE_ROTATION;
    return CT_CHOICE_CHOSEN;
}

static ct_status choose(trainer *t)
{
    ct_observation_result *r = t->result;
    ct_inference           deployment = t->o->deployment;
    ct__scores             s = {0};
    ct_evaluation         *seen = ct__zalloc(t->held.count, sizeof *seen);
    ct_status              status = seen ? CT_OK : ct__no_memory(t->err, "sequences", t->held.count);
    if (status == CT_OK) status = ct__outer_deployment(t->held.outer, &deployment, t->err);
    if (status == CT_OK) status = ct__scores_new(t->held.outer, CANDIDATES, &s, t->err);
    if (status == CT_OK) status = score(t, t->y0, &deployment, seen, &s, START);
    if (status == CT_OK) status = score(t, t->best, &deployment, seen, &s, TRAINED);
    if (status == CT_OK) {
        const ct__paired loss = ct__compare(&s, TRAINED, START, CT_METRIC_LOSS);
        r->heldout_start = mean_loss(&s, START);
        r->heldout_best = mean_loss(&s, TRAINED);
        r->log_ratio = loss.mean;
        r->log_ratio_error = loss.error;
        r->translation_ratio = exp(ct__compare(&s, TRAINED, START, CT_METRIC_TRANSLATION).mean);
        r->rotation_ratio = exp(ct__compare(&s, TRAINED, START, CT_METRIC_ROTATION).mean);
        r->verdict = judge(&s);
        r->chosen = r->best > 0 && (r->verdict == CT_CHOICE_CHOSEN || !t->o->keep);
    }
    ct__scores_free(&s);
    free(seen);
    return status;
}

/* Weights, measurements and variances of the answer. */
static ct_status finish(trainer *t, ct_noise *noise)
{
    const double  *answer = t->result->chosen ? t->best : t->y0;
    ct_outer_value value = {0};
    put_weights(t, answer);
    CT_TRY(ct__observed_apply(&t->held, t->net, NULL, t->err));
    CT_TRY(ct__observed_apply(&t->stop, t->net, NULL, t->err));
    CT_TRY(ct__observed_apply(&t->train, t->net, NULL, t->err));
    CT_TRY(ct__observed_value(&t->train, t->net, answer, NULL, &value, NULL, t->err));
    t->result->train_best = value.loss;
    return t->result->chosen ? ct_theta_apply(t->theta, answer, noise, t->err) : CT_OK;
}

static ct_status prepare(trainer *t, const ct_observation_data *d, const ct_outer_options *outer, const ct_noise *noise,
                         const ct_net *net)
{
    if (d->trains < 1 || d->stops < 1 || d->helds < 1)
        return ct_fail(t->err, CT_E_ARGUMENT,
                       "a network is trained with sequences to learn from, to stop by and to hold out; %d, %d and %d "
                       "were given",
                       d->trains, d->stops, d->helds);
    CT_TRY(ct_net_extend(net, 0, &t->net, t->err));
    CT_TRY(ct__observed_new(d->trains, d->train, noise, t->theta, outer, net, &t->train, t->err));
    CT_TRY(ct__observed_new(d->stops, d->stop, noise, t->theta, outer, net, &t->stop, t->err));
    CT_TRY(ct__observed_new(d->helds, d->held, noise, t->theta, outer, net, &t->held, t->err));
    return allocate(t, d->stops);
}

ct_status ct_observation_learn(const ct_observation_data *data, const ct_theta *theta, const ct_outer_options *outer,
                               const ct_observation_options *options, ct_noise *noise, ct_net *net,
                               ct_observation_result *result, ct_err *err)
{
    const ct_observation_options defaults = ct_observation_defaults();
    trainer t = {.o = options ? options : &defaults, .theta = theta, .m = ct_theta_count(theta), .err = err};
    *result = (ct_observation_result){.log_ratio = NAN, .log_ratio_error = NAN};
    t.result = result;
    CT_TRY(check_options(t.o, err));
    t.rng = ct_rng_seed(t.o->seed);
    ct_status status = prepare(&t, data, outer, noise, net);
    if (status == CT_OK) status = begin(&t, noise);
    if (status == CT_OK) status = run(&t);
    if (status == CT_OK) status = choose(&t);
    if (status == CT_OK) status = finish(&t, noise);
    if (status == CT_OK) memcpy(ct_net_values(net), ct_net_values(t.net), (size_t)t.weights * sizeof(double));
    ct__observed_free(&t.train);
    ct__observed_free(&t.stop);
    ct__observed_free(&t.held);
    ct_net_free(t.net);
    free(t.y);
    free(t.order);
    free(t.batch);
    return status;
}
