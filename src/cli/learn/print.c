/* print.c: the result of learn, as JSON or as text. */
#include "cli/common/findings.h"
#include "cli/learn/learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON ---- */

static json_t *side(int8_t at_bound) { return at_bound ? cli_text(at_bound < 0 ? "lower" : "upper") : json_null(); }

static json_t *units_json(const ct_theta *theta, int32_t g, int dim)
{
    json_t *list = cli_array();
    for (int i = 0; i < dim; i++) cli_append(list, cli_number(ct_theta_unit(theta, g, i)));
    return list;
}

static json_t *two(const char *first, double a, const char *second, double b)
{
    json_t *o = cli_object();
    cli_put(o, first, cli_number(a));
    cli_put(o, second, cli_number(b));
    return o;
}

static json_t *model_json(const learn_job *job, int32_t g)
{
    const ct_noise_model *m = ct_noise_get(job->dataset->noise, g);
    double                standard_error[CT_NOISE_DIM_MAX];
    int8_t                at_bound[CT_NOISE_DIM_MAX];
    json_t               *o = cli_object(), *rows = cli_array(), *sides = cli_array();
    ct_learn_rows(job->theta, &job->result, g, standard_error, at_bound);
    for (int i = 0; i < m->dim; i++) {
        if (m->kind == CT_NOISE_FULL) cli_append(rows, cli_numbers(m->dim, m->covariance + i * m->dim));
        else cli_append(rows, cli_number(m->covariance[i]));
        cli_append(sides, side(at_bound[i]));
    }
    cli_put(o, m->kind == CT_NOISE_FULL ? "covariance" : "variance", rows);
    cli_put(o, "standard_error", cli_numbers(m->dim, standard_error));
    cli_put(o, "at_bound", sides);
    double chi[CT_NOISE_DIM_MAX], degrees[CT_NOISE_DIM_MAX];
    for (int i = 0; i < m->dim; i++)
        chi[i] = job->result.fit ? ct_model_fit_chi(m, &job->result.fit[g], i, &degrees[i]) : (degrees[i] = NAN);
    cli_put(o, "chi_squared", cli_numbers(m->dim, chi));
    cli_put(o, "degrees", cli_numbers(m->dim, degrees));
    if (m->robust.kind != CT_ROBUST_NONE) {
        json_t *robust = cli_object();
        cli_put(robust, "kind", cli_text(ct_robust_name(m->robust.kind)));
        cli_put(robust, "width", cli_number(m->robust.width));
        if (m->robust.ratio > 0) cli_put(robust, "ratio", cli_number(m->robust.ratio));
        if (m->robust.ratio > 0) cli_put(robust, "share", cli_number(ct_robust_share(m->robust, m->dim)));
        cli_put(o, "robust", robust);
    }
    if (m->bias && m->bias->tau > 0)
        cli_put(o, "time_constant", two("value", m->bias->tau, "log_standard_error", m->bias->tau_error));
    if (m->bias && m->bias->period > 0)
        cli_put(o, "period", two("value", m->bias->period, "log_standard_error", m->bias->period_error));
    if (ct_theta_has_units(job->theta)) cli_put(o, "unit_sigma", units_json(job->theta, g, m->dim));
    return o;
}

static json_t *loss_json(const ct_learn_result *r)
{
    json_t *o = two("start", r->loss_start, "closed_form", r->loss_closed_form);
    cli_put(o, "train", cli_number(r->loss_train));
    cli_put(o, "heldout", cli_number(r->loss_heldout));
    cli_put(o, "heldout_closed_form", cli_number(r->loss_heldout_closed_form));
    cli_put(o, "heldout_start", cli_number(r->loss_heldout_start));
    cli_put(o, "deployment", cli_number(r->loss_deployment));
    return o;
}

