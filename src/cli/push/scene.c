/* scene.c: animation of a pushing sequence. */
#include "cli/push/scene.h"
#include "cli/push/contact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BODIES 6 /* object and finger: before, in truth, after */

struct push_scene {
    int32_t  frames, stride;
    double  *outline, *time_s, *pose[BODIES];
    uint8_t *cut;
    ct_scene_body  body[BODIES];
};

/* Times relative to the first, if all steps have one; else NULL. The caller frees it. */
static double *times_of(const ct_sequence *seq, const contacts *c, int32_t stride)
{
    double *time = seq->stamp ? cli_alloc(c->steps, sizeof *time) : NULL;
    for (int32_t k = 0; time && k < c->steps; k += stride)
        time[k / stride] = seq->stamp[c->object[k]] - seq->stamp[c->object[0]];
    return time;
}

/* Per kept frame: 1 if a cut lies between it and the kept frame before. */
static uint8_t *cuts_of(const contacts *c, int32_t stride)
{
    uint8_t *kept = cli_alloc(c->steps, sizeof *kept);
    for (int32_t k = 0, cut = 0; k < c->steps; k++) {
        cut = cut || c->cut[k];
        if (k % stride) continue;
        kept[k / stride] = (uint8_t)cut;
        cut = 0;
    }
    return kept;
}

static push_scene *scene_of(const ct_sequence *seq, const contacts *c, const double *before, const double *after,
                            int32_t stride)
{
    static const char *const NAME[] = {"before", "after", "truth"}; /* the truth above the estimates */
    static const ct_role     ROLE[] = {CT_ROLE_BEFORE, CT_ROLE_AFTER, CT_ROLE_TRUTH};
    const double            *value[] = {before, after, NULL};
    push_scene              *s = cli_alloc(1, sizeof *s);
    int32_t                  corners;
    *s = (push_scene){.frames = (c->steps + stride - 1) / stride,
                      .stride = stride,
                      .outline = contacts_outline(c, &corners),
                      .time_s = times_of(seq, c, stride),
                      .cut = cuts_of(c, stride)};
    for (int i = 0; i < BODIES / 2; i++) {
        s->pose[2 * i] = contacts_object(c, seq, stride, value[i]);
        s->pose[2 * i + 1] = contacts_finger(c, seq, stride, value[i]);
        s->body[2 * i] = (ct_scene_body){
            .label = NAME[i], .role = ROLE[i], .corners = corners, .outline = s->outline, .pose = s->pose[2 * i]};
        s->body[2 * i + 1] = (ct_scene_body){.role = ROLE[i], .radius = c->radius, .pose = s->pose[2 * i + 1]};
    }
    return s;
}

push_scene *push_scene_new(const ct_sequence *seq, const double *before, const double *after, int32_t stride)
{
    contacts    c = contacts_of(seq);
    push_scene *s = c.steps ? scene_of(seq, &c, before, after, stride) : NULL;
    contacts_free(&c);
    return s;
}

void push_scene_free(push_scene *s)
{
    if (!s) return;
    for (int i = 0; i < BODIES; i++) free(s->pose[i]);
    free(s->outline);
    free(s->time_s);
    free(s->cut);
    free(s);
}

ct_scene push_scene_of(const push_scene *s, const char *id, const char *title, const char *text)
{
    return (ct_scene){.id = id,
                      .title = title,
                      .text = text,
                      .x_label = "x in m",
                      .y_label = "y in m",
                      .frames = s->frames,
                      .stride = s->stride,
                      .time_s = s->time_s,
                      .cut = s->cut,
                      .count = BODIES,
                      .body = s->body};
}

int32_t push_scene_steps(const ct_sequence *seq)
{
    contacts      c = contacts_of(seq);
    const int32_t steps = c.steps;
    contacts_free(&c);
    return steps;
}
