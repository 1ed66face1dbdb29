/* bodies.h: variables that are one body at different times, and the odometry between them. */
#ifndef CT_BODIES_H
#define CT_BODIES_H

#include "graph/graph.h"

/* A body is the variables of one kind whose names differ in their number only (x17, x18). */
typedef struct {
    int32_t *body, *rank; /* per variable: its body, and its place among the variables of that body */
    int32_t  count;
} ct__bodies;

/* The caller frees *out with ct__bodies_free; it is empty on failure. */
ct_status ct__bodies_find(const ct_graph *graph, ct__bodies *out, ct_err *err);
void      ct__bodies_free(ct__bodies *bodies);
/* Odometry is the chain of a body's consecutive poses: relative factors whose variables of one body are neighbours in
 * the order of the variables. */
int ct__is_odometry(const ct_graph *graph, const ct__bodies *bodies, int32_t f);

#endif
