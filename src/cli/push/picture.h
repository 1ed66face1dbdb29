/* picture.h: pictures of pushing, as SVG files. */
#ifndef CT_CLI_PUSH_PICTURE_H
#define CT_CLI_PUSH_PICTURE_H

#include <covtune/push.h>

/* A pushing sequence; tactile images of push 0 of a pool. */
ct_status push_draw_sequence(const ct_sequence *seq, const char *path, ct_err *err);
ct_status push_draw_images(const ct_push_options *options, int pool, const char *path, ct_err *err);

#endif
