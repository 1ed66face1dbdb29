/* covtune.h: everything. Modules, each building on those before it: base, finding, source, config, lie, shape,
 * function, noise, theta, graph, plugin, data, simulate, net, push, sparse, solve, smooth, evaluate, score, likelihood,
 * doctor, learn, conditional, observation, tune, trial, export, page, api. */
#ifndef COVTUNE_H
#define COVTUNE_H

#include <covtune/base.h>
#include <covtune/comm.h>
#include <covtune/finding.h>
#include <covtune/source.h>
#include <covtune/config.h>
#include <covtune/lie.h>
#include <covtune/shape.h>
#include <covtune/function.h>
#include <covtune/noise.h>
#include <covtune/theta.h>
#include <covtune/graph.h>
#include <covtune/plugin.h>
#include <covtune/data.h>
#include <covtune/recipe.h>
#include <covtune/simulate.h>
#include <covtune/net.h>
#include <covtune/push.h>
#include <covtune/sparse.h>
#include <covtune/solve.h>
#include <covtune/smooth.h>
#include <covtune/evaluate.h>
#include <covtune/score.h>
#include <covtune/likelihood.h>
#include <covtune/doctor.h>
#include <covtune/learn.h>
#include <covtune/conditional.h>
#include <covtune/observation.h>
#include <covtune/tune.h>
#include <covtune/trial.h>
#include <covtune/export.h>
#include <covtune/page.h>
#include <covtune/api.h>

#endif
