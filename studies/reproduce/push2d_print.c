/* push2d_print.c: Tables II and III and what belongs to them, into the document. */
#include "studies/reproduce/push2d.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CM 100.0 /* in a metre */

static const char *const QUANTITY[PAPER_PUSH_QUANTITIES] = {"finger, cm", "finger, rad", "object, cm", "object, rad"};

static double scale_of(int which) { return which % 2 ? 1 : CM; }

/* ---- the data ---- */

static void put_cell(ct_table *t, const push2d *n, int p, int b, int c, int s)
{
    const push2d_cell *cell = &n->cell[p][b][c][s];
    if (!cell->cell.done) return;
    ct_table_row(t, 0);
    ct_table_text(t, "%s", push2d_object[p]);
    ct_table_text(t, "%s", push2d_tactile[p]);
    ct_table_text(t, "%s", paper_bounds[b]);
    ct_table_text(t, "%s", n->column[c].key);
    ct_table_number(t, s + 1);
    for (int w = 0; w < PAPER_PUSH_QUANTITIES; w++) ct_table_number(t, push2d_error(n, p, b, c, s, w));
    for (int w = PUSH2D_OBJECT_T; w <= PUSH2D_OBJECT_R; w++) ct_table_number(t, push2d_accuracy(&cell->test_truth, w));
    const double number[] = {cell->cell.train.loss,
                             cell->test_truth.loss,
                             cell->cell.test.loss,
                             cell->cell.spread,
                             cell->cell.solves < 0 ? NAN : (double)cell->cell.solves,
                             cell->cell.evaluations < 0 ? NAN : (double)cell->cell.evaluations,
                             cell->cell.seconds};
    for (size_t k = 0; k < sizeof number / sizeof *number; k++) ct_table_number(t, number[k]);
    ct_table_text(t, "%s", push2d_stop(cell));
    ct_table_number(t, cell->cell.test.failed);
    ct_table_number(t, cell->test_truth.failed);
}

static void put_data(push2d *n)
{
    ct_table *t = document_new_data(
        "$object $tactile $bounds $method seed finger_translation finger_rotation "
        "object_translation object_rotation object_translation_from_truth "
        "object_rotation_from_truth train_loss test_loss_from_truth test_loss spread solves "
        "evaluations seconds $stop failed failed_from_truth");
    for (int p = 0; p < PAPER_PUSHES; p++)
        for (int b = 0; b < PAPER_BOUNDS; b++)
            for (int c = 0; c < PUSH2D_COLUMNS; c++)
                for (int s = 0; s < n->seeds; s++) put_cell(t, n, p, b, c, s);
    document_csv(&n->job->document, t, "");
}

/* ---- Table II ---- */

static int is_best(const push2d *n, int p, int b, int column, int which)
{
    const double mine = push2d_mean(n, p, b, column, which, NULL);
    if (column == PUSH2D_INITIAL) return 0;
    for (int c = PUSH2D_LEO; c < PUSH2D_COLUMNS; c++)
        if (push2d_mean(n, p, b, c, which, NULL) < mine) return 0;
    return 1;
}

/* 3e-5, as tables have it, and not 3e-05. */
static void shorten_power(char *text)
{
    char *zero = strstr(text, "e-0");
    if (zero) memmove(zero + 2, zero + 3, strlen(zero + 3) + 1);
}

/* Ours, its standard error, the paper's: a row each. */
static void put_cell_of(ct_table *t, const push2d *n, int p, int b, int c, int w, int row)
{
    double       error;
    const double mean = push2d_mean(n, p, b, c, w, &error);
    char         text[24] = "";
    if (row == 0) {
        ct_table_number(t, scale_of(w) * mean);
        if (is_best(n, p, b, c, w)) ct_table_mark(t, 1);
        return;
    }
    const double paper = paper_push2d(n->column[c].key, p, b, w);
    if (row == 1 && !isnan(error))
        snprintf(text, sizeof text, scale_of(w) * error < 1e-3 ? "%.1e" : "%.2g", scale_of(w) * error);
    /* as it is there */
    if (row == 2 && !isnan(paper)) snprintf(text, sizeof text, paper < 1e-3 ? "%.0e" : "%.3f", paper);
    shorten_power(text);
    ct_table_text(t, "%s", text);
}

