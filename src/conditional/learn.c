/* learn.c: functions learned in order: squares, regression, tracking, the choice by held-out recordings.
 *
 * Candidates start from the answer p of ct_learn for constant models. A function takes the mean square of its model's
 * residuals from v to v e^u: its variances become p_i + log v_i(with function) - log v_i(constant), so that common
 * scale and inflation of the constant answer stay. A matrix function has units D, the sigmas of the constant answer,
 * and the model's own covariance becomes D^2; its constant part takes that shift. */
#include "conditional/conditional.h"
#include "noise/noise.h"

#include <math.h>

enum { REGRESSION, TRACKING, CONSTANT, CANDIDATES }; /* order of the scores */

typedef struct {
    ct_outer                     *outer;
    const ct_conditional_options *options;
    ct_conditional_result        *result;
    ct_noise                     *noise;
    ct_inference                  deployment;
    int32_t                       models;   /* that are learned; of tied ones the first */
    int32_t                      *model;
    int32_t                      *same;     /* per weight: the first one that it is equal to; NULL: none is tied */
    ct__squares                  *squares;  /* per learned model, those tied to it included */
    double                       *ridge;
    int32_t                      *group, groups;
    double                       *p, *base; /* m: the constant answer; with D^2 for matrix functions */
    double                       *room;
    ct_err                       *err;
} learning;

/* ---- Regression ---- */

/* The constant part of a matrix function is shifted by the inflation of the constant answer, log D_i^2 - log mean
 * r_i^2. */
static void shift_constant(const ct_function *f, const ct__squares *s, const double *square, double count,
                           double *weight)
{
    const int network = f->kind == CT_FUNCTION_NETWORK;
    for (int i = 0, o = 0; i < s->dim; o += s->dim - i++) /* coordinates of the diagonal */
        weight[network ? f->weights - f->outputs + o : o * f->terms] +=
            log(f->unit[i] * f->unit[i] * count / fmax(square[i], 1e-300));
}

/* w, p <- the regression of a part, all models. errors may be NULL. */
static ct_status regress(const learning *l, const uint8_t *part, double *w, double *errors, double *p)
{
    const ct_outer *o = l->outer;
    memcpy(p, l->base, (size_t)o->m * sizeof *p);
    for (int32_t k = 0; k < l->models; k++) {
        const int32_t      g = l->model[k];
        const ct__squares *s = &l->squares[k];
        const ct_function *f = ct_noise_get(o->base, g)->function;
        ct__fit            fit = {.weight = w + o->weight_of[g], .error = errors ? errors + o->weight_of[g] : NULL};
        double             mean[CT_FUNCTION_ROWS_MAX] = {0};
        int64_t            count = 0;
        if (f->kind == CT_FUNCTION_NETWORK)
            CT_TRY(ct__fit_network(f, s, part, l->group, l->groups, l->options->seed, &fit, l->err));
        else CT_TRY(ct__fit_bases(f, s, part, l->group, l->ridge[k], &fit, l->err));
        for (int64_t i = 0; i < s->count; i++) {
            if (part && !part[s->sequence[i]]) continue;
            for (int row = 0; row < s->dim; row++) mean[row] += s->square[i * s->dim + row];
            count++;
        }
        if (f->matrix) {
            shift_constant(f, s, mean, (double)CT_MAX(1, count), fit.weight);
            continue;
        }
        for (int32_t i = 0; i < o->m; i++) { /* rows of this model */
            double shift = 0;
            int    rows = 0;
            for (int row = 0; row < s->dim; row++)
                if (ct_theta_find(o->theta, g, row) == i) {
                    shift += fit.log_v[row] - log(mean[row] / (double)CT_MAX(1, count));
                    rows++;
                }
            if (rows) p[i] += shift / rows;
        }
    }
    ct__copy_ties(o->weights, l->same, w);
    if (errors) ct__copy_ties(o->weights, l->same, errors);
    ct_theta_project(o->theta, CT_SPACE_LOG, p);
    return CT_OK;
}

/* ---- Tracking ---- */

