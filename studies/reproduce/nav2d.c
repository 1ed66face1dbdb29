/* nav2d.c: covtune reproduce nav2d. The paper's Table I: D1 to D4, loose and tight bounds, far start; every method
 * learns from the training runs, and is judged on the test runs by incremental inference.
 *
 * The paper's own runs are not public, so absolute numbers are of other runs than the paper's; the oracle, which the
 * paper does not have, says what could have been reached on ours. */
#include "studies/reproduce/nav2d.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define JUDGING 1.5 /* units of the bar: a verdict */

const char *const nav2d_dataset[PAPER_DATASETS] = {"D1", "D2", "D3", "D4"}, *const nav2d_quantity[2] = {"translation",
                                                                                                        "rotation"};

static const char *const KEY[NAV2D_COLUMNS] = {"initial", "leo", "nelder-mead", "powell", "fw",
                                               "fw-left", "lm",  "closed-form", "oracle"};
static const double LOWER[PAPER_BOUNDS] = {CT_BOUND_LOOSE_LOWER, CT_BOUND_TIGHT_LOWER},
                    UPPER[PAPER_BOUNDS] = {CT_BOUND_LOOSE_UPPER, CT_BOUND_TIGHT_UPPER};

/* ---- numbers ---- */

double nav2d_error(const nav2d *n, int dataset, int tight, int column, int seed, int which)
{
    const nav2d_cell *cell = &n->cell[dataset][tight][column][seed];
    if (!cell->done) return NAN;
    return which ? cell->test.accuracy.rotation : cell->test.accuracy.translation;
}

double nav2d_mean(const nav2d *n, int dataset, int tight, int column, int which, double *deviation)
{
    double sum = 0, square = 0;
    int    count = 0;
    for (int s = 0; s < n->seeds; s++) {
        const double e = nav2d_error(n, dataset, tight, column, s, which);
        if (isnan(e)) continue;
        sum += e;
        count++;
    }
    const double mean = count ? sum / count : NAN;
    for (int s = 0; s < n->seeds; s++) {
        const double e = nav2d_error(n, dataset, tight, column, s, which);
        if (!isnan(e)) square += (e - mean) * (e - mean);
    }
    if (deviation) *deviation = count > 1 ? sqrt(square / (count - 1)) : NAN;
    return mean;
}

/* ---- which rows ---- */

static cli_exit check_rows(const cli_io *io, const char *list)
{
    int         row[PAPER_DATASETS][PAPER_BOUNDS];
    const char *bad = reproduce_rows(list, PAPER_DATASETS, nav2d_dataset, row);
    return bad ? cli_misuse(io, "--rows is a list of D1/loose, D1/tight and so on to D4/tight, found \"%.*s\"",
                            (int)strcspn(bad, ","), bad)
               : CLI_GO;
}

int nav2d_takes_part(const nav2d *n, int column, int tight)
{
    if (column == NAV2D_INITIAL || column == NAV2D_ORACLE) return 1;
    if (column == NAV2D_LEO && tight) return 0; /* it has no bounds, and the paper no row */
    return reproduce_wants(n->job, KEY[column]);
}

static double cost(const nav2d *n, int column)
{
    return n->column[column].who ? n->column[column].who->cost + JUDGING : JUDGING;
}

static double all_of_it(const nav2d *n)
{
    double sum = 0;
    for (int d = 0; d < PAPER_DATASETS; d++)
        for (int b = 0; b < PAPER_BOUNDS; b++)
            for (int c = 0; c < NAV2D_COLUMNS && n->row[d][b]; c++)
                sum += nav2d_takes_part(n, c, b) * n->seeds * cost(n, c);
    return sum;
}

/* ---- trials ---- */

static ct_status judge_table(nav2d *n, const nav_data *data, const ct_noise *noise, const ct_theta *theta,
                             nav2d_cell *cell, ct_err *err)
{
    const reproduce_runs runs = nav_data_runs(data);
    ct_status            status = reproduce_judge(n->job, 1, &runs, noise, &cell->train, err);
    if (status == CT_OK) status = reproduce_judge(n->job, 0, &runs, noise, &cell->test, err);
    cell->spread = preset_spread(theta, noise);
    cell->seconds = NAN;
    cell->solves = cell->evaluations = -1;
    return status;
}

