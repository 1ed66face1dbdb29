/* page_demo.c: a page with everything that pages can have, of made-up data that look like a report's. check_page
 * opens it in a browser; to look at it oneself:
 *
 *     build/tests/page_demo FILE.html [PLOT.svg [SCENE.svg]]
 */
#include <covtune/page.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POSES 400
#define BINS  40

static double x_true[POSES], y_true[POSES], x_before[POSES], y_before[POSES], x_after[POSES], y_after[POSES],
    time_s[POSES];

static void make_trajectories(ct_rng *rng)
{
    double drift = 0, turn = 0;
    for (int i = 0; i < POSES; i++) {
        const double t = 2 * 3.14159265 * i / POSES;
        time_s[i] = 0.5 * i;
        x_true[i] = 42 * cos(t) + 9 * cos(3 * t);
        y_true[i] = 24 * sin(t) - 6 * sin(2 * t);
        drift += 0.12 * ct_rng_normal(rng) + 0.012;
        turn += 0.0006 + 0.002 * ct_rng_normal(rng);
        x_before[i] = x_true[i] * cos(turn) - y_true[i] * sin(turn) + drift;
        y_before[i] = x_true[i] * sin(turn) + y_true[i] * cos(turn) - 0.7 * drift;
        x_after[i] = x_true[i] + 0.16 * drift + 0.08 * ct_rng_normal(rng);
        y_after[i] = y_true[i] - 0.12 * drift + 0.08 * ct_rng_normal(rng);
    }
}

static void put_map(ct_page *page, const char *id, const char *title)
{
    const ct_series series[] = {{"truth", CT_ROLE_TRUTH, CT_MARK_LINE, POSES, x_true, y_true, NULL},
                                {"before", CT_ROLE_BEFORE, CT_MARK_LINE, POSES, x_before, y_before, NULL},
                                {"after", CT_ROLE_AFTER, CT_MARK_LINE, POSES, x_after, y_after, NULL}};
    const ct_plot plot = {
        .id = id,
        .title = title,
        .x_label = "x (m)",
        .y_label = "y (m)",
        .equal = 1,
        .zoom = 1,
        .count = 3,
        .series = series,
        .text = "The run as it was, and as it was estimated under the start values and under what was learned."};
    ct_page_plot(page, &plot);
}

/* The same, coloured by the distance from the truth. */
static void put_error_map(ct_page *page)
{
    static double error[POSES];
    for (int i = 0; i < POSES; i++) error[i] = hypot(x_after[i] - x_true[i], y_after[i] - y_true[i]);
    const ct_series series[] = {{"after, 0 to 1 m off", CT_ROLE_AFTER, CT_MARK_GRADED, POSES, x_after, y_after, error},
                                {"truth", CT_ROLE_TRUTH, CT_MARK_LINE, POSES, x_true, y_true, NULL}};
    const ct_plot plot = {.id = "map-error",
                          .title = "Where the errors are",
                          .x_label = "x (m)",
                          .y_label = "y (m)",
                          .equal = 1,
                          .zoom = 1,
                          .value_high = 1,
                          .count = 2,
                          .series = series};
    ct_page_plot(page, &plot);
}

