/* tactile_pairs.c: pairs of tactile images as network inputs; pushes seen in a mirror. */
#include <covtune/push.h>
#include "push/push.h"

#include <covtune/net.h>
#include <math.h>

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

double ct_push_predict_yaw(void *net, const double before[CT_PUSH_PIXELS], const double after[CT_PUSH_PIXELS],
                           double *multiplier)
{
    double x[2 * CT_PUSH_PIXELS], y[2];
    if (ct_net_inputs(net) != 2 * CT_PUSH_PIXELS || ct_net_outputs(net) > 2) return NAN;
    memcpy(x, before, CT_PUSH_PIXELS * sizeof *x);
    memcpy(x + CT_PUSH_PIXELS, after, CT_PUSH_PIXELS * sizeof *x);
    ct_net_predict(net, x, y);
    if (ct_net_outputs(net) == 2) *multiplier = ct_net_multiplier(y[1], NULL);
    return y[0];
}

ct_status ct_push_mirror(const ct_push_episode *push, ct_push_episode *out, ct_err *err)
{
    const int n = push->steps;
    *out = (ct_push_episode){.steps = n, .sliding = push->sliding};
    out->object = ct__zalloc(n, sizeof *out->object);
    out->finger = ct__zalloc(n, sizeof *out->finger);
    out->image = ct__zalloc(n, CT_PUSH_PIXELS * sizeof *out->image);
    if (!out->object || !out->finger || !out->image) {
        ct_push_episode_free(out);
        *out = (ct_push_episode){0};
        return ct__no_memory(err, "steps", n);
    }
    for (int i = 0; i < n; i++) {
        const ct_se2 o = push->object[i], e = push->finger[i];
        /* y -> -y in the world and x -> -x in the body, whose y axis is the direction of the pad: yaw -> pi - yaw */
        out->object[i] = (ct_se2){o.x, -o.y, -o.c, o.s};
        out->finger[i] = (ct_se2){e.x, -e.y, -e.c, e.s};
        mirror(push->image + (int64_t)i * CT_PUSH_PIXELS, out->image + (int64_t)i * CT_PUSH_PIXELS);
    }
    return CT_OK;
}

/* The image of step t of pushes one after the other; NULL: there is none. */
static const double *image_at(int pushes, const ct_push_episode *const push[], int32_t t)
{
    for (int i = 0; i < pushes && t >= 0; t -= push[i++]->steps)
        if (t < push[i]->steps) return push[i]->image ? push[i]->image + (int64_t)t * CT_PUSH_PIXELS : NULL;
    return NULL;
}

static ct_status fill_inputs(const ct_sequence *seq, int pushes, const ct_push_episode *const push[], int32_t count,
                             const int32_t *factor, double *x, ct_err *err)
{
    for (int32_t i = 0; i < count; i++) {
        const ct_factor k = ct_graph_factor(seq->graph, factor[i]);
        for (int late = 0; late < 2; late++) {
            const int32_t step = k.var[2 * late] / 2; /* variables o0, e0, o1, e1, ... */
            const double *image = image_at(pushes, push, step);
            if (!image)
                return ct_fail(err, CT_E_ARGUMENT,
                               "the tactile image of step %d is missing: the sequence has %d steps, the %d push%s "
                               "given have images of fewer",
                               step, ct_graph_variables(seq->graph) / 2, pushes, pushes == 1 ? "" : "es");
            memcpy(x + (2 * (int64_t)i + late) * CT_PUSH_PIXELS, image, CT_PUSH_PIXELS * sizeof *image);
        }
    }
    return CT_OK;
}

ct_status ct_push_inputs(const ct_sequence *seq, int pushes, const ct_push_episode *const push[], int32_t *count,
                         int32_t **factor, double **x, ct_err *err)
{
    *count = (int32_t)ct_graph_factors_of(seq->graph, &ct_tactile_yaw, NULL, NULL);
    *factor = ct__zalloc(CT_MAX(1, *count), sizeof **factor);
    *x = ct__zalloc(CT_MAX(1, *count), 2 * CT_PUSH_PIXELS * sizeof **x);
    ct_status status = *factor && *x ? CT_OK : ct__no_memory(err, "pairs of images", *count);
    if (status == CT_OK) {
        ct_graph_factors_of(seq->graph, &ct_tactile_yaw, *factor, NULL);
        status = fill_inputs(seq, pushes, push, *count, *factor, *x, err);
    }
    if (status == CT_OK) return CT_OK;
    free(*factor);
    free(*x);
    *factor = NULL;
    *x = NULL;
    return status;
}
