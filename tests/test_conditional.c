/* test_conditional.c: noise that depends on features: every estimator sees the covariance of each factor, gradients by
 * weights are those of differences, forms and files are checked, and learning finds the function that made the data. */
#define _XOPEN_SOURCE 700
#include "ct_test.h"

#include <covtune/covtune.h>
#include <math.h>

static const char *const FORM[] = {"linear:sky,traffic,sky*traffic", "piecewise:sky,traffic/4",
                                   "network:sky,traffic/5x4", "linear:sky/shared"};

static ct_nav_options world(ct_situation situation, int poses)
{
    ct_nav_options o;
    CHECK(ct_nav_preset("D1", CT_SE2, &o));
    o.least = o.most = poses;
    o.situation = situation;
    return o;
}

typedef struct {
    ct_noise    *noise; /* the true one */
    ct_sequence *seq[32];
    int          count;
    ct_err       err;
} data;

static data make(ct_situation situation, int runs, int poses, int useless)
{
    data           d = {.count = runs};
    ct_nav_options o = world(situation, poses);
    o.useless = useless;
    CHECK_OK(ct_noise_new(&d.noise, &d.err), d.err);
    for (int i = 0; i < runs; i++) CHECK_OK(ct_simulate_nav(&o, (uint64_t)i, d.noise, &d.seq[i], &d.err), d.err);
    return d;
}

static void release(data *d)
{
    for (int i = 0; i < d->count; i++) ct_sequence_free(d->seq[i]);
    ct_noise_free(d->noise);
}

static const ct_sequence *const *list(const data *d) { return (const ct_sequence *const *)d->seq; }

/* The same graph with a constant model for every factor: what functions must be equal to. */
static void expand(const ct_graph *g, const ct_noise *noise, ct_graph **graph, ct_noise **table)
{
    ct_err err;
    CHECK_OK(ct_graph_copy(g, graph, &err), err);
    CHECK_OK(ct_noise_new(table, &err), err);
    for (int32_t f = 0; f < ct_graph_factors(g); f++) {
        double  S[36];
        char    name[32];
        int32_t index;
        CHECK_OK(ct_graph_covariance(g, noise, f, S, &err), err);
        snprintf(name, sizeof name, "f%d", f);
        CHECK_OK(ct_noise_add_full(*table, name, ct_graph_factor(g, f).ops->rows, S, &index, &err), err);
        CHECK_OK(ct_graph_set_noise(*graph, f, index, &err), err);
        CHECK_OK(ct_graph_set_multiplier(*graph, f, 1, &err), err);
    }
}

static void test_solvers_see_the_covariance_of_every_factor(void)
{
    data            d = make(CT_SITUATION_CURVED, 1, 80, 0);
    const ct_graph *g = d.seq[0]->graph;
    ct_graph       *same;
    ct_noise       *table;
    const size_t    bytes = (size_t)ct_graph_size(g) * sizeof(double);
    double         *x = malloc(bytes), *y = malloc(bytes);
    ct_solver      *a, *b;
    ct_solve_result r;
    expand(g, d.noise, &same, &table);
    memcpy(x, ct_graph_initial_const(g), bytes);
    memcpy(y, x, bytes);
    CHECK_NEAR(ct_graph_error(g, d.noise, x), ct_graph_error(same, table, y), 1e-9 * ct_graph_error(same, table, y));
    CHECK_OK(ct_solver_new(g, NULL, &a, &d.err), d.err);
    CHECK_OK(ct_solver_new(same, NULL, &b, &d.err), d.err);
    CHECK_OK(ct_solver_run(a, d.noise, x, NULL, &r, &d.err), d.err);
    const double error = r.final_error;
    CHECK_OK(ct_solver_run(b, table, y, NULL, &r, &d.err), d.err);
    CHECK_NEAR(error, r.final_error, 1e-8 * error);
    for (size_t i = 0; i < bytes / sizeof *x; i++) CHECK_NEAR(x[i], y[i], 1e-6);
    /* incrementally, from features of increments */
    ct_replay_result replay;
    memcpy(x, ct_graph_initial_const(g), bytes);
    memcpy(y, x, bytes);
    CHECK_OK(ct_replay(g, d.noise, NULL, x, &replay, &d.err), d.err);
    CHECK_OK(ct_replay(same, table, NULL, y, &replay, &d.err), d.err);
    for (size_t i = 0; i < bytes / sizeof *x; i++) CHECK_NEAR(x[i], y[i], 1e-6);
    /* the exact Hessian, and marginals from it */
    CHECK_OK(ct_solver_hessian(a, d.noise, x, &d.err), d.err);
    CHECK_OK(ct_solver_hessian(b, table, x, &d.err), d.err);
    CHECK_NEAR(ct_sparse_log_determinant(ct_solver_system(a)), ct_sparse_log_determinant(ct_solver_system(b)), 1e-6);
    ct_solver_free(a);
    ct_solver_free(b);
    free(x);
    free(y);
    ct_graph_free(same);
    ct_noise_free(table);
    release(&d);
}

