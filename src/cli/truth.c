/* truth.c: the distance of an estimate from the truth that its sequence carries. */
#include "cli.h"

#include <math.h>

/* Where in the tangent space translation and rotation of a pose lie, and in its stored values translation. */
typedef struct {
    int translation, rotation; /* first coordinate */
    int translations, rotations;
} pose_layout;

static pose_layout layout_of(ct_kind kind) { return kind == CT_SE2 ? (pose_layout){0, 2, 2, 1} : (pose_layout){3, 0, 3, 3}; }

cli_rmse cli_rmse_of(const ct_sequence *seq, const double *x)
{
    const ct_graph *g = seq->graph;
    cli_rmse        rmse = {0, NAN, NAN};
    double          t2 = 0, r2 = 0;
    int64_t         coordinates = 0, angles = 0;
    for (int32_t v = 0; seq->truth && v < ct_graph_variables(g); v++) {
        const ct_kind kind = ct_graph_kind(g, v);
        if (!cli_is_pose(kind) || !seq->known[v]) continue;
        const double     *a = x + ct_graph_offset(g, v), *b = seq->truth + ct_graph_offset(g, v);
        const pose_layout at = layout_of(kind);
        const unsigned    turned = ((1u << at.rotations) - 1) << at.rotation;
        double            d[CT_DIM_MAX];
        rmse.poses++;
        for (int i = 0; i < at.translations; i++) {
            if (!(seq->known[v] >> (at.translation + i) & 1)) continue;
            t2 += (a[i] - b[i]) * (a[i] - b[i]);
            coordinates++;
        }
        if ((seq->known[v] & turned) != turned) continue;
        ct_kind_local(kind, b, a, d);
        for (int i = 0; i < at.rotations; i++) r2 += d[at.rotation + i] * d[at.rotation + i];
        angles++;
    }
    if (coordinates) rmse.translation = sqrt(t2 / (double)coordinates);
    if (angles) rmse.rotation = sqrt(r2 / (double)angles);
    return rmse;
}

json_t *cli_rmse_json(cli_rmse rmse)
{
    json_t *o = cli_object();
    cli_put(o, "translation", cli_number(rmse.translation));
    cli_put(o, "rotation", cli_number(rmse.rotation));
    return o;
}
