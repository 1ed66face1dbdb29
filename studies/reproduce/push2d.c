/* push2d.c: covtune reproduce push2d. The paper's Tables II and III: an ellipse and a rectangle are pushed, touch is
 * measured by a noisy oracle or by a network; loose and tight bounds, far start. Every method learns from the
 * training sequences and is evaluated on the test sequences by incremental inference.
 *
 * The paper's runs are of a real robot and not public; ours are simulated (docs/pushing.md), so that what compares
 * is the order of the methods and how far they get from the start. */
#include "studies/reproduce/push2d.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* of methods without gradients, at most: each takes up to seconds where runs hardly have a minimum. The paper does not
 * say how many it had */
#define EVALUATIONS       200
#define EVALUATIONS_QUICK 50
#define EVALUATION        0.15 /* cost of the evaluations of a cell, in units of progress */
#define DIAGNOSES         0.5  /* cost of the diagnoses of the default                    */

const char *const push2d_object[PAPER_PUSHES] = {"ellipse", "ellipse", "rectangle", "rectangle"},
                  *const push2d_tactile[PAPER_PUSHES] = {"oracle", "network", "oracle", "network"};
const char *const push2d_body[2] = {"e", "o"};

static const char *const KEY[PUSH2D_COLUMNS] = {"initial", "leo", "nelder-mead", "powell", "fw", "lm", "closed-form"};
/* of learning, in that of lm: five runs, 200 evaluations at most */
static const double      COST[PUSH2D_COLUMNS] = {0, 2.5, 3.5, 3.5, 0.7, 1, 0.1};
static const char *const BOUNDS[PAPER_BOUNDS] = {"loose", "tight"};

/* ---- numbers ---- */

double push2d_accuracy(const ct_summary *summary, int which)
{
    const ct_accuracy a = ct_summary_body(summary, push2d_body[which / 2]);
    return which % 2 ? a.rotation : a.translation;
}

double push2d_average(int count, const double *value, double *error)
{
    int          n;
    double       deviation;
    const double mean = grid_mean(count, value, &deviation, &n);
    if (error) *error = deviation / sqrt(n);
    return mean;
}

double push2d_error(const push2d *n, int push, int tight, int column, int seed, int which)
{
    const push2d_cell *cell = &n->cell[push][tight][column][seed];
    return cell->cell.done ? push2d_accuracy(&cell->cell.test, which) : NAN;
}

double push2d_mean(const push2d *n, int push, int tight, int column, int which, double *error)
{
    double value[PUSH2D_SEEDS];
    for (int s = 0; s < n->seeds; s++) value[s] = push2d_error(n, push, tight, column, s, which);
    return push2d_average(n->seeds, value, error);
}

double push2d_mean_of(const push2d *n, int push, int tight, int column, double (*of)(const push2d_cell *),
                      double *error)
{
    double value[PUSH2D_SEEDS];
    for (int s = 0; s < n->seeds; s++)
        value[s] = n->cell[push][tight][column][s].cell.done ? of(&n->cell[push][tight][column][s]) : NAN;
    return push2d_average(n->seeds, value, error);
}

int push2d_row_done(const push2d *n, int push, int tight)
{
    return !isnan(push2d_mean(n, push, tight, PUSH2D_INITIAL, PUSH2D_OBJECT_T, NULL));
}

const char *push2d_row_name(int push, int tight, char buf[48])
{
    snprintf(buf, 48, "%s %s, %s", push2d_object[push], push2d_tactile[push], paper_bounds[tight]);
    return buf;
}

/* ---- which rows ---- */

static const char *const ROW[PAPER_PUSHES] = {"ellipse/oracle", "ellipse/network", "rectangle/oracle",
                                              "rectangle/network"};

static cli_exit check_rows(const cli_io *io, const char *list)
{
    int         row[PAPER_PUSHES][PAPER_BOUNDS];
    const char *bad = reproduce_rows(list, PAPER_PUSHES, ROW, row);
    return bad ? cli_misuse(io,
                            "--rows is a list of ellipse/oracle/loose, ellipse/oracle/tight, ellipse/network/loose and "
                            "so on to rectangle/network/tight, found \"%.*s\"",
                            (int)strcspn(bad, ","), bad)
               : CLI_GO;
}

int push2d_takes_part(const push2d *n, int column, int tight)
{
    if (column == PUSH2D_INITIAL) return 1;
    if (column == PUSH2D_LEO && tight) return 0; /* it has no bounds, and the paper no row */
    return reproduce_wants(n->job, KEY[column]);
}

/* ---- the grid ---- */

static int wanted(const void *user, grid_index at)
{
    const push2d *n = user;
    return n->row[at.data][at.bounds] && push2d_takes_part(n, at.column, at.bounds);
}

static double cost(const void *user, grid_index at)
{
    const double learning = COST[at.column] + EVALUATION;
    (void)user;
    return at.column == PUSH2D_LM ? learning + DIAGNOSES + at.bounds * learning : learning;
}

static ct_status open(void *user, grid_index at, ct_err *err)
{
    push2d *n = user;
    return push2d_data(n, at.data, (uint64_t)at.seed + 1, &n->data, err);
}

static void release(void *user)
{
    push2d *n = user;
    ct_theta_free(n->theta);
    n->theta = NULL;
    ct_dataset_free(n->data);
    n->data = NULL;
}

static ct_status bound(void *user, grid_index at, ct_err *err)
{
    push2d                *n = user;
    const ct_theta_options options = {.bounds = BOUNDS[at.bounds], .diagonal = "all"};
    ct_theta_free(n->theta);
    n->theta = NULL;
    return ct_dataset_theta(n->data, &options, &n->theta, err);
}