/* ---- Gradients ---- */

static ct_theta *theta_of(const ct_noise *noise)
{
    ct_theta *theta;
    ct_err    err;
    CHECK_OK(ct_theta_new(noise, &theta, &err), err);
    for (int32_t g = 0; g < ct_noise_count(noise); g++)
        if (strncmp(ct_noise_get(noise, g)->name, "first", 5))
            CHECK_OK(ct_theta_learn(theta, g, CT_NOISE_DIAGONAL, 1e-8, 1e6, &err), err);
    return theta;
}

/* Adjoint gradient by all weights against central differences of the loss, relative to the largest. */
static double gradient_error(const data *d, const ct_noise *noise)
{
    ct_theta        *theta = theta_of(noise);
    ct_outer_options how = ct_outer_defaults();
    ct_err           err;
    how.inner.relative = 0;
    how.inner.step = 1e-13;
    const int32_t m = ct_theta_count(theta), n = ct_conditional_weights(theta, noise);
    double        loss, *gp = calloc((size_t)m, sizeof *gp), *gw = calloc((size_t)n, sizeof *gw), worst = 0, size = 0;
    double       *other = calloc((size_t)(m + n), sizeof *other);
    CHECK_OK(ct_conditional_gradient(d->count, list(d), theta, &how, noise, &loss, gp, gw, &err), err);
    for (int32_t i = 0; i < n; i++) size = fmax(size, fabs(gw[i]));
    ct_noise *moved;
    CHECK_OK(ct_noise_copy(noise, &moved, &err), err);
    for (int32_t g = 0, at = 0; g < ct_noise_count(noise); g++) {
        const ct_function *f = ct_noise_get(moved, g)->function;
        for (int i = 0; f && i < f->weights; i++, at++) {
            if (i % (f->weights / 12 + 1)) continue; /* a dozen of each */
            double        low[2], high[2];
            const double  h = 1e-3, before = f->weight[i];
            for (int k = 0; k < 2; k++) { /* Richardson: h and h / 2 */
                f->weight[i] = before + h / (1 << k);
                CHECK_OK(ct_conditional_gradient(d->count, list(d), theta, &how, moved, &high[k], other, other + m,
                                                 &err), err);
                f->weight[i] = before - h / (1 << k);
                CHECK_OK(ct_conditional_gradient(d->count, list(d), theta, &how, moved, &low[k], other, other + m,
                                                 &err), err);
            }
            f->weight[i] = before;
            const double d1 = (high[0] - low[0]) / (2 * h), d2 = (high[1] - low[1]) / h;
            worst = fmax(worst, fabs((4 * d2 - d1) / 3 - gw[at]) / size);
        }
    }
    ct_noise_free(moved);
    ct_theta_free(theta);
    free(gp);
    free(gw);
    free(other);
    return worst;
}

static void put_weights(ct_noise *noise, uint64_t seed, double scale)
{
    ct_rng rng = ct_rng_seed(seed);
    for (int32_t g = 0; g < ct_noise_count(noise); g++) {
        const ct_function *f = ct_noise_get(noise, g)->function;
        for (int i = 0; f && i < f->weights; i++) f->weight[i] = scale * ct_rng_normal(&rng);
    }
}