static ct_status try_method(nav2d *n, const method_preset *who, const nav_data *data, const ct_theta *theta,
                            nav2d_cell *cell, ct_err *err)
{
    const reproduce_runs runs = nav_data_runs(data);
    ct_trial             trial;
    const ct_status      status = reproduce_try(n->job, who, &runs, theta, 0, &trial, err);
    if (status == CT_OK) {
        cell->test = trial.test;
        cell->train = trial.train;
        cell->spread = trial.result.spread;
        cell->seconds = trial.seconds;
        cell->solves = trial.result.inner_solves;
        cell->evaluations = trial.result.evaluations;
        cell->stop = trial.result.stop;
    }
    ct_trial_free(&trial);
    return status;
}

/* All methods of a row, on the dataset of one seed. */
static ct_status fill_row(nav2d *n, int d, int b, int seed, const nav_data *data, ct_err *err)
{
    ct_theta *theta = NULL;
    ct_status status = nav_data_theta(data, LOWER[b], UPPER[b], &theta, err);
    if (status == CT_OK) n->fits[d][b] = ct_fits(data->latent, theta);
    if (n->fits[d][b] < 0) cli_check_alloc(NULL);
    for (int c = 0; c < NAV2D_COLUMNS && status == CT_OK && !cli_interrupted(); c++) {
        nav2d_cell       *cell = &n->cell[d][b][c][seed];
        const method_preset *who = n->column[c].who;
        if (!nav2d_takes_part(n, c, b)) continue;
        n->job->cost = cost(n, c);
        snprintf(n->job->what, sizeof n->job->what, "%s %s, %s, seed %d of %d", nav2d_dataset[d], paper_bounds[b],
                 KEY[c], seed + 1, n->seeds);
        status = who ? try_method(n, who, data, theta, cell, err)
                     : judge_table(n, data, c == NAV2D_ORACLE ? data->latent : data->start, theta, cell, err);
        cell->done = status == CT_OK && !cli_interrupted();
        cli_progress_add(&n->job->bar, n->job->cost);
    }
    ct_theta_free(theta);
    return status;
}

static ct_status fill(nav2d *n, ct_err *err)
{
    ct_status status = CT_OK;
    for (int d = 0; d < PAPER_DATASETS; d++)
        for (int s = 0; s < n->seeds && status == CT_OK && !cli_interrupted(); s++) {
            nav_data data;
            if (!n->row[d][0] && !n->row[d][1]) continue;
            status = nav_data_make(nav2d_dataset[d], (uint64_t)s + 1, &n->size, &data, err);
            for (int b = 0; b < PAPER_BOUNDS && status == CT_OK; b++)
                if (n->row[d][b]) status = fill_row(n, d, b, s, &data, err);
            nav_data_free(&data);
        }
    return status;
}

static ct_status run(reproduce_job *job, ct_err *err)
{
    const int quick = job->request->quick;
    nav2d    *n = cli_alloc(1, sizeof *n);
    *n = (nav2d){.job = job, .seeds = job->request->seeds ? job->request->seeds : quick ? 1 : NAV2D_SEEDS};
    n->size = quick ? (nav_size){3, 6, 100, 150} : (nav_size){5, 20, 300, 500};
    for (int c = 0; c < NAV2D_COLUMNS; c++) n->column[c] = (nav2d_column){.key = KEY[c], .who = preset_find(KEY[c])};
    for (int c = 0; c < NAV2D_COLUMNS; c++)
        n->column[c].name = n->column[c].who ? n->column[c].who->name : c == NAV2D_ORACLE ? "oracle" : "initial";
    reproduce_rows(job->request->rows, PAPER_DATASETS, nav2d_dataset, n->row);
    job->bar = cli_progress_new(job->io, all_of_it(n));
    const ct_status status = fill(n, err);
    if (status == CT_OK) {
        document_open(&job->document, job->request, "Table I: navigation in the plane",
                      "Errors on unseen runs, of noise models that each method learned from the same runs and the same "
                      "start, six decades off");
        nav2d_state(n);
        nav2d_print(n);
        document_close(&job->document, job->request);
    }
    free(n);
    return status;
}

const reproduce_study reproduce_nav2d = {.name = "nav2d",
                                         .methods = "leo,nelder-mead,powell,fw,fw-left,lm,closed-form",
                                         .seeds = 1,
                                         .rows = check_rows,
                                         .run = run};
