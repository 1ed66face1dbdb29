/* learned.c: the learned noise models: a table, pictures by unit, correlations, models that were not learned. */
#include "cli/report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_PICTURED 15 /* of one picture: the names of more have no room below it */

/* ---- how it was learned ---- */

/* Where lm began, and how its prior was chosen. Neither is known of a run that is not finished. */
static void put_lm(report_job *job)
{
    const json_t *s = job->summary_json, *prior = json_object_get(s, "prior"), *loss = json_object_get(s, "loss");
    const int     stop = ct_learn_stop_find(json_string_value(json_object_get(s, "stop")));
    const int started = stop == CT_LEARN_STOP_START, held = json_is_number(json_object_get(loss, "heldout")),
              known = job->finished && s;
    const int table = job->learn.from == 1, chosen = !table && (!job->learn.prior || !strcmp(job->learn.prior, "auto"));
    const double  weight = json_is_number(prior) ? json_number_value(prior) : started || !held ? NAN : INFINITY;
    char          text[160];
    learn_prior_text(known ? weight : NAN, learn_reference(s), chosen, held,
                     (int)json_integer_value(json_object_get(s, "sequences")), text, sizeof text);
    ct_page_text(job->page, "The method is lm: bounded Levenberg-Marquardt in log theta, from the %s%s.",
                 table || (known && chosen && weight == 0) ? "start values" : report_reference(job), text);
}

static void put_method(report_job *job)
{
    const json_t *s = job->summary_json;
    char          stop[256] = "", time[24];
    const int code = ct_learn_stop_find(json_string_value(json_object_get(s, "stop")));
    if (code >= 0)
        snprintf(stop, sizeof stop, "%s",
                 learn_stop_text((ct_learn_method)job->learn.method, (ct_learn_stop)code));
    if (job->learn.method == CT_LEARN_LM)
        put_lm(job);
    else
        ct_page_text(job->page, "The method is %s: %s.", report_method(job),
                     ct_learn_method_get_info((ct_learn_method)job->learn.method)->text);
    if (*stop && job->finished)
        ct_page_text(job->page,
                     "It stopped because %s, after %lld evaluations of the loss, %lld estimates of sequences and %s.",
                     stop, (long long)json_integer_value(json_object_get(s, "evaluations")),
                     (long long)json_integer_value(json_object_get(s, "inner_solves")),
                     cli_format_time(json_number_value(json_object_get(s, "seconds")), time));
}

static void put_scale(report_job *job)
{
    const json_t *scale = json_object_get(job->summary_json, "scale"), *wanted = json_object_get(scale, "wanted"),
                 *applied = json_object_get(scale, "applied");
    if (!job->finished || !json_is_number(wanted) || !json_is_number(applied)) return;
    const double w = json_number_value(wanted), a = json_number_value(applied);
    if (fabs(a / w - 1) < 1e-9)
        ct_page_text(job->page,
                     "Accuracy determines the ratios of the variances. Consistency determines their common factor: all "
                     "were multiplied by %.4g. The table has the result.",
                     a);
    else if (!json_is_true(json_object_get(scale, "free")))
        ct_page_text(
            job->page,
            "Consistency would multiply the learned variances by %.4g. Accuracy depends on the factor, through "
            "noise models that are not learned; %.4g was applied.",
            w, a);
    else ct_page_text(job->page, "Consistency would multiply the learned variances by %.4g; %.4g was applied.", w, a);
    const json_t *nees = json_object_get(scale, "nees"), *chi = json_object_get(scale, "chi_squared");
    if (json_is_number(nees) && json_is_number(chi))
        ct_page_text(
            job->page, "Errors of %s sequences ask for a factor of %.4g (NEES), residuals for %.4g (chi-square).",
            json_is_true(json_object_get(json_object_get(job->summary_json, "consistency"), "heldout")) ? "held-out"
                                                                                                        : "training",
            json_number_value(nees), json_number_value(chi));
}

/* ---- the table ---- */

static const char *remark_of(const ct_noise_model *m, const report_row *r)
{
    if (r->frozen) return "frozen";
    if (r->at_bound && m->kind == CT_NOISE_FULL)
        return r->at_bound < 0 ? "an eigenvalue at its lower bound" : "an eigenvalue at its upper bound";
    if (r->at_bound) return r->at_bound < 0 ? "at its lower bound" : "at its upper bound";
    return r->undetermined ? "not determined" : r->bare ? "no error bar" : "";
}

