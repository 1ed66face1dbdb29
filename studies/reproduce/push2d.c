/* push2d.c: covtune reproduce push2d. The paper's Tables II and III: an ellipse and a rectangle are pushed, touch is
 * measured by a noisy oracle or by a network; loose and tight bounds, far start. Every method learns from the
 * training runs, and is judged on the test runs by incremental inference.
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
#define JUDGING           0.15 /* units of the bar: the verdicts of a cell */
#define LOOKING           0.5  /* and a closer look at the default         */

const char *const push2d_object[PAPER_PUSHES] = {"ellipse", "ellipse", "rectangle", "rectangle"},
                  *const push2d_tactile[PAPER_PUSHES] = {"oracle", "network", "oracle", "network"};
const char *const push2d_thing[2] = {"e", "o"};

static const char *const KEY[PUSH2D_COLUMNS] = {"initial", "leo", "nelder-mead", "powell", "fw", "lm", "closed-form"};
/* of learning, in that of lm: five runs, 200 evaluations at most */
static const double      COST[PUSH2D_COLUMNS] = {0, 2.5, 3.5, 3.5, 0.7, 1, 0.1};
static const char *const BOUNDS[PAPER_BOUNDS] = {"loose", "tight"};

/* ---- numbers ---- */

double push2d_accuracy(const ct_summary *verdict, int which)
{
    const ct_accuracy a = ct_summary_body(verdict, push2d_thing[which / 2]);
    return which % 2 ? a.rotation : a.translation;
}

double push2d_average(int count, const double *value, double *error)
{
    double sum = 0, square = 0;
    int    n = 0;
    for (int i = 0; i < count; i++)
        if (!isnan(value[i])) sum += value[i], n++;
    const double mean = n ? sum / n : NAN;
    for (int i = 0; i < count; i++)
        if (!isnan(value[i])) square += (value[i] - mean) * (value[i] - mean);
    if (error) *error = n > 1 ? sqrt(square / (n - 1) / n) : NAN;
    return mean;
}

