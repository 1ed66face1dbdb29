/* test_plot.c: plots show what they are given. The picture is read as a person reads it: two ticks and what stands
 * beside them give the scale, and the paths are measured against it. */
#define _POSIX_C_SOURCE 200809L
#include "plot_test.h"
#include "page/decimate.h"

#include <unistd.h>

/* ---- Ticks -------------------------------------------------------------------------------------- */

static void test_linear_ticks_are_all_multiples_of_one_two_or_five(void)
{
    ct_rng rng = ct_rng_seed(1);
    for (int n = 0; n < 20000; n++) {
        const double length = pow(10, 24 * ct_rng_uniform(&rng) - 12), low = length * 20 * (ct_rng_uniform(&rng) - 0.5),
                     high = low + length;
        const int    most = 2 + n % 9;
        ct__ticks    t = ct__ticks_linear(low, high, most);
        CHECK(t.count >= 2 && t.count <= (most + 1 > 6 ? most + 1 : 6));
        const double decade = pow(10, t.exponent);
        const double step = t.value[1] - t.value[0];
        CHECK(fabs(step / decade - 1) < 1e-6 || fabs(step / decade - 2) < 1e-6 || fabs(step / decade - 5) < 1e-6);
        for (int i = 0; i < t.count; i++) {
            char label[CT__NUMBER];
            CHECK(t.value[i] >= low - 1e-6 * length && t.value[i] <= high + 1e-6 * length);
            if (i) CHECK_NEAR(t.value[i] - t.value[i - 1], step, 1e-6 * step);
            CHECK_NEAR(t.value[i] / step, round(t.value[i] / step), 1e-6);
            ct__ticks_label(&t, i, label);
            CHECK_NEAR(label_value(label), t.value[i], 1e-9 * fabs(t.value[i]) + 1e-6 * decade);
        }
        /* none is missing */
        CHECK(t.value[0] - low < step * (1 + 1e-6) && high - t.value[t.count - 1] < step * (1 + 1e-6));
        const double m = round(step / decade),
                     finer = (m == 1   ? 0.5
                              : m == 2 ? 1
                                       : 2) *
                             decade,
                     coarser = (m == 1   ? 2
                                : m == 2 ? 5
                                         : 10) *
                               decade;
        const int    of_coarser = (int)(floor(high / coarser + 1e-9) - ceil(low / coarser - 1e-9)) + 1;
        /* the next finer step would be too fine ... */
        CHECK(length / finer > most * (1 - 1e-6));
        /* ... and a coarser one would do, or not */
        CHECK(length / step <= most * (1 + 1e-6) || of_coarser < 2);
    }
}

static void test_logarithmic_ticks_cover_their_range(void)
{
    ct_rng rng = ct_rng_seed(2);
    for (int n = 0; n < 20000; n++) {
        const double low = pow(10, 30 * ct_rng_uniform(&rng) - 15),
                     high = low * pow(10, pow(10, 2.4 * ct_rng_uniform(&rng) - 1.2));
        const int    most = 3 + n % 6;
        ct__ticks    t = ct__ticks_log(low, high, most);
        int          major = 0;
        for (int i = 0; i < t.count; i++) {
            char label[CT__NUMBER];
            CHECK(t.value[i] >= low * (1 - 1e-6) && t.value[i] <= high * (1 + 1e-6) &&
                  (!i || t.value[i] > t.value[i - 1]));
            if (t.minor[i]) continue;
            major++;
            ct__ticks_label(&t, i, label);
            CHECK_NEAR((t.log == 2 ? pow(10, label_value(label)) : label_value(label)) / t.value[i], 1, 1e-6);
            if (t.log) {
                const double m = t.value[i] / pow(10, floor(log10(t.value[i]) + 1e-9));
                CHECK(fabs(m - 1) < 1e-6 || fabs(m - 2) < 1e-6 || fabs(m - 5) < 1e-6);
            }
        }
        CHECK(t.count < CT__TICKS && major >= 1 && major <= CT_ROLE_COUNT);
        if (log10(high / low) >= 2) CHECK(t.log && major >= 2 && major <= CT_ROLE_COUNT);
    }
}