/* Models under the closed form: variances, of a full model the covariance. */
static json_t *closed_form_json(const learn_job *job)
{
    json_t   *o = cli_object();
    ct_noise *noise = NULL;
    ct_err    err = {0};
    if (ct_noise_copy(job->start, &noise, &err) != CT_OK) cli_check_alloc(NULL);
    const int put =
        job->result.closed_form && ct_theta_apply(job->theta, job->result.closed_form, noise, &err) == CT_OK;
    for (int32_t g = 0; put && g < ct_theta_models(job->theta); g++) {
        const ct_noise_model *m = ct_noise_get(noise, g);
        if (!ct_theta_learns(job->theta, g)) continue;
        json_t *model = cli_object(), *rows = cli_array();
        for (int i = 0; i < m->dim; i++)
            cli_append(rows, m->kind == CT_NOISE_FULL ? cli_numbers(m->dim, m->covariance + i * m->dim)
                                                      : cli_number(m->covariance[i]));
        cli_put(model, m->kind == CT_NOISE_FULL ? "covariance" : "variance", rows);
        cli_put(o, m->name, model);
    }
    ct_noise_free(noise);
    return o;
}

json_t *learn_json(const learn_request *request, const learn_job *job)
{
    const ct_learn_result *r = &job->result;
    json_t *o = cli_object(), *scale = two("wanted", r->scale_wanted, "applied", r->scale_applied),
           *consistency = cli_object(), *noise = cli_object();
    cli_put(scale, "from", cli_text(ct_scale_from_name(r->scale_from)));
    cli_put(scale, "nees", cli_number(r->scale_nees));
    cli_put(scale, "chi_squared", cli_number(r->scale_chi));
    cli_put(scale, "free", cli_check_alloc(json_boolean(r->scale_free)));
    cli_put(consistency, "heldout", cli_check_alloc(json_boolean(r->heldout)));
    cli_put(consistency, "chi_squared", two("before", r->chi_before, "after", r->chi_after));
    cli_put(consistency, "nees", two("before", r->nees_before, "after", r->nees_after));
    for (int32_t g = 0; g < ct_theta_models(job->theta); g++)
        if (ct_theta_learns(job->theta, g))
            cli_put(noise, ct_noise_get(job->dataset->noise, g)->name, model_json(job, g));
    cli_put(o, "dataset", cli_text(request->path));
    cli_put(o, "sequences", cli_integer(job->dataset->trains));
    cli_put(o, "parameters", cli_integer(r->parameters));
    cli_put(o, "method", cli_text(ct_learn_method_name(r->method)));
    cli_put(o, "stop", cli_text(ct_learn_stop_name(r->stop)));
    cli_put(o, "iterations", cli_integer(r->iterations));
    cli_put(o, "inner_solves", cli_integer(r->inner_solves));
    cli_put(o, "evaluations", cli_integer(r->evaluations));
    cli_put(o, "seconds", cli_number(r->seconds));
    cli_put(o, "deployment", cli_text(cli_solvers[r->incremental]));
    cli_put(o, "reference", cli_text(ct_reference_name(r->reference)));
    cli_put(o, "loss", loss_json(r));
    cli_put(o, "prior", cli_number(r->prior));
    cli_put(o, "candidates", learn_candidates_json(r));
    if (job->functions.models) cli_put(o, "functions", learn_functions_json(job));
    cli_put(o, "recordings", cli_integer(r->recordings));
    cli_put(o, "spread", cli_number(r->spread));
    cli_put(o, "scale", scale);
    cli_put(o, "consistency", consistency);
    cli_put(o, "invariance", cli_number(r->invariance));
    cli_put(o, "stationarity", cli_number(r->stationarity));
    cli_put(o, "noise", noise);
    cli_put(o, "closed_form", closed_form_json(job));
    cli_put(o, "findings", cli_findings_json(&r->findings));
    cli_put(o, "undetermined", cli_findings_texts(&r->findings, CT_TOPIC_IDENTIFIABILITY, 0));
    cli_put(o, "notes", cli_findings_texts(&r->findings, CT_TOPIC_IDENTIFIABILITY, 1));
    cli_put(o, "out", cli_text(request->out));
    return o;
}

/* ---- for people ---- */

