/* functions.c: --model: functions of features, learned before the run's method learns variances under them.
 *
 * The constant models are learned first, as without the option: they are the start, and what a function has to beat on
 * held-out recordings. Everything is a function of data and options, so that a resumed run computes the same again. */
#define _POSIX_C_SOURCE 200809L
#include "cli/learn/learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BETWEEN " ;\t\n"

/* Bounds of the eigenvalues of a full covariance, in the table's numbers: where rows have units, the tightest. A matrix
 * function has units itself, and finds the tightest. */
static ct_status find_full_bounds(const ct_theta *theta, int32_t model, int dim, int matrix, double lower[],
                                  double upper[], ct_err *err)
{
    ct_theta_jacobian *slopes = NULL;
    double             low = 0, high = INFINITY, least = INFINITY, most = 0;
    const ct_status    status = ct_theta_jacobian_new(theta, &slopes, err);
    if (status != CT_OK) return status;
    double *p = cli_alloc(ct_theta_count(theta) + 1, sizeof *p);
    ct_theta_jacobian_at(theta, p, slopes);
    if (slopes->first[model] < slopes->first[model + 1])
        ct_theta_bounds(theta, slopes->parameter[slopes->first[model]], &low, &high);
    for (int i = 0; i < dim; i++) {
        const double unit = ct_theta_unit(theta, model, i);
        least = fmin(least, unit * unit);
        most = fmax(most, unit * unit);
    }
    for (int i = 0; i < dim; i++) {
        const double unit = ct_theta_unit(theta, model, i);
        lower[i] = low * (matrix ? unit * unit : most);
        upper[i] = high * (matrix ? unit * unit : least);
    }
    free(p);
    free(slopes);
    return CT_OK;
}

/* Bounds of a row's variance in the table's numbers, where it has a parameter. */
static ct_status find_bounds(const ct_theta *theta, int32_t model, int dim, int matrix, double lower[], double upper[],
                             ct_err *err)
{
    int found = 0;
    for (int i = 0; i < dim; i++) found |= ct_theta_find(theta, model, i) >= 0;
    if (!found) return find_full_bounds(theta, model, dim, matrix, lower, upper, err);
    for (int i = 0; i < dim; i++) {
        const int32_t p = ct_theta_find(theta, model, i);
        const double  unit = ct_theta_unit(theta, model, i);
        lower[i] = 0;
        upper[i] = INFINITY;
        if (p < 0) continue;
        ct_theta_bounds(theta, p, &lower[i], &upper[i]);
        lower[i] *= unit * unit;
        upper[i] *= unit * unit;
    }
    return CT_OK;
}

/* 1 if all rows of a model of several have one variance. */
static int is_one(const ct_theta *theta, int32_t model, int dim)
{
    int same = dim > 1 && ct_theta_find(theta, model, 0) >= 0;
    for (int i = 1; i < dim; i++) same = same && ct_theta_find(theta, model, i) == ct_theta_find(theta, model, 0);
    return same;
}

static int is_part_of(const char *name, const char *group, size_t n)
{
    return !strncmp(name, group, n) && (!name[n] || name[n] == '@');
}

/* "gps=linear:hdop" for the models gps and gps@... */
static ct_status apply_one(const learn_job *job, const char *word, ct_noise *noise, ct_err *err)
{
    const char *sign = strchr(word, '=');
    int         found = 0;
    if (!sign || sign == word)
        return ct_fail(err, CT_E_ARGUMENT, "--model is NAME=FORM, such as gps=linear:hdop; found \"%s\"", word);
    const size_t n = (size_t)(sign - word);
    for (int32_t g = 0; g < ct_noise_count(noise); g++) {
        const ct_noise_model *m = ct_noise_get(noise, g);
        double                lower[CT_NOISE_DIM_MAX], upper[CT_NOISE_DIM_MAX];
        if (!is_part_of(m->name, word, n)) continue;
        if (!ct_theta_learns(job->theta, g))
            return ct_fail(err, CT_E_ARGUMENT,
                           "--model %s: noise model %s is not learned: it is frozen by --freeze or dataset.yaml, or no "
                           "factor of the training set uses it",
                           word, m->name);
        const int matrix = strstr(sign, "/matrix") != NULL;
        const int one = is_one(job->theta, g, m->dim) && !strstr(sign, "/shared") && !matrix;
        char     *form = cli_alloc((int64_t)strlen(sign) + 8, 1);
        snprintf(form, strlen(sign) + 8, "%s%s", sign + 1, one ? "/shared" : "");
        ct_status status = find_bounds(job->theta, g, m->dim, matrix, lower, upper, err);
        if (status == CT_OK)
            status = ct_conditional_form(job->dataset->trains, (const ct_sequence *const *)job->dataset->train, noise,
                                         g, form, lower, upper, err);
        free(form);
        if (status != CT_OK) return status;
        found = 1;
    }
    if (found) return CT_OK;
    return ct_fail(err, CT_E_ARGUMENT, "--model %s: there is no noise model %.*s; `covtune info` of the dataset lists "
                   "them", word, (int)n, word);
}