static void test_gradients_by_weights_are_those_of_differences(void)
{
    data d = make(CT_SITUATION_CURVED, 2, 40, 0);
    for (size_t k = 0; k < sizeof FORM / sizeof *FORM; k++) {
        ct_noise *noise;
        CHECK_OK(ct_noise_copy(d.noise, &noise, &d.err), d.err);
        const int32_t gps = ct_noise_find(noise, "gps"), odom = ct_noise_find(noise, "odom");
        CHECK_OK(ct_conditional_form(d.count, list(&d), noise, gps, FORM[k], NULL, NULL, &d.err), d.err);
        CHECK_OK(ct_conditional_form(d.count, list(&d), noise, odom, "linear:turn", NULL, NULL, &d.err), d.err);
        put_weights(noise, 3 + k, 0.4);
        const double worst = gradient_error(&d, noise);
        if (!(worst < 1e-7)) fprintf(stderr, "%s: %g\n", FORM[k], worst);
        CHECK(worst < 1e-7);
        ct_noise_free(noise);
    }
    release(&d);
}

/* Runs with other functions are other runs. */
static void test_digests_have_form_features_and_weights_of_functions(void)
{
    static const char *const FORMS[] = {"linear:sky", "linear:traffic", "linear:sky/shared", "piecewise:sky/4",
                                        "piecewise:sky/5", "network:sky/4", "network:sky/2x2"};
    enum { FORM_COUNT = sizeof FORMS / sizeof *FORMS };
    data     d = make(CT_SITUATION_LINEAR, 2, 40, 0);
    uint64_t digest[FORM_COUNT + 2] = {0};
    for (int k = 0; k < FORM_COUNT + 2; k++) {
        ct_noise     *noise;
        ct_theta     *theta;
        ct_outer     *outer = NULL;
        CHECK_OK(ct_noise_copy(d.noise, &noise, &d.err), d.err);
        const int32_t gps = ct_noise_find(noise, "gps");
        for (int32_t g = 0; g < ct_noise_count(noise); g++)
            CHECK_OK(ct_noise_set_function(noise, g, NULL, &d.err), d.err);
        if (k <= FORM_COUNT)
            CHECK_OK(ct_conditional_form(d.count, list(&d), noise, gps, FORMS[k % FORM_COUNT], NULL, NULL, &d.err),
                     d.err);
        if (k == FORM_COUNT) put_weights(noise, 1, 0.1); /* the first form with other weights */
        theta = theta_of(noise);
        CHECK_OK(ct_outer_new(d.count, list(&d), noise, theta, NULL, &outer, &d.err), d.err);
        if (outer) digest[k] = ct_outer_digest(outer, NULL);
        for (int i = 0; i < k; i++) CHECK(digest[i] != digest[k]);
        ct_outer_free(outer);
        ct_theta_free(theta);
        ct_noise_free(noise);
    }
    release(&d);
}

/* ---- Bounds ---- */

static void test_bounds_hold_for_every_factor_whatever_its_features(void)
{
    data         d = make(CT_SITUATION_LINEAR, 1, 60, 0);
    const double lower[] = {0.5, 0.5, 0.005}, upper[] = {2, 2, 0.02};
    const int32_t gps = ct_noise_find(d.noise, "gps"), far = 1;
    double        S[36];
    CHECK_OK(ct_conditional_form(1, list(&d), d.noise, gps, "linear:sky,traffic", lower, upper, &d.err), d.err);
    put_weights(d.noise, 5, 50);
    int cut = 0;
    CHECK_OK(ct_graph_set_feature(d.seq[0]->graph, "sky", 1, &far, (const double[]){1e9}, &d.err), d.err);
    for (int32_t f = 0; f < ct_graph_factors(d.seq[0]->graph); f++) {
        if (ct_graph_factor(d.seq[0]->graph, f).noise != gps) continue;
        CHECK_OK(ct_graph_covariance(d.seq[0]->graph, d.noise, f, S, &d.err), d.err);
        for (int i = 0; i < 3; i++) {
            CHECK(S[4 * i] >= lower[i] * (1 - 1e-12) && S[4 * i] <= upper[i] * (1 + 1e-12));
            cut += S[4 * i] > upper[i] * (1 - 1e-9);
        }
    }
    CHECK(cut > 0);
    release(&d);
    /* of a full covariance the eigenvalues: here by trace and determinant of a 2 x 2 one */
    ct_noise *noise;
    int32_t   full;
    ct_err    err;
    CHECK_OK(ct_noise_new(&noise, &err), err);
    CHECK_OK(ct_noise_add_full(noise, "m", 2, (const double[]){2, 0.9, 0.9, 1}, &full, &err), err);
    ct_function_term term = {.a = 0, .b = -1};
    double           weight[2] = {3, -3};
    ct_function      f = {.kind = CT_FUNCTION_LINEAR, .outputs = 2, .features = 1, .terms = 1, .term = &term,
                          .weights = 2, .weight = weight, .lower = {0.1, 0.1}, .upper = {10, 10}};
    f.feature[0] = (ct_function_feature){"a", 0, 1, -5, 5};
    CHECK_OK(ct_noise_set_function(noise, full, &f, &err), err);
    for (double x = -6; x <= 6; x += 0.25) {
        ct_noise_covariance_at(ct_noise_get(noise, full), &x, S);
        const double half = 0.5 * (S[0] + S[3]), root = sqrt(0.25 * (S[0] - S[3]) * (S[0] - S[3]) + S[1] * S[2]);
        CHECK(half - root >= 0.1 * (1 - 1e-9) && half + root <= 10 * (1 + 1e-9));
        CHECK(S[1] == S[2]);
    }
    ct_noise_free(noise);
}

