/* test_scene.c: bodies are where their poses put them: in the still picture, point by point against the scale of its
 * axes, and in what a page's script is given to move them by. */
#include "plot_test.h"

#define FRAMES 61
#define PI     3.14159265358979323846

static const double BOX[] = {-0.12, -0.08, 0.12, -0.05, 0.1, 0.08, -0.12, 0.08};
static double       way[3][3 * FRAMES], times[FRAMES];
static uint8_t      cuts[FRAMES];

/* A box (before, after) and a disc (truth) along arcs that differ, with a turn through pi; after is not there at
 * some frames. */
static void make_ways(void)
{
    for (int m = 0; m < 3; m++)
        for (int k = 0; k < FRAMES; k++) {
            const double t = 0.03 * k;
            way[m][3 * k] = 2 + 0.4 * sin(t) + 0.05 * m * t;
            way[m][3 * k + 1] = -1 + 0.3 * (1 - cos(t)) - 0.02 * m * t;
            way[m][3 * k + 2] = 2.5 + 0.7 * t + 0.1 * m;
            times[k] = 0.25 * k;
        }
    for (int k = 20; k < 25; k++) way[2][3 * k + k % 3] = k % 2 ? NAN : INFINITY;
    cuts[31] = 1;
}

static const ct_scene_body BODY[] = {{"before", CT_ROLE_BEFORE, 4, BOX, 0, way[0]},
                                     {"truth", CT_ROLE_TRUTH, 0, NULL, 0.02, way[1]},
                                     {"after", CT_ROLE_AFTER, 4, BOX, 0, way[2]},
                                     {"not said: its role has a word", CT_ROLE_AFTER, 0, NULL, 0, way[2]}};

static ct_scene scene_of(void)
{
    return (ct_scene){.id = "s",
                      .title = "t",
                      .x_label = "x",
                      .y_label = "y",
                      .frames = FRAMES,
                      .time_s = times,
                      .cut = cuts,
                      .count = 4,
                      .body = BODY};
}

/* The caller frees what these return. */
static char *still(const ct_scene *scene)
{
    ct_err err = {0};
    FILE  *f = tmpfile();
    CHECK_OK(ct_scene_print(scene, f, &err), err);
    return test_read(f);
}

static char *in_page(const ct_scene *scene, int times_over)
{
    ct_err   err = {0};
    ct_page *page = NULL;
    CHECK_OK(ct_page_new("p", NULL, &page, &err), err);
    for (int i = 0; i < times_over; i++) ct_page_scene(page, scene);
    CHECK_OK(ct_page_write(page, test_path("scene.html"), &err), err);
    ct_page_free(page);
    char *text = test_read_file(test_path("scene.html"));
    remove(test_path("scene.html"));
    return text;
}

/* From where body i begins; `from` if not NULL: the next such part from there on, within the body. */
static const char *part_of(const char *svg, int i, const char *part, const char *from)
{
    const char *p = strstr(svg, "<g class=\"data\">"), *end;
    while (p && i-- >= 0) p = strstr(p + 1, "<g class=\"s k");
    if (!p) return NULL;
    end = strstr(p + 1, "<g class=\"s k");
    p = strstr(from ? from : p, part);
    return p && (!end || p < end) ? p : NULL;
}

static double number_at(const char *p, const char *name)
{
    p = strstr(p, name);
    return p ? strtod(p + strlen(name), NULL) : NAN;
}

/* The frames that a still picture of g ghosts has: the nearest to equal parts. */
static int ghost_frame(int g, int ghosts) { return (int)floor((double)g * (FRAMES - 1) / (ghosts - 1) + 0.5); }

static void check_outline(const scale sx, const scale sy, const double pose[3])
{
    CHECK(drawn.count == 5 && drawn.verb[4] == 'z');
    for (int i = 0; i < 4; i++) {
        /* turned by angle and radius */
        const double a = atan2(BOX[2 * i + 1], BOX[2 * i]) + pose[2], r = hypot(BOX[2 * i], BOX[2 * i + 1]);
        CHECK_NEAR(drawn.x[i], by_scale(&sx, 0, pose[0] + r * cos(a)), PLACE);
        CHECK_NEAR(drawn.y[i], by_scale(&sy, 0, pose[1] + r * sin(a)), PLACE);
    }
}

