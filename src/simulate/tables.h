/* tables.h: the path of a simulated robot, shared by tables_path.c and tables.c. */
#ifndef CT_SIMULATE_TABLES_H
#define CT_SIMULATE_TABLES_H

#include <covtune/simulate.h>

#define CT__WAVES 3

/* amplitude * sin(rate * t + phase) */
typedef struct {
    double amplitude, rate, phase;
} ct__wave;

/* x and y are sums of waves; the first is the large figure. The body's heading is the course less the slip. In space
 * height, roll and pitch are waves too. */
typedef struct {
    ct_kind  kind;
    ct__wave axis[2][1 + CT__WAVES];
    ct__wave slip[CT__WAVES], height[CT__WAVES], roll[CT__WAVES], pitch[CT__WAVES];
} ct__tables_path;

ct__tables_path ct__tables_path_draw(ct_kind kind, uint64_t seed, uint64_t number);
void            ct__tables_path_at(const ct__tables_path *path, double t, double pose[CT_SIZE_MAX],
                                   double velocity[CT_DIM_MAX]);

#endif
