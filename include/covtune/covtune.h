/* covtune.h: everything. Modules, each building on those before it: base, lie, shape, net, noise, theta, graph, data,
 * sparse, solve, smooth, assess, learn, study, report. */
#ifndef COVTUNE_H
#define COVTUNE_H

#include <covtune/base.h>
#include <covtune/lie.h>
#include <covtune/shape.h>
#include <covtune/net.h>
#include <covtune/noise.h>
#include <covtune/theta.h>
#include <covtune/graph.h>
#include <covtune/data.h>
#include <covtune/sparse.h>
#include <covtune/solve.h>
#include <covtune/smooth.h>
#include <covtune/assess.h>
#include <covtune/learn.h>
#include <covtune/study.h>
#include <covtune/report.h>

#endif