/* Diagonal of the prior: as learning weighs log variances, 2 L N_i / mean N, with the information of each weight. */
static void set_prior(const learning *l, double loss, double *p_weight, double *w_weight)
{
    const ct_outer *o = l->outer;
    double          mean = 0;
    for (int32_t k = 0; k < l->models; k++) mean += (double)l->squares[k].count / l->models;
    for (int32_t i = 0; i < o->m; i++) p_weight[i] = 2 * loss;
    for (int32_t k = 0; k < l->models; k++) {
        const ct__squares *s = &l->squares[k];
        const ct_function *f = ct_noise_get(o->noise, l->model[k])->function;
        double            *to = w_weight + o->weight_of[l->model[k]], *g = l->room;
        for (int j = 0; j < f->weights; j++) to[j] = 1e-6 * loss;
        const int64_t stride = CT_MAX(1, s->count / 500); /* a few hundred samples are enough */
        for (int64_t i = 0; i < s->count; i += stride)
            for (int out = 0; out < f->outputs; out++) {
                double d[CT_FUNCTION_OUTPUTS_MAX] = {0};
                d[out] = 1;
                for (int j = 0; j < f->weights; j++) g[j] = 0;
                ct_function_gradient(f, s->x + i * s->features, d, g);
                for (int j = 0; j < f->weights; j++)
                    to[j] += 2 * loss * g[j] * g[j] * (double)stride / CT_MAX(1, mean);
            }
    }
    ct__average_ties(o->weights, l->same, w_weight);
    ct__copy_ties(o->weights, l->same, w_weight);
}

static ct_status track(const learning *l, const uint8_t *part, double *p, double *w)
{
    ct_outer *o = l->outer;
    const int64_t n = o->m + o->weights;
    double   *copy = ct__zalloc(3 * n, sizeof *copy), F;
    if (!copy) return ct__no_memory(l->err, "weights", n);
    memcpy(copy, p, (size_t)o->m * sizeof *p);
    memcpy(copy + o->m, w, (size_t)o->weights * sizeof *w);
    ct__tracking t = {.outer = o,
                      .weights = o->weights,
                      .part = part,
                      .p0 = copy,
                      .w0 = copy + o->m,
                      .p_weight = copy + n,
                      .w_weight = copy + n + o->m,
                      .evaluations = l->options->evaluations,
                      .few = l->options->gauss_newton,
                      .same = l->same,
                      .err = l->err};
    ct_status status = ct__tracking_value(&t, p, w, &F, copy + 2 * n, copy + 2 * n + o->m);
    if (status == CT_OK && isfinite(F)) {
        set_prior(l, F, copy + n, copy + n + o->m);
        t.nu = l->options->prior;
        status = ct__track(&t, p, w);
        l->result->evaluations += t.used;
    }
    free(copy);
    return status;
}

/* ---- The choice ---- */

static ct_status score(learning *l, const double *p, const double *w, const uint8_t *held, ct_evaluation *seen,
                       ct__score *out)
{
    ct_outer *o = l->outer;
    CT_TRY(ct__outer_set_weights(o, w, l->err));
    CT_TRY(ct_outer_validate(o, p, held, &l->deployment, 0, seen, l->err));
    for (int32_t i = 0; i < o->count; i++)
        if (held[i]) ct__score_evaluation(&seen[i], &out[i]);
    return CT_OK;
}

static ct_status score_fold(learning *l, int fold, int folds, uint8_t *part, ct_evaluation *seen, ct__scores *s)
{
    ct_outer     *o = l->outer;
    const int64_t n = o->count;
    uint8_t      *train = part, *held = part + n;
    double       *p = ct__zalloc((int64_t)o->m + 2 * o->weights, sizeof *p), *w = p + o->m, *zero = w + o->weights;
    if (!p) return ct__no_memory(l->err, "weights", o->weights);
    for (int64_t i = 0; i < n; i++) {
        const int64_t of = l->groups > 1 ? l->group[i] % folds : i * folds / n;
        held[i] = of == fold;
        train[i] = of != fold;
    }
    ct_status status = score(l, l->p, zero, held, seen, s->score + CONSTANT * n);
    if (status == CT_OK) status = regress(l, train, w, NULL, p);
    if (status == CT_OK) status = score(l, p, w, held, seen, s->score + REGRESSION * n);
    if (status == CT_OK && l->options->tracking) {
        status = ct__outer_set_weights(o, w, l->err);
        if (status == CT_OK) status = track(l, train, p, w);
        if (status == CT_OK) status = score(l, p, w, held, seen, s->score + TRACKING * n);
    } else if (status == CT_OK)
        for (int64_t i = 0; i < n; i++)
            if (held[i]) s->score[TRACKING * n + i] = s->score[REGRESSION * n + i];
    free(p);
    return status;
}

