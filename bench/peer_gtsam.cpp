/* peer_gtsam.cpp: GTSAM (4.2 or later), as its users have it: its own BetweenFactor and PriorFactor, its optimisers
 * with their default ordering and elimination, and covtune's rule for stopping.
 *
 * Compiled only where find_package(GTSAM) finds it; no distribution that covtune is tested on ships it. With GTSAM's
 * defaults the answer is not quite the minimum (docs/gtsam.md), so it is not asked to be covtune's to the last
 * digits; a row of covtune with GTSAM's residuals stands beside it. Built with TBB, it has a column with one thread and
 * one with two; else two threads are not a problem that it can be given. */
#include "peer.h"

#include <gtsam/config.h>
#include <gtsam/geometry/Pose2.h>
#include <gtsam/geometry/Pose3.h>
#include <gtsam/linear/NoiseModel.h>
#include <gtsam/nonlinear/DoglegOptimizer.h>
#include <gtsam/nonlinear/GaussNewtonOptimizer.h>
#include <gtsam/nonlinear/LevenbergMarquardtOptimizer.h>
#include <gtsam/nonlinear/NonlinearFactorGraph.h>
#include <gtsam/nonlinear/PriorFactor.h>
#include <gtsam/nonlinear/Values.h>
#include <gtsam/slam/BetweenFactor.h>

#ifdef GTSAM_USE_TBB
#include <tbb/global_control.h>
#endif

#include <exception>
#include <vector>

namespace
{

struct gtsam_problem {
    gtsam::NonlinearFactorGraph factors;
    ct_kind                     kind;
    ct_method                   method;
    int                         max_iterations;
    size_t                      poses;
    size_t                      threads;
};

/* ---- poses, as covtune stores them: x y cos sin; x y z qx qy qz qw ---- */

void load(const double *x, gtsam::Pose2 &pose)
{
    pose = gtsam::Pose2(gtsam::Rot2::fromCosSin(x[2], x[3]), gtsam::Point2(x[0], x[1]));
}
void load(const double *x, gtsam::Pose3 &pose)
{
    pose = gtsam::Pose3(gtsam::Rot3::Quaternion(x[6], x[3], x[4], x[5]), gtsam::Point3(x[0], x[1], x[2]));
}

void store(const gtsam::Pose2 &pose, double *x)
{
    x[0] = pose.x(), x[1] = pose.y(), x[2] = pose.rotation().c(), x[3] = pose.rotation().s();
}

void store(const gtsam::Pose3 &pose, double *x)
{
    const gtsam::Quaternion q = pose.rotation().toQuaternion();
    x[0] = pose.x(), x[1] = pose.y(), x[2] = pose.z(), x[3] = q.x(), x[4] = q.y(), x[5] = q.z(), x[6] = q.w();
}

/* ---- the graph ---- */

gtsam::SharedNoiseModel make_noise(const ct_noise_model *model)
{
    const int     n = model->dim;
    gtsam::Matrix R = gtsam::Matrix::Zero(n, n);
    if (model->kind != CT_NOISE_FULL) {
        gtsam::Vector variances(n);
        for (int i = 0; i < n; i++) variances(i) = model->covariance[i];
        return gtsam::noiseModel::Diagonal::Variances(variances);
    }
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) R(i, j) = model->sqrt_info[i * n + j];
    return gtsam::noiseModel::Gaussian::SqrtInformation(R);
}

template <class Pose> void add_factor(gtsam_problem &w, const ct_factor &factor, const gtsam::SharedNoiseModel &noise)
{
    Pose             z;
    const gtsam::Key a = static_cast<gtsam::Key>(factor.var[0]);
    load(factor.z, z);
    if (factor.ops->arity == 1) w.factors.emplace_shared<gtsam::PriorFactor<Pose>>(a, z, noise);
    else w.factors.emplace_shared<gtsam::BetweenFactor<Pose>>(a, static_cast<gtsam::Key>(factor.var[1]), z, noise);
}