static void test_a_still_picture_has_bodies_where_their_poses_put_them(void)
{
    ct_scene scene = scene_of();
    for (scene.ghosts = 0; scene.ghosts <= 10; scene.ghosts += 5) {
        const int   ghosts = scene.ghosts ? scene.ghosts : 4;
        char       *svg = still(&scene);
        const scale sx = read_scale(svg, "xt"), sy = read_scale(svg, "yt");
        CHECK_WELL_FORMED(svg);
        CHECK(sx.count > 2 && sy.count > 2);
        for (int i = 0; i < 3; i += 2) {
            const char *p = NULL;
            for (int g = 0; g < ghosts; g++) {
                const double *pose = way[i] + 3 * ghost_frame(g, ghosts);
                if (!isfinite(pose[0] + pose[1] + pose[2])) continue;
                p = part_of(svg, i, "<path class=\"body\"", p ? p + 1 : NULL);
                CHECK(p != NULL);
                if (!p) break;
                read_path(strstr(p, " d=\"") + 4);
                check_outline(sx, sy, pose);
            }
            CHECK(p && !part_of(svg, i, "<path class=\"body\"", p + 1));
        }
        const char *disc = part_of(svg, 1, "<circle", NULL);
        CHECK(disc && fabs(number_at(disc, " cx=\"") - by_scale(&sx, 0, way[1][0])) < PLACE &&
              fabs(number_at(disc, " cy=\"") - by_scale(&sy, 0, way[1][1])) < PLACE);
        CHECK(disc && fabs(number_at(disc, " r=\"") - 0.02 * (by_scale(&sx, 0, 1) - by_scale(&sx, 0, 0))) < PLACE);
        CHECK(strstr(svg, "class=\"live\"") == NULL && strstr(svg, "data-poses") == NULL); /* nobody moves a file */
        free(svg);
    }
}

static void test_a_metre_is_as_long_along_x_as_along_y_and_everything_is_inside(void)
{
    const ct_scene scene = scene_of();
    char          *svg = still(&scene);
    const scale    sx = read_scale(svg, "xt"), sy = read_scale(svg, "yt");
    CHECK_NEAR(by_scale(&sx, 0, 1) - by_scale(&sx, 0, 0), by_scale(&sy, 0, 0) - by_scale(&sy, 0, 1), 0.5);
    const char  *clip = strstr(svg, "<clipPath");
    const double left = number_at(clip, " x=\""), top = number_at(clip, " y=\""),
                 right = left + number_at(clip, " width=\""), bottom = top + number_at(clip, " height=\"");
    for (int m = 0; m < 3; m += 2)
        for (int k = 0; k < FRAMES; k++)
            for (int i = 0; i < 4; i++) {
                const double *p = way[m] + 3 * k, c = cos(p[2]), s = sin(p[2]);
                const double x = by_scale(&sx, 0, p[0] + c * BOX[2 * i] - s * BOX[2 * i + 1]),
                             y = by_scale(&sy, 0, p[1] + s * BOX[2 * i] + c * BOX[2 * i + 1]);
                if (isfinite(p[0] + p[1] + p[2])) CHECK(x > left && x < right && y > top && y < bottom);
            }
    free(svg);
}

static void test_a_disc_is_inside_with_its_rim(void)
{
    const ct_scene_body  disc = {"disc", CT_ROLE_AFTER, 0, NULL, 0.3, way[0]};
    const ct_scene scene = {.frames = FRAMES, .count = 1, .body = &disc};
    char          *svg = still(&scene);
    const scale    sx = read_scale(svg, "xt"), sy = read_scale(svg, "yt");
    const char    *clip = strstr(svg, "<clipPath");
    const double left = number_at(clip, " x=\""), top = number_at(clip, " y=\""),
                 right = left + number_at(clip, " width=\""), bottom = top + number_at(clip, " height=\"");
    for (int k = 0; k < FRAMES; k++) {
        const double *p = way[0] + 3 * k;
        CHECK(by_scale(&sx, 0, p[0] - 0.3) > left && by_scale(&sx, 0, p[0] + 0.3) < right &&
              by_scale(&sy, 0, p[1] + 0.3) > top && by_scale(&sy, 0, p[1] - 0.3) < bottom);
    }
    free(svg);
}

