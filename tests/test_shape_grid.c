/* test_shape_grid.c: distances sampled on a grid, LEO's files of them, outlines and moments of all shapes. */
#include "shape_test.h"

/* ---- Grids ------------------------------------------------------------------------------------------ */

static ct_shape *sampled(const ct_shape *shape, double reach, int32_t n)
{
    double   *value = malloc((size_t)(n * n) * sizeof *value);
    ct_shape *grid = NULL;
    ct_err    err = {0};
    for (int32_t i = 0; i < n * n; i++) {
        const double p[2] = {-reach + (i % n) * (2 * reach / (n - 1)), -reach + (i / n) * (2 * reach / (n - 1))};
        value[i] = ct_shape_distance(shape, p, NULL, NULL);
    }
    CHECK_OK(ct_shape_grid(n, n, -reach, -reach, 2 * reach / (n - 1), value, &grid, &err), err);
    free(value);
    return grid;
}

static void test_a_grid_approaches_its_shape_at_second_order(void)
{
    double    worst[2] = {0};
    ct_shape *ellipse;
    ct_err    err = {0};
    CHECK_OK(ct_shape_ellipse(0.0819, 0.1214, &ellipse, &err), err);
    for (int fine = 0; fine < 2; fine++) {
        ct_shape *grid = sampled(ellipse, 0.2, fine ? 401 : 101);
        ct_rng    rng = ct_rng_seed(8);
        for (int i = 0; i < 4000; i++) {
            const double p[2] = {0.2 * (2 * ct_rng_uniform(&rng) - 1), 0.2 * (2 * ct_rng_uniform(&rng) - 1)};
            double       g[2], k[2];
            const double d = ct_shape_distance(ellipse, p, g, NULL), e = ct_shape_distance(grid, p, k, NULL);
            if (d < -0.03) continue; /* away from the kink on its long axis */
            worst[fine] = fmax(worst[fine], fabs(d - e));
            CHECK_NEAR(k[0], g[0], fine ? 0.02 : 0.08);
            CHECK_NEAR(k[1], g[1], fine ? 0.02 : 0.08);
        }
        ct_shape_free(grid);
    }
    CHECK(worst[0] < 2e-4 && worst[1] < worst[0] / 14 && worst[1] > 0);
    ct_shape_free(ellipse);
}

static const double PATCH[20] = {5, 4, 3, 4, 5, 4, -1, -2, -0.5, 4.5, 3, -2, 0.25, -1, 4, 5, 4, 3.5, 4, 6};

/* Within a cell, across its sides, beyond the edge, at the edge: derivatives of the surface; and the surface has no
 * jump. */
