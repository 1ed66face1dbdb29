/* decimate.h: polylines with fewer points that look the same. */
#ifndef CT_REPORT_THIN_H
#define CT_REPORT_THIN_H

#include <stdint.h>

/* keep[i] is 1 for the points of a polyline (finite) that stay, the first and the last among them; returns how many.
 * No point of the polyline lies farther than `tolerance` from what is left, nor the other way round. O(n), allocates
 * nothing. */
int64_t ct__thin(int64_t n, const double x[], const double y[], double tolerance, int8_t keep[]);

#endif
