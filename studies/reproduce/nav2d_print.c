/* nav2d_print.c: Table I and what belongs to it, into the document. */
#include "studies/reproduce/nav2d.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int row_done(const nav2d *n, int d, int b) { return !isnan(nav2d_mean(n, d, b, NAV2D_INITIAL, 0, NULL)); }

/* ---- the data ---- */

static void put_cell(ct_table *t, const nav2d *n, int d, int b, int c, int s)
{
    const grid_cell *cell = &n->cell[d][b][c][s];
    if (!cell->done) return;
    ct_table_row(t, 0);
    ct_table_text(t, "%s", nav2d_dataset[d]);
    ct_table_text(t, "%s", paper_bounds[b]);
    ct_table_text(t, "%s", n->column[c].key);
    ct_table_number(t, s + 1);
    for (int w = 0; w < 2; w++) ct_table_number(t, nav2d_error(n, d, b, c, s, w));
    for (int w = 0; w < 2; w++)
        ct_table_number(t, nav2d_error(n, d, b, c, s, w) / nav2d_error(n, d, b, NAV2D_ORACLE, s, w));
    const double number[] = {cell->train.accuracy.translation,
                             cell->train.accuracy.rotation,
                             cell->test.loss,
                             cell->train.loss,
                             cell->test.nees,
                             cell->spread,
                             cell->test.condition,
                             cell->test.condition_scaled,
                             cell->solves < 0 ? NAN : (double)cell->solves,
                             cell->evaluations < 0 ? NAN : (double)cell->evaluations,
                             cell->seconds};
    for (size_t k = 0; k < sizeof number / sizeof *number; k++) ct_table_number(t, number[k]);
    ct_table_text(t, "%s", cell->solves < 0 ? "" : ct_learn_stop_name(cell->stop));
    ct_table_number(t, cell->test.failed);
    ct_table_number(t, n->fits[d][b]);
}

static void put_data(nav2d *n)
{
    ct_table *t = document_new_data(
        "$dataset $bounds $method seed translation rotation translation_over_oracle "
        "rotation_over_oracle train_translation train_rotation test_loss train_loss nees spread "
        "condition condition_scaled solves evaluations seconds $stop failed oracle_in_box");
    for (int d = 0; d < PAPER_DATASETS; d++)
        for (int b = 0; b < PAPER_BOUNDS; b++)
            for (int c = 0; c < NAV2D_COLUMNS; c++)
                for (int s = 0; s < n->seeds; s++) put_cell(t, n, d, b, c, s);
    document_csv(&n->job->document, t, "");
}

/* ---- Table I ---- */

static int is_best(const nav2d *n, int d, int b, int column, int which)
{
    const double mine = nav2d_mean(n, d, b, column, which, NULL);
    if (column == NAV2D_INITIAL || column == NAV2D_ORACLE) return 0;
    for (int c = NAV2D_LEO; c <= NAV2D_CLOSED_FORM; c++)
        if (nav2d_mean(n, d, b, c, which, NULL) < mine) return 0;
    return 1;
}

/* Ours, what that scatters by, over the oracle's, the paper's: a row each. */
static void put_cell_of(ct_table *t, const nav2d *n, int d, int b, int c, int w, int row)
{
    double       deviation;
    const double mean = nav2d_mean(n, d, b, c, w, &deviation), paper = paper_nav2d(n->column[c].key, d, b, w);
    char         printed[24] = "";
    if (row == 1 && !isnan(deviation)) snprintf(printed, sizeof printed, "%.2g", deviation);
    if (row == 3 && !isnan(paper)) snprintf(printed, sizeof printed, "%.3f", paper); /* as it is there */
    if (row % 2) ct_table_text(t, "%s", printed);
    else ct_table_number(t, row ? mean / nav2d_mean(n, d, b, NAV2D_ORACLE, w, NULL) : mean);
    if (row % 2 == 0 && is_best(n, d, b, c, w)) ct_table_mark(t, 1);
}

static void put_rows(ct_table *t, const nav2d *n, int d, int b, int w)
{
    static const char *const WHOSE[] = {"here", "deviation", "ratio", "paper"};
    for (int k = 0; k < 4; k++) {
        if (k == 1 && n->seeds < 2) continue;
        ct_table_row(t, k == 0);
        ct_table_text(t, "%s", k == 0 ? nav2d_dataset[d] : "");
        ct_table_text(t, "%s", WHOSE[k]);
        for (int c = 0; c < NAV2D_COLUMNS; c++)
            if (nav2d_takes_part(n, c, b)) put_cell_of(t, n, d, b, c, w, k);
    }
}

