/* covtune.h: everything. Modules, each building on those before it: base, lie, noise, graph, data,
 * sparse, solve. */
#ifndef COVTUNE_H
#define COVTUNE_H

#include <covtune/base.h>
#include <covtune/lie.h>
#include <covtune/noise.h>
#include <covtune/graph.h>
#include <covtune/data.h>
#include <covtune/sparse.h>
#include <covtune/solve.h>

#endif