/* ---- Thinning ----------------------------------------------------------------------------------- */

static double to_segment(double px, double py, double ax, double ay, double bx, double by)
{
    const double dx = bx - ax, dy = by - ay, l = dx * dx + dy * dy,
                 f = l > 0 ? fmin(fmax(((px - ax) * dx + (py - ay) * dy) / l, 0), 1) : 0;
    return hypot(px - ax - f * dx, py - ay - f * dy);
}

/* The farthest that a point of the first polyline, between its vertices as well, is from the second: every one
 * against every segment. */
static double farthest(int64_t n, const double *x, const double *y, int64_t m, const double *u, const double *v)
{
    double worst = 0;
    for (int64_t i = 0; i < n; i++)
        for (int part = 0; part < 2 && i + part < n; part++) {
            const double px = part ? (x[i] + x[i + 1]) / 2 : x[i], py = part ? (y[i] + y[i + 1]) / 2 : y[i];
            double       best = hypot(px - u[0], py - v[0]);
            for (int64_t k = 0; k + 1 < m; k++) best = fmin(best, to_segment(px, py, u[k], v[k], u[k + 1], v[k + 1]));
            worst = fmax(worst, best);
        }
    return worst;
}

#define LINE 3000

/* A line of a kind: a walk, a circle, noise over time, forth and back on a ray, all at one place. */
static void make_line(ct_rng *rng, int kind, double x[LINE], double y[LINE])
{
    for (int i = 0; i < LINE; i++) {
        if (kind == 0)
            x[i] = (i ? x[i - 1] : 0) + 0.3 * ct_rng_normal(rng), y[i] = (i ? y[i - 1] : 0) + 0.3 * ct_rng_normal(rng);
        if (kind == 1) x[i] = 100 * cos(0.01 * i), y[i] = 100 * sin(0.01 * i);
        if (kind == 2) x[i] = 0.01 * i, y[i] = 20 * ct_rng_normal(rng);
        if (kind == 3) x[i] = 50 * ct_rng_uniform(rng), y[i] = 2 * x[i];
        if (kind == 4) x[i] = 1e-3 * ct_rng_normal(rng), y[i] = 1e-3 * ct_rng_normal(rng);
        if (kind == 5) x[i] = 0.1 * i, y[i] = sin(0.02 * i);
    }
}

static void test_thinned_lines_stay_within_the_tolerance(void)
{
    static double x[LINE], y[LINE], u[LINE], v[LINE];
    static int8_t keep[LINE];
    ct_rng        rng = ct_rng_seed(3);
    for (int kind = 0; kind < 6; kind++) {
        const double tolerance = 0.1;
        int64_t      m = 0;
        make_line(&rng, kind, x, y);
        const int64_t kept = ct__thin(LINE, x, y, tolerance, keep);
        for (int i = 0; i < LINE; i++)
            if (keep[i]) u[m] = x[i], v[m++] = y[i];
        CHECK(m == kept && keep[0] == 1 && keep[LINE - 1] == 1);
        CHECK(farthest(LINE, x, y, m, u, v) <= tolerance * (1 + 1e-9));
        CHECK(farthest(m, u, v, LINE, x, y) <= tolerance * (1 + 1e-9));
        if (kind == 1 || kind == 5) CHECK(m < LINE / 5); /* arcs of 9 units have a rise of a tenth */
        if (kind == 2) CHECK(m < LINE * 4 / 5 + 4);
        if (kind == 4) CHECK(m <= 3);
    }
    CHECK(ct__thin(1, x, y, 0.1, keep) == 1 && ct__thin(0, x, y, 0.1, keep) == 0 && ct__thin(2, x, y, 0.1, keep) == 2);
}

