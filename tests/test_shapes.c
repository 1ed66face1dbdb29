/* test_shapes.c: signed distances. Each shape is compared with an outline that the test draws by itself, its nearest
 * point searched for; derivatives with differences. */
#include "shape_test.h"

/* Anywhere: near the outline, on the axes, deep inside, far outside, near corners. */
static void draw(const outline *o, ct_rng *rng, double p[2])
{
    const int where = (int)(ct_rng_bits(rng) % 6);
    double    size = 0.3;
    p[0] = p[1] = 0;
    if (where == 1) point_at(o, ct_rng_uniform(rng) * parts(o), p), size = 0.005;
    if (where == 2) point_at(o, floor(ct_rng_uniform(rng) * parts(o)), p), size = 0.01;
    if (where == 3) size = 10;
    if (where == 4) size = 0.01;
    for (int i = 0; i < 2; i++) p[i] += size * (2 * ct_rng_uniform(rng) - 1);
    if (where == 5) p[ct_rng_bits(rng) % 2] = 0;
}

static void for_all(uint64_t seed, int draws,
                    void (*law)(const outline *o, const ct_shape *shape, const double p[2], ct_rng *rng))
{
    ct_rng rng = ct_rng_seed(seed);
    for (int i = 0; i < COUNT(LIST); i++) {
        const int before = ct_test_failed_checks;
        ct_shape *shape = make(&LIST[i]);
        for (int k = 0; shape && k < draws; k++) {
            double p[2];
            draw(&LIST[i], &rng, p);
            law(&LIST[i], shape, p, &rng);
        }
        ct_shape_free(shape);
        if (ct_test_failed_checks > before) fprintf(stderr, "  %s\n", LIST[i].name);
    }
}

/* ---- Laws ------------------------------------------------------------------------------------------- */

static void distance_is_that_to_the_nearest_point(const outline *o, const ct_shape *shape, const double p[2],
                                                  ct_rng *rng)
{
    (void)rng;
    const double want = brute_distance(o, p), d = ct_shape_distance(shape, p, NULL, NULL);
    CHECK_NEAR(fabs(d), want, 1e-12 * (1 + want));
    if (want > 1e-9) CHECK((d < 0) == brute_inside(o, p));
}
static void test_distance_is_that_to_the_nearest_point(void) { for_all(1, 400, distance_is_that_to_the_nearest_point); }

/* p - d g is the nearest point: it lies on the outline. */
static void the_gradient_leads_to_the_outline(const outline *o, const ct_shape *shape, const double p[2], ct_rng *rng)
{
    double       g[2], H[4], again[2];
    const double d = ct_shape_distance(shape, p, g, H), foot[2] = {p[0] - d * g[0], p[1] - d * g[1]};
    (void)o, (void)rng;
    CHECK_NEAR(g[0] * g[0] + g[1] * g[1], 1, 1e-14);
    CHECK_NEAR(ct_shape_distance(shape, foot, NULL, NULL), 0, 1e-14 * (1 + fabs(d)));
    CHECK(ct_shape_distance(shape, p, again, NULL) == d && again[0] == g[0] && again[1] == g[1]);
    CHECK_NEAR(H[0] * g[0] + H[1] * g[1], 0, 1e-13 * (1 + fabs(H[0]) + fabs(H[3]))); /* along g nothing bends */
    CHECK_NEAR(H[2] * g[0] + H[3] * g[1], 0, 1e-13 * (1 + fabs(H[0]) + fabs(H[3])));
    CHECK(H[1] == H[2]);
}
static void test_the_gradient_leads_to_the_outline(void) { for_all(2, 4000, the_gradient_leads_to_the_outline); }

static void no_distance_grows_faster_than_the_way(const outline *o, const ct_shape *shape, const double p[2],
                                                  ct_rng *rng)
{
    double q[2];
    draw(o, rng, q);
    const double way = hypot(p[0] - q[0], p[1] - q[1]), d = ct_shape_distance(shape, p, NULL, NULL),
                 e = ct_shape_distance(shape, q, NULL, NULL);
    CHECK(fabs(d - e) <= way * (1 + 1e-13) + 1e-15);
}
static void test_no_distance_grows_faster_than_the_way(void)
{
    for_all(3, 4000, no_distance_grows_faster_than_the_way);
}

