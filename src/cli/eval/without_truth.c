/* without_truth.c: what a log says without truth: chi-square and innovations by noise model, and the score by which two
 * noise tables are compared. */
#include "cli/eval/eval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- groups of models ---- */

/* Is it the name of the group: up to '#'? */
static int is_group(const char *model, const char *other)
{
    const size_t n = strcspn(model, "#");
    return n == strcspn(other, "#") && !strncmp(model, other, n);
}

void eval_group_models(eval_column *column, int32_t count)
{
    const int32_t models = ct_noise_count(column->noise);
    column->group_of = cli_alloc(models, sizeof *column->group_of);
    column->first = cli_alloc(models, sizeof *column->first);
    for (int32_t g = 0; g < models; g++) {
        const char *name = ct_noise_get(column->noise, g)->name;
        int32_t     k = column->groups - 1;
        /* numbered models stand together: the last groups are looked at first */
        while (k >= 0 && !is_group(name, ct_noise_get(column->noise, column->first[k])->name)) k--;
        if (k < 0) column->first[k = column->groups++] = g;
        column->group_of[g] = k;
    }
    column->sum = cli_alloc((int64_t)column->groups * count, sizeof *column->sum);
}

void eval_keep_sums(eval_column *column, int32_t i, const ct_estimate *estimate)
{
    if (!estimate->innovation) return;
    for (int32_t g = 0; g < ct_noise_count(column->noise); g++) {
        eval_sum           *to = &column->sum[(int64_t)i * column->groups + column->group_of[g]];
        const ct_model_fit *fit = &estimate->fit[g];
        to->fit.factors += fit->factors;
        for (int row = 0; row < CT_NOISE_DIM_MAX; row++) {
            to->fit.chi_squared[row] += fit->chi_squared[row];
            to->fit.leverage[row] += fit->leverage[row];
        }
        ct_innovation_add(&estimate->innovation[g], &to->innovation);
    }
}

/* Over the sequences of the means, in their order. */
static eval_sum sum_of(const eval_job *job, const eval_column *column, int32_t group)
{
    eval_sum sum = {0};
    for (int32_t i = 0; i < job->count; i++) {
        const eval_sum *from = &column->sum[(int64_t)i * column->groups + group];
        if (!job->use[i]) continue;
        sum.fit.factors += from->fit.factors;
        for (int row = 0; row < CT_NOISE_DIM_MAX; row++) {
            sum.fit.chi_squared[row] += from->fit.chi_squared[row];
            sum.fit.leverage[row] += from->fit.leverage[row];
        }
        ct_innovation_add(&from->innovation, &sum.innovation);
    }
    return sum;
}

ct_score_difference eval_score(const eval_job *job)
{
    ct_innovation *side[2];
    for (int k = 0; k < 2; k++) {
        side[k] = cli_alloc(job->count, sizeof *side[k]);
        for (int32_t i = 0; i < job->count; i++)
            if (job->use[i]) side[k][i] = job->column[k].of[i].innovation;
    }
    const ct_score_difference d = ct_innovation_compare(job->count, side[0], side[1]);
    free(side[0]);
    free(side[1]);
    return d;
}

/* ---- numbers of a row ---- */

enum { CHI_SQUARED, INNOVATION, BEYOND, RMS, NUMBERS };

static void row_numbers(const eval_sum *s, int row, double value[NUMBERS])
{
    const double degrees = s->fit.factors - s->fit.leverage[row], held = (double)s->innovation.measurements;
    value[CHI_SQUARED] = degrees > 1e-6 * s->fit.factors ? s->fit.chi_squared[row] / degrees : NAN;
    value[INNOVATION] = held > 0 ? s->innovation.row_ratio[row] / held : NAN;
    value[BEYOND] = held > 0 ? (double)s->innovation.row_beyond[row] / held : NAN;
    value[RMS] = held > 0 ? sqrt(s->innovation.row_square[row] / held) : NAN;
}

/* ---- JSON ---- */

json_t *eval_innovation_json(const ct_innovation *n)
{
    json_t *o = cli_object();
    cli_put(o, "measurements", cli_integer(n->measurements));
    cli_put(o, "rows", cli_integer(n->rows));
    cli_put(o, "normalised_per_row", cli_number(n->rows ? n->normalised / (double)n->rows : NAN));
    cli_put(o, "beyond_3_sigma", cli_number(n->rows ? (double)n->beyond / (double)n->rows : NAN));
    cli_put(o, "log_density", cli_number(n->rows ? n->log_density / (double)n->measurements : NAN));
    return o;
}

