/* peer_ceres.cpp: Ceres Solver with covtune's own residuals and analytic Jacobians: what is compared is the solver,
 * not the derivatives.
 *
 * Ceres wants derivatives by the stored numbers (4 or 7) and multiplies them by the manifold's PlusJacobian to have
 * those by the tangent (3 or 6). covtune's are by the tangent already: they are handed over in the first columns,
 * zeros behind them, and PlusJacobian is [I; 0]. Plus is x o Exp(d), so steps are covtune's as well, and so are the
 * first damping and radius. */
#include "peer_ceres.h"

#include <cstring>

namespace
{

class tangent_manifold : public ceres::Manifold
{
  public:
    explicit tangent_manifold(ct_kind kind) : kind_(kind) {}
    int  AmbientSize() const override { return ct_kind_size(kind_); }
    int  TangentSize() const override { return ct_kind_dim(kind_); }
    bool Plus(const double *x, const double *delta, double *y) const override
    {
        ct_kind_retract(kind_, x, delta, y);
        return true;
    }
    bool Minus(const double *y, const double *x, double *delta) const override
    {
        ct_kind_local(kind_, x, y, delta);
        return true;
    }
    bool PlusJacobian(const double *, double *jacobian) const override
    {
        return unit(jacobian, AmbientSize(), TangentSize());
    }
    bool MinusJacobian(const double *, double *jacobian) const override
    {
        return unit(jacobian, TangentSize(), AmbientSize());
    }

  private:
    static bool unit(double *J, int rows, int cols)
    {
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < cols; j++) J[i * cols + j] = i == j;
        return true;
    }
    ct_kind kind_;
};

/* M <- R M for the square-root information R, M rows x cols, in place. */
template <int rows, int cols> void whiten(const ct_noise_model *model, double *M)
{
    const double *R = model->sqrt_info;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            double sum = 0;
            if (model->kind == CT_NOISE_FULL)
                for (int k = i; k < rows; k++) sum += R[i * rows + k] * M[k * cols + j];
            else sum = R[i] * M[i * cols + j];
            M[i * cols + j] = sum;
        }
}

/* A factor whose residual has as many rows (dim) as its poses have tangent coordinates; poses are stored in `size`. */
template <int dim, int size> class pose_cost : public ceres::CostFunction
{
  public:
    pose_cost(const ct_factor &factor, const ct_noise_model *model) : factor_(factor), model_(model)
    {
        set_num_residuals(dim);
        for (int i = 0; i < factor.ops->arity; i++) mutable_parameter_block_sizes()->push_back(size);
    }

    bool Evaluate(const double *const *x, double *r, double **jacobians) const override
    {
        double  space[2][dim * dim];
        double *J[2] = {nullptr, nullptr};
        for (int i = 0; jacobians && i < factor_.ops->arity; i++)
            if (jacobians[i]) J[i] = space[i];
        ct_factor_eval(factor_.ops, factor_.z, factor_.context, x, r, jacobians ? J : nullptr);
        whiten<dim, 1>(model_, r);
        for (int i = 0; i < 2; i++) {
            if (!J[i]) continue;
            whiten<dim, dim>(model_, J[i]);
            for (int row = 0; row < dim; row++) {
                std::memcpy(jacobians[i] + row * size, J[i] + row * dim, dim * sizeof(double));
                for (int col = dim; col < size; col++) jacobians[i][row * size + col] = 0;
            }
        }
        return true;
    }

  private:
    ct_factor             factor_;
    const ct_noise_model *model_;
};

void *open_with(const ct_graph *graph, const ct_noise *noise, ct_method method, int max_iterations, int threads)
{
    if (!bench_is_pose_graph(graph, noise)) return nullptr;
    auto         *w = new ceres_problem;
    const ct_kind kind = ct_graph_kind(graph, 0);
    w->values.resize(static_cast<size_t>(ct_graph_size(graph)));
    w->manifolds.emplace_back(new tangent_manifold(kind));
    for (int32_t v = 0; v < ct_graph_variables(graph); v++)
        w->problem.AddParameterBlock(&w->values[static_cast<size_t>(ct_graph_offset(graph, v))], ct_kind_size(kind),
                                     w->manifolds[0].get());
    for (int32_t f = 0; f < ct_graph_factors(graph); f++) {
        const ct_factor       factor = ct_graph_factor(graph, f);
        const ct_noise_model *model = ct_noise_get(noise, factor.noise);
        std::vector<double *> blocks;
        for (int i = 0; i < factor.ops->arity; i++)
            blocks.push_back(&w->values[static_cast<size_t>(ct_graph_offset(graph, factor.var[i]))]);
        ceres::CostFunction *cost = nullptr;
        if (kind == CT_SE2) cost = new pose_cost<3, 4>(factor, model);
        else cost = new pose_cost<6, 7>(factor, model);
        w->problem.AddResidualBlock(cost, nullptr, blocks);
    }
    ceres_configure(w->options, method, max_iterations, threads, true);
    return w;
}

void *open_one(const ct_graph *graph, const ct_noise *noise, ct_method method, int max_iterations)
{
    return open_with(graph, noise, method, max_iterations, 1);
}

void *open_two(const ct_graph *graph, const ct_noise *noise, ct_method method, int max_iterations)
{
    return open_with(graph, noise, method, max_iterations, 2);
}

int solve(void *problem, double *x, bench_outcome *out)
{
    auto *w = static_cast<ceres_problem *>(problem);
    std::memcpy(w->values.data(), x, w->values.size() * sizeof *x);
    const int converged = ceres_solve(*w, out);
    std::memcpy(x, w->values.data(), w->values.size() * sizeof *x);
    return converged;
}

void close_problem(void *problem) { delete static_cast<ceres_problem *>(problem); }

} // namespace

const bench_peer bench_ceres = {"Ceres", CERES_VERSION_STRING, 1, open_one, solve, close_problem};
const bench_peer bench_ceres_2 = {"Ceres 2 threads", "", 1, open_two, solve, close_problem};
