/* tables.h: the path of a simulated robot, shared by tables_path.c and tables.c. */
#ifndef CT_SIMULATE_TABLES_H
#define CT_SIMULATE_TABLES_H

#include <covtune/simulate.h>

#define CT__WAVES 3

/* amplitude * sin(rate * t + phase) */
typedef struct {
    double amplitude, rate, phase;
} ct__wave;

/* x and y are sums of waves; the first is the large figure. The body's heading is the course less the slip. */
typedef struct {
    ct__wave axis[2][1 + CT__WAVES];
    ct__wave slip[CT__WAVES];
} ct__tables_path;

ct__tables_path ct__tables_path_draw(uint64_t seed, uint64_t number);
void            ct__tables_path_at(const ct__tables_path *path, double t, double pose[3], double velocity[3]);

#endif