static void test_a_long_line_is_drawn_within_a_tenth_of_a_unit(void)
{
    enum { N = 12000 };
    static double x[N], y[N], px[N], py[N];
    ct_rng        rng = ct_rng_seed(4);
    for (int i = 0; i < N; i++) x[i] = i, y[i] = sin(0.002 * i) + 0.05 * ct_rng_normal(&rng);
    const ct_series s = {"s", CT_ROLE_AFTER, CT_MARK_LINE, N, x, y, NULL};
    const ct_plot   plot = {.count = 1, .series = &s};
    ct__plot        p = {.plot = &plot};
    char           *svg = plot_text(&plot);
    ct__plot_layout(&p);
    for (int i = 0; i < N; i++) px[i] = ct__axis_place(&p.x, x[i]), py[i] = ct__axis_place(&p.y, y[i]);
    CHECK(find_path(svg, 0, "l long") && drawn.count > 1000 && drawn.count < N);
    double worst = 0;
    for (int i = 0, from = 0; i < N; i += 7) { /* of a line over time only neighbours can be near */
        double best = INFINITY;
        while (from + 1 < drawn.count && drawn.x[from + 1] < px[i] - 1) from++;
        for (int k = from; k + 1 < drawn.count && drawn.x[k] < px[i] + 1; k++)
            best = fmin(best, to_segment(px[i], py[i], drawn.x[k], drawn.y[k], drawn.x[k + 1], drawn.y[k + 1]));
        worst = fmax(worst, best);
    }
    CHECK(worst <= 0.1);
    free(svg);
}

/* ---- Marks -------------------------------------------------------------------------------------- */

#define N 40

static void make_series(ct_rng *rng, int log, double x[N + 1], double y[N], double spread[N])
{
    for (int i = 0; i <= N; i++) x[i] = log ? pow(10, 0.08 * i + 0.01) : 3.7 * i - 20;
    for (int i = 0; i < N; i++) {
        y[i] = log ? pow(10, 3 * ct_rng_uniform(rng) - 2) : 40 * ct_rng_normal(rng);
        spread[i] = 0.3 * fabs(y[i]);
    }
}

static void stands_at(int i, double x, double y)
{
    CHECK_NEAR(drawn.x[i], x, PLACE);
    CHECK_NEAR(drawn.y[i], y, PLACE);
}

static void test_lines_points_and_steps_stand_at_their_values(void)
{
    double x[N + 1], y[N], spread[N];
    ct_rng rng = ct_rng_seed(6);
    for (int log = 0; log < 2; log++) {
        make_series(&rng, log, x, y, spread);
        const ct_series s[] = {{"l", CT_ROLE_AFTER, CT_MARK_LINE, N, x, y, NULL},
                               {"p", CT_ROLE_BEFORE, CT_MARK_POINTS, N, x, y, spread},
                               {"s", CT_ROLE_TRUTH, CT_MARK_STEPS, N, x, y, NULL}};
        const ct_plot plot = {
            .x_log = log, .y_log = log, .count = 3, .series = s, .title = "t", .x_label = "x", .y_label = "y"};
        char           *svg = plot_text(&plot);
        const scale     sx = read_scale(svg, "xt"), sy = read_scale(svg, "yt");
        CHECK_WELL_FORMED(svg);
        CHECK(sx.count >= 2 && sy.count >= 2);
        CHECK(find_path(svg, 0, "l") && drawn.count == N);
        for (int i = 0; i < N; i++) stands_at(i, by_scale(&sx, log, x[i]), by_scale(&sy, log, y[i]));
        CHECK(find_path(svg, 1, "o") && drawn.count == 2 * N);
        for (int i = 0; i < N; i++) stands_at(2 * i, by_scale(&sx, log, x[i]), by_scale(&sy, log, y[i]));
        CHECK(find_path(svg, 1, "e") && drawn.count == 2 * N);
        for (int i = 0; i < N; i++) {
            stands_at(2 * i, by_scale(&sx, log, x[i]), by_scale(&sy, log, y[i] - spread[i]));
            stands_at(2 * i + 1, by_scale(&sx, log, x[i]), by_scale(&sy, log, y[i] + spread[i]));
        }
        CHECK(find_path(svg, 1, "e cap") && drawn.count == 4 * N); /* a stroke across either end */
        for (int i = 0; i < N; i++) {
            CHECK_NEAR((drawn.x[4 * i] + drawn.x[4 * i + 1]) / 2, by_scale(&sx, log, x[i]), PLACE);
            CHECK_NEAR(drawn.y[4 * i + 2], by_scale(&sy, log, y[i] + spread[i]), PLACE);
        }
        CHECK(find_path(svg, 2, "l") && drawn.count == 2 * N - 1);
        for (int i = 1; i < N; i++) stands_at(2 * i - 1, by_scale(&sx, log, x[i]), by_scale(&sy, log, y[i - 1]));
        free(svg);
    }
}