static void record(learning *l, const ct__scores *s, int tracked)
{
    static const int OF[] = {[CT_CONDITIONAL_CONSTANT] = CONSTANT, [CT_CONDITIONAL_REGRESSION] = REGRESSION,
                             [CT_CONDITIONAL_TRACKING] = TRACKING};
    for (int k = 0; k < CT_CONDITIONAL_COUNT; k++) {
        if (k == CT_CONDITIONAL_TRACKING && !tracked) continue;
        const ct__paired d = ct__compare(s, OF[k], CONSTANT, CT_METRIC_LOSS);
        double           sum = 0;
        for (int32_t i = 0; i < s->n; i++) sum += s->score[OF[k] * (int64_t)s->n + i].loss / s->n;
        l->result->heldout[k] = sum;
        l->result->log_ratio[k] = d.mean;
        l->result->log_ratio_error[k] = d.error;
        l->result->translation_ratio[k] = exp(ct__compare(s, OF[k], CONSTANT, CT_METRIC_TRANSLATION).mean);
    }
}

static ct_status choose(learning *l)
{
    ct_outer      *o = l->outer;
    const int      folds = CT_MIN(l->options->folds, l->groups > 1 ? l->groups : o->count);
    ct_evaluation *seen = ct__zalloc(o->count, sizeof *seen);
    uint8_t       *part = ct__zalloc(2 * (int64_t)o->count, 1);
    ct__scores     s = {0};
    ct_choice      verdict[CANDIDATES];
    l->result->chosen = CT_CONDITIONAL_CONSTANT;
    ct_status status = seen && part ? ct__scores_new(o, CANDIDATES, &s, l->err) : ct__no_memory(l->err, "folds", folds);
    for (int fold = 0; status == CT_OK && folds > 1 && fold < folds; fold++)
        status = score_fold(l, fold, folds, part, seen, &s);
    if (status == CT_OK && folds > 1) {
        const int k = ct__choose_candidate(&s, REGRESSION, CONSTANT, 1, verdict);
        l->result->chosen = k == CONSTANT     ? CT_CONDITIONAL_CONSTANT
                            : k == REGRESSION ? CT_CONDITIONAL_REGRESSION
                                              : CT_CONDITIONAL_TRACKING;
        if (!l->options->tracking && k == TRACKING) l->result->chosen = CT_CONDITIONAL_REGRESSION;
        record(l, &s, l->options->tracking);
    }
    ct__scores_free(&s);
    free(seen);
    free(part);
    return status;
}

/* ---- The result ---- */

static void name_term(const ct_function *f, int j, char *text, size_t size)
{
    const ct_function_term *t = &f->term[j];
    if (f->kind == CT_FUNCTION_NETWORK) snprintf(text, size, "network");
    else if (t->a < 0) snprintf(text, size, "constant");
    else if (t->hat) snprintf(text, size, "%s at %.4g", f->feature[t->a].name, t->at);
    else
        snprintf(text, size, "%s%s%s", f->feature[t->a].name, t->b < 0 ? "" : "*",
                 t->b < 0 ? "" : f->feature[t->b].name);
}

/* The entry of U that an output is. */
static void find_entry(int dim, int output, ct_conditional_term *t)
{
    int i = 0;
    for (; output >= dim - i; i++) output -= dim - i;
    t->row = i;
    t->column = i + output;
}

static ct_status list_terms(learning *l, const double *w, const double *errors)
{
    const ct_outer *o = l->outer;
    int32_t         terms = 0;
    for (int32_t k = 0; k < l->models; k++) {
        const ct_function *f = ct_noise_get(o->base, l->model[k])->function;
        terms += f->kind == CT_FUNCTION_NETWORK ? f->outputs : f->weights;
    }
    ct_conditional_term *t = l->result->term = ct__zalloc(CT_MAX(1, terms), sizeof *t);
    if (!t) return ct__no_memory(l->err, "terms", terms);
    for (int32_t k = 0; k < l->models; k++) {
        const ct_function *f = ct_noise_get(o->base, l->model[k])->function;
        const int          each = f->kind == CT_FUNCTION_NETWORK ? 1 : f->terms;
        for (int out = 0; out < f->outputs; out++)
            for (int j = 0; j < each; j++, t++) {
                const int64_t at = o->weight_of[l->model[k]] + (int64_t)out * each + j;
                const int     net = f->kind == CT_FUNCTION_NETWORK;
                *t = (ct_conditional_term){.model = l->model[k], .row = f->outputs == 1 ? -1 : out, .column = -1,
                                           .weight = net ? NAN : w[at], .error = net ? NAN : errors[at]};
                t->deviance = net ? NAN : 0.5 * (t->weight / t->error) * (t->weight / t->error) /
                                              (double)CT_MAX(1, l->squares[k].count);
                name_term(f, j, t->term, sizeof t->term);
                if (f->matrix) find_entry(ct_noise_get(o->base, l->model[k])->dim, out, t);
            }
    }
    l->result->terms = terms;
    return CT_OK;
}

