/* scene.c: moving pictures. A scene is a plot with equal axes whose marks are bodies (scene_bodies.c). Its series are
 * the legend, an entry for each role, and the two corners of the region that is shown,
 *
 *     min and max over frames and corners c of  x + R(yaw) c. */
#include "page/plot.h"

typedef struct {
    ct_plot   plot;
    ct_series series[CT_ROLE_COUNT + 1];
    double    x[2], y[2];
} stage;

static void widen(stage *s, double x, double y)
{
    if (!(fabs(x) <= CT__PLOT_LARGEST) || !(fabs(y) <= CT__PLOT_LARGEST)) return;
    s->x[0] = isnan(s->x[0]) ? x : fmin(s->x[0], x), s->x[1] = isnan(s->x[1]) ? x : fmax(s->x[1], x);
    s->y[0] = isnan(s->y[0]) ? y : fmin(s->y[0], y), s->y[1] = isnan(s->y[1]) ? y : fmax(s->y[1], y);
}

static void widen_by(stage *s, const ct_scene_body *t, const double pose[3])
{
    const double c = cos(pose[2]), sn = sin(pose[2]), r = isfinite(t->radius) ? fabs(t->radius) : 0;
    if (!isfinite(c)) return;
    for (int32_t i = 0; i < t->corners; i++)
        widen(s, pose[0] + c * t->outline[2 * i] - sn * t->outline[2 * i + 1],
              pose[1] + sn * t->outline[2 * i] + c * t->outline[2 * i + 1]);
    if (t->corners) return;
    widen(s, pose[0] - r, pose[1] - r);
    widen(s, pose[0] + r, pose[1] + r);
}

/* The plot of a scene; it borrows from the stage. */
static void set(stage *s, const ct_scene *scene)
{
    *s = (stage){.x = {NAN, NAN}, .y = {NAN, NAN}};
    for (int r = 0; r < CT_ROLE_COUNT; r++) s->series[r] = (ct_series){.role = (ct_role)r, .mark = CT_MARK_LINE};
    for (int32_t i = 0; i < scene->count; i++) {
        const ct_scene_body *t = &scene->body[i];
        ct_series     *entry = &s->series[(unsigned)t->role < CT_ROLE_COUNT ? t->role : CT_ROLE_QUIET];
        if (!entry->label) entry->label = t->label;
        for (int32_t k = 0; k < scene->frames; k++) widen_by(s, t, t->pose + 3 * (int64_t)k);
    }
    s->series[CT_ROLE_COUNT] =
        (ct_series){.role = CT_ROLE_QUIET, .mark = CT_MARK_POINTS, .count = 2, .x = s->x, .y = s->y};
    s->plot = (ct_plot){.id = scene->id,
                        .title = scene->title,
                        .text = scene->text,
                        .x_label = scene->x_label,
                        .y_label = scene->y_label,
                        .equal = 1,
                        .zoom = 1,
                        .count = CT_ROLE_COUNT + 1,
                        .series = s->series};
}

void ct__scene_html(const ct_scene *scene, const char *id, ct__text *out)
{
    stage s;
    set(&s, scene);
    ct__plot p = {.plot = &s.plot, .scene = scene, .id = id, .out = out};
    ct__plot_html(&p);
}

static void put_file(const ct_scene *scene, ct__text *out)
{
    stage s;
    set(&s, scene);
    ct__plot p = {.plot = &s.plot, .scene = scene, .id = "scene", .out = out};
    ct__plot_svg(&p);
}

ct_status ct_scene_print(const ct_scene *scene, FILE *out, ct_err *err)
{
    ct__text text = {0};
    put_file(scene, &text);
    const ct_status status = ct__text_write(&text, out, err);
    ct__text_free(&text);
    return status;
}

ct_status ct_scene_write(const ct_scene *scene, const char *path, ct_err *err)
{
    ct__text text = {0};
    put_file(scene, &text);
    const ct_status status = ct__text_save(&text, path, err);
    ct__text_free(&text);
    return status;
}