/* ---- Files ---- */

static void test_noise_files_keep_functions_to_the_bit(void)
{
    data d = make(CT_SITUATION_CURVED, 1, 40, 0);
    char path[512];
    snprintf(path, sizeof path, "%s/function.json", ct_test_folder());
    const int32_t gps = ct_noise_find(d.noise, "gps");
    for (size_t k = 0; k < sizeof FORM / sizeof *FORM; k++) {
        ct_noise *again;
        CHECK_OK(ct_conditional_form(1, list(&d), d.noise, gps, FORM[k], NULL, NULL, &d.err), d.err);
        put_weights(d.noise, 11 + k, 0.7);
        CHECK_OK(ct_noise_write(d.noise, path, &d.err), d.err);
        CHECK_OK(ct_noise_new(&again, &d.err), d.err);
        CHECK_OK(ct_noise_read(again, path, &d.err), d.err);
        for (int32_t f = 0; f < ct_graph_factors(d.seq[0]->graph); f++) {
            double A[36], B[36];
            CHECK_OK(ct_graph_covariance(d.seq[0]->graph, d.noise, f, A, &d.err), d.err);
            CHECK_OK(ct_graph_covariance(d.seq[0]->graph, again, f, B, &d.err), d.err);
            CHECK(!memcmp(A, B, 9 * sizeof *A));
        }
        ct_noise_free(again);
    }
    release(&d);
}

static void test_bad_files_are_refused_by_sentences(void)
{
    static const struct {
        const char *function, *sentence;
    } BAD[] = {
#define FEATURE(deviation)                                                                                            \
    "\"features\": [{\"name\": \"a\", \"mean\": 0, \"deviation\": " deviation ", \"low\": 0, \"high\": 1}]"
        {"{\"kind\": \"cubic\"}", "groups.gps.function.kind: expected linear, piecewise or network, found \"cubic\""},
        {"{\"kind\": \"linear\", \"features\": []}",
         "groups.gps.function.features: expected a list of 1 to 16 features"},
        {"{\"kind\": \"linear\", " FEATURE("0") ", "
         "\"terms\": [\"a\"], \"weights\": [[1], [2]]}",
         "feature a has mean 0 and deviation 0; they must be finite, the deviation positive"},
        {"{\"kind\": \"linear\", " FEATURE("1") ", "
         "\"terms\": [\"b\"], \"weights\": [[1], [2]]}",
         "function.terms[]: expected a feature, or a product of two, found \"b\""},
        {"{\"kind\": \"linear\", " FEATURE("1") ", "
         "\"terms\": [\"a\"], \"weights\": [[1, 2], [2, 3]]}",
         "function.weights: expected a list of 1 number, found a list of 2"},
        {"{\"kind\": \"network\", " FEATURE("1") ", "
         "\"hidden\": [2], \"layers\": [{\"weights\": [[1], [2]], \"biases\": [0]}, {}]}",
         "function.layers[0].biases: expected a list of 2 numbers, found a list of 1"},
    };
    char path[512];
    snprintf(path, sizeof path, "%s/bad.json", ct_test_folder());
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        ct_noise *noise;
        ct_err    err;
        FILE     *file = fopen(path, "w");
        fprintf(file,
                "{\"format\": \"covtune-noise\", \"version\": 2, \"groups\": {\"gps\": {\"variance\": [1, 1], "
                "\"function\": %s}}}\n",
                BAD[i].function);
        fclose(file);
        CHECK_OK(ct_noise_new(&noise, &err), err);
        CHECK_REFUSED(ct_noise_read(noise, path, &err), err, BAD[i].sentence);
        CHECK(ct_noise_count(noise) == 0);
        ct_noise_free(noise);
    }
}