/* The standard error of sigma, "3.1 %": half of that of the log variance. "?": not determined; "": none. */
static const char *error_text(double standard_error, char buf[24])
{
    const double percent = 50 * standard_error;
    if (isnan(percent)) return "";
    if (isinf(percent)) return "?";
    snprintf(buf, 24, percent < 10 ? "%.1f %%" : "%.0f %%", percent);
    return buf;
}

static void print_model(const learn_job *job, int32_t g, int width)
{
    const ct_noise_model *m = ct_noise_get(job->dataset->noise, g), *before = ct_noise_get(job->start, g);
    double                standard_error[CT_NOISE_DIM_MAX];
    int8_t                at_bound[CT_NOISE_DIM_MAX];
    ct_learn_rows(job->theta, &job->result, g, standard_error, at_bound);
    for (int i = 0; i < m->dim; i++) {
        char        number[24], error[24];
        const char *row = number, *unit = "", *remark = "";
        const int   one = m->kind == CT_NOISE_ISOTROPIC;
        snprintf(number, sizeof number, "%d", i);
        if (m->row && m->row[i].name[0])
            row = m->row[i].name, unit = one && strcmp(m->row[0].unit, m->row[m->dim - 1].unit) ? "" : m->row[i].unit;
        if (m->kind == CT_NOISE_DIAGONAL && ct_theta_find(job->theta, g, i) < 0) remark = "frozen";
        else if (at_bound[i] && m->kind == CT_NOISE_FULL)
            remark =
                at_bound[i] < 0 ? "an eigenvalue held by its lower bound" : "an eigenvalue held by its upper bound";
        else if (at_bound[i]) remark = at_bound[i] < 0 ? "held by its lower bound" : "held by its upper bound";
        else if (m->kind == CT_NOISE_FULL && !i) remark = "with correlations";
        printf("%-12.24s %-*s %-5s %11.4g -> %10.4g %11.4g %8s%s%s\n", i ? "" : m->name, width, one ? "all" : row, unit,
               ct_noise_sigma(before, i), ct_noise_sigma(m, i), ct_noise_sigma(m, i) * ct_noise_sigma(m, i),
               error_text(standard_error[i], error), *remark ? "  " : "", remark);
        if (one) break;
    }
}

/* Of the longest name of a row. */
static int row_width(const learn_job *job)
{
    int width = 6;
    for (int32_t g = 0; g < ct_theta_models(job->theta); g++) {
        const ct_noise_model *m = ct_noise_get(job->dataset->noise, g);
        for (int i = 0; ct_theta_learns(job->theta, g) && m->row && i < m->dim; i++)
            if ((int)strlen(m->row[i].name) > width) width = (int)strlen(m->row[i].name);
    }
    return width;
}

static void print_table(const learn_job *job)
{
    const int width = row_width(job);
    printf("\n%-12s %-*s %-5s %11s    %10s %11s %8s\n", "noise model", width, "row", "unit", "start sigma", "sigma",
           "variance", "+- sigma");
    for (int32_t g = 0; g < ct_theta_models(job->theta); g++)
        if (ct_theta_learns(job->theta, g)) print_model(job, g, width);
    putchar('\n');
}

static void print_loss(const ct_learn_result *r)
{
    const char *reference = ct_reference_name(r->reference);
    char        heldout[128] = "; no sequences were held out";
    if (isfinite(r->loss_heldout))
        snprintf(heldout, sizeof heldout, "; held out%s %.6g, the %s there %.6g, the start %.6g",
                 r->incremental ? " (incremental)" : "", r->loss_heldout, reference, r->loss_heldout_closed_form,
                 r->loss_heldout_start);
    if (isnan(r->loss_start)) cli_row("loss", "not known: truth was not used");
    else
        cli_row("loss", "start %.6g, %s %.6g, learned %.6g%s", r->loss_start, reference, r->loss_closed_form,
                r->loss_train, heldout);
}

