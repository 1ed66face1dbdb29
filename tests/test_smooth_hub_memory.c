/* A hub: most variables hang on one. What hangs there is kept summed (src/smooth/hub_sums.c), whatever comes, goes,
 * is refused or finds no memory: a batch solve is the judge, and of a refusal nothing is left in any bit. The graphs
 * are linear, so estimates are exact after every update. */
#include "smooth_test.h"
#include "memory_test.h"

#define LEAVES  80
#define FACTORS (4 * LEAVES)

typedef struct {
    ct_rng       rng;
    ct_noise    *noise;
    ct_smoother *smoother;
    ct_graph    *graph; /* all that was ever said ...                  */
    uint8_t      without[FACTORS]; /* ... but for what was taken back */
    int          refused, through;
} hub;

static int32_t draw(hub *h, int32_t below) { return (int32_t)(ct_rng_bits(&h->rng) % (uint64_t)below); }

/* Until there is memory; before that nothing must have happened. */
static void update(hub *h, const ct_increment *inc, ct_status wanted)
{
    const int32_t n = ct_smoother_variables(h->smoother);
    ct_err        err = {0};
    double        before[2 * LEAVES + 2] = {0}, after[2 * LEAVES + 2] = {0};
    read_estimates(h->smoother, h->graph, n, before);
    for (;;) {
        const ct_status status = ct_smoother_update(h->smoother, inc, NULL, &err);
        if (status == CT_OK || ct_test_failed_checks) break;
        CHECK(status == CT_E_MEMORY || status == wanted);
        memset(after, 0, sizeof after);
        read_estimates(h->smoother, h->graph, n, after);
        CHECK(ct_smoother_variables(h->smoother) == n && !memcmp(before, after, sizeof after));
        if (status == wanted) return;
        h->refused++;
    }
    CHECK(wanted == CT_OK);
}

/* The library's allocations fail in turn, those of the test do not. */
static void tell_graph(hub *h, const ct_factor_ops *ops, const int32_t *var, const double *z)
{
    const int64_t armed = left;
    ct_err        err;
    left = -1;
    CHECK_OK(ct_graph_add_factor(h->graph, ops, var, z, NULL, 0, &err), err);
    left = armed;
}

/* A leaf: tied to the hub, or to another leaf, and seen. */
static void add_leaf(hub *h, int32_t v)
{
    const int32_t   ends[2] = {v % 9 == 8 ? v - 3 : 0, v};
    const double    z[3][2] = {{ct_rng_normal(&h->rng), 1}, {2, ct_rng_normal(&h->rng)}, {0, 0}};
    ct_new_variable variable = {.kind = CT_R2, .value = z[2]};
    ct_new_factor factor[2] = {{.ops = &ct_between_r2, .var = ends, .z = z[0]},
                               {.ops = &ct_prior_r2, .var = ends + 1, .z = z[1]}};
    const int       tied = v > 0 && ct_smoother_has(h->smoother, ends[0]);
    const int64_t   armed = left;
    ct_err          err;
    left = -1;
    CHECK_OK(ct_graph_add_variable(h->graph, NULL, CT_R2, z[2], NULL, &err), err);
    left = armed;
    if (tied) tell_graph(h, &ct_between_r2, ends, z[0]);
    tell_graph(h, &ct_prior_r2, ends + 1, z[1]);
    update(h, &(ct_increment){.variables = 1, .variable = &variable, .factors = 1 + tied, .factor = factor + !tied},
           CT_OK);
}

static void add_loop(hub *h, int32_t v)
{
    const int32_t ends[2] = {1 + draw(h, v), v}; /* an old leaf, and the newest */
    const double  z[2] = {0.1, ct_rng_normal(&h->rng)};
    if (ends[0] == v || !ct_smoother_has(h->smoother, ends[0])) return;
    tell_graph(h, &ct_between_r2, ends, z);
    update(h, &(ct_increment){.factors = 1, .factor = &(ct_new_factor){.ops = &ct_between_r2, .var = ends, .z = z}},
           CT_OK);
}

static void see_again(hub *h, int32_t v)
{
    const int32_t old = draw(h, v + 1);
    const double  z[2] = {1, ct_rng_normal(&h->rng)};
    if (!ct_smoother_has(h->smoother, old)) return;
    tell_graph(h, &ct_prior_r2, &old, z);
    update(h, &(ct_increment){.factors = 1, .factor = &(ct_new_factor){.ops = &ct_prior_r2, .var = &old, .z = z}},
           CT_OK);
}