static void put_row(report_job *job, ct_table *t, int32_t i, int bars)
{
    const report_row     *r = &job->row[i];
    const ct_noise_model *m = ct_noise_get(job->file[AFTER], r->model);
    const int             first = !i || job->row[i - 1].model != r->model;
    const char           *remark = remark_of(m, r);
    ct_table_row(t, first && i);
    ct_table_text(t, "%s", first ? m->name : "");
    ct_table_text(t, "%s", r->name);
    ct_table_text(t, "%s", r->unit);
    ct_table_number(t, r->sigma[BEFORE]);
    ct_table_number(t, r->sigma[AFTER]);
    ct_table_number(t, r->sigma[AFTER] * r->sigma[AFTER]);
    if (bars) ct_table_number(t, r->percent);
    if (job->closed_form_known) ct_table_number(t, r->closed_form);
    if (job->latent_known) ct_table_number(t, r->latent);
    ct_table_number(t, r->lower);
    ct_table_number(t, r->upper);
    if (!*remark) return;
    ct_table_text(t, "%s", remark);
    if (r->at_bound || r->undetermined) ct_table_mark(t, 2);
}

static void put_table(report_job *job)
{
    ct_table *t = report_table("Learned noise models");
    int       full = 0, remarks = 0, bars = 0;
    for (int32_t i = 0; i < job->rows; i++) {
        remarks = remarks || *remark_of(ct_noise_get(job->file[AFTER], job->row[i].model), &job->row[i]);
        bars = bars || !isnan(job->row[i].percent);
    }
    ct_table_column(t, "model", "noise model", NULL, 0);
    ct_table_column(t, "row", "row", NULL, 0);
    ct_table_column(t, "unit", "unit", NULL, 0);
    ct_table_column(t, "start_sigma", "start \u03c3", NULL, 4);
    ct_table_column(t, "sigma", "learned \u03c3", NULL, 4);
    ct_table_column(t, "variance", "variance \u03c3\u00b2", NULL, 4);
    if (bars) ct_table_column(t, "sigma_error_percent", "\u00b1 \u03c3", "%", 2);
    char reference[64];
    snprintf(reference, sizeof reference, "%s \u03c3", report_reference(job));
    if (job->closed_form_known) ct_table_column(t, "closed_form_sigma", reference, NULL, 4);
    if (job->latent_known) ct_table_column(t, "latent_sigma", "true \u03c3", NULL, 4);
    ct_table_column(t, "least", "least \u03c3", NULL, 2);
    ct_table_column(t, "most", "most \u03c3", NULL, 2);
    if (remarks) ct_table_column(t, "remark", "remark", NULL, 0);
    for (int32_t i = 0; i < job->rows; i++) {
        put_row(job, t, i, bars);
        full = full || ct_noise_get(job->file[AFTER], job->row[i].model)->kind == CT_NOISE_FULL;
    }
    if (bars) ct_table_note(t, "\u00b1 is one standard error of \u03c3, in percent of it.");
    if (job->closed_form_known)
        ct_table_note(t, "The %s is %s, within the bounds.", report_reference(job),
                      ct_reference_meaning(learn_reference(job->summary_json)));
    if (job->latent_known) ct_table_note(t, "The true \u03c3 is that of the simulation (latent.json).");
    ct_table_note(t, "Least and most are the bounds of \u03c3%s.",
                  !full ? ""
                  : job->in_units
                      ? "; of a full covariance the roots of the bounds of its eigenvalues, times the row's unit"
                      : "; of a full covariance the roots of the bounds of its eigenvalues");
    report_put_table(job, t);
}

/* ---- pictures ---- */

/* Rows of one unit, from a row on. */
typedef struct {
    int32_t n;
    double      x[ROWS_PICTURED], start[ROWS_PICTURED], sigma[ROWS_PICTURED], bar[ROWS_PICTURED];
    double latent[ROWS_PICTURED], ratio[ROWS_PICTURED], ratio_bar[ROWS_PICTURED];
    char name[ROWS_PICTURED][64];
    const char *names[ROWS_PICTURED];
    int bars, references; /* rows that have an error bar, and a sigma to be compared with */
} picture;

/* The root of the common factor that the learned variances were multiplied by: the reference is shown with it. */
static double common_factor(const report_job *job)
{
    const json_t *applied = json_object_get(json_object_get(job->summary_json, "scale"), "applied");
    return json_is_number(applied) && json_number_value(applied) > 0 ? sqrt(json_number_value(applied)) : 1;
}