/* Distance of a point from what was drawn. */
static double from_drawn(double x, double y)
{
    double nearest = INFINITY;
    for (int i = 0; i + 1 < drawn.count; i++) {
        const double dx = drawn.x[i + 1] - drawn.x[i], dy = drawn.y[i + 1] - drawn.y[i], l = dx * dx + dy * dy;
        const double f = l > 0 ? fmin(fmax(((x - drawn.x[i]) * dx + (y - drawn.y[i]) * dy) / l, 0), 1) : 0;
        if (drawn.verb[i + 1] != 'M') nearest = fmin(nearest, hypot(x - drawn.x[i] - f * dx, y - drawn.y[i] - f * dy));
    }
    return nearest;
}

static void test_ways_pass_through_every_origin_and_break_at_cuts_and_absences(void)
{
    const ct_scene scene = scene_of();
    char          *svg = still(&scene);
    const scale    sx = read_scale(svg, "xt"), sy = read_scale(svg, "yt");
    for (int m = 0; m < 3; m++) {
        const char *p = part_of(svg, m, "<path class=\"way\"", NULL);
        int         begun = 0;
        read_path(strstr(p, " d=\"") + 4);
        for (int k = 0; k < drawn.count; k++) begun += drawn.verb[k] == 'M';
        CHECK(begun == (m == 2 ? 3 : 2)); /* the cut; after is away once more */
        for (int k = 0; k < FRAMES; k++)
            if (isfinite(way[m][3 * k] + way[m][3 * k + 1] + way[m][3 * k + 2]))
                CHECK(from_drawn(by_scale(&sx, 0, way[m][3 * k]), by_scale(&sy, 0, way[m][3 * k + 1])) < 0.1 + PLACE);
        const double *a = way[m] + 3 * 30, *b = way[m] + 3 * 31;
        CHECK(from_drawn(by_scale(&sx, 0, (a[0] + b[0]) / 2), by_scale(&sy, 0, (a[1] + b[1]) / 2)) > 1);
    }
    free(svg);
}

/* One frame of data-poses, added to at: how many numbers it has; p moves behind it. */
static int next_frame(const char **p, double at[3])
{
    int n = 0;
    while (**p != ',' && **p != '"' && n < 3) {
        char *end;
        at[n++] += (double)strtol(*p, &end, 10);
        *p = end;
    }
    *p += **p == ',';
    return n;
}

/* What the script adds up is the pose, to a fiftieth of a unit at every corner. */
static void test_a_page_knows_every_pose_to_a_fiftieth_of_a_unit(void)
{
    const ct_scene scene = scene_of();
    char          *page = in_page(&scene, 1);
    const scale    sx = read_scale(page, "xt"), sy = read_scale(page, "yt");
    CHECK_WELL_FORMED(page);
    for (int m = 0; m < 3; m++) {
        const char *live = part_of(page, m, "<g class=\"live\"", NULL), *p = strstr(live, "data-poses=\"") + 12;
        double      at[3] = {0, 0, 0};
        const int   turns = m != 1;
        for (int k = 0; k < FRAMES; k++) {
            const double *pose = way[m] + 3 * k;
            const int     here = isfinite(pose[0] + pose[1] + pose[2]), n = next_frame(&p, at);
            CHECK(n == (here ? 2 + turns : 0));
            if (!here) continue;
            CHECK_NEAR(at[0] / 50, by_scale(&sx, 0, pose[0]), PLACE);
            CHECK_NEAR(at[1] / 50, by_scale(&sy, 0, pose[1]), PLACE);
            if (turns)
                CHECK_NEAR(remainder(at[2] * number_at(live, "data-turn=\"") * PI / 180 - pose[2], 2 * PI), 0,
                           0.02 / 50);
        }
        CHECK(*p == '"');
        if (!turns) continue;
        read_path(strstr(strstr(p, "<path class=\"body\""), " d=\"") + 4); /* about (0, 0) */
        for (int i = 0; i < 4; i++) {
            CHECK_NEAR(drawn.x[i], BOX[2 * i] * (by_scale(&sx, 0, 1) - by_scale(&sx, 0, 0)), PLACE);
            CHECK_NEAR(drawn.y[i], BOX[2 * i + 1] * (by_scale(&sy, 0, 1) - by_scale(&sy, 0, 0)), PLACE);
        }
    }
    CHECK(number_at(page, "data-frames=\"") == FRAMES && number_at(page, "data-stride=\"") == 1 &&
          strstr(page, "data-times=\"0 0.250000 0.500000 "));
    free(page);
}