static void test_unfit_features_are_refused_by_sentences(void)
{
    data          d = make(CT_SITUATION_LINEAR, 2, 40, 0);
    const int32_t gps = ct_noise_find(d.noise, "gps"), none = -1;
    (void)none;
    for (int i = 0; i < 2; i++) {
        ct_graph *g = d.seq[i]->graph;
        for (int32_t f = 0; f < ct_graph_factors(g); f++) {
            const double sky = ct_graph_feature(g, f, ct_graph_find_feature(g, "sky"));
            if (isnan(sky)) continue;
            CHECK_OK(ct_graph_set_feature(g, "twice", 1, &f, (const double[]){3 - 2 * sky}, &d.err), d.err);
            CHECK_OK(ct_graph_set_feature(g, "same", 1, &f, (const double[]){7}, &d.err), d.err);
            const double traffic = ct_graph_feature(g, f, ct_graph_find_feature(g, "traffic"));
            CHECK_OK(ct_graph_set_feature(g, "sum", 1, &f, (const double[]){1 + sky - 3 * traffic}, &d.err), d.err);
        }
    }
#define REFUSED(text, sentence) \
    CHECK_REFUSED(ct_conditional_form(2, list(&d), d.noise, gps, text, NULL, NULL, &d.err), d.err, sentence)
    REFUSED("linear:hdop",
            "noise model gps is to depend on hdop, which factor 2 (prior_se2) of sequence run0 has not");
    REFUSED("linear:sky,same",
            "feature same is 7 in all 78 measurements, so that nothing can depend on it; leave it out");
    REFUSED("linear:sky,twice", "features sky and twice are one up to scale and offset");
    REFUSED("linear:sky,traffic,sum",
            "noise model gps: feature sum is a sum of multiples of those before it and a constant, so that their "
            "effects cannot be told apart; leave one out");
    REFUSED("linear:sum,sky,traffic/shared", "feature traffic is a sum of multiples of those before it");
    REFUSED("cubic:sky",
            "\"cubic:sky\" is no form of a function; write linear:A,B, piecewise:A/5 or network:A,B/16x16");
    REFUSED("linear:", "lacks the name of a feature");
    REFUSED("linear:sky,sky", "has a feature, or a product, twice");
    REFUSED("linear:sky*traffic,traffic*sky", "has a feature, or a product, twice");
    REFUSED("network:sky,traffic,sky/4", "has a feature, or a product, twice");
    REFUSED("linear:a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q", "names more than 16 features");
    REFUSED("linear:a_name_that_has_thirty_two_bytes_", "of more than 31 bytes");
    REFUSED("piecewise:sky/99", "knots are 2 to 16");
    REFUSED("network:sky/16x", "hidden layers");
#undef REFUSED
    /* a product is not a sum, nor is a bend at a knot */
    CHECK_OK(ct_conditional_form(2, list(&d), d.noise, gps, "linear:sky*traffic,sum,sky", NULL, NULL, &d.err), d.err);
    CHECK_OK(ct_conditional_form(2, list(&d), d.noise, gps, "piecewise:sky,traffic,sum", NULL, NULL, &d.err), d.err);
    /* a solver names what a factor lacks */
    double    *x = malloc((size_t)ct_graph_size(d.seq[0]->graph) * sizeof *x);
    ct_solver *solver;
    ct_solve_result r;
    CHECK_OK(ct_conditional_form(2, list(&d), d.noise, gps, "linear:sky", NULL, NULL, &d.err), d.err);
    ct_graph *bare;
    CHECK_OK(ct_graph_new(&bare, &d.err), d.err);
    CHECK_OK(ct_graph_add_se2(bare, "a", ct_se2_identity(), NULL, &d.err), d.err);
    CHECK_OK(ct_graph_add_prior_se2(bare, 0, ct_se2_identity(), gps, &d.err), d.err);
    CHECK_OK(ct_solver_new(bare, NULL, &solver, &d.err), d.err);
    CHECK_REFUSED(ct_solver_run(solver, d.noise, x, NULL, &r, &d.err), d.err,
                  "noise model \"gps\" depends on sky, which factor 0 (prior_se2 on a) has not; its line needs "
                  "sky=NUMBER");
    CHECK(isnan(ct_graph_error(bare, d.noise, x)));
    ct_solver_free(solver);
    ct_graph_free(bare);
    free(x);
    release(&d);
}