/* A box that is pushed along an arc by a finger, twice, and lost for a while by who estimates it. */
static void put_scene(ct_page *page, FILE *svg)
{
    enum { FRAMES = 120 };
    /* a corner cut off: mirrored, it would look different */
    static const double  BOX[] = {-0.12, -0.08, 0.12, -0.08, 0.12, 0.02, 0.05, 0.08, -0.12, 0.08};
    static const ct_role ROLE[] = {CT_ROLE_BEFORE, CT_ROLE_TRUTH, CT_ROLE_AFTER};
    static const char   *NAME[] = {"before", "truth", "after"};
    static double        box[3][3 * FRAMES], finger[3][3 * FRAMES], time[FRAMES];
    static uint8_t       cut[FRAMES];
    ct_scene_body              body[6];
    for (int k = 0; k < FRAMES; k++) {
        cut[k] = k == 60;
        time[k] = 0.1 * k;
        for (int m = 0; m < 3; m++) {
            const double t = 0.01 * k, off = (m == 0 ? 0.06 : m == 2 ? -0.015 : 0) * t, side = k < 60 ? -0.12 : 0.12;
            const double x = 0.35 * sin(t) + off, y = 0.35 * (1 - cos(t)) - off,
                         turn = 2 * t * (k < 60 ? 1 : 0.8) + 3 * off;
            const double pose[] = {m == 2 && k > 80 && k < 90 ? NAN : x, y, turn},
                         tip[] = {x + side * cos(turn), y + side * sin(turn), turn};
            memcpy(box[m] + 3 * k, pose, sizeof pose);
            memcpy(finger[m] + 3 * k, tip, sizeof tip);
        }
    }
    for (int m = 0; m < 3; m++) {
        body[2 * m] = (ct_scene_body){NAME[m], ROLE[m], 5, BOX, 0, box[m]};
        body[2 * m + 1] = (ct_scene_body){.role = ROLE[m], .radius = m == 1 ? 0.0075 : 0, .pose = finger[m]};
    }
    const ct_scene scene = {.id = "scene",
                            .title = "A box that is pushed",
                            .x_label = "x in m",
                            .y_label = "y in m",
                            .frames = FRAMES,
                            .time_s = time,
                            .cut = cut,
                            .count = 6,
                            .body = body,
                            .text = "The finger lets go and takes the other side in the middle."};
    ct_page_scene(page, &scene);
    const ct_scene nothing = {.id = "scene-of-nothing", .title = "A scene of nothing", .frames = 0, .count = 0},
                   one = {.id = "scene-of-one", .title = "One frame", .frames = 1, .count = 2, .body = body};
    ct_page_scene(page, &nothing);
    ct_page_scene(page, &one);
    if (svg) ct_scene_print(&scene, svg, NULL);
}

static void put_errors(ct_page *page)
{
    static double before[POSES], after[POSES];
    for (int i = 0; i < POSES; i++) {
        before[i] = hypot(x_before[i] - x_true[i], y_before[i] - y_true[i]);
        after[i] = i > 180 && i < 200 ? NAN : hypot(x_after[i] - x_true[i], y_after[i] - y_true[i]);
    }
    const ct_series series[] = {{"before", CT_ROLE_BEFORE, CT_MARK_LINE, POSES, time_s, before, NULL},
                                {"after", CT_ROLE_AFTER, CT_MARK_LINE, POSES, time_s, after, NULL}};
    const ct_plot plot = {.id = "error",
                          .title = "Error of position over time",
                          .x_label = "time (s)",
                          .y_label = "error (m)",
                          .zoom = 1,
                          .count = 2,
                          .series = series,
                          .text = "Truth is not known from 90 s to 100 s."};
    ct_page_plot(page, &plot);
}

static void put_losses(ct_page *page, FILE *svg)
{
    static const char *const NAME[] = {"lm",          "bfgs",   "frank-wolfe", "projected-gradient",
                                       "nelder-mead", "cobyla", "leo",         "closed form"};
    static double            x[8][64], y[8][64];
    ct_series                series[8];
    for (int m = 0; m < 8; m++) {
        const int n = m == 0 ? 12 : m == 7 ? 1 : 20 + 6 * m;
        for (int i = 0; i < n; i++) {
            x[m][i] = (i + 1) * (1 + 0.9 * m);
            y[m][i] = 0.05 * (1 + 0.2 * m) + 900 * exp(-(0.9 - 0.09 * m) * i);
        }
        series[m] = (ct_series){
            NAME[m], (ct_role)(CT_ROLE_FIRST + m), m == 7 ? CT_MARK_POINTS : CT_MARK_LINE, n, x[m], y[m], NULL};
    }
    const ct_plot plot = {.id = "loss",
                          .title = "Loss on the way",
                          .x_label = "inner solves",
                          .y_label = "loss (1)",
                          .x_log = 1,
                          .y_log = 1,
                          .zoom = 1,
                          .count = 8,
                          .series = series,
                          .text = "The best loss that each method had seen after so many inner solves."};
    ct_page_plot(page, &plot);
    if (svg) ct_plot_print(&plot, svg, NULL);
}

