/* samples.c: covtune reproduce samples. How many runs does learning need? D1 and D3, loose bounds, far start; 1 to
 * 20 training runs, the same test runs for all.
 *
 * The paper remarks that more than five do not help; what is seen here is said in the result. */
#include "studies/reproduce/reproduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define METHODS   4
#define DATASETS  2
#define SIZES     5
#define SEEDS_MAX 5
#define BASE      5 /* runs that cost what method_presets' costs say */
#define JUDGING   1.5
#define HIGHEST   20.0 /* %, of the picture */
#define LOWEST    (-5.0)

static const char        ORDER[] = "lm,lm-alone,closed-form,fw";
static const char *const DATASET[DATASETS] = {"D1", "D3"};
static const int         RUNS[SIZES] = {1, 2, 5, 10, 20};
static const char *const QUANTITY[2] = {"translation", "rotation"};

typedef struct {
    int        done;
    ct_summary test;
    double     spread, seconds;
    int        evaluations;
} cell;

typedef struct {
    reproduce_job    *job;
    nav_size          size;
    int               methods, seeds;
    const method_preset *who[METHODS];
    ct_summary        oracle[DATASETS][SEEDS_MAX]; /* on the test runs */
    cell              cell[DATASETS][SIZES][METHODS][SEEDS_MAX];
} samples;

/* ---- trials ---- */

static ct_status learn(samples *n, int d, int k, int m, int seed, const nav_data *data, const ct_theta *theta,
                       ct_err *err)
{
    reproduce_job *job = n->job;
    cell          *c = &n->cell[d][k][m][seed];
    reproduce_runs some = nav_data_runs(data); /* the first of them */
    ct_trial       trial;
    some.trains = RUNS[k];
    job->cost = n->who[m]->cost * RUNS[k] / BASE + JUDGING;
    snprintf(job->what, sizeof job->what, "%s, %d run%s, %s, seed %d of %d", DATASET[d], RUNS[k], CLI_S(RUNS[k]),
             n->who[m]->key, seed + 1, n->seeds);
    const ct_status status = reproduce_try(job, n->who[m], &some, theta, 0, &trial, err);
    if (status == CT_OK && !cli_interrupted())
        *c = (cell){.done = 1,
                    .test = trial.test,
                    .spread = trial.result.spread,
                    .seconds = trial.seconds,
                    .evaluations = trial.result.evaluations};
    ct_trial_free(&trial);
    cli_progress_add(&job->bar, job->cost);
    return status;
}

static ct_status fill_dataset(samples *n, int d, int seed, ct_err *err)
{
    nav_data  data;
    ct_theta *theta = NULL;
    ct_status status = nav_data_make(DATASET[d], (uint64_t)seed + 1, &n->size, &data, err);
    const reproduce_runs runs = nav_data_runs(&data);
    if (status == CT_OK) status = nav_data_theta(&data, CT_BOUND_LOOSE_LOWER, CT_BOUND_LOOSE_UPPER, &theta, err);
    if (status == CT_OK) status = reproduce_judge(n->job, 0, &runs, data.latent, &n->oracle[d][seed], err);
    for (int k = 0; k < SIZES; k++)
        for (int m = 0; m < n->methods && status == CT_OK && !cli_interrupted(); m++)
            status = learn(n, d, k, m, seed, &data, theta, err);
    ct_theta_free(theta);
    nav_data_free(&data);
    return status;
}

/* ---- numbers ---- */

static double ratio(const samples *n, int d, int k, int m, int seed, int which)
{
    const cell       *c = &n->cell[d][k][m][seed];
    const ct_accuracy o = n->oracle[d][seed].accuracy;
    return !c->done ? NAN
           : which  ? c->test.accuracy.rotation / o.rotation
                    : c->test.accuracy.translation / o.translation;
}

static double mean_of(const samples *n, int d, int k, int m, int which, double *deviation)
{
    double sum = 0, square = 0;
    int    count = 0;
    for (int s = 0; s < n->seeds; s++)
        if (n->cell[d][k][m][s].done) sum += ratio(n, d, k, m, s, which), count++;
    const double mean = count ? sum / count : NAN;
    for (int s = 0; s < n->seeds; s++)
        if (n->cell[d][k][m][s].done) square += pow(ratio(n, d, k, m, s, which) - mean, 2);
    *deviation = count > 1 ? sqrt(square / (count - 1)) : NAN;
    return mean;
}