/* Takes back a tie between two that are there: both are seen, so nothing comes loose. */
static void take_back(hub *h)
{
    const int32_t   f = draw(h, ct_graph_factors(h->graph));
    const ct_factor k = ct_graph_factor(h->graph, f);
    if (k.ops->arity < 2 || h->without[f] || !ct_smoother_has(h->smoother, k.var[0]) ||
        !ct_smoother_has(h->smoother, k.var[1]))
        return;
    h->without[f] = 1;
    update(h, &(ct_increment){.removals = 1, .removal = &f}, CT_OK);
}

static void let_go(hub *h, int32_t v)
{
    const int32_t old = 1 + draw(h, v);
    if (ct_smoother_has(h->smoother, old)) update(h, &(ct_increment){.marginals = 1, .marginal = &old}, CT_OK);
}

/* A variable that nothing fixes, tied to the hub's side by nothing. */
static void dream(hub *h)
{
    const ct_new_variable variable = {.kind = CT_R2};
    update(h, &(ct_increment){.variables = 1, .variable = &variable, .relinearise = 1}, CT_E_SINGULAR);
}

static void compare(hub *h)
{
    ct_graph *part;
    double *y =
        batch_estimate(h->graph, h->noise, ct_graph_variables(h->graph), h->without, ct_graph_initial(h->graph), &part);
    for (int32_t v = 0; v < ct_graph_variables(part); v++) {
        double x[2];
        if (!ct_smoother_has(h->smoother, v)) continue;
        ct_smoother_estimate(h->smoother, v, x);
        CHECK_NEAR(x[0], y[2 * v], 1e-9);
        CHECK_NEAR(x[1], y[2 * v + 1], 1e-9);
    }
    free(y);
    ct_graph_free(part);
}

/* k: the allocation that fails; -1: none, and a batch solve looks at every update. */
static void live(hub *h, uint64_t seed, int32_t window, int64_t k)
{
    ct_smoother_options options = ct_smoother_defaults();
    ct_err              err = {0};
    *h = (hub){.refused = 0};
    h->rng = ct_rng_seed(seed);
    options.wildfire = 0;
    options.window = window;
    CHECK_OK(ct_noise_new(&h->noise, &err), err);
    CHECK_OK(ct_noise_add_isotropic(h->noise, "all", 2, 0.1, NULL, &err), err);
    CHECK_OK(ct_graph_new(&h->graph, &err), err);
    left = k;
    while (ct_smoother_new(h->noise, &options, &h->smoother, &err) != CT_OK) CHECK(err.status == CT_E_MEMORY);
    for (int32_t v = 0; v < LEAVES; v++) {
        add_leaf(h, v);
        const int32_t what = v < 12 ? 9 : draw(h, 10);
        if (what == 0) add_loop(h, v);
        if (what == 1) see_again(h, v);
        if (what == 2) take_back(h);
        if (what == 3 && !window) let_go(h, v);
        if (what == 4) dream(h);
        if (k < 0) compare(h);
    }
    h->through = left >= 0;
    left = -1;
}

static void end(hub *h)
{
    ct_smoother_free(h->smoother);
    ct_graph_free(h->graph);
    ct_noise_free(h->noise);
}

static void test_what_hangs_on_a_hub_adds_up_whatever_comes_and_goes(void)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        hub h;
        live(&h, seed, 0, -1);
        end(&h);
    }
}

static void test_a_hub_may_lose_its_leaves_to_a_window(void)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        hub h;
        live(&h, seed, 30, -1);
        end(&h);
    }
}

static void test_an_update_of_a_hub_without_memory_has_not_happened(void)
{
    hub plain, h;
    int refused = 0;
    live(&plain, 3, 0, -1);
    for (int64_t k = 0; k < 100000; k += ct_test_slow() ? 97 : 7) {
        live(&h, 3, 0, k);
        refused += h.refused;
        for (int32_t v = 0; v < LEAVES; v++) {
            double x[2], y[2];
            CHECK(ct_smoother_has(plain.smoother, v) == ct_smoother_has(h.smoother, v));
            if (!ct_smoother_has(plain.smoother, v)) continue;
            ct_smoother_estimate(plain.smoother, v, x);
            ct_smoother_estimate(h.smoother, v, y);
            CHECK(!memcmp(x, y, sizeof x));
        }
        const int none = h.through;
        end(&h);
        if (none || ct_test_failed_checks) break;
    }
    printf("  %d updates refused for memory\n", refused);
    CHECK(refused > 5);
    end(&plain);
}

int main(void)
{
    RUN(test_what_hangs_on_a_hub_adds_up_whatever_comes_and_goes);
    RUN(test_a_hub_may_lose_its_leaves_to_a_window);
    RUN(test_an_update_of_a_hub_without_memory_has_not_happened);
    return ct_test_end();
}