/* Learns from all sequences what was chosen. */
static ct_status finish(learning *l)
{
    ct_outer *o = l->outer;
    double   *p = ct__zalloc((int64_t)o->m + 2 * o->weights, sizeof *p), *w = p + o->m, *errors = w + o->weights;
    if (!p) return ct__no_memory(l->err, "weights", o->weights);
    ct_status status = regress(l, NULL, w, errors, p);
    if (status == CT_OK && l->result->chosen == CT_CONDITIONAL_TRACKING) {
        status = ct__outer_set_weights(o, w, l->err);
        if (status == CT_OK) status = track(l, NULL, p, w);
    }
    if (status == CT_OK) status = list_terms(l, w, errors);
    const int constant = l->result->chosen == CT_CONDITIONAL_CONSTANT;
    for (int32_t g = 0; status == CT_OK && g < o->models; g++) {
        if (o->weight_of[g] < 0) continue;
        status = constant ? ct_noise_set_function(l->noise, g, NULL, l->err)
                          : ct_noise_set_weights(l->noise, g, w + o->weight_of[g], l->err);
    }
    if (status == CT_OK && !constant) status = ct_theta_apply(o->theta, p, l->noise, l->err);
    free(p);
    return status;
}

/* ---- All ---- */

ct_status ct__matrix_base(ct_noise *noise, int32_t model, ct_err *err)
{
    const ct_noise_model *m = ct_noise_get(noise, model);
    const double         *unit = m->function->unit;
    double                S[CT_NOISE_DIM_MAX * CT_NOISE_DIM_MAX] = {0};
    if (m->kind != CT_NOISE_FULL) {
        for (int i = 0; i < m->dim; i++) S[i] = unit[i] * unit[i];
        return ct_noise_set_variance(noise, model, S, err);
    }
    for (int i = 0; i < m->dim; i++) S[i * (m->dim + 1)] = unit[i] * unit[i];
    return ct_noise_set_covariance(noise, model, S, err);
}

/* l->base <- the constant answer, models with matrix functions without their correlations. */
static ct_status find_base(learning *l)
{
    ct_outer *o = l->outer;
    ct_noise *copy = NULL;
    CT_TRY(ct_noise_copy(o->base, &copy, l->err));
    ct_status status = CT_OK;
    for (int32_t g = 0; status == CT_OK && g < o->models; g++)
        if (o->weight_of[g] >= 0 && ct_noise_get(copy, g)->function->matrix) status = ct__matrix_base(copy, g, l->err);
    if (status == CT_OK) ct_theta_get(o->theta, copy, l->base);
    ct_noise_free(copy);
    return status;
}

/* l->same, if any weights are one. */
static ct_status find_ties(learning *l)
{
    const ct_outer *o = l->outer;
    int             any = 0;
    int32_t        *same = ct__zalloc(CT_MAX(1, o->weights), sizeof *same);
    if (!same) return ct__no_memory(l->err, "weights", o->weights);
    for (int32_t g = 0; g < o->models; g++) {
        int row[CT_FUNCTION_ROWS_MAX];
        if (o->weight_of[g] < 0) continue;
        ct__tied_rows(o->theta, g, row);
        ct__weight_ties(ct_noise_get(o->base, g)->function, row, o->weight_of[ct__tied_model(o->theta, o->base, g)],
                        same + o->weight_of[g]);
    }
    for (int32_t i = 0; i < o->weights; i++) any |= same[i] != i;
    if (any) l->same = same;
    else free(same);
    return CT_OK;
}

