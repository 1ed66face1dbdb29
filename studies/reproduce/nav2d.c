/* nav2d.c: covtune reproduce nav2d. The paper's Table I: D1 to D4, loose and tight bounds, far start; every method
 * learns from the training sequences and is evaluated on the test sequences by incremental inference.
 *
 * The paper's own runs are not public, so absolute numbers are of other runs than the paper's; the oracle, which the
 * paper does not have, says what could have been reached on ours. */
#include "studies/reproduce/nav2d.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EVALUATION 1.5 /* cost of an evaluation, in units of progress */

const char *const nav2d_dataset[PAPER_DATASETS] = {"D1", "D2", "D3", "D4"}, *const nav2d_quantity[2] = {"translation",
                                                                                                        "rotation"};

static const char *const KEY[NAV2D_COLUMNS] = {"initial", "leo", "nelder-mead", "powell", "fw",
                                               "fw-left", "lm",  "closed-form", "oracle"};
static const double LOWER[PAPER_BOUNDS] = {CT_BOUND_LOOSE_LOWER, CT_BOUND_TIGHT_LOWER},
                    UPPER[PAPER_BOUNDS] = {CT_BOUND_LOOSE_UPPER, CT_BOUND_TIGHT_UPPER};

/* ---- numbers ---- */

double nav2d_error(const nav2d *n, int dataset, int tight, int column, int seed, int which)
{
    const grid_cell *cell = &n->cell[dataset][tight][column][seed];
    if (!cell->done) return NAN;
    return which ? cell->test.accuracy.rotation : cell->test.accuracy.translation;
}

double nav2d_mean(const nav2d *n, int dataset, int tight, int column, int which, double *deviation)
{
    double value[NAV2D_SEEDS];
    for (int s = 0; s < n->seeds; s++) value[s] = nav2d_error(n, dataset, tight, column, s, which);
    return grid_mean(n->seeds, value, deviation, NULL);
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

/* ---- the grid ---- */

static int wanted(const void *user, grid_index at)
{
    const nav2d *n = user;
    return n->row[at.data][at.bounds] && nav2d_takes_part(n, at.column, at.bounds);
}

static double cost(const void *user, grid_index at)
{
    const method_preset *who = ((const nav2d *)user)->column[at.column].who;
    return (who ? who->cost : 0) + EVALUATION;
}

static ct_status open(void *user, grid_index at, ct_err *err)
{
    nav2d *n = user;
    return nav_data_make(nav2d_dataset[at.data], (uint64_t)at.seed + 1, &n->size, &n->data, err);
}

static void release(void *user)
{
    nav2d *n = user;
    ct_theta_free(n->theta);
    n->theta = NULL;
    nav_data_free(&n->data);
}

static ct_status bound(void *user, grid_index at, ct_err *err)
{
    nav2d *n = user;
    ct_theta_free(n->theta);
    const ct_status status =
        nav_data_theta(&n->data, CT_NOISE_DIAGONAL, LOWER[at.bounds], UPPER[at.bounds], &n->theta, err);
    if (status != CT_OK) return status;
    n->fits[at.data][at.bounds] = ct_fits(n->data.latent, n->theta);
    if (n->fits[at.data][at.bounds] < 0) cli_check_alloc(NULL);
    return CT_OK;
}

static ct_status fill_cell(void *user, grid_index at, ct_err *err)
{
    nav2d               *n = user;
    grid_runner         *r = &n->job->runner;
    grid_cell           *cell = &n->cell[at.data][at.bounds][at.column][at.seed];
    const grid_data      data = nav_data_grid(&n->data);
    const method_preset *who = n->column[at.column].who;
    ct_trial             trial;
    snprintf(r->label, sizeof r->label, "%s %s, %s, seed %d of %d", nav2d_dataset[at.data], paper_bounds[at.bounds],
             KEY[at.column], at.seed + 1, n->seeds);
    if (!who)
        return grid_table(r, &data, at.column == NAV2D_ORACLE ? n->data.latent : n->data.start, n->theta, cell, err);
    const ct_status status = grid_learn(r, who, &data, n->theta, 0, &trial, err);
    if (status == CT_OK) *cell = grid_cell_of(r, &trial);
    ct_trial_free(&trial);
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
    const grid      g = {.data = PAPER_DATASETS,
                         .bounds = PAPER_BOUNDS,
                         .columns = NAV2D_COLUMNS,
                         .seeds = n->seeds,
                         .wanted = wanted,
                         .cost = cost,
                         .open = open,
                         .close = release,
                         .bound = bound,
                         .cell = fill_cell,
                         .user = n};
    const ct_status status = reproduce_grid(job, &g, err);
    if (status == CT_OK) {
        document_open(&job->document, job->request, "Table I: navigation in the plane",
                      "Errors on test sequences, of noise models that each method learned from the same sequences and "
                      "the same "
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
