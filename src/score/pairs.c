/* pairs.c: pairs of poses that are a distance, a time or a number of frames apart.
 *
 * Those of ct_score_trajectory are evo's: consecutive pairs share their ends; the path of the first pair in metres
 * begins where it is first `delta` long. With all pairs the end is the pose nearest to delta (the earlier of two as
 * near), if it is within the tolerance. */
#include "score/score.h"

#include <math.h>
#include <stdio.h>

/* ---- delta ---- */

static const struct {
    const char *name;
    ct_delta_unit unit;
    double factor;
} units[] = {
    {"f", CT_DELTA_FRAMES, 1},      {"frame", CT_DELTA_FRAMES, 1},   {"frames", CT_DELTA_FRAMES, 1},
    {"s", CT_DELTA_SECONDS, 1},     {"second", CT_DELTA_SECONDS, 1}, {"seconds", CT_DELTA_SECONDS, 1},
    {"ms", CT_DELTA_SECONDS, 1e-3}, {"m", CT_DELTA_METRES, 1},       {"metre", CT_DELTA_METRES, 1},
    {"metres", CT_DELTA_METRES, 1}, {"meter", CT_DELTA_METRES, 1},   {"meters", CT_DELTA_METRES, 1},
    {"cm", CT_DELTA_METRES, 1e-2},  {"km", CT_DELTA_METRES, 1e3},
};

/* A decimal with a point, whatever the locale: digits, at most one point. Returns its end, NULL: none. */
static const char *number_of(const char *text, double *value)
{
    double digits = 0, scale = 1;
    int count = 0, point = 0;
    const char *at = text;
    for (; (*at >= '0' && *at <= '9') || (*at == '.' && !point); at++) {
        if (*at == '.') {
            point = 1;
            continue;
        }
        digits = 10 * digits + (*at - '0');
        if (point) scale *= 10;
        if (++count > 15) return NULL;
    }
    *value = digits / scale;
    return count ? at : NULL;
}

int ct_delta_find(const char *text, double *delta, ct_delta_unit *unit)
{
    double value;
    const char *at = text ? number_of(text, &value) : NULL;
    if (!at) return 0;
    while (*at == ' ') at++;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(at, units[i].name)) continue;
        if (!(value > 0) || (units[i].unit == CT_DELTA_FRAMES && value != floor(value))) return 0;
        *delta = value * units[i].factor;
        *unit = units[i].unit;
        return 1;
    }
    return 0;
}

ct_status ct__check_delta(double delta, ct_delta_unit unit, int timed, ct_err *err)
{
    static const char *const unit_names[] = {"frames", "s", "m"};
    if ((unsigned)unit >= CT_DELTA_COUNT) return ct_fail(err, CT_E_ARGUMENT, "unit %d of a delta is none", (int)unit);
    if (!(delta > 0) || !isfinite(delta) || (unit == CT_DELTA_FRAMES && (delta != floor(delta) || delta > 1e15)))
        return ct_fail(err, CT_E_ARGUMENT, "a delta of %g %s: it must be positive%s", delta, unit_names[unit],
                       unit == CT_DELTA_FRAMES ? " and whole" : "");
    if (unit == CT_DELTA_SECONDS && !timed)
        return ct_fail(err, CT_E_ARGUMENT,
                       "a delta of %g s needs times, and the trajectories have none: use frames or m", delta);
    return CT_OK;
}

/* ---- pairs ---- */

double ct__distance(ct_se3 a, ct_se3 b)
{
    const double x = b.x - a.x, y = b.y - a.y, z = b.z - a.z;
    return sqrt(x * x + y * y + z * z);
}

void ct__pairs_free(ct__pairs *pairs)
{
    free(pairs->first);
    free(pairs->second);
    *pairs = (ct__pairs){0};
}

static ct_status pairs_new(int64_t room, ct__pairs *out, ct_err *err)
{
    *out = (ct__pairs){.first = ct__zalloc(room, sizeof *out->first), .second = ct__zalloc(room, sizeof *out->second)};
    if (out->first && out->second) return CT_OK;
    ct__pairs_free(out);
    return ct__no_memory(err, "pairs of poses", room);
}