static void test_a_legend_has_a_word_for_each_role_that_hides_it(void)
{
    const ct_scene scene = scene_of();
    char          *page = in_page(&scene, 1);
    CHECK(count_of(page, "class=\"key\"") == 3 && !strstr(page, "not said"));
    for (int r = 0; r < 3; r++) {
        char key[64], body[64];
        snprintf(key, sizeof key, "class=\"key\" data-s=\"%d\"", r);
        snprintf(body, sizeof body, "<g class=\"s k%d\" data-s=\"%d\"", r, r);
        CHECK(count_of(page, key) == 1 && count_of(page, body) == (r == CT_ROLE_AFTER ? 2 : 1));
    }
    free(page);
}

static void test_later_ghosts_are_stronger(void)
{
    const ct_scene scene = scene_of();
    char          *svg = still(&scene);
    double         before = 0;
    const char    *p = NULL;
    for (int g = 0; g < 4; g++) {
        p = part_of(svg, 0, "<g opacity=\"", p ? p + 1 : NULL);
        const double now = p ? number_at(p, "opacity=\"") : NAN;
        CHECK(now > before && now <= 1);
        before = now;
    }
    CHECK(before == 1);
    free(svg);
}

static void test_what_is_not_there_is_not_drawn(void)
{
    static double  nowhere[3 * FRAMES], far[3 * FRAMES];
    static const double RAGGED[] = {-0.1, -0.1, NAN, 0.1, 0.1, -0.1, 0.1, INFINITY, 0.1, 0.1};
    for (int k = 0; k < 3 * FRAMES; k++) nowhere[k] = k % 3 ? NAN : 1, far[k] = k < 3 ? -1e308 : k % 3 ? 1e307 : 1e308;
    const ct_scene_body absent[] = {{"absent", CT_ROLE_BEFORE, 4, BOX, 0, nowhere},
                                    {NULL, CT_ROLE_BEFORE, 0, NULL, 0, nowhere}},
                        ragged[] = {{"ragged", CT_ROLE_AFTER, 5, RAGGED, 0, way[0]}};
    const ct_scene_body strange[] = {{"far", CT_ROLE_AFTER, 4, BOX, NAN, far},
                                     {NULL, CT_ROLE_TRUTH, 0, NULL, NAN, way[0]},
                                     {NULL, CT_ROLE_TRUTH, 0, NULL, INFINITY, way[1]}};
    const ct_scene scene[] = {{0},
                              {.frames = FRAMES},
                              {.count = 2, .body = absent},
                              {.frames = FRAMES, .count = 2, .body = absent},
                              {.frames = FRAMES, .count = 1, .body = ragged},
                              {.frames = FRAMES, .count = 3, .body = strange, .time_s = nowhere},
                              {.frames = 1, .count = 4, .body = BODY}};
    for (int i = 0; i < 7; i++) {
        char *svg = still(&scene[i]), *page = in_page(&scene[i], 1);
        CHECK_WELL_FORMED(svg);
        CHECK_WELL_FORMED(page);
        CHECK((strstr(svg, ">no data<") != NULL) == (i < 4) && (strstr(page, " data-frames=\"") == NULL) == (i < 4));
        CHECK(!strstr(svg, "nan") && !strstr(svg, "inf") && !strstr(strstr(page, "<main>"), "\"nan") &&
              !strstr(strstr(page, "<main>"), " inf"));
        CHECK(!strstr(page, " data-times=\""));
        free(svg);
        free(page);
    }
    char *svg = still(&scene[4]);
    read_path(strstr(part_of(svg, 0, "<path class=\"body\"", NULL), " d=\"") + 4);
    CHECK(drawn.count == 4); /* three corners that are somewhere, and the way back */
    free(svg);
}

/* A point that rests, and a body far from zero: still a picture with two ticks. */
static void test_bodies_that_rest_have_axes(void)
{
    static double rest[3 * FRAMES];
    for (int k = 0; k < FRAMES; k++) rest[3 * k] = 5e5, rest[3 * k + 1] = -3e5;
    const ct_scene_body body = {"rest", CT_ROLE_AFTER, 0, NULL, 0, rest};
    const ct_scene scene = {.frames = FRAMES, .count = 1, .body = &body};
    char          *svg = still(&scene);
    CHECK(read_scale(svg, "xt").count > 1 && !strstr(svg, "no data") && count_of(svg, "<g opacity=\"") == 4);
    free(svg);
}