static int compared, skipped;

/* Differences of d and of g, where two step lengths agree: no kink lies between. */
static void derivatives_agree_with_differences(const outline *o, const ct_shape *shape, const double p[2], ct_rng *rng)
{
    double g[2], H[4], G[2][2][2], D[2][2];
    (void)o, (void)rng;
    ct_shape_distance(shape, p, g, H);
    const double bend = 1 + fabs(H[0]) + fabs(H[3]), step[2] = {2e-5 / bend, 1e-5 / bend};
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < 2; i++) {
            double       a[2] = {p[0], p[1]}, b[2] = {p[0], p[1]}, ga[2], gb[2];
            a[i] += step[s], b[i] -= step[s];
            const double da = ct_shape_distance(shape, a, ga, NULL), db = ct_shape_distance(shape, b, gb, NULL);
            D[s][i] = (da - db) / (a[i] - b[i]);
            for (int k = 0; k < 2; k++) G[s][i][k] = (ga[k] - gb[k]) / (a[i] - b[i]);
        }
    for (int i = 0; i < 2; i++) {
        const int smooth = fabs(G[0][i][0] - G[1][i][0]) < 1e-4 * bend && fabs(G[0][i][1] - G[1][i][1]) < 1e-4 * bend;
        compared += smooth, skipped += !smooth;
        if (!smooth) continue;
        CHECK_NEAR(D[1][i], g[i], 1e-9 + 1e-11 * bend); /* rounding of d over the step */
        for (int k = 0; k < 2; k++) CHECK_NEAR((4 * G[1][i][k] - G[0][i][k]) / 3, H[2 * i + k], 2e-6 * bend);
    }
}

static void test_derivatives_agree_with_differences(void)
{
    compared = skipped = 0;
    for_all(4, 2000, derivatives_agree_with_differences);
    CHECK(skipped < compared / 20);
}

static void signs_follow_the_quadrant(const outline *o, const ct_shape *shape, const double p[2], ct_rng *rng)
{
    double g[2], m[2];
    (void)rng;
    if (o->xy && o->xy != RECTANGLE) return;
    const double d = ct_shape_distance(shape, p, g, NULL);
    for (int q = 1; q < 4; q++) {
        const double sx = q & 1 ? -1 : 1, sy = q & 2 ? -1 : 1;
        CHECK(ct_shape_distance(shape, (const double[]){sx * p[0], sy * p[1]}, m, NULL) == d);
        if (p[0] != 0 && p[1] != 0) CHECK(m[0] == sx * g[0] && m[1] == sy * g[1]);
    }
}
static void test_signs_follow_the_quadrant(void) { for_all(5, 500, signs_follow_the_quadrant); }

/* ---- Ellipses where they are hard ------------------------------------------------------------------- */

static void test_ellipses_hold_at_their_centre_and_on_their_axes(void)
{
    const double ratio[] = {1, 1 + 1e-15, 1.0001, 1.5, 10, 100, 1e6, 1e11};
    for (int i = 0; i < COUNT(ratio); i++)
        for (int tall = 0; tall < 2; tall++) {
            const double b = 3e-6, a = b * ratio[i], foci = (a - b) * (a + b) / a; /* beyond it the vertex is nearest */
            ct_shape    *shape;
            ct_err       err = {0};
            double       g[2], H[4];
            CHECK_OK(ct_shape_ellipse(tall ? b : a, tall ? a : b, &shape, &err), err);
            if (!shape) continue;
            CHECK_NEAR(ct_shape_distance(shape, (const double[]){0, 0}, g, H), -b, 1e-15 * b);
            CHECK(isfinite(H[0]) && isfinite(H[1]) && isfinite(H[3]));
            CHECK_NEAR(hypot(g[0], g[1]), 1, 1e-15);
            for (double f = -2; f <= 2; f += 0.0625) {
                double       p[2] = {0};
                const double x = fabs(f * a), inner = b * sqrt(fmax(0, 1 - (f * f) * a * a / ((a - b) * (a + b))));
                p[tall] = f * a;
                const double d = ct_shape_distance(shape, p, g, H), want = x >= foci ? x - a : -inner;
                CHECK_NEAR(d, want, 4e-15 * a);
                CHECK_NEAR(hypot(g[0], g[1]), 1, 1e-15);
                if (x > foci * 1.001)
                    CHECK(fabs(g[tall] - (f > 0 ? 1 : -1)) < 1e-9 && fabs(H[tall ? 0 : 3] * (x - foci) - 1) < 1e-6);
                p[tall] = 0, p[!tall] = f * b;
                CHECK_NEAR(ct_shape_distance(shape, p, g, H), fabs(f) * b - b, 4e-15 * b);
                CHECK(f == 0 || fabs(g[!tall] - (f > 0 ? 1 : -1)) < 1e-15 || ratio[i] < 1.1);
            }
            ct_shape_free(shape);
        }
}

