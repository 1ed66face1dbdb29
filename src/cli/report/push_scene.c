/* push_scene.c: a moving picture of a pushing sequence. */
#include "cli/report/report.h"
#include "cli/push/scene.h"

#define FRAMES_MAX 12000 /* of all sequences together: with six bodies each, half a megabyte */

int report_scene(report_job *job, int32_t number)
{
    const report_track *t = &job->track[job->show[number]];
    push_scene *s =
        push_scene_new(t->seq, t->x[BEFORE], t->x[AFTER], push_scene_steps(t->seq) / (FRAMES_MAX / job->shown) + 1);
    char                id[32];
    if (!s) return 0;
    snprintf(id, sizeof id, "scene-%d", number);
    const ct_scene scene = push_scene_of(s, id, "Object and finger", NULL);
    ct_page_scene(job->page, &scene);
    push_scene_free(s);
    return 1;
}