static void put_rows(ct_table *t, const push2d *n, int p, int b, int w)
{
    static const char *const WHOSE[] = {"here", "std. error", "paper"};
    for (int k = 0; k < 3; k++) {
        if (k == 1 && n->seeds < 2) continue;
        ct_table_row(t, k == 0 && w == 0);
        ct_table_text(t, "%s", k == 0 && w == 0 ? push2d_tactile[p] : "");
        ct_table_text(t, "%s", k == 0 ? QUANTITY[w] : "");
        ct_table_text(t, "%s", WHOSE[k]);
        for (int c = 0; c < PUSH2D_COLUMNS; c++)
            if (push2d_takes_part(n, c, b)) put_cell_of(t, n, p, b, c, w, k);
    }
}

/* An object's, as the paper has them: by the oracle, and by the network. */
static ct_table *table_of(const push2d *n, int first, int b)
{
    char title[160];
    snprintf(title, sizeof title, "%s, %s bounds (%s): rmse on test sequences", first ? "Rectangle" : "Ellipse",
             paper_bounds[b], b ? "0.1 to 10" : "0.001 to 1000");
    ct_table *t = document_new_table(title);
    ct_table_column(t, "tactile", "touch", NULL, 0);
    ct_table_column(t, "quantity", "of", NULL, 0);
    ct_table_column(t, "whose", "", NULL, 0);
    for (int c = 0; c < PUSH2D_COLUMNS; c++)
        if (push2d_takes_part(n, c, b)) ct_table_column(t, n->column[c].key, n->column[c].name, NULL, 3);
    for (int p = first; p < first + 2; p++)
        for (int w = 0; w < PAPER_PUSH_QUANTITIES && push2d_row_done(n, p, b); w++) put_rows(t, n, p, b, w);
    if (n->seeds > 1)
        ct_table_note(t,
                      "here: the mean over %d seeds, and its standard error; the best method of a row stands out. The "
                      "finger is the paper's end-effector.",
                      n->seeds);
    else ct_table_note(t, "One seed; the best method of a row stands out. The finger is the paper's end-effector.");
    return t;
}

static void put_tables(push2d *n)
{
    for (int first = 0; first < PAPER_PUSHES; first += 2)
        for (int b = 0; b < PAPER_BOUNDS; b++) {
            if (!push2d_row_done(n, first, b) && !push2d_row_done(n, first + 1, b)) continue;
            document_table(&n->job->document, table_of(n, first, b));
            reproduce_show(n->job, table_of(n, first, b));
        }
}

/* ---- Table III ---- */

/* Of a number over seeds. */
static double median(const push2d *n, int p, int b, int c, double (*of)(const push2d_cell *))
{
    double value[PUSH2D_SEEDS];
    int    count = 0;
    for (int s = 0; s < n->seeds; s++)
        if (n->cell[p][b][c][s].cell.done) value[count++] = of(&n->cell[p][b][c][s]);
    return ct_median(count, value);
}

static double spread_of(const push2d_cell *cell) { return cell->cell.spread; }
static double train_of(const push2d_cell *cell) { return cell->cell.train.loss; }
static double test_of(const push2d_cell *cell) { return cell->cell.test.loss; }
static double truth_of(const push2d_cell *cell) { return cell->test_truth.loss; }
static double evaluations_of(const push2d_cell *cell)
{
    return cell->cell.evaluations < 0 ? NAN : (double)cell->cell.evaluations;
}
static double seconds_of(const push2d_cell *cell) { return cell->cell.seconds; }

static void put_spreads(push2d *n)
{
    ct_table *t = document_new_table("Largest over smallest learned variance");
    ct_table_column(t, "bounds", "bounds", NULL, 0);
    ct_table_column(t, "method", "method", NULL, 0);
    for (int p = 0; p < PAPER_PUSHES; p++) {
        char key[48], heading[48];
        snprintf(key, sizeof key, "%s_%s", push2d_object[p], push2d_tactile[p]);
        snprintf(heading, sizeof heading, "%s, %s", push2d_object[p], push2d_tactile[p]);
        ct_table_column(t, key, heading, NULL, 3);
    }
    for (int b = 0; b < PAPER_BOUNDS; b++) {
        int rows = 0;
        for (int c = PUSH2D_LEO; c < PUSH2D_COLUMNS; c++) {
            int any = 0;
            for (int p = 0; p < PAPER_PUSHES; p++) any |= !isnan(median(n, p, b, c, spread_of));
            if (!any) continue;
            ct_table_row(t, rows == 0);
            ct_table_text(t, "%s", rows++ ? "" : paper_bounds[b]);
            ct_table_text(t, "%s", n->column[c].name);
            for (int p = 0; p < PAPER_PUSHES; p++) ct_table_number(t, median(n, p, b, c, spread_of));
        }
        if (!rows) continue;
        ct_table_row(t, 0);
        ct_table_text(t, "%s", "");
        ct_table_text(t, "%s", "paper");
        for (int p = 0; p < PAPER_PUSHES; p++) ct_table_number(t, paper_push2d_spread(p, b));
    }
    ct_table_note(t, "Medians over seeds, of variances in units. The paper's are of its own method, Frank-Wolfe, and "
                     "in units that it does not say.");
    document_table(&n->job->document, t);
}