/* Where the axis meets the centre of curvature the iteration is slowest: from all sides of it, at all distances. */
static void test_ellipses_hold_near_their_centres_of_curvature(void)
{
    const outline o = {"ellipse", 0.5, 0.1, NULL, 0};
    ct_shape     *shape = make(&o);
    for (double far = 1e-3; far > 1e-17; far /= 7)
        for (int k = 0; k < 12; k++) {
            double       g[2], p[2] = {0.48 + far * cos(k * PI / 6), far * sin(k * PI / 6)};
            const double d = ct_shape_distance(shape, p, g, NULL), foot[2] = {p[0] - d * g[0], p[1] - d * g[1]};
            CHECK_NEAR(foot[0] * foot[0] / 0.25 + foot[1] * foot[1] / 0.01, 1, 1e-13);
            CHECK_NEAR(-d, brute_distance(&o, p), 1e-12);
        }
    ct_shape_free(shape);
}

static void test_what_is_no_number_gives_none(void)
{
    const double samples[9] = {1, 1, 1, 1, -1, 1, 1, 1, 1};
    ct_shape    *list[4] = {0};
    ct_err       err = {0};
    CHECK_OK(ct_shape_ellipse(1, 2, &list[0], &err), err);
    CHECK_OK(ct_shape_rectangle(1, 2, &list[1], &err), err);
    CHECK_OK(ct_shape_polygon(3, TRIANGLE, &list[2], &err), err);
    CHECK_OK(ct_shape_grid(3, 3, -1, -1, 1, samples, &list[3], &err), err);
    for (int i = 0; i < 4; i++) {
        for (int k = 1; k < 4; k++) {
            const double p[2] = {k & 1 ? NAN : 0.1, k & 2 ? NAN : 0.2};
            double       g[2], H[4];
            CHECK(isnan(ct_shape_distance(list[i], p, g, H)));
        }
        CHECK((int)ct_shape_kind_of(list[i]) == i && ct_shape_kind_find(ct_shape_kind_name((ct_shape_kind)i)) == i);
        ct_shape_free(list[i]);
    }
    CHECK(ct_shape_kind_find("disc") == -1);
    ct_shape_free(NULL);
}

/* ---- Polygons --------------------------------------------------------------------------------------- */

/* Either sense, and with corners on its sides that are none. */
static void test_a_polygon_of_a_rectangle_is_the_rectangle(void)
{
    const double back[] = {-0.1, 0.05, 0.1, 0.05, 0.1, -0.05, -0.1, -0.05};
    ct_rng       rng = ct_rng_seed(6);
    ct_shape    *want, *polygon[2] = {0};
    ct_err       err = {0};
    CHECK_OK(ct_shape_rectangle(0.1, 0.05, &want, &err), err);
    CHECK_OK(ct_shape_polygon(4, back, &polygon[0], &err), err);
    CHECK_OK(ct_shape_polygon(COUNT(EVEN) / 2, EVEN, &polygon[1], &err), err);
    for (int i = 0; i < 5000; i++) {
        const double p[2] = {0.2 * (2 * ct_rng_uniform(&rng) - 1), 0.1 * (2 * ct_rng_uniform(&rng) - 1)};
        double       g[2], H[4], k[2], K[4];
        const double d = ct_shape_distance(want, p, g, H);
        for (int j = 0; j < 2; j++) {
            CHECK_NEAR(ct_shape_distance(polygon[j], p, k, K), d, 1e-16);
            for (int c = 0; c < 2; c++) CHECK_NEAR(k[c], g[c], 1e-14);
            for (int c = 0; c < 4; c++) CHECK_NEAR(K[c], H[c], 1e-13 * (1 + fabs(H[c])));
        }
    }
    ct_shape_free(want);
    for (int j = 0; j < 2; j++) ct_shape_free(polygon[j]);
}