static ct_table *table_of(const nav2d *n, int b, int w)
{
    char title[160];
    snprintf(title, sizeof title, "%s rmse on test sequences, %s bounds (%s)", w ? "Rotation" : "Translation",
             paper_bounds[b], b ? "0.1 to 10" : "0.001 to 1000");
    ct_table *t = document_new_table(title);
    ct_table_column(t, "dataset", "data", NULL, 0);
    ct_table_column(t, "whose", w ? "in rad" : "in m", NULL, 0);
    for (int c = 0; c < NAV2D_COLUMNS; c++)
        if (nav2d_takes_part(n, c, b)) ct_table_column(t, n->column[c].key, n->column[c].name, NULL, 4);
    for (int d = 0; d < PAPER_DATASETS; d++)
        if (row_done(n, d, b)) put_rows(t, n, d, b, w);
    if (n->seeds > 1)
        ct_table_note(t,
                      "here: the mean over %d seeds, and its standard deviation from seed to seed; ratio: of the means "
                      "to the oracle's; the best method of a row stands out.",
                      n->seeds);
    else ct_table_note(t, "One seed; ratio: to the oracle's; the best method of a row stands out.");
    return t;
}

static void put_tables(nav2d *n, int b)
{
    int rows = 0;
    for (int d = 0; d < PAPER_DATASETS; d++) rows += row_done(n, d, b);
    for (int w = 0; w < 2 && rows; w++) {
        document_table(&n->job->document, table_of(n, b, w));
        reproduce_show(n->job, table_of(n, b, w));
    }
}

/* Methods that ended because training sequences had no minimum wherever they looked next. */
static void put_stuck(nav2d *n)
{
    char text[800] = "";
    for (int d = 0; d < PAPER_DATASETS; d++)
        for (int b = 0; b < PAPER_BOUNDS; b++)
            for (int c = NAV2D_LEO; c <= NAV2D_CLOSED_FORM; c++)
                for (int s = 0; s < n->seeds; s++) {
                    const size_t used = strlen(text);
                    if (!n->cell[d][b][c][s].done || n->cell[d][b][c][s].stop != CT_LEARN_STOP_STUCK) continue;
                    snprintf(text + used, sizeof text - used, "%s%s %s %s (seed %d)", used ? ", " : "",
                             nav2d_dataset[d], paper_bounds[b], n->column[c].key, s + 1);
                }
    if (*text)
        document_warn(&n->job->document,
                      "Stuck, as a training sequence had no minimum under what the method tried next: %s.", text);
}

/* ---- conditioning and cost ---- */

/* Of a number over seeds. */
static double median(const nav2d *n, int d, int b, int c, double (*of)(const grid_cell *))
{
    double value[NAV2D_SEEDS];
    int    count = 0;
    for (int s = 0; s < n->seeds; s++)
        if (n->cell[d][b][c][s].done) value[count++] = of(&n->cell[d][b][c][s]);
    return ct_median(count, value);
}

static double spread_of(const grid_cell *cell) { return cell->spread; }
static double condition_of(const grid_cell *cell) { return cell->test.condition; }
static double scaled_of(const grid_cell *cell) { return cell->test.condition_scaled; }
static double nees_of(const grid_cell *cell) { return cell->test.nees; }
static double solves_of(const grid_cell *cell) { return cell->solves < 0 ? NAN : (double)cell->solves; }
static double evaluations_of(const grid_cell *cell) { return cell->evaluations < 0 ? NAN : (double)cell->evaluations; }
static double seconds_of(const grid_cell *cell) { return cell->seconds; }

static void put_conditioning(nav2d *n)
{
    static const struct {
        const char *key, *heading, *unit;
        double    (*of)(const grid_cell *);
    } COLUMN[] = {{"spread", "spread", NULL, spread_of},
                  {"condition", "condition", NULL, condition_of},
                  {"condition_scaled", "condition, scaled", NULL, scaled_of},
                  {"nees", "NEES", NULL, nees_of},
                  {"solves", "inner solves", NULL, solves_of},
                  {"evaluations", "evaluations", NULL, evaluations_of},
                  {"seconds", "time", "s", seconds_of}};
    ct_table *t = document_new_table("Spread, condition and cost");
    ct_table_column(t, "dataset", "data", NULL, 0);
    ct_table_column(t, "bounds", "bounds", NULL, 0);
    ct_table_column(t, "method", "method", NULL, 0);
    for (size_t k = 0; k < sizeof COLUMN / sizeof *COLUMN; k++)
        ct_table_column(t, COLUMN[k].key, COLUMN[k].heading, COLUMN[k].unit, 3);
    for (int d = 0; d < PAPER_DATASETS; d++)
        for (int b = 0; b < PAPER_BOUNDS; b++)
            for (int c = 0; c < NAV2D_COLUMNS; c++) {
                if (isnan(nav2d_mean(n, d, b, c, 0, NULL))) continue;
                ct_table_row(t, c == 0);
                ct_table_text(t, "%s", c == 0 ? nav2d_dataset[d] : "");
                ct_table_text(t, "%s", c == 0 ? paper_bounds[b] : "");
                ct_table_text(t, "%s", n->column[c].name);
                for (size_t k = 0; k < sizeof COLUMN / sizeof *COLUMN; k++)
                    ct_table_number(t, median(n, d, b, c, COLUMN[k].of));
            }
    ct_table_note(
        t,
        "Medians over seeds. spread: largest over smallest learned variance. condition: of the whitened system at the "
        "estimates of the test sequences, without and with column scaling. NEES is 1 where claimed uncertainty is "
        "right.");
    document_table(&n->job->document, t);
}