/* ---- loss and cost ---- */

static void put_losses(push2d *n)
{
    static const char *const NUMBER[][2] = {
        {"train", "training"},
        {"test_truth", "test, batch"},
        {"test", "test, incremental"},
        {"ratio", "ratio"},
        {"evaluations", "evaluations"},
        {"seconds", "time in s"},
        {"failed", "failed"},
    };
    ct_table *t = document_new_table("Loss and cost of learning");
    ct_table_column(t, "data", "data", NULL, 0);
    ct_table_column(t, "bounds", "bounds", NULL, 0);
    ct_table_column(t, "method", "method", NULL, 0);
    for (size_t k = 0; k < sizeof NUMBER / sizeof *NUMBER; k++) ct_table_column(t, NUMBER[k][0], NUMBER[k][1], NULL, 3);
    for (int p = 0; p < PAPER_PUSHES; p++)
        for (int b = 0; b < PAPER_BOUNDS; b++)
            for (int c = 0; c < PUSH2D_COLUMNS; c++) {
                const double train = push2d_mean_of(n, p, b, c, train_of, NULL),
                             test = push2d_mean_of(n, p, b, c, test_of, NULL);
                int          failed = 0;
                if (isnan(train)) continue;
                for (int s = 0; s < n->seeds; s++) failed += n->cell[p][b][c][s].cell.test.failed;
                ct_table_row(t, c == 0);
                ct_table_text(t, "%s%s%s", c == 0 ? push2d_object[p] : "", c == 0 ? " " : "",
                              c == 0 ? push2d_tactile[p] : "");
                ct_table_text(t, "%s", c == 0 ? paper_bounds[b] : "");
                ct_table_text(t, "%s", n->column[c].name);
                ct_table_number(t, train);
                ct_table_number(t, push2d_mean_of(n, p, b, c, truth_of, NULL));
                ct_table_number(t, test);
                ct_table_number(t, test / train);
                ct_table_number(t, median(n, p, b, c, evaluations_of));
                ct_table_number(t, median(n, p, b, c, seconds_of));
                ct_table_number(t, failed);
            }
    ct_table_note(
        t, "Losses are means over sequences and seeds, of training sequences and of test sequences in batch from "
           "the truth, as "
           "learning has it, and of test sequences incrementally, as in deployment; ratio: the last to the first. "
           "Evaluations "
           "and time: medians. Failed: test sequences of all seeds that incrementally have no minimum.");
    document_table(&n->job->document, t);
}

/* ---- pictures ---- */