static void test_bars_and_bands_reach_from_where_to_where_they_should(void)
{
    double x[N + 1], y[N], spread[N];
    ct_rng rng = ct_rng_seed(7);
    make_series(&rng, 0, x, y, spread);
    const ct_series s[] = {{"b", CT_ROLE_AFTER, CT_MARK_BARS, N, x, y, NULL},
                           {"d", CT_ROLE_QUIET, CT_MARK_BAND, N, x, y, spread}};
    const ct_plot   plot = {.count = 2, .series = s};
    char           *svg = plot_text(&plot);
    const scale     sx = read_scale(svg, "xt"), sy = read_scale(svg, "yt");
    CHECK(find_path(svg, 0, "b") && drawn.count == 5 * N);
    for (int i = 0; i < N; i++) {
        const double *px = drawn.x + 5 * i, *py = drawn.y + 5 * i;
        CHECK_NEAR(px[0], by_scale(&sx, 0, x[i]), PLACE);
        CHECK_NEAR(px[2], by_scale(&sx, 0, x[i + 1]), PLACE);
        CHECK_NEAR(py[0], by_scale(&sy, 0, 0), PLACE);
        CHECK_NEAR(py[1], by_scale(&sy, 0, y[i]), PLACE);
    }
    CHECK(find_path(svg, 1, "a") && drawn.count == 2 * N + 1);
    for (int i = 0; i < N; i++) {
        CHECK_NEAR(drawn.y[i], by_scale(&sy, 0, y[i] + spread[i]), PLACE);
        CHECK_NEAR(drawn.y[2 * N - 1 - i], by_scale(&sy, 0, y[i] - spread[i]), PLACE);
    }
    CHECK(strstr(svg, "data-s=\"1\"") < strstr(svg, "data-s=\"0\"")); /* bands lie below */
    free(svg);
}

/* Values 0, 0, 8, 8, NaN, 8: a stretch of the lowest colour, one of the middle, one of the highest, none at the NaN. */
static void test_a_line_has_the_colours_of_its_values(void)
{
    const double    x[] = {0, 1, 2, 3, 4, 5}, y[] = {0, 1, 0, 1, 0, 1}, value[] = {0, 0, 8, 8, NAN, 8};
    const ct_series s = {"g", CT_ROLE_AFTER, CT_MARK_GRADED, 6, x, y, value};
    const ct_plot   plot = {.count = 1, .series = &s, .value_low = 0, .value_high = 8};
    char           *svg = plot_text(&plot);
    const scale     sx = read_scale(svg, "xt"), sy = read_scale(svg, "yt");
    static const struct {
        const char *class;
        int         from;
    } WANTED[] = {{"l graded g0", 0}, {"l graded g4", 1}, {"l graded g7", 2}};
    CHECK_WELL_FORMED(svg);
    for (int k = 0; k < 3; k++) {
        CHECK(find_path(svg, 0, WANTED[k].class) && drawn.count == 2);
        for (int i = 0; i < 2; i++)
            stands_at(i, by_scale(&sx, 0, x[WANTED[k].from + i]), by_scale(&sy, 0, y[WANTED[k].from + i]));
    }
    CHECK(find_path(svg, 0, "l graded g3") && drawn.count == 0);
    CHECK(sy.count >= 2 && !strstr(svg, "nan"));
    free(svg);
}

