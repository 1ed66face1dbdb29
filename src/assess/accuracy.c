/* accuracy.c: the distance from the truth, in the words of LEO and of those who evaluate trajectories. */
#include "assess/assess.h"

#include <math.h>

/* NaN where nothing is known, or where values are no numbers. */
static double root_mean(double sum, int64_t count) { return count && isfinite(sum) ? sqrt(sum / (double)count) : NAN; }

ct_accuracy ct_accuracy_of(const ct_sequence *seq, const double *x)
{
    const ct_graph *graph = seq->graph;
    double          coordinate = 0, angle = 0, distance = 0;
    int64_t         poses = 0, coordinates = 0, angles = 0, distances = 0;
    for (int32_t v = 0; seq->truth && v < graph->variables; v++) {
        const ct_kind kind = (ct_kind)graph->kind[v];
        if (!ct__is_pose(kind) || !seq->known[v]) continue;
        const double  *a = x + graph->offset[v], *g = seq->truth + graph->offset[v];
        const unsigned known = ct__known(seq, v), turns = ct__turns[kind];
        const int      first = kind == CT_SE2 ? 0 : 3, n = kind == CT_SE2 ? 2 : 3; /* of translation in the tangent space */
        double         d[CT_DIM_MAX], square = 0;
        int            found = 0;
        poses++;
        for (int i = 0; i < n; i++) {
            if (!(known >> (first + i) & 1)) continue;
            square += (a[i] - g[i]) * (a[i] - g[i]);
            found++;
        }
        coordinate += square;
        coordinates += found;
        if (found == n) distance += square, distances++;
        if (!(known & turns)) continue;
        ct_kind_local(kind, g, a, d);
        for (int i = 0; i < ct_kind_dim(kind); i++)
            if (turns >> i & 1) angle += d[i] * d[i];
        angles++;
    }
    return (ct_accuracy){.poses = poses, .translation = root_mean(coordinate, coordinates), .rotation = root_mean(angle, angles),
                         .ape_translation = root_mean(distance, distances)};
}