static void test_a_grid_is_bilinear_and_goes_on_beyond_its_edge(void)
{
    ct_shape *grid;
    ct_err    err = {0};
    ct_rng    rng = ct_rng_seed(9);
    CHECK_OK(ct_shape_grid(4, 5, 1, -2, 0.5, PATCH, &grid, &err), err);
    for (int i = 0; i < 20; i++)
        CHECK(ct_shape_distance(grid, (const double[]){1 + 0.5 * (i % 5), -2 + 0.5 * (i / 5)}, NULL, NULL) == PATCH[i]);
    CHECK(ct_shape_distance(grid, (const double[]){1.25, -1.75}, NULL, NULL) == (5 + 4 + 4 - 1) / 4.);
    CHECK(ct_shape_distance(grid, (const double[]){4, -2}, NULL, NULL) == 6 &&
          ct_shape_distance(grid, (const double[]){4.5, -4}, NULL, NULL) == 5 + hypot(1.5, 2));
    for (int i = 0; i < 9; i++) { /* on the edge itself derivatives are those within */
        const double on[2] = {3, -1.97 + 0.18 * i}, within[2] = {3 - 1e-12, on[1]}, above[2] = {1.03 + 0.2 * i, -0.5},
                     below[2] = {above[0], -0.5 - 1e-12};
        double       g[2], want[2];
        ct_shape_distance(grid, on, g, NULL);
        ct_shape_distance(grid, within, want, NULL);
        CHECK(fabs(g[0] - want[0]) < 1e-9 && fabs(g[1] - want[1]) < 1e-9);
        ct_shape_distance(grid, above, g, NULL);
        ct_shape_distance(grid, below, want, NULL);
        CHECK(fabs(g[0] - want[0]) < 1e-9 && fabs(g[1] - want[1]) < 1e-9);
    }
    for (int i = 0; i < 20000; i++) {
        double       p[2] = {4 * ct_rng_uniform(&rng), -3.5 + 4 * ct_rng_uniform(&rng)}, g[2], H[4];
        const double d = ct_shape_distance(grid, p, g, H), h = 1e-6;
        const double ux = (p[0] - 1) / 0.5, uy = (p[1] + 2) / 0.5;
        if (fabs(ux - round(ux)) < 1e-5 || fabs(uy - round(uy)) < 1e-5) { /* on a line of the grid */
            CHECK_NEAR(ct_shape_distance(grid, (const double[]){p[0] + h, p[1] - h}, NULL, NULL), d, 40 * h);
            continue;
        }
        if (p[0] < 1 || p[0] > 3 || p[1] < -2 || p[1] > -0.5)
            CHECK(d > 0 && ct_shape_check(grid, p, &err) == CT_E_ARGUMENT);
        else CHECK_OK(ct_shape_check(grid, p, &err), err);
        for (int k = 0; k < 2; k++) {
            double a[2] = {p[0], p[1]}, b[2] = {p[0], p[1]}, ga[2], gb[2];
            a[k] += h, b[k] -= h;
            const double da = ct_shape_distance(grid, a, ga, NULL), db = ct_shape_distance(grid, b, gb, NULL);
            CHECK_NEAR((da - db) / (2 * h), g[k], 1e-6);
            for (int c = 0; c < 2; c++)
                CHECK_NEAR((ga[c] - gb[c]) / (2 * h), H[2 * k + c], 1e-5 * (1 + fabs(H[2 * k + c])));
        }
    }
    CHECK_REFUSED(ct_shape_check(grid, (const double[]){0.5, -1}, &err), err,
                  "(0.5, -1) lies beyond the grid, which goes from (1, -2) to (3, -0.5)");
    CHECK_REFUSED(ct_shape_check(grid, (const double[]){NAN, -1}, &err), err, "lies beyond the grid");
    ct_shape_free(grid);
    CHECK_OK(ct_shape_ellipse(1, 1, &grid, &err), err);
    CHECK_OK(ct_shape_check(grid, (const double[]){1e9, 0}, &err), err); /* no end to an ellipse's plane */
    ct_shape_free(grid);
}

static const char *path_of(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", ct_test_folder(), name);
    return path;
}

static void put(const char *text)
{
    FILE *file = fopen(path_of("sdf.json"), "w");
    CHECK(file);
    if (!file) return;
    fputs(text, file);
    fclose(file);
}

#define SDF_HEAD                                                                                                       \
    "{\"grid_res\": 0.5, \"grid_size_x\": 4, \"grid_size_y\": 3, \"grid_origin_x\": -1, \"grid_origin_y\": 2, "

