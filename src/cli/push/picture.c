/* picture.c: pictures of pushing: a sequence as a still picture (ct_scene), and tactile images of a push side by
 * side. */
#define _POSIX_C_SOURCE 200809L
#include <covtune/push.h>
#include "cli/push/contact.h"
#include "cli/push/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GHOSTS 3  /* intervals between the poses drawn per push: start, intermediate ones, end */
#define SHOTS  6  /* tactile images                                                 */
#define ACROSS 3
#define PIXEL  12 /* units per pixel                                                */
#define GAP    16
#define LINE   22 /* units per line of text                                         */

/* ---- a sequence ---- */

static int32_t pushes_of(const contacts *c)
{
    int32_t n = 1;
    for (int32_t k = 0; k < c->steps; k++) n += c->cut[k];
    return n;
}

ct_status push_draw_sequence(const ct_sequence *seq, const char *path, ct_err *err)
{
    contacts      c = contacts_of(seq);
    int32_t       corners;
    double *outline = contacts_outline(&c, &corners), *object = contacts_object(&c, seq, 1, NULL),
           *finger = contacts_finger(&c, seq, 1, NULL);
    const ct_scene_body body[] = {
        {.label = "object", .role = CT_ROLE_AFTER, .corners = corners, .outline = outline, .pose = object},
        {.label = "finger", .role = CT_ROLE_TRUTH, .radius = c.radius, .pose = finger}};
    char          title[96];
    snprintf(title, sizeof title, "%d push%s of %d steps", pushes_of(&c), pushes_of(&c) == 1 ? "" : "es",
             c.steps / pushes_of(&c));
    const ct_scene scene = {.title = title,
                            .text = "Where an object and the finger that pushes it were, later steps stronger.",
                            .x_label = "x in m",
                            .y_label = "y in m",
                            .frames = c.steps,
                            .cut = c.cut,
                            .ghosts = GHOSTS * pushes_of(&c) + 1,
                            .count = 2,
                            .body = body};
    const ct_status status = ct_scene_write(&scene, path, err);
    free(outline);
    free(object);
    free(finger);
    contacts_free(&c);
    return status;
}

/* ---- tactile images ---- */

/* Colour map: ink, blue, paper. */
static void put_colour(cli_buffer *out, double f)
{
    static const int RAMP[3][3] = {{0x12, 0x16, 0x2e}, {0x0b, 0x62, 0xc1}, {0xfd, 0xf3, 0xd0}};
    const int        k = f < 0.5 ? 0 : 1;
    const double     g = fmin(fmax(2 * f - k, 0), 1);
    cli_buffer_printf(out, "#");
    for (int i = 0; i < 3; i++)
        cli_buffer_printf(out, "%02x", (int)lround(RAMP[k][i] + g * (RAMP[k + 1][i] - RAMP[k][i])));
}

static void put_image(cli_buffer *out, const double image[CT_PUSH_PIXELS], int x, int y, int step, double low,
                      double high)
{
    cli_buffer_printf(out, "<text x=\"%d\" y=\"%d\">step %d</text>\n", x, y - 6, step);
    for (int i = 0; i < CT_PUSH_PIXELS; i++) {
        cli_buffer_printf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"",
                          x + PIXEL * (i % CT_PUSH_IMAGE_COLUMNS), y + PIXEL * (i / CT_PUSH_IMAGE_COLUMNS), PIXEL,
                          PIXEL);
        put_colour(out, (image[i] - low) / (high - low));
        cli_buffer_printf(out, "\"/>\n");
    }
}

static void put_images(cli_buffer *out, const ct_push_episode *e)
{
    const int wide = PIXEL * CT_PUSH_IMAGE_COLUMNS + GAP, high = PIXEL * CT_PUSH_IMAGE_ROWS + LINE + GAP,
              width = ACROSS * wide + GAP, height = SHOTS / ACROSS * high + GAP;
    double    least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < (int64_t)e->steps * CT_PUSH_PIXELS; i++)
        least = fmin(least, e->image[i]), most = fmax(most, e->image[i]);
    cli_buffer_printf(out,
                      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
                      "role=\"img\" aria-label=\"What the finger's pad sees at %d steps of a push\">\n",
                      width, height, width, height, SHOTS);
    cli_buffer_printf(
        out, "%s",
        "<style>:root { color-scheme: light dark; } rect { shape-rendering: crispEdges; } text { font: 13px system-ui, "
        "sans-serif; fill: #5a626c; } .bg { fill: #ffffff; }\n"
        "@media (prefers-color-scheme: dark) { text { fill: #a3abb5; } .bg { fill: #16191d; } }</style>\n");
    cli_buffer_printf(out, "<rect class=\"bg\" width=\"%d\" height=\"%d\"/>\n", width, height);
    for (int k = 0; k < SHOTS; k++) {
        const int step = k * (e->steps - 1) / (SHOTS - 1);
        put_image(out, e->image + (int64_t)step * CT_PUSH_PIXELS, GAP + k % ACROSS * wide,
                  LINE + GAP / 2 + k / ACROSS * high, step, least, most);
    }
    cli_buffer_printf(out, "</svg>\n");
}

ct_status push_draw_images(const ct_push_options *options, int pool, const char *path, ct_err *err)
{
    ct_push_episode e;
    ct_status       status = ct_simulate_push_episode(options, pool, 0, &e, err);
    if (status != CT_OK) return status;
    cli_buffer out = {0};
    put_images(&out, &e);
    status = ct_file_replace(path, out.text, out.used, err);
    free(out.text);
    ct_push_episode_free(&e);
    return status;
}