/* Of the object: a place for each row and within it one for each method. */
static void put_picture(push2d *n, int w)
{
    enum { ROWS = PAPER_PUSHES * PAPER_BOUNDS };
    double      x[PUSH2D_COLUMNS][ROWS], y[PUSH2D_COLUMNS][ROWS], spread[PUSH2D_COLUMNS][ROWS];
    char        name[ROWS][48];
    const char *names[ROWS];
    ct_series   series[PUSH2D_COLUMNS];
    int         count = 0, rows = 0;
    for (int c = 0; c < PUSH2D_COLUMNS; c++) {
        if (!push2d_takes_part(n, c, 0)) continue;
        rows = 0;
        for (int p = 0; p < PAPER_PUSHES; p++)
            for (int b = 0; b < PAPER_BOUNDS; b++) {
                double       error;
                const double mean = push2d_mean(n, p, b, c, w, &error);
                if (!push2d_row_done(n, p, b)) continue;
                snprintf(name[rows], sizeof name[rows], "%.4s. %.3s. %s", push2d_object[p], push2d_tactile[p],
                         paper_bounds[b]);
                names[rows] = name[rows];
                x[c][rows] = rows + 0.1 * (c - 0.5 * (PUSH2D_COLUMNS - 1));
                y[c][rows] = scale_of(w) * mean;
                spread[c][rows++] = isnan(error) ? 0 : scale_of(w) * error;
            }
        const method_preset *who = n->column[c].who;
        series[count++] = (ct_series){.label = n->column[c].name,
                                      .role = who ? who->role : CT_ROLE_BEFORE,
                                      .mark = CT_MARK_POINTS,
                                      .count = rows,
                                      .x = x[c],
                                      .y = y[c],
                                      .spread = spread[c]};
    }
    const ct_plot plot = {.id = w % 2 ? "push2d-rotation" : "push2d-translation",
                          .title = w % 2 ? "The object's rotation on test pushes"
                                         : "The object's position on test pushes",
                          .y_label = w % 2 ? "rotation rmse in rad" : "translation rmse in cm",
                          .y_log = 1,
                          .x_low = -0.5,
                          .x_high = rows - 0.5,
                          .count = count,
                          .series = series,
                          .x_names = names,
                          .names = rows,
                          .text = "Means over seeds, bars one standard error of them. Ellipse and rectangle; touch by "
                                  "the oracle and by the network; loose and tight bounds."};
    if (rows) document_plot(&n->job->document, &plot);
}

static void put_scenes(push2d *n)
{
    int any = 0;
    for (int p = 0; p < PAPER_PUSHES; p++) {
        char id[48], title[80];
        if (!n->scene[p]) continue;
        if (!any++) document_section(&n->job->document, "pushes", "Pushes, before and after");
        snprintf(id, sizeof id, "push2d-%s-%s", push2d_object[p], push2d_tactile[p]);
        snprintf(title, sizeof title, "%s, touch by the %s, %s bounds", p < 2 ? "Ellipse" : "Rectangle",
                 push2d_tactile[p], n->scene_bounds[p]);
        const ct_scene scene = push_scene_of(n->scene[p], id, title, NULL);
        document_scene(&n->job->document, &scene);
    }
    if (any)
        document_text(&n->job->document,
                      "The first test sequence of the first seed, estimated incrementally: before, under the start "
                      "values; "
                      "after, under what the default learned. The finger is a dot. Between pushes it is lifted.");
}

/* ---- all of it ---- */

void push2d_print(push2d *n)
{
    document *b = &n->job->document;
    document_text(
        b,
        "%d training and %d test sequences, each of %d pushes of %d steps, for each of %d seed%s: worlds with "
        "friction, "
        "calibration and pushes of their own. Pushes of training sequences, of test sequences and of those that the "
        "tactile "
        "network is trained on are different ones. Variances are in units (tac 0.01 rad; dyn 0.2 mm, 0.2 mm, 2 cm²; "
        "geo 2 mm; prior 0.1 mm, 0.1 mrad), and so are bounds; start values have a spread of 10⁶. Test sequences are "
        "estimated incrementally (isam2), each pose from the one before. rmse is per coordinate, the mean over "
        "sequences.",
        n->size.trains, n->size.tests, n->size.episodes, n->size.steps, n->seeds, CLI_S(n->seeds));
    document_text(
        b,
        "Nelder-Mead and Powell are stopped after %d evaluations, if they are not done; all else is each method's own.",
        n->job->runner.max_evaluations);
    if (n->job->request->quick)
        document_text(b, "Quick: few and short sequences, and methods without gradients are cut off early.");
    if (cli_interrupted()) document_warn(b, "Interrupted: rows and seeds that were not done are not here.");
    document_claims(b);
    document_section(b, "table", "Table II");
    put_tables(n);
    document_text(b, "LEO knows no bounds and is in the loose tables alone. The paper's column for its own method is "
                     "Frank-Wolfe's. Its sequences are of a real robot: the order of the methods can be compared, "
                     "and how "
                     "far each gets from the start.");
    for (int w = PUSH2D_OBJECT_T; w <= PUSH2D_OBJECT_R; w++) put_picture(n, w);
    put_scenes(n);
    document_section(b, "spread", "Table III");
    put_spreads(n);
    document_section(b, "loss", "Loss and cost");
    put_losses(n);
    push2d_put_diagnoses(n);
    put_data(n);
}