json_t *eval_smoothness_json(const ct_smoothness *s)
{
    json_t *o = cli_object();
    cli_put(o, "translation", cli_number(s->translation));
    cli_put(o, "rotation", cli_number(s->rotation));
    cli_put(o, "per", cli_text(isnan(s->translation) ? NULL : s->timed ? "s^2" : "step^2"));
    return o;
}

json_t *eval_models_json(const eval_job *job, const eval_column *column)
{
    static const char *const KEY[NUMBERS] = {"chi_squared_per_degree", "normalised", "beyond_3_sigma", "rms"};
    json_t                  *all = cli_object();
    for (int32_t k = 0; k < column->groups; k++) {
        const ct_noise_model *m = ct_noise_get(column->noise, column->first[k]);
        const eval_sum        s = sum_of(job, column, k);
        char                  name[256];
        json_t               *o = cli_object(), *list[NUMBERS];
        if (!(s.fit.factors > 0)) {
            json_decref(o);
            continue;
        }
        for (int n = 0; n < NUMBERS; n++) list[n] = cli_array();
        for (int row = 0; row < m->dim; row++) {
            double value[NUMBERS];
            row_numbers(&s, row, value);
            for (int n = 0; n < NUMBERS; n++) cli_append(list[n], cli_number(value[n]));
        }
        cli_put(o, "factors", cli_integer((int64_t)s.fit.factors));
        cli_put(o, "held_out", cli_integer(s.innovation.measurements));
        for (int n = 0; n < NUMBERS; n++) cli_put(o, KEY[n], list[n]);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(m->name, "#"), m->name);
        json_t *text = cli_text(name);
        cli_put(all, json_string_value(text), o); /* as UTF-8 */
        json_decref(text);
    }
    return all;
}

json_t *eval_score_json(const eval_job *job)
{
    const ct_score_difference d = eval_score(job);
    json_t                   *o = cli_object();
    cli_put(o, "difference", cli_number(d.difference));
    cli_put(o, "standard_error", cli_number(d.standard_error));
    cli_put(o, "pairs", cli_integer(d.pairs));
    cli_put(o, "of", cli_text(d.of_blocks ? "blocks" : "sequences"));
    return o;
}

/* ---- text ---- */

static void print_group(const ct_noise_model *m, const eval_sum *s)
{
    for (int row = 0; row < m->dim; row++) {
        double value[NUMBERS];
        char   number[24], name[64];
        snprintf(number, sizeof number, "%d", row);
        snprintf(name, sizeof name, "%.*s", (int)strcspn(m->name, "#"), m->name);
        const int named = m->row && m->row[row].name[0];
        row_numbers(s, row, value);
        printf("%-*.*s %-9s %-5s", EVAL_LABEL, EVAL_LABEL, row ? "" : name, named ? m->row[row].name : number,
               named ? m->row[row].unit : "");
        eval_print_number(s->fit.factors);
        eval_print_number(value[CHI_SQUARED]);
        eval_print_number((double)s->innovation.measurements);
        for (int n = INNOVATION; n < NUMBERS; n++) eval_print_number(value[n]);
        putchar('\n');
    }
}

void eval_print_models(const eval_job *job)
{
    static const char *const HEAD[] = {"factors", "chi-square", "held out", "innovation", "> 3 sigma", "rms"};
    for (int c = 0; c < job->columns; c++) {
        const eval_column *column = &job->column[c];
        printf("\n%-*s %-9s %-5s", EVAL_LABEL,
               job->columns == 1 ? "noise model" : c ? "against, model" : "noise, model", "row", "unit");
        for (size_t k = 0; k < sizeof HEAD / sizeof *HEAD; k++) printf(" %*s", EVAL_NUMBER, HEAD[k]);
        putchar('\n');
        for (int32_t k = 0; k < column->groups; k++) {
            const eval_sum s = sum_of(job, column, k);
            if (s.fit.factors > 0) print_group(ct_noise_get(column->noise, column->first[k]), &s);
        }
    }
}

void eval_print_score(const eval_job *job)
{
    const ct_score_difference d = eval_score(job);
    if (d.pairs < 2) {
        cli_row("score", "no two sequences or parts of one were predicted under both: there is no difference to test");
        return;
    }
    const double t = d.difference / d.standard_error;
    cli_row("score", "log density %+.4g +- %.2g against the other, in %d pairs of %s: %s", d.difference,
            d.standard_error, d.pairs, d.of_blocks ? "parts of one sequence" : "sequences",
            !(fabs(t) > 2) ? "the held-out measurements do not tell them apart by two standard errors"
            : t > 0        ? "better by more than two standard errors"
                           : "worse by more than two standard errors");
}