static void put_histogram(ct_page *page, ct_rng *rng)
{
    static double edge[BINS + 1], before[BINS], after[BINS], at[101], normal[101];
    for (int i = 0; i <= BINS; i++) edge[i] = -5 + 10.0 * i / BINS;
    for (int i = 0; i < 8000; i++) {
        const double z = ct_rng_normal(rng), a = 1.9 * ct_rng_normal(rng) + 0.4;
        if (fabs(z) < 5) after[(int)((z + 5) * BINS / 10)] += BINS / 10.0 / 8000;
        if (fabs(a) < 5) before[(int)((a + 5) * BINS / 10)] += BINS / 10.0 / 8000;
    }
    for (int i = 0; i <= 100; i++) {
        at[i] = -5 + 0.1 * i;
        normal[i] = exp(-at[i] * at[i] / 2) / sqrt(2 * 3.14159265);
    }
    const ct_series series[] = {{"before", CT_ROLE_BEFORE, CT_MARK_BARS, BINS, edge, before, NULL},
                                {"after", CT_ROLE_AFTER, CT_MARK_BARS, BINS, edge, after, NULL},
                                {"standard normal", CT_ROLE_TRUTH, CT_MARK_LINE, 101, at, normal, NULL}};
    const ct_plot plot = {.id = "whitened",
                          .title = "Whitened residuals of odometry",
                          .x_label = "residual (sigma)",
                          .y_label = "density",
                          .count = 3,
                          .series = series};
    ct_page_plot(page, &plot);
}

static void put_nees(ct_page *page, ct_rng *rng)
{
    static double nees[POSES], middle[2] = {3.05, 3.05}, half[2] = {1.35, 1.35}, ends[2] = {0, 0.5 * (POSES - 1)},
                               expected[2] = {3, 3};
    for (int i = 0; i < POSES; i++) {
        nees[i] = 0;
        for (int k = 0; k < 24; k++) nees[i] += pow(ct_rng_normal(rng), 2) / 8;
    }
    const ct_series series[] = {{"95 % of chi-square", CT_ROLE_QUIET, CT_MARK_BAND, 2, ends, middle, half},
                                {"expected", CT_ROLE_TRUTH, CT_MARK_LINE, 2, ends, expected, NULL},
                                {"after", CT_ROLE_AFTER, CT_MARK_STEPS, POSES, time_s, nees, NULL}};
    const ct_plot plot = {.id = "nees",
                          .title = "NEES over time",
                          .x_label = "time (s)",
                          .y_label = "NEES, mean of 8 runs",
                          .count = 3,
                          .series = series,
                          .y_low = 0,
                          .y_high = 8,
                          .text = "Where the line leaves the band the estimate promises more than it holds."};
    ct_page_plot(page, &plot);
}

static void put_sigmas(ct_page *page)
{
    static const char *const NAME[] = {"odom x", "odom y",      "odom yaw",    "gps x",
                                       "gps y",  "laser range", "laser bearing", "compass"};
    static double            x[3][8], y[3][8], spread[3][8];
    for (int m = 0; m < 3; m++)
        for (int i = 0; i < 8; i++) {
            x[m][i] = i + 0.18 * (m - 1);
            y[m][i] = 0.02 * pow(2.1, i % 5) * (1 + 0.3 * m);
            spread[m][i] = y[m][i] * 0.18;
        }
    const ct_series series[] = {{"oracle", CT_ROLE_TRUTH, CT_MARK_POINTS, 8, x[0], y[0], NULL},
                                {"after", CT_ROLE_AFTER, CT_MARK_POINTS, 8, x[1], y[1], spread[1]},
                                {"before", CT_ROLE_BEFORE, CT_MARK_POINTS, 8, x[2], y[2], spread[2]}};
    const ct_plot plot = {.id = "sigmas",
                          .title = "Standard deviations",
                          .y_label = "sigma (m, rad)",
                          .y_log = 1,
                          .count = 3,
                          .series = series,
                          .x_names = NAME,
                          .names = 8};
    ct_page_plot(page, &plot);
}