/* Cells of the lowest and the highest value, one without a value. */
static void test_cells_have_the_colours_of_their_values(void)
{
    const double    x[] = {0, 1, 0}, y[] = {0, 0, 1}, value[] = {0, 8, NAN};
    const ct_series s = {"c", CT_ROLE_AFTER, CT_MARK_CELLS, 3, x, y, value};
    const ct_plot   plot = {.count = 1,
                            .series = &s,
                            .value_low = 0,
                            .value_high = 8,
                            .x_low = -0.5,
                            .x_high = 1.5,
                            .y_low = -0.5,
                            .y_high = 1.5};
    char           *svg = plot_text(&plot);
    const scale     sx = read_scale(svg, "xt"), sy = read_scale(svg, "yt");
    CHECK_WELL_FORMED(svg);
    for (int k = 0; k < 2; k++) {
        CHECK(find_path(svg, 0, k ? "cell g7" : "cell g0") && drawn.count == 5);
        stands_at(0, by_scale(&sx, 0, x[k] - 0.5), by_scale(&sy, 0, y[k] - 0.5));
        stands_at(2, by_scale(&sx, 0, x[k] + 0.5), by_scale(&sy, 0, y[k] + 0.5));
    }
    for (int k = 1; k < 7; k++) {
        char class[24];
        snprintf(class, sizeof class, "cell g%d", k);
        CHECK(find_path(svg, 0, class) && drawn.count == 0);
    }
    free(svg);
}

static void test_what_has_no_place_breaks_the_line(void)
{
    double          x[] = {1, 2, 3, 4, 5, 6, 7, 8}, y[] = {1, 2, NAN, 4, INFINITY, 6, -7, 8};
    const ct_series s = {"s", CT_ROLE_AFTER, CT_MARK_LINE, 8, x, y, NULL};
    ct_plot         plot = {.count = 1, .series = &s};
    for (int log = 0; log < 2; log++) {
        plot.y_log = log;
        char *svg = plot_text(&plot);
        int   begins = 0;
        CHECK(find_path(svg, 0, "l") && !strstr(svg, "nan") && !strstr(svg, "inf"));
        for (int i = 0; i < drawn.count; i++) begins += drawn.verb[i] == 'M';
        CHECK(begins == (log ? 4 : 3));
        free(svg);
    }
}

static void test_plots_of_nothing_say_so(void)
{
    double          nan[] = {NAN, NAN}, x[] = {0, 1}, low[] = {-1, -2};
    const ct_series s[] = {{"none", CT_ROLE_AFTER, CT_MARK_LINE, 0, NULL, NULL, NULL},
                           {"nan", CT_ROLE_AFTER, CT_MARK_POINTS, 2, nan, nan, NULL},
                           {"low", CT_ROLE_AFTER, CT_MARK_LINE, 2, x, low, NULL}};
    for (int i = 0; i < 4; i++) {
        const ct_plot plot = {.title = "t", .count = i < 3, .series = i < 3 ? &s[i] : NULL, .y_log = i == 2};
        char         *svg = plot_text(&plot);
        CHECK_WELL_FORMED(svg);
        CHECK(strstr(svg, ">no data<") && !strstr(svg, "nan\""));
        free(svg);
    }
    const ct_plot one = {.count = 1, .series = &s[2]};
    char         *svg = plot_text(&one);
    CHECK(!strstr(svg, "no data"));
    free(svg);
}

static void test_single_values_and_huge_ones_have_axes(void)
{
    const double v[] = {0, 1, -3, 1e-300, 1e300, 1e15 + 1, 5e-324};
    for (int i = 0; i < 28; i++) {
        const double    a = v[i % 7], x[] = {a, i / 7 % 2 ? -a : a}, y[] = {a, 0};
        const ct_series s = {"s", CT_ROLE_AFTER, CT_MARK_POINTS, 2, x, y, NULL};
        const ct_plot plot = {.count = 1,
                              .series = &s,
                              .x_low = i / 14 ? 1 : 0,
                              .x_high = i / 14 ? 1 + 1e-15 : 5e-324,
                              .y_low = i / 14 ? -1.7e308 : 0,
                              .y_high = i / 14 ? 1.7e308 : 0};
        char           *svg = plot_text(&plot);
        CHECK(read_scale(svg, "xt").count >= 1 && read_scale(svg, "yt").count >= 1 && !strstr(svg, "nan") &&
              !strstr(svg, "inf"));
        CHECK(find_path(svg, 0, "o square") && drawn.x[0] >= 0 && drawn.x[0] <= CT__PLOT_WIDTH && drawn.y[0] >= 0 &&
              drawn.y[0] <= 300);
        free(svg);
    }
}

