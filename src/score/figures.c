/* figures.c: absolute and relative pose errors of poses side by side, and their statistics. The standard deviation is
 * that of the population, as evo's. */
#include "score/score.h"
#include "base/select.h"

#include <math.h>

double ct__turn_angle(ct_se3 e)
{
    double w[3];
    ct_so3_log(ct_se3_rotation(e), w);
    return sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
}

ct_se3 ct__relative(ct_se3 a_i, ct_se3 a_j, ct_se3 b_i, ct_se3 b_j)
{
    return ct_se3_between(ct_se3_between(a_i, a_j, NULL, NULL), ct_se3_between(b_i, b_j, NULL, NULL), NULL, NULL);
}

ct_error_figures ct__figures(int64_t count, double value[])
{
    ct_error_figures f = {NAN, NAN, NAN, NAN, NAN, NAN, count};
    if (count == 0) return f;
    double sum = 0, squares = 0, spread = 0;
    f.min = f.max = value[0];
    for (int64_t i = 0; i < count; i++) {
        sum += value[i];
        squares += value[i] * value[i];
        f.min = fmin(f.min, value[i]);
        f.max = fmax(f.max, value[i]);
    }
    f.mean = sum / (double)count;
    f.rmse = sqrt(squares / (double)count);
    for (int64_t i = 0; i < count; i++) spread += (value[i] - f.mean) * (value[i] - f.mean);
    f.sd = sqrt(spread / (double)count);
    f.median = isnan(sum) ? NAN : ct__median(count, value);
    return f;
}

static double size(ct_se3 e) { return sqrt(e.x * e.x + e.y * e.y + e.z * e.z); }

ct_status ct__errors(const ct__sides *s, const ct__pairs *pairs, ct_score *score, ct_err *err)
{
    const int64_t room = CT_MAX(s->count, pairs->count);
    double *metres = ct__zalloc(room, sizeof *metres), *turns = ct__zalloc(room, sizeof *turns);
    if (metres && turns) {
        const int64_t turning = s->rotations;
        for (int64_t i = 0; i < s->count; i++) {
            metres[i] = ct__distance(s->estimate[i], s->truth[i]);
            turns[i] = ct__turn_angle(ct_se3_between(s->truth[i], s->estimate[i], NULL, NULL));
        }
        score->ape_translation = ct__figures(s->count, metres);
        score->ape_rotation = ct__figures(turning * s->count, turns);
        for (int64_t k = 0; k < pairs->count; k++) {
            const int64_t i = pairs->first[k], j = pairs->second[k];
            const ct_se3 e = ct__relative(s->truth[i], s->truth[j], s->estimate[i], s->estimate[j]);
            metres[k] = size(e);
            turns[k] = ct__turn_angle(e);
        }
        score->rpe_translation = ct__figures(pairs->count, metres);
        score->rpe_rotation = ct__figures(turning * pairs->count, turns);
    }
    const ct_status status = metres && turns ? CT_OK : ct__no_memory(err, "errors", room);
    free(metres);
    free(turns);
    return status;
}