static ct_status apply_forms(const learn_job *job, const char *text, ct_noise *noise, ct_err *err)
{
    char     *copy = cli_check_alloc(strdup(text)), *rest = NULL;
    ct_status status = CT_OK;
    for (char *word = strtok_r(copy, BETWEEN, &rest); word && status == CT_OK; word = strtok_r(NULL, BETWEEN, &rest))
        status = apply_one(job, word, noise, err);
    free(copy);
    return status;
}

/* Forms of dataset.yaml, as the option has them; NULL: none. */
static char *forms_of(const ct_dataset *d)
{
    size_t length = 1;
    for (int32_t i = 0; i < d->groups; i++)
        if (d->group[i].model) length += strlen(d->group[i].name) + strlen(d->group[i].model) + 2;
    if (length == 1) return NULL;
    char *text = cli_alloc((int64_t)length, 1), *at = text;
    for (int32_t i = 0; i < d->groups; i++)
        if (d->group[i].model)
            at += snprintf(at, length - (size_t)(at - text), "%s=%s ", d->group[i].name, d->group[i].model);
    return text;
}

ct_status learn_check_functions(const learn_request *request, learn_job *job, ct_err *err)
{
    ct_noise *noise = NULL;
    job->forms = request->model ? cli_check_alloc(strdup(request->model)) : forms_of(job->dataset);
    if (!job->forms) return CT_OK;
    ct_status status = ct_noise_copy(job->dataset->noise, &noise, err);
    if (status == CT_OK) status = apply_forms(job, job->forms, noise, err);
    if (status == CT_OK) status = ct_conditional_check(job->theta, noise, err);
    ct_noise_free(noise);
    return status;
}

/* A limit of the spread becomes bounds around the constant answer: functions keep bounds for every measurement. */
static ct_status hold_spread(learn_job *job, const ct_noise *noise, ct_err *err)
{
    double *p = cli_alloc(ct_theta_count(job->theta) + 1, sizeof *p);
    ct_theta_get(job->theta, noise, p);
    const ct_status status = ct_theta_bound_spread(job->theta, p, err);
    free(p);
    return status;
}

ct_status learn_functions(const ct_outer_options *how, learn_job *job, ct_err *err)
{
    ct_noise        *noise = job->dataset->noise;
    ct_learn_result  constant = {0};
    ct_learn_options options = ct_learn_defaults();
    ct_conditional_options functions = ct_conditional_defaults();
    const ct_sequence *const *train = (const ct_sequence *const *)job->dataset->train;
    job->options.given = 0; /* the start of what follows is this answer, not the user's */
    options.deployment = functions.deployment = job->options.deployment;
    if (how->no_truth) options.method = CT_LEARN_LIKELIHOOD;
    functions.folds = options.folds;
    functions.jobs = how->jobs;
    ct_status status = ct_learn(job->outer, &options, noise, &constant, err);
    ct_learn_result_free(&constant);
    if (status == CT_OK) status = hold_spread(job, noise, err);
    if (status == CT_OK) status = apply_forms(job, job->forms, noise, err);
    if (status == CT_OK)
        status = ct_conditional_learn(job->dataset->trains, train, job->theta, how, &functions, noise,
                                      &job->functions, err);
    if (status != CT_OK) return status;
    ct_outer_free(job->outer);
    job->outer = NULL;
    return ct_outer_new(job->dataset->trains, train, noise, job->theta, how, &job->outer, err);
}

/* ---- The result ---- */

