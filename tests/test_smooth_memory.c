/* test_smooth_memory.c: no memory at any moment of an update. Every allocation of a whole history is failed once,
 * each in a run of its own: the update says so, the smoother stands as it stood, and the same update, tried again,
 * leads to the same bits as if nothing had been. Programs called *_memory are linked so that the library's
 * allocations pass through here. */
#include "smooth_test.h"
#include "memory_test.h"

typedef struct {
    world        w;
    ct_smoother *smoother;
    int          refused; /* updates that found no memory */
    int          through; /* no allocation was left to fail */
} history;

/* An update, or what stands in for one; while memory fails it is tried again. */
static void update(history *h, const ct_increment *inc, int renew)
{
    const int32_t n = ct_smoother_variables(h->smoother);
    ct_err        err = {0};
    double        before[256] = {0}, after[256] = {0}, P[36];
    CHECK(ct_graph_size(h->w.graph) <= 256);
    read_estimates(h->smoother, h->w.graph, n, before);
    const double  error = ct_smoother_error(h->smoother);
    for (;;) {
        const int64_t   armed = left;
        const ct_status status =
            renew ? ct_smoother_renew(h->smoother, &err) : ct_smoother_update(h->smoother, inc, NULL, &err);
        if (status == CT_OK) break;
        CHECK(armed >= 0 && left < 0 && status == CT_E_MEMORY && strstr(err.text, "out of memory"));
        CHECK(ct_smoother_variables(h->smoother) == n && ct_smoother_error(h->smoother) == error);
        read_estimates(h->smoother, h->w.graph, n, after);
        CHECK(!memcmp(before, after, sizeof after));
        h->refused++;
        if (ct_test_failed_checks) break;
    }
    const int32_t newest = ct_smoother_variables(h->smoother) - 1;
    ct_status     status;
    while ((status = ct_smoother_marginal(h->smoother, newest, P, &err)) != CT_OK && !ct_test_failed_checks)
        CHECK(status == CT_E_MEMORY);
    double largest;
    while ((status = ct_smoother_stationarity(h->smoother, &largest, NULL, &err)) != CT_OK && !ct_test_failed_checks)
        CHECK(status == CT_E_MEMORY);
}

/* The same history every time: growth, removal, return, moved points, renewed noise, a variable let go, a window. */
static void live(history *h, int parts, int32_t window, int64_t k)
{
    ct_smoother_options options = ct_smoother_defaults();
    ct_err              err = {0};
    *h = (history){.refused = 0};
    world_make(&h->w, 5, parts);
    options.skip = 2;
    options.window = window;
    left = k;
    while (ct_smoother_new(h->w.noise, &options, &h->smoother, &err) != CT_OK) CHECK(err.status == CT_E_MEMORY);
    const int32_t all = ct_graph_variables(h->w.graph);
    for (int32_t v = 0; v < all; v++) {
        ct_new_variable variable = variable_at(h->w.graph, v, ct_graph_initial(h->w.graph));
        ct_new_factor   factor[64];
        ct_increment    inc = {.variables = 1, .variable = &variable, .factor = factor};
        variable.name = v % 2 ? "a name" : NULL;
        for (int32_t f = 0; f < ct_graph_factors(h->w.graph); f++) {
            const ct_factor t = ct_graph_factor(h->w.graph, f);
            int             there = newest_of(&t) == v;
            for (int i = 0; i < t.ops->arity; i++)
                there = there && (t.var[i] == v || ct_smoother_has(h->smoother, t.var[i]));
            if (there) factor[inc.factors++] = factor_at(h->w.graph, f);
        }
        update(h, &inc, 0);
        if (v == 8 && !window) update(h, &(ct_increment){.removals = 1, .removal = (int32_t[]){6}}, 0);
        if (v == 9) update(h, NULL, 1);
        if (v == 10) update(h, &(ct_increment){.relinearise = 1}, 0);
        if (v == 11 && !window) update(h, &(ct_increment){.marginals = 2, .marginal = (int32_t[]){2, 3}}, 0);
    }
    h->through = left >= 0;
    left = -1;
}

static void sweep(int parts, int32_t window)
{
    history plain, h;
    int     refused = 0;
    live(&plain, parts, window, -1);
    for (int64_t k = 0; k < 100000; k += ct_test_slow() ? 7 : 1) {
        live(&h, parts, window, k);
        refused += h.refused;
        for (int32_t v = 0; v < ct_graph_variables(plain.w.graph); v++) {
            double x[CT_SIZE_MAX] = {0}, y[CT_SIZE_MAX] = {0};
            CHECK(ct_smoother_has(plain.smoother, v) == ct_smoother_has(h.smoother, v));
            if (!ct_smoother_has(plain.smoother, v)) continue;
            ct_smoother_estimate(plain.smoother, v, x);
            ct_smoother_estimate(h.smoother, v, y);
            CHECK(!memcmp(x, y, sizeof x));
        }
        const int none = h.through;
        ct_smoother_free(h.smoother);
        world_free(&h.w);
        if (none || ct_test_failed_checks) break;
    }
    CHECK(refused > (ct_test_slow() ? 10 : 100));
    printf("  %d updates refused for memory\n", refused);
    ct_smoother_free(plain.smoother);
    world_free(&plain.w);
}

static void test_an_update_without_memory_has_not_happened(void) { sweep(PLANE | LOOPS | LANDMARKS, 0); }
static void test_nor_has_one_with_a_window(void) { sweep(PLANE | LOOPS | LANDMARKS, 12); }

static void test_nor_has_one_that_cuts_ends_off(void)
{
    sweep(PLANE, 5);
    sweep(PLANE | LOOPS, 7);
}

/* Memory that is out while a step settles is said too: its estimate would be another one. */
static void test_a_replay_that_could_not_settle_for_lack_of_memory_says_so(void)
{
    ct_replay_options options = ct_replay_defaults();
    world             w;
    int               refused = 0, through = 0;
    world_make(&w, 5, PLANE | LOOPS | LANDMARKS);
    options.extra_updates = 5;
    options.entry = CT_ENTRY_PREVIOUS; /* far from where things end: there is much to settle */
    for (int64_t k = 0; !through && k < 100000; k += ct_test_slow() ? 7 : 1) {
        double          *x = copy_values(w.graph, ct_graph_initial(w.graph));
        ct_err           err = {0};
        ct_replay_result result;
        left = k;
        const ct_status status = ct_replay(w.graph, w.noise, &options, x, &result, &err);
        through = left >= 0;
        left = -1;
        if (through) CHECK_OK(status, err);
        else CHECK(status == CT_E_MEMORY && strstr(err.text, "out of memory"));
        refused += status == CT_E_MEMORY;
        free(x);
    }
    CHECK(through && refused > (ct_test_slow() ? 30 : 300));
    world_free(&w);
}

int main(void)
{
    RUN(test_an_update_without_memory_has_not_happened);
    RUN(test_nor_has_one_with_a_window);
    RUN(test_nor_has_one_that_cuts_ends_off);
    RUN(test_a_replay_that_could_not_settle_for_lack_of_memory_says_so);
    return ct_test_end();
}