static void test_leos_grids_are_read(void)
{
    double    number[17];
    ct_shape *grid = NULL;
    ct_err    err = {0};
    put(SDF_HEAD "\"object\": \"rect\", \"grid_data\": [[1, 2, 3, 4.5], [5, -0.125, 7, 8], [9, 10, 11, 12]]}");
    CHECK_OK(ct_shape_read(path_of("sdf.json"), &grid, &err), err);
    if (!grid) return;
    CHECK(ct_shape_kind_of(grid) == CT_SHAPE_GRID && ct_shape_numbers(grid, 17, number) == 17);
    CHECK(number[0] == -1 && number[1] == 2 && number[2] == 0.5 && number[3] == 3 && number[4] == 4 &&
          number[8] == 4.5 && number[10] == -0.125 && number[16] == 12);
    CHECK(ct_shape_distance(grid, (const double[]){-0.5, 2.5}, NULL, NULL) == -0.125);
    ct_shape_free(grid);
#define BAD(bytes, words)                                                                           \
    do {                                                                                            \
        put(bytes);                                                                                 \
        CHECK_REFUSED(ct_shape_read(path_of("sdf.json"), &grid, &err), err, words);                 \
        CHECK(!grid && strstr(err.text, "sdf.json"));                                               \
    } while (0)
    BAD("[1]", "expected an object with grid_data, found a list");
    BAD("{", "not JSON");
    BAD("{}", "grid_res: expected a number, found nothing");
    BAD("{\"grid_res\": 1, \"grid_size_x\": 2.5}", "grid_size_x: expected a whole number, found 2.5");
    BAD("{\"grid_res\": 1, \"grid_size_x\": 3, \"grid_size_y\": \"3\"}", "grid_size_y: expected a number, found \"3\"");
    BAD(SDF_HEAD "\"grid_data\": [[1, 2, 3, 4], [5, 6, 7, 8]]}",
        "grid_data: expected a list of 3 rows, found a list of 2");
    BAD(SDF_HEAD "\"grid_data\": [[1, 2, 3, 4], [5, 6, 7], [9, 10, 11, 12]]}",
        "grid_data[1]: expected a list of 4 numbers, found a list of 3");
    BAD(SDF_HEAD "\"grid_data\": [[1, 2, 3, 4], [5, null, 7, 8], [9, 10, 11, 12]]}",
        "grid_data[1][1]: expected a number, found null");
    BAD(SDF_HEAD "\"grid_data\": [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]}", "no sample is -1e-06 or less");
#undef BAD
    remove(path_of("sdf.json"));
    CHECK_REFUSED(ct_shape_read(path_of("sdf.json"), &grid, &err), err, "sdf.json: No such file");
}

/* ---- Outlines and moments --------------------------------------------------------------------------- */

static void test_outlines_lie_on_the_outline_with_every_corner(void)
{
    static double xy[2 * 1000];
    for (int i = 0; i < COUNT(LIST); i++) {
        ct_shape *shape = make(&LIST[i]);
        for (int32_t n = 3; shape && n <= 1000; n = n * 3 - 2) {
            double turns = 0;
            memset(xy, 0x55, sizeof xy);
            ct_shape_outline(shape, n, xy);
            for (int32_t k = 0; k < n; k++) {
                const double *a = xy + 2 * k, *b = xy + 2 * ((k + 1) % n);
                CHECK_NEAR(ct_shape_distance(shape, a, NULL, NULL), 0, 1e-15);
                CHECK(hypot(b[0] - a[0], b[1] - a[1]) > 0);
                turns += atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1]);
            }
            if (n >= 8) CHECK_NEAR(fabs(turns), 2 * PI, 1e-9); /* once around the origin, which is inside all of them */
            for (int32_t c = 0; c < LIST[i].corners && n >= LIST[i].corners; c++) {
                int found = 0;
                for (int32_t k = 0; k < n; k++)
                    found += xy[2 * k] == LIST[i].xy[2 * c] && xy[2 * k + 1] == LIST[i].xy[2 * c + 1];
                CHECK(found == 1);
            }
        }
        ct_shape_free(shape);
    }
}

