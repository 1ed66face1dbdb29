/* Incremental smoothing: at rest it stands where a batch solve does, whatever came and went on the way. */
#include "smooth_test.h"

static void follow(uint64_t seed, int parts, const char *what)
{
    world                     w;
    ct_err                    err = {0};
    const ct_smoother_options options = exact_options();
    world_make(&w, seed, parts);
    ct_smoother  *smoother = new_smoother(w.noise, &options);
    const double *start = ct_graph_initial(w.graph);
    for (int32_t v = 0; v < ct_graph_variables(w.graph); v++) {
        ct_graph *part;
        CHECK_OK(add_step(smoother, w.graph, v, start, NULL, &err), err);
        iterate(smoother, 1e-13);
        double *from = copy_values(w.graph, start); /* with robust kernels there may be other minima: that one is to stay where it is */
        if (parts & ROBUST) read_estimates(smoother, w.graph, v + 1, from);
        double      *x = batch_estimate(w.graph, w.noise, v + 1, NULL, from, &part);
        const double off = off_by(smoother, part, x);
        if (!(off <= 1e-9)) printf("  %s, seed %d, after %d variables: off by %.3g\n", what, (int)seed, v + 1, off);
        CHECK(off <= 1e-9);
        CHECK_NEAR(ct_smoother_error(smoother), ct_graph_error(part, w.noise, x), 1e-7 * (1 + ct_graph_error(part, w.noise, x)));
        ct_graph_free(part);
        free(from);
        free(x);
    }
    ct_smoother_free(smoother);
    world_free(&w);
}

static void test_after_every_step_it_stands_where_a_batch_solve_does(void)
{
    static const struct {
        int         parts;
        const char *what;
    } cases[] = {{PLANE, "plane"}, {SPACE, "space"}, {VECTORS, "vectors"}, {PLANE | LOOPS, "plane with loops"}, {SPACE | LOOPS, "space with loops"},
                 {PLANE | LANDMARKS, "landmarks"}, {SPACE | LANDMARKS | LOOPS, "landmarks in space"}, {PLANE | LOOPS | ROBUST, "robust"},
                 {EVERYTHING & ~FIXED, "everything"}, {EVERYTHING, "everything, some fixed"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (uint64_t seed = 1; seed <= 3; seed++) follow(seed, cases[k].parts, cases[k].what);
}

int main(void)
{
    RUN(test_after_every_step_it_stands_where_a_batch_solve_does);
    return ct_test_end();
}