/* Why the scale was not applied as consistency wants it. */
static const char *scale_remark(const learn_job *job, char buf[96])
{
    const ct_learn_result *r = &job->result;
    if (fabs(r->scale_applied / r->scale_wanted - 1) < 1e-9) return "applied";
    if (job->options.scale == CT_SCALE_NONE) return "not applied: --scale none";
    if (ct_findings_find(&r->findings, CT_FINDING_SCALE_NOT_APPLIED) >= 0) return "not applied: losses rise";
    if (ct_findings_find(&r->findings, CT_FINDING_SCALE_WORSENS_NEES) >= 0) return "not applied: NEES gets worse";
    if (r->scale_applied == 1) return "not applied: the bounds do not allow it";
    const int in_part = ct_findings_find(&r->findings, CT_FINDING_SCALE_IN_PART) >= 0;
    snprintf(buf, 96, "%.4g applied, %s", r->scale_applied,
             in_part ? "as losses rise with all of it" : "the most that the bounds allow");
    return buf;
}

static void print_scale(const learn_job *job)
{
    const ct_learn_result *r = &job->result;
    char remark[96], nees[64] = "", chi[64] = "";
    if (isnan(r->loss_start)) {
        cli_row("scale", "as the likelihood has it: without truth there is no NEES");
        return;
    }
    if (isnan(r->scale_wanted)) {
        cli_row("scale",
                "not available: there are no more measurements than unknowns, they fit exactly, or no factor is "
                "consistent with the frozen models");
        return;
    }
    if (isfinite(r->scale_nees)) snprintf(nees, sizeof nees, "NEES asks for %.4g, ", r->scale_nees);
    if (isfinite(r->scale_chi)) snprintf(chi, sizeof chi, "chi-square for %.4g; ", r->scale_chi);
    cli_row("scale",
            "the loss determines ratios of variances, consistency their common factor: %s%s"
            "variances x %.4g, %s",
            nees, chi, r->scale_wanted, scale_remark(job, remark));
}

/* "odom x 1.02, y 0.98; gps ...": chi-square per degree of each learned row. */
static void print_fit(const learn_job *job)
{
    char text[1024] = "";
    size_t used = 0;
    for (int32_t g = 0; job->result.fit && g < ct_theta_models(job->theta); g++) {
        const ct_noise_model *m = ct_noise_get(job->dataset->noise, g);
        if (!ct_theta_learns(job->theta, g) || !(job->result.fit[g].factors > 0)) continue;
        for (int i = 0; i < m->dim && used < sizeof text; i++) {
            const char  *row = m->row && m->row[i].name[0] ? m->row[i].name : "";
            const double chi = ct_model_fit_chi(m, &job->result.fit[g], i, NULL);
            char         number[24] = "-"; /* all rows are used up by unknowns */
            if (!isnan(chi)) snprintf(number, sizeof number, "%.3g", chi);
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%s%s %s",
                                     i      ? ", "
                                     : used ? "; "
                                            : "",
                                     i ? "" : m->name, i || !*row ? "" : " ", row, number);
        }
    }
    if (used) cli_row("fit", "chi-square per degree of each row, by leverage: %s", text);
}

/* "x-y 0.9, x-yaw -0.02, ...", for every full model. */
static void print_correlations(const learn_job *job)
{
    const char *label = "correlations";
    for (int32_t g = 0; g < ct_theta_models(job->theta); g++) {
        const ct_noise_model *m = ct_noise_get(job->dataset->noise, g);
        char                  text[1024] = "";
        size_t                used = 0;
        if (!ct_theta_learns(job->theta, g) || m->kind != CT_NOISE_FULL) continue;
        for (int i = 0; i < m->dim; i++)
            for (int k = i + 1; k < m->dim && used < sizeof text; k++) {
                const double r = m->covariance[i * m->dim + k] / (ct_noise_sigma(m, i) * ct_noise_sigma(m, k));
                if (m->row && m->row[i].name[0])
                    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s-%s %.3f", used ? ", " : "",
                                             m->row[i].name, m->row[k].name, r);
                else
                    used +=
                        (size_t)snprintf(text + used, sizeof text - used, "%s%d-%d %.3f", used ? ", " : "", i, k, r);
            }
        if (!used) continue;
        cli_row(label, "%s: %s", m->name, text);
        label = "";
    }
}

