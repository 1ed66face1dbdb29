/* tactile_pairs.c: pairs of tactile images as network inputs. */
#include <covtune/push.h>
#include "push/push.h"

#include <covtune/net.h>

/* Mirrored left to right: opposite tilt and shear. */
static void mirror(const double from[CT_PUSH_PIXELS], double to[CT_PUSH_PIXELS])
{
    for (int row = 0; row < CT_PUSH_IMAGE_ROWS; row++)
        for (int column = 0; column < CT_PUSH_IMAGE_COLUMNS; column++)
            to[row * CT_PUSH_IMAGE_COLUMNS + column] = from[(row + 1) * CT_PUSH_IMAGE_COLUMNS - 1 - column];
}

/* Returns the number of pairs; writes them unless x is NULL. */
static int64_t gather(const ct_push_options *o, int episodes, const ct_push_episode episode[], double *x, double *t)
{
    int64_t count = 0;
    for (int k = 0; k < episodes; k++) {
        for (int after = 0; after < episode[k].steps; after++) {
            for (int before = after - o->window; before >= 0 && before > after - o->window - o->windows;
                 before--, count += 2) {
                if (!x) continue;
                const double *a = episode[k].image + (int64_t)before * CT_PUSH_PIXELS,
                             *b = episode[k].image + (int64_t)after * CT_PUSH_PIXELS;
                double       *row = x + count * 2 * CT_PUSH_PIXELS;
                memcpy(row, a, CT_PUSH_PIXELS * sizeof *a);
                memcpy(row + CT_PUSH_PIXELS, b, CT_PUSH_PIXELS * sizeof *b);
                mirror(a, row + 2 * CT_PUSH_PIXELS);
                mirror(b, row + 3 * CT_PUSH_PIXELS);
                t[count] = ct_push_relative_yaw(&episode[k], before, after);
                t[count + 1] = -t[count];
            }
        }
    }
    return count;
}

ct_status ct_push_image_pairs(const ct_push_options *o, int episodes, const ct_push_episode episode[], int64_t *count,
                              double **x, double **t, ct_err *err)
{
    *x = *t = NULL;
    CT_TRY(ct__push_check_windows(o, err));
    *count = gather(o, episodes, episode, NULL, NULL);
    if (*count == 0)
        return ct_fail(err, CT_E_ARGUMENT, "%d episode%s: no two steps lie %d or more apart", episodes,
                       episodes == 1 ? "" : "s", o->window);
    *x = ct__zalloc(*count, 2 * CT_PUSH_PIXELS * sizeof **x);
    *t = ct__zalloc(*count, sizeof **t);
    if (!*x || !*t) {
        free(*x);
        free(*t);
        *x = *t = NULL;
        return ct__no_memory(err, "pairs of images", *count);
    }
    gather(o, episodes, episode, *x, *t);
    return CT_OK;
}

double ct_push_predict_yaw(void *net, const double before[CT_PUSH_PIXELS], const double after[CT_PUSH_PIXELS])
{
    double x[2 * CT_PUSH_PIXELS], turn;
    memcpy(x, before, CT_PUSH_PIXELS * sizeof *x);
    memcpy(x + CT_PUSH_PIXELS, after, CT_PUSH_PIXELS * sizeof *x);
    ct_net_predict(net, x, &turn);
    return turn;
}
