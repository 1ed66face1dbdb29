/* scene.h: animation of a pushing sequence: outline and finger, in truth and as estimated before and after learning. */
#ifndef CT_CLI_SCENE_H
#define CT_CLI_SCENE_H

#include "cli/common/cli.h"

typedef struct push_scene push_scene;

/* Every stride-th step, with the truth and estimates at values `before` and `after`; copies. NULL: no contacts. */
push_scene *push_scene_new(const ct_sequence *seq, const double *before, const double *after, int32_t stride);
void        push_scene_free(push_scene *scene);
/* The scene for pages and files; borrows. id, title and text are the caller's; text may be NULL. */
ct_scene push_scene_of(const push_scene *scene, const char *id, const char *title, const char *text);
/* Number of steps of the sequence. */
int32_t push_scene_steps(const ct_sequence *seq);

#endif