/* A time constant or period of a bias, and its standard error in its logarithm. */
static void print_time(const char *label, const char *model, double value, double error)
{
    if (isnan(error)) cli_row(label, "%s: %.4g, as given", model, value);
    else if (isinf(error)) cli_row(label, "%s: %.4g; the sequences do not tell it", model, value);
    else cli_row(label, "%s: %.4g +- %.2g %%, by likelihood", model, value, 100 * error);
}

static void print_time_constants(const learn_job *job)
{
    const char *label[2] = {"time constant", "period"};
    for (int side = 0; side < 2; side++)
        for (int32_t g = 0; g < ct_noise_count(job->dataset->noise); g++) {
            const ct_noise_model *m = ct_noise_get(job->dataset->noise, g);
            const ct_bias        *b = m->bias;
            if (!b || !((side ? b->period : b->tau) > 0)) continue;
            print_time(label[side], m->name, side ? b->period : b->tau, side ? b->period_error : b->tau_error);
            label[side] = "";
        }
}

static void print_kernels(const learn_job *job)
{
    const char *label = "kernels";
    for (int32_t g = 0; g < ct_theta_models(job->theta); g++) {
        const ct_noise_model *m = ct_noise_get(job->dataset->noise, g);
        if (!ct_theta_learns(job->theta, g) || m->robust.kind == CT_ROBUST_NONE) continue;
        if (m->robust.kind == CT_ROBUST_MAX_MIXTURE)
            cli_row(label, "%s: %s, from %.4g sigmas on %.4g times as wide, share %.3g", m->name,
                    ct_robust_name(m->robust.kind), m->robust.width, m->robust.ratio,
                    ct_robust_share(m->robust, m->dim));
        else cli_row(label, "%s: %s, width %.4g sigmas", m->name, ct_robust_name(m->robust.kind), m->robust.width);
        label = "";
    }
}

/* Did lm choose the weight of its prior? */
static int prior_was_chosen(const learn_request *request, const learn_job *job)
{
    return isnan(job->options.prior) && request->from != 1;
}

/* A chosen prior of 0 is the candidate that starts from the start values. */
static int began_at_start(const learn_request *request, const learn_job *job)
{
    return request->from == 1 || (prior_was_chosen(request, job) && job->result.prior == 0);
}

const char *learn_stop_text(ct_learn_method method, ct_learn_stop stop)
{
    if (method == CT_LEARN_CLOSED_FORM && stop == CT_LEARN_STOP_CLOSED_FORM) return "this is the closed form";
    const int maximum = method == CT_LEARN_LIKELIHOOD && stop == CT_LEARN_STOP_LIKELIHOOD;
    return maximum ? "this is the maximum of the likelihood" : ct_learn_stop_meaning(stop);
}

ct_reference learn_reference(const json_t *summary)
{
    const int reference = ct_reference_find(json_string_value(json_object_get(summary, "reference")));
    return reference < 0 ? CT_REFERENCE_CLOSED_FORM : (ct_reference)reference;
}

const char *learn_prior_text(double prior, ct_reference reference, int chosen, int held, int sequences, char *buf,
                             size_t size)
{
    buf[0] = 0;
    if (isnan(prior)) return buf;
    if (isinf(prior))
        snprintf(buf, size, "; %s the %s itself",
                 held            ? "cross-validation chose"
                 : sequences < 2 ? "one sequence allows no cross-validation:"
                                 : "there are no folds:",
                 ct_reference_name(reference));
    else if (prior == 0) snprintf(buf, size, "; no prior%s", chosen && held ? ", chosen by cross-validation" : "");
    else if (!chosen) snprintf(buf, size, "; prior %g, given", prior);
    else
        snprintf(buf, size, "; prior %g%s", prior, held ? ", chosen by cross-validation" : "");
    return buf;
}

