/* scene_bodies.c: the bodies of a scene. Each is a group, as a plot's series (class "s", data-s its role), of
 *
 *   way     the path of its origin
 *   still   the body at a few frames, point by point:  axes(x + R(theta) c)
 *   live    in a page: the body about (0, 0), which the script moves and turns by data-poses
 *
 * Poses are differences from frame to frame, in fiftieths of a unit and in turns that move no point of the body by
 * more than that: "12-3 0,11-3 1,,..." is dx dy dtheta of each frame, nothing where the body is absent, no dtheta
 * of discs. */
#include "page/plot.h"
#include "base/base.h"

#define FINE     50   /* parts of a unit that places are rounded to: below a pixel when zoomed      */
#define GHOSTS   4
#define FAINTEST 0.3  /* opacity of the first ghost; the last has 1 */
#define TWO_PI   6.283185307179586476925

static int is_there(const double pose[3]) { return isfinite(pose[0]) && isfinite(pose[1]) && isfinite(pose[2]); }

static double units_per_metre(const ct__plot *p) { return p->x.length / (p->x.high - p->x.low); }

/* A point of a body: at a pose, or (NULL) about (0, 0); in units. */
static void place(const ct__plot *p, const double *pose, const double c[2], double out[2])
{
    const double k = units_per_metre(p), turn = pose ? pose[2] : 0;
    out[0] = pose ? ct__axis_place(&p->x, pose[0] + cos(turn) * c[0] - sin(turn) * c[1]) : k * c[0];
    out[1] = pose ? ct__axis_place(&p->y, pose[1] + sin(turn) * c[0] + cos(turn) * c[1]) : -k * c[1];
}

/* ---- marks ---- */

static void put_outline(ct__plot *p, const ct_scene_body *t, const double *pose)
{
    const char *dash = ct__role_dash(t->role);
    int32_t     put = 0;
    ct__text_printf(p->out, "<path class=\"body\" fill=\"%s\" fill-opacity=\".07\"", ct__role_colour(t->role));
    if (dash) ct__text_printf(p->out, " stroke-dasharray=\"%s\"", dash);
    ct__text_put(p->out, " d=\"");
    for (int32_t i = 0; i < t->corners; i++) {
        double at[2];
        place(p, pose, t->outline + 2 * (int64_t)i, at);
        if (!isfinite(at[0]) || !isfinite(at[1])) continue;
        ct__text_put(p->out, put++ ? " " : "M");
        ct__plot_number(p->out, at[0]);
        ct__text_put(p->out, " ");
        ct__plot_number(p->out, at[1]);
    }
    ct__text_put(p->out, put ? "z\"/>\n" : "\"/>\n");
}

static void put_dot(ct__plot *p, int marker, ct__dots kind, const double at[2])
{
    ct__plot_open_dots(p->out, marker, kind);
    ct__text_put(p->out, "M");
    ct__plot_number(p->out, at[0]);
    ct__text_put(p->out, " ");
    ct__plot_number(p->out, at[1]);
    ct__text_put(p->out, "h0\"/>\n");
}

static void put_disc(ct__plot *p, const ct_scene_body *t, const double at[2])
{
    const char *dash = ct__role_dash(t->role);
    ct__text_printf(p->out, "<circle class=\"body\" fill=\"%s\" fill-opacity=\".07\"", ct__role_colour(t->role));
    if (dash) ct__text_printf(p->out, " stroke-dasharray=\"%s\"", dash);
    ct__text_put(p->out, " cx=\"");
    ct__plot_number(p->out, at[0]);
    ct__text_put(p->out, "\" cy=\"");
    ct__plot_number(p->out, at[1]);
    ct__text_put(p->out, "\" r=\"");
    ct__plot_number(p->out, units_per_metre(p) * t->radius);
    ct__text_put(p->out, "\"/>\n");
}

static void put_mark(ct__plot *p, const ct_scene_body *t, const double *pose)
{
    static const double ORIGIN[2] = {0, 0};
    const int           marker = ct__role_marker(t->role);
    double              at[2];
    place(p, pose, ORIGIN, at);
    if (t->corners) put_outline(p, t, pose);
    else if (t->radius > 0 && isfinite(t->radius)) put_disc(p, t, at);
    else {
        put_dot(p, marker, CT__DOTS, at);
        if (marker & 2) put_dot(p, marker, CT__DOTS_INSIDE, at);
    }
}

/* ---- frames ---- */

/* The path of its origin, broken where the body is absent, and at cuts. */
static void put_way(ct__plot *p, const ct_scene_body *t)
{
    const ct_scene *scene = p->scene;
    const int64_t   most = 2 * (int64_t)scene->frames;
    double         *x = ct__zalloc(2 * most, sizeof *x), *y = x ? x + most : NULL;
    int64_t         n = 0;
    if (!x) {
        p->out->failed = 1;
        return;
    }
    for (int64_t k = 0; k < scene->frames; k++) {
        const double *pose = t->pose + 3 * k;
        if (scene->cut && scene->cut[k]) x[n] = y[n] = NAN, n++;
        x[n] = is_there(pose) ? pose[0] : NAN;
        y[n++] = pose[1];
    }
    const ct_series way = {.role = t->role, .mark = CT_MARK_LINE, .count = n, .x = x, .y = y};
    ct__plot_way(p, &way);
    free(x);
}