void *open_with(const ct_graph *graph, const ct_noise *noise, ct_method method, int max_iterations, size_t threads)
{
    if (!bench_is_pose_graph(graph, noise)) return nullptr;
    auto *w = new gtsam_problem{
        {}, ct_graph_kind(graph, 0), method, max_iterations, static_cast<size_t>(ct_graph_variables(graph)), threads};
    std::vector<gtsam::SharedNoiseModel> models;
    for (int32_t i = 0; i < ct_noise_count(noise); i++) models.push_back(make_noise(ct_noise_get(noise, i)));
    for (int32_t f = 0; f < ct_graph_factors(graph); f++) {
        const ct_factor factor = ct_graph_factor(graph, f);
        const auto     &model = models[static_cast<size_t>(factor.noise)];
        if (w->kind == CT_SE2) add_factor<gtsam::Pose2>(*w, factor, model);
        else add_factor<gtsam::Pose3>(*w, factor, model);
    }
    return w;
}

void *open_problem(const ct_graph *graph, const ct_noise *noise, ct_method method, int max_iterations)
{
    return open_with(graph, noise, method, max_iterations, 1);
}

void *open_two_threads(const ct_graph *graph, const ct_noise *noise, ct_method method, int max_iterations)
{
#ifdef GTSAM_USE_TBB
    return open_with(graph, noise, method, max_iterations, 2);
#else
    (void)graph, (void)noise, (void)method, (void)max_iterations;
    return nullptr;
#endif
}

/* ---- the solve ---- */

int tried(const gtsam::LevenbergMarquardtOptimizer &optimizer) { return optimizer.getInnerIterations(); }
int tried(const gtsam::NonlinearOptimizer &optimizer) { return static_cast<int>(optimizer.iterations()); }

/* Ordering is chosen in the optimiser's constructor: that is its analysis. */
template <class Optimizer, class Params>
gtsam::Values run(const gtsam_problem &w, const gtsam::Values &start, bench_outcome *out)
{
    const ct_solve_options rule = ct_solve_defaults();
    Params                 params;
    params.setMaxIterations(w.max_iterations);
    params.setRelativeErrorTol(rule.relative);
    params.setAbsoluteErrorTol(rule.absolute);
    const double           begin = ct_now_s();
    Optimizer              optimizer(w.factors, start, params);
    const double           ready = ct_now_s();
    const gtsam::Values   &values = optimizer.optimize();
    *out = bench_outcome{ct_now_s() - begin, tried(optimizer), optimizer.error(), ready - begin, -1, -1, -1};
    return values;
}

template <class Pose> int solve_as(const gtsam_problem &w, double *x, bench_outcome *out)
{
    const size_t  size = static_cast<size_t>(ct_kind_size(w.kind));
    gtsam::Values start, values;
    for (size_t v = 0; v < w.poses; v++) {
        Pose pose;
        load(x + v * size, pose);
        start.insert(static_cast<gtsam::Key>(v), pose);
    }
    if (w.method == CT_GAUSS_NEWTON) values = run<gtsam::GaussNewtonOptimizer, gtsam::GaussNewtonParams>(w, start, out);
    else if (w.method == CT_DOGLEG) values = run<gtsam::DoglegOptimizer, gtsam::DoglegParams>(w, start, out);
    else values = run<gtsam::LevenbergMarquardtOptimizer, gtsam::LevenbergMarquardtParams>(w, start, out);
    for (size_t v = 0; v < w.poses; v++) store(values.at<Pose>(static_cast<gtsam::Key>(v)), x + v * size);
    return out->iterations < w.max_iterations;
}

int solve(void *problem, double *x, bench_outcome *out)
{
    const auto *w = static_cast<gtsam_problem *>(problem);
#ifdef GTSAM_USE_TBB
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, w->threads);
#endif
    try {
        return w->kind == CT_SE2 ? solve_as<gtsam::Pose2>(*w, x, out) : solve_as<gtsam::Pose3>(*w, x, out);
    } catch (const std::exception &) { /* an indeterminate system */
        return 0;
    }
}

void close_problem(void *problem) { delete static_cast<gtsam_problem *>(problem); }

} // namespace

#ifdef GTSAM_USE_TBB
#define BUILD GTSAM_VERSION_STRING ", TBB"
#else
#define BUILD GTSAM_VERSION_STRING
#endif
const bench_peer bench_gtsam = {"GTSAM", BUILD, 0, open_problem, solve, close_problem};
const bench_peer bench_gtsam_2 = {"GTSAM 2 threads", BUILD, 0, open_two_threads, solve, close_problem};