static ct_status prepare(learning *l)
{
    ct_outer *o = l->outer;
    int       widest = 1;
    l->model = ct__zalloc(o->models, sizeof *l->model);
    l->squares = ct__zalloc(o->models, sizeof *l->squares);
    l->ridge = ct__zalloc(o->models, sizeof *l->ridge);
    l->group = ct__zalloc(o->count, sizeof *l->group);
    l->p = ct__zalloc(o->m, sizeof *l->p);
    l->base = ct__zalloc(o->m, sizeof *l->base);
    const ct_sequence **seq = ct__zalloc(o->count, sizeof *seq);
    ct_status status = l->model && l->squares && l->ridge && l->group && l->p && l->base && seq
                           ? ct__outer_groups(o, l->group, &l->groups, l->err)
                           : ct__no_memory(l->err, "noise models", o->models);
    for (int32_t i = 0; status == CT_OK && i < o->count; i++) seq[i] = o->inner[i].seq;
    if (status == CT_OK) ct_theta_get(o->theta, o->base, l->p);
    if (status == CT_OK) status = find_base(l);
    if (status == CT_OK) status = find_ties(l);
    for (int32_t g = 0; status == CT_OK && g < o->models; g++) {
        const ct_noise_model *m = ct_noise_get(o->base, g);
        if (o->weight_of[g] < 0 || ct__tied_model(o->theta, o->base, g) != g) continue;
        const int32_t k = l->models++;
        l->model[k] = g;
        ct__squares_begin(o->theta, o->base, g, &l->squares[k]);
        for (int32_t h = g; status == CT_OK && h < o->models; h++)
            if (o->weight_of[h] >= 0 && ct__tied_model(o->theta, o->base, h) == g)
                status = ct__squares_at_truth(o->count, seq, o->base, h, &l->squares[k], l->err);
        if (status == CT_OK && l->squares[k].count == 0) /* a sensor with a bias: its states have no truth */
            status = ct__squares_with_states(o, seq, l->group, l->groups, l->options->seed, g, &l->squares[k], l->err);
        if (status == CT_OK && l->squares[k].count == 0)
            status = ct_fail(l->err, CT_E_ARGUMENT,
                             "noise model %s: the truth determines none of its residuals, so that no function of "
                             "features can be fitted to them",
                             m->name);
        if (status == CT_OK && m->function->kind != CT_FUNCTION_NETWORK)
            status = ct__choose_ridge(m->function, &l->squares[k], NULL, l->group, l->groups, &l->ridge[k], l->err);
        widest = CT_MAX(widest, m->function->weights);
    }
    l->room = status == CT_OK ? ct__zalloc(widest, sizeof *l->room) : NULL;
    if (status == CT_OK && !l->room) status = ct__no_memory(l->err, "weights", widest);
    free(seq);
    return status;
}

static ct_status without_truth(learning *l)
{
    const ct_outer     *o = l->outer;
    const ct_sequence **seq = ct__zalloc(o->count, sizeof *seq);
    l->group = ct__zalloc(o->count, sizeof *l->group);
    ct_status status = seq && l->group ? ct__outer_groups(o, l->group, &l->groups, l->err)
                                       : ct__no_memory(l->err, "sequences", o->count);
    for (int32_t i = 0; status == CT_OK && i < o->count; i++) seq[i] = o->inner[i].seq;
    if (status == CT_OK)
        status = ct__learn_without_truth_functions(o, seq, l->group, l->groups, l->options->seed, l->noise, l->result,
                                                   l->err);
    l->result->recordings = l->groups;
    free(seq);
    return status;
}

static ct_status run(learning *l)
{
    CT_TRY(ct__outer_watch_weights(l->outer, l->err));
    if (l->outer->weights == 0)
        return ct_fail(l->err, CT_E_ARGUMENT, "no noise model that is learned has a function of features");
    if (l->outer->options.no_truth) return without_truth(l);
    CT_TRY(ct__outer_deployment(l->outer, &l->deployment, l->err));
    CT_TRY(prepare(l));
    l->result->models = l->models;
    l->result->recordings = l->groups;
    l->result->ridge = l->models ? l->ridge[0] : NAN;
    if (l->options->folds > 0) CT_TRY(choose(l));
    else l->result->chosen = CT_CONDITIONAL_REGRESSION;
    return finish(l);
}

ct_conditional_options ct_conditional_defaults(void)
{
    return (ct_conditional_options){.folds = 5,
                                    .tracking = 1,
                                    .evaluations = 20,
                                    .gauss_newton = 60,
                                    .prior = 0.1,
                                    .seed = 1,
                                    .jobs = 1,
                                    .deployment = ct_inference_defaults()};
}

const char *ct_conditional_name(ct_conditional_candidate candidate)
{
#define X(constant, name, meaning) name,
    static const char *const NAME[] = {CT_CONDITIONAL_LIST(X)};
#undef X
    return (unsigned)candidate < CT_CONDITIONAL_COUNT ? NAME[candidate] : "?";
}