static void test_features_outside_of_the_range_are_counted(void)
{
    data           d = make(CT_SITUATION_LINEAR, 2, 40, 0);
    const int32_t  gps = ct_noise_find(d.noise, "gps");
    ct_graph      *g = d.seq[0]->graph;
    int32_t        some[3];
    int            found = 0;
    ct_feature_outside out = {0};
    CHECK_OK(ct_conditional_form(2, list(&d), d.noise, gps, "linear:traffic,sky", NULL, NULL, &d.err), d.err);
    const ct_function_feature sky = ct_noise_get(d.noise, gps)->function->feature[1];
    ct_feature_count_outside(g, d.noise, gps, 1, &out);
    CHECK(out.factors > 3 && out.outside == 0); /* the range is theirs */
    const int64_t factors = out.factors;
    for (int32_t k = 0; found < 3; k++)
        if (ct_graph_factor(g, k).noise == gps) some[found++] = k;
    const double values[] = {sky.low - 2, sky.high + 1, sky.high + 5};
    CHECK_OK(ct_graph_set_feature(g, "sky", 3, some, values, &d.err), d.err);
    for (int i = 0; i < 2; i++) ct_feature_count_outside(d.seq[i]->graph, d.noise, gps, 1, &out);
    CHECK(out.factors > 2 * factors && out.outside == 3 && out.low == values[0] && out.high == values[2]);
    out = (ct_feature_outside){0};
    ct_feature_count_outside(g, d.noise, gps, 0, &out);
    CHECK(out.factors == factors && out.outside == 0);
    ct_feature_count_outside(g, d.noise, gps, 7, &out); /* there is no such feature, */
    ct_feature_count_outside(g, d.noise, ct_noise_find(d.noise, "first_pose"), 0, &out); /* no function */
    CHECK(out.factors == factors && out.outside == 0);
    release(&d);
}

/* 1e6 where a value is unknown, and 2e5 once: the others keep their range, mean and slope. */
static void test_absurd_values_of_a_feature_do_not_set_its_range(void)
{
    data              d = make(CT_SITUATION_LINEAR, 2, 60, 0);
    const int32_t     gps = ct_noise_find(d.noise, "gps");
    ct_feature_outside out = {0};
    int               turn = 0;
    int64_t           absurd = 0;
    CHECK_OK(ct_conditional_form(2, list(&d), d.noise, gps, "linear:sky", NULL, NULL, &d.err), d.err);
    const ct_function_feature sky = ct_noise_get(d.noise, gps)->function->feature[0];
    for (int i = 0; i < 2; i++)
        for (int32_t k = 0; k < ct_graph_factors(d.seq[i]->graph); k++) {
            if (ct_graph_factor(d.seq[i]->graph, k).noise != gps || turn++ % 50) continue;
            const double value = absurd++ ? 1e6 : -2e5;
            CHECK_OK(ct_graph_set_feature(d.seq[i]->graph, "sky", 1, &k, &value, &d.err), d.err);
        }
    CHECK(absurd > 1);
    CHECK_OK(ct_conditional_form(2, list(&d), d.noise, gps, "linear:sky", NULL, NULL, &d.err), d.err);
    const ct_function_feature with = ct_noise_get(d.noise, gps)->function->feature[0];
    CHECK(with.low >= sky.low && with.high <= sky.high);
    CHECK_NEAR(with.mean, sky.mean, 0.3 * sky.deviation);
    CHECK_NEAR(with.deviation / sky.deviation, 1, 0.2);
    for (int i = 0; i < 2; i++) ct_feature_count_outside(d.seq[i]->graph, d.noise, gps, 0, &out);
    CHECK(out.outside == absurd);
    /* 0 but for a few ones is no outlier */
    turn = 0;
    for (int i = 0; i < 2; i++)
        for (int32_t k = 0; k < ct_graph_factors(d.seq[i]->graph); k++) {
            if (ct_graph_factor(d.seq[i]->graph, k).noise != gps) continue;
            const double value = turn++ % 50 == 7;
            CHECK_OK(ct_graph_set_feature(d.seq[i]->graph, "tunnel", 1, &k, &value, &d.err), d.err);
        }
    CHECK_OK(ct_conditional_form(2, list(&d), d.noise, gps, "linear:tunnel", NULL, NULL, &d.err), d.err);
    CHECK(ct_noise_get(d.noise, gps)->function->feature[0].high == 1);
    release(&d);
}