static void test_a_logarithmic_axis_of_600_decades_comes_to_an_end(void)
{
    const double    x[] = {1, 2, 3, 4}, y[] = {1e-300, 1, 1e300, 5e-324};
    const ct_series s = {"s", CT_ROLE_AFTER, CT_MARK_POINTS, 4, x, y, NULL};
    const ct_plot   plot = {.count = 1, .series = &s, .y_log = 1};
    alarm(20); /* it did not */
    char *svg = plot_text(&plot);
    alarm(0);
    CHECK(read_scale(svg, "yt").count >= 2 && !strstr(svg, "nan") && !strstr(svg, "inf"));
    CHECK(find_path(svg, 0, "o square") && drawn.count >= 6 && drawn.y[0] > drawn.y[2] &&
          drawn.y[2] > drawn.y[4]); /* M and h0 each */
    free(svg);
}

static void test_maps_have_one_scale(void)
{
    double          x[] = {0, 100, 30}, y[] = {0, 7, -20};
    const ct_series s = {"s", CT_ROLE_AFTER, CT_MARK_LINE, 3, x, y, NULL};
    for (int k = 0; k < 4; k++) {
        const ct_plot plot = {.count = 1, .series = &s, .equal = 1, .height = k * 0.5};
        char         *svg = plot_text(&plot);
        const scale   sx = read_scale(svg, "xt"), sy = read_scale(svg, "yt");
        CHECK_NEAR((sx.at[1] - sx.at[0]) / (sx.value[1] - sx.value[0]),
                   (sy.at[0] - sy.at[1]) / (sy.value[1] - sy.value[0]), 1e-2);
        free(svg);
    }
}

static void test_axes_are_those_that_were_asked_for(void)
{
    double          x[] = {0, 100}, y[] = {0, 50};
    const ct_series s = {"s", CT_ROLE_AFTER, CT_MARK_LINE, 2, x, y, NULL};
    const ct_plot   plot = {.count = 1, .series = &s, .x_low = 20, .x_high = 40, .y_low = -10, .y_high = 10};
    ct__plot        p = {.plot = &plot};
    ct__plot_layout(&p);
    CHECK_NEAR(ct__axis_place(&p.x, 20), p.left, 1e-9);
    CHECK_NEAR(ct__axis_place(&p.x, 40), p.left + p.width, 1e-9);
    CHECK_NEAR(ct__axis_place(&p.y, -10), p.top + p.height, 1e-9);
    CHECK_NEAR(ct__axis_place(&p.y, 10), p.top, 1e-9);
    const ct_plot none = {.count = 1, .series = &s, .y_low = NAN, .y_high = NAN};
    ct__plot      q = {.plot = &none};
    ct__plot_layout(&q);
    CHECK(q.x.low == 0 && q.x.high == 100 && q.y.low == 0 && q.y.high > 50 && q.y.high < 55);
}

/* Names of x: short ones are thinned, long ones slanted; in neither case do neighbours touch. Slanted at 35 degrees,
 * lines of text are each * sin 35 apart. */
static void test_names_do_not_touch(void)
{
    static const char *const SAMPLE[] = {"0024", "a-longer-name"};
    for (int kind = 0; kind < 2; kind++)
        for (int n = 2; n <= 120; n += 7) {
            double          x[120], y[120];
            const char     *names[120];
            for (int i = 0; i < n; i++) x[i] = y[i] = i, names[i] = SAMPLE[kind];
            const ct_series s = {"s", CT_ROLE_AFTER, CT_MARK_POINTS, n, x, y, NULL};
            const ct_plot   plot = {.count = 1, .series = &s, .x_names = names, .names = n};
            ct__plot        p = {.plot = &plot};
            ct__plot_layout(&p);
            const double apart = p.every * p.width / n;
            CHECK(p.turned == (kind && ct__plot_letters(names[0]) + 8 > p.width / n));
            CHECK(p.turned ? 0.5735 * apart >= CT__PLOT_FONT : apart >= ct__plot_letters(names[0]) + 4);
        }
}