static void print_method(const learn_request *request, const learn_job *job)
{
    const ct_learn_result *r = &job->result;
    const int chosen = prior_was_chosen(request, job), held = isfinite(r->loss_heldout),
              cut = r->stop == CT_LEARN_STOP_CANCELLED && chosen && !held;
    char                   prior[128], time[24];
    const char *stop = r->stop == CT_LEARN_STOP_CANCELLED ? "interrupted: this is the best so far"
                                                          : learn_stop_text(r->method, r->stop);
    learn_prior_text(cut ? NAN : r->prior, r->reference, chosen, held, job->dataset->trains, prior, sizeof prior);
    if (r->method == CT_LEARN_LM)
        cli_row("method", "lm: bounded Levenberg-Marquardt in log theta, from the %s%s",
                began_at_start(request, job) ? "start values" : ct_reference_name(r->reference), prior);
    else cli_row("method", "%s: %s", ct_learn_method_name(r->method), ct_learn_method_get_info(r->method)->text);
    cli_row("stop", "%s; %d iteration%s, %d evaluation%s, %lld inner solve%s, %s", stop, r->iterations,
            CLI_S(r->iterations), r->evaluations, CLI_S(r->evaluations), (long long)r->inner_solves,
            CLI_S(r->inner_solves), cli_format_time(r->seconds, time));
}

void learn_print(const cli_io *io, const learn_request *request, const learn_job *job)
{
    const ct_learn_result *r = &job->result;
    int32_t                models = 0;
    for (int32_t g = 0; g < ct_theta_models(job->theta); g++) models += ct_theta_learns(job->theta, g);
    cli_row("dataset", "%s: %d training sequence%s; %d parameter%s of %d noise model%s learned", request->path,
            job->dataset->trains, CLI_S(job->dataset->trains), r->parameters, CLI_S(r->parameters), models,
            CLI_S(models));
    print_method(request, job);
    cli_findings_print("note", &r->findings, CT_TOPIC_IDENTIFIABILITY, 1, -1);
    print_table(job);
    if (job->functions.models) learn_print_functions(job);
    learn_print_candidates(r);
    print_correlations(job);
    print_kernels(job);
    print_time_constants(job);
    print_loss(r);
    cli_row("spread", "%.4g: the largest learned variance over the smallest%s", r->spread,
            ct_theta_has_units(job->theta) ? ", in the dataset's units" : "");
    print_scale(job);
    if (isnan(r->loss_start) && isfinite(r->chi_after))
        cli_row("consistency", "chi-square %.4g -> %.4g per degree, before and after, on training sequences",
                r->chi_before, r->chi_after);
    else if (isfinite(r->chi_after))
        cli_row("consistency",
                "chi-square %.4g -> %.4g per degree, NEES %.4g -> %.4g per coordinate, before and after the scale, on "
                "%s sequences (1: consistent)",
                r->chi_before, r->chi_after, r->nees_before, r->nees_after, r->heldout ? "held-out" : "training");
    print_fit(job);
    if (r->stationarity > 1e-4) /* at minima it is far smaller */
        cli_row("stationarity",
                "%.2g m or rad: largest distance of an inner estimate from its minimum, where derivatives were taken",
                r->stationarity);
    /* if the scale was applied, its row has been printed above */
    const int applied = r->scale_free && r->scale_applied == r->scale_wanted;
    cli_findings_print("undetermined", &r->findings, CT_TOPIC_IDENTIFIABILITY, 0,
                       applied ? CT_FINDING_SCALE_UNDETERMINED : -1);
    cli_row("written", "%s", job->folder.noise);
    char *run = cli_shell_quote(request->out), *data = cli_shell_quote(request->path);
    char *noise = cli_shell_quote(job->folder.noise), *start = cli_shell_quote(job->folder.start);
    char *plugin = cli_plugin_words(io);
    cli_row_command("next", "covtune report %s%s", run, plugin);
    if (job->mistakes) cli_row_command("", "covtune doctor %s%s", data, plugin);
    cli_row_command("", "covtune eval %s%s%s%s --noise %s --against %s", data, plugin,
                    request->repair ? " --repair" : "",
                    cli_count_sequences(io, request->path, CT_DATASET_TEST) ? "" : " --part train", noise, start);
    cli_row_command("", "covtune export %s --to gtsam-cpp", noise);
    char *const quoted[] = {run, data, noise, start, plugin};
    for (size_t i = 0; i < sizeof quoted / sizeof *quoted; i++) free(quoted[i]);
}