static void test_functions_are_values(void)
{
    data d = make(CT_SITUATION_LINEAR, 1, 40, 0);
    CHECK_OK(ct_conditional_form(1, list(&d), d.noise, ct_noise_find(d.noise, "gps"), "network:sky,traffic/7", NULL,
                                 NULL, &d.err), d.err);
    const int32_t gps = ct_noise_find(d.noise, "gps");
    ct_function  *f = ct_function_copy(ct_noise_get(d.noise, gps)->function);
    CHECK(ct_function_weights(f) == 7 * 3 + 3 * 8 && f->weights == 45 && f->outputs == 3);
    CHECK(ct_function_kind_find("network") == (int)f->kind && !strcmp(ct_function_kind_name(f->kind), "network"));
    CHECK(ct_function_kind_find("none") == -1 && !strcmp(ct_function_kind_name(CT_FUNCTION_COUNT), "?"));
    const double x[2] = {0.3, 0.8}, one[3] = {1, -2, 0.5};
    double       g[45] = {0}, u[3], v[3], w[45];
    for (int i = 0; i < 45; i++) w[i] = f->weight[i] = sin(1 + i);
    ct_function_gradient(f, x, one, g);
    for (int i = 0; i < 45; i++) { /* differences */
        f->weight[i] = w[i] + 1e-5;
        ct_function_evaluate(f, x, u);
        f->weight[i] = w[i] - 1e-5;
        ct_function_evaluate(f, x, v);
        f->weight[i] = w[i];
        CHECK_NEAR(g[i], ((u[0] - v[0]) - 2 * (u[1] - v[1]) + 0.5 * (u[2] - v[2])) / 2e-5, 1e-8);
    }
    CHECK_OK(ct_noise_set_weights(d.noise, gps, w, &d.err), d.err);
    w[7] = NAN;
    CHECK_REFUSED(ct_noise_set_weights(d.noise, gps, w, &d.err), d.err, "weight 7 of its function is nan");
    CHECK_REFUSED(ct_noise_set_weights(d.noise, 0, w, &d.err), d.err, "has no function");
    f->weights--;
    CHECK_REFUSED(ct_noise_set_function(d.noise, gps, f, &d.err), d.err,
                  "its function has 44 weights; its form has 45");
    f->weights++;
    ct_function_free(f);
    release(&d);
}

/* ---- Learning ---- */

static void test_regression_finds_the_log_linear_function(void)
{
    data                   d = make(CT_SITUATION_LINEAR, 10, 150, 2);
    ct_noise              *noise;
    ct_conditional_result  result;
    ct_conditional_options how = ct_conditional_defaults();
    ct_outer_options       outer = ct_outer_defaults();
    CHECK_OK(ct_noise_copy(d.noise, &noise, &d.err), d.err);
    const int32_t gps = ct_noise_find(noise, "gps"), odom = ct_noise_find(noise, "odom");
    CHECK_OK(ct_conditional_form(d.count, list(&d), noise, gps, "linear:sky,traffic,useless1,useless2/shared", NULL,
                                 NULL, &d.err), d.err);
    CHECK_OK(ct_conditional_form(d.count, list(&d), noise, odom, "linear:turn/shared", NULL, NULL, &d.err), d.err);
    ct_theta *theta = theta_of(noise);
    how.tracking = 0;
    how.folds = 0;
    CHECK_OK(ct_conditional_learn(d.count, list(&d), theta, &outer, &how, noise, &result, &d.err), d.err);
    CHECK(result.chosen == CT_CONDITIONAL_REGRESSION && result.terms == 5);
    for (int i = 0; i < result.terms; i++) { /* within four standard errors of what made the data */
        const ct_conditional_term *t = &result.term[i];
        const ct_function         *f = ct_noise_get(noise, t->model)->function;
        double                     truth = 0;
        if (!strcmp(t->term, "sky")) truth = 2 * log(20) * 0.8 * f->feature[0].deviation;
        if (!strcmp(t->term, "traffic")) truth = 2 * log(20) * 0.2 * f->feature[1].deviation;
        if (!strcmp(t->term, "turn")) truth = 2 * log(8) / 0.35 * f->feature[0].deviation;
        CHECK(t->error > 0 && t->error < 0.2);
        CHECK_NEAR(t->weight, truth, 4 * t->error + 0.02);
    }
    ct_conditional_result_free(&result);
    ct_theta_free(theta);
    ct_noise_free(noise);
    release(&d);
}

