/* init.c: covtune reproduce init. The paper's figure of training error from different start values: D3, loose
 * bounds; the far start, variances of one, and some drawn log-uniformly from the box. */
#include "studies/reproduce/reproduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define METHODS    4
#define STARTS_MAX 12 /* the far one, ones, ten drawn */
#define NEAR       1.05 /* of the oracle's training error: got there */

static const char ORDER[] = "fw,fw-log,lm-alone,lm";

typedef struct {
    reproduce_job    *job;
    nav_size          size;
    nav_data          data;
    ct_theta         *theta;
    ct_summary        oracle; /* on the training sequences */
    int               methods, starts;
    const method_preset *who[METHODS];
    ct_noise         *start[STARTS_MAX];
    int               done[METHODS][STARTS_MAX];
    ct_trial          trial[METHODS][STARTS_MAX];
} init;

/* ---- trials ---- */

/* 0: far, 1: ones, others drawn. */
static ct_status make_start(init *n, int which, ct_err *err)
{
    ct_rng    rng = ct_rng_seed((uint64_t)which);
    ct_status status = ct_noise_copy(n->data.start, &n->start[which], err);
    for (int32_t g = 0; status == CT_OK && which && g < ct_noise_count(n->start[which]); g++) {
        double variance[3];
        for (int c = 0; c < 3; c++)
            variance[c] = which == 1 ? 1
                                     : CT_BOUND_LOOSE_LOWER *
                                           pow(CT_BOUND_LOOSE_UPPER / CT_BOUND_LOOSE_LOWER, ct_rng_uniform(&rng));
        if (ct_theta_learns(n->theta, g)) status = ct_noise_set_variance(n->start[which], g, variance, err);
    }
    return status;
}

static const char *start_name(int which, char buf[32])
{
    if (which > 1) snprintf(buf, 32, "random %d", which - 1);
    else snprintf(buf, 32, "%s", which ? "ones" : "far");
    return buf;
}

/* ---- the grid: a column is a method and a start ---- */

static int method_of(const init *n, int column) { return column / n->starts; }

static int start_of(const init *n, int column) { return column % n->starts; }

static double cost(const void *user, grid_index at)
{
    const init *n = user;
    return n->who[method_of(n, at.column)]->cost;
}

static ct_status open(void *user, grid_index at, ct_err *err)
{
    init     *n = user;
    ct_status status = nav_data_make("D3", (uint64_t)at.seed + 1, &n->size, &n->data, err);
    const grid_data data = nav_data_grid(&n->data);
    if (status == CT_OK)
        status = nav_data_theta(&n->data, CT_NOISE_DIAGONAL, CT_BOUND_LOOSE_LOWER, CT_BOUND_LOOSE_UPPER, &n->theta,
                                err);
    if (status == CT_OK) status = grid_evaluate(&n->job->runner, 1, &data, n->data.latent, &n->oracle, err);
    for (int s = 0; status == CT_OK && s < n->starts; s++) status = make_start(n, s, err);
    return status;
}

static ct_status fill_cell(void *user, grid_index at, ct_err *err)
{
    init        *n = user;
    grid_runner *r = &n->job->runner;
    const int    m = method_of(n, at.column), s = start_of(n, at.column);
    grid_data    data = nav_data_grid(&n->data);
    char         name[32];
    snprintf(r->label, sizeof r->label, "%s, start %s", n->who[m]->key, start_name(s, name));
    data.start = n->start[s];
    const ct_status status = grid_learn(r, n->who[m], &data, n->theta, 1, &n->trial[m][s], err);
    n->done[m][s] = status == CT_OK && !cli_interrupted();
    return status;
}

/* ---- numbers ---- */

static double ratio(const init *n, int m, int s, int which)
{
    const ct_accuracy a = n->trial[m][s].train.accuracy, o = n->oracle.accuracy;
    return !n->done[m][s] ? NAN : which ? a.rotation / o.rotation : a.translation / o.translation;
}

/* Over starts. */
static void summary(const init *n, int m, int which, double *mean, double *worst)
{
    double sum = 0;
    int    count = 0;
    *worst = NAN;
    for (int s = 0; s < n->starts; s++) {
        if (!n->done[m][s]) continue;
        sum += ratio(n, m, s, which);
        *worst = fmax(*worst, ratio(n, m, s, which));
        count++;
    }
    *mean = count ? sum / count : NAN;
}