/* ---- Words -------------------------------------------------------------------------------------- */

static void test_names_stand_below_their_places(void)
{
    enum { NAMES = 12 };
    char        text[NAMES][40];
    const char *name[NAMES];
    double      x[NAMES], y[NAMES];
    for (int i = 0; i < NAMES; i++) {
        snprintf(text[i], sizeof text[i], i == 5 ? "a name that is far too long for a plot" : "n%d", i);
        name[i] = text[i], x[i] = i, y[i] = i + 1;
    }
    const ct_series s = {"s", CT_ROLE_FIRST, CT_MARK_POINTS, NAMES, x, y, NULL};
    for (int many = 0; many < 2; many++) {
        const ct_plot plot = {.count = 1, .series = &s, .x_names = name, .names = many ? NAMES : 4};
        char         *svg = plot_text(&plot);
        const scale   at = read_scale(svg, "xt");
        CHECK(at.count == plot.names && find_path(svg, 0, "o"));
        for (int i = 0; i < plot.names; i++) CHECK_NEAR(at.at[i], drawn.x[2 * i] + (many ? 4 : 0), 0.02);
        CHECK(many == (strstr(svg, "rotate(-35") != NULL) &&
              (!many || (strstr(svg, "\342\200\246") && strstr(svg, "plot</text>") && !strstr(svg, "far too"))));
        CHECK_WELL_FORMED(svg);
        free(svg);
    }
}

static void test_no_name_breaks_out_of_a_plot(void)
{
    double          x[] = {0, 1}, y[] = {0, 1};
    const char     *name[] = {EVIL, "b"};
    const ct_series s = {EVIL, CT_ROLE_AFTER, CT_MARK_LINE, 2, x, y, NULL};
    const ct_plot plot = {.id = EVIL,
                          .title = EVIL,
                          .x_label = EVIL,
                          .y_label = EVIL,
                          .text = EVIL,
                          .count = 1,
                          .series = &s,
                          .x_names = name,
                          .names = 2};
    char           *svg = plot_text(&plot);
    CHECK_WELL_FORMED(svg);
    /* title, text, both labels, legend; the drawn title is in lines */
    CHECK(count_of(svg, EVIL_HTML) == 5 && !strstr(svg, "<script") && !strstr(svg, "<img"));
    free(svg);
}

static void test_long_titles_take_several_lines(void)
{
    double          x[] = {0, 1}, y[] = {0, 1};
    const ct_series s = {"s", CT_ROLE_AFTER, CT_MARK_LINE, 2, x, y, NULL};
    const ct_plot plot = {.title = "A title of so many words that it would run out of the picture if it were not put "
                                   "on two lines or even on three",
                          .count = 1,
                          .series = &s};
    char           *svg = plot_text(&plot), all[200] = "";
    int             lines = 0, last = -1000;
    for (const char *p = svg; (p = strstr(p, "class=\"head\"")); p++, lines++) {
        const char *word = strchr(p, '>') + 1;
        int         at = 0;
        CHECK(sscanf(p, "class=\"head\" x=\"2\" y=\"%d\"", &at) == 1 && at > last && at < 0);
        CHECK(strcspn(word, "<") < 75);
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%.*s", lines ? " " : "", (int)strcspn(word, "<"),
                 word);
        last = at;
    }
    CHECK(lines >= 2 && !strcmp(all, plot.title));
    free(svg);
}

