/* truth_frame.c: is the truth in the frame of the measurements?
 *
 * Measurements that tie poses to the world (absolute ones, known landmarks, fixed variables) place them without truth:
 * ct_start_values. Noise leaves these places scattered around the truth. If the truth is in another frame, they differ
 * by one rigid motion, which removes most of the difference:
 *
 *     median |p - q| > 10 median |T p - q|,   T the rigid motion of least squares (align.c), or a shift alone,
 *
 * and those measurements contradict the truth, but not the truth moved by T^-1 (tie_residuals.c).
 *
 * Drift of odometry from a known first pose is not rigid: such a T removes two thirds of it, not nine tenths. */
#include "base/base.h"
#include "evaluate/evaluate.h"

#include <math.h>

#define FAR_APART   10.0 /* times what a rigid motion leaves                                        */
#define POSES_LEAST 5    /* with a known position: a rigid motion fits fewer too well               */
#define EXACT       1e-6 /* of the extent of the truth: differences below are of rounding and files */

static int has_position(const ct_sequence *seq, int32_t v)
{
    const ct_kind  kind = (ct_kind)seq->graph->kind[v];
    const unsigned bits = kind == CT_SE2 ? 0x3 : 0x38;
    return ct__is_pose(kind) && (ct__known(seq, v) & bits) == bits;
}

static int is_tied(const ct_graph *g)
{
    for (int32_t v = 0; v < g->variables; v++)
        if (g->fixed[v]) return 1;
    for (int32_t f = 0; f < g->factors; f++)
        if (g->factor[f].ops->absolute) return 1;
    return 0;
}

/* Median distance of x, moved by `shift`, from the true positions. */
static double median_distance(const ct_sequence *seq, const double *x, const double shift[3], double *room)
{
    const ct_graph *g = seq->graph;
    int64_t         n = 0;
    for (int32_t v = 0; v < g->variables; v++) {
        const double *p = x + g->offset[v], *q = seq->truth ? seq->truth + g->offset[v] : NULL;
        double        square = 0;
        if (!has_position(seq, v)) continue;
        for (int i = 0; i < (g->kind[v] == CT_SE2 ? 2 : 3); i++) {
            const double d = p[i] + shift[i] - q[i];
            square += d * d;
        }
        if (isfinite(square)) room[n++] = sqrt(square);
    }
    return ct_median(n, room);
}

/* The means of x and of the truth; the extent of the truth: its largest distance from its mean, per coordinate. */
static int64_t gather(const ct_sequence *seq, const double *x, double shift[3], double *extent)
{
    const ct_graph *g = seq->graph;
    int64_t         count = 0;
    double          sum[3] = {0}, first[3] = {0};
    *extent = 0;
    for (int32_t v = 0; v < g->variables; v++) {
        if (!has_position(seq, v)) continue;
        const double *p = x + g->offset[v], *q = seq->truth + g->offset[v];
        for (int i = 0; i < (g->kind[v] == CT_SE2 ? 2 : 3); i++) {
            if (!count) first[i] = q[i];
            sum[i] += q[i] - p[i];
            *extent = fmax(*extent, fabs(q[i] - first[i]));
        }
        count++;
    }
    for (int i = 0; i < 3; i++) shift[i] = count ? sum[i] / (double)count : 0;
    return count;
}

static ct_status compare(const ct_sequence *seq, const ct_noise *noise, double *x, double *y, double *room,
                         ct_frame_difference *out, ct_err *err)
{
    const double none[3] = {0};
    double       extent;
    ct_se3       T;
    ct_err       why;
    CT_TRY(ct_start_values(seq, CT_START_MEASURED, x, err));
    if (gather(seq, x, out->shift, &extent) < POSES_LEAST) return CT_OK;
    out->before = median_distance(seq, x, none, room);
    out->after = median_distance(seq, x, out->shift, room);
    const ct_status aligned = ct_align(seq, CT_ALIGN_RIGID, x, y, &T, &why);
    if (aligned == CT_E_MEMORY) return ct_fail(err, aligned, "%s", why.text);
    const ct_se3 shift = {out->shift[0], out->shift[1], out->shift[2], 0, 0, 0, 1};
    const double rigid = aligned == CT_OK ? median_distance(seq, y, none, room) : NAN;
    if (!(rigid < out->after)) T = shift;
    else {
        double turn[3];
        ct_so3_log((ct_so3){T.qx, T.qy, T.qz, T.qw}, turn);
        out->after = rigid;
        out->angle = sqrt(turn[0] * turn[0] + turn[1] * turn[1] + turn[2] * turn[2]);
    }
    if (!(out->before > FAR_APART * out->after && out->before > EXACT * extent)) return CT_OK;
    return ct__ties_contradict(seq, noise, ct_se3_inverse(T, NULL), &out->differs, err);
}

ct_status ct_truth_frame(const ct_sequence *seq, const ct_noise *noise, ct_frame_difference *out, ct_err *err)
{
    *out = (ct_frame_difference){.before = NAN, .after = NAN};
    CT_TRY(ct_graph_check_noise(seq->graph, noise, err));
    if (!seq->truth || !is_tied(seq->graph)) return CT_OK;
    const int64_t size = ct_graph_size(seq->graph), n = seq->graph->variables;
    double       *x = ct__zalloc(size, sizeof *x), *y = ct__zalloc(size, sizeof *y);
    double       *room = ct__zalloc(n, sizeof *room);
    const ct_status status =
        x && y && room ? compare(seq, noise, x, y, room, out, err) : ct__no_memory(err, "values", size);
    free(x);
    free(y);
    free(room);
    return status;
}

/* Two digits of the length of the shift, and of the angle a tenth: sequences of one frame then have equal numbers. */
static double round_to(double value, double length)
{
    const double unit = length > 0 ? pow(10, floor(log10(length)) - 1) : 1;
    const double rounded = unit * round(value / unit);
    return rounded == 0 ? 0 : rounded;
}

ct_status ct__truth_frame_report(int32_t count, const ct_sequence *const seq[], const ct_frame_difference difference[],
                                 ct_findings *out, ct_err *err)
{
    for (int32_t i = 0; i < count; i++) {
        const ct_frame_difference d = difference[i];
        if (!d.differs) continue;
        const double length = sqrt(d.shift[0] * d.shift[0] + d.shift[1] * d.shift[1] + d.shift[2] * d.shift[2]);
        const double value[] = {round_to(d.shift[0], length), round_to(d.shift[1], length),
                                round_to(d.shift[2], length), 0.1 * round(10 * d.angle)};
        CT_TRY(ct_findings_add(out, CT_FINDING_TRUTH_IN_OTHER_FRAME, 4, value, err));
        CT_TRY(ct_findings_add_subject(out, CT_SUBJECT_SEQUENCE, i, 0, ct_sequence_label(seq[i]), err));
    }
    return CT_OK;
}

ct_status ct_truth_frame_findings(int32_t count, const ct_sequence *const seq[], const ct_noise *noise,
                                  ct_findings *out, ct_err *err)
{
    ct_frame_difference *difference = ct__zalloc(count, sizeof *difference);
    ct_status            status = difference ? CT_OK : ct__no_memory(err, "sequences", count);
    for (int32_t i = 0; status == CT_OK && i < count; i++) {
        status = ct_sequence_acquire(seq[i], err);
        if (status != CT_OK) break;
        status = ct_truth_frame(seq[i], noise, &difference[i], err);
        ct_sequence_release(seq[i]);
    }
    if (status == CT_OK) status = ct__truth_frame_report(count, seq, difference, out, err);
    free(difference);
    return status;
}