static void put_bars(ct_page *page)
{
    static const char *const NAME[] = {"D1", "D2", "D3", "D4"};
    static double            x[3][9], y[3][8];
    ct_series                series[3];
    static const char *const METHOD[] = {"start values", "closed form", "learned"};
    for (int m = 0; m < 3; m++) {
        for (int i = 0; i < 4; i++) {
            x[m][2 * i] = i - 0.36 + 0.24 * m;
            x[m][2 * i + 1] = x[m][2 * i] + 0.24;
            y[m][2 * i] = (0.71 - 0.2 * m) * (1 + 0.4 * i);
            y[m][2 * i + 1] = NAN;
        }
        series[m] = (ct_series){METHOD[m], (ct_role)(CT_ROLE_FIRST + m), CT_MARK_BARS, 7, x[m], y[m], NULL};
    }
    const ct_plot plot = {.id = "bars",
                          .title = "Test error by dataset",
                          .y_label = "translation rmse (m)",
                          .count = 3,
                          .series = series,
                          .x_names = NAME,
                          .names = 4};
    ct_page_plot(page, &plot);
}

static void put_long(ct_page *page, ct_rng *rng)
{
    enum { N = 20000 };
    static double x[N], y[N], cloud_x[1500], cloud_y[1500];
    for (int i = 0; i < N; i++) {
        x[i] = 0.01 * i;
        y[i] = sin(0.0011 * i) + 0.2 * ct_rng_normal(rng);
    }
    for (int i = 0; i < 1500; i++) {
        cloud_x[i] = ct_rng_normal(rng);
        cloud_y[i] = 0.6 * cloud_x[i] + 0.5 * ct_rng_normal(rng);
    }
    const ct_series line = {"gyroscope", CT_ROLE_AFTER, CT_MARK_LINE, N, x, y, NULL},
                    cloud = {"errors of runs", CT_ROLE_FIRST, CT_MARK_POINTS, 1500, cloud_x, cloud_y, NULL};
    const ct_series empty = {"nothing", CT_ROLE_AFTER, CT_MARK_LINE, 0, NULL, NULL, NULL};
    const ct_plot a = {.id = "long",
                       .title = "Twenty thousand samples",
                       .x_label = "time (s)",
                       .y_label = "rate (rad/s)",
                       .zoom = 1,
                       .count = 1,
                       .series = &line};
    const ct_plot b = {.id = "cloud",
                       .title = "A cloud",
                       .x_label = "x (m)",
                       .y_label = "y (m)",
                       .equal = 1,
                       .height = 0.6,
                       .count = 1,
                       .series = &cloud};
    const ct_plot c = {.id = "none",
                       .title = "Marginals of a run that failed",
                       .x_label = "time (s)",
                       .y_label = "sigma (m)",
                       .count = 1,
                       .series = &empty};
    ct_page_plot(page, &a);
    ct_page_plot(page, &b);
    ct_page_plot(page, &c);
}

static void put_table(ct_page *page)
{
    static const char *const NAME[] = {
        "odom x", "odom y", "odom yaw",  "odom@turning x", "odom@turning y", "odom@turning yaw",
        "gps x",  "gps y",  "laser range", "laser bearing",  "compass",        "prior"};
    ct_table *t = NULL;
    if (ct_table_new("Standard deviations, start and learned", &t, NULL) != CT_OK) return;
    ct_table_column(t, "parameter", "parameter", NULL, 0);
    ct_table_column(t, "unit", "unit", NULL, 0);
    ct_table_column(t, "factors", "factors", NULL, 5);
    ct_table_column(t, "start", "start", NULL, 3);
    ct_table_column(t, "closed", "closed form", NULL, 3);
    ct_table_column(t, "learned", "learned", NULL, 3);
    ct_table_column(t, "oracle", "oracle", NULL, 3);
    ct_table_column(t, "ratio", "learned over oracle", NULL, 3);
    ct_table_column(t, "remark", "remark", NULL, 0);
    for (int i = 0; i < 12; i++) {
        const double oracle = 0.013 * pow(1.9, i % 7) * (i == 10 ? 0.01 : 1), learned = oracle * (1 + 0.07 * sin(i));
        ct_table_row(t, i == 3 || i == 6);
        ct_table_text(t, "%s", NAME[i]);
        ct_table_text(t, i % 3 == 2 ? "rad" : "m");
        ct_table_number(t, 12 + 399 * i);
        ct_table_number(t, i > 6 ? 0.1 : 1);
        ct_table_number(t, oracle * 1.02);
        ct_table_deviation(t, learned, learned * 0.031);
        ct_table_mark(t, fabs(learned / oracle - 1) < 0.02);
        ct_table_number(t, i == 11 ? NAN : oracle);
        ct_table_number(t, i == 11 ? NAN : learned / oracle);
        ct_table_mark(t, fabs(learned / oracle - 1) > 0.06 ? 2 : 0);
        ct_table_text(t, "%s",
                      i == 4    ? "at its upper bound: what the runs tell of it is little"
                      : i == 11 ? "held"
                                : "");
    }
    ct_table_note(t, "Deviations are standard errors of the answer over %d training sequences.", 8);
    ct_page_table(page, t);
    ct_table_free(t);
}