/* A chord of n lies within its arc by a part of 1/n^2. */
static void test_a_polygon_of_an_ellipse_approaches_it(void)
{
    double    worst[2] = {0};
    ct_shape *ellipse;
    ct_err    err = {0};
    CHECK_OK(ct_shape_ellipse(0.0819, 0.1214, &ellipse, &err), err);
    for (int fine = 0; fine < 2; fine++) {
        static double xy[2000];
        ct_shape     *polygon;
        const int32_t n = fine ? 1000 : 250;
        ct_rng        rng = ct_rng_seed(7);
        ct_shape_outline(ellipse, n, xy);
        CHECK_OK(ct_shape_polygon(n, xy, &polygon, &err), err);
        for (int i = 0; polygon && i < 500; i++) {
            const double p[2] = {0.2 * ct_rng_normal(&rng), 0.2 * ct_rng_normal(&rng)};
            worst[fine] = fmax(worst[fine], fabs(ct_shape_distance(polygon, p, NULL, NULL) -
                                                 ct_shape_distance(ellipse, p, NULL, NULL)));
        }
        ct_shape_free(polygon);
    }
    CHECK(worst[0] < 2e-5 && worst[1] < worst[0] / 14 && worst[1] > worst[0] / 20);
    ct_shape_free(ellipse);
}

/* ---- Refusals --------------------------------------------------------------------------------------- */