static void test_the_legend_has_every_label_inside_the_picture(void)
{
    enum { MANY = 12 };
    char      label[MANY][32];
    double    x[] = {0, 1}, y[] = {0, 1};
    ct_series s[MANY + 1];
    for (int i = 0; i < MANY; i++) {
        snprintf(label[i], sizeof label[i], "method number %d", i);
        s[i] = (ct_series){label[i], (ct_role)(CT_ROLE_FIRST + i), CT_MARK_LINE, 2, x, y, NULL};
    }
    s[MANY] = (ct_series){NULL, CT_ROLE_QUIET, CT_MARK_BAND, 2, x, y, y};
    const ct_plot plot = {.count = MANY + 1, .series = s};
    char         *svg = plot_text(&plot);
    const char   *box = strstr(svg, "viewBox=\"0 ");
    int           top = 0, width = 0, height = 0;
    CHECK(box && sscanf(box, "viewBox=\"0 %d %d %d\"", &top, &width, &height) == 3);
    CHECK(count_of(svg, "class=\"word\"") == MANY);
    for (const char *p = svg; (p = strstr(p, "class=\"word\"")); p++) {
        int at_x = 0, at_y = 0;
        CHECK(sscanf(p, "class=\"word\" x=\"%d\" y=\"%d\"", &at_x, &at_y) == 2 && at_x > 0 && at_x < width - 100 &&
              at_y < top + height && at_y > 270);
    }
    free(svg);
}

static void test_roles_differ_without_colour(void)
{
    for (int a = 0; a < CT_ROLE_COUNT; a++)
        for (int b = 0; b < a; b++) {
            const char *da = ct__role_dash((ct_role)a), *db = ct__role_dash((ct_role)b);
            CHECK(strcmp(ct__role_colour((ct_role)a), ct__role_colour((ct_role)b)) != 0);
            if (b >= CT_ROLE_FIRST)
                CHECK(ct__role_marker((ct_role)a) != ct__role_marker((ct_role)b) ||
                      (da ? !db || strcmp(da, db) : db != NULL));
        }
}

static void test_a_file_has_what_is_printed(void)
{
    ct_err          err = {0};
    double          x[] = {0, 1}, y[] = {0, 1};
    const ct_series s = {"s", CT_ROLE_AFTER, CT_MARK_LINE, 2, x, y, NULL};
    const ct_plot   plot = {.title = "t", .count = 1, .series = &s};
    CHECK_OK(ct_plot_write(&plot, test_path("plot.svg"), &err), err);
    char *file = test_read_file(test_path("plot.svg")), *svg = plot_text(&plot);
    CHECK(file && !strcmp(file, svg) && strstr(svg, "<style>") && strstr(svg, "role=\"img\"") &&
          strstr(svg, "prefers-color-scheme: dark"));
    CHECK_REFUSED(ct_plot_write(&plot, ct_test_folder(), &err), err, "it is a folder");
    remove(test_path("plot.svg"));
    free(file);
    free(svg);
}

int main(void)
{
    RUN(test_linear_ticks_are_all_multiples_of_one_two_or_five);
    RUN(test_logarithmic_ticks_cover_their_range);
    RUN(test_thinned_lines_stay_within_the_tolerance);
    RUN(test_a_long_line_is_drawn_within_a_tenth_of_a_unit);
    RUN(test_lines_points_and_steps_stand_at_their_values);
    RUN(test_bars_and_bands_reach_from_where_to_where_they_should);
    RUN(test_a_line_has_the_colours_of_its_values);
    RUN(test_cells_have_the_colours_of_their_values);
    RUN(test_what_has_no_place_breaks_the_line);
    RUN(test_plots_of_nothing_say_so);
    RUN(test_single_values_and_huge_ones_have_axes);
    RUN(test_a_logarithmic_axis_of_600_decades_comes_to_an_end);
    RUN(test_maps_have_one_scale);
    RUN(test_axes_are_those_that_were_asked_for);
    RUN(test_names_do_not_touch);
    RUN(test_names_stand_below_their_places);
    RUN(test_no_name_breaks_out_of_a_plot);
    RUN(test_long_titles_take_several_lines);
    RUN(test_the_legend_has_every_label_inside_the_picture);
    RUN(test_roles_differ_without_colour);
    RUN(test_a_file_has_what_is_printed);
    return ct_test_end();
}