static ct_table *table_of(const samples *n)
{
    ct_table *t = document_new_table("Test error over the oracle's, by the number of training runs");
    ct_table_column(t, "dataset", "data", NULL, 0);
    ct_table_column(t, "quantity", "rmse", NULL, 0);
    ct_table_column(t, "runs", "runs", NULL, 3);
    for (int m = 0; m < n->methods; m++) ct_table_column(t, n->who[m]->key, n->who[m]->name, NULL, 5);
    for (int d = 0; d < DATASETS; d++)
        for (int w = 0; w < 2; w++)
            for (int k = 0; k < SIZES; k++) {
                ct_table_row(t, k == 0);
                ct_table_text(t, "%s", k ? "" : DATASET[d]);
                ct_table_text(t, "%s", k ? "" : QUANTITY[w]);
                ct_table_number(t, RUNS[k]);
                for (int m = 0; m < n->methods; m++) {
                    double       deviation;
                    const double mean = mean_of(n, d, k, m, w, &deviation);
                    if (isnan(deviation)) ct_table_number(t, mean);
                    else ct_table_deviation(t, mean, deviation);
                }
            }
    ct_table_note(t, "Mean and standard deviation over %d seed%s.", n->seeds, CLI_S(n->seeds));
    return t;
}

static void put_data(samples *n)
{
    static const char *const NUMBER[] = {
        "seed",   "translation", "rotation", "translation_over_oracle", "rotation_over_oracle", "test_loss",
        "spread", "evaluations", "seconds"};
    ct_table                *t = document_new_table(NULL);
    ct_table_column(t, "dataset", "dataset", NULL, 0);
    ct_table_column(t, "runs", "runs", NULL, 17);
    ct_table_column(t, "method", "method", NULL, 0);
    for (size_t k = 0; k < sizeof NUMBER / sizeof *NUMBER; k++) ct_table_column(t, NUMBER[k], NUMBER[k], NULL, 17);
    for (int i = 0; i < DATASETS * SIZES * n->methods * n->seeds; i++) {
        const int s = i % n->seeds, m = i / n->seeds % n->methods, k = i / n->seeds / n->methods % SIZES,
                  d = i / n->seeds / n->methods / SIZES;
        const cell *c = &n->cell[d][k][m][s];
        if (!c->done) continue;
        const double value[] = {s + 1,
                                c->test.accuracy.translation,
                                c->test.accuracy.rotation,
                                ratio(n, d, k, m, s, 0),
                                ratio(n, d, k, m, s, 1),
                                c->test.loss,
                                c->spread,
                                c->evaluations,
                                c->seconds};
        ct_table_row(t, 0);
        ct_table_text(t, "%s", DATASET[d]);
        ct_table_number(t, RUNS[k]);
        ct_table_text(t, "%s", n->who[m]->key);
        for (size_t v = 0; v < sizeof value / sizeof *value; v++) ct_table_number(t, value[v]);
    }
    document_csv(&n->job->document, t, "");
}

/* ---- picture ---- */

/* The axis ends where most of it is told; what lies above is in the table. */
static void put_picture(samples *n, int d)
{
    ct_series   series[METHODS + 1];
    double x[METHODS][SIZES], y[METHODS][SIZES], spread[METHODS][SIZES], edge[2] = {-0.5, SIZES - 0.5},
                                                                         zero[2] = {0, 0}, low = 0, high = 1;
    char        id[32], title[96], name[SIZES][8];
    const char *names[SIZES];
    for (int m = 0; m < n->methods; m++) {
        for (int k = 0; k < SIZES; k++) {
            double deviation;
            snprintf(name[k], sizeof name[k], "%d", RUNS[k]);
            names[k] = name[k];
            y[m][k] = 100 * (mean_of(n, d, k, m, 0, &deviation) - 1);
            spread[m][k] = isnan(deviation) ? 0 : 100 * deviation;
            x[m][k] = k + 0.12 * (m - 0.5 * (n->methods - 1)); /* beside each other */
            low = fmin(low, y[m][k] - spread[m][k]);
            high = fmax(high, y[m][k] + spread[m][k]);
        }
        series[m] = (ct_series){.label = n->who[m]->name,
                                .role = n->who[m]->role,
                                .mark = CT_MARK_POINTS,
                                .count = SIZES,
                                .x = x[m],
                                .y = y[m],
                                .spread = spread[m]};
    }
    series[n->methods] =
        (ct_series){.label = "oracle", .role = CT_ROLE_TRUTH, .mark = CT_MARK_LINE, .count = 2, .x = edge, .y = zero};
    snprintf(id, sizeof id, "samples-%s", DATASET[d]);
    snprintf(title, sizeof title, "%s: translation error on unseen runs", DATASET[d]);
    const ct_plot plot = {.id = id,
                          .title = title,
                          .x_label = "training runs",
                          .y_label = "above the oracle's, %",
                          .x_low = edge[0],
                          .x_high = edge[1],
                          .y_low = fmax(low, LOWEST),
                          .y_high = fmin(high, HIGHEST),
                          .count = n->methods + 1,
                          .series = series,
                          .x_names = names,
                          .names = SIZES,
                          .text = high > HIGHEST ? "Means over seeds, bars one standard deviation of them. What is not "
                                                   "in the picture lies above it: see the table."
                                                 : "Means over seeds, bars one standard deviation of them."};
    document_plot(&n->job->document, &plot);
}