static void test_what_is_no_shape_is_refused_with_a_sentence(void)
{
    ct_shape *shape = (ct_shape *)&shape;
    ct_err    err = {0};
#define BAD(call, words)                                                                            \
    do {                                                                                            \
        shape = (ct_shape *)&shape;                                                                 \
        CHECK_REFUSED(call, err, words);                                                            \
        CHECK(!shape && (err.status == CT_E_ARGUMENT || err.status == CT_E_LIMIT));                 \
    } while (0)
    BAD(ct_shape_ellipse(0, 1, &shape, &err), "ellipse: its half axis a must be from 1e-06 to 1e+06, it is 0");
    BAD(ct_shape_ellipse(1, NAN, &shape, &err), "ellipse: its half axis b must be from 1e-06 to 1e+06, it is nan");
    BAD(ct_shape_rectangle(-1, 1, &shape, &err), "rectangle: its half length hx must be from 1e-06 to 1e+06, it is -1");
    BAD(ct_shape_rectangle(1, INFINITY, &shape, &err),
        "rectangle: its half length hy must be from 1e-06 to 1e+06, it is inf");
    BAD(ct_shape_polygon(2, (const double[]){0, 0, 1, 0}, &shape, &err),
        "polygon: it must have 3 to 1000 corners, it has 2");
    BAD(ct_shape_polygon(1001, NULL, &shape, &err), "polygon: it must have 3 to 1000 corners, it has 1001");
    BAD(ct_shape_polygon(3, (const double[]){0, 0, 1, NAN, 1, 1}, &shape, &err),
        "polygon: corner 1 is (1, nan), coordinates must be finite");
    BAD(ct_shape_polygon(4, (const double[]){0, 0, 1, 0, 1, 1, 0, 0}, &shape, &err),
        "polygon: the side from corner 3 to corner 0 must be at least 1e-06 long, it is 0");
    BAD(ct_shape_polygon(4, (const double[]){0, 0, 1, 1, 1, 0, 0, 1}, &shape, &err),
        "polygon: the sides from corner 0 and from corner 2 cross or touch");
    BAD(ct_shape_polygon(5, (const double[]){0, 0, 2, 0, 2, 2, 1, 0, 0, 2}, &shape, &err),
        "polygon: the sides from corner 0 and from corner 2 cross or touch");
    BAD(ct_shape_polygon(5, (const double[]){0, 0, 4, 0, 4, 4, 5, 5, 6, 2}, &shape, &err),
        "polygon: the sides from corner 1 and from corner 4 cross or touch");
    BAD(ct_shape_polygon(3, (const double[]){0, 0, 2, 0, 1, 0}, &shape, &err),
        "polygon: the side from corner 1 goes back along the one before");
    BAD(ct_shape_polygon(4, (const double[]){0, 0, 2, 0, 1, 0, 1, 1}, &shape, &err),
        "polygon: the side from corner 1 goes back along the one before");
    BAD(ct_shape_polygon(3, (const double[]){0, 0, 2, 0, 1, 1e-9}, &shape, &err), "polygon: it has no area");
    const double one[9] = {1, 1, 1, 1, -1, 1, 1, 1, 1}, open[9] = {1, 1, 1, 1, -1, -0.5, 1, 1, 1},
                 none[9] = {1, 1, 1, 1, 0, 1, 1, 1, 1}, nan[9] = {1, 1, 1, 1, -1, 1, NAN, 1, 1};
    BAD(ct_shape_grid(2, 3, 0, 0, 1, one, &shape, &err), "grid: it must have at least 3 x 3 samples, it has 2 x 3");
    BAD(ct_shape_grid(100000, 100000, 0, 0, 1, one, &shape, &err), "grid: it has 100000 x 100000 samples, more than");
    BAD(ct_shape_grid(3, 3, 0, 0, 0, one, &shape, &err), "grid: its step must be from 1e-06 to 1e+06, it is 0");
    BAD(ct_shape_grid(3, 3, 0, NAN, 1, one, &shape, &err), "grid: its first sample is at (0, nan)");
    BAD(ct_shape_grid(3, 3, 0, 0, 1, open, &shape, &err),
        "grid: the sample in row 1, column 2 of its edge is -0.5: the outline must lie within the grid");
    BAD(ct_shape_grid(3, 3, 0, 0, 1, none, &shape, &err), "grid: no sample is -1e-06 or less: nothing is inside");
    BAD(ct_shape_grid(3, 3, 0, 0, 1, nan, &shape, &err), "grid: the sample in row 2, column 0 is nan");
#undef BAD
}

static void test_a_shape_says_what_it_was_made_of(void)
{
    double    number[8] = {0};
    ct_shape *shape;
    ct_err    err = {0};
    CHECK_OK(ct_shape_rectangle(3, 4, &shape, &err), err);
    CHECK(ct_shape_numbers(shape, 0, NULL) == 2 && ct_shape_numbers(shape, 8, number) == 2 && number[0] == 3 &&
          number[1] == 4 && number[2] == 0);
    ct_shape_free(shape);
    CHECK_OK(ct_shape_polygon(3, TRIANGLE, &shape, &err), err);
    CHECK(ct_shape_numbers(shape, 5, number) == 6 && !memcmp(number, TRIANGLE, 5 * sizeof *number) && number[5] == 0);
    ct_shape_free(shape);
}

int main(void)
{
    RUN(test_distance_is_that_to_the_nearest_point);
    RUN(test_the_gradient_leads_to_the_outline);
    RUN(test_no_distance_grows_faster_than_the_way);
    RUN(test_derivatives_agree_with_differences);
    RUN(test_signs_follow_the_quadrant);
    RUN(test_ellipses_hold_at_their_centre_and_on_their_axes);
    RUN(test_ellipses_hold_near_their_centres_of_curvature);
    RUN(test_what_is_no_number_gives_none);
    RUN(test_a_polygon_of_a_rectangle_is_the_rectangle);
    RUN(test_a_polygon_of_an_ellipse_approaches_it);
    RUN(test_what_is_no_shape_is_refused_with_a_sentence);
    RUN(test_a_shape_says_what_it_was_made_of);
    return ct_test_end();
}
