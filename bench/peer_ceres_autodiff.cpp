/* peer_ceres_autodiff.cpp: Ceres Solver as most of its users have it: residuals written once as templates,
 * derivatives by its automatic differentiation. The residuals are covtune's, Log(z^-1 a^-1 b) and Log(z^-1 x), so
 * that the answer is the same; parameters are those of Ceres' pose-graph examples: x, y, angle in the plane,
 * position and quaternion in space. Damping and radius begin with Ceres' defaults. */
#include "peer_ceres.h"

#include <ceres/rotation.h>

#include <cmath>
#include <cstring>

namespace
{

constexpr double PI = 3.14159265358979323846;

/* Square-root information as a matrix, whatever the model's kind. */
template <int dim> Eigen::Matrix<double, dim, dim> sqrt_information(const ct_noise_model *model)
{
    Eigen::Matrix<double, dim, dim> R = Eigen::Matrix<double, dim, dim>::Zero();
    for (int i = 0; i < dim; i++)
        for (int j = i; j < dim; j++)
            if (model->kind == CT_NOISE_FULL) R(i, j) = model->sqrt_info[i * dim + j];
            else if (i == j) R(i, j) = model->sqrt_info[i];
    return R;
}

/* h cot h, smooth through zero. */
template <typename T> T half_cot(const T &h) { return abs(h) < 1e-4 ? T(1.0 - h * h / 3.0) : T(h * cos(h) / sin(h)); }

/* ---- the plane: a pose is x, y, angle ---- */

/* Log of translation t and angle. */
template <typename T> Eigen::Matrix<T, 3, 1> log_se2(const Eigen::Matrix<T, 2, 1> &t, const T &angle)
{
    const T theta = angle - 2.0 * PI * floor((angle + PI) / (2.0 * PI)), h = theta / 2.0, c = half_cot(h);
    return {c * t[0] + h * t[1], c * t[1] - h * t[0], theta};
}

/* R(angle)' v. */
template <typename T> Eigen::Matrix<T, 2, 1> turn_back(const T &angle, const Eigen::Matrix<T, 2, 1> &v)
{
    const T c = cos(angle), s = sin(angle);
    return {c * v[0] + s * v[1], c * v[1] - s * v[0]};
}

struct prior_2d {
    Eigen::Vector3d z;
    Eigen::Matrix3d R;
    template <typename T> bool operator()(const T *x, T *r) const
    {
        const Eigen::Matrix<T, 2, 1>       t(x[0] - z[0], x[1] - z[1]);
        Eigen::Map<Eigen::Matrix<T, 3, 1>> out(r);
        out = R * log_se2<T>(turn_back<T>(T(z[2]), t), x[2] - z[2]);
        return true;
    }
};

struct between_2d {
    Eigen::Vector3d z;
    Eigen::Matrix3d R;
    template <typename T> bool operator()(const T *a, const T *b, T *r) const
    {
        const Eigen::Matrix<T, 2, 1>       t = turn_back<T>(a[2], {b[0] - a[0], b[1] - a[1]});
        Eigen::Map<Eigen::Matrix<T, 3, 1>> out(r);
        out = R * log_se2<T>(turn_back<T>(T(z[2]), {t[0] - z[0], t[1] - z[1]}), b[2] - a[2] - z[2]);
        return true;
    }
};

/* ---- space: a pose is a position and a quaternion x, y, z, w ---- */

/* Log of rotation q and translation t: (w, V^-1 t), V^-1 t = t - w x t / 2 + k w x (w x t). */
template <typename T> Eigen::Matrix<T, 6, 1> log_se3(const Eigen::Quaternion<T> &q, const Eigen::Matrix<T, 3, 1> &t)
{
    const T                stored[4] = {q.w(), q.x(), q.y(), q.z()};
    Eigen::Matrix<T, 3, 1> w;
    ceres::QuaternionToAngleAxis(stored, w.data());
    const T                theta2 = w.squaredNorm();
    const T k = theta2 < 1e-8 ? T(1.0 / 12.0 + theta2 / 720.0) : T((1.0 - half_cot<T>(sqrt(theta2) / 2.0)) / theta2);
    Eigen::Matrix<T, 3, 1> wt = w.cross(t);
    Eigen::Matrix<T, 6, 1> out;
    out << w, t - 0.5 * wt + k * w.cross(wt);
    return out;
}

struct pose_3d {
    Eigen::Vector3d    t;
    Eigen::Quaterniond q;
};

struct prior_3d {
    pose_3d                     z;
    Eigen::Matrix<double, 6, 6> R;
    template <typename T> bool operator()(const T *x, T *r) const
    {
        const Eigen::Map<const Eigen::Matrix<T, 3, 1>> t(x);
        const Eigen::Map<const Eigen::Quaternion<T>>   q(x + 3);
        const Eigen::Quaternion<T>                     back = z.q.conjugate().cast<T>();
        Eigen::Map<Eigen::Matrix<T, 6, 1>>             out(r);
        out = R * log_se3<T>(back * q, back * (t - z.t));
        return true;
    }
};

struct between_3d {
    pose_3d                     z;
    Eigen::Matrix<double, 6, 6> R;
    template <typename T> bool operator()(const T *a, const T *b, T *r) const
    {
        const Eigen::Map<const Eigen::Matrix<T, 3, 1>> ta(a), tb(b);
        const Eigen::Map<const Eigen::Quaternion<T>>   qa(a + 3), qb(b + 3);
        const Eigen::Quaternion<T>                     back = z.q.conjugate().cast<T>(), home = qa.conjugate();
        const Eigen::Matrix<T, 3, 1>                   t = home * (tb - ta);
        Eigen::Map<Eigen::Matrix<T, 6, 1>>             out(r);
        out = R * log_se3<T>(back * (home * qb), back * (t - z.t));
        return true;
    }
};

/* ---- from the graph ---- */

ceres::CostFunction *make_cost(const ct_factor &factor, const ct_noise_model *model)
{
    const double *z = factor.z;
    const bool    prior = factor.ops->arity == 1;
    if (factor.ops->kind[0] == CT_SE2) {
        const Eigen::Vector3d at(z[0], z[1], std::atan2(z[3], z[2]));
        const Eigen::Matrix3d R = sqrt_information<3>(model);
        if (prior) return new ceres::AutoDiffCostFunction<prior_2d, 3, 3>(new prior_2d{at, R});
        return new ceres::AutoDiffCostFunction<between_2d, 3, 3, 3>(new between_2d{at, R});
    }
    const pose_3d at{{z[0], z[1], z[2]}, {z[6], z[3], z[4], z[5]}};
    const auto    R = sqrt_information<6>(model);
    if (prior) return new ceres::AutoDiffCostFunction<prior_3d, 6, 7>(new prior_3d{at, R});
    return new ceres::AutoDiffCostFunction<between_3d, 6, 7, 7>(new between_3d{at, R});
}

/* Numbers of a pose: covtune stores cos and sin in the plane. */
int parameters(const ceres_problem &w) { return w.manifolds.empty() ? 3 : 7; }

void *open_problem(const ct_graph *graph, const ct_noise *noise, ct_method method, int max_iterations)
{
    if (!bench_is_pose_graph(graph, noise)) return nullptr;
    auto *w = new ceres_problem;
    if (ct_graph_kind(graph, 0) == CT_SE3)
        w->manifolds.emplace_back(
            new ceres::ProductManifold<ceres::EuclideanManifold<3>, ceres::EigenQuaternionManifold>());
    const int     size = parameters(*w);
    const int32_t n = ct_graph_variables(graph);
    w->values.resize(static_cast<size_t>(n) * static_cast<size_t>(size));
    const auto block = [&](int32_t v) { return w->values.data() + static_cast<ptrdiff_t>(v) * size; };
    for (int32_t v = 0; v < n; v++)
        w->problem.AddParameterBlock(block(v), size, w->manifolds.empty() ? nullptr : w->manifolds[0].get());
    for (int32_t f = 0; f < ct_graph_factors(graph); f++) {
        const ct_factor       factor = ct_graph_factor(graph, f);
        std::vector<double *> blocks;
        for (int i = 0; i < factor.ops->arity; i++) blocks.push_back(block(factor.var[i]));
        w->problem.AddResidualBlock(make_cost(factor, ct_noise_get(noise, factor.noise)), nullptr, blocks);
    }
    ceres_configure(w->options, method, max_iterations, 1, false);
    return w;
}

int solve(void *problem, double *x, bench_outcome *out)
{
    auto         *w = static_cast<ceres_problem *>(problem);
    const ct_kind kind = parameters(*w) == 3 ? CT_SE2 : CT_SE3;
    const size_t size = static_cast<size_t>(parameters(*w)), stored = static_cast<size_t>(ct_kind_size(kind)),
                 n = w->values.size() / size;
    for (size_t v = 0; v < n; v++) ct_kind_to_fields(kind, x + v * stored, &w->values[v * size]);
    const int converged = ceres_solve(*w, out);
    for (size_t v = 0; v < n; v++) ct_kind_from_fields(kind, &w->values[v * size], x + v * stored);
    return converged;
}

void close_problem(void *problem) { delete static_cast<ceres_problem *>(problem); }

} // namespace

const bench_peer bench_ceres_autodiff = {"Ceres autodiff", "", 1, open_problem, solve, close_problem};