static void test_the_outline_of_a_grid_is_that_of_what_it_samples(void)
{
    static double xy[2 * 500];
    ct_err        err = {0};
    ct_shape     *star, *grid;
    CHECK_OK(ct_shape_polygon(COUNT(STAR) / 2, STAR, &star, &err), err);
    grid = sampled(star, 0.15, 301);
    ct_shape_outline(grid, 500, xy);
    double area = 0, want, longest = 0, shortest = 1;
    for (int k = 0; k < 500; k++) {
        const double *a = xy + 2 * k, *b = xy + 2 * ((k + 1) % 500), way = hypot(b[0] - a[0], b[1] - a[1]);
        CHECK_NEAR(ct_shape_distance(star, a, NULL, NULL), 0, 1e-3);
        area += (a[0] * b[1] - a[1] * b[0]) / 2;
        longest = fmax(longest, way), shortest = fmin(shortest, way);
    }
    ct_shape_moments(star, &want, NULL, NULL);
    CHECK_NEAR(area, want, 0.01 * want); /* positive: the inside is to the left */
    CHECK(longest < 1.02 * 0.7 / 400 && shortest > 0.3 * longest);
    ct_shape_free(star);
    ct_shape_free(grid);
    /* with a pocket inside, which the outline leaves alone */
    CHECK_OK(ct_shape_grid(4, 5, 1, -2, 0.5, PATCH, &grid, &err), err);
    ct_shape_outline(grid, 100, xy);
    for (int k = 0; k < 100; k++) CHECK_NEAR(ct_shape_distance(grid, xy + 2 * k, NULL, NULL), 0, 0.5);
    ct_shape_free(grid);
}

/* Sums over a fine grid of points that the test finds inside. */
static void brute_moments(const outline *o, double m[4])
{
    const int n = 1500;
    double    reach[2] = {0};
    for (int i = 0; i < 4 * parts(o); i++) {
        double p[2];
        point_at(o, i / 4., p);
        for (int c = 0; c < 2; c++) reach[c] = fmax(reach[c], fabs(p[c]));
    }
    memset(m, 0, 4 * sizeof *m);
    for (int i = 0; i < n * n; i++) {
        const double p[2] = {reach[0] * (2 * (i % n + 0.5) / n - 1), reach[1] * (2 * (i / n + 0.5) / n - 1)},
                     cell = 4 * reach[0] * reach[1] / n / n;
        if (!brute_inside(o, p)) continue;
        m[0] += cell, m[1] += cell * hypot(p[0], p[1]), m[2] += cell * p[0], m[3] += cell * p[1];
    }
    for (int k = 1; k < 4; k++) m[k] /= m[0];
}

static void test_moments_are_integrals_over_the_inside(void)
{
    double want[4], area, radius, centre[2];
    for (int i = 0; i < COUNT(LIST); i++) {
        ct_shape *shape = make(&LIST[i]);
        brute_moments(&LIST[i], want);
        ct_shape_moments(shape, &area, &radius, centre);
        CHECK_NEAR(area, want[0], 3e-3 * area);
        CHECK_NEAR(radius, want[1], 3e-3 * radius);
        for (int k = 0; k < 2; k++) CHECK_NEAR(centre[k], want[2 + k], 1e-4);
        if (i == 0) CHECK_NEAR(radius, 0.068407741638, 1e-12); /* 2/3 of the mean of |(a cos, b sin)| */
        if (i == 2) CHECK_NEAR(radius, 2 * 0.1 / 3, 1e-16);
        if (i == 3) CHECK_NEAR(radius, 0.084905944, 1e-9);
        if (i == 5) CHECK_NEAR(radius, 0.0763153, 1e-8); /* midpoints, 2000 x 2000 */
        if (i != 3) { /* a grid of 2 mm does not see a needle */
            double    found, r, c[2];
            ct_shape *grid = sampled(shape, 0.2, 201);
            ct_shape_moments(grid, &found, &r, c);
            CHECK_NEAR(found, area, 5e-3 * area);
            CHECK_NEAR(r, radius, 5e-3 * radius);
            for (int k = 0; k < 2; k++) CHECK_NEAR(c[k], centre[k], 2e-4);
            ct_shape_free(grid);
        }
        ct_shape_free(shape);
    }
}

int main(void)
{
    RUN(test_a_grid_approaches_its_shape_at_second_order);
    RUN(test_a_grid_is_bilinear_and_goes_on_beyond_its_edge);
    RUN(test_leos_grids_are_read);
    RUN(test_outlines_lie_on_the_outline_with_every_corner);
    RUN(test_the_outline_of_a_grid_is_that_of_what_it_samples);
    RUN(test_moments_are_integrals_over_the_inside);
    return ct_test_end();
}