void ct_conditional_result_free(ct_conditional_result *r)
{
    if (!r) return;
    free(r->term);
    *r = (ct_conditional_result){0};
}

/* Matrix functions get the sigmas of their models as units; their weights are learned anew. */
static void set_units(const ct_theta *theta, const ct_noise *noise)
{
    for (int32_t g = 0; g < ct_noise_count(noise); g++) {
        const ct_noise_model *m = ct_noise_get(noise, g);
        if (!m->function || !m->function->matrix || !ct_theta_learns(theta, g)) continue;
        for (int i = 0; i < m->dim; i++) ((ct_function *)m->function)->unit[i] = ct_noise_sigma(m, i);
        ct__noise_update_cuts(m);
    }
}

ct_status ct_conditional_learn(int32_t count, const ct_sequence *const seq[], const ct_theta *theta,
                               const ct_outer_options *outer, const ct_conditional_options *options, ct_noise *noise,
                               ct_conditional_result *result, ct_err *err)
{
    const ct_conditional_options usual = ct_conditional_defaults();
    learning l = {.options = options ? options : &usual, .result = result, .noise = noise, .err = err};
    *result = (ct_conditional_result){.ridge = NAN};
    for (int k = 0; k < CT_CONDITIONAL_COUNT; k++)
        result->heldout[k] = result->log_ratio[k] = result->log_ratio_error[k] = result->translation_ratio[k] = NAN;
    l.deployment = l.options->deployment;
    CT_TRY(ct_conditional_check(theta, noise, err));
    CT_TRY(ct__check_spread_bounds(theta, err));
    set_units(theta, noise);
    ct__share_forms(theta, noise);
    ct_status status = ct_outer_new(count, seq, noise, theta, outer, &l.outer, err);
    if (status == CT_OK) status = run(&l);
    for (int32_t k = 0; l.squares && k < l.models; k++) ct__squares_free(&l.squares[k]);
    void *const owned[] = {l.model, l.squares, l.ridge, l.group, l.p, l.base, l.room, l.same};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    ct_outer_free(l.outer);
    return status;
}

/* ---- The gradient alone ---- */

int32_t ct_conditional_weights(const ct_theta *theta, const ct_noise *noise)
{
    int32_t weights = 0;
    for (int32_t g = 0; g < ct_noise_count(noise); g++) {
        const ct_function *f = ct_noise_get(noise, g)->function;
        if (f && ct_theta_learns(theta, g)) weights += f->weights;
    }
    return weights;
}

/* Loss, gradients and, unless NULL, the Gauss-Newton matrix at the values of a table. */
static ct_status differentiate(int32_t count, const ct_sequence *const seq[], const ct_theta *theta,
                               const ct_outer_options *outer, const ct_noise *noise, double *loss, double *gradient,
                               double *weight_gradient, double *matrix, ct_err *err)
{
    ct_outer *o = NULL;
    CT_TRY(ct_outer_new(count, seq, noise, theta, outer, &o, err));
    const int64_t n = (int64_t)o->m + CT_MAX(1, ct_conditional_weights(theta, noise));
    double       *p = ct__zalloc(2 * n, sizeof *p), own;
    ct_status     status = p ? ct__outer_watch_weights(o, err) : ct__no_memory(err, "parameters", o->m);
    if (status == CT_OK) {
        ct__tracking t = {.outer = o, .weights = o->weights, .err = err};
        ct_theta_get(theta, noise, p);
        ct__outer_get_weights(o, p + o->m);
        status = ct__tracking_value(&t, p, p + o->m, loss ? loss : &own, gradient ? gradient : p + n,
                                    weight_gradient ? weight_gradient : p + n + o->m);
    }
    if (status == CT_OK && matrix) status = ct__outer_weight_matrix(o, matrix, err);
    free(p);
    ct_outer_free(o);
    return status;
}

ct_status ct_conditional_gradient(int32_t count, const ct_sequence *const seq[], const ct_theta *theta,
                                  const ct_outer_options *outer, const ct_noise *noise, double *loss,
                                  double *gradient, double *weight_gradient, ct_err *err)
{
    return differentiate(count, seq, theta, outer, noise, loss, gradient, weight_gradient, NULL, err);
}

ct_status ct_conditional_matrix(int32_t count, const ct_sequence *const seq[], const ct_theta *theta,
                                const ct_outer_options *outer, const ct_noise *noise, double *matrix, ct_err *err)
{
    return differentiate(count, seq, theta, outer, noise, NULL, NULL, NULL, matrix, err);
}