json_t *learn_functions_json(const learn_job *job)
{
    const ct_conditional_result *r = &job->functions;
    json_t *o = cli_object(), *candidates = cli_object(), *terms = cli_array();
    cli_put(o, "chosen", cli_text(ct_conditional_name(r->chosen)));
    for (int k = 0; k < CT_CONDITIONAL_COUNT; k++) {
        json_t *one = cli_object();
        cli_put(one, "heldout", cli_number(r->heldout[k]));
        cli_put(one, "log_ratio", cli_number(r->log_ratio[k]));
        cli_put(one, "log_ratio_error", cli_number(r->log_ratio_error[k]));
        cli_put(one, "translation_ratio", cli_number(r->translation_ratio[k]));
        cli_put(candidates, ct_conditional_name((ct_conditional_candidate)k), one);
    }
    for (int32_t i = 0; i < r->terms; i++) {
        const ct_noise_model *m = ct_noise_get(job->start, r->term[i].model);
        const int             row = r->term[i].row;
        json_t               *one = cli_object();
        cli_put(one, "model", cli_text(m->name));
        const int column = r->term[i].column;
        if (row >= 0) cli_put(one, "row", m->row ? cli_text(m->row[row].name) : cli_integer(row));
        if (column >= 0) cli_put(one, "column", m->row ? cli_text(m->row[column].name) : cli_integer(column));
        cli_put(one, "term", cli_text(r->term[i].term));
        cli_put(one, "weight", cli_number(r->term[i].weight));
        cli_put(one, "standard_error", cli_number(r->term[i].error));
        cli_append(terms, one);
    }
    cli_put(o, "candidates", candidates);
    cli_put(o, "ridge", cli_number(r->ridge));
    cli_put(o, "terms", terms);
    return o;
}

/* Why the constant models stay, and what the weights above are then. */
static void print_constant(const ct_conditional_result *r)
{
    if (r->chosen != CT_CONDITIONAL_CONSTANT) return;
    const int none = r->recordings < 2 && isnan(r->heldout[CT_CONDITIONAL_CONSTANT]) &&
                     isnan(r->log_ratio[CT_CONDITIONAL_REGRESSION]);
    if (none)
        cli_row("", "constant models stay: there is one training sequence, and none to hold out; a function needs "
                    "others to show that it gains (split the recording into parts, or add recordings)");
    else
        cli_row("", "constant models stay: no function is better by more than its standard error on held-out "
                    "sequences");
    if (r->terms) cli_row("", "the weights above are of the regression, and in no noise model");
}

void learn_print_functions(const learn_job *job)
{
    const ct_conditional_result *r = &job->functions;
    printf("%-13s %-9s %-24s %10s %10s\n", "function of", "row", "term", "weight", "+-");
    for (int32_t i = 0; i < r->terms; i++) {
        const ct_noise_model *m = ct_noise_get(job->start, r->term[i].model);
        const int             row = r->term[i].row, first = i == 0 || r->term[i - 1].model != r->term[i].model;
        const int             column = r->term[i].column;
        char                  number[48];
        snprintf(number, sizeof number, "%d", row);
        if (column >= 0 && m->row) snprintf(number, sizeof number, "%s,%s", m->row[row].name, m->row[column].name);
        else if (column >= 0) snprintf(number, sizeof number, "%d,%d", row, column);
        const char *name = row < 0 ? "all" : m->row && column < 0 ? m->row[row].name : number;
        if (isnan(r->term[i].weight)) printf("%-13s %-9s %-24s\n", first ? m->name : "", name, r->term[i].term);
        else
            printf("%-13s %-9s %-24s %10.4g %10.2g%s\n", first ? m->name : "", name, r->term[i].term, r->term[i].weight,
                   r->term[i].error, fabs(r->term[i].weight) < 2 * r->term[i].error ? "  not seen in the data" : "");
    }
    for (int k = 0; k < CT_CONDITIONAL_COUNT; k++) {
        if (isnan(r->heldout[k])) continue;
        cli_row(k == 0 ? "candidates" : "", "%-10s held out %.5g, loss %+.1f +- %.1f %%, position error %+.1f %%%s",
                ct_conditional_name((ct_conditional_candidate)k), r->heldout[k], 100 * expm1(r->log_ratio[k]),
                100 * r->log_ratio_error[k], 100 * (r->translation_ratio[k] - 1),
                (int)r->chosen == k ? "  chosen" : "");
    }
    print_constant(r);
}