/* ---- pictures ---- */

/* Error over the oracle's, a place for each row and within it one for each method. */
static void put_picture(nav2d *n, int w)
{
    enum { ROWS = PAPER_DATASETS * PAPER_BOUNDS, SERIES = NAV2D_COLUMNS - 1 };
    double      x[SERIES][ROWS], y[SERIES][ROWS], spread[SERIES][ROWS], edge[2] = {-0.5, ROWS - 0.5}, one[2] = {1, 1};
    char        name[ROWS][16];
    const char *names[ROWS];
    ct_series   series[SERIES + 1];
    int         count = 0, rows = 0;
    for (int c = 0; c < SERIES; c++) {
        if (!nav2d_takes_part(n, c, 0)) continue;
        rows = 0;
        for (int d = 0; d < PAPER_DATASETS; d++)
            for (int b = 0; b < PAPER_BOUNDS; b++) {
                double       deviation;
                const double oracle = nav2d_mean(n, d, b, NAV2D_ORACLE, w, NULL),
                             mean = nav2d_mean(n, d, b, c, w, &deviation);
                if (!row_done(n, d, b)) continue;
                snprintf(name[rows], sizeof name[rows], "%s %s", nav2d_dataset[d], paper_bounds[b]);
                names[rows] = name[rows];
                x[c][rows] = rows + 0.09 * (c - 0.5 * (SERIES - 1));
                y[c][rows] = mean / oracle;
                spread[c][rows++] = isnan(deviation) ? 0 : deviation / oracle;
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
    edge[1] = rows - 0.5;
    series[count++] =
        (ct_series){.label = "oracle", .role = CT_ROLE_TRUTH, .mark = CT_MARK_LINE, .count = 2, .x = edge, .y = one};
    const ct_plot plot = {
        .id = w ? "nav2d-rotation" : "nav2d-translation",
        .title = w ? "Rotation error on test sequences, over the oracle's"
                   : "Translation error on test sequences, over the oracle's",
        .y_label = w ? "rotation rmse / oracle" : "translation rmse / oracle",
        .y_log = 1,
        .x_low = -0.5,
        .x_high = rows - 0.5,
        .count = count,
        .series = series,
        .x_names = names,
        .names = rows,
        .text = "Means over seeds, bars one standard deviation of them. 1 is what the noise that was drawn reaches."};
    if (rows) document_plot(&n->job->document, &plot);
}

/* ---- all of it ---- */

void nav2d_print(nav2d *n)
{
    document *b = &n->job->document;
    document_text(
        b,
        "%d training and %d test sequences of %d to %d poses for each of %d seed%s; start values are variances of "
        "100, 100 "
        "and 0.001 for odometry and 0.1, 0.1 and 1000 for GPS. Test sequences are estimated incrementally (isam2), "
        "as in the paper. rmse is per coordinate, the mean over sequences.",
        n->size.trains, n->size.tests, n->size.least, n->size.most, n->seeds, CLI_S(n->seeds));
    if (n->job->request->quick) document_text(b, "Quick: short sequences, and methods without gradients are cut off "
                                                 "early.");
    if (cli_interrupted()) document_warn(b, "Interrupted: rows and seeds that were not done are not here.");
    document_claims(b);
    document_section(b, "table", "Table I");
    for (int k = 0; k < PAPER_BOUNDS; k++) put_tables(n, k);
    put_stuck(n);
    document_text(
        b, "LEO knows no bounds and is in the loose table alone. Frank-Wolfe is the paper's method (M = 2, 100 "
           "iterations): under the local difference from the truth, and under the left one, which is the paper's. "
           "The paper's column for it is \"Ours\". Its sequences are others: the order of the methods can be compared, "
           "and how far each is from the oracle.");
    for (int w = 0; w < 2; w++) put_picture(n, w);
    document_section(b, "conditioning", "Conditioning and cost");
    put_conditioning(n);
    put_data(n);
}