grid_data push2d_grid_data(const push2d *n)
{
    const ct_dataset *d = n->data;
    return (grid_data){.trains = d->trains, .tests = d->tests, .train = d->train, .test = d->test, .start = d->noise};
}

const char *push2d_stop(const push2d_cell *c)
{
    if (c->cell.solves < 0) return "";
    return c->cell.stop == CT_LEARN_STOP_CANCELLED ? "evaluations" : ct_learn_stop_name(c->cell.stop);
}

/* The test sequences in batch from the truth. */
static ct_status evaluate_from_truth(push2d *n, const grid_data *data, const ct_noise *noise, push2d_cell *cell,
                                     ct_err *err)
{
    ct_evaluate_options o = grid_evaluation(&n->job->runner);
    o.inference = ct_outer_inference(&n->job->runner.options.outer);
    return ct_evaluate(data->tests, data->test, noise, &o, NULL, &cell->test_truth, err);
}

static ct_status evaluate_start(push2d *n, const grid_data *data, push2d_cell *cell, ct_err *err)
{
    ct_status status = grid_table(&n->job->runner, data, data->start, n->theta, &cell->cell, err);
    if (status == CT_OK) status = evaluate_from_truth(n, data, data->start, cell, err);
    cell->cell.done = cell->cell.done && status == CT_OK && !cli_interrupted();
    return status;
}

ct_status push2d_learn(push2d *n, const method_preset *who, const grid_data *data, push2d_cell *cell, ct_noise **noise,
                       ct_err *err)
{
    ct_trial  trial;
    ct_status status = grid_learn(&n->job->runner, who, data, n->theta, 0, &trial, err);
    if (status == CT_OK) status = evaluate_from_truth(n, data, trial.noise, cell, err);
    if (status == CT_OK) cell->cell = grid_cell_of(&n->job->runner, &trial);
    if (status == CT_OK && noise) {
        *noise = trial.noise;
        trial.noise = NULL;
    }
    ct_trial_free(&trial);
    return status;
}

/* The start values have the same cell under all bounds. */
static ct_status fill_cell(void *user, grid_index at, ct_err *err)
{
    push2d         *n = user;
    grid_runner    *r = &n->job->runner;
    const grid_data data = push2d_grid_data(n);
    push2d_cell    *cell = &n->cell[at.data][at.bounds][at.column][at.seed];
    push2d_cell    *loose = &n->cell[at.data][0][at.column][at.seed];
    ct_noise       *noise = NULL;
    ct_status       status = CT_OK;
    char            name[48];
    snprintf(r->label, sizeof r->label, "%s, %s, seed %d of %d", push2d_row_name(at.data, at.bounds, name),
             KEY[at.column], at.seed + 1, n->seeds);
    if (at.column == PUSH2D_INITIAL && at.bounds && loose->cell.done) *cell = *loose;
    else if (at.column == PUSH2D_INITIAL) status = evaluate_start(n, &data, cell, err);
    else status = push2d_learn(n, n->column[at.column].who, &data, cell, &noise, err);
    if (status == CT_OK && cell->cell.done && at.column == PUSH2D_LM) status = push2d_diagnose(n, at, noise, err);
    ct_noise_free(noise);
    return status;
}

static ct_status run(reproduce_job *job, ct_err *err)
{
    const int quick = job->request->quick;
    push2d   *n = cli_alloc(1, sizeof *n);
    *n = (push2d){.job = job, .seeds = job->request->seeds ? job->request->seeds : quick ? 1 : PUSH2D_SEEDS};
    n->size = quick ? (push2d_size){3, 3, 2, 50} : (push2d_size){5, PUSH2D_TESTS, 3, 100};
    job->runner.options.learn.deployment.incremental = 1;
    job->runner.options.test.nees = job->runner.options.test.conditioning = 0;
    job->runner.max_evaluations = quick ? EVALUATIONS_QUICK : EVALUATIONS;
    for (int c = 0; c < PUSH2D_COLUMNS; c++) n->column[c] = (push2d_column){.key = KEY[c], .who = preset_find(KEY[c])};
    for (int c = 0; c < PUSH2D_COLUMNS; c++) n->column[c].name = n->column[c].who ? n->column[c].who->name : "initial";
    reproduce_rows(job->request->rows, PAPER_PUSHES, ROW, n->row);
    const grid      g = {.data = PAPER_PUSHES,
                         .bounds = PAPER_BOUNDS,
                         .columns = PUSH2D_COLUMNS,
                         .seeds = n->seeds,
                         .seed_first = 1,
                         .wanted = wanted,
                         .cost = cost,
                         .open = open,
                         .close = release,
                         .bound = bound,
                         .cell = fill_cell,
                         .user = n};
    const ct_status status = reproduce_grid(job, &g, err);
    if (status == CT_OK) {
        document_open(&job->document, job->request, "Tables II and III: pushing in the plane",
                      "Errors on test pushes, of noise models that each method learned from the same sequences and the "
                      "same start, six decades off");
        push2d_state(n);
        push2d_print(n);
        document_close(&job->document, job->request);
    }
    for (int p = 0; p < PAPER_PUSHES; p++) push_scene_free(n->scene[p]);
    free(n);
    return status;
}

const reproduce_study reproduce_push2d = {.name = "push2d",
                                          .methods = "leo,nelder-mead,powell,fw,lm,closed-form",
                                          .seeds = 1,
                                          .rows = check_rows,
                                          .run = run};
