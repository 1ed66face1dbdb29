/* samples.c: covtune reproduce samples. How many runs does learning need? D1 and D3, loose bounds, far start; 1 to
 * 20 training sequences, the same test sequences for all.
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
#define BASE       5   /* sequences that the costs of presets are for     */
#define EVALUATION 1.5 /* cost of an evaluation, in units of progress     */
#define HIGHEST   20.0 /* %, of the picture */
#define LOWEST    (-5.0)

static const char        ORDER[] = "lm,lm-alone,closed-form,fw";
static const char *const DATASET[DATASETS] = {"D1", "D3"};
static const int         RUNS[SIZES] = {1, 2, 5, 10, 20};
static const char *const QUANTITY[2] = {"translation", "rotation"};

typedef struct {
    reproduce_job       *job;
    nav_size             size;
    nav_data             data;  /* of the seed under way */
    ct_theta            *theta;
    int                  methods, seeds;
    const method_preset *who[METHODS];
    ct_summary           oracle[DATASETS][SEEDS_MAX]; /* on the test sequences */
    grid_cell            cell[DATASETS][SIZES][METHODS][SEEDS_MAX];
} samples;

/* ---- the grid: a column is a number of training sequences and a method ---- */

static int size_of(const samples *n, int column) { return column / n->methods; }

static int method_of(const samples *n, int column) { return column % n->methods; }

static double cost(const void *user, grid_index at)
{
    const samples *n = user;
    return n->who[method_of(n, at.column)]->cost * RUNS[size_of(n, at.column)] / BASE + EVALUATION;
}

static ct_status open(void *user, grid_index at, ct_err *err)
{
    samples  *n = user;
    ct_status status = nav_data_make(DATASET[at.data], (uint64_t)at.seed + 1, &n->size, &n->data, err);
    const grid_data data = nav_data_grid(&n->data);
    if (status == CT_OK)
        status = nav_data_theta(&n->data, CT_NOISE_DIAGONAL, CT_BOUND_LOOSE_LOWER, CT_BOUND_LOOSE_UPPER, &n->theta,
                                err);
    if (status == CT_OK)
        status = grid_evaluate(&n->job->runner, 0, &data, n->data.latent, &n->oracle[at.data][at.seed], err);
    return status;
}

static void release(void *user)
{
    samples *n = user;
    ct_theta_free(n->theta);
    n->theta = NULL;
    nav_data_free(&n->data);
}

/* Learns from the first sequences. */
static ct_status fill_cell(void *user, grid_index at, ct_err *err)
{
    samples             *n = user;
    grid_runner         *r = &n->job->runner;
    const int            k = size_of(n, at.column), m = method_of(n, at.column);
    grid_data            some = nav_data_grid(&n->data);
    ct_trial             trial;
    some.trains = RUNS[k];
    snprintf(r->label, sizeof r->label, "%s, %d sequence%s, %s, seed %d of %d", DATASET[at.data], RUNS[k],
             CLI_S(RUNS[k]), n->who[m]->key, at.seed + 1, n->seeds);
    const ct_status status = grid_learn(r, n->who[m], &some, n->theta, 0, &trial, err);
    if (status == CT_OK) n->cell[at.data][k][m][at.seed] = grid_cell_of(r, &trial);
    ct_trial_free(&trial);
    return status;
}

/* ---- numbers ---- */

static double ratio(const samples *n, int d, int k, int m, int seed, int which)
{
    const grid_cell  *c = &n->cell[d][k][m][seed];
    const ct_accuracy o = n->oracle[d][seed].accuracy;
    return !c->done ? NAN
           : which  ? c->test.accuracy.rotation / o.rotation
                    : c->test.accuracy.translation / o.translation;
}

static double mean_of(const samples *n, int d, int k, int m, int which, double *deviation)
{
    double value[SEEDS_MAX];
    for (int s = 0; s < n->seeds; s++) value[s] = ratio(n, d, k, m, s, which);
    return grid_mean(n->seeds, value, deviation, NULL);
}

static ct_table *table_of(const samples *n)
{
    ct_table *t = document_new_table("Test error over the oracle's, by the number of training sequences");
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
    ct_table *t = document_new_data(
        "$dataset runs $method seed translation rotation translation_over_oracle "
        "rotation_over_oracle test_loss spread evaluations seconds");
    for (int i = 0; i < DATASETS * SIZES * n->methods * n->seeds; i++) {
        const int s = i % n->seeds, m = i / n->seeds % n->methods, k = i / n->seeds / n->methods % SIZES,
                  d = i / n->seeds / n->methods / SIZES;
        const grid_cell *c = &n->cell[d][k][m][s];
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

/* The axis ends below a few outliers; the table has them. */
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
    snprintf(title, sizeof title, "%s: translation error on test sequences", DATASET[d]);
    const ct_plot plot = {.id = id,
                          .title = title,
                          .x_label = "training sequences",
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

/* ---- claims ---- */

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
                       "More sequences help %s: translation error above the oracle's is less with 20 sequences than "
                       "with 5",
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
        document_state(&n->job->document, most <= 1.02, where, "With 5 sequences the default is within 2 %% of the "
                                                               "oracle");
}

static void print(samples *n)
{
    document *b = &n->job->document;
    document_open(b, n->job->request, "Training sequences: how many does it take?",
                  "D1 and D3, loose bounds, far start: error on test sequences after learning from 1 to 20");
    document_text(b,
                  "%d test sequences of %d to %d poses, the same for every number of training sequences, estimated "
                  "incrementally; "
                  "%d seed%s. The paper remarks that more than 5 sequences do not help.",
                  n->size.tests, n->size.least, n->size.most, n->seeds, CLI_S(n->seeds));
    if (cli_interrupted()) document_warn(b, "Interrupted: what was not done is not here.");
    for (int m = 0; m < n->methods; m++) state_help(n, m);
    state_default(n);
    document_claims(b);
    document_section(b, "table", "Error by number of sequences");
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
    samples          *n = cli_alloc(1, sizeof *n);
    n->job = job;
    n->size = quick ? (nav_size){RUNS[SIZES - 1], 6, 100, 150} : (nav_size){RUNS[SIZES - 1], 20, 300, 500};
    n->seeds = job->request->seeds ? job->request->seeds : quick ? 2 : SEEDS_MAX;
    for (int i = 0; i < count; i++)
        if (reproduce_wants(job, all[i]->key)) n->who[n->methods++] = all[i];
    const grid      g = {.data = DATASETS,
                         .bounds = 1,
                         .columns = SIZES * n->methods,
                         .seeds = n->seeds,
                         .cost = cost,
                         .open = open,
                         .close = release,
                         .cell = fill_cell,
                         .user = n};
    const ct_status status = reproduce_grid(job, &g, err);
    if (status == CT_OK) print(n);
    free(n);
    return status;
}

const reproduce_study reproduce_samples = {.name = "samples", .methods = ORDER, .seeds = 1, .run = run};