/* Features that mean nothing: the constant model stays. */
static void test_nothing_is_gained_by_useless_features(void)
{
    data                   d = make(CT_SITUATION_LINEAR, 8, 60, 2);
    ct_noise              *noise;
    ct_conditional_result  result;
    ct_outer_options       outer = ct_outer_defaults();
    CHECK_OK(ct_noise_copy(d.noise, &noise, &d.err), d.err);
    const int32_t gps = ct_noise_find(noise, "gps"), odom = ct_noise_find(noise, "odom");
    CHECK_OK(ct_noise_set_function(noise, odom, NULL, &d.err), d.err);
    CHECK_OK(ct_conditional_form(d.count, list(&d), noise, gps, "linear:useless1,useless2", NULL, NULL, &d.err), d.err);
    ct_theta *theta = theta_of(noise);
    CHECK_OK(ct_conditional_learn(d.count, list(&d), theta, &outer, NULL, noise, &result, &d.err), d.err);
    CHECK(result.chosen == CT_CONDITIONAL_CONSTANT && !ct_noise_get(noise, gps)->function);
    CHECK(!strcmp(ct_conditional_name(result.chosen), "constant"));
    ct_conditional_result_free(&result);
    ct_theta_free(theta);
    ct_noise_free(noise);
    release(&d);
}

/* EM over the measurements alone finds the same function, less accurately. */
static void test_functions_are_found_without_truth(void)
{
    data                   d = make(CT_SITUATION_LINEAR, 8, 120, 1);
    ct_noise              *noise;
    ct_conditional_result  result;
    ct_outer_options       outer = ct_outer_defaults();
    outer.no_truth = 1;
    CHECK_OK(ct_noise_copy(d.noise, &noise, &d.err), d.err);
    const int32_t gps = ct_noise_find(noise, "gps"), odom = ct_noise_find(noise, "odom");
    CHECK_OK(ct_noise_set_function(noise, odom, NULL, &d.err), d.err);
    CHECK_OK(ct_conditional_form(d.count, list(&d), noise, gps, "linear:sky,traffic/shared", NULL, NULL, &d.err),
             d.err);
    ct_theta *theta = theta_of(noise);
    CHECK_OK(ct_conditional_learn(d.count, list(&d), theta, &outer, NULL, noise, &result, &d.err), d.err);
    CHECK(result.chosen == CT_CONDITIONAL_REGRESSION);
    const ct_function *f = ct_noise_get(noise, gps)->function;
    if (f) CHECK_NEAR(f->weight[0], 2 * log(20) * 0.8 * f->feature[0].deviation, 0.25);
    if (f) CHECK_NEAR(f->weight[1], 2 * log(20) * 0.2 * f->feature[1].deviation, 0.25);
    ct_conditional_result_free(&result);
    CHECK_OK(ct_conditional_form(d.count, list(&d), noise, gps, "linear:useless1/shared", NULL, NULL, &d.err), d.err);
    CHECK_OK(ct_conditional_learn(d.count, list(&d), theta, &outer, NULL, noise, &result, &d.err), d.err);
    CHECK(result.chosen == CT_CONDITIONAL_CONSTANT && !ct_noise_get(noise, gps)->function);
    ct_conditional_result_free(&result);
    ct_theta_free(theta);
    ct_noise_free(noise);
    release(&d);
}

int main(void)
{
    RUN(test_solvers_see_the_covariance_of_every_factor);
    RUN(test_gradients_by_weights_are_those_of_differences);
    RUN(test_digests_have_form_features_and_weights_of_functions);
    RUN(test_bounds_hold_for_every_factor_whatever_its_features);
    RUN(test_noise_files_keep_functions_to_the_bit);
    RUN(test_bad_files_are_refused_by_sentences);
    RUN(test_unfit_features_are_refused_by_sentences);
    RUN(test_features_outside_of_the_range_are_counted);
    RUN(test_absurd_values_of_a_feature_do_not_set_its_range);
    RUN(test_functions_are_values);
    RUN(test_regression_finds_the_log_linear_function);
    RUN(test_functions_are_found_without_truth);
    RUN(test_nothing_is_gained_by_useless_features);
    return ct_test_end();
}