static ct_table *table_of(const init *n)
{
    ct_table *t = document_new_table("Training error at the end, over the oracle's");
    ct_table_column(t, "method", "method", NULL, 0);
    ct_table_column(t, "translation_mean", "translation, mean", NULL, 5);
    ct_table_column(t, "translation_worst", "worst", NULL, 5);
    ct_table_column(t, "rotation_mean", "rotation, mean", NULL, 5);
    ct_table_column(t, "rotation_worst", "worst", NULL, 5);
    ct_table_column(t, "evaluations", "evaluations, most", NULL, 6);
    ct_table_column(t, "there", "within 5 % of the oracle", NULL, 0);
    for (int m = 0; m < n->methods; m++) {
        double mean[2], worst[2];
        int    most = 0, count = 0, there = 0;
        for (int w = 0; w < 2; w++) summary(n, m, w, &mean[w], &worst[w]);
        for (int s = 0; s < n->starts; s++) {
            if (!n->done[m][s]) continue;
            count++;
            there += ratio(n, m, s, 0) <= NEAR && ratio(n, m, s, 1) <= NEAR;
            if (n->trial[m][s].result.evaluations > most) most = n->trial[m][s].result.evaluations;
        }
        if (!count) continue;
        ct_table_row(t, 0);
        ct_table_text(t, "%s", n->who[m]->name);
        for (int w = 0; w < 2; w++) {
            ct_table_number(t, mean[w]);
            ct_table_number(t, worst[w]);
            if (worst[w] > NEAR) ct_table_mark(t, 2);
        }
        ct_table_number(t, most);
        ct_table_text(t, "%d of %d starts", there, count);
    }
    ct_table_note(t,
                  "Below 1: the learned models fit these sequences better than the simulated noise. The default starts "
                  "from second moments of residuals at the truth. It does not use the table and ends in one place.");
    return t;
}

static void put_data(init *n)
{
    ct_table *t = document_new_data(
        "$method $start translation rotation translation_over_oracle rotation_over_oracle loss "
        "spread solves evaluations seconds");
    for (int m = 0; m < n->methods; m++)
        for (int s = 0; s < n->starts; s++) {
            const ct_trial *trial = &n->trial[m][s];
            char            name[32];
            if (!n->done[m][s]) continue;
            const double value[] = {trial->train.accuracy.translation,
                                    trial->train.accuracy.rotation,
                                    ratio(n, m, s, 0),
                                    ratio(n, m, s, 1),
                                    trial->train.loss,
                                    trial->result.spread,
                                    (double)trial->result.inner_solves,
                                    trial->result.evaluations,
                                    trial->seconds};
            ct_table_row(t, 0);
            ct_table_text(t, "%s", n->who[m]->key);
            ct_table_text(t, "%s", start_name(s, name));
            for (size_t k = 0; k < sizeof value / sizeof *value; k++) ct_table_number(t, value[k]);
        }
    document_csv(&n->job->document, t, "");
}

/* ---- pictures ---- */

/* A curve a start: the error over the oracle's, by evaluations. */
static void put_picture(init *n, int m, int rotation)
{
    ct_series series[STARTS_MAX + 1];
    double   *x[STARTS_MAX] = {NULL}, *y[STARTS_MAX] = {NULL}, span[2] = {1, 1}, one[2] = {1, 1};
    char      id[64], title[128];
    int       count = 0;
    for (int s = 0; s < n->starts; s++) {
        const ct_trial *trial = &n->trial[m][s];
        if (!n->done[m][s] || !trial->points) continue;
        x[s] = cli_alloc((int64_t)trial->points + 1, sizeof **x);
        y[s] = cli_alloc((int64_t)trial->points + 1, sizeof **y);
        for (int32_t k = 0; k < trial->points; k++) {
            const ct_trace_point *p = &trial->trace[k];
            x[s][k] = p->evaluations;
            y[s][k] =
                rotation ? p->rotation / n->oracle.accuracy.rotation : p->translation / n->oracle.accuracy.translation;
        }
        x[s][trial->points] = trial->result.evaluations;
        y[s][trial->points] = y[s][trial->points - 1];
        span[1] = fmax(span[1], trial->result.evaluations);
        series[count++] = (ct_series){.label = s == 0   ? "far"
                                               : s == 1 ? "ones"
                                               : s == 2 ? "random"
                                                        : NULL,
                                      .role = s == 0   ? CT_ROLE_BEFORE
                                              : s == 1 ? CT_ROLE_FIRST
                                                       : CT_ROLE_QUIET,
                                      .mark = CT_MARK_LINE,
                                      .count = trial->points + 1,
                                      .x = x[s],
                                      .y = y[s]};
    }
    series[count++] =
        (ct_series){.label = "oracle", .role = CT_ROLE_TRUTH, .mark = CT_MARK_LINE, .count = 2, .x = span, .y = one};
    snprintf(id, sizeof id, "init-%s-%s", n->who[m]->key, rotation ? "rotation" : "translation");
    snprintf(title, sizeof title, "%s: training %s error", n->who[m]->name, rotation ? "rotation" : "translation");
    const ct_plot plot = {.id = id,
                          .title = title,
                          .x_label = "evaluations",
                          .y_label = "rmse / oracle",
                          .x_log = 1,
                          .y_log = 1,
                          .count = count,
                          .series = series};
    if (count > 1) document_plot(&n->job->document, &plot);
    for (int s = 0; s < STARTS_MAX; s++) free(x[s]), free(y[s]);
}

