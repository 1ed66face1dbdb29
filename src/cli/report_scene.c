/* report_scene.c: a run of pushing as a moving picture: the object's outline and the finger, as they were and as they are estimated before and after. */
#include "contact.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>

#define FRAMES_MAX 12000 /* of all runs that are shown together: with six bodies each, half a megabyte */

/* Times from the first on, if all steps have one; NULL: they do not. The caller frees it. */
static double *times_of(const ct_sequence *seq, const contacts *c, int32_t stride)
{
    double *time = seq->stamp ? cli_alloc(c->steps, sizeof *time) : NULL;
    for (int32_t k = 0; time && k < c->steps; k += stride) time[k / stride] = seq->stamp[c->object[k]] - seq->stamp[c->object[0]];
    return time;
}

/* Of the frames that are left: one that was cut between it and the one before it. */
static void keep_cuts(contacts *c, int32_t stride)
{
    for (int32_t k = 0, cut = 0; k < c->steps; k++) {
        cut = cut || c->cut[k];
        if (k % stride) continue;
        c->cut[k / stride] = (uint8_t)cut;
        cut = 0;
    }
}

static void put(report_job *job, const report_track *t, int32_t number, contacts *c)
{
    static const char *const NAME[] = {"before", "truth", "after"};
    static const ct_role     ROLE[] = {CT_ROLE_BEFORE, CT_ROLE_TRUTH, CT_ROLE_AFTER}; /* the truth over what is far from it, the answer over both */
    const double            *value[] = {t->x[BEFORE], NULL, t->x[AFTER]};
    const int32_t            stride = c->steps / (FRAMES_MAX / job->shown) + 1;
    ct_body                  body[6];
    double                  *pose[6];
    char                     id[32];
    int32_t                  corners;
    double                  *outline = contacts_outline(c, &corners), *time = times_of(t->seq, c, stride);
    for (int i = 0; i < 3; i++) {
        pose[2 * i] = contacts_object(c, t->seq, stride, value[i]);
        pose[2 * i + 1] = contacts_finger(c, t->seq, stride, value[i]);
        body[2 * i] = (ct_body){.label = NAME[i], .role = ROLE[i], .corners = corners, .outline = outline, .pose = pose[2 * i]};
        body[2 * i + 1] = (ct_body){.role = ROLE[i], .radius = c->radius, .pose = pose[2 * i + 1]};
    }
    keep_cuts(c, stride);
    snprintf(id, sizeof id, "scene-%d", number);
    const ct_scene scene = {.id = id, .title = "Object and finger", .x_label = "x in m", .y_label = "y in m", .frames = (c->steps + stride - 1) / stride, .stride = stride, .time_s = time, .cut = c->cut,
                            .count = 6, .body = body};
    ct_page_scene(job->page, &scene);
    for (int i = 0; i < 6; i++) free(pose[i]);
    free(outline);
    free(time);
}

int report_scene(report_job *job, int32_t number)
{
    const report_track *t = &job->track[job->show[number]];
    contacts            c = contacts_of(t->seq);
    const int           any = c.steps > 0;
    if (any) put(job, t, number, &c);
    contacts_free(&c);
    return any;
}