/* Returns the next row of that unit, or job->rows. */
static int32_t gather(const report_job *job, const char *unit, int32_t from, picture *p)
{
    const double factor = common_factor(job);
    int32_t i = from;
    for (; i < job->rows && p->n < ROWS_PICTURED; i++) {
        const report_row *r = &job->row[i];
        const int32_t n = p->n;
        if (strcmp(r->unit, unit) || r->frozen) continue;
        const double reference = job->latent_known ? r->latent : factor * r->closed_form;
        p->x[n] = n;
        p->start[n] = r->sigma[BEFORE];
        p->sigma[n] = r->sigma[AFTER];
        p->latent[n] = r->latent;
        p->bar[n] = isnan(r->percent) ? 0 : r->percent / 100 * r->sigma[AFTER];
        p->ratio[n] = r->sigma[AFTER] / reference;
        p->ratio_bar[n] = p->bar[n] / reference;
        p->names[n] = report_row_name(job, r, p->name[n], sizeof p->name[n]);
        p->bars += p->bar[n] > 0;
        p->references += isfinite(p->ratio[n]);
        p->n++;
    }
    while (i < job->rows && (strcmp(job->row[i].unit, unit) || job->row[i].frozen)) i++;
    return i;
}

static void put_sigmas(report_job *job, const char *unit, int part, const picture *p)
{
    char title[96], label[64], id[48];
    const ct_series series[] = {{"start", CT_ROLE_BEFORE, CT_MARK_POINTS, p->n, p->x, p->start, NULL},
                                {p->bars ? "learned, \u00b1 one standard error" : "learned", CT_ROLE_AFTER,
                                 CT_MARK_POINTS, p->n, p->x, p->sigma, p->bar},
                                {"true", CT_ROLE_TRUTH, CT_MARK_POINTS, p->n, p->x, p->latent, NULL}};
    snprintf(id, sizeof id, "sigmas-%d", part);
    snprintf(title, sizeof title, "Sigmas%s%s", *unit ? " in " : "", unit);
    snprintf(label, sizeof label, "\u03c3%s%s", *unit ? " in " : "", unit);
    const ct_plot plot = {.id = id,
                          .title = title,
                          .y_label = label,
                          .y_log = 1,
                          .count = job->latent_known ? 3 : 2,
                          .series = series,
                          .x_names = p->names,
                          .names = p->n};
    ct_page_plot(job->page, &plot);
}

/* Error bars of a few percent do not show over decades: the learned sigmas over what they are compared with. */
static void put_ratios(report_job *job, const char *unit, int part, const picture *p)
{
    const double ends[2] = {-0.5, p->n - 0.5}, one[2] = {1, 1};
    char title[128], id[48], text[256], label[64];
    const char *of = job->latent_known ? "true" : report_reference(job);
    double high[ROWS_PICTURED];
    for (int32_t i = 0; i < p->n; i++) high[i] = p->ratio[i] + p->ratio_bar[i];
    const ct_series series[] = {{NULL, CT_ROLE_QUIET, CT_MARK_LINE, 2, ends, one, NULL},
                                {p->bars ? "learned, \u00b1 one standard error" : "learned", CT_ROLE_AFTER,
                                 CT_MARK_POINTS, p->n, p->x, p->ratio, p->ratio_bar}};
    snprintf(id, sizeof id, "ratios-%d", part);
    snprintf(title, sizeof title, "Learned over %s sigmas%s%s%s", of, *unit ? " (" : "", unit, *unit ? ")" : "");
    snprintf(text, sizeof text,
             "At 1 the learned \u03c3 is that of the %s, with the same common factor. Where an error bar does not "
             "reach 1, learning moved it.",
             of);
    snprintf(label, sizeof label, "learned \u03c3 / %s \u03c3", of);
    const ct_plot plot = {
        .id = id,
        .title = title,
        .text = job->latent_known ? "At 1 the learned \u03c3 is the true one. Two of three error bars should reach 1."
                                  : text,
        .y_label = label,
        .y_log = report_wants_log(p->n, p->ratio, p->n, high),
        .count = 2,
        .series = series,
        .x_names = p->names,
        .names = p->n};
    if (p->references) ct_page_plot(job->page, &plot);
}

