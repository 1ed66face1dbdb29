/* peer_ceres.h: what the two ways of giving a graph to Ceres share: options, the timed solve, its phases. */
#ifndef BENCH_PEER_CERES_H
#define BENCH_PEER_CERES_H

#include "peer.h"

#include <ceres/ceres.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

/* A graph as Ceres has it. Parameter blocks lie in `values`, as the residuals read them. */
struct ceres_problem {
    std::vector<std::unique_ptr<ceres::Manifold>> manifolds; /* shared by the problem's blocks; outlive it */
    ceres::Problem                                problem;
    ceres::Solver::Options                        options;
    std::vector<double>                           values;

    ceres_problem() : problem(borrow()) {}

  private:
    static ceres::Problem::Options borrow()
    {
        ceres::Problem::Options options;
        options.manifold_ownership = ceres::DO_NOT_TAKE_OWNERSHIP;
        return options;
    }
};

/* Sparse Cholesky through SuiteSparse with Ceres' own block ordering (AMD), and covtune's rule for stopping.
 * like_covtune: it begins with covtune's damping or radius as well; Gauss-Newton is no damping in any case. */
inline void ceres_configure(ceres::Solver::Options &options, ct_method method, int max_iterations, int threads,
                            bool like_covtune)
{
    const ct_solve_options defaults = ct_solve_defaults();
    options.linear_solver_type = ceres::SPARSE_NORMAL_CHOLESKY;
    options.sparse_linear_algebra_library_type = ceres::SUITE_SPARSE;
    options.trust_region_strategy_type = method == CT_DOGLEG ? ceres::DOGLEG : ceres::LEVENBERG_MARQUARDT;
    const double wanted = method == CT_DOGLEG         ? defaults.radius
                          : method == CT_GAUSS_NEWTON ? HUGE_VAL
                                                      : 1 / defaults.lambda;
    if (like_covtune || method == CT_GAUSS_NEWTON)
        options.initial_trust_region_radius = std::min(wanted, options.max_trust_region_radius);
    options.max_num_iterations = max_iterations;
    options.function_tolerance = defaults.relative;
    options.gradient_tolerance = 0;
    options.parameter_tolerance = 1e-14;
    options.num_threads = threads;
    options.logging_type = ceres::SILENT;
}

/* Ceres' clocks: its preprocessor orders; what it calls the linear solver analyses the matrix once, factors and
 * substitutes back. */
inline int ceres_solve(ceres_problem &w, bench_outcome *out)
{
    ceres::Solver::Summary summary;
    const double           begin = ct_now_s();
    ceres::Solve(w.options, &w.problem, &summary);
    out->seconds = ct_now_s() - begin;
    out->iterations = summary.num_linear_solves; /* the last step, too small to be taken, included */
    out->final_error = summary.final_cost;
    out->analyse_s = summary.preprocessor_time_in_seconds;
    out->linearise_s = summary.jacobian_evaluation_time_in_seconds;
    out->factor_s = summary.linear_solver_time_in_seconds;
    out->backsub_s = -1;
    return summary.termination_type == ceres::CONVERGENCE;
}

#endif