static void add(ct__pairs *pairs, int64_t i, int64_t j)
{
    pairs->first[pairs->count] = i;
    pairs->second[pairs->count++] = j;
}

/* Times are compared in ns: 8.0 - 7.5 is half a second, whatever doubles make of it. */
static double as_measured(double delta, ct_delta_unit unit)
{
    return unit == CT_DELTA_SECONDS ? round(delta * 1e9) : delta;
}

/* at[i] <- where pose i is: its number, time since the first in ns, length of the path up to it. */
static void measure(int64_t count, const ct_se3 pose[], const ct_ns stamp[], ct_delta_unit unit, double at[])
{
    for (int64_t i = 0; i < count; i++)
        at[i] = unit == CT_DELTA_FRAMES    ? (double)i
                : unit == CT_DELTA_SECONDS ? (double)((uint64_t)stamp[i] - (uint64_t)stamp[0])
                : i == 0                   ? 0
                                           : at[i - 1] + ct__distance(pose[i - 1], pose[i]);
}

/* The path is summed from zero after each end, as evo does: the same rounding, the same pairs. */
static void consecutive(int64_t count, const ct_se3 pose[], const double at[], double delta, ct_delta_unit unit,
                        ct__pairs *out)
{
    int64_t last = unit == CT_DELTA_METRES ? -1 : 0;
    double path = 0;
    for (int64_t i = 1; i < count; i++) {
        path += ct__distance(pose[i - 1], pose[i]);
        if ((unit == CT_DELTA_METRES ? path : at[i] - at[last]) < delta) continue;
        if (last >= 0) add(out, last, i);
        last = i;
        path = 0;
    }
}

static void all_pairs(int64_t count, const double at[], double delta, double tolerance, ct__pairs *out)
{
    int64_t j = 0, last = -1, first = 0; /* poses first..last are at one place: it stood still */
    for (int64_t i = 0; i + 1 < count; i++) {
        j = CT_MAX(j, i + 1);
        while (j < count && at[j] - at[i] < delta) j++; /* the first that is not nearer than delta */
        int64_t k = j;
        if (j == count || (j > i + 1 && fabs(at[j - 1] - at[i] - delta) <= fabs(at[j] - at[i] - delta))) k = j - 1;
        if (k != last)
            for (first = last = k; first > 0 && at[first - 1] == at[k];) first--;
        k = CT_MAX(first, i + 1); /* the first of those at one place */
        if (fabs(at[k] - at[i] - delta) <= tolerance) add(out, i, k);
    }
}

ct_status ct__pairs_choose(int64_t count, const ct_se3 pose[], const ct_ns stamp[], const ct_score_options *o,
                           ct__pairs *out, ct_err *err)
{
    CT_TRY(pairs_new(count, out, err));
    double *at = ct__zalloc(count, sizeof *at);
    if (!at) {
        ct__pairs_free(out);
        return ct__no_memory(err, "poses", count);
    }
    measure(count, pose, stamp, o->delta_unit, at);
    const double delta = as_measured(o->delta, o->delta_unit);
    const double tolerance = o->delta_unit == CT_DELTA_FRAMES ? 0 : delta * o->delta_tolerance;
    if (o->all_pairs)
        all_pairs(count, at, delta, tolerance, out);
    else
        consecutive(count, pose, at, delta, o->delta_unit, out);
    free(at);
    return CT_OK;
}

ct_status ct__pairs_from_all(int64_t count, const ct_se3 pose[], const ct_ns stamp[], double delta, ct_delta_unit unit,
                             ct__pairs *out, ct_err *err)
{
    CT_TRY(pairs_new(count, out, err));
    double *at = ct__zalloc(count, sizeof *at);
    if (!at) {
        ct__pairs_free(out);
        return ct__no_memory(err, "poses", count);
    }
    measure(count, pose, stamp, unit, at);
    delta = as_measured(delta, unit);
    for (int64_t i = 0, j = 0; i < count; i++) {
        while (j < count && at[j] - at[i] < delta) j++;
        if (j == count) break;
        add(out, i, j);
    }
    free(at);
    return CT_OK;
}
