/* convention_values.c: conventions of the truth's poses in a dataset without recipe. Poses of moving bodies are changed
 * in place, and stay so if that gains. Angles in degrees, and quaternions in the plane, are past recognition here. */
#include "doctor/conventions.h"

#define ROOT_HALF 0.70710678118654752440

static ct_se3 read_in_space(ct_se3 T, int bits)
{
    const ct_se3 camera = {0, 0, 0, -0.5, 0.5, -0.5, 0.5};       /* x = z_c, y = -x_c, z = -y_c */
    const ct_se3 world = {0, 0, 0, ROOT_HALF, ROOT_HALF, 0, 0};  /* half a turn about x = y     */
    const ct_se3 body = {0, 0, 0, 1, 0, 0, 0};                   /* half a turn about x         */
    const ct_se3 W = bits & CT__READ_CAMERA ? camera : world;
    const ct_se3 back = ct_se3_inverse(bits & CT__READ_CAMERA ? camera : body, NULL);
    if (bits & CT__READ_QUATERNION) T = (ct_se3){T.x, T.y, T.z, T.qy, T.qz, T.qw, T.qx};
    if (bits & CT__READ_INVERSE) T = ct_se3_inverse(T, NULL);
    if (!(bits & CT__READ_AXES)) return T;
    const ct_se3 turned = ct_se3_compose(ct_se3_compose(W, T, NULL, NULL), back, NULL, NULL);
    return bits & CT__READ_COMPASS ? ct_se3_make((const double[]){T.x, T.y, T.z}, ct_se3_rotation(turned)) : turned;
}

static ct_se2 read_in_plane(ct_se2 T, int bits)
{
    if (bits & CT__READ_INVERSE) T = ct_se2_inverse(T, NULL);
    if (bits & CT__READ_NED) return (ct_se2){T.y, T.x, T.s, T.c};
    if (bits & CT__READ_COMPASS) return (ct_se2){T.x, T.y, T.s, T.c};
    return bits & CT__READ_CLOCKWISE ? (ct_se2){T.x, T.y, T.c, -T.s} : T;
}

/* Which alternatives poses of a kind have. */
static int bits_of(ct_kind kind)
{
    const int both = CT__READ_NED | CT__READ_COMPASS | CT__READ_INVERSE;
    if (kind == CT_SE3) return both | CT__READ_QUATERNION | CT__READ_CAMERA;
    return kind == CT_SE2 ? both | CT__READ_CLOCKWISE : 0;
}

/* Poses of moving bodies from their values in `was`. 1: there are such, and each has the alternative. */
static int change_poses(ct__exam *e, double *const *was, int bits)
{
    int changed = 0;
    for (int32_t i = 0; i < e->sequences; i++) {
        const ct_graph *g = e->sequence[i].seq->graph;
        for (int32_t v = 0; v < g->variables; v++) {
            const int64_t at = g->offset[v];
            ct_se3        T;
            ct_se2        P;
            if (!ct__is_pose(g->kind[v]) || !e->sequence[i].moving[v]) continue;
            if (bits & ~bits_of(g->kind[v])) return 0;
            if (g->kind[v] == CT_SE3) {
                memcpy(&T, was[i] + at, sizeof T);
                T = read_in_space(T, bits);
                memcpy(e->sequence[i].x + at, &T, sizeof T);
            } else {
                memcpy(&P, was[i] + at, sizeof P);
                P = read_in_plane(P, bits);
                memcpy(e->sequence[i].x + at, &P, sizeof P);
            }
            changed = 1;
        }
    }
    return changed;
}

static void restore(ct__exam *e, double *const *was)
{
    for (int32_t i = 0; i < e->sequences; i++)
        memcpy(e->sequence[i].x, was[i], (size_t)ct_graph_size(e->sequence[i].seq->graph) * sizeof **was);
}

static double **copy_values(const ct__exam *e)
{
    double **was = ct__zalloc(CT_MAX(1, e->sequences), sizeof *was);
    for (int32_t i = 0; was && i < e->sequences; i++) {
        const int64_t n = ct_graph_size(e->sequence[i].seq->graph);
        was[i] = ct__zalloc(CT_MAX(1, n), sizeof **was);
        if (was[i]) memcpy(was[i], e->sequence[i].x, (size_t)n * sizeof **was);
    }
    return was;
}

/* t: now, trial, best. */
static ct_status find_best(ct__exam *e, double *const *was, ct__tallies t[3], int *bits, ct_err *err)
{
    double best = 0;
    *bits = 0;
    for (int size = 1; size <= 2; size++) {
        for (int b = 1; b < CT__READ_END; b++) {
            if (ct__convention_size(b) != size || !change_poses(e, was, b)) continue;
            CT_TRY(ct__tally_exam(e, &t[1], err));
            const int    unsure = (b & CT__READ_NED) && !ct__tally_world_gains(&t[0], &t[1]);
            const double gain = unsure ? 0 : ct__tally_gain(&t[0], &t[1]);
            if (ct__tally_is_better(gain, &t[1], best, &t[2])) best = gain, *bits = b, t[2] = t[1];
        }
        if (*bits && !ct__tally_is_gross(&t[2], NULL)) break;
    }
    restore(e, was);
    return CT_OK;
}

ct_status ct__change_conventions(ct__exam *e, ct_err *err)
{
    ct__tallies *t = ct__zalloc(3, sizeof *t);
    ct_status    status = t ? ct__tally_exam(e, &t[0], err) : ct__no_memory(err, "trials", 3);
    if (status == CT_OK && ct__tally_is_gross(&t[0], NULL)) {
        double **was = copy_values(e);
        int      bits = 0, whole = was != NULL;
        for (int32_t i = 0; was && i < e->sequences; i++) whole &= was[i] != NULL;
        status = whole ? find_best(e, was, t, &bits, err) : ct__no_memory(err, "values", e->sequences);
        if (status == CT_OK && bits) {
            status = ct__report_conventions(e, e, "truth", bits, 0, &t[0], &t[2], err);
            (void)change_poses(e, was, bits);
        }
        for (int32_t i = 0; was && i < e->sequences; i++) free(was[i]);
        free(was);
    }
    free(t);
    return status;
}