double push2d_error(const push2d *n, int push, int tight, int column, int seed, int which)
{
    const push2d_cell *cell = &n->cell[push][tight][column][seed];
    return cell->done ? push2d_accuracy(&cell->test, which) : NAN;
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
        value[s] = n->cell[push][tight][column][s].done ? of(&n->cell[push][tight][column][s]) : NAN;
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

static double cost(int column, int tight)
{
    return COST[column] + JUDGING + (column == PUSH2D_LM ? LOOKING + tight * (COST[column] + JUDGING) : 0);
}

static double all_of_it(const push2d *n)
{
    double sum = 0;
    for (int p = 0; p < PAPER_PUSHES; p++)
        for (int b = 0; b < PAPER_BOUNDS; b++)
            for (int c = 0; c < PUSH2D_COLUMNS && n->row[p][b]; c++)
                sum += push2d_takes_part(n, c, b) * n->seeds * cost(c, b);
    return sum;
}

/* ---- trials ---- */

/* The test runs once more, at once from the truth. */
static ct_status judge_truth(push2d *n, const reproduce_runs *runs, const ct_noise *noise, push2d_cell *cell,
                             ct_err *err)
{
    ct_evaluate_options o = reproduce_evaluation(n->job);
    o.inference = reproduce_from_truth();
    return ct_evaluate(runs->tests, runs->test, noise, &o, NULL, &cell->test_truth, err);
}

static ct_status judge_start(push2d *n, const reproduce_runs *runs, const ct_theta *theta, push2d_cell *cell,
                             ct_err *err)
{
    ct_status status = reproduce_judge(n->job, 1, runs, runs->start, &cell->train, err);
    if (status == CT_OK) status = reproduce_judge(n->job, 0, runs, runs->start, &cell->test, err);
    if (status == CT_OK) status = judge_truth(n, runs, runs->start, cell, err);
    cell->spread = preset_spread(theta, runs->start);
    cell->seconds = NAN;
    cell->solves = cell->evaluations = -1;
    cell->stop = "";
    return status;
}

ct_status push2d_try(push2d *n, const method_preset *who, const reproduce_runs *runs, const ct_theta *theta,
                     push2d_cell *cell, ct_noise **noise, ct_err *err)
{
    ct_trial  trial;
    ct_status status = reproduce_try(n->job, who, runs, theta, 0, &trial, err);
    if (status == CT_OK) status = judge_truth(n, runs, trial.noise, cell, err);
    if (status == CT_OK) {
        cell->test = trial.test;
        cell->train = trial.train;
        cell->spread = trial.result.spread;
        cell->seconds = trial.seconds;
        cell->solves = trial.result.inner_solves;
        cell->evaluations = trial.result.evaluations;
        /* cancelled otherwise, it is not done */
        cell->stop =
            trial.result.stop == CT_LEARN_STOP_CANCELLED ? "evaluations" : ct_learn_stop_name(trial.result.stop);
        if (noise) {
            *noise = trial.noise;
            trial.noise = NULL;
        }
    }
    ct_trial_free(&trial);
    return status;
}

static ct_status fill_cell(push2d *n, int p, int b, int c, int seed, const ct_dataset *data, const ct_theta *theta,
                           ct_err *err)
{
    const reproduce_runs runs = {
        .trains = data->trains, .tests = data->tests, .train = data->train, .test = data->test, .start = data->noise};
    push2d_cell         *cell = &n->cell[p][b][c][seed];
    ct_noise            *noise = NULL;
    ct_status            status = CT_OK;
    char                 name[48];
    n->job->cost = cost(c, b);
    snprintf(n->job->what, sizeof n->job->what, "%s, %s, seed %d of %d", push2d_row_name(p, b, name), KEY[c], seed + 1,
             n->seeds);
    /* bounds say nothing on it */
    if (c == PUSH2D_INITIAL && b && n->cell[p][0][c][seed].done) *cell = n->cell[p][0][c][seed];
    else if (c == PUSH2D_INITIAL) status = judge_start(n, &runs, theta, cell, err);
    else status = push2d_try(n, n->column[c].who, &runs, theta, cell, &noise, err);
    cell->done = status == CT_OK && !cli_interrupted();
    if (cell->done && c == PUSH2D_LM) status = push2d_look(n, p, b, seed, data, theta, noise, err);
    ct_noise_free(noise);
    cli_progress_add(&n->job->bar, cost(c, b));
    return status;
}

/* All methods of a row, on the dataset of one seed. */
static ct_status fill_row(push2d *n, int p, int b, int seed, const ct_dataset *data, ct_err *err)
{
    const ct_theta_options options = {.bounds = BOUNDS[b], .diagonal = "all"};
    ct_theta              *theta = NULL;
    ct_status              status = ct_dataset_theta(data, &options, &theta, err);
    for (int c = 0; c < PUSH2D_COLUMNS && status == CT_OK && !cli_interrupted(); c++)
        if (push2d_takes_part(n, c, b)) status = fill_cell(n, p, b, c, seed, data, theta, err);
    ct_theta_free(theta);
    return status;
}

static ct_status fill(push2d *n, ct_err *err)
{
    ct_status status = CT_OK;
    for (int s = 0; s < n->seeds; s++)
        for (int p = 0; p < PAPER_PUSHES && status == CT_OK && !cli_interrupted(); p++) {
            ct_dataset *data = NULL;
            if (!n->row[p][0] && !n->row[p][1]) continue;
            status = push2d_data(n, p, (uint64_t)s + 1, &data, err);
            for (int b = 0; b < PAPER_BOUNDS && status == CT_OK; b++)
                if (n->row[p][b]) status = fill_row(n, p, b, s, data, err);
            ct_dataset_free(data);
        }
    return status;
}

static ct_status run(reproduce_job *job, ct_err *err)
{
    const int quick = job->request->quick;
    push2d   *n = cli_alloc(1, sizeof *n);
    *n = (push2d){.job = job, .seeds = job->request->seeds ? job->request->seeds : quick ? 1 : PUSH2D_SEEDS};
    n->size = quick ? (push2d_size){3, 3, 2, 50} : (push2d_size){5, PUSH2D_TESTS, 3, 100};
    job->stepwise = job->plain = 1;
    job->evaluations = quick ? EVALUATIONS_QUICK : EVALUATIONS;
    for (int c = 0; c < PUSH2D_COLUMNS; c++) n->column[c] = (push2d_column){.key = KEY[c], .who = preset_find(KEY[c])};
    for (int c = 0; c < PUSH2D_COLUMNS; c++) n->column[c].name = n->column[c].who ? n->column[c].who->name : "initial";
    reproduce_rows(job->request->rows, PAPER_PUSHES, ROW, n->row);
    job->bar = cli_progress_new(job->io, all_of_it(n));
    const ct_status status = fill(n, err);
    if (status == CT_OK) {
        document_open(&job->document, job->request, "Tables II and III: pushing in the plane",
                      "Errors on unseen pushes, of noise models that each method learned from the same runs and the "
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
