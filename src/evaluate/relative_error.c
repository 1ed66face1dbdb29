/* relative_error.c: relative pose error (RPE) over segments of given lengths of the true path.
 *
 * With G_i the truth and X_i the estimate of pose i, and s_i the length of the true path up to it, a segment of length
 * L goes from i to the first j with s_j >= s_i + L. There is one from every i for which such a j exists. Its error is
 *
 *     E_ij = (G_i^-1 G_j)^-1 (X_i^-1 X_j),   translation |t(E_ij)|,   rotation |Log R(E_ij)|.
 *
 * It does not depend on the frame of the world: a rigid alignment changes nothing. The segments are KITTI's (Geiger,
 * Lenz, Urtasun 2012). The root mean square is taken over them, as evo does. */
#include "evaluate/evaluate.h"
#include "base/base.h"

#include <math.h>
#include <string.h>

/* A pose in the plane as one in space. */
static ct_se3 pose_at(const ct_graph *graph, int32_t v, const double *x)
{
    const double *a = x + graph->offset[v];
    if (graph->kind[v] == CT_SE3) return (ct_se3){a[0], a[1], a[2], a[3], a[4], a[5], a[6]};
    const double half = 0.5 * atan2(a[3], a[2]);
    return (ct_se3){a[0], a[1], 0, 0, 0, sin(half), cos(half)};
}

/* Is v a pose of the body (NULL: of any) whose truth is known in full? */
static int takes_part(const ct_sequence *seq, int32_t v, const char *body)
{
    const ct_kind kind = (ct_kind)seq->graph->kind[v];
    if (!seq->truth || !ct__is_pose(kind) || ct__known(seq, v) != ct__all_of(kind)) return 0;
    if (!body) return 1;
    const char *name = ct__names_get(&seq->graph->names, v);
    return ct__body_name_length(name) == strlen(body) && !strncmp(name, body, strlen(body));
}

static double distance(ct_se3 a, ct_se3 b)
{
    const double x = b.x - a.x, y = b.y - a.y, z = b.z - a.z;
    return sqrt(x * x + y * y + z * z);
}

/* at[0..n) <- variables that take part, s: length of the true path up to each; both may be NULL. Returns n; the length
 * of all in *length. */
static int32_t take_poses(const ct_sequence *seq, const char *body, int32_t *at, double *s, double *length)
{
    int32_t n = 0;
    ct_se3  last = ct_se3_identity();
    *length = 0;
    for (int32_t v = 0; v < seq->graph->variables; v++) {
        if (!takes_part(seq, v, body)) continue;
        const ct_se3 pose = pose_at(seq->graph, v, seq->truth);
        if (n) *length += distance(last, pose);
        if (at) at[n] = v, s[n] = *length;
        last = pose;
        n++;
    }
    return n;
}

double ct_truth_length(const ct_sequence *seq, const char *body)
{
    double length;
    take_poses(seq, body, NULL, NULL, &length);
    return length;
}

static ct_rpe over_length(const ct_sequence *seq, const double *x, int32_t n, const int32_t *at, const double *s,
                          double length)
{
    ct_rpe out = {.length = length, .translation = NAN, .rotation = NAN};
    double translation = 0, rotation = 0;
    for (int32_t i = 0, j = 0; i < n && length > 0; i++) {
        while (j < n && s[j] < s[i] + length) j++;
        if (j == n) break;
        const ct_se3 truth = ct_se3_between(pose_at(seq->graph, at[i], seq->truth),
                                            pose_at(seq->graph, at[j], seq->truth), NULL, NULL);
        const ct_se3 found = ct_se3_between(pose_at(seq->graph, at[i], x), pose_at(seq->graph, at[j], x), NULL, NULL);
        const ct_se3 e = ct_se3_between(truth, found, NULL, NULL);
        double       w[3];
        ct_so3_log(ct_se3_rotation(e), w);
        translation += e.x * e.x + e.y * e.y + e.z * e.z;
        rotation += w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
        out.segments++;
    }
    if (out.segments && isfinite(translation)) out.translation = sqrt(translation / (double)out.segments);
    if (out.segments && isfinite(rotation)) out.rotation = sqrt(rotation / (double)out.segments);
    return out;
}

ct_status ct_rpe_over(const ct_sequence *seq, const double *x, const char *body, int count, const double *length,
                      ct_rpe *out, ct_err *err)
{
    const int64_t all = seq->graph->variables;
    int32_t      *at = ct__zalloc(all, sizeof *at);
    double       *s = ct__zalloc(all, sizeof *s);
    if (at && s) {
        double        path;
        const int32_t n = take_poses(seq, body, at, s, &path);
        for (int k = 0; k < count; k++) out[k] = over_length(seq, x, n, at, s, length[k]);
    }
    const ct_status status = at && s ? CT_OK : ct__no_memory(err, "poses", all);
    free(at);
    free(s);
    return status;
}
