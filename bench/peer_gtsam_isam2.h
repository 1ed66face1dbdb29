/* peer_gtsam_isam2.h: GTSAM's iSAM2, where it is to be had. */
#ifndef BENCH_PEER_GTSAM_ISAM2_H
#define BENCH_PEER_GTSAM_ISAM2_H

#include <covtune/covtune.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    double seconds, worst_s, error;
} bench_isam2;

/* Poses in their order, each from the estimate of the one before, with `motion` moved on as the given values move. 0
 * if it cannot, or gives up. */
int bench_gtsam_isam2(const ct_graph *graph, const ct_noise *noise, const double *given, int motion, bench_isam2 *out);

#ifdef __cplusplus
}
#endif
#endif
