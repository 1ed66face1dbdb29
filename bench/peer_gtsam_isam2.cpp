/* peer_gtsam_isam2.cpp: GTSAM's iSAM2 on a planar pose graph, a pose at a time, an estimate of all after each: as
 * bench/incremental.c has covtune do it.
 *
 * Compiled only where find_package(GTSAM) finds it; no distribution that covtune is tested on ships it. */
#include "peer_gtsam_isam2.h"

#include <gtsam/geometry/Pose2.h>
#include <gtsam/linear/NoiseModel.h>
#include <gtsam/nonlinear/ISAM2.h>
#include <gtsam/nonlinear/NonlinearFactorGraph.h>
#include <gtsam/nonlinear/PriorFactor.h>
#include <gtsam/nonlinear/Values.h>
#include <gtsam/slam/BetweenFactor.h>

#include <algorithm>
#include <exception>
#include <vector>

namespace
{

gtsam::Pose2 load(const double *x)
{
    return gtsam::Pose2(gtsam::Rot2::fromCosSin(x[2], x[3]), gtsam::Point2(x[0], x[1]));
}

gtsam::SharedNoiseModel make_noise(const ct_noise_model *model)
{
    gtsam::Matrix R = gtsam::Matrix::Zero(3, 3);
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            R(i, j) = model->kind == CT_NOISE_FULL ? model->sqrt_info[i * 3 + j] : i == j ? model->sqrt_info[i] : 0;
    return gtsam::noiseModel::Gaussian::SqrtInformation(R);
}

void add_factor(gtsam::NonlinearFactorGraph &to, const ct_factor &factor, const gtsam::SharedNoiseModel &noise)
{
    const gtsam::Key a = static_cast<gtsam::Key>(factor.var[0]);
    if (factor.ops->arity == 1) to.emplace_shared<gtsam::PriorFactor<gtsam::Pose2>>(a, load(factor.z), noise);
    else
        to.emplace_shared<gtsam::BetweenFactor<gtsam::Pose2>>(a, static_cast<gtsam::Key>(factor.var[1]), load(factor.z),
                                                              noise);
}

} // namespace

int bench_gtsam_isam2(const ct_graph *graph, const ct_noise *noise, const double *given, int motion, bench_isam2 *out)
{
    const int32_t                     n = ct_graph_variables(graph);
    std::vector<std::vector<int32_t>> enters(static_cast<size_t>(n));
    for (int32_t f = 0; f < ct_graph_factors(graph); f++) {
        const ct_factor k = ct_graph_factor(graph, f);
        if (k.ops->rows != 3 || k.ops->arity > 2) return 0;
        enters[static_cast<size_t>(k.ops->arity == 2 ? std::max(k.var[0], k.var[1]) : k.var[0])].push_back(f);
    }
    try {
        gtsam::ISAM2Params params;
        params.relinearizeThreshold = 0.1;
        params.relinearizeSkip = 10;
        gtsam::ISAM2                isam(params);
        gtsam::NonlinearFactorGraph all;
        gtsam::Values               estimate;
        *out = bench_isam2{0, 0, 0};
        const double start = ct_now_s();
        for (int32_t v = 0; v < n; v++) {
            gtsam::NonlinearFactorGraph fresh;
            gtsam::Values               values;
            gtsam::Pose2                x = load(given + 4 * static_cast<size_t>(v));
            if (v > 0) {
                const gtsam::Pose2 before = estimate.at<gtsam::Pose2>(static_cast<gtsam::Key>(v - 1));
                x = motion ? before * load(given + 4 * static_cast<size_t>(v - 1)).between(x) : before;
            }
            for (const int32_t f : enters[static_cast<size_t>(v)]) {
                const ct_factor k = ct_graph_factor(graph, f);
                add_factor(fresh, k, make_noise(ct_noise_get(noise, k.noise)));
                add_factor(all, k, make_noise(ct_noise_get(noise, k.noise)));
            }
            values.insert(static_cast<gtsam::Key>(v), x);
            const double begin = ct_now_s();
            isam.update(fresh, values);
            estimate = isam.calculateEstimate();
            out->worst_s = std::max(out->worst_s, ct_now_s() - begin);
        }
        out->seconds = ct_now_s() - start;
        out->error = all.error(estimate);
    } catch (const std::exception &) { /* an indeterminate system */
        return 0;
    }
    return 1;
}