static void put_runs(ct_page *page)
{
    static const char *const FEW[] = {"run 01", "run 02 <script>alert(1)</script>", "run \"03\""};
    static char              many[14][24];
    const char              *name[14];
    ct_page_choices(page, "few", "Run", 3, FEW);
    for (int i = 0; i < 3; i++) {
        ct_page_choice(page, i);
        ct_page_text(page, "Whatever there is to be said of %s, with a plot of it.", FEW[i]);
        put_map(page, "few-map", FEW[i]);
        put_error_map(page);
        put_bars(page);
    }
    ct_page_choices_end(page);
    for (int i = 0; i < 14; i++) {
        snprintf(many[i], sizeof many[i], "sequence %02d", i + 1);
        name[i] = many[i];
    }
    ct_page_choices(page, "many", "Sequence", 14, name);
    for (int i = 0; i < 14; i++) {
        ct_page_choice(page, i);
        ct_page_text(page, "Of %s little is known.", many[i]);
    }
    ct_page_choices_end(page);
}

int main(int argc, char **argv)
{
    ct_rng   rng = ct_rng_seed(3);
    ct_page *page = NULL;
    ct_err   err = {0};
    FILE    *svg = argc > 2 ? fopen(argv[2], "w") : NULL, *still = argc > 3 ? fopen(argv[3], "w") : NULL;
    if (argc < 2 ||
        ct_page_new("Learned noise models of D3",
                    "leo-nav, 8 training and 12 test sequences; lm under bounds, 2.31 s", &page, &err) != CT_OK)
        return EXIT_FAILURE;
    make_trajectories(&rng);
    ct_page_section(page, "summary", "Summary");
    ct_page_verdict(page, CT_VERDICT_BETTER, "Better than the start values on 12 unseen sequences.",
                    "The data determine all learned parameters.");
    ct_page_tile(page, "test translation", "0.176 m", "0.71 m before");
    ct_page_tile(page, "test rotation", "0.42\302\260", "1.30\302\260 before");
    ct_page_tile(page, "NEES per degree", "1.04", "3.88 before");
    ct_page_tile(page, "learning took", "2.31 s", "14 evaluations, 112 inner solves");
    ct_page_text(page, "The covariances of odometry and GPS were learned from 8 runs with known truth. "
                       "On unseen runs the error of position fell by three quarters, and what the estimator promises "
                       "is what it holds.");
    ct_page_warn(
        page,
        "odom@turning y lies at its upper bound: the runs have few turns, and the next value may be larger still.");
    ct_page_code(
        page, "covtune learn D3 --method lm --bounds 0.01 100 --out runs/d3\ncovtune report runs/d3 --out report.html");
    put_map(page, "map", "Test run 04");
    put_errors(page);
    ct_page_section(page, "noise", "Noise models");
    ct_page_text(page, "Sigmas before and after, with their standard errors.");
    put_table(page);
    put_sigmas(page);
    put_bars(page);
    ct_page_section(page, "learning", "How it was learned");
    ct_page_heading(page, "The way");
    put_losses(page, svg);
    ct_page_section(page, "consistency", "Consistency");
    put_histogram(page, &rng);
    put_nees(page, &rng);
    put_long(page, &rng);
    ct_page_section(page, "scenes", "Things that move");
    put_scene(page, still);
    ct_page_section(page, "runs", "Run by run");
    put_runs(page);
    const ct_status status = ct_page_write(page, argv[1], &err);
    if (status != CT_OK) fprintf(stderr, "%s\n", err.text);
    ct_page_free(page);
    if (svg) fclose(svg);
    if (still) fclose(still);
    return status == CT_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