static void put_still(ct__plot *p, const ct_scene_body *t)
{
    const ct_scene *scene = p->scene;
    const int64_t   ghosts = CT_MIN(scene->ghosts > 0 ? scene->ghosts : GHOSTS, scene->frames);
    ct__text_put(p->out, "<g class=\"still\">\n");
    for (int64_t g = 0; g < ghosts; g++) {
        /* the nearest */
        const int64_t last = scene->frames - 1,
                      frame = ghosts > 1 ? (g * last + (ghosts - 1) / 2) / (ghosts - 1) : last;
        const double *pose = t->pose + 3 * frame;
        if (!is_there(pose)) continue;
        ct__text_put(p->out, "<g opacity=\"");
        ct__plot_number(p->out, ghosts > 1 ? FAINTEST + (1 - FAINTEST) * (double)g / (double)(ghosts - 1) : 1);
        ct__text_put(p->out, "\">");
        put_mark(p, t, pose);
        ct__text_put(p->out, "</g>\n");
    }
    ct__text_put(p->out, "</g>\n");
}

/* ---- what the script moves ---- */

static void put_integer(ct__text *out, int64_t value, int first)
{
    ct__text_printf(out, "%s%lld", first || value < 0 ? "" : " ", (long long)value);
}

/* The farthest point from the origin, in units, at least 1. */
static double reach(const ct__plot *p, const ct_scene_body *t)
{
    double most = 0;
    for (int32_t i = 0; i < t->corners; i++) {
        const double r = hypot(t->outline[2 * (int64_t)i], t->outline[2 * (int64_t)i + 1]);
        if (isfinite(r)) most = fmax(most, r);
    }
    return fmax(1, most * units_per_metre(p));
}

static void put_poses(ct__plot *p, const ct_scene_body *t)
{
    const double quantum = 1 / (FINE * reach(p, t)); /* rad */
    int64_t      before[3] = {0, 0, 0};
    if (t->corners) {
        char turn[CT__NUMBER];
        ct__number_format(quantum * 360 / TWO_PI, 9, turn);
        ct__text_printf(p->out, " data-turn=\"%s\"", turn);
    }
    ct__text_put(p->out, " data-poses=\"");
    for (int64_t k = 0; k < p->scene->frames; k++) {
        const double *pose = t->pose + 3 * k;
        ct__text_put(p->out, k ? "," : "");
        if (!is_there(pose)) continue;
        const int64_t now[3] = {llround(FINE * ct__axis_place(&p->x, pose[0])),
                                llround(FINE * ct__axis_place(&p->y, pose[1])),
                                llround(remainder(pose[2], TWO_PI) / quantum)};
        for (int i = 0; i < (t->corners ? 3 : 2); i++) {
            put_integer(p->out, now[i] - before[i], i == 0);
            before[i] = now[i];
        }
    }
    ct__text_put(p->out, "\"");
}

static void put_live(ct__plot *p, const ct_scene_body *t)
{
    ct__text_put(p->out, "<g class=\"live\"");
    put_poses(p, t);
    ct__text_put(p->out, ">");
    put_mark(p, t, NULL);
    ct__text_put(p->out, "</g>\n");
}

void ct__scene_attributes(const ct__plot *p)
{
    const ct_scene *scene = p->scene;
    int             timed = scene->time_s != NULL;
    for (int32_t k = 0; timed && k < scene->frames; k++) timed = isfinite(scene->time_s[k]);
    ct__text_printf(p->out, " data-frames=\"%d\" data-stride=\"%d\"", scene->frames,
                    scene->stride > 0 ? scene->stride : 1);
    for (int32_t k = 0; timed && k < scene->frames; k++) {
        char time[CT__NUMBER];
        ct__number_format(scene->time_s[k], 6, time);
        ct__text_printf(p->out, "%s%s", k ? " " : " data-times=\"", time);
    }
    if (timed) ct__text_put(p->out, "\"");
}

void ct__scene_bodies(ct__plot *p)
{
    for (int32_t i = 0; i < p->scene->count; i++) {
        const ct_scene_body *t = &p->scene->body[i];
        ct__text_printf(p->out, "<g class=\"s k%d\" data-s=\"%d\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.75\">\n",
                        (int)t->role, (int)t->role, ct__role_colour(t->role));
        put_way(p, t);
        put_still(p, t);
        if (p->page) put_live(p, t);
        ct__text_put(p->out, "</g>\n");
    }
}