static void put_pictures(report_job *job)
{
    int part = 0;
    for (int32_t i = 0; i < job->rows; i++) {
        int seen = job->row[i].frozen;
        for (int32_t k = 0; k < i && !seen; k++)
            seen = !job->row[k].frozen && !strcmp(job->row[k].unit, job->row[i].unit);
        if (seen) continue;
        for (int32_t from = i; from < job->rows; part++) {
            picture p = {0};
            from = gather(job, job->row[i].unit, from, &p);
            if (!p.n) continue;
            put_sigmas(job, job->row[i].unit, part, &p);
            put_ratios(job, job->row[i].unit, part, &p);
        }
    }
}

/* ---- correlations, and models that were not learned ---- */

static void put_correlations(report_job *job, const ct_noise_model *m)
{
    char      title[320], name[24];
    ct_table *t;
    if (m->kind != CT_NOISE_FULL) return;
    snprintf(title, sizeof title, "Correlations of %s", m->name);
    t = report_table(title);
    ct_table_column(t, "row", "row", NULL, 0);
    for (int i = 0; i < m->dim; i++) { /* keys are numbers, which no other column has */
        snprintf(name, sizeof name, "%d", i);
        ct_table_column(t, name, m->row ? m->row[i].name : name, NULL, 3);
    }
    for (int i = 0; i < m->dim; i++) {
        snprintf(name, sizeof name, "%d", i);
        ct_table_row(t, 0);
        ct_table_text(t, "%s", m->row ? m->row[i].name : name);
        for (int k = 0; k < m->dim; k++) {
            const double r = m->covariance[i * m->dim + k] / (ct_noise_sigma(m, i) * ct_noise_sigma(m, k));
            ct_table_text(t, "%.3f", fabs(r) < 0.0005 ? 0 : r); /* no -0.000 */
        }
    }
    report_put_table(job, t);
}

static void put_fixed(report_job *job)
{
    const json_t *groups = json_object_get(job->noise_json, "groups");
    ct_table *t = report_table("Noise models that were not learned");
    ct_table_column(t, "model", "noise model", NULL, 0);
    ct_table_column(t, "sigma", "\u03c3, row by row", NULL, 0);
    ct_table_column(t, "kernel", "kernel", NULL, 0);
    for (int32_t g = 0; g < ct_noise_count(job->file[AFTER]); g++) {
        const ct_noise_model *m = ct_noise_get(job->file[AFTER], g);
        char                  text[512] = "", unit[24];
        size_t                used = 0;
        if (json_is_true(json_object_get(json_object_get(groups, m->name), "learned"))) continue;
        for (int i = 0; i < m->dim && used < sizeof text; i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%s%.3g%s%s", i ? ", " : "",
                                     m->row ? m->row[i].name : "", m->row ? " " : "", ct_noise_sigma(m, i),
                                     m->row && m->row[i].unit[0] ? " " : "",
                                     m->row ? report_written_unit(m->row[i].unit, unit) : "");
        ct_table_row(t, 0);
        ct_table_text(t, "%s", m->name);
        ct_table_text(t, "%s", text);
        ct_table_text(t, "%s", ct_robust_name(m->robust.kind));
    }
    if (ct_table_rows(t)) report_put_table(job, t);
    else ct_table_free(t);
}

/* Learned models with a robust kernel. */
static void put_kernels(report_job *job)
{
    for (int32_t i = 0; i < job->rows; i++) {
        const ct_noise_model *m = ct_noise_get(job->file[AFTER], job->row[i].model);
        if (m->robust.kind == CT_ROBUST_NONE || (i && job->row[i - 1].model == job->row[i].model)) continue;
        if (m->robust.kind == CT_ROBUST_MAX_MIXTURE) {
            ct_page_text(job->page,
                         "%s has two-component noise (max_mixture): residuals beyond %.4g \u03c3 are of a component "
                         "%.4g times as wide, which has %.3g %% of the measurements. Its \u03c3 describes the others.",
                         m->name, m->robust.width, m->robust.ratio, 100 * ct_robust_share(m->robust, m->dim));
            continue;
        }
        ct_page_text(job->page,
                     "%s has a robust kernel, %s of width %.4g. Residuals beyond that many \u03c3 count less. Its "
                     "\u03c3 describes the other residuals.",
                     m->name, ct_robust_name(m->robust.kind), m->robust.width);
    }
}

void report_learned(report_job *job)
{
    ct_page_section(job->page, "learned", "What was learned");
    put_method(job);
    put_table(job);
    put_scale(job);
    put_kernels(job);
    put_pictures(job);
    for (int32_t i = 0; i < job->rows; i++)
        if (!i || job->row[i - 1].model != job->row[i].model)
            put_correlations(job, ct_noise_get(job->file[AFTER], job->row[i].model));
    put_fixed(job);
}