/* ---- what is demanded ---- */

/* The error above the oracle's with 20 runs is less than with 5. */
static void state_help(samples *n, int m)
{
    char where[400] = "";
    int  rows = 0, misses = 0;
    for (int d = 0; d < DATASETS; d++) {
        const size_t used = strlen(where);
        double       deviation;
        const double one = mean_of(n, d, 0, m, 0, &deviation), five = mean_of(n, d, 2, m, 0, &deviation),
                     twenty = mean_of(n, d, 4, m, 0, &deviation);
        if (isnan(twenty)) continue;
        rows++;
        misses += !(twenty < five);
        snprintf(where + used, sizeof where - used, "%s%s: %.2f %% with 1, %.2f %% with 5, %.2f %% with 20",
                 used ? "; " : "", DATASET[d], 100 * (one - 1), 100 * (five - 1), 100 * (twenty - 1));
    }
    if (rows)
        document_state(&n->job->document, !misses, where,
                       "More runs help %s: translation error above the oracle's is less with 20 runs than with 5",
                       n->who[m]->name);
}

static void state_default(samples *n)
{
    char   where[200] = "";
    double most = -INFINITY;
    for (int m = 0; m < n->methods; m++)
        for (int d = 0; d < DATASETS && n->who[m]->method == CT_LEARN_LM && !n->who[m]->alone; d++)
            for (int w = 0; w < 2; w++) {
                double       deviation;
                const double five = mean_of(n, d, 2, m, w, &deviation);
                if (!(five > most)) continue;
                most = five;
                snprintf(where, sizeof where, "at most %.2f %%: %s, %s", 100 * (five - 1), DATASET[d], QUANTITY[w]);
            }
    if (isfinite(most))
        document_state(&n->job->document, most <= 1.02, where, "With 5 runs the default is within 2 %% of the oracle");
}

static void print(samples *n)
{
    document *b = &n->job->document;
    document_open(b, n->job->request, "Training runs: how many does it take?",
                  "D1 and D3, loose bounds, far start: error on unseen runs after learning from 1 to 20");
    document_text(b,
                  "%d test runs of %d to %d poses, the same for every number of training runs, estimated step by step; "
                  "%d seed%s. The paper remarks that more than 5 runs do not help.",
                  n->size.tests, n->size.least, n->size.most, n->seeds, CLI_S(n->seeds));
    if (cli_interrupted()) document_warn(b, "Interrupted: what was not done is not here.");
    for (int m = 0; m < n->methods; m++) state_help(n, m);
    state_default(n);
    document_demands(b);
    document_section(b, "table", "Error by number of runs");
    document_table(b, table_of(n));
    reproduce_show(n->job, table_of(n));
    for (int d = 0; d < DATASETS; d++) put_picture(n, d);
    put_data(n);
    document_close(b, n->job->request);
}

static ct_status run(reproduce_job *job, ct_err *err)
{
    const method_preset *all[METHODS];
    char              bad[64];
    const int         quick = job->request->quick, count = preset_list(ORDER, all, METHODS, bad);
    double            units = 0;
    ct_status         status = CT_OK;
    samples          *n = cli_alloc(1, sizeof *n);
    n->job = job;
    n->size = quick ? (nav_size){RUNS[SIZES - 1], 6, 100, 150} : (nav_size){RUNS[SIZES - 1], 20, 300, 500};
    n->seeds = job->request->seeds ? job->request->seeds : quick ? 2 : SEEDS_MAX;
    for (int i = 0; i < count; i++) {
        if (!reproduce_wants(job, all[i]->key)) continue;
        n->who[n->methods++] = all[i];
        for (int k = 0; k < SIZES; k++) units += DATASETS * n->seeds * (all[i]->cost * RUNS[k] / BASE + JUDGING);
    }
    job->bar = cli_progress_new(job->io, units);
    for (int d = 0; d < DATASETS; d++)
        for (int s = 0; s < n->seeds && status == CT_OK && !cli_interrupted(); s++) status = fill_dataset(n, d, s, err);
    if (status == CT_OK) print(n);
    free(n);
    return status;
}

const reproduce_study reproduce_samples = {.name = "samples", .methods = ORDER, .seeds = 1, .run = run};