/* ---- all of it ---- */

static void state(init *n)
{
    for (int m = 0; m < n->methods; m++) {
        char where[1200] = "";
        int  count = 0, there = 0;
        for (int s = 0; s < n->starts; s++) {
            const size_t used = strlen(where);
            char         name[32];
            if (!n->done[m][s]) continue;
            count++;
            const int ok = ratio(n, m, s, 0) <= NEAR && ratio(n, m, s, 1) <= NEAR;
            there += ok;
            if (!ok)
                snprintf(where + used, sizeof where - used, "%s%s (%.3g and %.3g times)", used ? ", " : "not from ",
                         start_name(s, name), ratio(n, m, s, 0), ratio(n, m, s, 1));
        }
        if (there == count) snprintf(where, sizeof where, "%d of %d starts", count, count);
        if (count)
            document_state(
                &n->job->document, there == count, where,
                "%s comes within 5 %% of the oracle's training error, in translation and rotation, from every start",
                n->who[m]->name);
    }
}

static void print(init *n)
{
    document *b = &n->job->document;
    document_open(
        b, n->job->request, "Start values: where learning ends, from where it begins",
        "D3, loose bounds: the far start, variances of one, and some drawn log-uniformly between 0.001 and 1000");
    document_text(b, "%d training sequences of %d to %d poses, %d starts. On these sequences the oracle has %.4g m and "
                     "%.4g rad.",
                  n->size.trains, n->size.least, n->size.most, n->starts, n->oracle.accuracy.translation,
                  n->oracle.accuracy.rotation);
    if (cli_interrupted()) document_warn(b, "Interrupted: starts that were not done are not here.");
    state(n);
    document_claims(b);
    document_section(b, "table", "Where it ends");
    document_table(b, table_of(n));
    reproduce_show(n->job, table_of(n));
    document_section(b, "curves", "On the way");
    for (int m = 0; m < n->methods; m++)
        for (int w = 0; w < 2 && n->who[m]->from_table == 1; w++)
            put_picture(n, m, w); /* the default does not look at the start */
    put_data(n);
    document_close(b, n->job->request);
}

static ct_status run(reproduce_job *job, ct_err *err)
{
    const method_preset *all[METHODS];
    char              bad[64];
    const int         count = preset_list(ORDER, all, METHODS, bad);
    init             *n = cli_alloc(1, sizeof *n);
    n->job = job;
    n->size = job->request->quick ? (nav_size){3, 0, 100, 150} : (nav_size){5, 0, 300, 500};
    n->starts = job->request->quick ? 6 : STARTS_MAX;
    for (int i = 0; i < count; i++)
        if (reproduce_wants(job, all[i]->key)) n->who[n->methods++] = all[i];
    const grid      g = {.data = 1,
                         .bounds = 1,
                         .columns = n->methods * n->starts,
                         .seeds = 1,
                         .cost = cost,
                         .open = open,
                         .cell = fill_cell,
                         .user = n};
    const ct_status status = reproduce_grid(job, &g, err);
    if (status == CT_OK) print(n);
    for (int m = 0; m < METHODS; m++)
        for (int s = 0; s < STARTS_MAX; s++) ct_trial_free(&n->trial[m][s]);
    for (int s = 0; s < STARTS_MAX; s++) ct_noise_free(n->start[s]);
    ct_theta_free(n->theta);
    nav_data_free(&n->data);
    free(n);
    return status;
}

const reproduce_study reproduce_init = {.name = "init", .methods = ORDER, .run = run};
