/* scene.h: a run of pushing as a moving picture: the object's outline and the finger, as they were and as they are
 * estimated before and after. */
#ifndef CT_CLI_SCENE_H
#define CT_CLI_SCENE_H

#include "cli/common/cli.h"

typedef struct push_scene push_scene;

/* Every stride-th step of a run, the truth and estimates at values `before` and `after` of its graph, all of it
 * copied. NULL: nothing touches anything in it. */
push_scene *push_scene_new(const ct_sequence *seq, const double *before, const double *after, int32_t stride);
void        push_scene_free(push_scene *scene);
/* As pages and files take it; borrows. id, title and text are the caller's, text may be NULL. */
ct_scene push_scene_of(const push_scene *scene, const char *id, const char *title, const char *text);
/* Steps of the whole run. */
int32_t push_scene_steps(const ct_sequence *seq);

#endif