static void test_no_word_becomes_anything_else(void)
{
    const ct_scene_body evil_body = {EVIL, CT_ROLE_AFTER, 4, BOX, 0, way[0]},
                        plain_body = {"w", CT_ROLE_AFTER, 4, BOX, 0, way[0]};
    const ct_scene evil = {.id = EVIL,
                           .title = EVIL,
                           .text = EVIL,
                           .x_label = EVIL,
                           .y_label = EVIL,
                           .frames = FRAMES,
                           .count = 1,
                           .body = &evil_body};
    const ct_scene plain = {.id = "w",
                            .title = "w",
                            .text = "w",
                            .x_label = "w",
                            .y_label = "w",
                            .frames = FRAMES,
                            .count = 1,
                            .body = &plain_body};
    char          *a = in_page(&evil, 1), *b = in_page(&plain, 1), *c = still(&evil);
    CHECK_WELL_FORMED(a);
    CHECK_WELL_FORMED(c);
    CHECK(count_of(a, "<") == count_of(b, "<") && count_of(a, "<script") == 1 && !strstr(a, "<img"));
    CHECK(count_of(a, EVIL_HTML) == 7 && count_of(c, "<img") == 0);
    free(a);
    free(b);
    free(c);
}

/* Ten runs of 300 steps with six bodies each are a page of less than a megabyte. */
static void test_scenes_are_compact(void)
{
    enum { STEPS = 300, CORNERS = 48 };
    static double pose[6][3 * STEPS], outline[2 * CORNERS];
    ct_rng        rng = ct_rng_seed(5);
    ct_scene_body       body[6];
    for (int i = 0; i < CORNERS; i++)
        outline[2 * i] = 0.08 * cos(2 * PI * i / CORNERS), outline[2 * i + 1] = 0.12 * sin(2 * PI * i / CORNERS);
    for (int m = 0; m < 6; m++) {
        double heading = 0.1 * m;
        for (int k = 1; k < STEPS; k++) {
            heading += 0.02 * ct_rng_normal(&rng);
            pose[m][3 * k] = pose[m][3 * (k - 1)] + 0.0025 * cos(heading) + 1e-3 * ct_rng_normal(&rng);
            pose[m][3 * k + 1] = pose[m][3 * (k - 1) + 1] + 0.0025 * sin(heading) + 1e-3 * ct_rng_normal(&rng);
            pose[m][3 * k + 2] = heading;
        }
        body[m] = (ct_scene_body){"body", (ct_role)(m / 2), m % 2 ? CORNERS : 0, outline, 0, pose[m]};
    }
    const ct_scene scene = {.frames = STEPS, .count = 6, .body = body};
    char          *page = in_page(&scene, 10), *none = in_page(&scene, 0);
    CHECK(strlen(page) - strlen(none) < 600000);
    free(page);
    free(none);
}

static void test_a_scene_is_written_whole_or_not_at_all(void)
{
    const ct_scene scene = scene_of();
    ct_err         err = {0};
    CHECK_REFUSED(ct_scene_write(&scene, ct_test_folder(), &err), err, "it is a folder");
    CHECK_OK(ct_scene_write(&scene, test_path("scene.svg"), &err), err);
    char *file = test_read_file(test_path("scene.svg")), *printed = still(&scene);
    CHECK(file && !strcmp(file, printed));
    free(file);
    free(printed);
    remove(test_path("scene.svg"));
}

int main(void)
{
    make_ways();
    RUN(test_a_still_picture_has_bodies_where_their_poses_put_them);
    RUN(test_a_metre_is_as_long_along_x_as_along_y_and_everything_is_inside);
    RUN(test_a_disc_is_inside_with_its_rim);
    RUN(test_ways_pass_through_every_origin_and_break_at_cuts_and_absences);
    RUN(test_a_page_knows_every_pose_to_a_fiftieth_of_a_unit);
    RUN(test_a_legend_has_a_word_for_each_role_that_hides_it);
    RUN(test_later_ghosts_are_stronger);
    RUN(test_what_is_not_there_is_not_drawn);
    RUN(test_bodies_that_rest_have_axes);
    RUN(test_no_word_becomes_anything_else);
    RUN(test_scenes_are_compact);
    RUN(test_a_scene_is_written_whole_or_not_at_all);
    return ct_test_end();
}
